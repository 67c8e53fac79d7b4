/* Every struct that a call of volumes, lists, meshes, solvers, pictures and files fills, for callers of other versions. */
#include <unistd.h>

#include "growth.h"

enum { SIDE = 20 };

/* What the calls work on. */
typedef struct world {
    tsr_context *context;
    tsr_volume *volume, *mask, *coefficients, *depth;
    tsr_tiles *tiles;
    tsr_mesh *mesh;
    tsr_points *points;
    tsr_pyramid *pyramid;
    tsr_region_pyramid *regions;
    tsr_topology *topology;
    tsr_wavelet_plan *plan;
    tsr_levelset *levelset;
    tsr_segmentation *segmentation;
    tsr_editor *editor;
    tsr_scene *scene;
    tsr_mip *mip;
    tsr_mip_frame *frame;
    tsr_surface_tracker *surface;
    tsr_records_tracker *records;
    char folder[64], file[96], other[96], list[96];
} world;

#define FILLER(name) static tsr_status name(void *object, void *given)
#define W ((world *)object)
FILLER(masks) { return tsr_compare_masks(W->context, W->mask, W->mask, NULL, (tsr_mask_comparison *)given); }
FILLER(volumes) { return tsr_compare_volumes(W->context, W->volume, W->volume, NULL, (tsr_volume_comparison *)given); }
FILLER(compressed) { return tsr_compress_describe(W->file, (tsr_compress_info *)given); }
FILLER(tiles_measured) { return tsr_tiles_measure(W->tiles, (tsr_tiles_measures *)given); }
FILLER(tiles_told) { return tsr_tiles_describe(W->tiles, (tsr_tiles_info *)given); }
FILLER(tiles_file) { return tsr_tiles_file_describe(W->list, NULL, (tsr_tiles_file_info *)given); }
FILLER(device)
{
    (void)object;
    return tsr_device_describe((tsr_device){ TSR_DEVICE_CPU, 0 }, (tsr_device_info *)given);
}
FILLER(history) { return tsr_editor_history(W->editor, (tsr_edit_history *)given); }
FILLER(statistics) { return tsr_volume_statistics(W->context, W->volume, (tsr_statistics *)given); }
FILLER(solved) { return tsr_levelset_step(W->levelset, 0, NULL, (tsr_levelset_report *)given); }
FILLER(segment_options) { return tsr_segmentation_get_options(W->segmentation, (tsr_segment_options *)given); }
FILLER(segmented) { return tsr_segmentation_step(W->segmentation, 0, NULL, (tsr_segment_report *)given); }
FILLER(measured) { return tsr_mesh_measure(W->mesh, (tsr_mesh_measures *)given); }
FILLER(drawn) { return tsr_mip_render(W->mip, &(tsr_mip_view){ .zoom = 1 }, NULL, W->frame, (tsr_mip_statistics *)given); }
FILLER(errors) { return tsr_mip_compare(W->frame, W->frame, (tsr_mip_errors *)given); }
FILLER(pyramid) { return tsr_pyramid_describe(W->pyramid, (tsr_pyramid_info *)given); }
FILLER(regions) { return tsr_region_pyramid_describe(W->regions, (tsr_region_info *)given); }
FILLER(scene) { return tsr_scene_describe(W->scene, (tsr_scene_info *)given); }
FILLER(topology) { return tsr_topology_describe(W->topology, (tsr_topology_info *)given); }
FILLER(plan) { return tsr_wavelet_plan_describe(W->plan, (tsr_wavelet_info *)given); }
FILLER(winding)
{
    tsr_volume *numbers;
    const tsr_status status =
        tsr_winding_volume(W->context, W->mesh, (tsr_size3){ SIDE, SIDE, SIDE }, NULL, NULL, &numbers, (tsr_winding_report *)given);
    tsr_volume_destroy(&numbers);
    return status;
}
FILLER(kept)
{
    tsr_wavelet_keep_options options = TSR_WAVELET_KEEP_OPTIONS;
    options.keep = 100; /* they stay as they are */
    return tsr_wavelet_volume_keep(W->context, W->coefficients, &options, (tsr_wavelet_keep_info *)given);
}
FILLER(transformed)
{
    tsr_write_options write = TSR_WRITE_OPTIONS;
    write.overwrite = 1;
    return tsr_file_dwt(W->context, W->file, NULL, NULL, TSR_F32, W->other, &write, (tsr_wavelet_file_info *)given);
}
FILLER(evolved)
{
    tsr_distance_pde_options options = TSR_DISTANCE_PDE_OPTIONS;
    tsr_volume *distance;
    options.band = 3;
    options.max_steps = 2;
    const tsr_status status = tsr_distance_evolve(W->context, W->volume, &options, &distance, (tsr_distance_pde_report *)given);
    tsr_volume_destroy(&distance);
    return status;
}
FILLER(extracted)
{
    tsr_mesh *mesh;
    const tsr_status status = tsr_surface_extract(W->context, W->volume, NULL, &mesh, (tsr_surface_report *)given);
    tsr_mesh_destroy(&mesh);
    return status;
}
FILLER(updated)
{
    const tsr_mesh *mesh;
    return tsr_surface_update(W->surface, W->tiles, NULL, &mesh, (tsr_surface_update_report *)given);
}
FILLER(recorded)
{
    const tsr_records *records;
    return tsr_records_update(W->records, W->tiles, NULL, &records, (tsr_records_update_report *)given);
}
FILLER(voxelized)
{
    tsr_voxelize_options options = TSR_VOXELIZE_OPTIONS;
    tsr_tiles *tiles;
    options.spacing = (tsr_vec3){ 1, 1, 1 };
    const tsr_status status = tsr_tiles_from_mesh(W->context, W->mesh, &options, &tiles, (tsr_voxelize_report *)given);
    tsr_tiles_destroy(&tiles);
    return status;
}
FILLER(of_depth)
{
    tsr_mesh *mesh;
    const tsr_status status = tsr_depth_mesh(W->depth, NULL, &mesh, (tsr_depth_mesh_info *)given);
    tsr_mesh_destroy(&mesh);
    return status;
}
FILLER(reconstructed)
{
    tsr_reconstruct_options options = TSR_RECONSTRUCT_OPTIONS;
    tsr_tiles *tiles;
    options.depth = options.start_depth = 4;
    const tsr_status status = tsr_reconstruct(W->context, W->points, &options, &tiles, (tsr_reconstruct_report *)given);
    tsr_tiles_destroy(&tiles);
    return status;
}
FILLER(estimated)
{
    tsr_reconstruct_options options = TSR_RECONSTRUCT_OPTIONS;
    options.depth = options.start_depth = 4;
    return tsr_reconstruct_estimate(W->context, W->points, &options, (tsr_reconstruct_plan *)given);
}

