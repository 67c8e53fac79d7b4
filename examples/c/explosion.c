/* A heart breaks: voxels to a cloud of points by a HistoPyramid, the cloud animated and drawn where it was made. Only the picture comes back.
 *
 *   example_explosion [MODULE [DEVICE [SIDE]]]
 *
 * MODULE is what tessera_add_map made of examples/map/particles.c. The points stand where the edges of the voxels cross the surface (classifier CROSSINGS), with normals;
 * every frame a map moves them and makes their fragments, and tsr_scatter_combine with the rule MIN is the depth test. The number of points is compared with a plain
 * loop over the voxels. Writes explosion.png, four moments side by side. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../map/particles.h"
#include "tessera/tessera.h"

enum { WIDTH = 240, HEIGHT = 300, MOMENTS = 4 };

/* The heart of Taubin (1994): below 0 inside; y is up. */
static float heart(double x, double y, double z)
{
    const double a = x * x + 2.25 * z * z + y * y - 1;
    return (float)(a * a * a - x * x * y * y * y - 0.1125 * z * z * y * y * y);
}

/* Edges between neighbours on different sides. */
static int64_t crossed(const float *field, int64_t n)
{
    const int64_t stride[3] = { 1, n, n * n };
    int64_t count = 0;
    for (int64_t i = 0; i < n * n * n; i++) {
        const int64_t at[3] = { i % n, i / n % n, i / n / n };
        for (int k = 0; k < 3; k++) count += at[k] + 1 < n && (field[i] < 0) != (field[i + stride[k]] < 0);
    }
    return count;
}

/* One moment: every particle moves and is drawn; the picture is added to the sheet. */
static tsr_status frame(tsr_context *context, tsr_map *map, tsr_volume *const *in, tsr_volume *const *made, const tsr_volume *empty, int moment,
                        tsr_image *sheet)
{
    tsr_volume *screen = NULL, *got = NULL;
    tsr_status status = tsr_volume_copy(empty, context, &screen);
    if (status == TSR_OK) status = tsr_map_run(context, map, tsr_volume_size(made[0]), (const tsr_volume *const *)in, 2, made, 2);
    if (status == TSR_OK)
        status = tsr_scatter_combine(context, TSR_SCATTER_MIN, TSR_U64, tsr_volume_data(made[1]), TSR_U32, tsr_volume_data(made[0]),
                                     tsr_volume_count(made[0]), tsr_volume_data(screen), WIDTH * HEIGHT, NULL, 0);
    if (status == TSR_OK) status = tsr_volume_copy(screen, NULL, &got);
    for (int i = 0; status == TSR_OK && i < WIDTH * HEIGHT; i++) {
        const uint64_t seen = ((const uint64_t *)tsr_volume_data_const(got))[i];
        uint8_t *p = sheet->pixels + 3 * ((i / WIDTH * MOMENTS + moment) * WIDTH + i % WIDTH);
        for (int k = 0; k < 3; k++) p[k] = seen == UINT64_MAX ? 12 : (uint8_t)(seen >> (16 - 8 * k));
    }
    tsr_volume_destroy(&got);
    tsr_volume_destroy(&screen);
    return status;
}

