/* PNG files against bytes put together here by the specification (PNG third edition; stored deflate, own checksums): no libpng. */
#include "scratch.h"

#include <math.h>

/* ---- a writer of its own ------------------------------------------------------------------------------------------------------------ */

typedef struct bytes {
    uint8_t at[1 << 16];
    size_t size;
} bytes;

static void put(bytes *b, const void *from, size_t size)
{
    assert_true(b->size + size <= sizeof b->at);
    memcpy(b->at + b->size, from, size);
    b->size += size;
}
static void put_big(bytes *b, uint32_t v)
{
    const uint8_t four[4] = { (uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v };
    put(b, four, 4);
}
static void chunk(bytes *b, const char *name, const void *data, size_t size)
{
    uint32_t crc = 0xffffffffu;
    put_big(b, (uint32_t)size);
    const size_t from = b->size;
    put(b, name, 4);
    if (size) put(b, data, size);
    for (size_t i = from; i < b->size; i++) {
        crc ^= b->at[i];
        for (int k = 0; k < 8; k++) crc = crc & 1 ? 0xedb88320u ^ crc >> 1 : crc >> 1;
    }
    put_big(b, ~crc);
}
/* Rows with their filter bytes as one stored block. */
static void image_data(bytes *b, const uint8_t *raw, size_t size)
{
    static bytes z;
    uint32_t s1 = 1, s2 = 0;
    const uint8_t head[7] = { 0x78, 1, 1, (uint8_t)size, (uint8_t)(size >> 8), (uint8_t)~size, (uint8_t)(~size >> 8) };
    z.size = 0;
    put(&z, head, sizeof head);
    put(&z, raw, size);
    for (size_t i = 0; i < size; i++) {
        s1 = (s1 + raw[i]) % 65521;
        s2 = (s2 + s1) % 65521;
    }
    put_big(&z, s2 << 16 | s1);
    chunk(b, "IDAT", z.at, z.size);
}
static void begin(bytes *b, uint32_t width, uint32_t height, int bits, int colour)
{
    static bytes h;
    b->size = h.size = 0;
    put(b, "\x89PNG\r\n\x1a\n", 8);
    put_big(&h, width);
    put_big(&h, height);
    const uint8_t rest[5] = { (uint8_t)bits, (uint8_t)colour, 0, 0, 0 };
    put(&h, rest, 5);
    chunk(b, "IHDR", h.at, h.size);
}

enum { WIDTH = 13, HEIGHT = 7 };

/* Sample c of pixel i in `bits`. */
static uint32_t sample(int i, int c, int bits) { return (uint32_t)(i * 2749 + c * 40503 + 17 * i * i) & ((1u << bits) - 1); }

static void rows(bytes *b, int bits, int channels)
{
    static bytes raw;
    raw.size = 0;
    for (int y = 0; y < HEIGHT; y++) {
        uint8_t row[1 + WIDTH * 8] = { 0 };
        size_t at = 8; /* bits, behind the filter byte */
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < channels; c++, at += (size_t)bits) {
                const uint32_t v = sample(y * WIDTH + x, c, bits);
                if (bits == 16) row[at / 8] = (uint8_t)(v >> 8);
                if (bits == 16) row[at / 8 + 1] = (uint8_t)v;
                else row[at / 8] |= (uint8_t)(v << (8 - bits - (int)(at % 8)));
            }
        put(&raw, row, (at + 7) / 8);
    }
    image_data(b, raw.at, raw.size);
}

static tsr_volume *read_back(const bytes *b)
{
    tsr_volume *volume = NULL;
    scratch_write("a.png", b->at, b->size);
    require_ok(tsr_volume_read(scratch("a.png"), NULL, &volume));
    return volume;
}
static uint32_t voxel(const tsr_volume *v, int64_t i)
{
    const void *data = tsr_volume_data_const(v);
    return tsr_volume_dtype(v) == TSR_U16 ? ((const uint16_t *)data)[i] : ((const uint8_t *)data)[i];
}

/* ---- tests -------------------------------------------------------------------------------------------------------------------------- */

