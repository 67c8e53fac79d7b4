/* A transfer function on a volume, cut away by a ball that is a formula alone: what is left is where the value is above 0. */
#include "mixture.h"

#include "tessera/map.h"

TSR_MAP(mixture, 1, 1, TSR_MAP_ANY, TSR_F32)
{
    const double value = tsr_map_value(&in[0], at[0], at[1], at[2]), half = 0.5 * ((double)data->upper - (double)data->lower);
    const double from = value - (double)data->lower - half, opacity = 1 - (from < 0 ? -from : from) / half;
    double ball = -1;
    for (int k = 0; k < 3; k++) {
        const double d = ((double)at[k] - (double)data->centre[k]) / (double)data->size;
        ball += d * d;
    }
    TSR_MAP_OUT(0, float) = (float)(opacity < ball ? opacity : ball);
}
