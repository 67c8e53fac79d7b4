/* levelset/engine_cpu.c: the passes of the level-set solver on the CPU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "grid/tiles_halo.h"
#include "levelset/engine_tile.h"
#include "levelset/resample.h"

enum { TILES_PER_CHUNK = 32, TILE_MOST = 8 * 8 * 8 };

struct tsr_flow_plan {
    tsr_tile_pool pool;
    tsr_flow_setup setup;
    tsr_payload_provider provider;
    tsr_flow_control *control;
    int64_t created;           /* tiles, by its steps */
    uint32_t areas[TILE_MOST]; /* of a tile that lies in the domain as a whole */
};

static void tile_areas(const tsr_flow_plan *plan, const int32_t extent[3], uint32_t *areas)
{
    const int32_t E = 1 << plan->pool.log2_edge;
    for (int32_t i = 0; i < E * E * E; i++) {
        const int32_t x = i % E, y = i / E % E, z = i / (E * E);
        areas[i] = x < extent[0] && y < extent[1] && z < extent[2] ? tsr_areas(x, y, z, E, plan->setup.guard) : 0u;
    }
}

static tsr_status cpu_plan_create(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_flow_setup *setup, const tsr_payload_provider *provider,
                                  tsr_flow_control *control, tsr_flow_plan **plan)
{
    (void)queue;
    *plan = NULL;
    tsr_flow_plan *made = (tsr_flow_plan *)calloc(1, sizeof *made);
    if (!made) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory: %zu bytes asked for", sizeof *made);
    const int32_t E = 1 << pool->log2_edge, whole[3] = { E, E, E };
    made->pool = *pool;
    made->setup = *setup;
    if (provider) made->provider = *provider;
    made->control = control;
    tile_areas(made, whole, made->areas);
    *plan = made;
    return TSR_OK;
}

static void cpu_plan_destroy(tsr_queue *queue, tsr_flow_plan **plan)
{
    (void)queue;
    free(*plan);
    *plan = NULL;
}

/* ---- coded fields ---------------------------------------------------------------------------------------------------------------------------- */

/* A tile of a coded list and its neighbours, decoded as far as stencils reach: pages by direction, and the row that finds them there. */
struct near_tiles {
    _Alignas(64) float page[TSR_TILE_DIRECTIONS * TILE_MOST]; /* a tile after the other, without gaps */
    uint32_t row[TSR_NEIGHBOUR_ROW];
};

static void decode(const tsr_coding *c, const int16_t *from, float *to, int64_t count)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++) to[i] = tsr_code_value(c, from[i]);
}
static void encode(const tsr_coding *c, const float *from, int16_t *to, int64_t count)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++) to[i] = (int16_t)tsr_code_of(c, from[i]);
}
static const int16_t *codes_of(const float *phi, int64_t first) { return (const int16_t *)(const void *)phi + first; }

static void decode_around(const tsr_tile_pool *pool, const tsr_coding *c, const float *phi, uint32_t id, int32_t radius, struct near_tiles *near)
{
    const int32_t E = 1 << pool->log2_edge, plane = E * E, V = plane * E;
    const uint32_t *row = pool->neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW;
    for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
        const int32_t first = d < 9 ? (E - radius) * plane : 0, count = d < 9 || d >= 18 ? radius * plane : V; /* planes along z */
        decode(c, codes_of(phi, (int64_t)row[d] * V + first), near->page + (int64_t)d * V + first, count);
        near->row[d] = (uint32_t)d;
    }
}

/* Payload pages of a tile and its neighbours across faces: those of the list, or of a coded one floats. */
struct near_payload {
    const float *pages;
    const uint32_t *row;
    _Alignas(64) float decoded[(TSR_TILE_FIRST + 7) * TILE_MOST]; /* a tile after the other: both constants, then those that are there */
    uint32_t renamed[TSR_NEIGHBOUR_ROW];
};

