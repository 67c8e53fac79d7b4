/* Octrees of triangles and surface voxels against triangles clipped by boxes, recursion from above, and rays that meet triangles. */
#include <math.h>

#include "device/backend.h"
#include "support.h"

enum { MOST = 24 * 24 * 24, TRIANGLES = 60 };

typedef struct scene {
    tsr_mesh *host, *mesh;
    tsr_size3 size;
    tsr_geometry geometry;
    double corner[TRIANGLES][3][3]; /* in cells: voxel i covers i to i + 1 */
    int triangles;
} scene;

/* Lattice coordinates to the mesh's world: `skew` gives an oblique, mirrored lattice. */
static scene make_scene(tsr_context *context, tsr_size3 size, int triangles, int skew, uint64_t *seed)
{
    scene s = { .size = size, .triangles = triangles };
    s.geometry = skew ? (tsr_geometry){ .affine = { { 0, -2, 0, 5 }, { 1, 0, 0.5, -7 }, { 0, 0.25, 1.5, 1 } }, .space = TSR_SPACE_LPS }
                      : tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    require_ok(tsr_mesh_create(NULL, 3 * triangles, triangles, 0, &s.host));
    const double n[3] = { (double)size.x, (double)size.y, (double)size.z };
    for (int t = 0; t < triangles; t++) {
        const double reach = t % 4 == 0 ? 1 : t % 4 == 1 ? 0.3 : 0.1;
        double centre[3];
        for (int k = 0; k < 3; k++) centre[k] = n[k] * (test_uniform(seed) * 1.1 - 0.05);
        for (int c = 0; c < 3; c++) {
            double p[3];
            for (int k = 0; k < 3; k++) {
                p[k] = centre[k] + n[k] * reach * (test_uniform(seed) - 0.5);
                if (t % 7 == 3) p[k] = floor(p[k]);                               /* corners on corners of voxels */
                if (t % 7 == 5 && k == t % 3) p[k] = floor(centre[k]) + 0.5;      /* in a plane of centres */
                if (t % 11 == 8) p[k] = centre[k] + (c == 2 ? 1 : c) * (k + 0.5); /* a line */
            }
            const tsr_vec3 w = tsr_geometry_to_world(&s.geometry, (tsr_vec3){ p[0] - 0.5, p[1] - 0.5, p[2] - 0.5 });
            float *v = tsr_mesh_vertices(s.host) + 9 * t + 3 * c;
            v[0] = (float)w.x;
            v[1] = (float)w.y;
            v[2] = (float)w.z;
            tsr_vec3 at; /* after rounding */
            require_ok(tsr_geometry_to_index(&s.geometry, (tsr_vec3){ v[0], v[1], v[2] }, &at));
            s.corner[t][c][0] = at.x + 0.5;
            s.corner[t][c][1] = at.y + 0.5;
            s.corner[t][c][2] = at.z + 0.5;
            tsr_mesh_triangles(s.host)[3 * t + c] = (uint32_t)(3 * t + c);
        }
    }
    require_ok(tsr_mesh_copy(s.host, context, &s.mesh));
    return s;
}
static void drop_scene(scene *s)
{
    tsr_mesh_destroy(&s->host);
    tsr_mesh_destroy(&s->mesh);
}

/* Is anything left of the triangle between lower - grow and lower + side + grow? Polygon clipping, plane by plane. */
static int clipped(const double corner[3][3], const double lower[3], double side, double grow)
{
    double polygon[16][3], next[16][3];
    int count = 3;
    memcpy(polygon, corner, 9 * sizeof(double));
    for (int plane = 0; plane < 6 && count; plane++) {
        const int k = plane / 2, up = plane % 2;
        const double limit = up ? lower[k] + side + grow : lower[k] - grow;
        int kept = 0;
        for (int i = 0; i < count; i++) {
            const double *a = polygon[i], *b = polygon[(i + 1) % count];
            const double da = up ? limit - a[k] : a[k] - limit, db = up ? limit - b[k] : b[k] - limit;
            if (da >= 0) memcpy(next[kept++], a, 3 * sizeof(double));
            if ((da > 0 && db < 0) || (da < 0 && db > 0)) {
                for (int m = 0; m < 3; m++) next[kept][m] = a[m] + da / (da - db) * (b[m] - a[m]);
                next[kept++][k] = limit;
            }
        }
        memcpy(polygon, next, sizeof polygon);
        count = kept;
    }
    return count > 0;
}

