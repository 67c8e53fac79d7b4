/* viewer/solver.c: the thread that owns the segmentation. Commands take effect between batches of steps of about 10 ms; the surface is handed to the
 * painter as a copy whenever the painter has taken the one before. It waits only when there is nothing to do. */
#define _GNU_SOURCE /* SYS_gettid */
#include "solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

enum { MOST_EDITS = 200000, MOST_BATCH = 2048 };
static const double batch_seconds = 0.010, tell_seconds = 0.06;

static const char *const saved_parameters[] = { "target",          "epsilon",        "alpha",    "smoothing", "data_weight",      "data_floor",
                                                "curvature_limit", "rescale_weight", "gradient", "cfl",       "probe_deviations", "snapshots" };
enum { SAVED = sizeof saved_parameters / sizeof *saved_parameters };

/* ---- what the others are given ------------------------------------------------------------------------------------------------------------- */

static void tell_state(struct solver *o)
{
    o->state.undo_levels = o->state.undo_levels > VIEWER_UNDO_LEVELS ? VIEWER_UNDO_LEVELS : o->state.undo_levels;
    pthread_mutex_lock(&o->s->lock);
    o->s->state = o->state;
    o->s->state.undo_levels += o->before.segmentation != NULL;
    viewer_session_changed(o->s);
    pthread_mutex_unlock(&o->s->lock);
    o->state_dirty = 0;
    o->told = viewer_seconds();
}

static void busy(struct solver *o, const char *with)
{
    o->state.busy = *with != 0;
    snprintf(o->state.busy_with, sizeof o->state.busy_with, "%s", with);
    tell_state(o);
}

static void read_parameters(struct solver *o)
{
    double *const to[] = { &o->state.target, &o->state.epsilon, &o->state.alpha, &o->state.smoothing };
    for (int i = 0; i < 4; i++)
        if (tsr_segmentation_get(o->segmentation, saved_parameters[i], to[i]) != TSR_OK) *to[i] = 0;
    memcpy(o->state.probed, tsr_segmentation_probe_counts(o->segmentation), sizeof o->state.probed);
    o->state_dirty = 1;
}

/* Extents of the surface after an edit, when no step reports them. */
static void measure(struct solver *o)
{
    tsr_tiles_info info;
    if (tsr_tiles_describe(tsr_segmentation_tiles(o->segmentation), &info) != TSR_OK) return;
    o->state.has_surface = info.count > 0;
    o->state.report.tiles = info.count;
    o->state.report.inside_voxels = info.inside_voxels;
    o->state.report.volume = (double)info.inside_voxels * fabs(tsr_geometry_determinant(&o->image->geometry));
    o->state_dirty = 1;
}

/* ---- images -------------------------------------------------------------------------------------------------------------------------------- */

static int describe_image(struct solver *o, viewer_image *image, const tsr_volume *volume)
{
    tsr_statistics statistics;
    int64_t counts[VIEWER_BINS + 3] = { 0 };
    if (tsr_volume_check_finite(o->context, volume, image->name) != TSR_OK || tsr_volume_statistics(o->context, volume, &statistics) != TSR_OK)
        return -1;
    image->minimum = statistics.minimum;
    image->maximum = statistics.maximum > statistics.minimum ? statistics.maximum : statistics.minimum + 1;
    if (tsr_volume_histogram(o->context, volume, image->minimum, image->maximum, VIEWER_BINS, counts) != TSR_OK) return -1;
    memcpy(image->histogram, counts, sizeof image->histogram);
    double most = (double)statistics.count * 0.995, sum = 0;
    int bin = 0;
    while (bin < VIEWER_BINS - 1 && (sum += (double)counts[bin]) < most) bin++;
    image->window_low = image->minimum;
    image->window_high = image->minimum + (image->maximum - image->minimum) * (bin + 1) / VIEWER_BINS;
    return 0;
}

