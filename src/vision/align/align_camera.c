/* vision/align/align_camera.c: a camera's unknowns moved until its lines lie on edges. docs/theory/calibration.md 9. */
#include <math.h>
#include <string.h>

#include "vision/align/align.h"
#include "vision/calibration/dense.h"

enum { MOST = TSR_ALIGN_UNKNOWNS };

int tsr_align_unknowns(uint32_t free, int which[MOST])
{
    int n = 0;
    for (int k = 0; k < 6; k++) which[n++] = k;
    if (free & TSR_FREE_POSE_ONLY) return n;
    if (free & TSR_FREE_FOCAL) which[n++] = 6;
    if (free & TSR_FREE_CENTRE) which[n++] = 7, which[n++] = 8;
    if (free & TSR_FREE_K1) which[n++] = 9;
    if (free & TSR_FREE_K2) which[n++] = 10;
    return n;
}

void tsr_align_step(tsr_pinhole *camera, const int *which, int count, const double *step)
{
    double all[MOST] = { 0 };
    tsr_pose pose;
    for (int k = 0; k < count; k++) all[which[k]] = step[k];
    memcpy(pose.rotation, camera->rotation, sizeof pose.rotation);
    memcpy(pose.translation, camera->translation, sizeof pose.translation);
    tsr_pose_step(&pose, all);
    memcpy(camera->rotation, pose.rotation, sizeof pose.rotation);
    memcpy(camera->translation, pose.translation, sizeof pose.translation);
    camera->fx *= exp(all[6]);
    camera->fy *= exp(all[6]);
    camera->cx += all[7];
    camera->cy += all[8];
    camera->k[0] += all[9];
    camera->k[1] += all[10];
}

tsr_align_candidate tsr_align_candidate_of(const tsr_pinhole *c, const double middle[3], double scale)
{
    tsr_align_candidate to = { .f = { (float)(c->fx / scale), (float)(c->fy / scale) },
                               .c = { (float)(c->cx / scale), (float)(c->cy / scale) },
                               .k = { (float)c->k[0], (float)c->k[1] } };
    for (int i = 0; i < 3; i++) {
        double t = c->translation[i];
        for (int k = 0; k < 3; k++) {
            to.m[4 * i + k] = (float)c->rotation[i][k];
            t += c->rotation[i][k] * middle[k];
        }
        to.m[4 * i + 3] = (float)t;
    }
    return to;
}

/* Where a sample is seen, in pixels of the picture, with the derivatives by the unknowns, the unit vector across its line, and how wide its stripe is. 0: not
 * seen. */
static int see(const tsr_pinhole *camera, const tsr_view_model *model, const tsr_align_samples *samples, int64_t n, double pixel[2], double across[2], double *wide,
               double jacobian[2][MOST])
{
    double e[3], g[3], s[3], by_v[2][TSR_INTRINSICS], by_x[2][3];
    const double *at = samples->at[n], *along = samples->along[n], *stripe = samples->across[n];
    for (int i = 0; i < 3; i++) {
        const double *r = camera->rotation[i];
        e[i] = r[0] * at[0] + r[1] * at[1] + r[2] * at[2] + camera->translation[i];
        g[i] = r[0] * along[0] + r[1] * along[1] + r[2] * along[2];
        s[i] = r[0] * stripe[0] + r[1] * stripe[1] + r[2] * stripe[2];
    }
    if (!tsr_view_project(model, e, pixel, by_v, by_x)) return 0;
    double t[2];
    for (int i = 0; i < 2; i++) {
        t[i] = by_x[i][0] * g[0] + by_x[i][1] * g[1] + by_x[i][2] * g[2];
        /* de = w x e + v */
        jacobian[i][0] = by_x[i][2] * e[1] - by_x[i][1] * e[2];
        jacobian[i][1] = by_x[i][0] * e[2] - by_x[i][2] * e[0];
        jacobian[i][2] = by_x[i][1] * e[0] - by_x[i][0] * e[1];
        for (int k = 0; k < 3; k++) jacobian[i][3 + k] = by_x[i][k];
        jacobian[i][6] = by_v[i][0] * camera->fx + by_v[i][1] * camera->fy;
        jacobian[i][7] = by_v[i][2];
        jacobian[i][8] = by_v[i][3];
        jacobian[i][9] = by_v[i][4];
        jacobian[i][10] = by_v[i][5];
    }
    const double length = hypot(t[0], t[1]);
    if (!(length > 0)) return 0;
    across[0] = -t[1] / length;
    across[1] = t[0] / length;
    *wide = 0;
    for (int i = 0; i < 2; i++) *wide += across[i] * (by_x[i][0] * s[0] + by_x[i][1] * s[1] + by_x[i][2] * s[2]);
    *wide = fabs(*wide);
    return 1;
}

