/* solver/engine_pass.h: a pass of the level-set solver on the GPU, for all schemes, a tile at a time: engine_cuda.cu makes the kernels of float32
 * lists of it, engine_coded_cuda.cu those of 16-bit lists. */
#ifndef TSR_SOLVER_ENGINE_PASS_H
#define TSR_SOLVER_ENGINE_PASS_H

#include "solver/engine_cuda.h"

/* Differences that a kernel is made for; TSR_MIXED: any. */
enum { TSR_FIRST_ORDER = 0, TSR_FIFTH_ORDER, TSR_MIXED };

/* ---- fields of both kinds ------------------------------------------------------------------------------------------------------------------- */

/* tsr_pool_value and tsr_quad_load where it is known whether the list is coded. */
template <int CODED> TSR_DEVICE_FN float tsr_engine_value(const tsr_tile_pool &pool, const float *phi, int64_t i)
{
    return CODED ? tsr_pool_value(&pool, phi, i) : phi[i];
}
template <int CODED> TSR_DEVICE_FN float4 tsr_engine_quad(const tsr_tile_pool &pool, const float *phi, int64_t i)
{
    return CODED ? tsr_quad_load(pool, phi, i) : ((const float4 *)(const void *)phi)[i];
}

/* ---- the cross of a tile in shared memory ------------------------------------------------------------------------------------------------- */

/* Cells along the axes to depth R and along face diagonals to depth 1 in a cube of (E+2R)^3; voxel (x, y, z) at ((z+R) H + y+R) H + x+R. */
template <int E, int R> struct tsr_cross {
    enum { H = E + 2 * R, CELLS = H * H * H, VOXELS = E * E * E, FACES = 6 * R * E * E, HALO = FACES + 12 * E, THREADS = E == 8 ? 128 : 64 };
};

/* Words of the halo table: destination | direction << 12 | source voxel << 17. Filled by all threads of the block. */
template <int E, int R> TSR_DEVICE_FN void tsr_cross_table(uint32_t *table)
{
    enum { H = tsr_cross<E, R>::H };
    for (int32_t i = (int32_t)threadIdx.x; i < tsr_cross<E, R>::HALO; i += (int32_t)blockDim.x) {
        int32_t at[3];
        if (i < tsr_cross<E, R>::FACES) {
            const int32_t face = i / (R * E * E), depth = i / (E * E) % R, axis = face >> 1;
            at[axis] = face & 1 ? E + depth : -1 - depth;
            at[(axis + 1) % 3] = i % E;
            at[(axis + 2) % 3] = i / E % E;
        } else {
            const int32_t edge = (i - tsr_cross<E, R>::FACES) / E, axis = edge >> 2;
            at[axis] = i % E;
            at[(axis + 1) % 3] = edge & 1 ? E : -1;
            at[(axis + 2) % 3] = edge & 2 ? E : -1;
        }
        int32_t d[3], s[3];
        for (int k = 0; k < 3; k++) {
            d[k] = at[k] < 0 ? 0 : at[k] >= E ? 2 : 1;
            s[k] = at[k] & (E - 1);
        }
        table[i] = (uint32_t)(((at[2] + R) * H + at[1] + R) * H + at[0] + R) | (uint32_t)(9 * d[2] + 3 * d[1] + d[0]) << 12 |
                   (uint32_t)((s[2] * E + s[1]) * E + s[0]) << 17;
    }
}

