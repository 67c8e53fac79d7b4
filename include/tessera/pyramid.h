/* tessera/pyramid.h: HistoPyramid: data compaction and expansion by a pyramid of sums.
 *
 * Every voxel of a volume has a multiplicity c >= 0 (how many outputs it makes: 0 or 1 for a list of voxels, more for expansion). The
 * pyramid holds the sums of 2 x 2 x 2 (2D: 2 x 2, 1D: 2; only axes longer than 1 are halved) or, in row order, of 8 consecutive
 * elements, level by level up to the total M. Output k in [0, M) is found by a descent, without writing anything in between: all
 * outputs are independent. Absent children of odd sizes count as 0 and are not stored. Sums are 8, 16, 32 or 64 bits wide by level.
 *
 * Order of the outputs: Morton (Z-)order of the voxels, x the lowest bit, or memory order (x fastest); copies of a voxel in sequence.
 * Exact class. Source: HistoPyramid (Ziegler et al. 2006), spec histopyramid.md 2.1-2.6. */
#ifndef TESSERA_PYRAMID_H
#define TESSERA_PYRAMID_H

#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_pyramid tsr_pyramid;

typedef enum tsr_pyramid_classifier {
    TSR_PYRAMID_COUNTS = 0, /* the value of a u8 volume is the multiplicity (0 to 255) */
    TSR_PYRAMID_RANGE       /* 1 where lower <= value < upper (real values, any element type), else 0; NaN gives 0 and is counted */
} tsr_pyramid_classifier;

typedef enum tsr_pyramid_order { TSR_PYRAMID_MORTON = 0, TSR_PYRAMID_ROW } tsr_pyramid_order;

typedef struct tsr_pyramid_options {
    size_t struct_size;
    tsr_pyramid_classifier classifier;
    double lower, upper;       /* of RANGE, lower < upper; may be infinite */
    tsr_pyramid_order order;
} tsr_pyramid_options;
#define TSR_PYRAMID_OPTIONS { .struct_size = sizeof(tsr_pyramid_options) }

/* One output: which voxel (memory index (z ny + y) nx + x; -1 = the key was not below the total) and which of its copies. */
typedef struct tsr_pyramid_entry {
    int64_t voxel;
    int64_t copy;              /* 0 <= copy < multiplicity */
} tsr_pyramid_entry;

/* Storage for volumes of this size on the context's device. RETURNS NEW; nothing is selected before the first build. */
TSR_API tsr_status tsr_pyramid_create(tsr_context *context, tsr_size3 size, const tsr_pyramid_options *options, tsr_pyramid **pyramid) TSR_CHECKED;
TSR_API void tsr_pyramid_destroy(tsr_pyramid **pyramid);

/* Classifies the volume (BORROWS; same device and size) and sums. Replaces what was there; allocates nothing, does not wait. Linear time. */
TSR_API tsr_status tsr_pyramid_build(tsr_pyramid *pyramid, const tsr_volume *volume) TSR_CHECKED;

typedef struct tsr_pyramid_info {
    uint64_t total;            /* M */
    int64_t not_a_number;      /* NaN values met by RANGE */
    int32_t levels;            /* base included */
    int64_t device_bytes;
} tsr_pyramid_info;
/* Waits for the queue. All zero before the first build, but for levels and bytes. */
TSR_API tsr_status tsr_pyramid_describe(const tsr_pyramid *pyramid, tsr_pyramid_info *info) TSR_CHECKED;

/* All arrays below are memory of the pyramid's device; the calls do not wait.
 * entries[i] = output keys[i]. O(levels) per key. */
TSR_API tsr_status tsr_pyramid_select(const tsr_pyramid *pyramid, const uint64_t *keys, int64_t count, tsr_pyramid_entry *entries) TSR_CHECKED;
/* entries[i] = output first + i: the list itself, all of it or a part. */
TSR_API tsr_status tsr_pyramid_extract(const tsr_pyramid *pyramid, uint64_t first, int64_t count, tsr_pyramid_entry *entries) TSR_CHECKED;
/* keys[i] = number of outputs before the first copy of voxels[i] in the order of the pyramid (its own, if it has any): the inverse of
 * select. A voxel index outside the volume gives the total. */
TSR_API tsr_status tsr_pyramid_rank(const tsr_pyramid *pyramid, const int64_t *voxels, int64_t count, uint64_t *keys) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
