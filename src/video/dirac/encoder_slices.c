/* video/dirac/encoder_slices.c: VC-2 pictures, high quality and low delay, whole or in fragments. */
#include <stdlib.h>

#include "video/dirac/dirac_encoder.h"
#include "video/dirac/filters.h"

static tsr_status fill_matrix(tsr_dirac_encoder *e)
{
    const tsr_dirac_encode_options *o = &e->options;
    tsr_dirac_transform *t = &e->transform;
    const int32_t expected = 1 + t->horizontal + 3 * t->depth;
    int32_t at = 0;
    if (!o->matrix) {
        if (!tsr_dirac_default_matrix(t, t->matrix)) tsr_dirac_weights_matrix(t, t->matrix);
        return TSR_OK;
    }
    if (o->matrix_count != expected) TSR_FAIL(TSR_ERROR_ARGUMENT, "matrix has %d numbers, expected %d", o->matrix_count, expected);
    memset(t->matrix, 0, sizeof t->matrix);
    for (int level = 0; level <= t->horizontal + t->depth; level++)
        for (int band = level > 0; band < tsr_dirac_bands(t, level); band++) {
            const int32_t v = o->matrix[at++];
            if (v < 0 || v > 255) TSR_FAIL(TSR_ERROR_ARGUMENT, "matrix has %d, expected 0 to 255", v);
            t->matrix[level][band] = v;
        }
    return TSR_OK;
}

