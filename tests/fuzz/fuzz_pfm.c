#define FUZZ_FORMAT "pfm"
#include "fuzz/fuzz_volume.h"

void fuzz_seeds(void)
{
    static const char little[] = "Pf\n2 1\n-1.0\n\0\0\x80\x3f\0\0\0\x40", big[] = "PF 1 1\n1\n\x3f\x80\0\0\x40\0\0\0\0\0\0\0";
    fuzz_seed(little, sizeof little - 1);
    fuzz_seed(big, sizeof big - 1);
}
