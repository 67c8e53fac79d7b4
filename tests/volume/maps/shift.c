/* Two inputs, two outputs: a shifted value plus a weighted one of another volume, and the place itself. */
#include "shift.h"
#include "tessera/map.h"

TSR_MAP_FN double both(const tsr_map_array *in, const shift *data, const int64_t *at)
{
    return tsr_map_value(&in[0], at[0] + data->step[0], at[1] + data->step[1], at[2] + data->step[2]) +
           data->weight * tsr_map_value(&in[1], at[1], 0, 0);
}

TSR_MAP(shift, 2, 2, TSR_MAP_ANY, TSR_MAP_ANY, TSR_F64, TSR_I32)
{
    TSR_MAP_OUT(0, double) = both(in, data, at);
    TSR_MAP_OUT(1, int32_t) = (int32_t)(1000000 * at[2] + 1000 * at[1] + at[0]);
}
