/* The analytic vector fields against what they are said to be (docs/theory/flow.md): closed forms by the C library's functions, potentials and
 * stream functions by differences. */
#include "fields.h"

#define PI 3.14159265358979323846

/* Linear ones by what they do to vectors. */
static void saddle(const double p[3], double time, double v[3])
{
    static const double axis[3][3] = { { 0, 1, 0 }, { 1, 0, 1 }, { 1, 0, -1 } }, value[3] = { 1, -1, 0.5 };
    (void)time;
    v[0] = v[1] = v[2] = 0;
    for (int k = 0; k < 3; k++) {
        const double square = axis[k][0] * axis[k][0] + axis[k][1] * axis[k][1] + axis[k][2] * axis[k][2];
        const double along = (p[0] * axis[k][0] + p[1] * axis[k][1] + p[2] * axis[k][2]) / square;
        for (int c = 0; c < 3; c++) v[c] += value[k] * along * axis[k][c];
    }
}
static void focus(const double p[3], double time, double v[3]) /* eigenvalues 0.3 + i, 0.3 - i and 0.5 */
{
    const double r = hypot(p[0], p[1]), angle = atan2(p[1], p[0]);
    (void)time;
    v[0] = r * (0.3 * cos(angle) - sin(angle));
    v[1] = r * (0.3 * sin(angle) + cos(angle));
    v[2] = 0.5 * p[2];
}
static void helix(const double p[3], double time, double v[3]) /* a turn in 2 pi, a quarter up in one unit of time */
{
    const double r = hypot(p[0], p[1]), angle = atan2(p[1], p[0]);
    (void)time;
    v[0] = -r * sin(angle);
    v[1] = r * cos(angle);
    v[2] = 0.25;
}
static void abc(const double p[3], double time, double v[3])
{
    (void)time;
    abc_rule(NULL, p, v);
}
/* Minus the gradient of the potential of twelve charges, each softened over 0.35. */
static double potential(const double p[3])
{
    double sum = 0;
    for (int k = 0; k < 12; k++) {
        const double radius = k < 6 ? 1.39 : 2.48, x = radius * cos(k % 6 * PI / 3), y = radius * sin(k % 6 * PI / 3);
        sum += (k < 6 ? -1 : 1) / sqrt(pow(p[0] - x, 2) + pow(p[1] - y, 2) + pow(p[2], 2) + pow(0.35, 2));
    }
    return sum;
}
static void benzene(const double p[3], double time, double v[3])
{
    (void)time;
    for (int c = 0; c < 3; c++) {
        double ahead[3] = { p[0], p[1], p[2] }, behind[3] = { p[0], p[1], p[2] };
        ahead[c] += 1e-4;
        behind[c] -= 1e-4;
        v[c] = -(potential(ahead) - potential(behind)) / 2e-4;
    }
}
/* In cylinders about the axis: a Rankine vortex of core 0.18 that turns by 3.2, pulls by 1.1 and lifts. */
static void storm(const double p[3], double time, double v[3])
{
    const double axis[2] = { -0.15 + 0.05 * time + p[2] / 4, p[2] / 10 - time / 50 };
    const double r = hypot(p[0] - axis[0], p[1] - axis[1]), angle = atan2(p[1] - axis[1], p[0] - axis[0]);
    const double profile = r < 0.18 ? r : 0.18 * 0.18 / r, round = 3.2 * profile * (1 - 0.55 * p[2]), out = -1.1 * profile * (1 - 1.8 * p[2]);
    const double near = exp(-0.4 * pow(r / 0.18, 2));
    v[0] = out * cos(angle) - round * sin(angle) + 0.12 * p[2];
    v[1] = out * sin(angle) + round * cos(angle) - 0.05 * p[2];
    v[2] = (2.2 * near - 0.24) * p[2] * (1 - 0.75 * p[2]) + 0.04 * near;
}
static void taylor_green(const double p[3], double time, double v[3])
{
    const double decay = exp(-3 * 0.1 * time);
    v[0] = sin(p[0]) * cos(p[1]) * cos(p[2]) * decay;
    v[1] = -cos(p[0]) * sin(p[1]) * cos(p[2]) * decay;
    v[2] = 0;
}
/* [Shadden, Lekien, Marsden 2005], A = 0.1, epsilon = 0.25, omega = 2 pi / 10: the stream function. */
static double gyres(double x, double y, double time)
{
    const double swing = 0.25 * sin(2 * PI * time / 10);
    return 0.1 * sin(PI * (swing * x * x + (1 - 2 * swing) * x)) * sin(PI * y);
}
static void double_gyre(const double p[3], double time, double v[3])
{
    const double h = 1e-4;
    v[0] = -(gyres(p[0], p[1] + h, time) - gyres(p[0], p[1] - h, time)) / (2 * h);
    v[1] = (gyres(p[0] + h, p[1], time) - gyres(p[0] - h, p[1], time)) / (2 * h);
    v[2] = 0;
}

