/* Onto other grids: labels, what lies outside, straight axes; and what refuses axes that are not. */
#include "volumes.h"

#include <ctype.h>
#include <math.h>

/* Half a millimetre of labels 0, 5 and 7 between voxels of 1: never another value, and the one with most weight, ties to the lower voxel. */
static void labels_stay_labels(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    const tsr_dtype types[] = { TSR_U8, TSR_I16, TSR_U32, TSR_I64 };
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        tsr_volume *in, *device, *out;
        const int wide = types[t] == TSR_I64;
        require_ok(tsr_volume_create(NULL, types[t], (tsr_size3){ 3, 1, 1 }, NULL, &in));
        for (int64_t i = 0; i < 3; i++) {
            const int64_t value = i == 0 ? 0 : (wide ? (INT64_C(1) << 60) : 5) + (i == 2 ? 1 : 0); /* two that doubles take for one */
            if (wide) ((int64_t *)tsr_volume_data(in))[i] = value;
            else if (types[t] == TSR_U8) ((uint8_t *)tsr_volume_data(in))[i] = (uint8_t)value;
            else if (types[t] == TSR_I16) ((int16_t *)tsr_volume_data(in))[i] = (int16_t)value;
            else ((uint32_t *)tsr_volume_data(in))[i] = (uint32_t)value;
        }
        device = to_device(context, in);
        tsr_resample_options options = TSR_RESAMPLE_OPTIONS;
        const tsr_geometry fine = tsr_geometry_make((tsr_vec3){ 0.25, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
        options.geometry = &fine;
        options.size = (tsr_size3){ 9, 1, 1 };
        options.interpolation = TSR_INTERPOLATE_LABEL;
        require_ok(tsr_volume_resample(context, device, &options, &out));
        out = to_host(out);
        const int from[9] = { 0, 0, 0, 1, 1, 1, 1, 2, 2 };
        const size_t element = tsr_dtype_size(types[t]);
        for (int i = 0; i < 9; i++)
            assert_memory_equal((const char *)tsr_volume_data_const(out) + (size_t)i * element,
                                (const char *)tsr_volume_data_const(in) + (size_t)from[i] * element, element);
        tsr_volume_destroy(&out);
        tsr_volume_destroy(&device);
        tsr_volume_destroy(&in);
    }
    /* In two dimensions three quarters of one label outweigh the nearest voxel's own: 1 1 / 1 2 at (0.6, 0.6) has 0.36 of 2 and 0.64 of 1. */
    tsr_volume *in, *device, *out;
    require_ok(tsr_volume_create(NULL, TSR_U8, (tsr_size3){ 2, 2, 1 }, NULL, &in));
    memcpy(tsr_volume_data(in), "\1\1\1\2", 4);
    device = to_device(context, in);
    tsr_resample_options options = TSR_RESAMPLE_OPTIONS;
    const tsr_geometry between = tsr_geometry_make((tsr_vec3){ 0.3, 0.3, 1 }, (tsr_vec3){ 0.6, 0.6, 0 }, TSR_SPACE_NONE);
    options.geometry = &between;
    options.size = (tsr_size3){ 2, 2, 1 };
    options.interpolation = TSR_INTERPOLATE_LABEL;
    require_ok(tsr_volume_resample(context, device, &options, &out));
    out = to_host(out);
    assert_memory_equal(tsr_volume_data_const(out), "\1\2\2\2", 4); /* 0.36, 0.54, 0.54, 0.81 of label 2 */
    tsr_volume_destroy(&out);
    tsr_volume_destroy(&device);
    tsr_volume_destroy(&in);
    tsr_context_destroy(&context);
}

/* 1000 voxels on a larger grid stay 1000; what is outside has the value asked for; grids that do not meet are refused. */
static void outside_is_filled(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_volume *in, *device, *out;
    const tsr_geometry place = tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 5, 0, 0 }, TSR_SPACE_NONE);
    tsr_resample_options options = TSR_RESAMPLE_OPTIONS;
    tsr_geometry target = tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    options.geometry = &target;
    options.size = (tsr_size3){ 20, 10, 10 };
    options.border = TSR_BORDER_CONSTANT;
    for (int i = 0; i < 4; i++) {
        const tsr_dtype dtype = i == 3 ? TSR_F32 : TSR_U8;
        require_ok(tsr_volume_create(NULL, dtype, (tsr_size3){ 10, 10, 10 }, &place, &in));
        if (dtype == TSR_U8) memset(tsr_volume_data(in), 1, 1000);
        else
            for (int v = 0; v < 1000; v++) ((float *)tsr_volume_data(in))[v] = 1;
        device = to_device(context, in);
        options.interpolation = i == 2 ? TSR_INTERPOLATE_LABEL : (tsr_interpolation)(i % 3);
        options.value = i == 3 ? (double)NAN : 0;
        require_ok(tsr_volume_resample(context, device, &options, &out));
        out = to_host(out);
        int64_t ones = 0, fill = 0;
        for (int64_t v = 0; v < 2000; v++) {
            ones += voxel(out, v) == 1;
            fill += i == 3 ? isnan(voxel(out, v)) : voxel(out, v) == 0;
        }
        assert_int_equal(ones, 1000);
        assert_int_equal(fill, 1000);
        tsr_volume_destroy(&out);
        if (i < 3) {
            options.value = 300;
            require_error(tsr_volume_resample(context, device, &options, &out), TSR_ERROR_ARGUMENT, "the value outside is 300");
            options.value = (double)NAN;
            require_error(tsr_volume_resample(context, device, &options, &out), TSR_ERROR_ARGUMENT, "the value outside is nan");
            options.value = 0;
        }
        target.affine[0][3] = -20; /* ends at 4.5, the volume begins there: a face is no voxel */
        options.size.x = 25;
        require_error(tsr_volume_resample(context, device, &options, &out), TSR_ERROR_ARGUMENT, "no voxel of the target grid lies within the volume");
        options.size.x = 26; /* one voxel, at 5 */
        require_ok(tsr_volume_resample(context, device, &options, &out));
        tsr_volume_destroy(&out);
        target.affine[0][3] = 0;
        options.size.x = 20;
        tsr_volume_destroy(&device);
        tsr_volume_destroy(&in);
    }
    /* A target that only its second row crosses, turned by 45 degrees. */
    options.value = 0;
    require_ok(tsr_volume_create(context, TSR_U8, (tsr_size3){ 3, 3, 1 }, NULL, &device));
    const tsr_geometry turned = { { { 1, -1, 0, 0 }, { 1, 1, 0, -4 }, { 0, 0, 1, 0 } }, TSR_SPACE_NONE }; /* (0,-4) + x (1,1) + y (-1,1) */
    options.geometry = &turned;
    options.size = (tsr_size3){ 5, 1, 1 }; /* (0,-4) to (4,0) */
    require_error(tsr_volume_resample(context, device, &options, &out), TSR_ERROR_ARGUMENT, "no voxel of the target grid");
    options.size = (tsr_size3){ 5, 2, 1 }; /* (2,0) at x 3, y 1 is (3-1, -4+3+1) */
    require_ok(tsr_volume_resample(context, device, &options, &out));
    tsr_volume_destroy(&out);
    tsr_volume_destroy(&device);
    tsr_context_destroy(&context);
}

