/* vision/rig_edit/rig_edit_fit.c: cameras from pairs, from vanishing lines, from edges: what the editor leaves to mathematics. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vision/calibration/dense.h"
#include "vision/rig_edit/rig_edit.h"

static const double degrees = 180 / 3.14159265358979323846;

/* Words behind the command: what is free besides pose and focal length. `wide`, `all` and `colours` where they are wanted. */
static tsr_status options_of(const tsr_rig_editor *e, const edit_words *w, int searches, uint32_t *free_, int *wide, int *all, int *colours)
{
    static const struct {
        const char *name;
        uint32_t bit;
    } known[] = { { "k1", TSR_FREE_K1 }, { "k2", TSR_FREE_K2 }, { "centre", TSR_FREE_CENTRE }, { "wide", 0 }, { "all", 0 }, { "colours", 0 } };
    *free_ = e->now.locked[e->active] >> TSR_RIG_FOV & 1 ? 0 : TSR_FREE_FOCAL;
    *wide = *all = *colours = 0;
    for (int i = 1; i < w->count; i++) {
        int n = 0;
        while (n < (searches ? 6 : 3) && strcmp(w->word[i], known[n].name)) n++;
        if (n == (searches ? 6 : 3))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: '%.40s', expected k1, k2, centre%s", w->word[0], w->word[i], searches ? ", wide, all or colours" : "");
        *free_ |= known[n].bit;
        *wide |= n == 3;
        *all |= n == 4;
        *colours |= n == 5;
    }
    if (!*free_) *free_ = TSR_FREE_POSE_ONLY;
    return TSR_OK;
}

void edit_keep_sigma(tsr_rig_editor *e, int32_t index, const tsr_calibration_sigma *s, double condition)
{
    const tsr_pinhole *c = &e->now.camera[index];
    double *to = e->now.sigma[index];
    const double half = 0.5 * c->height;
    to[TSR_RIG_YAW] = degrees * s->rotation[1];
    to[TSR_RIG_PITCH] = degrees * s->rotation[0];
    to[TSR_RIG_ROLL] = degrees * s->rotation[2];
    memcpy(to + TSR_RIG_X, s->translation, sizeof s->translation);
    to[TSR_RIG_FOV] = degrees * s->fy * 2 * half / (c->fy * c->fy + half * half);
    to[TSR_RIG_CX] = s->cx;
    to[TSR_RIG_CY] = s->cy;
    to[TSR_RIG_K1] = s->k[0];
    to[TSR_RIG_K2] = s->k[1];
    e->now.condition[index] = condition;
}

/* Eigenvalues by iteration, as the matrix may be large: the largest of A, the largest of its inverse. */
double edit_condition(int n, const double *normal, int which[2])
{
    enum { TURNS = 60 };
    const size_t all = (size_t)n * (size_t)n;
    double *scaled = (double *)calloc(2 * all + 2 * (size_t)n, sizeof *scaled), most = 0, least = 0;
    if (!scaled) return 0;
    double *factor = scaled + all, *v = factor + all, *w = v + n;
    int good = 1;
    for (int i = 0; i < n; i++)
        for (int k = 0; k <= i; k++) {
            const double d = sqrt(normal[(int64_t)i * n + i] * normal[(int64_t)k * n + k]);
            good &= d > 0;
            scaled[(int64_t)i * n + k] = scaled[(int64_t)k * n + i] = d > 0 ? normal[(int64_t)i * n + k] / d : i == k;
        }
    memcpy(factor, scaled, all * sizeof *factor);
    good = good && tsr_dense_cholesky(n, factor, NULL);
    for (int inverse = 0; inverse < 1 + good; inverse++) {
        double *value = inverse ? &least : &most;
        for (int i = 0; i < n; i++) v[i] = 1 + 0.01 * (i % 7); /* not at right angles to what is looked for */
        for (int turn = 0; turn < TURNS; turn++) {
            double size = 0;
            for (int i = 0; i < n; i++) size += v[i] * v[i];
            *value = sqrt(size);
            for (int i = 0; i < n; i++) w[i] = v[i] / *value;
            memcpy(v, w, (size_t)n * sizeof *v);
            if (inverse) tsr_dense_solve(n, factor, v);
            for (int i = 0; i < n && !inverse; i++) {
                v[i] = 0;
                for (int k = 0; k < n; k++) v[i] += scaled[(int64_t)i * n + k] * w[k];
            }
        }
    }
    if (which) {
        which[0] = 0, which[1] = n > 1;
        for (int i = 0; i < n; i++)
            if (fabs(w[i]) > fabs(w[which[0]])) which[0] = i;
        which[1] = which[0] == 0;
        for (int i = 0; i < n; i++)
            if (i != which[0] && fabs(w[i]) > fabs(w[which[1]])) which[1] = i;
    }
    free(scaled);
    return good ? most * least : HUGE_VAL;
}

