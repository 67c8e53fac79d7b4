/* vision/features_cuda.cu: a block per tile of 64 x 64 pixels: a thread makes the regions of 4 x 4 pixels, shared memory the levels above; a second
 * launch joins up to 32 x 32 tiles per block. Pixels are read once, whatever the number of filters. Nothing waits, no atomics. */
#include "device/kernel.h"
#include "vision/features_ops.h"

enum { THREADS = 256 };

/* ROOM: regions of a cell that registers or local memory have place for: 1, the usual case, or any `keep`. 256 cells in Morton order, `keep` regions each,
 * become one, in place. */
template <int ROOM> TSR_DEVICE_FN void reduce_shared(tsr_blob *cells, int32_t keep, tsr_blob_rule rule)
{
    for (uint32_t n = THREADS / 4; n >= 1; n /= 4) {
        tsr_blob four[4 * ROOM], kept[ROOM];
        __syncthreads();
        if (threadIdx.x < n) {
            for (int32_t k = 0; k < (ROOM == 1 ? 4 : 4 * keep); k++) four[k] = cells[4 * keep * (int32_t)threadIdx.x + k];
            tsr_blob_compete(four, ROOM == 1 ? 1 : keep, rule, kept);
        }
        __syncthreads();
        if (threadIdx.x < n)
            for (int32_t k = 0; k < (ROOM == 1 ? 1 : keep); k++) cells[keep * (int32_t)threadIdx.x + k] = kept[k];
    }
    __syncthreads();
}

/* Whole words can be read: most blocks of most frames. */
TSR_DEVICE_FN int in_words(const tsr_frame_view &v, int32_t x, int32_t y)
{
    return !v.warp && !v.ycbcr && x + 4 <= v.width && y + 4 <= v.height && v.row % 4 == 0 && (uintptr_t)v.data % 4 == 0;
}
/* The 4 x 4 pixels at (x, y), r | g << 8 | b << 16. */
TSR_DEVICE_FN void load_block(const tsr_frame_view &v, int32_t x, int32_t y, uint32_t pixel[16])
{
#pragma unroll
    for (int32_t k = 0; k < 4; k++) {
        const uint32_t *row = (const uint32_t *)(const void *)(v.data + (y + k) * v.row + (int64_t)x * v.channels);
        if (v.channels == 1) {
            const uint32_t w = row[0];
#pragma unroll
            for (int32_t i = 0; i < 4; i++) pixel[4 * k + i] = (w >> (8 * i) & 255u) * 0x010101u;
        } else if (v.channels == 3) {
            const uint32_t a = row[0], b = row[1], c = row[2];
            pixel[4 * k] = a & 0xffffffu;
            pixel[4 * k + 1] = (a >> 24 | b << 8) & 0xffffffu;
            pixel[4 * k + 2] = (b >> 16 | c << 16) & 0xffffffu;
            pixel[4 * k + 3] = c >> 8;
        } else {
#pragma unroll
            for (int32_t i = 0; i < 4; i++) pixel[4 * k + i] = row[i] & 0xffffffu;
        }
    }
}

TSR_DEVICE_FN tsr_pixel unpack(uint32_t w)
{
    const tsr_pixel p = { (int32_t)(w & 255u), (int32_t)(w >> 8 & 255u), (int32_t)(w >> 16) };
    return p;
}

/* Bits of the pixels that pass, the kind known to the compiler. */
template <int KIND> TSR_DEVICE_FN uint32_t local_bits(tsr_feature_test test, const uint32_t pixel[16])
{
    uint32_t bits = 0;
    test.kind = KIND;
#pragma unroll
    for (int i = 0; i < 16; i++) bits |= (uint32_t)tsr_pixel_passes(&test, unpack(pixel[i])) << i;
    return bits;
}

/* Filters that look at neighbours, lenses, borders: pixel by pixel, one copy of the code. */
TSR_DEVICE_FN uint32_t slow_bits(const tsr_feature_test &test, const tsr_frame_view &v, int32_t x, int32_t y)
{
    uint32_t bits = 0;
#pragma unroll 1
    for (int32_t i = 0; i < 16; i++) {
        tsr_pixel p;
        if (tsr_frame_get(&v, v.data, x + (i & 3), y + (i >> 2), &p) && tsr_feature_passes(&test, &v, x + (i & 3), y + (i >> 2), p)) bits |= 1u << i;
    }
    return bits;
}

