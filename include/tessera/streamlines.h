/* tessera/streamlines.h: stream lines, path lines and streak lines of vector fields, and tubes around them.
 *
 * Lines are integrated on the device, each half (backward, forward) by a lane of its own. Positions between samples are interpolated trilinearly. The
 * place of a particle is kept as a cell and a fraction of it, so that float32 loses nothing in large grids. Class: exact (the same bits on every backend
 * and number of threads). Source: docs/theory/flow.md. */
#ifndef TESSERA_STREAMLINES_H
#define TESSERA_STREAMLINES_H

#include "tessera/field.h"
#include "tessera/mesh.h"
#include "tessera/points.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_streamlines tsr_streamlines;

typedef enum tsr_stream_method {
    TSR_STREAM_RK4 = 0,        /* Runge-Kutta of order 4, fixed step */
    TSR_STREAM_DORMAND_PRINCE, /* of order 5 with an error estimate of order 4: the step follows `tolerance` */
    TSR_STREAM_EULER,
    TSR_STREAM_RK2             /* midpoint */
} tsr_stream_method;

typedef enum tsr_stream_parameter {
    TSR_STREAM_ARC = 0, /* x' = v / |v|: steps are lengths, as in VTK */
    TSR_STREAM_SPEED,   /* x' = v, each step is a length divided by the speed at its beginning */
    TSR_STREAM_TIME     /* x' = v, steps are times: what path lines use */
} tsr_stream_parameter;

typedef enum tsr_stream_direction { TSR_STREAM_BOTH = 0, TSR_STREAM_FORWARD, TSR_STREAM_BACKWARD } tsr_stream_direction;

/* Why a half line ended. */
typedef enum tsr_stream_end {
    TSR_STREAM_NOT_TRACED = 0, /* the half was not asked for */
    TSR_STREAM_STEPS,          /* max_steps */
    TSR_STREAM_LENGTH,         /* max_length (or the relevance length of a contour, or the end time) */
    TSR_STREAM_BORDER,         /* it left the grid: the last point is on the border */
    TSR_STREAM_STAGNANT,       /* the speed fell below min_speed */
    TSR_STREAM_OUTSIDE,        /* the seed lies outside of the grid: no point but the seed */
    TSR_STREAM_STIFF,          /* Dormand-Prince: the step fell below min_step */
    TSR_STREAM_ENDS
} tsr_stream_end;
TSR_API const char *tsr_stream_end_name(tsr_stream_end end); /* "steps", "length", ... */

typedef struct tsr_streamline_options {
    size_t struct_size;
    tsr_stream_method method;
    tsr_stream_parameter parameter;
    tsr_stream_direction direction;
    double step;        /* in cells (the smallest spacing); TIME: in units of time. 0: 0.5 cells; TIME: half a cell at the largest speed. The first of
                         * Dormand-Prince */
    double tolerance;   /* Dormand-Prince: error of a step, in cells; 0: 1e-5 */
    double min_step, max_step; /* Dormand-Prince, as step; 0: step / 1000 and 10 step */
    int32_t max_steps;  /* of a half; 0: 200 */
    double max_length;  /* of a half, world units (TIME: duration); 0: none */
    double min_speed;   /* as a share of the largest speed; 0: 1e-6 */
    tsr_progress progress;
} tsr_streamline_options;
#define TSR_STREAMLINE_OPTIONS TSR_SIZED(tsr_streamline_options)

/* Lines through `count` seeds (host, world coordinates, [count][3]). Line i belongs to seed i: its backward half, from the far end, then the seed, then the
 * forward half. Waits. RETURNS NEW. */
TSR_API tsr_status tsr_streamlines_trace(const tsr_vector_field *field, const double *seeds, int64_t count, const tsr_streamline_options *options,
                                         tsr_streamlines **lines) TSR_CHECKED;
/* Path lines: where particles go that start at `start` (a time inside the series); parameter is TIME, direction forward or (in time) backward; they end with
 * the series. The lines' parameter is the time since start. */
