/* Operators of an editor that move the surface, against analytic answers (docs/theory/editing.md 11). The emulator runs smaller bodies. */
#include "edit_fixture.h"

static const double pi = 3.14159265358979323846;

static double radius(const fixture *f, const char *name) { return cbrt(measures(f, name).volume * 3 / (4 * pi)); }
static void spheres_grow_and_shrink(void **state)
{
    fixture *f = (fixture *)*state;
    double r = f->size, step = r / 3.2; /* 32 and 10 */
    ball(f, "a", 0.3, 0, 0, r);
    tsr_tiles *before = snapshot(f, "a");
    require_ok(tsr_editor_offset(f->editor, "a", step, NULL));
    print_message("dilation by %g: radius %.4f\n", step, radius(f, "a"));
    assert_true(fabs(radius(f, "a") - (r + step)) < 0.05);
    check_invariants(tsr_editor_tiles(f->editor, "a"));
    require_ok(tsr_editor_undo(f->editor));
    assert_true(equal(before, tsr_editor_tiles(f->editor, "a")));
    require_ok(tsr_editor_offset(f->editor, "a", -step, NULL));
    print_message("erosion by %g: radius %.4f\n", step, radius(f, "a"));
    assert_true(fabs(radius(f, "a") - (r - step)) < 0.05);
    require_ok(tsr_editor_undo(f->editor));
    require_ok(tsr_editor_close(f->editor, "a", step / 2, NULL)); /* closing of a convex body: nothing */
    assert_true(fabs(radius(f, "a") - r) < 0.1);
    require_ok(tsr_editor_undo(f->editor));
    require_ok(tsr_editor_offset(f->editor, "a", -2 * r, NULL)); /* vanishes: a legal result, undone like any other */
    assert_int_equal(measures(f, "a").tiles, 0);
    require_ok(tsr_editor_undo(f->editor));
    assert_true(equal(before, tsr_editor_tiles(f->editor, "a")));
    tsr_tiles_destroy(&before);
}

/* A ball with a thin tooth: opening takes the tooth and leaves the ball; opening again changes little. A slot fills by closing. */
static void opening_and_closing(void **state)
{
    fixture *f = (fixture *)*state;
    double r = 0.5 * f->size + 4;
    ball(f, "body", 0, 0, 0, r);
    require_ok(
        tsr_editor_shape(f->editor, "tooth", &(tsr_shape){ .kind = TSR_SHAPE_CYLINDER, .centre = { 0, 0, r }, .radius = 1.5, .half = { 0, 0, 6 } }));
    require_ok(tsr_editor_combine(f->editor, "body", "tooth", TSR_CSG_UNION, 0));
    assert_true(value(f, tsr_editor_tiles(f->editor, "body"), 0, 0, (int32_t)r + 4) < 0);
    require_ok(tsr_editor_open(f->editor, "body", 2.5, NULL));
    assert_true(value(f, tsr_editor_tiles(f->editor, "body"), 0, 0, (int32_t)r + 4) > 0);
    double once = radius(f, "body");
    assert_true(fabs(once - r) < 0.1);
    require_ok(tsr_editor_open(f->editor, "body", 2.5, NULL));
    assert_true(fabs(radius(f, "body") - once) < 0.1);
    require_ok(tsr_editor_shape(f->editor, "slot", &(tsr_shape){ .kind = TSR_SHAPE_BOX, .half = { 1.5, 2 * r, 2 * r } }));
    require_ok(tsr_editor_combine(f->editor, "body", "slot", TSR_CSG_DIFFERENCE, 0));
    assert_int_equal(measures(f, "body").components, 2);
    require_ok(tsr_editor_close(f->editor, "body", 3, NULL));
    assert_int_equal(measures(f, "body").components, 1);
    assert_true(value(f, tsr_editor_tiles(f->editor, "body"), 0, 0, 0) < 0);
}

/* A box that grows is a box with round edges, V = 8abc + 8r(ab + bc + ca) + 2 pi r^2 (a + b + c) + 4/3 pi r^3. Its fans begin in one voxel, where no
 * difference sees an angle, and start half a voxel late: of the whole motion that is first order, whatever the order of the scheme, and so is the volume. */
