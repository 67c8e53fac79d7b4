/* Selections against float64 distances and brute force, and what editors do with them (docs/theory/editing.md 4, 11). The distances here are written
 * anew: rays and triangles instead of frames, sectors and sums of squares. */
#include <math.h>

#include "tiles/tiles_check.h"

#include "context.h"

enum { N = 32, LOW = -16 };

/* ---- the oracle -------------------------------------------------------------------------------------------------------------------------- */

typedef struct point {
    double x, y, z;
} point;
static point minus(point a, point b) { return (point){ a.x - b.x, a.y - b.y, a.z - b.z }; }
static point along(point a, point d, double t) { return (point){ a.x + t * d.x, a.y + t * d.y, a.z + t * d.z }; }
static double inner_product(point a, point b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static double length(point a) { return sqrt(inner_product(a, a)); }
static point outer_product(point a, point b) { return (point){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x }; }
static point unit(point a) { return along((point){ 0, 0, 0 }, a, 1 / length(a)); }
static point of(const tsr_vec3 *v) { return (point){ v->x, v->y, v->z }; }
static point corner(const tsr_selection *s, int64_t i)
{
    const double *p = s->points[i % s->count];
    return (point){ p[0], p[1], p[2] };
}

static double to_segment(point p, point a, point b)
{
    point d = minus(b, a), r = minus(p, a);
    double t = inner_product(d, d) > 0 ? inner_product(r, d) / inner_product(d, d) : 0;
    return length(minus(p, along(a, d, fmin(fmax(t, 0), 1))));
}
/* By the planes of the triangle's edges. */
static double to_triangle(point p, point a, point b, point c)
{
    point n = outer_product(minus(b, a), minus(c, a));
    const point v[4] = { a, b, c, a };
    int in = length(n) > 0;
    for (int i = 0; i < 3; i++) in &= inner_product(outer_product(n, minus(v[i + 1], v[i])), minus(p, v[i])) >= 0;
    if (in) return fabs(inner_product(unit(n), minus(p, a)));
    return fmin(to_segment(p, a, b), fmin(to_segment(p, b, c), to_segment(p, c, a)));
}
/* Turn of p by the rotation vector, backwards. */
static point turned_back(point p, tsr_vec3 turn)
{
    double angle = -sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
    if (angle == 0) return p;
    point k = unit(of(&turn)), v = along((point){ 0, 0, 0 }, p, cos(angle));
    return along(along(v, outer_product(k, p), sin(angle)), k, inner_product(k, p) * (1 - cos(angle)));
}
/* Even-odd: crossings of the half plane from the line of sight through p towards `aside` with the faces, by signs of volumes. */
static int enclosed(const tsr_selection *s, point p)
{
    const int parallel = length(of(&s->direction)) > 0;
    const point eye = of(&s->eye), view = parallel ? of(&s->direction) : minus(p, eye), aside = { 0.331, -0.729, 0.517 };
    point middle = { 0, 0, 0 };
    int odd = 0;
    for (int64_t i = 0; i < s->count; i++) middle = along(middle, unit(minus(corner(s, i), eye)), 1);
    if (!parallel && inner_product(middle, view) <= 0) return 0; /* behind the eye */
    for (int64_t i = 0; i < s->count; i++) {
        /* where the corners lie beside the plane through p, view and aside */
        const point n = outer_product(view, aside);
        point a = minus(corner(s, i), parallel ? p : eye), b = minus(corner(s, i + 1), parallel ? p : eye);
        double da = inner_product(a, n), db = inner_product(b, n);
        if ((da > 0) == (db > 0)) continue;
        point hit = along(a, minus(b, a), da / (da - db)); /* in that plane: on which side of the line of sight? */
        point m = outer_product(n, view);                  /* towards aside */
        odd ^= inner_product(hit, m) > 0;
    }
    return odd;
}

static double oracle(const tsr_selection *s, point p)
{
    double d = INFINITY;
    point r = minus(p, of(&s->centre));
    tsr_vec3 half = s->half;
    switch (s->kind) {
    case TSR_SELECTION_BOX:
        r = (point){ p.x - (s->box.lower.x + s->box.upper.x) / 2, p.y - (s->box.lower.y + s->box.upper.y) / 2,
                     p.z - (s->box.lower.z + s->box.upper.z) / 2 };
        half = (tsr_vec3){ (s->box.upper.x - s->box.lower.x) / 2, (s->box.upper.y - s->box.lower.y) / 2, (s->box.upper.z - s->box.lower.z) / 2 };
        /* fall through */
    case TSR_SELECTION_OBOX:
        if (s->kind == TSR_SELECTION_OBOX) r = turned_back(r, s->turn);
        r = (point){ fabs(r.x) - half.x, fabs(r.y) - half.y, fabs(r.z) - half.z };
        if (r.x <= 0 && r.y <= 0 && r.z <= 0) return fmax(r.x, fmax(r.y, r.z));
        return length((point){ fmax(r.x, 0), fmax(r.y, 0), fmax(r.z, 0) });
    case TSR_SELECTION_BALL: return length(r) - s->radius;
    case TSR_SELECTION_STROKE:
        for (int64_t i = 0; i + 1 < s->count || i == 0; i++) d = fmin(d, to_segment(p, corner(s, i), s->count > 1 ? corner(s, i + 1) : corner(s, i)));
        return d - s->radius;
    case TSR_SELECTION_HALF: return inner_product(r, unit(of(&s->direction)));
    case TSR_SELECTION_LASSO: break;
    }
    for (int64_t i = 0; i < s->count; i++) {
        const double far = 4000; /* faces as triangles that reach beyond everything here */
        point a = corner(s, i), b = corner(s, i + 1);
        if (length(of(&s->direction)) > 0) {
            const point w = unit(of(&s->direction));
            const point a0 = along(a, w, -far), a1 = along(a, w, far), b0 = along(b, w, -far), b1 = along(b, w, far);
            d = fmin(d, fmin(to_triangle(p, a0, b0, a1), to_triangle(p, b0, b1, a1)));
        } else {
            const point eye = of(&s->eye);
            d = fmin(d, to_triangle(p, eye, along(eye, unit(minus(a, eye)), far), along(eye, unit(minus(b, eye)), far)));
        }
    }
    return enclosed(s, p) ? -d : d;
}

/* ---- selections to try ------------------------------------------------------------------------------------------------------------------------ */

static const double path[][3] = { { -9, -6, -3 }, { 2, 5, 1 }, { 8, 4, -6 }, { 8, 4, -6 } };
static const double arrow[][3] = {
    { -8, -9, 30 }, { 9.5, -7, 30 }, { 1.3, 0.4, 30 }, { 7, 9, 30 }, { -9, 8, 30 }, { -9, 8, 30 }
};                                                                                                                      /* concave, a corner twice */
static const double star[][3] = { { 0, 11, 0 }, { 6.5, -9, 0 }, { -10.5, 3.5, 0 }, { 10.5, 3.5, 0 }, { -6.5, -9, 0 } }; /* crosses itself */
static const double seen[][3] = { { 3, -5, -4 }, { 3, 5, -5 }, { 3, 1, 0 }, { 3, 6, 6 }, { 3, -6, 5 } };

#define LASSO(corners) .kind = TSR_SELECTION_LASSO, .points = (corners), .count = sizeof(corners) / sizeof *(corners)
static const tsr_selection selections[] = {
    { sizeof(tsr_selection), .kind = TSR_SELECTION_BOX, .box = { { -9, -4.5, -7 }, { 5, 8, 40 } } },
    { sizeof(tsr_selection), .kind = TSR_SELECTION_OBOX, .centre = { 1, -2, 0.5 }, .half = { 9, 5, 3.5 }, .turn = { 0.4, -0.3, 0.8 } },
    { sizeof(tsr_selection), .kind = TSR_SELECTION_BALL, .centre = { 3, 2, -4 }, .radius = 8.25 },
    { sizeof(tsr_selection), .kind = TSR_SELECTION_STROKE, .points = path, .count = 4, .radius = 4.5 },
    { sizeof(tsr_selection), .kind = TSR_SELECTION_STROKE, .points = path, .count = 1, .radius = 6 },
    { sizeof(tsr_selection), .kind = TSR_SELECTION_HALF, .centre = { 1, 2, 0 }, .direction = { 1, 2, -0.5 } },
    { sizeof(tsr_selection), LASSO(arrow), .direction = { 0.2, -0.1, -3 } },
    { sizeof(tsr_selection), LASSO(star), .direction = { 0, 0, 1 } },
    { sizeof(tsr_selection), LASSO(seen), .eye = { -30, 2, 1 } },
    { sizeof(tsr_selection), LASSO(seen), .eye = { -6, 0.5, 0 } }, /* the eye is in the model */
};
enum { SELECTIONS = sizeof selections / sizeof *selections };

static tsr_tiles *make(const tsr_shape *shape, int32_t edge, double h)
{
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_geometry geometry = { .affine = { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, h, 0 } } };
    tsr_tiles *tiles = NULL;
    options.edge = edge;
    options.band = 3;
    require_ok(tsr_tiles_shape(context, &geometry, &options, shape, &tiles));
    return tiles;
}
static void same(const tsr_tiles *a, const tsr_tiles *b)
{
    int equal;
    require_ok(tsr_tiles_equal(a, b, &equal));
    assert_true(equal);
}
static int64_t components(const tsr_tiles *tiles)
{
    int64_t count;
    require_ok(tsr_tiles_components(tiles, 26, NULL, 0, &count));
    return count;
}

