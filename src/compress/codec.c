/* compress/codec.c: a brick of samples to its streams and back. */
#include "compress/codec.h"

#include <math.h>
#include <stdlib.h>

#include "io/little_endian.h"
#include "io/packing.h"
#include "compress/fast_planes.h"
#include "compress/predict_bricks.h"
#include "compress/raw_bricks.h"

static int32_t levels_of(const tsr_tsc *t, const int32_t size[3])
{
    const int64_t n[3] = { size[0], size[1], size[2] };
    const int32_t possible = tsr_wavelet_levels_possible(3, n, 0);
    return possible < t->levels ? possible : t->levels;
}

static int32_t reduce_extent(int32_t n, int32_t reduce) { return (n + (1 << reduce) - 1) >> reduce; }

tsr_brick tsr_codec_brick(const tsr_codec *c, int64_t index)
{
    const tsr_tsc *t = c->t;
    const int64_t at[3] = { index % t->bricks[0], index / t->bricks[0] % t->bricks[1], index / t->bricks[0] / t->bricks[1] };
    tsr_brick b = { .count = 1, .reduced_count = 1 };
    for (int a = 0; a < 3; a++) {
        b.origin[a] = at[a] * t->edge[a];
        b.size[a] = (int32_t)tsr_min64(t->edge[a], t->size[a] - b.origin[a]);
        b.reduced[a] = reduce_extent(b.size[a], c->reduce);
        b.count *= b.size[a];
        b.reduced_count *= b.reduced[a];
        b.shape |= (at[a] == t->bricks[a] - 1) << a;
    }
    return b;
}

void tsr_codec_destroy(tsr_codec *c)
{
    for (int k = 0; k < 8; k++) tsr_wavelet_plan_destroy(&c->plan[k]);
    tsr_context_destroy(&c->context);
    free(c->lookup);
    c->lookup = NULL;
}

/* The bands of a plan in the order of its coefficients. */
static tsr_status list_bands(const tsr_wavelet_plan *plan, int32_t levels, const int32_t size[3], int weights, tsr_codec_bands *list)
{
    int32_t extent[TSR_TSC_LEVELS + 1][3], number = 0;
    int64_t offset = 0;
    memcpy(extent[0], size, sizeof extent[0]);
    for (int32_t l = 0; l < levels; l++)
        for (int a = 0; a < 3; a++) extent[l + 1][a] = (extent[l][a] + 1) / 2;
    for (int32_t l = levels; l > 0; l--)
        for (uint32_t high = l == levels ? 0 : 1; high < 8; high++) {
            tsr_planes_band b = { .high = high, .weight = 1 };
            int64_t n = 1;
            int split = 1;
            for (int a = 0; a < 3; a++) {
                b.size[a] = high >> a & 1 ? extent[l - 1][a] / 2 : extent[l][a];
                split &= !(high >> a & 1) || extent[l - 1][a] > 1;
                n *= b.size[a];
            }
            if (!split) continue;
            if (weights) {
                tsr_wavelet_band band;
                TSR_TRY(tsr_wavelet_plan_band(plan, number, &band));
                b.weight = band.weight;
            }
            number++;
            if (!n) continue;
            list->level[list->count] = high ? l : 0;
            list->offset[list->count] = offset;
            list->band[list->count++] = b;
            offset += n;
        }
    return TSR_OK;
}

