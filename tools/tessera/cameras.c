/* tools/tessera/cameras.c: camera files: printed, converted, drawn. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rigs.h"

enum { SAMPLES = 3, CONVENTIONS = 4 }; /* lines are drawn three times as large and averaged */

struct cameras {
    cli_call *cli;
    cli_rig how;
    tsr_rig *rig;
    const char *output, *format, *picture, *camera;
    tsr_size3 size;
    double azimuth, elevation, length;
};

/* ---- what is in it ---------------------------------------------------------------------------------------------------------------- */

static const char *projection_name(const tsr_camera *c)
{
    return c->projection == TSR_PERSPECTIVE ? "pinhole" : c->projection == TSR_ORTHOGRAPHIC ? "orthographic" : "matrix";
}
static const char *lens_name(const tsr_camera *c)
{
    static const char *const names[] = { "division", "poly", "fisheye" };
    return tsr_lens_distorts(&c->lens) ? names[c->lens.model] : "none";
}

/* The pose as other conventions would mean it: 1 = its inverse, 2 = y and z turned round, 3 = both. */
static tsr_camera reread(const tsr_camera *c, int convention)
{
    tsr_camera m = *c;
    if (convention & 2)
        for (int k = 0; k < 3; k++) {
            m.rotation[1][k] = -m.rotation[1][k];
            m.rotation[2][k] = -m.rotation[2][k];
        }
    if (convention & 1) {
        const tsr_camera was = m;
        const double p[3] = { was.position.x, was.position.y, was.position.z };
        double t[3];
        for (int r = 0; r < 3; r++) {
            t[r] = 0;
            for (int k = 0; k < 3; k++) {
                m.rotation[r][k] = was.rotation[k][r];
                t[r] -= was.rotation[r][k] * p[k];
            }
        }
        m.position = (tsr_vec3){ t[0], t[1], t[2] };
    }
    return m;
}
static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}
/* Median distance in pixels between where points were seen and where the cameras show them; points behind count as far away. */
static double reprojection(const tsr_rig *rig, int convention)
{
    const tsr_rig_sight *sights;
    const tsr_rig_point *points;
    const int64_t count = tsr_rig_sights(rig, &sights), step = count > 20000 ? count / 20000 : 1;
    double *off = (double *)malloc((size_t)(count / step + 1) * sizeof *off), median;
    int64_t have = 0;
    tsr_rig_points(rig, &points);
    for (int64_t i = 0; off && i < count; i += step) {
        tsr_rig_camera c;
        double pixel[2] = { 0, 0 };
        if (tsr_rig_get(rig, sights[i].camera, &c) != TSR_OK) continue;
        const double *p = points[sights[i].point].position;
        const tsr_camera m = reread(&c.camera, convention);
        const int seen =
            tsr_camera_project(&m, c.width ? c.width : 1, c.height ? c.height : 1, (tsr_vec3){ p[0], p[1], p[2] }, pixel, NULL) == TSR_OK;
        off[have++] = seen ? hypot(pixel[0] - (double)sights[i].pixel[0], pixel[1] - (double)sights[i].pixel[1]) : 1e9;
    }
    if (have) qsort(off, (size_t)have, sizeof *off, by_value);
    median = have ? off[have / 2] : -1;
    free(off);
    return median;
}

static void show_convention(const struct cameras *s)
{
    static const char *const names[CONVENTIONS] = { "as the format says", "with poses from the camera to the world",
                                                    "with y and z the other way round", "with both" };
    double error[CONVENTIONS];
    int best = 0;
    if (!tsr_rig_sights(s->rig, NULL)) return;
    for (int k = 0; k < CONVENTIONS; k++) {
        error[k] = reprojection(s->rig, k);
        if (error[k] < error[best]) best = k;
    }
    if (s->cli->globals.json) {
        json_real("reprojection_median", error[0]);
        json_text("convention", names[best]);
        return;
    }
    printf("points are seen within %.3g pixels of where the cameras show them (median)\n", error[0]);
    if (best) cli_note(s->cli, "read %s they would be seen within %.3g pixels: is the file of another convention?", names[best], error[best]);
}

