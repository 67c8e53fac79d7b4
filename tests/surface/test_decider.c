/* The asymptotic decider (TSR_SURFACE_DECIDE) on fields where most faces are ambiguous. Oracle: marching cubes in integers, one cell at a time, with
 * the saddle of every face as a fraction and triangles by the rule of case_rule.h; nothing of src/surface is used. */
#include "support.h"

#include <math.h>

#include "case_rule.h"
#include "device/isa.h"

enum { NAN_VALUE = 1 << 30 };

/* ---- fields of integers, in sixteenths ---------------------------------------------------------------------------------------------------- */

typedef struct field {
    tsr_size3 n;
    int32_t *value; /* of sixteenths; NAN_VALUE: not a number */
} field;
enum { FIELD_NOISE, FIELD_TIES, FIELD_CHECKERS, FIELD_HOLES, FIELDS };

/* Noise without ties; noise of few values, so that samples and saddles lie on the isovalue; alternating sides, every face ambiguous; noise with NaN. */
static field make_field(tsr_size3 n, int kind, uint64_t seed)
{
    field f = { n, (int32_t *)malloc((size_t)(n.x * n.y * n.z) * sizeof(int32_t)) };
    assert_non_null(f.value);
    for (int64_t v = 0; v < n.x * n.y * n.z; v++) {
        const int64_t parity = (v % n.x + v / n.x % n.y + v / n.x / n.y) & 1;
        const int32_t some = 1 + 2 * (int32_t)(test_random(&seed) % 100003);
        f.value[v] = kind == FIELD_TIES       ? 16 * (int32_t)(test_random(&seed) % 5)
                     : kind == FIELD_CHECKERS ? (parity ? -some : some)
                                              : some - 100003 + (int32_t)(test_random(&seed) % 2) * 2;
        if (kind == FIELD_HOLES && test_random(&seed) % 11 == 0) f.value[v] = NAN_VALUE;
    }
    return f;
}

static tsr_volume *put(tsr_context *context, const field *f, int sign, const tsr_geometry *geometry)
{
    tsr_volume *host, *volume;
    require_ok(tsr_volume_create(NULL, TSR_F32, f->n, geometry, &host));
    float *to = (float *)tsr_volume_data(host);
    for (int64_t v = 0; v < f->n.x * f->n.y * f->n.z; v++) to[v] = f->value[v] == NAN_VALUE ? NAN : (float)(sign * f->value[v]) / 16;
    require_ok(tsr_volume_copy(host, context, &volume));
    tsr_volume_destroy(&host);
    return volume;
}

static tsr_mesh *extract(tsr_context *context, const tsr_volume *volume, const tsr_surface_options *options)
{
    tsr_mesh *mesh, *host;
    require_ok(tsr_surface_extract(context, volume, options, &mesh, NULL));
    require_ok(tsr_mesh_copy(mesh, NULL, &host));
    tsr_mesh_destroy(&mesh);
    return host;
}

/* ---- the oracle ----------------------------------------------------------------------------------------------------------------------------- */

typedef struct oracle {
    uint32_t *triangles;
    int64_t count, vertices, ambiguous, joined, ties, most;
} oracle;

/* Do the inside corners of the face hold together? Its corners in turn; the saddle is (v0 v2 - v1 v3) / (v0 + v2 - v1 - v3). */
static int saddle_inside(const int64_t v[4], int64_t iso, int below, oracle *o)
{
    for (int k = 0; k < 4; k++)
        if (v[k] == NAN_VALUE) return 0;
    int64_t above = v[0] * v[2] - v[1] * v[3], under = v[0] + v[2] - v[1] - v[3];
    assert_true(under != 0);
    if (under < 0) {
        above = -above;
        under = -under;
    }
    o->ties += above == iso * under;
    return below ? above < iso * under : above >= iso * under;
}