/* A gantry tilted by 20 degrees, 0.5 x 0.5 x 5 mm: the slices stay in their planes, 5 cos(20) apart; a field linear in the world is found again. */
static void shear_is_undone(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    const double sine = 0.34202014332566871, cosine = 0.93969262078590843;
    const tsr_geometry tilted = { { { 0.5, 0, 0, -3 }, { 0, 0.5, 5 * sine, 2 }, { 0, 0, 5 * cosine, 1 } }, TSR_SPACE_LPS };
    const tsr_size3 n = { 8, 9, 4 };
    tsr_geometry straight;
    tsr_size3 m;
    require_ok(tsr_geometry_straighten(&tilted, n, TSR_STRAIGHTEN_DESHEAR, &straight, &m));
    require_ok(tsr_geometry_check_perpendicular(&straight, "straight"));
    assert_int_equal(m.x, 8);
    assert_int_equal(m.y, 9 + 11); /* 3 slices of 5 sin(20) are 10.26 voxels */
    assert_int_equal(m.z, 4);
    const double expected[3][4] = { { 0.5, 0, 0, -3 }, { 0, 0.5, 0, 2 }, { 0, 0, 5 * cosine, 1 } };
    for (int i = 0; i < 12; i++) assert_true(fabs(straight.affine[i / 4][i % 4] - expected[i / 4][i % 4]) < 1e-12);
    assert_int_equal(straight.space, TSR_SPACE_LPS);
    tsr_volume *in, *device, *out;
    require_ok(tsr_volume_create(NULL, TSR_F64, n, &tilted, &in));
    for (int64_t i = 0; i < tsr_volume_count(in); i++) {
        const tsr_vec3 w = tsr_geometry_to_world(&tilted, (tsr_vec3){ (double)(i % n.x), (double)(i / n.x % n.y), (double)(i / n.x / n.y) });
        ((double *)tsr_volume_data(in))[i] = 100 + w.x - 2 * w.y + 3 * w.z;
    }
    device = to_device(context, in);
    tsr_resample_options options = TSR_RESAMPLE_OPTIONS;
    options.geometry = &straight;
    options.size = m;
    options.border = TSR_BORDER_CONSTANT;
    options.value = -1;
    require_ok(tsr_volume_resample(context, device, &options, &out));
    out = to_host(out);
    int64_t inside = 0;
    for (int64_t i = 0; i < tsr_volume_count(out); i++) {
        const tsr_vec3 w = tsr_geometry_to_world(&straight, (tsr_vec3){ (double)(i % m.x), (double)(i / m.x % m.y), (double)(i / m.x / m.y) });
        tsr_vec3 p;
        require_ok(tsr_geometry_to_index(&tilted, w, &p));
        if (p.y < -0.5 || p.y > 8.5) assert_true(voxel(out, i) == -1);
        if (p.y < 0 || p.y > 8) continue;
        inside++;
        assert_true(fabs(voxel(out, i) - (100 + w.x - 2 * w.y + 3 * w.z)) < 1e-9);
    }
    assert_true(inside >= 4 * 8 * 8);
    tsr_volume_destroy(&out);
    /* Along the world's axes likewise; and axes that lie there already stay, whatever their order and signs. */
    require_ok(tsr_geometry_straighten(&sheared, n, TSR_STRAIGHTEN_ALIGN, &straight, &m));
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) assert_true(r == c ? straight.affine[r][c] > 0 : straight.affine[r][c] == 0);
    for (int corner = 0; corner < 8; corner++) { /* every voxel lies in the new box */
        tsr_vec3 p, w = tsr_geometry_to_world(&sheared, (tsr_vec3){ corner & 1 ? 7 : 0, corner & 2 ? 8 : 0, corner & 4 ? 3 : 0 });
        require_ok(tsr_geometry_to_index(&straight, w, &p));
        assert_true(p.x > -1e-5 && p.y > -1e-5 && p.z > -1e-5 && p.x < (double)m.x - 1 + 1e-5 && p.y < (double)m.y - 1 + 1e-5 &&
                    p.z < (double)m.z - 1 + 1e-5);
    }
    const tsr_geometry swapped = { { { 0, 0, -3, 10 }, { 1, 0, 0, 0 }, { 0, 2, 0, 5 } }, TSR_SPACE_RAS };
    require_ok(tsr_geometry_straighten(&swapped, n, TSR_STRAIGHTEN_ALIGN, &straight, &m));
    assert_true(m.x == 4 && m.y == 8 && m.z == 9);
    assert_true(straight.affine[0][0] == 3 && straight.affine[1][1] == 1 && straight.affine[2][2] == 2 && straight.affine[0][3] == 1);
    tsr_volume_destroy(&device);
    tsr_volume_destroy(&in);
    tsr_context_destroy(&context);
}

