/* flow/tubes.c: tubes around lines. */
#include <math.h>

#include "flow/streamlines.h"
#include "mesh/mesh.h"
#include "tessera/primitives.h"

/* Twelve stops of a map from dark violet through blue-green to yellow, even in lightness; in between linear. */
void tsr_stream_color(double position, uint8_t rgb[3])
{
    if (!rgb) return;
    static const uint8_t stops[9][3] = { { 72, 30, 120 },  { 66, 68, 150 },  { 48, 104, 160 },  { 36, 138, 156 },  { 46, 168, 138 },
                                         { 96, 196, 104 }, { 166, 214, 66 }, { 232, 214, 58 }, { 255, 236, 150 } };
    const double at = 8 * (position > 0 ? position < 1 ? position : 1 : 0);
    const int k = at < 8 ? (int)at : 7;
    for (int c = 0; c < 3; c++) rgb[c] = (uint8_t)(stops[k][c] + (at - k) * (stops[k + 1][c] - stops[k][c]) + 0.5);
}

typedef struct tube {
    const tsr_streamlines *lines;
    tsr_context *context;
    tsr_tube_job job;
    void *tables, *frames, *tangents, *values;
    size_t tables_bytes, frames_bytes, tangents_bytes, values_bytes;
    int64_t rings, segments, drawn;
} tube;

/* Where the rings, segments and caps of each line go. */
static tsr_status tables(tube *t)
{
    const tsr_streamlines *l = t->lines;
    void *host = NULL;
    tsr_status status;
    const size_t bytes = (size_t)l->lines * 3 * sizeof(uint64_t);
    if (!l->lines) return TSR_OK;
    TSR_TRY(tsr_host_allocate(NULL, bytes, &host));
    uint64_t *rings = (uint64_t *)host, *segments = rings + l->lines, *capped = segments + l->lines;
    for (int64_t k = 0; k < l->lines; k++) {
        const int64_t count = l->host_offsets[k + 1] - l->host_offsets[k];
        rings[k] = (uint64_t)t->rings;
        segments[k] = (uint64_t)t->segments;
        capped[k] = (uint64_t)t->drawn;
        if (count < 2) continue;
        t->rings += count;
        t->segments += count - 1;
        t->drawn++;
    }
    TSR_TRY_GOTO(tsr_device_allocate(t->context, bytes, &t->tables), done);
    t->tables_bytes = bytes;
    TSR_TRY_GOTO(t->context->backend->upload(t->context->queue, t->tables, host, bytes), done);
    t->job.rings = (const uint64_t *)t->tables;
    t->job.segments = t->job.rings + l->lines;
    t->job.capped = t->job.segments + l->lines;
done:
    tsr_host_release(NULL, host, 0);
    return status;
}

/* Tangents of the field, values for colours and their range. */
static tsr_status values(tube *t, const tsr_vector_field *field, const tsr_tube_options *o)
{
    const tsr_streamlines *l = t->lines;
    if (field) {
        t->tangents_bytes = (size_t)l->points * 12;
        TSR_TRY(tsr_device_allocate(t->context, t->tangents_bytes, &t->tangents));
        tsr_values_job job = { .grid = field->grid,
                               .count = l->points,
                               .positions = (const float *)l->positions,
                               .tangents = (float *)t->tangents };
        memcpy(job.inverse, field->inverse, sizeof job.inverse);
        TSR_TRY(t->context->backend->flow->values(t->context->queue, &job));
        t->job.tangents = (const float *)t->tangents;
    }
    if (!o->colored || o->by_direction) return TSR_OK;
    t->values_bytes = (size_t)l->points * 4;
    TSR_TRY(tsr_device_allocate(t->context, t->values_bytes, &t->values));
    TSR_TRY(tsr_streamlines_attribute(l, field, o->color, (float *)t->values));
    t->job.values = (const float *)t->values;
    double range[2] = { o->lower, o->upper };
    for (int k = 0; k < 2 && o->lower == 0 && o->upper == 0; k++) {
        tsr_reduced found;
        TSR_TRY(tsr_reduce_host(t->context, k ? TSR_REDUCE_MAX : TSR_REDUCE_MIN, TSR_F32, t->values, l->points, &found));
        range[k] = found.f;
    }
    t->job.lower = (float)range[0];
    t->job.upper = (float)range[1];
    return TSR_OK;
}

static tsr_status check_options(const tsr_streamlines *lines, const tsr_vector_field *field, const tsr_tube_options *o)
{
    if (!lines) TSR_FAIL(TSR_ERROR_ARGUMENT, "lines is NULL");
    if (field && field->context != lines->context) TSR_FAIL(TSR_ERROR_ARGUMENT, "field: lives in another context than the lines");
    if (!(o->radius >= 0) || !isfinite(o->radius)) TSR_FAIL(TSR_ERROR_ARGUMENT, "radius is %g, expected a positive length or 0 for the default", o->radius);
    if (o->sides && (o->sides < 3 || o->sides > TSR_TUBE_SIDES)) TSR_FAIL(TSR_ERROR_ARGUMENT, "sides is %d, expected 3 to %d", o->sides, TSR_TUBE_SIDES);
    if (!(o->taper >= 0 && o->taper <= 0.5)) TSR_FAIL(TSR_ERROR_ARGUMENT, "taper is %g, expected 0 to 0.5", o->taper);
    if (!isfinite(o->lower) || !isfinite(o->upper) || o->lower > o->upper)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "colours from %g to %g, expected finite numbers in rising order", o->lower, o->upper);
    return TSR_OK;
}

