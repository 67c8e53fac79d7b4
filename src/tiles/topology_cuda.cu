/* tiles/topology_cuda.cu: dilation of a sorted voxel set on the GPU (and the emulator).
 *
 * The tiles of the result are marked as bits of their box, a warp's worth to a word; counting these gives every tile its place in the order of the list, and
 * every neighbour is found by a bit and a count. Nothing is sorted or searched for. */
#include "tiles/topology_ops.h"
#include "tiles/tiles_scratch.h"

enum { THREADS = 256, PART_THREADS = 1024, EACH = TSR_TOPOLOGY_PART / PART_THREADS, PLANES = 8 };

TSR_DEVICE_FN int64_t thread_index(void) { return (int64_t)blockIdx.x * blockDim.x + threadIdx.x; }
TSR_DEVICE_FN int64_t thread_count(void) { return (int64_t)gridDim.x * blockDim.x; }

TSR_DEVICE_FN void place_of(const tsr_rank_box &box, uint64_t key, int32_t at[3])
{
    at[0] = tsr_key_x(key) - box.lower[0];
    at[1] = tsr_key_y(key) - box.lower[1];
    at[2] = tsr_key_z(key) - box.lower[2];
}

/* Sets bits of a word; most are set already by the tile before. */
TSR_DEVICE_FN void set_bits(tsr_rank *word, uint32_t bits)
{
    if ((word->bits & bits) != bits) atomicOr(&word->bits, bits);
}

/* A thread per tile marks itself and what its voxels reach. */
TSR_KERNEL(mark_kernel)(tsr_topology_job job)
{
    for (int64_t i = thread_index(); i < job.count; i += thread_count()) {
        uint64_t m[8];
        int32_t at[3];
        place_of(job.box, job.keys[i], at);
        for (int32_t z = 0; z < 8; z += 2) {
            const uint4 two = ((const uint4 *)(const void *)job.mask[i])[z / 2];
            m[z] = two.x | (uint64_t)two.y << 32;
            m[z + 1] = two.z | (uint64_t)two.w << 32;
        }
        const uint32_t reach = tsr_topology_reach(m, job.neighbours);
        atomicOr(&job.from[tsr_rank_row(&job.box, at[1], at[2]) + (at[0] >> 5)].bits, 1u << (at[0] & 31));
        for (int32_t row = 0; row < 9; row++) { /* three places along x: the first is at x - 1, which lies in the box */
            const uint64_t three = (uint64_t)(reach >> 3 * row & 7u) << ((at[0] - 1) & 31);
            if (!three) continue;
            tsr_rank *word = &job.to[tsr_rank_row(&job.box, at[1] + row % 3 - 1, at[2] + row / 3 - 1) + ((at[0] - 1) >> 5)];
            if ((uint32_t)three) set_bits(word, (uint32_t)three);
            if (three >> 32) set_bits(word + 1, (uint32_t)(three >> 32));
        }
    }
}

/* ---- counts ---------------------------------------------------------------------------------------------------------------------------------- */

/* Block 2 p counts part p of `from`, block 2 p + 1 that of `to`. */
TSR_KERNEL(parts_kernel)(tsr_topology_job job)
{
    TSR_SHARED(uint32_t, shared, 33);
    const tsr_rank *rank = blockIdx.x & 1u ? job.to : job.from;
    const int64_t first = (int64_t)(blockIdx.x >> 1) * TSR_TOPOLOGY_PART + threadIdx.x;
    uint32_t own = 0, sum;
    for (int32_t k = 0; k < EACH; k++)
        if (first + k * PART_THREADS < job.box.words) own += (uint32_t)__popc(rank[first + k * PART_THREADS].bits);
    (void)tsr_block_prefix(own, shared, &sum);
    if (threadIdx.x == 0) job.parts[blockIdx.x] = sum;
}

/* One block: parts become what comes before them; the sum of `to` is the number of tiles. The other totals begin. */
TSR_KERNEL(sums_kernel)(tsr_topology_job job, int64_t parts)
{
    TSR_SHARED(uint32_t, shared, 33);
    for (int64_t which = 0; which < 2; which++) {
        uint64_t before = 0;
        for (int64_t first = 0; first < parts; first += PART_THREADS) {
            const int64_t p = first + threadIdx.x;
            const uint32_t own = p < parts ? (uint32_t)job.parts[2 * p + which] : 0u;
            uint32_t sum;
            const uint32_t place = tsr_block_prefix(own, shared, &sum);
            if (p < parts) job.parts[2 * p + which] = before + place;
            before += sum;
        }
        if (which == 1 && threadIdx.x == 0) {
            job.totals->tiles = before;
            job.totals->voxels = 0;
            for (int32_t k = 0; k < 3; k++) {
                job.totals->lower[k] = job.box.lower[k] + job.box.size[k] - 1;
                job.totals->upper[k] = job.box.lower[k];
            }
        }
    }
}

