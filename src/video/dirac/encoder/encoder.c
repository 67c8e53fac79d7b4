/* video/dirac/encoder/encoder.c: frames in, data units out. */
#include <stdlib.h>

#include "video/dirac/dirac_levels.h"
#include "video/dirac/encoder/dirac_encoder.h"
#include "video/dirac/filters.h"

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

static tsr_status in_range(const char *name, int32_t value, int32_t least, int32_t most)
{
    if (value < least || value > most) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is %d, expected %d to %d", name, value, least, most);
    return TSR_OK;
}

static tsr_status check_transform(tsr_dirac_encode_options *o)
{
    const int core = tsr_dirac_is_core(o);
    TSR_TRY(in_range("wavelet", o->wavelet, 0, TSR_DIRAC_FILTERS));
    TSR_TRY(in_range("depth", o->depth, 0, TSR_DIRAC_DEPTH));
    TSR_TRY(in_range("wavelet_horizontal", o->wavelet_horizontal, 0, TSR_DIRAC_FILTERS));
    TSR_TRY(in_range("depth_horizontal", o->depth_horizontal, 0, 4));
    TSR_TRY(in_range("inter_wavelet", o->inter_wavelet, 0, TSR_DIRAC_FILTERS));
    if (core && (o->wavelet_horizontal || o->depth_horizontal || o->matrix || o->fragment || o->slice[0] || o->slice[1] || o->picture_bytes))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: without effect in core syntax, expected with slices",
                 o->wavelet_horizontal || o->depth_horizontal ? "wavelet_horizontal and depth_horizontal"
                 : o->matrix                                  ? "matrix"
                 : o->fragment                                ? "fragment"
                 : o->picture_bytes                           ? "picture_bytes"
                                                              : "slice");
    /* Without loss the bit of accuracy that most filters add at each level is coded, too: Haar's without has none. */
    if (!o->wavelet) o->wavelet = 1 + (o->lossless ? TSR_DIRAC_HAAR_PLAIN : core ? 0 : TSR_DIRAC_LEGALL);
    if (!o->inter_wavelet) o->inter_wavelet = 1 + (o->lossless ? TSR_DIRAC_HAAR_PLAIN : TSR_DIRAC_LEGALL);
    const int32_t across = o->format.chroma != TSR_CHROMA_444, down = o->format.chroma == TSR_CHROMA_420;
    if (!o->depth) {
        const int alone = !o->slice[0] && !o->slice[1] && !o->depth_horizontal && !o->matrix && !o->fragment; /* none bounds the depth */
        o->depth = core || (o->lossless && alone) ? 4 : 3;
        while (core && o->depth > 1 &&
               ((o->format.width >> across >> o->depth) < 4 || (o->format.height >> down >> (o->fields != 0) >> o->depth) < 4))
            o->depth--;
    }
    for (int k = 0; k < 2 && !core; k++) {
        const int32_t least = 1 << (o->depth + (k ? 0 : o->depth_horizontal)), usual = k ? 8 : 32, whole = least << (k ? down : across);
        if (!o->slice[k]) o->slice[k] = usual > whole ? usual : whole; /* chroma has whole blocks, too: FFmpeg cuts them otherwise */
        if (o->slice[k] < least || o->slice[k] % least || o->slice[k] > 1 << 14)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "slice[%d] is %d, expected a multiple of %d up to 16384", k, o->slice[k], least);
    }
    return TSR_OK;
}