static void show_one_json(const tsr_rig_camera *c, int64_t index)
{
    json_open(NULL, '{');
    json_int("index", index);
    json_text("name", c->name);
    json_text("projection", projection_name(&c->camera));
    json_int("width", c->width);
    json_int("height", c->height);
    json_open("position", '[');
    json_real(NULL, c->camera.position.x);
    json_real(NULL, c->camera.position.y);
    json_real(NULL, c->camera.position.z);
    json_close(']');
    json_open("rotation", '[');
    for (int i = 0; i < 9; i++) json_real(NULL, c->camera.rotation[i / 3][i % 3]);
    json_close(']');
    if (c->camera.projection == TSR_PERSPECTIVE) json_real("fov", c->camera.fov);
    if (c->camera.projection == TSR_ORTHOGRAPHIC) json_real("height_of_view", c->camera.height);
    json_real("aspect", c->camera.aspect);
    json_real("near", c->camera.clip[0]);
    json_real("far", c->camera.clip[1]);
    json_text("lens", lens_name(&c->camera));
    json_text("image", c->image);
    json_text("depth", c->depth);
    if (*c->depth) json_text("encoding", tsr_depth_kind_name(c->encoding.kind));
    if (c->frame >= 0) json_int("frame", c->frame);
    if (c->time != 0 || c->frame >= 0) json_real("time", c->time);
    json_close('}');
}

static void show_one(const tsr_rig_camera *c, int64_t index)
{
    const tsr_camera *m = &c->camera;
    printf("%5lld  %-20s %-12s %5d x %-5d at %9.4g %9.4g %9.4g towards %6.3f %6.3f %6.3f ", (long long)index, cli_shown(c->name), projection_name(m),
           (int)c->width, (int)c->height, m->position.x, m->position.y, m->position.z, -m->rotation[2][0], -m->rotation[2][1], -m->rotation[2][2]);
    if (m->projection == TSR_PERSPECTIVE) printf(" fov %.4g", m->fov);
    if (m->projection == TSR_ORTHOGRAPHIC) printf(" height %.4g", m->height);
    if (m->clip[1] != 0) printf(" clip %.4g:%.4g", m->clip[0], m->clip[1]);
    if (tsr_lens_distorts(&m->lens)) printf(" lens %s", lens_name(m));
    if (*c->depth) printf(" depth %s", tsr_depth_kind_name(c->encoding.kind));
    if (c->frame >= 0) printf(" frame %d", (int)c->frame);
    if (c->time != 0) printf(" time %.6g", c->time);
    printf("\n");
}

static void show_numbers(const tsr_rig_camera *c)
{
    const tsr_camera *m = &c->camera;
    tsr_pinhole p;
    for (int r = 0; r < 3; r++)
        printf("  %-8s %12.9f %12.9f %12.9f\n",
               r == 0   ? "right"
               : r == 1 ? "up"
                        : "backward",
               m->rotation[r][0], m->rotation[r][1], m->rotation[r][2]);
    if (c->width && tsr_camera_to_pinhole(m, c->width, c->height, &p) == TSR_OK) {
        printf("  focal    %.9g %.9g pixels, axis at %.9g %.9g\n", p.fx, p.fy, p.cx, p.cy);
        if (tsr_lens_distorts(&m->lens))
            printf("  lens     k %.9g %.9g %.9g %.9g %.9g %.9g, p %.9g %.9g (r = 1 at 45 degrees%s)\n", p.k[0], p.k[1], p.k[2], p.k[3], p.k[4],
                   p.k[5], p.p[0], p.p[1], p.fisheye ? ", fish-eye" : "");
    }
    if (*c->image) printf("  image    %s\n", cli_shown(c->image));
    if (*c->depth) printf("  depth    %s\n", cli_shown(c->depth));
}

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* How many cameras the entries that are frames belong to; 0: there is one that is none. */
static int64_t count_moving(const tsr_rig *rig)
{
    const int64_t count = tsr_rig_count(rig);
    const char **name = (const char **)malloc((size_t)count * sizeof *name + 1);
    int64_t frames = 0, cameras = 0;
    for (; name && frames < count; frames++) {
        tsr_rig_camera c;
        if (tsr_rig_get(rig, frames, &c) != TSR_OK || c.frame < 0) break;
        name[frames] = c.name;
    }
    if (name && frames == count) qsort(name, (size_t)count, sizeof *name, by_text);
    for (int64_t i = 0; name && frames == count && i < count; i++) cameras += !i || strcmp(name[i], name[i - 1]) != 0;
    free(name);
    return cameras;
}

