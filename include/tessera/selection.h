/* tessera/selection.h: parts of space that select parts of a level set: boxes, balls, strokes of a brush, lassos, half spaces.
 *
 * Positions and lengths are world units along the grid axes (index * spacing), as in tessera/csg.h. A point belongs to a selection if the signed
 * distance to its faces is not positive. That distance is exact, so that a wall of one thickness can be taken along all faces; the wall is rounded
 * outside around edges and corners and sharp inside them. Inside a STROKE it is radius minus the distance to the line: no more than the depth, and
 * less where the brush has passed twice. It is float32: boxes, half spaces and parallel lassos may reach beyond the surface as far as they like (boxes: of
 * a surface whose inside has an end); other lengths, and the way to the eye of a lasso, are at most 2^20 voxels, else TSR_ERROR_ARGUMENT. Source: docs/theory/editing.md 4. Class exact. */
#ifndef TESSERA_SELECTION_H
#define TESSERA_SELECTION_H

#include "tessera/tiles.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_selection_kind {
    TSR_SELECTION_BOX = 0, /* box */
    TSR_SELECTION_OBOX,    /* oriented: centre, half extents, turn */
    TSR_SELECTION_BALL,    /* centre, radius */
    TSR_SELECTION_STROKE,  /* balls of `radius` along the line through `points` (one point: a ball) */
    TSR_SELECTION_LASSO,   /* what lies behind the polygon `points` in a picture */
    TSR_SELECTION_HALF     /* the side of the plane through `centre` that `direction`, its outward normal, points away from */
} tsr_selection_kind;

typedef struct tsr_selection {
    size_t struct_size;
    tsr_selection_kind kind;
    tsr_box box;
    tsr_vec3 centre, half;
    tsr_vec3 turn; /* OBOX: rotation about the centre, axis times angle in radians */
    double radius;
    /* BORROWS [count], 1 to 65536. LASSO: the corners, 3 or more, in order; anywhere on their lines of sight (a plane of the picture will do). The last is
     * joined to the first; corners that repeat the one before them do not count. A line that crosses itself selects what it goes round an odd number
     * of times (even-odd rule); an edge passed twice is still a face of the wall. */
    const double (*points)[3];
    int64_t count;
    tsr_vec3 direction; /* LASSO: of view, for a parallel (orthographic) projection; zero: perspective, from `eye`. HALF: see there. Any length */
    tsr_vec3 eye;       /* LASSO in perspective: all corners lie within 87 degrees of their mean direction; nothing behind the eye is selected */
} tsr_selection;
#define TSR_SELECTION TSR_SIZED(tsr_selection)

TSR_API const char *tsr_selection_name(tsr_selection_kind kind); /* "box", "obox", "ball", "stroke", "lasso", "half"; NULL beyond the last */
TSR_API tsr_status tsr_selection_parse(const char *name, tsr_selection_kind *kind) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
