/* solver/engine_wide.h: the passes of the level-set solver for HJ-WENO5 on tiles of edge 8, for flows whose terms are the same everywhere and for the
 * periodic deformation: the long runs of fifth order of [Jalba13 6]. The same bits as the kernel for all schemes in engine_pass.h.
 *
 * A block works on one tile at a time; as a tile has anything between 0 and 512 voxels that move, blocks draw their next tiles as they go. The field with
 * a halo of three voxels along the axes (and, for curvature, the cells along the edges) comes by asynchronous copies of 16 bytes, so the cube has a
 * whole quad to either side of a row; the copies of the next tile go on while the new values of this one are written. Voxels that may change are listed
 * first, so that the arithmetic, nearly all of the time, runs with full warps. The waves of the deformation are worked out once per tile and axis. */
#ifndef TSR_SOLVER_ENGINE_WIDE_H
#define TSR_SOLVER_ENGINE_WIDE_H

#include "tiles/tiles_slab.h"
#include "solver/engine_cuda.h"

enum {
    WIDE_THREADS = 128,
    WIDE_BLOCKS = 6 /* a multiprocessor: 286 us a step of the deformation in 1024^3; 128 and 5: 293, 64 and 12: 343, 64 and 10: 331 */
};
enum { TSR_WIDE_DRAWN = 12, TSR_WIDE_PASSES = 4 /* words of tsr_tile_state.scratch, one for each pass of a step */ };
enum { WIDE_SIGN_ANY = 15 }; /* beside the signs of scheme.h: not known to the compiler */

/* Voxel (x, y, z) lies at cell(x, y, z): rows of quads, four of which share no bank. */
struct tsr_wide {
    enum { E = 8, R = 3, V = 512, H = 14, P = 24, Q = 340, CUBE = H * Q, FACES = 320 /* quads */, EDGES = 72, OWN = TSR_SLAB_QUADS / WIDE_THREADS };
    TSR_INSIDE static int32_t cell(int32_t x, int32_t y, int32_t z) { return (z + R) * Q + (y + R) * P + x + 4; }
    TSR_INSIDE static int32_t quad_cell(int32_t quad) { return cell((quad & 1) * 4, quad >> 1 & 7, quad >> 4); }
};
struct tsr_wide_shared {
    float4 cube[tsr_wide::CUBE / 4];
    float4 fresh[TSR_SLAB_QUADS];       /* the values at the beginning of the step, then the new ones */
    tsr_enright_wave wave[3][8];        /* of the deformation */
    uint32_t moving[TSR_SLAB_VOXELS];   /* voxels that may change: index | area << 9 | cell << 14 */
    uint32_t row[2][TSR_NEIGHBOUR_ROW]; /* of this tile and the next; entry TSR_SLAB_EDGE: does the halo leave the domain? */
    uint32_t movers, areas[WIDE_THREADS / 32];
    int32_t place; /* in the list, of the tile that the block takes three tiles from now */
};

/* What a pass is, as far as these kernels know it. */
struct tsr_wide_pass {
    tsr_engine_scheme scheme;
    tsr_engine_values everywhere;
    tsr_engine_source placed;                    /* the deformation, if there is one */
    float spacing[3], blend, moment, sweep_step; /* that of a sweep; 0: a stage */
    int32_t source, target;                      /* tsr_pass_source, tsr_pass_target */
    int32_t index, last, managed;
};

