/* Structs of callers that were compiled with another version, and the log. A caller's struct is older when its struct_size is less than the library's:
 * what lies behind must stay as it was; newer when it is more: what only the caller knows is 0. */
#include <pthread.h>

#include "growth.h"
#include "support.h"

#include "core/parallel.h"
#include "core/status.h"

static void no_padding(void *at) { (void)at; }
UNPADDER(tsr_depth_report)
UNPADDER(tsr_fusion_info)
UNPADDER(tsr_field_info)
UNPADDER(tsr_fluid_sim_info)
UNPADDER(tsr_video_quality)

static tsr_status fill_pair(void *object, void *given) { return tsr_struct_give(given, object, 32, "pair"); }
static tsr_status fill_depth(void *object, void *given)
{
    float depth[4];
    const tsr_camera camera = { .rotation = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, .fov = 60 };
    const tsr_depth_encoding encoding = { .kind = TSR_DEPTH_EYE };
    return tsr_depth_decode(&camera, &encoding, 2, 2, (const float *)object, depth, (tsr_depth_report *)given);
}
static tsr_status fill_fusion(void *object, void *given) { return tsr_fusion_describe((const tsr_fusion *)object, (tsr_fusion_info *)given); }
static tsr_status fill_field(void *object, void *given) { return tsr_field_describe((const tsr_vector_field *)object, (tsr_field_info *)given); }
static tsr_status fill_sim(void *object, void *given) { return tsr_fluid_sim_describe((tsr_fluid_sim *)object, (tsr_fluid_sim_info *)given); }
static tsr_status fill_quality(void *object, void *given)
{
    const tsr_video_frame *frame = (const tsr_video_frame *)object;
    return tsr_video_compare(frame, frame, (tsr_video_quality *)given);
}

static void callers_of_other_versions(void **state)
{
    (void)state;
    const size_t pair[4] = { 0, 11, 12, 13 };
    check_versions("a struct of three numbers", sizeof pair, fill_pair, (void *)(uintptr_t)pair, no_padding);
    float values[4] = { 1, 2, 3, -1 };
    check_versions("tsr_depth_report", sizeof(tsr_depth_report), fill_depth, values, unpad_tsr_depth_report);

    tsr_context *context = test_context();
    tsr_fusion_options fusing = TSR_FUSION_OPTIONS;
    fusing.voxel = 0.1;
    tsr_fusion *fusion;
    require_ok(tsr_fusion_create(context, &fusing, &fusion));
    check_versions("tsr_fusion_info", sizeof(tsr_fusion_info), fill_fusion, fusion, unpad_tsr_fusion_info);
    tsr_fusion_destroy(&fusion);

    tsr_field_options making = TSR_FIELD_OPTIONS;
    making.size = (tsr_size3){ 5, 6, 7 };
    tsr_volume *components[3];
    tsr_vector_field *field;
    const tsr_field_shape *shape = tsr_field_shape_at(0);
    assert_non_null(shape);
    require_ok(tsr_field_make(shape->name, &making, components));
    require_ok(tsr_field_create(context, (const tsr_volume *const *)components, &field));
    check_versions("tsr_field_info", sizeof(tsr_field_info), fill_field, field, unpad_tsr_field_info);
    tsr_field_destroy(&field);
    for (int k = 0; k < 3; k++) tsr_volume_destroy(&components[k]);

    tsr_fluid_sim_options simulating = TSR_FLUID_SIM_OPTIONS;
    simulating.spacing = 0.1;
    simulating.upper = (tsr_vec3){ 1, 1, 1 };
    tsr_fluid_sim *sim;
    require_ok(tsr_fluid_sim_create(context, &simulating, &sim));
    check_versions("tsr_fluid_sim_info", sizeof(tsr_fluid_sim_info), fill_sim, sim, unpad_tsr_fluid_sim_info);
    tsr_fluid_sim_destroy(&sim);
    tsr_context_destroy(&context);

    const tsr_video_format format = { .width = 16, .height = 16, .chroma = TSR_CHROMA_420, .bits = 8 };
    tsr_video_frame frame = { 0 };
    require_ok(tsr_video_frame_create(&format, &frame));
    check_versions("tsr_video_quality", sizeof(tsr_video_quality), fill_quality, &frame, unpad_tsr_video_quality);
    tsr_video_frame_destroy(&frame);
}