tsr_status tsr_codec_create(const tsr_tsc *t, int32_t reduce, int encodes, tsr_codec *c)
{
    const tsr_context_options one = { .struct_size = sizeof one, .device = "cpu", .threads = 1 }; /* bricks are parallel, a brick is not */
    tsr_status status;
    *c = (tsr_codec){ .t = t, .reduce = reduce };
    if (t->coder == TSR_COMPRESS_PREDICT) return TSR_OK;
    if (t->coder == TSR_COMPRESS_RANS && t->model.frequency[0][0]) { /* to decode: an encoder has no model yet */
        c->lookup = (tsr_rans_lookup *)malloc(sizeof *c->lookup);
        if (!c->lookup) TSR_FAIL(TSR_ERROR_MEMORY, "decompression: out of memory for tables");
        tsr_rans_lookup_fill(&t->model, c->lookup);
    }
    for (int32_t levels = 0; encodes && t->coder != TSR_COMPRESS_PLANES && levels <= t->levels; levels++) /* their sums too */
        c->narrow_bits[levels] = levels ? tsr_wavelet_safe_bits(TSR_WAVELET_JPEG53, levels, 3, -1) - 2 : 14;
    TSR_TRY_GOTO(tsr_context_create(&one, &c->context), fail);
    for (int shape = 0; shape < 8; shape++) {
        int64_t index[3], size[3];
        int exists = 1;
        for (int a = 0; a < 3; a++) {
            index[a] = shape >> a & 1 ? t->bricks[a] - 1 : 0;
            exists &= (shape >> a & 1) || t->bricks[a] > 1;
        }
        if (!exists) continue;
        const tsr_brick b = tsr_codec_brick(c, (index[2] * t->bricks[1] + index[1]) * t->bricks[0] + index[0]);
        const int32_t levels = levels_of(t, b.size) - reduce;
        if (levels <= 0) continue; /* nothing to transform: the approximation is the result */
        for (int a = 0; a < 3; a++) size[a] = b.reduced[a];
        const int real = t->map == TSR_TSC_REAL;
        const tsr_wavelet_options o = { .struct_size = sizeof o,
                                        .filter = real ? TSR_WAVELET_DAUB97 : TSR_WAVELET_JPEG53,
                                        .levels = levels,
                                        .boundary = TSR_WAVELET_SYMMETRIC,
                                        .layout = TSR_WAVELET_SUBBANDS,
                                        .accuracy = -1,
                                        .normalise = real };
        TSR_TRY_GOTO(tsr_wavelet_plan_create(c->context, real ? TSR_F32 : TSR_I32, 3, size, &o, &c->plan[shape]), fail);
        TSR_TRY_GOTO(list_bands(c->plan[shape], levels, b.reduced, encodes && t->coder == TSR_COMPRESS_PLANES, &c->bands[shape]), fail);
    }
    return TSR_OK;
fail:
    tsr_codec_destroy(c);
    return status;
}

/* The bands of a resolution (0: the approximation) of a brick of `levels` levels; their number. The approximation of a brick with fewer levels than
 * the file stands at resolution 0 as well. */
static int32_t bands_of(const tsr_codec *c, const tsr_brick *b, int32_t resolution, int32_t *coefficients, tsr_planes_band bands[TSR_PLANES_BANDS])
{
    const int32_t level = c->t->levels - c->reduce - resolution + 1; /* 1 = finest */
    int32_t count = 0;
    if (!c->plan[b->shape]) {
        if (resolution) return 0;
        bands[0] = (tsr_planes_band){ coefficients, { b->reduced[0], b->reduced[1], b->reduced[2] }, 0, 1.0 };
        return 1;
    }
    const tsr_codec_bands *list = &c->bands[b->shape];
    for (int32_t k = 0; k < list->count; k++) {
        if (list->level[k] != (resolution ? level : 0)) continue;
        bands[count] = list->band[k];
        bands[count++].data = coefficients + list->offset[k];
    }
    return count;
}

/* A transform in memory of its own: the threads that take bricks share one context. */
static tsr_status transform(const tsr_wavelet_plan *plan, int inverse, const void *from, void *to)
{
    tsr_wavelet_info info = TSR_WAVELET_INFO;
    void *work;
    tsr_wavelet_plan_describe(plan, &info);
    TSR_TRY(tsr_host_allocate(NULL, (size_t)info.workspace_bytes, &work));
    const tsr_status status = inverse ? tsr_wavelet_inverse(plan, from, to, work) : tsr_wavelet_forward(plan, from, to, work);
    tsr_host_release(NULL, work, (size_t)info.workspace_bytes);
    TSR_TRY(status);
    return TSR_OK;
}

/* ---- there ---------------------------------------------------------------------------------------------------------------------------------------- */

static void quantise(const tsr_tsc *t, void *coefficients, int64_t count)
{
    float *real = (float *)coefficients;
    int32_t *whole = (int32_t *)coefficients;
    const float scale = (float)(1 / t->step);
    for (int64_t i = 0; i < count; i++) {
        float v = real[i] * scale;
        v = v > 2.0e9f ? 2.0e9f : v < -2.0e9f ? -2.0e9f : v;
        whole[i] = (int32_t)(v < 0 ? v - 0.5f : v + 0.5f);
    }
}

/* The brick as it is where its streams are larger; with other coders than rans, whose readers may know of it, only where that saves more than
 * hardly anything. */