/* Where the n-th quad of the halo comes from and goes to: byte of its cell | direction of the tile << 15 | voxel << 20. */
TSR_DEVICE_FN uint32_t tsr_wide_halo(int32_t n)
{
    int32_t x = (n & 1) * 4, y = n >> 1 & 7, z = n >> 1 & 7;
    if (n < 96) z = n / 16 < 3 ? n / 16 - 3 : n / 16 + 5;       /* planes below and above */
    else if (n < 192) y = n / 16 < 9 ? n / 16 - 9 : n / 16 - 1; /* rows before and behind */
    else if (n < tsr_wide::FACES) { /* quads to the left and right */ x = n & 1 ? 8 : -4;
        z = (n - 192) >> 4;
    } else if ((n -= tsr_wide::FACES) < 64) { /* edges along y, then z */
        x = n & 1 ? 8 : -4;
        if (n < 32) {
            z = n & 2 ? 8 : -1;
            y = n >> 2;
        } else {
            y = n & 2 ? 8 : -1;
            z = (n - 32) >> 2;
        }
    } else { /* edges along x */
        y = n & 2 ? 8 : -1;
        z = n & 4 ? 8 : -1;
    }
    const int32_t direction = 9 * ((z + 8) / 8) + 3 * ((y + 8) / 8) + (x + 8) / 8, voxel = ((z & 7) * 8 + (y & 7)) * 8 + (x & 7);
    return (uint32_t)tsr_wide::cell(x, y, z) * 4u | (uint32_t)direction << 15 | (uint32_t)voxel << 20;
}

/* Starts the copies of a tile's cube. */
template <int QUADS> TSR_DEVICE_FN void tsr_wide_copy(const float *phi, const uint32_t *row, const uint32_t *halo, float *cube)
{
    const int32_t tid = (int32_t)threadIdx.x;
    const float *own = phi + (int64_t)row[TSR_TILE_MIDDLE] * tsr_wide::V;
#pragma unroll
    for (int32_t h = 0; h < tsr_wide::OWN; h++) {
        const int32_t quad = h * WIDE_THREADS + tid;
        tsr_copy_async<16>(cube + tsr_wide::quad_cell(quad), own + quad * 4, 16);
    }
#pragma unroll
    for (int32_t k = 0; k * WIDE_THREADS < QUADS; k++)
        if ((k + 1) * WIDE_THREADS <= QUADS || tid < QUADS - k * WIDE_THREADS)
            tsr_copy_async<16>((char *)cube + (halo[k] & 32767u), phi + (int64_t)row[halo[k] >> 15 & 31u] * tsr_wide::V + (halo[k] >> 20), 16);
}

/* Does the halo of the tile leave the domain? */
TSR_DEVICE_FN int tsr_wide_leaves(const tsr_tile_pool &pool, uint64_t key)
{
    int32_t extent[3], first[3], leaves = tsr_tile_extent<8>(pool, key, extent, first);
    for (int k = 0; k < 3; k++) leaves |= pool.bounded && pool.domain[k] - first[k] < tsr_wide::E + tsr_wide::R;
    return leaves;
}
/* Cells beyond the domain take the value at the clamped coordinate; all threads, barriers around it. */
TSR_DEVICE_FN void tsr_wide_clamp(const tsr_tile_pool &pool, uint64_t key, float *cube)
{
    enum { E = tsr_wide::E, R = tsr_wide::R, H = tsr_wide::H };
    int32_t extent[3], first[3], low[3], high[3];
    tsr_tile_extent<8>(pool, key, extent, first);
    for (int k = 0; k < 3; k++) {
        low[k] = tsr_maxi(-first[k], -R);
        high[k] = tsr_mini(pool.domain[k] - first[k] - 1, E + R - 1);
    }
#pragma unroll 1
    for (int32_t i = (int32_t)threadIdx.x; i < H * H * H; i += WIDE_THREADS) {
        const int32_t x = i % H - R, y = i / H % H - R, z = i / (H * H) - R;
        const int32_t cx = tsr_mini(tsr_maxi(x, low[0]), high[0]), cy = tsr_mini(tsr_maxi(y, low[1]), high[1]),
                      cz = tsr_mini(tsr_maxi(z, low[2]), high[2]);
        if (cx != x || cy != y || cz != z) cube[tsr_wide::cell(x, y, z)] = cube[tsr_wide::cell(cx, cy, cz)];
    }
}

/* What a thread collects over the tiles of its block. */
struct tsr_wide_sums {
    tsr_pass_totals totals;
    uint32_t change, oldest;
};

/* A quad's voxels that stay saturated take their share of what the step has done to them so far; `stay` says which. Rare: only where a voxel became so
 * within the step. */
