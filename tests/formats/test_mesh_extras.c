/* What files of meshes carry beside triangles: colours, parts with names, places far off in float64; strips; STL as people write it. */
#include "scratch.h"

#include <math.h>

static tsr_mesh *read_text(const char *name, const char *text, int local)
{
    tsr_mesh *mesh;
    tsr_read_options options = TSR_READ_OPTIONS;
    options.local_origin = local;
    scratch_write(name, text, strlen(text));
    require_ok(tsr_mesh_read(scratch(name), &options, &mesh));
    return mesh;
}

static tsr_mesh *tetrahedron(void)
{
    static const float corners[12] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    static const uint32_t triangles[12] = { 0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2 };
    tsr_mesh *mesh;
    require_ok(tsr_mesh_create(NULL, 4, 4, 0, &mesh));
    memcpy(tsr_mesh_vertices(mesh), corners, sizeof corners);
    memcpy(tsr_mesh_triangles(mesh), triangles, sizeof triangles);
    return mesh;
}

/* ---- colours --------------------------------------------------------------------------------------------------------------------------------- */

static void colors_come_back(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int ascii, alpha;
    } files[] = { { "a.ply", 1, 1 }, { "b.ply", 0, 1 }, { "c.obj", 0, 0 }, { "d.off", 0, 1 } };
    static const uint8_t colors[16] = { 255, 0, 0, 255, 1, 2, 3, 255, 128, 127, 64, 255, 0, 255, 10, 255 };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (int alpha = 0; alpha <= files[i].alpha; alpha++) {
            tsr_mesh *mesh = tetrahedron(), *copy, *back;
            tsr_write_options options = TSR_WRITE_OPTIONS;
            int extras;
            options.ascii = files[i].ascii;
            options.overwrite = 1;
            assert_null(tsr_mesh_colors(mesh));
            require_ok(tsr_mesh_add_colors(mesh));
            memcpy(tsr_mesh_colors(mesh), colors, sizeof colors);
            if (alpha) tsr_mesh_colors(mesh)[7] = 40;
            require_ok(tsr_mesh_copy(mesh, NULL, &copy));
            require_ok(tsr_mesh_write(copy, scratch(files[i].name), &options));
            require_ok(tsr_mesh_read(scratch(files[i].name), NULL, &back));
            assert_non_null(tsr_mesh_colors(back));
            assert_memory_equal(tsr_mesh_colors(back), tsr_mesh_colors(mesh), sizeof colors);
            assert_memory_equal(tsr_mesh_vertices(back), tsr_mesh_vertices(mesh), 48);
            require_ok(tsr_file_keeps_mesh(files[i].name, NULL, &extras));
            assert_true(extras & TSR_MESH_COLORS);
            tsr_mesh_destroy(&back);
            tsr_mesh_destroy(&copy);
            tsr_mesh_destroy(&mesh);
        }
    int extras;
    require_ok(tsr_file_keeps_mesh("a.stl", NULL, &extras));
    assert_int_equal(extras, 0);
}

