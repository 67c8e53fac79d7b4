/* light/scene_shapes.c: shapes by their distance, and a scene's matter: voxel by voxel, later shapes over earlier ones, with edges as soft as a Gaussian would
 * make them, so that a surface may lie anywhere between voxels. */
#include <math.h>
#include <stdlib.h>

#include "core/mix.h"
#include "core/parallel.h"
#include "light/light_scene.h"

/* ---- distances ---- */

static double length3(double x, double y, double z) { return sqrt(x * x + y * y + z * z); }

static double box_distance(const double c[3], const double half[3], double round)
{
    double out = 0, in = -1e300;
    for (int k = 0; k < 3; k++) {
        const double d = fabs(c[k]) - half[k] + round;
        out += d > 0 ? d * d : 0;
        in = fmax(in, d);
    }
    return sqrt(out) + fmin(in, 0) - round;
}

/* Of a closed polygon of pairs. `turned` != 0: it turns around x = 0, where it has no surface. */
static double polygon_distance(const double *v, int32_t n, int turned, double x, double y)
{
    double best = 1e300;
    int inside = 0;
    for (int32_t i = 0, j = n - 1; i < n; j = i++) {
        if (turned && v[2 * j] == 0 && v[2 * i] == 0) continue;
        const double ax = v[2 * j], ay = v[2 * j + 1], ex = v[2 * i] - ax, ey = v[2 * i + 1] - ay, wx = x - ax, wy = y - ay;
        const double e2 = ex * ex + ey * ey, along = wx * ex + wy * ey, t = along <= 0 || e2 <= 0 ? 0 : along >= e2 ? 1 : along / e2;
        const double dx = wx - t * ex, dy = wy - t * ey, d2 = dx * dx + dy * dy;
        best = d2 < best ? d2 : best;
        if ((v[2 * i + 1] > y) != (ay > y) && x < ex * (y - v[2 * i + 1]) / (v[2 * i + 1] - ay) + v[2 * i]) inside = !inside;
    }
    return inside ? -sqrt(best) : sqrt(best);
}

/* |x/a|^e + |y/b|^e + |z/c|^e = 1, by its first-order distance. */
static double ellipsoid_distance(const double c[3], const double r[3], double e)
{
    double q[3], sum = 0;
    for (int k = 0; k < 3; k++) {
        q[k] = fabs(c[k]) / r[k];
        sum += pow(q[k], e);
    }
    const double f = pow(sum, 1 / e);
    if (!(f > 1e-9)) return -fmin(r[0], fmin(r[1], r[2]));
    double g2 = 0;
    for (int k = 0; k < 3; k++) {
        const double g = pow(q[k] / f, e - 1) / r[k];
        g2 += g * g;
    }
    return (f - 1) / sqrt(g2);
}

static double grid_coverage(const tsr_scene_shape *s, const double p[3])
{
    const tsr_size3 n = tsr_volume_size(s->grid);
    const float *v = (const float *)tsr_volume_data_const(s->grid);
    const int64_t size[3] = { n.x, n.y, n.z };
    int64_t at[3];
    double f[3], to = 0;
    for (int k = 0; k < 3; k++) {
        const double c = (p[k] - s->shift[k]) * s->scale;
        if (!(c > -1 && c < (double)size[k])) return 0;
        at[k] = (int64_t)floor(c);
        f[k] = c - (double)at[k];
    }
    for (int c = 0; c < 8; c++) {
        int64_t i[3];
        double w = 1;
        for (int k = 0; k < 3; k++) {
            i[k] = at[k] + (c >> k & 1);
            w *= c >> k & 1 ? f[k] : 1 - f[k];
        }
        if (i[0] < 0 || i[1] < 0 || i[2] < 0 || i[0] >= n.x || i[1] >= n.y || i[2] >= n.z) continue;
        to += w * (double)v[(i[2] * n.y + i[1]) * n.x + i[0]];
    }
    return to;
}

