/* tessera/region_tree.h: region quadtrees of images and octrees of volumes, built bottom-up without scatter.
 *
 * A cell of level l covers 2^l voxels along each axis; level 0 are the voxels, level `top` is one cell. A rule says which voxels are kept and
 * which four (a volume of extent z = 1: quadtree) or eight (octree) cells merge: they become one leaf of twice the side. A cell that is no leaf
 * but has leaves below is a node. Beyond the volume nothing is kept, so sizes need not be powers of two.
 *
 * A region pyramid holds the numbers of leaves and nodes below every cell and is rebuilt without allocation; a region tree is the lists made of
 * it, independent of it: leaves in Morton order (a linear tree) and, depth first, nodes with references to their children (a pointer tree).
 * Exact class: the same lists on every backend and number of threads. Source: QuadPyramid and OcPyramid [Ziegler10 8, 9]; docs/theory/regions.md. */
#ifndef TESSERA_REGION_TREE_H
#define TESSERA_REGION_TREE_H

#include "tessera/io.h"
#include "tessera/pyramid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is kept and what merges. Values are real values (slope and intercept applied); of up to 4 channels where the rule takes several. */
typedef enum tsr_region_rule_kind {
    TSR_REGION_CLASSES = 0, /* kept: `classifier` gives 1 (all but COUNTS and CROSSINGS; one channel); kept cells merge */
    TSR_REGION_EDGES,       /* kept: the forward differences along all axes, squared (see `edge_norm`) and summed over the channels, are below `threshold`; kept cells merge */
    TSR_REGION_LINEAR,      /* kept: no second difference (straight or mixed) of a channel exceeds `threshold`; kept cells merge */
    TSR_REGION_DEVIATION,   /* all kept; cells merge if the squared deviations of their means from the common mean, summed over cells and channels, are
                             * at most `threshold`: voxels lie within top * sqrt((3 or 7) / (4 or 8) * threshold) of their leaf's mean */
    TSR_REGION_SPREAD,      /* all kept; cells merge if no channel's values differ by more than `threshold`; 0: equal values, labels */
    TSR_REGION_VARIANCE,    /* all kept; cells merge if the variances of the voxels they cover, summed over the channels, are at most `threshold` */
    TSR_REGION_COLOUR       /* kept: the channels lie within `threshold` of `colour` (Euclidean distance, borders kept); kept cells merge */
} tsr_region_rule_kind;

/* How EDGES sums the forward differences of all axes and channels: their squares, or their magnitudes (both are printed in [Ziegler10 8.6.2, 8.8]). */
typedef enum tsr_region_edge_norm { TSR_REGION_EDGE_SQUARES = 0, TSR_REGION_EDGE_MAGNITUDES } tsr_region_edge_norm;

/* What values that are no numbers do. APART: they are kept by no classifier and merge with nothing. FAIL: builds return TSR_ERROR_STATE that names the first
 * NaN or infinity (one look more at floating-point channels, and a wait). */
typedef enum tsr_region_nan { TSR_REGION_NAN_APART = 0, TSR_REGION_NAN_FAIL } tsr_region_nan;

typedef struct tsr_region_options {
    size_t struct_size;
    tsr_region_rule_kind rule;
    tsr_pyramid_classifier classifier;
    double lower, upper;     /* of the classifier, as in tsr_pyramid_options */
    double threshold;        /* 0 or more */
    int complement;          /* != 0: CLASSES, EDGES, LINEAR and COLOUR keep the others: empty space, busy regions */
    int singles;             /* != 0: CLASSES, EDGES, LINEAR and COLOUR make the voxels not kept leaves of their own that never merge */
    int32_t dimensions;      /* 2 = quadtree (extent z 1), 3 = octree, 0 = by extent z */
    int32_t top;             /* level of the root; 0 = the least that covers the volume. Higher: room for what may be put beside it (tessera/region_tiles.h) */
    int nodes_only;          /* != 0: trees have no list of leaves, for those that carry no data (empty space): every reference to a leaf is ~0 */
    tsr_region_edge_norm edge_norm; /* of EDGES */
    int implicit_base;       /* != 0: CLASSES, EDGES, LINEAR and COLOUR store nothing of the voxels and classify them again where lists are made; the channels of the
                              * last build must outlive that unchanged. Source: base level upshift [Ziegler10 9.8.3], docs/theory/regions.md 7 */
    double colour[4];        /* of COLOUR, in real values, one per channel */
    tsr_region_nan nan;
    int gradient;            /* != 0: DEVIATION, SPREAD and VARIANCE compare not the values of the one channel but its differences along the axes (to the next voxel,
                              * at the upper border from the one before): what merges is linear. Source: docs/theory/regions.md 2 */
} tsr_region_options;
#define TSR_REGION_OPTIONS TSR_SIZED(tsr_region_options)

