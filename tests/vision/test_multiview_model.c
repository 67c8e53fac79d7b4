/* Models of multi-view textures: mistakes, bytes, files, jitter; generated footage. */
#include <math.h>

#include "support.h"

/* ---- mistakes ------------------------------------------------------------------------------------------------------------------------ */

static void test_mistakes_of_models(void **state)
{
    (void)state;
    float position[] = { -1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0 }, uv[] = { 0, 0, 1, 0, 1, 1, 0, 1 };
    uint32_t triangle[] = { 0, 1, 2, 0, 2, 3, 0, 1, 2, 1, 1, 2 }, corner[] = { 0, 1, 2, 0, 2, 3, 0, 1, 2, 1, 1, 1 };
    int32_t picture[] = { 64, 64 };
    tsr_camera camera = { .fov = 40 };
    tsr_multiview_model *model = NULL;
    tsr_context *context = test_context();
    require_ok(tsr_camera_look_at(&camera, (tsr_vec3){ 0, 0, 5 }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 1, 0 }));
    const tsr_multiview_parts good = { .struct_size = sizeof good,
                                       .width = 64,
                                       .height = 64,
                                       .cameras = 1,
                                       .steps = 1,
                                       .vertices = 4,
                                       .places = 4,
                                       .triangles = 4,
                                       .triangle = triangle,
                                       .corner = corner,
                                       .place = uv,
                                       .position = position,
                                       .camera = &camera,
                                       .camera_steps = 1,
                                       .picture = picture };
    tsr_texturer *x;
    require_ok(tsr_multiview_model_create(&good, &model));
    require_ok(tsr_texturer_create(context, model, &x));
    const tsr_texturer_report r = *tsr_texturer_look(x); /* the first chart twice, and one without area */
    assert_int_equal(r.texels, 64 * 64);
    assert_true(r.overlapping > 64 * 64 / 2 - 65 && r.overlapping < 64 * 64 / 2 + 65);
    assert_int_equal(r.degenerate, 1);
    uint64_t visible[64];
    uint8_t *none[3] = { NULL, NULL, NULL };
    tsr_image image = { 64, 64, 3, NULL };
    uint8_t *some[3] = { (uint8_t *)visible, (uint8_t *)visible, (uint8_t *)visible };
    require_error(tsr_texturer_step(x, 0, &image, TSR_TEXTURE_BILINEAR, some, visible), TSR_ERROR_ARGUMENT, "picture of camera 0 is missing");
    require_error(tsr_texturer_step(x, 0, &image, TSR_TEXTURE_BILINEAR, none, visible), TSR_ERROR_ARGUMENT, "planes");
    require_error(tsr_texturer_step(x, 1, NULL, TSR_TEXTURE_BILINEAR, none, visible), TSR_ERROR_ARGUMENT, "step 1");
    require_ok(tsr_image_create(32, 64, 3, &image));
    require_error(tsr_texturer_step(x, 0, &image, TSR_TEXTURE_BILINEAR, some, visible), TSR_ERROR_ARGUMENT, "32 x 64 pixels, expected 64 x 64");
    tsr_image_destroy(&image);
    tsr_texturer_destroy(&x);
    tsr_multiview_model_destroy(&model);

    tsr_multiview_parts p = good;
    p.cameras = 0;
    require_error(tsr_multiview_model_create(&p, &model), TSR_ERROR_ARGUMENT, "0 cameras");
    assert_null(model);
    p = good;
    p.steps = 3;
    p.camera_steps = 2;
    require_error(tsr_multiview_model_create(&p, &model), TSR_ERROR_ARGUMENT, "cameras of 2 steps");
    p = good;
    p.rules.cos_min = 2;
    require_error(tsr_multiview_model_create(&p, &model), TSR_ERROR_ARGUMENT, "cosine");
    p = good;
    p.rules.scale = 9;
    require_error(tsr_multiview_model_create(&p, &model), TSR_ERROR_ARGUMENT, "9 times");
    p = good;
    p.place = NULL;
    require_error(tsr_multiview_model_create(&p, &model), TSR_ERROR_ARGUMENT, "places");
    uv[3] = 1.001f;
    require_error(tsr_multiview_model_create(&good, &model), TSR_ERROR_ARGUMENT, "triangle 0 has u, v = 1, 1.001");
    uv[3] = 0;
    corner[4] = 4;
    require_error(tsr_multiview_model_create(&good, &model), TSR_ERROR_ARGUMENT, "triangle 1 has place 4");
    corner[4] = 2;
    triangle[11] = 9;
    require_error(tsr_multiview_model_create(&good, &model), TSR_ERROR_ARGUMENT, "triangle 3 has vertex 9");
    triangle[11] = 2;
    position[4] = NAN;
    require_error(tsr_multiview_model_create(&good, &model), TSR_ERROR_ARGUMENT, "vertex 1 of step 0");
    position[4] = -1;
    picture[0] = 0;
    require_error(tsr_multiview_model_create(&good, &model), TSR_ERROR_ARGUMENT, "pictures of 0 x 64");
    picture[0] = 64;
    camera.projection = TSR_PROJECTION_MATRIX; /* all zero: singular */
    require_error(tsr_multiview_model_create(&good, &model), TSR_ERROR_ARGUMENT, "camera 0 of step 0");
    tsr_context_destroy(&context);
}

