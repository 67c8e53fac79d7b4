/* video/dirac/decoder_pictures.c: slice-coded pictures, whole or in fragments: entropy decoding, synthesis, samples into the frame. */
#include <stdlib.h>

#include "io/video.h"
#include "video/dirac/decoder.h"

static int on_host(const tsr_dirac_decoder *d) { return d->context->device.kind == TSR_DEVICE_CPU; }

void tsr_dirac_picture_free(tsr_dirac_decoder *d)
{
    tsr_dirac_picture *p = &d->picture;
    for (int c = 0; c < 3; c++) {
        const size_t bytes = (size_t)p->elements[c] * sizeof(int32_t);
        if (!on_host(d)) tsr_host_release(NULL, p->coefficients[c], bytes);
        tsr_device_release(d->context, p->on_device[c], bytes);
    }
    tsr_device_release(d->context, p->samples, (size_t)p->elements[0] * sizeof(int32_t));
    tsr_device_release(d->context, p->workspace, (size_t)p->workspace_bytes);
    for (int k = 0; k < 2; k++) tsr_dirac_synthesis_free(&p->synthesis[k]);
    *p = (tsr_dirac_picture){ 0 };
}

/* Extents of component c of one picture. */
static void component_size(const tsr_dirac_sequence *s, int c, int32_t *width, int32_t *height)
{
    *width = c && s->chroma != TSR_CHROMA_444 ? s->width / 2 : s->width;
    *height = (c && s->chroma == TSR_CHROMA_420 ? s->height / 2 : s->height) >> s->fields;
}

static tsr_status make_memory(tsr_dirac_decoder *d)
{
    tsr_dirac_picture *p = &d->picture;
    for (int c = 0; c < 3; c++) {
        const int64_t elements = tsr_dirac_layout_elements(&p->layout[c]);
        const size_t bytes = (size_t)elements * sizeof(int32_t);
        p->elements[c] = elements;
        TSR_TRY(tsr_device_allocate(d->context, bytes, (void **)&p->on_device[c]));
        p->coefficients[c] = p->on_device[c];
        if (!on_host(d)) {
            p->coefficients[c] = NULL;
            TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&p->coefficients[c]));
        }
    }
    for (int k = 0; k < 2; k++) {
        TSR_TRY(tsr_dirac_synthesis_make(d->context, &p->transform, &p->layout[k], &p->synthesis[k]));
        p->workspace_bytes = tsr_max64(p->workspace_bytes, p->synthesis[k].workspace_bytes);
    }
    TSR_TRY(tsr_device_allocate(d->context, (size_t)p->elements[0] * sizeof(int32_t), (void **)&p->samples));
    return tsr_device_allocate(d->context, (size_t)p->workspace_bytes, &p->workspace);
}

/* Layout, memory and plans of pictures with this transform. */
static tsr_status make_picture(tsr_dirac_decoder *d, const tsr_dirac_transform *t)
{
    tsr_dirac_picture *p = &d->picture;
    tsr_dirac_layout layout[3];
    int64_t bytes = 0;
    for (int c = 0; c < 3; c++) {
        int32_t width, height;
        component_size(&d->sequence, c, &width, &height);
        tsr_dirac_layout_make(t, width, height, &layout[c]);
        bytes += 3 * tsr_dirac_layout_elements(&layout[c]) * (int64_t)sizeof(int32_t);
    }
    if (bytes > d->options.memory_limit)
        TSR_FAIL(TSR_ERROR_MEMORY, "pictures of %d x %d take %lld bytes, more than the limit of %lld", d->sequence.width, d->sequence.height,
                 (long long)bytes, (long long)d->options.memory_limit);
    const int same = p->made && !memcmp(layout, p->layout, sizeof layout) && t->wavelet == p->transform.wavelet &&
                     t->wavelet_horizontal == p->transform.wavelet_horizontal && t->depth == p->transform.depth &&
                     t->horizontal == p->transform.horizontal;
    if (!same) {
        tsr_dirac_picture_free(d);
        memcpy(p->layout, layout, sizeof layout);
    }
    p->transform = *t;
    if (!same) TSR_TRY(make_memory(d));
    p->made = 1;
    return TSR_OK;
}

