/* Files of compressed volumes: boxes, resolutions, cut and damaged ones, the same file for every number of threads and SIMD variant, those that
 * docs/formats/tsc.md shows, images, bounded memory, cancelling. */
#include "wavelet/volumes.h"

#include "device/isa.h"

/* ---- files of before
 * ----------------------------------------------------------------------------------------------------------------------------- */

/* Written by the version of November 2026, before 1.4: every coder without loss, and planes with 30 dB, whose voxels that version found to have
 * this sum. */
static void older_files(void **state)
{
    (void)state;
    static const char *const names[] = { "predict", "planes", "fast", "rans", "psnr" };
    for (int k = 0; k < 5; k++) {
        char name[256];
        tsr_volume *v = NULL;
        int64_t sum = 0;
        snprintf(name, sizeof name, "%s/old-%s.tsc", TESSERA_FIXTURES, names[k]);
        require_ok(tsr_volume_decompress(name, NULL, &v, NULL));
        const int16_t *got = (const int16_t *)tsr_volume_data_const(v);
        assert_true(tsr_volume_count(v) == 20 * 16 * 12 && tsr_volume_dtype(v) == TSR_I16);
        for (int i = 0; i < 20 * 16 * 12; i++) {
            const int x = i % 20, y = i / 20 % 16, z = i / 320;
            sum += (int64_t)got[i] * (i % 251 + 1);
            if (k < 4) assert_int_equal(got[i], (x * x * 3 + y * 17 + z * z * 5 + (x * 31 + y * 57 + z * 91) % 13) & 1023);
        }
        if (k == 4) assert_int_equal(sum, 227249464);
        tsr_volume_destroy(&v);
    }
}

/* ---- parts -------------------------------------------------------------------------------------------------------------------------------------- */

static void boxes(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    const tsr_size3 size = { 41, 35, 27 };
    tsr_volume *v = make(TSR_U16, size, &random), *part = NULL;
    const uint16_t *all = (const uint16_t *)tsr_volume_data_const(v);
    for (int coder = TSR_COMPRESS_PREDICT; coder < TSR_COMPRESS_CODERS; coder++) {
        tsr_compress_options o = options_of((tsr_compress_coder)coder);
        o.brick = (tsr_size3){ 16, 16, 16 };
        o.levels = coder == TSR_COMPRESS_PREDICT ? 0 : 2;
        require_ok(tsr_volume_compress(v, path, &o, NULL));
        for (int k = 0; k < 8; k++) {
            tsr_decompress_options d = TSR_DECOMPRESS_OPTIONS;
            int64_t lower[3], upper[3];
            for (int a = 0; a < 3; a++) {
                const int64_t n = a == 0 ? size.x : a == 1 ? size.y : size.z;
                lower[a] = (int64_t)(test_random(&random) % (uint64_t)n);
                upper[a] = lower[a] + 1 + (int64_t)(test_random(&random) % (uint64_t)(n - lower[a]));
            }
            d.box[0] = (tsr_size3){ lower[0], lower[1], lower[2] };
            d.box[1] = (tsr_size3){ upper[0], upper[1], upper[2] };
            require_ok(tsr_volume_decompress(path, &d, &part, NULL));
            const tsr_size3 s = tsr_volume_size(part);
            assert_true(s.x == upper[0] - lower[0] && s.y == upper[1] - lower[1] && s.z == upper[2] - lower[2]);
            const uint16_t *p = (const uint16_t *)tsr_volume_data_const(part);
            for (int64_t z = 0; z < s.z; z++)
                for (int64_t y = 0; y < s.y; y++)
                    assert_memory_equal(p + (z * s.y + y) * s.x, all + ((z + lower[2]) * size.y + y + lower[1]) * size.x + lower[0], (size_t)s.x * 2);
            const tsr_vec3 a = tsr_geometry_to_world(tsr_volume_geometry(part), (tsr_vec3){ 0, 0, 0 });
            const tsr_vec3 b = tsr_geometry_to_world(tsr_volume_geometry(v), (tsr_vec3){ (double)lower[0], (double)lower[1], (double)lower[2] });
            assert_true(fabs(a.x - b.x) + fabs(a.y - b.y) + fabs(a.z - b.z) < 1e-9);
            tsr_volume_destroy(&part);
        }
    }
    tsr_volume_destroy(&v);
}

