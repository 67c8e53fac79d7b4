/* vision/rig_edit/rig_edit.c: the editor: its steps back and forth, its script, its images and cameras. docs/formats/rig-session.md. */
#include "vision/rig_edit/rig_edit.h"
#include "vision/rig_edit/rig_edit_shade.h"

#include "tessera/video.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCRIPT_MOST = 32 << 20 };

/* ---- life ---------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_rig_editor_create(tsr_context *context, const tsr_rig_editor_options *options, tsr_rig_editor **editor)
{
    TSR_RETURNS(editor);
    TSR_NEEDS(context);
    tsr_rig_editor_options o;
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    if (o.memory_limit < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "rig editor: memory_limit is %lld, expected 0 or more", (long long)o.memory_limit);
    tsr_rig_editor *e = (tsr_rig_editor *)calloc(1, sizeof *e);
    if (e) {
        e->context = context;
        e->o = o;
        e->image = (edit_image *)calloc(EDIT_CAMERAS, sizeof *e->image);
        e->tone = (tsr_shade_tone *)calloc(EDIT_CAMERAS, sizeof *e->tone);
        e->snapshot = calloc(EDIT_SNAPSHOTS, sizeof *e->snapshot);
        e->script = (char *)calloc(1, 1);
    }
    if (!e || !e->image || !e->tone || !e->snapshot || !e->script) {
        tsr_rig_editor_destroy(&e);
        TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for an editor of cameras");
    }
    *editor = e;
    return TSR_OK;
}

void tsr_rig_editor_destroy(tsr_rig_editor **editor)
{
    if (!editor || !*editor) return;
    tsr_rig_editor *e = *editor;
    *editor = NULL;
    edit_proxy_release(e);
    for (int i = 0; i < EDIT_CAMERAS; i++) {
        if (e->image) edit_image_release(&e->image[i]);
        edit_depths_release(&e->shadow[i]);
    }
    edit_depths_release(&e->seen);
    free(e->image);
    free(e->tone);
    free(e->snapshot);
    free(e->step);
    free(e->script);
    free(e);
}

/* ---- steps --------------------------------------------------------------------------------------------------------------------- */

/* The ring holds the states before `now` (undo of them), `now`'s place, and those behind it. */
static edit_state *step_at(tsr_rig_editor *e, int32_t index) { return &e->step[(e->first + index) % e->room]; }

static tsr_status room_for_step(tsr_rig_editor *e)
{
    if (e->undo + 1 < e->room) return TSR_OK;
    if (e->room == TSR_RIG_EDITOR_STEPS + 1) { /* the oldest goes */
        e->first = (e->first + 1) % e->room;
        e->undo--;
        return TSR_OK;
    }
    const int32_t room = e->room ? (2 * e->room > TSR_RIG_EDITOR_STEPS + 1 ? TSR_RIG_EDITOR_STEPS + 1 : 2 * e->room) : 32;
    edit_state *grown = (edit_state *)realloc(e->step, (size_t)room * sizeof *grown); /* before the ring is full it begins at 0 */
    if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for %d steps", room);
    e->step = grown;
    e->room = room;
    return TSR_OK;
}

/* `before` is what undo goes back to. */
static tsr_status keep_step(tsr_rig_editor *e, const edit_state *before, int continues)
{
    if (!continues || !e->undo) {
        TSR_TRY(room_for_step(e));
        *step_at(e, e->undo++) = *before;
    }
    e->redo = 0;
    return TSR_OK;
}

static tsr_status go(tsr_rig_editor *e, int back)
{
    if (back ? !e->undo : !e->redo)
        TSR_FAIL(TSR_ERROR_STATE, "%s: there is no step %s", back ? "undo" : "redo", back ? "to take back" : "that was taken back");
    *step_at(e, e->undo) = e->now; /* its own place: room for it was made with the step before */
    e->undo += back ? -1 : 1;
    e->redo += back ? 1 : -1;
    e->now = *step_at(e, e->undo);
    return TSR_OK;
}

static void begin_anew(tsr_rig_editor *e)
{
    e->undo = e->redo = e->first = 0;
    e->start = e->now;
}

