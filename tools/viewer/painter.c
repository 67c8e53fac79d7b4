/* viewer/painter.c: the thread that draws the windows. It draws what a page is ready for, the window under the hand first, small and coarse while things
 * move, in full when they rest. */
#define _POSIX_C_SOURCE 200809L /* pthread_cond_timedwait */
#include "picture.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double budget[VIEWER_VIEWS] = { 0.008, 0.008, 0.024 }; /* seconds of a draft */
/* Refining must not be felt: the longer things rest, the longer it may take. */
static const struct {
    double rest, most;
} patience[] = { { 0.25, 0.15 }, { 0.8, 0.5 }, { 2, 2 }, { 5, 10 } };
enum { PATIENCE = sizeof patience / sizeof *patience };
enum { DRAFT_QUALITY = 82, FINAL_QUALITY = 92, SCALES = 16 };
static const double saved_pixels = 2048.0 * 2048.0;                  /* of a saved picture, at most */
static const double least_scale[VIEWER_VIEWS] = { 0.5, 0.5, 0.125 }; /* a thin contour must stay visible */
static const double draft_step = 1.5, final_cost = 4;                /* a sample of a final picture with its occlusion, times one of a draft */

struct window {
    tsr_picture *picture;
    uint64_t look_version, data_version; /* that were drawn last */
    int draft;
    double drawn, scale; /* when; draft pixels per pixel */
    double rested;       /* since when nothing changed */
    double shown, cost;  /* scale of the picture that is shown; seconds of a draft at scale 1 */
};

struct painter {
    viewer_session *s;
    tsr_context *context;
    viewer_image *image;
    tsr_volume *volume, *speed; /* on the device; volume NULL: the image's own, in host memory */
    tsr_scene *scene, *speed_scene;
    tsr_tiles *tiles;
    double steps;
    uint32_t surface_input, speed_input;
    uint64_t image_version, data_version;
    tsr_mip *mip;
    tsr_mip_frame *mip_frame;
    tsr_dtype mip_dtype;
    int32_t mip_width, mip_height;
    struct window window[VIEWER_VIEWS];
    tsr_camera camera; /* of the last 3-D picture */
};

/* What one picture needs, taken under the lock. */
struct task {
    viewer_look look;
    double window_low, window_high;
    tsr_transfer transfer;
    uint64_t look_version;
    uint32_t look_input;
    int draft, fresh; /* fresh: something changed; else the same picture, finer */
    double alpha, scale;
};

static void complain(struct painter *p) { viewer_session_tell(p->s, "error", "%s", tsr_error_message()); }

/* ---- what is drawn --------------------------------------------------------------------------------------------------------------------------- */

static void drop_mip(struct painter *p)
{
    tsr_mip_destroy(&p->mip);
    tsr_mip_frame_destroy(&p->mip_frame);
}

static void take_image(struct painter *p)
{
    viewer_image *before = p->image;
    tsr_volume *volume_before = p->volume;
    drop_mip(p);
    p->volume = NULL;
    p->image = viewer_image_keep(p->s);
    tsr_tiles_destroy(&p->tiles);
    tsr_scene_clear_surface(p->scene);
    tsr_scene_clear_surface(p->speed_scene);
    tsr_status status = tsr_scene_set_volume(p->speed_scene, NULL);
    if (status == TSR_OK && tsr_context_device(p->context).kind != TSR_DEVICE_CPU) status = tsr_volume_copy(p->image->volume, p->context, &p->volume);
    if (status == TSR_OK) status = tsr_scene_set_volume(p->scene, p->volume ? p->volume : p->image->volume);
    if (status != TSR_OK) complain(p);
    tsr_volume_destroy(&p->speed);
    tsr_volume_destroy(&volume_before);
    viewer_image_release(p->s, &before);
    p->data_version++;
}

