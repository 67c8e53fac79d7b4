/* Wavefronts: energy, spheres and planes in empty space, absorption, caustics, full lists, and the same bits everywhere. */
#include "light_support.h"

static tsr_light_field *simulate(tsr_context *on, const tsr_light_matter *m, const tsr_light_source *s, const tsr_light_options *o,
                                 tsr_light_report *r)
{
    tsr_light_field *f;
    require_ok(tsr_light_simulate(on, m, s, 1, o, &f, r));
    assert_true(r->balance <= 1e-5);
    return f;
}
static tsr_volume *field_of(tsr_context *on, const tsr_light_matter *m, const tsr_light_field *f)
{
    tsr_volume *v;
    require_ok(tsr_light_field_to_volume(on, m, f, &v));
    return v;
}
static tsr_light_options small(void)
{
    tsr_light_options o = TSR_LIGHT_OPTIONS;
    o.grid = 8;
    o.capacity = 60000;
    return o;
}

/* Plane waves of any direction reach every voxel, with the irradiance that they have. */
static void planes_cover(void **unused)
{
    const int64_t n = 16;
    uint64_t state = test_seed();
    tsr_light_matter *m = light_matter(context, n, 1, light_one, NULL, 0);
    (void)unused;
    for (int t = 0; t < (test_is_slow() ? 1 : 25); t++) {
        tsr_light_source s = { .kind = TSR_LIGHT_DIRECTIONAL, .color = { 1, 0.5, 0.25 } };
        for (int k = 0; k < 3; k++) s.direction[k] = test_uniform(&state) - 0.5;
        const double length = sqrt(s.direction[0] * s.direction[0] + s.direction[1] * s.direction[1] + s.direction[2] * s.direction[2]);
        tsr_light_options o = small();
        tsr_light_report r = TSR_LIGHT_REPORT;
        tsr_light_field *f = simulate(context, m, &s, &o, &r);
        tsr_volume *v = field_of(context, m, f);
        const float *e = (const float *)tsr_volume_data_const(v);
        assert_true(r.lit == 1);
        for (int64_t i = 0; i < n * n * n; i++)
            for (int k = 0; k < 3; k++) {
                assert_true(fabs((double)e[k * n * n * n + i] / s.color[k] - 1) < 2e-3);
                assert_true(fabs((double)e[(3 + k) * n * n * n + i] - s.direction[k] / length) < 2e-4);
            }
        tsr_volume_destroy(&v);
        tsr_light_field_destroy(&f);
    }
    tsr_light_matter_destroy(&m);
}

/* E r^2 = I; a voxel's light comes from somewhere in it. */
static void spheres_thin_out(void **unused)
{
    const int64_t n = test_is_slow() ? 16 : 32;
    const double least = test_is_slow() ? 5 : 10;
    tsr_light_matter *m = light_matter(context, n, 1, light_one, NULL, 0);
    const tsr_light_source s = { .kind = TSR_LIGHT_POINT, .position = { 0.25, -0.125, 0 }, .color = { 7, 7, 7 } };
    tsr_light_options o = small();
    tsr_light_report r = TSR_LIGHT_REPORT;
    (void)unused;
    o.grid = 32; /* new corners lie on chords: small patches from the start */
    tsr_light_field *f = simulate(context, m, &s, &o, &r);
    tsr_volume *v = field_of(context, m, f);
    const float *e = (const float *)tsr_volume_data_const(v);
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < n * n * n; i++) {
        const double p[3] = { (double)(i % n) - 0.5 * (double)(n - 1) - 0.25, (double)(i / n % n) - 0.5 * (double)(n - 1) + 0.125,
                              (double)(i / n / n) - 0.5 * (double)(n - 1) };
        const double d = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]), got = (double)e[i] * d * d / 7;
        if (d < least) continue;
        if (!(got > pow(d / (d + 0.9), 2) * 0.96 && got < pow(d / (d - 0.9), 2) * 1.04))
            fail_msg("E r^2 is %g times the intensity at r = %g", got, d);
        for (int k = 0; k < 3; k++) assert_true(fabs((double)e[(3 + k) * n * n * n + i] - p[k] / d) < 1.0 / d);
        sum += got;
        count++;
    }
    assert_true(fabs(sum / (double)count - 1) < 0.8 / least); /* the strongest, so a little nearer than the middle */
    assert_true(fabs(r.start.power[0] / (4 * M_PI * 7) - 1) < 1e-5);
    tsr_volume_destroy(&v);
    tsr_light_field_destroy(&f);
    tsr_light_matter_destroy(&m);
}

