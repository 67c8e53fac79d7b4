/* vision/textures/footage.c: generated footage: options, rays, pictures. */
#include "vision/textures/footage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "camera/camera.h"
#include "core/parallel.h"
#include "volume/deterministic.h"

static const char *const names[TSR_FOOTAGE_SCENES] = { "dancer", "sphere", "cube" };

tsr_status tsr_footage_parse(const char *name, tsr_footage_scene *scene)
{
    for (int i = 0; name && scene && i < TSR_FOOTAGE_SCENES; i++)
        if (!strcmp(name, names[i])) {
            *scene = (tsr_footage_scene)i;
            return TSR_OK;
        }
    TSR_FAIL(TSR_ERROR_ARGUMENT, "footage '%.100s', expected dancer, sphere or cube", name ? name : "");
}

static tsr_status whole(const char *name, int32_t *value, int32_t standard, int32_t least, int32_t most)
{
    if (*value == 0) *value = standard;
    if (*value < least || *value > most) TSR_FAIL(TSR_ERROR_ARGUMENT, "footage: %s is %d, expected %d to %d", name, *value, least, most);
    return TSR_OK;
}
static tsr_status real(const char *name, double *value, double standard, double least, double most)
{
    if (*value == 0) *value = standard;
    if (!(*value >= least && *value <= most)) TSR_FAIL(TSR_ERROR_ARGUMENT, "footage: %s is %g, expected %g to %g", name, *value, least, most);
    return TSR_OK;
}
static tsr_status check(tsr_footage_options *o)
{
    if ((unsigned)o->scene >= TSR_FOOTAGE_SCENES) TSR_FAIL(TSR_ERROR_ARGUMENT, "footage: scene %d, expected 0 to 2", (int)o->scene);
    TSR_TRY(whole("steps", &o->steps, 40, 1, 100000));
    TSR_TRY(whole("cameras", &o->cameras, 8, 1, TSR_MULTIVIEW_CAMERAS_MOST));
    TSR_TRY(whole("width", &o->width, 320, 1, 4096));
    TSR_TRY(whole("height", &o->height, 240, 1, 4096));
    TSR_TRY(whole("atlas", &o->atlas, 512, 64, TSR_MULTIVIEW_ATLAS_MOST));
    TSR_TRY(whole("detail", &o->detail, 32, 8, 256));
    if (o->detail % 4) TSR_FAIL(TSR_ERROR_ARGUMENT, "footage: detail is %d, expected a multiple of 4", o->detail);
    TSR_TRY(whole("supersampling", &o->supersampling, 3, 1, 8));
    TSR_TRY(whole("threads", &o->threads, tsr_parallel_default_threads(), 1, 4096));
    TSR_TRY(real("distance", &o->distance, 3.6, 1.2, 1e6));
    TSR_TRY(real("fov", &o->fov, 36, 0.1, 170));
    TSR_TRY(real("phong", &o->phong, 0, 0, 1));
    TSR_TRY(real("noise", &o->noise, 0, 0, 1000));
    TSR_TRY(real("k1", &o->k1, 0, -0.4, 0.4));
    TSR_TRY(real("jitter", &o->jitter, 0, 0, 1));
    return TSR_OK;
}

tsr_status tsr_footage_create(const tsr_footage_options *options, tsr_footage **footage)
{
    TSR_RETURNS(footage);
    tsr_status status;
    tsr_footage_options o;
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    TSR_TRY(check(&o));
    tsr_footage *f = (tsr_footage *)calloc(1, sizeof *f);
    if (!f) TSR_FAIL(TSR_ERROR_MEMORY, "footage: out of host memory");
    *footage = f;
    f->o = o;
    tsr_footage_shapes(f);
    f->pose = (tsr_footage_pose *)calloc((size_t)o.steps * (size_t)f->parts, sizeof *f->pose);
    if (!f->pose) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, fail, "footage: out of host memory");
    for (int32_t t = 0; t < o.steps; t++) tsr_footage_pose_step(f, t, f->pose + (int64_t)t * f->parts);
    TSR_TRY_GOTO(tsr_footage_make_model(f), fail);
    return TSR_OK;
fail:
    tsr_footage_destroy(footage);
    return status;
}

