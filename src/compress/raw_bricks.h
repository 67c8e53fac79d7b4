/* compress/raw_bricks.h: bricks that coding without loss makes no smaller (noise), sample by sample as they are (docs/formats/tsc.md): the streams hold
 * the samples that their coefficients would replace, so that lower resolutions are every other sample. */
#ifndef TSR_COMPRESS_RAW_BRICKS_H
#define TSR_COMPRESS_RAW_BRICKS_H

#include "core/hd.h"

enum { TSR_RAW_PASSES = 255 /* what the directory says of raw pieces of predict and planes, whose streams have no header */ };
enum { TSR_RAW = 16, /* first byte of a raw stream: this and the bytes of a sample, 1, 2 or 4; */ TSR_RAW_HEADER = 2 /* and a 0 */ };

/* What the first byte of a stream of rans says. */
TSR_HD int tsr_raw_said(int32_t says) { return says == TSR_RAW + 1 || says == TSR_RAW + 2 || says == TSR_RAW + 4; }
/* Do its samples need more than int16? */
TSR_HD int tsr_raw_is_wide(int32_t says) { return says & TSR_RAW ? says != TSR_RAW + 1 : says == 4; }
/* Sample i of a raw stream; those of 1 and 2 bytes are not negative, those beyond the end are 0. */
TSR_HD int32_t tsr_raw_sample(const uint8_t *stream, int64_t size, int64_t i)
{
    const int32_t bytes = stream[0] - TSR_RAW;
    const uint8_t *at = stream + TSR_RAW_HEADER + i * bytes;
    uint32_t v = 0;
    if (TSR_RAW_HEADER + (i + 1) * bytes > size) return 0;
    for (int32_t k = 0; k < bytes; k++) v |= (uint32_t)at[k] << (8 * k);
    return (int32_t)v;
}

#ifndef __cplusplus
#include "compress/codec.h"

/* Bytes of all streams of a brick of these samples; *bytes: of a sample. */
int64_t tsr_raw_size(const int32_t *samples, const int32_t size[3], int32_t levels, int32_t *bytes);
/* Streams of resolution 0, and of those from 1 + absent on; they are empty before. */
tsr_status tsr_raw_encode(const int32_t *samples, const int32_t size[3], int32_t levels, int32_t absent, int32_t bytes, tsr_planes_stream *stream);
/* Samples of streams that are empty become 0. */
void tsr_raw_decode(const tsr_brick_stream *stream, const int32_t size[3], int32_t levels, int32_t absent, int32_t *samples);
#endif

#endif
