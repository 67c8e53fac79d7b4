#define FUZZ_FORMAT "mrc"
#include "fuzz/fuzz_hand.h"

void fuzz_seeds(void)
{
    static const uint32_t modes[] = { 0, 1, 2, 6, 12 };
    for (int i = 0; i < 5; i++) {
        uint8_t f[1024 + 16 + 4 * 24] = { 0 };
        fuzz_put32(f, 3), fuzz_put32(f + 4, 2), fuzz_put32(f + 8, 4), fuzz_put32(f + 12, modes[i]), fuzz_put32(f + 92, i == 2 ? 16 : 0);
        for (int k = 0; k < 3; k++)
            fuzz_put32(f + 28 + 4 * k, 2), fuzz_put32(f + 40 + 4 * k, 0x40000000), fuzz_put32(f + 52 + 4 * k, i ? 0x42b40000 : 0x42a00000),
                fuzz_put32(f + 64 + 4 * k, (uint32_t)(i + k) % 3 + 1);
        fuzz_put32(f + 88, i == 1 ? 401 : 1), fuzz_put32(f + 220, 1);
        memcpy(f + 208, "MAP \x11\x11", 6);
        memcpy(f + 224, "label", 5);
        fuzz_seed(f, sizeof f);
    }
}