/* The copy belongs to the painter's own context; the solver gets its own back. */
static void take_surface(struct painter *p, const viewer_surface *surface)
{
    tsr_tiles *copy = NULL;
    if (surface->tiles && tsr_tiles_copy(surface->tiles, p->context, &copy) != TSR_OK) {
        complain(p);
        return;
    }
    p->steps = surface->steps;
    p->surface_input = surface->input;
    p->data_version++;
    tsr_scene_clear_surface(p->scene);
    tsr_scene_clear_surface(p->speed_scene);
    if (copy && (tsr_scene_set_surface_tiles(p->scene, copy) != TSR_OK || tsr_scene_set_surface_tiles(p->speed_scene, copy) != TSR_OK)) {
        tsr_scene_clear_surface(p->scene); /* an empty list */
        tsr_scene_clear_surface(p->speed_scene);
    }
    tsr_tiles_destroy(&p->tiles);
    p->tiles = copy;
}

static void take_speed(struct painter *p, const tsr_volume *speed)
{
    tsr_volume *copy = NULL;
    tsr_status status = tsr_volume_copy(speed, p->context, &copy);
    if (status == TSR_OK) status = tsr_scene_set_volume(p->speed_scene, copy);
    if (status != TSR_OK) {
        complain(p);
        tsr_volume_destroy(&copy);
        return;
    }
    tsr_volume_destroy(&p->speed);
    p->speed = copy;
    p->data_version++;
}

/* Grey values as u8 or u16, which pyramids are made of. */
static tsr_status build_mip(struct painter *p)
{
    const tsr_volume *volume = p->volume ? p->volume : p->image->volume;
    tsr_volume *real = NULL, *small = NULL;
    tsr_dtype dtype = tsr_volume_dtype(volume);
    double slope, intercept;
    tsr_volume_scaling(volume, &slope, &intercept);
    tsr_status status = TSR_OK;
    if ((dtype != TSR_U8 && dtype != TSR_U16) || slope != 1 || intercept != 0) {
        double scale = 65535 / (p->image->maximum - p->image->minimum);
        status = tsr_volume_combine(p->context, TSR_COMBINE_LINEAR, scale, volume, 0, NULL, -scale * p->image->minimum, &real);
        if (status == TSR_OK) status = tsr_volume_convert(p->context, real, TSR_U16, &small);
        tsr_volume_destroy(&real);
    }
    tsr_mip_options options = TSR_MIP_OPTIONS;
    if (status == TSR_OK) status = tsr_mip_build(p->context, small ? small : volume, &options, &p->mip);
    p->mip_dtype = small ? TSR_U16 : dtype;
    tsr_volume_destroy(&small);
    return status;
}

static tsr_status draw_mip(struct painter *p, const struct task *t, int32_t width, int32_t height, tsr_image *image)
{
    tsr_status status = p->mip ? TSR_OK : build_mip(p);
    if (status == TSR_OK && (!p->mip_frame || p->mip_width != width || p->mip_height != height)) {
        tsr_mip_frame_destroy(&p->mip_frame);
        status = tsr_mip_frame_create(p->context, width, height, &p->mip_frame);
        p->mip_width = width;
        p->mip_height = height;
    }
    if (status != TSR_OK) return status;
    const viewer_image *i = p->image;
    double least = fmin(i->spacing.x, fmin(i->spacing.y, i->spacing.z));
    const double sx = i->spacing.x / least, sy = i->spacing.y / least, sz = i->spacing.z / least;
    double longest = sqrt(pow((double)i->size.x * sx, 2) + pow((double)i->size.y * sy, 2) + pow((double)i->size.z * sz, 2));
    double zoom = fmin(64, 1.15 * fmin(width, height) / longest * t->look.zoom);
    tsr_mip_view view = tsr_mip_orbit(t->look.azimuth, t->look.elevation, zoom);
    view.stretch = (tsr_vec3){ sx, sy, sz };
    tsr_mip_render_options options = TSR_MIP_RENDER_OPTIONS;
    options.fraction = fmax(t->look.quality, 0.001);
    double low = t->window_low, high = t->window_high; /* in the values of the pyramid */
    if (p->mip_dtype == TSR_U16 && tsr_volume_dtype(p->image->volume) != TSR_U16) {
        double scale = 65535 / (i->maximum - i->minimum);
        low = (low - i->minimum) * scale;
        high = (high - i->minimum) * scale;
    }
    status = tsr_mip_render(p->mip, &view, &options, p->mip_frame, NULL);
    return status == TSR_OK ? tsr_mip_frame_image(p->mip_frame, p->mip_dtype, high - low, 0.5 * (low + high), image) : status;
}