static double whole_distance(const tsr_scene_shape *s, const double p[3])
{
    const double *q = s->p, c[3] = { p[0] - q[0], p[1] - q[1], p[2] - q[2] };
    switch (s->kind) {
    case TSR_SHAPE_SPHERE: return length3(c[0], c[1], c[2]) - q[3];
    case TSR_SHAPE_ELLIPSOID: return ellipsoid_distance(c, q + 3, q[6]);
    case TSR_SHAPE_BOX: {
        double m[3], half[3];
        for (int k = 0; k < 3; k++) {
            m[k] = p[k] - 0.5 * (q[k] + q[3 + k]);
            half[k] = 0.5 * (q[3 + k] - q[k]);
        }
        return box_distance(m, half, q[6]);
    }
    case TSR_SHAPE_CYLINDER: {
        const double m[3] = { sqrt(c[0] * c[0] + c[1] * c[1]), p[2] - 0.5 * (q[2] + q[3]), 0 }, half[3] = { q[4], 0.5 * (q[3] - q[2]), 1e9 };
        return box_distance(m, half, q[5]);
    }
    case TSR_SHAPE_TORUS: return length3(sqrt(c[0] * c[0] + c[1] * c[1]) - q[3], c[2], 0) - q[4];
    case TSR_SHAPE_REVOLVE: return polygon_distance(s->points, s->count, 1, sqrt(c[0] * c[0] + c[1] * c[1]), p[2]);
    case TSR_SHAPE_PRISM: {
        const double flat = polygon_distance(s->points, s->count, 0, p[0], p[2]), deep = fabs(p[1] - 0.5 * (q[0] + q[1])) - 0.5 * (q[1] - q[0]);
        return fmin(fmax(flat, deep), 0) + length3(fmax(flat, 0), fmax(deep, 0), 0);
    }
    case TSR_SHAPE_STROKES: {
        double best = 1e300;
        for (int32_t i = 0; i < s->count; i++) {
            const double *a = s->points + 6 * i, e[3] = { a[3] - a[0], a[4] - a[1], a[5] - a[2] }, w[3] = { p[0] - a[0], p[1] - a[1], p[2] - a[2] };
            const double e2 = e[0] * e[0] + e[1] * e[1] + e[2] * e[2],
                         t = e2 > 0 ? fmin(fmax((w[0] * e[0] + w[1] * e[1] + w[2] * e[2]) / e2, 0), 1) : 0;
            best = fmin(best, length3(w[0] - t * e[0], w[1] - t * e[1], w[2] - t * e[2]));
        }
        return best - q[0];
    }
    case TSR_SHAPE_GRID: break;
    }
    return grid_coverage(s, p);
}

double tsr_scene_distance(const tsr_scene_shape *s, const double at[3])
{
    const double p[3] = { at[0] - s->offset[0], at[1] - s->offset[1], at[2] - s->offset[2] };
    const double d = whole_distance(s, p);
    if (!(s->clip[1] > s->clip[0])) return d;
    return fmax(d, fmax(s->clip[0] - p[2], p[2] - s->clip[1]));
}

/* ---- noise ---- */

static double corner(uint64_t seed, int64_t x, int64_t y, int64_t z, double fx, double fy, double fz)
{
    const uint64_t h = tsr_mix64(seed + (uint64_t)x * TSR_GOLDEN_STEP + (uint64_t)y * 0xc2b2ae3d27d4eb4full + (uint64_t)z * 0x165667b19e3779f9ull);
    const double g[3] = { (double)(int32_t)(h & 0xffff) / 32768 - 1, (double)(int32_t)(h >> 16 & 0xffff) / 32768 - 1,
                          (double)(int32_t)(h >> 32 & 0xffff) / 32768 - 1 };
    return g[0] * fx + g[1] * fy + g[2] * fz;
}
static double fade(double t) { return t * t * t * (t * (t * 6 - 15) + 10); }
static double noise(uint64_t seed, double x, double y, double z)
{
    const double bx = floor(x), by = floor(y), bz = floor(z), fx = x - bx, fy = y - by, fz = z - bz;
    const int64_t ix = (int64_t)bx, iy = (int64_t)by, iz = (int64_t)bz;
    double to = 0;
    for (int c = 0; c < 8; c++) {
        const int i = c & 1, j = c >> 1 & 1, k = c >> 2;
        const double w = (i ? fade(fx) : 1 - fade(fx)) * (j ? fade(fy) : 1 - fade(fy)) * (k ? fade(fz) : 1 - fade(fz));
        to += w * corner(seed, ix + i, iy + j, iz + k, fx - i, fy - j, fz - k);
    }
    return to;
}
/* Five octaves, about -1 to 1. */
static double clouds(uint64_t seed, const double p[3], double size)
{
    double to = 0, part = 1, scale = 1 / size;
    for (int o = 0; o < 5; o++, part *= 0.5, scale *= 2.03) to += part * noise(seed + (uint64_t)o, p[0] * scale, p[1] * scale, p[2] * scale);
    return to;
}

/* ---- voxels ---- */

enum { INDICES = TSR_SCENE_MATERIALS + 1, BESIDE = 4 /* voxels beyond soft edges whose distance from a surface is asked for */ };
typedef struct fill_job {
    const tsr_light_scene *scene;
    tsr_light_arrays *a;
    double soft, near_;                                            /* how far edges reach; how far distances are needed */
    uint8_t index[TSR_SCENE_MATERIALS], surface[INDICES][INDICES]; /* which of the scene's indices a material has; the surface between two, 0: none */
} fill_job;

