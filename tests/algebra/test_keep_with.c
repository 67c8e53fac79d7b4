/* Pieces that hang on a body are kept, cavities are filled (tsr_csg_keep_with): against the shapes themselves. */
#include "csg_fixture.h"
#include "algebra/csg.h"

static tsr_tiles *combined(tsr_tiles *a, tsr_csg_operation operation, tsr_tiles *b)
{
    tsr_tiles *result;
    require_ok(tsr_tiles_combine(a, b, operation, 0, &result));
    tsr_tiles_destroy(&a);
    tsr_tiles_destroy(&b);
    return result;
}

static void require_pieces(const tsr_tiles *tiles, int64_t pieces, int64_t cavities, double volume)
{
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    check_invariants(tiles);
    require_ok(tsr_tiles_measure(tiles, &m));
    print_message("%lld pieces, %lld cavities, volume %.2f (%.2f)\n", (long long)m.components, (long long)m.cavities, m.volume, volume);
    assert_int_equal(m.components, pieces);
    assert_int_equal(m.cavities, cavities);
    assert_true(fabs(m.volume / volume - 1) < 0.01);
}

static double ball_volume(double radius) { return 4.18879020478639 * radius * radius * radius; }

/* Of a ball, one that overlaps the body, and one apart the last goes; a body that meets none leaves nothing. */
static void pieces(void **state)
{
    tsr_context *c = ((fixture *)*state)->context;
    tsr_tiles *tiles = combined(combined(ball(c, 0, 0, 0, 8), TSR_CSG_UNION, ball(c, 30, 0, 0, 6)), TSR_CSG_UNION, ball(c, 0, 40, 0, 5));
    tsr_tiles *body = combined(ball(c, 0, 0, 0, 3), TSR_CSG_UNION, ball(c, 30, 3, 0, 4)), *nowhere = ball(c, 60, 60, 60, 4);
    require_pieces(tiles, 3, 0, ball_volume(8) + ball_volume(6) + ball_volume(5));
    require_ok(tsr_csg_keep_with(&tiles, body));
    require_pieces(tiles, 2, 0, ball_volume(8) + ball_volume(6));
    tsr_tiles *same = tiles;
    tsr_tiles *one = ball(c, 0, 0, 0, 8), *before = one;
    require_ok(tsr_csg_keep_with(&one, body));
    assert_ptr_equal(one, before); /* nothing to do */
    require_ok(tsr_csg_keep_with(&tiles, nowhere));
    assert_true(tiles != same);
    tsr_tiles_info info = TSR_TILES_INFO;
    require_ok(tsr_tiles_describe(tiles, &info));
    assert_int_equal(info.count, 0);
    tsr_tiles_destroy(&tiles);
    tsr_tiles_destroy(&body);
    tsr_tiles_destroy(&nowhere);
    tsr_tiles_destroy(&one);
}

/* Two cavities that touch in a voxel on the surface, whose zero is inside neither way: one cavity to the outside, two to its complement. */
static void cavities(void **state)
{
    tsr_context *c = ((fixture *)*state)->context;
    tsr_tiles *tiles = combined(combined(ball(c, 0, 0, 0, 12), TSR_CSG_DIFFERENCE, ball(c, -3, 0, 0, 3)), TSR_CSG_DIFFERENCE, ball(c, 3, 0, 0, 3));
    tsr_tiles *body = ball(c, 0, 0, 9, 2);
    require_pieces(tiles, 1, 1, ball_volume(12) - 2 * ball_volume(3));
    require_ok(tsr_csg_keep_with(&tiles, body));
    require_pieces(tiles, 1, 0, ball_volume(12));
    tsr_tiles_destroy(&tiles);
    tsr_tiles_destroy(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test_setup_teardown(pieces, set_up, tear_down),
                                        cmocka_unit_test_setup_teardown(cavities, set_up, tear_down) };
    return cmocka_run_group_tests_name("what hangs on a body", tests, NULL, NULL);
}
