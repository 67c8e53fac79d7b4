/* vision/calibration/refine.c: Levenberg-Marquardt over the unknowns of cameras ("shared") and six numbers of each pose, which are eliminated by
 * the Schur
 * complement. docs/theory/calibration.md 4 and 5. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vision/calibration/calibration.h"
#include "vision/calibration/dense.h"

typedef struct normals {
    int n; /* shared unknowns */
    int32_t poses;
    int free[TSR_INTRINSICS], intrinsics;
    int tied;      /* fy follows fx */
    double *u, *g; /* n x n, n */
    double *w, *h; /* 36, 6 per pose */
    double *v;     /* n x 6 per pose */
    double *s, *x; /* n x n, n + 6 poses: work and steps */
    size_t bytes;
} normals;

int tsr_refine_free(uint32_t free_, int fisheye, int index[TSR_INTRINSICS])
{
    int n = 0;
    if (free_ & TSR_FREE_POSE_ONLY) return 0;
    if (free_ & TSR_FREE_FOCAL) index[n++] = 0;
    if (free_ & TSR_FREE_ASPECT) index[n++] = 1;
    if (free_ & TSR_FREE_CENTRE) {
        index[n++] = 2;
        index[n++] = 3;
    }
    for (int k = 0; k < (fisheye ? 4 : 6); k++)
        if (free_ & ((uint32_t)TSR_FREE_K1 << k)) index[n++] = 4 + k;
    if ((free_ & TSR_FREE_TANGENTIAL) && !fisheye) {
        index[n++] = 10;
        index[n++] = 11;
    }
    return n;
}

static int base_of(const normals *a, int32_t camera) { return camera * a->intrinsics + (camera > 0 ? 6 * (camera - 1) : 0); }

static tsr_status prepare(const tsr_refine *p, normals *a)
{
    *a = (normals){ .poses = p->poses };
    a->intrinsics = tsr_refine_free(p->free, p->model[0].fisheye, a->free);
    a->tied = (p->free & TSR_FREE_FOCAL) && !(p->free & TSR_FREE_ASPECT);
    for (int32_t c = 1; c < p->cameras; c++) {
        int unused[TSR_INTRINSICS];
        if (tsr_refine_free(p->free, p->model[c].fisheye, unused) != a->intrinsics)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "cameras with and without fish-eye lenses, expected all of one kind");
    }
    a->n = base_of(a, p->cameras - 1) + a->intrinsics + (p->cameras > 1 ? 6 : 0);
    const size_t n = (size_t)a->n, poses = (size_t)p->poses, all = 2 * n * n + n + 42 * poses + 6 * n * poses + n + 6 * poses;
    void *room = NULL;
    a->bytes = all * sizeof(double) + 64;
    TSR_TRY(tsr_host_allocate(NULL, a->bytes, &room));
    a->u = (double *)room;
    a->s = a->u + n * n;
    a->g = a->s + n * n;
    a->w = a->g + n;
    a->h = a->w + 36 * poses;
    a->v = a->h + 6 * poses;
    a->x = a->v + 6 * n * poses;
    return TSR_OK;
}
static void release(normals *a) { tsr_host_release(NULL, a->u, a->bytes); }

/* Huber's weight and cost of a squared distance. */
static double weight_of(double huber, double r2, double *cost)
{
    if (!(huber > 0) || r2 <= huber * huber) {
        *cost = r2;
        return 1;
    }
    const double r = sqrt(r2);
    *cost = 2 * huber * r - huber * huber;
    return huber / r;
}

