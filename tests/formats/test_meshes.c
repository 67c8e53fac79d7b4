#include "support.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/text.h"

static char folder[64];

static const char *path_of(const char *name)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *file_with(const char *name, const void *bytes, size_t size)
{
    const char *path = path_of(name);
    FILE *file = fopen(path, "wb");
    assert_true(file && fwrite(bytes, 1, size, file) == size && !fclose(file));
    return path;
}
static const char *text_file(const char *name, const char *text) { return file_with(name, text, strlen(text)); }

static tsr_mesh *read_text(const char *name, const char *text)
{
    tsr_mesh *mesh;
    require_ok(tsr_mesh_read(text_file(name, text), NULL, &mesh));
    return mesh;
}

static void refuse(const char *name, const char *text, tsr_status code, const char *message)
{
    tsr_mesh *mesh;
    require_error(tsr_mesh_read(text_file(name, text), NULL, &mesh), code, message);
    assert_null(mesh);
    assert_non_null(strstr(tsr_error_message(), name)); /* every message names the file */
}

static void require_triangles(const tsr_mesh *mesh, const uint32_t *triangles, int64_t count)
{
    assert_int_equal(tsr_mesh_triangle_count(mesh), count);
    assert_memory_equal(tsr_mesh_triangles_const(mesh), triangles, (size_t)count * 12);
}
static void require_vertices(const tsr_mesh *mesh, const float *vertices, int64_t count)
{
    assert_int_equal(tsr_mesh_vertex_count(mesh), count);
    assert_memory_equal(tsr_mesh_vertices_const(mesh), vertices, (size_t)count * 12);
}

static const uint32_t QUAD[6] = { 0, 1, 2, 0, 2, 3 };
static const float SQUARE[12] = { 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0 };

/* ---- every format and variant gives back what was written, to the last bit ---- */

static tsr_mesh *random_mesh(uint64_t *seed, int normals)
{
    tsr_mesh *mesh;
    require_ok(tsr_mesh_create(NULL, 500, 900, normals, &mesh));
    float *v = tsr_mesh_vertices(mesh), *n = tsr_mesh_normals(mesh);
    uint32_t *t = tsr_mesh_triangles(mesh);
    for (int i = 0; i < 1500; i++) {
        int exponent = (int)(test_random(seed) >> 40) % 60 - 30;
        v[i] = (float)ldexp(test_uniform(seed) - 0.5, i % 5 ? 6 : exponent * 4);
        if (normals) n[i] = (float)(2 * test_uniform(seed) - 1);
    }
    for (int i = 0; i < 2700; i++) t[i] = i < 1500 ? (uint32_t)(i / 3 * 3 + (i % 3)) % 500 : (uint32_t)(test_random(seed) >> 30) % 500;
    tsr_mesh_set_space(mesh, normals ? TSR_SPACE_RAS : TSR_SPACE_LPS);
    return mesh;
}

static void round_trips(void **state)
{
    (void)state;
    static const struct { const char *name; int ascii, big_endian, normals; } cases[] = {
        { "a.ply", 1, 0, 1 }, { "b.ply", 0, 0, 1 }, { "c.ply", 0, 1, 1 }, { "d.obj", 0, 0, 1 }, { "e.off", 0, 0, 1 },
        { "f.stl", 1, 0, 0 }, { "g.stl", 0, 0, 0 }, { "h.ply.gz", 0, 0, 1 }, { "i.STL.gz", 0, 0, 0 } };
    uint64_t seed = test_seed();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int normals = 0; normals < 2; normals++) {
            tsr_mesh *mesh = random_mesh(&seed, normals), *back;
            tsr_write_options options = TSR_WRITE_OPTIONS;
            options.ascii = cases[i].ascii;
            options.big_endian = cases[i].big_endian;
            options.overwrite = 1;
            require_ok(tsr_mesh_write(mesh, path_of(cases[i].name), &options));
            require_ok(tsr_mesh_read(path_of(cases[i].name), NULL, &back));
            assert_int_equal(tsr_mesh_space(back), tsr_mesh_space(mesh));
            if (cases[i].normals) {
                require_vertices(back, tsr_mesh_vertices(mesh), 500);
                require_triangles(back, tsr_mesh_triangles(mesh), 900);
                assert_int_equal(tsr_mesh_normals(back) != NULL, normals);
                if (normals) assert_memory_equal(tsr_mesh_normals(back), tsr_mesh_normals(mesh), 6000);
            } else { /* STL: the corners come back, numbered anew */
                assert_int_equal(tsr_mesh_triangle_count(back), 900);
                for (int c = 0; c < 2700; c++)
                    assert_memory_equal(tsr_mesh_vertices(back) + 3 * tsr_mesh_triangles(back)[c],
                                        tsr_mesh_vertices(mesh) + 3 * tsr_mesh_triangles(mesh)[c], 12);
                assert_true(tsr_mesh_vertex_count(back) <= 500);
            }
            tsr_mesh_destroy(&mesh);
            tsr_mesh_destroy(&back);
        }
}