/* ---- frames -------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status shape_frame(tsr_dirac_decoder *d)
{
    const tsr_dirac_sequence *s = &d->sequence;
    const int32_t depth = s->luma_depth > s->chroma_depth ? s->luma_depth : s->chroma_depth;
    tsr_video_frame shape = { .format = { .width = s->width,
                                          .height = d->options.pictures ? s->height >> s->fields : s->height,
                                          .chroma = s->chroma,
                                          .bits = depth < 8 ? 8 : depth,
                                          .siting = TSR_SITING_LEFT,
                                          .matrix = s->matrix == 1 ? TSR_MATRIX_BT601 : TSR_MATRIX_BT709,
                                          .range = s->luma_offset ? TSR_RANGE_LIMITED : TSR_RANGE_FULL } };
    TSR_TRY(tsr_video_format_complete(&shape.format));
    tsr_video_frame_lay_out(&shape);
    if (shape.bytes != d->shape.bytes) {
        tsr_device_release(d->context, d->assembled, (size_t)d->shape.bytes);
        d->assembled = NULL;
        d->shape.bytes = 0;
        TSR_TRY(tsr_device_allocate(d->context, (size_t)shape.bytes, &d->assembled));
    }
    d->shape = shape;
    return TSR_OK;
}

tsr_status tsr_dirac_finish_frame(tsr_dirac_decoder *d, int64_t offset)
{
    if (!d->filled || d->ready) return TSR_OK;
    TSR_TRY(tsr_dirac_damage(d, offset, "picture %u: the other field of its frame is missing", d->info.number));
    d->ready = 1;
    return TSR_OK;
}

/* Where the samples of the current picture go: whole frames, or every other row. */
static tsr_status store_picture(tsr_dirac_decoder *d, uint32_t number, int damaged, const tsr_dirac_data *data)
{
    const tsr_dirac_sequence *s = &d->sequence;
    tsr_dirac_picture *p = &d->picture;
    const int both = s->fields && !d->options.pictures, second = both && (number & 1),
              bottom = both && (second ? s->top_field_first : !s->top_field_first);
    int64_t at = 0;
    if (!d->filled) TSR_TRY(shape_frame(d));
    const int32_t bytes = d->shape.format.bits > 8 ? 2 : 1;
    for (int c = 0; c < 3; c++) {
        const tsr_dirac_layout *l = &p->layout[c];
        if (!on_host(d))
            TSR_TRY(d->context->backend->upload(d->context->queue, p->on_device[c], p->coefficients[c], (size_t)p->elements[c] * sizeof(int32_t)));
        TSR_TRY(tsr_dirac_synthesis_run(&p->synthesis[c > 0], p->on_device[c], p->samples, p->workspace));
        const tsr_dirac_store_job job = { .samples = p->samples,
                                          .stride = l->stride,
                                          .plane = (char *)d->assembled + at + (int64_t)bottom * d->shape.width[c] * bytes,
                                          .plane_stride = (int64_t)d->shape.width[c] << both,
                                          .width = l->width,
                                          .height = l->height,
                                          .bytes = bytes,
                                          .depth = c ? s->chroma_depth : s->luma_depth };
        TSR_TRY(d->context->backend->dirac->store(d->context->queue, &job));
        at += (int64_t)d->shape.width[c] * d->shape.height[c] * bytes;
    }
    if (!d->filled) {
        d->info.number = number;
        d->info.offset = data->offset;
    }
    d->info.struct_size = sizeof d->info;
    d->info.damaged |= damaged;
    d->info.bytes += d->waiting;
    d->info.parse_code = data->unit.code;
    d->waiting = 0;
    d->sequence_out = *s;
    d->filled |= both ? 1 << second : 3;
    d->ready = d->filled == 3;
    return TSR_OK;
}

/* ---- slices -------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status room_for_starts(tsr_dirac_decoder *d, int64_t count)
{
    if (count + 1 <= d->starts_room) return TSR_OK;
    int64_t *larger = (int64_t *)realloc(d->starts, (size_t)(count + 1) * sizeof *larger);
    if (!larger) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for %lld slices", (long long)count);
    d->starts = larger;
    d->starts_room = count + 1;
    return TSR_OK;
}

static tsr_status decode(tsr_dirac_decoder *d, tsr_bits *bits, int64_t first, int64_t count, int64_t *whole)
{
    tsr_dirac_picture *p = &d->picture;
    tsr_dirac_slices slices = { .transform = &p->transform, .threads = d->context->threads, .long_length = d->options.long_length };
    for (int c = 0; c < 3; c++) {
        slices.layout[c] = &p->layout[c];
        slices.coefficients[c] = p->coefficients[c];
    }
    TSR_TRY(room_for_starts(d, count));
    TSR_TRY(d->context->backend->synchronize(d->context->queue)); /* coefficients of the picture before are still being read */
    tsr_dirac_slices_decode(&slices, bits, first, count, d->starts, whole);
    return TSR_OK;
}

static void predict(tsr_dirac_picture *p)
{
    if (p->transform.high_quality) return;
    for (int c = 0; c < 3; c++) tsr_dirac_predict_approximation(p->coefficients[c], &p->layout[c]);
}

/* The transform parameters at `bits`; *usable 0: damaged, the picture is left out. */
static tsr_status take_transform(tsr_dirac_decoder *d, const tsr_dirac_data *data, uint32_t number, tsr_bits *bits, int *usable)
{
    const int high_quality = (data->unit.code & 0x20) != 0;
    tsr_dirac_transform transform;
    *usable = 0;
    if (tsr_dirac_transform_read(bits, d->sequence.major_version, high_quality, &transform) != TSR_OK)
        return tsr_dirac_damage(d, data->offset, "picture %u: %s", number, tsr_error_message());
    tsr_bits_align(bits);
    TSR_TRY(make_picture(d, &transform));
    *usable = 1;
    return TSR_OK;
}