/* A lower resolution is close to the samples it stands at, on a field without noise; its voxels lie where those samples do. */
static void resolutions(void **state)
{
    (void)state;
    const tsr_size3 size = { 50, 39, 33 };
    tsr_volume *v = NULL, *low = NULL;
    require_ok(tsr_volume_create(NULL, TSR_I16, size, NULL, &v));
    int16_t *all = (int16_t *)tsr_volume_data(v);
    for (int64_t i = 0; i < tsr_volume_count(v); i++) {
        const int64_t x = i % size.x, y = i / size.x % size.y, z = i / size.x / size.y;
        all[i] = (int16_t)(1000 + 500 * sin(0.03 * (double)x) + 300 * cos(0.03 * (double)(y + z)));
    }
    for (int k = 0; k < 3; k++) {
        tsr_compress_options o = options_of(k == 2 ? TSR_COMPRESS_FAST : TSR_COMPRESS_PLANES);
        o.brick = (tsr_size3){ 32, 16, 16 };
        o.levels = 3;
        o.psnr = k == 1 ? 60 : 0;
        o.order = TSR_COMPRESS_RESOLUTION;
        require_ok(tsr_volume_compress(v, path, &o, NULL));
        for (int32_t r = 1; r <= 3; r++) {
            tsr_decompress_options d = TSR_DECOMPRESS_OPTIONS;
            d.reduce = r;
            require_ok(tsr_volume_decompress(path, &d, &low, NULL));
            const tsr_size3 s = tsr_volume_size(low);
            const int64_t step = (int64_t)1 << r;
            assert_true(s.x == (size.x + step - 1) / step && s.y == (size.y + step - 1) / step && s.z == (size.z + step - 1) / step);
            assert_true(tsr_geometry_spacing(tsr_volume_geometry(low)).x == (double)step);
            for (int64_t i = 0; i < s.x * s.y * s.z; i++) {
                const int64_t x = i % s.x * step, y = i / s.x % s.y * step, z = i / s.x / s.y * step;
                const double d_ = at(low, i) - at(v, (z * size.y + y) * size.x + x);
                if (fabs(d_) > 50) fail_msg("coder %d, reduced %d: voxel %lld is off by %g", k, r, (long long)i, d_);
            }
            tsr_volume_destroy(&low);
        }
    }
    tsr_volume_destroy(&v);
}

/* A file that was cut anywhere decodes with `partial`, better the longer it is; without, it is an error that says so. */
static void cut_files(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_volume *v = make(TSR_U8, (tsr_size3){ 64, 48, 32 }, &random), *back = NULL;
    tsr_compress_options o = options_of(TSR_COMPRESS_PLANES);
    tsr_decompress_options d = TSR_DECOMPRESS_OPTIONS;
    tsr_compress_info info = TSR_COMPRESS_INFO;
    size_t size;
    double before = -100;
    o.brick = (tsr_size3){ 32, 32, 32 };
    require_ok(tsr_volume_compress(v, path, &o, NULL));
    uint8_t *bytes = slurp(path, &size);
    d.partial = 1;
    for (int k = 1; k <= 4; k++) {
        const size_t length = k == 4 ? size : size * (size_t)(3 * k) / 13;
        spill(other, bytes, length);
        require_ok(tsr_volume_decompress(other, &d, &back, &info));
        assert_int_equal(info.pieces_whole < info.pieces, k < 4);
        const double psnr = measure_psnr(v, back);
        assert_true(psnr > before + 1);
        if (k == 1) assert_true(psnr > 25);
        before = psnr;
        tsr_volume_destroy(&back);
        if (k < 4) require_error(tsr_volume_decompress(other, NULL, &back, NULL), TSR_ERROR_FORMAT, "the file is cut off");
        require_ok(tsr_compress_describe(other, &info));
        assert_true(info.file_bytes == (int64_t)length && info.whole_bytes == (int64_t)size);
    }
    assert_true(isinf(before));
    free(bytes);
    tsr_volume_destroy(&v);
}