TSR_DEVICE_FN uint32_t test_bits(const tsr_feature_test &test, const tsr_frame_view &v, int32_t x, int32_t y, int words, const uint32_t pixel[16])
{
    if (!words || !test.local) return slow_bits(test, v, x, y);
    switch (test.kind) {
    case TSR_FEATURE_LUMINANCE: return local_bits<TSR_FEATURE_LUMINANCE>(test, pixel);
    case TSR_FEATURE_BOX: return local_bits<TSR_FEATURE_BOX>(test, pixel);
    case TSR_FEATURE_DISTANCE: return local_bits<TSR_FEATURE_DISTANCE>(test, pixel);
    case TSR_FEATURE_MASK: return local_bits<TSR_FEATURE_MASK>(test, pixel);
    default: return slow_bits(test, v, x, y); /* HSV: divisions, not worth sixteen copies */
    }
}

/* blockIdx.x: the tile, y: the image. */
template <int ROOM> TSR_KERNEL(tile_kernel)(tsr_features_job job)
{
    TSR_SHARED(tsr_blob, cells, THREADS * ROOM);
    const int32_t column = (int32_t)(blockIdx.x % (uint32_t)job.columns[0]), row = (int32_t)(blockIdx.x / (uint32_t)job.columns[0]);
    const int32_t image = (int32_t)blockIdx.y, i = (int32_t)threadIdx.x, keep = ROOM == 1 ? 1 : job.keep;
    const int32_t x = column * TSR_BLOB_TILE + 4 * tsr_blob_column(i), y = row * TSR_BLOB_TILE + 4 * tsr_blob_row(i);
    const tsr_frame_view v = tsr_features_view(&job, image);
    const int words = in_words(v, x, y);
    uint32_t pixel[16] = { 0 };
    if (words) load_block(v, x, y, pixel);
    for (int32_t n = 0; n < job.tests; n++) {
        const uint32_t bits = test_bits(job.test[n], v, x, y, words, pixel);
        tsr_blob *to = tsr_features_cell(&job, 0, image, n, row, column);
        if (__syncthreads_or(bits != 0)) {
            tsr_blob own[ROOM];
            tsr_blob_block(bits, x, y, keep, job.rule, own);
            for (int32_t k = 0; k < keep; k++) cells[keep * i + k] = own[k];
            reduce_shared<ROOM>(cells, keep, job.rule);
            if (i < keep) to[i] = cells[i];
        } else if (i < keep) {
            tsr_blob_clear(&to[i]);
        }
        __syncthreads(); /* the cells are read before the next filter writes them */
    }
}

/* blockIdx.x: the cell of `stage`, y: the test, z: the image. */
template <int ROOM> TSR_KERNEL(join_kernel)(tsr_features_job job, int32_t stage)
{
    TSR_SHARED(tsr_blob, cells, THREADS * ROOM);
    const int32_t column = (int32_t)(blockIdx.x % (uint32_t)job.columns[stage]), row = (int32_t)(blockIdx.x / (uint32_t)job.columns[stage]);
    const int32_t image = (int32_t)blockIdx.z, test = (int32_t)blockIdx.y, i = (int32_t)threadIdx.x, keep = ROOM == 1 ? 1 : job.keep;
    const int32_t x = column * TSR_FEATURES_JOIN + 2 * tsr_blob_column(i), y = row * TSR_FEATURES_JOIN + 2 * tsr_blob_row(i);
    tsr_blob four[4 * ROOM], kept[ROOM];
#pragma unroll
    for (int32_t c = 0; c < 4; c++) {
        const int32_t cx = x + (c & 1), cy = y + (c >> 1);
        const int within = cx < job.columns[stage - 1] && cy < job.rows[stage - 1];
        const tsr_blob *from = within ? tsr_features_cell(&job, stage - 1, image, test, cy, cx) : (const tsr_blob *)0;
        for (int32_t k = 0; k < keep; k++) {
            tsr_blob_clear(&four[c * keep + k]);
            if (within) four[c * keep + k] = from[k];
        }
    }
    tsr_blob_compete(four, keep, job.rule, kept);
    for (int32_t k = 0; k < keep; k++) cells[keep * i + k] = kept[k];
    reduce_shared<ROOM>(cells, keep, job.rule);
    if (i < keep) tsr_features_cell(&job, stage, image, test, row, column)[i] = cells[i];
}

