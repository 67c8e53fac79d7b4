/* Isosurfaces of mixtures: a transfer function that moves over a volume, and a ball that moves through it, cut anew in every frame without allocating.
 *
 *   example_mixture OUTPUT.ply [MODULE [DEVICE [SIDE]]]
 *
 * MODULE is what tessera_add_map made of examples/map/mixture.c: it evaluates volume, transfer function and ball on the device, tsr_surface_extract_again cuts. The same
 * mesh comes from tsr_surface_extract_source, whose callback evaluates the formula plane by plane on the host; it ends with 1 unless both are the same bits.
 * See it: tessera render OUTPUT.ply -o mixture.png */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../map/mixture.h"
#include "tessera/tessera.h"

enum { FRAMES = 12, MOST = 256 };

/* A volume of bytes: two blobs and a ripple. */
static int sample(int64_t n, int64_t x, int64_t y, int64_t z)
{
    const double p[3] = { 2.0 * (double)x / (double)(n - 1) - 1, 2.0 * (double)y / (double)(n - 1) - 1, 2.0 * (double)z / (double)(n - 1) - 1 };
    const double a = (p[0] - 0.3) * (p[0] - 0.3) + p[1] * p[1] + p[2] * p[2],
                 b = (p[0] + 0.35) * (p[0] + 0.35) + p[1] * p[1] + (p[2] - 0.2) * (p[2] - 0.2);
    return (int)fmax(0, fmin(255, 18 / (0.05 + a) + 14 / (0.05 + b) + 6 * sin(9 * p[1]) * sin(9 * p[2]) - 8));
}

struct planes {
    const mixture *now;
    const uint8_t *volume;
    int64_t n;
};
/* The formula once more, on the host: planes begin to end. */
static tsr_status evaluate(void *user, int64_t begin, int64_t end, void *samples)
{
    const struct planes *s = (const struct planes *)user;
    float *out = (float *)samples;
    const double half = 0.5 * ((double)s->now->upper - (double)s->now->lower);
    for (int64_t z = begin; z < end; z++)
        for (int64_t y = 0; y < s->n; y++)
            for (int64_t x = 0; x < s->n; x++) {
                const double opacity = 1 - fabs((double)s->volume[(z * s->n + y) * s->n + x] - (double)s->now->lower - half) / half;
                const double d[3] = { ((double)x - (double)s->now->centre[0]) / (double)s->now->size,
                                      ((double)y - (double)s->now->centre[1]) / (double)s->now->size,
                                      ((double)z - (double)s->now->centre[2]) / (double)s->now->size };
                const double ball = -1 + d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
                *out++ = (float)fmin(opacity, ball);
            }
    return TSR_OK;
}

static int same(const tsr_mesh *a, const tsr_mesh *b)
{
    return tsr_mesh_vertex_count(a) == tsr_mesh_vertex_count(b) && tsr_mesh_triangle_count(a) == tsr_mesh_triangle_count(b) &&
           !memcmp(tsr_mesh_vertices_const(a), tsr_mesh_vertices_const(b), (size_t)tsr_mesh_vertex_count(a) * 12) &&
           !memcmp(tsr_mesh_triangles_const(a), tsr_mesh_triangles_const(b), (size_t)tsr_mesh_triangle_count(a) * 12);
}

static tsr_status run(const char *path, const char *module, const char *device, int64_t n, int *wrong)
{
    const tsr_size3 size = { n, n, n };
    const float middle = 0.5f * (float)n;
    mixture now = { 0, 0, { 0, middle, middle }, 0.3f * (float)n };
    struct planes planes = { &now, NULL, n };
    tsr_context_options where = TSR_CONTEXT_OPTIONS;
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    tsr_planes_source source = TSR_PLANES_SOURCE;
    tsr_context *context = NULL;
    tsr_volume *host = NULL, *volume = NULL, *mixed = NULL;
    tsr_surface_workspace *workspace = NULL;
    const tsr_mesh *mesh = NULL;
    tsr_mesh *there = NULL, *other = NULL;
    tsr_map map = { NULL, NULL };
    options.inside = TSR_SURFACE_INSIDE_ABOVE;
    where.device = device;
    tsr_status status = tsr_context_create(&where, &context);
    if (status == TSR_OK) status = tsr_map_load(context, module, sizeof now, &map);
    map.data = &now;
    if (status == TSR_OK) status = tsr_volume_create(NULL, TSR_U8, size, NULL, &host);
    if (status == TSR_OK) {
        uint8_t *v = (uint8_t *)tsr_volume_data(host);
        for (int64_t i = 0; i < n * n * n; i++) v[i] = (uint8_t)sample(n, i % n, i / n % n, i / n / n);
        planes.volume = v;
        status = tsr_volume_copy(host, context, &volume);
    }
    if (status == TSR_OK) status = tsr_volume_create(context, TSR_F32, size, NULL, &mixed);
    if (status == TSR_OK) status = tsr_surface_workspace_create(context, &workspace);
    for (int k = 0; k < FRAMES && status == TSR_OK; k++) {
        now.lower = 30 + 5 * (float)k;
        now.upper = now.lower + 60;
        now.centre[0] = (float)n * (0.2f + 0.05f * (float)k);
        status = tsr_map_run(context, &map, size, (const tsr_volume *const *)&volume, 1, &mixed, 1);
        if (status == TSR_OK) status = tsr_surface_extract_again(workspace, mixed, &options, &mesh, NULL);
        if (status == TSR_OK) printf("frame %2d: %lld triangles\n", k, (long long)tsr_mesh_triangle_count(mesh));
    }
    source.size = size;
    source.dtype = TSR_F32;
    source.planes = evaluate;
    source.user = &planes;
    if (status == TSR_OK) status = tsr_mesh_copy(mesh, NULL, &there);
    if (status == TSR_OK) status = tsr_surface_extract_source(context, &source, &options, 16, &other, NULL);
    if (status == TSR_OK) {
        *wrong = !same(there, other) || !tsr_mesh_triangle_count(there);
        printf("the last frame by planes of the host: %s\n", *wrong ? "another mesh" : "the same mesh");
        status = tsr_mesh_write(there, path, &(tsr_write_options){ .struct_size = sizeof(tsr_write_options), .overwrite = 1 });
    }
    tsr_mesh_destroy(&other);
    tsr_mesh_destroy(&there);
    tsr_surface_workspace_destroy(&workspace);
    tsr_volume_destroy(&mixed);
    tsr_volume_destroy(&volume);
    tsr_volume_destroy(&host);
    tsr_context_destroy(&context);
    return status;
}

int main(int argc, char **argv)
{
    const int side = argc > 4 ? atoi(argv[4]) : 96;
    int wrong = 0;
    if (argc < 2 || side < 8 || side > MOST) {
        fprintf(stderr, "usage: %s OUTPUT.ply [MODULE [DEVICE [SIDE, 8 to %d]]]\n", argv[0], (int)MOST);
        return 2;
    }
    if (run(argv[1], argc > 2 ? argv[2] : "mixture", argc > 3 ? argv[3] : "cpu", side, &wrong) == TSR_OK) return wrong;
    fprintf(stderr, "mixture: %s\n", tsr_error_trace());
    return 1;
}
