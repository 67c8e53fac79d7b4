/* tessera/morph.h: surfaces between two surfaces.
 *
 * INTERPOLATE: the zero set of (1 - t) a + t b, both redistanced over a band that reaches from one surface to the other; t = 0 is a, t = 1 is b, and the
 * surfaces need not meet (distances of first order: on the way some tenths of a voxel). EVOLVE: a moves with the speed F = -b along its normals, outwards where it is inside b, inwards where it is outside, until it
 * covers b: needs no wide band, but parts of b that a does not meet are not found, and parts of a far from b shrink away.
 * Lists as for tsr_tiles_combine (tessera/csg.h): also with a domain and in two dimensions, both the same. Source: docs/theory/editing.md 8; Breen and Whitaker, A Level-Set Approach for the Metamorphosis of Solid
 * Models, 2001 (evolution). Class as tessera/levelset.h. */
#ifndef TESSERA_MORPH_H
#define TESSERA_MORPH_H

#include "tessera/csg.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_morph_method { TSR_MORPH_INTERPOLATE = 0, TSR_MORPH_EVOLVE } tsr_morph_method;

typedef struct tsr_morph_options {
    size_t struct_size;
    tsr_morph_method method;
    double reach; /* INTERPOLATE: half width of the wide band in world units; 0 = doubled until it covers all that is inside one shape and
                         * outside the other. Memory grows with area times reach */
    int draft;    /* EVOLVE: first-order schemes */
} tsr_morph_options;
#define TSR_MORPH_OPTIONS                        \
    {                                            \
        .struct_size = sizeof(tsr_morph_options) \
    }

/* results[i] at t[i], i < count, t increasing: INTERPOLATE: 0 <= t <= 1; EVOLVE: t >= 0 is time (a voxel of distance from b takes of the order of one
 * unit). The results have the band of a. Distances again, whatever the way did to the field. TSR_ERROR_STATE if a or b
 * is empty, TSR_ERROR_ARGUMENT for INTERPOLATE if without a domain one of them is inside far away and the other is not. RETURNS NEW in results; all NULL after a failure. */
TSR_API tsr_status tsr_tiles_morph(const tsr_tiles *a, const tsr_tiles *b, const double *t, int32_t count, const tsr_morph_options *options,
                                   const tsr_progress *progress, tsr_tiles **results) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