static double dimmer_upwards(const double p[3]) { return 0.03 + 0.001 * (p[0] + 6) + 0.002 * (p[1] + 9) + 0.0015 * (p[2] + 12); }
/* A box of three different sizes, along each axis: what has come through is exp(-the integral of the extinction), which is linear here. */
static void boxes_of_three_sizes(void **unused)
{
    const tsr_size3 n = { 12, 23, 17 };
    const int64_t size[3] = { n.x, n.y, n.z }, stride[3] = { 1, n.x, n.x * n.y };
    (void)unused;
    for (int axis = 0; axis < 3; axis++) {
        tsr_light_source s = { .kind = TSR_LIGHT_DIRECTIONAL, .color = { 1, 1, 1 } };
        s.direction[axis] = 1;
        tsr_light_matter *m = light_matter_box(context, n, 1, light_one, dimmer_upwards, 0);
        const tsr_light_options o = small();
        tsr_light_report r = TSR_LIGHT_REPORT;
        tsr_light_field *f = simulate(context, m, &s, &o, &r);
        tsr_volume *v = field_of(context, m, f);
        const float *e = (const float *)tsr_volume_data_const(v);
        double worst = 0;
        for (int64_t i = 0; i < n.x * n.y * n.z; i++) {
            double p[3], taken = 0;
            for (int k = 0; k < 3; k++) p[k] = (double)(i / stride[k] % size[k]) - 0.5 * (double)(size[k] - 1);
            const double way = (double)(i / stride[axis] % size[axis]) + 0.5, from = -0.5 * (double)size[axis];
            for (int k = 0; k < 64; k++) { /* midpoints: exact but for the half voxels at the border, where the border's value goes on */
                p[axis] = fmax(from + way * (k + 0.5) / 64, from + 0.5);
                taken += dimmer_upwards(p) * way / 64;
            }
            worst = fmax(worst, fabs((double)e[i] / exp(-taken) - 1));
        }
        print_message("light along axis %d: off by %.4f\n", axis, worst);
        assert_true(worst < 0.05); /* half a voxel at most */
        tsr_volume_destroy(&v);
        tsr_light_field_destroy(&f);
        tsr_light_matter_destroy(&m);
    }
}

static double dim(const double p[3])
{
    (void)p;
    return 0.07;
}
/* A clear and a dim volume: what is taken is 1 - exp(-s d); all of it is accounted for. */
static void absorption(void **unused)
{
    const int64_t n = 16;
    const tsr_light_source s = { .kind = TSR_LIGHT_DIRECTIONAL, .direction = { 0, 0, -1 }, .color = { 1, 1, 1 } };
    (void)unused;
    for (int gather = 0; gather < 2; gather++) {
        tsr_light_matter *m = light_matter(context, n, 1, light_one, dim, 0);
        tsr_light_options o = small();
        tsr_light_report r = TSR_LIGHT_REPORT;
        o.record = gather ? TSR_LIGHT_GATHER : TSR_LIGHT_STRONGEST;
        tsr_light_field *f = simulate(context, m, &s, &o, &r);
        tsr_volume *v = field_of(context, m, f);
        const float *e = (const float *)tsr_volume_data_const(v);
        double column[16] = { 0 };
        for (int64_t i = 0; i < n * n * n; i++) column[i / n / n] += (double)e[i] / (double)(n * n);
        for (int64_t z = 0; z < n; z++) { /* irradiance at the middle of a voxel, or its mean over it */
            const double expected = exp(-0.07 * ((double)(n - 1 - z) + 0.5));
            assert_true(fabs(column[z] / expected - 1) < 0.05);
        }
        const double taken = r.absorbed[0] / (r.start.power[0] * (1 - exp(-0.07 * 16)));
        assert_true(taken > 0.9 && taken < 1.02); /* patches beside the volume lose nothing */
        tsr_volume_destroy(&v);
        tsr_light_field_destroy(&f);
        tsr_light_matter_destroy(&m);
    }
}

