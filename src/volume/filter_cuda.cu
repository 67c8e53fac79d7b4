/* volume/filter_cuda.cu: moving voxels, smoothing, Laplacian and resampling. Warps run along the rows of the output. */
#include "volume/volume_cuda.h"

enum { ROW = 64, ROWS = 4 }; /* a block covers ROW voxels of ROWS rows */

/* The grid that covers rows of nx voxels; rows beyond the grid's limit are reached by a stride. */
static dim3 row_grid(int64_t nx, int64_t rows)
{
    int64_t y = tsr_ceil_div(rows, ROWS);
    return dim3((uint32_t)tsr_ceil_div(nx, ROW), (uint32_t)tsr_minl(y, TSR_GRID_MOST), 1);
}
static const dim3 row_block() { return dim3(ROW, ROWS, 1); }

/* ---- moving voxels ---------------------------------------------------------------------------------------------------------------------- */

template <class E> TSR_KERNEL(rearrange_kernel)(tsr_rearrange p, const E *from, E *to, E constant)
{
    int64_t x = (int64_t)blockIdx.x * ROW + threadIdx.x, rows = p.size[1] * p.size[2];
    if (x >= p.size[0]) return;
    int64_t ix = tsr_rearrange_axis(&p, 0, x);
    for (int64_t r = (int64_t)blockIdx.y * ROWS + threadIdx.y; r < rows; r += (int64_t)gridDim.y * ROWS) {
        int64_t iy = tsr_rearrange_axis(&p, 1, r % p.size[1]), iz = tsr_rearrange_axis(&p, 2, r / p.size[1]);
        to[r * p.size[0] + x] = ix < 0 || iy < 0 || iz < 0 ? constant : from[ix + iy + iz];
    }
}

/* Where output axis `across` (1 or 2) runs along the input's rows: 32 x 32 pieces through shared memory, so that reads
 * and writes are both whole rows. */
template <class E> TSR_KERNEL(transpose_kernel)(tsr_rearrange p, int across, const E *from, E *to, E constant)
{
    TSR_SHARED(E, piece, 32 * 33);
    int other = 3 - across;
    int64_t x0 = (int64_t)blockIdx.x * 32, a0 = (int64_t)blockIdx.y * 32;
    for (int64_t o = blockIdx.z; o < p.size[other]; o += gridDim.z) {
        int64_t io = tsr_rearrange_axis(&p, other, o);
        for (int k = (int)threadIdx.y; k < 32; k += 8) { /* reading: lanes along the input's rows */
            int64_t a = a0 + threadIdx.x, x = x0 + k;
            if (a >= p.size[across] || x >= p.size[0]) continue;
            int64_t ia = tsr_rearrange_axis(&p, across, a), ix = tsr_rearrange_axis(&p, 0, x);
            piece[k * 33 + threadIdx.x] = ia < 0 || ix < 0 || io < 0 ? constant : from[ia + ix + io];
        }
        __syncthreads();
        for (int k = (int)threadIdx.y; k < 32; k += 8) { /* writing: lanes along the output's rows */
            int64_t a = a0 + k, x = x0 + threadIdx.x, y = across == 1 ? a : o, z = across == 1 ? o : a;
            if (a < p.size[across] && x < p.size[0]) to[(z * p.size[1] + y) * p.size[0] + x] = piece[threadIdx.x * 33 + k];
        }
        __syncthreads();
    }
}

template <class E> static tsr_status rearrange_type(tsr_queue *queue, const tsr_rearrange *p, const void *from, void *to)
{
    E constant;
    memcpy(&constant, &p->value, sizeof constant);
    if (p->axes[0] == 0) {
        TSR_LAUNCH(queue, rearrange_kernel<E>, row_grid(p->size[0], p->size[1] * p->size[2]), row_block(), 0, *p, (const E *)from, (E *)to, constant);
    } else {
        int across = p->axes[1] == 0 ? 1 : 2;
        int64_t rows = tsr_ceil_div(p->size[across], 32), others = p->size[3 - across];
        if (rows > 65535)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "permute: an extent of %lld, expected at most %d on a GPU", (long long)p->size[across], 65535 * 32);
        dim3 grid((uint32_t)tsr_ceil_div(p->size[0], 32), (uint32_t)rows, (uint32_t)tsr_minl(others, TSR_GRID_MOST));
        TSR_LAUNCH(queue, transpose_kernel<E>, grid, dim3(32, 8, 1), 0, *p, across, (const E *)from, (E *)to, constant);
    }
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

tsr_status tsr_cuda_rearrange(tsr_queue *queue, const tsr_rearrange *plan, const void *from, void *to, size_t element)
{
    switch (element) {
    case 1: TSR_TRY(rearrange_type<uint8_t>(queue, plan, from, to)); break;
    case 2: TSR_TRY(rearrange_type<uint16_t>(queue, plan, from, to)); break;
    case 4: TSR_TRY(rearrange_type<uint32_t>(queue, plan, from, to)); break;
    default: TSR_TRY(rearrange_type<uint64_t>(queue, plan, from, to)); break;
    }
    return TSR_OK;
}

/* ---- smoothing: one pass per axis, lanes along x; neighbours come from the first-level cache ---------------------------------------------- */

template <tsr_dtype T> TSR_HD float read_float(const tsr_source &s, int64_t i) { return (float)tsr_source_real<T>(s, i); }

