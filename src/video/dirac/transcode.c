/* video/dirac/transcode.c: data units are copied, left out, cut into fragments or put together; distances between them are written anew. */
#include <stdlib.h>

#include "video/dirac/dirac_stream.h"
#include "video/dirac/layout.h"
#include "video/dirac/encoder/syntax_write.h"

struct tsr_dirac_transcoder {
    tsr_dirac_transcode_options options;
    tsr_status (*write)(void *user, const void *bytes, size_t size);
    void *user;
    tsr_dirac_stream stream;
    tsr_dirac_sequence sequence;
    uint8_t *header; /* of the sequence, as it is written; of what was read, too, to tell whether it came before */
    int64_t header_size;
    int has_sequence, open; /* a sequence was begun in the output */
    uint32_t previous;
    int64_t coded, written; /* pictures of this stream so far; written of all */
    /* Data units, whole: what came since the last picture that can be entered at, as long as `first` is not reached; from `belonging` on what is
     * no picture and goes with the next one. */
    uint8_t *kept;
    int64_t kept_size, kept_room, belonging;
    /* Fragments that become a whole picture. */
    tsr_dirac_transform transform;
    uint8_t *slices;
    int64_t slices_size, slices_room, slices_count, collecting;
    uint32_t number;
    uint8_t head[TSR_DIRAC_HEADERS];
    int64_t head_size;
    int32_t code;
};

tsr_status tsr_dirac_transcoder_create(const tsr_dirac_transcode_options *options, tsr_status (*write)(void *user, const void *bytes, size_t size),
                                       void *user, tsr_dirac_transcoder **transcoder)
{
    TSR_RETURNS(transcoder);
    TSR_NEEDS(write);
    tsr_dirac_transcode_options own;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    if (own.first < 0 || own.count < 0)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "first is %lld and count %lld, expected numbers of pictures", (long long)own.first, (long long)own.count);
    if (own.fragment < 0 || own.fragment > 65535) TSR_FAIL(TSR_ERROR_ARGUMENT, "fragment is %d, expected 0 to 65535 slices", own.fragment);
    if (own.fragment && own.whole) TSR_FAIL(TSR_ERROR_ARGUMENT, "fragment and whole: expected one of them");
    tsr_dirac_transcoder *t = (tsr_dirac_transcoder *)calloc(1, sizeof *t);
    if (!t) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for a transcoder");
    t->options = own;
    t->write = write;
    t->user = user;
    t->stream.unit_limit = UINT32_MAX;
    *transcoder = t;
    return TSR_OK;
}

void tsr_dirac_transcoder_destroy(tsr_dirac_transcoder **transcoder)
{
    tsr_dirac_transcoder *t = transcoder ? *transcoder : NULL;
    if (!t) return;
    *transcoder = NULL;
    tsr_dirac_stream_free(&t->stream);
    free(t->header);
    free(t->kept);
    free(t->slices);
    free(t);
}

/* ---- out ----------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status put(tsr_dirac_transcoder *t, int32_t code, const void *head, int64_t head_size, const void *payload, int64_t size)
{
    uint8_t unit[TSR_DIRAC_HEADER];
    const int64_t length = TSR_DIRAC_HEADER + head_size + size;
    if (length > UINT32_MAX) TSR_FAIL(TSR_ERROR_CAPACITY, "a picture of %lld bytes, expected less than 2^32", (long long)length);
    tsr_dirac_unit_write(unit, code, code == TSR_DIRAC_END ? 0 : (uint32_t)length, t->previous);
    t->previous = code == TSR_DIRAC_END ? 0 : (uint32_t)length;
    TSR_TRY(t->write(t->user, unit, sizeof unit));
    if (head_size) TSR_TRY(t->write(t->user, head, (size_t)head_size));
    return size ? t->write(t->user, payload, (size_t)size) : TSR_OK;
}

static tsr_status put_header(tsr_dirac_transcoder *t)
{
    t->open = 1;
    return put(t, TSR_DIRAC_SEQUENCE_HEADER, NULL, 0, t->header, t->header_size);
}

/* The header as it is written: in version 3 where pictures become fragments. */
static tsr_status take_header(tsr_dirac_transcoder *t, const tsr_dirac_data *data)
{
    tsr_bits bits = { data->payload, 0, 8 * data->size };
    tsr_dirac_sequence sequence;
    TSR_TRY(tsr_dirac_sequence_read(&bits, &sequence));
    const int64_t size = tsr_max64(data->size, 0) + 64;
    uint8_t *own = (uint8_t *)malloc((size_t)size);
    if (!own) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for a sequence header");
    free(t->header);
    t->header = own;
    memcpy(own, data->payload, (size_t)data->size);
    t->header_size = data->size;
    t->sequence = sequence;
    t->has_sequence = 1;
    if (!t->options.fragment || sequence.major_version >= 3) return TSR_OK;
    /* Another version, the other bits as they were. */
    tsr_bits rest = { data->payload, 0, 8 * data->size };
    tsr_bits_out out = { .at = own };
    (void)tsr_bits_uint(&rest);
    tsr_bits_put_uint(&out, 3);
    while (rest.at < rest.end) tsr_bits_put(&out, (uint64_t)tsr_bits_flag(&rest), 1);
    tsr_bits_finish(&out);
    t->header_size = out.at - own;
    return TSR_OK;
}

