/* viewer/shows/show.h: modes that draw their own pictures (film.c, fluid.c, ...): a thread that loads, takes settings and draws the 3-D window of every page that
 * looks, without solver and painter. A mode is a table of this form. */
#ifndef TESSERA_VIEWER_SHOW_H
#define TESSERA_VIEWER_SHOW_H

#include "mode.h"

typedef struct viewer_show {
    viewer_session *s;
    tsr_context *context;
    void *own;                    /* the mode's: as many bytes as its table says, 0 at the start */
    uint64_t version;             /* rises with whatever the pictures show; the mode says so */
    int state_dirty;              /* what pages are told has changed */
    char name[VIEWER_NAME_BYTES]; /* of the file; empty: none */
    int view;                     /* which window is drawn */
    int undo, redo, unsaved;      /* as pages are told: of a mode whose `act` has them */
    int saving;                   /* the picture is for a file: it is finished whatever else is wanted */
    uint64_t looks;               /* the views of pages when the picture was begun */
} viewer_show;

typedef struct viewer_show_table {
    size_t bytes;
    int drafts; /* pictures take long: smaller ones come first; 2: draw makes them coarser, too, so that one of full size is a draft as well */
    uint32_t views; /* bits 1 << window: what it draws; 0: VIEWER_VOLUME alone */
    /* Messages beside load, set and pictures to save: 1 done, 0 none of the mode's, -1 with a message. NULL: there are none. */
    int (*act)(viewer_show *show, const viewer_command *command, char *error, size_t error_bytes);
    /* 0, or -1 with a message: then everything is as it was. `path` is a file of the served folder. */
    int (*load)(viewer_show *show, const char *path, const char *name, char *error, size_t error_bytes);
    /* A setting of a page: likewise. */
    int (*set)(viewer_show *show, const char *name, double value, char *error, size_t error_bytes);
    tsr_status (*draw)(viewer_show *show, const viewer_look *look, int32_t width, int32_t height, int draft, tsr_image *image,
                       float *pixel); /* pixel: world units of one, as of the camera below; another may be said */
    /* What happens by itself, as the next picture of a film: seconds until it is asked again (0: at once; more than 100: after the next command). */
    double (*go_on)(viewer_show *show, double now); /* NULL: nothing */
    struct json_t *(*state)(const viewer_show *show);
    void (*clear)(viewer_show *show); /* also after a failure at the start */
} viewer_show_table;

void *viewer_show_run(viewer_session *session, const viewer_show_table *table); /* a mode's `work` */

/* The box that the mode's things stand in: pages begin to look at it. 0, or -1 without memory. */
int viewer_show_box(viewer_show *show, const char *name, tsr_box bounds);
/* From where the 3-D window of every page looks at it, degrees. */
void viewer_show_from(viewer_show *show, double azimuth, double elevation);
tsr_status viewer_show_camera(const viewer_show *show, const viewer_look *look, tsr_camera *camera); /* that looks at the box as every mode does */

/* A picture that takes long is given up (TSR_ERROR_CANCELLED) when something else is wanted: not 0, also as a tsr_progress with the show as its user. */
int viewer_show_overtaken(void *show, double fraction, const char *phase);

/* What plays: a row of pictures. */
typedef struct viewer_row {
    int64_t frame, frames, from; /* from: that was shown at `begun` */
    double rate, begun;
    int playing, loop, known; /* known: `frames` is how many there are, not how many were seen */
} viewer_row;
enum { VIEWER_ROW_MOST = 1 << 20 };
/* Of the settings frame, playing, rate and loop: 1, 0 if it is none of them, -1 if it is out of range. */
int viewer_row_set(viewer_row *row, const char *name, double value);
/* The frame whose time has come; a page that is slow misses some, the row keeps its time. As viewer_show_table.go_on. */
double viewer_row_go_on(viewer_show *show, viewer_row *row, double now);
#define VIEWER_ROW_EXPECTS "frame from 0, playing, loop, rate from 0.1 to 240"

/* "a-0007.ext" is one of a row: "a-%04d.ext". 0 where the name has no number, else its value + 1. `pattern` has room for n + 8 bytes. */
int64_t viewer_show_row(const char *name, char *pattern, size_t room);
void viewer_show_name(const char *pattern, int64_t number, char *name, size_t room); /* the name of another of the row */

#endif
