/* Voronoi cells by depth test, as on the first programmable graphics cards: a cone stands on every site, the nearest surface wins at every pixel.
 *
 *   example_voronoi [MODULE [DEVICE [SITES]]]
 *
 * MODULE is what tessera_add_map made of examples/map/cones.c: it makes the fragments, pixel and depth. tsr_scatter_combine with the rule MIN is the depth test: the site
 * is in the low bits of a depth, so of equally near sites the first wins, on every device. Compares with a loop over all sites and writes voronoi.png. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../map/cones.h"
#include "tessera/tessera.h"

enum { WIDTH = 480, HEIGHT = 320, MOST = 1000 };

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Pixels whose site is another than the nearest one by a loop over all; the picture. */
static int compare(const uint64_t *depth, const int32_t *sites, int count, tsr_image *image)
{
    int wrong = 0;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            uint64_t best = UINT64_MAX;
            const uint64_t d = depth[y * WIDTH + x];
            uint8_t *p = image->pixels + 3 * (y * WIDTH + x);
            for (int s = 0; s < count; s++) {
                const int64_t dx = x - sites[2 * s], dy = y - sites[2 * s + 1];
                const uint64_t own = (uint64_t)(dx * dx + dy * dy) << 32 | (uint64_t)s;
                best = own < best ? own : best;
            }
            wrong += d != best;
            uint32_t colour = (uint32_t)d * 2654435761u;
            for (int k = 0; k < 3; k++, colour >>= 8) p[k] = (uint8_t)(d >> 32 < 5 ? 20 : 90 + colour % 150);
        }
    return wrong;
}

static tsr_status run(const char *module, const char *device, int count)
{
    static int32_t sites[2 * MOST];
    static uint64_t far_away[WIDTH * HEIGHT];
    const cones view = { WIDTH, HEIGHT, 4 + (int)(3.2 * sqrt((double)WIDTH * HEIGHT / count)) }; /* no pixel is farther from its site, very likely */
    const tsr_size3 fragments = { 2 * view.reach + 1, 2 * view.reach + 1, count }, screen = { WIDTH, HEIGHT, 1 };
    tsr_context_options where = TSR_CONTEXT_OPTIONS;
    tsr_context *context = NULL;
    tsr_volume *host[2] = { NULL, NULL }, *places = NULL, *depth = NULL, *made[2] = { NULL, NULL }, *got = NULL;
    tsr_image image = { 0 };
    tsr_map map;
    uint32_t random = 7;
    where.device = device;
    for (int s = 0; s < count; s++) {
        sites[2 * s] = (int32_t)(next(&random) % WIDTH);
        sites[2 * s + 1] = (int32_t)(next(&random) % HEIGHT);
    }
    for (int i = 0; i < WIDTH * HEIGHT; i++) far_away[i] = UINT64_MAX;
    tsr_status status = tsr_context_create(&where, &context);
    if (status == TSR_OK) status = tsr_map_load(context, module, sizeof view, &map);
    map.data = &view;
    if (status == TSR_OK) status = tsr_volume_wrap(NULL, TSR_I32, (tsr_size3){ 2, count, 1 }, NULL, sites, NULL, NULL, &host[0]);
    if (status == TSR_OK) status = tsr_volume_wrap(NULL, TSR_U64, screen, NULL, far_away, NULL, NULL, &host[1]);
    if (status == TSR_OK) status = tsr_volume_copy(host[0], context, &places);
    if (status == TSR_OK) status = tsr_volume_copy(host[1], context, &depth);
    if (status == TSR_OK) status = tsr_volume_create(context, TSR_U32, fragments, NULL, &made[0]);
    if (status == TSR_OK) status = tsr_volume_create(context, TSR_U64, fragments, NULL, &made[1]);
    if (status == TSR_OK) status = tsr_map_run(context, &map, fragments, (const tsr_volume *const *)&places, 1, made, 2);
    if (status == TSR_OK)
        status = tsr_scatter_combine(context, TSR_SCATTER_MIN, TSR_U64, tsr_volume_data(made[1]), TSR_U32, tsr_volume_data(made[0]),
                                     tsr_volume_count(made[0]), tsr_volume_data(depth), WIDTH * HEIGHT, NULL, 0);
    if (status == TSR_OK) status = tsr_volume_copy(depth, NULL, &got);
    if (status == TSR_OK) status = tsr_image_create(WIDTH, HEIGHT, 3, &image);
    if (status == TSR_OK) {
        const int wrong = compare((const uint64_t *)tsr_volume_data_const(got), sites, count, &image);
        printf("%d sites, %lld fragments, %d of %d pixels differ from the loop over all sites\n", count, (long long)tsr_volume_count(made[0]), wrong,
               WIDTH * HEIGHT);
        status = tsr_image_write(&image, "voronoi.png", &(tsr_write_options){ .struct_size = sizeof(tsr_write_options), .overwrite = 1 });
    }
    tsr_image_destroy(&image);
    tsr_volume_destroy(&got);
    for (int k = 0; k < 2; k++) tsr_volume_destroy(&made[k]);
    tsr_volume_destroy(&depth);
    tsr_volume_destroy(&places);
    for (int k = 0; k < 2; k++) tsr_volume_destroy(&host[k]);
    tsr_context_destroy(&context);
    return status;
}

int main(int argc, char **argv)
{
    const int count = argc > 3 ? atoi(argv[3]) : 120;
    if (count < 1 || count > MOST) {
        fprintf(stderr, "voronoi: SITES is '%s', expected 1 to %d\n", argv[3], (int)MOST);
        return 2;
    }
    if (run(argc > 1 ? argv[1] : "cones", argc > 2 ? argv[2] : "cpu", count) == TSR_OK) return 0;
    fprintf(stderr, "voronoi: %s\n", tsr_error_trace());
    return 1;
}
