/* vision/rig/rig_middlebury.c: calib.txt of stereo pairs (Middlebury 2014 and later; ETH3D's two-view sets are the same) and the _par.txt of the multi-view
 * sets: image, K, R, t in one line. Pixels count from the centre of the first one. */
#include <math.h>
#include <string.h>

#include "vision/rig/rig.h"

/* ---- calib.txt: key=value lines ---------------------------------------------------------------------------------------------------- */

static int begins(const tsr_text *line, const char *key)
{
    const char *p = line->at;
    while (p < line->end && (*p == ' ' || *p == '\t')) p++;
    const size_t length = strlen(key);
    return (size_t)(line->end - p) > length && !memcmp(p, key, length) && p[length] == '=';
}
/* The numbers behind the =, brackets and semicolons between them; returns how many. */
static int values(const tsr_text *line, double *value, int most)
{
    const char *p = (const char *)memchr(line->at, '=', (size_t)(line->end - line->at));
    int count = 0;
    for (p = p ? p + 1 : line->end; p < line->end && count < most;) {
        if (strchr(" \t[];,\r", *p) && *p) {
            p++;
            continue;
        }
        const char *from = p;
        while (p < line->end && !(strchr(" \t[];,\r", *p) && *p)) p++;
        if (tsr_word_double((tsr_word){ from, (size_t)(p - from) }, &value[count]) != TSR_TEXT_OK) return -1;
        count++;
    }
    return count;
}

static int recognise_calib(const uint8_t *head, size_t size, const char *path)
{
    tsr_text text = tsr_text_make(head, size), line;
    (void)path;
    while (tsr_text_line(&text, &line))
        if (begins(&line, "cam0")) return 2;
    return 0;
}

static tsr_status add_calib(tsr_rig *rig, const char *file, const double *k, double baseline, double doffs, const double size[2], int which)
{
    char image[16], disparity[16];
    tsr_rig_camera c = { .name = which ? "im1" : "im0", .width = (int32_t)size[0], .height = (int32_t)size[1], .frame = TSR_RIG_STATIC };
    const tsr_pinhole p = { .width = c.width, .height = c.height, .fx = k[0], .fy = k[4], .cx = k[2] + 0.5, .cy = k[5] + 0.5,
                            .rotation = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, .translation = { which ? -baseline : 0, 0, 0 } };
    tsr_print(image, sizeof image, "im%d.png", which);
    tsr_print(disparity, sizeof disparity, "disp%d.pfm", which);
    if (tsr_camera_from_pinhole(&p, &c.camera) != TSR_OK) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: cam%d: focal lengths %g, %g, expected numbers above 0", file, which, k[0], k[4]);
    c.image = image;
    if (baseline > 0) {
        c.depth = disparity;
        c.encoding = (tsr_depth_encoding){ .kind = TSR_DEPTH_DISPARITY, .focal = k[0], .baseline = baseline, .shift = doffs };
    }
    TSR_TRY(tsr_rig_add(rig, &c));
    return TSR_OK;
}

static tsr_status read_calib(const uint8_t *bytes, size_t size, const char *file, const tsr_rig_read_options *options, tsr_rig *rig)
{
    tsr_text text = tsr_text_make(bytes, size), line;
    double k[2][9] = { { 0 } }, extent[2] = { options->width, options->height }, baseline = 0, doffs = 0;
    static const char *const names[] = { "width", "height", "baseline", "doffs" };
    double *const to[] = { &extent[0], &extent[1], &baseline, &doffs };
    int have[2] = { 0, 0 };
    while (tsr_text_line(&text, &line)) {
        for (int i = 0; i < 2; i++)
            if (begins(&line, i ? "cam1" : "cam0")) {
                have[i] = values(&line, k[i], 9) == 9;
                if (!have[i]) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: cam%d, expected [f 0 cx; 0 f cy; 0 0 1]", file, (long long)line.line, i);
            }
        for (int i = 0; i < 4; i++)
            if (begins(&line, names[i]) && values(&line, to[i], 1) != 1) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: %s, expected a number", file, (long long)line.line, names[i]);
    }
    if (!have[0]) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: no cam0=[ ... ]", file);
    if (!(extent[0] >= 1 && extent[0] <= 1e6 && extent[1] >= 1 && extent[1] <= 1e6))
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: images of %g x %g pixels, expected width= and height= from 1 to 10^6", file, extent[0], extent[1]);
    if (!isfinite(baseline) || !isfinite(doffs)) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: baseline %g and doffs %g, expected finite numbers", file, baseline, doffs);
    for (int i = 0; i < 1 + have[1]; i++) TSR_TRY(add_calib(rig, file, k[i], baseline, doffs, extent, i));
    return TSR_OK;
}

