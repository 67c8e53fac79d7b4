/* The parts of codec SPIHT4D, beside plain programs that share no code with them: trees, sparse fill, wavelets, streams. */
#include "multiview_footage.h"
#include "video/multiview/mvv_fill.h"
#include "video/multiview/mvv_haar.h"
#include "video/multiview/mvv_haar_isa.h"
#include "video/multiview/mvv_spiht.h"

/* ---- the tree rule, from its words ------------------------------------------------------------------------------------------------------------- */

typedef struct place {
    int at[4];
} place;

static int plain_scale(int i)
{
    int s = 0;
    for (; i > 0; i /= 2) s++;
    return s;
}

static int plain_level(const place *p)
{
    int level = 0;
    for (int a = 0; a < 4; a++)
        if (plain_scale(p->at[a]) > level) level = plain_scale(p->at[a]);
    return level;
}

static uint32_t number(const int bits[4], const place *p)
{
    uint32_t x = 0;
    for (int a = 3; a >= 0; a--) x = x << bits[a] | (uint32_t)p->at[a];
    return x;
}

static place place_of(const int bits[4], uint32_t x)
{
    place p;
    for (int a = 0; a < 4; a++) {
        p.at[a] = (int)(x & ((1u << bits[a]) - 1));
        x >>= bits[a];
    }
    return p;
}

/* Children by the rule: doubled on axes with n_a > level, where that gives the next level. */
static int plain_children(const int bits[4], uint32_t x, uint32_t child[16])
{
    const place p = place_of(bits, x);
    const int n = plain_level(&p);
    int count = 0, active = 0;
    for (int a = 0; a < 4; a++) active |= (bits[a] > n) << a;
    if (!active) return 0;
    for (int k = 0; k < 16; k++) {
        place y = p;
        if (k & ~active) continue;
        for (int a = 0; a < 4; a++)
            if (active >> a & 1) y.at[a] = 2 * p.at[a] + (k >> a & 1);
        if (number(bits, &y) != x && plain_level(&y) == n + 1) child[count++] = number(bits, &y);
    }
    return count;
}

