/* formats/grids/nvdb_fog.c: fog volumes and index grids of NanoVDB files as dense volumes: the box of the active voxels, what is not active inside it as the file has it, 0
 * where there is nothing: fog has no other outside, whatever its grid calls the background (NanoVDB's own builder leaves that of the level set). Of several grids the one that options.dataset names, else the first fog. */
#include <stdlib.h>
#include <string.h>

#include "formats/grids/nvdb_reader.h"
#include "formats/parts.h"
#include "formats/volume_files.h"

/* All grids of the first segment are fog or index grids: with a level set among them the file is one of tile lists. */
static int recognise(const tsr_signature *s)
{
    if (s->head_bytes < NVDB_FILE_HEADER + NVDB_META) return TSR_NOT_MINE;
    const uint64_t magic = tsr_get_u64(s->head);
    const int grids = tsr_get_u16(s->head + NVDB_FILE_GRIDS);
    size_t at = NVDB_FILE_HEADER;
    if ((magic != TSR_NVDB_MAGIC_0 && magic != TSR_NVDB_MAGIC_FILE) || !grids) return TSR_NOT_MINE;
    for (int g = 0; g < grids; g++) {
        if (s->head_bytes - at < NVDB_META) return g ? TSR_SURELY_MINE : TSR_NOT_MINE; /* the rest is further down */
        const int32_t grid_class = tsr_get_i32(s->head + at + NVDB_META_CLASS);
        if (grid_class != NVDB_FOG && !(grid_class == NVDB_INDEX_GRID && nvdb_is_index(tsr_get_i32(s->head + at + NVDB_META_TYPE))))
            return TSR_NOT_MINE;
        const size_t length = tsr_get_u32(s->head + at + NVDB_META_NAME_SIZE);
        if (length > s->head_bytes - at - NVDB_META) return TSR_SURELY_MINE;
        at += NVDB_META + length;
    }
    return TSR_SURELY_MINE;
}

int tsr_nvdb_is_fog(const tsr_signature *s) { return recognise(s) == TSR_SURELY_MINE; }

/* The active voxels of all leaves. */
static int box_of(const tsr_nvdb_reader *r, int64_t low[3], int64_t high[3])
{
    int any = 0;
    for (int64_t i = 0; i < r->leaves; i++) {
        const tsr_nvdb_leaf *leaf = &r->leaf[i];
        const int64_t corner[3] = { tsr_key_x(leaf->key) * 8, tsr_key_y(leaf->key) * 8, tsr_key_z(leaf->key) * 8 };
        for (int n = 0; n < 512; n++) {
            if (leaf->at && !tsr_nvdb_bit(leaf->at + NVDB_LEAF_MASK, n)) continue;
            const int64_t at[3] = { corner[0] + (n >> 6), corner[1] + (n >> 3 & 7), corner[2] + (n & 7) };
            for (int k = 0; k < 3; k++) {
                low[k] = any && low[k] < at[k] ? low[k] : at[k];
                high[k] = any && high[k] > at[k] ? high[k] : at[k];
            }
            any = 1;
        }
    }
    return any;
}

static void fill(const tsr_nvdb_reader *r, const int64_t low[3], tsr_size3 size, float *to)
{
    for (int64_t i = 0, n = size.x * size.y * size.z; i < n; i++) to[i] = 0;
    for (int64_t i = 0; i < r->leaves; i++) {
        const tsr_nvdb_leaf *leaf = &r->leaf[i];
        for (int n = 0; n < 512; n++) {
            const int64_t x = tsr_key_x(leaf->key) * 8 + (n >> 6) - low[0], y = tsr_key_y(leaf->key) * 8 + (n >> 3 & 7) - low[1],
                          z = tsr_key_z(leaf->key) * 8 + (n & 7) - low[2];
            if (x < 0 || y < 0 || z < 0 || x >= size.x || y >= size.y || z >= size.z) continue;
            to[(z * size.y + y) * size.x + x] = leaf->at ? tsr_nvdb_leaf_value(r, leaf->at, n) : leaf->value;
        }
    }
}

