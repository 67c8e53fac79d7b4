/* Adaptive tessellation: patches become as many triangles as their place in the picture needs, by a HistoPyramid that expands, not by a geometry shader.
 *
 *   example_tessellate [MODULE [DEVICE]]
 *
 * A torus of 24 x 10 patches is seen from nearby. Each patch is divided into L x L squares, L = 1 to 16 by its distance from the eye; the pyramid's counts are 2 L^2, and
 * its outputs (patch, copy) are the triangles, whose corners the map of examples/map/patches.c finds, one thread each. Ends with 1 unless the mesh is closed, in
 * one piece and of the area of a torus; writes tessellate.png. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../map/patches.h"
#include "tessera/tessera.h"

enum { ACROSS = 24, ALONG = 10, WIDTH = 640, HEIGHT = 420, PLACES = ACROSS * ALONG * PATCH_MOST * PATCH_MOST };
static const double pi = 3.14159265358979323846, major = 1, minor = 0.4;

static void place(uint32_t at, double p[3])
{
    const double u = 2 * pi * (at % (ACROSS * PATCH_MOST)) / (ACROSS * PATCH_MOST),
                 v = 2 * pi * (double)(at / (ACROSS * PATCH_MOST)) / (ALONG * PATCH_MOST);
    p[0] = (major + minor * cos(v)) * cos(u);
    p[1] = (major + minor * cos(v)) * sin(u);
    p[2] = minor * sin(v);
}

/* To the picture, seen from (0.3, -2.6, 1.1). */
static double project(const double p[3], double pixel[2])
{
    const double away[3] = { p[0] - 0.3, p[1] + 2.6, p[2] - 1.1 }, depth = 0.92 * away[1] - 0.39 * away[2];
    pixel[0] = 0.5 * WIDTH + 400 * away[0] / depth;
    pixel[1] = 0.5 * HEIGHT - 400 * (0.39 * away[1] + 0.92 * away[2]) / depth;
    return depth;
}

static void line(tsr_image *image, const double a[2], const double b[2], int bright)
{
    const int steps = 1 + (int)fmax(fabs(b[0] - a[0]), fabs(b[1] - a[1]));
    for (int k = 0; k <= steps; k++) {
        const int x = (int)floor(a[0] + (b[0] - a[0]) * k / steps), y = (int)floor(a[1] + (b[1] - a[1]) * k / steps);
        uint8_t *p = image->pixels + 3 * ((int64_t)y * WIDTH + x);
        if (x < 0 || y < 0 || x >= WIDTH || y >= HEIGHT) continue;
        p[0] = (uint8_t)bright;
        p[1] = (uint8_t)(bright / 4 + 60);
        p[2] = 40;
    }
}

/* Triangles that face the eye, by their edges. */
static tsr_status draw(const tsr_mesh *mesh, const char *path)
{
    tsr_image image = { 0 };
    const float *vertex = tsr_mesh_vertices_const(mesh);
    const uint32_t *triangle = tsr_mesh_triangles_const(mesh);
    tsr_status status = tsr_image_create(WIDTH, HEIGHT, 3, &image);
    if (status == TSR_OK) memset(image.pixels, 250, 3 * (size_t)WIDTH * HEIGHT);
    for (int64_t t = 0; status == TSR_OK && t < tsr_mesh_triangle_count(mesh); t++) {
        double at[3][2], depth = 0;
        for (int k = 0; k < 3; k++) {
            const float *v = vertex + 3 * (size_t)triangle[3 * t + k];
            depth += project((const double[3]){ (double)v[0], (double)v[1], (double)v[2] }, at[k]) / 3;
        }
        if ((at[1][0] - at[0][0]) * (at[2][1] - at[0][1]) < (at[1][1] - at[0][1]) * (at[2][0] - at[0][0]))
            for (int k = 0; k < 3; k++) line(&image, at[k], at[(k + 1) % 3], (int)fmin(220, 70 * depth - 60));
    }
    if (status == TSR_OK) status = tsr_image_write(&image, path, &(tsr_write_options){ .struct_size = sizeof(tsr_write_options), .overwrite = 1 });
    tsr_image_destroy(&image);
    return status;
}

/* The mesh of the corners, without triangles of no area. */
static tsr_status weave(const uint32_t *corner, int64_t triangles, tsr_mesh **mesh)
{
    static uint32_t number[PLACES];
    uint32_t *kept = (uint32_t *)malloc((size_t)triangles * 3 * sizeof *kept);
    int64_t vertices = 0, count = 0;
    *mesh = NULL;
    if (!kept) return TSR_ERROR_MEMORY;
    memset(number, 0xff, sizeof number);
    for (int64_t t = 0; t < triangles; t++) {
        const uint32_t *c = corner + 3 * t;
        if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0]) continue;
        for (int k = 0; k < 3; k++) {
            if (number[c[k]] == UINT32_MAX) number[c[k]] = (uint32_t)vertices++;
            kept[3 * count + k] = number[c[k]];
        }
        count++;
    }
    const tsr_status status = tsr_mesh_create(NULL, vertices, count, 0, mesh);
    for (uint32_t at = 0; status == TSR_OK && at < PLACES; at++)
        if (number[at] != UINT32_MAX) {
            double p[3];
            place(at, p);
            for (int k = 0; k < 3; k++) tsr_mesh_vertices(*mesh)[3 * (int64_t)number[at] + k] = (float)p[k];
        }
    if (status == TSR_OK) memcpy(tsr_mesh_triangles(*mesh), kept, (size_t)count * 3 * sizeof *kept);
    free(kept);
    return status;
}