static tsr_status draw_slice(struct painter *p, const struct task *t, int view, tsr_picture *picture, viewer_frame *frame)
{
    tsr_slice_options options = TSR_SLICE_OPTIONS;
    viewer_plane plane;
    viewer_slice_plane(p->image, &t->look, &plane);
    if (viewer_slice_options(p->image, &plane, &t->look, tsr_picture_width(picture), tsr_picture_height(picture), &options, frame))
        return TSR_ERROR_ARGUMENT;
    options.line_width = fmax(1.4, 1.8 * tsr_picture_width(picture) / t->look.width);
    if (view == VIEWER_SPEED) {
        if (!p->speed) return tsr_render_slice(p->scene, &options, picture); /* until there is one */
        options.palette = TSR_PALETTE_DIVERGING;
        options.window_high = fmax(2 * t->alpha, 0.05); /* D peaks at 1; the palette is at its purest half way */
        options.window_low = -options.window_high;
        return tsr_render_slice(p->speed_scene, &options, picture);
    }
    options.window_low = t->window_low;
    options.window_high = t->window_high;
    return tsr_render_slice(p->scene, &options, picture);
}

static tsr_status draw_volume(struct painter *p, const struct task *t, tsr_picture *picture)
{
    static const tsr_render_mode modes[] = { TSR_RENDER_SURFACE, TSR_RENDER_COMBINED, TSR_RENDER_VOLUME, TSR_RENDER_VOLUME };
    tsr_render_options options = TSR_RENDER_OPTIONS;
    tsr_scene_info info;
    tsr_status status = tsr_scene_describe(p->scene, &info);
    if (status != TSR_OK) return status;
    options.mode = info.has_surface ? modes[t->look.mode] : TSR_RENDER_VOLUME;
    if (t->look.mode == VIEWER_MODE_INSIDE && info.has_surface) options.region = TSR_REGION_INSIDE;
    options.transfer = t->transfer.points ? &t->transfer : NULL;
    options.step = t->draft ? draft_step : 0.5;
    if (!t->draft || !t->fresh) options.progress = (tsr_progress){ viewer_session_quits, p->s }; /* may take long */
    options.jitter = 1;
    options.window_low = t->window_low;
    options.window_high = t->window_high;
    options.surface_color = (tsr_color){ 0.95f, 0.72f, 0.42f };
    if (t->draft) options.ambient_occlusion = -1;
    if (t->look.clip) {
        options.clip = 1;
        options.clip_face = TSR_CLIP_QUAD;
        options.clip_volume_only = options.mode == TSR_RENDER_COMBINED; /* the surface stands out of the plane that shows where it cuts */
        status = viewer_clip(&info, &t->look, &options.clip_normal, &options.clip_offset);
    }
    if (status == TSR_OK) status = viewer_camera(&info, &t->look, &p->camera);
    return status == TSR_OK ? tsr_render(p->scene, &p->camera, &options, picture) : status;
}

static tsr_status need_picture(struct painter *p, int view, int32_t width, int32_t height)
{
    tsr_picture **picture = &p->window[view].picture;
    if (*picture && tsr_picture_width(*picture) == width && tsr_picture_height(*picture) == height) return TSR_OK;
    tsr_picture_destroy(picture);
    return tsr_picture_create(p->context, width, height, picture);
}

