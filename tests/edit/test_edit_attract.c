/* Attraction by points: velocities, distances and tiles against sums in float64 and brute force; the editor's operator against what it promises (see
 * docs/theory/editing.md 7, 11). */
#include "edit_fixture.h"
#include "edit/attract_host.h"

/* ---- velocities -------------------------------------------------------------------------------------------------------------------------------- */

/* U by the definition: all points, float64. *nearest: the distance of the nearest. Returns how much of the pull is left after points on opposite sides have
 * cancelled, 0 to 1. */
static double direct(const tsr_attraction *a, const double x[3], double h, double u[3], double *nearest)
{
    const double p = a->power > 0 ? a->power : 3, e = a->epsilon > 0 ? a->epsilon : h;
    double g[3] = { 0, 0, 0 }, least = HUGE_VAL, all = 0;
    for (int64_t i = 0; i < a->count; i++) {
        double d[3], s = 0;
        for (int k = 0; k < 3; k++) {
            d[k] = a->points[i][k] - x[k];
            s += d[k] * d[k];
        }
        least = fmin(least, s);
        for (int k = 0; k < 3; k++) g[k] += d[k] * pow(s + e * e, -(p + 1) / 2);
        all += sqrt(s) * pow(s + e * e, -(p + 1) / 2);
    }
    const double length = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]), t = fmax(1 - least / (a->radius * a->radius), 0);
    for (int k = 0; k < 3; k++) u[k] = length > 0 ? t * t * g[k] / length : 0;
    *nearest = sqrt(least);
    return all > 0 ? length / all : 0;
}

static double component(uint32_t word, int k) { return word ? ((double)(word >> (10 * k) & 1023) - 512) / 511 : 0; }

static int compare_keys(const void *a, const void *b)
{
    const uint64_t *x = (const uint64_t *)a, *y = (const uint64_t *)b;
    return *x < *y ? -1 : *x > *y;
}

/* All tiles of a box, sorted. */
static int64_t box_keys(int32_t from, int32_t to, uint64_t *keys)
{
    int64_t n = 0;
    for (int32_t z = from; z < to; z++)
        for (int32_t y = from; y < to; y++)
            for (int32_t x = from; x < to; x++) keys[n++] = tsr_key_make(x, y, z);
    qsort(keys, (size_t)n, sizeof *keys, compare_keys);
    return n;
}

/* Words of tiles, from the cache where it has them (malloc). */
static uint32_t *words_of(const tsr_attract_field *f, const uint64_t *keys, int64_t count, const uint64_t *cached, const uint32_t *cached_words,
                          int64_t cached_count)
{
    tsr_context *context = f->context;
    const tsr_backend *b = context->backend;
    const size_t page = sizeof(uint32_t) << 3 * f->log2_edge, room = (size_t)(count + cached_count) * (page + 8);
    void *memory;
    require_ok(tsr_device_allocate(context, room, &memory));
    uint64_t *device_keys = (uint64_t *)memory, *device_cached = device_keys + count;
    uint32_t *pages = (uint32_t *)(void *)(device_cached + cached_count), *cache_pages = pages + ((count << 3 * f->log2_edge));
    uint32_t *words = (uint32_t *)malloc((size_t)count * page);
    require_ok(b->fill(context->queue, pages, 0xa5, (size_t)count * page));
    require_ok(b->upload(context->queue, device_keys, keys, (size_t)count * 8));
    if (cached_count) require_ok(b->upload(context->queue, device_cached, cached, (size_t)cached_count * 8));
    if (cached_count) require_ok(b->upload(context->queue, cache_pages, cached_words, (size_t)cached_count * page));
    const tsr_attract_cache cache = { device_cached, cache_pages, (int32_t)cached_count };
    const tsr_page_list list = {
        .keys = tsr_keys_wide(device_keys), .count = (int32_t)count, .log2_edge = f->log2_edge, .pages = (float *)(void *)pages
    };
    require_ok(b->attract->fill(context->queue, &f->tree->view, &f->params, &cache, &list));
    require_ok(b->download(context->queue, words, pages, (size_t)count * page));
    tsr_device_release(context, memory, room);
    return words;
}

