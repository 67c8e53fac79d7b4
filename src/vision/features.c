#include "vision/features.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "volume/volume.h"
#include "tessera/filter.h"
#include "vision/lens_warp.h"

static tsr_status check(tsr_features_options *o)
{
    o->channels = o->channels ? o->channels : 1;
    o->images = o->images ? o->images : 1;
    o->connectivity = o->connectivity ? o->connectivity : 8;
    o->keep = o->keep ? o->keep : 1;
    if (o->width < 1 || o->height < 1 || o->width > 1 << 24 || o->height > 1 << 24 || (int64_t)o->width * o->height > (int64_t)1 << 40)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "features: frames of %d x %d pixels, expected extents from 1 to %d and at most 2^40 pixels", o->width, o->height,
                 1 << 24);
    if (o->channels != 1 && o->channels != 3 && o->channels != 4)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "features: %d channels, expected 1, 3 or 4", o->channels);
    if (o->images < 1 || o->images > 4096) TSR_FAIL(TSR_ERROR_ARGUMENT, "features: %d images, expected 1 to 4096", o->images);
    if (o->count < 1 || o->count > TSR_FEATURES_MOST)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "features: %d filters, expected 1 to %d", o->count, TSR_FEATURES_MOST);
    if (o->connectivity != 4 && o->connectivity != 8) TSR_FAIL(TSR_ERROR_ARGUMENT, "features: connectivity is %d, expected 4 or 8", o->connectivity);
    if (o->keep < 1 || o->keep > TSR_FEATURES_KEEP)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "features: keep is %d, expected 1 to %d", o->keep, TSR_FEATURES_KEEP);
    if (o->ycbcr && o->channels == 1) TSR_FAIL(TSR_ERROR_ARGUMENT, "features: ycbcr with 1 channel, expected 3 or 4");
    return TSR_OK;
}

/* Extents of the stages and the bytes of their cells; sets the pointers if there is memory. */
static int64_t place(tsr_features_job *j, char *memory)
{
    int64_t at = 0;
    int32_t columns = (int32_t)tsr_ceil_div(j->frame.width, TSR_BLOB_TILE), rows = (int32_t)tsr_ceil_div(j->frame.height, TSR_BLOB_TILE);
    for (j->stages = 0;; columns = (int32_t)tsr_ceil_div(columns, TSR_FEATURES_JOIN), rows = (int32_t)tsr_ceil_div(rows, TSR_FEATURES_JOIN)) {
        j->columns[j->stages] = columns;
        j->rows[j->stages] = rows;
        if (memory) j->cells[j->stages] = (tsr_blob *)(void *)(memory + at);
        j->stages++;
        at += (int64_t)columns * rows * j->images * j->tests * j->keep * (int64_t)sizeof(tsr_blob);
        if (columns == 1 && rows == 1) return at;
    }
}

tsr_status tsr_features_create(tsr_context *context, const tsr_features_options *options, tsr_features **features)
{
    TSR_RETURNS(features);
    TSR_NEEDS(context);
    tsr_features_options own;
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(check(&own));
    tsr_features_job job = { .tests = own.count, .images = own.images, .keep = own.keep, .rule = { own.connectivity, own.by_count != 0 } };
    for (int32_t k = 0; k < own.count; k++) {
        char where[32] = "features: filter 0";
        where[strlen(where) - 1] = (char)('0' + k);
        TSR_TRY(tsr_feature_test_make(where, &own.filter[k], &job.test[k]));
    }
    job.frame = (tsr_frame_view){ .width = own.width, .height = own.height, .channels = own.channels, .ycbcr = own.ycbcr != 0 };
    job.frame.row = (int64_t)own.width * own.channels;
    job.frame.image = job.frame.row * own.height;
    if (own.lens) {
        TSR_TRY(tsr_lens_map_make("features", own.lens, own.width, own.height, 1.0, &job.frame.map));
        job.frame.warp = 1;
    }
    TSR_TRY(tsr_host_allocate(&context->host_allocator, sizeof **features, (void **)features));
    tsr_features *f = *features;
    *f = (tsr_features){ .context = context, .options = own, .job = job };
    f->options.lens = NULL;
    f->bytes = place(&f->job, NULL);
    TSR_TRY_GOTO(tsr_device_allocate(context, (size_t)f->bytes, &f->memory), fail);
    place(&f->job, (char *)f->memory);
    return TSR_OK;
fail:
    tsr_features_destroy(features);
    return status;
}

void tsr_features_destroy(tsr_features **features)
{
    if (!features || !*features) return;
    tsr_features *f = *features;
    *features = NULL;
    if (f->memory) tsr_device_release(f->context, f->memory, (size_t)f->bytes);
    tsr_host_release(&f->context->host_allocator, f, sizeof *f);
}

