/* Depth films: exact, within the largest error, read by a second decoder that is written after docs/formats/tdf.md, smaller than FFV1's; damage. */
#include <math.h>
#include <unistd.h>

#include "device/isa.h"
#include "support.h"
#include "video/depth/depth_film.h"

static char path[] = "/tmp/depthfilm-XXXXXX";
static void make_path(void)
{
    memcpy(path, "/tmp/depthfilm-XXXXXX", sizeof path);
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
}

/* A room in tenths of a millimetre: a floor, a wall, a ball that moves, nothing beyond 6 m; noise, and holes where a sensor loses its way. */
static void room(uint16_t *to, int width, int height, int frame, double noise, int holes, uint64_t *seed)
{
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const double dx = (x + 0.5 - width / 2.0) / width, dy = (y + 0.5 - height / 2.0) / width;
            const double bx = -0.4 + 0.05 * frame, bz = 2.2, r = 0.5, a = dx * dx + dy * dy + 1, b = dx * bx + bz, c = bx * bx + bz * bz - r * r;
            double d = fmin(dy > 0.01 ? 1.2 / dy : 1e9, 3 / (1 - 0.9 * dx));
            if (b * b >= a * c) d = fmin(d, (b - sqrt(b * b - a * c)) / a);
            d += noise * (test_uniform(seed) + test_uniform(seed) - 1);
            to[y * width + x] = (uint16_t)(d > 6 || (holes && test_random(seed) % 97 == 0) ? 0 : floor(1e4 * d + 0.5));
        }
}

static void write_film(const uint16_t *frames, int width, int height, int count, double error)
{
    tsr_depth_film_options o = TSR_DEPTH_FILM_OPTIONS;
    tsr_depth_film_writer *w = NULL;
    o.scale = 1e-4;
    o.largest_error = error;
    o.overwrite = 1;
    require_ok(tsr_depth_film_writer_create(path, width, height, &o, &w));
    for (int k = 0; k < count; k++) require_ok(tsr_depth_film_writer_append(w, frames + (size_t)k * (size_t)(width * height)));
    require_ok(tsr_depth_film_writer_finish(&w));
    assert_null(w);
}

static uint8_t *file_bytes(size_t *size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    uint8_t *bytes = malloc(*size + 1);
    assert_int_equal(fread(bytes, 1, *size, f), *size);
    fclose(f);
    return bytes;
}

/* The last frame first: each by itself. Returns the largest error; where there is a sample must not change. */
static int read_film(const uint16_t *frames, int width, int height, int count)
{
    tsr_depth_film_reader *r = NULL;
    tsr_depth_film_info info = TSR_DEPTH_FILM_INFO;
    const int n = width * height;
    uint16_t *got = malloc((size_t)n * 2);
    int most = 0;
    require_ok(tsr_depth_film_reader_create(path, 0, &r));
    require_ok(tsr_depth_film_reader_info(r, &info));
    assert_int_equal(info.width, width);
    assert_int_equal(info.height, height);
    assert_int_equal(info.frames, count);
    assert_int_equal(info.damaged, 0);
    for (int k = count - 1; k >= 0; k--) {
        require_ok(tsr_depth_film_reader_frame(r, k, got));
        for (int i = 0; i < n; i++) {
            const int was = frames[(size_t)k * (size_t)n + (size_t)i], error = abs(got[i] - was);
            assert_true((got[i] == 0) == (was == 0));
            most = error > most ? error : most;
        }
    }
    require_error(tsr_depth_film_reader_frame(r, count, got), TSR_ERROR_ARGUMENT, "expected 0 to");
    tsr_depth_film_reader_destroy(&r);
    free(got);
    return most;
}

static void test_exact(void **state)
{
    (void)state;
    static const int sides[][2] = { { 1, 1 }, { 3, 2 }, { 65, 9 }, { 64, 64 }, { 129, 33 }, { 1, 70 } };
    uint64_t seed = test_seed();
    make_path();
    for (int s = 0; s < 6; s++)
        for (int kind = 0; kind < 7; kind++) {
            if (test_watches_threads() && s % 3 != 2) continue; /* 65 x 9 and 1 x 70 */
            const int w = sides[s][0], h = sides[s][1], n = w * h;
            uint16_t *f = calloc((size_t)(3 * n), 2);
            for (int i = 0; i < 3 * n; i++) {
                const uint64_t random = test_random(&seed);
                if (kind == 1) f[i] = 65535;
                if (kind == 2) f[i] = (uint16_t)random;
                if (kind == 3) f[i] = (uint16_t)((i % n % w + i % n / w) & 1 ? 1 : 0);
                if (kind == 4) f[i] = (uint16_t)(random % 3 ? 40000 + random % 7 : 0);
                if (kind == 5) f[i] = (uint16_t)(random & 1 ? 65535 : random & 2);
            }
            if (kind == 6)
                for (int k = 0; k < 3; k++) room(f + k * n, w, h, k, 0, 1, &seed);
            write_film(f, w, h, 3, 0);
            assert_int_equal(read_film(f, w, h, 3), 0);
            for (int e = 1; e < 40; e += 17) {
                write_film(f, w, h, 3, 1e-4 * e);
                assert_true(read_film(f, w, h, 3) <= e);
            }
            free(f);
        }
    unlink(path);
}

