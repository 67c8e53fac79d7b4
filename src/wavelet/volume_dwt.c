/* wavelet/volume_dwt.c: transforms of volumes; what made the coefficients stands in their metadata. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/filter.h"
#include "wavelet/volume_dwt.h"
#include "core/number.h"

enum { STEPS_TEXT = 4096 };

static int is_real(tsr_dtype t) { return t == TSR_F32 || t == TSR_F64; }

/* ---- metadata ------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status write_number(tsr_volume *v, const char *key, long long number)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", number);
    return tsr_volume_set_meta(v, key, text);
}

tsr_status tsr_dwt_write_meta(tsr_volume *v, const tsr_wavelet_plan *p, uint32_t axes, tsr_dtype origin)
{
    TSR_TRY(tsr_volume_set_meta(v, "wavelet.filter", tsr_wavelet_filter_name(p->filter)));
    TSR_TRY(tsr_volume_set_meta(v, "wavelet.boundary", tsr_wavelet_boundary_name(p->boundary)));
    TSR_TRY(tsr_volume_set_meta(v, "wavelet.layout", tsr_wavelet_layout_name(p->layout)));
    TSR_TRY(tsr_volume_set_meta(v, "wavelet.dtype", tsr_dtype_name(origin)));
    TSR_TRY(write_number(v, "wavelet.levels", p->levels));
    TSR_TRY(write_number(v, "wavelet.axes", axes));
    TSR_TRY(write_number(v, "wavelet.accuracy", p->shift));
    TSR_TRY(write_number(v, "wavelet.normalise", p->scale != 1.0));
    if (p->filter == TSR_WAVELET_CUSTOM || p->filter == TSR_WAVELET_ADAPTIVE53) { /* the steps as they are, thresholds among them */
        char text[STEPS_TEXT];
        tsr_wavelet_steps_print(p->steps, p->step_count, text, sizeof text);
        TSR_TRY(tsr_volume_set_meta(v, "wavelet.steps", text));
        tsr_print(text, sizeof text, "%.17g", p->scale);
        TSR_TRY(tsr_volume_set_meta(v, "wavelet.scale", text));
    }
    return TSR_OK;
}

static tsr_status read_text(const tsr_volume *v, const char *key, const char **text)
{
    *text = tsr_volume_meta(v, key);
    if (!*text) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: no metadata '%s': expected coefficients that tsr_volume_dwt made", key);
    return TSR_OK;
}

static tsr_status read_number(const tsr_volume *v, const char *key, int32_t most, int32_t *number)
{
    const char *text;
    char *end;
    TSR_TRY(read_text(v, key, &text));
    long n = strtol(text, &end, 10);
    if (end == text || *end || n < 0 || n > most)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: metadata %s is '%.40s', expected a number from 0 to %d", key, text, most);
    *number = (int32_t)n;
    return TSR_OK;
}

static tsr_status read_choice(const tsr_volume *v, const char *key, int count, const char *(*name)(int), int32_t *choice)
{
    const char *text;
    TSR_TRY(read_text(v, key, &text));
    for (*choice = 0; *choice < count; ++*choice)
        if (!strcmp(text, name(*choice))) return TSR_OK;
    TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: metadata %s is '%.40s', which is not known", key, text);
}
static const char *filter_name(int n) { return tsr_wavelet_filter_name((tsr_wavelet_filter)n); }
static const char *boundary_name(int n) { return tsr_wavelet_boundary_name((tsr_wavelet_boundary)n); }
static const char *layout_name(int n) { return tsr_wavelet_layout_name((tsr_wavelet_layout)n); }

