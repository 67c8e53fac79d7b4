/* video/slices/core_cuda.cu: variable-length codes: a block decodes a sub-band, a thread a piece of its bits; a block codes a row of a sub-band.
 * Arithmetic codes: a warp decodes a sub-band. */
#include "device/kernel.h"
#include "video/slices/arithmetic_read.h"
#include "video/slices/core_jobs.h"
#include "video/slices/undo_prediction.h"

enum { THREADS = 256, BYTES = 256 };

/* ---- decoding ------------------------------------------------------------------------------------------------------------------------------ */

/* A sub-band, or a code block of it, that a block has before it. */
typedef struct core_run {
    const uint8_t *bytes;
    int64_t at, end; /* bits */
    int32_t *to;
    int64_t stride;
    int32_t width;
    int64_t count; /* coefficients */
    tsr_quantiser quantiser;
} core_run;

/* Sums up what precedes each thread, this one's map included. */
TSR_DEVICE_FN tsr_core_map compose_before(tsr_core_map *maps, tsr_core_map own)
{
    const int32_t thread = (int32_t)threadIdx.x;
    maps[thread] = own;
    __syncthreads();
    for (int32_t k = 1; k < THREADS; k *= 2) {
        const tsr_core_map before = thread >= k ? maps[thread - k] : tsr_core_nothing();
        __syncthreads();
        maps[thread] = tsr_core_compose(before, maps[thread]);
        __syncthreads();
    }
    return thread ? maps[thread - 1] : tsr_core_nothing();
}

/* The codes that begin in bits [at, at + TSR_CORE_PIECE); the first of them is coefficient k. Where the last one of the run ends goes to *behind. */
TSR_DEVICE_FN void read_piece(const core_run *r, int64_t at, int32_t state, int64_t k, int64_t *behind)
{
    if (at >= r->end || k >= r->count) return;
    tsr_slice_reader bits = tsr_slice_reader_at(r->bytes, at, r->end);
    const int32_t until = tsr_core_until(state, (uint32_t)(bits.word >> 32));
    if (until >= TSR_CORE_PIECE) return;
    tsr_slice_skip(&bits, until);
    while (k < r->count) {
        const int64_t here = tsr_core_position(&bits, r->end);
        if (here >= r->end || here >= at + TSR_CORE_PIECE) return;
        const int32_t value = tsr_quantiser_inverse(r->quantiser, tsr_slice_code(&bits));
        const uint32_t y = (uint32_t)k / (uint32_t)r->width;
        if (value) r->to[y * r->stride + ((uint32_t)k - y * (uint32_t)r->width)] = value;
        if (++k == r->count) *behind = tsr_core_position(&bits, r->end);
    }
}

/* Returns the bit behind the run. What lies beyond the end of the data is 0, and was it before. */
TSR_DEVICE_FN int64_t read_run(const core_run *r, const tsr_core_map *of_byte, tsr_core_map *maps, int64_t *behind)
{
    const int32_t thread = (int32_t)threadIdx.x;
    int64_t done = 0;
    int32_t state = 0;
    if (!thread) *behind = r->end;
    for (int64_t at = r->at; at < r->end && done < r->count; at += (int64_t)THREADS * TSR_CORE_PIECE) {
        const int64_t own = at + (int64_t)thread * TSR_CORE_PIECE;
        tsr_core_map map = tsr_core_nothing();
        if (own < r->end) {
            const uint32_t word = (uint32_t)(tsr_slice_reader_at(r->bytes, own, r->end).word >> 32);
            for (int32_t k = 24; k >= 0; k -= 8) map = tsr_core_compose(map, of_byte[word >> k & 255]);
        }
        const tsr_core_map before = compose_before(maps, map);
        read_piece(r, own, tsr_core_state(before, state), done + tsr_core_begun(before, state), behind);
        const tsr_core_map all = maps[THREADS - 1];
        __syncthreads();
        done += tsr_core_begun(all, state);
        state = tsr_core_state(all, state);
    }
    __syncthreads();
    const int64_t place = *behind;
    __syncthreads();
    return place;
}

