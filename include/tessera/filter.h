/* tessera/filter.h: operations on dense volumes: cutting and turning, resampling, smoothing, measuring, masks and connected components.
 *
 * Every function takes volumes of any element type on the context's device (host volumes with a CPU context too), works on real values
 * (stored * slope + intercept) unless it only moves voxels, and keeps geometry, scaling and metadata: world positions of the samples
 * stay true. Results are the same bits on every backend, SIMD variant and thread count (exact class). Results are new volumes on the
 * same device. The channels of an image (tsr_volume_channels) are neither smoothed into one another nor resampled by spacing. Non-finite
 * voxels: smoothing, the Laplacian and interpolating resampling refuse them (TSR_ERROR_ARGUMENT with the first index), since they would
 * spread; statistics, histogram and threshold count or skip them. */
#ifndef TESSERA_FILTER_H
#define TESSERA_FILTER_H

#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What lies beyond the faces, for samples a b c d:  replicate a a | a b c d | d d,  mirror c b | a b c d | c b (about the edge sample),
 * constant v v | a b c d | v v. */
typedef enum tsr_border { TSR_BORDER_REPLICATE = 0, TSR_BORDER_MIRROR, TSR_BORDER_CONSTANT } tsr_border;

/* ---- cutting and turning: voxels are moved, never changed ------------------------------------------------------------------------ */

/* The voxels with begin <= index < end, which must lie in the volume. RETURNS NEW. */
TSR_API tsr_status tsr_volume_crop(tsr_context *context, const tsr_volume *volume, tsr_size3 begin, tsr_size3 end, tsr_volume **cropped) TSR_CHECKED;

/* Adds `before` and `after` voxels (>= 0) at the lower and upper faces. `value` is a real value, used by TSR_BORDER_CONSTANT only, and must
 * be representable: it is rounded and saturated as tsr_volume_convert does. RETURNS NEW. */
TSR_API tsr_status tsr_volume_pad(tsr_context *context, const tsr_volume *volume, tsr_size3 before, tsr_size3 after, tsr_border border, double value,
                                  tsr_volume **padded) TSR_CHECKED;

/* Axis a of the result (0 = x, 1 = y, 2 = z) runs along axis axes[a] of the input, backwards where flip[a] != 0; `axes` is a permutation
 * of 0, 1, 2; `flip` may be NULL. The geometry follows: every voxel keeps its world position. RETURNS NEW. */
TSR_API tsr_status tsr_volume_permute(tsr_context *context, const tsr_volume *volume, const int32_t axes[3], const int32_t *flip,
                                      tsr_volume **permuted) TSR_CHECKED;

/* ---- resampling ------------------------------------------------------------------------------------------------------------------- */

typedef enum tsr_interpolation {
    TSR_INTERPOLATE_LINEAR = 0, /* trilinear */
    TSR_INTERPOLATE_NEAREST,    /* ties to the larger index */
    TSR_INTERPOLATE_CUBIC,      /* Catmull-Rom (Keys a = -1/2) */
    TSR_INTERPOLATE_LABEL       /* of labels: the one with the largest sum of linear weights, of equals the one of the lowest voxel; never a value that is
                                   not there, and smoother borders than nearest */
} tsr_interpolation;

typedef struct tsr_resample_options {
    size_t struct_size;
    const tsr_geometry *geometry;    /* BORROWS; target geometry (any affine, same world space); needs `size`. NULL: from spacing or size below */
    tsr_size3 size;                  /* target extents; zero: from spacing */
    tsr_vec3 spacing;                /* target spacing, world units; zero: from size. The outer faces (index -1/2 and n-1/2) stay in place as
                                        nearly as whole voxels allow, the centre always */
    tsr_interpolation interpolation;
    tsr_border border;               /* samples more than half a voxel outside: replicate (default) or constant; mirror is refused */
    double value;                    /* for TSR_BORDER_CONSTANT, a real value */
} tsr_resample_options;
#define TSR_RESAMPLE_OPTIONS TSR_SIZED(tsr_resample_options)

