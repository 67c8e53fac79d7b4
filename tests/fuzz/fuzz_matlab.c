#define FUZZ_FORMAT "matlab"
#include "fuzz/fuzz_format.h"

#include <zlib.h>

/* A(3, 4, 2) of doubles in bytes, as MATLAB packs small whole numbers. */
void fuzz_seeds(void)
{
    for (int packed = 0; packed < 2; packed++) {
        uint8_t f[512] = "MATLAB 5.0 MAT-file", m[200] = { 14, 0, 0, 0, 88, 0, 0, 0, 6, 0, 0, 0, 8, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 12 };
        m[32] = 3, m[36] = 4, m[40] = 2; /* extents, padded to 48 */
        m[48] = 1, m[50] = 1, m[52] = 'A';
        m[56] = 2, m[60] = 24;
        for (int k = 0; k < 24; k++) m[64 + k] = (uint8_t)(k * 9);
        m[4] = 80;
        f[125] = 1, f[126] = 'I', f[127] = 'M';
        size_t size = 88;
        if (packed) {
            uLongf room = 300;
            fuzz_check(compress(f + 136, &room, m, size) == Z_OK, "compress\n");
            f[128] = 15, f[132] = (uint8_t)room;
            size = 8 + room;
        } else memcpy(f + 128, m, size);
        fuzz_seed(f, 128 + size);
    }
}
