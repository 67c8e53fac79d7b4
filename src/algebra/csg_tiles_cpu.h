/* algebra/csg_tiles_cpu.h: bodies of csg_ops.h that a CPU does tile by tile where csg_labels.h does them voxel by voxel. The same results. */
#ifndef TSR_ALGEBRA_CSG_TILES_CPU_H
#define TSR_ALGEBRA_CSG_TILES_CPU_H

#include "algebra/csg_ops.h"

/* label_begin of all voxels: the name of each is the least voxel of its component within the tile. */
void tsr_csg_label_begin_tiles(int threads, const tsr_csg_args *args);
/* label_join of all voxels: what components have in common across the faces of tiles. */
void tsr_csg_label_join_tiles(int threads, const tsr_csg_args *args);
/* measure of all planes of all tiles. */
void tsr_csg_measure_tiles(int threads, const tsr_csg_args *args);

#endif