/* Samples the volume at the world positions of the target's voxels, in float64 arithmetic; element type and scaling stay, integers round to
 * even. No low-pass: smooth first when the target is much coarser. TSR_ERROR_ARGUMENT if no voxel of a target geometry lies within the volume, and for a
 * `value` that the element type does not hold (NaN and infinities: floats do). RETURNS NEW. */
TSR_API tsr_status tsr_volume_resample(tsr_context *context, const tsr_volume *volume, const tsr_resample_options *options,
                                       tsr_volume **resampled) TSR_CHECKED;

/* The directions towards which the index axes grow, each as the letter of the nearest (R or L, A or P, S or I; no two of one axis), zero-terminated.
 * TSR_SPACE_NONE is read as RAS. */
TSR_API void tsr_geometry_orientation(const tsr_geometry *geometry, char letters[4]);

/* What becomes of a grid whose index axes are not perpendicular, or not along the world's. */
typedef enum tsr_straightening {
    TSR_STRAIGHTEN_DESHEAR = 0, /* perpendicular axes: x stays, y and z lose what lies along the axes before; the slices of a tilted gantry stay where they are */
    TSR_STRAIGHTEN_ALIGN        /* axes along those of the world, x along the first; the spacing of each is that of the index axis nearest to it */
} tsr_straightening;

/* The grid to resample `geometry` (of `size` voxels) onto: its box holds every voxel centre, and no more voxels than that takes. Nothing is resampled here.
 * TSR_ERROR_ARGUMENT for a matrix or size that is none. */
TSR_API tsr_status tsr_geometry_straighten(const tsr_geometry *geometry, tsr_size3 size, tsr_straightening way, tsr_geometry *straight,
                                           tsr_size3 *straight_size) TSR_CHECKED;

/* Axes turned and permuted so that x, y and z run as nearly as possible along the directions that three letters name: R or L (towards right or left), A or P,
 * S or I, in any order. Voxels are moved, none is changed, each keeps its place in the world. TSR_ERROR_ARGUMENT for other letters, TSR_ERROR_UNSUPPORTED
 * for a volume without a world frame. RETURNS NEW. */
TSR_API tsr_status tsr_volume_reorient(tsr_context *context, const tsr_volume *volume, const char *letters, tsr_volume **turned) TSR_CHECKED;

/* ---- smoothing --------------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_smooth_options {
    size_t struct_size;
    double sigma;       /* standard deviation in world units, >= 0 ... */
    int in_voxels;      /* ... or in voxels along every axis if != 0 */
    double truncation;  /* the kernel ends at ceil(truncation * sigma) voxels; 0 = 4 */
} tsr_smooth_options;
#define TSR_SMOOTH_OPTIONS TSR_SIZED(tsr_smooth_options)

/* Separable Gaussian with sampled, normalised weights and replicated borders, axes x, y, z in turn, float32 arithmetic. The result is f32,
 * slope 1. Cost proportional to voxels times kernel length. A sigma in world units needs perpendicular index axes (else TSR_ERROR_UNSUPPORTED). RETURNS
 * NEW. */
TSR_API tsr_status tsr_volume_smooth(tsr_context *context, const tsr_volume *volume, const tsr_smooth_options *options,
                                     tsr_volume **smoothed) TSR_CHECKED;

/* Laplacian of the smoothed volume: 7-point second differences over the squared spacing (TSR_ERROR_UNSUPPORTED for index axes that are not perpendicular), replicated
 * borders; sigma 0 = of the volume itself. The edge speed term of segmentation is its negative (docs/theory/segmentation.md 2). f32. RETURNS NEW. */
TSR_API tsr_status tsr_volume_laplacian(tsr_context *context, const tsr_volume *volume, const tsr_smooth_options *options,
                                        tsr_volume **laplacian) TSR_CHECKED;

/* ---- measuring ---------------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_statistics {
    size_t struct_size;
    int64_t count;               /* finite voxels; the numbers below are theirs */
    double minimum, maximum;     /* NaN if count is 0, as mean */
    double mean;
    double variance;             /* unbiased: divided by count - 1; 0 for fewer than two */
    double sum;
    int64_t nan_count, infinite_count;
    int64_t first_nonfinite;     /* linear index of the first NaN or infinity, -1 if none */
} tsr_statistics;
#define TSR_STATISTICS TSR_SIZED(tsr_statistics)

