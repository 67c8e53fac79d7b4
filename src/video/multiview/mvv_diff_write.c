/* video/multiview/mvv_diff_write.c: means, differences, and which stream gets how many bytes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "video/multiview/mvv_diff_write.h"
#include "video/multiview/mvv_haar.h"
#include "video/multiview/mvv_sheets.h"

/* The mean over the cameras that see a texel; t->mask and t->count are of the step. */
static void mean_of_step(const tsr_diff_writing *g, tsr_diff_tool *t, int64_t step, int p, int32_t *mean)
{
    const tsr_multiview_view *v = g->w->view;
    const int64_t words = tsr_mvv_words(v->width);
    memset(mean, 0, (size_t)t->texels * 4);
    for (int32_t c = 0; c < v->cameras; c++) {
        const uint8_t *texture = tsr_mvv_texture(v, p, g->first_step + step, c);
        const uint64_t *mask = tsr_mvv_mask(v, g->first_step + step, c);
        for (int64_t y = 0; y < v->height; y++)
            for (int64_t u = 0; u < v->width; u++)
                if (!mask || tsr_mvv_bit(mask + y * words, u)) mean[y * v->width + u] += texture[y * v->width + u];
    }
    for (int64_t k = 0; k < t->texels; k++) mean[k] = tsr_mvv_mean_texel(mean[k], t->count[k], t->fraction);
}

static void mean_of_segment(tsr_diff_writing *g, tsr_diff_tool *t, int p)
{
    const int64_t stride = tsr_mvv_mask_words(g->w->view);
    int64_t *sum = (int64_t *)calloc((size_t)t->texels, 12);
    int32_t *times = (int32_t *)(void *)(sum ? sum + t->texels : NULL);
    if (!sum) {
        g->note[p].status = TSR_FAILED(TSR_ERROR_MEMORY, "out of memory for a master texture");
        snprintf(g->note[p].message, sizeof g->note[p].message, "%s", tsr_error_message());
        return;
    }
    for (int64_t k = 0; k < g->steps; k++) {
        tsr_diff_mask_any(t, tsr_diff_masks(g, k), stride);
        mean_of_step(g, t, k, p, t->sample);
        for (int64_t i = 0; i < t->texels; i++) {
            if (!t->mask[i]) continue;
            sum[i] += t->sample[i];
            times[i]++;
        }
    }
    const int32_t grey = TSR_MVV_GREY << t->fraction;
    for (int64_t i = 0; i < t->texels; i++) {
        g->mean[p][i] = tsr_mvv_mean_sample(sum[i], times[i], grey);
        if (!p) g->mask[i] = times[i] > 0;
    }
    free(sum);
}

void tsr_diff_count_relevant(tsr_diff_writing *g, const tsr_diff_tool *t, int64_t stream)
{
    int64_t sum = 0;
    for (int64_t k = 0; k < t->texels; k++) sum += t->mask[k];
    g->relevant[stream] = sum;
}

void tsr_diff_keep_curve(const tsr_diff_writing *g, const tsr_diff_tool *t, int64_t stream, int p, int64_t size)
{
    tsr_diff_curve *c = g->curve + p * g->streams + stream;
    c->points = t->coder.points;
    c->cut = size >= tsr_diff_trial(g, stream, p);
    memcpy(c->point, t->coder.point, sizeof c->point);
}

/* ---- trying out: how much error goes with how many bytes ------------------------------------------------------------------------------------- */

static tsr_status try_one(tsr_diff_writing *g, tsr_diff_tool *t, const int32_t *sample, int64_t stream, int p)
{
    uint8_t *bytes;
    int64_t size;
    TSR_TRY(tsr_diff_encode(t, sample, tsr_diff_trial(g, stream, p), &bytes, &size));
    free(bytes);
    tsr_diff_keep_curve(g, t, stream, p, size);
    return TSR_OK;
}

