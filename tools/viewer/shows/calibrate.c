/* viewer/shows/calibrate.c: the mode `calibrate`: cameras fitted by hand to a proxy. Every edit is a line of a session (docs/formats/rig-session.md), which
 * the library's editor runs; what is only of this page (half a pair, the point to turn about, the loupe) are the lines that begin with @. */
#include "calibrate.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double snap_pixels = 12, top_degrees = 2;
static const char *const blends[] = { "alpha", "checker", "stripes", "difference", "edges", "onion" };

static calibrate *calibrate_of(const viewer_show *show) { return (calibrate *)show->own; }

int calibrate_box(viewer_show *show, const char *name)
{
    const calibrate *c = calibrate_of(show);
    tsr_rig_editor_info info = TSR_RIG_EDITOR_INFO;
    if (tsr_rig_editor_get_info(c->editor, &info) != TSR_OK || !(info.diameter > 0)) info.bounds = (tsr_box){ { -1, -1, -1 }, { 1, 1, 1 } };
    return viewer_show_box(show, name, info.bounds);
}

/* ---- panes ------------------------------------------------------------------------------------------------------------------------ */

/* Straight down on the proxy, y upwards in the picture, from so far that heights hardly matter. */
static tsr_status look_down(const viewer_show *show, const viewer_look *look, double aspect, tsr_camera *camera)
{
    const tsr_box b = show->s->image->bounds;
    const double high = fmax(b.upper.y - b.lower.y, (b.upper.x - b.lower.x) / aspect) * 1.15 / look->zoom,
                 away = 0.5 * high / tan(top_degrees / 2 * (3.14159265358979323846 / 180));
    const tsr_vec3 at = { 0.5 * (b.lower.x + b.upper.x) - look->pan[0], 0.5 * (b.lower.y + b.upper.y) + look->pan[1], 0 };
    *camera = (tsr_camera){ .projection = TSR_PERSPECTIVE, .fov = top_degrees };
    return tsr_camera_look_at(camera, (tsr_vec3){ at.x, at.y, b.upper.z + away }, at, (tsr_vec3){ 0, 1, 0 });
}

static tsr_status pane_of(const viewer_show *show, int view, const viewer_look *look, int32_t width, int32_t height, tsr_rig_pane *pane, float *pixel)
{
    const calibrate *c = calibrate_of(show);
    tsr_status status = TSR_OK;
    *pane = (tsr_rig_pane)TSR_RIG_PANE;
    pane->from_camera = view == VIEWER_SOURCE || view == VIEWER_SECOND;
    pane->before = view == VIEWER_SECOND;
    pane->zoom = look->zoom;
    memcpy(pane->pan, look->pan, sizeof pane->pan);
    pane->blend = (tsr_rig_blend)c->blend;
    pane->mix = c->mix;
    pane->no_lines = !c->lines;
    pane->no_shadow = !c->shadow;
    if (c->loupe[2] == view + 1) memcpy(pane->loupe, c->loupe, sizeof pane->loupe);
    if (pane->from_camera) {
        tsr_rig_editor_info info = TSR_RIG_EDITOR_INFO;
        tsr_rig_editor_camera camera = TSR_RIG_EDITOR_CAMERA;
        status = tsr_rig_editor_get_info(c->editor, &info);
        if (status == TSR_OK && !info.cameras) return TSR_ERROR_CANCELLED; /* nothing to see yet */
        if (status == TSR_OK) status = tsr_rig_editor_get_camera(c->editor, info.active, &camera);
        if (status == TSR_OK) *pixel = (float)(fmax((double)camera.pinhole.width / width, (double)camera.pinhole.height / height) / look->zoom);
    } else if (view == VIEWER_THIRD) {
        status = look_down(show, look, (double)width / height, &pane->view);
        const double away = pane->view.position.z - show->s->image->bounds.lower.z;
        *pixel = (float)(2 * away * tan(top_degrees / 2 * (3.14159265358979323846 / 180)) / height);
    } else {
        status = viewer_show_camera(show, look, &pane->view);
    }
    return status;
}

static tsr_status draw(viewer_show *show, const viewer_look *look, int32_t width, int32_t height, int draft, tsr_image *image, float *pixel)
{
    tsr_rig_editor_info info = TSR_RIG_EDITOR_INFO;
    tsr_rig_pane pane;
    (void)draft;
    tsr_status status = tsr_rig_editor_get_info(calibrate_of(show)->editor, &info);
    if (status == TSR_OK && !*info.proxy && show->view != VIEWER_SOURCE && show->view != VIEWER_SECOND)
        return tsr_image_create(width, height, 3, image); /* no proxy yet */
    if (status == TSR_OK) status = pane_of(show, show->view, look, width, height, &pane, pixel);
    if (status == TSR_ERROR_CANCELLED) return tsr_image_create(width, height, 3, image);
    return status == TSR_OK ? tsr_rig_editor_draw(calibrate_of(show)->editor, &pane, width, height, image) : status;
}

