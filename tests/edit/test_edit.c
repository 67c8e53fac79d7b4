/* An editor's document: operators on lists, history, locality, refusals (docs/theory/editing.md 11). */
#include <math.h>

#include "tiles/tiles_check.h"
#include "edit/edit.h"
#include "support.h"

#define IN_BOX(...)                                   \
    &(tsr_selection)                                  \
    {                                                 \
        sizeof(tsr_selection), .box = { __VA_ARGS__ } \
    }

typedef struct fixture {
    tsr_context *context;
    tsr_editor *editor;
} fixture;

static int set_up(void **state)
{
    fixture *f = (fixture *)calloc(1, sizeof *f);
    tsr_editor_options options = TSR_EDITOR_OPTIONS;
    options.edge = 4;
    f->context = test_context();
    require_ok(tsr_editor_create(f->context, &options, &f->editor));
    *state = f;
    return 0;
}
static int tear_down(void **state)
{
    fixture *f = (fixture *)*state;
    tsr_editor_destroy(&f->editor);
    assert_int_equal(tsr_context_memory(f->context)->current_bytes, 0);
    tsr_context_destroy(&f->context);
    free(f);
    return 0;
}

static tsr_tiles *snapshot(const tsr_editor *editor, const char *name)
{
    tsr_tiles *copy = NULL;
    assert_non_null(tsr_editor_tiles(editor, name));
    require_ok(tsr_tiles_copy(tsr_editor_tiles(editor, name), editor->context, &copy));
    return copy;
}
static void same(const tsr_tiles *a, const tsr_tiles *b)
{
    int equal;
    require_ok(tsr_tiles_equal(a, b, &equal));
    assert_true(equal);
    tsr_tiles_info x = TSR_TILES_INFO, y = TSR_TILES_INFO;
    require_ok(tsr_tiles_describe(a, &x));
    require_ok(tsr_tiles_describe(b, &y));
    assert_int_equal(x.active_voxels, y.active_voxels);
    assert_int_equal(x.inside_voxels, y.inside_voxels);
}
static int64_t stored(const tsr_tiles *tiles)
{
    tsr_tiles_info info = TSR_TILES_INFO;
    require_ok(tsr_tiles_describe(tiles, &info));
    return info.count;
}
static void ball(tsr_editor *editor, const char *name, double x, double y, double z, double radius)
{
    require_ok(tsr_editor_shape(editor, name, &(tsr_shape){ .kind = TSR_SHAPE_SPHERE, .centre = { x, y, z }, .radius = radius }));
}

/* A patch of any tiles put on a list that holds something else there: the old bits come back, invariants hold. */
static void patches_come_back(void **state)
{
    fixture *f = (fixture *)*state;
    uint64_t random = test_seed();
    ball(f->editor, "a", 0, 0, 0, 14);
    ball(f->editor, "b", 9, 4, -3, 11);
    for (int operation = TSR_CSG_UNION; operation <= TSR_CSG_DIFFERENCE; operation++) {
        tsr_tiles *before = snapshot(f->editor, "a"), *after = NULL, *work = NULL;
        tsr_patch there, back;
        require_ok(tsr_tiles_combine(before, tsr_editor_tiles(f->editor, "b"), (tsr_csg_operation)operation, 0, &after));
        require_ok(tsr_patch_difference(before, after, &back));
        require_ok(tsr_patch_difference(after, before, &there));
        assert_int_equal(there.count, back.count);
        assert_true(back.count > 0 && back.count < stored(before) + stored(after));
        require_ok(tsr_tiles_copy(before, f->context, &work));
        for (int turn = 0; turn < 3; turn++) { /* there and back again, in place */
            require_ok(tsr_patch_apply(&there, work));
            check_invariants(work);
            same(work, after);
            require_ok(tsr_patch_apply(&back, work));
            check_invariants(work);
            same(work, before);
        }
        tsr_patch_drop(&there);
        tsr_patch_drop(&back);
        /* everything goes, everything comes */
        tsr_tiles *none = NULL;
        require_ok(tsr_csg_create_like(before, 0, 0, &none));
        require_ok(tsr_patch_difference(none, before, &there));
        require_ok(tsr_patch_difference(before, none, &back));
        require_ok(tsr_patch_apply(&there, work));
        assert_int_equal(stored(work), 0);
        require_ok(tsr_patch_apply(&back, work));
        same(work, before);
        tsr_patch_drop(&there);
        tsr_patch_drop(&back);
        tsr_tiles_destroy(&none);
        tsr_tiles_destroy(&work);
        tsr_tiles_destroy(&before);
        tsr_tiles_destroy(&after);
        (void)test_random(&random);
    }
}

