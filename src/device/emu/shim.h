/* device/emu/shim.h: the kernel language on the CPU: a test instrument, not a product.
 *
 * Every CUDA thread is a fibre. A block runs until all its fibres are done; fibres switch only at barriers and warp functions, whose
 * results are computed when the last participant arrives (and which report it when the participants disagree on the function).
 * Blocks run one after another in a shuffled order. Device memory is inaccessible to the host between kernels. */
#ifndef TSR_DEVICE_EMU_SHIM_H
#define TSR_DEVICE_EMU_SHIM_H

#include <assert.h>

#include <functional>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __restrict__ __restrict
#define __constant__

struct dim3 {
    uint32_t x, y, z;
    constexpr dim3(uint32_t x_ = 1, uint32_t y_ = 1, uint32_t z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(8) uint2 { uint32_t x, y; };
struct alignas(16) uint4 { uint32_t x, y, z, w; };
struct alignas(8) int2 { int32_t x, y; };
struct alignas(16) int4 { int32_t x, y, z, w; };
static inline float4 make_float4(float x, float y, float z, float w) { return { x, y, z, w }; }
static inline float2 make_float2(float x, float y) { return { x, y }; }
static inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w) { return { x, y, z, w }; }
static inline uint2 make_uint2(uint32_t x, uint32_t y) { return { x, y }; }

struct tsr_emu_index { uint32_t x, y, z; };
/* One kernel runs at a time, whatever the number of queues and host threads: these, and shared memory, are plain variables. A thread_local of a
 * module costs a call in every other line of a kernel. */
extern tsr_emu_index threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
extern unsigned char *tsr_emu_dynamic_shared;

enum tsr_emu_function {
    TSR_EMU_SYNC, TSR_EMU_SYNC_OR, TSR_EMU_SYNC_AND, TSR_EMU_SYNC_COUNT, /* block */
    TSR_EMU_WARP_SYNC, TSR_EMU_SHUFFLE, TSR_EMU_BALLOT, TSR_EMU_REDUCE_ADD, TSR_EMU_REDUCE_MIN, TSR_EMU_REDUCE_MAX, TSR_EMU_REDUCE_OR,
    TSR_EMU_REDUCE_AND, TSR_EMU_REDUCE_MIN_SIGNED, TSR_EMU_REDUCE_MAX_SIGNED
};
uint64_t tsr_emu_block_wait(tsr_emu_function function, uint64_t value);
/* `lane` is the lane whose value a shuffle wants. */
uint64_t tsr_emu_warp_wait(tsr_emu_function function, uint32_t mask, uint64_t value, uint32_t lane);
uint32_t tsr_emu_lane(void);
/* `kernel` is the function that `body` calls, for the list of what ran (TESSERA_EMU_LAUNCHES). */
void tsr_emu_run(tsr_queue *queue, dim3 blocks, dim3 threads, size_t shared, std::function<void()> body, const char *name, const void *kernel);

#define TSR_KERNEL(name) static void name
#define TSR_DEVICE_FN static inline
#define TSR_SHARED(type, name, count) static type name[count]
#define TSR_SHARED_DYNAMIC(type, name) type *name = (type *)(void *)tsr_emu_dynamic_shared
#define TSR_LAUNCH_ALLOW_SHARED(queue, kernel, bytes) ((void)0)
#ifdef NDEBUG
#define TSR_ASSUME(condition) ((void)sizeof(!(condition))) /* names what an assertion that is off would not */
#else
#define TSR_ASSUME(condition) assert(condition)
#endif
/* Arguments are taken by value at the launch, as on the GPU. */
template <class... P, class... A> static inline void tsr_emu_launch(tsr_queue *q, void (*kernel)(P...), const char *name, dim3 b, dim3 t, size_t s, A... a)
{
    tsr_emu_run(q, b, t, s, [=]() { kernel((P)a...); }, name, (const void *)kernel);
}
#define TSR_LAUNCH(queue, kernel, blocks, threads, shared, ...) tsr_emu_launch(queue, kernel, #kernel, (blocks), (threads), (shared), __VA_ARGS__)

static inline void __syncthreads(void) { tsr_emu_block_wait(TSR_EMU_SYNC, 0); }
static inline int __syncthreads_or(int p) { return (int)tsr_emu_block_wait(TSR_EMU_SYNC_OR, p != 0); }
static inline int __syncthreads_and(int p) { return (int)tsr_emu_block_wait(TSR_EMU_SYNC_AND, p != 0); }
static inline int __syncthreads_count(int p) { return (int)tsr_emu_block_wait(TSR_EMU_SYNC_COUNT, p != 0); }
static inline void __syncwarp(uint32_t mask = 0xffffffffu) { tsr_emu_warp_wait(TSR_EMU_WARP_SYNC, mask, 0, 0); }
static inline uint32_t __ballot_sync(uint32_t mask, int p) { return (uint32_t)tsr_emu_warp_wait(TSR_EMU_BALLOT, mask, p != 0, 0); }
static inline int __any_sync(uint32_t mask, int p) { return __ballot_sync(mask, p) != 0; }
static inline int __all_sync(uint32_t mask, int p) { return __ballot_sync(mask, !p) == 0; }

template <class T> static inline T tsr_emu_shuffle(uint32_t mask, T value, uint32_t lane)
{
    static_assert(sizeof(T) <= 8, "shuffles move at most 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = tsr_emu_warp_wait(TSR_EMU_SHUFFLE, mask, bits, lane);
    memcpy(&value, &bits, sizeof value);
    return value;
}
template <class T> static inline T __shfl_sync(uint32_t mask, T v, int lane, int width = 32)
{
    uint32_t own = tsr_emu_lane();
    return tsr_emu_shuffle(mask, v, (own & ~(uint32_t)(width - 1)) | ((uint32_t)lane & (uint32_t)(width - 1)));
}
template <class T> static inline T __shfl_up_sync(uint32_t mask, T v, unsigned delta, int width = 32)
{
    uint32_t own = tsr_emu_lane(), in = own & (uint32_t)(width - 1);
    return tsr_emu_shuffle(mask, v, in >= delta ? own - delta : own);
}
template <class T> static inline T __shfl_down_sync(uint32_t mask, T v, unsigned delta, int width = 32)
{
    uint32_t own = tsr_emu_lane(), in = own & (uint32_t)(width - 1);
    return tsr_emu_shuffle(mask, v, in + delta < (uint32_t)width ? own + delta : own);
}
template <class T> static inline T __shfl_xor_sync(uint32_t mask, T v, int bits, int width = 32)
{
    uint32_t own = tsr_emu_lane(), to = own ^ (uint32_t)bits;
    return tsr_emu_shuffle(mask, v, (to & ~(uint32_t)(width - 1)) == (own & ~(uint32_t)(width - 1)) ? to : own);
}
static inline uint32_t __reduce_add_sync(uint32_t m, uint32_t v) { return (uint32_t)tsr_emu_warp_wait(TSR_EMU_REDUCE_ADD, m, v, 0); }
static inline uint32_t __reduce_min_sync(uint32_t m, uint32_t v) { return (uint32_t)tsr_emu_warp_wait(TSR_EMU_REDUCE_MIN, m, v, 0); }
static inline uint32_t __reduce_max_sync(uint32_t m, uint32_t v) { return (uint32_t)tsr_emu_warp_wait(TSR_EMU_REDUCE_MAX, m, v, 0); }
static inline int __reduce_add_sync(uint32_t m, int v) { return (int)tsr_emu_warp_wait(TSR_EMU_REDUCE_ADD, m, (uint32_t)v, 0); }
static inline int __reduce_min_sync(uint32_t m, int v) { return (int)tsr_emu_warp_wait(TSR_EMU_REDUCE_MIN_SIGNED, m, (uint32_t)v, 0); }
static inline int __reduce_max_sync(uint32_t m, int v) { return (int)tsr_emu_warp_wait(TSR_EMU_REDUCE_MAX_SIGNED, m, (uint32_t)v, 0); }
static inline uint32_t __reduce_or_sync(uint32_t m, uint32_t v) { return (uint32_t)tsr_emu_warp_wait(TSR_EMU_REDUCE_OR, m, v, 0); }
static inline uint32_t __reduce_and_sync(uint32_t m, uint32_t v) { return (uint32_t)tsr_emu_warp_wait(TSR_EMU_REDUCE_AND, m, v, 0); }

static inline void __threadfence(void) {}
static inline void __threadfence_block(void) {}
static inline void __nanosleep(unsigned) {}
static inline int __popc(uint32_t v) { return __builtin_popcount(v); }
static inline int __popcll(uint64_t v) { return __builtin_popcountll(v); }
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline int __ffsll(long long v) { return __builtin_ffsll(v); }
static inline int __clz(int v) { return v ? __builtin_clz((uint32_t)v) : 32; }
static inline int __clzll(long long v) { return v ? __builtin_clzll((uint64_t)v) : 64; }
static inline uint32_t __brev(uint32_t v)
{
    uint32_t r = 0;
    for (int i = 0; i < 32; i++) r |= ((v >> i) & 1u) << (31 - i);
    return r;
}
static inline int __dp2a_lo(int a, int b, int c) /* the 16-bit halves of a times the two lowest bytes of b */
{
    return (int)((uint32_t)((int32_t)(int16_t)a * (int8_t)b) + (uint32_t)((a >> 16) * (int32_t)(int8_t)(b >> 8)) + (uint32_t)c);
}
template <class T> static inline T __ldg(const T *p) { return *p; }
template <class T> static inline T __ldcg(const T *p) { return *p; }
template <class T> static inline T __ldcs(const T *p) { return *p; }
template <class T> static inline void __stcs(T *p, T v) { *p = v; }
template <class T> static inline T min(T a, T b) { return b < a ? b : a; }
template <class T> static inline T max(T a, T b) { return a < b ? b : a; }

/* One OS thread runs all fibres of a kernel: plain operations are atomic. */
template <class T> struct tsr_emu_same { typedef T type; };
#define TSR_EMU_ATOMIC(name, expression)                                                       \
    template <class T> static inline T name(T *p, typename tsr_emu_same<T>::type v)            \
    {                                                                                          \
        T old = *p;                                                                            \
        *p = (expression);                                                                     \
        return old;                                                                            \
    }
TSR_EMU_ATOMIC(atomicAdd, (T)(old + v))
static inline uint32_t tsr_shared_add(uint32_t *word, uint32_t amount) { return atomicAdd(word, amount); }
template <class T> static inline T tsr_hold(T v) { return v; }
static inline void tsr_prefetch(const void *memory) { (void)memory; }
template <int SIZE> static inline void tsr_copy_async(void *shared, const void *global, uint32_t bytes)
{
    if (bytes) memcpy(shared, global, bytes);
    memset((unsigned char *)shared + bytes, 0, SIZE - bytes);
}
static inline void tsr_copy_async_close(void) {}
template <int N> static inline void tsr_copy_async_wait(void) {}
TSR_EMU_ATOMIC(atomicSub, (T)(old - v))
TSR_EMU_ATOMIC(atomicMin, v < old ? v : old)
TSR_EMU_ATOMIC(atomicMax, v > old ? v : old)
TSR_EMU_ATOMIC(atomicOr, (T)(old | v))
TSR_EMU_ATOMIC(atomicAnd, (T)(old & v))
TSR_EMU_ATOMIC(atomicXor, (T)(old ^ v))
TSR_EMU_ATOMIC(atomicExch, v)
TSR_EMU_ATOMIC(atomicInc, (T)(old >= v ? 0 : old + 1))
template <class T> static inline T atomicCAS(T *p, typename tsr_emu_same<T>::type expected, typename tsr_emu_same<T>::type v)
{
    T old = *p;
    if (old == expected) *p = v;
    return old;
}

#endif
