/* device/dependent_launch.h: dependent launches: kernels that come up before the one ahead has ended, which hides what a launch costs (programmatic
 * dependent launch).
 *
 *   TSR_KERNEL(name)(...) { tsr_chained(); ... }                        waits there, before anything else, in all threads
 *   TSR_LAUNCH_DEPENDENT(queue, name, blocks, threads, shared_bytes, ...)
 *
 * Such a kernel may follow any work of the queue, and any may follow it. tsr_chained() is tsr_chain_wait(), before which nothing may be read or
 * written, and tsr_chain_next(), which lets the kernel behind come up as soon as all blocks of this one have; a kernel with short blocks calls the
 * second first, one that is launched plainly only the second. Where the device has no such launches, and in the emulator, they are plain ones and both
 * do nothing. */
#ifndef TSR_DEVICE_DEPENDENT_LAUNCH_H
#define TSR_DEVICE_DEPENDENT_LAUNCH_H

#include "device/kernel.h"

#ifdef TSR_EMU
#define TSR_LAUNCH_DEPENDENT TSR_LAUNCH
TSR_DEVICE_FN void tsr_chain_wait(void) {}
TSR_DEVICE_FN void tsr_chain_next(void) {}
#else
/* Has the queue's device such launches, and was its code made to wait? In device/cuda/backend.cu. */
int tsr_queue_chains(const tsr_queue *queue);

template <class... P, class... A>
static inline void tsr_launch_dependent(tsr_queue *queue, void (*kernel)(P...), dim3 blocks, dim3 threads, size_t shared, A... arguments)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    tsr_launch_with(queue, &attribute, tsr_queue_chains(queue) ? 1u : 0u, kernel, blocks, threads, shared, arguments...);
}
#define TSR_LAUNCH_DEPENDENT(queue, kernel, blocks, threads, shared, ...) tsr_launch_dependent(queue, kernel, (blocks), (threads), (shared), __VA_ARGS__)

/* What was queued earlier has ended from here on. */
TSR_DEVICE_FN void tsr_chain_wait(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" : : : "memory");
#endif
}
/* The kernel behind may come up. */
TSR_DEVICE_FN void tsr_chain_next(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}
#endif

TSR_DEVICE_FN void tsr_chained(void)
{
    tsr_chain_wait();
    tsr_chain_next();
}

#endif