/* Residual (seen less predicted) and derivatives of the prediction by the camera's unknowns (intrinsics, then extrinsics) and the pose's. */
static int sighting(const tsr_refine *p, const normals *a, const tsr_sighting *s, double r[2], double shared[2][TSR_INTRINSICS + 6], double own[2][6])
{
    const tsr_pose *e = &p->extrinsic[s->camera];
    const double at[3] = { s->point.x, s->point.y, s->point.z };
    double y[3], x[3], pixel[2], by_in[2][TSR_INTRINSICS], by_x[2][3];
    tsr_pose_apply(&p->pose[s->pose], at, y);
    tsr_pose_apply(e, y, x);
    if (!tsr_view_project(&p->model[s->camera], x, pixel, shared ? by_in : NULL, shared ? by_x : NULL)) return 0;
    for (int i = 0; i < 2; i++) r[i] = s->pixel[i] - pixel[i];
    if (!shared) return 1;
    const double *v = p->model[s->camera].v;
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < a->intrinsics; k++) shared[i][k] = by_in[i][a->free[k]] + (a->tied && a->free[k] == 0 ? by_in[i][1] * v[1] / v[0] : 0);
        const double *d = by_x[i];
        double *to = shared[i] + a->intrinsics;
        to[0] = d[2] * x[1] - d[1] * x[2];
        to[1] = d[0] * x[2] - d[2] * x[0];
        to[2] = d[1] * x[0] - d[0] * x[1];
        memcpy(to + 3, d, 3 * sizeof *d);
        double f[3];
        for (int k = 0; k < 3; k++) f[k] = d[0] * e->rotation[0][k] + d[1] * e->rotation[1][k] + d[2] * e->rotation[2][k];
        own[i][0] = f[2] * y[1] - f[1] * y[2];
        own[i][1] = f[0] * y[2] - f[2] * y[0];
        own[i][2] = f[1] * y[0] - f[0] * y[1];
        memcpy(own[i] + 3, f, sizeof f);
    }
    return 1;
}

static double cost_of(const tsr_refine *p, const normals *a)
{
    double sum = 0;
    for (int64_t i = 0; i < p->count; i++) {
        double r[2], cost;
        if (!sighting(p, a, &p->sighting[i], r, NULL, NULL)) return INFINITY;
        weight_of(p->huber, r[0] * r[0] + r[1] * r[1], &cost);
        sum += cost;
    }
    return sum;
}

static void build(const tsr_refine *p, normals *a)
{
    const size_t n = (size_t)a->n, poses = (size_t)a->poses;
    memset(a->u, 0, n * n * sizeof(double));
    memset(a->g, 0, (n + 42 * poses + 6 * n * poses) * sizeof(double));
    for (int64_t i = 0; i < p->count; i++) {
        const tsr_sighting *s = &p->sighting[i];
        double r[2], shared[2][TSR_INTRINSICS + 6], own[2][6], cost;
        if (!sighting(p, a, s, r, shared, own)) continue;
        const double w = weight_of(p->huber, r[0] * r[0] + r[1] * r[1], &cost);
        const int local = a->intrinsics + (s->camera > 0 ? 6 : 0), base = base_of(a, s->camera);
        double *wj = a->w + 36 * (size_t)s->pose, *hj = a->h + 6 * (size_t)s->pose, *vj = a->v + 6 * n * (size_t)s->pose;
        for (int k = 0; k < 2; k++) {
            for (int b = 0; b < local; b++) {
                double *row = a->u + (size_t)(base + b) * n + base;
                const double value = w * shared[k][b];
                for (int c = 0; c < local; c++) row[c] += value * shared[k][c];
                for (int c = 0; c < 6; c++) vj[6 * (base + b) + c] += value * own[k][c];
                a->g[base + b] += value * r[k];
            }
            for (int b = 0; b < 6; b++) {
                for (int c = 0; c < 6; c++) wj[6 * b + c] += w * own[k][b] * own[k][c];
                hj[b] += w * own[k][b] * r[k];
            }
        }
    }
}

