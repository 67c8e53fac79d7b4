/* video/slices/picture_graph.h: the work that a device does for pictures of one type, recorded once and launched again with one call. What changes from
 * picture to picture is not in it, but in device memory that the work reads. */
#ifndef TSR_VIDEO_SLICES_PICTURE_GRAPH_H
#define TSR_VIDEO_SLICES_PICTURE_GRAPH_H

#include "video/dirac/dirac_ops.h"

enum { TSR_PICTURE_KEY = 32 };

typedef struct tsr_picture_graph {
    tsr_context *context; /* NULL: nothing was recorded */
    struct tsr_graph *graph;
    int64_t key[TSR_PICTURE_KEY];
    int32_t calls, refused;
} tsr_picture_graph;

/* Does `work`, which only launches kernels, copies and fills: recorded from the second time in a row on that it is asked for with the same key, which
 * has everything in it that the launches get by value and that may change, `count` numbers. Where the device records nothing, or fails to, it is done
 * launch by launch. */
tsr_status tsr_picture_graph_run(tsr_picture_graph *graph, tsr_context *context, const int64_t *key, int32_t count, tsr_status (*work)(void *user),
                                 void *user);
/* To be called before memory goes that the work uses. */
void tsr_picture_graph_free(tsr_picture_graph *graph);

#endif
