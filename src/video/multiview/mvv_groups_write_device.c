/* video/multiview/mvv_groups_write_device.c: groups of pictures coded where the textures are: components of a batch of groups become coefficients one
 * after the other, then streams all at once. */
#include <stdlib.h>

#include "video/multiview/multiview_ops.h"
#include "video/multiview/mvv_codec.h"
#include "video/multiview/mvv_spiht.h"

enum { LISTS = 5, EXTRA = 64, MOST_STREAMS = 1024 };
static const int64_t most_bytes = 8ll << 30; /* of streams at a time */

typedef struct batch {
    tsr_mvv_writing *w;
    const tsr_multiview_ops *ops;
    tsr_context *context;
    tsr_mvv_shape shape;
    int64_t most; /* streams */
    void *room;   /* device: coefficients, lists and sets of each */
    int32_t *work[2];
    tsr_mvv_coding *coding, *device; /* host and device */
    uint32_t *bits;                  /* device, of all streams */
    size_t bits_size;
    int64_t *budget; /* bytes of each */
    int32_t planes;  /* the most of any */
} batch;

static size_t list_bytes(const batch *b) { return (((size_t)1 << b->shape.all) + EXTRA) * 4; }
static size_t set_bytes(const batch *b) { return ((((size_t)1 << b->shape.all) + 7) & ~(size_t)7) + EXTRA; } /* what follows is aligned */
static size_t stream_bytes(const batch *b) { return (1 + LISTS) * list_bytes(b) + 2 * set_bytes(b); }

static void close_batch(batch *b)
{
    tsr_device_release(b->context, b->room, (size_t)b->most * stream_bytes(b));
    tsr_device_release(b->context, b->work[0], (size_t)8 << b->shape.all);
    tsr_device_release(b->context, b->device, (size_t)b->most * sizeof *b->device);
    free(b->coding);
    free(b->budget);
}

static tsr_status open_batch(batch *b, int64_t jobs)
{
    const tsr_mvv_head *h = &b->w->head;
    void *memory;
    if (!tsr_mvv_shape_make(h->width, h->height, h->cameras, h->group, &b->shape))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "groups of %d steps, %d cameras and %d x %d texels have more than 2^%d samples; make groups shorter",
                 h->group, h->cameras, h->width, h->height, TSR_MVV_MOST_BITS);
    b->most = tsr_min64(tsr_min64(jobs, MOST_STREAMS), tsr_max64(1, most_bytes / (int64_t)stream_bytes(b)));
    b->coding = (tsr_mvv_coding *)calloc((size_t)b->most, sizeof *b->coding);
    b->budget = (int64_t *)calloc((size_t)b->most, sizeof *b->budget);
    if (!b->coding || !b->budget) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory");
    TSR_TRY(tsr_device_allocate(b->context, (size_t)b->most * stream_bytes(b), &b->room));
    TSR_TRY(tsr_device_allocate(b->context, (size_t)8 << b->shape.all, &memory));
    b->work[0] = (int32_t *)memory;
    b->work[1] = b->work[0] + ((size_t)1 << b->shape.all);
    TSR_TRY(tsr_device_allocate(b->context, (size_t)b->most * sizeof *b->device, &memory));
    b->device = (tsr_mvv_coding *)memory;
    return TSR_OK;
}

static void place(batch *b, int64_t k)
{
    const size_t entries = list_bytes(b) / 4;
    uint32_t *list = (uint32_t *)(void *)((uint8_t *)b->room + (size_t)k * stream_bytes(b));
    uint8_t *sets = (uint8_t *)(list + (1 + LISTS) * entries);
    b->coding[k] = (tsr_mvv_coding){
        .value = (int32_t *)(void *)list,
        .lists = { .pixel = { list + entries, list + 2 * entries }, .set = { list + 3 * entries, list + 4 * entries }, .found = list + 5 * entries },
        .sets = { sets, sets + set_bytes(b) }
    };
}

/* Coefficients of a job. */
static tsr_status prepare(batch *b, int64_t k, int64_t job)
{
    const tsr_mvv_head *h = &b->w->head;
    const tsr_multiview_view *v = &b->w->device;
    const int64_t first = job / 3 * h->group, steps = tsr_min64(h->group, h->steps - first);
    const tsr_mvv_source source = { .texel = tsr_mvv_texture(v, (int)(job % 3), first, 0),
                                    .mask = tsr_mvv_mask(v, first, 0),
                                    .width = h->width,
                                    .height = h->height,
                                    .cameras = h->cameras,
                                    .steps = (int32_t)steps,
                                    .fraction = h->fraction,
                                    .lossless = h->lossless,
                                    .filled = h->fill != TSR_MULTIVIEW_FILL_NONE,
                                    .flat = h->fill == TSR_MULTIVIEW_FILL_2D };
    b->budget[k] = h->lossless ? INT64_MAX : tsr_mvv_budget(h->bpp[job % 3], steps * h->cameras * h->width * h->height);
    TSR_TRY(b->ops->prepare(b->context->queue, &b->shape, &source, b->work, b->coding + k, b->device + k));
    return TSR_OK;
}

