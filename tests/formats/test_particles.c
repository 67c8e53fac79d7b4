/* Particles with attributes: every format gives back what was written; files of other programs (VTK 9.5 and meshio 5.3 wrote the fixtures, Partio's layout is built
 * by hand); names of simulators; damaged and lying files. */
#include "scratch.h"

#include <math.h>

enum { COUNT = 500 };

static tsr_points *make_particles(int normals)
{
    tsr_points *p;
    float *density, *velocity, *pair;
    require_ok(tsr_points_create(NULL, COUNT, TSR_POINTS_RADII | (normals ? TSR_POINTS_NORMALS : 0), &p));
    require_ok(tsr_points_add_attribute(p, "density", 1, &density));
    require_ok(tsr_points_add_attribute(p, "velocity", 3, &velocity));
    require_ok(tsr_points_add_attribute(p, "stress", 3, &pair));
    for (int i = 0; i < COUNT; i++) {
        const double t = 0.1 * i;
        for (int k = 0; k < 3; k++) {
            tsr_points_positions(p)[3 * i + k] = (float)(sin(t + k) * 3);
            velocity[3 * i + k] = (float)cos(t * (k + 1));
            pair[3 * i + k] = (float)(i - k);
            if (normals) tsr_points_normals(p)[3 * i + k] = k == i % 3 ? 1.0f : 0.0f;
        }
        tsr_points_radii(p)[i] = 0.125f + (float)i / 1024;
        density[i] = 1000.0f + (float)t;
    }
    return p;
}

static void require_attribute(const tsr_points *a, const tsr_points *b, const char *name, int components)
{
    int32_t own[2] = { 0, 0 };
    const float *x = tsr_points_attribute_const(a, name, &own[0]), *y = tsr_points_attribute_const(b, name, &own[1]);
    if (!x || !y) fail_msg("no attribute %s", name);
    assert_int_equal(own[0], components);
    assert_int_equal(own[1], components);
    assert_memory_equal(x, y, (size_t)tsr_points_count(a) * (size_t)components * 4);
}

static void test_round_trip(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int ascii, big, normals;
    } files[] = { { "a.ply", 0, 0, 1 }, { "b.ply", 1, 0, 1 },   { "c.ply", 0, 1, 0 },  { "a.pcd", 0, 0, 1 }, { "b.pcd", 1, 0, 0 }, { "a.csv", 0, 0, 1 },
                  { "a.npy", 0, 0, 1 }, { "b.npy", 0, 1, 0 },   { "a.vtk", 0, 0, 1 },  { "b.vtk", 1, 0, 0 }, { "a.vtu", 0, 0, 1 }, { "b.vtu", 1, 0, 0 },
                  { "a.vtp", 0, 0, 0 }, { "b.vtp", 1, 0, 1 },   { "a.bgeo", 0, 0, 1 }, { "a.bgeo.gz", 0, 0, 0 }, { "a.vtu.gz", 0, 0, 0 } };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        tsr_points *p = make_particles(files[i].normals), *back = NULL;
        tsr_write_options write = TSR_WRITE_OPTIONS;
        write.ascii = files[i].ascii;
        write.big_endian = files[i].big;
        print_message("%s\n", files[i].name);
        require_ok(tsr_points_write(p, scratch(files[i].name), &write));
        require_ok(tsr_points_read(scratch(files[i].name), NULL, &back));
        assert_int_equal(tsr_points_count(back), COUNT);
        assert_memory_equal(tsr_points_positions_const(back), tsr_points_positions_const(p), COUNT * 12);
        assert_non_null(tsr_points_radii_const(back));
        assert_memory_equal(tsr_points_radii_const(back), tsr_points_radii_const(p), COUNT * 4);
        assert_int_equal(tsr_points_normals_const(back) != NULL, files[i].normals);
        if (files[i].normals) assert_memory_equal(tsr_points_normals_const(back), tsr_points_normals_const(p), COUNT * 12);
        require_attribute(p, back, "density", 1);
        require_attribute(p, back, "velocity", 3);
        require_attribute(p, back, "stress", 3);
        tsr_points_destroy(&back);
        /* far from the origin positions are written in float64, where the format has it */
        if (!strstr(files[i].name, "bgeo") && !strstr(files[i].name, ".gz")) {
            tsr_read_options read = TSR_READ_OPTIONS;
            read.local_origin = 1;
            tsr_points_set_origin(p, (tsr_vec3){ 5e6, -5e6, 100 });
            write.overwrite = 1;
            require_ok(tsr_points_write(p, scratch(files[i].name), &write));
            require_ok(tsr_points_read(scratch(files[i].name), &read, &back));
            const tsr_vec3 o = tsr_points_origin(back);
            assert_true(fabs(o.x + (double)tsr_points_positions_const(back)[0] - 5e6 - (double)tsr_points_positions_const(p)[0]) < 1e-5);
            require_attribute(p, back, "density", 1);
            tsr_points_destroy(&back);
        }
        tsr_points_destroy(&p);
    }
}