static int by_value(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Every coefficient but the root has one parent; every shape up to 16 x 16 x 8 x 8. */
static void test_tree(void **state)
{
    (void)state;
    int bits[4];
    for (bits[0] = 0; bits[0] <= 4; bits[0]++)
        for (bits[1] = 0; bits[1] <= 4; bits[1]++)
            for (bits[2] = 0; bits[2] <= 3; bits[2]++)
                for (bits[3] = 0; bits[3] <= 3; bits[3]++) {
                    tsr_mvv_shape s;
                    assert_true(tsr_mvv_shape_make(1 << bits[0], 1 << bits[1], 1 << bits[2], 1 << bits[3], &s));
                    const uint32_t count = 1u << s.all;
                    uint8_t *parents = (uint8_t *)calloc(count, 1);
                    for (uint32_t x = 0; x < count; x++) {
                        uint32_t plain[16], own[16], below = 0;
                        const int32_t level = tsr_mvv_level(&s, x);
                        const int children = plain_children(bits, x, plain);
                        int found = 0;
                        if (tsr_mvv_has_children(&s, x, level))
                            for (int32_t k = tsr_mvv_first_child(x); k < s.children[level]; k++)
                                own[found++] = tsr_mvv_base(&s, x, level) + s.child[level][k];
                        assert_int_equal(found, children);
                        qsort(own, (size_t)found, sizeof *own, by_value);
                        qsort(plain, (size_t)children, sizeof *plain, by_value);
                        for (int k = 0; k < children; k++) {
                            uint32_t grand[16];
                            assert_int_equal(own[k], plain[k]);
                            assert_int_equal(parents[plain[k]]++, 0);
                            assert_int_equal(tsr_mvv_parent(&s, plain[k], level + 1), x);
                            below += (uint32_t)plain_children(bits, plain[k], grand);
                        }
                        if (children) assert_int_equal(tsr_mvv_has_grandchildren(&s, x, level) != 0, below > 0);
                    }
                    assert_int_equal(parents[0], 0);
                    for (uint32_t x = 1; x < count; x++) assert_int_equal(parents[x], 1);
                    free(parents);
                }
}

/* ---- streams, beside a plain coder with lists and no arrays of maxima -------------------------------------------------------------------------- */

typedef struct plain {
    const int *bits;
    const int32_t *value;
    uint32_t *lip, *lis, *lsp; /* lis: number, top bit for type B */
    int64_t lips, liss, lsps, at;
    uint8_t *bytes;
    int64_t room;
} plain;

static void put(plain *p, int bit)
{
    if (p->at / 8 < p->room) p->bytes[p->at / 8] |= (uint8_t)(bit << p->at % 8);
    p->at++;
}

static int64_t magnitude(const plain *p, uint32_t x) { return llabs((long long)p->value[x]); }

/* The greatest magnitude among descendants; `skip` generations are left out. */
static int64_t greatest(const plain *p, uint32_t x, int skip)
{
    uint32_t child[16];
    int64_t most = 0;
    const int n = plain_children(p->bits, x, child);
    for (int k = 0; k < n; k++) {
        const int64_t below = greatest(p, child[k], skip > 0 ? skip - 1 : 0), own = skip > 0 ? 0 : magnitude(p, child[k]);
        most = below > most ? below : most;
        most = own > most ? own : most;
    }
    return most;
}

static int64_t plain_stream(const int bits[4], const int32_t *value, uint8_t *bytes, int64_t room)
{
    const int64_t count = 1ll << (bits[0] + bits[1] + bits[2] + bits[3]);
    plain p = { .bits = bits, .value = value, .bytes = bytes, .room = room };
    int planes = 0;
    uint32_t child[16], grand[16];
    for (int64_t x = 0; x < count; x++)
        while (magnitude(&p, (uint32_t)x) >> planes) planes++;
    p.lip = (uint32_t *)malloc((size_t)count * 4);
    p.lis = (uint32_t *)malloc((size_t)count * 8 + 8);
    p.lsp = (uint32_t *)malloc((size_t)count * 4);
    memset(bytes, 0, (size_t)room);
    for (int k = 0; k < 8; k++) put(&p, planes >> k & 1);
    p.lip[p.lips++] = 0;
    if (plain_children(bits, 0, child)) p.lis[p.liss++] = 0;
    for (int n = planes - 1; n >= 0; n--) {
        const int64_t before = p.lsps;
        int64_t kept = 0;
        for (int64_t k = 0; k < p.lips; k++) {
            const uint32_t x = p.lip[k];
            const int s = (int)(magnitude(&p, x) >> n & 1);
            put(&p, s);
            if (s) {
                put(&p, value[x] < 0);
                p.lsp[p.lsps++] = x;
            } else p.lip[kept++] = x;
        }
        p.lips = kept;
        kept = 0;
        for (int64_t k = 0; k < p.liss; k++) {
            const uint32_t entry = p.lis[k], x = entry & 0x7fffffffu;
            const int b = entry >> 31 != 0, s = greatest(&p, x, b) >= 1ll << n;
            const int children = plain_children(bits, x, child);
            put(&p, s);
            if (!s) {
                p.lis[kept++] = entry;
                continue;
            }
            int more = 0;
            for (int c = 0; c < children; c++) {
                const int below = plain_children(bits, child[c], grand) > 0;
                more |= below;
                if (b) {
                    if (below) p.lis[p.liss++] = child[c];
                    continue;
                }
                const int sc = (int)(magnitude(&p, child[c]) >> n & 1);
                put(&p, sc);
                if (sc) {
                    put(&p, value[child[c]] < 0);
                    p.lsp[p.lsps++] = child[c];
                } else p.lip[p.lips++] = child[c];
            }
            if (!b && more) p.lis[p.liss++] = x | 0x80000000u;
        }
        p.liss = kept;
        for (int64_t k = 0; k < before; k++) put(&p, (int)(magnitude(&p, p.lsp[k]) >> n & 1));
    }
    free(p.lip);
    free(p.lis);
    free(p.lsp);
    return (p.at + 7) / 8;
}

static void random_values(uint64_t *seed, const int bits[4], int32_t *value, int64_t count)
{
    for (int64_t x = 0; x < count; x++) {
        const place p = place_of(bits, (uint32_t)x);
        value[x] = (int32_t)((test_uniform(seed) - 0.5) * 40000 / (1 << 2 * plain_level(&p)));
        if (test_random(seed) % 5 == 0) value[x] = 0;
    }
}

static const int shapes[][4] = { { 4, 4, 3, 3 }, { 5, 2, 0, 1 }, { 0, 0, 3, 2 }, { 3, 5, 1, 0 }, { 0, 0, 0, 0 }, { 6, 6, 0, 0 }, { 1, 0, 0, 5 } };

static void test_serial_is_published(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_mvv_coder c = { 0 }, d = { 0 };
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const int *bits = shapes[k];
        tsr_mvv_shape s;
        assert_true(tsr_mvv_shape_make(1 << bits[0], 1 << bits[1], 1 << bits[2], 1 << bits[3], &s));
        const int64_t count = 1ll << s.all, room = 1 << 20;
        int32_t *value = (int32_t *)malloc((size_t)count * 4);
        tsr_mvv_sets sets = { (uint8_t *)malloc((size_t)count), (uint8_t *)malloc((size_t)count) };
        uint8_t *plain_bytes = (uint8_t *)malloc((size_t)room), *bytes;
        int64_t size;
        random_values(&seed, bits, value, count);
        tsr_mvv_sets_make(&s, value, &sets);
        const int64_t expected = plain_stream(bits, value, plain_bytes, room);
        require_ok(tsr_mvv_spiht_encode(&c, &s, value, &sets, TSR_MULTIVIEW_SYNTAX_SERIAL, room, &bytes, &size));
        assert_int_equal(size, expected);
        assert_memory_equal(bytes, plain_bytes, (size_t)size);
        for (int syntax = 0; syntax < 2; syntax++) { /* all bits: all values, exactly */
            int32_t *back = (int32_t *)calloc((size_t)count, 4);
            require_ok(tsr_mvv_spiht_encode(&c, &s, value, &sets, (tsr_multiview_syntax)syntax, room, &bytes, &size));
            require_ok(tsr_mvv_spiht_decode(&d, &s, bytes, size, (tsr_multiview_syntax)syntax, 28));
            for (int64_t i = 0; i < d.found.count; i++) {
                const uint32_t v = d.value.item[i];
                back[d.found.item[i]] = v >> 31 ? -(int32_t)(v & 0x7fffffff) : (int32_t)v;
            }
            assert_memory_equal(back, value, (size_t)count * 4);
            free(back);
        }
        free(value);
        free(sets.all);
        free(sets.but_children);
        free(plain_bytes);
    }
    tsr_mvv_coder_free(&c);
    tsr_mvv_coder_free(&d);
}