static tsr_dirac_sequence sequence_of(const tsr_dirac_encode_options *o)
{
    const tsr_video_format *f = &o->format;
    const int full = f->range == TSR_RANGE_FULL, low_delay = o->coding == TSR_DIRAC_CODING_LOW_DELAY, core = tsr_dirac_is_core(o);
    const int version_3 = o->fragment || o->depth_horizontal || (o->wavelet_horizontal && o->wavelet_horizontal != o->wavelet);
    const int32_t core_profile = o->coding == TSR_DIRAC_CODING_STATISTICS ? TSR_DIRAC_PROFILE_STATISTICS
                                 : o->coding == TSR_DIRAC_CODING_VARIABLE ? 1
                                 : o->group == 1                          ? 2
                                                                          : 8;
    const int32_t profile = low_delay ? 0 : !core ? 3 : core_profile;
    const int32_t scale = 1 << (f->bits - 8), most = (1 << f->bits) - 1;
    return (tsr_dirac_sequence){ .struct_size = sizeof(tsr_dirac_sequence),
                                 .major_version = version_3   ? 3
                                                  : low_delay ? 1
                                                              : 2,
                                 .minor_version = core ? 2 : 0,
                                 .profile = profile,
                                 .level = o->level,
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

static tsr_status take_level(tsr_dirac_encode_options *o)
{
    tsr_dirac_sequence s = sequence_of(o);
    if (tsr_dirac_is_core(o)) TSR_FAIL(TSR_ERROR_ARGUMENT, "level is %d, which VC-2 has: expected high-quality or low-delay slices", o->level);
    TSR_TRY(tsr_dirac_level_take(&s));
    if (s.level >= TSR_DIRAC_LEVEL_SDI && o->checksum) TSR_FAIL(TSR_ERROR_ARGUMENT, "checksum: level %d has no place for it", o->level);
    tsr_dirac_level_options(&s, o);
    return TSR_OK;
}

static tsr_status check_numbers(tsr_dirac_encode_options *o)
{
    TSR_TRY(in_range("coding", (int32_t)o->coding, 0, TSR_DIRAC_CODING_STATISTICS));
    if (!o->rate[0]) o->rate[0] = 25, o->rate[1] = 1;
    if (!o->aspect[0]) o->aspect[0] = o->aspect[1] = 1;
    if (o->rate[0] < 1 || o->rate[1] < 1 || o->aspect[0] < 1 || o->aspect[1] < 1)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "rate or aspect is not positive: %d / %d, %d / %d", o->rate[0], o->rate[1], o->aspect[0], o->aspect[1]);
    TSR_TRY(in_range("interlaced", o->interlaced, 0, 2));
    if (o->first_number < 0 || o->first_number > UINT32_MAX || (o->fields && o->first_number % 2))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "first_number is %lld, expected 0 to 2^32 - 1, even for fields", (long long)o->first_number);
    if (o->level) TSR_TRY(take_level(o));
    return check_transform(o);
}

static tsr_status check_rate(const tsr_dirac_encode_options *o)
{
    TSR_TRY(in_range("quantiser", o->quantiser, 0, 101));
    if (o->picture_bytes < 0 || o->picture_bytes > (int64_t)1 << 32)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "picture_bytes is %lld, expected 1 to 2^32, or 0", (long long)o->picture_bytes);
    if ((o->lossless != 0) + (o->quantiser != 0) + (o->picture_bytes != 0) + (o->bit_rate != 0) > 1)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "lossless, quantiser, picture_bytes and bit_rate: expected one of them at most");
    if (o->coding == TSR_DIRAC_CODING_LOW_DELAY && (o->lossless || o->quantiser || o->bit_rate))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "low-delay slices have a fixed size: expected picture_bytes, not lossless, quantiser or bit_rate");
    if (o->bit_rate < 0 || o->bit_rate > (int64_t)1 << 40 || o->buffer_bits < 0 || o->buffer_bits > (int64_t)1 << 44)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "bit_rate is %lld and buffer_bits %lld, expected 1 to 2^40 and 2^44, or 0", (long long)o->bit_rate,
                 (long long)o->buffer_bits);
    if (!o->bit_rate && (o->buffer_bits || o->constant_rate || o->statistics_count))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: needs bit_rate", o->buffer_bits ? "buffer_bits" : o->constant_rate ? "constant_rate" : "statistics");
    if (o->statistics_count < 0 || (o->statistics_count && !o->statistics)) TSR_FAIL(TSR_ERROR_ARGUMENT, "statistics is NULL");
    if (o->profile && o->profile->struct_size != sizeof *o->profile)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "struct_size of the profile is %zu, expected TSR_DIRAC_PROFILE", o->profile->struct_size);
    if (o->checksum && !tsr_dirac_is_core(o) && !o->lossless)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "checksum: expected core syntax, or lossless slices; of others the encoder does not know the samples");
    TSR_TRY(in_range("ahead", o->ahead, 0, TSR_SLICE_AHEAD));
    return in_range("fragment", o->fragment, 0, 65535);
}