static void empty_meshes(void **state)
{
    (void)state;
    static const char *const names[] = { "n.ply", "n.off", "n.stl" };
    for (int i = 0; i < 3; i++) {
        tsr_mesh *mesh, *back;
        require_ok(tsr_mesh_create(NULL, 0, 0, 0, &mesh));
        require_ok(tsr_mesh_write(mesh, path_of(names[i]), NULL));
        require_ok(tsr_mesh_read(path_of(names[i]), NULL, &back));
        assert_int_equal(tsr_mesh_vertex_count(back) + tsr_mesh_triangle_count(back), 0);
        tsr_mesh_destroy(&mesh);
        tsr_mesh_destroy(&back);
    }
}

/* ---- PLY ---- */

static void ply_skips_and_reorders(void **state)
{
    (void)state;
    tsr_mesh *mesh = read_text("any.ply", "ply\r\nformat ascii 1.0\r\nobj_info x\r\ncomment made by SPACE=RAS\r\nelement camera 2\r\n"
                               "property float f\r\n"
                               "property list uint8 double view\r\nelement face 3\r\nproperty uchar flag\r\n"
                               "property list int16 uint16 vertex_index\r\nproperty list uchar float texcoord\r\n"
                               "element vertex 4\r\nproperty uchar red\r\nproperty double z\r\nproperty double y\r\n"
                               "property short x\r\nproperty float nx\r\nelement edge 1\r\nproperty int vertex1\r\nend_header\r\n"
                               "1 3 1 2 3\r\n2 0\r\n1 4 0 1 2 3 2 .5 .5\r\n7 2 0 1 0\r\n0 3 0 2 3 0\r\n"
                               "9 0 0 0 1\r\n9 0 0 1 1\r\n9 0 1 1 1\r\n9 0 1 0 1\r\n5\r\n");
    const uint32_t expected[9] = { 0, 1, 2, 0, 2, 3, 0, 2, 3 };
    require_vertices(mesh, SQUARE, 4);
    require_triangles(mesh, expected, 3);
    assert_int_equal(tsr_mesh_space(mesh), TSR_SPACE_RAS);
    assert_null(tsr_mesh_normals(mesh)); /* nx alone is no normal */
    tsr_mesh_destroy(&mesh);
    static const char packed[] = "ply\nformat binary_big_endian 1.0\nelement face 1\nproperty list ushort uchar vertex_indices\nelement vertex 3\n"
                                 "property short x\nproperty char y\nproperty double z\nend_header\n\0\3\0\1\2"
                                 "\1\0\0\0\0\0\0\0\0\0\0"
                                 "\0\0\xfe\0\0\0\0\0\0\0\0"
                                 "\0\0\0\x3f\xf0\0\0\0\0\0\0";
    const float vertices[9] = { 256, 0, 0, 0, -2, 0, 0, 0, 1 };
    require_ok(tsr_mesh_read(file_with("packed.ply", packed, sizeof packed - 1), NULL, &mesh));
    require_vertices(mesh, vertices, 3);
    require_triangles(mesh, QUAD, 1);
    tsr_mesh_destroy(&mesh);
    tsr_mesh *failed;
    require_error(tsr_mesh_read(file_with("short.ply", packed, sizeof packed - 2), NULL, &failed), TSR_ERROR_FORMAT, "element vertex has 3 entries");
}

#define PLY "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement face "
#define PLY_FACES "1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n"

