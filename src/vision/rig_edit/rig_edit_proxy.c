/* vision/rig_edit/rig_edit_proxy.c: what cameras are fitted to: a mesh, lines with the ground below them, surfaces of depth images. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/depth_map.h"
#include "tessera/volume.h"
#include "vision/rig_edit/rig_edit.h"

enum { GROUND = 64 }; /* quads each way: those behind an eye alone are not seen */
static const double ground_margin = 0.08;

void edit_proxy_release(tsr_rig_editor *e)
{
    tsr_mesh_destroy(&e->mesh);
    free(e->outline);
    free(e->ground);
    free(e->corner);
    e->corner = NULL;
    e->corners = 0;
    tsr_align_model_release(&e->lines);
    free(e->surface.vertex);
    e->outline = NULL;
    e->ground = NULL;
    e->outlines = 0;
    e->surface = (tsr_align_model){ 0 };
    *e->proxy_name = 0;
}

/* Triangles of the plane at the lowest z, a little larger than what stands on it. */
static tsr_status ground(tsr_rig_editor *e, const tsr_box *b)
{
    tsr_align_model *s = &e->surface;
    const double margin = ground_margin * hypot(b->upper.x - b->lower.x, b->upper.y - b->lower.y);
    s->vertices = (GROUND + 1) * (GROUND + 1);
    s->triangles = 2 * GROUND * GROUND;
    s->vertex = (double(*)[3])malloc((size_t)s->vertices * sizeof *s->vertex);
    e->ground = (uint32_t *)malloc((size_t)s->triangles * 3 * sizeof *e->ground);
    s->triangle = e->ground;
    if (!s->vertex || !e->ground) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for the ground of a proxy");
    for (int j = 0; j <= GROUND; j++)
        for (int i = 0; i <= GROUND; i++) {
            double *v = s->vertex[j * (GROUND + 1) + i];
            v[0] = b->lower.x - margin + (b->upper.x - b->lower.x + 2 * margin) * i / GROUND;
            v[1] = b->lower.y - margin + (b->upper.y - b->lower.y + 2 * margin) * j / GROUND;
            v[2] = b->lower.z;
        }
    uint32_t *to = e->ground;
    for (uint32_t j = 0; j < GROUND; j++)
        for (uint32_t i = 0; i < GROUND; i++) {
            const uint32_t a = j * (GROUND + 1) + i, c = a + GROUND + 1;
            const uint32_t own[6] = { a, a + 1, c + 1, a, c + 1, c };
            memcpy(to, own, sizeof own);
            to += 6;
        }
    return TSR_OK;
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* Where two lines cross, ends included, to a millionth of the proxy. 0: nowhere. */
static int crossing(const tsr_align_edge *p, const tsr_align_edge *q, double near_, double x[3])
{
    double u[3], v[3], w[3], gap = 0;
    for (int k = 0; k < 3; k++) u[k] = p->to[k] - p->from[k], v[k] = q->to[k] - q->from[k], w[k] = q->from[k] - p->from[k];
    const double uu = dot(u, u), vv = dot(v, v), uv = dot(u, v), determinant = uu * vv - uv * uv;
    if (!(determinant > 1e-4 * uu * vv)) return 0;
    const double s = (dot(w, u) * vv - dot(w, v) * uv) / determinant, t = (dot(w, u) * uv - dot(w, v) * uu) / determinant;
    for (int k = 0; k < 3; k++) {
        x[k] = p->from[k] + s * u[k];
        gap += pow(x[k] - q->from[k] - t * v[k], 2);
    }
    return s >= -1e-9 && s <= 1 + 1e-9 && t >= -1e-9 && t <= 1 + 1e-9 && gap < near_ * near_;
}

static double length_of(const tsr_align_edge *e)
{
    return sqrt(pow(e->to[0] - e->from[0], 2) + pow(e->to[1] - e->from[1], 2) + pow(e->to[2] - e->from[2], 2));
}

/* Ends of what is no piece of an arc, and of given lines where they cross. */
static tsr_status corners(tsr_rig_editor *e)
{
    enum { MOST_CROSSED = 4000 };
    const tsr_align_model *m = &e->lines;
    const double shortest = 0.01 * e->diameter;
    const int64_t crossed = e->mesh || m->edges > MOST_CROSSED ? 0 : m->edges;
    int64_t room = 2 * m->edges + 1024;
    e->corner = (tsr_vec3 *)malloc((size_t)room * sizeof *e->corner);
    if (!e->corner) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for %lld corners", (long long)room);
    for (int64_t i = 0; i < m->edges; i++) {
        const tsr_align_edge *a = &m->edge[i];
        if (!a->crease || length_of(a) < shortest) continue;
        e->corner[e->corners++] = (tsr_vec3){ a->from[0], a->from[1], a->from[2] };
        e->corner[e->corners++] = (tsr_vec3){ a->to[0], a->to[1], a->to[2] };
    }
    for (int64_t i = 0; i < crossed; i++)
        for (int64_t k = 0; k < crossed && length_of(&m->edge[i]) >= shortest; k++) {
            double x[3];
            if (k == i || e->corners == room || !crossing(&m->edge[i], &m->edge[k], 1e-6 * e->diameter, x)) continue;
            e->corner[e->corners++] = (tsr_vec3){ x[0], x[1], x[2] };
        }
    return TSR_OK;
}

static void widen(tsr_box *b, const double p[3])
{
    b->lower = (tsr_vec3){ fmin(b->lower.x, p[0]), fmin(b->lower.y, p[1]), fmin(b->lower.z, p[2]) };
    b->upper = (tsr_vec3){ fmax(b->upper.x, p[0]), fmax(b->upper.y, p[1]), fmax(b->upper.z, p[2]) };
}

/* Takes over lines and mesh, in every case. What was there before goes only if all is well. */
static tsr_status use(tsr_rig_editor *e, const char *name, tsr_align_line *line, int64_t lines, tsr_mesh *mesh)
{
    struct tsr_rig_editor made = { .outline = line, .outlines = lines, .mesh = mesh };
    tsr_box b = { { HUGE_VAL, HUGE_VAL, HUGE_VAL }, { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL } };
    const tsr_align_proxy proxy = { .line = line, .lines = lines, .mesh = mesh };
    tsr_status status;
    TSR_TRY_GOTO(tsr_align_model_make(&proxy, &made.lines), fail);
    for (int64_t i = 0; i < made.lines.edges; i++) {
        widen(&b, made.lines.edge[i].from);
        widen(&b, made.lines.edge[i].to);
    }
    for (int64_t i = 0; i < made.lines.vertices; i++) widen(&b, made.lines.vertex[i]);
    const double d[3] = { b.upper.x - b.lower.x, b.upper.y - b.lower.y, b.upper.z - b.lower.z };
    made.diameter = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    if (!(made.diameter > 0 && isfinite(made.diameter))) TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, fail, "proxy: %s: has no extent", name);
    if (mesh) {
        tsr_align_model *s = &made.surface;
        *s = (tsr_align_model){ .triangle = made.lines.triangle, .triangles = made.lines.triangles, .vertices = made.lines.vertices };
        s->vertex = (double(*)[3])malloc((size_t)s->vertices * sizeof *s->vertex);
        if (!s->vertex) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, fail, "out of host memory for %lld vertices", (long long)s->vertices);
        memcpy(s->vertex, made.lines.vertex, (size_t)s->vertices * sizeof *s->vertex);
    } else {
        TSR_TRY_GOTO(ground(&made, &b), fail);
    }
    TSR_TRY_GOTO(corners(&made), fail);
    edit_proxy_release(e);
    e->corner = made.corner;
    e->corners = made.corners;
    e->outline = made.outline;
    e->outlines = made.outlines;
    e->mesh = made.mesh;
    e->lines = made.lines;
    e->surface = made.surface;
    e->ground = made.ground;
    e->bounds = b;
    e->diameter = made.diameter;
    e->proxy++;
    snprintf(e->proxy_name, sizeof e->proxy_name, "%s", name);
    return TSR_OK;
