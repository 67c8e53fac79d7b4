/* Data sets of every syntax that is unpacked here; JPEG and its kin are another program's, which is not started. */
#define FUZZ_FORMAT "dicom"
#include "fuzz/fuzz_format.h"
#include "formats/dicom_bytes.h"

#include <stdlib.h>
#include <zlib.h>

static const uint8_t pixels[48] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24 };

static void plain(const char *syntax, int colour)
{
    dicom_bytes d;
    dicom_begin(&d, syntax);
    dicom_picture(&d, "1.2.3", "1\\2\\3", 3, 4, 8, colour ? 1 : 2);
    if (colour) {
        dicom_short(&d, 0x00280002, 3);
        dicom_text(&d, 0x00280004, "CS", colour == 2 ? "YBR_FULL" : "RGB");
        dicom_short(&d, 0x00280006, colour == 2);
    }
    dicom_text(&d, 0x00281052, "DS", "-3");
    dicom_text(&d, 0x00281053, "DS", "2");
    dicom_raw(&d, 0x7FE00010, d.big_endian ? "OW" : "OB", pixels, colour ? 36 : 24);
    fuzz_seed(d.at, d.size);
}

static void runs(void)
{
    static const uint8_t packed[] = { 1, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,   0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                      0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0,   0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                      0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 251, 7, 5, 1, 2, 3, 4, 5, 6, 0 };
    dicom_bytes d;
    dicom_begin(&d, "1.2.840.10008.1.2.5");
    dicom_picture(&d, "1.2.3", "1\\2\\3", 3, 4, 8, 2);
    dicom_head(&d, 0x7FE00010, "OB", UINT32_MAX);
    dicom_raw(&d, 0xFFFEE000, "", "", 0);
    for (int k = 0; k < 2; k++) dicom_raw(&d, 0xFFFEE000, "", packed, sizeof packed);
    dicom_head(&d, 0xFFFEE0DD, "", 0);
    fuzz_seed(d.at, d.size);
}

static void groups(const char *syntax, int deflated)
{
    dicom_bytes d;
    dicom_begin(&d, syntax);
    const size_t from = d.size;
    dicom_picture(&d, "1.2.3", NULL, 3, 4, 8, 2);
    dicom_head(&d, 0x52009229, "SQ", UINT32_MAX);
    dicom_head(&d, 0xFFFEE000, "", UINT32_MAX);
    dicom_head(&d, 0x00209116, "SQ", UINT32_MAX);
    dicom_head(&d, 0xFFFEE000, "", UINT32_MAX);
    dicom_text(&d, 0x00200037, "DS", "0\\1\\0\\0\\0\\-1");
    for (int k = 0; k < 2; k++) {
        dicom_head(&d, 0xFFFEE00D, "", 0);
        dicom_head(&d, 0xFFFEE0DD, "", 0);
    }
    dicom_head(&d, 0x52009230, "SQ", UINT32_MAX);
    for (int k = 0; k < 2; k++) {
        dicom_head(&d, 0xFFFEE000, "", UINT32_MAX);
        dicom_head(&d, 0x00209113, "SQ", UINT32_MAX);
        dicom_head(&d, 0xFFFEE000, "", 8 + (d.implicit ? 0 : 0) + 6);
        dicom_text(&d, 0x00200032, "DS", k ? "-4\\2\\3" : "-1\\2\\3");
        dicom_head(&d, 0xFFFEE0DD, "", 0);
        dicom_head(&d, 0xFFFEE00D, "", 0);
    }
    dicom_head(&d, 0xFFFEE0DD, "", 0);
    dicom_raw(&d, 0x7FE00010, "OB", pixels, 24);
    if (deflated) {
        uint8_t packed[4096];
        z_stream z = { .next_in = d.at + from, .avail_in = (uInt)(d.size - from), .next_out = packed, .avail_out = sizeof packed };
        fuzz_check(deflateInit2(&z, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK && deflate(&z, Z_FINISH) == Z_STREAM_END, "deflate\n");
        memcpy(d.at + from, packed, z.total_out);
        d.size = from + z.total_out;
        deflateEnd(&z);
    }
    fuzz_seed(d.at, d.size);
}

static void begin_item(dicom_bytes *d, uint32_t sequence)
{
    if (sequence) dicom_head(d, sequence, "SQ", UINT32_MAX);
    dicom_head(d, 0xFFFEE000, "", UINT32_MAX);
}
static void end_item(dicom_bytes *d, int last)
{
    dicom_head(d, 0xFFFEE00D, "", 0);
    if (last) dicom_head(d, 0xFFFEE0DD, "", 0);
}

/* Two segments in three frames, bits or fractions, with a gap between their slices. */
static void segments(int fractions)
{
    dicom_bytes d;
    dicom_begin(&d, "1.2.840.10008.1.2.1");
    dicom_picture(&d, "1.2.3", NULL, 3, 4, fractions ? 8 : 1, 3);
    dicom_text(&d, 0x00080016, "UI", "1.2.840.10008.5.1.4.1.1.66.4");
    dicom_text(&d, 0x00620001, "CS", fractions ? "FRACTIONAL" : "BINARY");
    dicom_head(&d, 0x00620002, "SQ", UINT32_MAX);
    for (int k = 0; k < 2; k++) {
        begin_item(&d, 0);
        dicom_short(&d, 0x00620004, (uint16_t)(k + 1));
        dicom_text(&d, 0x00620005, "LO", k ? "left" : "right");
        end_item(&d, k == 1);
    }
    dicom_short(&d, 0x0062000E, 20);
    begin_item(&d, 0x52009229);
    begin_item(&d, 0x00209116);
    dicom_text(&d, 0x00200037, "DS", "1\\0\\0\\0\\1\\0");
    end_item(&d, 1);
    begin_item(&d, 0x00289110);
    dicom_text(&d, 0x00180088, "DS", "2");
    end_item(&d, 1);
    end_item(&d, 1);
    dicom_head(&d, 0x52009230, "SQ", UINT32_MAX);
    for (int k = 0; k < 3; k++) {
        static const char *const places[] = { "1\\2\\3", "1\\2\\9", "1\\2\\3" };
        begin_item(&d, 0);
        begin_item(&d, 0x00209113);
        dicom_text(&d, 0x00200032, "DS", places[k]);
        end_item(&d, 1);
        begin_item(&d, 0x0062000A);
        dicom_short(&d, 0x0062000B, (uint16_t)(1 + k / 2));
        end_item(&d, 1);
        end_item(&d, k == 2);
    }
    dicom_raw(&d, 0x7FE00010, "OB", pixels, fractions ? 36 : 6);
    fuzz_seed(d.at, d.size);
}

void fuzz_seeds(void)
{
    setenv("TESSERA_DICOM", "/nowhere/tessera-dicom", 1);
    plain("1.2.840.10008.1.2.1", 0);
    plain("1.2.840.10008.1.2", 0);
    plain("1.2.840.10008.1.2.2", 0);
    plain("1.2.840.10008.1.2.1", 1);
    plain("1.2.840.10008.1.2.1", 2);
    runs();
    groups("1.2.840.10008.1.2.1", 0);
    groups("1.2.840.10008.1.2", 0);
    groups("1.2.840.10008.1.2.1.99", 1);
    segments(0);
    segments(1);
}
