/* vision/views/analytic_solids.h: where rays run inside solids. */
#ifndef TSR_VISION_VIEWS_ANALYTIC_SOLIDS_H
#define TSR_VISION_VIEWS_ANALYTIC_SOLIDS_H

#include "core/vec3.h"

enum { TSR_SPANS_MOST = 24 };

typedef enum tsr_solid_kind { TSR_SOLID_HALF_SPACE, TSR_SOLID_ELLIPSOID, TSR_SOLID_BOX, TSR_SOLID_CYLINDER, TSR_SOLID_TORUS } tsr_solid_kind;
/* How a solid joins those of its object before it: it begins a new object, or is taken away from it, or both must hold. ROOM begins one seen from within. */
typedef enum tsr_solid_join { TSR_JOIN_NEW, TSR_JOIN_CUT, TSR_JOIN_AND, TSR_JOIN_ROOM } tsr_solid_join;

typedef struct tsr_solid {
    tsr_solid_join join;
    tsr_solid_kind kind;
    tsr_vec3 centre; /* HALF_SPACE: a point of its face */
    tsr_vec3 size;   /* HALF_SPACE: outward normal; ELLIPSOID: radii; BOX: half extents; CYLINDER: radius, half length, axis 0 to 2; TORUS: radii about z */
    double color[3]; /* linear */
    double detail;   /* lattice cells of the coarsest texture per unit; 0: plain */
} tsr_solid;

/* The ray runs inside from t[0] to t[1]; outward normals and solids at both ends. */
typedef struct tsr_span {
    double t[2];
    tsr_vec3 normal[2];
    const tsr_solid *of[2];
} tsr_span;

/* Spans of one solid, in order; returns how many (at most 2). */
int tsr_solid_spans(const tsr_solid *solid, tsr_vec3 origin, tsr_vec3 direction, tsr_span span[2]);
/* The first surface beyond t_least of a list of solids: its place in *hit (t[0], normal[0] towards the viewer, of[0]); 0: none. */
int tsr_solids_hit(const tsr_solid *solids, int count, tsr_vec3 origin, tsr_vec3 direction, double t_least, tsr_span *hit);

#endif