/* The master; t->mask is not yet its own. */
static tsr_status try_master(tsr_diff_writing *g, tsr_diff_tool *t, int p)
{
    if (!tsr_diff_wanted(g, 0, p)) return TSR_OK;
    memcpy(t->mask, g->mask, (size_t)t->texels);
    TSR_TRY(tsr_diff_ready(t));
    return try_one(g, t, g->mean[p], 0, p);
}

static tsr_status try_step(tsr_diff_writing *g, tsr_diff_tool *t, int64_t step)
{
    const tsr_multiview_view *v = g->w->view;
    const int64_t average = tsr_diff_average_stream(g, step);
    const int32_t grey = TSR_MVV_GREY << t->fraction;
    if (g->again && !tsr_diff_any_wanted(g, average, 1 + v->cameras)) return TSR_OK;
    tsr_diff_mask_any(t, tsr_diff_masks(g, step), tsr_mvv_mask_words(v));
    tsr_diff_count_relevant(g, t, average);
    if (tsr_diff_any_wanted(g, average, 1)) TSR_TRY(tsr_diff_ready(t));
    for (int p = 0; g->curve && p < 3; p++) {
        mean_of_step(g, t, step, p, t->average[p]);
        if (!tsr_diff_wanted(g, average, p)) continue;
        for (int64_t k = 0; k < t->texels; k++) t->sample[k] = t->average[p][k] - g->mean[p][k] - grey;
        TSR_TRY(try_one(g, t, t->sample, average, p));
    }
    for (int32_t c = 0; c < v->cameras; c++) {
        const int64_t stream = average + 1 + c;
        tsr_diff_mask(t, tsr_mvv_mask(v, g->first_step + step, c));
        tsr_diff_count_relevant(g, t, stream);
        if (tsr_diff_any_wanted(g, stream, 1)) TSR_TRY(tsr_diff_ready(t));
        for (int p = 0; p < 3; p++) {
            if (!tsr_diff_wanted(g, stream, p)) continue;
            const uint8_t *texture = tsr_mvv_texture(v, p, g->first_step + step, c);
            for (int64_t k = 0; k < t->texels; k++) t->sample[k] = (texture[k] << t->fraction) - t->average[p][k];
            TSR_TRY(try_one(g, t, t->sample, stream, p));
        }
    }
    return TSR_OK;
}

/* A stretch of a stream's curve that is part of its hull. */
typedef struct stretch {
    double slope;
    int64_t stream, bytes, upto;
} stretch;

static int steepest(const void *a, const void *b)
{
    const stretch *x = (const stretch *)a, *y = (const stretch *)b;
    if (x->slope != y->slope) return x->slope > y->slope ? -1 : 1;
    if (x->stream != y->stream) return x->stream < y->stream ? -1 : 1;
    return x->upto < y->upto ? -1 : x->upto > y->upto;
}

/* Every point that no line between two others passes above. */
static int64_t hull(const tsr_diff_curve *c, int64_t stream, double weight, stretch *to)
{
    tsr_bisk_point kept[TSR_BISK_MOST_POINTS + 1] = { { 1, 0 } };
    int64_t n = 1, written = 0;
    for (int32_t k = 0; k < c->points; k++) {
        const tsr_bisk_point p = c->point[k];
        if (p.bytes <= kept[n - 1].bytes || p.gain <= kept[n - 1].gain) continue;
        while (n > 1 && (kept[n - 1].gain - kept[n - 2].gain) * (double)(p.bytes - kept[n - 1].bytes) <=
                            (p.gain - kept[n - 1].gain) * (double)(kept[n - 1].bytes - kept[n - 2].bytes))
            n--;
        kept[n++] = p;
    }
    for (int64_t k = 1; k < n; k++)
        to[written++] = (stretch){ weight * (kept[k].gain - kept[k - 1].gain) / (double)(kept[k].bytes - kept[k - 1].bytes), stream,
                                   kept[k].bytes - kept[k - 1].bytes, kept[k].bytes };
    return written;
}