/* ---- slices -------------------------------------------------------------------------------------------------------------------------------- */

/* Bytes of slice n at `at`; -1: the data end in it. */
static int64_t slice_bytes(const tsr_dirac_transform *t, const uint8_t *data, int64_t at, int64_t size, int64_t n)
{
    if (!t->high_quality) {
        const int64_t bytes = tsr_dirac_slice_bytes(t, n);
        return at + bytes <= size ? bytes : -1;
    }
    int64_t end = at + t->prefix + 1;
    for (int c = 0; c < 3; c++) {
        if (end >= size) return -1;
        end += 1 + (int64_t)data[end] * t->scaler;
    }
    return end <= size ? end - at : -1;
}

static void put_big(uint8_t *to, uint32_t v, int bytes)
{
    for (int k = 0; k < bytes; k++) to[k] = (uint8_t)(v >> 8 * (bytes - 1 - k));
}

static tsr_status put_fragments(tsr_dirac_transcoder *t, const tsr_dirac_data *data)
{
    tsr_bits bits = { data->payload, 32, 8 * data->size };
    tsr_dirac_transform transform;
    const int high_quality = (data->unit.code & 0x20) != 0;
    const int32_t code = high_quality ? TSR_DIRAC_HIGH_QUALITY_FRAGMENT : TSR_DIRAC_LOW_DELAY_FRAGMENT;
    uint8_t head[TSR_DIRAC_HEADERS];
    TSR_TRY(tsr_dirac_transform_read(&bits, t->sequence.major_version, high_quality, &transform));
    tsr_bits_align(&bits);
    tsr_bits_out out = { .at = head + 8 };
    tsr_dirac_transform_write(&out, 3, &transform);
    memcpy(head, data->payload, 4);
    put_big(head + 4, (uint32_t)(out.at - head - 8), 2);
    put_big(head + 6, 0, 2);
    TSR_TRY(put(t, code, head, out.at - head, NULL, 0));
    const int64_t count = (int64_t)transform.slices_x * transform.slices_y;
    if (count > data->size)
        TSR_FAIL(TSR_ERROR_FORMAT, "at byte %lld: %lld slices in %lld bytes", (long long)data->offset, (long long)count, (long long)data->size);
    int64_t at = bits.at / 8;
    for (int64_t first = 0; first < count; first += t->options.fragment) {
        const int64_t n = tsr_min64(t->options.fragment, count - first), from = at;
        for (int64_t k = first; k < first + n; k++) {
            const int64_t own = slice_bytes(&transform, data->payload, at, data->size, k);
            if (own < 0) TSR_FAIL(TSR_ERROR_FORMAT, "at byte %lld: slice %lld is cut", (long long)data->offset, (long long)k);
            at += own;
        }
        if (at - from > 65535)
            TSR_FAIL(TSR_ERROR_CAPACITY, "fragment is %d slices, of which %lld take %lld bytes, expected at most 65535: give it fewer slices",
                     t->options.fragment, (long long)n, (long long)(at - from));
        put_big(head + 4, (uint32_t)(at - from), 2);
        put_big(head + 6, (uint32_t)n, 2);
        put_big(head + 8, (uint32_t)(first % transform.slices_x), 2);
        put_big(head + 10, (uint32_t)(first / transform.slices_x), 2);
        TSR_TRY(put(t, code, head, 12, data->payload + from, at - from));
    }
    return TSR_OK;
}

static tsr_status keep_bytes(uint8_t **memory, int64_t *size, int64_t *room, const void *bytes, int64_t more)
{
    if (*size + more > *room) {
        const int64_t larger = 2 * (*size + more) + 4096;
        uint8_t *grown = (uint8_t *)realloc(*memory, (size_t)larger);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for %lld bytes of a stream", (long long)larger);
        *memory = grown;
        *room = larger;
    }
    if (more) memcpy(*memory + *size, bytes, (size_t)more);
    *size += more;
    return TSR_OK;
}

