/* Surface records against voxels looked at one by one, against the meshes of the same tile lists, and against rays through the field. */
#include <stdlib.h>

#include "scenes.h"
#include "tessera/records.h"
#include "tessera/surface.h"

enum { BOX = 48 }; /* voxels along an axis of the fields below */

typedef struct ball {
    double x, y, z, r;
} ball;
static double ball_at(const ball *b, double x, double y, double z)
{
    return sqrt((x - b->x) * (x - b->x) + (y - b->y) * (y - b->y) + (z - b->z) * (z - b->z)) - b->r;
}

/* Exactly the tiles with a voxel in the band, without management; absent neighbours have the sign of the field there. */
static tsr_tiles *narrow_list(tsr_context *context, const ball *b, int edge, double band, int bounded, int64_t shift, uint8_t *stored)
{
    const int n = BOX / edge;
    int32_t(*coordinates)[3] = malloc((size_t)(n * n * n) * sizeof *coordinates);
    float *values = malloc((size_t)BOX * BOX * BOX * sizeof *values);
    uint32_t *inside = calloc((size_t)(n * n * n), sizeof *inside);
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles_contents contents = TSR_TILES_CONTENTS;
    tsr_tiles *tiles;
    memset(stored, 0, (size_t)(n * n * n));
    for (int t = 0; t < n * n * n; t++)
        for (int v = 0; v < edge * edge * edge; v++) {
            const int x = t % n * edge + v % edge, y = t / n % n * edge + v / edge % edge, z = t / (n * n) * edge + v / (edge * edge);
            stored[t] |= fabs(ball_at(b, x, y, z)) < band;
        }
    for (int t = 0; t < n * n * n; t++) {
        if (!stored[t]) continue;
        const int at[3] = { t % n, t / n % n, t / (n * n) };
        for (int k = 0; k < 3; k++) coordinates[contents.count][k] = at[k] + (int32_t)(bounded ? 0 : shift / edge);
        for (int v = 0; v < edge * edge * edge; v++)
            values[contents.count * edge * edge * edge + v] =
                (float)ball_at(b, at[0] * edge + v % edge, at[1] * edge + v / edge % edge, at[2] * edge + v / (edge * edge));
        for (int d = 0; d < 27; d++) {
            const int x = at[0] + d % 3 - 1, y = at[1] + d / 3 % 3 - 1, z = at[2] + d / 9 - 1,
                      beyond = x < 0 || y < 0 || z < 0 || x >= n || y >= n || z >= n;
            if (!beyond && !stored[(z * n + y) * n + x] && ball_at(b, x * edge + 1, y * edge + 1, z * edge + 1) < 0)
                inside[contents.count] |= 1u << d;
        }
        contents.count++;
    }
    contents.coordinates = (const int32_t(*)[3])coordinates;
    contents.values = values;
    contents.inside = inside;
    contents.keep = 1;
    options.edge = edge;
    options.band = band;
    if (bounded) options.domain = (tsr_size3){ BOX, BOX, BOX };
    require_ok(tsr_tiles_assemble(context, NULL, &options, &contents, &tiles));
    free(coordinates);
    free(values);
    free(inside);
    return tiles;
}

typedef struct list {
    int64_t count, (*positions)[3];
    uint8_t *cases, (*values)[8];
} list;
static list fetch(const tsr_records *records)
{
    list l = { .count = tsr_records_count(records) };
    l.positions = malloc((size_t)l.count * sizeof *l.positions + 1);
    l.cases = malloc((size_t)l.count + 1);
    l.values = malloc((size_t)l.count * 8 + 1);
    require_ok(tsr_records_download(records, l.positions, l.cases, l.values));
    return l;
}
static void drop(list *l)
{
    free(l->positions);
    free(l->cases);
    free(l->values);
}

typedef struct corner {
    float p[3];
    int64_t at;
} corner;
static int by_place(const void *a, const void *b) { return memcmp(a, b, sizeof(float[3])); }

