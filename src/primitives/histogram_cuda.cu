/* primitives/histogram_cuda.cu: integer counters only. Up to 256 bins every lane of a warp has its own column of counters in shared memory (32
 * banks: no conflicts); up to 8192 bins the block shares one; above that threads add to global memory, and runs of equal bins in
 * a thread are added at once, so that constant data costs little. Bytes are counted by value, and values go to bins at the end. */
#include "primitives/primitives_cuda.h"

enum { HISTOGRAM_THREADS = 256, HISTOGRAM_LANED = 256, HISTOGRAM_SHARED = 8192 };

template <class C> struct counter {
    typedef C word;
};
template <> struct counter<uint64_t> {
    typedef unsigned long long word;
};

/* The elements of a pack to the counters of the lane's column. Bytes are loaded as words: an array of bytes costs five
 * instructions an element. */
template <class T, int N> TSR_DEVICE_FN void count_pack(const tsr_pack<T, N> *p, const tsr_bins &bins, uint32_t *column)
{
#pragma unroll
    for (int e = 0; e < N; e++) {
        const int32_t to = tsr_bin(bins, (double)p->v[e]);
        if (to >= 0) atomicAdd(column + to * 32, 1u);
    }
}
TSR_DEVICE_FN void count_pack(const tsr_pack<uint32_t, 4> *p, const tsr_bins &, uint32_t *column)
{
#pragma unroll
    for (int e = 0; e < 16; e++) {
        const uint32_t w = p->v[e / 4], bytes = (e & 3 ? w >> (8 * (e & 3) - 7) : w << 7) & 0x7f80u; /* 32 counters of 4 bytes each */
        atomicAdd((uint32_t *)(void *)((char *)column + bytes), 1u);
    }
}
template <class T> struct histogram_load {
    typedef tsr_pack<T, 16 / sizeof(T)> pack;
};
template <> struct histogram_load<uint8_t> {
    typedef tsr_pack<uint32_t, 4> pack;
};

/* shared_bins: counters per lane column (LANES 32), or of the block (LANES 1); 0: none. */
template <class T, class C, int LANES> TSR_KERNEL(histogram_tiles)(const T *data, int64_t count, tsr_bins bins, int32_t shared_bins, C *counts)
{
    enum {
        N = 16 / sizeof(T),
        BY_VALUE = sizeof(T) == 1,
        LOADS = 2 /* in flight: with 5 blocks a multiprocessor the best of 1, 2, 4 loads and 4 to 7 blocks on an H200 */
    };
    TSR_SHARED_DYNAMIC(uint32_t, local);
    typedef typename counter<C>::word word;
    const uint32_t column = LANES == 32 ? threadIdx.x & 31u : 0u;
    for (int32_t i = (int32_t)threadIdx.x; i < shared_bins * LANES; i += HISTOGRAM_THREADS) local[i] = 0;
    __syncthreads();
    const bool aligned = tsr_pack_aligned<T, N>(data);
    const int64_t step = (int64_t)gridDim.x * HISTOGRAM_THREADS * N;
    int64_t at = ((int64_t)blockIdx.x * HISTOGRAM_THREADS + threadIdx.x) * N;
    int32_t bin = -1;
    uint32_t run = 0;
    if (LANES == 32 && aligned) { /* a column per lane: equal bins cost nothing, so every element is one addition */
        for (; at + (LOADS - 1) * step + N <= count; at += LOADS * step) {
            typename histogram_load<T>::pack p[LOADS];
#pragma unroll
            for (int k = 0; k < LOADS; k++) p[k] = *(const typename histogram_load<T>::pack *)(const void *)(data + at + k * step);
#pragma unroll
            for (int k = 0; k < LOADS; k++) count_pack(&p[k], bins, local + column);
        }
    }
    for (; at < count; at += step) {
        tsr_pack<T, N> p;
        const int some = count - at < N ? (int)(count - at) : N;
        if (aligned && some == N) p = *(const tsr_pack<T, N> *)(const void *)(data + at);
        else
            for (int e = 0; e < N; e++) p.v[e] = e < some ? data[at + e] : (T)0;
#pragma unroll
        for (int e = 0; e < N; e++) {
            const int32_t next = e >= some ? -1 : BY_VALUE ? (int32_t)p.v[e] : tsr_bin(bins, (double)p.v[e]);
            if (next != bin) {
                if (bin >= 0 && shared_bins) atomicAdd(&local[bin * LANES + (int32_t)column], run);
                else if (bin >= 0) atomicAdd((word *)counts + bin, (word)run);
                bin = next;
                run = 0;
            }
            run++;
        }
    }
    if (bin >= 0 && shared_bins) atomicAdd(&local[bin * LANES + (int32_t)column], run);
    else if (bin >= 0) atomicAdd((word *)counts + bin, (word)run);
    __syncthreads();
    for (int32_t b = (int32_t)threadIdx.x; b < shared_bins; b += HISTOGRAM_THREADS) {
        word sum = 0;
        for (int32_t l = 0; l < LANES; l++) sum += local[b * LANES + ((l + b) & (LANES - 1))]; /* a different bank per thread */
        const int32_t to = BY_VALUE ? tsr_bin(bins, (double)b) : b;
        if (sum && to >= 0) atomicAdd((word *)counts + to, sum);
    }
}

