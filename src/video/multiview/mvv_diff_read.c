/* video/multiview/mvv_diff_read.c: any texture from its segment's master and two differences. */
#include <stdio.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "video/multiview/mvv_diff.h"
#include "video/multiview/mvv_haar.h"

typedef struct reading {
    const tsr_mvv_reading *r;
    tsr_diff_tool *tool; /* of each worker */
    int threads;
    int64_t segment;
    int32_t *master[3];
    int64_t first; /* step of the batch */
    struct {
        tsr_status status;
        char message[256];
    } * result; /* of each job */
} reading;

int tsr_diff_find_stream(const tsr_diff_streams *s, int32_t number, int64_t *begin, int64_t *end)
{
    int64_t at = 0, before = 0, own = 0;
    *begin = *end = 0;
    for (int32_t k = 0; k < s->count - 1; k++) {
        int64_t size = 0;
        for (int shift = 0;; shift += 7) {
            if (at == s->size) return s->size < s->whole; /* cut off in the sizes: nothing is there */
            if (shift > 35) return 0;
            const uint8_t byte = s->bytes[at++];
            size |= (int64_t)(byte & 127) << shift;
            if (byte < 128) break;
        }
        if (k < number) before += size;
        if (k == number) own = size;
    }
    if (number == s->count - 1) own = s->whole - at - before;
    if (own < 0 || at + before + own > s->whole) return 0;
    *begin = tsr_min64(at + before, s->size);
    *end = tsr_min64(at + before + own, s->size);
    return 1;
}

tsr_status tsr_diff_open_streams(const tsr_mvv_reading *r, uint32_t type, int64_t index, tsr_diff_streams *s)
{
    TSR_TRY(tsr_chunk_file_read(r->reader, type, index, 1, &s->bytes, &s->size));
    s->count = tsr_diff_streams_in(r->head, type);
    s->whole = s->size;
    if (s->bytes) s->whole = tsr_chunk_file_find(r->reader, type, index)->size;
    else if (!r->reader->partial)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the streams of %s %lld are missing", r->reader->name, type == TSR_MVV_MSTR ? "segment" : "step",
                 (long long)index);
    return TSR_OK;
}

tsr_status tsr_diff_stream(const tsr_mvv_reading *r, const tsr_diff_streams *s, int32_t number, const uint8_t **bytes, int64_t *size)
{
    int64_t begin = 0, end = 0;
    *bytes = NULL;
    *size = 0;
    if (s->bytes && !tsr_diff_find_stream(s, number, &begin, &end))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the sizes of streams do not fit their chunk of %lld bytes", r->reader->name, (long long)s->whole);
    if (s->bytes) *bytes = s->bytes + begin;
    *size = end - begin;
    if (r->keep < 1) *size = (int64_t)((double)*size * r->keep);
    return TSR_OK;
}

/* A stream's samples; one that is missing (partial) is no difference, and grey for the master. */
static tsr_status stream(const tsr_mvv_reading *r, tsr_diff_tool *t, const tsr_diff_streams *s, int32_t number, int32_t *sample)
{
    const uint8_t *bytes;
    int64_t size;
    TSR_TRY(tsr_diff_stream(r, s, number, &bytes, &size));
    return tsr_diff_decode(t, bytes, size, sample);
}

/* Texels that any camera of a segment sees at any time. */
static void mask_of_segment(const tsr_mvv_reading *r, tsr_diff_tool *t, int64_t first, int64_t last)
{
    uint8_t *any = t->sorted;
    memset(any, 0, (size_t)t->texels);
    for (int64_t k = first; k < last; k++) {
        tsr_diff_mask_any(t, tsr_mvv_reading_mask(r, k, 0), tsr_mvv_words(t->width) * t->height);
        for (int64_t i = 0; i < t->texels; i++) any[i] |= t->mask[i];
        if (!r->masks) break;
    }
    memcpy(t->mask, any, (size_t)t->texels);
}

static tsr_status read_master(const reading *g, tsr_diff_tool *t, int p)
{
    const tsr_mvv_head *h = g->r->head;
    const int64_t first = g->segment * h->group;
    mask_of_segment(g->r, t, first, tsr_min64(first + h->group, h->steps));
    TSR_TRY(tsr_diff_ready(t));
    tsr_diff_streams s;
    TSR_TRY(tsr_diff_open_streams(g->r, TSR_MVV_MSTR, g->segment, &s));
    TSR_TRY(stream(g->r, t, &s, p, g->master[p]));
    return TSR_OK;
}

