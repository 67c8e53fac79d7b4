/* viewer/shows/cameras.c: the mode `cameras`: a rig as pyramids with the points that came with it; the view through any of them, and a flight from one to the next. */
#include "show.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "rig_file.h"

static const double most_rate = 10;
enum { MOST_POINTS = 200000 };

struct cameras {
    tsr_rig *rig;
    int64_t count, chosen;
    double extent, size, rate, flown, before; /* size: of pyramids, share of the extent; flown: place of the flight, in cameras */
    int through, points, path, flying;
};

static struct cameras *cameras_of(const viewer_show *show) { return (struct cameras *)show->own; }

static void forget(struct cameras *c) { tsr_rig_destroy(&c->rig); }

static void widen(tsr_box *b, tsr_vec3 p)
{
    b->lower = (tsr_vec3){ fmin(b->lower.x, p.x), fmin(b->lower.y, p.y), fmin(b->lower.z, p.z) };
    b->upper = (tsr_vec3){ fmax(b->upper.x, p.x), fmax(b->upper.y, p.y), fmax(b->upper.z, p.z) };
}

static int load(viewer_show *show, const char *path, const char *name, char *error, size_t error_bytes)
{
    struct cameras made = { .size = 0.06, .rate = 1, .points = 1 };
    (void)path;
    if (viewer_rig_read(show->s, name, &made.rig, error, error_bytes)) return -1;
    made.count = tsr_rig_count(made.rig);
    tsr_box b = { { HUGE_VAL, HUGE_VAL, HUGE_VAL }, { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL } };
    const tsr_rig_point *points;
    const int64_t n = tsr_rig_points(made.rig, &points);
    for (int64_t i = 0; i < made.count; i++) {
        tsr_rig_camera camera;
        if (tsr_rig_get(made.rig, i, &camera) == TSR_OK) widen(&b, camera.camera.position);
    }
    for (int64_t i = 0; i < n; i++) widen(&b, (tsr_vec3){ points[i].position[0], points[i].position[1], points[i].position[2] });
    made.extent = sqrt(pow(b.upper.x - b.lower.x, 2) + pow(b.upper.y - b.lower.y, 2) + pow(b.upper.z - b.lower.z, 2));
    if (!(made.extent > 0 && isfinite(made.extent))) made.extent = 1; /* one camera */
    const double margin = 0.08 * made.extent;
    b.lower = (tsr_vec3){ b.lower.x - margin, b.lower.y - margin, b.lower.z - margin };
    b.upper = (tsr_vec3){ b.upper.x + margin, b.upper.y + margin, b.upper.z + margin };
    if (viewer_show_box(show, name, b)) {
        forget(&made);
        snprintf(error, error_bytes, "%s: out of memory", name);
        return -1;
    }
    forget(cameras_of(show));
    *cameras_of(show) = made;
    return 0;
}

static int set(viewer_show *show, const char *name, double value, char *error, size_t error_bytes)
{
    struct cameras *c = cameras_of(show);
    if (!strcmp(name, "camera") && value >= 0 && value == floor(value) && value < (double)(c->count > 0 ? c->count : 1)) {
        c->chosen = (int64_t)value;
        c->flown = value;
    } else if (!strcmp(name, "through")) {
        c->through = value > 0;
        c->flown = (double)c->chosen;
    } else if (!strcmp(name, "flying")) {
        c->flying = value > 0;
        c->through |= c->flying;
        c->before = viewer_seconds();
    } else if (!strcmp(name, "rate") && value >= 0.05 && value <= most_rate) {
        c->rate = value;
    } else if (!strcmp(name, "size") && value >= 0.001 && value <= 1) {
        c->size = value;
    } else if (!strcmp(name, "points")) {
        c->points = value > 0;
    } else if (!strcmp(name, "path")) {
        c->path = value > 0;
    } else {
        snprintf(error, error_bytes,
                 "set: expected camera from 0 to %lld, through, flying, rate from 0.05 to %.0f, size from 0.001 to 1, points or path",
                 (long long)(c->count > 0 ? c->count - 1 : 0), most_rate);
        return -1;
    }
    show->version++;
    return 0;
}

static double go_on(viewer_show *show, double now)
{
    struct cameras *c = cameras_of(show);
    if (!c->flying || c->count < 2) return 1e9;
    c->flown += fmin(now - c->before, 0.2) * c->rate;
    c->before = now;
    while (c->flown >= (double)c->count) c->flown -= (double)c->count;
    const int64_t chosen = (int64_t)c->flown;
    if (chosen != c->chosen) show->state_dirty = 1;
    c->chosen = chosen;
    show->version++;
    return 0.02;
}

