/* mip/mip_cuda.cu: a block per brick, brightest first. The pixels that a brick can touch are copied into shared memory; values that nothing of the copy
 * lies below are left out; the rest is drawn there and what grew goes back, every so often both ways. The threads go through as many runs at a time as they
 * are and share out their coefficients. */
#include "device/kernel.h"
#include "mip/mip_ops.h"

enum { THREADS = 256, WARPS = THREADS / 32, BOX_MOST = 11000 /* pixels of a brick's box in shared memory */ };
/* Measured on an H200: 64 threads win by a few percent below a fifth of the coefficients, and lose as much as that above and twice it in large pictures; without a
 * bound the registers leave room for half the blocks. */
enum { BRICK_THREADS = 128, BRICK_WARPS = BRICK_THREADS / 32, BRICK_BLOCKS = 12, LOOK = 12 /* coefficients of a thread between exchanges */ };

/* Coefficients of 32 runs, of which lane l has `count`: numbers from `before` on, `all` together. */
struct share {
    uint32_t before, all;
};
TSR_DEVICE_FN share share_out(uint32_t count, uint32_t lane)
{
    uint32_t up_to = count;
    for (uint32_t s = 1; s < 32; s *= 2) {
        const uint32_t other = __shfl_up_sync(TSR_WARP_ALL, up_to, s);
        if (lane >= s) up_to += other;
    }
    share r;
    r.before = up_to - count;
    r.all = __shfl_sync(TSR_WARP_ALL, up_to, 31);
    return r;
}
/* The lane whose run holds coefficient number k0 + lane: the last one with before <= k. Mostly it is the same for all lanes. */
TSR_DEVICE_FN uint32_t owner(const share &s, uint32_t k0, uint32_t lane)
{
    const uint32_t last = s.all - 1 < k0 + 31 ? s.all - 1 : k0 + 31;
    const uint32_t least = (uint32_t)__popc(__ballot_sync(TSR_WARP_ALL, s.before <= k0)) - 1u;
    const uint32_t most = (uint32_t)__popc(__ballot_sync(TSR_WARP_ALL, s.before <= last)) - 1u;
    if (least == most) return least;
    uint32_t own = 0;
    for (uint32_t step = 16; step > 0; step /= 2)
        if (__shfl_sync(TSR_WARP_ALL, s.before, (int)(own + step)) <= k0 + lane) own += step;
    return own;
}

/* What a lane knows of its run. */
struct own_run {
    uint32_t first; /* coefficient, from the brick's first */
    uint32_t count, value;
    int32_t level;
    int32_t u, v; /* anchor of the brick's first coefficient of this level in its box */
};
TSR_DEVICE_FN own_run load_run(const tsr_mip_job &job, uint32_t k, uint32_t end, uint32_t least, int32_t high)
{
    own_run own = {};
    if (k >= end) return own;
    const tsr_detail_run r = job.d.run[k];
    const uint32_t value = tsr_mip_shown(&job, r.value), to = job.d.to[k], from = job.refine ? job.d.from[k] : 0u;
    if (value <= least || r.level < job.level_low || r.level > high) return own;
    own.first = (uint32_t)r.first + from;
    own.count = to - from;
    own.value = value;
    own.level = r.level;
    return own;
}

/* The run of coefficient number k0 + lane of those shared out; returns the coefficient, from the brick's first. */
TSR_DEVICE_FN uint32_t hand_over(const own_run &own, const share &s, uint32_t k0, uint32_t lane, own_run *run)
{
    const int from = (int)owner(s, k0, lane);
    run->value = __shfl_sync(TSR_WARP_ALL, own.value, from);
    run->level = __shfl_sync(TSR_WARP_ALL, own.level, from);
    run->u = __shfl_sync(TSR_WARP_ALL, own.u, from);
    run->v = __shfl_sync(TSR_WARP_ALL, own.v, from);
    return __shfl_sync(TSR_WARP_ALL, own.first, from) + k0 + lane - __shfl_sync(TSR_WARP_ALL, s.before, from);
}

/* A voxel of the brick in its box, and the pixels across and down from there. */
TSR_DEVICE_FN void draw_rectangle(const tsr_mip_job &job, const own_run &run, int32_t width, uint32_t *pixels, int32_t x, int32_t y, int32_t z,
                                  int32_t across, int32_t down)
{
    const int32_t shift = 16 + job.shift;
    const int32_t u = (run.u + job.p.u[0] * x + job.p.u[1] * y + job.p.u[2] * z) >> shift;
    const int32_t v = (run.v + job.p.v[0] * x + job.p.v[1] * y + job.p.v[2] * z) >> shift;
    uint32_t *row = pixels + v * width + u;
    if (*row < run.value) atomicMax(row, run.value);
    if (across == 1 && down == 1) return;
    for (int32_t b = 0; b < down; b++, row += width)
        for (int32_t a = 0; a < across; a++)
            if (row[a] < run.value) atomicMax(row + a, run.value);
}