tsr_status tsr_dwt_read_meta(const tsr_volume *v, tsr_wavelet_options *o, tsr_wavelet_step steps[TSR_WAVELET_STEPS], tsr_dtype *origin)
{
    int32_t filter, boundary, layout, axes;
    const char *type;
    *o = (tsr_wavelet_options)TSR_WAVELET_OPTIONS;
    TSR_TRY(read_choice(v, "wavelet.filter", TSR_WAVELET_FILTERS, filter_name, &filter));
    TSR_TRY(read_choice(v, "wavelet.boundary", TSR_WAVELET_BOUNDARIES, boundary_name, &boundary));
    TSR_TRY(read_choice(v, "wavelet.layout", TSR_WAVELET_SUBBANDS, layout_name, &layout));
    TSR_TRY(read_number(v, "wavelet.levels", TSR_WAVELET_LEVELS, &o->levels));
    TSR_TRY(read_number(v, "wavelet.axes", 7, &axes));
    TSR_TRY(read_number(v, "wavelet.accuracy", 4, &o->accuracy));
    TSR_TRY(read_number(v, "wavelet.normalise", 1, &o->normalise));
    TSR_TRY(read_text(v, "wavelet.dtype", &type));
    TSR_TRY(tsr_dtype_parse(type, origin));
    o->filter = (tsr_wavelet_filter)filter;
    o->boundary = (tsr_wavelet_boundary)boundary;
    o->layout = (tsr_wavelet_layout)layout;
    o->axes = (uint32_t)axes;
    if (!o->accuracy) o->accuracy = -1; /* bits that were used, not a default */
    if (o->filter == TSR_WAVELET_CUSTOM || o->filter == TSR_WAVELET_ADAPTIVE53) {
        const char *text;
        char *end;
        TSR_TRY(read_text(v, "wavelet.scale", &text));
        o->scale = tsr_number_parse(text, &end);
        if (end == text || *end || !(o->scale > 0 && o->scale < 1e30))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: metadata wavelet.scale is '%.40s', expected a number over 0", text);
        TSR_TRY(read_text(v, "wavelet.steps", &text));
        TSR_TRY(tsr_wavelet_steps_parse(text, steps, &o->step_count));
        o->filter = TSR_WAVELET_CUSTOM;
        o->steps = steps;
    }
    return TSR_OK;
}

tsr_status tsr_dwt_clear_meta(tsr_volume *v)
{
    static const char *const keys[] = { "filter",   "boundary",  "layout", "dtype", "levels", "axes",
                                        "accuracy", "normalise", "steps",  "scale", "size",   "wrapped" };
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        char key[32];
        snprintf(key, sizeof key, "wavelet.%s", keys[k]);
        TSR_TRY(tsr_volume_set_meta(v, key, NULL));
    }
    return TSR_OK;
}

/* ---- element types ---------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_dwt_retype(tsr_context *context, const tsr_volume *v, tsr_dtype dtype, tsr_volume **copy)
{
    tsr_volume as_stored = *v; /* the header alone: the same voxels with slope 1 */
    as_stored.slope = 1;
    as_stored.intercept = 0;
    TSR_TRY(tsr_volume_convert(context, &as_stored, dtype, copy));
    (*copy)->slope = v->slope;
    (*copy)->intercept = v->intercept;
    return TSR_OK;
}

int tsr_dwt_needs_range(tsr_dtype from, tsr_dtype dtype) { return !(is_real(from) && (dtype == TSR_DTYPE_COUNT || is_real(dtype))); }

