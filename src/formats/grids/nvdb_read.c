/* formats/grids/nvdb_read.c: NanoVDB level sets (float32, and the quantised Fp4, Fp8, Fp16, FpN) into a tile list: a leaf is a tile of edge 8.
 *
 * Nothing in the file is believed: every offset is checked before it is followed, and no node is visited more often than there are nodes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "formats/extras.h"
#include "io/inflate.h"
#include "formats/grids/nvdb_reader.h"

/* ---- the file: segments, the grid wanted ------------------------------------------------------------------------------------------------- */

/* One grid's metadata at `at`; *next = behind its name. */
static tsr_status read_grid_meta(const tsr_nvdb_reader *r, int64_t at, int64_t *next, char name[256])
{
    if (r->size - at < NVDB_META) TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: metadata of a grid at byte %lld", r->name, (long long)at);
    const int64_t length = tsr_get_u32(r->bytes + at + NVDB_META_NAME_SIZE);
    if (length > r->size - at - NVDB_META)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: name of a grid has %lld bytes, the file %lld more", r->name, (long long)length,
                 (long long)(r->size - at - NVDB_META));
    size_t shown = (size_t)tsr_min64(length, 255);
    memcpy(name, r->bytes + at + NVDB_META, shown);
    name[shown] = 0;
    *next = at + NVDB_META + length;
    return TSR_OK;
}

static int wanted(const tsr_nvdb_reader *r, const uint8_t *meta, const char *name)
{
    int32_t type = tsr_get_i32(meta + NVDB_META_TYPE), grid_class = tsr_get_i32(meta + NVDB_META_CLASS);
    if (r->options->grid) return !strcmp(name, r->options->grid);
    if (r->fog) return ((type == NVDB_FLOAT || (type >= NVDB_FP4 && type <= NVDB_FPN)) && grid_class == NVDB_FOG) || nvdb_is_index(type);
    return (type == NVDB_FLOAT || (type >= NVDB_FP4 && type <= NVDB_FPN)) && (grid_class == NVDB_LEVEL_SET || grid_class == NVDB_UNKNOWN_CLASS);
}

static tsr_status take_grid(tsr_nvdb_reader *r, const uint8_t *meta, const char *name, int64_t data, uint16_t codec)
{
    memcpy(r->grid_name, name, sizeof r->grid_name);
    r->grid_at = data;
    r->grid_size = tsr_get_i64(meta + NVDB_META_GRID_SIZE);
    r->grid_bytes = tsr_get_i64(meta + NVDB_META_FILE_SIZE);
    r->codec = codec;
    if (r->grid_size < NVDB_GRID + NVDB_TREE + NVDB_ROOT || r->grid_bytes < 0 || r->grid_bytes > r->size - data)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: grid '%s' has %lld bytes at byte %lld, the file has %lld", r->name, name, (long long)r->grid_bytes,
                 (long long)data, (long long)r->size);
    return TSR_OK;
}

/* Of a file without the kind of grid that is wanted: what the first one is. */
static tsr_status nothing_wanted(const tsr_nvdb_reader *r, const uint8_t *meta)
{
    char name[256];
    int64_t next;
    TSR_TRY(read_grid_meta(r, meta - r->bytes, &next, name));
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: none of %d grids is a %s of float32 or Fp4, Fp8, Fp16, FpN%s%.80s' is %s, %s", r->name, r->grids,
             r->fog ? "fog volume" : "level set", r->grids > 1 ? ": the first, '" : ": '", name, tsr_nvdb_type_name(tsr_get_i32(meta + NVDB_META_TYPE)),
             tsr_nvdb_class_name(tsr_get_i32(meta + NVDB_META_CLASS)));
}

