/* viewer/painter.c: the thread that draws the windows. It draws what a page is ready for, the window under the hand first, small and coarse while things
 * move, in full when they rest. */
#include "draw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"

static const double budget[VIEWER_VIEWS] = { 0.008, 0.008, 0.024, 0.008, 0.008 }; /* seconds of a draft */
/* Refining must not be felt: the longer things rest, the longer it may take. */
static const struct {
    double rest, most;
} patience[] = { { 0.25, 0.15 }, { 0.8, 0.5 }, { 2, 2 }, { 5, 10 } };
enum { PATIENCE = sizeof patience / sizeof *patience };
enum {
    DRAFT_QUALITY = 82,
    FINAL_QUALITY = 92,
    SCALES = 16,
    FIRST = 256,
    SAID = 4
};                                                                             /* FIRST: pixels a side of a window's first draft; SAID: complaints */
static const double least_scale[VIEWER_VIEWS] = { 0.5, 0.5, 0.125, 0.5, 0.5 }; /* a thin contour must stay visible */
static const double most_coarse = 2;                                           /* steps twice as long where even the least scale takes too long */
static const double most_jump = 4;                                             /* radii between two places of a stroke in the 3-D window */
static const double final_cost = 4; /* a sample of a final picture with its occlusion, times one of a draft */

struct window {
    uint64_t look_version, data_version; /* that were drawn last */
    int draft;
    double drawn, scale; /* when; draft pixels per pixel */
    double rested;       /* since when nothing changed */
    double coarse;       /* of drafts that are too slow at the least scale */
    double shown, cost;  /* scale of the picture that is shown; seconds of a draft at scale 1 */
    double pixels;       /* of the window, then */
};

struct painter {
    viewer_session *s;
    viewer_drawer d;
    viewer_saver *saver; /* NULL: no picture is being saved */
    double steps;
    uint32_t surface_input;
    uint64_t image_version, data_version;
    uint64_t said_version; /* of the image that was complained about, and the last different words */
    uint32_t said_count;
    char said[SAID][512];
    struct window window[VIEWER_WINDOWS]; /* as those of the session */
    uint64_t overlay_version, labels_version;
    int32_t over; /* what slices show over the image */
    struct {
        float *depth; /* of the surface as it was when a stroke in the 3-D window began: it does not climb what it paints. NULL: no stroke */
        int32_t width, height;
        uint64_t look_version, image_version;
        tsr_camera camera;
        tsr_vec3 normal, last; /* last: where the ray before met something */
        double offset;
        int met, begun; /* begun: something of it was done */
    } stroke;
};

/* The same words once per image, not with every picture. */
static void complain(struct painter *p)
{
    const char *words = tsr_error_message();
    if (p->said_version != p->image_version) p->said_count = 0;
    p->said_version = p->image_version;
    for (uint32_t i = 0; i < SAID && i < p->said_count; i++)
        if (!strncmp(p->said[i], words, sizeof p->said[i] - 1)) return;
    snprintf(p->said[p->said_count++ % SAID], sizeof p->said[0], "%s", words);
    viewer_session_tell(p->s, "error", "%s", words);
}

/* ---- what is drawn --------------------------------------------------------------------------------------------------------------------------- */

static void take_image(struct painter *p)
{
    viewer_labels_release(p->s, &p->d.labels); /* of the image before */
    if (viewer_drawer_take_image(&p->d, viewer_image_keep(p->s)) != TSR_OK) complain(p);
    p->data_version++;
}

/* The copy belongs to the painter's own context; the solver gets its own back. */
static void take_surface(struct painter *p, const viewer_surface *surface)
{
    if (viewer_drawer_copy_tiles(&p->d, surface->tiles) != TSR_OK) {
        complain(p);
        return;
    }
    p->steps = surface->steps;
    p->surface_input = surface->input;
    p->data_version++;
}

