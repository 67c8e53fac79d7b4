/* tools/projectors.h: what `tessera reproject` and the workbench's mode `views` share: images of a rig as projectors, and which of them a new view is made of
 * from camera to camera. */
#ifndef TESSERA_TOOLS_PROJECTORS_H
#define TESSERA_TOOLS_PROJECTORS_H

#include "tessera/tessera.h"

/* After a failure `error` has what was expected of a file, or nothing: then the library's message says it. */
typedef struct rig_error {
    char text[6000];
} rig_error;

/* The real values of a host volume in float32, in plain host memory. RETURNS NEW. */
tsr_status rig_as_reals(const tsr_volume *volume, tsr_volume **reals);
/* A picture on a device (u8, [height][width][channels]) as a pinhole without the camera's lens would have it. */
tsr_status rig_remove_lens(tsr_context *context, const tsr_camera *camera, int32_t width, int32_t height, int32_t channels, tsr_volume **color);
/* The depth image of a camera: distances in host memory as f32, 0 where there is none, without the lens. Of a picture of several channels (EXR) the one
 * named Z or depth. RETURNS NEW in *depth. */
tsr_status rig_depth_read(const tsr_rig *rig, const tsr_rig_camera *camera, int32_t frame, const tsr_read_options *read, tsr_volume **depth,
                          tsr_depth_report *report, rig_error *error);

/* A camera's images on a device, without their lens. */
typedef struct rig_projector {
    tsr_projector projector;
    tsr_volume *depth, *color;
    tsr_depth_report report;
    int32_t width, height; /* of the picture, or else of the depth image */
} rig_projector;
enum { RIG_PROJECTOR_DEPTH = 1, RIG_PROJECTOR_COLOR = 2 };
/* `parts`: what is needed; a picture that is not there is left out unless it is needed alone. */
tsr_status rig_projector_load(tsr_context *context, const tsr_rig *rig, int64_t index, int32_t frame, int parts, const tsr_read_options *read,
                              rig_projector *projector, rig_error *error);
void rig_projector_unload(rig_projector *projector);

/* How far a camera of a rig is from looking as another does: by the angle between the axes, then by the way between them. */
typedef struct rig_rank {
    int64_t index;
    double cost;
} rig_rank;
/* 0: it sees nothing of what `camera` shows; `same_way`: nor does one that looks the other way. */
int rig_rank_of(const tsr_rig_camera *of, int64_t index, const tsr_camera *camera, int32_t width, int32_t height, int same_way, rig_rank *rank);
void rig_rank_sort(rig_rank *list, int64_t count);

#endif
