/* vision/rig/rig_bundler.c: bundle.out of Bundler (v0.3): focal length and two coefficients, R and t a camera, axes x right, y up, z backward; pixels count
 * from the middle of the image, y upwards. Sizes and names of images are not in the file. */
#include <math.h>
#include <string.h>

#include "vision/rig/rig.h"

static int recognise(const uint8_t *head, size_t size, const char *path)
{
    (void)path;
    return size > 13 && !memcmp(head, "# Bundle file", 13) ? 2 : 0;
}

static tsr_status numbers(const char *file, tsr_text *text, const char *what, double *value, int count)
{
    for (int i = 0; i < count; i++)
        if (tsr_text_double(text, &value[i]) != TSR_TEXT_OK || !isfinite(value[i]))
            TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: expected %d numbers for %s", file, (long long)text->line, count, what);
    return TSR_OK;
}
static tsr_status counted(const char *file, tsr_text *text, const char *what, int64_t least, int64_t *count)
{
    if (tsr_text_integer(text, count) != TSR_TEXT_OK || *count < 0) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: expected how many %s", file, (long long)text->line, what);
    if (*count > (text->end - text->at) / least + 1)
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: %lld %s in %lld bytes", file, (long long)*count, what, (long long)(text->end - text->at));
    return TSR_OK;
}

static tsr_status take_camera(const char *file, tsr_text *text, const tsr_rig_read_options *o, int64_t index, tsr_rig *rig)
{
    double v[15];
    char name[32];
    TSR_TRY(numbers(file, text, "a camera", v, 15));
    tsr_print(name, sizeof name, "camera%05lld", (long long)index);
    tsr_rig_camera c = { .name = name, .width = o->width, .height = o->height, .frame = TSR_RIG_STATIC };
    tsr_camera *m = &c.camera;
    if (!(v[0] > 0)) { /* an image that was not placed: kept, so that numbers of cameras stay right */
        m->fov = 1;
        m->rotation[0][0] = m->rotation[1][1] = m->rotation[2][2] = 1;
        tsr_remark("%.200s: cameras without a focal length (images that were not placed) have a view of 1 degree", file);
        return tsr_rig_add(rig, &c);
    }
    memcpy(m->rotation, v + 3, sizeof m->rotation);
    TSR_TRY(tsr_rig_rotation(file, name, m->rotation));
    double p[3] = { 0, 0, 0 };
    for (int k = 0; k < 3; k++)
        for (int r = 0; r < 3; r++) p[k] -= m->rotation[r][k] * v[12 + r];
    m->position = (tsr_vec3){ p[0], p[1], p[2] };
    m->fov = atan(0.5 * o->height / v[0]) * (360 / 3.14159265358979323846);
    m->aspect = (double)o->width / o->height;
    const double f = v[0] / (0.5 * o->width);
    if (v[1] != 0 || v[2] != 0) m->lens = (tsr_lens){ .model = TSR_LENS_POLY, .k1 = v[1] / (f * f), .k2 = v[2] / (f * f * f * f) };
    if (tsr_camera_check(m) != TSR_OK) {
        char why[300];
        tsr_print(why, sizeof why, "%s", tsr_error_message());
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: %s: %s", file, name, why);
    }
    TSR_TRY(tsr_rig_add(rig, &c));
    return TSR_OK;
}

static tsr_status take_point(const char *file, tsr_text *text, const tsr_rig_read_options *o, int64_t index, tsr_rig *rig)
{
    double v[6];
    int64_t views;
    TSR_TRY(numbers(file, text, "a point", v, 6));
    const tsr_rig_point p = { { v[0], v[1], v[2] }, { (uint8_t)fmin(255, fmax(0, v[3])), (uint8_t)fmin(255, fmax(0, v[4])), (uint8_t)fmin(255, fmax(0, v[5])) }, 0 };
    TSR_TRY(tsr_rig_add_points(rig, &p, 1));
    TSR_TRY(counted(file, text, "views of a point", 8, &views));
    for (int64_t i = 0; i < views; i++) {
        double s[4];
        TSR_TRY(numbers(file, text, "a view of a point", s, 4));
        if (!(s[0] >= 0 && s[0] < (double)rig->count)) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: camera %g of %lld", file, (long long)text->line, s[0], (long long)rig->count);
        const tsr_rig_sight sight = { (int32_t)s[0], (int32_t)index, { (float)(0.5 * o->width + s[2]), (float)(0.5 * o->height - s[3]) } };
        TSR_TRY(tsr_rig_add_sights(rig, &sight, 1));
    }
    return TSR_OK;
}