/* The steepest stretches of all streams, until the bytes are spent. Errors of a master or an average are found again in the differences to it; how
 * much of
 * them those leave is between none and all, so that they weigh the root of the number of textures that hang on them. */
static tsr_status share_best(tsr_diff_writing *g, int p, int64_t bytes)
{
    int64_t count = 0, left = bytes - g->streams;
    stretch *all = (stretch *)malloc((size_t)g->streams * TSR_BISK_MOST_POINTS * sizeof *all);
    if (!all) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for the curves of %lld streams", (long long)g->streams);
    for (int64_t s = 0; s < g->streams; s++) {
        const double textures = !s ? (double)g->steps * g->w->view->cameras : tsr_diff_is_average(g, s) ? g->w->view->cameras : 1;
        tsr_diff_curve *c = g->curve + p * g->streams + s;
        const int64_t stretches = hull(c, s, sqrt(textures), all + count);
        c->known = stretches > 1 ? all[count + stretches - 2].upto : 0;
        count += stretches;
        g->budget[p * g->streams + s] = 1;
    }
    qsort(all, (size_t)count, sizeof *all, steepest);
    for (int64_t k = 0; k < count && left > 0; k++) {
        g->budget[p * g->streams + all[k].stream] += tsr_min64(left, all[k].bytes);
        left -= all[k].bytes;
    }
    free(all);
    return TSR_OK;
}

static void share_fixed(const tsr_diff_writing *g, int p, int64_t bytes)
{
    double sum = 4 * (double)g->relevant[0];
    for (int64_t s = 1; s < g->streams; s++) sum += (double)g->relevant[s];
    for (int64_t s = 0; s < g->streams; s++)
        g->budget[p * g->streams + s] = tsr_max64(1, (int64_t)((double)bytes * (double)g->relevant[s] * (s ? 1 : 4) / fmax(1, sum)));
}

/* ---- writing ----------------------------------------------------------------------------------------------------------------------------------- */

/* Codes samples; the decoder's are added to (or, first, put into) `known`, if that is wanted. */
static tsr_status code_one(tsr_diff_writing *g, tsr_diff_tool *t, const int32_t *sample, int64_t stream, int p, uint8_t **bytes, int64_t *size,
                           int32_t *decoded)
{
    TSR_TRY(tsr_diff_encode(t, sample, tsr_diff_budget(g, stream, p), bytes, size));
    if (decoded) TSR_TRY(tsr_diff_decode(t, *bytes, *size, decoded));
    return TSR_OK;
}

/* A chunk of `count` streams, Y, U, V in turn. */
static tsr_status write_streams(const tsr_diff_writing *g, uint32_t type, int64_t index, const tsr_diff_coded *stream, int32_t count)
{
    int64_t size = 5 * (int64_t)count, at = 0;
    for (int32_t k = 0; k < count; k++) size += stream[k].size;
    uint8_t *bytes = (uint8_t *)malloc(size > 0 ? (size_t)size : 1); /* gcc 13 does not see that it is above zero */
    if (!bytes) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for %lld bytes of streams", (long long)size);
    for (int32_t k = 0; k < count - 1; k++)
        for (int64_t left = stream[k].size, more = 1; more; left >>= 7) {
            more = left > 127;
            bytes[at++] = (uint8_t)((left & 127) | (more ? 128 : 0));
        }
    for (int32_t k = 0; k < count; k++) {
        memcpy(bytes + at, stream[k].bytes, (size_t)stream[k].size);
        at += stream[k].size;
        g->w->stream_bytes[k % 3] += stream[k].size;
    }
    const tsr_status status = tsr_chunk_file_write(g->w->writer, type, index, bytes, (size_t)at);
    free(bytes);
    return status;
}

