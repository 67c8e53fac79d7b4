/* camera/depth.c: depth images to distances along the axis and back. */
#include "camera/depth.h"

#include <math.h>
#include <string.h>

#include "camera/camera.h"
#include "camera/lens.h"

static const char *const names[] = { "eye", "ndc", "window", "eye_linear", "radial", "inverse", "disparity" };
enum { KINDS = 7 };

const char *tsr_depth_kind_name(tsr_depth_kind kind) { return (unsigned)kind < KINDS ? names[kind] : NULL; }

tsr_status tsr_depth_kind_parse(const char *name, tsr_depth_kind *kind)
{
    for (int i = 0; name && kind && i < KINDS; i++)
        if (!strcmp(name, names[i])) {
            *kind = (tsr_depth_kind)i;
            return TSR_OK;
        }
    TSR_FAIL(TSR_ERROR_ARGUMENT, "depth encoding '%.40s', expected eye, ndc, window, eye_linear, radial, inverse or disparity", name ? name : "");
}

tsr_status tsr_depth_code_make(const char *what, const tsr_camera *c, const tsr_depth_encoding *e, tsr_depth_code *code)
{
    static const tsr_depth_encoding plain = { .kind = TSR_DEPTH_EYE };
    if (!e) e = &plain;
    const int clips = c->projection != TSR_PROJECTION_MATRIX && (c->clip[0] != 0 || c->clip[1] != 0);
    if ((unsigned)e->kind >= KINDS) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: depth encoding %d, expected 0 to %d", what, (int)e->kind, KINDS - 1);
    if (e->bits < 0 || e->bits > 24) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: depths of %d bits, expected 1 to 24 (0: real numbers)", what, e->bits);
    if (!isfinite(e->scale) || e->scale < 0)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the scale of the depths is %g, expected a number above 0", what, e->scale);
    const double most = e->bits ? ldexp(1, e->bits) - 1 : 0;
    tsr_depth_code d = { .kind = (int32_t)e->kind,
                         .orthographic = c->projection == TSR_ORTHOGRAPHIC,
                         .background_is_valid = e->background_is_valid,
                         .most = most,
                         .unit = e->bits ? 1 / most : 1,
                         .scale = e->scale > 0 ? e->scale : 1 };
    if (clips) {
        d.near_ = c->clip[0];
        d.far_ = c->clip[1];
    }
    if ((e->kind == TSR_DEPTH_NDC || e->kind == TSR_DEPTH_WINDOW) && !clips)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: depths of the encoding %s, which says nothing without the camera's clip distances", what, names[e->kind]);
    if (e->kind == TSR_DEPTH_EYE_LINEAR || e->kind == TSR_DEPTH_INVERSE) {
        const int own = e->range[0] != 0 || e->range[1] != 0;
        d.low = own ? e->range[0] : d.near_;
        d.high = own ? e->range[1] : d.far_;
        if (e->kind == TSR_DEPTH_INVERSE && !own && !clips) {
            d.low = 1;
            d.high = HUGE_VAL;
        }
        if (!(d.low < d.high) || !isfinite(d.low) || (e->kind == TSR_DEPTH_EYE_LINEAR && !isfinite(d.high)) ||
            (e->kind == TSR_DEPTH_INVERSE && !(d.low > 0)))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the range of the depths is %g to %g, expected %sa smaller and a larger distance", what, d.low, d.high,
                     e->kind == TSR_DEPTH_INVERSE ? "above 0 " : "");
        if (e->kind == TSR_DEPTH_INVERSE) {
            d.low = 1 / d.low;
            d.high = 1 / d.high;
        }
    }
    if (e->kind == TSR_DEPTH_DISPARITY) {
        d.product = e->focal * e->baseline;
        d.shift = e->shift;
        if (!(d.product > 0) || !isfinite(d.product) || !isfinite(d.shift))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: disparities with a focal length of %g and a baseline of %g, expected numbers above 0", what, e->focal,
                     e->baseline);
    }
    if (clips && !e->background_is_valid) d.edge = d.far_ * (1 - copysign(1e-6, d.far_));
    if (d.edge != 0 && e->bits && (e->kind == TSR_DEPTH_WINDOW || e->kind == TSR_DEPTH_NDC)) { /* the last value is the far plane */
        const double last = tsr_depth_of(&d, most - 0.5, 1);
        if (last < d.edge) d.edge = last;
    }
    *code = d;
    return TSR_OK;
}

/* Length of the rays of a line of pixels per unit along the axis. */
typedef struct lengths {
    tsr_camera_rays rays;
    tsr_lens_map lens;
    int distorts;
} lengths;

static tsr_status lengths_make(const tsr_camera *camera, int32_t width, int32_t height, lengths *l)
{
    tsr_camera ideal = *camera;
    memset(&ideal.lens, 0, sizeof ideal.lens);
    TSR_TRY(tsr_camera_rays_make("depth", &ideal, width, height, &l->rays));
    l->distorts = tsr_lens_distorts(&camera->lens);
    if (l->distorts) {
        const tsr_lens lens = tsr_camera_lens(camera, width, height);
        TSR_TRY(tsr_lens_map_make("depth", &lens, width, height, 1, &l->lens));
    }
    return TSR_OK;
}
static double length_at(const lengths *l, double x, double y)
{
    tsr_vec3 origin, direction;
    if (l->distorts) {
        const double seen[2] = { (x - l->lens.centre[0]) / l->lens.half, (y - l->lens.centre[1]) / l->lens.half_y };
        double added[2];
        if (!tsr_lens_remove(&l->lens.lens, seen, added)) return (double)NAN;
        x += added[0] * l->lens.half;
        y += added[1] * l->lens.half_y;
    }
    tsr_camera_rays_at(&l->rays, x, y, &origin, &direction);
    return tsr_vec3_length(direction);
}

