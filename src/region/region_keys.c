/* region/region_keys.c: a pointer tree of the keys of its leaves. */
#include "region/region_tree.h"

struct keys {
    const uint64_t *key;
    int32_t dimensions;
    int64_t nodes;
    int32_t *node; /* NULL: only counted */
};

/* Keys first .. last - 1 lie in the cell of `level` with this corner; returns the reference to it. */
static int32_t visit(struct keys *k, int64_t first, int64_t last, int32_t level, uint64_t corner)
{
    if (first == last) return 0;
    if ((int32_t)(k->key[first] & 63u) == level) return ~(int32_t)first;
    const int64_t own = k->nodes++;
    for (int32_t c = 0; c < 1 << k->dimensions; c++) {
        const uint64_t from = corner + ((uint64_t)c << (k->dimensions * (level - 1))), end = from + ((uint64_t)1 << (k->dimensions * (level - 1)));
        int64_t low = first, high = last;
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (k->key[middle] >> 6 < end) low = middle + 1;
            else high = middle;
        }
        const int32_t reference = visit(k, first, low, level - 1, from);
        if (k->node) k->node[(own << k->dimensions) + c] = reference;
        first = low;
    }
    return (int32_t)own;
}

static tsr_status check_keys(const uint64_t *keys, int64_t count, tsr_size3 size, int32_t dimensions, int32_t top)
{
    uint64_t end = 0;
    for (int64_t i = 0; i < count; i++) {
        const uint64_t code = keys[i] >> 6, level = keys[i] & 63u;
        if (level > (uint64_t)top || code & (((uint64_t)1 << (dimensions * level)) - 1u))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: key %lld is of level %d at %llx, expected a level up to %d and a corner that fits it",
                     (long long)i, (int)level, (unsigned long long)code, top);
        const tsr_region_leaf l = tsr_region_leaf_of(keys[i], dimensions);
        if (l.x + l.side > size.x || l.y + l.side > size.y || (dimensions == 3 && l.z + l.side > size.z))
            TSR_FAIL(TSR_ERROR_ARGUMENT,
                     "region tree: key %lld is a cube of %lld at (%lld, %lld, %lld), expected one within %lld x %lld x %lld voxels", (long long)i,
                     (long long)l.side, (long long)l.x, (long long)l.y, (long long)l.z, (long long)size.x, (long long)size.y, (long long)size.z);
        if (code < end)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: key %lld overlaps or precedes the one before, expected ascending keys", (long long)i);
        end = code + ((uint64_t)1 << (dimensions * level));
    }
    return TSR_OK;
}

tsr_status tsr_region_tree_from_keys(tsr_context *context, const uint64_t *keys, int64_t count, tsr_size3 size, int32_t dimensions,
                                     const tsr_geometry *geometry, tsr_region_tree **tree)
{
    TSR_RETURNS(tree);
    const tsr_geometry unit = tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    const int64_t longest = tsr_max64(size.x, tsr_max64(size.y, size.z)), most = (int64_t)1 << (dimensions == 3 ? 19 : 28);
    tsr_region_tree *host = NULL;
    tsr_status status;
    if ((dimensions != 2 && dimensions != 3) || (dimensions == 2 && size.z != 1))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: dimensions is %d with extent z %lld, expected 3, or 2 for extent z 1", dimensions,
                 (long long)size.z);
    if (size.x < 1 || size.y < 1 || size.z < 1 || longest > most)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: %lld x %lld x %lld voxels, expected extents from 1 to %lld", (long long)size.x, (long long)size.y,
                 (long long)size.z, (long long)most);
    if (count < 0 || count > INT32_MAX || (count && !keys))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: %lld keys%s, expected 0 to 2^31 - 1", (long long)count, count && !keys ? " at NULL" : "");
    tsr_region_info info = { .size = size, .dimensions = dimensions, .leaves = count };
    while (((int64_t)1 << info.top) < longest) info.top++;
    TSR_TRY(check_keys(keys, count, size, dimensions, info.top));
    struct keys k = { keys, dimensions, 0, NULL };
    const int32_t root = visit(&k, 0, count, info.top, 0);
    info.nodes = k.nodes;
    info.root = k.nodes ? TSR_REGION_NODE : root < 0 ? TSR_REGION_LEAF : TSR_REGION_EMPTY;
    TSR_TRY(tsr_region_tree_create(NULL, &info, geometry ? geometry : &unit, &host));
    if (count) memcpy(host->leaves, keys, (size_t)count * sizeof *keys);
    k = (struct keys){ keys, dimensions, 0, host->nodes };
    if (info.nodes) (void)visit(&k, 0, count, info.top, 0);
    if (!context) {
        *tree = host;
        return TSR_OK;
    }
    TSR_TRY_GOTO(tsr_region_tree_copy(host, context, tree), done);
done:
    tsr_region_tree_destroy(&host);
    return status;
}