/* ---- tests -------------------------------------------------------------------------------------------------------------------------------------- */

static double clamped(double v) { return fmin(fmax(v, -3), 3); }

/* Fields carved at the faces are what the distances say, in voxels of 1 x 1 x h; nothing crosses the faces; both parts are the severed surface again. */
static void carved(const tsr_selection *s, double h)
{
    tsr_tiles *model = make(&(tsr_shape){ .kind = TSR_SHAPE_BOX, .half = { 12.2, 10.9, 11.4 } }, h == 1 ? 4 : 8, h), *severed, *inner, *outer,
              *pasted;
    require_ok(tsr_tiles_disconnect_at(model, s, 0, &severed));
    require_ok(tsr_tiles_divide(model, s, &inner, &outer));
    require_ok(tsr_tiles_combine(outer, inner, TSR_CSG_UNION, 0, &pasted));
    same(pasted, severed);
    check_invariants(severed);
    check_invariants(inner);
    check_invariants(outer);
    float *whole = tiles_dense(context, model, LOW, N), *wall = tiles_dense(context, severed, LOW, N), *in = tiles_dense(context, inner, LOW, N),
          *out = tiles_dense(context, outer, LOW, N);
    double *d = (double *)malloc((size_t)N * N * N * sizeof *d);
    for (int64_t v = 0; v < N * N * N; v++) {
        d[v] = oracle(s, (point){ (double)(v % N + LOW), (double)(v / N % N + LOW), h * (double)(v / (N * N) + LOW) });
        const double expected = fmax((double)whole[v], 1 - fabs(d[v]));
        assert_true(fabs((double)wall[v] - clamped(expected)) < 1e-4);
        assert_true(fabs((double)in[v] - clamped(fmax(expected, d[v]))) < 1e-4);
        assert_true(fabs((double)out[v] - clamped(fmax(expected, -d[v]))) < 1e-4);
    }
    for (int64_t z = 0; z + 1 < N; z++)
        for (int64_t y = 0; y + 1 < N; y++)
            for (int64_t x = 0; x + 1 < N; x++)
                for (int k = 1; k < 8; k++) { /* voxels beside each other on two sides of the faces are not both inside */
                    const int64_t a = (z * N + y) * N + x, b = ((z + (k >> 2)) * N + y + (k >> 1 & 1)) * N + x + (k & 1);
                    if (h == 1 && (d[a] < 0) != (d[b] < 0)) assert_false(wall[a] < 0 && wall[b] < 0);
                }
    free(whole);
    free(wall);
    free(in);
    free(out);
    free(d);
    tsr_tiles_destroy(&model);
    tsr_tiles_destroy(&severed);
    tsr_tiles_destroy(&inner);
    tsr_tiles_destroy(&outer);
    tsr_tiles_destroy(&pasted);
}
static void carving_is_the_distance(void **state)
{
    (void)state;
    for (int i = 0; i < SELECTIONS; i++)
        if (!test_is_slow() || i % 3 != 1) carved(&selections[i], 1);
    carved(&selections[1], 2);
    carved(&selections[8], 2);
}