static void test_attributes(void **state)
{
    (void)state;
    tsr_points *p, *copy;
    float *data;
    const char *name;
    int32_t components;
    require_ok(tsr_points_create(NULL, 3, 0, &p));
    assert_null(tsr_points_attribute(p, "density", &components));
    assert_int_equal(components, 0);
    require_ok(tsr_points_add_attribute(p, "one", 1, NULL));
    require_ok(tsr_points_add_attribute(p, "two", 2, &data));
    for (int k = 0; k < 6; k++) data[k] = (float)k;
    require_error(tsr_points_add_attribute(p, "two", 2, &data), TSR_ERROR_ARGUMENT, "two is there already");
    assert_null(data);
    require_error(tsr_points_add_attribute(p, "", 2, &data), TSR_ERROR_ARGUMENT, "0 bytes");
    require_error(tsr_points_add_attribute(p, "x", 0, &data), TSR_ERROR_ARGUMENT, "0 components");
    require_error(tsr_points_add_attribute(p, NULL, 1, &data), TSR_ERROR_ARGUMENT, "name is NULL");
    require_ok(tsr_points_copy(p, NULL, &copy));
    tsr_points_remove_attribute(p, "one");
    tsr_points_remove_attribute(p, "one");
    assert_true(tsr_points_attribute_at(p, 0, &name, &components) && !strcmp(name, "two") && components == 2);
    assert_false(tsr_points_attribute_at(p, 1, &name, &components));
    assert_true(tsr_points_attribute(copy, "two", NULL)[5] == 5);
    assert_true(tsr_points_attribute_at(copy, 1, NULL, NULL));
    for (int k = 0; k < 14; k++) {
        char text[8];
        snprintf(text, sizeof text, "n%d", k);
        require_ok(tsr_points_add_attribute(copy, text, 1, NULL));
    }
    require_error(tsr_points_add_attribute(copy, "many", 1, NULL), TSR_ERROR_UNSUPPORTED, "more than 16 attributes");
    tsr_points_destroy(&copy);
    tsr_points_destroy(&p);
}

