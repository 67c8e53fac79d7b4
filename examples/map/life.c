/* One generation: a cell looks at its eight neighbours in the generation before and writes itself into the next. */
#include "life.h"
#include "tessera/map.h"

TSR_MAP_FN int64_t wrapped(int64_t x, int64_t n) { return x < 0 ? x + n : x < n ? x : x - n; }

TSR_MAP(life, 1, 1, TSR_U8, TSR_U8)
{
    int n = 0;
    for (int64_t dy = -1; dy <= 1; dy++) {
        const int64_t y = wrapped(at[1] + dy, in[0].size[1]);
        for (int64_t dx = -1; dx <= 1; dx++)
            n += (dx || dy) && TSR_MAP_IN(0, uint8_t, tsr_map_place(&in[0], wrapped(at[0] + dx, in[0].size[0]), y, at[2]));
    }
    TSR_MAP_OUT(0, uint8_t) = (uint8_t)((TSR_MAP_IN(0, uint8_t, i) ? data->stays : data->born) >> n & 1);
}
