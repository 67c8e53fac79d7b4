/* tessera/wavelet.h: discrete wavelet transforms by lifting, integer to integer or in floating point.
 *
 * One level splits the samples of an axis into even and odd ones and runs the steps of a filter, each of which adds a weighted sum of one
 * parity to the other; the even samples become the approximation (low band, ceil(n/2)), the odd ones the detail (high band, floor(n/2)). The
 * axes follow one another, x first; the next level transforms the approximation. The inverse runs the same steps backwards with the sign
 * flipped, so that integer transforms come back bit for bit, whatever the rounding.
 *
 * Arrays have 1 to 4 axes with any strides, x first. Class exact: the same bits on every backend, SIMD variant and thread count.
 * Source: lifting of Daubechies and Sweldens; the filters are those of the Dirac / SMPTE VC-2 definition; docs/theory/wavelets.md. */
#ifndef TESSERA_WAVELET_H
#define TESSERA_WAVELET_H

#include "tessera/io.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TSR_WAVELET_AXES = 4, TSR_WAVELET_STEPS = 8, TSR_WAVELET_TAPS = 8, TSR_WAVELET_LEVELS = 62 };

typedef enum tsr_wavelet_filter {
    TSR_WAVELET_LEGALL53 = 0, /* Le Gall (5,3) with both steps rounded to nearest (Dirac index 1) */
    TSR_WAVELET_HAAR,         /* Dirac index 3 and 4 */
    TSR_WAVELET_DD97,         /* Deslauriers-Dubuc (9,7), Dirac index 0 */
    TSR_WAVELET_DD137,        /* Deslauriers-Dubuc (13,7), Dirac index 2 */
    TSR_WAVELET_DAUB97,       /* Daubechies (9,7): taps of 12 bits for integers (Dirac index 6), the irrational ones for floats */
    TSR_WAVELET_FIDELITY,     /* Dirac index 5 */
    TSR_WAVELET_JPEG53,       /* (5,3) of JPEG 2000: the first step rounds down */
    TSR_WAVELET_CUSTOM,       /* the steps of the options */
    /* Not linear, see tsr_wavelet_rule: */
    TSR_WAVELET_MINHAAR,    /* morphological Haar (Heijmans, Goutsias): difference of each pair; its minimum goes on */
    TSR_WAVELET_MAXLIFT,    /* max-lifting (Heijmans, Goutsias): difference from the greater neighbour; local maxima go on as they are */
    TSR_WAVELET_ADAPTIVE53, /* legall53, whose update is left out where its neighbours differ by more than `threshold`: edges stay sharp
                               (Piella, Heijmans). The decision sees details alone, which the way back has */
    TSR_WAVELET_FILTERS
} tsr_wavelet_filter;

/* What a step reads beyond the ends of the n samples of an axis. Every mode comes back exactly. */
typedef enum tsr_wavelet_boundary {
    TSR_WAVELET_CLAMP = 0, /* the nearest sample of the same parity (Dirac) */
    TSR_WAVELET_SYMMETRIC, /* mirrored about the end sample (JPEG 2000) */
    TSR_WAVELET_PERIODIC,  /* around; every transformed length must be even at every level */
    TSR_WAVELET_ZERO,
    TSR_WAVELET_BOUNDARIES
} tsr_wavelet_boundary;

/* Where the coefficients lie. Level 1 is the finest. */
typedef enum tsr_wavelet_layout {
    TSR_WAVELET_MALLAT = 0,  /* nested: the approximation first along every axis, details after it */
    TSR_WAVELET_INTERLEAVED, /* in the places of the samples: level l at every 2^l-th index along every axis. Works in place */
    TSR_WAVELET_SPLIT,       /* x as mallat, the other axes as interleaved: rows stay contiguous. Works in place */
    TSR_WAVELET_SUBBANDS,    /* one band after the other, each packed: approximation, then the bands of the coarsest level ... of level 1 */
    TSR_WAVELET_LAYOUTS
} tsr_wavelet_layout;