static tsr_status prefer_raw(const tsr_codec *c, const tsr_brick *b, const int32_t *samples, tsr_planes_stream *stream)
{
    const int32_t levels = levels_of(c->t, b->size);
    int32_t bytes;
    int64_t coded = 0;
    for (int32_t r = 0; r < c->t->resolutions; r++) coded += (int64_t)stream[r].size;
    const int64_t raw = tsr_raw_size(samples, b->size, levels, &bytes), spare = c->t->coder == TSR_COMPRESS_RANS ? 0 : 32 + raw / 2048;
    if (raw + spare >= coded) return TSR_OK;
    for (int32_t r = 0; r < c->t->resolutions; r++) {
        free(stream[r].bytes);
        stream[r] = (tsr_planes_stream){ 0 };
    }
    TSR_TRY(tsr_raw_encode(samples, b->size, levels, c->t->levels - levels, bytes, stream));
    for (int32_t r = 0; r < c->t->resolutions; r++)
        stream[r].raw = stream[r].bytes && c->t->coder <= TSR_COMPRESS_PLANES; /* others say it themselves */
    return TSR_OK;
}

static tsr_status encode_predicted(const tsr_codec *c, const tsr_brick *b, const int32_t *samples, const tsr_poll *poll, tsr_planes_stream *stream)
{
    TSR_TRY(TSR_ISA_SELECT(tsr_predict_encode)(samples, b->size, poll, &stream->bytes, &stream->size));
    stream->passes = 1;
    stream->pass[0].bytes = (uint32_t)stream->size;
    return prefer_raw(c, b, samples, stream);
}

/* Are 16 bits enough for the transform of these samples, and for a sum of two of its values? */
static int is_narrow(const tsr_codec *c, const tsr_brick *b, const int32_t *samples)
{
    const int32_t bits = c->narrow_bits[levels_of(c->t, b->size)];
    const int64_t limit = bits > 0 ? (int64_t)1 << (bits - 1) : 0;
    int64_t largest = 0;
    for (int64_t i = 0; i < b->count; i++) largest = tsr_max64(largest, samples[i] < 0 ? -(int64_t)samples[i] : samples[i]);
    return largest <= limit;
}

enum { FAST_WIDTH = 0, FAST_CODEC = 1, FAST_PLAIN = 2, FAST_HEADER = 6, FAST_BLOCK = 32 };

/* Header and, where it is smaller, zstd round packed blocks: whole planes of them are 0. */
static tsr_status wrap_fast(tsr_planes_stream *s, int narrow)
{
    int codec = tsr_codec_known(TSR_CODEC_ZSTD) ? TSR_CODEC_ZSTD : TSR_CODEC_NONE;
    const int64_t room = tsr_pack_bound(codec, (int64_t)s->size) + (int64_t)s->size;
    uint8_t *wrapped = (uint8_t *)malloc((size_t)room + FAST_HEADER);
    if (!wrapped) TSR_FAIL(TSR_ERROR_MEMORY, "compression: out of memory for a stream");
    const int64_t packed = tsr_pack(&codec, 1, s->bytes, (int64_t)s->size, wrapped + FAST_HEADER, room);
    wrapped[FAST_WIDTH] = narrow ? 2 : 4;
    wrapped[FAST_CODEC] = (uint8_t)codec;
    tsr_put_u32(wrapped + FAST_PLAIN, (uint32_t)s->size);
    free(s->bytes);
    s->bytes = wrapped;
    s->size = (size_t)packed + FAST_HEADER;
    s->pass[0].bytes = (uint32_t)s->size;
    return TSR_OK;
}

/* Header, and a byte more where the widths are odd in number: words begin at even places. */
static tsr_status wrap_even(tsr_planes_stream *s, const tsr_planes_band *band, int narrow)
{
    const size_t widths = (size_t)tsr_ceil_div((int64_t)band->size[0] * band->size[1] * band->size[2], FAST_BLOCK), more = widths & 1;
    uint8_t *wrapped = (uint8_t *)malloc(s->size + TSR_RANS_HEADER + more);
    if (!wrapped) TSR_FAIL(TSR_ERROR_MEMORY, "compression: out of memory for a stream");
    wrapped[0] = narrow ? 2 : 4;
    wrapped[1] = 0;
    memcpy(wrapped + TSR_RANS_HEADER, s->bytes, widths);
    if (more) wrapped[TSR_RANS_HEADER + widths] = 0;
    memcpy(wrapped + TSR_RANS_HEADER + widths + more, s->bytes + widths, s->size - widths);
    free(s->bytes);
    s->bytes = wrapped;
    s->size += TSR_RANS_HEADER + more;
    s->pass[0].bytes = (uint32_t)s->size;
    return TSR_OK;
}