static void check_words(const tsr_attract_field *f, const tsr_attraction *a, const float spacing[3], const uint64_t *keys, int64_t count,
                        const uint32_t *words, uint64_t *seed, double *worst, double *worst_length)
{
    const int32_t E = 1 << f->log2_edge, V = E * E * E;
    const double h = fmin((double)spacing[0], fmin((double)spacing[1], (double)spacing[2]));
    int within = 0;
    *worst = *worst_length = 0;
    for (int i = 0; i < (test_is_slow() ? 150 : 500); i++) {
        const int64_t tile = (int64_t)(test_uniform(seed) * (double)count);
        const int32_t v = (int32_t)(test_uniform(seed) * V), at[3] = { v % E, v / E % E, v / (E * E) };
        const int32_t corner[3] = { tsr_key_x(keys[tile]), tsr_key_y(keys[tile]), tsr_key_z(keys[tile]) };
        const uint32_t word = words[tile * V + v];
        double x[3], u[3], nearest, length = 0, own = 0;
        for (int k = 0; k < 3; k++) x[k] = (double)(corner[k] * E + at[k]) * (double)spacing[k];
        const double left = direct(a, x, h, u, &nearest);
        if (fabs(nearest / a->radius - 1) > 1e-4) assert_int_equal(word != 0, nearest < a->radius);
        within += word != 0;
        for (int k = 0; k < 3; k++) {
            *worst = fmax(*worst, left * fabs(component(word, k) - u[k]));
            length += component(word, k) * component(word, k);
            own += u[k] * u[k];
        }
        *worst_length = fmax(*worst_length, fabs(sqrt(length) - sqrt(own)));
    }
    assert_true(within > 20);
}

static void velocities(void **state)
{
    fixture *f = (fixture *)*state;
    static const struct {
        double power, epsilon;
        float spacing[3];
        int32_t log2_edge;
        double radius;
    } cases[] = {
        { 0, 0, { 1, 1, 1 }, 3, 7 }, { 2, 0.5, { 1, 1, 1 }, 2, 6 },  { 5, 1, { 0.5f, 0.75f, 1.25f }, 3, 5 },
        { 7, 2, { 1, 1, 1 }, 2, 9 }, { 2.5, 0, { 3, 2, 4 }, 2, 20 },
    };
    enum { N = 1500, SIDE = 5 };
    uint64_t seed = test_seed(), keys[SIDE * SIDE * SIDE], half[SIDE * SIDE * SIDE];
    double(*points)[3] = (double(*)[3])malloc(N * sizeof *points);
    tsr_context_options cpu = TSR_CONTEXT_OPTIONS;
    tsr_context *host = NULL;
    cpu.device = "cpu";
    require_ok(tsr_context_create(&cpu, &host));
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c += test_watches_threads() ? 4 : 1) {
        tsr_tile_pool pool = { .log2_edge = cases[c].log2_edge };
        const int32_t E = 1 << pool.log2_edge;
        memcpy(pool.spacing, cases[c].spacing, sizeof pool.spacing);
        for (int i = 0; i < N; i++) { /* a wavy sheet, a line and a clump of points in one place */
            const double s = test_uniform(&seed), t = test_uniform(&seed), side = (SIDE - 1) * E;
            const double index[3] = { side * s, side * t, i % 5 == 0 ? side * t : 0.4 * side + sin(6 * s) };
            for (int k = 0; k < 3; k++) points[i][k] = i > N - 60 ? 3.25 : index[k] * (double)pool.spacing[k];
        }
        const tsr_attraction a = { .points = (const double(*)[3])points,
                                   .count = N,
                                   .speed = 1,
                                   .radius = cases[c].radius,
                                   .time = 1,
                                   .power = cases[c].power,
                                   .epsilon = cases[c].epsilon };
        tsr_attract_field field, same;
        double worst, worst_length;
        int64_t halves = 0;
        const int64_t n = box_keys(-1, SIDE - 1, keys);
        require_ok(tsr_attract_open(f->context, &pool, &a, &field));
        uint32_t *words = words_of(&field, keys, n, NULL, NULL, 0);
        check_words(&field, &a, cases[c].spacing, keys, n, words, &seed, &worst, &worst_length);
        print_message("p %g, spacing %g %g %g: a component of U is off by %.4f, its length by %.4f\n", cases[c].power, (double)pool.spacing[0],
                      (double)pool.spacing[1], (double)pool.spacing[2], worst, worst_length);
        assert_true(worst < 0.06);         /* theta 0.5: some per cent of the pull before it cancels */
        assert_true(worst_length < 0.002); /* the distance is that of the nearest point: what is left is the rounding of three components */
        /* the cache gives what it has; pages do not depend on it */
        const int32_t V = E * E * E;
        uint32_t *kept = (uint32_t *)malloc((size_t)n * (size_t)V * sizeof *kept);
        for (int64_t i = 0; i < n; i += 2) {
            memcpy(kept + halves * V, words + i * V, (size_t)V * sizeof *kept);
            half[halves++] = keys[i];
        }
        kept[5] ^= 1; /* to be seen again */
        uint32_t *again = words_of(&field, keys, n, half, kept, halves);
        assert_int_equal(again[5], words[5] ^ 1);
        again[5] ^= 1;
        assert_memory_equal(again, words, (size_t)n * (size_t)V * sizeof *words);
        free(again);
        free(kept);
        tsr_attract_close(&field);
        /* and on every device they are those of the CPU */
        require_ok(tsr_attract_open(host, &pool, &a, &same));
        uint32_t *there = words_of(&same, keys, n, NULL, NULL, 0);
        assert_memory_equal(there, words, (size_t)n * (size_t)V * sizeof *words);
        free(there);
        free(words);
        tsr_attract_close(&same);
    }
    tsr_context_destroy(&host);
    free(points);
}

