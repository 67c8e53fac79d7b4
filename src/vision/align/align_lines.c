/* vision/align/align_lines.c: what a camera sees of lines and of a mesh's edges: creases and outlines that no face hides. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vision/align/align.h"

enum { STRIPE_MOST = 6, DEPTHS = 320 }; /* longer side of the picture of depths that hides lines */

/* ---- edges of a mesh ----------------------------------------------------------------------------------------------------------- */

typedef struct half {
    double a[3], b[3]; /* the smaller end first */
    int64_t face;
} half;

static int by_place(const void *p, const void *q)
{
    const half *x = (const half *)p, *y = (const half *)q;
    const int c = memcmp(x->a, y->a, sizeof x->a), d = memcmp(x->b, y->b, sizeof x->b);
    return c ? c : d ? d : x->face < y->face ? -1 : x->face > y->face;
}

static void normal_of(const tsr_align_model *m, int64_t face, double n[3])
{
    const double *a = m->vertex[m->triangle[3 * face]], *b = m->vertex[m->triangle[3 * face + 1]], *c = m->vertex[m->triangle[3 * face + 2]];
    const double u[3] = { b[0] - a[0], b[1] - a[1], b[2] - a[2] }, v[3] = { c[0] - a[0], c[1] - a[1], c[2] - a[2] };
    n[0] = u[1] * v[2] - u[2] * v[1];
    n[1] = u[2] * v[0] - u[0] * v[2];
    n[2] = u[0] * v[1] - u[1] * v[0];
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int k = 0; k < 3; k++) n[k] = length > 0 ? n[k] / length : 0;
}

/* Edges by the places of their ends: meshes whose faces share no vertices have them, too. */
static tsr_status mesh_edges(tsr_align_model *m, double crease)
{
    half *list = (half *)malloc((size_t)m->triangles * 3 * sizeof *list + 1);
    int64_t n = 0;
    if (!list) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for %lld edges", (long long)m->triangles * 3);
    for (int64_t t = 0; t < m->triangles; t++)
        for (int k = 0; k < 3; k++) {
            const double *a = m->vertex[m->triangle[3 * t + k]], *b = m->vertex[m->triangle[3 * t + (k + 1) % 3]];
            const int turned = memcmp(a, b, 3 * sizeof *a) > 0;
            memcpy(list[n].a, turned ? b : a, sizeof list->a);
            memcpy(list[n].b, turned ? a : b, sizeof list->b);
            list[n++].face = t;
        }
    qsort(list, (size_t)n, sizeof *list, by_place);
    const double flat = cos(crease * 3.14159265358979323846 / 180);
    for (int64_t i = 0; i < n;) {
        int64_t end = i + 1;
        while (end < n && !memcmp(list[i].a, list[end].a, sizeof list->a + sizeof list->b)) end++;
        tsr_align_edge *e = &m->edge[m->edges];
        memset(e, 0, sizeof *e);
        memcpy(e->from, list[i].a, sizeof e->from);
        memcpy(e->to, list[i].b, sizeof e->to);
        e->faces = end - i > 2 ? 2 : (int)(end - i);
        for (int k = 0; k < e->faces; k++) normal_of(m, list[i + k].face, e->normal[k]);
        const double cosine = e->normal[0][0] * e->normal[1][0] + e->normal[0][1] * e->normal[1][1] + e->normal[0][2] * e->normal[1][2];
        e->crease = end - i != 2 || fabs(cosine) < flat;
        if (e->crease || cosine < 0.99999) m->edges++; /* what is flat is never an outline */
        i = end;
    }
    free(list);
    return TSR_OK;
}

void tsr_align_model_release(tsr_align_model *m)
{
    free(m->edge);
    free(m->vertex);
    memset(m, 0, sizeof *m);
}

