/* Records that follow a list against a full extraction after every change of a document, and pictures of which only what changed is drawn anew against
 * whole ones. */
#include <stdlib.h>

#include "scenes.h"
#include "tessera/edit.h"
#include "tessera/records.h"

typedef struct record {
    int64_t at[3];
    uint8_t code, values[8], unused[7];
} record;
static int by_place(const void *a, const void *b)
{
    const record *p = (const record *)a, *q = (const record *)b;
    for (int k = 2; k >= 0; k--)
        if (p->at[k] != q->at[k]) return p->at[k] < q->at[k] ? -1 : 1;
    return 0;
}
/* All records by their cells, each of which has one. */
static record *sorted(const tsr_records *records)
{
    const size_t n = (size_t)tsr_records_count(records);
    int64_t(*positions)[3] = malloc(n * sizeof *positions + 1);
    uint8_t *cases = malloc(n + 1), (*values)[8] = malloc(n * 8 + 1);
    record *set = calloc(n + 1, sizeof *set);
    require_ok(tsr_records_download(records, positions, cases, values));
    for (size_t i = 0; i < n; i++) {
        memcpy(set[i].at, positions[i], sizeof set[i].at);
        memcpy(set[i].values, values[i], 8);
        set[i].code = cases[i];
    }
    qsort(set, n, sizeof *set, by_place);
    free(positions);
    free(cases);
    free(values);
    return set;
}

static void require_same(tsr_context *context, const tsr_tiles *tiles, const tsr_records *records, const tsr_records_update_report *report)
{
    tsr_records *full;
    require_ok(tsr_records_extract(context, tiles, tsr_records_isovalue(records), &full));
    assert_int_equal(tsr_records_count(full), tsr_records_count(records));
    assert_int_equal(tsr_records_count(full), report->records);
    record *a = sorted(full), *b = sorted(records);
    assert_memory_equal(a, b, (size_t)tsr_records_count(full) * sizeof *a);
    free(a);
    free(b);
    tsr_records_destroy(&full);
}

typedef struct session {
    tsr_context *context;
    tsr_editor *editor;
    tsr_records_tracker *tracker;
    const tsr_records *records;
    tsr_records_update_report report;
    tsr_picture *picture, *other;
    tsr_camera camera;
    tsr_render_options options;
    int cull;
} session;

static const tsr_records *update(session *s)
{
    tsr_surface_region region;
    const tsr_surface_region *changed;
    require_ok(tsr_editor_changes(s->editor, "a", &region, &changed));
    s->report = (tsr_records_update_report)TSR_RECORDS_UPDATE_REPORT;
    require_ok(tsr_records_update(s->tracker, tsr_editor_tiles(s->editor, "a"), changed, &s->records, &s->report));
    require_same(s->context, tsr_editor_tiles(s->editor, "a"), s->records, &s->report);
    return s->records;
}

/* The picture of the session, in parts where it may be, is the picture of the same records drawn whole. Returns the pixels that were drawn. */
static int64_t redraw(session *s)
{
    int64_t pixels;
    require_ok(tsr_records_redraw(s->tracker, &s->camera, &s->options, s->cull, s->picture, &pixels));
    require_ok(tsr_records_draw(s->records, &s->camera, &s->options, s->cull, s->other));
    test_view a = test_fetch(s->picture), b = test_fetch(s->other);
    assert_memory_equal(a.rgba, b.rgba, (size_t)(a.width * a.height) * 16);
    assert_memory_equal(a.depth, b.depth, (size_t)(a.width * a.height) * 4);
    test_view_free(&a);
    test_view_free(&b);
    return pixels;
}

static session begin(int edge, double isovalue, int width, int height)
{
    session s = { .context = test_context(), .options = TSR_RENDER_OPTIONS };
    tsr_editor_options options = TSR_EDITOR_OPTIONS;
    options.edge = edge;
    options.draft = 1;
    require_ok(tsr_editor_create(s.context, &options, &s.editor));
    require_ok(tsr_editor_shape(s.editor, "a", &(tsr_shape){ .radius = 15 }));
    require_ok(tsr_records_tracker_create(s.context, isovalue, &s.tracker));
    require_ok(tsr_picture_create(s.context, width, height, &s.picture));
    require_ok(tsr_picture_create(s.context, width, height, &s.other));
    s.camera = test_camera((tsr_vec3){ 50, 45, 40 }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 0, 1 }, TSR_PERSPECTIVE, 30, 40);
    return s;
}
static void end(session *s)
{
    tsr_picture_destroy(&s->picture);
    tsr_picture_destroy(&s->other);
    tsr_records_tracker_destroy(&s->tracker);
    tsr_records_tracker_destroy(&s->tracker);
    tsr_editor_destroy(&s->editor);
    tsr_context_destroy(&s->context);
}