typedef struct answer {
    tsr_region_tree *device, *tree;
    tsr_region_info info;
    uint64_t *starts;
    uint32_t *triangles;
    int64_t pairs;
} answer;

static answer ask(tsr_context *context, const scene *s, const tsr_triangle_tree_options *o)
{
    answer a;
    tsr_triangle_lists lists;
    require_ok(tsr_region_tree_from_triangles(context, s->mesh, s->size, &s->geometry, o, &a.device, &lists));
    require_ok(tsr_region_tree_copy(a.device, NULL, &a.tree));
    a.info = *tsr_region_tree_describe(a.tree);
    assert_int_equal(lists.leaves, a.info.leaves);
    a.pairs = lists.pairs;
    a.starts = malloc((size_t)(lists.leaves + 1) * 8);
    a.triangles = malloc((size_t)lists.pairs * 4 + 4);
    require_ok(tsr_device_move(NULL, a.starts, context, lists.starts, (size_t)(lists.leaves + 1) * 8));
    if (lists.pairs) require_ok(tsr_device_move(NULL, a.triangles, context, lists.triangles, (size_t)lists.pairs * 4));
    assert_true(a.starts[0] == 0 && a.starts[lists.leaves] == (uint64_t)lists.pairs);
    for (int64_t l = 0; l < lists.leaves; l++) {
        assert_true(a.starts[l] < a.starts[l + 1]);
        for (uint64_t k = a.starts[l] + 1; k < a.starts[l + 1]; k++) assert_true(a.triangles[k] > a.triangles[k - 1]);
    }
    tsr_triangle_lists_destroy(&lists);
    return a;
}
static void drop(answer *a)
{
    tsr_region_tree_destroy(&a->device);
    tsr_region_tree_destroy(&a->tree);
    free(a->starts);
    free(a->triangles);
}

/* Which triangles the voxels hold, from the answer for voxels. */
static uint8_t (*voxel_holds(const answer *a))[TRIANGLES]
{
    uint8_t(*holds)[TRIANGLES] = calloc(MOST, TRIANGLES);
    for (int64_t l = 0; l < a->info.leaves; l++) {
        const tsr_region_leaf q = tsr_region_leaf_of(tsr_region_tree_leaves(a->tree)[l], 3);
        assert_int_equal(q.side, 1);
        for (uint64_t k = a->starts[l]; k < a->starts[l + 1]; k++) holds[(q.z * a->info.size.y + q.y) * a->info.size.x + q.x][a->triangles[k]] = 1;
    }
    return holds;
}

static void surface_voxels(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    const tsr_size3 sizes[] = { { 16, 16, 16 }, { 13, 24, 9 }, { 24, 3, 1 }, { 1, 1, 1 } };
    int64_t sure = 0, unsure = 0;
    for (int round = 0; round < (test_is_slow() ? 4 : 8); round++) {
        scene s = make_scene(context, sizes[round % 4], TRIANGLES, round / 2 % 2, &seed);
        tsr_triangle_tree_options o = TSR_TRIANGLE_TREE_OPTIONS;
        o.voxels = 1;
        answer a = ask(context, &s, &o);
        uint8_t(*holds)[TRIANGLES] = voxel_holds(&a);
        o.centres = 1;
        answer c = ask(context, &s, &o);
        uint8_t(*centred)[TRIANGLES] = voxel_holds(&c);
        for (int64_t v = 0; v < s.size.x * s.size.y * s.size.z; v++) {
            const double lower[3] = { (double)(v % s.size.x), (double)(v / s.size.x % s.size.y), (double)(v / s.size.x / s.size.y) };
            for (int t = 0; t < TRIANGLES; t++) {
                if (clipped(s.corner[t], lower, 1, -1e-6)) {
                    if (!holds[v][t]) fail_msg("voxel %d misses triangle %d", (int)v, t);
                    sure++;
                } else if (holds[v][t]) {
                    if (!clipped(s.corner[t], lower, 1, 1e-6)) fail_msg("voxel %d holds triangle %d", (int)v, t);
                    unsure++;
                }
                /* slice by slice: the line through the centre */
                const double *p = s.corner[t][0], *q = s.corner[t][1], *r = s.corner[t][2];
                const double d = (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]), x = lower[0] + 0.5 - p[0], y = lower[1] + 0.5 - p[1];
                const double b1 = (x * (r[1] - p[1]) - y * (r[0] - p[0])) / d, b2 = ((q[0] - p[0]) * y - (q[1] - p[1]) * x) / d;
                const double z = p[2] + b1 * (q[2] - p[2]) + b2 * (r[2] - p[2]) - lower[2], least = fmin(b1, fmin(b2, 1 - b1 - b2));
                const int hit = fabs(d) > 1e-3 && least > 1e-6 && z > 1e-6 && z < 1 - 1e-6, miss = !(least > -1e-6 && z > -1e-6 && z < 1 + 1e-6);
                if (hit && !centred[v][t]) fail_msg("round %d voxel %d triangle %d: %g %g z %g d %g", round, (int)v, t, b1, b2, z, d);
                if (miss && fabs(d) > 1e-3) assert_false(centred[v][t]);
                assert_true(!centred[v][t] || holds[v][t]);
            }
        }
        free(holds);
        free(centred);
        drop(&a);
        drop(&c);
        drop_scene(&s);
    }
    assert_true(sure > 500 && unsure < sure / 2);
    tsr_context_destroy(&context);
}

