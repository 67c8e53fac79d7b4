/* bench/wavelet_variants_cuda.cu: the ways of wavelet_variants.h on a GPU, as [Laan11w] describes them for its own (docs/theory/wavelets.md 7). A module of its
 * own that bench_wavelet opens; the library uses none of it.
 *
 * Along x a block of 256 threads takes a row to shared memory, repeats its ends before every step, lifts there, and writes the halves (2.8, horizontal pass).
 *   window       a block of 16 x 8 threads slides a window of rows of 32 columns down a slab, two columns a thread (2.8, vertical pass)
 *   transpose    tiles of 32 x 32 through shared memory, there and back
 *   column       a block takes a column as it takes a row: what its threads read lies a row apart
 *   convolution  rows in shared memory, then 32 x 64 samples and what the filters reach around them; both halves, only where they are */
#include "device/kernel.h"

#include "wavelet/lifting.h"
#include "wavelet_variants.h"

enum { LINE_THREADS = 256, SLAB = 32, SLAB_X = 16, SLAB_Y = 8, TILE = 32, MOST_STEPS = 4, MOST_TAPS = 8, BORDER = 16, MOST_REACH = 14 };

typedef struct variant_step {
    int32_t parity, first, count, sign, rounding, shift, tap[MOST_TAPS];
} variant_step;
typedef struct variant_filter {
    int32_t steps, boundary;
    variant_step step[MOST_STEPS];
} variant_filter;

TSR_DEVICE_FN int32_t variant_lifted(const variant_step &s, int32_t x, int32_t sum) { return x + s.sign * TSR_LIFT_ROUND(sum, s.rounding, s.shift); }

/* ---- lines: along x, or one column ------------------------------------------------------------------------------------------------------------- */

typedef struct line_pass {
    const int16_t *from;
    int16_t *to;
    int64_t from_step, to_step, from_line, to_line; /* elements from sample to sample, from line to line */
    int32_t n, raise, lower;
    int32_t split, join; /* the result, what is read are halves */
} line_pass;

TSR_KERNEL(line_kernel)(variant_filter f, line_pass p)
{
    TSR_SHARED_DYNAMIC(int32_t, shared);
    int32_t *line = shared + BORDER;
    const int16_t *from = p.from + (int64_t)blockIdx.x * p.from_line;
    int16_t *to = p.to + (int64_t)blockIdx.x * p.to_line;
    const int32_t low = (p.n + 1) / 2, t = (int32_t)threadIdx.x;
    for (int32_t k = t; k < p.n; k += LINE_THREADS) { /* neighbours in memory to neighbours among the threads */
        const int32_t i = !p.join ? k : k < low ? 2 * k : 2 * (k - low) + 1;
        line[i] = TSR_LIFT_RAISE((int32_t)from[k * p.from_step], p.raise);
    }
    for (int32_t k = 0; k < f.steps; k++) {
        const variant_step &s = f.step[k];
        __syncthreads();
        if (t < 2 * BORDER) { /* beyond the ends; a row shorter than the border has others repeat what is not there */
            const int32_t i = t < BORDER ? t - BORDER : p.n + t - BORDER;
            const int64_t j = tsr_lift_index(i, p.n, f.boundary);
            line[i] = j < 0 ? 0 : line[j];
        }
        __syncthreads();
        for (int32_t i = s.parity + 2 * t; i < p.n; i += 2 * LINE_THREADS) {
            int32_t sum = 0;
            for (int32_t a = 0; a < s.count; a++) sum += s.tap[a] * line[i + s.first + 2 * a];
            line[i] = variant_lifted(s, line[i], sum);
        }
    }
    __syncthreads();
    for (int32_t k = t; k < p.n; k += LINE_THREADS) {
        const int32_t i = !p.split ? k : k < low ? 2 * k : 2 * (k - low) + 1;
        to[k * p.to_step] = (int16_t)TSR_LIFT_LOWER(line[i], p.lower);
    }
}

/* ---- the window -------------------------------------------------------------------------------------------------------------------------------- */

typedef struct window_pass {
    int16_t *plane;
    int64_t pitch;
    int32_t width, height, rows, top, overlap, bottom, last[MOST_STEPS];
} window_pass;