/* The soup with equal vertices made one. */
static tsr_mesh *weld(const tsr_mesh *soup)
{
    const int64_t n = tsr_mesh_vertex_count(soup);
    corner *c = malloc((size_t)n * sizeof *c + 1);
    tsr_mesh *mesh;
    for (int64_t k = 0; k < n; k++) {
        for (int r = 0; r < 3; r++) c[k].p[r] = tsr_mesh_vertices_const(soup)[3 * k + r] + 0.0f; /* -0 becomes 0 */
        c[k].at = k;
    }
    qsort(c, (size_t)n, sizeof *c, by_place);
    require_ok(tsr_mesh_create(NULL, n, n / 3, 0, &mesh));
    int64_t own = -1;
    for (int64_t k = 0; k < n; k++) {
        if (k == 0 || by_place(&c[k - 1], &c[k])) memcpy(tsr_mesh_vertices(mesh) + 3 * ++own, c[k].p, sizeof c[k].p);
        tsr_mesh_triangles(mesh)[c[k].at] = (uint32_t)own;
    }
    for (int64_t k = own + 1; k < n; k++) memset(tsr_mesh_vertices(mesh) + 3 * k, 0, 12); /* unused */
    free(c);
    return mesh;
}

/* Every cut cell with a corner in a stored tile has one record, whose codes stand for the values there; the triangles close the surface. Bands of a
 * voxel leave cells whose own tile is missing. */
static void cells_of_voxels(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    uint64_t seed = test_seed();
    uint8_t *stored = malloc(BOX * BOX * BOX / 64);
    int orphans = 0;
    for (int turn = 0; turn < (test_is_slow() ? 8 : 24); turn++) {
        const int edge = turn & 1 ? 8 : 4, bounded = turn >> 1 & 1, n = BOX / edge;
        const double band = turn % 3 == 0 ? 1.75 : 1;
        const int64_t shift = bounded ? 0 : -BOX; /* unbounded lists may lie anywhere */
        const ball b = { 20 + 6 * test_uniform(&seed), 20 + 6 * test_uniform(&seed), 20 + 6 * test_uniform(&seed), 10 + 8 * test_uniform(&seed) };
        tsr_tiles *tiles = narrow_list(context, &b, edge, band, bounded, shift, stored);
        tsr_records *records;
        require_ok(tsr_records_extract(context, tiles, 0, &records));
        list l = fetch(records);
        int64_t next = 0, expected = 0;
        uint8_t *seen = calloc(BOX * BOX * BOX, 1);
        for (int64_t k = 0; k < l.count; k++) {
            int64_t p[3];
            for (int r = 0; r < 3; r++) p[r] = l.positions[k][r] - shift;
            assert_true(p[0] >= 0 && p[1] >= 0 && p[2] >= 0 && p[0] < BOX - 1 && p[1] < BOX - 1 && p[2] < BOX - 1);
            uint8_t *mark = &seen[(p[2] * BOX + p[1]) * BOX + p[0]];
            assert_int_equal(*mark, 0);
            *mark = 1;
            for (int c = 0; c < 8; c++) {
                const double v =
                    fmin(band,
                         fmax(-band, (double)(float)ball_at(&b, (double)(p[0] + (c & 1)), (double)(p[1] + (c >> 1 & 1)), (double)(p[2] + (c >> 2)))));
                assert_int_equal(l.cases[k] >> c & 1, v < 0);
                assert_int_equal(l.values[k][c] < 128, v < 0);
                assert_true(fabs((l.values[k][c] + 0.5) / 128 - 1 - v / band) <= 1.0 / 256 + 1e-6);
            }
        }
        for (int64_t z = 0; z < BOX - 1; z++)
            for (int64_t y = 0; y < BOX - 1; y++)
                for (int64_t x = 0; x < BOX - 1; x++, next++) {
                    int inside = 0, any = 0, own = 0;
                    for (int c = 0; c < 8; c++) {
                        const int64_t i = x + (c & 1), j = y + (c >> 1 & 1), m = z + (c >> 2);
                        inside += (float)ball_at(&b, (double)i, (double)j, (double)m) < 0;
                        const int has = stored[(m / edge * n + j / edge) * n + i / edge];
                        any |= has;
                        if (c == 0) own = has;
                    }
                    const int wanted = inside > 0 && inside < 8 && any;
                    assert_int_equal(seen[(z * BOX + y) * BOX + x], wanted);
                    expected += wanted;
                    orphans += wanted && !own;
                }
        assert_int_equal(expected, l.count);
        tsr_mesh *device, *soup;
        tsr_mesh_measures m = TSR_MESH_MEASURES;
        require_ok(tsr_records_mesh(records, turn & 4 ? TSR_SURFACE_SEPARATE_OUTSIDE : TSR_SURFACE_SEPARATE_INSIDE, &device));
        require_ok(tsr_mesh_copy(device, NULL, &soup));
        tsr_mesh *whole = weld(soup);
        require_ok(tsr_mesh_measure(whole, &m));
        assert_true(m.boundary_edges == 0 && m.nonmanifold_edges == 0 && m.misoriented_edges == 0 && m.volume > 0);
        assert_int_equal(m.euler, 2);
        assert_true(fabs(m.area / (4 * 3.14159265358979 * b.r * b.r) - 1) < 0.02);
        tsr_mesh_destroy(&whole);
        tsr_mesh_destroy(&soup);
        tsr_mesh_destroy(&device);
        free(seen);
        drop(&l);
        tsr_records_destroy(&records);
        tsr_tiles_destroy(&tiles);
    }
    print_message("%d cells whose own tile is missing\n", orphans);
    assert_true(orphans > 0);
    free(stored);
    tsr_context_destroy(&context);
}