static void colors_of_others(void **state)
{
    (void)state;
    static const uint8_t red_half[8] = { 255, 0, 0, 255, 128, 128, 128, 255 };
    static const struct {
        const char *name, *text;
    } files[] = {
        { "a.ply",
          "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\nproperty float red\nproperty float green\n"
          "property float blue\nend_header\n0 0 0 1 0 0\n1 0 0 .5 .5 .5\n" },
        { "b.obj", "v 0 0 0 1 0 0\nv 1 0 0 .5 .5 .5\n" },
        { "c.obj", "v 0 0 0 255 0 0\nv 1 0 0 128 128 128\n" },
        { "d.off", "COFF\n2 0 0\n0 0 0 255 0 0\n1 0 0 128 128 128\n" },
        { "e.off", "COFF\n2 0 0\n0 0 0 1.0 0 0 1\n1 0 0 .5 .5 .5 1\n" },
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        tsr_mesh *mesh = read_text(files[i].name, files[i].text, 0);
        if (!tsr_mesh_colors(mesh)) fail_msg("%s: no colours", files[i].name);
        assert_memory_equal(tsr_mesh_colors(mesh), red_half, 8);
        tsr_mesh_destroy(&mesh);
    }
    /* colours of faces: a vertex has that of the first face; 0 to 1 with points, 0 to 255 without; what no face colours is grey */
    static const uint8_t by_face[20] = { 255, 0, 0, 255, 255, 0, 0, 255, 255, 0, 0, 255, 0, 0, 1, 255, 204, 204, 204, 255 };
    static const char *const faces[] = { "OFF\n5 3 0\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n2 2 2\n3 0 1 2 255 0 0\n3 1 3 2 0 0 1\n3 0 1 4\n",
                                         "OFF\n5 3 0\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n2 2 2\n3 0 1 2 1.0 0 0\n3 1 3 2 0 0 0.004 1\n3 0 1 4 7\n" };
    for (int i = 0; i < 2; i++) {
        tsr_mesh *mesh = read_text("faces.off", faces[i], 0);
        assert_int_equal(tsr_mesh_triangle_count(mesh), 3);
        assert_memory_equal(tsr_mesh_colors(mesh), by_face, sizeof by_face);
        tsr_mesh_destroy(&mesh);
    }
    tsr_mesh *some = read_text("f.obj", "v 0 0 0 1 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", 0); /* not all of them */
    assert_null(tsr_mesh_colors(some));
    tsr_mesh_destroy(&some);
}

/* ---- parts ----------------------------------------------------------------------------------------------------------------------------------- */

static void parts_come_back(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int ascii;
    } files[] = { { "p.ply", 1 }, { "q.ply", 0 }, { "r.obj", 0 } };
    const tsr_mesh_part given[3] = { { 7, "left kidney", 1 }, { -2, NULL, 2 }, { 300, "liver", 1 } };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        tsr_mesh *mesh = tetrahedron(), *back;
        tsr_write_options options = TSR_WRITE_OPTIONS;
        tsr_mesh_part part;
        options.ascii = files[i].ascii;
        options.overwrite = 1;
        require_ok(tsr_mesh_set_parts(mesh, given, 3));
        require_ok(tsr_mesh_write(mesh, scratch(files[i].name), &options));
        require_ok(tsr_mesh_read(scratch(files[i].name), NULL, &back));
        assert_memory_equal(tsr_mesh_triangles(back), tsr_mesh_triangles(mesh), 48);
        for (int k = 0; k < 3; k++) {
            assert_true(tsr_mesh_part_at(back, k, &part));
            assert_true(part.value == given[k].value && part.triangles == given[k].triangles);
            if (!given[k].name) assert_null(part.name);
            else assert_string_equal(part.name, i == 2 && !k ? "left_kidney" : given[k].name); /* words of an OBJ group are groups */
        }
        assert_false(tsr_mesh_part_at(back, 3, &part));
        tsr_mesh_destroy(&back);
        tsr_mesh_destroy(&mesh);
    }
    tsr_mesh *mesh = tetrahedron(), *joined;
    const tsr_mesh_part wrong[2] = { { 1, NULL, 3 }, { 2, NULL, 2 } }, few[1] = { { 1, NULL, 3 } };
    require_error(tsr_mesh_set_parts(mesh, wrong, 2), TSR_ERROR_ARGUMENT, "more triangles than the 4");
    require_error(tsr_mesh_set_parts(mesh, few, 1), TSR_ERROR_ARGUMENT, "fewer triangles than the 4");
    tsr_mesh *const both[2] = { mesh, mesh };
    tsr_mesh_part part;
    require_ok(tsr_mesh_join(both, wrong, 2, &joined));
    assert_int_equal(tsr_mesh_vertex_count(joined), 8);
    assert_int_equal(tsr_mesh_triangles(joined)[12], 4);
    assert_true(tsr_mesh_part_at(joined, 1, &part) && part.value == 2 && part.triangles == 4);
    tsr_mesh_destroy(&joined);
    tsr_mesh_destroy(&mesh);
    mesh = read_text("s.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\ng a b\nf 1 2 3\no second\nf 2 4 3\nf 1 2 3 4\n", 0);
    assert_true(tsr_mesh_part_at(mesh, 0, &part) && part.triangles == 1 && !strcmp(part.name, "a b"));
    assert_true(tsr_mesh_part_at(mesh, 1, &part) && part.triangles == 3 && !strcmp(part.name, "second"));
    tsr_mesh_destroy(&mesh);
}

