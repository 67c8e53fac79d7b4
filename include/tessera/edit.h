/* tessera/edit.h: sculpting: a document of named objects (level sets as tile lists of one voxel size), operators on them, undo and redo.
 *
 * Every operator either succeeds or leaves the document as it was. Each is one step of the history, which keeps the old pages of the tiles an
 * operator changed, and nothing else: undo and redo cost what was touched, and restore lists and values bit for bit. Local operators work on the
 * tiles within reach of the brush and a ring around them; all other tiles keep their bits.
 * Positions and lengths are world units along the grid axes (index * spacing), times those of a speed of one world unit per unit of time.
 * An editor and everything in it is used by one thread at a time. Source: [Laan11 7.6.3]; docs/theory/editing.md. Class as of what it calls: exact for the
 * operators on lists, and for those that move the surface as long as tessera/levelset.h is. */
#ifndef TESSERA_EDIT_H
#define TESSERA_EDIT_H

#include "tessera/csg.h"
#include "tessera/levelset.h"
#include "tessera/mesh.h"
#include "tessera/points.h"
#include "tessera/surface.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_editor tsr_editor;

typedef struct tsr_editor_options {
    size_t struct_size;
    tsr_geometry geometry; /* of all objects; a matrix of zeros = unit spacing at the origin */
    int32_t edge;          /* of the tiles, 4 or 8; 0 = 8 */
    double band;           /* half width; 0 = 3 voxels, see band.h */
    int64_t memory_limit;  /* bytes of one object's list; 0 = none. An operator that needs more is refused */
    int draft;             /* != 0: first-order schemes where the surface moves */
    int64_t history_limit; /* bytes of device memory the history may keep; the oldest steps are forgotten first. 0 = none */
    int32_t key_bits;      /* of the lists of all objects: 64, 32, or 0 = 64 (tsr_tiles_set_key_bits) */
} tsr_editor_options;
#define TSR_EDITOR_OPTIONS TSR_SIZED(tsr_editor_options)

/* KEEPS the context. `options` may be NULL. RETURNS NEW. */
TSR_API tsr_status tsr_editor_create(tsr_context *context, const tsr_editor_options *options, tsr_editor **editor) TSR_CHECKED;
TSR_API void tsr_editor_destroy(tsr_editor **editor);

/* ---- objects -------------------------------------------------------------------------------------------------------------------------------- */

/* Names have 1 to 63 letters, digits, '-', '_' or '.'. index 0, 1, ...: RETURNS VIEW of the name, NULL beyond the last. */
TSR_API const char *tsr_editor_object_at(const tsr_editor *editor, int32_t index);
/* RETURNS VIEW, valid until the object changes; NULL if there is none. */
TSR_API const tsr_tiles *tsr_editor_tiles(const tsr_editor *editor, const char *name);

/* A new object. The list must be unbounded and SORTED with the document's spacing, band and edge (TSR_ERROR_ARGUMENT with both values). COPIES it.
 * TSR_ERROR_STATE if the name is taken. */
TSR_API tsr_status tsr_editor_add(tsr_editor *editor, const char *name, const tsr_tiles *tiles) TSR_CHECKED;
TSR_API tsr_status tsr_editor_shape(tsr_editor *editor, const char *name, const tsr_shape *shape) TSR_CHECKED;
TSR_API tsr_status tsr_editor_animal(tsr_editor *editor, const char *name, tsr_vec3 centre, double size) TSR_CHECKED;
TSR_API tsr_status tsr_editor_duplicate(tsr_editor *editor, const char *object, const char *name) TSR_CHECKED;
TSR_API tsr_status tsr_editor_remove(tsr_editor *editor, const char *object) TSR_CHECKED;

/* ---- operators on lists ------------------------------------------------------------------------------------------------------------------------- */

/* object = object OPERATION other; union is pasting. `other` stays. */
TSR_API tsr_status tsr_editor_combine(tsr_editor *editor, const char *object, const char *other, tsr_csg_operation operation,
                                      double radius) TSR_CHECKED;
/* By whole tiles and nothing else where the shift is a multiple of the tile edge in voxels (exact, no sort), else resampled. */
TSR_API tsr_status tsr_editor_move(tsr_editor *editor, const char *object, tsr_vec3 shift) TSR_CHECKED;
/* Resampled (tsr_tiles_transform), with distances anew after a scaling. `progress` may be NULL; a cancelled motion leaves the object as it was. */
TSR_API tsr_status tsr_editor_transform(tsr_editor *editor, const char *object, const tsr_motion *motion, const tsr_progress *progress) TSR_CHECKED;
/* Of what lies in a selection (tessera/selection.h; of kind 0 a box): severs its surface there (width 0 = two voxels), moves it into a new object, copies it
 * into one, takes it away. `at` NULL: all that lies in the selection; else the connected component of that, severed, whose inside holds the voxel nearest to
 * `at` (TSR_ERROR_STATE if none does): what else lies there stays with the object. Each is one step. TSR_ERROR_STATE if nothing lies there. */