static void test_room(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    enum { W = 320, H = 240, N = 4 };
    uint16_t *f = malloc(W * H * 2 * N);
    uint8_t *first = NULL;
    size_t size = 0, small;
    make_path();
    for (int k = 0; k < N; k++) room(f + k * W * H, W, H, k, 0.002, 1, &seed);
    for (int isa = test_watches_threads() ? (int)tsr_isa_current() : 0; isa <= (int)tsr_isa_current();
         isa++) { /* the same bytes from every variant */
        tsr_isa_force(isa);
        write_film(f, W, H, N, 0);
        assert_int_equal(read_film(f, W, H, N), 0);
        tsr_isa_force(-1);
        uint8_t *bytes = file_bytes(&small);
        if (first) {
            assert_int_equal(small, size);
            assert_memory_equal(bytes, first, size);
        }
        size = small;
        free(first);
        first = bytes;
    }
    free(first);
    write_film(f, W, H, N, 0.001);
    assert_int_equal(read_film(f, W, H, N), 10); /* 1 mm, which somewhere is used up */
    free(file_bytes(&small));
    assert_true(2 * small < size);
    free(f);
    unlink(path);
}

/* ---- a decoder after docs/formats/tdf.md, with floating-point arithmetic and one symbol at a time where the library has tables ----------------- */

struct model {
    const uint8_t *words, *plain;
    uint32_t state[4];
    int64_t bit;
    int frequency[15][34];
};
static uint32_t le(const uint8_t *p, int n) { return n ? p[0] | le(p + 1, n - 1) << 8 : 0; }
static int symbol(struct model *m, int lane, int context)
{
    uint32_t *x = &m->state[lane], rest = *x % 2048;
    int token = 0;
    while (rest >= (uint32_t)m->frequency[context][token]) rest -= (uint32_t)m->frequency[context][token++];
    *x = (uint32_t)m->frequency[context][token] * (*x / 2048) + rest;
    if (*x < 65536) {
        *x = *x * 65536 + le(m->words, 2);
        m->words += 2;
    }
    return token;
}
static int number_of(struct model *m, int token)
{
    int folded = token;
    if (token >= 8) {
        const int bits = token / 2 - 2;
        folded = (2 + token % 2) << bits;
        for (int k = 0; k < bits; k++, m->bit++) folded += (m->plain[m->bit / 8] >> m->bit % 8 & 1) << k;
    }
    return folded % 2 ? -(folded + 1) / 2 : folded / 2;
}
static int median(int a, int b, int c) { return a > b ? median(b, a, c) : c < a ? a : c > b ? b : c; }