/* Every byte of small files changed: an error, or, with `partial`, the bricks that are whole exactly and the others as something. */
static void every_byte(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_volume *v = make(TSR_F32, (tsr_size3){ 12, 6, 4 }, &random);
    ((float *)tsr_volume_data(v))[17] = NAN;
    for (int coder = TSR_COMPRESS_PREDICT; coder < TSR_COMPRESS_CODERS; coder++) {
        tsr_compress_options o = options_of((tsr_compress_coder)coder);
        size_t size;
        o.brick = (tsr_size3){ 8, 8, 8 };
        o.levels = coder == TSR_COMPRESS_PREDICT ? 0 : 2;
        o.layers = coder == TSR_COMPRESS_PLANES ? 2 : 0;
        o.max_error = 0.01;
        require_ok(tsr_volume_compress(v, path, &o, NULL));
        uint8_t *bytes = slurp(path, &size);
        for (size_t k = 0; k < size; k += test_is_slow() ? 17 : 1) {
            tsr_volume *back = NULL;
            tsr_decompress_options d = TSR_DECOMPRESS_OPTIONS;
            d.threads = 1;
            bytes[k] ^= (uint8_t)(1u << k % 8);
            spill(other, bytes, size);
            bytes[k] ^= (uint8_t)(1u << k % 8);
            if (tsr_volume_decompress(other, &d, &back, NULL) == TSR_OK) fail_msg("coder %d: byte %zu changed and nothing said so", coder, k);
            assert_null(back);
            if (k >= 256 && k % 3) continue;
            d.partial = 1;
            if (tsr_volume_decompress(other, &d, &back, NULL) == TSR_OK) assert_true(k >= 256); /* headers are not guessed */
            tsr_volume_destroy(&back);
        }
        for (size_t length = 0; length < size; length += 29) {
            tsr_volume *back = NULL;
            spill(other, bytes, length);
            if (tsr_volume_decompress(other, NULL, &back, NULL) == TSR_OK)
                fail_msg("coder %d: cut after %zu bytes and nothing said so", coder, length);
        }
        free(bytes);
    }
    tsr_volume_destroy(&v);
}

/* ---- the same everywhere ----------------------------------------------------------------------------------------------------------------------------- */

static void same_bytes(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_volume *v = make(TSR_I16, (tsr_size3){ 38, 24, 18 }, &random), *back = NULL;
    for (int coder = TSR_COMPRESS_PREDICT; coder < TSR_COMPRESS_CODERS; coder++)
        for (int lossy = 0; lossy < 2; lossy++) {
            uint8_t *first = NULL;
            size_t size, again;
            if (lossy && coder != TSR_COMPRESS_PLANES) continue;
            for (int isa = TSR_ISA_BASE; isa < TSR_ISA_COUNT; isa++) {
                tsr_compress_options o = options_of((tsr_compress_coder)coder);
                o.brick = (tsr_size3){ 32, 32, 16 };
                o.levels = coder == TSR_COMPRESS_PREDICT ? 0 : 3;
                o.rate = lossy ? 1 : 0;
                o.threads = 1 + isa;
                tsr_isa_force(isa);
                require_ok(tsr_volume_compress(v, path, &o, NULL));
                uint8_t *bytes = slurp(path, isa ? &again : &size);
                if (!isa) first = bytes;
                else {
                    assert_int_equal(size, again);
                    assert_memory_equal(first, bytes, size);
                    free(bytes);
                }
                require_ok(tsr_volume_decompress(path, NULL, &back, NULL));
                if (!lossy) require_same(v, back);
                tsr_volume_destroy(&back);
                tsr_isa_force(-1);
            }
            free(first);
        }
    tsr_volume_destroy(&v);
}

static void images(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_image image;
    tsr_volume *back = NULL;
    tsr_compress_info info = TSR_COMPRESS_INFO;
    require_ok(tsr_image_create(50, 31, 3, &image));
    for (int i = 0; i < 50 * 31 * 3; i++) image.pixels[i] = (uint8_t)(i / 3 % 50 * 4 + i % 3 * 9 + (int)(test_random(&random) & 3));
    for (int coder = TSR_COMPRESS_PREDICT; coder < TSR_COMPRESS_CODERS; coder++) {
        const tsr_compress_options o = options_of((tsr_compress_coder)coder);
        require_ok(tsr_image_compress(&image, path, &o, NULL));
        require_ok(tsr_volume_decompress(path, NULL, &back, &info));
        assert_int_equal(info.image, 1);
        const uint8_t *v = (const uint8_t *)tsr_volume_data_const(back);
        for (int i = 0; i < 50 * 31; i++)
            for (int c = 0; c < 3; c++) assert_int_equal(v[c * 50 * 31 + i], image.pixels[3 * i + c]);
        tsr_volume_destroy(&back);
        if (coder == TSR_COMPRESS_PREDICT) continue;
        tsr_decompress_options d = TSR_DECOMPRESS_OPTIONS;
        d.reduce = 1;
        require_ok(tsr_volume_decompress(path, &d, &back, NULL));
        const tsr_size3 s = tsr_volume_size(back);
        assert_true(s.x == 25 && s.y == 16 && s.z == 3); /* channels stay */
        tsr_volume_destroy(&back);
    }
    tsr_image_destroy(&image);
}