tsr_status tsr_align_model_make(const tsr_align_proxy *proxy, tsr_align_model *m)
{
    memset(m, 0, sizeof *m);
    if (proxy->lines < 0 || (proxy->lines && !proxy->line))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "align: %lld lines given, but line is NULL", (long long)proxy->lines);
    if (!(proxy->crease >= 0 && proxy->crease <= 180)) TSR_FAIL(TSR_ERROR_ARGUMENT, "align: crease is %g degrees, expected 0 to 180", proxy->crease);
    if (proxy->mesh) {
        if (tsr_mesh_device(proxy->mesh).kind != TSR_DEVICE_CPU)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "align: the mesh lies on a device, expected host memory");
        m->triangles = tsr_mesh_triangle_count(proxy->mesh);
        m->vertices = tsr_mesh_vertex_count(proxy->mesh);
        m->triangle = tsr_mesh_triangles_const(proxy->mesh);
        if (m->triangles > 20000000) TSR_FAIL(TSR_ERROR_ARGUMENT, "align: %lld triangles, expected at most 20 million", (long long)m->triangles);
    }
    m->vertex = (double(*)[3])malloc((size_t)m->vertices * sizeof *m->vertex + 1);
    m->edge = (tsr_align_edge *)malloc(((size_t)proxy->lines + 3 * (size_t)m->triangles) * sizeof *m->edge + 1);
    tsr_status status = TSR_OK;
    if (!m->vertex || !m->edge) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, fail, "out of host memory for %lld triangles", (long long)m->triangles);
    for (int64_t i = 0; i < m->vertices; i++) {
        const float *v = tsr_mesh_vertices_const(proxy->mesh) + 3 * i;
        const tsr_vec3 o = tsr_mesh_origin(proxy->mesh);
        const double at[3] = { (double)v[0] + o.x, (double)v[1] + o.y, (double)v[2] + o.z };
        memcpy(m->vertex[i], at, sizeof at);
    }
    for (int64_t i = 0; i < proxy->lines; i++) {
        const tsr_align_line *l = &proxy->line[i];
        const tsr_align_edge e = { .from = { l->from.x, l->from.y, l->from.z },
                                   .to = { l->to.x, l->to.y, l->to.z },
                                   .across = { l->across.x, l->across.y, l->across.z },
                                   .crease = 1 };
        double length = 0;
        for (int k = 0; k < 3; k++) {
            if (!isfinite(e.from[k] + e.to[k] + e.across[k]))
                TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, fail, "align: line %lld has an end that is not finite", (long long)i);
            length += fabs(e.from[k] - e.to[k]);
        }
        if (length > 0) m->edge[m->edges++] = e;
    }
    if (m->triangles) TSR_TRY_GOTO(mesh_edges(m, proxy->crease > 0 ? proxy->crease : 25), fail);
    if (!m->edges) TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, fail, "align: the proxy has no lines: no line longer than 0, and no mesh with creases");
    double low[3] = { 1e300, 1e300, 1e300 }, high[3] = { -1e300, -1e300, -1e300 };
    for (int64_t i = 0; i < m->edges; i++)
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], fmin(m->edge[i].from[k], m->edge[i].to[k]));
            high[k] = fmax(high[k], fmax(m->edge[i].from[k], m->edge[i].to[k]));
            m->edge[i].middle[k] = 0.5 * (m->edge[i].from[k] + m->edge[i].to[k]);
        }
    for (int k = 0; k < 3; k++) {
        m->middle[k] = 0.5 * (low[k] + high[k]);
        m->radius += 0.25 * (high[k] - low[k]) * (high[k] - low[k]);
    }
    m->radius = sqrt(m->radius);
    return TSR_OK;
fail:
    tsr_align_model_release(m);
    return status;
}

/* ---- what is hidden ------------------------------------------------------------------------------------------------------------- */

static void to_eye(const tsr_pinhole *c, const double x[3], double e[3])
{
    for (int i = 0; i < 3; i++) e[i] = c->rotation[i][0] * x[0] + c->rotation[i][1] * x[1] + c->rotation[i][2] * x[2] + c->translation[i];
}

static const double on_edge = 1e-7; /* pixels: what lies on the edge of two faces is on one of them, however it is rounded */

/* Faces without a lens: what it moves is less than what the test allows. Faces that reach behind the eye are left out. */
static void draw_face(const tsr_align_model *m, const tsr_pinhole *c, int64_t face, tsr_align_depths *v)
{
    double p[3][3];
    for (int k = 0; k < 3; k++) {
        double e[3];
        to_eye(c, m->vertex[m->triangle[3 * face + k]], e);
        if (!(e[2] > 1e-9)) return;
        p[k][0] = (c->fx * e[0] / e[2] + c->cx) / v->scale - 0.5;
        p[k][1] = (c->fy * e[1] / e[2] + c->cy) / v->scale - 0.5;
        p[k][2] = 1 / e[2];
    }
    const double area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]);
    if (area == 0) return;
    /* shares of the corners, linear over the picture: at (0, 0), and from a pixel to the next one across and down */
    double share[3][3], inverse[3] = { 0 };
    for (int k = 0; k < 3; k++) {
        const double *a = p[(k + 1) % 3], *b = p[(k + 2) % 3];
        share[k][0] = ((b[1] - a[1]) * a[0] - (b[0] - a[0]) * a[1]) / area;
        share[k][1] = (a[1] - b[1]) / area;
        share[k][2] = (b[0] - a[0]) / area;
        for (int i = 0; i < 3; i++) inverse[i] += share[k][i] * p[k][2];
    }
    const double last = v->height - 1;
    const int32_t top = (int32_t)fmin(last + 1, ceil(fmax(0, fmin(p[0][1], fmin(p[1][1], p[2][1]))))),
                  bottom = (int32_t)fmax(-1, floor(fmin(last, fmax(p[0][1], fmax(p[1][1], p[2][1])))));
    for (int32_t y = top; y <= bottom; y++) {
        double low = 0, high = v->width - 1;
        for (int k = 0; k < 3; k++) {
            const double at = share[k][0] + share[k][2] * y, slope = share[k][1];
            if (slope == 0) high = at < 0 ? -1 : high;
            else if (slope > 0) low = fmax(low, -at / slope - on_edge);
            else high = fmin(high, -at / slope + on_edge);
        }
        const double from = inverse[0] + inverse[2] * y;
        float *row = v->inverse + (int64_t)y * v->width;
        if (!(high >= low)) continue;
        for (int32_t x = (int32_t)ceil(low); x <= (int32_t)floor(high); x++) {
            const float near = (float)(from + inverse[1] * x);
            row[x] = near > row[x] ? near : row[x];
        }
    }
}

