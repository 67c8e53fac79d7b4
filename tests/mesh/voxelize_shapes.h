/* tests/mesh/voxelize_shapes.h: meshes made of parts, and brute-force answers in float64 that share nothing with the library. */
#ifndef TSR_TESTS_VOXELIZE_SHAPES_H
#define TSR_TESTS_VOXELIZE_SHAPES_H

#include "surface/shapes.h"

#include "tessera/voxelize.h"

typedef struct vec {
    double x, y, z;
} vec;

static inline vec vec_minus(vec a, vec b) { return (vec){ a.x - b.x, a.y - b.y, a.z - b.z }; }
static inline vec vec_along(vec a, vec d, double t) { return (vec){ a.x + t * d.x, a.y + t * d.y, a.z + t * d.z }; }
static inline double vec_dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline vec vec_cross(vec a, vec b) { return (vec){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x }; }
static inline double vec_length(vec a) { return sqrt(vec_dot(a, a)); }

static inline vec corner_of(const tsr_mesh *mesh, int64_t triangle, int corner)
{
    const float *p = tsr_mesh_vertices_const(mesh) + 3 * (int64_t)tsr_mesh_triangles_const(mesh)[3 * triangle + corner];
    return (vec){ (double)p[0], (double)p[1], (double)p[2] };
}

static inline double oracle_segment(vec p, vec a, vec b)
{
    vec d = vec_minus(b, a);
    double t = vec_dot(d, d) > 0 ? fmax(0, fmin(1, vec_dot(vec_minus(p, a), d) / vec_dot(d, d))) : 0;
    return vec_length(vec_minus(p, vec_along(a, d, t)));
}
/* Distance to a triangle: to its plane where the foot has positive barycentric coordinates, else to the nearest side. */
static inline double oracle_triangle(vec p, vec a, vec b, vec c)
{
    vec n = vec_cross(vec_minus(b, a), vec_minus(c, a));
    double square = vec_dot(n, n), side = fmin(oracle_segment(p, a, b), fmin(oracle_segment(p, b, c), oracle_segment(p, c, a)));
    if (square > 0 && vec_dot(n, vec_cross(vec_minus(b, a), vec_minus(p, a))) > 0 && vec_dot(n, vec_cross(vec_minus(c, b), vec_minus(p, b))) > 0 &&
        vec_dot(n, vec_cross(vec_minus(a, c), vec_minus(p, c))) > 0)
        return fabs(vec_dot(n, vec_minus(p, a))) / sqrt(square);
    return side;
}

/* How far p lies outside the smallest interval that holds a, b and c. */
static inline double oracle_outside(double p, double a, double b, double c)
{
    double low = a < b ? a : b, high = a < b ? b : a;
    low = c < low ? c : low;
    high = c > high ? c : high;
    return p < low ? low - p : p > high ? p - high : 0;
}
static inline double oracle_distance(const tsr_mesh *mesh, vec p)
{
    double least = INFINITY;
    const int64_t count = tsr_mesh_triangle_count(mesh);
    for (int64_t t = 0; t < count; t++) {
        const vec a = corner_of(mesh, t, 0), b = corner_of(mesh, t, 1), c = corner_of(mesh, t, 2);
        const vec outside = { oracle_outside(p.x, a.x, b.x, c.x), oracle_outside(p.y, a.y, b.y, c.y), oracle_outside(p.z, a.z, b.z, c.z) };
        if (vec_dot(outside, outside) > least * least) continue; /* its box is farther than another triangle */
        least = fmin(least, oracle_triangle(p, a, b, c));
    }
    return least;
}

/* Generalised winding number: solid angles of all triangles (Van Oosterom and Strackee), an integer for closed meshes. */
static inline double oracle_winding(const tsr_mesh *mesh, vec p)
{
    double sum = 0;
    const int64_t count = tsr_mesh_triangle_count(mesh);
    for (int64_t t = 0; t < count; t++) {
        vec a = vec_minus(corner_of(mesh, t, 0), p), b = vec_minus(corner_of(mesh, t, 1), p), c = vec_minus(corner_of(mesh, t, 2), p);
        double la = vec_length(a), lb = vec_length(b), lc = vec_length(c);
        sum += 2 * atan2(vec_dot(a, vec_cross(b, c)), la * lb * lc + vec_dot(a, b) * lc + vec_dot(b, c) * la + vec_dot(c, a) * lb);
    }
    return sum / (4 * 3.14159265358979323846);
}