/* Tiles within the radius, by the distances of all points from all tiles; those within the ring lie in the box of the part that moves. */
static void tiles_within_reach(void **state)
{
    fixture *f = (fixture *)*state;
    enum { N = 400, SIDE = 13 };
    const float spacing[3] = { 1, 1.5f, 0.75f };
    uint64_t seed = test_seed(), keys[SIDE * SIDE * SIDE];
    uint8_t within[SIDE * SIDE * SIDE];
    double points[N][3];
    int64_t count[3] = { 0, 0, 0 }; /* within neither, the ring, the radius */
    tsr_tile_pool pool = { .log2_edge = 3 };
    tsr_attract_field field;
    memcpy(pool.spacing, spacing, sizeof spacing);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 3; k++) points[i][k] = 8 * (double)spacing[k] * (k == 1 ? 1 : 1.5) * (test_uniform(&seed) + (i % 2 && k == 0 ? 3 : 0));
    const tsr_attraction a = { .points = (const double(*)[3])points, .count = N, .speed = 1, .radius = 5, .time = 1 };
    require_ok(tsr_attract_open(f->context, &pool, &a, &field));
    const int64_t n = box_keys(-6, SIDE - 6, keys);
    require_ok(tsr_attract_tiles_within(&field, keys, n, within));
    const double ring = 5 + 8 * 1.5;
    for (int64_t t = 0; t < n; t++) {
        const int32_t at[3] = { tsr_key_x(keys[t]), tsr_key_y(keys[t]), tsr_key_z(keys[t]) };
        double least = HUGE_VAL;
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int k = 0; k < 3; k++) {
                const double low = at[k] * 8 * (double)spacing[k], high = low + 7 * (double)spacing[k];
                const double away = fmax(fmax(low - points[i][k], points[i][k] - high), 0);
                sum += away * away;
            }
            least = fmin(least, sqrt(sum));
        }
        const int expected = least <= 5 ? 2 : least <= ring ? 1 : 0;
        if (fabs(least - 5) > 1e-4) assert_int_equal(within[t], expected == 2);
        count[expected]++;
        for (int k = 0; k < 3 && expected; k++) assert_true(at[k] >= field.low[k] && at[k] <= field.high[k]);
    }
    assert_true(count[0] > 50 && count[1] > 50 && count[2] > 10);
    tsr_attract_close(&field);
}

/* The words: what was put in to half a step, the opposite bit for bit, and nothing for "none here". */
static void words_hold_velocities(void **state)
{
    uint64_t seed = test_seed();
    (void)state;
    for (int i = 0; i < 2000; i++) {
        float u[3], back[3];
        for (int k = 0; k < 3; k++) {
            u[k] = i < 8 ? (i >> k & 1 ? 1.0f : -1.0f) : (float)(2 * test_uniform(&seed) - 1);
            back[k] = -u[k];
        }
        const uint32_t word = tsr_pull_pack(u), other = tsr_pull_pack(back);
        for (int k = 0; k < 3; k++) {
            assert_true(fabs(component(word, k) - (double)u[k]) <= 0.5 / 511 + 1e-6);
            assert_true(fabs((double)tsr_pull_component(word, k) - component(word, k)) < 1e-7);
            assert_true(tsr_pull_component(word, k) == -tsr_pull_component(other, k));
        }
        assert_true(word != 0);
    }
    for (int k = 0; k < 3; k++) assert_true(tsr_pull_component(0, k) == 0);
}

/* ---- the operator ---------------------------------------------------------------------------------------------------------------------------------- */

/* A lattice of points 3 voxels above the face of a slab. */
enum { LATTICE = 49 };
static void lattice(double points[LATTICE][3])
{
    int n = 0;
    for (int y = -3; y <= 3; y++)
        for (int x = -3; x <= 3; x++) {
            points[n][0] = 2 * x;
            points[n][1] = 2 * y;
            points[n++][2] = 3;
        }
}
static void slab(fixture *f)
{
    const double half = fmin(f->size, 16);
    require_ok(tsr_editor_shape(f->editor, "slab", &(tsr_shape){ .kind = TSR_SHAPE_BOX, .centre = { 0, 0, -6 }, .half = { half, half, 6 } }));
}
/* Where the surface is along z above the middle, from -2 on. */
static double height(const fixture *f)
{
    const tsr_tiles *tiles = tsr_editor_tiles(f->editor, "slab");
    double before = value(f, tiles, 0, 0, -2);
    for (int32_t z = -1; z < 8; z++) {
        const double now = value(f, tiles, 0, 0, z);
        if (before < 0 && now >= 0) return z - 1 + before / (before - now);
        before = now;
    }
    return HUGE_VAL;
}

