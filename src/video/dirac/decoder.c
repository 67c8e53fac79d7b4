/* video/dirac/decoder.c: data units in, frames out. */
#include "video/dirac/decoder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEADER_MOST = 1024 };

tsr_status tsr_dirac_damage(tsr_dirac_decoder *d, int64_t offset, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (d->options.damage) d->options.damage(d->options.user, offset, text);
    d->damaged = 1;
    if (d->options.strict) TSR_FAIL(TSR_ERROR_FORMAT, "at byte %lld: %s", (long long)offset, text);
    return TSR_OK;
}

static void enter_stage(void *user, int stage)
{
    tsr_dirac_decoder *const d = (tsr_dirac_decoder *)user;
    d->kind = 0;
    tsr_dirac_enter(d, stage);
}

tsr_status tsr_dirac_decoder_create(tsr_context *context, const tsr_dirac_decode_options *options, tsr_dirac_decoder **decoder)
{
    TSR_RETURNS(decoder);
    TSR_NEEDS(context);
    tsr_dirac_decode_options own;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    if (own.memory_limit < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "memory_limit is %lld, expected bytes, or 0", (long long)own.memory_limit);
    if (own.ahead < 0 || own.ahead > TSR_SLICE_AHEAD) TSR_FAIL(TSR_ERROR_ARGUMENT, "ahead is %d, expected 1 to %d, or 0", own.ahead, TSR_SLICE_AHEAD);
    if (own.arithmetic < 0 || own.arithmetic > TSR_CORE_AHEAD)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "arithmetic is %d, expected 1 to %d pictures, or 0", own.arithmetic, TSR_CORE_AHEAD);
    if (!tsr_core_ahead_usable(context)) own.arithmetic = 0;
    if (!own.ahead || context->device.kind == TSR_DEVICE_CPU) own.ahead = 1;
    if (own.profile && own.profile->struct_size != sizeof *own.profile)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "struct_size of the profile is %zu, expected TSR_DIRAC_PROFILE", own.profile->struct_size);
    if (!own.memory_limit) own.memory_limit = tsr_physical_memory() / 4;
    tsr_dirac_decoder *d = (tsr_dirac_decoder *)calloc(1, sizeof *d);
    if (!d) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for a decoder");
    d->context = context;
    d->options = own;
    d->stream.unit_limit = own.memory_limit;
    d->current = d->stage = -1;
    d->frames = TSR_DIRAC_FRAMES - TSR_SLICE_AHEAD + own.ahead - 1;
    if (own.profile) d->flight.stage = enter_stage;
    d->flight.user = d;
    *decoder = d;
    return TSR_OK;
}

void tsr_dirac_decoder_destroy(tsr_dirac_decoder **decoder)
{
    tsr_dirac_decoder *d = decoder ? *decoder : NULL;
    if (!d) return;
    *decoder = NULL;
    tsr_dirac_frames_free(d);
    tsr_dirac_motion_free(d);
    tsr_dirac_residue_free(d);
    tsr_slice_flight_free(&d->flight);
    tsr_core_device_free(&d->core_device);
    tsr_core_ahead_free(&d->core_ahead);
    tsr_dirac_stream_free(&d->stream);
    free(d->starts);
    free(d->gathered);
    free(d->quantisers);
    free(d->header);
    free(d);
}