/* A coefficient at `place` of its brick, drawn with what its run knows. */
TSR_DEVICE_FN void draw_in_box(const tsr_mip_job &job, const own_run &run, int32_t width, uint32_t *pixels, uint32_t place)
{
    const int32_t x = (int32_t)(place & 31u) << run.level, y = (int32_t)(place >> 5 & 31u) << run.level, z = (int32_t)(place >> 10) << run.level;
    if (!job.exact) {
        const int32_t *side = job.cover[run.level].side;
        draw_rectangle(job, run, width, pixels, x, y, z, job.shift ? 1 : side[0], job.shift ? 1 : side[1]);
        return;
    }
    const int32_t side = 1 << run.level;
    for (int32_t oz = 0; oz < side; oz++)
        for (int32_t oy = 0; oy < side; oy++)
            for (int32_t ox = 0; ox < side; ox++) draw_rectangle(job, run, width, pixels, x + ox, y + oy, z + oz, 1, 1);
}

/* ---- bricks in shared memory --------------------------------------------------------------------------------------------------------------- */

/* What the threads of a brick share beside its pixels. */
struct brick_work {
    tsr_mip_box box;
    float inverse; /* of the width */
    uint32_t leasts[BRICK_WARPS], sums[BRICK_WARPS];
    uint32_t begin[TSR_MIP_LEVELS + 1], count[TSR_MIP_LEVELS + 1]; /* per level: runs of the batch */
    uint32_t end[BRICK_THREADS];                                   /* by level upwards, then value downwards: coefficients up to and with this run */
    uint32_t first[BRICK_THREADS];                                 /* coefficient number k of the batch is first + k of the brick */
    uint32_t look[BRICK_THREADS];                                  /* value | level << 16 */
};

/* Pixel i of the box. */
TSR_DEVICE_FN int32_t row_of(const brick_work &w, int32_t i) { return (int32_t)(((float)i + 0.5f) * w.inverse); }

TSR_DEVICE_FN uint32_t block_least(uint32_t least, brick_work &w)
{
    least = __reduce_min_sync(TSR_WARP_ALL, least);
    if ((threadIdx.x & 31u) == 0) w.leasts[threadIdx.x / 32u] = least;
    __syncthreads();
    for (uint32_t k = 0; k < BRICK_WARPS; k++) least = min(w.leasts[k], least);
    return least;
}

/* Pixels of the picture into the box; what is out of the brick's reach is as bright as can be. Returns the least, the same for all threads. */
TSR_DEVICE_FN uint32_t load_box(const tsr_mip_job &job, brick_work &w, uint32_t *pixels)
{
    const int32_t width = w.box.width, area = width * w.box.height;
    uint32_t least = UINT32_MAX;
    for (int32_t i = (int32_t)threadIdx.x; i < area; i += BRICK_THREADS) {
        const int32_t y = row_of(w, i), x = i - y * width;
        const int64_t px = w.box.x + x, py = w.box.y + y;
        uint32_t v = UINT32_MAX;
        if (tsr_mip_span_has(&job, x, y) && (w.box.inside || (px >= 0 && py >= 0 && px < job.width && py < job.height)))
            v = __ldcg(&job.image[py * job.width + px]);
        pixels[i] = v;
        least = min(least, v);
    }
    return block_least(least, w);
}

/* Box and picture take the larger pixels of each other. Returns the least. */
TSR_DEVICE_FN uint32_t exchange(const tsr_mip_job &job, brick_work &w, uint32_t *pixels)
{
    const int32_t width = w.box.width, area = width * w.box.height;
    uint32_t least = UINT32_MAX;
    __syncthreads();
    for (int32_t i = (int32_t)threadIdx.x; i < area; i += BRICK_THREADS) {
        const uint32_t v = pixels[i];
        if (v == UINT32_MAX) continue;
        const int32_t y = row_of(w, i);
        uint32_t *p = job.image + (w.box.y + y) * job.width + w.box.x + (i - y * width);
        const uint32_t g = __ldcg(p);
        if (g < v) atomicMax(p, v);
        else pixels[i] = g;
        least = min(least, max(g, v));
    }
    return block_least(least, w);
}

