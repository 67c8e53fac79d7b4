/* Multi-view textures: the object and its file. */
#include <math.h>
#include <unistd.h>

#include "context.h"
#include "multiview_footage.h"

static char path[] = "/tmp/multiview-XXXXXX";

static void make_path(void)
{
    memcpy(path, "/tmp/multiview-XXXXXX", sizeof path);
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
}

static void same(const tsr_multiview *a, const tsr_multiview *b)
{
    tsr_multiview_difference d = TSR_MULTIVIEW_DIFFERENCE;
    require_ok(tsr_multiview_compare(a, b, &d));
    assert_int_equal(d.masks_differ, 0);
    assert_true(d.texels > 0);
    for (int p = 0; p < 3; p++) assert_int_equal(d.largest[p], 0);
}

static void test_object(void **state)
{
    (void)state;
    tsr_multiview *m = NULL;
    tsr_multiview_view v;
    require_error(tsr_multiview_create(context, 0, 5, 1, 1, 0, &m), TSR_ERROR_ARGUMENT, "0 x 5");
    require_error(tsr_multiview_create(context, 5, 5, 300, 1, 0, &m), TSR_ERROR_ARGUMENT, "300 cameras");
    require_ok(tsr_multiview_create(context, 70, 5, 2, 3, 1, &m));
    require_ok(tsr_multiview_view_of(m, &v));
    assert_int_equal(v.width, 70);
    assert_int_equal(v.steps, 3);
    assert_non_null(v.visible);
    assert_string_equal(tsr_multiview_camera_name(m, 1), "");
    require_ok(tsr_multiview_set_camera_name(m, 1, "left"));
    assert_string_equal(tsr_multiview_camera_name(m, 1), "left");
    require_error(tsr_multiview_set_camera_name(m, 2, "left"), TSR_ERROR_ARGUMENT, "camera 2");
    const int32_t none[2] = { 25, 0 };
    require_error(tsr_multiview_set_rate(m, none), TSR_ERROR_ARGUMENT, "25 / 0");
    tsr_multiview_destroy(&m);
    assert_null(m);
}

static void test_raw(void **state)
{
    (void)state;
    for (int masks = 0; masks < 2; masks++) {
        const footage f = { .width = 75, .height = 34, .cameras = 3, .steps = 11, .masks = masks, .noise = 2 };
        tsr_multiview *m = footage_make(context, &f), *back = NULL;
        const int32_t rate[2] = { 30000, 1001 };
        int32_t got[2];
        size_t size;
        tsr_multiview_report report = TSR_MULTIVIEW_REPORT, again = TSR_MULTIVIEW_REPORT;
        tsr_multiview_write_options o = TSR_MULTIVIEW_WRITE_OPTIONS;
        require_ok(tsr_multiview_set_rate(m, rate));
        require_ok(tsr_multiview_set_camera_name(m, 2, "c\xc3\xa4mera"));
        require_ok(tsr_multiview_set_model_bytes(m, "model", 5));
        make_path();
        o.overwrite = 1;
        require_ok(tsr_multiview_write(m, path, &o, &report));
        require_ok(tsr_multiview_inspect(path, &again));
        assert_memory_equal(&report, &again, sizeof report);
        assert_int_equal(report.padded, 1);
        require_ok(tsr_multiview_read(context, path, NULL, &back));
        same(m, back);
        tsr_multiview_rate(back, got);
        assert_memory_equal(got, rate, sizeof rate);
        assert_string_equal(tsr_multiview_camera_name(back, 2), "c\xc3\xa4mera");
        assert_memory_equal(tsr_multiview_model_bytes(back, &size), "model", 5);
        assert_int_equal(size, 5);
        tsr_multiview_destroy(&back);
        tsr_multiview_destroy(&m);
        unlink(path);
    }
}

/* ---- codecs ------------------------------------------------------------------------------------------------------------------------------------ */

static const footage small = { .width = 45, .height = 38, .cameras = 3, .steps = 10, .masks = 1, .noise = 1.5 };
static const footage whole = { .width = 32, .height = 17, .cameras = 2, .steps = 3, .masks = 0, .noise = 1.5 };

static tsr_multiview_difference code(const tsr_multiview *m, const tsr_multiview_write_options *options, tsr_multiview_report *report)
{
    tsr_multiview_write_options o = *options;
    tsr_multiview_difference d = TSR_MULTIVIEW_DIFFERENCE;
    tsr_multiview_report again = TSR_MULTIVIEW_REPORT, own = TSR_MULTIVIEW_REPORT;
    tsr_multiview *back = NULL;
    make_path();
    o.overwrite = 1;
    require_ok(tsr_multiview_write(m, path, &o, &own));
    require_ok(tsr_multiview_inspect(path, &again));
    assert_memory_equal(&own, &again, sizeof own);
    if (report) *report = own;
    require_ok(tsr_multiview_read(context, path, NULL, &back));
    require_ok(tsr_multiview_compare(m, back, &d));
    tsr_multiview_destroy(&back);
    unlink(path);
    return d;
}