static void payload_around(const tsr_tile_pool *pool, uint32_t id, struct near_payload *near)
{
    static const int32_t seen[7] = { TSR_TILE_MIDDLE,     TSR_TILE_MIDDLE - 1, TSR_TILE_MIDDLE + 1, TSR_TILE_MIDDLE - 3,
                                     TSR_TILE_MIDDLE + 3, TSR_TILE_MIDDLE - 9, TSR_TILE_MIDDLE + 9 };
    const int32_t V = 1 << 3 * pool->log2_edge;
    const uint32_t *row = pool->neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW;
    const uint16_t *codes = (const uint16_t *)(const void *)pool->payload;
    near->pages = pool->payload;
    near->row = row;
    if (!pool->coded) return;
    uint32_t fresh = TSR_TILE_FIRST;
    memset(near->decoded, 0, (size_t)TSR_TILE_FIRST * (size_t)V * sizeof *near->decoded);
    for (int k = 0; k < 7; k++) {
        const uint32_t from = row[seen[k]], to = from < TSR_TILE_FIRST ? from : fresh++;
        near->renamed[seen[k]] = to;
        if (from < TSR_TILE_FIRST) continue;
#pragma omp simd
        for (int32_t i = 0; i < V; i++) near->decoded[(int64_t)to * V + i] = (float)codes[(int64_t)from * V + i];
    }
    near->pages = near->decoded;
    near->row = near->renamed;
}

/* ---- one tile -------------------------------------------------------------------------------------------------------------------------------- */

/* The same voxel by voxel, for those whose row of neighbours is not complete. */
static void payload_gradient_range(const tsr_flow_plan *plan, const struct near_payload *near, const int32_t extent[3], const int32_t low[3],
                                   const int32_t high[3], float gradient[3][TILE_MOST])
{
    const int32_t E = 1 << plan->pool.log2_edge;
    float slope[3];
    for (int32_t z = low[2]; z < high[2]; z++)
        for (int32_t y = low[1]; y < high[1]; y++)
            for (int32_t x = low[0]; x < high[0]; x++) {
                tsr_page_gradient(near->pages, 0, E, near->row, x, y, z, extent, plan->setup.scheme.inverse_spacing, slope);
                for (int k = 0; k < 3; k++) gradient[k][(z * E + y) * E + x] = slope[k];
            }
}

/* Gradient of the payload at every voxel of a tile, or the velocity it holds there: differences between rows, whole rows at a time, then the faces towards absent tiles. */
static void payload_gradient(const tsr_flow_plan *plan, const struct near_payload *near, const int32_t extent[3], float gradient[3][TILE_MOST])
{
    const int32_t E = 1 << plan->pool.log2_edge, V = E * E * E, whole[3] = { E, E, E }, first[3] = { 0, 0, 0 };
    const uint32_t *row = near->row;
    if (tsr_flow_payload(&plan->setup.flow) == TSR_PAYLOAD_VELOCITY) {
        const float *words = near->pages + (int64_t)row[TSR_TILE_MIDDLE] * V;
        for (int32_t k = 0; k < 3; k++)
            for (int32_t i = 0; i < V; i++) gradient[k][i] = tsr_pull_component(tsr_float_bits(words[i]), k);
        return;
    }
    if (extent[0] < E || extent[1] < E || extent[2] < E) {
        payload_gradient_range(plan, near, extent, first, whole, gradient);
        return;
    }
    const float *pages = near->pages, *own = pages + (int64_t)row[TSR_TILE_MIDDLE] * V;
    float scale[3];
    for (int k = 0; k < 3; k++) scale[k] = 0.5f * plan->setup.scheme.inverse_spacing[k];
    for (int k = 1; k < 3; k++) { /* along y and z a row is a difference of two rows */
        const int32_t stride = k == 1 ? E : E * E, direction = k == 1 ? 3 : 9, last = (E - 1) * stride;
        const float *below = pages + (int64_t)row[TSR_TILE_MIDDLE - direction] * V + last,
                    *above = pages + (int64_t)row[TSR_TILE_MIDDLE + direction] * V - last;
        for (int32_t i = 0; i < V; i += E) {
            const int32_t at = (i / stride) & (E - 1);
            const float *before = at > 0 ? own + i - stride : below + i, *after = at < E - 1 ? own + i + stride : above + i;
            for (int32_t x = 0; x < E; x++) gradient[k][i + x] = (after[x] - before[x]) * scale[k];
        }
    }
    const float *left = pages + (int64_t)row[TSR_TILE_MIDDLE - 1] * V + E - 1, *right = pages + (int64_t)row[TSR_TILE_MIDDLE + 1] * V;
    for (int32_t i = 0; i < V; i += E) {
        float line[10];
        line[0] = left[i];
        for (int32_t x = 0; x < E; x++) line[x + 1] = own[i + x];
        line[E + 1] = right[i];
        for (int32_t x = 0; x < E; x++) gradient[0][i + x] = (line[x + 2] - line[x]) * scale[0];
    }
    for (int32_t k = 0, direction = 1; k < 3; k++, direction *= 3)
        for (int32_t side = 0; side < 2; side++) {
            if (row[TSR_TILE_MIDDLE + (side ? direction : -direction)] >= TSR_TILE_FIRST) continue;
            int32_t low[3] = { 0, 0, 0 }, high[3] = { E, E, E };
            low[k] = side ? E - 1 : 0;
            high[k] = low[k] + 1;
            payload_gradient_range(plan, near, extent, low, high, gradient);
        }
}

