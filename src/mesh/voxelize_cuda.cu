/* mesh/voxelize_cuda.cu: mesh to level set on the GPU (and the emulator).
 *
 * A thread finds the tiles of a small triangle, a warp those of a large one, a lane per row of its box. A block works on one tile: its triangles pass through
 * shared memory, a warp holds 4 x 4 x 2 voxels, and 32 triangles whose circles are too far for every one of them cost one test. */
#include "device/kernel.h"

#include "tiles/tiles_ops.h"
#include "mesh/voxelize_open.h"
#include "mesh/voxelize_ops.h"

enum { THREADS = 256, CHUNK = 64, PREVIEW = 512, TILE_THREADS = 128 };

TSR_DEVICE_FN int64_t thread_index(void) { return (int64_t)blockIdx.x * blockDim.x + threadIdx.x; }
TSR_DEVICE_FN int64_t thread_count(void) { return (int64_t)gridDim.x * blockDim.x; }

/* ---- the mesh ------------------------------------------------------------------------------------------------------------------------ */

TSR_KERNEL(begin_kernel)(tsr_vox_summary *summary)
{
    const uint64_t infinite = UINT64_C(0x7ff0000000000000);
    double infinity;
    memcpy(&infinity, &infinite, 8);
    tsr_vox_summary s = {};
    s.bad_vertex = s.bad_corner = INT64_MAX;
    for (int k = 0; k < 3; k++) {
        s.lower[k] = tsr_vox_order(infinity);
        s.upper[k] = tsr_vox_order(-infinity);
    }
    *summary = s;
}

TSR_KERNEL(vertices_kernel)(tsr_vox_grid g, tsr_vox_summary *summary)
{
    for (int64_t i = thread_index(); i < 3 * g.vertices; i += thread_count())
        if ((tsr_float_bits(g.vertex[i]) & 0x7f800000u) == 0x7f800000u) atomicMin((long long *)(void *)&summary->bad_vertex, (long long)(i / 3));
}

TSR_DEVICE_FN void corners_of(const tsr_vox_grid &g, int64_t triangle, double p[3][3])
{
    for (int k = 0; k < 3; k++) tsr_vox_position(&g, g.corner[3 * triangle + k], p[k]);
}

/* Wraps: the sums of hashes do. */
TSR_DEVICE_FN int64_t warp_sum(int64_t v)
{
    for (int step = 16; step > 0; step >>= 1) v = (int64_t)((uint64_t)v + (uint64_t)__shfl_xor_sync(TSR_WARP_ALL, v, step));
    return v;
}
TSR_DEVICE_FN int64_t warp_least(int64_t v)
{
    for (int step = 16; step > 0; step >>= 1) v = tsr_minl(v, __shfl_xor_sync(TSR_WARP_ALL, v, step));
    return v;
}

TSR_KERNEL(corners_kernel)(tsr_vox_grid g, tsr_vox_summary *summary)
{
    int64_t lower[3] = { INT64_MAX, INT64_MAX, INT64_MAX }, upper[3] = { INT64_MIN, INT64_MIN, INT64_MIN }, rows = 0;
    for (int64_t i = thread_index(); i < g.triangles; i += thread_count()) {
        double p[3][3];
        const uint32_t *c = g.corner + 3 * i;
        if ((int64_t)c[0] >= g.vertices || (int64_t)c[1] >= g.vertices || (int64_t)c[2] >= g.vertices) {
            int64_t at = 3 * i + ((int64_t)c[0] < g.vertices) * (1 + ((int64_t)c[1] < g.vertices));
            atomicMin((long long *)(void *)&summary->bad_corner, (long long)at);
            continue;
        }
        corners_of(g, i, p);
        for (int n = 0; n < 9; n++) {
            lower[n % 3] = tsr_minl(lower[n % 3], tsr_vox_order(p[n / 3][n % 3]));
            upper[n % 3] = tsr_maxl(upper[n % 3], tsr_vox_order(p[n / 3][n % 3]));
        }
        rows += (int64_t)tsr_vox_row_estimate(&g, p);
    }
    rows = warp_sum(rows);
    for (int k = 0; k < 3; k++) {
        lower[k] = warp_least(lower[k]);
        upper[k] = -1 - warp_least(-1 - upper[k]);
    }
    if ((threadIdx.x & 31u) != 0) return;
    for (int k = 0; k < 3; k++) {
        atomicMin((long long *)(void *)&summary->lower[k], (long long)lower[k]);
        atomicMax((long long *)(void *)&summary->upper[k], (long long)upper[k]);
    }
    atomicAdd((unsigned long long *)(void *)&summary->rows, (unsigned long long)rows);
}