typedef struct sums {
    double normal[MOST * MOST], right[MOST], cost, square;
    int64_t counted, matched;
} sums;

/* Adds a residual r with derivatives j (both across the line): Tukey's weight beyond `bound`, nothing. */
static void add(sums *s, const int *which, int count, double r, const double *j, double bound)
{
    const double q = r / bound;
    s->counted++;
    s->cost += fabs(q) < 1 ? bound * bound / 6 * (1 - pow(1 - q * q, 3)) : bound * bound / 6;
    if (!(fabs(q) < 1)) return;
    const double weight = (1 - q * q) * (1 - q * q);
    s->matched += fabs(r) < 2;
    if (fabs(r) < 2) s->square += r * r;
    for (int a = 0; a < count; a++) {
        const double x = weight * j[which[a]];
        s->right[a] += x * r;
        for (int b = 0; b <= a; b++) s->normal[a * count + b] += x * j[which[b]];
    }
}

static int solve(const sums *s, int count, double damp, double *step)
{
    double m[MOST * MOST];
    memcpy(m, s->normal, sizeof m);
    for (int a = 0; a < count; a++) {
        step[a] = s->right[a];
        m[a * count + a] += damp * m[a * count + a] + 1e-12;
    }
    if (!tsr_dense_cholesky(count, m, NULL)) return 0;
    tsr_dense_solve(count, m, step);
    return 1;
}

/* One way to measure the distance of a sample from its edge. */
typedef struct task {
    const tsr_align_level *level;
    const tsr_align_samples *samples;
    const int *which;
    int count;
    double reach, contrast, bound; /* reach 0: distances */
} task;

/* Across the line: where the slope is steepest, or the middle of a stripe that is `wide`; near and strong within reach, sub-pixel, pixels of the level. */
static int strongest(const task *t, const double at[2], const double across[2], double wide, double *place)
{
    enum { HALF = 24 };
    float v[2 * HALF + 3], slope[2 * HALF + 1];
    uint8_t beyond[2 * HALF + 1] = { 0 };
    const tsr_grey *g = &t->level->smooth;
    const int n = t->reach < 1 ? 1 : t->reach > HALF ? HALF : (int)ceil(t->reach);
    const double beside = fmax(1.5, 0.5 * wide + 1);
    if (at[0] < 1 || at[1] < 1 || at[0] > g->width - 2 || at[1] > g->height - 2) return 0;
    for (int k = -n - 1; k <= n + 1; k++) v[k + n + 1] = tsr_align_value(g, at[0] + k * across[0], at[1] + k * across[1]);
    for (int k = -n; k <= n; k++) {
        if (wide > 0) { /* it differs from both sides alike: just beside a stripe one side is the stripe, which is none */
            const float left = v[k + n + 1] - tsr_align_value(g, at[0] + (k - beside) * across[0], at[1] + (k - beside) * across[1]);
            const float right = v[k + n + 1] - tsr_align_value(g, at[0] + (k + beside) * across[0], at[1] + (k + beside) * across[1]);
            const float least = fabsf(left) < fabsf(right) ? fabsf(left) : fabsf(right);
            slope[k + n] = 0.5f * fabsf(left + right);
            beyond[k + n] = !(left * right > 0 && 2 * least > slope[k + n]);
        } else {
            slope[k + n] = 0.5f * fabsf(v[k + n + 2] - v[k + n]);
        }
    }
    int best = -1;
    float most = 0;
    for (int k = 1; k < 2 * n; k++) { /* beyond four times what is asked for, nearness alone decides */
        const float s = slope[k], enough = 4 * (float)t->contrast, worth = (s < enough ? s : enough) / (1 + 2 * fabsf((float)(k - n)) / (float)n);
        if (beyond[k] || s < (float)t->contrast || s < slope[k - 1] || s < slope[k + 1] || worth <= most) continue;
        most = worth;
        best = k;
    }
    if (best < 0) return 0;
    const float curve = slope[best - 1] - 2 * slope[best] + slope[best + 1];
    *place = best - n + (curve < 0 ? (double)(0.5f * (slope[best - 1] - slope[best + 1]) / curve) : 0);
    return 1;
}