static void tiles_are_brute_force(void **state)
{
    (void)state;
    const tsr_selection nothing = { sizeof nothing, .kind = TSR_SELECTION_HALF, .centre = { 0, 0, 80 }, .direction = { 0, 0, -1 } };
    const tsr_selection everything = { sizeof everything, .kind = TSR_SELECTION_HALF, .centre = { 0, 0, 80 }, .direction = { 0, 0, 1 } };
    const tsr_selection beside = { sizeof beside, .kind = TSR_SELECTION_BALL, .centre = { 900, 0, 0 }, .radius = 5 };
    tsr_tiles *ball = make(&(tsr_shape){ .kind = TSR_SHAPE_SPHERE, .radius = 14 }, 4, 1);
    tsr_tiles_info info = TSR_TILES_INFO;
    require_ok(tsr_tiles_describe(ball, &info));
    const int64_t n = info.count;
    int32_t(*all)[3] = (int32_t(*)[3])malloc((size_t)n * sizeof *all), (*hit)[3] = (int32_t(*)[3])malloc((size_t)n * sizeof *hit);
    int64_t count, only;
    require_ok(tsr_tiles_download(ball, all, NULL));
    for (int i = 0; i < SELECTIONS; i++) {
        int64_t next = 0, some = 0;
        require_ok(tsr_tiles_select_in(ball, &selections[i], hit, n, &count));
        require_ok(tsr_tiles_select_in(ball, &selections[i], NULL, 0, &only));
        assert_int_equal(count, only);
        for (int64_t t = 0; t < n; t++) {
            double least = INFINITY;
            for (int v = 0; v < 64; v++)
                least =
                    fmin(least, oracle(&selections[i], (point){ 4.0 * all[t][0] + v % 4, 4.0 * all[t][1] + v / 4 % 4, 4.0 * all[t][2] + v / 16 }));
            const int found = next < count && !memcmp(all[t], hit[next], sizeof *all);
            if (fabs(least) > 1e-4) assert_int_equal(found, least < 0); /* nearer than that float32 decides */
            next += found;
            some += least < 0;
        }
        assert_int_equal(next, count); /* in order, and no other */
        assert_true(some > 0 && some < n);
    }
    require_ok(tsr_tiles_select_in(ball, &everything, hit, n, &count));
    assert_int_equal(count, n);
    assert_memory_equal(all, hit, (size_t)n * sizeof *all);
    require_ok(tsr_tiles_select_in(ball, &nothing, hit, n, &count));
    assert_int_equal(count, 0);
    require_ok(tsr_tiles_select_in(ball, &beside, hit, n, &count));
    assert_int_equal(count, 0);
    tsr_tiles *inner, *outer;
    require_ok(tsr_tiles_divide(ball, &everything, &inner, &outer));
    same(inner, ball);
    assert_int_equal(components(outer), 0);
    tsr_tiles_destroy(&inner);
    tsr_tiles_destroy(&outer);
    require_ok(tsr_tiles_divide(ball, &nothing, &inner, &outer));
    same(outer, ball);
    assert_int_equal(components(inner), 0);
    free(all);
    free(hit);
    tsr_tiles_destroy(&inner);
    tsr_tiles_destroy(&outer);
    tsr_tiles_destroy(&ball);
}