/* A component of the master, and what a decoder has of it. */
static tsr_status code_master(tsr_diff_writing *g, tsr_diff_tool *t, int p)
{
    const int open = g->w->head.open_loop;
    memcpy(t->mask, g->mask, (size_t)t->texels);
    TSR_TRY(tsr_diff_ready(t));
    TSR_TRY(code_one(g, t, g->mean[p], 0, p, &g->result[p].bytes, &g->result[p].size, open ? NULL : g->master[p]));
    if (open) memcpy(g->master[p], g->mean[p], (size_t)t->texels * 4);
    return TSR_OK;
}

static tsr_status code_step(tsr_diff_writing *g, tsr_diff_tool *t, int64_t step)
{
    const tsr_multiview_view *v = g->w->view;
    const int open = g->w->head.open_loop;
    const int32_t grey = TSR_MVV_GREY << t->fraction;
    int64_t at = (step - g->first) * 3 * (1 + v->cameras);
    tsr_diff_mask_any(t, tsr_diff_masks(g, step), tsr_mvv_mask_words(v));
    TSR_TRY(tsr_diff_ready(t));
    for (int p = 0; p < 3; p++, at++) {
        mean_of_step(g, t, step, p, t->average[p]);
        for (int64_t k = 0; k < t->texels; k++) t->sample[k] = t->average[p][k] - g->master[p][k] - grey;
        TSR_TRY(
            code_one(g, t, t->sample, tsr_diff_average_stream(g, step), p, &g->result[at].bytes, &g->result[at].size, open ? NULL : t->average[p]));
        for (int64_t k = 0; !open && k < t->texels; k++) t->average[p][k] += g->master[p][k] + grey;
    }
    for (int32_t c = 0; c < v->cameras; c++) {
        tsr_diff_mask(t, tsr_mvv_mask(v, g->first_step + step, c));
        TSR_TRY(tsr_diff_ready(t));
        for (int p = 0; p < 3; p++, at++) {
            const uint8_t *texture = tsr_mvv_texture(v, p, g->first_step + step, c);
            for (int64_t k = 0; k < t->texels; k++) t->sample[k] = (texture[k] << t->fraction) - t->average[p][k];
            TSR_TRY(code_one(g, t, t->sample, tsr_diff_average_stream(g, step) + 1 + c, p, &g->result[at].bytes, &g->result[at].size, NULL));
        }
    }
    return TSR_OK;
}

void tsr_diff_note(tsr_diff_writing *g, int64_t k, tsr_status status)
{
    g->note[k].status = status;
    if (status != TSR_OK) snprintf(g->note[k].message, sizeof g->note[k].message, "%s", tsr_error_message());
}

static void mean_some(void *user, int64_t begin, int64_t end, int worker)
{
    tsr_diff_writing *g = (tsr_diff_writing *)user;
    for (int64_t p = begin; p < end; p++) {
        tsr_diff_note(g, p, TSR_OK);
        mean_of_segment(g, g->tool + worker, (int)p);
    }
}
static void try_masters(void *user, int64_t begin, int64_t end, int worker)
{
    tsr_diff_writing *g = (tsr_diff_writing *)user;
    for (int64_t p = begin; p < end; p++) tsr_diff_note(g, p, try_master(g, g->tool + worker, (int)p));
}
static void code_masters(void *user, int64_t begin, int64_t end, int worker)
{
    tsr_diff_writing *g = (tsr_diff_writing *)user;
    for (int64_t p = begin; p < end; p++) tsr_diff_note(g, p, code_master(g, g->tool + worker, (int)p));
}
static void try_some(void *user, int64_t begin, int64_t end, int worker)
{
    tsr_diff_writing *g = (tsr_diff_writing *)user;
    for (int64_t k = begin; k < end; k++) tsr_diff_note(g, k, try_step(g, g->tool + worker, g->first + k));
}
static void code_some(void *user, int64_t begin, int64_t end, int worker)
{
    tsr_diff_writing *g = (tsr_diff_writing *)user;
    for (int64_t k = begin; k < end; k++) tsr_diff_note(g, k, code_step(g, g->tool + worker, g->first + k));
}