static tsr_status require_frames(const tsr_features *f, const tsr_volume *v, const char *name)
{
    const tsr_features_options *o = &f->options;
    TSR_TRY(tsr_volume_require(f->context, v, name));
    if (v->dtype != TSR_U8) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: element type %s, expected u8", name, tsr_dtype_name(v->dtype));
    if (v->size.x == (int64_t)o->width * o->channels && v->size.y == o->height && v->size.z == o->images) return TSR_OK;
    TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: extents %lld x %lld x %lld, expected %lld x %d x %d (width times channels, height, images)", name,
             (long long)v->size.x, (long long)v->size.y, (long long)v->size.z, (long long)o->width * o->channels, o->height, o->images);
}

tsr_status tsr_features_prepare(const tsr_features *f, const tsr_volume *frames, const tsr_volume *previous, tsr_features_job *job)
{
    if (!f) TSR_FAIL(TSR_ERROR_ARGUMENT, "features is NULL");
    TSR_TRY(require_frames(f, frames, "frames"));
    if (previous) TSR_TRY(require_frames(f, previous, "previous"));
    *job = f->job;
    job->frame.data = (const uint8_t *)frames->data;
    job->frame.previous = previous ? (const uint8_t *)previous->data : NULL;
    return TSR_OK;
}

tsr_status tsr_features_detect(tsr_features *features, const tsr_volume *frames, const tsr_volume *previous)
{
    TSR_NEEDS(features);
    tsr_features_job job;
    TSR_TRY(tsr_features_prepare(features, frames, previous, &job));
    TSR_TRY(features->context->backend->features->detect(features->context->queue, &job));
    features->detected = 1;
    return TSR_OK;
}

tsr_feature tsr_feature_of(const tsr_blob *b)
{
    tsr_feature f = { 0 };
    if (!tsr_blob_some(b)) return f;
    f.count = (int64_t)b->count;
    f.lower[0] = b->x0;
    f.lower[1] = b->y0;
    f.upper[0] = b->x1;
    f.upper[1] = b->y1;
    f.centroid[0] = (double)b->sum_x / (double)b->count;
    f.centroid[1] = (double)b->sum_y / (double)b->count;
    return f;
}

tsr_status tsr_features_results(const tsr_features *f, tsr_feature *found)
{
    tsr_status status;
    tsr_blob *blobs = NULL;
    if (!f || !found) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", f ? "found" : "features");
    if (!f->detected) TSR_FAIL(TSR_ERROR_STATE, "features: nothing was detected yet: call tsr_features_detect first");
    const size_t count = (size_t)f->job.images * (size_t)f->job.tests * (size_t)f->job.keep, bytes = count * sizeof *blobs;
    TSR_TRY(tsr_host_allocate(&f->context->host_allocator, bytes, (void **)&blobs));
    TSR_TRY_GOTO(f->context->backend->download(f->context->queue, blobs, f->job.cells[f->job.stages - 1], bytes), done);
    for (size_t i = 0; i < count; i++) found[i] = tsr_feature_of(&blobs[i]);
done:
    tsr_host_release(&f->context->host_allocator, blobs, bytes);
    return status;
}

static tsr_status require_index(const tsr_features *f, int32_t image, int32_t index)
{
    if (!f) TSR_FAIL(TSR_ERROR_ARGUMENT, "features is NULL");
    if (index < 0 || index >= f->options.count) TSR_FAIL(TSR_ERROR_ARGUMENT, "features: filter %d, expected 0 to %d", index, f->options.count - 1);
    if (image < 0 || image >= f->options.images) TSR_FAIL(TSR_ERROR_ARGUMENT, "features: image %d, expected 0 to %d", image, f->options.images - 1);
    return TSR_OK;
}

tsr_status tsr_features_mask(tsr_features *features, const tsr_volume *frames, const tsr_volume *previous, int32_t index, tsr_volume **mask)
{
    TSR_RETURNS(mask);
    TSR_NEEDS(features, frames);
    tsr_status status;
    tsr_features_job job;
    TSR_TRY(require_index(features, 0, index));
    TSR_TRY(tsr_features_prepare(features, frames, previous, &job));
    TSR_TRY(tsr_volume_create(features->context, TSR_U8, (tsr_size3){ job.frame.width, job.frame.height, job.images }, NULL, mask));
    TSR_TRY_GOTO(features->context->backend->features->mask(features->context->queue, &job, index, (uint8_t *)(*mask)->data), fail);
    return TSR_OK;
fail:
    tsr_volume_destroy(mask);
    return status;
}

/* ---- components ---------------------------------------------------------------------------------------------------------------------------- */

struct ranked {
    tsr_blob blob;
    int64_t label;
    int32_t by_count;
};