template <tsr_dtype T, int AXIS> TSR_KERNEL(smooth_kernel)(tsr_smooth_plan p, tsr_source from, float *to)
{
    int64_t nx = p.size[0], ny = p.size[1], rows = ny * p.size[2], x = (int64_t)blockIdx.x * ROW + threadIdx.x;
    const float *w = p.weights[AXIS];
    int64_t stride = AXIS == 0 ? 1 : AXIS == 1 ? nx : nx * ny, n = p.size[AXIS], radius = p.radius[AXIS];
    if (x >= nx) return;
    for (int64_t r = (int64_t)blockIdx.y * ROWS + threadIdx.y; r < rows; r += (int64_t)gridDim.y * ROWS) {
        int64_t centre = r * nx + x, at = AXIS == 0 ? x : AXIS == 1 ? r % ny : r / ny, first = centre - at * stride;
        float sum = TSR_TAP_CENTRE(w[0], read_float<T>(from, centre));
        for (int64_t k = 1; k <= radius; k++)
            sum = TSR_TAP_PAIR(sum, __ldg(w + k), read_float<T>(from, first + tsr_clamp_index(at - k, n) * stride),
                               read_float<T>(from, first + tsr_clamp_index(at + k, n) * stride));
        to[centre] = sum;
    }
}

tsr_status tsr_cuda_smooth(tsr_queue *queue, const tsr_smooth_plan *plan, const tsr_source *from, float *to, float *scratch)
{
    dim3 grid = row_grid(plan->size[0], plan->size[1] * plan->size[2]);
    tsr_source first = { to, TSR_F32, 1, 0 }, second = { scratch, TSR_F32, 1, 0 };
    TSR_FOR_DTYPE(from->dtype, TSR_LAUNCH(queue, (smooth_kernel<T, 0>), grid, row_block(), 0, *plan, *from, to))
    TSR_LAUNCH(queue, (smooth_kernel<TSR_F32, 1>), grid, row_block(), 0, *plan, first, scratch);
    TSR_LAUNCH(queue, (smooth_kernel<TSR_F32, 2>), grid, row_block(), 0, *plan, second, to);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- Laplacian ---------------------------------------------------------------------------------------------------------------------------- */

TSR_KERNEL(laplacian_kernel)(const float *from, float *to, int64_t nx, int64_t ny, int64_t nz, float ix, float iy, float iz)
{
    int64_t x = (int64_t)blockIdx.x * ROW + threadIdx.x, rows = ny * nz;
    if (x >= nx) return;
    for (int64_t r = (int64_t)blockIdx.y * ROWS + threadIdx.y; r < rows; r += (int64_t)gridDim.y * ROWS) {
        int64_t y = r % ny, z = r / ny;
        const float *row = from + r * nx;
        to[r * nx + x] =
            tsr_laplacian7(row[x], row[tsr_clamp_index(x - 1, nx)], row[tsr_clamp_index(x + 1, nx)],
                           from[(z * ny + tsr_clamp_index(y - 1, ny)) * nx + x], from[(z * ny + tsr_clamp_index(y + 1, ny)) * nx + x],
                           from[(tsr_clamp_index(z - 1, nz) * ny + y) * nx + x], from[(tsr_clamp_index(z + 1, nz) * ny + y) * nx + x], ix, iy, iz);
    }
}

tsr_status tsr_cuda_laplacian(tsr_queue *queue, const float *from, float *to, const int64_t size[3], const float inverse[3])
{
    TSR_LAUNCH(queue, laplacian_kernel, row_grid(size[0], size[1] * size[2]), row_block(), 0, from, to, size[0], size[1], size[2], inverse[0],
               inverse[1], inverse[2]);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- resampling ----------------------------------------------------------------------------------------------------------------------------- */

template <tsr_dtype T, int LABEL> TSR_KERNEL(resample_kernel)(tsr_resample_plan p, const void *from, void *to)
{
    int64_t x = (int64_t)blockIdx.x * ROW + threadIdx.x, rows = p.size[1] * p.size[2];
    if (x >= p.size[0]) return;
    for (int64_t r = (int64_t)blockIdx.y * ROWS + threadIdx.y; r < rows; r += (int64_t)gridDim.y * ROWS) {
        double position[3];
        for (int a = 0; a < 3; a++)
            position[a] = tsr_resample_position(&p, a, tsr_resample_row(&p, a, (double)(r % p.size[1]), (double)(r / p.size[1])), (double)x);
        if (LABEL) tsr_resample_label_voxel(&p, from, T, to, r * p.size[0] + x, position);
        else tsr_resample_voxel(&p, from, T, to, r * p.size[0] + x, position);
    }
}

template <int LABEL> static tsr_status launch_resample(tsr_queue *queue, const tsr_resample_plan *plan, const void *from, tsr_dtype dtype, void *to)
{
    const dim3 grid = row_grid(plan->size[0], plan->size[1] * plan->size[2]);
    TSR_FOR_DTYPE(dtype, TSR_LAUNCH(queue, (resample_kernel<T, LABEL>), grid, row_block(), 0, *plan, from, to))
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

tsr_status tsr_cuda_resample(tsr_queue *queue, const tsr_resample_plan *plan, const void *from, tsr_dtype dtype, void *to)
{
    if (plan->interpolation == TSR_INTERPOLATE_LABEL) TSR_TRY(launch_resample<1>(queue, plan, from, dtype, to));
    else TSR_TRY(launch_resample<0>(queue, plan, from, dtype, to));
    return TSR_OK;
}
