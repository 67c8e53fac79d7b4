/* Files of point clouds: every format gives back what was written; what others write; wrong files; shapes of known distance. */
#include "scratch.h"

#include <math.h>

static tsr_points *read_text(const char *name, const char *text)
{
    tsr_points *points;
    scratch_write(name, text, strlen(text));
    require_ok(tsr_points_read(scratch(name), NULL, &points));
    return points;
}
static void refuse(const char *name, const char *text, tsr_status code, const char *message)
{
    tsr_points *points;
    scratch_write(name, text, strlen(text));
    require_error(tsr_points_read(scratch(name), NULL, &points), code, message);
    assert_null(points);
    assert_non_null(strstr(tsr_error_message(), name));
}
static void require_positions(const tsr_points *points, const float *positions, int64_t count)
{
    assert_int_equal(tsr_points_count(points), count);
    assert_memory_equal(tsr_points_positions_const(points), positions, (size_t)count * 12);
}

static void test_round_trip(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int ascii, normals;
    } files[] = { { "a.xyz", 0, 1 }, { "a.pts", 0, 0 }, { "a.pcd", 0, 1 },   { "b.pcd", 1, 1 },
                  { "a.ply", 0, 1 }, { "a.off", 0, 1 }, { "a.xyz.gz", 0, 1 } };
    tsr_points_options make = TSR_POINTS_OPTIONS;
    make.count = 2000;
    make.normals = 1;
    make.noise = 0.01;
    tsr_points *points, *back;
    require_ok(tsr_points_make("points-trefoil", &make, &points));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        tsr_write_options write = TSR_WRITE_OPTIONS;
        write.ascii = files[i].ascii;
        tsr_points_set_space(points, TSR_SPACE_NONE);
        require_ok(tsr_points_write(points, scratch(files[i].name), &write));
        require_ok(tsr_points_read(scratch(files[i].name), NULL, &back));
        require_positions(back, tsr_points_positions_const(points), 2000);
        assert_int_equal(tsr_points_normals_const(back) != NULL, files[i].normals);
        if (files[i].normals) assert_memory_equal(tsr_points_normals_const(back), tsr_points_normals_const(points), 2000 * 12);
        tsr_points_destroy(&back);
    }
    tsr_file_kind kind;
    const char *format;
    require_ok(tsr_file_recognise(scratch("a.pcd"), &kind, &format));
    assert_int_equal(kind, TSR_FILE_POINTS);
    assert_string_equal(format, "pcd");
    tsr_points_set_space(points, TSR_SPACE_LPS);
    require_ok(tsr_points_write(points, scratch("space.xyz"), NULL));
    require_ok(tsr_points_read(scratch("space.xyz"), NULL, &back));
    assert_int_equal(tsr_points_space(back), TSR_SPACE_LPS);
    tsr_points_destroy(&back);
    require_error(tsr_points_write(points, scratch("a.stl"), NULL), TSR_ERROR_UNSUPPORTED, "STL holds triangles only");
    require_error(tsr_points_write(points, scratch("a.nrrd"), NULL), TSR_ERROR_ARGUMENT, "the extension names no cloud of points format");
    require_error(tsr_points_write(points, scratch("a.xyz"), NULL), TSR_ERROR_IO, "exists");
    tsr_points_destroy(&points);
}

/* Goes on until the fraction is reached; it must never go back. */
static int stop_at(void *user, double fraction, const char *stage)
{
    double *at = (double *)user;
    assert_string_equal(stage, "writing");
    assert_true(fraction >= at[1] && fraction <= 1);
    at[1] = fraction;
    return fraction >= at[0];
}

