/* viewer/solver.c: the thread that owns the segmentation. Commands take effect between batches of steps of about 10 ms; the surface is handed to the
 * painter as a copy whenever the painter has taken the one before. It waits only when there is nothing to do. */
#define _GNU_SOURCE /* SYS_gettid */
#include "solver.h"
#include "mode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

enum { MOST_EDITS = 200000, MOST_BATCH = 2048, SETTLED_STEPS = 500, LEAST_VOXELS = 26 };
static const double batch_seconds = 0.010, tell_seconds = 0.06, settled_seconds = 2, give_seconds = 0.1;

/* ---- what the others are given ------------------------------------------------------------------------------------------------------------- */

static void tell_state(struct solver *o)
{
    o->state.undo_levels = o->state.undo_levels > VIEWER_UNDO_LEVELS ? VIEWER_UNDO_LEVELS : o->state.undo_levels;
    pthread_mutex_lock(&o->s->lock);
    o->s->state = o->state;
    o->s->state.undo_levels += o->before.segmentation != NULL;
    o->s->state.redo_levels += o->after.segmentation != NULL;
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

void solver_read_parameters(struct solver *o)
{
    tsr_segment_options now = TSR_SEGMENT_OPTIONS;
    if (tsr_segmentation_get_options(o->segmentation, &now) != TSR_OK) now = (tsr_segment_options){ 0 };
    o->state.target = now.target;
    o->state.epsilon = now.epsilon;
    o->state.alpha = now.alpha;
    o->state.smoothing = now.smoothing;
    memcpy(o->state.probed, tsr_segmentation_probe_counts(o->segmentation), sizeof o->state.probed);
    o->state_dirty = 1;
}

/* Extents of the surface after an edit, when no step reports them. */
void solver_measure(struct solver *o)
{
    tsr_tiles_info info = TSR_TILES_INFO;
    if (tsr_tiles_describe(tsr_segmentation_tiles(o->segmentation), &info) != TSR_OK) return;
    o->state.has_surface = info.count > 0;
    o->state.report.tiles = info.count;
    o->state.report.inside_voxels = info.inside_voxels;
    o->state.report.volume = (double)info.inside_voxels * fabs(tsr_geometry_determinant(&o->image->geometry));
    o->state_dirty = 1;
}

/* ---- sessions ------------------------------------------------------------------------------------------------------------------------------ */

static char *session_script(const struct solver *o)
{
    const char *log = tsr_segmentation_log(o->segmentation);
    char summary[SOLVER_SUMMARY];
    solver_journal_summary(o, summary);
    size_t size = strlen(o->head) + strlen(log) + strlen(summary) + 1;
    char *text = (char *)malloc(size);
    if (text) snprintf(text, size, "%s%s%s", o->head, log, summary);
    return text;
}

/* The log is so long that the session file of one more command may be too long to be loaded. */
static int session_is_full(const struct solver *o)
{
    enum { HEAD_AND_COMMAND = 8192 };
    return strlen(tsr_segmentation_log(o->segmentation)) > (size_t)VIEWER_LOG_BYTES - HEAD_AND_COMMAND;
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
    tsr_segment_report report = TSR_SEGMENT_REPORT;
    char *text = viewer_read_script(o->s, name, error, sizeof error);
    if (!text) {
        viewer_session_tell(o->s, "error", "%s", error);
        return;
    }
    char *head = NULL;
    solver_keep_parameters(o);
    tsr_status status = tsr_segmentation_create(o->context, solver_volume(o), &o->options, &made);
    if (status == TSR_OK) {
        head = solver_write_head(made, o->image);
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
    solver_install(o, made, head, o->image);
    viewer_session_tell(o->s, "notice", "%s replayed: %lld steps", name, (long long)report.total_steps);
    o->state.report = report;
    o->state.undo_levels = 0; /* how many the script left cannot be told */
    solver_read_parameters(o);
    solver_measure(o);
    o->surface_dirty = o->speed_dirty = 1;
}

static void save(struct solver *o, const viewer_command *c)
{
    char error[512] = "", *script = c->what == VIEWER_SAVE_SESSION ? session_script(o) : NULL;
    busy(o, "saving");
    const int failed = c->what != VIEWER_SAVE_LABELS ? viewer_save(o->s, o->context, o->segmentation, script, c, error, sizeof error)
                                                     : solver_save_labels(o, c, error, sizeof error) != TSR_OK || *error;
    if (failed && !*error) viewer_take_message(o->s, error, sizeof error);
    if (failed) viewer_session_tell(o->s, "error", "%s", error);
    else {
        viewer_session_tell(o->s, "saved", "%s", c->name);
        if (c->what != VIEWER_SAVE_MESH) o->state.unsaved = 0; /* the others give the work back */
    }
    free(script);
    busy(o, "");
}

/* ---- commands ------------------------------------------------------------------------------------------------------------------------------ */

static tsr_status snapshot(struct solver *o)
{
    tsr_status status = tsr_segmentation_snapshot(o->segmentation);
    if (status == TSR_OK) o->state.undo_levels++;
    o->state.redo_levels = 0;
    solver_forget(&o->after);
    return status;
}

/* Back or forward one level. */
static tsr_status go(struct solver *o, int forward)
{
    const tsr_status status = forward ? tsr_segmentation_redo(o->segmentation) : tsr_segmentation_undo(o->segmentation);
    o->state.running = 0;
    if (status != TSR_OK) return status;
    o->state.undo_levels = (int)fmax(o->state.undo_levels + (forward ? 1 : -1), 0);
    o->state.redo_levels = (int)fmax(o->state.redo_levels + (forward ? -1 : 1), 0);
    return status;
}

/* A name and a number of the page, as a session has them. */
static tsr_status set_parameter(tsr_segmentation *segmentation, const char *name, double value)
{
    char line[128];
    if (!*name || name[strspn(name, "abcdefghijklmnopqrstuvwxyz_")]) name = "?"; /* one word, which the script then refuses */
    snprintf(line, sizeof line, "set %.40s %.17g", name, value);
    return tsr_segmentation_script(segmentation, line, "set", NULL, NULL);
}

static tsr_status edit(struct solver *o, const viewer_command *c)
{
    tsr_vec3 at = { c->at[0], c->at[1], c->at[2] }, from = { c->from[0], c->from[1], c->from[2] }, to = from;
    tsr_status status = TSR_OK;
    if (viewer_given(c, VIEWER_TO)) to = (tsr_vec3){ c->to[0], c->to[1], c->to[2] };
    switch (c->kind) {
    case VIEWER_SET:
        status = set_parameter(o->segmentation, c->name, c->value);
        viewer_speed_after_set(o, c->name, o->given.alpha, !strcmp(c->name, "alpha") ? c->value : 0);
        break;
    case VIEWER_PROBE:
        if (c->colours) return viewer_probe_colours(o->s, o->context, solver_volume(o), o->image, c, &o->colours);
        status = tsr_segmentation_probe(o->segmentation, at, c->radius, &o->state.probe);
        break;
    case VIEWER_PROBE_UNDO: status = tsr_segmentation_probe_undo(o->segmentation, &o->state.probe); break;
    case VIEWER_PROBE_RESET:
        tsr_segmentation_probe_reset(o->segmentation);
        o->state.probe = (tsr_probe){ 0 };
        break;
    case VIEWER_UNDO:
    case VIEWER_REDO: status = go(o, c->kind == VIEWER_REDO); break;
    default: /* paint, erase */
        if (c->begin) status = snapshot(o);
        if (status == TSR_OK) status = tsr_segmentation_stroke(o->segmentation, from, to, c->radius, c->kind == VIEWER_ERASE);
    }
    o->settling.step = -1;
    if (c->kind == VIEWER_UNDO || c->kind == VIEWER_REDO || c->kind == VIEWER_PAINT || c->kind == VIEWER_ERASE) {
        o->surface_dirty = o->state.unsaved = 1;
        if (!o->state.running) solver_measure(o);
        else o->state.has_surface = 1;
    } else if (c->kind != VIEWER_SET) {
        o->speed_dirty = 1;
    }
    o->edited = viewer_seconds();
    solver_read_parameters(o);
    return status;
}

/* The surface is gone, or as good as that: a word that stays, and what to change. */
static void tell_end(const struct solver *o)
{
    const viewer_state *t = &o->state;
    const char *curved = t->alpha < 1 ? ", or curvature was stronger" : "", *flatter = t->alpha < 1 ? ", Detail (alpha) nearer to 1" : "";
    char what[64] = "vanished";
    if (t->has_surface) snprintf(what, sizeof what, "has shrunk to %lld voxel(s)", (long long)t->report.inside_voxels);
    if (!t->has_surface && t->report.inside_voxels > 0)
        viewer_session_tell(
            o->s, "warning",
            "The surface has left the image: all of it is inside. Undo, then make the tolerance (epsilon) smaller than %.4g or probe again.",
            t->epsilon);
    else
        viewer_session_tell(o->s, "warning",
                            "The surface %s: where it was, the grey values are not within the tolerance (epsilon, %.4g) of %.4g (T)%s. Undo, then "
                            "probe the structure, "
                            "make the tolerance larger%s, or paint more.",
                            what, t->epsilon, t->target, curved, flatter);
}

/* Its volume has stayed the same, but for some voxels that come and go, for many steps and some time. */
static int has_settled(struct solver *o)
{
    const int64_t now = o->state.report.inside_voxels, steps = o->state.report.total_steps;
    const double tolerance = fmax(1, 1e-4 * (double)now);
    if (o->settling.step < 0 || fabs((double)(now - o->settling.inside)) > tolerance) {
        o->settling.inside = now;
        o->settling.step = steps;
        o->settling.since = viewer_seconds();
    }
    return steps - o->settling.step >= SETTLED_STEPS && viewer_seconds() - o->settling.since >= settled_seconds;
}

/* Steps and what follows from them. */
static tsr_status advance(struct solver *o, int64_t steps)
{
    tsr_segment_report report = TSR_SEGMENT_REPORT;
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
    o->surface_dirty = o->state.unsaved = 1;
    if (!o->state.has_surface) {
        o->state.running = 0;
        tell_end(o);
    } else if (o->left == 0 && has_settled(o)) {
        o->state.running = 0;
        if (report.inside_voxels <= LEAST_VOXELS) tell_end(o);
        else
            viewer_session_tell(o->s, "notice", "the surface has settled after %lld steps and stopped: Start goes on", (long long)report.total_steps);
    }
    if (viewer_seconds() - o->told > tell_seconds || !o->state.running) o->state_dirty = 1;
    return TSR_OK;
}

/* One more line of the log, which a page must not let grow without end. Says why not. */
static int has_no_room(struct solver *o)
{
    if (++o->edits <= MOST_EDITS && !session_is_full(o)) return 0;
    if (o->edits > MOST_EDITS) o->edits = MOST_EDITS + 1;
    viewer_session_tell(o->s, "error", "the session has %lld edits in %zu bytes, more than it may have: save and reset it", (long long)o->edits,
                        strlen(tsr_segmentation_log(o->segmentation)));
    return 1;
}

static void start(struct solver *o)
{
    if (o->state.running) return;
    if (!o->state.has_surface) {
        viewer_session_tell(o->s, "error", "there is no surface to move: paint a sphere inside the structure first");
        return;
    }
    if (has_no_room(o)) return;
    if (snapshot(o) != TSR_OK) viewer_session_tell(o->s, "error", "%s", tsr_error_message());
    solver_journal_note(o, VIEWER_START);
    o->settling.step = -1;
    o->state.running = 1;
    o->state_dirty = 1;
}

/* A new segmentation that begins with the mask: Undo gives back the one before. */
static void take_mask(struct solver *o, const char *name)
{
    if (!o->segmentation) {
        viewer_session_tell(o->s, "error", "%s: load an image before a mask of it", name);
        return;
    }
    tsr_status status = solver_reset(o) ? TSR_ERROR_INTERNAL : solver_take_mask(o, name);
    if (status != TSR_OK) {
        viewer_session_tell(o->s, "error", "%s: %s", name, tsr_error_message());
        if (o->before.segmentation) solver_exchange(o, &o->before, &o->after);
        solver_forget(&o->after);
        return;
    }
    o->surface_dirty = o->state.unsaved = 1;
    o->settling.step = -1;
    solver_measure(o);
}

static void act(struct solver *o, const viewer_command *c)
{
    tsr_status status = TSR_OK;
    o->input = viewer_given(c, VIEWER_INPUT) ? (uint32_t)c->input : o->input;
    if (c->kind == VIEWER_LOAD) {
        busy(o, "loading");
        if (c->as == VIEWER_AS_MASK) take_mask(o, c->name);
        else if (c->as == VIEWER_AS_LABELS) solver_load_labels(o, c->name);
        else if (c->as == VIEWER_AS_OVERLAY) solver_load_overlay(o, c->name);
        else if (!viewer_is_script(c->name)) solver_load_image(o, c->name);
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
        if (o->state.running && !session_is_full(o)) solver_journal_note(o, VIEWER_PAUSE);
        o->state.running = 0;
        o->state_dirty = 1;
        break;
    case VIEWER_STEP:
        if (!o->state.has_surface) start(o); /* says what is missing */
        else if (!has_no_room(o) && (status = snapshot(o)) == TSR_OK) {
            solver_journal_note(o, VIEWER_STEP);
            o->left = (int64_t)c->count; /* in batches, so that Pause is heard */
            o->run_on = o->state.running;
            o->state.running = o->state_dirty = 1;
        }
        break;
    case VIEWER_RESET:
        if (solver_reset(o)) status = TSR_ERROR_INTERNAL;
        break;
    case VIEWER_SAVE: save(o, c); break;
    case VIEWER_LABEL: status = solver_label(o, c); break;
    case VIEWER_STATISTICS:
        if (o->state.has_surface) status = solver_tell_statistics(o);
        else viewer_session_tell(o->s, "error", "there is no surface to measure: paint one first");
        break;
    default:
        if (c->kind == VIEWER_UNDO && !o->state.undo_levels && o->before.segmentation) {
            solver_exchange(o, &o->before, &o->after);
            return;
        }
        if (c->kind == VIEWER_REDO && !o->state.redo_levels && o->after.segmentation) {
            solver_exchange(o, &o->after, &o->before);
            return;
        }
        if (has_no_room(o)) return;
        status = edit(o, c);
        if (status == TSR_OK && !c->colours) solver_journal_note(o, c->kind);
    }
    if (status != TSR_OK) viewer_session_tell(o->s, "error", "%s", tsr_error_message());
}

/* ---- the thread ---------------------------------------------------------------------------------------------------------------------------- */

/* With the lock held: nobody has looked for a while. */
static void pause_alone(struct solver *o)
{
    o->left = o->run_on = o->state.running = 0;
    o->state_dirty = 1;
    o->alone = 1;
}

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
    if (o->state.running && !s->watchers && viewer_seconds() - s->alone_since > s->alone_seconds) pause_alone(o);
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
    solver_forget(&o->before);
    solver_forget(&o->after);
    tsr_segmentation_destroy(&o->segmentation);
    tsr_volume_destroy(&o->on_device);
    viewer_image_release(s, &o->image);
    tsr_context_destroy(&o->context);
    tsr_context_destroy(&o->bridge);
    free(o->head);
}

static void *work(void *session)
{
    struct solver o = { .s = (viewer_session *)session, .batch = 1 };
    double gave = 0; /* when the painter was given something last */
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
        const double now = viewer_seconds();
        if (!more || now - gave > give_seconds) { /* a burst of commands is shown as one, a long one now and then */
            viewer_give(&o);
            gave = now;
        }
        if (o.state_dirty) tell_state(&o);
        if (o.alone)
            viewer_session_tell(o.s, "warning", "The run was paused after %lld steps: no page was open. Start goes on.",
                                (long long)o.state.report.total_steps);
        o.alone = 0;
    }
    clean(&o);
    return NULL;
}

const viewer_mode viewer_segment = { .name = "segment",
                                     .takes = VIEWER_TAKES(SET) | VIEWER_TAKES(PROBE) | VIEWER_TAKES(PROBE_UNDO) | VIEWER_TAKES(PROBE_RESET) |
                                              VIEWER_TAKES(PAINT) | VIEWER_TAKES(ERASE) | VIEWER_TAKES(START) | VIEWER_TAKES(PAUSE) |
                                              VIEWER_TAKES(STEP) | VIEWER_TAKES(RESET) | VIEWER_TAKES(STATISTICS) | VIEWER_TAKES(LABEL) |
                                              VIEWER_TAKES(OVERLAY),
                                     .opens = viewer_is_volume,
                                     .expects = "a volume (.nii, .nii.gz, .nrrd, .nhdr, .mha, .mhd, .inr, .hdr or .tsc)",
                                     .work = work,
                                     .state = viewer_segment_state };