/* A stream large enough for parts: some threads and one write the same. */
static void test_parts(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    static const int bits[4] = { 7, 6, 2, 2 };
    tsr_mvv_shape s;
    assert_true(tsr_mvv_shape_make(128, 64, 4, 4, &s));
    const int64_t count = 1ll << s.all;
    int32_t *value = (int32_t *)malloc((size_t)count * 4);
    tsr_mvv_sets sets = { (uint8_t *)malloc((size_t)count), (uint8_t *)malloc((size_t)count) };
    for (int64_t x = 0; x < count; x++) {
        const place p = place_of(bits, (uint32_t)x);
        value[x] = (int32_t)((test_uniform(&seed) - 0.5) * 8000 / (1 << plain_level(&p)));
    }
    tsr_mvv_sets_make(&s, value, &sets);
    for (int syntax = 0; syntax < 2; syntax++)
        for (int cut = 0; cut < 2; cut++) {
            tsr_mvv_coder one = { 0 }, some = { .threads = 3 };
            uint8_t *a, *b;
            int64_t size_a, size_b;
            require_ok(tsr_mvv_spiht_encode(&one, &s, value, &sets, (tsr_multiview_syntax)syntax, cut ? 20000 : 1 << 24, &a, &size_a));
            require_ok(tsr_mvv_spiht_encode(&some, &s, value, &sets, (tsr_multiview_syntax)syntax, cut ? 20000 : 1 << 24, &b, &size_b));
            assert_true(some.parts > 1 && size_a > 10000);
            assert_int_equal(size_a, size_b);
            assert_memory_equal(a, b, (size_t)size_a);
            tsr_mvv_coder_free(&one);
            tsr_mvv_coder_free(&some);
        }
    free(value);
    free(sets.all);
    free(sets.but_children);
}