/* ---- far off ----------------------------------------------------------------------------------------------------------------------------------- */

/* A tetrahedron of side 1 at (10^7, -2 10^7, 0): float32 has steps of 1 to 2 there. Volume 1/6. */
static void far_places(void **state)
{
    (void)state;
    static const char corner[4][64] = { "10000000.125 -20000000.3 0.1", "10000001.125 -20000000.3 0.1", "10000000.125 -19999999.3 0.1",
                                        "10000000.125 -20000000.3 1.1" };
    static const int faces[4][3] = { { 0, 2, 1 }, { 0, 1, 3 }, { 1, 2, 3 }, { 0, 3, 2 } };
    char text[6][1200] = { "ply\nformat ascii 1.0\nelement vertex 4\nproperty double x\nproperty double y\nproperty double z\nelement face 4\n"
                           "property list uchar int vertex_index\nend_header\n",
                           "", "OFF\n4 4 0\n", "\n\nSOLID far\n" };
    static const char *const names[4] = { "f.ply", "f.obj", "f.off", "f.stl" };
    for (int i = 0; i < 4; i++)
        for (int f = 0; f < 3; f++) sprintf(text[f] + strlen(text[f]), "%s%s\n", f == 1 ? "v " : "", corner[i]);
    for (int i = 0; i < 4; i++) {
        sprintf(text[0] + strlen(text[0]), "3 %d %d %d\n", faces[i][0], faces[i][1], faces[i][2]);
        sprintf(text[1] + strlen(text[1]), "f %d %d %d\n", faces[i][0] + 1, faces[i][1] + 1, faces[i][2] + 1);
        sprintf(text[2] + strlen(text[2]), "3 %d %d %d\n", faces[i][0], faces[i][1], faces[i][2]);
        sprintf(text[3] + strlen(text[3]), "FACET NORMAL 0 0 0\nOUTER LOOP\nVERTEX %s\nVERTEX %s\nVERTEX %s\nENDLOOP\nENDFACET\n",
                corner[faces[i][0]], corner[faces[i][1]], corner[faces[i][2]]);
    }
    for (int i = 0; i < 4; i++) {
        static const char *const outputs[5] = { "g.ply", "g.obj", "g.off", "g.stl", "h.ply" };
        tsr_mesh *mesh = read_text(names[i], text[i], 1), *plain = read_text(names[i], text[i], 0), *back;
        tsr_mesh_measures m = TSR_MESH_MEASURES;
        require_ok(tsr_mesh_measure(mesh, &m));
        assert_true(fabs(m.volume - 1.0 / 6) < 1e-7);
        const tsr_vec3 o = tsr_mesh_origin(mesh), none = tsr_mesh_origin(plain);
        assert_true(none.x == 0 && none.y == 0 && none.z == 0 && o.z == 0);
        require_ok(tsr_mesh_measure(plain, &m));
        assert_true(fabs(m.volume - 1.0 / 6) > 0.01);
        for (int k = 0; k < 5; k++) { /* written back: every corner to its place */
            tsr_write_options write = TSR_WRITE_OPTIONS;
            tsr_read_options read = TSR_READ_OPTIONS;
            write.overwrite = 1;
            write.ascii = k < 4;
            read.local_origin = 1;
            require_ok(tsr_mesh_write(mesh, scratch(outputs[k]), &write));
            require_ok(tsr_mesh_read(scratch(outputs[k]), &read, &back));
            const tsr_vec3 p = tsr_mesh_origin(back);
            for (int c = 0; c < 12; c++) {
                const float *a = tsr_mesh_vertices(mesh) + 3 * tsr_mesh_triangles(mesh)[c],
                            *b = tsr_mesh_vertices(back) + 3 * tsr_mesh_triangles(back)[c];
                assert_true(fabs(o.x + (double)a[0] - p.x - (double)b[0]) < 2e-7 && fabs(o.y + (double)a[1] - p.y - (double)b[1]) < 2e-7 &&
                            fabs((double)a[2] - (double)b[2]) < 2e-7);
            }
            tsr_mesh_destroy(&back);
        }
        require_ok(tsr_mesh_change_origin(mesh, (tsr_vec3){ 0, 0, 0 }));
        if (i < 3) assert_memory_equal(tsr_mesh_vertices(mesh), tsr_mesh_vertices(plain), 48); /* corners of STL are joined after rounding */
        tsr_mesh_destroy(&plain);
        tsr_mesh_destroy(&mesh);
    }
    /* near enough, or all numbers are of float32: no origin */
    tsr_mesh *near = read_text("n.obj", "v 100.1 0 0\nv 101.1 0 0\nv 100.1 1 0\nf 1 2 3\n", 1);
    assert_true(tsr_mesh_origin(near).x == 0);
    tsr_mesh_destroy(&near);
    near = read_text("n.obj", "v 10000000 0 0\nv 10000001 0 0\nv 10000000 1 0\nf 1 2 3\n", 1);
    assert_true(tsr_mesh_origin(near).x == 0);
    tsr_mesh_destroy(&near);
}

