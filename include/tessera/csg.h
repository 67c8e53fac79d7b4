/* tessera/csg.h: the algebra of level sets held as tile lists: primitives, union, intersection, difference, movement, parts, components, measures.
 *
 * Boolean operations, interpolation, comparison, components and measures work on every float32 list, also with a domain (results are SORTED) and in two
 * dimensions: a domain of one voxel along an axis is a plane, in which nothing varies along that axis. Primitives, movement and parts are for unbounded
 * lists; those with a domain are TSR_ERROR_UNSUPPORTED there. Operands of one call have the same spacing, band, tile edge and domain and live in the
 * same context, else TSR_ERROR_ARGUMENT with both values. Positions and lengths are
 * world units along the grid axes: x = index * spacing (the rest of the geometry only places the result in the world). Results are managed lists:
 * exactly the tiles that the field needs, so that equal fields are equal lists. A list without a voxel inside is empty; one without a voxel
 * outside is all inside and stores no tile either. A surface ends at the border of a domain; nothing is said of what lies beyond.
 * Cost: linear in the stored tiles. Source: docs/theory/editing.md 1, 4, 6, docs/theory/voxelize.md 1, docs/theory/tiles.md 2, 3, 5.
 * Class exact unless said otherwise: the same list and the same bits on every backend and thread count. */
#ifndef TESSERA_CSG_H
#define TESSERA_CSG_H

#include "tessera/selection.h"
#include "tessera/tiles.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- primitives ---------------------------------------------------------------------------------------------------------------------------- */

typedef enum tsr_shape_kind {
    TSR_SHAPE_SPHERE = 0, /* radius */
    TSR_SHAPE_BOX,        /* half = half extents; radius = rounding of the edges (0 = sharp), at most the smallest half extent */
    TSR_SHAPE_TORUS,      /* around z: radius of the ring, minor of the tube */
    TSR_SHAPE_CYLINDER,   /* along z: radius, half.z = half height */
    TSR_SHAPE_CAPSULE,    /* along z: radius, half.z = half length of the segment */
    TSR_SHAPE_ELLIPSOID   /* half = semi-axes. Zero set exact, values off the surface of first order */
} tsr_shape_kind;

typedef struct tsr_shape {
    tsr_shape_kind kind;
    tsr_vec3 centre;
    tsr_vec3 half;
    double radius, minor;
    tsr_vec3 turn; /* rotation about the centre: axis times angle in radians */
    double shell;  /* > 0: only a wall of this thickness around the surface */
} tsr_shape;

TSR_API const char *tsr_shape_name(tsr_shape_kind kind); /* "sphere", ...; NULL beyond the last */
TSR_API tsr_status tsr_shape_parse(const char *name, tsr_shape_kind *kind) TSR_CHECKED;

/* The list of a primitive without a dense volume: tiles are found by halving boxes whose distance from the surface is known, cost linear in the
 * surface. `options` as for tsr_tiles_create, unbounded SORTED; NULL = defaults. TSR_ERROR_ARGUMENT for sizes that are not positive and finite or
 * reach beyond the tile coordinates. Distances to float32 rounding. RETURNS NEW. */
TSR_API tsr_status tsr_tiles_shape(tsr_context *context, const tsr_geometry *geometry, const tsr_tiles_options *options, const tsr_shape *shape,
                                   tsr_tiles **tiles) TSR_CHECKED;

/* Stand-in of the literature's models: "animal" (body, neck, head, four legs and a tail; `size` = its length, centre in the middle of the body, head
 * towards +x). Ellipsoids and capsules, joined by blends of 5 % of its length (at most 16 voxels) whatever the band; mirror-symmetric in y. RETURNS NEW. */
TSR_API tsr_status tsr_tiles_animal(tsr_context *context, const tsr_geometry *geometry, const tsr_tiles_options *options, tsr_vec3 centre,
                                    double size, tsr_tiles **tiles) TSR_CHECKED;

/* ---- boolean operations ---------------------------------------------------------------------------------------------------------------------- */

typedef enum tsr_csg_operation {
    TSR_CSG_UNION = 0,    /* min(a, b) */
    TSR_CSG_INTERSECTION, /* max(a, b) */
    TSR_CSG_DIFFERENCE,   /* max(a, -b) */
    TSR_CSG_BLEND         /* union with the seam filled by an arc of `radius`: r - sqrt((r - a)^2 + (r - b)^2) where a, b < r, else min(a, b) */
} tsr_csg_operation;