static void test_zero(void **state)
{
    (void)state;
    tsr_mvv_shape s;
    tsr_mvv_coder c = { 0 };
    int32_t value[64] = { 0 };
    uint8_t all[64], but_children[64], *bytes;
    tsr_mvv_sets sets = { all, but_children };
    int64_t size;
    assert_true(tsr_mvv_shape_make(4, 4, 2, 2, &s));
    tsr_mvv_sets_make(&s, value, &sets);
    for (int syntax = 0; syntax < 2; syntax++) {
        require_ok(tsr_mvv_spiht_encode(&c, &s, value, &sets, (tsr_multiview_syntax)syntax, 100, &bytes, &size));
        assert_int_equal(size, 1);
        assert_int_equal(bytes[0], 0);
        require_ok(tsr_mvv_spiht_decode(&c, &s, bytes, size, (tsr_multiview_syntax)syntax, 28));
        assert_int_equal(c.found.count, 0);
    }
    tsr_mvv_coder_free(&c);
}

/* Every prefix of a stream decodes, and the error falls with its length: a bit of refinement may be an unlucky one for a value that was in the
 * middle by
 * chance, so that single bytes may raise the error a little, but not what 64 bytes do together. A shorter stream is the prefix of a longer one. */
static void test_every_byte(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    static const int bits[4] = { 4, 4, 2, 2 };
    const int64_t count = 1 << 12;
    tsr_mvv_shape s;
    tsr_mvv_coder c = { 0 }, d = { 0 };
    int32_t *value = (int32_t *)malloc((size_t)count * 4);
    double *back = (double *)malloc((size_t)count * sizeof *back);
    tsr_mvv_sets sets = { (uint8_t *)malloc((size_t)count), (uint8_t *)malloc((size_t)count) };
    assert_true(tsr_mvv_shape_make(16, 16, 4, 4, &s));
    random_values(&seed, bits, value, count);
    tsr_mvv_sets_make(&s, value, &sets);
    for (int syntax = 0; syntax < 2; syntax++) {
        uint8_t *bytes, *copy;
        int64_t size;
        double before = 0, past[64];
        require_ok(tsr_mvv_spiht_encode(&c, &s, value, &sets, (tsr_multiview_syntax)syntax, 1 << 20, &bytes, &size));
        for (int64_t x = 0; x < count; x++) before += (double)value[x] * value[x];
        const double all = before;
        for (int k = 0; k < 64; k++) past[k] = before;
        copy = (uint8_t *)malloc((size_t)size);
        memcpy(copy, bytes, (size_t)size);
        for (int64_t cut = 0; cut <= size; cut++) {
            double error = 0;
            require_ok(tsr_mvv_spiht_decode(&d, &s, copy, cut, (tsr_multiview_syntax)syntax, 28));
            memset(back, 0, (size_t)count * sizeof *back);
            for (int64_t i = 0; i < d.found.count; i++) {
                const uint32_t v = d.value.item[i];
                back[d.found.item[i]] = v >> 31 ? -(double)(v & 0x7fffffff) : (double)v;
            }
            for (int64_t x = 0; x < count; x++) error += (value[x] - back[x]) * (value[x] - back[x]);
            if (error > before * 1.02 || error > past[cut % 64] * (1 + 1e-9))
                fail_msg("%s: byte %lld of %lld: the error rises from %g to %g", syntax ? "serial" : "planes", (long long)cut, (long long)size,
                         before, error);
            before = past[cut % 64] = error;
        }
        assert_true(before == 0 && all > 0);
        if (syntax) { /* serial streams are prefixes of each other as they are */
            require_ok(tsr_mvv_spiht_encode(&c, &s, value, &sets, TSR_MULTIVIEW_SYNTAX_SERIAL, 500, &bytes, &size));
            assert_int_equal(size, 500);
            assert_memory_equal(bytes, copy, 500);
        }
        free(copy);
    }
    free(value);
    free(back);
    free(sets.all);
    free(sets.but_children);
    tsr_mvv_coder_free(&c);
    tsr_mvv_coder_free(&d);
}

