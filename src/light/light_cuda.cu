/* light/light_cuda.cu: all steps of a wavefront in one launch: blocks that run at the same time take a share of the list each, meet to learn where their patches
 * go in the next list, and meet again when it is written. Nothing is read by the host but the account at the end. */
#include "device/kernel.h"
#include "device/cooperative.h"
#include "light/light_ops.h"

enum { THREADS = 256, WARPS = THREADS / 32 };

typedef struct wave_work { /* in front of the blocks' sums */
    tsr_meeting meeting;
    int64_t tight; /* the list is full in this step */
} wave_work;

/* Exclusive sum over the block; *total is that of all. `warps` is shared, of WARPS words. */
TSR_DEVICE_FN int64_t block_before(int64_t own, int64_t *warps, int64_t *total)
{
    const uint32_t lane = threadIdx.x & 31u, warp = threadIdx.x / 32u;
    int64_t up_to = own;
#pragma unroll
    for (uint32_t d = 1; d < 32; d *= 2) {
        const int64_t other = __shfl_up_sync(TSR_WARP_ALL, up_to, d);
        if (lane >= d) up_to += other;
    }
    if (lane == 31) warps[warp] = up_to;
    __syncthreads();
    int64_t before = 0, all = 0;
    for (uint32_t w = 0; w < WARPS; w++) {
        if (w < warp) before += warps[w];
        all += warps[w];
    }
    __syncthreads();
    *total = all;
    return before + up_to - own;
}

TSR_DEVICE_FN void clear_account(tsr_light_account *a)
{
    for (uint32_t k = threadIdx.x; k < sizeof *a / sizeof(int64_t); k += THREADS) ((int64_t *)(void *)a)[k] = 0;
    __syncthreads();
}
/* A block's sums to those of all. */
TSR_DEVICE_FN void give_account(tsr_light_account *own, tsr_light_account *all)
{
    __syncthreads();
    for (uint32_t k = threadIdx.x; k < sizeof *own / sizeof(int64_t); k += THREADS) {
        int64_t *word = (int64_t *)(void *)own + k;
        if (*word) atomicAdd((unsigned long long *)(void *)((int64_t *)(void *)all + k), (unsigned long long)*word);
        *word = 0;
    }
    __syncthreads();
}

/* The last block to come, all its threads: where each block's patches go; the sum of all. */
TSR_DEVICE_FN int64_t scan_blocks(int64_t *sums, int64_t blocks, int64_t *warps)
{
    int64_t all = 0, part;
    for (int64_t base = 0; base < blocks; base += THREADS) {
        const int64_t b = base + threadIdx.x, before = block_before(b < blocks ? sums[b] : 0, warps, &part);
        if (b < blocks) sums[b] = all + before;
        all += part;
    }
    return all;
}

