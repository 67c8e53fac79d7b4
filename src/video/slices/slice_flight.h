/* video/slices/slice_flight.h: pictures of slices that a device decodes together: their bytes go up as they come, the work is done for all at once. */
#ifndef TSR_VIDEO_SLICES_SLICE_FLIGHT_H
#define TSR_VIDEO_SLICES_SLICE_FLIGHT_H

#include "video/dirac/synthesis.h"
#include "video/slices/picture_graph.h"
#include "video/slices/slice_jobs.h"

/* Where the samples of one picture go. */
typedef struct tsr_slice_target {
    void *plane[3];
    int64_t plane_stride[3]; /* elements of `bytes` bytes */
    int32_t bytes, depth[2], long_length;
} tsr_slice_target;

typedef struct tsr_slice_flight {
    tsr_context *context;
    int32_t ahead, count; /* pictures at most; that wait */
    int made;
    tsr_dirac_transform transform;
    tsr_dirac_layout layout[3];
    tsr_slice_shape shape;
    int64_t slices, elements[2];
    tsr_dirac_synthesis many[2], one[2]; /* luma, chroma; of all pictures, of one */
    int32_t *coefficients[2], *samples;  /* device memory; chroma: both components of a picture, then of the next */
    void *workspace;
    int64_t workspace_bytes, samples_count;
    uint8_t *bytes; /* device memory */
    int64_t room, used;
    uint32_t *starts, *starts_on_device;
    tsr_slice_picture picture[TSR_SLICE_AHEAD], *pictures_on_device;
    tsr_quantiser *quantiser;
    tsr_slice_target target[TSR_SLICE_AHEAD];
    tsr_picture_graph graph;
    void (*stage)(void *user, int stage); /* NULL: nobody asks; told before each stage of run, and -1 behind the last. Then nothing is recorded */
    void *user;
} tsr_slice_flight;

/* Made anew where anything but what pictures may have of their own is another; only without pictures that wait. *usable 0: the device cannot. */
tsr_status tsr_slice_flight_make(tsr_slice_flight *flight, tsr_context *context, int32_t ahead, const tsr_dirac_transform *transform,
                                 const tsr_dirac_layout layout[3], int *usable);
int tsr_slice_flight_fits(const tsr_slice_flight *flight, const tsr_dirac_transform *transform, const tsr_dirac_layout layout[3]);
/* A picture, whose slices begin at `bits`, is taken; *whole of its slices are there. The bytes are not needed afterwards. */
tsr_status tsr_slice_flight_add(tsr_slice_flight *flight, const tsr_dirac_transform *transform, const tsr_bits *bits, const tsr_slice_target *target,
                                int64_t *whole);
/* What waits is decoded to where it goes, in the order of the queue. */
tsr_status tsr_slice_flight_run(tsr_slice_flight *flight);
void tsr_slice_flight_free(tsr_slice_flight *flight);

#endif
