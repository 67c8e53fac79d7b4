/* formats/grids/nvdb_index.c: NanoVDB's index grids: voxels and tiles are numbers of values that lie behind the tree, in channels of blind data. */
#include <string.h>

#include "formats/grids/nvdb_reader.h"
#include "io/half.h"

static int value_bytes(int32_t type) { return type == NVDB_FLOAT ? 4 : type == NVDB_DOUBLE ? 8 : type == NVDB_HALF ? 2 : 0; }

/* Head k of the grid's blind data. */
static tsr_status blind_head(const tsr_nvdb_reader *r, uint32_t k, const uint8_t **head)
{
    const int64_t first = tsr_get_i64(r->grid + NVDB_GRID_BLIND);
    if (first < NVDB_GRID || first > r->grid_size || (int64_t)k >= (r->grid_size - first) / NVDB_BLIND)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: head %u of the blind data of grid '%s' lies at byte %lld of %lld", r->name, k, r->grid_name, (long long)first,
                 (long long)r->grid_size);
    *head = r->grid + first + (int64_t)k * NVDB_BLIND;
    return TSR_OK;
}

static tsr_status take_values(tsr_nvdb_reader *r, const uint8_t *head)
{
    const int64_t from = head - r->grid, offset = tsr_get_i64(head + NVDB_BLIND_AT);
    int64_t at;
    r->value_type = tsr_get_i32(head + NVDB_BLIND_TYPE);
    r->value_count = tsr_get_u64(head + NVDB_BLIND_COUNT);
    if (__builtin_add_overflow(from, offset, &at) || at < NVDB_GRID || at > r->grid_size ||
        r->value_count > (uint64_t)(r->grid_size - at) / (uint64_t)value_bytes(r->value_type) || !r->value_count)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %llu values of grid '%s' lie at byte %lld of %lld", r->name, (unsigned long long)r->value_count, r->grid_name,
                 (long long)at, (long long)r->grid_size);
    r->values = r->grid + at;
    r->channel_name = memchr(head + NVDB_BLIND_NAME, 0, NVDB_BLIND_NAME_BYTES) ? (const char *)head + NVDB_BLIND_NAME : "";
    return TSR_OK;
}

tsr_status tsr_nvdb_open_values(tsr_nvdb_reader *r, int64_t channel)
{
    const uint32_t heads = tsr_get_u32(r->grid + NVDB_GRID_BLINDS);
    int32_t other = -1;
    r->channels = 0;
    for (uint32_t k = 0; k < heads; k++) {
        const uint8_t *head = NULL;
        TSR_TRY(blind_head(r, k, &head));
        const int32_t type = tsr_get_i32(head + NVDB_BLIND_TYPE);
        if (tsr_get_i32(head + NVDB_BLIND_CLASS) == NVDB_GRID_NAME_CLASS) continue;
        if (!value_bytes(type)) {
            other = type;
            continue;
        }
        if (r->channels++ == (channel < 0 ? 0 : channel)) TSR_TRY(take_values(r, head));
    }
    if (!r->channels)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: grid '%s' is an index grid (%s) %s%s, expected a channel of float, double or half values in the file",
                 r->name, r->grid_name, tsr_nvdb_type_name(r->type), other < 0 ? "without values: they lie elsewhere" : "with values of type ",
                 other < 0 ? "" : tsr_nvdb_type_name(other));
    if (channel < 0 && r->channels > 1)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: grid '%s' has %d channels of values, a volume is one of them: options.channel 0 to %d says which",
                 r->name, r->grid_name, r->channels, r->channels - 1);
    if (!r->values)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.channel is %lld, expected 0 to %d: the channels of values of grid '%s'", r->name,
                 (long long)channel, r->channels - 1, r->grid_name);
    return TSR_OK;
}

float tsr_nvdb_value(const tsr_nvdb_reader *r, uint64_t number)
{
    if (number >= r->value_count) return 0;
    const uint8_t *at = r->values + number * (uint64_t)value_bytes(r->value_type);
    return r->value_type == NVDB_FLOAT ? tsr_get_f32(at) : r->value_type == NVDB_DOUBLE ? (float)tsr_get_f64(at) : tsr_half_to_float(tsr_get_u16(at));
}

