/* Raw bricks of the coder rans: noise costs no more than it has, comes back bit for bit on every device, and its lower resolutions are every other voxel; bricks
 * of both kinds in one file; what is damaged and what contradicts itself. */
#include <math.h>
#include <unistd.h>

#include "forge.h" /* internal headers have other things of the name context */

#include "wavelet/context.h"

static char path[64];

static int set_up_file(void **state)
{
    snprintf(path, sizeof path, "raw-%ld.tsc", (long)getpid());
    return set_up(state);
}
static int tear_down_file(void **state)
{
    unlink(path);
    return tear_down(state);
}

/* Noise of all bits where x is below `noisy`, else a ramp. */
static tsr_volume *make(tsr_dtype dtype, tsr_size3 size, int64_t noisy, uint64_t *random)
{
    tsr_volume *v = NULL;
    const size_t element = tsr_dtype_size(dtype);
    require_ok(tsr_volume_create(NULL, dtype, size, NULL, &v));
    uint8_t *at = (uint8_t *)tsr_volume_data(v);
    for (int64_t i = 0; i < tsr_volume_count(v); i++, at += element) {
        for (size_t k = 0; k < element; k++) at[k] = i % size.x < noisy ? (uint8_t)test_random(random) : k ? 0 : (uint8_t)(i % size.x);
        if (dtype == TSR_F32 && i % size.x >= noisy) ((float *)tsr_volume_data(v))[i] = (float)(i % size.x);
    }
    return v;
}

static int64_t compress(const tsr_volume *v, tsr_size3 brick, int32_t levels, double max_error)
{
    const tsr_compress_options o = {
        .struct_size = sizeof o, .coder = TSR_COMPRESS_RANS, .brick = brick, .levels = levels, .max_error = max_error, .overwrite = 1, .threads = 1
    };
    tsr_compress_info info = TSR_COMPRESS_INFO;
    require_ok(tsr_volume_compress(v, path, &o, &info));
    return info.file_bytes;
}

static int minor_version(void)
{
    uint8_t h[12];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(h, 1, sizeof h, f), sizeof h);
    fclose(f);
    assert_int_equal(h[8], 1);
    return h[10];
}

/* From the file on the CPU, and in the memory of the device. */
static tsr_volume *decode(const tsr_decompress_options *o)
{
    tsr_compressed *c = NULL;
    tsr_volume *here = NULL, *there = NULL, *back = NULL;
    require_ok(tsr_volume_decompress(path, o, &here, NULL));
    require_ok(tsr_compressed_create(context, path, o, &c));
    require_ok(tsr_compressed_decode(c, o, &there, NULL));
    require_ok(tsr_volume_copy(there, NULL, &back));
    assert_memory_equal(tsr_volume_data_const(here), tsr_volume_data_const(back),
                        (size_t)tsr_volume_count(here) * tsr_dtype_size(tsr_volume_dtype(here)));
    tsr_volume_destroy(&there);
    tsr_volume_destroy(&back);
    tsr_compressed_destroy(&c);
    return here;
}

