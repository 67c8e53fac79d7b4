/* Operators of an editor that take objects apart, morphs between objects, and a mesh that follows the document (docs/theory/editing.md 4, 10). */
#include "edit_fixture.h"

static const double pi = 3.14159265358979323846;
static double radius(const fixture *f, const char *name) { return cbrt(measures(f, name).volume * 3 / (4 * pi)); }

/* ---- components -------------------------------------------------------------------------------------------------------------------------------- */

static void keeping_one_component(void **state)
{
    fixture *f = (fixture *)*state;
    ball(f, "a", 0, 0, 0, 6);
    ball(f, "b", 13.5, 0, 0, 5); /* 2.5 voxels between them */
    require_ok(tsr_editor_combine(f->editor, "a", "b", TSR_CSG_UNION, 0));
    require_ok(tsr_editor_duplicate(f->editor, "a", "both"));
    require_ok(tsr_editor_keep(f->editor, "a", NULL, NULL));
    check_invariants(tsr_editor_tiles(f->editor, "a"));
    assert_int_equal(measures(f, "a").components, 1);
    assert_true(fabs(radius(f, "a") - 6) < 0.05);
    assert_true(fabs(measures(f, "a").area / (4 * pi * 36) - 1) < 0.02);              /* nothing of the other is left, not even near 0 */
    assert_true(fabs(value(f, tsr_editor_tiles(f->editor, "a"), 8, 0, 0) - 2) < 0.3); /* the distance to what is left, not to what is gone */
    require_ok(tsr_editor_keep(f->editor, "both", NULL, &(tsr_vec3){ 13, 0, 0 }));
    assert_true(fabs(radius(f, "both") - 5) < 0.05);
    require_error(tsr_editor_keep(f->editor, "both", NULL, &(tsr_vec3){ 0, 0, 0 }), TSR_ERROR_STATE, "not inside");
}

/* A point so deep within a body that no tile is there chooses it as one at its surface does; one in the gap between two bodies chooses none. */
static void keeping_by_a_deep_point(void **state)
{
    fixture *f = (fixture *)*state;
    ball(f, "a", 0, 0, 0, 18);
    ball(f, "b", 60, 0, 0, 16);
    assert_true(value(f, tsr_editor_tiles(f->editor, "b"), 60, 0, 0) ==
                -value(f, tsr_editor_tiles(f->editor, "b"), 30, 0, 0)); /* the ends of the band */
    require_ok(tsr_editor_combine(f->editor, "a", "b", TSR_CSG_UNION, 0));
    require_ok(tsr_editor_duplicate(f->editor, "a", "both"));
    require_error(tsr_editor_keep(f->editor, "both", NULL, &(tsr_vec3){ 30, 0, 0 }), TSR_ERROR_STATE, "not inside");
    require_error(tsr_editor_keep(f->editor, "both", NULL, &(tsr_vec3){ -40, 0, 0 }), TSR_ERROR_STATE, "not inside");
    require_ok(tsr_editor_keep(f->editor, "both", NULL, &(tsr_vec3){ 60, 0, 0 }));
    assert_true(fabs(radius(f, "both") - 16) < 0.05 && fabs(measures(f, "both").centroid.x - 60) < 0.05);
    require_ok(tsr_editor_keep(f->editor, "a", NULL, &(tsr_vec3){ 0, 0, 0 }));
    assert_true(fabs(radius(f, "a") - 18) < 0.05 && fabs(measures(f, "a").centroid.x) < 0.05);
}

