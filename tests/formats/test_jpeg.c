/* JPEG files against libjpeg's own decoder; orientations, inks and damage against pictures made here. */
#include "support.h"

#include <unistd.h>

#ifdef TSR_HAVE_JPEG
#include <jpeglib.h>

static void decode(uint8_t *bytes, size_t size, tsr_image *image)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, bytes, (unsigned long)size);
    assert_int_equal(jpeg_read_header(&jpeg, TRUE), JPEG_HEADER_OK);
    jpeg_start_decompress(&jpeg);
    require_ok(tsr_image_create((int32_t)jpeg.output_width, (int32_t)jpeg.output_height, jpeg.output_components, image));
    while (jpeg.output_scanline < jpeg.output_height) {
        uint8_t *row = image->pixels + (size_t)jpeg.output_scanline * jpeg.output_width * (size_t)jpeg.output_components;
        jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
}

/* A smooth picture comes back within the error that its quality allows; colour order, rows, and alpha left out. */
static void there_and_back(void **unused)
{
    (void)unused;
    for (int32_t channels = 1; channels <= 4; channels += channels == 1 ? 2 : 1) {
        for (int subsampled = 0; subsampled < 2; subsampled++) {
            tsr_image image, back;
            uint8_t *bytes = NULL;
            size_t size = 0, rough_size = 0;
            require_ok(tsr_image_create(61, 37, channels, &image));
            for (int y = 0; y < 37; y++)
                for (int x = 0; x < 61; x++)
                    for (int c = 0; c < channels; c++)
                        image.pixels[(y * 61 + x) * channels + c] = (uint8_t)(c == 0 ? 4 * x : c == 1 ? 6 * y : c == 2 ? 200 - 2 * x : 7 * (x ^ y));
            require_ok(tsr_image_pack_jpeg(&image, 95, subsampled, &bytes, &size));
            decode(bytes, size, &back);
            free(bytes);
            const int32_t kept = channels == 1 ? 1 : 3;
            assert_true(back.width == 61 && back.height == 37 && back.channels == kept);
            int most = 0;
            for (int i = 0; i < 61 * 37; i++)
                for (int c = 0; c < kept; c++) {
                    int d = abs((int)image.pixels[i * channels + c] - (int)back.pixels[i * kept + c]);
                    most = d > most ? d : most;
                }
            assert_true(most <= (subsampled ? 24 : 8));
            require_ok(tsr_image_pack_jpeg(&image, 20, subsampled, &bytes, &rough_size));
            free(bytes);
            assert_true(rough_size < size);
            tsr_image_destroy(&back);
            tsr_image_destroy(&image);
        }
    }
}

static void files_and_mistakes(void **unused)
{
    (void)unused;
    tsr_image image, back;
    uint8_t *bytes = (uint8_t *)1;
    size_t size = 1;
    const char *path = "test_jpeg.jpg";
    require_ok(tsr_image_create(8, 8, 3, &image));
    require_error(tsr_image_pack_jpeg(&image, 0, 0, &bytes, &size), TSR_ERROR_ARGUMENT, "quality 0");
    assert_true(!bytes && !size);
    require_error(tsr_image_pack_jpeg(&image, 101, 0, &bytes, &size), TSR_ERROR_ARGUMENT, "quality 101");
    require_error(tsr_image_pack_jpeg(NULL, 50, 0, &bytes, &size), TSR_ERROR_ARGUMENT, "image is NULL");
    const tsr_image wide = { 70000, 1, 3, image.pixels };
    require_error(tsr_image_pack_jpeg(&wide, 50, 0, &bytes, &size), TSR_ERROR_ARGUMENT, "70000 x 1");
    tsr_write_options options = TSR_WRITE_OPTIONS;
    options.overwrite = 1;
    require_ok(tsr_image_write(&image, path, &options));
    tsr_file_kind kind;
    const char *format;
    require_ok(tsr_file_recognise(path, &kind, &format));
    assert_true(kind == TSR_FILE_IMAGE && !strcmp(format, "jpeg"));
    require_ok(tsr_image_read(path, NULL, &back));
    assert_true(back.width == 8 && back.height == 8 && back.channels == 3);
    tsr_image_destroy(&back);
    unlink(path);
    tsr_image_destroy(&image);
}

