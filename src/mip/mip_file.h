/* mip/mip_file.h: layout of files of pyramids for maximum intensity projection (docs/formats/mip.md), and their reader on any input. Little-endian. */
#ifndef TSR_MIP_MIP_FILE_H
#define TSR_MIP_MIP_FILE_H

#include "io/stream.h"
#include "io/xxh64.h"
#include "mip/mip_pyramid.h"
#include "tessera/mip.h"

#define TSR_MIP_MAGIC "TSRMIPY1"
enum {
    TSR_MIP_AT_SIZE = 8 /* x y z bricks runs coefficients */,
    TSR_MIP_AT_LEVELS = 56 /* u8: levels, bytes of a value, element, key, format, points, steps, space */,
    TSR_MIP_AT_POINTS = 64 /* 64 x 3 i8 */,
    TSR_MIP_AT_AFFINE = 256,
    TSR_MIP_AT_SCALING = 352 /* slope, intercept */,
    TSR_MIP_AT_STEPS = 368 /* 16 x (count, relative, median) */,
    TSR_MIP_AT_SUM = 752,
    TSR_MIP_HEADER = 760,
    TSR_MIP_BRICK_BYTES = 8,
    TSR_MIP_RUN_BYTES = 8
};

/* Checksum of a file: of the header up to the checksum, continued over the rest. */
static inline uint64_t tsr_mip_file_sum(const uint8_t *bytes, size_t size)
{
    return tsr_xxh64(bytes + TSR_MIP_HEADER, size - TSR_MIP_HEADER, tsr_xxh64(bytes, TSR_MIP_AT_SUM, 0));
}

/* A format error if the checksums differ. */
tsr_status tsr_mip_file_compare_sums(const char *name, uint64_t sum, uint64_t stored);

/* Where the parts of a file lie. */
typedef struct tsr_mip_body {
    int64_t bricks, runs, places, residuals, bytes;
} tsr_mip_body;
tsr_mip_body tsr_mip_body_of(const tsr_details *d);

/* The header without its checksum; a run. */
void tsr_mip_file_put_header(const tsr_mip *mip, uint8_t header[TSR_MIP_HEADER]);
void tsr_mip_file_put_run(const tsr_detail_run *run, uint8_t at[TSR_MIP_RUN_BYTES]);

/* Steps of reading: the header of a file of `size` bytes; the table of bricks into mip->brick; runs and coefficients of a brick of `d` (host memory),
 * checked, histogram[level][residual] += 1. */
tsr_status tsr_mip_file_header(const char *name, const uint8_t *header, size_t size, tsr_mip *mip);
tsr_status tsr_mip_file_bricks(const char *name, const uint8_t *bytes, tsr_mip *mip);
tsr_status tsr_mip_file_check(const char *name, const tsr_mip *mip, const tsr_details *d, int64_t brick, uint64_t *histogram);

/* *mip is NULL on entry. */
tsr_status tsr_mip_file_read(tsr_context *context, tsr_input *input, tsr_mip **mip);

#endif