typedef struct tsr_region_pyramid tsr_region_pyramid;

/* Storage for volumes of this size, extents up to 2^19 (quadtrees 2^28), on the context's device: about 1/8 byte per voxel (1/4 with singles, DEVIATION,
 * SPREAD or VARIANCE, and for these 1/8 byte per voxel and channel); with implicit_base 1/28 byte (quadtrees 1/12). RETURNS NEW. */
TSR_API tsr_status tsr_region_pyramid_create(tsr_context *context, tsr_size3 size, const tsr_region_options *options, tsr_region_pyramid **pyramid) TSR_CHECKED;
TSR_API void tsr_region_pyramid_destroy(tsr_region_pyramid **pyramid);
/* Builds from 1 to 4 channels (BORROWS; same device and size). Replaces what was there; allocates nothing, does not wait unless a rule of
 * states (DEVIATION, SPREAD, VARIANCE) meets values that may be beyond 2^24. Linear time. NaN is kept by no classifier and merges with nothing. States are float32:
 * TSR_ERROR_UNSUPPORTED if that changes a value beyond 2^24 by more than `threshold` (DEVIATION, VARIANCE: its root), or of 64-bit integers beyond 2^53. */
TSR_API tsr_status tsr_region_pyramid_build(tsr_region_pyramid *pyramid, const tsr_volume *const *channels, int32_t count) TSR_CHECKED;
/* The same from the box of the pyramid's size that begins at voxel `lower` of larger channels; voxels around it serve as neighbours. */
TSR_API tsr_status tsr_region_pyramid_build_part(tsr_region_pyramid *pyramid, const tsr_volume *const *channels, int32_t count,
                                                 const int64_t lower[3]) TSR_CHECKED;

typedef enum tsr_region_root { TSR_REGION_EMPTY = 0, TSR_REGION_LEAF, TSR_REGION_NODE } tsr_region_root;
typedef struct tsr_region_info {
    size_t struct_size;
    tsr_size3 size;
    int32_t dimensions;      /* 2 or 3 */
    int32_t top;             /* level of the root: the least with 2^top >= every extent */
    tsr_region_root root;
    int64_t leaves, nodes;
    int64_t device_bytes;
    int32_t nodes_only;      /* no list of leaves */
    int32_t cap;             /* levels that a table replaces: tsr_region_tree_cap */
} tsr_region_info;
#define TSR_REGION_INFO TSR_SIZED(tsr_region_info)
TSR_API tsr_status tsr_region_pyramid_describe(const tsr_region_pyramid *pyramid, tsr_region_info *info) TSR_CHECKED; /* waits */

typedef struct tsr_region_tree tsr_region_tree;

/* The lists of a built pyramid. Allocates, waits once for their lengths. TSR_ERROR_CAPACITY for 2^31 leaves or more. RETURNS NEW. */
TSR_API tsr_status tsr_region_tree_extract(const tsr_region_pyramid *pyramid, tsr_region_tree **tree) TSR_CHECKED;
/* The lists of a built pyramid into a tree of the same context that is there already: for volumes that change with time. Waits once for 16 bytes; memory is
 * taken only where the lists are longer than any before (a quarter more than needed), so that from frame to frame nothing is allocated. A cap
 * (tsr_region_tree_cap) is made anew. After TSR_ERROR_MEMORY the tree is empty. */