/* One pass, float64, block sums combined in a fixed binary tree. */
TSR_API tsr_status tsr_volume_statistics(tsr_context *context, const tsr_volume *volume, tsr_statistics *statistics) TSR_CHECKED;

/* TSR_ERROR_ARGUMENT naming `name` and the first index that is NaN or infinite; TSR_OK for integers without a look at the data. */
TSR_API tsr_status tsr_volume_check_finite(tsr_context *context, const tsr_volume *volume, const char *name) TSR_CHECKED;

/* counts[i] for i < bins: finite voxels in [lower + i*w, lower + (i+1)*w), w = (upper - lower)/bins; value `upper` counts in the last bin.
 * counts[bins]: below, counts[bins + 1]: above, counts[bins + 2]: NaN. `counts` is host memory of bins + 3 numbers; 1 <= bins <= 2^24. */
TSR_API tsr_status tsr_volume_histogram(tsr_context *context, const tsr_volume *volume, double lower, double upper, int32_t bins,
                                        int64_t *counts) TSR_CHECKED;

/* ---- arithmetic --------------------------------------------------------------------------------------------------------------------- */

typedef enum tsr_combination { TSR_COMBINE_LINEAR = 0, TSR_COMBINE_MULTIPLY, TSR_COMBINE_MINIMUM, TSR_COMBINE_MAXIMUM } tsr_combination;

/* f32 volume of a*p + b*q + c (linear), (a*p)*(b*q) + c (multiply), min(a*p, b*q) + c or max(a*p, b*q) + c, computed in float64 from the
 * real values p, q. `second` may be NULL with LINEAR (b is ignored); else equal extents. Geometry and metadata of `first`. RETURNS NEW. */
TSR_API tsr_status tsr_volume_combine(tsr_context *context, tsr_combination combination, double a, const tsr_volume *first, double b,
                                      const tsr_volume *second, double c, tsr_volume **combined) TSR_CHECKED;

/* ---- masks and connected components --------------------------------------------------------------------------------------------------- */

/* u8 mask: 1 where lower <= value <= upper; integers of 64 bits without scaling are compared as integers. NaN gives 0. RETURNS NEW. */
TSR_API tsr_status tsr_volume_threshold(tsr_context *context, const tsr_volume *volume, double lower, double upper, tsr_volume **mask) TSR_CHECKED;

/* The same for the stored values of a volume of integers, compared to the last of their 64 bits (a double holds 53): labels. For u64 the bits of the
 * bounds are unsigned numbers. TSR_ERROR_ARGUMENT for real numbers. RETURNS NEW. */
TSR_API tsr_status tsr_volume_threshold_integers(tsr_context *context, const tsr_volume *volume, int64_t lower, int64_t upper,
                                                 tsr_volume **mask) TSR_CHECKED;

/* u32 labels of the connected components of the voxels of a mask (any element type) whose stored value is neither 0 nor NaN, 0 outside; connectivity 6 or 26. Components are numbered
 * 1, 2, ... in the order of their first voxel in memory. Linear time. At most 2^32 - 2 components (on a GPU: voxels). RETURNS NEW in *labels. */
TSR_API tsr_status tsr_volume_components(tsr_context *context, const tsr_volume *mask, int32_t connectivity, tsr_volume **labels,
                                         int64_t *count) TSR_CHECKED;

/* The component with most voxels (the first of equals) as a u8 mask; *voxels (may be NULL) its size. TSR_ERROR_STATE for an empty
 * mask. RETURNS NEW. */
TSR_API tsr_status tsr_volume_largest_component(tsr_context *context, const tsr_volume *mask, int32_t connectivity, tsr_volume **largest,
                                                int64_t *voxels) TSR_CHECKED;

/* Flood fill: u8 mask of the voxels in [lower, upper] connected to a seed (voxel indices) that is itself in the interval.
 * TSR_ERROR_ARGUMENT for a seed outside the volume; seeds outside the interval select nothing. RETURNS NEW. */
TSR_API tsr_status tsr_volume_connected_threshold(tsr_context *context, const tsr_volume *volume, double lower, double upper, const tsr_size3 *seeds,
                                                  int32_t seed_count, int32_t connectivity, tsr_volume **mask) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