/* The scene's indices, the one around it first, and surfaces between two, the larger first; those beyond the 254th are not told apart, and stay soft. */
static void name_surfaces(fill_job *j)
{
    double index[INDICES] = { 1 };
    int count = 1, surfaces = 0;
    for (int32_t i = 0; i < j->scene->materials; i++) {
        int k = 0;
        while (k < count && index[k] != j->scene->material[i].index) k++;
        if (k == count) index[count++] = j->scene->material[i].index;
        j->index[i] = (uint8_t)k;
    }
    for (int p = 0; p < count; p++)
        for (int q = 0; q < count; q++) {
            if (!(index[p] > index[q]) || surfaces + 1 == TSR_LIGHT_STRAIGHT) continue;
            j->surface[p][q] = (uint8_t)++surfaces;
            j->a->sides[2 * surfaces] = (float)index[q];
            j->a->sides[2 * surfaces + 1] = (float)index[p];
        }
}

/* The surface nearest to a voxel, of shapes one after another: between what lies there and what lies beyond, at this distance. */
typedef struct nearest {
    int own, beyond;
    double distance;
} nearest;
static void meet(nearest *to, int index, double d)
{
    const double before = to->distance;
    if (d < 0) {
        const int same = index == to->own;
        if (!same) to->beyond = to->own;
        to->own = index;
        to->distance = same ? fmax(before, -d) : -d;
    } else if (index != to->own && d < before) {
        to->beyond = index;
        to->distance = d;
    }
}

double tsr_scene_reach(double smooth) { return 2 * sqrt(3.0) * smooth; }

double tsr_scene_cover(double d, double reach)
{
    const double x = 2 * d / reach, far = 2 - fabs(x), near_ = 1 - fabs(x);
    if (far <= 0) return x > 0 ? 0 : 1;
    const double out = (far * far * far * far - (near_ > 0 ? 4 * near_ * near_ * near_ * near_ : 0)) / 24; /* the share beyond |x| */
    return x > 0 ? out : 1 - out;
}

/* Of the index the speed of light, 1 / n, is mixed at soft edges: a ray that meets one at an angle then leaves it nearly as it leaves a sharp one.
 * `known`: of each shape, how far its surface is at least from the voxel before, negative inside; a voxel further it is at most that much nearer. 0: not known. */
static void fill_voxel(const fill_job *j, int64_t i, const double p[3], double *known)
{
    const tsr_light_scene *s = j->scene;
    tsr_light_arrays *a = j->a;
    nearest edge = { 0, 0, 1e300 };
    double speed = 1, absorb[3] = { 0 }, scatter[3] = { 0 }, emit[3] = { 0 }, skin[3] = { 0.5, 0.5, 0.5 }, g = 0, stops = 0;
    for (int32_t n = 0; n < s->shapes; n++) {
        const tsr_scene_shape *shape = &s->shape[n];
        const tsr_scene_material *m = &s->material[shape->material];
        double c;
        int out = 0;
        for (int k = 0; k < 3; k++) out |= p[k] < shape->low[k] - j->near_ || p[k] > shape->high[k] + j->near_;
        if (out) {
            known[n] = 0;
            continue;
        }
        if (shape->kind == TSR_SHAPE_GRID) {
            c = fmin(fmax(tsr_scene_distance(shape, p), 0), 1);
            if (c > 0) edge = (nearest){ j->index[shape->material], 0, c < 1 ? -1 : 1e300 }; /* its distance is not known */
        } else {
            const double left = fabs(known[n]) - 1.001 * a->voxel;
            const double d = left > j->near_ && shape->kind != TSR_SHAPE_ELLIPSOID ? copysign(left, known[n]) : tsr_scene_distance(shape, p);
            known[n] = d;
            c = tsr_scene_cover(d, j->soft);
            if (a->edge) meet(&edge, j->index[shape->material], d);
        }
        if (c <= 0) continue;
        const double more = m->noise_size > 0 ? fmax(0, 1 + m->noise_contrast * clouds(m->noise_seed, p, m->noise_size)) : 1;
        speed += c * (1 / m->index - speed);
        g += (scatter[1] + c * m->scatter[1] > 0 ? c : 0) * (m->g - g);
        for (int k = 0; k < 3; k++) {
            absorb[k] += c * (m->absorb[k] * more - absorb[k]);
            scatter[k] += c * (m->scatter[k] * more - scatter[k]);
            emit[k] += c * (m->emit[k] * more - emit[k]);
            if (m->opaque) skin[k] += (stops > 0 ? c : 1) * (m->color[k] - skin[k]);
        }
        stops += c * ((m->opaque != 0) - stops);
    }
    a->index[i * 4] = (float)(1 / speed);
    if (a->edge && edge.distance >= 0 && edge.distance < j->near_) {
        const int inside = j->surface[edge.own][edge.beyond];
        a->cells[i] = (uint8_t)(inside ? inside : j->surface[edge.beyond][edge.own]);
        a->edge[i * 4] = (float)((inside ? edge.distance : -edge.distance) / a->voxel);
    }
    for (int k = 0; k < 3; k++) {
        if (a->dim) a->dim[i * 4 + k] = (float)((absorb[k] + scatter[k]) * a->voxel);
        if (a->scatter) a->scatter[i * 4 + k] = (float)(scatter[k] * a->voxel);
        if (a->emit) a->emit[i * 4 + k] = (float)(emit[k] * a->voxel);
        if (a->skin) a->skin[i * 4 + k] = (float)skin[k];
    }
    if (a->dim) a->dim[i * 4 + 3] = (float)stops;
    if (a->scatter) a->scatter[i * 4 + 3] = (float)g;
}

