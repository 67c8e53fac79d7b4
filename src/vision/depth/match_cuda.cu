/* vision/depth/match_cuda.cu: a warp goes along each path, its lanes hold the hypotheses; eight threads look for the best of a pixel. */
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

/* All paths at once, each with a sum of its own, a byte for each hypothesis: nothing waits for the path before. K: hypotheses of a lane, side by side; those
 * beyond the padded ones stay at the value that the neighbours of the first and last one see. G: pixels whose data is fetched while as many before them are
 * worked on. */
template <int K> struct path_pixel {
    uint32_t code;
    int32_t grey;
    tsr_match_other other[K];
};

TSR_DEVICE_FN int32_t path_of(const tsr_match_job *job, int32_t n)
{
    const int32_t four[4] = { 0, 4, 1, 5 }; /* three: the first ones */
    return job->paths <= 4 ? four[n & 3] : n;
}

template <int K, int G, int VOLUME> TSR_KERNEL(path_kernel)(tsr_match_job job, int32_t first, uint8_t *parts)
{
    const int32_t w = job.width, h = job.height, path = path_of(&job, first + (int32_t)blockIdx.y);
    const int32_t lane = (int32_t)threadIdx.x % WARP, line = (int32_t)(blockIdx.x * WARPS + threadIdx.x / WARP), own = lane * K;
    const int32_t bx = tsr_match_dx(path), by = tsr_match_dy(path); /* to the pixel before */
    if (line >= (bx && by ? w + h - 1 : by ? w : h)) return;
    int32_t x, y;
    if (!by) {
        y = line;
        x = bx < 0 ? 0 : w - 1;
    } else {
        x = line < w ? line : bx < 0 ? 0 : w - 1;
        y = by < 0 ? 0 : h - 1;
        if (line >= w) y += by < 0 ? line - w + 1 : -(line - w + 1);
    }
    const int32_t across = bx < 0 ? w - x : bx ? x + 1 : w + h, down = by < 0 ? h - y : by ? y + 1 : w + h, length = tsr_mini(across, down);
    const int in = own < job.padded;
    const uint32_t end = (uint32_t)(255 - job.p1), p1 = (uint32_t)job.p1;
    const int32_t step = -(by * w + bx);
    int64_t i = (int64_t)y * w + x; /* of the pixel that is fetched next */
    uint8_t *to = parts + ((int64_t)blockIdx.y * h * w + i) * job.padded + own;
    const int64_t stride = (int64_t)step * job.padded;
    path_pixel<K> pixel[G] = {};
    uint32_t cost[G][K] = {}, last[K], p2[G] = {}, least = 0;
    int32_t grey_before = job.grey[0][i];
#pragma unroll
    for (int k = 0; k < K; k++) last[k] = in ? 0 : end;
    for (int32_t n = -G; n < length; n += G) {
#pragma unroll
        for (int g = 0; g < G; g++) {
            if (n + G + g >= length) break;
            pixel[g].grey = job.grey[0][i];
            pixel[g].code = VOLUME ? 0u : job.code[0][i];
#pragma unroll
            for (int k = 0; k < K; k++)
                if (in) pixel[g].other[k] = VOLUME ? tsr_match_look_volume(&job, i, own + k) : tsr_match_look_pair(&job, i, x, own + k);
            i += step;
            x -= bx;
        }
#pragma unroll
        for (int g = 0; g < G; g++) {
            if (n < 0 || n + g >= length) break;
            uint32_t value[K], smallest = 255;
            uint32_t below = __shfl_up_sync(TSR_WARP_ALL, last[K - 1], 1), above = __shfl_down_sync(TSR_WARP_ALL, last[0], 1);
            if (lane == 0) below = end;
            if (lane == WARP - 1) above = end;
#pragma unroll
            for (int k = 0; k < K; k++) {
                const uint32_t less = k ? last[k ? k - 1 : 0] : below, more = k + 1 < K ? last[k + 1 < K ? k + 1 : 0] : above;
                value[k] = in ? tsr_match_step_wide(cost[g][k], last[k], less, more, p1, least + p2[g], least) : end;
                smallest = value[k] < smallest ? value[k] : smallest;
            }
            least = __reduce_min_sync(TSR_WARP_ALL, smallest);
            struct alignas(K) pack {
                uint8_t v[K];
            } packed;
#pragma unroll
            for (int k = 0; k < K; k++) {
                last[k] = value[k];
                packed.v[k] = (uint8_t)value[k];
            }
            if (in) *(pack *)(void *)to = packed;
            to += stride;
        }
#pragma unroll
        for (int g = 0; g < G; g++) {
            if (n + G + g >= length) break;
            const int32_t grey = pixel[g].grey;
            p2[g] = job.p2[grey > grey_before ? grey - grey_before : grey_before - grey];
            grey_before = grey;
#pragma unroll
            for (int k = 0; k < K; k++) cost[g][k] = in ? tsr_match_cost_of(pixel[g].code, grey, pixel[g].other[k]) : 0u;
        }
    }
}