static int show(const struct cameras *s)
{
    const int64_t count = tsr_rig_count(s->rig);
    int64_t only = -1;
    if (s->camera && (only = cli_rig_find(s->cli, s->rig, "camera", s->camera)) < 0) return CLI_USAGE;
    if (s->cli->globals.json) {
        json_open(NULL, '{');
        json_int("count", count);
        json_int("points", tsr_rig_points(s->rig, NULL));
        show_convention(s);
        json_open("cameras", '[');
    }
    for (int64_t i = 0; i < count; i++) {
        tsr_rig_camera c;
        if ((only >= 0 && i != only) || tsr_rig_get(s->rig, i, &c) != TSR_OK) continue;
        if (s->cli->globals.json) show_one_json(&c, i);
        else show_one(&c, i);
        if (!s->cli->globals.json && only >= 0) show_numbers(&c);
    }
    if (s->cli->globals.json) {
        json_close(']');
        json_close('}');
        return CLI_OK;
    }
    if (only < 0) {
        const int64_t moving = count_moving(s->rig);
        if (moving) printf("%lld %s of ", (long long)count, count == 1 ? "frame" : "frames");
        printf("%lld %s", (long long)(moving ? moving : count), (moving ? moving : count) == 1 ? "camera" : "cameras");
        if (tsr_rig_points(s->rig, NULL))
            printf(", %lld points seen %lld times", (long long)tsr_rig_points(s->rig, NULL), (long long)tsr_rig_sights(s->rig, NULL));
        printf("\n");
        show_convention(s);
    }
    return CLI_OK;
}

/* ---- the picture ------------------------------------------------------------------------------------------------------------------ */

typedef struct canvas {
    tsr_image large;
    tsr_camera camera;
    int32_t width, height;
} canvas;

/* The pixels of a row whose middles lie from x to x. */
static void fill(canvas *c, int32_t row, double from, double to, const uint8_t color[3])
{
    const int32_t first = (int32_t)ceil(fmax(from - 0.5, 0)), last = (int32_t)floor(fmin(to - 0.5, c->large.width - 1));
    for (int32_t px = first; px <= last; px++) memcpy(c->large.pixels + 3 * ((size_t)row * (size_t)c->large.width + (size_t)px), color, 3);
}