/* Its numbers exactly. */
static char *write_head(const tsr_segmentation *segmentation, const viewer_image *image)
{
    char text[2048];
    int used = snprintf(text, sizeof text, "# tessera session 1\n# image %s\n", image->name);
    for (int i = 0; i < SAVED; i++) {
        double value = 0;
        if (tsr_segmentation_get(segmentation, saved_parameters[i], &value) == TSR_OK)
            used += snprintf(text + used, sizeof text - (size_t)used, "set %s %.17g\n", saved_parameters[i], value);
    }
    return strdup(text);
}

static void forget_before(struct solver *o)
{
    tsr_segmentation_destroy(&o->before.segmentation);
    free(o->before.head);
    o->before.head = NULL;
}

/* Takes over `made` and its head. What was there can come back, unless it is of another image or nothing was done to it. */
static void install(struct solver *o, tsr_segmentation *made, char *head, viewer_image *image)
{
    int worth = o->segmentation && image == o->image && *tsr_segmentation_log(o->segmentation);
    if (worth || image != o->image) forget_before(o);
    if (worth) {
        o->before.segmentation = o->segmentation;
        o->before.head = o->head;
        o->before.state = o->state;
        o->before.edits = o->edits;
    } else {
        tsr_segmentation_destroy(&o->segmentation);
        free(o->head);
    }
    o->segmentation = made;
    o->head = head;
    o->image = image;
    const viewer_state before = o->state;
    o->state = (viewer_state){ .busy = before.busy };
    memcpy(o->state.busy_with, before.busy_with, sizeof o->state.busy_with);
    o->batch = 1;
    o->edits = 0;
    o->rate = 0;
    o->left = 0;
    o->surface_dirty = o->speed_dirty = 1;
    read_parameters(o);
}

/* A new segmentation of `image`; the one before goes only if this works. */
static int begin(struct solver *o, viewer_image *image, const tsr_volume *volume)
{
    tsr_segmentation *made = NULL;
    if (tsr_segmentation_create(o->context, volume, &o->options, &made) != TSR_OK) return -1;
    install(o, made, write_head(made, image), image);
    return 0;
}

/* Undo of a reset or of a loaded session. */
static void bring_back(struct solver *o)
{
    const viewer_state now = o->state;
    tsr_segmentation_destroy(&o->segmentation);
    free(o->head);
    o->segmentation = o->before.segmentation;
    o->head = o->before.head;
    o->state = o->before.state;
    o->edits = o->before.edits;
    o->before.segmentation = NULL;
    o->before.head = NULL;
    o->state.running = 0;
    o->state.busy = now.busy;
    memcpy(o->state.busy_with, now.busy_with, sizeof o->state.busy_with);
    o->batch = 1;
    o->surface_dirty = o->speed_dirty = 1;
    read_parameters(o);
    measure(o);
}

static void take_image(viewer_session *s, viewer_image *image)
{
    const int64_t n[3] = { image->size.x, image->size.y, image->size.z };
    pthread_mutex_lock(&s->lock);
    image->references++; /* the session's */
    s->image = image;
    s->image_version++;
    s->window_low = image->window_low;
    s->window_high = image->window_high;
    if (tsr_transfer_make(image->minimum < -200 ? TSR_TRANSFER_CT_SOFT : TSR_TRANSFER_MRI_HEAD, s->window_low, s->window_high, &s->transfer) !=
        TSR_OK)
        s->transfer = (tsr_transfer){ 0 };
    for (int v = 0; v < VIEWER_VIEWS; v++) {
        viewer_look *look = &s->look[v];
        look->position = 0.5 * (double)(n[look->axis] - 1);
        look->zoom = 1;
        look->pan[0] = look->pan[1] = 0;
        s->look_version[v]++;
    }
    viewer_session_changed(s);
    pthread_mutex_unlock(&s->lock);
}

/* Who started the program with a file looks at its terminal, not at the page. */
static void cannot_load(viewer_session *s, const char *error)
{
    pthread_mutex_lock(&s->lock);
    if (s->first_load) snprintf(s->trouble, sizeof s->trouble, "%s", error);
    s->first_load = 0;
    pthread_mutex_unlock(&s->lock);
    viewer_session_tell(s, "error", "%s", error);
}