TSR_API tsr_status tsr_region_tree_renew(const tsr_region_pyramid *pyramid, tsr_region_tree *tree) TSR_CHECKED;
/* Replaces the steps through the top `levels` levels by a table of 8^levels (4^levels) entry points (0: no table; at most top - 1 and 2^27 entries), for
 * point queries and painting: they give the same with so many steps less. Large leaves have several entries. Source: docs/theory/regions.md 7. */
TSR_API tsr_status tsr_region_tree_cap(tsr_region_tree *tree, int32_t levels) TSR_CHECKED;
/* Pyramid and lists in one call. RETURNS NEW. */
TSR_API tsr_status tsr_region_tree_make(tsr_context *context, const tsr_volume *const *channels, int32_t count, const tsr_region_options *options,
                                        tsr_region_tree **tree) TSR_CHECKED;
/* The tree of leaves that are known already: `keys` (BORROWS, host memory, COPIED) as tsr_region_tree_leaves gives them, ascending, apart and within `size`; from
 * anywhere: top-down construction, other programs. NULL geometry: unit voxels. Host work, O(leaves levels). RETURNS NEW, on the context's device (NULL = host).
 * TSR_ERROR_ARGUMENT names a key that does not fit. */
TSR_API tsr_status tsr_region_tree_from_keys(tsr_context *context, const uint64_t *keys, int64_t count, tsr_size3 size, int32_t dimensions,
                                             const tsr_geometry *geometry, tsr_region_tree **tree) TSR_CHECKED;
/* The leaves of levels `least` to `most` alone (both inclusive): objects of a size and above, or the fine detail alone; what is left out is
 * empty. `values` (may be NULL) as tsr_region_tree_write takes them, host; those of the leaves that stay in *filtered_values (RETURNS NEW, host; NULL without
 * leaves). Host work, linear. RETURNS NEW, where `tree` lies. TSR_ERROR_STATE for a tree of nodes only. Source: docs/theory/regions.md 10. */
TSR_API tsr_status tsr_region_tree_filter(const tsr_region_tree *tree, int32_t least, int32_t most, const tsr_volume *values,
                                          tsr_region_tree **filtered, tsr_volume **filtered_values) TSR_CHECKED;
TSR_API void tsr_region_tree_destroy(tsr_region_tree **tree);
TSR_API const tsr_region_info *tsr_region_tree_describe(const tsr_region_tree *tree);
TSR_API tsr_status tsr_region_tree_copy(const tsr_region_tree *tree, tsr_context *context, tsr_region_tree **copy) TSR_CHECKED; /* NULL = host; RETURNS NEW */

TSR_API const tsr_geometry *tsr_region_tree_geometry(const tsr_region_tree *tree); /* of the volume; RETURNS VIEW */

/* (NULL with nodes_only.) Leaves, ascending: Morton code of the lower corner (bits x0 y0 z0 x1 ...; quadtrees x0 y0 x1 ...) << 6 | level. RETURNS VIEW, device memory. */
TSR_API const uint64_t *tsr_region_tree_leaves(const tsr_region_tree *tree);
/* Children of the nodes, [nodes][4 or 8], x the lowest bit of the child's number: 0 = nothing, r > 0 = node r, r < 0 = leaf ~r. Node 0 is the root. */
TSR_API const int32_t *tsr_region_tree_nodes(const tsr_region_tree *tree);

typedef struct tsr_region_leaf { int64_t x, y, z; int64_t side; } tsr_region_leaf;
TSR_API tsr_region_leaf tsr_region_leaf_of(uint64_t key, int32_t dimensions);

/* Where a point is. `leaf`: its number (with nodes_only 0), -1 = nothing is kept there, -2 = outside of the volume. The cube (side 2^level at lower, also of empty
 * space) is the largest that is one leaf or empty as a whole. */