/* A bit, or a code, at r->at. */
TSR_DEVICE_FN int32_t take_bit(core_run *r)
{
    const int32_t bit = r->at < r->end ? r->bytes[r->at >> 3] >> (7 - (r->at & 7)) & 1 : 1;
    r->at++;
    return bit;
}
TSR_DEVICE_FN int32_t take_code(core_run *r)
{
    if (r->at >= r->end) return 0;
    tsr_slice_reader bits = tsr_slice_reader_at(r->bytes, r->at, r->end);
    const int32_t value = tsr_slice_code(&bits);
    r->at = tsr_core_position(&bits, r->end);
    return value;
}

TSR_KERNEL(decode_kernel)(tsr_core_decode_job job)
{
    TSR_SHARED(tsr_core_map, of_byte, BYTES);
    TSR_SHARED(tsr_core_map, maps, THREADS);
    TSR_SHARED(int64_t, behind, 1);
    const tsr_core_band band = job.band[blockIdx.x];
    if (!band.size) return;
    of_byte[threadIdx.x] = tsr_core_map_of_byte(threadIdx.x);
    __syncthreads();
    const int32_t blocks = band.blocks[0] * band.blocks[1], offsets = job.offsets && !(job.old_blocks && blocks == 1);
    int32_t *const to = job.coefficients[band.component] + band.offset;
    int32_t index = band.index;
    core_run r;
    r.bytes = job.bytes;
    r.at = 8 * band.data;
    r.end = 8 * (band.data + band.size);
    r.stride = job.stride[band.component];
    for (int32_t k = 0; k < blocks; k++) {
        const int32_t bx = k % band.blocks[0], by = k / band.blocks[0];
        const int32_t x0 = (int32_t)((int64_t)band.width * bx / band.blocks[0]), x1 = (int32_t)((int64_t)band.width * (bx + 1) / band.blocks[0]);
        const int32_t y0 = (int32_t)((int64_t)band.height * by / band.blocks[1]), y1 = (int32_t)((int64_t)band.height * (by + 1) / band.blocks[1]);
        if (r.at >= r.end) return; /* all that is left is 0 */
        if (blocks > 1 && take_bit(&r)) continue;
        if (offsets) {
            const int64_t own = (int64_t)index + take_code(&r);
            if (own < 0 || own > TSR_QUANTISER_MOST) {
                if (!threadIdx.x) atomicAdd(job.failed, 1u);
                return; /* nothing of the band is known from here on */
            }
            index = (int32_t)own;
        }
        r.to = to + y0 * r.stride + x0;
        r.width = x1 - x0;
        r.count = (int64_t)r.width * (y1 - y0);
        r.quantiser = tsr_quantiser_make(index, job.inter);
        if (r.count) r.at = read_run(&r, of_byte, maps, behind);
    }
}

static tsr_status cuda_decode(tsr_queue *queue, const tsr_core_decode_job *job)
{
    TSR_LAUNCH(queue, decode_kernel, (uint32_t)job->bands, THREADS, 0, *job);
    return tsr_launch_check(queue);
}

/* ---- arithmetic codes ---------------------------------------------------------------------------------------------------------------------- */

enum { WARP = 32, BLOCK_ZERO = 1, BLOCK_FAILED };

/* What is around coefficient (x, y) of a band. */
typedef struct surroundings {
    int32_t above, corner, parent;
} surroundings;
TSR_DEVICE_FN surroundings look_around(const tsr_core_arithmetic_band *b, int32_t x, int32_t y, int32_t end)
{
    surroundings s = { 0, 0, 0 };
    const int32_t *above = b->to + (y - 1) * b->stride + x;
    if (x >= end) return s;
    if (y) s.above = above[0];
    if (y && x) s.corner = above[-1];
    if (b->parent) s.parent = b->parent[(y >> 1) * b->stride + (x >> 1)];
    return s;
}