static void load_image(struct solver *o, const char *name)
{
    viewer_session *s = o->s;
    char error[512] = "";
    viewer_image *image = NULL, *before = o->image;
    tsr_volume *on_device = NULL, *on_device_before = o->on_device;
    if (viewer_load_image(s, name, &image, error, sizeof error)) {
        cannot_load(s, error);
        return;
    }
    int good = tsr_context_device(o->context).kind == TSR_DEVICE_CPU || tsr_volume_copy(image->volume, o->context, &on_device) == TSR_OK;
    const tsr_volume *volume = on_device ? on_device : image->volume;
    good = good && !describe_image(o, image, volume);
    if (good) {
        o->options = s->segment; /* set before the threads started */
        o->options.snapshots = VIEWER_UNDO_LEVELS;
        double range = image->maximum - image->minimum;
        if (!(o->options.epsilon > 0)) o->options.epsilon = range / 10;
        if (o->options.target == 0) o->options.target = 0.5 * (image->window_low + image->window_high);
        good = !begin(o, image, volume);
    }
    if (!good) {
        cannot_load(s, tsr_error_message());
        tsr_volume_destroy(&on_device);
        viewer_image_release(s, &image);
        return;
    }
    o->on_device = on_device;
    pthread_mutex_lock(&s->lock);
    s->first_load = 0;
    viewer_image *shared = s->image;
    tsr_tiles *stale = s->surface.tiles; /* of the image before, not taken */
    tsr_volume *stale_speed = s->speed.volume;
    s->image = NULL;
    s->surface.tiles = NULL;
    s->speed = (viewer_speed){ 0 };
    s->surface_ready = s->speed_ready = 0;
    pthread_mutex_unlock(&s->lock);
    viewer_free_given(o, stale, stale_speed);
    take_image(s, image);
    viewer_image_release(s, &shared);
    viewer_image_release(s, &before);
    tsr_volume_destroy(&on_device_before);
}

/* The current parameters are those of the next segmentation too. */
static int keep_parameters(struct solver *o)
{
    double *const to[] = { &o->options.target,      &o->options.epsilon,    &o->options.alpha,           &o->options.smoothing,
                           &o->options.data_weight, &o->options.data_floor, &o->options.curvature_limit, &o->options.rescale_weight,
                           &o->options.gradient,    &o->options.cfl,        &o->options.probe_deviations };
    for (int i = 0; i < SAVED - 1; i++)
        if (tsr_segmentation_get(o->segmentation, saved_parameters[i], to[i]) != TSR_OK) return -1;
    return 0;
}

static const tsr_volume *volume_of(const struct solver *o) { return o->on_device ? o->on_device : o->image->volume; }

static int reset(struct solver *o) { return keep_parameters(o) ? -1 : begin(o, o->image, volume_of(o)); }

/* ---- sessions ------------------------------------------------------------------------------------------------------------------------------ */

static char *session_script(const struct solver *o)
{
    const char *log = tsr_segmentation_log(o->segmentation);
    size_t head = strlen(o->head), size = head + strlen(log) + 1;
    char *text = (char *)malloc(size);
    if (text) snprintf(text, size, "%s%s", o->head, log);
    return text;
}

static int snapshots_fit(double number) { return number >= 1 && number <= VIEWER_UNDO_LEVELS; }

/* Number of the line that would keep more surfaces than undo may have; 0 = none. */
static int greedy_line(const char *text)
{
    for (int line = 1; *text; line++, text += strcspn(text, "\n"), text += *text == '\n') {
        const char *at = text + strspn(text, " \t");
        if (strncmp(at, "set", 3)) continue;
        at += 3 + strspn(at + 3, " \t");
        if (!strncmp(at, "snapshots", 9) && !snapshots_fit(strtod(at + 9, NULL))) return line;
    }
    return 0;
}

static int interrupted(void *session, double fraction, const char *stage)
{
    (void)fraction;
    (void)stage;
    return viewer_session_interrupted((viewer_session *)session);
}

