/* segment/segment.h: the inside of a segmentation. */
#ifndef TSR_SEGMENT_SEGMENT_H
#define TSR_SEGMENT_SEGMENT_H

#include "tiles/tiles.h"
#include "tiles/tiles_kept.h"
#include "segment/segment_ops.h"
#include "tessera/segment.h"

/* Welford's running mean and variance; a copy before each stroke makes undo trivial. */
typedef struct tsr_welford { int64_t count; double mean, squares; } tsr_welford;
typedef struct tsr_probe_place { tsr_vec3 at; double radius; } tsr_probe_place;

struct tsr_segmentation {
    tsr_context *context;
    const tsr_volume *image;            /* the caller's */
    tsr_volume *smoothed;               /* replaces it for the speed if smoothing was asked for */
    tsr_volume *edges[TSR_TERMS];       /* Laplacians of edge terms */
    tsr_segment_options options;
    double minimum, maximum;            /* of the image */
    tsr_vec3 spacing;
    double smallest_spacing;
    tsr_tiles *tiles;
    tsr_segment_plan *plan;
    int plan_valid, speed_valid;        /* against options, list and pool */
    int64_t total_steps;
    tsr_welford *strokes;               /* [stroke_count + 1] accumulators, the last is current */
    tsr_probe_place *probed;            /* [stroke_count] */
    int64_t probe_counts[TSR_PROBE_BINS];
    int32_t stroke_count, stroke_room;
    tsr_tiles_kept **snapshots;         /* oldest first; each shares with the one before what has not changed */
    int32_t snapshot_count;
    tsr_tiles_kept **undone;            /* what undo took the place of, the last on top; a new snapshot forgets them */
    int32_t undone_count;
    char *log;
    size_t log_bytes, log_capacity;
    size_t log_run;                     /* where the log's last line begins if that is a run, else log_bytes */
    int64_t log_run_steps;              /* its steps */
    int log_begun;                      /* something but parameters has been logged: those it began with stand above */
};

/* ---- segment_speed.c: options to numbers --------------------------------------------------------------------------------------------- */

tsr_status tsr_segment_check_options(const tsr_segment_options *options);
tsr_status tsr_segment_make_speed(const tsr_segmentation *s, tsr_speed *speed);
void tsr_segment_make_params(const tsr_segmentation *s, tsr_segment_params *params);
/* One of the options that may change, by its name; all of them are checked then. */
tsr_status tsr_segment_option_set(tsr_segment_options *options, const char *name, double value);
/* Of those that may change the ones that differ, in an order in which each may be set after those before. */
enum { TSR_OPTION_CHANGES = 32 };
typedef struct tsr_option_change {
    const char *name;
    double value;
} tsr_option_change;
tsr_status tsr_segment_option_changes(const tsr_segment_options *from, const tsr_segment_options *to, tsr_option_change *changes, int *count);
/* The parameters that a log begins with, in an order in which each is valid after those before: the i-th (*name NULL: it need not be
 * said), 0 after the last. */
int tsr_segment_option_at(const tsr_segment_options *options, size_t i, const char **name, double *value);

/* ---- segment.c ---------------------------------------------------------------------------------------------------------------------------- */

/* The line `set NAME VALUE` of a script. */
tsr_status tsr_segment_set(tsr_segmentation *s, const char *name, double value);

/* ---- segment_log.c ------------------------------------------------------------------------------------------------------------------------- */

/* Appends a line to the log. */
tsr_status tsr_segment_log(tsr_segmentation *s, const char *format, ...) TSR_PRINTF(2, 3);
/* A run of steps: those that follow one another are one line, for an interactive session makes a hundred of them a second. */
tsr_status tsr_segment_log_run(tsr_segmentation *s, int64_t steps);
/* The parameters of now as the first lines, in place of all there is. */
tsr_status tsr_segment_log_begin(tsr_segmentation *s);

#endif
