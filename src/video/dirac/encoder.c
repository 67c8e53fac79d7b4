/* video/dirac/encoder.c: frames in, data units out. */
#include <stdlib.h>

#include "formats/video.h"
#include "video/dirac/dirac_ops.h"
#include "video/dirac/filters.h"
#include "video/dirac/slices_write.h"
#include "video/dirac/syntax_write.h"
#include "video/dirac/synthesis.h"

struct tsr_dirac_encoder {
    tsr_context *context;
    tsr_dirac_encode_options options;
    tsr_dirac_sequence sequence;
    tsr_dirac_transform transform;
    tsr_dirac_layout layout[3];
    tsr_dirac_synthesis plans[2];
    void *plane; /* device memory of a whole frame */
    int64_t plane_bytes;
    int32_t *samples, *on_device[3], *coefficients[3];
    void *workspace;
    int64_t workspace_bytes, elements[3];
    tsr_dirac_slice_plan *plan;
    uint8_t *out;
    int64_t size, room;
    uint32_t number, previous; /* of the next picture; bytes of the last unit */
};

static int on_host(const tsr_dirac_encoder *e) { return e->context->device.kind == TSR_DEVICE_CPU; }

/* ---- creation ------------------------------------------------------------------------------------------------------------------------------ */

static tsr_status check_format(tsr_dirac_encode_options *o)
{
    tsr_video_format *f = &o->format;
    TSR_TRY(tsr_video_format_complete(f));
    if (f->chroma != TSR_CHROMA_444 && f->chroma != TSR_CHROMA_422 && f->chroma != TSR_CHROMA_420)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "format.chroma is %s, expected 4:4:4, 4:2:2 or 4:2:0", tsr_chroma_name(f->chroma));
    const int32_t across = f->chroma != TSR_CHROMA_444, down = (f->chroma == TSR_CHROMA_420) + (o->fields != 0);
    if (f->width % (1 << across) || f->height % (1 << down))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "a frame of %d x %d, expected multiples of %d and %d for %s%s", f->width, f->height, 1 << across, 1 << down,
                 tsr_chroma_name(f->chroma), o->fields ? " in fields" : "");
    return TSR_OK;
}

static tsr_status check_numbers(tsr_dirac_encode_options *o)
{
    if ((unsigned)o->coding > TSR_DIRAC_CODING_LOW_DELAY) TSR_FAIL(TSR_ERROR_ARGUMENT, "coding is %d, expected 0 or 1", (int)o->coding);
    if (o->wavelet < 0 || o->wavelet > TSR_DIRAC_FILTERS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet is %d, expected 0 to %d", o->wavelet, TSR_DIRAC_FILTERS);
    if (o->depth < 0 || o->depth > 4) TSR_FAIL(TSR_ERROR_ARGUMENT, "depth is %d, expected 1 to 4, or 0", o->depth);
    if (!o->wavelet) o->wavelet = TSR_DIRAC_LEGALL + 1;
    if (!o->depth) o->depth = 3;
    for (int k = 0; k < 2; k++) {
        const int32_t least = 1 << o->depth, usual = k ? 8 : 32;
        if (!o->slice[k]) o->slice[k] = usual > least ? usual : least;
        if (o->slice[k] < least || o->slice[k] % least || o->slice[k] > 1 << 14)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "slice[%d] is %d, expected a multiple of %d up to 16384", k, o->slice[k], least);
    }
    if (!o->rate[0]) o->rate[0] = 25, o->rate[1] = 1;
    if (!o->aspect[0]) o->aspect[0] = o->aspect[1] = 1;
    if (o->rate[0] < 1 || o->rate[1] < 1 || o->aspect[0] < 1 || o->aspect[1] < 1)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "rate or aspect is not positive: %d / %d, %d / %d", o->rate[0], o->rate[1], o->aspect[0], o->aspect[1]);
    if (o->interlaced < 0 || o->interlaced > 2) TSR_FAIL(TSR_ERROR_ARGUMENT, "interlaced is %d, expected 0 to 2", o->interlaced);
    if (o->first_number < 0 || o->first_number > UINT32_MAX || (o->fields && o->first_number % 2))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "first_number is %lld, expected 0 to 2^32 - 1, even for fields", (long long)o->first_number);
    return TSR_OK;
}

