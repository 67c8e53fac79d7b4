/* video/dirac/dirac_cuda.cu: a thread a sample; of predictions, a few rows of a column within a region. */
#include "device/kernel.h"
#include "video/dirac/dirac_ops.h"
#include "video/dirac/predict_regions.h"
#include "video/dirac/predict_rows.h"
#include "video/slices/core_jobs.h"

enum { THREADS = 256 };

/* Blocks of THREADS samples of a row, row after row. */
#define COLUMNS(width) tsr_blocks(width, THREADS, INT32_MAX)
TSR_DEVICE_FN int32_t column(uint32_t columns) { return (int32_t)(blockIdx.x % columns * THREADS + threadIdx.x); }

/* Samples of a row that a thread stores. */
enum { STORED = 4 };
#define STORE_COLUMNS(width) tsr_blocks(width, THREADS *STORED, INT32_MAX)

/* The same of STORED samples that may be moved at once. */
TSR_DEVICE_FN void store_together(const tsr_dirac_store_job *j, int32_t x, int64_t y)
{
    const int32_t half = 1 << (j->depth - 1);
    int64_t sum[STORED] = { 0, 0, 0, 0 };
    uint64_t around = 0, shown = 0;
    if (j->residue) {
        const tsr_slice_four residue = *(const tsr_slice_four *)(const void *)(j->residue + y * j->stride + x);
        for (int k = 0; k < STORED; k++) sum[k] = residue.v[k];
    }
    if (j->predicted) {
        const tsr_slice_four predicted = *(const tsr_slice_four *)(const void *)(j->predicted + y * j->predicted_stride + x);
        for (int k = 0; k < STORED; k++) sum[k] += predicted.v[k];
    }
    for (int k = 0; k < STORED; k++) {
        const int32_t value = tsr_dirac_shown(sum[k], half);
        around |= (uint64_t)(uint16_t)(value - half) << 16 * k;
        shown |= (uint64_t)(uint32_t)value << 8 * j->bytes * k;
    }
    if (j->reference) *(uint64_t *)(void *)((int16_t *)j->reference + y * j->width + x) = around;
    if (!j->plane) return;
    if (j->bytes == 1) *(uint32_t *)(void *)((uint8_t *)j->plane + y * j->plane_stride + x) = (uint32_t)shown;
    else *(uint64_t *)(void *)((uint16_t *)j->plane + y * j->plane_stride + x) = shown;
}

TSR_DEVICE_FN void store_samples(const tsr_dirac_store_job *j, int32_t width, uint32_t columns)
{
    const int32_t x = (int32_t)((blockIdx.x % columns * THREADS + threadIdx.x) * STORED);
    const int64_t y = blockIdx.x / columns, apart = j->stride | j->predicted_stride | j->plane_stride | (j->reference ? width : 0);
    const uintptr_t places = (uintptr_t)j->residue | (uintptr_t)j->predicted | (uintptr_t)j->plane << 1 | (uintptr_t)j->reference << 1;
    if (x + STORED <= width && !j->narrow && !(apart & (STORED - 1)) && !(places & 15)) {
        store_together(j, x, y);
        return;
    }
    for (int32_t k = x; k < tsr_mini(x + STORED, width); k++) tsr_dirac_store_sample(j, k, y);
}

TSR_KERNEL(store_kernel)(tsr_dirac_store_job job, uint32_t columns) { store_samples(&job, job.width, columns); }

/* ---- predictions --------------------------------------------------------------------------------------------------------------------------- */

enum { ACROSS = TSR_DIRAC_REGION_ACROSS, ROWS = TSR_DIRAC_REGION_ROWS };

/* A sample is predicted. */
TSR_DEVICE_FN void put_predicted(const tsr_dirac_predict_job *j, const tsr_dirac_store_job *store, int32_t x, int32_t y, int32_t residue,
                                 int32_t value)
{
    if (store) tsr_dirac_store_sum(store, x, y, (int64_t)residue + value);
    else j->predicted[(int64_t)y * j->stride + x] = value;
}

/* A block of threads has regions of one kind: a row of them, whose columns it takes one a thread, left to right, leaving out those of the other kind; a
 * thread goes down its column ROWS rows at a time. How many blocks are added is known to the compiler, the rows' weights are the same for all threads, and
 * where one block lies alone its value is the result. `at` is its number among those of a kind: BESIDE blocks beside each other cover a sample, ABOVE
 * above each other. */