/* In a segmentation of its own, which takes the place of the current one when all of it is done. */
static void load_script(struct solver *o, const char *name)
{
    char error[512] = "";
    tsr_progress progress = { interrupted, o->s };
    tsr_segmentation *made = NULL;
    tsr_segment_report report = { 0 };
    char *text = viewer_read_script(o->s, name, error, sizeof error);
    if (!text) {
        viewer_session_tell(o->s, "error", "%s", error);
        return;
    }
    int greedy = greedy_line(text);
    if (greedy) {
        viewer_session_tell(o->s, "error", "%s:%d: the workbench keeps 1 to %d snapshots", name, greedy, VIEWER_UNDO_LEVELS);
        free(text);
        return;
    }
    char *head = NULL;
    tsr_status status = keep_parameters(o) ? TSR_ERROR_INTERNAL : tsr_segmentation_create(o->context, volume_of(o), &o->options, &made);
    if (status == TSR_OK) {
        head = write_head(made, o->image);
        status = tsr_segmentation_script(made, text, name, &progress, &report);
    }
    free(text);
    if (status != TSR_OK) {
        if (status == TSR_ERROR_CANCELLED) viewer_session_tell(o->s, "notice", "%s: stopped; the surface is as it was before", name);
        else viewer_session_tell(o->s, "error", "%s", tsr_error_message());
        tsr_segmentation_destroy(&made);
        free(head);
        return;
    }
    install(o, made, head, o->image);
    viewer_session_tell(o->s, "notice", "%s replayed: %lld steps", name, (long long)report.total_steps);
    o->state.report = report;
    o->state.undo_levels = 0; /* how many the script left cannot be told */
    read_parameters(o);
    measure(o);
    o->surface_dirty = o->speed_dirty = 1;
}

static void save(struct solver *o, const viewer_command *c)
{
    char error[512] = "", *script = c->what == VIEWER_SAVE_SESSION ? session_script(o) : NULL;
    busy(o, "saving");
    if (viewer_save(o->s, o->context, o->segmentation, script, c, error, sizeof error)) viewer_session_tell(o->s, "error", "%s", error);
    else viewer_session_tell(o->s, "saved", "%s", c->name);
    free(script);
    busy(o, "");
}

/* ---- commands ------------------------------------------------------------------------------------------------------------------------------ */

static tsr_status snapshot(struct solver *o)
{
    tsr_status status = tsr_segmentation_snapshot(o->segmentation);
    if (status == TSR_OK) o->state.undo_levels++;
    return status;
}

static tsr_status edit(struct solver *o, const viewer_command *c)
{
    tsr_vec3 at = { c->at[0], c->at[1], c->at[2] }, from = { c->from[0], c->from[1], c->from[2] }, to = from;
    tsr_status status = TSR_OK;
    if (viewer_given(c, VIEWER_TO)) to = (tsr_vec3){ c->to[0], c->to[1], c->to[2] };
    switch (c->kind) {
    case VIEWER_SET:
        status = tsr_segmentation_set(o->segmentation, c->name, c->value);
        viewer_speed_after_set(o, c->name, o->given.alpha, !strcmp(c->name, "alpha") ? c->value : 0);
        break;
    case VIEWER_PROBE:
        if (c->colours) return viewer_probe_colours(o->s, o->context, volume_of(o), o->image, c, &o->colours);
        status = tsr_segmentation_probe(o->segmentation, at, c->radius, &o->state.probe);
        break;
    case VIEWER_PROBE_UNDO: status = tsr_segmentation_probe_undo(o->segmentation, &o->state.probe); break;
    case VIEWER_PROBE_RESET:
        tsr_segmentation_probe_reset(o->segmentation);
        o->state.probe = (tsr_probe){ 0 };
        break;
    case VIEWER_UNDO:
        status = tsr_segmentation_undo(o->segmentation);
        if (status == TSR_OK && o->state.undo_levels > 0) o->state.undo_levels--;
        o->state.running = 0;
        break;
    default: /* paint, erase */
        if (c->begin) status = snapshot(o);
        if (status == TSR_OK) status = tsr_segmentation_stroke(o->segmentation, from, to, c->radius, c->kind == VIEWER_ERASE);
    }
    if (c->kind == VIEWER_UNDO || c->kind == VIEWER_PAINT || c->kind == VIEWER_ERASE) {
        o->surface_dirty = 1;
        if (!o->state.running) measure(o);
        else o->state.has_surface = 1;
    } else if (c->kind != VIEWER_SET) {
        o->speed_dirty = 1;
    }
    o->edited = viewer_seconds();
    read_parameters(o);
    return status;
}