/* A random session; all of it undone, redone and undone again gives the same bits at every step. */
static void undo_restores_every_step(void **state)
{
    fixture *f = (fixture *)*state;
    tsr_editor *e = f->editor;
    uint64_t random = test_seed();
    enum { STEPS = 14 };
    tsr_tiles *history[STEPS + 1] = { NULL };
    ball(e, "model", 0, 0, 0, 12);
    ball(e, "tool", 0, 0, 0, 5);
    tsr_edit_history h = TSR_EDIT_HISTORY;
    tsr_editor_history(e, &h);
    int64_t base = h.undo_steps;
    history[0] = snapshot(e, "model");
    for (int i = 0; i < STEPS; i++) {
        double x = 24 * test_uniform(&random) - 12, y = 24 * test_uniform(&random) - 12, z = 24 * test_uniform(&random) - 12;
        switch (i % 7) {
        case 0:
        case 4: { /* a stroke: the tool is not part of the document */
            tsr_tiles *made = NULL, *tool = NULL;
            tsr_tiles_options options = TSR_TILES_OPTIONS;
            options.edge = 4;
            options.band = 3;
            require_ok(tsr_tiles_shape(f->context, NULL, &options, &(tsr_shape){ .centre = { x, y, z }, .radius = 4 }, &tool));
            require_ok(tsr_tiles_combine(tsr_editor_tiles(e, "model"), tool, i % 2 ? TSR_CSG_UNION : TSR_CSG_DIFFERENCE, 0, &made));
            tsr_tiles_destroy(&tool);
            int32_t slot;
            require_ok(tsr_edit_find(e, "model", &slot));
            tsr_edit_begin(e);
            require_ok(tsr_edit_replace(e, slot, &made));
            break;
        }
        case 1: require_ok(tsr_editor_combine(e, "model", "tool", TSR_CSG_DIFFERENCE, 0)); break;
        case 2: require_ok(tsr_editor_move(e, "model", (tsr_vec3){ 4, -8, 0 })); break;
        case 3: require_ok(tsr_editor_disconnect(e, "model", IN_BOX({ -30, -30, -2 }, { 30, 30, 30 }), 0)); break;
        case 5: require_ok(tsr_editor_move(e, "model", (tsr_vec3){ 0.3, 0.4, -1.25 })); break;
        case 6: require_ok(tsr_editor_combine(e, "model", "tool", TSR_CSG_BLEND, 3)); break;
        }
        history[i + 1] = snapshot(e, "model");
        check_invariants(tsr_editor_tiles(e, "model"));
    }
    for (int round = 0; round < 2; round++) {
        for (int i = STEPS; i-- > 0;) {
            require_ok(tsr_editor_undo(e));
            check_invariants(tsr_editor_tiles(e, "model"));
            same(tsr_editor_tiles(e, "model"), history[i]);
        }
        tsr_editor_history(e, &h);
        assert_int_equal(h.undo_steps, base);
        assert_int_equal(h.redo_steps, STEPS);
        for (int i = 0; i < STEPS; i++) {
            require_ok(tsr_editor_redo(e));
            check_invariants(tsr_editor_tiles(e, "model"));
            same(tsr_editor_tiles(e, "model"), history[i + 1]);
        }
    }
    require_error(tsr_editor_redo(e), TSR_ERROR_STATE, "nothing to redo");
    for (int i = 0; i <= STEPS; i++) tsr_tiles_destroy(&history[i]);
}