/* The same bits, and those of a shell of the box taken away, as it was done before there were other selections. */
static void box_is_oriented_box(void **state)
{
    (void)state;
    const tsr_selection box = { sizeof box, .box = { { -6, -5, -12.5 }, { 9, 4, 3 } } };
    const tsr_selection obox = { sizeof obox, .kind = TSR_SELECTION_OBOX, .centre = { 1.5, -0.5, -4.75 }, .half = { 7.5, 4.5, 7.75 } };
    const tsr_shape wall = { .kind = TSR_SHAPE_BOX, .centre = obox.centre, .half = obox.half, .shell = 2 };
    const tsr_shape solid = { .kind = TSR_SHAPE_BOX, .centre = obox.centre, .half = obox.half };
    tsr_tiles *model = make(&(tsr_shape){ .kind = TSR_SHAPE_TORUS, .radius = 9, .minor = 5 }, 8, 1), *shell = make(&wall, 8, 1),
              *full = make(&solid, 8, 1);
    tsr_tiles *a[3], *b[3], *c[3];
    require_ok(tsr_tiles_disconnect(model, &box.box, 0, &a[0]));
    require_ok(tsr_tiles_divide(model, &box, &a[1], &a[2]));
    require_ok(tsr_tiles_disconnect_at(model, &obox, 0, &b[0]));
    require_ok(tsr_tiles_divide(model, &obox, &b[1], &b[2]));
    require_ok(tsr_tiles_combine(model, shell, TSR_CSG_DIFFERENCE, 0, &c[0]));
    require_ok(tsr_tiles_combine(c[0], full, TSR_CSG_INTERSECTION, 0, &c[1]));
    require_ok(tsr_tiles_combine(c[0], full, TSR_CSG_DIFFERENCE, 0, &c[2]));
    for (int k = 0; k < 3; k++) {
        same(a[k], b[k]);
        same(a[k], c[k]);
        tsr_tiles_destroy(&a[k]);
        tsr_tiles_destroy(&b[k]);
        tsr_tiles_destroy(&c[k]);
    }
    int32_t one[400][3], other[400][3];
    int64_t n, m;
    require_ok(tsr_tiles_select(model, &box.box, one, 400, &n));
    require_ok(tsr_tiles_select_in(model, &obox, other, 400, &m));
    assert_int_equal(n, m);
    assert_true(n > 0 && n <= 400);
    assert_memory_equal(one, other, (size_t)n * sizeof *one);
    tsr_tiles_destroy(&model);
    tsr_tiles_destroy(&shell);
    tsr_tiles_destroy(&full);
}

