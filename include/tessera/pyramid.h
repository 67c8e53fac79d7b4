/* tessera/pyramid.h: HistoPyramid: data compaction and expansion by a pyramid of sums; lists of voxels, clouds of points and sparse matrices.
 *
 * Every voxel of a volume has a multiplicity c >= 0 (how many outputs it makes: 0 or 1 for a list of voxels, more for expansion). The
 * pyramid holds the sums of bricks of 64 voxels, of `fanout` bricks, and so on up to the total M. Output k in [0, M) is found by a
 * descent (select) without writing anything in between, or the whole list is expanded tile by tile (extract): the same list. Absent
 * children of odd sizes count as 0. Sums are 8, 16, 32 or 64 bits wide by level; the voxels are one bit each where c is 0 or 1.
 *
 * Order of the outputs: Morton (Z-)order of the voxels, x the lowest bit, an axis taking part as long as its halved extent is above 1; the
 * same with reversed axes (front to back along a direction); or memory order (x fastest). Copies of a voxel come in sequence, volumes of
 * a batch one after another, classes too. It does not depend on fanout (but for fanouts of 3, 9 and 27, whose Morton order takes places in
 * thirds: bricks of 3 x 3 (x 3), whose digits interleave as bits do), base, backend or number of threads. Exact class.
 * Source: HistoPyramid [Ziegler06], [Ziegler10 6]; docs/theory/histopyramid.md. */
#ifndef TESSERA_PYRAMID_H
#define TESSERA_PYRAMID_H

#include "tessera/map.h"
#include "tessera/planes_source.h"
#include "tessera/points.h"
#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_pyramid tsr_pyramid;

/* Multiplicity of a voxel of real value v (any element type). NaN gives 0 and is counted. */
typedef enum tsr_pyramid_classifier {
    TSR_PYRAMID_COUNTS =
        0,             /* the stored value of an integer volume itself, 0 to `most`: for rules of your own. What is none of these makes no output, and
                             * tsr_pyramid_describe says how many there are and where the first is */
    TSR_PYRAMID_RANGE, /* 1 where lower <= v < upper */
    TSR_PYRAMID_NONZERO,   /* 1 where v is not 0 */
    TSR_PYRAMID_LABEL,     /* 1 where v == lower */
    TSR_PYRAMID_MAGNITUDE, /* 1 where |v| > lower */
    TSR_PYRAMID_SURFACE,   /* 1 where the corners of the cell from (x, y, z) to (x+1, y+1, z+1) are not all on one side of v < lower: cells of an
                             * isosurface. Cells need all their corners; axes of extent 1 have none */
    TSR_PYRAMID_BOUNDARY,  /* 1 where lower <= v < upper and a neighbour along an axis is not so; beyond the volume is not (axes of extent 1 apart) */
    TSR_PYRAMID_CROSSINGS, /* 0 to 3: edges towards +x, +y and +z with v < lower at one end only: vertices of an indexed isosurface */
    TSR_PYRAMID_USER       /* a rule in your own C: tsr_pyramid_options.user. NaN is its business, and is not counted */
} tsr_pyramid_classifier;

typedef enum tsr_pyramid_order { TSR_PYRAMID_MORTON = 0, TSR_PYRAMID_ROW, TSR_PYRAMID_VIEW } tsr_pyramid_order;

/* One of several classes: a classifier with its numbers. */
enum { TSR_PYRAMID_CHANNELS = 16, TSR_PYRAMID_MOST = 1 << 20 };
typedef struct tsr_pyramid_class {
    tsr_pyramid_classifier classifier;
    double lower, upper;
} tsr_pyramid_class;