static tsr_status prepare(const tsr_camera *camera, const tsr_depth_encoding *encoding, int32_t width, int32_t height, const float *from,
                          const float *to, tsr_depth_code *code, lengths *l)
{
    TSR_TRY(tsr_camera_check(camera));
    if (!from || !to) TSR_FAIL(TSR_ERROR_ARGUMENT, "depth: %s are NULL", from ? "results" : "values");
    if (width < 1 || height < 1) TSR_FAIL(TSR_ERROR_ARGUMENT, "depth: an image of %d x %d pixels, expected numbers above 0", width, height);
    TSR_TRY(tsr_depth_code_make("depth", camera, encoding, code));
    if (code->kind == TSR_DEPTH_RADIAL) TSR_TRY(lengths_make(camera, width, height, l));
    return TSR_OK;
}

tsr_status tsr_depth_decode(const tsr_camera *camera, const tsr_depth_encoding *encoding, int32_t width, int32_t height, const float *values,
                            float *d, tsr_depth_report *report)
{
    TSR_NEEDS(camera, encoding, d);
    tsr_depth_code code = { 0 };
    lengths l = { .distorts = 0 };
    tsr_depth_report r = { .struct_size = sizeof r };
    TSR_TRY(prepare(camera, encoding, width, height, values, d, &code, &l));
    const int clips = code.near_ != 0 || code.far_ != 0;
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            const int64_t i = (int64_t)y * width + x;
            const double value = (double)values[i], along = code.kind == TSR_DEPTH_RADIAL ? length_at(&l, x + 0.5, y + 0.5) : 1;
            const double z = tsr_depth_of(&code, value, along);
            r.samples++;
            d[i] = 0;
            if (!isfinite(value) || isnan(z)) r.not_numbers++;
            else if (!(z > 0)) r.behind++;
            else if (isinf(z) || (code.edge != 0 && z >= code.edge && z <= code.far_ * (1 + 1e-6))) r.background++;
            else if (clips && (z < code.near_ * (1 - 1e-6) || z > code.far_ * (1 + 1e-6))) r.beyond++;
            else {
                d[i] = (float)z;
                if (!r.valid || z < r.nearest) r.nearest = z;
                if (!r.valid || z > r.farthest) r.farthest = z;
                if (code.most > 0) r.quantum = fmax(r.quantum, fabs(tsr_depth_of(&code, value < code.most ? value + 1 : value - 1, along) - z));
                r.valid++;
            }
        }
    return report ? TSR_STRUCT_GIVE(report, &r) : TSR_OK;
}

tsr_status tsr_depth_encode(const tsr_camera *camera, const tsr_depth_encoding *encoding, int32_t width, int32_t height, const float *d,
                            float *values)
{
    TSR_NEEDS(camera, encoding, values);
    tsr_depth_code code = { 0 };
    lengths l = { .distorts = 0 };
    TSR_TRY(prepare(camera, encoding, width, height, d, values, &code, &l));
    const double none = code.kind == TSR_DEPTH_NDC && !(code.most > 0)                                                     ? 1
                        : code.kind == TSR_DEPTH_NDC || code.kind == TSR_DEPTH_WINDOW || code.kind == TSR_DEPTH_EYE_LINEAR ? 1 / code.unit
                                                                                                                           : 0;
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            const int64_t i = (int64_t)y * width + x;
            const double z = (double)d[i], along = code.kind == TSR_DEPTH_RADIAL ? length_at(&l, x + 0.5, y + 0.5) : 1;
            double v = z > 0 && isfinite(z) ? tsr_depth_value(&code, z, along) : none;
            if (!isfinite(v)) v = none;
            if (code.most > 0) v = floor(fmin(code.most, fmax(0, v)) + 0.5);
            values[i] = (float)v;
        }
    return TSR_OK;
}

tsr_status tsr_depth_undistort(const tsr_camera *camera, int32_t width, int32_t height, const float *d, float *straight)
{
    TSR_NEEDS(camera);
    tsr_lens_map map = { .half = 0 };
    TSR_TRY(tsr_camera_check(camera));
    if (!d || !straight || d == straight) TSR_FAIL(TSR_ERROR_ARGUMENT, "depth: expected two different arrays");
    const tsr_lens lens = tsr_camera_lens(camera, width, height);
    TSR_TRY(tsr_lens_map_make("depth", &lens, width, height, 1, &map));
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            const double u[2] = { (x + 0.5 - map.centre[0]) / map.half, (y + 0.5 - map.centre[1]) / map.half_y };
            double added[2] = { 0, 0 };
            const int shown = tsr_lens_add(&map.lens, u, added);
            const double sx = x + 0.5 + added[0] * map.half, sy = y + 0.5 + added[1] * map.half_y;
            const int inside = shown && sx >= 0 && sy >= 0 && sx < width && sy < height;
            straight[(int64_t)y * width + x] = inside ? d[(int64_t)(int32_t)sy * width + (int32_t)sx] : 0;
        }
    return TSR_OK;
}
