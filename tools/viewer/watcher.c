/* viewer/watcher.c: the thread of a session that only shows: a volume (rendered, as maximum intensity, with the surface of one of its values), a mesh or a
 * tile list. There is nothing to do but to load. */
#include "mode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct watcher {
    viewer_session *s;
    tsr_context *context, *bridge; /* as of the solver */
    viewer_state state;
};

static void tell_state(struct watcher *o, const char *with)
{
    o->state.busy = *with != 0;
    snprintf(o->state.busy_with, sizeof o->state.busy_with, "%s", with);
    pthread_mutex_lock(&o->s->lock);
    o->s->state = o->state;
    viewer_session_changed(o->s);
    pthread_mutex_unlock(&o->s->lock);
}

static tsr_status read_surface(struct watcher *o, const char *path, const char *name, viewer_image *image, tsr_tiles **tiles)
{
    tsr_status status = TSR_OK;
    const tsr_progress progress = { viewer_session_quits, o->s };
    if (viewer_is_mesh(name)) {
        tsr_read_options read = TSR_READ_OPTIONS;
        tsr_mesh_measures m = TSR_MESH_MEASURES;
        read.memory_limit = o->s->memory_limit;
        read.same_folder = 1;
        read.progress = progress;
        status = tsr_mesh_read(path, &read, &image->mesh);
        if (status == TSR_OK) status = tsr_mesh_measure(image->mesh, &m);
        if (status == TSR_OK) viewer_image_set_box(image, (tsr_box){ m.lower, m.upper });
        return status;
    }
    tsr_tiles_read_options read = TSR_TILES_READ_OPTIONS;
    int64_t a[3], b[3];
    read.memory_limit = o->s->memory_limit;
    read.progress = progress;
    status = tsr_tiles_read(o->bridge ? o->bridge : o->context, path, &read, tiles);
    if (status == TSR_OK) status = tsr_tiles_bounds(*tiles, a, b);
    if (status != TSR_OK) return status;
    tsr_box box = { { HUGE_VAL, HUGE_VAL, HUGE_VAL }, { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL } };
    for (int i = 0; i < 8; i++) { /* the corners: axes may point anywhere */
        const tsr_vec3 p = tsr_geometry_to_world(
            tsr_tiles_geometry(*tiles), (tsr_vec3){ (double)(i & 1 ? b[0] : a[0]), (double)(i & 2 ? b[1] : a[1]), (double)(i & 4 ? b[2] : a[2]) });
        box.lower = (tsr_vec3){ fmin(box.lower.x, p.x), fmin(box.lower.y, p.y), fmin(box.lower.z, p.z) };
        box.upper = (tsr_vec3){ fmax(box.upper.x, p.x), fmax(box.upper.y, p.y), fmax(box.upper.z, p.z) };
    }
    viewer_image_set_box(image, box);
    return TSR_OK;
}

/* 0 with an image, and tiles where the file holds them; -1 with a message. */
static int read_file(struct watcher *o, const char *name, viewer_image **image, tsr_tiles **tiles, char *error, size_t error_bytes)
{
    char path[4096];
    viewer_image *made = NULL;
    if (viewer_is_volume(name)) {
        if (viewer_load_image(o->s, name, image, error, error_bytes)) return -1;
        tsr_volume *on_device = NULL;
        tsr_status status = TSR_OK;
        if (tsr_context_device(o->context).kind != TSR_DEVICE_CPU) status = tsr_volume_copy((*image)->volume, o->context, &on_device);
        const int failed = status != TSR_OK || viewer_image_describe(o->context, *image, on_device ? on_device : (*image)->volume);
        tsr_volume_destroy(&on_device);
        if (failed) viewer_take_message(o->s, error, error_bytes);
        return failed ? -1 : 0;
    }
    if (viewer_path_of_existing(o->s, name, path, sizeof path, error, error_bytes)) return -1;
    if (!viewer_view.opens(name)) {
        snprintf(error, error_bytes, "%s: expected %s", name, viewer_view.expects);
        return -1;
    }
    *image = made = (viewer_image *)calloc(1, sizeof *made);
    if (!made) {
        snprintf(error, error_bytes, "%s: out of memory", name);
        return -1;
    }
    made->references = 1;
    snprintf(made->name, sizeof made->name, "%s", name);
    if (read_surface(o, path, name, made, tiles) == TSR_OK) return 0;
    viewer_take_message(o->s, error, error_bytes);
    return -1;
}