/* A writer that is stopped, at once or on the way, leaves nothing behind, and what was there. */
static void test_cancelled(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int ascii;
    } files[] = { { "c.xyz", 0 }, { "c.pts", 0 }, { "c.pcd", 0 }, { "d.pcd", 1 }, { "c.ply", 0 }, { "d.ply", 1 } };
    tsr_points_options make = TSR_POINTS_OPTIONS;
    make.count = 150000;
    make.normals = 1;
    tsr_points *points, *back;
    require_ok(tsr_points_make("points-sphere", &make, &points));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (int late = 0; late < 2; late++) {
            double at[2] = { late ? 0.4 : 0, 0 };
            tsr_write_options write = TSR_WRITE_OPTIONS;
            write.ascii = files[i].ascii;
            write.progress = (tsr_progress){ stop_at, at };
            scratch_files(1);
            require_error(tsr_points_write(points, scratch(files[i].name), &write), TSR_ERROR_CANCELLED, "cancelled");
            assert_true(late ? at[1] > 0.4 && at[1] < 1 : at[1] == 0);
            assert_int_equal(scratch_files(0), 0);
            scratch_write(files[i].name, "1 2 3\n", 6);
            write.overwrite = 1;
            at[1] = 0;
            require_error(tsr_points_write(points, scratch(files[i].name), &write), TSR_ERROR_CANCELLED, "cancelled");
            assert_int_equal(scratch_files(0), 1);
            size_t size;
            char *kept = (char *)scratch_read(files[i].name, &size);
            assert_int_equal(size, 6);
            assert_memory_equal(kept, "1 2 3\n", 6);
            free(kept);
        }
    double never[2] = { 2, 0 };
    tsr_write_options write = TSR_WRITE_OPTIONS;
    write.progress = (tsr_progress){ stop_at, never };
    require_ok(tsr_points_write(points, scratch("whole.pcd"), &write));
    assert_true(never[1] > 0.4);
    require_ok(tsr_points_read(scratch("whole.pcd"), NULL, &back));
    require_positions(back, tsr_points_positions_const(points), 150000);
    assert_memory_equal(tsr_points_normals_const(back), tsr_points_normals_const(points), 150000 * 12);
    tsr_points_destroy(&back);
    tsr_points_destroy(&points);
}

