/* vision/rig_edit/rig_edit_bundle.c: all cameras from all pairs at once: lenses that are one and the same, places of the proxy that are not quite right.
 * docs/theory/calibration.md 10. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vision/calibration/dense.h"
#include "vision/rig_edit/rig_edit.h"
#include "vision/rig_edit/rig_edit_draw.h"

enum { TURNS = 100, OWN = 6 + TSR_INTRINSICS };
static const double huber = 2; /* pixels, as for one camera */

typedef struct bundle {
    const edit_state *now;
    int32_t cameras, camera[EDIT_CAMERAS], slot_of[EDIT_CAMERAS]; /* those that have pairs */
    int free[TSR_INTRINSICS], lens, tied, shared;
    double sigma;                         /* of a place of the proxy; 0: they are right */
    int32_t points, point_of[EDIT_PAIRS]; /* free places, -1: fixed */
    tsr_vec3 given[EDIT_PAIRS];
    int32_t n;
    double *s, *factor, *v, *x; /* n x n, n */
    double (*across)[3];        /* of one point: n x 3 */
} bundle;

typedef struct guess {
    tsr_pose pose[EDIT_CAMERAS];
    tsr_view_model model[EDIT_CAMERAS];
    tsr_vec3 point[EDIT_PAIRS];
} guess;

/* The unknowns of a camera: where its pose and its lens stand. */
static int32_t pose_at(int32_t slot) { return 6 * slot; }
static int32_t lens_at(const bundle *b, int32_t slot) { return 6 * b->cameras + (b->shared ? 0 : slot) * b->lens; }

static tsr_vec3 place_of(const bundle *b, const guess *g, int32_t pair)
{
    return b->point_of[pair] < 0 ? b->now->pair[pair].point : g->point[b->point_of[pair]];
}

/* Predicted less seen of a pair, its derivatives by the camera's unknowns and by the place. 0: behind the camera. */
static int residual_of(const bundle *b, const guess *g, int32_t pair, double r[2], double by[2][OWN], double by_place[2][3])
{
    const edit_pair *p = &b->now->pair[pair];
    const int32_t slot = b->slot_of[p->camera];
    const tsr_pose *pose = &g->pose[slot];
    const tsr_view_model *model = &g->model[slot];
    const tsr_vec3 place = place_of(b, g, pair);
    const double x[3] = { place.x, place.y, place.z };
    double e[3], by_in[2][TSR_INTRINSICS], by_e[2][3], pixel[2];
    tsr_pose_apply(pose, x, e);
    if (!tsr_view_project(model, e, pixel, by ? by_in : NULL, by ? by_e : NULL)) return 0;
    for (int i = 0; i < 2; i++) {
        r[i] = pixel[i] - p->pixel[i];
        if (!by) continue;
        by[i][0] = e[1] * by_e[i][2] - e[2] * by_e[i][1];
        by[i][1] = e[2] * by_e[i][0] - e[0] * by_e[i][2];
        by[i][2] = e[0] * by_e[i][1] - e[1] * by_e[i][0];
        memcpy(by[i] + 3, by_e[i], sizeof by_e[i]);
        for (int k = 0; k < b->lens; k++) {
            by[i][6 + k] = by_in[i][b->free[k]];
            if (b->free[k] == 0 && b->tied) by[i][6 + k] += by_in[i][1] * model->v[1] / model->v[0];
        }
        for (int k = 0; k < 3; k++)
            by_place[i][k] = by_e[i][0] * pose->rotation[0][k] + by_e[i][1] * pose->rotation[1][k] + by_e[i][2] * pose->rotation[2][k];
    }
    return 1;
}

static double cost_of(const bundle *b, const guess *g)
{
    double sum = 0;
    for (int32_t i = 0; i < b->now->pairs; i++) {
        double r[2];
        if (b->slot_of[b->now->pair[i].camera] < 0) continue;
        if (!residual_of(b, g, i, r, NULL, NULL)) return HUGE_VAL;
        const double d = hypot(r[0], r[1]);
        sum += d < huber ? d * d : huber * (2 * d - huber);
    }
    for (int32_t j = 0; j < b->points; j++) {
        const tsr_vec3 p = g->point[j], q = b->given[j];
        sum += (pow(p.x - q.x, 2) + pow(p.y - q.y, 2) + pow(p.z - q.z, 2)) / (b->sigma * b->sigma);
    }
    return sum;
}

