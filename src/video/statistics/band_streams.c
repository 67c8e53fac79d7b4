/* video/statistics/band_streams.c: which rows are in which stream, and pictures on the way back. */
#include "video/statistics/band_streams.h"

#include <stdlib.h>

#include "core/parallel.h"
#include "video/dirac/quantiser.h"

/* ---- streams ------------------------------------------------------------------------------------------------------------------------------- */

static int64_t level_size(const tsr_dirac_transform *t, const tsr_dirac_layout *l, int level)
{
    int64_t n = 0;
    for (int band = level > 0; band < tsr_dirac_bands(t, level); band++) n += (int64_t)l->band[level][band].width * l->band[level][band].height;
    return n;
}

/* Rows [y0, y1) of all bands of a level, behind what the stream has. */
static void add_level(tsr_statistics_plan *p, tsr_statistics_stream *s, const tsr_dirac_transform *t, const tsr_dirac_layout *l, int level,
                      int32_t y0, int32_t y1)
{
    for (int band = level > 0; band < tsr_dirac_bands(t, level); band++) {
        p->segment[p->segments++] = (tsr_statistics_segment){ level, band, y0, y1 };
        s->count++;
        s->rows += y1 - y0;
        s->coefficients += (int64_t)(y1 - y0) * l->band[level][band].width;
    }
}

static int32_t strip_rows(const tsr_dirac_layout *l, int level)
{
    const int64_t row = 3 * (int64_t)l->band[level][1].width;
    return (int32_t)(row < TSR_STATISTICS_STREAM ? TSR_STATISTICS_STREAM / row : 1);
}

static int is_small(const tsr_dirac_transform *t, const tsr_dirac_layout *l, int level)
{
    return !level || level_size(t, l, level) < 2 * TSR_STATISTICS_STREAM;
}

tsr_status tsr_statistics_plan_make(const tsr_dirac_transform *t, const tsr_dirac_layout *const layout[3], tsr_statistics_plan *p)
{
    int64_t segments = 0, streams = 3;
    for (int c = 0; c < 3; c++)
        for (int level = 0; level <= t->depth; level++) {
            const int64_t strips = is_small(t, layout[c], level) ? 1 : tsr_ceil_div(layout[c]->band[level][1].height, strip_rows(layout[c], level));
            segments += 3 * strips;
            streams += strips;
        }
    *p = (tsr_statistics_plan){ .segment = (tsr_statistics_segment *)malloc((size_t)segments * sizeof *p->segment),
                                .stream = (tsr_statistics_stream *)calloc((size_t)streams, sizeof *p->stream) };
    if (!p->segment || !p->stream) {
        tsr_statistics_plan_free(p);
        TSR_FAIL(TSR_ERROR_MEMORY, "no memory for %lld streams", (long long)streams);
    }
    for (int c = 0; c < 3; c++) {
        tsr_statistics_stream *s = &p->stream[p->streams++];
        *s = (tsr_statistics_stream){ .component = c, .level = -1, .first = p->segments };
        for (int level = 0; level <= t->depth; level++)
            if (is_small(t, layout[c], level)) add_level(p, s, t, layout[c], level, 0, layout[c]->band[level][level > 0].height);
    }
    for (int level = 1; level <= t->depth; level++)
        for (int c = 0; c < 3; c++) {
            const int32_t height = layout[c]->band[level][1].height, rows = strip_rows(layout[c], level);
            for (int32_t y = 0; y < height && !is_small(t, layout[c], level); y += rows) {
                tsr_statistics_stream *s = &p->stream[p->streams++];
                *s = (tsr_statistics_stream){ .component = c, .level = level, .first = p->segments };
                add_level(p, s, t, layout[c], level, y, tsr_mini(y + rows, height));
            }
        }
    return TSR_OK;
}

void tsr_statistics_plan_free(tsr_statistics_plan *p)
{
    free(p->segment);
    free(p->stream);
    *p = (tsr_statistics_plan){ 0 };
}

tsr_statistics_around tsr_statistics_look(const tsr_dirac_layout *l, const tsr_statistics_segment *s, const int32_t *coefficients, int32_t y)
{
    const int32_t *row = coefficients + l->band[s->level][s->orientation].offset + (int64_t)y * l->stride;
    tsr_statistics_around a = { NULL, NULL, NULL, { NULL, NULL } };
    if (y > s->y0) {
        a.above = row - l->stride;
        a.second = y > s->y0 + 1 ? a.above - l->stride : a.above;
    }
    if (s->level > 1) a.parent = coefficients + l->band[s->level - 1][s->orientation].offset + (int64_t)(y >> 1) * l->stride;
    for (int k = 1; k < s->orientation; k++) a.sibling[k - 1] = coefficients + l->band[s->level][k].offset + (int64_t)y * l->stride;
    return a;
}