static tsr_status draw(struct painter *p, const struct task *t, int view, int32_t width, int32_t height, viewer_frame *frame, tsr_image *image)
{
    if (view == VIEWER_VOLUME && t->look.mode == VIEWER_MODE_MIP) return draw_mip(p, t, width, height, image);
    tsr_status status = need_picture(p, view, width, height);
    if (status != TSR_OK) return status;
    tsr_picture *picture = p->window[view].picture;
    status = view == VIEWER_VOLUME ? draw_volume(p, t, picture) : draw_slice(p, t, view, picture, frame);
    return status == TSR_OK ? tsr_picture_image(picture, 3, image) : status;
}

/* ---- one picture on its way ------------------------------------------------------------------------------------------------------------------------ */

static int32_t scaled(int32_t n, double scale)
{
    int32_t v = (int32_t)(n * scale + 0.5);
    return v < 8 ? 8 : v;
}

/* The next draft takes as long as it may. */
static void adapt(struct window *w, int view, double seconds, const struct task *t)
{
    w->shown = t->scale;
    if (!t->draft) return;
    w->cost = seconds / (t->scale * t->scale);
    double wanted = t->scale * sqrt(budget[view] / fmax(seconds, 1e-4));
    w->scale = fmin(1, fmax(least_scale[view], w->scale + 0.5 * (wanted - w->scale)));
}

static double quantised(double scale) { return fmax(1, floor(scale * SCALES)) / SCALES; }

static viewer_blob *pack(const viewer_frame *frame, const tsr_image *image)
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

static void show(struct painter *p, const struct task *t, int view)
{
    viewer_session *s = p->s;
    struct window *w = &p->window[view];
    double begin = viewer_seconds();
    int32_t width = scaled(t->look.width, t->scale), height = scaled(t->look.height, t->scale);
    viewer_frame frame = { .view = (uint8_t)view,
                           .draft = (uint8_t)t->draft,
                           .width = (uint32_t)width,
                           .height = (uint32_t)height,
                           .view_input = t->look_input,
                           .edit_input = p->surface_input > p->speed_input ? p->surface_input : p->speed_input,
                           .steps = p->steps };
    tsr_image image = { 0 };
    tsr_status status = draw(p, t, view, width, height, &frame, &image);
    w->look_version = t->look_version;
    w->data_version = p->data_version;
    w->draft = t->draft;
    pthread_mutex_lock(&s->lock);
    frame.sequence = ++s->frame_sequence;
    pthread_mutex_unlock(&s->lock);
    viewer_blob *blob = status == TSR_OK ? pack(&frame, &image) : NULL;
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
    viewer_blob_release(&s->frame[view]);
    s->frame[view] = blob;
    pthread_mutex_unlock(&s->lock);
    s->wake(s->wake_user);
}

static void save_picture(struct painter *p, struct task *t, const char *name, int replace)
{
    char error[512] = "";
    tsr_image image = { 0 };
    viewer_frame frame = { 0 };
    t->draft = 0;
    if (!t->look.width) t->look.width = t->look.height = 768;
    int32_t width = t->look.width, height = t->look.height;
    if ((double)width * height > saved_pixels) { /* the windows wait for it */
        const double scale = sqrt(saved_pixels / ((double)width * height));
        width = scaled(width, scale);
        height = scaled(height, scale);
        viewer_session_tell(p->s, "notice", "%s: drawn with %d x %d pixels instead of %d x %d", name, width, height, t->look.width, t->look.height);
    }
    const tsr_status status = draw(p, t, VIEWER_VOLUME, width, height, &frame, &image);
    if (status != TSR_OK) snprintf(error, sizeof error, "%s", tsr_error_message());
    else viewer_save_image(p->s, &image, name, replace, error, sizeof error);
    tsr_image_destroy(&image);
    if (*error) viewer_session_tell(p->s, "error", "%s", error);
    else viewer_session_tell(p->s, "saved", "%s", name);
}