/* A batch: runs [first, end) of the brick, at most one per thread, with something brighter than `least` to draw. Returns their coefficients. */
TSR_DEVICE_FN uint32_t load_batch(const tsr_mip_job &job, uint32_t first, uint32_t end, uint32_t least, brick_work &w)
{
    const uint32_t t = threadIdx.x, lane = t & 31u, warp = t / 32u, k = first + t;
    const own_run own = load_run(job, k, end, least, job.level_high);
    const int32_t level = k < end ? job.d.run[k].level : -1;
    if (t <= (uint32_t)TSR_MIP_LEVELS) w.count[t] = 0;
    __syncthreads();
    if (k < end && (t == 0 || job.d.run[k - 1].level != level)) w.begin[level] = t;
    if (k < end) atomicAdd(&w.count[level], 1u);
    __syncthreads();
    uint32_t to = t;
    if (k < end) {
        to = t - w.begin[level];
        for (int32_t j = 0; j < level; j++) to += w.count[j];
    }
    w.end[to] = own.count;
    w.look[to] = own.value | (uint32_t)own.level << 16;
    w.first[to] = own.first;
    __syncthreads();
    const share s = share_out(w.end[t], lane);
    if (lane == 31) w.sums[warp] = s.all;
    __syncthreads();
    uint32_t before = s.before, all = 0;
    for (uint32_t i = 0; i < BRICK_WARPS; i++) {
        before += i < warp ? w.sums[i] : 0u;
        all += w.sums[i];
    }
    w.end[t] += before;
    w.first[t] -= before;
    __syncthreads();
    return all;
}

/* Coarse levels are dark where fine ones are bright, so the finest goes first. Every so often box and picture are exchanged: what nothing of them lies
 * below is left out. `edge`: blocks of the brick reach out of the volume, one by one then (see tsr_mip_coefficient). */
TSR_DEVICE_FN void draw_batch(const tsr_mip_job &job, int64_t brick, const tsr_detail_brick &b, uint32_t *pixels, uint32_t all, uint32_t *least,
                              brick_work &w, int edge)
{
    const uint16_t *places = (const uint16_t *)job.d.place + b.first;
    const int32_t width = w.box.width;
    uint32_t since = 0, i0 = 0;
    for (uint32_t k0 = 0; k0 < all; k0 += BRICK_THREADS) {
        while (i0 < BRICK_THREADS && (w.end[i0] <= k0 || (w.look[i0] & 0xffffu) <= *least)) { /* dark ones are passed over */
            k0 = max(k0, w.end[i0]);
            i0++;
        }
        if (k0 >= all) break;
        const uint32_t k = k0 + threadIdx.x;
        if (k < all) {
            uint32_t i = i0;
            while (w.end[i] <= k) i++;
            own_run run;
            run.value = w.look[i] & 0xffffu;
            run.level = (int32_t)(w.look[i] >> 16);
            const uint32_t at = w.first[i] + k;
            if (run.value > *least && !edge) {
                run.u = w.box.u[run.level];
                run.v = w.box.v[run.level];
                draw_in_box(job, run, width, pixels, places[at]);
            } else if (run.value > *least) {
                tsr_mip_canvas canvas;
                int32_t n[3];
                canvas.pixels = pixels;
                canvas.stride = width;
                canvas.origin = w.box.y * width + w.box.x;
                canvas.width = job.width;
                canvas.height = job.height;
                tsr_detail_get(&job.d, b.first + at, run.level, brick, n);
                tsr_mip_coefficient(&job, &canvas, run.level, n, run.value);
            }
        }
        if (++since < LOOK) continue;
        since = 0;
        *least = exchange(job, w, pixels);
    }
}

TSR_KERNEL(__launch_bounds__(BRICK_THREADS, BRICK_BLOCKS) brick_kernel)(tsr_mip_job job)
{
    TSR_SHARED_DYNAMIC(uint32_t, pixels);
    TSR_SHARED(brick_work, works, 1);
    brick_work &w = works[0];
    const tsr_detail_order order = job.d.order[blockIdx.x];
    const int64_t brick = order.brick;
    const tsr_detail_brick b = job.d.brick[brick];
    const int whole = tsr_mip_box_fits(&job, brick);
    if (!whole && job.slow_high != job.level_high) return; /* see slow_kernel */
    if (threadIdx.x == 0) {
        if (!tsr_mip_box_of(&job, brick, &w.box)) w.box.width = 0;
        w.inverse = 1.0f / (float)w.box.width;
    }
    __syncthreads();
    if (!w.box.width) return;
    uint32_t least = load_box(job, w, pixels);
    if (tsr_mip_shown(&job, order.most) <= least) return;
    for (uint32_t end = b.run + b.runs; end > b.run;) { /* from the finest level on */
        const uint32_t first = end - b.run > BRICK_THREADS ? end - BRICK_THREADS : b.run;
        const uint32_t all = load_batch(job, first, end, least, w);
        draw_batch(job, brick, b, pixels, all, &least, w, !whole);
        __syncthreads();
        end = first;
    }
    exchange(job, w, pixels);
}

