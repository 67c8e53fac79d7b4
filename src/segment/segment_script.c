/* segment/segment_script.c: probing, and the interactive session as a script. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "volume/volume.h"
#include "volume/voxel.h"
#include "core/script_line.h"
#include "segment/segment.h"

/* ---- probing ---------------------------------------------------------------------------------------------------------------------------- */

static void welford_add(tsr_welford *w, double v)
{
    double d = v - w->mean;
    w->count++;
    w->mean += d / (double)w->count;
    w->squares += d * (v - w->mean);
}

/* What the values of one probe are added to, or taken from (sign -1: the counts alone). */
struct sink {
    tsr_welford w;
    int64_t *counts;
    int sign;
};

static void take(const tsr_segmentation *s, struct sink *to, double v)
{
    const double range = s->maximum - s->minimum, at = range > 0 ? (v - s->minimum) / range * TSR_PROBE_BINS : 0;
    to->counts[(int)fmin(fmax(at, 0), TSR_PROBE_BINS - 1)] += to->sign;
    if (to->sign > 0) welford_add(&to->w, v);
}

static void probe_read(const tsr_segmentation *s, tsr_probe *probe)
{
    const tsr_welford *w = &s->strokes[s->stroke_count];
    double floor = (s->maximum - s->minimum) / 1024, deviation = w->count > 1 ? sqrt(w->squares / (double)(w->count - 1)) : 0;
    *probe = (tsr_probe){ w->count, w->mean, deviation > floor ? deviation : floor };
}

/* Real values of n voxels of a row, from wherever the image lives. */
static tsr_status read_row(const tsr_segmentation *s, int64_t x, int64_t y, int64_t z, int64_t n, char *buffer, double *values)
{
    const tsr_volume *v = s->image;
    size_t size = tsr_dtype_size(v->dtype);
    int64_t at = (z * v->size.y + y) * v->size.x + x;
    TSR_TRY(tsr_device_move(NULL, buffer, v->context, (const char *)v->data + (size_t)at * size, (size_t)n * size));
    for (int64_t i = 0; i < n; i++) values[i] = tsr_voxel_load(buffer, v->dtype, i) * v->slope + v->intercept;
    return TSR_OK;
}

static tsr_status probe_point(const tsr_segmentation *s, tsr_vec3 p, struct sink *to)
{
    tsr_size3 n = s->image->size;
    double x = fmin(fmax(p.x, 0), (double)(n.x - 1)), y = fmin(fmax(p.y, 0), (double)(n.y - 1)), z = fmin(fmax(p.z, 0), (double)(n.z - 1)), sum = 0;
    int64_t x0 = (int64_t)fmin(floor(x), (double)(n.x - 2)), y0 = (int64_t)fmin(floor(y), (double)(n.y - 2)),
            z0 = (int64_t)fmin(floor(z), (double)(n.z - 2));
    for (int c = 0; c < 4; c++) {
        char buffer[16];
        double row[2] = { 0 }, fy = y - (double)y0, fz = z - (double)z0, weight = (c & 1 ? fy : 1 - fy) * (c & 2 ? fz : 1 - fz);
        TSR_TRY(read_row(s, x0, y0 + (c & 1), z0 + (c >> 1), 2, buffer, row));
        sum += weight * (row[0] * (1 - (x - (double)x0)) + row[1] * (x - (double)x0));
    }
    take(s, to, sum);
    return TSR_OK;
}

static tsr_status probe_ball(const tsr_segmentation *s, tsr_vec3 p, double radius, struct sink *to)
{
    tsr_size3 n = s->image->size;
    int64_t low[3], high[3];
    const double centre[3] = { p.x, p.y, p.z }, h[3] = { s->spacing.x, s->spacing.y, s->spacing.z };
    const int64_t extent[3] = { n.x, n.y, n.z };
    for (int k = 0; k < 3; k++) {
        low[k] = (int64_t)fmax(ceil(centre[k] - radius / h[k]), 0);
        high[k] = (int64_t)fmin(floor(centre[k] + radius / h[k]), (double)(extent[k] - 1));
        if (high[k] < low[k]) return TSR_OK;
    }
    int64_t width = high[0] - low[0] + 1;
    double *values = (double *)malloc((size_t)width * 2 * sizeof(double));
    if (!values) TSR_FAIL(TSR_ERROR_MEMORY, "segmentation: out of memory for a probe of %lld voxels", (long long)width);
    tsr_status status = TSR_OK;
    for (int64_t z = low[2]; z <= high[2] && status == TSR_OK; z++)
        for (int64_t y = low[1]; y <= high[1] && status == TSR_OK; y++) {
            status = read_row(s, low[0], y, z, width, (char *)(values + width), values);
            for (int64_t i = 0; i < width && status == TSR_OK; i++) {
                double dx = ((double)(low[0] + i) - p.x) * h[0], dy = ((double)y - p.y) * h[1], dz = ((double)z - p.z) * h[2];
                if (dx * dx + dy * dy + dz * dz <= radius * radius) take(s, to, values[i]);
            }
        }
    free(values);
    return status;
}

