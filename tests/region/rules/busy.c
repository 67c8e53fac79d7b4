/* A mask for trees: 1 where a voxel and the one behind it along x differ by `least` or more. */
#include "tessera/map.h"

typedef struct busy {
    int32_t least;
} busy;

TSR_MAP(busy, 1, 1, TSR_I16, TSR_U8)
{
    const int32_t v = TSR_MAP_IN(0, int16_t, i), w = at[0] + 1 < in[0].size[0] ? TSR_MAP_IN(0, int16_t, i + 1) : v;
    TSR_MAP_OUT(0, uint8_t) = (uint8_t)(v - w >= data->least || w - v >= data->least);
}