static int bits_below(const uint8_t *mask, int32_t n)
{
    int count = 0;
    for (int32_t w = 0; w < n >> 6; w++) count += __builtin_popcountll(tsr_get_u64(mask + 8 * w));
    return count + __builtin_popcountll(tsr_get_u64(mask + 8 * (n >> 6)) & ((UINT64_C(1) << (n & 63)) - 1));
}

/* The number of voxel n of a leaf: of those that count active voxels alone 0, the background, where it is not active. */
static uint64_t number_in(const tsr_nvdb_reader *r, const uint8_t *leaf, int32_t n)
{
    const int old = (r->version >> 10 & 2047) < 5 && r->type == NVDB_INDEX; /* one kind for both, told by a flag */
    const int sparse = old ? leaf[NVDB_LEAF_FLAGS] & NVDB_INDEX_SPARSE_OLD : r->type == NVDB_ON_INDEX || r->type == NVDB_ON_INDEX_MASK;
    const uint64_t first = tsr_get_u64(leaf + (old ? NVDB_INDEX_LEAF_AT_OLD : NVDB_INDEX_LEAF_AT));
    if (!sparse) return first + (uint64_t)n;
    return tsr_nvdb_bit(leaf + NVDB_LEAF_MASK, n) ? first + (uint64_t)bits_below(leaf + NVDB_LEAF_MASK, n) : 0;
}

/* The leaf at a voxel, or the number of the tile there. All offsets on the way were checked by the walk. */
static const uint8_t *leaf_at(const tsr_nvdb_reader *r, int32_t x, int32_t y, int32_t z, uint64_t *number)
{
    const uint8_t *tile = tsr_nvdb_root_tile(r, x, y, z);
    *number = tsr_get_u64(r->root + NVDB_INDEX_BACKGROUND);
    if (!tile) return NULL;
    const int64_t child = tsr_get_i64(tile + NVDB_ROOT_TILE_CHILD);
    const int32_t u = nvdb_upper_cell(x, y, z), l = nvdb_lower_cell(x, y, z);
    *number = tsr_get_u64(tile + NVDB_INDEX_TILE_VALUE);
    if (!child) return NULL;
    const uint8_t *upper = r->root + child;
    *number = tsr_get_u64(upper + NVDB_UPPER_TABLE + 8 * u);
    if (!tsr_nvdb_bit(upper + NVDB_UPPER_CHILDREN, u)) return NULL;
    const uint8_t *lower = upper + (int64_t)*number;
    *number = tsr_get_u64(lower + NVDB_LOWER_TABLE + 8 * l);
    return tsr_nvdb_bit(lower + NVDB_LOWER_CHILDREN, l) ? lower + (int64_t)*number : NULL;
}

tsr_status tsr_nvdb_fill_indexed(const tsr_nvdb_reader *r, const int64_t low[3], tsr_size3 size, float *to)
{
    const int64_t high[3] = { low[0] + size.x, low[1] + size.y, low[2] + size.z };
    for (int64_t z0 = low[2] & ~INT64_C(7); z0 < high[2]; z0 += 8)
        for (int64_t y0 = low[1] & ~INT64_C(7); y0 < high[1]; y0 += 8)
            for (int64_t x0 = low[0] & ~INT64_C(7); x0 < high[0]; x0 += 8) {
                uint64_t number;
                const uint8_t *leaf = leaf_at(r, (int32_t)x0, (int32_t)y0, (int32_t)z0, &number);
                for (int32_t n = 0; n < 512; n++) { /* x << 6 | y << 3 | z */
                    const int64_t x = x0 + (n >> 6) - low[0], y = y0 + (n >> 3 & 7) - low[1], z = z0 + (n & 7) - low[2];
                    if (x < 0 || y < 0 || z < 0 || x >= size.x || y >= size.y || z >= size.z) continue;
                    if (leaf) number = number_in(r, leaf, n);
                    if (number >= r->value_count)
                        TSR_FAIL(TSR_ERROR_FORMAT, "%s: voxel (%lld, %lld, %lld) of grid '%s' is value %llu of %llu", r->name,
                                 (long long)(x + low[0]), (long long)(y + low[1]), (long long)(z + low[2]), r->grid_name, (unsigned long long)number,
                                 (unsigned long long)r->value_count);
                    to[(z * size.y + y) * size.x + x] = tsr_nvdb_value(r, number);
                }
            }
    return TSR_OK;
}
