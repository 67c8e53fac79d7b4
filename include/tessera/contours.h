/* tessera/contours.h: contours of vector fields: the stream lines that are to a field what a silhouette is to a surface, chosen anew for every view.
 *
 * A view direction r is perpendicular to the tangent of a stream line where S = r . v = 0, and to first order it stays so where T = r . w = 0,
 * w = J v. Seeds are where both hold: the intersection curves of the two surfaces S = 0 and T = 0, found on every face between four neighbouring samples,
 * at most two a face; there the osculating plane of the stream line faces the viewer. Stream lines through the seeds are the contours.
 *
 * S and T at the samples are float32; on a face they are bilinear, and the two equations are solved in float64. A face belongs to one sample, its lower corner;
 * faces are half-open, so that no seed is found twice. Order of the seeds: by that sample in memory order, then the face normal to z, y, x, then the first
 * coordinate on the face. Selection by a HistoPyramid (tessera/pyramid.h). Class: exact. Source: docs/theory/flow.md. */
#ifndef TESSERA_CONTOURS_H
#define TESSERA_CONTOURS_H

#include "tessera/streamlines.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_contours tsr_contours;

typedef struct tsr_contour_options {
    size_t struct_size;
    double coincidence; /* of a face: S = 0 and T = 0 are the same curve there if the coefficients of the eliminated equation, and T on S = 0, are below this
                         * share of max|S| max|T|; then the middle of the curve becomes a seed, marked coincident. 0 = 1e-5; negative: never */
    double merge;       /* seeds of different faces closer than this, in cells, are one: the first. 0 = 1e-5; negative: never */
    double thinning;    /* least distance between seeds in cells: later ones are left out (on the host). 0: none */
    int second_order;   /* perspective: T = (x - eye) . w + |v|^2, contact to second order, instead of r . w */
} tsr_contour_options;
#define TSR_CONTOUR_OPTIONS TSR_SIZED(tsr_contour_options)

/* KEEPS the field (and its device). RETURNS NEW. One byte and 1/16 a sample. */
TSR_API tsr_status tsr_contours_create(const tsr_vector_field *field, const tsr_contour_options *options, tsr_contours **contours) TSR_CHECKED;
TSR_API void tsr_contours_destroy(tsr_contours **contours);
/* Another field of the same size (the next step of a series), from the next update on. KEEPS. */
TSR_API tsr_status tsr_contours_set_field(tsr_contours *contours, const tsr_vector_field *field) TSR_CHECKED;

typedef struct tsr_contour_view {
    int perspective;    /* 0: parallel rays along `direction`; else rays from `eye` */
    tsr_vec3 direction; /* world, any length but 0 */
    tsr_vec3 eye;       /* world */
} tsr_contour_view;

typedef struct tsr_contour_info {
    size_t struct_size;
    int64_t seeds;      /* all of them */
    int64_t coincident; /* that stand for a face on which S = 0 and T = 0 coincide */
    int64_t thinned;    /* left out by `thinning`, not counted above */
    int64_t device_bytes;
} tsr_contour_info;
#define TSR_CONTOUR_INFO TSR_SIZED(tsr_contour_info)

/* Finds the seeds of a view. `info` may be NULL. TSR_ERROR_ARGUMENT: a direction of length 0 or not finite. TSR_ERROR_STATE: T vanishes identically (a
 * constant field), or S does (a planar field seen along its normal): no contours are defined. Waits once for the number of seeds. */
TSR_API tsr_status tsr_contours_update(tsr_contours *contours, const tsr_contour_view *view, tsr_contour_info *info) TSR_CHECKED;

/* 48 bytes. */
typedef struct tsr_contour_seed {
    double at[3];      /* index coordinates */
    int64_t vertex;    /* the sample that owns the face, memory index */
    float curvature;   /* of the stream line, 1 / world unit */
    float speed;
    float angle;       /* sine of the angle between the surfaces S = 0 and T = 0: 0 where seeds appear and vanish as the view turns; 1 if coincident */
    uint8_t face;      /* 0, 1, 2: normal to z, y, x */
    uint8_t root;      /* 0 or 1 */
    uint8_t coincident;
    uint8_t reserved;
} tsr_contour_seed;
/* Of the last update: device memory, RETURNS VIEW until the next. */
TSR_API const tsr_contour_seed *tsr_contours_seeds(const tsr_contours *contours, int64_t *count);
/* Copies `count` from `first` on to the host. Waits. */
TSR_API tsr_status tsr_contours_download(const tsr_contours *contours, int64_t first, int64_t count, tsr_contour_seed *seeds) TSR_CHECKED;

