#define FUZZ_FORMAT "mgh"
#include "fuzz/fuzz_hand.h"

void fuzz_seeds(void)
{
    static const uint32_t types[] = { 0, 1, 3, 4, 10 };
    for (int i = 0; i < 5; i++) {
        uint8_t f[284 + 4 * 12 * 2 + 20] = { 0 };
        fuzz_put32(f, 1), fuzz_put32(f + 4, 3), fuzz_put32(f + 8, 2), fuzz_put32(f + 12, 2), fuzz_put32(f + 16, 2), fuzz_put32(f + 20, types[i]);
        fuzz_put16(f + 28, i & 1);
        for (int k = 0; k < 3; k++) fuzz_put32(f + 30 + 4 * k, 0x3f800000), fuzz_put32(f + 42 + 16 * k, 0x3f800000);
        fuzz_seed(f, sizeof f);
    }
}