/* What stays keeps its bits where nothing of the rest was near: by keep and by split, by a body as thin as its voxels, too. */
static void what_stays_keeps_its_bits(void **state)
{
    fixture *f = (fixture *)*state;
    int64_t pieces;
    const tsr_shape plate = { .kind = TSR_SHAPE_BOX, .half = { 14, 14, 0.8 } };
    require_ok(tsr_editor_shape(f->editor, "plate", &plate));
    ball(f, "dot", 0, 0, 24, 3);
    tsr_tiles *before = snapshot(f, "plate"), *dot = snapshot(f, "dot");
    require_ok(tsr_editor_combine(f->editor, "plate", "dot", TSR_CSG_UNION, 0));
    require_ok(tsr_editor_duplicate(f->editor, "plate", "both"));
    require_ok(tsr_editor_keep(f->editor, "plate", NULL, NULL));
    check_invariants(tsr_editor_tiles(f->editor, "plate"));
    assert_true(equal(before, tsr_editor_tiles(f->editor, "plate")));
    require_ok(tsr_editor_split(f->editor, "both", &pieces));
    assert_int_equal(pieces, 2);
    assert_true(equal(before, tsr_editor_tiles(f->editor, "both")));
    assert_true(equal(dot, tsr_editor_tiles(f->editor, "both.1")));
    tsr_tiles_destroy(&before);
    tsr_tiles_destroy(&dot);
}

/* Three balls in one object become three; undone in one step; refusals leave all as it is. */
static void splitting(void **state)
{
    fixture *f = (fixture *)*state;
    static const double x[3] = { 0, 15, -14 }, r[3] = { 4, 7, 5 };
    int64_t pieces;
    ball(f, "a", x[0], 0, 0, r[0]);
    for (int i = 1; i < 3; i++) {
        ball(f, "other", x[i], 0, 0, r[i]);
        require_ok(tsr_editor_combine(f->editor, "a", "other", TSR_CSG_UNION, 0));
        require_ok(tsr_editor_remove(f->editor, "other"));
    }
    tsr_tiles *before = snapshot(f, "a");
    require_ok(tsr_editor_split(f->editor, "a", &pieces));
    assert_int_equal(pieces, 3);
    static const char *const names[3] = { "a", "a.1", "a.2" };
    int seen[3] = { 0 };
    for (int k = 0; k < 3; k++) {
        const tsr_tiles_measures m = measures(f, names[k]);
        check_invariants(tsr_editor_tiles(f->editor, names[k]));
        assert_int_equal(m.components, 1);
        for (int i = 0; i < 3; i++)
            if (fabs(m.centroid.x - x[i]) < 0.1) {
                seen[i]++;
                assert_true(fabs(radius(f, names[k]) - r[i]) < 0.06 && (i == 1) == (k == 0)); /* the largest keeps the name */
            }
    }
    assert_true(seen[0] == 1 && seen[1] == 1 && seen[2] == 1);
    require_ok(tsr_editor_undo(f->editor));
    assert_null(tsr_editor_tiles(f->editor, "a.1"));
    assert_true(equal(before, tsr_editor_tiles(f->editor, "a")));
    require_ok(tsr_editor_redo(f->editor));
    assert_non_null(tsr_editor_tiles(f->editor, "a.2"));
    require_ok(tsr_editor_split(f->editor, "a.2", &pieces)); /* nothing to do, and no step of the history */
    assert_int_equal(pieces, 1);
    require_ok(tsr_editor_undo(f->editor));
    assert_true(equal(before, tsr_editor_tiles(f->editor, "a")));
    ball(f, "a.2", 0, 0, 0, 3);
    require_error(tsr_editor_split(f->editor, "a", NULL), TSR_ERROR_STATE, "there is an object 'a.2' already");
    assert_true(equal(before, tsr_editor_tiles(f->editor, "a")) && !tsr_editor_tiles(f->editor, "a.1"));
    require_error(tsr_editor_split(f->editor, "b", NULL), TSR_ERROR_STATE, "no object 'b'");
    tsr_tiles_destroy(&before);
}

/* ---- morphs -------------------------------------------------------------------------------------------------------------------------------------- */