static double two_balls(double x, double y, double z)
{
    const ball a = { -6, 1, 0, 9 }, b = { 8, -2, 3, 7 };
    return fmin(ball_at(&a, x, y, z), ball_at(&b, x, y, z));
}
static double ball_18(double x, double y, double z) { return sqrt(x * x + y * y + z * z) - 18; }

static tsr_tiles *list_of(tsr_context *context, int32_t n, tsr_vec3 spacing, test_field field, int edge)
{
    tsr_volume *volume = test_volume_of(context, n, spacing, field);
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles *tiles;
    options.edge = edge;
    options.domain = (tsr_size3){ n, n, n };
    require_ok(tsr_tiles_create(context, tsr_volume_geometry(volume), &options, &tiles));
    require_ok(tsr_tiles_load(tiles, volume));
    tsr_volume_destroy(&volume);
    return tiles;
}

/* Triangle by triangle the mesh of the list, vertices a 256th of the band apart in the field; in bent and mirrored voxels too. */
static void mesh_of_list(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    for (int turn = 0; turn < 4; turn++) {
        const tsr_vec3 spacing = turn & 1 ? (tsr_vec3){ -0.9, 1.1, 1.3 } : (tsr_vec3){ 1, 1, 1 };
        tsr_tiles *tiles = list_of(context, 42, spacing, ball_18, turn & 2 ? 4 : 8);
        tsr_tiles_info info = TSR_TILES_INFO;
        tsr_surface_options options = TSR_SURFACE_OPTIONS;
        tsr_records *records;
        tsr_mesh *exact, *soup, *a, *b;
        options.isovalue = turn & 2 ? 0.3 : 0;
        options.ambiguity = turn & 2 ? TSR_SURFACE_SEPARATE_OUTSIDE : TSR_SURFACE_SEPARATE_INSIDE;
        require_ok(tsr_tiles_describe(tiles, &info));
        require_ok(tsr_records_extract(context, tiles, options.isovalue, &records));
        require_ok(tsr_surface_extract_tiles(context, tiles, &options, &exact, NULL));
        require_ok(tsr_surface_unindex(context, exact, &soup));
        require_ok(tsr_mesh_copy(soup, NULL, &a));
        tsr_mesh_destroy(&soup);
        require_ok(tsr_records_mesh(records, options.ambiguity, &soup));
        require_ok(tsr_mesh_copy(soup, NULL, &b));
        assert_int_equal(tsr_mesh_triangle_count(a), tsr_mesh_triangle_count(b));
        assert_int_equal(tsr_mesh_space(b), TSR_SPACE_RAS);
        double worst = 0, far = 0;
        for (int64_t v = 0; v < tsr_mesh_vertex_count(b); v++) {
            const float *p = tsr_mesh_vertices_const(a) + 3 * v, *q = tsr_mesh_vertices_const(b) + 3 * v;
            worst = fmax(worst, fabs(ball_18((double)p[0], (double)p[1], (double)p[2]) - ball_18((double)q[0], (double)q[1], (double)q[2])));
            far = fmax(far, fmax(fabs((double)(p[0] - q[0])), fmax(fabs((double)(p[1] - q[1])), fabs((double)(p[2] - q[2])))));
        }
        print_message("%lld records, vertices %.4f of the field apart, %.4f along their edges\n", (long long)tsr_records_count(records), worst, far);
        assert_true(worst <= info.band / 256 + 0.01); /* and how a distance bends along an edge: a crease would bend it more */
        tsr_mesh_destroy(&a);
        tsr_mesh_destroy(&b);
        tsr_mesh_destroy(&soup);
        tsr_mesh_destroy(&exact);
        tsr_records_destroy(&records);
        tsr_tiles_destroy(&tiles);
    }
    tsr_context_destroy(&context);
}