/* ---- refinement ----------------------------------------------------------------------------------------------------------------------------- */

struct walk {
    const answer *a;
    const scene *s;
    uint8_t (*holds)[TRIANGLES];
    int most;
    int64_t leaf;
};
static int held(const struct walk *w, int64_t x, int64_t y, int64_t z, int64_t side, uint8_t has[TRIANGLES])
{
    int count = 0;
    memset(has, 0, TRIANGLES);
    for (int64_t k = z; k < z + side && k < w->s->size.z; k++)
        for (int64_t j = y; j < y + side && j < w->s->size.y; j++)
            for (int64_t i = x; i < x + side && i < w->s->size.x; i++)
                for (int t = 0; t < TRIANGLES; t++) has[t] |= w->holds[(k * w->s->size.y + j) * w->s->size.x + i][t];
    for (int t = 0; t < TRIANGLES; t++) count += has[t];
    return count;
}
static void descend(struct walk *w, int64_t x, int64_t y, int64_t z, int64_t side)
{
    uint8_t has[TRIANGLES];
    const int count = held(w, x, y, z, side, has), within = x + side <= w->s->size.x && y + side <= w->s->size.y && z + side <= w->s->size.z;
    if (!count) return;
    if (side == 1 || (within && count <= w->most)) {
        assert_true(w->leaf < w->a->info.leaves);
        const tsr_region_leaf q = tsr_region_leaf_of(tsr_region_tree_leaves(w->a->tree)[w->leaf], 3);
        if (q.x != x || q.y != y || q.z != z || q.side != side)
            fail_msg("leaf %d: side %d at %d %d %d, expected side %d at %d %d %d", (int)w->leaf, (int)q.side, (int)q.x, (int)q.y, (int)q.z, (int)side,
                     (int)x, (int)y, (int)z);
        assert_int_equal(w->a->starts[w->leaf + 1] - w->a->starts[w->leaf], count);
        for (uint64_t k = w->a->starts[w->leaf]; k < w->a->starts[w->leaf + 1]; k++) assert_true(has[w->a->triangles[k]]);
        w->leaf++;
        return;
    }
    for (int c = 0; c < 8; c++) descend(w, x + (c & 1) * side / 2, y + (c >> 1 & 1) * side / 2, z + (c >> 2) * side / 2, side / 2);
}