static tsr_status cuda_survey(tsr_queue *queue, const tsr_vox_grid *g, tsr_vox_summary *summary)
{
    const int64_t most = 8 * (int64_t)tsr_queue_processors(queue);
    TSR_LAUNCH(queue, begin_kernel, 1, 1, 0, summary);
    TSR_LAUNCH(queue, vertices_kernel, tsr_blocks(3 * g->vertices, THREADS, most), THREADS, 0, *g, summary);
    TSR_LAUNCH(queue, corners_kernel, tsr_blocks(g->triangles, THREADS, most), THREADS, 0, *g, summary);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

TSR_KERNEL(fix_kernel)(tsr_vox_grid g)
{
    for (int64_t i = thread_index(); i < g.vertices; i += thread_count()) {
        double p[3];
        tsr_vox_position(&g, (uint32_t)i, p);
        tsr_vox_fix(&g, p, g.fixed[i]);
    }
}

TSR_KERNEL(frames_kernel)(tsr_vox_grid g, tsr_vox_summary *summary)
{
    int64_t degenerate = 0;
    uint64_t edges = 0;
    for (int64_t i = thread_index(); i < g.triangles; i += thread_count()) {
        double p[3][3];
        const uint32_t *c = g.corner + 3 * i;
        tsr_vox_triangle t;
        corners_of(g, i, p);
        tsr_vox_frame(p, &t);
        g.triangle[i] = t;
        degenerate += t.cy == 0.0f;
        const uint64_t place[3] = { tsr_vox_place(g.fixed[c[0]]), tsr_vox_place(g.fixed[c[1]]), tsr_vox_place(g.fixed[c[2]]) };
        edges += tsr_vox_edge_number(place[0], place[1]) + tsr_vox_edge_number(place[1], place[2]) + tsr_vox_edge_number(place[2], place[0]);
    }
    degenerate = warp_sum(degenerate);
    edges = (uint64_t)warp_sum((int64_t)edges);
    if ((threadIdx.x & 31u) != 0) return;
    atomicAdd((unsigned long long *)(void *)&summary->degenerate, (unsigned long long)degenerate);
    atomicAdd((unsigned long long *)(void *)&summary->edges, (unsigned long long)edges);
}

/* Counts the tiles of every triangle or, with keys, writes them behind each other: a thread those of a small triangle, the warp those of each large one of its
 * threads. */
TSR_KERNEL(tiles_kernel)(tsr_vox_grid g, int32_t writing)
{
    const int32_t lane = (int32_t)(threadIdx.x & 31u);
    for (int64_t first = thread_index() - lane; first < g.triangles; first += thread_count()) {
        const int64_t mine = first + lane;
        double p[3][3];
        int few = 1;
        if (mine < g.triangles) {
            corners_of(g, mine, p);
            few = tsr_vox_is_small(&g, p);
            if (few) {
                const uint64_t at = writing ? g.offset[mine] - g.count[mine] : 0;
                const uint32_t own = tsr_vox_tiles(&g, g.triangle + mine, p, 0, 1, writing ? g.key + at : NULL);
                if (!writing) g.count[mine] = own;
                for (uint32_t k = 0; k < own && writing; k++) g.owner[at + k] = (uint32_t)mine;
            }
        }
        for (uint32_t large = __ballot_sync(TSR_WARP_ALL, !few); large; large &= large - 1) {
            const int64_t i = first + __ffs((int)large) - 1;
            corners_of(g, i, p);
            uint32_t own = tsr_vox_tiles(&g, g.triangle + i, p, lane, 32, NULL), sum = own;
            for (uint32_t d = 1; d < 32; d <<= 1) {
                uint32_t other = __shfl_up_sync(TSR_WARP_ALL, sum, d);
                if (lane >= (int32_t)d) sum += other;
            }
            if (!writing) {
                if (lane == 31) g.count[i] = sum;
                continue;
            }
            uint64_t at = g.offset[i] - g.count[i] + (sum - own);
            if (own) tsr_vox_tiles(&g, g.triangle + i, p, lane, 32, g.key + at);
            for (uint32_t k = 0; k < own; k++) g.owner[at + k] = (uint32_t)i;
        }
    }
}

static tsr_status cuda_frames(tsr_queue *queue, const tsr_vox_grid *g, tsr_vox_summary *summary)
{
    const int64_t most = 8 * (int64_t)tsr_queue_processors(queue);
    TSR_LAUNCH(queue, fix_kernel, tsr_blocks(g->vertices, THREADS, most), THREADS, 0, *g);
    TSR_LAUNCH(queue, frames_kernel, tsr_blocks(g->triangles, THREADS, most), THREADS, 0, *g, summary);
    TSR_LAUNCH(queue, tiles_kernel, tsr_blocks(g->triangles, THREADS, most), THREADS, 0, *g, 0);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_pairs(tsr_queue *queue, const tsr_vox_grid *g)
{
    TSR_LAUNCH(queue, tiles_kernel, tsr_blocks(g->triangles, THREADS, 8 * (int64_t)tsr_queue_processors(queue)), THREADS, 0, *g, 1);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

TSR_KERNEL(heads_kernel)(tsr_vox_grid g)
{
    for (int64_t i = thread_index(); i < g.pairs; i += thread_count()) g.head[i] = i == 0 || g.sorted_key[i] != g.sorted_key[i - 1];
}

static tsr_status cuda_heads(tsr_queue *queue, const tsr_vox_grid *g)
{
    TSR_LAUNCH(queue, heads_kernel, tsr_blocks(g->pairs, THREADS, 16 * (int64_t)tsr_queue_processors(queue)), THREADS, 0, *g);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- tiles ---------------------------------------------------------------------------------------------------------------------------- */

/* Crossings of one triangle with the rows of the tile: each is entered at its voxel. */
TSR_DEVICE_FN void cross(const tsr_vox_grid &g, const int32_t tile[3], uint32_t triangle, int32_t *winding)
{
    tsr_vox_box box;
    int64_t first[3];
    const uint32_t *c = g.faced + 3 * (int64_t)triangle;
    const int32_t edge = 1 << g.log2_edge, *a = g.fixed[c[0]], *b = g.fixed[c[1]], *d = g.fixed[c[2]];
    if (!tsr_vox_meets(&g, a, b, d, tile, &box)) return;
    for (int k = 0; k < 3; k++) first[k] = (int64_t)tile[k] * edge - g.base[k];
    for (int32_t z = box.lower[2]; z <= box.upper[2]; z++)
        for (int32_t y = box.lower[1]; y <= box.upper[1]; y++) {
            int64_t voxel;
            int32_t turn = tsr_vox_cross(&g, a, b, d, (first[1] + y) << g.fraction, (first[2] + z) << g.fraction, &voxel);
            if (turn && voxel >= first[0] && voxel < first[0] + edge) atomicAdd(&winding[(z * edge + y) * edge + (int32_t)(voxel - first[0])], turn);
        }
}

/* Place in the tile of voxel `lane` of block `b` of 4 x 4 x 2. */
template <int E> TSR_DEVICE_FN void voxel_of(int32_t b, int32_t lane, int32_t v[3])
{
    const int32_t per = E / 4;
    v[0] = b % per * 4 + (lane & 3);
    v[1] = b / per % per * 4 + (lane >> 2 & 3);
    v[2] = b / (per * per) * 2 + (lane >> 4);
}

/* The triangle whose circle's centre is nearest to a place, of the first PREVIEW of a tile. One warp. */
TSR_DEVICE_FN uint32_t nearest_centre(const float (*centre)[3], int32_t n, const float place[3], int32_t lane)
{
    uint32_t least = UINT32_MAX, at = 0;
    for (int32_t i = lane; i < n; i += 32) {
        const float dx = centre[i][0] - place[0], dy = centre[i][1] - place[1], dz = centre[i][2] - place[2];
        const uint32_t square = tsr_float_bits((dx * dx + dy * dy) + dz * dz);
        if (square < least) {
            least = square;
            at = (uint32_t)i;
        }
    }
    const uint32_t all = __reduce_min_sync(TSR_WARP_ALL, least);
    return __reduce_min_sync(TSR_WARP_ALL, least == all ? at : UINT32_MAX);
}

/* A block of 4 x 4 x 2 voxels of a warp: its middle from that of the tile, how far its voxels reach from there. */
struct voxel_block {
    float middle[3], radius;
};

/* Takes the triangles of a chunk into the least squared distance of the lane's voxel. Whole warps leave out triangles that are too far for every voxel of the
 * block, a lane those too far for its own; what is left is worked out by each lane in its own order: a minimum has none. */
TSR_DEVICE_FN float take_chunk(const tsr_vox_local *local, const tsr_vox_disc *disc, int32_t n, const voxel_block &block, const float p[3],
                               float best, int32_t lane)
{
    for (int32_t from = 0; from < n; from += 32) {
        const float farthest = tsr_vox_farthest(tsr_bits_float(__reduce_max_sync(TSR_WARP_ALL, tsr_float_bits(best))), block.radius);
        const int32_t own = from + lane;
        const int near = own < n && !tsr_vox_beyond(&disc[own], block.middle[0], block.middle[1], block.middle[2], farthest);
        uint32_t mask = 0;
        for (uint32_t left = __ballot_sync(TSR_WARP_ALL, near); left; left &= left - 1) {
            const int32_t i = __ffs((int)left) - 1;
            if (!tsr_vox_beyond(&disc[from + i], p[0], p[1], p[2], best)) mask |= 1u << i;
        }
        for (; mask; mask &= mask - 1) best = tsr_minf(best, tsr_vox_distance(&local[from + __ffs((int)mask) - 1], p[0], p[1], p[2]));
        __syncwarp();
    }
    return best;
}

template <int E> TSR_KERNEL(fill_kernel)(tsr_vox_grid g, tsr_tile_pool pool, int64_t begin, int64_t end)
{
    enum { V = E * E * E, WARPS = E == 8 ? TILE_THREADS / 32 : 2, EACH = V / 32 / WARPS };
    TSR_SHARED(tsr_vox_local, local, CHUNK);
    TSR_SHARED(tsr_vox_disc, disc, CHUNK);
    TSR_SHARED(float, preview, PREVIEW * 3);
    TSR_SHARED(int32_t, winding, V);
    float(*centre)[3] = (float(*)[3])preview;
    int32_t lane = (int32_t)(threadIdx.x & 31u), warp = (int32_t)(threadIdx.x >> 5);
    for (int64_t t = begin + blockIdx.x; t < end; t += gridDim.x) {
        const uint32_t id = TSR_TILE_FIRST + (uint32_t)t, *owner = g.sorted_owner + g.start[t], count = g.start[t + 1] - g.start[t];
        const int32_t previews = (int32_t)tsr_minl((int64_t)count, PREVIEW);
        int32_t tile[3];
        double middle[3];
        float p[EACH][3], best[EACH];
        voxel_block block[EACH];
        tsr_vox_unpack(&g, g.sorted_key[g.start[t]], tile);
        tsr_vox_middle(&g, tile, middle);
        for (int32_t i = (int32_t)threadIdx.x; i < V; i += (int32_t)blockDim.x) winding[i] = 0;
        for (int32_t i = (int32_t)threadIdx.x; i < previews; i += (int32_t)blockDim.x)
            for (int32_t r = 0; r < 3; r++) centre[i][r] = owner[i] == TSR_VOX_NOBODY ? 1e15f : (float)(g.triangle[owner[i]].centre[r] - middle[r]);
        if (threadIdx.x == 0) {
            tsr_pool_key_put(&pool, 0, t, tsr_key_make(tile[0], tile[1], tile[2]));
            tsr_pool_key_of_put(&pool, id, tsr_key_make(tile[0], tile[1], tile[2]));
            pool.id[0][t] = id;
            if (t == g.tiles - 1) tsr_pool_key_put(&pool, 0, g.tiles, TSR_KEY_END);
        }
        __syncthreads();
        for (int32_t k = 0; k < EACH; k++) {
            int32_t v[3], low[3];
            tsr_vox_local l;
            voxel_of<E>(warp * EACH + k, lane, v);
            voxel_of<E>(warp * EACH + k, 0, low);
            const float half[3] = { 1.5f * g.h[0], 1.5f * g.h[1], 0.5f * g.h[2] };
            for (int32_t r = 0; r < 3; r++) {
                p[k][r] = tsr_vox_offset(v[r], E, g.h[r]);
                block[k].middle[r] = tsr_vox_offset(low[r], E, g.h[r]) + half[r];
            }
            block[k].radius = tsr_vox_block_radius(half);
            best[k] = g.reach * g.reach;
            const uint32_t first = owner[nearest_centre(centre, previews, block[k].middle, lane)]; /* a good guess, which saves most of the others */
            if (first == TSR_VOX_NOBODY) continue;
            tsr_vox_localise(&g.triangle[first], middle, &l);
            best[k] = tsr_minf(best[k], tsr_vox_distance(&l, p[k][0], p[k][1], p[k][2]));
        }
        for (uint32_t from = 0; from < count; from += CHUNK) {
            int32_t n = (int32_t)tsr_minl((int64_t)count - from, CHUNK);
            __syncthreads();
            for (int32_t i = (int32_t)threadIdx.x; i < n; i += (int32_t)blockDim.x) {
                uint32_t triangle = owner[from + (uint32_t)i];
                tsr_vox_local l = {};
                if (triangle == TSR_VOX_NOBODY) { /* far from everything */
                    l.centre[0] = l.u[3] = l.v[3] = l.w[3] = 1e15f;
                } else {
                    tsr_vox_localise(&g.triangle[triangle], middle, &l);
                    if (g.before) cross(g, tile, triangle, winding);
                }
                local[i] = l;
                disc[i] = { { l.centre[0], l.centre[1], l.centre[2] }, l.radius, { l.w[0], l.w[1], l.w[2], l.w[3] } };
            }
            __syncthreads();
            for (int32_t k = 0; k < EACH; k++) best[k] = take_chunk(local, disc, n, block[k], p[k], best[k], lane);
        }
        __syncthreads();
        for (int32_t k = 0; k < EACH; k++) {
            int32_t v[3];
            voxel_of<E>(warp * EACH + k, lane, v);
            pool.phi[0][(int64_t)id * V + (v[2] * E + v[1]) * E + v[0]] = best[k];
        }
        if (!g.before) continue;
        int32_t *out = (int32_t *)(void *)(pool.phi[1] + (int64_t)id * V);
        for (int32_t row = (int32_t)threadIdx.x; row < E * E; row += (int32_t)blockDim.x) {
            int32_t sum = 0;
            for (int32_t x = 0; x < E; x++) {
                sum += winding[row * E + x];
                out[row * E + x] = sum;
            }
            g.before[t * E * E + row] = sum;
        }
        __syncthreads();
    }
}

static tsr_status cuda_fill(tsr_queue *queue, const tsr_vox_grid *g, const tsr_tile_pool *pool, int64_t begin, int64_t end)
{
    uint32_t blocks = tsr_blocks(end - begin, 1, 16 * (int64_t)tsr_queue_processors(queue));
    if (g->log2_edge == 3) TSR_LAUNCH(queue, fill_kernel<8>, blocks, TILE_THREADS, 0, *g, *pool, begin, end);
    else TSR_LAUNCH(queue, fill_kernel<4>, blocks, 64, 0, *g, *pool, begin, end);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* A block per tile that begins a row of tiles; a thread per row of voxels walks along it. */
TSR_KERNEL(wind_kernel)(tsr_vox_grid g, tsr_tile_pool pool)
{
    const uint64_t *key = (const uint64_t *)pool.key[0]; /* the list was made with keys of 64 bits */
    int32_t rows = 1 << (2 * g.log2_edge), middle = tsr_vox_middle_row(&g);
    for (int64_t head = blockIdx.x; head < g.tiles; head += gridDim.x) {
        if (head > 0 && key[head] >> TSR_KEY_BITS == key[head - 1] >> TSR_KEY_BITS) continue;
        for (int32_t row = (int32_t)threadIdx.x; row < rows; row += (int32_t)blockDim.x) {
            int32_t sum = 0;
            for (int64_t t = head; t < g.tiles && key[t] >> TSR_KEY_BITS == key[head] >> TSR_KEY_BITS; t++) {
                int32_t own = g.before[t * rows + row];
                g.before[t * rows + row] = sum;
                sum += own;
                if (g.exit) g.exit[t * rows + row] = sum;
                if (row == middle) g.after[t] = sum;
            }
        }
    }
}

static tsr_status cuda_wind(tsr_queue *queue, const tsr_vox_grid *g, const tsr_tile_pool *pool)
{
    TSR_LAUNCH(queue, wind_kernel, tsr_blocks(g->tiles, 1, 64 * (int64_t)tsr_queue_processors(queue)), 64, 0, *g, *pool);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

template <int E> TSR_KERNEL(sign_kernel)(tsr_vox_grid g, tsr_tile_pool pool)
{
    enum { V = E * E * E };
    TSR_SHARED(int32_t, steady, 2);
    const uint64_t *key = (const uint64_t *)pool.key[0]; /* the list was made with keys of 64 bits */
    for (int64_t t = blockIdx.x; t < g.tiles; t += gridDim.x) {
        const int64_t id = TSR_TILE_FIRST + t;
        const int32_t tile[3] = { tsr_key_x(key[t]), tsr_key_y(key[t]), tsr_key_z(key[t]) };
        if (threadIdx.x == 0) steady[0] = tsr_vox_steady(&g, tile, &steady[1]);
        __syncthreads();
        for (int32_t i = (int32_t)threadIdx.x; i < V; i += (int32_t)blockDim.x) {
            const int32_t voxel[3] = { i % E, i / E % E, i / (E * E) };
            float *phi = pool.phi[0] + id * V + i, *other = pool.phi[1] + id * V + i;
            int inside = 0;
            if (g.before) {
                int32_t own = *(const int32_t *)(const void *)other + g.before[t * E * E + i / E];
                inside = tsr_vox_inside(&g, steady[0] ? own + steady[1] : tsr_vox_turn(&g, tile, voxel, own));
            }
            *phi = *other = tsr_vox_field(&g, *phi, inside);
        }
        __syncthreads();
        int32_t d = (int32_t)threadIdx.x;
        if (g.face && d < 6) g.face[t][d] = tsr_vox_face(pool.phi[0] + id * V, g.log2_edge, d);
        if (d < TSR_TILE_DIRECTIONS) {
            uint64_t wanted = key[t] + (uint64_t)tsr_key_offset(d);
            int32_t at = tsr_key_lower_bound(key, (int32_t)g.tiles, wanted);
            pool.neighbours[id * TSR_NEIGHBOUR_ROW + d] =
                at < g.tiles && key[at] == wanted ? TSR_TILE_FIRST + (uint32_t)at : tsr_vox_absent(&g, key, at, wanted);
        } else if (d == TSR_TILE_DIRECTIONS && g.before && t + 1 < g.tiles && key[t + 1] >> TSR_KEY_BITS == key[t] >> TSR_KEY_BITS &&
                   key[t + 1] > key[t] + 1 && tsr_vox_absent(&g, key, t + 1, key[t] + 1) == TSR_TILE_INSIDE) {
            atomicAdd((unsigned long long *)(void *)&pool.state->inside_absent, (unsigned long long)((key[t + 1] - key[t] - 1) * V));
        }
        __syncthreads();
    }
}

static tsr_status cuda_sign(tsr_queue *queue, const tsr_vox_grid *g, const tsr_tile_pool *pool)
{
    uint32_t blocks = tsr_blocks(g->tiles, 1, 16 * (int64_t)tsr_queue_processors(queue));
    if (g->log2_edge == 3) TSR_LAUNCH(queue, sign_kernel<8>, blocks, TILE_THREADS, 0, *g, *pool);
    else TSR_LAUNCH(queue, sign_kernel<4>, blocks, 64, 0, *g, *pool);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_voxelize_ops tsr_voxelize_cuda = { cuda_survey, cuda_frames, cuda_pairs, cuda_heads, cuda_fill, cuda_wind, cuda_sign, NULL, NULL, NULL };
