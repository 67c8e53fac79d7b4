/* glTF scenes that move, against poses worked out by hand: a skin of two joints, a morph target, a mirrored node on a spline. */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/meshes/gltf_motion.h"
#include "support.h"

static char folder[] = "/tmp/motion-XXXXXX";
static const char *in_folder(const char *name)
{
    static char path[2][128];
    static int turn;
    turn ^= 1;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}
static void put(const char *name, const void *bytes, size_t size)
{
    FILE *f = fopen(in_folder(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

/* Numbers of the buffer, each accessor a row: where it begins is counted by make(). */
static const float rest0[] = { 0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 2, 0 }, uv0[] = { 0, 1, 0.5f, 1, 0, 0, 0.5f, 0 };
static const float weight0[] = { 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0.5f, 0.5f, 0, 0 };
static const uint8_t joint0[] = { 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0 };
static const uint16_t index0[] = { 0, 1, 2, 1, 3, 2 };
static const float bind[] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -1, 0, 1 };
static const float rest1[] = { 0, 0, 0, 1, 0, 0, 0, 1, 0 }, uv1[] = { 0.6f, 1, 1, 1, 0.6f, 0.5f }, target1[] = { 0, 0, 1, 0, 0, 1, 0, 0, 1 };
static const float times[] = { 0, 1 }, turns[] = { 0, 0, 0, 1, 0, 0, 0.70710678f, 0.70710678f }, weights[] = { 0, 1 };
static const float spline[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0 };

static void make(const char *name, const char *scene_end)
{
    static const struct {
        const void *data;
        size_t bytes;
        int type, count;
        const char *shape, *more;
    } row[] = { { rest0, sizeof rest0, 5126, 4, "VEC3", "" },     { uv0, sizeof uv0, 5126, 4, "VEC2", "" },
                { joint0, sizeof joint0, 5121, 4, "VEC4", "" },   { weight0, sizeof weight0, 5126, 4, "VEC4", "" },
                { index0, sizeof index0, 5123, 6, "SCALAR", "" }, { bind, sizeof bind, 5126, 2, "MAT4", "" },
                { rest1, sizeof rest1, 5126, 3, "VEC3", "" },     { uv1, sizeof uv1, 5126, 3, "VEC2", "" },
                { target1, sizeof target1, 5126, 3, "VEC3", "" }, { times, sizeof times, 5126, 2, "SCALAR", "" },
                { turns, sizeof turns, 5126, 2, "VEC4", "" },     { weights, sizeof weights, 5126, 2, "SCALAR", "" },
                { spline, sizeof spline, 5126, 6, "VEC3", "" } };
    char json[8192], views[2048] = "", accessors[2048] = "";
    uint8_t bytes[1024];
    size_t at = 0;
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        memcpy(bytes + at, row[k].data, row[k].bytes);
        snprintf(views + strlen(views), sizeof views - strlen(views), "%s{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu}", k ? "," : "", at,
                 row[k].bytes);
        snprintf(accessors + strlen(accessors), sizeof accessors - strlen(accessors),
                 "%s{\"bufferView\":%zu,\"componentType\":%d,\"count\":%d,\"type\":\"%s\"}", k ? "," : "", k, row[k].type, row[k].count,
                 row[k].shape);
        at = (at + row[k].bytes + 3) / 4 * 4;
    }
    put("motion.bin", bytes, at);
    const int size =
        snprintf(json, sizeof json,
                 "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"uri\":\"motion.bin\",\"byteLength\":%zu}],\"bufferViews\":[%s],\"accessors\":[%s],"
                 "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"TEXCOORD_0\":1,\"JOINTS_0\":2,\"WEIGHTS_0\":3},\"indices\":4}]},"
                 "{\"primitives\":[{\"attributes\":{\"POSITION\":6,\"TEXCOORD_0\":7},\"targets\":[{\"POSITION\":8}]}]}],"
                 "\"skins\":[{\"joints\":[1,2],\"inverseBindMatrices\":5}],"
                 "\"nodes\":[{\"mesh\":0,\"skin\":0,\"translation\":[9,9,9]},{\"children\":[2]},{\"translation\":[0,1,0]},{\"name\":\"hat\",\"mesh\":"
                 "1,\"scale\":[-1,1,1]}],"
                 "\"animations\":[{\"name\":\"none\",\"channels\":[],\"samplers\":[]},{\"name\":\"wave\",\"channels\":["
                 "{\"sampler\":0,\"target\":{\"node\":2,\"path\":\"rotation\"}},{\"sampler\":1,\"target\":{\"node\":3,\"path\":\"weights\"}},"
                 "{\"sampler\":2,\"target\":{\"node\":3,\"path\":\"translation\"}}],\"samplers\":[{\"input\":9,\"output\":10},"
                 "{\"input\":9,\"output\":11,\"interpolation\":\"STEP\"},{\"input\":9,\"output\":12,\"interpolation\":\"CUBICSPLINE\"}]}]%s}",
                 at, views, accessors, scene_end);
    assert_true(size > 0 && (size_t)size < sizeof json);
    put(name, json, (size_t)size);
}

/* The seven vertices at a time from 0 to 1. */
static void expected_pose(double t, double to[7][3])
{
    const double a = t * acos(0), c = cos(a), s = sin(a), x = 3 * (3 * t * t - 2 * t * t * t), z = t >= 1 ? 1 : 0;
    const double all[7][3] = { { 0, 0, 0 }, { 1, 0, 0 },     { -s, 1 + c, 0 }, { 0.5 * (c - s) + 0.5, 0.5 * (1 + s + c) + 1, 0 },
                               { x, 0, z }, { x - 1, 0, z }, { x, 1, z } };
    memcpy(to, all, sizeof all);
}

static void test_pose(void **state)
{
    (void)state;
    tsr_input *input = NULL;
    tsr_gltf_motion *m = NULL;
    int64_t vertices, triangles;
    double seconds, want[7][3];
    float place[14], position[21];
    uint32_t triangle[9];
    make("motion.gltf", "");
    require_ok(tsr_input_open(in_folder("motion.gltf"), NULL, &input));
    require_ok(tsr_gltf_motion_open(input, "wave", &m));
    tsr_gltf_motion_counts(m, &vertices, &triangles, &seconds);
    assert_int_equal(vertices, 7);
    assert_int_equal(triangles, 3);
    assert_true(seconds == 1);
    require_ok(tsr_gltf_motion_mesh(m, place, triangle));
    const uint32_t faces[9] = { 0, 1, 2, 1, 3, 2, 4, 6, 5 }; /* the last is mirrored */
    assert_memory_equal(triangle, faces, sizeof faces);
    assert_true(place[1] == 0 && place[2] == 0.5f && place[5] == 1 && place[13] == 0.5f);
    for (int k = -1; k < 10; k++) {
        const double t = k / 8.0;
        expected_pose(t < 0 ? 0 : t > 1 ? 1 : t, want);
        require_ok(tsr_gltf_motion_pose(m, t, position));
        for (int i = 0; i < 21; i++)
            if (fabs((double)position[i] - want[i / 3][i % 3]) > 2e-7 * 3)
                fail_msg("at %g s vertex %d has coordinate %d %g, expected %g", t, i / 3, i % 3, (double)position[i], want[i / 3][i % 3]);
    }
    tsr_gltf_motion_close(&m);
    require_error(tsr_gltf_motion_open(input, "swim", &m), TSR_ERROR_ARGUMENT, "no glTF animation 'swim' among its 2: 'none', 'wave'");
    tsr_input_close(&input);
}

static void test_model(void **state)
{
    (void)state;
    static const char cameras[] =
        "{\"fl_x\":100,\"fl_y\":100,\"cx\":50,\"cy\":50,\"w\":100,\"h\":100,\"frames\":[{\"file_path\":\"a.png\",\"transform_matrix\":"
        "[[1,0,0,0],[0,1,0,0],[0,0,1,5],[0,0,0,1]]}]}";
    tsr_multiview_model_options o = TSR_MULTIVIEW_MODEL_OPTIONS;
    tsr_multiview_model *model = NULL;
    double want[7][3];
    make("motion.gltf", "");
    put("cameras.json", cameras, sizeof cameras - 1);
    o.animation = "wave";
    o.rate = 4;
    require_ok(tsr_multiview_model_read(in_folder("motion.gltf"), in_folder("cameras.json"), &o, &model, NULL));
    const tsr_multiview_parts p = tsr_multiview_model_parts(model);
    assert_int_equal(p.steps, 5);
    assert_int_equal(p.triangles, 3);
    for (int t = 0; t < 5; t++) {
        expected_pose(t / 4.0, want);
        for (int i = 0; i < 21; i++) assert_true(fabs((double)p.position[21 * t + i] - want[i / 3][i % 3]) < 1e-6);
    }
    tsr_multiview_model_destroy(&model);
    o.first = 3;
    require_ok(tsr_multiview_model_read(in_folder("motion.gltf"), in_folder("cameras.json"), &o, &model, NULL));
    const tsr_multiview_parts later = tsr_multiview_model_parts(model);
    assert_int_equal(later.steps, 2);
    expected_pose(0.75, want);
    for (int i = 0; i < 21; i++) assert_true(fabs((double)later.position[i] - want[i / 3][i % 3]) < 1e-6);
    tsr_multiview_model_destroy(&model);
    o.first = 9;
    require_error(tsr_multiview_model_read(in_folder("motion.gltf"), in_folder("cameras.json"), &o, &model, NULL), TSR_ERROR_FORMAT,
                  "from step 9 on");
    o.first = 0;
    o.animation = "none"; /* stands still */
    require_ok(tsr_multiview_model_read(in_folder("motion.gltf"), in_folder("cameras.json"), &o, &model, NULL));
    assert_int_equal(tsr_multiview_model_parts(model).steps, 1);
    tsr_multiview_model_destroy(&model);
}

/* The scene with one text put for another, its triangles and places. */
static tsr_status open_changed(const char *from, const char *to, float *place, uint32_t *triangle, int64_t *triangles)
{
    char json[8192], changed[8192];
    tsr_input *input = NULL;
    tsr_gltf_motion *m = NULL;
    int64_t vertices;
    double seconds;
    make("motion.gltf", "");
    FILE *f = fopen(in_folder("motion.gltf"), "rb");
    json[fread(json, 1, sizeof json - 1, f)] = 0;
    fclose(f);
    const char *at = strstr(json, from);
    assert_non_null(at);
    const int size = snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - json), json, to, at + strlen(from));
    put("changed.gltf", changed, (size_t)size);
    require_ok(tsr_input_open(in_folder("changed.gltf"), NULL, &input));
    tsr_status status = tsr_gltf_motion_open(input, "wave", &m);
    if (status == TSR_OK) {
        tsr_gltf_motion_counts(m, &vertices, triangles, &seconds);
        assert_true(vertices <= 7 && *triangles <= 5);
        status = tsr_gltf_motion_mesh(m, place, triangle);
    }
    tsr_gltf_motion_close(&m);
    tsr_input_close(&input);
    return status;
}