static void far_points(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
    } files[] = {
        { "a.xyz", "3000000.25 5000000.5 100.125\n3000000.75 5000000.5 100.5\n3000001.3 5000001.7 101\n" },
        { "a.pts", "3\n3000000.25 5000000.5 100.125 1 2 3 4\n3000000.75 5000000.5 100.5 1 2 3 4\n3000001.3 5000001.7 101 1 2 3 4\n" },
        { "a.pcd", "VERSION .7\nFIELDS x y z\nSIZE 8 8 8\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 3\nHEIGHT 1\nPOINTS 3\nDATA ascii\n"
                   "3000000.25 5000000.5 100.125\n3000000.75 5000000.5 100.5\n3000001.3 5000001.7 101\n" },
    };
    static const double expected[9] = { 3000000.25, 5000000.5, 100.125, 3000000.75, 5000000.5, 100.5, 3000001.3, 5000001.7, 101 };
    static const struct {
        const char *name;
        int ascii;
    } outputs[] = { { "b.xyz", 0 }, { "b.pts", 0 }, { "b.pcd", 0 }, { "c.pcd", 1 }, { "b.ply", 0 }, { "b.off", 0 } };
    tsr_read_options read = TSR_READ_OPTIONS;
    read.local_origin = 1;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        tsr_points *points, *back;
        scratch_write(files[i].name, files[i].text, strlen(files[i].text));
        require_ok(tsr_points_read(scratch(files[i].name), &read, &points));
        for (size_t k = 0; k <= sizeof outputs / sizeof *outputs; k++) {
            tsr_write_options write = TSR_WRITE_OPTIONS;
            write.overwrite = 1;
            if (k) {
                write.ascii = outputs[k - 1].ascii;
                require_ok(tsr_points_write(points, scratch(outputs[k - 1].name), &write));
                require_ok(tsr_points_read(scratch(outputs[k - 1].name), &read, &back));
            } else {
                require_ok(tsr_points_copy(points, NULL, &back));
            }
            const tsr_vec3 o = tsr_points_origin(back);
            for (int c = 0; c < 9; c++)
                if (!(fabs((c % 3 == 0 ? o.x : c % 3 == 1 ? o.y : o.z) + (double)tsr_points_positions(back)[c] - expected[c]) < 1e-6))
                    fail_msg("%s to %s: number %d", files[i].name, k ? outputs[k - 1].name : "a copy", c);
            tsr_points_destroy(&back);
        }
        tsr_points_destroy(&points);
    }
}

