/* Fog volumes of NanoVDB: a level set that calls itself fog comes back as the dense values that it was made of, at their places. */
#include "scratch.h"
#include "tile_lists.h"

static tsr_context *cpu;

static int make_context(void **state)
{
    tsr_context_options options = { .struct_size = sizeof options, .device = "cpu" };
    if (tsr_context_create(&options, &cpu) != TSR_OK) return -1;
    return scratch_make(state);
}
static int destroy_context(void **state)
{
    tsr_context_destroy(&cpu);
    return scratch_remove(state);
}

/* The class of the grid, in the list of the file and in the grid itself. */
static void call_it_fog(uint8_t *bytes, size_t size)
{
    uint32_t length;
    memcpy(&length, bytes + 16 + 136, 4);
    const size_t grid = 16 + 176 + length;
    assert_true(size > grid + 672);
    bytes[16 + 36] = 2;
    bytes[grid + 632] = 2;
}

static void values_and_places(void **state)
{
    (void)state;
    const list_kind hollow = { "fog", 8, TSR_TILES_SORTED, 0, TSR_SPACE_NONE, 5 };
    tsr_tiles *tiles = make_list(cpu, &hollow);
    tsr_tiles_write_options plain = TSR_TILES_WRITE_OPTIONS;
    tsr_tiles_info info;
    tsr_volume *v;
    size_t size;
    plain.overwrite = 1;
    plain.compression = -1;
    require_ok(tsr_tiles_describe(tiles, &info));
    require_ok(tsr_tiles_write(tiles, scratch("level.nvdb"), &plain));
    require_error(tsr_volume_read(scratch("level.nvdb"), NULL, &v), TSR_ERROR_FORMAT, "tile list");
    uint8_t *bytes = (uint8_t *)scratch_read("level.nvdb", &size);
    call_it_fog(bytes, size);
    scratch_write("fog.nvdb", bytes, size);
    require_ok(tsr_volume_read(scratch("fog.nvdb"), NULL, &v));
    const tsr_size3 n = tsr_volume_size(v);
    const tsr_geometry *g = tsr_volume_geometry(v), all = list_geometry(TSR_SPACE_NONE);
    const tsr_vec3 corner = { g->affine[0][3], g->affine[1][3], g->affine[2][3] };
    tsr_vec3 low;
    require_ok(tsr_geometry_to_index(&all, corner, &low));
    const int64_t at[3] = { llround(low.x), llround(low.y), llround(low.z) };
    assert_true(fabs(low.x - (double)at[0]) < 1e-4 && fabs(low.y - (double)at[1]) < 1e-4 && fabs(low.z - (double)at[2]) < 1e-4);
    const float *data = (const float *)tsr_volume_data_const(v);
    int64_t found = 0, expected = 0;
    const float band = tiles->pool.band;
    for (int64_t z = 0; z < n.z; z++)
        for (int64_t y = 0; y < n.y; y++)
            for (int64_t x = 0; x < n.x; x++) {
                const float value = data[(z * n.y + y) * n.x + x], made = list_value(5, x + at[0], y + at[1], z + at[2]);
                if (fabsf(made) < band) found++;
                if (fabsf(value - (fabsf(made) < band ? made : value)) > 1e-6f)
                    fail_msg("voxel %lld %lld %lld is %g, expected %g", (long long)x, (long long)y, (long long)z, (double)value, (double)made);
            }
    for (int64_t z = 0; z < list_size.z; z++)
        for (int64_t y = 0; y < list_size.y; y++)
            for (int64_t x = 0; x < list_size.x; x++) expected += fabsf(list_value(5, x, y, z)) < band;
    assert_int_equal(found, expected);
    assert_true(found > 1000 && info.count > 10);
    tsr_volume_destroy(&v);
    for (size_t cut = 0; cut < size; cut += cut < 2048 ? 61 : size / 50) {
        tsr_read_options named = TSR_READ_OPTIONS;
        named.format = "nvdb-fog";
        scratch_write("cut.nvdb", bytes, cut);
        assert_true(tsr_volume_read(scratch("cut.nvdb"), &named, &v) != TSR_OK);
        assert_null(v);
    }
    free(bytes);
    tsr_tiles_destroy(&tiles);
    scratch_files(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(values_and_places) };
    return cmocka_run_group_tests_name("fog volumes", tests, make_context, destroy_context);
}
