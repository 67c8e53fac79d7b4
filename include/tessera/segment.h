/* tessera/segment.h: interactive level-set segmentation of a grey volume.
 *
 * A closed surface, seeded by spheres, a mask or a field, moves under
 *
 *     phi_t = -|grad phi| (alpha D(x) - (1 - alpha) K) + rescaling,        phi < 0 inside, world units,
 *
 * with D = epsilon - |I - target| (grows over grey values within epsilon of the target, shrinks elsewhere) and K the mean curvature (2/R on a
 * sphere). The field lives in a sorted tile list (tessera/tiles.h) and never leaves the device while it moves. Source: [Lefohn04];
 * docs/theory/segmentation.md. Class: exact with the option `exact` (the same mask and the same field, bit for bit, on every backend and thread
 * count); without it a GPU rounds each step in its own way, the same on every GPU. */
#ifndef TESSERA_SEGMENT_H
#define TESSERA_SEGMENT_H

#include "tessera/tiles.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_segmentation tsr_segmentation;

typedef enum tsr_normalise {
    TSR_NORMALISE_EPSILON = 0, /* D is divided by epsilon: it peaks at 1, so that alpha means the same for all grey values and every epsilon */
    TSR_NORMALISE_RANGE,       /* grey values are mapped to [0,1] by the window; D peaks at epsilon over the range: weak, unless alpha is near 1 */
    TSR_NORMALISE_NONE         /* D in grey values */
} tsr_normalise;
typedef enum tsr_rescale { TSR_RESCALING_PLAIN = 0, TSR_RESCALING_LOCK, TSR_RESCALING_FREEZE, TSR_RESCALING_NONE } tsr_rescale;
typedef enum tsr_scheme { TSR_SCHEME_SPLIT = 0, TSR_SCHEME_SOURCE } tsr_scheme;

/* Additional speed terms; each is multiplied by its weight and, like D, by alpha. */
typedef enum tsr_term_kind {
    TSR_TERM_CONSTANT = 0, /* value */
    TSR_TERM_VOLUME,       /* a speed the caller computed: volume (real values) */
    TSR_TERM_INTERVAL,     /* +value where lower <= I <= upper of `volume` (NULL: the image), else -value: flood fill */
    TSR_TERM_EDGE,         /* -Laplacian of the image smoothed with sigma (world units) */
    TSR_TERM_VECTOR        /* value - sqrt((v - mean)^T C^-1 (v - mean)) over `channels` volumes with covariance C */
} tsr_term_kind;
enum { TSR_TERM_CHANNELS = 4, TSR_TERMS = 7 };
typedef struct tsr_term {
    tsr_term_kind kind;
    double weight, value, lower, upper, sigma;
    const tsr_volume *volume;                          /* KEEPS */
    int32_t channels;
    const tsr_volume *channel[TSR_TERM_CHANNELS];      /* KEEPS */
    double mean[TSR_TERM_CHANNELS], covariance[TSR_TERM_CHANNELS][TSR_TERM_CHANNELS];
} tsr_term;