TSR_KERNEL(mask_kernel)(tsr_features_job job, int32_t index, uint8_t *mask, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    const int32_t x = (int32_t)(i % job.frame.width), y = (int32_t)(i / job.frame.width % job.frame.height);
    const tsr_frame_view v = tsr_features_view(&job, (int32_t)(i / job.frame.width / job.frame.height));
    tsr_pixel p;
    mask[i] = (uint8_t)(tsr_frame_get(&v, v.data, x, y, &p) && tsr_feature_passes(&job.test[index], &v, x, y, p));
}

TSR_KERNEL(clear_kernel)(tsr_blob *blobs, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    tsr_blob_clear(&blobs[i]);
    blobs[i].x0 = blobs[i].y0 = INT32_MAX;
}

/* A thread takes 16 pixels of a row: their runs are added at once. */
TSR_KERNEL(measure_kernel)(const uint32_t *labels, int32_t width, int32_t height, tsr_blob *blobs)
{
    const int64_t pieces = (width + 15) / 16, i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= pieces * height) return;
    const int32_t y = (int32_t)(i / pieces), begin = (int32_t)(i % pieces) * 16, end = tsr_mini(width, begin + 16);
    const uint32_t *row = labels + (int64_t)y * width;
    for (int32_t x = begin; x < end;) {
        const int32_t first = x;
        const uint32_t label = row[x];
        while (x < end && row[x] == label) x++;
        if (!label) continue;
        tsr_blob run, *b = &blobs[label - 1];
        tsr_blob_run(&run, first, x, y);
        atomicMin(&b->x0, run.x0);
        atomicMin(&b->y0, run.y0);
        atomicMax(&b->x1, run.x1);
        atomicMax(&b->y1, run.y1);
        atomicAdd((unsigned long long *)&b->count, (unsigned long long)run.count);
        atomicAdd((unsigned long long *)&b->sum_x, (unsigned long long)run.sum_x);
        atomicAdd((unsigned long long *)&b->sum_y, (unsigned long long)run.sum_y);
    }
}

template <int ROOM> static void launch_all(tsr_queue *queue, const tsr_features_job *job)
{
    TSR_LAUNCH(queue, tile_kernel<ROOM>, dim3((uint32_t)job->columns[0] * (uint32_t)job->rows[0], (uint32_t)job->images), dim3(THREADS), 0, *job);
    for (int32_t s = 1; s < job->stages; s++)
        TSR_LAUNCH(queue, join_kernel<ROOM>, dim3((uint32_t)job->columns[s] * (uint32_t)job->rows[s], (uint32_t)job->tests, (uint32_t)job->images),
                   dim3(THREADS), 0, *job, s);
}

static tsr_status cuda_detect(tsr_queue *queue, const tsr_features_job *job)
{
    if (job->keep == 1) launch_all<1>(queue, job);
    else launch_all<TSR_BLOB_KEEP>(queue, job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_mask(tsr_queue *queue, const tsr_features_job *job, int32_t index, uint8_t *mask)
{
    const int64_t count = (int64_t)job->images * job->frame.width * job->frame.height;
    TSR_LAUNCH(queue, mask_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, *job, index, mask, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_measure(tsr_queue *queue, const uint32_t *labels, int32_t width, int32_t height, tsr_blob *blobs, int64_t count)
{
    TSR_LAUNCH(queue, clear_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, blobs, count);
    TSR_LAUNCH(queue, measure_kernel, tsr_blocks((int64_t)((width + 15) / 16) * height, THREADS, INT32_MAX), THREADS, 0, labels, width, height,
               blobs);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_features_ops tsr_features_cuda = { cuda_detect, cuda_mask, cuda_measure };
