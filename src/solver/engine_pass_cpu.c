/* solver/engine_pass_cpu.c: a pass of the level-set solver over the tiles of a list, on the CPU: payload, what comes next on its way from memory,
 * tiles one after the other (engine_isa.c, engine_uniform_isa.c), what they have found together. */
#include <string.h>

#include "tiles/tiles_halo.h"
#include "solver/engine_cpu.h"

/* ---- runs of the list --------------------------------------------------------------------------------------------------------------------------- */

enum { RUNS_MOST = 1024, RUN_LEAST = 32 };

struct runs {
    tsr_parallel_body body;
    void *user;
    int64_t first[RUNS_MOST + 1];
};

static void run_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct runs *runs = (const struct runs *)user;
    runs->body(runs->user, runs->first[begin], runs->first[end], worker);
}

/* A thread takes long runs, for the first tiles of a run have not been looked ahead to, and their neighbours lie in the cache of another core; and ever
 * shorter ones towards the end, so that nobody waits long for the last. */
void tsr_over_list(const tsr_queue *queue, const tsr_tile_pool *pool, tsr_parallel_body body, void *user)
{
    const int64_t count = pool->state->count, threads = tsr_maxi(queue->threads, 1);
    struct runs runs = { .body = body, .user = user };
    int32_t n = 0;
    for (int64_t at = 0; at < count && n < RUNS_MOST; n++) {
        at += tsr_minl(tsr_maxl((count - at) / (2 * threads), RUN_LEAST), count - at);
        runs.first[n + 1] = n + 1 < RUNS_MOST ? at : count;
    }
    tsr_parallel((int)threads, n, 1, run_range, &runs);
}

/* ---- payload --------------------------------------------------------------------------------------------------------------------------------- */

