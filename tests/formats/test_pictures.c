/* Pictures and archives by hand: what they say, files cut off at every byte, and headers that lie. tests/formats/image_peers.py asks other libraries. */
#include "scratch.h"

#include <math.h>

static const tsr_write_options overwrite = { .struct_size = sizeof(tsr_write_options), .overwrite = 1 };

static void netpbm(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
        int64_t width, height, channels;
        tsr_dtype dtype;
        double first, last;
    } cases[] = {
#define FILE_OF(text) text, sizeof text - 1
        { FILE_OF("P1\n# bits\n3 2\n1 0 1 010"), 3, 2, 1, TSR_U8, 0, 255 },
        { FILE_OF("P2 2 2 9\n1 2 3 # four\n9\n"), 2, 2, 1, TSR_U8, 1, 9 },
        { FILE_OF("P3 1 1 1000 1 2 1000"), 1, 1, 3, TSR_U16, 1, 1000 },
        { FILE_OF("P4\n9 2\n\x80\0\0\x80"), 9, 2, 1, TSR_U8, 0, 0 },
        { FILE_OF("P5 2 2 255\nabcd"), 2, 2, 1, TSR_U8, 'a', 'd' },
        { FILE_OF("P6 1 1 65535\nabcdef"), 1, 1, 3, TSR_U16, 'a' * 256 + 'b', 'e' * 256 + 'f' },
        { FILE_OF("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\nabcd"), 1, 1, 4, TSR_U8, 'a', 'd' },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_volume *v;
        tsr_image image;
        scratch_write("p.pnm", cases[i].text, cases[i].size);
        require_ok(tsr_volume_read(scratch("p.pnm"), NULL, &v));
        const tsr_size3 n = tsr_volume_size(v);
        const int64_t last = tsr_volume_count(v) - 1;
        const void *data = tsr_volume_data_const(v);
        assert_true(n.x == cases[i].width && n.y == cases[i].height && n.z == cases[i].channels && tsr_volume_dtype(v) == cases[i].dtype);
        const int wide = cases[i].dtype == TSR_U16;
        const double first = wide ? ((const uint16_t *)data)[0] : ((const uint8_t *)data)[0],
                     end = wide ? ((const uint16_t *)data)[last] : ((const uint8_t *)data)[last];
        if (first != cases[i].first || end != cases[i].last)
            fail_msg("case %zu: %g to %g, expected %g to %g", i, first, end, cases[i].first, cases[i].last);
        if (i == 2) assert_string_equal(tsr_volume_meta(v, "pnm.maxval"), "1000");
        tsr_volume_destroy(&v);
        require_ok(tsr_image_read(scratch("p.pnm"), NULL, &image));
        if (i == 1) assert_true(image.pixels[0] == 28 && image.pixels[3] == 255); /* 255 / 9 = 28.3 */
        tsr_image_destroy(&image);
        const size_t least = cases[i].size - (i < 3 ? 4 : 1); /* of text the last digits may be missing unseen */
        for (size_t cut = 0; cut <= least; cut++) {
            tsr_read_options named = TSR_READ_OPTIONS;
            named.format = "pnm";
            scratch_write("p.pnm", cases[i].text, cut);
            if (tsr_volume_read(scratch("p.pnm"), &named, &v) == TSR_OK) fail_msg("case %zu: read although cut to %zu bytes", i, cut);
        }
    }
    static const char *const lies[][2] = { { "P5 0 2 255\n", "the width" },
                                           { "P5 2 99999999999 255\n", "the height" },
                                           { "P5 2 2 70000\nabcd", "the greatest value" },
                                           { "P5 2147483647 2147483647 255\nab", "truncated" },
                                           { "P2 1 1 9 12", "a sample" },
                                           { "P1 1 1 2", "expected 0 or 1" },
                                           { "P7\nWIDTH 1\nENDHDR\n", "lacks HEIGHT" },
                                           { "P7\nDEPTH 9\n", "DEPTH in the header" } };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        tsr_volume *v;
        scratch_write("p.pnm", lies[i][0], strlen(lies[i][0]));
        require_error(tsr_volume_read(scratch("p.pnm"), NULL, &v), TSR_ERROR_FORMAT, lies[i][1]);
    }
    scratch_files(1);
}

