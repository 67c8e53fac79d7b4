/* vision/calibration/calibrate.c: arguments, start values, refinement, and what can be said about the result. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/number.h"
#include "vision/calibration/calibration.h"
#include "vision/calibration/dense.h"

enum { WARNINGS_MOST = 16, WARNING_ROOM = 320 };
#define CONDITION_WARNED 1e8

struct tsr_calibration {
    tsr_calibration_info info;
    int32_t shared, intrinsics, index[TSR_INTRINSICS];
    tsr_view_model *model;
    tsr_pose *extrinsic, *pose;
    tsr_pinhole *camera;
    tsr_calibration_sigma *sigma;
    double (*residual)[2], *covariance, *pose_covariance, *weakest, *camera_rms, *pose_rms;
    char warning[WARNINGS_MOST][WARNING_ROOM];
};

static const char *const parameter_names[TSR_INTRINSICS] = { "fx", "fy", "cx", "cy", "k1", "k2", "k3", "k4", "k5", "k6", "p1", "p2" };
static const char *const motion_names[6] = { "its turn about x",  "its turn about y",  "its turn about z",
                                             "its place along x", "its place along y", "its place along z" };

static tsr_status check_pinhole(const tsr_pinhole *c, int32_t index, int use_pose)
{
    if (c->width < 1 || c->height < 1 || c->width > 1 << 20 || c->height > 1 << 20)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "camera %d: %d x %d pixels, expected the size of its images", index, c->width, c->height);
    double sum = c->fx + c->fy + c->cx + c->cy + c->p[0] + c->p[1];
    for (int k = 0; k < 6; k++) sum += c->k[k];
    if (!isfinite(sum) || c->fx < 0 || (c->fx > 0 && !(c->fy > 0)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "camera %d: focal lengths %g and %g, expected numbers above 0 (or fx = 0: not known) and no NaN", index, c->fx,
                 c->fy);
    if (!use_pose) return TSR_OK;
    double r[3][3], off = 0;
    memcpy(r, c->rotation, sizeof r);
    const int rotation = tsr_dense_rotation(r);
    for (int i = 0; i < 9; i++) off += fabs(r[i / 3][i % 3] - c->rotation[i / 3][i % 3]);
    if (!rotation || !(off < 1e-5) || !isfinite(c->translation[0] + c->translation[1] + c->translation[2]))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "camera %d: its pose is no rotation and translation, from which the refinement was to start", index);
    return TSR_OK;
}

static tsr_status check(const tsr_sighting *s, int64_t count, const tsr_pinhole *camera, int32_t cameras, const tsr_calibrate_options *o,
                        int32_t *poses)
{
    if (!s && count) TSR_FAIL(TSR_ERROR_ARGUMENT, "sightings is NULL");
    if (!camera) TSR_FAIL(TSR_ERROR_ARGUMENT, "camera is NULL");
    if (count < 1) TSR_FAIL(TSR_ERROR_ARGUMENT, "no sightings: expected pairs of points and the pixels where they were seen");
    if (count > INT32_MAX) TSR_FAIL(TSR_ERROR_ARGUMENT, "%lld sightings, expected at most 2^31 - 1", (long long)count);
    if (cameras < 1 || cameras > TSR_CALIBRATE_CAMERAS_MOST)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%d cameras, expected 1 to %d", cameras, TSR_CALIBRATE_CAMERAS_MOST);
    if (!(o->huber >= 0) || !isfinite(o->huber)) TSR_FAIL(TSR_ERROR_ARGUMENT, "huber: %g pixels, expected 0 or more", o->huber);
    if (!(o->sigma >= 0) || !isfinite(o->sigma)) TSR_FAIL(TSR_ERROR_ARGUMENT, "sigma: %g pixels, expected 0 or more", o->sigma);
    if (o->iterations < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "iterations: %d, expected 0 or more", o->iterations);
    int64_t seen[TSR_CALIBRATE_CAMERAS_MOST] = { 0 };
    *poses = 0;
    for (int64_t i = 0; i < count; i++) {
        if (s[i].camera < 0 || s[i].camera >= cameras)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "sighting %lld: camera %d, expected 0 to %d", (long long)i, s[i].camera, cameras - 1);
        if (s[i].pose < 0 || s[i].pose >= TSR_CALIBRATE_POSES_MOST)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "sighting %lld: pose %d, expected 0 to %d", (long long)i, s[i].pose, TSR_CALIBRATE_POSES_MOST - 1);
        if (!isfinite(s[i].point.x + s[i].point.y + s[i].point.z + s[i].pixel[0] + s[i].pixel[1]))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "sighting %lld: its point or pixel is not finite", (long long)i);
        seen[s[i].camera]++;
        if (s[i].pose >= *poses) *poses = s[i].pose + 1;
    }
    for (int32_t c = 0; c < cameras; c++) {
        TSR_TRY(check_pinhole(&camera[c], c, o->use_pose));
        if (!seen[c]) TSR_FAIL(TSR_ERROR_ARGUMENT, "camera %d saw nothing: expected sightings of every camera", c);
    }
    if (o->use_pose && *poses != 1) TSR_FAIL(TSR_ERROR_ARGUMENT, "%d poses: the cameras' own poses serve as a start for one pose alone", *poses);
    return TSR_OK;
}

/* The points of every pose: at least three, not on a line. */
static tsr_status check_poses(const tsr_sighting *s, int64_t count, int32_t poses)
{
    void *room = NULL;
    tsr_status status = TSR_OK;
    const size_t bytes = (size_t)count * sizeof(tsr_vec3) + ((size_t)poses + 1) * sizeof(int64_t);
    TSR_TRY(tsr_host_allocate(NULL, bytes, &room));
    tsr_vec3 *point = (tsr_vec3 *)room;
    int64_t *end = (int64_t *)(point + count);
    memset(end, 0, ((size_t)poses + 1) * sizeof *end);
    for (int64_t i = 0; i < count; i++) end[s[i].pose + 1]++;
    for (int32_t j = 0; j < poses; j++) end[j + 1] += end[j];
    for (int64_t i = 0; i < count; i++) point[end[s[i].pose]++] = s[i].point;
    for (int32_t j = 0; j < poses; j++) {
        const int64_t begin = j ? end[j - 1] : 0, n = end[j] - begin;
        double value[3], axis[3][3], centre[3];
        if (n < 3) TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, done, "pose %d: %lld points, expected at least 3", j, (long long)n);
        tsr_points_extent(point + begin, n, value, axis, centre);
        if (tsr_points_rank(value) == TSR_POINTS_LINE)
            TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, done, "pose %d: its %lld points lie on a line, from which no pose follows: add one beside it", j,
                          (long long)n);
    }
