/* levelset/source/stl.h: the method of [Laan11 6], literally and one voxel at a time: the sorted tile list of docs/theory/tiles.md with
 * edges of 3, 4 and 8 voxels, each an instance of one text (tile.h).
 *
 * It is the independent side of comparisons: test_source holds the library's lists against it, bench_flow times it (experiment tile-sizes). One
 * thread, no bound on the grid, voxels of unit width. Nothing of it comes from the library. */
#ifndef TSR_TESTS_SOURCE_STL_H
#define TSR_TESTS_SOURCE_STL_H

#include <stdint.h>

/* Bits 0 to 26 of an activity word: areas. This one: no area is set and all is outside. */
#define SOURCE_OUTSIDE (1u << 27)

typedef struct source_stl {
    int32_t edge, voxels; /* B, B^3 */
    int32_t guard;        /* width of the guard bands: 1 to 3 */
    float band;           /* gamma */
    int32_t fields;       /* arrays of values: 2 of Euler, 3 of TVD-RK3 */
    int32_t count;        /* N */
    int32_t room;         /* blocks there is room for */
    int32_t blocks;       /* ids in use, those of tiles dropped by the last management included: the next pass squeezes them out */
    uint64_t *key[2];     /* [room + 1] of the list, which [0] is; [1] is the one that management writes */
    uint32_t *index[2];   /* [room] block of each entry */
    float *phi[3];        /* [room][B][B][B], z y x; [0] is current */
    uint32_t *border[2];  /* [room] by block: bit i: the tile in direction i, if it is not stored, is outside */
    uint32_t *act[2];     /* [room] by block: areas of the last pass */
    uint8_t *age[2];      /* [room] by block: managements since it was created */
    int64_t created, removed;
    double volume_start; /* V0 of the feedback; < 0: not taken yet */
    double mean;         /* of kappa over the surface, of the last step that needed it */
    char error[120];
} source_stl;

/* What replaces the formulas of scheme.h at a voxel, clamped: `start` is its value at the beginning of the step. p reaches 3 voxels along the axes and one
 * along the diagonals of two. */
typedef float (*source_update)(void *user, const float *p, int sy, int sz, const int32_t at[3], float start, int stage);

typedef struct source_motion {
    float speed;     /* F > 0 expands */
    float curvature; /* coefficient of kappa */
    int half;        /* kappa = K / 2 as in chapter 6, else K as in chapter 7 */
    float mean;      /* F += this times the mean of kappa over the surface; = curvature: the volume is kept */
    float feedback;  /* F += this times (V0 - V) / A */
    float reshape;   /* weight of the rescaling term, voxels per unit of time */
    int sgn;         /* its sign function: 1 the discontinuous one that is printed, 0 phi / sqrt(phi^2 + 1) */
    int weno;        /* HJ-WENO5 with Godunov's norm, else first order with Osher's and Sethian's */
    int stages;      /* 1 Euler, 3 TVD-RK3 */
    float step;
    source_update update; /* or NULL */
    void *user;
} source_motion;

/* A list of the field of n voxels (x fastest), outside beyond it, managed once. NULL: no memory, or an edge that is none of 3, 4, 8. Section 2.4. */
source_stl *source_create(int edge, float band, int guard, int stages, const float *field, const int32_t n[3]);
void source_destroy(source_stl **s);

/* One step and one management pass of so many units. 0, and a text in s->error: no memory, or a tile beyond the range of keys. 2.8, 2.9. */
int source_step(source_stl *s, const source_motion *motion, int units);

/* phi at a voxel anywhere, by a binary search and border flags. 2.5. */
float source_value(const source_stl *s, int32_t x, int32_t y, int32_t z);
int64_t source_active(const source_stl *s); /* voxels in the band */
int64_t source_bytes(const source_stl *s);  /* of `count` tiles, room to spare not counted */

/* The invariants I1 to I5 of 2.3: NULL, or what is broken. */
const char *source_broken(const source_stl *s);

/* Areas of the tile in direction i that touch the tile in the middle. 2.8. */
uint32_t source_trigger(int i);
/* The areas of the voxel at x, y, z of a tile. 2.7. */
uint32_t source_areas(const source_stl *s, int x, int y, int z);

#endif
