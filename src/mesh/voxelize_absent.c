#include "mesh/voxelize_absent.h"

#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "mesh/voxelize_isa.h"

static const int32_t direction_of_side[6] = { 12, 14, 10, 16, 4, 22 };

static int64_t find(const uint64_t *key, int64_t count, uint64_t wanted) { return tsr_key_lower_bound(key, (int32_t)count, wanted); }
/* The same where many are looked for in about the order of the list, those of one row of directions from where the last one was. */
static int64_t seek(const tsr_vox_around *a, int64_t place[9], int32_t direction, uint64_t wanted)
{
    int64_t at = place[direction / 3];
    while (at > 0 && a->key[at - 1] >= wanted) at--;
    while (at < a->tiles && a->key[at] < wanted) at++;
    return place[direction / 3] = at;
}
static void seek_from(const tsr_vox_around *a, int64_t place[9], int64_t tile)
{
    for (int32_t k = 0; k < 9; k++) place[k] = tile < a->tiles ? find(a->key, a->tiles, a->key[tile] + (uint64_t)tsr_key_offset(3 * k)) : 0;
}
static int same_row(uint64_t a, uint64_t b) { return a >> TSR_KEY_BITS == b >> TSR_KEY_BITS; }
static uint64_t full(const tsr_vox_grid *g) { return g->log2_edge == 3 ? UINT64_MAX : UINT64_C(0xffff); }

/* ---- missing tiles -------------------------------------------------------------------------------------------------------------------- */

enum { UNKNOWN, CONSTANT, MIXED };

/* A tile that is not stored. */
struct absent {
    uint64_t key, face[6];
    int32_t kind, wanted; /* to be stored */
};

struct missing {
    const tsr_vox_around *a;
    struct absent *known; /* in the order they were met */
    int64_t count, room, done;
    uint32_t *slot; /* hash of known: number + 1 */
    uint64_t mask;
    int64_t *todo; /* those that are wanted */
    int64_t most, wanted, todo_room;
};

static void *grown(void *memory, int64_t *room, size_t size)
{
    const int64_t more = 2 * *room + 1024;
    void *larger = realloc(memory, (size_t)more * size);
    if (larger) *room = more;
    return larger;
}

static tsr_status rehash(struct missing *m)
{
    const uint64_t mask = m->mask ? 2 * m->mask + 1 : 4095;
    uint32_t *slot = (uint32_t *)calloc(mask + 1, sizeof *slot);
    if (!slot) TSR_FAIL(TSR_ERROR_MEMORY, "mesh: out of memory for %lld tiles around holes", (long long)m->count);
    for (int64_t i = 0; i < m->count; i++) {
        uint64_t at = tsr_mix64(m->known[i].key) & mask;
        while (slot[at]) at = (at + 1) & mask;
        slot[at] = (uint32_t)i + 1;
    }
    free(m->slot);
    m->slot = slot;
    m->mask = mask;
    return TSR_OK;
}

/* The number of the absent tile, a new one if it was not met. */
static tsr_status meet(struct missing *m, uint64_t key, int64_t *number)
{
    if (2 * (uint64_t)(m->count + 1) > m->mask) TSR_TRY(rehash(m));
    uint64_t at = tsr_mix64(key) & m->mask;
    while (m->slot[at] && m->known[m->slot[at] - 1].key != key) at = (at + 1) & m->mask;
    if (!m->slot[at]) {
        if (m->count == m->room) {
            void *larger = grown(m->known, &m->room, sizeof *m->known);
            if (!larger) TSR_FAIL(TSR_ERROR_MEMORY, "mesh: out of memory for %lld tiles around holes", (long long)m->count);
            m->known = (struct absent *)larger;
        }
        m->known[m->count++] = (struct absent){ .key = key };
        m->slot[at] = (uint32_t)m->count;
    }
    *number = (int64_t)m->slot[at] - 1;
    return TSR_OK;
}

/* Winding numbers of crossings of a row of an absent tile: what the stored tiles of its row say. */
static const int32_t *rows_of(const tsr_vox_around *a, uint64_t key)
{
    const int64_t rows = (int64_t)1 << (2 * a->g->log2_edge), at = find(a->key, a->tiles, key);
    if (at < a->tiles && same_row(a->key[at], key)) return a->entry + at * rows;
    if (at > 0 && same_row(a->key[at - 1], key)) return a->exit + (at - 1) * rows;
    return NULL;
}

