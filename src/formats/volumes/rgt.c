/* formats/volumes/rgt.c: region trees in files: see docs/formats/rgt.md. */
#include <math.h>

#include "volume/volume.h"
#include "io/little_endian.h"
#include "formats/volumes/rgt.h"
#include "io/stream.h"
#include "io/xxh64.h"
#include "region/region_tree.h"
#include "tessera/region_tree.h"

enum { CHILD_NOTHING, CHILD_LEAF, CHILD_NODE, CHANNELS_MOST = 64 };

static int64_t structure_bytes(const tsr_region_info *i) { return (i->nodes << i->dimensions) / 4; }

/* ---- writing ----------------------------------------------------------------------------------------------------------------------------- */

static void put_header(const tsr_region_tree *t, int64_t channels, uint8_t *h)
{
    const tsr_region_info *i = &t->info;
    const int64_t numbers[5] = { i->size.x, i->size.y, i->size.z, i->leaves, i->nodes };
    memset(h, 0, TSR_RGT_HEADER);
    memcpy(h, TSR_RGT_MAGIC, 8);
    tsr_put_u32(h + TSR_RGT_AT_DIMENSIONS, (uint32_t)i->dimensions);
    tsr_put_u32(h + TSR_RGT_AT_ROOT, (uint32_t)i->root);
    for (int k = 0; k < 5; k++) tsr_put_u64(h + TSR_RGT_AT_SIZE + 8 * k, (uint64_t)numbers[k]);
    tsr_put_u32(h + TSR_RGT_AT_CHANNELS, (uint32_t)channels);
    tsr_put_u32(h + TSR_RGT_AT_SPACE, (uint32_t)t->geometry.space);
    for (int k = 0; k < 12; k++) {
        uint64_t bits;
        memcpy(&bits, &t->geometry.affine[k / 4][k % 4], 8);
        tsr_put_u64(h + TSR_RGT_AT_AFFINE + 8 * k, bits);
    }
}

static void pack_structure(const tsr_region_tree *t, uint8_t *bytes)
{
    const int64_t children = t->info.nodes << t->info.dimensions;
    for (int64_t k = 0; k < children; k += 4) {
        unsigned byte = 0;
        for (int c = 0; c < 4; c++) {
            const int32_t r = t->nodes[k + c];
            byte |= (unsigned)(r > 0 ? CHILD_NODE : r < 0 ? CHILD_LEAF : CHILD_NOTHING) << (2 * c);
        }
        bytes[k / 4] = (uint8_t)byte;
    }
}

tsr_status tsr_region_tree_write(const tsr_region_tree *tree, const tsr_volume *values, const char *path, const tsr_write_options *options)
{
    TSR_NEEDS(tree, path);
    uint8_t header[TSR_RGT_HEADER], *structure = NULL;
    tsr_output *output = NULL;
    tsr_write_options own;
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    if (tree->context) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the region tree lies on a device, expected the host: copy it", path);
    const int64_t channels = values ? values->size.y : 0, bytes = structure_bytes(&tree->info);
    int32_t least = 0;
    while ((int64_t)1 << least < tsr_max64(tree->info.size.x, tsr_max64(tree->info.size.y, tree->info.size.z))) least++;
    if (tree->info.top != least || tree->info.dimensions != (tree->info.size.z > 1 ? 3 : 2))
        TSR_FAIL(TSR_ERROR_ARGUMENT,
                 "%s: a region tree of top %d and %d dimensions, files hold those of the least top, %d, and of 3 dimensions for z > 1", path,
                 tree->info.top, tree->info.dimensions, least);
    if (values && tree->info.nodes_only) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: values, but the region tree has no list of leaves", path);
    if (values) {
        if (values->context && values->context->device.kind != TSR_DEVICE_CPU)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the values lie on a device, expected the host: copy them", path);
        if (values->dtype != TSR_F32 || values->size.x != tree->info.leaves || values->size.z != 1 || channels > CHANNELS_MOST)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: values of %lld x %lld x %lld %s, expected %lld leaves x 1 to 64 channels x 1 of f32", path,
                     (long long)values->size.x, (long long)channels, (long long)values->size.z, tsr_dtype_name(values->dtype),
                     (long long)tree->info.leaves);
    }
    TSR_TRY(tsr_host_allocate(NULL, (size_t)bytes + 1, (void **)&structure));
    pack_structure(tree, structure);
    put_header(tree, channels, header);
    uint64_t sum = tsr_xxh64(structure, (size_t)bytes, tsr_xxh64(header, TSR_RGT_AT_SUM, 0));
    uint8_t piece[4096];
    const int64_t floats = channels * tree->info.leaves;
    const float *v = values ? (const float *)values->data : NULL;
    for (int64_t k = 0; k < floats; k += 1024) {
        const int64_t n = tsr_min64(1024, floats - k);
        for (int64_t i = 0; i < n; i++) tsr_put_u32(piece + 4 * i, tsr_float_bits(v[k + i]));
        sum = tsr_xxh64(piece, (size_t)(4 * n), sum);
    }
    tsr_put_u64(header + TSR_RGT_AT_SUM, sum);
    TSR_TRY_GOTO(tsr_output_open(path, &own, &output), done);
    status = tsr_output_write(output, header, sizeof header);
    if (status == TSR_OK) status = tsr_output_write(output, structure, (size_t)bytes);
    if (status == TSR_OK && floats) status = tsr_output_elements(output, v, floats, sizeof *v, tsr_host_big_endian());
    status = tsr_output_finish(&output, status);