/* The fixtures: 5 particles (i/2, -i, i^2/4), density 1000 + i, velocity (i, 0, -i/2), radius 1/4, a number i. */
static void require_five(const char *file, const tsr_points *p)
{
    int32_t components;
    if (tsr_points_count(p) != 5) fail_msg("%s: %lld points", file, (long long)tsr_points_count(p));
    const float *density = tsr_points_attribute_const(p, "density", NULL), *velocity = tsr_points_attribute_const(p, "velocity", &components);
    const float *number = tsr_points_attribute_const(p, "Idp", NULL);
    if (!density || !velocity || !number || !tsr_points_radii_const(p) || components != 3) fail_msg("%s: attributes are missing", file);
    for (int i = 0; i < 5; i++) {
        const float *at = tsr_points_positions_const(p) + 3 * i, *v = velocity + 3 * i, f = (float)i;
        if (at[0] != 0.5f * f || at[1] != -f || at[2] != 0.25f * f * f) fail_msg("%s: particle %d at %g %g %g", file, i, (double)at[0], (double)at[1], (double)at[2]);
        if (density[i] != 1000 + f || v[0] != f || v[1] != 0 || v[2] != -0.5f * f || number[i] != f || tsr_points_radii_const(p)[i] != 0.25f)
            fail_msg("%s: attributes of particle %d", file, i);
    }
}
static void test_others(void **state)
{
    (void)state;
    static const char *const files[] = { "raw-zlib.vtu", "base64-plain.vtu", "inline-zlib.vtu", "inline-big.vtp", "ascii.vtp",  "base64-zlib.vtp",
                                         "poly-5.vtk",   "poly-4.vtk",       "grid-4.vtk",      "meshio.vtu",     "meshio.vtk" };
    char path[512];
    tsr_points *p;
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        snprintf(path, sizeof path, "%s/particles/%s", TESSERA_FIXTURES, files[k]);
        require_ok(tsr_points_read(path, NULL, &p));
        require_five(files[k], p);
        tsr_points_destroy(&p);
    }
    snprintf(path, sizeof path, "%s/particles/lz4.vtu", TESSERA_FIXTURES);
    require_ok(tsr_points_read(path, NULL, &p));
    require_five("lz4.vtu", p);
    tsr_points_destroy(&p);
    snprintf(path, sizeof path, "%s/particles/lzma.vtu", TESSERA_FIXTURES);
    if (tsr_points_read(path, NULL, &p) == TSR_OK) require_five("lzma.vtu", p);
    else assert_non_null(strstr(tsr_error_message(), "liblzma-dev")); /* builds without it say what to do */
    tsr_points_destroy(&p);
    tsr_file_kind kind;
    const char *format;
    snprintf(path, sizeof path, "%s/particles/poly-5.vtk", TESSERA_FIXTURES);
    require_ok(tsr_file_recognise(path, &kind, &format));
    assert_int_equal(kind, TSR_FILE_POINTS);
    assert_string_equal(format, "vtk-points");
    /* an array of structures is a cloud, another array a volume */
    tsr_volume *volume;
    require_ok(tsr_points_read(path, NULL, &p));
    require_ok(tsr_points_write(p, scratch("structures.npy"), NULL));
    require_ok(tsr_file_recognise(scratch("structures.npy"), &kind, &format));
    assert_int_equal(kind, TSR_FILE_POINTS);
    require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ 2, 3, 4 }, NULL, &volume));
    memset(tsr_volume_data(volume), 0, 96);
    require_ok(tsr_volume_write(volume, scratch("numbers.npy"), NULL));
    require_ok(tsr_file_recognise(scratch("numbers.npy"), &kind, &format));
    assert_int_equal(kind, TSR_FILE_VOLUME);
    tsr_volume_destroy(&volume);
    tsr_points_destroy(&p);
}

/* Every fixture, cut at every byte and with every byte changed: read or refused, never worse (sanitizers watch). */
static void test_damaged(void **state)
{
    (void)state;
    static const char *const files[] = { "raw-zlib.vtu", "inline-zlib.vtu", "base64-plain.vtu", "ascii.vtp", "poly-4.vtk" };
    const size_t step = test_is_slow() ? 37 : 5;
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        char path[512];
        static unsigned char bytes[16384];
        snprintf(path, sizeof path, "%s/particles/%s", TESSERA_FIXTURES, files[k]);
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        const size_t size = fread(bytes, 1, sizeof bytes, f);
        fclose(f);
        int64_t refused = 0;
        for (size_t at = 0; at < size; at += step)
            for (int flip = 0; flip < 2; flip++) {
                tsr_points *p = NULL;
                const unsigned char kept = bytes[at];
                const char *name = strstr(files[k], ".vtk") ? "d.vtk" : strstr(files[k], ".vtp") ? "d.vtp" : "d.vtu";
                if (flip) bytes[at] = (unsigned char)(kept ^ 0x15);
                scratch_write(name, bytes, flip ? size : at);
                const tsr_status status = tsr_points_read(scratch(name), NULL, &p);
                assert_int_equal(status == TSR_OK, p != NULL);
                if (status != TSR_OK) assert_true(*tsr_error_message() != 0);
                refused += status != TSR_OK && !flip;
                tsr_points_destroy(&p);
                bytes[at] = kept;
            }
        assert_true(refused > (int64_t)(size / step) / 2);
    }
}