/* Start from TSR_SEGMENT_OPTIONS: it sets the fields whose zero has a meaning of its own (alpha, rescale_weight, data_weight). */
typedef struct tsr_segment_options {
    size_t struct_size;
    double target, epsilon;    /* grey values (real values of the image); epsilon > 0 */
    double alpha;              /* in [0,1]: 1 = data only, 0 = curvature only */
    double data_weight;        /* of the term D; 0 leaves it out (then target and epsilon are not needed) */
    double data_floor;         /* > 0: D is at least -data_floor (in normalised units) */
    tsr_normalise normalise;
    double window[2];          /* grey values mapped to 0 and 1; both 0 = minimum and maximum of the image */
    int curvature_half;        /* use half the sum of the principal curvatures */
    double curvature_limit;    /* |K| is clamped to this many reciprocals of the smallest spacing; 0 = 2 */
    double rescale_weight;     /* w_r of the distance rescaling term */
    tsr_rescale rescale;
    double gradient;           /* target gradient in the band; 0 = 1 */
    double band;               /* half width in smallest voxels; 0 = 2.5, at least two of the largest (band.h) */
    tsr_scheme scheme;
    int godunov;
    int exact;                 /* the same bits on every device; without it a GPU rounds differently (some 1e-7 of the band a step) and is faster */
    double time_step;          /* 0 = automatic; a value over the stability bound is an error unless `force` */
    double cfl;                /* of the automatic step, at most 0.9; 0 = 0.5 */
    int force;
    double smoothing;          /* Gaussian (standard deviation, world units) applied to the image first; 0 = none */
    tsr_term terms[TSR_TERMS]; /* more speed terms */
    int32_t term_count;
    int32_t tile_edge;         /* see tessera/tiles.h */
    tsr_tiles_index tile_index;
    int64_t tile_capacity, memory_limit; /* tile_capacity: room that is kept; 0 = as needed, given back when the list has shrunk */
    /* When to stop; 0 = do not use the rule. */
    int64_t max_steps;         /* steps of one run; 0 = 10000 */
    double change_tolerance;   /* RMS change of phi per active voxel and step, relative to time step times largest speed */
    double volume_tolerance;   /* relative change of the enclosed volume over volume_steps (0 = 50) steps */
    int32_t volume_steps;
    int32_t age;               /* no tile was created in the last `age` management passes */
    double time_limit;         /* seconds */
    double probe_deviations;   /* a probe sets epsilon to this many standard deviations; 0 = 2 ([Lefohn04]: 1, too few on noisy data) */
    int32_t snapshots;         /* kept at most: a further one drops the oldest; 0 = all */
    int32_t key_bits;          /* see tessera/tiles.h */
    int32_t snapshot_limit;    /* > 0: `snapshots` must be 1 to this, also when a script sets it; 0 = no bound. Of programs that replay strangers' scripts */
} tsr_segment_options;
#ifdef __cplusplus
#define TSR_SEGMENT_OPTIONS \
    [] { tsr_segment_options tsr_made_ = TSR_SIZED(tsr_segment_options); tsr_made_.alpha = 0.5; tsr_made_.data_weight = 1; tsr_made_.rescale_weight = 0.3; return tsr_made_; }()
#else
#define TSR_SEGMENT_OPTIONS { .struct_size = sizeof(tsr_segment_options), .alpha = 0.5, .data_weight = 1, .rescale_weight = 0.3 }
#endif

/* `image`: any element type, finite, on the context's device, at least 2 voxels along each axis; KEEPS it. The index axes must be orthogonal
 * within 1e-3. A target outside the data range is accepted (tsr_segment_report.target_outside). RETURNS NEW without a surface. */
TSR_API tsr_status tsr_segmentation_create(tsr_context *context, const tsr_volume *image, const tsr_segment_options *options,
                                           tsr_segmentation **segmentation) TSR_CHECKED;
TSR_API void tsr_segmentation_destroy(tsr_segmentation **segmentation);

/* ---- the surface to start from ------------------------------------------------------------------------------------------------------ */

/* Union with a sphere (erase = 0) or subtraction of it, any time, also between runs. Centre in voxel indices, inside the volume; radius > 0 in
 * world units. */
TSR_API tsr_status tsr_segmentation_sphere(tsr_segmentation *segmentation, tsr_vec3 centre, double radius, int erase) TSR_CHECKED;
/* The same along a drag from `from` to `to`: spheres at most radius/2 apart. */
TSR_API tsr_status tsr_segmentation_stroke(tsr_segmentation *segmentation, tsr_vec3 from, tsr_vec3 to, double radius, int erase) TSR_CHECKED;
/* Non-zero voxels are inside: exact distance transform with half-voxel offset. Same extents as the image and, where both name a world frame,
 * the same geometry (else TSR_ERROR_ARGUMENT). */
TSR_API tsr_status tsr_segmentation_from_mask(tsr_segmentation *segmentation, const tsr_volume *mask) TSR_CHECKED;
/* A field with phi < 0 inside; divided by its mean gradient near the surface, then clamped. */
TSR_API tsr_status tsr_segmentation_from_field(tsr_segmentation *segmentation, const tsr_volume *field) TSR_CHECKED;

