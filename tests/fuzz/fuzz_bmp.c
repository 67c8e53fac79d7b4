#define FUZZ_FORMAT "bmp"
#include "fuzz/fuzz_format.h"

static void seed(int bits, int packing, int colours, const char *data, size_t bytes)
{
    uint8_t f[256] = { 'B', 'M' };
    const size_t at = 54 + 4 * (size_t)colours + (packing == 3 ? 12 : 0);
    f[10] = (uint8_t)at, f[14] = 40, f[18] = 3, f[22] = 2, f[26] = 1, f[28] = (uint8_t)bits, f[30] = (uint8_t)packing, f[46] = (uint8_t)colours;
    for (size_t k = 54; k < at; k++) f[k] = (uint8_t)(k * 11);
    memcpy(f + at, data, bytes);
    fuzz_seed(f, at + bytes);
}

void fuzz_seeds(void)
{
    seed(1, 0, 2, "\x40\0\0\0\xa0\0\0\0", 8);
    seed(4, 0, 16, "\x12\x30\0\0\x45\x60\0\0", 8);
    seed(8, 0, 4, "\1\2\3\0\0\1\2\0", 8);
    seed(24, 0, 0, "abcdefghi\0\0\0abcdefghi\0\0\0", 24);
    seed(16, 3, 0, "abcdef\0\0ghijkl\0\0", 16);
    seed(32, 0, 0, "abcdabcdabcdabcdabcdabcd", 24);
    seed(8, 1, 4, "\3\1\0\0\0\3\1\2\3\0\0\1", 12);
    seed(4, 2, 16, "\3\x12\0\0\0\2\1\0\0\3\x12\x30\0\1", 14);
}