static tsr_brush somewhere(uint64_t *seed, double radius)
{
    const double a = 6.283 * test_uniform(seed), b = 2 * test_uniform(seed) - 1, r = radius * sqrt(1 - b * b);
    return (tsr_brush){ { r * cos(a), r * sin(a), radius * b }, 1 + test_uniform(seed), 2, 0.5 };
}

static void same_after_strokes(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    for (int turn = 0; turn < 2; turn++) {
        session s = begin(turn ? 4 : 8, turn ? 0.4 : 0, 96, 72);
        int local = 0;
        update(&s);
        assert_int_equal(s.report.changed, s.report.tiles);
        update(&s);
        assert_int_equal(s.report.changed + s.report.renewed, 0);
        for (int i = 0; i < (test_is_slow() ? 3 : 6); i++) {
            tsr_brush b = somewhere(&seed, 15);
            if (i % 3 == 0) b.speed = -2;
            require_ok(i % 3 == 2 ? tsr_editor_smooth_brush(s.editor, "a", &b, NULL) : tsr_editor_brush(s.editor, "a", &b, NULL));
            update(&s);
            assert_true(s.report.changed > 0);
            local += s.report.renewed < s.report.tiles / 2;
            if (i % 3 == 2 && i > 1) {
                require_ok(tsr_editor_undo(s.editor));
                require_ok(tsr_editor_undo(s.editor));
                update(&s);
                require_ok(tsr_editor_redo(s.editor));
                update(&s);
            }
        }
        assert_true(local > (test_is_slow() ? 0 : 2));
        require_ok(tsr_editor_shape(s.editor, "b", &(tsr_shape){ .centre = { 24, 0, 0 }, .radius = 12 }));
        require_ok(tsr_editor_combine(s.editor, "a", "b", TSR_CSG_UNION, 0)); /* paste */
        update(&s);
        require_ok(tsr_editor_delete(s.editor, "a", &(tsr_selection){ sizeof(tsr_selection), .box = { { -30, -30, 2 }, { 30, 30, 30 } } }, NULL));
        update(&s);
        require_ok(tsr_editor_undo(s.editor));
        update(&s);
        tsr_mesh *mesh, *host;
        tsr_mesh_measures m = TSR_MESH_MEASURES;
        require_ok(tsr_records_mesh(s.records, TSR_SURFACE_SEPARATE_INSIDE, &mesh)); /* gaps have no triangles */
        require_ok(tsr_mesh_copy(mesh, NULL, &host));
        require_ok(tsr_mesh_measure(host, &m));
        assert_true(m.volume > 4.0 / 3 * 3.14159 * 14 * 14 * 14);
        tsr_mesh_destroy(&host);
        tsr_mesh_destroy(&mesh);
        end(&s);
    }
}

/* A row of tiles with a wall in them; of one tile nothing but its place in the list changes: it is gone, outside of any region. */
static tsr_tiles *wall(tsr_context *context, int tiles, int without)
{
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles_contents contents = TSR_TILES_CONTENTS;
    int32_t coordinates[8][3] = { { 0 } };
    float values[8][64];
    uint32_t inside[8] = { 0 };
    tsr_tiles *made;
    for (int t = 0; t < tiles; t++) {
        if (t == without) continue;
        coordinates[contents.count][0] = t;
        for (int v = 0; v < 64; v++) values[contents.count][v] = (float)(v / 16) - 1.5f;
        for (int d = 0; d < 27; d++)
            if (d / 9 == 0) inside[contents.count] |= 1u << d;
        contents.count++;
    }
    contents.coordinates = (const int32_t(*)[3])coordinates;
    contents.values = &values[0][0];
    contents.inside = inside;
    contents.keep = 1;
    options.edge = 4;
    options.band = 2;
    require_ok(tsr_tiles_assemble(context, NULL, &options, &contents, &made));
    return made;
}
static void tiles_that_vanish(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_records_tracker *tracker;
    const tsr_records *records;
    tsr_records_update_report report = TSR_RECORDS_UPDATE_REPORT;
    const tsr_surface_region nothing = { { 0, 0, 0 }, { 0, 0, 0 } };
    tsr_tiles *lists[3] = { wall(context, 7, -1), wall(context, 7, 3), wall(context, 7, 6) };
    require_ok(tsr_records_tracker_create(context, 0, &tracker));
    for (int i = 0; i < 6; i++) {
        require_ok(tsr_records_update(tracker, lists[i % 3], i ? &nothing : NULL, &records, &report));
        require_same(context, lists[i % 3], records, &report);
    }
    tsr_records_tracker_destroy(&tracker);
    for (int i = 0; i < 3; i++) tsr_tiles_destroy(&lists[i]);
    tsr_context_destroy(&context);
}