static void test_hostile(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_mvv_shape s;
    tsr_mvv_coder d = { 0 };
    uint8_t bytes[300];
    assert_true(tsr_mvv_shape_make(16, 8, 4, 4, &s));
    for (int turn = 0; turn < 4000; turn++) {
        const int64_t size = (int64_t)(test_random(&seed) % sizeof bytes);
        for (int64_t k = 0; k < size; k++) bytes[k] = (uint8_t)(test_random(&seed) & (turn & 1 ? 255 : test_random(&seed)));
        if (turn & 2) bytes[0] = (uint8_t)(bytes[0] % 30);
        const tsr_status status = tsr_mvv_spiht_decode(&d, &s, bytes, size, (tsr_multiview_syntax)(turn >> 2 & 1), 28);
        assert_true(status == TSR_OK || status == TSR_ERROR_FORMAT);
        assert_true(d.found.count <= 1 << s.all);
    }
    tsr_mvv_coder_free(&d);
}

/* ---- sparse fill ------------------------------------------------------------------------------------------------------------------------------- */

static void test_fill(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    for (int turn = 0; turn < 60; turn++) {
        const int *bits = shapes[turn % 7];
        tsr_mvv_shape s;
        assert_true(tsr_mvv_shape_make(1 << bits[0], 1 << bits[1], 1 << bits[2], 1 << bits[3], &s));
        const int64_t count = 1ll << s.all, texels = 1ll << (bits[0] + bits[1]);
        int32_t *value = (int32_t *)malloc((size_t)count * 4), *filled = (int32_t *)malloc((size_t)count * 4);
        int32_t *scratch = (int32_t *)malloc(tsr_mvv_fill_scratch(&s) * 4);
        const int flat = turn & 1, share = turn % 4; /* 0: nothing is there */
        for (int64_t x = 0; x < count; x++)
            value[x] = (int)(test_random(&seed) % 8) < share ? (int32_t)(test_random(&seed) % 4000) - 2000 : TSR_MVV_EMPTY;
        memcpy(filled, value, (size_t)count * 4);
        tsr_mvv_fill(&s, flat, filled, scratch);
        for (int64_t from = 0; from < count; from += flat ? texels : count) {
            int32_t least = INT32_MAX, most = INT32_MIN;
            const int64_t to = from + (flat ? texels : count);
            for (int64_t x = from; x < to; x++)
                if (value[x] != TSR_MVV_EMPTY) {
                    least = value[x] < least ? value[x] : least;
                    most = value[x] > most ? value[x] : most;
                }
            if (most == INT32_MIN) least = most = 0;
            for (int64_t x = from; x < to; x++) {
                if (value[x] != TSR_MVV_EMPTY) assert_int_equal(filled[x], value[x]);
                assert_true(filled[x] >= least && filled[x] <= most);
            }
        }
        free(value);
        free(filled);
        free(scratch);
    }
    /* by hand: 4 x 1: 10 and 20 are there in the first pair and none in the second: its parent's parent is 15 */
    tsr_mvv_shape line;
    int32_t four[4] = { 10, 20, TSR_MVV_EMPTY, TSR_MVV_EMPTY }, scratch[100];
    assert_true(tsr_mvv_shape_make(4, 1, 1, 1, &line));
    tsr_mvv_fill(&line, 0, four, scratch);
    assert_int_equal(four[2], 15);
    assert_int_equal(four[3], 15);
}

/* ---- wavelets ---------------------------------------------------------------------------------------------------------------------------------- */