/* ---- strips, STL ------------------------------------------------------------------------------------------------------------------------------- */

static void ply_strips(void **state)
{
    (void)state;
    static const uint32_t expected[15] = { 0, 1, 2, 2, 1, 3, 2, 3, 4, 0, 1, 2, 3, 4, 5 };
    tsr_mesh *mesh =
        read_text("t.ply",
                  "ply\nformat ascii 1.0\nelement vertex 6\nproperty float x\nproperty float y\nproperty float z\nelement tristrips 1\n"
                  "property list int int vertex_indices\nend_header\n0 0 0\n0 1 0\n1 0 0\n1 1 0\n2 0 0\n2 1 0\n13 0 1 2 3 4 -1 0 1 2 -1 3 4 5\n",
                  0);
    assert_int_equal(tsr_mesh_triangle_count(mesh), 5);
    assert_memory_equal(tsr_mesh_triangles(mesh), expected, sizeof expected);
    tsr_mesh_destroy(&mesh);
    scratch_write("u.ply",
                  "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nelement tristrips 1\n"
                  "property list int int vertex_indices\nend_header\n0 0 0\n3 0 0 7\n",
                  171);
    require_error(tsr_mesh_read(scratch("u.ply"), NULL, &mesh), TSR_ERROR_FORMAT, "corner 2 of strip 0 is vertex 7, expected 0 to 0");
}

static void stl_as_people_write_it(void **state)
{
    (void)state;
    static const char facet[] = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n";
    static const char *const begins[] = { "solid a\n", "\n\nsolid a\n", "SOLID A\n", "\r\n  Solid\r\n", "solid\n\n", "\xef\xbb\xbfsolid a\n" };
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        char text[400];
        tsr_file_kind kind;
        const char *format;
        snprintf(text, sizeof text, "%s%sendsolid\n", begins[i], facet);
        tsr_mesh *mesh = read_text("x.stl", text, 0);
        assert_int_equal(tsr_mesh_triangle_count(mesh), 1);
        assert_true(tsr_mesh_vertices(mesh)[3] == 1);
        tsr_mesh_destroy(&mesh);
        scratch_write("unnamed", text, strlen(text));
        require_ok(tsr_file_recognise(scratch("unnamed"), &kind, &format));
        assert_true(kind == TSR_FILE_MESH && !strcmp(format, "stl"));
    }
    /* binary, with a header that begins as text does, and bytes behind the facets */
    uint8_t binary[84 + 50 + 7] = "solid exported by somebody";
    memset(binary + 26, ' ', 54);
    memcpy(binary + 80, "\1\0\0\0", 4);
    const float x = 1;
    memcpy(binary + 84 + 24, &x, 4);
    for (size_t extra = 0; extra < 8; extra += 7) {
        tsr_mesh *mesh;
        scratch_write("b.stl", binary, 134 + extra);
        require_ok(tsr_mesh_read(scratch("b.stl"), NULL, &mesh));
        assert_int_equal(tsr_mesh_triangle_count(mesh), 1);
        tsr_mesh_destroy(&mesh);
    }
}