/* Lists that have nothing in common, one that lies beyond the positions of the one before, one that is empty. */
static void any_list_may_follow(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_records_tracker *tracker;
    const tsr_records *records;
    tsr_records_update_report report = TSR_RECORDS_UPDATE_REPORT;
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles *lists[4];
    options.band = 2;
    require_ok(tsr_tiles_create(context, NULL, &options, &lists[2]));
    require_ok(tsr_tiles_shape(context, NULL, &options, &(tsr_shape){ .radius = 14 }, &lists[0]));
    require_ok(tsr_tiles_shape(context, NULL, &options, &(tsr_shape){ .centre = { 70000, -70000, 5 }, .radius = 9 }, &lists[1]));
    options.edge = 4;
    require_ok(tsr_tiles_shape(context, NULL, &options, &(tsr_shape){ .centre = { 5, 2, 1 }, .radius = 6 }, &lists[3]));
    require_ok(tsr_records_tracker_create(context, 0, &tracker));
    for (int i = 0; i < 8; i++) {
        require_ok(tsr_records_update(tracker, lists[i % 4], NULL, &records, &report));
        require_same(context, lists[i % 4], records, &report);
        assert_true(report.bytes < 15 * (4 * report.records + 16 * report.tiles) + 100000);
    }
    tsr_records_tracker_destroy(&tracker);
    for (int i = 0; i < 4; i++) tsr_tiles_destroy(&lists[i]);
    tsr_context_destroy(&context);
}

static void parts_of_pictures(void **state)
{
    (void)state;
    enum { WIDTH = 64, HEIGHT = 48 };
    uint64_t seed = test_seed();
    for (int turn = 0; turn < (test_is_slow() ? 3 : 4); turn++) {
        session s = begin(4, 0, WIDTH, HEIGHT);
        int64_t drawn = 0;
        s.cull = turn & 1;
        s.options.flat = turn == 3;
        s.options.supersampling = turn == 1 ? 2 : 1;
        if (turn == 2) {
            s.options.surface_layers = 3;
            s.options.surface_opacity = 0.5;
            s.options.transparent = 1;
        }
        if (turn & 1) s.camera.projection = TSR_ORTHOGRAPHIC;
        update(&s);
        assert_int_equal(redraw(&s), WIDTH * HEIGHT);
        assert_int_equal(redraw(&s), 0);
        const int strokes = test_is_slow() ? 2 : 3;
        for (int i = 0; i < strokes; i++) {
            const tsr_brush b = somewhere(&seed, 15);
            require_ok(tsr_editor_brush(s.editor, "a", &b, NULL));
            update(&s);
            if (i == 1) { /* two changes and one picture */
                require_ok(tsr_editor_undo(s.editor));
                update(&s);
            }
            drawn += redraw(&s);
        }
        print_message("%.0f %% of the pixels drawn anew\n", 100.0 * (double)drawn / (strokes * WIDTH * HEIGHT));
        assert_true(drawn > 0 && drawn < strokes * WIDTH * HEIGHT * 3 / 4);
        /* a bump beyond the box of before, or a part of it: the rays may be others, the pictures still agree */
        for (int i = 0; i < 2; i++) {
            require_ok(tsr_editor_brush(s.editor, "a", &(tsr_brush){ { 15.0 + 7 * i, 0, 0 }, 3, 8, 1 }, NULL));
            update(&s);
            redraw(&s);
        }
        s.options.specular = 0.5;
        assert_int_equal(redraw(&s), WIDTH * HEIGHT);
        test_look(&s.camera, (tsr_vec3){ 51, 45, 40 }, (tsr_vec3){ 0, 0, 0 });
        assert_int_equal(redraw(&s), WIDTH * HEIGHT);
        tsr_picture *swap = s.picture; /* the one that somebody else drew into */
        s.picture = s.other;
        s.other = swap;
        assert_int_equal(redraw(&s), WIDTH * HEIGHT);
        swap = s.picture;
        s.picture = s.other;
        s.other = swap;
        assert_int_equal(redraw(&s), WIDTH * HEIGHT);
        test_look(&s.camera, (tsr_vec3){ 16, 0, 0 }, (tsr_vec3){ 0, 10, 0 }); /* records behind the eye's plane and close to it */
        if (turn & 1) s.camera.height = 12;
        redraw(&s);
        require_ok(tsr_editor_brush(s.editor, "a", &(tsr_brush){ { 0, 15, 0 }, 2, 3, 1 }, NULL));
        update(&s);
        redraw(&s);
        end(&s);
    }
}

