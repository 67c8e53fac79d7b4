/* histopyramid/list_points.h: what is made of one entry of a list: a point of a cloud, an entry of a sparse matrix. */
#ifndef TSR_HISTOPYRAMID_LIST_POINTS_H
#define TSR_HISTOPYRAMID_LIST_POINTS_H

#include "histopyramid/tree.h"

typedef struct tsr_points_job {
    tsr_classifier classifier;
    double affine[3][4], normal[3][3]; /* normal: gradients along the index axes to world axes, with the sign asked for */
    int64_t count, first;              /* number of voxel 0 in the entries: that of the class */
    int64_t plane;                     /* of the whole volume that is the first of this one */
    const tsr_pyramid_entry *entries;
    float *positions, *normals; /* normals may be NULL */
} tsr_points_job;

/* Difference along axis k: central, one-sided at the border, 0 for an extent of 1. */
TSR_HD double tsr_point_slope(const tsr_classifier *c, int64_t i, const int64_t at[3], int32_t k)
{
    const int64_t stride = k == 0 ? 1 : k == 1 ? c->size[0] : c->size[0] * c->size[1];
    const int64_t up = at[k] + 1 < c->size[k] ? stride : 0, down = at[k] > 0 ? stride : 0;
    if (!up && !down) return 0.0;
    const double d = tsr_classifier_value(c, i + up) - tsr_classifier_value(c, i - down);
    return up && down ? 0.5 * d : d;
}

TSR_HD void tsr_point_gradient(const tsr_classifier *c, int64_t i, const int64_t at[3], double gradient[3])
{
    for (int32_t k = 0; k < 3; k++) gradient[k] = tsr_point_slope(c, i, at, k);
}

/* Axis of copy number `copy` of a voxel's crossed edges. */
TSR_HD int32_t tsr_point_edge(const tsr_classifier *c, int64_t i, const int64_t at[3], int64_t copy)
{
    const int64_t stride[3] = { 1, c->size[0], c->size[0] * c->size[1] };
    const double v = tsr_classifier_value(c, i);
    for (int32_t k = 0; k < 2; k++) {
        if (at[k] + 1 >= c->size[k]) continue;
        const double w = tsr_classifier_value(c, i + stride[k]);
        if (w == w && tsr_classify_value(c, v) != tsr_classify_value(c, w) && copy-- == 0) return k;
    }
    return 2;
}

TSR_HD void tsr_point_make(const tsr_points_job *job, int64_t n)
{
    const tsr_classifier *c = &job->classifier;
    const int64_t i = job->entries[n].voxel - job->first;
    int64_t at[3] = { i % c->size[0], i / c->size[0] % c->size[1], i / c->size[0] / c->size[1] };
    double place[3] = { (double)at[0], (double)at[1], (double)(at[2] + job->plane) }, gradient[3] = { 0.0, 0.0, 0.0 };
    if (job->normals) tsr_point_gradient(c, i, at, gradient);
    if (c->kind == TSR_PYRAMID_CROSSINGS) {
        const int32_t k = tsr_point_edge(c, i, at, job->entries[n].copy);
        const int64_t stride = k == 0 ? 1 : k == 1 ? c->size[0] : c->size[0] * c->size[1];
        const double v = tsr_classifier_value(c, i), w = tsr_classifier_value(c, i + stride);
        double t = (c->lower - v) / (w - v); /* infinite values have no place between: the middle */
        if (!(t >= 0.0 && t <= 1.0)) t = 0.5;
        place[k] += t;
        if (job->normals) {
            double other[3];
            at[k]++;
            tsr_point_gradient(c, i + stride, at, other);
            for (int32_t a = 0; a < 3; a++) gradient[a] += t * (other[a] - gradient[a]);
        }
    }
    for (int32_t r = 0; r < 3; r++)
        job->positions[3 * n + r] =
            (float)(job->affine[r][0] * place[0] + job->affine[r][1] * place[1] + job->affine[r][2] * place[2] + job->affine[r][3]);
    if (!job->normals) return;
    float world[3], most = 0.0f;
    for (int32_t r = 0; r < 3; r++) {
        world[r] = (float)(job->normal[r][0] * gradient[0] + job->normal[r][1] * gradient[1] + job->normal[r][2] * gradient[2]);
        most = tsr_maxf(most, tsr_absf(world[r]));
    }
    const int fine = most > 0.0f && most <= 3.4e38f;
    float square = 0.0f;
    for (int32_t r = 0; r < 3; r++) {
        world[r] = fine ? world[r] / most : 0.0f;
        square += world[r] * world[r];
    }
    for (int32_t r = 0; r < 3; r++) job->normals[3 * n + r] = world[r] * tsr_rsqrt(square);
}

typedef struct tsr_matrix_job {
    const void *dense;
    tsr_dtype dtype;
    int64_t rows, width, nonzeros;
    const uint64_t *places; /* of the entries in the dense matrix */
    uint64_t *starts;
    uint32_t *columns;
    void *values;
} tsr_matrix_job;

/* Entry n of the matrix; rows are done by rank queries. */
TSR_HD void tsr_matrix_entry(const tsr_matrix_job *job, int64_t n)
{
    const int64_t place = (int64_t)job->places[n];
    job->columns[n] = (uint32_t)(place % job->width);
    tsr_voxel_copy(job->dense, job->dtype, job->values, n, place);
}

typedef struct tsr_product_job {
    const uint64_t *starts;
    const uint32_t *columns;
    const void *values, *x;
    void *y;
    int64_t rows;
    tsr_dtype dtype, vector; /* of the values; of x and y */
} tsr_product_job;

enum { TSR_PRODUCT_LANES = 32 };
/* Sum number `lane` of a row: its entries lane, lane + 32, ... */
TSR_HD double tsr_product_lane(const tsr_product_job *job, int64_t row, int32_t lane)
{
    double sum = 0.0;
    for (uint64_t k = job->starts[row] + (uint64_t)lane; k < job->starts[row + 1]; k += TSR_PRODUCT_LANES)
        sum += tsr_voxel_load(job->values, job->dtype, (int64_t)k) * tsr_voxel_load(job->x, job->vector, job->columns[k]);
    return sum;
}
TSR_HD void tsr_product_store(const tsr_product_job *job, int64_t row, double sum)
{
    if (job->vector == TSR_F32) ((float *)job->y)[row] = (float)sum;
    else ((double *)job->y)[row] = sum;
}

#endif