static tsr_status read(const uint8_t *bytes, size_t size, const char *file, const tsr_rig_read_options *options, tsr_rig *rig)
{
    tsr_text text = tsr_text_make(bytes, size), line;
    int64_t cameras, points;
    tsr_text_line(&text, &line);
    if (!options->width) TSR_FAIL(TSR_ERROR_ARGUMENT, "%.200s: a Bundler file does not say how large its images are: give their size", file);
    TSR_TRY(counted(file, &text, "cameras", 30, &cameras));
    TSR_TRY(counted(file, &text, "points", 12, &points));
    for (int64_t i = 0; i < cameras; i++) TSR_TRY(take_camera(file, &text, options, i, rig));
    for (int64_t i = 0; i < points; i++) {
        if (i % 4096 == 0) TSR_PROGRESS(&options->progress, (double)i / (double)points, "points");
        TSR_TRY(take_point(file, &text, options, i, rig));
    }
    return TSR_OK;
}

static tsr_status check(const tsr_rig *rig)
{
    tsr_pinhole p;
    for (int64_t i = 0; i < rig->count; i++) {
        const tsr_rig_camera *c = &rig->entry[i].camera;
        TSR_TRY(tsr_rig_pinhole("a Bundler file", c, &p));
        if (fabs(p.fx - p.fy) > 1e-6 * p.fx || fabs(p.cx - 0.5 * p.width) > 1e-6 * p.width || fabs(p.cy - 0.5 * p.height) > 1e-6 * p.width || p.fisheye || p.k[2] != 0 || p.k[3] != 0 ||
            p.k[4] != 0 || p.k[5] != 0 || p.p[0] != 0 || p.p[1] != 0)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "camera '%.100s': square pixels, the axis in the middle and a lens of k1 and k2 alone are what a Bundler file can hold", c->name);
    }
    return TSR_OK;
}
static tsr_status write(const tsr_rig *rig, tsr_output *o, const char *path)
{
    char t[32];
    (void)path;
    tsr_output_printf(o, "# Bundle file v0.3\n%lld 0\n", (long long)rig->count);
    for (int64_t i = 0; i < rig->count; i++) {
        tsr_pinhole p;
        const tsr_camera *m = &rig->entry[i].camera.camera;
        TSR_TRY(tsr_rig_pinhole("a Bundler file", &rig->entry[i].camera, &p));
        tsr_output_printf(o, "%s", tsr_rig_number(p.fx, t));
        for (int k = 0; k < 2; k++) tsr_output_printf(o, " %s", tsr_rig_number(p.k[k], t));
        for (int k = 0; k < 9; k++) tsr_output_printf(o, "%s%s", k % 3 ? " " : "\n", tsr_rig_number(m->rotation[k / 3][k % 3], t));
        for (int r = 0; r < 3; r++) {
            const double v = -(m->rotation[r][0] * m->position.x + m->rotation[r][1] * m->position.y + m->rotation[r][2] * m->position.z);
            tsr_output_printf(o, "%s%s", r ? " " : "\n", tsr_rig_number(v, t));
        }
        tsr_output_printf(o, "\n");
    }
    return tsr_output_write(o, "", 0);
}

const tsr_rig_format tsr_rig_format_bundler = { .name = "bundler", .extension = ".out", .recognise = recognise, .read = read, .write = write, .check = check };
