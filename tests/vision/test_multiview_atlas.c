/* Atlases that are made (unwrap), and those that files have for corners of faces; polygons of a moving mesh. Oracles: the texels that triangles cover, counted here. */
#include <math.h>
#include <unistd.h>

#include "support.h"
#include "vision/textures/unwrap.h"

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static const char cameras[] = "textures-atlas-cameras.json";
static void put_cameras(void)
{
    put(cameras, "{\"fl_x\":100,\"fl_y\":100,\"cx\":50,\"cy\":50,\"w\":100,\"h\":100,\"frames\":[{\"file_path\":\"a.png\",\"transform_matrix\":"
                 "[[1,0,0,0],[0,1,0,0],[0,0,1,5],[0,0,0,1]]}]}");
}

typedef struct atlas {
    float *place;
    int64_t places;
    uint32_t *corner;
} atlas;

/* Twice the area of a triangle, in the world and in texels. */
static double world_area(const tsr_unwrap_mesh *m, int64_t t)
{
    double a[3], b[3], sum = 0;
    for (int k = 0; k < 3; k++) {
        const double p = (double)m->position[3 * (int64_t)m->triangle[3 * t] + k];
        a[k] = (double)m->position[3 * (int64_t)m->triangle[3 * t + 1] + k] - p;
        b[k] = (double)m->position[3 * (int64_t)m->triangle[3 * t + 2] + k] - p;
    }
    for (int k = 0; k < 3; k++) {
        const double n = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
        sum += n * n;
    }
    return sqrt(sum);
}
static void corners_of(const tsr_unwrap_mesh *m, const atlas *x, int64_t t, double p[3][2])
{
    for (int k = 0; k < 3; k++) {
        assert_true(x->corner[3 * t + k] < x->places);
        p[k][0] = (double)x->place[2 * x->corner[3 * t + k]] * m->width;
        p[k][1] = (double)x->place[2 * x->corner[3 * t + k] + 1] * m->height;
        for (int a = 0; a < 2; a++) assert_true(p[k][a] >= 0 && p[k][a] <= (a ? m->height : m->width));
    }
}
static double flat_area(const double p[3][2]) { return fabs((p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0])); }

/* Between samples of different triangles there are no three samples that follow one another, a texel and a half: triangles that have no neighbours. */
static void check_gaps(const int64_t *owner, int64_t width, int64_t height)
{
    for (int64_t v = 0; v < height; v++)
        for (int64_t u = 0; u < width; u++) {
            const int64_t own = owner[v * width + u];
            for (int64_t y = v; own && y <= v + 3 && y < height; y++)
                for (int64_t x = u > 3 ? u - 3 : 0; x <= u + 3 && x < width; x++)
                    if (owner[y * width + x] && owner[y * width + x] != own)
                        fail_msg("triangles %lld and %lld are not two texels apart", (long long)own - 1, (long long)owner[y * width + x] - 1);
        }
}

/* Unwraps, and looks: no sample (four a texel) lies in two triangles, no triangle is laid flat at less than the least share of the greatest scale; loose ones lie
 * apart. Returns the share of the samples that lie in one. */
static double check(const tsr_unwrap_mesh *m, double least, int loose, const tsr_progress *progress)
{
    atlas x = { NULL, 0, NULL };
    require_ok(tsr_unwrap("mesh", m, progress, &x.place, &x.places, &x.corner));
    const int64_t width = 2 * (int64_t)m->width, height = 2 * (int64_t)m->height;
    int64_t *owner = (int64_t *)calloc((size_t)(width * height), sizeof *owner), covered = 0;
    double greatest = 0;
    for (int64_t t = 0; t < m->triangles; t++) {
        double p[3][2];
        corners_of(m, &x, t, p);
        if (world_area(m, t) > 0) greatest = fmax(greatest, flat_area((const double(*)[2])p) / world_area(m, t));
    }
    for (int64_t t = 0; t < m->triangles; t++) {
        double p[3][2];
        corners_of(m, &x, t, p);
        const double area = flat_area((const double(*)[2])p), wanted = world_area(m, t);
        if (wanted > 0 && area < least * greatest * wanted)
            fail_msg("triangle %lld is laid flat at %g of the greatest scale", (long long)t, area / greatest / wanted);
        if (!(area > 0)) continue;
        const double turn = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]) < 0 ? -1 : 1;
        for (int64_t v = (int64_t)(2 * fmin(p[0][1], fmin(p[1][1], p[2][1]))); v < height && (double)v <= 2 * fmax(p[0][1], fmax(p[1][1], p[2][1]));
             v++)
            for (int64_t u = (int64_t)(2 * fmin(p[0][0], fmin(p[1][0], p[2][0])));
                 u < width && (double)u <= 2 * fmax(p[0][0], fmax(p[1][0], p[2][0])); u++) {
                const double s[2] = { (double)u / 2 + 0.25, (double)v / 2 + 0.25 };
                int in = 1;
                for (int k = 0; k < 3; k++) {
                    const double *a = p[k], *b = p[(k + 1) % 3];
                    in &= turn * ((b[0] - a[0]) * (s[1] - a[1]) - (b[1] - a[1]) * (s[0] - a[0])) > 1e-3;
                }
                if (!in) continue;
                if (owner[v * width + u]) fail_msg("triangles %lld and %lld lie over one another", (long long)owner[v * width + u] - 1, (long long)t);
                owner[v * width + u] = t + 1;
                covered++;
            }
    }
    if (loose) check_gaps(owner, width, height);
    free(owner);
    free(x.place);
    free(x.corner);
    return (double)covered / (double)(width * height);
}