tsr_status tsr_dirac_slices_fill(tsr_dirac_encoder *e)
{
    const tsr_dirac_encode_options *o = &e->options;
    const int32_t height = o->format.height >> e->sequence.fields;
    tsr_dirac_transform *t = &e->transform;
    *t = (tsr_dirac_transform){ .wavelet = o->wavelet - 1,
                                .wavelet_horizontal = (o->wavelet_horizontal ? o->wavelet_horizontal : o->wavelet) - 1,
                                .depth = o->depth,
                                .horizontal = o->depth_horizontal,
                                .scaler = 1 };
    t->high_quality = o->coding == TSR_DIRAC_CODING_HIGH_QUALITY;
    t->slices_x = (int32_t)tsr_ceil_div(o->format.width, o->slice[0]);
    t->slices_y = (int32_t)tsr_ceil_div(height, o->slice[1]);
    TSR_TRY(fill_matrix(e));
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

/* ---- pictures ------------------------------------------------------------------------------------------------------------------------------ */

static tsr_status write_whole(tsr_dirac_encoder *e, const tsr_dirac_slices_writing *w, int64_t bytes)
{
    uint8_t head[TSR_DIRAC_HEADERS];
    tsr_bits_out out = { .at = head };
    const int64_t count = (int64_t)w->transform.slices_x * w->transform.slices_y;
    tsr_bits_put(&out, e->number, 32);
    tsr_dirac_transform_write(&out, e->sequence.major_version, &w->transform);
    const int64_t size = out.at - head;
    TSR_TRY(tsr_dirac_begin_unit(e, w->transform.high_quality ? TSR_DIRAC_HIGH_QUALITY : TSR_DIRAC_LOW_DELAY, size + bytes));
    tsr_dirac_append(e, head, size);
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
    TSR_TRY(tsr_dirac_begin_unit(e, code, 8 + size));
    tsr_dirac_append_big(e, e->number, 4);
    tsr_dirac_append_big(e, (uint32_t)size, 2);
    tsr_dirac_append_big(e, 0, 2);
    tsr_dirac_append(e, head, size);
    uint8_t *slices = (uint8_t *)malloc((size_t)bytes + 64);
    if (!slices) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for %lld bytes of slices", (long long)bytes);
    tsr_status status;
    TSR_TRY_GOTO(tsr_dirac_slices_write(w, 0, count, slices), done);
    for (int64_t first = 0; first < count; first += e->options.fragment) {
        const int64_t n = tsr_min64(e->options.fragment, count - first), end = first + n < count ? w->plan[first + n].offset : bytes;
        const int64_t own = end - w->plan[first].offset;
        if (own > 65535)
            TSR_FAIL_GOTO(TSR_ERROR_CAPACITY, done, "fragment is %d slices, of which %lld take %lld bytes, expected at most 65535: give it fewer slices",
                          e->options.fragment, (long long)n, (long long)own);
        TSR_TRY_GOTO(tsr_dirac_begin_unit(e, code, 12 + own), done);
        tsr_dirac_append_big(e, e->number, 4);
        tsr_dirac_append_big(e, (uint32_t)own, 2);
        tsr_dirac_append_big(e, (uint32_t)n, 2);
        tsr_dirac_append_big(e, (uint32_t)(first % w->transform.slices_x), 2);
        tsr_dirac_append_big(e, (uint32_t)(first / w->transform.slices_x), 2);
        tsr_dirac_append(e, slices + w->plan[first].offset, own);
    }
    status = TSR_OK;
done:
    free(slices);
    return status;
}

/* The plan of a picture for the bits that it should have. */
static tsr_status plan_by_rate(tsr_dirac_encoder *e, tsr_dirac_slices_writing *w, int64_t overhead, int64_t *bytes)
{
    int64_t samples = 0;
    for (int c = 0; c < 3; c++) samples += (int64_t)e->layout[c].width * e->layout[c].height;
    w->quantiser = tsr_dirac_rate_choose(&e->rate, 0, samples);
    for (;;) {
        TSR_TRY(tsr_dirac_slices_plan(w, bytes));
        if (8 * (double)(*bytes + overhead) <= tsr_dirac_rate_most(&e->rate)) return TSR_OK;
        if (w->quantiser >= TSR_RATE_MOST)
            TSR_FAIL(TSR_ERROR_CAPACITY, "bit_rate is %lld: a picture takes %lld bytes even so, more than the decoder's buffer has", (long long)e->options.bit_rate,
                     (long long)(*bytes + overhead));
        w->quantiser++;
    }
}

static tsr_status write_slices(tsr_dirac_encoder *e, tsr_dirac_slices_writing *w, int64_t before)
{
    int64_t bytes = 0;
    if (e->rate.on) TSR_TRY(plan_by_rate(e, w, e->size - before + 100, &bytes));
    else TSR_TRY(tsr_dirac_slices_plan(w, &bytes));
    return e->options.fragment ? write_fragments(e, w, bytes) : write_whole(e, w, bytes);
}

static tsr_status write_picture(tsr_dirac_encoder *e, int64_t before)
{
    tsr_dirac_slices_writing w = {
        .transform = e->transform, .plan = e->plan, .threads = e->context->threads, .quantiser = e->options.lossless ? 0 : e->options.quantiser - 1
    };
    int64_t padding = 0;
    for (int c = 0; c < 3; c++) {
        w.layout[c] = &e->layout[c];
        w.coefficients[c] = e->coefficients[c];
        w.narrow[c] = e->narrow[c];
    }
    const tsr_status status = write_slices(e, &w, before);
    tsr_dirac_slices_writing_free(&w);
    if (status != TSR_OK) return status;
    if (e->rate.on) padding = tsr_dirac_rate_update(&e->rate, 0, w.quantiser, e->size - before);
    tsr_dirac_picture info = TSR_DIRAC_PICTURE;
    info.number = e->number++;
    info.parse_code = w.transform.high_quality ? TSR_DIRAC_HIGH_QUALITY : TSR_DIRAC_LOW_DELAY;
    info.quantiser = w.quantiser;
    info.bytes = e->size - before;
    info.error[0] = info.error[1] = info.error[2] = -1;
    if (padding) TSR_TRY(tsr_dirac_put_padding(e, padding));
    return tsr_dirac_picture_done(e, &info, NULL);
}

tsr_status tsr_dirac_slices_frame(tsr_dirac_encoder *e, const tsr_video_frame *frame)
{
    int64_t before = e->size;
    TSR_TRY(tsr_dirac_put_header(e));
    TSR_TRY(e->context->backend->upload(e->context->queue, e->plane, frame->plane[0], (size_t)e->plane_bytes));
    for (int field = 0; field <= e->sequence.fields; field++) {
        TSR_TRY(tsr_dirac_analyse(e, e->sequence.fields && (field ? e->sequence.top_field_first : !e->sequence.top_field_first), NULL, e->plans));
        TSR_TRY(write_picture(e, before));
        before = e->size;
    }
    return TSR_OK;
}