static void boxes_get_round(void **state)
{
    fixture *f = (fixture *)*state;
    double share[2] = { 0 };
    for (int fine = 0; fine < (f->size < 32 ? 1 : 2); fine++) {
        const double s = (f->size < 32 ? 0.5 : 1) * (1 + fine), a = 12 * s, b = 9 * s, c = 7 * s, r = 6 * s;
        const double volume = 8 * a * b * c + 8 * r * (a * b + b * c + c * a) + 2 * pi * r * r * (a + b + c) + 4.0 / 3 * pi * r * r * r;
        const double fans = 2 * pi * r * (a + b + c) + 4 * pi * r * r;
        require_ok(tsr_editor_shape(f->editor, "box", &(tsr_shape){ .kind = TSR_SHAPE_BOX, .centre = { 0.3, 0.2, 0.1 }, .half = { a, b, c } }));
        require_ok(tsr_editor_offset(f->editor, "box", r, NULL));
        const double missing = volume - measures(f, "box").volume;
        share[fine] = missing / volume;
        print_message("box of half extents %g, %g, %g grown by %g: %.2f %% short, its round parts %.3f voxels\n", a, b, c, r, 100 * share[fine],
                      missing / fans);
        assert_true(missing / fans > 0.3 && missing / fans < 0.65);
        require_ok(tsr_editor_remove(f->editor, "box"));
    }
    if (share[1] > 0) assert_true(log2(share[0] / share[1]) > 0.95 && log2(share[0] / share[1]) < 1.3);
}

/* Draft schemes, of first order: within 0.7 of the radius. */
static void drafts(void **state)
{
    fixture *f = (fixture *)*state;
    tsr_editor_options options = TSR_EDITOR_OPTIONS;
    tsr_editor *fine = f->editor;
    const double r = f->size, step = r / 3.2;
    options.draft = 1;
    f->editor = NULL;
    require_ok(tsr_editor_create(f->context, &options, &f->editor));
    for (int way = -1; way <= 1; way += 2) {
        ball(f, "a", 0.3, 0, 0, r);
        require_ok(tsr_editor_offset(f->editor, "a", way * step, NULL));
        print_message("draft, %+g: radius %.4f\n", way * step, radius(f, "a"));
        assert_true(fabs(radius(f, "a") - (r + way * step)) < 0.7);
        require_ok(tsr_editor_remove(f->editor, "a"));
    }
    tsr_editor_destroy(&f->editor);
    f->editor = fine;
}

/* A slab with teeth of 2 to 8 voxels (or slots, of as many, between thick teeth): opening with radius rho takes the teeth thinner than 2 rho, closing fills
 * the slots narrower than that (docs/theory/editing.md 11). */
static void combs(void **state)
{
    fixture *f = (fixture *)*state;
    const double rho = 2.25, length = 12, height = 10;
    const int last = f->size < 32 ? 5 : 8; /* the emulator: 4 and 5 are on either side */
    for (int slots = 0; slots < 2; slots++) {
        double at[9], x = 0;
        for (int w = f->size < 32 ? 4 : 2; w <= last; w++) {
            at[w] = x + 0.5 * w;
            x += w + 10;
        }
        const int first = f->size < 32 ? 4 : 2;
        require_ok(tsr_editor_shape(f->editor, "comb",
                                    &(tsr_shape){ .kind = TSR_SHAPE_BOX,
                                                  .centre = { 0.5 * x - 5, 0, slots ? 0.5 * height - 5 : -5 },
                                                  .half = { 0.5 * x + 5, length, slots ? 0.5 * height + 5 : 5 } }));
        for (int w = first; w <= last; w++) {
            const tsr_shape tooth = { .kind = TSR_SHAPE_BOX,
                                      .centre = { at[w], 0, slots ? height : 0.5 * height - 1 },
                                      .half = { 0.5 * w, slots ? length + 6 : length, slots ? height : 0.5 * height + 1 } };
            require_ok(tsr_editor_shape(f->editor, "tooth", &tooth));
            require_ok(tsr_editor_combine(f->editor, "comb", "tooth", slots ? TSR_CSG_DIFFERENCE : TSR_CSG_UNION, 0));
            require_ok(tsr_editor_remove(f->editor, "tooth"));
        }
        require_ok(slots ? tsr_editor_close(f->editor, "comb", rho, NULL) : tsr_editor_open(f->editor, "comb", rho, NULL));
        for (int w = first; w <= last; w++) {
            const double v = value(f, tsr_editor_tiles(f->editor, "comb"), (int32_t)floor(at[w] + 0.5), 0, 5);
            print_message("%s of %d voxels: %.3f in its middle\n", slots ? "slot" : "tooth", w, v);
            assert_true((v < 0) == (slots ? w < 2 * rho : w > 2 * rho));
        }
        require_ok(tsr_editor_remove(f->editor, "comb"));
    }
}

/* Dilation of phi is the complement of the erosion of -phi, bit for bit. */
static void duality(void **state)
{
    fixture *f = (fixture *)*state;
    tsr_tiles *turned = NULL, *back = NULL;
    ball(f, "a", 0.25, 0.5, 0, 7);
    require_ok(tsr_tiles_complement(tsr_editor_tiles(f->editor, "a"), &turned));
    require_ok(tsr_editor_add(f->editor, "b", turned));
    tsr_tiles_destroy(&turned);
    require_ok(tsr_editor_offset(f->editor, "a", 2, NULL));
    require_ok(tsr_editor_offset(f->editor, "b", -2, NULL));
    require_ok(tsr_tiles_complement(tsr_editor_tiles(f->editor, "b"), &back));
    assert_true(equal(tsr_editor_tiles(f->editor, "a"), back));
    tsr_tiles_destroy(&back);
}