static double determinant(const double a[3], const double b[3], const double c[3])
{
    return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

/* Does the ray meet triangle t, and within the lattice? */
static int meets(const scene *s, const tsr_region_ray *ray, uint32_t t, double *distance)
{
    double e1[3], e2[3], to[3], minus[3];
    for (int k = 0; k < 3; k++) {
        e1[k] = s->corner[t][1][k] - s->corner[t][0][k];
        e2[k] = s->corner[t][2][k] - s->corner[t][0][k];
        to[k] = ray->origin[k] - s->corner[t][0][k];
        minus[k] = -ray->direction[k];
    }
    const double d = determinant(e1, e2, minus), b1 = determinant(to, e2, minus) / d, b2 = determinant(e1, to, minus) / d;
    *distance = determinant(e1, e2, to) / d;
    if (fabs(d) < 1e-9 || b1 < 0 || b2 < 0 || b1 + b2 > 1 || *distance < 0) return 0;
    for (int k = 0; k < 3; k++) {
        const double at = ray->origin[k] + *distance * ray->direction[k];
        if (at <= 1e-6 || at >= (double)(k == 0 ? s->size.x : k == 1 ? s->size.y : s->size.z) - 1e-6) return 0;
    }
    return 1;
}

/* The nearest triangle by the leaves along the ray, in order, up to the first that has one where the ray is in it. */
static double nearest(const answer *a, const scene *s, const tsr_region_ray *ray, const tsr_region_span *spans, int32_t found)
{
    for (int32_t k = 0; k < found; k++) {
        double least = INFINITY, distance;
        for (uint64_t m = a->starts[spans[k].leaf]; m < a->starts[spans[k].leaf + 1]; m++)
            if (meets(s, ray, a->triangles[m], &distance) && distance >= spans[k].enter - 1e-6 && distance <= spans[k].leave + 1e-6)
                least = fmin(least, distance);
        if (least < INFINITY) return least;
    }
    return INFINITY;
}

/* Whatever triangle a ray meets, the leaf it is in there has that triangle; the nearest is found by the leaves in order. */
static int32_t check_rays(tsr_context *context, const answer *a, const scene *s, uint64_t *seed)
{
    enum { RAYS = 300, ROOM = 128 };
    tsr_region_ray rays[RAYS];
    tsr_region_span *spans = malloc((size_t)RAYS * ROOM * sizeof *spans);
    int32_t found[RAYS], met = 0;
    void *there, *result, *number;
    for (int i = 0; i < RAYS; i++) {
        rays[i].most = 1e6;
        for (int k = 0; k < 3; k++) {
            rays[i].origin[k] = (test_uniform(seed) * 1.4 - 0.2) * (double)(k == 0 ? s->size.x : k == 1 ? s->size.y : s->size.z);
            rays[i].direction[k] = test_uniform(seed) * 2 - 1;
        }
    }
    require_ok(tsr_device_allocate(context, sizeof rays, &there));
    require_ok(tsr_device_allocate(context, (size_t)RAYS * ROOM * sizeof *spans, &result));
    require_ok(tsr_device_allocate(context, sizeof found, &number));
    require_ok(tsr_device_move(context, there, NULL, rays, sizeof rays));
    require_ok(tsr_region_tree_rays(a->device, there, RAYS, ROOM, 0, result, number));
    require_ok(tsr_device_move(NULL, found, context, number, sizeof found));
    require_ok(tsr_device_move(NULL, spans, context, result, (size_t)RAYS * ROOM * sizeof *spans));
    for (int i = 0; i < RAYS; i++) {
        assert_true(found[i] <= ROOM);
        double closest = INFINITY, distance;
        for (int t = 0; t < s->triangles; t++) {
            int ok = 0;
            if (!meets(s, &rays[i], (uint32_t)t, &distance)) continue;
            closest = fmin(closest, distance);
            for (int k = 0; k < found[i] && !ok; k++) {
                const tsr_region_span *p = &spans[i * ROOM + k];
                if (distance < p->enter - 1e-6 || distance > p->leave + 1e-6) continue;
                for (uint64_t m = a->starts[p->leaf]; m < a->starts[p->leaf + 1]; m++) ok |= a->triangles[m] == (uint32_t)t;
            }
            if (!ok) fail_msg("ray %d meets triangle %d at %g, in no leaf that has it", i, t, distance);
            met++;
        }
        const double first = nearest(a, s, &rays[i], &spans[i * ROOM], found[i]);
        if (first != closest && !(fabs(first - closest) < 2e-6)) fail_msg("ray %d: nearest triangle at %g, brute force %g", i, first, closest);
    }
    tsr_device_release(context, there, sizeof rays);
    tsr_device_release(context, result, (size_t)RAYS * ROOM * sizeof *spans);
    tsr_device_release(context, number, sizeof found);
    free(spans);
    return met;
}

static void refined_where_triangles_crowd(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    const tsr_size3 sizes[] = { { 16, 16, 16 }, { 13, 24, 9 }, { 24, 24, 24 } };
    int32_t met = 0;
    for (int round = 0; round < 6; round++) {
        scene s = make_scene(context, sizes[round % 3], TRIANGLES, round % 2, &seed);
        tsr_triangle_tree_options o = TSR_TRIANGLE_TREE_OPTIONS;
        o.voxels = 1;
        answer voxels = ask(context, &s, &o);
        uint8_t(*holds)[TRIANGLES] = voxel_holds(&voxels);
        o.voxels = 0;
        o.most = (int32_t[]){ 0, 2, 5, 64, 1, 9 }[round];
        answer a = ask(context, &s, &o);
        struct walk w = { &a, &s, holds, o.most ? o.most : 1, 0 };
        descend(&w, 0, 0, 0, (int64_t)1 << a.info.top);
        assert_int_equal(w.leaf, a.info.leaves);
        met += check_rays(context, &a, &s, &seed);
        free(holds);
        drop(&voxels);
        drop(&a);
        drop_scene(&s);
    }
    assert_true(met > 100);
    tsr_context_destroy(&context);
}

/* ---- clouds --------------------------------------------------------------------------------------------------------------------------------- */

static void clouds_of_surfaces(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    /* a square through the middle of a layer of voxels: they alone, all of them; a normal along z */
    tsr_mesh *host, *mesh;
    tsr_points *points, *local;
    const float corners[12] = { 1.6f, 1.6f, 4, 9.4f, 1.6f, 4, 1.6f, 9.4f, 4, 9.4f, 9.4f, 4 };
    const uint32_t triangles[6] = { 0, 1, 2, 1, 3, 2 };
    require_ok(tsr_mesh_create(NULL, 4, 2, 0, &host));
    memcpy(tsr_mesh_vertices(host), corners, sizeof corners);
    memcpy(tsr_mesh_triangles(host), triangles, sizeof triangles);
    require_ok(tsr_mesh_copy(host, context, &mesh));
    for (int centres = 0; centres < 2; centres++) {
        tsr_triangle_tree_options o = TSR_TRIANGLE_TREE_OPTIONS;
        o.voxels = o.centres = centres;
        require_ok(tsr_points_from_surface(context, mesh, (tsr_size3){ 16, 16, 16 }, NULL, &o, 1, &points));
        require_ok(tsr_points_copy(points, NULL, &local));
        assert_int_equal(tsr_points_count(local), 64); /* 2 to 9 along x and y; their centres are covered, too */
        for (int i = 0; i < 64; i++) {
            const float *p = tsr_points_positions(local) + 3 * i, *q = tsr_points_normals(local) + 3 * i;
            assert_true(p[0] >= 2 && p[0] <= 9 && p[1] >= 2 && p[1] <= 9 && p[2] == 4 && p[0] == floorf(p[0]) && p[1] == floorf(p[1]));
            assert_true(q[0] == 0 && q[1] == 0 && fabsf(q[2] - 1) < 1e-5f);
        }
        tsr_points_destroy(&points);
        tsr_points_destroy(&local);
    }
    tsr_mesh_destroy(&host);
    tsr_mesh_destroy(&mesh);
    /* no place of a surface is further than half a diagonal from a point */
    scene s = make_scene(context, (tsr_size3){ 24, 20, 17 }, 12, 1, &seed);
    require_ok(tsr_points_from_surface(context, s.mesh, s.size, &s.geometry, NULL, 0, &points));
    require_ok(tsr_points_copy(points, NULL, &local));
    assert_null(tsr_points_normals(local));
    assert_int_equal(tsr_points_space(local), TSR_SPACE_LPS);
    for (int n = 0; n < 400; n++) {
        double a = test_uniform(&seed), b = test_uniform(&seed), p[3], nearest = INFINITY;
        const int t = n % 12;
        int inside = 1;
        if (a + b > 1) {
            a = 1 - a;
            b = 1 - b;
        }
        for (int k = 0; k < 3; k++) {
            p[k] = s.corner[t][0][k] + a * (s.corner[t][1][k] - s.corner[t][0][k]) + b * (s.corner[t][2][k] - s.corner[t][0][k]);
            inside &= p[k] > 0 && p[k] < (double)(k == 0 ? s.size.x : k == 1 ? s.size.y : s.size.z);
        }
        if (!inside) continue;
        for (int64_t i = 0; i < tsr_points_count(local); i++) {
            const float *v = tsr_points_positions(local) + 3 * i;
            tsr_vec3 at;
            require_ok(tsr_geometry_to_index(&s.geometry, (tsr_vec3){ v[0], v[1], v[2] }, &at));
            nearest = fmin(nearest, fmax(fabs(at.x + 0.5 - p[0]), fmax(fabs(at.y + 0.5 - p[1]), fabs(at.z + 0.5 - p[2]))));
        }
        assert_true(nearest < 0.5 + 1e-5);
    }
    tsr_points_destroy(&points);
    tsr_points_destroy(&local);
    drop_scene(&s);
    tsr_context_destroy(&context);
}

/* ---- trees of keys -------------------------------------------------------------------------------------------------------------------------- */

static void trees_of_keys(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    const tsr_size3 sizes[] = { { 16, 16, 16 }, { 29, 17, 1 }, { 9, 14, 5 }, { 1, 1, 1 } };
    static uint8_t data[16 * 16 * 16];
    tsr_region_tree *device, *tree, *again, *back;
    for (int round = 0; round < 12; round++) {
        const tsr_size3 n = sizes[round % 4];
        tsr_region_options o = TSR_REGION_OPTIONS;
        tsr_volume *host, *v;
        for (size_t i = 0; i < sizeof data; i++) data[i] = test_random(&seed) % (uint64_t)(2 + round) > 0 ? 1 : 0;
        if (round > 7) memset(data, round > 10, sizeof data);
        o.classifier = TSR_PYRAMID_NONZERO;
        require_ok(tsr_volume_wrap(NULL, TSR_U8, n, NULL, data, NULL, NULL, &host));
        require_ok(tsr_volume_copy(host, context, &v));
        require_ok(tsr_region_tree_make(context, (const tsr_volume *const[]){ v }, 1, &o, &device));
        require_ok(tsr_region_tree_copy(device, NULL, &tree));
        const tsr_region_info info = *tsr_region_tree_describe(tree);
        require_ok(tsr_region_tree_from_keys(context, tsr_region_tree_leaves(tree), info.leaves, n, info.dimensions, NULL, &again));
        require_ok(tsr_region_tree_copy(again, NULL, &back));
        const tsr_region_info own = *tsr_region_tree_describe(back);
        assert_true(own.leaves == info.leaves && own.nodes == info.nodes && own.top == info.top && own.root == info.root);
        if (info.leaves) assert_memory_equal(tsr_region_tree_leaves(back), tsr_region_tree_leaves(tree), (size_t)info.leaves * 8);
        if (info.nodes) assert_memory_equal(tsr_region_tree_nodes(back), tsr_region_tree_nodes(tree), (size_t)(info.nodes << info.dimensions) * 4);
        tsr_region_tree_destroy(&device);
        tsr_region_tree_destroy(&tree);
        tsr_region_tree_destroy(&again);
        tsr_region_tree_destroy(&back);
        tsr_volume_destroy(&host);
        tsr_volume_destroy(&v);
    }
    const tsr_size3 n = { 8, 8, 8 };
    const uint64_t misplaced[] = { 1u << 6 | 1 }, high[] = { 4 }, outside[] = { 7u << 6 | 0, (uint64_t)511 << 6 }, twice[] = { 0 << 6 | 1, 3u << 6 };
    require_error(tsr_region_tree_from_keys(NULL, misplaced, 1, n, 3, NULL, &tree), TSR_ERROR_ARGUMENT, "key 0 is of level 1 at 1");
    require_error(tsr_region_tree_from_keys(NULL, high, 1, n, 3, NULL, &tree), TSR_ERROR_ARGUMENT, "a level up to 3");
    require_error(tsr_region_tree_from_keys(NULL, outside, 2, (tsr_size3){ 8, 8, 7 }, 3, NULL, &tree), TSR_ERROR_ARGUMENT,
                  "key 1 is a cube of 1 at (7, 7, 7)");
    require_error(tsr_region_tree_from_keys(NULL, twice, 2, n, 3, NULL, &tree), TSR_ERROR_ARGUMENT, "key 1 overlaps or precedes");
    require_error(tsr_region_tree_from_keys(NULL, twice, 2, n, 2, NULL, &tree), TSR_ERROR_ARGUMENT, "dimensions is 2 with extent z 8");
    require_error(tsr_region_tree_from_keys(NULL, NULL, 2, n, 3, NULL, &tree), TSR_ERROR_ARGUMENT, "2 keys at NULL");
    assert_null(tree);
    tsr_context_destroy(&context);
}

static void wrong_arguments(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    tsr_triangle_tree_options o = TSR_TRIANGLE_TREE_OPTIONS;
    tsr_triangle_lists lists;
    tsr_region_tree *tree;
    tsr_points *points;
    tsr_mesh *bad;
    test_stop stop = { 0.4, 0 };
    scene s = make_scene(context, (tsr_size3){ 16, 16, 16 }, 10, 0, &seed);
    o.most = 65;
    require_error(tsr_region_tree_from_triangles(context, s.mesh, s.size, NULL, &o, &tree, &lists), TSR_ERROR_ARGUMENT, "most is 65");
    o.most = 0;
    o.centres = 1;
    require_error(tsr_region_tree_from_triangles(context, s.mesh, s.size, NULL, &o, &tree, NULL), TSR_ERROR_ARGUMENT, "expected voxels as well");
    o.centres = 0;
    o.voxels = 1;
    o.progress = (tsr_progress){ test_stops, &stop };
    require_error(tsr_region_tree_from_triangles(context, s.mesh, s.size, NULL, &o, &tree, &lists), TSR_ERROR_CANCELLED, "cancelled at level 1 of 4");
    assert_true(!tree && !lists.starts && stop.calls == 4);
    tsr_triangle_lists_destroy(&lists);
    require_error(tsr_region_tree_from_triangles(context, s.mesh, (tsr_size3){ 4, 0, 4 }, NULL, NULL, &tree, NULL), TSR_ERROR_ARGUMENT, "4 x 0 x 4");
    require_error(tsr_region_tree_from_triangles(context, NULL, s.size, NULL, NULL, &tree, NULL), TSR_ERROR_ARGUMENT, "mesh is NULL");
    tsr_context *cpu = test_context_on("cpu", 1);
    if (tsr_context_device(context).kind == TSR_DEVICE_CPU) { /* memory of the host is that of every CPU context */
        require_ok(tsr_region_tree_from_triangles(cpu, s.mesh, s.size, NULL, NULL, &tree, NULL));
        tsr_region_tree_destroy(&tree);
        require_ok(tsr_region_tree_from_triangles(cpu, s.host, s.size, NULL, NULL, &tree, NULL));
        tsr_region_tree_destroy(&tree);
    } else {
        require_error(tsr_region_tree_from_triangles(cpu, s.mesh, s.size, NULL, NULL, &tree, NULL), TSR_ERROR_ARGUMENT, "expected cpu");
        require_error(tsr_region_tree_from_triangles(context, s.host, s.size, NULL, NULL, &tree, NULL), TSR_ERROR_ARGUMENT, "lives on cpu");
    }
    tsr_context_destroy(&cpu);
    tsr_mesh_triangles(s.host)[3 * 4 + 1] = 30;
    require_ok(tsr_mesh_copy(s.host, context, &bad));
    require_error(tsr_region_tree_from_triangles(context, bad, s.size, NULL, NULL, &tree, NULL), TSR_ERROR_FORMAT,
                  "triangle 4 has corners 12, 30, 14, expected below 30");
    tsr_mesh_destroy(&bad);
    tsr_mesh_triangles(s.host)[3 * 4 + 1] = 13;
    tsr_mesh_vertices(s.host)[3 * 20] = NAN;
    require_ok(tsr_mesh_copy(s.host, context, &bad));
    require_error(tsr_points_from_surface(context, bad, s.size, NULL, NULL, 0, &points), TSR_ERROR_FORMAT,
                  "triangle 6 with corners 18, 19, 20: a position");
    assert_null(points);
    tsr_mesh_destroy(&bad);
    /* a mesh beside the lattice: nothing */
    for (int i = 0; i < 90; i++) tsr_mesh_vertices(s.host)[i] = 1000 + (float)(i % 7);
    require_ok(tsr_mesh_copy(s.host, context, &bad));
    require_ok(tsr_region_tree_from_triangles(context, bad, s.size, NULL, NULL, &tree, &lists));
    assert_true(lists.leaves == 0 && lists.pairs == 0 && tsr_region_tree_describe(tree)->root == TSR_REGION_EMPTY);
    tsr_region_tree_destroy(&tree);
    tsr_triangle_lists_destroy(&lists);
    require_ok(tsr_points_from_surface(context, bad, s.size, NULL, NULL, 1, &points));
    assert_int_equal(tsr_points_count(points), 0);
    tsr_points_destroy(&points);
    tsr_mesh_destroy(&bad);
    drop_scene(&s);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(surface_voxels), cmocka_unit_test(refined_where_triangles_crowd),
                                        cmocka_unit_test(clouds_of_surfaces), cmocka_unit_test(trees_of_keys), cmocka_unit_test(wrong_arguments) };
    return cmocka_run_group_tests_name("triangle trees", tests, NULL, NULL);
}