TSR_DEVICE_FN void tsr_wide_settle(const tsr_wide_pass &pass, int32_t quad, uint32_t stay, float4 now, float4 *fresh, uint32_t *bits,
                                   tsr_wide_sums *sums)
{
    const float current[4] = { now.x, now.y, now.z, now.w }, band = pass.scheme.band;
    float value[4] = { fresh->x, fresh->y, fresh->z, fresh->w };
    for (int32_t k = 0; k < 4; k++) {
        if (!(stay >> k & 1u)) continue;
        const float v = tsr_stage_value(value[k], current[k], 0.0f, pass.blend, band);
        if (v > -band && v < band) {
            *bits |= 1u << tsr_area((quad & 1) * 4 + k, quad >> 1 & 7, quad >> 4, 8);
            sums->change = max(sums->change, tsr_float_bits(tsr_absf(v - value[k])));
            sums->totals.active++;
        }
        value[k] = v;
    }
    *fresh = make_float4(value[0], value[1], value[2], value[3]);
}

/* Lists the voxels of the own quads that may change, side by side. */
TSR_DEVICE_FN void tsr_wide_collect(const tsr_tile_pool &pool, const tsr_wide_pass &pass, uint64_t key, int leaves, tsr_wide_shared *sh,
                                    uint32_t *bits, tsr_wide_sums *sums)
{
    enum { COUNT = 16 /* bits of a count */ };
    const float *cube = (const float *)(const void *)sh->cube;
    uint32_t moves = 0, mine = 0;
#pragma unroll
    for (int32_t h = 0; h < tsr_wide::OWN; h++) {
        const int32_t quad = h * WIDE_THREADS + (int32_t)threadIdx.x;
        const float *p = cube + tsr_wide::quad_cell(quad);
        const float4 now = *(const float4 *)(const void *)p, start = sh->fresh[quad];
        const uint32_t within = leaves ? tsr_slab_within<8>(pool, key, quad) : 15u;
        const uint32_t own = tsr_quad_moves<tsr_wide::P, tsr_wide::Q>(p, now, pool.band) & within;
        if (own != within && (now.x != start.x || now.y != start.y || now.z != start.z || now.w != start.w))
            tsr_wide_settle(pass, quad, within & ~own, now, &sh->fresh[quad], bits, sums);
        moves |= own << 4 * h;
        mine |= (uint32_t)__popc(own) << COUNT * h;
    }
    uint32_t before, total, *to = sh->moving + tsr_slab_room(mine, &sh->movers, &before, &total);
#pragma unroll
    for (int32_t h = 0; h < tsr_wide::OWN; h++) {
        const int32_t quad = h * WIDE_THREADS + (int32_t)threadIdx.x, x = (quad & 1) * 4;
        uint32_t *place = to + (h == 0 ? before & 0xffffu : (total & 0xffffu) + (before >> COUNT)),
                 entry = (uint32_t)quad * 4u | (uint32_t)tsr_area(x, quad >> 1 & 7, quad >> 4, 8) << 9 | (uint32_t)tsr_wide::quad_cell(quad) << 14;
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            if (moves >> (4 * h + (int32_t)k) & 1u) *place++ = entry + k * TSR_SLAB_NEXT;
            if (k == 0 && x == 0) entry += TSR_SLAB_AREA;
            if (k == 2 && x == 4) entry += TSR_SLAB_AREA;
        }
    }
}

