/* formats/grids/nvdb.h: the layout of NanoVDB files and grids, version 32 (public layout of NanoVDB 32.3 to 32.9), as offsets. Little-endian.
 *
 * File: segments of { header, per grid { metadata, name }, per grid its bytes, packed or not }. A grid is one block: grid data, tree, root with
 * its table, upper nodes (32^3 children), lower nodes (16^3), leaves (8^3 voxels); offsets inside are relative to the node that holds them. Children
 * and voxels run x slowest, z fastest. */
#ifndef TSR_FORMATS_NVDB_H
#define TSR_FORMATS_NVDB_H

#include <stdint.h>

#include "formats/format.h"

#define TSR_NVDB_MAGIC_0 0x304244566f6e614eull    /* "NanoVDB0": files and grids before 32.6 */
#define TSR_NVDB_MAGIC_GRID 0x314244566f6e614eull /* "NanoVDB1": grids */
#define TSR_NVDB_MAGIC_FILE 0x324244566f6e614eull /* "NanoVDB2": files */
enum { NVDB_MAJOR = 32, NVDB_MINOR = 3, NVDB_PATCH = 3 };

enum { NVDB_FILE_HEADER = 16, NVDB_FILE_VERSION = 8, NVDB_FILE_GRIDS = 12, NVDB_FILE_CODEC = 14 };
enum { NVDB_CODEC_NONE = 0, NVDB_CODEC_ZIP = 1, NVDB_CODEC_BLOSC = 2 };
enum {
    NVDB_META = 176,
    NVDB_META_GRID_SIZE = 0,
    NVDB_META_FILE_SIZE = 8,
    NVDB_META_NAME_KEY = 16,
    NVDB_META_VOXELS = 24,
    NVDB_META_TYPE = 32,
    NVDB_META_CLASS = 36,
    NVDB_META_WORLD = 40,
    NVDB_META_INDEX = 88,
    NVDB_META_VOXEL_SIZE = 112,
    NVDB_META_NAME_SIZE = 136,
    NVDB_META_NODES = 140,
    NVDB_META_TILES = 156,
    NVDB_META_CODEC = 168,
    NVDB_META_VERSION = 172
};

enum {
    NVDB_GRID = 672,
    NVDB_GRID_CHECKSUM = 8,
    NVDB_GRID_VERSION = 16,
    NVDB_GRID_FLAGS = 20,
    NVDB_GRID_COUNT = 28,
    NVDB_GRID_SIZE = 32,
    NVDB_GRID_NAME = 40,
    NVDB_GRID_MAP = 296,
    NVDB_GRID_WORLD = 560,
    NVDB_GRID_VOXEL_SIZE = 608,
    NVDB_GRID_CLASS = 632,
    NVDB_GRID_TYPE = 636,
    NVDB_GRID_BLIND = 640, /* offset of the heads of blind data, and their number */
    NVDB_GRID_BLINDS = 648
};
/* The head of blind data: where they lie, from this head on; how many; their type and class. */
enum {
    NVDB_BLIND = 288,
    NVDB_BLIND_AT = 0,
    NVDB_BLIND_COUNT = 8,
    NVDB_BLIND_CLASS = 24,
    NVDB_BLIND_TYPE = 28,
    NVDB_BLIND_NAME = 32,
    NVDB_BLIND_NAME_BYTES = 256,
    NVDB_GRID_NAME_CLASS = 3
};
enum {
    NVDB_MAP_MATRIX_F = 0,
    NVDB_MAP_INVERSE_F = 36,
    NVDB_MAP_VECTOR_F = 72,
    NVDB_MAP_TAPER_F = 84,
    NVDB_MAP_MATRIX = 88,
    NVDB_MAP_INVERSE = 160,
    NVDB_MAP_VECTOR = 232,
    NVDB_MAP_TAPER = 256
};
enum { NVDB_TREE = 64, NVDB_TREE_NODES = 32, NVDB_TREE_TILES = 44, NVDB_TREE_VOXELS = 56 }; /* four u64 offsets first: leaf, lower, upper, root */
enum { NVDB_ROOT = 64, NVDB_ROOT_TILES = 24, NVDB_ROOT_BACKGROUND = 28, NVDB_ROOT_STATS = 32 };
enum { NVDB_ROOT_TILE = 32, NVDB_ROOT_TILE_CHILD = 8, NVDB_ROOT_TILE_STATE = 16, NVDB_ROOT_TILE_VALUE = 20 };
/* Of index grids, whose values are numbers of 64 bits: nodes inside have the same table, the root and the leaves are others. */
enum { NVDB_INDEX_ROOT = 96, NVDB_INDEX_BACKGROUND = 32, NVDB_INDEX_TILE_VALUE = 24 };
enum {
    NVDB_INDEX_LEAF = 96,
    NVDB_INDEX_LEAF_AT = 80,
    NVDB_INDEX_LEAF_AT_OLD = 88 /* before 32.5 */,
    NVDB_INDEX_MASK = 64 /* more bytes of the retired kinds with a mask */,
    NVDB_INDEX_SPARSE_OLD = 16
};
enum { NVDB_UPPER = 270400, NVDB_UPPER_CELLS = 32768, NVDB_UPPER_CHILDREN = 4128, NVDB_UPPER_STATS = 8224, NVDB_UPPER_TABLE = 8256 };
enum { NVDB_LOWER = 33856, NVDB_LOWER_CELLS = 4096, NVDB_LOWER_CHILDREN = 544, NVDB_LOWER_STATS = 1056, NVDB_LOWER_TABLE = 1088 };
enum { NVDB_NODE_FLAGS = 24, NVDB_NODE_MASK = 32 };
enum {
    NVDB_LEAF = 2144,
    NVDB_LEAF_BOX = 12,
    NVDB_LEAF_FLAGS = 15,
    NVDB_LEAF_MASK = 16,
    NVDB_LEAF_STATS = 80,
    NVDB_LEAF_QUANTUM = 84,
    NVDB_LEAF_VALUES = 96
};