/* What core syntax alone has. */
static tsr_status check_core(tsr_dirac_encode_options *o)
{
    const int32_t down[2] = { o->format.chroma != TSR_CHROMA_444, o->format.chroma == TSR_CHROMA_420 };
    TSR_TRY(in_range("preset", (int32_t)o->preset, 0, TSR_DIRAC_BEST));
    TSR_TRY(in_range("group", o->group, 0, 1 << 20));
    TSR_TRY(in_range("distance", o->distance, 0, 8));
    TSR_TRY(in_range("precision", o->precision, 0, 4));
    TSR_TRY(in_range("perceptual", o->perceptual, 0, 100));
    if (o->coding == TSR_DIRAC_CODING_VARIABLE && o->group > 1)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "group is %d, expected 0 or 1: variable-length codes are for intra pictures", o->group);
    if (!o->group) o->group = o->coding == TSR_DIRAC_CODING_VARIABLE ? 1 : 48;
    if (!o->distance) o->distance = o->group < 3 ? 1 : 3;
    if (!o->precision) o->precision = 3;
    if (!o->block[0]) o->block[0] = 12;
    if (!o->block[2]) o->block[2] = o->block[0] == 12 ? 8 : o->block[0] * 2 / 3 / 4 * 4;
    if (!o->block[1]) o->block[1] = o->block[0];
    if (!o->block[3]) o->block[3] = o->block[2];
    for (int k = 0; k < 2; k++) {
        const int32_t l = o->block[k], b = o->block[2 + k];
        if (l < 4 || b < 4 || l % 4 || b % 4 || b > l || l > 2 * b || l > TSR_DIRAC_BLOCK_MOST || (((l >> down[k]) - (b >> down[k])) & 1))
            TSR_FAIL(TSR_ERROR_ARGUMENT,
                     "blocks of %d every %d along %c, expected multiples of 4 with separation <= length <= 2 separation and length at most 64", l, b,
                     'x' + k);
    }
    if (!o->lossless && !o->quantiser && !o->bit_rate) o->quantiser = 1 + 12 + 4 * (o->format.bits - 8);
    return TSR_OK;
}

/* Whole pictures of slices are coded on the device. */
static tsr_status make_coder(tsr_dirac_encoder *e, int64_t bytes, int *usable)
{
    const tsr_dirac_encode_options *o = &e->options;
    const int64_t count = (int64_t)e->transform.slices_x * e->transform.slices_y;
    const int fixed = !o->lossless && !o->quantiser && !o->bit_rate;
    if (e->options.profile) e->coder.stage = tsr_dirac_encoder_enter;
    e->coder.user = e;
    TSR_TRY(tsr_slice_coder_make(&e->coder, e->context, o->ahead, &e->transform, e->layout,
                                 fixed ? (int64_t)((uint64_t)count * e->transform.numerator / e->transform.denominator) : bytes + bytes / 4, usable));
    e->coder.compatible = o->compatible;
    return TSR_OK;
}

static tsr_status make_memory(tsr_dirac_encoder *e)
{
    int64_t workspace = 0;
    int on_device = 0;
    tsr_video_frame shape = { .format = e->options.format };
    tsr_video_frame_lay_out(&shape);
    TSR_TRY(tsr_device_allocate(e->context, (size_t)shape.bytes, &e->plane));
    e->plane_bytes = shape.bytes;
    for (int c = 0; c < 3; c++) {
        int32_t w, h;
        tsr_dirac_component_size(&e->sequence, c, &w, &h);
        tsr_dirac_layout_make(&e->transform, w, h, &e->layout[c]);
    }
    e->plan = e->core ? NULL : (tsr_dirac_slice_plan *)malloc((size_t)e->transform.slices_x * (size_t)e->transform.slices_y * sizeof *e->plan);
    if (!e->core && !e->plan) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for %d x %d slices", e->transform.slices_x, e->transform.slices_y);
    if (!e->core && !tsr_dirac_encodes_on_host(e)) TSR_TRY(make_coder(e, shape.bytes, &on_device));
    if (on_device) return TSR_OK;
    for (int c = 0; c < 3; c++) {
        const int64_t elements = tsr_dirac_layout_elements(&e->layout[c]);
        const size_t bytes = (size_t)elements * sizeof(int32_t);
        TSR_TRY(tsr_device_allocate(e->context, bytes, (void **)&e->on_device[c]));
        e->elements[c] = elements;
        if (tsr_dirac_encodes_on_host(e)) e->coefficients[c] = e->on_device[c];
        else TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&e->coefficients[c]));
    }
    const int narrow =
        tsr_dirac_encodes_on_host(e) && !e->core && e->transform.high_quality && tsr_dirac_synthesis_narrow(&e->transform, e->options.format.bits);
    for (int c = 0; c < 3 && narrow; c++) TSR_TRY(tsr_device_allocate(e->context, (size_t)e->elements[c] * sizeof(int16_t), (void **)&e->narrow[c]));
    for (int k = 0; k < 2; k++) {
        TSR_TRY(tsr_dirac_synthesis_make(e->context, &e->transform, &e->layout[k], narrow ? TSR_I16 : TSR_I32, narrow, &e->plans[k]));
        workspace = tsr_max64(workspace, e->plans[k].workspace_bytes);
    }
    TSR_TRY(tsr_device_allocate(e->context, (size_t)e->elements[0] * sizeof(int32_t), (void **)&e->samples));
    TSR_TRY(tsr_device_allocate(e->context, (size_t)workspace, &e->workspace));
    e->workspace_bytes = workspace;
    return TSR_OK;
}

