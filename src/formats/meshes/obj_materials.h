/* formats/meshes/obj_materials.h: the colours of the materials that a file beside an OBJ file names (.mtl). */
#ifndef TSR_FORMATS_OBJ_MATERIALS_H
#define TSR_FORMATS_OBJ_MATERIALS_H

#include "formats/mesh_files.h"

typedef struct tsr_obj_material {
    tsr_word name; /* in the text of the file */
    uint8_t color[4];
} tsr_obj_material;

typedef struct tsr_obj_materials {
    tsr_input *file;
    tsr_obj_material *at;
    int32_t count, textures; /* textures: materials with a picture, which is not read */
} tsr_obj_materials;

/* Kd (diffuse) and d or Tr of every newmtl; nothing, with a remark, where the file cannot be read. */
tsr_status tsr_obj_materials_read(const tsr_input *input, tsr_word name, tsr_obj_materials *materials);
void tsr_obj_materials_free(tsr_obj_materials *materials);
/* -1: there is none of that name. */
int32_t tsr_obj_material_find(const tsr_obj_materials *materials, tsr_word name);

#endif