tsr_status tsr_dwt_choose_type(tsr_dtype from, tsr_size3 extents, double minimum, double maximum, tsr_wavelet_options *o, tsr_dtype *dtype)
{
    if (!tsr_dwt_needs_range(from, *dtype)) {
        if (*dtype == TSR_DTYPE_COUNT) *dtype = from;
        return TSR_OK;
    }
    int32_t bits = 1, dimensions = 0;
    double largest = fmax(fabs(minimum), fabs(maximum));
    while (bits < 60 && ldexp(1, bits - 1) < largest) bits++;
    const int64_t size[3] = { extents.x, extents.y, extents.z };
    for (int a = 0; a < 3; a++) dimensions += size[a] > 1 && (!o->axes || o->axes >> a & 1);
    int32_t possible = tsr_wavelet_levels_possible(3, size, o->axes), levels = o->levels ? o->levels : possible < 3 ? possible : 3;
    const int32_t safe = dimensions && levels ? tsr_wavelet_safe_bits(o->filter, levels, dimensions, o->accuracy) : 16;
    if (*dtype == TSR_DTYPE_COUNT) *dtype = bits <= safe && maximum <= 32767 ? TSR_I16 : TSR_I32;
    if (*dtype == TSR_I32 && bits > safe + 16 && o->accuracy >= 0) {
        if (o->accuracy > 0)
            TSR_FAIL(TSR_ERROR_ARGUMENT,
                     "wavelet: accuracy is %d with voxels of %d bits, expected no accuracy bits: at most %d bits have room for them", o->accuracy,
                     bits, safe + 16);
        o->accuracy = -1;
    }
    if (*dtype == TSR_I16 || *dtype == TSR_I32) {
        double most = *dtype == TSR_I16 ? 32767.0 : 2147483647.0;
        if (is_real(from))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: %s voxels as %s, expected f32 or f64", tsr_dtype_name(from), tsr_dtype_name(*dtype));
        if (maximum > most || minimum < -most - 1)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: voxels from %.0f to %.0f do not fit into %s", minimum, maximum, tsr_dtype_name(*dtype));
    }
    return TSR_OK;
}

static tsr_status choose_type(tsr_context *context, const tsr_volume *v, tsr_wavelet_options *o, tsr_dtype *dtype)
{
    tsr_statistics s = TSR_STATISTICS;
    tsr_volume as_stored = *v;
    as_stored.slope = 1;
    as_stored.intercept = 0;
    if (tsr_dwt_needs_range(v->dtype, *dtype)) TSR_TRY(tsr_volume_statistics(context, &as_stored, &s));
    TSR_TRY(tsr_dwt_choose_type(v->dtype, v->size, s.minimum, s.maximum, o, dtype));
    return TSR_OK;
}

uint32_t tsr_dwt_axes(const tsr_volume *volume, const tsr_wavelet_options *o) { return !o->axes && tsr_volume_channels(volume) ? 3 : o->axes; }

tsr_status tsr_dwt_take_options(const tsr_wavelet_options *options, tsr_wavelet_options *o)
{
    TSR_TRY(tsr_options_take(o, sizeof *o, options));
    if (o->inplace || o->batch > 1 || o->sample_stride || o->coefficient_stride || o->sample_batch || o->coefficient_batch ||
        o->layout == TSR_WAVELET_SUBBANDS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: strides, batch, inplace or layout subbands for a volume, expected none of them");
    return TSR_OK;
}

/* ---- padding ------------------------------------------------------------------------------------------------------------------------------------ */

/* Takes `pad` out of the options; size: the extents to be transformed. */
static tsr_status take_pad(const tsr_volume *v, tsr_wavelet_options *o, int64_t size[3])
{
    const int64_t has[3] = { v->size.x, v->size.y, v->size.z };
    const int32_t possible = tsr_wavelet_levels_possible(3, has, o->axes);
    memcpy(size, has, sizeof has);
    if (o->pad == TSR_WAVELET_PAD_NONE) return TSR_OK;
    if (o->pad != TSR_WAVELET_PAD_DIRAC) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: pad is %d, expected none or dirac", (int)o->pad);
    o->pad = TSR_WAVELET_PAD_NONE;
    if (!o->levels) o->levels = possible < 3 ? possible : 3;
    if (o->levels < 0 || o->levels > possible)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: levels is %d, expected 0 to %d, which %lld x %lld x %lld allow: pad adds samples, not levels",
                 o->levels, possible, (long long)has[0], (long long)has[1], (long long)has[2]);
    tsr_dwt_padded_size(has, o->axes ? o->axes : 7, o->levels, size);
    return TSR_OK;
}

