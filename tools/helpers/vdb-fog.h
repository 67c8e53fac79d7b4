// What tessera-vdb does with fog and other grids that are no level sets: a list of all, one as dense voxels, and one written. The library at the other end is
// src/formats/grids/vdb_fog.c, which says how they speak.
#pragma once

#include <openvdb/Grid.h>

// One line for each grid: name, type, class, half, the grid whose tree it shares, the box of its active voxels, how many there are; with tabs between them.
void list_grids(const char *path);
// The grid (nullptr: the first fog volume) to standard output; of vectors the component `channel`.
void read_fog(const char *path, const char *name, int channel);
// A grid from standard input into `path`, beside those of `old` (nullptr: alone). `path` is a name of the caller's, who gives it its own when all is well.
void write_fog(const char *path, const char *name, const char *old);
// The grid, and those of the file `old` (nullptr: none), none of which has its name, as the file `path`, which messages call `name`.
void write_grids(const char *path, const char *name, openvdb::GridBase::Ptr grid, const char *old);
