/* VTK's legacy files of unstructured grids: the versions and both codings give the same grid; what is wrong is named. */
#include "scratch.h"

#include <math.h>

#include "mesh/unstructured.h"

static tsr_unstructured *read_text(const char *text, const char *values)
{
    tsr_unstructured *grid = NULL;
    scratch_write("a.vtk", text, strlen(text));
    require_ok(tsr_unstructured_read(scratch("a.vtk"), NULL, values, &grid));
    return grid;
}
static void refuse(const char *text, const char *values, tsr_status code, const char *message)
{
    tsr_unstructured *grid = NULL;
    scratch_write("bad.vtk", text, strlen(text));
    require_error(tsr_unstructured_read(scratch("bad.vtk"), NULL, values, &grid), code, message);
    assert_null(grid);
    assert_non_null(strstr(tsr_error_message(), "bad.vtk"));
}

/* A tetrahedron and a wedge that share a face, a triangle on top. */
static const double POINTS[7][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1.5 }, { 1, 0, 1.25 }, { 0, 1, 1 }, { 0.25, 0.25, -2 } };
static const double VALUES[7] = { 0.5, -1, 2, 1e-3, 7, -0.125, 3 };
static const uint32_t CORNERS[13] = { 0, 1, 2, 6, 0, 1, 2, 3, 4, 5, 3, 4, 5 };
static const int TYPES[3] = { 10, 13, 5 }, STARTS[4] = { 0, 4, 10, 13 };

typedef struct text {
    char bytes[4096];
    size_t size;
} text;
static void put(text *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    t->size += (size_t)vsnprintf(t->bytes + t->size, sizeof t->bytes - t->size, format, list);
    va_end(list);
}
static void put_number(text *t, int binary, int bytes, double value)
{
    uint64_t bits = 0;
    const float f = (float)value;
    if (!binary) {
        put(t, "%.17g ", value);
        return;
    }
    if (bytes == -4) memcpy(&bits, &f, 4);
    else if (bytes == -8) memcpy(&bits, &value, 8);
    else bits = (uint64_t)(int64_t)value;
    const int size = abs(bytes);
    for (int k = size - 1; k >= 0; k--) t->bytes[t->size++] = (char)(bits >> (8 * k));
}
/* The grid above; `version` 3 or 5. */
static text file_of(int version, int binary, int with_float)
{
    text t = { "", 0 };
    put(&t, "# vtk DataFile Version %s\na grid, SPACE=RAS\n%s\nDATASET UNSTRUCTURED_GRID\n", version == 5 ? "5.1" : "3.0",
        binary ? "BINARY" : "ASCII");
    put(&t, "FIELD FieldData 1\nTIME 1 1 double\n");
    put_number(&t, binary, -8, 2.5);
    put(&t, "\nPOINTS 7 %s\n", with_float ? "float" : "double");
    for (int k = 0; k < 21; k++) put_number(&t, binary, with_float ? -4 : -8, POINTS[k / 3][k % 3]);
    put(&t, "\nMETADATA\nINFORMATION 1\nNAME L2 LOCATION vtkDataArray\nDATA 2 0 1\n\n");
    if (version == 5) {
        put(&t, "CELLS 4 13\nOFFSETS vtktypeint64\n");
        for (int k = 0; k < 4; k++) put_number(&t, binary, 8, STARTS[k]);
        put(&t, "\nCONNECTIVITY vtktypeint64\n");
        for (int k = 0; k < 13; k++) put_number(&t, binary, 8, CORNERS[k]);
    } else {
        put(&t, "CELLS 3 16\n");
        for (int c = 0; c < 3; c++) {
            put_number(&t, binary, 4, STARTS[c + 1] - STARTS[c]);
            for (int k = STARTS[c]; k < STARTS[c + 1]; k++) put_number(&t, binary, 4, CORNERS[k]);
        }
    }
    put(&t, "\nCELL_TYPES 3\n");
    for (int k = 0; k < 3; k++) put_number(&t, binary, 4, TYPES[k]);
    put(&t, "\nCELL_DATA 3\nSCALARS material int 1\nLOOKUP_TABLE default\n");
    for (int k = 0; k < 3; k++) put_number(&t, binary, 4, k);
    put(&t, "\nPOINT_DATA 7\nVECTORS speed float\n");
    for (int k = 0; k < 21; k++) put_number(&t, binary, -4, k);
    put(&t, "\nSCALARS colour unsigned_char 3\nLOOKUP_TABLE default\n");
    for (int k = 0; k < 21; k++) put_number(&t, binary, 1, k);
    put(&t, "\nSCALARS pressure double\nLOOKUP_TABLE default\n");
    for (int k = 0; k < 7; k++) put_number(&t, binary, -8, VALUES[k]);
    put(&t, "\nFIELD FieldData 2\nheat 1 7 float\n");
    for (int k = 0; k < 7; k++) put_number(&t, binary, -4, 10 + k);
    put(&t, "\nMETADATA\nINFORMATION 0\n\ncount 1 7 short\n");
    for (int k = 0; k < 7; k++) put_number(&t, binary, 2, -k);
    put(&t, "\n");
    assert_true(t.size < sizeof t.bytes - 64);
    return t;
}