/* What a step makes of the weighted samples tap[k] * x[...]: any function will do, since the way back sees the same ones. */
typedef enum tsr_wavelet_rule {
    TSR_WAVELET_SUM = 0,
    TSR_WAVELET_MAXIMUM,  /* the greatest */
    TSR_WAVELET_MINIMUM,  /* the least */
    TSR_WAVELET_MAXIMUM0, /* the greatest of them and 0 */
    TSR_WAVELET_MINIMUM0, /* the least of them and 0 */
    TSR_WAVELET_ADAPTIVE, /* their sum where the samples themselves differ by no more than `threshold`, else 0 */
    TSR_WAVELET_RULES
} tsr_wavelet_rule;

/* One lifting step: for all i with i mod 2 = parity:  x[i] += sign * ((sum over k of tap[k] * x[first + 2k + i] + rounding) >> shift),
 * or what `rule` takes instead of the sum. Floating-point transforms add sign * sum of real[k] * x[...] instead; if all of `real` is 0, tap[k] / 2^shift. */
typedef struct tsr_wavelet_step {
    int32_t parity;          /* 0: even samples are updated, 1: odd ones; consecutive steps alternate */
    int32_t sign;            /* 1 or -1 */
    int32_t first;           /* offset of the first tap, odd, within +-15 */
    int32_t count;           /* 1 to TSR_WAVELET_TAPS taps, two samples apart */
    int32_t rounding, shift; /* shift 0 to 30 */
    int32_t tap[TSR_WAVELET_TAPS];
    double real[TSR_WAVELET_TAPS];
    tsr_wavelet_rule rule;
    double threshold; /* of TSR_WAVELET_ADAPTIVE, >= 0, in units of the samples (raised by the accuracy bits) */
} tsr_wavelet_step;

/* What tsr_volume_dwt does to extents first. */
typedef enum tsr_wavelet_pad {
    TSR_WAVELET_PAD_NONE = 0, /* nothing: any length is transformed as it is */
    TSR_WAVELET_PAD_DIRAC     /* axes of more than one sample become multiples of 2^levels, the last samples repeated */
} tsr_wavelet_pad;

typedef struct tsr_wavelet_options {
    size_t struct_size;
    tsr_wavelet_filter filter;
    int32_t levels; /* 1 to tsr_wavelet_levels_possible; 0 = 3, or as many as are possible if fewer */
    tsr_wavelet_boundary boundary;
    tsr_wavelet_layout layout;
    uint32_t axes;                     /* bit a: axis a is transformed; 0 = all, of an image (tsr_volume_channels) x and y */
    int32_t accuracy;                  /* integers are multiplied by 2^accuracy before each level: 1 to 4 bits; 0 = as Dirac defines for the filter
                                      (1; 0 for fidelity, jpeg53, custom), -1 = none. Floats: 0 or -1 */
    int normalise;                     /* floats: low bands times K per axis, high bands over K (orthonormal for haar) */
    int unchecked;                     /* i16: nobody looks for values that leave 16 bits. The caller vouches that none of any axis and level does,
                                          accuracy bits included, as in what a checked forward transform made. Checked transforms wait for the queue */
    int inplace;                       /* coefficients replace the samples: interleaved and split only; the strides are those of the samples */
    const int64_t *sample_stride;      /* BORROWS; in elements, one per axis; NULL = packed, x fastest */
    const int64_t *coefficient_stride; /* likewise; not with subbands, which are packed */
    int64_t batch;                     /* arrays in one call; 0 = 1 */
    int64_t sample_batch, coefficient_batch; /* elements from one array to the next; 0 = packed */
    const tsr_wavelet_step *steps;           /* BORROWS; of TSR_WAVELET_CUSTOM, in the order of the analysis */
    int32_t step_count;                      /* 1 to TSR_WAVELET_STEPS */
    double scale;                            /* K of custom steps; 0 = 1 */
    double threshold;                        /* of adaptive53, > 0, as in tsr_wavelet_step */
    tsr_wavelet_pad pad;                     /* of tsr_volume_dwt alone */
} tsr_wavelet_options;
#define TSR_WAVELET_OPTIONS TSR_SIZED(tsr_wavelet_options)

