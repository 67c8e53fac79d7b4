/* video/dirac/encoder/slices_write.c: the quantiser of a slice is the finest whose codes fit, looked for from the one of the slice before. */
#include "video/dirac/encoder/slices_write.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "video/dirac/closed_loop.h"
#include "video/dirac/encoder/slices_write_isa.h"
#include "video/dirac/encoder/bits_write.h"
#include "video/dirac/slices.h"
#include "video/slices/slice_jobs.h"

enum { BANDS = 3 * TSR_DIRAC_LEVELS + 1, QUANTISER_MOST = TSR_SLICE_COARSEST, TOGETHER = 32 };

/* The coefficients of a slice, component by component, in the order of their codes. */
typedef struct gathered {
    int32_t *value, *scratch; /* room for the largest slice */
    int64_t begin[3];
    int32_t bands;
    int64_t size[3][BANDS];
    int32_t matrix[BANDS];
    tsr_dirac_run run[3][BANDS]; /* bands of one quantiser behind one another */
    int32_t runs[3];
    tsr_dirac_piece piece[3][BANDS];
    int even, laid; /* all slices have the same extents; and these are here */
} gathered;

typedef struct write_job {
    const tsr_dirac_slices_writing *w;
    tsr_dirac_steps steps[2][TSR_DIRAC_LEVELS + 1][4];
    int64_t room, first;
    uint8_t *to;
    int32_t failed, overfull; /* no memory; slices that do not fit with the coarsest quantiser */
} write_job;

static tsr_code_steps code_steps;
static pthread_once_t code_steps_once = PTHREAD_ONCE_INIT;

static void make_code_steps(void)
{
    for (int32_t index = 0; index < TSR_CODE_INDICES; index++) {
        const uint64_t scale = tsr_quantiser_scale(index);
        code_steps.scale[index] = scale;
        for (int32_t k = 0; k < TSR_CODE_STEPS; k++) { /* magnitude * scale >> 32 is at least 2^k - 1 */
            const uint64_t wanted = ((uint64_t)1 << (k & 31)) - 1, least = wanted ? ((wanted << 32) + scale - 1) / scale : 0;
            code_steps.least[index][k] = k > 30 || !scale || least > UINT32_MAX ? UINT32_MAX : (uint32_t)least;
        }
    }
}

static int all_even(const write_job *j)
{
    const tsr_dirac_transform *t = &j->w->transform;
    int even = 1;
    for (int kind = 0; kind < 2; kind++)
        for (int level = 0; level <= t->horizontal + t->depth; level++)
            for (int band = level > 0; band < tsr_dirac_bands(t, level); band++)
                even &= j->steps[kind][level][band].x > 0 && j->steps[kind][level][band].y > 0;
    return even;
}

static int begin_gathering(const write_job *j, gathered *g)
{
    g->even = all_even(j);
    g->laid = 0;
    g->value = (int32_t *)malloc(2 * (size_t)(j->room + 16) * sizeof(int32_t));
    g->scratch = g->value ? g->value + j->room + 16 : NULL;
    return g->value != NULL;
}

/* Extents and runs of slice (sx, sy). */
static void lay_out(const write_job *j, int32_t sx, int32_t sy, gathered *g)
{
    const tsr_dirac_slices_writing *w = j->w;
    const tsr_dirac_transform *t = &w->transform;
    int64_t at = 0;
    for (int c = 0; c < 3; c++) {
        const tsr_dirac_layout *l = w->layout[c];
        g->begin[c] = at;
        g->bands = 0;
        g->runs[c] = 0;
        for (int level = 0; level <= t->horizontal + t->depth; level++)
            for (int band = level > 0; band < tsr_dirac_bands(t, level); band++) {
                const tsr_dirac_band *b = &l->band[level][band];
                const tsr_dirac_area a = tsr_dirac_stepped_area(t, b, j->steps[c > 0][level][band], sx, sy);
                const int32_t size = (a.x1 - a.x0) * (a.y1 - a.y0), matrix = t->matrix[level][band];
                g->piece[c][g->bands] = (tsr_dirac_piece){ b->offset + (int64_t)a.y0 * l->stride + a.x0, a.x1 - a.x0, a.y1 - a.y0 };
                g->size[c][g->bands] = size;
                g->matrix[g->bands++] = matrix;
                if (g->runs[c] && g->run[c][g->runs[c] - 1].matrix == matrix) g->run[c][g->runs[c] - 1].size += size;
                else g->run[c][g->runs[c]++] = (tsr_dirac_run){ size, matrix };
                at += size;
            }
    }
}