/* Four hypotheses a thread: bytes of the paths to sums of 16 bits. */
TSR_KERNEL(sum_kernel)(const uint32_t *parts, int32_t paths, int64_t words, int32_t add, uint32_t *sums)
{
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < words; i += (int64_t)gridDim.x * THREADS) {
        uint32_t even = 0, odd = 0; /* bytes 0 and 2, 1 and 3 */
        for (int32_t n = 0; n < paths; n++) {
            const uint32_t v = parts[n * words + i];
            even += v & 0x00ff00ffu;
            odd += v >> 8 & 0x00ff00ffu;
        }
        const uint32_t low = (even & 0xffffu) | odd << 16, high = even >> 16 | (odd & 0xffff0000u);
        sums[2 * i] = (add ? sums[2 * i] : 0u) + low; /* no sum of 16 bits runs over */
        sums[2 * i + 1] = (add ? sums[2 * i + 1] : 0u) + high;
    }
}

static const int64_t most_parts = 1ll << 30; /* bytes */

template <int VOLUME>
static void launch_paths(tsr_queue *queue, const tsr_match_job *job, int32_t count, int32_t first, int32_t paths, uint8_t *parts)
{
    const dim3 blocks(tsr_blocks(job->width + job->height - 1, WARPS, INT32_MAX), (uint32_t)paths), threads(WARPS * WARP);
    if (count == 1) TSR_LAUNCH(queue, (path_kernel<1, 4, VOLUME>), blocks, threads, 0, *job, first, parts);
    else if (count == 2) TSR_LAUNCH(queue, (path_kernel<2, 4, VOLUME>), blocks, threads, 0, *job, first, parts);
    else if (count <= 4) TSR_LAUNCH(queue, (path_kernel<4, 2, VOLUME>), blocks, threads, 0, *job, first, parts);
    else if (count <= 8) TSR_LAUNCH(queue, (path_kernel<8, 2, VOLUME>), blocks, threads, 0, *job, first, parts);
    else TSR_LAUNCH(queue, (path_kernel<16, 1, VOLUME>), blocks, threads, 0, *job, first, parts);
}

static tsr_status cuda_aggregate(tsr_queue *queue, const tsr_match_job *job)
{
    const int64_t one = (int64_t)job->width * job->height * job->padded;
    const int32_t at_once = (int32_t)tsr_minl(job->paths, tsr_maxl(1, most_parts / one)), count = job->padded / WARP;
    const size_t bytes = (size_t)one * (size_t)at_once;
    void *memory;
    TSR_TRY(tsr_queue_allocate(queue, bytes, &memory));
    tsr_status status = TSR_OK;
    for (int32_t n = 0; n < job->paths; n += at_once) {
        const int32_t paths = tsr_mini(at_once, job->paths - n);
        uint8_t *parts = (uint8_t *)memory;
        if (job->volume) launch_paths<1>(queue, job, count, n, paths, parts);
        else launch_paths<0>(queue, job, count, n, paths, parts);
        TSR_LAUNCH(queue, sum_kernel, tsr_blocks(one / 4, THREADS, 16 * (int64_t)tsr_queue_processors(queue)), THREADS, 0, (const uint32_t *)memory,
                   paths, one / 4, n > 0, (uint32_t *)(void *)job->sums);
    }
    TSR_TRY_GOTO(tsr_launch_check(queue), done);
done:
    tsr_queue_release(queue, memory, bytes);
    return status;
}