/* Names as the command line writes them ("legall53", "symmetric", "mallat"); NULL for an invalid value. */
TSR_API const char *tsr_wavelet_filter_name(tsr_wavelet_filter filter);
TSR_API const char *tsr_wavelet_boundary_name(tsr_wavelet_boundary boundary);
TSR_API const char *tsr_wavelet_layout_name(tsr_wavelet_layout layout);
/* TSR_ERROR_ARGUMENT, with the list of all, for a name that is none. */
TSR_API tsr_status tsr_wavelet_filter_parse(const char *name, tsr_wavelet_filter *filter) TSR_CHECKED;

/* Steps as text, for files and metadata: one per line or ';', each "PARITY SIGN FIRST ROUNDING SHIFT RULE TAP...", RULE one of sum, max, min, max0, min0,
 * adaptive:THRESHOLD; '#' begins a comment. Taps are whole numbers or, all of a step, real ones with a '.': those are for floats alone. legall53 is
 * "1 -1 -1 1 1 sum 1 1; 0 1 -1 2 2 sum 1 1". TSR_ERROR_ARGUMENT names the step and the word. */
TSR_API tsr_status tsr_wavelet_steps_parse(const char *text, tsr_wavelet_step steps[TSR_WAVELET_STEPS], int32_t *count) TSR_CHECKED;
/* The same back, ';' between steps; at most `bytes` are written, 0 at the end included. */
TSR_API void tsr_wavelet_steps_print(const tsr_wavelet_step *steps, int32_t count, char *text, size_t bytes);

/* The analysis steps of a filter that is not custom (adaptive53: without the threshold); their number is returned, K in *scale (may be NULL). */
TSR_API int32_t tsr_wavelet_filter_steps(tsr_wavelet_filter filter, tsr_wavelet_step steps[TSR_WAVELET_STEPS], double *scale);

/* Levels until every axis of `axes` (bits; 0 = all) has length 1. */
TSR_API int32_t tsr_wavelet_levels_possible(int32_t dimensions, const int64_t *size, uint32_t axes);

/* Signed bits B of i16 samples, |x| <= 2^(B-1), for which no coefficient of a transform of `levels` levels of `dimensions` axes leaves 16 bits,
 * from the L1 norms of the iterated filters; `accuracy` as in the options. 0: none is safe. docs/theory/wavelets.md 3. */
TSR_API int32_t tsr_wavelet_safe_bits(tsr_wavelet_filter filter, int32_t levels, int32_t dimensions, int32_t accuracy);

/* (The same holds for filters that are not linear, by a bound that is not sharp.)
 * L2 norm of what a unit coefficient of level l >= 1 becomes in the samples, for one axis (several axes: the product): the weight of an error
 * in it. high 0: approximation. Without accuracy bits and normalisation; of steps that take a maximum or minimum nothing is counted. docs/theory/wavelets.md 6. */
TSR_API double tsr_wavelet_norm(tsr_wavelet_filter filter, int32_t level, int high);

/* ---- plans -------------------------------------------------------------------------------------------------------------------------------- */

/* A plan fixes shape, type, filter and layout; it is immutable and may be used by several threads at once (each with its own workspace, and
 * queues of one context are not shared). */
typedef struct tsr_wavelet_plan tsr_wavelet_plan;

/* `dtype`: i16, i32, f32 or f64. `size`: 1 to TSR_WAVELET_AXES extents >= 1, x first. Integer sums are taken in 32 bits for i16 and 64 for i32;
 * i32 coefficients beyond 32 bits wrap. BORROWS the options. The context must outlive the plan.
 * Errors: TSR_ERROR_ARGUMENT naming the field. RETURNS NEW. */