static void test_text_of_others(void **state)
{
    (void)state;
    static const float two[6] = { 1, 2.5f, -3, 4, 5, 6e3f };
    static const char with_colours[] = "VERSION .7\nFIELDS rgb x y z\nSIZE 4 4 4 4\nTYPE F F F F\nCOUNT 1 1 1 1\nWIDTH 3\nHEIGHT 1\n"
                                       "VIEWPOINT 0 0 0 1 0 0 0\nPOINTS 3\nDATA ascii\n9 1 2.5 -3\n9 nan nan nan\n9 4 5 6000\n";
    static const char *const texts[] = { "1 2.5 -3\n4 5 6000\n",
                                         "1,2.5,-3\r\n4,5,6e3\r\n",
                                         "# c\n\n1;2.5;-3\n// d\n4\t5 6000",
                                         "x y z\n1 2.5 -3 255 0 0\n4 5 6000 0 0 1\n",
                                         "2\n1 2.5 -3 17 1 2 3\n4 5 6000 8 1 2 3\n",
                                         "1\n1 2.5 -3\n1\n4 5 6000 1\n",
                                         with_colours,
                                         "v 1 2.5 -3\nv 4 5 6000\n",
                                         "OFF 2 0 0\n1 2.5 -3\n4 5 6000\n" };
    static const char *const names[] = { "a.xyz", "b.csv", "c.txt", "d.xyz", "e.pts", "f.pts", "g.pcd", "h.obj", "i.off" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tsr_points *points = read_text(names[i], texts[i]);
        require_positions(points, two, 2);
        assert_null(tsr_points_normals_const(points)); /* colours are none */
        tsr_points_destroy(&points);
    }
    tsr_points *points = read_text("n.xyz", "1 2 3 0 0 1\n1 2 4 0.6 0.8 0\n1 2 5 0 0 0\n");
    assert_true(tsr_points_normals_const(points) && fabsf(tsr_points_normals_const(points)[4] - 0.8f) < 1e-6f);
    tsr_points_destroy(&points);
    /* records of doubles and integers, little endian, and packed columns */
    static const char head[] =
        "# .PCD v0.7\nVERSION 0.7\nFIELDS x pad y z\nSIZE 8 1 2 4\nTYPE F U I F\nCOUNT 1 3 1 1\nWIDTH 1\nHEIGHT 1\nPOINTS 1\nDATA binary\n";
    static const unsigned char record[17] = { 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 7, 7, 7, 0xfe, 0xff, 0, 0, 0x40, 0x40 };
    unsigned char file[sizeof head - 1 + sizeof record];
    memcpy(file, head, sizeof head - 1);
    memcpy(file + sizeof head - 1, record, sizeof record);
    scratch_write("r.pcd", file, sizeof file);
    require_ok(tsr_points_read(scratch("r.pcd"), NULL, &points));
    require_positions(points, (const float[3]){ 1, -2, 3 }, 1);
    tsr_points_destroy(&points);
    static const char packed_head[] =
        "VERSION .7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 2\nHEIGHT 1\nPOINTS 2\nDATA binary_compressed\n";
    /* columns x: 1 2, y: 0 1, z: 2 0 -- 12 literals, then 12 from 12 back: 1 2 0 | 1 2 0 */
    static const unsigned char packed[] = { 16, 0, 0, 0, 24, 0, 0, 0, 11, 0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 0, 0, 7 << 5, 3, 11 };
    unsigned char packed_file[sizeof packed_head - 1 + sizeof packed];
    memcpy(packed_file, packed_head, sizeof packed_head - 1);
    memcpy(packed_file + sizeof packed_head - 1, packed, sizeof packed);
    scratch_write("p.pcd", packed_file, sizeof packed_file);
    require_ok(tsr_points_read(scratch("p.pcd"), NULL, &points));
    require_positions(points, (const float[6]){ 1, 0, 2, 2, 1, 0 }, 2);
    tsr_points_destroy(&points);
    packed_file[sizeof packed_file - 1] = 200; /* copies from before the beginning */
    scratch_write("p.pcd", packed_file, sizeof packed_file);
    require_error(tsr_points_read(scratch("p.pcd"), NULL, &points), TSR_ERROR_FORMAT, "damaged LZF data");
}