/* ---- what the page does ------------------------------------------------------------------------------------------------------------- */

static int fail(viewer_show *show, char *error, size_t error_bytes)
{
    viewer_take_message(show->s, error, error_bytes);
    return -1;
}

static int run_line(viewer_show *show, const char *line, char *error, size_t error_bytes)
{
    calibrate *c = calibrate_of(show);
    tsr_rig_editor_info before = TSR_RIG_EDITOR_INFO, now = TSR_RIG_EDITOR_INFO;
    char remarks[1024];
    if (!c->editor && calibrate_editor(show, &c->editor) != TSR_OK) return fail(show, error, error_bytes);
    if (tsr_rig_editor_get_info(c->editor, &before) != TSR_OK) return fail(show, error, error_bytes);
    char *proxy = strdup(before.proxy);
    const tsr_status status = tsr_rig_editor_run(c->editor, line);
    tsr_remarks_take(remarks, sizeof remarks);
    int done = status == TSR_OK ? 1 : fail(show, error, error_bytes);
    if (done > 0 && *remarks) viewer_session_tell(show->s, "warning", "%s", remarks);
    if (done > 0 && tsr_rig_editor_get_info(c->editor, &now) == TSR_OK && (!proxy || strcmp(proxy, now.proxy))) {
        if (calibrate_box(show, *show->name ? show->name : now.proxy)) done = -1;
        if (!*show->name) snprintf(show->name, sizeof show->name, "%.100s", now.proxy);
    } else if (done > 0 && !*show->name && now.cameras) {
        snprintf(show->name, sizeof show->name, "session");
        calibrate_box(show, show->name);
    }
    free(proxy);
    return done;
}

/* What lies under a place of a window: fractions of it. 0, or -1 with a message. */
static int under(viewer_show *show, int view, double x, double y, double pixel[2], tsr_vec3 *point, int *found, char *error, size_t error_bytes)
{
    viewer_session *s = show->s;
    const calibrate *c = calibrate_of(show);
    tsr_rig_pane pane;
    float unit;
    pthread_mutex_lock(&s->lock);
    const viewer_look look = s->look[view];
    pthread_mutex_unlock(&s->lock);
    *found = 0;
    if (!c->editor || !s->image || look.width < 16 || look.height < 16) {
        snprintf(error, error_bytes, "the window shows nothing yet");
        return -1;
    }
    if (pane_of(show, view, &look, look.width, look.height, &pane, &unit) != TSR_OK) return fail(show, error, error_bytes);
    const double at[2] = { x * look.width, y * look.height };
    if (tsr_rig_editor_pick(c->editor, &pane, look.width, look.height, at, view == VIEWER_SOURCE || view == VIEWER_SECOND ? 0 : snap_pixels, pixel,
                            point, found) == TSR_OK)
        return 0;
    return fail(show, error, error_bytes);
}

/* Both halves are there: a pair. */
static int pair_if_whole(viewer_show *show, char *error, size_t error_bytes)
{
    calibrate *c = calibrate_of(show);
    char line[256];
    if (!c->has_point || !c->has_pixel) return 1;
    c->has_point = c->has_pixel = 0;
    snprintf(line, sizeof line, "pair %.9g %.9g %.9g %.9g %.9g", c->point.x, c->point.y, c->point.z, c->pixel[0], c->pixel[1]);
    return run_line(show, line, error, error_bytes);
}