TSR_API tsr_status tsr_wavelet_plan_create(tsr_context *context, tsr_dtype dtype, int32_t dimensions, const int64_t *size,
                                           const tsr_wavelet_options *options, tsr_wavelet_plan **plan) TSR_CHECKED;
TSR_API void tsr_wavelet_plan_destroy(tsr_wavelet_plan **plan);

typedef struct tsr_wavelet_info {
    size_t struct_size;
    int32_t levels, bands;                /* bands per array, approximation included */
    int64_t elements;                     /* of one array */
    int64_t workspace_bytes;              /* device memory a transform needs beside samples and coefficients */
    int64_t forward_bytes, inverse_bytes; /* that must move through memory: each level reads and writes its samples once; twice from three axes on where
                                           * x, y and z do not go together, and once for levels that go together: docs/guide/wavelets.md, Speed */
} tsr_wavelet_info;
#define TSR_WAVELET_INFO TSR_SIZED(tsr_wavelet_info)
TSR_API tsr_status tsr_wavelet_plan_describe(const tsr_wavelet_plan *plan, tsr_wavelet_info *info);

/* One line of text: "legall53 i16 1920 x 1080, 3 levels, clamp, mallat, ...". At most `bytes` are written, 0 at the end included. */
TSR_API void tsr_wavelet_plan_print(const tsr_wavelet_plan *plan, char *text, size_t bytes);

typedef struct tsr_wavelet_band {
    int32_t level;                            /* 1 = finest */
    uint32_t high;                            /* bit a: high along axis a; 0 = the approximation */
    uint32_t split;                           /* bit a: axis a was split at this level (an axis of length 1 is not) */
    int64_t size[TSR_WAVELET_AXES];           /* may hold 0: an empty band */
    int64_t offset, stride[TSR_WAVELET_AXES]; /* elements, in the array of coefficients */
    double weight;                            /* L2 norm of the samples that a unit coefficient makes, accuracy bits and normalisation included */
} tsr_wavelet_band;
/* Band 0 is the approximation, then the coarsest level's bands in the order of `high`, ... TSR_ERROR_ARGUMENT for no such index. */
TSR_API tsr_status tsr_wavelet_plan_band(const tsr_wavelet_plan *plan, int32_t index, tsr_wavelet_band *band) TSR_CHECKED;

/* Samples to coefficients. All memory belongs to the plan's device; `workspace` is workspace_bytes of it, or NULL: taken for the call. BORROWS
 * all, aligned as malloc aligns. The two arrays must not overlap; in place they must be the same. Asynchronous on a GPU where the values are not checked.
 * TSR_ERROR_ARGUMENT: NULL, one array where two are expected or the other way round, two without gaps that overlap.
 * TSR_ERROR_CAPACITY: a value left 16 bits; the coefficients are written, wrapped. */
TSR_API tsr_status tsr_wavelet_forward(const tsr_wavelet_plan *plan, const void *samples, void *coefficients, void *workspace) TSR_CHECKED;
/* Coefficients to samples. One rule for i16, in every layout, on every device: any coefficients give exactly the samples that the steps define
 * (sums of any size, the accuracy bits rounded away once a level) where all of these fit into 16 bits; else TSR_ERROR_CAPACITY, and what the
 * samples hold is not defined. Values on the way need not fit: the few plans where one does not are taken once more in 32 bits (three arrays of 32
 * bits meanwhile). A plan in place keeps a copy of its coefficients for that. With `unchecked` no error, and samples that are not defined where a
 * value on the way does not fit (on the CPU, not in place: only where a sample does not fit). Custom steps whose values could leave even 32 bits on
 * the way, by the sums of their taps, are refused where one leaves 16. */
TSR_API tsr_status tsr_wavelet_inverse(const tsr_wavelet_plan *plan, const void *coefficients, void *samples, void *workspace) TSR_CHECKED;

