/* tessera/points.h: clouds of points: positions, and normals and radii where there are some. Files in tessera/io.h (tsr_points_read).
 *
 * Positions are float32 world coordinates, [count][3]; normals unit vectors, [count][3]; radii world units, [count]. */
#ifndef TESSERA_POINTS_H
#define TESSERA_POINTS_H

#include "tessera/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_points tsr_points;

/* Room for `count` points on the context's device (NULL = host), content undefined. count 0 to 2^31 - 1. RETURNS NEW. */
typedef enum tsr_points_parts { TSR_POINTS_NORMALS = 1, TSR_POINTS_RADII = 2 } tsr_points_parts;
TSR_API tsr_status tsr_points_create(tsr_context *context, int64_t count, int parts, tsr_points **points) TSR_CHECKED;
TSR_API void tsr_points_destroy(tsr_points **points);
TSR_API int64_t tsr_points_count(const tsr_points *points);
TSR_API tsr_device tsr_points_device(const tsr_points *points);
TSR_API float *tsr_points_positions(tsr_points *points); /* RETURNS VIEW */
TSR_API float *tsr_points_normals(tsr_points *points);   /* RETURNS VIEW, NULL if there are none */
TSR_API float *tsr_points_radii(tsr_points *points);     /* RETURNS VIEW, NULL if there are none */
TSR_API const float *tsr_points_positions_const(const tsr_points *points);
TSR_API const float *tsr_points_normals_const(const tsr_points *points);
TSR_API const float *tsr_points_radii_const(const tsr_points *points);
TSR_API tsr_space tsr_points_space(const tsr_points *points);
TSR_API void tsr_points_set_space(tsr_points *points, tsr_space space);
/* As of a mesh (tessera/mesh.h): world = origin + position. */
TSR_API tsr_vec3 tsr_points_origin(const tsr_points *points);
TSR_API void tsr_points_set_origin(tsr_points *points, tsr_vec3 origin);
TSR_API tsr_status tsr_points_change_origin(tsr_points *points, tsr_vec3 origin) TSR_CHECKED;
TSR_API tsr_status tsr_points_copy(const tsr_points *points, tsr_context *context, tsr_points **copy) TSR_CHECKED; /* to another device; RETURNS NEW */

/* Further float32 numbers of each point, by name: what a simulator or a scanner knows, [count][components]. At most 16 of 1 to 16 components; names up to 63
 * bytes, each once. Kept by tsr_points_copy and by files that have a place for them; whatever makes new points of others leaves them out. Usual names of
 * particles of fluids are "density" and "velocity" (3 components); radii have a place of their own. */
TSR_API tsr_status tsr_points_add_attribute(tsr_points *points, const char *name, int32_t components, float **data) TSR_CHECKED; /* content undefined; *data (may
                                                                                                                        * be NULL) RETURNS VIEW */
TSR_API float *tsr_points_attribute(tsr_points *points, const char *name, int32_t *components); /* RETURNS VIEW, NULL if there is none; components may be NULL */
TSR_API const float *tsr_points_attribute_const(const tsr_points *points, const char *name, int32_t *components);
TSR_API int tsr_points_attribute_at(const tsr_points *points, int32_t index, const char **name, int32_t *components); /* 0 behind the last; the name is a VIEW */
TSR_API void tsr_points_remove_attribute(tsr_points *points, const char *name); /* none of that name is fine */

/* The vertices of a mesh (and its vertex normals) on the same device. COPIES. RETURNS NEW. */
TSR_API tsr_status tsr_points_from_mesh(const tsr_mesh *mesh, tsr_points **points) TSR_CHECKED;

/* Clouds of known shape, made on the host from a name and a seed; class exact: the same points everywhere (docs/theory/reconstruction.md 10). The shapes lie
 * round the origin within about [-1, 1]^3. Points are distributed evenly over the area. */
typedef struct tsr_points_shape {
    const char *name;        /* "points-sphere", ...; static */
    const char *description; /* one line; static */
    int32_t components;      /* of the surface, */
    int32_t genus;           /* and the sum of their genera; -1 where it depends on the resolution */
} tsr_points_shape;
TSR_API const tsr_points_shape *tsr_points_shape_at(int32_t index); /* index 0, 1, ... until it returns NULL. RETURNS VIEW, static */

typedef struct tsr_points_options {
    size_t struct_size;
    int64_t count;        /* samples on the surface; 0 = 40000 */
    uint64_t seed;
    double noise;         /* sigma of Gaussian noise added to each coordinate */
    double outliers;      /* further points, as a share of count, evenly in the box that is 1.1 times the shape's; 0 to 1 */
    double density;       /* > 1: samples are up to so many times denser at the upper end of x than at the lower one; 0 = 1 = even */
    int32_t missing;      /* number of round patches without samples, */
    double missing_radius; /* their radius; 0 = 0.15 */
    int normals;          /* != 0: with the exact outward normals (of outliers: 0) */
    tsr_progress progress;
} tsr_points_options;
#define TSR_POINTS_OPTIONS TSR_SIZED(tsr_points_options)
/* TSR_ERROR_ARGUMENT for an unknown name (the message lists the names) or an option out of range. RETURNS NEW host points. */
TSR_API tsr_status tsr_points_make(const char *name, const tsr_points_options *options, tsr_points **points) TSR_CHECKED;
/* Signed distance of world positions from the exact surface of a shape, negative inside, float64; for shapes without a closed form (displaced sphere)
 * first-order in the displacement. */
TSR_API tsr_status tsr_points_shape_distance(const char *name, const double position[3], double *distance) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
