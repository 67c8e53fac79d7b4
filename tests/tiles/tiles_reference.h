/* tests/tiles/tiles_reference.h: tile management as [Laan11] gives it (docs/theory/tiles.md 3, Algorithms 6.2 and 6.3 corrected):
 * sliding a 3^3 element over the sorted list with 27 pointers, border flags instead of a neighbour table. The reference for the fast path. */
#ifndef TSR_TESTS_GRID_TILES_REFERENCE_H
#define TSR_TESTS_GRID_TILES_REFERENCE_H

#include <stdint.h>

typedef struct reference_list {
    int32_t count, room;
    uint64_t *key;
    uint32_t *activity; /* bits 0-26 areas, bit 27 class: all outside */
    uint32_t *border;   /* bit i: the absent tile in direction i is outside */
} reference_list;

/* Decides which keys are allowed (the domain). */
typedef int (*reference_allowed)(const void *user, uint64_t key);

/* One pass: `after` gets the new list (border flags of kept tiles updated, created tiles flat); *created and *removed the numbers. */
void reference_manage(const reference_list *before, reference_allowed allowed, const void *user, reference_list *after, int32_t *created,
                      int32_t *removed);
/* Keys of the list dilated by the 3^3 element, in order, by the sliding traversal. `keys` has room for 27 count. Returns their number. */
int32_t reference_dilate(const uint64_t *list, int32_t count, uint64_t *keys);
void reference_append(reference_list *list, uint64_t key, uint32_t activity, uint32_t border);
void reference_release(reference_list *list);

#endif