static oracle march(const field *f, int64_t iso, int below, int mirrored)
{
    const tsr_size3 n = f->n;
    const int64_t count = n.x * n.y * n.z, step[3] = { 1, n.x, n.x * n.y };
    oracle o = { (uint32_t *)malloc((size_t)count * 10 * 3 * sizeof(uint32_t)), 0, 0, 0, 0, 0, 0 };
    uint32_t *number = (uint32_t *)malloc((size_t)count * 3 * sizeof *number);
    uint8_t *inside = (uint8_t *)malloc((size_t)count);
    assert_true(o.triangles && number && inside);
    for (int64_t v = 0; v < count; v++) inside[v] = f->value[v] != NAN_VALUE && (below ? f->value[v] < iso : f->value[v] >= iso);
    for (int64_t v = 0; v < count; v++)
        for (int axis = 0; axis < 3; axis++) {
            const int64_t at = v / step[axis] % (axis == 0 ? n.x : axis == 1 ? n.y : n.z), end = axis == 0 ? n.x : axis == 1 ? n.y : n.z;
            if (at + 1 < end && inside[v] != inside[v + step[axis]]) number[3 * v + axis] = (uint32_t)o.vertices++;
        }
    for (int64_t v = 0; v < count; v++) {
        if (v % n.x + 1 >= n.x || v / n.x % n.y + 1 >= n.y || v / n.x / n.y + 1 >= n.z) continue;
        int code = 0, joined = 0;
        int64_t corner[8];
        uint8_t edges[36];
        for (int c = 0; c < 8; c++) {
            corner[c] = v + (c & 1) + (c >> 1 & 1) * step[1] + (c >> 2) * step[2];
            code |= inside[corner[c]] << c;
        }
        for (int face = 0; face < 6; face++) {
            static const int turn[3][4] = { { 0, 2, 6, 4 }, { 0, 1, 5, 4 }, { 0, 1, 3, 2 } };
            int64_t value[4];
            int sides = 0;
            for (int k = 0; k < 4; k++) {
                const int c = turn[face >> 1][k] | (face & 1) << (face >> 1);
                value[k] = f->value[corner[c]];
                sides |= (code >> c & 1) << k;
            }
            if (sides != 5 && sides != 10) continue;
            const int yes = saddle_inside(value, iso, below, &o);
            o.ambiguous++;
            o.joined += yes;
            joined |= yes << face;
        }
        const int indices = decided_row(code, joined, edges);
        assert_true(indices >= 0);
        if (indices / 3 > o.most) o.most = indices / 3;
        for (int k = 0; k < indices; k++) {
            const int m = mirrored ? k - k % 3 + (3 - k % 3) % 3 : k; /* the last two corners change places */
            int p, q;
            edge_corners(edges[m], &p, &q);
            o.triangles[3 * o.count + k] = number[3 * corner[p] + ((p ^ q) >> 1)];
        }
        o.count += indices / 3;
    }
    free(number);
    free(inside);
    return o;
}

static tsr_mesh_measures measure(const tsr_mesh *mesh)
{
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    require_ok(tsr_mesh_measure(mesh, &m));
    assert_int_equal(m.nonmanifold_edges, 0);
    assert_int_equal(m.misoriented_edges, 0);
    return m;
}

/* ---- tests ---------------------------------------------------------------------------------------------------------------------------------- */

static const tsr_size3 SIZES[2] = { { 37, 15, 11 }, { 66, 5, 9 } };

/* The same triangles in the same order as the oracle, with every SIMD variant; closed inside the volume and, capped, everywhere. */
static void like_the_oracle(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    for (int kind = 0; kind < FIELDS; kind++)
        for (int below = 0; below < 2; below++) {
            const tsr_size3 n = SIZES[below];
            const int mirrored = kind & 1;
            const tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ 0.5, 1.25, mirrored ? -2 : 2 }, (tsr_vec3){ 3, 5, 7 }, TSR_SPACE_RAS);
            field f = make_field(n, kind, test_random(&seed));
            tsr_volume *volume = put(context, &f, 1, &geometry);
            tsr_surface_options options = TSR_SURFACE_OPTIONS;
            const int64_t iso = kind == FIELD_TIES ? 32 : 0;
            oracle o = march(&f, iso, below, mirrored);
            options.isovalue = (double)iso / 16;
            options.inside = below ? TSR_SURFACE_INSIDE_BELOW : TSR_SURFACE_INSIDE_ABOVE;
            options.ambiguity = TSR_SURFACE_DECIDE;
            assert_true(o.ambiguous > 500 && o.joined > o.ambiguous / 10 && o.joined < o.ambiguous * 9 / 10);
            assert_int_equal(o.ties > 0, kind == FIELD_TIES);
            if (kind == FIELD_CHECKERS) assert_int_equal(o.most, 10);
            for (int isa = TSR_ISA_BASE; isa < TSR_ISA_COUNT; isa++) {
                tsr_isa_force(isa);
                tsr_mesh *mesh = extract(context, volume, &options);
                tsr_isa_force(-1);
                assert_int_equal(tsr_mesh_vertex_count(mesh), o.vertices);
                assert_int_equal(tsr_mesh_triangle_count(mesh), o.count);
                assert_memory_equal(tsr_mesh_triangles_const(mesh), o.triangles, (size_t)o.count * 12);
                if (isa == TSR_ISA_BASE) measure(mesh);
                tsr_mesh_destroy(&mesh);
            }
            options.close = 1;
            tsr_mesh *closed = extract(context, volume, &options);
            tsr_mesh_measures m = measure(closed);
            assert_int_equal(m.boundary_edges, 0);
            assert_true(m.volume > 0);
            tsr_mesh_destroy(&closed);
            tsr_volume_destroy(&volume);
            free(o.triangles);
            free(f.value);
        }
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
    tsr_context_destroy(&context);
}

/* Positive negative, with the other side inside: the same mesh, bit for bit. Inside outside: the same lines on all faces, so the same pieces, genus and
 * number of triangles, the other way round. No ties here. */