tsr_status tsr_dirac_decoder_push(tsr_dirac_decoder *d, const void *bytes, size_t size)
{
    if (!d || (!bytes && size)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", d ? "bytes" : "decoder");
    if (d->stream.ended) TSR_FAIL(TSR_ERROR_STATE, "the stream has ended; more bytes need a decoder of their own");
    return tsr_dirac_stream_push(&d->stream, bytes, size);
}

tsr_status tsr_dirac_decoder_end(tsr_dirac_decoder *decoder)
{
    TSR_NEEDS(decoder);
    decoder->stream.ended = 1;
    return TSR_OK;
}

tsr_status tsr_dirac_decoder_sequence(const tsr_dirac_decoder *d, tsr_dirac_sequence *sequence)
{
    if (!d || !sequence) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", d ? "sequence" : "decoder");
    if (!d->has_sequence) TSR_FAIL(TSR_ERROR_STATE, "no sequence header was read yet");
    const size_t size = sequence->struct_size;
    if (size < sizeof(size_t)) TSR_FAIL(TSR_ERROR_ARGUMENT, "struct_size of the sequence is %zu, expected TSR_DIRAC_SEQUENCE", size);
    tsr_dirac_sequence own = d->sequence_out.struct_size ? d->sequence_out : d->sequence;
    return TSR_STRUCT_GIVE(sequence, &own);
}

/* ---- units --------------------------------------------------------------------------------------------------------------------------------- */

/* Nothing is lost by it: a remark, and an error where strict. */
static tsr_status check_profile(tsr_dirac_decoder *d, int64_t offset, int32_t profile)
{
    const int known = (profile >= 0 && profile <= 3) || profile == 8, damaged = d->damaged;
    if (known) return TSR_OK;
    if (profile == TSR_DIRAC_PROFILE_STATISTICS) {
        if (!d->options.strict) return TSR_OK;
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "at byte %lld: profile is %d, tessera's own coding, expected 0 to 3 or 8: no standard has this one",
                 (long long)offset, profile);
    }
    TSR_TRY(tsr_dirac_damage(d, offset, "sequence header: profile is %d, expected 0 to 3 or 8", profile));
    d->damaged = damaged;
    return TSR_OK;
}

/* Planes of other extents or depths: nothing is predicted from one to the other. */
static int shapes_differ(const tsr_dirac_sequence *a, const tsr_dirac_sequence *b)
{
    return a->width != b->width || a->height != b->height || a->chroma != b->chroma || a->fields != b->fields || a->luma_depth != b->luma_depth ||
           a->chroma_depth != b->chroma_depth;
}

static tsr_status take_sequence(tsr_dirac_decoder *d, const tsr_dirac_data *data)
{
    tsr_bits bits = { data->payload, 0, 8 * tsr_min64(data->size, HEADER_MOST) };
    tsr_dirac_sequence sequence;
    if (tsr_dirac_sequence_read(&bits, &sequence) != TSR_OK) return tsr_dirac_damage(d, data->offset, "%s", tsr_error_message());
    const int64_t size = (bits.at + 7) / 8;
    const int same = d->header && size == d->header_size && !memcmp(d->header, data->payload, (size_t)size);
    if (!same) {
        TSR_TRY(tsr_dirac_finish_frame(d, data->offset));
        if (d->in_sequence) TSR_TRY(tsr_dirac_damage(d, data->offset, "the sequence header changes inside a sequence"));
        d->collecting = 0; /* of other extents, perhaps */
        uint8_t *copy = (uint8_t *)malloc((size_t)size);
        if (!copy) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for a sequence header");
        memcpy(copy, data->payload, (size_t)size);
        free(d->header);
        d->header = copy;
        d->header_size = size;
        TSR_TRY(check_profile(d, data->offset, sequence.profile));
        for (int k = 0; k < TSR_DIRAC_REFERENCES && shapes_differ(&d->sequence, &sequence); k++) d->reference[k].used = 0;
    }
    d->sequence = sequence;
    d->has_sequence = d->in_sequence = 1;
    return TSR_OK;
}

static int is_picture(int32_t code) { return (code & 8) != 0; }
static int is_fragment(const tsr_dirac_decoder *d, int32_t code)
{
    return code == TSR_DIRAC_HIGH_QUALITY_FRAGMENT || (code == TSR_DIRAC_LOW_DELAY_FRAGMENT && d->sequence.major_version >= 3);
}

static tsr_status take_picture(tsr_dirac_decoder *d, const tsr_dirac_data *data)
{
    const int32_t code = data->unit.code;
    if (!d->has_sequence) return tsr_dirac_damage(d, data->offset, "a %s before any sequence header: left out", tsr_dirac_code_name(code));
    if (is_fragment(d, code)) return tsr_dirac_decode_fragment(d, data);
    const tsr_status status = (code & 0x88) == 0x88 ? tsr_dirac_decode_slices(d, data) : tsr_dirac_decode_core(d, data);
    d->has_digest = 0;
    return status;
}

/* "Schroedinger 1.0.7" and before write no quantiser offset in sub-bands of one code block. */
static void take_name(tsr_dirac_decoder *d, const tsr_dirac_data *data)
{
    static const char name[] = "Schroedinger 1.0.";
    const int64_t length = (int64_t)sizeof name - 1;
    if (data->size < length + 2 || memcmp(data->payload + 1, name, (size_t)length) != 0) return;
    const uint8_t *version = data->payload + 1 + length;
    d->old_blocks = *version >= '0' && *version <= '7' && (data->size == length + 2 || version[1] < '0' || version[1] > '9');
}