/* Between two balls about one point lie balls; between balls side by side something in one or two pieces; evolution ends at its target. */
static void morphs(void **state)
{
    fixture *f = (fixture *)*state;
    tsr_morph_options options = TSR_MORPH_OPTIONS;
    const double t[3] = { 0, 0.5, 1 }, times[2] = { 1, 14 };
    tsr_tiles *between[3] = { NULL }, *moved[2] = { NULL };
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    ball(f, "a", 0, 0, 0, 6);
    ball(f, "b", 0, 0, 0, 14); /* farther apart than the band */
    require_ok(tsr_tiles_morph(tsr_editor_tiles(f->editor, "a"), tsr_editor_tiles(f->editor, "b"), t, 3, NULL, NULL, between));
    for (int i = 0; i < 3; i++) {
        check_invariants(between[i]);
        require_ok(tsr_tiles_measure(between[i], &m));
        double r = cbrt(m.volume * 3 / (4 * pi));
        print_message("morph %.1f: radius %.3f\n", t[i], r);
        assert_true(fabs(r - (6 + 8 * t[i])) < 0.15);
        assert_int_equal(m.components, 1);
        tsr_tiles_destroy(&between[i]);
    }
    options.method = TSR_MORPH_EVOLVE;
    ball(f, "c", 2, 0, 0, 9);
    require_ok(tsr_tiles_morph(tsr_editor_tiles(f->editor, "a"), tsr_editor_tiles(f->editor, "c"), times, 2, &options, NULL, moved));
    require_ok(tsr_tiles_measure(moved[0], &m));
    assert_true(m.centroid.x > 0.2 && m.centroid.x < 2);
    require_ok(tsr_tiles_measure(moved[1], &m));
    print_message("evolved: centre %.3f, radius %.3f of 9 at 2\n", m.centroid.x, cbrt(m.volume * 3 / (4 * pi)));
    assert_true(fabs(m.centroid.x - 2) < 0.1 && fabs(cbrt(m.volume * 3 / (4 * pi)) - 9) < 0.1);
    tsr_tiles_destroy(&moved[0]);
    tsr_tiles_destroy(&moved[1]);
    const int slow = test_is_slow();
    const double far_radius = slow ? 12 : 26, target = slow ? 9 : 16;
    ball(f, "far", 0, 0, 0, far_radius);
    require_ok(tsr_tiles_morph(tsr_editor_tiles(f->editor, "a"), tsr_editor_tiles(f->editor, "far"), t, 3, NULL, NULL, between));
    for (int i = 0; i < 3; i++) {
        require_ok(tsr_tiles_measure(between[i], &m));
        print_message("morph to a far ball %.1f: radius %.3f\n", t[i], cbrt(m.volume * 3 / (4 * pi)));
        assert_true(fabs(cbrt(m.volume * 3 / (4 * pi)) - (6 + (far_radius - 6) * t[i])) < 0.3);
        tsr_tiles_destroy(&between[i]);
    }
    /* nothing but space lies between a ball and all but a ball */
    require_ok(tsr_tiles_complement(tsr_editor_tiles(f->editor, "b"), &moved[0]));
    require_error(tsr_tiles_morph(tsr_editor_tiles(f->editor, "a"), moved[0], t, 3, NULL, NULL, between), TSR_ERROR_ARGUMENT,
                  "the second shape is inside far");
    tsr_tiles_destroy(&moved[0]);
    /* what evolves is a list of distances again: area and mean curvature of a ball */
    ball(f, "d", 0, 0, 0, slow ? 6 : 8);
    ball(f, "e", 0, 0, 0, target);
    options.draft = 1;
    require_ok(tsr_tiles_morph(tsr_editor_tiles(f->editor, "d"), tsr_editor_tiles(f->editor, "e"), &(double){ 20 }, 1, &options, NULL, moved));
    check_invariants(moved[0]);
    require_ok(tsr_tiles_measure(moved[0], &m));
    const double radius = cbrt(m.volume * 3 / (4 * pi));
    print_message("evolved to %.0f: radius %.3f, area %.4f of that ball's\n", target, radius, m.area / (4 * pi * radius * radius));
    assert_true(fabs(radius - target) < 0.1 && fabs(m.area / (4 * pi * radius * radius) - 1) < 0.02);
    tsr_tiles_destroy(&moved[0]);
    const double wrong[2] = { 0.5, 0.2 };
    require_error(tsr_tiles_morph(tsr_editor_tiles(f->editor, "a"), tsr_editor_tiles(f->editor, "b"), wrong, 2, NULL, NULL, moved),
                  TSR_ERROR_ARGUMENT, "t[1] is 0.2");
    assert_null(moved[0]);
}