static tsr_status read_segments(tsr_nvdb_reader *r)
{
    char name[256];
    const uint8_t *first = NULL;
    int found = 0;
    for (int64_t at = 0; at < r->size;) {
        const uint8_t *h = r->bytes + at;
        if (r->size - at < NVDB_FILE_HEADER) TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: segment header at byte %lld", r->name, (long long)at);
        const uint64_t magic = tsr_get_u64(h);
        r->version = tsr_get_u32(h + NVDB_FILE_VERSION);
        const uint16_t grids = tsr_get_u16(h + NVDB_FILE_GRIDS), codec = tsr_get_u16(h + NVDB_FILE_CODEC);
        if (magic != TSR_NVDB_MAGIC_0 && magic != TSR_NVDB_MAGIC_FILE)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: no NanoVDB segment at byte %lld", r->name, (long long)at);
        if (r->version >> 21 != NVDB_MAJOR)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: NanoVDB version %u.%u, expected %d.x", r->name, r->version >> 21, r->version >> 10 & 2047,
                     (int)NVDB_MAJOR);
        if (!grids) TSR_FAIL(TSR_ERROR_FORMAT, "%s: segment at byte %lld without a grid", r->name, (long long)at);
        int64_t data = at + NVDB_FILE_HEADER, meta = data;
        if (!first) first = r->bytes + meta;
        for (int g = 0; g < grids; g++) TSR_TRY(read_grid_meta(r, data, &data, name)); /* the data follow the last of them */
        for (int g = 0; g < grids; g++) {
            const uint8_t *m = r->bytes + meta;
            const int64_t bytes = tsr_get_i64(m + NVDB_META_FILE_SIZE);
            TSR_TRY(read_grid_meta(r, meta, &meta, name));
            if (bytes < 0 || bytes > r->size - data)
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: grid '%s' has %lld bytes at byte %lld, the file has %lld", r->name, name, (long long)bytes,
                         (long long)data, (long long)r->size);
            if (r->contents) TSR_TRY(tsr_nvdb_note_grid(r->contents, m, name));
            else if (!found && wanted(r, m, name)) {
                TSR_TRY(take_grid(r, m, name, data, codec));
                found = 1;
            }
            data += bytes;
            r->grids++;
        }
        at = data;
    }
    if (!r->grids) TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: the file is empty", r->name);
    if (r->contents) return TSR_OK;
    if (!found && r->options->grid) TSR_FAIL(TSR_ERROR_FORMAT, "%s: no grid named '%.80s' among %d", r->name, r->options->grid, r->grids);
    if (!found) TSR_TRY(nothing_wanted(r, first));
    return TSR_OK;
}

/* Grid bytes at 8-byte granularity as they lie in the file, or unpacked. */
static tsr_status open_grid(tsr_nvdb_reader *r)
{
    const uint8_t *from = r->bytes + r->grid_at;
    if (r->codec == NVDB_CODEC_NONE) {
        if (r->grid_bytes != r->grid_size)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: grid '%s' has %lld bytes in the file, %lld in memory", r->name, r->grid_name, (long long)r->grid_bytes,
                     (long long)r->grid_size);
        r->grid = from;
        return TSR_OK;
    }
    if (r->codec != NVDB_CODEC_ZIP)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: codec is %s, expected none or zip", r->name, r->codec == NVDB_CODEC_BLOSC ? "blosc" : "unknown");
    const int64_t packed = r->grid_bytes >= 8 ? tsr_get_i64(from) : -1;
    if (packed < 0 || packed != r->grid_bytes - 8 || r->grid_size / TSR_DEFLATE_MOST_RATIO > packed)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: grid '%s' of %lld bytes is packed into %lld, the file says %lld", r->name, r->grid_name,
                 (long long)r->grid_size, (long long)packed, (long long)r->grid_bytes);
    TSR_TRY(tsr_input_allocate(r->input, r->grid_size, "grid", &r->unpacked));
    TSR_TRY(tsr_inflate_exactly(r->name, r->options->progress.report ? &r->options->progress : NULL, from + 8, (size_t)packed, TSR_WRAPPER_ZLIB, 0,
                                (uint8_t *)r->unpacked.data, (size_t)r->grid_size, "grid"));
    r->grid = (const uint8_t *)r->unpacked.data;
    return TSR_OK;
}

/* ---- the grid: header, tree, root ---------------------------------------------------------------------------------------------------------- */