static tsr_status read_step(const reading *g, tsr_diff_tool *t, int64_t step)
{
    const tsr_mvv_reading *r = g->r;
    const tsr_mvv_head *h = r->head;
    tsr_diff_streams s;
    TSR_TRY(tsr_diff_open_streams(r, TSR_MVV_STEP, step, &s));
    tsr_diff_mask_any(t, tsr_mvv_reading_mask(r, step, 0), tsr_mvv_words(t->width) * t->height);
    TSR_TRY(tsr_diff_ready(t));
    for (int p = 0; p < 3; p++) {
        TSR_TRY(stream(r, t, &s, tsr_diff_first_stream(-1) + p, t->average[p]));
        for (int64_t k = 0; k < t->texels; k++) t->average[p][k] = tsr_mvv_sum(t->average[p][k], g->master[p][k] + (TSR_MVV_GREY << h->fraction));
    }
    for (int32_t c = 0; c < r->view.cameras; c++) {
        tsr_diff_mask(t, tsr_mvv_reading_mask(r, step, r->first_camera + c));
        TSR_TRY(tsr_diff_ready(t));
        for (int p = 0; p < 3; p++) {
            uint8_t *texture = tsr_mvv_texture(&r->view, p, step - r->first_step, c);
            TSR_TRY(stream(r, t, &s, tsr_diff_first_stream(r->first_camera + c) + p, t->sample));
            for (int64_t k = 0; k < t->texels; k++) texture[k] = t->mask[k] ? tsr_mvv_summed_texel(t->sample[k], t->average[p][k], h->fraction) : 0;
        }
    }
    return TSR_OK;
}

static void note(reading *g, int64_t k, tsr_status status)
{
    g->result[k].status = status;
    if (status != TSR_OK) snprintf(g->result[k].message, sizeof g->result[k].message, "%s", tsr_error_message());
}

static void read_masters(void *user, int64_t begin, int64_t end, int worker)
{
    reading *g = (reading *)user;
    for (int64_t p = begin; p < end; p++) note(g, p, read_master(g, g->tool + worker, (int)p));
}

static void read_steps(void *user, int64_t begin, int64_t end, int worker)
{
    reading *g = (reading *)user;
    for (int64_t k = begin; k < end; k++) note(g, k, read_step(g, g->tool + worker, g->first + k));
}

static tsr_status outcome(const reading *g, int64_t jobs)
{
    for (int64_t k = 0; k < jobs; k++)
        if (g->result[k].status != TSR_OK) TSR_FAIL(g->result[k].status, "%s", g->result[k].message);
    return TSR_OK;
}

tsr_status tsr_diff_look(const tsr_mvv_reading *r, int64_t segment, int64_t begin, int64_t end)
{
    TSR_TRY(tsr_chunk_file_look(r->reader, TSR_MVV_MSTR, segment));
    for (int64_t t = begin; t < end; t++) TSR_TRY(tsr_chunk_file_look(r->reader, TSR_MVV_STEP, t));
    return TSR_OK;
}

static tsr_status read_segment(reading *g, double done, double share)
{
    const tsr_mvv_reading *r = g->r;
    const int64_t begin = tsr_max64(g->segment * r->head->group, r->first_step);
    const int64_t end = tsr_min64((g->segment + 1) * r->head->group, (int64_t)r->first_step + r->view.steps), batch = 4 * (int64_t)g->threads;
    TSR_TRY(tsr_diff_look(r, g->segment, begin, end));
    tsr_parallel(g->threads, 3, 1, read_masters, g);
    TSR_TRY(outcome(g, 3));
    for (g->first = begin; g->first < end; g->first += batch) {
        const int64_t some = tsr_min64(batch, end - g->first);
        tsr_parallel(g->threads, some, 1, read_steps, g);
        TSR_TRY(outcome(g, some));
        TSR_PROGRESS(r->progress, done + share * (double)(g->first + some - begin) / (double)(end - begin), "decoding");
    }
    return TSR_OK;
}

tsr_status tsr_mvv_diff_read(const tsr_mvv_reading *r)
{
    const tsr_mvv_head *h = r->head;
    const int64_t first = r->first_step / h->group, last = (r->first_step + r->view.steps - 1) / h->group;
    reading g = { .r = r, .threads = (int)tsr_max64(1, tsr_min64(tsr_context_threads(r->context), tsr_max64(3, r->view.steps))) };
    tsr_status status = TSR_OK;
    g.tool = (tsr_diff_tool *)calloc((size_t)g.threads, sizeof *g.tool);
    g.result = calloc(4 * (size_t)g.threads + 3, sizeof *g.result);
    g.master[0] = (int32_t *)malloc((size_t)h->width * (size_t)h->height * 12);
    if (!g.tool || !g.result || !g.master[0]) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "out of memory for textures of %d x %d", h->width, h->height);
    for (int p = 1; p < 3; p++) g.master[p] = g.master[0] + (int64_t)p * h->width * h->height;
    for (int k = 0; k < g.threads; k++) TSR_TRY_GOTO(tsr_diff_tool_make(h, g.tool + k), done);
    for (g.segment = first; g.segment <= last; g.segment++)
        TSR_TRY_GOTO(read_segment(&g, (double)(g.segment - first) / (double)(last - first + 1), 1.0 / (double)(last - first + 1)), done);
done:
    for (int k = 0; g.tool && k < g.threads; k++) tsr_diff_tool_free(g.tool + k);
    free(g.tool);
    free(g.result);
    free(g.master[0]);
    return status;
}