static void test_shapes(void **state)
{
    (void)state;
    for (int scene = 0; scene < 3; scene++) {
        const tsr_footage_options o = { .struct_size = sizeof o, .scene = (tsr_footage_scene)scene, .steps = 1, .cameras = 1, .detail = 12 };
        tsr_footage *footage;
        require_ok(tsr_footage_create(&o, &footage));
        const tsr_multiview_parts p = tsr_multiview_model_parts(tsr_footage_model(footage));
        const tsr_unwrap_mesh m = { p.vertices, p.triangles, p.position, p.triangle, 256, scene ? 256 : 200 };
        const double share = check(&m, 0.49, 0, NULL);
        if (share < 0.4) fail_msg("scene %d: %g of the atlas has a triangle", scene, share);
        tsr_footage_destroy(&footage);
    }
}

/* A box whose faces have corners of their own, some at -0: six squares at one scale. */
static void test_box(void **state)
{
    (void)state;
    float position[24 * 3];
    uint32_t triangle[36];
    for (uint32_t f = 0; f < 6; f++) {
        const uint32_t a = f / 2;
        for (uint32_t i = 0; i < 4; i++) {
            float *p = position + 3 * (4 * f + i);
            p[a] = f & 1 ? 1 : -0.0f;
            p[(a + 1) % 3] = (i & 1) ^ (i >> 1) ^ (f & 1) ? 1 : 0;
            p[(a + 2) % 3] = i >> 1 ? 1 : (f & 1 ? -0.0f : 0);
        }
        const uint32_t cut[6] = { 0, 1, 2, 0, 2, 3 };
        for (int k = 0; k < 6; k++) triangle[6 * f + (uint32_t)k] = 4 * f + cut[k];
    }
    const tsr_unwrap_mesh m = { 24, 12, position, triangle, 128, 128 };
    const double share = check(&m, 0.9999, 0, NULL);
    assert_true(share > 0.45);
}

/* A winding stair of three turns lies over itself from above: no chart may hold more than a turn. Loose triangles, and one without area. */
static void test_stair_and_soup(void **state)
{
    (void)state;
    enum { STEPS = 144, LOOSE = 300 };
    float position[(2 * STEPS + 3 * LOOSE) * 3];
    uint32_t triangle[3 * (2 * STEPS + LOOSE)];
    uint64_t seed = test_seed();
    for (int i = 0; i < STEPS; i++)
        for (int k = 0; k < 2; k++) {
            const double angle = i * acos(0) / 12, r = k ? 1 : 0.3;
            float *p = position + 3 * (2 * i + k);
            p[0] = (float)(r * cos(angle));
            p[1] = (float)(r * sin(angle));
            p[2] = (float)(0.01 * i);
        }
    for (uint32_t i = 0; i + 1 < STEPS; i++) {
        const uint32_t one[6] = { 2 * i, 2 * i + 1, 2 * i + 2, 2 * i + 1, 2 * i + 3, 2 * i + 2 };
        memcpy(triangle + 6 * i, one, sizeof one);
    }
    const tsr_unwrap_mesh stair = { 2 * STEPS, 2 * (STEPS - 1), position, triangle, 200, 300 };
    assert_true(check(&stair, 0.49, 0, NULL) > 0.3);
    for (int i = 0; i < 9 * LOOSE; i++) position[i] = (float)(test_random(&seed) % 4096) / 256;
    for (uint32_t i = 0; i < 3 * LOOSE; i++) triangle[i] = i;
    for (int k = 0; k < 3; k++) position[9 + k] = position[12 + k]; /* no area */
    const tsr_unwrap_mesh loose = { 3 * LOOSE, LOOSE, position, triangle, 512, 512 };
    assert_true(check(&loose, 0.9, 1, NULL) > 0.2);
    tsr_unwrap_mesh wrong = loose;
    atlas x = { NULL, 0, NULL };
    wrong.width = wrong.height = 8;
    require_error(tsr_unwrap("soup", &wrong, NULL, &x.place, &x.places, &x.corner), TSR_ERROR_FORMAT,
                  "soup: an atlas of 8 x 8 texels has no room for its 299 charts");
    wrong.position = position + 9;
    wrong.triangles = 1;
    const uint32_t same[3] = { 0, 1, 0 };
    wrong.triangle = same;
    require_error(tsr_unwrap("soup", &wrong, NULL, &x.place, &x.places, &x.corner), TSR_ERROR_FORMAT, "none of 1 triangles has an area");
    assert_true(!x.place && !x.corner);
}