static tsr_status read_head(tsr_nvdb_reader *r)
{
    const uint8_t *g = r->grid, *tree = g + NVDB_GRID;
    const uint64_t magic = tsr_get_u64(g);
    const int64_t room = r->grid_size - NVDB_GRID, root = tsr_get_i64(tree + 24);
    if (magic != TSR_NVDB_MAGIC_0 && magic != TSR_NVDB_MAGIC_GRID)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: grid '%s' does not begin as one", r->name, r->grid_name);
    r->type = tsr_get_i32(g + NVDB_GRID_TYPE);
    r->grid_class = tsr_get_i32(g + NVDB_GRID_CLASS);
    const int index = nvdb_is_index(r->type);
    if (index && !r->fog)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                 "%s: grid '%s' is an index grid (%s), whose values are read as a volume (format nvdb-fog), not as a level set", r->name,
                 r->grid_name, tsr_nvdb_type_name(r->type));
    if (!index && r->type != NVDB_FLOAT && (r->type < NVDB_FP4 || r->type > NVDB_FPN))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: grid '%s' has element type %d (%s), expected float32 or Fp4, Fp8, Fp16, FpN", r->name, r->grid_name,
                 r->type, tsr_nvdb_type_name(r->type));
    if (!r->fog && r->grid_class != NVDB_LEVEL_SET && r->grid_class != NVDB_UNKNOWN_CLASS)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: grid '%s' is %s, expected a level set", r->name, r->grid_name,
                 r->grid_class == NVDB_FOG ? "a fog volume" : "of another class");
    r->root_bytes = index ? NVDB_INDEX_ROOT : NVDB_ROOT;
    r->leaf_bytes = index                   ? NVDB_INDEX_LEAF + (r->type > NVDB_ON_INDEX ? NVDB_INDEX_MASK : 0)
                    : r->type == NVDB_FLOAT ? NVDB_LEAF
                    : r->type == NVDB_FPN   ? 0
                                            : NVDB_LEAF_VALUES + (256 << (r->type - NVDB_FP4));
    for (int k = 0; k < 3; k++) r->nodes[k] = tsr_get_u32(tree + NVDB_TREE_NODES + 4 * k);
    r->voxels = tsr_get_u64(tree + NVDB_TREE_VOXELS);
    if (root < NVDB_TREE || root > room - r->root_bytes)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: root lies at byte %lld of %lld", r->name, (long long)root, (long long)room);
    r->root = tree + root;
    r->root_tiles = tsr_get_u32(r->root + NVDB_ROOT_TILES);
    if (r->root_tiles > (room - root - r->root_bytes) / NVDB_ROOT_TILE)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: root has %u tiles, more than the grid holds", r->name, r->root_tiles);
    const int64_t least =
        r->nodes[2] * (int64_t)NVDB_UPPER + r->nodes[1] * (int64_t)NVDB_LOWER + r->nodes[0] * (r->leaf_bytes ? r->leaf_bytes : NVDB_LEAF_VALUES + 64);
    if (least > room)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %u + %u + %u nodes need %lld bytes, the grid has %lld", r->name, r->nodes[0], r->nodes[1], r->nodes[2],
                 (long long)least, (long long)room);
    if (index) TSR_TRY(tsr_nvdb_open_values(r, r->channel));
    r->background = index ? tsr_nvdb_value(r, tsr_get_u64(r->root + NVDB_INDEX_BACKGROUND)) : tsr_get_f32(r->root + NVDB_ROOT_BACKGROUND);
    if (r->fog && !isfinite(r->background)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: background is %g, expected a number", r->name, (double)r->background);
    if (!r->fog && !(r->background > 0 && isfinite(r->background)))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: background is %g, expected the half width of a level set", r->name, (double)r->background);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) r->geometry.affine[i][k] = tsr_get_f64(g + NVDB_GRID_MAP + NVDB_MAP_MATRIX + 8 * (3 * i + k));
        r->geometry.affine[i][3] = tsr_get_f64(g + NVDB_GRID_MAP + NVDB_MAP_VECTOR + 8 * i);
    }
    r->geometry.space = TSR_SPACE_NONE;
    if (tsr_geometry_check(&r->geometry) != TSR_OK) return TSR_FAILED(TSR_ERROR_FORMAT, "%s: %s", r->name, tsr_error_message());
    return TSR_OK;
}

static int by_root_key(const void *a, const void *b)
{
    uint64_t x = tsr_get_u64(*(const uint8_t *const *)a), y = tsr_get_u64(*(const uint8_t *const *)b);
    return x < y ? -1 : x > y;
}

static tsr_status order_root(tsr_nvdb_reader *r)
{
    r->root_order = (const uint8_t **)malloc(((size_t)r->root_tiles + 1) * sizeof *r->root_order);
    if (!r->root_order) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %u tiles of the root", r->name, r->root_tiles);
    for (uint32_t i = 0; i < r->root_tiles; i++) r->root_order[i] = r->root + r->root_bytes + (size_t)i * NVDB_ROOT_TILE;
    qsort(r->root_order, r->root_tiles, sizeof *r->root_order, by_root_key);
    for (uint32_t i = 1; i < r->root_tiles; i++)
        if (tsr_get_u64(r->root_order[i]) == tsr_get_u64(r->root_order[i - 1]))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: root has two tiles with key %#llx", r->name, (unsigned long long)tsr_get_u64(r->root_order[i]));
    return TSR_OK;
}

/* ---- the walk ------------------------------------------------------------------------------------------------------------------------------ */