/* ---- bytes --------------------------------------------------------------------------------------------------------------------------- */

static void same_parts(const tsr_multiview_model *one, const tsr_multiview_model *two)
{
    const tsr_multiview_parts a = tsr_multiview_model_parts(one), b = tsr_multiview_model_parts(two);
    assert_int_equal(a.vertices, b.vertices);
    assert_memory_equal(&a.rules, &b.rules, sizeof a.rules);
    assert_memory_equal(a.position, b.position, (size_t)(a.vertices * a.steps) * 12);
    assert_memory_equal(a.place, b.place, (size_t)a.places * 8);
    assert_memory_equal(a.triangle, b.triangle, (size_t)a.triangles * 12);
    assert_memory_equal(a.corner, b.corner, (size_t)a.triangles * 12);
    for (int32_t c = 0; c < a.cameras * a.camera_steps; c++) {
        assert_memory_equal(&a.camera[c].position, &b.camera[c].position, sizeof a.camera[c].position);
        assert_memory_equal(a.camera[c].rotation, b.camera[c].rotation, sizeof a.camera[c].rotation);
        assert_true(a.camera[c].lens.k1 == b.camera[c].lens.k1 && a.camera[c].fov == b.camera[c].fov && a.camera[c].clip[1] == b.camera[c].clip[1]);
    }
}
static void test_bytes_come_back(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    const tsr_footage_options o = { .struct_size = sizeof o, .steps = 5, .cameras = 3, .detail = 8, .k1 = -0.1, .rules = { .bias = -1, .vote = 1 } };
    tsr_footage *footage;
    tsr_multiview_model *moved, *back;
    uint8_t *bytes;
    size_t size;
    require_ok(tsr_footage_create(&o, &footage));
    require_ok(tsr_multiview_model_jitter(tsr_footage_model(footage), 0.01, 0, 3, &moved)); /* no grid any more: bits are kept */
    for (int turn = 0; turn < 2; turn++) {
        const tsr_multiview_model *model = turn ? moved : tsr_footage_model(footage);
        require_ok(tsr_multiview_model_pack(model, &bytes, &size));
        const tsr_multiview_parts p = tsr_multiview_model_parts(model);
        print_message("%zu bytes for %lld vertices in %d steps\n", size, (long long)p.vertices, p.steps);
        require_ok(tsr_multiview_model_unpack(bytes, size, "bytes", 0, &back));
        same_parts(model, back);
        tsr_multiview_model_destroy(&back);
        for (int n = 0; n < (test_is_slow() ? 40 : 300); n++) { /* cut, or a bit turned: an error, or in the header's rules another model */
            const size_t at = n < 120 ? (size_t)n : (size_t)(test_random(&seed) % size);
            assert_true(tsr_multiview_model_unpack(bytes, at, "cut", 0, &back) != TSR_OK);
            assert_null(back);
            bytes[at] ^= (uint8_t)(1u << (test_random(&seed) % 8));
            if (tsr_multiview_model_unpack(bytes, size, "turned", 1 << 26, &back) == TSR_OK && at >= 112)
                same_parts(model, back); /* a bit that says nothing */
            tsr_multiview_model_destroy(&back);
            free(bytes);
            require_ok(tsr_multiview_model_pack(model, &bytes, &size));
        }
        for (int k = 0; k < 8; k++) bytes[56 + k] = k == 3 ? 1 : 0; /* 2^24 triangles that are not there */
        require_error(tsr_multiview_model_unpack(bytes, size, "lying", 0, &back), TSR_ERROR_FORMAT, "which cannot be");
        free(bytes);
    }
    tsr_multiview_model_destroy(&moved);
    tsr_footage_destroy(&footage);
}