/* 48 ways for the axes to lie, towards 4 others: no voxel changes, each keeps its place, and the letters are those asked for. */
static void reorienting_loses_nothing(void **state)
{
    (void)state;
    static const char *const wanted[] = { "RAS", "lps", "SRA", "ILP" };
    static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    tsr_context *context = test_context();
    uint64_t random = test_seed();
    tsr_volume *in = random_volume(&random, TSR_U16, (tsr_size3){ 3, 4, 5 }), *device, *out;
    for (int way = 0; way < 96; way++) {
        tsr_geometry g = { .space = way < 48 ? TSR_SPACE_RAS : TSR_SPACE_LPS };
        char letters[4];
        for (int c = 0; c < 3; c++) {
            for (int r = 0; r < 3; r++) g.affine[r][c] = 0.1 * (double)(c + 1);
            g.affine[orders[way / 8 % 6][c]][c] = (way >> c & 1 ? -1 : 1) * (double)(c + 1);
            g.affine[c][3] = 7 * c;
        }
        require_ok(tsr_volume_set_geometry(in, &g));
        device = to_device(context, in);
        require_ok(tsr_volume_reorient(context, device, wanted[way % 4], &out));
        out = to_host(out);
        tsr_geometry_orientation(tsr_volume_geometry(out), letters);
        for (int k = 0; k < 3; k++) assert_int_equal(letters[k], toupper(wanted[way % 4][k]));
        const tsr_size3 m = tsr_volume_size(out);
        assert_int_equal(tsr_volume_count(out), 60);
        for (int64_t i = 0; i < 60; i++) {
            tsr_vec3 p;
            require_ok(tsr_geometry_to_index(
                &g,
                tsr_geometry_to_world(tsr_volume_geometry(out), (tsr_vec3){ (double)(i % m.x), (double)(i / m.x % m.y), (double)(i / m.x / m.y) }),
                &p));
            assert_true(voxel(out, i) == voxel(in, at(in, llround(p.x), llround(p.y), llround(p.z))));
        }
        tsr_volume_destroy(&out);
        tsr_volume_destroy(&device);
    }
    device = to_device(context, in);
    require_error(tsr_volume_reorient(context, device, "RAL", &out), TSR_ERROR_ARGUMENT, "'RAL', expected three letters");
    require_error(tsr_volume_reorient(context, device, "RASS", &out), TSR_ERROR_ARGUMENT, "'RASS', expected three letters");
    require_error(tsr_volume_reorient(context, device, "", &out), TSR_ERROR_ARGUMENT, "expected three letters");
    tsr_volume_destroy(&device);
    tsr_volume_destroy(&in);
    require_ok(tsr_volume_create(context, TSR_U8, (tsr_size3){ 2, 2, 2 }, NULL, &device));
    require_error(tsr_volume_reorient(context, device, "RAS", &out), TSR_ERROR_UNSUPPORTED, "names no world frame");
    tsr_volume_destroy(&device);
    tsr_context_destroy(&context);
}