static void test_lossless(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        tsr_multiview *m = footage_make(context, k ? &whole : &small);
        for (int variant = 0; variant < 8; variant++) {
            tsr_multiview_write_options o = TSR_MULTIVIEW_WRITE_OPTIONS;
            o.codec = variant < 4 ? TSR_MULTIVIEW_SPIHT4D : TSR_MULTIVIEW_DIFF2D;
            o.lossless = 1;
            o.syntax = (tsr_multiview_syntax)(variant & 1);
            o.fill = variant & 2 ? TSR_MULTIVIEW_FILL_2D : TSR_MULTIVIEW_FILL_4D;
            o.filter = variant & 1 ? TSR_MULTIVIEW_FILTER_HAAR : TSR_MULTIVIEW_FILTER_97;
            o.open_loop = variant >> 1 & 1;
            o.group = variant & 2 ? 4 : 0;
            const tsr_multiview_difference d = code(m, &o, NULL);
            assert_int_equal(d.masks_differ, 0);
            for (int p = 0; p < 3; p++) assert_int_equal(d.largest[p], 0);
        }
        tsr_multiview_destroy(&m);
    }
}

/* Rates are kept to the byte, the report's ratio is the one of the rates, and more bits give fewer errors. */
static void test_rates(void **state)
{
    (void)state;
    const footage f = { .width = 64, .height = 64, .cameras = 4, .steps = 8, .masks = 1, .noise = 2 };
    tsr_multiview *m = footage_make(context, &f);
    const double safe[3] = { 0.75, 0.25, 0.25 }, low[3] = { 0.05, 0.05 / 3, 0.05 / 3 };
    assert_true(fabs(tsr_multiview_ratio(safe) - 19.2) < 1e-12);
    assert_true(fabs(tsr_multiview_ratio(low) - 288) < 1e-9);
    for (int codec = 1; codec < 3; codec++) {
        double before = 0, filled = 0;
        for (int k = 0; k < 3; k++) {
            const double bpp[3] = { 0.05, 0.3, 0.75 }, ratio[3] = { 288, 48, 19.2 };
            tsr_multiview_write_options o = TSR_MULTIVIEW_WRITE_OPTIONS;
            tsr_multiview_report r = TSR_MULTIVIEW_REPORT;
            o.codec = (tsr_multiview_codec)codec;
            o.bpp[0] = bpp[k];
            const tsr_multiview_difference d = code(m, &o, &r);
            assert_true(r.bpp[0] <= bpp[k] && r.bpp[0] > 0.97 * bpp[k]);
            assert_true(fabs(r.ratio - ratio[k]) < 0.02 * ratio[k]);
            assert_true(fabs(r.bpp_relevant[0] / r.bpp[0] - (double)r.texels / (double)r.relevant) < 1e-9);
            assert_true(d.psnr[0] > before + 0.5);
            before = d.psnr[0];
            if (k == 1) filled = d.psnr[0];
        }
        if (codec == TSR_MULTIVIEW_SPIHT4D) { /* filling helps */
            tsr_multiview_write_options o = TSR_MULTIVIEW_WRITE_OPTIONS;
            o.codec = TSR_MULTIVIEW_SPIHT4D;
            o.bpp[0] = 0.3;
            o.fill = TSR_MULTIVIEW_FILL_NONE;
            assert_true(code(m, &o, NULL).psnr[0] < filled);
        }
    }
    tsr_multiview_destroy(&m);
}

/* Differences to what the decoder has do better than to what was. */
static void test_loops(void **state)
{
    (void)state;
    const footage f = { .width = 64, .height = 48, .cameras = 4, .steps = 6, .masks = 1, .noise = 1 };
    tsr_multiview *m = footage_make(context, &f);
    tsr_multiview_write_options o = TSR_MULTIVIEW_WRITE_OPTIONS;
    o.codec = TSR_MULTIVIEW_DIFF2D;
    o.allocation = TSR_MULTIVIEW_ALLOCATION_FIXED;
    const double closed = code(m, &o, NULL).psnr[0];
    o.open_loop = 1;
    assert_true(code(m, &o, NULL).psnr[0] < closed);
    tsr_multiview_destroy(&m);
}

/* Frames that are all the same: the master is the frame, the differences take a byte each. */
static void test_same_frames(void **state)
{
    (void)state;
    tsr_multiview *m = NULL;
    tsr_multiview_view v;
    tsr_context *host = test_context_on("cpu", 2);
    require_ok(tsr_multiview_create(host, 20, 20, 3, 4, 0, &m));
    require_ok(tsr_multiview_view_of(m, &v));
    for (int p = 0; p < 3; p++)
        for (int k = 0; k < 12; k++)
            for (int i = 0; i < 400; i++) v.plane[p][400 * k + i] = (uint8_t)(footage_hash((uint32_t)(i + 1000 * p)) & 255);
    tsr_multiview_write_options o = TSR_MULTIVIEW_WRITE_OPTIONS;
    tsr_multiview_report r = TSR_MULTIVIEW_REPORT, one = TSR_MULTIVIEW_REPORT;
    o.codec = TSR_MULTIVIEW_DIFF2D;
    o.lossless = 1;
    assert_int_equal(code(m, &o, &r).largest[0], 0);
    tsr_multiview *first = NULL;
    require_ok(tsr_multiview_create(host, 20, 20, 1, 1, 0, &first));
    tsr_multiview_view to;
    require_ok(tsr_multiview_view_of(first, &to));
    for (int p = 0; p < 3; p++) memcpy(to.plane[p], v.plane[p], 400);
    assert_int_equal(code(first, &o, &one).largest[0], 0);
    for (int p = 0; p < 3; p++) assert_int_equal(r.stream_bytes[p] - one.stream_bytes[p], 4 + 12 - 2);
    tsr_multiview_destroy(&first);
    tsr_multiview_destroy(&m);
    tsr_context_destroy(&host);
}