static void points_of_a_plane(void **state)
{
    fixture *f = (fixture *)*state;
    double points[LATTICE][3], reached = 0;
    lattice(points);
    slab(f);
    tsr_tiles *before = snapshot(f, "slab");
    tsr_attraction a = { .points = (const double(*)[3])points, .count = LATTICE, .speed = 1, .radius = 8, .time = 8, .reached = &reached };
    require_ok(tsr_editor_attract(f->editor, "slab", &a, NULL));
    const tsr_tiles *after = tsr_editor_tiles(f->editor, "slab");
    check_invariants(after);
    print_message("attraction: the surface is at %.3f, the points at 3\n", height(f));
    assert_true(fabs(height(f) - 3) < 0.3 && reached == 8);
    int64_t changed[2] = {
        0
    }; /* beyond the radius no bit has changed, all around; within it much has, to each side of the plane through the middle */
    const int32_t first[3] = { -18, -18, -14 };
    const int64_t extent[3] = { 37, 37, 26 };
    float *old = box_of_values(f, before, first, extent), *now = box_of_values(f, after, first, extent);
    for (int64_t i = 0; i < extent[0] * extent[1] * extent[2]; i++) {
        const double at[3] = { (double)(i % 37 - 18), (double)(i / 37 % 37 - 18), (double)(i / 37 / 37 - 14) };
        double nearest = HUGE_VAL;
        for (int k = 0; k < LATTICE; k++) nearest = fmin(nearest, hypot(hypot(points[k][0] - at[0], points[k][1] - at[1]), points[k][2] - at[2]));
        if (nearest > 8.001 && memcmp(&old[i], &now[i], sizeof *old))
            fail_msg("voxel (%g, %g, %g), %g from the points, has changed", at[0], at[1], at[2], nearest);
        if (at[1] != 0) changed[at[1] > 0] += old[i] != now[i];
    }
    assert_true(changed[0] > 200 && changed[1] > 200);
    for (int32_t y = -4; y <= 4; y += 2) /* the whole of it, not its middle alone */
        for (int32_t x = -4; x <= 4; x += 2) {
            double reached_here = HUGE_VAL;
            for (int32_t z = -2; z < 8; z++) {
                const double p = (double)now[((z + 14) * 37 + y + 18) * 37 + x + 18], q = (double)now[((z + 15) * 37 + y + 18) * 37 + x + 18];
                if (p < 0 && q >= 0) reached_here = z + p / (p - q);
            }
            if (!(fabs(reached_here - 3) < 0.3)) fail_msg("above (%d, %d) the surface is at %.3f, the points at 3", (int)x, (int)y, reached_here);
        }
    free(old);
    free(now);
    require_ok(tsr_editor_undo(f->editor));
    assert_true(equal(before, tsr_editor_tiles(f->editor, "slab")));
    a.speed = -1;
    a.time = 2;
    require_ok(tsr_editor_attract(f->editor, "slab", &a, NULL));
    assert_true(height(f) < -0.3); /* it was 0 */
    require_ok(tsr_editor_undo(f->editor));
    double moved[2]; /* equal and opposite, at the face below the middle of the points */
    for (int i = 0; i < 2; i++) {
        a.speed = i ? -1 : 1;
        a.time = 0.5;
        require_ok(tsr_editor_attract(f->editor, "slab", &a, NULL));
        moved[i] = -value(f, tsr_editor_tiles(f->editor, "slab"), 0, 0, 0);
        require_ok(tsr_editor_undo(f->editor));
    }
    print_message("attraction %.3f, repulsion %.3f\n", moved[0], moved[1]);
    assert_true(moved[0] > 0.1 && fabs(moved[0] + moved[1]) < 0.15 * moved[0]);
    tsr_tiles_destroy(&before);
}

