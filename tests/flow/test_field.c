/* Vector fields: differences against closed forms in turned and mirrored grids, files of all kinds, bad input. */
#include "fields.h"

#include <unistd.h>

/* (2 y, -3 x, x + 4 z) and what follows from it: curl (0, 0, -5) + (0, -1, 0), divergence 4, Q = 6 - 8. */
static double affine_matrix[9] = { 0, 2, 0, -3, 0, 0, 1, 0, 4 };

/* The grid's axes lie along other axes of the world, one of them backward, with spacings of their own. */
static tsr_vector_field *turned_field(tsr_context *context, int64_t n, int mirrored)
{
    tsr_geometry g = tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 1, -2, 3 }, TSR_SPACE_NONE);
    tsr_volume *c[3];
    tsr_vector_field *field = NULL;
    const double axes[3][3] = { { 0, 0, mirrored ? -0.5 : 0.5 }, { 0.25, 0, 0 }, { 0, 1, 0 } }; /* rows: world; columns: grid */
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) g.affine[r][k] = axes[r][k];
    for (int k = 0; k < 3; k++) require_ok(tsr_volume_create(NULL, TSR_F64, (tsr_size3){ n, n + 1, n + 2 }, &g, &c[k]));
    for (int64_t i = 0; i < n * (n + 1) * (n + 2); i++) {
        const tsr_vec3 at = tsr_geometry_to_world(&g, (tsr_vec3){ (double)(i % n), (double)(i / n % (n + 1)), (double)(i / n / (n + 1)) });
        const double p[3] = { at.x, at.y, at.z };
        double v[3];
        linear_rule(affine_matrix, p, v);
        for (int k = 0; k < 3; k++) ((double *)tsr_volume_data(c[k]))[i] = v[k];
    }
    require_ok(tsr_field_create(context, (const tsr_volume *const *)c, &field));
    for (int k = 0; k < 3; k++) tsr_volume_destroy(&c[k]);
    return field;
}

static void derived(void **unused)
{
    tsr_context *context = test_context();
    (void)unused;
    for (int mirrored = 0; mirrored < 2; mirrored++) {
        const int64_t n = 5;
        tsr_vector_field *field = turned_field(context, n, mirrored);
        static const double expected[TSR_FIELD_QUANTITIES] = {
            [TSR_FIELD_DIVERGENCE] = 4, [TSR_FIELD_Q] = 6 - 8, [TSR_FIELD_CURL_Y] = -1, [TSR_FIELD_CURL_Z] = -5
        };
        for (int q = TSR_FIELD_SPEED; q < TSR_FIELD_QUANTITIES; q++) {
            tsr_volume *volume;
            tsr_field_quantity parsed;
            require_ok(tsr_field_quantity_parse(tsr_field_quantity_name((tsr_field_quantity)q), &parsed));
            assert_int_equal(parsed, q);
            require_ok(tsr_field_derive(field, parsed, &volume));
            float *v = host_copy(volume);
            for (int64_t i = 0; i < tsr_volume_count(volume); i++) {
                const tsr_vec3 at = tsr_geometry_to_world(tsr_volume_geometry(volume),
                                                          (tsr_vec3){ (double)(i % n), (double)(i / n % (n + 1)), (double)(i / n / (n + 1)) });
                const double p[3] = { at.x, at.y, at.z };
                double own[3], w[3], b[3], value = expected[q];
                linear_rule(affine_matrix, p, own);
                linear_rule(affine_matrix, own, w);
                cross(own, w, b);
                if (q == TSR_FIELD_SPEED) value = norm3(own);
                if (q == TSR_FIELD_CURVATURE) value = norm3(b) / pow(norm3(own), 3);
                if (q == TSR_FIELD_VORTICITY) value = sqrt(26);
                if (q == TSR_FIELD_HELICITY) value = -own[1] - 5 * own[2];
                if (fabs((double)v[i] - value) > 2e-5 * (1 + fabs(value)))
                    fail_msg("%s of sample %lld is %g, expected %g", tsr_field_quantity_name(parsed), (long long)i, (double)v[i], value);
            }
            free(v);
            tsr_volume_destroy(&volume);
        }
        /* vectors and accelerations come back along the axes of the world */
        const double at[] = { 1.5, 2.25, 3.75, 0, 0, 0, 4, 5, 6 };
        tsr_vector_sample s[3];
        tsr_field_info info = TSR_FIELD_INFO;
        require_ok(tsr_field_probe(field, at, 3, s));
        require_ok(tsr_field_describe(field, &info));
        for (int k = 0; k < 3; k++) {
            const tsr_vec3 world = tsr_geometry_to_world(&info.geometry, (tsr_vec3){ at[3 * k], at[3 * k + 1], at[3 * k + 2] });
            const double p[3] = { world.x, world.y, world.z };
            double v[3], w[3];
            linear_rule(affine_matrix, p, v);
            linear_rule(affine_matrix, v, w);
            assert_true(fabs(s[k].v.x - v[0]) < 1e-5 && fabs(s[k].v.y - v[1]) < 1e-5 && fabs(s[k].v.z - v[2]) < 1e-4);
            assert_true(fabs(s[k].w.x - w[0]) < 1e-4 && fabs(s[k].w.y - w[1]) < 1e-4 && fabs(s[k].w.z - w[2]) < 1e-3);
            assert_true(fabs(s[k].vorticity - sqrt(26)) < 1e-4);
        }
        assert_true(info.speed_max > info.speed_rms && info.accel_max > 0 && info.device_bytes == 32 * n * (n + 1) * (n + 2));
        tsr_field_destroy(&field);
    }
    tsr_context_destroy(&context);
}