/* A stream by rans; the first has no states. */
static tsr_status unwrap_rans(const tsr_brick_stream *s, int32_t resolution, tsr_fast_source *source)
{
    *source = (tsr_fast_source){ 0 };
    if (!s->bytes) return TSR_OK;
    if (s->size & 1 || s->size < TSR_RANS_HEADER || (s->bytes[0] != 2 && s->bytes[0] != 4))
        TSR_FAIL(TSR_ERROR_FORMAT, "a stream of %zu bytes says coefficients of %d bytes, expected an even number and 2 or 4", s->size, s->bytes[0]);
    *source = (tsr_fast_source){ s->bytes, s->size };
    if (!resolution) *source = (tsr_fast_source){ s->bytes + TSR_RANS_HEADER, s->size - TSR_RANS_HEADER };
    return TSR_OK;
}

/* The packed blocks of a stream; *plain is malloc'd where they were packed again. */
static tsr_status unwrap_fast(const tsr_brick_stream *s, int64_t count, tsr_fast_source *source, uint8_t **plain)
{
    *source = (tsr_fast_source){ 0 };
    if (!s->bytes) return TSR_OK;
    const int width = s->size < FAST_HEADER ? 0 : s->bytes[FAST_WIDTH], codec = width ? s->bytes[FAST_CODEC] : 0;
    const uint32_t size = width ? tsr_get_u32(s->bytes + FAST_PLAIN) : 0;
    const int64_t most = (count / FAST_BLOCK + TSR_PLANES_BANDS) * (1 + 4 * 32); /* every band may end within a block; 32 planes and their number */
    if ((width != 2 && width != 4) || (int64_t)size > most)
        TSR_FAIL(TSR_ERROR_FORMAT, "a stream of %zu bytes says coefficients of %d bytes, %u in all, expected 2 or 4 and at most %lld", s->size, width,
                 size, (long long)most);
    source->bytes = s->bytes + FAST_HEADER;
    source->size = s->size - FAST_HEADER;
    if (codec == TSR_CODEC_NONE) return TSR_OK;
    if (!tsr_codec_known(codec)) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "a stream is packed by codec %d, which this build does not have", codec);
    *plain = (uint8_t *)malloc((size_t)size + 1);
    if (!*plain) TSR_FAIL(TSR_ERROR_MEMORY, "decompression: out of memory for a brick");
    if (!tsr_unpack(codec, source->bytes, (int64_t)source->size, *plain, size))
        TSR_FAIL(TSR_ERROR_FORMAT, "a stream does not unpack to %u bytes", size);
    source->bytes = *plain;
    source->size = size;
    return TSR_OK;
}

/* The last plane that matters of bands that are coded together. */
static int32_t lowest_plane(const tsr_codec *c, const tsr_planes_band *bands, int32_t count)
{
    double weight = 0;
    int32_t plane = 0;
    for (int32_t k = 0; k < count; k++) weight = fmax(weight, bands[k].weight);
    while (plane < 32 && ldexp(weight, plane) < c->least) plane++;
    return plane;
}

tsr_status tsr_brick_look(const tsr_codec *c, const tsr_brick *b, float *samples, int64_t octaves[TSR_CODEC_OCTAVES])
{
    const tsr_wavelet_plan *plan = c->plan[b->shape];
    float *coefficients = samples;
    tsr_status status = TSR_OK;
    if (plan) {
        coefficients = (float *)malloc((size_t)b->count * sizeof *coefficients);
        if (!coefficients) TSR_FAIL(TSR_ERROR_MEMORY, "compression: out of memory for the coefficients of a brick");
        TSR_TRY_GOTO(transform(plan, 0, samples, coefficients), done);
    }
    for (int32_t r = 0; r < c->t->resolutions; r++) {
        tsr_planes_band bands[TSR_PLANES_BANDS];
        const int32_t count = bands_of(c, b, r, (int32_t *)coefficients, bands);
        for (int32_t k = 0; k < count; k++) {
            const int64_t n = (int64_t)bands[k].size[0] * bands[k].size[1] * bands[k].size[2], first = bands[k].data - (int32_t *)coefficients;
            const float scale = (float)(bands[k].weight / c->t->step);
            for (int64_t i = 0; i < n; i++) {
                const float v = coefficients[first + i] * scale;
                uint32_t bits;
                memcpy(&bits, &v, sizeof bits);
                const int32_t octave = (int32_t)(bits >> 23 & 255) - 127 + TSR_CODEC_OCTAVE;
                octaves[octave < 0 ? 0 : octave < TSR_CODEC_OCTAVES ? octave : TSR_CODEC_OCTAVES - 1]++;
            }
        }
    }
done:
    if (coefficients != samples) free(coefficients);
    return status;
}