/* Faces and points along x and, towards the other side, along y: the surface reaches the points within 0.3 voxels (docs/theory/editing.md 11). */
static void planes_of_other_axes(void **state)
{
    fixture *f = (fixture *)*state;
    const double half = fmin(f->size, 12);
    for (int k = 0; k < (test_watches_threads() ? 1 : 2); k++) { /* z has a test of its own */
        const int a = k % 3, b = (a + 1) % 3, c = (a + 2) % 3, side = k % 2 ? -1 : 1;
        double points[LATTICE][3], straight[LATTICE][3];
        double middle[3] = { 0, 0, 0 }, extent[3] = { half, half, half };
        lattice(straight);
        for (int i = 0; i < LATTICE; i++) {
            points[i][b] = straight[i][0];
            points[i][c] = straight[i][1];
            points[i][a] = side * straight[i][2];
        }
        middle[a] = -6 * side;
        extent[a] = 6;
        require_ok(tsr_editor_shape(
            f->editor, "slab",
            &(tsr_shape){ .kind = TSR_SHAPE_BOX, .centre = { middle[0], middle[1], middle[2] }, .half = { extent[0], extent[1], extent[2] } }));
        const tsr_attraction pull = { .points = (const double(*)[3])points, .count = LATTICE, .speed = 1, .radius = 8, .time = 8 };
        require_ok(tsr_editor_attract(f->editor, "slab", &pull, NULL));
        for (int i = 0; i < 9; i++) {
            int32_t at[3];
            double before = 0, reached = HUGE_VAL;
            at[b] = 3 * (i % 3 - 1);
            at[c] = 3 * (i / 3 - 1);
            for (int32_t z = -2; z < 8; z++) {
                at[a] = side * z;
                const double now = value(f, tsr_editor_tiles(f->editor, "slab"), at[0], at[1], at[2]);
                if (z > -2 && before < 0 && now >= 0) reached = z - 1 + before / (before - now);
                before = now;
            }
            if (!(fabs(reached - 3) < 0.3)) fail_msg("axis %d, side %d, column %d: the surface is at %.3f, the points at 3", a, side, i, reached);
        }
        require_ok(tsr_editor_remove(f->editor, "slab"));
    }
}

/* Tiles of either edge, first-order and fifth-order schemes: every loop of the solver; the same bits as on the CPU, and the same surface. */
static void every_scheme_and_edge(void **state)
{
    fixture *f = (fixture *)*state;
    double points[LATTICE][3], reached[4];
    tsr_context_options cpu = TSR_CONTEXT_OPTIONS;
    tsr_context *host = NULL;
    lattice(points);
    const tsr_attraction a = { .points = (const double(*)[3])points, .count = LATTICE, .speed = 1, .radius = 5, .time = 1.5 };
    const tsr_shape body = { .kind = TSR_SHAPE_BOX, .centre = { 0.2, 0, -6 }, .half = { 9, 9, 6 } };
    cpu.device = "cpu";
    require_ok(tsr_context_create(&cpu, &host));
    for (int i = 0; i < 4; i++) {
        if (test_watches_threads() && i == 1) { /* a loop each of the schemes */
            reached[1] = reached[0];
            continue;
        }
        tsr_editor_options options = TSR_EDITOR_OPTIONS;
        tsr_editor *there = NULL;
        tsr_tiles *copy = NULL;
        options.edge = i & 1 ? 4 : 8;
        options.draft = i & 2;
        tsr_editor_destroy(&f->editor);
        require_ok(tsr_editor_create(f->context, &options, &f->editor));
        require_ok(tsr_editor_shape(f->editor, "slab", &body));
        require_ok(tsr_editor_attract(f->editor, "slab", &a, NULL));
        check_invariants(tsr_editor_tiles(f->editor, "slab"));
        reached[i] = height(f);
        require_ok(tsr_editor_create(host, &options, &there));
        require_ok(tsr_editor_shape(there, "slab", &body));
        require_ok(tsr_editor_attract(there, "slab", &a, NULL));
        require_ok(tsr_tiles_copy(tsr_editor_tiles(f->editor, "slab"), host, &copy));
        assert_true(equal(copy, tsr_editor_tiles(there, "slab")));
        tsr_tiles_destroy(&copy);
        tsr_editor_destroy(&there);
    }
    print_message("after 1.5: WENO5 %.4f %.4f, first order %.4f %.4f (tiles of 8, of 4)\n", reached[0], reached[1], reached[2], reached[3]);
    assert_true(fabs(reached[0] - reached[1]) < 1e-3 && fabs(reached[2] - reached[3]) < 1e-3 && fabs(reached[0] - reached[2]) < 0.1);
    assert_true(reached[0] > 0.3 && reached[0] < 1.5);
    tsr_context_destroy(&host);
}

/* What the solver says of terms that both need its pages, and of lists whose pages are too small. */
static void solver_refuses(void **state)
{
    fixture *f = (fixture *)*state;
    tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
    tsr_levelset *solver = NULL;
    ball(f, "a", 0, 0, 0, 6);
    tsr_tiles *list = snapshot(f, "a");
    options.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_PULL, .value = 1 };
    options.terms[1] = (tsr_levelset_term){ .kind = TSR_LEVELSET_POTENTIAL, .value = 1 };
    options.term_count = 2;
    require_error(tsr_levelset_create(list, &options, &solver), TSR_ERROR_ARGUMENT, "POTENTIAL and PULL in one run");
    options.term_count = 1;
    require_ok(tsr_levelset_create(list, &options, &solver));
    require_error(tsr_levelset_step(solver, 1, NULL, NULL), TSR_ERROR_STATE, "kind POTENTIAL or PULL needs a payload provider");
    tsr_levelset_destroy(&solver);
    require_ok(tsr_tiles_set_storage(list, TSR_STORAGE_I16));
    require_error(tsr_levelset_create(list, &options, &solver), TSR_ERROR_UNSUPPORTED, "stores 32 bits");
    tsr_tiles_destroy(&list);
}