/* The file of coder fast that docs/formats/tsc.md shows. */
static const uint8_t golden[] = {
    0x93, 0x54, 0x53, 0x43, 0x0d, 0x0a, 0x1a, 0x0a, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf0, 0x3f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf0, 0x3f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf0, 0x3f,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf0, 0x3f,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf0, 0x3f,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0c, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc9, 0x5c, 0xde, 0xd7, 0x8d, 0x5f, 0x43, 0x14, 0x0f, 0x01, 0xf4, 0x28, 0x79, 0xef, 0x13, 0x01,
    0xc8, 0xa2, 0xea, 0x26, 0x02, 0x00, 0x09, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x02, 0x00, 0x0d, 0x00, 0x00,
    0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00
};

static void require_golden(tsr_compress_coder coder, const uint8_t *wanted, size_t wanted_size)
{
    tsr_volume *v = NULL, *back = NULL;
    tsr_compress_options o = options_of(coder);
    size_t size;
    o.levels = 1;
    require_ok(tsr_volume_create(NULL, TSR_U8, (tsr_size3){ 2, 1, 1 }, NULL, &v));
    memcpy(tsr_volume_data(v), (const uint8_t[]){ 3, 5 }, 2);
    require_ok(tsr_volume_compress(v, path, &o, NULL));
    uint8_t *bytes = slurp(path, &size);
    assert_int_equal(size, wanted_size);
    assert_memory_equal(bytes, wanted, size);
    require_ok(tsr_volume_decompress(path, NULL, &back, NULL));
    assert_memory_equal(tsr_volume_data_const(back), tsr_volume_data_const(v), 2);
    free(bytes);
    tsr_volume_destroy(&v);
    tsr_volume_destroy(&back);
}

static void golden_file(void **state)
{
    (void)state;
    require_golden(TSR_COMPRESS_FAST, golden, sizeof golden);
}

/* Any reader gives the two voxels back. */
static void require_read(const uint8_t *content, size_t size)
{
    tsr_volume *back = NULL;
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(content, 1, size, f), size);
    fclose(f);
    require_ok(tsr_volume_decompress(path, NULL, &back, NULL));
    assert_int_equal(tsr_volume_count(back), 2);
    assert_memory_equal(tsr_volume_data_const(back), ((const uint8_t[]){ 3, 5 }), 2);
    tsr_volume_destroy(&back);
}

/* The same volume with coder rans: what differs in the header, the tables, the streams; the format's page works the coefficient out. Writers of version 1.1
 * made this file; now its only brick is raw, and the file half as large. */
static void golden_rans(void **state)
{
    (void)state;
    static const uint8_t sum[] = { 0xd6, 0x95, 0xec, 0x63, 0x45, 0x1e, 0x6b, 0xa6 };
    static const uint8_t directory[] = { 0x0c, 0x01, 0x14, 0x44, 0x40, 0xa0, 0x82, 0x01, 0x01, 0x30, 0xc6, 0x97, 0x38 };
    static const uint8_t low[] = { 0x02, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00 };
    static const uint8_t high[] = { 0x02, 0x09, 0xc2, 0x03, 0x02, 0x00 };
    uint8_t wanted[795], *at = wanted + 256;
    memcpy(wanted, golden, 256);
    wanted[10] = 1; /* version 1.1 */
    wanted[12] = 0x80;
    wanted[13] = 0x02; /* header of 640 bytes */
    wanted[28] = 4;    /* rans */
    wanted[232] = 13;  /* directory */
    memcpy(wanted + 248, sum, sizeof sum);
    for (int table = 0; table < 12; table++)
        for (int token = 0; token < 16; token++) {
            const int f = table != 9 ? 128 : token == 2 ? 2033 : 1;
            *at++ = (uint8_t)f;
            *at++ = (uint8_t)(f >> 8);
        }
    memcpy(at, directory, sizeof directory);
    at += sizeof directory;
    memcpy(at, low, sizeof low);
    at += sizeof low;
    memcpy(at, high, sizeof high);
    at += sizeof high;
    for (int lane = 1; lane < 32; lane++, at += 4) memcpy(at, (const uint8_t[]){ 0, 0, 1, 0 }, 4);
    assert_int_equal(at - wanted, sizeof wanted);
    require_read(wanted, sizeof wanted);
    static const uint8_t raw_sum[] = { 0xb9, 0xea, 0x6b, 0x4c, 0xec, 0x7e, 0xfe, 0x22 };
    static const uint8_t raw_rest[] = { 0x04, 0x01, 0xc2, 0xd9, 0x67, 0x5c, 0x04, 0x01, 0xc4, 0x44,
                                        0xfa, 0xdc, 0x11, 0x00, 0x00, 0x00, 0x11, 0x00, 0x02, 0x00 };
    uint8_t raw[660];
    memcpy(raw, wanted, 640);
    raw[10] = 2; /* version 1.2 */
    raw[232] = 12;
    memcpy(raw + 248, raw_sum, sizeof raw_sum);
    memcpy(raw + 640, raw_rest, sizeof raw_rest);
    require_golden(TSR_COMPRESS_RANS, raw, sizeof raw);
}

