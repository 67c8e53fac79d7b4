/* tessera/reconstruct.h: closed surfaces from unoriented points, and smooth surfaces of particles.
 *
 * A level set that starts as a box round the points is carried towards them by the gradient of the potential P(x) = sum d_i^-(p-1), coarse to
 * fine: phi_t = -U . grad phi + alpha K |grad phi| + reshape, U = grad P / |grad P|. No normals, no orientation; noise and isolated outliers are
 * bridged by the stiffness alpha. P comes from an octree over the points (Barnes-Hut).
 * Units of the options: voxels of the level and steps of a front that moves one voxel per unit of time, so that they do not depend on the scale.
 * Source: [Laan11 7.4], [Jalba13 4]; docs/theory/reconstruction.md.
 * Class: exact: the same surface on every backend and thread count, whatever the order of the points; all placements agree. */
#ifndef TESSERA_RECONSTRUCT_H
#define TESSERA_RECONSTRUCT_H

#include "tessera/levelset.h"
#include "tessera/points.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the work is done. AUTO: all on the context's device. HYBRID: octree and potential on the CPU threads, level set on the device: for clouds
 * whose octree does not fit there. On a CPU context all are the same. */
typedef enum tsr_placement { TSR_PLACEMENT_AUTO = 0, TSR_PLACEMENT_DEVICE, TSR_PLACEMENT_HYBRID } tsr_placement;

enum { TSR_RECONSTRUCT_LEVELS = 22 };

/* What is known at the end of a level. Errors: |phi| at the samples, trilinear, before the next level; samples outside the band count as
 * its half width. */
typedef struct tsr_reconstruct_level {
    int32_t level;              /* 2^level voxels per axis */
    int converged;              /* 0: stopped at max_steps */
    int64_t steps, tiles, active_voxels;
    double voxel;               /* world units */
    double seconds;             /* of this level, everything */
    double potential_seconds;   /* part of it spent on P where the CPU does it; 0 on a device, where it is not told apart */
    double error, error_percent; /* mean distance of the samples: world units, percent of the diagonal of their bounding box */
    int64_t outside;            /* samples outside the band */
    int64_t device_bytes;       /* held by the list at the end of the level */
} tsr_reconstruct_level;

typedef struct tsr_reconstruct_options {
    size_t struct_size;
    tsr_placement placement;
    int32_t depth;              /* D: the final grid has 2^D voxels per axis; 0 = 8. start_depth to 16, or to 21 while the list fits its memory */
    int32_t start_depth;        /* d: level of the first surface; 0 = 6 ([Jalba13]: 7), 4 to 9 */
    double power;               /* p > 1; 0 = 7. 3, as in [Jalba13], loses thin parts */
    double epsilon;             /* softening in voxels of the level; 0 = 0.5 */
    double theta;               /* a cell is opened if its side is over theta times its distance; 0 = 0.5, at most 1.25. With power > 3 theta grows beyond
                                 * 8 voxels as distance^((power - 3) / 2), up to twice and 1: what is far adds so much less; at the first level it shrinks beyond 32 voxels
                                 * as distance^(-1/2) instead, so that the field is smooth far from the samples */
    double alpha;               /* stiffness, curvature weight; 0 = 0.02; negative = none; at most 1 / (6 time_step), where steps stay stable: 0.83 */
    double band;                /* half width of the stored band in voxels; 0 = 1.5, at most 5 */
    double time_step;           /* 0 = 0.2; at most 0.28 */
    double margin;              /* of the grid round the points, share of the side; 0 = 1/16 */
    int32_t smooth_iters;       /* curvature flow alone at the end of each level, for so many time_steps (in fewer, longer ones); 0 = 10; negative = none */
    int32_t age;                /* a level is done when no tile is younger than so many steps (0 = 5, the rule of [Jalba13]) ... */
    double change_tolerance;    /* ... and no voxel changes by more than this per step, in voxels; 0 = a tenth of time_step at the first level, a fifth
                                 * at the others; negative = any change.
                                 * Done too when no voxel has changed by more than this in `age` steps running, whatever the tiles' ages */
    /* A level beyond the first with the default change_tolerance is done as well when over 10 steps (after the first 20) the mean distance of the
     * samples has not changed by more than 0.002 voxels, nor the volume inside over the area by more than 0.01: single voxels may go to and fro
     * for ever. */
    int64_t max_steps;          /* of one level; 0 = 8 * 2^start_depth at the first, 400 at the others */
    int64_t memory_limit;       /* bytes of device memory for a list, also the second one of recapture; 0 = none */
    /* Called at the end of each level; the list is BORROWED. Non-zero cancels. NULL: none. */
    int (*level)(void *user, const tsr_reconstruct_level *level, const tsr_tiles *tiles);
    void *user;
    tsr_progress progress;
    /* F32, or I16: phi in steps of band / 32767 and log P in 65536 steps over all it can be, half the memory for both. The lists are of this
     * storage, that of `level` and the result: tsr_tiles_set_storage makes of the result what meshes are made of. */
    tsr_storage storage;
    /* Thin parts that a level has passed are put back before the next one and, those that leave pieces and handles as they are, at the end: balls of 3
     * (at the end 5) voxels round samples that lie beyond the band outside and have company there, united with the surface, of which the flow takes the
     * rest away. 0 = yes; negative = no, as in [Jalba13]. Takes the list of a level a second time where something was missed, which is
     * more than one sample in 100000 beyond the band, in 5000 at the end. */
    int32_t recapture;
    /* Outliers: points that have fewer than so many others near them are left out; negative: none is. Near is within 8 voxels of the final level
     * or, where the points are sparser than that resolves, within the side of cells that hold 8 points on average. 0 = 3, judged by what lies
     * round the point: those whose nearest 12 others lie in a sheet with them are samples of a sparse part and stay, and where the outliers are so
     * dense that chance brings 3 of them together more others are asked for (up to 16); where three quarters of the points have 24 others within
     * 4, 2 or 1 voxels, near is that if more than a fiftieth of the points is left out by it. If more than half were left out, all are kept. The grid
     * is that round the others if its side is less than three quarters of that round all. */
    int32_t min_neighbours;
} tsr_reconstruct_options;
#define TSR_RECONSTRUCT_OPTIONS TSR_SIZED(tsr_reconstruct_options)