/* Clears the counters, whose bytes need not be a multiple of 8. */
template <class C> TSR_KERNEL(clear_counts)(C *counts, int32_t bins)
{
    for (int32_t i = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x); i < bins; i += (int32_t)(gridDim.x * blockDim.x)) counts[i] = 0;
}

template <class T, class C> static void launch_histogram(tsr_queue *queue, const tsr_histogram_job *job)
{
    const int32_t bins = job->bins.count;
    void (*laned)(const T *, int64_t, tsr_bins, int32_t, C *) = histogram_tiles<T, C, 32>;
    void (*shared)(const T *, int64_t, tsr_bins, int32_t, C *) = histogram_tiles<T, C, 1>;
    const uint32_t blocks = tsr_blocks(job->count, HISTOGRAM_THREADS * 64, 5 * (int64_t)tsr_queue_processors(queue));
    TSR_LAUNCH(queue, clear_counts<C>, tsr_blocks(bins, 256, 64), 256, 0, (C *)job->counts, bins);
    const int32_t counters = sizeof(T) == 1 ? 256 : bins;
    if (counters <= HISTOGRAM_LANED)
        TSR_LAUNCH(queue, laned, blocks, HISTOGRAM_THREADS, (size_t)counters * 128, (const T *)job->data, job->count, job->bins, counters,
                   (C *)job->counts);
    else if (bins <= HISTOGRAM_SHARED)
        TSR_LAUNCH(queue, shared, blocks, HISTOGRAM_THREADS, (size_t)bins * 4, (const T *)job->data, job->count, job->bins, bins, (C *)job->counts);
    else TSR_LAUNCH(queue, shared, blocks, HISTOGRAM_THREADS, 0, (const T *)job->data, job->count, job->bins, 0, (C *)job->counts);
}

tsr_status tsr_cuda_histogram(tsr_queue *queue, const tsr_histogram_job *job)
{
    if (job->dtype == TSR_U8 && !job->wide) launch_histogram<uint8_t, uint32_t>(queue, job);
    else if (job->dtype == TSR_U8) launch_histogram<uint8_t, uint64_t>(queue, job);
    else if (job->dtype == TSR_U16 && !job->wide) launch_histogram<uint16_t, uint32_t>(queue, job);
    else if (job->dtype == TSR_U16) launch_histogram<uint16_t, uint64_t>(queue, job);
    else if (!job->wide) launch_histogram<float, uint32_t>(queue, job);
    else launch_histogram<float, uint64_t>(queue, job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- several axes, weights --------------------------------------------------------------------------------------------------------- */

enum { JOINT_THREADS = 256, JOINT_SHARED = 4096 };

/* shared_cells: sums of the block in shared memory, or 0. Runs of equal cells in a thread are added at once. */
TSR_KERNEL(joint_sums)(tsr_joint_job job, int32_t shared_cells)
{
    TSR_SHARED_DYNAMIC(unsigned long long, local);
    for (int32_t i = (int32_t)threadIdx.x; i < shared_cells; i += JOINT_THREADS) local[i] = 0;
    __syncthreads();
    const int64_t step = (int64_t)gridDim.x * JOINT_THREADS;
    unsigned long long *const sums = shared_cells ? local : (unsigned long long *)job.sums;
    unsigned long long run = 0;
    int32_t cell = -1;
    for (int64_t i = (int64_t)blockIdx.x * JOINT_THREADS + threadIdx.x; i < job.count; i += step) {
        const int32_t next = tsr_joint_cell(&job, i);
        if (next != cell) {
            if (cell >= 0) atomicAdd(sums + cell, run);
            cell = next;
            run = 0;
        }
        run += (unsigned long long)tsr_joint_weight(&job, i);
    }
    if (cell >= 0) atomicAdd(sums + cell, run);
    __syncthreads();
    for (int32_t i = (int32_t)threadIdx.x; i < shared_cells; i += JOINT_THREADS)
        if (local[i]) atomicAdd((unsigned long long *)job.sums + i, local[i]);
}

tsr_status tsr_cuda_joint(tsr_queue *queue, const tsr_joint_job *job)
{
    const int32_t shared = job->cells <= JOINT_SHARED ? job->cells : 0;
    tsr_launch_clear(queue, job->sums, job->cells);
    TSR_LAUNCH(queue, joint_sums, tsr_blocks(job->count, JOINT_THREADS * 16, 6 * (int64_t)tsr_queue_processors(queue)), JOINT_THREADS,
               (size_t)shared * 8, *job, shared);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