TSR_API tsr_status tsr_streamlines_paths(const tsr_field_series *series, double start, const double *seeds, int64_t count,
                                         const tsr_streamline_options *options, tsr_streamlines **lines) TSR_CHECKED;
/* Streak lines at time `end`: the particles that left each seed at `releases` times evenly from `start` to `end`, the oldest first; the last is at the seed.
 * Particles that left the grid are not part of the line. */
TSR_API tsr_status tsr_streamlines_streaks(const tsr_field_series *series, double start, double end, int32_t releases, const double *seeds, int64_t count,
                                           const tsr_streamline_options *options, tsr_streamlines **lines) TSR_CHECKED;
/* Lines given by their points, [points][3] world, host; line i has points offsets[i] <= k < offsets[i + 1]. COPIES to the device of the context. */
TSR_API tsr_status tsr_streamlines_create(tsr_context *context, const float *positions, const int64_t *offsets, int64_t lines,
                                          tsr_streamlines **streamlines) TSR_CHECKED;
TSR_API void tsr_streamlines_destroy(tsr_streamlines **lines);

TSR_API int64_t tsr_streamlines_count(const tsr_streamlines *lines);
TSR_API int64_t tsr_streamlines_point_count(const tsr_streamlines *lines);
TSR_API const int64_t *tsr_streamlines_offsets(const tsr_streamlines *lines); /* host, [count + 1]. RETURNS VIEW */
TSR_API const uint8_t *tsr_streamlines_ends(const tsr_streamlines *lines);    /* host, [count][2] tsr_stream_end of the backward and forward half. VIEW */
/* Device memory, RETURNS VIEW: positions [points][3] in world coordinates; parameter [points]: signed length (TIME: time) from the seed. */
TSR_API const float *tsr_streamlines_positions(const tsr_streamlines *lines);
TSR_API const float *tsr_streamlines_parameter(const tsr_streamlines *lines);
/* Copies to the host: positions [points][3], parameter [points]; either may be NULL. Waits. */
TSR_API tsr_status tsr_streamlines_download(const tsr_streamlines *lines, float *positions, float *parameter) TSR_CHECKED;

/* Values at the points. */
typedef enum tsr_stream_attribute {
    TSR_STREAM_AT_SPEED = 0,
    TSR_STREAM_AT_CURVATURE,
    TSR_STREAM_AT_VORTICITY,
    TSR_STREAM_AT_LENGTH,    /* arc length from the seed along the chords, negative backward */
    TSR_STREAM_AT_PARAMETER,
    TSR_STREAM_ATTRIBUTES
} tsr_stream_attribute;
TSR_API tsr_status tsr_stream_attribute_parse(const char *name, tsr_stream_attribute *attribute) TSR_CHECKED;
TSR_API const char *tsr_stream_attribute_name(tsr_stream_attribute attribute);
/* Computes values[points] (device memory of the lines, BORROWED). `field` (same device; of a series the one whose values are wanted) may be NULL for LENGTH and
 * PARAMETER. */
TSR_API tsr_status tsr_streamlines_attribute(const tsr_streamlines *lines, const tsr_vector_field *field, tsr_stream_attribute attribute,
                                             float *values) TSR_CHECKED;

/* The same to host memory. Waits. */
TSR_API tsr_status tsr_streamlines_values(const tsr_streamlines *lines, const tsr_vector_field *field, tsr_stream_attribute attribute,
                                          float *values) TSR_CHECKED;

/* Sum of the chords of all lines, world units; fixed order. Waits. */
TSR_API tsr_status tsr_streamlines_length(const tsr_streamlines *lines, double *length) TSR_CHECKED;

