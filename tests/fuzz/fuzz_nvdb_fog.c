/* Level sets that call themselves fog, as runs: see fuzz_nvdb.c. */
#include <stdint.h>
#include <stdlib.h>

static uint8_t *unroll(const uint8_t *bytes, size_t *size);
#define FUZZ_UNROLL unroll
#define FUZZ_FORMAT "nvdb-fog"
#include "fuzz/fuzz_tiles.h"

enum { MOST = 4 << 20 };

static uint8_t *unroll(const uint8_t *bytes, size_t *size)
{
    size_t used = 0, all = 8;
    for (size_t at = 0; at + 10 <= *size && all < MOST; at += 10) all += 8 * ((size_t)bytes[at] | (size_t)bytes[at + 1] << 8);
    uint8_t *file = (uint8_t *)malloc(all);
    fuzz_check(file != NULL, "memory\n");
    for (size_t at = 0; at + 10 <= *size; at += 10)
        for (size_t n = (size_t)bytes[at] | (size_t)bytes[at + 1] << 8; n && used + 8 <= all; n--, used += 8) memcpy(file + used, bytes + at + 2, 8);
    *size = used;
    return file;
}

static void roll(const uint8_t *level, size_t size)
{
    uint8_t out[65536], *bytes = (uint8_t *)malloc(size);
    size_t used = 0;
    memcpy(bytes, level, size);
    bytes[16 + 36] = bytes[16 + 176 + 8 + 632] = 2; /* the class */
    for (size_t at = 0; at + 8 <= size;) {
        size_t n = 1;
        while (n < 65535 && at + 8 * n + 8 <= size && !memcmp(bytes + at, bytes + at + 8 * n, 8)) n++;
        fuzz_check(used + 10 <= sizeof out, "the seed is too varied\n");
        out[used] = (uint8_t)n;
        out[used + 1] = (uint8_t)(n >> 8);
        memcpy(out + used + 2, bytes + at, 8);
        used += 10;
        at += 8 * n;
    }
    free(bytes);
    fuzz_seed(out, used);
}

void fuzz_seeds(void)
{
    tsr_tiles_write_options options = TSR_TILES_WRITE_OPTIONS;
    options.name = "1234567"; /* with its zero byte eight bytes: what follows stays aligned to the runs */
    options.compression = -1;
    fuzz_tile_seed_to("nvdb", 8, TSR_TILES_SORTED, &options, roll);
}