done:
    tsr_host_release(NULL, room, bytes);
    return status;
}

static tsr_status allocate(void **to, size_t count, size_t size)
{
    *to = calloc(count ? count : 1, size);
    if (!*to) TSR_FAIL(TSR_ERROR_MEMORY, "calibration: out of host memory for %zu records", count);
    return TSR_OK;
}

static tsr_status create(tsr_calibration *k, int64_t count)
{
    const size_t cameras = (size_t)k->info.cameras, poses = (size_t)k->info.poses, n = (size_t)k->shared;
    TSR_TRY(allocate((void **)&k->model, cameras, sizeof *k->model));
    TSR_TRY(allocate((void **)&k->extrinsic, cameras, sizeof *k->extrinsic));
    TSR_TRY(allocate((void **)&k->pose, poses, sizeof *k->pose));
    TSR_TRY(allocate((void **)&k->camera, cameras, sizeof *k->camera));
    TSR_TRY(allocate((void **)&k->sigma, cameras, sizeof *k->sigma));
    TSR_TRY(allocate((void **)&k->residual, (size_t)count, sizeof *k->residual));
    TSR_TRY(allocate((void **)&k->covariance, n * n, sizeof *k->covariance));
    TSR_TRY(allocate((void **)&k->pose_covariance, 36 * poses, sizeof *k->pose_covariance));
    TSR_TRY(allocate((void **)&k->weakest, n, sizeof *k->weakest));
    TSR_TRY(allocate((void **)&k->camera_rms, cameras, sizeof *k->camera_rms));
    return allocate((void **)&k->pose_rms, poses, sizeof *k->pose_rms);
}

static void warn(tsr_calibration *k, const char *format, ...) TSR_PRINTF(2, 3);
static void warn(tsr_calibration *k, const char *format, ...)
{
    va_list list;
    if (k->info.warnings == WARNINGS_MOST) return;
    va_start(list, format);
    tsr_print_list(k->warning[k->info.warnings++], WARNING_ROOM, format, list);
    va_end(list);
}