static void noise(void **state)
{
    (void)state;
    static const struct {
        tsr_dtype dtype;
        tsr_size3 size, brick;
        int32_t levels;
    } cases[] = {
        { TSR_U8, { 40, 32, 32 }, { 32, 32, 32 }, 3 },  { TSR_U16, { 33, 17, 9 }, { 16, 16, 8 }, 2 }, { TSR_I16, { 21, 40, 1 }, { 32, 32, 1 }, 4 },
        { TSR_I32, { 17, 16, 15 }, { 16, 16, 16 }, 3 }, { TSR_F32, { 8, 9, 10 }, { 8, 16, 16 }, 1 },  { TSR_U8, { 5, 1, 1 }, { 8, 1, 1 }, 3 },
        { TSR_I8, { 300, 1, 3 }, { 256, 1, 8 }, 3 },
    };
    uint64_t random = test_seed();
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        const tsr_size3 s = cases[n].size, b = cases[n].brick;
        tsr_volume *v = make(cases[n].dtype, s, s.x, &random);
        const size_t element = tsr_dtype_size(cases[n].dtype);
        const int64_t bytes = compress(v, b, cases[n].levels, 0);
        const int64_t bricks = (s.x + b.x - 1) / b.x * ((s.y + b.y - 1) / b.y) * ((s.z + b.z - 1) / b.z);
        /* a stream: 2 bytes, one to make it even, at most 8 in the directory */
        assert_true(bytes <= tsr_volume_count(v) * (int64_t)element + bricks * (cases[n].levels + 1) * 11 + 640);
        if (tsr_volume_count(v) > 1000) assert_int_equal(minor_version(), 2);
        for (int32_t reduce = 0; reduce <= cases[n].levels; reduce++) {
            const tsr_decompress_options o = { .struct_size = sizeof o, .reduce = reduce, .threads = 1 };
            tsr_volume *back = decode(&o);
            const tsr_size3 r = tsr_volume_size(back);
            for (int64_t i = 0; i < tsr_volume_count(back) && (!reduce || tsr_volume_count(v) > 1000); i++) {
                const int64_t x = i % r.x << reduce, y = i / r.x % r.y << reduce, z = i / r.x / r.y << reduce;
                if (memcmp((const char *)tsr_volume_data_const(back) + (size_t)i * element,
                           (const char *)tsr_volume_data_const(v) + (size_t)((z * s.y + y) * s.x + x) * element, element))
                    fail_msg("case %zu, reduced %d times: voxel %lld is not that at %lld %lld %lld", n, reduce, (long long)i, (long long)x,
                             (long long)y, (long long)z);
            }
            tsr_volume_destroy(&back);
        }
        tsr_volume_destroy(&v);
    }
}

/* Bricks of noise beside others: all boxes, steps of a largest error, and no new version without a raw brick. */
static void mixed(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    static const tsr_dtype types[] = { TSR_U8, TSR_U16, TSR_F32 };
    for (int t = 0; t < 3; t++) {
        const tsr_size3 size = { 48, 20, 20 }, brick = { 16, 16, 16 };
        const size_t element = tsr_dtype_size(types[t]);
        tsr_volume *v = make(types[t], size, 20, &random), *smooth = make(types[t], (tsr_size3){ 48, 16, 16 }, 0, &random);
        compress(smooth, brick, 2, 0);
        assert_int_equal(minor_version(), 1);
        compress(v, brick, 2, 0);
        assert_int_equal(minor_version(), 2);
        const tsr_decompress_options all = { .struct_size = sizeof all, .threads = 2 };
        tsr_volume *back = decode(&all);
        assert_memory_equal(tsr_volume_data_const(v), tsr_volume_data_const(back), (size_t)tsr_volume_count(v) * element);
        tsr_volume_destroy(&back);
        const tsr_decompress_options box = { .struct_size = sizeof box, .box = { { 10, 3, 5 }, { 40, 20, 18 } }, .threads = 1 };
        back = decode(&box);
        for (int64_t z = 0, i = 0; z < 13; z++)
            for (int64_t y = 0; y < 17; y++, i += 30)
                assert_memory_equal((const char *)tsr_volume_data_const(back) + (size_t)i * element,
                                    (const char *)tsr_volume_data_const(v) + (size_t)(((z + 5) * 20 + y + 3) * 48 + 10) * element, 30 * element);
        tsr_volume_destroy(&back);
        if (types[t] == TSR_U16) {
            compress(v, brick, 2, 3);
            back = decode(&all);
            for (int64_t i = 0; i < tsr_volume_count(v); i++)
                assert_true(abs(((const uint16_t *)tsr_volume_data_const(v))[i] - ((const uint16_t *)tsr_volume_data_const(back))[i]) <= 3);
            tsr_volume_destroy(&back);
        }
        tsr_volume_destroy(&smooth);
        tsr_volume_destroy(&v);
    }
}

