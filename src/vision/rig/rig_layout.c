/* vision/rig/rig_layout.c: rigs by rule. */
#include <math.h>

#include "camera/camera.h"
#include "core/number.h"
#include "vision/rig/rig.h"

#define RADIANS (3.14159265358979323846 / 180)

static tsr_status fill(tsr_rig_layout layout, const tsr_rig_layout_options *options, tsr_rig_layout_options *o)
{
    TSR_TRY(TSR_OPTIONS_TAKE(o, options));
    if ((unsigned)layout > TSR_RIG_ARC) TSR_FAIL(TSR_ERROR_ARGUMENT, "rig: layout %d, expected 0 to %d", (int)layout, (int)TSR_RIG_ARC);
    if (o->count < 0 || o->count > 1 << 20 || o->columns < 0 || o->columns > 1 << 20)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "rig: %d cameras in %d columns, expected 1 to 1048576", o->count, o->columns);
    if (layout == TSR_RIG_GRID && !o->columns) o->columns = o->count ? (int32_t)ceil(sqrt(o->count)) : 3;
    if (!o->count) o->count = layout == TSR_RIG_GRID ? 3 * o->columns : layout == TSR_RIG_SWEEP ? 32 : layout == TSR_RIG_PAIR ? 2 : 8;
    if (layout == TSR_RIG_PAIR && o->count != 2) TSR_FAIL(TSR_ERROR_ARGUMENT, "rig: a pair of %d cameras, expected 2", o->count);
    if (o->distance == 0) o->distance = 4;
    if (!(o->distance > 0) || !isfinite(o->distance) || !isfinite(o->height) || !tsr_vec3_finite(o->target))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "rig: distance %g and height %g, expected finite numbers and a distance above 0", o->distance, o->height);
    if (o->degrees == 0) o->degrees = 90;
    if (!(fabs(o->degrees) <= 360)) TSR_FAIL(TSR_ERROR_ARGUMENT, "rig: an arc of %g degrees, expected -360 to 360", o->degrees);
    if (o->baseline == 0) o->baseline = 0.1 * o->distance;
    if (!isfinite(o->baseline) || o->baseline < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "rig: a baseline of %g, expected a number above 0", o->baseline);
    if (o->fov == 0) o->fov = 40;
    if (!(o->fov > 0 && o->fov < 180)) TSR_FAIL(TSR_ERROR_ARGUMENT, "rig: fov %g, expected degrees in (0, 180)", o->fov);
    if (o->clip[0] == 0 && o->clip[1] == 0) {
        o->clip[0] = 0.1 * o->distance;
        o->clip[1] = 4 * o->distance;
    }
    if (!o->width) o->width = 640;
    if (!o->height_pixels) o->height_pixels = o->width * 3 / 4 > 0 ? o->width * 3 / 4 : 1;
    if (o->width < 1 || o->height_pixels < 1 || o->width > 65536 || o->height_pixels > 65536)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "rig: images of %d x %d pixels, expected 1 to 65536", o->width, o->height_pixels);
    return TSR_OK;
}

static tsr_status place(tsr_rig_layout layout, const tsr_rig_layout_options *o, int32_t i, tsr_camera *c)
{
    const tsr_vec3 up = { 0, 0, 1 }, t = o->target;
    const double n = o->count > 1 ? o->count - 1 : 1;
    *c = (tsr_camera){ .fov = o->fov, .aspect = (double)o->width / o->height_pixels, .clip = { o->clip[0], o->clip[1] } };
    if (layout == TSR_RIG_RING || layout == TSR_RIG_ARC) {
        const double a = layout == TSR_RIG_RING ? 360.0 * i / o->count : o->degrees * (o->count > 1 ? i / n - 0.5 : 0);
        const tsr_vec3 eye = { t.x + o->distance * sin(a * RADIANS), t.y - o->distance * cos(a * RADIANS), t.z + o->height };
        TSR_TRY(tsr_camera_look_at(c, eye, t, up));
        return TSR_OK;
    }
    if (layout == TSR_RIG_SWEEP) { /* one in front of the path and one behind it, each sees a slice */
        const int other = i & 1;
        const double x = 1.6 * ((i / 2) / fmax(1, (o->count - 1) / 2) - 0.5) * o->distance * tan(0.5 * o->fov * RADIANS);
        c->projection = TSR_ORTHOGRAPHIC;
        c->height = 2 * o->distance * tan(0.5 * o->fov * RADIANS);
        const tsr_vec3 eye = { t.x + x, t.y + (other ? o->distance : -o->distance), t.z + o->height };
        TSR_TRY(tsr_camera_look_at(c, eye, (tsr_vec3){ t.x + x, t.y, t.z + o->height }, up));
        return TSR_OK;
    }
    double sx = (i - 0.5) * o->baseline, sz = 0;
    if (layout == TSR_RIG_GRID) {
        const int32_t rows = (o->count + o->columns - 1) / o->columns;
        sx = (i % o->columns - 0.5 * (o->columns - 1)) * o->baseline;
        sz = (0.5 * (rows - 1) - i / o->columns) * o->baseline;
    }
    const tsr_vec3 eye = { t.x + sx, t.y - o->distance, t.z + sz + o->height };
    TSR_TRY(tsr_camera_look_at(c, eye, tsr_vec3_add(eye, (tsr_vec3){ 0, 1, 0 }), up));
    if (layout == TSR_RIG_GRID) { /* all look through the window at the target */
        const double h = tan(0.5 * o->fov * RADIANS), w = h * c->aspect, at = o->clip[0] / o->distance;
        const double x = sx / o->distance, z = sz / o->distance, near_ = at * o->distance;
        TSR_TRY(tsr_camera_set_frustum(c, (-w - x) * near_, (w - x) * near_, (-h - z) * near_, (h - z) * near_, o->clip[0], o->clip[1]));
    }
    return TSR_OK;
}

tsr_status tsr_rig_make(tsr_rig_layout layout, const tsr_rig_layout_options *options, tsr_rig **rig)
{
    TSR_RETURNS(rig);
    tsr_rig_layout_options o;
    tsr_status status = TSR_OK;
    TSR_TRY(fill(layout, options, &o));
    TSR_TRY(tsr_rig_create(rig));
    int digits = 2;
    for (int32_t n = o.count - 1; n >= 100; n /= 10) digits++;
    for (int32_t i = 0; i < o.count && status == TSR_OK; i++) {
        char name[32];
        tsr_print(name, sizeof name, "camera%0*d", digits, (int)i);
        tsr_rig_camera c = { .name = name, .width = o.width, .height = o.height_pixels, .frame = TSR_RIG_STATIC };
        if (layout == TSR_RIG_SWEEP) c.width = o.width / 4 > 0 ? o.width / 4 : 1;
        status = place(layout, &o, i, &c.camera);
        if (layout == TSR_RIG_SWEEP) c.camera.aspect = (double)c.width / c.height;
        if (status == TSR_OK) status = tsr_rig_add(*rig, &c);
    }
    if (status != TSR_OK) tsr_rig_destroy(rig);
    return status;
}