static void weld(void **state)
{
    (void)state;
    /* a tetrahedron as a soup, with a triangle whose corners fall together, in two parts */
    tsr_mesh *mesh = tetrahedron(), *soup, *welded;
    require_ok(tsr_mesh_create(NULL, 15, 5, 1, &soup));
    for (int c = 0; c < 12; c++) memcpy(tsr_mesh_vertices(soup) + 3 * c, tsr_mesh_vertices(mesh) + 3 * tsr_mesh_triangles(mesh)[c], 12);
    for (int c = 12; c < 15; c++) memcpy(tsr_mesh_vertices(soup) + 3 * c, tsr_mesh_vertices(mesh) + 3 * (c == 14), 12);
    for (uint32_t c = 0; c < 15; c++) tsr_mesh_triangles(soup)[c] = c;
    for (int i = 0; i < 45; i++) tsr_mesh_normals(soup)[i] = (float)(i / 3);
    const tsr_mesh_part parts[2] = { { 1, "a", 3 }, { 2, "b", 2 } };
    tsr_mesh_part part;
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    require_ok(tsr_mesh_set_parts(soup, parts, 2));
    require_ok(tsr_mesh_weld(soup, &welded));
    require_ok(tsr_mesh_measure(welded, &m));
    assert_true(m.vertices == 4 && m.triangles == 4 && m.boundary_edges == 0 && m.euler == 2 && m.degenerate_triangles == 0);
    assert_true(fabs(m.volume - 1.0 / 6) < 1e-12);
    assert_true(tsr_mesh_normals(welded)[3] == 1); /* the first counts */
    assert_true(tsr_mesh_part_at(welded, 1, &part) && part.value == 2 && part.triangles == 1 && !strcmp(part.name, "b"));
    tsr_mesh_destroy(&welded);
    tsr_mesh_triangles(soup)[4] = 15;
    require_error(tsr_mesh_weld(soup, &welded), TSR_ERROR_FORMAT, "corner 1 of triangle 1 is vertex 15");
    tsr_mesh_destroy(&soup);
    require_ok(tsr_mesh_create(NULL, 0, 0, 0, &soup));
    require_ok(tsr_mesh_weld(soup, &welded));
    assert_int_equal(tsr_mesh_vertex_count(welded), 0);
    tsr_mesh_destroy(&welded);
    tsr_mesh_destroy(&soup);
    tsr_mesh_destroy(&mesh);
}

static void colors_of_materials(void **state)
{
    (void)state;
    static const char obj[] =
        "mtllib my colours.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 5 5 5\nusemtl bright red\nf 1 2 3\nusemtl half\nf 2 3 4\n";
    static const char mtl[] = "newmtl half\nKd 0 0 1\nd 0.5\nmap_Kd x.png\nnewmtl bright red \nKd 1 0.2 0\n";
    static const uint8_t expected[5][4] = {
        { 255, 51, 0, 255 }, { 255, 51, 0, 255 }, { 255, 51, 0, 255 }, { 0, 0, 255, 128 }, { 204, 204, 204, 255 }
    };
    char text[600];
    tsr_mesh *mesh;
    scratch_write("m.obj", obj, sizeof obj - 1);
    tsr_remarks_take(text, sizeof text);
    require_ok(tsr_mesh_read(scratch("m.obj"), NULL, &mesh)); /* the file of materials is missing */
    tsr_remarks_take(text, sizeof text);
    assert_non_null(strstr(text, "my colours.mtl' is missing"));
    assert_null(tsr_mesh_colors_const(mesh));
    tsr_mesh_destroy(&mesh);
    scratch_write("my colours.mtl", mtl, sizeof mtl - 1);
    require_ok(tsr_mesh_read(scratch("m.obj"), NULL, &mesh));
    assert_memory_equal(tsr_mesh_colors_const(mesh), expected, sizeof expected);
    tsr_remarks_take(text, sizeof text);
    assert_non_null(strstr(text, "2 corners have another"));
    tsr_mesh_destroy(&mesh);
    scratch_files(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colors_come_back),
        cmocka_unit_test(colors_of_others),
        cmocka_unit_test(colors_of_materials),
        cmocka_unit_test(parts_come_back),
        cmocka_unit_test(far_places),
        cmocka_unit_test(far_points),
        cmocka_unit_test(ply_strips),
        cmocka_unit_test(stl_as_people_write_it),
        cmocka_unit_test(weld),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