/* Everything that takes the spacing for lengths along the axes refuses a sheared grid, naming the angle and the way out. */
static void shear_is_refused(void **state)
{
    (void)state;
    static const char text[] = "expected perpendicular ones: resample the volume to a grid that has them (tessera convert --deshear)";
    tsr_context *context = test_context();
    tsr_volume *device, *out;
    tsr_smooth_options smooth = TSR_SMOOTH_OPTIONS;
    require_ok(tsr_volume_create(context, TSR_F32, (tsr_size3){ 6, 5, 4 }, &sheared, &device));
    smooth.sigma = 1;
    require_error(tsr_volume_smooth(context, device, &smooth, &out), TSR_ERROR_UNSUPPORTED, text);
    require_error(tsr_volume_laplacian(context, device, &smooth, &out), TSR_ERROR_UNSUPPORTED, text);
    require_error(tsr_distance_transform(context, device, NULL, &out), TSR_ERROR_UNSUPPORTED, text);
    require_error(tsr_distance_evolve(context, device, NULL, &out, NULL), TSR_ERROR_UNSUPPORTED, text);
    smooth.in_voxels = 1; /* says itself what it means */
    require_ok(tsr_volume_smooth(context, device, &smooth, &out));
    tsr_volume_destroy(&out);
    smooth = (tsr_smooth_options)TSR_SMOOTH_OPTIONS; /* sigma 0 smooths nothing */
    require_ok(tsr_volume_smooth(context, device, &smooth, &out));
    tsr_volume_destroy(&out);
    tsr_volume_destroy(&device);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(labels_stay_labels), cmocka_unit_test(outside_is_filled), cmocka_unit_test(shear_is_undone),
                                        cmocka_unit_test(reorienting_loses_nothing), cmocka_unit_test(shear_is_refused) };
    return cmocka_run_group_tests_name("grids", tests, NULL, NULL);
}
