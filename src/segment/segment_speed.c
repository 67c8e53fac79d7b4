/* segment/segment_speed.c: from the options of a segmentation to the numbers of its equation. */
#include <math.h>
#include <string.h>

#include "volume/volume.h"
#include "segment/segment.h"
#include "tessera/tiles.h"

/* ---- options that may change ------------------------------------------------------------------------------------------------------------------ */

enum field_type { REAL, COUNT64, COUNT32 };
/* When the head of a log names it. Rules that end a run, and what is kept of it, a replay needs no more. */
enum field_said { SAID, SAID_UNLESS_ZERO, SAID_IF_CHANGED };
static const struct field {
    const char *name;
    size_t offset;
    enum field_type type;
    enum field_said said;
} fields[] = {
#define FIELD(name, type, said)                                \
    {                                                          \
#name, offsetof(tsr_segment_options, name), type, said \
    }
    FIELD(target, REAL, SAID),
    FIELD(epsilon, REAL, SAID_UNLESS_ZERO), /* before data_weight, which needs it and is 0 where this is */
    FIELD(alpha, REAL, SAID),
    FIELD(data_weight, REAL, SAID),
    FIELD(data_floor, REAL, SAID),
    FIELD(curvature_limit, REAL, SAID),
    FIELD(rescale_weight, REAL, SAID),
    FIELD(gradient, REAL, SAID),
    FIELD(time_step, REAL, SAID),
    FIELD(cfl, REAL, SAID),
    FIELD(force, COUNT32, SAID),
    FIELD(normalise, COUNT32, SAID),
    FIELD(rescale, COUNT32, SAID),
    FIELD(scheme, COUNT32, SAID),
    FIELD(curvature_half, COUNT32, SAID),
    FIELD(godunov, COUNT32, SAID),
    FIELD(exact, COUNT32, SAID),
    FIELD(probe_deviations, REAL, SAID),
    FIELD(smoothing, REAL, SAID),
    FIELD(max_steps, COUNT64, SAID_IF_CHANGED),
    FIELD(change_tolerance, REAL, SAID_IF_CHANGED),
    FIELD(volume_tolerance, REAL, SAID_IF_CHANGED),
    FIELD(volume_steps, COUNT32, SAID_IF_CHANGED),
    FIELD(age, COUNT32, SAID_IF_CHANGED),
    FIELD(time_limit, REAL, SAID_IF_CHANGED),
    FIELD(snapshots, COUNT32, SAID_IF_CHANGED),
#undef FIELD
};

static tsr_status find_field(const char *name, const struct field **field)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (!strcmp(fields[i].name, name)) {
            *field = &fields[i];
            return TSR_OK;
        }
    TSR_FAIL(TSR_ERROR_ARGUMENT,
             "segmentation: there is no parameter '%.40s'; expected target, epsilon, alpha, data_weight, data_floor, curvature_limit, "
             "rescale_weight, gradient, time_step, cfl, force, normalise, rescale, scheme, curvature_half, godunov, exact, max_steps, "
             "change_tolerance, volume_tolerance, volume_steps, age, time_limit, probe_deviations, smoothing or snapshots",
             name);
}

