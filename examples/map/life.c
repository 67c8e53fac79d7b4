/* One generation: a cell looks at its eight neighbours in the generation before and writes itself into the next. */
#include "life.h"
#include "tessera/map.h"

TSR_MAP(life, 1, 1)
{
    const int64_t nx = in[0].size[0], ny = in[0].size[1];
    int n = 0;
    for (int64_t k = 0; k < 9; k++) {
        const int64_t x = (at[0] + k % 3 - 1 + nx) % nx, y = (at[1] + k / 3 - 1 + ny) % ny;
        n += k != 4 && TSR_MAP_IN(0, uint8_t, tsr_map_place(&in[0], x, y, at[2]));
    }
    TSR_MAP_OUT(0, uint8_t) = (uint8_t)((TSR_MAP_IN(0, uint8_t, i) ? data->stays : data->born) >> n & 1);
}