static void fill_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const fill_job *j = (const fill_job *)user;
    const tsr_light_arrays *a = j->a;
    (void)worker;
    for (int64_t r = begin; r < end; r++) {
        double known[TSR_SCENE_SHAPES] = { 0 };
        for (int32_t x = 0; x < a->size[0]; x++) {
            const double p[3] = { a->origin[0] + x * a->voxel, a->origin[1] + (double)(r % a->size[1]) * a->voxel,
                                  a->origin[2] + (double)(r / a->size[1]) * a->voxel };
            fill_voxel(j, r * a->size[0] + x, p, known);
        }
    }
}

tsr_status tsr_light_scene_matter(tsr_context *context, const tsr_light_scene *scene, int32_t resolution, const tsr_progress *progress,
                                  tsr_light_matter **matter)
{
    TSR_RETURNS(matter);
    tsr_light_arrays a = { 0 };
    tsr_status status;
    double longest = 0;
    int dims = 0, scatters = 0, emits = 0, stops = 0;
    if (!context || !scene) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", context ? "scene" : "context");
    if (!resolution) resolution = scene->resolution;
    if (resolution < 8 || resolution > 1024) TSR_FAIL(TSR_ERROR_ARGUMENT, "resolution is %d, expected 8 to 1024 voxels", resolution);
    for (int k = 0; k < 3; k++) longest = fmax(longest, scene->high[k] - scene->low[k]);
    a.voxel = longest / resolution;
    for (int k = 0; k < 3; k++) {
        a.size[k] = tsr_maxi((int32_t)ceil((scene->high[k] - scene->low[k]) / a.voxel - 1e-6), 2);
        a.origin[k] = scene->low[k] + 0.5 * a.voxel;
    }
    for (int32_t i = 0; i < scene->shapes; i++) {
        const tsr_scene_material *m = &scene->material[scene->shape[i].material];
        for (int k = 0; k < 3; k++) {
            dims |= m->absorb[k] > 0 || m->scatter[k] > 0;
            scatters |= m->scatter[k] > 0;
            emits |= m->emit[k] > 0;
        }
        stops |= m->opaque;
    }
    TSR_PROGRESS(progress, 0, "voxels");
    TSR_TRY_GOTO(tsr_light_arrays_create(&a, &a.index), end);
    if (dims || stops) TSR_TRY_GOTO(tsr_light_arrays_create(&a, &a.dim), end);
    if (scatters) TSR_TRY_GOTO(tsr_light_arrays_create(&a, &a.scatter), end);
    if (emits) TSR_TRY_GOTO(tsr_light_arrays_create(&a, &a.emit), end);
    if (stops) TSR_TRY_GOTO(tsr_light_arrays_create(&a, &a.skin), end);
    fill_job job = { .scene = scene, .a = &a, .soft = tsr_scene_reach(scene->smooth) * a.voxel };
    job.near_ = job.soft;
    name_surfaces(&job);
    if (a.sides[2] > 0.0f && !scene->soft) {
        job.near_ = job.soft + BESIDE * a.voxel;
        TSR_TRY_GOTO(tsr_light_arrays_create(&a, &a.edge), end);
        a.cells = calloc((size_t)tsr_light_voxels(a.size), 1);
        if (!a.cells)
            TSR_FAIL_GOTO(TSR_ERROR_MEMORY, end, "no %lld bytes for %d x %d x %d voxels", (long long)tsr_light_voxels(a.size), a.size[0], a.size[1],
                          a.size[2]);
    }
    tsr_parallel(tsr_context_threads(context), (int64_t)a.size[1] * a.size[2], 8, fill_rows, &job);
    if (tsr_progress_report(progress, 0.9, "voxels")) TSR_FAIL_GOTO(TSR_ERROR_CANCELLED, end, "cancelled during voxels");
    TSR_TRY_GOTO(tsr_light_matter_take(context, &a, matter), end);
end:
    tsr_light_arrays_destroy(&a);
    return status;
}