static void take_speed(struct painter *p, const viewer_speed *speed)
{
    tsr_volume *copy = NULL;
    const int everywhere = p->over == VIEWER_OVER_SPEED; /* else one window alone shows them */
    for (int v = 0; v < VIEWER_WINDOWS; v++)
        if ((everywhere && speed->volume) || (v % VIEWER_VIEWS == VIEWER_SPEED && p->d.speed.values != speed->values))
            p->window[v].data_version = UINT64_MAX;
    p->d.speed.values = speed->values;
    p->d.speed.input = speed->input;
    if (!speed->volume) return;
    tsr_status status = tsr_volume_copy(speed->volume, p->d.context, &copy);
    if (status == TSR_OK) status = tsr_scene_set_volume(p->d.speed_scene, copy);
    if (status != TSR_OK) {
        complain(p);
        tsr_volume_destroy(&copy);
        return;
    }
    tsr_volume_destroy(&p->d.speed.volume);
    p->d.speed = *speed;
    p->d.speed.volume = copy;
}

/* With the lock held: a page waits for this window. */
static int waited_for(const viewer_session *s, int window)
{
    return s->look[window].width && !s->look[window].hidden && s->wanted[window] && !s->frame[window];
}

/* A tsr_progress.report of pictures that are only finer: they end for whatever is new. */
static int gives_way(void *user, double fraction, const char *stage)
{
    const struct painter *p = (const struct painter *)user;
    viewer_session *s = p->s;
    (void)fraction;
    (void)stage;
    pthread_mutex_lock(&s->lock);
    int way = s->quit || s->pick_ready || s->region_ready || p->image_version != s->image_version || (s->surface_ready && !s->used_tiles) ||
              (s->speed_ready && !s->used_speed);
    for (int v = 0; v < VIEWER_WINDOWS; v++) way |= waited_for(s, v) && p->window[v].look_version != s->look_version[v];
    pthread_mutex_unlock(&s->lock);
    return way;
}

/* ---- one picture on its way ------------------------------------------------------------------------------------------------------------------------ */

static int32_t scaled(int32_t n, double scale)
{
    int32_t v = (int32_t)(n * scale + 0.5);
    return v < 8 ? 8 : v;
}

/* The next draft takes as long as it may. */
static void adapt(struct window *w, int view, double seconds, const viewer_task *t)
{
    w->shown = t->scale;
    w->pixels = (double)t->look.width * t->look.height;
    if (!t->draft) return;
    w->cost = seconds * t->coarse / (t->scale * t->scale);
    if (view == VIEWER_VOLUME)
        w->coarse = fmin(most_coarse, fmax(1, 0.5 * (w->coarse + w->cost * least_scale[view] * least_scale[view] / budget[view])));
    double wanted = t->scale * sqrt(budget[view] / fmax(seconds, 1e-4));
    w->scale = fmin(1, fmax(least_scale[view], w->scale + 0.5 * (wanted - w->scale)));
}

/* Of the next draft; a window that has grown must not learn from a draft of its new size that this takes seconds. */
static double draft_scale(const struct window *w, int view, const viewer_look *look)
{
    const double pixels = (double)look->width * look->height, grown = pixels / fmax(w->pixels, 1);
    if (!(w->pixels > 0)) return fmin(w->scale, fmax(least_scale[view], FIRST / sqrt(pixels)));
    if (grown <= 1) return w->scale;
    return fmin(w->scale, fmax(least_scale[view], sqrt(budget[view] / fmax(w->cost * grown, 1e-9))));
}

static double quantised(double scale) { return fmax(1, floor(scale * SCALES)) / SCALES; }

viewer_blob *viewer_pack(const viewer_frame *frame, const tsr_image *image)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (tsr_image_pack_jpeg(image, frame->draft ? DRAFT_QUALITY : FINAL_QUALITY, frame->draft && frame->view == VIEWER_VOLUME, &bytes, &size) !=
        TSR_OK)
        return NULL;
    viewer_blob *blob = viewer_blob_create(VIEWER_FRAME_HEADER + size);
    if (blob) {
        memcpy(blob->bytes + VIEWER_PAD + VIEWER_FRAME_HEADER, bytes, size);
        blob->binary = 1;
        blob->view = frame->view;
        blob->sequence = frame->sequence;
    }
    free(bytes);
    return blob;
}