TSR_API const char *tsr_csg_name(tsr_csg_operation operation);
TSR_API tsr_status tsr_csg_parse(const char *name, tsr_csg_operation *operation) TSR_CHECKED;

/* One merge pass over both lists; space without a tile takes part with its sign. BORROWS both (they may be the same list). `radius` is that of
 * BLEND in world units, more than 0 and at most the band (TSR_ERROR_ARGUMENT with both values), else ignored: surfaces farther apart than two radii are
 * joined as by UNION, bit for bit, and no point of either surface moves that is `radius` or more from the other body. A u A = A, A n A = A, A \ A is empty, and De Morgan's rules hold bit for bit. RETURNS NEW. */
TSR_API tsr_status tsr_tiles_combine(const tsr_tiles *a, const tsr_tiles *b, tsr_csg_operation operation, double radius,
                                     tsr_tiles **result) TSR_CHECKED;
/* -phi: inside and outside change places. Without a domain the inside of the result is unbounded. RETURNS NEW. */
TSR_API tsr_status tsr_tiles_complement(const tsr_tiles *tiles, tsr_tiles **result) TSR_CHECKED;
/* The world position of voxel (0, 0, 0); the voxels stay, so that the list moves. CHANGES the list. TSR_ERROR_ARGUMENT unless finite. */
TSR_API tsr_status tsr_tiles_set_origin(tsr_tiles *tiles, tsr_vec3 origin) TSR_CHECKED;
/* Before a mesh is made of bodies whose faces lie on voxels: a sample on the surface (within 2^-16 voxel) has its side by the half-open ranges of voxels,
 * and marching cubes cuts off edges there. Such samples go to the side where edges and grooves stay as they are, so that boxes and what csg makes of them keep
 * their volumes and areas. Other values stay. CHANGES the list or the host volume (float32, without scaling; spacing for the nearness is that of its geometry);
 * *changed (may be NULL) is how many samples changed sides. Class: exact. */
TSR_API tsr_status tsr_tiles_settle(tsr_tiles *tiles, int64_t *changed) TSR_CHECKED;
TSR_API tsr_status tsr_volume_settle(tsr_volume *volume, int64_t *changed) TSR_CHECKED;
/* (1 - t) a + t b, 0 <= t <= 1. Meaningful where the bands reach from one surface to the other (tsr_tiles_morph sees to that). RETURNS NEW. */
TSR_API tsr_status tsr_tiles_interpolate(const tsr_tiles *a, const tsr_tiles *b, double t, tsr_tiles **result) TSR_CHECKED;

/* 1 in *same if both lists have the same tiles, the same bits in them and the same signs around them (in a domain: within it). */
TSR_API tsr_status tsr_tiles_equal(const tsr_tiles *a, const tsr_tiles *b, int *same) TSR_CHECKED;

/* ---- movement --------------------------------------------------------------------------------------------------------------------------------- */

/* Adds (x, y, z) tiles to all coordinates: order and values stay, there and back is the identity. TSR_ERROR_ARGUMENT beyond the tile
 * coordinates. RETURNS NEW. */
TSR_API tsr_status tsr_tiles_translate(const tsr_tiles *tiles, int32_t x, int32_t y, int32_t z, tsr_tiles **result) TSR_CHECKED;

typedef struct tsr_motion {
    tsr_vec3 centre; /* of rotation and scaling */
    tsr_vec3 axis;   /* of rotation; any length but zero (zero is allowed when angle is 0) */
    double angle;    /* radians */
    double scale;    /* 0 = 1 */
    tsr_vec3 shift;  /* after rotation and scaling */
} tsr_motion;

/* Moves the surface by resampling the field once: cubic (Catmull-Rom) where the band has the samples, else linear. Needs about three voxels of band
 * to be accurate (third order); a scale other than 1 leaves a band of other width, which redistancing restores. A shift by whole tiles alone is
 * tsr_tiles_translate. RETURNS NEW. */
TSR_API tsr_status tsr_tiles_transform(const tsr_tiles *tiles, const tsr_motion *motion, tsr_tiles **result) TSR_CHECKED;

/* ---- parts ------------------------------------------------------------------------------------------------------------------------------------- */

/* Coordinates of the stored tiles that have a voxel in the region, in order. `coordinates` has room for `room` entries (NULL with room 0 just
 * counts). Two binary searches a row of tiles of the region, or one look at all keys if the list has fewer tiles than the region has rows. */
