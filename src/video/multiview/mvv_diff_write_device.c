/* video/multiview/mvv_diff_write_device.c: textures of a batch of steps become coefficients on the device; threads make streams of them. */
#include <stdlib.h>

#include "core/parallel.h"
#include "video/multiview/multiview_ops.h"
#include "video/multiview/mvv_diff_write.h"

enum { MOST_STEPS = 16 };
static const int64_t most_bytes = 1ll << 30; /* of coefficients at a time */

typedef struct tsr_diff_there {
    const tsr_multiview_ops *ops;
    tsr_context *context;
    int64_t batch, texels, words, sheets; /* the most of each */
    uint64_t *any;                        /* masks of averages */
    tsr_mvv_sheet *sheet;
    int32_t *coefficient, *average; /* host: of a batch of sheets; what a decoder has, of [step][component] */
    void *memory;                   /* device */
    size_t memory_size;
    int64_t *sum;
    int32_t *work[2], *device_average, *base, *number; /* base: the mean, then the master */
    uint64_t *device_any;
    tsr_mvv_sheet *device_sheet;
    int averages, coding; /* what jobs do: averages or textures; code or try */
} tsr_diff_there;

int64_t tsr_diff_there_batch(const tsr_mvv_head *h)
{
    const int64_t step = 12 * (int64_t)h->cameras * h->width * h->height;
    return tsr_max64(1, tsr_min64(tsr_min64(MOST_STEPS, tsr_min64(h->group, h->steps)), most_bytes / step));
}

void tsr_diff_there_close(tsr_diff_writing *g)
{
    tsr_diff_there *d = g->there;
    if (!d) return;
    tsr_device_release(d->context, d->memory, d->memory_size);
    free(d->any);
    free(d->sheet);
    free(d->coefficient);
    free(d->average);
    free(d);
    g->there = NULL;
}

tsr_status tsr_diff_there_open(tsr_diff_writing *g, int64_t batch)
{
    const tsr_mvv_head *h = &g->w->head;
    tsr_diff_there *d = (tsr_diff_there *)calloc(1, sizeof *d);
    if (!d) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory");
    g->there = d;
    d->context = g->w->context;
    d->ops = d->context->backend->multiview;
    d->batch = batch;
    d->texels = (int64_t)h->width * h->height;
    d->words = tsr_mvv_words(h->width) * h->height;
    d->sheets = 3 * batch * h->cameras;
    d->any = (uint64_t *)malloc((size_t)(batch * d->words) * 8);
    d->sheet = (tsr_mvv_sheet *)malloc((size_t)d->sheets * sizeof *d->sheet);
    d->coefficient = (int32_t *)malloc((size_t)(d->sheets * d->texels) * 4);
    d->average = (int32_t *)malloc((size_t)(3 * batch * d->texels) * 4);
    if (!d->any || !d->sheet || !d->coefficient || !d->average)
        TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for coefficients of %lld steps", (long long)batch);
    const size_t big = (size_t)(d->sheets * d->texels) * 4, averages = (size_t)(3 * batch * d->texels) * 4, one = (size_t)d->texels * 4;
    const size_t masks = (size_t)(batch * d->words) * 8, sheets = (size_t)d->sheets * sizeof *d->sheet;
    d->memory_size = 6 * one + masks + sheets + 2 * big + averages + 3 * one + one;
    TSR_TRY(tsr_device_allocate(d->context, d->memory_size, &d->memory));
    uint8_t *at = (uint8_t *)d->memory; /* what has 8 bytes first */
    d->sum = (int64_t *)(void *)at;
    d->device_any = (uint64_t *)(void *)(at += 6 * one);
    d->device_sheet = (tsr_mvv_sheet *)(void *)(at += masks);
    d->work[0] = (int32_t *)(void *)(at += sheets);
    d->work[1] = (int32_t *)(void *)(at += big);
    d->device_average = (int32_t *)(void *)(at += big);
    d->base = (int32_t *)(void *)(at += averages);
    d->number = (int32_t *)(void *)(at + 3 * one);
    return TSR_OK;
}

/* Textures of `some` steps from `first` of the segment on, on the device. */
static tsr_multiview_view textures_of(const tsr_diff_writing *g, int64_t first, int64_t some)
{
    tsr_multiview_view v = g->w->device;
    for (int p = 0; p < 3; p++) v.plane[p] = tsr_mvv_texture(&g->w->device, p, g->first_step + first, 0);
    v.visible = tsr_mvv_mask(&g->w->device, g->first_step + first, 0);
    v.steps = (int32_t)some;
    return v;
}

