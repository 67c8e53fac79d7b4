/* flow/flow_cuda.cu: seeds by a sweep that keeps two slices of S in shared memory, lines by a thread for each half. */
#include "device/kernel.h"
#include "flow/flow_ops.h"

enum { THREADS = 256 };

/* One item a thread, in strides of the grid. */
#define EACH(i, count) for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < (count); i += (int64_t)gridDim.x * THREADS)
#define ITEMS(kernel, queue, count, ...) \
    TSR_LAUNCH(queue, kernel, tsr_blocks(count, THREADS, 64 * (int64_t)tsr_queue_processors(queue)), THREADS, 0, __VA_ARGS__)

/* Few items, each of many steps that wait for memory, go to few lanes of many warps: lanes of a warp read one after another, and a warp takes as long as its slowest. So many lanes that there
 * is a warp for every scheduler (four a processor). `lanes` is a power of two. */
enum { FEW_THREADS = 128 };
#define FEW(i, count, lanes)                                                                              \
    for (int64_t i = ((int64_t)blockIdx.x * FEW_THREADS + threadIdx.x) / 32 * (lanes) + threadIdx.x % 32; \
         (int32_t)(threadIdx.x % 32) < (lanes) && i < (count); i = (count))
static int32_t few_lanes(tsr_queue *queue, int64_t count)
{
    int32_t lanes = 1;
    while (lanes < 32 && (int64_t)lanes * 4 * tsr_queue_processors(queue) < count) lanes *= 2;
    return lanes;
}
static uint32_t few_blocks(int64_t count, int32_t lanes) { return tsr_blocks((count + lanes - 1) / lanes, FEW_THREADS / 32, INT32_MAX); }

TSR_KERNEL(derive_kernel)(tsr_derive_job job) { EACH(i, tsr_flow_samples(&job.grid)) tsr_derive_sample(&job, i); }
TSR_KERNEL(quantity_kernel)(tsr_derive_job job) { EACH(i, tsr_flow_samples(&job.grid)) tsr_quantity_sample(&job, i); }
TSR_KERNEL(side_kernel)(tsr_contour_job job) { EACH(i, tsr_flow_samples(&job.grid)) tsr_contour_volume_one(&job, i); }
TSR_KERNEL(seeds_kernel)(tsr_contour_job job, int32_t lanes) { FEW(i, job.seeds_count, lanes) tsr_contour_seed_one(&job, i); }
TSR_KERNEL(totals_kernel)(const int32_t *points, int64_t lines, uint32_t *totals) { EACH(i, lines) totals[i] = tsr_line_points(points, i); }
TSR_KERNEL(values_kernel)(tsr_values_job job) { EACH(i, job.count) tsr_value_one(&job, i); }
TSR_KERNEL(lengths_kernel)(tsr_values_job job) { EACH(i, job.lines) tsr_length_line(&job, i); }
TSR_KERNEL(frames_kernel)(tsr_tube_job job) { EACH(i, job.lines) tsr_tube_frames(&job, i); }
TSR_KERNEL(ftle_kernel)(tsr_ftle_job job) { EACH(i, tsr_flow_samples(&job.grid)) tsr_ftle_sample(&job, i); }

/* One block a slice. */
TSR_KERNEL(moments_kernel)(tsr_field_grid grid, tsr_field_moments *slices)
{
    TSR_SHARED(tsr_field_moments, lane, TSR_FIELD_LANES);
    const int32_t k = (int32_t)threadIdx.x;
    tsr_field_moments_lane(&grid, (int32_t)blockIdx.x, k, &lane[k]);
    for (int32_t half = TSR_FIELD_LANES / 2; half; half /= 2) {
        __syncthreads();
        if (k < half) tsr_field_moments_add(&lane[k], &lane[k + half]);
    }
    if (k == 0) slices[blockIdx.x] = lane[0];
}

/* A tile of samples marches through slices of z; S of this slice and the next are in shared memory with one more sample along x and y, the two behind are on
 * their way. What is marked is a sample with a face on which S changes its sign: few are, and the faces are solved by a kernel of their own. */
enum { WIDE = 32, HIGH = 8, DEEP = 16, LEAST_DEEP = 4, TILE_WIDE = WIDE + 1, TILE_HIGH = HIGH + 1, TILE = TILE_WIDE * TILE_HIGH };

