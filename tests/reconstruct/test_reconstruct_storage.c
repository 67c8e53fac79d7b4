/* Reconstruction in 16 bits (docs/theory/reconstruction.md 6, 10): the surface of float32, the same bits in all placements, pages that another evaluation
 * gives again, the error it reports, memory, wrong values. */
#include "cloud.h"

#include "reconstruct/reconstruct.h"
#include "tessera/reconstruct.h"

typedef struct result {
    tsr_tiles *tiles;
    tsr_mesh *mesh; /* host */
    tsr_mesh_measures measures;
    tsr_reconstruct_report report;
} result;

static tsr_points *cloud_on(tsr_context *context, const char *name, int64_t count)
{
    tsr_points_options options = TSR_POINTS_OPTIONS;
    tsr_points *host, *points;
    options.count = count;
    require_ok(tsr_points_make(name, &options, &host));
    require_ok(tsr_points_copy(host, context, &points));
    tsr_points_destroy(&host);
    return points;
}

static result reconstruct(tsr_context *context, const tsr_points *points, const tsr_reconstruct_options *options)
{
    result r = { 0 };
    tsr_mesh *device;
    tsr_tiles_info info = TSR_TILES_INFO;
    r.report = (tsr_reconstruct_report)TSR_RECONSTRUCT_REPORT;
    require_ok(tsr_reconstruct(context, points, options, &r.tiles, &r.report));
    require_ok(tsr_tiles_describe(r.tiles, &info));
    assert_int_equal(info.storage, options->storage);
    require_ok(tsr_tiles_set_storage(r.tiles, TSR_STORAGE_F32));
    require_ok(tsr_surface_extract_tiles(context, r.tiles, NULL, &device, NULL));
    require_ok(tsr_mesh_copy(device, NULL, &r.mesh));
    tsr_mesh_destroy(&device);
    r.measures = (tsr_mesh_measures)TSR_MESH_MEASURES;
    require_ok(tsr_mesh_measure(r.mesh, &r.measures));
    return r;
}
static void done(result *r)
{
    tsr_tiles_destroy(&r->tiles);
    tsr_mesh_destroy(&r->mesh);
}

static int small(const tsr_context *context) { return tsr_context_device(context).kind == TSR_DEVICE_EMU; }

/* Mean position within 0.02 voxel of that of float32, by the default power and by that of [Jalba13]; closed, of the same genus. */
static void same_surface(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double power, alpha;
    } runs[] = { { "points-torus", 0, 0 }, { "points-sphere", 3, 0.1 }, { "points-displaced", 0, 0 } };
    tsr_context *context = test_context();
    for (size_t i = 0; i < sizeof runs / sizeof *runs && !small(context); i++) { /* there the bits say it */
        tsr_reconstruct_options o = TSR_RECONSTRUCT_OPTIONS;
        o.depth = 6;
        o.start_depth = 5;
        o.power = runs[i].power;
        o.alpha = runs[i].alpha;
        tsr_points *points = cloud_on(context, runs[i].name, 20000);
        result wide = reconstruct(context, points, &o);
        o.storage = TSR_STORAGE_I16;
        result narrow = reconstruct(context, points, &o);
        const tsr_reconstruct_level *a = &wide.report.level[wide.report.levels - 1], *b = &narrow.report.level[narrow.report.levels - 1];
        tsr_surface_distances d;
        require_ok(tsr_compare_meshes(wide.mesh, narrow.mesh, NULL, &d));
        print_message("%s, p = %g: 16 bits move the surface by %.4f voxels mean, %.3f most; error %.4f and %.4f voxels; %.0f and %.0f bytes a tile\n",
                      runs[i].name, o.power > 0 ? o.power : 7, d.mean / a->voxel, d.maximum / a->voxel, a->error / a->voxel, b->error / b->voxel,
                      (double)a->device_bytes / (double)a->tiles, (double)b->device_bytes / (double)b->tiles);
        assert_true(d.mean < 0.02 * a->voxel && d.mean > 0);
        assert_int_equal(narrow.measures.boundary_edges + narrow.measures.nonmanifold_edges + narrow.measures.misoriented_edges, 0);
        assert_int_equal(narrow.measures.euler, wide.measures.euler);
        assert_int_equal(narrow.measures.components, 1);
        assert_true(b->converged && b->outside == a->outside && fabs(b->error - a->error) < 0.02 * a->voxel);
        done(&wide);
        done(&narrow);
        tsr_points_destroy(&points);
    }
    tsr_context_destroy(&context);
}