/* Curvature against the ABC flow falls with the square of the spacing. */
static void curvature_order(void **unused)
{
    double error[2] = { 0, 0 };
    tsr_context *context = test_context();
    (void)unused;
    for (int k = 0; k < 2; k++) {
        const int64_t n = test_is_slow() ? 9 + 8 * k : 25 + 24 * k;
        const double h = 2 * 3.14159265358979323846 / (double)(n - 1);
        tsr_vector_field *field = abc_field(context, n);
        tsr_volume *volume;
        require_ok(tsr_field_derive(field, TSR_FIELD_CURVATURE, &volume));
        float *kappa = host_copy(volume);
        for (int64_t i = 0; i < n * n * n; i++) {
            const int64_t at[3] = { i % n, i / n % n, i / n / n };
            const double p[3] = { h * (double)at[0], h * (double)at[1], h * (double)at[2] };
            double v[3], w[3], b[3];
            if (at[0] == 0 || at[1] == 0 || at[2] == 0 || at[0] == n - 1 || at[1] == n - 1 || at[2] == n - 1) continue;
            abc_rule(NULL, p, v);
            abc_acceleration(p, w);
            cross(v, w, b);
            if (norm3(v) > 1) error[k] = fmax(error[k], fabs((double)kappa[i] - norm3(b) / pow(norm3(v), 3)));
        }
        free(kappa);
        tsr_volume_destroy(&volume);
        tsr_field_destroy(&field);
    }
    print_message("curvature off by %.3g and %.3g\n", error[0], error[1]);
    assert_true(error[0] / error[1] > 2.5);
    tsr_context_destroy(&context);
}

/* ---- files ------------------------------------------------------------------------------------------------------------------------------ */

static void same(tsr_volume *const a[3], tsr_volume *const b[3])
{
    for (int k = 0; k < 3; k++) {
        assert_int_equal(tsr_volume_count(a[k]), tsr_volume_count(b[k]));
        assert_memory_equal(tsr_volume_data(a[k]), tsr_volume_data(b[k]), (size_t)tsr_volume_count(a[k]) * 4);
    }
}
static void drop(tsr_volume *c[3])
{
    for (int k = 0; k < 3; k++) tsr_volume_destroy(&c[k]);
}
static void put(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void files(void **unused)
{
    static const char *const endings[] = { "nrrd", "npy", "vtk", "nrrd", "vti" };
    tsr_field_options o = TSR_FIELD_OPTIONS;
    tsr_write_options w = TSR_WRITE_OPTIONS;
    tsr_volume *made[3], *read[3];
    char path[3][64];
    const char *paths[3] = { path[0], path[1], path[2] };
    (void)unused;
    o.size = (tsr_size3){ 6, 5, 7 };
    o.time = 1;
    w.overwrite = 1;
    require_ok(tsr_field_make("field-storm", &o, made));
    for (int k = 0; k < 5; k++) {
        snprintf(path[0], sizeof path[0], "field-%d.%s", (int)getpid(), endings[k]);
        w.compression = k == 3 ? 6 : 0;
        require_ok(tsr_field_write((const tsr_volume *const *)made, path[0], &w));
        require_ok(tsr_field_read(paths, 1, NULL, read));
        same(made, read);
        if (k != 1)
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 4; c++)
                    assert_true(fabs(tsr_volume_geometry(read[1])->affine[r][c] - tsr_volume_geometry(made[1])->affine[r][c]) < 1e-12);
        drop(read);
        unlink(path[0]);
    }
    /* a file for each component */
    w.compression = 0;
    for (int k = 0; k < 3; k++) {
        snprintf(path[k], sizeof path[k], "field-%d-%c.nrrd", (int)getpid(), "xyz"[k]);
        require_ok(tsr_volume_write(made[k], path[k], &w));
    }
    require_ok(tsr_field_read(paths, 3, NULL, read));
    same(made, read);
    drop(read);
    require_error(tsr_field_read(paths, 1, NULL, read), TSR_ERROR_FORMAT, "one number at each voxel");
    require_error(tsr_field_read(paths, 2, NULL, read), TSR_ERROR_ARGUMENT, "2 files");
    for (int k = 0; k < 3; k++) unlink(path[k]);
    drop(made);
    paths[0] = "no-such-file.nrrd";
    require_error(tsr_field_read(paths, 1, NULL, read), TSR_ERROR_IO, "no-such-file");
}