static void ply_refuses(void **state)
{
    (void)state;
    refuse("index.ply", PLY PLY_FACES "3 0 1 3\n", TSR_ERROR_FORMAT, "corner 2 of face 0 is vertex 3, expected 0 to 2");
    refuse("negative.ply", PLY PLY_FACES "3 0 -1 2\n", TSR_ERROR_FORMAT, "is vertex -1");
    refuse("fraction.ply", PLY PLY_FACES "3 0 .5 2\n", TSR_ERROR_FORMAT, "is vertex 0.5");
    refuse("ends.ply", PLY PLY_FACES "3 0 1\n", TSR_ERROR_FORMAT, "ends within face 0 of 1");
    refuse("long.ply", PLY PLY_FACES "900 0 1\n", TSR_ERROR_FORMAT, "a list of 900 values in face 0");
    refuse("word.ply", PLY PLY_FACES "3 0 one 2\n", TSR_ERROR_FORMAT, "line 13: 'one' in face 0, expected a number");
    refuse("many.ply", PLY "1000000000000\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", TSR_ERROR_FORMAT,
           "element face has 1000000000000 entries of at least 2 bytes, but only 10 bytes are left");
    refuse("nan.ply", PLY "0\nend_header\n0 0 0\n1 nan 0\n0 1 0\n", TSR_ERROR_FORMAT, "y of vertex 1 is nan");
    refuse("huge.ply", PLY "0\nend_header\n0 0 0\n1 0 1e39\n0 1 0\n", TSR_ERROR_FORMAT, "z of vertex 1 is inf");
    refuse("twice.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float x\nend_header\n1\n", TSR_ERROR_FORMAT,
           "given twice");
    refuse("noz.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nend_header\n1 1\n", TSR_ERROR_FORMAT,
           "x, y and z");
    refuse("end.ply", "ply\nformat ascii 1.0\nelement vertex 1\n", TSR_ERROR_FORMAT, "no end_header");
    refuse("form.ply", "ply\nformat text 1.0\nend_header\n", TSR_ERROR_FORMAT, "format 'text'");
    refuse("noform.ply", "ply\nend_header\n", TSR_ERROR_FORMAT, "names no format");
    refuse("type.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty half x\nend_header\n", TSR_ERROR_FORMAT, "property type 'half'");
    refuse("count.ply", "ply\nformat ascii 1.0\nelement vertex -1\nend_header\n", TSR_ERROR_FORMAT, "element count '-1'");
    refuse("list.ply", "ply\nformat ascii 1.0\nelement face 1\nproperty list float int vertex_indices\nend_header\n", TSR_ERROR_FORMAT,
           "list count of type 'float'");
}

/* ---- OBJ ---- */

static void obj_forms(void **state)
{
    (void)state;
    tsr_mesh *mesh = read_text("forms.obj", "# cube side\nmtllib a.mtl\nv 0 0 0 1\nv 1 0 0 .1 .2 .3\nv 1 1 0\nv 0 1 0\nvt 0 0\ng side # SPACE=LPS\n"
                               "f 1 2 3 4\nf 1/1 2/1 \\\n  3/1\nf -4 -2 -1\nl 1 2\n");
    const uint32_t expected[12] = { 0, 1, 2, 0, 2, 3, 0, 1, 2, 0, 2, 3 };
    require_vertices(mesh, SQUARE, 4);
    require_triangles(mesh, expected, 4);
    assert_int_equal(tsr_mesh_space(mesh), TSR_SPACE_LPS);
    assert_null(tsr_mesh_normals(mesh));
    tsr_mesh_destroy(&mesh);
    /* Normals by index, also a shared one; vertex 4 is in no face. */
    mesh = read_text("normals.obj", "v 0 0 0\nv 1 0 0\nvn 0 0 2\nvn 0 1 0\nv 1 1 0\nv 9 9 9\nf 1//-2 2/7/2 3//1\nvt 1 1\n");
    const float normals[12] = { 0, 0, 2, 0, 1, 0, 0, 0, 2, 0, 0, 0 };
    assert_non_null(tsr_mesh_normals(mesh));
    assert_memory_equal(tsr_mesh_normals(mesh), normals, sizeof normals);
    tsr_mesh_destroy(&mesh);
    /* An edge with two normals at a vertex cannot be kept. */
    mesh = read_text("sharp.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nvn 0 1 0\nf 1//1 2//1 3//1\nf 1//2 3//2 4//2\n");
    require_triangles(mesh, QUAD, 2);
    assert_null(tsr_mesh_normals(mesh));
    tsr_mesh_destroy(&mesh);
}