TSR_KERNEL(window_kernel)(variant_filter f, window_pass p)
{
    TSR_SHARED_DYNAMIC(int16_t, window);
    const int32_t kept = p.top + p.overlap + p.bottom, x = 2 * (int32_t)threadIdx.x, y = (int32_t)threadIdx.y;
    const int32_t columns = tsr_maxi(0, tsr_mini(2, p.width - ((int32_t)blockIdx.x * SLAB + x)));
    int16_t *slab = p.plane + (int64_t)blockIdx.x * SLAB + x;
    int32_t next[MOST_STEPS], in = 0, out = 0, end = 0;
    window += x;
    for (int32_t k = 0; k < f.steps; k++) next[k] = f.step[k].parity;
    for (int last = 0; !last;) {
        last = end + p.rows + p.bottom > p.height;
        const int32_t base = end - p.overlap - p.top; /* the row at the window's upper edge */
        const int32_t read = last ? p.height : end + p.rows + p.bottom;
        for (int32_t r = in + y; r < read; r += SLAB_Y)
            for (int32_t c = 0; c < columns; c++) window[(r - base) * SLAB + c] = slab[r * p.pitch + c];
        in = read;
        end += p.rows;
        for (int32_t k = 0; k < f.steps; k++) {
            const variant_step &s = f.step[k];
            const int32_t stop = last ? p.height - 1 : end + p.last[k];
            __syncthreads();
            for (int32_t r = next[k] + 2 * y; r <= stop; r += 2 * SLAB_Y)
                for (int32_t c = 0; c < columns; c++) {
                    int32_t sum = 0;
                    for (int32_t a = 0; a < s.count; a++) {
                        const int64_t j = tsr_lift_index(r + s.first + 2 * a, p.height, f.boundary);
                        if (j >= 0) sum += s.tap[a] * window[((int32_t)j - base) * SLAB + c];
                    }
                    window[(r - base) * SLAB + c] = (int16_t)variant_lifted(s, window[(r - base) * SLAB + c], sum);
                }
            if (stop >= next[k]) next[k] += (stop - next[k]) / 2 * 2 + 2;
        }
        __syncthreads();
        const int32_t write = last ? p.height : end - p.overlap;
        for (int32_t r = out + y; r < write; r += SLAB_Y)
            for (int32_t c = 0; c < columns; c++) slab[r * p.pitch + c] = window[(r - base) * SLAB + c];
        out = tsr_maxi(out, write);
        for (int32_t r = 0; r < kept && !last; r += SLAB_Y) { /* what is kept moves to the upper edge, as many rows at a time as there are threads */
            int16_t v[2] = { 0, 0 };
            __syncthreads();
            for (int32_t c = 0; c < columns && r + y < kept; c++) v[c] = window[(r + y + p.rows) * SLAB + c];
            __syncthreads();
            for (int32_t c = 0; c < columns && r + y < kept; c++) window[(r + y) * SLAB + c] = v[c];
        }
        __syncthreads();
    }
}

/* ---- transposed -------------------------------------------------------------------------------------------------------------------------------- */

TSR_KERNEL(turn_kernel)(const int16_t *from, int64_t from_pitch, int16_t *to, int64_t to_pitch, int32_t width, int32_t height)
{
    TSR_SHARED(int16_t, tile, TILE * (TILE + 2));
    const int32_t x = (int32_t)blockIdx.x * TILE, y = (int32_t)blockIdx.y * TILE, tx = (int32_t)threadIdx.x, ty = (int32_t)threadIdx.y;
    for (int32_t r = ty; r < TILE; r += SLAB_Y)
        if (x + tx < width && y + r < height) tile[r * (TILE + 2) + tx] = from[(y + r) * from_pitch + x + tx];
    __syncthreads();
    for (int32_t r = ty; r < TILE; r += SLAB_Y)
        if (x + r < width && y + tx < height) to[(x + r) * to_pitch + y + tx] = tile[tx * (TILE + 2) + r];
}

/* ---- filter bank ------------------------------------------------------------------------------------------------------------------------------- */

typedef struct bank_pass {
    const float *from;
    float *to;
    int64_t from_pitch, to_pitch;
    int32_t width, height, boundary, reach[2];
    float tap[2][2 * MOST_REACH + 1];
} bank_pass;