tsr_status tsr_dirac_encoder_create(tsr_context *context, const tsr_dirac_encode_options *options, tsr_dirac_encoder **encoder)
{
    TSR_RETURNS(encoder);
    TSR_NEEDS(context);
    tsr_dirac_encode_options own;
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(check_format(&own));
    TSR_TRY(check_numbers(&own));
    TSR_TRY(check_rate(&own));
    if (tsr_dirac_is_core(&own)) TSR_TRY(check_core(&own));
    tsr_dirac_encoder *e = (tsr_dirac_encoder *)calloc(1, sizeof *e);
    if (!e) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for an encoder");
    e->context = context;
    e->stage = -1;
    if (!own.ahead || own.bit_rate || context->device.kind == TSR_DEVICE_CPU) own.ahead = 1;
    e->options = own;
    e->number = (uint32_t)own.first_number;
    e->sequence = sequence_of(&own);
    if (own.level) TSR_TRY_GOTO(tsr_dirac_level_take(&e->sequence), fail);
    TSR_TRY_GOTO(tsr_dirac_is_core(&own) ? tsr_dirac_core_create(e) : tsr_dirac_slices_fill(e), fail);
    TSR_TRY_GOTO(make_memory(e), fail);
    if (e->core) TSR_TRY_GOTO(tsr_dirac_core_make_memory(e), fail);
    const double share[TSR_RATE_KINDS] = { own.group > 1 ? 1.0 / own.group : 1, own.group > 1 ? 1.0 / own.distance - 1.0 / own.group : 0,
                                           own.group > 1 ? 1 - 1.0 / own.distance : 0 };
    TSR_TRY_GOTO(tsr_dirac_rate_make(&e->rate, &own, (double)own.rate[0] / own.rate[1] * (own.fields ? 2 : 1), share), fail);
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
        if (!tsr_dirac_encodes_on_host(e)) tsr_host_release(NULL, e->coefficients[c], bytes);
        if (e->on_device[c]) tsr_device_release(e->context, e->on_device[c], bytes);
        tsr_device_release(e->context, e->narrow[c], e->narrow[c] ? bytes / 2 : 0);
    }
    tsr_device_release(e->context, e->samples, e->samples ? (size_t)e->elements[0] * sizeof(int32_t) : 0);
    tsr_device_release(e->context, e->workspace, (size_t)e->workspace_bytes);
    tsr_device_release(e->context, e->plane, (size_t)e->plane_bytes);
    for (int k = 0; k < 2; k++) tsr_dirac_synthesis_free(&e->plans[k]);
    tsr_dirac_core_destroy(e);
    tsr_slice_coder_free(&e->coder);
    tsr_dirac_rate_free(&e->rate);
    free(e->statistics);
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
tsr_status tsr_dirac_begin_unit(tsr_dirac_encoder *e, int32_t code, int64_t bytes)
{
    if (bytes > UINT32_MAX - TSR_DIRAC_HEADER) TSR_FAIL(TSR_ERROR_CAPACITY, "a picture of %lld bytes, expected less than 2^32", (long long)bytes);
    TSR_TRY(room_for(e, TSR_DIRAC_HEADER + bytes));
    const uint32_t length = (uint32_t)(TSR_DIRAC_HEADER + bytes);
    tsr_dirac_unit_write(e->out + e->size, code, code == TSR_DIRAC_END ? 0 : length, e->previous);
    e->size += TSR_DIRAC_HEADER;
    e->previous = length;
    return TSR_OK;
}