/* Loads the cross of a tile; `row` gets the 27 neighbour ids, `extent` the voxels in the domain. Ends with a barrier. */
template <int E, int R, int CODED>
TSR_DEVICE_FN void tsr_cross_load(const tsr_tile_pool &pool, const float *phi, uint64_t key, uint32_t id, const uint32_t *table, uint32_t *row,
                                  float *cube, int32_t extent[3])
{
    enum { H = tsr_cross<E, R>::H, V = tsr_cross<E, R>::VOXELS };
    int32_t first[3];
    tsr_tile_extent<E>(pool, key, extent, first);
    if (threadIdx.x < TSR_TILE_DIRECTIONS) row[threadIdx.x] = pool.neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + threadIdx.x];
    for (int32_t i = (int32_t)threadIdx.x; i < V / 4; i += (int32_t)blockDim.x) {
        const float4 v = tsr_engine_quad<CODED>(pool, phi, (int64_t)id * (V / 4) + i);
        int32_t at = i * 4, x = at % E, y = at / E % E, z = at / (E * E);
        float *to = cube + ((z + R) * H + y + R) * H + x + R;
        to[0] = v.x;
        to[1] = v.y;
        to[2] = v.z;
        to[3] = v.w;
    }
    __syncthreads();
    for (int32_t i = (int32_t)threadIdx.x; i < tsr_cross<E, R>::HALO; i += (int32_t)blockDim.x) {
        uint32_t word = table[i];
        cube[word & 4095u] = tsr_engine_value<CODED>(pool, phi, (int64_t)row[word >> 12 & 31u] * V + (word >> 17));
    }
    __syncthreads();
    if (!pool.bounded) return;
    int32_t low[3], high[3], touches = 0;
    for (int k = 0; k < 3; k++) {
        low[k] = tsr_maxi(R - first[k], 0);
        high[k] = tsr_mini(pool.domain[k] - first[k] - 1 + R, H - 1);
        touches |= low[k] > 0 || high[k] < H - 1;
    }
    if (!touches) return;
    for (int32_t i = (int32_t)threadIdx.x; i < tsr_cross<E, R>::CELLS; i += (int32_t)blockDim.x) {
        int32_t x = i % H, y = i / H % H, z = i / (H * H);
        int32_t cx = tsr_mini(tsr_maxi(x, low[0]), high[0]), cy = tsr_mini(tsr_maxi(y, low[1]), high[1]), cz = tsr_mini(tsr_maxi(z, low[2]), high[2]);
        int32_t from = (cz * H + cy) * H + cx;
        if (from != i) cube[i] = cube[from];
    }
    __syncthreads();
}

/* ---- a pass ------------------------------------------------------------------------------------------------------------------------------------ */

/* Largest rates of the terms in the band. Returns 0 if they are not finite. */
TSR_DEVICE_FN int tsr_measure_voxel(const tsr_engine_values &v, const tsr_engine_scheme &k, uint32_t *rate, uint32_t *curvature)
{
    const float h = tsr_engine_hyperbolic(&v, &k), a = tsr_absf(v.curvature);
    if (!tsr_finite(h) || !tsr_finite(a)) return 0;
    *rate = max(*rate, tsr_float_bits(h));
    *curvature = max(*curvature, tsr_float_bits(a));
    return 1;
}

TSR_DEVICE_FN void tsr_measure_add(tsr_engine_control *control, uint32_t rate, uint32_t curvature)
{
    rate = __reduce_max_sync(TSR_WARP_ALL, rate);
    curvature = __reduce_max_sync(TSR_WARP_ALL, curvature);
    if ((threadIdx.x & 31u) != 0) return;
    if (rate) atomicMax(&control->rate_bits, rate);
    if (curvature) atomicMax(&control->curvature_bits, curvature);
}

/* Blocks of edge 8 a multiprocessor holds at least, twice as many of edge 4. On an H200 a wide stage whose terms are the same everywhere takes 1.01 ms with
 * 4, 0.95 with 5 and 0.82 with 6 (lucy-collapse, three stages); one whose terms have a place 1.33 with 4 and 1.28 with 5 (Enright in 1024^3). */
template <int SPACE, int PLACED> struct tsr_pass_blocks {
    enum { EDGE_8 = SPACE == TSR_FIRST_ORDER ? (PLACED ? 4 : 8) : PLACED ? 5 : 6 };
};

/* SPACE: what is known of the differences of scheme and reshape; PLACED: some term depends on the place. One block per tile at a time. Voxels
 * that stay are settled first and the others collected in a list, so that the arithmetic runs with full warps wherever the band lies in the tile. */
