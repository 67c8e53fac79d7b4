/* viewer/session.h: one workbench: an image, a segmentation that a thread of its own moves (solver.c), windows that another thread draws (painter.c;
 * a picture for a file has one more, saver.c), and what is to be told to the pages. The network thread calls the functions below; none of them waits for work.
 *
 * Threads: `lock` guards everything in this struct that is not marked with its owner. The solver owns the segmentation and its context, the painter
 * the scenes and theirs. The solver hands the surface over as a copy (`surface`), never waits for it to be taken, and gets it back to free it. */
#ifndef TESSERA_VIEWER_SESSION_H
#define TESSERA_VIEWER_SESSION_H

#include <pthread.h>

#include "protocol.h"

struct viewer_mode; /* mode.h */
struct json_t;

enum { VIEWER_QUEUE = 256, VIEWER_NOTICES = 64, VIEWER_UNDO_LEVELS = 16, VIEWER_LOG_BYTES = 32 << 20, VIEWER_BINS = 256, VIEWER_PAD = 32, VIEWER_TEXT_BYTES = 1024, VIEWER_PICTURES = 16, VIEWER_ASKED = 8 };

/* Bytes that several connections send: counted, freed with the last. The payload stands VIEWER_PAD bytes into `bytes` (room for libwebsockets' LWS_PRE). */
typedef struct viewer_blob {
    int references; /* of the network thread and, before it, of one producer: handed over under the lock */
    int binary, view;
    uint32_t sequence;
    size_t size;
    uint8_t bytes[];
} viewer_blob;
viewer_blob *viewer_blob_create(size_t size);                         /* one reference; NULL without memory */
viewer_blob *viewer_blob_text(const char *text);
viewer_blob *viewer_blob_json(struct json_t *json);                   /* takes over the reference; NULL for NULL */
viewer_blob *viewer_blob_message(const char *type, const char *text); /* {"type": type, "text": text}, bytes that are no UTF-8 replaced */
void viewer_make_utf8(char *text);                                    /* bytes that are none become question marks */
viewer_blob *viewer_blob_keep(viewer_blob *blob);
void viewer_blob_release(viewer_blob **blob);

typedef struct viewer_options {
    const struct viewer_mode *mode; /* NULL = segment */
    const char *folder;          /* served: load and save */
    const char *file;            /* of it, loaded at the start; NULL = none */
    const char *device;          /* NULL = auto */
    int32_t threads;             /* 0 = all */
    tsr_segment_options segment; /* target NAN, epsilon 0 = guessed from the image */
    int64_t memory_limit;        /* of volumes; 0 = the machine's */
    double alone_seconds;        /* without a page: then a run is paused; 0 = 120 */
} viewer_options;

/* An image in host memory, shared by solver and painter; or, without a volume, the box that things stand in. */
typedef struct viewer_image {
    int references;
    tsr_volume *volume;          /* NULL: there are only surfaces */
    tsr_mesh *mesh;              /* NULL, or the surface to show: a mesh without an inside, or one that is only looked at */
    tsr_box bounds;              /* without a volume: what the 3-D window shows at zoom 1, also when the surface grows */
    char name[VIEWER_NAME_BYTES];
    tsr_geometry geometry;
    tsr_size3 size;
    tsr_vec3 spacing;
    double minimum, maximum, window_low, window_high;
    int64_t histogram[VIEWER_BINS];
} viewer_image;

/* Several regions of an image (solver_labels.c): a voxel has one label or none (0). Shared as images are. */
typedef struct viewer_label_map {
    int references;
    uint8_t voxel[]; /* as many as the image has */
} viewer_label_map;
typedef struct viewer_label { int32_t value, hidden; char name[64]; double colour[3]; int64_t voxels; } viewer_label;
enum { VIEWER_LABELS_MOST = 64 };

/* The looks of a window. */
typedef struct viewer_look {
    int32_t width, height;       /* pixels; 0 = not shown */
    int32_t axis;
    double position, zoom, pan[2]; /* pan: world units to the right, down */
    double azimuth, elevation;
    int32_t mode, clip, speed, hidden;
    double clip_azimuth, clip_elevation, clip_offset, quality, see_through;
} viewer_look;

/* A surface on its way from the solver to the painter and back. */
typedef struct viewer_surface {
    tsr_tiles *tiles;            /* NULL: there is none (yet) */
    double steps;
    uint32_t input;
} viewer_surface;

/* The speed on its way, likewise: of the slices that positions from `low` to `high` along `axis` need, or of all (axis < 0). */
typedef struct viewer_speed {
    tsr_volume *volume;          /* NULL: what was given before holds, for a later input */
    uint64_t values;             /* rises when they change, not when only more of them come */
    int32_t axis, kind;          /* kind: VIEWER_SPEED_DATA or VIEWER_SPEED_TOTAL */
    double low, high, alpha;     /* alpha: that is in the values */
    uint32_t input;
} viewer_speed;
int viewer_speed_covers(const viewer_speed *speed, const viewer_look *look);