/* The brush on a flat face: ds/dt = exp(-s^2 / 2 sigma^2) at its centre; nothing beyond 3 sigma; undo is exact and small. */
static void brush_is_local(void **state)
{
    fixture *f = (fixture *)*state;
    double sigma = f->size / 4, time = 3, s = 0; /* 8 and 3: s = 2.93 */
    double half = 4 * sigma + 8;
    for (int i = 0; i < 30000; i++) s += time / 30000 * exp(-s * s / (2 * sigma * sigma));
    if (sigma == 8) assert_true(fabs(s - 2.93) < 0.01);
    require_ok(tsr_editor_shape(f->editor, "slab", &(tsr_shape){ .kind = TSR_SHAPE_BOX, .centre = { 0, 0, -8 }, .half = { half, half, 8 } }));
    tsr_tiles *before = snapshot(f, "slab");
    tsr_tiles_measures m = measures(f, "slab");
    require_ok(tsr_editor_brush(f->editor, "slab", &(tsr_brush){ { 0, 0, 0 }, sigma, 1, time }, NULL));
    const tsr_tiles *after = tsr_editor_tiles(f->editor, "slab");
    check_invariants(after);
    /* where the field along z through the centre changes sign */
    double reached = -1;
    for (int32_t z = 0; z < 3 * sigma; z++) {
        double a = value(f, after, 0, 0, z), b = value(f, after, 0, 0, z + 1);
        if (a < 0 && b >= 0) reached = z + a / (a - b);
    }
    print_message("brush: sigma %g, displacement %.4f, expected %.4f\n", sigma, reached, s);
    assert_true(fabs(reached - s) < 0.02 * s + (sigma < 8 ? 0.05 : 0));
    const int32_t reach = (int32_t)half + 3,
                  first[3] = { -reach, -reach, -20 }; /* bits beyond 3 sigma, all around; within, some have changed in every octant */
    const int64_t extent[3] = { 2 * reach + 1, 2 * reach + 1, 40 };
    float *old = box_of_values(f, before, first, extent), *now = box_of_values(f, after, first, extent);
    int64_t changed[4] = { 0 };
    for (int64_t i = 0; i < extent[0] * extent[1] * extent[2]; i++) {
        const double x = (double)(i % extent[0] + first[0]), y = (double)(i / extent[0] % extent[1] + first[1]);
        const double z = (double)(i / extent[0] / extent[1] + first[2]), d = sqrt(x * x + y * y + z * z);
        if (d > 3 * sigma + 0.01 && memcmp(&old[i], &now[i], sizeof *old)) fail_msg("voxel (%g, %g, %g), %g from the brush, has changed", x, y, z, d);
        changed[(x > 0) + 2 * (y > 0)] += old[i] != now[i];
    }
    for (int k = 0; k < 4; k++) assert_true(changed[k] > 20);
    free(old);
    free(now);
    /* while slopes are small the lateral profile is s G(d), each place by its own equation (docs/theory/editing.md 11) */
    if (sigma == 8) {
        require_ok(tsr_editor_undo(f->editor));
        require_ok(tsr_editor_brush(f->editor, "slab", &(tsr_brush){ { 0, 0, 0 }, sigma, 1, 1 }, NULL));
        for (int32_t x = 0; x <= 20; x += 4) {
            double height = 0, there = 99;
            for (int i = 0; i < 10000; i++) height += 1e-4 * exp(-(x * x + height * height) / (2 * sigma * sigma));
            for (int32_t z = -1; z < 3; z++) {
                const double a = value(f, tsr_editor_tiles(f->editor, "slab"), x, 0, z),
                             b = value(f, tsr_editor_tiles(f->editor, "slab"), x, 0, z + 1);
                if (a < 0 && b >= 0) there = z + a / (a - b);
            }
            print_message("brush: %d beside its centre %.4f high, expected %.4f\n", x, there, height);
            assert_true(fabs(there - height) < 0.02);
        }
        require_ok(tsr_editor_undo(f->editor));
        require_ok(tsr_editor_brush(f->editor, "slab", &(tsr_brush){ { 0, 0, 0 }, sigma, 1, time }, NULL));
        after = tsr_editor_tiles(f->editor, "slab");
    }
    tsr_edit_history h = TSR_EDIT_HISTORY;
    tsr_editor_history(f->editor, &h);
    assert_true(h.tiles > 0);
    print_message("brush: %lld pages in the history, %lld tiles in the list\n", (long long)h.tiles, (long long)m.tiles);
    require_ok(tsr_editor_undo(f->editor));
    check_invariants(tsr_editor_tiles(f->editor, "slab"));
    assert_true(equal(before, tsr_editor_tiles(f->editor, "slab")));
    require_ok(tsr_editor_redo(f->editor));
    assert_false(equal(before, tsr_editor_tiles(f->editor, "slab")));
    require_ok(tsr_editor_undo(f->editor));
    /* downwards: a dent */
    require_ok(tsr_editor_brush(f->editor, "slab", &(tsr_brush){ { 0, 0, 0 }, sigma, -1, 2 }, NULL));
    assert_true(value(f, tsr_editor_tiles(f->editor, "slab"), 0, 0, -1) > 0);
    assert_true(value(f, tsr_editor_tiles(f->editor, "slab"), 0, 0, -3) < 0);
    tsr_tiles_destroy(&before);
}

