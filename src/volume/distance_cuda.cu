/* volume/distance_cuda.cu: a warp per row along x (nearest voxel of the other side by ballots), then neighbouring columns along y and z in the
 * shared memory of a block, searched in place: a read and a write of the volume per axis. Columns of more than 2048 voxels take a thread each and
 * keep an envelope, whose stack lies like the volume itself. */
#include "device/kernel.h"
#include "volume/distance_ops.h"

enum { ROWS_PER_BLOCK = 4, COLUMN_THREADS = 128 };

TSR_KERNEL(row_kernel)(const void *mask, tsr_dtype dtype, int32_t n, int64_t rows, float weight, float core, float *out)
{
    int64_t row = (int64_t)blockIdx.x * ROWS_PER_BLOCK + threadIdx.x / 32;
    int32_t lane = (int32_t)(threadIdx.x % 32), last_in = -1, last_out = -1;
    if (row >= rows) return;
    out += row * n;
    for (int32_t base = 0; base < n; base += 32) { /* nearest on the left */
        int32_t x = base + lane;
        int valid = x < n, inside = valid && tsr_distance_inside(mask, dtype, row * n + x);
        uint32_t in = __ballot_sync(TSR_WARP_ALL, inside), outside = __ballot_sync(TSR_WARP_ALL, valid && !inside);
        uint32_t before = (inside ? outside : in) & ((1u << lane) - 1u);
        int32_t nearest = before ? base + 31 - __clz((int)before) : inside ? last_out : last_in;
        if (valid) out[x] = tsr_distance_along_row(inside, x, nearest, weight, core);
        if (in) last_in = base + 31 - __clz((int)in);
        if (outside) last_out = base + 31 - __clz((int)outside);
    }
    last_in = last_out = -1;
    for (int32_t base = (n - 1) / 32 * 32; base >= 0; base -= 32) { /* nearest on the right */
        int32_t x = base + lane;
        int valid = x < n;
        float left = valid ? out[x] : 0.0f;
        int inside = valid && left < 0.0f;
        uint32_t in = __ballot_sync(TSR_WARP_ALL, inside), outside = __ballot_sync(TSR_WARP_ALL, valid && !inside);
        uint32_t after = (inside ? outside : in) & ~((2u << lane) - 1u);
        int32_t nearest = after ? base + __ffs((int)after) - 1 : inside ? last_out : last_in;
        float right = tsr_distance_along_row(inside, x, nearest, weight, core);
        if (valid && tsr_absf(right) < tsr_absf(left)) out[x] = right;
        if (in) last_in = base + __ffs((int)in) - 1;
        if (outside) last_out = base + __ffs((int)outside) - 1;
    }
}

/* Line number = x + width * o; it begins at x + o * outer and runs with `step`. */
TSR_KERNEL(column_kernel)
(const float *in, float *out, uint16_t *stack, int64_t lines, int64_t width, int64_t outer, int64_t step, int32_t n, float weight, float core,
 tsr_distance_finish finish)
{
    int64_t number = (int64_t)blockIdx.x * COLUMN_THREADS + threadIdx.x;
    if (number >= lines) return;
    int64_t begin = number % width + number / width * outer;
    tsr_distance_line line = { in + begin, out + begin, stack + begin, step, step, step, n, weight, core, 0 };
    tsr_distance_transform_line(&line, &finish);
}

/* A block's columns lie side by side in shared memory, with the places of their parabolas behind them: 96 KiB at most, on every GPU. 32 columns of up to
 * 512 voxels, 16 of 1024, 8 of 2048 (a sector of memory). A group of as many threads takes every so many-th segment of TSR_DISTANCE_STRIDE voxels. */
enum { NEAR_THREADS = 512, NEAR_VALUES = 1 << 14, NEAR_MOST = NEAR_VALUES / 8 };