/* A pass of redistancing over a tile. */
static uint32_t distance_tile(const tsr_tile_pass *pass, int seed, tsr_tile_totals *totals)
{
    const int32_t E = pass->edge, R = pass->radius, H = E + 2 * R;
    const tsr_flow_scheme *k = pass->scheme;
    uint32_t bits = 0;
    for (int32_t z = 0; z < pass->extent[2]; z++)
        for (int32_t y = 0; y < pass->extent[1]; y++)
            for (int32_t x = 0; x < pass->extent[0]; x++) {
                const int32_t i = (z * E + y) * E + x;
                const float *p = pass->cube + ((z + R) * H + y + R) * H + x + R;
                const int still = tsr_voxel_still(p, H, H * H, k->band);
                const float found = still ? p[0] : tsr_distance_value(p, H, H * H, k, seed);
                const float v = pass->coding ? tsr_code_rounded(pass->coding, found) : found;
                if (!tsr_finite(p[0])) {
                    const uint64_t word = tsr_bad_word(pass->index, pass->entry, i);
                    totals->bad = word > totals->bad ? word : totals->bad;
                }
                const int in_band = v > -k->band && v < k->band;
                pass->out[i] = v;
                if (in_band || tsr_voxel_crossing(p, H, H * H)) bits |= pass->areas[i];
                if (in_band) totals->change = tsr_maxf(totals->change, tsr_absf(v - pass->start[i]));
                totals->active += in_band;
                totals->inside += v < 0.0f;
            }
    return bits;
}

struct job {
    const tsr_flow_plan *plan;
    tsr_flow_moment moment;
    const float *from, *start;
    float *to;
    float step, blend;
    int sweep, last, measure, need_gradient, index;
    tsr_tile_totals totals;
    uint32_t oldest_young; /* largest 255 - age */
};