#define VTK_HEAD "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 2 2 2\nORIGIN 1 2 3\nSPACING 0.5 1 2\n"
#define VTK_VECTORS "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24\n"

static void vtk_images(void **unused)
{
    static const char *const good[] = {
        VTK_HEAD "POINT_DATA 8\nVECTORS v float\n" VTK_VECTORS,
        VTK_HEAD
        "CELL_DATA 1\nVECTORS c float\n0 0 0\nPOINT_DATA 8\nSCALARS s int 1\nLOOKUP_TABLE default\n0 0 0 0 0 0 0 0\nVECTORS v double\n" VTK_VECTORS,
        VTK_HEAD "POINT_DATA 8\nSCALARS v short 3\nLOOKUP_TABLE default\n" VTK_VECTORS,
        VTK_HEAD "POINT_DATA 8\nFIELD f 2\na 1 8 float\n0 0 0 0 0 0 0 0\nb 3 8 double\n" VTK_VECTORS,
    };
    static const struct {
        const char *text, *message;
    } bad[] = {
        { VTK_HEAD "POINT_DATA 8\nVECTORS v float\n1 2 3\n", "bytes left" },
        { VTK_HEAD "POINT_DATA 7\nVECTORS v float\n" VTK_VECTORS, "8 points" },
        { VTK_HEAD "POINT_DATA 8\nVECTORS v float\n1 2 x 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24\n", "'x'" },
        { VTK_HEAD "POINT_DATA 8\nSCALARS v float 1\nLOOKUP_TABLE default\n1 2 3 4 5 6 7 8\n", "VECTORS" },
        { "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 2000000000 2000000000 2000000000\nPOINT_DATA 8\n", "extents" },
        { "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 900000 900000 9000\nPOINT_DATA 7290000000000000\nVECTORS v "
          "float\n1 2 3\n",
          "bytes left" },
        { "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 2 2 2\nSPACING 0 1 1\n", "SPACING" },
        { "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\n", "STRUCTURED_POINTS" },
        { "# vtk DataFile Version 3.0\n", "ASCII or BINARY" },
        { "# vtk DataFile Version 9.0\nt\nASCII\nDATASET STRUCTURED_POINTS\n", "version 9" },
    };
    char path[64];
    const char *paths[1] = { path };
    tsr_volume *read[3];
    (void)unused;
    snprintf(path, sizeof path, "image-%d.vtk", (int)getpid());
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        put(path, good[k], strlen(good[k]));
        require_ok(tsr_field_read(paths, 1, NULL, read));
        for (int i = 0; i < 8; i++)
            for (int c = 0; c < 3; c++) assert_true(((const float *)tsr_volume_data(read[c]))[i] == (float)(3 * i + c + 1));
        assert_true(tsr_volume_geometry(read[0])->affine[1][3] == 2 && tsr_volume_geometry(read[0])->affine[2][2] == 2);
        drop(read);
    }
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        put(path, bad[k].text, strlen(bad[k].text));
        require_error(tsr_field_read(paths, 1, NULL, read), strncmp(bad[k].message, "version", 7) ? TSR_ERROR_FORMAT : TSR_ERROR_UNSUPPORTED,
                      bad[k].message);
        assert_null(read[0]);
    }
    unlink(path);
}