/* A row of a code block. The first lane reads the codes; the others look around for it and store what it read. */
TSR_DEVICE_FN void read_arithmetic_row(tsr_arithmetic_reader *r, const tsr_core_arithmetic_band *b, tsr_quantiser q, int32_t x0, int32_t x1,
                                       int32_t y, int32_t *value)
{
    const int32_t lane = (int32_t)threadIdx.x;
    int32_t *const row = b->to + y * b->stride;
    int32_t left = x0 ? tsr_dirac_sign(row[x0 - 1]) : 0;
    surroundings s = look_around(b, x0 + lane, y, x1);
    for (int32_t x = x0; x < x1; x += WARP) {
        const surroundings next = look_around(b, x + WARP + lane, y, x1); /* on its way while codes are read */
        tsr_arithmetic_around a = { 0, 0, 0, 0 };
        a.near = __ballot_sync(TSR_WARP_ALL, s.above || s.corner);
        if (b->parent) a.parent = __ballot_sync(TSR_WARP_ALL, s.parent != 0);
        if (b->orientation == 1) {
            a.positive = __ballot_sync(TSR_WARP_ALL, s.above > 0);
            a.negative = __ballot_sync(TSR_WARP_ALL, s.above < 0);
        }
        uint32_t found = 0;
        if (!lane) found = tsr_arithmetic_read_row(r, a, tsr_mini(WARP, x1 - x), b->orientation == 2, &left, value);
        __syncwarp();
        found = __shfl_sync(TSR_WARP_ALL, found, 0);
        if (found >> lane & 1) row[x + lane] = tsr_quantiser_inverse(q, value[lane]);
        __syncwarp(); /* before the next row looks at it, and the first lane writes others */
        s = next;
    }
}

/* What precedes the coefficients of a code block. */
TSR_DEVICE_FN int32_t begin_block(tsr_arithmetic_reader *r, const tsr_core_arithmetic_band *b, int32_t *index)
{
    if (b->blocks[0] * b->blocks[1] > 1 && tsr_arithmetic_read(r, ZERO)) return BLOCK_ZERO;
    if (!b->offsets) return 0;
    const int64_t own = (int64_t)*index + tsr_arithmetic_read_offset(r);
    if (own < 0 || own > TSR_QUANTISER_MOST) return BLOCK_FAILED;
    *index = (int32_t)own;
    return 0;
}

TSR_KERNEL(arithmetic_kernel)(tsr_core_arithmetic_job job, int32_t first)
{
    TSR_SHARED(uint16_t, step, 256);
    TSR_SHARED(uint16_t, p, CONTEXTS);
    TSR_SHARED(int32_t, value, WARP);
    const int32_t lane = (int32_t)threadIdx.x;
    const tsr_core_arithmetic_band b = job.band[first + (int32_t)blockIdx.x];
    const int32_t nx = b.blocks[0], ny = b.blocks[1];
    for (int32_t k = lane; k < 256; k += WARP) step[k] = job.step[k];
    if (lane < CONTEXTS) p[lane] = 0x8000;
    __syncwarp();
    tsr_arithmetic_reader r = tsr_arithmetic_reader_at(job.bytes, b.data, b.size, step, p);
    int32_t index = b.index;
    for (int32_t k = 0; k < nx * ny; k++) {
        const int32_t bx = k % nx, by = k / nx;
        const int32_t x0 = (int32_t)((int64_t)b.width * bx / nx), x1 = (int32_t)((int64_t)b.width * (bx + 1) / nx);
        const int32_t y0 = (int32_t)((int64_t)b.height * by / ny), y1 = (int32_t)((int64_t)b.height * (by + 1) / ny);
        int32_t begun = 0;
        if (!lane) begun = begin_block(&r, &b, &index);
        begun = __shfl_sync(TSR_WARP_ALL, begun, 0);
        index = __shfl_sync(TSR_WARP_ALL, index, 0);
        if (begun == BLOCK_ZERO) continue;
        if (begun == BLOCK_FAILED) {
            if (!lane) atomicAdd(&job.failed[b.picture], 1u);
            return; /* nothing of the band is known from here on */
        }
        const tsr_quantiser q = tsr_quantiser_make(index, b.inter);
        for (int32_t y = y0; y < y1; y++) read_arithmetic_row(&r, &b, q, x0, x1, y, value);
    }
}