static void gather(const write_job *j, int64_t n, gathered *g)
{
    const tsr_dirac_slices_writing *w = j->w;
    const int32_t sx = (int32_t)(n % w->transform.slices_x), sy = (int32_t)(n / w->transform.slices_x);
    if (!g->even) lay_out(j, sx, sy, g);
    else if (!g->laid) lay_out(j, 0, 0, g);
    g->laid = 1;
    for (int c = 0; c < 3; c++)
        TSR_ISA_SELECT(tsr_dirac_gather)
        (w->coefficients[c], w->narrow[c], w->layout[c]->stride, g->piece[c], g->bands, g->even ? sx : 0, g->even ? sy : 0, g->value + g->begin[c]);
}

/* Coefficients of the largest slice. */
static int64_t gather_room(const tsr_dirac_slices_writing *w)
{
    const tsr_dirac_transform *t = &w->transform;
    int64_t room = 0;
    for (int c = 0; c < 3; c++)
        for (int level = 0; level <= t->horizontal + t->depth; level++)
            for (int band = level > 0; band < tsr_dirac_bands(t, level); band++) {
                const tsr_dirac_band *b = &w->layout[c]->band[level][band];
                room += tsr_ceil_div(b->width, t->slices_x) * tsr_ceil_div(b->height, t->slices_y);
            }
    return room;
}

static write_job begin_job(const tsr_dirac_slices_writing *w)
{
    write_job job = { .w = w, .room = gather_room(w) };
    pthread_once(&code_steps_once, make_code_steps);
    tsr_dirac_slices_steps(&w->transform, w->layout, job.steps);
    return job;
}

static int32_t band_index(int32_t index, int32_t matrix) { return index > matrix ? index - matrix : 0; }

/* Bits of a component's codes up to its last coefficient that is not 0. */
static int64_t component_bits(const gathered *g, int component, int32_t index)
{
    return TSR_ISA_SELECT(tsr_dirac_run_bits)(g->value + g->begin[component], g->run[component], g->runs[component], index, &code_steps);
}

static void write_component(const gathered *g, int component, int32_t index, tsr_bits_out *out)
{
    TSR_ISA_SELECT(tsr_dirac_run_write)(g->value + g->begin[component], g->run[component], g->runs[component], index, &code_steps, g->scratch, out);
}

/* ---- high quality -------------------------------------------------------------------------------------------------------------------------- */

/* Coefficients behind the last that is not 0: a bit of padding each, where decoders must find them. */
static int64_t zeros_behind(const gathered *g, int component, int32_t index)
{
    const int32_t *end = g->value + g->begin[component];
    int64_t zeros = 0;
    for (int32_t b = 0; b < g->bands; b++) end += g->size[component][b];
    for (int32_t b = g->bands - 1; b >= 0; b--) {
        const uint64_t scale = tsr_quantiser_scale(band_index(index, g->matrix[b]));
        for (int64_t k = 0; k < g->size[component][b]; k++, zeros++)
            if (tsr_quantiser_magnitude(scale, *--end)) return zeros;
    }
    return zeros;
}

static int64_t high_quality_bytes(const tsr_dirac_slices_writing *w, const gathered *g, int32_t index, int32_t length[3])
{
    const int64_t unit = 8 * (int64_t)w->transform.scaler;
    int64_t bytes = (int64_t)w->transform.prefix + 4;
    for (int c = 0; c < 3; c++) {
        const int64_t units = tsr_ceil_div(component_bits(g, c, index) + (w->compatible ? zeros_behind(g, c, index) : 0), unit);
        length[c] = (int32_t)tsr_min64(units, INT32_MAX);
        bytes += length[c] * (int64_t)w->transform.scaler;
    }
    return bytes;
}