/* Voxels clearly inside the first and clearly outside the second. */
static int64_t lost(const tsr_tiles *before, const tsr_tiles *after)
{
    tsr_tiles *gone;
    tsr_tiles_info info = TSR_TILES_INFO;
    int64_t count = 0;
    require_ok(tsr_tiles_combine(before, after, TSR_CSG_DIFFERENCE, 0, &gone));
    require_ok(tsr_tiles_describe(gone, &info));
    const int64_t voxels = info.count * info.edge * info.edge * info.edge;
    float *values = (float *)malloc((size_t)(voxels + 1) * sizeof *values);
    assert_non_null(values);
    require_ok(tsr_tiles_download(gone, NULL, values));
    for (int64_t i = 0; i < voxels; i++) count += values[i] < -0.5f;
    free(values);
    tsr_tiles_destroy(&gone);
    return count;
}

/* Walls, hollows and solid parts side by side, cut out of the list in many places: where a brush makes the body grow nothing of it goes, and where one does
 * nothing (speed 0) nothing comes either. What a part makes of the space across its cut must not come back with it. */
static void brushes_keep_what_is_beside(void **state)
{
    fixture *f = (fixture *)*state;
    const int emulated = f->size < 32, rounds = emulated ? 1 : test_is_slow() ? 4 : 24;
    uint64_t random = test_seed();
    double half = emulated ? 14 : 40;
    require_ok(tsr_editor_shape(f->editor, "body", &(tsr_shape){ .kind = TSR_SHAPE_BOX, .half = { half, half, half } }));
    for (int i = 0; i < (emulated ? 2 : 14); i++) {
        double at[4];
        for (int k = 0; k < 3; k++) at[k] = ((double)(test_random(&random) % 2001) / 1000 - 1) * half;
        at[3] = 3 + (double)(test_random(&random) % 700) / 100;
        ball(f, "hole", at[0], at[1], at[2], at[3]);
        require_ok(tsr_editor_combine(f->editor, "body", "hole", TSR_CSG_DIFFERENCE, 0));
        require_ok(tsr_editor_remove(f->editor, "hole"));
    }
    for (int i = 0; i < rounds; i++) {
        tsr_brush brush = { .sigma = 2 + (double)(test_random(&random) % 400) / 100, .speed = i % 2, .time = 3 };
        double *at = &brush.centre.x;
        for (int k = 0; k < 3; k++) at[k] = ((double)(test_random(&random) % 2001) / 1000 - 1) * half;
        tsr_tiles *before = snapshot(f, "body");
        require_ok(tsr_editor_brush(f->editor, "body", &brush, NULL));
        check_invariants(tsr_editor_tiles(f->editor, "body"));
        assert_int_equal(lost(before, tsr_editor_tiles(f->editor, "body")), 0);
        if (!brush.speed) assert_int_equal(lost(tsr_editor_tiles(f->editor, "body"), before), 0);
        const double points[1][3] = { { at[0], at[1], at[2] } }; /* far less than a voxel: nothing goes or comes */
        require_ok(
            tsr_editor_attract(f->editor, "body", &(tsr_attraction){ .points = points, .count = 1, .speed = 1, .time = 0.01, .radius = 8 }, NULL));
        assert_int_equal(lost(before, tsr_editor_tiles(f->editor, "body")), 0);
        require_ok(tsr_editor_undo(f->editor));
        require_ok(tsr_editor_undo(f->editor));
        tsr_tiles_destroy(&before);
    }
}

