/* viewer/shows/show.c: the thread of the modes that draw their own pictures. */
#include "show.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "picture.h"

static const double draft_seconds = 0.05, rest_seconds = 0.3;
static const double least_scale = 0.25;

struct drawn {
    uint64_t look, version; /* that its last picture shows */
    double when, scale;
    int draft;
};

struct runner {
    viewer_show show;
    const viewer_show_table *table;
    struct drawn window[VIEWER_WINDOWS];
    uint32_t input;
    viewer_state state;
};

/* ---- what pages are told ------------------------------------------------------------------------------------------------------------------------- */

static void tell_state(struct runner *r, const char *with)
{
    viewer_session *s = r->show.s;
    json_t *more = r->table->state(&r->show), *before;
    r->state.busy = *with != 0;
    r->state.undo_levels = r->show.undo;
    r->state.redo_levels = r->show.redo;
    r->state.unsaved = r->show.unsaved;
    snprintf(r->state.busy_with, sizeof r->state.busy_with, "%s", with);
    pthread_mutex_lock(&s->lock);
    before = s->more;
    s->more = more;
    s->state = r->state;
    viewer_session_changed(s);
    pthread_mutex_unlock(&s->lock);
    json_decref(before);
    r->show.state_dirty = 0;
}

int viewer_show_box(viewer_show *show, const char *name, tsr_box b)
{
    viewer_session *s = show->s;
    viewer_image *image = (viewer_image *)calloc(1, sizeof *image), *before;
    if (!image) return -1;
    image->references = 1;
    viewer_image_set_box(image, b);
    snprintf(image->name, sizeof image->name, "%s", name);
    pthread_mutex_lock(&s->lock);
    before = s->image;
    s->image = NULL;
    s->first_load = 0;
    pthread_mutex_unlock(&s->lock);
    viewer_image_show(s, image, 1);
    viewer_image_release(s, &image);
    viewer_image_release(s, &before);
    return 0;
}

void viewer_show_from(viewer_show *show, double azimuth, double elevation)
{
    viewer_session *s = show->s;
    pthread_mutex_lock(&s->lock);
    for (int w = VIEWER_VOLUME; w < VIEWER_WINDOWS; w += VIEWER_VIEWS) {
        s->look[w].azimuth = azimuth;
        s->look[w].elevation = elevation;
        s->look_version[w]++;
    }
    viewer_session_changed(s);
    pthread_mutex_unlock(&s->lock);
}

tsr_status viewer_show_camera(const viewer_show *show, const viewer_look *look, tsr_camera *camera)
{
    const viewer_image *image = show->s->image; /* this thread alone changes it */
    if (!image) return TSR_ERROR_STATE;
    const tsr_scene_info info = { .bounds = image->bounds, .space = image->geometry.space };
    return viewer_camera(&info, look, camera);
}

static uint64_t looks_of(const viewer_session *s)
{
    uint64_t sum = 0;
    for (int w = 0; w < VIEWER_WINDOWS; w++) sum += s->look_version[w];
    return sum;
}

int viewer_show_overtaken(void *user, double fraction, const char *phase)
{
    const viewer_show *show = (const viewer_show *)user;
    if (viewer_session_quits(show->s, fraction, phase)) return 1;
    if (show->saving) return 0;
    pthread_mutex_lock(&show->s->lock);
    const int other = show->s->queue_count > 0 || looks_of(show->s) != show->looks;
    pthread_mutex_unlock(&show->s->lock);
    return other;
}

