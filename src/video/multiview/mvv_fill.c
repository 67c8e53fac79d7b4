/* video/multiview/mvv_fill.c: means of what is there, level by level down to one cell; then empty cells take their parent's value on the way back. */
#include "video/multiview/mvv_fill.h"

/* A level: extents along u, v, camera, time. */
typedef struct grid {
    int64_t n[TSR_MVV_AXES];
    int32_t *cell;
} grid;

static int64_t cells(const grid *g) { return g->n[0] * g->n[1] * g->n[2] * g->n[3]; }

static grid halved(const grid *fine)
{
    grid coarse = { .cell = fine->cell + cells(fine) };
    for (int a = 0; a < TSR_MVV_AXES; a++) coarse.n[a] = fine->n[a] > 1 ? fine->n[a] / 2 : 1;
    return coarse;
}

/* Places of the children of a cell, relative to the first. */
static int children_of(const grid *fine, int64_t *offset)
{
    int64_t stride = 1;
    int count = 1;
    offset[0] = 0;
    for (int a = 0; a < TSR_MVV_AXES; a++) {
        if (fine->n[a] > 1) {
            for (int k = 0; k < count; k++) offset[count + k] = offset[k] + stride;
            count *= 2;
        }
        stride *= fine->n[a];
    }
    return count;
}

typedef void (*visit)(int32_t *child, int32_t *cell, const int64_t *offset, int count);

static void down(int32_t *child, int32_t *cell, const int64_t *offset, int count) { *cell = tsr_mvv_mean_of(child, offset, count); }

static void up(int32_t *child, int32_t *cell, const int64_t *offset, int count) { tsr_mvv_inherit(child, *cell, offset, count); }

static inline __attribute__((always_inline)) void each(const grid *fine, const grid *coarse, visit f)
{
    int64_t offset[TSR_MVV_CHILDREN], at = 0;
    const int64_t step = fine->n[0] > 1 ? 2 : 1;
    const int count = children_of(fine, offset);
    for (int64_t t = 0; t < coarse->n[3]; t++)
        for (int64_t s = 0; s < coarse->n[2]; s++)
            for (int64_t v = 0; v < coarse->n[1]; v++) {
                const int64_t ft = fine->n[3] > 1 ? 2 * t : t, fs = fine->n[2] > 1 ? 2 * s : s, fv = fine->n[1] > 1 ? 2 * v : v;
                int32_t *child = fine->cell + ((ft * fine->n[2] + fs) * fine->n[1] + fv) * fine->n[0];
                for (int64_t u = 0; u < coarse->n[0]; u++, child += step) f(child, coarse->cell + at++, offset, count);
            }
}

static void fill(grid first, int32_t *scratch)
{
    grid level[TSR_MVV_LEVELS];
    int top = 0;
    level[0] = first;
    while (cells(&level[top]) > 1) {
        level[top + 1] = halved(&level[top]);
        if (!top) level[1].cell = scratch;
        each(&level[top], &level[top + 1], down);
        top++;
    }
    if (level[top].cell[0] == TSR_MVV_EMPTY) level[top].cell[0] = 0;
    for (; top > 0; top--) each(&level[top - 1], &level[top], up);
}

size_t tsr_mvv_fill_scratch(const tsr_mvv_shape *shape) { return ((size_t)1 << shape->all) + 64; }

void tsr_mvv_fill(const tsr_mvv_shape *shape, int flat, int32_t *samples, int32_t *scratch)
{
    grid g = { .cell = samples };
    for (int a = 0; a < TSR_MVV_AXES; a++) g.n[a] = flat && a > 1 ? 1 : (int64_t)1 << shape->bits[a];
    const int64_t textures = flat ? (int64_t)1 << (shape->bits[2] + shape->bits[3]) : 1;
    for (int64_t k = 0; k < textures; k++, g.cell += cells(&g)) fill(g, scratch);
}