static void smoothing(void **state)
{
    fixture *f = (fixture *)*state;
    double half = f->size / 2;
    require_ok(tsr_editor_shape(f->editor, "box", &(tsr_shape){ .kind = TSR_SHAPE_BOX, .half = { half, half, half } }));
    tsr_tiles_measures first = measures(f, "box"), last = first;
    for (int i = 0; i < 3; i++) { /* area falls each time */
        require_ok(tsr_editor_smooth(f->editor, "box", 1, 0, NULL));
        tsr_tiles_measures now = measures(f, "box");
        assert_true(now.area < last.area && now.volume < last.volume);
        last = now;
    }
    for (int i = 0; i < 3; i++) require_ok(tsr_editor_undo(f->editor));
    require_ok(tsr_editor_smooth(f->editor, "box", 3, 1, NULL)); /* and with the volume kept */
    last = measures(f, "box");
    print_message("volume kept: %.5f of it, area %.4f\n", last.volume / first.volume, last.area / first.area);
    assert_true(last.area < first.area && fabs(last.volume / first.volume - 1) < (f->size < 32 ? 0.03 : 0.01));
    require_ok(tsr_editor_undo(f->editor));
    /* under a brush at one corner: that corner is rounded, the opposite one keeps its bits */
    tsr_tiles *before = snapshot(f, "box");
    int32_t c = (int32_t)half;
    require_ok(tsr_editor_smooth_brush(f->editor, "box", &(tsr_brush){ { half, half, half }, 3, 1, 3 }, NULL));
    assert_true(value(f, tsr_editor_tiles(f->editor, "box"), c - 1, c - 1, c - 1) > value(f, before, c - 1, c - 1, c - 1) + 0.3);
    for (int32_t i = -4; i <= 1; i++)
        assert_true(value(f, tsr_editor_tiles(f->editor, "box"), -c + i, -c + i, -c + i) == value(f, before, -c + i, -c + i, -c + i));
    tsr_tiles_destroy(&before);
}

/* Stored voxels inside one of two surfaces alone, all of them near enough to it to be stored: see its use. */
static double apart(const tsr_tiles *a, const tsr_tiles *b)
{
    int64_t count = 0;
    for (int way = 0; way < 2; way++) {
        tsr_tiles *part;
        tsr_tiles_info info = TSR_TILES_INFO;
        require_ok(tsr_tiles_combine(way ? b : a, way ? a : b, TSR_CSG_DIFFERENCE, 0, &part));
        require_ok(tsr_tiles_describe(part, &info));
        const int64_t voxels = info.count * info.edge * info.edge * info.edge;
        float *values = (float *)malloc((size_t)(voxels + 1) * sizeof *values);
        assert_non_null(values);
        require_ok(tsr_tiles_download(part, NULL, values));
        for (int64_t i = 0; i < voxels; i++) count += values[i] < 0;
        free(values);
        tsr_tiles_destroy(&part);
    }
    return (double)count;
}

static void rotation(void **state)
{
    fixture *f = (fixture *)*state;
    double r = f->size / 3.2;
    ball(f, "a", r, 0, 0, r);
    double volume = measures(f, "a").volume;
    require_ok(tsr_editor_rotate(f->editor, "a", &(tsr_motion){ .axis = { 0, 0, 2 }, .angle = pi / 2 }, NULL));
    tsr_tiles_measures m = measures(f, "a");
    print_message("rotation by 90 degrees: volume %.5f of it, centre (%.3f, %.3f, %.3f)\n", m.volume / volume, m.centroid.x, m.centroid.y,
                  m.centroid.z);
    assert_true(fabs(m.volume / volume - 1) < (f->size < 32 ? 0.05 : 0.005));
    assert_true(fabs(m.centroid.x) < 0.1 && fabs(m.centroid.y - r) < 0.1 && fabs(m.centroid.z) < 0.1);
    require_ok(tsr_editor_rotate(f->editor, "a", &(tsr_motion){ .axis = { 0, 0, 1 }, .angle = -pi / 2 }, NULL));
    m = measures(f, "a");
    assert_true(fabs(m.centroid.x - r) < 0.1 && fabs(m.centroid.y) < 0.1);
    if (f->size < 32 || test_is_slow()) return;
    /* four quarter turns are none (docs/theory/editing.md 11): volume within 0.5 %, symmetric difference at most 0.2 voxel of surface; about its centre a ball stays */
    ball(f, "b", r + 0.37, 0.21, 0.13, r);
    tsr_tiles *before = snapshot(f, "b");
    const double area = 4 * pi * r * r;
    double off = 0;
    for (int i = 0; i < 4; i++) {
        require_ok(tsr_editor_rotate(f->editor, "b", &(tsr_motion){ .axis = { 0, 0, 1 }, .angle = pi / 2 }, NULL));
        off = apart(before, tsr_editor_tiles(f->editor, "b")) / area;
        if (i == 1) assert_true(off * area > volume); /* on the other side: both of them, but for their middle, which has no tile */
    }
    m = measures(f, "b");
    print_message("four quarter turns: volume %.5f of it, %.4f voxels apart\n", m.volume / volume, off);
    assert_true(fabs(m.volume / volume - 1) < 0.005 && off <= 0.2);
    require_ok(tsr_editor_rotate(f->editor, "b", &(tsr_motion){ .centre = { r + 0.37, 0.21, 0.13 }, .axis = { 1, 1, 0 }, .angle = pi / 2 }, NULL));
    assert_true(fabs(radius(f, "b") - cbrt(m.volume * 3 / (4 * pi))) < 0.05);
    tsr_tiles_destroy(&before);
}