static void merge_largest(float *to, float v)
{
    uint32_t bits = tsr_float_bits(v), *word = (uint32_t *)(void *)to; /* not negative: the order of the bits is the order of the numbers */
    for (uint32_t old = __atomic_load_n(word, __ATOMIC_RELAXED); bits > old;)
        if (__atomic_compare_exchange_n(word, &old, bits, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) break;
}

static void merge_bad(uint64_t *to, uint64_t word)
{
    for (uint64_t old = __atomic_load_n(to, __ATOMIC_RELAXED); word > old;)
        if (__atomic_compare_exchange_n(to, &old, word, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) break;
}

static void merge_totals(struct job *job, const tsr_tile_totals *t, uint32_t oldest)
{
    __atomic_fetch_add(&job->totals.active, t->active, __ATOMIC_RELAXED);
    __atomic_fetch_add(&job->totals.inside, t->inside, __ATOMIC_RELAXED);
    merge_bad(&job->totals.bad, t->bad);
    merge_largest(&job->totals.change, t->change);
    merge_largest(&job->totals.rate, t->rate);
    merge_largest(&job->totals.curvature, t->curvature);
    for (uint32_t old = __atomic_load_n(&job->oldest_young, __ATOMIC_RELAXED); oldest > old;)
        if (__atomic_compare_exchange_n(&job->oldest_young, &old, oldest, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) break;
}

/* The tile that comes next, on its way from memory while this one is worked on: what it is made from, and the planes and rows of those
 * after it in the list that its halo reads first. */
static void prefetch_tile(const struct job *job, const tsr_tile_pool *pool, uint32_t id, int needs_start)
{
    enum { LINE = 16, UP_Y = TSR_TILE_MIDDLE + 3, UP_Z = TSR_TILE_MIDDLE + 9 };
    const int32_t E = 1 << pool->log2_edge, V = E * E * E;
    const uint32_t *row = pool->neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW;
    const float *from = job->from + (int64_t)id * V, *start = (needs_start ? job->start : job->from) + (int64_t)id * V,
                *above = job->from + (int64_t)row[UP_Z] * V, *beside = job->from + (int64_t)row[UP_Y] * V;
    for (int32_t i = 0; i < V; i += LINE) {
        __builtin_prefetch(from + i, 0);
        if (start != from) __builtin_prefetch(start + i, 0);
    }
    for (int32_t i = 0; i < E * E; i += LINE) __builtin_prefetch(above + i, 0);
    for (int32_t z = 0; z < E; z++) __builtin_prefetch(beside + z * E * E, 0);
}

/* What comes after entry `at` of the list on its way: tiles of edge 4 at once, those of edge 8 while they are worked on, and two tiles before their
 * turn, for the halo of the one between reads nearly all of a neighbour. */
static void look_ahead(const struct job *job, const tsr_tile_pool *pool, int64_t at, int64_t end, int needs_start, tsr_tile_pass *pass)
{
    enum { ROWS = 4, LINE = 16 };
    const int32_t E = 1 << pool->log2_edge, V = E * E * E;
    const uint32_t *id = pool->id[pool->state->list];
    if (at + ROWS < end) {
        const uint32_t *row = pool->neighbours + (int64_t)id[at + ROWS] * TSR_NEIGHBOUR_ROW;
        __builtin_prefetch(row, 0);
        __builtin_prefetch(row + LINE, 0);
    }
    if (E == 4) {
        if (at + 1 < end) prefetch_tile(job, pool, id[at + 1], needs_start);
        return;
    }
    pass->ahead[0] = NULL;
    if (at + 2 >= end) return;
    const int64_t next = id[at + 2];
    const uint32_t *row = pool->neighbours + next * TSR_NEIGHBOUR_ROW;
    pass->ahead[0] = job->from + next * V;
    pass->ahead[1] = job->to + next * V;
    pass->ahead[2] = job->from + (int64_t)row[TSR_TILE_MIDDLE - 9] * V + V - E * E;
    pass->ahead[3] = job->from + (int64_t)row[TSR_TILE_MIDDLE + 9] * V;
    pass->ahead[4] = job->from + (int64_t)row[TSR_TILE_MIDDLE - 3] * V + E * E - E;
    pass->ahead[5] = job->from + (int64_t)row[TSR_TILE_MIDDLE + 3] * V;
    /* one row each of the tiles that come into sight first: after this one, below and above */
    __builtin_prefetch(job->from + (int64_t)row[TSR_TILE_MIDDLE + 3 - 9] * V + V - E * E, 0);
    __builtin_prefetch(job->from + (int64_t)row[TSR_TILE_MIDDLE + 3 + 9] * V, 0);
}

static void pass_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct job *job = (struct job *)user;
    const tsr_flow_plan *plan = job->plan;
    const tsr_tile_pool *pool = &plan->pool;
    const tsr_tile_state *state = pool->state;
    const int32_t E = 1 << pool->log2_edge, V = E * E * E, list = state->list;
    const int manages = job->last && plan->control->management + 1 >= plan->setup.managed_every;
    _Alignas(64) float cube[TSR_CROSS_MOST];
    float gradient[3][TILE_MOST];
    uint32_t cut[TILE_MOST], oldest = 0;
    tsr_tile_totals totals = { 0 };
    tsr_tile_pass pass = { .scheme = job->sweep ? &plan->setup.sweep : &plan->setup.scheme,
                           .flow = job->sweep ? NULL : &plan->setup.flow,
                           .moment = &job->moment,
                           .step = job->step,
                           .blend = job->blend,
                           .measure = job->measure,
                           .last = job->last,
                           .edge = E,
                           .radius = plan->setup.radius,
                           .index = job->index };
    const int32_t kind = job->sweep ? plan->setup.sweep_kind : (int32_t)TSR_SWEEP_RESHAPE;
    const int need_gradient = job->sweep ? 0 : job->need_gradient;
    const int needs_start = job->last || job->blend != 1.0f || pool->bounded; /* else a new value is made of the current one alone */
    const tsr_coding coding = tsr_coding_of(pool->band);
    tsr_tile_pool seen = *pool; /* what the tile is read from: of a coded list the decoded neighbourhood, where it is page 13 */
    struct near_tiles near;
    struct near_payload payload;
    float own_start[TILE_MOST], own_out[TILE_MOST];
    (void)worker;
    memset(cube, 0, sizeof cube);
    if (pool->coded) {
        seen.neighbours = near.row;
        pass.coding = &coding;
    }
    pass.pages = pool->coded ? near.page : job->from;
    for (int64_t at = begin; at < end; at++) {
        const uint32_t id = pool->id[list][at];
        const uint64_t key = tsr_pool_key(pool, list, at);
        if (!pool->coded) look_ahead(job, pool, at, end, needs_start, &pass);
        float *out = pool->coded ? own_out : job->to + (int64_t)id * V;
        const uint32_t place = pool->coded ? 0 : id; /* of the tile's row in `seen` */
        if (pool->coded) decode_around(pool, &coding, job->from, id, plan->setup.radius, &near);
        /* no cube: the tile reads its neighbours itself */
        const int32_t reach = plan->setup.radius;
        const int direct = (E == 8 || reach == 1) && kind == TSR_SWEEP_RESHAPE && tsr_halo_clear(pool, key, reach), planes = direct && E == 4;
        pass.row = seen.neighbours + (int64_t)place * TSR_NEIGHBOUR_ROW;
        if (need_gradient) {
            payload_around(pool, id, &payload);
            pass.payload = payload.pages;
            pass.payload_row = payload.row;
            pass.velocities = need_gradient == TSR_PAYLOAD_VELOCITY;
        }
        pass.cube = direct ? NULL : cube;
        if (direct) pass.extent[0] = pass.extent[1] = pass.extent[2] = E;
        else TSR_ISA_SELECT(tsr_flow_gather)(&seen, pass.pages, key, place, plan->setup.radius, cube, pass.extent);
        pass.first[0] = tsr_key_x(key) * E;
        pass.first[1] = tsr_key_y(key) * E;
        pass.first[2] = tsr_key_z(key) * E;
        if (!pool->coded) pass.start = (needs_start ? job->start : job->from) + (int64_t)id * V;
        else if (job->start == job->from) pass.start = near.page + TSR_TILE_MIDDLE * V;
        else {
            decode(&coding, codes_of(job->start, (int64_t)id * V), own_start, V);
            pass.start = own_start;
        }
        pass.out = out;
        pass.entry = (int32_t)at;
        pass.areas = plan->areas;
        if (pass.extent[0] < E || pass.extent[1] < E || pass.extent[2] < E) {
            memcpy(out, pass.start, (size_t)V * sizeof *out); /* padding keeps its value */
            tile_areas(plan, pass.extent, cut);
            pass.areas = cut;
        }
        if (need_gradient && !planes) {
            payload_gradient(plan, &payload, pass.extent, gradient);
            for (int k = 0; k < 3; k++) pass.gradient[k] = gradient[k];
        }
        const uint32_t areas =
            kind == TSR_SWEEP_RESHAPE ? TSR_ISA_SELECT(tsr_flow_tile)(&pass, &totals) : distance_tile(&pass, kind == TSR_SWEEP_SEED, &totals);
        if (pool->coded) encode(&coding, out, (int16_t *)(void *)job->to + (int64_t)id * V, V);
        if (!job->last) continue;
        pool->activity[id] = areas ? areas : out[0] > 0.0f ? TSR_ACTIVITY_OUTSIDE : 0;
        if (!manages) continue;
        if (pool->age[id] < 255) pool->age[id]++;
        oldest = 255u - pool->age[id] > oldest ? 255u - pool->age[id] : oldest;
    }
    merge_totals(job, &totals, oldest);
}

/* ---- rates of the terms before the first step -------------------------------------------------------------------------------------------------- */

static void measure_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct job *job = (struct job *)user;
    const tsr_flow_plan *plan = job->plan;
    const tsr_tile_pool *pool = &plan->pool;
    const int32_t E = 1 << pool->log2_edge, V = E * E * E, list = pool->state->list;
    const tsr_flow_scheme *k = &plan->setup.scheme;
    float gradient[3][TILE_MOST];
    struct near_payload payload;
    tsr_tile_totals totals = { 0 };
    (void)worker;
    for (int64_t at = begin; at < end; at++) {
        const uint32_t id = pool->id[list][at];
        const uint64_t key = tsr_pool_key(pool, list, at);
        const int32_t first[3] = { tsr_key_x(key) * E, tsr_key_y(key) * E, tsr_key_z(key) * E };
        int32_t extent[3] = { E, E, E };
        for (int a = 0; a < 3 && pool->bounded; a++) extent[a] = tsr_mini(E, pool->domain[a] - first[a]);
        if (job->need_gradient) {
            payload_around(pool, id, &payload);
            payload_gradient(plan, &payload, extent, gradient);
        }
        for (int32_t i = 0; i < V; i++) {
            const int32_t x = i % E, y = i / E % E, z = i / (E * E);
            const float c = tsr_pool_value(pool, job->from, (int64_t)id * V + i);
            if (x >= extent[0] || y >= extent[1] || z >= extent[2] || c <= -k->band || c >= k->band) continue;
            tsr_flow_given given = { 0 };
            for (int a = 0; a < 3 && job->need_gradient; a++) given.gradient[a] = gradient[a][i];
            const tsr_flow_values v = tsr_flow_at(&plan->setup.flow, &job->moment, first[0] + x, first[1] + y, first[2] + z, &given);
            const float rate = tsr_flow_hyperbolic(&v, k), curvature = tsr_absf(v.curvature);
            if (!tsr_finite(rate) || !tsr_finite(curvature)) {
                const uint64_t word = tsr_bad_word(0, (int32_t)at, i);
                totals.bad = word > totals.bad ? word : totals.bad;
                continue;
            }
            totals.rate = tsr_maxf(totals.rate, rate);
            totals.curvature = tsr_maxf(totals.curvature, curvature);
        }
    }
    merge_totals(job, &totals, 0);
}

/* ---- mean curvature, volume, area (spec 2.10) --------------------------------------------------------------------------------------------------- */

struct mean {
    const tsr_flow_plan *plan;
    int64_t sums[3];
};

static void mean_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct mean *mean = (struct mean *)user;
    const tsr_flow_plan *plan = mean->plan;
    const tsr_tile_pool *pool = &plan->pool;
    const tsr_tile_state *state = pool->state;
    const int32_t E = 1 << pool->log2_edge, H = E + 2;
    _Alignas(64) float cube[TSR_CUBE_MOST];
    const tsr_coding coding = tsr_coding_of(pool->band);
    tsr_tile_pool seen = *pool;
    struct near_tiles near;
    int64_t sums[3] = { 0, 0, 0 };
    (void)worker;
    if (pool->coded) seen.neighbours = near.row;
    for (int64_t at = begin; at < end; at++) {
        int32_t extent[3];
        const uint32_t id = pool->id[state->list][at];
        if (pool->coded) decode_around(pool, &coding, pool->phi[state->phi], id, 1, &near);
        else if (E == 8 && tsr_halo_clear(pool, tsr_pool_key(pool, state->list, at), 1)) {
            TSR_ISA_SELECT(tsr_flow_mean_tile)
            (pool->phi[state->phi], pool->neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW, &plan->setup.scheme, plan->setup.delta_width, sums);
            continue;
        }
        tsr_cube_gather(&seen, pool->coded ? near.page : pool->phi[state->phi], tsr_pool_key(pool, state->list, at), pool->coded ? 0 : id, cube,
                        extent);
        for (int32_t z = 0; z < extent[2]; z++)
            for (int32_t y = 0; y < extent[1]; y++)
                for (int32_t x = 0; x < extent[0]; x++)
                    tsr_flow_mean_voxel(cube + ((z + 1) * H + y + 1) * H + x + 1, H, H * H, &plan->setup.scheme, plan->setup.delta_width, sums);
    }
    for (int k = 0; k < 3; k++) __atomic_fetch_add(&mean->sums[k], sums[k], __ATOMIC_RELAXED);
}