/* Every depth and colour type: 16 bits to the last one, fewer than 8 stretched to 8 (sample * 255 / most); channels are the third axis. */
static void every_kind(void **unused)
{
    static const struct {
        int bits, colour, channels;
    } kinds[] = { { 1, 0, 1 },  { 2, 0, 1 }, { 4, 0, 1 },  { 8, 0, 1 }, { 16, 0, 1 }, { 8, 2, 3 },
                  { 16, 2, 3 }, { 8, 4, 2 }, { 16, 4, 2 }, { 8, 6, 4 }, { 16, 6, 4 } };
    static bytes b;
    (void)unused;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        begin(&b, WIDTH, HEIGHT, kinds[k].bits, kinds[k].colour);
        rows(&b, kinds[k].bits, kinds[k].channels);
        chunk(&b, "IEND", NULL, 0);
        for (int again = 0; again < 2; again++) { /* the second time through our writer */
            tsr_volume *v = again ? NULL : read_back(&b);
            const tsr_write_options over = { .struct_size = sizeof over, .overwrite = 1 };
            if (again) {
                tsr_volume *first = read_back(&b);
                require_ok(tsr_volume_write(first, scratch("b.png"), &over));
                tsr_volume_destroy(&first);
                require_ok(tsr_volume_read(scratch("b.png"), NULL, &v));
            }
            const tsr_size3 n = tsr_volume_size(v);
            assert_true(n.x == WIDTH && n.y == HEIGHT && n.z == kinds[k].channels);
            assert_int_equal(tsr_volume_channels(v), kinds[k].channels);
            assert_int_equal(tsr_volume_dtype(v), kinds[k].bits == 16 ? TSR_U16 : TSR_U8);
            const int bits = kinds[k].bits, most = (1 << bits) - 1;
            for (int c = 0; c < kinds[k].channels; c++)
                for (int i = 0; i < WIDTH * HEIGHT; i++)
                    assert_int_equal(voxel(v, c * WIDTH * HEIGHT + i), bits < 8 ? sample(i, c, bits) * 255 / (uint32_t)most : sample(i, c, bits));
            tsr_volume_destroy(&v);
        }
        tsr_image image; /* 8 bits, and what the file had is said */
        int32_t bits = 0;
        const tsr_read_options asking = { .struct_size = sizeof asking, .image_bits = &bits };
        require_ok(tsr_image_read(scratch("a.png"), &asking, &image));
        assert_int_equal(bits, kinds[k].bits);
        assert_int_equal(image.channels, kinds[k].channels == 2 ? 4 : kinds[k].channels);
        if (kinds[k].bits == 16)
            for (int i = 0; i < WIDTH * HEIGHT; i++) /* rounded: v * 255 / 65535 */
                assert_int_equal(image.pixels[i * image.channels], (sample(i, 0, 16) * 255 + 32767) / 65535);
        tsr_image_destroy(&image);
    }
}

/* A palette with transparent entries becomes red, green, blue and alpha. */
static void palettes(void **unused)
{
    static const uint8_t colours[12] = { 1, 2, 3, 40, 50, 60, 200, 100, 0, 255, 254, 253 }, alpha[2] = { 7, 130 };
    static bytes b;
    (void)unused;
    begin(&b, WIDTH, HEIGHT, 2, 3);
    chunk(&b, "PLTE", colours, sizeof colours);
    chunk(&b, "tRNS", alpha, sizeof alpha);
    rows(&b, 2, 1);
    chunk(&b, "IEND", NULL, 0);
    tsr_volume *v = read_back(&b);
    assert_int_equal(tsr_volume_channels(v), 4);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        const uint32_t entry = sample(i, 0, 2);
        for (int c = 0; c < 3; c++) assert_int_equal(voxel(v, c * WIDTH * HEIGHT + i), colours[3 * entry + (uint32_t)c]);
        assert_int_equal(voxel(v, 3 * WIDTH * HEIGHT + i), entry < 2 ? alpha[entry] : 255);
    }
    tsr_volume_destroy(&v);
}

