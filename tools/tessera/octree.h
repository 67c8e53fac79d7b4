/* tools/tessera/octree.h: the verb octree: what is asked for, its results, and series of frames. */
#ifndef TESSERA_OCTREE_H
#define TESSERA_OCTREE_H

#include "regions.h"

struct octree {
    cli_call *cli;
    tsr_read_options read;
    cli_regions regions;
    const char *output, *cubes, *components, *labels;
    const char *statistics, *volume; /* table, and what it is about */
    int connect;
    double shrink;
    tsr_region_tiling tiling;
    int tile_given;
    int32_t cap;
    tsr_file_kind kind;       /* of the input, unless it is a tree */
    tsr_vec3 spacing, origin; /* of meshes */
    int spacing_given;
    int32_t triangles;             /* > 0: the octree of the triangles themselves, so many a leaf at most */
    tsr_vec3 find, ray, direction; /* queries, in world coordinates */
    int find_given, ray_given, direction_given;
    int frames; /* each input is one of a series */
};

/* Lists, volume of the means and boxes, as far as they are asked for. Returns an exit code. */
int octree_write(const struct octree *o, const cli_tree *tree, tsr_context *context, int32_t channels);
/* Says how many values of a volume of real numbers, on the context's device or (of tiles) in host memory, no class holds as they are NaN. */
int octree_note_nan(const struct octree *o, tsr_context *context, const tsr_volume *volume, const char *path);
/* Refuses what is not for series of frames. Returns an exit code. */
int octree_frames_prepare(const struct octree *o);
/* Refuses outputs that are inputs, of a series under the names of all frames, and of these those that exist. Returns an exit code. */
int octree_check_outputs(const struct octree *o);
/* The tree of every input, each into the memory of the one before. Returns an exit code. */
int octree_frames(const struct octree *o);

#endif