static void show(struct painter *p, const viewer_task *t, int window)
{
    viewer_session *s = p->s;
    const int view = window % VIEWER_VIEWS;
    struct window *w = &p->window[window];
    double begin = viewer_seconds();
    int32_t width = scaled(t->look.width, t->scale), height = scaled(t->look.height, t->scale);
    viewer_frame frame = { .view = (uint8_t)view,
                           .draft = (uint8_t)t->draft,
                           .width = (uint32_t)width,
                           .height = (uint32_t)height,
                           .view_input = t->look_input,
                           .edit_input = p->surface_input > p->d.speed.input ? p->surface_input : p->d.speed.input,
                           .steps = p->steps };
    tsr_image image = { 0 };
    p->d.progress = (tsr_progress){ t->fresh ? viewer_session_quits : gives_way, t->fresh ? (void *)s : (void *)p };
    tsr_status status = viewer_draw(&p->d, t, view, width, height, &frame, &image);
    if (status == TSR_ERROR_CANCELLED) { /* it is finer than what the page has, and later will do */
        tsr_image_destroy(&image);
        return;
    }
    w->look_version = t->look_version;
    w->data_version = p->data_version;
    w->draft = t->draft;
    pthread_mutex_lock(&s->lock);
    frame.sequence = ++s->frame_sequence;
    pthread_mutex_unlock(&s->lock);
    viewer_blob *blob = status == TSR_OK ? viewer_pack(&frame, &image) : NULL;
    double seconds = viewer_seconds() - begin;
    tsr_image_destroy(&image);
    if (!blob) complain(p);
    else {
        frame.milliseconds = (float)(1e3 * seconds);
        viewer_frame_pack(&frame, blob->bytes + VIEWER_PAD);
    }
    adapt(w, view, seconds, t);
    w->drawn = viewer_seconds();
    if (t->fresh) w->rested = w->drawn;
    if (!blob) return;
    pthread_mutex_lock(&s->lock);
    viewer_blob_release(&s->frame[window]);
    s->frame[window] = blob;
    pthread_mutex_unlock(&s->lock);
    s->wake(s->wake_user);
}

/* ---- picks ---------------------------------------------------------------------------------------------------------------------------------------- */

/* From the place before, unless the surface jumps between the two. */
static int continues(const struct painter *p, const viewer_command *c, tsr_vec3 at)
{
    const tsr_vec3 h = p->d.image->spacing, l = p->stroke.last;
    const double far = sqrt(pow((at.x - l.x) * h.x, 2) + pow((at.y - l.y) * h.y, 2) + pow((at.z - l.z) * h.z, 2));
    return !c->begin && p->stroke.met && far <= most_jump * c->radius;
}