/* A block an approximation. */
TSR_KERNEL(undo_kernel)(tsr_core_arithmetic_job job)
{
    const tsr_core_arithmetic_band b = job.band[blockIdx.x];
    if (!b.inter) tsr_undo_prediction(b.to, b.stride, b.width, b.height);
}

static tsr_status cuda_arithmetic(tsr_queue *queue, const tsr_core_arithmetic_job *job)
{
    for (int32_t level = 0; level < job->levels; level++) {
        const int32_t count = job->first[level + 1] - job->first[level];
        if (count) TSR_LAUNCH(queue, arithmetic_kernel, (uint32_t)count, WARP, 0, *job, job->first[level]);
    }
    if (job->first[1]) TSR_LAUNCH(queue, undo_kernel, (uint32_t)job->first[1], TSR_UNDO_THREADS, 0, *job);
    return tsr_launch_check(queue);
}

/* ---- coding -------------------------------------------------------------------------------------------------------------------------------- */

/* The approximation of an intra picture: a block a component, a thread a row, each a column behind the row above. */
TSR_KERNEL(predict_kernel)(tsr_core_encode_job job)
{
    const tsr_core_band band = job.band[blockIdx.x];
    if (!band.predicted) return;
    const int64_t stride = job.stride[band.component];
    const int32_t *from = job.coefficients[band.component] + band.offset;
    int32_t *quantised = job.quantised[band.component] + band.offset, *decoded = job.decoded[band.component] + band.offset;
    const tsr_quantiser q = tsr_quantiser_make(band.index, job.inter);
    for (int32_t first = 0; first < band.height; first += THREADS) {
        const int32_t y = first + (int32_t)threadIdx.x, rows = tsr_mini(band.height - first, THREADS);
        for (int32_t step = 0; step < band.width + rows - 1; step++) {
            const int32_t x = step - (int32_t)threadIdx.x;
            const int64_t at = y * stride + x;
            if (y < band.height && x >= 0 && x < band.width)
                (void)tsr_dirac_close_loop(from[at], decoded + at, stride, x, y, job.scale[band.index], q, quantised + at);
            __syncthreads();
        }
    }
}

TSR_DEVICE_FN int64_t block_sum(int64_t *sums, int64_t own)
{
    sums[threadIdx.x] = own;
    __syncthreads();
    for (uint32_t k = THREADS / 2; k; k /= 2) {
        if (threadIdx.x < k) sums[threadIdx.x] += sums[threadIdx.x + k];
        __syncthreads();
    }
    const int64_t all = sums[0];
    __syncthreads();
    return all;
}

/* Sums of all threads up to this one. */
TSR_DEVICE_FN int64_t block_scan(int64_t *sums, int64_t own)
{
    sums[threadIdx.x] = own;
    __syncthreads();
    for (uint32_t k = 1; k < THREADS; k *= 2) {
        const int64_t before = threadIdx.x >= k ? sums[threadIdx.x - k] : 0;
        __syncthreads();
        sums[threadIdx.x] += before;
        __syncthreads();
    }
    return sums[threadIdx.x];
}

/* Row blockIdx.x of band blockIdx.y. */
TSR_KERNEL(quantise_kernel)(tsr_core_encode_job job)
{
    TSR_SHARED(int64_t, sums, THREADS);
    const tsr_core_band band = job.band[blockIdx.y];
    const int32_t y = (int32_t)blockIdx.x;
    if (y >= band.height) return;
    const int64_t at = band.offset + y * job.stride[band.component];
    const int32_t *from = job.coefficients[band.component] + at;
    int32_t *quantised = job.quantised[band.component] + at, *decoded = job.decoded[band.component] + at;
    const tsr_quantiser q = tsr_quantiser_make(band.index, job.inter);
    const uint64_t scale = job.scale[band.index];
    int64_t bits = 0;
    for (int32_t x = (int32_t)threadIdx.x; x < band.width; x += THREADS) {
        if (!band.predicted) {
            quantised[x] = tsr_core_quantise(from[x], scale);
            decoded[x] = tsr_quantiser_inverse(q, quantised[x]);
        }
        bits += tsr_core_length(quantised[x]);
    }
    bits = block_sum(sums, bits);
    if (!threadIdx.x) job.row[(int64_t)blockIdx.y * job.tallest + y] = bits;
}