static double ball(const double p[3])
{
    const double t = fmin(fmax(0.5 - (sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) - 7) / 2.4, 0), 1);
    return 1 + 0.5 * t * t * (3 - 2 * t);
}
/* A ball focuses: by default light ends there, else it goes on, and nothing is lost. The floor gathers what leaves downwards. */
static void caustics(void **unused)
{
    tsr_light_matter *m = light_matter(context, 20, 1, ball, NULL, 0);
    const tsr_light_source s = { .kind = TSR_LIGHT_DIRECTIONAL, .direction = { 0.2, 0.1, -1 }, .color = { 1, 1, 1 } };
    tsr_light_options o = small();
    tsr_light_report r = TSR_LIGHT_REPORT;
    (void)unused;
    o.ground.present = 1;
    o.ground.height = -14;
    o.ground.texels = 64;
    o.ground.extent = 60;
    tsr_light_field *f = simulate(context, m, &s, &o, &r);
    assert_true(r.caustic.power[0] > 0.02 * r.start.power[0] && r.caustic.patches > 0);
    tsr_light_field_destroy(&f);
    o.go_on = 1;
    o.no_fresnel = 1;
    o.faint = 3e-3;
    f = simulate(context, m, &s, &o, &r);
    assert_true(r.caustic.patches == 0 && r.landed.power[0] > 0.85 * r.start.power[0]);
    tsr_volume *light;
    require_ok(tsr_light_field_ground(context, f, &light));
    const float *e = (const float *)tsr_volume_data_const(light);
    double sum = 0, most = 0;
    for (int64_t i = 0; i < 64 * 64; i++) {
        sum += (double)e[i];
        most = fmax(most, (double)e[i]);
    }
    const double open = 1 / sqrt(1 + 0.05), all = sum * (60.0 / 64) * (60.0 / 64) / (3600 * open); /* the floor's share of all light on it */
    print_message("floor: %.4f of its light, brightest %.2f times\n", all, most / open);
    assert_true(all > 0.97 && all < 1.02 && most > 2 * open);
    tsr_volume_destroy(&light);
    tsr_light_field_destroy(&f);
    tsr_light_matter_destroy(&m);
}

static double step_at(double t) { return t < -1 ? 0 : t > 1 ? 1 : 0.5 + 0.25 * t * (3 - t * t); }
static double slab(const double p[3]) { return 1 + 0.5 * step_at(4 - fabs(p[2])); }
static double half_glass(const double p[3]) { return 1 + 0.5 * step_at(-p[2]); }
static double layers(const double p[3]) { return 1.24 + 0.02 * p[2]; }
/* Fresnel's equations in their textbook form, of the angles. */
static double reflectance(double from, double to, double angle)
{
    const double out = asin(from / to * sin(angle));
    if (angle < 1e-9) return pow((from - to) / (from + to), 2);
    return 0.5 * (pow(sin(angle - out) / sin(angle + out), 2) + pow(tan(angle - out) / tan(angle + out), 2));
}
/* What surfaces reflect is taken from the light that passes them: a plate of glass at several angles; total reflection takes nothing, nor does an index that varies
 * slowly. */