/* The node `offset` bytes behind `from`, if it lies in the grid. */
static tsr_status follow(const tsr_nvdb_reader *r, const uint8_t *from, int64_t offset, int64_t bytes, const char *what, const uint8_t **to)
{
    const int64_t at = from - r->grid;
    int64_t place;
    if (__builtin_add_overflow(at, offset, &place) || place < NVDB_GRID + NVDB_TREE || bytes > r->grid_size - place)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: a %s lies at byte %lld of grid '%s', which has %lld", r->name, what, (long long)place, r->grid_name,
                 (long long)r->grid_size);
    *to = r->grid + place;
    return TSR_OK;
}

tsr_status tsr_nvdb_add_leaf(tsr_nvdb_reader *r, int32_t x, int32_t y, int32_t z, const uint8_t *at, float value)
{
    const int32_t limit = (TSR_KEY_BIAS - 2) * 4; /* in voxels, also for edge 4 */
    if (x < -limit || y < -limit || z < -limit || x > limit || y > limit || z > limit)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: a leaf lies at voxel (%d, %d, %d), expected -%d to %d", r->name, x, y, z, limit, limit);
    if (r->leaves == r->room) {
        int64_t room = 2 * r->room + 1024;
        tsr_nvdb_leaf *grown = (tsr_nvdb_leaf *)realloc(r->leaf, (size_t)room * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld leaves", r->name, (long long)room);
        r->leaf = grown;
        r->room = room;
    }
    r->leaf[r->leaves++] = (tsr_nvdb_leaf){ tsr_key_make(x >> 3, y >> 3, z >> 3), at, value };
    return TSR_OK;
}

static tsr_status walk_lower(tsr_nvdb_reader *r, const uint8_t *node, int32_t x0, int32_t y0, int32_t z0, int64_t *real)
{
    for (int32_t c = 0; c < NVDB_LOWER_CELLS; c++) {
        const int32_t x = x0 + (c >> 8) * 8, y = y0 + (c >> 4 & 15) * 8, z = z0 + (c & 15) * 8;
        const uint8_t *cell = node + NVDB_LOWER_TABLE + 8 * c, *leaf;
        if (tsr_nvdb_bit(node + NVDB_LOWER_CHILDREN, c)) {
            const int64_t offset = tsr_get_i64(cell);
            TSR_TRY(follow(r, node, offset, r->leaf_bytes ? r->leaf_bytes : NVDB_LEAF_VALUES, "leaf", &leaf));
            if (r->type == NVDB_FPN) {
                const int bits = leaf[NVDB_LEAF_FLAGS] >> 5;
                if (bits > 4) TSR_FAIL(TSR_ERROR_FORMAT, "%s: a leaf of grid '%s' has codes of %d bits", r->name, r->grid_name, 1 << bits);
                TSR_TRY(follow(r, node, offset, NVDB_LEAF_VALUES + (64 << bits), "leaf", &leaf));
            }
            if (++*real > (int64_t)r->nodes[0]) TSR_FAIL(TSR_ERROR_FORMAT, "%s: more than %u leaves are referred to", r->name, r->nodes[0]);
            TSR_TRY(tsr_nvdb_add_leaf(r, x, y, z, leaf, 0));
        } else if (tsr_nvdb_bit(node + NVDB_NODE_MASK, c)) { /* an active tile: a leaf of one value */
            const float value = tsr_nvdb_tile(r, cell);
            if (!isfinite(value)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: a tile of grid '%s' is %g", r->name, r->grid_name, (double)value);
            if (r->fog || (value > -r->background && value < r->background)) TSR_TRY(tsr_nvdb_add_leaf(r, x, y, z, NULL, value));
        }
    }
    return TSR_OK;
}

/* Of a fog volume: the tile as leaves of one value. */
static tsr_status add_tile(tsr_nvdb_reader *r, float value, int32_t x0, int32_t y0, int32_t z0)
{
    if (!isfinite(value)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: a tile of grid '%s' is %g", r->name, r->grid_name, (double)value);
    for (int32_t c = 0; c < 4096; c++) TSR_TRY(tsr_nvdb_add_leaf(r, x0 + (c >> 8) * 8, y0 + (c >> 4 & 15) * 8, z0 + (c & 15) * 8, NULL, value));
    return TSR_OK;
}

/* An active tile with a value inside the band that is larger than a leaf: not seen in level sets, and it would be 4096 leaves or more. */
static tsr_status check_tile(const tsr_nvdb_reader *r, float value, int32_t width)
{
    if (value > -r->background && value < r->background)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: an active tile of %d^3 voxels has the value %g inside the band", r->name, width, (double)value);
    return TSR_OK;
}

static tsr_status walk_upper(tsr_nvdb_reader *r, const uint8_t *node, int32_t x0, int32_t y0, int32_t z0, int64_t *real)
{
    for (int32_t c = 0; c < NVDB_UPPER_CELLS; c++) {
        const uint8_t *cell = node + NVDB_UPPER_TABLE + 8 * c, *lower;
        if (tsr_nvdb_bit(node + NVDB_UPPER_CHILDREN, c)) {
            TSR_TRY(follow(r, node, tsr_get_i64(cell), NVDB_LOWER, "lower node", &lower));
            if (++r->lowers > (int64_t)r->nodes[1]) TSR_FAIL(TSR_ERROR_FORMAT, "%s: more than %u lower nodes are referred to", r->name, r->nodes[1]);
            TSR_TRY(walk_lower(r, lower, x0 + (c >> 10) * 128, y0 + (c >> 5 & 31) * 128, z0 + (c & 31) * 128, real));
        } else if (tsr_nvdb_bit(node + NVDB_NODE_MASK, c)) {
            if (r->fog) TSR_TRY(add_tile(r, tsr_nvdb_tile(r, cell), x0 + (c >> 10) * 128, y0 + (c >> 5 & 31) * 128, z0 + (c & 31) * 128));
            else TSR_TRY(check_tile(r, tsr_get_f32(cell), 128));
        }
    }
    return TSR_OK;
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = ((const tsr_nvdb_leaf *)a)->key, y = ((const tsr_nvdb_leaf *)b)->key;
    return x < y ? -1 : x > y;
}

static tsr_status walk(tsr_nvdb_reader *r)
{
    int64_t real = 0;
    for (uint32_t i = 0; i < r->root_tiles; i++) {
        const uint8_t *tile = r->root_order[i], *upper;
        const uint64_t key = tsr_get_u64(tile);
        const int64_t child = tsr_get_i64(tile + NVDB_ROOT_TILE_CHILD);
        if (child) {
            TSR_TRY(follow(r, r->root, child, NVDB_UPPER, "upper node", &upper));
            if (++r->uppers > (int64_t)r->nodes[2]) TSR_FAIL(TSR_ERROR_FORMAT, "%s: more than %u upper nodes are referred to", r->name, r->nodes[2]);
            TSR_TRY(walk_upper(r, upper, nvdb_root_axis(key, 0), nvdb_root_axis(key, 1), nvdb_root_axis(key, 2), &real));
        } else if (tsr_get_u32(tile + NVDB_ROOT_TILE_STATE)) {
            if (r->fog) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: a fog volume with a tile of 4096^3 voxels", r->name);
            TSR_TRY(check_tile(r, tsr_get_f32(tile + NVDB_ROOT_TILE_VALUE), 4096));
        }
        TSR_PROGRESS(&r->options->progress, (double)i / r->root_tiles, "reading the tree");
    }
    return TSR_OK;
}

/* By key; what was added for seams may be there twice. Two root keys may mean the same block of coordinates. */
static tsr_status order_leaves(tsr_nvdb_reader *r)
{
    int64_t kept = 0;
    if (r->leaves) qsort(r->leaf, (size_t)r->leaves, sizeof *r->leaf, by_key);
    for (int64_t i = 0; i < r->leaves; i++) {
        if (kept && r->leaf[i].key == r->leaf[kept - 1].key) {
            if (r->leaf[i].at || r->leaf[kept - 1].at || r->leaf[i].value != r->leaf[kept - 1].value)
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: two leaves lie at the same place", r->name);
            continue;
        }
        r->leaf[kept++] = r->leaf[i];
    }
    r->leaves = kept;
    return TSR_OK;
}

/* ---- values and signs ------------------------------------------------------------------------------------------------------------------------ */

const uint8_t *tsr_nvdb_root_tile(const tsr_nvdb_reader *r, int32_t x, int32_t y, int32_t z)
{
    const uint64_t key = nvdb_root_key(x, y, z);
    uint32_t low = 0, high = r->root_tiles;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (tsr_get_u64(r->root_order[middle]) < key) low = middle + 1;
        else high = middle;
    }
    return low < r->root_tiles && tsr_get_u64(r->root_order[low]) == key ? r->root_order[low] : NULL;
}

/* Inside or outside at a voxel where there is no leaf. All offsets on the way were checked by the walk. */
static int inside_at(const tsr_nvdb_reader *r, int32_t x, int32_t y, int32_t z)
{
    const uint8_t *tile = tsr_nvdb_root_tile(r, x, y, z);
    if (!tile) return 0;
    const int64_t child = tsr_get_i64(tile + NVDB_ROOT_TILE_CHILD);
    if (!child) return tsr_get_f32(tile + NVDB_ROOT_TILE_VALUE) < 0;
    const uint8_t *upper = r->root + child, *cell = upper + NVDB_UPPER_TABLE + 8 * nvdb_upper_cell(x, y, z);
    if (!tsr_nvdb_bit(upper + NVDB_UPPER_CHILDREN, nvdb_upper_cell(x, y, z))) return tsr_get_f32(cell) < 0;
    const uint8_t *lower = upper + tsr_get_i64(cell);
    cell = lower + NVDB_LOWER_TABLE + 8 * nvdb_lower_cell(x, y, z);
    return tsr_nvdb_bit(lower + NVDB_LOWER_CHILDREN, nvdb_lower_cell(x, y, z)) ? 0 : tsr_get_f32(cell) < 0;
}

float tsr_nvdb_leaf_value(const tsr_nvdb_reader *r, const uint8_t *leaf, int32_t n)
{
    const uint8_t *values = leaf + NVDB_LEAF_VALUES;
    if (r->type == NVDB_FLOAT) return tsr_get_f32(values + 4 * n);
    const int bits = r->type == NVDB_FPN ? leaf[NVDB_LEAF_FLAGS] >> 5 : 2 + r->type - NVDB_FP4; /* 2^bits bits each */
    const uint32_t code =
        tsr_get_u32(values + 4 * (n >> (5 - bits))) >> ((n & ((1 << (5 - bits)) - 1)) << bits) & (uint32_t)((1ull << (1 << bits)) - 1);
    return (float)code * tsr_get_f32(leaf + NVDB_LEAF_QUANTUM) + tsr_get_f32(leaf + NVDB_LEAF_STATS);
}

/* A leaf as 512 values, x fastest. 0 if an active one is not finite. */
static int leaf_values(const tsr_nvdb_reader *r, const tsr_nvdb_leaf *leaf, float *to)
{
    const float band = r->background;
    int good = 1;
    for (int32_t i = 0; i < 512; i++) {
        const int32_t n = (i & 7) << 6 | (i & 56) | i >> 6; /* voxel (x, y, z) of ours is x << 6 | y << 3 | z of theirs */
        float v = leaf->at ? tsr_nvdb_leaf_value(r, leaf->at, n) : leaf->value;
        const int active = !leaf->at || tsr_nvdb_bit(leaf->at + NVDB_LEAF_MASK, n);
        good &= !active || isfinite(v);
        to[i] = !active ? v < 0 ? -band : band : tsr_clampf(v, -band, band);
    }
    return good;
}

struct job {
    const tsr_nvdb_reader *r;
    int32_t edge;
    tsr_tiles *tiles;
    float *to; /* staging or the list, values of tile `first` and the following */
    int64_t first;
    uint64_t *keys;
    const int64_t *source; /* edge 4: leaf << 3 | octant of a tile */
    uint32_t *inside;
    int64_t count, bad;
};

static void values_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct job *j = (struct job *)user;
    float whole[512];
    int64_t last = -1;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const int64_t at = j->first + i, leaf = j->source ? j->source[at] >> 3 : at;
        float *to = j->to + (i << (j->edge == 8 ? 9 : 6));
        if (leaf != last && !leaf_values(j->r, &j->r->leaf[leaf], whole)) __atomic_store_n(&j->bad, leaf, __ATOMIC_RELAXED);
        last = leaf;
        if (!j->source) {
            memcpy(to, whole, sizeof whole);
        } else {
            const int o = (int)(j->source[at] & 7);
            for (int v = 0; v < 64; v++)
                to[v] = whole[((v >> 4) + (o >> 2) * 4) * 64 + ((v >> 2 & 3) + (o >> 1 & 1) * 4) * 8 + (v & 3) + (o & 1) * 4];
        }
    }
}