/* EIGHT threads a pixel, each with as many hypotheses side by side. */
enum { EIGHT = 8 };
TSR_KERNEL(best_kernel)(tsr_match_job job, uint32_t *other, int64_t count)
{
    struct alignas(16) pack {
        uint16_t v[EIGHT];
    };
    const int32_t lane = (int32_t)threadIdx.x % EIGHT;
    const int64_t pixel = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / EIGHT, i = tsr_minl(pixel, count - 1);
    const uint16_t *s = job.sums + i * job.padded;
    uint32_t key = 0xffffffffu, second = 0xffffu;
    for (int32_t d = lane * EIGHT; d < job.depths; d += EIGHT * EIGHT) {
        const pack p = *(const pack *)(const void *)(s + d);
#pragma unroll
        for (int k = 0; k < EIGHT; k++) {
            const uint32_t own = tsr_match_key(p.v[k], (uint16_t)(d + k));
            key = d + k < job.depths && own < key ? own : key;
        }
    }
    for (int step = 1; step < EIGHT; step *= 2) {
        const uint32_t there = __shfl_xor_sync(TSR_WARP_ALL, key, step);
        key = there < key ? there : key;
    }
    const int32_t at = (int32_t)(key & 0xffffu);
    if (job.uniqueness > 0) {
        for (int32_t d = lane * EIGHT; d < job.depths; d += EIGHT * EIGHT) {
            const pack p = *(const pack *)(const void *)(s + d);
#pragma unroll
            for (int k = 0; k < EIGHT; k++)
                if (d + k < job.depths && (d + k < at - 1 || d + k > at + 1) && p.v[k] < second) second = p.v[k];
        }
        for (int step = 1; step < EIGHT; step *= 2) {
            const uint32_t there = __shfl_xor_sync(TSR_WARP_ALL, second, step);
            second = there < second ? there : second;
        }
    }
    if (lane || pixel >= count) return;
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
    TSR_LAUNCH(queue, best_kernel, tsr_blocks(count * EIGHT, THREADS, INT32_MAX), THREADS, 0, *job, (uint32_t *)other, count);
    if (other) TSR_LAUNCH(queue, agree_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, *job, (const uint32_t *)other, count);
    TSR_TRY_GOTO(tsr_launch_check(queue), done);
done:
    if (other) tsr_queue_release(queue, other, (size_t)count * 4);
    return status;
}

/* A warp a row: the nearest valid pixel to the left, then to the right, of 32 pixels at once. */
TSR_KERNEL(row_kernel)(tsr_finish_job job)
{
    const int32_t lane = (int32_t)threadIdx.x % WARP, y = (int32_t)(blockIdx.x * WARPS + threadIdx.x / WARP), chunks = (job.width + WARP - 1) / WARP;
    if (y >= job.height) return;
    const int64_t row = (int64_t)y * job.width;
    float before = tsr_no_number();
    for (int32_t c = 0; c < chunks; c++) {
        const int32_t x = c * WARP + lane;
        const int valid = x < job.width && job.valid[row + x];
        const float own = valid ? job.best[row + x] + (float)job.first : tsr_no_number();
        const uint32_t all = __ballot_sync(TSR_WARP_ALL, valid), here = all & (0xffffffffu >> (WARP - 1 - lane));
        const float left = __shfl_sync(TSR_WARP_ALL, own, here ? 31 - __clz((int)here) : 0),
                    last = __shfl_sync(TSR_WARP_ALL, own, all ? 31 - __clz((int)all) : 0);
        if (x < job.width) job.row[row + x] = valid || job.fill ? here ? left : before : tsr_no_number();
        if (all) before = last;
    }
    if (!job.fill) return;
    before = tsr_no_number();
    for (int32_t c = chunks - 1; c >= 0; c--) {
        const int32_t x = c * WARP + lane;
        const int valid = x < job.width && job.valid[row + x];
        const float own = x < job.width ? job.row[row + x] : tsr_no_number();
        const uint32_t all = __ballot_sync(TSR_WARP_ALL, valid), here = all & (0xffffffffu << lane);
        const float right = __shfl_sync(TSR_WARP_ALL, own, here ? __ffs((int)here) - 1 : 0),
                    first = __shfl_sync(TSR_WARP_ALL, own, all ? __ffs((int)all) - 1 : 0);
        if (x < job.width && !valid) job.row[row + x] = tsr_finish_hole(&job, own, here ? right : before);
        if (all) before = first;
    }
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
    TSR_LAUNCH(queue, row_kernel, tsr_blocks(job->height, WARPS, INT32_MAX), WARPS * WARP, 0, *job);
    if (job->fill) TSR_LAUNCH(queue, smooth_kernel, tsr_blocks((int64_t)job->width * job->height, THREADS, INT32_MAX), THREADS, 0, *job);
    TSR_LAUNCH(queue, full_kernel, tsr_blocks((int64_t)job->full_width * job->full_height, THREADS, INT32_MAX), THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_match_ops tsr_match_cuda = { cuda_code, cuda_aggregate, cuda_select, cuda_finish };
