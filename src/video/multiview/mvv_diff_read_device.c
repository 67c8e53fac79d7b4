/* video/multiview/mvv_diff_read_device.c: textures of codec DIFF2D where they are wanted: threads decode the streams of a batch of steps to lists of
 * coefficients, which are all that goes to the device. */
#include <stdio.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "video/multiview/multiview_ops.h"
#include "video/multiview/mvv_diff.h"

enum { MOST_STEPS = 64 };
static const int64_t most_bytes = 2ll << 30; /* of textures at a time */

/* What shares a mask: three streams of numbers that follow each other, and their coefficients. */
typedef struct job {
    const uint64_t *mask; /* host; NULL: every texel */
    uint32_t type;        /* of the chunk */
    int64_t index;
    int32_t first_stream;
    tsr_mvv_list place[3], value[3];
    tsr_status status;
    char message[256];
} job;

typedef struct reading {
    const tsr_mvv_reading *r;
    const tsr_multiview_ops *ops;
    tsr_context *context;
    tsr_diff_tool *tool; /* of each worker */
    int threads;
    int64_t texels, words, batch; /* batch: steps */
    int64_t first_job;
    job *job;             /* the master, then batch * (1 + cameras) */
    uint64_t *any;        /* masks of the averages, at last of the master */
    tsr_mvv_sheet *sheet; /* of a transform */
    int32_t *memory;      /* device: two sheets of each texture, of averages, of the master */
    int32_t *work[2], *average, *master;
    size_t memory_size;
    uint64_t *device_any;
    tsr_mvv_sheet *device_sheet;
    uint32_t *list, *host; /* places, then values; of the device, and before that */
    size_t list_size;
} reading;

static size_t any_bytes(const reading *g) { return (size_t)((g->batch + 1) * g->words) * 8; }
static size_t sheet_bytes(const reading *g) { return (size_t)(3 * g->batch * g->r->view.cameras) * sizeof *g->sheet; }
static int64_t jobs_of(const reading *g, int64_t steps) { return steps * (1 + (int64_t)g->r->view.cameras); }
static int64_t job_of(const reading *g, int64_t step) { return 1 + jobs_of(g, step); }

static void close_reading(reading *g)
{
    for (int64_t k = 0; g->job && k < job_of(g, g->batch); k++)
        for (int p = 0; p < 3; p++) {
            free(g->job[k].place[p].item);
            free(g->job[k].value[p].item);
        }
    for (int k = 0; g->tool && k < g->threads; k++) tsr_diff_tool_free(g->tool + k);
    tsr_device_release(g->context, g->memory, g->memory_size);
    tsr_device_release(g->context, g->device_any, any_bytes(g));
    tsr_device_release(g->context, g->device_sheet, sheet_bytes(g));
    tsr_device_release(g->context, g->list, g->list_size);
    free(g->host);
    free(g->job);
    free(g->tool);
    free(g->any);
    free(g->sheet);
}

static tsr_status open_reading(reading *g)
{
    const tsr_mvv_head *h = g->r->head;
    const int64_t cameras = g->r->view.cameras;
    void *memory;
    g->texels = (int64_t)h->width * h->height;
    g->words = tsr_mvv_words(h->width) * h->height;
    g->batch = tsr_max64(1, tsr_min64(tsr_min64(MOST_STEPS, tsr_min64(h->group, g->r->view.steps)), most_bytes / (24 * cameras * g->texels)));
    g->threads = (int)tsr_max64(1, tsr_min64(tsr_context_threads(g->context), job_of(g, g->batch)));
    g->job = (job *)calloc((size_t)job_of(g, g->batch), sizeof *g->job);
    g->tool = (tsr_diff_tool *)calloc((size_t)g->threads, sizeof *g->tool);
    g->any = (uint64_t *)malloc(any_bytes(g));
    g->sheet = (tsr_mvv_sheet *)malloc(sheet_bytes(g));
    if (!g->job || !g->tool || !g->any || !g->sheet) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for textures of %d x %d", h->width, h->height);
    for (int k = 0; k < g->threads; k++) TSR_TRY(tsr_diff_tool_make(h, g->tool + k));
    const int64_t sheets = 3 * g->batch * cameras;
    g->memory_size = (size_t)((2 * sheets + 3 * g->batch + 3) * g->texels) * 4;
    TSR_TRY(tsr_device_allocate(g->context, g->memory_size, &memory));
    g->memory = (int32_t *)memory;
    g->work[0] = g->memory;
    g->work[1] = g->work[0] + sheets * g->texels;
    g->average = g->work[1] + sheets * g->texels;
    g->master = g->average + 3 * g->batch * g->texels;
    TSR_TRY(tsr_device_allocate(g->context, any_bytes(g), &memory));
    g->device_any = (uint64_t *)memory;
    TSR_TRY(tsr_device_allocate(g->context, sheet_bytes(g), &memory));
    g->device_sheet = (tsr_mvv_sheet *)memory;
    return TSR_OK;
}

