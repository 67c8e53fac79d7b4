/* grid/distance_cuda.cu: a warp per row along x (nearest voxel of the other side by ballots), then a thread per column along y and z, so
 * that neighbouring threads read neighbouring voxels. The envelope's stack lies like the volume itself. */
#include "device/kernel.h"
#include "grid/distance_ops.h"

enum { ROWS_PER_BLOCK = 4, COLUMN_THREADS = 128 };

TSR_KERNEL(row_kernel)(const void *mask, tsr_dtype dtype, int32_t n, int64_t rows, float weight, float *out)
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
        if (valid) out[x] = tsr_distance_along_row(inside, x, nearest, weight);
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
        float right = tsr_distance_along_row(inside, x, nearest, weight);
        if (valid && tsr_absf(right) < tsr_absf(left)) out[x] = right;
        if (in) last_in = base + __ffs((int)in) - 1;
        if (outside) last_out = base + __ffs((int)outside) - 1;
    }
}

/* Line number = x + width * o; it begins at x + o * outer and runs with `step`. */
TSR_KERNEL(column_kernel)(const float *in, float *out, uint16_t *stack, int64_t lines, int64_t width, int64_t outer, int64_t step, int32_t n,
                          float weight, tsr_distance_finish finish)
{
    int64_t number = (int64_t)blockIdx.x * COLUMN_THREADS + threadIdx.x;
    if (number >= lines) return;
    int64_t begin = number % width + number / width * outer;
    tsr_distance_line line = { in + begin, out + begin, stack + begin, step, step, step, n, weight };
    tsr_distance_transform_line(&line, &finish);
}

static int64_t cuda_scratch_bytes(const tsr_queue *queue, tsr_size3 size)
{
    (void)queue;
    return size.x * size.y * size.z * (int64_t)(sizeof(float) + sizeof(uint16_t));
}

static tsr_status cuda_transform(tsr_queue *queue, const void *mask, tsr_dtype dtype, tsr_size3 size, const float weight[3],
                                 const tsr_distance_finish *finish, void *scratch, float *distance)
{
    int64_t plane = size.x * size.y, rows = size.y * size.z, y_lines = size.x * size.z;
    float *half_done = (float *)scratch;
    uint16_t *stack = (uint16_t *)(half_done + plane * size.z);
    tsr_distance_finish keep = { -1, 0.0f, 0.0f, 0.0f };
    TSR_LAUNCH(queue, row_kernel, tsr_blocks(rows, ROWS_PER_BLOCK, INT32_MAX), 32 * ROWS_PER_BLOCK, 0, mask, dtype, (int32_t)size.x, rows, weight[0],
               distance);
    TSR_LAUNCH(queue, column_kernel, tsr_blocks(y_lines, COLUMN_THREADS, INT32_MAX), COLUMN_THREADS, 0, distance, half_done, stack, y_lines, size.x,
               plane, size.x, (int32_t)size.y, weight[1], keep);
    TSR_LAUNCH(queue, column_kernel, tsr_blocks(plane, COLUMN_THREADS, INT32_MAX), COLUMN_THREADS, 0, half_done, distance, stack, plane, plane,
               (int64_t)0, plane, (int32_t)size.z, weight[2], *finish);
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
/* Grids have at most 65535 blocks along y and z. */
enum { PDE_PLANES = 32768 };
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
