/* viewer/sculptor.c: the thread of a session that sculpts. Every command becomes lines of an editing script, which the library runs and the session keeps. */
#define _GNU_SOURCE /* SYS_gettid */
#include "sculptor.h"
#include "draw.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

enum { MOST_EDITS = 200000, MOST_DABS = 8, LEAST_RESOLUTION = 16, MOST_RESOLUTION = 1024 };
static const double sigmas = 3;         /* a brush reaches so many of its sigmas: the sphere that the page draws */
static const double most_motion = 2;    /* voxels that a place of a stroke moves the surface at full strength */
static const double dab_step = 1.0 / 3; /* radii between two places of a stroke */
static const double patience = 60;      /* milliseconds that the places of one message may take: where they take longer there are fewer */

static void complain(const struct sculptor *o, const char *error) { viewer_session_tell(o->s, "error", "%s", error); }

/* ---- doing and taking back ----------------------------------------------------------------------------------------------------------------------------- */

static int push(sculptor_document *d, int64_t steps, int joins)
{
    if (joins && d->undo > 0 && d->groups == d->undo) {
        d->group[d->undo - 1] += steps;
        return 0;
    }
    if (d->undo == d->group_room) {
        const int64_t room = 2 * d->group_room + 64;
        int64_t *grown = (int64_t *)realloc(d->group, (size_t)room * sizeof *grown);
        if (!grown) return -1;
        d->group = grown;
        d->group_room = room;
    }
    d->group[d->undo++] = steps;
    d->groups = d->undo;
    return 0;
}

/* An object that is gone cannot be the active one. */
static void choose_active(sculptor_document *d)
{
    if (*d->active && tsr_editor_tiles(d->editor, d->active)) return;
    const char *first = tsr_editor_object_at(d->editor, 0);
    snprintf(d->active, sizeof d->active, "%s", first ? first : "");
}

/* Objects that came with a line belong to the one that it names first: the tree that pages show. */
static void note_parents(sculptor_document *d, const char *line, int32_t before)
{
    char verb[16] = "", of[SCULPTOR_OBJECT] = "";
    const char *name;
    const int child = sscanf(line, "%15s %63s", verb, of) == 2 && (!strcmp(verb, "cut") || !strcmp(verb, "copy") || !strcmp(verb, "split"));
    for (int32_t i = before; (name = tsr_editor_object_at(d->editor, i)); i++) {
        int at = 0;
        while (at < d->parents && strcmp(d->parent[at].name, name)) at++;
        if (at < d->parents)
            memmove(d->parent + at, d->parent + at + 1, (size_t)(--d->parents - at) * sizeof d->parent[0]); /* of one that had its name */
        if (!child) continue;
        if (d->parents == SCULPTOR_PARENTS) memmove(d->parent, d->parent + 1, (size_t)--d->parents * sizeof d->parent[0]);
        snprintf(d->parent[d->parents].name, SCULPTOR_OBJECT, "%s", name);
        snprintf(d->parent[d->parents++].of, SCULPTOR_OBJECT, "%s", of);
    }
}

static int32_t count_objects(const sculptor_document *d)
{
    int32_t n = 0;
    while (tsr_editor_object_at(d->editor, n)) n++;
    return n;
}

/* Lines that are so many steps of the history. */
static int run(struct sculptor *o, const char *text, int64_t steps, int joins)
{
    char error[512] = "";
    tsr_edit_history before = TSR_EDIT_HISTORY, history = TSR_EDIT_HISTORY;
    const double begun = viewer_seconds();
    if (o->edits >= MOST_EDITS) {
        viewer_session_tell(o->s, "error", "the session has %d edits, more than it may have: save it and begin a new one", MOST_EDITS);
        return -1;
    }
    tsr_editor_history(o->d.editor, &before);
    const int32_t objects = count_objects(&o->d);
    if (sculptor_run(o, &o->d, text, "session", 1, error, sizeof error)) {
        complain(o, error);
        return -1;
    }
    note_parents(&o->d, text, objects);
    tsr_editor_history(o->d.editor, &history);
    const int64_t made =
        history.undo_steps - before.undo_steps; /* what changes nothing is no step; where old ones were forgotten, as many as expected */
    if (made > 0 || history.device_bytes < SCULPTOR_HISTORY / 2) steps = made > 0 ? made : 0;
    o->edits++;
    o->milliseconds = 1e3 * (viewer_seconds() - begun);
    if (steps && push(&o->d, steps, joins)) complain(o, "out of memory: this step cannot be taken back");
    o->tiles = history.tiles;
    choose_active(&o->d);
    o->dirty = o->state_dirty = 1;
    o->state.unsaved |= steps > 0;
    sculptor_set_stage(o, NULL, 0);
    return 0;
}