static void surfaces(void **unused)
{
    tsr_light_options o = small();
    tsr_light_report r = TSR_LIGHT_REPORT, plain = TSR_LIGHT_REPORT;
    (void)unused;
    o.go_on = 1;
    o.ground.present = 1;
    o.ground.height = -13;
    o.ground.texels = 32;
    tsr_light_matter *m = light_matter(context, 24, 1, slab, NULL, 0);
    for (int degrees = 0; degrees <= 60; degrees += test_is_slow() ? 60 : 30) { /* a beam on its middle */
        const double a = degrees * M_PI / 180, through = pow(1 - reflectance(1, 1.5, a), 2);
        const tsr_light_source s = { .kind = TSR_LIGHT_SPOT,
                                     .position = { -40 * sin(a), 0, 40 * cos(a) },
                                     .direction = { sin(a), 0, -cos(a) },
                                     .color = { 1, 1, 1 },
                                     .angle = 0.8 };
        o.no_fresnel = 1;
        tsr_light_field *f = simulate(context, m, &s, &o, &plain);
        tsr_light_field_destroy(&f);
        o.no_fresnel = 0;
        f = simulate(context, m, &s, &o, &r);
        const double part = r.landed.power[0] / plain.landed.power[0];
        print_message("a plate of glass at %d degrees: %.4f passes, expected %.4f\n", degrees, part, through);
        assert_true(plain.reflected[0] == 0 && r.reflected[0] > 0 && plain.landed.power[0] > 0.999 * plain.start.power[0]);
        assert_true(fabs(part - through) < 0.005 && r.balance < 1e-5);
        tsr_light_field_destroy(&f);
    }
    tsr_light_matter_destroy(&m);
    m = light_matter(context, 24, 1, half_glass, NULL, 0);
    for (int degrees = 20; degrees <= 60; degrees += 40) { /* out of glass: total reflection from 41.8 on */
        const double a = degrees * M_PI / 180, expected = degrees > 41 ? 0 : reflectance(1.5, 1, a);
        const tsr_light_source s = {
            .kind = TSR_LIGHT_SPOT, .position = { -8, 0, -8 }, .direction = { sin(a), 0, cos(a) }, .color = { 1, 1, 1 }, .angle = 3
        };
        tsr_light_field *f = simulate(context, m, &s, &o, &r);
        print_message("out of glass at %d degrees: %.4f is reflected, expected %.4f; %.3f comes back\n", degrees, r.reflected[0] / r.start.power[0],
                      expected, r.landed.power[0] / r.start.power[0]);
        assert_true(fabs(r.reflected[0] / r.start.power[0] - expected) < 0.003);
        assert_true(degrees > 41 ? r.landed.power[0] > 0.97 * r.start.power[0] : r.left.power[0] > 0.9 * r.start.power[0]);
        tsr_light_field_destroy(&f);
    }
    tsr_light_matter_destroy(&m);
    m = light_matter(context, 24, 1, layers, NULL, 0);
    const tsr_light_source s = { .kind = TSR_LIGHT_DIRECTIONAL, .direction = { 0, 0, -1 }, .color = { 1, 1, 1 } };
    tsr_light_field *f = simulate(context, m, &s, &o, &r);
    print_message("layers of slowly varying index: %.2e is reflected\n", r.reflected[0] / r.start.power[0]);
    assert_true(r.reflected[0] == 0);
    tsr_light_field_destroy(&f);
    tsr_light_matter_destroy(&m);
}

/* Lists that are full, steps that end early, and one that splits as it was published. */
static void limits(void **unused)
{
    tsr_light_matter *m = light_matter(context, 16, 1, light_one, NULL, 0);
    const tsr_light_source s = { .kind = TSR_LIGHT_DIRECTIONAL, .direction = { 1, 2, -2 }, .color = { 1, 1, 1 } };
    tsr_light_options o = small();
    tsr_light_report r = TSR_LIGHT_REPORT, full = TSR_LIGHT_REPORT;
    (void)unused;
    tsr_light_field *f = simulate(context, m, &s, &o, &full);
    assert_true(full.crowded == 0 && full.rest.patches == 0 && full.peak > 100);
    assert_true(full.moved >= full.steps && full.moved <= full.steps * full.peak); /* in each step at least one patch, and never more than the peak */
    tsr_light_field_destroy(&f);
    o.capacity = 150;
    f = simulate(context, m, &s, &o, &r);
    assert_true(r.crowded > 0 && r.peak <= 150 + full.start.patches && r.start.power[0] == full.start.power[0]);
    tsr_light_field_destroy(&f);
    o = small();
    o.steps = 5;
    f = simulate(context, m, &s, &o, &r);
    assert_true(r.steps == 5 && r.rest.patches > 0 && r.rest.power[0] > 0.5 * r.start.power[0]);
    tsr_light_field_destroy(&f);
    o = small();
    o.rounds = 1;
    f = simulate(context, m, &s, &o, &r);
    assert_true(r.lit > 0.9);
    tsr_light_field_destroy(&f);
    tsr_light_matter_destroy(&m);
}

