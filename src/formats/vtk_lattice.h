/* formats/vtk_lattice.h: VTK's legacy image data (.vtk, STRUCTURED_POINTS): the head and the sections, for scalars (volumes/vtk_volume.c) and vectors (flow). */
#ifndef TSR_FORMATS_VTK_LATTICE_H
#define TSR_FORMATS_VTK_LATTICE_H

#include "formats/vtk_text.h"

typedef struct tsr_vtk_lattice {
    int64_t size[3], points, cells; /* 0: DIMENSIONS has not come yet */
    double spacing[3], origin[3];
    int64_t tuples; /* of the data whose arrays are read; -1: none has begun */
    int at_points;
} tsr_vtk_lattice;
#define TSR_VTK_LATTICE ((tsr_vtk_lattice){ .spacing = { 1, 1, 1 }, .tuples = -1 })

/* The section that begins with `word`: of the head, or of the data, whose arrays `take` is told of. */
tsr_status tsr_vtk_lattice_section(tsr_vtk_text *text, tsr_vtk_lattice *lattice, tsr_word word, tsr_vtk_array_taker *take, void *user);

#endif