static void bitmaps(void **state)
{
    (void)state;
    tsr_image image, back;
    for (int channels = 1; channels <= 4; channels += channels == 1 ? 2 : 1) {
        require_ok(tsr_image_create(5, 3, channels, &image));
        for (int k = 0; k < 15 * channels; k++) image.pixels[k] = (uint8_t)(k * 7 + 3);
        require_ok(tsr_image_write(&image, scratch("b.bmp"), &overwrite));
        require_ok(tsr_image_read(scratch("b.bmp"), NULL, &back));
        assert_true(back.width == 5 && back.height == 3 && back.channels == channels);
        assert_memory_equal(back.pixels, image.pixels, (size_t)(15 * channels));
        tsr_image_destroy(&back);
        size_t size;
        uint8_t *bytes = (uint8_t *)scratch_read("b.bmp", &size);
        for (size_t cut = 14; cut<size; cut += size - cut> 60 ? 23 : 1) {
            tsr_read_options named = TSR_READ_OPTIONS;
            named.format = "bmp";
            scratch_write("c.bmp", bytes, cut);
            if (tsr_image_read(scratch("c.bmp"), &named, &back) == TSR_OK)
                fail_msg("%d channels: read although cut to %zu of %zu bytes", channels, cut, size);
        }
        static const struct {
            int at, value;
            const char *text;
        } lies[] = { { 14, 11, "header of" },   { 21, 0x80, "extents" }, { 23, 0x7f, "truncated" },
                     { 28, 7, "bits a pixel" }, { 30, 9, "packing 9" },  { 12, 1, "truncated" } };
        for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
            uint8_t old = bytes[lies[i].at];
            tsr_read_options named = TSR_READ_OPTIONS;
            named.format = "bmp";
            bytes[lies[i].at] = (uint8_t)lies[i].value;
            scratch_write("c.bmp", bytes, size);
            assert_true(tsr_image_read(scratch("c.bmp"), &named, &back) != TSR_OK);
            if (!strstr(tsr_error_message(), lies[i].text)) fail_msg("'%s', expected '%s'", tsr_error_message(), lies[i].text);
            bytes[lies[i].at] = old;
        }
        free(bytes);
        tsr_image_destroy(&image);
    }
    /* run lengths: three of colour 1, end of line, a jump, two by themselves */
    uint8_t runs[54 + 16 + 14] = { 'B', 'M' };
    runs[10] = 70, runs[14] = 40, runs[18] = 3, runs[22] = 2, runs[26] = 1, runs[28] = 8, runs[30] = 1, runs[46] = 4;
    for (int k = 0; k < 4; k++) memset(runs + 54 + 4 * k, 10 * k, 3);
    memcpy(runs + 70, "\3\1\0\0\0\2\1\0\2\3\0\1", 12);
    scratch_write("r.bmp", runs, sizeof runs);
    require_ok(tsr_image_read(scratch("r.bmp"), NULL, &image));
    static const uint8_t expected[6] = { 0, 30, 30, 10, 10, 10 };
    assert_int_equal(image.channels, 1);
    assert_memory_equal(image.pixels, expected, 6);
    tsr_image_destroy(&image);
    scratch_files(1);
}