static void obj_refuses(void **state)
{
    (void)state;
#define OBJ "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
    refuse("zero.obj", OBJ "f 0 1 2\n", TSR_ERROR_FORMAT, "line 4: vertex 0 in a face, expected 1 to 3");
    refuse("beyond.obj", OBJ "f 1 2 4\n", TSR_ERROR_FORMAT, "vertex 4");
    refuse("before.obj", OBJ "f 1 2 -4\n", TSR_ERROR_FORMAT, "vertex -4");
    refuse("normal.obj", OBJ "vn 0 0 1\nf 1//1 2//2 3//1\n", TSR_ERROR_FORMAT, "normal 2");
    refuse("word.obj", OBJ "f 1 2 x\n", TSR_ERROR_FORMAT, "line 4: 'x' in a face");
    refuse("two.obj", OBJ "f 1 2\n", TSR_ERROR_FORMAT, "a face of 2 corners");
    refuse("coordinates.obj", "v 0 0\nf 1 1 1\n", TSR_ERROR_FORMAT, "line 1: '' in a vertex, expected three numbers");
    refuse("nan.obj", OBJ "v nan 0 0\n", TSR_ERROR_FORMAT, "x of vertex 3 is nan");
    refuse("none.obj", "f 1 2 3\n", TSR_ERROR_FORMAT, "no vertices");
}

/* ---- STL ---- */

static void stl_welds(void **state)
{
    (void)state;
    tsr_mesh *mesh = read_text("weld.stl", "solid a facet that SPACE=RAS\nfacet normal 0 0 0\n outer loop\n  vertex 0 0 0\n  vertex 1 0 0\n"
                               "  vertex 1 1 0\n endloop\nendfacet\nFACET NORMAL 0 0 1 OUTER LOOP VERTEX -0 0 0 VERTEX 1 1 0 VERTEX 0 1 0 ENDLOOP "
                               "ENDFACET\nendsolid\nsolid vertex 1\nendsolid\n");
    require_vertices(mesh, SQUARE, 4);
    require_triangles(mesh, QUAD, 2);
    assert_int_equal(tsr_mesh_space(mesh), TSR_SPACE_RAS);
    /* The same through a binary file; the facet normal points where the corners say. */
    require_ok(tsr_mesh_write(mesh, path_of("weld-binary.stl"), NULL));
    FILE *file = fopen(path_of("weld-binary.stl"), "rb");
    uint8_t bytes[400];
    assert_int_equal(fread(bytes, 1, sizeof bytes, file), 84 + 2 * 50);
    fclose(file);
    float normal[3];
    memcpy(normal, bytes + 84, 12);
    assert_true(bytes[80] == 2 && normal[0] == 0 && normal[1] == 0 && normal[2] == 1);
    tsr_mesh_destroy(&mesh);
    /* A binary file that begins with "solid" is binary. */
    memcpy(bytes, "solid of a careless program", 27);
    require_ok(tsr_mesh_read(file_with("careless.stl", bytes, 184), NULL, &mesh));
    require_triangles(mesh, QUAD, 2);
    tsr_mesh_destroy(&mesh);
    tsr_mesh *failed;
    tsr_read_options stl = TSR_READ_OPTIONS;
    stl.format = "stl";
    require_error(tsr_mesh_read(file_with("cut.stl", bytes, 183), &stl, &failed), TSR_ERROR_FORMAT, "2 facets need 184 bytes, the file has 183");
    bytes[83] = 0xff;
    require_error(tsr_mesh_read(file_with("many.stl", bytes, 184), &stl, &failed), TSR_ERROR_FORMAT, "facets need");
    require_error(tsr_mesh_read(file_with("tiny.stl", bytes + 50, 50), &stl, &failed), TSR_ERROR_FORMAT, "at least 84");
    refuse("three.stl", "solid\nfacet normal 0 0 0 outer loop vertex 0 0 0 vertex 1 0 0 endloop endfacet\n", TSR_ERROR_FORMAT,
           "a facet of 2 vertices");
    refuse("four.stl", "solid\nfacet vertex 0 0 0 vertex 1 0 0 vertex 1 0 0 vertex 1 0 0 endfacet\n", TSR_ERROR_FORMAT, "more than 3");
    refuse("words.stl", "solid\nfacet vertex 0 0 zero\n", TSR_ERROR_FORMAT, "line 2: 'zero' in a vertex");
    refuse("nan.stl", "solid\nfacet vertex 0 0 0 vertex 1 0 nan vertex 1 0 0 endfacet\n", TSR_ERROR_FORMAT, "z of vertex 1 is nan");
}

/* ---- OFF ---- */

