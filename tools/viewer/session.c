/* viewer/session.c: the session as the network thread sees it: commands go in, texts and pictures come out. Nothing here waits for work. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, strdup */
#include "../seconds.h"
#include "mode.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double viewer_seconds(void) { return tools_seconds(); }

void viewer_wait(pthread_cond_t *condition, pthread_mutex_t *lock, double seconds)
{
    struct timespec until;
    if (seconds > 100) {
        pthread_cond_wait(condition, lock);
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + (int64_t)(fmax(seconds, 0.001) * 1e9);
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    pthread_cond_timedwait(condition, lock, &until);
}

/* ---- bytes to send --------------------------------------------------------------------------------------------------------------------------- */

viewer_blob *viewer_blob_create(size_t size)
{
    viewer_blob *blob = (viewer_blob *)calloc(1, sizeof *blob + VIEWER_PAD + size);
    if (!blob) return NULL;
    blob->references = 1;
    blob->size = size;
    return blob;
}

viewer_blob *viewer_blob_text(const char *text)
{
    size_t size = strlen(text);
    viewer_blob *blob = viewer_blob_create(size);
    if (blob) memcpy(blob->bytes + VIEWER_PAD, text, size);
    return blob;
}

viewer_blob *viewer_blob_keep(viewer_blob *blob)
{
    if (blob) blob->references++;
    return blob;
}

void viewer_blob_release(viewer_blob **blob)
{
    if (*blob && --(*blob)->references == 0) free(*blob);
    *blob = NULL;
}

viewer_blob *viewer_blob_json(json_t *json)
{
    if (!json) return NULL;
    char *text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(json);
    viewer_blob *blob = text ? viewer_blob_text(text) : NULL;
    free(text);
    return blob;
}

/* Length of the UTF-8 sequence of a character above U+007F, 0 if it is none: too long, cut off, a surrogate or above U+10FFFF. */
static int sequence(const unsigned char *c)
{
    int n = *c >= 0xc2 && *c < 0xe0 ? 2 : *c >= 0xe0 && *c < 0xf0 ? 3 : *c >= 0xf0 && *c < 0xf5 ? 4 : 0;
    for (int i = 1; i < n; i++)
        if ((c[i] & 0xc0) != 0x80) return 0; /* the end is no part of one either */
    if ((*c == 0xe0 && c[1] < 0xa0) || (*c == 0xed && c[1] > 0x9f) || (*c == 0xf0 && c[1] < 0x90) || (*c == 0xf4 && c[1] > 0x8f)) return 0;
    return n;
}

/* Names of files may hold anything; JSON takes UTF-8 only. */
void viewer_make_utf8(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c;) {
        int n = *c >= 0x20 && *c < 0x7f ? 1 : sequence(c);
        if (n == 0) *c = '?';
        c += n ? n : 1;
    }
}

viewer_blob *viewer_blob_message(const char *type, const char *text)
{
    char plain[VIEWER_TEXT_BYTES];
    snprintf(plain, sizeof plain, "%s", text);
    viewer_make_utf8(plain);
    return viewer_blob_json(json_pack("{s:s, s:s}", "type", type, "text", plain));
}

/* A page that lost some texts is told enough by the newest ones. */
void viewer_session_tell_blob(viewer_session *s, viewer_blob *blob)
{
    if (!blob) return;
    pthread_mutex_lock(&s->lock);
    if (s->notice_count == VIEWER_NOTICES) {
        viewer_blob_release(&s->notice[0]);
        memmove(s->notice, s->notice + 1, (size_t)--s->notice_count * sizeof *s->notice);
    }
    s->notice[s->notice_count++] = blob;
    pthread_mutex_unlock(&s->lock);
    s->wake(s->wake_user);
}

void viewer_session_tell(viewer_session *s, const char *type, const char *format, ...)
{
    char text[VIEWER_TEXT_BYTES];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    viewer_session_tell_blob(s, viewer_blob_message(type, text));
}

void viewer_session_changed(viewer_session *s)
{
    s->state_version++;
    s->wake(s->wake_user);
}

int viewer_interrupts(viewer_kind kind)
{
    return kind == VIEWER_PAUSE || kind == VIEWER_RESET || kind == VIEWER_UNDO || kind == VIEWER_REDO || kind == VIEWER_LOAD;
}

