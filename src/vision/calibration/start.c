/* vision/calibration/start.c: start values: focal lengths by trial, poses in closed form, cameras tied together by what they saw at once.
 * docs/theory/calibration.md 6. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vision/calibration/calibration.h"

/* What one camera saw of one pose. */
typedef struct group {
    int32_t camera, pose;
    int64_t begin, count;
    int known;
    tsr_pose seen; /* in the camera's axes */
} group;

typedef struct start {
    tsr_refine *p;
    tsr_sighting *sorted;
    tsr_vec3 *point;
    double (*pixel)[2], (*place)[2];
    group *groups;
    int64_t count;
    size_t bytes;
} start;

static int by_camera(const void *a, const void *b)
{
    const tsr_sighting *x = (const tsr_sighting *)a, *y = (const tsr_sighting *)b;
    if (x->camera != y->camera) return x->camera < y->camera ? -1 : 1;
    return (x->pose > y->pose) - (x->pose < y->pose);
}

static tsr_status gather(tsr_refine *p, start *s)
{
    const size_t n = (size_t)p->count, each = sizeof(tsr_sighting) + sizeof(tsr_vec3) + 32 + sizeof(group);
    void *room = NULL;
    *s = (start){ .p = p, .bytes = n * each };
    TSR_TRY(tsr_host_allocate(NULL, s->bytes, &room));
    s->sorted = (tsr_sighting *)room;
    s->groups = (group *)(s->sorted + n);
    s->point = (tsr_vec3 *)(s->groups + n);
    s->pixel = (double(*)[2])(s->point + n);
    s->place = s->pixel + n;
    memcpy(s->sorted, p->sighting, n * sizeof *s->sorted);
    qsort(s->sorted, n, sizeof *s->sorted, by_camera);
    for (int64_t i = 0; i < p->count; i++) {
        const tsr_sighting *v = &s->sorted[i];
        group *g = s->count ? &s->groups[s->count - 1] : NULL;
        s->point[i] = v->point;
        memcpy(s->pixel[i], v->pixel, sizeof v->pixel);
        if (g && g->camera == v->camera && g->pose == v->pose) g->count++;
        else s->groups[s->count++] = (group){ .camera = v->camera, .pose = v->pose, .begin = i, .count = 1 };
    }
    return TSR_OK;
}

static int pose_of(start *s, const tsr_view_model *model, group *g)
{
    int64_t n = 0;
    for (int64_t i = g->begin; i < g->begin + g->count; i++) n += tsr_view_normalise(model, s->pixel[i], s->place[i]);
    g->known = n == g->count && tsr_pose_of_places(s->point + g->begin, (const double(*)[2])s->place + g->begin, g->count, &g->seen);
    return g->known;
}

static double error_of(const start *s, const tsr_view_model *model, const group *g)
{
    double sum = 0;
    for (int64_t i = g->begin; i < g->begin + g->count; i++) {
        const double at[3] = { s->point[i].x, s->point[i].y, s->point[i].z };
        double x[3], pixel[2];
        tsr_pose_apply(&g->seen, at, x);
        if (!tsr_view_project(model, x, pixel, NULL, NULL)) return INFINITY;
        const double dx = pixel[0] - s->pixel[i][0], dy = pixel[1] - s->pixel[i][1];
        sum += dx * dx + dy * dy;
    }
    return sum;
}

enum { TRIALS = 24, GROUPS_TRIED = 12, PLANES_MOST = 64 };

/* Of planar boards without much distortion the closed form is nearly right already; the others cover what lenses do to it. */
static double closed_form(start *s, const group *from, int64_t count, const tsr_view_model *model)
{
    double h[PLANES_MOST][3][3];
    int planes = 0;
    for (int64_t k = 0; k < count && planes < PLANES_MOST; k++) {
        const group *g = &from[k];
        int flat = 1;
        for (int64_t i = g->begin; i < g->begin + g->count; i++) {
            flat = flat && s->point[i].z == s->point[g->begin].z;
            s->place[i][0] = s->point[i].x;
            s->place[i][1] = s->point[i].y;
        }
        planes += flat && tsr_homography_solve((const double(*)[2])s->place + g->begin, (const double(*)[2])s->pixel + g->begin, g->count, h[planes]);
    }
    return tsr_focal_of_planes((const double(*)[3][3])h, planes, model->v + 2, 1);
}

