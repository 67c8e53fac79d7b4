/* Fragments of the cones of sites, as a rasteriser makes them: at = (dx, dy, site), input: x and y of the sites (int32, 2 x sites). Each fragment gives its pixel (-1:
 * outside the picture) and its depth: the squared distance above, the site below, in 64 bits, so that the least of a pixel is its nearest site. */
#include "cones.h"
#include "tessera/map.h"

TSR_MAP(cones, 1, 2, TSR_I32, TSR_U32, TSR_U64)
{
    const int64_t dx = at[0] - data->reach, dy = at[1] - data->reach;
    const int64_t x = TSR_MAP_IN(0, int32_t, 2 * at[2]) + dx, y = TSR_MAP_IN(0, int32_t, 2 * at[2] + 1) + dy;
    const int inside = x >= 0 && x < data->width && y >= 0 && y < data->height;
    TSR_MAP_OUT(0, uint32_t) = inside ? (uint32_t)(y * data->width + x) : 0xffffffffu;
    TSR_MAP_OUT(1, uint64_t) = (uint64_t)(dx * dx + dy * dy) << 32 | (uint64_t)at[2];
}