static int base_of(const tsr_calibration *k, int32_t camera) { return camera * k->intrinsics + (camera > 0 ? 6 * (camera - 1) : 0); }

static void name_of(const tsr_calibration *k, int unknown, char *text, size_t room)
{
    int32_t c = 0;
    while (c + 1 < k->info.cameras && base_of(k, c + 1) <= unknown) c++;
    const int local = unknown - base_of(k, c);
    const char *name = local < k->intrinsics ? parameter_names[k->index[local]] : motion_names[local - k->intrinsics];
    if (k->info.cameras > 1) tsr_print(text, room, "%s of camera %d", name, c);
    else tsr_print(text, room, "%s", name);
}

/* Standard deviations, into the places of the parameters. */
static void spread(tsr_calibration *k)
{
    const size_t n = (size_t)k->shared;
    for (int32_t c = 0; c < k->info.cameras; c++) {
        double all[TSR_INTRINSICS + 6] = { 0 };
        const int base = base_of(k, c), local = k->intrinsics + (c > 0 ? 6 : 0);
        for (int i = 0; i < local; i++) {
            const size_t at = (size_t)(base + i);
            double sigma = sqrt(k->covariance[at * n + at]);
            if (!isfinite(sigma) || (k->info.condition > 1e13 && fabs(k->weakest[at]) > 1e-3)) sigma = INFINITY;
            all[i < k->intrinsics ? k->index[i] : TSR_INTRINSICS + i - k->intrinsics] = sigma;
        }
        if (k->index[0] == 0 && k->intrinsics && !(k->intrinsics > 1 && k->index[1] == 1)) all[1] = all[0] * k->model[c].v[1] / k->model[c].v[0];
        if (c == 0 && k->info.poses == 1)
            for (int i = 0; i < 6; i++) all[TSR_INTRINSICS + i] = sqrt(k->pose_covariance[7 * i]);
        tsr_calibration_sigma *s = &k->sigma[c];
        s->fx = all[0];
        s->fy = all[1];
        s->cx = all[2];
        s->cy = all[3];
        memcpy(s->k, all + 4, sizeof s->k);
        memcpy(s->p, all + 10, sizeof s->p);
        memcpy(s->rotation, all + 12, sizeof s->rotation);
        memcpy(s->translation, all + 15, sizeof s->translation);
    }
}

static void judge(tsr_calibration *k, const tsr_refine *p, const tsr_refine_report *r)
{
    char name[2][96];
    if (!p->converged) warn(k, "not converged after %d iterations: the result is where it stopped", p->iterations);
    if (r->pose_condition > CONDITION_WARNED)
        warn(k, "pose %d is not determined by its points (condition number %.1e): are they few, or nearly on a line?", r->worst_pose,
             r->pose_condition);
    if (k->shared && r->condition > CONDITION_WARNED && r->condition > r->pose_condition) {
        int first = 0, second = -1;
        for (int i = 1; i < k->shared; i++)
            if (fabs(k->weakest[i]) > fabs(k->weakest[first])) first = i;
        for (int i = 0; i < k->shared; i++)
            if (i != first && (second < 0 || fabs(k->weakest[i]) > fabs(k->weakest[second]))) second = i;
        name_of(k, first, name[0], sizeof name[0]);
        if (second >= 0 && fabs(k->weakest[second]) > 0.3) name_of(k, second, name[1], sizeof name[1]);
        else tsr_print(name[1], sizeof name[1], "the poses");
        warn(k, "%s cannot be told from %s (condition number %.1e)%s", name[0], name[1], r->condition,
             k->index[first < k->intrinsics ? first : 0] < 2
                 ? ": a plane seen head-on shows focal length and distance alike; tilt it, or hold the focal length"
                 : "");
    }
    for (int32_t c = 0; c < k->info.cameras; c++) {
        const double f = k->sigma[c].fx / k->model[c].v[0], centre = fmax(k->sigma[c].cx, k->sigma[c].cy);
        if (isfinite(f) && f > 0.05)
            warn(k, "camera %d: the focal length is known to %.0f %% alone: expected boards that are tilted, or points at several depths", c,
                 100 * f);
        if (isfinite(centre) && centre > 0.05 * k->camera[c].width)
            warn(k, "camera %d: the centre is known to %.0f pixels alone: expected boards that are tilted", c, centre);
        if (!(k->info.sigma > 0 || k->info.rms == 0)) break;
    }
}

