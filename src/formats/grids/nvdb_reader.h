/* formats/grids/nvdb_reader.h: what the files of the NanoVDB reader share: nvdb_read.c (file, tree, values) and nvdb_seams.c (insides that end without a band). */
#ifndef TSR_FORMATS_NVDB_READER_H
#define TSR_FORMATS_NVDB_READER_H

#include "tiles/tiles_build.h"
#include "io/little_endian.h"
#include "formats/format.h"
#include "formats/grids/nvdb.h"

typedef struct tsr_nvdb_leaf {
    uint64_t key;
    const uint8_t *at;
    float value;
} tsr_nvdb_leaf; /* at NULL: all voxels have this value */

typedef struct tsr_nvdb_reader {
    tsr_input *input;
    const tsr_tiles_read_options *options;
    tsr_contents *contents; /* not NULL: all grids are noted here, and none is chosen */
    int fog; /* a fog volume is wanted: nvdb_fog.c */
    const char *name;
    const uint8_t *bytes;
    int64_t size;
    /* The grid chosen. */
    char grid_name[256];
    int64_t grid_at, grid_bytes, grid_size; /* where it lies in the file, packed and unpacked */
    uint16_t codec;
    uint32_t version;
    int32_t grids;
    tsr_block unpacked;
    const uint8_t *grid, *root;
    int32_t type, grid_class;
    int64_t leaf_bytes; /* 0: of FpN, each its own */
    uint32_t nodes[3];  /* leaves, lowers, uppers */
    uint32_t root_tiles;
    uint64_t voxels;
    float background;
    tsr_geometry geometry;
    int64_t root_bytes;         /* its head */
    const uint8_t **root_order; /* tiles of the root by key */
    /* Of an index grid: the channel of values that is read (nvdb_index.c). */
    const uint8_t *values;
    uint64_t value_count;
    int32_t value_type, channels;
    int64_t channel; /* which of them is wanted */
    const char *channel_name;
    tsr_nvdb_leaf *leaf;
    int64_t leaves, room;
    int64_t lowers, uppers; /* visited */
} tsr_nvdb_reader;

/* nvdb_index.c: finds the values of an index grid, those of channel `channel` where there are several; the value of a number, 0 beyond the channel; a box of voxels, x fastest. */
tsr_status tsr_nvdb_open_values(tsr_nvdb_reader *r, int64_t channel);
float tsr_nvdb_value(const tsr_nvdb_reader *r, uint64_t number);
tsr_status tsr_nvdb_fill_indexed(const tsr_nvdb_reader *r, const int64_t low[3], tsr_size3 size, float *to);
/* The value of a tile of the root or inside. */
static inline float tsr_nvdb_tile(const tsr_nvdb_reader *r, const uint8_t *at)
{
    return nvdb_is_index(r->type) ? tsr_nvdb_value(r, tsr_get_u64(at)) : tsr_get_f32(at);
}

static inline int tsr_nvdb_bit(const uint8_t *mask, int32_t i) { return mask[i >> 3] >> (i & 7) & 1; }

/* NanoVDB's words for types and classes of grids; one of the list (nvdb_list.c). */
const char *tsr_nvdb_type_name(int32_t type);
const char *tsr_nvdb_class_name(int32_t grid_class);
tsr_status tsr_nvdb_note_grid(tsr_contents *contents, const uint8_t *meta, const char *name);

/* Copies the grids of the file `path`, if it is there, none of which is called `name`: a segment may follow. */
tsr_status tsr_nvdb_keep_grids(const char *path, const char *name, tsr_output *out);

/* Appends the leaf at a voxel; TSR_ERROR_UNSUPPORTED beyond the coordinates of tiles. */
tsr_status tsr_nvdb_add_leaf(tsr_nvdb_reader *r, int32_t x, int32_t y, int32_t z, const uint8_t *at, float value);
/* The tile of the root of a voxel, NULL if there is none. */
const uint8_t *tsr_nvdb_root_tile(const tsr_nvdb_reader *r, int32_t x, int32_t y, int32_t z);
/* Finds the grid, unpacks it, reads its head and walks over the tree: the leaves in order, those of one value included. */
tsr_status tsr_nvdb_open(tsr_nvdb_reader *r);
/* The grids of the file into r->contents. */
tsr_status tsr_nvdb_list(tsr_nvdb_reader *r);
tsr_status tsr_nvdb_leaves(tsr_nvdb_reader *r);
void tsr_nvdb_close(tsr_nvdb_reader *r);
/* Voxel n (x << 6 | y << 3 | z) of a leaf in the file. */
float tsr_nvdb_leaf_value(const tsr_nvdb_reader *r, const uint8_t *leaf, int32_t n);
/* TSR_ERROR_MEMORY if the list of the leaves so far is beyond the limit. */
tsr_status tsr_nvdb_check_memory(const tsr_nvdb_reader *r);

/* Cells of the tree that are inside and touch cells that are outside, face, edge or corner: both become leaves of one value, so that the list holds the
 * jump between them. Closed level sets have none. After the walk, whose checks it relies on; the leaves are not in order then. */
tsr_status tsr_nvdb_add_seams(tsr_nvdb_reader *r);

#endif