static tsr_status write_line(tsr_rig_editor *e, const char *line)
{
    const size_t n = strlen(line);
    if (e->script_bytes + n + 2 > e->script_room) {
        const size_t room = 2 * (e->script_bytes + n + 2) + 4096;
        if (room > SCRIPT_MOST)
            TSR_FAIL(TSR_ERROR_STATE, "the session has %zu bytes of commands, expected at most %d: save it and begin another", e->script_bytes,
                     SCRIPT_MOST);
        char *grown = (char *)realloc(e->script, room);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for %zu bytes of a script", room);
        e->script = grown;
        e->script_room = room;
    }
    memcpy(e->script + e->script_bytes, line, n);
    memcpy(e->script + e->script_bytes + n, "\n", 2);
    e->script_bytes += n + 1;
    return TSR_OK;
}

/* ---- images and cameras -------------------------------------------------------------------------------------------------------- */

tsr_status edit_path(const tsr_rig_editor *e, const char *name, char path[4096])
{
    char error[400] = "";
    if (!e->o.path && strlen(name) < 4096) strcpy(path, name);
    else if (e->o.path && e->o.path(e->o.user, name, path, 4096, error, sizeof error)) TSR_FAIL(TSR_ERROR_IO, "%s", error);
    else if (!e->o.path) TSR_FAIL(TSR_ERROR_ARGUMENT, "a path of %zu bytes, expected fewer than 4096", strlen(name));
    return TSR_OK;
}

/* A camera that stands before the proxy's long side, half as high as far, and sees all of it. */
static void guess(const tsr_rig_editor *e, int32_t width, int32_t height, tsr_pinhole *c)
{
    const double size = e->diameter > 0 ? e->diameter : 1;
    const tsr_vec3 m = e->diameter > 0 ? (tsr_vec3){ 0.5 * (e->bounds.lower.x + e->bounds.upper.x), 0.5 * (e->bounds.lower.y + e->bounds.upper.y),
                                                     0.5 * (e->bounds.lower.z + e->bounds.upper.z) }
                                       : (tsr_vec3){ 0, 0, 0 };
    const double tilt = atan(0.5), away = 1.2 * size, eye[3] = { m.x, m.y - away * cos(tilt), m.z + away * sin(tilt) };
    *c = (tsr_pinhole){ .width = width,
                        .height = height,
                        .cx = 0.5 * width,
                        .cy = 0.5 * height,
                        .rotation = { { 1, 0, 0 }, { 0, -sin(tilt), -cos(tilt) }, { 0, cos(tilt), -sin(tilt) } } };
    c->fx = c->fy = fmin(width, height) / (2 * tan(0.4));
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) c->translation[i] -= c->rotation[i][k] * eye[k];
}

/* frame < 0: a picture, else one of a film. `camera` may be NULL. */
static tsr_status read_image(tsr_rig_editor *e, const char *name, int64_t frame, const tsr_pinhole *camera, tsr_image *image)
{
    char path[4096];
    tsr_read_options read = TSR_READ_OPTIONS;
    tsr_video_read_options film = TSR_VIDEO_READ_OPTIONS;
    tsr_video_reader *reader = NULL;
    TSR_TRY(edit_path(e, name, path));
    read.memory_limit = film.memory_limit = e->o.memory_limit;
    read.progress = film.progress = e->o.progress;
    if (frame < 0) {
        const tsr_rig_camera size = { .width = camera ? camera->width : 0, .height = camera ? camera->height : 0 };
        TSR_TRY(tsr_rig_read_image(&size, path, &read, image));
        return TSR_OK;
    }
    TSR_TRY(tsr_video_reader_create(path, &film, &reader));
    tsr_status status = TSR_OK;
    int more = 1;
    for (int64_t i = 0; status == TSR_OK && more && i <= frame; i++) status = tsr_video_reader_next(reader, image, &more);
    if (status == TSR_OK && !more) status = TSR_FAILED(TSR_ERROR_ARGUMENT, "image: %s ends before frame %lld", name, (long long)frame);
    tsr_video_reader_destroy(&reader);
    if (status != TSR_OK) tsr_image_destroy(image);
    return status;
}

static void stem_of(const char *file, char name[EDIT_NAME])
{
    const char *from = strrchr(file, '/') ? strrchr(file, '/') + 1 : file, *dot = strrchr(from, '.');
    const size_t n = dot > from ? (size_t)(dot - from) : strlen(from), keep = n < EDIT_NAME - 4 ? n : EDIT_NAME - 4;
    memcpy(name, from, keep);
    name[keep] = 0;
}

static int find_camera(const tsr_rig_editor *e, const char *name)
{
    for (int i = 0; i < e->cameras; i++)
        if (!strcmp(e->image[i].name, name)) return i;
    return -1;
}

