/* viewer/solver.h: what the thread that owns the segmentation (solver.c) is made of, its images and segmentations (solver_image.c), and what it gives to
 * the painter (give.c). */
#ifndef TESSERA_VIEWER_SOLVER_H
#define TESSERA_VIEWER_SOLVER_H

#include "draw.h"

/* What was done with a segmentation, for studies of users: a session file says when, and how often what (journal.c). */
typedef struct solver_journal {
    double begun; /* viewer_seconds() */
    int64_t count[VIEWER_KINDS];
} solver_journal;

/* A segmentation that may come back. */
typedef struct solver_kept {
    tsr_segmentation *segmentation; /* NULL: none */
    char *head;
    viewer_state state;
    int64_t edits;
    solver_journal journal;
} solver_kept;

struct solver {
    viewer_session *s;
    viewer_colours colours;
    tsr_context *context;
    tsr_context *bridge; /* of what the painter is given; NULL on a CPU, where it may read what is the solver's */
    viewer_image *image;
    tsr_volume *on_device; /* a copy of the image, where the device is no CPU */
    tsr_segmentation *segmentation;
    tsr_segment_options options; /* of the next segmentation of this image */
    char *head;                  /* of its session script: parameters at its start */
    viewer_state state;
    int64_t batch, edits;
    solver_journal journal;
    int64_t left; /* steps that a step command still has to do; running meanwhile */
    int run_on;   /* it was running when that command came */
    solver_kept before; /* what a reset or a loaded session took the place of: the last level of undo */
    solver_kept after;  /* what undo of that took the place of: the last level of redo */
    struct {
        int64_t inside, step; /* the volume that the surface still has, and since which step */
        double since;
    } settling;
    int surface_dirty, speed_dirty, state_dirty, alone; /* alone: the run was paused for want of pages, not said yet */
    viewer_speed given; /* its volume aside, the speed that was handed over last */
    int speed_word;     /* a new input is to be shown with it */
    int speed_part;     /* it is of some slices; all are due a while after `edited` */
    int speed_stale;    /* the surface has moved since: what depends on it must be made anew */
    double edited;
    uint32_t input; /* of the last command */
    double rate, told;
};

/* ---- what the others are told: solver.c ------------------------------------------------------------------------------------------------------- */

void solver_read_parameters(struct solver *o);
void solver_measure(struct solver *o);

/* ---- images and segmentations: solver_image.c -------------------------------------------------------------------------------------------------- */

/* The head of a session file: the image and the main parameters; the log names all others before the first work. */
char *solver_write_head(const tsr_segmentation *segmentation, const viewer_image *image);
void solver_forget(solver_kept *kept);
void solver_install(struct solver *o, tsr_segmentation *made, char *head, viewer_image *image);
int solver_begin(struct solver *o, viewer_image *image, const tsr_volume *volume);
void solver_exchange(struct solver *o, solver_kept *from, solver_kept *to); /* what was kept in `from` is current, what was current in `to` */
void solver_load_image(struct solver *o, const char *name);
void solver_keep_parameters(struct solver *o);
const tsr_volume *solver_volume(const struct solver *o);
int solver_reset(struct solver *o);
tsr_status solver_take_mask(struct solver *o, const char *name); /* what a file holds becomes the surface */
tsr_status solver_tell_statistics(struct solver *o);             /* pages learn volume, area and grey values of the inside */

/* ---- several regions, a second image: solver_labels.c ------------------------------------------------------------------------------------------------ */

tsr_status solver_label(struct solver *o, const viewer_command *command); /* makes one, changes it, makes it the active one, takes it away */
void solver_forget_labels(struct solver *o);
void solver_load_labels(struct solver *o, const char *name);
tsr_status solver_save_labels(struct solver *o, const viewer_command *command, char *error, size_t error_bytes); /* TSR_OK and a message: not saved */
void solver_load_overlay(struct solver *o, const char *name);

/* ---- times and counts: journal.c ----------------------------------------------------------------------------------------------------------------- */

void solver_journal_note(struct solver *o, viewer_kind kind); /* a command of this kind has been done: a comment in the log */
enum { SOLVER_SUMMARY = 512 };
void solver_journal_summary(const struct solver *o, char text[SOLVER_SUMMARY]); /* the last line of a session file */

/* ---- what the painter is given: give.c ------------------------------------------------------------------------------------------------------------ */

void viewer_give(struct solver *o);              /* copies of what is due, if any */
int viewer_give_due(const struct solver *o);     /* with the lock held: there is something to give that can be taken */
double viewer_give_wait(const struct solver *o); /* likewise: seconds until there may be, 1e9 = none */
void viewer_free_given(const struct solver *o, tsr_tiles *tiles, tsr_volume *speed); /* what came back; without the lock */
/* The parameter `name` was set, alpha being `before`: what of the speed that makes new. */
void viewer_speed_after_set(struct solver *o, const char *name, double before, double alpha);

#endif