static void signs_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct job *j = (struct job *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        uint32_t word = 0;
        for (int d = 0; d < TSR_TILE_DIRECTIONS; d++) {
            const uint64_t key = j->keys[i] + (uint64_t)tsr_key_offset(d);
            const int32_t at = tsr_key_lower_bound(j->keys, (int32_t)j->count, key);
            if (at < j->count && j->keys[at] == key) continue;
            word |= (uint32_t)inside_at(j->r, tsr_key_x(key) * j->edge, tsr_key_y(key) * j->edge, tsr_key_z(key) * j->edge) << d;
        }
        j->inside[i] = word;
    }
}

struct piece {
    uint64_t key;
    int64_t source;
};
static int by_piece(const void *a, const void *b)
{
    uint64_t x = ((const struct piece *)a)->key, y = ((const struct piece *)b)->key;
    return x < y ? -1 : x > y;
}

/* Keys of the tiles, and for edge 4 which octant of which leaf each one is. */
static tsr_status make_keys(const tsr_nvdb_reader *r, struct job *j, int64_t **source)
{
    const int64_t parts = j->edge == 8 ? 1 : 8;
    struct piece *piece = NULL;
    j->count = r->leaves * parts;
    j->keys = (uint64_t *)malloc(((size_t)j->count + 1) * sizeof *j->keys);
    j->inside = (uint32_t *)malloc(((size_t)j->count + 1) * sizeof *j->inside);
    if (parts > 1) {
        piece = (struct piece *)malloc(((size_t)j->count + 1) * sizeof *piece);
        *source = (int64_t *)malloc(((size_t)j->count + 1) * sizeof **source);
    }
    if (!j->keys || !j->inside || (parts > 1 && (!piece || !*source))) {
        free(piece);
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld tiles", r->name, (long long)j->count);
    }
    for (int64_t i = 0; i < r->leaves; i++) {
        const uint64_t key = r->leaf[i].key;
        if (parts == 1) j->keys[i] = key;
        for (int o = 0; parts > 1 && o < 8; o++)
            piece[8 * i + o] =
                (struct piece){ tsr_key_make(2 * tsr_key_x(key) + (o & 1), 2 * tsr_key_y(key) + (o >> 1 & 1), 2 * tsr_key_z(key) + (o >> 2)),
                                i << 3 | o };
    }
    if (parts > 1) {
        qsort(piece, (size_t)j->count, sizeof *piece, by_piece);
        for (int64_t i = 0; i < j->count; i++) {
            j->keys[i] = piece[i].key;
            (*source)[i] = piece[i].source;
        }
        free(piece);
    }
    j->source = *source;
    return TSR_OK;
}