/* One step of the page: as many lines as it has steps of the editor. */
static void go(struct sculptor *o, int forward)
{
    char error[512] = "";
    sculptor_document *d = &o->d;
    tsr_edit_history history = TSR_EDIT_HISTORY;
    if (!d->editor || (forward ? d->undo == d->groups : d->undo == 0)) {
        complain(o, forward ? "there is nothing to do again" : "there is nothing to take back");
        return;
    }
    tsr_editor_history(d->editor, &history);
    const int64_t steps = d->group[forward ? d->undo : d->undo - 1], there = forward ? history.redo_steps : history.undo_steps;
    if (there < steps) {
        d->undo = d->groups = 0;
        o->state_dirty = 1;
        complain(o, "the history is too long: what lies so far back is forgotten");
        return;
    }
    int64_t touched = 0;
    for (int64_t i = 0; i < steps; i++) {
        if (sculptor_run(o, d, forward ? "redo" : "undo", "session", 1, error, sizeof error)) {
            complain(o, error);
            break;
        }
        tsr_editor_history(d->editor, &history);
        touched += history.tiles;
    }
    d->undo += forward ? 1 : -1;
    o->tiles = touched;
    choose_active(d);
    o->edits++;
    o->dirty = o->state_dirty = o->state.unsaved = 1;
    sculptor_set_stage(o, NULL, 0);
}

/* ---- brushes, regions, lines ------------------------------------------------------------------------------------------------------------------------------ */

static tsr_vec3 in_world(const struct sculptor *o, const double index[3])
{
    return tsr_geometry_to_world(&o->stage->geometry, (tsr_vec3){ index[0], index[1], index[2] });
}

/* Outwards, from the field around a place; length 0 where that says nothing. */
static tsr_vec3 normal_at(const struct sculptor *o, tsr_vec3 at)
{
    const tsr_vec3 h = tsr_geometry_spacing(&o->d.geometry);
    const double at_of[3] = { at.x, at.y, at.z }, step[3] = { h.x, h.y, h.z };
    float place[6][3], value[6];
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 3; k++) {
            const double to = at_of[k] + (k == i / 2 ? (i & 1 ? 1 : -1) * step[k] : 0);
            place[i][k] = (float)to;
        }
    if (viewer_sample(o->context, tsr_editor_tiles(o->d.editor, o->d.active), place, value, 6) != TSR_OK) return (tsr_vec3){ 0, 0, 0 };
    const tsr_vec3 g = { (double)(value[1] - value[0]) / h.x, (double)(value[3] - value[2]) / h.y, (double)(value[5] - value[4]) / h.z };
    const double length = sqrt(g.x * g.x + g.y * g.y + g.z * g.z);
    return length > 0 ? (tsr_vec3){ g.x / length, g.y / length, g.z / length } : g;
}