/* Adds a pair's J^T J and -J^T r of the cameras; where its place is free, what lies between to `across`, `c` and `v3`. */
static double add_pair(const bundle *b, const guess *g, int32_t pair, double (*across)[3], double c[9], double v3[3])
{
    double r[2], by[2][OWN], by_place[2][3];
    if (!residual_of(b, g, pair, r, by, by_place)) return 0;
    const int32_t slot = b->slot_of[b->now->pair[pair].camera];
    const double d = hypot(r[0], r[1]), w = d > huber ? huber / d : 1;
    int32_t at[OWN];
    for (int k = 0; k < 6 + b->lens; k++) at[k] = k < 6 ? pose_at(slot) + k : lens_at(b, slot) + k - 6;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 6 + b->lens; k++) {
            b->v[at[k]] -= w * by[i][k] * r[i];
            for (int m = 0; m < 6 + b->lens; m++) b->s[(int64_t)at[k] * b->n + at[m]] += w * by[i][k] * by[i][m];
            for (int m = 0; m < 3 && across; m++) across[at[k]][m] += w * by[i][k] * by_place[i][m];
        }
    for (int i = 0; i < 2 && across; i++)
        for (int k = 0; k < 3; k++) {
            v3[k] -= w * by_place[i][k] * r[i];
            for (int m = 0; m < 3; m++) c[3 * k + m] += w * by_place[i][k] * by_place[i][m];
        }
    return w;
}

/* Of one free place: the sums over its pairs and its tie to where it was given. */
static void point_sums(const bundle *b, const guess *g, int32_t j, double damp, double c[9], double v3[3])
{
    const double tie = 1 / (b->sigma * b->sigma),
                 off[3] = { g->point[j].x - b->given[j].x, g->point[j].y - b->given[j].y, g->point[j].z - b->given[j].z };
    memset(b->across, 0, (size_t)b->n * sizeof *b->across);
    memset(c, 0, 9 * sizeof *c);
    for (int k = 0; k < 3; k++) v3[k] = -tie * off[k];
    for (int32_t i = 0; i < b->now->pairs; i++)
        if (b->point_of[i] == j && b->slot_of[b->now->pair[i].camera] >= 0) add_pair(b, g, i, b->across, c, v3);
    for (int k = 0; k < 3; k++) c[4 * k] += tie + damp * c[4 * k];
}

/* The cameras' equations with the places eliminated; the diagonal is that before. The sum of weights. */
static double reduce(const bundle *b, const guess *g, double damp)
{
    double weights = 0;
    memset(b->s, 0, (size_t)b->n * (size_t)b->n * sizeof *b->s);
    memset(b->v, 0, (size_t)b->n * sizeof *b->v);
    for (int32_t i = 0; i < b->now->pairs; i++)
        if (b->point_of[i] < 0 && b->slot_of[b->now->pair[i].camera] >= 0) weights += add_pair(b, g, i, NULL, NULL, NULL);
    for (int32_t j = 0; j < b->points; j++) {
        double c[9], v3[3], inverse[3][3];
        point_sums(b, g, j, damp, c, v3);
        weights += 2;
        const double m[3][3] = { { c[0], c[1], c[2] }, { c[3], c[4], c[5] }, { c[6], c[7], c[8] } };
        if (!tsr_dense_invert3(m, inverse)) continue;
        for (int32_t k = 0; k < b->n; k++) {
            double half[3] = { 0 };
            for (int i = 0; i < 3; i++)
                for (int l = 0; l < 3; l++) half[i] += b->across[k][l] * inverse[l][i];
            b->v[k] -= half[0] * v3[0] + half[1] * v3[1] + half[2] * v3[2];
            for (int32_t l = 0; l < b->n; l++)
                b->s[(int64_t)k * b->n + l] -= half[0] * b->across[l][0] + half[1] * b->across[l][1] + half[2] * b->across[l][2];
        }
    }
    for (int32_t k = 0; k < b->n; k++) b->s[(int64_t)k * b->n + k] *= 1 + damp;
    return weights;
}

static void step_by(const bundle *b, const guess *from, double damp, guess *to)
{
    *to = *from;
    for (int32_t slot = 0; slot < b->cameras; slot++) {
        tsr_view_model *m = &to->model[slot];
        tsr_pose_step(&to->pose[slot], b->x + pose_at(slot));
        for (int k = 0; k < b->lens; k++) {
            const double ratio = m->v[1] / m->v[0];
            m->v[b->free[k]] += b->x[lens_at(b, slot) + k];
            if (b->free[k] == 0 && b->tied) m->v[1] = m->v[0] * ratio;
        }
    }
    for (int32_t j = 0; j < b->points; j++) {
        double c[9], v3[3], inverse[3][3], step[3] = { 0 };
        point_sums(b, from, j, damp, c, v3);
        const double m[3][3] = { { c[0], c[1], c[2] }, { c[3], c[4], c[5] }, { c[6], c[7], c[8] } };
        if (!tsr_dense_invert3(m, inverse)) continue;
        for (int32_t k = 0; k < b->n; k++)
            for (int i = 0; i < 3; i++) v3[i] -= b->across[k][i] * b->x[k];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) step[i] += inverse[i][k] * v3[k];
        to->point[j].x += step[0], to->point[j].y += step[1], to->point[j].z += step[2];
    }
}