tsr_status tsr_diff_outcome(const tsr_diff_writing *g, int64_t jobs)
{
    for (int64_t k = 0; k < jobs; k++)
        if (g->note[k].status != TSR_OK) TSR_FAIL(g->note[k].status, "%s", g->note[k].message);
    return TSR_OK;
}

/* Tries out what is wanted of all streams. */
static tsr_status try_all(tsr_diff_writing *g, int64_t batch, double done, double share)
{
    if (g->curve) tsr_parallel(g->threads, 3, 1, try_masters, g);
    TSR_TRY(tsr_diff_outcome(g, g->curve ? 3 : 0));
    for (g->first = 0; g->first < g->steps; g->first += batch) {
        const int64_t some = tsr_min64(batch, g->steps - g->first);
        if (g->there) TSR_TRY(tsr_diff_there_try(g, some));
        else tsr_parallel(g->threads, some, 1, try_some, g);
        TSR_TRY(tsr_diff_outcome(g, g->there ? 0 : some));
        TSR_PROGRESS(g->w->progress, g->again ? done : done + share * (double)(g->first + some) / (double)g->steps, "trying");
    }
    return TSR_OK;
}

/* Streams that would have got more than what a trial that was shorter than it may be says of them; only they are wanted now. */
static int any_starved(tsr_diff_writing *g)
{
    int any = 0;
    for (int64_t k = 0; g->curve && k < 3 * g->streams; k++) {
        tsr_diff_curve *c = g->curve + k;
        c->wanted = !g->again && c->cut && g->budget[k] >= c->known;
        any |= c->wanted;
    }
    return any;
}

static tsr_status shares(tsr_diff_writing *g, int64_t batch, double done, double share)
{
    tsr_mvv_writing *w = g->w;
    if (w->head.lossless) return TSR_OK;
    memcpy(g->tool->mask, g->mask, (size_t)g->tool->texels);
    tsr_diff_count_relevant(g, g->tool, 0);
    for (int64_t k = 0; g->curve && k < 3 * g->streams; k++) g->curve[k].wanted = 1;
    for (g->again = 0; g->again < 2; g->again++) {
        TSR_TRY(try_all(g, batch, done, share * 0.5));
        for (int p = 0; p < 3; p++) {
            const int64_t bytes = tsr_mvv_budget(w->head.bpp[p], g->steps * w->view->cameras * g->tool->texels);
            if (g->curve) TSR_TRY(share_best(g, p, bytes));
            else share_fixed(g, p, bytes);
        }
        if (!any_starved(g)) break;
    }
    return TSR_OK;
}

static tsr_status write_master(tsr_diff_writing *g)
{
    tsr_parallel(g->threads, 3, 1, code_masters, g);
    tsr_status status = tsr_diff_outcome(g, 3);
    if (status == TSR_OK) status = write_streams(g, TSR_MVV_MSTR, g->segment, g->result, 3);
    for (int p = 0; p < 3; p++) {
        free(g->result[p].bytes);
        g->result[p].bytes = NULL;
    }
    return status;
}

static tsr_status write_results(const tsr_diff_writing *g, int64_t some)
{
    const int32_t count = tsr_diff_streams_in(&g->w->head, TSR_MVV_STEP);
    for (int64_t k = 0; k < some; k++) TSR_TRY(write_streams(g, TSR_MVV_STEP, g->first_step + g->first + k, g->result + k * count, count));
    return TSR_OK;
}

static void drop_results(tsr_diff_writing *g, int64_t some)
{
    for (int64_t k = 0; k < some * 3 * (1 + g->w->view->cameras); k++) {
        free(g->result[k].bytes);
        g->result[k].bytes = NULL;
    }
}

