/* tessera/align.h: a camera from one picture of something whose shape is known: lines of the model are laid on edges of the picture.
 *
 * What is known is a proxy: lines (a pitch, a room), or a mesh, whose creases and outlines count where they are not hidden. A start is wanted, which may be
 * several degrees and a tenth of the focal length off. Thousands of candidates around it are judged by how far their lines lie from edges of like direction, on
 * the picture an eighth, a quarter and half as large, on the context's device; the best are refined, and in the end each line is moved to its edge, sub-pixel.
 * Axes and pixels are those of tessera/calibrate.h. Class: the cost of candidates is exact; the refined camera is tolerant. Source: docs/theory/calibration.md 9. */
#ifndef TESSERA_ALIGN_H
#define TESSERA_ALIGN_H

#include "tessera/calibrate.h"
#include "tessera/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An edge; or, with `across`, a painted stripe that differs from both of its sides: the vector from border to border, from and to in its middle. */
typedef struct tsr_align_line {
    tsr_vec3 from, to, across;
} tsr_align_line;

/* Lines, a mesh, or both. */
typedef struct tsr_align_proxy {
    const tsr_align_line *line; /* BORROWS */
    int64_t lines;
    const tsr_mesh *mesh; /* BORROWS, host; NULL: none */
    double crease;        /* edges whose faces meet at more than so many degrees count always, others where they are an outline; 0 = 25 */
} tsr_align_proxy;

typedef struct tsr_align_options {
    size_t struct_size;
    uint32_t free;      /* TSR_FREE_ of tessera/calibrate.h: FOCAL, CENTRE, K1, K2; 0 = FOCAL; POSE_ONLY: none */
    double degrees;     /* how wrong the start's direction may be, about each axis; 0 = 6 */
    double distance;    /* and its place, along each axis, as a share of the distance to the middle of the proxy; 0 = 0.06 */
    double field;       /* and its focal length, as a share; 0 = 0.12 */
    int32_t candidates; /* a level; 0 = 8192 */
    int32_t best;       /* that go on to the next; 0 = 32, at most 256 */
    double contrast;    /* least slope of an edge, grey values a pixel; 0 = 4 */
    int refine_only;    /* != 0: the start is within some pixels: no search */
    uint64_t seed;      /* of the candidates */
    tsr_progress progress;
} tsr_align_options;
#define TSR_ALIGN_OPTIONS TSR_SIZED(tsr_align_options)

typedef struct tsr_align_result {
    size_t struct_size;
    tsr_pinhole camera;
    tsr_calibration_sigma sigma; /* as in tsr_calibration_camera */
    int64_t samples, matched;    /* places of lines that the camera sees; those with an edge within a pixel */
    double rms;                  /* pixels, of the matched ones, across their lines */
    double condition;            /* of the normal equations scaled to a unit diagonal; above 1e6 something is not determined, and a remark says so */
    int64_t candidates;          /* that were judged */
} tsr_align_result;
#define TSR_ALIGN_RESULT TSR_SIZED(tsr_align_result)

/* TSR_ERROR_ARGUMENT for a proxy without lines, options out of range, a start whose size is not the picture's or that does not see the proxy (the message says what
 * share of it lies behind the camera and outside); TSR_ERROR_STATE where fewer than a fifth of the lines find an edge. Waits for the device. */
TSR_API tsr_status tsr_align_edges(tsr_context *context, const tsr_image *image, const tsr_align_proxy *proxy, const tsr_pinhole *start,
                                   const tsr_align_options *options, tsr_align_result *result) TSR_CHECKED;

/* Lines of a file, one a line of text: X,Y,Z,X,Y,Z, the ends (commas or blanks); # begins a remark, and the first line may be a heading. *line RETURNS NEW (free()).
 * TSR_ERROR_FORMAT names the line of text. */
TSR_API tsr_status tsr_align_lines_read(const char *path, const tsr_read_options *options, tsr_align_line **line, int64_t *lines) TSR_CHECKED;

/* ---- a football pitch ---------------------------------------------------------------------------------------------------------- */

/* 105 x 68 m on the plane z = 0, the centre at 0, x along the longer side: stripes of 0.12 m, arcs in pieces of half a metre, and the two goals. RETURNS the count; `line` may be NULL, else room for as many. */
TSR_API int64_t tsr_pitch_lines(tsr_align_line *line);

typedef struct tsr_pitch_options {
    size_t struct_size;
    int32_t players; /* boxes of a person's size, at places by the seed */
    double noise;    /* grey values */
    double blur;     /* pixels, width of the box; 0 = 2 */
    uint64_t seed;
} tsr_pitch_options;
#define TSR_PITCH_OPTIONS TSR_SIZED(tsr_pitch_options)
/* The pitch as a camera sees it, grass in stripes, grey. RETURNS NEW. */
TSR_API tsr_status tsr_pitch_draw(const tsr_pinhole *camera, const tsr_pitch_options *options, tsr_image *image) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