static void model_frame(const uint8_t *frame, const uint8_t *table, int width, int height, int step, uint16_t *to)
{
    struct model m = { .words = frame + 16 + le(frame + 8, 4) };
    const int predictor = (int)le(frame + 4, 4);
    int *edge = calloc(2 * (size_t)width + 2, sizeof *edge), *above = edge + width + 1, edges = 0, edges_above = 1, before = 0;
    int *q = calloc((size_t)((width + 2) * (height + 1)), sizeof *q), *tokens = calloc((size_t)((width + 2) * (height + 1)), sizeof *tokens);
    m.plain = m.words + 2 * le(frame + 12, 4);
    table += 16;
    for (int c = 0; c < 15; c++)
        for (int t = 0, used = *table++; t < used; t++) {
            m.frequency[c][t] = *table++;
            if (m.frequency[c][t] >= 128) m.frequency[c][t] = m.frequency[c][t] % 128 * 256 + *table++;
        }
    for (int l = 0; l < 4; l++, m.words += 4) m.state[l] = le(m.words, 4);
    above[0] = width;
    for (int y = 0; y < height; y++) {
        int *row = q + (y + 1) * (width + 2) + 1, *up = row - width - 2, *t = tokens + (y + 1) * (width + 2) + 1, *tu = t - width - 2, k = 0,
            last = -1;
        for (int off = edges = 0; last < width; edges++) {
            int expected = width;
            for (int i = edges % 2; i < edges_above; i += 2)
                if (above[i] > last) {
                    expected = above[i];
                    break;
                }
            off = number_of(&m, symbol(&m, edges % 4, 11 + 2 * (expected == width) + (off != 0)));
            last = edge[edges] = expected + off;
        }
        for (int e = 0; e + 1 < edges; e += 2)
            for (int x = edge[e]; x < edge[e + 1]; x++, k++) {
                const int a = x > edge[e], b = up[x], c = up[x - 1], sum = 2 * tu[x] + tu[x - 1] + tu[x + 1];
                static const int bound[] = { 1, 2, 4, 7, 12, 20, 32 };
                int context = 0;
                for (int i = 0; i < 7; i++) context += sum >= bound[i];
                if (!(b && c)) context = 8;
                if (!a) context = b ? 9 : 10;
                t[x] = symbol(&m, k % 4, context);
            }
        for (int e = 0; e + 1 < edges; e += 2)
            for (int x = edge[e]; x < edge[e + 1]; x++) {
                const int a = x > edge[e] ? row[x - 1] : 0, b = up[x], c = up[x - 1], d = x + 1 <= width ? up[x + 1] : 0;
                int expected = a && b && c ? predictor ? median(a, b, a + b - c) : a + b - c : b ? b : a ? a : c ? c : d ? d : before;
                row[x] = (expected + number_of(&m, t[x])) & 65535;
                before = row[x];
                const double v = 1 + (row[x] - 1) * (double)step + (step - 1) / 2;
                to[y * width + x] = (uint16_t)fmin(65535, v);
            }
        for (int i = 0; i < edges; i++) above[i] = edge[i];
        edges_above = edges;
    }
    for (int l = 0; l < 4; l++) assert_int_equal(m.state[l], 65536);
    free(edge);
    free(q);
    free(tokens);
}

static void test_second_decoder(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    enum { W = 150, H = 90, N = 5, CHUNK = 32 };
    uint16_t *f = calloc(W * H * N, 2), *got = calloc(W * H, 2), *other = calloc(W * H, 2);
    make_path();
    for (int e = 0; e < (test_watches_threads() ? 2 : 6); e++) {
        size_t size;
        const uint8_t *frame[N] = { NULL };
        tsr_depth_film_reader *r = NULL;
        for (int k = 0; k < N; k++) room(f + k * W * H, W, H, k, e % 2 ? 0 : 0.003, e % 3 != 1, &seed);
        write_film(f, W, H, N, 1e-4 * e);
        uint8_t *bytes = file_bytes(&size);
        int shared = 0;
        for (size_t at = 8, k = 0; k < N + 1; k++, at += CHUNK + le(bytes + at + 8, 4)) /* HEAD, then the frames */
            if (k) frame[k - 1] = bytes + at + CHUNK;
        require_ok(tsr_depth_film_reader_create(path, 0, &r));
        for (int k = 0; k < N; k++) {
            const int tables = (int)le(frame[k], 4);
            shared += tables != k;
            memset(other, 0, W * H * 2);
            model_frame(frame[k], frame[tables], W, H, 2 * e + 1, other);
            require_ok(tsr_depth_film_reader_frame(r, k, got));
            assert_memory_equal(got, other, W * H * 2);
        }
        print_message("error %d: %d of %d frames use another's tables\n", e, shared, N);
        tsr_depth_film_reader_destroy(&r);
        free(bytes);
    }
    free(f);
    free(got);
    free(other);
    unlink(path);
}

/* ---- FFV1 ------------------------------------------------------------------------------------------------------------------------------------- */

static void test_ffv1(void **state)
{
    (void)state;
    if (system("ffmpeg -version >/dev/null 2>&1") != 0) {
        print_message("no ffmpeg: not compared with FFV1\n");
        skip();
    }
    enum { W = 640, H = 480, N = 6 };
    uint64_t seed = test_seed();
    uint16_t *f = malloc(W * H * 2 * N);
    for (int kind = 0; kind < 2; kind++) {
        char command[400], raw[64], film[64];
        size_t ours, theirs;
        if (test_is_slow()) continue; /* a comparison of sizes */
        make_path();
        for (int k = 0; k < N; k++) room(f + k * W * H, W, H, k, kind ? 0.002 : 0, kind, &seed);
        snprintf(raw, sizeof raw, "%s.raw", path);
        snprintf(film, sizeof film, "%s.mkv", path);
        FILE *to = fopen(raw, "wb");
        assert_int_equal(fwrite(f, 2, W * H * N, to), W * H * N);
        fclose(to);
        snprintf(command, sizeof command, "ffmpeg -v error -y -f rawvideo -pix_fmt gray16le -s %dx%d -i %s -c:v ffv1 -level 3 -g 1 %s", W, H, raw,
                 film);
        assert_int_equal(system(command), 0);
        write_film(f, W, H, N, 0);
        free(file_bytes(&ours));
        unlink(path);
        to = fopen(film, "rb");
        fseek(to, 0, SEEK_END);
        theirs = (size_t)ftell(to);
        fclose(to);
        print_message("%s: %zu bytes, FFV1 %zu\n", kind ? "with noise of 2 mm and holes" : "smooth", ours, theirs);
        assert_true(ours <= theirs);
        unlink(raw);
        unlink(film);
    }
    free(f);
}

