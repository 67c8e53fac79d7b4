/* device/early.h: kernels one after the other without a gap (programmatic dependent launch, compute capability 9.0 and on). For .cu files.
 *
 * A kernel that calls tsr_let_next allows the next one's blocks to come as soon as all its own have; one that is launched by TSR_LAUNCH_EARLY must begin with
 * tsr_wait_before, in all threads: what the kernels before it wrote is there after it, and nothing may be read or written before it. Where the GPU
 * cannot: an ordinary launch, and nothing. */
#ifndef TSR_DEVICE_EARLY_H
#define TSR_DEVICE_EARLY_H

#include "device/kernel.h"

#ifdef TSR_EMU
#define TSR_LAUNCH_EARLY TSR_LAUNCH
static inline void tsr_let_next(void) {}
static inline void tsr_wait_before(void) {}
#else
TSR_DEVICE_FN void tsr_let_next(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}
TSR_DEVICE_FN void tsr_wait_before(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/* Was code made that waits, for a device of this capability (90: 9.0)? What runs is the newest that is not newer than the device. */
static inline int tsr_cuda_waits(int capability)
{
    static const int made[] = { __CUDA_ARCH_LIST__ };
    int runs = 0;
    for (size_t k = 0; k < sizeof made / sizeof *made; k++)
        if (made[k] <= 10 * capability && made[k] > runs) runs = made[k];
    return runs >= 900;
}
template <class... P, class... A>
static inline void tsr_cuda_launch_early(tsr_queue *queue, void (*kernel)(P...), uint32_t blocks, uint32_t threads, size_t shared, A... arguments)
{
    const tsr_cuda_queue *q = (const tsr_cuda_queue *)queue;
    int major = 0, minor = 0;
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute early = {};
    (void)cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, q->device);
    (void)cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, q->device);
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = blocks;
    config.blockDim = threads;
    config.dynamicSmemBytes = shared;
    config.stream = tsr_cuda_stream(queue);
    config.attrs = &early;
    config.numAttrs = tsr_cuda_waits(10 * major + minor) ? 1 : 0;
    (void)cudaLaunchKernelEx(&config, kernel, (P)arguments...); /* tsr_launch_check */
}
#define TSR_LAUNCH_EARLY(queue, kernel, blocks, threads, shared, ...) \
    tsr_cuda_launch_early((queue), kernel, (blocks), (threads), (shared), __VA_ARGS__)
#endif

#endif
