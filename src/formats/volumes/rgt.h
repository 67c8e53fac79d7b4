/* formats/volumes/rgt.h: layout of files of region trees (docs/formats/rgt.md), and their reader on any input. Numbers are little-endian. */
#ifndef TSR_FORMATS_RGT_H
#define TSR_FORMATS_RGT_H

#include "io/stream.h"
#include "io/xxh64.h"
#include "tessera/region_tree.h"

#define TSR_RGT_MAGIC "TSRREGN1"
enum {
    TSR_RGT_AT_DIMENSIONS = 8,
    TSR_RGT_AT_ROOT = 12,
    TSR_RGT_AT_SIZE = 16 /* x y z leaves nodes */,
    TSR_RGT_AT_CHANNELS = 56,
    TSR_RGT_AT_SPACE = 60,
    TSR_RGT_AT_AFFINE = 64,
    TSR_RGT_AT_SUM = 160,
    TSR_RGT_HEADER = 168
};

static inline int tsr_rgt_is_one(const uint8_t *head, size_t size) { return size >= 8 && !memcmp(head, TSR_RGT_MAGIC, 8); }

/* Checksum of a file: of the header up to the checksum, the structure, then the values in pieces of 4096 bytes, each seeded with the sum before. */
static inline uint64_t tsr_rgt_sum(const uint8_t *bytes, size_t size)
{
    const uint64_t nodes = tsr_get_u64(bytes + TSR_RGT_AT_SIZE + 32), dimensions = tsr_get_u32(bytes + TSR_RGT_AT_DIMENSIONS);
    size_t at = TSR_RGT_HEADER, structure = dimensions == 3 ? 2 * (size_t)nodes : (size_t)nodes;
    if (structure > size - at) structure = size - at;
    uint64_t sum = tsr_xxh64(bytes + at, structure, tsr_xxh64(bytes, TSR_RGT_AT_SUM, 0));
    for (at += structure; at < size; at += 4096) sum = tsr_xxh64(bytes + at, size - at < 4096 ? size - at : 4096, sum);
    return sum;
}

/* Outputs are NULL on entry. */
tsr_status tsr_rgt_read(tsr_input *input, tsr_region_tree **tree, tsr_volume **values);

#endif
