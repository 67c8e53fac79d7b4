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

#endif