/* A fragment on its way to a whole picture; *done: that is complete and written. */
static tsr_status collect(tsr_dirac_transcoder *t, const tsr_dirac_data *data, int *done)
{
    tsr_bits bits = { data->payload, 0, 8 * data->size };
    const uint32_t number = tsr_bits_take(&bits, 32);
    (void)tsr_bits_take(&bits, 16);
    const int64_t count = tsr_bits_take(&bits, 16);
    *done = 0;
    if (!count) {
        const int high_quality = (data->unit.code & 0x20) != 0;
        TSR_TRY(tsr_dirac_transform_read(&bits, t->sequence.major_version, high_quality, &t->transform));
        tsr_bits_out out = { .at = t->head };
        tsr_bits_put(&out, number, 32);
        tsr_dirac_transform_write(&out, t->sequence.major_version, &t->transform);
        t->head_size = out.at - t->head;
        t->code = high_quality ? TSR_DIRAC_HIGH_QUALITY : TSR_DIRAC_LOW_DELAY;
        t->number = number;
        t->slices_size = t->slices_count = 0;
        t->collecting = 1;
        return TSR_OK;
    }
    if (data->size < 12) TSR_FAIL(TSR_ERROR_FORMAT, "at byte %lld: a fragment of %lld bytes", (long long)data->offset, (long long)data->size);
    const int64_t x = tsr_bits_take(&bits, 16), y = tsr_bits_take(&bits, 16), all = (int64_t)t->transform.slices_x * t->transform.slices_y;
    if (!t->collecting || number != t->number || y * t->transform.slices_x + x != t->slices_count || t->slices_count + count > all)
        TSR_FAIL(TSR_ERROR_FORMAT, "at byte %lld: a fragment of picture %u that does not go on where the last one ended", (long long)data->offset,
                 number);
    TSR_TRY(keep_bytes(&t->slices, &t->slices_size, &t->slices_room, data->payload + 12, data->size - 12));
    t->slices_count += count;
    if (t->slices_count < all) return TSR_OK;
    *done = 1;
    t->collecting = 0;
    return put(t, t->code, t->head, t->head_size, t->slices, t->slices_size);
}

/* ---- units --------------------------------------------------------------------------------------------------------------------------------- */

static int is_fragment(const tsr_dirac_transcoder *t, int32_t code)
{
    return code == TSR_DIRAC_HIGH_QUALITY_FRAGMENT || (code == TSR_DIRAC_LOW_DELAY_FRAGMENT && t->sequence.major_version >= 3);
}

/* Is it a picture of its own, or the fragment that begins one? */
static int begins_picture(const tsr_dirac_transcoder *t, const tsr_dirac_data *data)
{
    return !is_fragment(t, data->unit.code) || (data->size >= 8 && !data->payload[6] && !data->payload[7]);
}

static tsr_status put_picture(tsr_dirac_transcoder *t, const tsr_dirac_data *data)
{
    int done = 0;
    if (data->size < 8) TSR_FAIL(TSR_ERROR_FORMAT, "at byte %lld: a picture of %lld bytes", (long long)data->offset, (long long)data->size);
    if (!t->open) TSR_TRY(put_header(t));
    if (begins_picture(t, data)) t->written++;
    if (t->options.fragment && (data->unit.code & 0x88) == 0x88 && !is_fragment(t, data->unit.code)) return put_fragments(t, data);
    if (t->options.whole && is_fragment(t, data->unit.code)) return collect(t, data, &done);
    return put(t, data->unit.code, NULL, 0, data->payload, data->size);
}

static tsr_status keep(tsr_dirac_transcoder *t, const tsr_dirac_data *data)
{
    const uint8_t code = (uint8_t)data->unit.code;
    TSR_TRY(keep_bytes(&t->kept, &t->kept_size, &t->kept_room, &data->size, sizeof data->size));
    TSR_TRY(keep_bytes(&t->kept, &t->kept_size, &t->kept_room, &code, 1));
    return keep_bytes(&t->kept, &t->kept_size, &t->kept_room, data->payload, data->size);
}

/* The first `bytes` of what is kept are not wanted. */
static void forget(tsr_dirac_transcoder *t, int64_t bytes)
{
    t->kept_size -= bytes;
    if (t->kept_size) memmove(t->kept, t->kept + bytes, (size_t)t->kept_size);
    t->belonging = 0;
}