static tsr_status check_rate(const tsr_dirac_encode_options *o)
{
    if (o->quantiser < 0 || o->quantiser > 101) TSR_FAIL(TSR_ERROR_ARGUMENT, "quantiser is %d, expected 1 to 101, or 0", o->quantiser);
    if (o->picture_bytes < 0 || o->picture_bytes > (int64_t)1 << 32)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "picture_bytes is %lld, expected 1 to 2^32, or 0", (long long)o->picture_bytes);
    if ((o->lossless != 0) + (o->quantiser != 0) + (o->picture_bytes != 0) > 1)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "lossless, quantiser and picture_bytes: expected one of them at most");
    if (o->coding == TSR_DIRAC_CODING_LOW_DELAY && (o->lossless || o->quantiser))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "low-delay slices have a fixed size: expected picture_bytes, not lossless or quantiser");
    if (o->fragment < 0 || o->fragment > 65535) TSR_FAIL(TSR_ERROR_ARGUMENT, "fragment is %d, expected 0 to 65535 slices", o->fragment);
    return TSR_OK;
}

static void fill_sequence(tsr_dirac_encoder *e)
{
    const tsr_dirac_encode_options *o = &e->options;
    const tsr_video_format *f = &o->format;
    const int full = f->range == TSR_RANGE_FULL, low_delay = o->coding == TSR_DIRAC_CODING_LOW_DELAY;
    const int32_t scale = 1 << (f->bits - 8), most = (1 << f->bits) - 1;
    e->sequence = (tsr_dirac_sequence){ .struct_size = sizeof e->sequence,
                                        .major_version = o->fragment ? 3
                                                         : low_delay ? 1
                                                                     : 2,
                                        .profile = low_delay ? 0 : 3,
                                        .base_format = o->interlaced == 1 ? 12 : 0, /* 1080 lines, top field first */
                                        .width = f->width,
                                        .height = f->height,
                                        .chroma = f->chroma,
                                        .interlaced = o->interlaced != 0,
                                        .top_field_first = o->interlaced == 1,
                                        .fields = o->fields != 0,
                                        .rate = { o->rate[0], o->rate[1] },
                                        .aspect = { o->aspect[0], o->aspect[1] },
                                        .clean_width = f->width,
                                        .clean_height = f->height,
                                        .luma_offset = full ? 0 : 16 * scale,
                                        .luma_excursion = full ? most : 219 * scale,
                                        .chroma_offset = 128 * scale,
                                        .chroma_excursion = full ? most : 224 * scale,
                                        .luma_depth = f->bits,
                                        .chroma_depth = f->bits,
                                        .primaries = f->matrix == TSR_MATRIX_BT709 ? 0 : 2,
                                        .matrix = f->matrix == TSR_MATRIX_BT709 ? 0 : 1 };
}

static tsr_status fill_transform(tsr_dirac_encoder *e)
{
    const tsr_dirac_encode_options *o = &e->options;
    const int32_t height = o->format.height >> e->sequence.fields;
    tsr_dirac_transform *t = &e->transform;
    *t = (tsr_dirac_transform){ .wavelet = o->wavelet - 1, .wavelet_horizontal = o->wavelet - 1, .depth = o->depth, .scaler = 1 };
    t->high_quality = o->coding == TSR_DIRAC_CODING_HIGH_QUALITY;
    t->slices_x = (int32_t)tsr_ceil_div(o->format.width, o->slice[0]);
    t->slices_y = (int32_t)tsr_ceil_div(height, o->slice[1]);
    if (!tsr_dirac_default_matrix(t, t->matrix)) TSR_FAIL(TSR_ERROR_INTERNAL, "no default matrix of wavelet %d at depth %d", t->wavelet, t->depth);
    const int64_t count = (int64_t)t->slices_x * t->slices_y;
    int64_t bytes = o->picture_bytes;
    if (!bytes) {
        tsr_video_frame shape = { .format = o->format };
        tsr_video_frame_lay_out(&shape);
        bytes = tsr_max64(shape.bytes / 5, 8 * count);
    }
    if (bytes < (t->high_quality ? 4 : 2) * count)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "picture_bytes is %lld, expected at least %lld for %lld slices", (long long)bytes,
                 (long long)(t->high_quality ? 4 : 2) * count, (long long)count);
    /* The fraction bytes / count, by what both share. */
    int64_t a = bytes, b = count;
    while (b) {
        const int64_t r = a % b;
        a = b;
        b = r;
    }
    if (bytes / a > INT32_MAX || count / a > INT32_MAX)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "picture_bytes is %lld for %lld slices, expected less", (long long)bytes, (long long)count);
    t->numerator = (uint32_t)(bytes / a);
    t->denominator = (uint32_t)(count / a);
    if (t->high_quality) t->scaler = (uint32_t)tsr_ceil_div(tsr_ceil_div(bytes, count), 255);
    return TSR_OK;
}