static void take_auxiliary(tsr_dirac_decoder *d, const tsr_dirac_data *data)
{
    if (data->size > 0 && data->payload[0] == 1) take_name(d, data);
    if (data->size <= TSR_DIRAC_DIGEST || data->payload[0] != TSR_DIRAC_AUXILIARY_MD5) return;
    memcpy(d->digest, data->payload + 1, TSR_DIRAC_DIGEST);
    d->has_digest = 1;
}

static tsr_status take_unit(tsr_dirac_decoder *d, const tsr_dirac_data *data)
{
    const int32_t code = data->unit.code;
    d->waiting += data->size + TSR_DIRAC_HEADER;
    if (data->lost) TSR_TRY(tsr_dirac_damage(d, data->offset, "%s: its length does not lead to another data unit", tsr_dirac_code_name(code)));
    if (code == TSR_DIRAC_SEQUENCE_HEADER) return take_sequence(d, data);
    if (code == TSR_DIRAC_END) {
        d->in_sequence = 0;
        d->flushing = 1;
    }
    if ((code & 0xf8) == TSR_DIRAC_AUXILIARY) take_auxiliary(d, data);
    return is_picture(code) ? take_picture(d, data) : TSR_OK;
}

/* ---- out ----------------------------------------------------------------------------------------------------------------------------------- */

/* The frame goes out of the decoder's hands; what it is. */
static tsr_status hand_over(tsr_dirac_decoder *d, tsr_dirac_frame *from, tsr_dirac_frame_info *info)
{
    if (from->in_flight) TSR_TRY(tsr_dirac_land(d));
    TSR_TRY(TSR_STRUCT_GIVE(info, &from->info));
    d->sequence_out = from->sequence;
    d->has_expected = 1;
    d->expected = from->info.number + (from->sequence.fields && !d->options.pictures ? 2 : 1);
    from->complete = 0;
    return TSR_OK;
}

static tsr_status download(tsr_dirac_decoder *d, tsr_dirac_frame *from, tsr_video_frame *frame)
{
    if (tsr_dirac_on_host(d)) { /* nothing moves: the frame that came before serves for a later one */
        const tsr_video_frame taken = *frame;
        *frame = from->shape;
        from->shape = taken;
        return TSR_OK;
    }
    if (frame->bytes != from->shape.bytes || memcmp(&frame->format, &from->shape.format, sizeof frame->format) != 0) {
        tsr_video_frame_destroy(frame);
        TSR_TRY(tsr_video_frame_create(&from->shape.format, frame));
    }
    return d->context->backend->download(d->context->queue, frame->plane[0], from->memory, (size_t)from->shape.bytes);
}

/* What is begun and cannot go on with the coming unit is finished as it is. */
static tsr_status settle(tsr_dirac_decoder *d, const tsr_dirac_data *data)
{
    const int32_t code = data->unit.code;
    const int picture = is_picture(code) && data->size >= 8, ends = code == TSR_DIRAC_END;
    tsr_bits bits = { data->payload, 0, 8 * data->size };
    const uint32_t number = picture ? tsr_bits_take(&bits, 32) : 0;
    const int goes_on = picture && is_fragment(d, code) && (data->payload[6] || data->payload[7]); /* slices of it */
    if (d->collecting && ((picture && !goes_on) || ends)) TSR_TRY(tsr_dirac_finish_fragments(d, data->offset));
    const int second = (number & 1) && d->current >= 0 && number == d->frame[d->current].info.number + 1;
    if (picture && !second && !(goes_on && d->collecting))
        TSR_TRY(tsr_dirac_finish_frame(d, data->offset)); /* FFmpeg ends the sequence between fields */
    return TSR_OK;
}

/* Frames that wait for their turn. */
static int waiting(const tsr_dirac_decoder *d)
{
    int count = 0;
    for (int k = 0; k < d->frames; k++) count += d->frame[k].complete;
    return count;
}

/* The device may get more pictures before the frame is asked of it. */
static int may_go_ahead(const tsr_dirac_decoder *d, const tsr_dirac_frame *frame)
{
    return frame->in_flight && d->flight.count < d->options.ahead && !tsr_dirac_frames_full(d);
}