static tsr_status write_size(tsr_volume *v, tsr_size3 size)
{
    char text[80];
    snprintf(text, sizeof text, "%lld %lld %lld", (long long)size.x, (long long)size.y, (long long)size.z);
    return tsr_volume_set_meta(v, "wavelet.size", text);
}

/* Extents before padding; *padded: there was some. */
static tsr_status read_size(const tsr_volume *v, const tsr_wavelet_options *o, int64_t size[3], int *padded)
{
    const int64_t has[3] = { v->size.x, v->size.y, v->size.z };
    const char *text = tsr_volume_meta(v, "wavelet.size");
    long long n[3];
    int64_t expected[3];
    int used = 0;
    *padded = text != NULL;
    if (!text) return TSR_OK;
    int good = sscanf(text, "%18lld %18lld %18lld%n", &n[0], &n[1], &n[2], &used) == 3 && !text[used];
    for (int a = 0; a < 3 && good; a++) {
        size[a] = n[a];
        good = n[a] > 0 && n[a] <= has[a];
    }
    if (good) tsr_dwt_padded_size(size, o->axes, o->levels, expected);
    if (!good || memcmp(expected, has, sizeof has))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: metadata wavelet.size is '%.60s', expected extents that %d levels pad to %lld %lld %lld", text,
                 o->levels, (long long)has[0], (long long)has[1], (long long)has[2]);
    return TSR_OK;
}

/* ---- what a transform would do without a word
 * -------------------------------------------------------------------------------------------------------- */

/* NaN and infinities would take all coefficients within reach of the filter with them, and all voxels on the way back. */
static tsr_status require_finite(tsr_context *context, const tsr_volume *v, const char *name)
{
    if (is_real(v->dtype)) TSR_TRY(tsr_volume_check_finite(context, v, name));
    return TSR_OK;
}

/* Coefficients of int32 beyond 32 bits wrap: the way back undoes it, but as numbers they are wrong. Looked for only where the range of the voxels
 * allows it: the same transform in f64 has them right. */
static tsr_status say_wrapped(tsr_context *context, const tsr_volume *samples, const tsr_wavelet_options *o, const tsr_wavelet_plan *plan,
                              tsr_volume *c)
{
    tsr_statistics range = TSR_STATISTICS, found = TSR_STATISTICS;
    tsr_volume *real = NULL, *exact = NULL;
    tsr_wavelet_plan *same = NULL;
    tsr_status status;
    int32_t dimensions = 0, bits = 1;
    tsr_volume as_stored = *samples;
    as_stored.slope = 1;
    as_stored.intercept = 0;
    if (samples->dtype != TSR_I32 || !plan->levels) return TSR_OK;
    TSR_TRY(tsr_volume_statistics(context, &as_stored, &range));
    while (ldexp(1, bits - 1) < fmax(fabs(range.minimum), fabs(range.maximum))) bits++;
    for (int a = 0; a < 3; a++) dimensions += (int32_t)(plan->stage[0].axes >> a & 1);
    if (o->filter != TSR_WAVELET_CUSTOM && bits <= 16 + tsr_wavelet_safe_bits(o->filter, plan->levels, dimensions, plan->shift ? plan->shift : -1))
        return TSR_OK;
    tsr_wavelet_options without = *o;
    without.accuracy = -1;
    TSR_TRY_GOTO(tsr_wavelet_plan_create(context, TSR_F64, 3, plan->size, &without, &same), done);
    TSR_TRY_GOTO(tsr_volume_convert(context, &as_stored, TSR_F64, &real), done);
    TSR_TRY_GOTO(tsr_volume_create_like(context, real, TSR_F64, real->size, &real->geometry, &exact), done);
    TSR_TRY_GOTO(tsr_wavelet_forward(same, real->data, exact->data, NULL), done);
    TSR_TRY_GOTO(tsr_volume_statistics(context, exact, &found), done);
    /* Without accuracy bits; those of the coarsest level are the most. Steps that round leave the last few open. */
    const double most = ldexp(fmax(fabs(found.minimum), fabs(found.maximum)), plan->shift * plan->levels);
    if (most > 0x1p31 - 64) TSR_TRY_GOTO(tsr_volume_set_meta(c, "wavelet.wrapped", "1"), done);
done:
    tsr_volume_destroy(&exact);
    tsr_volume_destroy(&real);
    tsr_wavelet_plan_destroy(&same);
    return status;
}