/* a->s: the reduced matrix with damping, a->x: its right side; factors of W in `factor` (36 per pose). */
static int reduce(normals *a, double damp, double *factor)
{
    const int n = a->n;
    memcpy(a->s, a->u, (size_t)n * (size_t)n * sizeof(double));
    memcpy(a->x, a->g, (size_t)n * sizeof(double));
    for (int i = 0; i < n; i++) a->s[(size_t)i * (size_t)n + (size_t)i] += damp * a->u[(size_t)i * (size_t)n + (size_t)i] + 1e-300;
    for (int32_t j = 0; j < a->poses; j++) {
        double *f = factor + 36 * (size_t)j, *v = a->v + 6 * (size_t)n * (size_t)j, hj[6];
        memcpy(f, a->w + 36 * (size_t)j, 36 * sizeof *f);
        for (int k = 0; k < 6; k++) f[7 * k] += damp * f[7 * k] + 1e-300;
        if (!tsr_dense_cholesky(6, f, NULL)) return 0;
        memcpy(hj, a->h + 6 * (size_t)j, sizeof hj);
        tsr_dense_solve(6, f, hj);
        for (int i = 0; i < n; i++) {
            double y[6], sum = 0;
            for (int k = 0; k < 6; k++) sum += fabs(v[6 * i + k]);
            if (sum == 0) continue; /* a camera that did not see this pose */
            memcpy(y, v + 6 * i, sizeof y);
            for (int k = 0; k < 6; k++) a->x[i] -= y[k] * hj[k];
            tsr_dense_solve(6, f, y);
            for (int m = 0; m <= i; m++) {
                const double *vm = v + 6 * m;
                const double dot = y[0] * vm[0] + y[1] * vm[1] + y[2] * vm[2] + y[3] * vm[3] + y[4] * vm[4] + y[5] * vm[5];
                a->s[(size_t)i * (size_t)n + (size_t)m] -= dot;
                if (m < i) a->s[(size_t)m * (size_t)n + (size_t)i] -= dot;
            }
        }
    }
    return 1;
}

static int solve(normals *a, double damp, double *factor)
{
    const int n = a->n;
    if (!reduce(a, damp, factor) || !tsr_dense_cholesky(n, a->s, NULL)) return 0;
    tsr_dense_solve(n, a->s, a->x);
    for (int32_t j = 0; j < a->poses; j++) {
        double *y = a->x + n + 6 * (int64_t)j;
        const double *v = a->v + 6 * (size_t)n * (size_t)j;
        memcpy(y, a->h + 6 * (size_t)j, 6 * sizeof *y);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 6; k++) y[k] -= v[6 * i + k] * a->x[i];
        tsr_dense_solve(6, factor + 36 * (size_t)j, y);
    }
    return 1;
}

static void apply(tsr_refine *p, const normals *a)
{
    for (int32_t c = 0; c < p->cameras; c++) {
        const double *x = a->x + base_of(a, c);
        double *v = p->model[c].v;
        for (int k = 0; k < a->intrinsics; k++) {
            if (a->tied && a->free[k] == 0) v[1] += x[k] * v[1] / v[0];
            v[a->free[k]] += x[k];
        }
        if (c > 0) tsr_pose_step(&p->extrinsic[c], x + a->intrinsics);
    }
    for (int32_t j = 0; j < p->poses; j++) tsr_pose_step(&p->pose[j], a->x + a->n + 6 * (int64_t)j);
}

/* Derivative of the damped step's predicted gain: x . (damp D x + gradient). */
static double predicted(const normals *a, double damp)
{
    double sum = 0;
    for (int i = 0; i < a->n; i++) sum += a->x[i] * (damp * a->u[(size_t)i * (size_t)a->n + (size_t)i] * a->x[i] + a->g[i]);
    for (int64_t j = 0; j < a->poses; j++)
        for (int k = 0; k < 6; k++) {
            const double x = a->x[a->n + 6 * j + k];
            sum += x * (damp * a->w[36 * j + 7 * k] * x + a->h[6 * j + k]);
        }
    return sum;
}