static int bent_axis;
static double bent(const double p[3]) { return sqrt(2 + 1.5 * p[bent_axis]); }
/* Waves across an index whose square is linear along one axis: every ray is a parabola, and so is the way into each voxel. */
static void across_a_gradient(void **unused)
{
    enum { SIDE = 24 };
    const double h = 2.0 / SIDE;
    (void)unused;
    for (int k = 0; k < 3; k++)
        for (int other = 1; other < (test_is_slow() ? 2 : 3); other++) {
            const int along = (k + other) % 3;
            bent_axis = k;
            tsr_light_matter *m = light_matter(context, SIDE, h, bent, NULL, 0);
            tsr_light_source s = { .kind = TSR_LIGHT_DIRECTIONAL, .color = { 1, 1, 1 } };
            tsr_light_options o = small();
            tsr_light_report r = TSR_LIGHT_REPORT;
            double apart = 0, all = 0;
            s.direction[along] = 1;
            o.grid = 16;
            tsr_light_field *f = simulate(context, m, &s, &o, &r);
            tsr_volume *v = field_of(context, m, f);
            const float *e = (const float *)tsr_volume_data_const(v);
            for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
                const int at[3] = { i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE };
                const double x = h * (at[along] + 0.5), y = h * (at[k] + 0.5) - 1;
                if (y < -0.1 || y > 0.6 || x < 0.3 || x > 0.9) continue;
                double from = y, tau = 0; /* where its ray came in */
                for (int turn = 0; turn < 20; turn++) {
                    tau = x / sqrt(2 + 1.5 * from);
                    from = y - 1.5 / 4 * tau * tau;
                }
                const double d = 1.5 / 2 * tau / sqrt(2 + 1.5 * y);
                apart += fabs((double)e[(3 + k) * SIDE * SIDE * SIDE + i] - d);
                all += d;
            }
            print_message("across a gradient along %d: %.3f of the turn beside the parabola's\n", k, apart / all);
            assert_true(apart < 0.1 * all); /* a voxel's ray passes anywhere in it */
            tsr_volume_destroy(&v);
            tsr_light_field_destroy(&f);
            tsr_light_matter_destroy(&m);
        }
}

/* The power of a spot is that of its cone: what it gives a steradian, times 2 pi (1 - cos of the half angle). */
static void spots(void **unused)
{
    tsr_light_matter *m = light_matter(context, 24, 1, light_one, NULL, 0);
    (void)unused;
    for (int i = 0; i < (test_is_slow() ? 1 : 3); i++) {
        const tsr_light_source s = {
            .kind = TSR_LIGHT_SPOT, .position = { 0, 0, 11 }, .direction = { 0, 0, -1 }, .color = { 2, 1, 0.5 }, .angle = 20 + 10 * i
        };
        tsr_light_options o = small();
        tsr_light_report r = TSR_LIGHT_REPORT;
        o.grid = 64;
        tsr_light_field *f = simulate(context, m, &s, &o, &r);
        const double cone = 2 * M_PI * (1 - cos(s.angle * acos(-1) / 180));
        for (int k = 0; k < 3; k++)
            if (fabs(r.start.power[k] / (s.color[k] * cone) - 1) > 4e-3)
                fail_msg("cone of %g degrees: %g, expected %g", s.angle, r.start.power[k], s.color[k] * cone);
        tsr_light_field_destroy(&f);
    }
    tsr_light_matter_destroy(&m);
}