static void act_on_pick(struct painter *p, const viewer_command *c, tsr_vec3 at)
{
    viewer_session *s = p->s;
    char error[256] = "";
    viewer_command next = { .input = c->input, .given = c->given & (UINT64_C(1) << VIEWER_INPUT), .radius = c->radius, .colours = c->colours };
    const double index[3] = { at.x, at.y, at.z };
    if (c->action == VIEWER_PICK_LOCATE) {
        for (int v = 0; v < VIEWER_VIEWS; v++) {
            if (v == VIEWER_VOLUME) continue;
            next.kind = VIEWER_VIEW;
            next.view = v;
            pthread_mutex_lock(&s->lock);
            next.position = index[s->look[v].axis];
            pthread_mutex_unlock(&s->lock);
            next.given |= UINT64_C(1) << VIEWER_POSITION;
            viewer_session_command(s, &next, error, sizeof error);
        }
        return;
    }
    if (c->action != VIEWER_PICK_PROBE && !(c->radius > 0)) return;
    next.tool = c->tool;
    next.strength = c->strength;
    next.given |= c->given & (UINT64_C(1) << VIEWER_TOOL | UINT64_C(1) << VIEWER_STRENGTH);
    next.kind = c->action == VIEWER_PICK_SCULPT  ? VIEWER_SCULPT
                : c->action == VIEWER_PICK_PROBE ? VIEWER_PROBE
                : c->action == VIEWER_PICK_PAINT ? VIEWER_PAINT
                                                 : VIEWER_ERASE;
    const tsr_vec3 last = p->stroke.last;
    next.begin = c->begin || !p->stroke.begun;
    p->stroke.begun = 1;
    memcpy(next.at, index, sizeof next.at);
    memcpy(next.from, index, sizeof next.from);
    if (next.kind != VIEWER_PROBE && continues(p, c, at)) {
        next.given |= UINT64_C(1) << VIEWER_TO;
        memcpy(next.to, index, sizeof next.to);
        memcpy(next.from, (double[3]){ last.x, last.y, last.z }, sizeof next.from);
    }
    p->stroke.last = at;
    p->stroke.met = 1;
    if (viewer_session_command(s, &next, error, sizeof error)) viewer_session_tell(s, "error", "%s", error);
}

static void end_stroke(struct painter *p)
{
    free(p->stroke.depth);
    p->stroke.depth = NULL;
    p->stroke.met = 0;
}

/* How deep the surface lies in the window, as the first place of a stroke finds it. */
static tsr_status begin_stroke(struct painter *p, viewer_task *t)
{
    tsr_scene_info info = TSR_SCENE_INFO;
    viewer_frame frame = { 0 };
    tsr_image image = { 0 };
    end_stroke(p);
    p->stroke.width = scaled(t->look.width, 0.5);
    p->stroke.height = scaled(t->look.height, 0.5);
    p->stroke.look_version = t->look_version;
    p->stroke.image_version = p->image_version;
    p->stroke.normal = (tsr_vec3){ 0, 0, 1 };
    p->stroke.offset = 0;
    t->draft = 1;
    tsr_status status = viewer_draw(&p->d, t, VIEWER_VOLUME, p->stroke.width, p->stroke.height, &frame, &image);
    tsr_image_destroy(&image);
    p->stroke.camera = p->d.camera;
    if (status == TSR_OK) status = viewer_describe(&p->d, &info);
    if (status == TSR_OK && t->look.clip) status = viewer_clip(&info, &t->look, &p->stroke.normal, &p->stroke.offset);
    if (status != TSR_OK) return status;
    p->stroke.depth = (float *)malloc((size_t)p->stroke.width * (size_t)p->stroke.height * sizeof *p->stroke.depth);
    if (!p->stroke.depth) return TSR_ERROR_MEMORY;
    status = tsr_picture_download(p->d.picture[VIEWER_VOLUME], NULL, p->stroke.depth);
    if (status != TSR_OK) end_stroke(p);
    return status;
}

/* Where the ray of a place of the window meets what the stroke began on: a voxel index. */
static int meets(const struct painter *p, const viewer_task *t, double x, double y, tsr_vec3 *at)
{
    const int32_t i = (int32_t)fmin(x * p->stroke.width, p->stroke.width - 1), j = (int32_t)fmin(y * p->stroke.height, p->stroke.height - 1);
    const double depth = (double)p->stroke.depth[(size_t)j * (size_t)p->stroke.width + (size_t)i];
    return !viewer_pick_point(p->d.image, &p->stroke.camera, (double)t->look.width / t->look.height, x, y, depth, t->look.clip, p->stroke.normal,
                              p->stroke.offset, at);
}