/* The same bits whatever the placement and the threads; what the report says of the error holds for the values as they are stored. */
static void placements(void **state)
{
    (void)state;
    tsr_context *contexts[4] = { test_context(), NULL, test_context_on("cpu", 1), test_context_on("cpu", 3) };
    tsr_reconstruct_options o = TSR_RECONSTRUCT_OPTIONS;
    result r[4];
    contexts[1] = contexts[0];
    o.depth = 5;
    o.start_depth = 4;
    o.storage = TSR_STORAGE_I16;
    for (int i = 0; i < 4; i++) {
        tsr_points *points = cloud_on(contexts[i], "points-sphere", 2000);
        o.placement = i == 1 ? TSR_PLACEMENT_HYBRID : TSR_PLACEMENT_AUTO;
        r[i] = reconstruct(contexts[i], points, &o);
        assert_int_equal(tsr_mesh_vertex_count(r[i].mesh), tsr_mesh_vertex_count(r[0].mesh));
        assert_memory_equal(tsr_mesh_vertices(r[i].mesh), tsr_mesh_vertices(r[0].mesh), (size_t)tsr_mesh_vertex_count(r[0].mesh) * 12);
        assert_int_equal(r[i].report.level[1].steps, r[0].report.level[1].steps);
        assert_true(r[i].report.level[1].error == r[0].report.level[1].error);
        /* again, of the float32 list that it has become */
        tsr_points_frame frame;
        double diagonal, mean;
        int64_t outside;
        int32_t flat;
        tsr_points_tree *tree;
        float *scratch;
        require_ok(tsr_reconstruct_frame(contexts[i], points, "test", 4, 1.75 / 16, &frame, &diagonal, &flat));
        require_ok(tsr_points_tree_create(contexts[i], points->positions, NULL, points->count, &frame, o.depth, 0, &tree));
        require_ok(tsr_device_allocate(contexts[i], 8000, (void **)&scratch));
        require_ok(tsr_reconstruct_error(r[i].tiles, tree, 5, scratch, &mean, &outside));
        tsr_device_release(contexts[i], scratch, 8000);
        assert_true(mean == r[i].report.level[1].error && outside == r[i].report.level[1].outside);
        tsr_points_tree_destroy(&tree);
        tsr_points_destroy(&points);
    }
    for (int i = 0; i < 4; i++) done(&r[i]);
    for (int i = 0; i < 4; i++)
        if (i != 1) tsr_context_destroy(&contexts[i]);
}