TSR_KERNEL(wave_kernel)(tsr_light_wave wave, int64_t first, int64_t count, wave_work *work, int64_t *sums)
{
    TSR_SHARED(tsr_light_account, own, 1);
    TSR_SHARED(int64_t, warps, WARPS);
    TSR_SHARED(uint32_t, last, 1);
    tsr_light_account *account = wave.account;
    uint32_t turn = tsr_meeting_turn(&work->meeting);
    clear_account(own);
    for (int64_t s = first; s < first + count; s++) {
        const int64_t patches = *(volatile const int64_t *)&account->patches;
        if (!patches) break;
        const int64_t share = (patches + (int64_t)gridDim.x * THREADS - 1) / ((int64_t)gridDim.x * THREADS) * THREADS;
        const int64_t begin = tsr_minl(patches, share * (int64_t)blockIdx.x), end = tsr_minl(patches, begin + share);
        const int pass = s ? TSR_LIGHT_PASS_STEP : TSR_LIGHT_PASS_FIRST;
        int64_t total = 0, mine = 0;
        for (int64_t i = begin + threadIdx.x; i < end; i += THREADS) mine += tsr_light_visit(&wave, pass, s, i, own);
        block_before(mine, warps, &total);
        if (threadIdx.x == 0) sums[blockIdx.x] = total;
        give_account(own, account);
        if (tsr_meet(&work->meeting, &turn, last)) {
            const int64_t all = scan_blocks(sums, gridDim.x, warps);
            if (threadIdx.x == 0) {
                work->tight = all > wave.capacity ? all : 0;
                if (!work->tight) {
                    account->moved += s ? patches : 0;
                    account->patches = all;
                    account->peak = tsr_maxl(account->peak, all);
                    account->steps = s;
                }
                for (int b = 0; work->tight && b < TSR_LIGHT_BINS; b++) account->more[b] = 0;
            }
            tsr_meeting_over(&work->meeting);
        }
        const int64_t tight = *(volatile const int64_t *)&work->tight;
        if (tight) {
            for (int64_t i = begin + threadIdx.x; i < end; i += THREADS) tsr_light_crowd(&wave, s, i, own->more);
            give_account(own, account);
            tsr_meet_all(&work->meeting, &turn);
            int64_t without = tight, more[TSR_LIGHT_BINS];
            for (int b = 0; b < TSR_LIGHT_BINS; b++) {
                more[b] = *(volatile const int64_t *)&account->more[b];
                without -= more[b];
            }
            const int64_t bin = tsr_light_crowd_bin(more, without, wave.capacity);
            mine = 0;
            for (int64_t i = begin + threadIdx.x; i < end; i += THREADS) mine += tsr_light_crowd_out(&wave, s, i, bin, &own->crowded);
            block_before(mine, warps, &total);
            if (threadIdx.x == 0) sums[blockIdx.x] = total;
            give_account(own, account);
            if (tsr_meet(&work->meeting, &turn, last)) {
                const int64_t all = scan_blocks(sums, gridDim.x, warps);
                if (threadIdx.x == 0) {
                    account->moved += s ? patches : 0;
                    account->patches = all;
                    account->peak = tsr_maxl(account->peak, all);
                    account->steps = s;
                }
                tsr_meeting_over(&work->meeting);
            }
        }
        int64_t to = *(volatile const int64_t *)&sums[blockIdx.x];
        for (int64_t base = begin; base < end; base += THREADS) {
            const int64_t i = base + threadIdx.x;
            const int64_t becomes = i < end ? tsr_light_becomes(&wave, i) : 0, before = block_before(becomes, warps, &total);
            if (becomes) tsr_light_grow(&wave, s, i, to + before);
            to += total;
        }
        tsr_meet_all(&work->meeting, &turn);
    }
}

TSR_KERNEL(last_kernel)(tsr_light_wave wave, int64_t step)
{
    TSR_SHARED(tsr_light_account, own, 1);
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x, patches = wave.account->patches;
    clear_account(own);
    for (int64_t k = i; k < patches; k += (int64_t)gridDim.x * THREADS) (void)tsr_light_visit(&wave, TSR_LIGHT_PASS_LAST, step, k, own);
    give_account(own, wave.account);
}

TSR_KERNEL(land_kernel)(tsr_light_wave wave, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) tsr_light_land_patch(&wave, i);
}
TSR_KERNEL(settle_kernel)(tsr_light_wave wave, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) tsr_light_settle(&wave, i);
}
TSR_KERNEL(floor_kernel)(tsr_light_wave wave, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) tsr_light_settle_floor(&wave, i);
}

/* Sums of a block, one atomic each. */
TSR_KERNEL(census_kernel)(tsr_light_census job)
{
    TSR_SHARED(int64_t, sums, 3);
    int64_t own[3] = { 0, 0, 0 };
    if (threadIdx.x < 3) sums[threadIdx.x] = 0;
    __syncthreads();
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < job.voxels; i += (int64_t)gridDim.x * THREADS) tsr_light_count_voxel(&job, i, own);
    for (int k = 0; k < 3; k++)
        if (own[k]) atomicAdd((unsigned long long *)&sums[k], (unsigned long long)own[k]);
    __syncthreads();
    if (threadIdx.x < 3 && sums[threadIdx.x]) atomicAdd((unsigned long long *)&job.counts[threadIdx.x], (unsigned long long)sums[threadIdx.x]);
}

TSR_KERNEL(trace_kernel)(tsr_light_tracing job)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < job.count) tsr_light_ray_run(&job, i);
}

/* A warp has 8 x 4 pixels: neighbours see the same voxels. */
TSR_KERNEL(view_kernel)(tsr_light_seen job)
{
    const int32_t lane = (int32_t)(threadIdx.x & 31u), warp = (int32_t)(threadIdx.x / 32u);
    const int32_t x = (int32_t)blockIdx.x * 16 + (warp & 1) * 8 + (lane & 7), y = (int32_t)blockIdx.y * 8 + (warp / 2) * 4 + lane / 8;
    if (x < job.width && y < job.height) tsr_light_pixel(&job, (int64_t)y * job.width + x);
}

