/* volume/components_cuda.cu: connected components by union-find over voxels with atomic minima (Playne, Hawick 2018; Komura 2015): a set is named by
 * its first voxel whatever the order of the unions, so the labels equal those of the CPU. Number i + 1 stands for voxel i, 0 for the outside. */
#include "volume/volume_cuda.h"

enum { THREADS = 256, PART = 4096 }; /* voxels per block when roots are counted and numbered */

TSR_DEVICE_FN uint32_t find_root(const uint32_t *parent, uint32_t i)
{
    for (uint32_t up = __ldcg(parent + (i - 1)); up != i; up = __ldcg(parent + (i - 1))) i = up;
    return i;
}

/* Every failed exchange lowers one of the two, so the loop ends whatever other threads do. */
TSR_DEVICE_FN void merge(uint32_t *parent, uint32_t a, uint32_t b)
{
    for (;;) {
        a = find_root(parent, a);
        b = find_root(parent, b);
        if (a == b) return;
        uint32_t high = a < b ? b : a, low = a < b ? a : b, old = atomicMin(&parent[high - 1], low);
        if (old == high) return;
        a = old;
        b = low;
    }
}

/* Starts every voxel at the first voxel of its run within the warp. */
TSR_KERNEL(start_kernel)(const uint8_t *mask, int64_t nx, int64_t count, uint32_t *parent)
{
    for (int64_t base = (int64_t)blockIdx.x * THREADS; base < count; base += (int64_t)gridDim.x * THREADS) {
        int64_t i = base + threadIdx.x;
        int inside = i < count && mask[i];
        int first = i < count && i % nx == 0; /* of a row */
        uint32_t lane = threadIdx.x & 31u;
        uint32_t starts = ~__ballot_sync(TSR_WARP_ALL, inside) << 1 | __ballot_sync(TSR_WARP_ALL, first) | 1u; /* lanes where a run may start */
        uint32_t below = starts & (0xffffffffu >> (31u - lane));
        uint32_t begin = 31u - (uint32_t)__clz((int)below);
        if (i < count) parent[i] = inside ? (uint32_t)(i - (lane - begin)) + 1u : 0u;
    }
}

TSR_KERNEL(merge_kernel)(int64_t nx, int64_t ny, int64_t nz, int margin, uint32_t *parent)
{
    int64_t count = nx * ny * nz, step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        if (!__ldcg(parent + i)) continue;
        int64_t x = i % nx, y = i / nx % ny, z = i / nx / ny;
        uint32_t own = (uint32_t)i + 1u;
        if (x > 0 && (threadIdx.x & 31u) == 0 && __ldcg(parent + i - 1)) merge(parent, own, own - 1u); /* the run goes on in the warp before */
        for (int64_t dz = -1; dz <= 0; dz++)
            for (int64_t dy = -1; dy <= (dz < 0 ? 1 : -1); dy++) {
                if (z + dz < 0 || y + dy < 0 || y + dy >= ny || (!margin && dz * dy != 0)) continue;
                for (int64_t dx = -margin; dx <= margin; dx++) {
                    if (x + dx < 0 || x + dx >= nx) continue;
                    int64_t other = ((z + dz) * ny + y + dy) * nx + x + dx;
                    if (__ldcg(parent + other)) merge(parent, own, (uint32_t)other + 1u);
                }
            }
    }
}

/* Roots per part; the paths end at their root afterwards. */
TSR_KERNEL(flatten_kernel)(int64_t count, uint32_t *parent, uint32_t *roots)
{
    uint32_t found = 0;
    for (int64_t i = (int64_t)blockIdx.x * PART + threadIdx.x; i < tsr_minl(count, ((int64_t)blockIdx.x + 1) * PART); i += THREADS) {
        if (!__ldcg(parent + i)) continue;
        uint32_t root = find_root(parent, (uint32_t)i + 1u);
        if (root == (uint32_t)i + 1u) found++;
        else atomicMin(&parent[i], root);
    }
    TSR_SHARED(uint32_t, total, 1);
    if (threadIdx.x == 0) total[0] = 0;
    __syncthreads();
    found = __reduce_add_sync(TSR_WARP_ALL, found);
    if ((threadIdx.x & 31u) == 0) atomicAdd(&total[0], found);
    __syncthreads();
    if (threadIdx.x == 0) roots[blockIdx.x] = total[0];
}

/* One block turns counts into the first number of each part; *total = all roots. */
TSR_KERNEL(prefix_kernel)(int64_t parts, uint32_t *roots, uint32_t *total)
{
    TSR_SHARED(uint32_t, warps, 32);
    uint32_t carry = 0, lane = threadIdx.x & 31u, warp = threadIdx.x / 32u;
    for (int64_t base = 0; base < parts; base += 1024) {
        int64_t i = base + threadIdx.x;
        uint32_t own = i < parts ? roots[i] : 0, sum = own;
        for (uint32_t d = 1; d < 32; d *= 2) {
            uint32_t below = __shfl_up_sync(TSR_WARP_ALL, sum, d);
            if (lane >= d) sum += below;
        }
        if (lane == 31) warps[warp] = sum;
        __syncthreads();
        uint32_t before = 0, all = 0;
        for (uint32_t k = 0; k < 32; k++) {
            if (k < warp) before += warps[k];
            all += warps[k];
        }
        if (i < parts) roots[i] = carry + before + sum - own;
        carry += all;
        __syncthreads();
    }
    if (threadIdx.x == 0) *total = carry;
}