static tsr_status build(tsr_nvdb_reader *r, tsr_volume **volume)
{
    tsr_layout layout = { .dtype = TSR_F32, .size = { 1, 1, 1 } };
    tsr_block block;
    int64_t low[3] = { 0, 0, 0 }, high[3] = { 0, 0, 0 }, bytes;
    tsr_status status;
    TSR_TRY(tsr_nvdb_open(r));
    const int index = nvdb_is_index(r->type);
    if (r->grid_class != NVDB_FOG && !index) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: grid '%s' is no fog volume", r->name, r->grid_name);
    TSR_TRY(tsr_nvdb_leaves(r));
    if (!box_of(r, low, high)) tsr_remark("%s: grid '%s' has no active voxel", r->name, r->grid_name);
    layout.size = (tsr_size3){ high[0] - low[0] + 1, high[1] - low[1] + 1, high[2] - low[2] + 1 };
    TSR_TRY(tsr_voxel_bytes(r->input, TSR_F32, layout.size, &bytes));
    TSR_TRY(tsr_input_allocate(r->input, bytes, "voxels", &block));
    status = TSR_OK;
    if (index) status = tsr_nvdb_fill_indexed(r, low, layout.size, (float *)block.data);
    else fill(r, low, layout.size, (float *)block.data);
    if (status != TSR_OK) tsr_block_release(&block);
    TSR_TRY(status);
    tsr_geometry g = r->geometry;
    for (int row = 0; row < 3; row++)
        for (int c = 0; c < 3; c++) g.affine[row][3] += g.affine[row][c] * (double)low[c];
    TSR_TRY(tsr_volume_of_block(r->input, &layout, &g, &block, volume));
    TSR_TRY_GOTO(tsr_volume_set_meta(*volume, "nvdb.name", r->grid_name), fail);
    if (index) {
        (*volume)->parts[TSR_PART_CHANNEL] = r->channels;
        if (*r->channel_name) TSR_TRY_GOTO(tsr_volume_set_meta(*volume, "nvdb.channel", r->channel_name), fail);
        if (r->value_type == NVDB_DOUBLE) tsr_remark("%s: the values of grid '%s' are double, read as float32", r->name, r->grid_name);
    }
    if (r->background != 0 && !index)
        tsr_remark("%s: the background of the fog volume is %g; 0 is taken, as fog has it", r->name, (double)r->background);
    if (r->grids > 1 && !r->options->grid) tsr_remark("%s: of %d grids '%s' is read", r->name, (int)r->grids, r->grid_name);
    return TSR_OK;
fail:
    tsr_volume_destroy(volume);
    return status;
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    const tsr_tiles_read_options tiles = {
        .struct_size = sizeof tiles, .grid = options->dataset, .memory_limit = options->memory_limit, .progress = options->progress
    };
    tsr_nvdb_reader r = {
        .input = input, .options = &tiles, .fog = 1, .name = tsr_input_name(input), .channel = options->channel_given ? options->channel : -1
    };
    if (tsr_input_settings(input)->place)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: fog volumes cannot be read in pieces, convert the file first", tsr_input_name(input));
    const tsr_status status = build(&r, volume);
    tsr_nvdb_close(&r);
    TSR_TRY(status);
    return TSR_OK;
}

static tsr_status list(tsr_input *input, const tsr_read_options *options, tsr_contents *contents)
{
    const tsr_tiles_read_options tiles = { .struct_size = sizeof tiles, .memory_limit = options->memory_limit, .progress = options->progress };
    tsr_nvdb_reader r = { .input = input, .options = &tiles, .contents = contents, .name = tsr_input_name(input) };
    TSR_TRY(tsr_nvdb_list(&r));
    return TSR_OK;
}

const tsr_format tsr_format_nvdbfog = {
    .name = "nvdb-fog", .kind = TSR_FILE_VOLUME, .extensions = { ".nvdb" }, .recognise = recognise, .datasets = 1, .read_volume = read_volume, .list = list, .other = "nvdb",
    .whole = 1, .types = 1u << TSR_F32, .write_volume = tsr_nvdb_write_fog, .add_volume = tsr_nvdb_add_fog
};