static test_view draw(tsr_context *context, const tsr_records *records, const tsr_camera *camera, const tsr_render_options *options, int cull,
                      int32_t size)
{
    tsr_picture *picture;
    require_ok(tsr_picture_create(context, size, size, &picture));
    require_ok(tsr_records_draw(records, camera, options, cull, picture));
    test_view v = test_fetch(picture);
    tsr_picture_destroy(&picture);
    return v;
}
/* Mean square error of the channels; pixels whose depths differ by more than `depth`, or of which one has none. */
static double compare(const test_view *a, const test_view *b, double depth, int *apart)
{
    const int n = a->width * a->height;
    double sum = 0;
    *apart = 0;
    for (int i = 0; i < 4 * n; i++) sum += (double)(a->rgba[i] - b->rgba[i]) * (double)(a->rgba[i] - b->rgba[i]);
    for (int i = 0; i < n; i++)
        *apart += isfinite(a->depth[i]) != isfinite(b->depth[i]) || (isfinite(a->depth[i]) && fabs((double)(a->depth[i] - b->depth[i])) > depth);
    return sum / (4 * n);
}

/* Flat: the picture of the mesh of the records. Smooth: near the picture of rays through the field, at its depth. Backs left out: no change. */
static void pictures(void **state)
{
    (void)state;
    enum { SIZE = 72 };
    tsr_context *context = test_context();
    for (int turn = 0; turn < 4; turn++) {
        const tsr_vec3 spacing = turn & 1 ? (tsr_vec3){ 0.9, 1.1, 1.3 } : (tsr_vec3){ 1, 1, 1 };
        tsr_tiles *tiles = list_of(context, 42, spacing, two_balls, 8);
        tsr_camera camera = test_camera((tsr_vec3){ 30, 60, 25 }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 0, 1 },
                                        turn & 2 ? TSR_PERSPECTIVE : TSR_ORTHOGRAPHIC, 34, 40);
        tsr_render_options options = TSR_RENDER_OPTIONS;
        tsr_records *records;
        tsr_mesh *mesh;
        tsr_scene *scene;
        int apart;
        options.mode = TSR_RENDER_SURFACE;
        options.ambient_occlusion = -1;
        options.supersampling = turn == 3 ? 2 : 1;
        options.pass = turn == 2 ? 3 : 0;
        require_ok(tsr_scene_create(context, &scene));
        require_ok(tsr_records_extract(context, tiles, 0, &records));
        require_ok(tsr_records_mesh(records, TSR_SURFACE_SEPARATE_INSIDE, &mesh));
        if (options.pass == 0) { /* of a pass, the picture before counts too */
            options.flat = 1;
            require_ok(tsr_scene_set_surface_mesh(scene, mesh));
            test_view a = draw(context, records, &camera, &options, 0, SIZE), b = test_draw(context, scene, &camera, &options, SIZE);
            const double error = compare(&a, &b, 1e-3, &apart);
            print_message("against the mesh: mean square error %.2g, %d pixels apart\n", error, apart);
            assert_true(error < 1e-5 && apart <= SIZE * SIZE / 1000);
            test_view_free(&a);
            test_view_free(&b);
            options.flat = 0;
        }
        options.pass = 0;
        require_ok(tsr_scene_set_surface_tiles(scene, tiles));
        test_view a = draw(context, records, &camera, &options, 0, SIZE), b = test_draw(context, scene, &camera, &options, SIZE);
        test_view culled = draw(context, records, &camera, &options, 1, SIZE);
        const double error = compare(&a, &b, 0.3, &apart);
        int hit = 0;
        for (int i = 0; i < SIZE * SIZE; i++) hit += isfinite(b.depth[i]) != 0;
        print_message("against rays: PSNR %.1f dB, %d of %d pixels apart\n", -10 * log10(error), apart, hit);
        assert_true(hit > SIZE * SIZE / 8 && -10 * log10(error) > 35 && apart < hit / 50);
        assert_memory_equal(a.rgba, culled.rgba, (size_t)SIZE * SIZE * 16);
        test_view_free(&a);
        test_view_free(&b);
        test_view_free(&culled);
        tsr_scene_destroy(&scene);
        tsr_mesh_destroy(&mesh);
        tsr_records_destroy(&records);
        tsr_tiles_destroy(&tiles);
    }
    tsr_context_destroy(&context);
}

/* Walls behind walls: a ball with a ball cut out of it, and another one. */
static double hollow(double x, double y, double z) { return fmax(two_balls(x, y, z), 6 - sqrt((x + 4) * (x + 4) + (y - 2) * (y - 2) + z * z)); }
static double cloud(double x, double y, double z) { return exp(-0.003 * (x * x + 2 * y * y + z * z)); }