static tsr_status write_segment(tsr_diff_writing *g, int64_t batch, double done, double share)
{
    if (g->there) TSR_TRY(tsr_diff_there_means(g));
    else tsr_parallel(g->threads, 3, 1, mean_some, g);
    TSR_TRY(tsr_diff_outcome(g, g->there ? 0 : 3));
    TSR_TRY(shares(g, batch, done, share));
    TSR_TRY(write_master(g));
    for (g->first = 0; g->first < g->steps; g->first += batch) {
        const int64_t some = tsr_min64(batch, g->steps - g->first);
        tsr_status status;
        if (g->there) status = tsr_diff_there_code(g, some);
        else {
            tsr_parallel(g->threads, some, 1, code_some, g);
            status = tsr_diff_outcome(g, some);
        }
        if (status == TSR_OK) status = write_results(g, some);
        drop_results(g, some);
        TSR_TRY(status);
        TSR_PROGRESS(g->w->progress, done + share * (0.5 + 0.5 * (double)(g->first + some) / (double)g->steps), "encoding");
    }
    return TSR_OK;
}

tsr_status tsr_mvv_diff_write(tsr_mvv_writing *w)
{
    const tsr_mvv_head *h = &w->head;
    const int64_t longest = tsr_min64(h->group, h->steps), streams = 1 + longest * (1 + (int64_t)h->cameras), texels = (int64_t)h->width * h->height;
    const int there = tsr_mvv_diff_on_device(w->context, h);
    const int64_t jobs = there ? tsr_diff_there_batch(h) * h->cameras : longest;
    tsr_diff_writing g = { .w = w, .threads = (int)tsr_min64(tsr_context_threads(w->context), tsr_max64(3, jobs)), .streams = streams };
    const int64_t batch = there ? tsr_diff_there_batch(h) : 2 * (int64_t)g.threads;
    const int curves = !h->lossless && w->allocation == TSR_MULTIVIEW_ALLOCATION_RDO;
    tsr_status status = TSR_OK;
    g.tool = (tsr_diff_tool *)calloc((size_t)g.threads, sizeof *g.tool);
    g.result = calloc((size_t)(batch * 3 * (1 + h->cameras)), sizeof *g.result);
    g.note = calloc((size_t)(batch * (1 + h->cameras)) + 3, sizeof *g.note);
    g.mean[0] = (int32_t *)malloc((size_t)texels * 25);
    g.budget = (int64_t *)calloc((size_t)streams * 4, 8);
    if (curves) g.curve = (tsr_diff_curve *)calloc((size_t)streams * 3, sizeof *g.curve);
    if (!g.tool || !g.result || !g.note || !g.mean[0] || !g.budget || (curves && !g.curve))
        TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "out of memory for a segment of %lld steps; make segments shorter", (long long)longest);
    for (int p = 0; p < 3; p++) {
        g.mean[p] = g.mean[0] + p * texels;
        g.master[p] = g.mean[0] + (3 + p) * texels;
    }
    g.mask = (uint8_t *)(g.mean[0] + 6 * texels);
    g.relevant = g.budget + 3 * streams;
    for (int k = 0; k < g.threads; k++) TSR_TRY_GOTO(tsr_diff_tool_make(h, g.tool + k), done);
    if (there) TSR_TRY_GOTO(tsr_diff_there_open(&g, batch), done);
    const int64_t segments = tsr_mvv_groups(h);
    for (g.segment = 0; g.segment < segments; g.segment++) {
        g.first_step = g.segment * h->group;
        g.steps = tsr_min64(h->group, h->steps - g.first_step);
        g.streams = 1 + g.steps * (1 + (int64_t)h->cameras);
        TSR_TRY_GOTO(write_segment(&g, batch, (double)g.segment / (double)segments, 1.0 / (double)segments), done);
    }
done:
    tsr_diff_there_close(&g);
    for (int k = 0; g.tool && k < g.threads; k++) tsr_diff_tool_free(g.tool + k);
    free(g.tool);
    free(g.result);
    free(g.note);
    free(g.mean[0]);
    free(g.budget);
    free(g.curve);
    return status;
}