TSR_KERNEL(mark_kernel)(tsr_contour_job job, int32_t most)
{
    struct alignas(16) sample {
        float v[4];
    };
    TSR_SHARED(float, s, 2 * TILE);
    const tsr_field_grid *g = &job.grid;
    const int32_t t = (int32_t)threadIdx.x, from[3] = { (int32_t)blockIdx.x * WIDE, (int32_t)blockIdx.y * HIGH, (int32_t)blockIdx.z * most };
    const int32_t x = from[0] + t % WIDE, y = from[1] + t / WIDE, deep = tsr_mini(most, g->n[2] - from[2]);
    const int32_t corner_at = t / WIDE * TILE_WIDE + t % WIDE, in = x < g->n[0] && y < g->n[1];
    uint8_t *mark = job.counts + ((int64_t)from[2] * g->n[1] + y) * g->n[0] + x;
    const int64_t slice = (int64_t)g->n[1] * g->n[0];
    int32_t sx[2], sy[2], there[2];
    const float *v[2];
    sample ahead[2][2] = {}; /* of even and odd slices */
#pragma unroll
    for (int k = 0; k < 2; k++) {
        sx[k] = from[0] + (t + k * THREADS) % TILE_WIDE;
        sy[k] = from[1] + (t + k * THREADS) / TILE_WIDE;
        there[k] = t + k * THREADS < TILE && sx[k] < g->n[0] && sy[k] < g->n[1];
        v[k] = g->v + tsr_field_at(g, there[k] ? sx[k] : 0, there[k] ? sy[k] : 0, from[2]);
    }
    for (int32_t n0 = -2; n0 <= deep; n0 += 2)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int32_t n = n0 + half, z = from[2] + n; /* slice n has come; n - 1 is worked on */
            if (n > deep) break;
            float *const now = s + half * TILE, *const before = s + (1 - half) * TILE;
#pragma unroll
            for (int k = 0; k < 2; k++) {
                if (n >= 0 && z < g->n[2] && there[k]) now[t + k * THREADS] = tsr_contour_s_of(&job, sx[k], sy[k], z, ahead[half][k].v);
                if (n + 2 <= deep && z + 2 < g->n[2] && there[k]) ahead[half][k] = *(const sample *)(const void *)v[k];
                v[k] += g->sz;
            }
            if (n < 0) continue;
            __syncthreads();
            if (n > 0 && in) {
                const float *a = before + corner_at, *c = now + corner_at;
                const int32_t at[3] = { x, y, z - 1 };
                int mixed = 0;
#pragma unroll
                for (int face = 0; face < 3; face++) {
                    const float *u = face == 2 ? a + TILE_WIDE : a + 1, *q = face == 0 ? a + TILE_WIDE : c;
                    const float corner[4] = { a[0], u[0], q[0], face == 2 ? c[TILE_WIDE] : q[1] };
                    mixed |= tsr_contour_exists(&job, at, face) && tsr_contour_mixed(corner);
                }
                mark[(n - 1) * slice] = (uint8_t)mixed;
            }
            __syncthreads();
        }
}

/* Marks to counts: a block lists those of its samples that are marked, then each thread solves the faces of one. */
enum { MARKS = 16, LISTED = MARKS * THREADS };
TSR_KERNEL(__launch_bounds__(THREADS, 3) count_kernel)(tsr_contour_job job, int64_t samples)
{
    TSR_SHARED(uint16_t, list, LISTED);
    TSR_SHARED(uint32_t, listed, 1);
    const int64_t base = (int64_t)blockIdx.x * LISTED, slice = (int64_t)job.grid.n[0] * job.grid.n[1];
    if (threadIdx.x == 0) listed[0] = 0;
    __syncthreads();
    for (int k = 0; k < MARKS; k += 4) {
        const uint32_t first = (uint32_t)k * THREADS + 4 * threadIdx.x;
        uint32_t marks = 0;
        if (base + first + 4 <= samples) marks = *(const uint32_t *)(const void *)(job.counts + base + first);
        else
            for (uint32_t b = 0; b < 4 && base + first + b < samples; b++) marks |= (uint32_t)job.counts[base + first + b] << 8 * b;
        if (!marks) continue;
        uint32_t place = atomicAdd(listed, (uint32_t)__popc(marks));
        for (uint32_t b = 0; b < 4; b++)
            if (marks >> 8 * b & 1u) list[place++] = (uint16_t)(first + b);
    }
    __syncthreads();
    for (uint32_t e = threadIdx.x; e < listed[0]; e += THREADS) {
        const int64_t i = base + list[e];
        const int32_t at[3] = { (int32_t)(i % job.grid.n[0]), (int32_t)(i % slice / job.grid.n[0]), (int32_t)(i / slice) };
        int count = 0;
#pragma unroll 1
        for (int face = 0; face < 3; face++) {
            float corner[4], other[4];
            if (!tsr_contour_exists(&job, at, face)) continue;
            tsr_contour_face_s(&job, at, face, corner);
            if (!tsr_contour_mixed(corner)) continue;
            tsr_contour_face_t(&job, at, face, other);
            count += tsr_contour_count(&job, at, face, corner, other);
        }
        job.counts[i] = (uint8_t)count;
    }
}

TSR_KERNEL(trace_kernel)(tsr_stream_job job, int32_t lanes) { FEW(half, 2 * job.lines, lanes) tsr_stream_half(&job, half); }