/* The finest quantiser for which `fits` says yes, looked for around `guess` in doubling steps; QUANTISER_MOST is taken to fit. */
static int32_t finest(int (*fits)(void *user, int32_t index), void *user, int32_t guess)
{
    int32_t low = -1, high = QUANTISER_MOST, index = guess;
    for (int32_t step = 1; high - low > 1; step *= 2) {
        if (fits(user, index)) high = index;
        else low = index;
        if (low < 0) index = high - step > 0 ? high - step : 0;
        else if (high == QUANTISER_MOST) index = low + step < high ? low + step : (low + high) / 2;
        else index = (low + high) / 2;
    }
    return high;
}

typedef struct fitting {
    const tsr_dirac_slices_writing *w;
    gathered *g;
    int64_t budget, n; /* bytes; the slice */
    int32_t *const *decoded;
    int32_t index, length[3]; /* of the last one that fitted; -1: none did. Low delay: [0] bits of luma, [1] of chroma */
} fitting;

tsr_status tsr_dirac_slices_overfull(const tsr_dirac_transform *t, int64_t slices)
{
    TSR_FAIL(TSR_ERROR_CAPACITY,
             "picture_bytes are %u / %u for each slice, in which %lld slices do not fit with the coarsest quantiser: expected more, or a matrix of "
             "smaller numbers",
             (unsigned)t->numerator, (unsigned)t->denominator, (long long)slices);
}

static int high_quality_fits(void *user, int32_t index)
{
    fitting *f = (fitting *)user;
    int32_t length[3];
    if (high_quality_bytes(f->w, f->g, index, length) > f->budget || length[0] > 255 || length[1] > 255 || length[2] > 255) return 0;
    f->index = index;
    memcpy(f->length, length, sizeof f->length);
    return 1;
}

/* One slice as its plan says; its bytes. `own` has room for it and what is written ahead. */
static int64_t write_slice(const tsr_dirac_slices_writing *w, const gathered *g, const tsr_dirac_slice_plan *p, uint8_t *own)
{
    const tsr_dirac_transform *t = &w->transform;
    uint8_t *at = own;
    memset(at, 0, t->prefix);
    at += t->prefix;
    *at++ = (uint8_t)p->index;
    for (int c = 0; c < 3; c++) {
        const int64_t bytes = (int64_t)p->length[c] * t->scaler;
        tsr_bits_out out = { .at = at + 1 };
        *at = (uint8_t)p->length[c];
        write_component(g, c, p->index, &out);
        tsr_bits_finish(&out);
        at++;
        if (out.at < at + bytes) memset(out.at, 0xff, (size_t)(at + bytes - out.at));
        at += bytes;
    }
    return at - own;
}

static int begin_writing(write_job *j, gathered *g, uint8_t **own)
{
    const tsr_dirac_transform *t = &j->w->transform;
    const int made = begin_gathering(j, g);
    *own = (uint8_t *)malloc((size_t)(3 * 255 * (int64_t)t->scaler + t->prefix + 64));
    if (made && *own) return 1;
    __atomic_store_n(&j->failed, 1, __ATOMIC_RELAXED);
    free(*own);
    free(g->value);
    return 0;
}

/* What is left of a slice of fixed size is padding of its last components. */
static void pad_slice(const tsr_dirac_transform *t, int64_t budget, tsr_dirac_slice_plan *p)
{
    int64_t left = (budget - (int64_t)t->prefix - 4 - (int64_t)t->scaler * ((int64_t)p->length[0] + p->length[1] + p->length[2])) / t->scaler;
    for (int c = 2; c >= 0 && left > 0; c--) {
        const int64_t more = tsr_min64(left, 255 - p->length[c]);
        p->length[c] += (int32_t)more;
        left -= more;
    }
}

