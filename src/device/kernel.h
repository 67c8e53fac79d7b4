/* device/kernel.h: the language of .cu files. The same text is compiled by nvcc for the GPU and by g++ for the emulator.
 *
 *   TSR_KERNEL(name)(float *out, int64_t n) { ... }                     static __global__ void
 *   TSR_LAUNCH(queue, name, blocks, threads, shared_bytes, out, n);     asynchronous, ordered in the queue
 *   TSR_TRY(tsr_launch_check(queue));                                   after one or several launches
 *   TSR_SHARED(float, tile, 1000);                                      static shared array, not initialised
 *   TSR_SHARED_DYNAMIC(float, tile);                                    the block's shared_bytes
 *
 * Allowed inside kernels: threadIdx/blockIdx/blockDim/gridDim (.x .y .z), __syncthreads (and _or, _and, _count), __syncwarp,
 * __shfl_sync (and _up, _down, _xor), __ballot_sync, __any_sync, __all_sync, __reduce_{add,min,max,or,and}_sync, __activemask is not
 * allowed, atomicAdd/Sub/Min/Max/Or/And/Exch/CAS (and Inc) on 32- and 64-bit integers, __threadfence, __popc(ll), __ffs(ll), __clz(ll), __brev, __ldg, __dp2a_lo,
 * tsr_shared_add, tsr_hold, tsr_prefetch, tsr_copy_async and TSR_ASSUME (defined there).
 * Blocks may run in any order and one after another: a block that waits for another must take its number from an atomic ticket.
 * No formula in a .cu file: call the subject's shared header. No float atomics. Inclusions before this header: none needed. */
#ifndef TSR_DEVICE_KERNEL_H
#define TSR_DEVICE_KERNEL_H

#include "core/hd.h"
#include "core/status.h"
#include "device/backend.h"

#ifdef TSR_EMU
#include "device/emu/shim.h"
#else
#include "device/cuda/cuda_kernel.h"
#endif

/* Recorded work: between begin and end launches are recorded, not run. Replays cost one call. */
typedef struct tsr_graph tsr_graph;
tsr_status tsr_graph_begin(tsr_queue *queue);
tsr_status tsr_graph_end(tsr_queue *queue, tsr_graph **graph);
tsr_status tsr_graph_launch(tsr_queue *queue, tsr_graph *graph);
void tsr_graph_destroy(tsr_graph **graph);

/* First error of the launches since the last check. */
tsr_status tsr_launch_check(tsr_queue *queue);

/* Sets bytes of device memory, ordered in the queue. */
tsr_status tsr_queue_fill(tsr_queue *queue, void *device, int byte, size_t bytes);

/* As the backend's allocate and release: for memory that an operation needs for itself. */
tsr_status tsr_queue_allocate(tsr_queue *queue, size_t bytes, void **memory);
void tsr_queue_release(tsr_queue *queue, void *memory, size_t bytes);

/* Multiprocessors of the queue's device (emu: a small number), to size persistent grids. */
int32_t tsr_queue_processors(const tsr_queue *queue);

/* Blocks for n items at `threads` each, at most `most` (for grid-stride loops). At least 1. */
static inline uint32_t tsr_blocks(int64_t n, int64_t threads, int64_t most)
{
    int64_t blocks = (n + threads - 1) / threads;
    return (uint32_t)(blocks < 1 ? 1 : blocks > most ? most : blocks);
}

/* Blocks that a grid has at most along y and z. In the emulator few, else loops over what a grid does not hold would never go round in a test. */
#ifdef TSR_EMU
enum { TSR_GRID_MOST = 7 };
#else
enum { TSR_GRID_MOST = 65535 };
#endif

#define TSR_WARP_ALL 0xffffffffu

/* Functions inside a struct of device code. */
#define TSR_INSIDE __device__ __forceinline__

#endif
