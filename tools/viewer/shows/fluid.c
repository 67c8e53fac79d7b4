/* viewer/shows/fluid.c: the mode `fluid`: files of particles, one or a numbered row, as a liquid: its look, the smoother and the resolution under sliders, the
 * unsmoothed spheres on one side of a split picture. */
#include "show.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LOOKS = TSR_FLUID_HONEY + 1, SMOOTHERS = TSR_FLUID_UNSMOOTHED + 1, LOOKED_AT = 101 };

struct fluid {
    tsr_fluid *fluid;
    tsr_points *points; /* of `held`, on the device */
    char folder[4096], pattern[VIEWER_NAME_BYTES + 8], file[VIEWER_NAME_BYTES];
    viewer_row film;
    int64_t first, held;
    tsr_box bounds;
    double radius, milliseconds;
    int64_t not_finite;
    int look, smoother, resolution, iterations;
    double split, scale;
};

static struct fluid *fluid_of(const viewer_show *show) { return (struct fluid *)show->own; }

static void name_of(const struct fluid *f, int64_t frame, char name[VIEWER_NAME_BYTES])
{
    if (*f->pattern) viewer_show_name(f->pattern, f->first + frame, name, VIEWER_NAME_BYTES);
    else snprintf(name, VIEWER_NAME_BYTES, "%s", f->file);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Half of the middle distance to a nearest neighbour, where the file says no radii. */
static double radius_of(const tsr_points *points)
{
    double nearest[LOOKED_AT], sum = 0;
    const int64_t n = tsr_points_count(points), looked = n < LOOKED_AT ? n : LOOKED_AT;
    const float *p = tsr_points_positions_const(points), *r = tsr_points_radii_const(points);
    int64_t given = 0;
    for (int64_t i = 0; r && i < n; i++)
        if (r[i] > 0 && isfinite(r[i])) {
            sum += (double)r[i];
            given++;
        }
    if (given) return sum / (double)given;
    for (int64_t k = 0; k < looked; k++) {
        const float *own = p + 3 * (k * (n - 1) / (looked > 1 ? looked - 1 : 1));
        double least = HUGE_VAL;
        for (int64_t i = 0; i < n; i++) {
            const double x = (double)(p[3 * i] - own[0]), y = (double)(p[3 * i + 1] - own[1]), z = (double)(p[3 * i + 2] - own[2]),
                         square = x * x + y * y + z * z;
            if (square < least && p + 3 * i != own) least = square;
        }
        nearest[k] = 0.5 * sqrt(least);
    }
    qsort(nearest, (size_t)looked, sizeof *nearest, ascending);
    return looked ? nearest[looked / 2] : 0;
}

static void widen(tsr_box *b, const tsr_points *points)
{
    const float *p = tsr_points_positions_const(points);
    const tsr_vec3 o = tsr_points_origin(points);
    for (int64_t i = 0; i < tsr_points_count(points); i++, p += 3) {
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2])) continue;
        const tsr_vec3 q = { o.x + (double)p[0], o.y + (double)p[1], o.z + (double)p[2] };
        b->lower = (tsr_vec3){ fmin(b->lower.x, q.x), fmin(b->lower.y, q.y), fmin(b->lower.z, q.z) };
        b->upper = (tsr_vec3){ fmax(b->upper.x, q.x), fmax(b->upper.y, q.y), fmax(b->upper.z, q.z) };
    }
}

static tsr_status read_frame(const viewer_show *show, const struct fluid *f, int64_t frame, tsr_points **points)
{
    char name[VIEWER_NAME_BYTES], path[sizeof f->folder + VIEWER_NAME_BYTES];
    tsr_read_options read = TSR_READ_OPTIONS;
    struct stat about;
    name_of(f, frame, name);
    snprintf(path, sizeof path, "%s%s", f->folder, name);
    read.memory_limit = show->s->memory_limit;
    read.same_folder = 1;
    read.local_origin = 1;
    read.progress = (tsr_progress){ viewer_session_quits, show->s };
    if (lstat(path, &about) || !S_ISREG(about.st_mode))
        snprintf(path, sizeof path, "%s.missing", f->folder); /* no links: the library says that it is not there */
    return tsr_points_read(path, &read, points);
}

static void forget(struct fluid *f)
{
    tsr_points_destroy(&f->points);
    tsr_fluid_destroy(&f->fluid);
}