static void damage(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_volume *v = make(TSR_U16, (tsr_size3){ 32, 16, 16 }, 32, &random), *back = NULL;
    const tsr_decompress_options o = { .struct_size = sizeof o, .threads = 1 },
                                 partial = { .struct_size = sizeof partial, .partial = 1, .threads = 1 };
    tsr_compressed *c = NULL;
    const int64_t bytes = compress(v, (tsr_size3){ 16, 16, 16 }, 2, 0);
    FILE *f = fopen(path, "r+b"); /* the finest details of the last brick */
    assert_non_null(f);
    assert_int_equal(fseek(f, (long)bytes - 9, SEEK_SET), 0);
    const int was = fgetc(f);
    assert_int_equal(fseek(f, (long)bytes - 9, SEEK_SET), 0);
    fputc(was ^ 1, f);
    fclose(f);
    require_error(tsr_volume_decompress(path, &o, &back, NULL), TSR_ERROR_FORMAT, "brick 1, stream 2");
    back = decode(&partial);
    for (int64_t z = 0, i = 0; z < 16; z++)
        for (int64_t y = 0; y < 16; y++)
            for (int64_t x = 0; x < 32; x++, i++) {
                const int kept = x < 16 || !((x | y | z) & 1);
                const uint16_t least = ((const uint16_t *)tsr_volume_data_const(back))[i], is = ((const uint16_t *)tsr_volume_data_const(v))[i];
                if (kept) assert_int_equal(least, is);
                else assert_true(least <= 20); /* the least voxel of all */
            }
    tsr_volume_destroy(&back);
    static const uint8_t wrong[] = { 2, 4, 17, 19, 20, 255 };
    for (size_t k = 0; k <= sizeof wrong; k++) { /* the last: a 0 before raw streams */
        compress(v, (tsr_size3){ 16, 16, 16 }, 2, 0);
        const forgery lie = { .says = k < sizeof wrong ? wrong[k] : 0, .none = k == sizeof wrong };
        forge(path, &lie);
        require_error(tsr_volume_decompress(path, &o, &back, NULL), TSR_ERROR_FORMAT, "say");
        require_ok(tsr_compressed_create(context, path, &o, &c));
        require_error(tsr_compressed_decode(c, &o, &back, NULL), TSR_ERROR_FORMAT, "say");
        tsr_compressed_destroy(&c);
    }
    tsr_volume_destroy(&v);
}

/* ---- every coder, and volumes that are thin
 * --------------------------------------------------------------------------------------------------------- */

static int64_t compress_by(tsr_compress_coder coder, const tsr_volume *v, double max_error)
{
    const tsr_compress_options o = { .struct_size = sizeof o, .coder = coder, .max_error = max_error, .overwrite = 1, .threads = 1 };
    tsr_compress_info info = TSR_COMPRESS_INFO;
    require_ok(tsr_volume_compress(v, path, &o, &info));
    return info.file_bytes;
}

