/* vision/depth/stereo_match.c: disparities of a rectified pair. */
#include <stdio.h>

#include "vision/depth/depth_work.h"

void tsr_match_penalties(int32_t p1, int32_t p2, uint8_t table[256])
{
    for (int32_t i = 0; i < 256; i++) {
        const int32_t p = p2 * 16 / (16 + i);
        table[i] = (uint8_t)(p < p1 ? p1 : p);
    }
}

tsr_status tsr_match_settings(const char *what, int32_t *paths, int32_t *p1, int32_t *p2)
{
    if (!*paths) *paths = 4;
    if (!*p1) *p1 = 10;
    if (!*p2) *p2 = *p1 > 80 ? *p1 : 80;
    if (*paths != 3 && *paths != 4 && *paths != 8) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: paths is %d, expected 3, 4 or 8", what, *paths);
    if (*p1 < 1 || *p1 > TSR_MATCH_MOST_P1) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: p1 is %d, expected 1 to %d", what, *p1, TSR_MATCH_MOST_P1);
    if (*p2 < *p1 || *p2 > TSR_MATCH_MOST_P2)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: p2 is %d, expected p1 (%d) to %d", what, *p2, *p1, TSR_MATCH_MOST_P2);
    return TSR_OK;
}

tsr_status tsr_depth_take(tsr_depth_memory *memory, size_t bytes, void *pointer_to_pointer)
{
    void *block;
    TSR_ASSERT(memory->count < TSR_DEPTH_BLOCKS);
    TSR_TRY(tsr_device_allocate(memory->context, bytes, &block));
    memory->block[memory->count] = block;
    memory->bytes[memory->count++] = bytes;
    memcpy(pointer_to_pointer, &block, sizeof block);
    return TSR_OK;
}
void tsr_depth_release(tsr_depth_memory *memory)
{
    for (int32_t i = 0; i < memory->count; i++) tsr_device_release(memory->context, memory->block[i], memory->bytes[i]);
    memory->count = 0;
}
void tsr_depth_drop(tsr_depth_memory *memory, const void *block)
{
    for (int32_t i = 0; i < memory->count; i++) {
        if (memory->block[i] != block) continue;
        tsr_device_release(memory->context, memory->block[i], memory->bytes[i]);
        memory->count--;
        memory->block[i] = memory->block[memory->count];
        memory->bytes[i] = memory->bytes[memory->count];
        return;
    }
}

tsr_status tsr_depth_image(tsr_context *context, const tsr_volume *image, int32_t channels, const char *name, int32_t *width, int32_t *height)
{
    if (!image) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", name);
    TSR_TRY(tsr_volume_require(context, image, name));
    if (image->dtype != TSR_U8) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: element type %s, expected u8", name, tsr_dtype_name(image->dtype));
    if (image->size.z != 1 || image->size.x % channels)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: extents %lld x %lld x %lld, expected one picture of %d bytes a pixel", name, (long long)image->size.x,
                 (long long)image->size.y, (long long)image->size.z, channels);
    if (image->size.x / channels > 32768 || image->size.y > 32768)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %lld x %lld pixels, expected at most 32768 x 32768", name, (long long)image->size.x / channels,
                 (long long)image->size.y);
    *width = (int32_t)(image->size.x / channels);
    *height = (int32_t)image->size.y;
    return TSR_OK;
}

static tsr_status check(tsr_stereo_match_options *o)
{
    o->channels = o->channels ? o->channels : 1;
    o->disparities = o->disparities ? o->disparities : 64;
    o->reduce = o->reduce ? o->reduce : 1;
    o->uniqueness = o->uniqueness == 0 ? 5 : o->uniqueness < 0 ? 0 : o->uniqueness;
    o->consistency = o->consistency == 0 ? 1 : o->consistency;
    if (o->channels != 1 && o->channels != 3 && o->channels != 4) TSR_FAIL(TSR_ERROR_ARGUMENT, "stereo: channels is %d, expected 1, 3 or 4", o->channels);
    if (o->reduce != 1 && o->reduce != 2 && o->reduce != 4 && o->reduce != 8)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "stereo: reduce is %d, expected 1, 2, 4 or 8", o->reduce);
    if (o->disparities < 2 || o->disparities > TSR_MATCH_MOST * o->reduce)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "stereo: disparities is %d, expected 2 to %d", o->disparities, TSR_MATCH_MOST * o->reduce);
    if (o->first < -32768 || o->first > 32768) TSR_FAIL(TSR_ERROR_ARGUMENT, "stereo: first is %d, expected -32768 to 32768", o->first);
    if (o->uniqueness > 99) TSR_FAIL(TSR_ERROR_ARGUMENT, "stereo: uniqueness is %d per cent, expected at most 99", o->uniqueness);
    TSR_TRY(tsr_match_settings("stereo", &o->paths, &o->p1, &o->p2));
    return TSR_OK;
}

