/* video/multiview/mvv_groups_device.c: groups of pictures decoded where the textures are: streams of a batch at once, then each back to texels. */
#include <stdlib.h>

#include "video/multiview/multiview_ops.h"
#include "video/multiview/mvv_codec.h"
#include "video/multiview/mvv_spiht.h"

enum { LOSSLESS_PLANES = 26, LISTS = 6, EXTRA = 64 };
static const int64_t most_bytes = 8ll << 30; /* of lists at a time */

typedef struct batch {
    const tsr_mvv_reading *r;
    const tsr_multiview_ops *ops;
    tsr_context *context;
    tsr_mvv_shape shape;
    int64_t most;                    /* streams */
    uint32_t *lists;                 /* device */
    int32_t *work[3];                /* device */
    tsr_mvv_stream *stream, *device; /* host and device */
    const uint8_t **chunk;
} batch;

static size_t list_bytes(const batch *b) { return (((size_t)1 << b->shape.all) + EXTRA) * 4; }

static void close_batch(batch *b)
{
    tsr_device_release(b->context, b->lists, (size_t)b->most * LISTS * list_bytes(b));
    tsr_device_release(b->context, b->work[0], (size_t)12 << b->shape.all);
    tsr_device_release(b->context, b->device, (size_t)b->most * sizeof *b->device);
    free(b->stream);
    free(b->chunk);
}

static tsr_status open_batch(batch *b, int64_t jobs)
{
    const tsr_mvv_head *h = b->r->head;
    void *memory;
    if (!tsr_mvv_shape_make(h->width, h->height, h->cameras, h->group, &b->shape))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: groups of %d steps, %d cameras and %d x %d texels have more than 2^%d samples", b->r->reader->name,
                 h->group, h->cameras, h->width, h->height, TSR_MVV_MOST_BITS);
    const int64_t most = tsr_max64(1, most_bytes / (int64_t)(LISTS * list_bytes(b)));
    b->most = tsr_min64(jobs, tsr_min64(most, 1024));
    b->stream = (tsr_mvv_stream *)calloc((size_t)b->most, sizeof *b->stream);
    b->chunk = (const uint8_t **)calloc((size_t)b->most, sizeof *b->chunk);
    if (!b->stream || !b->chunk) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory");
    TSR_TRY(tsr_device_allocate(b->context, (size_t)b->most * LISTS * list_bytes(b), &memory));
    b->lists = (uint32_t *)memory;
    TSR_TRY(tsr_device_allocate(b->context, (size_t)12 << b->shape.all, &memory));
    for (int k = 0; k < 3; k++) b->work[k] = (int32_t *)memory + ((size_t)k << b->shape.all);
    TSR_TRY(tsr_device_allocate(b->context, (size_t)b->most * sizeof *b->device, &memory));
    b->device = (tsr_mvv_stream *)memory;
    return TSR_OK;
}

/* The chunk of a job becomes stream k; what is missing (partial) decodes to grey. */
static tsr_status take_stream(batch *b, int64_t k, int64_t job, int64_t *bytes)
{
    const tsr_mvv_head *h = b->r->head;
    const int64_t group = job / 3, steps = tsr_min64(h->group, h->steps - group * h->group), entries = (int64_t)(list_bytes(b) / 4);
    const int p = (int)(job % 3);
    int64_t size;
    TSR_TRY(tsr_chunk_file_read(b->r->reader, TSR_MVV_GOPS, job, 1, &b->chunk[k], &size));
    if (!b->chunk[k] && !b->r->reader->partial)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: component %c of group %lld is missing", b->r->reader->name, "YUV"[p], (long long)group);
    if (b->r->keep < 1) size = tsr_min64(size, tsr_mvv_budget(b->r->keep * h->bpp[p], steps * h->cameras * h->width * h->height));
    if (size) TSR_TRY(tsr_mvv_check_planes(b->chunk[k][0], h->lossless ? LOSSLESS_PLANES : TSR_MVV_MOST_PLANES));
    uint32_t *lists = b->lists + k * LISTS * entries;
    b->stream[k] = (tsr_mvv_stream){
        .offset = *bytes,
        .size = size,
        .value = lists,
        .lists = { .pixel = { lists + entries, lists + 2 * entries },
                   .set = { lists + 3 * entries, lists + 4 * entries },
                   .found = lists + 5 * entries,
                   .planes = size ? b->chunk[k][0] : 0 },
    };
    *bytes += (size + 15) / 16 * 16;
    return TSR_OK;
}