/* ---- decoding ------------------------------------------------------------------------------------------------------------------------------ */

typedef struct decoding {
    const tsr_dirac_core *core;
    tsr_statistics_plan plan;
    tsr_rans_lookup *lookup;
    int32_t index[3][TSR_DIRAC_LEVELS + 1][4]; /* -1: none; the band is 0 */
    int64_t first;                             /* stream of those at hand */
    int32_t failed;
} decoding;

/* One stream while its rows are decoded. */
typedef struct rows {
    const decoding *d;
    const tsr_statistics_stream *stream;
    int32_t segment, y, start;
    uint32_t *work;
    uint8_t *context;
} rows;

static tsr_rans_row next_row(void *user, int64_t k)
{
    rows *r = (rows *)user;
    const tsr_statistics_segment *s = &r->d->plan.segment[r->stream->first + r->segment];
    const tsr_dirac_layout *l = r->d->core->layout[r->stream->component];
    const tsr_dirac_band *b = &l->band[s->level][s->orientation];
    int32_t *coefficients = r->d->core->coefficients[r->stream->component];
    if (!k) r->y = s->y0;
    const tsr_statistics_around around = tsr_statistics_look(l, s, coefficients, r->y);
    const tsr_rans_row row = { coefficients + b->offset + (int64_t)r->y * l->stride, r->context, b->width };
    TSR_ISA_SELECT(tsr_statistics_contexts)(&around, b->width, r->start, r->work, r->context);
    if (++r->y == s->y1 && r->segment + 1 < r->stream->count) r->y = r->d->plan.segment[r->stream->first + ++r->segment].y0;
    return row;
}

static void clear_rows(const decoding *d, const tsr_statistics_stream *s)
{
    const tsr_dirac_layout *l = d->core->layout[s->component];
    for (int32_t k = s->first; k < s->first + s->count; k++) {
        const tsr_statistics_segment *g = &d->plan.segment[k];
        const tsr_dirac_band *b = &l->band[g->level][g->orientation];
        for (int32_t y = g->y0; y < g->y1; y++)
            memset(d->core->coefficients[s->component] + b->offset + (int64_t)y * l->stride, 0, (size_t)b->width * sizeof(int32_t));
    }
}

static void decode_streams(void *user, int64_t begin, int64_t end, int worker)
{
    decoding *d = (decoding *)user;
    (void)worker;
    for (int64_t k = begin; k < end; k++) {
        const tsr_statistics_stream *s = &d->plan.stream[d->first + k];
        const size_t widest = (size_t)d->core->layout[s->component]->stride + TSR_RANS_LANES;
        if (!s->size || !s->rows) {
            clear_rows(d, s);
            continue;
        }
        rows r = { .d = d, .stream = s, .start = tsr_rans_start_of(s->bytes, (size_t)s->size) };
        r.work = (uint32_t *)malloc(widest * (sizeof *r.work + 1));
        if (!r.work) {
            __atomic_store_n(&d->failed, 1, __ATOMIC_RELAXED);
            return;
        }
        r.context = (uint8_t *)(r.work + widest);
        TSR_ISA_SELECT(tsr_rans_decode_rows)(s->bytes, (size_t)s->size, d->lookup, s->rows, next_row, &r);
        free(r.work);
    }
}

/* Bands by [component][level][orientation] in one row. */
static void put_back_bands(void *user, int64_t begin, int64_t end, int worker)
{
    const decoding *d = (const decoding *)user;
    (void)worker;
    for (int64_t k = begin; k < end; k++) {
        const int32_t c = (int32_t)(k / ((TSR_DIRAC_LEVELS + 1) * 4)), level = (int32_t)(k / 4 % (TSR_DIRAC_LEVELS + 1)), band = (int32_t)(k % 4);
        const tsr_dirac_transform *t = d->core->transform;
        if (level > t->depth || band < (level > 0) || band >= tsr_dirac_bands(t, level)) continue;
        const tsr_dirac_layout *l = d->core->layout[c];
        const tsr_dirac_band *b = &l->band[level][band];
        const int32_t index = d->index[c][level][band];
        const tsr_quantiser q = tsr_quantiser_make(tsr_maxi(index, 0), d->core->inter);
        for (int32_t y = 0; y < b->height; y++) {
            int32_t *row = d->core->coefficients[c] + b->offset + (int64_t)y * l->stride;
            for (int32_t x = 0; x < b->width; x++)
                if (row[x]) row[x] = index < 0 ? 0 : tsr_quantiser_inverse(q, row[x]);
        }
    }
}