/* Copies coefficients from the layout of one plan to that of another of the same shape, type, levels, axes and batch: a permutation. */
TSR_API tsr_status tsr_wavelet_rearrange(const tsr_wavelet_plan *from_plan, const void *from, const tsr_wavelet_plan *to_plan, void *to) TSR_CHECKED;

/* ---- volumes -------------------------------------------------------------------------------------------------------------------------------- */

/* The coefficients of a volume, in a volume of the same size (with pad: of the padded one) and geometry that says in its metadata (keys
 * "wavelet...") how they were made, so that tsr_volume_idwt, here or after a file, finds all it needs. `options` may be NULL; no strides, no batch,
 * not in place, layouts mallat, interleaved and split. Integers are taken as stored (slope and intercept are kept beside them). `dtype`: i16, i32,
 * f32 or f64; TSR_DTYPE_COUNT = f32 and f64 as they are, integers i16 where their values are of few enough bits (tsr_wavelet_safe_bits), else i32.
 * Where i32 has no room for them there are no accuracy bits by default. Values that do not fit into `dtype` are TSR_ERROR_ARGUMENT, and so are
 * voxels that are not finite: they would spread. Where coefficients of i32 leave 32 bits they wrap, the way back is exact as ever, and the metadata
 * say "wavelet.wrapped". Waits for the queue. RETURNS NEW on the device. */
TSR_API tsr_status tsr_volume_dwt(tsr_context *context, const tsr_volume *volume, const tsr_wavelet_options *options, tsr_dtype dtype,
                                  tsr_volume **coefficients) TSR_CHECKED;
/* The volume back, in its own element type: integers bit for bit. TSR_ERROR_ARGUMENT where the metadata are missing or do not fit, or
 * coefficients are not finite. RETURNS NEW. */
TSR_API tsr_status tsr_volume_idwt(tsr_context *context, const tsr_volume *coefficients, tsr_volume **volume) TSR_CHECKED;

/* What lies in each band of a host volume of coefficients. */
typedef struct tsr_wavelet_statistics {
    tsr_wavelet_band band;
    int64_t count, zeros;    /* coefficients; those that are 0 */
    double minimum, maximum; /* NaN for an empty band, as mean */
    double mean, variance;   /* of the finite ones, as tsr_statistics */
    double energy;           /* sum of squares, weighted by what the coefficients become in the samples (band.weight): about the band's part of
                                           the samples' sum of squares, exactly so for orthonormal transforms */
} tsr_wavelet_statistics;
/* Fills `bands` (room for `most`, in the order of tsr_wavelet_plan_band), *count: how many there are. TSR_ERROR_ARGUMENT where the metadata are missing,
 * TSR_ERROR_CAPACITY where there are more than `most`. */
TSR_API tsr_status tsr_wavelet_volume_statistics(const tsr_volume *coefficients, tsr_wavelet_statistics *bands, int32_t most,
                                                 int32_t *count) TSR_CHECKED;

/* Picture of slice z (0 <= z < nz) of a host volume of coefficients, 1 channel: the approximation from its least to its largest value, details
 * around grey, each band by its own largest magnitude in the slice. Layout mallat. The caller calls tsr_image_destroy. */
TSR_API tsr_status tsr_wavelet_mosaic(const tsr_volume *coefficients, int64_t z, tsr_image *image) TSR_CHECKED;

/* ---- the coefficients that matter most ----------------------------------------------------------------------------------------------- */

/* The coefficients that matter most, the others 0: by their share, or by a threshold.
 *
 * A coefficient counts by what it becomes in the samples: its magnitude times the weight of its band (tsr_wavelet_band, the L2 norm of the synthesis), so
 * that bands of transforms that are not normalised can be compared. The weights are those of the interior: on axes shorter than the filter's reach at a
 * level they are larger than what the coefficient becomes there. Source: docs/theory/wavelets.md 6. */