tsr_status tsr_segment_option_set(tsr_segment_options *options, const char *name, double value)
{
    const struct field *field = NULL;
    TSR_TRY(find_field(name, &field));
    if (!isfinite(value)) TSR_FAIL(TSR_ERROR_ARGUMENT, "segmentation: %s is %g, expected a finite number", name, value);
    tsr_segment_options changed = *options;
    char *at = (char *)&changed + field->offset;
    if (field->type != REAL && (value < 0 || value > 1e9 || value != floor(value)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "segmentation: %s is %g, expected a whole number from 0 to 1e9", name, value);
    if (field->type == REAL) memcpy(at, &value, sizeof value);
    else if (field->type == COUNT64) memcpy(at, &(int64_t){ (int64_t)value }, sizeof(int64_t));
    else memcpy(at, &(int32_t){ (int32_t)value }, sizeof(int32_t));
    TSR_TRY(tsr_segment_check_options(&changed));
    *options = changed;
    return TSR_OK;
}

static double value_of(const tsr_segment_options *options, const struct field *field)
{
    const char *at = (const char *)options + field->offset;
    double value;
    int64_t wide;
    int32_t narrow;
    if (field->type == REAL) {
        memcpy(&value, at, sizeof value);
        return value;
    }
    if (field->type == COUNT64) {
        memcpy(&wide, at, sizeof wide);
        return (double)wide;
    }
    memcpy(&narrow, at, sizeof narrow);
    return narrow;
}

int tsr_segment_option_at(const tsr_segment_options *options, size_t i, const char **name, double *value)
{
    const tsr_segment_options defaults = TSR_SEGMENT_OPTIONS;
    if (i >= sizeof fields / sizeof *fields) return 0;
    *name = fields[i].name;
    *value = value_of(options, &fields[i]);
    if (fields[i].said == SAID_IF_CHANGED && *value == value_of(&defaults, &fields[i])) *name = NULL;
    if (fields[i].said == SAID_UNLESS_ZERO && *value == 0) *name = NULL;
    return 1;
}

static int same_term(const tsr_term *a, const tsr_term *b)
{
    int same = a->kind == b->kind && a->weight == b->weight && a->value == b->value && a->lower == b->lower && a->upper == b->upper &&
               a->sigma == b->sigma && a->volume == b->volume && a->channels == b->channels;
    for (int i = 0; i < TSR_TERM_CHANNELS; i++) {
        same &= a->channel[i] == b->channel[i] && a->mean[i] == b->mean[i];
        for (int k = 0; k < TSR_TERM_CHANNELS; k++) same &= a->covariance[i][k] == b->covariance[i][k];
    }
    return same;
}

/* The name of an option that differs though it is settled when the segmentation is created; NULL: none. */
static const char *settled(const tsr_segment_options *a, const tsr_segment_options *b)
{
    if (a->window[0] != b->window[0] || a->window[1] != b->window[1]) return "window";
    if (a->band != b->band) return "band";
    if (a->term_count != b->term_count) return "term_count";
    for (int i = 0; i < a->term_count; i++)
        if (!same_term(&a->terms[i], &b->terms[i])) return "terms";
    if (a->tile_edge != b->tile_edge) return "tile_edge";
    if (a->tile_index != b->tile_index) return "tile_index";
    if (a->tile_capacity != b->tile_capacity) return "tile_capacity";
    if (a->memory_limit != b->memory_limit) return "memory_limit";
    if (a->key_bits != b->key_bits) return "key_bits";
    return a->snapshot_limit != b->snapshot_limit ? "snapshot_limit" : NULL;
}

tsr_status tsr_segment_option_changes(const tsr_segment_options *from, const tsr_segment_options *to, tsr_option_change *changes, int *count)
{
    enum { FIELDS = sizeof fields / sizeof *fields };
    _Static_assert((int)FIELDS <= (int)TSR_OPTION_CHANGES, "room for a change of each");
    const char *fixed = settled(from, to);
    if (fixed)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "segmentation: %s is another than at its creation, and cannot change; create another segmentation", fixed);
    TSR_TRY(tsr_segment_check_options(to));
    *count = 0;
    for (int i = 0; i < FIELDS; i++)
        if (value_of(from, &fields[i]) != value_of(to, &fields[i]))
            changes[(*count)++] = (tsr_option_change){ fields[i].name, value_of(to, &fields[i]) };
    /* epsilon may be 0 only while data_weight is: that one goes first */
    if (to->epsilon == 0 && from->epsilon != 0)
        for (int i = 0; i + 1 < *count; i++)
            if (!strcmp(changes[i].name, "epsilon")) {
                const tsr_option_change last = changes[i];
                memmove(&changes[i], &changes[i + 1], (size_t)(*count - i - 1) * sizeof *changes);
                changes[*count - 1] = last;
                break;
            }
    return TSR_OK;
}