/* Nearer than what lies around it by less than a twentieth of a percent of depth plus what a slanted face changes over a pixel: seen. */
int tsr_align_depths_seen(const tsr_align_depths *v, const double pixel[2], double depth)
{
    const int32_t x = (int32_t)(pixel[0] / v->scale), y = (int32_t)(pixel[1] / v->scale);
    float least = 1e30f;
    for (int32_t j = y > 0 ? y - 1 : 0; j <= y + 1 && j < v->height; j++)
        for (int32_t i = x > 0 ? x - 1 : 0; i <= x + 1 && i < v->width; i++) {
            const float d = v->inverse[(int64_t)j * v->width + i];
            least = d < least ? d : least;
        }
    return 1 / depth >= (double)least * (1 - 2e-3);
}

tsr_status tsr_align_depths_make(const tsr_align_model *m, const tsr_pinhole *c, double scale, tsr_align_depths *v)
{
    *v = (tsr_align_depths){ .scale = scale, .width = (int32_t)ceil(c->width / scale), .height = (int32_t)ceil(c->height / scale) };
    v->inverse = (float *)calloc((size_t)v->width * (size_t)v->height, sizeof *v->inverse);
    if (!v->inverse) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for %d x %d depths", v->width, v->height);
    for (int64_t t = 0; t < m->triangles; t++) draw_face(m, c, t, v);
    return TSR_OK;
}

void tsr_align_samples_release(tsr_align_samples *s)
{
    free(s->at);
    free(s->along);
    free(s->across);
    memset(s, 0, sizeof *s);
}

static tsr_status grow(tsr_align_samples *s)
{
    const int64_t room = s->room ? 2 * s->room : 4096;
    void *at = realloc(s->at, (size_t)room * sizeof *s->at);
    if (at) s->at = (double(*)[3])at;
    void *along = at ? realloc(s->along, (size_t)room * sizeof *s->along) : NULL;
    if (along) s->along = (double(*)[3])along;
    void *across = along ? realloc(s->across, (size_t)room * sizeof *s->across) : NULL;
    if (across) s->across = (double(*)[3])across;
    if (!across) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for %lld samples", (long long)room);
    s->room = room;
    return TSR_OK;
}

/* The part of a line in front of the camera, and about how long it appears, pixels. */
static double shown(const tsr_pinhole *c, const tsr_align_edge *e, double from[3], double to[3])
{
    double a[3], b[3];
    const double near = 1e-3 * (fabs(c->translation[2]) + 1e-9);
    to_eye(c, e->from, a);
    to_eye(c, e->to, b);
    memcpy(from, e->from, 3 * sizeof *from);
    memcpy(to, e->to, 3 * sizeof *to);
    if (a[2] < near && b[2] < near) return 0;
    if (a[2] < near || b[2] < near) {
        const double t = (near - a[2]) / (b[2] - a[2]);
        double *moved = a[2] < near ? from : to, *eye = a[2] < near ? a : b;
        for (int k = 0; k < 3; k++) moved[k] = e->from[k] + t * (e->to[k] - e->from[k]);
        to_eye(c, moved, eye);
    }
    const double length = hypot(c->fx * (a[0] / a[2] - b[0] / b[2]), c->fy * (a[1] / a[2] - b[1] / b[2]));
    return fmin(length, 4 * hypot(c->width, c->height));
}