tsr_status tsr_brick_encode(const tsr_codec *c, const tsr_brick *b, void *samples, const tsr_poll *poll, tsr_planes_stream *stream)
{
    const tsr_tsc *t = c->t;
    const tsr_wavelet_plan *plan = c->plan[b->shape];
    tsr_status status = TSR_OK;
    if (t->coder == TSR_COMPRESS_PREDICT) return encode_predicted(c, b, (const int32_t *)samples, poll, stream);
    const int blocks = t->coder == TSR_COMPRESS_FAST, rans = t->coder == TSR_COMPRESS_RANS;
    const int narrow = (blocks || rans) && is_narrow(c, b, (const int32_t *)samples);
    void *coefficients = samples;
    if (plan) {
        coefficients = malloc((size_t)b->count * 4);
        if (!coefficients) TSR_FAIL(TSR_ERROR_MEMORY, "compression: out of memory for the coefficients of a brick");
        TSR_TRY_GOTO(transform(plan, 0, samples, coefficients), done);
    }
    if (t->map == TSR_TSC_REAL) quantise(t, coefficients, b->count);
    for (int32_t r = 0; r < t->resolutions; r++) {
        tsr_planes_band bands[TSR_PLANES_BANDS];
        const int32_t count = bands_of(c, b, r, (int32_t *)coefficients, bands);
        if (!count) continue;
        TSR_TRY_GOTO(tsr_poll_status(poll), done);
        if (rans && r) TSR_TRY_GOTO(tsr_rans_encode(bands, count, narrow, c->counts ? NULL : &t->model, c->counts, &stream[r]), done);
        else if (blocks || rans) {
            TSR_TRY_GOTO(TSR_ISA_SELECT(tsr_fast_encode)(bands, count, &stream[r]), done);
            TSR_TRY_GOTO(rans ? wrap_even(&stream[r], &bands[0], narrow) : wrap_fast(&stream[r], narrow), done);
        } else TSR_TRY_GOTO(TSR_ISA_SELECT(tsr_planes_encode)(bands, count, lowest_plane(c, bands, count), poll, &stream[r]), done);
    }
    if (t->map != TSR_TSC_REAL && !c->counts) TSR_TRY_GOTO(prefer_raw(c, b, (const int32_t *)samples, stream), done);
done:
    if (coefficients != samples) free(coefficients);
    return status;
}

/* ---- and back -------------------------------------------------------------------------------------------------------------------------------------- */

static void expand(const tsr_tsc *t, void *coefficients, int64_t count)
{
    float *real = (float *)coefficients;
    const int32_t *whole = (const int32_t *)coefficients;
    const float scale = (float)t->step;
    for (int64_t i = 0; i < count; i++) {
        const float v = (float)whole[i] * scale;
        real[i] = v;
    }
}

/* The low band of a normalised transform of every axis that was split grows by the root of 2 a level. */
static void lower_gain(const tsr_codec *c, const tsr_brick *b, float *samples)
{
    double gain = 1;
    for (int a = 0; a < 3; a++) {
        int32_t n = b->size[a];
        for (int32_t k = 0; k < c->reduce && n > 1; k++, n = (n + 1) / 2) gain *= sqrt(0.5);
    }
    for (int64_t i = 0; i < b->reduced_count; i++) samples[i] *= (float)gain;
}