/* One of `keep` and `cut`. */
typedef struct tsr_wavelet_keep_options {
    size_t struct_size;
    double keep; /* percent of all coefficients, above 0 to 100: the largest stay, approximation included */
    double cut;  /* above 0, in units of the stored samples: details of a smaller weighted magnitude become 0; the approximation stays */
    int soft;    /* with cut: the other details move towards 0 by cut / weight; integers are rounded, what is not finite stays */
    tsr_progress progress;
} tsr_wavelet_keep_options;
#define TSR_WAVELET_KEEP_OPTIONS TSR_SIZED(tsr_wavelet_keep_options)

typedef struct tsr_wavelet_keep_info {
    size_t struct_size;
    int64_t coefficients, kept; /* of the volume; with cut: those that are not 0 afterwards */
    int64_t nonzero;            /* that are not 0 afterwards */
    double least;               /* the least weighted magnitude among those kept; with cut: cut */
} tsr_wavelet_keep_info;
#define TSR_WAVELET_KEEP_INFO TSR_SIZED(tsr_wavelet_keep_info)

/* Sets coefficients to 0, in place. `coefficients`: a volume that tsr_volume_dwt made, of any layout and type, on the context's device (MODIFIES it).
 * With `keep` exactly max(1, floor(keep / 100 * coefficients + 1/2)) stay; of equal magnitudes those that come first in memory. What is not finite
 * counts as the largest. The threshold is found by selection digit by digit: 6 passes that read (and, where the last magnitude is not unique, up to 6
 * more), one that writes, whatever the values are; no memory but 16 kB. Class exact: the same coefficients on every device and number of threads.
 * `info` may be NULL. Waits for the queue. Errors: TSR_ERROR_ARGUMENT naming the field, or the metadata that are missing; TSR_ERROR_CANCELLED: the
 * coefficients are as they were. */
TSR_API tsr_status tsr_wavelet_volume_keep(tsr_context *context, tsr_volume *coefficients, const tsr_wavelet_keep_options *options,
                                           tsr_wavelet_keep_info *info) TSR_CHECKED;

/* ---- taking out noise ---------------------------------------------------------------------------------------------------------------- */

/* White noise taken out of volumes by shrinking wavelet coefficients: small ones are noise, large ones are structure.
 *
 * Sources: Donoho and Johnstone 1994 (universal threshold, noise from the median of the finest band), Chang, Yu and Vetterli 2000 (BayesShrink), Coifman
 * and Donoho 1995 (cycle spinning: the mean over shifts of the volume); docs/theory/compression.md 6. */

typedef enum tsr_denoise_rule {
    TSR_DENOISE_BAYES = 0, /* per band: sigma^2 / the standard deviation of what is not noise */
    TSR_DENOISE_UNIVERSAL, /* sigma sqrt(2 ln voxels), the same for all bands: smooth, removes more */
    TSR_DENOISE_RULES
} tsr_denoise_rule;

typedef struct tsr_denoise_options {
    size_t struct_size;
    tsr_denoise_rule rule;
    int hard;                  /* coefficients below the threshold become 0, others stay; default: all move towards 0 by the threshold */
    double sigma;              /* standard deviation of the noise, in real units; 0 = estimated */
    double strength;           /* thresholds are multiplied by it; 0 = 1 */
    int32_t levels;            /* of the transform; 0 = 4, or as many as are possible */
    int32_t shifts;            /* along each axis, 1 to 8: results of shifts^axes shifted transforms are averaged; 0 = 2 */
    tsr_wavelet_filter filter; /* 0 = daub97 (legall53, which is 0 elsewhere, is far from orthogonal), else haar ... fidelity */
    tsr_progress progress;
} tsr_denoise_options;
#define TSR_DENOISE_OPTIONS TSR_SIZED(tsr_denoise_options)

