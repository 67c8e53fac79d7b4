/* histopyramid/pyramid.h: the inside of a HistoPyramid. */
#ifndef TSR_HISTOPYRAMID_PYRAMID_H
#define TSR_HISTOPYRAMID_PYRAMID_H

#include "histopyramid/classifier.h"
#include "histopyramid/pyramid_ops.h"

struct tsr_pyramid {
    tsr_context *context;
    tsr_pyramid_options options;
    tsr_size3 size;
    tsr_tree tree;
    tsr_pyramid_class class_list[TSR_PYRAMID_CHANNELS];
    tsr_class_set classes; /* of the last build */
    tsr_map user;          /* module NULL: none */
    uint8_t *counts;       /* that it writes; part of memory */
    void *memory;
    int64_t bytes;
    int built;
};

/* lists.c: what clouds of volumes and of slabs share. The classes of a cloud keep voxels or edges, of one volume; all of points[classes] become NULL. */
tsr_status tsr_points_check_rule(const tsr_pyramid_options *rule, tsr_points **points);
/* The cloud of `count` entries of one class; the volume's first plane is plane number `plane` of the geometry. */
tsr_status tsr_points_of_class(tsr_context *context, const tsr_volume *volume, int64_t plane, const tsr_points_volume_options *o,
                               const tsr_pyramid *pyramid, int32_t channel, const tsr_pyramid_entry *entries, int64_t count, tsr_points **points);

#endif