TSR_KERNEL(tone_sum_kernel)(tsr_light_tones job)
{
    TSR_SHARED(int64_t, sum, 1);
    int64_t own = 0;
    if (threadIdx.x == 0) sum[0] = 0;
    __syncthreads();
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < job.count; i += (int64_t)gridDim.x * THREADS) own += tsr_light_tone_log(&job, i);
    atomicAdd((unsigned long long *)sum, (unsigned long long)own);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd((unsigned long long *)job.sum, (unsigned long long)sum[0]);
}
TSR_KERNEL(tone_kernel)(tsr_light_tones job)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < job.count) tsr_light_tone_pixel(&job, i);
}

/* ---- operations ---- */

enum { MOST_BLOCKS = 4096 };

static size_t cuda_advance_bytes(int64_t capacity)
{
    (void)capacity;
    return sizeof(wave_work) + MOST_BLOCKS * sizeof(int64_t);
}

static tsr_status cuda_advance(tsr_queue *queue, const tsr_light_wave *wave, int64_t first, int64_t count, void *workspace)
{
    wave_work *work = (wave_work *)workspace;
    int32_t blocks = tsr_blocks_cooperative(queue, wave_kernel, THREADS);
    if (blocks < 1) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "this device cannot launch kernels whose blocks wait for each other");
    if (blocks > MOST_BLOCKS) blocks = MOST_BLOCKS;
    TSR_LAUNCH_COOPERATIVE(queue, wave_kernel, (uint32_t)blocks, THREADS, 0, *wave, first, count, work, (int64_t *)(void *)(work + 1));
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_last(tsr_queue *queue, const tsr_light_wave *wave, int64_t step)
{
    TSR_LAUNCH(queue, last_kernel, tsr_blocks(wave->capacity, THREADS, 4 * (int64_t)tsr_queue_processors(queue)), THREADS, 0, *wave, step);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_land(tsr_queue *queue, const tsr_light_wave *wave, int64_t count)
{
    TSR_LAUNCH(queue, land_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, *wave, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_settle(tsr_queue *queue, const tsr_light_wave *wave)
{
    const int64_t voxels = (int64_t)wave->medium.size[0] * wave->medium.size[1] * wave->medium.size[2], texels = (int64_t)wave->floor.size[0] * wave->floor.size[1];
    if (wave->sums) TSR_LAUNCH(queue, settle_kernel, tsr_blocks(voxels, THREADS, INT32_MAX), THREADS, 0, *wave, voxels);
    if (wave->floor.sums) TSR_LAUNCH(queue, floor_kernel, tsr_blocks(texels, THREADS, INT32_MAX), THREADS, 0, *wave, texels);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_census(tsr_queue *queue, const tsr_light_census *job)
{
    TSR_LAUNCH(queue, census_kernel, tsr_blocks(job->voxels, THREADS, 8 * (int64_t)tsr_queue_processors(queue)), THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_trace(tsr_queue *queue, const tsr_light_tracing *job)
{
    TSR_LAUNCH(queue, trace_kernel, tsr_blocks(job->count, THREADS, INT32_MAX), THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_view(tsr_queue *queue, const tsr_light_seen *job)
{
    TSR_LAUNCH(queue, view_kernel, dim3(tsr_blocks(job->width, 16, INT32_MAX), tsr_blocks(job->height, 8, INT32_MAX)), dim3(128), 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_tone_sum(tsr_queue *queue, const tsr_light_tones *job)
{
    TSR_LAUNCH(queue, tone_sum_kernel, tsr_blocks(job->count, THREADS, 4 * (int64_t)tsr_queue_processors(queue)), THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_tone(tsr_queue *queue, const tsr_light_tones *job)
{
    TSR_LAUNCH(queue, tone_kernel, tsr_blocks(job->count, THREADS, INT32_MAX), THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_light_ops tsr_light_cuda = { cuda_advance_bytes, cuda_advance, cuda_last, cuda_land, cuda_settle, cuda_census,
                                                  cuda_trace,         cuda_view,    cuda_tone_sum, cuda_tone };