done:
    tsr_host_release(NULL, structure, (size_t)bytes + 1);
    return status;
}

/* ---- reading ----------------------------------------------------------------------------------------------------------------------------- */

static tsr_status get_header(const char *name, const uint8_t *h, size_t size, tsr_region_info *info, tsr_geometry *geometry, int64_t *channels)
{
    int64_t numbers[5];
    if (size < TSR_RGT_HEADER || memcmp(h, TSR_RGT_MAGIC, 8))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: no region tree: %zu bytes, expected the magic '%s' and a header of %d bytes", name, size, TSR_RGT_MAGIC,
                 TSR_RGT_HEADER);
    for (int k = 0; k < 5; k++) {
        numbers[k] = tsr_get_i64(h + TSR_RGT_AT_SIZE + 8 * k);
        const int64_t least = k < 3 ? 1 : 0, most = k < 3 ? (int64_t)1 << 28 : INT32_MAX;
        static const char *const names[5] = { "extent x", "extent y", "extent z", "leaves", "nodes" };
        if (numbers[k] < least || numbers[k] > most)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: %s is %lld, expected %lld to %lld", name, names[k], (long long)numbers[k], (long long)least,
                     (long long)most);
    }
    *info = (tsr_region_info){ .size = { numbers[0], numbers[1], numbers[2] }, .leaves = numbers[3], .nodes = numbers[4] };
    info->dimensions = info->size.z > 1 ? 3 : 2;
    const int64_t most = tsr_max64(numbers[0], tsr_max64(numbers[1], numbers[2]));
    const uint32_t dimensions = tsr_get_u32(h + TSR_RGT_AT_DIMENSIONS), root = tsr_get_u32(h + TSR_RGT_AT_ROOT);
    const uint32_t space = tsr_get_u32(h + TSR_RGT_AT_SPACE), count = tsr_get_u32(h + TSR_RGT_AT_CHANNELS);
    if (dimensions != (uint32_t)info->dimensions || (info->dimensions == 3 && most > (int64_t)1 << 19))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: dimensions is %u, extents up to %lld: expected 2 for extent z 1, else 3 and extents up to 2^19", name,
                 dimensions, (long long)most);
    while ((int64_t)1 << info->top < most) info->top++;
    info->root = info->nodes ? TSR_REGION_NODE : info->leaves ? TSR_REGION_LEAF : TSR_REGION_EMPTY;
    if (root != (uint32_t)info->root || (info->root == TSR_REGION_LEAF && info->leaves != 1))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: root is %u with %lld leaves and %lld nodes", name, root, (long long)info->leaves, (long long)info->nodes);
    if (count > CHANNELS_MOST) TSR_FAIL(TSR_ERROR_FORMAT, "%s: channels is %u, expected 0 to %d", name, count, CHANNELS_MOST);
    if (space > TSR_SPACE_LPS) TSR_FAIL(TSR_ERROR_FORMAT, "%s: space is %u, expected 0 to %d", name, space, (int)TSR_SPACE_LPS);
    *channels = (int64_t)count;
    geometry->space = (tsr_space)space;
    for (int k = 0; k < 12; k++) {
        const uint64_t bits = tsr_get_u64(h + TSR_RGT_AT_AFFINE + 8 * k);
        memcpy(&geometry->affine[k / 4][k % 4], &bits, 8);
    }
    if (tsr_geometry_check(geometry) != TSR_OK) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the matrix is not finite or not invertible", name);
    const int64_t body = structure_bytes(info), expected = TSR_RGT_HEADER + body + 4 * *channels * info->leaves;
    if (info->leaves > (info->nodes << info->dimensions) + 1 || (uint64_t)expected != size)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %zu bytes, expected %lld for %lld nodes, %lld leaves and %lld channels", name, size, (long long)expected,
                 (long long)info->nodes, (long long)info->leaves, (long long)*channels);
    return TSR_OK;
}