static void versions(void **state)
{
    (void)state;
    for (int version = 3; version <= 5; version += 2)
        for (int binary = 0; binary < 2; binary++)
            for (int with_float = 0; with_float < 2; with_float++) {
                const text t = file_of(version, binary, with_float);
                tsr_unstructured *grid;
                tsr_unstructured_info info;
                tsr_file_kind kind;
                const char *format;
                scratch_write("v.vtk", t.bytes, t.size);
                require_ok(tsr_file_recognise(scratch("v.vtk"), &kind, &format));
                assert_int_equal(kind, TSR_FILE_UNSTRUCTURED);
                assert_string_equal(format, "vtk");
                require_ok(tsr_unstructured_read(scratch("v.vtk"), NULL, NULL, &grid));
                info = *tsr_unstructured_describe(grid);
                assert_true(info.points == 7 && info.cells == 2 && info.passed_over == 1 && info.tetrahedra == 4 && info.space == TSR_SPACE_RAS);
                for (int k = 0; k < 21; k++) assert_true(grid->points[k] == POINTS[k / 3][k % 3]);
                for (int k = 0; k < 7; k++) assert_true(grid->values[k] == VALUES[k]);
                tsr_unstructured_destroy(&grid);
                require_ok(tsr_unstructured_read(scratch("v.vtk"), NULL, "heat", &grid));
                for (int k = 0; k < 7; k++) assert_true(grid->values[k] == 10 + k);
                tsr_unstructured_destroy(&grid);
                require_ok(tsr_unstructured_read(scratch("v.vtk"), NULL, "count", &grid));
                for (int k = 0; k < 7; k++) assert_true(grid->values[k] == -k);
                tsr_unstructured_destroy(&grid);
                require_ok(tsr_unstructured_read(scratch("v.vtk"), NULL, "", &grid)); /* none is needed */
                info = *tsr_unstructured_describe(grid);
                assert_string_equal(info.arrays, "pressure, heat, count");
                for (int k = 0; k < 7; k++) assert_true(grid->values[k] == 0);
                tsr_unstructured_destroy(&grid);
                require_error(tsr_unstructured_read(scratch("v.vtk"), NULL, "speed", &grid), TSR_ERROR_FORMAT, "no values named speed");
                assert_non_null(strstr(tsr_error_message(), "pressure, heat, count"));
                for (size_t cut = 0; cut < t.size - 60; cut += 31) { /* truncated: refused, or the values were there already */
                    scratch_write("v.vtk", t.bytes, cut);
                    const tsr_status status = tsr_unstructured_read(scratch("v.vtk"), NULL, NULL, &grid);
                    assert_true((status == TSR_OK) == (grid != NULL));
                    tsr_unstructured_destroy(&grid);
                }
            }
}

static void binary_without_table(void **state)
{
    (void)state;
    text t = { "", 0 };
    tsr_unstructured *grid;
    put(&t, "# vtk DataFile Version 3.0\nt\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n");
    for (int k = 0; k < 3; k++) put_number(&t, 1, -4, 0);
    put(&t, "\nCELLS 0 0\nCELL_TYPES 0\n\nPOINT_DATA 1\nSCALARS s short\n");
    put_number(&t, 1, 2, -321);
    scratch_write("n.vtk", t.bytes, t.size);
    require_ok(tsr_unstructured_read(scratch("n.vtk"), NULL, NULL, &grid));
    assert_true(grid->values[0] == -321);
    tsr_unstructured_destroy(&grid);
}