TSR_API tsr_status tsr_editor_disconnect(tsr_editor *editor, const char *object, const tsr_selection *selection, double width) TSR_CHECKED;
TSR_API tsr_status tsr_editor_cut(tsr_editor *editor, const char *object, const tsr_selection *selection, const tsr_vec3 *at,
                                  const char *name) TSR_CHECKED;
TSR_API tsr_status tsr_editor_copy_out(tsr_editor *editor, const char *object, const tsr_selection *selection, const tsr_vec3 *at,
                                       const char *name) TSR_CHECKED;
TSR_API tsr_status tsr_editor_delete(tsr_editor *editor, const char *object, const tsr_selection *selection, const tsr_vec3 *at) TSR_CHECKED;
/* The objects that a selection holds: the connected components (26) of what lies in it, severed; as tsr_tiles_components. The document stays as it is. */
TSR_API tsr_status tsr_editor_components_in(const tsr_editor *editor, const char *object, const tsr_selection *selection, tsr_component *components,
                                            int64_t room, int64_t *count) TSR_CHECKED;
/* Keeps what lies in the selection, as above. Without one (NULL) the component with most voxels (`at` NULL), or the one whose inside contains the voxel
 * nearest to `at` (TSR_ERROR_STATE if none does): distances are made anew where a component that goes was the nearest; all other voxels keep their bits. */
TSR_API tsr_status tsr_editor_keep(tsr_editor *editor, const char *object, const tsr_selection *selection, const tsr_vec3 *at) TSR_CHECKED;

/* Every component but the one with most voxels becomes an object of its own, as keep leaves it: OBJECT.1, OBJECT.2, ... in the order of the list. One step of the
 * history. *pieces (may be NULL): how many there are now, this one included. At most 64 (TSR_ERROR_UNSUPPORTED); TSR_ERROR_STATE for an empty object or a
 * name that is taken. Linear in the tiles, for each component. */
TSR_API tsr_status tsr_editor_split(tsr_editor *editor, const char *object, int64_t *pieces) TSR_CHECKED;

/* ---- history ---------------------------------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_edit_history {
    size_t struct_size;
    int64_t undo_steps, redo_steps;
    int64_t tiles;        /* pages of the last step done, undone or redone: what it cost */
    int64_t device_bytes; /* kept by the history */
    double list_seconds;  /* of the last brush or attraction: what putting its tiles into the list and tile management took, the rest is the flow */
} tsr_edit_history;
#define TSR_EDIT_HISTORY TSR_SIZED(tsr_edit_history)
TSR_API tsr_status tsr_editor_history(const tsr_editor *editor, tsr_edit_history *history);
/* TSR_ERROR_STATE if there is nothing to undo or redo. */
TSR_API tsr_status tsr_editor_undo(tsr_editor *editor) TSR_CHECKED;
TSR_API tsr_status tsr_editor_redo(tsr_editor *editor) TSR_CHECKED;

/* ---- operators that move the surface ----------------------------------------------------------------------------------------------------------------- */

/* These run the solver of tessera/levelset.h: HJ-WENO5 and TVD-RK3 with the rescaling term, or with `draft` first-order Godunov and Euler (faster by a
 * factor, radius errors of some per cent of the distance moved). `progress` may be NULL; a cancelled operator leaves the object as it was. */

/* Moves the whole surface outwards by `distance` (inwards if negative): dilation and erosion by a ball. A surface that vanishes leaves an empty object.
 * From sharp edges a rounding starts half a voxel late (docs/guide/editing.md): first order there, whatever the scheme. */
TSR_API tsr_status tsr_editor_offset(tsr_editor *editor, const char *object, double distance, const tsr_progress *progress) TSR_CHECKED;
/* Erosion then dilation: what is thinner than two radii goes. The other way round: slots narrower than two radii fill. */
TSR_API tsr_status tsr_editor_open(tsr_editor *editor, const char *object, double radius, const tsr_progress *progress) TSR_CHECKED;
TSR_API tsr_status tsr_editor_close(tsr_editor *editor, const char *object, double radius, const tsr_progress *progress) TSR_CHECKED;

typedef struct tsr_brush {
    tsr_vec3 centre;
    double sigma; /* weight exp(-d^2 / 2 sigma^2), exactly 0 beyond 3 sigma, where no voxel changes */
    double speed; /* at the centre, world units per unit of time: > 0 grows, < 0 shrinks (smoothing: weight of the half curvature, > 0) */
    double time;
} tsr_brush;
/* Local dilation or erosion. TSR_ERROR_ARGUMENT for sigma <= 0 or not finite, time < 0. Cost of the tiles within 3 sigma and a ring. */
TSR_API tsr_status tsr_editor_brush(tsr_editor *editor, const char *object, const tsr_brush *brush, const tsr_progress *progress) TSR_CHECKED;
/* Flow by half the mean curvature, K/2, near the brush. */
TSR_API tsr_status tsr_editor_smooth_brush(tsr_editor *editor, const char *object, const tsr_brush *brush, const tsr_progress *progress) TSR_CHECKED;
/* The same everywhere for `time`; `conserve` != 0: minus its mean over the surface, with a feedback on the volume, so that the volume stays. */
TSR_API tsr_status tsr_editor_smooth(tsr_editor *editor, const char *object, double time, int conserve, const tsr_progress *progress) TSR_CHECKED;
/* Rotation by convection (scale and shift of the motion must be 0): the operator of [Laan11 7.6.3]. tsr_editor_transform does it in one step. */
TSR_API tsr_status tsr_editor_rotate(tsr_editor *editor, const char *object, const tsr_motion *motion, const tsr_progress *progress) TSR_CHECKED;