/* ---- tubes --------------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_tube_options {
    size_t struct_size;
    double radius;      /* world units; 0: a quarter of the smallest spacing (of lines without a field: 1 % of their extent) */
    int32_t sides;      /* vertices of a ring, 3 to 64; 0 = 8 */
    int caps;           /* != 0: the ends are closed by fans */
    double taper;       /* share of the line over which the radius shrinks towards each end, 0 to 0.5; 0 = none */
    int colored;        /* != 0: colours of the vertices by `color` over [lower, upper] */
    tsr_stream_attribute color;
    double lower, upper; /* both 0: the least and the largest value */
    int by_direction;   /* colours by |direction| in red, green and blue instead */
} tsr_tube_options;
#define TSR_TUBE_OPTIONS TSR_SIZED(tsr_tube_options)
/* Triangles around the lines: a ring for each point in a rotation-minimising frame (double reflection, Wang et al. 2008), 2 sides (points - 1) triangles a
 * line (with caps 2 (sides - 2) more), outward normals. Lines of one point make nothing. `field` as for attributes: gives tangents and colours; NULL: tangents
 * are chords. RETURNS NEW on the lines' device. TSR_ERROR_CAPACITY above 2^32 - 1 vertices. */
TSR_API tsr_status tsr_streamlines_tubes(const tsr_streamlines *lines, const tsr_vector_field *field, const tsr_tube_options *options, tsr_mesh **mesh) TSR_CHECKED;
/* The colour map of tubes: position 0 to 1, sRGB bytes. */
TSR_API void tsr_stream_color(double position, uint8_t rgb[3]);

/* ---- seeds --------------------------------------------------------------------------------------------------------------------- */

typedef enum tsr_seeding {
    TSR_SEED_GRID = 0, /* every sample of the field whose index is a multiple of `every` */
    TSR_SEED_LINE,     /* from point[0] to point[1] */
    TSR_SEED_PLANE,    /* the parallelogram point[0] + s (point[1] - point[0]) + t (point[2] - point[0]), resolution[0] x resolution[1] */
    TSR_SEED_SPHERE,   /* on the sphere of `radius` about point[0], evenly (Fibonacci) */
    TSR_SEED_BALL,     /* inside it, at random */
    TSR_SEED_RANDOM    /* in the box of the field, at random */
} tsr_seeding;
typedef struct tsr_seed_options {
    size_t struct_size;
    tsr_seeding kind;
    int64_t count;       /* LINE, SPHERE, BALL, RANDOM; 0 = 100 */
    int32_t resolution[2]; /* PLANE; 0 = 10 */
    int32_t every;       /* GRID; 0 = 10 */
    tsr_vec3 point[3];   /* world */
    double radius;
    uint64_t seed;       /* BALL, RANDOM */
} tsr_seed_options;
#define TSR_SEED_OPTIONS TSR_SIZED(tsr_seed_options)
/* Seeds in world coordinates, [*count][3], host. RETURNS NEW: free with tsr_seeds_destroy. Class exact but for SPHERE (sine and cosine of the C library). */
TSR_API tsr_status tsr_seeds_make(const tsr_vector_field *field, const tsr_seed_options *options, double **seeds, int64_t *count) TSR_CHECKED;
TSR_API void tsr_seeds_destroy(double **seeds);

/* ---- files --------------------------------------------------------------------------------------------------------------------- */

/* Writes the lines with their attributes: .vtk (legacy polydata, binary; `ascii`: text), .ply (vertices and edges), .glb (lines, attributes as _NAME), .obj (v and
 * l, no attributes). `values` are host arrays, [attributes][points], by names[attributes]; 0 attributes are fine. */
TSR_API tsr_status tsr_streamlines_write(const tsr_streamlines *lines, const char *const *names, const float *const *values, int32_t attributes,
                                         const char *path, const tsr_write_options *options) TSR_CHECKED;
/* A mesh as legacy VTK polydata (binary; `ascii`: text) with normals and colours: what tsr_mesh_write has no format for. BORROWS a host mesh. */
TSR_API tsr_status tsr_mesh_write_vtk(const tsr_mesh *mesh, const char *path, const tsr_write_options *options) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