static double settle(const bundle *b, guess *g, guess *trial)
{
    double damp = 1e-4, cost = cost_of(b, g);
    for (int turn = 0; turn < TURNS && damp < 1e10; turn++) {
        int better = 0;
        for (; !better && damp < 1e10; damp *= better ? 1 : 4) {
            reduce(b, g, damp);
            memcpy(b->factor, b->s, (size_t)b->n * (size_t)b->n * sizeof *b->s);
            memcpy(b->x, b->v, (size_t)b->n * sizeof *b->x);
            if (!tsr_dense_cholesky(b->n, b->factor, NULL)) continue;
            tsr_dense_solve(b->n, b->factor, b->x);
            step_by(b, g, damp, trial);
            const double next = cost_of(b, trial);
            better = next < cost;
            if (!better) continue;
            if (cost - next < 1e-13 * cost) turn = TURNS;
            cost = next;
            *g = *trial;
        }
        damp = fmax(1e-12, damp / 6);
    }
    return cost;
}

/* Places that two cameras and more were paired with are one and the same. */
static void tie_points(const tsr_rig_editor *e, bundle *b, guess *g)
{
    const double near = 1e-9 * (e->diameter > 0 ? e->diameter : 1);
    for (int32_t i = 0; i < b->now->pairs; i++) b->point_of[i] = -1;
    for (int32_t i = 0; i < b->now->pairs && b->sigma > 0; i++) {
        const edit_pair *p = &b->now->pair[i];
        if (b->point_of[i] >= 0 || b->slot_of[p->camera] < 0) continue;
        for (int32_t k = i + 1; k < b->now->pairs; k++) {
            const edit_pair *q = &b->now->pair[k];
            if (q->camera == p->camera || b->slot_of[q->camera] < 0 ||
                fabs(p->point.x - q->point.x) + fabs(p->point.y - q->point.y) + fabs(p->point.z - q->point.z) > near)
                continue;
            b->point_of[i] = b->point_of[k] = b->points;
        }
        if (b->point_of[i] < 0) continue;
        b->given[b->points] = g->point[b->points] = p->point;
        b->points++;
    }
}

/* The starting point of lenses that are shared: their mean. */
static void share_lens(const bundle *b, guess *g)
{
    for (int k = 0; k < b->lens; k++) {
        double mean = 0;
        for (int32_t i = 0; i < b->cameras; i++) mean += g->model[i].v[b->free[k]] / b->cameras;
        for (int32_t i = 0; i < b->cameras; i++) {
            const double ratio = g->model[i].v[1] / g->model[i].v[0];
            g->model[i].v[b->free[k]] = mean;
            if (b->free[k] == 0 && b->tied) g->model[i].v[1] = mean * ratio;
        }
    }
}

/* Which two unknowns cannot be told apart: poses come first, then the lenses. */
static void say_condition(const tsr_rig_editor *e, const bundle *b, double condition, const int which[2])
{
    int local[2], slot[2];
    for (int i = 0; i < 2; i++) {
        const int lens = which[i] - 6 * b->cameras;
        slot[i] = lens < 0 ? which[i] / 6 : b->shared ? 0 : lens / b->lens;
        local[i] = lens < 0 ? which[i] % 6 : 6 + lens % b->lens;
    }
    edit_say_condition("solve all", e->image[b->camera[slot[0]]].name, condition, local, b->free, b->lens);
}

