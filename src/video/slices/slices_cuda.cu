/* video/slices/slices_cuda.cu: slices decoded and written by a thread for each component (low delay: for each slice), planned by a warp each. */
#include "device/kernel.h"
#include "video/dirac/closed_loop.h"
#include "video/slices/slice_write.h"
#include "video/slices/undo_prediction.h"

enum { THREADS = 128, WARPS = THREADS / 32, KEPT = 1024, RUN = 8, SCAN = 1024 };

/* ---- decoding ------------------------------------------------------------------------------------------------------------------------------ */

/* Blocks of THREADS slices of one component, so that the threads of a warp have as much to do as each other; first all of luma, which are the dearest. By
 * turns a device whose processors are a multiple of three may give each of them those of one component. */
static uint32_t slice_blocks(const tsr_slice_shape *s) { return tsr_blocks((int64_t)s->slices_x * s->slices_y, THREADS, INT32_MAX); }

TSR_KERNEL(decode_kernel)(tsr_slices_decode_job job, uint32_t blocks)
{
    TSR_SHARED(tsr_quantiser, quantiser, TSR_QUANTISER_MOST + 1);
    for (uint32_t k = threadIdx.x; k <= TSR_QUANTISER_MOST; k += THREADS) quantiser[k] = job.quantiser[k];
    __syncthreads();
    const int32_t n = (int32_t)(blockIdx.x % blocks * THREADS + threadIdx.x);
    if (n < job.shape.slices_x * job.shape.slices_y) tsr_slice_read(&job, quantiser, (int32_t)blockIdx.y, n, (int32_t)(blockIdx.x / blocks));
}