/* Voxels to where they are wanted. */
static void place(const tsr_tsc *t, const tsr_brick *b, const tsr_brick_target *to, const void *voxels)
{
    const int64_t element = (int64_t)tsr_dtype_size(t->dtype);
    const char *from = (const char *)voxels + ((to->from[2] * b->reduced[1] + to->from[1]) * b->reduced[0] + to->from[0]) * element;
    for (int64_t z = 0; z < to->count[2]; z++)
        for (int64_t y = 0; y < to->count[1] && to->count[0] > 0; y++)
            memcpy((char *)to->voxels + (z * to->step[1] + y * to->step[0]) * element, from + (z * b->reduced[1] + y) * b->reduced[0] * element,
                   (size_t)(to->count[0] * element));
}

static tsr_status finish_brick(const tsr_codec *c, const tsr_brick *b, const tsr_brick_stream *stream, const void *samples,
                               const tsr_brick_target *to)
{
    const tsr_brick_stream *exceptions = &stream[c->t->resolutions];
    void *voxels = malloc((size_t)b->reduced_count * tsr_dtype_size(c->t->dtype));
    tsr_status status = TSR_OK;
    if (!voxels) TSR_FAIL(TSR_ERROR_MEMORY, "decompression: out of memory for a brick");
    tsr_map_inverse(c->t, b, samples, voxels);
    if (c->t->exceptions && exceptions->bytes)
        TSR_TRY_GOTO(tsr_map_exceptions(c->t, c->reduce, b, exceptions->bytes, exceptions->size, voxels), done);
    place(c->t, b, to, voxels);
done:
    free(voxels);
    return status;
}

/* The streams of a brick of coders fast and rans as they are decoded. */
typedef struct unwrapped {
    int32_t levels;
    int narrow;
    uint8_t *plain[TSR_FAST_STREAMS]; /* malloc'd where packed blocks were packed again */
} unwrapped;
static tsr_status unwrap(const tsr_codec *c, const tsr_brick *b, const tsr_brick_stream *stream, tsr_fast_brick *source, unwrapped *u)
{
    const int rans = c->t->coder == TSR_COMPRESS_RANS;
    const int32_t levels = (int32_t)tsr_max64(levels_of(c->t, b->size) - c->reduce, 0), absent = c->t->levels - levels_of(c->t, b->size);
    int width = 0;
    u->levels = levels;
    u->narrow = 1;
    for (int32_t r = 0; r <= levels; r++) {
        const tsr_brick_stream *from = &stream[r ? r + absent : 0];
        TSR_TRY(rans ? unwrap_rans(from, r, &source->stream[r]) : unwrap_fast(from, b->count, &source->stream[r], &u->plain[r]));
        if (rans && from->bytes && width && from->bytes[FAST_WIDTH] != width)
            TSR_FAIL(TSR_ERROR_FORMAT, "streams say coefficients of %d and of %d bytes, expected one of them", width, from->bytes[FAST_WIDTH]);
        if (from->bytes) width = from->bytes[FAST_WIDTH];
        u->narrow &= width != 4;
    }
    return TSR_OK;
}

/* What the streams of a raw brick say, 0 where they are not raw; TSR_ERROR_FORMAT where some are and some are not. */
static tsr_status find_raw(const tsr_codec *c, const tsr_brick *b, const tsr_brick_stream *stream, int *raw)
{
    const int32_t possible = levels_of(c->t, b->size), levels = (int32_t)tsr_max64(possible - c->reduce, 0);
    int says = -1; /* no byte says this: one of 0 beside a raw stream contradicts it as any other does */
    *raw = 0;
    for (int32_t r = 0; r <= levels; r++) {
        const tsr_brick_stream *from = &stream[r ? r + c->t->levels - possible : 0];
        if (!from->bytes || from->size < TSR_RAW_HEADER) continue;
        if (says >= 0 && says != from->bytes[0] && (tsr_raw_said(says) || tsr_raw_said(from->bytes[0])))
            TSR_FAIL(TSR_ERROR_FORMAT, "streams say samples of %d and of %d, expected one of them", says, from->bytes[0]);
        says = from->bytes[0];
        *raw = tsr_raw_said(says) ? says : 0;
    }
    return TSR_OK;
}

static tsr_status decode_raw(const tsr_codec *c, const tsr_brick *b, const tsr_brick_stream *stream, const tsr_brick_target *to)
{
    const int32_t possible = levels_of(c->t, b->size), levels = (int32_t)tsr_max64(possible - c->reduce, 0);
    int32_t *samples = (int32_t *)malloc((size_t)b->reduced_count * 4);
    if (!samples) TSR_FAIL(TSR_ERROR_MEMORY, "decompression: out of memory for a brick");
    tsr_raw_decode(stream, b->reduced, levels, c->t->levels - possible, samples);
    const tsr_status status = finish_brick(c, b, stream, samples, to);
    free(samples);
    return status;
}