/* How many files of the row follow without a gap; the first, the last and one between say how large everything is. */
static tsr_status survey(const viewer_show *show, struct fluid *f)
{
    struct stat about;
    char name[VIEWER_NAME_BYTES], path[sizeof f->folder + VIEWER_NAME_BYTES];
    tsr_status status = TSR_OK;
    for (f->film.frames = 1; *f->pattern && f->film.frames < VIEWER_ROW_MOST; f->film.frames++) {
        name_of(f, f->film.frames, name);
        snprintf(path, sizeof path, "%s%s", f->folder, name);
        if (lstat(path, &about) || !S_ISREG(about.st_mode)) break;
    }
    f->bounds = (tsr_box){ { HUGE_VAL, HUGE_VAL, HUGE_VAL }, { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL } };
    for (int i = 0; i < 3 && status == TSR_OK; i++) {
        tsr_points *points = NULL;
        if (i && f->film.frames == 1) break;
        status = read_frame(show, f, (f->film.frames - 1) * i / 2, &points);
        if (status != TSR_OK) break;
        widen(&f->bounds, points);
        if (i == 0) f->radius = radius_of(points);
        tsr_points_destroy(&points);
    }
    if (status != TSR_OK) return status;
    if (!(f->bounds.lower.x <= f->bounds.upper.x)) f->bounds = (tsr_box){ { -1, -1, -1 }, { 1, 1, 1 } };
    const tsr_vec3 a = f->bounds.lower, b = f->bounds.upper;
    const double across = sqrt(pow(b.x - a.x, 2) + pow(b.y - a.y, 2) + pow(b.z - a.z, 2));
    if (!(f->radius > 0 && isfinite(f->radius))) f->radius = fmax(0.01 * across, 1e-6);
    return TSR_OK;
}

static int load(viewer_show *show, const char *path, const char *name, char *error, size_t error_bytes)
{
    struct fluid made = { .held = -1, .film = { .rate = 25, .loop = 1, .known = 1 }, .resolution = 2, .scale = 1 };
    const int64_t number = viewer_show_row(name, made.pattern, sizeof made.pattern);
    made.first = number - 1;
    if (!number) *made.pattern = 0;
    snprintf(made.file, sizeof made.file, "%s", name);
    snprintf(made.folder, sizeof made.folder, "%.*s", (int)(strlen(path) - strlen(name)), path);
    tsr_status status = survey(show, &made);
    if (status == TSR_OK) status = tsr_fluid_create(show->context, &made.fluid);
    if (status == TSR_OK && !viewer_show_box(show, name, made.bounds)) {
        forget(fluid_of(show));
        *fluid_of(show) = made;
        return 0;
    }
    viewer_take_message(show->s, error, error_bytes);
    forget(&made);
    return -1;
}

static int set(viewer_show *show, const char *name, double value, char *error, size_t error_bytes)
{
    struct fluid *f = fluid_of(show);
    const int whole = value == floor(value);
    const int film = viewer_row_set(&f->film, name, value);
    int good = film >= 0;
    if (film) {
        /* it was one of those that every row has */
    } else if (!strcmp(name, "look")) {
        if ((good = whole && value >= 0 && value < LOOKS)) f->look = (int)value;
    } else if (!strcmp(name, "smoother")) {
        if ((good = whole && value >= 0 && value < SMOOTHERS)) f->smoother = (int)value;
    } else if (!strcmp(name, "iterations")) {
        if ((good = whole && value >= 0 && value <= 1000)) f->iterations = (int)value;
    } else if (!strcmp(name, "resolution")) {
        if ((good = value == 1 || value == 2 || value == 4)) f->resolution = (int)value;
    } else if (!strcmp(name, "split")) {
        if ((good = value >= 0 && value <= 1)) f->split = value;
    } else if (!strcmp(name, "scale")) {
        if ((good = value >= 0.2 && value <= 5)) f->scale = value;
    } else {
        snprintf(error, error_bytes, "set: expected " VIEWER_ROW_EXPECTS ", look, smoother, iterations, resolution, split or scale");
        return -1;
    }
    if (!good) {
        snprintf(error, error_bytes,
                 "set: %s is out of range, expected look 0 to 4, smoother 0 to 9, iterations 0 to 1000, resolution 1, 2 or 4, split 0 to 1, scale "
                 "0.2 to 5, " VIEWER_ROW_EXPECTS,
                 name);
        return -1;
    }
    show->version++;
    return 0;
}

static double go_on(viewer_show *show, double now) { return viewer_row_go_on(show, &fluid_of(show)->film, now); }

static tsr_status need_points(viewer_show *show, struct fluid *f)
{
    tsr_points *host = NULL, *there = NULL;
    if (f->held == f->film.frame && f->points) return TSR_OK;
    tsr_status status = read_frame(show, f, f->film.frame, &host);
    if (status == TSR_OK) status = tsr_points_copy(host, show->context, &there);
    tsr_points_destroy(&host);
    if (status != TSR_OK) return status;
    tsr_points_destroy(&f->points);
    f->points = there;
    f->held = f->film.frame;
    show->state_dirty = 1;
    return TSR_OK;
}

