/* light/scene_grid.h: shapes from files: coverage on a grid. `centre` and `size` (of the longest edge) place them in the world. */
#ifndef TSR_LIGHT_SCENE_GRID_H
#define TSR_LIGHT_SCENE_GRID_H

#include "light/light_scene.h"

/* Values from range[0] (nothing) to range[1] (all). */
tsr_status tsr_scene_grid_volume(const char *path, const double centre[3], double size, const double range[2], tsr_scene_shape *shape);
/* What a closed mesh encloses. */
tsr_status tsr_scene_grid_mesh(const char *path, const double centre[3], double size, const tsr_light_scene *scene, tsr_scene_shape *shape);

#endif
