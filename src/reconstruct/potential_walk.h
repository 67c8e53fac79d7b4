/* reconstruct/potential_walk.h: warps walking through the octree, for kernels that work on blocks of 4^3 voxels (potential_cuda.cu, attract_cuda.cu).
 *
 * The lanes look at 32 nodes that follow one another in depth-first order at once (one line of centres, coalesced); the mask of accepted nodes says
 * where the walk goes, without loads in between; accepted nodes go to a list in shared memory in their order, already relative to the block's centre,
 * which is summed when it is nearly full. */
#ifndef TSR_RECONSTRUCT_POTENTIAL_WALK_H
#define TSR_RECONSTRUCT_POTENTIAL_WALK_H

#include "device/kernel.h"
#include "reconstruct/potential_ops.h"

enum { TSR_WALK_WARPS = 4, TSR_WALK_LIST = 128 }; /* warps per thread block, nodes in a warp's list */

/* The first voxel of a block of 4^3 voxels, and where the values of its tile begin. `at` counts blocks: tile by tile. */
TSR_DEVICE_FN int64_t tsr_block_page(const tsr_page_list &list, int64_t at, int32_t voxel[3], int32_t inside[3])
{
    const int32_t per_axis = list.log2_edge - 2, E = 1 << list.log2_edge;
    const int64_t tile = at >> (3 * per_axis), id = list.ids ? (int64_t)list.ids[tile] : tile;
    const int32_t part = (int32_t)(at & ((1 << (3 * per_axis)) - 1)), mask = (1 << per_axis) - 1;
    const uint64_t key = tsr_key_at(list.keys, id);
    inside[0] = (part & mask) * TSR_BLOCK_EDGE;
    inside[1] = (part >> per_axis & mask) * TSR_BLOCK_EDGE;
    inside[2] = (part >> (2 * per_axis)) * TSR_BLOCK_EDGE;
    voxel[0] = tsr_key_x(key) * E + inside[0];
    voxel[1] = tsr_key_y(key) * E + inside[1];
    voxel[2] = tsr_key_z(key) * E + inside[2];
    return id << (3 * list.log2_edge);
}

/* One walk of a warp. work.look(tree, node, centre of the node, walk of the node, centre, &seen, sums) says 1 take it, 0 open it, -1 leave it out with
 * all below; work.sum(nodes, count, lane, sums) adds a list, `sums` are the lane's own. `nodes` is shared memory of the warp, [TSR_WALK_LIST]. */
template <class W, class S>
TSR_DEVICE_FN void tsr_walk_nodes(const tsr_tree_view &tree, const W &work, const uint32_t centre[3], float4 *nodes, uint32_t lane, S *sums)
{
    uint32_t node = 0, count = 0;
    while (node < tree.nodes) {
        const uint32_t own = node + lane;
        uint32_t skip = 0, next;
        float4 seen = make_float4(0, 0, 0, 0);
        int choice = -1;
        if (own < tree.nodes) {
            tsr_tree_centre c = tree.centre[own];
            tsr_tree_walk w = tree.walk[own];
            choice = work.look(tree, own, c, w, centre, &seen, sums);
            skip = w.skip;
        }
        const uint32_t stops = __ballot_sync(TSR_WARP_ALL, choice != 0), taken = __ballot_sync(TSR_WARP_ALL, choice == 1);
        uint32_t place = 0, visited = 0; /* accepted nodes that the walk really comes to */
        for (;;) {
            uint32_t rest = place < 32u ? stops & (0xffffffffu << place) : 0;
            if (!rest) {
                next = node + (place < 32u ? 32u : place);
                break;
            }
            uint32_t stop = (uint32_t)__ffs((int)rest) - 1u;
            visited |= 1u << stop;
            next = __shfl_sync(TSR_WARP_ALL, skip, (int)stop);
            if (node + stop >= tree.nodes) { /* past the end */
                visited &= ~(1u << stop);
                next = tree.nodes;
                break;
            }
            place = next - node;
        }
        visited &= taken;
        if (visited >> lane & 1u) nodes[count + (uint32_t)__popc(visited & ((1u << lane) - 1u))] = seen;
        count += (uint32_t)__popc(visited);
        node = next;
        if (count > TSR_WALK_LIST - 32 || node >= tree.nodes) {
            __syncwarp();
            work.sum(nodes, count, lane, sums);
            count = 0;
            __syncwarp();
        }
    }
}

#endif
