/* compress/fast_planes.h: wavelet coefficients in packed blocks, made to be decoded fast (docs/formats/tsc.md).
 *
 * A block is 32 coefficients in a row of a band: as many bits as the largest needs, plane after plane, 32 bits of a plane in one word. A block
 * depends on nothing but where it begins, and 32 threads that read the same word each take their own bit. */
#ifndef TSR_COMPRESS_FAST_PLANES_H
#define TSR_COMPRESS_FAST_PLANES_H

#include "device/isa.h"
#include "tessera/compress.h"
#include "compress/bitplanes.h"

/* Bands of one resolution to a stream; always of int32, one pass. */
TSR_ISA_DECLARE(tsr_status, tsr_fast_encode, const tsr_planes_band *bands, int32_t count, tsr_planes_stream *stream)

typedef struct tsr_fast_source {
    const uint8_t *bytes; /* NULL: all 0 */
    size_t size;
} tsr_fast_source;
/* The streams of one brick: of resolutions 0 to `levels`, those a brick of its size has. */
enum { TSR_FAST_STREAMS = 7, TSR_FAST_TOGETHER = 2 /* bricks whose streams are decoded at once */ };
typedef struct tsr_fast_brick {
    tsr_fast_source stream[TSR_FAST_STREAMS];
} tsr_fast_brick;
/* Streams of one brick, or of two of the same size, unpacked, or with a lookup (rans_isa.h) decoded by rANS but for stream 0, and transformed back by the
 * inverse of jpeg53. samples[k] becomes a view in `work` (tsr_fast_work bytes): int16 if `narrow`, where 16 bits are enough for everything on the
 * way, else int32. Any bytes give samples. */
struct tsr_rans_lookup;
TSR_ISA_DECLARE(void, tsr_fast_decode, const tsr_fast_brick *bricks, int32_t count, int32_t levels, const int32_t size[3], int narrow,
                const struct tsr_rans_lookup *lookup, void *work, const void **samples)
/* For `bricks` of `count` samples. */
static inline size_t tsr_fast_work(int64_t count, int32_t bricks, int narrow, int rans)
{
    const size_t one = (size_t)count * (size_t)(5 * (narrow ? 2 : 4) + (rans ? 5 : 0));
    return (size_t)bricks * ((one + 256) / 64 * 64);
}

TSR_ISA_DECLARE(void, tsr_fast_widen, const int16_t *samples, int64_t count, int32_t *wide)
/* A box of int16 samples as voxels of a type of at most 16 bits: base + sample, saturated. step: elements from row to row and from slice to slice. */
TSR_ISA_DECLARE(void, tsr_fast_store, const int16_t *samples, const int64_t step[2], const int64_t count[3], int32_t base, tsr_dtype dtype,
                void *voxels, const int64_t voxel_step[2])

#endif