static void refuse(const char *name, const void *bytes, size_t size, tsr_status code, const char *message)
{
    tsr_points *p;
    scratch_write(name, bytes, size);
    require_error(tsr_points_read(scratch(name), NULL, &p), code, message);
    assert_null(p);
}
static void refuse_text(const char *name, const char *text, tsr_status code, const char *message) { refuse(name, text, strlen(text), code, message); }

static void test_wrong_vtk(void **state)
{
    (void)state;
#define HEAD "<VTKFile type=\"PolyData\" byte_order=\"LittleEndian\"><PolyData><Piece NumberOfPoints=\"%s\"><Points><DataArray type=\"Float32\" NumberOfComponents=\"3\" "
    char text[1024];
    refuse_text("a.vtp", "<VTKFile type=\"ImageData\">", TSR_ERROR_FORMAT, "the file is a volume (vti), expected a cloud of points");
    snprintf(text, sizeof text, HEAD "format=\"ascii\">1 2 3</DataArray></Points></Piece></PolyData></VTKFile>", "1000000000");
    refuse_text("a.vtp", text, TSR_ERROR_FORMAT, "array '' of 3000000000 numbers, the file has room for 3");
    snprintf(text, sizeof text, HEAD "format=\"ascii\">1 2 3</DataArray></Points></Piece></PolyData></VTKFile>", "-1");
    refuse_text("a.vtp", text, TSR_ERROR_FORMAT, "NumberOfPoints is '-1'");
    snprintf(text, sizeof text, HEAD "format=\"ascii\">1 2 x </DataArray></Points></Piece></PolyData></VTKFile>", "1");
    refuse_text("a.vtp", text, TSR_ERROR_FORMAT, "no number");
    snprintf(text, sizeof text, HEAD "format=\"ascii\">1 2 nan</DataArray></Points></Piece></PolyData></VTKFile>", "1");
    refuse_text("a.vtp", text, TSR_ERROR_FORMAT, "point 0 is not finite");
    snprintf(text, sizeof text, HEAD "format=\"appended\" offset=\"77\"/></Points></Piece></PolyData><AppendedData encoding=\"raw\">_abc", "1");
    refuse_text("a.vtp", text, TSR_ERROR_FORMAT, "data at offset 77, but there are 3 appended bytes");
    snprintf(text, sizeof text, HEAD "format=\"binary\">AAAA!AAA</DataArray></Points></Piece></PolyData></VTKFile>", "0");
    tsr_points *none;
    scratch_write("none.vtp", text, strlen(text)); /* nothing is no error */
    require_ok(tsr_points_read(scratch("none.vtp"), NULL, &none));
    assert_int_equal(tsr_points_count(none), 0);
    tsr_points_destroy(&none);
    snprintf(text, sizeof text, HEAD "format=\"binary\">DAAAAAAAgD8AAABA!ABAQA==</DataArray></Points></Piece></PolyData></VTKFile>", "1");
    refuse_text("a.vtp", text, TSR_ERROR_FORMAT, "cut off or no base64");
    snprintf(text, sizeof text, HEAD "format=\"binary\">DAAAAAAAgD8AAABAAABAQA==</DataArray></Points></Piece></PolyData></VTKFile>", "1");
    scratch_write("good.vtp", text, strlen(text)); /* 12 bytes: 1 2 3 */
    require_ok(tsr_points_read(scratch("good.vtp"), NULL, &none));
    assert_memory_equal(tsr_points_positions_const(none), ((const float[3]){ 1, 2, 3 }), 12);
    tsr_points_destroy(&none);
    snprintf(text, sizeof text, HEAD "format=\"binary\">DQAAAAAAgD8AAABAAABAQA==</DataArray></Points></Piece></PolyData></VTKFile>", "1");
    refuse_text("a.vtp", text, TSR_ERROR_FORMAT, "another number of bytes");
    snprintf(text, sizeof text, HEAD "format=\"ascii\">1 2 3</DataArray></Points></Piece></PolyData>", "1");
    refuse_text("a.vtp", text, TSR_ERROR_FORMAT, "ends before </VTKFile>");
    refuse_text("a.vtk", "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 1000000000 float\n1 2 3\n", TSR_ERROR_FORMAT, "3000000000 numbers of coordinates");
    refuse_text("a.vtk", "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nVERTICES 1 2\n1 0\n", TSR_ERROR_FORMAT, "POINTS is missing");
#undef HEAD
}