typedef struct viewer_state {    /* what pages are told about the solver */
    double target, epsilon, alpha, smoothing;
    tsr_probe probe;
    int64_t probed[TSR_PROBE_BINS];
    tsr_segment_report report;
    int running, undo_levels, redo_levels, has_surface, unsaved, busy; /* unsaved: work that is in no file */
    char busy_with[32];
} viewer_state;

/* Values probed for the transfer function; squares: sum of the squared differences from the mean. */
typedef struct viewer_colours { int64_t count; double mean, squares; } viewer_colours;

typedef struct viewer_session {
    pthread_mutex_t lock;
    pthread_cond_t to_solver, to_painter;
    pthread_t solver, painter;
    int solver_started, painter_started, quit;
    char *folder;
    char *device;
    int32_t threads;
    int64_t memory_limit;
    double alone_seconds, alone_since; /* since when there is no page */
    char identity[17];           /* of this session, for pages that come back to another */
    tsr_segment_options segment;

    viewer_command queue[VIEWER_QUEUE];
    int queue_first, queue_count;
    const struct viewer_mode *mode;
    viewer_state state;
    struct json_t *more;         /* what `state` says beside that, of modes whose thread makes it; NULL = nothing */
    uint64_t state_version;      /* rises with every change that pages are told: of state, looks, windows */

    viewer_image *image;         /* NULL until one is loaded */
    uint64_t image_version;
    viewer_look look[VIEWER_WINDOWS]; /* of eye e: from e * VIEWER_VIEWS on */
    double window_low, window_high;
    double opacity, colour[3];   /* of the inside in slices; opacity 0: only its border is shown */
    double isovalue;             /* of the surface of a session that only shows; NAN = none */
    int32_t over;                /* VIEWER_OVER_*: what slices show over the image, and how strongly */
    double over_opacity;
    viewer_image *overlay;       /* the second image, or NULL */
    uint64_t overlay_version;
    viewer_label_map *labels;    /* NULL: no voxel has a label */
    uint64_t labels_version;     /* of the voxels */
    viewer_label label[VIEWER_LABELS_MOST];
    int label_count;             /* 0: there is one nameless region, the surface */
    int32_t label_active;        /* value of the label that the surface is */
    tsr_transfer transfer;
    uint64_t look_version[VIEWER_WINDOWS]; /* rises with what only this window shows */
    uint32_t look_input[VIEWER_WINDOWS];
    int watchers;                /* pages that want pictures; none: nothing is drawn */
    int wanted[VIEWER_WINDOWS];    /* a page is ready for a picture of this window */

    /* On a device that is no CPU surface, speed and what comes back of them belong to a context of their own, which solver and painter use under this
     * lock: neither may work in the other's (a context serves one thread at a time). */
    pthread_mutex_t bridge_lock;
    viewer_surface surface;      /* newest, not taken yet */
    int surface_ready;
    tsr_tiles *used_tiles;       /* back from the painter, for the solver to free */
    viewer_speed speed;          /* newest speed, not taken yet */
    int speed_ready;
    tsr_volume *used_speed;
    viewer_command pick;         /* newest pick, for the painter; `begin` of one that it took the place of stays */
    int pick_ready;
    viewer_command asked[VIEWER_ASKED]; /* values under cursors, for the painter, oldest first */
    int asked_count;
    viewer_command region;       /* newest lasso, for the painter, which knows the eye */
    int region_ready;
    struct {
        char name[VIEWER_NAME_BYTES];
        int replace;
    } picture[VIEWER_PICTURES];  /* to be saved, oldest first; the painter starts one after the other */
    int picture_count;

    viewer_blob *frame[VIEWER_WINDOWS]; /* newest, not sent yet */
    uint32_t frame_sequence;
    viewer_blob *notice[VIEWER_NOTICES]; /* texts for all pages, oldest first */
    int notice_count;
    int first_load;              /* the file of the options is not loaded yet */
    char trouble[VIEWER_TEXT_BYTES]; /* with the file of the options, not told yet; empty = none */
    void (*wake)(void *user);    /* tells the network thread that there is something to send; any thread */
    void *wake_user;
} viewer_session;

/* RETURNS NEW with both threads started; loading of the file goes on behind. 0, or -1 with a message. */
int viewer_session_create(const viewer_options *options, void (*wake)(void *user), void *user, viewer_session **session, char *error, size_t error_bytes);
void viewer_session_stop(viewer_session *session);     /* ends both threads; the functions below do no harm afterwards */
void viewer_session_destroy(viewer_session **session); /* stops it first */
void viewer_session_refresh(viewer_session *session);  /* every window is drawn again */

/* Acts on a command or queues it for its thread: 0, or -1 with a message. Not for DRIVE, SHOWN, PING and FILES, which are the network's. */
int viewer_session_command(viewer_session *session, const viewer_command *command, char *error, size_t error_bytes);