/* The line of one place of a brush. */
static void write_dab(const struct sculptor *o, const viewer_command *c, tsr_vec3 at, char line[VIEWER_LINE_BYTES])
{
    const tsr_vec3 h = tsr_geometry_spacing(&o->d.geometry);
    const double voxel = fmin(h.x, fmin(h.y, h.z)), sigma = c->radius / sigmas, strength = viewer_given(c, VIEWER_STRENGTH) ? c->strength : 0.5;
    const double motion = fmin(most_motion * voxel, 0.5 * sigma) * strength;
    const char *name = o->d.active;
    if (c->tool == VIEWER_TOOL_SMOOTH) { /* time of the flow by curvature: its lengths grow with its root */
        snprintf(line, VIEWER_LINE_BYTES, "smooth %s %.17g %.17g %.17g %.17g %.17g\n", name, 1.5 * strength * voxel * voxel, at.x, at.y, at.z, sigma);
    } else if (c->tool == VIEWER_TOOL_ATTRACT || c->tool == VIEWER_TOOL_REPEL) {
        const tsr_vec3 n = normal_at(o, at); /* on the surface nothing would be pulled: to a place in front of it */
        const double lift = 0.5 * c->radius;
        snprintf(line, VIEWER_LINE_BYTES, "%s %s %.17g %.17g %.17g %.17g %.17g\n", c->tool == VIEWER_TOOL_ATTRACT ? "attract" : "repel", name,
                 most_motion * voxel * strength, c->radius, at.x + lift * n.x, at.y + lift * n.y, at.z + lift * n.z);
    } else {
        snprintf(line, VIEWER_LINE_BYTES, "brush %s %.17g %.17g %.17g %.17g %d %.17g\n", name, at.x, at.y, at.z, sigma,
                 c->tool == VIEWER_TOOL_GROW ? 1 : -1, motion);
    }
}

static void sculpt(struct sculptor *o, const viewer_command *c)
{
    char line[VIEWER_LINE_BYTES];
    const tsr_vec3 from = in_world(o, c->from), to = viewer_given(c, VIEWER_TO) ? in_world(o, c->to) : from;
    const double length = sqrt(pow(to.x - from.x, 2) + pow(to.y - from.y, 2) + pow(to.z - from.z, 2));
    int joins = !c->begin && o->stroke;
    const double wanted = viewer_given(c, VIEWER_TO) ? floor(length / (dab_step * c->radius)) + (length > 0) : 1, fit = patience / fmax(o->pace, 1);
    const int dabs = (int)fmin(fmin(MOST_DABS, wanted), fmax(1, fit));
    for (int i = 1; i <= dabs; i++) {
        const double t = dabs > 1 || viewer_given(c, VIEWER_TO) ? (double)i / dabs : 0;
        tsr_vec3 at = { from.x + t * (to.x - from.x), from.y + t * (to.y - from.y), from.z + t * (to.z - from.z) };
        for (int side = 0; side <= o->mirror; side++) {
            write_dab(o, c, at, line);
            if (run(o, line, 1, joins)) return;
            o->pace += 0.3 * (o->milliseconds - o->pace);
            joins = o->stroke = 1;
            at.x = 2 * o->d.middle.x - at.x;
        }
    }
}

/* A name that no object has: BASE, BASE2, ... */
static void free_name(const sculptor_document *d, const char *base, char name[SCULPTOR_OBJECT])
{
    snprintf(name, SCULPTOR_OBJECT, "%.40s", base);
    for (int i = 2; tsr_editor_tiles(d->editor, name) && i < 10000; i++) snprintf(name, SCULPTOR_OBJECT, "%.40s%d", base, i);
}

static void region(struct sculptor *o, const viewer_command *c)
{
    char line[200 + 80 * VIEWER_CORNERS], name[SCULPTOR_OBJECT] = "";
    const char *task = viewer_task_name(c->task);
    const int makes = c->task == VIEWER_DO_CUT || c->task == VIEWER_DO_COPY;
    if (makes && *c->name) snprintf(name, sizeof name, "%.63s", c->name);
    else if (makes) free_name(&o->d, "part", name);
    size_t at = (size_t)snprintf(line, sizeof line, "%s %s %s%s", task, o->d.active, name, *name ? " " : "");
    if (viewer_given(c, VIEWER_LASSO)) {
        if (viewer_given(c, VIEWER_RADIUS)) at += (size_t)snprintf(line + at, sizeof line - at, "stroke %.9g", c->radius);
        else at += (size_t)snprintf(line + at, sizeof line - at, "lasso from %.17g %.17g %.17g", c->at[0], c->at[1], c->at[2]);
        for (int i = 0; i < c->corners; i++)
            at += (size_t)snprintf(line + at, sizeof line - at, " %.9g %.9g %.9g", c->lasso[i][0], c->lasso[i][1], c->lasso[i][2]);
    } else {
        const tsr_vec3 a = in_world(o, c->from), b = in_world(o, c->to);
        snprintf(line + at, sizeof line - at, "box %.17g %.17g %.17g %.17g %.17g %.17g", fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z),
                 fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z));
    }
    if (!run(o, line, 1, 0) && makes) viewer_session_tell(o->s, "notice", "%s is a new object", name);
}