/* The same straight into the picture, clipped: any element and mode. `only_left`: of bricks that the other kernel leaves out. */
TSR_KERNEL(slow_kernel)(tsr_mip_job job, int32_t only_left)
{
    const int64_t brick = job.d.order[blockIdx.x].brick;
    const tsr_detail_brick b = job.d.brick[brick];
    const uint32_t lane = threadIdx.x & 31u, warp = threadIdx.x / 32u;
    tsr_mip_canvas canvas;
    canvas.pixels = job.image;
    canvas.stride = job.width;
    canvas.origin = 0;
    canvas.width = job.width;
    canvas.height = job.height;
    if (only_left && tsr_mip_box_fits(&job, brick)) return;
    for (uint32_t first = b.run; first < b.run + b.runs; first += 32) {
        const own_run own = load_run(job, first + lane, b.run + b.runs, 0, job.slow_high);
        const share s = share_out(own.count, lane);
        for (uint32_t k0 = 32 * warp; k0 < s.all; k0 += THREADS) {
            own_run run;
            const int64_t i = b.first + hand_over(own, s, k0, lane, &run);
            if (k0 + lane >= s.all) continue;
            int32_t at[3];
            tsr_detail_get(&job.d, i, run.level, brick, at);
            tsr_mip_coefficient(&job, &canvas, run.level, at, run.value);
        }
    }
}

/* Lists: a block per chunk, brightest first. */
TSR_KERNEL(chunk_kernel)(tsr_mip_job job)
{
    const tsr_detail_chunk c = job.chunk[blockIdx.x];
    const tsr_detail_run r = job.d.run[c.run];
    const uint32_t value = tsr_mip_shown(&job, r.value);
    tsr_mip_canvas canvas;
    canvas.pixels = job.image;
    canvas.stride = job.width;
    canvas.origin = 0;
    canvas.width = job.width;
    canvas.height = job.height;
    if (!value || r.level < job.level_low || r.level > job.slow_high) return;
    for (uint32_t k = c.begin + threadIdx.x; k < c.end; k += THREADS) {
        int32_t at[3];
        tsr_detail_get(&job.d, (int64_t)r.first + k, r.level, 0, at);
        tsr_mip_coefficient(&job, &canvas, r.level, at, value);
    }
}