int viewer_queue_interrupts(const viewer_session *s)
{
    int found = s->quit, saves = 0;
    for (int i = 0; i < s->queue_count && !found; i++) {
        viewer_kind kind = s->queue[(s->queue_first + i) % VIEWER_QUEUE].kind;
        saves |= kind == VIEWER_SAVE;
        found = kind == VIEWER_PAUSE || (!saves && viewer_interrupts(kind));
    }
    return found;
}

int viewer_session_stopped(void *user, double fraction, const char *stage)
{
    viewer_session *s = (viewer_session *)user;
    (void)fraction;
    (void)stage;
    pthread_mutex_lock(&s->lock);
    int found = s->quit;
    for (int i = 0; i < s->queue_count && !found; i++) found = s->queue[(s->queue_first + i) % VIEWER_QUEUE].kind == VIEWER_PAUSE;
    pthread_mutex_unlock(&s->lock);
    return found;
}

int viewer_session_interrupted(viewer_session *s)
{
    pthread_mutex_lock(&s->lock);
    int found = viewer_queue_interrupts(s);
    pthread_mutex_unlock(&s->lock);
    return found;
}

int viewer_session_trouble(viewer_session *s, char text[VIEWER_TEXT_BYTES])
{
    pthread_mutex_lock(&s->lock);
    memcpy(text, s->trouble, VIEWER_TEXT_BYTES);
    *s->trouble = 0;
    pthread_mutex_unlock(&s->lock);
    return *text != 0;
}

int viewer_session_quits(void *user, double fraction, const char *stage)
{
    viewer_session *s = (viewer_session *)user;
    (void)fraction;
    (void)stage;
    pthread_mutex_lock(&s->lock);
    int quit = s->quit;
    pthread_mutex_unlock(&s->lock);
    return quit;
}

/* ---- images shared by the threads ------------------------------------------------------------------------------------------------------------- */

viewer_image *viewer_image_keep(viewer_session *s)
{
    pthread_mutex_lock(&s->lock);
    viewer_image *image = s->image;
    if (image) image->references++;
    pthread_mutex_unlock(&s->lock);
    return image;
}

void viewer_image_release(viewer_session *s, viewer_image **image)
{
    viewer_image *own = *image;
    *image = NULL;
    if (!own) return;
    pthread_mutex_lock(&s->lock);
    int last = --own->references == 0;
    pthread_mutex_unlock(&s->lock);
    if (!last) return;
    tsr_volume_destroy(&own->volume);
    tsr_mesh_destroy(&own->mesh);
    free(own);
}

void viewer_labels_release(viewer_session *s, viewer_label_map **labels)
{
    viewer_label_map *own = *labels;
    *labels = NULL;
    if (!own) return;
    pthread_mutex_lock(&s->lock);
    const int last = --own->references == 0;
    pthread_mutex_unlock(&s->lock);
    if (last) free(own);
}

/* ---- life ------------------------------------------------------------------------------------------------------------------------------------- */

static char *copy_text(const char *text) { return text ? strdup(text) : NULL; }

static void default_looks(viewer_session *s)
{
    for (int v = 0; v < VIEWER_WINDOWS; v++)
        s->look[v] = (viewer_look){ .axis = 2, .zoom = 1, .clip_azimuth = 90, .quality = 0.25, .azimuth = 30, .elevation = 15, .see_through = 0.5 };
    s->look[VIEWER_SECOND].axis = 1;
    s->look[VIEWER_THIRD].axis = 0;
    s->look[VIEWER_VOLUME].mode = VIEWER_MODE_COMBINED;
    s->window_high = 1;
    s->isovalue = NAN;
    s->over_opacity = 0.5;
    memcpy(s->colour, (double[3]){ 0.95, 0.76, 0.19 }, sizeof s->colour);
}

