/* video/dirac/inspect.c: what the data units of a stream say, and how many bits each of their parts takes. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "video/dirac/dirac_core.h"
#include "video/dirac/dirac_stream.h"
#include "video/dirac/layout.h"
#include "video/dirac/dirac_levels.h"
#include "video/dirac/motion.h"
#include "video/dirac/motion_neighbours.h"
#include "video/statistics/band_streams.h"

struct tsr_dirac_inspector {
    tsr_dirac_stream stream;
    tsr_dirac_sequence sequence;
    int has_sequence;
    tsr_dirac_level_units units;
    tsr_dirac_transform transform; /* of the picture whose fragments come */
    int fragments;
    uint32_t number;
    char problem[512];
};

tsr_status tsr_dirac_inspector_create(tsr_dirac_inspector **inspector)
{
    TSR_NEEDS(inspector);
    *inspector = (tsr_dirac_inspector *)calloc(1, sizeof **inspector);
    if (!*inspector) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for an inspector");
    (*inspector)->stream.unit_limit = UINT32_MAX;
    return TSR_OK;
}

void tsr_dirac_inspector_destroy(tsr_dirac_inspector **inspector)
{
    if (!inspector || !*inspector) return;
    tsr_dirac_stream_free(&(*inspector)->stream);
    free(*inspector);
    *inspector = NULL;
}