/* ---- streams ---------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status copy_list(tsr_mvv_list *to, const tsr_mvv_list *from)
{
    if (!tsr_mvv_list_reserve(to, from->count)) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for %lld coefficients", (long long)from->count);
    to->count = from->count;
    if (from->count) memcpy(to->item, from->item, (size_t)from->count * sizeof *to->item);
    return TSR_OK;
}

static tsr_status do_job(const reading *g, tsr_diff_tool *t, job *j)
{
    tsr_diff_mask(t, j->mask);
    TSR_TRY(tsr_diff_ready(t));
    tsr_diff_streams s;
    TSR_TRY(tsr_diff_open_streams(g->r, j->type, j->index, &s));
    for (int p = 0; p < 3; p++) {
        const uint8_t *bytes;
        int64_t size;
        TSR_TRY(tsr_diff_stream(g->r, &s, j->first_stream + p, &bytes, &size));
        TSR_TRY(tsr_bisk_find(&t->coder, &t->tree, bytes, size));
        TSR_TRY(copy_list(&j->place[p], &t->coder.found));
        TSR_TRY(copy_list(&j->value[p], &t->coder.value));
    }
    return TSR_OK;
}

static void do_some(void *user, int64_t begin, int64_t end, int worker)
{
    reading *g = (reading *)user;
    for (int64_t k = begin; k < end; k++) {
        job *j = g->job + g->first_job + k;
        j->status = do_job(g, g->tool + worker, j);
        if (j->status != TSR_OK) snprintf(j->message, sizeof j->message, "%s", tsr_error_message());
    }
}

static tsr_status do_jobs(reading *g, int64_t first, int64_t count)
{
    g->first_job = first;
    tsr_parallel(g->threads, count, 1, do_some, g);
    for (int64_t k = first; k < first + count; k++)
        if (g->job[k].status != TSR_OK) TSR_FAIL(g->job[k].status, "%s", g->job[k].message);
    return TSR_OK;
}

/* Texels that any of the masks of some steps has, all cameras. */
typedef struct any_mask {
    const reading *g;
    int64_t from, to;
    uint64_t *any;
} any_mask;

static void any_of_some(void *user, int64_t begin, int64_t end, int worker)
{
    const any_mask *a = (const any_mask *)user;
    (void)worker;
    memset(a->any + begin, 0, (size_t)(end - begin) * 8);
    for (int64_t t = a->from; t < a->to; t++)
        for (int32_t c = 0; c < a->g->r->head->cameras; c++) {
            const uint64_t *mask = tsr_mvv_reading_mask(a->g->r, t, c);
            for (int64_t k = begin; k < end; k++) a->any[k] |= mask[k];
        }
}

static void any_of(const reading *g, int64_t from, int64_t to, uint64_t *any)
{
    any_mask a = { g, from, to, any };
    tsr_parallel(g->threads, g->words, 512, any_of_some, &a);
}

