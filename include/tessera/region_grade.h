/* tessera/region_grade.h: graded (2:1 balanced) quadtrees and octrees: leaves that touch differ by one level at most, which solvers, interpolation across
 * leaves and meshes of leaves want. */
#ifndef TESSERA_REGION_GRADE_H
#define TESSERA_REGION_GRADE_H

#include "tessera/region_tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which leaves touch: by a face (quadtrees: an edge), by an edge too, or by a corner too (quadtrees: EDGES and CORNERS are the same). */
typedef enum tsr_region_touch { TSR_REGION_TOUCH_FACES = 0, TSR_REGION_TOUCH_EDGES, TSR_REGION_TOUCH_CORNERS } tsr_region_touch;

typedef struct tsr_region_grading {
    size_t struct_size;
    tsr_region_touch touch;
    tsr_progress progress;
} tsr_region_grading;
#define TSR_REGION_GRADING                        \
    {                                             \
        .struct_size = sizeof(tsr_region_grading) \
    }

/* The tree with the fewest leaves that covers what `tree` covers, into whose leaves all of `tree` can be split, and in which leaves that touch differ by at
 * most one level. There is one. Empty space stays empty and asks for nothing. `tree` (BORROWS) lies on the host or on a device, its lists travel to the host,
 * where the work is done, and *graded (RETURNS NEW) lies where `tree` does, without a cap; it waits for the queue. `values` (BORROWS, may be NULL): leaves x
 * channels x 1, float32, on the host, as tessera/region_file.h takes them; a part of a leaf has its values, in *graded_values (RETURNS NEW, host; NULL if
 * `values` is). `grading` NULL: by faces. Exact class. Cost: leaves x neighbours x levels.
 * TSR_ERROR_ARGUMENT: values of another shape; TSR_ERROR_CAPACITY: 2^31 leaves or nodes and more; TSR_ERROR_CANCELLED; TSR_ERROR_MEMORY.
 * Source: docs/theory/regions.md 10; ripples from the finest leaves up: Sundar, Sampath and Biros, Bottom-up construction and 2:1
 * balance refinement of linear octrees in parallel, SIAM J. Sci. Comput. 30 (2008). */
TSR_API tsr_status tsr_region_tree_grade(const tsr_region_tree *tree, const tsr_region_grading *grading, const tsr_volume *values,
                                         tsr_region_tree **graded, tsr_volume **graded_values) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