/* Steps and what follows from them. */
static tsr_status advance(struct solver *o, int64_t steps)
{
    tsr_segment_report report;
    tsr_progress progress = { viewer_session_quits, o->s };
    tsr_status status = tsr_segmentation_step(o->segmentation, steps, &progress, &report);
    if (status != TSR_OK) {
        o->state.running = 0;
        o->state_dirty = 1;
        return status;
    }
    if (report.seconds > 0) {
        o->rate += (report.steps_per_second - o->rate) * (o->rate > 0 ? 0.1 : 1);
        double fits = (double)steps * batch_seconds / report.seconds;
        o->batch = (int64_t)fmin(fmax(fits, 1), fmin(2.0 * (double)o->batch, MOST_BATCH));
    }
    report.steps_per_second = o->rate;
    o->state.report = report;
    o->state.has_surface = report.tiles > 0 && report.inside_voxels > 0;
    o->surface_dirty = 1;
    if (!o->state.has_surface) {
        o->state.running = 0;
        if (report.inside_voxels > 0) viewer_session_tell(o->s, "notice", "the surface has left the image: all of it is inside");
        else viewer_session_tell(o->s, "notice", "the surface vanished: nothing around the seeds is within epsilon of T, or curvature is too strong");
    }
    if (viewer_seconds() - o->told > tell_seconds || !o->state.running) o->state_dirty = 1;
    return TSR_OK;
}

static void start(struct solver *o)
{
    if (o->state.running) return;
    if (!o->state.has_surface) {
        viewer_session_tell(o->s, "error", "there is no surface to move: paint a sphere inside the structure first");
        return;
    }
    if (snapshot(o) != TSR_OK) viewer_session_tell(o->s, "error", "%s", tsr_error_message());
    o->state.running = 1;
    o->state_dirty = 1;
}

static void act(struct solver *o, const viewer_command *c)
{
    tsr_status status = TSR_OK;
    o->input = viewer_given(c, VIEWER_INPUT) ? (uint32_t)c->input : o->input;
    if (c->kind == VIEWER_LOAD) {
        busy(o, "loading");
        if (!viewer_is_script(c->name)) load_image(o, c->name);
        else if (o->segmentation) load_script(o, c->name);
        else viewer_session_tell(o->s, "error", "%s: load an image before a session", c->name);
        busy(o, "");
        return;
    }
    if (!o->segmentation) {
        viewer_session_tell(o->s, "error", "no image is loaded");
        return;
    }
    switch (c->kind) {
    case VIEWER_START: start(o); break;
    case VIEWER_PAUSE:
        o->state.running = 0;
        o->state_dirty = 1;
        break;
    case VIEWER_STEP:
        if (!o->state.has_surface) start(o); /* says what is missing */
        else if ((status = snapshot(o)) == TSR_OK) {
            o->left = (int64_t)c->count; /* in batches, so that Pause is heard */
            o->run_on = o->state.running;
            o->state.running = o->state_dirty = 1;
        }
        break;
    case VIEWER_RESET:
        if (reset(o)) status = TSR_ERROR_INTERNAL;
        break;
    case VIEWER_SAVE: save(o, c); break;
    default:
        if (c->kind == VIEWER_UNDO && !o->state.undo_levels && o->before.segmentation) {
            bring_back(o);
            return;
        }
        if (c->kind == VIEWER_SET && !strcmp(c->name, "snapshots") && !snapshots_fit(c->value)) {
            viewer_session_tell(o->s, "error", "snapshots is %g, expected 1 to %d", c->value, VIEWER_UNDO_LEVELS);
            return;
        }
        if (++o->edits > MOST_EDITS) {
            viewer_session_tell(o->s, "error", "the session has %d edits: save and reset it", MOST_EDITS);
            return;
        }
        status = edit(o, c);
    }
    if (status != TSR_OK) viewer_session_tell(o->s, "error", "%s", tsr_error_message());
}

/* ---- the thread ---------------------------------------------------------------------------------------------------------------------------- */