static tsr_status put_values(const tsr_nvdb_reader *r, tsr_context *context, struct job *j)
{
    enum { BATCH = 32768 };
    const int shift = j->edge == 8 ? 9 : 6;
    float *staging = NULL;
    tsr_status status = TSR_OK;
    j->bad = -1;
    if (!tsr_tiles_host_readable(j->tiles)) {
        staging = (float *)malloc(((size_t)tsr_min64(BATCH, j->count) * sizeof *staging << shift) + 1);
        if (!staging) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory to read the leaves", r->name);
    }
    for (int64_t first = 0; first < j->count && status == TSR_OK; first += BATCH) {
        const int64_t n = tsr_min64(BATCH, j->count - first);
        j->first = first;
        j->to = staging ? staging : tsr_tiles_direct(j->tiles, first);
        tsr_parallel(context->threads, n, 256, values_range, j);
        if (j->bad >= 0) {
            const uint64_t key = r->leaf[j->bad].key;
            status = TSR_FAILED(TSR_ERROR_FORMAT, "%s: the leaf at voxel (%d, %d, %d) has an active value that is not finite", r->name,
                                tsr_key_x(key) * 8, tsr_key_y(key) * 8, tsr_key_z(key) * 8);
        }
        if (status == TSR_OK && staging) {
            status = tsr_tiles_put(j->tiles, first, n, staging);
            if (status == TSR_OK) status = context->backend->synchronize(context->queue);
        }
        if (status == TSR_OK && tsr_progress_report(&r->options->progress, (double)(first + n) / (double)j->count, "reading tiles"))
            status = TSR_FAILED(TSR_ERROR_CANCELLED, "cancelled during reading tiles");
    }
    free(staging);
    return status;
}