/* A block a band: where its rows begin, and its bytes. */
TSR_KERNEL(place_kernel)(tsr_core_encode_job job)
{
    TSR_SHARED(int64_t, sums, THREADS);
    tsr_core_band *band = &job.band[blockIdx.x];
    int64_t *row = job.row + (int64_t)blockIdx.x * job.tallest, before = 0;
    for (int32_t first = 0; first < band->height; first += THREADS) {
        const int32_t y = first + (int32_t)threadIdx.x;
        const int64_t own = y < band->height ? row[y] : 0, upto = block_scan(sums, own);
        if (y < band->height) row[y] = before + upto - own;
        before += sums[THREADS - 1];
        __syncthreads();
    }
    if (!threadIdx.x) band->size = before == (int64_t)band->width * band->height ? 0 : (before + 7) / 8; /* a bit each: all are 0 */
}

static tsr_status cuda_measure(tsr_queue *queue, const tsr_core_encode_job *job)
{
    TSR_LAUNCH(queue, predict_kernel, (uint32_t)job->bands, THREADS, 0, *job);
    TSR_LAUNCH(queue, quantise_kernel, dim3((uint32_t)job->tallest, (uint32_t)job->bands), THREADS, 0, *job);
    TSR_LAUNCH(queue, place_kernel, (uint32_t)job->bands, THREADS, 0, *job);
    return tsr_launch_check(queue);
}

/* The low `count` bits of v, up to 64, at bit `at` of memory that is 0 there. */
TSR_DEVICE_FN void put_bits(uint8_t *bytes, int64_t at, uint64_t v, int32_t count)
{
    while (count > 0) {
        const int32_t free = 32 - (int32_t)(at & 31), take = tsr_mini(free, count);
        const uint32_t part = (uint32_t)(v >> (count - take)) & (0xffffffffu >> (32 - take));
        atomicOr((uint32_t *)(void *)bytes + (at >> 5), tsr_slice_swap(part << (free - take)));
        at += take;
        count -= take;
    }
}

TSR_KERNEL(write_kernel)(tsr_core_encode_job job)
{
    TSR_SHARED(int64_t, sums, THREADS);
    const tsr_core_band band = job.band[blockIdx.y];
    const int32_t y = (int32_t)blockIdx.x;
    if (y >= band.height || !band.size) return;
    const int32_t *quantised = job.quantised[band.component] + band.offset + y * job.stride[band.component];
    int64_t at = 8 * band.data + job.row[(int64_t)blockIdx.y * job.tallest + y];
    for (int32_t first = 0; first < band.width; first += THREADS) {
        const int32_t x = first + (int32_t)threadIdx.x, value = x < band.width ? quantised[x] : 0;
        const int32_t bits = x < band.width ? tsr_core_length(value) : 0;
        const int64_t upto = at + block_scan(sums, bits);
        if (bits) put_bits(job.bytes, upto - bits, tsr_slice_code_of(value), bits);
        at += sums[THREADS - 1];
        __syncthreads();
    }
    if (threadIdx.x || y < band.height - 1) return;
    put_bits(job.bytes, at, ~(uint64_t)0, (int32_t)(8 * (band.data + band.size) - at));
}

static tsr_status cuda_write(tsr_queue *queue, const tsr_core_encode_job *job)
{
    TSR_LAUNCH(queue, write_kernel, dim3((uint32_t)job->tallest, (uint32_t)job->bands), THREADS, 0, *job);
    return tsr_launch_check(queue);
}

extern "C" const tsr_core_ops tsr_core_cuda = { cuda_decode, cuda_measure, cuda_write, cuda_arithmetic };