void edit_say_condition(const char *command, const char *camera, double condition, const int which[2], const int *free_, int lens)
{
    static const char *const pose[6] = { "the pitch", "the yaw", "the roll", "the place to the right", "the place downwards", "the distance" },
                             *const own[TSR_INTRINSICS] = {
                                 "the field of view", "the aspect", "cx", "cy", "k1", "k2", "k3", "k4", "k5", "k6", "p1", "p2"
                             };
    const char *name[2];
    if (!(condition > 1e6)) return;
    for (int i = 0; i < 2; i++) name[i] = which[i] < 6 ? pose[which[i]] : which[i] < 6 + lens ? own[free_[which[i] - 6]] : "brightness";
    tsr_remark("%s: '%s': %s cannot be told from %s (condition number %.1e): lock one of them, or give more", command, camera, name[0], name[1],
               condition);
}

/* ---- pairs --------------------------------------------------------------------------------------------------------------------- */

typedef struct pairs {
    int32_t count;
    tsr_sighting sighting[EDIT_PAIRS];
    tsr_vec3 point[EDIT_PAIRS];
    double pixel[EDIT_PAIRS][2];
} pairs;

/* The better of two: with a focal length that closed forms find, and from the camera's own. */
static tsr_status least_squares(const pairs *p, const tsr_pinhole *own, uint32_t free_, tsr_calibration **best)
{
    tsr_calibrate_options o = TSR_CALIBRATE_OPTIONS;
    double least = HUGE_VAL;
    tsr_status status = TSR_OK;
    o.free = free_;
    o.huber = 2;
    *best = NULL;
    for (int found = 0; found < 2; found++) {
        tsr_pinhole start = *own;
        tsr_calibration *made = NULL;
        tsr_calibration_info info = TSR_CALIBRATION_INFO;
        if (found && (own->k[0] != 0 || own->k[1] != 0 || own->p[0] != 0 || own->p[1] != 0 || !(free_ & TSR_FREE_FOCAL) ||
                      own->cx != 0.5 * own->width || own->cy != 0.5 * own->height))
            break;
        if (found) start.fx = start.fy = 0;
        const tsr_status one = tsr_calibrate(p->sighting, p->count, &start, 1, &o, &made);
        if (one != TSR_OK && !found) status = one;
        if (one != TSR_OK) continue;
        const int good = tsr_calibration_get_info(made, &info) == TSR_OK && info.rms < least;
        if (good) {
            least = info.rms;
            tsr_calibration_destroy(best);
            *best = made;
        } else tsr_calibration_destroy(&made);
    }
    return *best ? TSR_OK : status;
}

/* solve all [shared] [points SIGMA] [k1] [k2] [centre]: each by itself first, then all together. */
static tsr_status solve_all(tsr_rig_editor *e, const edit_words *w)
{
    edit_words own = *w;
    const int32_t active = e->active;
    int shared = 0, wide, all, colours;
    double sigma = 0;
    uint32_t free_;
    own.count = 1;
    for (int i = 2; i < w->count; i++) {
        if (!strcmp(w->word[i], "shared")) shared = 1;
        else if (!strcmp(w->word[i], "points") && i + 1 < w->count) TSR_TRY(edit_number(w, ++i, "the places' standard deviation", 1e-9, 1e9, &sigma));
        else own.word[own.count++] = w->word[i];
    }
    TSR_TRY(options_of(e, &own, 0, &free_, &wide, &all, &colours));
    tsr_status status = TSR_OK;
    for (int32_t i = 0; i < e->cameras && status == TSR_OK; i++) {
        int32_t pairs_of = 0;
        for (int32_t k = 0; k < e->now.pairs; k++) pairs_of += e->now.pair[k].camera == i;
        if (pairs_of < 3) continue;
        e->active = i;
        edit_words one = own;
        if (pairs_of < 6) one.count = 1; /* the lens comes from all of them */
        status = edit_solve(e, &one);
    }
    e->active = active;
    return status == TSR_OK ? edit_bundle(e, free_, shared, sigma) : status;
}