/* ---- checks ---------------------------------------------------------------------------------------------------------------------------- */

static tsr_status check_range(const char *name, double value, double lower, double upper)
{
    if (value >= lower && value <= upper) return TSR_OK;
    if (upper == HUGE_VAL) TSR_FAIL(TSR_ERROR_ARGUMENT, "segmentation: %s is %g, expected a finite number from %g up", name, value, lower);
    TSR_FAIL(TSR_ERROR_ARGUMENT, "segmentation: %s is %g, expected %g to %g", name, value, lower, upper);
}

tsr_status tsr_segment_check_options(const tsr_segment_options *o)
{
    const double most = 1e30;
    TSR_TRY(check_range("alpha", o->alpha, 0, 1));
    TSR_TRY(check_range("data_weight", o->data_weight, -most, most));
    if (o->data_weight != 0) {
        TSR_TRY(check_range("target", o->target, -most, most));
        if (!(o->epsilon > 0 && o->epsilon <= most))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "segmentation: epsilon is %g, expected a positive number", o->epsilon);
    }
    TSR_TRY(check_range("data_floor", o->data_floor, 0, most));
    TSR_TRY(check_range("curvature_limit", o->curvature_limit, 0, most));
    TSR_TRY(check_range("rescale_weight", o->rescale_weight, 0, 1e3));
    TSR_TRY(check_range("gradient", o->gradient, 0, 1e3));
    if (o->band != 0) TSR_TRY(check_range("band", o->band, 1, 100));
    TSR_TRY(check_range("time_step", o->time_step, 0, most));
    if (o->cfl != 0) TSR_TRY(check_range("cfl", o->cfl, 1e-6, 0.9));
    TSR_TRY(check_range("smoothing", o->smoothing, 0, 1e6));
    TSR_TRY(check_range("change_tolerance", o->change_tolerance, 0, most));
    TSR_TRY(check_range("volume_tolerance", o->volume_tolerance, 0, most));
    TSR_TRY(check_range("time_limit", o->time_limit, 0, most));
    TSR_TRY(check_range("probe_deviations", o->probe_deviations, 0, 1e6));
    TSR_TRY(check_range("max_steps", (double)o->max_steps, 0, 1e15));
    TSR_TRY(check_range("volume_steps", o->volume_steps, 0, 1e9));
    TSR_TRY(check_range("age", o->age, 0, 1e9));
    if (o->snapshot_limit != 0) TSR_TRY(check_range("snapshot_limit", o->snapshot_limit, 1, 1e9));
    TSR_TRY(check_range("snapshots", o->snapshots, o->snapshot_limit > 0, o->snapshot_limit > 0 ? o->snapshot_limit : 1e9));
    TSR_TRY(check_range("normalise", o->normalise, 0, TSR_NORMALISE_NONE));
    TSR_TRY(check_range("rescale", o->rescale, 0, TSR_RESCALING_NONE));
    TSR_TRY(check_range("scheme", o->scheme, 0, TSR_SCHEME_SOURCE));
    TSR_TRY(check_range("term_count", o->term_count, 0, TSR_TERMS));
    if (!isfinite(o->window[0]) || !isfinite(o->window[1]) || o->window[1] < o->window[0])
        TSR_FAIL(TSR_ERROR_ARGUMENT, "segmentation: window is %g to %g, expected finite numbers in increasing order", o->window[0], o->window[1]);
    return TSR_OK;
}

/* ---- speed ------------------------------------------------------------------------------------------------------------------------------ */