static tsr_status make_list(tsr_nvdb_reader *r, tsr_context *context, tsr_tiles **tiles)
{
    struct job j = { .r = r, .edge = r->options->edge ? r->options->edge : 8 };
    int64_t *source = NULL;
    tsr_tiles_frame frame = { .geometry = r->geometry, .options = TSR_TILES_OPTIONS, .inside_absent = -1 };
    tsr_status status;
    frame.options.edge = j.edge;
    frame.options.band = (double)r->background;
    TSR_TRY_GOTO(make_keys(r, &j, &source), done);
    if (j.count) tsr_parallel(context->threads, j.count, 1024, signs_range, &j);
    frame.count = j.count;
    frame.keys = j.keys;
    frame.inside = j.inside;
    TSR_TRY_GOTO(tsr_tiles_begin(context, &frame, r->name, tiles), done);
    j.tiles = *tiles;
    TSR_TRY_GOTO(put_values(r, context, &j), done);
    TSR_TRY_GOTO(tsr_tiles_complete(*tiles, 1), done);
done:
    free(j.keys);
    free(j.inside);
    free(source);
    if (status != TSR_OK) tsr_tiles_destroy(tiles);
    return status;
}

/* ---- both entries ---------------------------------------------------------------------------------------------------------------------------- */

void tsr_nvdb_close(tsr_nvdb_reader *r)
{
    tsr_block_release(&r->unpacked);
    free(r->root_order);
    free(r->leaf);
}

