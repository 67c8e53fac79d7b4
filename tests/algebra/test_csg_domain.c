/* The algebra of lists with a domain: planes flat along each axis, and boxes. Against dense fields, flood fill and analytic answers. */
#include <math.h>

#include "tiles/tiles_check.h"
#include "tessera/csg.h"
#include "tessera/levelset.h"

#include "context.h" /* last: its variable would hide the others' arguments */

enum { SPHERES = 7 };
static const double pi = 3.14159265358979323846;

static int on_emulator(void)
{
    const char *device = getenv("TESSERA_DEVICE");
    return device && !strcmp(device, "emu");
}

typedef struct scene {
    double at[SPHERES][4]; /* centre in voxels and radius; a negative radius takes away */
} scene;

/* Distance-like field of a scene: zero set and signs are those of the union and difference of its balls, across a flat axis nothing changes. */
static double scene_value(const scene *s, const tsr_size3 n, const double h[3], int64_t x, int64_t y, int64_t z)
{
    const int64_t size[3] = { n.x, n.y, n.z }, place[3] = { x, y, z };
    double v = 1e3;
    for (int i = 0; i < SPHERES; i++) {
        double squares = 0;
        for (int k = 0; k < 3; k++) {
            const double d = size[k] == 1 ? 0 : ((double)place[k] - s->at[i][k]) * h[k];
            squares += d * d;
        }
        const double r = s->at[i][3];
        v = r > 0 ? fmin(v, sqrt(squares) - r) : fmax(v, -sqrt(squares) - r);
    }
    return v;
}

static scene random_scene(uint64_t *random, const tsr_size3 n, double most)
{
    const int64_t size[3] = { n.x, n.y, n.z };
    scene s;
    for (int i = 0; i < SPHERES; i++) {
        for (int k = 0; k < 3; k++) s.at[i][k] = (double)(test_random(random) % (uint64_t)(size[k] * 16 + 1)) / 16;
        s.at[i][3] = (i >= SPHERES - 2 ? -1 : 1) * (2 + (double)(test_random(random) % 64) / 64 * most);
    }
    return s;
}

static const double unit[3] = { 1, 1, 1 };

static tsr_tiles *list_of(const tsr_size3 n, const double h[3], int32_t edge, tsr_tiles_index index, double band, const scene *s)
{
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    const tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ h[0], h[1], h[2] }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    tsr_volume *host, *field;
    tsr_tiles *tiles;
    options.edge = edge;
    options.domain = n;
    options.band = band;
    options.index = index;
    require_ok(tsr_volume_create(NULL, TSR_F32, n, &geometry, &host));
    float *v = (float *)tsr_volume_data(host);
    for (int64_t i = 0; i < n.x * n.y * n.z; i++) v[i] = (float)scene_value(s, n, h, i % n.x, i / n.x % n.y, i / n.x / n.y);
    require_ok(tsr_volume_copy(host, context, &field));
    require_ok(tsr_tiles_create(context, &geometry, &options, &tiles));
    require_ok(tsr_tiles_load(tiles, field));
    tsr_volume_destroy(&field);
    tsr_volume_destroy(&host);
    return tiles;
}

/* The field over the domain, on the host. */
static float *dense(const tsr_tiles *tiles)
{
    const tsr_size3 n = tsr_tiles_domain(tiles);
    const size_t bytes = (size_t)(n.x * n.y * n.z) * sizeof(float);
    tsr_volume *volume, *host;
    require_ok(tsr_volume_create(context, TSR_F32, n, NULL, &volume));
    require_ok(tsr_tiles_store(tiles, volume));
    require_ok(tsr_volume_copy(volume, NULL, &host));
    float *copy = (float *)malloc(bytes);
    memcpy(copy, tsr_volume_data_const(host), bytes);
    tsr_volume_destroy(&volume);
    tsr_volume_destroy(&host);
    return copy;
}

static void same(const tsr_tiles *a, const tsr_tiles *b, int expected)
{
    int equal;
    require_ok(tsr_tiles_equal(a, b, &equal));
    assert_int_equal(equal, expected);
}

static const struct {
    tsr_size3 n;
    int32_t edge;
    tsr_tiles_index index;
} domains[] = {
    { { 61, 50, 1 }, 8, TSR_TILES_SORTED }, { { 61, 50, 1 }, 4, TSR_TILES_PAGED },   { { 1, 43, 59 }, 4, TSR_TILES_SORTED },
    { { 57, 1, 40 }, 8, TSR_TILES_SORTED }, { { 27, 22, 19 }, 4, TSR_TILES_SORTED }, { { 27, 22, 19 }, 8, TSR_TILES_PAGED },
};
enum { DOMAINS = sizeof domains / sizeof *domains };