/* With a tolerance it ends when it rests, at the plane; a tolerance that is never met changes nothing. */
static void it_ends_at_rest(void **state)
{
    fixture *f = (fixture *)*state;
    double points[LATTICE][3], reached = 0;
    lattice(points);
    slab(f);
    tsr_attraction a = {
        .points = (const double(*)[3])points, .count = LATTICE, .speed = 1, .radius = 6, .time = 60, .tolerance = 0.1, .reached = &reached
    };
    require_ok(tsr_editor_attract(f->editor, "slab", &a, NULL));
    print_message("at rest at time %g of 60, at %.3f\n", reached, height(f));
    assert_true(reached >= 4 && reached < 40 && fabs(height(f) - 3) < 0.3);
    tsr_edit_history h = TSR_EDIT_HISTORY;
    tsr_editor_history(f->editor, &h);
    assert_int_equal(h.undo_steps, 2); /* the shape, and all the pieces as one */
    require_ok(tsr_editor_undo(f->editor));
    if (test_watches_threads()) return;
    a.tolerance = 1e-9;
    a.time = 3;
    require_ok(tsr_editor_attract(f->editor, "slab", &a, NULL));
    assert_true(reached == 3);
    tsr_tiles *with = snapshot(f, "slab");
    require_ok(tsr_editor_undo(f->editor));
    a.tolerance = 0;
    require_ok(tsr_editor_attract(f->editor, "slab", &a, NULL));
    assert_true(equal(with, tsr_editor_tiles(f->editor, "slab")));
    tsr_tiles_destroy(&with);
}

/* Points at two balls far from each other, between which there would be 3e10 voxels: both are pulled, and what it takes is what is near. */
static void points_far_apart(void **state)
{
    fixture *f = (fixture *)*state;
    const double far = 3000;
    double points[8][3];
    ball(f, "a", 0, 0, 0, 6);
    ball(f, "b", far, far, far, 6);
    ball(f, "c", far / 2, 0, 0, 6);
    require_ok(tsr_editor_combine(f->editor, "a", "b", TSR_CSG_UNION, 0));
    require_ok(tsr_editor_combine(f->editor, "a", "c", TSR_CSG_UNION, 0));
    tsr_tiles *before = snapshot(f, "a");
    for (int i = 0; i < 8; i++) {
        points[i][0] = (i % 2 ? far : 0) + i / 4;
        points[i][1] = (i % 2 ? far : 0) + i / 2 % 2;
        points[i][2] = (i % 2 ? far : 0) + 8;
    }
    const tsr_attraction a = { .points = (const double(*)[3])points, .count = 8, .speed = 1, .radius = 5, .time = 1 };
    require_ok(tsr_editor_attract(f->editor, "a", &a, NULL));
    const tsr_tiles *after = tsr_editor_tiles(f->editor, "a");
    assert_true(value(f, after, 0, 0, 6) < value(f, before, 0, 0, 6) - 0.2);
    assert_true(value(f, after, 3000, 3000, 3006) < value(f, before, 3000, 3000, 3006) - 0.2);
    assert_true(value(f, after, 1500, 0, 6) == value(f, before, 1500, 0, 6));
    tsr_edit_history h = TSR_EDIT_HISTORY;
    tsr_editor_history(f->editor, &h);
    assert_true(h.tiles > 0 && h.tiles < 40);
    tsr_tiles_destroy(&before);
}