/* A ball and a plate in it, whose surfaces are known. */
static tsr_light_matter *known_ball(tsr_context *on)
{
    tsr_light_scene *s;
    tsr_light_matter *m;
    require_ok(tsr_light_scene_parse(
        "tessera-light 1\nbox -10 -10 -10 10 10 10\ncamera 0 -50 0 0 0 0 30\nmaterial glass index 1.5 absorb 0.02 0 0.1\nmaterial oil index 1.4\n"
        "shape sphere glass 0.2 0 0 8.5\nshape box oil -20 -20 -20 20 20 -1\n",
        "ball", NULL, &s));
    require_ok(tsr_light_scene_matter(on, s, 20, NULL, &m));
    tsr_light_scene_destroy(&s);
    return m;
}
/* The same bits on this device, on the CPU, and with one thread. */
static void same_bits(int known)
{
    const tsr_light_source s[2] = {
        { .kind = TSR_LIGHT_DIRECTIONAL, .direction = { 0.3, -0.4, -1 }, .color = { 1, 0.8, 0.6 } },
        { .kind = TSR_LIGHT_SPOT, .position = { 3, 2, 22 }, .direction = { -3, -2, -22 }, .color = { 300, 200, 100 }, .angle = 25, .soft = 0.4 }
    };
    tsr_volume *v[3], *light[3];
    int64_t moved[3];
    for (int c = 0; c < 3; c++) {
        tsr_context *on = c == 0 ? context : test_context_on("cpu", c == 1 ? 1 : 2);
        tsr_light_matter *m = known ? known_ball(on) : light_matter(on, 20, 1, ball, dim, 0);
        tsr_light_options o = small();
        tsr_light_report r = TSR_LIGHT_REPORT;
        tsr_light_field *f;
        o.layers = 2;
        o.capacity = 3000; /* too few */
        o.dispersion = 0.02;
        o.ground.present = 1;
        o.ground.height = -12;
        o.ground.texels = 32;
        require_ok(tsr_light_simulate(on, m, s, 2, &o, &f, &r));
        assert_true(r.balance < 1e-5 && r.crowded > 0 && r.several >= 0 && r.strongest > 0 && r.strongest <= 1);
        moved[c] = r.moved;
        v[c] = field_of(on, m, f);
        require_ok(tsr_light_field_ground(on, f, &light[c]));
        tsr_light_field *again;
        require_ok(tsr_light_field_from_volume(on, m, v[c], &again));
        tsr_light_field_destroy(&again);
        tsr_light_field_destroy(&f);
        tsr_light_matter_destroy(&m);
        if (c) tsr_context_destroy(&on);
    }
    for (int c = 1; c < 3; c++) {
        assert_true(moved[c] == moved[0]);
        assert_memory_equal(tsr_volume_data_const(v[c]), tsr_volume_data_const(v[0]), (size_t)tsr_volume_count(v[0]) * 4);
        assert_memory_equal(tsr_volume_data_const(light[c]), tsr_volume_data_const(light[0]), (size_t)tsr_volume_count(light[0]) * 4);
    }
    for (int c = 0; c < 3; c++) {
        tsr_volume_destroy(&v[c]);
        tsr_volume_destroy(&light[c]);
    }
}
static void same_everywhere(void **unused)
{
    (void)unused;
    same_bits(0);
    same_bits(1);
}

