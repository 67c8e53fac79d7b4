/* tessera/levelset.h: moving a surface held as a sorted tile list (tessera/tiles.h).
 *
 *     phi_t = -F |grad phi| - U . grad phi + a K |grad phi| + b S(phi) (1 - |grad phi|)                                     (A)
 *
 * phi < 0 inside; F > 0 expands; U a velocity; K = div(grad phi / |grad phi|), 2/R on a sphere, 1/R on a circle; the last term keeps phi a
 * distance. F, U and a are sums of terms. Lengths in world units, time in seconds (any unit: speed 1 moves one world unit per unit of time).
 * Source: Sorted Tile List [Laan11 6] and GPU-STL [Jalba13 3], docs/theory/levelset.md, docs/theory/tiles.md.
 * Class: exact in space and time step: the same list and the same field, bit for bit, on every backend and thread count, as long as every term
 * is of the exact class (each says so) and `fused` is not asked for; a sparse run equals a dense one bit for bit. */
#ifndef TESSERA_LEVELSET_H
#define TESSERA_LEVELSET_H

#include "tessera/tiles.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_levelset tsr_levelset;

/* ---- terms ---------------------------------------------------------------------------------------------------------------------------- */

/* x is the position in grid units times spacing, that is index * spacing along the grid axes; vectors have components along these axes. */
typedef enum tsr_levelset_kind {
    TSR_LEVELSET_SPEED = 0,      /* F += value */
    TSR_LEVELSET_SPEED_FIELD,    /* F += value * field[0](x), trilinear */
    TSR_LEVELSET_VELOCITY,       /* U += value * vector */
    TSR_LEVELSET_VELOCITY_FIELD, /* U += value * (field[0], field[1], field[2])(x), trilinear; fields may have their own resolution */
    TSR_LEVELSET_ROTATION,       /* U += value * vector / |vector| x (x - centre); value in radians per unit of time */
    TSR_LEVELSET_ENRIGHT,        /* U += value * the periodic deformation of docs/theory/levelset.md 7, period `period`, over the cube at `centre` (lower
                              * corner) of edge `radius`; velocity in units of the edge. Tolerant: sine and cosine by polynomial, error below 2e-7 */
    TSR_LEVELSET_CURVATURE,      /* a += value (full K; a half-K coefficient e of the literature is value = e / 2) */
    TSR_LEVELSET_POTENTIAL,      /* U += value * grad P / |grad P|, P from the provider below; 0 where grad P = 0 */
    TSR_LEVELSET_MEAN_CURVATURE, /* F += value * Kbar, the mean of K over the surface: with CURVATURE of the same value it conserves volume */
    TSR_LEVELSET_USER,           /* F, U and a += value * what `user` (a tsr_levelset_user) says */
    TSR_LEVELSET_PULL            /* U += value * the velocity that the provider below keeps for the voxel, at most 1 long; not beside POTENTIAL */
} tsr_levelset_kind;
/* Stability (docs/theory/levelset.md 3): time_step * max(|U_x|/h_x + |U_y|/h_y + |U_z|/h_z + sqrt(3) |F|/h + sqrt(3) b) <= 1 and time_step * 2 a (1/h_x^2 + 1/h_y^2 +
 * 1/h_z^2) <= 1, h the smallest spacing; over voxels in the band. */
enum { TSR_LEVELSET_TERMS = 8 };
/* A term in the caller's own C. `evaluate` is called for every voxel that may move, at place x and time t, from several threads at once; it writes all
 * members. Exact if it is a function of its arguments alone. */
typedef struct tsr_levelset_answer { float speed, velocity[3], curvature; } tsr_levelset_answer;
typedef struct tsr_levelset_user {
    void (*evaluate)(const void *data, const float x[3], double t, tsr_levelset_answer *answer);
    const void *data;                     /* KEEPS on the CPU; elsewhere COPIES data_bytes of the module when the terms are set */
    const struct tsr_term_module *module; /* of tsr_term_load; without one contexts of the CPU only (else TSR_ERROR_UNSUPPORTED) */
} tsr_levelset_user;
/* Finds the term in the module path.so, on a GPU path_cuda.so (tessera/levelset_term.h says how to write and make them; ".so" may stand in the
 * path), and fills evaluate and module; data is the caller's, a struct of data_bytes. The module stays loaded until the process ends. TSR_ERROR_IO: it cannot be
 * opened; TSR_ERROR_FORMAT: it is none; TSR_ERROR_ARGUMENT: it works on another number of bytes. */
TSR_API tsr_status tsr_term_load(const tsr_context *context, const char *path, size_t data_bytes, tsr_levelset_user *user) TSR_CHECKED;