/* Verbs of scripts that a page may not use, and those that are no step of the history. */
static int is_one_of(const char *line, const char *const *verbs)
{
    line += strspn(line, " \t");
    const size_t n = strcspn(line, " \t");
    for (int i = 0; verbs[i]; i++)
        if (strlen(verbs[i]) == n && !strncmp(line, verbs[i], n)) return 1;
    return n == 0 || *line == '#';
}

static int need_document(struct sculptor *o);

static void edit(struct sculptor *o, const viewer_command *c)
{
    static const char *const not_here[] = { "undo", "redo", "save", "attract-to", "repel-from", "select", NULL }, *const no_step[] = { "measure",
                                                                                                                                       "expect",
                                                                                                                                       NULL };
    if (is_one_of(c->line, not_here)) {
        viewer_session_tell(
            o->s, "error",
            "'%.60s' is no line for a page, expected a command of docs/guide/editing.md but undo, redo, save, select, attract-to and repel-from",
            c->line);
        return;
    }
    if (need_document(o)) return;
    sculptor_busy(o, "working");
    if (!run(o, c->line, is_one_of(c->line, no_step) ? 0 : 1, 0) && !o->state.unsaved) o->state_dirty = 1;
    sculptor_busy(o, "");
}

/* ---- documents and files -------------------------------------------------------------------------------------------------------------------------------- */

/* `made` takes the place of the document; the surface on its way to the painter goes. */
static void install(struct sculptor *o, sculptor_document *made, const char *name)
{
    int64_t lower[3] = { 0 }, upper[3] = { 0 };
    sculptor_forget(&o->d);
    o->d = *made;
    choose_active(&o->d);
    const tsr_vec3 h = tsr_geometry_spacing(&o->d.geometry);
    sculptor_bounds_of(o, lower, upper);
    o->d.middle = (tsr_vec3){ 0.5 * (double)(lower[0] + upper[0] - 1) * h.x, 0.5 * (double)(lower[1] + upper[1] - 1) * h.y,
                              0.5 * (double)(lower[2] + upper[2] - 1) * h.z };
    o->state.unsaved = 0;
    o->edits = o->tiles = 0;
    o->milliseconds = 0;
    o->state_dirty = 1;
    sculptor_set_stage(o, name, 1);
}

static int need_document(struct sculptor *o)
{
    sculptor_document made;
    if (o->d.editor) return 0;
    const double h = 64.0 / o->resolution;
    if (sculptor_begin(o, (tsr_vec3){ h, h, h }, &made)) {
        complain(o, tsr_error_message());
        return -1;
    }
    install(o, &made, "new");
    return 0;
}