tsr_status tsr_refine_run(tsr_refine *p)
{
    normals a;
    void *room = NULL;
    tsr_status status = TSR_OK;
    TSR_TRY(prepare(p, &a));
    const size_t models = (size_t)p->cameras * sizeof *p->model, cams = (size_t)p->cameras * sizeof *p->pose,
                 poses = (size_t)p->poses * sizeof *p->pose;
    const size_t bytes = models + cams + poses + (size_t)p->poses * 36 * sizeof(double);
    p->shared = a.n;
    TSR_TRY_GOTO(tsr_host_allocate(NULL, bytes, &room), end);
    double *factor = (double *)room;
    char *kept = (char *)(factor + 36 * (size_t)p->poses);
    double damp = 1e-3, grow = 2;
    p->cost = cost_of(p, &a);
    p->converged = 0;
    if (!isfinite(p->cost)) TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, end, "a point lies behind its camera at the start values, or its lens cannot show it");
    for (p->iterations = 0; p->iterations < p->iterations_most && !p->converged; p->iterations++) {
        if (tsr_progress_report(p->progress, (double)p->iterations / p->iterations_most, "refinement"))
            TSR_FAIL_GOTO(TSR_ERROR_CANCELLED, end, "cancelled during refinement");
        build(p, &a);
        int done = 0;
        while (!done && !p->converged) {
            const int solved = solve(&a, damp, factor);
            double after = INFINITY, gain = 0;
            if (solved) {
                memcpy(kept, p->model, models);
                memcpy(kept + models, p->extrinsic, cams);
                memcpy(kept + models + cams, p->pose, poses);
                gain = predicted(&a, damp);
                apply(p, &a);
                after = cost_of(p, &a);
                for (int32_t c = 0; c < p->cameras; c++)
                    if (!(p->model[c].v[0] > 0) || !(p->model[c].v[1] > 0)) after = INFINITY;
            }
            if (solved && after <= p->cost) {
                const double ratio = gain > 0 ? (p->cost - after) / gain : 1, cube = 2 * ratio - 1;
                done = 1;
                p->converged = p->cost - after <= 1e-14 * p->cost && gain <= 1e-13 * p->cost;
                p->cost = after;
                damp *= fmax(1.0 / 10, 1 - cube * cube * cube);
                if (damp < 1e-16) damp = 1e-16;
                grow = 2;
                if (after == 0) p->converged = 1;
            } else {
                if (solved) {
                    memcpy(p->model, kept, models);
                    memcpy(p->extrinsic, kept + models, cams);
                    memcpy(p->pose, kept + models + cams, poses);
                    if (gain <= 1e-13 * p->cost) p->converged = 1; /* rounding decides from here on */
                }
                damp *= grow;
                grow *= 2;
                if (damp > 1e16) p->converged = 1;
            }
        }
    }
end:
    tsr_host_release(NULL, room, bytes);
    release(&a);
    return status;
}

/* Largest and smallest eigenvalue of the scaled matrix m (n x n), and the vector of the smallest; `factor` is room for a copy. */
static double condition_of(int n, const double *m, double *factor, double *weakest)
{
    double largest = 1, smallest = 1;
    double *x = weakest;
    if (n == 0) return 1;
    const size_t size = (size_t)n;
    double *y = factor + size * size;
    for (int i = 0; i < n; i++) x[i] = 1 + 0.1 * ((i * 7919) % 13);
    for (int turn = 0; turn < 60; turn++) {
        double norm = 0;
        for (int i = 0; i < n; i++) {
            y[i] = 0;
            for (int k = 0; k < n; k++) y[i] += m[(size_t)i * size + (size_t)k] * x[k];
            norm += y[i] * y[i];
        }
        norm = sqrt(norm);
        for (int i = 0; i < n; i++) x[i] = norm > 0 ? y[i] / norm : 0;
        if (turn > 0) largest = fmax(1, norm);
    }
    memcpy(factor, m, size * size * sizeof *m);
    for (double shift = 0; !tsr_dense_cholesky(n, factor, NULL); shift = shift > 0 ? 10 * shift : 1e-16) {
        memcpy(factor, m, size * size * sizeof *m);
        for (size_t i = 0; i < size; i++) factor[i * size + i] += 10 * (shift > 0 ? shift : 1e-16);
    }
    for (int i = 0; i < n; i++) x[i] = 1 + 0.1 * ((i * 7919) % 13);
    for (int turn = 0; turn < 60; turn++) {
        double norm = 0;
        tsr_dense_solve(n, factor, x);
        for (int i = 0; i < n; i++) norm += x[i] * x[i];
        norm = sqrt(norm);
        for (int i = 0; i < n; i++) x[i] /= norm;
        smallest = 1 / norm;
    }
    return fmin(largest / smallest, 1e17);
}

