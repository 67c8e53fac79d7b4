/* surface/view_order.h: the place of a triangle in the order of a view. One number per triangle: how many cells away it is along z, y and x. */
#ifndef TSR_SURFACE_VIEW_ORDER_H
#define TSR_SURFACE_VIEW_ORDER_H

#include <stdint.h>

#include "core/hd.h"

enum { TSR_VIEW_BITS = 21 };

typedef struct tsr_view_job {
    double index[3][4]; /* world to index */
    double eye[3];      /* index; with a direction: beyond all cells, on the side it comes from */
    int32_t nearest_first;
    int64_t triangles;
    const float *vertices;
    const uint32_t *numbers;      /* [3 triangles] of the mesh */
    uint64_t *keys, *sorted_keys; /* [triangles] */
    uint32_t *order, *sorted;
    uint32_t *moved; /* [3 triangles] the numbers in the order of the view */
} tsr_view_job;

/* Largest integer <= v, within +- 2^20. */
TSR_HD int32_t tsr_view_cell(double v)
{
    const int32_t most = 1 << (TSR_VIEW_BITS - 1);
    if (!(v > -most)) return -most;
    if (v >= most - 1) return most - 1;
    int32_t cell = (int32_t)v;
    return cell - (v < (double)cell);
}

/* Along a ray from the eye no cell comes nearer along any axis: cells ordered by their distances along z, then y, then x hide one another in this order.
 * The cell of a triangle is that of its centre. */
TSR_HD void tsr_view_key(const tsr_view_job *job, int64_t k)
{
    double centre[3] = { 0, 0, 0 };
    uint64_t key = 0;
    for (int32_t n = 0; n < 3; n++)
        for (int32_t r = 0; r < 3; r++) centre[r] += (double)job->vertices[3 * (int64_t)job->numbers[3 * k + n] + r] / 3.0;
    for (int32_t r = 2; r >= 0; r--) {
        const double *m = job->index[r];
        const int32_t away = tsr_view_cell(m[0] * centre[0] + m[1] * centre[1] + m[2] * centre[2] + m[3]) - tsr_view_cell(job->eye[r]);
        key = key << TSR_VIEW_BITS | (uint64_t)(away < 0 ? -away : away);
    }
    const uint64_t all = ((uint64_t)1 << 3 * TSR_VIEW_BITS) - 1;
    job->keys[k] = job->nearest_first ? key : all - key;
    job->order[k] = (uint32_t)k;
}

TSR_HD void tsr_view_move(const tsr_view_job *job, int64_t k)
{
    const uint32_t *from = job->numbers + 3 * (int64_t)job->sorted[k];
    for (int32_t n = 0; n < 3; n++) job->moved[3 * k + n] = from[n];
}

#endif