static int compare(const void *a, const void *b)
{
    const struct ranked *p = (const struct ranked *)a, *q = (const struct ranked *)b;
    if (tsr_blob_larger(&p->blob, &q->blob, p->by_count)) return -1;
    if (tsr_blob_larger(&q->blob, &p->blob, p->by_count)) return 1;
    return p->label < q->label ? -1 : p->label > q->label;
}

/* Boxes and sums of `count` labels, on the host, largest first. */
static tsr_status measure(tsr_features *f, const tsr_volume *labels, int64_t count, tsr_feature *found, int64_t room)
{
    tsr_status status;
    const tsr_allocator *host = &f->context->host_allocator;
    const size_t bytes = (size_t)count * sizeof(tsr_blob);
    void *device = NULL, *blobs = NULL;
    struct ranked *order = NULL;
    TSR_TRY_GOTO(tsr_device_allocate(f->context, bytes, &device), done);
    TSR_TRY_GOTO(tsr_host_allocate(host, bytes, &blobs), done);
    TSR_TRY_GOTO(tsr_host_allocate(host, (size_t)count * sizeof *order, (void **)&order), done);
    TSR_TRY_GOTO(f->context->backend->features->measure(f->context->queue, (const uint32_t *)labels->data, f->options.width, f->options.height,
                                                        (tsr_blob *)device, count),
                 done);
    TSR_TRY_GOTO(f->context->backend->download(f->context->queue, blobs, device, bytes), done);
    for (int64_t i = 0; i < count; i++) order[i] = (struct ranked){ ((const tsr_blob *)blobs)[i], i, f->job.rule.by_count };
    qsort(order, (size_t)count, sizeof *order, compare);
    for (int64_t i = 0; i < tsr_min64(count, room); i++) found[i] = tsr_feature_of(&order[i].blob);
done:
    tsr_host_release(host, order, (size_t)count * sizeof *order);
    tsr_host_release(host, blobs, bytes);
    tsr_device_release(f->context, device, bytes);
    return status;
}

/* The frames of one image as a view, so that only it is looked at. */
static void one_image(tsr_features_job *job, int32_t image)
{
    job->frame = tsr_features_view(job, image);
    job->images = 1;
}

tsr_status tsr_features_exact(tsr_features *features, const tsr_volume *frames, const tsr_volume *previous, int32_t image, int32_t index,
                              tsr_feature *found, int64_t room, int64_t *total)
{
    TSR_NEEDS(features, frames, total);
    tsr_status status;
    tsr_features_job job;
    tsr_volume *mask = NULL, *labels = NULL;
    *total = 0;
    TSR_TRY(require_index(features, image, index));
    if (room < 0 || (room && !found)) TSR_FAIL(TSR_ERROR_ARGUMENT, "features: room is %lld, expected 0 or more and an array", (long long)room);
    TSR_TRY(tsr_features_prepare(features, frames, previous, &job));
    one_image(&job, image);
    TSR_TRY(tsr_volume_create(features->context, TSR_U8, (tsr_size3){ job.frame.width, job.frame.height, 1 }, NULL, &mask));
    TSR_TRY_GOTO(features->context->backend->features->mask(features->context->queue, &job, index, (uint8_t *)mask->data), done);
    TSR_TRY_GOTO(tsr_volume_components(features->context, mask, features->job.rule.connectivity == 8 ? 26 : 6, &labels, total), done);
    if (*total) TSR_TRY_GOTO(measure(features, labels, *total, found, room), done);
    for (int64_t i = *total; i < room; i++) found[i] = (tsr_feature){ 0 };
done:
    tsr_volume_destroy(&labels);
    tsr_volume_destroy(&mask);
    return status;
}

tsr_status tsr_frames_upload(tsr_context *context, const tsr_image *images, int32_t count, tsr_volume **frames)
{
    TSR_RETURNS(frames);
    tsr_status status;
    if (!images || count < 1) TSR_FAIL(TSR_ERROR_ARGUMENT, "frames: %d images, expected 1 or more", count);
    for (int32_t i = 0; i < count; i++)
        if (!images[i].pixels || images[i].width != images[0].width || images[i].height != images[0].height ||
            images[i].channels != images[0].channels)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "frames: image %d is %d x %d with %d channels, expected %d x %d with %d as the first", i, images[i].width,
                     images[i].height, images[i].channels, images[0].width, images[0].height, images[0].channels);
    const tsr_size3 size = { (int64_t)images[0].width * images[0].channels, images[0].height, count };
    const size_t bytes = (size_t)(size.x * size.y);
    TSR_TRY(tsr_volume_create(context, TSR_U8, size, NULL, frames));
    for (int32_t i = 0; i < count; i++)
        TSR_TRY_GOTO(tsr_device_move(context, (uint8_t *)(*frames)->data + (size_t)i * bytes, NULL, images[i].pixels, bytes), fail);
    return TSR_OK;
fail:
    tsr_volume_destroy(frames);
    return status;
}
