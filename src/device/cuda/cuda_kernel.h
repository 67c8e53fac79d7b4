/* device/cuda/cuda_kernel.h: the kernel language on a real GPU. */
#ifndef TSR_DEVICE_CUDA_CUDA_KERNEL_H
#define TSR_DEVICE_CUDA_CUDA_KERNEL_H

#include <cuda_runtime.h>

typedef struct tsr_cuda_queue {
    tsr_queue base;
    int32_t device, processors;
    cudaStream_t stream;
    int borrowed; /* the stream is the caller's */
    void *staging;          /* pinned host memory for transfers of pageable memory, two halves */
    cudaEvent_t staged[2];
    int32_t several;        /* the machine has other GPUs, too */
} tsr_cuda_queue;

/* The queue's stream; its GPU is the calling thread's from now on: launches, and what is asked of a kernel, concern the current one. */
static inline cudaStream_t tsr_cuda_stream(tsr_queue *queue)
{
    const tsr_cuda_queue *q = (const tsr_cuda_queue *)queue;
    if (q->several) cudaSetDevice(q->device);
    return q->stream;
}

#define TSR_CUDA(call)                                                                                             \
    do {                                                                                                           \
        cudaError_t error_ = (call);                                                                               \
        if (error_ != cudaSuccess)                                                                                 \
            TSR_FAIL(error_ == cudaErrorMemoryAllocation ? TSR_ERROR_MEMORY : TSR_ERROR_DEVICE, "CUDA: %s (%s)",   \
                     cudaGetErrorString(error_), #call);                                                           \
    } while (0)

#define TSR_KERNEL(name) static __global__ void name
#define TSR_DEVICE_FN static __device__ __forceinline__
#define TSR_SHARED(type, name, count) __shared__ type name[count]
#define TSR_SHARED_DYNAMIC(type, name)                        \
    extern __shared__ __align__(16) unsigned char tsr_dynamic_[]; \
    type *name = (type *)(void *)tsr_dynamic_

/* A condition that holds. */
#define TSR_ASSUME(condition) __builtin_assume(condition)

/* atomicAdd of one lane on a word in shared memory. (Of atomicAdd itself the compiler makes a sum over the warp first.) */
TSR_DEVICE_FN uint32_t tsr_shared_add(uint32_t *word, uint32_t amount)
{
    uint32_t before;
    asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(before) : "r"((uint32_t)__cvta_generic_to_shared(word)), "r"(amount) : "memory");
    return before;
}
/* The value, which the compiler keeps in a register rather than work it out again and again. */
TSR_DEVICE_FN uint32_t tsr_hold(uint32_t v)
{
    asm volatile("" : "+r"(v));
    return v;
}
/* A pointer to global memory. */
template <class T> TSR_DEVICE_FN const T *tsr_hold(const T *v)
{
    size_t at = __cvta_generic_to_global(v);
    asm volatile("" : "+l"(at));
    return (const T *)__cvta_global_to_generic(at);
}
/* Global memory that will be read soon. */
TSR_DEVICE_FN void tsr_prefetch(const void *memory) { asm volatile("prefetch.global.L2 [%0];" : : "l"(memory)); }

/* Copies of the first `bytes` of 16 or 8 (0 for the rest) that go on while the thread does other work, in groups that the thread closes and waits for:
 * wait<N> returns when all but the last N groups have arrived. For memory that the same thread reads. Both places are aligned to 16 or 8. */
template <int SIZE> TSR_DEVICE_FN void tsr_copy_async(void *shared, const void *global, uint32_t bytes)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                 :
                 : "r"((uint32_t)__cvta_generic_to_shared(shared)), "l"(global), "n"(SIZE), "r"(bytes)
                 : "memory");
}
TSR_DEVICE_FN void tsr_copy_async_close(void) { asm volatile("cp.async.commit_group;" : : : "memory"); }
template <int N> TSR_DEVICE_FN void tsr_copy_async_wait(void) { asm volatile("cp.async.wait_group %0;" : : "n"(N) : "memory"); }

#define TSR_LAUNCH(queue, kernel, blocks, threads, shared, ...) kernel<<<(blocks), (threads), (shared), tsr_cuda_stream(queue)>>>(__VA_ARGS__)
/* The same with launch attributes; tsr_launch_check finds the error. */
template <class... P, class... A>
static inline void tsr_launch_with(tsr_queue *queue, cudaLaunchAttribute *attributes, uint32_t count, void (*kernel)(P...), dim3 blocks, dim3 threads,
                                   size_t shared, A... arguments)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = threads;
    config.dynamicSmemBytes = shared;
    config.stream = tsr_cuda_stream(queue);
    config.attrs = attributes;
    config.numAttrs = count;
    (void)cudaLaunchKernelEx(&config, kernel, (P)arguments...);
}
/* Before a launch of a kernel that may want more than 48 KiB of dynamic shared memory. */
#define TSR_LAUNCH_ALLOW_SHARED(queue, kernel, bytes) \
    TSR_CUDA(((void)tsr_cuda_stream(queue), cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)(bytes))))

#endif