TSR_API tsr_status tsr_tiles_select(const tsr_tiles *tiles, const tsr_box *region, int32_t (*coordinates)[3], int64_t room,
                                    int64_t *count) TSR_CHECKED;
/* The same of any selection: the tiles with a voxel in it. Those of its bounding box are found as above and then looked at; a lasso and a half space have none,
 * so that every tile is looked at by its middle, and by its voxels only near the faces. A look costs the corners of a lasso or stroke. A box without turn
 * is a box. TSR_ERROR_ARGUMENT names the field that makes no selection: no size, points all on one line of sight, the eye among them, NaN. */
TSR_API tsr_status tsr_tiles_select_in(const tsr_tiles *tiles, const tsr_selection *selection, int32_t (*coordinates)[3], int64_t room,
                                       int64_t *count) TSR_CHECKED;

/* Severs the surface at the faces of the region: a wall of thickness `width` (0 = two voxels) around them is taken away, max(phi, width/2 -
 * |distance to the faces|), so that no inside crosses them. RETURNS NEW. */
TSR_API tsr_status tsr_tiles_disconnect(const tsr_tiles *tiles, const tsr_box *region, double width, tsr_tiles **result) TSR_CHECKED;
/* The same at the faces of any selection. TSR_ERROR_UNSUPPORTED for a lasso or half space on a list whose inside has no end. Cost: the tiles of the
 * list, and those that the wall needs where it goes through the inside. RETURNS NEW. */
TSR_API tsr_status tsr_tiles_disconnect_at(const tsr_tiles *tiles, const tsr_selection *selection, double width, tsr_tiles **result) TSR_CHECKED;
/* Severs at a wall of two voxels, and gives what lies in the selection and what does not (either may be NULL: not made). Their union is the severed
 * surface, bit for bit. RETURNS NEW, two. */
TSR_API tsr_status tsr_tiles_divide(const tsr_tiles *tiles, const tsr_selection *selection, tsr_tiles **inner, tsr_tiles **outer) TSR_CHECKED;

typedef struct tsr_component {
    int64_t voxels;  /* phi < 0 (outside components: phi >= 0), absent tiles between stored ones included */
    tsr_size3 first; /* index of its first voxel in the order of the list: a point of it */
} tsr_component;

/* Connected components of phi < 0 (connectivity 26 or 6), in the order of the list; `components` has room for `room` entries, *count says how many
 * there are. Work memory 4 bytes a stored voxel; TSR_ERROR_UNSUPPORTED from 2^32 of them on. */
TSR_API tsr_status tsr_tiles_components(const tsr_tiles *tiles, int32_t connectivity, tsr_component *components, int64_t room,
                                        int64_t *count) TSR_CHECKED;
/* Which components (26-connected, numbered as above) have a voxel in each stored tile, in the order of the list: bit c of masks[i] for component c. `masks` has room
 * for `room` entries, *count is the number of tiles. TSR_ERROR_UNSUPPORTED for more than 64 components. */
TSR_API tsr_status tsr_tiles_component_masks(const tsr_tiles *tiles, uint64_t *masks, int64_t room, int64_t *count) TSR_CHECKED;
/* The list with only the components (26-connected, numbered as above) for which keep[i] != 0; `count` must be their number. Near components that go,
 * positive values are too small until the list is redistanced. RETURNS NEW. */
TSR_API tsr_status tsr_tiles_keep(const tsr_tiles *tiles, const uint8_t *keep, int64_t count, tsr_tiles **result) TSR_CHECKED;

/* ---- measures ------------------------------------------------------------------------------------------------------------------------------------ */

