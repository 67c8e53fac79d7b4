#define FUZZ_FORMAT "gipl"
#include "fuzz/fuzz_hand.h"

void fuzz_seeds(void)
{
    static const unsigned types[] = { 7, 8, 15, 16, 31, 32, 64, 65 };
    for (int i = 0; i < 8; i++) {
        uint8_t f[256 + 8 * 24] = { 0 };
        fuzz_put16(f, 3), fuzz_put16(f + 2, 2), fuzz_put16(f + 4, 2), fuzz_put16(f + 6, 2), fuzz_put16(f + 8, types[i]);
        for (int k = 0; k < 3; k++) fuzz_put32(f + 10 + 4 * k, 0x3f800000);
        fuzz_put32(f + 252, 719555000u);
        fuzz_seed(f, sizeof f);
    }
}