/* ---- a mesh that follows the document --------------------------------------------------------------------------------------------------------- */

/* The tracked mesh has as many triangles as a full extraction and encloses the same volume (bit for bit is the matter of test_surface_tracker). */
static void draw(fixture *f, tsr_surface_tracker *tracker, const char *name, tsr_surface_update_report *report, int *local)
{
    tsr_surface_region region;
    const tsr_surface_region *changed;
    const tsr_mesh *mesh;
    tsr_mesh *full, *host;
    tsr_mesh_measures a = TSR_MESH_MEASURES, b = TSR_MESH_MEASURES;
    require_ok(tsr_editor_changes(f->editor, name, &region, &changed));
    *local = changed != NULL;
    require_ok(tsr_surface_update(tracker, tsr_editor_tiles(f->editor, name), changed, &mesh, report));
    require_ok(tsr_mesh_copy(mesh, NULL, &host));
    require_ok(tsr_mesh_measure(host, &a));
    tsr_mesh_destroy(&host);
    require_ok(tsr_surface_extract_tiles(f->context, tsr_editor_tiles(f->editor, name), NULL, &full, NULL));
    require_ok(tsr_mesh_copy(full, NULL, &host));
    require_ok(tsr_mesh_measure(host, &b));
    assert_int_equal(report->triangles, b.triangles);
    assert_int_equal(a.euler, b.euler);
    assert_int_equal(a.boundary_edges + a.nonmanifold_edges + a.misoriented_edges, 0);
    assert_true(fabs(a.area - b.area) <= 1e-9 * b.area);
    tsr_mesh_destroy(&full);
    tsr_mesh_destroy(&host);
}

static void mesh_follows(void **state)
{
    fixture *f = (fixture *)*state;
    tsr_surface_tracker *tracker;
    tsr_surface_update_report report = TSR_SURFACE_UPDATE_REPORT;
    int local;
    const tsr_brush brush = { { f->size, 0, 0 }, f->size / 8, 1, 1 };
    ball(f, "a", 0, 0, 0, f->size);
    ball(f, "b", 0, f->size, 0, f->size / 2);
    require_ok(tsr_surface_tracker_create(f->context, NULL, &tracker));
    draw(f, tracker, "a", &report, &local);
    assert_false(local);
    draw(f, tracker, "a", &report, &local);
    assert_true(local);
    assert_int_equal(report.renewed, 0);
    require_ok(tsr_editor_brush(f->editor, "a", &brush, NULL));
    draw(f, tracker, "a", &report, &local);
    assert_true(local && report.changed > 0 && (f->size < 32 || report.renewed < report.tiles));
    require_ok(tsr_editor_undo(f->editor));
    draw(f, tracker, "a", &report, &local);
    assert_true(local && report.changed > 0);
    require_ok(tsr_editor_redo(f->editor));
    draw(f, tracker, "a", &report, &local);
    assert_true(local && report.changed > 0);
    require_ok(tsr_editor_combine(f->editor, "a", "b", TSR_CSG_UNION, 0));
    draw(f, tracker, "a", &report, &local);
    assert_false(local);
    tsr_surface_tracker_destroy(&tracker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(mesh_follows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keeping_one_component, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keeping_by_a_deep_point, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_stays_keeps_its_bits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(splitting, set_up, tear_down),
        cmocka_unit_test_setup_teardown(morphs, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("edit_pieces", tests, NULL, NULL);
}