template <int BESIDE, int ABOVE>
TSR_DEVICE_FN void predict_region(const tsr_dirac_predict_job *j, const tsr_dirac_store_job *store, const tsr_dirac_regions *r, int32_t at)
{
    enum { SHIFT = 3 * (BESIDE - 1) + 3 * (ABOVE - 1) }; /* weights are of 8 along an axis with an overlap, of 1 along another */
    TSR_SHARED(int32_t, ramp, TSR_DIRAC_BLOCK_MOST / 2);
    const tsr_dirac_run_source source = tsr_dirac_run_source_of(j);
    const int32_t band = at / r->tiles[BESIDE - 1], place = at % r->tiles[BESIDE - 1] * ACROSS + (int32_t)threadIdx.x;
    const int32_t own = place < r->x.places[BESIDE - 1];
    int32_t begin, end, block, wx = 1;
    uint32_t single = 0; /* groups of rows that lead out of the references: bit k for those from k ROWS on */
    tsr_dirac_axis_band(&r->y, ABOVE - 1, band, &begin, &end);
    if (begin >= end) return;                                                                                        /* the whole block */
    const int32_t x = tsr_dirac_axis_place(&r->x, BESIDE - 1, tsr_mini(place, r->x.places[BESIDE - 1] - 1), &block); /* whole warps */
    if (ABOVE == 2) {
        for (int32_t k = (int32_t)threadIdx.x; k < end - begin; k += ACROSS) ramp[k] = tsr_dirac_axis_weight(&r->y, k, band);
        __syncthreads();
    }
    if (BESIDE == 2) wx = tsr_dirac_axis_weight(&r->x, x - ((block + 1) * r->x.e.separation - r->x.e.offset), block);
#pragma unroll 1
    for (int32_t y = begin; y < end; y += ROWS) {
        const int32_t rows = tsr_mini(ROWS, end - y);
        int32_t sum[ROWS], residue[ROWS] = { 0 }, within = 1;
#pragma unroll
        for (int k = 0; k < ROWS; k++) sum[k] = 1 << SHIFT >> 1;
        if (store && store->residue) { /* is on its way while the blocks are looked at */
#pragma unroll
            for (int k = 0; k < ROWS; k++)
                if (k < rows) residue[k] = store->residue[(y + k) * store->stride + x];
        }
#pragma unroll 1
        for (int32_t i = 0; i < BESIDE * ABOVE; i++) {
            const int32_t u = i % BESIDE, v = i / BESIDE;
            const tsr_dirac_block b = tsr_dirac_block_at(j, (int64_t)(band + v) * r->x.e.count + block + u);
            int32_t value[ROWS];
            within &= tsr_dirac_block_rows<ROWS, 1>(j, &source, &b, x, y, rows, (1 << rows) - 1, value);
#pragma unroll
            for (int k = 0; k < ROWS; k++) {
                if (k >= rows) continue;
                const int32_t wy = ABOVE == 1 ? 1 : v ? 8 - ramp[y - begin + k] : ramp[y - begin + k];
                sum[k] += (u ? 8 - wx : wx) * wy * value[k];
            }
        }
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            if (own && within && k < rows) put_predicted(j, store, x, y + k, residue[k], sum[k] >> SHIFT);
        single |= (uint32_t)!within << (y - begin) / ROWS;
    }
    if (!own || !single) return;
#pragma unroll 1
    for (int32_t y = begin; y < end; y++) { /* rare: samples one by one, here, where little else is in registers */
        if (!(single >> (y - begin) / ROWS & 1)) continue;
        const int32_t residue = store && store->residue ? store->residue[y * store->stride + x] : 0;
        put_predicted(j, store, x, y, residue, tsr_dirac_predict_sample(j, x, y));
    }
}

/* The dearest regions come first. */
TSR_DEVICE_FN void predict_regions(const tsr_dirac_predict_job *j, const tsr_dirac_store_job *store, const tsr_dirac_regions *r)
{
    int32_t at = (int32_t)blockIdx.x;
    if (at < r->blocks[3]) predict_region<2, 2>(j, store, r, at);
    else if ((at -= r->blocks[3]) < r->blocks[2]) predict_region<1, 2>(j, store, r, at);
    else if ((at -= r->blocks[2]) < r->blocks[1]) predict_region<2, 1>(j, store, r, at);
    else predict_region<1, 1>(j, store, r, at - r->blocks[1]);
}