/* ---- transforms ---------------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_volume_dwt(tsr_context *context, const tsr_volume *volume, const tsr_wavelet_options *options, tsr_dtype dtype,
                          tsr_volume **coefficients)
{
    TSR_RETURNS(coefficients);
    TSR_NEEDS(volume);
    tsr_wavelet_options o;
    tsr_status status;
    tsr_volume *samples = NULL, *padded = NULL;
    const tsr_volume *from = volume;
    tsr_wavelet_plan *plan = NULL;
    int64_t size[3];
    TSR_TRY(tsr_volume_require(context, volume, "volume"));
    TSR_TRY(tsr_dwt_take_options(options, &o));
    TSR_TRY(require_finite(context, volume, "wavelet"));
    o.axes = tsr_dwt_axes(volume, &o);
    TSR_TRY(take_pad(volume, &o, size));
    TSR_TRY(choose_type(context, volume, &o, &dtype));
    TSR_TRY_GOTO(tsr_wavelet_plan_create(context, dtype, 3, size, &o, &plan), done);
    if (volume->dtype != dtype) TSR_TRY_GOTO(tsr_dwt_retype(context, volume, dtype, &samples), done);
    if (samples) from = samples;
    if (size[0] != volume->size.x || size[1] != volume->size.y || size[2] != volume->size.z) {
        TSR_TRY_GOTO(tsr_dwt_resize(context, from, size, &padded), done);
        from = padded;
    }
    TSR_TRY_GOTO(tsr_volume_create_like(context, volume, dtype, from->size, &volume->geometry, coefficients), done);
    (*coefficients)->slope = volume->slope;
    (*coefficients)->intercept = volume->intercept;
    TSR_TRY_GOTO(tsr_wavelet_forward(plan, from->data, (*coefficients)->data, NULL), done);
    TSR_TRY_GOTO(tsr_dwt_write_meta(*coefficients, plan, o.axes ? o.axes : 7, volume->dtype), done);
    TSR_TRY_GOTO(say_wrapped(context, from, &o, plan, *coefficients), done);
    if (padded) TSR_TRY_GOTO(write_size(*coefficients, volume->size), done);
done:
    if (status != TSR_OK) tsr_volume_destroy(coefficients);
    tsr_volume_destroy(&padded);
    tsr_volume_destroy(&samples);
    tsr_wavelet_plan_destroy(&plan);
    return status;
}

tsr_status tsr_volume_idwt(tsr_context *context, const tsr_volume *coefficients, tsr_volume **volume)
{
    TSR_RETURNS(volume);
    TSR_NEEDS(context, coefficients);
    tsr_wavelet_options o;
    tsr_wavelet_step steps[TSR_WAVELET_STEPS];
    tsr_dtype origin;
    tsr_status status;
    tsr_volume *samples = NULL;
    tsr_wavelet_plan *plan = NULL;
    int64_t before[3];
    int padded;
    TSR_TRY(tsr_volume_require(context, coefficients, "coefficients"));
    TSR_TRY(tsr_dwt_read_meta(coefficients, &o, steps, &origin));
    TSR_TRY(require_finite(context, coefficients, "wavelet"));
    TSR_TRY(read_size(coefficients, &o, before, &padded));
    const int64_t size[3] = { coefficients->size.x, coefficients->size.y, coefficients->size.z };
    TSR_TRY_GOTO(tsr_wavelet_plan_create(context, coefficients->dtype, 3, size, &o, &plan), done);
    TSR_TRY_GOTO(tsr_volume_create_like(context, coefficients, coefficients->dtype, coefficients->size, &coefficients->geometry, &samples), done);
    samples->slope = coefficients->slope;
    samples->intercept = coefficients->intercept;
    TSR_TRY_GOTO(tsr_wavelet_inverse(plan, coefficients->data, samples->data, NULL), done);
    TSR_TRY_GOTO(tsr_dwt_clear_meta(samples), done);
    if (padded) {
        tsr_volume *cut;
        TSR_TRY_GOTO(tsr_dwt_resize(context, samples, before, &cut), done);
        tsr_volume_destroy(&samples);
        samples = cut;
    }
    if (origin == samples->dtype) {
        *volume = samples;
        samples = NULL;
    } else TSR_TRY_GOTO(tsr_dwt_retype(context, samples, origin, volume), done);
done:
    tsr_volume_destroy(&samples);
    tsr_wavelet_plan_destroy(&plan);
    return status;
}

/* ---- statistics ------------------------------------------------------------------------------------------------------------------------------------ */

