/* vision/rig_edit/rig_edit_agree.c: a camera from the colours that the others see on the proxy, from large to small; gain and bias between them are found along the way.
 * docs/theory/calibration.md 10. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vision/calibration/dense.h"
#include "vision/rig_edit/rig_edit.h"
#include "vision/rig_edit/rig_edit_draw.h"

enum { ACROSS = 160, TEXELS_MOST = 4 * ACROSS * ACROSS, LEAST_TEXELS = 60, COARSEST = 80, TURNS = 15, UNKNOWNS = 6 + TSR_INTRINSICS + 2 };
static const double brightness[3] = { 0.299, 0.587, 0.114 };

/* A place of the proxy, counted from the common middle, and how bright the other cameras see it in the mean. */
typedef struct texel {
    double at[3], target;
} texel;

/* What is changed: pose, lens, and the line g v + b from the camera's brightness to the others'. */
typedef struct guess {
    tsr_pose pose;
    tsr_view_model model;
    double gain, bias;
} guess;

typedef struct agreement {
    const char *name;
    const tsr_shade_camera *picture;
    const texel *texel;
    int32_t count;
    double huber; /* grey values */
    int free[TSR_INTRINSICS], lens, tied, unknowns;
} agreement;

static double bright_of(const float rgb[3])
{
    return brightness[0] * (double)rgb[0] + brightness[1] * (double)rgb[1] + brightness[2] * (double)rgb[2];
}

/* Brightness of the camera's picture at one of its pixels, and its slopes over a pixel of the size that is looked at; 0 outside. */
static int look(const tsr_shade_camera *s, const double pixel[2], double *value, double slope[2])
{
    const float x = (float)(pixel[0] / (double)s->scale), y = (float)(pixel[1] / (double)s->scale);
    float c[5][3];
    static const float beside[5][2] = { { 0, 0 }, { -0.5f, 0 }, { 0.5f, 0 }, { 0, -0.5f }, { 0, 0.5f } };
    for (int i = 0; i < 5; i++)
        if (!tsr_shade_take(s, x + beside[i][0], y + beside[i][1], c[i])) return 0;
    *value = bright_of(c[0]);
    slope[0] = (bright_of(c[2]) - bright_of(c[1])) / (double)s->scale;
    slope[1] = (bright_of(c[4]) - bright_of(c[3])) / (double)s->scale;
    return 1;
}

/* One texel: seen less wanted, and its derivatives (NULL: not wanted). 0: the camera does not see it. */
static int residual_of(const agreement *a, const guess *g, const texel *t, double *r, double *by)
{
    double e[3], pixel[2], by_in[2][TSR_INTRINSICS], by_point[2][3], value, slope[2];
    tsr_pose_apply(&g->pose, t->at, e);
    if (!tsr_view_project(&g->model, e, pixel, by ? by_in : NULL, by ? by_point : NULL) || !look(a->picture, pixel, &value, slope)) return 0;
    *r = g->gain * value + g->bias - t->target;
    if (!by) return 1;
    double s[3];
    for (int k = 0; k < 3; k++) s[k] = g->gain * (slope[0] * by_point[0][k] + slope[1] * by_point[1][k]);
    by[0] = e[1] * s[2] - e[2] * s[1]; /* de = w x e + v */
    by[1] = e[2] * s[0] - e[0] * s[2];
    by[2] = e[0] * s[1] - e[1] * s[0];
    memcpy(by + 3, s, sizeof s);
    for (int k = 0; k < a->lens; k++) {
        by[6 + k] = g->gain * (slope[0] * by_in[0][a->free[k]] + slope[1] * by_in[1][a->free[k]]);
        if (a->free[k] == 0 && a->tied) by[6 + k] += g->gain * g->model.v[1] / g->model.v[0] * (slope[0] * by_in[0][1] + slope[1] * by_in[1][1]);
    }
    by[6 + a->lens] = value;
    by[7 + a->lens] = 1;
    return 1;
}

/* Mean of Huber's function over the texels seen; infinite where too many left the picture. */
static double cost_of(const agreement *a, const guess *g)
{
    double sum = 0, r;
    int32_t seen = 0;
    for (int32_t i = 0; i < a->count; i++) {
        if (!residual_of(a, g, &a->texel[i], &r, NULL)) continue;
        r = fabs(r);
        sum += r < a->huber ? r * r : a->huber * (2 * r - a->huber);
        seen++;
    }
    return 2 * seen > a->count ? sum / seen : HUGE_VAL;
}