/* What is wrong with a file of vectors that ends early is that it ends, not that it holds vectors. */
static void ends_early(void **unused)
{
    static const char text[] =
        "NRRD0004\ntype: float\ndimension: 4\nsizes: 3 2 2 2\nkinds: vector domain domain domain\nencoding: raw\nendian: little\n\n0123456789";
    char path[64];
    const char *paths[1] = { path };
    tsr_volume *read[3];
    (void)unused;
    snprintf(path, sizeof path, "short-%d.nrrd", (int)getpid());
    put(path, text, strlen(text));
    require_error(tsr_field_read(paths, 1, NULL, read), TSR_ERROR_FORMAT, "truncated");
    unlink(path);
}

/* NumPy arrays of shape z, y, x, 3 and 3, z, y, x. */
static void numpy(void **unused)
{
    char path[64], file[128 + 2 * 3 * 4 * 3 * 4];
    const char *paths[1] = { path };
    (void)unused;
    snprintf(path, sizeof path, "array-%d.npy", (int)getpid());
    for (int first = 0; first < 2; first++) {
        tsr_volume *read[3];
        char text[118];
        memset(file, 0, sizeof file);
        memcpy(file, "\x93NUMPY\1\0\x76\0", 10);
        snprintf(text, sizeof text, "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }", first ? "3, 2, 5, 6" : "2, 3, 4, 3");
        memset(file + 10, ' ', 118);
        memcpy(file + 10, text, strlen(text));
        file[127] = '\n';
        const int count = first ? 3 * 2 * 5 * 6 : 2 * 3 * 4 * 3;
        char *whole = calloc(1, 128 + (size_t)count * 4);
        memcpy(whole, file, 128);
        for (int k = 0; k < count; k++) {
            const float v = (float)k;
            memcpy(whole + 128 + 4 * k, &v, 4);
        }
        put(path, whole, 128 + (size_t)count * 4);
        free(whole);
        require_ok(tsr_field_read(paths, 1, NULL, read));
        const tsr_size3 n = tsr_volume_size(read[0]);
        assert_true(first ? n.x == 6 && n.y == 5 && n.z == 2 : n.x == 4 && n.y == 3 && n.z == 2);
        for (int c = 0; c < 3; c++) assert_true(((const float *)tsr_volume_data(read[c]))[7] == (float)(first ? 60 * c + 7 : 21 + c));
        drop(read);
    }
    unlink(path);
}

/* ---- making and refusing ---------------------------------------------------------------------------------------------------------------- */

static void shapes(void **unused)
{
    const tsr_field_shape *shape = NULL;
    tsr_volume *a[3], *b[3];
    (void)unused;
    for (int32_t k = 0; (shape = tsr_field_shape_at(k)); k++) {
        tsr_field_options o = TSR_FIELD_OPTIONS;
        o.size = (tsr_size3){ 9, 8, 7 };
        require_ok(tsr_field_make(shape->name, &o, a));
        o.threads = 3;
        require_ok(tsr_field_make(shape->name, &o, b));
        same(a, b);
        const tsr_geometry *g = tsr_volume_geometry(a[2]);
        const tsr_vec3 end = tsr_geometry_to_world(g, (tsr_vec3){ 8, 7, 6 });
        assert_true(fabs(end.x - shape->upper.x) < 1e-9 && fabs(end.y - shape->upper.y) < 1e-9 && fabs(end.z - shape->upper.z) < 1e-9);
        drop(b);
        o.time = 0.7;
        require_ok(tsr_field_make(shape->name, &o, b));
        int changed = 0;
        for (int c = 0; c < 3; c++) changed |= memcmp(tsr_volume_data(a[c]), tsr_volume_data(b[c]), 9 * 8 * 7 * 4) != 0;
        const int moves =
            !strcmp(shape->name, "field-storm") || !strcmp(shape->name, "field-taylor-green") || !strcmp(shape->name, "field-double-gyre");
        assert_int_equal(changed, moves);
        drop(a);
        drop(b);
    }
    tsr_field_options o = TSR_FIELD_OPTIONS;
    o.size = (tsr_size3){ 17, 17, 17 };
    require_ok(tsr_field_make("field-abc", &o, a));
    for (int64_t i = 0; i < 17 * 17 * 17; i += 7) { /* against the C library's sines */
        const double h = 2 * 3.14159265358979323846 / 16, p[3] = { h * (double)(i % 17), h * (double)(i / 17 % 17), h * (double)(i / 289) };
        double v[3];
        abc_rule(NULL, p, v);
        for (int c = 0; c < 3; c++) assert_true(fabs((double)((const float *)tsr_volume_data(a[c]))[i] - v[c]) < 1e-6);
    }
    drop(a);
    require_error(tsr_field_make("field-storms", NULL, a), TSR_ERROR_ARGUMENT, "field-saddle");
    o.size = (tsr_size3){ 4, 1, 4 };
    require_error(tsr_field_make("field-abc", &o, a), TSR_ERROR_ARGUMENT, "at least 2");
}