static const struct {
    const char *name;
    void (*rule)(const double p[3], double time, double v[3]);
    tsr_size3 size;
    tsr_vec3 lower, upper;
} fields[] = {
    { "field-saddle", saddle, { 64, 64, 64 }, { -1, -1, -1 }, { 1, 1, 1 } },
    { "field-focus", focus, { 64, 64, 64 }, { -1, -1, -1 }, { 1, 1, 1 } },
    { "field-helix", helix, { 64, 64, 64 }, { -1, -1, -1 }, { 1, 1, 1 } },
    { "field-abc", abc, { 100, 100, 100 }, { 0, 0, 0 }, { 2 * PI, 2 * PI, 2 * PI } },
    { "field-benzene", benzene, { 100, 100, 100 }, { -4, -4, -4 }, { 4, 4, 4 } },
    { "field-storm", storm, { 100, 100, 50 }, { -1, -1, 0 }, { 1, 1, 1 } },
    { "field-taylor-green", taylor_green, { 64, 64, 64 }, { 0, 0, 0 }, { 2 * PI, 2 * PI, 2 * PI } },
    { "field-double-gyre", double_gyre, { 128, 64, 4 }, { 0, 0, 0 }, { 2, 1, 0.1 } },
};

static void closed_forms(void **unused)
{
    (void)unused;
    for (int k = 0; k < (int)(sizeof fields / sizeof *fields); k++) {
        const tsr_field_shape *shape = tsr_field_shape_at(k);
        assert_non_null(shape);
        assert_string_equal(shape->name, fields[k].name);
        assert_memory_equal(&shape->size, &fields[k].size, sizeof shape->size);
        const double low[3] = { fields[k].lower.x, fields[k].lower.y, fields[k].lower.z },
                     high[3] = { fields[k].upper.x, fields[k].upper.y, fields[k].upper.z };
        assert_true(fabs(shape->lower.x - low[0]) + fabs(shape->lower.y - low[1]) + fabs(shape->lower.z - low[2]) < 1e-12);
        assert_true(fabs(shape->upper.x - high[0]) + fabs(shape->upper.y - high[1]) + fabs(shape->upper.z - high[2]) < 1e-12);
        for (int t = 0; t < 3; t++) {
            const int64_t n[3] = { 21, 14, 9 };
            tsr_field_options o = TSR_FIELD_OPTIONS;
            tsr_volume *made[3];
            o.size = (tsr_size3){ n[0], n[1], n[2] };
            o.time = 2.3 * t;
            require_ok(tsr_field_make(fields[k].name, &o, made));
            for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
                const int64_t at[3] = { i % n[0], i / n[0] % n[1], i / n[0] / n[1] };
                double p[3], v[3];
                for (int c = 0; c < 3; c++) p[c] = low[c] + (high[c] - low[c]) * (double)at[c] / (double)(n[c] - 1);
                fields[k].rule(p, o.time, v);
                const tsr_vec3 there = tsr_geometry_to_world(tsr_volume_geometry(made[0]), (tsr_vec3){ (double)at[0], (double)at[1], (double)at[2] });
                assert_true(fabs(there.x - p[0]) + fabs(there.y - p[1]) + fabs(there.z - p[2]) < 1e-12);
                for (int c = 0; c < 3; c++) {
                    const double got = (double)((const float *)tsr_volume_data(made[c]))[i];
                    if (!(fabs(got - v[c]) < 1e-6 * (1 + fabs(v[c]))))
                        fail_msg("%s at (%g, %g, %g), time %g: component %d is %.8g, expected %.8g", fields[k].name, p[0], p[1], p[2], o.time, c, got,
                                 v[c]);
                }
            }
            for (int c = 0; c < 3; c++) tsr_volume_destroy(&made[c]);
        }
    }
    assert_null(tsr_field_shape_at(-1));
    assert_null(tsr_field_shape_at((int32_t)(sizeof fields / sizeof *fields)));
}

/* Without a size a field has the one it is known by; of one axis it must be given for all. */
static void sizes(void **unused)
{
    tsr_field_options o = TSR_FIELD_OPTIONS;
    tsr_volume *made[3];
    (void)unused;
    require_ok(tsr_field_make("field-double-gyre", NULL, made));
    for (int c = 0; c < 3; c++) {
        const tsr_size3 n = tsr_volume_size(made[c]);
        assert_true(n.x == 128 && n.y == 64 && n.z == 4);
        tsr_volume_destroy(&made[c]);
    }
    for (int c = 0; c < 3; c++) {
        o.size = (tsr_size3){ c == 0 ? 1 : 2, c == 1 ? 1 : 2, c == 2 ? 1 : 2 };
        require_error(tsr_field_make("field-helix", &o, made), TSR_ERROR_ARGUMENT, "expected at least 2 along each axis");
        o.size = (tsr_size3){ c == 0 ? 2 : 0, c == 1 ? 2 : 0, c == 2 ? 2 : 0 };
        require_error(tsr_field_make("field-helix", &o, made), TSR_ERROR_ARGUMENT, "expected at least 2 along each axis");
        assert_null(made[0]);
    }
    o.size = (tsr_size3){ 2, 2, 2 };
    require_ok(tsr_field_make("field-helix", &o, made));
    for (int c = 0; c < 3; c++) tsr_volume_destroy(&made[c]);
    o.time = INFINITY;
    require_error(tsr_field_make("field-helix", &o, made), TSR_ERROR_ARGUMENT, "time is inf");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(closed_forms), cmocka_unit_test(sizes) };
    return cmocka_run_group_tests_name("made fields", tests, NULL, NULL);
}
