/* volume/volume_cuda.h: the kernel operations of volume_ops.h that have files of their own, and the element type made a template argument. */
#ifndef TSR_VOLUME_VOLUME_CUDA_H
#define TSR_VOLUME_VOLUME_CUDA_H

#include "device/kernel.h"
#include "volume/volume_ops.h"

tsr_status tsr_cuda_rearrange(tsr_queue *queue, const tsr_rearrange *plan, const void *from, void *to, size_t element);
tsr_status tsr_cuda_resample(tsr_queue *queue, const tsr_resample_plan *plan, const void *from, tsr_dtype dtype, void *to);
tsr_status tsr_cuda_smooth(tsr_queue *queue, const tsr_smooth_plan *plan, const tsr_source *from, float *to, float *scratch);
tsr_status tsr_cuda_laplacian(tsr_queue *queue, const float *from, float *to, const int64_t size[3], const float inverse[3]);
size_t tsr_cuda_components_work(const int64_t size[3]);
tsr_status tsr_cuda_components(tsr_queue *queue, const uint8_t *mask, const int64_t size[3], int connectivity, uint32_t *labels, void *work,
                               uint32_t *total);
tsr_status tsr_cuda_label_sizes(tsr_queue *queue, const uint32_t *labels, int64_t count, uint64_t *sizes);
tsr_status tsr_cuda_select_labels(tsr_queue *queue, const uint32_t *labels, int64_t count, const uint8_t *keep, uint8_t *mask);

/* STATEMENT for the one type that `dtype` names, with T as a compile-time tsr_dtype: the switch leaves the kernels. */
#define TSR_FOR_DTYPE(dtype, STATEMENT)                                                        \
    switch (dtype) {                                                                           \
    case TSR_U8: { const tsr_dtype T = TSR_U8; STATEMENT; break; }                             \
    case TSR_I8: { const tsr_dtype T = TSR_I8; STATEMENT; break; }                             \
    case TSR_U16: { const tsr_dtype T = TSR_U16; STATEMENT; break; }                           \
    case TSR_I16: { const tsr_dtype T = TSR_I16; STATEMENT; break; }                           \
    case TSR_U32: { const tsr_dtype T = TSR_U32; STATEMENT; break; }                           \
    case TSR_I32: { const tsr_dtype T = TSR_I32; STATEMENT; break; }                           \
    case TSR_U64: { const tsr_dtype T = TSR_U64; STATEMENT; break; }                           \
    case TSR_I64: { const tsr_dtype T = TSR_I64; STATEMENT; break; }                           \
    case TSR_F32: { const tsr_dtype T = TSR_F32; STATEMENT; break; }                           \
    default: { const tsr_dtype T = TSR_F64; STATEMENT; break; }                                \
    }

/* Real value of voxel i of a source whose type is T. */
template <tsr_dtype T> TSR_HD double tsr_source_real(const tsr_source &s, int64_t i)
{
    return tsr_voxel_real(tsr_voxel_load(s.data, T, i), s.slope, s.intercept);
}

/* Blocks of 256 threads for a grid-stride loop over n items. */
static inline uint32_t tsr_stream_blocks(tsr_queue *queue, int64_t n) { return tsr_blocks(n, 256, 16 * (int64_t)tsr_queue_processors(queue)); }

#endif