/* ---- picks ---------------------------------------------------------------------------------------------------------------------------------------- */

static void act_on_pick(struct painter *p, const viewer_command *c, tsr_vec3 at)
{
    viewer_session *s = p->s;
    char error[256] = "";
    viewer_command next = { .input = c->input, .given = c->given & (UINT64_C(1) << VIEWER_INPUT), .radius = c->radius };
    const double index[3] = { at.x, at.y, at.z };
    if (c->action == VIEWER_PICK_LOCATE) {
        for (int v = 0; v < VIEWER_VOLUME; v++) {
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
    next.kind = c->action == VIEWER_PICK_PROBE ? VIEWER_PROBE : c->action == VIEWER_PICK_PAINT ? VIEWER_PAINT : VIEWER_ERASE;
    next.begin = 1;
    memcpy(next.at, index, sizeof next.at);
    memcpy(next.from, index, sizeof next.from);
    if (viewer_session_command(s, &next, error, sizeof error)) viewer_session_tell(s, "error", "%s", error);
}

static void pick(struct painter *p, struct task *t, const viewer_command *c)
{
    tsr_scene_info info;
    tsr_vec3 normal = { 0, 0, 1 }, at;
    double offset = 0;
    float *depth = NULL;
    viewer_frame frame = { 0 };
    tsr_image image = { 0 };
    t->draft = 1;
    if (!t->look.width || t->look.mode == VIEWER_MODE_MIP) return;
    int32_t width = scaled(t->look.width, 0.5), height = scaled(t->look.height, 0.5);
    int32_t x = (int32_t)fmin(c->x * width, width - 1), y = (int32_t)fmin(c->y * height, height - 1);
    tsr_status status = draw(p, t, VIEWER_VOLUME, width, height, &frame, &image);
    tsr_image_destroy(&image);
    if (status == TSR_OK) status = tsr_scene_describe(p->scene, &info);
    if (status == TSR_OK && t->look.clip) status = viewer_clip(&info, &t->look, &normal, &offset);
    depth = (float *)malloc((size_t)width * (size_t)height * sizeof *depth);
    if (status == TSR_OK && depth) status = tsr_picture_download(p->window[VIEWER_VOLUME].picture, NULL, depth);
    if (status != TSR_OK || !depth) complain(p);
    else if (viewer_pick_point(p->image, &p->camera, (double)t->look.width / t->look.height, c->x, c->y,
                               (double)depth[(size_t)y * (size_t)width + (size_t)x], t->look.clip, normal, offset, &at))
        viewer_session_tell(p->s, "notice", "nothing there: the ray meets neither the surface nor the clipping plane");
    else act_on_pick(p, c, at);
    free(depth);
}

/* ---- what to do next ------------------------------------------------------------------------------------------------------------------------------ */

static void take_task(const viewer_session *s, int view, struct task *t)
{
    *t = (struct task){ .look = s->look[view],
                        .window_low = s->window_low,
                        .window_high = s->window_high,
                        .transfer = s->transfer,
                        .alpha = s->state.alpha,
                        .look_version = s->look_version[view],
                        .look_input = s->look_input[view],
                        .draft = 1,
                        .fresh = 1,
                        .scale = 1 };
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
static int choose(const struct painter *p, struct task *task, double *wait)
{
    const viewer_session *s = p->s;
    double now = viewer_seconds(), best = -1;
    int view = -1;
    *wait = 1e9;
    if (!p->image || s->watchers == 0) return -1;
    for (int v = 0; v < VIEWER_VIEWS; v++) {
        const struct window *w = &p->window[v];
        int look = w->look_version != s->look_version[v], data = w->data_version != p->data_version, draft = 1;
        if (!s->look[v].width || !s->wanted[v] || s->frame[v] || !(look || data || w->draft)) continue;
        double age = now - w->drawn, score = age + (look ? 0.12 : 0), scale = quantised(w->scale), again = 1e9;
        if (!look && !data) {
            if (s->state.running) continue;
            scale = refined(w, v, now, &draft, &again);
            *wait = fmin(*wait, again);
            if (!(scale > 0)) continue;
            score = 0; /* refining comes last */
        }
        if (score <= best) continue;
        best = score;
        view = v;
        take_task(s, v, task);
        task->draft = draft;
        task->fresh = look || data;
        task->scale = scale;
    }
    return view;
}

static void wait_for(viewer_session *s, double seconds)
{
    if (seconds > 100) {
        pthread_cond_wait(&s->to_painter, &s->lock);
        return;
    }
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + (int64_t)(fmax(seconds, 0.001) * 1e9);
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    pthread_cond_timedwait(&s->to_painter, &s->lock, &until);
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
    int surface = s->surface_ready && !s->used_tiles, speed = s->speed_ready && !s->used_speed;
    if (!p->image || (!surface && !speed)) return 0;
    viewer_surface newest = surface ? s->surface : (viewer_surface){ 0 };
    tsr_volume *newest_speed = speed ? s->speed : NULL;
    if (surface) {
        s->surface = (viewer_surface){ 0 };
        s->surface_ready = 0;
    }
    if (speed) {
        s->speed = NULL;
        s->speed_ready = 0;
        p->speed_input = s->speed_input;
    }
    pthread_mutex_unlock(&s->lock);
    if (newest_speed) take_speed(p, newest_speed);
    if (surface) take_surface(p, &newest);
    pthread_mutex_lock(&s->lock);
    if (surface) s->used_tiles = newest.tiles;
    if (speed) s->used_speed = newest_speed;
    pthread_cond_signal(&s->to_solver);
    return 1;
}

static void run(struct painter *p)
{
    viewer_session *s = p->s;
    struct task task;
    pthread_mutex_lock(&s->lock);
    while (!s->quit) {
        int view;
        double wait;
        if (take_data(p)) continue;
        if (s->pick_ready && p->image) {
            viewer_command command = s->pick;
            s->pick_ready = 0;
            take_task(s, VIEWER_VOLUME, &task);
            pthread_mutex_unlock(&s->lock);
            pick(p, &task, &command);
        } else if (s->picture_count) {
            char name[VIEWER_NAME_BYTES];
            int replace = s->picture[0].replace;
            memcpy(name, s->picture[0].name, sizeof name);
            memmove(s->picture, s->picture + 1, (size_t)--s->picture_count * sizeof *s->picture);
            take_task(s, VIEWER_VOLUME, &task);
            pthread_mutex_unlock(&s->lock);
            if (p->image) save_picture(p, &task, name, replace);
            else viewer_session_tell(s, "error", "no image is loaded");
        } else if ((view = choose(p, &task, &wait)) >= 0) {
            pthread_mutex_unlock(&s->lock);
            show(p, &task, view);
        } else {
            wait_for(s, wait);
            continue;
        }
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
}

void *viewer_painter_main(void *session)
{
    struct painter p = { .s = (viewer_session *)session };
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    options.device = p.s->device;
    options.threads = p.s->threads;
    for (int v = 0; v < VIEWER_VIEWS; v++) p.window[v].scale = 0.5;
    if (tsr_context_create(&options, &p.context) == TSR_OK && tsr_scene_create(p.context, &p.scene) == TSR_OK &&
        tsr_scene_create(p.context, &p.speed_scene) == TSR_OK)
        run(&p);
    else complain(&p);
    for (int v = 0; v < VIEWER_VIEWS; v++) tsr_picture_destroy(&p.window[v].picture);
    drop_mip(&p);
    tsr_scene_destroy(&p.scene);
    tsr_scene_destroy(&p.speed_scene);
    tsr_tiles_destroy(&p.tiles);
    tsr_volume_destroy(&p.speed);
    tsr_volume_destroy(&p.volume);
    viewer_image_release(p.s, &p.image);
    tsr_context_destroy(&p.context);
    return NULL;
}