/* 1 % of the extent. */
static tsr_status usual_radius(const tsr_streamlines *l, double *radius)
{
    void *host = NULL;
    tsr_status status;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)l->points * 12, &host));
    TSR_TRY_GOTO(tsr_streamlines_download(l, (float *)host, NULL), done);
    double most = 0;
    for (int r = 0; r < 3; r++) {
        float low = INFINITY, high = -INFINITY;
        for (int64_t k = 0; k < l->points; k++) {
            low = fminf(low, ((const float *)host)[3 * k + r]);
            high = fmaxf(high, ((const float *)host)[3 * k + r]);
        }
        most = fmax(most, (double)high - (double)low);
    }
    *radius = most > 0 ? 0.01 * most : 1;
done:
    tsr_host_release(NULL, host, 0);
    return status;
}

tsr_status tsr_streamlines_tubes(const tsr_streamlines *lines, const tsr_vector_field *field, const tsr_tube_options *options, tsr_mesh **mesh)
{
    TSR_RETURNS(mesh);
    TSR_NEEDS(lines);
    tsr_tube_options o;
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    TSR_TRY(check_options(lines, field, &o));
    tube t = { .lines = lines, .context = lines->context };
    double radius = o.radius > 0 ? o.radius : 0.25 * lines->spacing;
    if (!(radius > 0) && lines->points) TSR_TRY(usual_radius(lines, &radius));
    t.job = (tsr_tube_job){ .lines = lines->lines,
                            .points = lines->points,
                            .offsets = (const uint64_t *)lines->offsets,
                            .positions = (const float *)lines->positions,
                            .radius = (float)radius,
                            .taper = (float)o.taper,
                            .sides = o.sides ? o.sides : 8,
                            .caps = o.caps != 0,
                            .by_direction = o.by_direction };
    for (int32_t k = 0; k < t.job.sides; k++) {
        double s, c;
        tsr_det_sincos_turns((double)k / t.job.sides, &s, &c);
        t.job.around[k][0] = (float)c;
        t.job.around[k][1] = (float)s;
    }
    for (int32_t k = 0; k < TSR_TUBE_COLORS; k++) tsr_stream_color((double)k / (TSR_TUBE_COLORS - 1), t.job.palette[k]);
    TSR_TRY_GOTO(tables(&t), fail);
    const int64_t caps = t.job.caps ? 2 * ((int64_t)t.job.sides - 2) : 0;
    if (t.rings > (int64_t)UINT32_MAX / t.job.sides)
        TSR_FAIL_GOTO(TSR_ERROR_CAPACITY, fail, "tubes of %lld points and %d sides have more than 2^32 - 1 vertices: fewer lines, points or sides",
                      (long long)t.rings, t.job.sides);
    TSR_TRY_GOTO(tsr_mesh_create(t.context, t.rings * t.job.sides, t.segments * 2 * t.job.sides + t.drawn * caps, 1, mesh), fail);
    tsr_mesh_set_space(*mesh, lines->space);
    if (o.colored || o.by_direction) TSR_TRY_GOTO(tsr_mesh_add_colors(*mesh), fail);
    if (t.segments) {
        t.frames_bytes = (size_t)lines->points * 24;
        TSR_TRY_GOTO(tsr_device_allocate(t.context, t.frames_bytes, &t.frames), fail);
        t.job.frames = (float *)t.frames;
        TSR_TRY_GOTO(values(&t, field, &o), fail);
        t.job.vertices = tsr_mesh_vertices(*mesh);
        t.job.normals = tsr_mesh_normals(*mesh);
        t.job.colors = tsr_mesh_colors(*mesh);
        t.job.triangles = tsr_mesh_triangles(*mesh);
        TSR_TRY_GOTO(t.context->backend->flow->frames(t.context->queue, &t.job), fail);
        TSR_TRY_GOTO(t.context->backend->flow->tubes(t.context->queue, &t.job), fail);
        TSR_TRY_GOTO(tsr_context_synchronize(t.context), fail);
    }
    goto done;
fail:
    tsr_mesh_destroy(mesh);
done:
    tsr_device_release(t.context, t.tables, t.tables_bytes);
    tsr_device_release(t.context, t.frames, t.frames ? t.frames_bytes : 0);
    tsr_device_release(t.context, t.tangents, t.tangents ? t.tangents_bytes : 0);
    tsr_device_release(t.context, t.values, t.values ? t.values_bytes : 0);
    return status;
}