void tsr_dirac_append(tsr_dirac_encoder *e, const void *bytes, int64_t size)
{
    memcpy(e->out + e->size, bytes, (size_t)size);
    e->size += size;
}

void tsr_dirac_append_big(tsr_dirac_encoder *e, uint32_t v, int bytes)
{
    for (int k = bytes - 1; k >= 0; k--) e->out[e->size++] = (uint8_t)(v >> 8 * k);
}

tsr_status tsr_dirac_put_header(tsr_dirac_encoder *e)
{
    uint8_t head[TSR_DIRAC_HEADERS];
    tsr_bits_out out = { .at = head };
    tsr_dirac_sequence_write(&out, &e->sequence);
    TSR_TRY(tsr_dirac_begin_unit(e, TSR_DIRAC_SEQUENCE_HEADER, out.at - head));
    tsr_dirac_append(e, head, out.at - head);
    return TSR_OK;
}

tsr_status tsr_dirac_put_padding(tsr_dirac_encoder *e, int64_t bytes)
{
    const int64_t payload = tsr_max64(bytes - TSR_DIRAC_HEADER, 0);
    TSR_TRY(tsr_dirac_begin_unit(e, TSR_DIRAC_PADDING, payload));
    memset(e->out + e->size, 0, (size_t)payload);
    e->size += payload;
    return TSR_OK;
}

tsr_status tsr_dirac_put_digest(tsr_dirac_encoder *e, const uint8_t digest[TSR_DIRAC_DIGEST])
{
    TSR_TRY(tsr_dirac_begin_unit(e, TSR_DIRAC_AUXILIARY, 1 + TSR_DIRAC_DIGEST));
    tsr_dirac_append_big(e, TSR_DIRAC_AUXILIARY_MD5, 1);
    tsr_dirac_append(e, digest, TSR_DIRAC_DIGEST);
    return TSR_OK;
}

void tsr_dirac_digest_of(const tsr_dirac_encoder *e, const tsr_video_frame *frame, int bottom, uint8_t digest[TSR_DIRAC_DIGEST])
{
    const int64_t bytes = frame->format.bits > 8 ? 2 : 1;
    tsr_dirac_md5 md5;
    tsr_dirac_md5_begin(&md5);
    for (int c = 0; c < 3; c++) {
        const int64_t row = frame->width[c] * bytes;
        tsr_dirac_md5_rows(&md5, (const char *)frame->plane[c] + bottom * row, row << e->sequence.fields, row,
                           frame->height[c] >> e->sequence.fields);
    }
    tsr_dirac_md5_digest(&md5, digest);
}

/* ---- pictures ------------------------------------------------------------------------------------------------------------------------------ */

tsr_status tsr_dirac_analyse(tsr_dirac_encoder *e, int bottom, int32_t *const predicted[3], const tsr_dirac_synthesis plans[2])
{
    const tsr_backend *backend = e->context->backend;
    const tsr_video_format *f = &e->options.format;
    tsr_video_frame shape = { .format = *f };
    tsr_video_frame_lay_out(&shape);
    const int fields = e->sequence.fields, bytes = f->bits > 8 ? 2 : 1;
    int64_t at = 0;
    for (int c = 0; c < 3; c++) {
        const tsr_dirac_layout *l = &e->layout[c];
        const tsr_dirac_load_job job = { .plane = (const char *)e->source + at + (int64_t)bottom * shape.width[c] * bytes,
                                         .plane_stride = (int64_t)shape.width[c] << fields,
                                         .predicted = predicted ? predicted[c] : NULL,
                                         .predicted_stride = l->width,
                                         .samples = e->samples,
                                         .narrow = e->narrow[c] ? (int16_t *)(void *)e->samples : NULL,
                                         .stride = l->stride,
                                         .width = l->width,
                                         .height = l->height,
                                         .padded_width = l->stride,
                                         .padded_height = l->padded_height,
                                         .bytes = bytes,
                                         .depth = f->bits };
        TSR_TRY(backend->dirac->load(e->context->queue, &job));
        TSR_TRY(tsr_dirac_analysis_run(&plans[c > 0], e->samples, e->narrow[c] ? (void *)e->narrow[c] : e->on_device[c], e->workspace));
        if (!tsr_dirac_encodes_on_host(e) && !(e->core && e->core->on_device))
            TSR_TRY(backend->download(e->context->queue, e->coefficients[c], e->on_device[c], (size_t)e->elements[c] * sizeof(int32_t)));
        at += (int64_t)shape.width[c] * shape.height[c] * bytes;
    }
    return TSR_OK;
}