tsr_status edit_solve(tsr_rig_editor *e, const edit_words *w)
{
    uint32_t free_;
    int wide, all, colours;
    if (w->count > 1 && !strcmp(w->word[1], "all")) return solve_all(e, w);
    TSR_TRY(edit_counts(w, 0, 3, "solve [all [shared] [points SIGMA]] [k1] [k2] [centre]"));
    TSR_TRY(options_of(e, w, 0, &free_, &wide, &all, &colours));
    tsr_pinhole *c = &e->now.camera[e->active];
    pairs *p = (pairs *)calloc(1, sizeof *p);
    tsr_calibration *found = NULL;
    tsr_calibration_info info = TSR_CALIBRATION_INFO;
    tsr_calibration_sigma sigma;
    tsr_status status;
    if (!p) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for %d pairs", EDIT_PAIRS);
    for (int32_t i = 0; i < e->now.pairs; i++) {
        const edit_pair *q = &e->now.pair[i];
        if (q->camera != e->active) continue;
        p->sighting[p->count] = (tsr_sighting){ .point = q->point, .pixel = { q->pixel[0], q->pixel[1] } };
        p->point[p->count] = q->point;
        memcpy(p->pixel[p->count++], q->pixel, sizeof q->pixel);
    }
    if (p->count < 3)
        TSR_FAIL_GOTO(TSR_ERROR_STATE, end, "solve: the camera has %d pairs, expected at least 3 (4 with the field of view, 6 with the lens)",
                      p->count);
    const int lens = (free_ & (TSR_FREE_K1 | TSR_FREE_K2 | TSR_FREE_CENTRE)) != 0;
    if (lens && p->count < 6) TSR_FAIL_GOTO(TSR_ERROR_STATE, end, "solve: the camera has %d pairs, expected at least 6 for lens or centre", p->count);
    if (p->count == 3) { /* nothing is left over: the pose alone */
        tsr_pinhole made = *c;
        TSR_TRY_GOTO(tsr_pose_from_points(&made, p->point, (const double(*)[2])p->pixel, 3), end);
        *c = made;
        e->now.condition[e->active] = 0;
        memset(e->now.sigma[e->active], 0, sizeof e->now.sigma[0]);
        goto end;
    }
    TSR_TRY_GOTO(least_squares(p, c, free_, &found), end);
    TSR_TRY_GOTO(tsr_calibration_camera(found, 0, c, &sigma, NULL), end);
    TSR_TRY_GOTO(tsr_calibration_get_info(found, &info), end);
    for (int i = 0; i < info.warnings; i++) tsr_remark("solve: %s", tsr_calibration_warning(found, i));
    edit_keep_sigma(e, e->active, &sigma, info.condition);
end:
    tsr_calibration_destroy(&found);
    free(p);
    return status;
}

/* ---- vanishing lines ----------------------------------------------------------------------------------------------------------- */

/* Where the active camera's lines along an axis meet, pixels without the lens; how many there are. */
static int meet(const tsr_rig_editor *e, int axis, double at[2])
{
    const tsr_pinhole *c = &e->now.camera[e->active];
    const tsr_view_model model = tsr_view_model_of(c);
    double sum[9] = { 0 }, value[3], vector[9];
    int count = 0;
    for (int32_t i = 0; i < e->now.lines; i++) {
        const edit_line *l = &e->now.line[i];
        double a[2], b[2];
        if (l->camera != e->active || l->axis != axis || !tsr_view_normalise(&model, l->end[0], a) || !tsr_view_normalise(&model, l->end[1], b))
            continue;
        double n[3] = { a[1] - b[1], b[0] - a[0], a[0] * b[1] - a[1] * b[0] };
        const double length = hypot(n[0], n[1]);
        for (int k = 0; k < 9; k++) sum[k] += n[k / 3] * n[k % 3] / (length * length);
        count++;
    }
    if (count < 2) return count;
    tsr_dense_eigen(3, sum, value, vector);
    const double w = fabs(vector[2]) > 1e-9 ? vector[2] : 1e-9; /* parallel in the picture: far off */
    at[0] = c->fx * vector[0] / w + c->cx;
    at[1] = c->fy * vector[1] / w + c->cy;
    return count;
}