typedef struct tsr_region_hit { int64_t leaf; int32_t level; int32_t lower[3]; } tsr_region_hit;
/* Places of `count` voxels (positions: x, y, z each, device memory) in the pointer tree, O(top) each. Does not wait. */
TSR_API tsr_status tsr_region_tree_find(const tsr_region_tree *tree, const int32_t *positions, int64_t count, tsr_region_hit *hits) TSR_CHECKED;
/* The same by binary search in the leaves alone (a linear tree), O(log leaves) each; level and lower of points in no leaf are the voxel. */
TSR_API tsr_status tsr_region_tree_search(const tsr_region_tree *tree, const int32_t *positions, int64_t count, tsr_region_hit *hits) TSR_CHECKED;

/* A ray origin + t direction in voxel units (voxel (x, y, z) covers [x, x+1) ...), and a leaf it passes for enter <= t < leave. */
typedef struct tsr_region_ray { double origin[3], direction[3], most; } tsr_region_ray; /* 0 <= t <= most */
typedef struct tsr_region_span { int64_t leaf; double enter, leave; } tsr_region_span;
/* The leaves along `count` rays in order, the first `room` of each: spans[ray * room + i], found[ray] = number of all (with `first_only` != 0 at most 1). A
 * direction of 0 or NaN finds nothing. Device memory; does not wait. Cost per ray: the nodes it meets. Source: docs/theory/regions.md 6. */
TSR_API tsr_status tsr_region_tree_rays(const tsr_region_tree *tree, const tsr_region_ray *rays, int64_t count, int32_t room, int first_only,
                                        tsr_region_span *spans, int32_t *found) TSR_CHECKED;

/* From the world to the voxel units of positions and rays: voxel (x, y, z) covers [x, x + 1), and its value lies in its middle, so this is
 * tsr_geometry_to_index plus a half along each axis. */
TSR_API tsr_status tsr_region_tree_from_world(const tsr_region_tree *tree, tsr_vec3 world, double position[3]) TSR_CHECKED;
/* The ray of origin + t direction in the world, 0 <= t <= most; the t of its spans are those of the world. */
TSR_API tsr_status tsr_region_ray_from_world(const tsr_region_tree *tree, tsr_vec3 origin, tsr_vec3 direction, double most, tsr_region_ray *ray) TSR_CHECKED;

/* What a volume ray caster may skip: the longest intervals of t within the volume in which nothing is kept, as `leaf` -1, in order; else as
 * tsr_region_tree_rays. */
TSR_API tsr_status tsr_region_tree_gaps(const tsr_region_tree *tree, const tsr_region_ray *rays, int64_t count, int32_t room, tsr_region_span *spans,
                                        int32_t *found) TSR_CHECKED;

/* means[leaf] = mean of the volume's real values over the leaf (float64 sums in a fixed order, float32 result); device memory. */
TSR_API tsr_status tsr_region_tree_means(const tsr_region_tree *tree, const tsr_volume *volume, float *means) TSR_CHECKED;
/* What the volume's real values are like over a leaf. The variance is the mean square of what differs from the mean (divided by the number of voxels). `least` and
 * `most` are of the values that are numbers, NaN if none is; one NaN makes mean and variance NaN, one infinity the variance. */
typedef struct tsr_region_statistics { double mean, variance, least, most; } tsr_region_statistics;
/* statistics[leaf], of a volume of the tree's size: it need not be what the tree was made of. Two looks at every voxel of the leaves, float64 in a fixed order.
 * Device memory; does not wait. Source: docs/theory/regions.md 4. */
TSR_API tsr_status tsr_region_tree_statistics(const tsr_region_tree *tree, const tsr_volume *volume, tsr_region_statistics *statistics) TSR_CHECKED;
/* Volume of the tree's size: `values[leaf]` (NULL: 1) in the leaves, `background` elsewhere, f32, or i32 and u8 (values rounded and saturated). RETURNS NEW. */
TSR_API tsr_status tsr_region_tree_paint(const tsr_region_tree *tree, tsr_dtype dtype, const float *values, float background, tsr_volume **volume) TSR_CHECKED;

/* ---- graded trees -------------------------------------------------------------------------------------------------------------------- */