static tsr_status make_memory(tsr_dirac_encoder *e)
{
    int64_t workspace = 0;
    tsr_video_frame shape = { .format = e->options.format };
    tsr_video_frame_lay_out(&shape);
    TSR_TRY(tsr_device_allocate(e->context, (size_t)shape.bytes, &e->plane));
    e->plane_bytes = shape.bytes;
    for (int c = 0; c < 3; c++) {
        int32_t w, h;
        tsr_dirac_component_size(&e->sequence, c, &w, &h);
        tsr_dirac_layout_make(&e->transform, w, h, &e->layout[c]);
        const int64_t elements = tsr_dirac_layout_elements(&e->layout[c]);
        const size_t bytes = (size_t)elements * sizeof(int32_t);
        TSR_TRY(tsr_device_allocate(e->context, bytes, (void **)&e->on_device[c]));
        e->elements[c] = elements;
        if (on_host(e)) e->coefficients[c] = e->on_device[c];
        else TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&e->coefficients[c]));
    }
    for (int k = 0; k < 2; k++) {
        TSR_TRY(tsr_dirac_synthesis_make(e->context, &e->transform, &e->layout[k], &e->plans[k]));
        workspace = tsr_max64(workspace, e->plans[k].workspace_bytes);
    }
    TSR_TRY(tsr_device_allocate(e->context, (size_t)e->elements[0] * sizeof(int32_t), (void **)&e->samples));
    TSR_TRY(tsr_device_allocate(e->context, (size_t)workspace, &e->workspace));
    e->workspace_bytes = workspace;
    e->plan = (tsr_dirac_slice_plan *)malloc((size_t)e->transform.slices_x * (size_t)e->transform.slices_y * sizeof *e->plan);
    if (!e->plan) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for %d x %d slices", e->transform.slices_x, e->transform.slices_y);
    return TSR_OK;
}

tsr_status tsr_dirac_encoder_create(tsr_context *context, const tsr_dirac_encode_options *options, tsr_dirac_encoder **encoder)
{
    tsr_dirac_encode_options own;
    tsr_status status;
    if (!encoder) TSR_FAIL(TSR_ERROR_ARGUMENT, "encoder is NULL");
    *encoder = NULL;
    if (!context) TSR_FAIL(TSR_ERROR_ARGUMENT, "context is NULL");
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(check_format(&own));
    TSR_TRY(check_numbers(&own));
    TSR_TRY(check_rate(&own));
    tsr_dirac_encoder *e = (tsr_dirac_encoder *)calloc(1, sizeof *e);
    if (!e) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for an encoder");
    e->context = context;
    e->options = own;
    e->number = (uint32_t)own.first_number;
    fill_sequence(e);
    TSR_TRY_GOTO(fill_transform(e), fail);
    TSR_TRY_GOTO(make_memory(e), fail);
    *encoder = e;
    return TSR_OK;
fail:
    tsr_dirac_encoder_destroy(&e);
    return status;
}

void tsr_dirac_encoder_destroy(tsr_dirac_encoder **encoder)
{
    tsr_dirac_encoder *e = encoder ? *encoder : NULL;
    if (!e) return;
    *encoder = NULL;
    for (int c = 0; c < 3; c++) {
        const size_t bytes = (size_t)e->elements[c] * sizeof(int32_t);
        if (!on_host(e)) tsr_host_release(NULL, e->coefficients[c], bytes);
        tsr_device_release(e->context, e->on_device[c], bytes);
    }
    tsr_device_release(e->context, e->samples, e->samples ? (size_t)e->elements[0] * sizeof(int32_t) : 0);
    tsr_device_release(e->context, e->workspace, (size_t)e->workspace_bytes);
    tsr_device_release(e->context, e->plane, (size_t)e->plane_bytes);
    for (int k = 0; k < 2; k++) tsr_dirac_synthesis_free(&e->plans[k]);
    free(e->plan);
    free(e->out);
    free(e);
}

/* ---- bytes --------------------------------------------------------------------------------------------------------------------------------- */

