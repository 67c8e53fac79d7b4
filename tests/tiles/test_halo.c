/* What stencils see round a tile: every cell of the halo once, from its own voxel (docs/theory/levelset.md 9). The field is a linear function of the global
 * position, so that each voxel has another value and a cell says where it came from. */
#include <math.h>

#include "tiles_check.h"
#include "tiles/tiles_halo.h"

/* Exact in float32: small whole numbers. */
static float linear(int32_t x, int32_t y, int32_t z) { return (float)(x + 61 * y + 1301 * z); }

/* A list of 3 x 3 x 3 tiles; all of it lies in the band. */
static tsr_tiles *linear_list(tsr_context *context, int32_t edge)
{
    const int64_t n = 3 * edge;
    const tsr_geometry wide = tsr_geometry_make((tsr_vec3){ 100, 100, 100 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE); /* for bands this wide */
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_volume *host;
    tsr_tiles *tiles;
    options.edge = edge;
    options.band = 1e5;
    options.domain = (tsr_size3){ n, n, n };
    require_ok(tsr_volume_create(NULL, TSR_F32, options.domain, NULL, &host));
    float *v = (float *)tsr_volume_data(host);
    for (int64_t i = 0; i < n * n * n; i++) v[i] = linear((int32_t)(i % n), (int32_t)(i / n % n), (int32_t)(i / n / n));
    require_ok(tsr_tiles_create(context, &wide, &options, &tiles));
    require_ok(tsr_tiles_load(tiles, host));
    tsr_volume_destroy(&host);
    return tiles;
}

/* The cells of a gather of this radius that are written, each compared; those outside of a cross must keep the mark. */
static void compare(const float *cube, int32_t edge, int32_t radius, uint64_t key, int64_t expected)
{
    const int32_t H = edge + 2 * radius, n = 3 * edge;
    int64_t written = 0;
    for (int32_t z = -radius; z < edge + radius; z++)
        for (int32_t y = -radius; y < edge + radius; y++)
            for (int32_t x = -radius; x < edge + radius; x++) {
                const float v = cube[((z + radius) * H + y + radius) * H + x + radius];
                if (isnan(v)) continue;
                int32_t at[3] = { tsr_key_x(key) * edge + x, tsr_key_y(key) * edge + y, tsr_key_z(key) * edge + z };
                for (int k = 0; k < 3; k++) at[k] = at[k] < 0 ? 0 : at[k] >= n ? n - 1 : at[k]; /* beyond the domain the field is replicated */
                const int out[3] = { x < 0 || x >= edge, y < 0 || y >= edge, z < 0 || z >= edge };
                if (v != linear(at[0], at[1], at[2])) fail_msg("edge %d, radius %d: cell (%d, %d, %d) is %g", edge, radius, x, y, z, (double)v);
                written += out[0] + out[1] + out[2] > 0;
            }
    assert_int_equal(written, expected);
}

static void every_cell_from_its_voxel(void **unused)
{
    (void)unused;
    static const int32_t edges[2] = { 4, 8 };
    tsr_context *context = test_context_on("cpu", 1);
    for (int e = 0; e < 2; e++) {
        const int32_t E = edges[e];
        tsr_tiles *tiles = linear_list(context, E);
        const tsr_tile_pool *pool = &tiles->pool;
        tsr_tile_state state;
        require_ok(tsr_tiles_read_state(tiles, &state));
        assert_int_equal(state.count, 27);
        const float *phi = pool->phi[state.phi];
        const tsr_keys keys = tsr_pool_keys(pool, state.list);
        for (int32_t i = 0; i < state.count; i++) {
            const uint64_t key = tsr_key_at(keys, i);
            const int inner = tsr_key_x(key) == 1 && tsr_key_y(key) == 1 && tsr_key_z(key) == 1;
            float cube[TSR_CROSS_MOST];
            int32_t extent[3];
            for (int k = 0; k < TSR_CROSS_MOST; k++) cube[k] = NAN;
            tsr_cube_gather(pool, phi, key, pool->id[state.list][i], cube, extent);
            assert_true(extent[0] == E && extent[1] == E && extent[2] == E);
            compare(cube, E, 1, key, 6 * E * E + 12 * E + 8); /* edge 4: the 152 of [Laan11 7.3.3] */
            if (!inner) continue; /* at the border, cells that no stencil reads are filled, too */
            for (int k = 0; k < TSR_CROSS_MOST; k++) cube[k] = NAN;
            tsr_cross_gather(pool, phi, key, pool->id[state.list][i], cube, extent);
            compare(cube, E, 3, key, 6 * 3 * E * E + 12 * E); /* edge 4: 288 along the axes and 48 beside the edges */
        }
        tsr_tiles_destroy(&tiles);
    }
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_cell_from_its_voxel) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