TSR_KERNEL(__launch_bounds__(ACROSS, 8) predict_kernel)(tsr_dirac_predict_job job, tsr_dirac_regions r) { predict_regions(&job, NULL, &r); }
TSR_KERNEL(__launch_bounds__(ACROSS, 8) predict_store_kernel)(tsr_dirac_predict_job job, tsr_dirac_store_job store, tsr_dirac_regions r)
{
    predict_regions(&job, &store, &r);
}

/* The same of jobs in memory: what a graph launches again for pictures with other jobs. */
TSR_KERNEL(store_there_kernel)(const tsr_dirac_store_job *jobs, int32_t width, uint32_t columns) { store_samples(jobs + blockIdx.y, width, columns); }

TSR_KERNEL(__launch_bounds__(ACROSS, 8) predict_there_kernel)
(const tsr_dirac_predict_job *jobs, const tsr_dirac_store_job *stores, tsr_dirac_regions r)
{
    predict_regions(jobs + blockIdx.y, stores + blockIdx.y, &r);
}

TSR_KERNEL(load_kernel)(tsr_dirac_load_job job, uint32_t columns)
{
    const int32_t x = column(columns);
    if (x < job.padded_width) tsr_dirac_load_sample(&job, x, blockIdx.x / columns);
}

/* ---- half samples -------------------------------------------------------------------------------------------------------------------------- */

/* A warp takes a strip of HALVED columns and goes down HALF_ROWS rows of it; on both sides of the strip lanes have the columns that its taps reach. A
 * lane keeps eight rows of its column, around the half row that comes next. */
enum { TAPS = 8, BEFORE = 3, HALVED = 32 - TAPS + 1, HALF_ROWS = 16 };

TSR_KERNEL(half_kernel)(tsr_dirac_half_job job, uint32_t strips, uint32_t tasks)
{
    const uint32_t task = blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
    const int32_t lane = (int32_t)threadIdx.x & 31, x = (int32_t)(task % strips) * HALVED + lane - BEFORE,
                  begin = (int32_t)(task / strips) * HALF_ROWS;
    const int32_t end = tsr_mini(begin + HALF_ROWS, job.height), own = lane >= BEFORE && lane < BEFORE + HALVED && x < job.width;
    const int64_t plane = (int64_t)job.width * job.height;
    const int16_t *from = (const int16_t *)job.grid + tsr_dirac_clamp(x, 0, job.width - 1);
    int32_t rows[TAPS];
    if (task >= tasks) return; /* the whole warp */
#pragma unroll
    for (int k = 1; k < TAPS; k++) rows[k] = from[(int64_t)tsr_dirac_clamp(begin - BEFORE - 1 + k, 0, job.height - 1) * job.width];
#pragma unroll 8
    for (int32_t y = begin; y < end; y++) {
        int32_t whole[TAPS], below[TAPS];
#pragma unroll
        for (int k = 1; k < TAPS; k++) rows[k - 1] = rows[k];
        rows[TAPS - 1] = from[(int64_t)tsr_mini(y - BEFORE + TAPS - 1, job.height - 1) * job.width];
        const int32_t half = tsr_dirac_half_taps(rows, job.low, job.high);
        const uint32_t both = (uint32_t)(uint16_t)rows[BEFORE] | (uint32_t)half << 16;
#pragma unroll
        for (int k = 0; k < TAPS; k++) {
            const uint32_t there = __shfl_sync(TSR_WARP_ALL, both, tsr_maxi(0, tsr_mini(lane - BEFORE + k, 31)));
            whole[k] = (int16_t)there;
            below[k] = (int32_t)there >> 16;
        }
        if (!own) continue;
        int16_t *to = (int16_t *)job.grid + (int64_t)y * job.width + x;
        const int between = x + 1 < job.width; /* behind the last column is none */
        to[plane] = between ? (int16_t)tsr_dirac_half_taps(whole, job.low, job.high) : 0;
        if (y + 1 == job.height) continue;
        to[2 * plane] = (int16_t)half;
        to[3 * plane] = between ? (int16_t)tsr_dirac_half_taps(below, job.low, job.high) : 0;
    }
}

