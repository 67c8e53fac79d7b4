#define FUZZ_FORMAT "las"
#include "fuzz/fuzz_format.h"

void fuzz_seeds(void)
{
    static const int bytes[] = { 20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67 };
    for (int k = 0; k < 11; k++) {
        uint8_t f[375 + 3 * 67] = "LASF";
        const int head = k < 6 ? 227 : 375;
        f[24] = 1, f[25] = k < 6 ? 2 : 4;
        f[94] = (uint8_t)head, f[95] = (uint8_t)(head >> 8), f[96] = f[94], f[97] = f[95];
        f[104] = (uint8_t)k, f[105] = (uint8_t)bytes[k], f[k < 6 ? 107 : 247] = 3;
        for (int c = 0; c < 3; c++) f[131 + 8 * c + 6] = 0x50, f[131 + 8 * c + 7] = 0x3f; /* 2^-10 */
        for (int i = 0; i < 3 * bytes[k]; i++) f[head + i] = (uint8_t)(i * 7);
        fuzz_seed(f, (size_t)(head + 3 * bytes[k]));
    }
}
