/* primitives/reduce_cuda.h: what kernels that reduce share: element types as they are summed and compared, and the reduction of a block. */
#ifndef TSR_PRIMITIVES_REDUCE_CUDA_H
#define TSR_PRIMITIVES_REDUCE_CUDA_H

#include "primitives/primitives_cuda.h"

/* What a thread sums in (at most 256 elements), the order it compares in, and that order from and to keys. */
template <class T> struct element;
#define UNSIGNED_ELEMENT(T, S, O)                                       \
    template <> struct element<T> {                                     \
        typedef S sum;                                                  \
        typedef O order;                                                \
        TSR_INSIDE static order load(T v, order) { return v; }          \
        TSR_INSIDE static uint64_t key(order o) { return o; }           \
        TSR_INSIDE static order of_key(uint64_t k) { return (order)k; } \
    };
#define SIGNED_ELEMENT(T, S, O, value)                                                 \
    template <> struct element<T> {                                                    \
        typedef S sum;                                                                 \
        typedef O order;                                                               \
        TSR_INSIDE static order load(T v, order neutral)                               \
        {                                                                              \
            (void)neutral;                                                             \
            return value;                                                              \
        }                                                                              \
        TSR_INSIDE static uint64_t key(order o) { return tsr_key_signed(o); }          \
        TSR_INSIDE static order of_key(uint64_t k) { return (order)tsr_key_order(k); } \
    };
UNSIGNED_ELEMENT(uint8_t, uint32_t, uint32_t)
UNSIGNED_ELEMENT(uint16_t, uint32_t, uint32_t)
UNSIGNED_ELEMENT(uint32_t, uint64_t, uint32_t)
UNSIGNED_ELEMENT(uint64_t, uint64_t, uint64_t)
SIGNED_ELEMENT(int8_t, int32_t, int32_t, v)
SIGNED_ELEMENT(int16_t, int32_t, int32_t, v)
SIGNED_ELEMENT(int32_t, int64_t, int32_t, v)
SIGNED_ELEMENT(int64_t, uint64_t, int64_t, v) /* sums wrap */
SIGNED_ELEMENT(float, double, int32_t, tsr_order_f32(v, neutral))
SIGNED_ELEMENT(double, double, int64_t, tsr_order_f64(v, neutral))

template <int R> TSR_DEVICE_FN uint64_t merge(uint64_t a, uint64_t b)
{
    return R == TSR_REDUCE_SUM ? a + b : R == TSR_REDUCE_MIN ? (b < a ? b : a) : (b > a ? b : a);
}

/* All threads call it; thread 0 gets the result. `shared` has a value per warp. */
template <int R> TSR_DEVICE_FN uint64_t merge_block(uint64_t v, uint64_t *shared)
{
    const uint32_t lane = threadIdx.x & 31u, warp = threadIdx.x / 32u, warps = blockDim.x / 32u;
    for (int step = 16; step > 0; step /= 2) v = merge<R>(v, __shfl_xor_sync(TSR_WARP_ALL, v, step));
    if (lane == 0) shared[warp] = v;
    __syncthreads();
    if (threadIdx.x == 0)
        for (uint32_t w = 1; w < warps; w++) v = merge<R>(v, shared[w]);
    return v;
}

/* Folds 1024 lanes in shared memory; the sum is lane[0]. */
TSR_DEVICE_FN void fold(double *lane)
{
    for (uint32_t step = TSR_TILE_LANES / 2; step > 0; step /= 2) {
        __syncthreads();
        for (uint32_t l = threadIdx.x; l < step; l += blockDim.x) lane[l] += lane[l + step];
    }
}

#endif
