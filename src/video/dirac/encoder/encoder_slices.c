/* video/dirac/encoder/encoder_slices.c: VC-2 pictures, high quality and low delay, whole or in fragments. */
#include <stdlib.h>

#include "video/dirac/dirac_levels.h"
#include "video/dirac/encoder/dirac_encoder.h"
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

static tsr_status check_level(const tsr_dirac_encoder *e)
{
    int32_t standard[TSR_DIRAC_LEVELS + 1][4];
    char text[256];
    const int custom = !tsr_dirac_default_matrix(&e->transform, standard) || memcmp(standard, e->transform.matrix, sizeof standard) != 0;
    if (tsr_dirac_level_transform(&e->sequence, &e->transform, custom, text, sizeof text)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s", text);
    if (e->sequence.level >= TSR_DIRAC_LEVEL_SDI && (e->options.lossless || e->options.quantiser || e->options.bit_rate || e->options.fragment))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "level is %d: expected whole pictures of %lld bytes, neither lossless, quantiser, bit_rate nor fragment",
                 e->sequence.level, (long long)e->options.picture_bytes);
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
    return o->level ? check_level(e) : TSR_OK;
}

/* ---- pictures ------------------------------------------------------------------------------------------------------------------------------ */

/* Where a picture's slices come from: the host's coefficients, or the device's coder. */
typedef struct slices_from {
    const tsr_dirac_slices_writing *writing; /* NULL: the coder's picture `waiting` */
    const tsr_dirac_transform *transform;
    int32_t waiting;
    int64_t bytes;
} slices_from;

static tsr_status take_slices(tsr_dirac_encoder *e, const slices_from *from, uint8_t *to, int plan)
{
    if (!from->writing) return tsr_slice_coder_take(&e->coder, from->waiting, to, plan ? e->plan : NULL);
    return tsr_dirac_slices_write(from->writing, 0, (int64_t)from->transform->slices_x * from->transform->slices_y, to);
}

static tsr_status write_whole(tsr_dirac_encoder *e, const slices_from *from)
{
    uint8_t head[TSR_DIRAC_HEADERS];
    tsr_bits_out out = { .at = head };
    tsr_bits_put(&out, e->number, 32);
    tsr_dirac_transform_write(&out, e->sequence.major_version, from->transform);
    const int64_t size = out.at - head;
    TSR_TRY(tsr_dirac_begin_unit(e, from->transform->high_quality ? TSR_DIRAC_HIGH_QUALITY : TSR_DIRAC_LOW_DELAY, size + from->bytes));
    tsr_dirac_append(e, head, size);
    TSR_TRY(take_slices(e, from, e->out + e->size, 0));
    e->size += from->bytes;
    return TSR_OK;
}

static tsr_status write_fragments(tsr_dirac_encoder *e, const slices_from *from)
{
    const tsr_dirac_transform *t = from->transform;
    const int32_t code = t->high_quality ? TSR_DIRAC_HIGH_QUALITY_FRAGMENT : TSR_DIRAC_LOW_DELAY_FRAGMENT;
    const int64_t count = (int64_t)t->slices_x * t->slices_y;
    uint8_t head[TSR_DIRAC_HEADERS];
    tsr_bits_out out = { .at = head };
    tsr_dirac_transform_write(&out, e->sequence.major_version, t);
    const int64_t size = out.at - head;
    TSR_TRY(tsr_dirac_begin_unit(e, code, 8 + size));
    tsr_dirac_append_big(e, e->number, 4);
    tsr_dirac_append_big(e, (uint32_t)size, 2);
    tsr_dirac_append_big(e, 0, 2);
    tsr_dirac_append(e, head, size);
    uint8_t *slices = (uint8_t *)malloc((size_t)from->bytes + 64);
    if (!slices) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for %lld bytes of slices", (long long)from->bytes);
    tsr_status status;
    TSR_TRY_GOTO(take_slices(e, from, slices, 1), done);
    for (int64_t first = 0; first < count; first += e->options.fragment) {
        const int64_t n = tsr_min64(e->options.fragment, count - first), end = first + n < count ? e->plan[first + n].offset : from->bytes;
        const int64_t own = end - e->plan[first].offset;
        if (own > 65535)
            TSR_FAIL_GOTO(TSR_ERROR_CAPACITY, done,
                          "fragment is %d slices, of which %lld take %lld bytes, expected at most 65535: give it fewer slices", e->options.fragment,
                          (long long)n, (long long)own);
        TSR_TRY_GOTO(tsr_dirac_begin_unit(e, code, 12 + own), done);
        tsr_dirac_append_big(e, e->number, 4);
        tsr_dirac_append_big(e, (uint32_t)own, 2);
        tsr_dirac_append_big(e, (uint32_t)n, 2);
        tsr_dirac_append_big(e, (uint32_t)(first % t->slices_x), 2);
        tsr_dirac_append_big(e, (uint32_t)(first / t->slices_x), 2);
        tsr_dirac_append(e, slices + e->plan[first].offset, own);
    }
    status = TSR_OK;
done:
    free(slices);
    return status;
}

