/* flow/streamlines.h: the inside of stream lines. */
#ifndef TSR_FLOW_STREAMLINES_H
#define TSR_FLOW_STREAMLINES_H

#include "flow/vectors.h"
#include "tessera/streamlines.h"

struct tsr_streamlines {
    tsr_context *context; /* NULL: host memory that belongs to no context */
    int64_t lines, points;
    int64_t *host_offsets; /* [lines + 1] */
    uint8_t *ends;         /* host, [lines][2] */
    void *offsets;         /* device, u64 [lines + 1] */
    void *positions, *parameter;
    size_t offsets_bytes, positions_bytes, parameter_bytes;
    tsr_space space;
    double spacing; /* the smallest of the field, 0: unknown */
};

/* A job whose numbers are set; the caller sets seeds and lines. */
typedef struct tsr_stream_plan {
    tsr_stream_job job;
    const tsr_vector_field *field; /* the first of a series */
    const tsr_field_series *series;
    tsr_progress progress;
} tsr_stream_plan;
tsr_status tsr_stream_plan_make(const tsr_vector_field *field, const tsr_streamline_options *options, tsr_stream_plan *plan);
/* Traces chunk by chunk and joins the halves. */
tsr_status tsr_stream_run(const tsr_stream_plan *plan, tsr_streamlines **lines);
/* Ends of the forward (or backward) halves alone: last [lines][4], device; the seed's place where there was no step. */
tsr_status tsr_stream_last(const tsr_stream_plan *plan, float *last, int32_t *points, uint8_t *ends);

#endif