/* Reports counted; after `stop` of them it is enough. */
typedef struct told {
    int count, stop;
    double last;
} told;
static int tell(void *user, double fraction, const char *stage)
{
    told *t = (told *)user;
    assert_string_equal(stage, "unwrapping");
    assert_true(fraction >= t->last && fraction <= 1);
    t->last = fraction;
    return ++t->count == t->stop;
}

/* Many loose triangles: more than look for their place in the whole atlas. What it costs is reported by the work done, so that the reports count it. */
static void test_many_loose(void **state)
{
    (void)state;
    enum { LOOSE = 12000, SIDE = 1024 };
    float *position = (float *)malloc(9 * LOOSE * sizeof *position);
    uint32_t *triangle = (uint32_t *)malloc(3 * LOOSE * sizeof *triangle);
    uint64_t seed = test_seed();
    assert_true(position && triangle);
    for (int i = 0; i < 9 * LOOSE; i++) position[i] = (float)(i / 9 % 100) * (i % 3 == 0) + (float)(test_random(&seed) % 4096) / 4096;
    for (uint32_t i = 0; i < 3 * LOOSE; i++) triangle[i] = i;
    tsr_unwrap_mesh m = { 3 * LOOSE, LOOSE, position, triangle, SIDE, SIDE };
    told t = { 0 };
    const tsr_progress progress = { tell, &t };
    assert_true(check(&m, 0.9, 1, &progress) > 0.15);
    /* 2^16 places asked or triangles met a report: 1230 of them, and 2255 if all triangles ask everywhere */
    if (t.count < 20 || t.count > 1700) fail_msg("%d reports", t.count);
    told early = { .stop = t.count / 2 };
    const tsr_progress some = { tell, &early };
    atlas x = { NULL, 0, NULL };
    require_error(tsr_unwrap("soup", &m, &some, &x.place, &x.places, &x.corner), TSR_ERROR_CANCELLED, "cancelled during unwrapping");
    assert_true(!x.place && !x.corner && early.count == early.stop);
    m.width = m.height = 200; /* refused before one has been laid */
    t = (told){ 0 };
    require_error(tsr_unwrap("soup", &m, &progress, &x.place, &x.places, &x.corner), TSR_ERROR_FORMAT,
                  "an atlas of 200 x 200 texels has no room for its 12000 charts: expected a larger one than 327 x 327, or");
    assert_true(t.count < 2);
    free(position);
    free(triangle);
}

/* A strip folded to and fro: its layers look both ways, and none is laid flat over another. */
static void test_folds(void **state)
{
    (void)state;
    enum { FOLDS = 40 };
    float position[2 * (FOLDS + 1) * 3];
    uint32_t triangle[6 * FOLDS];
    for (int i = 0; i <= FOLDS; i++)
        for (int k = 0; k < 2; k++) {
            float *p = position + 3 * (2 * i + k);
            p[0] = (float)(i & 1);
            p[1] = (float)k;
            p[2] = 0.01f * (float)i;
        }
    for (uint32_t i = 0; i < FOLDS; i++) {
        const uint32_t one[6] = { 2 * i, 2 * i + 1, 2 * i + 2, 2 * i + 1, 2 * i + 3, 2 * i + 2 };
        memcpy(triangle + 6 * i, one, sizeof one);
    }
    const tsr_unwrap_mesh m = { 2 * (FOLDS + 1), 2 * FOLDS, position, triangle, 300, 300 };
    assert_true(check(&m, 0.9, 0, NULL) > 0.3);
}

#define PLY(faces)                                                                                                       \
    "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face " faces \
    "\nproperty list uchar int vertex_indices\n"