static int stop(void *user, double fraction, const char *stage)
{
    (void)fraction;
    (void)stage;
    return ++*(int *)user > 1;
}

static void refusals(void **state)
{
    fixture *f = (fixture *)*state;
    tsr_editor *e = f->editor;
    ball(f, "a", 0, 0, 0, 8);
    tsr_tiles *before = snapshot(f, "a");
    require_error(tsr_editor_brush(e, "a", &(tsr_brush){ { 0, 0, 8 }, 0, 1, 1 }, NULL), TSR_ERROR_ARGUMENT, "sigma is 0");
    require_error(tsr_editor_brush(e, "a", &(tsr_brush){ { 0, 0, 8 }, NAN, 1, 1 }, NULL), TSR_ERROR_ARGUMENT, "sigma is");
    require_error(tsr_editor_brush(e, "a", &(tsr_brush){ { 0, INFINITY, 8 }, 2, 1, 1 }, NULL), TSR_ERROR_ARGUMENT, "centre is not finite");
    require_error(tsr_editor_brush(e, "a", &(tsr_brush){ { 0, 0, 8 }, 2, 1, -1 }, NULL), TSR_ERROR_ARGUMENT, "time of the brush is -1");
    require_error(tsr_editor_brush(e, "a", &(tsr_brush){ { 1e9, 0, 8 }, 2, 1, 1 }, NULL), TSR_ERROR_ARGUMENT, "beyond the tile coordinates");
    require_error(tsr_editor_rotate(e, "a", &(tsr_motion){ .angle = 1 }, NULL), TSR_ERROR_ARGUMENT, "axis has no length");
    require_error(tsr_editor_rotate(e, "a", &(tsr_motion){ .angle = 1, .axis = { 1, 0, 0 }, .scale = 2 }, NULL), TSR_ERROR_ARGUMENT,
                  "shift and scale");
    require_error(tsr_editor_offset(e, "a", NAN, NULL), TSR_ERROR_ARGUMENT, "distance is");
    require_error(tsr_editor_smooth(e, "a", -1, 0, NULL), TSR_ERROR_ARGUMENT, "time is -1");
    /* beside everything: nothing happens */
    require_ok(tsr_editor_brush(e, "a", &(tsr_brush){ { 100, 0, 0 }, 2, 1, 1 }, NULL));
    assert_true(equal(before, tsr_editor_tiles(e, "a")));
    int calls = 0;
    tsr_progress progress = { stop, &calls };
    require_error(tsr_editor_offset(e, "a", 40, &progress), TSR_ERROR_CANCELLED, "cancelled");
    assert_true(equal(before, tsr_editor_tiles(e, "a")));
    tsr_tiles_destroy(&before);
}

static void measured(void *user, const char *object, const tsr_tiles_measures *m)
{
    assert_string_equal(object, "body");
    *(tsr_tiles_measures *)user = *m;
}

/* A head comes off, is turned, pasted and glued: one piece again. */
static void gluing_script(void **state)
{
    fixture *f = (fixture *)*state;
    static const char text[] = "capsule body 0 0 0 6 12\n"
                               "cut body head -10 -10 6 10 10 30 # the upper end\n"
                               "expect body 1\n"
                               "expect head 1\n"
                               "turn head 0 0 6 0 1 0 40\n"
                               "move head 0 0 -2\n"
                               "union body head\n"
                               "brush body 0 0 6 4 1 1\n"
                               "smooth body 1\n"
                               "expect body 1\n"
                               "measure body\n";
    tsr_edit_script script = TSR_EDIT_SCRIPT;
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    script.measured = measured;
    script.user = &m;
    require_ok(tsr_editor_script(f->editor, text, "glue", &script));
    assert_int_equal(m.components, 1);
    assert_int_equal(m.genus, 0);
    tsr_edit_history h = TSR_EDIT_HISTORY;
    for (;;) { /* all of it back to nothing */
        tsr_editor_history(f->editor, &h);
        if (h.undo_steps == 0) break;
        require_ok(tsr_editor_undo(f->editor));
    }
    assert_null(tsr_editor_object_at(f->editor, 0));
    require_error(tsr_editor_script(f->editor, "sphere a 0 0 0 4\nsave a x.tsr\n", "s", NULL), TSR_ERROR_UNSUPPORTED, "s:2: ");
}