static void pick(struct painter *p, viewer_task *t, const viewer_command *c)
{
    tsr_vec3 at;
    tsr_scene_info info = TSR_SCENE_INFO;
    if (!t->look.width || (t->look.mode == VIEWER_MODE_MIP && p->d.image->volume)) return;
    if (viewer_describe(&p->d, &info) != TSR_OK) {
        viewer_session_tell(p->s, "notice", "nothing there yet");
        return;
    }
    if (c->begin) p->stroke.begun = 0;
    const int same = p->stroke.depth && p->stroke.look_version == t->look_version && p->stroke.image_version == p->image_version;
    if ((c->begin || !same) && begin_stroke(p, t) != TSR_OK) {
        complain(p);
        return;
    }
    if (meets(p, t, c->x, c->y, &at)) {
        act_on_pick(p, c, at);
        return;
    }
    p->stroke.met = 0;
    if (c->begin) viewer_session_tell(p->s, "notice", "nothing there: the ray meets neither the surface nor the clipping plane");
}

/* ---- what lies under the cursor, what a lasso holds ------------------------------------------------------------------------------------------------ */

static void tell_value(struct painter *p, const viewer_command *c)
{
    double grey, level;
    char text[256], g[40] = "null", l[40] = "null";
    viewer_values_at(&p->d, (tsr_vec3){ c->at[0], c->at[1], c->at[2] }, &grey, &level);
    if (isfinite(grey)) snprintf(g, sizeof g, "%.9g", grey);
    if (isfinite(level)) snprintf(l, sizeof l, "%.6g", level);
    snprintf(text, sizeof text, "{\"type\":\"value\",\"id\":%.0f,\"grey\":%s,\"level\":%s}", c->id, g, l);
    viewer_session_tell_blob(p->s, viewer_blob_text(text));
}

/* Places of a stroke: where their rays meet the surface; those that meet nothing are left out. 0: none does. */
static int place_stroke(struct painter *p, viewer_task *t, viewer_command *c)
{
    tsr_vec3 at;
    int n = 0;
    if (begin_stroke(p, t) != TSR_OK) {
        complain(p);
        return 0;
    }
    for (int i = 0; i < c->corners; i++) {
        if (!meets(p, t, c->lasso[i][0], c->lasso[i][1], &at)) continue;
        at = tsr_geometry_to_world(&p->d.image->geometry, at);
        memcpy(c->lasso[n++], (double[3]){ at.x, at.y, at.z }, sizeof c->lasso[0]);
    }
    end_stroke(p);
    c->corners = n;
    if (!n) viewer_session_tell(p->s, "notice", "nothing there: the stroke does not meet the surface");
    return n > 0;
}

/* Corners in the window become places in the world, seen from the eye: the sculptor needs no camera. */
static void place_lasso(struct painter *p, viewer_task *t, const viewer_command *command)
{
    viewer_command c = *command;
    tsr_scene_info info = TSR_SCENE_INFO;
    tsr_camera camera;
    char error[256] = "";
    if (!t->look.width || viewer_describe(&p->d, &info) != TSR_OK || viewer_camera(&info, &t->look, &camera) != TSR_OK) {
        viewer_session_tell(p->s, "error", "nothing is shown that could be selected");
        return;
    }
    if (viewer_given(&c, VIEWER_RADIUS) && !place_stroke(p, t, &c)) return;
    for (int i = 0; i < c.corners && !viewer_given(&c, VIEWER_RADIUS); i++) {
        const tsr_vec3 at =
            viewer_on_ray(&camera, (double)t->look.width / t->look.height, c.lasso[i][0], c.lasso[i][1], viewer_camera_distance(&info, &camera));
        memcpy(c.lasso[i], (double[3]){ at.x, at.y, at.z }, sizeof c.lasso[i]);
    }
    memcpy(c.at, (double[3]){ camera.position.x, camera.position.y, camera.position.z }, sizeof c.at);
    c.given |= UINT64_C(1) << VIEWER_AT; /* placed */
    if (viewer_session_command(p->s, &c, error, sizeof error)) viewer_session_tell(p->s, "error", "%s", error);
}

/* ---- what to do next ------------------------------------------------------------------------------------------------------------------------------ */