/* ---- boolean operations ---------------------------------------------------------------------------------------------------------------------- */

static float combined(tsr_csg_operation operation, float a, float b)
{
    return operation == TSR_CSG_UNION ? fminf(a, b) : operation == TSR_CSG_INTERSECTION ? fmaxf(a, b) : fmaxf(a, -b);
}

/* Twice complement is nothing, bit for bit, also where zeros are all that keeps a field from being inside (or outside) everywhere: they touch, and no
 * surface is left on one of the sides. */
static void complement_of_zeros(void **unused)
{
    (void)unused;
    for (int i = 0; i < DOMAINS; i++)
        for (int kind = 0; kind < 4; kind++) { /* the rest: inside, outside, inside within the band, both */
            static const float rest[4] = { -9, 9, -0.5f, 9 };
            const tsr_size3 n = domains[i].n;
            const int64_t count = n.x * n.y * n.z;
            tsr_tiles_options options = TSR_TILES_OPTIONS;
            tsr_volume *host, *field;
            tsr_tiles *a, *b, *back;
            options.edge = domains[i].edge;
            options.domain = n;
            options.band = 1.5;
            options.index = domains[i].index;
            require_ok(tsr_volume_create(NULL, TSR_F32, n, NULL, &host));
            float *v = (float *)tsr_volume_data(host);
            for (int64_t k = 0; k < count; k++) v[k] = k % 97 == 5 ? 0.0f : k % 101 == 7 ? -0.0f : kind == 3 && k % 3 == 0 ? -1.0f : rest[kind];
            require_ok(tsr_volume_copy(host, context, &field));
            require_ok(tsr_tiles_create(context, NULL, &options, &a));
            require_ok(tsr_tiles_load(a, field));
            require_ok(tsr_tiles_complement(a, &b));
            require_ok(tsr_tiles_complement(b, &back));
            float *before = dense(a), *turned = dense(b), *after = dense(back);
            assert_memory_equal(before, after, (size_t)count * sizeof *before);
            for (int64_t k = 0; k < count; k++) assert_true(turned[k] == -before[k]);
            same(a, back, 1);
            check_invariants(b);
            free(before);
            free(turned);
            free(after);
            tsr_tiles_destroy(&a);
            tsr_tiles_destroy(&b);
            tsr_tiles_destroy(&back);
            tsr_volume_destroy(&host);
            tsr_volume_destroy(&field);
        }
}

static void identities(const tsr_tiles *a, const tsr_tiles *b)
{
    tsr_tiles *c, *d, *not_a, *not_b, *back;
    tsr_tiles_info info = TSR_TILES_INFO;
    require_ok(tsr_tiles_complement(a, &not_a));
    require_ok(tsr_tiles_complement(b, &not_b));
    check_invariants(not_a);
    require_ok(tsr_tiles_complement(not_a, &back));
    same(a, back, 1);
    same(a, not_a, 0);
    tsr_tiles_destroy(&back);
    for (int operation = TSR_CSG_UNION; operation <= TSR_CSG_INTERSECTION; operation++) {
        require_ok(tsr_tiles_combine(a, a, (tsr_csg_operation)operation, 0, &c));
        same(a, c, 1);
        tsr_tiles_destroy(&c);
        require_ok(tsr_tiles_combine(a, b, (tsr_csg_operation)operation, 0, &c)); /* De Morgan */
        require_ok(tsr_tiles_complement(c, &back));
        require_ok(tsr_tiles_combine(not_a, not_b, (tsr_csg_operation)(1 - operation), 0, &d));
        same(back, d, 1);
        tsr_tiles_destroy(&back);
        tsr_tiles_destroy(&c);
        tsr_tiles_destroy(&d);
    }
    require_ok(tsr_tiles_combine(a, not_b, TSR_CSG_INTERSECTION, 0, &c));
    require_ok(tsr_tiles_combine(a, b, TSR_CSG_DIFFERENCE, 0, &d));
    same(c, d, 1);
    tsr_tiles_destroy(&c);
    tsr_tiles_destroy(&d);
    require_ok(tsr_tiles_combine(a, a, TSR_CSG_DIFFERENCE, 0, &c));
    require_ok(tsr_tiles_describe(c, &info));
    assert_true(info.count == 0 && info.inside_voxels == 0);
    tsr_tiles_destroy(&c);
    require_ok(tsr_tiles_combine(a, not_a, TSR_CSG_UNION, 0, &c)); /* zeros of the field are outside of both: at most those stay */
    require_ok(tsr_tiles_describe(c, &info));
    const tsr_size3 n = tsr_tiles_domain(a);
    float *field = dense(a);
    int64_t zeros = 0;
    for (int64_t i = 0; i < n.x * n.y * n.z; i++) zeros += field[i] == 0;
    assert_true(info.inside_voxels == n.x * n.y * n.z - zeros);
    free(field);
    tsr_tiles_destroy(&c);
    tsr_tiles_destroy(&not_a);
    tsr_tiles_destroy(&not_b);
}