template <int WHOLE>
TSR_KERNEL(near_kernel)
(float *values, int64_t lines, int64_t width, int64_t outer, int64_t step, int32_t n, int32_t columns, float weight, float core,
 tsr_distance_finish finish)
{
    TSR_SHARED_DYNAMIC(float, shared);
    const int32_t column = (int32_t)threadIdx.x % columns, group = (int32_t)threadIdx.x / columns, groups = (int32_t)blockDim.x / columns;
    const int64_t number = (int64_t)blockIdx.x * columns + column;
    const int valid = number < lines;
    float *own = values + (valid ? number % width + number / width * outer : 0);
    uint16_t *places = (uint16_t *)(void *)(shared + n * columns);
    const tsr_distance_shared line = { shared + column, places + column, columns, n, weight, core };
    for (int32_t i = group; i < n; i += groups) shared[i * columns + column] = valid ? own[i * step] : 1.0f;
    __syncthreads();
    for (int32_t i = group * TSR_DISTANCE_STRIDE; i < n; i += groups * TSR_DISTANCE_STRIDE) {
        const float found = WHOLE ? tsr_distance_outward_whole(&line, i) : tsr_distance_outward(&line, i);
        if (valid) own[i * step] = tsr_distance_finished(&finish, found);
    }
    __syncthreads();
    for (int32_t begin = group * TSR_DISTANCE_STRIDE; begin < n; begin += groups * TSR_DISTANCE_STRIDE) {
        const int32_t end = tsr_mini(begin + TSR_DISTANCE_STRIDE, n);
        for (int32_t half = TSR_DISTANCE_STRIDE / 2; half > 0; half /= 2)
            for (int32_t i = begin + half; i < end; i += 2 * half) {
                const float found =
                    WHOLE ? tsr_distance_between_whole(&line, i, i - half, i + half) : tsr_distance_between(&line, i, i - half, i + half);
                if (valid) own[i * step] = tsr_distance_finished(&finish, found);
            }
    }
}

/* Are all sums along the axes up to this one integers below 2^24? */
static int sums_are_whole(tsr_size3 size, const float weight[3], const float core[3], int axis)
{
    const int64_t n[3] = { size.x, size.y, size.z };
    double most = 0.0;
    for (int k = 0; k <= axis; k++) {
        if (weight[k] != floorf(weight[k]) || core[k] != 0.0f) return 0;
        most += (double)weight[k] * (double)n[k] * (double)n[k];
    }
    return most < 16777216.0;
}

/* Columns in place. */
static tsr_status near_columns(tsr_queue *queue, float *values, int64_t lines, int64_t width, int64_t outer, int64_t step, int64_t n, float weight,
                               float core, int whole, const tsr_distance_finish *finish)
{
    int32_t columns = 32;
    while (columns * n > NEAR_VALUES) columns /= 2;
    const int64_t segments = (n + TSR_DISTANCE_STRIDE - 1) / TSR_DISTANCE_STRIDE;
    const uint32_t threads = (uint32_t)tsr_minl(NEAR_THREADS, tsr_maxl(128, segments * columns)), blocks = tsr_blocks(lines, columns, INT32_MAX);
    const size_t shared = (size_t)(columns * n) * (sizeof(float) + sizeof(uint16_t));
    if (whole) {
        TSR_LAUNCH_ALLOW_SHARED(queue, near_kernel<1>, shared);
        TSR_LAUNCH(queue, near_kernel<1>, blocks, threads, shared, values, lines, width, outer, step, (int32_t)n, columns, weight, core, *finish);
    } else {
        TSR_LAUNCH_ALLOW_SHARED(queue, near_kernel<0>, shared);
        TSR_LAUNCH(queue, near_kernel<0>, blocks, threads, shared, values, lines, width, outer, step, (int32_t)n, columns, weight, core, *finish);
    }
    return TSR_OK;
}

static int near_fits(tsr_size3 size) { return size.y <= NEAR_MOST && size.z <= NEAR_MOST; }

static int64_t cuda_scratch_bytes(const tsr_queue *queue, tsr_size3 size)
{
    (void)queue;
    return near_fits(size) ? 0 : size.x * size.y * size.z * (int64_t)(sizeof(float) + sizeof(uint16_t));
}