/* The lists from the bits, depth first: nodes and leaves are numbered as they are met. */
static tsr_status unpack_structure(const char *name, const uint8_t *bytes, tsr_region_tree *t)
{
    struct {
        int64_t node, at[3];
        int32_t child;
    } stack[TSR_REGION_LEVELS];
    const tsr_region_info *info = &t->info;
    const int32_t bits = info->dimensions;
    const int64_t n[3] = { info->size.x, info->size.y, info->size.z };
    int64_t leaves = 0, nodes = 1;
    int32_t depth = 0;
    memset(&stack[0], 0, sizeof stack[0]);
    while (depth >= 0) {
        if (stack[depth].child == 1 << bits) {
            depth--;
            continue;
        }
        const int64_t place = (stack[depth].node << bits) + stack[depth].child;
        const int32_t level = info->top - depth - 1, kind = bytes[place / 4] >> (2 * (place % 4)) & 3;
        int64_t at[3];
        tsr_region_child(stack[depth].at, bits, stack[depth].child++, at);
        t->nodes[place] = 0;
        if (kind == CHILD_NOTHING) continue;
        int fits = kind != CHILD_NODE || (level > 0 && nodes < info->nodes);
        if (kind == CHILD_LEAF) fits = leaves < info->leaves;
        for (int k = 0; k < 3; k++) { /* leaves lie within the volume, nodes at least begin there */
            const int64_t end = kind == CHILD_LEAF && (k < 2 || bits == 3) ? (at[k] + 1) << level : at[k] << level;
            fits &= kind == CHILD_LEAF && (k < 2 || bits == 3) ? end <= n[k] : end < n[k];
        }
        if (kind > CHILD_NODE || !fits)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: node %lld, child %d: kind %d on level %d does not fit in the volume or the counts of the header", name,
                     (long long)stack[depth].node, stack[depth].child - 1, kind, level);
        if (kind == CHILD_LEAF) {
            t->leaves[leaves] = tsr_region_key(bits, at, level);
            t->nodes[place] = ~(int32_t)leaves++;
            continue;
        }
        t->nodes[place] = (int32_t)nodes;
        depth++;
        stack[depth].node = nodes++;
        stack[depth].child = 0;
        memcpy(stack[depth].at, at, sizeof at);
    }
    if (leaves != info->leaves || nodes != info->nodes)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the structure has %lld leaves and %lld nodes, the header says %lld and %lld", name, (long long)leaves,
                 (long long)nodes, (long long)info->leaves, (long long)info->nodes);
    return TSR_OK;
}

tsr_status tsr_rgt_read(tsr_input *input, tsr_region_tree **tree, tsr_volume **values)
{
    const char *name = tsr_input_name(input);
    const uint8_t *bytes;
    size_t size;
    tsr_region_info info = TSR_REGION_INFO;
    tsr_geometry geometry;
    int64_t channels = 0;
    tsr_status status;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    TSR_TRY(get_header(name, bytes, size, &info, &geometry, &channels));
    const uint64_t sum = tsr_rgt_sum(bytes, size), stored = tsr_get_u64(bytes + TSR_RGT_AT_SUM);
    if (sum != stored)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: checksum %016llx, expected %016llx: the file is damaged", name, (unsigned long long)sum,
                 (unsigned long long)stored);
    TSR_TRY(tsr_region_tree_create(NULL, &info, &geometry, tree));
    const uint8_t *structure = bytes + TSR_RGT_HEADER;
    if (info.root == TSR_REGION_NODE) TSR_TRY_GOTO(unpack_structure(name, structure, *tree), fail);
    if (info.root == TSR_REGION_LEAF) {
        const int64_t side = (int64_t)1 << info.top;
        if (info.size.x != side || info.size.y != side || (info.dimensions == 3 && info.size.z != side))
            TSR_FAIL_GOTO(TSR_ERROR_FORMAT, fail, "%s: the root is a leaf, expected equal extents that are a power of two", name);
        (*tree)->leaves[0] = (uint64_t)info.top;
    }
    if (values && channels && info.leaves) {
        TSR_TRY_GOTO(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ info.leaves, channels, 1 }, NULL, values), fail);
        float *v = (float *)(*values)->data;
        for (int64_t k = 0; k < channels * info.leaves; k++) v[k] = tsr_get_f32(structure + structure_bytes(&info) + 4 * k);
    }
    return TSR_OK;
fail:
    tsr_region_tree_destroy(tree);
    return status;
}

tsr_status tsr_region_tree_read(const char *path, const tsr_read_options *options, tsr_region_tree **tree, tsr_volume **values)
{
    TSR_RETURNS(tree);
    tsr_read_options own;
    tsr_input *input = NULL;
    if (values) *values = NULL;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    const tsr_input_options settings = { .memory_limit = own.memory_limit, .progress = &own.progress };
    TSR_TRY(tsr_input_open(path, &settings, &input));
    const tsr_status status = tsr_rgt_read(input, tree, values);
    tsr_input_close(&input);
    if (status != TSR_OK) TSR_TRY(status);
    return TSR_OK;
}

int tsr_region_file_recognise(const char *path)
{
    tsr_input *input = NULL;
    const uint8_t *bytes;
    size_t size;
    if (!path || !strcmp(path, "-") || tsr_input_open(path, NULL, &input) != TSR_OK) return 0;
    const int is_one = tsr_input_head(input, 8, &bytes, &size) == TSR_OK && tsr_rgt_is_one(bytes, size);
    tsr_input_close(&input);
    return is_one;
}