/* Masks and averages of the steps of a batch. */
static tsr_status take_averages(tsr_diff_writing *g, int64_t first, int64_t some)
{
    tsr_diff_there *d = g->there;
    const tsr_multiview_view v = textures_of(g, first, some);
    if (v.visible) {
        memset(d->any, 0, (size_t)(some * d->words) * 8);
        for (int64_t k = 0; k < some * v.cameras; k++) {
            const uint64_t *mask = tsr_diff_masks(g, first) + k * d->words;
            uint64_t *any = d->any + k / v.cameras * d->words;
            for (int64_t i = 0; i < d->words; i++) any[i] |= mask[i];
        }
        TSR_TRY(d->context->backend->upload(d->context->queue, d->device_any, d->any, (size_t)(some * d->words) * 8));
    }
    TSR_TRY(d->ops->averages(d->context->queue, &v, g->w->head.fraction, d->device_average));
    return TSR_OK;
}

tsr_status tsr_diff_there_means(tsr_diff_writing *g)
{
    tsr_diff_there *d = g->there;
    const tsr_backend *backend = d->context->backend;
    const int masks = g->w->view->visible != NULL;
    TSR_TRY(backend->fill(d->context->queue, d->sum, 0, (size_t)d->texels * 24));
    TSR_TRY(backend->fill(d->context->queue, d->number, 0, (size_t)d->texels * 4));
    memset(g->mask, !masks, (size_t)d->texels);
    for (int64_t first = 0; first < g->steps; first += d->batch) {
        const int64_t some = tsr_min64(d->batch, g->steps - first);
        const tsr_multiview_view v = textures_of(g, first, some);
        TSR_TRY(take_averages(g, first, some));
        TSR_TRY(d->ops->add_averages(d->context->queue, &v, masks ? d->device_any : NULL, d->device_average, d->sum, d->number));
        for (int64_t k = 0; masks && k < some; k++) {
            tsr_diff_mask(g->tool, d->any + k * d->words);
            for (int64_t i = 0; i < d->texels; i++) g->mask[i] |= g->tool->mask[i];
        }
    }
    TSR_TRY(d->ops->mean(d->context->queue, d->texels, d->sum, d->number, TSR_MVV_GREY << g->w->head.fraction, d->base));
    TSR_TRY(backend->download(d->context->queue, g->mean[0], d->base, (size_t)d->texels * 12));
    return TSR_OK;
}

/* Coefficients of the averages of a batch, or of its textures, on the host. */
static tsr_status take_coefficients(tsr_diff_writing *g, int64_t some, int averages)
{
    tsr_diff_there *d = g->there;
    const tsr_backend *backend = d->context->backend;
    const tsr_multiview_view v = textures_of(g, g->first, some);
    const int64_t count = averages ? some : some * v.cameras;
    const uint64_t *masks = !v.visible ? NULL : averages ? d->device_any : v.visible;
    tsr_mvv_minuend minuend = { .average = d->device_average, .cameras = v.cameras, .fraction = g->w->head.fraction };
    if (averages) {
        minuend.base = d->base;
        minuend.grey = TSR_MVV_GREY << g->w->head.fraction;
    } else
        for (int p = 0; p < 3; p++) minuend.plane[p] = v.plane[p];
    for (int64_t k = 0; k < 3 * count; k++) d->sheet[k] = (tsr_mvv_sheet){ .mask = masks ? masks + k / 3 * d->words : NULL };
    TSR_TRY(backend->upload(d->context->queue, d->device_sheet, d->sheet, (size_t)(3 * count) * sizeof *d->sheet));
    TSR_TRY(d->ops->coefficients(d->context->queue, &g->tool->wavelet, d->device_sheet, (int32_t)(3 * count), &minuend, d->work));
    TSR_TRY(backend->download(d->context->queue, d->coefficient, d->work[0], (size_t)(3 * count * d->texels) * 4));
    return TSR_OK;
}