static int kind_of(const tsr_dirac_picture *info) { return !info->references ? 0 : (info->parse_code & 0x0c) == 0x0c ? 1 : 2; }

tsr_status tsr_dirac_picture_done(tsr_dirac_encoder *e, tsr_dirac_picture *info, const tsr_video_frame *reconstruction)
{
    if (e->statistics_count == e->statistics_room) {
        const int64_t room = 2 * e->statistics_room + 64;
        tsr_dirac_statistics *larger = (tsr_dirac_statistics *)realloc(e->statistics, (size_t)room * sizeof *larger);
        if (!larger) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for the statistics of %lld pictures", (long long)room);
        e->statistics = larger;
        e->statistics_room = room;
    }
    info->buffer = e->rate.on ? (int64_t)e->rate.level : -1;
    e->statistics[e->statistics_count++] = (tsr_dirac_statistics){ info->number, kind_of(info), info->quantiser, info->bytes };
    if (e->options.picture) e->options.picture(e->options.user, info, reconstruction);
    return TSR_OK;
}

/* ---- calls --------------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_dirac_encoder_frame(tsr_dirac_encoder *e, const tsr_video_frame *frame, const void **bytes, size_t *size)
{
    if (!e || !frame || !bytes || !size) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !e ? "encoder" : !frame ? "frame" : "bytes or size");
    *bytes = NULL;
    *size = 0;
    const tsr_video_format *f = &e->options.format;
    if (frame->format.width != f->width || frame->format.height != f->height || frame->format.chroma != f->chroma || frame->format.bits != f->bits)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "a frame of %d x %d, %s, %d bits, expected %d x %d, %s, %d bits as before", frame->format.width,
                 frame->format.height, tsr_chroma_name(frame->format.chroma), frame->format.bits, f->width, f->height, tsr_chroma_name(f->chroma),
                 f->bits);
    e->size = 0;
    TSR_TRY(e->core ? tsr_dirac_group_frame(e, frame) : tsr_dirac_slices_frame(e, frame, NULL));
    *bytes = e->out;
    *size = (size_t)e->size;
    return TSR_OK;
}

tsr_status tsr_dirac_encoder_frame_on_device(tsr_dirac_encoder *e, const void *planes, const void **bytes, size_t *size)
{
    if (!e || !planes || !bytes || !size) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !e ? "encoder" : !planes ? "planes" : "bytes or size");
    *bytes = NULL;
    *size = 0;
    if (e->options.checksum) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "checksum: expected frames in host memory");
    if (!e->coder.context && !(tsr_dirac_encodes_on_host(e) && !e->core))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "frames in the device's memory: expected a coding in slices");
    e->size = 0;
    TSR_TRY(tsr_dirac_slices_frame(e, NULL, planes));
    *bytes = e->out;
    *size = (size_t)e->size;
    return TSR_OK;
}

tsr_status tsr_dirac_encoder_end(tsr_dirac_encoder *e, const void **bytes, size_t *size)
{
    if (!e || !bytes || !size) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !e ? "encoder" : "bytes or size");
    e->size = 0;
    TSR_TRY(e->core ? tsr_dirac_group_end(e) : tsr_dirac_slices_end(e));
    TSR_TRY(tsr_dirac_begin_unit(e, TSR_DIRAC_END, 0));
    *bytes = e->out;
    *size = (size_t)e->size;
    e->previous = 0; /* of another sequence */
    return TSR_OK;
}

tsr_status tsr_dirac_encoder_statistics(const tsr_dirac_encoder *e, const tsr_dirac_statistics **statistics, int64_t *count)
{
    if (!e || !statistics || !count) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !e ? "encoder" : "statistics or count");
    *statistics = e->statistics;
    *count = e->statistics_count;
    return TSR_OK;
}
