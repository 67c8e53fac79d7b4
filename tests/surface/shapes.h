/* tests/surface/shapes.h: meshes with known answers. */
#ifndef TSR_TESTS_SHAPES_H
#define TSR_TESTS_SHAPES_H

#include <math.h>

#include "support.h"

static inline tsr_mesh *shape_mesh(const float *vertices, int64_t vertex_count, const uint32_t *triangles, int64_t triangle_count)
{
    tsr_mesh *mesh;
    require_ok(tsr_mesh_create(NULL, vertex_count, triangle_count, 0, &mesh));
    if (vertex_count) memcpy(tsr_mesh_vertices(mesh), vertices, (size_t)vertex_count * 3 * sizeof *vertices);
    if (triangle_count) memcpy(tsr_mesh_triangles(mesh), triangles, (size_t)triangle_count * 3 * sizeof *triangles);
    return mesh;
}

/* The box [0,a] x [0,b] x [0,c] moved by (x, y, z), faces outwards. */
static inline tsr_mesh *shape_box(float a, float b, float c, float x, float y, float z)
{
    static const uint32_t quads[6][4] = { { 0, 2, 3, 1 }, { 4, 5, 7, 6 }, { 0, 1, 5, 4 }, { 2, 6, 7, 3 }, { 0, 4, 6, 2 }, { 1, 3, 7, 5 } };
    float vertices[24];
    uint32_t triangles[36];
    for (int i = 0; i < 8; i++) {
        vertices[3 * i] = x + (i & 1 ? a : 0);
        vertices[3 * i + 1] = y + (i & 2 ? b : 0);
        vertices[3 * i + 2] = z + (i & 4 ? c : 0);
    }
    for (int q = 0; q < 6; q++)
        for (int t = 0; t < 2; t++) {
            triangles[6 * q + 3 * t] = quads[q][0];
            triangles[6 * q + 3 * t + 1] = quads[q][1 + t];
            triangles[6 * q + 3 * t + 2] = quads[q][2 + t];
        }
    return shape_mesh(vertices, 8, triangles, 12);
}

/* A torus about z with `rings` x `sides` quads, tube radius r, ring radius R. */
static inline tsr_mesh *shape_torus(int64_t rings, int64_t sides, double R, double r)
{
    tsr_mesh *mesh;
    require_ok(tsr_mesh_create(NULL, rings * sides, 2 * rings * sides, 0, &mesh));
    float *v = tsr_mesh_vertices(mesh);
    uint32_t *t = tsr_mesh_triangles(mesh);
    for (int64_t i = 0; i < rings; i++)
        for (int64_t j = 0; j < sides; j++) {
            double u = 2 * 3.14159265358979323846 * (double)i / (double)rings, w = 2 * 3.14159265358979323846 * (double)j / (double)sides;
            *v++ = (float)((R + r * cos(w)) * cos(u));
            *v++ = (float)((R + r * cos(w)) * sin(u));
            *v++ = (float)(r * sin(w));
            uint32_t a = (uint32_t)(i * sides + j), b = (uint32_t)((i + 1) % rings * sides + j);
            uint32_t c = (uint32_t)((i + 1) % rings * sides + (j + 1) % sides), d = (uint32_t)(i * sides + (j + 1) % sides);
            const uint32_t two[6] = { a, b, c, a, c, d };
            memcpy(t, two, sizeof two);
            t += 6;
        }
    return mesh;
}

/* A sphere about (x, 0, 0): poles and `rings` - 1 circles of `2 rings` points. */
static inline tsr_mesh *shape_sphere(int64_t rings, double radius, double x)
{
    int64_t around = 2 * rings, count = 2 + (rings - 1) * around;
    tsr_mesh *mesh;
    require_ok(tsr_mesh_create(NULL, count, 2 * around * (rings - 1), 0, &mesh));
    float *v = tsr_mesh_vertices(mesh);
    uint32_t *t = tsr_mesh_triangles(mesh);
    const float poles[6] = { (float)x, 0, (float)radius, (float)x, 0, (float)-radius };
    memcpy(v, poles, sizeof poles);
    for (int64_t i = 1; i < rings; i++)
        for (int64_t j = 0; j < around; j++) {
            double a = 3.14159265358979323846 * (double)i / (double)rings, b = 3.14159265358979323846 * (double)j / (double)rings;
            float *p = v + 3 * (2 + (i - 1) * around + j);
            p[0] = (float)(x + radius * sin(a) * cos(b));
            p[1] = (float)(radius * sin(a) * sin(b));
            p[2] = (float)(radius * cos(a));
        }
    for (int64_t i = 1; i < rings; i++)
        for (int64_t j = 0; j < around; j++) {
            int64_t next = (j + 1) % around;
            uint32_t p = (uint32_t)(2 + (i - 1) * around + j), q = (uint32_t)(2 + (i - 1) * around + next);
            uint32_t below_p = i + 1 < rings ? p + (uint32_t)around : 1, below_q = i + 1 < rings ? q + (uint32_t)around : 1;
            const uint32_t cap[3] = { 0, p, q }, down[3] = { p, below_p, q }, side[3] = { q, below_p, below_q };
            if (i == 1) t = (uint32_t *)memcpy(t, cap, sizeof cap) + 3;
            t = (uint32_t *)memcpy(t, down, sizeof down) + 3;
            if (i + 1 < rings) t = (uint32_t *)memcpy(t, side, sizeof side) + 3;
        }
    return mesh;
}

#endif