/* ENRIGHT: the flow is the periodic deformation and nothing else; SIGN: of scheme.h; CURVED: there may be a curvature term. */
template <int ENRIGHT, int SIGN, int CURVED>
TSR_KERNEL(__launch_bounds__(WIDE_THREADS, WIDE_BLOCKS) wide_kernel)
(tsr_tile_pool pool, tsr_wide_pass pass, tsr_engine_control *control)
{
    enum { P = tsr_wide::P, Q = tsr_wide::Q, V = tsr_wide::V, T = WIDE_THREADS, QUADS = tsr_wide::FACES + (CURVED ? tsr_wide::EDGES : 0) };
    TSR_SHARED(tsr_wide_shared, sh, 1);
    tsr_tile_state *state = pool.state;
    if (tsr_pass_stopped(state, pass.index)) return;
    tsr_engine_scheme k = pass.scheme;
    k.space = k.reshape_space = TSR_DIFFERENCE_WENO5;
    if (SIGN != WIDE_SIGN_ANY) k.sign = SIGN;
    k.has_curvature = CURVED && k.has_curvature;
    k.has_speed = !ENRIGHT && k.has_speed;
    k.has_velocity = ENRIGHT || (k.has_velocity && SIGN == WIDE_SIGN_ANY);
    const float *start = pool.phi[state->phi], *from = pass.source == 2 ? pool.phi[2] : pool.phi[state->phi ^ pass.source];
    float *to = pass.target == 2 ? pool.phi[2] : pool.phi[state->phi ^ 1], *cube = (float *)(void *)sh->cube, *out = (float *)(void *)sh->fresh;
    const tsr_keys keys = tsr_pool_keys(&pool, state->list);
    const uint32_t *ids = pool.id[state->list];
    const float whole_step = control->time_step, step = pass.sweep_step > 0.0f ? pass.sweep_step : whole_step, band = k.band, blend = pass.blend;
    const int32_t tid = (int32_t)threadIdx.x, lane = tid & 31, count = state->count, stride = (int32_t)gridDim.x;
    const int waves = ENRIGHT && tid >= T - 32 && lane < 24;
    const float scale = ENRIGHT ? pass.placed.edge * tsr_engine_swing(&pass.placed, state->time + (double)pass.moment * (double)step) : 0.0f;
    int32_t at = (int32_t)blockIdx.x, next = at + stride, after = next + stride, buffer = 0; /* places in the list; those beyond are drawn */
    uint32_t *drawn = &state->scratch[TSR_WIDE_DRAWN + pass.index];
    uint32_t halo[(QUADS + T - 1) / T], entry = 0;
    uint64_t tile = 0, next_key = 0; /* the id (or key) whose entry of the row comes next; the next tile's key */
    tsr_engine_values values = pass.everywhere;
    tsr_wide_sums sums = {};
    values.speed = values.speed + control->mean_speed;
    if (tid == 0) {
        sh->movers = 0;
        if (blockIdx.x == 0 && pass.last) state->scratch[TSR_COUNT_TIME_STEP] = tsr_float_bits(whole_step);
    }
    if (at >= count) return;
#define TSR_WIDE_ID(place) ((place) < count ? tid == TSR_SLAB_EDGE ? tsr_key_at(keys, place) : (uint64_t)ids[place] : (uint64_t)0)
#define TSR_WIDE_ENTRY(tile)                                                                    \
    (tid == TSR_SLAB_EDGE ? (uint32_t)((tile) && pool.bounded && tsr_wide_leaves(pool, (tile))) \
                          : pool.neighbours[(int64_t)(tile)*TSR_NEIGHBOUR_ROW + tid])
    if (tid <= TSR_SLAB_EDGE) {
        for (int32_t b = 0; b < 2; b++) {
            tile = TSR_WIDE_ID(b ? next : at);
            sh->row[b][tid] = TSR_WIDE_ENTRY(tile);
        }
        tile = TSR_WIDE_ID(after);
    }
    if (waves) next_key = tsr_key_at(keys, at);
#pragma unroll
    for (int32_t h = 0; h * T < QUADS; h++) halo[h] = tsr_hold(tsr_wide_halo(tsr_mini(h * T + tid, QUADS - 1)));
    __syncthreads();
    tsr_wide_copy<QUADS>(from, sh->row[0], halo, cube);
#pragma unroll
    for (int32_t h = 0; h < tsr_wide::OWN; h++)
        tsr_copy_async<16>(&sh->fresh[h * T + tid], start + (int64_t)sh->row[0][TSR_TILE_MIDDLE] * V + (h * T + tid) * 4, 16);
    tsr_copy_async_close();
    for (int32_t turn = tid; at < count; buffer ^= 1, turn = (turn + 32) % T) {
        const uint32_t *row = sh->row[buffer], id = row[TSR_TILE_MIDDLE];
        uint32_t bits = 0, draw = 0;
        if (tid == 0) draw = atomicAdd(drawn, 1u);
        if (waves) {
            const int32_t axis = lane >> 3, first = (axis == 0 ? tsr_key_x(next_key) : axis == 1 ? tsr_key_y(next_key) : tsr_key_z(next_key)) * 8;
            sh->wave[axis][lane & 7] = tsr_enright_wave_of(&pass.placed, pass.spacing, axis, first + (lane & 7));
            if (next < count) next_key = tsr_key_at(keys, next);
        }
        tsr_copy_async_wait<0>();
        __syncthreads();
        const int leaves = row[TSR_SLAB_EDGE] != 0u;
        uint64_t key = 0;
        if (leaves) {
            key = tsr_key_at(keys, at);
            tsr_wide_clamp(pool, key, cube);
            __syncthreads();
        }
        if (tid <= TSR_SLAB_EDGE) entry = TSR_WIDE_ENTRY(tile);
        tsr_wide_collect(pool, pass, key, leaves, sh, &bits, &sums);
        __syncthreads();
        const int32_t movers = (int32_t)sh->movers;
        for (int32_t m = turn; m < movers; m += T) { /* the warps take turns at being first, and the multiprocessor's schedulers with them */
            const uint32_t word = sh->moving[m], i = word & 511u;
            const float *p = cube + (word >> 14);
            const float s = out[i], c = p[0];
            tsr_engine_values v = values;
            if (ENRIGHT) {
                float u[3];
                tsr_enright_velocity(sh->wave[0][i & 7u], sh->wave[1][i >> 3 & 7u], sh->wave[2][i >> 6], scale, u);
                for (int32_t axis = 0; axis < 3; axis++) v.velocity[axis] = v.velocity[axis] + pass.placed.value * u[axis];
            }
            const float moved = step * tsr_scheme_rate(p, P, Q, &v, &k, 0), w = tsr_stage_value(s, c, moved, blend, band);
            if (!tsr_finite(c + moved)) tsr_engine_bad_add(state, pass.index, at, (int32_t)i);
            out[i] = w;
            if (!pass.last) continue;
            const int in_band = w > -band && w < band;
            if (in_band || tsr_sign_change(p, P, Q)) bits |= 1u << (word >> 9 & 31u);
            if (in_band) {
                sums.change = max(sums.change, tsr_float_bits(tsr_absf(w - s)));
                sums.totals.active++;
            }
        }
        bits = __reduce_or_sync(TSR_WARP_ALL, bits);
        if (lane == 0) sh->areas[tid / 32] = bits;
        if (tid == 0) sh->place = (int32_t)tsr_minl(3 * (int64_t)stride + (int64_t)draw, INT32_MAX);
        __syncthreads();
        if (tid == 0) sh->movers = 0;
        const uint32_t *next_row = sh->row[buffer ^ 1];
        const int more = next < count;
        at = next;
        next = after;
        after = sh->place;
        if (more) tsr_wide_copy<QUADS>(from, next_row, halo, cube);
        if (tid <= TSR_SLAB_EDGE) {
            sh->row[buffer][tid] = entry;
            tile = TSR_WIDE_ID(after);
        }
#pragma unroll
        for (int32_t h = 0; h < tsr_wide::OWN; h++) {
            const int32_t quad = h * T + tid;
            const float4 v = sh->fresh[quad];
            ((float4 *)(void *)(to + (int64_t)id * V))[quad] = v;
            if (more) tsr_copy_async<16>(&sh->fresh[quad], start + (int64_t)next_row[TSR_TILE_MIDDLE] * V + quad * 4, 16);
            if (!pass.last) continue;
            const uint32_t inside = (v.x < 0.0f ? 1u : 0u) | (v.y < 0.0f ? 2u : 0u) | (v.z < 0.0f ? 4u : 0u) | (v.w < 0.0f ? 8u : 0u);
            sums.totals.inside += (uint32_t)__popc(leaves ? inside & tsr_slab_within<8>(pool, key, quad) : inside);
            if (quad != 0) continue;
            uint32_t all = 0;
            for (int32_t w = 0; w < T / 32; w++) all |= sh->areas[w];
            pool.activity[id] = all ? all : v.x > 0.0f ? TSR_ACTIVITY_OUTSIDE : 0u;
            if (!pass.managed) continue;
            const uint32_t old = pool.age[id], age = old < 255u ? old + 1u : 255u;
            pool.age[id] = (uint8_t)age;
            sums.oldest = max(sums.oldest, 255u - age);
        }
        tsr_copy_async_close();
    }
#undef TSR_WIDE_ID
#undef TSR_WIDE_ENTRY
    if (!pass.last) return;
    tsr_totals_add(state, sums.totals);
    sums.change = __reduce_max_sync(TSR_WARP_ALL, sums.change);
    sums.oldest = __reduce_max_sync(TSR_WARP_ALL, sums.oldest);
    if (lane != 0) return;
    if (sums.change) atomicMax(&control->change_bits, sums.change);
    if (sums.oldest) atomicMax(&control->old_bits, sums.oldest);
}