fail:
    edit_proxy_release(&made);
    return status;
}

tsr_status edit_proxy_load(tsr_rig_editor *e, const char *name)
{
    char path[4096];
    tsr_align_line *line = NULL;
    int64_t lines = 0;
    tsr_mesh *mesh = NULL;
    const char *dot = strrchr(name, '.');
    tsr_read_options read = TSR_READ_OPTIONS;
    read.memory_limit = e->o.memory_limit;
    read.progress = e->o.progress;
    read.same_folder = e->o.path != NULL;
    if (!strcmp(name, "pitch")) {
        lines = tsr_pitch_lines(NULL);
        line = (tsr_align_line *)malloc((size_t)lines * sizeof *line);
        if (!line) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for %lld lines", (long long)lines);
        tsr_pitch_lines(line);
    } else {
        TSR_TRY(edit_path(e, name, path));
        if (dot && !strcmp(dot, ".csv")) TSR_TRY(tsr_align_lines_read(path, &read, &line, &lines));
        else TSR_TRY(tsr_mesh_read(path, &read, &mesh));
    }
    TSR_TRY(use(e, name, line, lines, mesh));
    return TSR_OK;
}

/* The surface that a camera's depth image is of. */
static tsr_status surface_of(tsr_rig_editor *e, tsr_context *context, const tsr_rig_camera *c, tsr_mesh **mesh)
{
    char path[4096];
    tsr_volume *file = NULL, *real = NULL;
    tsr_read_options read = TSR_READ_OPTIONS;
    tsr_depth_report report = TSR_DEPTH_REPORT;
    tsr_depth_mesh_options o = TSR_DEPTH_MESH_OPTIONS;
    tsr_status status;
    tsr_camera camera = c->camera;
    tsr_depth_encoding encoding = c->encoding;
    TSR_TRY(edit_path(e, c->depth, path));
    read.memory_limit = e->o.memory_limit;
    read.same_folder = e->o.path != NULL;
    TSR_TRY(tsr_volume_read(path, &read, &file));
    const tsr_size3 n = tsr_volume_size(file);
    const tsr_dtype dtype = tsr_volume_dtype(file);
    if (n.z != 1 || n.x < 2 || n.y < 2 || n.x > 16384 || n.y > 16384)
        TSR_FAIL_GOTO(TSR_ERROR_FORMAT, end, "proxy: %s: %lld x %lld x %lld numbers, expected one slice of 2 to 16384 pixels a side", c->depth,
                      (long long)n.x, (long long)n.y, (long long)n.z);
    if (tsr_lens_distorts(&camera.lens))
        TSR_FAIL_GOTO(TSR_ERROR_UNSUPPORTED, end, "proxy: %s: depths behind a lens: remove it first (tessera undistort)", c->depth);
    TSR_TRY_GOTO(tsr_volume_convert(context, file, TSR_F32, &real), end);
    if (dtype == TSR_F32 || dtype == TSR_F64) encoding.bits = 0;
    float *d = (float *)tsr_volume_data(real);
    TSR_TRY_GOTO(tsr_depth_decode(&camera, &encoding, (int32_t)n.x, (int32_t)n.y, d, d, &report), end);
    if (!report.valid) TSR_FAIL_GOTO(TSR_ERROR_FORMAT, end, "proxy: %s: no sample is a distance", c->depth);
    o.camera = &camera;
    o.tolerance = 1e-3 * (report.farthest - report.nearest) + report.quantum;
    o.discontinuity = 0.05 * report.farthest;
    TSR_TRY_GOTO(tsr_depth_mesh(real, &o, mesh, NULL), end);
end:
    tsr_volume_destroy(&real);
    tsr_volume_destroy(&file);
    return status;
}

