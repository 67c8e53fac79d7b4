/* The mesh after every operator of an editor (docs/theory/editing.md 11): closed, every edge of two triangles, and as many pieces as the script says. */
#include "edit_fixture.h"
#include "tessera/surface.h"

static void check_mesh(const fixture *f, const char *name, const char *line)
{
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    tsr_mesh *made, *mesh;
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    const tsr_tiles *tiles = tsr_editor_tiles(f->editor, name);
    check_invariants(tiles);
    require_ok(tsr_surface_extract_tiles(f->context, tiles, &options, &made, NULL));
    require_ok(tsr_mesh_copy(made, NULL, &mesh));
    require_ok(tsr_mesh_measure(mesh, &m));
    if (m.boundary_edges || m.nonmanifold_edges || m.euler % 2 != 0 || !(m.volume > 0))
        fail_msg("after '%s': mesh of '%s' with %lld boundary and %lld non-manifold edges, Euler %lld, volume %g", line, name,
                 (long long)m.boundary_edges, (long long)m.nonmanifold_edges, (long long)m.euler, m.volume);
    tsr_mesh_destroy(&made);
    tsr_mesh_destroy(&mesh);
}

static void every_operator(void **state)
{
    fixture *f = (fixture *)*state;
    static const char *const lines[] = { "sphere a 0.2 0.1 0 9",
                                         "box b 7 0 0 5 4 4",
                                         "torus c 0 0 2 9 3",
                                         "cylinder d -8 0 0 3 7 1 0 0",
                                         "capsule e 0 8 0 3 5 0 1 0",
                                         "ellipsoid g 0 0 -9 6 5 3",
                                         "copy a h",
                                         "union a b",
                                         "blend a d 2",
                                         "union a e",
                                         "difference c h",
                                         "intersection h b",
                                         "union a g",
                                         "move a 8 0 0",
                                         "move a -8.3 0.4 0.2",
                                         "turn a 0 0 0 1 2 3 25",
                                         "rotate a 0 0 0 0 0 1 20",
                                         "scale a 0 0 0 1.2",
                                         "dilate a 1.5",
                                         "erode a 1",
                                         "open a 1.2",
                                         "close a 1.2",
                                         "brush a 10 0 0 3 1 2",
                                         "brush a -10 0 0 3 -1 2",
                                         "smooth a 1",
                                         "smooth a 1 0 9 0 3",
                                         "relax a 1",
                                         "attract a 2 6 14 0 0",
                                         "repel a 1 6 0 14 0",
                                         "redistance a",
                                         "disconnect a 2 -40 -40 40 40 40",
                                         "copy a part ball 0 0 8 6",
                                         "cut a piece box -3 -3 -20 3 3 20",
                                         "union a piece",
                                         "delete a ball 0 9 0 4",
                                         "keep a half 0 0 0 1 0 0",
                                         "undo",
                                         "redo",
                                         "split a",
                                         "expect a 1" };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        require_ok(tsr_editor_script(f->editor, lines[i], lines[i], NULL));
        for (int32_t k = 0; tsr_editor_object_at(f->editor, k); k++) check_mesh(f, tsr_editor_object_at(f->editor, k), lines[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test_setup_teardown(every_operator, set_up, tear_down) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