/* Options the other way: what an old caller lacks is 0; what only a newer one knows must be 0. */
static void options_of_other_versions(void **state)
{
    (void)state;
    const size_t sizes[] = { sizeof(size_t), 16, 32, 48 };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t given[6] = { sizes[k], 11, 12, 13, 0, 0 }, own[4];
        require_ok(tsr_options_take(own, sizeof own, given));
        assert_int_equal(own[0], sizeof own);
        for (size_t i = 1; i < 4; i++) assert_int_equal(own[i], i * sizeof(size_t) < sizes[k] ? 10 + i : 0);
        given[5] = 1;
        if (sizes[k] == sizeof given) require_error(tsr_options_take(own, sizeof own, given), TSR_ERROR_UNSUPPORTED, "older than the caller");
    }
}

typedef struct said {
    int remarks, errors;
    tsr_status status;
    char text[200];
} said;
static void hear(void *user, tsr_status status, const char *text)
{
    said *s = (said *)user;
    if (status == TSR_OK) s->remarks++;
    else s->errors++;
    s->status = status;
    snprintf(s->text, sizeof s->text, "%s", text);
}

static void the_log(void **state)
{
    (void)state;
    said heard = { 0 };
    tsr_volume *volume;
    tsr_log_set(hear, &heard);
    require_error(tsr_volume_create(NULL, TSR_U8, (tsr_size3){ 0, 2, 2 }, NULL, &volume), TSR_ERROR_ARGUMENT, "extent x is 0");
    assert_int_equal(heard.errors, 1);
    assert_int_equal(heard.status, TSR_ERROR_ARGUMENT);
    assert_string_equal(heard.text, tsr_error_message());
    tsr_remark("%d bytes were left out", 3);
    tsr_remark("%d bytes were left out", 3); /* once */
    assert_int_equal(heard.remarks, 1);
    assert_int_equal(heard.status, TSR_OK);
    assert_string_equal(heard.text, "3 bytes were left out");
    tsr_log_set(NULL, NULL);
    require_error(tsr_volume_create(NULL, TSR_U8, (tsr_size3){ 0, 2, 2 }, NULL, &volume), TSR_ERROR_ARGUMENT, "extent x is 0");
    assert_int_equal(heard.errors, 1);
    char text[100];
    tsr_remarks_take(text, sizeof text);
    assert_string_equal(text, "3 bytes were left out");
}

/* ---- threads of calls without a context: the caller's, of that thread ----------------------------------------------------------------------------------- */