static void load(struct sculptor *o, const viewer_command *c)
{
    char error[512] = "", line[256];
    sculptor_document made = { 0 };
    tsr_vec3 h;
    int failed = 0;
    const int draft = o->draft;
    if (viewer_is_script(c->name)) {
        char *text = viewer_read_script(o->s, c->name, error, sizeof error);
        int as = 0;
        if (text && sculptor_script_spacing(text, &h, &as)) {
            snprintf(error, sizeof error, "%s: is no session of sculpting, expected a file that one saved", c->name);
            failed = 1;
        }
        o->draft = as;
        if (text && !failed && sculptor_begin(o, h, &made)) failed = 1;
        if (text && !failed)
            failed = sculptor_run(o, &made, text, c->name, 0, error, sizeof error) ||
                     sculptor_keep_line(&made, strstr(text, "-o OUTPUT\n") ? strstr(text, "-o OUTPUT\n") + 10 : text);
        free(text);
        failed |= !text;
    } else {
        failed = !viewer_sculpt.opens(c->name) || strcspn(c->name, " \t#\"") != strlen(c->name);
        if (failed) snprintf(error, sizeof error, "%s: expected %s, in a name without spaces", c->name, viewer_sculpt.expects);
        failed = failed || sculptor_spacing(o, c->name, &h, error, sizeof error) || sculptor_begin(o, h, &made);
        snprintf(line, sizeof line, "load body %s", c->name);
        failed = failed || sculptor_run(o, &made, line, c->name, 1, error, sizeof error);
    }
    if (!failed) {
        install(o, &made, c->name);
        return;
    }
    o->draft = draft;
    if (!*error) snprintf(error, sizeof error, "%s: %s", c->name, tsr_error_message());
    sculptor_forget(&made);
    viewer_cannot_load(o->s, error);
}

static void save(struct sculptor *o, const viewer_command *c)
{
    char error[512] = "";
    const tsr_tiles *tiles = o->d.editor ? tsr_editor_tiles(o->d.editor, o->d.active) : NULL;
    sculptor_busy(o, "saving");
    int failed = -1;
    if (c->what == VIEWER_SAVE_SESSION) failed = viewer_save_text(o->s, o->d.script, c, error, sizeof error);
    else if (c->what == VIEWER_SAVE_MASK) snprintf(error, sizeof error, "a session that sculpts saves mesh, field, picture and session");
    else if (!tiles) snprintf(error, sizeof error, "%s: there is no object to save", c->name);
    else failed = viewer_save_tiles(o->s, o->context, tiles, c, error, sizeof error);
    if (failed) complain(o, error);
    else {
        viewer_session_tell(o->s, "saved", "%s", c->name);
        if (c->what != VIEWER_SAVE_MESH) o->state.unsaved = 0;
    }
    sculptor_busy(o, "");
}

/* ---- commands ---------------------------------------------------------------------------------------------------------------------------------------------- */

static void object(struct sculptor *o, const viewer_command *c)
{
    sculptor_document *d = &o->d;
    if (!tsr_editor_tiles(d->editor, c->name)) {
        viewer_session_tell(o->s, "error", "there is no object '%.63s'", c->name);
        return;
    }
    o->state_dirty = 1;
    if (!viewer_given(c, VIEWER_VISIBLE)) {
        snprintf(d->active, sizeof d->active, "%.63s", c->name);
        return;
    }
    int at = 0;
    while (at < d->hidden_count && strcmp(d->hidden[at], c->name)) at++;
    if (c->visible && at < d->hidden_count) memmove(d->hidden[at], d->hidden[at + 1], (size_t)(--d->hidden_count - at) * sizeof d->hidden[0]);
    if (!c->visible && at == d->hidden_count && at < SCULPTOR_HIDDEN) snprintf(d->hidden[d->hidden_count++], SCULPTOR_OBJECT, "%.63s", c->name);
    o->dirty = 1;
}

static void set(struct sculptor *o, const viewer_command *c)
{
    if (!strcmp(c->name, "mirror")) o->mirror = c->value > 0;
    else if (!strcmp(c->name, "draft")) o->draft = c->value > 0; /* of the next document */
    else if (!strcmp(c->name, "resolution") && c->value >= LEAST_RESOLUTION && c->value <= MOST_RESOLUTION) o->resolution = (int)c->value;
    else viewer_session_tell(o->s, "error", "set: expected mirror, draft, or resolution from %d to %d", LEAST_RESOLUTION, MOST_RESOLUTION);
    o->state_dirty = 1;
}