static int64_t directory_end(const tsr_mvv_coding *c) { return 1 + 4 * (int64_t)c->lists.planes; }

/* Where the bits of each stream go. In a plane a coefficient has at most a bit, and one of a sign once; a set likewise, and one more where it is
 * opened. */
static tsr_status place_bits(batch *b, int64_t count)
{
    const int64_t entries = ((int64_t)3 << b->shape.all) / 2 + 2;
    void *memory;
    b->bits_size = 0;
    b->planes = 0;
    for (int64_t k = 0; k < count; k++) {
        tsr_mvv_coding *c = b->coding + k;
        const int64_t most = (c->lists.planes + 1) * entries / 8 + c->lists.planes + 1;
        c->enough = 8 * tsr_min64(most, tsr_max64(0, b->budget[k] - directory_end(c)));
        b->planes = tsr_maxi(b->planes, c->lists.planes);
        b->bits_size += (size_t)(c->enough / 64 + 2) * 8;
    }
    TSR_TRY(tsr_device_allocate(b->context, b->bits_size, &memory));
    b->bits = (uint32_t *)memory;
    TSR_TRY(b->context->backend->fill(b->context->queue, memory, 0, b->bits_size));
    for (int64_t k = 0, at = 0; k < count; k++) {
        b->coding[k].bits = b->bits + at;
        at += (b->coding[k].enough / 64 + 2) * 2;
    }
    return TSR_OK;
}

/* Planes that were never begun begin at the end. */
static tsr_status write_stream(batch *b, int64_t k, int64_t job, int32_t slot, const uint8_t *bits)
{
    const tsr_mvv_coding *c = b->coding + k;
    const int64_t first = directory_end(c), there = tsr_min64(c->enough, c->lists.state[slot].at), whole = (there + 7) / 8;
    const int64_t size = tsr_min64(b->budget[k], first + whole);
    uint8_t *bytes = (uint8_t *)malloc((size_t)(first + whole));
    if (!bytes) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for a stream of %lld bytes", (long long)(first + whole));
    bytes[0] = (uint8_t)c->lists.planes;
    for (int32_t n = 0; n < c->lists.planes; n++) tsr_put_u32(bytes + 1 + 4 * n, n && !c->offset[n] ? (uint32_t)(c->enough / 8) : c->offset[n]);
    memcpy(bytes + first, bits, (size_t)whole);
    const tsr_status status = tsr_chunk_file_write(b->w->writer, TSR_MVV_GOPS, job, bytes, (size_t)size);
    b->w->stream_bytes[job % 3] += size;
    free(bytes);
    return status;
}

static tsr_status code_batch(batch *b, int64_t first, int64_t count)
{
    const tsr_backend *backend = b->context->backend;
    tsr_queue *queue = b->context->queue;
    const size_t size = (size_t)count * sizeof *b->coding;
    uint8_t *bits = NULL;
    int32_t slot;
    tsr_status status;
    for (int64_t k = 0; k < count; k++) place(b, k);
    TSR_TRY(backend->upload(queue, b->device, b->coding, size));
    for (int64_t k = 0; k < count; k++) TSR_TRY(prepare(b, k, first + k));
    TSR_TRY(backend->download(queue, b->coding, b->device, size));
    TSR_TRY_GOTO(place_bits(b, count), done);
    TSR_TRY_GOTO(backend->upload(queue, b->device, b->coding, size), done);
    TSR_TRY_GOTO(b->ops->encode(queue, &b->shape, b->device, (int32_t)count, b->planes, &slot), done);
    bits = (uint8_t *)malloc(b->bits_size);
    if (!bits) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "out of memory for %zu bytes of streams", b->bits_size);
    TSR_TRY_GOTO(backend->download(queue, b->coding, b->device, size), done);
    TSR_TRY_GOTO(backend->download(queue, bits, b->bits, b->bits_size), done);
    for (int64_t k = 0; k < count; k++) TSR_TRY_GOTO(write_stream(b, k, first + k, slot, bits + 4 * (b->coding[k].bits - b->bits)), done);
done:
    tsr_device_release(b->context, b->bits, b->bits_size);
    b->bits = NULL;
    free(bits);
    return status;
}

tsr_status tsr_mvv_spiht_write_device(tsr_mvv_writing *w)
{
    const int64_t jobs = 3 * (int64_t)tsr_mvv_groups(&w->head);
    batch b = { .w = w, .context = w->context, .ops = w->context->backend->multiview };
    tsr_status status = open_batch(&b, jobs);
    for (int64_t job = 0; status == TSR_OK && job < jobs; job += b.most) {
        const int64_t count = tsr_min64(b.most, jobs - job);
        status = code_batch(&b, job, count);
        if (status == TSR_OK && tsr_progress_report(w->progress, (double)(job + count) / (double)jobs, "encoding"))
            status = TSR_FAILED(TSR_ERROR_CANCELLED, "cancelled during encoding");
    }
    close_batch(&b);
    return status;
}