typedef struct tsr_reconstruct_report {
    size_t struct_size;
    tsr_reconstruct_level level[TSR_RECONSTRUCT_LEVELS];
    int32_t levels;
    int flat;                   /* != 0: the points lie in a plane, on a line or in one place: the box was widened */
    int64_t points, leaves, nodes, tree_bytes; /* points: without those left out */
    double tree_seconds, seconds; /* seconds: all, without reading the points */
    double side;                /* of the grid, world units */
    tsr_vec3 lower;             /* its lower corner */
    int64_t lone;               /* points left out, see min_neighbours */
    int32_t refused;            /* groups of thin parts that were not put back at the end: they would have made other pieces, cavities or handles */
    int32_t crowded;            /* levels (the end of the last is one more) at which nothing was put back for want of memory */
} tsr_reconstruct_report;
#define TSR_RECONSTRUCT_REPORT TSR_SIZED(tsr_reconstruct_report)

/* BORROWS points, which lie on the context's device. RETURNS NEW list on that device, phi < 0 inside, in world coordinates:
 * tsr_surface_extract_tiles makes the mesh. `report` may be NULL.
 * TSR_ERROR_ARGUMENT: fewer than 4 points, a coordinate that is not finite (its index), an option out of range; TSR_ERROR_STATE: the surface vanished
 * (level and step); TSR_ERROR_UNSUPPORTED: points so near together or far apart that voxels (below 1e-17) or their
 * squares leave float32; TSR_ERROR_CAPACITY: the list outgrew memory_limit or the device. */
TSR_API tsr_status tsr_reconstruct(tsr_context *context, const tsr_points *points, const tsr_reconstruct_options *options, tsr_tiles **tiles,
                                   tsr_reconstruct_report *report) TSR_CHECKED;

/* What a run would take, without running it: the octree is built (its cost is small) and its occupied cells give the tiles of each level. */
typedef struct tsr_reconstruct_plan {
    size_t struct_size;
    struct { int32_t level; int64_t occupied, tiles, bytes; } level[TSR_RECONSTRUCT_LEVELS];
    int32_t levels;
    int64_t tree_bytes, build_bytes; /* kept; needed while it is built */
    int64_t peak_bytes;              /* device memory, everything but the second list of a level that puts back what was missed */
    double seconds;                  /* from the measured speed of the potential on a sample of the finest cells; without the level-set steps */
    int flat;                        /* these three as in tsr_reconstruct_report */
    int64_t points, lone;
} tsr_reconstruct_plan;
#define TSR_RECONSTRUCT_PLAN TSR_SIZED(tsr_reconstruct_plan)
TSR_API tsr_status tsr_reconstruct_estimate(tsr_context *context, const tsr_points *points, const tsr_reconstruct_options *options,
                                            tsr_reconstruct_plan *plan) TSR_CHECKED;

/* ---- particles ------------------------------------------------------------------------------------------------------------------------ */

typedef struct tsr_particles_options {
    size_t struct_size;
    double radius;              /* of a particle, world units; needed unless the points have radii of their own, which count then */
    double voxel;               /* world units; 0 = half the smallest radius */
    double smooth;              /* time of curvature flow in radius^2: removes the bumps between particles; 0 = 0.15, negative = none */
    int conserve;               /* != 0: the flow keeps the enclosed volume, to 1 % at the default voxel and smooth; not with a negative smooth */
    double band;                /* voxels; 0 = 2 */
    int64_t memory_limit;       /* bytes of the tiles, and of the search for them before; 0 = what the device has */
    tsr_progress progress;
} tsr_particles_options;
#define TSR_PARTICLES_OPTIONS TSR_SIZED(tsr_particles_options)

/* Surface of a fluid or granular body from its particles: the union of their balls as level set, then smoothed by curvature flow. BORROWS points on the
 * context's device. RETURNS NEW list. Source: docs/theory/reconstruction.md 9.
 * TSR_ERROR_ARGUMENT: an option or a radius out of range; TSR_ERROR_CAPACITY: more tiles than memory_limit or the device can hold, said before they are
 * made; TSR_ERROR_STATE: the surface vanished. */
TSR_API tsr_status tsr_particles_surface(tsr_context *context, const tsr_points *points, const tsr_particles_options *options, tsr_tiles **tiles) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
