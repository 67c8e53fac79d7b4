/* bench/pyramid_tables.h: tables 6.1 to 6.4, 8.1, 8.2 and 9.1 to 9.3 of [Ziegler10], stage by stage. */
#ifndef TSR_BENCH_PYRAMID_TABLES_H
#define TSR_BENCH_PYRAMID_TABLES_H

#include "bench.h"

/* A torus to voxels, and those to the list of points, in 256 voxels along x and 256, 128 or 64 along y and z. */
tsr_status pyramid_tables_6(bench *b);
/* Quadtrees of a colour frame by deviation and by edges. */
tsr_status pyramid_tables_8(bench *b);
/* Octrees of the empty space around meshes. */
tsr_status pyramid_tables_9(bench *b);

#endif
