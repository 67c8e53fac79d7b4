/* volume/compare.h: what the comparison of masks and that of label maps share. */
#ifndef TSR_VOLUME_COMPARE_H
#define TSR_VOLUME_COMPARE_H

#include "volume/distance_line.h"
#include "volume/labels.h"
#include "tessera/compare.h"

/* Which voxels of a volume are inside: those that are not 0, or those of one label. */
typedef struct tsr_mask_rule {
    const tsr_volume *volume;
    int by_label, scaled;
    int64_t label;
} tsr_mask_rule;

static inline int tsr_mask_inside(const tsr_mask_rule *m, int64_t i)
{
    int whole = 1;
    if (!m->by_label) return tsr_distance_inside(m->volume->data, m->volume->dtype, i);
    return tsr_label_at(m->volume, i, m->scaled, &whole) == m->label;
}

/* The context is a CPU, extents and geometries agree (or options say that they need not). */
tsr_status tsr_compare_check(tsr_context *context, const tsr_volume *a, const tsr_volume *b, const tsr_compare_options *options);
/* Are distances wanted, and their grid one that they are exact on? */
tsr_status tsr_compare_check_distances(const tsr_volume *mask, const tsr_compare_options *options);
/* From the counts of *c everything but distances; those too, within the box of both masks, unless they are skipped. */
tsr_status tsr_compare_finish(tsr_context *context, const tsr_mask_rule mask[2], tsr_size3 lower, tsr_size3 upper, int skip_distances,
                              tsr_mask_comparison *c);

#endif