/* Narrow samples become voxels without a detour where the map allows it. */
static tsr_status finish_fast(const tsr_codec *c, const tsr_brick *b, const tsr_brick_stream *stream, const void *samples, int narrow,
                              const tsr_brick_target *to)
{
    const tsr_tsc *t = c->t;
    if (!narrow) return finish_brick(c, b, stream, samples, to);
    if (t->map == TSR_TSC_INTEGER && t->dtype <= TSR_I16 && t->base >= -32768 && t->base <= 65535) {
        const int64_t step[2] = { b->reduced[0], (int64_t)b->reduced[0] * b->reduced[1] };
        TSR_ISA_SELECT(tsr_fast_store)
        ((const int16_t *)samples + to->from[2] * step[1] + to->from[1] * step[0] + to->from[0], step, to->count, (int32_t)t->base, t->dtype,
         to->voxels, to->step);
        return TSR_OK;
    }
    int32_t *wide = (int32_t *)malloc((size_t)b->reduced_count * 4);
    if (!wide) TSR_FAIL(TSR_ERROR_MEMORY, "decompression: out of memory for a brick");
    TSR_ISA_SELECT(tsr_fast_widen)((const int16_t *)samples, b->reduced_count, wide);
    const tsr_status status = finish_brick(c, b, stream, wide, to);
    free(wide);
    return status;
}

/* One brick, or two of one shape if their coefficients have the same width; *taken is set to how many are done, or to the number of the one that failed. */
static tsr_status decode_fast(const tsr_codec *c, const tsr_brick *b, int32_t count, const tsr_brick_stream (*stream)[TSR_TSC_STREAMS],
                              const tsr_brick_target *to, int32_t *taken)
{
    const int rans = c->t->coder == TSR_COMPRESS_RANS;
    tsr_fast_brick source[TSR_FAST_TOGETHER] = { { { { NULL, 0 } } } };
    unwrapped u[TSR_FAST_TOGETHER] = { { 0 } };
    const void *samples[TSR_FAST_TOGETHER] = { NULL };
    void *work = NULL;
    tsr_status status = TSR_OK;
    int raw, other = 0;
    *taken = 0;
    TSR_TRY(find_raw(c, &b[0], stream[0], &raw));
    if (raw) {
        TSR_TRY(decode_raw(c, &b[0], stream[0], to));
        *taken = 1;
        return TSR_OK;
    }
    if (count > 1 && (find_raw(c, &b[1], stream[1], &other) != TSR_OK || other)) count = 1;
    TSR_TRY_GOTO(unwrap(c, &b[0], stream[0], &source[0], &u[0]), done);
    if (count > 1 && unwrap(c, &b[1], stream[1], &source[1], &u[1]) != TSR_OK) count = 1; /* it fails when its turn comes */
    if (count > 1 && u[0].narrow != u[1].narrow) count = 1;
    work = malloc(tsr_fast_work(b->reduced_count, count, u[0].narrow, rans));
    if (!work) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "decompression: out of memory for a brick");
    TSR_ISA_SELECT(tsr_fast_decode)(source, count, u[0].levels, b->reduced, u[0].narrow, c->lookup, work, samples);
    for (; *taken < count; ++*taken) TSR_TRY_GOTO(finish_fast(c, &b[*taken], stream[*taken], samples[*taken], u[0].narrow, &to[*taken]), done);
done:
    for (int k = 0; k < TSR_FAST_TOGETHER; k++)
        for (int32_t r = 0; r < TSR_FAST_STREAMS; r++) free(u[k].plain[r]);
    free(work);
    return status;
}

