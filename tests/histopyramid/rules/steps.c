/* 0 to 3 copies of a voxel: one for each axis along which the next value is higher by `least` or more. */
#include "steps.h"
#include "tessera/map.h"

TSR_CLASSIFIER(steps, 3)
{
    const double v = tsr_map_value(&in[0], at[0], at[1], at[2]);
    int count = 0;
    for (int k = 0; k < 3; k++) count += tsr_map_value(&in[0], at[0] + (k == 0), at[1] + (k == 1), at[2] + (k == 2)) - v >= data->least;
    return count;
}