/* All that is at most `radius` from the line between two places: row by row, discs round its ends and the oblong between them. */
static void stroke(canvas *c, const double p[2], const double q[2], double radius, const uint8_t color[3])
{
    const double length = sqrt((q[0] - p[0]) * (q[0] - p[0]) + (q[1] - p[1]) * (q[1] - p[1])), r = length > 0 ? radius / length : 0;
    const double n[2] = { -r * (q[1] - p[1]), r * (q[0] - p[0]) }; /* across */
    const double corner[4][2] = {
        { p[0] + n[0], p[1] + n[1] }, { q[0] + n[0], q[1] + n[1] }, { q[0] - n[0], q[1] - n[1] }, { p[0] - n[0], p[1] - n[1] }
    };
    const int32_t begin = (int32_t)ceil(fmax(fmin(p[1], q[1]) - radius - 0.5, 0)),
                  end = (int32_t)floor(fmin(fmax(p[1], q[1]) + radius - 0.5, c->large.height - 1));
    for (int32_t row = begin; row <= end; row++) {
        const double y = row + 0.5, *const ends[2] = { p, q };
        double from = HUGE_VAL, to = -HUGE_VAL;
        for (int k = 0; k < 2; k++) {
            const double half = radius * radius - (y - ends[k][1]) * (y - ends[k][1]);
            if (half < 0) continue;
            from = fmin(from, ends[k][0] - sqrt(half));
            to = fmax(to, ends[k][0] + sqrt(half));
        }
        for (int k = 0; k < 4; k++) {
            const double *a = corner[k], *b = corner[(k + 1) % 4];
            if (a[1] == b[1] || (y - a[1]) * (y - b[1]) > 0) continue;
            const double x = a[0] + (b[0] - a[0]) * (y - a[1]) / (b[1] - a[1]);
            from = fmin(from, x);
            to = fmax(to, x);
        }
        fill(c, row, from, to, color);
    }
}
static int place(const canvas *c, tsr_vec3 p, double at[2])
{
    return tsr_camera_project(&c->camera, c->large.width, c->large.height, p, at, NULL) == TSR_OK && fabs(at[0]) < 1e6 && fabs(at[1]) < 1e6;
}
static void line(canvas *c, tsr_vec3 a, tsr_vec3 b, double radius, const uint8_t color[3])
{
    double p[2], q[2];
    if (!place(c, a, p) || !place(c, b, q)) return;
    stroke(c, p, q, radius, color);
}

/* Corners of the picture of a camera at a distance; 0 if it has no rays there. */
static int corners(const tsr_rig_camera *c, double distance, tsr_vec3 corner[4], tsr_vec3 *eye)
{
    const int32_t w = c->width ? c->width : 4, h = c->width ? c->height : 3;
    tsr_camera m = c->camera;
    memset(&m.lens, 0, sizeof m.lens);
    *eye = m.position;
    for (int k = 0; k < 4; k++) {
        const double pixel[2] = { k == 1 || k == 2 ? w : 0, k >= 2 ? h : 0 };
        tsr_vec3 o, d;
        if (tsr_camera_ray(&m, w, h, pixel, &o, &d) != TSR_OK) return 0;
        corner[k] = (tsr_vec3){ o.x + distance * d.x, o.y + distance * d.y, o.z + distance * d.z };
    }
    return 1;
}

static void widen(tsr_box *b, tsr_vec3 p)
{
    if (!isfinite(p.x + p.y + p.z)) return;
    b->lower = (tsr_vec3){ fmin(b->lower.x, p.x), fmin(b->lower.y, p.y), fmin(b->lower.z, p.z) };
    b->upper = (tsr_vec3){ fmax(b->upper.x, p.x), fmax(b->upper.y, p.y), fmax(b->upper.z, p.z) };
}

static double size_of(const tsr_box *b) { return hypot(hypot(b->upper.x - b->lower.x, b->upper.y - b->lower.y), b->upper.z - b->lower.z); }

/* What must be in the picture: cameras, and the middle 96 of 100 points along each axis. */
static tsr_box bounds_of(const tsr_rig *rig, double *length)
{
    const double huge = 1e300;
    tsr_box b = { { huge, huge, huge }, { -huge, -huge, -huge } };
    const tsr_rig_point *points;
    const int64_t count = tsr_rig_count(rig), have = tsr_rig_points(rig, &points);
    for (int64_t i = 0; i < count; i++) {
        tsr_rig_camera c;
        if (tsr_rig_get(rig, i, &c) == TSR_OK) widen(&b, c.camera.position);
    }
    double *along = (double *)malloc(((size_t)have + 1) * sizeof *along);
    tsr_vec3 low = { 0, 0, 0 }, high = { 0, 0, 0 };
    for (int axis = 0; along && have && axis < 3; axis++) {
        for (int64_t i = 0; i < have; i++) along[i] = points[i].position[axis];
        qsort(along, (size_t)have, sizeof *along, by_value);
        (&low.x)[axis] = along[have / 50];
        (&high.x)[axis] = along[have - 1 - have / 50];
    }
    if (along && have) {
        widen(&b, low);
        widen(&b, high);
    }
    free(along);
    if (!(*length > 0))
        *length = size_of(&b) > 0 ? (have ? 0.08 : 0.2) * fmin(1, sqrt(100.0 / (double)count)) * size_of(&b) : 1; /* many stand closer */
    for (int64_t i = 0; i < count; i++) {
        tsr_rig_camera c;
        tsr_vec3 corner[4], eye;
        if (tsr_rig_get(rig, i, &c) != TSR_OK || !corners(&c, *length, corner, &eye)) continue;
        for (int k = 0; k < 4; k++) widen(&b, corner[k]);
    }
    if (!(size_of(&b) > 0)) b.upper.x += 1;
    return b;
}