static tsr_status run(const char *module, const char *device, int64_t n, int *wrong)
{
    static const float times[MOMENTS] = { 0, 0.08f, 0.24f, 0.6f };
    particles view = { 0, 1.6f, 2.4f, -1.4f, { 0.8f, 0, -0.6f }, { 0.12f, 0.98f, 0.16f }, { 0.59f, -0.2f, 0.78f }, 68, WIDTH, HEIGHT };
    const double step = 3.0 / (double)(n - 1);
    const tsr_geometry place = tsr_geometry_make((tsr_vec3){ step, step, step }, (tsr_vec3){ -1.5, -1.5, -1.5 }, TSR_SPACE_NONE);
    tsr_context_options where = TSR_CONTEXT_OPTIONS;
    tsr_points_volume_options options = TSR_POINTS_VOLUME_OPTIONS;
    tsr_pyramid_options crossings = TSR_PYRAMID_OPTIONS;
    tsr_context *context = NULL;
    tsr_volume *host = NULL, *field = NULL, *in[2] = { NULL, NULL }, *made[2] = { NULL, NULL }, *empty = NULL;
    tsr_points *cloud = NULL;
    tsr_image sheet = { 0 };
    tsr_map map = { NULL, &view };
    where.device = device;
    crossings.classifier = TSR_PYRAMID_CROSSINGS;
    options.pyramid = &crossings;
    options.normals = 1;
    tsr_status status = tsr_context_create(&where, &context);
    if (status == TSR_OK) status = tsr_map_load(context, module, sizeof view, &map);
    map.data = &view;
    if (status == TSR_OK) status = tsr_volume_create(NULL, TSR_F32, (tsr_size3){ n, n, n }, &place, &host);
    if (status == TSR_OK) {
        float *f = (float *)tsr_volume_data(host);
        for (int64_t i = 0; i < n * n * n; i++)
            f[i] = heart(-1.5 + step * (double)(i % n), -1.5 + step * (double)(i / n % n), -1.5 + step * (double)(i / n / n));
        status = tsr_volume_copy(host, context, &field);
    }
    if (status == TSR_OK) status = tsr_points_from_volume(context, field, &options, &cloud);
    if (status == TSR_OK) {
        const int64_t count = tsr_points_count(cloud), expected = crossed((const float *)tsr_volume_data_const(host), n);
        const tsr_size3 fragments = { 9, count, 1 };
        *wrong = count != expected;
        printf("%lld particles from %lld voxels, %lld edges crossed by a loop\n", (long long)count, (long long)(n * n * n), (long long)expected);
        status = tsr_volume_wrap(context, TSR_F32, (tsr_size3){ 3, count, 1 }, NULL, tsr_points_positions(cloud), NULL, NULL, &in[0]);
        if (status == TSR_OK)
            status = tsr_volume_wrap(context, TSR_F32, (tsr_size3){ 3, count, 1 }, NULL, tsr_points_normals(cloud), NULL, NULL, &in[1]);
        if (status == TSR_OK) status = tsr_volume_create(context, TSR_U32, fragments, NULL, &made[0]);
        if (status == TSR_OK) status = tsr_volume_create(context, TSR_U64, fragments, NULL, &made[1]);
        if (status == TSR_OK) status = tsr_volume_create(NULL, TSR_U64, (tsr_size3){ WIDTH, HEIGHT, 1 }, NULL, &empty);
        if (status == TSR_OK) memset(tsr_volume_data(empty), 0xff, sizeof(uint64_t) * WIDTH * HEIGHT);
    }
    if (status == TSR_OK) status = tsr_image_create(MOMENTS * WIDTH, HEIGHT, 3, &sheet);
    for (int k = 0; k < MOMENTS && status == TSR_OK; k++) {
        view.time = times[k];
        status = frame(context, &map, in, made, empty, k, &sheet);
    }
    if (status == TSR_OK)
        status = tsr_image_write(&sheet, "explosion.png", &(tsr_write_options){ .struct_size = sizeof(tsr_write_options), .overwrite = 1 });
    tsr_image_destroy(&sheet);
    tsr_volume_destroy(&empty);
    for (int k = 0; k < 2; k++) {
        tsr_volume_destroy(&made[k]);
        tsr_volume_destroy(&in[k]);
    }
    tsr_points_destroy(&cloud);
    tsr_volume_destroy(&field);
    tsr_volume_destroy(&host);
    tsr_context_destroy(&context);
    return status;
}

int main(int argc, char **argv)
{
    const int side = argc > 3 ? atoi(argv[3]) : 96;
    int wrong = 0;
    if (side < 8 || side > 512) {
        fprintf(stderr, "explosion: SIDE is '%s', expected 8 to 512\n", argv[3]);
        return 2;
    }
    if (run(argc > 1 ? argv[1] : "particles", argc > 2 ? argv[2] : "cpu", side, &wrong) == TSR_OK) return wrong;
    fprintf(stderr, "explosion: %s\n", tsr_error_trace());
    return 1;
}