static tsr_status find_focal(start *s, group *from, int64_t count, const tsr_pinhole *camera, tsr_view_model *model)
{
    double best = INFINITY, focal = 0;
    const int64_t stride = count > GROUPS_TRIED ? count / GROUPS_TRIED : 1;
    memset(model->v, 0, sizeof model->v);
    model->v[2] = 0.5 * camera->width;
    model->v[3] = 0.5 * camera->height;
    const double closed = model->fisheye ? 0 : closed_form(s, from, count, model);
    for (int n = -1; n < TRIALS; n++) {
        const double f = n < 0 ? closed : camera->width * (model->fisheye ? 0.12 : 0.25) * pow(2, 5.0 * n / (TRIALS - 1));
        double sum = 0;
        if (!(f > 0.05 * camera->width && f < 100.0 * camera->width)) continue;
        model->v[0] = model->v[1] = f;
        for (int64_t k = 0; k < count; k += stride) {
            const double e = pose_of(s, model, &from[k]) ? error_of(s, model, &from[k]) : (double)INFINITY;
            sum += fmin(e, (double)from[k].count * camera->width * camera->width);
        }
        if (sum < best) {
            best = sum;
            focal = f;
        }
    }
    if (!(focal > 0)) TSR_FAIL(TSR_ERROR_ARGUMENT, "camera %d: no focal length shows the points in front of it", from->camera);
    model->v[0] = model->v[1] = focal;
    return TSR_OK;
}

/* Each camera by itself, so that the poses it saw are good enough to compare. */
static tsr_status refine_alone(start *s, int32_t c, group *from, int64_t count, uint32_t free_)
{
    tsr_refine *p = s->p;
    tsr_pose identity = tsr_pose_identity();
    int64_t sightings = 0, known = 0;
    for (int64_t k = 0; k < count; k++)
        if (from[k].known) {
            sightings += from[k].count;
            known++;
        }
    void *room = NULL;
    const size_t bytes = (size_t)known * sizeof(tsr_pose) + (size_t)sightings * sizeof(tsr_sighting);
    TSR_TRY(tsr_host_allocate(NULL, bytes + 1, &room));
    tsr_pose *pose = (tsr_pose *)room;
    tsr_sighting *own = (tsr_sighting *)(pose + known);
    int64_t n = 0, j = 0;
    for (int64_t k = 0; k < count; k++) {
        if (!from[k].known) continue;
        for (int64_t i = from[k].begin; i < from[k].begin + from[k].count; i++) {
            own[n] = s->sorted[i];
            own[n].camera = 0;
            own[n++].pose = (int32_t)j;
        }
        pose[j++] = from[k].seen;
    }
    tsr_view_model model = p->model[c];
    tsr_refine alone = { .sighting = own,
                         .count = n,
                         .cameras = 1,
                         .poses = (int32_t)known,
                         .model = &model,
                         .extrinsic = &identity,
                         .pose = pose,
                         .free = free_,
                         .huber = p->huber,
                         .iterations_most = 60,
                         .progress = p->progress };
    int unused[TSR_INTRINSICS];
    tsr_status status = TSR_OK;
    if (2 * n >= tsr_refine_free(free_, model.fisheye, unused) + 6 * known && known > 0) status = tsr_refine_run(&alone);
    if (status == TSR_OK && model.v[0] > 0 && model.v[0] < 100 * p->model[c].v[0]) {
        p->model[c] = model;
        for (int64_t k = 0, m = 0; k < count; k++)
            if (from[k].known) from[k].seen = pose[m++];
    }
    tsr_host_release(NULL, room, bytes + 1);
    return status == TSR_ERROR_CANCELLED ? status : TSR_OK;
}

/* How far apart two poses are, for choosing the one most like the others. */
static double apart(const tsr_pose *a, const tsr_pose *b, double size)
{
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        sum += fabs(a->translation[i] - b->translation[i]) / size;
        for (int k = 0; k < 3; k++) sum += fabs(a->rotation[i][k] - b->rotation[i][k]);
    }
    return sum;
}

enum { LINKS_MOST = 64 };