TSR_KERNEL(bank_row_kernel)(bank_pass p)
{
    TSR_SHARED_DYNAMIC(float, shared);
    float *line = shared + BORDER;
    const float *from = p.from + blockIdx.x * p.from_pitch;
    float *to = p.to + blockIdx.x * p.to_pitch;
    const int32_t low = (p.width + 1) / 2;
    for (int32_t i = (int32_t)threadIdx.x - BORDER; i < p.width + BORDER; i += LINE_THREADS) {
        const int64_t j = tsr_lift_index(i, p.width, p.boundary);
        line[i] = j < 0 ? 0.0F : from[j];
    }
    __syncthreads();
    for (int32_t k = (int32_t)threadIdx.x; k < p.width; k += LINE_THREADS) {
        const int32_t q = k >= low, i = q ? 2 * (k - low) + 1 : 2 * k, reach = p.reach[q];
        float sum = 0;
        for (int32_t a = -reach; a <= reach; a++) sum += p.tap[q][reach + a] * line[i + a];
        to[k] = sum;
    }
}

TSR_KERNEL(bank_column_kernel)(bank_pass p)
{
    TSR_SHARED(float, tile, (2 * TILE + 2 * BORDER) * TILE);
    const int32_t x = (int32_t)(blockIdx.x * TILE + threadIdx.x), first = (int32_t)blockIdx.y * 2 * TILE, low = (p.height + 1) / 2;
    float *column = tile + threadIdx.x;
    for (int32_t r = (int32_t)threadIdx.y; r < 2 * TILE + 2 * BORDER && x < p.width; r += SLAB_Y) {
        const int32_t y = first + r - BORDER;
        const int64_t j = y < p.height + BORDER ? tsr_lift_index(y, p.height, p.boundary) : -1;
        column[r * TILE] = j < 0 ? 0.0F : p.from[j * p.from_pitch + x];
    }
    __syncthreads();
    for (int32_t r = (int32_t)threadIdx.y; r < 2 * TILE && first + r < p.height && x < p.width; r += SLAB_Y) {
        const int32_t q = r & 1, y = first + r, reach = p.reach[q];
        float sum = 0;
        for (int32_t a = -reach; a <= reach; a++) sum += p.tap[q][reach + a] * column[(r + BORDER + a) * TILE];
        p.to[((q ? low : 0) + y / 2) * p.to_pitch + x] = sum;
    }
}

/* ---- all levels -------------------------------------------------------------------------------------------------------------------------------- */

/* A plane of one level. */
typedef struct variant_plane {
    int16_t *data;
    int64_t pitch;
    int32_t width, height, bits;
} variant_plane;

static void lines(tsr_queue *queue, const variant_filter &f, const line_pass &p, int32_t count)
{
    TSR_LAUNCH(queue, line_kernel, (uint32_t)count, LINE_THREADS, (size_t)(p.n + 2 * BORDER) * sizeof(int32_t), f, p);
}

static void rows(tsr_queue *queue, const variant_filter &f, int inverse, const int16_t *from, int64_t from_pitch, const variant_plane &to)
{
    const line_pass p = { from, to.data, 1, 1, from_pitch, to.pitch, to.width, inverse ? 0 : to.bits, inverse ? to.bits : 0, !inverse, inverse };
    lines(queue, f, p, to.height);
}

static void turned(tsr_queue *queue, const int16_t *from, int64_t from_pitch, int16_t *to, int64_t to_pitch, int32_t width, int32_t height)
{
    const dim3 grid((uint32_t)((width + TILE - 1) / TILE), (uint32_t)((height + TILE - 1) / TILE));
    TSR_LAUNCH(queue, turn_kernel, grid, dim3(TILE, SLAB_Y), 0, from, from_pitch, to, to_pitch, width, height);
}