int viewer_session_create(const viewer_options *options, void (*wake)(void *user), void *user, viewer_session **session, char *error,
                          size_t error_bytes)
{
    *session = NULL;
    viewer_session *s = (viewer_session *)calloc(1, sizeof *s);
    if (!s || !(s->folder = copy_text(options->folder)) || (options->device && !(s->device = copy_text(options->device)))) {
        if (s) free(s->folder);
        free(s);
        snprintf(error, error_bytes, "out of memory");
        return -1;
    }
    s->mode = options->mode ? options->mode : &viewer_segment;
    s->threads = options->threads;
    s->segment = options->segment;
    s->memory_limit = options->memory_limit;
    s->alone_seconds = options->alone_seconds > 0 ? options->alone_seconds : 120;
    s->alone_since = viewer_seconds();
    snprintf(s->identity, sizeof s->identity, "%08x%08x", (unsigned)time(NULL), (unsigned)getpid());
    s->wake = wake;
    s->wake_user = user;
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->bridge_lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&s->to_solver, &monotonic);
    pthread_cond_init(&s->to_painter, &monotonic);
    pthread_condattr_destroy(&monotonic);
    default_looks(s);
    s->state_version = 1;
    if (options->file) {
        viewer_command *load = &s->queue[0];
        load->kind = VIEWER_LOAD;
        snprintf(load->name, sizeof load->name, "%s", options->file);
        s->queue_count = 1;
        s->first_load = 1;
    }
    s->solver_started = pthread_create(&s->solver, NULL, s->mode->work, s) == 0;
    s->painter_started = !s->mode->draws && pthread_create(&s->painter, NULL, viewer_painter_main, s) == 0;
    if (!s->solver_started || (!s->mode->draws && !s->painter_started)) {
        snprintf(error, error_bytes, "cannot start a thread");
        viewer_session_destroy(&s);
        return -1;
    }
    *session = s;
    return 0;
}

void viewer_session_stop(viewer_session *s)
{
    pthread_mutex_lock(&s->lock);
    s->quit = 1;
    pthread_cond_broadcast(&s->to_solver);
    pthread_cond_broadcast(&s->to_painter);
    pthread_mutex_unlock(&s->lock);
    if (s->painter_started) pthread_join(s->painter, NULL); /* first: it may still read surfaces of the solver */
    pthread_mutex_lock(&s->lock);
    s->quit = 2;
    pthread_cond_broadcast(&s->to_solver);
    pthread_mutex_unlock(&s->lock);
    if (s->solver_started) pthread_join(s->solver, NULL);
    s->solver_started = s->painter_started = 0;
}

void viewer_session_destroy(viewer_session **session)
{
    viewer_session *s = *session;
    *session = NULL;
    if (!s) return;
    viewer_session_stop(s);
    viewer_image_release(s, &s->image);
    viewer_image_release(s, &s->overlay);
    viewer_labels_release(s, &s->labels);
    for (int v = 0; v < VIEWER_WINDOWS; v++) viewer_blob_release(&s->frame[v]);
    for (int i = 0; i < s->notice_count; i++) viewer_blob_release(&s->notice[i]);
    pthread_cond_destroy(&s->to_solver);
    pthread_cond_destroy(&s->to_painter);
    pthread_mutex_destroy(&s->bridge_lock);
    pthread_mutex_destroy(&s->lock);
    free(s->folder);
    free(s->device);
    free(s);
}

/* ---- commands --------------------------------------------------------------------------------------------------------------------------------- */

static void change_look(viewer_look *look, const viewer_command *c)
{
#define TAKE(field, member) \
    if (viewer_given(c, field)) look->member = c->member
    TAKE(VIEWER_WIDTH, width);
    TAKE(VIEWER_HEIGHT, height);
    TAKE(VIEWER_AXIS, axis);
    TAKE(VIEWER_POSITION, position);
    TAKE(VIEWER_ZOOM, zoom);
    TAKE(VIEWER_AZIMUTH, azimuth);
    TAKE(VIEWER_ELEVATION, elevation);
    TAKE(VIEWER_MODE, mode);
    TAKE(VIEWER_SPEED_SHOWN, speed);
    TAKE(VIEWER_CLIP, clip);
    TAKE(VIEWER_CLIP_AZIMUTH, clip_azimuth);
    TAKE(VIEWER_CLIP_ELEVATION, clip_elevation);
    TAKE(VIEWER_CLIP_OFFSET, clip_offset);
    TAKE(VIEWER_QUALITY, quality);
    TAKE(VIEWER_SEE_THROUGH, see_through);
#undef TAKE
    if (viewer_given(c, VIEWER_VISIBLE)) look->hidden = !c->visible;
    if (viewer_given(c, VIEWER_PAN)) memcpy(look->pan, c->pan, sizeof look->pan);
}