/* Whoever wants a scene or a first picture takes the records as any others. */
static void records_as_any_others(void **state)
{
    (void)state;
    session s = begin(8, 0, 48, 48);
    tsr_scene *scene;
    tsr_records *full;
    double worst = 0;
    update(&s);
    require_ok(tsr_editor_brush(s.editor, "a", &(tsr_brush){ { 9, 9, 9 }, 2, 2, 1 }, NULL));
    update(&s);
    require_ok(tsr_records_extract(s.context, tsr_editor_tiles(s.editor, "a"), 0, &full));
    require_ok(tsr_scene_create(s.context, &scene));
    test_view view[2];
    for (int k = 0; k < 2; k++) {
        require_ok(tsr_scene_set_surface_tiles(scene, tsr_editor_tiles(s.editor, "a")));
        require_ok(tsr_scene_set_surface_records(scene, k ? s.records : full, 1));
        view[k] = test_draw(s.context, scene, &s.camera, &s.options, 48);
    }
    for (int i = 0; i < 4 * 48 * 48; i++) worst = fmax(worst, fabs((double)(view[0].rgba[i] - view[1].rgba[i])));
    print_message("pictures of the two lists of records: %.2g apart\n", worst);
    assert_true(worst < 0.02); /* positions count from elsewhere, and rays through edges may choose the other side */
    for (int k = 0; k < 2; k++) test_view_free(&view[k]);
    tsr_records_destroy(&full);
    tsr_scene_destroy(&scene);
    end(&s);
}

static void wrong_arguments(void **state)
{
    (void)state;
    session s = begin(8, 0, 8, 8);
    tsr_records_tracker *tracker;
    const tsr_records *records;
    require_error(tsr_records_tracker_create(NULL, 0, &tracker), TSR_ERROR_ARGUMENT, "context is NULL");
    require_error(tsr_records_tracker_create(s.context, NAN, &tracker), TSR_ERROR_ARGUMENT, "expected a finite number");
    require_error(tsr_records_update(NULL, tsr_editor_tiles(s.editor, "a"), NULL, &records, NULL), TSR_ERROR_ARGUMENT, "tracker is NULL");
    require_error(tsr_records_redraw(NULL, &s.camera, NULL, 0, s.picture, NULL), TSR_ERROR_ARGUMENT, "tracker is NULL");
    require_error(tsr_records_update(s.tracker, NULL, NULL, &records, NULL), TSR_ERROR_ARGUMENT, "tiles is NULL");
    require_error(tsr_records_redraw(s.tracker, &s.camera, NULL, 0, s.picture, NULL), TSR_ERROR_STATE, "there are none to draw");
    update(&s);
    require_error(tsr_records_redraw(s.tracker, &s.camera, NULL, 0, NULL, NULL), TSR_ERROR_ARGUMENT, "picture is NULL");
    require_ok(tsr_records_tracker_create(s.context, 100, &tracker));
    require_error(tsr_records_update(tracker, tsr_editor_tiles(s.editor, "a"), NULL, &records, NULL), TSR_ERROR_ARGUMENT, "isovalue is 100");
    assert_null(records);
    tsr_records_tracker_destroy(&tracker);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(same_after_strokes),    cmocka_unit_test(tiles_that_vanish),
                                        cmocka_unit_test(any_list_may_follow),   cmocka_unit_test(parts_of_pictures),
                                        cmocka_unit_test(records_as_any_others), cmocka_unit_test(wrong_arguments) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