/* Payload pages of a tile and its neighbours across faces: those of the list, or of a coded one floats. */
struct near_payload {
    const float *pages;
    const uint32_t *row;
    _Alignas(64) float decoded[(TSR_TILE_FIRST + 7) * TSR_TILE_MOST]; /* a tile after the other: both constants, then those that are there */
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
static void payload_gradient_range(const tsr_engine_plan *plan, const struct near_payload *near, const int32_t extent[3], const int32_t low[3],
                                   const int32_t high[3], float gradient[3][TSR_TILE_MOST])
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
static void payload_gradient(const tsr_engine_plan *plan, const struct near_payload *near, const int32_t extent[3], float gradient[3][TSR_TILE_MOST])
{
    const int32_t E = 1 << plan->pool.log2_edge, V = E * E * E, whole[3] = { E, E, E }, first[3] = { 0, 0, 0 };
    const uint32_t *row = near->row;
    if (tsr_engine_payload(&plan->setup.flow) == TSR_PAYLOAD_VELOCITY) {
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
    const tsr_engine_scheme *k = pass->scheme;
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

static void merge_totals(struct tsr_engine_job *job, const tsr_tile_totals *t, uint32_t oldest)
{
    __atomic_fetch_add(&job->totals.active, t->active, __ATOMIC_RELAXED);
    __atomic_fetch_add(&job->totals.inside, t->inside, __ATOMIC_RELAXED);
    merge_bad(&job->totals.bad, t->bad);
    if (t->beyond) __atomic_store_n(&job->totals.beyond, 1, __ATOMIC_RELAXED);
    merge_largest(&job->totals.change, t->change);
    merge_largest(&job->totals.rate, t->rate);
    merge_largest(&job->totals.curvature, t->curvature);
    for (uint32_t old = __atomic_load_n(&job->oldest_young, __ATOMIC_RELAXED); oldest > old;)
        if (__atomic_compare_exchange_n(&job->oldest_young, &old, oldest, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) break;
}

/* The tile that comes next, on its way from memory while this one is worked on: what it is made from, and the planes and rows of those
 * after it in the list that its halo reads first. */
static void prefetch_tile(const struct tsr_engine_job *job, const tsr_tile_pool *pool, uint32_t id, int needs_start)
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

static void prefetch_bits(const tsr_tile_bits *bits)
{
    __builtin_prefetch(bits->free, 0);
    __builtin_prefetch(bits->inside, 0);
}

/* What comes after entry `at` of the list on its way: tiles of edge 4 at once, those of edge 8 while they are worked on, and two tiles before their
 * turn, for the halo of the one between reads nearly all of a neighbour. */
static void look_ahead(const struct tsr_engine_job *job, const tsr_tile_pool *pool, int64_t at, int64_t end, int needs_start, tsr_tile_pass *pass)
{
    enum { ROWS = 4, LINE = 16 };
    const int32_t E = 1 << pool->log2_edge, V = E * E * E;
    const uint32_t *id = pool->id[pool->state->list];
    if (at + ROWS < end) {
        const uint32_t *row = pool->neighbours + (int64_t)id[at + ROWS] * TSR_NEIGHBOUR_ROW;
        __builtin_prefetch(row, 0);
        __builtin_prefetch(row + LINE, 0);
        if (job->from_bits) prefetch_bits(&job->from_bits[id[at + ROWS]]);
    }
    if (E == 4) {
        if (at + 1 < end) prefetch_tile(job, pool, id[at + 1], needs_start);
        return;
    }
    pass->ahead[0] = NULL;
    if (job->from_bits && at + 3 < end) {
        const uint32_t *row = pool->neighbours + (int64_t)id[at + 3] * TSR_NEIGHBOUR_ROW;
        prefetch_bits(&job->from_bits[row[TSR_TILE_MIDDLE + 3]]);
        prefetch_bits(&job->from_bits[row[TSR_TILE_MIDDLE + 9]]);
        prefetch_bits(&job->to_bits[id[at + 3]]);
    }
    if (at + 2 >= end) return;
    const int64_t next = id[at + 2];
    const uint32_t *row = pool->neighbours + next * TSR_NEIGHBOUR_ROW;
    pass->ahead[0] = job->from + next * V;
    pass->ahead_bits = job->from_bits ? &job->from_bits[next] : NULL;
    pass->ahead[1] = job->to + next * V;
    pass->ahead[2] = job->from + (int64_t)row[TSR_TILE_MIDDLE - 9] * V + V - E * E;
    pass->ahead[3] = job->from + (int64_t)row[TSR_TILE_MIDDLE + 9] * V;
    pass->ahead[4] = job->from + (int64_t)row[TSR_TILE_MIDDLE - 3] * V + E * E - E;
    pass->ahead[5] = job->from + (int64_t)row[TSR_TILE_MIDDLE + 3] * V;
    /* one row each of the tiles that come into sight first: after this one, below and above */
    __builtin_prefetch(job->from + (int64_t)row[TSR_TILE_MIDDLE + 3 - 9] * V + V - E * E, 0);
    __builtin_prefetch(job->from + (int64_t)row[TSR_TILE_MIDDLE + 3 + 9] * V, 0);
    /* where the run of tiles along x begins or ends nobody else has asked for what lies across its corners */
    for (int32_t x = TSR_TILE_MIDDLE - 1; x <= TSR_TILE_MIDDLE + 1; x += 2) {
        if (row[x] >= TSR_TILE_FIRST) continue;
        const float *above = job->from + (int64_t)row[x + 9] * V, *beside = job->from + (int64_t)row[x + 3] * V;
        for (int32_t i = 0; i < E * E; i += LINE) __builtin_prefetch(above + i, 0);
        for (int32_t i = 0; i < V; i += E * E) __builtin_prefetch(beside + i, 0);
    }
}

/* What is the same for all tiles. */
static tsr_tile_pass pass_of(const struct tsr_engine_job *job)
{
    const tsr_engine_setup *s = &job->plan->setup;
    return (tsr_tile_pass){ .scheme = job->sweep ? &s->sweep : &s->scheme,
                            .flow = job->sweep ? NULL : &s->flow,
                            .moment = &job->moment,
                            .step = job->step,
                            .blend = job->blend,
                            .measure = job->measure,
                            .last = job->last,
                            .edge = 1 << job->plan->pool.log2_edge,
                            .radius = s->radius,
                            .index = job->index,
                            .guard = s->guard };
}

int tsr_pass_by_bits(const struct tsr_engine_job *job)
{
    const tsr_engine_plan *plan = job->plan;
    const tsr_tile_pass pass = pass_of(job);
    if (!plan->bits[0] || (job->sweep && plan->setup.sweep_kind != TSR_SWEEP_RESHAPE)) return 0;
    return TSR_ISA_SELECT(tsr_engine_by_bits)(&pass);
}

static void pass_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct tsr_engine_job *job = (struct tsr_engine_job *)user;
    const tsr_engine_plan *plan = job->plan;
    const tsr_tile_pool *pool = &plan->pool;
    const tsr_tile_state *state = pool->state;
    const int32_t E = 1 << pool->log2_edge, V = E * E * E, list = state->list;
    const int manages = job->last && plan->control->management + 1 >= plan->setup.managed_every;
    _Alignas(64) float cube[TSR_CROSS_MOST];
    float gradient[3][TSR_TILE_MOST];
    uint32_t cut[TSR_TILE_MOST], oldest = 0;
    tsr_tile_totals totals = { 0 };
    tsr_tile_pass pass = pass_of(job);
    const int32_t kind = job->sweep ? plan->setup.sweep_kind : (int32_t)TSR_SWEEP_RESHAPE;
    const int need_gradient = job->sweep ? 0 : job->need_gradient;
    const int needs_start = job->last || job->blend != 1.0f || pool->bounded; /* else a new value is made of the current one alone */
    const tsr_coding coding = tsr_coding_of(pool->band);
    tsr_tile_pool seen = *pool; /* what the tile is read from: of a coded list the decoded neighbourhood, where it is page 13 */
    struct tsr_near_tiles near;
    struct near_payload payload;
    float own_start[TSR_TILE_MOST], own_out[TSR_TILE_MOST];
    (void)worker;
    memset(cube, 0, sizeof cube);
    if (pool->coded) {
        seen.neighbours = near.row;
        pass.coding = &coding;
    }
    pass.pages = pool->coded ? near.page : job->from;
    pass.bits = job->from_bits;
    pass.out_known = job->to_known;
    for (int64_t at = begin; at < end; at++) {
        const uint32_t id = pool->id[list][at];
        const uint64_t key = tsr_pool_key(pool, list, at);
        if (!pool->coded) look_ahead(job, pool, at, end, needs_start, &pass);
        float *out = pool->coded ? own_out : job->to + (int64_t)id * V;
        const uint32_t place = pool->coded ? 0 : id; /* of the tile's row in `seen` */
        if (pool->coded) tsr_decode_around(pool, &coding, job->from, id, plan->setup.radius, &near);
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
        else TSR_ISA_SELECT(tsr_engine_gather)(&seen, pass.pages, key, place, plan->setup.radius, cube, pass.extent);
        pass.first[0] = tsr_key_x(key) * E;
        pass.first[1] = tsr_key_y(key) * E;
        pass.first[2] = tsr_key_z(key) * E;
        if (!pool->coded) pass.start = (needs_start ? job->start : job->from) + (int64_t)id * V;
        else if (job->start == job->from) pass.start = near.page + TSR_TILE_MIDDLE * V;
        else {
            tsr_decode(&coding, tsr_codes_of(job->start, (int64_t)id * V), own_start, V);
            pass.start = own_start;
        }
        pass.out = out;
        pass.entry = (int32_t)at;
        pass.areas = plan->areas;
        if (pass.extent[0] < E || pass.extent[1] < E || pass.extent[2] < E) {
            memcpy(out, pass.start, (size_t)V * sizeof *out); /* padding keeps its value */
            tsr_tile_areas(plan, pass.extent, cut);
            pass.areas = cut;
        }
        if (need_gradient && !planes) {
            payload_gradient(plan, &payload, pass.extent, gradient);
            for (int k = 0; k < 3; k++) pass.gradient[k] = gradient[k];
        }
        if (job->to_bits) {
            pass.start_bits = &job->start_bits[id];
            pass.out_bits = &job->to_bits[id];
            totals.noted = 0;
        }
        const uint32_t areas =
            kind == TSR_SWEEP_RESHAPE ? TSR_ISA_SELECT(tsr_engine_tile)(&pass, &totals) : distance_tile(&pass, kind == TSR_SWEEP_SEED, &totals);
        if (pool->coded) tsr_encode(&coding, out, (int16_t *)(void *)job->to + (int64_t)id * V, V);
        if (job->to_bits && !totals.noted) totals.beyond |= TSR_ISA_SELECT(tsr_engine_note)(out, pass.scheme->band, pass.out_bits);
        if (!job->last) continue;
        pool->activity[id] = areas ? areas : out[0] > 0.0f ? TSR_ACTIVITY_OUTSIDE : 0;
        if (!manages) continue;
        if (pool->age[id] < 255) pool->age[id]++;
        oldest = 255u - pool->age[id] > oldest ? 255u - pool->age[id] : oldest;
    }
    merge_totals(job, &totals, oldest);
}

static void note_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct tsr_engine_job *job = (struct tsr_engine_job *)user;
    const tsr_tile_pool *pool = &job->plan->pool;
    int beyond = 0;
    (void)worker;
    for (int64_t at = begin; at < end; at++) {
        const uint32_t id = pool->id[pool->state->list][at];
        beyond |= TSR_ISA_SELECT(tsr_engine_note)(job->from + (int64_t)id * TSR_TILE_MOST, pool->band, &job->to_bits[id]);
    }
    if (beyond) __atomic_store_n(&job->totals.beyond, 1, __ATOMIC_RELAXED);
}

int tsr_note_cpu(tsr_queue *queue, const tsr_engine_plan *plan, int32_t buffer)
{
    const tsr_tile_pool *pool = &plan->pool;
    struct tsr_engine_job job = { .plan = plan, .from = pool->phi[buffer], .to_bits = plan->bits[buffer] };
    tsr_over_list(queue, pool, note_range, &job);
    return !job.totals.beyond;
}

void tsr_pass_cpu(tsr_queue *queue, struct tsr_engine_job *job)
{
    tsr_over_list(queue, &job->plan->pool, pass_range, job);
}

/* ---- rates of the terms before the first step -------------------------------------------------------------------------------------------------- */

static void measure_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct tsr_engine_job *job = (struct tsr_engine_job *)user;
    const tsr_engine_plan *plan = job->plan;
    const tsr_tile_pool *pool = &plan->pool;
    const int32_t E = 1 << pool->log2_edge, V = E * E * E, list = pool->state->list;
    const tsr_engine_scheme *k = &plan->setup.scheme;
    float gradient[3][TSR_TILE_MOST];
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
            tsr_engine_given given = { 0 };
            for (int a = 0; a < 3 && job->need_gradient; a++) given.gradient[a] = gradient[a][i];
            const tsr_engine_values v = tsr_engine_at(&plan->setup.flow, &job->moment, first[0] + x, first[1] + y, first[2] + z, &given);
            const float rate = tsr_engine_hyperbolic(&v, k), curvature = tsr_absf(v.curvature);
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

void tsr_rates_cpu(tsr_queue *queue, struct tsr_engine_job *job)
{
    tsr_over_list(queue, &job->plan->pool, measure_range, job);
}