typedef struct tsr_pyramid_options {
    size_t struct_size;
    tsr_pyramid_classifier classifier;
    double lower, upper; /* of the classifier; lower < upper where both are used; may be infinite */
    tsr_pyramid_order order;
    int32_t reverse;   /* VIEW: bits 1, 2 and 4 reverse x, y and z */
    int32_t fanout;    /* children of a sum above the bricks: 2, 4, 8, 16, 32 or 64, or in thirds 3, 9 or 27; 0 = 64 */
    int64_t batch;     /* volumes of equal size stacked along z, each with a pyramid of its own in a common list; 0 = 1 */
    int implicit_base; /* != 0: voxels are not stored but classified again by queries; the volume must outlive them unchanged */
    /* Several classes of the same volume, each with a pyramid of its own in a common list, class after class, all made in one sweep over the
     * voxels: as if the volume were stacked once for each class, so that voxel numbers of class c are c * voxels + voxel. */
    int32_t channels;                 /* 0 or 1: the one class above; up to TSR_PYRAMID_CHANNELS */
    const tsr_pyramid_class *classes; /* [channels]; COPIED. classifier, lower and upper above are not used then */
    /* USER: a module with a TSR_CLASSIFIER for the context's kind of device (tsr_map_load); the map is COPIED, its data KEPT: read at each build. It runs as
     * a pass of its own that writes a byte a voxel, which the pyramid keeps room for. Of one class alone; at[2] counts through all volumes of a batch. */
    const tsr_map *user;
    int32_t
        most; /* COUNTS: the largest multiplicity, which sets the width of the sums; up to TSR_PYRAMID_MOST, above 255 with implicit_base alone (the
                   * volume is the base); 0 = 255 */
} tsr_pyramid_options;
#define TSR_PYRAMID_OPTIONS TSR_SIZED(tsr_pyramid_options)

/* One output: which voxel (memory index (z ny + y) nx + x, of class c of several + c * voxels; -1 = the key was not below the total), and which of
 * its copies. */
typedef struct tsr_pyramid_entry {
    int64_t voxel;
    int64_t copy; /* 0 <= copy < multiplicity */
} tsr_pyramid_entry;

/* Storage for volumes of this size (of the whole stack, if batch > 1) on the context's device. RETURNS NEW; nothing is selected before the
 * first build. Device memory: 1/8 byte per voxel for multiplicities up to 1, else 1 byte, else (implicit_base) none, and 1/64 sum. */
TSR_API tsr_status tsr_pyramid_create(tsr_context *context, tsr_size3 size, const tsr_pyramid_options *options, tsr_pyramid **pyramid) TSR_CHECKED;
TSR_API void tsr_pyramid_destroy(tsr_pyramid **pyramid);

/* Classifies the volume (BORROWS, with implicit_base KEEPS; same device and size) and sums. Replaces what was there; allocates nothing,
 * does not wait. Linear time. */
TSR_API tsr_status tsr_pyramid_build(tsr_pyramid *pyramid, const tsr_volume *volume) TSR_CHECKED;

typedef struct tsr_pyramid_info {
    size_t struct_size;
    uint64_t total;       /* M */
    int64_t not_a_number; /* values that the (first) classifier cannot use: NaN; of COUNTS those that are no multiplicity */
    int32_t levels;       /* of sums: the bricks and above */
    int64_t device_bytes;
    int64_t refused; /* COUNTS: the first voxel in memory whose value is below 0 or above `most`; -1: none */
} tsr_pyramid_info;
#define TSR_PYRAMID_INFO TSR_SIZED(tsr_pyramid_info)
/* Waits for the queue. All zero before the first build, but for levels and bytes. */
TSR_API tsr_status tsr_pyramid_describe(const tsr_pyramid *pyramid, tsr_pyramid_info *info) TSR_CHECKED;

/* All arrays below are memory of the pyramid's device; the calls do not wait.
 * entries[i] = output keys[i], by descent. O(levels) per key. */
TSR_API tsr_status tsr_pyramid_select(const tsr_pyramid *pyramid, const uint64_t *keys, int64_t count, tsr_pyramid_entry *entries) TSR_CHECKED;
/* entries[i] = output first + i: the list itself, all of it or a part, by expansion of the tiles that hold it; voxel -1 from the total on. */
TSR_API tsr_status tsr_pyramid_extract(const tsr_pyramid *pyramid, uint64_t first, int64_t count, tsr_pyramid_entry *entries) TSR_CHECKED;
/* The same, the voxels alone as u32 (at most 2^32 voxels, all classes together) or u64. From the total on nothing is written. */
TSR_API tsr_status tsr_pyramid_indices(const tsr_pyramid *pyramid, uint64_t first, int64_t count, tsr_dtype index_type, void *indices) TSR_CHECKED;
/* keys[i] = number of outputs before the first copy of voxels[i] in the order of the pyramid (its own, if it has any): the inverse of
 * select. A voxel index outside the volume gives the total. */