static tsr_status add_image(tsr_rig_editor *e, const char *file, int64_t frame, const char *name, const tsr_pinhole *start)
{
    tsr_image image = { 0 };
    edit_image made = { .sizes = 0 };
    if (e->cameras == EDIT_CAMERAS) TSR_FAIL(TSR_ERROR_STATE, "image: there are %d cameras, expected at most as many", EDIT_CAMERAS);
    if (strlen(file) >= sizeof made.file)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "image: a name of %zu bytes, expected fewer than %zu", strlen(file), sizeof made.file);
    TSR_TRY(read_image(e, file, frame, start, &image));
    if (image.width < 16 || image.height < 16 || image.width > 32768 || image.height > 32768) {
        const int32_t w = image.width, h = image.height;
        tsr_image_destroy(&image);
        TSR_FAIL(TSR_ERROR_ARGUMENT, "image: %s has %d x %d pixels, expected 16 to 32768 each way", file, w, h);
    }
    tsr_pinhole c;
    const int32_t w = image.width, h = image.height;
    if (start && (start->width != w || start->height != h)) {
        tsr_image_destroy(&image);
        TSR_FAIL(TSR_ERROR_ARGUMENT, "image: %s has %d x %d pixels, its camera %d x %d, expected the same", file, w, h, start->width, start->height);
    }
    if (start) c = *start;
    else guess(e, w, h, &c);
    strcpy(made.file, file);
    if (name && *name) stem_of(name, made.name);
    else stem_of(file, made.name);
    const size_t n = strlen(made.name);
    for (int k = 2; find_camera(e, made.name) >= 0 && k < 100; k++) snprintf(made.name + n, EDIT_NAME - n, "-%d", k);
    TSR_TRY(edit_image_take(&made, &image, 4));
    const int32_t at = e->cameras++;
    e->guessed[at] = !start && !*e->proxy_name;
    e->image[at] = made;
    e->now.camera[at] = c;
    e->now.locked[at] = 0;
    e->now.condition[at] = 0;
    memset(e->now.sigma[at], 0, sizeof e->now.sigma[at]);
    memset(&e->now.tone[at], 0, sizeof e->now.tone[at]);
    e->active = at;
    return TSR_OK;
}

static tsr_status take_camera(tsr_rig_editor *e, const tsr_rig *rig, int64_t index, const char *file)
{
    tsr_rig_camera r;
    tsr_pinhole c;
    char name[EDIT_NAME];
    TSR_TRY(tsr_rig_get(rig, index, &r));
    stem_of(*r.name ? r.name : r.image, name);
    int at = find_camera(e, name);
    if (at < 0 && index < e->cameras && !*r.image) at = (int)index;
    const int32_t w = at >= 0 ? e->now.camera[at].width : r.width, h = at >= 0 ? e->now.camera[at].height : r.height;
    if (at < 0 && !*r.image)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "cameras: %s: camera '%s' names no image and is none of the %d that are here: load its image first", file, name,
                 e->cameras);
    if (at >= 0 && r.width && (r.width != w || r.height != h))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "cameras: %s: camera '%s' has pictures of %d x %d pixels, the image here %d x %d", file, name, r.width, r.height,
                 w, h);
    if (at < 0 && (w < 1 || h < 1)) { /* the file says no size: the image does */
        TSR_TRY(add_image(e, r.image, -1, *r.name ? r.name : NULL, NULL));
        at = e->cameras - 1;
        TSR_TRY(tsr_camera_to_pinhole(&r.camera, e->now.camera[at].width, e->now.camera[at].height, &c));
    } else {
        TSR_TRY(tsr_camera_to_pinhole(&r.camera, w, h, &c));
        if (at < 0) TSR_TRY(add_image(e, r.image, -1, *r.name ? r.name : NULL, &c));
        at = at < 0 ? e->cameras - 1 : at;
    }
    if (c.fisheye)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "cameras: %s: camera '%s' has a fish-eye lens, expected a pinhole with k1 to k6, p1, p2", file, name);
    e->now.camera[at] = c;
    e->guessed[at] = 0;
    return TSR_OK;
}

