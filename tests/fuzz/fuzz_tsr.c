/* Checksums are made right before a file is read: what they would catch is not what is looked for. */
#include <stdint.h>
#include <stdlib.h>

static uint8_t *repair(const uint8_t *bytes, size_t size);
#define FUZZ_REPAIR repair
#define FUZZ_FORMAT "tsr"
#include "fuzz/fuzz_tiles.h"

#include "formats/grids/tsr.h"
#include "io/xxh64.h"

static uint8_t *repair(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = (uint8_t *)malloc(size + 1);
    fuzz_check(copy != NULL, "memory\n");
    if (size) memcpy(copy, bytes, size);
    if (size < TSR_FILE_HEADER) return copy;
    const size_t at = tsr_get_u32(copy + TSR_AT_HEADER), extra = tsr_get_u32(copy + TSR_AT_META_BYTES);
    if (at > size || extra > size - at) return copy;
    tsr_put_u64(copy + TSR_AT_SUM, tsr_xxh64(copy + at, extra, tsr_xxh64(copy, TSR_AT_SUM, 0)));
    for (size_t c = at + extra; c <= size && size - c >= TSR_CHUNK_HEADER;) {
        const uint64_t stored = tsr_get_u64(copy + c + TSR_AT_STORED);
        if (stored > size - c - TSR_CHUNK_HEADER) break;
        const int raw = tsr_get_u32(copy + c) == TSR_CHUNK_SUMS;
        const uint64_t values = tsr_get_u64(copy + TSR_AT_VALUES_OFFSET), group = (uint64_t)512 * 512 * 2; /* of the seed: edge 8, 16 bit */
        for (uint64_t g = 0; raw && 8 * g + 8 <= stored && values <= size && g * group <= size - values; g++)
            tsr_put_u64(copy + c + TSR_CHUNK_HEADER + 8 * g,
                        tsr_xxh64(copy + values + g * group, size - values - g * group < group ? size - values - g * group : group, 0));
        tsr_put_u64(copy + c + TSR_AT_CHUNK_SUM, tsr_chunk_sum(copy + c, copy + c + TSR_CHUNK_HEADER, (int64_t)stored));
        if (raw) break;
        c += TSR_CHUNK_HEADER + (size_t)stored;
    }
    return copy;
}

void fuzz_seeds(void)
{
    static const uint16_t ages[64];
    const tsr_tiles_meta meta = { "key", "value" };
    const tsr_tiles_channel channel = { "age", TSR_U16, 1, ages };
    tsr_tiles_write_options options = TSR_TILES_WRITE_OPTIONS;
    options.compression = -1;
    options.meta = &meta;
    options.meta_count = 1;
    fuzz_tile_seed("tsr", 8, TSR_TILES_PAGED, &options);
    options.compression = 0;
    options.channels = &channel;
    options.channel_count = 1;
    fuzz_tile_seed("tsr", 4, TSR_TILES_SORTED, &options);
    options.values = TSR_TILES_Q16;
    options.compression = -1;
    fuzz_tile_seed("tsr", 4, TSR_TILES_PAGED, &options);
    options.raw = 1;
    options.channel_count = 0;
    fuzz_tile_seed("tsr", 8, TSR_TILES_SORTED, &options);
}