static void measure(const task *t, const tsr_pinhole *camera, sums *s)
{
    const tsr_align_level *l = t->level;
    const tsr_view_model model = tsr_view_model_of(camera);
    memset(s, 0, sizeof *s);
    for (int64_t i = 0; i < t->samples->count; i++) {
        double pixel[2], across[2], wide, j[2][MOST], line[MOST], r;
        if (!see(camera, &model, t->samples, i, pixel, across, &wide, j)) continue;
        const double at[2] = { pixel[0] / l->scale - 0.5, pixel[1] / l->scale - 0.5 };
        if (!(at[0] >= 0 && at[1] >= 0 && at[0] <= l->width - 1 && at[1] <= l->height - 1)) {
            s->counted++;
            s->cost += t->bound * t->bound / 36; /* not seen: better than no edge, worse than one */
            continue;
        }
        if (t->reach > 0) {
            if (!strongest(t, at, across, wide / l->scale, &r)) {
                s->counted++;
                s->cost += t->bound * t->bound / 6;
                continue;
            }
            r *= l->scale;
            for (int k = 0; k < MOST; k++) line[k] = across[0] * j[0][k] + across[1] * j[1][k];
        } else {
            /* the distance and its slope by differences of its neighbours */
            const int32_t x = (int32_t)(at[0] + 0.5), y = (int32_t)(at[1] + 0.5), w = l->width, h = l->height;
            const int32_t d = tsr_align_direction((float)across[1], (float)-across[0]);
            const uint8_t *p = l->distance + ((int64_t)d * h + y) * w + x;
            const double left = x > 0 ? p[-1] : p[0], right = x < w - 1 ? p[1] : p[0], above = y > 0 ? p[-w] : p[0], below = y < h - 1 ? p[w] : p[0];
            double slope[2] = { 0.5 * (right - left) * (double)l->unit, 0.5 * (below - above) * (double)l->unit };
            r = *p * (double)l->unit;
            if (*p == TSR_ALIGN_FAR || (slope[0] == 0 && slope[1] == 0)) {
                s->counted++;
                s->cost += *p == TSR_ALIGN_FAR ? t->bound * t->bound / 6 : 0;
                continue;
            }
            r = -(r + slope[0] * (at[0] - x) + slope[1] * (at[1] - y)) * l->scale;
            for (int k = 0; k < MOST; k++) line[k] = slope[0] * j[0][k] + slope[1] * j[1][k];
        }
        add(s, t->which, t->count, r, line, t->bound);
    }
}

static void lower(const task *t, int turns, tsr_pinhole *camera, tsr_align_fit *fit)
{
    sums now, next;
    double damp = 1e-3;
    measure(t, camera, &now);
    for (int turn = 0; turn < turns; turn++) {
        double step[MOST];
        if (!solve(&now, t->count, damp, step)) break;
        tsr_pinhole moved = *camera;
        tsr_align_step(&moved, t->which, t->count, step);
        if (!(moved.fx > 1 && isfinite(moved.fx))) break;
        measure(t, &moved, &next);
        const double before = now.cost / (double)(now.counted + !now.counted), after = next.cost / (double)(next.counted + !next.counted);
        if (!(after < before * (1 + 1e-12)) || !next.counted) {
            damp *= 8;
            if (damp > 1e4) break;
            continue;
        }
        *camera = moved;
        now = next;
        damp = damp > 1e-8 ? damp / 6 : damp;
        if (before - after < 1e-7 * before) break;
    }
    fit->cost = now.counted ? now.cost / (double)now.counted : 1e30;
    fit->matched = now.matched;
    fit->rms = now.matched ? sqrt(now.square / (double)now.matched) : 0;
    for (int a = 0; a < t->count; a++)
        for (int b = 0; b < t->count; b++) fit->normal[a * t->count + b] = now.normal[(a > b ? a : b) * t->count + (a > b ? b : a)];
}

void tsr_align_polish(const tsr_align_level *level, const tsr_align_samples *samples, const int *which, int count, int turns, tsr_pinhole *camera, tsr_align_fit *fit)
{
    const task t = { .level = level, .samples = samples, .which = which, .count = count, .bound = TSR_ALIGN_FAR * (double)level->unit * level->scale };
    lower(&t, turns, camera, fit);
}

void tsr_align_snap(const tsr_align_level *level, const tsr_align_samples *samples, double reach, double bound, double contrast, const int *which, int count, int turns,
                    tsr_pinhole *camera, tsr_align_fit *fit)
{
    const task t = { .level = level, .samples = samples, .which = which, .count = count, .reach = reach, .contrast = contrast, .bound = bound * level->scale };
    lower(&t, turns, camera, fit);
}
