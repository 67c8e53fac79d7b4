/* video/statistics/band_streams_write.c: contexts of all rows, how often each token follows each of them, then the streams. */
#include "video/statistics/band_streams_write.h"

#include <stdlib.h>

#include "core/parallel.h"
#include "video/statistics/band_streams.h"

/* A stream on its way. */
typedef struct coded_stream {
    tsr_rans_row *row;
    uint8_t *context, *bytes; /* of all rows; malloc */
    size_t size;
    int32_t start, zero;
} coded_stream;

typedef struct coding {
    tsr_dirac_core_writing *w;
    tsr_statistics_plan plan;
    coded_stream *stream;
    tsr_rans_counts counts;
    const tsr_rans_model *model; /* NULL: tokens are counted */
    int32_t failed;
} coding;

/* The rows of a stream, and the context of its first row: eight times the mean magnitude of that. */
static void list_rows(const coding *j, const tsr_statistics_stream *s, coded_stream *out)
{
    const tsr_dirac_layout *l = j->w->layout[s->component];
    int64_t at = 0, k = 0;
    uint32_t any = 0;
    for (int32_t g = s->first; g < s->first + s->count; g++) {
        const tsr_statistics_segment *segment = &j->plan.segment[g];
        const tsr_dirac_band *b = &l->band[segment->level][segment->orientation];
        for (int32_t y = segment->y0; y < segment->y1; y++, k++) {
            int32_t *v = j->w->quantised[s->component] + b->offset + (int64_t)y * l->stride;
            uint64_t sum = 0;
            for (int32_t x = 0; x < b->width; x++) sum += tsr_rans_magnitude(v[x]);
            if (!k && b->width) out->start = tsr_rans_context((uint32_t)(8 * sum / (uint64_t)b->width));
            any |= sum != 0;
            out->row[k] = (tsr_rans_row){ v, out->context + at, b->width };
            at += b->width;
        }
    }
    out->zero = !any;
}

static int find_contexts(const coding *j, const tsr_statistics_stream *s, coded_stream *out)
{
    const tsr_dirac_layout *l = j->w->layout[s->component];
    int64_t k = 0;
    out->row = (tsr_rans_row *)malloc((size_t)(s->rows + 1) * sizeof *out->row);
    out->context = (uint8_t *)malloc((size_t)s->coefficients + 1);
    uint32_t *work = (uint32_t *)malloc(((size_t)l->stride + 1) * sizeof *work);
    if (!out->row || !out->context || !work) {
        free(work);
        return 0;
    }
    list_rows(j, s, out);
    for (int32_t g = s->first; g < s->first + s->count && !out->zero; g++) {
        const tsr_statistics_segment *segment = &j->plan.segment[g];
        for (int32_t y = segment->y0; y < segment->y1; y++, k++) {
            const tsr_statistics_around around = tsr_statistics_look(l, segment, j->w->quantised[s->component], y);
            TSR_ISA_SELECT(tsr_statistics_contexts)(&around, out->row[k].n, out->start, work, out->context + (out->row[k].context - out->context));
        }
    }
    free(work);
    return 1;
}

static void code_streams(void *user, int64_t begin, int64_t end, int worker)
{
    coding *j = (coding *)user;
    (void)worker;
    for (int64_t k = begin; k < end; k++) {
        coded_stream *s = &j->stream[k];
        const int ready = j->model || find_contexts(j, &j->plan.stream[k], s);
        if (!ready ||
            (!s->zero && tsr_rans_encode_rows(s->row, j->plan.stream[k].rows, s->start, j->model, &j->counts, &s->bytes, &s->size) != TSR_OK))
            __atomic_store_n(&j->failed, 1, __ATOMIC_RELAXED);
    }
}

static void put_model(tsr_bits_out *out, const tsr_rans_model *model, const tsr_rans_counts *counts)
{
    for (int table = 0; table < TSR_RANS_TABLES; table++) {
        uint64_t used = 0;
        for (int t = 0; t < TSR_RANS_TOKENS; t++) used |= counts->count[table][t];
        tsr_bits_put(out, used != 0, 1);
        for (int t = 0; used && t < TSR_RANS_TOKENS - 1; t++) tsr_bits_put_uint(out, model->frequency[table][t] - 1u);
    }
}

/* Tables, quantisers, lengths, streams. */
static tsr_status put_all(coding *j, const tsr_rans_model *model)
{
    tsr_dirac_core_writing *w = j->w;
    int64_t room = 1024 + TSR_RANS_TABLES * TSR_RANS_TOKENS * 4 + 16 * (int64_t)j->plan.streams + 4 * 3 * 4 * (TSR_DIRAC_LEVELS + 1);
    for (int32_t k = 0; k < j->plan.streams; k++) room += (int64_t)j->stream[k].size;
    if (room > w->whole.room) {
        free(w->whole.bytes);
        w->whole = (tsr_dirac_written){ .bytes = (uint8_t *)malloc((size_t)(room + room / 2)), .room = room + room / 2 };
        if (!w->whole.bytes) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for %lld bytes of a picture", (long long)room);
    }
    tsr_bits_out out = { .at = w->whole.bytes };
    put_model(&out, model, &j->counts);
    for (int c = 0; c < 3; c++)
        for (int level = 0; level <= w->transform->depth; level++)
            for (int band = level > 0; band < tsr_dirac_bands(w->transform, level); band++)
                tsr_bits_put_uint(&out, (uint32_t)w->index[c][level][band]);
    for (int32_t k = 0; k < j->plan.streams; k++) tsr_bits_put_uint(&out, (uint32_t)j->stream[k].size);
    tsr_bits_finish(&out);
    for (int32_t k = 0; k < j->plan.streams; k++) {
        if (j->stream[k].size) memcpy(out.at, j->stream[k].bytes, j->stream[k].size);
        out.at += j->stream[k].size;
    }
    w->whole.size = out.at - w->whole.bytes;
    return TSR_OK;
}

tsr_status tsr_statistics_write(tsr_dirac_core_writing *w)
{
    coding j = { .w = w };
    tsr_rans_model model;
    tsr_status status;
    TSR_TRY(tsr_statistics_plan_make(w->transform, w->layout, &j.plan));
    j.stream = (coded_stream *)calloc((size_t)j.plan.streams, sizeof *j.stream);
    if (!j.stream) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "no memory for %d streams", j.plan.streams);
    tsr_parallel(w->threads, j.plan.streams, 1, code_streams, &j);
    tsr_rans_model_fit(&j.counts, &model);
    j.model = &model;
    if (!j.failed) tsr_parallel(w->threads, j.plan.streams, 1, code_streams, &j);
    if (j.failed) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "no memory for streams");
    status = put_all(&j, &model);
done:
    for (int32_t k = 0; j.stream && k < j.plan.streams; k++) {
        free(j.stream[k].row);
        free(j.stream[k].context);
        free(j.stream[k].bytes);
    }
    free(j.stream);
    tsr_statistics_plan_free(&j.plan);
    return status;
}