/* Records in a scene, a volume before, between and behind their layers: the picture of the same triangles as a mesh, which rays find in a tree. */
static void layers_and_volume(void **state)
{
    (void)state;
    enum { SIZE = 56 };
    tsr_context *context = test_context();
    tsr_tiles *tiles = list_of(context, 42, (tsr_vec3){ 0.9, 1.1, 1.0 }, hollow, 8);
    tsr_volume *volume = test_volume_of(context, 30, (tsr_vec3){ 1.2, 1.5, 1.3 }, cloud);
    const tsr_transfer transfer = { .points = 2, .point = { { 0.1f, 0, { 0.2f, 0.5f, 1 } }, { 1, 0.06f, { 1, 0.8f, 0.3f } } } };
    tsr_camera camera = test_camera((tsr_vec3){ 30, 60, 25 }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 0, 1 }, TSR_PERSPECTIVE, 34, 0);
    tsr_records *records;
    tsr_mesh *mesh;
    tsr_scene *scene;
    require_ok(tsr_scene_create(context, &scene));
    require_ok(tsr_scene_set_volume(scene, volume));
    require_ok(tsr_records_extract(context, tiles, 0.3, &records));
    require_ok(tsr_records_mesh(records, TSR_SURFACE_SEPARATE_INSIDE, &mesh));
    assert_true(tsr_records_isovalue(records) == 0.3);
    double behind = 0;
    for (int turn = 0; turn < 4; turn++) {
        tsr_render_options options = TSR_RENDER_OPTIONS;
        int apart;
        options.mode = turn == 3 ? TSR_RENDER_SURFACE : TSR_RENDER_COMBINED;
        options.transfer = &transfer;
        options.ambient_occlusion = -1; /* of a mesh by rays, of records from the field: not the same */
        options.flat = 1;
        options.surface_opacity = turn == 2 ? 1 : 0.45;
        options.surface_layers = turn == 0 ? 1 : 5;
        options.supersampling = turn == 3 ? 2 : 1;
        options.transparent = turn == 1;
        require_ok(tsr_scene_set_surface_mesh(scene, mesh));
        test_view b = test_draw(context, scene, &camera, &options, SIZE);
        require_ok(tsr_scene_set_surface_tiles(scene, tiles));
        require_ok(tsr_scene_set_surface_records(scene, records, 0));
        test_view a = test_draw(context, scene, &camera, &options, SIZE);
        const double error = compare(&a, &b, 1e-3, &apart);
        print_message("turn %d: mean square error %.2g, %d pixels apart\n", turn, error, apart);
        assert_true(error < 1e-5 && apart <= SIZE * SIZE / 1000);
        if (turn == 1) { /* what one layer alone lacks */
            options.surface_layers = 1;
            test_view one = test_draw(context, scene, &camera, &options, SIZE);
            behind = compare(&a, &one, 1e9, &apart);
            test_view_free(&one);
        }
        test_view_free(&a);
        test_view_free(&b);
    }
    assert_true(behind > 1e-3);
    tsr_scene_destroy(&scene);
    tsr_mesh_destroy(&mesh);
    tsr_records_destroy(&records);
    tsr_volume_destroy(&volume);
    tsr_tiles_destroy(&tiles);
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
    tsr_context_destroy(&context);
}

/* Mean square error of the channels, without the pixels at outlines, where one sees further than the other. */
static double compare_within(const test_view *a, const test_view *b, const test_view *depths)
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < a->width * a->height; i++) {
        const float d = a->depth[i], e = depths->depth[i];
        if (isfinite(d) != isfinite(e) || (isfinite(d) && fabsf(d - e) > 0.3f)) continue;
        for (int c = 4 * i; c < 4 * i + 4; c++, n++) sum += (double)(a->rgba[c] - b->rgba[c]) * (double)(a->rgba[c] - b->rgba[c]);
    }
    return sum / n;
}