/* ---- streams ---------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status code_one(tsr_diff_writing *g, tsr_diff_tool *t, int64_t k, int64_t step, int64_t stream, int p)
{
    tsr_diff_there *d = g->there;
    const int64_t budget = d->coding ? tsr_diff_budget(g, stream, p) : tsr_diff_trial(g, stream, p);
    const int32_t grey = TSR_MVV_GREY << t->fraction;
    uint8_t *bytes;
    int64_t size;
    TSR_TRY(tsr_diff_code(t, d->coefficient + (3 * k + p) * d->texels, budget, &bytes, &size));
    if (!d->coding) {
        free(bytes);
        tsr_diff_keep_curve(g, t, stream, p, size);
        return TSR_OK;
    }
    const int64_t at = 3 * (stream - tsr_diff_average_stream(g, g->first)) + p;
    g->result[at].bytes = bytes;
    g->result[at].size = size;
    if (!d->averages || g->w->head.open_loop) return TSR_OK;
    int32_t *average = d->average + (3 * (step - g->first) + p) * d->texels;
    TSR_TRY(tsr_diff_decode(t, bytes, size, average));
    for (int64_t i = 0; i < d->texels; i++) average[i] += g->master[p][i] + grey;
    return TSR_OK;
}

/* The streams of an average, or of a texture. */
static tsr_status do_job(tsr_diff_writing *g, tsr_diff_tool *t, int64_t k)
{
    tsr_diff_there *d = g->there;
    const tsr_multiview_view *v = g->w->view;
    const int64_t cameras = v->cameras, step = g->first + (d->averages ? k : k / cameras);
    const int64_t stream = tsr_diff_average_stream(g, step) + (d->averages ? 0 : 1 + k % cameras);
    const uint64_t *mask = !v->visible ? NULL : d->averages ? d->any + k * d->words : tsr_diff_masks(g, step) + k % cameras * d->words;
    if (!d->coding && g->again && !tsr_diff_any_wanted(g, stream, 1)) return TSR_OK;
    tsr_diff_mask(t, mask);
    if (!d->coding) tsr_diff_count_relevant(g, t, stream);
    if (!d->coding && !tsr_diff_any_wanted(g, stream, 1)) return TSR_OK;
    TSR_TRY(tsr_diff_ready(t));
    for (int p = 0; p < 3; p++)
        if (d->coding || tsr_diff_wanted(g, stream, p)) TSR_TRY(code_one(g, t, k, step, stream, p));
    return TSR_OK;
}

static void do_some(void *user, int64_t begin, int64_t end, int worker)
{
    tsr_diff_writing *g = (tsr_diff_writing *)user;
    for (int64_t k = begin; k < end; k++) tsr_diff_note(g, k, do_job(g, g->tool + worker, k));
}

static tsr_status do_jobs(tsr_diff_writing *g, int64_t some, int averages, int coding)
{
    const int64_t jobs = averages ? some : some * g->w->view->cameras;
    g->there->averages = averages;
    g->there->coding = coding;
    if (coding || g->curve) TSR_TRY(take_coefficients(g, some, averages));
    tsr_parallel(g->threads, jobs, 1, do_some, g);
    TSR_TRY(tsr_diff_outcome(g, jobs));
    return TSR_OK;
}

tsr_status tsr_diff_there_try(tsr_diff_writing *g, int64_t some)
{
    const int64_t each = 1 + (int64_t)g->w->view->cameras;
    if (g->again && !tsr_diff_any_wanted(g, tsr_diff_average_stream(g, g->first), some * each)) return TSR_OK;
    TSR_TRY(take_averages(g, g->first, some));
    TSR_TRY(do_jobs(g, some, 1, 0));
    TSR_TRY(do_jobs(g, some, 0, 0));
    return TSR_OK;
}

tsr_status tsr_diff_there_code(tsr_diff_writing *g, int64_t some)
{
    tsr_diff_there *d = g->there;
    const tsr_backend *backend = d->context->backend;
    if (g->first == 0) TSR_TRY(backend->upload(d->context->queue, d->base, g->master[0], (size_t)d->texels * 12));
    TSR_TRY(take_averages(g, g->first, some));
    TSR_TRY(do_jobs(g, some, 1, 1));
    if (!g->w->head.open_loop) TSR_TRY(backend->upload(d->context->queue, d->device_average, d->average, (size_t)(3 * some * d->texels) * 4));
    TSR_TRY(do_jobs(g, some, 0, 1));
    return TSR_OK;
}