static int counts(const tsr_align_edge *e, const double eye[3])
{
    if (e->faces < 2) return 1;
    double side[2];
    for (int k = 0; k < 2; k++)
        side[k] = e->normal[k][0] * (eye[0] - e->middle[0]) + e->normal[k][1] * (eye[1] - e->middle[1]) + e->normal[k][2] * (eye[2] - e->middle[2]);
    return e->crease || (side[0] > 0) != (side[1] > 0);
}

/* How wide a stripe is seen, pixels, across its own direction. */
static double width_of(const tsr_pinhole *c, const tsr_view_model *model, const double x[3], const double wide[3], const double along[3])
{
    double e[4][3], p[4][2], at[4][3];
    for (int k = 0; k < 3; k++) {
        at[0][k] = x[k] - 0.5 * wide[k];
        at[1][k] = x[k] + 0.5 * wide[k];
        at[2][k] = x[k];
        at[3][k] = x[k] + 1e-3 * along[k];
    }
    for (int n = 0; n < 4; n++) {
        to_eye(c, at[n], e[n]);
        if (!tsr_view_project(model, e[n], p[n], NULL, NULL)) return 0;
    }
    const double t[2] = { p[3][0] - p[2][0], p[3][1] - p[2][1] }, length = hypot(t[0], t[1]);
    return length > 0 ? fabs((p[1][0] - p[0][0]) * t[1] - (p[1][1] - p[0][1]) * t[0]) / length : 0;
}

tsr_status tsr_align_samples_take(const tsr_align_model *m, const tsr_pinhole *c, double step, int64_t most, double margin, tsr_align_samples *s)
{
    tsr_align_depths v = { 0 };
    tsr_status status = TSR_OK;
    double eye[3] = { 0 }, total = 0;
    s->count = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) eye[i] -= c->rotation[k][i] * c->translation[k];
    if (m->triangles) TSR_TRY(tsr_align_depths_make(m, c, fmax(1, (double)(c->width > c->height ? c->width : c->height) / DEPTHS), &v));
    const tsr_view_model model = tsr_view_model_of(c);
    double from[3], to[3];
    for (int64_t i = 0; i < m->edges; i++)
        if (counts(&m->edge[i], eye)) total += shown(c, &m->edge[i], from, to);
    if (total / step > (double)most) step = total / (double)most;
    double carry = 0.5 * step; /* of the step, over short lines, too */
    for (int64_t i = 0; i < m->edges; i++) {
        if (!counts(&m->edge[i], eye)) continue;
        const double length = shown(c, &m->edge[i], from, to);
        if (!(length > 0)) continue;
        double a[3], b[3], along[3], size = 0;
        to_eye(c, from, a);
        to_eye(c, to, b);
        for (int k = 0; k < 3; k++) along[k] = to[k] - from[k], size += along[k] * along[k];
        size = sqrt(size);
        const int64_t places = carry < length ? (int64_t)floor((length - carry) / step) + 1 : 0;
        for (int64_t n = 0; n < places; n++) {
            /* evenly in the picture: t of the line from q of its projection */
            const double q = fmin(1, (carry + (double)n * step) / length), t = q * a[2] / (b[2] + q * (a[2] - b[2]));
            double x[3], e[3], pixel[2];
            for (int k = 0; k < 3; k++) x[k] = from[k] + t * along[k];
            to_eye(c, x, e);
            if (!tsr_view_project(&model, e, pixel, NULL, NULL)) continue;
            if (!(pixel[0] >= -margin && pixel[1] >= -margin && pixel[0] < c->width + margin && pixel[1] < c->height + margin)) continue;
            const int inside = pixel[0] >= 0 && pixel[1] >= 0 && pixel[0] < c->width && pixel[1] < c->height;
            if (v.inverse && inside && !tsr_align_depths_seen(&v, pixel, e[2])) continue;
            /* a stripe: as one where it is thin in the picture, else its two borders */
            const double *wide = m->edge[i].across;
            const int stripe = wide[0] != 0 || wide[1] != 0 || wide[2] != 0, borders = stripe && width_of(c, &model, x, wide, along) > STRIPE_MOST;
            for (int side = borders ? -1 : 0; side <= (borders ? 1 : 0); side += 2) {
                if (s->count == s->room) TSR_TRY_GOTO(grow(s), end);
                for (int k = 0; k < 3; k++) {
                    s->at[s->count][k] = x[k] + 0.5 * side * wide[k];
                    s->along[s->count][k] = along[k] / size;
                    s->across[s->count][k] = borders ? 0 : wide[k];
                }
                s->count++;
            }
        }
        carry += (double)places * step - length;
    }
end:
    free(v.inverse);
    return status;
}