static void make_files(world *w)
{
    tsr_compress_options packing = TSR_COMPRESS_OPTIONS;
    snprintf(w->folder, sizeof w->folder, "growth-XXXXXX");
    assert_non_null(mkdtemp(w->folder));
    snprintf(w->file, sizeof w->file, "%s/volume.tsc", w->folder);
    snprintf(w->other, sizeof w->other, "%s/coefficients.nrrd", w->folder);
    snprintf(w->list, sizeof w->list, "%s/list.tsr", w->folder);
    require_ok(tsr_volume_compress(w->volume, w->file, &packing, NULL));
    require_ok(tsr_tiles_write(w->tiles, w->list, NULL));
}

static void make_volumes(world *w)
{
    const tsr_size3 size = { SIDE, SIDE, SIDE };
    require_ok(tsr_volume_create(w->context, TSR_F32, size, NULL, &w->volume));
    require_ok(tsr_volume_create(w->context, TSR_U8, size, NULL, &w->mask));
    float *to = (float *)tsr_volume_data(w->volume);
    uint8_t *inside = (uint8_t *)tsr_volume_data(w->mask);
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        const int x = i % SIDE - 10, y = i / SIDE % SIDE - 10, z = i / SIDE / SIDE - 10;
        to[i] = sqrtf((float)(x * x + y * y + z * z)) - 6.3f;
        inside[i] = to[i] < 0;
    }
    require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ SIDE, SIDE, 1 }, NULL, &w->depth));
    memcpy(tsr_volume_data(w->depth), to, SIDE * SIDE * sizeof *to);
    require_ok(tsr_volume_dwt(w->context, w->volume, NULL, TSR_F32, &w->coefficients));
}