#define HEAD "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n"
#define FOUR "POINTS 4 float\n0 0 0 1 0 0 0 1 0 0 0 1\n"
#define DATA "POINT_DATA 4\nSCALARS s float\nLOOKUP_TABLE default\n1 0 0 0\n"
static void refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        tsr_status code;
        const char *message;
    } bad[] = {
        { "# vtk DataFile Version 9.0\nt\nASCII\n", TSR_ERROR_UNSUPPORTED, "version 9" },
        { "# vtk DataFile Version 3.0\nt\nTEXT\n", TSR_ERROR_FORMAT, "'TEXT' given, expected ASCII or BINARY" },
        { "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\n", TSR_ERROR_FORMAT, "expected an unstructured grid" },
        { HEAD, TSR_ERROR_FORMAT, "POINTS is missing" },
        { HEAD FOUR, TSR_ERROR_FORMAT, "CELLS is missing" },
        { HEAD FOUR "CELLS 1 5\n4 0 1 2 3\n", TSR_ERROR_FORMAT, "0 types of cells for 1 cells" },
        { HEAD FOUR "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n", TSR_ERROR_FORMAT, "no values at the points (arrays of one component: none)" },
        { HEAD FOUR "CELLS 1 5\n4 0 1 2 4\nCELL_TYPES 1\n10\n" DATA, TSR_ERROR_FORMAT, "corner is point 4, expected 0 to 3" },
        { HEAD FOUR "CELLS 1 5\n4 0 1 2 -3\nCELL_TYPES 1\n10\n" DATA, TSR_ERROR_FORMAT, "number 4 of CELLS is -3" },
        { HEAD FOUR "CELLS 1 5\n9 0 1 2 3\nCELL_TYPES 1\n10\n" DATA, TSR_ERROR_FORMAT, "cell 0 has 9 corners, CELLS holds 4 more numbers" },
        { HEAD FOUR "CELLS 3 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n" DATA, TSR_ERROR_FORMAT, "cell 1 has -1 corners" },
        { HEAD FOUR "CELLS 1 6\n4 0 1 2 3 7\nCELL_TYPES 1\n10\n" DATA, TSR_ERROR_FORMAT, "cell 1 has 1 corners, CELLS holds 0 more" },
        { HEAD FOUR "CELLS 1 99999999999999\n4 0 1 2 3\n", TSR_ERROR_FORMAT, "99999999999999 numbers of cells" },
        { HEAD FOUR "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n12\n" DATA, TSR_ERROR_FORMAT, "cell 0 of type 12" },
        { HEAD FOUR "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n24\n" DATA, TSR_ERROR_UNSUPPORTED, "cell 0: type 24" },
        { HEAD "POINTS 99999999999 float\n0 0 0\n", TSR_ERROR_UNSUPPORTED, "99999999999 points" },
        { HEAD "POINTS 4000000000 float\n0 0 0\n", TSR_ERROR_FORMAT, "12000000000 numbers of coordinates" },
        { HEAD "POINTS -1 float\n", TSR_ERROR_FORMAT, "'-1' given, expected the number of points" },
        { HEAD "POINTS 1 quad\n", TSR_ERROR_FORMAT, "'quad' given, expected a type of numbers" },
        { HEAD "POINTS 1 float\n0 x 0\n", TSR_ERROR_FORMAT, "'x' given, expected coordinates" },
        { HEAD "POINTS 1 float\n0 nan 0\nCELLS 0 0\nCELL_TYPES 0\nPOINT_DATA 1\nSCALARS s float\nLOOKUP_TABLE d\n1", TSR_ERROR_FORMAT,
          "point 0: y is nan" },
        { HEAD FOUR "POINTS 1 float\n0 0 0\n", TSR_ERROR_FORMAT, "POINTS for the second time" },
        { HEAD FOUR "POINT_DATA 5\n", TSR_ERROR_FORMAT, "POINT_DATA of 5 points, there are 4" },
        { HEAD FOUR "POINT_DATA 4\nSCALARS s float 9\n", TSR_ERROR_FORMAT, "'9' given, expected 1 to 4 components" },
        { HEAD FOUR "POINT_DATA 4\nSCALARS s float\nLOOKUP_TABLE d\n1 2 3", TSR_ERROR_FORMAT, "expected values" },
        { HEAD FOUR "POINT_DATA 4\nSCALARS s float\nLOOKUP_TABLE d\n1", TSR_ERROR_FORMAT, "4 numbers of values, the file has" },
        { HEAD FOUR "POINT_DATA 4\nFIELD f 1\na 900000000000000000 4 float\n", TSR_ERROR_FORMAT, "an array of 4 x 900000000000000000" },
        { HEAD FOUR "TRIANGLES 3\n", TSR_ERROR_FORMAT, "'TRIANGLES' given, expected POINTS" },
        { "# vtk DataFile Version 5.1\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n" FOUR "CELLS 2 4\nOFFSETS float\n", TSR_ERROR_FORMAT,
          "expected int or vtktypeint64" },
        { "# vtk DataFile Version 5.1\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n" FOUR
          "CELLS 2 4\nOFFSETS vtktypeint64\n0 5\nCONNECTIVITY vtktypeint64\n0 1 2 3\nCELL_TYPES 1\n10\n" DATA,
          TSR_ERROR_FORMAT, "cell 0 of type 10: corners 0 to 5 of 4" },
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) refuse(bad[k].text, NULL, bad[k].code, bad[k].message);
    tsr_unstructured *grid = read_text(HEAD FOUR "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n" DATA, "s"), *none;
    assert_int_equal(grid->info.tetrahedra, 1);
    tsr_unstructured_destroy(&grid);
    tsr_read_options little = TSR_READ_OPTIONS;
    little.memory_limit = 100;
    require_error(tsr_unstructured_read(scratch("a.vtk"), &little, NULL, &none), TSR_ERROR_MEMORY, "the memory limit is 100");
    require_error(tsr_unstructured_read(scratch("none.vtk"), NULL, NULL, &none), TSR_ERROR_IO, "none.vtk");
    tsr_mesh *mesh;
    require_error(tsr_mesh_read(scratch("a.vtk"), NULL, &mesh), TSR_ERROR_FORMAT, "the file is an unstructured grid (vtk)");
}