/* Graded (2:1 balanced) quadtrees and octrees: leaves that touch differ by one level at most, which solvers, interpolation across
 * leaves and meshes of leaves want. */

/* Which leaves touch: by a face (quadtrees: an edge), by an edge too, or by a corner too (quadtrees: EDGES and CORNERS are the same). */
typedef enum tsr_region_touch { TSR_REGION_TOUCH_FACES = 0, TSR_REGION_TOUCH_EDGES, TSR_REGION_TOUCH_CORNERS } tsr_region_touch;

typedef struct tsr_region_grading {
    size_t struct_size;
    tsr_region_touch touch;
    tsr_progress progress;
} tsr_region_grading;
#define TSR_REGION_GRADING TSR_SIZED(tsr_region_grading)

/* The tree with the fewest leaves that covers what `tree` covers, into whose leaves all of `tree` can be split, and in which leaves that touch differ by at
 * most one level. There is one. Empty space stays empty and asks for nothing. `tree` (BORROWS) lies on the host or on a device, its lists travel to the host,
 * where the work is done, and *graded (RETURNS NEW) lies where `tree` does, without a cap; it waits for the queue. `values` (BORROWS, may be NULL): leaves x
 * channels x 1, float32, on the host, as tsr_region_tree_write takes them; a part of a leaf has its values, in *graded_values (RETURNS NEW, host; NULL if
 * `values` is). `grading` NULL: by faces. Exact class. Cost: leaves x neighbours x levels.
 * TSR_ERROR_ARGUMENT: values of another shape; TSR_ERROR_CAPACITY: 2^31 leaves or nodes and more; TSR_ERROR_CANCELLED; TSR_ERROR_MEMORY.
 * Source: docs/theory/regions.md 10; ripples from the finest leaves up: Sundar, Sampath and Biros, Bottom-up construction and 2:1
 * balance refinement of linear octrees in parallel, SIAM J. Sci. Comput. 30 (2008). */
TSR_API tsr_status tsr_region_tree_grade(const tsr_region_tree *tree, const tsr_region_grading *grading, const tsr_volume *values,
                                         tsr_region_tree **graded, tsr_volume **graded_values) TSR_CHECKED;

/* ---- connected parts ----------------------------------------------------------------------------------------------------------------- */

/* The connected parts of what a quadtree or octree holds, found among its leaves: far fewer than voxels. Two leaves touch
 * where they share a part of a face: each looks for the leaf beside it that is as large or larger, by a point query; smaller ones look themselves.
 * Exact class: the same on every backend. Source: docs/theory/regions.md 10 (leaf neighbours). */

/* neighbours[leaf][2 axis + side] (4 or 6 each): the leaf across the lower (0) or upper (1) face if it is as large or larger, else -1: smaller leaves,
 * nothing kept, or the end of the volume. Device memory; does not wait. O(top) each. */
TSR_API tsr_status tsr_region_tree_neighbours(const tsr_region_tree *tree, int32_t *neighbours) TSR_CHECKED;

typedef struct tsr_region_component {
    int64_t leaves, voxels;
    int64_t lower[3], upper[3]; /* box of voxels, half-open */
    double centre[3];           /* mean index of its voxels */
    double mean;                /* of `values` over its voxels; 0 without */
} tsr_region_component;

typedef struct tsr_region_components tsr_region_components;
/* Of a tree with leaves, on a context. Leaves that touch belong together, with `equal` != 0 only those of equal `values` (labels; NaN equals nothing).
 * `values`: host memory, one per leaf; NULL: none. Waits; linear time in the leaves beside the queries. RETURNS NEW, host memory. */
TSR_API tsr_status tsr_region_components_create(const tsr_region_tree *tree, const float *values, int equal,
                                                tsr_region_components **components) TSR_CHECKED;