static tsr_status run(const char *module, const char *device, int *wrong)
{
    static int32_t counts[ACROSS * ALONG];
    const patches torus = { ACROSS, ALONG };
    const tsr_size3 size = { ACROSS, ALONG, 1 };
    tsr_context_options where = TSR_CONTEXT_OPTIONS;
    tsr_pyramid_options options = TSR_PYRAMID_OPTIONS;
    tsr_pyramid_info info = TSR_PYRAMID_INFO;
    tsr_context *context = NULL;
    tsr_volume *host = NULL, *in[2] = { NULL, NULL }, *corners = NULL, *got = NULL;
    tsr_pyramid *pyramid = NULL;
    tsr_mesh *mesh = NULL;
    tsr_mesh_measures measures = TSR_MESH_MEASURES;
    tsr_map map = { NULL, NULL };
    for (int k = 0; k < ACROSS * ALONG; k++) {
        double p[3], pixel[2];
        place((uint32_t)((k / ACROSS * PATCH_MOST + PATCH_MOST / 2) * ACROSS * PATCH_MOST + k % ACROSS * PATCH_MOST + PATCH_MOST / 2), p);
        const double depth = project(p, pixel);
        const int level = depth < 1.4 ? 16 : depth < 1.7 ? 8 : depth < 2.3 ? 4 : depth < 3 ? 2 : 1;
        counts[k] = 2 * level * level;
    }
    where.device = device;
    options.classifier = TSR_PYRAMID_COUNTS;
    options.most = 2 * PATCH_MOST * PATCH_MOST;
    options.implicit_base = 1;
    tsr_status status = tsr_context_create(&where, &context);
    if (status == TSR_OK) status = tsr_map_load(context, module, sizeof torus, &map);
    map.data = &torus;
    if (status == TSR_OK) status = tsr_volume_wrap(NULL, TSR_I32, size, NULL, counts, NULL, NULL, &host);
    if (status == TSR_OK) status = tsr_volume_copy(host, context, &in[1]);
    if (status == TSR_OK) status = tsr_pyramid_create(context, size, &options, &pyramid);
    if (status == TSR_OK) status = tsr_pyramid_build(pyramid, in[1]);
    if (status == TSR_OK) status = tsr_pyramid_describe(pyramid, &info);
    const int64_t triangles = (int64_t)info.total;
    if (status == TSR_OK) status = tsr_volume_create(context, TSR_I64, (tsr_size3){ 2, triangles, 1 }, NULL, &in[0]);
    if (status == TSR_OK) status = tsr_pyramid_extract(pyramid, 0, triangles, (tsr_pyramid_entry *)tsr_volume_data(in[0]));
    if (status == TSR_OK) status = tsr_volume_create(context, TSR_U32, (tsr_size3){ 3, triangles, 1 }, NULL, &corners);
    if (status == TSR_OK) status = tsr_map_run(context, &map, tsr_volume_size(corners), (const tsr_volume *const *)in, 2, &corners, 1);
    if (status == TSR_OK) status = tsr_volume_copy(corners, NULL, &got);
    if (status == TSR_OK) status = weave((const uint32_t *)tsr_volume_data_const(got), triangles, &mesh);
    if (status == TSR_OK) status = tsr_mesh_measure(mesh, &measures);
    if (status == TSR_OK) {
        const double area = 4 * pi * pi * major * minor;
        printf("%lld triangles of %d patches, %lld with an area; Euler characteristic %lld, %lld edges at a border, area %.4f of %.4f\n",
               (long long)triangles, ACROSS * ALONG, (long long)tsr_mesh_triangle_count(mesh), (long long)measures.euler,
               (long long)measures.boundary_edges, measures.area, area);
        *wrong = measures.euler != 0 || measures.boundary_edges || measures.nonmanifold_edges || measures.misoriented_edges || measures.volume <= 0 ||
                 fabs(measures.area / area - 1) > 0.03;
        status = draw(mesh, "tessellate.png");
    }
    tsr_mesh_destroy(&mesh);
    tsr_volume_destroy(&got);
    tsr_volume_destroy(&corners);
    tsr_pyramid_destroy(&pyramid);
    for (int k = 0; k < 2; k++) tsr_volume_destroy(&in[k]);
    tsr_volume_destroy(&host);
    tsr_context_destroy(&context);
    return status;
}

int main(int argc, char **argv)
{
    int wrong = 0;
    if (run(argc > 1 ? argv[1] : "patches", argc > 2 ? argv[2] : "cpu", &wrong) == TSR_OK) return wrong;
    fprintf(stderr, "tessellate: %s\n", tsr_error_trace());
    return 1;
}
