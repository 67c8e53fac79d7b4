/* Marching cubes and the HistoPyramid: same bits on every backend, SIMD variant and thread count. */
#include "check.h"

#include <math.h>

static const struct { tsr_size3 size; tsr_dtype dtype; tsr_surface_normals normals; int close, kind; } cases[] = {
    { { 2, 2, 2 }, TSR_U8, TSR_SURFACE_NORMALS_NONE, 0, 0 },         { { 33, 17, 9 }, TSR_I8, TSR_SURFACE_NORMALS_FORWARD, 1, 0 },
    { { 64, 9, 11 }, TSR_U16, TSR_SURFACE_NORMALS_CENTRAL, 0, 0 },   { { 95, 7, 5 }, TSR_I16, TSR_SURFACE_NORMALS_CENTRAL, 1, 1 },
    { { 40, 30, 20 }, TSR_F32, TSR_SURFACE_NORMALS_CENTRAL, 0, 1 },  { { 31, 31, 31 }, TSR_F64, TSR_SURFACE_NORMALS_FORWARD, 1, 1 },
    { { 70, 41, 33 }, TSR_F32, TSR_SURFACE_NORMALS_NONE, 0, 1 },     { { 96, 64, 48 }, TSR_U8, TSR_SURFACE_NORMALS_NONE, 1, 1 },
    { { 35, 9, 8 }, TSR_U32, TSR_SURFACE_NORMALS_CENTRAL, 0, 0 },    { { 34, 8, 9 }, TSR_I64, TSR_SURFACE_NORMALS_NONE, 1, 0 } };
enum { CASES = sizeof cases / sizeof *cases };

static void describe(int index, char *text, size_t bytes)
{
    snprintf(text, bytes, "%lldx%lldx%lld %s normals %d close %d %s", (long long)cases[index].size.x, (long long)cases[index].size.y,
             (long long)cases[index].size.z, tsr_dtype_name(cases[index].dtype), (int)cases[index].normals, cases[index].close,
             cases[index].kind ? "waves" : "noise");
}

/* Values from 0 to 100 (NaN here and there in waves of a float type), on the context's device. */
static tsr_volume *make(check *c, int index, tsr_dtype dtype)
{
    tsr_size3 n = cases[index].size;
    tsr_volume *host = NULL, *volume = NULL, *typed = NULL;
    uint64_t state = (uint64_t)index + 1;
    check_status(c, tsr_volume_create(NULL, TSR_F64, n, NULL, &host));
    for (int64_t v = 0; v < n.x * n.y * n.z && host; v++) {
        double x = (double)(v % n.x), y = (double)(v / n.x % n.y), z = (double)(v / n.x / n.y);
        double value = cases[index].kind ? 50 + 40 * sin(0.21 * x) * cos(0.17 * y + 0.5) + 10 * sin(0.3 * z) : (double)(check_random(&state) % 101);
        if (cases[index].kind && check_random(&state) % 500 == 0) value = (double)NAN;
        ((double *)tsr_volume_data(host))[v] = value;
    }
    if (host) check_status(c, tsr_volume_copy(host, c->context, &volume));
    if (volume) check_status(c, tsr_volume_convert(c->context, volume, dtype, &typed));
    tsr_volume_destroy(&volume);
    tsr_volume_destroy(&host);
    return typed;
}

static void surface(check *c, int index)
{
    tsr_volume *volume = make(c, index, cases[index].dtype);
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    tsr_surface_report report = TSR_SURFACE_REPORT;
    tsr_mesh *mesh = NULL;
    options.isovalue = 52.25;
    options.inside = index % 2 ? TSR_SURFACE_INSIDE_BELOW : TSR_SURFACE_INSIDE_ABOVE;
    options.normals = cases[index].normals;
    options.close = cases[index].close;
    options.ambiguity = (tsr_surface_ambiguity)(index % 3 == 0 ? 2 : index % 3 - 1); /* case 0, 3, 6, 9 decide */
    if (volume) {
        check_call(c, tsr_volume_count(volume) * (int64_t)tsr_dtype_size(cases[index].dtype),
                   (tsr_mesh_destroy(&mesh), tsr_surface_extract(c->context, volume, &options, &mesh, &report)));
    }
    if (mesh) {
        size_t bytes = (size_t)tsr_mesh_vertex_count(mesh) * 12;
        check_keep(c, "not a number", &report.not_a_number, sizeof report.not_a_number);
        check_keep_device(c, "vertices", tsr_mesh_vertices(mesh), bytes);
        if (tsr_mesh_normals(mesh)) check_keep_device(c, "normals", tsr_mesh_normals(mesh), bytes);
        check_keep_device(c, "triangles", tsr_mesh_triangles(mesh), (size_t)tsr_mesh_triangle_count(mesh) * 12);
    }
    tsr_mesh_destroy(&mesh);
    tsr_volume_destroy(&volume);
}

static void pyramid(check *c, int index)
{
    tsr_volume *volume = make(c, index, TSR_U8);
    tsr_pyramid_options options = TSR_PYRAMID_OPTIONS;
    tsr_pyramid *p = NULL;
    tsr_pyramid_info info = TSR_PYRAMID_INFO;
    options.order = index % 2 ? TSR_PYRAMID_ROW : TSR_PYRAMID_MORTON;
    if (index % 3 == 0) {
        options.classifier = TSR_PYRAMID_RANGE;
        options.lower = 20;
        options.upper = 60;
    }
    check_status(c, tsr_pyramid_create(c->context, cases[index].size, &options, &p));
    if (p && volume) check_call(c, tsr_volume_count(volume), tsr_pyramid_build(p, volume));
    if (!c->failed) check_status(c, tsr_pyramid_describe(p, &info));
    size_t bytes = (size_t)info.total * sizeof(tsr_pyramid_entry);
    void *entries = bytes ? check_device(c, NULL, bytes) : NULL;
    if (entries) check_status(c, tsr_pyramid_extract(p, 0, (int64_t)info.total, (tsr_pyramid_entry *)entries));
    check_keep(c, "total", &info.total, sizeof info.total);
    if (entries) check_keep_device(c, "entries", entries, bytes);
    check_release(c, entries, bytes);
    tsr_pyramid_destroy(&p);
    tsr_volume_destroy(&volume);
}

int main(int argc, char **argv)
{
    static const check_entry entries[] = { { "surface", CASES, describe, surface, NULL }, { "pyramid", CASES, describe, pyramid, NULL } };
    return check_main(argc, argv, entries, 2);
}