/* ---- files --------------------------------------------------------------------------------------------------------------------------- */

static void put(const char *path, const char *text)
{
    const tsr_write_options o = { .struct_size = sizeof o, .overwrite = 1 };
    require_ok(tsr_text_write(text, path, &o));
}
#define SQUARE(z) "v 0 0 " z "\nv 1 0 " z "\nv 1 1 " z "\nv 0 1 " z "\n"
#define ATLAS "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"

static void test_models_from_files(void **state)
{
    (void)state;
    tsr_multiview_model *model;
    tsr_rig *rig;
    char meshes[] = "textures-model-%d.obj", cameras[] = "textures-cameras.json";
    tsr_camera camera = { .fov = 40 };
    require_ok(tsr_camera_look_at(&camera, (tsr_vec3){ 0, 0, 5 }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 1, 0 }));
    const tsr_rig_write_options over = { .struct_size = sizeof over, .overwrite = 1 };
    for (int moving = 0; moving < 3; moving++) { /* cameras that stand; one frame each; one camera lacks a frame */
        require_ok(tsr_rig_create(&rig));
        for (int c = 0; c < 2; c++)
            for (int f = 0; f < (moving ? 2 : 1); f++) {
                char name[8];
                snprintf(name, sizeof name, "c%d", c);
                camera.position.z = 5 + f;
                const tsr_rig_camera one = {
                    .name = name, .image = "%d.png", .width = 64, .height = 48, .camera = camera, .frame = moving ? 1 + f : TSR_RIG_STATIC
                };
                if (!(moving == 2 && c == 1 && f == 1)) require_ok(tsr_rig_add(rig, &one));
            }
        tsr_rig_set_sequence(rig, 1, 2);
        require_ok(tsr_rig_write(rig, cameras, &over));
        tsr_rig_destroy(&rig);
        put("textures-model-1.obj", SQUARE("0") ATLAS "f 1/1 2/2 3/3 4/4\n");
        put("textures-model-2.obj", SQUARE("0.5") ATLAS "f 1/1 2/2 3/3 4/4\n");
        if (moving == 2) {
            require_error(tsr_multiview_model_read(meshes, cameras, NULL, &model, NULL), TSR_ERROR_FORMAT,
                          "camera 'c1' is missing for step 1 (frame 2)");
            continue;
        }
        require_ok(tsr_multiview_model_read(meshes, cameras, NULL, &model, &rig));
        const tsr_multiview_parts p = tsr_multiview_model_parts(model);
        assert_int_equal(p.steps, 2);
        assert_int_equal(p.cameras, 2);
        assert_int_equal(p.camera_steps, moving ? 2 : 1);
        assert_int_equal(p.triangles, 2);
        assert_true(p.position[14] == 0.5f && p.camera[p.camera_steps * 2 - 1].position.z == (moving ? 6 : 5));
        tsr_rig_destroy(&rig);
        tsr_multiview_model_destroy(&model);
    }
    require_ok(tsr_rig_create(&rig));
    const tsr_rig_camera one = { .name = "c", .image = "%d.png", .width = 64, .height = 48, .camera = camera, .frame = TSR_RIG_STATIC };
    require_ok(tsr_rig_add(rig, &one));
    require_ok(tsr_rig_write(rig, cameras, &over));
    tsr_rig_destroy(&rig);
    static const struct {
        const char *text, *message;
        tsr_status status;
    } wrong[] = {
        { SQUARE("1") ATLAS "f 1/1 2/2 4/4 3/3\n", "topology changes", TSR_ERROR_FORMAT },
        { SQUARE("1") ATLAS "f 1/1 2/2 3/3\n", "4 vertices and 1 triangles", TSR_ERROR_FORMAT },
        { SQUARE("1") "vt 0 0\nvt 1 0\nvt 1 0.5\nvt 0 1\nf 1/1 2/2 3/3 4/4\n", "atlas changes", TSR_ERROR_FORMAT },
        { SQUARE("1") ATLAS "f 1 2 3 4\n", "no texture coordinate", TSR_ERROR_FORMAT },
        { SQUARE("1") ATLAS "f 1/1 2/2 3/5 4/4\n", "texture coordinate 5", TSR_ERROR_FORMAT },
        { SQUARE("1") ATLAS "f 1/1 2/2\n", "2 corners", TSR_ERROR_FORMAT },
        { SQUARE("x") ATLAS "f 1/1 2/2 3/3 4/4\n", "line 1", TSR_ERROR_FORMAT },
        { "v 0 0 0\n", "no texture coordinates", TSR_ERROR_FORMAT },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        put("textures-model-2.obj", wrong[i].text);
        require_error(tsr_multiview_model_read(meshes, cameras, NULL, &model, NULL), wrong[i].status, wrong[i].message);
        assert_null(model);
    }
    put("textures-model-1.obj", SQUARE("0") "vt 0 0\nvt 2 0\nvt 1 1\nvt 0 1\nf 1/1 2/2 3/3 4/4\n");
    require_error(tsr_multiview_model_read("textures-model-1.obj", cameras, NULL, &model, NULL), TSR_ERROR_FORMAT, "an atlas does not repeat");
    require_error(tsr_multiview_model_read("textures-none-%d.obj", cameras, NULL, &model, NULL), TSR_ERROR_IO, "no such file");
    /* in another unit square, as glTF writers put it: the same atlas; half out of one: none */
    put("textures-model-1.obj", SQUARE("0") "vt 3 -1\nvt 4 -1\nvt 4 -0.25\nvt 3 -0.25\nf 1/1 2/2 3/3 4/4\n");
    require_ok(tsr_multiview_model_read("textures-model-1.obj", cameras, NULL, &model, NULL));
    static const float there[8] = { 0, 0, 1, 0, 1, 0.75f, 0, 0.75f };
    assert_memory_equal(tsr_multiview_model_parts(model).place, there, sizeof there);
    tsr_multiview_model_destroy(&model);
    put("textures-model-1.obj", SQUARE("0") "vt 0.5 0\nvt 1.5 0\nvt 1 1\nvt 0.5 1\nf 1/1 2/2 3/3 4/4\n");
    require_error(tsr_multiview_model_read("textures-model-1.obj", cameras, NULL, &model, NULL), TSR_ERROR_FORMAT, "has u, v = 1.5, 0");
    /* meshes without places, of another format, with the atlas of an OBJ file */
    put("textures-atlas.obj", SQUARE("0") ATLAS "f 1/1 2/2 3/3 4/4\n");
    for (int f = 0; f < 2; f++) {
        tsr_mesh *mesh;
        const tsr_write_options write = { .struct_size = sizeof write, .overwrite = 1 };
        require_ok(tsr_mesh_read("textures-atlas.obj", NULL, &mesh));
        tsr_mesh_vertices(mesh)[0] = (float)f;
        require_ok(tsr_mesh_write(mesh, f ? "textures-step-1.ply" : "textures-step-0.ply", &write));
        tsr_mesh_destroy(&mesh);
    }
    require_error(tsr_multiview_model_read("textures-step-%d.ply", cameras, NULL, &model, NULL), TSR_ERROR_FORMAT,
                  "no texture coordinates (s and t, u and v, or texture_u and texture_v)");
    for (int f = 0; f < 2; f++) /* PLY files with texture coordinates of their own, as others name them; the second in another unit square */
        put(f ? "textures-own-1.ply" : "textures-own-0.ply",
            f ? "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nproperty float texture_u\nproperty "
                "float texture_v\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 1 1 0\n1 0 0 2 0\n0 1 0 1 0.5\n3 0 1 2\n"
              : "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nproperty float s\nproperty float "
                "t\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0 0 0\n1 0 0 1 0\n0 1 0 0 0.5\n3 0 1 2\n");
    char said[256];
    tsr_remarks_take(said, sizeof said);
    require_ok(tsr_multiview_model_read("textures-own-%d.ply", cameras, NULL, &model, NULL));
    const tsr_multiview_parts own = tsr_multiview_model_parts(model);
    static const float corners[6] = { 0, 0, 1, 0, 0, 0.5f };
    assert_int_equal(own.steps, 2);
    assert_memory_equal(own.place, corners, sizeof corners);
    assert_true(own.position[2] == 0 && own.position[11] == 1);
    tsr_remarks_take(said, sizeof said); /* nothing is left out */
    assert_string_equal(said, "");
    tsr_multiview_model_destroy(&model);
    tsr_multiview_model_options o = TSR_MULTIVIEW_MODEL_OPTIONS;
    o.atlas = "textures-atlas.obj";
    o.width = o.height = 32;
    require_ok(tsr_multiview_model_read("textures-step-%d.ply", cameras, &o, &model, NULL));
    const tsr_multiview_parts p = tsr_multiview_model_parts(model);
    assert_int_equal(p.steps, 2);
    assert_true(p.position[12] == 1 && p.width == 32);
    tsr_multiview_model_destroy(&model);
}