/* Balls of radius 5, 6 and 4 in a row. */
static tsr_tiles *row_of_balls(int count)
{
    tsr_tiles *all = make(&(tsr_shape){ .centre = { -16, 0, 0 }, .radius = 5 }, 4, 1);
    for (int i = 1; i < count; i++) {
        tsr_tiles *ball = make(&(tsr_shape){ .centre = { i == 1 ? 2 : 19, 0, 0 }, .radius = i == 1 ? 6 : 4 }, 4, 1), *both;
        require_ok(tsr_tiles_combine(all, ball, TSR_CSG_UNION, 0, &both));
        tsr_tiles_destroy(&all);
        tsr_tiles_destroy(&ball);
        all = both;
    }
    return all;
}

static void components_and_masks(void **state)
{
    (void)state;
    for (int bodies = 2; bodies <= 3; bodies++) {
        tsr_tiles *all = row_of_balls(bodies), *inner, *outer;
        /* cuts the first ball, takes the second and leaves the third */
        const tsr_selection half = { sizeof half, .kind = TSR_SELECTION_HALF, .centre = { -16, 0, 0 }, .direction = { -1, 0, 0 } };
        const tsr_selection stroke = { sizeof stroke, .kind = TSR_SELECTION_STROKE, .points = (const double[2][3]){ { -9, 0, 0 }, { 3, 0, 0 } },
                                       .count = 2, .radius = 7 };
        require_ok(tsr_tiles_divide(all, &half, &inner, &outer));
        assert_int_equal(components(inner), bodies);
        assert_int_equal(components(outer), 1);
        tsr_tiles_destroy(&inner);
        tsr_tiles_destroy(&outer);
        require_ok(tsr_tiles_divide(all, &stroke, &inner, NULL));
        assert_int_equal(components(inner), 2);
        tsr_tiles_destroy(&inner);
        /* a stroke that stays where it is: the ball of its one point */
        const double still[3][3] = { { -9, 1, 0 }, { -9, 1, 0 }, { -9, 1, 0 } };
        for (int count = 2; count <= 3; count++) {
            tsr_tiles *one, *several;
            require_ok(tsr_tiles_divide(all, &(tsr_selection){ sizeof half, .kind = TSR_SELECTION_STROKE, .points = still, .count = 1, .radius = 7 },
                                        &one, NULL));
            require_ok(tsr_tiles_divide(
                all, &(tsr_selection){ sizeof half, .kind = TSR_SELECTION_STROKE, .points = still, .count = count, .radius = 7 }, &several, NULL));
            assert_int_equal(components(one), 1);
            same(one, several);
            tsr_tiles_destroy(&one);
            tsr_tiles_destroy(&several);
        }
        /* every tile's mask against the place of its voxels: the balls lie one after another along x */
        uint64_t masks[2000], seen_masks = 0;
        int32_t at[2000][3];
        tsr_component part[3];
        int64_t tiles, count;
        tsr_tiles_info info = TSR_TILES_INFO;
        require_ok(tsr_tiles_describe(all, &info));
        assert_true(info.count <= 2000);
        require_ok(tsr_tiles_download(all, at, NULL));
        require_ok(tsr_tiles_components(all, 26, part, 3, &count));
        require_ok(tsr_tiles_component_masks(all, masks, 2000, &tiles));
        assert_int_equal(tiles, info.count);
        for (int64_t i = 0; i < tiles; i++) {
            uint64_t expected = 0;
            for (int v = 0; v < 64; v++) {
                const double x = 4.0 * at[i][0] + v % 4, y = 4.0 * at[i][1] + v / 4 % 4, z = 4.0 * at[i][2] + v / 16;
                const double ball[3][2] = { { -16, 5 }, { 2, 6 }, { 19, 4 } };
                for (int b = 0; b < bodies; b++)
                    for (int64_t c = 0; c < count; c++) /* component c is the ball that its first voxel lies in */
                        if (sqrt((x - ball[b][0]) * (x - ball[b][0]) + y * y + z * z) < ball[b][1] - 1e-4 &&
                            fabs((double)part[c].first.x - ball[b][0]) < 8)
                            expected |= (uint64_t)1 << c;
            }
            assert_int_equal(masks[i], expected);
            seen_masks |= masks[i];
        }
        assert_int_equal(seen_masks, bodies == 2 ? 3 : 7);
        tsr_tiles_destroy(&all);
    }
}

