/* reconstruct/reconstruct_groups.c: which of the thin parts put back have changed what the surface is (its pieces, cavities and handles).
 *
 * Balls that meet are one group, and what a group has changed lies within a few voxels of its balls. There the Euler number of the voxels
 * inside, joined by faces, is counted with the change and without: a handle, a filled hole or two pieces grown together each move it by one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reconstruct/reconstruct.h"

/* Voxels between middles up to which balls lie together, more than their radii (5) end to end; they are looked up by blocks of 16. */
enum { MEET = 11, LOG2_BLOCK = 4 };

/* Balls in Morton order with the group of each (union-find, then numbers from 0); boxes of the groups' voxels. */
struct groups {
    int64_t balls, count;
    uint64_t *key;
    int32_t (*at)[3];
    uint32_t *of;
    int32_t (*low)[3], (*high)[3]; /* [count] */
};

/* ---- groups --------------------------------------------------------------------------------------------------------------------------------- */

static uint32_t root_of(uint32_t *of, uint32_t i)
{
    while (of[i] != i) i = of[i] = of[of[i]];
    return i;
}

/* Joins a ball with those before it that it meets. */
static void join(struct groups *g, int64_t i)
{
    const int32_t *own = g->at[i];
    const uint32_t block[3] = { (uint32_t)own[0] >> LOG2_BLOCK, (uint32_t)own[1] >> LOG2_BLOCK, (uint32_t)own[2] >> LOG2_BLOCK };
    for (uint32_t d = 0; d < 27; d++) {
        uint64_t beside;
        if (!tsr_cell_beside(block, d, (1u << (TSR_TREE_DEPTH_MOST - LOG2_BLOCK)) - 1, &beside)) continue;
        const uint64_t first = beside << (3 * LOG2_BLOCK);
        for (int64_t j = tsr_key_lower_bound(g->key, (int32_t)g->balls, first); j < i && g->key[j] < first + (1u << (3 * LOG2_BLOCK)); j++) {
            int64_t square = 0;
            for (int k = 0; k < 3; k++) square += ((int64_t)g->at[j][k] - own[k]) * ((int64_t)g->at[j][k] - own[k]);
            if (square > MEET * MEET) continue;
            const uint32_t a = root_of(g->of, (uint32_t)i), b = root_of(g->of, (uint32_t)j);
            g->of[tsr_maxi((int32_t)a, (int32_t)b)] = a < b ? a : b;
        }
    }
}

static tsr_status make_groups(const tsr_points *host, const tsr_points_frame *frame, int32_t level, struct groups *g)
{
    const int64_t n = host->count;
    const double h = ldexp(frame->side, -level);
    const size_t each = sizeof *g->key + sizeof *g->at + sizeof *g->low + sizeof *g->high + sizeof *g->of;
    memset(g, 0, sizeof *g);
    g->key = (uint64_t *)malloc((size_t)n * each);
    if (!g->key) TSR_FAIL(TSR_ERROR_MEMORY, "reconstruct: out of host memory for %lld thin parts", (long long)n);
    g->at = (int32_t(*)[3])(void *)(g->key + n);
    g->low = g->at + n;
    g->high = g->low + n;
    g->of = (uint32_t *)(void *)(g->high + n);
    g->balls = n;
    for (int64_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) g->at[i][k] = (int32_t)floor(((double)host->positions[3 * i + k] - frame->lower[k]) / h);
        g->key[i] = tsr_morton((uint32_t)g->at[i][0], (uint32_t)g->at[i][1], (uint32_t)g->at[i][2]);
        g->of[i] = (uint32_t)i;
    }
    for (int64_t i = 0; i < n; i++) join(g, i);
    for (int64_t i = 0; i < n; i++) { /* a root is the first of its group */
        const int begins = g->of[i] == i;
        const uint32_t own = g->of[i] = begins ? (uint32_t)g->count++ : g->of[g->of[i]];
        for (int k = 0; k < 3; k++) {
            g->low[own][k] = begins ? g->at[i][k] : tsr_mini(g->low[own][k], g->at[i][k]);
            g->high[own][k] = begins ? g->at[i][k] : tsr_maxi(g->high[own][k], g->at[i][k]);
        }
    }
    return TSR_OK;
}

/* ---- Euler numbers -------------------------------------------------------------------------------------------------------------------------- */

#define BOX_MOST ((int64_t)1 << 28) /* voxels; larger groups are not looked at, and count as changed */

struct box {
    int64_t first[3];
    tsr_size3 size;
};

static tsr_status mask_of(const tsr_tiles *tiles, const struct box *box, tsr_volume **mask)
{
    tsr_volume *device;
    *mask = NULL;
    TSR_TRY(tsr_volume_create(tiles->context, TSR_U8, box->size, NULL, &device));
    tsr_status status = tsr_tiles_store_box(tiles, box->first, device);
    if (status == TSR_OK) status = tsr_volume_copy(device, NULL, mask);
    tsr_volume_destroy(&device);
    return status;
}