TSR_API void tsr_region_components_destroy(tsr_region_components **components);
TSR_API int64_t tsr_region_components_count(const tsr_region_components *components);
/* The component of every leaf, [leaves], from 0. RETURNS VIEW. */
TSR_API const int32_t *tsr_region_components_labels(const tsr_region_components *components);
/* By number: those of most voxels first, of as many the one with the first leaf. RETURNS VIEW. */
TSR_API const tsr_region_component *tsr_region_components_list(const tsr_region_components *components);

/* ---- runs of voxels ------------------------------------------------------------------------------------------------------------------ */

/* A region tree as runs of voxels along x: run-length encoding of what a compaction found, or of the labels of a segmentation.
 * Host only. Class: exact. Source: [Ziegler10 9.11] names it; docs/theory/regions.md 10. */

typedef struct tsr_region_run {
    int64_t start;  /* memory index of its first voxel, (z ny + y) nx + x */
    int64_t length; /* voxels, all in one row */
    int64_t leaf;   /* of its first voxel */
} tsr_region_run;

/* The longest runs of voxels that lie in leaves, ascending by start; two that touch within a row are one unless `values` (one per leaf; NULL: none) differ
 * across the border. BORROWS a host tree with a list of leaves. Time and memory: rows of leaves. RETURNS NEW array, for tsr_region_runs_destroy. */
TSR_API tsr_status tsr_region_runs(const tsr_region_tree *tree, const float *values, tsr_region_run **runs, int64_t *count) TSR_CHECKED;
TSR_API void tsr_region_runs_destroy(tsr_region_run **runs);

/* ---- batches of work ----------------------------------------------------------------------------------------------------------------- */

/* The leaves of a region tree as batches of work: the most important first, until a budget is spent. Rendering on demand: a
 * map says how much each pixel matters (saliency), a tree of the pixels that matter at all (TSR_REGION_CLASSES of a range) turns them into few squares,
 * and the costly renderer runs once per square. Host only. Class: exact. Source: [Ziegler10 8.7.2], docs/theory/regions.md 10. */

typedef struct tsr_region_batch {
    int64_t leaf;   /* number in the tree's list */
    float saliency; /* of the leaf */
    int64_t work;   /* pixels (voxels) of this batch and all before it */
} tsr_region_batch;

/* batches[leaves]: by descending saliency, larger ones first among equals, then in the order of the tree. `saliency` has a number per leaf, as
 * tsr_region_tree_means gives them; BORROWS all; the tree must live on the host. TSR_ERROR_ARGUMENT for NaN. O(n log n). */
TSR_API tsr_status tsr_region_batches(const tsr_region_tree *tree, const float *saliency, tsr_region_batch *batches) TSR_CHECKED;
/* How many of the first batches cost at most `budget` pixels together. */
TSR_API int64_t tsr_region_batches_within(const tsr_region_batch *batches, int64_t count, int64_t budget);

/* ---- files --------------------------------------------------------------------------------------------------------------------------- */

/* Region trees in files, .rgt and .rgt.gz (docs/formats/rgt.md): 2 bits per child of a node, depth first, and values of the
 * leaves. Keys, references and sizes follow from these bits: the tree comes back bit for bit. Source: docs/theory/regions.md 11. */

/* BORROWS a host tree and `values`, a host f32 volume of leaves x channels x 1 (NULL: none; at most 64 channels). The file is written beside the
 * target and renamed; a path in .gz is packed. Linear time. */
TSR_API tsr_status tsr_region_tree_write(const tsr_region_tree *tree, const tsr_volume *values, const char *path, const tsr_write_options *options) TSR_CHECKED;
/* RETURNS NEW host tree and values (*values is NULL if the file has none; `values` NULL: left out). TSR_ERROR_FORMAT names the field or the node of a
 * damaged file; nothing larger than the file allows is allocated. */
TSR_API tsr_status tsr_region_tree_read(const char *path, const tsr_read_options *options, tsr_region_tree **tree, tsr_volume **values) TSR_CHECKED;
/* 1 if the file begins as a region tree does (a gzip wrapper taken off), whatever its name; 0 otherwise, also where it cannot be read. */
TSR_API int tsr_region_file_recognise(const char *path);

#ifdef __cplusplus
}
#endif
#endif