TSR_API tsr_status tsr_pyramid_rank(const tsr_pyramid *pyramid, const int64_t *voxels, int64_t count, uint64_t *keys) TSR_CHECKED;
/* keys[b] = first output of volume b of the batch, b = 0 .. batch; keys[batch] = total. Of several classes: keys[c * batch + b], up to
 * keys[channels * batch] = total. */
TSR_API tsr_status tsr_pyramid_firsts(const tsr_pyramid *pyramid, uint64_t *keys) TSR_CHECKED;

/* Dense cloud of points of a volume: one at each voxel that the classifier keeps (its world position, float32), CROSSINGS: one at each
 * crossed edge, where linear interpolation reaches `lower`. In the order of `pyramid` (batch must be 1). `normals` != 0 adds unit normals along
 * the gradient (central differences, one-sided at the border; 0 where it vanishes) in world axes. RETURNS NEW on the context's device.
 * TSR_ERROR_CAPACITY above 2^31 - 1 points. */
typedef struct tsr_points_volume_options {
    size_t struct_size;
    const tsr_pyramid_options *pyramid; /* BORROWS; must be given: the classifier that keeps voxels or edges */
    int normals;
    int inward;            /* != 0: normals against the gradient: of volumes whose values grow towards the inside */
    int64_t *not_a_number; /* takes how many values are NaN and make no point (tsr_pyramid_info; 0 for USER); NULL: not asked. BORROWS */
    tsr_progress progress; /* of tsr_points_from_source */
} tsr_points_volume_options;
#define TSR_POINTS_VOLUME_OPTIONS TSR_SIZED(tsr_points_volume_options)
TSR_API tsr_status tsr_points_from_volume(tsr_context *context, const tsr_volume *volume, const tsr_points_volume_options *options,
                                          tsr_points **points) TSR_CHECKED;
/* A cloud for each of the classes of options->pyramid (1 to TSR_PYRAMID_CHANNELS, none of COUNTS) in one sweep over the volume. Fills points[classes],
 * RETURNS NEW; after an error all are NULL. */
TSR_API tsr_status tsr_points_from_classes(tsr_context *context, const tsr_volume *volume, const tsr_points_volume_options *options,
                                           tsr_points **points) TSR_CHECKED;

/* The clouds of tsr_points_from_classes by slabs of `planes` planes (0: as many as fill 64 MiB, at least 8), and three more for neighbours: no more
 * samples than that are in memory, of the host and of the device. Points and normals are those of the whole volume in memory order, bit for bit.
 * BORROWS the source for the call. TSR_ERROR_UNSUPPORTED: an order that is not ROW (no other is that of slabs one after another), USER (its rule sees
 * the whole volume). Fills points[classes], RETURNS NEW points on the host; after an error all are NULL. */
TSR_API tsr_status tsr_points_from_source(tsr_context *context, const tsr_planes_source *source, const tsr_points_volume_options *options,
                                          int64_t planes, tsr_points **points) TSR_CHECKED;

/* Sparse matrix in compressed rows: row r holds entries starts[r] <= k < starts[r + 1] at columns[k], ascending. Device memory. */
typedef struct tsr_matrix {
    tsr_context *context;
    int64_t rows, columns_count, nonzeros;
    tsr_dtype dtype;   /* of the values: that of the dense matrix */
    uint64_t *starts;  /* [rows + 1] */
    uint32_t *columns; /* [nonzeros] */
    void *values;      /* [nonzeros] */
} tsr_matrix;
/* The entries of a dense matrix (a volume of columns x rows x 1, stored values taken as they are) with |value| > tolerance, which is 0 or more; NaN
 * is kept out. Class exact; allocates the result, waits once for its length. RETURNS NEW (destroy it also after failure: it is empty then). */