/* Partio's layout by hand: two points, an integer, a text by number and a vector; and what lies. */
static void test_bgeo(void **state)
{
    (void)state;
    static const unsigned char file[] = {
        'B', 'g', 'e', 'o', 'V', 0, 0, 0, 5, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* 2 points, 4 attributes */
        0, 2, 'i', 'd', 0, 1, 0, 0, 0, 1, 0, 0, 0, 0,                                              /* an integer and its default */
        0, 1, 's', 0, 1, 0, 0, 0, 4, 0, 0, 0, 2, 0, 1, 'a', 0, 2, 'b', 'c',                        /* an index into two texts */
        0, 1, 'v', 0, 3, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,                           /* a vector */
        0, 6, 'p', 's', 'c', 'a', 'l', 'e', 0, 1, 0, 0, 0, 0, 0x3f, 0x80, 0, 0,                    /* a radius */
        0x3f, 0x80, 0, 0, 0x40, 0, 0, 0, 0xbf, 0x80, 0, 0, 0x3f, 0x80, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0x3f, 0x80, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0x3f, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3f, 0x80, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3e, 0x80, 0, 0, 0, 0xff };
    unsigned char own[sizeof file];
    tsr_points *p;
    scratch_write("p.bgeo", file, sizeof file);
    require_ok(tsr_points_read(scratch("p.bgeo"), NULL, &p));
    assert_int_equal(tsr_points_count(p), 2);
    assert_memory_equal(tsr_points_positions_const(p), ((const float[6]){ 1, 2, -1, 0, 0, 0 }), 24);
    assert_memory_equal(tsr_points_attribute_const(p, "id", NULL), ((const float[2]){ -1, 7 }), 8);
    assert_memory_equal(tsr_points_attribute_const(p, "velocity", NULL), ((const float[6]){ 1, 0, 2, 0, 0, 0 }), 24);
    assert_memory_equal(tsr_points_radii_const(p), ((const float[2]){ 0.5f, 0.25f }), 8);
    assert_null(tsr_points_attribute_const(p, "s", NULL));
    tsr_points_destroy(&p);
    for (size_t cut = 0; cut + 2 < sizeof file; cut++) { /* the last two bytes are not looked at */
        scratch_write("cut.bgeo", file, cut);
        assert_true(tsr_points_read(scratch("cut.bgeo"), NULL, &p) != TSR_OK);
        assert_null(p);
    }
    memcpy(own, file, sizeof file);
    own[9] = 0x70; /* points */
    refuse("a.bgeo", own, sizeof own, TSR_ERROR_FORMAT, "the points need ");
    own[9] = 0;
    own[8] = 4;
    refuse("a.bgeo", own, sizeof own, TSR_ERROR_UNSUPPORTED, "version 4 of BGEO");
    own[8] = 5;
    own[50] = 2; /* type of the first attribute */
    refuse("a.bgeo", own, sizeof own, TSR_ERROR_UNSUPPORTED, "attribute 'id' is of type 2");
    refuse("a.bgeo", "\x7fNSJb", 5, TSR_ERROR_UNSUPPORTED, "save as .bhclassic");
}