static void evaluate(const tsr_vox_around *a, struct absent *n)
{
    const tsr_vox_grid *g = a->g;
    const int32_t tile[3] = { tsr_key_x(n->key), tsr_key_y(n->key), tsr_key_z(n->key) }, edge = 1 << g->log2_edge;
    const int32_t *rows = rows_of(a, n->key);
    int32_t winding[512], turn, inside = 0;
    float phi[512];
    n->kind = CONSTANT;
    if (tsr_vox_steady(g, tile, &turn)) {
        inside = tsr_vox_inside(g, turn + (rows ? rows[tsr_vox_middle_row(g)] : 0));
        for (int32_t side = 0; side < 6; side++) n->face[side] = inside ? full(g) : 0;
        return;
    }
    for (int32_t i = 0; i < edge * edge * edge; i++) winding[i] = rows ? rows[i >> g->log2_edge] : 0;
    TSR_ISA_SELECT(tsr_vox_turns)(g, tile, winding);
    for (int32_t i = 0; i < edge * edge * edge; i++) {
        const int own = tsr_vox_inside(g, winding[i]);
        phi[i] = own ? -1.0f : 1.0f;
        inside += own;
    }
    if (inside && inside < edge * edge * edge) n->kind = MIXED;
    for (int32_t side = 0; side < 6; side++) n->face[side] = tsr_vox_face(phi, g->log2_edge, side);
}

static void evaluate_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct missing *m = (struct missing *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) evaluate(m->a, &m->known[m->done + i]);
}

static int may_be_added(const tsr_vox_around *a, uint64_t key)
{
    const int32_t at[3] = { tsr_key_x(key), tsr_key_y(key), tsr_key_z(key) };
    for (int k = 0; k < 3; k++)
        if (at[k] < a->lower[k] || at[k] > a->upper[k]) return 0;
    return 1;
}

static int is_stored(const tsr_vox_around *a, uint64_t key, int64_t *at)
{
    *at = find(a->key, a->tiles, key);
    return *at < a->tiles && a->key[*at] == key;
}

static tsr_status want(struct missing *m, int64_t number)
{
    if (m->known[number].wanted) return TSR_OK;
    m->known[number].wanted = 1;
    if (m->wanted == m->most)
        TSR_FAIL(TSR_ERROR_CAPACITY, "mesh: its holes need more than %lld tiles at this spacing: close them or use a larger spacing",
                 (long long)m->most);
    if (m->wanted == m->todo_room) {
        void *larger = grown(m->todo, &m->todo_room, sizeof *m->todo);
        if (!larger) TSR_FAIL(TSR_ERROR_MEMORY, "mesh: out of memory for %lld tiles across holes", (long long)m->wanted);
        m->todo = (int64_t *)larger;
    }
    m->todo[m->wanted++] = number;
    return TSR_OK;
}

/* The absent tiles beside one that is stored, or to be stored. Those whose sides differ are wanted, too. */
static tsr_status look_around(struct missing *m, uint64_t key, const uint64_t face[6], int64_t place[9])
{
    for (int32_t side = 0; side < 6; side++) {
        const uint64_t beside = key + (uint64_t)tsr_key_offset(direction_of_side[side]);
        int64_t number = place ? seek(m->a, place, direction_of_side[side], beside) : find(m->a->key, m->a->tiles, beside);
        if ((number < m->a->tiles && m->a->key[number] == beside) || !may_be_added(m->a, beside)) continue;
        TSR_TRY(meet(m, beside, &number));
        if (m->known[number].kind != UNKNOWN && m->known[number].face[side ^ 1] != face[side]) TSR_TRY(want(m, number));
    }
    return TSR_OK;
}

/* One whose sides are known now, against what is, or will be, stored beside it. */
static tsr_status judge(struct missing *m, int64_t number)
{
    const struct absent own = m->known[number];
    int differs = own.kind == MIXED;
    for (int32_t side = 0; side < 6 && !differs; side++) {
        const uint64_t beside = own.key + (uint64_t)tsr_key_offset(direction_of_side[side]);
        int64_t at;
        if (is_stored(m->a, beside, &at)) {
            differs = m->a->face[at][side ^ 1] != own.face[side];
        } else if (may_be_added(m->a, beside)) {
            for (uint64_t place = tsr_mix64(beside) & m->mask; m->slot[place]; place = (place + 1) & m->mask) {
                const struct absent *other = &m->known[m->slot[place] - 1];
                if (other->key != beside) continue;
                differs = other->wanted && other->face[side ^ 1] != own.face[side];
                break;
            }
        }
    }
    if (differs) TSR_TRY(want(m, number));
    return TSR_OK;
}

