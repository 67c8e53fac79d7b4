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
#define TSR_WAVELET_OPTIONS                        \
    {                                              \
        .struct_size = sizeof(tsr_wavelet_options) \
    }

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
    int32_t levels, bands;                /* bands per array, approximation included */
    int64_t elements;                     /* of one array */
    int64_t workspace_bytes;              /* device memory a transform needs beside samples and coefficients */
    int64_t forward_bytes, inverse_bytes; /* that must move through memory: each level reads and writes its samples once; twice from three axes on where
                                           * x, y and z do not go together, and once for levels that go together: docs/guide/wavelets.md, Speed */
} tsr_wavelet_info;
TSR_API void tsr_wavelet_plan_describe(const tsr_wavelet_plan *plan, tsr_wavelet_info *info);

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

#ifdef __cplusplus
}
#endif
#endif