/* What the file says beside its pixels comes back: as metadata, through NRRD, and in a new PNG file. */
static void notes(void **unused)
{
    static bytes b;
    static const char text[] = "Title\0a \xe9toile"; /* Latin-1 */
    static const uint8_t gamma[4] = { 0, 0, 0xb1, 0x8f }, physical[9] = { 0, 0, 0x0b, 0x13, 0, 0, 0x0b, 0x13, 1 },
                         exif[26] = { 'I', 'I', '*', 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0 };
    static const char *const expected[][2] = {
        { "png.gamma", "0.45455" }, { "png.physical", "2835 2835 per metre" }, { "png.text.Title", "a \xc3\xa9toile" }, { "png.orientation", "6" }
    };
    (void)unused;
    begin(&b, WIDTH, HEIGHT, 16, 2);
    chunk(&b, "gAMA", gamma, sizeof gamma);
    chunk(&b, "pHYs", physical, sizeof physical);
    chunk(&b, "tEXt", text, sizeof text - 1);
    chunk(&b, "eXIf", exif, sizeof exif);
    rows(&b, 16, 3);
    chunk(&b, "IEND", NULL, 0);
    tsr_volume *v = read_back(&b);
    for (int turn = 0; turn < 3; turn++) {
        for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
            const char *found = tsr_volume_meta(v, expected[k][0]);
            if (!found || strcmp(found, expected[k][1])) fail_msg("turn %d, %s: '%s'", turn, expected[k][0], found ? found : "nothing");
        }
        assert_int_equal(tsr_volume_channels(v), 3);
        const char *path = scratch(turn ? "notes.png" : "notes.nrrd");
        if (turn < 2) require_ok(tsr_volume_write(v, path, NULL));
        tsr_volume_destroy(&v);
        if (turn < 2) require_ok(tsr_volume_read(path, NULL, &v));
    }
}

/* A slice is written with 16 bits, whatever the type, where its values are whole numbers up to 65535; else the first that is not is named. */
static void slices(void **unused)
{
    static const double values[6] = { 0, 1, 255, 256, 40000, 65535 };
    const tsr_write_options over = { .struct_size = sizeof over, .overwrite = 1 };
    (void)unused;
    for (int dtype = TSR_U16; dtype < TSR_DTYPE_COUNT; dtype++) {
        tsr_volume *v, *back, *f64, *real;
        require_ok(tsr_volume_create(NULL, TSR_F64, (tsr_size3){ 3, 2, 1 }, NULL, &f64));
        for (int i = 0; i < 6; i++) /* of i16 the real value is twice the stored one and 1 */
            ((double *)tsr_volume_data(f64))[i] = dtype == TSR_I16 ? floor(values[i] / 2) : values[i];
        tsr_context *context = test_context_on("cpu", 1);
        require_ok(tsr_volume_convert(context, f64, (tsr_dtype)dtype, &v));
        if (dtype == TSR_I16) require_ok(tsr_volume_set_scaling(v, 2, 1));
        require_ok(tsr_volume_write(v, scratch("s.png"), &over));
        require_ok(tsr_volume_read(scratch("s.png"), NULL, &back));
        assert_int_equal(tsr_volume_dtype(back), TSR_U16);
        require_ok(tsr_volume_convert(context, v, TSR_F64, &real));
        for (int i = 0; i < 6; i++) assert_int_equal(voxel(back, i), (int)((const double *)tsr_volume_data_const(real))[i]);
        if (dtype != TSR_I16) assert_int_equal(voxel(back, 5), 65535);
        tsr_volume_destroy(&real);
        tsr_volume_destroy(&back);
        tsr_volume_destroy(&v);
        tsr_volume_destroy(&f64);
        tsr_context_destroy(&context);
    }
    tsr_volume *bad;
    require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ 2, 2, 1 }, NULL, &bad));
    ((float *)tsr_volume_data(bad))[3] = 0.5f;
    require_error(tsr_volume_write(bad, scratch("bad.png"), NULL), TSR_ERROR_ARGUMENT, "voxel 1 1 0 is 0.5");
    ((float *)tsr_volume_data(bad))[3] = -1;
    require_error(tsr_volume_write(bad, scratch("bad.png"), NULL), TSR_ERROR_ARGUMENT, "voxel 1 1 0 is -1");
    tsr_volume_destroy(&bad);
    require_ok(tsr_volume_create(NULL, TSR_U16, (tsr_size3){ 2, 2, 3 }, NULL, &bad));
    require_error(tsr_volume_write(bad, scratch("bad.png"), NULL), TSR_ERROR_ARGUMENT, "holds one slice, the volume has 2 x 2 x 3");
    require_ok(tsr_volume_set_channels(bad));
    require_error(tsr_volume_write(bad, scratch("bad.jpg"), NULL), TSR_ERROR_ARGUMENT, "JPEG holds 8 bits");
    tsr_volume_destroy(&bad);
    assert_true(access(scratch("bad.png"), F_OK) && access(scratch("bad.jpg"), F_OK));
}