int64_t viewer_show_row(const char *name, char *pattern, size_t room)
{
    const size_t n = strlen(name);
    size_t end = n, begin;
    const char *dot = strrchr(name, '.');
    if (dot) end = (size_t)(dot - name);
    for (begin = end; begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9'; begin--) {}
    if (begin == end || end - begin > 9 || strchr(name, '%') || room < n + 8) return 0;
    snprintf(pattern, room, "%.*s%%0%dd%s", (int)begin, name, (int)(end - begin), name + end);
    return strtoll(name + begin, NULL, 10) + 1;
}

void viewer_show_name(const char *pattern, int64_t number, char *name, size_t room)
{
    const char *at = strchr(pattern, '%'), *behind = strchr(at, 'd') + 1;
    snprintf(name, room, "%.*s%0*lld%s", (int)(at - pattern), pattern, atoi(at + 1), (long long)number, behind);
}

static void begin_anew(viewer_row *row)
{
    row->begun = viewer_seconds();
    row->from = row->frame;
}

int viewer_row_set(viewer_row *row, const char *name, double value)
{
    if (!strcmp(name, "frame")) {
        if (!(value >= 0 && value < VIEWER_ROW_MOST)) return -1;
        row->frame = (int64_t)value;
        if (row->known && row->frame >= row->frames) row->frame = row->frames > 0 ? row->frames - 1 : 0;
    } else if (!strcmp(name, "playing")) {
        row->playing = value > 0;
        if (row->playing && row->known && row->frame >= row->frames - 1) row->frame = 0;
    } else if (!strcmp(name, "loop")) {
        row->loop = value > 0;
    } else if (!strcmp(name, "rate")) {
        if (!(value >= 0.1 && value <= 240)) return -1;
        row->rate = value;
    } else {
        return 0;
    }
    begin_anew(row);
    return 1;
}

double viewer_row_go_on(viewer_show *show, viewer_row *row, double now)
{
    if (!row->playing || (row->known && row->frames < 2)) return 1e9;
    int64_t due = row->from + (int64_t)floor((now - row->begun) * row->rate);
    if (row->known && due >= row->frames) {
        row->playing = row->loop;
        due = row->loop ? 0 : row->frames - 1;
        row->from = due;
        row->begun = now;
        show->state_dirty = 1;
    }
    if (due != row->frame) {
        row->frame = due;
        show->version++;
        show->state_dirty = 1;
    }
    return fmax(0.001, row->begun + (double)(row->frame - row->from + 1) / row->rate - now);
}

/* ---- pictures --------------------------------------------------------------------------------------------------------------------------------------- */

/* With the lock held. A window that is due, or -1; *wait: seconds until one may be finer. */
static int choose(const struct runner *r, double *wait, int *draft)
{
    const viewer_session *s = r->show.s;
    const double now = viewer_seconds();
    int best = -1;
    double oldest = HUGE_VAL;
    *wait = 1e9;
    if (!*r->show.name || !s->watchers) return -1;
    const uint32_t views = r->table->views ? r->table->views : 1u << VIEWER_VOLUME;
    for (int w = 0; w < VIEWER_WINDOWS; w++) {
        if (!(views >> w % VIEWER_VIEWS & 1)) continue;
        const struct drawn *d = &r->window[w];
        const int fresh = d->look != s->look_version[w] || d->version != r->show.version;
        if (!s->look[w].width || s->look[w].hidden || !s->wanted[w] || s->frame[w] || (!fresh && !d->draft)) continue;
        if (!fresh && now - d->when < rest_seconds) {
            *wait = fmin(*wait, rest_seconds - (now - d->when));
            continue;
        }
        if (d->when >= oldest) continue;
        oldest = d->when;
        best = w;
        *draft = fresh && r->table->drafts;
    }
    return best;
}

static void draw(struct runner *r, int w, int draft, const viewer_look *look, uint64_t version, uint32_t look_input)
{
    viewer_session *s = r->show.s;
    struct drawn *d = &r->window[w];
    const double begun = viewer_seconds(), scale = draft ? d->scale : 1;
    const int32_t width = (int32_t)fmax(8, look->width * scale), height = (int32_t)fmax(8, look->height * scale);
    viewer_frame frame = { .view = (uint8_t)(w % VIEWER_VIEWS),
                           .draft = (uint8_t)(draft && (scale < 1 || r->table->drafts > 1)),
                           .width = (uint32_t)width,
                           .height = (uint32_t)height,
                           .view_input = look_input,
                           .edit_input = r->input,
                           .zoom = (float)look->zoom };
    tsr_image image = { 0 };
    tsr_camera camera;
    r->show.view = w % VIEWER_VIEWS;
    d->look = version;
    d->version = r->show.version;
    d->draft = frame.draft;
    if (viewer_show_camera(&r->show, look, &camera) == TSR_OK) {
        const tsr_scene_info info = { .bounds = s->image->bounds, .space = s->image->geometry.space };
        frame.pixel = (float)viewer_camera_pixel(&info, &camera, height);
    }
    pthread_mutex_lock(&s->lock);
    r->show.looks = looks_of(s);
    pthread_mutex_unlock(&s->lock);
    const tsr_status status = r->table->draw(&r->show, look, width, height, draft, &image, &frame.pixel);
    if (status == TSR_ERROR_CANCELLED) r->show.version++; /* it is due again, a draft first */
    pthread_mutex_lock(&s->lock);
    frame.sequence = ++s->frame_sequence;
    pthread_mutex_unlock(&s->lock);
    viewer_blob *blob = status == TSR_OK ? viewer_pack(&frame, &image) : NULL;
    tsr_image_destroy(&image);
    d->when = viewer_seconds();
    if (draft) d->scale = fmin(1, fmax(least_scale, d->scale * fmin(1.5, sqrt(draft_seconds / fmax(d->when - begun, 1e-4)))));
    if (!blob) {
        if (status != TSR_ERROR_CANCELLED) viewer_session_tell(s, "error", "%s", tsr_error_message());
        return;
    }
    frame.milliseconds = (float)(1e3 * (d->when - begun));
    viewer_frame_pack(&frame, blob->bytes + VIEWER_PAD);
    pthread_mutex_lock(&s->lock);
    viewer_blob_release(&s->frame[w]);
    s->frame[w] = blob;
    pthread_mutex_unlock(&s->lock);
    s->wake(s->wake_user);
}

static void save(struct runner *r, const viewer_command *c)
{
    viewer_session *s = r->show.s;
    char error[512] = "";
    tsr_image image = { 0 };
    viewer_look look;
    float pixel = 0;
    pthread_mutex_lock(&s->lock);
    look = s->look[VIEWER_VOLUME];
    pthread_mutex_unlock(&s->lock);
    if (!look.width) look.width = look.height = 768;
    r->show.view = VIEWER_VOLUME;
    r->show.saving = 1;
    if (c->what != VIEWER_SAVE_PICTURE) snprintf(error, sizeof error, "a session of mode %s saves pictures alone", s->mode->name);
    else if (!*r->show.name) snprintf(error, sizeof error, "nothing is loaded");
    else if (r->table->draw(&r->show, &look, look.width, look.height, 0, &image, &pixel) != TSR_OK) viewer_take_message(s, error, sizeof error);
    else viewer_save_image(s, &image, c->name, c->replace, error, sizeof error);
    r->show.saving = 0;
    tsr_image_destroy(&image);
    viewer_session_tell(s, *error ? "error" : "saved", "%s", *error ? error : c->name);
}

/* ---- commands ----------------------------------------------------------------------------------------------------------------------------------------- */

static void load(struct runner *r, const char *name)
{
    viewer_session *s = r->show.s;
    char error[512] = "", path[4096];
    tell_state(r, "loading");
    if (!s->mode->opens(name)) snprintf(error, sizeof error, "%s: expected %s", name, s->mode->expects);
    const int failed = *error || viewer_path_of_existing(s, name, path, sizeof path, error, sizeof error) ||
                       r->table->load(&r->show, path, name, error, sizeof error);
    if (failed) viewer_cannot_load(s, error);
    else snprintf(r->show.name, sizeof r->show.name, "%s", name);
    r->show.version++;
    tell_state(r, "");
}

static void act(struct runner *r, const viewer_command *c)
{
    viewer_session *s = r->show.s;
    char error[512] = "";
    int done = 0;
    if (viewer_given(c, VIEWER_INPUT)) r->input = (uint32_t)c->input;
    if (c->kind == VIEWER_LOAD) load(r, c->name);
    else if (r->table->act && (done = r->table->act(&r->show, c, error, sizeof error)) != 0) r->show.state_dirty = 1;
    else if (c->kind == VIEWER_SAVE) save(r, c);
    else if (c->kind != VIEWER_SET)
        viewer_session_tell(s, "error", "a session of mode %s has nothing to %s", s->mode->name, viewer_kind_name(c->kind));
    else if (r->table->set(&r->show, c->name, c->value, error, sizeof error)) viewer_session_tell(s, "error", "%s", error);
    else r->show.state_dirty = 1;
    if (done < 0) viewer_session_tell(s, "error", "%s", error);
}

void *viewer_show_run(viewer_session *s, const viewer_show_table *table)
{
    struct runner r = { .show = { .s = s, .version = 1, .own = calloc(1, table->bytes) }, .table = table };
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    options.device = s->device;
    options.threads = s->threads;
    for (int w = 0; w < VIEWER_WINDOWS; w++) r.window[w].scale = 0.5;
    const int good = r.show.own && tsr_context_create(&options, &r.show.context) == TSR_OK;
    if (!good) viewer_session_tell(s, "error", "%s", r.show.own ? tsr_error_message() : "out of memory");
    else tell_state(&r, "");
    pthread_mutex_lock(&s->lock);
    while (s->quit < 2) {
        double wait = 1e9, until = 1e9;
        int w, draft = 0;
        if (!good || s->quit) {
            viewer_wait(&s->to_solver, &s->lock, 1e9);
        } else if (s->queue_count) {
            const viewer_command command = s->queue[s->queue_first];
            s->queue_first = (s->queue_first + 1) % VIEWER_QUEUE;
            s->queue_count--;
            pthread_mutex_unlock(&s->lock);
            act(&r, &command);
            pthread_mutex_lock(&s->lock);
        } else {
            const int watched = s->watchers > 0;
            pthread_mutex_unlock(&s->lock);
            if (table->go_on && *r.show.name && watched) until = table->go_on(&r.show, viewer_seconds());
            if (r.show.state_dirty) tell_state(&r, "");
            pthread_mutex_lock(&s->lock);
            if (s->quit || s->queue_count) continue;
            if ((w = choose(&r, &wait, &draft)) >= 0) {
                const viewer_look look = s->look[w];
                const uint64_t version = s->look_version[w];
                const uint32_t input = s->look_input[w];
                pthread_mutex_unlock(&s->lock);
                draw(&r, w, draft, &look, version, input);
                pthread_mutex_lock(&s->lock);
            } else if (until > 0) {
                viewer_wait(&s->to_solver, &s->lock, fmin(wait, until));
            }
        }
    }
    json_t *more = s->more;
    s->more = NULL;
    pthread_mutex_unlock(&s->lock);
    json_decref(more);
    if (r.show.own) table->clear(&r.show);
    free(r.show.own);
    tsr_context_destroy(&r.show.context);
    return NULL;
}