static tsr_status follow(struct missing *m)
{
    const tsr_vox_around *a = m->a;
    int64_t looked = 0, place[9];
    seek_from(a, place, 0);
    for (int64_t t = 0; t < a->tiles; t++) TSR_TRY(look_around(m, a->key[t], a->face[t], place));
    while (m->done < m->count) {
        const int64_t begin = m->done, end = m->count;
        tsr_parallel(a->threads, end - begin, 16, evaluate_range, m);
        m->done = end;
        for (int64_t i = begin; i < end; i++) TSR_TRY(judge(m, i));
        for (; looked < m->wanted; looked++) {
            const struct absent own = m->known[m->todo[looked]];
            TSR_TRY(look_around(m, own.key, own.face, NULL));
        }
    }
    return TSR_OK;
}

static int key_order(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

tsr_status tsr_vox_missing(const tsr_vox_around *a, int64_t most, uint64_t **keys, int64_t *count)
{
    struct missing m = { .a = a, .most = most };
    tsr_status status = follow(&m);
    *keys = NULL;
    *count = 0;
    if (status == TSR_OK && m.wanted) {
        *keys = (uint64_t *)malloc((size_t)m.wanted * sizeof **keys);
        if (!*keys) status = TSR_FAILED(TSR_ERROR_MEMORY, "mesh: out of memory for %lld tiles across holes", (long long)m.wanted);
        for (; *count < m.wanted && *keys; ++*count) (*keys)[*count] = m.known[m.todo[*count]].key;
        if (*keys) qsort(*keys, (size_t)*count, sizeof **keys, key_order);
    }
    free(m.known);
    free(m.slot);
    free(m.todo);
    return status;
}

/* ---- signs of what is absent ------------------------------------------------------------------------------------------------------------ */

/* Gaps between two tiles of a row are numbered by the tile before them, from 1; 0 is what is not enclosed. */
struct regions {
    const tsr_vox_around *a;
    uint32_t *parent;    /* [tiles + 1] */
    int64_t (*votes)[2]; /* [tiles + 1] of roots: voxels around it, outside and inside */
    uint8_t *inside;     /* [tiles + 1] of roots */
    uint32_t *constant;
};

static uint32_t root_of(struct regions *r, uint32_t i)
{
    while (r->parent[i] != i) i = r->parent[i] = r->parent[r->parent[i]];
    return i;
}
static void join(struct regions *r, uint32_t a, uint32_t b)
{
    a = root_of(r, a);
    b = root_of(r, b);
    if (a < b) r->parent[b] = a;
    else r->parent[a] = b;
}

/* The gap of an absent tile whose place in the list is `at`. */
static uint32_t gap_at(const tsr_vox_around *a, int64_t at, uint64_t key)
{
    return at > 0 && at < a->tiles && same_row(a->key[at - 1], key) && same_row(a->key[at], key) ? (uint32_t)at : 0;
}

/* Joins the gap between tiles t and t + 1 with those of the row beside it that it overlaps. */
static void join_row(struct regions *r, int64_t t, int32_t direction)
{
    const tsr_vox_around *a = r->a;
    const uint64_t first = a->key[t] + 1 + (uint64_t)tsr_key_offset(direction), last = a->key[t + 1] - 1 + (uint64_t)tsr_key_offset(direction);
    int64_t at = find(a->key, a->tiles, first);
    for (uint64_t key = first; key <= last; at++) { /* the gap before tile `at`, if there is one, then behind that tile */
        if (at >= a->tiles || a->key[at] > key) join(r, (uint32_t)(t + 1), gap_at(a, at, key));
        if (at >= a->tiles || a->key[at] > last) break;
        key = a->key[at] + 1;
    }
}

static void vote(struct regions *r)
{
    const tsr_vox_around *a = r->a;
    int64_t place[9];
    seek_from(a, place, 0);
    for (int64_t t = 0; t < a->tiles; t++)
        for (int32_t side = 0; side < 6; side++) {
            const uint64_t key = a->key[t] + (uint64_t)tsr_key_offset(direction_of_side[side]);
            const int64_t at = seek(a, place, direction_of_side[side], key), in = __builtin_popcountll(a->face[t][side]);
            if (at < a->tiles && a->key[at] == key) continue;
            const uint32_t region = r->parent[gap_at(a, at, key)];
            r->votes[region][0] += ((int64_t)1 << (2 * a->g->log2_edge)) - in;
            r->votes[region][1] += in;
        }
    for (int64_t i = 1; i <= a->tiles; i++) r->inside[i] = r->parent[i] == i && r->votes[i][1] > r->votes[i][0];
    r->inside[0] = 0;
}

static void constants_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct regions *r = (struct regions *)user;
    const tsr_vox_around *a = r->a;
    int64_t place[9];
    (void)worker;
    seek_from(a, place, begin);
    for (int64_t t = begin; t < end; t++) {
        uint32_t bits = 0;
        for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
            const uint64_t key = a->key[t] + (uint64_t)tsr_key_offset(d);
            const int64_t at = seek(a, place, d, key);
            if (at < a->tiles && a->key[at] == key) continue;
            bits |= (uint32_t)r->inside[r->parent[gap_at(a, at, key)]] << d; /* the trees are flat by now */
        }
        r->constant[t] = bits;
    }
}