/* Numbers of the result from the solution. */
static void finish(tsr_calibration *k, const tsr_sighting *s, const tsr_pinhole *camera, const tsr_refine *p, const tsr_refine_report *r,
                   double sigma)
{
    const int64_t count = k->info.sightings;
    double sum = 0;
    int64_t *of_camera = (int64_t *)calloc((size_t)k->info.cameras, sizeof *of_camera),
            *of_pose = (int64_t *)calloc((size_t)k->info.poses, sizeof *of_pose);
    for (int64_t i = 0; i < count && of_camera && of_pose; i++) {
        const double e = k->residual[i][0] * k->residual[i][0] + k->residual[i][1] * k->residual[i][1];
        sum += e;
        k->camera_rms[s[i].camera] += e;
        k->pose_rms[s[i].pose] += e;
        of_camera[s[i].camera]++;
        of_pose[s[i].pose]++;
    }
    for (int32_t c = 0; c < k->info.cameras && of_camera; c++) k->camera_rms[c] = of_camera[c] ? sqrt(k->camera_rms[c] / (double)of_camera[c]) : 0;
    for (int32_t j = 0; j < k->info.poses && of_pose; j++) k->pose_rms[j] = of_pose[j] ? sqrt(k->pose_rms[j] / (double)of_pose[j]) : 0;
    free(of_pose);
    free(of_camera);
    k->info.rms = sqrt(sum / (double)count);
    k->info.sigma = sigma > 0 ? sigma : r->degrees > 0.5 ? sqrt(r->weighted / r->degrees) : 0;
    k->info.condition = r->condition;
    k->info.iterations = p->iterations;
    k->info.converged = p->converged;
    const double s2 = k->info.sigma * k->info.sigma;
    for (size_t i = 0; i < (size_t)k->shared * (size_t)k->shared; i++) k->covariance[i] *= s2;
    for (size_t i = 0; i < 36 * (size_t)k->info.poses; i++) k->pose_covariance[i] *= s2;
    for (int32_t c = 0; c < k->info.cameras; c++) {
        tsr_pinhole *to = &k->camera[c];
        *to = (tsr_pinhole){ .width = camera[c].width, .height = camera[c].height };
        tsr_view_model_put(&k->model[c], to);
        const tsr_pose pose = k->info.poses == 1 ? tsr_pose_compose(&k->extrinsic[c], &k->pose[0]) : k->extrinsic[c];
        memcpy(to->rotation, pose.rotation, sizeof pose.rotation);
        memcpy(to->translation, pose.translation, sizeof pose.translation);
    }
    spread(k);
    judge(k, p, r);
}