static void test_tables(void **state)
{
    (void)state;
    tsr_points *p;
    int32_t components;
    static const char csv[] = "\"Points:0\",\"Points:1\",\"Points:2\",\"Vel:0\",\"Vel:1\",\"Vel:2\",name,\"Rhop\",radius\n"
                              "1,2,3,4,5,6,a,998,0.5\n 1.5 ,2.5,3.5,4.5,5.5,6.5,b,999,0.25\n";
    scratch_write("p.csv", csv, sizeof csv - 1);
    require_error(tsr_points_read(scratch("p.csv"), NULL, &p), TSR_ERROR_FORMAT, "line 2: 'a', expected a number");
    static const char units[] = "x [m];y [m];z [m];rho [kg/m^3];vx;vy;vz\n1;2;3;998;4;5;6\n";
    scratch_write("u.csv", units, sizeof units - 1);
    require_ok(tsr_points_read(scratch("u.csv"), NULL, &p));
    assert_memory_equal(tsr_points_positions_const(p), ((const float[3]){ 1, 2, 3 }), 12);
    assert_true(tsr_points_attribute_const(p, "density", NULL)[0] == 998);
    assert_memory_equal(tsr_points_attribute_const(p, "velocity", &components), ((const float[3]){ 4, 5, 6 }), 12);
    assert_int_equal(components, 3);
    tsr_points_destroy(&p);
    refuse_text("a.csv", "x,y,z\n1,2,3\n1,2\n", TSR_ERROR_FORMAT, "line 3: 2 columns, expected 3");
    refuse_text("a.csv", "x,y,z\n", TSR_ERROR_FORMAT, "no points behind the line of names");
    refuse_text("a.csv", "x,y,z\n1,2,1e39\n", TSR_ERROR_FORMAT, "point 0 is not finite");
    /* properties of PLY in any order, between others */
    static const char ply[] = "ply\nformat ascii 1.0\nelement vertex 2\nproperty float vx\nproperty double z\nproperty float vy\nproperty list uchar int l\nproperty "
                              "float x\nproperty float y\nproperty float density\nproperty uchar id\nend_header\n9 3 8 2 1 1 1 2 998 7\n0 0 0 0 0 0 999 8\n";
    scratch_write("p.ply", ply, sizeof ply - 1);
    require_ok(tsr_points_read(scratch("p.ply"), NULL, &p));
    assert_memory_equal(tsr_points_positions_const(p), ((const float[6]){ 1, 2, 3, 0, 0, 0 }), 24);
    assert_memory_equal(tsr_points_attribute_const(p, "density", NULL), ((const float[2]){ 998, 999 }), 8);
    assert_memory_equal(tsr_points_attribute_const(p, "id", NULL), ((const float[2]){ 7, 8 }), 8);
    assert_null(tsr_points_attribute_const(p, "velocity", NULL)); /* it has no z */
    tsr_points_destroy(&p);
    /* PCD: a field of several numbers, a missing point */
    static const char pcd[] = "VERSION .7\nFIELDS x y z v radius\nSIZE 4 4 4 4 4\nTYPE F F F F F\nCOUNT 1 1 1 3 1\nPOINTS 2\nDATA ascii\nnan nan nan 0 0 0 1\n1 2 3 4 5 6 0.5\n";
    scratch_write("p.pcd", pcd, sizeof pcd - 1);
    require_ok(tsr_points_read(scratch("p.pcd"), NULL, &p));
    assert_int_equal(tsr_points_count(p), 1);
    assert_memory_equal(tsr_points_attribute_const(p, "velocity", NULL), ((const float[3]){ 4, 5, 6 }), 12);
    assert_true(tsr_points_radii_const(p)[0] == 0.5f);
    tsr_points_destroy(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attributes), cmocka_unit_test(test_round_trip), cmocka_unit_test(test_others), cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_wrong_vtk),  cmocka_unit_test(test_bgeo),       cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
