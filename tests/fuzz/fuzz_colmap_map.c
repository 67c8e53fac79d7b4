#define FUZZ_FORMAT "colmap-map"
#include "fuzz/fuzz_volume.h"

void fuzz_seeds(void)
{
    static const char depth[] = "2&1&1&\0\0\x80\x3f\0\0\0\x40", normals[] = "1&1&3&\0\0\x80\x3f\0\0\0\x40\0\0\0\0";
    fuzz_seed(depth, sizeof depth - 1);
    fuzz_seed(normals, sizeof normals - 1);
}