static const char file[] = "test_jpeg_read.jpg";

static void put(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
    FILE *f = fopen(file, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(a, 1, a_size, f), a_size);
    assert_int_equal(fwrite(b, 1, b_size, f), b_size);
    fclose(f);
}

/* Any picture, in one scan or progressive; components 4: inks as Adobe writes them, inverted. */
static void pack(int width, int height, int components, int progressive, uint8_t **bytes, size_t *size)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    unsigned long packed = 0;
    uint8_t row[4 * 64];
    *bytes = NULL;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, bytes, &packed);
    jpeg.image_width = (JDIMENSION)width;
    jpeg.image_height = (JDIMENSION)height;
    jpeg.input_components = components;
    jpeg.in_color_space = components == 4 ? JCS_CMYK : components == 3 ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 95, TRUE);
    if (progressive) jpeg_simple_progression(&jpeg);
    jpeg.write_Adobe_marker = components == 4;
    jpeg_start_compress(&jpeg, TRUE);
    for (int y = 0; y < height; y++) {
        uint8_t *at = row;
        for (int x = 0; x < width; x++)
            for (int c = 0; c < components; c++)
                row[x * components + c] = (uint8_t)(c == 0 ? 40 + 3 * x : c == 1 ? 50 + 4 * y : c == 2 ? 230 - x - y : 200);
        jpeg_write_scanlines(&jpeg, &at, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    *size = (size_t)packed;
}

static void pictures_are_read(void **unused)
{
    (void)unused;
    for (int components = 1; components <= 3; components += 2)
        for (int progressive = 0; progressive < 2; progressive++) {
            uint8_t *bytes;
            size_t size;
            tsr_image want, got;
            tsr_volume *volume;
            pack(45, 31, components, progressive, &bytes, &size);
            decode(bytes, size, &want);
            put(bytes, size, NULL, 0);
            require_ok(tsr_image_read(file, NULL, &got));
            assert_true(got.width == 45 && got.height == 31 && got.channels == components);
            assert_memory_equal(got.pixels, want.pixels, (size_t)(45 * 31 * components));
            require_ok(tsr_volume_read(file, NULL, &volume));
            assert_true(tsr_volume_size(volume).x == 45 && tsr_volume_size(volume).y == 31);
            tsr_volume_destroy(&volume);
            for (size_t cut = 3; cut < size - 2; cut += 1 + size / 40) { /* truncated: said, nothing made up */
                tsr_image none = { 0 };
                put(bytes, cut, NULL, 0);
                require_error(tsr_image_read(file, NULL, &none), TSR_ERROR_FORMAT, "JPEG picture");
                assert_null(none.pixels);
            }
            const tsr_read_options little = { .struct_size = sizeof little, .memory_limit = 100 };
            put(bytes, size, NULL, 0);
            tsr_image none = { 0 };
            require_error(tsr_image_read(file, &little, &none), TSR_ERROR_MEMORY, "limit is 100");
            free(bytes);
            tsr_image_destroy(&want);
            tsr_image_destroy(&got);
        }
    unlink(file);
}

/* EXIF, both byte orders: where the left upper and the right upper pixel of the file stand afterwards. */
static void orientations(void **unused)
{
    (void)unused;
    static const int corner[8][2] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 }, { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 } };
    static const int next[8][2] = { { 1, 0 }, { 0, 0 }, { 0, 1 }, { 1, 1 }, { 0, 1 }, { 1, 1 }, { 1, 0 }, { 0, 0 } };
    uint8_t *bytes;
    size_t size;
    tsr_image plain;
    char said[256];
    pack(32, 16, 3, 0, &bytes, &size);
    decode(bytes, size, &plain);
    for (int big = 0; big < 2; big++)
        for (int o = 1; o <= 9; o++) {
            uint8_t head[2 + 4 + 6 + 26] = { 0xff, 0xd8, 0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0 }, *tiff = head + 12;
            const uint8_t one[2][26] = { { 'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, (uint8_t)o, 0, 0, 0 },
                                         { 'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, (uint8_t)o, 0, 0 } };
            tsr_image got;
            memcpy(tiff, one[big], 26);
            put(head, sizeof head, bytes + 2, size - 2);
            tsr_remarks_take(said, sizeof said);
            require_ok(tsr_image_read(file, NULL, &got));
            tsr_remarks_take(said, sizeof said);
            assert_true((o > 1 && o < 9) == (strstr(said, "EXIF orientation") != NULL));
            const int k = o == 9 ? 0 : o - 1, aside = k > 3, w = aside ? 16 : 32, h = aside ? 32 : 16;
            assert_true(got.width == w && got.height == h);
            assert_memory_equal(got.pixels + 3 * (corner[k][1] * (h - 1) * w + corner[k][0] * (w - 1)), plain.pixels, 3);
            assert_memory_equal(got.pixels + 3 * (next[k][1] * (h - 1) * w + next[k][0] * (w - 1)), plain.pixels + 3 * 31, 3);
            tsr_image_destroy(&got);
            /* Of a camera that has the size as stored; the turned one; another; of no camera. */
            static const int32_t cameras[4][2] = { { 32, 16 }, { 16, 32 }, { 31, 16 }, { 0, 0 } };
            for (int c = 0; c < 4; c++) {
                const tsr_read_options read = { .struct_size = sizeof read, .camera_size = { cameras[c][0], cameras[c][1] } };
                const int stored = aside && c == 0;
                require_ok(tsr_image_read(file, &read, &got));
                tsr_remarks_take(said, sizeof said);
                assert_true(got.width == (stored ? 32 : w) && got.height == (stored ? 16 : h));
                if (stored) assert_memory_equal(got.pixels, plain.pixels, 3 * 32 * 16);
                assert_true(stored == (strstr(said, "not turned") != NULL));
                tsr_image_destroy(&got);
            }
        }
    free(bytes);
    tsr_image_destroy(&plain);
    /* A square one has both sizes: EXIF is followed. */
    pack(16, 16, 3, 0, &bytes, &size);
    decode(bytes, size, &plain);
    const uint8_t head[2 + 4 + 6 + 26] = { 0xff, 0xd8, 0xff, 0xe1, 0, 34, 'E',  'x', 'i', 'f', 0, 0, 'I', 'I', 42, 0,
                                           8,    0,    0,    0,    1, 0,  0x12, 1,   3,   0,   1, 0, 0,   0,   6 };
    const tsr_read_options read = { .struct_size = sizeof read, .camera_size = { 16, 16 } };
    tsr_image got;
    put(head, sizeof head, bytes + 2, size - 2);
    require_ok(tsr_image_read(file, &read, &got));
    assert_memory_equal(got.pixels + 3 * 15, plain.pixels, 3);
    free(bytes);
    tsr_image_destroy(&got);
    tsr_image_destroy(&plain);
    unlink(file);
}

static void inks(void **unused)
{
    (void)unused;
    uint8_t *bytes;
    size_t size;
    tsr_image got;
    char said[256];
    pack(32, 16, 4, 0, &bytes, &size);
    put(bytes, size, NULL, 0);
    require_ok(tsr_image_read(file, NULL, &got));
    tsr_remarks_take(said, sizeof said);
    assert_non_null(strstr(said, "CMYK"));
    assert_int_equal(got.channels, 3);
    for (int y = 0; y < 16; y++)
        for (int x = 0; x < 32; x++) {
            const int want[3] = { (40 + 3 * x) * 200 / 255, (50 + 4 * y) * 200 / 255, (230 - x - y) * 200 / 255 };
            for (int c = 0; c < 3; c++) assert_true(abs((int)got.pixels[3 * (32 * y + x) + c] - want[c]) <= 8);
        }
    free(bytes);
    tsr_image_destroy(&got);
    unlink(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(there_and_back), cmocka_unit_test(files_and_mistakes), cmocka_unit_test(pictures_are_read),
                                        cmocka_unit_test(orientations), cmocka_unit_test(inks) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
static void left_out(void **unused)
{
    (void)unused;
    uint8_t pixel[3] = { 0 }, *bytes;
    size_t size;
    const tsr_image image = { 1, 1, 3, pixel };
    require_error(tsr_image_pack_jpeg(&image, 50, 0, &bytes, &size), TSR_ERROR_UNSUPPORTED, "libjpeg-turbo was not found");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(left_out) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