static tsr_status pair_of(const tsr_rig *rig, tsr_pinhole p[2])
{
    if (rig->count != 2) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "calib.txt holds a pair of cameras, the rig has %lld", (long long)rig->count);
    for (int i = 0; i < 2; i++) {
        TSR_TRY(tsr_rig_pinhole("calib.txt", &rig->entry[i].camera, &p[i]));
        if (tsr_lens_distorts(&rig->entry[i].camera.camera.lens)) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "camera '%.100s': its lens distorts, which calib.txt cannot hold", rig->entry[i].camera.name);
    }
    double worst = 0;
    for (int k = 0; k < 9; k++) worst = fmax(worst, fabs(p[0].rotation[k / 3][k % 3] - p[1].rotation[k / 3][k % 3]));
    const double d[3] = { p[0].translation[0] - p[1].translation[0], p[0].translation[1] - p[1].translation[1], p[0].translation[2] - p[1].translation[2] };
    if (worst > 1e-6 || !(d[0] > 0) || fabs(d[1]) + fabs(d[2]) > 1e-6 * d[0] || p[0].width != p[1].width || p[0].height != p[1].height)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "the two cameras are no rectified pair (the first on the left, axes parallel), which calib.txt is for");
    return TSR_OK;
}
static tsr_status check_calib(const tsr_rig *rig)
{
    tsr_pinhole p[2];
    TSR_TRY(pair_of(rig, p));
    return TSR_OK;
}
static tsr_status write_calib(const tsr_rig *rig, tsr_output *o, const char *path)
{
    tsr_pinhole p[2];
    char t[5][32];
    (void)path;
    TSR_TRY(pair_of(rig, p));
    for (int i = 0; i < 2; i++)
        tsr_output_printf(o, "cam%d=[%s 0 %s; 0 %s %s; 0 0 1]\n", i, tsr_rig_number(p[i].fx, t[0]), tsr_rig_number(p[i].cx - 0.5, t[1]), tsr_rig_number(p[i].fy, t[2]),
                          tsr_rig_number(p[i].cy - 0.5, t[3]));
    return tsr_output_printf(o, "doffs=%s\nbaseline=%s\nwidth=%d\nheight=%d\n", tsr_rig_number(p[1].cx - p[0].cx, t[0]),
                             tsr_rig_number(p[0].translation[0] - p[1].translation[0], t[1]), (int)p[0].width, (int)p[0].height);
}

/* ---- _par.txt: count, then name and 21 numbers a line ------------------------------------------------------------------------------- */

static int words_of(tsr_text line)
{
    tsr_word word;
    int count = 0;
    while (tsr_text_word(&line, &word)) count++;
    return count;
}
static int recognise_par(const uint8_t *head, size_t size, const char *path)
{
    tsr_text text = tsr_text_make(head, size), line;
    int64_t count;
    (void)path;
    if (!tsr_text_line(&text, &line) || words_of(line) != 1 || tsr_text_integer(&line, &count) != TSR_TEXT_OK || count < 1) return 0;
    return tsr_text_line(&text, &line) && words_of(line) == 22 ? 2 : 0;
}