typedef struct tsr_levelset_term {
    tsr_levelset_kind kind;
    double value;
    tsr_vec3 vector, centre;         /* world units along the grid axes */
    double radius, period;
    double sigma;                    /* > 0: the term is weighted by exp(-d^2 / 2 sigma^2), d = |x - centre|, and is exactly 0 beyond 3 sigma (a brush) */
    const tsr_volume *field[3];      /* KEEPS; same device; float32 */
    const tsr_levelset_user *user;       /* of USER; COPIES but for data */
} tsr_levelset_term;

/* One-sided differences: first order with Osher-Sethian sums or Godunov's larger one, ENO2 and HJ-WENO5 with Godunov's. (tsr_space is the world.) */
typedef enum tsr_stencil { TSR_STENCIL_UPWIND = 0, TSR_STENCIL_GODUNOV, TSR_STENCIL_ENO2, TSR_STENCIL_WENO5 } tsr_stencil;
typedef enum tsr_time { TSR_TIME_EULER = 0, TSR_TIME_RK2, TSR_TIME_RK3 } tsr_time; /* TVD Runge-Kutta */
typedef enum tsr_reshape { TSR_RESHAPE_TERM = 0, TSR_RESHAPE_REINIT, TSR_RESHAPE_NONE } tsr_reshape; /* in (A), or sweeps after each step */
/* S(phi), docs/theory/levelset.md 2. GRADIENT: phi / sqrt(phi^2 + |grad phi|^2 h^2), |grad phi| by the upwind norm of the term */
typedef enum tsr_sign { TSR_SIGN_SMOOTH = 0, TSR_SIGN_SGN, TSR_SIGN_PHI, TSR_SIGN_SUBCELL, TSR_SIGN_GRADIENT } tsr_sign;
/* What CURVATURE and MEAN_CURVATURE multiply: K, or the mean curvature K / 2 of a part of the literature. */
typedef enum tsr_curvature_form { TSR_CURVATURE_FULL = 0, TSR_CURVATURE_HALF } tsr_curvature_form;

typedef struct tsr_levelset_options {
    size_t struct_size;
    tsr_levelset_term terms[TSR_LEVELSET_TERMS];
    int32_t term_count;
    tsr_stencil space;
    tsr_time time;
    tsr_reshape reshape;
    tsr_sign sign;
    double reshape_weight;      /* b in voxels per unit of time; 0 = 1 */
    int32_t reshape_sweeps;     /* of REINIT; 0 = 1 */
    double reshape_step;        /* of REINIT, in voxels; 0 = 0.3, or 0.9 of the bound 1 / (sqrt(3) max |S|) where that is less (sign PHI) */
    tsr_stencil reshape_space;  /* differences of the reshape; 0 = those of `space` (GODUNOV for first order beside a wide scheme) */
    double time_step;           /* > 0: fixed; over one of the stability bounds below TSR_ERROR_ARGUMENT unless `force`. 0 = automatic, each step anew */
    double cfl;                 /* of the automatic step, cfl / (hyperbolic rate + parabolic rate); 0 = 0.9, at most 1 */
    int force;
    int32_t guard;              /* width of the guard bands in voxels, 1..3; 0 = 1 with reshape, 3 without (docs/theory/tiles.md 2). REINIT after RK2 or RK3 equals
                                 * a dense run bit for bit with 3 only; with 1 it differs by some 1e-4 voxels */
    double feedback;            /* lambda of the volume-conserving flow: F += lambda (V0 - V) / A; 0 = none */
    int32_t managed_every;      /* steps between management passes, in which phi must not change by more than the band less a voxel; 0 = 1 */
    int64_t max_steps;          /* of one run; 0 = no limit other than the time */
    int32_t age;                /* > 0: converged when every tile is older than this many management passes; the safe rule applies unless `source_rule` */
    int source_rule;
    double change_tolerance;    /* with age: also the largest |phi_new - phi| over band voxels below this (world units) */
    int32_t calm_steps;         /* > 0, with age and change_tolerance: converged too, whatever the ages, when so many management passes running have
                                 * found that change below the tolerance: a surface at rest may make and drop a tile at its fringe for long */
    int fused;                  /* a GPU takes its own arithmetic: fused multiply-adds, roots and quotients to 2 ulp; a tenth to a fifth less time. phi differs by
                                 * some last bits a step, the same from run to run (class reproducible). The CPU and 16-bit lists go on as they are */
    int persistent;             /* a GPU runs many steps in one kernel, whose blocks wait for each other, instead of three kernels a step: 0 = lists of up to 2048
                                 * tiles, where it is faster; > 0 whatever the size; < 0 never. First-order schemes in one stage with terms
                                 * that are the same everywhere, float32, managed every step; all else goes on as it is. The same bits */
    tsr_curvature_form curvature_form; /* HALF: every CURVATURE and MEAN_CURVATURE counts half of its value; USER terms say full coefficients always */
    double mean_width;          /* voxels: half width of the smeared step by which MEAN_CURVATURE and feedback measure Kbar, volume and area, at most the
                                 * band; 0 = 1.5. Less (0.6) for pieces a few voxels thick, whose middle the step must not see */
} tsr_levelset_options;
#define TSR_LEVELSET_OPTIONS TSR_SIZED(tsr_levelset_options)