static void draw_all(const struct cameras *s, canvas *c, double length)
{
    static const uint8_t palette[8][3] = { { 230, 75, 53 },   { 77, 187, 213 }, { 0, 170, 135 },   { 243, 200, 90 },
                                           { 160, 110, 210 }, { 239, 133, 54 }, { 110, 140, 220 }, { 220, 100, 170 } };
    static const uint8_t axes[3][3] = { { 200, 60, 60 }, { 60, 180, 60 }, { 80, 110, 230 } };
    const tsr_rig_point *points;
    const int64_t have = tsr_rig_points(s->rig, &points);
    const double unit = c->large.height / 1500.0;
    for (int64_t i = 0; i < have; i++) {
        double at[2];
        const double *p = points[i].position;
        if (place(c, (tsr_vec3){ p[0], p[1], p[2] }, at)) stroke(c, at, at, fmax(1.2, 1.8 * unit), points[i].color);
    }
    for (int k = 0; k < 3; k++)
        line(c, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ k == 0 ? length : 0, k == 1 ? length : 0, k == 2 ? length : 0 }, 2.5 * unit, axes[k]);
    for (int64_t i = 0; i < tsr_rig_count(s->rig); i++) {
        tsr_rig_camera m;
        tsr_vec3 corner[4], eye;
        const uint8_t *color = palette[i % 8];
        if (tsr_rig_get(s->rig, i, &m) != TSR_OK || !corners(&m, length, corner, &eye)) continue;
        tsr_vec3 from[4] = { eye, eye, eye, eye };
        if (m.camera.projection == TSR_ORTHOGRAPHIC && !corners(&m, 0, from, &eye)) continue;
        for (int k = 0; k < 4; k++) {
            line(c, from[k], corner[k], 2 * unit, color);
            line(c, corner[k], corner[(k + 1) % 4], 2 * unit, color);
            if (m.camera.projection == TSR_ORTHOGRAPHIC) line(c, from[k], from[(k + 1) % 4], 2 * unit, color);
        }
        const tsr_vec3 middle = { 0.5 * (corner[0].x + corner[1].x), 0.5 * (corner[0].y + corner[1].y), 0.5 * (corner[0].z + corner[1].z) };
        const double *up = m.camera.rotation[1], high = 0.15 * length; /* which side is up */
        line(c, corner[0], (tsr_vec3){ middle.x + high * up[0], middle.y + high * up[1], middle.z + high * up[2] }, 2 * unit, color);
        line(c, corner[1], (tsr_vec3){ middle.x + high * up[0], middle.y + high * up[1], middle.z + high * up[2] }, 2 * unit, color);
    }
}