tsr_status tsr_refine_judge(tsr_refine *p, tsr_refine_report *r)
{
    normals a;
    void *room = NULL;
    tsr_status status = TSR_OK;
    TSR_TRY(prepare(p, &a));
    const int n = a.n;
    const size_t size = (size_t)n, bytes = (36 * (size_t)p->poses + size * size + 2 * size + 6 * size) * sizeof(double);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, bytes, &room), end);
    double *factor = (double *)room, *copy = factor + 36 * (size_t)p->poses, *scale = copy + size * size + size, *left = scale + size;
    build(p, &a);
    r->weighted = 0;
    r->degrees = 0;
    for (int64_t i = 0; i < p->count; i++) {
        double cost;
        if (!sighting(p, &a, &p->sighting[i], r->residual[i], NULL, NULL)) r->residual[i][0] = r->residual[i][1] = NAN;
        const double r2 = r->residual[i][0] * r->residual[i][0] + r->residual[i][1] * r->residual[i][1], w = weight_of(p->huber, r2, &cost);
        r->weighted += w * r2;
        r->degrees += 2 * w;
    }
    r->degrees -= n + 6 * (double)p->poses;
    r->pose_condition = 1;
    r->worst_pose = 0;
    for (int32_t j = 0; j < p->poses; j++) {
        double m[36], value[6], vector[36];
        const double *w = a.w + 36 * (size_t)j;
        for (int k = 0; k < 36; k++) m[k] = w[k] / sqrt(w[7 * (k / 6)] * w[7 * (k % 6)]);
        tsr_dense_eigen(6, m, value, vector);
        const double c = value[0] > 1e-17 * value[5] ? value[5] / value[0] : 1e17;
        if (c > r->pose_condition) {
            r->pose_condition = c;
            r->worst_pose = j;
        }
    }
    for (double damp = 0; !reduce(&a, damp, factor); damp = damp > 0 ? 10 * damp : 1e-15) continue;
    for (int i = 0; i < n; i++) scale[i] = 1 / sqrt(fmax(a.u[(size_t)i * size + (size_t)i], 1e-300));
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) a.s[(size_t)i * size + (size_t)k] *= scale[i] * scale[k];
    r->condition = fmax(condition_of(n, a.s, copy, r->weakest), r->pose_condition);
    /* copy now holds the factor of the scaled matrix */
    for (int i = 0; i < n; i++) {
        double *row = r->shared + (size_t)i * size;
        memset(row, 0, size * sizeof *row);
        row[i] = 1;
        tsr_dense_solve(n, copy, row);
        for (int k = 0; k < n; k++) row[k] *= scale[i] * scale[k];
    }
    for (int32_t j = 0; j < p->poses; j++) { /* W^-1 + (W^-1 V^T) C (V W^-1) */
        const double *f = factor + 36 * (size_t)j, *v = a.v + 6 * size * (size_t)j;
        double *c = r->poses + 36 * (size_t)j;
        for (int i = 0; i < n; i++) {
            memcpy(left + 6 * i, v + 6 * i, 6 * sizeof *left);
            tsr_dense_solve(6, f, left + 6 * i);
        }
        for (int b = 0; b < 6; b++) {
            double unit[6] = { 0 };
            unit[b] = 1;
            tsr_dense_solve(6, f, unit);
            memcpy(c + 6 * b, unit, sizeof unit);
        }
        for (int i = 0; i < n; i++)
            for (int b = 0; b < 6; b++) {
                if (left[6 * i + b] == 0) continue;
                for (int k = 0; k < n; k++) {
                    const double value = left[6 * i + b] * r->shared[(size_t)i * size + (size_t)k];
                    for (int d = 0; d < 6; d++) c[6 * b + d] += value * left[6 * k + d];
                }
            }
    }
end:
    tsr_host_release(NULL, room, bytes);
    release(&a);
    return status;
}
