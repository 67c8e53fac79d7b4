/* volume/components.h: union-find that every backend shares: a set is named by its smallest member, so that labels do not
 * depend on the order of unions. */
#ifndef TSR_VOLUME_COMPONENTS_H
#define TSR_VOLUME_COMPONENTS_H

#include "core/hd.h"

/* Smallest member of i's set; shortens the path on the way. For one thread at a time per set. */
TSR_HD uint32_t tsr_union_find(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

TSR_HD void tsr_union_merge(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = tsr_union_find(parent, a);
    b = tsr_union_find(parent, b);
    if (a < b) parent[b] = a;
    else parent[a] = b;
}

#endif