static void fields_combine(void **unused)
{
    (void)unused;
    uint64_t random = test_seed();
    for (int i = 0; i < DOMAINS; i++) {
        const tsr_size3 n = domains[i].n;
        const scene sa = random_scene(&random, n, 9), sb = random_scene(&random, n, 9);
        tsr_tiles *a = list_of(n, unit, domains[i].edge, domains[i].index, 3, &sa), *b = list_of(n, unit, domains[i].edge, TSR_TILES_SORTED, 3, &sb);
        float *fa = dense(a), *fb = dense(b);
        for (int operation = TSR_CSG_UNION; operation <= TSR_CSG_DIFFERENCE; operation++) {
            tsr_tiles *c;
            tsr_tiles_info info = TSR_TILES_INFO;
            int64_t inside = 0;
            require_ok(tsr_tiles_combine(a, b, (tsr_csg_operation)operation, 0, &c));
            check_invariants(c);
            float *fc = dense(c);
            for (int64_t v = 0; v < n.x * n.y * n.z; v++) inside += combined((tsr_csg_operation)operation, fa[v], fb[v]) < 0;
            for (int64_t v = 0; v < n.x * n.y * n.z && inside; v++) assert_true(fc[v] == combined((tsr_csg_operation)operation, fa[v], fb[v]));
            require_ok(tsr_tiles_describe(c, &info));
            assert_true(info.inside_voxels == inside);
            const tsr_size3 domain = tsr_tiles_domain(c);
            assert_true(domain.x == n.x && domain.y == n.y && domain.z == n.z);
            free(fc);
            tsr_tiles_destroy(&c);
        }
        identities(a, b);
        free(fa);
        free(fb);
        tsr_tiles_destroy(&a);
        tsr_tiles_destroy(&b);
    }
}

/* A step leaves what it likes beyond the domain in a tile: nothing of it gets into a result. */
static void beyond_the_domain(void **unused)
{
    (void)unused;
    const tsr_size3 n = { 45, 45, 1 };
    const scene s = { { { 20, 20, 0, 9 }, { 40, 40, 0, 7 }, { 3, 30, 0, 6 } } };
    tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
    options.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_SPEED, .value = 1 };
    options.term_count = 1;
    tsr_tiles *a = list_of(n, unit, 8, TSR_TILES_SORTED, 3, &s), *b, *c;
    tsr_levelset *levelset;
    require_ok(tsr_levelset_create(a, &options, &levelset));
    require_ok(tsr_levelset_step(levelset, 5, NULL, NULL));
    tsr_levelset_destroy(&levelset);
    tsr_volume *field;
    tsr_tiles_options fresh = TSR_TILES_OPTIONS;
    fresh.domain = n;
    fresh.band = 3;
    require_ok(tsr_volume_create(context, TSR_F32, n, NULL, &field));
    require_ok(tsr_tiles_store(a, field));
    require_ok(tsr_tiles_create(context, NULL, &fresh, &b));
    require_ok(tsr_tiles_load(b, field));
    require_ok(tsr_tiles_combine(a, b, TSR_CSG_UNION, 0, &c));
    same(a, c, 1);
    same(b, c, 1);
    tiles_picture p = picture_of(c), q = picture_of(b);
    assert_int_equal(p.state.count, q.state.count);
    for (int32_t i = 0; i < p.state.count; i++)
        assert_memory_equal(p.phi + (int64_t)p.ids[i] * 512, q.phi + (int64_t)q.ids[i] * 512, 512 * sizeof(float));
    picture_drop(&p);
    picture_drop(&q);
    tsr_volume_destroy(&field);
    tsr_tiles_destroy(&a);
    tsr_tiles_destroy(&b);
    tsr_tiles_destroy(&c);
}

/* ---- pieces ------------------------------------------------------------------------------------------------------------------------------------ */