static int64_t slice_size(const tsr_dirac_slices_writing *w, int64_t n)
{
    const int32_t *length = w->plan[n].length;
    return (int64_t)w->transform.prefix + 4 + (int64_t)w->transform.scaler * ((int64_t)length[0] + length[1] + length[2]);
}

/* Where slice n of a fixed size begins, all slices having theirs. */
static int64_t early_place(const tsr_dirac_slices_writing *w, int64_t n)
{
    return (int64_t)((uint64_t)n * w->transform.numerator / w->transform.denominator);
}

static void plan_range(void *user, int64_t begin, int64_t end, int worker)
{
    write_job *j = (write_job *)user;
    const tsr_dirac_slices_writing *w = j->w;
    gathered g;
    uint8_t *own = NULL;
    int32_t guess = TSR_SLICE_GUESS;
    (void)worker;
    if (!begin_writing(j, &g, &own)) return;
    for (int64_t n = begin; n < end; n++) {
        tsr_dirac_slice_plan *p = &w->plan[n];
        gather(j, n, &g);
        p->index = w->quantiser;
        if (w->quantiser >= 0) {
            high_quality_bytes(w, &g, w->quantiser, p->length);
            continue;
        }
        if (n % TOGETHER == 0) guess = TSR_SLICE_GUESS; /* the same whatever the threads */
        fitting f = { .w = w, .g = &g, .budget = tsr_dirac_slice_bytes(&w->transform, n), .index = -1 };
        guess = p->index = finest(high_quality_fits, &f, guess);
        if (f.index != guess && !high_quality_fits(&f, guess)) {
            __atomic_fetch_add(&j->overfull, 1, __ATOMIC_RELAXED);
            continue;
        }
        memcpy(p->length, f.length, sizeof p->length);
        pad_slice(&w->transform, f.budget, p);
        const int64_t bytes = write_slice(w, &g, p, own); /* its values are at hand now */
        memcpy(w->early + early_place(w, n), own, (size_t)bytes);
    }
    free(own);
    free(g.value);
}

/* Everything has its length: one scaler for all, and places. */
static tsr_status place_high_quality(tsr_dirac_slices_writing *w, int64_t count, int64_t *bytes)
{
    tsr_dirac_transform *t = &w->transform;
    int64_t at = 0;
    if (w->quantiser >= 0) { /* lengths are bytes so far */
        int32_t most = 1;
        for (int64_t n = 0; n < count; n++)
            for (int c = 0; c < 3; c++) most = w->plan[n].length[c] > most ? w->plan[n].length[c] : most;
        t->scaler = (uint32_t)tsr_ceil_div(most, 255);
        for (int64_t n = 0; n < count; n++)
            for (int c = 0; c < 3; c++) w->plan[n].length[c] = (int32_t)tsr_ceil_div(w->plan[n].length[c], t->scaler);
    }
    for (int64_t n = 0; n < count; n++) {
        tsr_dirac_slice_plan *p = &w->plan[n];
        p->offset = at;
        at += (int64_t)t->prefix + 4 + (int64_t)t->scaler * ((int64_t)p->length[0] + p->length[1] + p->length[2]);
    }
    *bytes = at;
    return TSR_OK;
}

static void write_range(void *user, int64_t begin, int64_t end, int worker)
{
    write_job *j = (write_job *)user;
    const tsr_dirac_slices_writing *w = j->w;
    const int64_t origin = w->plan[j->first].offset;
    gathered g;
    uint8_t *own = NULL;
    (void)worker;
    if (w->early) {
        for (int64_t n = j->first + begin; n < j->first + end; n++)
            memcpy(j->to + (w->plan[n].offset - origin), w->early + early_place(w, n), (size_t)slice_size(w, n));
        return;
    }
    if (!begin_writing(j, &g, &own)) return;
    for (int64_t n = j->first + begin; n < j->first + end; n++) {
        gather(j, n, &g);
        const int64_t bytes = write_slice(w, &g, &w->plan[n], own);
        memcpy(j->to + (w->plan[n].offset - origin), own, (size_t)bytes); /* written ahead of, so not in place beside the next slice */
    }
    free(own);
    free(g.value);
}

