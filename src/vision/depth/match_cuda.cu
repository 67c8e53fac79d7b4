/* vision/depth/match_cuda.cu: a warp goes along each path, its lanes hold the hypotheses; another warp looks for the best of a pixel. */
#include "device/kernel.h"
#include "vision/depth/match_ops.h"

enum { THREADS = 256, WARP = 32, WARPS = 4 };

TSR_KERNEL(grey_kernel)(tsr_code_job job, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) job.grey[i] = tsr_match_grey_at(&job, i);
}
TSR_KERNEL(code_kernel)(tsr_code_job job, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) job.code[i] = tsr_match_code(job.grey, job.width, job.height, (int32_t)(i % job.width), (int32_t)(i / job.width));
}

static tsr_status cuda_code(tsr_queue *queue, const tsr_code_job *job)
{
    const int64_t count = (int64_t)job->width * job->height;
    if (job->image) TSR_LAUNCH(queue, grey_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, *job, count);
    if (job->code) TSR_LAUNCH(queue, code_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, *job, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* K: hypotheses of a lane, at least padded / WARP; hypothesis WARP k + lane. */
template <int K> TSR_KERNEL(path_kernel)(tsr_match_job job, int32_t path, int32_t lines, int32_t add)
{
    const int32_t lane = (int32_t)threadIdx.x % WARP, line = (int32_t)(blockIdx.x * WARPS + threadIdx.x / WARP);
    if (line >= lines) return;
    const int32_t w = job.width, h = job.height, count = job.padded / WARP;
    const int32_t bx = tsr_match_dx(path), by = tsr_match_dy(path); /* to the pixel before */
    int32_t x, y;
    if (!by) {
        y = line;
        x = bx < 0 ? 0 : w - 1;
    } else {
        x = line < w ? line : bx < 0 ? 0 : w - 1;
        y = by < 0 ? 0 : h - 1;
        if (line >= w) y += by < 0 ? line - w + 1 : -(line - w + 1);
    }
    uint8_t last[K];
    uint8_t least = 0;
    int32_t grey_before = job.grey[0][(int64_t)y * w + x];
    for (int k = 0; k < K; k++) last[k] = 0;
    for (; x >= 0 && y >= 0 && x < w && y < h; x -= bx, y -= by) {
        const int64_t i = (int64_t)y * w + x;
        const int32_t grey = job.grey[0][i], difference = grey > grey_before ? grey - grey_before : grey_before - grey;
        const uint8_t jump = (uint8_t)(least + job.p2[difference]), end = (uint8_t)(255 - job.p1);
        uint8_t next[K], smallest = 255;
        grey_before = grey;
        for (int k = 0; k < K; k++) {
            if (k >= count) break;
            uint32_t less = __shfl_up_sync(TSR_WARP_ALL, (uint32_t)last[k], 1), more = __shfl_down_sync(TSR_WARP_ALL, (uint32_t)last[k], 1);
            const uint32_t below = k ? __shfl_sync(TSR_WARP_ALL, (uint32_t)last[k ? k - 1 : 0], WARP - 1) : end;
            const uint32_t above = k + 1 < count ? __shfl_sync(TSR_WARP_ALL, (uint32_t)last[k + 1 < K ? k + 1 : k], 0) : end;
            if (lane == 0) less = below;
            if (lane == WARP - 1) more = above;
            next[k] = tsr_match_step(tsr_match_cost_at(&job, x, y, WARP * k + lane), last[k], (uint8_t)less, (uint8_t)more, (uint8_t)job.p1, jump, least);
            smallest = next[k] < smallest ? next[k] : smallest;
        }
        least = (uint8_t)__reduce_min_sync(TSR_WARP_ALL, (uint32_t)smallest);
        for (int k = 0; k < K; k++) {
            if (k >= count) break;
            uint16_t *s = job.sums + i * job.padded + WARP * k + lane;
            *s = (uint16_t)((add ? *s : 0) + next[k]);
            last[k] = next[k];
        }
    }
}

static tsr_status cuda_aggregate(tsr_queue *queue, const tsr_match_job *job)
{
    static const int32_t four[4] = { 0, 4, 1, 5 }; /* three: the first ones */
    const int32_t count = job->padded / WARP;
    for (int32_t n = 0; n < job->paths; n++) {
        const int32_t path = job->paths <= 4 ? four[n] : n, slanted = tsr_match_dx(path) && tsr_match_dy(path);
        const int32_t lines = slanted ? job->width + job->height - 1 : tsr_match_dy(path) ? job->width : job->height;
        const uint32_t blocks = tsr_blocks(lines, WARPS, INT32_MAX);
        if (count == 1) TSR_LAUNCH(queue, path_kernel<1>, blocks, WARPS * WARP, 0, *job, path, lines, n > 0);
        else if (count == 2) TSR_LAUNCH(queue, path_kernel<2>, blocks, WARPS * WARP, 0, *job, path, lines, n > 0);
        else if (count <= 4) TSR_LAUNCH(queue, path_kernel<4>, blocks, WARPS * WARP, 0, *job, path, lines, n > 0);
        else if (count <= 8) TSR_LAUNCH(queue, path_kernel<8>, blocks, WARPS * WARP, 0, *job, path, lines, n > 0);
        else TSR_LAUNCH(queue, path_kernel<16>, blocks, WARPS * WARP, 0, *job, path, lines, n > 0);
    }
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

TSR_KERNEL(best_kernel)(tsr_match_job job, uint32_t *other, int64_t count)
{
    const int32_t lane = (int32_t)threadIdx.x % WARP;
    const int64_t i = (int64_t)blockIdx.x * WARPS + threadIdx.x / WARP;
    if (i >= count) return;
    const uint16_t *s = job.sums + i * job.padded;
    uint32_t key = 0xffffffffu, second = 0xffffu;
    for (int32_t d = lane; d < job.depths; d += WARP) {
        const uint32_t own = tsr_match_key(s[d], (uint16_t)d);
        key = own < key ? own : key;
    }
    key = __reduce_min_sync(TSR_WARP_ALL, key);
    const int32_t at = (int32_t)(key & 0xffffu);
    if (job.uniqueness > 0) {
        for (int32_t d = lane; d < job.depths; d += WARP)
            if ((d < at - 1 || d > at + 1) && s[d] < second) second = s[d];
        second = __reduce_min_sync(TSR_WARP_ALL, second);
    }
    if (lane) return;
    const int32_t best = (int32_t)(key >> 16);
    job.index[i] = (uint16_t)at;
    job.score[i] = (uint16_t)best;
    job.best[i] = (float)at + (at > 0 && at < job.depths - 1 ? tsr_match_vertex(s[at - 1], best, s[at + 1]) : 0.0f);
    job.valid[i] = (uint8_t)(second * (uint32_t)(100 - job.uniqueness) >= (uint32_t)best * 100u);
    if (!other) return;
    const int32_t xo = (int32_t)(i % job.width) - job.first - at;
    if (xo < 0 || xo >= job.width) job.valid[i] = 0;
    else atomicMin(&other[i / job.width * job.width + xo], key);
}
TSR_KERNEL(agree_kernel)(tsr_match_job job, const uint32_t *other, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    const int32_t xo = (int32_t)(i % job.width) - job.first - job.index[i];
    if (xo >= 0 && xo < job.width && !tsr_match_agrees(other[i / job.width * job.width + xo], job.index[i], job.consistency)) job.valid[i] = 0;
}

static tsr_status cuda_select(tsr_queue *queue, const tsr_match_job *job)
{
    const int64_t count = (int64_t)job->width * job->height;
    void *other = NULL;
    tsr_status status = TSR_OK;
    if (!job->volume && job->consistency >= 0) {
        TSR_TRY(tsr_queue_allocate(queue, (size_t)count * 4, &other));
        TSR_TRY_GOTO(tsr_queue_fill(queue, other, 255, (size_t)count * 4), done);
    }
    TSR_LAUNCH(queue, best_kernel, tsr_blocks(count, WARPS, INT32_MAX), WARPS * WARP, 0, *job, (uint32_t *)other, count);
    if (other) TSR_LAUNCH(queue, agree_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, *job, (const uint32_t *)other, count);
    TSR_TRY_GOTO(tsr_launch_check(queue), done);
done:
    if (other) tsr_queue_release(queue, other, (size_t)count * 4);
    return status;
}

TSR_KERNEL(row_kernel)(tsr_finish_job job)
{
    const int32_t y = (int32_t)(blockIdx.x * WARP + threadIdx.x);
    if (y < job.height) tsr_finish_row(&job, y);
}
TSR_KERNEL(smooth_kernel)(tsr_finish_job job)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < (int64_t)job.width * job.height) tsr_finish_smooth(&job, (int32_t)(i % job.width), (int32_t)(i / job.width));
}
TSR_KERNEL(full_kernel)(tsr_finish_job job)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < (int64_t)job.full_width * job.full_height) tsr_finish_full(&job, i);
}

static tsr_status cuda_finish(tsr_queue *queue, const tsr_finish_job *job)
{
    TSR_LAUNCH(queue, row_kernel, tsr_blocks(job->height, WARP, INT32_MAX), WARP, 0, *job);
    if (job->fill) TSR_LAUNCH(queue, smooth_kernel, tsr_blocks((int64_t)job->width * job->height, THREADS, INT32_MAX), THREADS, 0, *job);
    TSR_LAUNCH(queue, full_kernel, tsr_blocks((int64_t)job->full_width * job->full_height, THREADS, INT32_MAX), THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_match_ops tsr_match_cuda = { cuda_code, cuda_aggregate, cuda_select, cuda_finish };