void tsr_footage_destroy(tsr_footage **footage)
{
    if (!footage || !*footage) return;
    tsr_multiview_model_destroy(&(*footage)->model);
    free((*footage)->pose);
    free(*footage);
    *footage = NULL;
}

const tsr_multiview_model *tsr_footage_model(const tsr_footage *f) { return f ? f->model : NULL; }

int32_t tsr_footage_part(const tsr_footage *f, int64_t triangle)
{
    return f && triangle >= 0 && triangle < f->parts * f->part_triangles ? (int32_t)(triangle / f->part_triangles) : -1;
}

/* ---- rays ---------------------------------------------------------------------------------------------------------------------------- */

/* The first place of a ray on an ellipsoid, or 0. */
static double meet_ball(const double axes[3], const double o[3], const double d[3], double own[3], double normal[3])
{
    double a = 0, b = 0, c = -1;
    for (int k = 0; k < 3; k++) {
        const double u = o[k] / axes[k], v = d[k] / axes[k];
        a += v * v;
        b += u * v;
        c += u * u;
    }
    const double under = b * b - a * c;
    if (!(under >= 0)) return 0;
    const double t = (-b - sqrt(under)) / a;
    if (!(t > 0)) return 0;
    for (int k = 0; k < 3; k++) {
        own[k] = o[k] + t * d[k];
        normal[k] = own[k] / (axes[k] * axes[k]);
    }
    return t;
}
/* Likewise on a box; *face as the parts of a cube are counted. */
static double meet_box(const double axes[3], const double o[3], const double d[3], double own[3], double normal[3], int32_t *face)
{
    static const int32_t number[3][2] = { { 3, 2 }, { 0, 1 }, { 5, 4 } };
    double near_ = 0, far_ = HUGE_VAL;
    int axis = -1;
    for (int k = 0; k < 3; k++) {
        if (d[k] == 0) {
            if (fabs(o[k]) > axes[k]) return 0;
            continue;
        }
        const double s = d[k] > 0 ? -1 : 1, in = (s * axes[k] - o[k]) / d[k], out = (-s * axes[k] - o[k]) / d[k];
        if (in > near_) {
            near_ = in;
            axis = k;
        }
        far_ = fmin(far_, out);
    }
    if (axis < 0 || near_ > far_) return 0;
    for (int k = 0; k < 3; k++) {
        own[k] = o[k] + near_ * d[k];
        normal[k] = k == axis ? (d[k] > 0 ? -1 : 1) : 0;
    }
    *face = number[axis][d[axis] < 0];
    return near_;
}

int32_t tsr_footage_cast(const tsr_footage *f, const tsr_footage_pose *pose, const int32_t *some, int32_t count, const double origin[3],
                         const double direction[3], double *d, double normal[3], double own[3])
{
    int32_t best = -1;
    double nearest = HUGE_VAL;
    for (int32_t i = 0; i < (f->box ? 1 : count); i++) {
        const int32_t part = f->box ? 0 : some ? some[i] : i;
        double o[3], v[3], at[3], n[3];
        int32_t face = part;
        tsr_footage_into(&pose[part], origin, 1, o);
        tsr_footage_into(&pose[part], direction, 0, v);
        const double t = f->box ? meet_box(f->axes[0], o, v, at, n, &face) : meet_ball(f->axes[part], o, v, at, n);
        if (!(t > 0) || t >= nearest) continue;
        nearest = t;
        best = face;
        if (own) memcpy(own, at, sizeof at);
        if (normal) tsr_footage_out(&pose[part], n, 0, normal);
    }
    *d = best < 0 ? 0 : nearest;
    return best;
}

static const tsr_footage_pose *pose_of(const tsr_footage *f, int32_t step) { return f->pose + (int64_t)step * f->parts; }

int32_t tsr_footage_ray(const tsr_footage *f, int32_t step, const double origin[3], const double direction[3], double *d)
{
    double unused;
    if (!f || step < 0 || step >= f->o.steps) return -1;
    return tsr_footage_cast(f, pose_of(f, step), NULL, f->parts, origin, direction, d ? d : &unused, NULL, NULL);
}

static void unit(double v[3])
{
    const double length = sqrt(tsr_footage_dot(v, v));
    for (int k = 0; k < 3; k++) v[k] = length > 0 ? v[k] / length : 0;
}