static tsr_status cuda_transform(tsr_queue *queue, const void *mask, tsr_dtype dtype, tsr_size3 size, const float weight[3], const float core[3],
                                 const tsr_distance_finish *finish, void *scratch, float *distance)
{
    int64_t plane = size.x * size.y, rows = size.y * size.z, y_lines = size.x * size.z;
    tsr_distance_finish keep = { -1, 0.0f, 0.0f, 0.0f };
    TSR_LAUNCH(queue, row_kernel, tsr_blocks(rows, ROWS_PER_BLOCK, INT32_MAX), 32 * ROWS_PER_BLOCK, 0, mask, dtype, (int32_t)size.x, rows, weight[0],
               core[0], distance);
    if (near_fits(size)) {
        TSR_TRY(
            near_columns(queue, distance, y_lines, size.x, plane, size.x, size.y, weight[1], core[1], sums_are_whole(size, weight, core, 1), &keep));
        TSR_TRY(near_columns(queue, distance, plane, plane, 0, plane, size.z, weight[2], core[2], sums_are_whole(size, weight, core, 2), finish));
        TSR_TRY(tsr_launch_check(queue));
        return TSR_OK;
    }
    float *half_done = (float *)scratch;
    uint16_t *stack = (uint16_t *)(half_done + plane * size.z);
    TSR_LAUNCH(queue, column_kernel, tsr_blocks(y_lines, COLUMN_THREADS, INT32_MAX), COLUMN_THREADS, 0, distance, half_done, stack, y_lines, size.x,
               plane, size.x, (int32_t)size.y, weight[1], core[1], keep);
    TSR_LAUNCH(queue, column_kernel, tsr_blocks(plane, COLUMN_THREADS, INT32_MAX), COLUMN_THREADS, 0, half_done, distance, stack, plane, plane,
               (int64_t)0, plane, (int32_t)size.z, weight[2], core[2], *finish);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- evolution: a thread per voxel ----------------------------------------------------------------------------------------------------------- */

enum { PDE_THREADS = 256 };

TSR_DEVICE_FN int64_t pde_place(const tsr_distance_pde_job &j, int64_t at[3])
{
    const int64_t x = (int64_t)blockIdx.x * PDE_THREADS + threadIdx.x;
    at[0] = x;
    at[1] = blockIdx.y;
    at[2] = blockIdx.z;
    return x < j.size[0] ? ((int64_t)blockIdx.z * j.size[1] + blockIdx.y) * j.size[0] + x : -1;
}
TSR_KERNEL(pde_lock_kernel)(tsr_distance_pde_job j, int32_t first)
{
    int64_t at[3], i = pde_place(j, at);
    if (i < 0) return;
    at[2] += first;
    i += first * j.size[0] * j.size[1];
    j.to[i] = tsr_distance_pde_lock(&j, i, at);
}
TSR_KERNEL(pde_step_kernel)(tsr_distance_pde_job j, int32_t first)
{
    int64_t at[3], i = pde_place(j, at);
    uint32_t bits = 0;
    if (i >= 0) {
        at[2] += first;
        i += first * j.size[0] * j.size[1];
        const float v = tsr_distance_pde_voxel(&j, i, at), change = fabsf(v - j.from[i]);
        j.to[i] = v;
        memcpy(&bits, &change, 4);
    }
    bits = __reduce_max_sync(TSR_WARP_ALL, bits);
    if ((threadIdx.x & 31u) == 0 && *j.change < bits) atomicMax(j.change, bits);
}
enum { PDE_PLANES = (TSR_GRID_MOST + 1) / 2 };
static dim3 pde_blocks(const tsr_distance_pde_job *j, int64_t first)
{
    const int64_t planes = tsr_minl(j->size[2] - first, PDE_PLANES);
    return dim3((uint32_t)((j->size[0] + PDE_THREADS - 1) / PDE_THREADS), (uint32_t)j->size[1], (uint32_t)planes);
}
static tsr_status cuda_pde_lock(tsr_queue *queue, const tsr_distance_pde_job *job)
{
    for (int64_t z = 0; z < job->size[2]; z += PDE_PLANES) TSR_LAUNCH(queue, pde_lock_kernel, pde_blocks(job, z), PDE_THREADS, 0, *job, (int32_t)z);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_pde_step(tsr_queue *queue, const tsr_distance_pde_job *job)
{
    for (int64_t z = 0; z < job->size[2]; z += PDE_PLANES) TSR_LAUNCH(queue, pde_step_kernel, pde_blocks(job, z), PDE_THREADS, 0, *job, (int32_t)z);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_distance_ops tsr_distance_cuda = { cuda_scratch_bytes, cuda_transform, cuda_pde_lock, cuda_pde_step };