TSR_API tsr_status tsr_matrix_from_dense(tsr_context *context, const tsr_volume *dense, double tolerance, tsr_matrix *matrix) TSR_CHECKED;
TSR_API void tsr_matrix_destroy(tsr_matrix *matrix);
/* y = A x: `x` of columns_count and `y` of `rows` elements, F32 or F64, memory of the matrix's device that does not overlap (BORROWS; queued, allocates
 * nothing). Products and sums are float64: entry k of a row is added to sum k mod 32, and the 32 are folded by halves, so that the bits are the same on every
 * backend. Class exact. */
TSR_API tsr_status tsr_matrix_multiply(const tsr_matrix *matrix, tsr_dtype dtype, const void *x, void *y) TSR_CHECKED;

/* ---- pyramids of reductions ---------------------------------------------------------------------------------------------------------- */

/* Pyramids of reductions: sums, minima, maxima and averages (mip-maps) of a volume, all levels, on the device.
 *
 * Cell (x, y, z) of level l + 1 is made of the cells 2 x .. 2 x + 1, 2 y .. 2 y + 1, 2 z .. 2 z + 1 of level l, of those there are: so it covers 2^l voxels along each axis,
 * fewer at the upper ends of odd extents, and nothing is padded. Levels go on until one cell is left. Elements combine in one order, pairs along x, then y, then
 * z, so that sums of floats have the same bits on every backend and with any number of threads: class exact. Work: an N^3 volume is read once, all levels
 * above together are 1/7 of it (1/3 in two dimensions, as much again in one).
 * Source: data pyramid reduction, docs/theory/foundations.md 3. */

typedef struct tsr_levels tsr_levels;

typedef enum tsr_level_rule {
    TSR_LEVEL_AVERAGE = 0, /* f64: exact sums over how many voxels there are, both kept; NaN where there are none */
    TSR_LEVEL_SUM,         /* u64 or i64 (which wrap) of integers, f64 of floats; 0 where there are none */
    TSR_LEVEL_MIN,         /* the volume's own type; NaN is left out. Where there is nothing: the largest value of the type, infinity of floats */
    TSR_LEVEL_MAX          /* likewise, the smallest */
} tsr_level_rule;

/* Room for the levels of volumes of this size and type on the context's device, 1 to tsr_levels_count. RETURNS NEW. Device memory: about 8/7 byte a voxel for sums
 * of a volume of three dimensions, 24/7 for averages, 1/7 of the volume for MIN and MAX. TSR_ERROR_ARGUMENT for an unknown rule or type, sizes below 1. */
TSR_API tsr_status tsr_levels_create(tsr_context *context, tsr_size3 size, tsr_dtype dtype, tsr_level_rule rule, tsr_levels **levels) TSR_CHECKED;
TSR_API void tsr_levels_destroy(tsr_levels **levels);

/* Queues the levels of the volume's stored values; allocates nothing and does not wait. `mask` (u8, of the same size; NULL: none) is 0 at voxels that count for nothing. Both
 * are BORROWED and live on the context's device (keep them until tsr_context_synchronize). TSR_ERROR_ARGUMENT for another size or type. */
TSR_API tsr_status tsr_levels_build(tsr_levels *levels, const tsr_volume *volume, const tsr_volume *mask) TSR_CHECKED;

TSR_API int32_t tsr_levels_count(const tsr_levels *levels); /* the last is one cell; 0 for a single voxel, which is its own pyramid */
/* Level 1 to count (2^level voxels a cell), device memory, with the geometry of its cells' centres; levels but of SUM have the scaling of the volume that was built last.
 * RETURNS VIEW, overwritten by the next build; NULL outside. */
TSR_API const tsr_volume *tsr_levels_volume(const tsr_levels *levels, int32_t level);
/* How many voxels each cell of an AVERAGE has (u64). RETURNS VIEW; NULL for other rules. */
TSR_API const tsr_volume *tsr_levels_voxels(const tsr_levels *levels, int32_t level);

#ifdef __cplusplus
}
#endif
#endif