static double solid(const double p[3]) { return p[2] < -2 ? 1 : 0; }
static double bad_index(const double p[3]) { return p[0] > 1 ? 0 : 1; }
static double not_a_number(const double p[3]) { return p[0] > 1 ? (double)NAN : 1; }
static double high_g(const double p[3])
{
    (void)p;
    return 1;
}
static double little_more(const double p[3])
{
    (void)p;
    return 1.01;
}
static void errors(void **unused)
{
    tsr_light_volumes v = { .struct_size = sizeof v };
    tsr_light_matter *m = NULL;
    tsr_light_field *f = NULL;
    tsr_light_report r = TSR_LIGHT_REPORT;
    (void)unused;
    require_error(tsr_light_matter_create(context, &v, &m), TSR_ERROR_ARGUMENT, "no volume is given");
    double (*const wrong[3])(const double p[3]) = { bad_index, not_a_number, high_g };
    static const char *const says[3] = { "index is 0 at voxel", "index is nan at voxel", "asymmetry is 1 at voxel" };
    for (int i = 0; i < 3; i++) {
        tsr_volume *a = light_volume(8, 1, wrong[i]);
        v = (tsr_light_volumes){ .struct_size = sizeof v };
        if (i < 2) v.index = a;
        else v.asymmetry = a;
        require_error(tsr_light_matter_create(context, &v, &m), TSR_ERROR_ARGUMENT, says[i]);
        assert_null(m);
        tsr_volume_destroy(&a);
    }
    /* each of the volumes must have the size of the first */
    tsr_volume *eight = light_volume(8, 1, light_one), *nine = light_volume(9, 1, light_one);
    for (int i = 1; i < 15; i++) {
        v = (tsr_light_volumes){ .struct_size = sizeof v, .index = eight };
        const tsr_volume **all[15] = { &v.index,         &v.extinction[0], &v.extinction[1], &v.extinction[2], &v.scattering[0],
                                       &v.scattering[1], &v.scattering[2], &v.emission[0],   &v.emission[1],   &v.emission[2],
                                       &v.asymmetry,     &v.opaque,        &v.color[0],      &v.color[1],      &v.color[2] };
        *all[i] = nine;
        require_error(tsr_light_matter_create(context, &v, &m), TSR_ERROR_ARGUMENT, "8 x 8 x 8 and 9 x 9 x 9 voxels");
    }
    tsr_volume_destroy(&nine);
    /* what is scattered is a part of the extinction */
    tsr_volume *more = light_volume(8, 1, little_more);
    for (int k = 0; k < 3; k++) {
        v = (tsr_light_volumes){ .struct_size = sizeof v, .extinction = { eight, eight, eight } };
        v.scattering[k] = eight;
        require_ok(tsr_light_matter_create(context, &v, &m));
        tsr_light_matter_destroy(&m);
        v.scattering[k] = more;
        require_error(tsr_light_matter_create(context, &v, &m), TSR_ERROR_ARGUMENT, "more than the extinction there (1)");
    }
    tsr_volume_destroy(&more);
    tsr_volume_destroy(&eight);
    tsr_volume *opaque = light_volume(8, 1, solid);
    v = (tsr_light_volumes){ .struct_size = sizeof v, .opaque = opaque };
    require_ok(tsr_light_matter_create(context, &v, &m));
    tsr_light_source s = { .kind = TSR_LIGHT_POINT, .position = { 0, 0, -3 }, .color = { 1, 1, 1 } };
    require_error(tsr_light_simulate(context, m, &s, 1, NULL, &f, NULL), TSR_ERROR_ARGUMENT, "light 0 lies inside opaque matter");
    tsr_light_options o = small();
    s.position[2] = 1;
    require_ok(tsr_light_simulate(context, m, &s, 1, &o, &f, &r));
    assert_true(r.stopped.power[0] > 0.15 * r.start.power[0] && r.balance < 1e-5);
    tsr_light_field_destroy(&f);
    s.color[1] = -1;
    require_error(tsr_light_simulate(context, m, &s, 1, &o, &f, NULL), TSR_ERROR_ARGUMENT, "light 0: color[1] is -1");
    s.color[1] = 1;
    o.capacity = -1;
    require_error(tsr_light_simulate(context, m, &s, 1, &o, &f, NULL), TSR_ERROR_ARGUMENT, "capacity is -1");
    o = small();
    o.integrator = TSR_LIGHT_VERLET;
    require_error(tsr_light_simulate(context, m, &s, 1, &o, &f, NULL), TSR_ERROR_ARGUMENT, "share their time");
    o = small();
    o.ground.present = 1;
    require_error(tsr_light_simulate(context, m, &s, 1, &o, &f, NULL), TSR_ERROR_ARGUMENT, "height of the floor is 0");
    test_stop stop = { -1, 0 };
    o = small();
    o.progress = (tsr_progress){ test_stops, &stop };
    require_error(tsr_light_simulate(context, m, &s, 1, &o, &f, NULL), TSR_ERROR_CANCELLED, "cancelled");
    assert_null(f);
    tsr_light_matter_destroy(&m);
    tsr_volume_destroy(&opaque);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_cover),
        cmocka_unit_test(spheres_thin_out),
        cmocka_unit_test(boxes_of_three_sizes),
        cmocka_unit_test(absorption),
        cmocka_unit_test(caustics),
        cmocka_unit_test(surfaces),
        cmocka_unit_test(limits),
        cmocka_unit_test(spots),
        cmocka_unit_test(across_a_gradient),
        cmocka_unit_test(same_everywhere),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