template <int E, int R, int SPACE, int PLACED, int CODED>
TSR_KERNEL(__launch_bounds__(E == 8 ? 128 : 64, tsr_pass_blocks<SPACE, PLACED>::EDGE_8 *(E == 8 ? 1 : 2)) pass_kernel)
(tsr_tile_pool pool, tsr_engine_setup setup, tsr_engine_control *control, tsr_pass_shape shape)
{
    enum { H = tsr_cross<E, R>::H, V = tsr_cross<E, R>::VOXELS, T = tsr_cross<E, R>::THREADS, N = V / T };
    typedef tsr_cross<E, R> shape_of;
    TSR_SHARED(float, cube, shape_of::CELLS);
    TSR_SHARED(float4, fresh, V / 4); /* new values */
    TSR_SHARED(uint32_t, table, shape_of::HALO);
    TSR_SHARED(uint16_t, moving, V);
    TSR_SHARED(uint32_t, row, TSR_TILE_DIRECTIONS);
    TSR_SHARED(uint32_t, shared, 2); /* areas, length of the list */
    TSR_SHARED(tsr_engine_moment, moments, 1);
    tsr_tile_state *state = pool.state;
    if (tsr_pass_stopped(state, shape.index)) return;
    tsr_engine_scheme k = shape.sweep ? setup.sweep : setup.scheme;
    if (SPACE == TSR_FIRST_ORDER) k.space = k.reshape_space = k.space == TSR_DIFFERENCE_UPWIND ? TSR_DIFFERENCE_UPWIND : TSR_DIFFERENCE_GODUNOV;
    if (SPACE == TSR_FIFTH_ORDER) k.space = k.reshape_space = TSR_DIFFERENCE_WENO5;
    const int32_t passes = setup.stages + setup.sweeps, source = tsr_pass_source(shape.index, passes), target = tsr_pass_target(shape.index, passes);
    const float *start = pool.phi[state->phi], *from = source == 2 ? pool.phi[2] : pool.phi[state->phi ^ source];
    float *to = target == 2 ? pool.phi[2] : pool.phi[state->phi ^ 1], *out = (float *)(void *)fresh;
    const float whole_step = control->time_step, step = shape.sweep ? setup.sweep_step : whole_step,
                blend = shape.sweep ? 1.0f : setup.blend[shape.index];
    const int32_t tid = (int32_t)threadIdx.x, lane = tid & 31, count = state->count, gradients = PLACED ? tsr_engine_payload(&setup.flow) : 0;
    const int measures = shape.index == 0 && setup.measured;
    const tsr_coding coding = tsr_coding_of(pool.band);
    tsr_pass_totals totals = {};
    uint32_t change = 0, oldest = 0, rate = 0, curvature = 0;
    if (tid < 2) shared[tid] = 0;
    if (tid == 0) {
        const double share = shape.sweep ? 0.0 : (double)setup.moment[shape.index];
        tsr_engine_moment_at(&setup.flow, state->time + share * (double)whole_step, control->mean_speed, moments);
        if (blockIdx.x == 0 && shape.last) state->scratch[TSR_COUNT_TIME_STEP] = tsr_float_bits(whole_step);
    }
    tsr_cross_table<E, R>(table);
    __syncthreads();
    for (int32_t at = (int32_t)blockIdx.x; at < count; at += (int32_t)gridDim.x) {
        int32_t extent[3];
        const uint32_t id = pool.id[state->list][at];
        const uint64_t key = tsr_pool_key(&pool, state->list, at);
        uint32_t bits = 0;
        tsr_cross_load<E, R, CODED>(pool, from, key, id, table, row, cube, extent);
        for (int32_t j = 0; j < N; j++) {
            const int32_t i = j * T + tid, x = i % E, y = i / E % E, z = i / (E * E);
            const float *p = cube + ((z + R) * H + y + R) * H + x + R;
            const float s = tsr_engine_value<CODED>(pool, start, (int64_t)id * V + i);
            const int in_domain = x < extent[0] && y < extent[1] && z < extent[2], still = tsr_voxel_still(p, H, H * H, k.band);
            if (!in_domain) out[i] = s; /* padding keeps its value */
            else if (still) {
                const float kept = tsr_stage_value(s, p[0], 0.0f, blend, k.band), v = CODED ? tsr_code_rounded(&coding, kept) : kept;
                const int in_band = v > -k.band && v < k.band;
                out[i] = v;
                if (in_band) {
                    bits |= tsr_areas(x, y, z, E, setup.guard);
                    change = max(change, tsr_float_bits(tsr_absf(v - s)));
                }
                totals.active += (uint32_t)in_band;
                totals.inside += v < 0.0f;
            }
            uint32_t movers = __ballot_sync(TSR_WARP_ALL, in_domain && !still), place = 0;
            if (lane == 0 && movers) place = atomicAdd(&shared[1], (uint32_t)__popc(movers));
            place = __shfl_sync(TSR_WARP_ALL, place, 0);
            if (movers >> lane & 1u) moving[place + (uint32_t)__popc(movers & ((1u << lane) - 1u))] = (uint16_t)i;
        }
        __syncthreads();
        for (int32_t m = tid; m < (int32_t)shared[1]; m += T) {
            const int32_t i = moving[m], x = i % E, y = i / E % E, z = i / (E * E);
            const float *p = cube + ((z + R) * H + y + R) * H + x + R;
            tsr_engine_values v = setup.flow.everywhere;
            v.speed = v.speed + moments->mean_speed;
            if (PLACED && !shape.sweep) {
                tsr_engine_given given = { { 0.0f, 0.0f, 0.0f }, id, i, V };
                if (gradients) tsr_payload_vector(&pool, gradients, row, x, y, z, extent, k.inverse_spacing, given.gradient);
                v = tsr_engine_at(&setup.flow, moments, tsr_key_x(key) * E + x, tsr_key_y(key) * E + y, tsr_key_z(key) * E + z, &given);
                if (measures && p[0] > -k.band && p[0] < k.band) tsr_measure_voxel(v, k, &rate, &curvature);
            }
            const float s = tsr_engine_value<CODED>(pool, start, (int64_t)id * V + i);
            const int distances = shape.sweep && setup.sweep_kind != TSR_SWEEP_RESHAPE;
            const float moved = distances ? 0.0f : step * tsr_scheme_rate(p, H, H * H, &v, &k, shape.sweep);
            const float found =
                distances ? tsr_distance_value(p, H, H * H, &k, setup.sweep_kind == TSR_SWEEP_SEED) : tsr_stage_value(s, p[0], moved, blend, k.band);
            const float w = CODED ? tsr_code_rounded(&coding, found) : found;
            if (!tsr_finite(p[0] + moved)) tsr_engine_bad_add(state, shape.index, at, i);
            const int in_band = w > -k.band && w < k.band;
            out[i] = w;
            if (in_band || tsr_sign_change(p, H, H * H)) bits |= tsr_areas(x, y, z, E, setup.guard);
            if (in_band) change = max(change, tsr_float_bits(tsr_absf(w - s)));
            totals.active += (uint32_t)in_band;
            totals.inside += w < 0.0f;
        }
        __syncthreads();
        if (tid == 0) shared[1] = 0;
        for (int32_t i = tid; i < V / 4; i += T) {
            const int64_t at_quad = (int64_t)id * (V / 4) + i;
            if (CODED) ((uint2 *)(void *)to)[at_quad] = tsr_quad_codes(&coding, fresh[i]);
            else ((float4 *)(void *)to)[at_quad] = fresh[i];
        }
        if (shape.last) tsr_activity_store(pool, id, bits, out[0], shared);
        if (tid == 0 && shape.last && shape.managed) {
            const uint32_t age = pool.age[id] < 255 ? pool.age[id] + 1u : 255u;
            pool.age[id] = (uint8_t)age;
            oldest = max(oldest, 255u - age);
        }
        __syncthreads();
    }
    if (measures) tsr_measure_add(control, rate, curvature);
    if (!shape.last) return;
    tsr_totals_add(state, totals);
    change = __reduce_max_sync(TSR_WARP_ALL, change);
    if (lane == 0 && change) atomicMax(&control->change_bits, change);
    if (tid == 0 && oldest) atomicMax(&control->old_bits, oldest);
}