typedef struct tsr_tiles_measures {
    size_t struct_size;
    double volume; /* sum of a step smeared over 2 voxels along the normal (1.5 or 1 in a narrower band), plus the enclosed absent tiles. Of a
                            * plane: the area inside */
    double area;   /* sum of the smeared delta times |grad phi|: of distances exact on faces along the axes and within 1 % on others and on curved surfaces (radii
                            * from 8 voxels), also where a flow has made slopes of 0.7 to 1.3 of them. Sharp edges take away up to half a voxel times their length. A band below 3 (largest)
                            * voxels does not tell slopes: its values count as distances. Nor do the stairs of a mask's own distances: 10 % (oblique faces 25 %)
                            * too little until the field is smoothed. Of a plane: the length of the curves */
    double
        mean_curvature; /* of the surface: the mean of K = div(grad phi / |grad phi|), 2/R on a sphere, 1/R on a circle; walls thinner than 4 voxels
                            * spoil it */
    tsr_vec3 centroid;  /* of the inside, world units along the grid axes */
    int64_t components; /* pieces of phi < 0, joined by faces, as those of the surface are */
    int64_t cavities;   /* 26-connected pieces of phi >= 0 that are enclosed: reach neither infinity nor the border of a domain. Of a plane: holes */
    int64_t euler;      /* Euler characteristic of the inside (voxels, of a plane pixels, joined by faces); of an unbounded inside half that of its
                            * surface */
    int64_t genus;      /* handles: pieces + cavities - euler, one less for an unbounded inside; 0 in a plane, where
                            * euler = pieces - holes */
    int64_t tiles, active_voxels;
    int32_t dimensions; /* 3, or 2 for a plane */
} tsr_tiles_measures;
#define TSR_TILES_MEASURES TSR_SIZED(tsr_tiles_measures)

/* Sums in float64 in a fixed order: class exact. For an unbounded inside volume and centroid are those of the stored and enclosed part; of a domain they
 * are all of the inside, while area and curvature do not know its border. */
TSR_API tsr_status tsr_tiles_measure(const tsr_tiles *tiles, tsr_tiles_measures *measures) TSR_CHECKED;

/* ---- a surface a distance away ---------------------------------------------------------------------------------------------------------- */

/* The surface `distance` away, world units: outward if positive, inward if negative, at least the band either way. Every value of the result is the exact distance
 * to where the field crosses the lattice, made smooth by the normal and the curvature there (some thousandths of a voxel), less `distance`: rounded at
 * convex edges, sharp at concave ones, as with a ball that rolls over the surface. The work grows with the voxels of the result, hardly with the
 * distance; smaller distances are the level-set solver's (tessera/levelset.h). The host does it for lists of every device. The result has band, edge, index and domain of
 * `tiles`; one that is gone, or fills its domain, is empty. Class exact. Source: docs/theory/editing.md 6. RETURNS NEW. */
TSR_API tsr_status tsr_tiles_offset(const tsr_tiles *tiles, double distance, const tsr_progress *progress, tsr_tiles **result) TSR_CHECKED;

/* ---- surfaces between two surfaces --------------------------------------------------------------------------------------------------- */

/* Surfaces between two surfaces.
 *
 * INTERPOLATE: the zero set of (1 - t) a + t b, both redistanced over a band that reaches from one surface to the other; t = 0 is a, t = 1 is b, and the
 * surfaces need not meet (distances of first order: on the way some tenths of a voxel). EVOLVE: a moves with the speed F = -b along its normals, outwards where it is inside b, inwards where it is outside, until it
 * covers b: needs no wide band, but parts of b that a does not meet are not found, and parts of a far from b shrink away.
 * Lists as for tsr_tiles_combine (tessera/csg.h): also with a domain and in two dimensions, both the same. Source: docs/theory/editing.md 8; Breen and Whitaker, A Level-Set Approach for the Metamorphosis of Solid
 * Models, 2001 (evolution). Class as tessera/levelset.h. */

typedef enum tsr_morph_method { TSR_MORPH_INTERPOLATE = 0, TSR_MORPH_EVOLVE } tsr_morph_method;

typedef struct tsr_morph_options {
    size_t struct_size;
    tsr_morph_method method;
    double reach; /* INTERPOLATE: half width of the wide band in world units; 0 = doubled until it covers all that is inside one shape and
                         * outside the other. Memory grows with area times reach */
    int draft;    /* EVOLVE: first-order schemes */
} tsr_morph_options;
#define TSR_MORPH_OPTIONS TSR_SIZED(tsr_morph_options)

/* results[i] at t[i], i < count, t increasing: INTERPOLATE: 0 <= t <= 1; EVOLVE: t >= 0 is time (a voxel of distance from b takes of the order of one
 * unit). The results have the band of a. Distances again, whatever the way did to the field. TSR_ERROR_STATE if a or b
 * is empty, TSR_ERROR_ARGUMENT for INTERPOLATE if without a domain one of them is inside far away and the other is not. RETURNS NEW in results; all NULL after a failure. */
TSR_API tsr_status tsr_tiles_morph(const tsr_tiles *a, const tsr_tiles *b, const double *t, int32_t count, const tsr_morph_options *options,
                                   const tsr_progress *progress, tsr_tiles **results) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