/* Room for `bytes` more, and what is written ahead. */
static tsr_status room_for(tsr_dirac_encoder *e, int64_t bytes)
{
    const int64_t wanted = e->size + bytes + 64;
    if (wanted <= e->room) return TSR_OK;
    uint8_t *larger = (uint8_t *)realloc(e->out, (size_t)(wanted + wanted / 4));
    if (!larger) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for %lld bytes of a stream", (long long)wanted);
    e->out = larger;
    e->room = wanted + wanted / 4;
    return TSR_OK;
}

/* The header of a unit whose payload of `bytes` is to be written behind it. */
static tsr_status begin_unit(tsr_dirac_encoder *e, int32_t code, int64_t bytes)
{
    if (bytes > UINT32_MAX - TSR_DIRAC_HEADER) TSR_FAIL(TSR_ERROR_CAPACITY, "a picture of %lld bytes, expected less than 2^32", (long long)bytes);
    TSR_TRY(room_for(e, TSR_DIRAC_HEADER + bytes));
    const uint32_t length = (uint32_t)(TSR_DIRAC_HEADER + bytes);
    tsr_dirac_unit_write(e->out + e->size, code, code == TSR_DIRAC_END ? 0 : length, e->previous);
    e->size += TSR_DIRAC_HEADER;
    e->previous = length;
    return TSR_OK;
}

static void append(tsr_dirac_encoder *e, const void *bytes, int64_t size)
{
    memcpy(e->out + e->size, bytes, (size_t)size);
    e->size += size;
}

static void append_big(tsr_dirac_encoder *e, uint32_t v, int bytes)
{
    for (int k = bytes - 1; k >= 0; k--) e->out[e->size++] = (uint8_t)(v >> 8 * k);
}

/* ---- pictures ------------------------------------------------------------------------------------------------------------------------------ */

/* Coefficients of one picture: a frame, or every other row of it. */
static tsr_status analyse(tsr_dirac_encoder *e, const tsr_video_frame *frame, int bottom)
{
    const tsr_backend *backend = e->context->backend;
    const int fields = e->sequence.fields, bytes = frame->format.bits > 8 ? 2 : 1;
    int64_t at = 0;
    for (int c = 0; c < 3; c++) {
        const tsr_dirac_layout *l = &e->layout[c];
        const tsr_dirac_load_job job = { .plane = (const char *)e->plane + at + (int64_t)bottom * frame->width[c] * bytes,
                                         .plane_stride = (int64_t)frame->width[c] << fields,
                                         .samples = e->samples,
                                         .stride = l->stride,
                                         .width = l->width,
                                         .height = l->height,
                                         .padded_width = l->stride,
                                         .padded_height = l->padded_height,
                                         .bytes = bytes,
                                         .depth = frame->format.bits };
        TSR_TRY(backend->dirac->load(e->context->queue, &job));
        TSR_TRY(tsr_dirac_analysis_run(&e->plans[c > 0], e->samples, e->on_device[c], e->workspace));
        if (!on_host(e)) TSR_TRY(backend->download(e->context->queue, e->coefficients[c], e->on_device[c], (size_t)e->elements[c] * sizeof(int32_t)));
        at += (int64_t)frame->width[c] * frame->height[c] * bytes;
    }
    return TSR_OK;
}

static tsr_status write_whole(tsr_dirac_encoder *e, const tsr_dirac_slices_writing *w, int64_t bytes)
{
    uint8_t head[TSR_DIRAC_HEADERS];
    tsr_bits_out out = { .at = head };
    const int64_t count = (int64_t)w->transform.slices_x * w->transform.slices_y;
    tsr_bits_put(&out, e->number, 32);
    tsr_dirac_transform_write(&out, e->sequence.major_version, &w->transform);
    const int64_t size = out.at - head;
    TSR_TRY(begin_unit(e, w->transform.high_quality ? TSR_DIRAC_HIGH_QUALITY : TSR_DIRAC_LOW_DELAY, size + bytes));
    append(e, head, size);
    TSR_TRY(tsr_dirac_slices_write(w, 0, count, e->out + e->size));
    e->size += bytes;
    return TSR_OK;
}