/* A band, packed, as a volume of its own; its zeros are counted on the way. */
static tsr_status take_band(const tsr_volume *v, const tsr_wavelet_band *band, tsr_volume **packed, int64_t *zeros)
{
    const size_t element = tsr_dtype_size(v->dtype);
    const char nothing[8] = { 0 };
    TSR_TRY(tsr_volume_create(NULL, v->dtype, (tsr_size3){ band->size[0], band->size[1], band->size[2] }, NULL, packed));
    char *to = (char *)(*packed)->data;
    for (int64_t z = 0; z < band->size[2]; z++)
        for (int64_t y = 0; y < band->size[1]; y++)
            for (int64_t x = 0; x < band->size[0]; x++, to += element) {
                const int64_t at = band->offset + x * band->stride[0] + y * band->stride[1] + z * band->stride[2];
                memcpy(to, (const char *)v->data + at * (int64_t)element, element);
                *zeros += !memcmp(to, nothing, element);
            }
    return TSR_OK;
}

static tsr_status band_statistics(tsr_context *context, const tsr_volume *v, tsr_wavelet_statistics *s)
{
    tsr_volume *packed;
    tsr_statistics found = TSR_STATISTICS;
    s->count = s->band.size[0] * s->band.size[1] * s->band.size[2];
    s->minimum = s->maximum = s->mean = (double)NAN;
    if (!s->count) return TSR_OK;
    TSR_TRY(take_band(v, &s->band, &packed, &s->zeros));
    const tsr_status status = tsr_volume_statistics(context, packed, &found);
    tsr_volume_destroy(&packed);
    TSR_TRY(status);
    s->minimum = found.minimum;
    s->maximum = found.maximum;
    s->mean = found.mean;
    s->variance = found.variance;
    if (found.count)
        s->energy = (found.variance * (double)(found.count - 1) + found.mean * found.mean * (double)found.count) * s->band.weight * s->band.weight;
    return TSR_OK;
}

tsr_status tsr_wavelet_volume_statistics(const tsr_volume *v, tsr_wavelet_statistics *bands, int32_t most, int32_t *count)
{
    TSR_NEEDS(count);
    tsr_context_options on_cpu = TSR_CONTEXT_OPTIONS;
    tsr_context *context = NULL;
    tsr_wavelet_plan *plan = NULL;
    tsr_wavelet_options o;
    tsr_wavelet_step steps[TSR_WAVELET_STEPS];
    tsr_wavelet_info info = TSR_WAVELET_INFO;
    tsr_dtype origin;
    tsr_status status;
    *count = 0;
    if (!v || !bands || (v->context && v->context->device.kind != TSR_DEVICE_CPU))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: statistics of no host volume");
    TSR_TRY(tsr_dwt_read_meta(v, &o, steps, &origin));
    on_cpu.device = "cpu";
    const int64_t size[3] = { v->size.x, v->size.y, v->size.z };
    TSR_TRY(tsr_context_create(&on_cpu, &context));
    TSR_TRY_GOTO(tsr_wavelet_plan_create(context, v->dtype, 3, size, &o, &plan), done);
    tsr_wavelet_plan_describe(plan, &info);
    if (info.bands > most) TSR_FAIL_GOTO(TSR_ERROR_CAPACITY, done, "wavelet: %d bands, there is room for %d", info.bands, most);
    for (int32_t k = 0; k < info.bands; k++) {
        bands[k] = (tsr_wavelet_statistics){ .count = 0 };
        TSR_TRY_GOTO(tsr_wavelet_plan_band(plan, k, &bands[k].band), done);
        TSR_TRY_GOTO(band_statistics(context, v, &bands[k]), done);
    }
    *count = info.bands;
done:
    tsr_wavelet_plan_destroy(&plan);
    tsr_context_destroy(&context);
    return status;
}