static void take_task(const viewer_session *s, int window, viewer_task *t)
{
    *t = (viewer_task){ .look = s->look[window],
                        .window = window,
                        .window_low = s->window_low,
                        .window_high = s->window_high,
                        .transfer = s->transfer,
                        .opacity = s->opacity,
                        .own_colour = s->label_count > 0,
                        .colour = { s->colour[0], s->colour[1], s->colour[2] },
                        .isovalue = s->isovalue,
                        .look_version = s->look_version[window],
                        .look_input = s->look_input[window],
                        .over = s->over,
                        .over_opacity = s->over_opacity,
                        .draft = 1,
                        .fresh = 1,
                        .scale = 1,
                        .coarse = 1 };
    for (int i = 0; i < s->label_count; i++) { /* how strongly: the last of the four */
        const viewer_label *l = &s->label[i];
        uint8_t *rgba = t->label[l->value];
        for (int k = 0; k < 3; k++) rgba[k] = (uint8_t)(255 * l->colour[k] + 0.5);
        rgba[3] = l->hidden || l->value == s->label_active ? 0 : 1;
    }
}

/* The finest picture of a window at rest that may be drawn now: its scale (0 = none yet), draft or not; *wait = seconds until there may be one. */
static double refined(const struct window *w, int view, double now, int *draft, double *wait)
{
    double full = w->cost * (view == VIEWER_VOLUME ? final_cost : 1), most = 0;
    for (int i = PATIENCE - 1; i >= 0; i--) {
        if (now - w->rested >= patience[i].rest) {
            most = patience[i].most;
            break;
        }
        *wait = patience[i].rest - (now - w->rested);
    }
    *draft = full > most;
    if (!*draft) return 1;
    double scale = most > 0 ? fmin(1, quantised(sqrt(most / w->cost))) : 0;
    return scale > 1.2 * w->shown ? scale : 0;
}

/* With the lock held. A window and what to draw of it, or -1; *wait is how long until one may be refined. */
static int choose(const struct painter *p, viewer_task *task, double *wait)
{
    const viewer_session *s = p->s;
    double now = viewer_seconds(), best = -1;
    int window = -1;
    *wait = 1e9;
    if (!p->d.image || s->watchers == 0) return -1;
    for (int i = 0; i < VIEWER_WINDOWS; i++) {
        const int v = i % VIEWER_VIEWS;
        const struct window *w = &p->window[i];
        int look = w->look_version != s->look_version[i], data = w->data_version != p->data_version, draft = 1;
        if (!waited_for(s, i) || !(look || data || w->draft)) continue;
        if (i == VIEWER_SPEED && p->d.speed.volume && !viewer_speed_covers(&p->d.speed, &s->look[i])) continue; /* they come */
        double age = now - w->drawn, score = age + (look ? 0.12 : 0), scale = quantised(draft_scale(w, v, &s->look[i])), again = 1e9;
        if (!look && !data) {
            if (s->state.running) continue;
            scale = refined(w, v, now, &draft, &again);
            *wait = fmin(*wait, again);
            if (!(scale > 0)) continue;
            score = 0; /* refining comes last */
        }
        if (score <= best) continue;
        best = score;
        window = i;
        take_task(s, i, task);
        task->draft = draft;
        task->fresh = look || data;
        task->scale = scale;
        if (task->fresh) task->coarse = w->coarse;
    }
    return window;
}