static tsr_status read_par(const uint8_t *bytes, size_t size, const char *file, const tsr_rig_read_options *options, tsr_rig *rig)
{
    tsr_text text = tsr_text_make(bytes, size), line;
    int64_t count;
    if (!tsr_text_line(&text, &line) || tsr_text_integer(&line, &count) != TSR_TEXT_OK || count < 1) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line 1: expected how many cameras", file);
    for (int64_t i = 0; i < count; i++) {
        tsr_word name;
        char text_name[1024];
        double v[21];
        do {
            if (!tsr_text_line(&text, &line)) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: the file ends after %lld of %lld cameras", file, (long long)i, (long long)count);
        } while (!words_of(line));
        if (i % 4096 == 0) TSR_PROGRESS(&options->progress, (double)i / (double)count, "cameras");
        if (!tsr_text_word(&line, &name) || name.size >= sizeof text_name) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: expected an image", file, (long long)line.line);
        for (int k = 0; k < 21; k++)
            if (tsr_text_double(&line, &v[k]) != TSR_TEXT_OK || !isfinite(v[k]))
                TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: expected 21 numbers behind the image: K, R and t", file, (long long)line.line);
        memcpy(text_name, name.text, name.size);
        text_name[name.size] = 0;
        tsr_pinhole p = { .width = options->width, .height = options->height, .fx = v[0], .fy = v[4], .cx = v[2] + 0.5, .cy = v[5] + 0.5 };
        if (!p.width) {
            if (!(p.cx > 0 && p.cy > 0 && p.cx < 5e5 && p.cy < 5e5)) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: the axis meets the image at (%g, %g)", file, (long long)line.line, v[2], v[5]);
            p.width = (int32_t)ceil(2 * p.cx - 1e-9);
            p.height = (int32_t)ceil(2 * p.cy - 1e-9);
            tsr_remark("%.200s: image sizes are not in the file: the axis is taken for the middle (%d x %d); give the size if it is another", file, (int)p.width, (int)p.height);
        }
        memcpy(p.rotation, v + 9, sizeof p.rotation);
        memcpy(p.translation, v + 18, sizeof p.translation);
        TSR_TRY(tsr_rig_rotation(file, text_name, p.rotation));
        tsr_rig_camera c = { .name = text_name, .image = text_name, .width = p.width, .height = p.height, .frame = TSR_RIG_STATIC };
        TSR_TRY(tsr_camera_from_pinhole(&p, &c.camera));
        if (fabs(v[1]) > 1e-6 * fabs(v[0])) tsr_remark("%.200s: skew of the pixels is left out", file);
        TSR_TRY(tsr_rig_add(rig, &c));
    }
    return TSR_OK;
}

static tsr_status check_par(const tsr_rig *rig)
{
    tsr_pinhole p;
    for (int64_t i = 0; i < rig->count; i++) {
        const tsr_rig_camera *c = &rig->entry[i].camera;
        TSR_TRY(tsr_rig_pinhole("_par.txt", c, &p));
        if (tsr_lens_distorts(&c->camera.lens)) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "camera '%.100s': its lens distorts, which _par.txt cannot hold", c->name);
        if (strpbrk(*c->image ? c->image : c->name, " \t\r\n")) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "camera '%.100s': its image has a blank in its name, which _par.txt cannot hold", c->name);
    }
    return TSR_OK;
}
static tsr_status write_par(const tsr_rig *rig, tsr_output *o, const char *path)
{
    char t[32];
    (void)path;
    tsr_output_printf(o, "%lld\n", (long long)rig->count);
    for (int64_t i = 0; i < rig->count; i++) {
        tsr_pinhole p;
        const tsr_rig_camera *c = &rig->entry[i].camera;
        TSR_TRY(tsr_rig_pinhole("_par.txt", c, &p));
        const double k[9] = { p.fx, 0, p.cx - 0.5, 0, p.fy, p.cy - 0.5, 0, 0, 1 };
        tsr_output_printf(o, "%s", *c->image ? c->image : *c->name ? c->name : "-");
        for (int n = 0; n < 9; n++) tsr_output_printf(o, " %s", tsr_rig_number(k[n], t));
        for (int n = 0; n < 9; n++) tsr_output_printf(o, " %s", tsr_rig_number(p.rotation[n / 3][n % 3], t));
        for (int n = 0; n < 3; n++) tsr_output_printf(o, " %s", tsr_rig_number(p.translation[n], t));
        tsr_output_printf(o, "\n");
    }
    return tsr_output_write(o, "", 0);
}

const tsr_rig_format tsr_rig_format_middlebury = { .name = "middlebury", .recognise = recognise_calib, .read = read_calib, .write = write_calib, .check = check_calib };
const tsr_rig_format tsr_rig_format_par = { .name = "par", .recognise = recognise_par, .read = read_par, .write = write_par, .check = check_par };
