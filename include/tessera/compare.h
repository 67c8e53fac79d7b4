/* tessera/compare.h: how far two masks, two volumes or two meshes differ. Everything here works in host memory. */
#ifndef TESSERA_COMPARE_H
#define TESSERA_COMPARE_H

#include "tessera/mesh.h"
#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_compare_options {
    size_t struct_size;
    int ignore_geometry;  /* compare by index; without it inputs of different geometry or space are an error that names the difference */
    int skip_distances;   /* masks: leave the surface distances 0 */
    double tolerance;     /* volumes: values that differ by at most this count as equal; 0 = any difference counts */
    tsr_progress progress; /* label maps, between labels */
} tsr_compare_options;
#define TSR_COMPARE_OPTIONS TSR_SIZED(tsr_compare_options)

/* Distances between two surfaces, both ways, in world units. */
typedef struct tsr_surface_distances {
    double mean;          /* over the points of both surfaces together */
    double percentile_95; /* the larger of the two ways; of n sorted values the one of rank ceil(0.95 n) */
    double maximum;       /* the Hausdorff distance of the two sets of points */
} tsr_surface_distances;

/* Inside = stored value other than 0 (and not NaN). Ratios with a denominator 0 are NaN; two empty masks have Dice and Jaccard 1. */
typedef struct tsr_mask_comparison {
    size_t struct_size;
    int64_t voxels;                     /* of the whole volume */
    int64_t inside, inside_reference, inside_both;
    double dice, jaccard;
    double sensitivity;                 /* inside both / inside reference */
    double specificity;                 /* outside both / outside reference */
    double total_correct;               /* share of voxels that agree */
    double volume, volume_reference;    /* world units cubed */
    double volume_error;                /* (volume - volume_reference) / volume_reference */
    int64_t surface_voxels, surface_voxels_reference; /* voxels inside with one of six neighbours outside (or beyond the volume) */
    tsr_surface_distances distances;    /* between the centres of the surface voxels; infinite if exactly one mask is empty */
} tsr_mask_comparison;
#define TSR_MASK_COMPARISON TSR_SIZED(tsr_mask_comparison)

/* BORROWS volumes of equal extents on the host or on the CPU context. `options` may be NULL. The distances are exact (tessera/distance.h);
 * they and all counts do not depend on the number of threads. Source: docs/theory/segmentation.md 8.
 * TSR_ERROR_ARGUMENT for different extents or geometries or a context that is not a CPU. */
TSR_API tsr_status tsr_compare_masks(tsr_context *context, const tsr_volume *mask, const tsr_volume *reference,
                                     const tsr_compare_options *options, tsr_mask_comparison *comparison) TSR_CHECKED;

/* One label of two label maps (tessera/labels.h), compared as a mask: the voxels of this label are inside. */
typedef struct tsr_label_comparison {
    int64_t value;
    tsr_mask_comparison mask; /* inside 0 or inside_reference 0: the label is missing in one of them */
} tsr_label_comparison;

/* All labels of either volume, ascending, in one pass and then, for the distances, one look at the box of each. Conditions and errors as
 * tsr_compare_masks; TSR_ERROR_ARGUMENT also for values that are not whole and for a label of u64 from 2^63 beside another type, TSR_ERROR_UNSUPPORTED for more than 65536 labels.
 * RETURNS NEW in *labels: tsr_label_comparisons_destroy. */
TSR_API tsr_status tsr_compare_labels(tsr_context *context, const tsr_volume *volume, const tsr_volume *reference, const tsr_compare_options *options,
                                      tsr_label_comparison **labels, int32_t *count) TSR_CHECKED;
TSR_API void tsr_label_comparisons_destroy(tsr_label_comparison **labels);

typedef struct tsr_volume_comparison {
    size_t struct_size;
    int64_t voxels;
    int64_t different;    /* differ by more than the tolerance, or exactly one is NaN */
    int64_t not_a_number; /* exactly one is NaN; such voxels are left out below */
    double maximum, rms;  /* of |a - b| */
    tsr_size3 worst;      /* first voxel where the maximum is reached */
} tsr_volume_comparison;
#define TSR_VOLUME_COMPARISON TSR_SIZED(tsr_volume_comparison)

/* The same for real values (slope and intercept applied), any element types. Sums in float64 in a fixed order. */
TSR_API tsr_status tsr_compare_volumes(tsr_context *context, const tsr_volume *volume, const tsr_volume *reference,
                                       const tsr_compare_options *options, tsr_volume_comparison *comparison) TSR_CHECKED;

/* Exact distances from every vertex of each mesh (vertices no triangle uses included) to the nearest point of the other's triangles, both
 * ways. BORROWS host meshes. TSR_ERROR_STATE if a mesh has no triangle, TSR_ERROR_FORMAT for an index out of range or a position that is
 * not finite, TSR_ERROR_ARGUMENT for different spaces. Time O(n log n). */
TSR_API tsr_status tsr_compare_meshes(const tsr_mesh *mesh, const tsr_mesh *reference, const tsr_compare_options *options,
                                      tsr_surface_distances *distances) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