/* A small tool on a large model costs the tiles it touches. */
static void history_is_as_small_as_the_change(void **state)
{
    fixture *f = (fixture *)*state;
    tsr_editor *e = f->editor;
    ball(e, "model", 0, 0, 0, 40);
    ball(e, "tool", 40, 0, 0, 4);
    int64_t all = stored(tsr_editor_tiles(e, "model")), tool = stored(tsr_editor_tiles(e, "tool"));
    tsr_edit_history before = TSR_EDIT_HISTORY, after = TSR_EDIT_HISTORY;
    tsr_editor_history(e, &before);
    require_ok(tsr_editor_combine(e, "model", "tool", TSR_CSG_UNION, 0));
    tsr_editor_history(e, &after);
    assert_true(after.tiles > 0 && after.tiles <= tool);
    assert_true(20 * after.tiles < all);
    assert_true(after.device_bytes - before.device_bytes < 1024 + after.tiles * (4 * 4 * 4 * 4 + 4));
    require_ok(tsr_editor_undo(e));
    tsr_editor_history(e, &before);
    assert_int_equal(before.tiles, after.tiles);
    require_ok(tsr_editor_brush(e, "model", &(tsr_brush){ { 40, 0, 0 }, 2, 1, 1 }, NULL)); /* the tiles within 3 sigma and a ring */
    tsr_editor_history(e, &after);
    assert_true(after.tiles > 0 && after.tiles <= 6 * 6 * 6);
    require_ok(tsr_editor_undo(e));
    tsr_editor_history(e, &before);
    assert_int_equal(before.tiles, after.tiles);
}

static void delete_and_paste_back(void **state)
{
    fixture *f = (fixture *)*state;
    tsr_editor *e = f->editor;
    tsr_editor_shape(e, "model", &(tsr_shape){ .kind = TSR_SHAPE_CAPSULE, .radius = 5, .half = { 0, 0, 16 } }) == TSR_OK ? (void)0 : fail();
    require_ok(tsr_editor_disconnect(e, "model", IN_BOX({ -12, -12, 3 }, { 12, 12, 40 }), 0));
    tsr_tiles *severed = snapshot(e, "model");
    require_ok(tsr_editor_cut(e, "model", IN_BOX({ -12, -12, 3 }, { 12, 12, 40 }), NULL, "head"));
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    require_ok(tsr_tiles_measure(tsr_editor_tiles(e, "model"), &m));
    assert_int_equal(m.components, 1);
    assert_true(m.centroid.z < 0);
    require_ok(tsr_tiles_measure(tsr_editor_tiles(e, "head"), &m));
    assert_int_equal(m.components, 1);
    assert_true(m.centroid.z > 3);
    require_ok(tsr_editor_combine(e, "model", "head", TSR_CSG_UNION, 0)); /* paste */
    check_invariants(tsr_editor_tiles(e, "model"));
    /* the severed surface again: the same voxels inside, and the same field within reach of it */
    tsr_tiles_info a = TSR_TILES_INFO, b = TSR_TILES_INFO;
    require_ok(tsr_tiles_describe(severed, &a));
    require_ok(tsr_tiles_describe(tsr_editor_tiles(e, "model"), &b));
    assert_int_equal(a.inside_voxels, b.inside_voxels);
    same(severed, tsr_editor_tiles(e, "model"));
    tsr_tiles_destroy(&severed);
    /* cutting was one step: both objects come back */
    require_ok(tsr_editor_undo(e));
    require_ok(tsr_editor_undo(e));
    assert_null(tsr_editor_tiles(e, "head"));
    require_error(tsr_editor_cut(e, "model", IN_BOX({ 50, 50, 50 }, { 60, 60, 60 }), NULL, "head"), TSR_ERROR_STATE, "nothing of 'model' lies in");
    assert_null(tsr_editor_tiles(e, "head"));
    require_ok(tsr_editor_delete(e, "model", IN_BOX({ -12, -12, -40 }, { 12, 12, 0 }), NULL));
    require_ok(tsr_tiles_measure(tsr_editor_tiles(e, "model"), &m));
    assert_true(m.centroid.z > 0);
}