/* @pair WINDOW X Y: half of a pair; @pivot WINDOW X Y; @line AXIS X Y X Y, of the camera's window; @loupe WINDOW X Y, @loupe off; @drop: half a pair. */
static int own_line(viewer_show *show, const char *line, char *error, size_t error_bytes)
{
    calibrate *c = calibrate_of(show);
    char what[16] = "", view_name[16] = "";
    double x = 0, y = 0, u = 0, v = 0, pixel[2], end[2];
    tsr_vec3 point;
    int view = 0, found;
    const int n = sscanf(line, "@%15s %15s %lf %lf %lf %lf", what, view_name, &x, &y, &u, &v);
    while (view < VIEWER_VIEWS && strcmp(viewer_view_name(view), view_name)) view++;
    const int place = n == 4 && view < VIEWER_VIEWS && x >= 0 && x <= 1 && y >= 0 && y <= 1;
    if (!strcmp(what, "drop")) {
        c->has_point = c->has_pixel = 0;
        return 1;
    }
    if (!strcmp(what, "loupe") && (place || !strcmp(view_name, "off"))) {
        const double at[3] = { place ? fmax(x, 1e-6) : 0, place ? fmax(y, 1e-6) : 0, place ? view + 1 : 0 };
        memcpy(c->loupe, at, sizeof at);
        return 1;
    }
    if (!strcmp(what, "line") && n == 6 && x >= 0 && x <= 1 && y >= 0 && y <= 1 && u >= 0 && u <= 1 && v >= 0 && v <= 1) {
        char text[256];
        if (under(show, VIEWER_SOURCE, x, y, pixel, &point, &found, error, error_bytes) ||
            under(show, VIEWER_SOURCE, u, v, end, &point, &found, error, error_bytes))
            return -1;
        snprintf(text, sizeof text, "line %s %.9g %.9g %.9g %.9g", view_name, pixel[0], pixel[1], end[0], end[1]);
        return run_line(show, text, error, error_bytes);
    }
    if (place && (!strcmp(what, "pair") || !strcmp(what, "pivot"))) {
        if (under(show, view, x, y, pixel, &point, &found, error, error_bytes)) return -1;
        if (!strcmp(what, "pair") && (view == VIEWER_SOURCE || view == VIEWER_SECOND)) {
            memcpy(c->pixel, pixel, sizeof pixel);
            c->has_pixel = 1;
            return pair_if_whole(show, error, error_bytes);
        }
        if (!found) {
            snprintf(error, error_bytes, "the proxy is not there");
            return -1;
        }
        if (*what == 'p' && what[1] == 'i') c->pivot = point, c->has_pivot = 1;
        else c->point = point, c->has_point = 1;
        return pair_if_whole(show, error, error_bytes);
    }
    snprintf(error, error_bytes, "'%.60s': expected @pair, @pivot or @loupe WINDOW X Y, @line AXIS X Y X Y, @drop", line);
    return -1;
}

/* What can be taken back, and whether there is work that is in no file. */
static void count_steps(viewer_show *show)
{
    const calibrate *c = calibrate_of(show);
    tsr_rig_editor_info info = TSR_RIG_EDITOR_INFO;
    if (!c->editor || tsr_rig_editor_get_info(c->editor, &info) != TSR_OK) return;
    show->undo = info.undo;
    show->redo = info.redo;
    show->unsaved = strlen(tsr_rig_editor_script(c->editor)) != c->saved;
}

static int act(viewer_show *show, const viewer_command *command, char *error, size_t error_bytes)
{
    int done = 0;
    if (command->kind == VIEWER_SAVE) return calibrate_save(show, command, error, error_bytes);
    if (command->kind == VIEWER_EDIT)
        done = *command->line == '@' ? own_line(show, command->line, error, error_bytes) : run_line(show, command->line, error, error_bytes);
    else if (command->kind == VIEWER_UNDO || command->kind == VIEWER_REDO)
        done = run_line(show, command->kind == VIEWER_UNDO ? "undo" : "redo", error, error_bytes);
    else if (command->kind == VIEWER_PAUSE) done = 1; /* what was at work has seen it already */
    if (done > 0) show->version++;
    count_steps(show);
    return done;
}

static int set(viewer_show *show, const char *name, double value, char *error, size_t error_bytes)
{
    calibrate *c = calibrate_of(show);
    if (!strcmp(name, "blend") && value >= 0 && value <= 5 && value == floor(value)) c->blend = (int)value;
    else if (!strcmp(name, "mix") && value >= 0 && value <= 1) c->mix = value;
    else if (!strcmp(name, "lines")) c->lines = value > 0;
    else if (!strcmp(name, "shadow")) c->shadow = value > 0;
    else {
        snprintf(error, error_bytes, "set: expected blend (0 to 5), mix (0 to 1), lines or shadow");
        return -1;
    }
    show->version++;
    return 0;
}

/* ---- what pages are told ------------------------------------------------------------------------------------------------------------ */

static json_t *number(double v)
{
    return isfinite(v) ? json_pack("f", v) : json_null(); /* json_real is the name of another function in the command line */
}

static json_t *list_of(const double *v, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(list, number(v[i]));
    return list;
}

