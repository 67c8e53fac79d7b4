#include "tiles/tiles.h"
#include "surface/surface.h"

#include <math.h>

tsr_status tsr_surface_lay_tiles(tsr_context *context, const tsr_tiles *tiles, const tsr_surface_options *options, tsr_surface_grid *g,
                                 int64_t *count)
{
    tsr_surface_options own;
    tsr_tile_state state;
    if (!context) TSR_FAIL(TSR_ERROR_ARGUMENT, "context is NULL");
    if (!tiles) TSR_FAIL(TSR_ERROR_ARGUMENT, "tiles is NULL");
    if (tiles->context != context) TSR_FAIL(TSR_ERROR_ARGUMENT, "tiles live in another context: copy them with tsr_tiles_copy");
    const tsr_tile_pool *pool = &tiles->pool;
    TSR_TRY(tsr_tiles_need_f32(tiles, "surface"));
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    own.inside = TSR_SURFACE_INSIDE_BELOW;
    if (own.close && pool->bounded) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "surface: close of a tile list with a domain: store it in a volume first");
    if (!(fabs(own.isovalue) < (double)pool->band) && !isnan(own.isovalue))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "surface: isovalue is %g, expected between -%g and %g, the band of the tile list", own.isovalue,
                 (double)pool->band, (double)pool->band);
    *g = (tsr_surface_grid){ .tiled = 1, .width = 1 << pool->log2_edge, .log2_edge = pool->log2_edge, .bounded = pool->bounded };
    TSR_TRY(tsr_surface_prepare(g, &own, TSR_F32, 1, 0, &tiles->geometry));
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    for (int k = 0; k < 3; k++) g->domain[k] = pool->domain[k];
    g->phi = pool->phi[state.phi];
    g->keys = tsr_pool_keys(pool, state.list);
    g->ids = pool->id[state.list];
    g->neighbours = pool->neighbours;
    g->words = (int64_t)state.count << 2 * pool->log2_edge;
    *count = state.count;
    return TSR_OK;
}

tsr_status tsr_surface_extract_tiles(tsr_context *context, const tsr_tiles *tiles, const tsr_surface_options *options, tsr_mesh **mesh,
                                     tsr_surface_report *report)
{
    TSR_RETURNS(mesh);
    TSR_NEEDS(context, tiles);
    tsr_surface_report made = TSR_SURFACE_REPORT;
    tsr_surface_grid g;
    int64_t count;
    TSR_TRY(TSR_STRUCT_BEGUN(report));
    TSR_TRY(tsr_surface_lay_tiles(context, tiles, options, &g, &count));
    made.cells = count << 3 * g.log2_edge;
    TSR_TRY(tsr_surface_run(context, &g, 1, tiles->pool.capacity, tiles->geometry.space, NULL, mesh, &made));
    return TSR_STRUCT_GIVE(report, &made);
}