static void objects_and_names(void **state)
{
    fixture *f = (fixture *)*state;
    tsr_editor *e = f->editor;
    ball(e, "one", 0, 0, 0, 4);
    require_ok(tsr_editor_duplicate(e, "one", "two"));
    same(tsr_editor_tiles(e, "one"), tsr_editor_tiles(e, "two"));
    assert_string_equal(tsr_editor_object_at(e, 0), "one");
    assert_string_equal(tsr_editor_object_at(e, 1), "two");
    assert_null(tsr_editor_object_at(e, 2));
    require_error(tsr_editor_duplicate(e, "one", "two"), TSR_ERROR_STATE, "'two' already");
    require_error(tsr_editor_duplicate(e, "six", "seven"), TSR_ERROR_STATE, "no object 'six', expected one of one, two");
    require_error(tsr_editor_duplicate(e, "one", "a/b"), TSR_ERROR_ARGUMENT, "'a/b' is no name");
    require_error(tsr_editor_duplicate(e, "one", ""), TSR_ERROR_ARGUMENT, "is no name");
    require_ok(tsr_editor_remove(e, "one"));
    assert_null(tsr_editor_tiles(e, "one"));
    assert_string_equal(tsr_editor_object_at(e, 0), "two");
    require_ok(tsr_editor_undo(e));
    same(tsr_editor_tiles(e, "one"), tsr_editor_tiles(e, "two"));
    require_ok(tsr_editor_undo(e)); /* the copy */
    require_ok(tsr_editor_undo(e)); /* the sphere */
    assert_null(tsr_editor_object_at(e, 0));
    require_error(tsr_editor_undo(e), TSR_ERROR_STATE, "nothing to undo");
    require_ok(tsr_editor_redo(e));
    assert_non_null(tsr_editor_tiles(e, "one"));
}

struct reports {
    int count, stop_at; /* 0: never */
    double last;
};
static int note_report(void *user, double fraction, const char *stage)
{
    struct reports *r = (struct reports *)user;
    assert_true(fraction >= r->last && fraction <= 1 && *stage);
    r->last = fraction;
    return ++r->count == r->stop_at;
}

/* A motion says how far it is, forwards only, and can be stopped at every report: the object is what it was, and no step is in the history. */
static void transform_reports(void **state)
{
    fixture *f = (fixture *)*state;
    tsr_editor *e = f->editor;
    const tsr_motion motions[] = { { .axis = { 0, 0, 1 }, .angle = 0.4 }, { .scale = 3 } };
    for (int i = 0; i < 2; i++) {
        struct reports all = { 0 };
        tsr_edit_history before = TSR_EDIT_HISTORY, after = TSR_EDIT_HISTORY;
        ball(e, "model", 3, 0, 0, 9);
        tsr_tiles *old = snapshot(e, "model");
        tsr_editor_history(e, &before);
        require_ok(tsr_editor_transform(e, "model", &motions[i], &(tsr_progress){ note_report, &all }));
        assert_true(all.count >= (i ? 4 : 1));
        require_ok(tsr_editor_undo(e));
        for (int k = 0; k < 4; k++) { /* the first report, two between and the last */
            struct reports r = { .stop_at = 1 + k * (all.count - 1) / 3 };
            require_error(tsr_editor_transform(e, "model", &motions[i], &(tsr_progress){ note_report, &r }), TSR_ERROR_CANCELLED, "cancelled");
            assert_int_equal(r.count, r.stop_at);
            same(old, tsr_editor_tiles(e, "model"));
            tsr_editor_history(e, &after);
            assert_int_equal(after.undo_steps, before.undo_steps);
        }
        tsr_tiles_destroy(&old);
        require_ok(tsr_editor_remove(e, "model"));
    }
}