/* Pages that were filled when their tiles came, step after step, equal those of one evaluation of all tiles at the end, bit for bit. */
static void pages_again(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    for (int coded = 0; coded < 2; coded++) {
        tsr_reconstruct_options o = TSR_RECONSTRUCT_OPTIONS;
        tsr_tiles *tiles;
        tsr_points_frame frame;
        tsr_points_tree *tree;
        tsr_tile_state now;
        tsr_potential_params k;
        double diagonal;
        int32_t flat;
        o.depth = o.start_depth = 5;
        o.smooth_iters = -1; /* the flow at the end needs no pages for the tiles that it makes */
        o.margin = 0.1;
        o.storage = coded ? TSR_STORAGE_I16 : TSR_STORAGE_F32;
        tsr_points *points = cloud_on(context, "points-torus", 2000);
        require_ok(tsr_reconstruct(context, points, &o, &tiles, NULL));
        require_ok(tsr_reconstruct_frame(context, points, "test", 4, 0.1, &frame, &diagonal, &flat));
        require_ok(tsr_points_tree_create(context, points->positions, NULL, points->count, &frame, 5, 0, &tree));
        require_ok(tsr_potential_prepare(7, 0.5, 0.5, 5, &k));
        tsr_potential_from_afar(0.5, &k); /* as at the first level */
        k.as_distance = 1;
        tsr_potential_code_range(points->count, &k);
        require_ok(tsr_tiles_read_state(tiles, &now));
        const tsr_tile_pool *pool = &tiles->pool;
        const size_t width = coded ? 2 : 4, all = (size_t)pool->capacity * 64 * width;
        uint64_t *keys = (uint64_t *)malloc((size_t)now.count * sizeof *keys);
        uint32_t *ids = (uint32_t *)malloc((size_t)now.count * sizeof *ids);
        char *stored = (char *)malloc(all);
        assert_true(keys && ids && stored);
        require_ok(tsr_tiles_get_keys(tiles, now.list, now.count, keys));
        require_ok(context->backend->download(context->queue, ids, pool->id[now.list], (size_t)now.count * sizeof *ids));
        require_ok(context->backend->download(context->queue, stored, pool->payload, all));
        char *again = (char *)filled_pages(tree, &k, NULL, keys, now.count, 2, coded);
        assert_true(now.count > 100);
        for (int32_t i = 0; i < now.count; i++) assert_memory_equal(again + (size_t)i * 64 * width, stored + (size_t)ids[i] * 64 * width, 64 * width);
        free(again);
        free(stored);
        free(ids);
        free(keys);
        tsr_tiles_destroy(&tiles);
        tsr_points_tree_destroy(&tree);
        tsr_points_destroy(&points);
    }
    tsr_context_destroy(&context);
}

/* Two arrays of phi and one of P: 384 bytes a tile less than in float32, in the estimate as in what is held. */
static void memory(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_points *points = cloud_on(context, "points-sphere", 4000);
    tsr_reconstruct_options o = TSR_RECONSTRUCT_OPTIONS;
    tsr_reconstruct_plan plan[2] = { TSR_RECONSTRUCT_PLAN, TSR_RECONSTRUCT_PLAN };
    int64_t held[2], capacity[2];
    o.depth = o.start_depth = 5;
    o.max_steps = 8;
    for (int coded = 0; coded < 2; coded++) {
        tsr_tiles *tiles;
        tsr_tiles_info info = TSR_TILES_INFO;
        o.storage = coded ? TSR_STORAGE_I16 : TSR_STORAGE_F32;
        require_ok(tsr_reconstruct_estimate(context, points, &o, &plan[coded]));
        require_ok(tsr_reconstruct(context, points, &o, &tiles, NULL));
        require_ok(tsr_tiles_describe(tiles, &info));
        held[coded] = info.device_bytes;
        capacity[coded] = info.capacity;
        if (coded) { /* back to float32 with its payload, accounted for */
            require_ok(tsr_tiles_set_storage(tiles, TSR_STORAGE_F32));
            require_ok(tsr_tiles_describe(tiles, &info));
            assert_int_equal(info.device_bytes - held[1], 384 * capacity[1]);
        }
        tsr_tiles_destroy(&tiles);
    }
    const double tiles = (double)plan[0].level[0].tiles;
    print_message("estimated %.1f and %.1f bytes a tile, held %.1f and %.1f\n", (double)plan[0].level[0].bytes / tiles,
                  (double)plan[1].level[0].bytes / tiles, (double)held[0] / (double)capacity[0], (double)held[1] / (double)capacity[1]);
    assert_int_equal(plan[1].level[0].tiles, plan[0].level[0].tiles);
    assert_true(fabs((double)(plan[0].level[0].bytes - plan[1].level[0].bytes) / tiles - 384) < 0.1);
    assert_true(plan[1].peak_bytes < plan[0].peak_bytes);
    o.storage = (tsr_storage)2;
    require_error(tsr_reconstruct_estimate(context, points, &o, &plan[0]), TSR_ERROR_ARGUMENT, "storage is 2, expected F32 or I16");
    tsr_points_destroy(&points);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(same_surface), cmocka_unit_test(placements), cmocka_unit_test(pages_again),
                                        cmocka_unit_test(memory) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