static void put_back(tsr_rig_editor *e, const bundle *b, const guess *g, double cost)
{
    const double weights = reduce(b, g, 0), variance = 2 * weights > b->n ? cost / (2 * weights - b->n) : 0;
    int which[2];
    const double condition = edit_condition(b->n, b->s, which);
    const int known = tsr_dense_cholesky(b->n, b->s, NULL);
    double moved = 0;
    for (int32_t slot = 0; slot < b->cameras; slot++) {
        tsr_pinhole *c = &e->now.camera[b->camera[slot]];
        tsr_calibration_sigma sigma = { 0 };
        double *const of[TSR_INTRINSICS] = { &sigma.fx,   &sigma.fy,   &sigma.cx,   &sigma.cy,   &sigma.k[0], &sigma.k[1],
                                             &sigma.k[2], &sigma.k[3], &sigma.k[4], &sigma.k[5], &sigma.p[0], &sigma.p[1] };
        tsr_view_model_put(&g->model[slot], c);
        memcpy(c->rotation, g->pose[slot].rotation, sizeof c->rotation);
        memcpy(c->translation, g->pose[slot].translation, sizeof c->translation);
        for (int k = 0; k < 6 + b->lens && known; k++) {
            const int32_t at = k < 6 ? pose_at(slot) + k : lens_at(b, slot) + k - 6;
            memset(b->x, 0, (size_t)b->n * sizeof *b->x);
            b->x[at] = 1;
            tsr_dense_solve(b->n, b->s, b->x);
            *(k < 3 ? &sigma.rotation[k] : k < 6 ? &sigma.translation[k - 3] : of[b->free[k - 6]]) = sqrt(variance * b->x[at]);
        }
        if (b->tied) sigma.fy = sigma.fx * c->fy / c->fx;
        edit_keep_sigma(e, b->camera[slot], &sigma, condition);
    }
    for (int32_t j = 0; j < b->points; j++)
        moved =
            fmax(moved, sqrt(pow(g->point[j].x - b->given[j].x, 2) + pow(g->point[j].y - b->given[j].y, 2) + pow(g->point[j].z - b->given[j].z, 2)));
    if (known) say_condition(e, b, condition, which);
    if (!known) tsr_remark("solve all: the pairs do not determine all that is free: hold the field of view, or add pairs");
    if (b->points) tsr_remark("solve all: %d places of the proxy were free, one lies %.3g beside where it was given", (int)b->points, moved);
}

tsr_status edit_bundle(tsr_rig_editor *e, uint32_t free_, int shared, double sigma)
{
    bundle *b = (bundle *)calloc(1, sizeof *b);
    guess *g = (guess *)calloc(2, sizeof *g);
    tsr_status status = TSR_OK;
    int32_t count[EDIT_CAMERAS] = { 0 }, all = 0;
    if (!b || !g) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, end, "out of host memory for %d pairs", EDIT_PAIRS);
    b->now = &e->now;
    b->sigma = sigma;
    b->shared = shared;
    b->tied = (free_ & TSR_FREE_FOCAL) != 0;
    b->lens = tsr_refine_free(free_, 0, b->free);
    for (int32_t i = 0; i < e->now.pairs; i++) count[e->now.pair[i].camera]++;
    for (int32_t i = 0; i < e->cameras; i++) {
        b->slot_of[i] = -1;
        if (count[i] < 3) continue;
        b->slot_of[i] = b->cameras;
        g->model[b->cameras] = tsr_view_model_of(&e->now.camera[i]);
        memcpy(g->pose[b->cameras].rotation, e->now.camera[i].rotation, sizeof e->now.camera[i].rotation);
        memcpy(g->pose[b->cameras].translation, e->now.camera[i].translation, sizeof e->now.camera[i].translation);
        b->camera[b->cameras++] = i;
        all += count[i];
    }
    if (!b->cameras) TSR_FAIL_GOTO(TSR_ERROR_STATE, end, "solve all: no camera has three pairs");
    b->n = 6 * b->cameras + (shared ? 1 : b->cameras) * b->lens;
    if (2 * all < b->n)
        TSR_FAIL_GOTO(TSR_ERROR_STATE, end, "solve all: %d pairs give %d equations for %d unknowns, expected more pairs", all, 2 * all, b->n);
    const size_t n = (size_t)b->n;
    b->s = (double *)malloc((2 * n * n + 5 * n) * sizeof *b->s);
    if (!b->s) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, end, "out of host memory for %d unknowns", b->n);
    b->factor = b->s + n * n;
    b->v = b->factor + n * n;
    b->x = b->v + n;
    b->across = (double(*)[3])(b->x + n);
    tie_points(e, b, g);
    if (shared) share_lens(b, g);
    const double cost = settle(b, g, g + 1);
    if (!isfinite(cost))
        TSR_FAIL_GOTO(TSR_ERROR_STATE, end, "solve all: a paired place lies behind its camera: move the camera so that all of them are before it");
    put_back(e, b, g, cost);
end:
    if (b) free(b->s);
    free(b);
    free(g);
    return status;
}