/* Cameras are added one by one: the one that shares most poses with those that are in. */
static tsr_status link_cameras(start *s, const int64_t *first)
{
    tsr_refine *p = s->p;
    int in[TSR_CALIBRATE_CAMERAS_MOST] = { 1 };
    void *room = NULL;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)p->poses * sizeof(int64_t), &room));
    int64_t *known = (int64_t *)room; /* by which group a pose is known, -1: not yet */
    tsr_status status = TSR_OK;
    for (int32_t j = 0; j < p->poses; j++) known[j] = -1;
    for (int32_t c = 0, added = 1;; added++) {
        for (int64_t k = first[c]; k < first[c + 1]; k++) { /* poses that this camera makes known */
            const group *g = &s->groups[k];
            if (!g->known || (known[g->pose] >= 0 && s->groups[known[g->pose]].count >= g->count)) continue;
            const tsr_pose back = tsr_pose_inverse(&p->extrinsic[c]);
            p->pose[g->pose] = tsr_pose_compose(&back, &g->seen);
            known[g->pose] = k;
        }
        if (added == p->cameras) break;
        int32_t next = -1;
        int64_t most = 0;
        for (int32_t d = 0; d < p->cameras; d++) {
            int64_t shared = 0;
            for (int64_t k = first[d]; k < first[d + 1] && !in[d]; k++) shared += s->groups[k].known && known[s->groups[k].pose] >= 0;
            if (shared > most) {
                most = shared;
                next = d;
            }
        }
        if (next < 0) {
            int32_t lone = 0;
            while (in[lone]) lone++;
            TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, end,
                          "camera %d shares no pose with the cameras before it: expected boards that two cameras see at once", lone);
        }
        tsr_pose link[LINKS_MOST];
        int links = 0, best = 0;
        double least = INFINITY, size = 0;
        for (int64_t k = first[next]; k < first[next + 1] && links < LINKS_MOST; k++) {
            const group *g = &s->groups[k];
            if (!g->known || known[g->pose] < 0) continue;
            const tsr_pose back = tsr_pose_inverse(&p->pose[g->pose]);
            link[links++] = tsr_pose_compose(&g->seen, &back);
            size = fmax(size, fabs(g->seen.translation[2]));
        }
        for (int i = 0; i < links; i++) {
            double sum = 0;
            for (int k = 0; k < links; k++) sum += fmin(apart(&link[i], &link[k], size), 1);
            if (sum < least) {
                least = sum;
                best = i;
            }
        }
        p->extrinsic[next] = link[best];
        in[next] = 1;
        c = next;
    }
    for (int32_t j = 0; j < p->poses; j++)
        if (known[j] < 0) TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, end, "pose %d: no camera saw enough of it, expected 4 points that lie on no line", j);
end:
    tsr_host_release(NULL, room, (size_t)p->poses * sizeof(int64_t));
    return status;
}

static tsr_status each_camera(start *s, const int64_t *first, const tsr_pinhole *camera)
{
    tsr_refine *p = s->p;
    for (int32_t c = 0; c < p->cameras; c++) {
        group *from = s->groups + first[c];
        const int64_t count = first[c + 1] - first[c];
        TSR_PROGRESS(p->progress, (double)c / p->cameras, "start values");
        if (!(camera[c].fx > 0)) TSR_TRY(find_focal(s, from, count, &camera[c], &p->model[c]));
        for (int64_t k = 0; k < count; k++)
            if (pose_of(s, &p->model[c], &from[k]) && !isfinite(error_of(s, &p->model[c], &from[k]))) from[k].known = 0;
        /* one camera: the joint step does the same */
        if (p->cameras > 1) TSR_TRY(refine_alone(s, c, from, count, count > 2 ? p->free : p->free & (TSR_FREE_FOCAL | TSR_FREE_POSE_ONLY)));
    }
    return TSR_OK;
}

tsr_status tsr_start_values(tsr_refine *p, const tsr_pinhole *camera, int use_pose)
{
    start s;
    int64_t first[TSR_CALIBRATE_CAMERAS_MOST + 1];
    for (int32_t c = 0; c < p->cameras; c++) {
        p->model[c] = tsr_view_model_of(&camera[c]);
        p->extrinsic[c] = tsr_pose_identity();
    }
    TSR_TRY(gather(p, &s));
    tsr_status status = TSR_OK;
    for (int64_t k = 0, c = 0; c <= p->cameras; c++) {
        while (k < s.count && s.groups[k].camera < c) k++;
        first[c] = k;
    }
    if (use_pose) {
        tsr_pose world;
        for (int32_t c = 0; c < p->cameras; c++) {
            tsr_pose own;
            memcpy(own.rotation, camera[c].rotation, sizeof own.rotation);
            memcpy(own.translation, camera[c].translation, sizeof own.translation);
            if (c == 0) world = p->pose[0] = own;
            const tsr_pose back = tsr_pose_inverse(&world);
            if (c > 0) p->extrinsic[c] = tsr_pose_compose(&own, &back);
            if (!(camera[c].fx > 0)) TSR_TRY_GOTO(find_focal(&s, s.groups + first[c], first[c + 1] - first[c], &camera[c], &p->model[c]), end);
        }
    } else {
        TSR_TRY_GOTO(each_camera(&s, first, camera), end);
        TSR_TRY_GOTO(link_cameras(&s, first), end);
    }
end:
    tsr_host_release(NULL, s.sorted, s.bytes);
    return status;
}