/* Noise takes no more than it has and 0.2 %, with every coder; the file says that readers of before cannot have it. */
static void noise_by_every_coder(void **state)
{
    (void)state;
    static const tsr_dtype types[] = { TSR_U8, TSR_I16, TSR_I32, TSR_F32 };
    uint64_t random = test_seed();
    for (int t = 0; t < 4; t++)
        for (int coder = TSR_COMPRESS_PREDICT; coder < TSR_COMPRESS_CODERS; coder++) {
            if (test_watches_threads() && t != 1) continue;
            const tsr_size3 size = { t ? 41 : 64, 40, 40 };
            tsr_volume *v = make(types[t], size, size.x, &random), *back = NULL;
            const int64_t bytes = tsr_volume_count(v) * (int64_t)tsr_dtype_size(types[t]);
            const int64_t got = compress_by((tsr_compress_coder)coder, v, 0);
            if ((double)got > 1.002 * (double)bytes + 1200)
                fail_msg("%s of %s: %lld bytes from %lld", tsr_compress_coder_name((tsr_compress_coder)coder), tsr_dtype_name(types[t]),
                         (long long)got, (long long)bytes);
            assert_int_equal(minor_version(), coder == TSR_COMPRESS_RANS ? 2 : 4);
            require_ok(tsr_volume_decompress(path, NULL, &back, NULL));
            assert_memory_equal(tsr_volume_data_const(v), tsr_volume_data_const(back), (size_t)bytes);
            tsr_volume_destroy(&back);
            const tsr_decompress_options part = { .struct_size = sizeof part, .box = { { 3, 4, 5 }, { 30, 20, 31 } }, .threads = 1 };
            require_ok(tsr_volume_decompress(path, &part, &back, NULL));
            const size_t element = tsr_dtype_size(types[t]);
            for (int64_t z = 0; z < 26; z++)
                for (int64_t y = 0; y < 16; y++)
                    assert_memory_equal((const char *)tsr_volume_data_const(back) + (size_t)((z * 16 + y) * 27) * element,
                                        (const char *)tsr_volume_data_const(v) + (size_t)(((z + 5) * 40 + y + 4) * size.x + 3) * element,
                                        27 * element);
            tsr_volume_destroy(&back);
            tsr_volume_destroy(&v);
        }
}

/* A signal of one row costs no more than the same voxels as a cube would: its bricks have as many voxels. */
static void thin(void **state)
{
    (void)state;
    static const tsr_size3 sizes[] = { { 70000, 1, 1 }, { 1, 40000, 1 }, { 1, 1, 33000 }, { 9001, 2, 1 },
                                       { 1, 5000, 3 },  { 3000, 3, 2 },  { 700, 600, 1 } };
    uint64_t random = test_seed();
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int coder = TSR_COMPRESS_PREDICT; coder < TSR_COMPRESS_CODERS; coder++) {
            if (test_watches_threads() && k < 5) continue; /* one that is long along two axes is enough, and one along x */
            const tsr_size3 n = sizes[k];
            tsr_volume *v = NULL, *back = NULL;
            require_ok(tsr_volume_create(NULL, TSR_I16, n, NULL, &v));
            int16_t *at = (int16_t *)tsr_volume_data(v);
            const int64_t count = tsr_volume_count(v);
            for (int64_t i = 0; i < count; i++) at[i] = (int16_t)(8000 * sin(0.01 * (double)i) + (double)(test_random(&random) % 16));
            const int64_t bytes = compress_by((tsr_compress_coder)coder, v, 0);
            /* 4 bits of noise, and what steps from row to row, and a coder of few words, take more */
            if ((double)bytes > (k == 5 ? 2.1 : k > 2 && k < 5 ? 1.6 : k == 6 || coder == TSR_COMPRESS_FAST ? 1.45 : 0.95) * (double)count)
                fail_msg("%s of %lld x %lld x %lld: %lld bytes", tsr_compress_coder_name((tsr_compress_coder)coder), (long long)n.x, (long long)n.y,
                         (long long)n.z, (long long)bytes);
            require_ok(tsr_volume_decompress(path, NULL, &back, NULL));
            assert_memory_equal(at, tsr_volume_data_const(back), (size_t)count * sizeof *at);
            tsr_volume_destroy(&back);
            if (coder == TSR_COMPRESS_RANS)
                for (int32_t reduce = 0; reduce < 3; reduce++) { /* the same on the device */
                    const tsr_decompress_options o = { .struct_size = sizeof o, .reduce = reduce, .threads = 1 };
                    back = decode(&o);
                    tsr_volume_destroy(&back);
                }
            tsr_volume_destroy(&v);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(noise_by_every_coder), cmocka_unit_test(thin), cmocka_unit_test(noise),
                                        cmocka_unit_test(mixed), cmocka_unit_test(damage) };
    return cmocka_run_group_tests(tests, set_up_file, tear_down_file);
}