void tsr_footage_shade(const tsr_footage *f, const double normal[3], const double *to_eye, double rgb[3])
{
    double light[3] = { 0.4, -0.5, 0.77 }, n[3] = { normal[0], normal[1], normal[2] };
    unit(light);
    unit(n);
    const double lambert = tsr_footage_dot(n, light), level = 0.45 + 0.15 * n[2] + 0.5 * (lambert > 0 ? lambert : 0);
    for (int k = 0; k < 3 && !f->o.unlit; k++) rgb[k] *= level;
    if (to_eye && f->o.phong > 0) {
        double half[3], eye[3] = { to_eye[0], to_eye[1], to_eye[2] };
        unit(eye);
        for (int k = 0; k < 3; k++) half[k] = eye[k] + light[k];
        unit(half);
        double shine = tsr_footage_dot(half, n);
        shine = shine > 0 ? shine * shine * shine : 0;
        shine *= shine;
        shine *= shine;
        shine *= shine; /* to the 24th */
        for (int k = 0; k < 3; k++) rgb[k] += 255 * f->o.phong * shine;
    }
    for (int k = 0; k < 3; k++) rgb[k] = rgb[k] > 255 ? 255 : rgb[k];
}

tsr_status tsr_footage_color(const tsr_footage *f, int32_t step, int32_t part, const double world[3], double rgb[3])
{
    if (!f || step < 0 || step >= f->o.steps || part < 0 || part >= f->parts)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "footage: step %d, part %d, expected 0 to %d and 0 to %d", step, part, f ? f->o.steps - 1 : -1,
                 f ? f->parts - 1 : -1);
    const tsr_footage_pose *p = pose_of(f, step) + (f->box ? 0 : part);
    double own[3], n[3], normal[3], scale = 0;
    tsr_footage_into(p, world, 1, own);
    for (int k = 0; k < 3; k++) scale += own[k] * own[k] / (f->axes[part][k] * f->axes[part][k]);
    scale = scale > 0 ? 1 / sqrt(scale) : 0;
    for (int k = 0; k < 3; k++) {
        if (!f->box) own[k] *= scale; /* onto the surface */
        n[k] = own[k] / (f->axes[part][k] * f->axes[part][k]);
    }
    if (f->box) {
        static const double out[6][3] = { { 0, -1, 0 }, { 0, 1, 0 }, { 1, 0, 0 }, { -1, 0, 0 }, { 0, 0, 1 }, { 0, 0, -1 } };
        memcpy(n, out[part], sizeof n);
    }
    tsr_footage_out(p, n, 0, normal);
    tsr_footage_skin(f, part, own, rgb);
    tsr_footage_shade(f, normal, NULL, rgb);
    return TSR_OK;
}

/* ---- pictures ------------------------------------------------------------------------------------------------------------------------ */

typedef struct shot {
    const tsr_footage *f;
    const tsr_footage_pose *pose;
    tsr_camera_rays rays;
    tsr_lens lens;
    int distorts;
    int32_t width, height, samples;
    double box[TSR_FOOTAGE_PARTS_MOST][4]; /* where a part may be seen: left, top, right, bottom */
    uint64_t seed;
    uint8_t *pixels;
} shot;

/* The ball round a part, seen: generous, also for a lens. */
static void find_boxes(shot *s, const tsr_camera *camera)
{
    for (int32_t i = 0; i < s->f->parts; i++) {
        const double *at = s->pose[s->f->box ? 0 : i].at, *axes = s->f->axes[i];
        double *box = s->box[i], pixel[2], depth;
        const double radius = 1.05 * sqrt(tsr_footage_dot(axes, axes));
        tsr_camera ideal = *camera;
        memset(&ideal.lens, 0, sizeof ideal.lens);
        const tsr_vec3 world = { at[0], at[1], at[2] };
        box[0] = box[1] = -HUGE_VAL;
        box[2] = box[3] = HUGE_VAL;
        if (tsr_camera_project(&ideal, s->width, s->height, world, pixel, &depth) != TSR_OK || !(depth > 1.5 * radius)) continue;
        const double across = radius / (depth - radius) / fmin(s->rays.step[0], -s->rays.step[1] > 0 ? -s->rays.step[1] : s->rays.step[1]);
        for (int k = 0; k < 4; k++) box[k] = pixel[k % 2] + (k < 2 ? -1.2 : 1.2) * across;
    }
}