static void off_variants(void **state)
{
    (void)state;
    tsr_mesh *mesh = read_text("plain.off", "# a comment SPACE=RAS\nOFF\n\n4 3 0 # counts\n0 0 0\n# between\n1 0 0\n1 1 0\n0 1 0\n"
                               "4 0 1 2 3 255 0 0\n2 0 1\n3 0 2 3\n");
    const uint32_t expected[9] = { 0, 1, 2, 0, 2, 3, 0, 2, 3 };
    require_vertices(mesh, SQUARE, 4);
    require_triangles(mesh, expected, 3);
    assert_int_equal(tsr_mesh_space(mesh), TSR_SPACE_RAS);
    tsr_mesh_destroy(&mesh);
    mesh = read_text("joined.off", "OFF4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n");
    require_triangles(mesh, QUAD, 2);
    tsr_mesh_destroy(&mesh);
    mesh = read_text("normals.off", "CNOFF 3 1\n0 0 0 0 0 1 9 9 9 9\n1 0 0 0 nan 1 9 9 9 9\n1 1 0 0 0 3 9 9 9 9\n3 0 1 2\n");
    const float normals[9] = { 0, 0, 1, 0, 0, 0, 0, 0, 3 };
    assert_memory_equal(tsr_mesh_normals(mesh), normals, sizeof normals);
    tsr_mesh_destroy(&mesh);
    mesh = read_text("colours.off", "COFF\n4 1 4\n0 0 0 1 1 1 1\n1 0 0 1 1 1 1\n1 1 0 0 0 0 1\n0 1 0 1 1 1 1\n4 0 1 2 3\n");
    require_vertices(mesh, SQUARE, 4);
    tsr_mesh_destroy(&mesh);
}

static void off_refuses(void **state)
{
    (void)state;
#define OFF "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n"
    refuse("index.off", OFF "3 0 1 3\n", TSR_ERROR_FORMAT, "line 6: corner 2 of face 0 is vertex 3");
    refuse("short.off", OFF "3 0 1\n", TSR_ERROR_FORMAT, "corner 2 of face 0");
    refuse("long.off", OFF "99999999 0 1\n", TSR_ERROR_FORMAT, "a number of corners");
    refuse("missing.off", OFF, TSR_ERROR_FORMAT, "the file ends before face 0 of 1");
    refuse("counts.off", "OFF\n4000000000 1 0\n0 0 0\n", TSR_ERROR_FORMAT, "4000000000 vertices");
    refuse("nocounts.off", "OFF\n3 x\n", TSR_ERROR_FORMAT, "no number of faces");
    refuse("vertex.off", "OFF\n2 0 0\n0 0 0\n1 0\n# padding\n", TSR_ERROR_FORMAT, "line 4: '' in vertex 1, expected 3 numbers");
    refuse("binary.off", "OFF BINARY\n\1\2", TSR_ERROR_UNSUPPORTED, "binary");
    refuse("four.off", "4OFF\n1 0 0\n0 0 0 0\n", TSR_ERROR_UNSUPPORTED, "another dimension");
}

