/* Voxels of odd values below a limit: a rule that no predefined classifier has. */
#include "tessera/map.h"

typedef struct odd {
    float limit[2];
} odd;

TSR_CLASSIFIER(odd, 1)
{
    const double v = tsr_map_value(&in[0], at[0], at[1], at[2]);
    return v >= (double)data->limit[0] && v < (double)data->limit[1] && ((int)v & 1);
}
