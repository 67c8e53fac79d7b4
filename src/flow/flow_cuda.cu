/* flow/flow_cuda.cu: seeds by a sweep that keeps two slices of S in shared memory, lines by a thread for each half. */
#include "device/kernel.h"
#include "flow/flow_ops.h"

enum { THREADS = 256 };

/* One item a thread, in strides of the grid. */
#define EACH(i, count) for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < (count); i += (int64_t)gridDim.x * THREADS)
#define ITEMS(kernel, queue, count, ...)                                                                                                          \
    TSR_LAUNCH(queue, kernel, tsr_blocks(count, THREADS, 64 * (int64_t)tsr_queue_processors(queue)), THREADS, 0, __VA_ARGS__)

TSR_KERNEL(derive_kernel)(tsr_derive_job job) { EACH(i, tsr_flow_samples(&job.grid)) tsr_derive_sample(&job, i); }
TSR_KERNEL(quantity_kernel)(tsr_derive_job job) { EACH(i, tsr_flow_samples(&job.grid)) tsr_quantity_sample(&job, i); }
TSR_KERNEL(side_kernel)(tsr_contour_job job) { EACH(i, tsr_flow_samples(&job.grid)) tsr_contour_volume_one(&job, i); }
TSR_KERNEL(seeds_kernel)(tsr_contour_job job) { EACH(i, job.seeds_count) tsr_contour_seed_one(&job, i); }
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

/* A tile of samples marches through slices of z; S of this slice and the next are in shared memory with one more sample along x and y. */
enum { WIDE = 32, HIGH = 8, DEEP = 16, TILE_WIDE = WIDE + 1, TILE_HIGH = HIGH + 1, TILE = TILE_WIDE * TILE_HIGH };

TSR_KERNEL(count_kernel)(tsr_contour_job job)
{
    TSR_SHARED(float, s, 2 * TILE);
    const tsr_field_grid *g = &job.grid;
    const int32_t t = (int32_t)threadIdx.x, x0 = (int32_t)blockIdx.x * WIDE, y0 = (int32_t)blockIdx.y * HIGH;
    const int32_t x = x0 + t % WIDE, y = y0 + t / WIDE, z0 = (int32_t)blockIdx.z * DEEP, z1 = tsr_mini(z0 + DEEP, g->n[2]);
    for (int32_t z = z0; z <= z1; z++) {
        float *next = s + (z & 1) * TILE;
        if (z < g->n[2])
            for (int32_t k = t; k < TILE; k += WIDE * HIGH) {
                const int32_t sx = x0 + k % TILE_WIDE, sy = y0 + k / TILE_WIDE;
                next[k] = sx < g->n[0] && sy < g->n[1] ? tsr_contour_s(&job, sx, sy, z) : 0.0f;
            }
        __syncthreads();
        const int32_t own = z - 1;
        if (own >= z0 && x < g->n[0] && y < g->n[1]) {
            const int32_t at[3] = { x, y, own };
            const float *a = s + (own & 1) * TILE + t / WIDE * TILE_WIDE + t % WIDE, *c = s + (z & 1) * TILE + t / WIDE * TILE_WIDE + t % WIDE;
            int count = 0;
            for (int face = 0; face < 3; face++) {
                if (!tsr_contour_exists(&job, at, face)) continue;
                const float *u = face == 2 ? a + TILE_WIDE : a + 1, *q = face == 0 ? a + TILE_WIDE : c;
                const float corner[4] = { a[0], u[0], q[0], face == 2 ? c[TILE_WIDE] : q[1] };
                if (!tsr_contour_mixed(corner)) continue;
                float other[4];
                tsr_contour_face_t(&job, at, face, other);
                count += tsr_contour_count(&job, at, face, corner, other);
            }
            job.counts[((int64_t)own * g->n[1] + y) * g->n[0] + x] = (uint8_t)count;
        }
        __syncthreads();
    }
}

TSR_KERNEL(trace_kernel)(tsr_stream_job job)
{
    const int64_t half = (int64_t)blockIdx.x * 128 + threadIdx.x;
    if (half < 2 * job.lines) tsr_stream_half(&job, half);
}

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
    const dim3 blocks(tsr_blocks(n[0], WIDE, INT32_MAX), tsr_blocks(n[1], HIGH, 65535), tsr_blocks(n[2], DEEP, 65535));
    TSR_LAUNCH(queue, count_kernel, blocks, dim3(WIDE * HIGH), 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_seeds(tsr_queue *queue, const tsr_contour_job *job)
{
    ITEMS(seeds_kernel, queue, job->seeds_count, *job);
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
    TSR_LAUNCH(queue, trace_kernel, tsr_blocks(2 * job->lines, 128, INT32_MAX), 128, 0, *job);
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

extern "C" const tsr_flow_ops tsr_flow_cuda = { cuda_derive, cuda_moments, cuda_quantity, cuda_count, cuda_seeds, cuda_side, cuda_trace,
                                                cuda_totals, cuda_lines, cuda_values, cuda_lengths, cuda_frames, cuda_tubes, cuda_ftle };