/* How long the lines are. Without it all are as long as the options of stream lines say, and as the view turns they pop in and out. */
typedef struct tsr_contour_relevance {
    size_t struct_size;
    int use;           /* 0: off */
    double curvature[2]; /* k0, k1: a smooth step of kappa times the smallest spacing; both 0: 0.002 and 0.02 */
    double angle[2];   /* g0, g1: a smooth step of tsr_contour_seed.angle; both 0: 0.05 and 0.3 */
} tsr_contour_relevance;
#define TSR_CONTOUR_RELEVANCE TSR_SIZED(tsr_contour_relevance)
/* The contours: stream lines through the seeds of the last update. With relevance the length of a line is max_length (0: max_steps times step) times both smooth
 * steps. `relevance` and `options` may be NULL. RETURNS NEW. */
TSR_API tsr_status tsr_contours_trace(const tsr_contours *contours, const tsr_contour_relevance *relevance, const tsr_streamline_options *options,
                                      tsr_streamlines **lines) TSR_CHECKED;

/* S (which = 0) or T (1) at the samples, for marching cubes at 0 (tsr_surface_extract). float32 on the field's device. RETURNS NEW. */
TSR_API tsr_status tsr_contours_volume(const tsr_contours *contours, const tsr_contour_view *view, int which, tsr_volume **volume) TSR_CHECKED;

/* ---- eigenplanes --------------------------------------------------------------------------------------------------------------- */

/* Seen along the normal of an eigenplane of a critical point S = 0 and T = 0 coincide in that plane, and seeds fill it. Directions spread evenly over half a
 * sphere are tried with a wide `coincidence`, and the best are refined. */
typedef struct tsr_eigenplane {
    tsr_vec3 normal;     /* unit, z >= 0 */
    int64_t seeds, coincident; /* with the final tolerance */
    double score;        /* faces that coincide to 10^-3: float32 samples of a plane that lies across the grid allow no less */
} tsr_eigenplane;
typedef struct tsr_eigenplane_options {
    size_t struct_size;
    int32_t views;       /* directions over the half sphere; 0 = 1000 */
    int32_t planes;      /* most to report; 0 = 4 */
    int32_t refinements; /* halvings of the step around each; 0 = 12 */
    int lengths;         /* != 0: also the total length of the stream lines of every view (slow) */
    const tsr_streamline_options *lines; /* of these; BORROWS, NULL: their defaults */
    tsr_progress progress;
} tsr_eigenplane_options;
#define TSR_EIGENPLANE_OPTIONS TSR_SIZED(tsr_eigenplane_options)
typedef struct tsr_eigenplanes {
    int32_t count;       /* planes found, the best first */
    tsr_eigenplane *planes;
    int32_t views;       /* every view that was tried, for a picture */
    tsr_vec3 *directions;
    double *scores;      /* coincident faces with the wide tolerance */
    double *lengths;     /* NULL unless asked for */
} tsr_eigenplanes;
/* A direction is reported where faces coincide in the end, or nearly so, along a sheet: at least as many as a tenth of the samples of the smallest slice.
 * The contours' last update is undone. RETURNS NEW: free with tsr_eigenplanes_destroy. */
TSR_API tsr_status tsr_contours_eigenplanes(tsr_contours *contours, const tsr_eigenplane_options *options, tsr_eigenplanes *found) TSR_CHECKED;
TSR_API void tsr_eigenplanes_destroy(tsr_eigenplanes *found);
/* The half sphere seen from above (equal area, z up), size x size pixels, brighter where more coincides (or, with `lengths`, where contours are longer); planes
 * are marked by rings. RETURNS NEW: tsr_image_destroy. */
TSR_API tsr_status tsr_eigenplanes_picture(const tsr_eigenplanes *found, int lengths, int32_t size, tsr_image *image) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