/* Pieces of the voxels that are inside (or not), by flood fill; those that reach the border of the domain are counted apart. */
static int64_t flood(const float *field, const tsr_size3 n, int inside, int faces, int64_t *at_border, int64_t *largest)
{
    const int64_t count = n.x * n.y * n.z, size[3] = { n.x, n.y, n.z };
    uint8_t *seen = (uint8_t *)calloc((size_t)count, 1);
    int64_t *stack = (int64_t *)malloc((size_t)count * sizeof *stack), pieces = 0;
    *at_border = *largest = 0;
    for (int64_t i = 0; i < count; i++) {
        if (seen[i] || (field[i] < 0) != inside) continue;
        int64_t top = 0, voxels = 0, border = 0;
        stack[top++] = i;
        seen[i] = 1;
        while (top) {
            const int64_t v = stack[--top], at[3] = { v % n.x, v / n.x % n.y, v / n.x / n.y };
            voxels++;
            for (int k = 0; k < 3; k++) border |= size[k] > 1 && (at[k] == 0 || at[k] + 1 == size[k]);
            for (int d = 0; d < 27; d++) {
                const int64_t to[3] = { at[0] + d % 3 - 1, at[1] + d / 3 % 3 - 1, at[2] + d / 9 - 1 };
                if (faces && labs((long)(d % 3 - 1)) + labs((long)(d / 3 % 3 - 1)) + labs((long)(d / 9 - 1)) != 1) continue;
                if (to[0] < 0 || to[1] < 0 || to[2] < 0 || to[0] >= n.x || to[1] >= n.y || to[2] >= n.z) continue;
                const int64_t w = (to[2] * n.y + to[1]) * n.x + to[0];
                if (seen[w] || (field[w] < 0) != inside) continue;
                seen[w] = 1;
                stack[top++] = w;
            }
        }
        pieces++;
        *at_border += border;
        *largest = voxels > *largest ? voxels : *largest;
    }
    free(seen);
    free(stack);
    return pieces;
}

/* Vertices - edges + faces - cells of the voxels of the inside. */
static int64_t euler_of(const float *field, const tsr_size3 n)
{
    int64_t sum = 0;
    for (int64_t z = 0; z < n.z; z++)
        for (int64_t y = 0; y < n.y; y++)
            for (int64_t x = 0; x < n.x; x++)
                for (int c = 0; c < 8; c++) { /* the cell of the complex that spans these axes */
                    const int64_t dx = c & 1, dy = c >> 1 & 1, dz = c >> 2;
                    int all = x + dx < n.x && y + dy < n.y && z + dz < n.z;
                    for (int64_t k = 0; k < 8 && all; k++)
                        if (!(k & ~c)) all = field[((z + (k >> 2)) * n.y + y + (k >> 1 & 1)) * n.x + x + (k & 1)] < 0;
                    sum += all ? (dx + dy + dz) % 2 ? -1 : 1 : 0;
                }
    return sum;
}

static void check_pieces(const tsr_tiles *tiles)
{
    const tsr_size3 n = tsr_tiles_domain(tiles);
    const int flat = n.x == 1 || n.y == 1 || n.z == 1;
    float *field = dense(tiles);
    int64_t border, largest, found, most = 0;
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    tsr_component components[64];
    require_ok(tsr_tiles_measure(tiles, &m));
    const int64_t faces = flood(field, n, 1, 1, &border, &largest);
    require_ok(tsr_tiles_components(tiles, 6, NULL, 0, &found));
    if (m.tiles) assert_int_equal(found, faces);
    const int64_t pieces = flood(field, n, 1, 0, &border, &largest);
    assert_int_equal(m.components, faces);
    require_ok(tsr_tiles_components(tiles, 26, components, 64, &found));
    for (int64_t i = 0; i < found; i++) most = components[i].voxels > most ? components[i].voxels : most;
    if (m.tiles) assert_true(found == pieces && most == largest);
    const int64_t outer = flood(field, n, 0, 0, &border, &largest);
    assert_int_equal(m.cavities, outer - border);
    assert_int_equal(m.euler, euler_of(field, n));
    assert_int_equal(m.dimensions, flat ? 2 : 3);
    if (flat) assert_true(m.euler == faces - m.cavities && m.genus == 0);
    else assert_int_equal(m.genus, faces + m.cavities - m.euler);
    free(field);
}

static void pieces(void **unused)
{
    (void)unused;
    uint64_t random = test_seed();
    for (int i = 0; i < DOMAINS; i++)
        for (int round = on_emulator() ? 4 : 0; round < 6; round++) {
            const tsr_size3 n = domains[i].n;
            const scene s = random_scene(&random, n, 3 + 4 * round);
            tsr_tiles *a = list_of(n, unit, domains[i].edge, domains[i].index, 1.5, &s), *b;
            check_pieces(a);
            require_ok(tsr_tiles_complement(a, &b));
            check_pieces(b);
            tsr_tiles_destroy(&b);
            tsr_tiles_destroy(&a);
        }
}