static tsr_status cuda_decode(tsr_queue *queue, const tsr_slices_decode_job *job)
{
    const uint32_t blocks = slice_blocks(&job->shape);
    TSR_LAUNCH(queue, decode_kernel, dim3((job->shape.high_quality ? 3 : 2) * blocks, (uint32_t)job->pictures), THREADS, 0, *job, blocks);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* A block a picture. */
TSR_KERNEL(predict_kernel)(tsr_slices_predict_job job)
{
    tsr_undo_prediction(job.coefficients + blockIdx.x * job.batch + job.offset, job.stride, job.width, job.height);
}

static tsr_status cuda_predict(tsr_queue *queue, const tsr_slices_predict_job *job)
{
    TSR_LAUNCH(queue, predict_kernel, (uint32_t)job->pictures, TSR_UNDO_THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- planning ------------------------------------------------------------------------------------------------------------------------------ */

/* A slice that a warp has before it; its coefficients are at hand where they are few enough. */
typedef struct planning {
    const tsr_slices_encode_job *job;
    const uint64_t *scale;
    int32_t *kept; /* NULL: too many */
    int32_t p, sx, sy;
} planning;

/* f(place among the component's coefficients, band, value) for those of this lane. */
template <class F> TSR_DEVICE_FN void each_coefficient(const planning *t, int32_t c, const int32_t *kept, F f)
{
    const tsr_slice_shape *s = &t->job->shape;
    const int32_t kind = c > 0, lane = (int32_t)(threadIdx.x & 31);
    const int32_t *from = t->job->coefficients[c] + t->p * t->job->batch[c];
    int32_t before = 0;
    for (int32_t b = 0; b < s->bands; b++) {
        const tsr_slice_band *band = &s->band[kind][b];
        const tsr_dirac_area a = tsr_slice_area(s, band, t->sx, t->sy);
        const int32_t w = a.x1 - a.x0, n = w * (a.y1 - a.y0);
        for (int32_t i = lane; i < n; i += 32)
            f(before + i, b, kept ? kept[before + i] : from[band->offset + (int64_t)(a.y0 + i / w) * s->stride[kind] + a.x0 + i % w]);
        before += n;
    }
}

TSR_DEVICE_FN int32_t component_size(const planning *t, int32_t c)
{
    const tsr_slice_shape *s = &t->job->shape;
    int32_t n = 0;
    for (int32_t b = 0; b < s->bands; b++) {
        const tsr_dirac_area a = tsr_slice_area(s, &s->band[c > 0][b], t->sx, t->sy);
        n += (a.x1 - a.x0) * (a.y1 - a.y0);
    }
    return n;
}

/* Units of `scaler` bytes that bits take. A division of 64 bits is a loop on a GPU; here it would be as dear as the count of the bits. */
TSR_DEVICE_FN int64_t plan_units(int64_t bits, uint32_t scaler)
{
    const uint64_t bytes = ((uint64_t)bits + 7) / 8, all = bytes + scaler - 1;
    return scaler == 1 ? (int64_t)bytes : all >> 32 ? (int64_t)(all / scaler) : (int64_t)((uint32_t)all / scaler);
}

/* Units of `scaler` bytes of each component's codes up to its last coefficient that is not 0. */
TSR_DEVICE_FN void plan_lengths(const planning *t, int32_t index, uint32_t scaler, int64_t length[3])
{
    const tsr_slice_shape *s = &t->job->shape;
    int32_t at = 0;
    for (int32_t c = 0; c < 3; c++) {
        uint32_t bits = 0, last = 0;
        const int32_t *kept = t->kept ? t->kept + at : NULL;
        each_coefficient(t, c, kept, [&](int32_t place, int32_t b, int32_t value) {
            const uint32_t magnitude = tsr_quantiser_magnitude(t->scale[tsr_slice_index(index, s->band[c > 0][b].matrix)], value);
            if (!magnitude) return;
            bits += (uint32_t)tsr_code_bits(magnitude);
            last = (uint32_t)place + 1;
        });
        last = t->job->compatible ? (uint32_t)component_size(t, c) : __reduce_max_sync(TSR_WARP_ALL, last);
        length[c] = plan_units((int64_t)__reduce_add_sync(TSR_WARP_ALL, bits) + last, scaler);
        if (t->kept) at += component_size(t, c);
    }
}

/* ---- slices of one size, whose coefficients are few: most of them ---- */

/* A lane has every 32nd coefficient of such a slice in its registers: LUMA of luma, CHROMA of each chroma component, those that there are not as 0.
 * Scales of bands lie 8 bytes apart, and so do what else differs from band to band: where, for a coefficient, is a byte. */
enum { PLACE = (int)sizeof(uint64_t) };
static_assert(TSR_SLICE_BANDS <= 32 && 32 * PLACE <= 256, "a lane a band, and places in a byte");

/* Where the coefficients of the first slice lie, luma and then one chroma component, in the order of the stream: the same for all slices, but for a
 * shift of each band. */
template <int LUMA, int CHROMA> struct flat_shape {
    int32_t offset[32 * (LUMA + CHROMA)]; /* -1: there is none */
    uint8_t place[32 * (LUMA + CHROMA)];
    int32_t count[2];
};

/* A slice that a warp has before it. */
template <int LUMA, int CHROMA> struct flat_planning {
    const tsr_slices_encode_job *job;
    const uint64_t *scale;
    const flat_shape<LUMA, CHROMA> *shape;
    uint64_t *of_band; /* scales at the index that is tried */
    uint32_t magnitude[LUMA + 2 * CHROMA];
    uint32_t places[(LUMA + CHROMA + 3) / 4]; /* four bytes each */
};

template <class T> TSR_DEVICE_FN T at_place(const T *of_band, uint32_t place) { return *(const T *)(const void *)((const char *)of_band + place); }

/* By all threads of a block. */
template <int LUMA, int CHROMA> TSR_DEVICE_FN void flat_shape_make(const tsr_slice_shape *s, flat_shape<LUMA, CHROMA> *f)
{
    for (int32_t i = (int32_t)threadIdx.x; i < 32 * (LUMA + CHROMA); i += THREADS) {
        f->offset[i] = -1;
        f->place[i] = 0;
    }
    __syncthreads();
    for (int32_t kind = 0; kind < 2; kind++) {
        int32_t before = kind ? 32 * LUMA : 0;
        for (int32_t b = 0; b < s->bands; b++) {
            const tsr_slice_band *band = &s->band[kind][b];
            const int32_t w = band->steps.x, n = w * band->steps.y;
            for (int32_t i = (int32_t)threadIdx.x; i < n; i += THREADS) {
                f->offset[before + i] = (int32_t)band->offset + i / w * s->stride[kind] + i % w;
                f->place[before + i] = (uint8_t)(PLACE * b);
            }
            before += n;
        }
        if (!threadIdx.x) f->count[kind] = before - (kind ? 32 * LUMA : 0);
    }
    __syncthreads();
}

template <int LUMA, int CHROMA> TSR_DEVICE_FN void flat_places(flat_planning<LUMA, CHROMA> *t)
{
    const int32_t lane = (int32_t)(threadIdx.x & 31);
#pragma unroll
    for (int k = 0; k < (LUMA + CHROMA + 3) / 4; k++) t->places[k] = 0;
#pragma unroll
    for (int k = 0; k < LUMA + CHROMA; k++) t->places[k / 4] |= (uint32_t)t->shape->place[32 * k + lane] << 8 * (k % 4);
}

template <int LUMA, int CHROMA> TSR_DEVICE_FN uint32_t flat_place(const flat_planning<LUMA, CHROMA> *t, int k)
{
    return t->places[k / 4] >> 8 * (k % 4) & 255;
}

/* Slice n of picture p. `shift` has room for each band. */
template <int LUMA, int CHROMA> TSR_DEVICE_FN void flat_take(flat_planning<LUMA, CHROMA> *t, int32_t p, int32_t n, int64_t *shift)
{
    const tsr_slices_encode_job *j = t->job;
    const tsr_slice_shape *s = &j->shape;
    const int32_t lane = (int32_t)(threadIdx.x & 31), sx = n % s->slices_x, sy = n / s->slices_x;
#pragma unroll
    for (int c = 0; c < 3; c++) {
        const int32_t *from = j->coefficients[c] + p * j->batch[c];
        if (c < 2) {
            __syncwarp();
            if (lane < s->bands) {
                const tsr_slice_band *band = &s->band[c][lane];
                shift[lane] = (int64_t)sy * band->steps.y * s->stride[c] + sx * band->steps.x;
            }
            __syncwarp();
        }
#pragma unroll
        for (int k = 0; k < (c ? CHROMA : LUMA); k++) {
            const int row = c ? LUMA + k : k, to = c == 2 ? row + CHROMA : row;
            const int32_t offset = t->shape->offset[32 * row + lane];
            t->magnitude[to] = offset < 0 ? 0 : tsr_magnitude(from[offset + at_place(shift, flat_place(t, row))]);
        }
    }
}

/* As above. */
template <int LUMA, int CHROMA>
TSR_DEVICE_FN void plan_lengths(const flat_planning<LUMA, CHROMA> *t, int32_t index, uint32_t scaler, int64_t length[3])
{
    const tsr_slice_shape *s = &t->job->shape;
    const int32_t lane = (int32_t)(threadIdx.x & 31);
    __syncwarp(); /* those of the try before are read */
    if (lane < s->bands) t->of_band[lane] = t->scale[tsr_slice_index(index, s->band[0][lane].matrix)];
    __syncwarp();
#pragma unroll
    for (int c = 0; c < 3; c++) {
        uint32_t there = 0, last = (uint32_t)t->shape->count[c > 0]; /* there: a bit for each that is not 0 */
        int32_t digits = 0;
#pragma unroll
        for (int k = 0; k < (c ? CHROMA : LUMA); k++) {
            const int row = c ? LUMA + k : k, from = c == 2 ? row + CHROMA : row;
            const uint32_t magnitude = tsr_quantiser_scaled(at_place(t->of_band, flat_place(t, row)), t->magnitude[from]);
            digits += tsr_code_digits(magnitude);
            if (magnitude) there |= 1u << k;
        }
        if (!t->job->compatible) last = __reduce_max_sync(TSR_WARP_ALL, there ? (uint32_t)(32 * (31 - __clz((int)there)) + lane + 1) : 0u);
        length[c] = plan_units((int64_t)__reduce_add_sync(TSR_WARP_ALL, (uint32_t)(2 * digits + __popc(there))) + last, scaler);
    }
}

/* ---- the quantiser of a slice ---- */

template <class T> TSR_DEVICE_FN int plan_fits(const T *t, int32_t index, int64_t budget, int64_t length[3])
{
    const tsr_slices_encode_job *j = t->job;
    plan_lengths(t, index, j->scaler, length);
    return (int64_t)j->prefix + 4 + j->scaler * (length[0] + length[1] + length[2]) <= budget && length[0] <= 255 && length[1] <= 255 &&
           length[2] <= 255;
}

/* The finest quantiser for which `fits` says yes, around `guess` in doubling steps; TSR_SLICE_COARSEST where none does. */
template <class F> TSR_DEVICE_FN int32_t plan_finest(int32_t guess, F fits)
{
    int32_t low = -1, high = TSR_SLICE_COARSEST, index = guess;
    for (int32_t step = 1; high - low > 1; step *= 2) {
        if (fits(index)) high = index;
        else low = index;
        if (low < 0) index = tsr_maxi(high - step, 0);
        else if (high == TSR_SLICE_COARSEST) index = low + step < high ? low + step : (low + high) / 2;
        else index = (low + high) / 2;
    }
    return high;
}

/* The coefficients of a slice go to `own`, if they are few enough. */
TSR_DEVICE_FN void plan_keep(planning *t, int32_t *own)
{
    const int32_t luma = component_size(t, 0), chroma = component_size(t, 1);
    if (luma + 2 * chroma <= KEPT) {
        for (int32_t c = 0; c < 3; c++) {
            int32_t *to = own + (c ? luma + (c - 1) * chroma : 0);
            each_coefficient(t, c, NULL, [&](int32_t place, int32_t, int32_t value) { to[place] = value; });
        }
        t->kept = own;
    }
    __syncwarp();
}

TSR_DEVICE_FN planning plan_of(const tsr_slices_encode_job *job, const uint64_t *scale, int32_t p, int32_t n)
{
    planning t;
    t.job = job;
    t.scale = scale;
    t.kept = NULL;
    t.p = p;
    t.sx = n % job->shape.slices_x;
    t.sy = n / job->shape.slices_x;
    return t;
}

TSR_DEVICE_FN void plan_refuse(const tsr_slices_encode_job *job, int32_t p)
{
    if (!(threadIdx.x & 31)) atomicAdd((unsigned long long *)&job->total[p].overfull, 1ull);
}

/* Slice n of picture p; the search begins at *guess, which becomes what was found. */
template <class T> TSR_DEVICE_FN void plan_slice(const T *t, int32_t p, int32_t n, int32_t *guess)
{
    const tsr_slices_encode_job *j = t->job;
    int32_t index = j->quantiser;
    int64_t length[3];
    if (index >= 0) plan_lengths(t, index, 1, length);
    else {
        const int64_t budget = tsr_slice_fixed_place(j, n + 1) - tsr_slice_fixed_place(j, n);
        int32_t found = -1;
        *guess = index = plan_finest(*guess, [&](int32_t tried) {
            int64_t lengths[3];
            if (!plan_fits(t, tried, budget, lengths)) return 0;
            found = tried;
            for (int32_t c = 0; c < 3; c++) length[c] = lengths[c];
            return 1;
        });
        if (found != index && !plan_fits(t, index, budget, length)) plan_refuse(j, p);
        int64_t left = (budget - (int64_t)j->prefix - 4 - j->scaler * (length[0] + length[1] + length[2])) / (int64_t)j->scaler;
        for (int32_t c = 2; c >= 0 && left > 0; c--) { /* what is left is padding */
            const int64_t more = tsr_minl(left, 255 - length[c]);
            length[c] += more;
            left -= more;
        }
    }
    if (!(threadIdx.x & 31)) {
        tsr_dirac_slice_plan *plan = &j->plan[(int64_t)p * j->shape.slices_x * j->shape.slices_y + n];
        plan->index = index;
        for (int32_t c = 0; c < 3; c++) plan->length[c] = (int32_t)tsr_minl(length[c], INT32_MAX);
    }
    __syncwarp();
}

/* A warp plans RUN slices one after the other. */
TSR_KERNEL(plan_kernel)(tsr_slices_encode_job job)
{
    TSR_SHARED(int32_t, kept, WARPS * KEPT);
    TSR_SHARED(uint64_t, scale, TSR_QUANTISER_MOST + 1);
    const int32_t warp = (int32_t)(threadIdx.x >> 5), count = job.shape.slices_x * job.shape.slices_y;
    for (uint32_t k = threadIdx.x; k <= TSR_QUANTISER_MOST; k += THREADS) scale[k] = job.scale[k];
    __syncthreads();
    int32_t guess = TSR_SLICE_GUESS;
    for (int32_t k = 0; k < RUN; k++) {
        const int32_t n = ((int32_t)blockIdx.x * WARPS + warp) * RUN + k;
        if (n >= count) break; /* of the whole warp */
        planning t = plan_of(&job, scale, (int32_t)blockIdx.y, n);
        plan_keep(&t, kept + warp * KEPT);
        plan_slice(&t, t.p, n, &guess);
    }
}

/* Blocks of such a kernel that a processor has at once, at least. */
#define FLAT_BLOCKS(LUMA, CHROMA) ((LUMA) + 2 * (CHROMA) <= 16 ? 6 : 3)

/* A warp plans `run` slices one after the other. */
template <int LUMA, int CHROMA>
TSR_KERNEL(__launch_bounds__(THREADS, FLAT_BLOCKS(LUMA, CHROMA)) plan_flat_kernel)
(tsr_slices_encode_job job, int32_t run)
{
    typedef flat_shape<LUMA, CHROMA> flat;
    TSR_SHARED(uint64_t, scale, TSR_QUANTISER_MOST + 1);
    TSR_SHARED(uint64_t, of_band, WARPS * 32);
    TSR_SHARED(int64_t, shift, WARPS * 32);
    TSR_SHARED(flat, shape, 1);
    const int32_t warp = (int32_t)(threadIdx.x >> 5), count = job.shape.slices_x * job.shape.slices_y, p = (int32_t)blockIdx.y;
    for (uint32_t k = threadIdx.x; k <= TSR_QUANTISER_MOST; k += THREADS) scale[k] = job.scale[k];
    flat_shape_make<LUMA, CHROMA>(&job.shape, shape);
    flat_planning<LUMA, CHROMA> t;
    t.job = &job;
    t.scale = scale;
    t.shape = shape;
    t.of_band = of_band + 32 * warp;
    flat_places(&t);
    int32_t guess = TSR_SLICE_GUESS;
    for (int32_t k = 0; k < run; k++) {
        const int32_t n = ((int32_t)blockIdx.x * WARPS + warp) * run + k;
        if (n >= count) break; /* of the whole warp */
        flat_take(&t, p, n, shift + 32 * warp);
        plan_slice(&t, p, n, &guess);
    }
}

/* All slices are of one size: how many coefficients of luma, and of a chroma component. */
static int is_flat(const tsr_slice_shape *s, int64_t count[2])
{
    count[0] = count[1] = 0;
    for (int kind = 0; kind < 2; kind++)
        for (int32_t b = 0; b < s->bands; b++) {
            const tsr_slice_band *band = &s->band[kind][b];
            if (!band->steps.x || !band->steps.y || band->offset + (int64_t)band->height * s->stride[kind] > INT32_MAX) return 0;
            count[kind] += (int64_t)band->steps.x * band->steps.y;
        }
    return 1;
}

/* Blocks of warps that plan a picture's slices, `run` each. */
static dim3 plan_blocks(const tsr_slices_encode_job *job, int32_t run)
{
    return dim3(tsr_blocks((int64_t)job->shape.slices_x * job->shape.slices_y, (int64_t)WARPS * run, INT32_MAX), (uint32_t)job->pictures);
}

/* Slices in a run: about RUN, so many that the device is filled by them once, or a whole number of times. What is left over would take as long as the
 * rest: of a picture of 4K there are 1.3 times as many runs of 8 as an H200 has at once. */
static int32_t plan_run(tsr_queue *queue, const tsr_slices_encode_job *job, int64_t blocks)
{
    const int64_t all = (int64_t)job->shape.slices_x * job->shape.slices_y * job->pictures, warps = tsr_queue_processors(queue) * blocks * WARPS;
    const int64_t times = tsr_maxl((all + warps * RUN / 2) / (warps * RUN), 1);
    return (int32_t)((all + warps * times - 1) / (warps * times));
}

/* *taken 0: no kernel has the registers for such slices. */
static void plan_flat(tsr_queue *queue, const tsr_slices_encode_job *job, int *taken)
{
    int64_t count[2];
    *taken = is_flat(&job->shape, count);
#define TRY_SIZE(LUMA, CHROMA)                                                                             \
    if (*taken && count[0] <= 32 * (LUMA) && count[1] <= 32 * (CHROMA)) {                                  \
        const int32_t run = plan_run(queue, job, FLAT_BLOCKS(LUMA, CHROMA));                               \
        TSR_LAUNCH(queue, (plan_flat_kernel<LUMA, CHROMA>), plan_blocks(job, run), THREADS, 0, *job, run); \
        return;                                                                                            \
    }
    TRY_SIZE(8, 2) /* 32 x 8 of 4:2:0, 4:2:2, 4:4:4, and twice that */
    TRY_SIZE(8, 4)
    TRY_SIZE(8, 8)
    TRY_SIZE(16, 8)
    TRY_SIZE(16, 16)
#undef TRY_SIZE
    *taken = 0;
}

TSR_DEVICE_FN int64_t slice_bytes(const tsr_slices_encode_job *j, int64_t scaler, const tsr_dirac_slice_plan *plan)
{
    return (int64_t)j->prefix + 4 + scaler * ((int64_t)plan->length[0] + plan->length[1] + plan->length[2]);
}

/* A block a picture, a thread a row of slices: the scaler, and where each slice begins. */
TSR_KERNEL(place_kernel)(tsr_slices_encode_job job)
{
    TSR_SHARED(int64_t, sum, SCAN);
    const int32_t count = job.shape.slices_x * job.shape.slices_y, thread = (int32_t)threadIdx.x;
    tsr_dirac_slice_plan *plan = job.plan + (int64_t)blockIdx.x * count;
    int64_t scaler = job.scaler;
    if (job.quantiser >= 0) { /* lengths are bytes so far */
        int32_t most = 1;
        for (int32_t n = thread; n < count; n += SCAN)
            for (int32_t c = 0; c < 3; c++) most = tsr_maxi(most, plan[n].length[c]);
        sum[thread] = most;
        __syncthreads();
        for (int32_t k = SCAN / 2; k; k /= 2) {
            if (thread < k) sum[thread] = tsr_maxl(sum[thread], sum[thread + k]);
            __syncthreads();
        }
        scaler = (sum[0] + 254) / 255;
        __syncthreads();
        for (int32_t n = thread; n < count; n += SCAN)
            for (int32_t c = 0; c < 3; c++) plan[n].length[c] = (int32_t)((plan[n].length[c] + scaler - 1) / scaler);
        __syncthreads();
    }
    const int32_t own = (count + SCAN - 1) / SCAN, first = tsr_mini(thread * own, count), end = tsr_mini(first + own, count);
    int64_t bytes = 0;
    for (int32_t n = first; n < end; n++) bytes += slice_bytes(&job, scaler, &plan[n]);
    sum[thread] = bytes;
    __syncthreads();
    for (int32_t k = 1; k < SCAN; k *= 2) {
        const int64_t more = thread >= k ? sum[thread - k] : 0;
        __syncthreads();
        sum[thread] += more;
        __syncthreads();
    }
    int64_t before = sum[thread] - bytes;
    for (int32_t n = first; n < end; n++) {
        plan[n].offset = before;
        before += slice_bytes(&job, scaler, &plan[n]);
    }
    if (thread) return;
    job.total[blockIdx.x].bytes = sum[SCAN - 1];
    job.total[blockIdx.x].scaler = scaler;
}

/* ---- planning low delay -------------------------------------------------------------------------------------------------------------------- */

/* The approximation is predicted as with quantiser `index`, by a lane for each component: differences from that are the coefficients. */
TSR_DEVICE_FN void predict_slice(const planning *t, int32_t index)
{
    const tsr_slices_encode_job *j = t->job;
    const tsr_slice_shape *s = &j->shape;
    const int32_t c = (int32_t)(threadIdx.x & 31);
    __syncwarp(); /* those before are read */
    if (c < 3) {
        const tsr_slice_band *b = &s->band[c > 0][0];
        const tsr_dirac_area a = tsr_slice_area(s, b, t->sx, t->sy);
        const int32_t own = tsr_slice_index(index, b->matrix);
        const tsr_quantiser q = tsr_quantiser_make(own, 0);
        const int32_t before = c ? component_size(t, 0) + (c - 1) * component_size(t, 1) : 0;
        int32_t *to = j->coefficients[c] + t->p * j->batch[c] + b->offset, at = before, quantised;
        for (int32_t y = a.y0; y < a.y1; y++)
            for (int32_t x = a.x0; x < a.x1; x++) {
                const int64_t place = t->p * j->approximation_batch + (int64_t)y * b->width + x;
                const int32_t difference =
                    tsr_dirac_close_loop(j->wanted[c][place], j->decoded[c] + place, b->width, x, y, t->scale[own], q, &quantised);
                to[(int64_t)y * s->stride[c > 0] + x] = difference;
                if (t->kept) t->kept[at++] = difference;
            }
    }
    __syncwarp();
}

/* Bits of luma, and of both chroma components in turns, up to the last coefficient that is not 0. */
TSR_DEVICE_FN int predicted_fits(const planning *t, int32_t index, int64_t budget, int32_t length[2])
{
    const tsr_slice_shape *s = &t->job->shape;
    int32_t at = 0;
    predict_slice(t, index);
    for (int32_t kind = 0; kind < 2; kind++) {
        uint32_t bits = 0, last = 0;
        for (int32_t c = kind; c <= 2 * kind; c++) {
            const int32_t *kept = t->kept ? t->kept + at : NULL;
            each_coefficient(t, c, kept, [&](int32_t place, int32_t b, int32_t value) {
                const uint32_t magnitude = tsr_quantiser_magnitude(t->scale[tsr_slice_index(index, s->band[kind][b].matrix)], value);
                if (!magnitude) return;
                bits += (uint32_t)tsr_code_bits(magnitude);
                last = (uint32_t)tsr_maxi((int32_t)last, kind ? 2 * place + c : place + 1);
            });
            if (t->kept) at += component_size(t, c);
        }
        length[kind] = (int32_t)(__reduce_add_sync(TSR_WARP_ALL, bits) + __reduce_max_sync(TSR_WARP_ALL, last));
    }
    return 7 + tsr_slice_length_bits(budget, 0) + (int64_t)length[0] + length[1] <= 8 * budget;
}

/* A warp a slice, of those with sx + sy = diagonal: what they are predicted from lies on diagonals before. */
TSR_KERNEL(diagonal_kernel)(tsr_slices_encode_job job, int32_t diagonal)
{
    TSR_SHARED(int32_t, kept, WARPS * KEPT);
    TSR_SHARED(uint64_t, scale, TSR_QUANTISER_MOST + 1);
    const int32_t across = job.shape.slices_x, down = job.shape.slices_y, warp = (int32_t)(threadIdx.x >> 5), lane = (int32_t)(threadIdx.x & 31);
    for (uint32_t k = threadIdx.x; k <= TSR_QUANTISER_MOST; k += THREADS) scale[k] = job.scale[k];
    __syncthreads();
    const int32_t sx = tsr_maxi(0, diagonal - down + 1) + (int32_t)blockIdx.x * WARPS + warp, sy = diagonal - sx;
    if (sx >= across || sy < 0) return;
    const int32_t n = sy * across + sx, p = (int32_t)blockIdx.y;
    const int64_t begin = tsr_slice_fixed_place(&job, n), budget = tsr_slice_fixed_place(&job, n + 1) - begin;
    tsr_dirac_slice_plan *plan = &job.plan[(int64_t)p * across * down + n];
    planning t = plan_of(&job, scale, p, n);
    int32_t length[2];
    for (int32_t c = 0; c < 3; c++) {
        const tsr_slice_band *b = &job.shape.band[c > 0][0];
        const int32_t *from = job.coefficients[c] + p * job.batch[c] + b->offset;
        const tsr_dirac_area a = tsr_slice_area(&job.shape, b, sx, sy);
        const int32_t wide = a.x1 - a.x0;
        for (int32_t i = lane; i < wide * (a.y1 - a.y0); i += 32) {
            const int32_t x = a.x0 + i % wide, y = a.y0 + i / wide;
            job.wanted[c][p * job.approximation_batch + (int64_t)y * b->width + x] = from[(int64_t)y * job.shape.stride[c > 0] + x];
        }
    }
    plan_keep(&t, kept + warp * KEPT);
    const int32_t *before = sx ? &plan[-1].index : sy ? &plan[-across].index : NULL;
    const int32_t index = plan_finest(tsr_slice_first_guess(before), [&](int32_t tried) { return predicted_fits(&t, tried, budget, length); });
    if (!predicted_fits(&t, index, budget, length)) plan_refuse(&job, p); /* the last one tried may be another */
    if (lane) return;
    plan->index = index;
    plan->length[0] = length[0];
    plan->length[1] = length[1];
    plan->length[2] = 0;
    plan->offset = begin;
    if (n) return;
    job.total[p].bytes = tsr_slice_fixed_place(&job, (int64_t)across * down);
    job.total[p].scaler = 1;
}

static void plan_low_delay(tsr_queue *queue, const tsr_slices_encode_job *job)
{
    const int32_t across = job->shape.slices_x, down = job->shape.slices_y;
    const dim3 blocks(tsr_blocks(tsr_mini(across, down), WARPS, INT32_MAX), (uint32_t)job->pictures);
    for (int32_t diagonal = 0; diagonal < across + down - 1; diagonal++) TSR_LAUNCH(queue, diagonal_kernel, blocks, THREADS, 0, *job, diagonal);
}

static tsr_status cuda_plan(tsr_queue *queue, const tsr_slices_encode_job *job)
{
    TSR_TRY(tsr_queue_fill(queue, job->total, 0, (size_t)job->pictures * sizeof *job->total));
    if (!job->shape.high_quality) {
        plan_low_delay(queue, job);
        return tsr_launch_check(queue);
    }
    int taken;
    plan_flat(queue, job, &taken);
    if (!taken) TSR_LAUNCH(queue, plan_kernel, plan_blocks(job, RUN), THREADS, 0, *job);
    TSR_LAUNCH(queue, place_kernel, (uint32_t)job->pictures, SCAN, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------------------------- */

TSR_KERNEL(__launch_bounds__(THREADS, 10) write_kernel)(tsr_slices_encode_job job, uint32_t blocks)
{
    TSR_SHARED(uint64_t, scale, TSR_QUANTISER_MOST + 1);
    for (uint32_t k = threadIdx.x; k <= TSR_QUANTISER_MOST; k += THREADS) scale[k] = job.scale[k];
    __syncthreads();
    const int32_t n = (int32_t)(blockIdx.x % blocks * THREADS + threadIdx.x);
    if (n >= job.shape.slices_x * job.shape.slices_y) return;
    if (job.shape.high_quality) tsr_slice_write(&job, scale, (int32_t)blockIdx.y, n, (int32_t)(blockIdx.x / blocks));
    else tsr_slice_write_low_delay(&job, scale, (int32_t)blockIdx.y, n);
}

static tsr_status cuda_write(tsr_queue *queue, const tsr_slices_encode_job *job)
{
    const uint32_t blocks = slice_blocks(&job->shape);
    TSR_LAUNCH(queue, write_kernel, dim3((job->shape.high_quality ? 3 : 1) * blocks, (uint32_t)job->pictures), THREADS, 0, *job, blocks);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- samples ------------------------------------------------------------------------------------------------------------------------------- */

/* Four samples of a row a thread. */
enum { TOGETHER = 4, ACROSS = 256 };
#define COLUMNS(width) tsr_blocks(width, ACROSS *TOGETHER, INT32_MAX)
TSR_DEVICE_FN int32_t column(uint32_t columns) { return (int32_t)((blockIdx.x % columns * ACROSS + threadIdx.x) * TOGETHER); }

TSR_KERNEL(store_kernel)(tsr_slices_store_job job, uint32_t columns)
{
    tsr_dirac_store_job one = job.one;
    const int32_t x = column(columns);
    const int64_t y = blockIdx.x / columns;
    one.residue += blockIdx.y * job.batch + blockIdx.z * job.apart;
    one.plane = job.picture[blockIdx.y].plane[job.component + blockIdx.z];
    if (one.bytes == 2 && x + TOGETHER <= one.width && !(one.plane_stride & 3) && !((uintptr_t)one.plane & 7) && !(one.stride & 3)) {
        const tsr_slice_four residue = *(const tsr_slice_four *)(const void *)(one.residue + y * one.stride + x);
        const int32_t half = 1 << (one.depth - 1);
        uint64_t all = 0;
        for (int32_t k = 0; k < TOGETHER; k++) all |= (uint64_t)(uint16_t)tsr_dirac_shown(residue.v[k], half) << 16 * k;
        *(uint64_t *)(void *)((uint16_t *)one.plane + y * one.plane_stride + x) = all;
        return;
    }
    for (int32_t k = x; k < tsr_mini(x + TOGETHER, one.width); k++) tsr_dirac_store_sample(&one, k, y);
}

static tsr_status cuda_store(tsr_queue *queue, const tsr_slices_store_job *job)
{
    const uint32_t columns = COLUMNS(job->one.width);
    TSR_LAUNCH(queue, store_kernel, dim3(columns * (uint32_t)job->one.height, (uint32_t)job->pictures, (uint32_t)job->components), ACROSS, 0, *job,
               columns);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* A block row a component; columns: of the widest. */
TSR_KERNEL(load_kernel)(tsr_slices_load_job job, uint32_t columns)
{
    const tsr_dirac_load_job &one = job.component[blockIdx.y];
    const int32_t x = column(columns);
    const int64_t y = blockIdx.x / columns;
    if (y >= one.padded_height) return;
    if (one.bytes == 2 && x + TOGETHER <= one.width && !(one.plane_stride & 3) && !((uintptr_t)one.plane & 7) && !(one.stride & 3)) {
        const uint64_t all = *(const uint64_t *)(const void *)((const uint16_t *)one.plane + tsr_minl(y, one.height - 1) * one.plane_stride + x);
        tsr_slice_four samples;
        for (int32_t k = 0; k < TOGETHER; k++) samples.v[k] = (int32_t)(uint16_t)(all >> 16 * k) - (1 << (one.depth - 1));
        *(tsr_slice_four *)(void *)(one.samples + y * one.stride + x) = samples;
        return;
    }
    for (int32_t k = x; k < tsr_mini(x + TOGETHER, one.padded_width); k++) tsr_dirac_load_sample(&one, k, y);
}

static tsr_status cuda_load(tsr_queue *queue, const tsr_slices_load_job *job)
{
    int32_t width = 0, height = 0;
    for (int k = 0; k < 3; k++) {
        width = tsr_maxi(width, job->component[k].padded_width);
        height = tsr_maxi(height, job->component[k].padded_height);
    }
    const uint32_t columns = COLUMNS(width);
    TSR_LAUNCH(queue, load_kernel, dim3(columns * (uint32_t)height, 3), ACROSS, 0, *job, columns);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_slice_ops tsr_slice_cuda = { cuda_decode, cuda_predict, cuda_plan, cuda_write, cuda_store, cuda_load };