/* Ambient occlusion, cuts and regions come from the field: near the picture of rays through it, where that differs from one without them. */
static void field_of_records(void **state)
{
    (void)state;
    enum { SIZE = 64 };
    tsr_context *context = test_context();
    tsr_tiles *tiles = list_of(context, 42, (tsr_vec3){ 1, 1.1, 0.9 }, hollow, 8);
    tsr_volume *volume = test_volume_of(context, 30, (tsr_vec3){ 1.2, 1.5, 1.3 }, cloud);
    const tsr_transfer transfer = { .points = 2, .point = { { 0.1f, 0, { 0.2f, 0.5f, 1 } }, { 1, 0.1f, { 1, 0.8f, 0.3f } } } };
    const tsr_camera camera = test_camera((tsr_vec3){ 30, 60, 25 }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 0, 1 }, TSR_PERSPECTIVE, 34, 0);
    tsr_records *records;
    tsr_scene *scene;
    require_ok(tsr_scene_create(context, &scene));
    require_ok(tsr_scene_set_volume(scene, volume));
    require_ok(tsr_records_extract(context, tiles, 0, &records));
    for (int turn = 0; turn < 4; turn++) {
        tsr_render_options plain = TSR_RENDER_OPTIONS;
        plain.mode = turn == 2 ? TSR_RENDER_COMBINED : TSR_RENDER_SURFACE;
        plain.transfer = &transfer;
        plain.ambient_occlusion = -1;
        plain.surface_opacity = turn == 3 ? 0.5 : 1;
        plain.surface_layers = turn == 3 ? 4 : 1;
        tsr_render_options options = plain;
        options.ambient_occlusion = turn == 0 ? 1 : -1;
        options.clip = turn == 1 || turn == 3;
        options.clip_normal = (tsr_vec3){ 0.2, 1, 0.1 };
        options.clip_offset = 3;
        options.clip_face = turn == 3 ? TSR_CLIP_OPEN : TSR_CLIP_CAP;
        options.region = turn == 2 ? TSR_REGION_INSIDE : TSR_REGION_ALL;
        int apart, hit = 0;
        require_ok(tsr_scene_set_surface_tiles(scene, tiles));
        test_view field = test_draw(context, scene, &camera, &options, SIZE), without = test_draw(context, scene, &camera, &plain, SIZE);
        require_ok(tsr_scene_set_surface_records(scene, records, turn == 0));
        test_view v = test_draw(context, scene, &camera, &options, SIZE);
        compare(&field, &v, 0.3, &apart);
        if (turn == 0) { /* what it takes away: normals of cells and of the field are not the same at creases */
            test_view lit = test_draw(context, scene, &camera, &plain, SIZE);
            for (int i = 0; i < 4 * SIZE * SIZE; i++) v.rgba[i] += without.rgba[i] - lit.rgba[i];
            test_view_free(&lit);
        }
        const double other = compare_within(&field, &without, &v), error = compare_within(&field, &v, &v);
        for (int i = 0; i < SIZE * SIZE; i++) hit += isfinite(field.depth[i]) != 0;
        print_message("turn %d: PSNR %.1f dB (without %.1f), %d of %d pixels apart\n", turn, -10 * log10(error), -10 * log10(other), apart, hit);
        assert_true(hit > SIZE * SIZE / 10 && -10 * log10(error) > 32 && error < 0.25 * other && apart <= hit / 40);
        test_view_free(&field);
        test_view_free(&without);
        test_view_free(&v);
    }
    tsr_scene_destroy(&scene);
    tsr_records_destroy(&records);
    tsr_volume_destroy(&volume);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