tsr_status edit_vanish(tsr_rig_editor *e, const edit_words *w)
{
    double at[3][2], eye[3] = { 0 };
    int count[3], first = -1;
    TSR_TRY(edit_counts(w, 0, 0, "vanish"));
    tsr_pinhole *c = &e->now.camera[e->active], best = *c;
    for (int k = 0; k < 3; k++) count[k] = meet(e, k, at[k]);
    for (int k = 0; k < 3 && first < 0; k++)
        if (count[k] >= 2 && count[(k + 1) % 3] >= 2) first = k;
    if (first < 0)
        TSR_FAIL(TSR_ERROR_STATE, "vanish: the camera has %d, %d and %d lines along x, y and z, expected two and more of two axes", count[0],
                 count[1], count[2]);
    const int a = first, b = (first + 1) % 3, third = (first + 2) % 3;
    tsr_pinhole made = *c;
    TSR_TRY(tsr_pose_from_vanishing(at[a], at[b], &made));
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) eye[k] -= c->rotation[i][k] * c->translation[i];
    double most = -HUGE_VAL;
    for (int turn = 0; turn < 4; turn++) { /* an axis may come towards the camera: what is closest to how it looks now */
        const double sa = turn & 1 ? -1 : 1, sb = turn & 2 ? -1 : 1;
        double r[3][3], like = 0;
        for (int i = 0; i < 3; i++) {
            r[i][a] = sa * made.rotation[i][0];
            r[i][b] = sb * made.rotation[i][1];
            r[i][third] = sa * sb * made.rotation[i][2];
            for (int k = 0; k < 3; k++) like += r[i][k] * c->rotation[i][k];
        }
        if (like <= most) continue;
        most = like;
        memcpy(best.rotation, r, sizeof r);
    }
    if (!(e->now.locked[e->active] >> TSR_RIG_FOV & 1)) {
        best.fy = made.fy * c->fy / c->fx;
        best.fx = made.fx;
    }
    tsr_dense_rotation(best.rotation);
    for (int i = 0; i < 3; i++) best.translation[i] = -(best.rotation[i][0] * eye[0] + best.rotation[i][1] * eye[1] + best.rotation[i][2] * eye[2]);
    *c = best;
    return TSR_OK;
}

/* ---- edges --------------------------------------------------------------------------------------------------------------------- */

tsr_status edit_refine(tsr_rig_editor *e, const edit_words *w)
{
    tsr_align_options o = TSR_ALIGN_OPTIONS;
    int wide, all, colours;
    TSR_TRY(edit_counts(w, 0, 6, "refine [wide] [all] [colours] [k1] [k2] [centre]"));
    TSR_TRY(options_of(e, w, 1, &o.free, &wide, &all, &colours));
    if (!*e->proxy_name) TSR_FAIL(TSR_ERROR_STATE, "refine: there is no proxy yet: load one first");
    if (colours && wide)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "refine: wide and colours, expected one of them: colours need a camera that is some pixels off");
    if (colours && e->cameras < 2)
        TSR_FAIL(TSR_ERROR_STATE, "refine colours: there is one camera, expected two and more that see the same part of the proxy");
    const int32_t first = all ? 0 : e->active, end = all ? e->cameras : e->active + 1;
    for (int32_t i = first; i < end && colours; i++) TSR_TRY(edit_agree(e, i, o.free));
    if (colours) return TSR_OK;
    o.refine_only = !wide;
    o.progress = e->o.progress;
    const tsr_align_proxy proxy = { .line = e->outline, .lines = e->outlines, .mesh = e->mesh };
    for (int32_t i = first; i < end; i++) {
        tsr_align_result r = TSR_ALIGN_RESULT;
        TSR_TRY(tsr_align_edges(e->context, &e->image[i].at[0], &proxy, &e->now.camera[i], &o, &r));
        e->now.camera[i] = r.camera;
        edit_keep_sigma(e, i, &r.sigma, r.condition);
    }
    return TSR_OK;
}