/* A warp a line. */
TSR_KERNEL(lines_kernel)(tsr_lines_job job)
{
    const int64_t line = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / 32;
    if (line >= job.lines) return;
    const int64_t count = tsr_line_points(job.points, line);
    for (int64_t n = threadIdx.x % 32; n < count; n += 32) tsr_line_point(&job, line, n);
}
TSR_KERNEL(tubes_kernel)(tsr_tube_job job)
{
    const int64_t line = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / 32;
    if (line >= job.lines) return;
    const int64_t count = (int64_t)(job.offsets[line + 1] - job.offsets[line]);
    for (int64_t n = threadIdx.x % 32; count > 1 && n < count; n += 32) {
        tsr_tube_ring(&job, line, n);
        if (n + 1 < count) tsr_tube_segment(&job, line, n);
    }
}

static tsr_status cuda_derive(tsr_queue *queue, const tsr_derive_job *job)
{
    ITEMS(derive_kernel, queue, tsr_flow_samples(&job->grid), *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_moments(tsr_queue *queue, const tsr_field_grid *grid, tsr_field_moments *slices)
{
    TSR_LAUNCH(queue, moments_kernel, (uint32_t)grid->n[2], TSR_FIELD_LANES, 0, *grid, slices);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_quantity(tsr_queue *queue, const tsr_derive_job *job)
{
    ITEMS(quantity_kernel, queue, tsr_flow_samples(&job->grid), *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_count(tsr_queue *queue, const tsr_contour_job *job)
{
    const int32_t *n = job->grid.n;
    int32_t deep = DEEP; /* slices follow each other: small volumes have fewer of them to a block, so that there are blocks for all processors */
    while (deep > LEAST_DEEP && (int64_t)tsr_blocks(n[0], WIDE, INT32_MAX) * tsr_blocks(n[1], HIGH, 65535) * tsr_blocks(n[2], deep, 65535) <
                                    4 * (int64_t)tsr_queue_processors(queue))
        deep /= 2;
    const dim3 blocks(tsr_blocks(n[0], WIDE, INT32_MAX), tsr_blocks(n[1], HIGH, 65535), tsr_blocks(n[2], deep, 65535));
    const int64_t samples = tsr_flow_samples(&job->grid);
    TSR_LAUNCH(queue, mark_kernel, blocks, dim3(WIDE * HIGH), 0, *job, deep);
    TSR_LAUNCH(queue, count_kernel, tsr_blocks(samples, LISTED, INT32_MAX), THREADS, 0, *job, samples);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_seeds(tsr_queue *queue, const tsr_contour_job *job)
{
    const int32_t lanes = few_lanes(queue, job->seeds_count);
    TSR_LAUNCH(queue, seeds_kernel, few_blocks(job->seeds_count, lanes), FEW_THREADS, 0, *job, lanes);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_side(tsr_queue *queue, const tsr_contour_job *job)
{
    ITEMS(side_kernel, queue, tsr_flow_samples(&job->grid), *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_trace(tsr_queue *queue, const tsr_stream_job *job)
{
    const int32_t lanes = few_lanes(queue, 2 * job->lines);
    TSR_LAUNCH(queue, trace_kernel, few_blocks(2 * job->lines, lanes), FEW_THREADS, 0, *job, lanes);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_totals(tsr_queue *queue, const int32_t *points, int64_t lines, uint32_t *totals)
{
    ITEMS(totals_kernel, queue, lines, points, lines, totals);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_lines(tsr_queue *queue, const tsr_lines_job *job)
{
    TSR_LAUNCH(queue, lines_kernel, tsr_blocks(32 * job->lines, THREADS, INT32_MAX), THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_values(tsr_queue *queue, const tsr_values_job *job)
{
    ITEMS(values_kernel, queue, job->count, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_lengths(tsr_queue *queue, const tsr_values_job *job)
{
    ITEMS(lengths_kernel, queue, job->lines, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_frames(tsr_queue *queue, const tsr_tube_job *job)
{
    ITEMS(frames_kernel, queue, job->lines, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_tubes(tsr_queue *queue, const tsr_tube_job *job)
{
    TSR_LAUNCH(queue, tubes_kernel, tsr_blocks(32 * job->lines, THREADS, INT32_MAX), THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_ftle(tsr_queue *queue, const tsr_ftle_job *job)
{
    ITEMS(ftle_kernel, queue, tsr_flow_samples(&job->grid), *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_flow_ops tsr_flow_cuda = { cuda_derive, cuda_moments, cuda_quantity, cuda_count,   cuda_seeds,  cuda_side,  cuda_trace,
                                                cuda_totals, cuda_lines,   cuda_values,   cuda_lengths, cuda_frames, cuda_tubes, cuda_ftle };
