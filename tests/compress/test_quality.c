/* What --rate and --psnr promise, over many of each: the file is as large as it may be, more of it is never worse, what is said of it is what its
 * reader finds, and PSNRs that lie side by side take about as many bytes. */
#include "wavelet/volumes.h"

typedef struct input {
    const char *name;
    tsr_dtype dtype;
    tsr_size3 size, brick;
} input;

static const input inputs[] = {
    { "scan", TSR_I16, { 40, 32, 24 }, { 32, 32, 16 } }, { "photograph", TSR_U8, { 97, 61, 1 }, { 0, 0, 0 } },
    { "walk", TSR_F32, { 8, 8, 8 }, { 8, 8, 8 } },       { "walk of two bricks", TSR_F32, { 20, 16, 16 }, { 16, 16, 16 } },
    { "thin", TSR_F32, { 3, 200, 1 }, { 0, 0, 0 } },     { "sparse", TSR_U8, { 44, 32, 20 }, { 16, 16, 16 } },
};
enum { INPUTS = sizeof inputs / sizeof *inputs };

static tsr_volume *make_input(int k, uint64_t *random)
{
    const input *in = &inputs[k];
    tsr_volume *v = NULL;
    if (k < 2) return make(in->dtype, in->size, random);
    require_ok(tsr_volume_create(NULL, in->dtype, in->size, NULL, &v));
    double walk = 0;
    for (int64_t i = 0; i < tsr_volume_count(v); i++) {
        walk += test_uniform(random) - 0.5;
        if (in->dtype == TSR_F32) ((float *)tsr_volume_data(v))[i] = (float)walk;
        else { /* a box with noise in the dark */ const int64_t x = i % in->size.x, y = i / in->size.x % in->size.y, z = i / in->size.x / in->size.y;
            const int inside = x > 15 && x < 40 && y > 10 && y < 22 && z > 4 && z < 20;
            ((uint8_t *)tsr_volume_data(v))[i] = (uint8_t)(inside ? 150 + (double)x + 30 * (test_uniform(random) - 0.5) : 0);
        }
    }
    return v;
}

/* The PSNR that a reader of the file finds, which is the one that was said. */
static double said_and_found(const tsr_volume *v, const char *name, double asked, const tsr_compress_info *info)
{
    tsr_volume *back = NULL;
    require_ok(tsr_volume_decompress(path, NULL, &back, NULL));
    const double found = measure_psnr(v, back);
    tsr_volume_destroy(&back);
    if (!(fabs(found - info->psnr) < 1e-6 || (isinf(found) && isinf(info->psnr))))
        fail_msg("%s, %g asked for: said to be %.9g dB, a reader finds %.9g", name, asked, info->psnr, found);
    return found;
}

static void rates(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    for (int k = 0; k < INPUTS; k++) {
        tsr_volume *v = make_input(k, &random);
        tsr_compress_options o = options_of(TSR_COMPRESS_AUTO);
        tsr_compress_info info = TSR_COMPRESS_INFO;
        const double voxels = (double)tsr_volume_count(v);
        double before = -HUGE_VAL, bytes_before = 0;
        int done = 0, lossless = 0;
        o.brick = inputs[k].brick;
        for (double rate = 0.05; rate < 20; rate *= test_is_slow() ? 2.3 : 1.29) {
            o.rate = rate;
            const tsr_status status = tsr_volume_compress(v, path, &o, &info);
            if (status == TSR_ERROR_ARGUMENT && !done) continue; /* header and directory alone need more */
            require_ok(status);
            const double bytes = (double)info.file_bytes, psnr = said_and_found(v, inputs[k].name, rate, &info);
            if (8 * bytes > rate * voxels) fail_msg("%s: %g bits asked for, %g taken", inputs[k].name, rate, 8 * bytes / voxels);
            if (lossless && !info.lossless) fail_msg("%s: %g bits lose something, fewer did not", inputs[k].name, rate);
            if (psnr < before - 0.02) fail_msg("%s: %g bits give %g dB, fewer gave %g", inputs[k].name, rate, psnr, before);
            if (!info.lossless && bytes < bytes_before)
                fail_msg("%s: %g bits take %g bytes, fewer took %g", inputs[k].name, rate, bytes, bytes_before);
            /* A stream ends at a pass: of the few of a small file one may be large. */
            if (done && !info.lossless && rate < 12 && 8 * bytes < 0.9 * rate * voxels && rate * voxels > 8 * 2000)
                fail_msg("%s: %g bits asked for, %g taken", inputs[k].name, rate, 8 * bytes / voxels);
            before = fmax(before, psnr);
            bytes_before = bytes;
            lossless = info.lossless;
            done++;
        }
        assert_true(done > (test_is_slow() ? 1 : 3));
        tsr_volume_destroy(&v);
    }
}

static void psnrs(void **state)
{
    (void)state;
    uint64_t random = test_seed() + 1;
    for (int k = 0; k < INPUTS; k++) {
        tsr_volume *v = make_input(k, &random);
        tsr_compress_options o = options_of(TSR_COMPRESS_AUTO);
        tsr_compress_info info = TSR_COMPRESS_INFO;
        double last = 0;
        o.brick = inputs[k].brick;
        for (double psnr = 14; psnr < 75; psnr += test_is_slow() ? 9.5 : 3.1) {
            o.psnr = psnr;
            require_ok(tsr_volume_compress(v, path, &o, &info));
            const double found = said_and_found(v, inputs[k].name, psnr, &info), bytes = (double)info.file_bytes;
            if (!(found >= psnr)) fail_msg("%s: %g dB asked for, %.9g given", inputs[k].name, psnr, found);
            if (bytes < 0.998 * last) fail_msg("%s: %g dB take %g bytes, less took %g", inputs[k].name, psnr, bytes, last);
            last = bytes;
        }
        tsr_volume_destroy(&v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(rates), cmocka_unit_test(psnrs) };
    return cmocka_run_group_tests_name("test_quality", tests, set_up, tear_down);
}