/* numbers[i] = label of root i, in memory order. */
TSR_KERNEL(number_kernel)(int64_t count, const uint32_t *parent, const uint32_t *first, uint32_t *numbers)
{
    TSR_SHARED(uint32_t, warps, THREADS / 32);
    uint32_t lane = threadIdx.x & 31u, warp = threadIdx.x / 32u, carry = first[blockIdx.x];
    for (int64_t base = (int64_t)blockIdx.x * PART; base < tsr_minl(count, ((int64_t)blockIdx.x + 1) * PART); base += THREADS) {
        int64_t i = base + threadIdx.x;
        int root = i < count && parent[i] == (uint32_t)i + 1u;
        uint32_t ballot = __ballot_sync(TSR_WARP_ALL, root);
        if (lane == 0) warps[warp] = (uint32_t)__popc(ballot);
        __syncthreads();
        uint32_t before = 0, all = 0;
        for (uint32_t k = 0; k < THREADS / 32; k++) {
            if (k < warp) before += warps[k];
            all += warps[k];
        }
        if (root) numbers[i] = carry + before + (uint32_t)__popc(ballot & ((1u << lane) - 1u)) + 1u;
        carry += all;
        __syncthreads();
    }
}

/* Parents become labels in place. */
TSR_KERNEL(label_kernel)(int64_t count, const uint32_t *numbers, uint32_t *labels)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) labels[i] = labels[i] ? numbers[labels[i] - 1u] : 0u;
}

static int64_t part_count(const int64_t size[3]) { return tsr_ceil_div(size[0] * size[1] * size[2], PART); }

/* Numbers of the roots, then counts of the parts. */
size_t tsr_cuda_components_work(const int64_t size[3]) { return (size_t)(size[0] * size[1] * size[2] + part_count(size)) * sizeof(uint32_t); }

/* The parents are built in `labels`. */
tsr_status tsr_cuda_components(tsr_queue *queue, const uint8_t *mask, const int64_t size[3], int connectivity, uint32_t *labels, void *work,
                               uint32_t *total)
{
    int64_t count = size[0] * size[1] * size[2], parts = part_count(size);
    uint32_t *numbers = (uint32_t *)work, *roots = numbers + count;
    if (count > 0xfffffffell)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "components: %lld voxels, expected less than 2^32 - 1 on this device", (long long)count);
    TSR_LAUNCH(queue, start_kernel, tsr_stream_blocks(queue, count), THREADS, 0, mask, size[0], count, labels);
    TSR_LAUNCH(queue, merge_kernel, tsr_stream_blocks(queue, count), THREADS, 0, size[0], size[1], size[2], connectivity == 26 ? 1 : 0, labels);
    TSR_LAUNCH(queue, flatten_kernel, (uint32_t)parts, THREADS, 0, count, labels, roots);
    TSR_LAUNCH(queue, prefix_kernel, 1, 1024, 0, parts, roots, total);
    TSR_LAUNCH(queue, number_kernel, (uint32_t)parts, THREADS, 0, count, (const uint32_t *)labels, (const uint32_t *)roots, numbers);
    TSR_LAUNCH(queue, label_kernel, tsr_stream_blocks(queue, count), THREADS, 0, count, (const uint32_t *)numbers, labels);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- selection ---------------------------------------------------------------------------------------------------------------------- */

/* A warp whose voxels share one label, which most do, adds once. */
TSR_KERNEL(sizes_kernel)(const uint32_t *labels, int64_t count, unsigned long long *sizes)
{
    for (int64_t base = (int64_t)blockIdx.x * THREADS; base < count; base += (int64_t)gridDim.x * THREADS) {
        int64_t i = base + threadIdx.x;
        uint32_t label = i < count ? labels[i] : 0, leader = __shfl_sync(TSR_WARP_ALL, label, 0);
        uint32_t valid = __ballot_sync(TSR_WARP_ALL, i < count);
        if (__all_sync(TSR_WARP_ALL, label == leader || i >= count)) {
            if ((threadIdx.x & 31u) == 0 && valid) atomicAdd(&sizes[leader], (unsigned long long)__popc(valid));
        } else if (i < count) {
            atomicAdd(&sizes[label], 1ull);
        }
    }
}

tsr_status tsr_cuda_label_sizes(tsr_queue *queue, const uint32_t *labels, int64_t count, uint64_t *sizes)
{
    TSR_LAUNCH(queue, sizes_kernel, tsr_stream_blocks(queue, count), THREADS, 0, labels, count, (unsigned long long *)sizes);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

TSR_KERNEL(select_kernel)(const uint32_t *labels, int64_t count, const uint8_t *keep, uint8_t *mask)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) mask[i] = keep[labels[i]];
}

tsr_status tsr_cuda_select_labels(tsr_queue *queue, const uint32_t *labels, int64_t count, const uint8_t *keep, uint8_t *mask)
{
    TSR_LAUNCH(queue, select_kernel, tsr_stream_blocks(queue, count), THREADS, 0, labels, count, keep, mask);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