int viewer_speed_covers(const viewer_speed *speed, const viewer_look *look)
{
    if (speed->kind != look->speed) return 0;
    return speed->axis < 0 || (look->axis == speed->axis && look->position >= speed->low && look->position <= speed->high);
}

/* Where there is none, the mode's own thread draws. */
void viewer_wake_painter(viewer_session *s) { pthread_cond_signal(s->mode->draws ? &s->to_solver : &s->to_painter); }

void viewer_session_touch(viewer_session *s, int view, uint32_t input)
{
    for (int w = 0; w < VIEWER_WINDOWS; w++) {
        if (view != VIEWER_VIEWS && w % VIEWER_VIEWS != view) continue;
        s->look_version[w]++;
        s->look_input[w] = input;
    }
}

static void touch_all_views(viewer_session *s, uint32_t input) { viewer_session_touch(s, VIEWER_VIEWS, input); }

/* Values are checked against the image: the slice stays in it. */
static void keep_inside(viewer_session *s, viewer_look *look)
{
    if (!s->image) return;
    const int64_t n[3] = { s->image->size.x, s->image->size.y, s->image->size.z };
    look->position = fmin(fmax(look->position, 0), (double)(n[look->axis] - 1));
}

static void command_of_looks(viewer_session *s, const viewer_command *c)
{
    const int window = c->eye * VIEWER_VIEWS + c->view;
    switch (c->kind) {
    case VIEWER_VIEW:
        change_look(&s->look[window], c);
        keep_inside(s, &s->look[window]);
        s->look_version[window]++;
        s->look_input[window] = (uint32_t)c->input;
        if (window == VIEWER_SPEED) pthread_cond_signal(&s->to_solver); /* it may have to give speeds of other slices */
        break;
    case VIEWER_WINDOW:
        s->window_low = c->low;
        s->window_high = c->high;
        touch_all_views(s, (uint32_t)c->input);
        break;
    case VIEWER_MASK:
        s->opacity = c->opacity;
        if (viewer_given(c, VIEWER_COLOUR)) memcpy(s->colour, c->colour, sizeof s->colour);
        touch_all_views(s, (uint32_t)c->input);
        break;
    case VIEWER_OVERLAY:
        s->over = c->over;
        if (viewer_given(c, VIEWER_OPACITY)) s->over_opacity = c->opacity;
        touch_all_views(s, (uint32_t)c->input);
        break;
    case VIEWER_ISOVALUE:
        s->isovalue = c->value;
        touch_all_views(s, (uint32_t)c->input);
        break;
    default: /* transfer */
        if (viewer_given(c, VIEWER_POINTS)) s->transfer = c->transfer;
        else if (tsr_transfer_make((tsr_transfer_preset)c->preset, s->window_low, s->window_high, &s->transfer) != TSR_OK) break;
        viewer_session_touch(s, VIEWER_VOLUME, (uint32_t)c->input);
    }
    viewer_wake_painter(s);
    viewer_session_changed(s);
}

/* With the lock held. A stroke that goes on while its last piece still waits becomes one with it, unless it bends there: a hand that is faster than the
 * solver is followed with longer pieces, not later and later. */