static void add_camera(tsr_rig_editor *e, int32_t index, json_t *json)
{
    tsr_rig_editor_camera c = TSR_RIG_EDITOR_CAMERA;
    if (tsr_rig_editor_get_camera(e, index, &c) != TSR_OK) return;
    json_object_set_new(json, "value", list_of(c.value, TSR_RIG_PARAMETERS));
    json_object_set_new(json, "sigma", list_of(c.sigma, TSR_RIG_PARAMETERS));
    json_object_set_new(json, "locked", json_integer((json_int_t)c.locked));
    json_object_set_new(json, "extents", json_pack("[i, i]", (int)c.pinhole.width, (int)c.pinhole.height));
    json_object_set_new(json, "own_pairs", json_integer(c.pairs));
    json_object_set_new(json, "pair_rms", number(c.pair_rms));
    json_object_set_new(json, "edge", c.edge < 0 ? json_null() : number(c.edge));
    json_object_set_new(json, "difference", c.difference < 0 ? json_null() : number(c.difference));
    json_object_set_new(json, "condition", number(c.condition));
    json_object_set_new(json, "gain", list_of(c.gain, 3));
    json_object_set_new(json, "response", number(c.response));
    json_object_set_new(json, "vignetting", list_of(c.vignetting, 2));
}

static json_t *state(const viewer_show *show)
{
    const calibrate *c = calibrate_of(show);
    tsr_rig_editor_info info = TSR_RIG_EDITOR_INFO;
    json_t *names = json_array(), *kept = json_array();
    json_t *json =
        json_pack("{s:s, s:f, s:b, s:b, s:i, s:o, s:o}", "blend", blends[c->blend], "mix", c->mix, "lines", c->lines, "shadow", c->shadow, "pending",
                  c->has_point   ? 1
                  : c->has_pixel ? 2
                                 : 0,
                  "names", names, "kept", kept);
    if (!json || !c->editor || tsr_rig_editor_get_info(c->editor, &info) != TSR_OK) return json;
    for (int32_t i = 0; i < info.cameras; i++) {
        char name[64] = "";
        if (i == info.active) add_camera(c->editor, i, json);
        snprintf(name, sizeof name, "%s", tsr_rig_editor_camera_name(c->editor, i));
        viewer_make_utf8(name);
        json_array_append_new(names, json_string(name));
    }
    for (int32_t i = 0; i < info.snapshots; i++) json_array_append_new(kept, json_string(tsr_rig_editor_snapshot_name(c->editor, i)));
    json_object_set_new(json, "proxy", json_string(info.proxy));
    json_object_set_new(json, "active", json_integer(info.active));
    json_object_set_new(json, "rig", json_boolean(info.rig));
    json_object_set_new(json, "pairs", json_integer(info.pairs));
    json_object_set_new(json, "vanishing", json_integer(info.lines));
    json_object_set_new(json, "diameter", number(info.diameter));
    if (c->has_pivot) json_object_set_new(json, "pivot", json_pack("[f, f, f]", c->pivot.x, c->pivot.y, c->pivot.z));
    return json;
}

static void clear(viewer_show *show)
{
    calibrate *c = calibrate_of(show);
    tsr_rig_editor_destroy(&c->editor);
}

static int load(viewer_show *show, const char *path, const char *name, char *error, size_t error_bytes)
{
    calibrate *c = calibrate_of(show);
    if (!c->editor && c->blend == 0 && !c->lines) c->lines = c->shadow = 1, c->mix = 0.5; /* as a session begins */
    const int failed = calibrate_load(show, path, name, error, error_bytes);
    count_steps(show);
    return failed;
}

static const viewer_show_table table = { .bytes = sizeof(calibrate),
                                         .drafts = 1,
                                         .views = 1u << VIEWER_SOURCE | 1u << VIEWER_SECOND | 1u << VIEWER_THIRD | 1u << VIEWER_VOLUME,
                                         .act = act,
                                         .load = load,
                                         .set = set,
                                         .draw = draw,
                                         .state = state,
                                         .clear = clear };

static void *work(void *session) { return viewer_show_run((viewer_session *)session, &table); }

const viewer_mode viewer_calibrate = {
    .name = "calibrate",
    .takes = VIEWER_TAKES(SET) | VIEWER_TAKES(EDIT) | VIEWER_TAKES(PAUSE),
    .draws = 1,
    .opens = calibrate_opens,
    .begins = calibrate_begins,
    .expects = "a session (.calib), a picture (.png, .jpg) or film, a proxy (.ply, .obj, .stl, .off, .csv) or cameras (.geoscene, .yml, .json)",
    .work = work,
    .state = viewer_mode_more
};