static void test_wrong_files(void **state)
{
    (void)state;
    static const char pcd[] = "VERSION .7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\n";
    char text[400];
    refuse("a.xyz", "1 2 3\n4 5\n", TSR_ERROR_FORMAT, "line 2: 2 numbers, expected x y z");
    refuse("a.xyz", "1 2 3\n4 x 5\n", TSR_ERROR_FORMAT, "line 2: 'x', expected a number");
    refuse("a.xyz", "1 2 3\n4 nan 5\n", TSR_ERROR_FORMAT, "line 2: point 1 is not finite");
    refuse("a.xyz", "1 2 3\n4 1e39 5\n", TSR_ERROR_FORMAT, "line 2: point 1 is not finite");
    refuse("a.xyz", "# nothing\n", TSR_ERROR_FORMAT, "no points");
    refuse("a.pts", "3\n1 2 3\n4 5 6\n", TSR_ERROR_FORMAT, "the file ends after 2 of 3 points");
    refuse("a.pts", "1\n1 2 3\n4 5 6\n", TSR_ERROR_FORMAT, "line 3: more points than the 1 announced");
    refuse("a.pts", "2\n1 2 3\n2\n1 2 3\n4 5 6\n", TSR_ERROR_FORMAT, "line 3: a block of 2 points ends after 1");
    refuse("a.pts", "-1\n1 2 3\n", TSR_ERROR_FORMAT, "-1 points");
    refuse("a.pcd", "VERSION .7\nFIELDS x y\nWIDTH 1\nHEIGHT 1\nDATA ascii\n1 2\n", TSR_ERROR_FORMAT, "no field z");
    snprintf(text, sizeof text, "%sPOINTS 2000000000\nDATA binary\nabc", pcd);
    refuse("b.pcd", text, TSR_ERROR_FORMAT, "2000000000 points of at least 12 bytes announced");
    snprintf(text, sizeof text, "%sPOINTS 1\nDATA binary\n12345678901", pcd); /* one byte short */
    refuse("b.pcd", text, TSR_ERROR_FORMAT, "1 points of at least 12 bytes announced, but only 11 bytes follow");
    snprintf(text, sizeof text, "%sPOINTS 1\nDATA zip\n", pcd);
    refuse("c.pcd", text, TSR_ERROR_FORMAT, "DATA 'zip', expected ascii");
    snprintf(text, sizeof text, "%sDATA ascii\n1 2 3\n", pcd);
    refuse("d.pcd", text, TSR_ERROR_FORMAT, "has no POINTS");
    snprintf(text, sizeof text, "%sPOINTS 2\nDATA ascii\n1 2 3 4 x 6\n", pcd);
    refuse("e.pcd", text, TSR_ERROR_FORMAT, "point 1 of 2: expected a number for field 1");
    snprintf(text, sizeof text, "%sPOINTS 1\nDATA ascii\nnan 2 3\n", pcd);
    refuse("f.pcd", text, TSR_ERROR_FORMAT, "no points with numbers");
    refuse("g.pcd", "# .PCD\nFIELDS x y z\nSIZE 4 4 3\n", TSR_ERROR_FORMAT, "SIZE of field 2 is '3'");
    static const char *const lines[][2] = { { "SIZE 0 4 4", "SIZE of field 0 is '0'" },     { "SIZE 4 16 4", "SIZE of field 1 is '16'" },
                                            { "SIZE 4 4 x", "SIZE of field 2 is 'x'" },     { "COUNT 0 1 1", "COUNT of field 0 is '0'" },
                                            { "COUNT 1 -1 1", "COUNT of field 1 is '-1'" }, { "COUNT 1 1 1048577", "COUNT of field 2 is '1048577'" },
                                            { "TYPE F D F", "TYPE of field 1 is 'D'" },     { "TYPE F F FF", "TYPE of field 2 is 'FF'" } };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        snprintf(text, sizeof text, "# .PCD\nFIELDS x y z\n%s\n", lines[i][0]);
        refuse("g.pcd", text, TSR_ERROR_FORMAT, lines[i][1]);
    }
    snprintf(text, sizeof text, "%sPOINTS 2\nDATA binary_compressed\n12345", pcd);
    refuse("h.pcd", text, TSR_ERROR_FORMAT, "packed data");
    refuse("a.bin", "hello", TSR_ERROR_FORMAT, "of no known format");
    tsr_points *points;
    tsr_read_options read = TSR_READ_OPTIONS;
    read.memory_limit = 30;
    scratch_write("big.xyz", "1 2 3\n1 2 3\n1 2 3\n", 18);
    require_error(tsr_points_read(scratch("big.xyz"), &read, &points), TSR_ERROR_MEMORY, "the memory limit is 30");
    read.memory_limit = 0;
    read.format = "png";
    require_error(tsr_points_read(scratch("big.xyz"), &read, &points), TSR_ERROR_ARGUMENT, "expected a cloud of points format");
}