/* Sides that do not fit; with a list, writes them. */
static int64_t unfit(const struct regions *r, tsr_vox_forced *forced)
{
    const tsr_vox_around *a = r->a;
    int64_t n = 0;
    for (int64_t t = 0; t < a->tiles; t++)
        for (int32_t side = 0; side < 6; side++) {
            const int32_t d = direction_of_side[side], inside = (int32_t)(r->constant[t] >> d & 1u);
            const uint64_t key = a->key[t] + (uint64_t)tsr_key_offset(d);
            if (a->face[t][side] == (inside ? full(a->g) : 0)) continue;
            const int64_t at = find(a->key, a->tiles, key);
            if (at < a->tiles && a->key[at] == key) continue;
            if (forced) forced[n] = (tsr_vox_forced){ t, side, inside };
            n++;
        }
    return n;
}

/* Has a tile two sides that meet, and beside them different constants? */
static int contradicts(const struct regions *r)
{
    const tsr_vox_around *a = r->a;
    for (int64_t t = 0; t < a->tiles; t++) {
        int32_t axes[2] = { 0, 0 }; /* along which there is something absent outside, and inside */
        for (int32_t side = 0; side < 6; side++) {
            int64_t at;
            if (is_stored(a, a->key[t] + (uint64_t)tsr_key_offset(direction_of_side[side]), &at)) continue;
            axes[r->constant[t] >> direction_of_side[side] & 1u] |= 1 << (side >> 1);
        }
        if (axes[0] && axes[1] && (axes[0] != axes[1] || (axes[0] & (axes[0] - 1)))) return 1; /* but for the two sides of one axis */
    }
    return 0;
}

static tsr_status decide(struct regions *r, tsr_vox_forced **forced, int64_t *count)
{
    const tsr_vox_around *a = r->a;
    for (int round = 0; round < 2; round++) {
        tsr_parallel(a->threads, a->tiles, 256, constants_range, r);
        *count = unfit(r, NULL);
        free(*forced);
        *forced = (tsr_vox_forced *)malloc((size_t)(*count + 1) * sizeof **forced);
        if (!*forced) TSR_FAIL(TSR_ERROR_MEMORY, "mesh: out of memory for the sides of %lld tiles", (long long)*count);
        unfit(r, *forced);
        if (!*count || !contradicts(r)) break;
        memset(r->inside, 0, (size_t)a->tiles + 1);
    }
    return TSR_OK;
}

tsr_status tsr_vox_absent_signs(const tsr_vox_around *a, uint32_t *constant, tsr_vox_forced **forced, int64_t *count, int64_t *inside)
{
    const size_t n = (size_t)a->tiles + 1;
    struct regions r = { .a = a, .constant = constant };
    tsr_status status = TSR_OK;
    *forced = NULL;
    *count = *inside = 0;
    r.parent = (uint32_t *)malloc(n * sizeof *r.parent);
    r.votes = (int64_t(*)[2])calloc(n, sizeof *r.votes);
    r.inside = (uint8_t *)calloc(n, 1);
    if (!r.parent || !r.votes || !r.inside)
        status = TSR_FAILED(TSR_ERROR_MEMORY, "mesh: out of memory for the gaps between %lld tiles", (long long)a->tiles);
    if (status == TSR_OK) {
        static const int32_t beside[4] = { 10, 16, 4, 22 };
        for (size_t i = 0; i < n; i++) r.parent[i] = (uint32_t)i;
        for (int64_t t = 0; t + 1 < a->tiles; t++)
            if (same_row(a->key[t], a->key[t + 1]) && a->key[t + 1] > a->key[t] + 1)
                for (int k = 0; k < 4; k++) join_row(&r, t, beside[k]);
        for (size_t i = 0; i < n; i++) r.parent[i] = root_of(&r, (uint32_t)i);
        vote(&r);
        status = decide(&r, forced, count);
    }
    for (int64_t t = 0; t + 1 < a->tiles && status == TSR_OK; t++)
        if (same_row(a->key[t], a->key[t + 1]) && constant[t] >> 14 & 1u) *inside += (int64_t)(a->key[t + 1] - a->key[t] - 1);
    free(r.parent);
    free(r.votes);
    free(r.inside);
    if (status != TSR_OK) free(*forced);
    if (status != TSR_OK) *forced = NULL;
    return status;
}