static void along_y(tsr_queue *queue, const wavelet_variant_job *j, const variant_filter &f, const variant_plane &p, int16_t *second)
{
    if (j->variant == VARIANT_WINDOW) {
        window_pass w = { p.data, p.pitch, p.width, p.height, 2 * SLAB_Y, 0, 0, 0, { 0 } };
        w.top = j->top;
        w.overlap = j->overlap;
        w.bottom = j->bottom;
        for (int32_t k = 0; k < j->steps; k++) w.last[k] = j->last[k];
        const size_t most = (size_t)(w.top + w.overlap + w.bottom + w.rows) * SLAB * sizeof(int16_t);
        TSR_LAUNCH(queue, window_kernel, (uint32_t)((p.width + SLAB - 1) / SLAB), dim3(SLAB_X, SLAB_Y), most, f, w);
    } else if (j->variant == VARIANT_COLUMN) {
        const line_pass l = { p.data, p.data, p.pitch, p.pitch, 1, 1, p.height, 0, 0, 0, 0 };
        lines(queue, f, l, p.width);
    } else {
        const variant_plane turn = { second, p.height, p.height, p.width, 0 };
        turned(queue, p.data, p.pitch, second, p.height, p.width, p.height);
        rows(queue, f, j->inverse, second, p.height, turn);
        turned(queue, second, p.height, p.data, p.pitch, p.height, p.width);
    }
}

static void convolve(tsr_queue *queue, const wavelet_variant_job *j, const float *from, int64_t pitch, int32_t width, int32_t height, float *second)
{
    bank_pass p = { from, second, pitch, j->width, width, height, (int32_t)j->boundary, { 0, 0 }, { { 0 }, { 0 } } };
    for (int q = 0; q < 2; q++) {
        p.reach[q] = j->reach[q];
        for (int32_t k = 0; k < 2 * j->reach[q] + 1; k++) p.tap[q][k] = (float)j->tap[q][VARIANT_REACH - j->reach[q] + k];
    }
    TSR_LAUNCH(queue, bank_row_kernel, (uint32_t)height, LINE_THREADS, (size_t)(width + 2 * BORDER) * sizeof(float), p);
    p.from = second;
    p.from_pitch = p.to_pitch = j->width;
    p.to = (float *)j->coefficients;
    const dim3 grid((uint32_t)((width + TILE - 1) / TILE), (uint32_t)((height + 2 * TILE - 1) / (2 * TILE)));
    TSR_LAUNCH(queue, bank_column_kernel, grid, dim3(TILE, SLAB_Y), 0, p);
}

/* Runs the job, whose samples, coefficients and second plane are the GPU's; 0: a launch failed. Rows and columns of at most 12000 samples. */
extern "C" __attribute__((visibility("default"))) int wavelet_variant_run_gpu(tsr_queue *queue, const wavelet_variant_job *j, void *second)
{
    const int split = wavelet_variant_layout(j->variant) == TSR_WAVELET_SPLIT;
    variant_filter f = {};
    f.steps = j->steps;
    f.boundary = (int32_t)j->boundary;
    if (j->steps > MOST_STEPS || j->reach[0] > MOST_REACH || j->reach[1] > MOST_REACH) return 0;
    for (int32_t k = 0; k < j->steps; k++) {
        const tsr_wavelet_step *s = &j->step[k];
        f.step[k] = { s->parity, s->first, s->count, s->sign, s->rounding, s->shift, { 0 } };
        for (int32_t t = 0; t < MOST_TAPS; t++) f.step[k].tap[t] = t < s->count ? s->tap[t] : 0;
    }
    for (int32_t k = 0; k < j->levels; k++) {
        const int32_t level = j->inverse ? j->levels - 1 - k : k, round = (1 << level) - 1;
        variant_plane p = { (int16_t *)(j->inverse ? j->samples : j->coefficients), split ? (int64_t)j->width << level : j->width,
                            (j->width + round) >> level, (j->height + round) >> level, j->accuracy };
        if (j->variant == VARIANT_CONVOLUTION) {
            convolve(queue, j, (const float *)(level ? j->coefficients : j->samples), j->width, p.width, p.height, (float *)second);
        } else if (j->inverse) {
            along_y(queue, j, f, p, (int16_t *)second);
            rows(queue, f, 1, p.data, p.pitch, p);
        } else {
            rows(queue, f, 0, level ? p.data : (const int16_t *)j->samples, level ? p.pitch : j->width, p);
            along_y(queue, j, f, p, (int16_t *)second);
        }
    }
#ifdef TSR_EMU
    return tsr_launch_check(queue) == TSR_OK;
#else
    return cudaPeekAtLastError() == cudaSuccess;
#endif
}