static tsr_status probe_place(const tsr_segmentation *s, const tsr_probe_place *p, struct sink *to)
{
    return p->radius > 0 ? probe_ball(s, p->at, p->radius, to) : probe_point(s, p->at, to);
}

/* Statistics become parameters. */
static tsr_status use_probe(tsr_segmentation *s, tsr_probe *probe)
{
    tsr_probe now;
    probe_read(s, &now);
    double floor = (s->maximum - s->minimum) / 1024, times = s->options.probe_deviations > 0 ? s->options.probe_deviations : 2;
    double epsilon = now.deviation > floor ? fmax(times * now.deviation, floor) : floor;
    if (now.count > 0) {
        TSR_TRY(tsr_segment_option_set(&s->options, "target", now.mean));
        if (epsilon > 0) TSR_TRY(tsr_segment_option_set(&s->options, "epsilon", epsilon));
        s->speed_valid = s->plan_valid = 0;
    }
    if (probe) *probe = now;
    return TSR_OK;
}

/* For one stroke more. */
static tsr_status make_stroke_room(tsr_segmentation *s)
{
    if (s->stroke_count < s->stroke_room) return TSR_OK;
    const size_t room = (size_t)s->stroke_room * 2 + 16;
    tsr_welford *strokes = (tsr_welford *)realloc(s->strokes, (room + 1) * sizeof *strokes);
    if (strokes) s->strokes = strokes;
    tsr_probe_place *probed = strokes ? (tsr_probe_place *)realloc(s->probed, room * sizeof *probed) : NULL;
    if (!probed) TSR_FAIL(TSR_ERROR_MEMORY, "segmentation: out of memory for a probe");
    s->probed = probed;
    s->stroke_room = (int32_t)room;
    return TSR_OK;
}

tsr_status tsr_segmentation_probe(tsr_segmentation *segmentation, tsr_vec3 p, double radius, tsr_probe *probe)
{
    TSR_NEEDS(segmentation);
    tsr_size3 n = segmentation->image->size;
    if (!(radius >= 0 && radius < 1e9)) TSR_FAIL(TSR_ERROR_ARGUMENT, "radius of a probe is %g, expected 0 or more and less than 1e9", radius);
    int inside = p.x >= -0.5 && p.y >= -0.5 && p.z >= -0.5 && p.x <= (double)n.x - 0.5 && p.y <= (double)n.y - 0.5 && p.z <= (double)n.z - 0.5;
    if (inside) {
        TSR_TRY(make_stroke_room(segmentation));
        segmentation->probed[segmentation->stroke_count] = (tsr_probe_place){ p, radius };
        int64_t counts[TSR_PROBE_BINS];
        struct sink to = { segmentation->strokes[segmentation->stroke_count], counts, 1 };
        memcpy(counts, segmentation->probe_counts, sizeof counts); /* they change when all of it could be read */
        TSR_TRY(probe_place(segmentation, &segmentation->probed[segmentation->stroke_count], &to));
        memcpy(segmentation->probe_counts, counts, sizeof counts);
        segmentation->strokes[++segmentation->stroke_count] = to.w;
        TSR_TRY(tsr_segment_log(segmentation, "probe %.17g %.17g %.17g %.17g", p.x, p.y, p.z, radius));
    }
    return use_probe(segmentation, probe);
}

tsr_status tsr_segmentation_probe_undo(tsr_segmentation *segmentation, tsr_probe *probe)
{
    TSR_NEEDS(segmentation);
    if (segmentation->stroke_count == 0) TSR_FAIL(TSR_ERROR_STATE, "segmentation: there is no probe to take back");
    int64_t counts[TSR_PROBE_BINS];
    struct sink to = { .counts = counts, .sign = -1 };
    memcpy(counts, segmentation->probe_counts, sizeof counts);
    TSR_TRY(
        probe_place(segmentation, &segmentation->probed[segmentation->stroke_count - 1], &to)); /* the same voxels again: the image does not change */
    memcpy(segmentation->probe_counts, counts, sizeof counts);
    segmentation->stroke_count--;
    TSR_TRY(tsr_segment_log(segmentation, "probe-undo"));
    return use_probe(segmentation, probe);
}

void tsr_segmentation_probe_reset(tsr_segmentation *s)
{
    if (!s) return;
    s->stroke_count = 0;
    s->strokes[0] = (tsr_welford){ 0 };
    memset(s->probe_counts, 0, sizeof s->probe_counts);
    tsr_status ignored = tsr_segment_log(s, "probe-reset");
    (void)ignored;
}