/* Large constant areas: rows and slabs without a tile, on both sides of a wall, at the border and enclosed. */
static void empty_space(void **unused)
{
    (void)unused;
    static const struct {
        tsr_size3 n;
        scene s;
        int64_t components, cavities;
    } cases[] = {
        { { 120, 120, 1 },
          { { { 60, 60, 0, 55 }, { 60, 60, 0, 55 }, { 60, 60, 0, 55 }, { 0, 0, 0, 1 }, { 0, 0, 0, 1 }, { 60, 60, 0, -35 }, { 60, 60, 0, -1 } } },
          2,
          1 },
        { { 120, 120, 1 },
          { { { 60, 60, 0, 300 }, { 60, 60, 0, 300 }, { 0, 0, 0, 1 }, { 0, 0, 0, 1 }, { 0, 0, 0, 1 }, { 60, 60, 0, -45 }, { 60, 60, 0, -1 } } },
          1,
          1 },
        { { 150, 120, 1 },
          { { { -250, 60, 0, 300 }, { 400, 60, 0, 300 }, { 75, 60, 0, 8 }, { 75, 60, 0, 8 }, { 75, 60, 0, 8 }, { 0, 0, 0, -1 }, { 0, 0, 0, -1 } } },
          3,
          0 },
        { { 60, 60, 60 },
          { { { 30, 30, 30, 200 },
              { 30, 30, 30, 200 },
              { 30, 30, 30, 200 },
              { 30, 30, 30, 200 },
              { 30, 30, 30, 200 },
              { 30, 30, 30, -22 },
              { 30, 30, 30, -1 } } },
          1,
          1 },
        { { 60, 24, 60 },
          { { { 30, 30, 30, 200 },
              { 30, 30, 30, 200 },
              { 30, 30, 30, 200 },
              { 30, 30, 30, 200 },
              { 30, 30, 30, 200 },
              { 30, 0, 30, -22 },
              { 30, 0, 30, -1 } } },
          1,
          0 },
        { { 40, 40, 90 },
          { { { 20, 20, -200, 230 },
              { 20, 20, 290, 230 },
              { 20, 20, 45, 3 },
              { 20, 20, 45, 3 },
              { 20, 20, 45, 3 },
              { 0, 0, 45, -1 },
              { 0, 0, 45, -1 } } },
          3,
          0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int32_t edge = on_emulator() ? 8 : 4; edge <= 8; edge += 4) {
            tsr_tiles *a = list_of(cases[i].n, unit, edge, TSR_TILES_SORTED, 2, &cases[i].s), *b;
            tsr_tiles_measures m = TSR_TILES_MEASURES;
            check_pieces(a);
            require_ok(tsr_tiles_measure(a, &m));
            assert_int_equal(m.components, cases[i].components);
            assert_int_equal(m.cavities, cases[i].cavities);
            require_ok(tsr_tiles_complement(a, &b));
            check_pieces(b);
            tsr_tiles_destroy(&b);
            uint8_t keep[3] = { 0, 1, 0 };
            if (m.components == 3) { /* the middle one has neither absent space nor a border */
                tsr_component components[3];
                int64_t found;
                float *field;
                require_ok(tsr_tiles_components(a, 26, components, 3, &found));
                for (int k = 0; k < 3; k++) keep[k] = components[k].voxels < 1000;
                require_ok(tsr_tiles_keep(a, keep, 3, &b));
                check_invariants(b);
                check_pieces(b);
                require_ok(tsr_tiles_measure(b, &m));
                assert_int_equal(m.components, 1);
                field = dense(b);
                const int64_t middle = (cases[i].n.z / 2 * cases[i].n.y + 60 / (cases[i].n.z > 1 ? 3 : 1)) * cases[i].n.x + cases[i].n.x / 2;
                assert_true(field[middle] < 0 && field[0] == 2);
                free(field);
                tsr_tiles_destroy(&b);
            }
            tsr_tiles_destroy(&a);
        }
}

/* ---- measures against formulas -------------------------------------------------------------------------------------------------------------------- */

static void measures(void **unused)
{
    (void)unused;
    const double spacings[2][3] = { { 0.5, 0.5, 3 }, { 0.5, 0.8, 0.01 } };
    for (int i = 0; i < 2; i++) { /* a disc: the spacing across the plane counts for nothing */
        const double *h = spacings[i], r = 9;
        const tsr_size3 n = { 64, 48, 1 };
        const scene s = { { { 30.3, 24.4, 0, r },
                            { 30.3, 24.4, 0, r },
                            { 30.3, 24.4, 0, r },
                            { 30.3, 24.4, 0, r },
                            { 30.3, 24.4, 0, r },
                            { 0, 0, 0, -1 },
                            { 0, 0, 0, -1 } } };
        tsr_tiles *tiles = list_of(n, h, 8, TSR_TILES_SORTED, 2, &s);
        tsr_tiles_measures m = TSR_TILES_MEASURES;
        require_ok(tsr_tiles_measure(tiles, &m));
        print_message("disc: area %.3f (%.3f), length %.3f (%.3f), curvature %.4f (%.4f)\n", m.volume, pi * r * r, m.area, 2 * pi * r,
                      m.mean_curvature, 1 / r);
        assert_true(fabs(m.volume / (pi * r * r) - 1) < 2e-3 && fabs(m.area / (2 * pi * r) - 1) < 8e-3 && fabs(m.mean_curvature * r - 1) < 0.02);
        assert_true(fabs(m.centroid.x - 30.3 * h[0]) < 0.01 && fabs(m.centroid.y - 24.4 * h[1]) < 0.01 && fabs(m.centroid.z) < 1e-12);
        assert_true(m.components == 1 && m.cavities == 0 && m.euler == 1 && m.dimensions == 2);
        tsr_tiles_destroy(&tiles);
    }
    double sizes[3] = { 0 };
    for (int flat = 2; flat >= 0; flat--) /* whichever axis is across and however thick the slice is */
        for (int t = 0; t < 4; t++) {
            int64_t size[3] = { 41, 41, 41 };
            double h[3] = { 1, 1, 1 };
            scene s;
            size[flat] = 1;
            h[flat] = (const double[]){ 1, 0.5, 2, 7 }[t];
            for (int i = 0; i < SPHERES; i++)
                for (int k = 0; k < 4; k++) s.at[i][k] = k == 3 ? i < SPHERES - 2 ? 10 : -1 : i < SPHERES - 2 ? 20 : -50;
            tsr_tiles *tiles = list_of((tsr_size3){ size[0], size[1], size[2] }, h, 8, TSR_TILES_SORTED, 3, &s);
            tsr_tiles_measures m = TSR_TILES_MEASURES;
            require_ok(tsr_tiles_measure(tiles, &m));
            const double found[3] = { m.volume, m.area, m.mean_curvature };
            if (flat == 2 && t == 0) memcpy(sizes, found, sizeof sizes);
            for (int k = 0; k < 3; k++) assert_true(fabs(found[k] / sizes[k] - 1) < 1e-6);
            assert_true(fabs(m.area / (20 * pi) - 1) < 1e-3 && fabs(m.volume / (100 * pi) - 1) < 1e-3 && m.dimensions == 2);
            tsr_tiles_destroy(&tiles);
        }
    /* half a plane: the border is no surface, and the inside without tiles counts */
    const tsr_size3 n = { 128, 96, 1 };
    scene s = { { { -1e6, 48, 0, 1e6 + 60.5 },
                  { -1e6, 48, 0, 1e6 + 60.5 },
                  { -1e6, 48, 0, 9 },
                  { -1e6, 48, 0, 9 },
                  { -1e6, 48, 0, 9 },
                  { -1e6, 0, 0, -1 },
                  { -1e6, 0, 0, -1 } } };
    for (int32_t edge = 4; edge <= 8; edge += 4) {
        tsr_tiles *tiles = list_of(n, unit, edge, TSR_TILES_SORTED, 3, &s), *all, *other;
        tsr_tiles_measures m = TSR_TILES_MEASURES;
        require_ok(tsr_tiles_measure(tiles, &m));
        print_message("half a plane: area %.3f (5856), length %.3f (96), curvature %.5f, centre (%.3f, %.3f)\n", m.volume, m.area, m.mean_curvature,
                      m.centroid.x, m.centroid.y);
        assert_true(fabs(m.volume - 61 * 96) < 1 && fabs(m.area / 96 - 1) < 0.05 && fabs(m.mean_curvature) < 1e-3);
        assert_true(fabs(m.centroid.x - 30) < 0.05 && fabs(m.centroid.y - 47.5) < 1e-3 && m.components == 1 && m.euler == 1);
        require_ok(tsr_tiles_complement(tiles, &other));
        require_ok(tsr_tiles_measure(other, &m));
        assert_true(fabs(m.volume - 67 * 96) < 1 && fabs(m.centroid.x - 94) < 0.05 && m.components == 1 && m.cavities == 0);
        require_ok(tsr_tiles_combine(tiles, other, TSR_CSG_UNION, 0, &all)); /* the field has no zero on a voxel: nothing is left over */
        require_ok(tsr_tiles_measure(all, &m));
        assert_true(m.tiles == 0 && m.volume == 128 * 96 && m.components == 1 && m.euler == 1 && m.centroid.x == 63.5);
        tsr_tiles_destroy(&all);
        tsr_tiles_destroy(&other);
        tsr_tiles_destroy(&tiles);
    }
}

/* ---- morph ----------------------------------------------------------------------------------------------------------------------------------------- */

/* Between two discs round one point lie discs; between a disc and one elsewhere the first frame is the first and the last the second. */
static void morphs(void **unused)
{
    (void)unused;
    const tsr_size3 n = { 64, 60, 1 };
    const scene sa = {
        { { 30, 30, 0, 6 }, { 30, 30, 0, 6 }, { 30, 30, 0, 6 }, { 30, 30, 0, 6 }, { 30, 30, 0, 6 }, { -99, 0, 0, -1 }, { -99, 0, 0, -1 } }
    };
    const scene sb = {
        { { 30, 30, 0, 18 }, { 30, 30, 0, 18 }, { 30, 30, 0, 18 }, { 30, 30, 0, 18 }, { 30, 30, 0, 18 }, { -99, 0, 0, -1 }, { -99, 0, 0, -1 } }
    };
    tsr_tiles *a = list_of(n, unit, 8, TSR_TILES_SORTED, 3, &sa), *b = list_of(n, unit, 8, TSR_TILES_PAGED, 3, &sb), *between[3];
    const double t[3] = { 0, 0.5, 1 }, radius[3] = { 6, 12, 18 };
    tsr_morph_options options = TSR_MORPH_OPTIONS;
    require_ok(tsr_tiles_morph(a, b, t, 3, &options, NULL, between));
    for (int i = 0; i < 3; i++) {
        tsr_tiles_measures m = TSR_TILES_MEASURES;
        check_invariants(between[i]);
        require_ok(tsr_tiles_measure(between[i], &m));
        print_message("morph at %.1f: radius %.3f (%.0f)\n", t[i], sqrt(m.volume / pi), radius[i]);
        assert_true(fabs(sqrt(m.volume / pi) - radius[i]) < 0.15 && m.components == 1 && m.dimensions == 2);
        tsr_tiles_destroy(&between[i]);
    }
    const double times[2] = { 2, 40 };
    options.method = TSR_MORPH_EVOLVE;
    options.draft = 1;
    require_ok(tsr_tiles_morph(a, b, times, 2, &options, NULL, between));
    tsr_tiles_measures m[2] = { TSR_TILES_MEASURES, TSR_TILES_MEASURES };
    for (int i = 0; i < 2; i++) {
        require_ok(tsr_tiles_measure(between[i], &m[i]));
        tsr_tiles_destroy(&between[i]);
    }
    print_message("evolution: radius %.3f, then %.3f\n", sqrt(m[0].volume / pi), sqrt(m[1].volume / pi));
    assert_true(m[0].volume > pi * 49 && m[0].volume < m[1].volume && fabs(sqrt(m[1].volume / pi) - 18) < 0.3);
    tsr_tiles_destroy(&a);
    tsr_tiles_destroy(&b);
}

/* Between two straight fronts D pixels apart the front stands at D t: a field clamped before it reaches the other one would bend its way. */
static void fronts(void **unused)
{
    (void)unused;
    enum { FRAMES = 5 };
    const int slow = test_is_slow(), frames = slow ? 3 : FRAMES, distance = slow ? 40 : 90;
    const tsr_size3 n = { distance + 60, slow ? 8 : 12, 1 };
    const tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles *ends[2], *between[FRAMES];
    double t[FRAMES];
    options.domain = n;
    options.band = 3;
    for (int i = 0; i < 2; i++) {
        tsr_volume *host, *field;
        require_ok(tsr_volume_create(NULL, TSR_F32, n, &geometry, &host));
        float *v = (float *)tsr_volume_data(host);
        for (int64_t k = 0; k < n.x * n.y; k++) v[k] = (float)(k % n.x) - 20.25f - (float)(distance * i);
        require_ok(tsr_volume_copy(host, context, &field));
        require_ok(tsr_tiles_create(context, &geometry, &options, &ends[i]));
        require_ok(tsr_tiles_load(ends[i], field));
        tsr_volume_destroy(&field);
        tsr_volume_destroy(&host);
    }
    for (int i = 0; i < frames; i++) t[i] = (double)i / (frames - 1);
    for (int back = 0; back < (slow ? 1 : 2); back++) {
        require_ok(tsr_tiles_morph(ends[back], ends[!back], t, frames, NULL, NULL, between));
        for (int i = 0; i < frames; i++) {
            const double expected = 20.25 + distance * (back ? 1 - t[i] : t[i]);
            const int64_t x = (int64_t)expected; /* the last pixel inside, but where the front goes through a pixel */
            float *f = dense(between[i]);
            check_invariants(between[i]);
            for (int64_t y = 0; y < n.y; y++) {
                const float *row = f + y * n.x;
                assert_true(fabs((double)row[x] - ((double)x - expected)) < 0.05 && fabs((double)row[x + 1] - ((double)x + 1 - expected)) < 0.05);
            }
            free(f);
            tsr_tiles_destroy(&between[i]);
        }
    }
    tsr_tiles_destroy(&ends[0]);
    tsr_tiles_destroy(&ends[1]);
}

/* The band of a plane does not know how thick its slice is. */
static void bands(void **unused)
{
    (void)unused;
    static const struct {
        tsr_size3 domain;
        double spacing[3], band;
    } cases[] = {
        { { 20, 20, 1 }, { 0.5, 0.5, 5 }, 1.25 }, { { 20, 20, 9 }, { 0.5, 0.5, 5 }, 10 },   { { 20, 20, 1 }, { 0.5, 0.5, 0.01 }, 1.25 },
        { { 1, 20, 20 }, { 0.125, 0.5, 1 }, 2 },  { { 20, 1, 20 }, { 0.5, 9, 0.5 }, 1.25 }, { { 1, 1, 1 }, { 1, 1, 1 }, 2.5 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double *h = cases[i].spacing;
        const tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ h[0], h[1], h[2] }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
        tsr_tiles_options options = TSR_TILES_OPTIONS;
        tsr_tiles_info info = TSR_TILES_INFO;
        tsr_tiles *tiles;
        options.domain = cases[i].domain;
        require_ok(tsr_tiles_create(context, &geometry, &options, &tiles));
        require_ok(tsr_tiles_describe(tiles, &info));
        assert_true(info.band == cases[i].band);
        tsr_tiles_destroy(&tiles);
    }
}

/* ---- refusals --------------------------------------------------------------------------------------------------------------------------------------- */

static void refusals(void **unused)
{
    (void)unused;
    const scene s = { { { 10, 10, 0, 6 } } };
    tsr_tiles *a = list_of((tsr_size3){ 30, 30, 1 }, unit, 8, TSR_TILES_SORTED, 3, &s), *b, *c;
    b = list_of((tsr_size3){ 30, 31, 1 }, unit, 8, TSR_TILES_SORTED, 3, &s);
    require_error(tsr_tiles_combine(a, b, TSR_CSG_UNION, 0, &c), TSR_ERROR_ARGUMENT, "domain: 30 x 30 x 1 and 30 x 31 x 1 voxels");
    tsr_tiles_destroy(&b);
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    options.band = 3;
    require_ok(tsr_tiles_shape(context, NULL, &options, &(tsr_shape){ .radius = 5 }, &b));
    require_error(tsr_tiles_combine(a, b, TSR_CSG_UNION, 0, &c), TSR_ERROR_ARGUMENT, "domain: the first operand has one and the other has not");
    require_error(tsr_tiles_combine(b, a, TSR_CSG_UNION, 0, &c), TSR_ERROR_ARGUMENT, "domain: the second operand has one");
    const double t = 0.5;
    require_error(tsr_tiles_morph(b, a, &t, 1, NULL, NULL, &c), TSR_ERROR_ARGUMENT, "domain: the second operand");
    require_error(tsr_tiles_translate(a, 1, 0, 0, &c), TSR_ERROR_UNSUPPORTED, "translation: a tile list with a domain");
    require_error(tsr_tiles_transform(a, &(tsr_motion){ .shift = { 1, 0, 0 } }, &c), TSR_ERROR_UNSUPPORTED, "motion: a tile list with a domain");
    require_error(tsr_tiles_disconnect(a, &(tsr_box){ { 0, 0, 0 }, { 9, 9, 9 } }, 0, &c), TSR_ERROR_UNSUPPORTED, "a tile list with a domain");
    assert_null(c);
    tsr_tiles_destroy(&a);
    tsr_tiles_destroy(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(fields_combine), cmocka_unit_test(complement_of_zeros), cmocka_unit_test(beyond_the_domain),
                                        cmocka_unit_test(pieces),         cmocka_unit_test(empty_space),
                                        cmocka_unit_test(measures),       cmocka_unit_test(morphs),
                                        cmocka_unit_test(fronts),         cmocka_unit_test(bands),
                                        cmocka_unit_test(refusals) };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