/* RETURNS NEW volume of the same type, geometry and metadata on the same device; integers are rounded and saturate. *sigma (may be NULL): the deviation
 * that was used, in real units. `options` may be NULL. On any device, with the context's threads on a CPU; on a GPU all passes stay there, and only the
 * sums of squares of the bands (by BayesShrink), the median and the range come back. Class exact: the same bits on every device and for every number of
 * threads. Precision: float32 about the middle of the range, so voxels move by rounding too, some 2^-22 of the width of the range (the largest value less
 * the least) at most, wherever it lies and whatever the type; the result is kept within the type. Where no threshold is above 0 (all voxels equal; noise
 * estimated below some 2^-22 of that width, which counts as none) it is a copy, bit for bit. Synchronous. Errors: TSR_ERROR_ARGUMENT naming the field, or
 * the first voxel that is not finite; TSR_ERROR_MEMORY. The channels of an image (tsr_volume_channels) are transformed each for itself, their noise is
 * estimated together. Time: shifts^axes transforms of the volume; memory of the device: 4 times its voxels in float32, the transform's workspace (a
 * quarter to the half of that for one) and the result. */
TSR_API tsr_status tsr_volume_denoise(tsr_context *context, const tsr_volume *volume, const tsr_denoise_options *options, tsr_volume **denoised,
                                      double *sigma) TSR_CHECKED;

/* ---- larger than memory, from file to file ------------------------------------------------------------------------------------------- */

/* Wavelet transforms of volumes that are larger than memory, from file to file, slab by slab along the outermost axis.
 *
 * A slab is loaded with the samples on both sides that the steps of the filter reach, transformed by the plan of one level, and only what is its own is
 * kept: the coefficients are those of tsr_volume_dwt, bit for bit, integers and floats alike. Approximations wait in nameless files beside the output,
 * and so do the coefficients until all are known; the disk needs twice the output, and an eighth. Class exact. Source: docs/theory/wavelets.md 8. */

typedef struct tsr_wavelet_file_info {
    size_t struct_size;
    int64_t parts;        /* slabs of the finest level */
    int64_t slices;       /* of a slab of the finest level, those of its neighbours not counted */
    int64_t memory_bytes; /* taken at most for samples, coefficients and workspace, on the host and on the device */
} tsr_wavelet_file_info;
#define TSR_WAVELET_FILE_INFO TSR_SIZED(tsr_wavelet_file_info)

/* The coefficients of the volume in file `input` as tsr_volume_dwt makes them, into file `output`, whose format must keep metadata
 * (tsr_file_keeps_metadata). `read`, `options`, `write` and `info` may be NULL. read->memory_limit (0 = half of the physical memory) bounds what is
 * taken for voxels, not what the system keeps of files. A plain file is read in place; voxels packed by gzip, zlib or .tsc are unpacked to
 * a nameless file first. Layouts mallat, interleaved and split; mallat is the fastest. Progress and cancelling by read->progress.
 * Errors: as tsr_volume_dwt; TSR_ERROR_MEMORY says what a limit too small for one slab and its neighbours would have to be; TSR_ERROR_UNSUPPORTED for
 * standard input and voxels as text, TSR_ERROR_IO for named pipes and devices, packed content or not. An i16 transform that is checked may find
 * (TSR_ERROR_CAPACITY), at values close to the end of the range, that a value at the seam of two slabs leaves it, where that of the whole just does
 * not; types chosen by default stay clear of it. On the way back
 * i16 approximations of every level, not only the samples, must fit into 16 bits. */
TSR_API tsr_status tsr_file_dwt(tsr_context *context, const char *input, const tsr_read_options *read, const tsr_wavelet_options *options,
                                tsr_dtype dtype, const char *output, const tsr_write_options *write, tsr_wavelet_file_info *info) TSR_CHECKED;

/* The volume back, as tsr_volume_idwt; any format that can hold it. */
TSR_API tsr_status tsr_file_idwt(tsr_context *context, const char *input, const tsr_read_options *read, const char *output,
                                 const tsr_write_options *write, tsr_wavelet_file_info *info) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