static void editor_selects(void **state)
{
    (void)state;
    tsr_editor_options options = TSR_EDITOR_OPTIONS;
    tsr_editor *e = NULL;
    options.edge = 4;
    options.band = 3;
    require_ok(tsr_editor_create(context, &options, &e));
    tsr_tiles *all = row_of_balls(3), *before = NULL;
    require_ok(tsr_editor_add(e, "model", all));
    const tsr_selection half = { sizeof half, .kind = TSR_SELECTION_HALF, .centre = { -16, 0, 0 }, .direction = { -1, 0, 0 } };
    int64_t count;
    tsr_component part[3];
    require_ok(tsr_editor_components_in(e, "model", &half, part, 3, &count));
    assert_int_equal(count, 3);
    tsr_tiles *block = make(&(tsr_shape){ .kind = TSR_SHAPE_BOX, .half = { 12, 9, 8 } }, 4, 1);
    require_ok(tsr_editor_add(e, "block", block));
    /* delete and paste back, for every kind; each is one step */
    const int step = tsr_context_device(context).kind == TSR_DEVICE_EMU ? 4 : 1; /* some seconds each there */
    for (int i = 0; i < SELECTIONS; i += step + (step == 1 && i == 3)) {         /* not the stroke of one point: a ball */
        require_ok(tsr_editor_disconnect(e, "block", &selections[i], 0));
        require_ok(tsr_tiles_translate(tsr_editor_tiles(e, "block"), 0, 0, 0, &before));
        require_ok(tsr_editor_copy_out(e, "block", &selections[i], NULL, "copy"));
        same(before, tsr_editor_tiles(e, "block"));
        require_ok(tsr_editor_cut(e, "block", &selections[i], NULL, "part"));
        same(tsr_editor_tiles(e, "copy"), tsr_editor_tiles(e, "part"));
        require_ok(tsr_editor_combine(e, "block", "part", TSR_CSG_UNION, 0));
        same(before, tsr_editor_tiles(e, "block"));
        require_ok(tsr_editor_delete(e, "block", &selections[i], NULL));
        require_ok(tsr_editor_combine(e, "block", "copy", TSR_CSG_UNION, 0));
        same(before, tsr_editor_tiles(e, "block"));
        require_ok(tsr_editor_keep(e, "block", &selections[i], NULL));
        same(tsr_editor_tiles(e, "copy"), tsr_editor_tiles(e, "block"));
        for (int k = 0; k < 7; k++) require_ok(tsr_editor_undo(e));
        assert_null(tsr_editor_tiles(e, "copy"));
        same(block, tsr_editor_tiles(e, "block"));
        tsr_tiles_destroy(&before);
    }
    tsr_tiles_destroy(&block);
    /* one component of three: the others stay, and pasting it gives all of them back */
    const tsr_vec3 middle = { 2, 1, 0 };
    const tsr_selection everything = { sizeof everything, .kind = TSR_SELECTION_BALL, .radius = 100 };
    require_ok(tsr_editor_cut(e, "model", &everything, &middle, "part"));
    assert_int_equal(components(tsr_editor_tiles(e, "model")), 2);
    assert_int_equal(components(tsr_editor_tiles(e, "part")), 1);
    tsr_tiles *ball = make(&(tsr_shape){ .centre = { 2, 0, 0 }, .radius = 6 }, 4, 1);
    same(ball, tsr_editor_tiles(e, "part"));
    require_ok(tsr_editor_combine(e, "model", "part", TSR_CSG_UNION, 0));
    same(all, tsr_editor_tiles(e, "model"));
    require_ok(tsr_editor_delete(e, "model", &half, &(tsr_vec3){ -13, 0, 0 }));
    assert_int_equal(components(tsr_editor_tiles(e, "model")), 3); /* half a ball went */
    require_error(tsr_editor_delete(e, "model", &half, &(tsr_vec3){ 10, 0, 0 }), TSR_ERROR_STATE, "selection: (10, 0, 0) is not inside the object");
    require_error(
        tsr_editor_delete(e, "model", &(tsr_selection){ sizeof half, .kind = TSR_SELECTION_BALL, .centre = { 80, 0, 0 }, .radius = 2 }, NULL),
        TSR_ERROR_STATE, "nothing of 'model' lies in the ball");
    tsr_tiles_destroy(&ball);
    tsr_tiles_destroy(&all);
    tsr_editor_destroy(&e);
}