/* Pulled from both sides the field stays a distance: its slope at the surface, the area that measure takes from it, what moves by its values. */
static void it_stays_a_distance(void **state)
{
    fixture *f = (fixture *)*state;
    enum { N = 3000 };
    const double radius = 9.5, turn = 2.399963229728653; /* the golden angle */
    double(*points)[3] = (double(*)[3])malloc(N * sizeof *points), least = HUGE_VAL, most = 0;
    for (int i = 0; i < N; i++) {
        const double z = 1 - (2 * i + 1) / (double)N, r = sqrt(1 - z * z);
        points[i][0] = radius * r * cos(turn * i);
        points[i][1] = radius * r * sin(turn * i);
        points[i][2] = radius * z;
    }
    ball(f, "a", 0, 0, 0, 8);
    const tsr_attraction a = { .points = (const double(*)[3])points, .count = N, .speed = 1, .radius = 5, .time = test_watches_threads() ? 5 : 12 };
    require_ok(tsr_editor_attract(f->editor, "a", &a, NULL));
    check_invariants(tsr_editor_tiles(f->editor, "a"));
    const tsr_tiles *tiles = tsr_editor_tiles(f->editor, "a");
    for (int ray = 0; ray < 6; ray++)
        for (int32_t r = 6; r < 13; r++) { /* along the axes, both ways */
            const int32_t way = ray % 2 ? -1 : 1, x = ray / 2 == 0 ? way : 0, y = ray / 2 == 1 ? way : 0, z = ray / 2 == 2 ? way : 0;
            if (fabs(value(f, tiles, r * x, r * y, r * z)) > 0.7) continue;
            const int32_t out = r + 1, in = r - 1;
            const double slope = (value(f, tiles, out * x, out * y, out * z) - value(f, tiles, in * x, in * y, in * z)) / 2;
            least = fmin(least, slope);
            most = fmax(most, slope);
        }
    tsr_mesh *mesh = NULL, *host = NULL;
    tsr_mesh_measures there = TSR_MESH_MEASURES;
    require_ok(tsr_surface_extract_tiles(f->context, tiles, NULL, &mesh, NULL));
    require_ok(tsr_mesh_copy(mesh, NULL, &host));
    require_ok(tsr_mesh_measure(host, &there));
    tsr_mesh_destroy(&mesh);
    tsr_mesh_destroy(&host);
    const tsr_tiles_measures m = measures(f, "a");
    print_message("slope %.3f to %.3f, area %.1f, of the mesh %.1f\n", least, most, m.area, there.area);
    assert_true(least > 0.9 && most < 1.1 && fabs(m.area / there.area - 1) < 0.05); /* the mesh has corners where the surface is rough */
    require_ok(tsr_editor_redistance(f->editor, "a"));
    assert_true(fabs(m.area / measures(f, "a").area - 1) < 0.02);
    require_ok(tsr_editor_undo(f->editor));
    const double before = cbrt(m.volume);
    require_ok(tsr_editor_offset(f->editor, "a", 2, NULL)); /* the radius of a ball: 0.6203505 of the root of its volume */
    assert_true(fabs(cbrt(measures(f, "a").volume) - before - 2 / 0.6203505) < 0.1 / 0.6203505);
    free(points);
}

