/* solver/resample_cpu.c: lists of half and of twice the resolution on the CPU. */
#include "core/parallel.h"
#include "solver/engine.h"
#include "solver/resample.h"

enum { TILES_PER_CHUNK = 32 };

struct resample {
    const tsr_tile_pool *from, *to;
    int up;
};

static void upsample_tile(const struct resample *r, uint64_t key, uint32_t id, const uint32_t *row)
{
    const tsr_tile_pool *from = r->from, *to = r->to;
    const float *phi = from->phi[from->state->phi];
    const int32_t E = 1 << to->log2_edge, V = E * E * E;
    float values[64];
    if (V == 64) tsr_upsampled_tile(from, phi, row, key, to->band, values);
    for (int32_t i = 0; i < V; i++) {
        const int32_t at[3] = { i % E, i / E % E, i / (E * E) };
        const float v = V == 64 ? values[i] : tsr_upsampled_value(from, phi, row, key, at, to->band);
        for (int b = 0; b < 2; b++) tsr_pool_put(to, to->phi[b], (int64_t)id * V + i, v);
    }
}

static void downsample_tile(const struct resample *r, uint64_t key, uint32_t id)
{
    const tsr_tile_pool *from = r->from, *to = r->to;
    const tsr_tile_state *state = from->state;
    const int32_t E = 1 << to->log2_edge, V = E * E * E;
    uint32_t children[8] = { 0 };
    int64_t covered = 0;
    for (int32_t c = 0; c < 8; c++) {
        const uint64_t child = tsr_key_child(key, c);
        children[c] = tsr_tile_find(from, tsr_pool_keys(from, state->list), from->id[state->list], state->count, state->background, child);
        if (children[c] == TSR_TILE_INSIDE && tsr_tile_allowed(from, child)) covered += tsr_tile_voxels(from, child);
    }
    if (covered) __atomic_fetch_sub(&to->state->inside_absent, covered, __ATOMIC_RELAXED);
    for (int32_t i = 0; i < V; i++) {
        const int32_t at[3] = { i % E, i / E % E, i / (E * E) };
        const float v = tsr_downsampled_value(from, from->phi[state->phi], children, at, to->band);
        for (int b = 0; b < 2; b++) tsr_pool_put(to, to->phi[b], (int64_t)id * V + i, v);
    }
}

/* The first entry from `at` on that is not below the key: near by if tiles come in order, else searched for. */
static int32_t cursor_move(tsr_keys keys, int32_t count, int32_t at, uint64_t key)
{
    enum { NEAR = 16 };
    for (int i = 0; i < NEAR; i++, at++)
        if (at >= count || tsr_key_at(keys, at) >= key) return at;
    return at + tsr_keys_lower_bound(tsr_keys_from(keys, at), count - at, key);
}

/* Tiles of a range come in the order of their keys, and so do their parents and their neighbours: one cursor for each of the nine rows of tiles. */
static void resample_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct resample *r = (const struct resample *)user;
    const tsr_tile_pool *from = r->from, *to = r->to;
    const tsr_tile_state *state = from->state;
    const int32_t count = to->state->count, coarse = state->count;
    const tsr_keys keys = tsr_pool_keys(to, 0);
    int32_t cursor[9] = { 0 };
    (void)worker;
    for (int64_t at = begin; at < end; at++) {
        const uint64_t key = tsr_key_at(keys, at);
        const uint32_t id = to->id[0][at];
        uint32_t *near = to->neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW;
        if (!r->up) {
            downsample_tile(r, key, id);
            for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++)
                near[d] = d == TSR_TILE_MIDDLE ? id : tsr_resampled_neighbour(from, to, NULL, key, d, 0);
            continue;
        }
        const int32_t parent = tsr_keys_lower_bound(tsr_pool_keys(from, state->list), coarse, tsr_key_half(key));
        const uint32_t *row = from->neighbours + (int64_t)from->id[state->list][parent] * TSR_NEIGHBOUR_ROW;
        upsample_tile(r, key, id, row);
        for (int32_t line = 0; line < 9; line++) {
            int32_t place = cursor[line] = cursor_move(keys, count, cursor[line], key + (uint64_t)tsr_key_offset(3 * line));
            for (int32_t d = 3 * line; d < 3 * line + 3; d++) {
                const uint32_t entry = tsr_upsampled_entry(row, key, d);
                const uint64_t other = key + (uint64_t)tsr_key_offset(d);
                while (place < count && tsr_key_at(keys, place) < other) place++;
                near[d] = place < count && tsr_key_at(keys, place) == other
                              ? to->id[0][place]
                              : tsr_resampled_constant(entry < TSR_TILE_FIRST ? entry : TSR_TILE_OUTSIDE);
            }
        }
    }
}

tsr_status tsr_resample_cpu(tsr_queue *queue, const tsr_tile_pool *from, const tsr_tile_pool *to, int up)
{
    struct resample r = { from, to, up };
    tsr_parallel(queue->threads, to->state->count, TILES_PER_CHUNK, resample_range, &r);
    return TSR_OK;
}