/* kB of memory of the process that no file backs; -1 where the system does not say. */
static long anonymous_memory(void)
{
    char line[128];
    long kilobytes = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "RssAnon:", 8)) kilobytes = atol(line + 8);
    if (f) fclose(f);
    return kilobytes;
}
static int watch_memory(void *user, double fraction, const char *stage)
{
    long *most = (long *)user;
    const long now = anonymous_memory();
    (void)fraction;
    (void)stage;
    *most = now > *most ? now : *most;
    return 0;
}

static tsr_volume *noise(int64_t slices)
{
    tsr_volume *v = NULL;
    uint64_t random = 11;
    require_ok(tsr_volume_create(NULL, TSR_U16, (tsr_size3){ 128, 128, slices }, NULL, &v));
    for (int64_t i = 0; i < tsr_volume_count(v); i++) ((uint16_t *)tsr_volume_data(v))[i] = (uint16_t)(test_random(&random) >> 20);
    return v;
}

/* Compresses with little room and with all of it: the same file. What the process had at most beside what it had before, in kB. */
static void with_and_without_limit(const tsr_volume *v, tsr_compress_options o, long growth[2])
{
    o.brick = (tsr_size3){ 32, 32, 32 };
    o.threads = 1;
    o.overwrite = 1;
    for (int limited = 1; limited >= 0; limited--) { /* memory that was freed may stay: the larger one comes last */
        const long before = anonymous_memory();
        long most = before;
        size_t size[2];
        o.memory_limit = limited ? 256 << 10 : 0;
        o.progress = (tsr_progress){ .report = watch_memory, .user = &most };
        require_ok(tsr_volume_compress(v, limited ? path : other, &o, NULL));
        growth[limited] = most - before;
        if (limited) continue;
        uint8_t *a = slurp(path, &size[0]), *b = slurp(other, &size[1]);
        assert_int_equal(size[0], size[1]);
        assert_memory_equal(a, b, size[0]);
        free(a);
        free(b);
    }
}

static void bounded_memory(void **state)
{
    (void)state;
    long growth[2];
    tsr_volume *v = noise(20);
    with_and_without_limit(v, (tsr_compress_options){ .struct_size = sizeof(tsr_compress_options), .rate = 6 }, growth);
    with_and_without_limit(v, (tsr_compress_options){ .struct_size = sizeof(tsr_compress_options), .psnr = 30 }, growth);
    with_and_without_limit(v, (tsr_compress_options){ .struct_size = sizeof(tsr_compress_options), .coder = TSR_COMPRESS_PLANES, .max_error = 700 },
                           growth);
    tsr_compress_options bad = TSR_COMPRESS_OPTIONS;
    bad.memory_limit = -1;
    bad.overwrite = 1;
    require_error(tsr_volume_compress(v, path, &bad, NULL), TSR_ERROR_ARGUMENT, "memory_limit is -1");
    tsr_volume_destroy(&v);
#if !defined(TSR_SANITIZED) /* they keep what was freed */
    v = noise(256);
    with_and_without_limit(v, (tsr_compress_options){ .struct_size = sizeof(tsr_compress_options), .coder = TSR_COMPRESS_FAST }, growth);
    if (anonymous_memory() >= 0) {
        if (growth[0] < 5000) fail_msg("%ld kB more without a limit, expected the 8 MB of the file: nothing was measured", growth[0]);
        if (growth[1] > 3500) fail_msg("%ld kB more with a limit of 256 kB (%ld without)", growth[1], growth[0]);
    }
    tsr_volume_destroy(&v);
#endif
}

