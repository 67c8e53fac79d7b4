/* bench/experiments.h: what the experiments of bench_flow share: fields made by rules, and those that start from points and meshes. */
#ifndef TSR_BENCH_EXPERIMENTS_H
#define TSR_BENCH_EXPERIMENTS_H

#include "bench.h"

/* A field of n^3 voxels made by a rule, as an unbounded list, the field a distance. */
typedef double (*bench_field)(double x, double y, double z);
tsr_status bench_from_rule(bench *b, int64_t n, double band, bench_field rule, tsr_tiles **tiles);
/* Archimedean centre line from radius 12 to 44 over two and a half turns, half thickness 5, |z - 64| <= 20, in 128^3 (docs/theory/levelset.md 9). */
double bench_spiral(double x, double y, double z);
/* The statue's stand-in in 512^3: a sphere of radius 190 with six octaves of bumps, about 127 000 tiles of 4^3. */
double bench_bumps(double x, double y, double z);

/* thai, lucy, armadillo, angel, dragon-collapse and edit-dragon: by name only. */
tsr_status bench_experiments(bench *b, int gpu);
/* The method of [Laan11 6] with tiles of 3^3, 4^3 and 8^3 beside ours (bench/tile_sizes.c): by name only, on a CPU. */
tsr_status bench_tile_sizes(bench *b);

#endif
