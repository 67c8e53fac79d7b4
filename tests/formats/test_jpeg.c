/* JPEG files against libjpeg's own decoder. */
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
    require_error(tsr_image_read(path, NULL, &back), TSR_ERROR_UNSUPPORTED, "JPEG images are written, not read");
    unlink(path);
    tsr_image_destroy(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(there_and_back), cmocka_unit_test(files_and_mistakes) };
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