static void refusals(void **state)
{
    fixture *f = (fixture *)*state;
    tsr_editor *e = f->editor, *other = NULL;
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles *foreign = NULL;
    ball(e, "model", 0, 0, 0, 8);
    tsr_tiles *before = snapshot(e, "model");
    options.edge = 4;
    options.band = 4;
    require_ok(tsr_tiles_shape(f->context, NULL, &options, &(tsr_shape){ .radius = 5 }, &foreign));
    require_error(tsr_editor_add(e, "foreign", foreign), TSR_ERROR_ARGUMENT, "band: 3 and 4");
    tsr_tiles_destroy(&foreign);
    require_error(tsr_editor_move(e, "model", (tsr_vec3){ 4.0 * (1 << 21), 0, 0 }), TSR_ERROR_ARGUMENT, "along x");
    require_error(tsr_editor_transform(e, "model", &(tsr_motion){ .angle = 1 }, NULL), TSR_ERROR_ARGUMENT, "axis has no length");
    require_error(tsr_editor_delete(e, "model", IN_BOX({ 2, 0, 0 }, { 1, 1, 1 }), NULL), TSR_ERROR_ARGUMENT, "region");
    require_error(tsr_editor_combine(e, "model", "gone", TSR_CSG_UNION, 0), TSR_ERROR_STATE, "no object 'gone'");
    same(before, tsr_editor_tiles(e, "model"));
    tsr_tiles_destroy(&before);
    tsr_editor_options own = TSR_EDITOR_OPTIONS;
    own.band = NAN;
    require_error(tsr_editor_create(f->context, &own, &other), TSR_ERROR_ARGUMENT, "band is");
    own = (tsr_editor_options)TSR_EDITOR_OPTIONS;
    own.edge = 5;
    require_error(tsr_editor_create(f->context, &own, &other), TSR_ERROR_ARGUMENT, "edge is 5");
    assert_null(other);
    /* capacity: refused, the model unchanged */
    own = (tsr_editor_options)TSR_EDITOR_OPTIONS;
    own.edge = 4;
    own.memory_limit = 1500000;
    require_ok(tsr_editor_create(f->context, &own, &other));
    ball(other, "small", 0, 0, 0, 10);
    before = snapshot(other, "small");
    require_error(tsr_editor_shape(other, "large", &(tsr_shape){ .radius = 80 }), TSR_ERROR_CAPACITY, "memory_limit");
    require_error(tsr_editor_transform(other, "small", &(tsr_motion){ .scale = 8 }, NULL), TSR_ERROR_CAPACITY, "memory_limit");
    assert_null(tsr_editor_tiles(other, "large"));
    same(before, tsr_editor_tiles(other, "small"));
    tsr_tiles_destroy(&before);
    tsr_editor_destroy(&other);
    /* a limit of the history: old steps go, the last stays */
    own.memory_limit = 0;
    own.history_limit = 1;
    require_ok(tsr_editor_create(f->context, &own, &other));
    ball(other, "a", 0, 0, 0, 6);
    ball(other, "b", 4, 0, 0, 6);
    require_ok(tsr_editor_combine(other, "a", "b", TSR_CSG_UNION, 0));
    require_ok(tsr_editor_combine(other, "a", "b", TSR_CSG_DIFFERENCE, 0));
    tsr_edit_history h = TSR_EDIT_HISTORY;
    tsr_editor_history(other, &h);
    assert_int_equal(h.undo_steps, 1);
    require_ok(tsr_editor_undo(other));
    require_error(tsr_editor_undo(other), TSR_ERROR_STATE, "nothing to undo");
    tsr_editor_destroy(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(patches_come_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(undo_restores_every_step, set_up, tear_down),
        cmocka_unit_test_setup_teardown(history_is_as_small_as_the_change, set_up, tear_down),
        cmocka_unit_test_setup_teardown(delete_and_paste_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(objects_and_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(transform_reports, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refusals, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