/* Is there a kernel for this pass? */
static inline int tsr_wide_can(const tsr_tile_pool *pool, const tsr_engine_setup *s, tsr_pass_shape shape)
{
    const tsr_engine_scheme *k = &s->scheme;
    const int deforms = s->flow.count == 1 && s->flow.source[0].kind == TSR_SOURCE_ENRIGHT && !(s->flow.source[0].brush_reach2 > 0.0f) &&
                        !k->has_speed && !k->has_curvature;
    if (pool->coded || pool->log2_edge != 3 || s->guard != 1 || k->reshape_space != TSR_DIFFERENCE_WENO5 || shape.index >= TSR_WIDE_PASSES) return 0;
    return shape.sweep ? s->sweep_kind == TSR_SWEEP_RESHAPE : k->space == TSR_DIFFERENCE_WENO5 && !s->measured && (s->flow.count == 0 || deforms);
}

template <int ENRIGHT, int SIGN, int CURVED>
static void tsr_wide_launch(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_wide_pass &pass, tsr_engine_control *control)
{
    const uint32_t blocks = tsr_blocks(pool->capacity, 1, (int64_t)tsr_queue_processors(queue) * WIDE_BLOCKS);
    TSR_LAUNCH(queue, (wide_kernel<ENRIGHT, SIGN, CURVED>), blocks, WIDE_THREADS, 0, *pool, pass, control);
}