enum {
    NVDB_FLOAT = 1,
    NVDB_DOUBLE = 2,
    NVDB_HALF = 9,
    NVDB_FP4 = 13,
    NVDB_FP8 = 14,
    NVDB_FP16 = 15,
    NVDB_FPN = 16,
    NVDB_INDEX = 19,
    NVDB_ON_INDEX = 20,
    NVDB_ON_INDEX_MASK = 22
};
enum { NVDB_UNKNOWN_CLASS = 0, NVDB_LEVEL_SET = 1, NVDB_FOG = 2, NVDB_INDEX_GRID = 8 };
enum { NVDB_HAS_BOX = 1 << 1, NVDB_HAS_RANGE = 1 << 2, NVDB_HAS_MEAN = 1 << 3, NVDB_HAS_DEVIATION = 1 << 4, NVDB_BREADTH_FIRST = 1 << 5 };

/* Are its voxels numbers into an array of values? */
static inline int nvdb_is_index(int32_t type) { return type >= NVDB_INDEX && type <= NVDB_ON_INDEX_MASK; }

/* Key of a 4096^3 block in the root's table and back. */
static inline uint64_t nvdb_root_key(int32_t x, int32_t y, int32_t z)
{
    return (uint64_t)((uint32_t)z >> 12) | (uint64_t)((uint32_t)y >> 12) << 21 | (uint64_t)((uint32_t)x >> 12) << 42;
}
static inline int32_t nvdb_root_axis(uint64_t key, int axis) { return (int32_t)((uint32_t)(key >> (42 - 21 * axis)) << 12); }
static inline int32_t nvdb_upper_cell(int32_t x, int32_t y, int32_t z) { return (x >> 7 & 31) << 10 | (y >> 7 & 31) << 5 | (z >> 7 & 31); }
static inline int32_t nvdb_lower_cell(int32_t x, int32_t y, int32_t z) { return (x >> 3 & 15) << 8 | (y >> 3 & 15) << 4 | (z >> 3 & 15); }

/* Is it a file of fog volumes alone, which are dense volumes here (nvdb_fog.c)? */
int tsr_nvdb_is_fog(const tsr_signature *signature);
/* The voxels that are not 0 of a volume of float32, with the metadata nvdb.name as its name (nvdb_write.c). */
tsr_status tsr_nvdb_write_fog(const tsr_volume *volume, const char *path, const tsr_write_options *options);
tsr_status tsr_nvdb_add_fog(const tsr_volume *volume, const char *path, const tsr_write_options *options); /* beside the grids of the file */
tsr_status tsr_read_nvdb(tsr_input *input, const tsr_tiles_read_options *options, tsr_context *context, tsr_tiles_extras *extras, tsr_tiles **tiles);
tsr_status tsr_describe_nvdb(tsr_input *input, const tsr_tiles_read_options *options, tsr_tiles_extras *extras, tsr_tiles_file_info *info);

#endif