static void bind_volume(tsr_speed_term *term, int channel, const tsr_volume *volume, double scale, double offset)
{
    term->data[channel] = volume->data;
    term->dtype[channel] = volume->dtype;
    term->scale[channel] = (float)(volume->slope * scale);
    term->offset[channel] = (float)(volume->intercept * scale + offset);
}

static tsr_status check_volume(const tsr_segmentation *s, const tsr_volume *volume, int index)
{
    TSR_TRY(tsr_volume_require(s->context, volume, "volume of a speed term"));
    tsr_size3 a = volume->size, b = s->image->size;
    if (a.x != b.x || a.y != b.y || a.z != b.z)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "segmentation: speed term %d has a volume of %lld x %lld x %lld voxels, the image has %lld x %lld x %lld", index,
                 (long long)a.x, (long long)a.y, (long long)a.z, (long long)b.x, (long long)b.y, (long long)b.z);
    return TSR_OK;
}

/* Inverse of a small symmetric positive matrix by Gauss-Jordan elimination. */
static tsr_status invert(int n, double covariance[TSR_TERM_CHANNELS][TSR_TERM_CHANNELS], double inverse[TSR_TERM_CHANNELS][TSR_TERM_CHANNELS])
{
    double m[TSR_TERM_CHANNELS][2 * TSR_TERM_CHANNELS] = { { 0 } };
    for (int i = 0; i < n; i++) {
        memcpy(m[i], covariance[i], (size_t)n * sizeof(double));
        m[i][n + i] = 1;
    }
    for (int c = 0; c < n; c++) {
        int pivot = c;
        for (int r = c + 1; r < n; r++)
            if (fabs(m[r][c]) > fabs(m[pivot][c])) pivot = r;
        if (!(fabs(m[pivot][c]) > 1e-300)) TSR_FAIL(TSR_ERROR_ARGUMENT, "segmentation: the covariance matrix of a speed term is singular");
        for (int k = 0; k < 2 * n; k++) {
            double t = m[c][k];
            m[c][k] = m[pivot][k];
            m[pivot][k] = t;
        }
        double scale = 1 / m[c][c];
        for (int k = 0; k < 2 * n; k++) m[c][k] *= scale;
        for (int r = 0; r < n; r++) {
            double f = r == c ? 0 : m[r][c];
            for (int k = 0; k < 2 * n; k++) m[r][k] -= f * m[c][k];
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) inverse[i][j] = m[i][n + j];
    return TSR_OK;
}

/* Grey values I to scale * I + offset. */
static void normalisation(const tsr_segmentation *s, double *scale, double *offset)
{
    const tsr_segment_options *o = &s->options;
    double low = o->window[0], high = o->window[1];
    if (low == 0 && high == 0) {
        low = s->minimum;
        high = s->maximum;
    }
    *scale = 1;
    *offset = 0;
    if (o->normalise == TSR_NORMALISE_EPSILON) *scale = 1 / o->epsilon;
    if (o->normalise == TSR_NORMALISE_RANGE && high > low) {
        *scale = 1 / (high - low);
        *offset = -low / (high - low);
    }
}

static tsr_status make_term(const tsr_segmentation *s, int index, tsr_speed_term *term)
{
    const tsr_segment_options *o = &s->options;
    tsr_term from = o->terms[index];
    double inverse[TSR_TERM_CHANNELS][TSR_TERM_CHANNELS];
    term->weight = (float)(o->alpha * from.weight);
    term->a = (float)from.value;
    switch (from.kind) {
    case TSR_TERM_CONSTANT: term->kind = TSR_SPEED_CONSTANT; return TSR_OK;
    case TSR_TERM_EDGE: /* computed when the segmentation was made */
        term->kind = TSR_SPEED_VOLUME;
        term->weight = -term->weight;
        bind_volume(term, 0, s->edges[index], 1, 0);
        return TSR_OK;
    case TSR_TERM_VOLUME:
        term->kind = TSR_SPEED_VOLUME;
        TSR_TRY(check_volume(s, from.volume, index));
        bind_volume(term, 0, from.volume, 1, 0);
        return TSR_OK;
    case TSR_TERM_INTERVAL:
        term->kind = TSR_SPEED_INTERVAL;
        if (from.volume) TSR_TRY(check_volume(s, from.volume, index));
        bind_volume(term, 0, from.volume ? from.volume : s->smoothed ? s->smoothed : s->image, 1, 0);
        term->b = (float)from.lower;
        term->c = (float)from.upper;
        return TSR_OK;
    case TSR_TERM_VECTOR:
        term->kind = TSR_SPEED_VECTOR;
        if (from.channels < 1 || from.channels > TSR_TERM_CHANNELS)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "segmentation: speed term %d has %d channels, expected 1 to %d", index, from.channels, TSR_TERM_CHANNELS);
        term->channels = from.channels;
        TSR_TRY(invert(from.channels, from.covariance, inverse));
        for (int i = 0; i < from.channels; i++) {
            TSR_TRY(check_volume(s, from.channel[i], index));
            bind_volume(term, i, from.channel[i], 1, 0);
            term->mean[i] = (float)from.mean[i];
            for (int j = 0; j < from.channels; j++) term->precision[i][j] = (float)inverse[i][j];
        }
        return TSR_OK;
    }
    TSR_FAIL(TSR_ERROR_ARGUMENT, "segmentation: speed term %d is of kind %d, expected TSR_TERM_CONSTANT to TSR_TERM_VECTOR", index, (int)from.kind);
}

