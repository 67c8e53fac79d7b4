/* light/light_cuda.cu: all steps of a wavefront in one launch: warps take 32 patches of the list at a time, whoever is free, since those that bend take many
 * times as long as others; all blocks meet to learn where the patches go in the next list, take 256 of the old ones at a time, and meet again when it is
 * written. Nothing is read by the host but the account at the end. */
#include "device/kernel.h"
#include "device/cooperative.h"
#include "light/light_ops.h"

enum { THREADS = 256, WARPS = THREADS / 32 };

typedef struct wave_work { /* in front of the sums of THREADS patches each, which are 0 between steps */
    tsr_meeting meeting;
    int64_t tight; /* the list is full in this step */
    uint32_t visits, grows; /* what has been taken */
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

/* The last block to come, all its threads: where what each THREADS patches become goes; the sum of all. */
TSR_DEVICE_FN int64_t scan_sums(int64_t *sums, int64_t count, int64_t *warps)
{
    int64_t all = 0, part;
    for (int64_t base = 0; base < count; base += THREADS) {
        const int64_t b = base + threadIdx.x, before = block_before(b < count ? sums[b] : 0, warps, &part);
        if (b < count) sums[b] = all + before;
        all += part;
    }
    return all;
}

/* What patches of a warp leave on the floor, points of one after another by all lanes. */
TSR_DEVICE_FN void land_all(const tsr_light_wave &wave, const tsr_light_fall &own)
{
    for (uint32_t left = __ballot_sync(TSR_WARP_ALL, own.lands); left; left &= left - 1u) {
        const int from = __ffs((int)left) - 1;
        tsr_light_fall fall;
        fall.lands = 1;
        for (int c = 0; c < 8; c++) fall.at[c / 4][c % 4] = __shfl_sync(TSR_WARP_ALL, own.at[c / 4][c % 4], from);
        for (int k = 0; k < 3; k++) fall.power[k] = __shfl_sync(TSR_WARP_ALL, own.power[k], from);
        tsr_light_land(&wave, &fall, (int32_t)(threadIdx.x & 31u), 32);
    }
}

/* The patch among those of the block whose parts hold number `part`: starts[] are sums of what they become. */
TSR_DEVICE_FN int32_t parent_of(const int32_t *starts, int32_t part)
{
    int32_t low = 0;
    for (int32_t step = THREADS / 2; step; step /= 2) low += starts[low + step] <= part ? step : 0;
    return low;
}

/* Patches to their fates, 32 a warp at a time; the next ones are asked for before. */
TSR_DEVICE_FN void visit_all(const tsr_light_wave &wave, int64_t step, int64_t patches, wave_work *work, int64_t *sums, tsr_light_account *own)
{
    const uint32_t lane = threadIdx.x & 31u;
    const int pass = step ? TSR_LIGHT_PASS_STEP : TSR_LIGHT_PASS_FIRST;
    uint32_t ahead = lane ? 0u : atomicAdd(&work->visits, 1u);
    for (;;) {
        const int64_t first = 32 * (int64_t)__shfl_sync(TSR_WARP_ALL, ahead, 0), i = first + lane;
        tsr_light_fall fall = {};
        if (first >= patches) break;
        ahead = lane ? 0u : atomicAdd(&work->visits, 1u);
        const int32_t become = i < patches ? tsr_light_visit(&wave, pass, step, i, own, &fall) : 0;
        land_all(wave, fall);
        const uint32_t all = __reduce_add_sync(TSR_WARP_ALL, (uint32_t)become);
        if (lane == 0 && all) atomicAdd((unsigned long long *)&sums[first / THREADS], (unsigned long long)all);
    }
}

/* Patches to the next list, THREADS a block at a time, a thread a part, whatever it is part of. */
TSR_DEVICE_FN void grow_all(const tsr_light_wave &wave, int64_t step, int64_t patches, wave_work *work, int64_t *sums, int64_t *warps,
                            int32_t *starts, uint32_t *taken)
{
    for (;;) {
        if (threadIdx.x == 0) *taken = atomicAdd(&work->grows, 1u);
        tsr_rejoin();
        __syncthreads();
        const int64_t chunk = *taken, first = chunk * THREADS, i = first + threadIdx.x;
        if (first >= patches) break;
        int64_t total;
        const int64_t to = *(volatile const int64_t *)&sums[chunk];
        starts[threadIdx.x] = (int32_t)block_before(i < patches ? tsr_light_becomes(&wave, i) : 0, warps, &total);
        __syncthreads();
        for (int32_t part = (int32_t)threadIdx.x; part < (int32_t)total; part += THREADS) {
            const int32_t parent = parent_of(starts, part);
            tsr_light_patch p;
            tsr_light_get(&wave.list[step & 1], first + parent, &p);
            tsr_light_grow_part(&wave, step, &p, wave.fate[first + parent], part - starts[parent], to + part);
        }
        if (threadIdx.x == 0) sums[chunk] = 0;
        __syncthreads();
    }
}

TSR_DEVICE_FN void note_step(tsr_light_account *account, int64_t step, int64_t patches, int64_t all)
{
    account->moved += step ? patches : 0;
    account->patches = all;
    account->peak = tsr_maxl(account->peak, all);
    account->steps = step;
}

TSR_KERNEL(__launch_bounds__(THREADS, 2) wave_kernel)(tsr_light_wave wave, int64_t first, int64_t count, wave_work *work, int64_t *sums)
{
    TSR_SHARED(tsr_light_account, own, 1);
    TSR_SHARED(int64_t, warps, WARPS);
    TSR_SHARED(uint32_t, last, 1);
    TSR_SHARED(uint32_t, taken, 1);
    TSR_SHARED(int32_t, starts, THREADS);
    tsr_light_account *account = wave.account;
    uint32_t turn = tsr_meeting_turn(&work->meeting);
    clear_account(own);
    for (int64_t s = first; s < first + count; s++) {
        const int64_t patches = *(volatile const int64_t *)&account->patches, chunks = (patches + THREADS - 1) / THREADS;
        if (!patches) break;
        visit_all(wave, s, patches, work, sums, own);
        give_account(own, account);
        if (tsr_meet(&work->meeting, &turn, last)) {
            const int64_t all = scan_sums(sums, chunks, warps);
            if (threadIdx.x == 0) {
                work->visits = work->grows = 0;
                work->tight = all > wave.capacity ? all : 0;
                if (!work->tight) note_step(account, s, patches, all);
                for (int b = 0; work->tight && b < TSR_LIGHT_BINS; b++) account->more[b] = 0;
            }
            tsr_meeting_over(&work->meeting);
        }
        const int64_t tight = *(volatile const int64_t *)&work->tight;
        if (tight) {
            for (int64_t c = blockIdx.x; c < chunks; c += gridDim.x)
                if (c * THREADS + threadIdx.x < patches) tsr_light_crowd(&wave, s, c * THREADS + threadIdx.x, own->more);
            give_account(own, account);
            tsr_meet_all(&work->meeting, &turn);
            int64_t without = tight, more[TSR_LIGHT_BINS];
            for (int b = 0; b < TSR_LIGHT_BINS; b++) {
                more[b] = *(volatile const int64_t *)&account->more[b];
                without -= more[b];
            }
            const int64_t bin = tsr_light_crowd_bin(more, without, wave.capacity);
            for (int64_t c = blockIdx.x; c < chunks; c += gridDim.x) {
                const int64_t i = c * THREADS + threadIdx.x;
                int64_t total;
                block_before(i < patches ? tsr_light_crowd_out(&wave, s, i, bin, &own->crowded) : 0, warps, &total);
                if (threadIdx.x == 0) sums[c] = total;
                tsr_rejoin();
            }
            give_account(own, account);
            if (tsr_meet(&work->meeting, &turn, last)) {
                const int64_t all = scan_sums(sums, chunks, warps);
                if (threadIdx.x == 0) note_step(account, s, patches, all);
                tsr_meeting_over(&work->meeting);
            }
        }
        grow_all(wave, s, patches, work, sums, warps, starts, taken);
        tsr_meet_all(&work->meeting, &turn);
    }
}

TSR_KERNEL(last_kernel)(tsr_light_wave wave, int64_t step)
{
    TSR_SHARED(tsr_light_account, own, 1);
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x, patches = wave.account->patches;
    clear_account(own);
    for (int64_t k = i; k < patches; k += (int64_t)gridDim.x * THREADS) (void)tsr_light_visit(&wave, TSR_LIGHT_PASS_LAST, step, k, own, NULL);
    give_account(own, wave.account);
}

/* A warp a patch. */
TSR_KERNEL(land_kernel)(tsr_light_wave wave, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32u;
    if (i < count) tsr_light_land_patch(&wave, i, (int32_t)(threadIdx.x & 31u), 32);
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
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < job.voxels; i += (int64_t)gridDim.x * THREADS)
        tsr_light_count_voxel(&job, i, own);
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

static size_t cuda_advance_bytes(int64_t capacity) { return sizeof(wave_work) + (size_t)(capacity / THREADS + 1) * sizeof(int64_t); }

static tsr_status cuda_advance(tsr_queue *queue, const tsr_light_wave *wave, int64_t first, int64_t count, void *workspace)
{
    wave_work *work = (wave_work *)workspace;
    const int32_t blocks = tsr_blocks_cooperative(queue, wave_kernel, THREADS);
    if (blocks < 1) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "this device cannot launch kernels whose blocks wait for each other");
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
    TSR_LAUNCH(queue, land_kernel, tsr_blocks(count, WARPS, INT32_MAX), THREADS, 0, *wave, count);
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
