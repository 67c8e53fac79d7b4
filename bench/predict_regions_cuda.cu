/* bench/predict_regions_cuda.cu: the kernel of predict_regions.h. A module of its own that bench_dirac opens, and in the emulator for the suite
 * test_dirac_regions; the library does not use it.
 *
 * A block of threads has regions of one kind: a row of them, whose columns it takes one a thread, left to right, leaving out those of the other kind; a thread
 * goes down its column REGION_ROWS rows at a time. How many blocks are added is known to the compiler, the rows' weights are the same for all
 * threads, and where one block lies alone its value is the result. */
#include "device/kernel.h"

#include "predict_regions.h"

/* Of a reference, `rows` rows. */
template <int PLACES>
TSR_DEVICE_FN void fetch_rows(const tsr_dirac_run_source *s, const tsr_dirac_run_view *view, int32_t rows, int32_t value[REGION_ROWS])
{
#pragma unroll
    for (int k = 0; k < REGION_ROWS; k++)
        if (k < rows) value[k] = tsr_dirac_run_fetch(s, view, PLACES, k);
}

/* What block b says of `rows` rows of column x from y on. By all lanes of a warp, with the same rows. */
TSR_DEVICE_FN void block_rows(const tsr_dirac_predict_job *j, const tsr_dirac_run_source *s, const tsr_dirac_block *b, int32_t x, int32_t y,
                              int32_t rows, int32_t value[REGION_ROWS])
{
    int32_t from[2][REGION_ROWS];
    int far = b->mode && b->global; /* not all lies within the references */
#pragma unroll
    for (int r = 0; r < 2; r++) {
        tsr_dirac_run_view view;
        int32_t places = 0;
        if (b->mode >> r & 1 && !far) {
            places = tsr_dirac_run_look(s, b->vector[r], r, x, y, rows, &view);
            far = !places;
        }
#pragma unroll
        for (int k = 0; k < REGION_ROWS; k++) from[r][k] = 0;
        const int32_t most = __reduce_max_sync(TSR_WARP_ALL, places); /* one way for the warp: places beyond a lane's have weight 0 */
        if (!places) continue;
        if (most == 1) fetch_rows<1>(s, &view, rows, from[r]);
        else if (most == 2) fetch_rows<2>(s, &view, rows, from[r]);
        else fetch_rows<4>(s, &view, rows, from[r]);
    }
    const int32_t c = j->component, dc = c == 0 ? b->dc[0] : c == 1 ? b->dc[1] : b->dc[2]; /* in registers */
#pragma unroll
    for (int k = 0; k < REGION_ROWS; k++) {
        const int32_t both[2] = { from[0][k], from[1][k] };
        value[k] = b->mode ? tsr_dirac_weigh(j, b->mode, both) : dc;
    }
    if (!far) return;
#pragma unroll 1
    for (int32_t k = 0; k < rows; k++) {
        const int32_t one = tsr_dirac_block_value(j, b, x, y + k);
#pragma unroll
        for (int i = 0; i < REGION_ROWS; i++) value[i] = i == k ? one : value[i];
    }
}

/* Block of threads number `at` of a kind: ACROSS blocks beside each other cover a sample, DOWN above each other. */
template <int ACROSS, int DOWN> TSR_DEVICE_FN void predict_region(const tsr_dirac_predict_job *j, const predict_regions *r, int32_t at)
{
    enum { SHIFT = 3 * (ACROSS - 1) + 3 * (DOWN - 1) }; /* weights are of 8 along an axis with an overlap, of 1 along another */
    TSR_SHARED(int32_t, ramp, TSR_DIRAC_BLOCK_MOST / 2);
    const tsr_dirac_run_source source = tsr_dirac_run_source_of(j);
    const int32_t band = at / r->tiles[ACROSS - 1], place = at % r->tiles[ACROSS - 1] * REGION_ACROSS + (int32_t)threadIdx.x;
    const int32_t own = place < r->x.places[ACROSS - 1];
    int32_t begin, end, block, wx = 1;
    regions_band(&r->y, DOWN - 1, band, &begin, &end);
    if (begin >= end) return;                                                                                 /* the whole block */
    const int32_t x = regions_place(&r->x, ACROSS - 1, tsr_mini(place, r->x.places[ACROSS - 1] - 1), &block); /* whole warps */
    if (DOWN == 2) {
        for (int32_t k = (int32_t)threadIdx.x; k < end - begin; k += REGION_ACROSS) ramp[k] = regions_weight(&r->y, k, band);
        __syncthreads();
    }
    if (ACROSS == 2) wx = regions_weight(&r->x, x - ((block + 1) * r->x.e.separation - r->x.e.offset), block);
#pragma unroll 1
    for (int32_t y = begin; y < end; y += REGION_ROWS) {
        const int32_t rows = tsr_mini(REGION_ROWS, end - y);
        int32_t sum[REGION_ROWS];
#pragma unroll
        for (int k = 0; k < REGION_ROWS; k++) sum[k] = 1 << SHIFT >> 1;
#pragma unroll 1
        for (int32_t i = 0; i < ACROSS * DOWN; i++) {
            const int32_t u = i % ACROSS, v = i / ACROSS;
            const uint4 words = *(const uint4 *)(const void *)&j->blocks[(int64_t)(band + v) * r->x.e.count + block + u];
            tsr_dirac_block b;
            int32_t value[REGION_ROWS];
            memcpy(&b, &words, sizeof b);
            block_rows(j, &source, &b, x, y, rows, value);
#pragma unroll
            for (int k = 0; k < REGION_ROWS; k++) {
                if (k >= rows) continue;
                const int32_t wy = DOWN == 1 ? 1 : v ? 8 - ramp[y - begin + k] : ramp[y - begin + k];
                sum[k] += (u ? 8 - wx : wx) * wy * value[k];
            }
        }
#pragma unroll
        for (int k = 0; k < REGION_ROWS; k++)
            if (own && k < rows) j->predicted[(int64_t)(y + k) * j->stride + x] = sum[k] >> SHIFT;
    }
}

/* The dearest regions come first. */
TSR_KERNEL(__launch_bounds__(REGION_ACROSS, 8) regions_kernel)(tsr_dirac_predict_job job, predict_regions r)
{
    int32_t at = (int32_t)blockIdx.x;
    if (at < r.blocks[3]) predict_region<2, 2>(&job, &r, at);
    else if ((at -= r.blocks[3]) < r.blocks[2]) predict_region<1, 2>(&job, &r, at);
    else if ((at -= r.blocks[2]) < r.blocks[1]) predict_region<2, 1>(&job, &r, at);
    else predict_region<1, 1>(&job, &r, at - r.blocks[1]);
}

/* The job's memory is the device's. Launched; 0: that failed. */
extern "C" __attribute__((visibility("default"))) int predict_by_regions(tsr_queue *queue, const tsr_dirac_predict_job *job)
{
    static_assert(sizeof(tsr_dirac_block) == sizeof(uint4), "a block is read at once");
    const predict_regions r = predict_regions_of(job);
    int32_t blocks = 0;
    for (int32_t k = 0; k < REGION_KINDS; k++) blocks += r.blocks[k];
    TSR_LAUNCH(queue, regions_kernel, (uint32_t)blocks, REGION_ACROSS, 0, *job, r);
#ifdef TSR_EMU
    return tsr_launch_check(queue) == TSR_OK;
#else
    return cudaPeekAtLastError() == cudaSuccess;
#endif
}