/* ---- probing: grey values under the cursor set target and epsilon --------------------------------------------------------------------- */

typedef struct tsr_probe { int64_t count; double mean, deviation; } tsr_probe; /* deviation at least (data range)/1024 */
/* Adds the voxels within `radius` (world units; 0 = one trilinear sample) of the voxel-index position as one stroke; a position outside the
 * volume is ignored. Then target := mean of all strokes and epsilon := probe_deviations times their deviation, at least (data range)/1024: two
 * deviations hold 95 % of the grey values of a structure with normal noise; with one, a third of its own voxels push the surface back.
 * `probe` may be NULL. */
TSR_API tsr_status tsr_segmentation_probe(tsr_segmentation *segmentation, tsr_vec3 position, double radius, tsr_probe *probe) TSR_CHECKED;
TSR_API tsr_status tsr_segmentation_probe_undo(tsr_segmentation *segmentation, tsr_probe *probe) TSR_CHECKED; /* takes the last stroke back */
TSR_API void tsr_segmentation_probe_reset(tsr_segmentation *segmentation);
enum { TSR_PROBE_BINS = 256 };
/* How many of the probed values lie in each of TSR_PROBE_BINS equal parts of the image's range (docs/theory/segmentation.md 6). RETURNS VIEW. */
TSR_API const int64_t *tsr_segmentation_probe_counts(const tsr_segmentation *segmentation);

/* ---- moving it ------------------------------------------------------------------------------------------------------------------------ */

/* The options as they are now: those of the creation, changed by what was set, probed and replayed since. Another segmentation created with them is like
 * this one. Begin with TSR_SEGMENT_OPTIONS. */
TSR_API tsr_status tsr_segmentation_get_options(const tsr_segmentation *segmentation, tsr_segment_options *options) TSR_CHECKED;
/* Takes other options from the next step on: read them, change what is to change, give them back. A change of smoothing filters the image anew (linear in its
 * voxels). What the image and the list were made ready for at the creation stays as it was: window, band, terms, tile_edge, tile_index, tile_capacity,
 * memory_limit, key_bits and snapshot_limit (else TSR_ERROR_ARGUMENT; a refused call changes nothing). */
TSR_API tsr_status tsr_segmentation_set_options(tsr_segmentation *segmentation, const tsr_segment_options *options) TSR_CHECKED;

typedef enum tsr_stop {
    TSR_STOP_NONE = 0, TSR_STOP_STEPS, TSR_STOP_CHANGE, TSR_STOP_VOLUME, TSR_STOP_AGE, TSR_STOP_TIME, TSR_STOP_EMPTY
} tsr_stop;
TSR_API const char *tsr_stop_name(tsr_stop stop);

typedef struct tsr_segment_report {
    size_t struct_size;
    int64_t steps, total_steps;   /* of this run, since creation */
    int64_t tiles, active_voxels, inside_voxels;
    double volume;                /* of the inside, cubic world units: voxels with phi < 0 */
    double seconds, steps_per_second; /* of this run, wall clock */
    double time, time_step;       /* simulated time in all, last step */
    double change;                /* RMS change of phi per active voxel in the last step, world units */
    int64_t device_bytes;         /* held by the tile list */
    int target_outside;           /* the target is outside the range of the image */
    tsr_stop stop;                /* the rule that ended the run */
} tsr_segment_report;
#define TSR_SEGMENT_REPORT TSR_SIZED(tsr_segment_report)

/* Steps until a rule fires. The device is asked for its state every 32 steps (so CHANGE, VOLUME, AGE, TIME, EMPTY act at multiples of it). On any
 * failure, cancellation included, the surface is that of the last completed step. TSR_ERROR_STATE without a surface. `progress`, `report` may be NULL. */
TSR_API tsr_status tsr_segmentation_run(tsr_segmentation *segmentation, const tsr_progress *progress, tsr_segment_report *report) TSR_CHECKED;
/* Exactly `steps` steps (fewer only if the surface vanishes). */
TSR_API tsr_status tsr_segmentation_step(tsr_segmentation *segmentation, int64_t steps, const tsr_progress *progress, tsr_segment_report *report) TSR_CHECKED;