static void archives(void **state)
{
    (void)state;
    tsr_volume *v, *back;
    require_ok(tsr_volume_create(NULL, TSR_I16, (tsr_size3){ 5, 4, 3 }, NULL, &v));
    for (int k = 0; k < 60; k++) ((int16_t *)tsr_volume_data(v))[k] = (int16_t)(k * k);
    for (int level = 0; level < 7; level += 6) {
        tsr_write_options options = overwrite;
        size_t size;
        options.compression = level;
        require_ok(tsr_volume_write(v, scratch("a.npz"), &options));
        require_ok(tsr_volume_read(scratch("a.npz"), NULL, &back));
        assert_memory_equal(tsr_volume_data_const(back), tsr_volume_data_const(v), 120);
        assert_string_equal(tsr_volume_meta(back, "npz.array"), "volume");
        tsr_volume_destroy(&back);
        tsr_read_options named = TSR_READ_OPTIONS;
        named.dataset = "volume";
        require_ok(tsr_volume_read(scratch("a.npz"), &named, &back));
        tsr_volume_destroy(&back);
        named.dataset = "other";
        require_error(tsr_volume_read(scratch("a.npz"), &named, &back), TSR_ERROR_ARGUMENT, "'other', the archive holds volume (3, 4, 5) <i2");
        uint8_t *bytes = (uint8_t *)scratch_read("a.npz", &size);
        named = (tsr_read_options){ .struct_size = sizeof named, .format = "npz" };
        for (size_t cut = 0; cut < size; cut++) {
            scratch_write("c.npz", bytes, cut);
            if (tsr_volume_read(scratch("c.npz"), &named, &back) == TSR_OK) fail_msg("read although cut to %zu of %zu bytes", cut, size);
        }
        for (size_t at = 0; at < size; at++) { /* a bit turned anywhere is seen, or does not matter */
            bytes[at] ^= 16;
            scratch_write("c.npz", bytes, size);
            if (tsr_volume_read(scratch("c.npz"), &named, &back) == TSR_OK) {
                assert_memory_equal(tsr_volume_data_const(back), tsr_volume_data_const(v), 120);
                tsr_volume_destroy(&back);
            }
            bytes[at] ^= 16;
        }
        free(bytes);
    }
    tsr_volume_destroy(&v);
    scratch_files(1);
}

/* Light as numbers becomes bytes by the curve of sRGB, and bytes become light; golden values of IEC 61966-2-1. */
static void linear_light(void **state)
{
    (void)state;
    static const float light[12] = { 0, 0.5f, 1, 2, -1, 0.0031308f, 0.21f, 0.01f, 0.9f, NAN, 0.1f, 0.25f };
    static const uint8_t bytes[12] = { 126, 25, 243, 0, 89, 137, 0, 188, 255, 255, 0, 10 }; /* the lower row comes first in the file */
    char file[64];
    const int head = snprintf(file, sizeof file, "PF\n2 2\n-1.0\n");
    char all[128];
    memcpy(all, file, (size_t)head);
    memcpy(all + head, light, sizeof light);
    scratch_write("light.pfm", all, (size_t)head + sizeof light);
    tsr_image image;
    require_ok(tsr_image_read(scratch("light.pfm"), NULL, &image));
    assert_true(image.width == 2 && image.height == 2 && image.channels == 3);
    for (int i = 0; i < 12; i++)
        if (image.pixels[i] != bytes[i]) fail_msg("byte %d is %d, expected %d", i, image.pixels[i], bytes[i]);
    tsr_image_destroy(&image);
    tsr_volume *map;
    require_error(tsr_panorama_read(scratch("light.pfm"), NULL, &map), TSR_ERROR_FORMAT, "light.pfm: light of");
    scratch_write("light.ppm", "P6 2 2 255\n\0\274\377\12\100\200\0\0\0\1\2\3", 23);
    require_ok(tsr_panorama_read(scratch("light.ppm"), NULL, &map));
    static const double linear[4][3] = { { 0, 0.5028865, 1 }, { 0.0030353, 0.0512695, 0.2158605 }, { 0, 0, 0 }, { 0.00030353, 0.00060705, 0.00091058 } };
    const float *v = (const float *)tsr_volume_data_const(map);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            if (fabs((double)v[4 * k + i] - linear[i][k]) > 1e-6) fail_msg("pixel %d, channel %d: %.9g, expected %g", i, k, (double)v[4 * k + i], linear[i][k]);
    tsr_volume_destroy(&map);
    scratch_write("one.ppm", "P6 1 2 255\nabcdef", 17);
    require_error(tsr_panorama_read(scratch("one.ppm"), NULL, &map), TSR_ERROR_FORMAT, "one.ppm: 1 x 2 pixels, expected 2 or more");
    scratch_files(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(netpbm), cmocka_unit_test(bitmaps), cmocka_unit_test(archives), cmocka_unit_test(linear_light) };
    return cmocka_run_group_tests_name("pictures and archives", tests, scratch_make, scratch_remove);
}
