/* wavelet/fast.h: wavelet coefficients in packed blocks, made to be decoded fast (docs/formats/tsc.md).
 *
 * A block is 32 coefficients in a row of a band: as many bits as the largest needs, plane after plane, 32 bits of a plane in one word. A block
 * depends on nothing but where it begins, and 32 threads that read the same word each take their own bit. */
#ifndef TSR_WAVELET_FAST_H
#define TSR_WAVELET_FAST_H

#include "device/isa.h"
#include "tessera/compress.h"
#include "wavelet/bitplanes.h"

/* Bands of one resolution to a stream; always of int32, one pass. */
TSR_ISA_DECLARE(tsr_status, tsr_fast_encode, const tsr_planes_band *bands, int32_t count, tsr_planes_stream *stream)

typedef struct tsr_fast_source {
    const uint8_t *bytes; /* NULL: all 0 */
    size_t size;
} tsr_fast_source;
/* Streams of resolutions 0 to `levels` (those a brick of `size` has) unpacked and transformed back by the inverse of jpeg53. RETURNS VIEW of the samples,
 * in `work` (tsr_fast_work bytes): int16 if `narrow`, where 16 bits are enough for everything on the way, else int32. Any bytes give samples. */
TSR_ISA_DECLARE(const void *, tsr_fast_decode, const tsr_fast_source *streams, int32_t levels, const int32_t size[3], int narrow, void *work)
static inline size_t tsr_fast_work(int64_t count, int narrow) { return (size_t)count * 5 * (narrow ? 2 : 4) + 256; }

/* int16 samples to int32, or, of types of at most 16 bits, to base + sample, saturated. */
TSR_ISA_DECLARE(void, tsr_fast_widen, const int16_t *samples, int64_t count, int32_t *wide)
TSR_ISA_DECLARE(void, tsr_fast_store, const int16_t *samples, int64_t count, int32_t base, tsr_dtype dtype, void *voxels)

#endif
