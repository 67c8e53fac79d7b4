/* Corners of the triangles of patches, each divided into L x L squares: at = (corner, triangle). Inputs: the outputs of the HistoPyramid (patch and copy, 2 x triangles)
 * and how many triangles each patch has, 2 L^2. Output: the place of the corner on the lattice of all patches.
 *
 * Where the patch beside has a lower level, the places on the common edge are those of that one: the mesh has no cracks, and some triangles no area. */
#include "patches.h"

#include "tessera/map.h"

TSR_MAP_FN int level_of(const patches *d, const tsr_map_array *counts, int i, int j)
{
    const int64_t patch = (int64_t)((j + d->along) % d->along) * d->across + (i + d->across) % d->across;
    const int triangles = ((const int32_t *)counts->data)[patch];
    int level = 1;
    while (2 * level * level < triangles) level *= 2;
    return level;
}

TSR_MAP(patches, 2, 1, TSR_I64, TSR_I32, TSR_U32)
{
    const int64_t patch = TSR_MAP_IN(0, int64_t, 2 * at[1]);
    const int copy = (int)TSR_MAP_IN(0, int64_t, 2 * at[1] + 1), corner = (int)at[0] + 3 * (copy & 1);
    const int u = (int)(patch % data->across), v = (int)(patch / data->across), level = level_of(data, &in[1], u, v);
    int a = copy / 2 % level + (corner == 1 || corner == 2 || corner == 4), b = copy / 2 / level + (corner == 2 || corner == 4 || corner == 5);
    if (a == 0 || a == level) {
        const int beside = level_of(data, &in[1], a ? u + 1 : u - 1, v);
        if (beside < level) b -= b % (level / beside);
    }
    if (b == 0 || b == level) {
        const int beside = level_of(data, &in[1], u, b ? v + 1 : v - 1);
        if (beside < level) a -= a % (level / beside);
    }
    const int x = (u * PATCH_MOST + a * (PATCH_MOST / level)) % (data->across * PATCH_MOST);
    const int y = (v * PATCH_MOST + b * (PATCH_MOST / level)) % (data->along * PATCH_MOST);
    TSR_MAP_OUT(0, uint32_t) = (uint32_t)(y * data->across * PATCH_MOST + x);
}