/* Numbers of any scale give the same curvature, up to where squares of speeds are no float32; a field too weak for that counts as zeros. */
static void any_scale(void **unused)
{
    static const float scales[] = { 1, 1e-17f, 1e17f, 1e-25f };
    tsr_context *context = test_context();
    (void)unused;
    for (int s = 0; s < 4; s++) {
        tsr_volume *c[3];
        tsr_vector_field *field;
        tsr_vector_sample at;
        tsr_field_info info = TSR_FIELD_INFO;
        for (int k = 0; k < 3; k++) require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ 5, 5, 5 }, NULL, &c[k]));
        for (int i = 0; i < 125; i++) { /* a rotation about the axis of the middle */
            ((float *)tsr_volume_data(c[0]))[i] = scales[s] * (float)(2 - i / 5 % 5);
            ((float *)tsr_volume_data(c[1]))[i] = scales[s] * (float)(i % 5 - 2);
            ((float *)tsr_volume_data(c[2]))[i] = 0;
        }
        require_ok(tsr_field_create(context, (const tsr_volume *const *)c, &field));
        require_ok(tsr_field_describe(field, &info));
        require_ok(tsr_field_probe(field, (const double[3]){ 3, 2, 2 }, 1, &at));
        if (s < 3) assert_true(fabs(at.curvature - 1) < 1e-5);
        else assert_true(info.speed_max == 0);
        tsr_field_destroy(&field);
        drop(c);
    }
    tsr_context_destroy(&context);
}

static void refused(void **unused)
{
    tsr_context *context = test_context();
    tsr_volume *c[3], *odd;
    tsr_vector_field *field;
    tsr_geometry g = tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    (void)unused;
    for (int k = 0; k < 3; k++) require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ 4, 4, 4 }, &g, &c[k]));
    ((float *)tsr_volume_data(c[1]))[37] = NAN;
    ((float *)tsr_volume_data(c[1]))[50] = INFINITY;
    require_error(tsr_field_create(context, (const tsr_volume *const *)c, &field), TSR_ERROR_ARGUMENT, "component y of sample 1, 1, 2");
    ((float *)tsr_volume_data(c[1]))[37] = 0;
    ((float *)tsr_volume_data(c[1]))[50] = 1e30f;
    require_error(tsr_field_create(context, (const tsr_volume *const *)c, &field), TSR_ERROR_ARGUMENT, "longest vector is 1e+30");
    ((float *)tsr_volume_data(c[1]))[50] = 0;
    require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ 4, 4, 5 }, &g, &odd));
    const tsr_volume *mixed[3] = { c[0], c[1], odd };
    require_error(tsr_field_create(context, mixed, &field), TSR_ERROR_ARGUMENT, "component z");
    assert_null(field);
    tsr_volume_destroy(&odd);
    require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ 4, 1, 4 }, &g, &odd));
    const tsr_volume *flat[3] = { odd, odd, odd };
    require_error(tsr_field_create(context, flat, &field), TSR_ERROR_ARGUMENT, "at least 2");
    tsr_volume_destroy(&odd);
    g.affine[0][1] = 0.5;
    for (int k = 0; k < 3; k++) require_ok(tsr_volume_set_geometry(c[k], &g));
    require_error(tsr_field_create(context, (const tsr_volume *const *)c, &field), TSR_ERROR_UNSUPPORTED, "perpendicular");
    const tsr_volume *none[3] = { c[0], NULL, c[2] };
    require_error(tsr_field_create(context, none, &field), TSR_ERROR_ARGUMENT, "component y is NULL");
    tsr_field_quantity q;
    require_error(tsr_field_quantity_parse("pressure", &q), TSR_ERROR_ARGUMENT, "divergence");
    drop(c);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derived),    cmocka_unit_test(curvature_order), cmocka_unit_test(files),
        cmocka_unit_test(vtk_images), cmocka_unit_test(numpy),           cmocka_unit_test(shapes),
        cmocka_unit_test(any_scale),  cmocka_unit_test(refused),         cmocka_unit_test(ends_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