/* Some steps and cameras are what they are in the whole. */
static void test_ranges(void **state)
{
    (void)state;
    tsr_multiview *m = footage_make(context, &small), *all = NULL, *some = NULL;
    for (int codec = 0; codec < 3; codec++) {
        tsr_multiview_write_options o = TSR_MULTIVIEW_WRITE_OPTIONS;
        tsr_multiview_read_options read = TSR_MULTIVIEW_READ_OPTIONS;
        o.codec = (tsr_multiview_codec)codec;
        o.overwrite = 1;
        o.group = 4;
        make_path();
        require_ok(tsr_multiview_write(m, path, &o, NULL));
        require_ok(tsr_multiview_read(context, path, NULL, &all));
        read.first_step = 5;
        read.steps = 4;
        read.first_camera = 1;
        read.cameras = 1;
        require_ok(tsr_multiview_read(context, path, &read, &some));
        for (int32_t t = 0; t < 4; t++) {
            tsr_image a = { 0 }, b = { 0 };
            require_ok(tsr_multiview_image(all, 5 + t, 1, 1, &a));
            require_ok(tsr_multiview_image(some, t, 0, 1, &b));
            assert_memory_equal(a.pixels, b.pixels, (size_t)(45 * 38 * 4));
            tsr_image_destroy(&a);
            tsr_image_destroy(&b);
        }
        tsr_multiview_destroy(&all);
        tsr_multiview_destroy(&some);
        read.steps = 6;
        require_error(tsr_multiview_read(context, path, &read, &some), TSR_ERROR_ARGUMENT, "steps 5 to 10, the file has 10");
        read.steps = 0;
        read.first_camera = 3;
        require_error(tsr_multiview_read(context, path, &read, &some), TSR_ERROR_ARGUMENT, "camera");
        unlink(path);
    }
    tsr_multiview_destroy(&m);
}

/* ---- masks ------------------------------------------------------------------------------------------------------------------------------------- */

typedef struct builder {
    const uint64_t *masks;
    int32_t cameras, wrong_step, wrong_camera;
    int64_t words;
} builder;

static tsr_status build(void *user, const void *model, size_t model_size, int32_t t, int32_t c, int32_t width, int32_t height, uint64_t *mask)
{
    const builder *b = (const builder *)user;
    assert_int_equal(model_size, 5);
    assert_memory_equal(model, "model", 5);
    assert_true(width == 45 && height == 38);
    memcpy(mask, b->masks + (t * b->cameras + c) * b->words, (size_t)b->words * 8);
    if (t == b->wrong_step && c == b->wrong_camera) mask[3] ^= 1;
    return TSR_OK;
}

static void test_masks(void **state)
{
    (void)state;
    tsr_context *host = test_context_on("cpu", 1);
    tsr_multiview *m = footage_make(host, &small), *back = NULL;
    tsr_multiview_view v;
    require_ok(tsr_multiview_view_of(m, &v));
    require_error(tsr_multiview_write(
                      m, "/tmp/none.mvv",
                      &(tsr_multiview_write_options){ .struct_size = sizeof(tsr_multiview_write_options), .masks = TSR_MULTIVIEW_MASKS_REBUILT },
                      NULL),
                  TSR_ERROR_STATE, "need a model");
    require_ok(tsr_multiview_set_model_bytes(m, "model", 5));
    for (int codec = 0; codec < 3; codec++) {
        builder b = { v.visible, v.cameras, -1, -1, v.height };
        tsr_multiview_write_options o = TSR_MULTIVIEW_WRITE_OPTIONS;
        tsr_multiview_read_options read = TSR_MULTIVIEW_READ_OPTIONS;
        tsr_multiview_report sent = TSR_MULTIVIEW_REPORT, rebuilt = TSR_MULTIVIEW_REPORT;
        o.codec = (tsr_multiview_codec)codec;
        o.overwrite = 1;
        o.lossless = 1;
        make_path();
        require_ok(tsr_multiview_write(m, path, &o, &sent));
        o.masks = TSR_MULTIVIEW_MASKS_REBUILT;
        require_ok(tsr_multiview_write(m, path, &o, &rebuilt));
        assert_true(rebuilt.mask_bytes < sent.mask_bytes);
        require_error(tsr_multiview_read(context, path, NULL, &back), TSR_ERROR_STATE, "to be rebuilt");
        read.rebuild = build;
        read.user = &b;
        require_ok(tsr_multiview_read(context, path, &read, &back));
        same(m, back);
        tsr_multiview_destroy(&back);
        b.wrong_step = 7;
        b.wrong_camera = 2;
        require_error(tsr_multiview_read(context, path, &read, &back), TSR_ERROR_FORMAT, "step 7, camera 2");
        o.masks = TSR_MULTIVIEW_MASKS_NONE;
        require_ok(tsr_multiview_write(m, path, &o, &sent));
        assert_int_equal(sent.mask_bytes, 0);
        require_ok(tsr_multiview_read(context, path, NULL, &back));
        tsr_multiview_view none;
        require_ok(tsr_multiview_view_of(back, &none));
        assert_null(none.visible);
        tsr_multiview_destroy(&back);
        unlink(path);
    }
    v.visible[2] |= 1ull << 50; /* beyond the width */
    require_error(tsr_multiview_write(m, path, NULL, NULL), TSR_ERROR_ARGUMENT, "step 0, camera 0");
    tsr_multiview_destroy(&m);
    tsr_context_destroy(&host);
}