/* Strips and fans, the set and the transform of the texture of the colour, meshes without coordinates, lines. */
static void test_pieces(void **state)
{
    (void)state;
    float place[14];
    uint32_t triangle[15];
    int64_t triangles;
    char said[256];
    tsr_remarks_take(said, sizeof said);
    require_ok(open_changed("\"indices\":4", "\"mode\":5", place, triangle, &triangles));
    static const uint32_t strip[9] = { 0, 1, 2, 1, 3, 2, 4, 6, 5 }, fan[9] = { 0, 1, 2, 0, 2, 3, 4, 6, 5 };
    assert_int_equal(triangles, 3);
    assert_memory_equal(triangle, strip, sizeof strip);
    require_ok(open_changed("\"indices\":4", "\"mode\":6", place, triangle, &triangles));
    assert_memory_equal(triangle, fan, sizeof fan);
    require_ok(open_changed("\"indices\":4", "\"mode\":3", place, triangle, &triangles));
    assert_int_equal(triangles, 1);
    tsr_remarks_take(said, sizeof said);
    assert_non_null(strstr(said, "points and lines of the glTF scene are left out"));
    require_error(open_changed("\"TEXCOORD_0\":7", "\"other\":7", place, triangle, &triangles), TSR_ERROR_FORMAT,
                  "the glTF mesh 'hat' of node 3 has no texture coordinates");
    require_ok(open_changed("\"TEXCOORD_0\":7", "\"other\":7", NULL, triangle, &triangles));
    /* packed, with nothing in its place, though the file does not say that it must be understood; copies */
#define PACKED(position) "\"POSITION\":" position ",\"TEXCOORD_0\":7},\"extensions\":{\"KHR_draco_mesh_compression\":{}}"
    require_error(open_changed("\"POSITION\":6,\"TEXCOORD_0\":7}", PACKED("99"), place, triangle, &triangles), TSR_ERROR_UNSUPPORTED,
                  "packed by Draco");
    require_ok(open_changed("\"POSITION\":6,\"TEXCOORD_0\":7}", PACKED("6"), place, triangle, &triangles)); /* something stands there */
    require_ok(open_changed("\"mesh\":1,", "\"mesh\":1,\"extensions\":{\"EXT_mesh_gpu_instancing\":{}},", place, triangle, &triangles));
    tsr_remarks_take(said, sizeof said);
    assert_non_null(strstr(said, "copies of node 3"));
    /* coordinates of set 1 rather than 0, turned by a quarter, halved and moved; one that repeats is left as it is */
#define MATERIAL(scale)                                                                                                                             \
    "\"targets\":[{\"POSITION\":8}],\"material\":0}]}],\"materials\":[{\"pbrMetallicRoughness\":{\"baseColorTexture\":{\"texCoord\":0,\"index\":0," \
    "\"extensions\":{\"KHR_texture_"                                                                                                                \
    "transform\":"                                                                                                                                  \
    "{\"texCoord\":1,\"offset\":[0.75,0.25],\"scale\":[" scale "],\"rotation\":1.5707963267948966}}}}}],\"was\":[{\"was\":[{\"was\":0"
    for (int repeats = 0; repeats < 2; repeats++) {
        require_ok(open_changed("\"POSITION\":6,\"TEXCOORD_0\":7},\"targets\":[{\"POSITION\":8}]",
                                repeats ? "\"POSITION\":6,\"TEXCOORD_1\":7,\"TEXCOORD_0\":6}," MATERIAL("4,4")
                                        : "\"POSITION\":6,\"TEXCOORD_1\":7,\"TEXCOORD_0\":6}," MATERIAL("0.5,0.25"),
                                place, triangle, &triangles));
        for (int i = 0; i < 3; i++) {
            const double u = (double)uv1[2 * i], v = (double)uv1[2 * i + 1];
            const double want[2] = { repeats ? u : 0.75 - 0.25 * v, 1 - (repeats ? v : 0.25 + 0.5 * u) };
            for (int k = 0; k < 2; k++) assert_true(fabs((double)place[2 * (4 + i) + k] - want[k]) < 1e-6);
        }
    }
}