static void test_haar(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    for (int64_t n = 1; n <= 512; n *= 2)
        for (int64_t columns = 1; columns <= 64; columns = columns * 3 + 1) {
            const int64_t stride = columns + 5, count = n * stride;
            int32_t *value = (int32_t *)malloc((size_t)count * 4), *work = (int32_t *)malloc((size_t)count * 4);
            float *f = (float *)malloc((size_t)count * 4);
            void *scratch = malloc((size_t)(n * (columns < 2 ? 2 : columns)) * 4);
            for (int64_t k = 0; k < count; k++) work[k] = value[k] = (int32_t)(test_random(&seed) % 4081);
            TSR_ISA_SELECT(tsr_mvv_turned_forward)(work, n, stride, columns, (int32_t *)scratch);
            int32_t *turned = (int32_t *)malloc((size_t)count * 4);
            memcpy(turned, work, (size_t)count * 4);
            TSR_ISA_SELECT(tsr_mvv_turned_inverse)(work, n, stride, columns, (int32_t *)scratch);
            assert_memory_equal(work, value, (size_t)count * 4);
            double before = 0, after = 0, rounding = 0; /* Parseval */
            for (int64_t k = 0; k < count; k++) {
                f[k] = (float)value[k];
                if (k % stride < columns) before += (double)f[k] * (double)f[k];
            }
            TSR_ISA_SELECT(tsr_mvv_haar_forward)(f, n, stride, columns, (float *)scratch);
            for (int64_t k = 0; k < count; k++)
                if (k % stride < columns) {
                    after += (double)f[k] * (double)f[k];
                    rounding += ((double)turned[k] - (double)f[k]) * ((double)turned[k] - (double)f[k]);
                }
            assert_true(fabs(after - before) <= 1e-6 * before);
            assert_true(rounding <= 0.4 * (double)(n * columns)); /* integers are the orthonormal ones, but for roundings */
            free(turned);
            /* back in the scale of samples, in double; the first columns of it by the library */
            for (int64_t k = 0; k < count; k++) {
                const int64_t i = k / stride;
                const int steps = tsr_mvv_bits_for((int32_t)n) - (i > 1 ? plain_scale((int)i) - 1 : 0);
                work[k] = (int32_t)lrint((double)f[k] * pow(2, -steps / 2.0) * 256);
            }
            TSR_ISA_SELECT(tsr_mvv_haar_inverse)(work, n, stride, columns, (int32_t *)scratch);
            for (int64_t k = 0; k < count; k++)
                if (k % stride < columns) assert_true(fabs(work[k] / 256.0 - value[k]) < 0.05);
            if (columns == 1) { /* rows are the same */
                int32_t *row = (int32_t *)malloc((size_t)n * 4), *again = (int32_t *)malloc((size_t)n * 4), *room = (int32_t *)malloc((size_t)n * 8);
                for (int64_t k = 0; k < n; k++) row[k] = again[k] = (int32_t)(test_random(&seed) % 256);
                TSR_ISA_SELECT(tsr_mvv_turned_forward_row)(row, n, room);
                TSR_ISA_SELECT(tsr_mvv_turned_inverse_row)(row, n, room);
                assert_memory_equal(row, again, (size_t)n * 4);
                TSR_ISA_SELECT(tsr_mvv_haar_inverse_row)(row, n, room);
                TSR_ISA_SELECT(tsr_mvv_haar_inverse)(again, n, 1, 1, room);
                assert_memory_equal(row, again, (size_t)n * 4);
                free(row);
                free(again);
                free(room);
            }
            free(value);
            free(work);
            free(f);
            free(scratch);
        }
}

/* A coefficient in the scale of samples, beside floating point. */
static void test_scale(void **state)
{
    (void)state;
    for (int32_t steps = 0; steps <= 30; steps++)
        for (int64_t size = 1; size < 1 << 28; size = size * 3 + 1) {
            const double exact = (double)size * pow(2, -steps / 2.0) * 256;
            const int32_t got = tsr_mvv_to_sample_scale((uint32_t)size, 0, steps);
            if (exact < 4e6) assert_true(fabs(got - exact) <= 0.51 + exact * 1e-5);
            assert_int_equal(tsr_mvv_to_sample_scale((uint32_t)size, 1, steps), -got);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),       cmocka_unit_test(test_serial_is_published),
        cmocka_unit_test(test_parts),      cmocka_unit_test(test_zero),
        cmocka_unit_test(test_every_byte), cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_fill),       cmocka_unit_test(test_haar),
        cmocka_unit_test(test_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