static void make_world(world *w)
{
    const tsr_size3 size = { SIDE, SIDE, SIDE };
    const int64_t lengths[3] = { SIDE, SIDE, SIDE };
    const tsr_shape ball = { .kind = TSR_SHAPE_SPHERE, .radius = 6 };
    tsr_pyramid_options kept = TSR_PYRAMID_OPTIONS;
    tsr_region_options rule = TSR_REGION_OPTIONS;
    tsr_levelset_options moving = TSR_LEVELSET_OPTIONS;
    tsr_points_options cloud = TSR_POINTS_OPTIONS;
    const tsr_mesh *mesh;
    const tsr_records *records;
    w->context = test_context_on("cpu", 1);
    make_volumes(w);
    require_ok(tsr_tiles_shape(w->context, NULL, NULL, &ball, &w->tiles));
    make_files(w);
    require_ok(tsr_surface_extract(w->context, w->volume, NULL, &w->mesh, NULL));
    cloud.count = 500;
    require_ok(tsr_points_make("points-sphere", &cloud, &w->points));
    kept.classifier = TSR_PYRAMID_NONZERO;
    require_ok(tsr_pyramid_create(w->context, size, &kept, &w->pyramid));
    require_ok(tsr_pyramid_build(w->pyramid, w->mask));
    rule.rule = TSR_REGION_SPREAD;
    require_ok(tsr_region_pyramid_create(w->context, size, &rule, &w->regions));
    require_ok(tsr_region_pyramid_build(w->regions, (const tsr_volume *const[]){ w->mask }, 1));
    require_ok(tsr_topology_of_tiles(w->tiles, &w->topology));
    require_ok(tsr_wavelet_plan_create(w->context, TSR_F32, 3, lengths, NULL, &w->plan));
    moving.term_count = 1;
    moving.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_SPEED, .value = 1 };
    require_ok(tsr_levelset_create(w->tiles, &moving, &w->levelset));
    tsr_segment_options grey = TSR_SEGMENT_OPTIONS;
    grey.epsilon = 1;
    require_ok(tsr_segmentation_create(w->context, w->volume, &grey, &w->segmentation));
    require_ok(tsr_segmentation_sphere(w->segmentation, (tsr_vec3){ 10, 10, 10 }, 5, 0));
    require_ok(tsr_editor_create(w->context, NULL, &w->editor));
    require_ok(tsr_scene_create(w->context, &w->scene));
    require_ok(tsr_scene_set_volume(w->scene, w->volume));
    require_ok(tsr_mip_build(w->context, w->mask, NULL, &w->mip));
    require_ok(tsr_mip_frame_create(w->context, 16, 16, &w->frame));
    require_ok(tsr_surface_tracker_create(w->context, NULL, &w->surface));
    require_ok(tsr_surface_update(w->surface, w->tiles, NULL, &mesh, NULL)); /* the second finds nothing new, nor do those after it */
    require_ok(tsr_records_tracker_create(w->context, 0, &w->records));
    require_ok(tsr_records_update(w->records, w->tiles, NULL, &records, NULL));
}

static void destroy_world(world *w)
{
    unlink(w->file);
    unlink(w->other);
    unlink(w->list);
    rmdir(w->folder);
    tsr_records_tracker_destroy(&w->records);
    tsr_surface_tracker_destroy(&w->surface);
    tsr_mip_frame_destroy(&w->frame);
    tsr_mip_destroy(&w->mip);
    tsr_scene_destroy(&w->scene);
    tsr_editor_destroy(&w->editor);
    tsr_segmentation_destroy(&w->segmentation);
    tsr_levelset_destroy(&w->levelset);
    tsr_wavelet_plan_destroy(&w->plan);
    tsr_topology_destroy(&w->topology);
    tsr_region_pyramid_destroy(&w->regions);
    tsr_pyramid_destroy(&w->pyramid);
    tsr_points_destroy(&w->points);
    tsr_mesh_destroy(&w->mesh);
    tsr_tiles_destroy(&w->tiles);
    tsr_volume_destroy(&w->coefficients);
    tsr_volume_destroy(&w->depth);
    tsr_volume_destroy(&w->mask);
    tsr_volume_destroy(&w->volume);
    tsr_context_destroy(&w->context);
}