static tsr_status ring_points(void *user, tsr_editor *editor, const char *path, tsr_points **points)
{
    const double(*ring)[3] = (const double(*)[3])user;
    (void)editor;
    assert_string_equal(path, "ring.xyz");
    require_ok(tsr_points_create(NULL, 5, 0, points));
    for (int i = 0; i < 15; i++) tsr_points_positions(*points)[i] = (float)ring[i / 3][i % 3];
    return TSR_OK;
}

/* A line does what the call does: every shape with a rotation vector, every motion, boxes that are turned, points of a file. */
static void lines_say_what_calls_say(void **state)
{
    fixture *f = (fixture *)*state;
    tsr_editor *e = f->editor;
    const double degree = acos(-1) / 180, ring[5][3] = { { 8, 0, 0 }, { 0, 8.5, 0 }, { -9, 0, 1 }, { 0, -8.5, 0 }, { 0, 0, 8 } };
    const tsr_vec3 turn = { 30 * degree, -20 * degree, 50 * degree }, at = { 1, -2, 3 };
    const struct {
        const char *line;
        tsr_shape shape;
    } shapes[] = {
        { "box a 1 -2 3 6 4 5 1 30 -20 50", { .kind = TSR_SHAPE_BOX, .centre = at, .half = { 6, 4, 5 }, .radius = 1, .turn = turn } },
        { "ellipsoid a 1 -2 3 7 4 5 30 -20 50", { .kind = TSR_SHAPE_ELLIPSOID, .centre = at, .half = { 7, 4, 5 }, .turn = turn } },
        { "torus a 1 -2 3 7 3 30 -20 50", { .kind = TSR_SHAPE_TORUS, .centre = at, .radius = 7, .minor = 3, .turn = turn } },
        { "cylinder a 1 -2 3 4 6 30 -20 50", { .kind = TSR_SHAPE_CYLINDER, .centre = at, .radius = 4, .half = { 0, 0, 6 }, .turn = turn } },
        { "capsule a 1 -2 3 4 6 30 -20 50", { .kind = TSR_SHAPE_CAPSULE, .centre = at, .radius = 4, .half = { 0, 0, 6 }, .turn = turn } },
        { "box a 1 -2 3 6 4 5", { .kind = TSR_SHAPE_BOX, .centre = at, .half = { 6, 4, 5 } } },
        { "sphere a 1 -2 3 6", { .kind = TSR_SHAPE_SPHERE, .centre = at, .radius = 6 } },
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        require_ok(tsr_editor_script(e, shapes[i].line, "shape", NULL));
        require_ok(tsr_editor_shape(e, "b", &shapes[i].shape));
        if (!equal(tsr_editor_tiles(e, "a"), tsr_editor_tiles(e, "b"))) fail_msg("'%s' is another shape", shapes[i].line);
        require_ok(tsr_editor_script(e, "remove a\nremove b", "remove", NULL));
    }
    require_error(tsr_editor_script(e, "torus a 1 -2 3 7 3 30 -20", "torus", NULL), TSR_ERROR_FORMAT,
                  "'torus' has 7 numbers, expected 5, or 8 with a rotation vector");
    const tsr_motion motion = { .centre = { 2, 0, 1 }, .axis = { 1, 1, 0 }, .angle = 40 * degree };
    const tsr_selection obox = { sizeof obox, .kind = TSR_SELECTION_OBOX, .centre = { 4, 0, 0 }, .half = { 5, 3, 9 }, .turn = turn };
    const tsr_attraction pull = { .points = ring, .count = 5, .speed = 1, .radius = 5, .time = 2 };
    tsr_attraction push = pull;
    push.speed = -1;
    tsr_edit_script script = TSR_EDIT_SCRIPT;
    script.points = ring_points;
    script.user = (void *)(uintptr_t)ring;
    static const char *const lines[] = { "turn a 2 0 1 1 1 0 40", "rotate a 2 0 1 1 1 0 40", "delete a obox 4 0 0 5 3 9 30 -20 50",
                                         "attract-to a ring.xyz 2 5", "repel-from a ring.xyz 2 5" };
    require_ok(tsr_editor_script(e, "ellipsoid a 0 0 0 8 6 5", "body", NULL));
    for (int i = 0; i < 5; i++) {
        tsr_tiles *before = snapshot(f, "a"), *by_line;
        require_ok(tsr_editor_script(e, lines[i], "line", &script));
        by_line = snapshot(f, "a");
        assert_false(equal(before, by_line));
        require_ok(tsr_editor_undo(e));
        if (i == 0) require_ok(tsr_editor_transform(e, "a", &motion, NULL));
        if (i == 1) require_ok(tsr_editor_rotate(e, "a", &motion, NULL));
        if (i == 2) require_ok(tsr_editor_delete(e, "a", &obox, NULL));
        if (i == 3) require_ok(tsr_editor_attract(e, "a", &pull, NULL));
        if (i == 4) require_ok(tsr_editor_attract(e, "a", &push, NULL));
        if (!equal(by_line, tsr_editor_tiles(e, "a"))) fail_msg("'%s' does something else", lines[i]);
        require_ok(tsr_editor_undo(e));
        tsr_tiles_destroy(&by_line);
        tsr_tiles_destroy(&before);
    }
}