static tsr_status cuda_draw(tsr_queue *queue, const tsr_mip_job *job)
{
    const int64_t box = (int64_t)job->footprint * job->footprint;
    const int by_box = job->cube2 && !job->slab && job->d.levels <= TSR_CELL && box <= BOX_MOST;
    int partial = 0; /* some bricks have blocks that reach out of the volume */
    for (int k = 0; k < 3; k++) partial |= job->d.size[0][k] & ((1 << job->d.levels) - 1);
    if (job->d.format != TSR_MIP_BRICKS) {
        if (job->chunks) TSR_LAUNCH(queue, chunk_kernel, (uint32_t)job->chunks, THREADS, 0, *job);
    } else if (job->d.ordered) {
        if (by_box) TSR_LAUNCH(queue, brick_kernel, (uint32_t)job->d.ordered, BRICK_THREADS, (size_t)box * 4, *job);
        if (!by_box || (partial && job->slow_high != job->level_high))
            TSR_LAUNCH(queue, slow_kernel, (uint32_t)job->d.ordered, THREADS, 0, *job, by_box);
    }
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- pictures ---------------------------------------------------------------------------------------------------------------------------- */

TSR_DEVICE_FN int32_t pixel_x(void) { return (int32_t)(blockIdx.x * 32u + (threadIdx.x & 31u)); }
TSR_DEVICE_FN int32_t pixel_y(void) { return (int32_t)(blockIdx.y * WARPS + threadIdx.x / 32u); }
static dim3 pixel_blocks(int32_t width, int32_t height) { return dim3((uint32_t)(width + 31) / 32u, (uint32_t)(height + WARPS - 1) / WARPS, 1); }

TSR_KERNEL(expand_kernel)
(const uint32_t *above, int32_t above_width, int32_t above_height, tsr_mip_offsets element, uint32_t *own, int32_t width, int32_t height)
{
    const int32_t x = pixel_x(), y = pixel_y();
    if (x >= width || y >= height) return;
    uint32_t *p = own + (int64_t)y * width + x;
    *p = tsr_mip_expand_pixel(above, above_width, above_height, &element, x, y, *p);
}
static tsr_status cuda_expand(tsr_queue *queue, const uint32_t *above, int32_t above_width, int32_t above_height, const tsr_mip_offsets *element,
                              uint32_t *own, int32_t width, int32_t height)
{
    TSR_LAUNCH(queue, expand_kernel, pixel_blocks(width, height), THREADS, 0, above, above_width, above_height, *element, own, width, height);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

TSR_KERNEL(dilate_kernel)(tsr_mip_finish f, uint32_t *dilated)
{
    const int32_t x = pixel_x(), y = pixel_y();
    if (x < f.width && y < f.height) dilated[(int64_t)y * f.width + x] = tsr_mip_dilate_pixel(&f, x, y);
}
TSR_KERNEL(finish_kernel)(tsr_mip_finish f)
{
    const int32_t x = pixel_x(), y = pixel_y();
    if (x < f.picture_width && y < f.picture_height) f.picture[(int64_t)y * f.picture_width + x] = tsr_mip_finish_pixel(&f, x, y);
}
static tsr_status cuda_finish(tsr_queue *queue, const tsr_mip_finish *finish, uint32_t *dilated)
{
    if (dilated) TSR_LAUNCH(queue, dilate_kernel, pixel_blocks(finish->width, finish->height), THREADS, 0, *finish, dilated);
    TSR_LAUNCH(queue, finish_kernel, pixel_blocks(finish->picture_width, finish->picture_height), THREADS, 0, *finish);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

TSR_KERNEL(combine_kernel)(uint32_t *image, const uint32_t *other, int64_t pixels)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < pixels) image[i] = max(image[i], other[i]);
}
static tsr_status cuda_combine(tsr_queue *queue, uint32_t *image, const uint32_t *other, int64_t pixels)
{
    TSR_LAUNCH(queue, combine_kernel, tsr_blocks(pixels, THREADS, INT32_MAX), THREADS, 0, image, other, pixels);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- rays -------------------------------------------------------------------------------------------------------------------------------- */

TSR_KERNEL(most_kernel)(tsr_mip_rays rays, uint16_t *most, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) most[i] = tsr_mip_ray_brick(rays.data, rays.bytes, rays.size, rays.bricks, i);
}
static tsr_status cuda_bricks(tsr_queue *queue, const tsr_mip_rays *rays, uint16_t *most)
{
    const int64_t count = tsr_adjunction_cells(rays->bricks);
    TSR_LAUNCH(queue, most_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, *rays, most, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* A warp is 8 x 4 pixels: its rays stay together. */
TSR_KERNEL(cast_kernel)(tsr_mip_rays rays)
{
    const int32_t x = (int32_t)(blockIdx.x * 16u + (threadIdx.x >> 5 & 1u) * 8u + (threadIdx.x & 7u));
    const int32_t y = (int32_t)(blockIdx.y * 16u + (threadIdx.x >> 6) * 4u + (threadIdx.x >> 3 & 3u));
    if (x < rays.width && y < rays.height) rays.image[(int64_t)y * rays.width + x] = tsr_mip_ray_pixel(&rays, x, y);
}
TSR_KERNEL(slice_kernel)(tsr_mip_rays rays, int32_t t)
{
    const int32_t x = (int32_t)(blockIdx.x * 16u + (threadIdx.x >> 5 & 1u) * 8u + (threadIdx.x & 7u));
    const int32_t y = (int32_t)(blockIdx.y * 16u + (threadIdx.x >> 6) * 4u + (threadIdx.x >> 3 & 3u));
    if (x < rays.width && y < rays.height) tsr_mip_slice_pixel(&rays, x, y, t);
}
static tsr_status cuda_cast(tsr_queue *queue, const tsr_mip_rays *rays)
{
    const dim3 blocks((uint32_t)(rays->width + 15) / 16u, (uint32_t)(rays->height + 15) / 16u, 1);
    if (!rays->slices) TSR_LAUNCH(queue, cast_kernel, blocks, THREADS, 0, *rays);
    for (int32_t t = 0; rays->slices && t < rays->size[rays->axis[0]]; t++) TSR_LAUNCH(queue, slice_kernel, blocks, THREADS, 0, *rays, t);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_mip_ops tsr_mip_cuda = { cuda_draw, cuda_expand, cuda_finish, cuda_combine, cuda_bricks, cuda_cast };