static void recognises(void **state)
{
    (void)state;
    static const struct { const char *text, *format; } cases[] = {
        { PLY "0\nend_header\n0 0 0\n1 0 0\n0 1 0\n", "ply" }, { "OFF\n0 0 0\n", "off" }, { "solid x\nfacet normal 0 0 0\n", "stl" },
        { "# nothing\nv 0 0 0\n", "obj" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_file_kind kind;
        const char *format;
        require_ok(tsr_file_recognise(text_file("unnamed", cases[i].text), &kind, &format));
        assert_int_equal(kind, TSR_FILE_MESH);
        assert_string_equal(format, cases[i].format);
    }
}

static void limits_and_targets(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_mesh *mesh = random_mesh(&seed, 1), *failed;
    tsr_read_options little = TSR_READ_OPTIONS;
    little.memory_limit = 4000;
    static const char *const names[] = { "limit.ply", "limit.obj", "limit.stl", "limit.off" };
    for (int i = 0; i < 4; i++) {
        require_ok(tsr_mesh_write(mesh, path_of(names[i]), NULL));
        require_error(tsr_mesh_write(mesh, path_of(names[i]), NULL), TSR_ERROR_IO, names[i]); /* exists */
        require_error(tsr_mesh_read(path_of(names[i]), &little, &failed), TSR_ERROR_MEMORY, names[i]);
        assert_null(failed);
    }
    require_error(tsr_mesh_write(mesh, "/nowhere/at/all.ply", NULL), TSR_ERROR_IO, "/nowhere/at/all.ply");
    tsr_mesh_destroy(&mesh);
}

static int stop_at(void *user, double fraction, const char *stage)
{
    (void)stage;
    return fraction >= *(const double *)user;
}

static int stop_past(void *user, double fraction, const char *stage)
{
    double *at = (double *)user;
    (void)stage;
    if (fraction < at[0]) return 0;
    at[1] = fraction;
    return 1;
}

static int exists(const char *name) { return access(path_of(name), F_OK) == 0; }

/* Writers stop at the first call and in between; nothing is there then, or what was there before. */
static void cancelled_writing(void **state)
{
    (void)state;
    static const struct { const char *name; int ascii; } files[] = { { "w.ply", 0 }, { "w.ply", 1 }, { "w.obj", 0 }, { "w.stl", 0 }, { "w.stl", 1 },
                                                                     { "w.off", 0 } };
    tsr_mesh *mesh;
    require_ok(tsr_mesh_create(NULL, 70000, 200000, 1, &mesh));
    memset(tsr_mesh_vertices(mesh), 0, 70000 * 12);
    memset(tsr_mesh_normals(mesh), 0, 70000 * 12);
    for (uint32_t i = 0; i < 600000; i++) tsr_mesh_triangles(mesh)[i] = i % 70000;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (int late = 0; late < 2; late++) {
            double at[2] = { late ? 0.4 : 0, -1 };
            tsr_write_options write = TSR_WRITE_OPTIONS;
            write.ascii = files[i].ascii;
            write.progress = (tsr_progress){ stop_past, at };
            unlink(path_of(files[i].name));
            require_error(tsr_mesh_write(mesh, path_of(files[i].name), &write), TSR_ERROR_CANCELLED, "cancelled");
            assert_true(late ? at[1] >= 0.4 && at[1] < 1 : at[1] == 0);
            assert_false(exists(files[i].name));
            text_file(files[i].name, "kept");
            write.overwrite = 1;
            require_error(tsr_mesh_write(mesh, path_of(files[i].name), &write), TSR_ERROR_CANCELLED, "cancelled");
            struct stat found;
            assert_int_equal(stat(path_of(files[i].name), &found), 0);
            assert_int_equal(found.st_size, 4);
        }
    tsr_mesh_destroy(&mesh);
}

static void cancelled(void **state)
{
    (void)state;
    static const char *const names[] = { "cancel.ply", "cancel.obj", "cancel.stl", "cancel.off" };
    tsr_mesh *mesh, *failed;
    require_ok(tsr_mesh_create(NULL, 200000, 100000, 0, &mesh));
    for (int64_t i = 0; i < 600000; i++) tsr_mesh_vertices(mesh)[i] = (float)i;
    for (uint32_t i = 0; i < 300000; i++) tsr_mesh_triangles(mesh)[i] = i % 200000;
    for (int i = 0; i < 4; i++)
        for (int late = 0; late < 2; late++) {
            tsr_read_options options = TSR_READ_OPTIONS;
            double fraction = late ? 0.4 : -1;
            tsr_write_options write = TSR_WRITE_OPTIONS;
            write.overwrite = 1;
            options.progress = (tsr_progress){ stop_at, &fraction };
            require_ok(tsr_mesh_write(mesh, path_of(names[i]), &write));
            require_error(tsr_mesh_read(path_of(names[i]), &options, &failed), TSR_ERROR_CANCELLED, "cancelled");
            assert_null(failed);
        }
    tsr_mesh_destroy(&mesh);
}

/* Numbers: strtod is the oracle for doubles, and float32 must survive 9 digits. */
static void numbers(void **state)
{
    (void)state;
    static const char *const good[] = { "0", "-0", "1", "+1.5", ".5", "5.", "1e3", "1E-3", "123456789012345678901234567890", "0.1",
                                        "3.4028235e38", "1e-45", "4.9e-324", "1e400", "-1e400", "0.000000000000000000000000000000000000000000001",
                                        "9007199254740993", "1e22", "1e23" };
    static const char *const bad[] = { "", "-", ".", "e5", "1e", "1e+", "1.2.3", "0x10", "1,5", "1f", "--1" };
    double value;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(tsr_word_double((tsr_word){ good[i], strlen(good[i]) }, &value), TSR_TEXT_OK);
        double expected = strtod(good[i], NULL);
        if (value != expected && fabs(value - expected) > 2.3e-16 * fabs(expected)) fail_msg("%s: %.17g", good[i], value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_not_equal(tsr_word_double((tsr_word){ bad[i], strlen(bad[i]) }, &value), TSR_TEXT_OK);
    uint64_t seed = test_seed();
    for (int i = 0; i < 200000; i++) {
        uint32_t bits = (uint32_t)(test_random(&seed) >> 32);
        float number, back;
        char text[32];
        memcpy(&number, &bits, 4);
        if (!isfinite(number)) continue;
        char *end = tsr_put_float(text, number);
        assert_true(end - text <= 16);
        *end = 0;
        assert_int_equal(tsr_word_double((tsr_word){ text, (size_t)(end - text) }, &value), TSR_TEXT_OK);
        back = (float)value;
        assert_true(strtof(text, NULL) == number); /* another reader's opinion */
        if (memcmp(&back, &number, 4)) fail_msg("%s: %.9g is not %.9g", text, (double)back, (double)number);
    }
}

static void printed_numbers(void **state)
{
    (void)state;
    static const struct { float number; const char *text; } cases[] = {
        { 0.0f, "0" }, { -0.0f, "-0" }, { 1.0f, "1" }, { -2.5f, "-2.5" }, { 10.0f, "10" }, { 123456784.0f, "123456784" }, { 1e9f, "1e9" },
        { 0.1f, "0.100000001" }, { 0.0625f, "0.0625" }, { 0.00002f, "0.0000199999995" }, { 0.00001f, "9.99999975e-6" },
        { 9.53674316e-7f, "9.53674316e-7" }, { 3.40282347e38f, "3.40282347e38" },
        { 9.99999949e-39f, "9.99999935e-39" }, { 1e-45f, "1.40129846e-45" }, { 0.999999940f, "0.99999994" }, { INFINITY, "inf" }, { NAN, "nan" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        *tsr_put_float(text, cases[i].number) = 0;
        assert_string_equal(text, cases[i].text);
    }
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "test-meshes-%ld", (long)getpid());
    return mkdir(folder, 0777);
}
static int remove_folder(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* ---- polygons ---- */

static double area_of(const tsr_mesh *mesh)
{
    double sum = 0;
    for (int64_t t = 0; t < tsr_mesh_triangle_count(mesh); t++) {
        const uint32_t *c = tsr_mesh_triangles_const(mesh) + 3 * t;
        double e[2][3], n[3];
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < 3; k++)
                e[i][k] = (double)tsr_mesh_vertices_const(mesh)[3 * (int64_t)c[i + 1] + k] - (double)tsr_mesh_vertices_const(mesh)[3 * (int64_t)c[0] + k];
        for (int k = 0; k < 3; k++) n[k] = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
        sum += 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    }
    return sum;
}

static void require_face(const char *name, const char *text, int64_t triangles, double area, int64_t odd)
{
    tsr_mesh *mesh = read_text(name, text);
    print_message("%s: %lld triangles, area %.6f, odd %lld\n", name, (long long)tsr_mesh_triangle_count(mesh), area_of(mesh),
                  (long long)tsr_mesh_odd_faces(mesh));
    assert_int_equal(tsr_mesh_triangle_count(mesh), triangles);
    assert_true(fabs(area_of(mesh) - area) < 1e-6);
    assert_int_equal(tsr_mesh_odd_faces(mesh), odd);
    tsr_mesh_destroy(&mesh);
}

/* Areas by hand; a fan round the first corner covers 4 of the L, and 2.75 of the dart. */
static void concave_faces(void **state)
{
    (void)state;
    require_face("l.obj", "v 1 2 0\nv 0 2 0\nv 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nf 1 2 3 4 5 6\n", 4, 3, 0);
    require_face("l.off", "OFF\n6 1 0\n1 2 0\n0 2 0\n0 0 0\n2 0 0\n2 1 0\n1 1 0\n6 0 1 2 3 4 5\n", 4, 3, 0);
    require_face("l.ply",
                 "ply\nformat ascii 1.0\nelement vertex 6\nproperty float x\nproperty float y\nproperty float z\nelement face 1\n"
                 "property list uchar int vertex_indices\nend_header\n1 2 0\n0 2 0\n0 0 0\n2 0 0\n2 1 0\n1 1 0\n6 0 1 2 3 4 5\n",
                 4, 3, 0);
    require_face("behind.obj", "f 1 2 3 4\nv 0 0 0\nv 2 0 0\nv 1 .5 0\nv 1 2 0\n", 2, 1.25, 0); /* reflex at the third corner, vertices after the face */
    require_face("dart.obj", "v 2 0 0\nv 1 .5 0\nv 1 2 0\nv 0 0 0\nf 1 2 3 4\n", 2, 1.25, 0);   /* at the second */
    require_face("side.obj", "v 0 2 1\nv 0 2 0\nv 0 0 0\nv 0 0 2\nv 0 1 2\nv 0 1 1\nf 6 5 4 3 2 1\n", 4, 3, 0);
    require_face("line.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nf 1 2 3 4 5\n", 3, 4, 0); /* a corner on a side */
    require_face("hole.obj", "v 0 0 0\nv 4 0 0\nv 4 4 0\nv 0 4 0\nv 1 1 0\nv 1 3 0\nv 3 3 0\nv 3 1 0\nf 1 2 3 4 1 5 6 7 8 5\n", 8, 12, 0);
    require_face("bow.obj", "v 0 0 0\nv 2 2 0\nv 2 0 0\nv 0 1 0\nf 1 2 3 4\n", 2, 3, 1);  /* the fan stays */
    require_face("flat.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 3 0 0\nf 1 2 3 4\n", 2, 0, 1);
}

/* Not quite plane: between the area of its projection and a little more, and no triangle turned over. */
static void bent_face(void **state)
{
    (void)state;
    tsr_mesh *mesh = read_text("bent.obj", "v 1 2 .1\nv 0 2 0\nv 0 0 .05\nv 2 0 0\nv 2 1 0\nv 1 1 0\nf 1 2 3 4 5 6\n");
    assert_true(area_of(mesh) >= 3 && area_of(mesh) < 3.05);
    for (int64_t t = 0; t < 4; t++) {
        const uint32_t *c = tsr_mesh_triangles_const(mesh) + 3 * t;
        const float *a = tsr_mesh_vertices_const(mesh) + 3 * c[0], *b = tsr_mesh_vertices_const(mesh) + 3 * c[1], *d = tsr_mesh_vertices_const(mesh) + 3 * c[2];
        assert_true((b[0] - a[0]) * (d[1] - a[1]) - (b[1] - a[1]) * (d[0] - a[0]) > 0);
    }
    tsr_mesh_destroy(&mesh);
}

/* Spikes of random lengths round a point, on an oblique plane: the area is that of their outline (shoelace), however many there are. */
static void spiky_faces(void **state)
{
    (void)state;
    const int sizes[] = { 5, 8, 23, 100, 1000, test_is_slow() ? 3000 : 100000 };
    uint64_t seed = test_seed();
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int n = sizes[s];
        char *text = (char *)malloc((size_t)n * 80 + 100), *end = text;
        double first[2] = { 0, 0 }, before[2] = { 0, 0 }, area = 0;
        assert_non_null(text);
        for (int i = 0; i < n; i++) {
            const double r = 1 + 9 * test_uniform(&seed), angle = 6.283185307179586 * i / n;
            const double p[2] = { (double)(float)(r * cos(angle)), (double)(float)(r * sin(angle)) };
            end += sprintf(end, "v %.9g %.9g %.9g\n", p[0], p[1], 0.5 * p[0] + 0.25 * p[1]);
            if (i) area += 0.5 * (before[0] * p[1] - before[1] * p[0]);
            else memcpy(first, p, sizeof p);
            memcpy(before, p, sizeof p);
        }
        area += 0.5 * (before[0] * first[1] - before[1] * first[0]);
        end += sprintf(end, "f");
        for (int i = 1; i <= n; i++) end += sprintf(end, " %d", i);
        sprintf(end, "\n");
        tsr_mesh *mesh = read_text("spikes.obj", text);
        assert_int_equal(tsr_mesh_triangle_count(mesh), n - 2);
        assert_int_equal(tsr_mesh_odd_faces(mesh), 0);
        assert_true(fabs(area_of(mesh) / (area * sqrt(1 + 0.25 + 0.0625)) - 1) < 1e-5);
        tsr_mesh_destroy(&mesh);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(round_trips), cmocka_unit_test(empty_meshes), cmocka_unit_test(ply_skips_and_reorders),
                                        cmocka_unit_test(ply_refuses), cmocka_unit_test(obj_forms),    cmocka_unit_test(obj_refuses),
                                        cmocka_unit_test(stl_welds),   cmocka_unit_test(off_variants), cmocka_unit_test(off_refuses),
                                        cmocka_unit_test(recognises),  cmocka_unit_test(limits_and_targets), cmocka_unit_test(cancelled),  cmocka_unit_test(cancelled_writing),
                                        cmocka_unit_test(numbers),     cmocka_unit_test(printed_numbers), cmocka_unit_test(concave_faces), cmocka_unit_test(bent_face),
                                        cmocka_unit_test(spiky_faces) };
    return cmocka_run_group_tests_name("meshes", tests, make_folder, remove_folder);
}