TSR_KERNEL(ranks_kernel)(tsr_topology_job job)
{
    TSR_SHARED(uint32_t, shared, 33);
    tsr_rank *rank = blockIdx.x & 1u ? job.to : job.from;
    const int64_t first = (int64_t)(blockIdx.x >> 1) * TSR_TOPOLOGY_PART + threadIdx.x;
    uint32_t before = (uint32_t)job.parts[blockIdx.x];
    for (int32_t k = 0; k < EACH; k++) {
        const int64_t word = first + k * PART_THREADS;
        uint32_t sum;
        const uint32_t place = tsr_block_prefix(word < job.box.words ? (uint32_t)__popc(rank[word].bits) : 0u, shared, &sum);
        if (word < job.box.words) rank[word].before = before + place;
        before += sum;
    }
}

static tsr_status cuda_survey(tsr_queue *queue, const tsr_topology_job *job)
{
    const int64_t parts = TSR_TOPOLOGY_PARTS(job->box.words), most = 16 * (int64_t)tsr_queue_processors(queue);
    TSR_LAUNCH(queue, mark_kernel, tsr_blocks(job->count, THREADS, most), THREADS, 0, *job);
    TSR_LAUNCH(queue, parts_kernel, (uint32_t)(2 * parts), PART_THREADS, 0, *job);
    TSR_LAUNCH(queue, sums_kernel, 1, PART_THREADS, 0, *job, parts);
    TSR_LAUNCH(queue, ranks_kernel, (uint32_t)(2 * parts), PART_THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- the result -------------------------------------------------------------------------------------------------------------------------------- */

/* Keys in order, and how far they reach: the box of a step is the least one with room for a tile more on each side, however many came before. */
TSR_KERNEL(keys_kernel)(tsr_topology_job job, uint64_t *keys)
{
    int32_t lower[3] = { INT32_MAX, INT32_MAX, INT32_MAX }, upper[3] = { INT32_MIN, INT32_MIN, INT32_MIN };
    for (int64_t word = thread_index(); word < job.box.words; word += thread_count()) {
        const tsr_rank rank = job.to[word];
        if (!rank.bits) continue;
        const uint64_t first = tsr_rank_key(&job.box, word, 0);
        const int32_t x = tsr_key_x(first), y = tsr_key_y(first), z = tsr_key_z(first);
        uint32_t place = rank.before;
        for (uint32_t bits = rank.bits; bits; bits &= bits - 1) keys[place++] = tsr_key_make(x + __ffs((int)bits) - 1, y, z);
        lower[0] = min(lower[0], x + __ffs((int)rank.bits) - 1);
        upper[0] = max(upper[0], x + 31 - __clz((int)rank.bits));
        lower[1] = min(lower[1], y);
        upper[1] = max(upper[1], y);
        lower[2] = min(lower[2], z);
        upper[2] = max(upper[2], z);
    }
    for (int32_t k = 0; k < 3; k++) { /* most warps find that others went as far */
        const int32_t least = __reduce_min_sync(TSR_WARP_ALL, lower[k]), most = __reduce_max_sync(TSR_WARP_ALL, upper[k]);
        if ((threadIdx.x & 31u) == 0 && least < job.totals->lower[k]) atomicMin(&job.totals->lower[k], least);
        if ((threadIdx.x & 31u) == 0 && most > job.totals->upper[k]) atomicMax(&job.totals->upper[k], most);
    }
    if (thread_index() == 0) keys[job.totals->tiles] = TSR_KEY_END;
}

/* Place of the source tile in direction d of the tile at `at`, or -1. The result's tiles may lie at the border of the box. */
TSR_DEVICE_FN int32_t source_of(const tsr_topology_job &job, const int32_t at[3], int32_t d)
{
    const int32_t x = at[0] + tsr_direction_x(d), y = at[1] + tsr_direction_y(d), z = at[2] + tsr_direction_z(d);
    if (x < 0 || y < 0 || z < 0 || x >= job.box.size[0] || y >= job.box.size[1] || z >= job.box.size[2]) return -1;
    const tsr_rank rank = job.from[tsr_rank_row(&job.box, y, z) + (x >> 5)];
    const uint32_t bit = 1u << (x & 31);
    return rank.bits & bit ? (int32_t)(rank.before + (uint32_t)__popc(rank.bits & (bit - 1u))) : -1;
}

TSR_DEVICE_FN uint64_t plane_of(const tsr_topology_job &job, int32_t source, int32_t z) { return source < 0 ? 0 : job.mask[source][z]; }

/* The nine planes p of the tiles in directions first .. first + 8, whose places the lanes of the tile hold. All its lanes ask. */
TSR_DEVICE_FN void planes_of(const tsr_topology_job &job, const int32_t place[4], int32_t first, int32_t p, int wanted, uint64_t m[9])
{
#pragma unroll
    for (int32_t k = 0; k < 9; k++) {
        const int32_t d = first + k, source = __shfl_sync(TSR_WARP_ALL, place[d / PLANES], d % PLANES, PLANES);
        m[k] = wanted ? plane_of(job, source, p) : 0;
    }
}

/* Eight lanes per tile of the result, one for each plane; each finds some of the tiles around it for all. */
template <int FACES> TSR_KERNEL(dilate_kernel)(tsr_topology_job job, int64_t count, const uint64_t *keys, uint64_t (*mask)[8])
{
    const int32_t z = (int32_t)(threadIdx.x & (PLANES - 1u));
    uint64_t voxels = 0;
    for (int64_t first = (int64_t)blockIdx.x * blockDim.x; first < count * PLANES; first += thread_count()) {
        const int64_t tile = (first + threadIdx.x) / PLANES;
        const int there = tile < count;
        int32_t at[3], place[4] = { -1, -1, -1, -1 };
        uint64_t result;
        place_of(job.box, keys[there ? tile : count - 1], at);
        if (FACES) { /* lanes 0 .. 6 look in directions 4, 10, 12, 13, 14, 16, 22 */
            const int32_t d = z == 0 ? 4 : z == 1 ? 10 : z == 5 ? 16 : z == 6 ? 22 : z + 10;
            place[0] = z < 7 ? source_of(job, at, d) : -1;
            int32_t source[7];
#pragma unroll
            for (int32_t k = 0; k < 7; k++) source[k] = __shfl_sync(TSR_WARP_ALL, place[0], k, PLANES);
            const uint64_t own = plane_of(job, source[3], z);
            uint64_t below = __shfl_up_sync(TSR_WARP_ALL, own, 1, PLANES), above = __shfl_down_sync(TSR_WARP_ALL, own, 1, PLANES);
            if (z == 0) below = plane_of(job, source[0], 7);
            if (z == 7) above = plane_of(job, source[6], 0);
            result = tsr_plane_step_x(own, plane_of(job, source[2], z), plane_of(job, source[4], z)) |
                     tsr_plane_step_y(own, plane_of(job, source[1], z), plane_of(job, source[5], z)) | below | above;
        } else {
            uint64_t m[9];
            for (int32_t k = 0; k < 4; k++)
                if (k * PLANES + z < TSR_TILE_DIRECTIONS) place[k] = source_of(job, at, k * PLANES + z);
            planes_of(job, place, 9, z, 1, m);
            const tsr_planes own = tsr_planes_step(m);
            const uint64_t step = job.neighbours == 26 ? own.box : own.cross; /* what goes to the planes above and below */
            uint64_t below = __shfl_up_sync(TSR_WARP_ALL, step, 1, PLANES), above = __shfl_down_sync(TSR_WARP_ALL, step, 1, PLANES);
            planes_of(job, place, 0, 7, z == 0, m);
            tsr_planes beyond = tsr_planes_step(m);
            if (z == 0) below = job.neighbours == 26 ? beyond.box : beyond.cross;
            planes_of(job, place, 18, 0, z == 7, m);
            beyond = tsr_planes_step(m);
            if (z == 7) above = job.neighbours == 26 ? beyond.box : beyond.cross;
            result = own.box | below | above;
        }
        if (!there) continue;
        mask[tile][z] = result;
        voxels += (uint64_t)__popcll(result);
    }
    voxels = tsr_warp_sum64(voxels);
    if ((threadIdx.x & 31u) == 0 && voxels) atomicAdd((unsigned long long *)(void *)&job.totals->voxels, (unsigned long long)voxels);
}

static tsr_status cuda_write(tsr_queue *queue, const tsr_topology_job *job, int64_t count, uint64_t *keys, uint64_t (*mask)[8])
{
    const int64_t most = 16 * (int64_t)tsr_queue_processors(queue);
    const uint32_t blocks = tsr_blocks(count * PLANES, THREADS, most);
    TSR_LAUNCH(queue, keys_kernel, tsr_blocks(job->box.words, THREADS, most), THREADS, 0, *job, keys);
    if (job->neighbours == 6) TSR_LAUNCH(queue, dilate_kernel<1>, blocks, THREADS, 0, *job, count, keys, mask);
    else TSR_LAUNCH(queue, dilate_kernel<0>, blocks, THREADS, 0, *job, count, keys, mask);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_topology_ops tsr_topology_cuda = { cuda_survey, cuda_write };