tsr_status tsr_calibrate(const tsr_sighting *sightings, int64_t count, const tsr_pinhole *camera, int32_t cameras,
                         const tsr_calibrate_options *options, tsr_calibration **calibration)
{
    TSR_RETURNS(calibration);
    TSR_NEEDS(sightings, camera);
    tsr_calibrate_options o;
    int32_t poses = 0;
    tsr_status status = TSR_OK;
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    TSR_TRY(check(sightings, count, camera, cameras, &o, &poses));
    if (!o.free)
        o.free = TSR_FREE_FOCAL | TSR_FREE_ASPECT | TSR_FREE_CENTRE | TSR_FREE_K1 | TSR_FREE_K2 | TSR_FREE_K3 |
                 (camera->fisheye ? TSR_FREE_K4 : TSR_FREE_TANGENTIAL);
    if (o.free >= 2 * TSR_FREE_POSE_ONLY) TSR_FAIL(TSR_ERROR_ARGUMENT, "free: 0x%x, expected a sum of the flags", (unsigned)o.free);
    if ((o.free & TSR_FREE_ASPECT) && !(o.free & TSR_FREE_FOCAL))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "free: the aspect without the focal length, expected both");
    for (int32_t c = 0; c < cameras; c++)
        if ((o.free & TSR_FREE_POSE_ONLY) && !(camera[c].fx > 0))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "camera %d: only its pose is free, expected its focal length", c);
    tsr_calibration *k = NULL;
    TSR_TRY(allocate((void **)&k, 1, sizeof *k));
    k->info = (tsr_calibration_info){ .struct_size = sizeof k->info, .cameras = cameras, .poses = poses, .sightings = count };
    k->intrinsics = tsr_refine_free(o.free, camera->fisheye, k->index);
    k->shared = base_of(k, cameras - 1) + k->intrinsics + (cameras > 1 ? 6 : 0);
    k->info.unknowns = k->shared + 6 * poses;
    if (2 * count < k->info.unknowns)
        TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, fail,
                      "%lld points seen give %lld equations for %d unknowns: expected at least %d points, or less that is unknown", (long long)count,
                      (long long)(2 * count), k->info.unknowns, (k->info.unknowns + 1) / 2);
    TSR_TRY_GOTO(check_poses(sightings, count, poses), fail);
    TSR_TRY_GOTO(create(k, count), fail);
    tsr_refine p = { .sighting = sightings,
                     .count = count,
                     .cameras = cameras,
                     .poses = poses,
                     .model = k->model,
                     .extrinsic = k->extrinsic,
                     .pose = k->pose,
                     .free = o.free,
                     .huber = o.huber,
                     .iterations_most = o.iterations ? o.iterations : 200,
                     .progress = &o.progress };
    TSR_TRY_GOTO(tsr_start_values(&p, camera, o.use_pose), fail);
    TSR_TRY_GOTO(tsr_refine_run(&p), fail);
    tsr_refine_report r = { .residual = k->residual, .shared = k->covariance, .poses = k->pose_covariance, .weakest = k->weakest };
    TSR_TRY_GOTO(tsr_refine_judge(&p, &r), fail);
    finish(k, sightings, camera, &p, &r, o.sigma);
    *calibration = k;
    return TSR_OK;
fail:
    tsr_calibration_destroy(&k);
    return status;
}

void tsr_calibration_destroy(tsr_calibration **calibration)
{
    if (!calibration || !*calibration) return;
    tsr_calibration *k = *calibration;
    void *own[] = { k->model,      k->extrinsic,       k->pose,    k->camera,     k->sigma,   k->residual,
                    k->covariance, k->pose_covariance, k->weakest, k->camera_rms, k->pose_rms };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) free(own[i]);
    free(k);
    *calibration = NULL;
}

tsr_status tsr_calibration_get_info(const tsr_calibration *k, tsr_calibration_info *info)
{
    if (!k || !info) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", k ? "info" : "calibration");
    return TSR_STRUCT_GIVE(info, &k->info);
}

tsr_status tsr_calibration_camera(const tsr_calibration *k, int32_t index, tsr_pinhole *camera, tsr_calibration_sigma *sigma, double *rms)
{
    if (!k || !camera) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", k ? "camera" : "calibration");
    if (index < 0 || index >= k->info.cameras) TSR_FAIL(TSR_ERROR_ARGUMENT, "camera %d, expected 0 to %d", index, k->info.cameras - 1);
    *camera = k->camera[index];
    if (sigma) *sigma = k->sigma[index];
    if (rms) *rms = k->camera_rms[index];
    return TSR_OK;
}

tsr_status tsr_calibration_pose(const tsr_calibration *k, int32_t index, tsr_pose *pose, double covariance[36], double *rms)
{
    if (!k || !pose) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", k ? "pose" : "calibration");
    if (index < 0 || index >= k->info.poses) TSR_FAIL(TSR_ERROR_ARGUMENT, "pose %d, expected 0 to %d", index, k->info.poses - 1);
    *pose = k->pose[index];
    if (covariance) memcpy(covariance, k->pose_covariance + 36 * (size_t)index, 36 * sizeof *covariance);
    if (rms) *rms = k->pose_rms[index];
    return TSR_OK;
}

tsr_status tsr_calibration_covariance(const tsr_calibration *k, const double **covariance, int32_t *count)
{
    if (!k || !covariance || !count) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !k ? "calibration" : !covariance ? "covariance" : "count");
    *covariance = k->covariance;
    *count = k->shared;
    return TSR_OK;
}

const double (*tsr_calibration_residuals(const tsr_calibration *k))[2] { return k ? (const double(*)[2])k->residual : NULL; }
const char *tsr_calibration_warning(const tsr_calibration *k, int32_t index)
{
    return k && index >= 0 && index < k->info.warnings ? k->warning[index] : NULL;
}