/* An inside without an end: what has one can be cut out of it. */
static void unbounded_inside(void **state)
{
    (void)state;
    tsr_tiles *ball = make(&(tsr_shape){ .radius = 5 }, 4, 1), *space = NULL, *severed = NULL, *inner = NULL;
    require_ok(tsr_tiles_complement(ball, &space));
    require_error(tsr_tiles_disconnect_at(space, &selections[5], 0, &severed), TSR_ERROR_UNSUPPORTED, "without an end");
    require_ok(tsr_tiles_disconnect_at(space, &(tsr_selection){ sizeof(tsr_selection), .kind = TSR_SELECTION_BALL, .radius = 12 }, 0, &severed));
    check_invariants(severed);
    float *f = tiles_dense(context, severed, LOW, N);
    for (int64_t v = 0; v < N * N * N; v++) {
        const double r = length((point){ (double)(v % N + LOW), (double)(v / N % N + LOW), (double)(v / (N * N) + LOW) });
        assert_true(fabs((double)f[v] - clamped(fmax(5 - r, 1 - fabs(r - 12)))) < 1e-4);
    }
    free(f);
    require_error(tsr_tiles_divide(space, &(tsr_selection){ sizeof(tsr_selection), .kind = TSR_SELECTION_BALL, .radius = 1e9 }, &inner, NULL),
                  TSR_ERROR_ARGUMENT, "ball: radius is 1e+09, expected at most");
    const tsr_selection away = { sizeof(tsr_selection), .kind = TSR_SELECTION_BALL, .centre = { 1e9, 0, 0 }, .radius = 12 };
    require_error(tsr_tiles_divide(space, &away, &inner, NULL), TSR_ERROR_ARGUMENT, "reaches from tile");
    assert_null(inner);
    tsr_tiles_destroy(&ball);
    tsr_tiles_destroy(&space);
    tsr_tiles_destroy(&severed);
}

/* What reaches far beyond the model selects what the same does that ends beside it; what float32 cannot tell is refused. */
static void large_numbers(void **state)
{
    (void)state;
    static const double near_corners[][3] = { { -20, -20, 0 }, { 1, -20, 0 }, { 1, 20, 0 }, { -20, 20, 0 } };
    static const double far_corners[][3] = { { -20, -20, 1e9 }, { 1, -20, 1e9 }, { 1, 20, 1e9 }, { -20, 20, 1e9 } };
    const tsr_selection pairs[][2] = {
        { { sizeof(tsr_selection), .box = { { -1e9, -1e9, -1e9 }, { 0, 1e9, 1e9 } } },
          { sizeof(tsr_selection), .box = { { -40, -40, -40 }, { 0, 40, 40 } } } },
        { { sizeof(tsr_selection), .box = { { -1e7, -100, -100 }, { 0.5, 100, 100 } } },
          { sizeof(tsr_selection), .box = { { -40, -100, -100 }, { 0.5, 100, 100 } } } },
        { { sizeof(tsr_selection), .kind = TSR_SELECTION_HALF, .centre = { 1e9, -1e9, 0 }, .direction = { 1, 1, 0 } },
          { sizeof(tsr_selection), .kind = TSR_SELECTION_HALF, .direction = { 1, 1, 0 } } },
        { { sizeof(tsr_selection), LASSO(far_corners), .direction = { 0, 0, 1 } },
          { sizeof(tsr_selection), LASSO(near_corners), .direction = { 0, 0, 1 } } },
    };
    tsr_tiles *model = make(&(tsr_shape){ .kind = TSR_SHAPE_BOX, .half = { 12, 11, 10 } }, 4, 1);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        tsr_tiles *part[2];
        float *values[2];
        for (int j = 0; j < 2; j++) {
            require_ok(tsr_tiles_divide(model, &pairs[i][j], &part[j], NULL));
            values[j] = tiles_dense(context, part[j], LOW, N);
        }
        int64_t inside = 0;
        for (int64_t v = 0; v < N * N * N; v++) {
            inside += values[1][v] < 0;
            assert_true(fabs((double)values[0][v] - (double)values[1][v]) < 1e-3);
        }
        assert_true(inside > 1000);
        for (int j = 0; j < 2; j++) {
            free(values[j]);
            tsr_tiles_destroy(&part[j]);
        }
    }
    tsr_tiles *made = NULL;
    const tsr_selection ball = { sizeof(tsr_selection), .kind = TSR_SELECTION_BALL, .centre = { -1e8, 0, 0 }, .radius = 1e8 };
    require_error(tsr_tiles_divide(model, &ball, &made, NULL), TSR_ERROR_ARGUMENT, "ball: radius is 1e+08, expected at most 1.04858e+06");
    const tsr_selection seen_far = { sizeof(tsr_selection), LASSO(near_corners), .eye = { 0, 0, 1e9 } };
    require_error(tsr_tiles_divide(model, &seen_far, &made, NULL), TSR_ERROR_ARGUMENT, "lasso: the distance of the eye is 1e+09");
    tsr_tiles_destroy(&model);
}

