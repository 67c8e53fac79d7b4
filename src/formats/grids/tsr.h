/* formats/grids/tsr.h: the layout of a .tsr tile file (docs/formats/tsr.md says it in full) and the coding of its chunks. All numbers little-endian. */
#ifndef TSR_FORMATS_TSR_H
#define TSR_FORMATS_TSR_H

#include "tiles/tiles_build.h"
#include "io/little_endian.h"
#include "io/packing.h"
#include "formats/format.h"
#include "formats/grids/tsr_codec_isa.h"

#define TSR_FILE_MAGIC "\x93TSR\r\n\x1a\n"
enum { TSR_FILE_MAJOR = 1, TSR_FILE_MINOR = 0, TSR_FILE_HEADER = 256, TSR_CHUNK_HEADER = 48, TSR_PAGE = 4096 };

/* Offsets in the file header. */
enum {
    TSR_AT_MAGIC = 0,
    TSR_AT_MAJOR = 8,
    TSR_AT_MINOR = 10,
    TSR_AT_HEADER = 12,
    TSR_AT_EDGE = 16,
    TSR_AT_FLAGS = 20,
    TSR_AT_VALUES = 24,
    TSR_AT_BACKGROUND = 28,
    TSR_AT_BAND = 32,
    TSR_AT_DOMAIN = 40,
    TSR_AT_AFFINE = 64,
    TSR_AT_SPACE = 160,
    TSR_AT_CHANNELS = 164,
    TSR_AT_COUNT = 168,
    TSR_AT_INSIDE_ABSENT = 176,
    TSR_AT_ACTIVE = 184,
    TSR_AT_META_COUNT = 192,
    TSR_AT_META_BYTES = 196,
    TSR_AT_VALUES_OFFSET = 200,
    TSR_AT_CODEC = 208,
    TSR_AT_CHUNK_TILES = 212,
    TSR_AT_RESERVED = 216,
    TSR_AT_SUM = 248
};
enum { TSR_FLAG_BOUNDED = 1, TSR_FLAG_PAGED = 2, TSR_FLAG_RAW = 4, TSR_FLAGS_KNOWN = 7 };

/* Offsets in a chunk header. The checksum is xxh64 of the stored bytes, seeded with xxh64 of the header's first 40 bytes. */
enum {
    TSR_AT_KIND = 0,
    TSR_AT_CHANNEL = 4,
    TSR_AT_FIRST = 8,
    TSR_AT_TILES = 16,
    TSR_AT_CHUNK_CODEC = 20,
    TSR_AT_STORED = 24,
    TSR_AT_PLAIN = 32,
    TSR_AT_CHUNK_SUM = 40
};
enum { TSR_CHUNK_KEYS = 1, TSR_CHUNK_VALUES = 2, TSR_CHUNK_SUMS = 3, TSR_CHUNK_CHANNEL = 4 };

enum { TSR_KEY_TILES = 65536, TSR_MOST_META = 65535, TSR_MOST_CHANNELS = 64, TSR_MOST_ELEMENTS = 4096 };

/* Tiles of a values chunk: 1 MiB of float32. */
static inline int32_t tsr_chunk_tiles(int32_t edge) { return edge == 8 ? 512 : 4096; }

typedef struct tsr_chunk {
    int32_t kind, channel, tiles, codec;
    int64_t first, stored, plain;
    uint64_t sum;
    const uint8_t *bytes; /* the stored ones */
} tsr_chunk;

/* ---- plain bytes: the same for every codec ---------------------------------------------------------------------------------------- */

/* Keys: differences as eight byte planes, then signs as four. 12 bytes a tile. */
void tsr_plain_keys(const uint64_t *keys, const uint32_t *inside, int64_t count, uint64_t before, uint8_t *plain);
void tsr_keys_of_plain(const uint8_t *plain, int64_t count, uint64_t before, uint64_t *keys, uint32_t *inside);

/* Values: a bit for each voxel that is not +-band ("explicit"), a bit for each other voxel that is -band, then the explicit values as byte planes. */
int64_t tsr_plain_bound(int64_t tiles, int32_t edge, int values);
/* Returns the size; `scratch` has room for TSR_SPLIT_BEYOND more u32 than there are voxels. */
int64_t tsr_plain_values(const float *const *tile, int64_t tiles, int32_t edge, float band, int values, uint32_t *scratch, uint8_t *plain);
/* tile i goes to to[i * edge^3]; `scratch` has room for TSR_JOIN_BEYOND more u32 than there are voxels. Returns the index of the first tile with a wrong value, -1
 * if none, -2 if the size does not fit the masks. */
int64_t tsr_values_of_plain(const uint8_t *plain, int64_t size, int64_t tiles, int32_t edge, float band, int values, uint32_t *scratch, float *to);

/* 16-bit code of a value and back: docs/theory/tiles.md 6; see tsr_tiles_values. Not the code of lists in memory (tiles/tile_code.h): signs are kept,
 * what is within the band stays there, and float64 may be taken. */
static inline int16_t tsr_q16(float v, float band)
{
    if (v >= band) return 32767;
    if (v <= -band) return -32767;
    double q = (double)v * 32767.0 / (double)band;
    int32_t code = (int32_t)(q < 0 ? q - 0.5 : q + 0.5);
    if (code == 0 && v < 0.0f) code = -1;
    return (int16_t)(code > 32766 ? 32766 : code < -32766 ? -32766 : code);
}
static inline float tsr_of_q16(int32_t code, float band)
{
    return code == 32767 ? band : code == -32767 ? -band : (float)((double)code * (double)band / 32767.0);
}

/* ---- chunks ---------------------------------------------------------------------------------------------------------------------------- */

void tsr_chunk_header(const tsr_chunk *chunk, uint8_t header[TSR_CHUNK_HEADER]); /* with the checksum */
uint64_t tsr_chunk_sum(const uint8_t header[TSR_CHUNK_HEADER], const uint8_t *stored, int64_t size);

tsr_status tsr_read_tsr(tsr_input *input, const tsr_tiles_read_options *options, tsr_context *context, tsr_tiles_extras *extras, tsr_tiles **tiles);
tsr_status tsr_describe_tsr(tsr_input *input, const tsr_tiles_read_options *options, tsr_tiles_extras *extras, tsr_tiles_file_info *info);

#endif