static int joins_stroke(viewer_session *s, const viewer_command *c)
{
    static const double most_bend = 0.125; /* radii that places may lie beside the piece that takes theirs */
    viewer_command *last = &s->queue[(s->queue_first + s->queue_count + VIEWER_QUEUE - 1) % VIEWER_QUEUE];
    if (!s->queue_count || !s->image || (c->kind != VIEWER_PAINT && c->kind != VIEWER_ERASE && c->kind != VIEWER_SCULPT) || last->kind != c->kind ||
        last->tool != c->tool || last->radius != c->radius || c->begin || !viewer_given(c, VIEWER_TO) || !viewer_given(last, VIEWER_TO) ||
        memcmp(last->to, c->from, sizeof last->to) != 0)
        return 0;
    const double spacing[3] = { s->image->spacing.x, s->image->spacing.y, s->image->spacing.z };
    double along = 0, length = 0, beside = 0;
    for (int k = 0; k < 3; k++) {
        along += (last->to[k] - last->from[k]) * (c->to[k] - last->from[k]) * spacing[k] * spacing[k];
        length += pow((c->to[k] - last->from[k]) * spacing[k], 2);
    }
    const double t = length > 0 ? along / length : -1;
    if (!(t >= 0 && t <= 1)) return 0; /* it turned back */
    for (int k = 0; k < 3; k++) beside += pow((last->from[k] + t * (c->to[k] - last->from[k]) - last->to[k]) * spacing[k], 2);
    const double bend = last->bend + sqrt(beside); /* what was dropped before lies beside the piece before, at most */
    if (bend > most_bend * c->radius) return 0;
    last->bend = bend;
    memcpy(last->to, c->to, sizeof last->to);
    last->input = c->input;
    last->given |= c->given;
    return 1;
}

static int is_look(viewer_kind kind)
{
    return kind == VIEWER_VIEW || kind == VIEWER_WINDOW || kind == VIEWER_TRANSFER || kind == VIEWER_MASK || kind == VIEWER_ISOVALUE ||
           kind == VIEWER_OVERLAY;
}

/* With the lock held. What the painter does: it knows what a window shows and from where. -1 with a message. */
static int command_of_painter(viewer_session *s, const viewer_command *c, char *error, size_t error_bytes)
{
    if (c->kind == VIEWER_PICK) {
        const int begin = s->pick_ready && s->pick.begin && s->pick.action == c->action;
        s->pick = *c;
        if (!viewer_given(c, VIEWER_BEGIN) || begin) s->pick.begin = 1;
        s->pick_ready = 1;
    } else if (c->kind == VIEWER_ASK) { /* what is not answered in time is asked again with the next move of the mouse */
        if (s->asked_count == VIEWER_ASKED) memmove(s->asked, s->asked + 1, (size_t)--s->asked_count * sizeof *s->asked);
        s->asked[s->asked_count++] = *c;
    } else if (c->kind == VIEWER_REGION) {
        s->region = *c;
        s->region_ready = 1;
    } else if (s->picture_count == VIEWER_PICTURES) {
        snprintf(error, error_bytes, "%d pictures wait to be saved: wait a moment", VIEWER_PICTURES);
        return -1;
    } else {
        memcpy(s->picture[s->picture_count].name, c->name, sizeof c->name);
        s->picture[s->picture_count++].replace = c->replace;
    }
    pthread_cond_signal(&s->to_painter);
    return 0;
}

int viewer_session_command(viewer_session *s, const viewer_command *c, char *error, size_t error_bytes)
{
    int result = 0;
    if (!viewer_mode_takes(s->mode, c->kind)) {
        snprintf(error, error_bytes, "a session of mode %s takes no message of type %s", s->mode->name, viewer_kind_name(c->kind));
        return -1;
    }
    pthread_mutex_lock(&s->lock);
    if (is_look(c->kind)) {
        command_of_looks(s, c);
    } else if (c->kind == VIEWER_PICK || c->kind == VIEWER_ASK ||
               (c->kind == VIEWER_REGION && viewer_given(c, VIEWER_LASSO) && !viewer_given(c, VIEWER_AT)) ||
               (c->kind == VIEWER_SAVE && c->what == VIEWER_SAVE_PICTURE && !s->mode->draws)) {
        result = command_of_painter(s, c, error, error_bytes);
    } else if (joins_stroke(s, c)) {                                                               /* nothing else to do */
    } else if (s->queue_count == (viewer_interrupts(c->kind) ? VIEWER_QUEUE : VIEWER_QUEUE - 8)) { /* Pause always finds a place */
        snprintf(error, error_bytes, "the session has %d commands waiting: wait a moment", VIEWER_QUEUE);
        result = -1;
    } else {
        s->queue[(s->queue_first + s->queue_count++) % VIEWER_QUEUE] = *c;
        pthread_cond_signal(&s->to_solver);
    }
    pthread_mutex_unlock(&s->lock);
    return result;
}