/* Data that came, with the lock held; given back to the solver at the end. Returns whether there were any. */
static int take_data(struct painter *p)
{
    viewer_session *s = p->s;
    if (s->image && p->image_version != s->image_version) {
        p->image_version = s->image_version;
        pthread_mutex_unlock(&s->lock);
        take_image(p);
        pthread_mutex_lock(&s->lock);
        return 1;
    }
    p->over = s->over;
    if (s->overlay_version != p->overlay_version || s->labels_version != p->labels_version) {
        viewer_image *overlay = s->overlay;
        viewer_label_map *labels = s->labels;
        const int fresh = s->overlay_version != p->overlay_version;
        if (overlay) overlay->references++;
        if (labels) labels->references++;
        p->overlay_version = s->overlay_version;
        p->labels_version = s->labels_version;
        pthread_mutex_unlock(&s->lock);
        viewer_labels_release(s, &p->d.labels);
        p->d.labels = labels;
        if (!fresh) viewer_image_release(s, &overlay);
        else if (viewer_drawer_take_overlay(&p->d, overlay) != TSR_OK) complain(p);
        p->data_version++;
        pthread_mutex_lock(&s->lock);
        return 1;
    }
    int surface = s->surface_ready && !s->used_tiles, speed = s->speed_ready && !s->used_speed;
    if (!p->d.image || (!surface && !speed)) return 0;
    viewer_surface newest = surface ? s->surface : (viewer_surface){ 0 };
    const viewer_speed newest_speed = speed ? s->speed : (viewer_speed){ 0 };
    if (surface) {
        s->surface = (viewer_surface){ 0 };
        s->surface_ready = 0;
    }
    if (speed) {
        s->speed = (viewer_speed){ 0 };
        s->speed_ready = 0;
    }
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_lock(&s->bridge_lock);
    if (speed) take_speed(p, &newest_speed);
    if (surface) take_surface(p, &newest);
    pthread_mutex_unlock(&s->bridge_lock);
    pthread_mutex_lock(&s->lock);
    if (surface) s->used_tiles = newest.tiles;
    if (speed) s->used_speed = newest_speed.volume;
    pthread_cond_signal(&s->to_solver);
    return 1;
}

static void run(struct painter *p)
{
    viewer_session *s = p->s;
    viewer_task task;
    pthread_mutex_lock(&s->lock);
    while (!s->quit) {
        int view;
        double wait;
        if (take_data(p)) continue;
        if (s->pick_ready && p->d.image) {
            viewer_command command = s->pick;
            s->pick_ready = 0;
            take_task(s, VIEWER_VOLUME, &task);
            pthread_mutex_unlock(&s->lock);
            pick(p, &task, &command);
        } else if (s->asked_count && p->d.image) {
            viewer_command command = s->asked[0];
            memmove(s->asked, s->asked + 1, (size_t)--s->asked_count * sizeof *s->asked);
            pthread_mutex_unlock(&s->lock);
            tell_value(p, &command);
        } else if (s->region_ready && p->d.image) {
            viewer_command command = s->region;
            s->region_ready = 0;
            take_task(s, VIEWER_VOLUME, &task);
            pthread_mutex_unlock(&s->lock);
            place_lasso(p, &task, &command);
        } else if (p->saver && viewer_saver_done(p->saver)) {
            pthread_mutex_unlock(&s->lock);
            viewer_saver_finish(&p->saver);
        } else if (s->picture_count && !p->saver) {
            char name[VIEWER_NAME_BYTES];
            int replace = s->picture[0].replace;
            memcpy(name, s->picture[0].name, sizeof name);
            memmove(s->picture, s->picture + 1, (size_t)--s->picture_count * sizeof *s->picture);
            take_task(s, VIEWER_VOLUME, &task);
            pthread_mutex_unlock(&s->lock);
            if (p->d.image) p->saver = viewer_saver_start(&p->d, &task, name, replace);
            else viewer_session_tell(s, "error", "no image is loaded");
        } else if ((view = choose(p, &task, &wait)) >= 0) {
            pthread_mutex_unlock(&s->lock);
            show(p, &task, view);
        } else {
            viewer_wait(&s->to_painter, &s->lock, wait);
            continue;
        }
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
}

void *viewer_painter_main(void *session)
{
    struct painter p = { .s = (viewer_session *)session };
    for (int v = 0; v < VIEWER_WINDOWS; v++) {
        p.window[v].scale = 0.5;
        p.window[v].coarse = 1;
    }
    if (viewer_drawer_create(p.s, &p.d) == TSR_OK) run(&p);
    else complain(&p);
    viewer_saver_finish(&p.saver);
    end_stroke(&p);
    viewer_drawer_clear(&p.d);
    return NULL;
}