static void refused(const tsr_tiles *tiles, tsr_selection s, const char *text)
{
    int64_t count;
    s.struct_size = sizeof s;
    require_error(tsr_tiles_select_in(tiles, &s, NULL, 0, &count), TSR_ERROR_ARGUMENT, text);
}

static void refusals(void **state)
{
    (void)state;
    static const double line[][3] = { { 0, 0, 0 }, { 1, 1, 0 }, { 5, 5, 9 } }, two[][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 0, 0 } };
    static const double hole[][3] = { { 0, 0, 0 }, { NAN, 1, 0 }, { 1, 0, 0 } }, around[][3] = { { 1, 0, 0 }, { -0.4, 1, 0 }, { -0.4, -1, 0.1 } };
    tsr_tiles *ball = make(&(tsr_shape){ .radius = 8 }, 4, 1), *made = NULL;
    refused(ball, (tsr_selection){ .box = { { 0, 0, 0 }, { 1, 1, 0 } } }, "0 to 0 along z, expected lower < upper");
    refused(ball, (tsr_selection){ .kind = TSR_SELECTION_OBOX, .half = { 1, 0, 1 } }, "obox: half.y is 0");
    refused(ball, (tsr_selection){ .kind = TSR_SELECTION_OBOX, .half = { 1, 1, 1 }, .turn = { 0, 0, NAN } }, "obox: turn.z is nan");
    refused(ball, (tsr_selection){ .kind = TSR_SELECTION_BALL, .radius = -1 }, "ball: radius is -1");
    refused(ball, (tsr_selection){ .kind = TSR_SELECTION_BALL, .radius = 1, .centre = { 0, INFINITY, 0 } }, "ball: centre.y is inf");
    refused(ball, (tsr_selection){ .kind = TSR_SELECTION_STROKE, .radius = 1 }, "stroke: 0 points, expected 1 to 65536");
    refused(ball, (tsr_selection){ .kind = TSR_SELECTION_STROKE, .radius = 1, .count = 2 }, "stroke: points is NULL");
    refused(ball, (tsr_selection){ .kind = TSR_SELECTION_STROKE, .points = hole, .count = 3, .radius = 1 }, "stroke: point 2 has x = nan");
    refused(ball, (tsr_selection){ .kind = TSR_SELECTION_HALF }, "half: direction is (0, 0, 0)");
    refused(ball, (tsr_selection){ .kind = TSR_SELECTION_LASSO, .points = line, .count = 2, .direction = { 0, 0, 1 } },
            "lasso: 2 points, expected 3");
    refused(ball, (tsr_selection){ .kind = TSR_SELECTION_LASSO, .points = line, .count = 3, .direction = { 0, 0, 1 } }, "enclose nothing");
    refused(ball, (tsr_selection){ .kind = TSR_SELECTION_LASSO, .points = two, .count = 3, .direction = { 0, 0, 1 } }, "enclose nothing");
    refused(ball, (tsr_selection){ .kind = TSR_SELECTION_LASSO, .points = line, .count = 3, .eye = { 0, 0, 0 } }, "lasso: point 1 is the eye");
    refused(ball, (tsr_selection){ .kind = TSR_SELECTION_LASSO, .points = around, .count = 3 }, "degrees off the middle of the view");
    refused(ball, (tsr_selection){ .kind = (tsr_selection_kind)6 }, "kind is 6, expected BOX to HALF");
    require_error(tsr_tiles_disconnect_at(ball, &selections[2], 1, &made), TSR_ERROR_ARGUMENT, "width is 1");
    require_error(tsr_tiles_disconnect_at(ball, NULL, 0, &made), TSR_ERROR_ARGUMENT, "selection is NULL");
    assert_null(made);
    tsr_selection_kind kind;
    for (int k = 0; k < 6; k++) {
        require_ok(tsr_selection_parse(tsr_selection_name((tsr_selection_kind)k), &kind));
        assert_int_equal(kind, k);
    }
    assert_null(tsr_selection_name((tsr_selection_kind)6));
    require_error(tsr_selection_parse("rope", &kind), TSR_ERROR_ARGUMENT, "'rope' is no kind of selection");
    tsr_tiles_destroy(&ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(carving_is_the_distance), cmocka_unit_test(tiles_are_brute_force),
        cmocka_unit_test(box_is_oriented_box),     cmocka_unit_test(components_and_masks),
        cmocka_unit_test(editor_selects),          cmocka_unit_test(unbounded_inside),
        cmocka_unit_test(large_numbers),           cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