static tsr_status load_cameras(tsr_rig_editor *e, const char *file)
{
    char path[4096];
    tsr_rig *rig = NULL;
    tsr_rig_read_options read = TSR_RIG_READ_OPTIONS;
    read.memory_limit = e->o.memory_limit;
    read.progress = e->o.progress;
    TSR_TRY(edit_path(e, file, path));
    TSR_TRY(tsr_rig_read(path, &read, &rig));
    tsr_status status = TSR_OK;
    const int32_t before = e->cameras;
    for (int64_t i = 0; i < tsr_rig_count(rig) && status == TSR_OK; i++) status = take_camera(e, rig, i, file);
    if (status == TSR_OK && !*e->proxy_name) { /* depth images are a proxy, too */
        tsr_rig_camera r;
        int depths = 0;
        for (int64_t i = 0; i < tsr_rig_count(rig); i++) depths |= tsr_rig_get(rig, i, &r) == TSR_OK && *r.depth;
        if (depths) status = edit_proxy_depth(e, rig);
    }
    tsr_rig_destroy(&rig);
    if (status != TSR_OK)
        while (e->cameras > before) edit_image_release(&e->image[--e->cameras]);
    return status;
}

/* ---- lines --------------------------------------------------------------------------------------------------------------------- */

static tsr_status choose(tsr_rig_editor *e, const edit_words *w)
{
    double index = 0;
    TSR_TRY(edit_counts(w, 1, 1, "camera NUMBER"));
    TSR_TRY(edit_number(w, 1, "camera", 0, e->cameras - 1, &index));
    if (index != floor(index)) TSR_FAIL(TSR_ERROR_ARGUMENT, "camera: %g, expected a whole number", index);
    e->active = (int32_t)index;
    return TSR_OK;
}

static int snapshot_named(const tsr_rig_editor *e, const char *name)
{
    for (int i = 0; i < e->snapshots; i++)
        if (!strcmp(e->snapshot[i].name, name)) return i;
    return -1;
}

static tsr_status keep_snapshot(tsr_rig_editor *e, const edit_words *w)
{
    TSR_TRY(edit_counts(w, 1, 1, "snapshot NAME"));
    if (strlen(w->word[1]) >= EDIT_NAME)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "snapshot: a name of %zu bytes, expected fewer than %d", strlen(w->word[1]), EDIT_NAME);
    int at = snapshot_named(e, w->word[1]);
    if (at < 0 && e->snapshots == EDIT_SNAPSHOTS)
        TSR_FAIL(TSR_ERROR_STATE, "snapshot: there are %d, expected at most as many: use a name again", EDIT_SNAPSHOTS);
    if (at < 0) at = e->snapshots++;
    strcpy(e->snapshot[at].name, w->word[1]);
    e->snapshot[at].state = e->now;
    return TSR_OK;
}

static tsr_status restore(tsr_rig_editor *e, const edit_words *w)
{
    TSR_TRY(edit_counts(w, 1, 1, "restore NAME"));
    const int at = snapshot_named(e, w->word[1]);
    if (at < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "restore: there is no snapshot '%s'", w->word[1]);
    e->now = e->snapshot[at].state;
    return TSR_OK;
}

/* What begins anew: undo does not go behind it. Snapshots of other images would not fit. */
static tsr_status load(tsr_rig_editor *e, const edit_words *w, int *known)
{
    const char *what = w->word[0];
    double frame = -1;
    *known = 1;
    if (!strcmp(what, "proxy")) {
        TSR_TRY(edit_counts(w, 1, 1, "proxy pitch, or a file"));
        TSR_TRY(edit_proxy_load(e, w->word[1]));
        for (int i = 0; i < e->cameras; i++) {
            if (e->guessed[i] && !e->undo && !e->redo) guess(e, e->now.camera[i].width, e->now.camera[i].height, &e->now.camera[i]);
            e->guessed[i] = 0;
        }
    } else if (!strcmp(what, "image")) {
        TSR_TRY(edit_counts(w, 1, 2, "image FILE [FRAME]"));
        if (w->count > 2) TSR_TRY(edit_number(w, 2, "image: frame", 0, 1e9, &frame));
        TSR_TRY(add_image(e, w->word[1], (int64_t)frame, NULL, NULL));
        e->snapshots = 0;
    } else if (!strcmp(what, "cameras")) {
        TSR_TRY(edit_counts(w, 1, 1, "cameras FILE"));
        TSR_TRY(load_cameras(e, w->word[1]));
        e->snapshots = 0;
    } else {
        *known = 0;
        return TSR_OK;
    }
    begin_anew(e);
    return TSR_OK;
}