/* ---- what the pages are told: NULL if there is nothing new. Ownership of a reference passes to the caller ---- */
viewer_blob *viewer_session_state(viewer_session *session, uint64_t *version);  /* if newer than *version */
viewer_blob *viewer_session_histogram(viewer_session *session, uint64_t *image_version); /* likewise */
void viewer_session_name(viewer_session *session, char name[VIEWER_NAME_BYTES]); /* of what it shows, for the list of tabs; UTF-8, empty = nothing yet */
viewer_blob *viewer_session_frame(viewer_session *session, int window);
viewer_blob *viewer_session_notice(viewer_session *session);
int viewer_session_trouble(viewer_session *session, char text[VIEWER_TEXT_BYTES]); /* 1 once if the file of the options could not be loaded */
void viewer_session_watch(viewer_session *session, int watchers, const int wanted[VIEWER_WINDOWS]);
void viewer_session_eye(viewer_session *session, int eye, int open); /* a page's own views begin as the driver's, or end */

/* ---- inside ---------------------------------------------------------------------------------------------------------------------------------- */

void viewer_session_tell(viewer_session *session, const char *type, const char *format, ...) TSR_PRINTF(3, 4); /* {"type": type, "text": ...} */
void viewer_session_tell_blob(viewer_session *session, viewer_blob *blob);
void viewer_session_changed(viewer_session *session); /* with the lock held: state_version rises, pages are woken */
void viewer_wake_painter(viewer_session *session); /* with the lock held */
void viewer_session_touch(viewer_session *session, int view, uint32_t input); /* likewise: these windows are drawn anew; VIEWER_VIEWS: all */
viewer_image *viewer_image_keep(viewer_session *session);          /* the current one or NULL */
void viewer_image_release(viewer_session *session, viewer_image **image);
void viewer_labels_release(viewer_session *session, viewer_label_map **labels);

int viewer_session_quits(void *session, double fraction, const char *stage); /* a tsr_progress.report: 1 when the session ends */

int viewer_session_stopped(void *session, double fraction, const char *stage); /* likewise, also when a Pause waits */

int viewer_interrupts(viewer_kind kind);                  /* ends the steps that are under way: pause, reset, undo, load */
/* Such a command waits (Pause anywhere, the others in front of everything that is to be saved), or the session ends. The first with the lock held. */
int viewer_queue_interrupts(const viewer_session *session);
int viewer_session_interrupted(viewer_session *session);

void *viewer_painter_main(void *session);

/* image.c: what sessions of every kind do with the image that they show. */
int viewer_image_describe(tsr_context *context, viewer_image *image, const tsr_volume *volume); /* range, window, histogram: 0, or -1 with the library's message */
void viewer_image_set_box(viewer_image *image, tsr_box bounds); /* what stands there has no voxels of its own */
void viewer_image_show(viewer_session *session, viewer_image *image, int fresh); /* the session keeps it; not fresh: looks stay */
void viewer_cannot_load(viewer_session *session, const char *error);

/* colours.c: one place of a stroke that probes for the transfer function; `colours` is what the stroke has found so far. Of the solver's thread. */
tsr_status viewer_probe_colours(viewer_session *session, tsr_context *context, const tsr_volume *volume, const viewer_image *image,
                                const viewer_command *command, viewer_colours *colours);

/* files.c. Messages go to error. */
int viewer_load_image(viewer_session *session, const char *name, viewer_image **image, char *error, size_t error_bytes);
int viewer_is_script(const char *name);
int viewer_is_volume(const char *name); /* by its extension */
char *viewer_read_script(viewer_session *session, const char *name, char *error, size_t error_bytes);
int viewer_save(viewer_session *session, tsr_context *context, const tsr_segmentation *segmentation, const char *session_script, const viewer_command *command,
                char *error, size_t error_bytes);
int viewer_save_tiles(viewer_session *session, tsr_context *context, const tsr_tiles *tiles, const viewer_command *command, char *error, size_t error_bytes);
int viewer_save_labels(viewer_session *session, uint8_t *voxels, const viewer_image *image, const viewer_command *command, char *error, size_t error_bytes);
int viewer_save_text(viewer_session *session, const char *text, const viewer_command *command, char *error, size_t error_bytes);
int viewer_path_of_new(viewer_session *session, const char *name, int replace, char *path, size_t path_bytes, char *error, size_t error_bytes);
int viewer_path_of_existing(viewer_session *session, const char *name, char *path, size_t path_bytes, char *error, size_t error_bytes);
/* 0: a file that lies in the served folder or below it, with no link on the way, as files that another one names must. */
int viewer_path_below(const viewer_session *session, const char *path, char *error, size_t error_bytes);
void viewer_hide_folder(const viewer_session *session, char *text); /* takes it from in front of names: it is the server's business */
void viewer_take_message(const viewer_session *session, char *error, size_t error_bytes); /* the library's, without the folder in front of names */
int viewer_is_mesh(const char *name);
int viewer_is_tiles(const char *name);
int viewer_save_image(viewer_session *session, const tsr_image *image, const char *name, int replace, char *error, size_t error_bytes);
viewer_blob *viewer_list_files(viewer_session *session);
double viewer_seconds(void);
void viewer_wait(pthread_cond_t *condition, pthread_mutex_t *lock, double seconds); /* at most; more than 100: without an end */

#endif
