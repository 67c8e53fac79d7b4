/* Game of Life in your own C on any device: five cells, the R-pentomino, grow for 1103 generations until only still lives, blinkers and gliders are left: 116 cells.
 *
 *   example_life [MODULE [DEVICE [GENERATIONS]]]
 *
 * MODULE is what tessera_add_map made of examples/map/life.c. Two boards take turns: what a pass writes is read by the next. Prints the population and writes
 * life.png: what lives is white, what has lived fades from yellow to blue. */
#include <stdio.h>
#include <stdlib.h>

#include "../map/life.h"
#include "tessera/tessera.h"

enum { SIDE = 640, EACH = 4 };

/* Older cells darken, living ones are new; returns how many live. */
static int look(const uint8_t *cells, float *age)
{
    int living = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        age[i] = cells[i] ? 1 : age[i] * 0.985f;
        living += cells[i];
    }
    return living;
}

static tsr_status draw(const uint8_t *cells, const float *age)
{
    tsr_image image = { 0 };
    tsr_status status = tsr_image_create(SIDE, SIDE, 3, &image);
    for (int i = 0; i < SIDE * SIDE && status == TSR_OK; i++) {
        const float a = age[i];
        uint8_t *p = image.pixels + 3 * i;
        p[0] = (uint8_t)(cells[i] ? 255 : 255 * a * a);
        p[1] = (uint8_t)(cells[i] ? 255 : 200 * a * a);
        p[2] = (uint8_t)(cells[i] ? 255 : 30 + 160 * a * (1 - a) * 2);
    }
    if (status == TSR_OK)
        status = tsr_image_write(&image, "life.png", &(tsr_write_options){ .struct_size = sizeof(tsr_write_options), .overwrite = 1 });
    tsr_image_destroy(&image);
    return status;
}

static tsr_status run(const char *module, const char *device, int generations, uint8_t *cells, float *age)
{
    static const int start[5][2] = { { 1, 0 }, { 2, 0 }, { 0, 1 }, { 1, 1 }, { 1, 2 } };
    const life conway = { .born = 1 << 3, .stays = 1 << 2 | 1 << 3 };
    const tsr_size3 size = { SIDE, SIDE, 1 };
    tsr_context_options where = TSR_CONTEXT_OPTIONS;
    tsr_context *context = NULL;
    tsr_volume *host = NULL, *board[2] = { NULL, NULL }, *now = NULL;
    tsr_map map;
    where.device = device;
    for (int k = 0; k < 5; k++) cells[(SIDE / 2 + start[k][1]) * SIDE + SIDE / 2 + start[k][0]] = 1;
    tsr_status status = tsr_context_create(&where, &context);
    if (status == TSR_OK) status = tsr_map_load(context, module, sizeof conway, &map);
    if (status == TSR_OK) status = tsr_volume_wrap(NULL, TSR_U8, size, NULL, cells, NULL, NULL, &host);
    if (status == TSR_OK) status = tsr_volume_copy(host, context, &board[0]);
    if (status == TSR_OK) status = tsr_volume_create(context, TSR_U8, size, NULL, &board[1]);
    map.data = &conway;
    for (int g = 0; g <= generations && status == TSR_OK; g++) {
        const tsr_volume *in[1] = { board[g % 2] };
        tsr_volume *out[1] = { board[1 - g % 2] };
        if (g % EACH == 0 || g == generations) {
            status = tsr_volume_copy(board[g % 2], NULL, &now);
            if (status != TSR_OK) break;
            const int living = look((const uint8_t *)tsr_volume_data_const(now), age);
            if (g % 200 == 0 || g == generations) printf("generation %4d: %d cells\n", g, living);
            if (g == generations) status = draw((const uint8_t *)tsr_volume_data_const(now), age);
            tsr_volume_destroy(&now);
        }
        if (status == TSR_OK) status = tsr_map_run(context, &map, size, in, 1, out, 1);
    }
    for (int k = 0; k < 2; k++) tsr_volume_destroy(&board[k]);
    tsr_volume_destroy(&host);
    tsr_context_destroy(&context);
    return status;
}

int main(int argc, char **argv)
{
    uint8_t *cells = (uint8_t *)calloc(SIDE * SIDE, 1);
    float *age = (float *)calloc(SIDE * SIDE, sizeof *age);
    int failed = 1;
    if (!cells || !age) fprintf(stderr, "life: out of memory\n");
    else if (run(argc > 1 ? argv[1] : "life", argc > 2 ? argv[2] : "cpu", argc > 3 ? atoi(argv[3]) : 1103, cells, age) == TSR_OK) failed = 0;
    else fprintf(stderr, "life: %s\n", tsr_error_trace());
    free(cells);
    free(age);
    return failed;
}