/* On spacings that differ along the axes, in a document with small tiles. */
static void uneven_spacing(void **state)
{
    fixture *f = (fixture *)*state;
    tsr_editor_options options = TSR_EDITOR_OPTIONS;
    double points[25][3], reached = -1;
    const double dz = 1.5;
    options.geometry = tsr_geometry_make((tsr_vec3){ 1, 1, dz }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    options.edge = 4;
    tsr_editor_destroy(&f->editor);
    require_ok(tsr_editor_create(f->context, &options, &f->editor));
    for (int i = 0; i < 25; i++) {
        points[i][0] = 2 * (i % 5 - 2);
        points[i][1] = 2 * (i / 5 - 2);
        points[i][2] = 3 * dz;
    }
    require_ok(tsr_editor_shape(f->editor, "slab", &(tsr_shape){ .kind = TSR_SHAPE_BOX, .centre = { 0, 0, -6 }, .half = { 10, 10, 6 } }));
    const tsr_attraction a = { .points = (const double(*)[3])points, .count = 25, .speed = 1, .radius = 9, .time = 9, .reached = &reached };
    require_ok(tsr_editor_attract(f->editor, "slab", &a, NULL));
    check_invariants(tsr_editor_tiles(f->editor, "slab"));
    print_message("spacing 1.5 along z: the surface is at %.3f voxels, the points at 3\n", height(f));
    assert_true(fabs(height(f) - 3) < 0.3 && reached == 9);
}

/* ---- stopping ---------------------------------------------------------------------------------------------------------------------------------------- */

struct stopping {
    int left, calls, octree, potential, steps;
    double last;
};
static int stop_later(void *user, double fraction, const char *stage)
{
    struct stopping *s = (struct stopping *)user;
    assert_true(fraction >= s->last - 1e-12 && fraction <= 1);
    s->last = fraction;
    s->calls++;
    s->octree += strstr(stage, "octree") != NULL;
    s->potential += strstr(stage, "potential") != NULL;
    s->steps += !strcmp(stage, "attraction");
    return s->left-- == 0;
}

/* Stopped at any of its looks at the progress the document stays as it was. */
static void stopped_anywhere(void **state)
{
    fixture *f = (fixture *)*state;
    double points[LATTICE][3];
    lattice(points);
    slab(f);
    tsr_tiles *before = snapshot(f, "slab");
    const tsr_attraction a = { .points = (const double(*)[3])points, .count = LATTICE, .speed = 1, .radius = 6, .time = 3 };
    struct stopping all = { .left = -1 };
    const tsr_progress look = { stop_later, &all };
    require_ok(tsr_editor_attract(f->editor, "slab", &a, &look));
    assert_true(all.octree > 0 && all.potential > 0 && all.steps > 2 && all.last > 0.6);
    require_ok(tsr_editor_undo(f->editor));
    assert_true(equal(before, tsr_editor_tiles(f->editor, "slab")));
    for (int at = 0; at < all.calls; at += test_watches_threads() ? 7 : test_is_slow() ? 4 : 1) {
        struct stopping s = { .left = at };
        const tsr_progress progress = { stop_later, &s };
        require_error(tsr_editor_attract(f->editor, "slab", &a, &progress), TSR_ERROR_CANCELLED, "cancelled");
        assert_int_equal(s.calls, at + 1);
        assert_true(equal(before, tsr_editor_tiles(f->editor, "slab")));
    }
    tsr_edit_history h = TSR_EDIT_HISTORY;
    tsr_editor_history(f->editor, &h);
    assert_int_equal(h.undo_steps, 1);
    tsr_tiles_destroy(&before);
}

static void refusals(void **state)
{
    fixture *f = (fixture *)*state;
    tsr_editor *e = f->editor;
    ball(f, "a", 0, 0, 0, 8);
    tsr_tiles *before = snapshot(f, "a");
    const double one[2][3] = { { 0, 0, 10 }, { 1, 0, 10 } }, bad[2][3] = { { 0, 0, 1 }, { 0, NAN, 0 } }, wide[2][3] = { { 0, 0, 0 }, { 0, 3e7, 0 } };
    const tsr_attraction good = { .points = one, .count = 2, .speed = 1, .radius = 4, .time = 1 };
    tsr_attraction a = good;
    require_error(tsr_editor_attract(e, "b", &a, NULL), TSR_ERROR_STATE, "no object 'b'");
    require_error(tsr_editor_attract(e, "a", NULL, NULL), TSR_ERROR_ARGUMENT, "attraction is NULL");
    a.points = bad;
    require_error(tsr_editor_attract(e, "a", &a, NULL), TSR_ERROR_ARGUMENT, "point 1 is not finite");
    a.points = wide;
    require_error(tsr_editor_attract(e, "a", &a, NULL), TSR_ERROR_ARGUMENT, "span 3");
#define WRONG(member, number, says)                                                    \
    do {                                                                               \
        a = good;                                                                      \
        a.member = number;                                                             \
        require_error(tsr_editor_attract(e, "a", &a, NULL), TSR_ERROR_ARGUMENT, says); \
    } while (0)
    WRONG(count, 0, "0 points");
    WRONG(radius, 0, "radius is 0");
    WRONG(radius, NAN, "radius is");
    WRONG(speed, INFINITY, "speed is not finite");
    WRONG(time, -1, "time of the attraction is -1");
    WRONG(time, 1e8, "less than a million");
    WRONG(power, 1, "power is 1");
    WRONG(power, 11, "power is 11");
    WRONG(epsilon, 1e-9, "epsilon is 1e-09");
    WRONG(epsilon, NAN, "epsilon is");
    WRONG(tolerance, -1, "tolerance is -1");
    assert_true(equal(before, tsr_editor_tiles(e, "a")));
    tsr_tiles_destroy(&before);
    /* nothing near: nothing happens, also where no tile can be; what is undone is that */
    const double beside[1][3] = { { 500, 0, 0 } }, beyond[1][3] = { { 1e12, 0, 0 } };
    before = snapshot(f, "a");
    a = good;
    a.count = 1;
    a.points = beside;
    require_ok(tsr_editor_attract(e, "a", &a, NULL));
    a.points = beyond;
    require_ok(tsr_editor_attract(e, "a", &a, NULL));
    assert_true(equal(before, tsr_editor_tiles(e, "a")));
    tsr_edit_history h = TSR_EDIT_HISTORY;
    tsr_editor_history(e, &h);
    assert_int_equal(h.undo_steps, 3);
    require_ok(tsr_editor_brush(e, "a", &(tsr_brush){ .centre = { 500, 0, 0 }, .sigma = 3, .speed = 1, .time = 1 }, NULL));
    for (int i = 0; i < 3; i++) require_ok(tsr_editor_undo(e));
    tsr_editor_history(e, &h);
    assert_true(h.undo_steps == 1 && h.redo_steps == 3 && equal(before, tsr_editor_tiles(e, "a")));
    for (int i = 0; i < 3; i++) require_ok(tsr_editor_redo(e));
    tsr_editor_history(e, &h);
    assert_true(h.undo_steps == 4 && h.redo_steps == 0 && equal(before, tsr_editor_tiles(e, "a")));
    tsr_tiles_destroy(&before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(velocities, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tiles_within_reach, set_up, tear_down),
        cmocka_unit_test(words_hold_velocities),
        cmocka_unit_test_setup_teardown(every_scheme_and_edge, set_up, tear_down),
        cmocka_unit_test_setup_teardown(solver_refuses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(points_of_a_plane, set_up, tear_down),
        cmocka_unit_test_setup_teardown(planes_of_other_axes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_ends_at_rest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(points_far_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(uneven_spacing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stopped_anywhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_stays_a_distance, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refusals, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("edit_attract", tests, NULL, NULL);
}