tsr_status tsr_dirac_decode_slices(tsr_dirac_decoder *d, const tsr_dirac_data *data)
{
    tsr_bits bits = { data->payload, 0, 8 * data->size };
    const uint32_t number = tsr_bits_take(&bits, 32);
    int usable = 0;
    int64_t whole = 0;
    if (tsr_bits_over(&bits))
        return tsr_dirac_damage(d, data->offset, "%s of %lld bytes: left out", tsr_dirac_code_name(data->unit.code), (long long)data->size);
    TSR_TRY(take_transform(d, data, number, &bits, &usable));
    if (!usable) return TSR_OK;
    const tsr_dirac_transform *t = &d->picture.transform;
    const int64_t count = (int64_t)t->slices_x * t->slices_y;
    if (count > data->size)
        return tsr_dirac_damage(d, data->offset, "picture %u: %d x %d slices in %lld bytes: left out", number, t->slices_x, t->slices_y,
                                (long long)data->size);
    TSR_TRY(decode(d, &bits, 0, count, &whole));
    if (whole < count)
        TSR_TRY(tsr_dirac_damage(d, data->offset, "picture %u: %lld of %lld slices are missing or cut", number, (long long)(count - whole),
                                 (long long)count));
    predict(&d->picture);
    return store_picture(d, number, whole < count, data);
}

/* ---- fragments ----------------------------------------------------------------------------------------------------------------------------- */

static tsr_status finish(tsr_dirac_decoder *d, const tsr_dirac_data *data, int damaged)
{
    d->collecting = 0;
    predict(&d->picture);
    return store_picture(d, d->fragment_number, damaged, data);
}

tsr_status tsr_dirac_finish_fragments(tsr_dirac_decoder *d, int64_t offset)
{
    if (!d->collecting) return TSR_OK;
    const tsr_dirac_transform *t = &d->picture.transform;
    const int64_t count = (int64_t)t->slices_x * t->slices_y;
    TSR_TRY(tsr_dirac_damage(d, offset, "picture %u: fragments with %lld of %lld slices are missing", d->fragment_number,
                             (long long)(count - d->fragment_slices), (long long)count));
    const tsr_dirac_data data = { .unit = { .code = t->high_quality ? TSR_DIRAC_HIGH_QUALITY_FRAGMENT : TSR_DIRAC_LOW_DELAY_FRAGMENT },
                                  .offset = offset };
    return finish(d, &data, 1);
}

static tsr_status begin_fragments(tsr_dirac_decoder *d, const tsr_dirac_data *data, uint32_t number, tsr_bits *bits)
{
    int usable = 0;
    TSR_TRY(take_transform(d, data, number, bits, &usable));
    if (!usable) return TSR_OK;
    for (int c = 0; c < 3; c++) memset(d->picture.coefficients[c], 0, (size_t)d->picture.elements[c] * sizeof(int32_t));
    d->collecting = 1;
    d->fragment_number = number;
    d->fragment_slices = 0;
    return TSR_OK;
}

tsr_status tsr_dirac_decode_fragment(tsr_dirac_decoder *d, const tsr_dirac_data *data)
{
    tsr_bits bits = { data->payload, 0, 8 * data->size };
    const uint32_t number = tsr_bits_take(&bits, 32);
    tsr_bits_take(&bits, 16); /* bytes of slices: the unit's length says it, too */
    const int64_t count = tsr_bits_take(&bits, 16);
    if (tsr_bits_over(&bits)) return tsr_dirac_damage(d, data->offset, "a fragment of %lld bytes: left out", (long long)data->size);
    if (!count) return begin_fragments(d, data, number, &bits);
    const tsr_dirac_transform *t = &d->picture.transform;
    const int64_t x = tsr_bits_take(&bits, 16), y = tsr_bits_take(&bits, 16), first = y * t->slices_x + x, all = (int64_t)t->slices_x * t->slices_y;
    int64_t whole = 0;
    if (!d->collecting || number != d->fragment_number)
        return tsr_dirac_damage(d, data->offset, "a fragment of picture %u, whose beginning is missing: left out", number);
    if (x >= t->slices_x || first + count > all || count > data->size)
        return tsr_dirac_damage(d, data->offset, "picture %u: a fragment of %lld slices from %lld, %lld, expected them within %d x %d: left out",
                                number, (long long)count, (long long)x, (long long)y, t->slices_x, t->slices_y);
    if (first != d->fragment_slices) {
        TSR_TRY(tsr_dirac_damage(d, data->offset, "picture %u: a fragment from slice %lld, expected %lld", number, (long long)first,
                                 (long long)d->fragment_slices));
        if (first < d->fragment_slices) return TSR_OK;
    }
    TSR_TRY(decode(d, &bits, first, count, &whole));
    if (whole < count)
        TSR_TRY(tsr_dirac_damage(d, data->offset, "picture %u: %lld of %lld slices of a fragment are missing or cut", number,
                                 (long long)(count - whole), (long long)count));
    d->fragment_slices = first + count;
    return d->fragment_slices == all ? finish(d, data, 0) : TSR_OK;
}