static void act(struct sculptor *o, const viewer_command *c)
{
    o->input = viewer_given(c, VIEWER_INPUT) ? (uint32_t)c->input : o->input;
    if (c->kind != VIEWER_SCULPT) o->stroke = 0;
    if (c->kind == VIEWER_LOAD) {
        sculptor_busy(o, "loading");
        load(o, c);
        sculptor_busy(o, "");
        return;
    }
    if (c->kind == VIEWER_PAUSE) return; /* what it stopped is over */
    if (c->kind == VIEWER_SET) {
        set(o, c);
        return;
    }
    if (c->kind == VIEWER_EDIT) {
        edit(o, c);
        return;
    }
    if (!o->d.editor || (!*o->d.active && c->kind != VIEWER_UNDO && c->kind != VIEWER_REDO && c->kind != VIEWER_SAVE)) {
        complain(o, "there is nothing to sculpt: load a mesh or begin with a sphere");
        return;
    }
    switch (c->kind) {
    case VIEWER_SCULPT: sculpt(o, c); break;
    case VIEWER_REGION: region(o, c); break;
    case VIEWER_OBJECT: object(o, c); break;
    case VIEWER_SAVE: save(o, c); break;
    case VIEWER_UNDO:
    case VIEWER_REDO: go(o, c->kind == VIEWER_REDO); break;
    default: break;
    }
}

/* Next command, if any; waits where there is nothing else to do. -1: the end. */
static int next(struct sculptor *o, viewer_command *command)
{
    viewer_session *s = o->s;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        tsr_tiles *used = s->used_tiles;
        s->used_tiles = NULL;
        if (!used) {
            if (s->quit || s->queue_count || o->state_dirty || sculptor_give_due(o)) break;
            viewer_wait(&s->to_solver, &s->lock, 1e9);
            continue;
        }
        pthread_mutex_unlock(&s->lock);
        sculptor_free_tiles(o, used);
        pthread_mutex_lock(&s->lock);
    }
    const int result = s->quit ? -1 : s->queue_count > 0;
    if (result > 0) {
        *command = s->queue[s->queue_first];
        s->queue_first = (s->queue_first + 1) % VIEWER_QUEUE;
        s->queue_count--;
    }
    pthread_mutex_unlock(&s->lock);
    return result;
}

/* After the painter has ended. */
static void clean(struct sculptor *o)
{
    viewer_session *s = o->s;
    pthread_mutex_lock(&s->lock);
    while (s->quit < 2) pthread_cond_wait(&s->to_solver, &s->lock);
    json_t *more = s->more;
    s->more = NULL;
    pthread_mutex_unlock(&s->lock);
    json_decref(more);
    tsr_tiles_destroy(&s->used_tiles);
    tsr_tiles_destroy(&s->surface.tiles);
    sculptor_forget(&o->d);
    viewer_image_release(s, &o->stage);
    tsr_context_destroy(&o->context);
    tsr_context_destroy(&o->bridge);
}

static void *work(void *session)
{
    struct sculptor o = { .s = (viewer_session *)session, .resolution = 128 };
    viewer_command command;
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
#ifdef __linux__
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 4);
#endif
    options.device = o.s->device;
    options.threads = o.s->threads;
    if (tsr_context_create(&options, &o.context) != TSR_OK ||
        (tsr_context_device(o.context).kind != TSR_DEVICE_CPU && tsr_context_create(&options, &o.bridge) != TSR_OK)) {
        complain(&o, tsr_error_message());
        clean(&o);
        return NULL;
    }
    sculptor_tell_state(&o);
    for (int got; (got = next(&o, &command)) >= 0;) {
        if (got) act(&o, &command);
        sculptor_give(&o);
        if (o.state_dirty) sculptor_tell_state(&o);
    }
    clean(&o);
    return NULL;
}

static int opens(const char *name) { return viewer_is_mesh(name) || viewer_is_tiles(name) || viewer_is_volume(name); }

const viewer_mode viewer_sculpt = {
    .name = "sculpt",
    .takes = VIEWER_TAKES(SET) | VIEWER_TAKES(PAUSE) | VIEWER_TAKES(SCULPT) | VIEWER_TAKES(REGION) | VIEWER_TAKES(EDIT) | VIEWER_TAKES(OBJECT),
    .opens = opens,
    .expects = "a mesh (.ply, .obj, .stl, .off), a tile list (.tsr, .nvdb), or a volume that is a mask or a level set",
    .work = work,
    .state = viewer_mode_more
};