static tsr_status draw_with(struct fluid *f, const tsr_camera *camera, int smoother, int32_t width, int32_t height, int draft, tsr_image *image)
{
    tsr_fluid_particles p = TSR_FLUID_PARTICLES;
    tsr_fluid_options options = TSR_FLUID_OPTIONS;
    tsr_fluid_backdrop backdrop = TSR_FLUID_BACKDROP;
    tsr_fluid_info info = TSR_FLUID_INFO;
    tsr_fluid_look look;
    int32_t components = 0;
    p.count = tsr_points_count(f->points);
    p.positions = tsr_points_positions_const(f->points);
    p.radii = tsr_points_radii_const(f->points);
    p.densities = tsr_points_attribute_const(f->points, "density", &components);
    if (components != 1) p.densities = NULL;
    p.radius = f->radius;
    p.origin = tsr_points_origin(f->points);
    options.width = width;
    options.height = height;
    options.smoother = (tsr_fluid_smoother)smoother;
    options.iterations = f->iterations;
    options.resolution = draft && f->resolution < 2 ? 2 : f->resolution;
    options.particle_scale = f->scale;
    backdrop.scenery = TSR_FLUID_FLOOR;
    backdrop.bounds = backdrop.shadow_bounds = f->bounds;
    backdrop.shadow = !draft;
    tsr_status status = tsr_fluid_look_make((tsr_fluid_preset)f->look, f->radius, &look);
    if (status == TSR_OK) status = tsr_fluid_draw(f->fluid, &p, camera, &backdrop, &look, &options, &info);
    if (status == TSR_OK) status = tsr_fluid_picture(f->fluid, 1, image);
    f->not_finite = info.not_finite;
    return status;
}

static tsr_status draw(viewer_show *show, const viewer_look *look, int32_t width, int32_t height, int draft, tsr_image *image, float *pixel)
{
    struct fluid *f = fluid_of(show);
    const double begun = viewer_seconds();
    tsr_camera camera;
    tsr_image raw = { 0 };
    (void)pixel;
    tsr_status status = need_points(show, f);
    if (status == TSR_OK) status = viewer_show_camera(show, look, &camera);
    if (status == TSR_OK) status = draw_with(f, &camera, f->smoother, width, height, draft, image);
    const int32_t edge = (int32_t)(f->split * width + 0.5); /* to its left the spheres as they are */
    if (status == TSR_OK && edge > 0) status = draw_with(f, &camera, TSR_FLUID_UNSMOOTHED, width, height, draft, &raw);
    for (int32_t y = 0; status == TSR_OK && edge > 0 && y < height; y++) {
        uint8_t *to = image->pixels + (size_t)y * (size_t)width * 3;
        memcpy(to, raw.pixels + (size_t)y * (size_t)width * 3, (size_t)edge * 3);
        memset(to + 3 * (size_t)(edge - 1), 255, 3);
    }
    tsr_image_destroy(&raw);
    if (!draft) f->milliseconds = 1e3 * (viewer_seconds() - begun);
    if (!draft) show->state_dirty = 1;
    return status;
}

static json_t *state(const viewer_show *show)
{
    const struct fluid *f = fluid_of(show);
    return json_pack("{s:I, s:I, s:b, s:b, s:b, s:f, s:i, s:i, s:i, s:i, s:f, s:f, s:I, s:f, s:f}", "frame", (json_int_t)f->film.frame, "frames",
                     (json_int_t)f->film.frames, "known", 1, "playing", f->film.playing, "loop", f->film.loop, "rate", f->film.rate, "look", f->look,
                     "smoother", f->smoother, "resolution", f->resolution, "iterations", f->iterations, "split", f->split, "scale", f->scale,
                     "particles", (json_int_t)(f->points ? tsr_points_count(f->points) : 0), "radius", f->radius, "milliseconds", f->milliseconds);
}

static void clear(viewer_show *show) { forget(fluid_of(show)); }

static const viewer_show_table table = {
    .bytes = sizeof(struct fluid), .drafts = 2, .load = load, .set = set, .draw = draw, .go_on = go_on, .state = state, .clear = clear
};

static void *work(void *session) { return viewer_show_run((viewer_session *)session, &table); }

static int opens(const char *name)
{
    static const char *const endings[] = { ".bgeo", ".bgeo.gz", ".vtp", ".csv", ".xyz", ".pts", ".pcd", ".ply" };
    const size_t n = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (n > strlen(endings[i]) && !strcmp(name + n - strlen(endings[i]), endings[i])) return 1;
    return 0;
}

const viewer_mode viewer_fluid = { .name = "fluid",
                                   .takes = VIEWER_TAKES(SET),
                                   .draws = 1,
                                   .opens = opens,
                                   .expects = "particles (.bgeo, .vtp, .csv, .xyz, .pts, .pcd, .ply), one file or the first of a numbered row",
                                   .work = work,
                                   .state = viewer_mode_more };