/* `slices`: those that are wanted, of which predict decodes no more. */
static tsr_status decode_samples(const tsr_codec *c, const tsr_brick *b, const tsr_brick_stream *stream, int64_t slices, const tsr_poll *poll,
                                 void *samples)
{
    const tsr_tsc *t = c->t;
    const tsr_wavelet_plan *plan = c->plan[b->shape];
    tsr_status status = TSR_OK;
    if (t->coder == TSR_COMPRESS_PREDICT) {
        const int32_t size[3] = { b->size[0], b->size[1], (int32_t)slices };
        const int64_t wanted = stream[0].bytes ? (int64_t)size[0] * size[1] * size[2] : 0;
        memset((int32_t *)samples + wanted, 0, (size_t)(b->count - wanted) * 4);
        if (stream[0].bytes) return TSR_ISA_SELECT(tsr_predict_decode)(stream[0].bytes, stream[0].size, size, poll, (int32_t *)samples);
        return TSR_OK;
    }
    void *coefficients = samples;
    if (plan && !(coefficients = malloc((size_t)b->reduced_count * 4)))
        TSR_FAIL(TSR_ERROR_MEMORY, "decompression: out of memory for the coefficients of a brick");
    memset(coefficients, 0, (size_t)b->reduced_count * 4);
    for (int32_t r = 0; r < t->resolutions - c->reduce; r++) {
        tsr_planes_band bands[TSR_PLANES_BANDS];
        const int32_t count = stream[r].bytes ? bands_of(c, b, r, (int32_t *)coefficients, bands) : 0;
        if (count)
            TSR_TRY_GOTO(TSR_ISA_SELECT(tsr_planes_decode)(stream[r].bytes, stream[r].size, stream[r].passes, TSR_PLANES_REST, bands, count, poll),
                         done);
    }
    if (t->map == TSR_TSC_REAL) expand(t, coefficients, b->reduced_count);
    if (plan) TSR_TRY_GOTO(transform(plan, 1, coefficients, samples), done);
    if (t->map == TSR_TSC_REAL && c->reduce) lower_gain(c, b, (float *)samples);
done:
    if (coefficients != samples) free(coefficients);
    return status;
}

static tsr_status decode_alone(const tsr_codec *c, const tsr_brick *b, const tsr_brick_stream *stream, const tsr_poll *poll,
                               const tsr_brick_target *to)
{
    void *samples = malloc((size_t)b->reduced_count * 4);
    if (!samples) TSR_FAIL(TSR_ERROR_MEMORY, "decompression: out of memory for a brick");
    tsr_status status = decode_samples(c, b, stream, to->from[2] + to->count[2], poll, samples);
    if (status == TSR_OK) status = finish_brick(c, b, stream, samples, to);
    free(samples);
    return status;
}

/* A raw brick of a coder whose streams say it by their passes. */
static int says_raw(const tsr_codec *c, const tsr_brick_stream *stream)
{
    int raw = 0;
    for (int32_t r = 0; r < c->t->resolutions; r++) raw |= stream[r].bytes && stream[r].passes == TSR_RAW_PASSES;
    return raw;
}

static tsr_status decode_raw_said(const tsr_codec *c, const tsr_brick *b, const tsr_brick_stream *stream, const tsr_brick_target *to)
{
    for (int32_t r = 0; r < c->t->resolutions; r++)
        if (stream[r].bytes && (stream[r].passes != TSR_RAW_PASSES || stream[r].size < TSR_RAW_HEADER || !tsr_raw_said(stream[r].bytes[0])))
            TSR_FAIL(TSR_ERROR_FORMAT, "a stream of %zu bytes and %d passes in a raw brick, expected raw ones", stream[r].size, stream[r].passes);
    return decode_raw(c, b, stream, to);
}

tsr_status tsr_bricks_decode(const tsr_codec *c, const tsr_brick *b, int32_t count, const tsr_brick_stream (*stream)[TSR_TSC_STREAMS],
                             const tsr_brick_target *to, const tsr_poll *poll, int32_t *failed)
{
    const int together = c->t->coder == TSR_COMPRESS_FAST || c->t->coder == TSR_COMPRESS_RANS;
    for (int32_t k = 0; k < count;) {
        tsr_status status;
        int32_t taken = 0;
        TSR_TRY(tsr_poll_status(poll));
        if (together) status = decode_fast(c, b + k, tsr_mini(count - k, TSR_FAST_TOGETHER), stream + k, to + k, &taken);
        else {
            status = says_raw(c, stream[k]) ? decode_raw_said(c, &b[k], stream[k], &to[k]) : decode_alone(c, &b[k], stream[k], poll, &to[k]);
            taken = status == TSR_OK;
        }
        *failed = k += taken;
        TSR_TRY(status);
    }
    return TSR_OK;
}