static tsr_status other(tsr_rig_editor *e, const edit_words *w, int *known)
{
    const char *what = w->word[0];
    *known = 1;
    if (!strcmp(what, "undo") || !strcmp(what, "redo")) {
        TSR_TRY(edit_counts(w, 0, 0, what));
        TSR_TRY(go(e, *what == 'u'));
    } else if (!strcmp(what, "camera")) {
        TSR_TRY(choose(e, w));
    } else if (!strcmp(what, "snapshot")) {
        TSR_TRY(keep_snapshot(e, w));
    } else if (!strcmp(what, "rig")) {
        TSR_TRY(edit_counts(w, 1, 1, "rig on or off"));
        if (strcmp(w->word[1], "on") && strcmp(w->word[1], "off")) TSR_FAIL(TSR_ERROR_ARGUMENT, "rig: '%s', expected on or off", w->word[1]);
        e->rig = !strcmp(w->word[1], "on");
    } else {
        *known = 0;
    }
    return TSR_OK;
}

static tsr_status step(tsr_rig_editor *e, const edit_words *w, const edit_state *before)
{
    int known = 1;
    if (!strcmp(w->word[0], "restore")) TSR_TRY(restore(e, w));
    else TSR_TRY(edit_command(e, w, &known));
    if (!known)
        TSR_FAIL(TSR_ERROR_ARGUMENT,
                 "'%.40s' is no command, expected turn, move, shift, orbit, set, add, dolly, lock, pair, line, solve, vanish, refine, match, ... "
                 "(docs/formats/rig-session.md)",
                 w->word[0]);
    TSR_TRY(keep_step(e, before, w->continues));
    return TSR_OK;
}

tsr_status tsr_rig_editor_run(tsr_rig_editor *e, const char *line)
{
    TSR_NEEDS(e, line);
    edit_words words;
    int known = 0;
    TSR_TRY(edit_split(line, &words));
    if (!words.count) return TSR_OK;
    edit_state *before = (edit_state *)malloc(sizeof *before);
    if (!before) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for a step");
    *before = e->now;
    const int32_t active = e->active;
    tsr_status status = load(e, &words, &known);
    if (status == TSR_OK && !known) status = other(e, &words, &known);
    if (status == TSR_OK && !known) status = step(e, &words, before);
    if (status == TSR_OK) status = write_line(e, line);
    else {
        e->now = *before;
        e->active = active;
    }
    free(before);
    return status;
}

const char *tsr_rig_editor_script(const tsr_rig_editor *e) { return e ? e->script : ""; }

tsr_status tsr_rig_editor_get_info(const tsr_rig_editor *e, tsr_rig_editor_info *info)
{
    TSR_NEEDS(e, info);
    const tsr_rig_editor_info own = { .cameras = e->cameras,
                                      .active = e->active,
                                      .pairs = e->now.pairs,
                                      .lines = e->now.lines,
                                      .undo = e->undo,
                                      .redo = e->redo,
                                      .snapshots = e->snapshots,
                                      .rig = e->rig,
                                      .bounds = e->bounds,
                                      .diameter = e->diameter,
                                      .proxy = e->proxy_name };
    return TSR_STRUCT_GIVE(info, &own);
}

const char *tsr_rig_editor_camera_name(const tsr_rig_editor *e, int32_t index)
{
    return e && index >= 0 && index < e->cameras ? e->image[index].name : NULL;
}

const char *tsr_rig_editor_snapshot_name(const tsr_rig_editor *e, int32_t index)
{
    return e && index >= 0 && index < e->snapshots ? e->snapshot[index].name : NULL;
}

tsr_status tsr_rig_editor_get_rig(const tsr_rig_editor *e, tsr_rig **rig)
{
    TSR_RETURNS(rig);
    TSR_NEEDS(e);
    tsr_status status;
    TSR_TRY(tsr_rig_create(rig));
    for (int i = 0; i < e->cameras; i++) {
        tsr_rig_camera c = { .name = e->image[i].name,
                             .image = e->image[i].file,
                             .width = e->now.camera[i].width,
                             .height = e->now.camera[i].height,
                             .frame = TSR_RIG_STATIC };
        TSR_TRY_GOTO(tsr_camera_from_pinhole(&e->now.camera[i], &c.camera), fail);
        TSR_TRY_GOTO(tsr_rig_add(*rig, &c), fail);
    }
    return TSR_OK;
fail:
    tsr_rig_destroy(rig);
    return status;
}