/* ---- launches ------------------------------------------------------------------------------------------------------------------------------ */

template <int E, int R, int SPACE, int CODED>
static void tsr_engine_launch(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *setup, tsr_engine_control *control, tsr_pass_shape shape)
{
    const uint32_t blocks = tsr_tile_blocks(queue, pool), threads = E == 8 ? 128 : 64;
    if (setup->flow.count == 0) TSR_LAUNCH(queue, (pass_kernel<E, R, SPACE, 0, CODED>), blocks, threads, 0, *pool, *setup, control, shape);
    else TSR_LAUNCH(queue, (pass_kernel<E, R, SPACE, 1, CODED>), blocks, threads, 0, *pool, *setup, control, shape);
}

template <int E, int CODED>
static void tsr_engine_pass_of(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *setup, tsr_engine_control *control,
                             tsr_pass_shape shape)
{
    const tsr_engine_scheme *k = &setup->scheme;
    if (setup->radius == 1 && k->space == k->reshape_space) tsr_engine_launch<E, 1, TSR_FIRST_ORDER, CODED>(queue, pool, setup, control, shape);
    else if (k->space == TSR_DIFFERENCE_WENO5 && k->reshape_space == TSR_DIFFERENCE_WENO5)
        tsr_engine_launch<E, 3, TSR_FIFTH_ORDER, CODED>(queue, pool, setup, control, shape);
    else tsr_engine_launch<E, 3, TSR_MIXED, CODED>(queue, pool, setup, control, shape);
}

/* Queues pass `shape` of a step on a list that is coded, or is not. */
template <int CODED>
static void tsr_engine_enqueue(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *setup, tsr_engine_control *control,
                             tsr_pass_shape shape)
{
    if (pool->log2_edge == 3) tsr_engine_pass_of<8, CODED>(queue, pool, setup, control, shape);
    else tsr_engine_pass_of<4, CODED>(queue, pool, setup, control, shape);
}

#endif
