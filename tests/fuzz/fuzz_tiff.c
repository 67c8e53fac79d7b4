#define FUZZ_FORMAT "tiff"
#include "fuzz/fuzz_volume.h"

void fuzz_seeds(void)
{
    static const fuzz_variant variants[] = { { "tif", NULL, 0, 0, 0 }, { "tif", NULL, 1, 6, 0 }, { "ome.tif", NULL, 0, 1, 0 } };
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) fuzz_seed_volumes(&variants[i]);
    /* A tile of 16 x 16 with 12 bits, big-endian; and two rows of one bit, packed by PackBits, in a BigTIFF. */
    static const uint8_t tile[] =
        "MM\0*\0\0\0\x08\0\x09\1\0\0\3\0\0\0\1\0\x05\0\0\1\1\0\3\0\0\0\1\0\4\0\0\1\2\0\3\0\0\0\1\0\x0c\0\0\1\3\0\3\0\0\0\1\0\1\0\0\1\6\0\3\0\0\0\1"
        "\0\1\0\0\1\x42\0\3\0\0\0\1\0\x10\0\0\1\x43\0\3\0\0\0\1\0\x10\0\0\1\x44\0\4\0\0\0\1\0\0\0\x80\1\x45\0\4\0\0\0\1\0\0\1\x80\0\0\0\0";
    uint8_t whole[0x80 + 0x180];
    memset(whole, 0x5a, sizeof whole);
    memcpy(whole, tile, sizeof tile - 1);
    fuzz_seed(whole, sizeof whole);
    static const uint8_t big[] =
        "II+\0\x08\0\0\0\x18\0\0\0\0\0\0\0\xfe\xaa\xff\x0f\0\0\0\0\x06\0\0\0\0\0\0\0"
        "\0\1\3\0\1\0\0\0\0\0\0\0\x0a\0\0\0\0\0\0\0\1\1\3\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\3\1\3\0\1\0\0\0\0\0\0\0\5\x80\0\0\0\0\0\0"
        "\6\1\3\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\x11\1\4\0\1\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\x17\1\4\0\1\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
        "\0";
    fuzz_seed(big, sizeof big - 1);
    /* An image whose planes OME-XML orders, and one that ImageJ lays behind one header. */
    static const char *const texts[] = {
        "<?xml version=\"1.0\"?><OME><Image Name=\"n\"><Pixels DimensionOrder=\"XYCZT\" SizeC=\"2\" SizeT=\"1\" SizeZ=\"1\" PhysicalSizeX=\"0.5\" "
        "PhysicalSizeXUnit=\"nm\"><Channel Name=\"a\"/><TiffData FirstC=\"1\" IFD=\"0\" PlaneCount=\"1\"><UUID FileName=\"x\"/></TiffData>"
        "<TiffData FirstC=\"9\"><UUID FileName=\"longer\"/></TiffData></Pixels>"
        "<StructuredAnnotations><M K=\"meta.k\">v</M></StructuredAnnotations></Image></OME>",
        "ImageJ=1.54f\nimages=3\nchannels=3\nunit=um\nspacing=2\nxorigin=4\ntessera.slope=2\n", "{\"shape\": [1, 1, 2, 4], \"axes\": \"TZYX\"}"
    };
    for (size_t i = 0; i < 3; i++) {
        uint8_t one[1024] = "II*"
                            "\0\x20\0\0\0ABCDEFGHIJKLMNOPQRSTUVWX\x07\0\0\1\3\0\1\0\0\0\4\0\0\0\1\1\3\0\1\0\0\0\2\0\0\0\2\1\3\0\1\0\0\0\x08\0\0\0\3\1"
                            "\3\0\1\0\0\0\1\0\0\0";
        static const uint8_t rest[] = "\x0e\1\2\0\0\2\0\0\x80\0\0\0\x11\1\4\0\1\0\0\0\x08\0\0\0\x17\1\4\0\1\0\0\0\x08\0\0\0\0\0\0\0";
        memcpy(one + 0x20 + 2 + 48, rest, sizeof rest - 1);
        snprintf((char *)one + 0x80, 0x200, "%s", texts[i]);
        fuzz_seed(one, 0x80 + 0x200);
    }
}
