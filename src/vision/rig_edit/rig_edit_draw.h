/* vision/rig_edit/rig_edit_draw.h: what pictures and measures of an editor share. */
#ifndef TSR_VISION_RIG_EDIT_DRAW_H
#define TSR_VISION_RIG_EDIT_DRAW_H

#include "vision/rig_edit/rig_edit.h"
#include "vision/rig_edit/rig_edit_shade.h"

typedef struct edit_shader {
    double middle[3];
    tsr_shade_camera camera[EDIT_CAMERAS];
} edit_shader;
/* Pictures of the size at which a pixel of the pane is about `pixel` pixels of theirs. */
tsr_status edit_shader_make(tsr_rig_editor *e, const edit_state *state, double pixel, int shadow, edit_shader *shader);
/* The place at a depth on the ray of an undistorted place (x / z, y / z), counted from `middle`. */
void edit_place(const tsr_pinhole *camera, const double at[2], double depth, const double middle[3], float x[3]);
/* Where a point is seen. 0: nowhere. */
int edit_see(const tsr_pinhole *camera, const tsr_view_model *model, const tsr_vec3 *point, double pixel[2]);

#endif