/* Queues pass `shape` of a step. */
static void tsr_wide_enqueue(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *s, tsr_engine_control *control,
                             tsr_pass_shape shape)
{
    const tsr_engine_scheme *k = shape.sweep ? &s->sweep : &s->scheme;
    const int32_t passes = s->stages + s->sweeps;
    tsr_wide_pass pass = { *k,
                           s->flow.everywhere,
                           s->flow.source[0],
                           { s->flow.spacing[0], s->flow.spacing[1], s->flow.spacing[2] },
                           shape.sweep ? 1.0f : s->blend[shape.index],
                           shape.sweep ? 0.0f : s->moment[shape.index],
                           shape.sweep ? s->sweep_step : 0.0f,
                           tsr_pass_source(shape.index, passes),
                           tsr_pass_target(shape.index, passes),
                           shape.index,
                           shape.last,
                           shape.managed };
    if (shape.sweep) { /* the reshaping alone */
        pass.scheme.has_speed = pass.scheme.has_velocity = pass.scheme.has_curvature = 0;
        tsr_wide_launch<0, WIDE_SIGN_ANY, 0>(queue, pool, pass, control);
    } else if (s->flow.count && k->sign == TSR_SIGNED_SUBCELL) tsr_wide_launch<1, TSR_SIGNED_SUBCELL, 0>(queue, pool, pass, control);
    else if (s->flow.count) tsr_wide_launch<1, WIDE_SIGN_ANY, 0>(queue, pool, pass, control);
    else if (k->has_curvature && !k->has_velocity && k->sign == TSR_SIGNED_SMOOTH)
        tsr_wide_launch<0, TSR_SIGNED_SMOOTH, 1>(queue, pool, pass, control);
    else if (k->has_curvature) tsr_wide_launch<0, WIDE_SIGN_ANY, 1>(queue, pool, pass, control);
    else tsr_wide_launch<0, WIDE_SIGN_ANY, 0>(queue, pool, pass, control);
}

#endif