/* ---- bad files --------------------------------------------------------------------------------------------------------------------------------- */

static uint8_t *load(size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = (uint8_t *)malloc(*size);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static void store(const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* Thousands of small files: threads would only wait for each other. */
static tsr_context *one_thread(void) { return test_context_on(tsr_device_kind_name(tsr_context_device(context).kind), 1); }

/* What the first bytes of a file give, with `partial`; without it they are an error. 0: nothing, the header is not there yet. Quality of the three
 * components, once all masks are there (else -1). */
static int quality_of_cut(tsr_context *on, const tsr_multiview *m, const uint8_t *bytes, size_t cut, double psnr[3])
{
    tsr_multiview_read_options read = TSR_MULTIVIEW_READ_OPTIONS;
    tsr_multiview *back = NULL;
    tsr_multiview_difference d = TSR_MULTIVIEW_DIFFERENCE;
    char forget[1024];
    read.partial = 1;
    store(bytes, cut);
    assert_true(tsr_multiview_read(on, path, NULL, &back) == TSR_ERROR_FORMAT);
    const tsr_status status = tsr_multiview_read(on, path, &read, &back);
    tsr_remarks_take(forget, sizeof forget);
    if (status != TSR_OK) {
        assert_int_equal(status, TSR_ERROR_FORMAT);
        return 0;
    }
    require_ok(tsr_multiview_compare(m, back, &d));
    for (int p = 0; p < 3; p++) psnr[p] = d.masks_differ ? -1 : d.psnr[p];
    tsr_multiview_destroy(&back);
    return 1;
}

/* Every codec, syntax and filter, lossy and not. */
enum { MODES = 9 };
static tsr_multiview_write_options mode_of(int mode)
{
    tsr_multiview_write_options o = TSR_MULTIVIEW_WRITE_OPTIONS;
    o.codec = mode < 4 ? TSR_MULTIVIEW_SPIHT4D : TSR_MULTIVIEW_DIFF2D;
    o.syntax = (tsr_multiview_syntax)(mode < 4 ? mode & 1 : 0);
    o.filter = (tsr_multiview_filter)(mode < 4 ? 0 : mode < 7 ? mode - 4 : mode - 6);
    o.lossless = mode < 4 ? mode >> 1 : mode >= 7;
    o.overwrite = 1;
    if (!o.lossless) o.bpp[0] = 3;
    return o;
}

/* Of lossy streams a single bit may be unlucky: with a few hundred texels that is up to a decibel, of 40 times as many (below) nothing to
 * speak of. diff2d, lossless, is whole planes, and never worse with more. */
static void test_cut_file(void **state)
{
    (void)state;
    const footage tiny = { .width = 24, .height = 12, .cameras = 2, .steps = 2, .masks = 1, .noise = 1 };
    tsr_context *one = one_thread();
    tsr_multiview *m = footage_make(one, &tiny);
    for (int mode = 0; mode < MODES; mode++) {
        const tsr_multiview_write_options o = mode_of(mode);
        const double unlucky = o.codec == TSR_MULTIVIEW_DIFF2D && o.lossless ? 0 : 1;
        double best[3] = { 0 };
        size_t size, read_once = 0;
        make_path();
        require_ok(tsr_multiview_write(m, path, &o, NULL));
        uint8_t *bytes = load(&size);
        const size_t step = test_is_slow() || tsr_context_device(one).kind != TSR_DEVICE_CPU ? 37 : o.lossless ? 5 : 1;
        for (size_t cut = 0; cut < size; cut += step) {
            double psnr[3];
            if (!quality_of_cut(one, m, bytes, cut, psnr)) {
                assert_int_equal(read_once, 0);
                continue;
            }
            read_once++;
            for (int p = 0; p < 3; p++) {
                if (psnr[p] >= 0 && psnr[p] < best[p] - unlucky)
                    fail_msg("mode %d, %zu of %zu bytes, component %d: %.3f dB after %.3f", mode, cut, size, p, psnr[p], best[p]);
                best[p] = psnr[p] > best[p] ? psnr[p] : best[p];
            }
        }
        assert_true(read_once > 0 && best[0] > 25);
        free(bytes);
        unlink(path);
    }
    tsr_multiview_destroy(&m);
    tsr_context_destroy(&one);
}

static void test_cut_larger_file(void **state)
{
    (void)state;
    const footage larger = { .width = 96, .height = 64, .cameras = 4, .steps = 4, .masks = 1, .noise = 1 };
    tsr_context *one = one_thread();
    tsr_multiview *m = footage_make(one, &larger);
    for (int mode = 0; mode < MODES; mode++) {
        const tsr_multiview_write_options o = mode_of(mode);
        const double unlucky = o.filter == TSR_MULTIVIEW_FILTER_97 ? 0.05 : 0.2;
        double best[3] = { 0 };
        size_t size;
        make_path();
        require_ok(tsr_multiview_write(m, path, &o, NULL));
        uint8_t *bytes = load(&size);
        const size_t step = size / (test_is_slow() || tsr_context_device(one).kind != TSR_DEVICE_CPU ? 16 : 48) + 1;
        for (size_t cut = size / 25; cut < size; cut += step) {
            double psnr[3];
            assert_true(quality_of_cut(one, m, bytes, cut, psnr));
            for (int p = 0; p < 3; p++) {
                if (psnr[p] >= 0 && psnr[p] < best[p] - unlucky)
                    fail_msg("mode %d, %zu of %zu bytes, component %d: %.3f dB after %.3f", mode, cut, size, p, psnr[p], best[p]);
                best[p] = psnr[p] > best[p] ? psnr[p] : best[p];
            }
        }
        assert_true(best[0] > 35);
        free(bytes);
        unlink(path);
    }
    tsr_multiview_destroy(&m);
    tsr_context_destroy(&one);
}

/* Every byte flipped: an error, or, with `partial`, something. Never other textures without a word. */
static void test_flipped(void **state)
{
    (void)state;
    const footage tiny = { .width = 18, .height = 12, .cameras = 2, .steps = 2, .masks = 1, .noise = 1 };
    tsr_context *one = one_thread();
    tsr_multiview *m = footage_make(one, &tiny);
    char remarks[1024];
    for (int codec = 0; codec < 3; codec++) {
        tsr_multiview_write_options o = TSR_MULTIVIEW_WRITE_OPTIONS;
        tsr_multiview_read_options read = TSR_MULTIVIEW_READ_OPTIONS;
        tsr_multiview *good = NULL;
        size_t size;
        o.codec = (tsr_multiview_codec)codec;
        o.overwrite = 1;
        o.bpp[0] = 2;
        read.partial = 1;
        make_path();
        require_ok(tsr_multiview_set_model_bytes(m, "model", 5));
        require_ok(tsr_multiview_write(m, path, &o, NULL));
        require_ok(tsr_multiview_read(one, path, NULL, &good));
        uint8_t *bytes = load(&size);
        for (size_t k = 0; k < size; k += test_is_slow() ? 29 : 1) {
            tsr_multiview *back = NULL;
            tsr_multiview_report report = TSR_MULTIVIEW_REPORT;
            bytes[k] ^= (uint8_t)(1 << k % 8);
            store(bytes, size);
            const tsr_status status = tsr_multiview_read(one, path, NULL, &back);
            if (status == TSR_OK) { /* a byte that nobody needs, such as one of the trailer's unused or a chunk not asked for */
                same(good, back);
                tsr_multiview_destroy(&back);
                fail_msg("codec %d: byte %zu of %zu was flipped, and nobody noticed", codec, k, size);
            }
            assert_true(status == TSR_ERROR_FORMAT || status == TSR_ERROR_UNSUPPORTED);
            if (tsr_multiview_read(one, path, &read, &back) == TSR_OK) {
                tsr_remarks_take(remarks, sizeof remarks);
                tsr_multiview_destroy(&back);
            }
            if (tsr_multiview_inspect(path, &report) == TSR_OK) assert_true(report.damaged > 0);
            bytes[k] ^= (uint8_t)(1 << k % 8);
        }
        free(bytes);
        tsr_multiview_destroy(&good);
        unlink(path);
    }
    tsr_multiview_destroy(&m);
    tsr_context_destroy(&one);
}

static void test_options(void **state)
{
    (void)state;
    tsr_multiview *m = footage_make(context, &whole);
    tsr_multiview_write_options o = TSR_MULTIVIEW_WRITE_OPTIONS;
    o.codec = TSR_MULTIVIEW_SPIHT4D;
    o.group = 6;
    require_error(tsr_multiview_write(m, "/tmp/none.mvv", &o, NULL), TSR_ERROR_ARGUMENT, "power of two");
    o.group = 0;
    o.bpp[1] = -1;
    require_error(tsr_multiview_write(m, "/tmp/none.mvv", &o, NULL), TSR_ERROR_ARGUMENT, "-1 bits a texel of U");
    o.bpp[1] = 0;
    o.codec = TSR_MULTIVIEW_DIFF2D;
    o.levels = 13;
    require_error(tsr_multiview_write(m, "/tmp/none.mvv", &o, NULL), TSR_ERROR_ARGUMENT, "13 levels");
    o.levels = 0;
    o.codec = (tsr_multiview_codec)7;
    require_error(tsr_multiview_write(m, "/tmp/none.mvv", &o, NULL), TSR_ERROR_ARGUMENT, "codec 7");
    tsr_multiview_destroy(&m);
}

/* Textures of a file on two contexts: the same samples. */
static void same_samples(const tsr_multiview *a, const tsr_multiview *b)
{
    tsr_multiview_view v;
    require_ok(tsr_multiview_view_of(a, &v));
    for (int32_t k = 0; k < v.steps * v.cameras; k++) {
        tsr_image x = { 0 }, y = { 0 };
        require_ok(tsr_multiview_image(a, k / v.cameras, k % v.cameras, 1, &x));
        require_ok(tsr_multiview_image(b, k / v.cameras, k % v.cameras, 1, &y));
        assert_memory_equal(x.pixels, y.pixels, (size_t)v.width * (size_t)v.height * 4);
        tsr_image_destroy(&x);
        tsr_image_destroy(&y);
    }
}

/* Whole files, files that are read in part, and files that are cut off anywhere give the same on every device; of SPIHT4D without masks, so that
 * every texel is looked at. */
static void test_same_everywhere(void **state)
{
    (void)state;
    tsr_context *host = test_context_on("cpu", 1);
    const footage f = { .width = 37, .height = 20, .cameras = 3, .steps = 6, .masks = 1, .noise = 2 };
    tsr_multiview *m = footage_make(host, &f), *a = NULL, *b = NULL;
    char forget[1024];
    for (int variant = 0; variant < 10; variant++) {
        tsr_multiview_write_options o = TSR_MULTIVIEW_WRITE_OPTIONS;
        tsr_multiview_read_options read = TSR_MULTIVIEW_READ_OPTIONS;
        size_t size;
        const int diff = variant >= 4;
        o.codec = diff ? TSR_MULTIVIEW_DIFF2D : TSR_MULTIVIEW_SPIHT4D;
        o.filter = (tsr_multiview_filter)(diff ? (variant - 4) / 2 : 0);
        o.lossless = (variant & 1) && !(diff && !o.filter);
        o.levels = variant == 4 ? 12 : 0; /* down to a line, and to one sample */
        o.masks = variant == 8 ? TSR_MULTIVIEW_MASKS_NONE : TSR_MULTIVIEW_MASKS_SENT;
        o.overwrite = 1;
        o.group = 4;
        o.bpp[0] = 2;
        make_path();
        require_ok(tsr_multiview_write(m, path, &o, NULL));
        if (variant & 2) {
            read.first_step = 2;
            read.steps = 3;
            read.first_camera = 1;
            read.bpp = 0.7;
        }
        require_ok(tsr_multiview_read(host, path, &read, &a));
        require_ok(tsr_multiview_read(context, path, &read, &b));
        same_samples(a, b);
        tsr_multiview_destroy(&a);
        tsr_multiview_destroy(&b);
        uint8_t *bytes = load(&size);
        read.partial = 1;
        read.no_masks = !diff;
        for (size_t cut = size * 2 / 5; cut < size; cut += size / (diff ? 8 : 24) + (size_t)variant) {
            store(bytes, cut);
            require_ok(tsr_multiview_read(host, path, &read, &a));
            require_ok(tsr_multiview_read(context, path, &read, &b));
            same_samples(a, b);
            tsr_multiview_destroy(&a);
            tsr_multiview_destroy(&b);
        }
        tsr_remarks_take(forget, sizeof forget);
        free(bytes);
        unlink(path);
    }
    tsr_multiview_destroy(&m);
    tsr_context_destroy(&host);
}

/* Names, rate and model without a texture, whatever the codec: also of a file with a damaged stream, whose masks nobody makes. */
static void test_without_textures(void **state)
{
    (void)state;
    const footage f = { .width = 37, .height = 20, .cameras = 3, .steps = 5, .masks = 1, .noise = 2 };
    for (int codec = 0; codec < TSR_MULTIVIEW_CODECS; codec++) {
        tsr_multiview *m = footage_make(context, &f), *got = NULL;
        tsr_multiview_write_options o = TSR_MULTIVIEW_WRITE_OPTIONS;
        tsr_multiview_read_options read = TSR_MULTIVIEW_READ_OPTIONS;
        tsr_multiview_view v;
        int32_t rate[2];
        size_t size = 0, all = 0;
        o.codec = (tsr_multiview_codec)codec;
        o.masks = TSR_MULTIVIEW_MASKS_REBUILT;
        o.overwrite = 1;
        require_ok(tsr_multiview_set_rate(m, (const int32_t[2]){ 30000, 1001 }));
        require_ok(tsr_multiview_set_camera_name(m, 1, "left"));
        require_ok(tsr_multiview_set_model_bytes(m, "a figure", 8));
        make_path();
        require_ok(tsr_multiview_write(m, path, &o, NULL));
        uint8_t *bytes = load(&all);
        static const char *const streams[] = { "TEXR", "GOPS", "MSTR" };
        size_t at = 0;
        while (at + 64 < all && memcmp(bytes + at, streams[codec], 4) != 0) at++;
        bytes[at + 40] ^= 0x5a; /* behind the chunk's head */
        store(bytes, all);
        free(bytes);
        assert_int_not_equal(tsr_multiview_read(context, path, &read, &got), TSR_OK);
        read.no_textures = 1;
        require_ok(tsr_multiview_read(context, path, &read, &got));
        require_ok(tsr_multiview_view_of(got, &v));
        assert_true(v.width == 37 && v.height == 20 && v.cameras == 3 && v.steps == 1 && !v.visible);
        tsr_multiview_rate(got, rate);
        assert_true(rate[0] == 30000 && rate[1] == 1001);
        assert_string_equal(tsr_multiview_camera_name(got, 1), "left");
        const void *model = tsr_multiview_model_bytes(got, &size);
        assert_true(model && size == 8 && !memcmp(model, "a figure", 8));
        tsr_multiview_destroy(&got);
        tsr_multiview_destroy(&m);
        unlink(path);
    }
}

/* Bytes of the file that a context writes of some footage; free(). */
static uint8_t *written(tsr_context *on, const footage *f, const tsr_multiview_write_options *o, size_t *size)
{
    tsr_multiview *m = footage_make(on, f);
    make_path();
    require_ok(tsr_multiview_write(m, path, o, NULL));
    uint8_t *bytes = load(size);
    unlink(path);
    tsr_multiview_destroy(&m);
    return bytes;
}

/* Files of all extents, fills and rates have the same bytes wherever they are made. */
static void test_same_files(void **state)
{
    (void)state;
    static const footage extents[] = { { .width = 37, .height = 20, .cameras = 3, .steps = 6, .masks = 1, .noise = 2 },
                                       { .width = 64, .height = 16, .cameras = 2, .steps = 4, .masks = 0, .noise = 8 },
                                       { .width = 130, .height = 5, .cameras = 1, .steps = 3, .masks = 1, .noise = 1 },
                                       { .width = 2, .height = 139, .cameras = 5, .steps = 2, .masks = 1, .noise = 3 },
                                       { .width = 1, .height = 1, .cameras = 1, .steps = 1, .masks = 0, .noise = 0 } };
    static const double rates[] = { 2, 0.4, 0.02, 20 };
    tsr_context *host = test_context_on("cpu", 1);
    for (int e = 0; e < 5; e++)
        for (int variant = 0; variant < 7; variant++) {
            tsr_multiview_write_options o = TSR_MULTIVIEW_WRITE_OPTIONS;
            size_t size[2];
            o.codec = TSR_MULTIVIEW_SPIHT4D;
            o.overwrite = 1;
            o.group = e == 4 ? 1 : variant & 1 ? 4 : 0;
            o.lossless = variant == 4;
            o.masks = variant == 5 ? TSR_MULTIVIEW_MASKS_NONE : TSR_MULTIVIEW_MASKS_SENT;
            o.fill = (tsr_multiview_fill)(variant % TSR_MULTIVIEW_FILLS);
            o.bpp[0] = rates[variant & 3];
            uint8_t *here = written(host, extents + e, &o, &size[0]), *there = written(context, extents + e, &o, &size[1]);
            assert_int_equal(size[0], size[1]);
            assert_memory_equal(here, there, size[0]);
            free(here);
            free(there);
        }
    for (int e = 0; e < 5; e++)
        for (int variant = 0; variant < 8; variant++) {
            tsr_multiview_write_options o = TSR_MULTIVIEW_WRITE_OPTIONS;
            size_t size[2];
            o.codec = TSR_MULTIVIEW_DIFF2D;
            o.overwrite = 1;
            o.group = variant & 1 ? 4 : 0;
            o.lossless = variant > 5;
            o.filter = (tsr_multiview_filter)(variant > 5 ? variant - 5 : variant % 3);
            o.levels = variant == 2 ? 9 : 0;
            o.open_loop = variant == 3;
            o.allocation = variant == 4 ? TSR_MULTIVIEW_ALLOCATION_FIXED : TSR_MULTIVIEW_ALLOCATION_RDO;
            o.masks = variant == 5 ? TSR_MULTIVIEW_MASKS_NONE : TSR_MULTIVIEW_MASKS_SENT;
            o.bpp[0] = rates[variant & 3];
            uint8_t *here = written(host, extents + e, &o, &size[0]), *there = written(context, extents + e, &o, &size[1]);
            assert_int_equal(size[0], size[1]);
            assert_memory_equal(here, there, size[0]);
            free(here);
            free(there);
        }
    tsr_context_destroy(&host);
}

/* One number of threads or another: the same bytes. */
static void test_threads(void **state)
{
    (void)state;
    uint8_t *bytes[2];
    size_t size[2];
    for (int codec = 0; codec < 3; codec++) {
        for (int k = 0; k < 2; k++) {
            tsr_context *some = test_context_on("cpu", k ? 3 + 8 * codec : 1); /* more threads than streams, too */
            tsr_multiview *m = footage_make(some, &small);
            tsr_multiview_write_options o = TSR_MULTIVIEW_WRITE_OPTIONS;
            o.codec = (tsr_multiview_codec)codec;
            o.overwrite = 1;
            o.group = 4;
            make_path();
            require_ok(tsr_multiview_write(m, path, &o, NULL));
            bytes[k] = load(&size[k]);
            unlink(path);
            tsr_multiview_destroy(&m);
            tsr_context_destroy(&some);
        }
        assert_int_equal(size[0], size[1]);
        assert_memory_equal(bytes[0], bytes[1], size[0]);
        free(bytes[0]);
        free(bytes[1]);
    }
}

/* Layers, beside means in double. */
static void test_layers(void **state)
{
    (void)state;
    tsr_context *host = test_context_on("cpu", 1);
    tsr_multiview *m = footage_make(context, &small), *plain = footage_make(host, &small), *layer[TSR_MULTIVIEW_LAYERS] = { NULL };
    tsr_multiview_view v, l[TSR_MULTIVIEW_LAYERS];
    const double gain = -3;
    require_ok(tsr_multiview_set_model_bytes(m, "model", 5));
    require_ok(tsr_multiview_view_of(plain, &v));
    for (int k = 0; k < TSR_MULTIVIEW_LAYERS; k++) {
        tsr_multiview *made = NULL; /* to the host through a file */
        tsr_multiview_write_options o = TSR_MULTIVIEW_WRITE_OPTIONS;
        o.overwrite = 1;
        require_ok(tsr_multiview_layer_of(m, (tsr_multiview_layer)k, 4, 3, gain, &made));
        make_path();
        require_ok(tsr_multiview_write(made, path, &o, NULL));
        require_ok(tsr_multiview_read(host, path, NULL, &layer[k]));
        tsr_multiview_destroy(&made);
        unlink(path);
        require_ok(tsr_multiview_view_of(layer[k], &l[k]));
        assert_int_equal(l[k].steps, 3);
        size_t size;
        assert_memory_equal(tsr_multiview_model_bytes(layer[k], &size), "model", 5);
        assert_memory_equal(l[k].atlas, v.atlas, (size_t)v.height * 8);
    }
    const int32_t n = v.width * v.height;
    for (int32_t i = 0; i < n; i++) {
        const int32_t u = i % v.width, y = i / v.width;
        for (int p = 0; p < 3; p++) {
            double average[10], master = 0;
            int seen[10], steps = 0;
            for (int32_t t = 0; t < 10; t++) {
                double sum = 0;
                seen[t] = 0;
                for (int32_t c = 0; c < 3; c++) {
                    if (!(v.visible[(t * 3 + c) * v.height + y] >> u & 1)) continue;
                    sum += v.plane[p][(t * 3 + c) * n + i];
                    seen[t]++;
                }
                average[t] = seen[t] ? sum / seen[t] : 0;
                master += average[t];
                steps += seen[t] > 0;
            }
            master = steps ? master / steps : 0;
            for (int32_t t = 0; t < 3; t++)
                for (int32_t c = 0; c < 3; c++) {
                    const int own = (int)(v.visible[((t + 4) * 3 + c) * v.height + y] >> u & 1);
                    const double texel = v.plane[p][((t + 4) * 3 + c) * n + i];
                    const double expected[TSR_MULTIVIEW_LAYERS] = { texel, average[t + 4], master, 128 + gain * (texel - average[t + 4]),
                                                                    128 + gain * (average[t + 4] - master) };
                    const int relevant[TSR_MULTIVIEW_LAYERS] = { own, seen[t + 4] > 0, steps > 0, own, seen[t + 4] > 0 };
                    for (int k = 0; k < TSR_MULTIVIEW_LAYERS; k++) {
                        const double is = l[k].plane[p][(t * 3 + c) * n + i];
                        assert_int_equal(l[k].visible[(t * 3 + c) * v.height + y] >> u & 1, relevant[k]);
                        if (relevant[k]) assert_true(fabs(is - fmin(255, fmax(0, expected[k]))) < 0.8); /* averages have four bits of fraction */
                    }
                }
        }
    }
    tsr_multiview *none = NULL;
    require_error(tsr_multiview_layer_of(m, (tsr_multiview_layer)7, 0, 1, 1, &none), TSR_ERROR_ARGUMENT, "layer 7");
    require_error(tsr_multiview_layer_of(m, TSR_MULTIVIEW_LAYER_MASTER, 9, 2, 1, &none), TSR_ERROR_ARGUMENT, "2 steps from 9 on, there are 10");
    require_error(tsr_multiview_layer_of(m, TSR_MULTIVIEW_LAYER_MASTER, 0, 1, NAN, &none), TSR_ERROR_ARGUMENT, "gain");
    for (int k = 0; k < TSR_MULTIVIEW_LAYERS; k++) tsr_multiview_destroy(&layer[k]);
    tsr_multiview_destroy(&plain);
    tsr_multiview_destroy(&m);
    tsr_context_destroy(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_object),
        cmocka_unit_test(test_raw),
        cmocka_unit_test(test_lossless),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_same_frames),
        cmocka_unit_test(test_cut_file),
        cmocka_unit_test(test_cut_larger_file),
        cmocka_unit_test(test_flipped),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_same_everywhere),
        cmocka_unit_test(test_same_files),
        cmocka_unit_test(test_layers),
        cmocka_unit_test(test_without_textures),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