static tsr_status match(tsr_context *context, const tsr_volume *const image[2], const tsr_stereo_match_options *o, int32_t width, int32_t height,
                        tsr_volume *disparity, tsr_volume *valid, tsr_depth_memory *memory)
{
    const struct tsr_match_ops *ops = context->backend->match;
    const int32_t r = o->reduce, w = width / r, h = height / r;
    const int32_t first = o->first >= 0 ? o->first / r : -((-o->first + r - 1) / r);
    const int32_t depths = (o->first + o->disparities + r - 1) / r - first;
    const size_t pixels = (size_t)w * (size_t)h;
    tsr_match_job job = { .width = w, .height = h, .first = first, .depths = depths < 2 ? 2 : depths, .paths = o->paths, .p1 = o->p1, .uniqueness = o->uniqueness,
                          .consistency = o->consistency < 0 ? -1 : (o->consistency + r - 1) / r };
    uint8_t penalties[256], *table;
    void *p;
    job.padded = (job.depths + TSR_MATCH_LANES - 1) / TSR_MATCH_LANES * TSR_MATCH_LANES;
    tsr_match_penalties(o->p1, o->p2, penalties);
    TSR_TRY(tsr_depth_take(memory, 256, &table));
    TSR_TRY(context->backend->upload(context->queue, table, penalties, 256));
    job.p2 = table;
    for (int k = 0; k < 2; k++) {
        tsr_code_job code = { .width = w, .height = h, .channels = o->channels, .reduce = r, .image_width = width, .image = (const uint8_t *)image[k]->data };
        TSR_TRY(tsr_depth_take(memory, pixels, &code.grey));
        TSR_TRY(tsr_depth_take(memory, pixels * 4, &code.code));
        TSR_TRY(ops->code(context->queue, &code));
        job.grey[k] = code.grey;
        job.code[k] = code.code;
    }
    TSR_PROGRESS(&o->progress, 0.1, "matching");
    const int cpu = context->device.kind == TSR_DEVICE_CPU;
    if (!cpu || o->paths != 3) TSR_TRY(tsr_depth_take(memory, pixels * (size_t)job.padded * 2, &job.sums));
    if (cpu && o->paths != 3 && context->threads > 1) TSR_TRY(tsr_depth_take(memory, pixels * (size_t)job.padded * 2, &job.more));
    TSR_TRY(tsr_depth_take(memory, pixels * 4, &job.best));
    TSR_TRY(tsr_depth_take(memory, pixels, &job.valid));
    TSR_TRY(tsr_depth_take(memory, pixels * 4, &p));
    job.index = (uint16_t *)p;
    job.score = (uint16_t *)p + pixels;
    TSR_TRY(ops->aggregate(context->queue, &job));
    TSR_PROGRESS(&o->progress, 0.8, "matching");
    TSR_TRY(ops->select(context->queue, &job));
    tsr_finish_job finish = { .width = w, .height = h, .first = first, .reduce = r, .full_width = width, .full_height = height, .fill = o->fill != 0,
                              .best = job.best, .valid = job.valid, .full = (float *)disparity->data, .full_valid = valid ? (uint8_t *)valid->data : NULL };
    TSR_TRY(tsr_depth_take(memory, pixels * 4, &finish.row));
    TSR_TRY(tsr_depth_take(memory, pixels * 4, &finish.smooth));
    TSR_TRY(ops->finish(context->queue, &finish));
    TSR_TRY(context->backend->synchronize(context->queue));
    return TSR_OK;
}

tsr_status tsr_stereo_match(tsr_context *context, const tsr_volume *left, const tsr_volume *right, const tsr_stereo_match_options *options,
                            tsr_volume **disparity, tsr_volume **valid)
{
    TSR_RETURNS(disparity);
    TSR_NEEDS(context);
    tsr_status status;
    tsr_stereo_match_options o;
    int32_t width, height, other[2];
    tsr_depth_memory memory = { .context = context };
    if (valid) *valid = NULL;
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    TSR_TRY(check(&o));
    TSR_TRY(tsr_depth_image(context, left, o.channels, "left", &width, &height));
    TSR_TRY(tsr_depth_image(context, right, o.channels, "right", &other[0], &other[1]));
    if (other[0] != width || other[1] != height)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "stereo: the left picture has %d x %d pixels, the right one %d x %d, expected the same", width, height, other[0], other[1]);
    if (width / o.reduce < 8 || height / o.reduce < 8)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "stereo: pictures of %d x %d pixels, expected at least 8 x 8 after reducing by %d", width, height, o.reduce);
    const tsr_size3 size = { width, height, 1 };
    const tsr_volume *const image[2] = { left, right };
    TSR_TRY(tsr_volume_create(context, TSR_F32, size, NULL, disparity));
    if (valid) TSR_TRY_GOTO(tsr_volume_create(context, TSR_U8, size, NULL, valid), fail);
    TSR_TRY_GOTO(match(context, image, &o, width, height, *disparity, valid ? *valid : NULL, &memory), fail);
    tsr_depth_release(&memory);
    return TSR_OK;
fail:
    tsr_depth_release(&memory);
    tsr_volume_destroy(disparity);
    if (valid) tsr_volume_destroy(valid);
    return status;
}