/* Every byte of the JSON another one: a message, or a scene that can be posed. */
static void test_damage(void **state)
{
    (void)state;
    char json[8192];
    uint64_t seed = test_seed();
    make("motion.gltf", "");
    FILE *f = fopen(in_folder("motion.gltf"), "rb");
    const size_t size = fread(json, 1, sizeof json, f);
    fclose(f);
    int opened = 0;
    for (size_t k = 0; k < size; k += test_is_slow() ? 7 : 1) {
        static const char other[] = "0123456789-[]{},\":x";
        const char was = json[k];
        tsr_input *input = NULL;
        tsr_gltf_motion *m = NULL;
        char remarks[512];
        json[k] = other[test_random(&seed) % (sizeof other - 1)];
        put("damaged.gltf", json, size);
        require_ok(tsr_input_open(in_folder("damaged.gltf"), NULL, &input));
        if (tsr_gltf_motion_open(input, NULL, &m) == TSR_OK) {
            int64_t vertices, triangles;
            double seconds;
            tsr_gltf_motion_counts(m, &vertices, &triangles, &seconds);
            float *position = malloc((size_t)vertices * 12 + 4), *place = malloc((size_t)vertices * 8 + 4);
            uint32_t *triangle = malloc((size_t)triangles * 12 + 4);
            if (tsr_gltf_motion_mesh(m, place, triangle) == TSR_OK) {
                opened++;
                if (tsr_gltf_motion_pose(m, 0.5, position) != TSR_OK) assert_true(*tsr_error_message() != 0);
            }
            free(position);
            free(place);
            free(triangle);
        } else assert_true(*tsr_error_message() != 0);
        tsr_gltf_motion_close(&m);
        tsr_input_close(&input);
        tsr_remarks_take(remarks, sizeof remarks);
        json[k] = was;
    }
    assert_true(opened > 0);
}

int main(void)
{
    assert_non_null(mkdtemp(folder));
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_pose), cmocka_unit_test(test_model), cmocka_unit_test(test_pieces),
                                        cmocka_unit_test(test_damage) };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    static const char *const names[] = { "motion.gltf", "motion.bin", "cameras.json", "damaged.gltf", "changed.gltf" };
    for (int k = 0; k < 5; k++) unlink(in_folder(names[k]));
    rmdir(folder);
    return failed;
}