static int cancel_later(void *user, double fraction, const char *stage)
{
    (void)fraction, (void)stage;
    return ++*(int *)user > 1;
}

/* What is asked for while the only brick is coded still counts: no file. */
static void cancelled(void **state)
{
    (void)state;
    tsr_volume *v = noise(20);
    for (int coder = TSR_COMPRESS_PREDICT; coder < TSR_COMPRESS_CODERS; coder++) {
        int calls = 0;
        tsr_compress_options o = { .struct_size = sizeof o, .coder = (tsr_compress_coder)coder, .progress = { cancel_later, &calls } };
        unlink(path);
        require_error(tsr_volume_compress(v, path, &o, NULL), TSR_ERROR_CANCELLED, "cancelled");
        assert_true(access(path, F_OK) != 0);
    }
    tsr_volume_destroy(&v);
}

/* Calls of a report, and after how many it says no. */
struct asked {
    int calls, most;
};
static int count_calls(void *user, double fraction, const char *stage)
{
    struct asked *a = (struct asked *)user;
    assert_true(fraction >= 0 && fraction <= 1 && stage);
    return ++a->calls >= a->most;
}

/* A volume of one brick: progress is asked all the way through it, and a no ends the work there and then. */
static void cancelled_within_a_brick(void **state)
{
    (void)state;
    tsr_volume *v = noise(40), *back = NULL;
    uint16_t *voxels = (uint16_t *)tsr_volume_data(v);
    for (int64_t i = 0; i < tsr_volume_count(v); i++) voxels[i] &= 127; /* as they are they would be faster */
    for (int k = 0; k < 3; k++) { /* predict, planes, planes whose quality is measured */
        struct asked all = { 0, 1 << 30 };
        tsr_compress_options o = options_of(k ? TSR_COMPRESS_PLANES : TSR_COMPRESS_PREDICT);
        o.psnr = k == 2 ? 60 : 0;
        o.threads = 1;
        o.progress = (tsr_progress){ count_calls, &all };
        require_ok(tsr_volume_compress(v, path, &o, NULL));
        if (all.calls < 100) fail_msg("coder %d: asked %d times while a brick is coded, expected 100 and more", (int)o.coder, all.calls);
        tsr_decompress_options d = { .struct_size = sizeof d, .threads = 1 };
        struct asked back_all = { 0, 1 << 30 };
        d.progress = (tsr_progress){ count_calls, &back_all };
        require_ok(tsr_volume_decompress(path, &d, &back, NULL));
        tsr_volume_destroy(&back);
        assert_true(back_all.calls >= 50);
        for (int part = 1; part < 4; part++) {
            struct asked some = { 0, back_all.calls * part / 4 };
            d.progress.user = &some;
            require_error(tsr_volume_decompress(path, &d, &back, NULL), TSR_ERROR_CANCELLED, "cancelled during decompressing");
            assert_null(back);
            assert_int_equal(some.calls, some.most);
            some = (struct asked){ 0, all.calls * part / 4 };
            o.progress.user = &some;
            unlink(other);
            require_error(tsr_volume_compress(v, other, &o, NULL), TSR_ERROR_CANCELLED, "cancelled during");
            assert_int_equal(some.calls, some.most);
            assert_true(access(other, F_OK) != 0);
        }
    }
    tsr_volume_destroy(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(older_files),    cmocka_unit_test(boxes),       cmocka_unit_test(resolutions),
                                        cmocka_unit_test(cut_files),      cmocka_unit_test(every_byte),  cmocka_unit_test(same_bytes),
                                        cmocka_unit_test(golden_file),    cmocka_unit_test(golden_rans), cmocka_unit_test(images),
                                        cmocka_unit_test(bounded_memory), cmocka_unit_test(cancelled),   cmocka_unit_test(cancelled_within_a_brick) };
    const struct CMUnitTest threaded[] = { cmocka_unit_test(boxes),      cmocka_unit_test(resolutions), cmocka_unit_test(cut_files),
                                           cmocka_unit_test(same_bytes), cmocka_unit_test(cancelled),   cmocka_unit_test(images) };
    if (test_watches_threads()) return cmocka_run_group_tests(threaded, set_up, tear_down); /* the others work on one thread */
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