/* ---- low delay ----------------------------------------------------------------------------------------------------------------------------- */

/* The approximation of slice n is predicted from what a decoder has of its neighbours: `decoded` of component c. Its differences replace the gathered
 * values. */
static void predict_slice(const tsr_dirac_slices_writing *w, int64_t n, int32_t index, gathered *g, int32_t *const decoded[3])
{
    const tsr_dirac_transform *t = &w->transform;
    const int32_t sx = (int32_t)(n % t->slices_x), sy = (int32_t)(n / t->slices_x), own = band_index(index, t->matrix[0][0]);
    const uint64_t scale = tsr_quantiser_scale(own);
    const tsr_quantiser q = tsr_quantiser_make(own, 0);
    for (int c = 0; c < 3; c++) {
        const tsr_dirac_band *b = &w->layout[c]->band[0][0];
        const tsr_dirac_area a = tsr_dirac_slice_area(t, b, sx, sy);
        int32_t *to = g->value + g->begin[c];
        for (int32_t y = a.y0; y < a.y1; y++)
            for (int32_t x = a.x0; x < a.x1; x++) {
                int32_t *here = decoded[c] + (int64_t)y * b->width + x;
                const int32_t value = w->coefficients[c][b->offset + (int64_t)y * w->layout[c]->stride + x];
                int32_t quantised;
                *to++ = tsr_dirac_close_loop(value, here, b->width, x, y, scale, q, &quantised);
            }
    }
}

/* Bits of both chroma components' codes, interleaved, up to the last that is not 0. */
static int64_t pair_bits(const gathered *g, int32_t index)
{
    const int32_t *u = g->value + g->begin[1], *v = g->value + g->begin[2];
    int64_t bits = 0, all = 0;
    for (int64_t b = 0; b < g->bands; b++) {
        const uint64_t scale = tsr_quantiser_scale(band_index(index, g->matrix[b]));
        for (int64_t k = 0; k < g->size[1][b]; k++, u++, v++)
            for (int c = 0; c < 2; c++) {
                const uint32_t magnitude = tsr_quantiser_magnitude(scale, c ? *v : *u);
                all += tsr_code_bits(magnitude) + (magnitude != 0);
                if (magnitude) bits = all;
            }
    }
    return bits;
}

static void write_pair(const gathered *g, int32_t index, tsr_bits_out *out, int64_t bits)
{
    const int32_t *u = g->value + g->begin[1], *v = g->value + g->begin[2];
    for (int64_t b = 0; b < g->bands; b++) {
        const uint64_t scale = tsr_quantiser_scale(band_index(index, g->matrix[b]));
        for (int64_t k = 0; k < g->size[1][b]; k++, u++, v++)
            for (int c = 0; c < 2 && bits > 0; c++) {
                const int32_t value = c ? *v : *u;
                const uint32_t magnitude = tsr_quantiser_magnitude(scale, value);
                tsr_bits_put_uint(out, magnitude);
                if (magnitude) tsr_bits_put(out, value < 0, 1);
                bits -= tsr_code_bits(magnitude) + (magnitude != 0);
            }
    }
}

static int low_delay_fits(void *user, int32_t index)
{
    fitting *f = (fitting *)user;
    predict_slice(f->w, f->n, index, f->g, f->decoded);
    const int64_t luma = component_bits(f->g, 0, index), chroma = pair_bits(f->g, index);
    f->index = index;
    f->length[0] = (int32_t)luma;
    f->length[1] = (int32_t)chroma;
    return 7 + tsr_dirac_length_bits(f->budget) + luma + chroma <= 8 * f->budget;
}

/* One slice whose approximation is predicted with its quantiser; `own` has room for it and what is written ahead. */
static void write_low_delay_slice(const fitting *f, uint8_t *own)
{
    tsr_bits_out out = { .at = own };
    tsr_bits_put(&out, (uint64_t)f->index, 7);
    tsr_bits_put(&out, (uint64_t)f->length[0], tsr_dirac_length_bits(f->budget));
    write_component(f->g, 0, f->index, &out);
    write_pair(f->g, f->index, &out, f->length[1]);
    tsr_bits_finish(&out);
    if (out.at < own + f->budget) memset(out.at, 0xff, (size_t)(own + f->budget - out.at));
}