/* Next command, if any; waits where there is nothing else to do. -1: the end. */
static int next(struct solver *o, viewer_command *command)
{
    viewer_session *s = o->s;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        tsr_tiles *tiles = s->used_tiles;
        tsr_volume *speed = s->used_speed;
        s->used_tiles = NULL;
        s->used_speed = NULL;
        if (!tiles && !speed) {
            if (s->quit || s->queue_count || o->state.running || o->state_dirty || viewer_give_due(o)) break;
            viewer_wait(&s->to_solver, &s->lock, viewer_give_wait(o));
            continue;
        }
        pthread_mutex_unlock(&s->lock);
        viewer_free_given(o, tiles, speed);
        pthread_mutex_lock(&s->lock);
    }
    int stop = o->left > 0 && viewer_queue_interrupts(s);
    if (stop) {
        o->left = 0;
        o->state.running = o->run_on;
        o->state_dirty = 1;
    }
    int result = s->quit ? -1 : s->queue_count > 0 && !o->left; /* the other commands wait for the steps in front of them */
    if (result > 0) {
        *command = s->queue[s->queue_first];
        s->queue_first = (s->queue_first + 1) % VIEWER_QUEUE;
        s->queue_count--;
    }
    pthread_mutex_unlock(&s->lock);
    return result;
}

/* After the painter has ended. */
static void clean(struct solver *o)
{
    viewer_session *s = o->s;
    pthread_mutex_lock(&s->lock);
    while (s->quit < 2) pthread_cond_wait(&s->to_solver, &s->lock);
    pthread_mutex_unlock(&s->lock);
    tsr_tiles_destroy(&s->used_tiles);
    tsr_volume_destroy(&s->used_speed);
    tsr_tiles_destroy(&s->surface.tiles);
    tsr_volume_destroy(&s->speed.volume);
    forget_before(o);
    tsr_segmentation_destroy(&o->segmentation);
    tsr_volume_destroy(&o->on_device);
    viewer_image_release(s, &o->image);
    tsr_context_destroy(&o->context);
    tsr_context_destroy(&o->bridge);
    free(o->head);
}

void *viewer_solver_main(void *session)
{
    struct solver o = { .s = (viewer_session *)session, .batch = 1 };
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    viewer_command command;
#ifdef __linux__ /* windows answer first: on a machine with few cores the solver takes what drawing leaves. Threads it starts inherit this */
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 8);
#endif
    options.device = o.s->device;
    options.threads = o.s->threads;
    if (tsr_context_create(&options, &o.context) == TSR_OK && tsr_context_device(o.context).kind == TSR_DEVICE_CPU) {
        options.threads = tsr_context_threads(o.context) > 1 ? tsr_context_threads(o.context) - 1 : 1; /* one core for the windows */
        tsr_context_destroy(&o.context);
    }
    tsr_context_destroy(&o.context);
    if (tsr_context_create(&options, &o.context) != TSR_OK ||
        (tsr_context_device(o.context).kind != TSR_DEVICE_CPU && tsr_context_create(&options, &o.bridge) != TSR_OK)) {
        viewer_session_tell(o.s, "error", "%s", tsr_error_message());
        clean(&o);
        return NULL;
    }
    for (int got; (got = next(&o, &command)) >= 0;) {
        if (got) act(&o, &command);
        else if (o.state.running) {
            int64_t steps = o.left > 0 && o.left < o.batch ? o.left : o.batch;
            tsr_status status = advance(&o, steps);
            if (o.left > 0 && (o.left -= steps) == 0) o.state.running = o.state.running && o.run_on;
            if (!o.state.running) {
                o.left = 0;
                o.state_dirty = 1;
            }
            if (status != TSR_OK && status != TSR_ERROR_CANCELLED) viewer_session_tell(o.s, "error", "%s", tsr_error_message());
        }
        pthread_mutex_lock(&o.s->lock);
        int more = o.s->queue_count > 0;
        pthread_mutex_unlock(&o.s->lock);
        if (!more) viewer_give(&o); /* a burst of commands is shown as one */
        if (o.state_dirty) tell_state(&o);
    }
    clean(&o);
    return NULL;
}