typedef struct tsr_levelset_report {
    size_t struct_size;
    int64_t steps, total_steps;
    double time, time_step, seconds, steps_per_second;
    int64_t tiles, active_voxels, device_bytes;
    double curvature;           /* coefficient a in use (full K), without position-dependent terms */
    double largest_change;      /* largest |phi_new - phi| in the band in the last step, world units */
    double mean_curvature;      /* Kbar of the last step, with MEAN_CURVATURE */
    int converged, empty;
} tsr_levelset_report;
#define TSR_LEVELSET_REPORT TSR_SIZED(tsr_levelset_report)

/* A solver on `tiles`. KEEPS tiles (it must outlive the solver; nothing else may change it meanwhile except through tsr_levelset_changed). The
 * band of the list is gamma; TSR_ERROR_ARGUMENT if it is below one voxel or the scheme needs a wider halo than a tile; TSR_ERROR_UNSUPPORTED
 * for index axes that are not perpendicular. RETURNS NEW. */
TSR_API tsr_status tsr_levelset_create(tsr_tiles *tiles, const tsr_levelset_options *options, tsr_levelset **levelset) TSR_CHECKED;
TSR_API void tsr_levelset_destroy(tsr_levelset **levelset);

/* Exactly `steps` steps (fewer only if the surface vanishes or the run converges). Queued without synchronisation except every 32 steps for progress
 * and growth of the pool. On failure
 * and cancellation the surface is that of the last completed step; TSR_ERROR_CAPACITY: no room for more tiles, or an unbounded list has come to the limits
 * of the tile coordinates. A term or a value of the field that is not finite where the surface may move
 * ends the run before the step that met it: TSR_ERROR_ARGUMENT names the step, the term and the voxel (x, y, z). Where `force` or managed_every
 * lets phi change by more than the band less a voxel (and than `guard` voxels) between management passes, the run ends with that step:
 * TSR_ERROR_STATE, parts of the surface may be lost. `progress`, `report` may be NULL. */
TSR_API tsr_status tsr_levelset_step(tsr_levelset *levelset, int64_t steps, const tsr_progress *progress, tsr_levelset_report *report) TSR_CHECKED;
/* Until the simulated time has advanced by exactly `duration` (the last step is shortened; with a fixed step: all steps are made equal). */
TSR_API tsr_status tsr_levelset_advance(tsr_levelset *levelset, double duration, const tsr_progress *progress, tsr_levelset_report *report) TSR_CHECKED;
/* Until convergence or max_steps. */
TSR_API tsr_status tsr_levelset_run(tsr_levelset *levelset, const tsr_progress *progress, tsr_levelset_report *report) TSR_CHECKED;

/* New terms and numbers from the next step on (same tiles). */
TSR_API tsr_status tsr_levelset_set(tsr_levelset *levelset, const tsr_levelset_options *options) TSR_CHECKED;
/* Tells the solver that the list was changed by someone else (an edit, an upload). */
TSR_API tsr_status tsr_levelset_changed(tsr_levelset *levelset) TSR_CHECKED;

/* `sweeps` of the reinitialisation equation phi_t = S(phi) (1 - |grad phi|) with differences `space`, 0.3 voxels of pseudo-time each: makes the field
 * a distance again and keeps the zero set (WENO5: within some hundredths of a voxel, first order drifts). Restarts the ages of a solver on `tiles`. */
TSR_API tsr_status tsr_levelset_reinitialise(tsr_tiles *tiles, tsr_stencil space, int32_t sweeps, const tsr_progress *progress) TSR_CHECKED;
/* Distances anew, by the first-order eikonal equation |grad phi| = 1 from linear distances beside the zero set, over the whole band of the list
 * (0) or only as far as `band` is needed (what lies beyond is then not nearer than it should be). Every pass updates all voxels and the passes go on
 * until nothing changes: the solution does not depend on an order. The zero set moves by less than 0.02 voxel; errors grow to some tenths of a
 * voxel at the edge of the band. Creates the tiles that a wider field needs. */
TSR_API tsr_status tsr_levelset_redistance(tsr_tiles *tiles, double band, const tsr_progress *progress) TSR_CHECKED;

/* A list of twice (up) or half the resolution, same place in the world (cell-centred, docs/theory/tiles.md 9), SORTED index, the same band in
 * voxels: half or twice as wide in world units. Up: trilinear, values clamped. Down: means of eight, then redistanced; the counts of inside voxels are
 * those of the coarse grid to within a voxel where a domain has odd extents. Linear in the tiles. RETURNS NEW. */
TSR_API tsr_status tsr_tiles_upsample(const tsr_tiles *tiles, tsr_tiles **fine) TSR_CHECKED;
TSR_API tsr_status tsr_tiles_downsample(const tsr_tiles *tiles, tsr_tiles **coarse) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