typedef struct tsr_attraction {
    const double (*points)[3]; /* BORROWS, [count] */
    int64_t count;             /* 1 to 2147483647 */
    double speed;              /* > 0 pulls the surface to the points, < 0 pushes it away */
    double radius;             /* no effect farther than this from every point */
    double time;
    double power;     /* p of the potential, more than 1 and at most 10; 0 = 3 */
    double epsilon;   /* softens distances, world units, 0.01 to 1000 voxels; 0 = the smallest spacing */
    double tolerance; /* > 0: ends early when no value in the band within the radius changed by as much (world units) in a piece of time */
    double *reached;  /* NULL, or where the time goes at which it ended */
} tsr_attraction;
/* U = speed w grad P / |grad P|, P = sum of (d^2 + epsilon^2)^(-(p - 1) / 2) over the points, w = (1 - d^2 / radius^2)^2 of the nearest point:
 * docs/theory/editing.md 7. P is that of tsr_reconstruct, by a Barnes-Hut walk (theta 0.5) through an octree that the device builds; points nearer to each other than
 * 2^-21 of their extent count as one. U is kept for each voxel, components to 1/1022, in pages of the tiles within the radius of a point, which are all
 * that is worked on, with a ring of 8 voxels: cost and memory are those of the points and of these tiles. Runs in pieces of at most a voxel of motion and 4
 * units of time. Voxels beyond the radius keep their bits. `progress` comes while the octree, the potential and the steps are made. */
TSR_API tsr_status tsr_editor_attract(tsr_editor *editor, const char *object, const tsr_attraction *attraction,
                                      const tsr_progress *progress) TSR_CHECKED;
/* Makes the field a distance again without moving the surface. */
TSR_API tsr_status tsr_editor_redistance(tsr_editor *editor, const char *object) TSR_CHECKED;

/* ---- scripts ---------------------------------------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_edit_script {
    size_t struct_size;
    /* How `load` and `save` reach files; NULL: TSR_ERROR_UNSUPPORTED. `load` RETURNS NEW a list on the editor's device. */
    tsr_status (*load)(void *user, tsr_editor *editor, const char *path, tsr_tiles **tiles);
    tsr_status (*save)(void *user, tsr_editor *editor, const char *path, const tsr_tiles *tiles);
    /* Called by `measure`; NULL: measured and forgotten. */
    void (*measured)(void *user, const char *object, const tsr_tiles_measures *measures);
    void *user;
    tsr_progress progress;
    /* How `attract-to` and `repel-from` reach files of points; NULL: TSR_ERROR_UNSUPPORTED. RETURNS NEW points of the host, in the world. */
    tsr_status (*points)(void *user, tsr_editor *editor, const char *path, tsr_points **points);
    /* Called after an attraction or repulsion with a tolerance: when it ended, of the time it had. NULL: not called. */
    void (*attracted)(void *user, const char *object, double reached, double time);
} tsr_edit_script;
#define TSR_EDIT_SCRIPT TSR_SIZED(tsr_edit_script)

/* Runs a script, one command a line, '#' to the end of the line is a comment; docs/guide/editing.md lists the commands. Errors begin with NAME:LINE.
 * What was done before the failing line stays done. `script` may be NULL. */
TSR_API tsr_status tsr_editor_script(tsr_editor *editor, const char *text, const char *name, const tsr_edit_script *script) TSR_CHECKED;

/* ---- output ------------------------------------------------------------------------------------------------------------------------------------------- */

/* The object's field as a dense float32 volume over its stored tiles and a margin of one tile, on the editor's device, with the place in the world
 * that the document gives it. TSR_ERROR_STATE for an empty object. RETURNS NEW. */
TSR_API tsr_status tsr_editor_field(const tsr_editor *editor, const char *object, tsr_volume **field) TSR_CHECKED;
/* What changed of an object since the last call with its name, for tsr_surface_update: *region is filled in and *changed points to it, or is NULL where
 * the list is another one (after operators that work on the whole list, and at first). Brushes, attraction, undo and redo of them leave small regions. */
TSR_API tsr_status tsr_editor_changes(tsr_editor *editor, const char *object, tsr_surface_region *region,
                                      const tsr_surface_region **changed) TSR_CHECKED;
/* The field of any float32 list, as tsr_editor_field; of one with a domain all of that. RETURNS NEW. */
TSR_API tsr_status tsr_tiles_field(const tsr_tiles *tiles, tsr_volume **field) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