static void measure_mean(tsr_queue *queue, const tsr_flow_plan *plan)
{
    struct mean mean = { plan, { 0, 0, 0 } };
    const tsr_tile_state *state = plan->pool.state;
    tsr_parallel(queue->threads, state->count, TILES_PER_CHUNK, mean_range, &mean);
    for (int k = 0; k < 3; k++) plan->control->sums[k] = mean.sums[k];
    tsr_flow_mean(&plan->setup, plan->pool.spacing, state->inside_absent, plan->control);
    tsr_flow_begin(&plan->setup, state->time, plan->control);
}

/* ---- steps ----------------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status after_management(tsr_queue *queue, tsr_flow_plan *plan)
{
    const tsr_tile_pool *pool = &plan->pool;
    tsr_tile_state *state = pool->state;
    plan->created += state->created;
    for (int32_t u = 0; u < state->created; u++) pool->age[pool->created_ids[u]] = 0;
    if (plan->provider.fill && state->created > 0) TSR_TRY(plan->provider.fill(plan->provider.user, queue, pool, 0));
    return TSR_OK;
}

static void run_pass(tsr_queue *queue, const tsr_flow_plan *plan, int32_t index, tsr_tile_totals *totals, uint32_t *oldest)
{
    const tsr_tile_pool *pool = &plan->pool;
    tsr_tile_state *state = pool->state;
    const tsr_flow_setup *s = &plan->setup;
    const int32_t passes = s->stages + s->sweeps, buffer[3] = { state->phi, state->phi ^ 1, 2 };
    struct job job = { .plan = plan,
                       .start = pool->phi[state->phi],
                       .index = index,
                       .sweep = index >= s->stages,
                       .last = index == passes - 1,
                       .measure = index == 0 && s->measured,
                       .need_gradient = tsr_flow_payload(&s->flow) };
    job.from = pool->phi[buffer[tsr_pass_source(index, passes)]];
    job.to = pool->phi[buffer[tsr_pass_target(index, passes)]];
    job.step = job.sweep ? s->sweep_step : plan->control->time_step;
    job.blend = job.sweep ? 1.0f : s->blend[index];
    const double share = job.sweep ? 0.0 : (double)s->moment[index];
    tsr_flow_moment_at(&s->flow, state->time + share * (double)plan->control->time_step, plan->control->mean_speed, &job.moment);
    tsr_parallel(queue->threads, state->count, TILES_PER_CHUNK, pass_range, &job);
    if (job.measure) {
        plan->control->rate_bits = tsr_float_bits(job.totals.rate);
        plan->control->curvature_bits = tsr_float_bits(job.totals.curvature);
    }
    state->bad = job.totals.bad;
    *totals = job.totals;
    *oldest = job.oldest_young;
}

static tsr_status one_step(tsr_queue *queue, tsr_flow_plan *plan)
{
    const tsr_flow_setup *s = &plan->setup;
    tsr_flow_control *c = plan->control;
    tsr_tile_state *state = plan->pool.state;
    tsr_tile_totals totals = { 0 };
    uint32_t oldest = 0;
    if (s->needs_mean) measure_mean(queue, plan);
    for (int32_t k = 0; k < s->stages + s->sweeps; k++) {
        run_pass(queue, plan, k, &totals, &oldest);
        if (!state->bad) continue;
        state->halted = 1;
        return TSR_OK;
    }
    state->time_step = c->time_step;
    state->time += (double)c->time_step;
    state->active_voxels = totals.active;
    state->inside_voxels = totals.inside;
    state->phi ^= 1;
    state->steps++;
    c->change_bits = tsr_float_bits(totals.change);
    const int managed = c->management + 1 >= s->managed_every;
    if (managed) {
        c->old_bits = oldest;
        TSR_TRY(tsr_tiles_cpu.manage(queue, &plan->pool));
        if (state->shortage > 0) return TSR_OK;
        TSR_TRY(after_management(queue, plan));
    }
    tsr_flow_finish(s, 1 << plan->pool.log2_edge, managed, state, c);
    return TSR_OK;
}

static tsr_status cpu_plan_start(tsr_queue *queue, tsr_flow_plan *plan, int payload)
{
    const tsr_flow_setup *s = &plan->setup;
    tsr_flow_control *c = plan->control;
    tsr_tile_state *state = plan->pool.state;
    state->halted = 0;
    state->bad = 0;
    c->converged = c->empty = c->ended = 0;
    c->rate = c->curvature = 0.0f;
    c->management = c->calm = 0;
    if (payload && plan->provider.fill) TSR_TRY(plan->provider.fill(plan->provider.user, queue, &plan->pool, 1));
    if (s->needs_mean) measure_mean(queue, plan);
    if (s->measured) {
        struct job job = { .plan = plan, .from = plan->pool.phi[state->phi], .need_gradient = tsr_flow_payload(&s->flow) };
        tsr_flow_moment_at(&s->flow, state->time, c->mean_speed, &job.moment);
        tsr_parallel(queue->threads, state->count, TILES_PER_CHUNK, measure_range, &job);
        c->rate = job.totals.rate;
        c->curvature = job.totals.curvature;
        state->bad = job.totals.bad;
    }
    tsr_flow_begin(s, state->time, c);
    return TSR_OK;
}

static tsr_status cpu_plan_run(tsr_queue *queue, tsr_flow_plan *plan, int32_t steps, int32_t tiles)
{
    (void)tiles;
    const tsr_tile_state *state = plan->pool.state;
    for (int32_t i = 0; i < steps && state->shortage == 0 && !state->halted; i++) TSR_TRY(one_step(queue, plan));
    return TSR_OK;
}

static tsr_status cpu_plan_explain(tsr_queue *queue, tsr_flow_plan *plan)
{
    (void)queue;
    tsr_flow_explain(&plan->pool, &plan->setup, plan->control);
    return TSR_OK;
}

static tsr_status cpu_plan_resume(tsr_queue *queue, tsr_flow_plan *plan)
{
    TSR_TRY(after_management(queue, plan));
    tsr_flow_finish(&plan->setup, 1 << plan->pool.log2_edge, 1, plan->pool.state, plan->control);
    return TSR_OK;
}

static int64_t cpu_plan_created(const tsr_flow_plan *plan) { return plan->created; }

/* ---- other resolutions ---------------------------------------------------------------------------------------------------------------------------- */

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

static tsr_status cpu_resample(tsr_queue *queue, const tsr_tile_pool *from, const tsr_tile_pool *to, int up)
{
    struct resample r = { from, to, up };
    tsr_parallel(queue->threads, to->state->count, TILES_PER_CHUNK, resample_range, &r);
    return TSR_OK;
}

const tsr_engine_ops tsr_engine_cpu = { .plan_create = cpu_plan_create,
                                        .plan_destroy = cpu_plan_destroy,
                                        .plan_start = cpu_plan_start,
                                        .plan_run = cpu_plan_run,
                                        .plan_explain = cpu_plan_explain,
                                        .plan_resume = cpu_plan_resume,
                                        .resample = cpu_resample,
                                        .plan_created = cpu_plan_created };
