/* solver/list_distance.c: the values of a tile list become distances again. */
#include "solver/list_distance.h"

#include <math.h>

double tsr_list_smallest_spacing(const tsr_tiles *tiles)
{
    float h[3];
    tsr_pool_counted_spacing(&tiles->pool, h);
    return (double)tsr_minf(h[0], tsr_minf(h[1], h[2]));
}

tsr_status tsr_list_make_distance(tsr_tiles *tiles, const tsr_progress *progress)
{
    tsr_tile_state state;
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    if (state.count == 0) return TSR_OK;
    int32_t sweeps = (int32_t)ceil(2 * (double)tiles->pool.band / (0.3 * tsr_list_smallest_spacing(tiles)));
    TSR_TRY(tsr_levelset_reinitialise(tiles, TSR_STENCIL_WENO5, sweeps, progress));
    return TSR_OK;
}

tsr_status tsr_list_make_distance_anew(tsr_tiles *tiles, const tsr_progress *progress)
{
    tsr_progress_part part = { progress, "distances", 0, 0.5 };
    TSR_TRY(tsr_levelset_redistance(tiles, 0, &(tsr_progress){ tsr_progress_of_part, &part }));
    part.from = 0.5;
    return tsr_list_make_distance(tiles, &(tsr_progress){ tsr_progress_of_part, &part });
}