static void background(double x, double y, double rgb[3])
{
    const double level = 0.55 + 0.45 * y + 0.05 * x;
    rgb[0] = 54 * level;
    rgb[1] = 60 * level;
    rgb[2] = 70 * level;
}

/* One ray's colour, at a place of the image that a pinhole would have. */
static void look(const shot *s, const int32_t *some, int32_t count, double x, double y, double rgb[3])
{
    double origin[3], direction[3], normal[3], own[3], d;
    tsr_camera_rays_place(&s->rays, x, y, origin, direction);
    const int32_t part = tsr_footage_cast(s->f, s->pose, some, count, origin, direction, &d, normal, own);
    if (part < 0) {
        background(x / s->width, y / s->height, rgb);
        return;
    }
    const double to_eye[3] = { -direction[0], -direction[1], -direction[2] };
    tsr_footage_skin(s->f, part, own, rgb);
    tsr_footage_shade(s->f, normal, to_eye, rgb);
}

static void draw_pixel(const shot *s, int32_t x, int32_t y)
{
    double sum[3] = { 0, 0, 0 };
    for (int32_t n = 0; n < s->samples * s->samples; n++) {
        double at[2] = { x + (n % s->samples + 0.5) / s->samples, y + (n / s->samples + 0.5) / s->samples }, rgb[3] = { 0, 0, 0 };
        int32_t some[TSR_FOOTAGE_PARTS_MOST], count = 0;
        if (!s->distorts || tsr_lens_undistort(&s->lens, s->width, s->height, at, at) == TSR_OK) {
            for (int32_t i = 0; i < s->f->parts; i++)
                if (at[0] >= s->box[i][0] && at[1] >= s->box[i][1] && at[0] <= s->box[i][2] && at[1] <= s->box[i][3]) some[count++] = i;
            look(s, some, count, at[0], at[1], rgb);
        }
        for (int k = 0; k < 3; k++) sum[k] += rgb[k];
    }
    const int64_t i = (int64_t)y * s->width + x;
    for (int k = 0; k < 3; k++) {
        double v = sum[k] / (s->samples * s->samples), noise[2] = { 0, 0 };
        if (s->f->o.noise > 0) tsr_det_normal_pair(s->seed, (uint64_t)(3 * i + k), &noise[0], &noise[1]);
        v += s->f->o.noise * noise[0] + 0.5;
        s->pixels[3 * i + k] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
    }
}
static void draw_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const shot *s = (const shot *)user;
    (void)worker;
    for (int64_t y = begin; y < end; y++)
        for (int32_t x = 0; x < s->width; x++) draw_pixel(s, x, (int32_t)y);
}

tsr_status tsr_footage_picture(const tsr_footage *f, int32_t step, int32_t camera, tsr_image *image)
{
    TSR_NEEDS(image);
    memset(image, 0, sizeof *image);
    if (!f || step < 0 || step >= f->o.steps || camera < 0 || camera >= f->o.cameras)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "footage: step %d, camera %d, expected 0 to %d and 0 to %d", step, camera, f ? f->o.steps - 1 : -1,
                 f ? f->o.cameras - 1 : -1);
    const tsr_multiview_parts p = tsr_multiview_model_parts(f->model);
    tsr_camera ideal = p.camera[camera];
    shot s = { .f = f,
               .pose = pose_of(f, step),
               .lens = tsr_camera_lens(&p.camera[camera], f->o.width, f->o.height),
               .distorts = tsr_lens_distorts(&p.camera[camera].lens),
               .width = f->o.width,
               .height = f->o.height,
               .samples = f->o.supersampling,
               .seed = f->o.seed * 1000003 + (uint64_t)step * 1009 + (uint64_t)camera };
    memset(&ideal.lens, 0, sizeof ideal.lens);
    TSR_TRY(tsr_camera_rays_make("footage", &ideal, s.width, s.height, &s.rays));
    find_boxes(&s, &ideal);
    TSR_TRY(tsr_image_create(s.width, s.height, 3, image));
    s.pixels = image->pixels;
    tsr_parallel(f->o.threads, s.height, 4, draw_rows, &s);
    return TSR_OK;
}