/* VTK's XML files whose arrays have several numbers where one stands, or none of what the cells need: found by fuzzing. */
static void refused_xml(void **state)
{
#define XML(type) "<VTKFile type=\"" type "\"><" type ">"
#define ARRAY(name, components, numbers) "<DataArray type=\"Int32\" Name=\"" name "\" NumberOfComponents=\"" components "\">" numbers "</DataArray>"
#define POINTS "<Piece NumberOfPoints=\"4\" NumberOfCells=\"1\"><Points>" ARRAY("", "3", "0 0 0 1 0 0 0 1 0 0 0 1") "</Points><PointData>" ARRAY("s", "1", "1 2 3 4") "</PointData><Cells>"
#define CELL(offsets, corners, types) ARRAY("offsets", offsets, "4 4 4 4 4 4 4 4") ARRAY("connectivity", corners, "0 1 2 3 0 1 2 3 0 1 2 3") ARRAY("types", types, "10 10 10 10 10 10 10 10") "</Cells></Piece>"
    static const struct {
        const char *text, *message;
    } bad[] = {
        { XML("UnstructuredGrid") POINTS CELL("1", "3", "1") "</VTKFile>", "'connectivity': several numbers in a place of one" },
        { XML("UnstructuredGrid") POINTS CELL("8", "1", "1") "</VTKFile>", "'offsets': several numbers in a place of one" },
        { XML("UnstructuredGrid") POINTS CELL("1", "1", "8") "</VTKFile>", "'types': several numbers in a place of one" },
        { XML("UnstructuredGrid") POINTS CELL("1", "1", "1") "<Piece NumberOfPoints=\"1\"><Points>" ARRAY("", "3", "5 6 7") "</Points><PointData>" ARRAY("s", "3", "1 2 3") "</PointData></Piece></VTKFile>",
          "piece 1 has no array 's' of one number at each point" },
        { XML("UnstructuredGrid") POINTS ARRAY("offsets", "1", "4") "</Cells></Piece></VTKFile>", "the connectivity of the cells is missing" },
        { XML("UnstructuredGrid") POINTS ARRAY("offsets", "1", "4000000000") ARRAY("connectivity", "1", "0 1 2 3") "</Cells></Piece></VTKFile>", "the file has room for" },
        { XML("StructuredGrid") "<Piece Extent=\"0 1000000 0 1000000 0 100000\"><PointData>" ARRAY("s", "1", "1") "</PointData><Points>" ARRAY("", "3", "0 0 0") "</Points></Piece></VTKFile>",
          "the file has room for" },
    };
    (void)state;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        tsr_unstructured *grid = NULL;
        scratch_write("bad.vtu", bad[k].text, strlen(bad[k].text));
        require_error(tsr_unstructured_read(scratch("bad.vtu"), NULL, NULL, &grid), TSR_ERROR_FORMAT, bad[k].message);
        assert_null(grid);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(versions), cmocka_unit_test(binary_without_table), cmocka_unit_test(refused),
                                       cmocka_unit_test(refused_xml) };
    return cmocka_run_group_tests_name("unstructured files", tests, scratch_make, scratch_remove);
}