/* Slices one after the other: each is predicted from those before. The bytes go to w->plan[0] ... through `to`. The quantiser is looked for from the
 * one of the slice to the left, so that slices of a diagonal could be coded at once. */
static tsr_status write_low_delay(const write_job *j, int64_t count, uint8_t *to)
{
    const tsr_dirac_slices_writing *w = j->w;
    const tsr_dirac_transform *t = &w->transform;
    tsr_status status = TSR_OK;
    gathered g;
    int32_t *decoded[3] = { NULL, NULL, NULL };
    int64_t largest = 0;
    for (int64_t n = 0; n < count; n++) largest = tsr_max64(largest, tsr_dirac_slice_bytes(t, n));
    (void)begin_gathering(j, &g);
    uint8_t *own = (uint8_t *)malloc((size_t)largest + 64);
    for (int c = 0; c < 3; c++) {
        const tsr_dirac_band *b = &w->layout[c]->band[0][0];
        decoded[c] = (int32_t *)malloc((size_t)b->width * (size_t)b->height * sizeof(int32_t));
        if (!decoded[c] || !g.value || !own) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "no memory for slices");
    }
    for (int64_t n = 0; n < count; n++) {
        const int32_t *before = n % t->slices_x ? &w->plan[n - 1].index : n ? &w->plan[n - t->slices_x].index : NULL;
        fitting f = { .w = w, .g = &g, .budget = tsr_dirac_slice_bytes(t, n), .n = n, .decoded = decoded };
        gather(j, n, &g);
        const int32_t index = w->plan[n].index = finest(low_delay_fits, &f, tsr_slice_first_guess(before));
        if (!low_delay_fits(&f, index)) { /* the last one tried may be another */
            status = tsr_dirac_slices_overfull(t, 1);
            goto done;
        }
        write_low_delay_slice(&f, own);
        memcpy(to, own, (size_t)f.budget);
        to += f.budget;
    }
done:
    for (int c = 0; c < 3; c++) free(decoded[c]);
    free(own);
    free(g.value);
    return status;
}

/* ---- both ---------------------------------------------------------------------------------------------------------------------------------- */

static int64_t slice_count(const tsr_dirac_slices_writing *w) { return (int64_t)w->transform.slices_x * w->transform.slices_y; }

tsr_status tsr_dirac_slices_plan(tsr_dirac_slices_writing *w, int64_t *bytes)
{
    const int64_t count = slice_count(w);
    write_job job = begin_job(w);
    if (!w->transform.high_quality) {
        *bytes = 0;
        for (int64_t n = 0; n < count; n++) {
            w->plan[n].offset = *bytes;
            *bytes += tsr_dirac_slice_bytes(&w->transform, n);
        }
        return TSR_OK;
    }
    if (w->quantiser >= 0) w->transform.scaler = 1;
    free(w->early);
    w->early = NULL;
    if (w->quantiser < 0) {
        w->early = (uint8_t *)malloc((size_t)early_place(w, count) + 64);
        if (!w->early) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for %lld slices", (long long)count);
    }
    tsr_parallel(w->threads, count, TOGETHER, plan_range, &job);
    if (job.failed) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for slices");
    if (job.overfull) return tsr_dirac_slices_overfull(&w->transform, job.overfull);
    return place_high_quality(w, count, bytes);
}

tsr_status tsr_dirac_slices_write(const tsr_dirac_slices_writing *w, int64_t first, int64_t count, uint8_t *to)
{
    write_job job = begin_job(w);
    job.first = first;
    job.to = to;
    if (!w->transform.high_quality) return write_low_delay(&job, count, to);
    tsr_parallel(w->threads, count, TOGETHER, write_range, &job);
    if (job.failed) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for slices");
    return TSR_OK;
}

void tsr_dirac_slices_writing_free(tsr_dirac_slices_writing *w)
{
    free(w->early);
    w->early = NULL;
}