/* Jitter moves steps rigidly, or every vertex, by a normal number of the asked-for spread. */
static void test_jitter(void **state)
{
    (void)state;
    const tsr_footage_options o = { .struct_size = sizeof o, .scene = TSR_FOOTAGE_SPHERE, .steps = 200, .cameras = 1, .detail = 8 };
    tsr_footage *footage;
    require_ok(tsr_footage_create(&o, &footage));
    const tsr_multiview_parts a = tsr_multiview_model_parts(tsr_footage_model(footage));
    for (int rigid = 0; rigid < 2; rigid++) {
        tsr_multiview_model *moved;
        require_ok(tsr_multiview_model_jitter(tsr_footage_model(footage), 0.02, rigid, 5, &moved));
        const tsr_multiview_parts b = tsr_multiview_model_parts(moved);
        double sum = 0;
        for (int64_t i = 0; i < a.vertices * a.steps * 3; i++) {
            const double d = (double)b.position[i] - (double)a.position[i];
            const int64_t first = i / (3 * a.vertices) * 3 * a.vertices + i % 3;
            sum += d * d;
            if (rigid) assert_true(fabs(d - ((double)b.position[first] - (double)a.position[first])) < 1e-6);
        }
        const double spread = sqrt(sum / (double)(a.vertices * a.steps * 3));
        assert_true(spread > 0.018 && spread < 0.022);
        tsr_multiview_model_destroy(&moved);
    }
    tsr_footage_destroy(&footage);
}