/* Vertices less edges plus faces less cells of the complex of the voxels that are 1, joined by faces. */
static int64_t euler_of(const uint8_t *mask, tsr_size3 size)
{
    int64_t euler = 0;
    for (int64_t z = 0; z < size.z; z++)
        for (int64_t y = 0; y < size.y; y++)
            for (int64_t x = 0; x < size.x; x++) {
                const uint8_t *v = mask + (z * size.y + y) * size.x + x;
                if (!*v) continue;
                const int64_t i = x + 1 < size.x, j = y + 1 < size.y ? size.x : 0, k = z + 1 < size.z ? size.x * size.y : 0;
                const int a = i && v[i], b = j && v[j], c = k && v[k], ab = a && b && v[i + j], bc = b && c && v[j + k], ca = c && a && v[k + i];
                euler += 1 - a - b - c + ab + bc + ca - (ab && bc && ca && v[i + j + k]);
            }
    return euler;
}

/* `mixed` takes from `after` what lies within `reach` voxels (of the axes) of the balls of the group. */
static void mix(const struct groups *g, uint32_t group, int32_t reach, const struct box *box, const uint8_t *after, uint8_t *mixed)
{
    const int64_t size[3] = { box->size.x, box->size.y, box->size.z };
    for (int64_t i = 0; i < g->balls; i++) {
        int64_t low[3], high[3];
        if (g->of[i] != group) continue;
        for (int k = 0; k < 3; k++) {
            low[k] = tsr_max64(g->at[i][k] - reach - box->first[k], 0);
            high[k] = tsr_min64(g->at[i][k] + reach + 1 - box->first[k], size[k]);
        }
        for (int64_t z = low[2]; z < high[2]; z++)
            for (int64_t y = low[1]; y < high[1]; y++) {
                const int64_t row = (z * size[1] + y) * size[0];
                memcpy(mixed + row + low[0], after + row + low[0], (size_t)(high[0] - low[0]));
            }
    }
}

/* Does what the group has changed leave the Euler number as it was? */
static tsr_status is_harmless(const struct groups *g, uint32_t group, int32_t reach, int32_t level, const tsr_tiles *before, const tsr_tiles *after, int *harmless)
{
    struct box box;
    int64_t size[3];
    tsr_volume *was = NULL, *is = NULL;
    *harmless = 0;
    for (int k = 0; k < 3; k++) { /* and a voxel where nothing has changed */
        box.first[k] = tsr_max64(g->low[group][k] - reach - 1, 0);
        size[k] = tsr_min64(g->high[group][k] + reach + 2, (int64_t)1 << level) - box.first[k];
    }
    box.size = (tsr_size3){ size[0], size[1], size[2] };
    if ((double)size[0] * (double)size[1] * (double)size[2] > (double)BOX_MOST) return TSR_OK;
    tsr_status status = mask_of(before, &box, &was);
    if (status == TSR_OK) status = mask_of(after, &box, &is);
    if (status == TSR_OK) {
        uint8_t *mixed = (uint8_t *)tsr_volume_data(was);
        const int64_t without = euler_of(mixed, box.size);
        mix(g, group, reach, &box, (const uint8_t *)tsr_volume_data_const(is), mixed);
        *harmless = euler_of(mixed, box.size) == without;
    }
    tsr_volume_destroy(&was);
    tsr_volume_destroy(&is);
    return status;
}

/* ---- choice --------------------------------------------------------------------------------------------------------------------------------- */

/* The balls of the groups that are chosen. */
static tsr_status choose(const struct groups *g, const uint8_t *chosen, const tsr_points *host, tsr_context *context, tsr_points **some)
{
    int64_t n = 0;
    tsr_points *made;
    for (int64_t i = 0; i < g->balls; i++) n += chosen[g->of[i]];
    TSR_TRY(tsr_points_create(NULL, n, TSR_POINTS_RADII, &made));
    n = 0;
    for (int64_t i = 0; i < g->balls; i++) {
        if (!chosen[g->of[i]]) continue;
        memcpy(made->positions + 3 * n, host->positions + 3 * i, 3 * sizeof *made->positions);
        made->radii[n++] = host->radii[i];
    }
    tsr_status status = tsr_points_copy(made, context, some);
    tsr_points_destroy(&made);
    return status;
}

tsr_status tsr_recapture_harmless(const tsr_tiles *before, const tsr_tiles *after, const tsr_points_frame *frame, int32_t level, int32_t reach,
                                  const tsr_points *balls, tsr_points **harmless, int32_t *chosen_groups, int32_t *groups)
{
    struct groups g = { 0 };
    tsr_points *host = NULL;
    uint8_t *chosen = NULL;
    int64_t kept = 0;
    *harmless = NULL;
    TSR_TRY(tsr_points_copy(balls, NULL, &host));
    tsr_status status = make_groups(host, frame, level, &g);
    if (status == TSR_OK) chosen = (uint8_t *)calloc((size_t)g.count + 1, 1);
    if (status == TSR_OK && !chosen) status = TSR_FAILED(TSR_ERROR_MEMORY, "reconstruct: out of host memory for %lld thin parts", (long long)g.count);
    for (uint32_t i = 0; i < g.count && status == TSR_OK; i++) {
        int well;
        status = is_harmless(&g, i, reach, level, before, after, &well);
        chosen[i] = well != 0;
        kept += well != 0;
    }
    if (status == TSR_OK && kept > 0 && kept < g.count) status = choose(&g, chosen, host, before->context, harmless);
    *chosen_groups = (int32_t)kept;
    *groups = (int32_t)g.count;
    free(chosen);
    free(g.key);
    tsr_points_destroy(&host);
    return status;
}