/* Every shape's samples lie on its surface, in every octant; noise, outliers, density and patches do what they say. */
static void test_shapes(void **state)
{
    (void)state;
    const tsr_points_shape *shape = NULL;
    int32_t shapes = 0;
    for (; (shape = tsr_points_shape_at(shapes)); shapes++) {
        tsr_points_options o = TSR_POINTS_OPTIONS;
        tsr_points *points, *again;
        o.count = 3000;
        o.normals = 1;
        o.seed = 9;
        require_ok(tsr_points_make(shape->name, &o, &points));
        require_ok(tsr_points_make(shape->name, &o, &again));
        assert_memory_equal(tsr_points_positions(points), tsr_points_positions(again), 3000 * 12);
        tsr_points_destroy(&again);
        int octants[8] = { 0 };
        for (int i = 0; i < 3000; i++) {
            const float *p = tsr_points_positions(points) + 3 * i, *n = tsr_points_normals(points) + 3 * i;
            double d, out, x[3] = { (double)p[0], (double)p[1], (double)p[2] };
            require_ok(tsr_points_shape_distance(shape->name, x, &d));
            assert_true(fabs(d) < 2e-6);
            for (int k = 0; k < 3; k++) x[k] += 1e-3 * (double)n[k];
            require_ok(tsr_points_shape_distance(shape->name, x, &out));
            if (!(fabs(out - 1e-3) < (strcmp(shape->name, "points-displaced") ? 1e-5 : 3e-4))) fail_msg("%s: %g", shape->name, out);
            octants[(p[0] > 0) + 2 * (p[1] > 0) + 4 * (p[2] > 0)]++;
        }
        for (int k = 0; k < 8; k++) assert_true(octants[k] > 60);
        tsr_points_destroy(&points);
    }
    assert_int_equal(shapes, 8);
    tsr_points_options o = TSR_POINTS_OPTIONS;
    tsr_points *points;
    o.count = 20000;
    o.noise = 0.01;
    o.outliers = 0.1;
    o.density = 10;
    require_ok(tsr_points_make("points-sphere", &o, &points));
    assert_int_equal(tsr_points_count(points), 22000);
    double sum = 0;
    int right = 0, far = 0;
    for (int i = 0; i < 22000; i++) {
        const float *p = tsr_points_positions(points) + 3 * i;
        double x[3] = { (double)p[0], (double)p[1], (double)p[2] }, d;
        require_ok(tsr_points_shape_distance("points-sphere", x, &d));
        if (i < 20000) sum += d * d;
        else far += fabs(d) > 0.1;
        right += i < 20000 && p[0] > 0;
    }
    assert_true(fabs(sqrt(sum / 20000) - 0.01) < 0.0005);
    assert_true(far > 1000);
    assert_true(right > 13000 && right < 14700); /* density 1 + 9 x: three quarters of the range of 0.8 */
    tsr_points_destroy(&points);
    o = (tsr_points_options)TSR_POINTS_OPTIONS;
    o.missing = 1;
    o.missing_radius = 0.4;
    o.count = 20000;
    require_ok(tsr_points_make("points-sphere", &o, &points));
    int64_t empty = 0;
    for (int probe = 0; probe < 200; probe++) { /* somewhere there is a hole of radius 0.35 */
        tsr_points_options one = TSR_POINTS_OPTIONS;
        tsr_points *centre;
        one.count = 1;
        one.seed = (uint64_t)probe + 100;
        require_ok(tsr_points_make("points-sphere", &one, &centre));
        double nearest = 10;
        for (int i = 0; i < 20000; i++) {
            double d = 0;
            for (int k = 0; k < 3; k++) {
                double e = (double)tsr_points_positions(points)[3 * i + k] - (double)tsr_points_positions(centre)[k];
                d += e * e;
            }
            nearest = fmin(nearest, sqrt(d));
        }
        empty += nearest > 0.1;
        tsr_points_destroy(&centre);
    }
    assert_true(empty >= 2 && empty < 30); /* a cap of radius 0.3 is 3.5 % of the area */
    tsr_points_destroy(&points);
    o.noise = -1;
    require_error(tsr_points_make("points-sphere", &o, &points), TSR_ERROR_ARGUMENT, "noise is -1");
    require_error(tsr_points_make("points-cube", NULL, &points), TSR_ERROR_ARGUMENT, "'points-cube' is not known, expected one of points-sphere");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_round_trip), cmocka_unit_test(test_cancelled), cmocka_unit_test(test_text_of_others),
                                        cmocka_unit_test(test_wrong_files), cmocka_unit_test(test_shapes) };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