static void step_by(const agreement *a, guess *g, const double *x)
{
    tsr_pose_step(&g->pose, x);
    for (int k = 0; k < a->lens; k++) {
        const double ratio = g->model.v[1] / g->model.v[0];
        g->model.v[a->free[k]] += x[6 + k];
        if (a->free[k] == 0 && a->tied) g->model.v[1] = g->model.v[0] * ratio;
    }
    g->gain += x[6 + a->lens];
    g->bias += x[7 + a->lens];
}

/* J^T J and -J^T r, weighted; the sum of weights. */
static double normals_of(const agreement *a, const guess *g, double *m, double *v)
{
    const int n = a->unknowns;
    double by[UNKNOWNS], r, weights = 0;
    memset(m, 0, (size_t)n * (size_t)n * sizeof *m);
    memset(v, 0, (size_t)n * sizeof *v);
    for (int32_t t = 0; t < a->count; t++) {
        if (!residual_of(a, g, &a->texel[t], &r, by)) continue;
        const double w = fabs(r) > a->huber ? a->huber / fabs(r) : 1;
        weights += w;
        for (int i = 0; i < n; i++) {
            v[i] -= w * by[i] * r;
            for (int k = 0; k <= i; k++) m[i * n + k] += w * by[i] * by[k];
        }
    }
    return weights;
}

/* Levenberg and Marquardt; returns the cost, the variances of the unknowns at the end and their condition number, which is said where it is bad. */
static double settle(const agreement *a, guess *g, double *variance, double *condition)
{
    const int n = a->unknowns;
    int which[2];
    double m[UNKNOWNS * UNKNOWNS], f[UNKNOWNS * UNKNOWNS], v[UNKNOWNS], damp = 1e-3, cost = cost_of(a, g);
    for (int turn = 0; turn < TURNS && isfinite(cost) && damp < 1e8; turn++) {
        normals_of(a, g, m, v);
        int better = 0;
        while (!better && damp < 1e8) {
            guess trial = *g;
            double x[UNKNOWNS];
            memcpy(f, m, sizeof f);
            memcpy(x, v, sizeof x);
            for (int i = 0; i < n; i++) f[i * n + i] += damp * m[i * n + i] + 1e-12;
            if (tsr_dense_cholesky(n, f, NULL)) {
                tsr_dense_solve(n, f, x);
                step_by(a, &trial, x);
                const double next = trial.gain > 0.05 && trial.model.v[0] > 0 ? cost_of(a, &trial) : HUGE_VAL;
                better = next < cost;
                if (better) {
                    turn = cost - next < 1e-7 * cost ? TURNS : turn;
                    cost = next;
                    *g = trial;
                }
            }
            damp = better ? fmax(1e-9, damp / 5) : damp * 4;
        }
    }
    memset(variance, 0, UNKNOWNS * sizeof *variance);
    if (!isfinite(cost)) return cost;
    const double weights = normals_of(a, g, m, v);
    *condition = edit_condition(n, m, which);
    edit_say_condition("refine colours", a->name, *condition, which, a->free, a->lens);
    if (!tsr_dense_cholesky(n, m, NULL)) return cost;
    for (int i = 0; i < n; i++) {
        double x[UNKNOWNS] = { 0 };
        x[i] = 1;
        tsr_dense_solve(n, m, x);
        variance[i] = x[i] * cost * weights / fmax(1, weights - n);
    }
    return cost;
}

/* Places of the proxy that the camera and another one see. */
static int32_t texels_of(const tsr_rig_editor *e, const edit_shader *s, int32_t index, texel *to)
{
    const edit_depths *d = &e->shadow[index];
    const tsr_pinhole *c = &d->camera;
    const int32_t step = (d->view.width + ACROSS - 1) / ACROSS;
    int32_t n = 0;
    for (int32_t j = step / 2; j < d->view.height; j += step)
        for (int32_t i = step / 2; i < d->view.width && n < TEXELS_MOST; i += step) {
            const float inverse = d->view.inverse[(int64_t)j * d->view.width + i];
            const double at[2] = { ((i + 0.5) * d->view.scale - c->cx) / c->fx, ((j + 0.5) * d->view.scale - c->cy) / c->fy };
            float x[3], rgb[3];
            double sum = 0;
            int32_t seen = 0;
            if (!(inverse > 0.0f)) continue;
            edit_place(c, at, 1 / (double)inverse, s->middle, x);
            if (!tsr_shade_place(&s->camera[index], x, rgb)) continue;
            for (int32_t k = 0; k < e->cameras; k++) {
                if (k == index || !tsr_shade_place(&s->camera[k], x, rgb)) continue;
                sum += bright_of(rgb);
                seen++;
            }
            if (!seen) continue;
            for (int k = 0; k < 3; k++) to[n].at[k] = (double)x[k];
            to[n++].target = sum / seen;
        }
    return n;
}