static tsr_status decode_streams(batch *b, int64_t count, int64_t bytes)
{
    tsr_queue *queue = b->context->queue;
    void *device = NULL;
    tsr_status status;
    uint8_t *host = (uint8_t *)calloc(1, (size_t)bytes + 16);
    if (!host) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for %lld bytes of streams", (long long)bytes);
    int32_t planes = 0;
    for (int64_t k = 0; k < count; k++) planes = tsr_maxi(planes, b->stream[k].lists.planes);
    for (int64_t k = 0; k < count; k++)
        if (b->stream[k].size) memcpy(host + b->stream[k].offset, b->chunk[k], (size_t)b->stream[k].size);
    TSR_TRY_GOTO(tsr_device_allocate(b->context, (size_t)bytes + 16, &device), done);
    TSR_TRY_GOTO(b->context->backend->upload(queue, device, host, (size_t)bytes + 16), done);
    TSR_TRY_GOTO(b->context->backend->upload(queue, b->device, b->stream, (size_t)count * sizeof *b->stream), done);
    TSR_TRY_GOTO(b->ops->streams(queue, &b->shape, (const uint8_t *)device, b->device, (int32_t)count, planes), done);
    TSR_TRY_GOTO(b->context->backend->download(queue, b->stream, b->device, (size_t)count * sizeof *b->stream), done);
    for (int64_t k = 0; k < count; k++)
        if (b->stream[k].bad_plane) TSR_TRY_GOTO(tsr_mvv_bad_directory(b->stream[k].bad_plane - 1), done);
done:
    tsr_device_release(b->context, device, (size_t)bytes + 16);
    free(host);
    return status;
}

static tsr_status restore(batch *b, int64_t k, int64_t job)
{
    const tsr_mvv_reading *r = b->r;
    const int64_t first = job / 3 * r->head->group, begin = tsr_max64(first, r->first_step);
    const int64_t end = tsr_min64(first + r->head->group, (int64_t)r->first_step + r->view.steps);
    const tsr_mvv_target target = { .texel = r->device_plane[job % 3] + (begin - r->first_step) * r->view.cameras * tsr_mvv_texels(&r->view),
                                    .width = r->view.width,
                                    .height = r->view.height,
                                    .cameras = r->view.cameras,
                                    .first_step = (int32_t)(begin - first),
                                    .steps = (int32_t)(end - begin),
                                    .first_camera = r->first_camera };
    TSR_TRY(b->ops->restore(b->context->queue, &b->shape, b->device + k, r->head->lossless, b->work, &target));
    return TSR_OK;
}

static tsr_status all_groups(batch *b, int64_t first, int64_t jobs)
{
    for (int64_t job = first; job < jobs; job += b->most) {
        const int64_t count = tsr_min64(b->most, jobs - job);
        int64_t bytes = 0;
        for (int64_t k = 0; k < count; k++) TSR_TRY(take_stream(b, k, job + k, &bytes));
        TSR_TRY(decode_streams(b, count, bytes));
        for (int64_t k = 0; k < count; k++) TSR_TRY(restore(b, k, job + k));
        TSR_PROGRESS(b->r->progress, (double)(job + count - first) / (double)(jobs - first), "decoding");
    }
    return TSR_OK;
}

int tsr_mvv_spiht_on_device(const tsr_context *context, const tsr_mvv_head *h)
{
    return context->device.kind != TSR_DEVICE_CPU && h->codec == TSR_MULTIVIEW_SPIHT4D && h->syntax == TSR_MULTIVIEW_SYNTAX_PLANES &&
           context->backend->multiview->streams;
}

tsr_status tsr_mvv_spiht_read_device(const tsr_mvv_reading *r)
{
    const int64_t first = 3 * (int64_t)(r->first_step / r->head->group),
                  jobs = 3 * ((int64_t)(r->first_step + r->view.steps - 1) / r->head->group + 1);
    batch b = { .r = r, .context = r->context, .ops = r->context->backend->multiview };
    tsr_status status = open_batch(&b, jobs - first);
    if (status == TSR_OK) status = all_groups(&b, first, jobs);
    for (int p = 0; p < 3 && status == TSR_OK && r->device_visible; p++)
        status = b.ops->blank(b.context->queue, r->device_plane[p], r->device_visible, r->view.width,
                              (int64_t)r->view.steps * r->view.cameras * r->view.height);
    if (status == TSR_OK) status = tsr_context_synchronize(r->context);
    close_batch(&b);
    return status;
}
