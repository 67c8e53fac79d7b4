/* device/cooperative.h: cooperative launches: kernels whose blocks all run at the same time and meet at barriers of the whole grid, so that steps follow
 * each other without a launch.
 *
 *   TSR_KERNEL(name)(..., tsr_meeting *meeting) { uint32_t turn = tsr_meeting_turn(meeting); ... tsr_meet_all(meeting, &turn); ... }
 *   TSR_LAUNCH_COOPERATIVE(queue, name, blocks, threads, shared_bytes, ...)      blocks: at most tsr_blocks_cooperative
 *
 * What any block wrote before a meeting all see after it. At a meeting of the other kind, tsr_meet, the last block to come is told so and may do what one block
 * does well, while the others wait, until it says tsr_meeting_over. In the emulator, where blocks run one after another, there is one. */
#ifndef TSR_DEVICE_COOPERATIVE_H
#define TSR_DEVICE_COOPERATIVE_H

#include "device/rejoin.h"

/* Device memory, zero at first; a launch leaves it ready for the next. The words lie in lines of their own: one is counted up, the other watched. */
typedef struct tsr_meeting {
    uint32_t arrived, other_line[31], over, to_its_end[31];
} tsr_meeting;

#ifdef TSR_EMU
#define TSR_LAUNCH_COOPERATIVE TSR_LAUNCH
template <class... P> static inline int32_t tsr_blocks_cooperative(tsr_queue *, void (*)(P...), int32_t) { return 1; }
TSR_DEVICE_FN uint32_t tsr_meeting_look(const uint32_t *word) { return *word; }
#else
template <class... P, class... A>
static inline void tsr_launch_cooperative(tsr_queue *queue, void (*kernel)(P...), dim3 blocks, dim3 threads, size_t shared, A... arguments)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    tsr_launch_with(queue, &attribute, 1, kernel, blocks, threads, shared, arguments...);
}
#define TSR_LAUNCH_COOPERATIVE(queue, kernel, blocks, threads, shared, ...) \
    tsr_launch_cooperative(queue, kernel, (blocks), (threads), (shared), __VA_ARGS__)

/* How many blocks of a kernel without dynamic shared memory can run at the same time; 0: the device has no such launches. */
template <class... P> static inline int32_t tsr_blocks_cooperative(tsr_queue *queue, void (*kernel)(P...), int32_t threads)
{
    int cooperates = 0, each = 0;
    tsr_cuda_stream(queue);
    if (cudaDeviceGetAttribute(&cooperates, cudaDevAttrCooperativeLaunch, ((const tsr_cuda_queue *)queue)->device) != cudaSuccess || !cooperates)
        return 0;
    if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, 0) != cudaSuccess) return 0;
    return each * tsr_queue_processors(queue);
}

TSR_DEVICE_FN uint32_t tsr_meeting_look(const uint32_t *word)
{
    uint32_t seen;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(word) : "memory");
    return seen;
}
#endif

/* Meetings so far: at the start of a kernel, before its first. */
TSR_DEVICE_FN uint32_t tsr_meeting_turn(const tsr_meeting *meeting) { return tsr_meeting_look(&meeting->over); }

/* Thread 0 of a block: comes, with all writes of its block. Is it the last? */
TSR_DEVICE_FN int tsr_meeting_come(tsr_meeting *meeting)
{
    __threadfence();
    return atomicInc(&meeting->arrived, gridDim.x - 1u) == gridDim.x - 1u;
}
/* Thread 0 of a block: waits for the end of the meeting. */
TSR_DEVICE_FN void tsr_meeting_stay(const tsr_meeting *meeting, uint32_t turn)
{
    while (tsr_meeting_look(&meeting->over) != turn) {}
}
/* Thread 0 of the last block: ends it. */
TSR_DEVICE_FN void tsr_meeting_end(tsr_meeting *meeting)
{
    __threadfence();
    atomicAdd(&meeting->over, 1u);
}

/* All threads of all blocks. */
TSR_DEVICE_FN void tsr_meet_all(tsr_meeting *meeting, uint32_t *turn)
{
    *turn += 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (tsr_meeting_come(meeting)) tsr_meeting_end(meeting);
        else tsr_meeting_stay(meeting, *turn);
        __threadfence();
    }
    __syncthreads();
}

/* The same, but for the last block to come, where it returns 1 at once, and which says when it is over; 0 in the others, then. `shared` is a word of shared
 * memory for meetings alone: slow threads read it when fast ones have gone on. */
TSR_DEVICE_FN int tsr_meet(tsr_meeting *meeting, uint32_t *turn, uint32_t *shared)
{
    *turn += 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        *shared = (uint32_t)tsr_meeting_come(meeting);
        if (!*shared) tsr_meeting_stay(meeting, *turn);
        __threadfence();
    }
    __syncthreads();
    return (int)*shared;
}
/* All threads of the last block. */
TSR_DEVICE_FN void tsr_meeting_over(tsr_meeting *meeting)
{
    __syncthreads();
    if (threadIdx.x == 0) tsr_meeting_end(meeting);
    tsr_rejoin();
}

#endif