static void free_tiles(const struct watcher *o, tsr_tiles *tiles)
{
    if (o->bridge) pthread_mutex_lock(&o->s->bridge_lock);
    tsr_tiles_destroy(&tiles);
    if (o->bridge) pthread_mutex_unlock(&o->s->bridge_lock);
}

static void load(struct watcher *o, const char *name)
{
    viewer_session *s = o->s;
    char error[512] = "";
    viewer_image *image = NULL, *shared;
    tsr_tiles *tiles = NULL, *stale;
    if (read_file(o, name, &image, &tiles, error, sizeof error)) {
        viewer_image_release(s, &image);
        free_tiles(o, tiles);
        viewer_cannot_load(s, error);
        return;
    }
    pthread_mutex_lock(&s->lock);
    shared = s->image;
    stale = s->surface.tiles;
    s->image = NULL;
    s->first_load = 0;
    s->isovalue = NAN;
    s->look[VIEWER_VOLUME].mode = image->volume ? VIEWER_MODE_VOLUME : VIEWER_MODE_SURFACE;
    s->surface = (viewer_surface){ .tiles = tiles };
    s->surface_ready = tiles != NULL;
    o->state.has_surface = tiles || image->mesh;
    pthread_mutex_unlock(&s->lock);
    free_tiles(o, stale);
    viewer_image_show(s, image, 1);
    viewer_image_release(s, &image);
    viewer_image_release(s, &shared);
}

static void act(struct watcher *o, const viewer_command *c)
{
    if (c->kind == VIEWER_LOAD) {
        tell_state(o, "loading");
        load(o, c->name);
        tell_state(o, "");
    } else {
        viewer_session_tell(o->s, "error", "a session that only shows has nothing to %s but the 3-D picture", viewer_kind_name(c->kind));
    }
}

static void *work(void *session)
{
    struct watcher o = { .s = (viewer_session *)session };
    viewer_session *s = o.s;
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    options.device = s->device;
    options.threads = s->threads;
    const int good = tsr_context_create(&options, &o.context) == TSR_OK &&
                     (tsr_context_device(o.context).kind == TSR_DEVICE_CPU || tsr_context_create(&options, &o.bridge) == TSR_OK);
    if (!good) viewer_session_tell(s, "error", "%s", tsr_error_message());
    pthread_mutex_lock(&s->lock);
    while (s->quit < 2) {
        tsr_tiles *used = s->used_tiles;
        s->used_tiles = NULL;
        if (good && used) {
            pthread_mutex_unlock(&s->lock);
            free_tiles(&o, used);
            pthread_mutex_lock(&s->lock);
        } else if (good && !s->quit && s->queue_count) {
            const viewer_command command = s->queue[s->queue_first];
            s->queue_first = (s->queue_first + 1) % VIEWER_QUEUE;
            s->queue_count--;
            pthread_mutex_unlock(&s->lock);
            act(&o, &command);
            pthread_mutex_lock(&s->lock);
        } else {
            viewer_wait(&s->to_solver, &s->lock, 1e9);
        }
    }
    pthread_mutex_unlock(&s->lock);
    tsr_tiles_destroy(&s->used_tiles);
    tsr_tiles_destroy(&s->surface.tiles);
    tsr_context_destroy(&o.context);
    tsr_context_destroy(&o.bridge);
    return NULL;
}

static int opens(const char *name) { return viewer_is_volume(name) || viewer_is_mesh(name) || viewer_is_tiles(name); }

static void state(const viewer_session *s, struct json_t *json)
{
    (void)s;
    (void)json;
}

const viewer_mode viewer_view = { .name = "view",
                                  .takes = VIEWER_TAKES(ISOVALUE),
                                  .opens = opens,
                                  .expects = "a volume, a mesh (.ply, .obj, .stl, .off) or a tile list (.tsr, .nvdb)",
                                  .work = work,
                                  .state = state };
