/* video/dirac/predict_run.h: overlapped block motion compensation of a few rows of one column, as a thread of a device does it: what a block says is worked
 * out once for all of them. The sums are those of predict.h. */
#ifndef TSR_VIDEO_DIRAC_PREDICT_RUN_H
#define TSR_VIDEO_DIRAC_PREDICT_RUN_H

#include "video/dirac/predict.h"

/* Extents of a component's blocks along an axis. */
typedef struct tsr_dirac_extent {
    int32_t length, separation, offset, count;
} tsr_dirac_extent;
TSR_HD tsr_dirac_extent tsr_dirac_extent_of(const tsr_dirac_predict_job *j, int32_t axis)
{
    tsr_dirac_extent e;
    e.length = j->p.length[axis] >> j->down[axis];
    e.separation = j->p.separation[axis] >> j->down[axis];
    e.offset = (e.length - e.separation) / 2;
    e.count = axis ? j->p.blocks_y : j->p.blocks_x;
    return e;
}

/* What all blocks of a component have in common. */
typedef struct tsr_dirac_run_source {
    const int16_t *reference[2];
    int64_t plane; /* samples of one */
    int32_t width, right, bottom, precision, down[2];
} tsr_dirac_run_source;
TSR_HD tsr_dirac_run_source tsr_dirac_run_source_of(const tsr_dirac_predict_job *j)
{
    const int32_t grid = j->p.precision > 0;
    tsr_dirac_run_source s;
    for (int32_t k = 0; k < 2; k++) {
        s.reference[k] = (const int16_t *)j->reference[k]; /* on a device samples have 2 bytes */
        s.down[k] = j->down[k];
    }
    s.plane = (int64_t)j->width * j->height;
    s.width = j->width;
    s.right = (j->width - 1) << grid;
    s.bottom = (j->height - 1) << grid;
    s.precision = (j->width | j->height) >> 26 ? -1 : j->p.precision; /* places are counted in 32 bits */
    return s;
}

/* Where a reference is read for the rows of a run: one, two or four places, and their weights; the others lie within it, too, and weigh 0. */
typedef struct tsr_dirac_run_view {
    const int16_t *at[4];
    int32_t weight[4];
} tsr_dirac_run_view;

/* How many places, for `rows` rows from y on: 0 where some of it is outside of the reference. */
TSR_HD int32_t tsr_dirac_run_look(const tsr_dirac_run_source *s, const int16_t vector[2], int32_t r, int32_t x, int32_t y, int32_t rows,
                                  tsr_dirac_run_view *v)
{
    if (s->precision < 0) return 0;
    const int32_t fine = s->precision ? s->precision - 1 : 0, n = 1 << fine, grid = s->precision > 0;
    const int32_t px = x * (1 << s->precision) + (vector[0] >> s->down[0]), py = y * (1 << s->precision) + (vector[1] >> s->down[1]);
    const int32_t rx = px & (n - 1), ry = py & (n - 1), hx = px >> fine, hy = py >> fine, odd_x = grid & hx, odd_y = grid & hy;
    if (hx < 0 || hx + (rx > 0) > s->right || hy < 0 || hy + ((rows - 1) << grid) + (ry > 0) > s->bottom) return 0;
    const int64_t across = odd_x ? 1 - s->plane : s->plane, down = odd_y ? s->width - 2 * s->plane : 2 * s->plane; /* as tsr_dirac_half_place */
    v->at[0] = s->reference[r] + (2 * odd_y + odd_x) * s->plane + (int64_t)(hy >> grid) * s->width + (hx >> grid);
    v->at[1] = v->at[0] + (rx ? across : ry ? down : 0);
    v->at[2] = v->at[0] + (rx && ry ? down : 0);
    v->at[3] = v->at[0] + (rx && ry ? down + across : 0);
    v->weight[0] = (n - ry) * (n - rx);
    v->weight[1] = rx ? (n - ry) * rx : n * ry;
    v->weight[2] = rx ? ry * (n - rx) : 0;
    v->weight[3] = ry * rx;
    return rx && ry ? 4 : rx || ry ? 2 : 1;
}

/* tsr_dirac_fetch for row `row` of the run, from the first `places`. */
TSR_HD int32_t tsr_dirac_run_fetch(const tsr_dirac_run_source *s, const tsr_dirac_run_view *v, int32_t places, int32_t row)
{
    const int64_t on = (int64_t)row * s->width;
    const int32_t shift = s->precision > 1 ? 2 * (s->precision - 1) : 0;
    int32_t sum = (1 << shift) >> 1;
    for (int32_t k = 0; k < places; k++) sum += v->weight[k] * v->at[k][on];
    return sum >> shift;
}

#endif
