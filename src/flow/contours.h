/* flow/contours.h: the inside of contours. */
#ifndef TSR_FLOW_CONTOURS_H
#define TSR_FLOW_CONTOURS_H

#include "flow/vectors.h"
#include "flow/streamlines.h"
#include "tessera/pyramid.h"

struct tsr_contours {
    tsr_context *context;
    const tsr_vector_field *field;
    tsr_contour_options options;
    tsr_volume *counts; /* u8, the base of the pyramid */
    tsr_pyramid *pyramid;
    void *entries, *seeds;
    size_t entries_bytes, seeds_bytes;
    int64_t count;
};

/* Counts and the pyramid of a view with another tolerance; *total seeds. */
tsr_status tsr_contours_select(tsr_contours *contours, const tsr_contour_job *job, int64_t *total);
/* The job of a view; TSR_ERROR_STATE where no contours are defined. */
tsr_status tsr_contours_job(const tsr_contours *contours, const tsr_contour_view *view, tsr_contour_job *job);

#endif