/* A cancelled picture gives its memory back. */
static int stop(void *user, double fraction, const char *stage)
{
    (void)stage;
    return fraction > *(const double *)user;
}
static void cancelled(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_tiles *tiles = list_of(context, 42, (tsr_vec3){ 1, 1, 1 }, hollow, 8);
    tsr_render_options options = TSR_RENDER_OPTIONS;
    const tsr_camera camera = test_front(50);
    tsr_records *records;
    tsr_picture *picture;
    double until = 0.3;
    require_ok(tsr_picture_create(context, 32, 32, &picture));
    require_ok(tsr_records_extract(context, tiles, 0, &records));
    const int64_t before = tsr_context_memory(context)->current_bytes;
    options.ambient_occlusion = -1;
    options.surface_opacity = 0.5;
    options.surface_layers = 3;
    options.progress = (tsr_progress){ stop, &until };
    require_error(tsr_records_draw(records, &camera, &options, 0, picture), TSR_ERROR_CANCELLED, "cancelled during records");
    until = 0.6;
    require_error(tsr_records_draw(records, &camera, &options, 0, picture), TSR_ERROR_CANCELLED, "cancelled during render");
    assert_int_equal(tsr_context_memory(context)->current_bytes, before);
    until = 2;
    require_ok(tsr_records_draw(records, &camera, &options, 0, picture));
    tsr_picture_destroy(&picture);
    tsr_records_destroy(&records);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

/* From within: cells beside and behind the eye too; every ray meets the ball. One and a half cells for each voxel face of area. */
static void from_within(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_tiles *tiles = list_of(context, 42, (tsr_vec3){ 1, 1, 1 }, ball_18, 8);
    const tsr_camera camera = test_camera((tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 1, 0.2, 0.1 }, (tsr_vec3){ 0, 0, 1 }, TSR_PERSPECTIVE, 100, 0);
    tsr_records *records;
    require_ok(tsr_records_extract(context, tiles, 0, &records));
    assert_true(fabs((double)tsr_records_count(records) / (1.5 * 4 * 3.14159265358979 * 18 * 18) - 1) < 0.01);
    assert_true(tsr_records_geometry(records)->space == TSR_SPACE_RAS);
    test_view v = draw(context, records, &camera, NULL, 0, 24);
    for (int i = 0; i < 24 * 24; i++) assert_true(fabs((double)v.depth[i] - 18) < 0.05);
    test_view_free(&v);
    tsr_records_destroy(&records);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

/* Threads and backends give the same bits. */
static void same_everywhere(void **state)
{
    (void)state;
    tsr_context *contexts[3] = { test_context_on("cpu", 1), test_context_on("cpu", 3), test_context() };
    const tsr_camera camera = test_camera((tsr_vec3){ 30, 60, 25 }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 0, 1 }, TSR_PERSPECTIVE, 34, 0);
    list l[3];
    test_view v[3], w[3];
    for (int k = 0; k < 3; k++) {
        tsr_tiles *tiles = list_of(contexts[k], 42, (tsr_vec3){ 0.9, 1.1, 1.3 }, two_balls, 8);
        tsr_records *records;
        require_ok(tsr_records_extract(contexts[k], tiles, -0.4, &records));
        tsr_scene *scene;
        tsr_render_options options = TSR_RENDER_OPTIONS;
        options.surface_opacity = 0.6;
        options.surface_layers = 3;
        options.clip = 1;
        options.clip_normal = (tsr_vec3){ 1, 1, 0.3 };
        options.clip_offset = 6;
        require_ok(tsr_scene_create(contexts[k], &scene));
        require_ok(tsr_scene_set_surface_tiles(scene, tiles));
        require_ok(tsr_scene_set_surface_records(scene, records, 0));
        w[k] = test_draw(contexts[k], scene, &camera, &options, 40);
        tsr_scene_destroy(&scene);
        tsr_tiles_destroy(&tiles); /* the records need it no more */
        l[k] = fetch(records);
        v[k] = draw(contexts[k], records, &camera, NULL, k == 1, 48);
        tsr_records_destroy(&records);
    }
    for (int k = 1; k < 3; k++) {
        assert_int_equal(l[0].count, l[k].count);
        assert_memory_equal(l[0].positions, l[k].positions, (size_t)l[0].count * sizeof *l[0].positions);
        assert_memory_equal(l[0].cases, l[k].cases, (size_t)l[0].count);
        assert_memory_equal(l[0].values, l[k].values, (size_t)l[0].count * 8);
        if (tsr_context_device(contexts[k]).kind == TSR_DEVICE_CUDA) continue;
        assert_memory_equal(v[0].rgba, v[k].rgba, 48 * 48 * 16);
        assert_memory_equal(v[0].depth, v[k].depth, 48 * 48 * 4);
        assert_memory_equal(w[0].rgba, w[k].rgba, 40 * 40 * 16);
        assert_memory_equal(w[0].depth, w[k].depth, 40 * 40 * 4);
    }
    for (int k = 0; k < 3; k++) {
        drop(&l[k]);
        test_view_free(&v[k]);
        test_view_free(&w[k]);
        tsr_context_destroy(&contexts[k]);
    }
}

static void bad_input(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_tiles *tiles = list_of(context, 42, (tsr_vec3){ 1, 1, 1 }, ball_18, 8), *empty;
    tsr_camera camera = test_front(50);
    tsr_render_options options = TSR_RENDER_OPTIONS;
    tsr_records *records;
    tsr_picture *picture;
    tsr_mesh *mesh;
    require_ok(tsr_picture_create(context, 8, 8, &picture));
    assert_int_equal(tsr_records_extract(NULL, tiles, 0, &records), TSR_ERROR_ARGUMENT);
    assert_int_equal(tsr_records_extract(context, NULL, 0, &records), TSR_ERROR_ARGUMENT);
    assert_int_equal(tsr_records_extract(context, tiles, (double)NAN, &records), TSR_ERROR_ARGUMENT);
    assert_int_equal(tsr_records_extract(context, tiles, 2.5, &records), TSR_ERROR_ARGUMENT);
    assert_non_null(strstr(tsr_error_message(), "isovalue is 2.5"));
    assert_null(records);
    require_ok(tsr_tiles_create(context, NULL, NULL, &empty));
    require_ok(tsr_records_extract(context, empty, 0, &records));
    assert_int_equal(tsr_records_count(records), 0);
    require_ok(tsr_records_mesh(records, TSR_SURFACE_SEPARATE_INSIDE, &mesh));
    assert_int_equal(tsr_mesh_triangle_count(mesh), 0);
    assert_int_equal(tsr_records_draw(records, &camera, NULL, 0, picture), TSR_ERROR_STATE);
    tsr_mesh_destroy(&mesh);
    tsr_records_destroy(&records);
    static const int32_t far[2][3] = { { 0, 0, 0 }, { 8192, 0, 0 } }; /* 65536 voxels apart: positions would not do */
    float values[2][512];
    tsr_tiles_contents contents = TSR_TILES_CONTENTS;
    tsr_tiles *wide;
    for (int v = 0; v < 1024; v++) values[v / 512][v % 512] = (float)(v % 512 % 8) - 3.5f;
    contents.count = 2;
    contents.coordinates = far;
    contents.values = &values[0][0];
    contents.keep = 1;
    require_ok(tsr_tiles_assemble(context, NULL, NULL, &contents, &wide));
    assert_int_equal(tsr_records_extract(context, wide, 0, &records), TSR_ERROR_UNSUPPORTED);
    assert_non_null(strstr(tsr_error_message(), "65544 voxels along x"));
    tsr_tiles_destroy(&wide);
    require_ok(tsr_records_extract(context, tiles, 0, &records));
    assert_int_equal(tsr_records_mesh(records, TSR_SURFACE_DECIDE, &mesh), TSR_ERROR_UNSUPPORTED);
    options.clip = 1;
    assert_int_equal(tsr_records_draw(records, &camera, &options, 0, picture), TSR_ERROR_UNSUPPORTED);
    options = (tsr_render_options)TSR_RENDER_OPTIONS;
    options.mode = TSR_RENDER_MIP;
    assert_int_equal(tsr_records_draw(records, &camera, &options, 0, picture), TSR_ERROR_UNSUPPORTED);
    options = (tsr_render_options)TSR_RENDER_OPTIONS;
    options.ambient_occlusion = 0.5;
    require_error(tsr_records_draw(records, &camera, &options, 0, picture), TSR_ERROR_UNSUPPORTED, "tsr_scene_set_surface_records");
    options = (tsr_render_options)TSR_RENDER_OPTIONS;
    options.surface_layers = 65;
    require_error(tsr_records_draw(records, &camera, &options, 0, picture), TSR_ERROR_ARGUMENT, "surface_layers 65");
    tsr_scene *scene;
    require_ok(tsr_scene_create(context, &scene));
    require_error(tsr_scene_set_surface_records(scene, records, 0), TSR_ERROR_STATE, "no tile list");
    tsr_tiles *elsewhere = list_of(context, 42, (tsr_vec3){ 1, 1, 2 }, ball_18, 8);
    require_ok(tsr_scene_set_surface_tiles(scene, elsewhere));
    require_error(tsr_scene_set_surface_records(scene, records, 0), TSR_ERROR_ARGUMENT, "elsewhere");
    require_error(tsr_scene_set_surface_records(scene, NULL, 0), TSR_ERROR_ARGUMENT, "records is NULL");
    tsr_scene_destroy(&scene);
    tsr_tiles_destroy(&elsewhere);
    options = (tsr_render_options)TSR_RENDER_OPTIONS;
    options.supersampling = 5;
    assert_int_equal(tsr_records_draw(records, &camera, &options, 0, picture), TSR_ERROR_ARGUMENT);
    camera.height = 0;
    assert_int_equal(tsr_records_draw(records, &camera, NULL, 0, picture), TSR_ERROR_ARGUMENT);
    assert_int_equal(tsr_records_draw(records, &camera, NULL, 0, NULL), TSR_ERROR_ARGUMENT);
    tsr_records_destroy(&records);
    tsr_picture_destroy(&picture);
    tsr_tiles_destroy(&empty);
    tsr_tiles_destroy(&tiles);
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_of_voxels),  cmocka_unit_test(mesh_of_list),    cmocka_unit_test(pictures),
        cmocka_unit_test(from_within),      cmocka_unit_test(same_everywhere), cmocka_unit_test(layers_and_volume),
        cmocka_unit_test(field_of_records), cmocka_unit_test(cancelled),       cmocka_unit_test(bad_input),
    };
    return cmocka_run_group_tests_name("records", tests, NULL, NULL);
}