static tsr_status write_fragments(tsr_dirac_encoder *e, const tsr_dirac_slices_writing *w, int64_t bytes)
{
    const int32_t code = w->transform.high_quality ? TSR_DIRAC_HIGH_QUALITY_FRAGMENT : TSR_DIRAC_LOW_DELAY_FRAGMENT;
    const int64_t count = (int64_t)w->transform.slices_x * w->transform.slices_y;
    uint8_t head[TSR_DIRAC_HEADERS];
    tsr_bits_out out = { .at = head };
    tsr_dirac_transform_write(&out, e->sequence.major_version, &w->transform);
    const int64_t size = out.at - head;
    TSR_TRY(begin_unit(e, code, 8 + size));
    append_big(e, e->number, 4);
    append_big(e, (uint32_t)size, 2);
    append_big(e, 0, 2);
    append(e, head, size);
    uint8_t *slices = (uint8_t *)malloc((size_t)bytes + 64);
    if (!slices) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for %lld bytes of slices", (long long)bytes);
    tsr_status status;
    TSR_TRY_GOTO(tsr_dirac_slices_write(w, 0, count, slices), done);
    for (int64_t first = 0; first < count; first += e->options.fragment) {
        const int64_t n = tsr_min64(e->options.fragment, count - first), end = first + n < count ? w->plan[first + n].offset : bytes;
        const int64_t own = end - w->plan[first].offset;
        TSR_TRY_GOTO(begin_unit(e, code, 12 + own), done);
        append_big(e, e->number, 4);
        append_big(e, own > 65535 ? 65535 : (uint32_t)own, 2);
        append_big(e, (uint32_t)n, 2);
        append_big(e, (uint32_t)(first % w->transform.slices_x), 2);
        append_big(e, (uint32_t)(first / w->transform.slices_x), 2);
        append(e, slices + w->plan[first].offset, own);
    }
    status = TSR_OK;
done:
    free(slices);
    return status;
}

static tsr_status write_picture(tsr_dirac_encoder *e)
{
    tsr_dirac_slices_writing w = {
        .transform = e->transform, .plan = e->plan, .threads = e->context->threads, .quantiser = e->options.lossless ? 0 : e->options.quantiser - 1
    };
    int64_t bytes = 0;
    for (int c = 0; c < 3; c++) {
        w.layout[c] = &e->layout[c];
        w.coefficients[c] = e->coefficients[c];
    }
    TSR_TRY(tsr_dirac_slices_plan(&w, &bytes));
    TSR_TRY(e->options.fragment ? write_fragments(e, &w, bytes) : write_whole(e, &w, bytes));
    e->number++;
    return TSR_OK;
}

tsr_status tsr_dirac_encoder_frame(tsr_dirac_encoder *e, const tsr_video_frame *frame, const void **bytes, size_t *size)
{
    uint8_t head[TSR_DIRAC_HEADERS];
    tsr_bits_out out = { .at = head };
    if (!e || !frame || !bytes || !size) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !e ? "encoder" : !frame ? "frame" : "bytes or size");
    *bytes = NULL;
    *size = 0;
    const tsr_video_format *f = &e->options.format;
    if (frame->format.width != f->width || frame->format.height != f->height || frame->format.chroma != f->chroma || frame->format.bits != f->bits)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "a frame of %d x %d, %s, %d bits, expected %d x %d, %s, %d bits as before", frame->format.width,
                 frame->format.height, tsr_chroma_name(frame->format.chroma), frame->format.bits, f->width, f->height, tsr_chroma_name(f->chroma),
                 f->bits);
    e->size = 0;
    tsr_dirac_sequence_write(&out, &e->sequence);
    TSR_TRY(begin_unit(e, TSR_DIRAC_SEQUENCE_HEADER, out.at - head));
    append(e, head, out.at - head);
    TSR_TRY(e->context->backend->upload(e->context->queue, e->plane, frame->plane[0], (size_t)e->plane_bytes));
    for (int field = 0; field <= e->sequence.fields; field++) {
        TSR_TRY(analyse(e, frame, e->sequence.fields && (field ? e->sequence.top_field_first : !e->sequence.top_field_first)));
        TSR_TRY(write_picture(e));
    }
    *bytes = e->out;
    *size = (size_t)e->size;
    return TSR_OK;
}

tsr_status tsr_dirac_encoder_end(tsr_dirac_encoder *e, const void **bytes, size_t *size)
{
    if (!e || !bytes || !size) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !e ? "encoder" : "bytes or size");
    e->size = 0;
    TSR_TRY(begin_unit(e, TSR_DIRAC_END, 0));
    *bytes = e->out;
    *size = (size_t)e->size;
    e->previous = 0; /* of another sequence */
    return TSR_OK;
}