static void symmetric(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    for (int kind = FIELD_NOISE; kind <= FIELD_CHECKERS; kind += FIELD_CHECKERS - FIELD_NOISE) {
        field f = make_field(SIZES[0], kind, test_random(&seed));
        tsr_volume *volume = put(context, &f, 1, NULL), *negative = put(context, &f, -1, NULL);
        tsr_surface_options options = TSR_SURFACE_OPTIONS;
        options.ambiguity = TSR_SURFACE_DECIDE;
        tsr_mesh *above = extract(context, volume, &options);
        options.inside = TSR_SURFACE_INSIDE_BELOW;
        tsr_mesh *negated = extract(context, negative, &options), *below = extract(context, volume, &options);
        const size_t vertices = (size_t)tsr_mesh_vertex_count(above), triangles = (size_t)tsr_mesh_triangle_count(above);
        assert_int_equal(tsr_mesh_vertex_count(negated), vertices);
        assert_int_equal(tsr_mesh_triangle_count(negated), triangles);
        assert_memory_equal(tsr_mesh_vertices_const(above), tsr_mesh_vertices_const(negated), vertices * 12);
        assert_memory_equal(tsr_mesh_triangles_const(above), tsr_mesh_triangles_const(negated), triangles * 12);
        assert_int_equal(tsr_mesh_triangle_count(below), triangles);
        assert_memory_equal(tsr_mesh_vertices_const(above), tsr_mesh_vertices_const(below), vertices * 12);
        tsr_mesh_measures a = measure(above), b = measure(below);
        assert_int_equal(a.components, b.components);
        assert_int_equal(a.euler, b.euler);
        assert_int_equal(a.boundary_edges, b.boundary_edges);
        for (int side = 0; side < 2; side++) { /* which neither plain rule is */
            options.ambiguity = side ? TSR_SURFACE_SEPARATE_OUTSIDE : TSR_SURFACE_SEPARATE_INSIDE;
            tsr_mesh *plain = extract(context, volume, &options);
            assert_true((size_t)tsr_mesh_triangle_count(plain) != triangles);
            tsr_mesh_destroy(&plain);
        }
        tsr_mesh_destroy(&above);
        tsr_mesh_destroy(&below);
        tsr_mesh_destroy(&negated);
        tsr_volume_destroy(&volume);
        tsr_volume_destroy(&negative);
        free(f.value);
    }
    tsr_context_destroy(&context);
}

/* Two inside corners on the diagonal of a face: p q against the other two r s, inside above 0. Also where products leave the range of float64. */
static void one_face(void **state)
{
    (void)state;
    static const struct {
        double p, q, r, s;
        int joined;
    } cases[] = { { 3, 3, -2, -2, 1 },
                  { 2, 2, -3, -3, 0 },
                  { 1, 8, -2, -4, 1 },
                  { 1, 7.99, -2, -4, 0 },
                  { 1e200, 3, -2, -1e199, 1 },
                  { 1e300, 1e300, -2e300, -1e300, 0 },
                  { 1e-200, 3e-200, -2e-200, -1e-200, 1 },
                  { 1e-320, 1e-320, -2e-320, -1e-320, 0 },
                  { INFINITY, 5, -1, -1, 0 },
                  { 5, 5, -INFINITY, -1, 0 },
                  { 5, 5, NAN, -1, 0 } };
    tsr_context *context = test_context();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int turn = 0; turn < 6; turn++) { /* which plane the face lies in, and whether its other diagonal is inside */
            double f[64];
            const int axis = turn % 3, step[3] = { 1, 4, 16 }, u = step[(axis + 1) % 3], v = step[(axis + 2) % 3], first = 21;
            tsr_volume *host, *volume;
            tsr_surface_options options = TSR_SURFACE_OPTIONS;
            const double tiny = cases[k].p < 1e-100 ? 1e-321 : 1; /* outside, all around */
            for (int i = 0; i < 64; i++) f[i] = -tiny;
            const int d[4] = { first, first + u + v, first + u, first + v }, swap = turn >= 3 ? 2 : 0;
            f[d[0 ^ swap]] = cases[k].p;
            f[d[1 ^ swap]] = cases[k].q;
            f[d[2 ^ swap]] = cases[k].r;
            f[d[3 ^ swap]] = cases[k].s;
            require_ok(tsr_volume_create(NULL, TSR_F64, (tsr_size3){ 4, 4, 4 }, NULL, &host));
            memcpy(tsr_volume_data(host), f, sizeof f);
            require_ok(tsr_volume_copy(host, context, &volume));
            options.ambiguity = TSR_SURFACE_DECIDE;
            tsr_mesh *mesh = extract(context, volume, &options);
            tsr_mesh_measures m = measure(mesh);
            assert_int_equal(m.boundary_edges, 0);
            assert_int_equal(m.components, cases[k].joined ? 1 : 2);
            tsr_mesh_destroy(&mesh);
            tsr_volume_destroy(&host);
            tsr_volume_destroy(&volume);
        }
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(like_the_oracle), cmocka_unit_test(symmetric), cmocka_unit_test(one_face) };
    return cmocka_run_group_tests_name("asymptotic decider", tests, NULL, NULL);
}
