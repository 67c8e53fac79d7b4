/* wavelet/codec.c: a brick of samples to its streams and back. */
#include "wavelet/codec.h"

#include <math.h>
#include <stdlib.h>

#include "io/tsr.h"
#include "wavelet/fast.h"
#include "wavelet/predict.h"

static const float REST = 112; /* 256ths: where magnitudes lie on average between the known bits and the next value */

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

tsr_status tsr_codec_create(const tsr_tsc *t, int32_t reduce, int weights, tsr_codec *c)
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
        TSR_TRY_GOTO(list_bands(c->plan[shape], levels, b.reduced, weights, &c->bands[shape]), fail);
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
    tsr_wavelet_info info;
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

static tsr_status encode_predicted(const tsr_brick *b, const int32_t *samples, tsr_planes_stream *stream)
{
    TSR_TRY(TSR_ISA_SELECT(tsr_predict_encode)(samples, b->size, &stream->bytes, &stream->size));
    stream->passes = 1;
    stream->pass[0].bytes = (uint32_t)stream->size;
    return TSR_OK;
}

/* Are 16 bits enough for the transform of these samples, and for a sum of two of its values? */
static int is_narrow(const tsr_tsc *t, const tsr_brick *b, const int32_t *samples)
{
    const int32_t levels = levels_of(t, b->size), bits = levels ? tsr_wavelet_safe_bits(TSR_WAVELET_JPEG53, levels, 3, -1) - 2 : 14;
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

tsr_status tsr_brick_encode(const tsr_codec *c, const tsr_brick *b, void *samples, tsr_planes_stream *stream)
{
    const tsr_tsc *t = c->t;
    const tsr_wavelet_plan *plan = c->plan[b->shape];
    tsr_status status = TSR_OK;
    if (t->coder == TSR_COMPRESS_PREDICT) return encode_predicted(b, (const int32_t *)samples, &stream[0]);
    const int blocks = t->coder == TSR_COMPRESS_FAST, rans = t->coder == TSR_COMPRESS_RANS;
    const int narrow = (blocks || rans) && is_narrow(t, b, (const int32_t *)samples);
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
        if (rans && r) TSR_TRY_GOTO(tsr_rans_encode(bands, count, narrow, c->counts ? NULL : &t->model, c->counts, &stream[r]), done);
        else if (blocks || rans) {
            TSR_TRY_GOTO(TSR_ISA_SELECT(tsr_fast_encode)(bands, count, &stream[r]), done);
            TSR_TRY_GOTO(rans ? wrap_even(&stream[r], &bands[0], narrow) : wrap_fast(&stream[r], narrow), done);
        } else TSR_TRY_GOTO(TSR_ISA_SELECT(tsr_planes_encode)(bands, count, &stream[r]), done);
    }
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

/* Narrow samples become voxels without a detour where the map allows it; *voxels is then NULL. */
static tsr_status decode_fast(const tsr_codec *c, const tsr_brick *b, const tsr_brick_stream *stream, void *samples, void **voxels)
{
    const tsr_tsc *t = c->t;
    const int rans = t->coder == TSR_COMPRESS_RANS;
    tsr_fast_source source[TSR_TSC_STREAMS];
    const int32_t levels = tsr_max64(levels_of(t, b->size) - c->reduce, 0), absent = t->levels - levels_of(t, b->size);
    uint8_t *plain[TSR_TSC_STREAMS] = { NULL };
    int narrow = 1, width = 0;
    tsr_status status = TSR_OK;
    void *work = NULL;
    for (int32_t r = 0; r <= levels; r++) {
        const tsr_brick_stream *from = &stream[r ? r + absent : 0];
        TSR_TRY_GOTO(rans ? unwrap_rans(from, r, &source[r]) : unwrap_fast(from, b->count, &source[r], &plain[r]), done);
        if (rans && from->bytes && width && from->bytes[FAST_WIDTH] != width)
            TSR_FAIL_GOTO(TSR_ERROR_FORMAT, done, "streams say coefficients of %d and of %d bytes, expected one of them", width, from->bytes[FAST_WIDTH]);
        if (from->bytes) width = from->bytes[FAST_WIDTH];
        narrow &= width != 4;
    }
    if (!(work = malloc(rans ? tsr_rans_work(b->reduced_count, narrow) : tsr_fast_work(b->reduced_count, narrow)))) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "decompression: out of memory for a brick");
    const void *result = rans ? TSR_ISA_SELECT(tsr_rans_decode)(source, levels, b->reduced, narrow, c->lookup, work)
                              : TSR_ISA_SELECT(tsr_fast_decode)(source, levels, b->reduced, narrow, work);
    const int direct = narrow && t->map == TSR_TSC_INTEGER && t->dtype <= TSR_I16 && t->base >= -32768 && t->base <= 65535;
    if (direct) TSR_ISA_SELECT(tsr_fast_store)((const int16_t *)result, b->reduced_count, (int32_t)t->base, t->dtype, *voxels);
    else if (narrow) TSR_ISA_SELECT(tsr_fast_widen)((const int16_t *)result, b->reduced_count, (int32_t *)samples);
    else memcpy(samples, result, (size_t)b->reduced_count * 4);
    if (direct) *voxels = NULL;
done:
    for (int32_t r = 0; r <= levels; r++) free(plain[r]);
    free(work);
    return status;
}

static tsr_status decode_samples(const tsr_codec *c, const tsr_brick *b, const tsr_brick_stream *stream, void *samples)
{
    const tsr_tsc *t = c->t;
    const tsr_wavelet_plan *plan = c->plan[b->shape];
    tsr_status status = TSR_OK;
    if (t->coder == TSR_COMPRESS_PREDICT) {
        if (stream[0].bytes) return TSR_ISA_SELECT(tsr_predict_decode)(stream[0].bytes, stream[0].size, b->size, (int32_t *)samples);
        memset(samples, 0, (size_t)b->count * 4);
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
            TSR_TRY_GOTO(TSR_ISA_SELECT(tsr_planes_decode)(stream[r].bytes, stream[r].size, stream[r].passes, (int32_t)REST, bands, count), done);
    }
    if (t->map == TSR_TSC_REAL) expand(t, coefficients, b->reduced_count);
    if (plan) TSR_TRY_GOTO(transform(plan, 1, coefficients, samples), done);
    if (t->map == TSR_TSC_REAL && c->reduce) lower_gain(c, b, (float *)samples);
done:
    if (coefficients != samples) free(coefficients);
    return status;
}

tsr_status tsr_brick_decode(const tsr_codec *c, const tsr_brick *b, const tsr_brick_stream *stream, void *samples, void *voxels)
{
    void *left = voxels;
    if (c->t->coder == TSR_COMPRESS_FAST || c->t->coder == TSR_COMPRESS_RANS) TSR_TRY(decode_fast(c, b, stream, samples, &left));
    else TSR_TRY(decode_samples(c, b, stream, samples));
    if (left) tsr_map_inverse(c->t, b, samples, voxels);
    const tsr_brick_stream *exceptions = &stream[c->t->resolutions];
    if (c->t->exceptions && exceptions->bytes) TSR_TRY(tsr_map_exceptions(c->t, c->reduce, b, exceptions->bytes, exceptions->size, voxels));
    return TSR_OK;
}
