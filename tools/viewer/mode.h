/* viewer/mode.h: the kinds of sessions. Each is one thread that does the work and one table of this form (segment: solver.c, sculpt: sculptor.c, view:
 * watcher.c); commands, windows, pictures, files and pages are the same for all (session.c, painter.c, server.c). docs/guide/workbench-mode.md shows how
 * to add one. */
#ifndef TESSERA_VIEWER_MODE_H
#define TESSERA_VIEWER_MODE_H

#include "session.h"

typedef struct viewer_mode {
    const char *name;
    int draws;        /* its thread makes its pictures itself (show.h): there is no painter */
    uint64_t takes;                 /* bits 1 << viewer_kind: messages it takes beside those that every session does */
    int (*opens)(const char *name); /* a file of this name can be its first */
    int (*begins)(const char *name); /* and begins it where no mode is asked for; NULL: the same */
    const char *expects;            /* the same in words, for messages */
    void *(*work)(void *session);   /* the thread that does the work, until the session quits; gives the painter surfaces and frees what comes back */
    void (*state)(const viewer_session *session, struct json_t *state); /* with the lock: its fields of `state` */
} viewer_mode;

extern const viewer_mode viewer_segment, viewer_sculpt, viewer_view, viewer_turntable, viewer_film, viewer_fluid, viewer_flow, viewer_light, viewer_cameras, viewer_views, viewer_mvv, viewer_calibrate;
const viewer_mode *viewer_mode_named(const char *name);   /* NULL: there is none */
const viewer_mode *viewer_mode_of_file(const char *name); /* by its ending: a volume is segmented, a surface sculpted; NULL: it is neither */
const viewer_mode *viewer_mode_of_path(const char *folder, const char *name); /* by its content too: a rig with depth images begins new views of them */
int viewer_views_fits(const char *folder, const char *name);
/* The rig of a folder that has depth images, transforms.json first. 0: there is none. */
int viewer_views_find(const char *folder, char name[VIEWER_NAME_BYTES]);
#define VIEWER_TAKES(kind) (UINT64_C(1) << VIEWER_##kind)
int viewer_mode_takes(const viewer_mode *mode, viewer_kind kind);
void viewer_segment_state(const viewer_session *session, struct json_t *state);
void viewer_mode_more(const viewer_session *session, struct json_t *state); /* a `state` of `session->more` */

#endif