/* Appends `part` (moved, and turned inside out if asked) to *mesh, which may be NULL. Destroys part. */
static inline void shape_add(tsr_mesh **mesh, tsr_mesh *part, float x, float y, float z, int inverted)
{
    tsr_mesh *old = *mesh, *both;
    int64_t v = old ? tsr_mesh_vertex_count(old) : 0, t = old ? tsr_mesh_triangle_count(old) : 0;
    int64_t n = tsr_mesh_vertex_count(part), m = tsr_mesh_triangle_count(part);
    require_ok(tsr_mesh_create(NULL, v + n, t + m, 0, &both));
    if (old) {
        memcpy(tsr_mesh_vertices(both), tsr_mesh_vertices(old), (size_t)v * 12);
        memcpy(tsr_mesh_triangles(both), tsr_mesh_triangles(old), (size_t)t * 12);
    }
    for (int64_t i = 0; i < n; i++) {
        const float *from = tsr_mesh_vertices(part) + 3 * i;
        float *to = tsr_mesh_vertices(both) + 3 * (v + i);
        to[0] = from[0] + x;
        to[1] = from[1] + y;
        to[2] = from[2] + z;
    }
    for (int64_t i = 0; i < m; i++) {
        const uint32_t *from = tsr_mesh_triangles(part) + 3 * i;
        uint32_t *to = tsr_mesh_triangles(both) + 3 * (t + i);
        to[0] = from[0] + (uint32_t)v;
        to[1] = from[inverted ? 2 : 1] + (uint32_t)v;
        to[2] = from[inverted ? 1 : 2] + (uint32_t)v;
    }
    tsr_mesh_destroy(&old);
    tsr_mesh_destroy(&part);
    *mesh = both;
}

/* The mesh without the triangles whose number is `skip` modulo `every`. */
static inline tsr_mesh *shape_without(const tsr_mesh *mesh, int64_t every, int64_t skip)
{
    tsr_mesh *left;
    int64_t count = 0, n = tsr_mesh_triangle_count(mesh);
    for (int64_t t = 0; t < n; t++) count += t % every != skip;
    require_ok(tsr_mesh_create(NULL, tsr_mesh_vertex_count(mesh), count, 0, &left));
    memcpy(tsr_mesh_vertices(left), tsr_mesh_vertices_const(mesh), (size_t)tsr_mesh_vertex_count(mesh) * 12);
    uint32_t *to = tsr_mesh_triangles(left);
    for (int64_t t = 0; t < n; t++)
        if (t % every != skip) {
            memcpy(to, tsr_mesh_triangles_const(mesh) + 3 * t, 12);
            to += 3;
        }
    return left;
}

/* Every triangle with corners of its own: nothing is shared by index. */
static inline tsr_mesh *shape_soup(const tsr_mesh *mesh)
{
    tsr_mesh *soup;
    int64_t n = 3 * tsr_mesh_triangle_count(mesh);
    require_ok(tsr_mesh_create(NULL, n, n / 3, 0, &soup));
    for (int64_t i = 0; i < n; i++) {
        memcpy(tsr_mesh_vertices(soup) + 3 * i, tsr_mesh_vertices_const(mesh) + 3 * (int64_t)tsr_mesh_triangles_const(mesh)[i], 12);
        tsr_mesh_triangles(soup)[i] = (uint32_t)i;
    }
    return soup;
}

static inline tsr_mesh *on_device(tsr_context *context, const tsr_mesh *mesh)
{
    tsr_mesh *copy;
    require_ok(tsr_mesh_copy(mesh, context, &copy));
    return copy;
}

/* The dense field or mask on the host. */
static inline tsr_volume *dense(tsr_context *context, const tsr_mesh *mesh, tsr_dtype dtype, const tsr_voxelize_options *options,
                                tsr_voxelize_report *report)
{
    tsr_volume *volume, *host;
    tsr_mesh *there = on_device(context, mesh);
    require_ok(tsr_volume_from_mesh(context, there, dtype, options, &volume, report));
    require_ok(tsr_volume_copy(volume, NULL, &host));
    tsr_volume_destroy(&volume);
    tsr_mesh_destroy(&there);
    return host;
}

#endif