/* ---- picture ------------------------------------------------------------------------------------------------------------------------------------------ */

/* Range [begin, end) of part `high` of an axis of n samples at `level`, 1 = finest. */
static void part_of(int64_t n, int transformed, int32_t level, int high, int64_t *begin, int64_t *end)
{
    int64_t before = n;
    for (int32_t l = 1; l < level && transformed; l++) before = (before + 1) / 2;
    int64_t half = transformed ? (before + 1) / 2 : before;
    *begin = high ? half : 0;
    *end = high ? before : half;
}

static void paint(const tsr_volume *v, int64_t z, const int64_t from[2], const int64_t to[2], int approximation, tsr_image *image)
{
    double lower = HUGE_VAL, upper = -HUGE_VAL;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t y = from[1]; y < to[1]; y++)
            for (int64_t x = from[0]; x < to[0]; x++) {
                double c = tsr_voxel_load(v->data, v->dtype, (z * v->size.y + y) * v->size.x + x);
                if (!isfinite(c)) c = 0;
                if (!pass) {
                    lower = fmin(lower, approximation ? c : -fabs(c));
                    upper = fmax(upper, approximation ? c : fabs(c));
                } else {
                    double t = upper > lower ? (c - lower) / (upper - lower) : 0.5;
                    image->pixels[y * image->width + x] = (uint8_t)(255 * t + 0.5);
                }
            }
}

tsr_status tsr_wavelet_mosaic(const tsr_volume *v, int64_t z, tsr_image *image)
{
    TSR_NEEDS(image);
    tsr_wavelet_options o;
    tsr_wavelet_step steps[TSR_WAVELET_STEPS];
    tsr_dtype origin;
    memset(image, 0, sizeof *image);
    if (!v || (v->context && v->context->device.kind != TSR_DEVICE_CPU)) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: mosaic of no host volume");
    TSR_TRY(tsr_dwt_read_meta(v, &o, steps, &origin));
    if (o.layout != TSR_WAVELET_MALLAT)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: mosaic of layout %s, expected mallat", tsr_wavelet_layout_name(o.layout));
    if (z < 0 || z >= v->size.z)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: mosaic of slice %lld, expected 0 to %lld", (long long)z, (long long)v->size.z - 1);
    if (v->size.x > INT32_MAX || v->size.y > INT32_MAX) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: mosaic wider or higher than 2^31");
    TSR_TRY(tsr_image_create((int32_t)v->size.x, (int32_t)v->size.y, 1, image));
    const int64_t size[3] = { v->size.x, v->size.y, v->size.z };
    for (int32_t level = o.levels; level >= 1; level--)
        for (uint32_t bits = 0; bits < 8; bits++) {
            int64_t from[3], to[3];
            if (bits & ~o.axes || (!bits && level < o.levels)) continue;
            for (int a = 0; a < 3; a++) part_of(size[a], (int)(o.axes >> a & 1), level, (int)(bits >> a & 1), &from[a], &to[a]);
            if (z >= from[2] && z < to[2]) paint(v, z, from, to, !bits, image);
        }
    return TSR_OK;
}