tsr_status edit_proxy_depth(tsr_rig_editor *e, const tsr_rig *rig)
{
    tsr_mesh *part[EDIT_CAMERAS] = { NULL }, *joined = NULL;
    const tsr_mesh_part names[EDIT_CAMERAS] = { { .name = NULL } };
    int32_t parts = 0;
    tsr_context *cpu = NULL;
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    tsr_status status;
    options.device = "cpu";
    TSR_TRY(tsr_context_create(&options, &cpu));
    for (int64_t i = 0; i < tsr_rig_count(rig) && parts < EDIT_CAMERAS; i++) {
        tsr_rig_camera c;
        TSR_TRY_GOTO(tsr_rig_get(rig, i, &c), end);
        if (*c.depth) TSR_TRY_GOTO(surface_of(e, cpu, &c, &part[parts++]), end);
    }
    if (parts == 1) joined = part[0], part[0] = NULL;
    else TSR_TRY_GOTO(tsr_mesh_join(part, names, parts, &joined), end);
    TSR_TRY_GOTO(use(e, "depth", NULL, 0, joined), end);
end:
    for (int32_t i = 0; i < parts; i++) tsr_mesh_destroy(&part[i]);
    tsr_context_destroy(&cpu);
    return status;
}

/* ---- depths as a camera sees the surface -------------------------------------------------------------------------------------------- */

void edit_depths_release(edit_depths *d)
{
    free(d->view.inverse);
    free(d->least_room);
    *d = (edit_depths){ .proxy = 0 };
}

tsr_status edit_depths_of(const tsr_rig_editor *e, const tsr_pinhole *camera, double scale, edit_depths *d)
{
    if (d->view.inverse && d->proxy == e->proxy && d->view.scale == scale && !memcmp(&d->camera, camera, sizeof *camera)) return TSR_OK;
    edit_depths_release(d);
    TSR_TRY(tsr_align_depths_make(&e->surface, camera, scale, &d->view));
    d->camera = *camera;
    d->proxy = e->proxy;
    return TSR_OK;
}