/* Keeps the surface in host memory / goes back to the last kept one (TSR_ERROR_STATE if there is none). Tiles that are the same bits as in the one kept
 * before are kept once. With the option `snapshots` the oldest goes when there are more. */
TSR_API tsr_status tsr_segmentation_snapshot(tsr_segmentation *segmentation) TSR_CHECKED;
TSR_API tsr_status tsr_segmentation_undo(tsr_segmentation *segmentation) TSR_CHECKED;
/* Takes the last undo back: the surface that it left, and the snapshot it went back to is kept again (TSR_ERROR_STATE if nothing was undone since the last
 * snapshot, which forgets what was undone). */
TSR_API tsr_status tsr_segmentation_redo(tsr_segmentation *segmentation) TSR_CHECKED;

/* ---- results --------------------------------------------------------------------------------------------------------------------------- */

TSR_API const tsr_tiles *tsr_segmentation_tiles(const tsr_segmentation *segmentation); /* RETURNS VIEW */
TSR_API tsr_status tsr_segmentation_mask(const tsr_segmentation *segmentation, tsr_volume **mask) TSR_CHECKED;   /* u8, RETURNS NEW on the device */
TSR_API tsr_status tsr_segmentation_field(const tsr_segmentation *segmentation, tsr_volume **field) TSR_CHECKED; /* f32 phi, RETURNS NEW on the device */
/* The data speed (sum of all terms, alpha included) at every voxel: f32, RETURNS NEW on the device. */
TSR_API tsr_status tsr_segmentation_speed(tsr_segmentation *segmentation, tsr_volume **speed) TSR_CHECKED;
/* The same of the voxels from `begin` to before `end` alone, in their place in the world: what a slice needs. */
TSR_API tsr_status tsr_segmentation_speed_box(tsr_segmentation *segmentation, tsr_size3 begin, tsr_size3 end, tsr_volume **speed) TSR_CHECKED;
/* The speed F = data speed - (1 - alpha) K that moves the surface now, likewise: with the curvature of the field as a step finds it where the 27 voxels
 * around lie in the band; elsewhere the field is cut off and F is the data speed. Rescaling is no part of it. */
TSR_API tsr_status tsr_segmentation_total_speed_box(tsr_segmentation *segmentation, tsr_size3 begin, tsr_size3 end, tsr_volume **speed) TSR_CHECKED;

/* ---- scripts: the interactive session without a window --------------------------------------------------------------------------------- */

/* One command a line, '#' starts a comment:
 *     sphere X Y Z R | paint X Y Z R [X2 Y2 Z2] | erase X Y Z R [X2 Y2 Z2] | probe X Y Z [R] | probe-undo | probe-reset | set NAME VALUE |
 *     step N | run | snapshot | undo | redo | stop
 * `set` changes one option that is a number (of a choice the number of the enumerator, 0 or 1 of a switch) of those that tsr_segmentation_set_options
 * takes. `name` appears in messages (NAME:LINE: ...). Stops at the first error; what was done before stays. */
TSR_API tsr_status tsr_segmentation_script(tsr_segmentation *segmentation, const char *text, const char *name, const tsr_progress *progress,
                                           tsr_segment_report *report) TSR_CHECKED;
/* Everything that was done so far as a script that repeats it exactly (runs as the number of steps they took, runs that follow one another as one),
 * whatever the parameters of the segmentation that runs it: it begins with a `set` of each. What `set` cannot say, that one is created with: band,
 * window, terms, and the mask or field to start from (a comment in the log).
 * RETURNS VIEW, valid until the next call. */
TSR_API const char *tsr_segmentation_log(const tsr_segmentation *segmentation);
/* Writes a line of text (at most 200 bytes, no control characters) into the log as a comment: when something was done, by whom, why. */
TSR_API tsr_status tsr_segmentation_note(tsr_segmentation *segmentation, const char *text) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