/* Works until it is the turn of a frame; NULL: bytes are needed, or the stream has ended. */
static tsr_status work(tsr_dirac_decoder *d, tsr_dirac_frame **frame)
{
    tsr_dirac_data data;
    int more = 0;
    for (;;) {
        if ((*frame = tsr_dirac_next_frame(d)) && !may_go_ahead(d, *frame)) return TSR_OK;
        if (!*frame) d->flushing = 0;
        tsr_dirac_stream_next(&d->stream, &data, &more);
        if (data.skipped) TSR_TRY(tsr_dirac_damage(d, data.offset, "%lld bytes that belong to no data unit", (long long)data.skipped));
        if (more) {
            const int before = waiting(d);
            TSR_TRY(settle(d, &data));
            if (waiting(d) != before || tsr_dirac_frames_full(d)) {
                d->flushing |= tsr_dirac_frames_full(d);
                tsr_dirac_stream_back(&d->stream, &data);
            } else TSR_TRY(take_unit(d, &data));
            continue;
        }
        if (*frame || !d->stream.ended) return TSR_OK;
        const int64_t end = d->stream.base + d->stream.size;
        TSR_TRY(tsr_dirac_finish_fragments(d, end));
        TSR_TRY(tsr_dirac_finish_frame(d, end));
        d->flushing = 1;
        if ((*frame = tsr_dirac_next_frame(d))) return TSR_OK;
        if (!d->has_sequence) TSR_FAIL(TSR_ERROR_FORMAT, "no sequence header of Dirac or VC-2 in %lld bytes", (long long)end);
        return TSR_OK;
    }
}

static tsr_status next(tsr_dirac_decoder *d, tsr_dirac_frame_info *info, tsr_dirac_frame **from, int *more)
{
    if (info && info->struct_size < sizeof(size_t))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "struct_size of the info is %zu, expected TSR_DIRAC_FRAME_INFO", info->struct_size);
    *more = 0;
    if (d->failed) TSR_FAIL(TSR_ERROR_STATE, "the decoder failed before; only destroy is of use");
    TSR_TRY(work(d, from));
    if (!*from) return TSR_OK;
    TSR_TRY(hand_over(d, *from, info));
    *more = 1;
    return TSR_OK;
}

static tsr_status failed(tsr_dirac_decoder *d, tsr_status status, int *more, const char *function, int line)
{
    d->failed = 1;
    *more = 0;
    return tsr_frame_at(status, function, __FILE__, line);
}

tsr_status tsr_dirac_decoder_next(tsr_dirac_decoder *d, tsr_video_frame *frame, tsr_dirac_frame_info *info, int *more)
{
    if (!d || !frame || !more) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !d ? "decoder" : !frame ? "frame" : "more");
    tsr_dirac_frame *from = NULL;
    tsr_status status = next(d, info, &from, more);
    if (status == TSR_OK && from) status = download(d, from, frame);
    return status == TSR_OK ? TSR_OK : failed(d, status, more, __func__, __LINE__);
}

tsr_status tsr_dirac_decoder_next_on_device(tsr_dirac_decoder *d, tsr_dirac_device_frame *frame, tsr_dirac_frame_info *info, int *more)
{
    if (!d || !frame || !more) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !d ? "decoder" : !frame ? "frame" : "more");
    if (frame->struct_size != sizeof *frame)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "struct_size of the frame is %zu, expected TSR_DIRAC_DEVICE_FRAME", frame->struct_size);
    tsr_dirac_frame *from = NULL;
    const tsr_status status = next(d, info, &from, more);
    if (status != TSR_OK) return failed(d, status, more, __func__, __LINE__);
    if (!from) return TSR_OK;
    const tsr_video_frame *shape = &from->shape;
    const char *at = (const char *)from->memory;
    *frame = (tsr_dirac_device_frame){ .struct_size = sizeof *frame, .format = shape->format, .bytes = shape->bytes };
    for (int c = 0; c < 3; c++) {
        frame->width[c] = shape->width[c];
        frame->height[c] = shape->height[c];
        frame->plane[c] = at;
        at += (int64_t)shape->width[c] * shape->height[c] * (shape->format.bits > 8 ? 2 : 1);
    }
    return TSR_OK;
}