/* Quantisers, lengths and places of the picture; its bytes. The coder's: of all that wait. */
static tsr_status plan(tsr_dirac_encoder *e, tsr_dirac_slices_writing *w, int32_t quantiser, int64_t *bytes)
{
    if (!w) {
        TSR_TRY(tsr_slice_coder_plan(&e->coder, quantiser, !e->rate.on));
        *bytes = e->coder.totals[0].bytes;
        return TSR_OK;
    }
    w->quantiser = quantiser;
    return tsr_dirac_slices_plan(w, bytes);
}

/* The plan of a picture for the bits that it should have. */
static tsr_status plan_by_rate(tsr_dirac_encoder *e, tsr_dirac_slices_writing *w, int64_t overhead, int32_t *quantiser, int64_t *bytes)
{
    int64_t samples = 0;
    for (int c = 0; c < 3; c++) samples += (int64_t)e->layout[c].width * e->layout[c].height;
    for (*quantiser = tsr_dirac_rate_choose(&e->rate, 0, samples);; ++*quantiser) {
        TSR_TRY(plan(e, w, *quantiser, bytes));
        if (8 * (double)(*bytes + overhead) <= tsr_dirac_rate_most(&e->rate)) break;
        if (*quantiser >= TSR_RATE_MOST)
            TSR_FAIL(TSR_ERROR_CAPACITY, "bit_rate is %lld: a picture takes %lld bytes even so, more than the decoder's buffer has",
                     (long long)e->options.bit_rate, (long long)(*bytes + overhead));
    }
    return w ? TSR_OK : tsr_slice_coder_plan(&e->coder, *quantiser, 1);
}

/* A picture whose slices are planned. */
static tsr_status write_planned(tsr_dirac_encoder *e, const slices_from *from, int32_t quantiser, int64_t before)
{
    int64_t padding = 0;
    TSR_TRY(e->options.fragment ? write_fragments(e, from) : write_whole(e, from));
    if (e->rate.on) padding = tsr_dirac_rate_update(&e->rate, 0, quantiser, e->size - before);
    tsr_dirac_picture info = TSR_DIRAC_PICTURE;
    info.number = e->number++;
    info.parse_code = from->transform->high_quality ? TSR_DIRAC_HIGH_QUALITY : TSR_DIRAC_LOW_DELAY;
    info.quantiser = quantiser;
    info.bytes = e->size - before;
    info.error[0] = info.error[1] = info.error[2] = -1;
    if (padding) TSR_TRY(tsr_dirac_put_padding(e, padding));
    return tsr_dirac_picture_done(e, &info, NULL);
}

static int32_t given_quantiser(const tsr_dirac_encoder *e) { return e->options.lossless ? 0 : e->options.quantiser - 1; }

static tsr_status write_picture(tsr_dirac_encoder *e, int64_t before)
{
    tsr_dirac_slices_writing w = { .transform = e->transform, .plan = e->plan, .threads = e->context->threads, .compatible = e->options.compatible };
    slices_from from = { .writing = &w, .transform = &w.transform };
    int32_t quantiser = given_quantiser(e);
    for (int c = 0; c < 3; c++) {
        w.layout[c] = &e->layout[c];
        w.coefficients[c] = e->coefficients[c];
        w.narrow[c] = e->narrow[c];
    }
    tsr_status status = e->rate.on ? plan_by_rate(e, &w, e->size - before + 100, &quantiser, &from.bytes) : plan(e, &w, quantiser, &from.bytes);
    if (status == TSR_OK) status = write_planned(e, &from, quantiser, before);
    tsr_dirac_slices_writing_free(&w);
    return status;
}