static int rising(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Grey values from which a difference counts linearly: twice what half of them stay below. */
static double bound_of(const agreement *a, const guess *g, double *room)
{
    int32_t n = 0;
    for (int32_t i = 0; i < a->count; i++)
        if (residual_of(a, g, &a->texel[i], &room[n], NULL)) room[n] = fabs(room[n]), n++;
    if (!n) return 2;
    qsort(room, (size_t)n, sizeof *room, rising);
    return fmax(2, 2 * room[n / 2]);
}

static void put_back(tsr_rig_editor *e, int32_t index, const agreement *a, const guess *g, const double *variance, double condition,
                     const double middle[3])
{
    tsr_pinhole *c = &e->now.camera[index];
    tsr_calibration_sigma sigma = { 0 };
    double *const of[TSR_INTRINSICS] = { &sigma.fx,   &sigma.fy,   &sigma.cx,   &sigma.cy,   &sigma.k[0], &sigma.k[1],
                                         &sigma.k[2], &sigma.k[3], &sigma.k[4], &sigma.k[5], &sigma.p[0], &sigma.p[1] };
    tsr_view_model_put(&g->model, c);
    memcpy(c->rotation, g->pose.rotation, sizeof c->rotation);
    tsr_dense_rotation(c->rotation);
    for (int i = 0; i < 3; i++) {
        c->translation[i] = g->pose.translation[i];
        for (int k = 0; k < 3; k++) c->translation[i] -= c->rotation[i][k] * middle[k];
        sigma.rotation[i] = sqrt(variance[i]);
        sigma.translation[i] = sqrt(variance[3 + i]);
    }
    for (int k = 0; k < a->lens; k++) *of[a->free[k]] = sqrt(variance[6 + k]);
    if (a->tied) sigma.fy = sigma.fx * c->fy / c->fx;
    edit_keep_sigma(e, index, &sigma, condition);
}

tsr_status edit_agree(tsr_rig_editor *e, int32_t index, uint32_t free_)
{
    agreement a = { .name = e->image[index].name, .tied = (free_ & TSR_FREE_FOCAL) != 0 };
    texel *room = (texel *)malloc(sizeof *room * TEXELS_MOST);
    double *sorted = (double *)malloc(sizeof *sorted * TEXELS_MOST), variance[UNKNOWNS] = { 0 }, condition = 0;
    guess g = { .gain = 1 };
    edit_shader shader;
    tsr_status status = TSR_OK;
    const tsr_pinhole *c = &e->now.camera[index];
    const double *middle = e->lines.middle;
    int size = 0, looked = 0;
    if (!room || !sorted) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, end, "out of host memory for places of the proxy");
    a.lens = tsr_refine_free(free_, c->fisheye, a.free);
    a.unknowns = 8 + a.lens;
    g.model = tsr_view_model_of(c);
    memcpy(g.pose.rotation, c->rotation, sizeof c->rotation);
    for (int i = 0; i < 3; i++)
        g.pose.translation[i] = c->translation[i] + c->rotation[i][0] * middle[0] + c->rotation[i][1] * middle[1] + c->rotation[i][2] * middle[2];
    while (size + 1 < e->image[index].sizes && e->image[index].at[size + 1].width >= COARSEST) size++;
    for (; size >= 0; size--) {
        TSR_TRY_GOTO(edit_shader_make(e, &e->now, ldexp(1, size), 1, &shader), end);
        a.picture = &shader.camera[index];
        a.texel = room;
        a.count = texels_of(e, &shader, index, room);
        if (a.count < LEAST_TEXELS) continue;
        a.huber = bound_of(&a, &g, sorted);
        if (!isfinite(settle(&a, &g, variance, &condition))) continue;
        put_back(e, index, &a, &g, variance, condition, middle); /* the next size sees the proxy from there */
        looked = 1;
    }
    if (!looked)
        TSR_FAIL_GOTO(TSR_ERROR_STATE, end, "refine colours: '%s' shares fewer than %d places of the proxy with other cameras", e->image[index].name,
                      LEAST_TEXELS);
    if (g.gain < 0.8 || g.gain > 1.25) tsr_remark("refine colours: '%s' is %.2f times as bright as the others", e->image[index].name, 1 / g.gain);
end:
    free(room);
    free(sorted);
    return status;
}