/* Redo gives the bits of what was undone, where the brush made tiles within the body and management made their neighbours, too, beyond the brush. */
static void redo_restores(void **state)
{
    fixture *f = (fixture *)*state;
    uint64_t seed = 7;
    int made = 0;
    ball(f, "a", 0, 0, 0, f->size);
    for (int turn = 0; turn < (test_is_slow() ? 12 : 24); turn++) {
        tsr_tiles_info before = TSR_TILES_INFO, after = TSR_TILES_INFO;
        const double a = 2 * pi * test_uniform(&seed), b = 2 * test_uniform(&seed) - 1, r = f->size * sqrt(1 - b * b),
                     deep = 0.9 + 0.1 * test_uniform(&seed);
        const tsr_brush shrink = {
            { deep * r * cos(a), deep * r * sin(a), deep * f->size * b }, f->size / 16 * (1 + 2 * test_uniform(&seed)), turn % 4 == 3 ? 1 : -1, 1
        };
        tsr_tiles *old = snapshot(f, "a");
        require_ok(tsr_tiles_describe(old, &before));
        require_ok(tsr_editor_brush(f->editor, "a", &shrink, NULL));
        tsr_tiles *dented = snapshot(f, "a");
        require_ok(tsr_tiles_describe(dented, &after));
        made += after.count > before.count;
        require_ok(tsr_editor_undo(f->editor));
        assert_true(equal(tsr_editor_tiles(f->editor, "a"), old));
        require_ok(tsr_editor_redo(f->editor));
        assert_true(equal(tsr_editor_tiles(f->editor, "a"), dented));
        tsr_tiles_destroy(&old);
        tsr_tiles_destroy(&dented);
    }
    check_invariants(tsr_editor_tiles(f->editor, "a"));
    assert_true(made > 0 || f->size < 32);
}

/* A ball scaled by any factor is a ball: where the axes cross it, and its volume. Beyond twice, or less than half, it goes there in parts. */
static void scales(void **state)
{
    fixture *f = (fixture *)*state;
    static const double factors[] = { 0.3, 0.45, 0.7, 1.9, 2.4, 2.9 };
    for (int i = 0; i < 6; i++) {
        const double radius = 13.3;
        ball(f, "scaled", 0, 0, 0, radius / factors[i]);
        require_ok(tsr_editor_transform(f->editor, "scaled", &(tsr_motion){ .scale = factors[i] }, NULL));
        const tsr_tiles *tiles = tsr_editor_tiles(f->editor, "scaled");
        double worst = 0;
        for (int axis = 0; axis < 3; axis++)
            for (int32_t side = -1; side <= 1; side += 2) {
                int32_t at[3] = { 0, 0, 0 };
                at[axis] = side * 13;
                const double a = value(f, tiles, at[0], at[1], at[2]);
                at[axis] = side * 14;
                const double b = value(f, tiles, at[0], at[1], at[2]);
                assert_true(a < 0 && b > 0);
                worst = fmax(worst, fabs(13 + a / (a - b) - radius));
            }
        const double volume = measures(f, "scaled").volume / (4 * 3.14159265358979 / 3 * radius * radius * radius);
        print_message("scaled by %g: off by %.4f voxels, volume %.5f\n", factors[i], worst, volume);
        assert_true(worst < 0.005 && fabs(volume - 1) < 0.001);
        require_ok(tsr_editor_remove(f->editor, "scaled"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(scales, set_up, tear_down),
        cmocka_unit_test_setup_teardown(spheres_grow_and_shrink, set_up, tear_down),
        cmocka_unit_test_setup_teardown(opening_and_closing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(boxes_get_round, set_up, tear_down),
        cmocka_unit_test_setup_teardown(drafts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(combs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(duality, set_up, tear_down),
        cmocka_unit_test_setup_teardown(brush_is_local, set_up, tear_down),
        cmocka_unit_test_setup_teardown(brushes_keep_what_is_beside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(smoothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rotation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refusals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gluing_script, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lines_say_what_calls_say, set_up, tear_down),
        cmocka_unit_test_setup_teardown(redo_restores, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