/* ---- textures --------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status list_room(reading *g, size_t size)
{
    void *memory;
    if (size <= g->list_size) return TSR_OK;
    TSR_TRY(tsr_context_synchronize(g->context));
    tsr_device_release(g->context, g->list, g->list_size);
    free(g->host);
    g->list = NULL;
    g->list_size = 0;
    g->host = (uint32_t *)malloc(size);
    if (!g->host) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for %zu coefficients", size / 8);
    TSR_TRY(tsr_device_allocate(g->context, size, &memory));
    g->list = (uint32_t *)memory;
    g->list_size = size;
    return TSR_OK;
}

typedef struct gathering {
    const reading *g;
    const int64_t *jobs;
    int64_t all;
} gathering;

static void gather_some(void *user, int64_t begin, int64_t end, int worker)
{
    const gathering *all = (const gathering *)user;
    (void)worker;
    for (int64_t k = begin; k < end; k++)
        for (int p = 0; p < 3; p++) {
            const job *j = all->g->job + all->jobs[k];
            uint32_t *to = all->g->host + all->g->sheet[3 * k + p].first;
            if (!j->place[p].count) continue;
            memcpy(to, j->place[p].item, (size_t)j->place[p].count * 4);
            memcpy(to + all->all, j->value[p].item, (size_t)j->value[p].count * 4);
        }
}

/* Sheets of `count` jobs in work[0]; masks (device) `words` apart, NULL: none. */
static tsr_status transform(reading *g, const int64_t *jobs, int64_t count, const uint64_t *masks, int32_t *work[2], const int32_t *base,
                            int32_t grey)
{
    const tsr_backend *backend = g->context->backend;
    int64_t all = 0;
    for (int64_t k = 0; k < count; k++)
        for (int p = 0; p < 3; p++) {
            g->sheet[3 * k + p] = (tsr_mvv_sheet){ masks ? masks + k * g->words : NULL, all, g->job[jobs[k]].place[p].count };
            all += g->sheet[3 * k + p].count;
        }
    TSR_TRY(list_room(g, (size_t)tsr_max64(1, all) * 8));
    gathering gather = { g, jobs, all };
    tsr_parallel(g->threads, count, 1, gather_some, &gather);
    if (all) TSR_TRY(backend->upload(g->context->queue, g->list, g->host, (size_t)all * 8));
    TSR_TRY(backend->upload(g->context->queue, g->device_sheet, g->sheet, (size_t)(3 * count) * sizeof *g->sheet));
    TSR_TRY(g->ops->sheets(g->context->queue, &g->tool->wavelet, g->device_sheet, (int32_t)(3 * count), g->list, g->list + all, work, base, grey));
    return TSR_OK;
}

/* The job of a segment's master. */
static void make_master(reading *g, int64_t segment, int64_t end)
{
    uint64_t *any = g->any + g->batch * g->words;
    if (g->r->masks) any_of(g, segment * g->r->head->group, end, any);
    g->job->mask = g->r->masks ? any : NULL;
    g->job->type = TSR_MVV_MSTR;
    g->job->index = segment;
    g->job->first_stream = 0;
}

static tsr_status restore_master(reading *g)
{
    const int64_t none = 0;
    uint64_t *there = g->device_any + g->batch * g->words;
    int32_t *work[2] = { g->master, g->work[1] };
    if (g->r->masks) TSR_TRY(g->context->backend->upload(g->context->queue, there, g->job->mask, (size_t)g->words * 8));
    TSR_TRY(transform(g, &none, 1, g->r->masks ? there : NULL, work, NULL, 0));
    return TSR_OK;
}

/* Jobs of a step: its average, then its textures. */
static void make_jobs(reading *g, int64_t first, int64_t k)
{
    const tsr_mvv_reading *r = g->r;
    job *j = g->job + job_of(g, k);
    if (r->masks) any_of(g, first + k, first + k + 1, g->any + k * g->words);
    j->mask = r->masks ? g->any + k * g->words : NULL;
    j->type = TSR_MVV_STEP;
    j->index = first + k;
    j->first_stream = tsr_diff_first_stream(-1);
    for (int32_t c = 0; c < r->view.cameras; c++) {
        (++j)->mask = tsr_mvv_reading_mask(r, first + k, r->first_camera + c);
        j->type = TSR_MVV_STEP;
        j->index = first + k;
        j->first_stream = tsr_diff_first_stream(r->first_camera + c);
    }
}