static tsr_status cuda_store(tsr_queue *queue, const tsr_dirac_store_job *job)
{
    TSR_LAUNCH(queue, store_kernel, STORE_COLUMNS(job->width) * (uint32_t)job->height, THREADS, 0, *job, STORE_COLUMNS(job->width));
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_predict(tsr_queue *queue, const tsr_dirac_predict_job *job)
{
    const tsr_dirac_regions r = tsr_dirac_regions_of(job);
    const uint32_t blocks = tsr_dirac_region_blocks(&r);
    if (job->store) TSR_LAUNCH(queue, predict_store_kernel, blocks, ACROSS, 0, *job, *job->store, r);
    else TSR_LAUNCH(queue, predict_kernel, blocks, ACROSS, 0, *job, r);
    return tsr_launch_check(queue);
}

static tsr_status cuda_store_there(tsr_queue *queue, const tsr_dirac_store_job *there, int32_t width, int32_t height, int32_t count)
{
    const uint32_t blocks = STORE_COLUMNS(width) * (uint32_t)height;
    TSR_LAUNCH(queue, store_there_kernel, dim3(blocks, (uint32_t)count), THREADS, 0, there, width, STORE_COLUMNS(width));
    return tsr_launch_check(queue);
}

static tsr_status cuda_predict_there(tsr_queue *queue, const tsr_dirac_predict_job *there, const tsr_dirac_store_job *stores,
                                     const tsr_dirac_predict_job *job, int32_t count)
{
    const tsr_dirac_regions r = tsr_dirac_regions_of(job);
    TSR_LAUNCH(queue, predict_there_kernel, dim3(tsr_dirac_region_blocks(&r), (uint32_t)count), ACROSS, 0, there, stores, r);
    return tsr_launch_check(queue);
}

/* Eight numbers a thread: what is moved at once. */
enum { WIDENED = 8 };

TSR_KERNEL(widen_kernel)(const int16_t *from, int64_t there, int32_t *to, int64_t count)
{
    const int64_t first = ((int64_t)blockIdx.x * THREADS + threadIdx.x) * WIDENED;
    if (first + WIDENED <= count && (first + WIDENED <= there || first >= there) && !((uintptr_t)to & 15)) {
        tsr_slice_four both = { { 0, 0, 0, 0 } };
        if (first < there) both = *(const tsr_slice_four *)(const void *)(from + first);
        for (int h = 0; h < 2; h++) {
            tsr_slice_four four;
            for (int k = 0; k < 4; k++) four.v[k] = (int16_t)(both.v[2 * h + k / 2] >> 16 * (k % 2));
            *(tsr_slice_four *)(void *)(to + first + 4 * h) = four;
        }
        return;
    }
    for (int64_t k = first; k < tsr_minl(first + WIDENED, count); k++) to[k] = k < there ? from[k] : 0;
}

static tsr_status cuda_widen(tsr_queue *queue, const int16_t *from, int64_t there, int32_t *to, int64_t count)
{
    TSR_LAUNCH(queue, widen_kernel, tsr_blocks(count, THREADS * WIDENED, INT32_MAX), THREADS, 0, from, there, to, count);
    return tsr_launch_check(queue);
}

static tsr_status cuda_load(tsr_queue *queue, const tsr_dirac_load_job *job)
{
    TSR_LAUNCH(queue, load_kernel, COLUMNS(job->padded_width) * (uint32_t)job->padded_height, THREADS, 0, *job, COLUMNS(job->padded_width));
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_half(tsr_queue *queue, const tsr_dirac_half_job *job)
{
    const uint32_t strips = tsr_blocks(job->width, HALVED, INT32_MAX), tasks = strips * tsr_blocks(job->height, HALF_ROWS, INT32_MAX);
    TSR_LAUNCH(queue, half_kernel, tsr_blocks(tasks, THREADS / 32, INT32_MAX), THREADS, 0, *job, strips, tasks);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_slice_ops tsr_slice_cuda;
extern "C" const tsr_core_ops tsr_core_cuda;
/* A recording that fails leaves no error behind for the launches that take its place. */
static tsr_status forgive(tsr_queue *queue, tsr_status status)
{
    if (status != TSR_OK) (void)tsr_launch_check(queue);
    return status;
}
static tsr_status record_begin(tsr_queue *queue) { return forgive(queue, tsr_graph_begin(queue)); }
static tsr_status record_end(tsr_queue *queue, tsr_graph **graph) { return forgive(queue, tsr_graph_end(queue, graph)); }

static const tsr_dirac_record_ops record_ops = { record_begin, record_end, tsr_graph_launch, tsr_graph_destroy };
extern "C" const tsr_dirac_ops tsr_dirac_cuda = { cuda_store,         cuda_predict, cuda_load,   cuda_half,       cuda_store_there,
                                                  cuda_predict_there, cuda_widen,   &record_ops, &tsr_slice_cuda, &tsr_core_cuda };