tsr_status tsr_nvdb_open(tsr_nvdb_reader *r)
{
    size_t size;
    TSR_TRY(tsr_input_all(r->input, &r->bytes, &size));
    r->size = (int64_t)size;
    TSR_TRY(read_segments(r));
    TSR_TRY(open_grid(r));
    TSR_TRY(read_head(r));
    return TSR_OK;
}

tsr_status tsr_nvdb_list(tsr_nvdb_reader *r)
{
    size_t size;
    TSR_TRY(tsr_input_all(r->input, &r->bytes, &size));
    r->size = (int64_t)size;
    TSR_TRY(read_segments(r));
    return TSR_OK;
}

tsr_status tsr_nvdb_leaves(tsr_nvdb_reader *r)
{
    TSR_TRY(order_root(r));
    TSR_TRY(walk(r));
    TSR_TRY(order_leaves(r));
    return TSR_OK;
}

static tsr_status open_reader(tsr_nvdb_reader *r, tsr_tiles_extras *extras)
{
    char text[64];
    TSR_TRY(tsr_nvdb_open(r));
    TSR_TRY(tsr_extras_add_meta(extras, "nvdb.name", 9, r->grid_name, strlen(r->grid_name)));
    snprintf(text, sizeof text, "%u.%u.%u", r->version >> 21, r->version >> 10 & 2047, r->version & 1023);
    TSR_TRY(tsr_extras_add_meta(extras, "nvdb.version", 12, text, strlen(text)));
    return TSR_OK;
}

tsr_status tsr_nvdb_check_memory(const tsr_nvdb_reader *r)
{
    const double limit = (double)(r->options->memory_limit ? r->options->memory_limit : tsr_physical_memory());
    const double bytes = (double)r->leaves * (2.0 * 2048 + (r->options->edge == 4 ? 8 : 1) * (TSR_NEIGHBOUR_ROW * 4 + 160)) * 1.25;
    if (bytes > limit)
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: %lld leaves need %.0f bytes, the memory limit is %.0f", r->name, (long long)r->leaves, bytes, limit);
    return TSR_OK;
}

tsr_status tsr_read_nvdb(tsr_input *input, const tsr_tiles_read_options *options, tsr_context *context, tsr_tiles_extras *extras, tsr_tiles **tiles)
{
    tsr_nvdb_reader r = { .input = input, .options = options, .name = tsr_input_name(input) };
    tsr_status status;
    *tiles = NULL;
    TSR_TRY_GOTO(open_reader(&r, extras), done);
    TSR_TRY_GOTO(order_root(&r), done);
    TSR_TRY_GOTO(walk(&r), done);
    TSR_TRY_GOTO(tsr_nvdb_check_memory(&r), done);
    TSR_TRY_GOTO(tsr_nvdb_add_seams(&r), done);
    TSR_TRY_GOTO(order_leaves(&r), done);
    TSR_TRY_GOTO(tsr_nvdb_check_memory(&r), done);
    TSR_TRY_GOTO(make_list(&r, context, tiles), done);
done:
    tsr_nvdb_close(&r);
    return status;
}

tsr_status tsr_describe_nvdb(tsr_input *input, const tsr_tiles_read_options *options, tsr_tiles_extras *extras, tsr_tiles_file_info *info)
{
    tsr_nvdb_reader r = { .input = input, .options = options, .name = tsr_input_name(input) };
    tsr_status status;
    TSR_TRY_GOTO(open_reader(&r, extras), done);
    memcpy(info->name, r.grid_name, sizeof info->name);
    info->version[0] = (int32_t)(r.version >> 21);
    info->version[1] = (int32_t)(r.version >> 10 & 2047);
    info->version[2] = (int32_t)(r.version & 1023);
    info->edge = 8;
    info->count = r.nodes[0];
    info->band = (double)r.background;
    info->geometry = r.geometry;
    info->codec = r.codec == NVDB_CODEC_ZIP ? "zip" : "none";
    info->grids = r.grids;
    info->meta_count = 2;
    info->active_voxels = (int64_t)tsr_min64((int64_t)(r.voxels & INT64_MAX), INT64_MAX);
done:
    tsr_nvdb_close(&r);
    return status;
}
