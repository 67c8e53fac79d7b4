#define FUZZ_FORMAT "pcd"
#include "fuzz/fuzz_points.h"

void fuzz_seeds(void)
{
    /* two points as packed columns: 12 literals, then 12 bytes copied from 12 back */
    static const char head[] = "VERSION .7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 2\nHEIGHT 1\nPOINTS 2\nDATA binary_compressed\n";
    static const unsigned char packed[] = { 16, 0, 0, 0, 24, 0, 0, 0, 11, 0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 0, 0, 7 << 5, 3, 11 };
    unsigned char seed[sizeof head + sizeof packed];
    memcpy(seed, head, sizeof head - 1);
    memcpy(seed + sizeof head - 1, packed, sizeof packed);
    fuzz_points_seeds("pcd", 0);
    fuzz_points_seeds("pcd", 1);
    fuzz_seed(seed, sizeof head - 1 + sizeof packed);
    fuzz_text_seed("# .PCD v.7\nVERSION .7\nFIELDS x y z rgb\nSIZE 8 8 8 4\nTYPE F F F U\nCOUNT 1 1 1 2\nWIDTH 2\nHEIGHT 1\nDATA ascii\n0 1 nan 4 "
                   "5\n1 2 3 4 5\n");
}