/* A quad that bends inwards at another corner from step to step has the same triangles in all of them, whatever brings the atlas. */
static void test_bent_quads(void **state)
{
    (void)state;
    tsr_multiview_model *model;
    tsr_multiview_model_options o = TSR_MULTIVIEW_MODEL_OPTIONS;
    static const char *const step[3] = { "0 0 0\n1 0 0\n1 1 0\n0 1 0\n", "0 0 0\n0.2 0.2 0\n1 1 0\n0.1 0.9 0\n", "0 0 0\n1 0 0\n0.3 0.4 0\n0 1 0\n" };
    put_cameras();
    for (int t = 0; t < 3; t++) {
        char text[512], path[64];
        snprintf(text, sizeof text, PLY("1") "end_header\n%s4 0 1 2 3\n", step[t]);
        snprintf(path, sizeof path, "textures-bent-%d.ply", t);
        put(path, text);
    }
    put("textures-bent.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nf 1/1 2/2 3/3 4/4\n");
    o.atlas = "textures-bent.obj";
    require_ok(tsr_multiview_model_read("textures-bent-%d.ply", cameras, &o, &model, NULL));
    assert_int_equal(tsr_multiview_model_parts(model).steps, 3);
    tsr_multiview_model_destroy(&model);
    o.unwrap = 1;
    require_error(tsr_multiview_model_read("textures-bent-%d.ply", cameras, &o, &model, NULL), TSR_ERROR_ARGUMENT,
                  "textures-bent.obj: an atlas is given, and one is to be made");
    o.atlas = NULL;
    require_ok(tsr_multiview_model_read("textures-bent-%d.ply", cameras, &o, &model, NULL));
    const tsr_multiview_parts p = tsr_multiview_model_parts(model);
    static const uint32_t fan[6] = { 0, 1, 2, 0, 2, 3 };
    assert_memory_equal(p.triangle, fan, sizeof fan);
    assert_true(p.steps == 3 && p.position[12 + 3] == 0.2f);
    tsr_multiview_model_destroy(&model);
}

/* MeshLab's texture coordinates of corners, in text and as bytes; what is wrong with them. */
static void test_wedges(void **state)
{
    (void)state;
    tsr_multiview_model *model;
    char said[256];
#define WEDGES PLY("2") "property list uchar float texcoord\nproperty int texnumber\nend_header\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n"
    put_cameras();
    put("textures-wedge.ply", WEDGES "3 0 1 2 6 0 0 0.4 0 0.4 1 0\n3 0 2 3 6 0.6 0 1 1 0.6 1 1\n");
    tsr_remarks_take(said, sizeof said);
    require_ok(tsr_multiview_model_read("textures-wedge.ply", cameras, NULL, &model, NULL));
    tsr_remarks_take(said, sizeof said);
    assert_string_equal(said, "");
    tsr_multiview_parts p = tsr_multiview_model_parts(model);
    static const float u[6] = { 0, 0.4f, 0.4f, 0.6f, 1, 0.6f }, v[6] = { 0, 0, 1, 0, 1, 1 };
    assert_int_equal(p.places, 6);
    for (int i = 0; i < 6; i++) assert_true(p.place[2 * p.corner[i]] == u[i] && p.place[2 * p.corner[i] + 1] == v[i]);
    tsr_multiview_model_destroy(&model);
    /* corners that agree share a place; a quad is a fan */
    put("textures-wedge.ply",
        PLY("1") "property list uchar float texcoord\nend_header\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3 8 0 0 1 0 1 0.5 0 0.5\n");
    require_ok(tsr_multiview_model_read("textures-wedge.ply", cameras, NULL, &model, NULL));
    p = tsr_multiview_model_parts(model);
    assert_true(p.places == 4 && p.triangles == 2);
    static const float quad[6] = { 0, 1, 1, 0, 1, 0 };
    for (int i = 0; i < 6; i++) assert_true(p.place[2 * p.corner[i]] == quad[i]);
    tsr_multiview_model_destroy(&model);
    put("textures-wedge.ply", WEDGES "3 0 1 2 6 0 0 0.4 0 0.4 1 0\n3 0 2 3 4 0.6 0 1 1 1\n");
    require_error(tsr_multiview_model_read("textures-wedge.ply", cameras, NULL, &model, NULL), TSR_ERROR_FORMAT,
                  "face 1 has 3 corners and 4 numbers in its list 'texcoord'");
    /* rounded a little beyond its square */
    put("textures-wedge.ply", WEDGES "3 0 1 2 6 -0.001 0 0.4 0 0.4 1 0\n3 0 2 3 6 0.6 0 0.9 1.0015 0.6 1 1\n");
    require_ok(tsr_multiview_model_read("textures-wedge.ply", cameras, NULL, &model, NULL));
    p = tsr_multiview_model_parts(model);
    assert_true(p.place[2 * p.corner[0]] == 0 && p.place[2 * p.corner[1]] == 0.4f && p.place[2 * p.corner[4] + 1] == 1);
    tsr_multiview_model_destroy(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_shapes),     cmocka_unit_test(test_box),   cmocka_unit_test(test_stair_and_soup),
                                        cmocka_unit_test(test_many_loose), cmocka_unit_test(test_folds), cmocka_unit_test(test_bent_quads),
                                        cmocka_unit_test(test_wedges) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