/* Between two cameras, the last and the first too. */
static tsr_status between(const struct cameras *c, tsr_camera *camera)
{
    const int64_t i = (int64_t)floor(c->flown) % c->count;
    tsr_rig_camera a, b;
    tsr_status status = tsr_rig_get(c->rig, i, &a);
    if (status == TSR_OK) status = tsr_rig_get(c->rig, (i + 1) % c->count, &b);
    if (status == TSR_OK) status = tsr_camera_between(&a.camera, &b.camera, c->flown - floor(c->flown), camera);
    if (status != TSR_OK) return status;
    camera->aspect = 0;
    camera->lens = (tsr_lens){ 0 };
    if (!(camera->fov > 1 && camera->fov < 170)) camera->fov = 50; /* orthographic ones have none */
    return TSR_OK;
}

static tsr_status draw(viewer_show *show, const viewer_look *look, int32_t width, int32_t height, int draft, tsr_image *image, float *pixel)
{
    static const uint8_t plain[3] = { 120, 190, 255 }, chosen[3] = { 255, 205, 60 }, way[3] = { 120, 126, 138 };
    const struct cameras *c = cameras_of(show);
    viewer_canvas canvas = { .depth = NULL };
    tsr_camera camera;
    tsr_rig_camera one, before = { .name = NULL };
    const tsr_rig_point *points;
    (void)pixel;
    (void)draft;
    tsr_status status = c->through ? between(c, &camera) : viewer_show_camera(show, look, &camera);
    if (status == TSR_OK) status = viewer_canvas_begin(&canvas, &camera, width, height, image);
    const double thick = 0.0012 * c->extent;
    const int64_t n = c->points ? tsr_rig_points(c->rig, &points) : 0, step = n / MOST_POINTS + 1;
    for (int64_t i = 0; status == TSR_OK && i < n; i += step) {
        const tsr_vec3 p = { points[i].position[0], points[i].position[1], points[i].position[2] };
        viewer_canvas_line(&canvas, p, p, thick, points[i].color);
    }
    for (int64_t i = 0; status == TSR_OK && i < c->count; i++) {
        if ((status = tsr_rig_get(c->rig, i, &one)) != TSR_OK) break;
        if (!c->through || fabs((double)i - c->flown) > 0.75)
            viewer_canvas_frustum(&canvas, &one, c->size * c->extent, i == c->chosen ? 2 * thick : thick, i == c->chosen ? chosen : plain);
        if (c->path && i) viewer_canvas_line(&canvas, before.camera.position, one.camera.position, 0.7 * thick, way);
        before = one;
    }
    viewer_canvas_end(&canvas);
    return status;
}

static json_t *state(const viewer_show *show)
{
    const struct cameras *c = cameras_of(show);
    const tsr_rig_point *points;
    tsr_rig_camera one = { .name = "" };
    char name[VIEWER_NAME_BYTES];
    if (c->rig && tsr_rig_get(c->rig, c->chosen, &one) != TSR_OK) one = (tsr_rig_camera){ .name = "" };
    snprintf(name, sizeof name, "%s", one.name ? one.name : "");
    viewer_make_utf8(name);
    return json_pack("{s:I, s:I, s:b, s:b, s:f, s:f, s:b, s:b, s:s, s:f, s:[i, i], s:I}", "cameras", (json_int_t)c->count, "camera",
                     (json_int_t)c->chosen, "through", c->through, "flying", c->flying, "rate", c->rate, "size", c->size, "points", c->points, "path",
                     c->path, "name", name, "fov", one.camera.fov, "extents", (int)one.width, (int)one.height, "scene_points",
                     (json_int_t)(c->rig ? tsr_rig_points(c->rig, &points) : 0));
}

static void clear(viewer_show *show) { forget(cameras_of(show)); }

static const viewer_show_table table = {
    .bytes = sizeof(struct cameras), .load = load, .set = set, .draw = draw, .go_on = go_on, .state = state, .clear = clear
};

static void *work(void *session) { return viewer_show_run((viewer_session *)session, &table); }

static int opens(const char *name) { return viewer_rig_format(name) != NULL; }

const viewer_mode viewer_cameras = {
    .name = "cameras", .takes = VIEWER_TAKES(SET), .draws = 1, .opens = opens, .expects = VIEWER_RIG_EXPECTS, .work = work, .state = viewer_mode_more
};