/* Data units that were kept because a picture behind them is wanted: it may be predicted from them, or they belong to it. */
static tsr_status put_kept(tsr_dirac_transcoder *t)
{
    for (int64_t at = 0; at < t->kept_size;) {
        int64_t size;
        tsr_dirac_data data = { .offset = 0 };
        memcpy(&size, t->kept + at, sizeof size);
        data.unit.code = t->kept[at + 8];
        data.payload = t->kept + at + 9;
        data.size = size;
        if (!t->open) TSR_TRY(put_header(t));
        TSR_TRY(data.unit.code & 8 ? put_picture(t, &data) : put(t, data.unit.code, NULL, 0, data.payload, size));
        at += 9 + size;
    }
    forget(t, t->kept_size);
    return TSR_OK;
}

/* All pictures are there that are wanted. */
static int is_past(const tsr_dirac_transcoder *t, int64_t index) { return t->options.count && index >= t->options.first + t->options.count; }

static tsr_status take_picture(tsr_dirac_transcoder *t, const tsr_dirac_data *data)
{
    const tsr_dirac_transcode_options *o = &t->options;
    const int begins = begins_picture(t, data), enters = begins && !((data->unit.code & 0x88) == 0x08 && (data->unit.code & 3));
    if (!t->has_sequence) TSR_FAIL(TSR_ERROR_FORMAT, "at byte %lld: a picture before any sequence header", (long long)data->offset);
    t->coded += begins;
    const int64_t index = t->coded - 1;
    if (is_past(t, index)) {
        forget(t, t->kept_size);
        return TSR_OK;
    }
    if (enters) forget(t, t->belonging); /* it needs no picture before it */
    if (index >= o->first) {
        TSR_TRY(put_kept(t));
        return put_picture(t, data);
    }
    TSR_TRY(keep(t, data));
    t->belonging = t->kept_size;
    return TSR_OK;
}

static tsr_status end_sequence(tsr_dirac_transcoder *t)
{
    const int open = t->open;
    if (open && !is_past(t, t->coded)) TSR_TRY(put_kept(t));
    forget(t, t->kept_size);
    t->open = 0;
    return open ? put(t, TSR_DIRAC_END, NULL, 0, NULL, 0) : TSR_OK;
}

static tsr_status take_unit(tsr_dirac_transcoder *t, const tsr_dirac_data *data)
{
    const int32_t code = data->unit.code;
    const int goes_on = t->open && !is_past(t, t->coded);
    if (code & 8) return take_picture(t, data);
    if (code == TSR_DIRAC_SEQUENCE_HEADER) {
        if (goes_on) TSR_TRY(put_kept(t));
        TSR_TRY(take_header(t, data));
        return goes_on ? put_header(t) : TSR_OK;
    }
    if (code == TSR_DIRAC_END) return end_sequence(t);
    return t->options.drop ? TSR_OK : keep(t, data);
}

static tsr_status drain(tsr_dirac_transcoder *t)
{
    tsr_dirac_data data;
    int more = 1;
    while (more) {
        tsr_dirac_stream_next(&t->stream, &data, &more);
        if (data.skipped)
            TSR_FAIL(TSR_ERROR_FORMAT, "at byte %lld: %lld bytes that belong to no data unit", (long long)data.offset, (long long)data.skipped);
        if (more && data.lost)
            TSR_FAIL(TSR_ERROR_FORMAT, "at byte %lld: %s: its length does not lead to another data unit", (long long)data.offset,
                     tsr_dirac_code_name(data.unit.code));
        if (more) TSR_TRY(take_unit(t, &data));
    }
    return TSR_OK;
}

tsr_status tsr_dirac_transcoder_push(tsr_dirac_transcoder *t, const void *bytes, size_t size)
{
    if (!t || (!bytes && size)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", t ? "bytes" : "transcoder");
    TSR_TRY(tsr_dirac_stream_push(&t->stream, bytes, size));
    return drain(t);
}

tsr_status tsr_dirac_transcoder_end(tsr_dirac_transcoder *transcoder, int64_t *pictures)
{
    TSR_NEEDS(transcoder);
    transcoder->stream.ended = 1;
    TSR_TRY(drain(transcoder));
    if (!transcoder->has_sequence) TSR_FAIL(TSR_ERROR_FORMAT, "no sequence header of Dirac or VC-2");
    if (transcoder->collecting) TSR_FAIL(TSR_ERROR_FORMAT, "picture %u: its fragments are not complete", transcoder->number);
    TSR_TRY(end_sequence(transcoder));
    tsr_dirac_stream_free(&transcoder->stream);
    transcoder->stream.unit_limit = UINT32_MAX;
    transcoder->has_sequence = 0;
    transcoder->previous = 0;
    transcoder->coded = 0;
    if (pictures) *pictures = transcoder->written;
    return TSR_OK;
}