const int64_t *tsr_segmentation_probe_counts(const tsr_segmentation *s) { return s->probe_counts; }

/* ---- scripts ------------------------------------------------------------------------------------------------------------------------------ */

enum { WORDS = 9, LINE_BYTES = 512 };

static tsr_status need_numbers(const tsr_script_line *line, int least, int most, const char *form)
{
    int given = line->words - 1;
    if (given < least || given > most) TSR_FAIL(TSR_ERROR_FORMAT, "'%s' has %d arguments, expected: %s", line->word[0], given, form);
    for (int i = 1; i < line->words; i++)
        if (isnan(line->number[i])) TSR_FAIL(TSR_ERROR_FORMAT, "'%.40s' is not a number, expected: %s", line->word[i], form);
    return TSR_OK;
}

static tsr_status run_line(tsr_segmentation *s, const tsr_script_line *line, const tsr_progress *progress, tsr_segment_report *report, int *stop)
{
    const char *verb = line->word[0];
    const double *n = line->number;
    tsr_vec3 at = { n[1], n[2], n[3] };
    if (!strcmp(verb, "sphere") || !strcmp(verb, "paint") || !strcmp(verb, "erase")) {
        int erase = verb[0] == 'e';
        TSR_TRY(need_numbers(line, 4, 7, "X Y Z R, or X Y Z R X2 Y2 Z2 for a stroke"));
        if (line->words != 5 && line->words != 8) TSR_FAIL(TSR_ERROR_FORMAT, "'%s' has %d arguments, expected 4 or 7", verb, line->words - 1);
        return tsr_segmentation_stroke(s, at, line->words == 8 ? (tsr_vec3){ n[5], n[6], n[7] } : at, n[4], erase);
    }
    if (!strcmp(verb, "probe")) {
        TSR_TRY(need_numbers(line, 3, 4, "probe X Y Z [R]"));
        return tsr_segmentation_probe(s, at, line->words == 5 ? n[4] : 0, NULL);
    }
    if (!strcmp(verb, "set")) {
        if (line->words != 3 || isnan(n[2])) TSR_FAIL(TSR_ERROR_FORMAT, "expected: set NAME VALUE");
        return tsr_segment_set(s, line->word[1], n[2]);
    }
    if (!strcmp(verb, "step")) {
        TSR_TRY(need_numbers(line, 1, 1, "step N"));
        if (n[1] < 0 || n[1] > 1e12 || n[1] != floor(n[1])) TSR_FAIL(TSR_ERROR_FORMAT, "'step %s': expected a whole number of steps", line->word[1]);
        return tsr_segmentation_step(s, (int64_t)n[1], progress, report);
    }
    static const char *const bare[] = { "run", "probe-undo", "probe-reset", "snapshot", "undo", "redo", "stop" };
    size_t which = 0;
    while (which < sizeof bare / sizeof *bare && strcmp(verb, bare[which])) which++;
    if (which == sizeof bare / sizeof *bare)
        TSR_FAIL(TSR_ERROR_FORMAT,
                 "'%.40s' is no command; expected sphere, paint, erase, probe, probe-undo, probe-reset, set, step, run, snapshot, undo, redo or stop",
                 verb);
    TSR_TRY(need_numbers(line, 0, 0, "no arguments"));
    switch (which) {
    case 0: return tsr_segmentation_run(s, progress, report);
    case 1: return tsr_segmentation_probe_undo(s, NULL);
    case 2: tsr_segmentation_probe_reset(s); break;
    case 3: return tsr_segmentation_snapshot(s);
    case 4: return tsr_segmentation_undo(s);
    case 5: return tsr_segmentation_redo(s);
    default: *stop = 1;
    }
    return TSR_OK;
}

tsr_status tsr_segmentation_script(tsr_segmentation *segmentation, const char *text, const char *name, const tsr_progress *progress,
                                   tsr_segment_report *report)
{
    TSR_NEEDS(segmentation);
    tsr_segment_report own = TSR_SEGMENT_REPORT;
    const char *const begin = text;
    const double bytes = (double)strlen(text);
    int stop = 0, number = 0;
    TSR_TRY(TSR_STRUCT_GIVE(report, &own));
    while (*text && !stop) {
        TSR_PROGRESS(progress, (double)(text - begin) / bytes, "script"); /* lines without steps take their time too, copies above all */
        size_t length = strcspn(text, "\n");
        tsr_script_line line;
        number++;
        tsr_status status = tsr_script_line_split(text, length, WORDS, LINE_BYTES, &line);
        if (status == TSR_OK && line.words > 0) status = run_line(segmentation, &line, progress, report ? report : &own, &stop);
        if (status != TSR_OK) TSR_FAIL(status, "%s:%d: %s", name ? name : "script", number, tsr_error_message());
        text += length + (text[length] == '\n');
    }
    return TSR_OK;
}