/* Each struct with the call that fills it; there are times in the TIMED ones. */
#define STRUCTS(SAME, TIMED) \
    SAME(tsr_mask_comparison, masks) \
    SAME(tsr_volume_comparison, volumes) \
    SAME(tsr_compress_info, compressed) \
    SAME(tsr_tiles_measures, tiles_measured) \
    SAME(tsr_tiles_info, tiles_told) \
    SAME(tsr_tiles_file_info, tiles_file) \
    SAME(tsr_topology_info, topology) \
    SAME(tsr_device_info, device) \
    SAME(tsr_edit_history, history) \
    SAME(tsr_statistics, statistics) \
    SAME(tsr_distance_pde_report, evolved) \
    TIMED(tsr_levelset_report, solved) \
    TIMED(tsr_segment_report, segmented) \
    SAME(tsr_segment_options, segment_options) \
    SAME(tsr_mesh_measures, measured) \
    SAME(tsr_mip_statistics, drawn) \
    SAME(tsr_mip_errors, errors) \
    SAME(tsr_pyramid_info, pyramid) \
    SAME(tsr_region_info, regions) \
    SAME(tsr_scene_info, scene) \
    SAME(tsr_wavelet_info, plan) \
    SAME(tsr_wavelet_keep_info, kept) \
    SAME(tsr_wavelet_file_info, transformed) \
    SAME(tsr_winding_report, winding) \
    SAME(tsr_voxelize_report, voxelized) \
    SAME(tsr_surface_report, extracted) \
    SAME(tsr_surface_update_report, updated) \
    SAME(tsr_records_update_report, recorded) \
    SAME(tsr_depth_mesh_info, of_depth) \
    TIMED(tsr_reconstruct_report, reconstructed) \
    TIMED(tsr_reconstruct_plan, estimated)
#define UNPAD_SAME(type, fill) UNPADDER(type)
#define UNPAD_TIMED(type, fill)
STRUCTS(UNPAD_SAME, UNPAD_TIMED)

static void callers_of_other_versions(void **state)
{
    (void)state;
    world w = { .context = NULL };
    make_world(&w);
#define CHECK_SAME(type, fill) check_versions(#type, sizeof(type), fill, &w, unpad_##type);
#define CHECK_TIMED(type, fill) check_versions(#type, sizeof(type), fill, &w, NULL);
    STRUCTS(CHECK_SAME, CHECK_TIMED)
    destroy_world(&w);
}

/* Several reports lie as far apart as the caller of the first one says. */
static void reports_in_a_row(void **state)
{
    (void)state;
    world w = { .context = test_context_on("cpu", 1) };
    make_volumes(&w);
    typedef struct newer {
        tsr_surface_report known;
        int64_t added[3];
    } newer;
    newer reports[3];
    tsr_surface_report one = TSR_SURFACE_REPORT;
    tsr_mesh *meshes[3], *alone;
    memset(reports, MARK, sizeof reports);
    reports[0].known.struct_size = sizeof *reports;
    require_ok(tsr_surface_extract_several(w.context, w.volume, NULL, (const double[]){ -1, 0, 1 }, 3, meshes, &reports[0].known));
    require_ok(tsr_surface_extract(w.context, w.volume, NULL, &alone, &one));
    for (int k = 0; k < 3; k++) {
        assert_int_equal(reports[k].known.struct_size, sizeof *reports);
        assert_int_equal(reports[k].known.cells, one.cells);
        for (int i = 0; i < 3; i++) assert_int_equal(reports[k].added[i], 0);
        tsr_mesh_destroy(&meshes[k]);
    }
    tsr_mesh_destroy(&alone);
    tsr_volume_destroy(&w.coefficients);
    tsr_volume_destroy(&w.depth);
    tsr_volume_destroy(&w.mask);
    tsr_volume_destroy(&w.volume);
    tsr_context_destroy(&w.context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(callers_of_other_versions), cmocka_unit_test(reports_in_a_row) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