/* master: the streams of the segment's come along. */
static tsr_status read_batch(reading *g, int64_t first, int64_t steps, int master)
{
    const tsr_mvv_reading *r = g->r;
    const int64_t cameras = r->view.cameras, before = (first - r->first_step) * cameras;
    int64_t *jobs = (int64_t *)malloc((size_t)(steps * cameras) * sizeof *jobs);
    int32_t *work[2] = { g->average, g->work[1] };
    uint8_t *plane[3];
    tsr_status status;
    if (!jobs) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory");
    for (int64_t k = 0; k < steps; k++) make_jobs(g, first, k);
    for (int p = 0; p < 3; p++) plane[p] = r->device_plane[p] + before * g->texels;
    TSR_TRY_GOTO(do_jobs(g, !master, master + jobs_of(g, steps)), done);
    if (master) TSR_TRY_GOTO(restore_master(g), done);
    if (r->masks) TSR_TRY_GOTO(g->context->backend->upload(g->context->queue, g->device_any, g->any, (size_t)(steps * g->words) * 8), done);
    for (int64_t k = 0; k < steps; k++) jobs[k] = job_of(g, k);
    TSR_TRY_GOTO(transform(g, jobs, steps, r->masks ? g->device_any : NULL, work, g->master, TSR_MVV_GREY << r->head->fraction), done);
    for (int64_t k = 0; k < steps * cameras; k++) jobs[k] = job_of(g, k / cameras) + 1 + k % cameras;
    TSR_TRY_GOTO(transform(g, jobs, steps * cameras, r->device_visible ? r->device_visible + before * g->words : NULL, g->work, NULL, 0), done);
    TSR_TRY_GOTO(g->ops->sum(g->context->queue, g->device_sheet, r->view.width, r->view.height, (int32_t)cameras, (int32_t)steps, r->head->fraction,
                             g->work[0], g->average, plane),
                 done);
done:
    free(jobs);
    return status;
}

static tsr_status read_segment(reading *g, int64_t segment)
{
    const tsr_mvv_reading *r = g->r;
    const int64_t all = tsr_min64((segment + 1) * (int64_t)r->head->group, r->head->steps);
    const int64_t begin = tsr_max64(segment * r->head->group, r->first_step), end = tsr_min64(all, (int64_t)r->first_step + r->view.steps);
    TSR_TRY(tsr_diff_look(r, segment, begin, end));
    make_master(g, segment, all);
    for (int64_t first = begin; first < end; first += g->batch) {
        const int64_t steps = tsr_min64(g->batch, end - first);
        TSR_TRY(read_batch(g, first, steps, first == begin));
        TSR_PROGRESS(r->progress, (double)(first + steps - r->first_step) / r->view.steps, "decoding");
    }
    return TSR_OK;
}

int tsr_mvv_diff_on_device(const tsr_context *context, const tsr_mvv_head *h)
{
    return context->device.kind != TSR_DEVICE_CPU && h->codec == TSR_MULTIVIEW_DIFF2D && context->backend->multiview->sheets;
}

tsr_status tsr_mvv_diff_read_device(const tsr_mvv_reading *r)
{
    reading g = { .r = r, .context = r->context, .ops = r->context->backend->multiview };
    tsr_status status = open_reading(&g);
    for (int64_t s = r->first_step / r->head->group; status == TSR_OK && s <= (r->first_step + r->view.steps - 1) / r->head->group; s++)
        status = read_segment(&g, s);
    if (status == TSR_OK) status = tsr_context_synchronize(r->context);
    close_reading(&g);
    return status;
}
