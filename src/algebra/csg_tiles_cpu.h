/* algebra/csg_tiles_cpu.h: bodies of csg_ops.h that a CPU does tile by tile where csg_labels.h does them voxel by voxel. The same results. */
#ifndef TSR_ALGEBRA_CSG_TILES_CPU_H
#define TSR_ALGEBRA_CSG_TILES_CPU_H

#include "device/isa.h"
#include "algebra/csg_labels.h"

/* label_begin of all voxels: the name of each is the least voxel of its component within the tile. */
void tsr_csg_label_begin_tiles(int threads, const tsr_csg_args *args);
/* label_join of all voxels: what components have in common across the faces of tiles. */
void tsr_csg_label_join_tiles(int threads, const tsr_csg_args *args);
/* measure of all planes of all tiles. */
void tsr_csg_measure_tiles(int threads, const tsr_csg_args *args);

enum { TSR_CSG_ROW = 8 };
/* tsr_csg_measure_near of the voxels of a row, which begins at v; bit x of `crossed` is voxel x. Arrays of TSR_CSG_ROW. */
TSR_ISA_DECLARE(void, tsr_csg_measure_row, const tsr_csg_gauge *m, const float *v, int32_t sy, int32_t sz, uint32_t crossed, double *inside, double *area,
                double *curved)

#endif