tsr_status tsr_segment_make_speed(const tsr_segmentation *s, tsr_speed *speed)
{
    const tsr_segment_options *o = &s->options;
    memset(speed, 0, sizeof *speed);
    tsr_size3 size = s->image->size;
    speed->size[0] = (int32_t)size.x;
    speed->size[1] = (int32_t)size.y;
    speed->size[2] = (int32_t)size.z;
    if (o->data_weight != 0) {
        tsr_speed_term *tent = &speed->term[speed->count++];
        double scale, offset;
        normalisation(s, &scale, &offset);
        tent->kind = TSR_SPEED_TENT;
        tent->weight = (float)(o->alpha * o->data_weight);
        tent->a = (float)(o->epsilon * scale);
        tent->b = (float)(o->target * scale + offset);
        tent->c = o->data_floor > 0 ? (float)o->data_floor : 3e38f;
        bind_volume(tent, 0, s->smoothed ? s->smoothed : s->image, scale, offset);
    }
    for (int i = 0; i < o->term_count; i++) TSR_TRY(make_term(s, i, &speed->term[speed->count++]));
    return TSR_OK;
}

void tsr_segment_make_params(const tsr_segmentation *s, tsr_segment_params *p)
{
    const tsr_segment_options *o = &s->options;
    const tsr_vec3 h = tsr_band_spacing(s->spacing, s->image->size);
    *p = (tsr_segment_params){
        .inverse_spacing = { (float)(1 / h.x), (float)(1 / h.y), (float)(1 / h.z) },
        .spacing = (float)s->smallest_spacing,
        .band = s->tiles->pool.band,
        .curvature = (float)((1 - o->alpha) * (o->curvature_half ? 0.5 : 1)),
        .curvature_limit = (float)((o->curvature_limit > 0 ? o->curvature_limit : 2) / s->smallest_spacing),
        .rescale = (float)o->rescale_weight,
        .gradient = (float)(o->gradient > 0 ? o->gradient : 1),
        .fixed_step = (float)o->time_step,
        .cfl = (float)(o->cfl > 0 ? o->cfl : 0.5),
        .rescale_mode = o->rescale_weight > 0 ? (int32_t)o->rescale : (int32_t)TSR_RESCALE_NONE,
        .lumped = o->scheme == TSR_SCHEME_SOURCE,
        .godunov = o->godunov != 0,
        .exact = o->exact != 0,
    };
}