tsr_status tsr_dirac_inspector_push(tsr_dirac_inspector *i, const void *bytes, size_t size)
{
    if (!i || (!bytes && size)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", i ? "bytes" : "inspector");
    if (i->stream.ended) TSR_FAIL(TSR_ERROR_STATE, "the stream has ended");
    return tsr_dirac_stream_push(&i->stream, bytes, size);
}

tsr_status tsr_dirac_inspector_end(tsr_dirac_inspector *inspector)
{
    TSR_NEEDS(inspector);
    inspector->stream.ended = 1;
    return TSR_OK;
}

tsr_status tsr_dirac_inspector_sequence(const tsr_dirac_inspector *i, tsr_dirac_sequence *sequence)
{
    if (!i || !sequence) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", i ? "sequence" : "inspector");
    if (!i->has_sequence) TSR_FAIL(TSR_ERROR_STATE, "no sequence header was read yet");
    const size_t size = sequence->struct_size;
    if (size < sizeof(size_t)) TSR_FAIL(TSR_ERROR_ARGUMENT, "struct_size of the sequence is %zu, expected TSR_DIRAC_SEQUENCE", size);
    return TSR_STRUCT_GIVE(sequence, &i->sequence);
}

/* The first problem of a unit stays. */
static void TSR_PRINTF(2, 3) problem(tsr_dirac_inspector *i, const char *format, ...)
{
    va_list arguments;
    if (i->problem[0]) return;
    va_start(arguments, format);
    vsnprintf(i->problem, sizeof i->problem, format, arguments);
    va_end(arguments);
}

static void read_header(tsr_dirac_inspector *i, const tsr_dirac_data *data)
{
    tsr_bits bits = { data->payload, 0, 8 * data->size };
    tsr_dirac_sequence sequence;
    char text[256];
    if (tsr_dirac_sequence_read(&bits, &sequence) != TSR_OK) {
        problem(i, "%s", tsr_error_message());
        return;
    }
    i->sequence = sequence;
    i->has_sequence = 1;
    if (tsr_dirac_level_header(&sequence, text, sizeof text)) problem(i, "%s", text);
}

static void take_transform(const tsr_dirac_transform *t, tsr_dirac_unit_info *info)
{
    info->wavelet = t->wavelet;
    info->wavelet_horizontal = t->wavelet_horizontal;
    info->depth = t->depth;
    info->depth_horizontal = t->horizontal;
    info->slices[0] = t->slices_x;
    info->slices[1] = t->slices_y;
}

/* ---- core syntax --------------------------------------------------------------------------------------------------------------------------- */

static void skip_blocks(tsr_bits *bits, int32_t references)
{
    for (int k = 0; k < TSR_BLOCKS_STREAMS - (references == 1 ? 2 : 0); k++) {
        const int64_t length = bits->at < bits->end ? (int64_t)tsr_bits_uint(bits) : 0;
        tsr_bits_align(bits);
        bits->at += 8 * length;
    }
}

int tsr_dirac_core_skip(const tsr_dirac_sequence *sequence, int32_t code, tsr_bits *bits, tsr_dirac_transform *transform)
{
    const int32_t references = code & 3, numbers = references + ((code & 0x0c) == 0x0c);
    tsr_dirac_prediction prediction;
    if (references > 2) return 0;
    (void)tsr_bits_take(bits, 32);
    for (int32_t k = 0; k < numbers; k++) (void)tsr_bits_int(bits);
    tsr_bits_align(bits);
    if (references) {
        if (tsr_dirac_prediction_read(bits, sequence, references, &prediction) != TSR_OK) return 0;
        tsr_bits_align(bits);
        skip_blocks(bits, references);
        if (tsr_bits_over(bits) || tsr_bits_flag(bits)) return 0; /* no residue */
    }
    return !tsr_bits_over(bits) && tsr_dirac_transform_read_core(bits, transform) == TSR_OK;
}

static void read_statistics(tsr_dirac_inspector *i, const tsr_dirac_transform *t, tsr_bits *bits, tsr_dirac_unit_info *info)
{
    tsr_dirac_layout layout[3];
    const tsr_dirac_layout *const layouts[3] = { &layout[0], &layout[1], &layout[2] };
    for (int c = 0; c < 3; c++) {
        int32_t width, height;
        tsr_dirac_component_size(&i->sequence, c, &width, &height);
        tsr_dirac_layout_make(t, width, height, &layout[c]);
    }
    if (tsr_dirac_statistics_measure(t, layouts, bits, info->band_bits, info->band_quantiser) != TSR_OK) problem(i, "%s", tsr_error_message());
    else if (tsr_bits_over(bits)) problem(i, "streams are cut");
}

static void read_core(tsr_dirac_inspector *i, const tsr_dirac_data *data, tsr_dirac_unit_info *info)
{
    tsr_bits bits = { data->payload, 0, 8 * data->size };
    tsr_dirac_prediction prediction;
    tsr_dirac_transform transform;
    const int32_t code = data->unit.code;
    info->number = tsr_bits_take(&bits, 32);
    info->references = code & 3;
    info->is_reference = (code & 0x0c) == 0x0c;
    if (info->references > 2) {
        problem(i, "%d references, expected at most 2", info->references);
        return;
    }
    for (int32_t r = 0; r < info->references; r++) info->reference[r] = info->number + (uint32_t)tsr_bits_int(&bits);
    if (info->is_reference) (void)tsr_bits_int(&bits);
    tsr_bits_align(&bits);
    if (info->references) {
        const int64_t from = bits.at;
        if (tsr_dirac_prediction_read(&bits, &i->sequence, info->references, &prediction) != TSR_OK) {
            problem(i, "%s", tsr_error_message());
            return;
        }
        tsr_bits_align(&bits);
        skip_blocks(&bits, info->references);
        info->motion_bits = bits.at - from;
        if (bits.at < bits.end && tsr_bits_flag(&bits)) return; /* no residue */
    }
    if (tsr_bits_over(&bits) || tsr_dirac_transform_read_core(&bits, &transform) != TSR_OK) {
        problem(i, "%s", tsr_bits_over(&bits) ? "the picture is cut" : tsr_error_message());
        return;
    }
    take_transform(&transform, info);
    info->slices[0] = info->slices[1] = 0;
    if (code & TSR_DIRAC_STATISTICS) {
        read_statistics(i, &transform, &bits, info);
        return;
    }
    for (int c = 0; c < 3; c++)
        for (int level = 0; level <= transform.depth; level++)
            for (int band = level > 0; band < tsr_dirac_bands(&transform, level); band++) {
                tsr_bits_align(&bits);
                const int64_t from = bits.at, length = bits.at < bits.end ? (int64_t)tsr_bits_uint(&bits) : 0;
                if (length) info->band_quantiser[c][level][band] = (int32_t)tsr_bits_uint(&bits);
                tsr_bits_align(&bits);
                bits.at += 8 * length;
                info->band_bits[c][level][band] = bits.at - from;
            }
    if (tsr_bits_over(&bits)) problem(i, "sub-bands are cut");
}

/* ---- slices -------------------------------------------------------------------------------------------------------------------------------- */

typedef struct counting {
    const tsr_dirac_transform *t;
    tsr_dirac_layout layout[3];
    tsr_dirac_unit_info *info;
    int64_t *padding;
} counting;

static void count_component(const counting *k, int first, int last, int32_t sx, int32_t sy, tsr_bits bits)
{
    for (int level = 0; level <= k->t->horizontal + k->t->depth; level++)
        for (int band = level > 0; band < tsr_dirac_bands(k->t, level); band++) {
            const tsr_dirac_area a = tsr_dirac_slice_area(k->t, &k->layout[first].band[level][band], sx, sy);
            for (int64_t n = (int64_t)(a.x1 - a.x0) * (a.y1 - a.y0); n > 0 && bits.at < bits.end; n--)
                for (int c = first; c <= last && bits.at < bits.end; c++) {
                    const int64_t from = bits.at;
                    (void)tsr_bits_int(&bits);
                    k->info->band_bits[c][level][band] += tsr_min64(bits.at, bits.end) - from;
                }
        }
    if (bits.at < bits.end) *k->padding += bits.end - bits.at;
}

static tsr_bits part_of(tsr_bits *bits, int64_t length)
{
    const tsr_bits part = { bits->data, tsr_min64(bits->at, bits->end), tsr_min64(bits->at + length, bits->end) };
    bits->at += length;
    return part;
}

static void note_quantiser(tsr_dirac_unit_info *info, int32_t index)
{
    if (info->quantiser_least < 0 || index < info->quantiser_least) info->quantiser_least = index;
    if (index > info->quantiser_most) info->quantiser_most = index;
}

static void count_slice(const counting *k, int64_t n, tsr_bits *bits)
{
    const tsr_dirac_transform *t = k->t;
    const int32_t sx = (int32_t)(n % t->slices_x), sy = (int32_t)(n / t->slices_x);
    if (t->high_quality) {
        bits->at += 8 * (int64_t)t->prefix;
        if (bits->at >= bits->end) return;
        note_quantiser(k->info, (int32_t)tsr_bits_take(bits, 8));
        for (int c = 0; c < 3 && bits->at < bits->end; c++) {
            const int64_t length = 8 * (int64_t)tsr_bits_take(bits, 8) * t->scaler;
            count_component(k, c, c, sx, sy, part_of(bits, length));
        }
        return;
    }
    const int64_t bytes = tsr_dirac_slice_bytes(t, n);
    tsr_bits own = part_of(bits, 8 * bytes);
    note_quantiser(k->info, (int32_t)tsr_bits_take(&own, 7));
    const int64_t length = (int64_t)tsr_bits_take(&own, tsr_dirac_length_bits(bytes));
    count_component(k, 0, 0, sx, sy, part_of(&own, length));
    count_component(k, 1, 2, sx, sy, own);
}

static void count_slices(tsr_dirac_inspector *i, tsr_bits *bits, int64_t first, int64_t count, tsr_dirac_unit_info *info)
{
    counting k = { .t = &i->transform, .info = info, .padding = &info->padding_bits };
    if (count > bits->end / 8) {
        problem(i, "%lld slices in %lld bytes", (long long)count, (long long)bits->end / 8);
        return;
    }
    for (int c = 0; c < 3; c++) {
        int32_t w, h;
        tsr_dirac_component_size(&i->sequence, c, &w, &h);
        tsr_dirac_layout_make(&i->transform, w, h, &k.layout[c]);
    }
    for (int64_t n = first; n < first + count; n++) {
        const int64_t from = bits->at;
        count_slice(&k, n, bits);
        if (i->sequence.level == 66 && bits->at - from != 8 * 128)
            problem(i, "level 66: slice %lld has %lld bytes, expected 128", (long long)n, (long long)(bits->at - from) / 8);
        if (bits->at > bits->end || (bits->at == bits->end && n + 1 < first + count)) {
            problem(i, "slices from %lld on are missing or cut", (long long)n);
            return;
        }
    }
    if (bits->end - bits->at >= 8) problem(i, "%lld bytes behind the last slice", (long long)(bits->end - bits->at) / 8);
}

static int read_transform(tsr_dirac_inspector *i, const tsr_dirac_data *data, tsr_bits *bits)
{
    int32_t standard[TSR_DIRAC_LEVELS + 1][4];
    char text[256];
    const tsr_dirac_transform before = i->transform;
    if (tsr_dirac_transform_read(bits, i->sequence.major_version, (data->unit.code & 0x20) != 0, &i->transform) != TSR_OK) {
        i->transform = before;
        problem(i, "%s", tsr_error_message());
        return 0;
    }
    tsr_bits_align(bits);
    const int custom = !tsr_dirac_default_matrix(&i->transform, standard) || memcmp(standard, i->transform.matrix, sizeof standard) != 0;
    if (tsr_dirac_level_transform(&i->sequence, &i->transform, custom, text, sizeof text)) problem(i, "%s", text);
    return 1;
}

static void read_slices(tsr_dirac_inspector *i, const tsr_dirac_data *data, tsr_dirac_unit_info *info)
{
    tsr_bits bits = { data->payload, 0, 8 * data->size };
    info->number = tsr_bits_take(&bits, 32);
    if (!read_transform(i, data, &bits)) return;
    take_transform(&i->transform, info);
    count_slices(i, &bits, 0, (int64_t)i->transform.slices_x * i->transform.slices_y, info);
}

static void read_fragment(tsr_dirac_inspector *i, const tsr_dirac_data *data, tsr_dirac_unit_info *info)
{
    tsr_bits bits = { data->payload, 0, 8 * data->size };
    info->number = tsr_bits_take(&bits, 32);
    const int64_t length = tsr_bits_take(&bits, 16), count = tsr_bits_take(&bits, 16);
    if (!count) {
        i->fragments = read_transform(i, data, &bits);
        i->number = info->number;
        if (i->fragments) take_transform(&i->transform, info);
        return;
    }
    const int64_t x = tsr_bits_take(&bits, 16), y = tsr_bits_take(&bits, 16);
    if (!i->fragments || i->number != info->number) {
        problem(i, "a fragment of picture %u, whose beginning is missing", info->number);
        return;
    }
    take_transform(&i->transform, info);
    info->fragment[0] = y * i->transform.slices_x + x;
    info->fragment[1] = count;
    if (x >= i->transform.slices_x || info->fragment[0] + count > (int64_t)i->transform.slices_x * i->transform.slices_y) {
        problem(i, "%lld slices from %lld, %lld, expected them within %d x %d", (long long)count, (long long)x, (long long)y, i->transform.slices_x,
                i->transform.slices_y);
        return;
    }
    if (8 * length != bits.end - bits.at)
        problem(i, "a fragment of %lld bytes says that it has %lld", (long long)(bits.end - bits.at) / 8, (long long)length);
    count_slices(i, &bits, info->fragment[0], count, info);
}

/* ---- units --------------------------------------------------------------------------------------------------------------------------------- */

static void read_picture(tsr_dirac_inspector *i, const tsr_dirac_data *data, tsr_dirac_unit_info *info)
{
    const int32_t code = data->unit.code;
    const int fragment = code == TSR_DIRAC_HIGH_QUALITY_FRAGMENT || (code == TSR_DIRAC_LOW_DELAY_FRAGMENT && i->sequence.major_version >= 3);
    info->is_picture = 1;
    if (!i->has_sequence) problem(i, "a picture before any sequence header");
    else if (data->size < 8) problem(i, "a picture of %lld bytes", (long long)data->size);
    else if (fragment) read_fragment(i, data, info);
    else if ((code & 0x88) == 0x88) read_slices(i, data, info);
    else read_core(i, data, info);
}

tsr_status tsr_dirac_inspector_next(tsr_dirac_inspector *i, tsr_dirac_unit_info *info, int *more)
{
    tsr_dirac_data data;
    if (!i || !info || !more) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !i ? "inspector" : !info ? "info" : "more");
    const size_t size = info->struct_size;
    if (size < sizeof(size_t)) TSR_FAIL(TSR_ERROR_ARGUMENT, "struct_size of the info is %zu, expected TSR_DIRAC_UNIT_INFO", size);
    tsr_dirac_stream_next(&i->stream, &data, more);
    i->problem[0] = 0;
    if (!*more) return TSR_OK;
    tsr_dirac_unit_info own = TSR_DIRAC_UNIT_INFO;
    own.offset = data.offset;
    own.bytes = data.size + TSR_DIRAC_HEADER;
    own.code = data.unit.code;
    own.name = tsr_dirac_code_name(own.code);
    own.quantiser_least = own.quantiser_most = -1;
    memset(own.band_quantiser, 0xff, sizeof own.band_quantiser);
    if (data.skipped) problem(i, "%lld bytes before it that belong to no data unit", (long long)data.skipped);
    if (data.lost) problem(i, "its length does not lead to another data unit");
    if (own.code == TSR_DIRAC_SEQUENCE_HEADER) read_header(i, &data);
    char text[256];
    if (i->has_sequence && tsr_dirac_level_order(&i->sequence, own.code, &i->units, text, sizeof text)) problem(i, "%s", text);
    if (own.code & 8) read_picture(i, &data, &own);
    own.problem = i->problem[0] ? i->problem : NULL;
    return TSR_STRUCT_GIVE(info, &own);
}