static int draw(const struct cameras *s)
{
    canvas c = { .width = s->size.x ? (int32_t)s->size.x : 1200, .height = s->size.x ? (int32_t)s->size.y : 800 };
    tsr_image image = { 0 };
    double length = s->length;
    const tsr_box b = bounds_of(s->rig, &length);
    tsr_status status = tsr_camera_orbit(&b, TSR_SPACE_NONE, s->azimuth, s->elevation, TSR_PERSPECTIVE, (double)c.width / c.height, &c.camera);
    if (status == TSR_OK) status = tsr_image_create(c.width * SAMPLES, c.height * SAMPLES, 3, &c.large);
    if (status == TSR_OK) status = tsr_image_create(c.width, c.height, 3, &image);
    if (status == TSR_OK) {
        memset(c.large.pixels, 24, (size_t)c.large.width * (size_t)c.large.height * 3);
        draw_all(s, &c, length);
        for (int64_t i = 0; i < (int64_t)c.width * c.height * 3; i++) {
            const int64_t x = i / 3 % c.width, y = i / 3 / c.width;
            int sum = SAMPLES * SAMPLES / 2;
            for (int k = 0; k < SAMPLES * SAMPLES; k++)
                sum += c.large.pixels[3 * ((y * SAMPLES + k / SAMPLES) * c.large.width + x * SAMPLES + k % SAMPLES) + i % 3];
            image.pixels[i] = (uint8_t)(sum / (SAMPLES * SAMPLES));
        }
        const tsr_write_options write = cli_image_options(s->cli, s->picture);
        status = tsr_image_write(&image, s->picture, &write);
    }
    tsr_image_destroy(&c.large);
    tsr_image_destroy(&image);
    return status == TSR_OK ? CLI_OK : cli_status(s->cli, status, s->picture);
}

static int convert(const struct cameras *s)
{
    tsr_rig_write_options o = TSR_RIG_WRITE_OPTIONS;
    o.format = s->format;
    o.overwrite = s->cli->globals.force;
    const tsr_status status = tsr_rig_write(s->rig, s->output, &o);
    return status == TSR_OK ? CLI_OK : cli_status(s->cli, status, NULL);
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct cameras s = { .cli = cli, .how = CLI_RIG, .azimuth = -30, .elevation = 30 };
    int code;
    const cli_option options[] = {
        { .name = "output",
          .letter = 'o',
          .type = CLI_TEXT,
          .value = &s.output,
          .argument = "FILE",
          .help = "write the cameras: .json, .geoscene, .geocast, .yml, .xml, .out, calib.txt, _par.txt, or a folder (COLMAP)" },
        { .name = "format", .type = CLI_TEXT, .value = &s.format, .argument = "NAME", .help = "of the output (default: by its name)" },
        { .name = "picture", .type = CLI_TEXT, .value = &s.picture, .argument = "FILE", .help = "draw frusta and points" },
        { .name = "camera",
          .type = CLI_TEXT,
          .value = &s.camera,
          .argument = "CAMERA",
          .help = "print this one (name or number), with all its numbers" },
        { .name = "size", .type = CLI_SIZE2, .value = &s.size, .help = "of the drawing (default 1200,800)", .lower = 1, .upper = 5000 },
        { .name = "azimuth",
          .type = CLI_REAL,
          .value = &s.azimuth,
          .argument = "DEGREES",
          .help = "of the drawing's view (default -30)",
          .lower = -1e6,
          .upper = 1e6 },
        { .name = "elevation",
          .type = CLI_REAL,
          .value = &s.elevation,
          .argument = "DEGREES",
          .help = "likewise (default 30)",
          .lower = -90,
          .upper = 90 },
        { .name = "length",
          .type = CLI_REAL,
          .value = &s.length,
          .argument = "D",
          .help = "of the frusta that are drawn",
          .lower = 1e-12,
          .upper = 1e12 },
        CLI_RIG_OPTIONS(s.how),
        { 0 },
    };
    code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    code = CLI_OK;
    if (s.picture) code = cli_check_option(cli, "picture", s.picture);
    if (code) return code;
    s.rig = cli_read_rig(cli, cli->input[0], &s.how, &code);
    if (!code && s.output) code = convert(&s);
    if (!code && s.picture) code = draw(&s);
    if (!code && ((!s.output && !s.picture) || s.camera || cli->globals.json)) code = show(&s);
    tsr_rig_destroy(&s.rig);
    return code;
}

const cli_verb verb_cameras = { "cameras", "[options] CAMERAS", "Print, convert and draw cameras",
                                "  tessera make scene head --layout ring --count 6 -o head\n"
                                "  tessera cameras head/transforms.json\n"
                                "  tessera cameras head/transforms.json --picture rig.png\n"
                                "  tessera cameras head/transforms.json -o model --format colmap\n",
                                run };