/* Rays of the footage meet what was asked for: the sphere's distance is known. */
static void test_footage_rays(void **state)
{
    (void)state;
    const tsr_footage_options o = { .struct_size = sizeof o, .scene = TSR_FOOTAGE_SPHERE, .steps = 1, .cameras = 1, .detail = 8 };
    tsr_footage *footage;
    require_ok(tsr_footage_create(&o, &footage));
    const double origin[3] = { 0.1, -4, 1.1 }, direction[3] = { 0, 1, 0 }, up[3] = { 0, 0, 1 };
    double d;
    assert_int_equal(tsr_footage_ray(footage, 0, origin, direction, &d), 0);
    assert_true(fabs(d - (4 - sqrt(0.25 - 0.01 - 0.04))) < 1e-12);
    assert_int_equal(tsr_footage_ray(footage, 0, origin, up, &d), -1);
    tsr_footage_destroy(&footage);
    tsr_footage_options wrong = o;
    wrong.detail = 10;
    require_error(tsr_footage_create(&wrong, &footage), TSR_ERROR_ARGUMENT, "multiple of 4");
    wrong = o;
    wrong.noise = -1;
    require_error(tsr_footage_create(&wrong, &footage), TSR_ERROR_ARGUMENT, "noise");
    tsr_footage_scene scene;
    require_error(tsr_footage_parse("teapot", &scene), TSR_ERROR_ARGUMENT, "teapot");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mistakes_of_models), cmocka_unit_test(test_bytes_come_back),
        cmocka_unit_test(test_models_from_files),  cmocka_unit_test(test_jitter),
        cmocka_unit_test(test_footage_rays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