/* ---- on a device --------------------------------------------------------------------------------------------------------------------------- */

void tsr_dirac_encoder_enter(void *user, int stage)
{
    tsr_dirac_encoder *const e = (tsr_dirac_encoder *)user;
    tsr_dirac_profile_enter(e->options.profile, e->context, stage, 0, &e->stage, &e->since);
}

tsr_status tsr_dirac_slices_end(tsr_dirac_encoder *e)
{
    tsr_slice_coder *c = &e->coder;
    int32_t quantiser = given_quantiser(e);
    int64_t before = e->size, bytes;
    if (!c->context || !c->count) return TSR_OK;
    if (e->begins[0]) TSR_TRY(tsr_dirac_put_header(e));
    TSR_TRY(tsr_slice_coder_transform(c));
    TSR_TRY(e->rate.on ? plan_by_rate(e, NULL, e->size - before + 100, &quantiser, &bytes) : plan(e, NULL, quantiser, &bytes));
    for (int32_t k = 0; k < c->count; k++) {
        tsr_dirac_transform transform = e->transform;
        transform.scaler = (uint32_t)c->totals[k].scaler;
        const slices_from from = { .transform = &transform, .waiting = k, .bytes = c->totals[k].bytes };
        if (k && e->begins[k]) TSR_TRY(tsr_dirac_put_header(e));
        if (e->options.checksum) TSR_TRY(tsr_dirac_put_digest(e, e->digest[k]));
        TSR_TRY(write_planned(e, &from, quantiser, before));
        before = e->size;
        if (e->options.profile) e->options.profile->pictures[0]++;
    }
    c->count = 0;
    return TSR_OK;
}

/* A field, or a frame, waits with others. */
static tsr_status board(tsr_dirac_encoder *e, int bottom, const void *planes, int begins)
{
    const tsr_video_format *f = &e->options.format;
    const int bytes = f->bits > 8 ? 2 : 1;
    const char *at = (const char *)planes;
    tsr_dirac_load_job load[3];
    tsr_video_frame shape = { .format = *f };
    tsr_video_frame_lay_out(&shape);
    for (int c = 0; c < 3; c++) {
        load[c] = (tsr_dirac_load_job){ .plane = at + (int64_t)bottom * shape.width[c] * bytes,
                                        .plane_stride = (int64_t)shape.width[c] << e->sequence.fields,
                                        .bytes = bytes,
                                        .depth = f->bits };
        at += (int64_t)shape.width[c] * shape.height[c] * bytes;
    }
    e->begins[e->coder.count] = begins;
    TSR_TRY(tsr_slice_coder_add(&e->coder, load));
    return e->coder.count == e->coder.ahead ? tsr_dirac_slices_end(e) : TSR_OK;
}

/* Before fields, too, over SDI. */
static int has_header_each(const tsr_dirac_encoder *e) { return e->sequence.level >= TSR_DIRAC_LEVEL_SDI; }

tsr_status tsr_dirac_slices_frame(tsr_dirac_encoder *e, const tsr_video_frame *frame, const void *planes)
{
    int64_t before = e->size;
    if (!e->coder.context) TSR_TRY(tsr_dirac_put_header(e));
    e->source = frame ? e->plane : planes;
    if (frame && tsr_dirac_encodes_on_host(e)) e->source = frame->plane[0];
    else if (frame) TSR_TRY(e->context->backend->upload(e->context->queue, e->plane, frame->plane[0], (size_t)e->plane_bytes));
    for (int field = 0; field <= e->sequence.fields; field++) {
        const int bottom = e->sequence.fields && (field ? e->sequence.top_field_first : !e->sequence.top_field_first);
        if (e->options.checksum) tsr_dirac_digest_of(e, frame, bottom, e->digest[e->coder.count]);
        if (e->coder.context) {
            TSR_TRY(board(e, bottom, e->source, !field || has_header_each(e)));
            continue;
        }
        if (e->options.checksum) TSR_TRY(tsr_dirac_put_digest(e, e->digest[0]));
        if (field && has_header_each(e)) TSR_TRY(tsr_dirac_put_header(e));
        TSR_TRY(tsr_dirac_analyse(e, bottom, NULL, e->plans));
        TSR_TRY(write_picture(e, before));
        before = e->size;
    }
    return TSR_OK;
}