/* Filters of space leave channels apart: each comes out as it does alone. */
static void channels_apart(void **unused)
{
    static bytes b;
    (void)unused;
    begin(&b, WIDTH, HEIGHT, 8, 2);
    rows(&b, 8, 3);
    chunk(&b, "IEND", NULL, 0);
    tsr_context *context = test_context_on("cpu", 2);
    tsr_volume *rgb = read_back(&b), *whole[3] = { NULL }, *alone[3] = { NULL };
    const tsr_smooth_options smooth = { .struct_size = sizeof smooth, .sigma = 1.2 };
    const tsr_resample_options coarse = { .struct_size = sizeof coarse, .spacing = { 1.5, 1.5, 1.5 } };
    const tsr_wavelet_options wavelet = { .struct_size = sizeof wavelet, .levels = 1 };
    for (int c = -1; c < 3; c++) {
        tsr_volume *one = NULL;
        const tsr_volume *from = rgb;
        if (c >= 0) require_ok(tsr_volume_crop(context, rgb, (tsr_size3){ 0, 0, c }, (tsr_size3){ WIDTH, HEIGHT, c + 1 }, &one));
        if (c >= 0) from = one;
        tsr_volume **to = c < 0 ? whole : alone;
        require_ok(tsr_volume_smooth(context, from, &smooth, &to[0]));
        require_ok(tsr_volume_resample(context, from, &coarse, &to[1]));
        require_ok(tsr_volume_dwt(context, from, &wavelet, TSR_I16, &to[2]));
        for (int k = 0; k < 3 && c >= 0; k++) {
            const tsr_size3 n = tsr_volume_size(alone[k]), m = tsr_volume_size(whole[k]);
            assert_true(n.x == m.x && n.y == m.y && n.z == 1 && m.z == 3);
            const size_t bytes_of_one = (size_t)(n.x * n.y) * tsr_dtype_size(tsr_volume_dtype(whole[k]));
            const char *w = (const char *)tsr_volume_data_const(whole[k]) + (size_t)c * bytes_of_one;
            assert_memory_equal(tsr_volume_data_const(alone[k]), w, bytes_of_one);
            tsr_volume_destroy(&alone[k]);
        }
        tsr_volume_destroy(&one);
    }
    for (int k = 0; k < 3; k++) tsr_volume_destroy(&whole[k]);
    tsr_volume_destroy(&rgb);
    tsr_context_destroy(&context);
}

/* Three equal channels are denoised as one is, up to rounding: nothing is gained by their being equal. */
static void channels_denoised(void **unused)
{
    (void)unused;
    enum { SIDE = 24 };
    tsr_context *context = test_context_on("cpu", 2);
    tsr_volume *v[2], *out[2];
    for (int k = 0; k < 2; k++) {
        const tsr_denoise_options denoise = { .struct_size = sizeof denoise, .sigma = 20 };
        require_ok(tsr_volume_create(NULL, TSR_U8, (tsr_size3){ SIDE, SIDE, k ? 3 : 1 }, NULL, &v[k]));
        require_ok(tsr_volume_set_channels(v[k]));
        for (int i = 0; i < SIDE * SIDE * (k ? 3 : 1); i++) {
            const int j = i % (SIDE * SIDE);
            ((uint8_t *)tsr_volume_data(v[k]))[i] = (uint8_t)((j % SIDE < 11 ? 90 : 160) + (int)(sample(j, 1, 6)) - 32);
        }
        require_ok(tsr_volume_denoise(context, v[k], &denoise, &out[k], NULL));
    }
    for (int i = 0; i < SIDE * SIDE * 3; i++) assert_true(abs((int)voxel(out[1], i) - (int)voxel(out[0], i % (SIDE * SIDE))) <= 1);
    for (int k = 0; k < 2; k++) {
        tsr_volume_destroy(&v[k]);
        tsr_volume_destroy(&out[k]);
    }
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_kind), cmocka_unit_test(palettes),       cmocka_unit_test(notes),
                                        cmocka_unit_test(slices),     cmocka_unit_test(channels_apart), cmocka_unit_test(channels_denoised) };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
