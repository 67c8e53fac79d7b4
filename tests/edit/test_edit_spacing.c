/* Voxels of unequal edges: bodies keep volume and area with default bands, whatever the thickest slice (docs/theory/tiles.md 1). */
#include <math.h>

#include "edit/edit.h"
#include "support.h"
#include "tessera/tiles.h"

static const double pi = 3.14159265358979323846;
static const double thickness[] = { 2.5, 8 };
enum { THICKNESSES = sizeof thickness / sizeof *thickness };

/* By hand: three of the smallest, two of the largest where that is more, never beyond what a list takes. */
static void default_bands(void **state)
{
    (void)state;
    assert_true(tsr_band_default((tsr_vec3){ 1, 1, 1 }, 3) == 3 && tsr_band_default((tsr_vec3){ 2, 0.5, 1 }, 2.5) == 4);
    assert_true(tsr_band_default((tsr_vec3){ 1, 1, 1.25 }, 3) == 3 && tsr_band_default((tsr_vec3){ 1, 1, 8 }, 3) == 16);
    assert_true(tsr_band_default((tsr_vec3){ 1, 900, 1 }, 3) == 1000);
    tsr_context *context = test_context();
    const tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ 1, 1, 8 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    tsr_tiles *tiles = NULL;
    tsr_tiles_info info = TSR_TILES_INFO;
    require_ok(tsr_tiles_create(context, &geometry, NULL, &tiles));
    require_ok(tsr_tiles_describe(tiles, &info));
    assert_true(info.band == 16);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

static tsr_tiles_measures measured(const char *what, const tsr_tiles *tiles, double dz, double r)
{
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    require_ok(tsr_tiles_measure(tiles, &m));
    print_message("slices of %g, %s: radius by volume %.3f, by area %.3f, expected %g\n", dz, what, cbrt(m.volume * 3 / (4 * pi)),
                  sqrt(m.area / (4 * pi)), r);
    return m;
}
/* The radius by volume and the one by area. */
static void check(const char *what, const tsr_tiles *tiles, double dz, double r, double tolerance)
{
    const tsr_tiles_measures m = measured(what, tiles, dz, r);
    assert_true(fabs(cbrt(m.volume * 3 / (4 * pi)) - r) < tolerance);
    assert_true(fabs(sqrt(m.area / (4 * pi)) - r) < tolerance);
}

static void balls_of_thick_slices(void **state)
{
    (void)state;
    for (int i = 0; i < THICKNESSES; i++) {
        const double dz = thickness[i], r = 3 * dz + 4;
        tsr_context *context = test_context();
        tsr_editor_options options = TSR_EDITOR_OPTIONS;
        tsr_editor *e = NULL;
        options.geometry = tsr_geometry_make((tsr_vec3){ 1, 1, dz }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
        require_ok(tsr_editor_create(context, &options, &e));
        require_ok(tsr_editor_shape(e, "a", &(tsr_shape){ .radius = r }));
        require_ok(tsr_editor_shape(e, "b", &(tsr_shape){ .centre = { 2 * r + 2.5, 0, 0 }, .radius = 0.75 * r }));
        check("as made", tsr_editor_tiles(e, "a"), dz, r, 0.02 * dz);
        require_ok(tsr_editor_duplicate(e, "a", "moved"));
        require_ok(tsr_editor_redistance(e, "a"));
        check("distances anew", tsr_editor_tiles(e, "a"), dz, r, 0.02 * dz);
        require_ok(tsr_editor_offset(e, "moved", 2, NULL));
        check("grown by 2", tsr_editor_tiles(e, "moved"), dz, r + 2, 0.02 * dz);
        require_ok(tsr_editor_combine(e, "a", "b", TSR_CSG_UNION, 0));
        require_ok(tsr_editor_keep(e, "a", NULL, NULL));
        check("kept", tsr_editor_tiles(e, "a"), dz, r, 0.02 * dz);
        tsr_editor_destroy(&e);
        tsr_context_destroy(&context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(default_bands), cmocka_unit_test(balls_of_thick_slices) };
    return cmocka_run_group_tests_name("edit_spacing", tests, NULL, NULL);
}