static void *threads_elsewhere(void *user)
{
    *(int *)user = tsr_parallel_default_threads();
    return NULL;
}
static void threads_without_a_context(void **state)
{
    (void)state;
    const int at_first = tsr_parallel_default_threads();
    int elsewhere = 0;
    pthread_t other;
    tsr_threads_set(at_first + 3);
    assert_int_equal(tsr_parallel_default_threads(), at_first + 3);
    assert_int_equal(pthread_create(&other, NULL, threads_elsewhere, &elsewhere), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(elsewhere, at_first);
    tsr_context *context = test_context_on("cpu", 2); /* has its own */
    assert_int_equal(tsr_context_threads(context), 2);
    tsr_context_destroy(&context);
    tsr_threads_set(0);
    assert_int_equal(tsr_parallel_default_threads(), at_first);
    tsr_threads_set(-5);
    assert_int_equal(tsr_parallel_default_threads(), at_first);
}

/* ---- one object of no context, two threads that take it as const ---------------------------------------------------------------------------------------- */

typedef struct reader {
    const tsr_volume *volume;
    const tsr_mesh *mesh;
    const tsr_region_tree *tree;
    double sum;      /* of what was read: the same from both */
    char error[200]; /* cmocka is not for several threads */
} reader;

static tsr_status read_all(reader *r, tsr_context *context)
{
    tsr_statistics statistics = TSR_STATISTICS;
    tsr_mesh *surface;
    tsr_mesh_measures measures = TSR_MESH_MEASURES;
    tsr_volume *smooth, *copy;
    tsr_region_tree *tree;
    TSR_TRY(tsr_volume_statistics(context, r->volume, &statistics));
    TSR_TRY(tsr_surface_extract(context, r->volume, NULL, &surface, NULL));
    r->sum += statistics.mean + (double)tsr_mesh_triangle_count(surface);
    tsr_mesh_destroy(&surface);
    tsr_smooth_options smoothing = TSR_SMOOTH_OPTIONS;
    smoothing.sigma = 1;
    TSR_TRY(tsr_volume_smooth(context, r->volume, &smoothing, &smooth));
    tsr_volume_destroy(&smooth);
    TSR_TRY(tsr_volume_copy(r->volume, NULL, &copy));
    tsr_volume_destroy(&copy);
    TSR_TRY(tsr_mesh_measure(r->mesh, &measures));
    TSR_TRY(tsr_region_tree_copy(r->tree, context, &tree));
    tsr_region_tree_destroy(&tree);
    const int64_t leaves = tsr_region_tree_describe(r->tree)->leaves;
    for (int64_t i = 0; i < leaves; i++) r->sum += (double)tsr_region_leaf_of(tsr_region_tree_leaves(r->tree)[i], 3).side;
    r->sum += measures.area;
    return TSR_OK;
}
static void *read_in_thread(void *user)
{
    reader *r = (reader *)user;
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    options.device = "cpu";
    options.threads = 1;
    tsr_context *context;
    tsr_status status = tsr_context_create(&options, &context);
    for (int k = 0; k < 3 && status == TSR_OK; k++) status = read_all(r, context);
    if (status != TSR_OK) snprintf(r->error, sizeof r->error, "%s", tsr_error_message());
    tsr_context_destroy(&context);
    return NULL;
}

static void two_threads_read_one_object(void **state)
{
    (void)state;
    enum { SIDE = 24 };
    tsr_context *context = test_context_on("cpu", 1);
    tsr_volume *volume;
    tsr_mesh *made, *mesh;
    tsr_region_tree *grown, *tree;
    require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ SIDE, SIDE, SIDE }, NULL, &volume));
    float *to = (float *)tsr_volume_data(volume);
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        const int x = i % SIDE - 12, y = i / SIDE % SIDE - 12, z = i / SIDE / SIDE - 12;
        to[i] = (float)(x * x + y * y + z * z - 64) / 16.0f;
    }
    require_ok(tsr_surface_extract(context, volume, NULL, &made, NULL));
    require_ok(tsr_mesh_copy(made, NULL, &mesh));
    const tsr_volume *channels[1] = { volume };
    tsr_region_options regions = TSR_REGION_OPTIONS;
    regions.rule = TSR_REGION_EDGES;
    regions.threshold = 0.5;
    require_ok(tsr_region_tree_make(context, channels, 1, &regions, &grown));
    require_ok(tsr_region_tree_copy(grown, NULL, &tree));
    tsr_region_tree_destroy(&grown);
    tsr_mesh_destroy(&made);
    reader readers[2] = { { volume, mesh, tree, 0, "" }, { volume, mesh, tree, 0, "" } };
    pthread_t threads[2];
    for (int k = 0; k < 2; k++) assert_int_equal(pthread_create(&threads[k], NULL, read_in_thread, &readers[k]), 0);
    for (int k = 0; k < 2; k++) assert_int_equal(pthread_join(threads[k], NULL), 0);
    for (int k = 0; k < 2; k++)
        if (*readers[k].error) fail_msg("thread %d: %s", k, readers[k].error);
    assert_true(readers[0].sum > 100 && readers[0].sum == readers[1].sum);
    tsr_region_tree_destroy(&tree);
    tsr_mesh_destroy(&mesh);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(callers_of_other_versions), cmocka_unit_test(options_of_other_versions),
                                        cmocka_unit_test(the_log), cmocka_unit_test(threads_without_a_context),
                                        cmocka_unit_test(two_threads_read_one_object) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