/* ---- damage ----------------------------------------------------------------------------------------------------------------------------------- */

/* Each frame of damaged bytes is exactly what it was, or an error. Returns how many there are. */
static int frames_of(const uint8_t *bytes, size_t size, int partial, const uint16_t *frames, int n, int count)
{
    tsr_input *input = NULL;
    tsr_depth_film_reader *r = NULL;
    tsr_depth_film_info info = TSR_DEPTH_FILM_INFO;
    uint16_t got[4096];
    char remarks[1024];
    int good = 0;
    require_ok(tsr_input_memory(bytes, size, "damaged", NULL, &input));
    if (tsr_depth_film_reader_of(input, partial, &r) != TSR_OK) {
        assert_true(*tsr_error_message() != 0);
        return -1;
    }
    require_ok(tsr_depth_film_reader_info(r, &info));
    for (int k = 0; k < info.frames && k < count; k++)
        if (tsr_depth_film_reader_frame(r, k, got) == TSR_OK) {
            assert_memory_equal(got, frames + k * n, (size_t)n * 2);
            good++;
        }
    tsr_depth_film_reader_destroy(&r);
    tsr_remarks_take(remarks, sizeof remarks);
    return good;
}

static void test_damage(void **state)
{
    (void)state;
    enum { W = 40, H = 24, N = 4 };
    uint64_t seed = test_seed();
    uint16_t f[W * H * N];
    size_t size;
    int last = -1;
    make_path();
    for (int k = 0; k < N; k++) room(f + k * W * H, W, H, k, 0.001, 1, &seed);
    write_film(f, W, H, N, 0);
    uint8_t *bytes = file_bytes(&size);
    assert_int_equal(frames_of(bytes, size, 0, f, W * H, N), N);
    for (size_t cut = test_watches_threads() ? size - size / 8 : 0; cut < size; cut++) { /* of a file that ends early what is whole */
        assert_int_equal(frames_of(bytes, cut, 0, f, W * H, N), -1);
        const int good = frames_of(bytes, cut, 1, f, W * H, N);
        assert_true(good >= last);
        last = good;
    }
    assert_int_equal(last, N);
    for (size_t k = 0; k < size; k += test_watches_threads() ? 7 : 1) {
        bytes[k] ^= 0x41;
        (void)frames_of(bytes, size, 0, f, W * H, N);
        const int good = frames_of(bytes, size, 1, f, W * H, N);
        if (k > 100) assert_true(good >= 0); /* behind the header something is left, but where another frame needs what is lost */
        bytes[k] ^= 0x41;
    }
    free(bytes);
    unlink(path);
}

static void test_arguments(void **state)
{
    (void)state;
    tsr_depth_film_options o = TSR_DEPTH_FILM_OPTIONS;
    tsr_depth_film_writer *w = NULL;
    tsr_depth_film_reader *r = NULL;
    make_path();
    o.overwrite = 1;
    require_error(tsr_depth_film_writer_create(path, 0, 4, &o, &w), TSR_ERROR_ARGUMENT, "0 x 4");
    o.scale = -1;
    require_error(tsr_depth_film_writer_create(path, 4, 4, &o, &w), TSR_ERROR_ARGUMENT, "scale of -1");
    o.scale = 0.001;
    o.largest_error = 33;
    require_error(tsr_depth_film_writer_create(path, 4, 4, &o, &w), TSR_ERROR_ARGUMENT, "largest error of 33");
    o.largest_error = NAN;
    require_error(tsr_depth_film_writer_create(path, 4, 4, &o, &w), TSR_ERROR_ARGUMENT, "largest error of");
    o.largest_error = 0;
    require_ok(tsr_depth_film_writer_create(path, 4, 4, &o, &w));
    require_error(tsr_depth_film_writer_finish(&w), TSR_ERROR_STATE, "without frames");
    assert_null(w);
    require_error(tsr_depth_film_reader_create(path, 0, &r), TSR_ERROR_FORMAT, "not a file of depth films");
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_exact), cmocka_unit_test(test_room),   cmocka_unit_test(test_second_decoder),
                                        cmocka_unit_test(test_ffv1),  cmocka_unit_test(test_damage), cmocka_unit_test(test_arguments) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