/* Frequencies of all tables: a flag, and where it is 1 all but the last, less 1. Returns 0 where they are impossible. */
static int read_model(tsr_bits *bits, tsr_rans_model *model)
{
    for (int table = 0; table < TSR_RANS_TABLES; table++) {
        const int given = tsr_bits_flag(bits);
        int64_t left = TSR_RANS_SLOTS;
        for (int t = 0; t < TSR_RANS_TOKENS; t++) {
            const int64_t f = !given ? TSR_RANS_SLOTS / TSR_RANS_TOKENS : t < TSR_RANS_TOKENS - 1 ? 1 + (int64_t)tsr_bits_uint(bits) : left;
            if (f < 1 || f > left) return 0;
            model->frequency[table][t] = (uint16_t)f;
            left -= f;
        }
    }
    return !tsr_bits_over(bits);
}

static void read_indices(const tsr_dirac_transform *t, tsr_bits *bits, int32_t of[3][TSR_DIRAC_LEVELS + 1][4], tsr_dirac_core_damage *damage)
{
    for (int c = 0; c < 3; c++)
        for (int level = 0; level <= t->depth; level++)
            for (int band = level > 0; band < tsr_dirac_bands(t, level); band++) {
                const uint32_t index = bits->at < bits->end ? tsr_bits_uint(bits) : UINT32_MAX;
                damage->quantiser += index > TSR_QUANTISER_MOST;
                of[c][level][band] = index > TSR_QUANTISER_MOST ? -1 : (int32_t)index;
            }
}

static void find_streams(const tsr_statistics_plan *plan, tsr_bits *bits, tsr_dirac_core_damage *damage)
{
    for (int32_t k = 0; k < plan->streams; k++) plan->stream[k].size = bits->at < bits->end ? (int64_t)tsr_bits_uint(bits) : 0;
    tsr_bits_align(bits);
    for (int32_t k = 0; k < plan->streams; k++) {
        tsr_statistics_stream *s = &plan->stream[k];
        const int64_t left = tsr_max64(bits->end / 8 - bits->at / 8, 0), wanted = s->size;
        damage->cut += wanted > left;
        s->size = tsr_min64(wanted, left);
        s->bytes = bits->data + bits->at / 8;
        bits->at += 8 * wanted;
    }
}

tsr_status tsr_dirac_statistics_measure(const tsr_dirac_transform *transform, const tsr_dirac_layout *const layout[3], tsr_bits *bits,
                                        int64_t band_bits[3][TSR_DIRAC_LEVELS + 1][4], int32_t quantiser[3][TSR_DIRAC_LEVELS + 1][4])
{
    tsr_statistics_plan plan;
    tsr_dirac_core_damage damage = { 0 };
    tsr_rans_model model;
    TSR_TRY(tsr_statistics_plan_make(transform, layout, &plan));
    tsr_bits_align(bits);
    if (read_model(bits, &model)) {
        read_indices(transform, bits, quantiser, &damage);
        find_streams(&plan, bits, &damage);
        for (int32_t k = 0; k < plan.streams; k++) {
            const int32_t level = tsr_maxi(plan.stream[k].level, 0);
            band_bits[plan.stream[k].component][level][level > 0] += 8 * plan.stream[k].size;
        }
    } else bits->at = bits->end + 1;
    tsr_statistics_plan_free(&plan);
    return TSR_OK;
}

static tsr_status decode_all(decoding *d)
{
    int64_t end;
    for (d->first = 0; d->first < d->plan.streams; d->first = end) {
        for (end = d->first; end < d->plan.streams && d->plan.stream[end].level == d->plan.stream[d->first].level; end++) {}
        tsr_parallel(d->core->threads, end - d->first, 1, decode_streams, d);
    }
    if (d->failed) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for a stream");
    tsr_parallel(d->core->threads, 3 * (TSR_DIRAC_LEVELS + 1) * 4, 1, put_back_bands, d);
    return TSR_OK;
}

tsr_status tsr_dirac_statistics_decode(const tsr_dirac_core *core, tsr_bits *bits, tsr_dirac_core_damage *damage)
{
    decoding d = { .core = core };
    tsr_rans_model model;
    tsr_status status;
    *damage = (tsr_dirac_core_damage){ 0 };
    TSR_TRY(tsr_statistics_plan_make(core->transform, core->layout, &d.plan));
    tsr_bits_align(bits);
    d.lookup = (tsr_rans_lookup *)malloc(sizeof *d.lookup);
    if (!d.lookup) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "no memory for tables");
    if (read_model(bits, &model)) {
        tsr_rans_lookup_fill(&model, d.lookup);
        read_indices(core->transform, bits, d.index, damage);
        find_streams(&d.plan, bits, damage);
    } else damage->cut = d.plan.streams;
    status = decode_all(&d);
done:
    free(d.lookup);
    tsr_statistics_plan_free(&d.plan);
    return status;
}
