/* glTF, 3MF, VTK surfaces and LAS: what is written comes back with normals, colours, parts and places far off; files cut off at any byte are refused; so are
 * headers that lie, by name. tests/formats/mesh_peers.py, vtk_peers.py and point_peers.py ask other libraries. */
#include "scratch.h"

#include <math.h>

static const tsr_write_options overwrite = { .struct_size = sizeof(tsr_write_options), .overwrite = 1 };

/* Two tetrahedra that share no vertex, so that parts can have vertices of their own, in the order in which triangles name them. */
static tsr_mesh *make_mesh(int normals, int colors, int parts, int far)
{
    static const float corner[4][3] = { { 0, 0, 0 }, { 1.5f, 0, 0 }, { 0, 2.25f, 0 }, { 0.125f, 0, 3 } };
    static const uint32_t face[12] = { 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3 };
    tsr_mesh *m;
    require_ok(tsr_mesh_create(NULL, 8, 8, normals, &m));
    for (int v = 0; v < 8; v++)
        for (int k = 0; k < 3; k++) {
            tsr_mesh_vertices(m)[3 * v + k] = corner[v % 4][k] + (v < 4 ? 0.0f : 4.0f);
            if (normals) tsr_mesh_normals(m)[3 * v + k] = k == v % 3 ? -1.0f : 0.0f;
        }
    for (int c = 0; c < 24; c++) tsr_mesh_triangles(m)[c] = face[c % 12] + (c < 12 ? 0u : 4u);
    if (colors) {
        require_ok(tsr_mesh_add_colors(m));
        for (int c = 0; c < 32; c++) tsr_mesh_colors(m)[c] = (uint8_t)(c * 37 + 1);
    }
    if (parts) {
        const tsr_mesh_part two[2] = { { 3, "left \"kidney\"", 4 }, { 7, NULL, 4 } };
        require_ok(tsr_mesh_set_parts(m, two, 2));
    }
    if (far) tsr_mesh_set_origin(m, (tsr_vec3){ 500000, -4600000, 0 });
    return m;
}

/* A build without the library of a format says so. */
static int left_out(tsr_status status, tsr_mesh *mesh)
{
    if (status != TSR_ERROR_UNSUPPORTED || !strstr(tsr_error_message(), "this build")) return 0;
    tsr_mesh_destroy(&mesh);
    return 1;
}

static void round_trips(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int normals, parts, labels, ascii;
    } formats[] = { { "a.glb", 1, 1, 1, 0 }, { "a.3mf", 0, 1, 0, 0 }, { "a.vtp", 1, 0, 0, 0 }, { "b.vtp", 1, 0, 0, 1 } };
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
        for (int extras = 0; extras < 16; extras++) {
            tsr_mesh *m = make_mesh(extras & 1, extras & 2, extras & 4, extras & 8), *back;
            tsr_write_options options = overwrite;
            tsr_read_options read = TSR_READ_OPTIONS;
            tsr_mesh_part part;
            options.ascii = formats[f].ascii;
            read.local_origin = 1;
            const tsr_status written = tsr_mesh_write(m, scratch(formats[f].name), &options);
            if (left_out(written, m)) break;
            require_ok(written);
            require_ok(tsr_mesh_read(scratch(formats[f].name), &read, &back));
            assert_int_equal(tsr_mesh_vertex_count(back), 8);
            assert_int_equal(tsr_mesh_triangle_count(back), 8);
            assert_memory_equal(tsr_mesh_triangles_const(back), tsr_mesh_triangles_const(m), 96);
            const tsr_vec3 a = tsr_mesh_origin(m), b = tsr_mesh_origin(back);
            const double from[3] = { a.x, a.y, a.z }, to[3] = { b.x, b.y, b.z };
            for (int k = 0; k < 24; k++)
                assert_true(fabs(from[k % 3] + (double)tsr_mesh_vertices_const(m)[k] - to[k % 3] - (double)tsr_mesh_vertices_const(back)[k]) < 1e-6);
            assert_true((tsr_mesh_normals_const(back) != NULL) == ((extras & 1) && formats[f].normals));
            if (tsr_mesh_normals_const(back)) assert_memory_equal(tsr_mesh_normals_const(back), tsr_mesh_normals_const(m), 96);
            assert_true((tsr_mesh_colors_const(back) != NULL) == !!(extras & 2));
            if (extras & 2) assert_memory_equal(tsr_mesh_colors_const(back), tsr_mesh_colors_const(m), 32);
            assert_true(tsr_mesh_part_at(back, 1, &part) == ((extras & 4) && formats[f].parts));
            if ((extras & 4) && formats[f].parts) {
                assert_int_equal(part.triangles, 4);
                if (formats[f].labels) assert_int_equal(part.value, 7);
                assert_true(tsr_mesh_part_at(back, 0, &part) && !strncmp(part.name, "left ", 5));
            }
            tsr_mesh_destroy(&back);
            tsr_mesh_destroy(&m);
        }
    scratch_files(1);
}

static void cut_files(void **state)
{
    (void)state;
    static const struct {
        const char *name, *format;
        size_t spare; /* bytes at the end whose loss does not matter */
    } files[] = { { "c.glb", "gltf", 0 }, { "c.3mf", "3mf", 0 }, { "c.vtp", "vtp-mesh", 12 + 18 } };
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        tsr_mesh *m = make_mesh(1, 1, 1, 0), *back;
        tsr_read_options named = TSR_READ_OPTIONS;
        size_t size;
        const tsr_status written = tsr_mesh_write(m, scratch(files[f].name), &overwrite);
        if (left_out(written, m)) continue;
        require_ok(written);
        uint8_t *bytes = (uint8_t *)scratch_read(files[f].name, &size);
        named.format = files[f].format;
        for (size_t cut = 0; cut + files[f].spare < size; cut += 1 + (cut + 64 < size ? size / 400 : 0)) {
            scratch_write("cut.x", bytes, cut);
            if (tsr_mesh_read(scratch("cut.x"), &named, &back) == TSR_OK)
                fail_msg("%s: read although cut to %zu of %zu bytes", files[f].name, cut, size);
            assert_null(back);
        }
        free(bytes);
        tsr_mesh_destroy(&m);
    }
    scratch_files(1);
}

#define HEAD_OF \
    "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":36,\"uri\":\"data:;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA\"}],"
#define VIEW "\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],"
#define POSITIONS "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}],"
#define MESH "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"
#define TREE "\"nodes\":[{\"mesh\":0}],\"scenes\":[{\"nodes\":[0]}]}"

static void gltf_lies(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        tsr_status status;
        const char *said;
    } cases[] = {
        { HEAD_OF VIEW POSITIONS MESH TREE, TSR_OK, "" },
        { "{\"asset\":{\"version\":\"1.0\"}}", TSR_ERROR_UNSUPPORTED, "version 1.0" },
        { "{\"asset\":{}", TSR_ERROR_FORMAT, "JSON" },
        { HEAD_OF "\"bufferViews\":[{\"buffer\":0,\"byteLength\":37}]," POSITIONS MESH TREE, TSR_ERROR_FORMAT, "ends behind its buffer" },
        { HEAD_OF "\"bufferViews\":[{\"buffer\":1,\"byteLength\":36}]," POSITIONS MESH TREE, TSR_ERROR_FORMAT, "'buffer'" },
        { HEAD_OF "\"bufferViews\":[{\"buffer\":0,\"byteLength\":36,\"byteStride\":16}]," POSITIONS MESH TREE, TSR_ERROR_FORMAT, "do not fit" },
        { HEAD_OF VIEW "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"}]," MESH TREE, TSR_ERROR_FORMAT,
          "do not fit" },
        { HEAD_OF VIEW "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":100000000000000000,\"type\":\"VEC3\"}]," MESH TREE,
          TSR_ERROR_FORMAT, "do not fit" },
        { HEAD_OF VIEW "\"accessors\":[{\"bufferView\":0,\"componentType\":5130,\"count\":3,\"type\":\"VEC3\"}]," MESH TREE, TSR_ERROR_FORMAT,
          "of 5130" },
        { HEAD_OF VIEW "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC2\"}]," MESH TREE, TSR_ERROR_FORMAT,
          "expected VEC3" },
        { HEAD_OF VIEW "\"accessors\":[{\"bufferView\":7,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}]," MESH TREE, TSR_ERROR_FORMAT,
          "item 7 of 'bufferViews'" },
        { HEAD_OF VIEW POSITIONS "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":9}}]}]," TREE, TSR_ERROR_FORMAT,
          "item 9 of 'accessors'" },
        { HEAD_OF VIEW POSITIONS "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":0}]}]," TREE, TSR_ERROR_FORMAT,
          "expected SCALAR" },
        { HEAD_OF VIEW "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},{\"bufferView\":0,\"componentType\":"
                       "5125,\"count\":9,\"type\":\"SCALAR\"}],"
                       "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1}]}]," TREE,
          TSR_ERROR_FORMAT, "index 1065353216" },
        { HEAD_OF VIEW POSITIONS MESH "\"nodes\":[{\"children\":[0],\"mesh\":0}],\"scenes\":[{\"nodes\":[0]}]}", TSR_ERROR_FORMAT, "comes twice" },
        { HEAD_OF VIEW POSITIONS MESH "\"nodes\":[{\"children\":[5]}],\"scenes\":[{\"nodes\":[0]}]}", TSR_ERROR_FORMAT, "item 5 of 'nodes'" },
        { HEAD_OF VIEW POSITIONS MESH "\"nodes\":[{\"mesh\":3}],\"scenes\":[{\"nodes\":[0]}]}", TSR_ERROR_FORMAT, "item 3 of 'meshes'" },
        { HEAD_OF VIEW "\"accessors\":[{\"componentType\":5126,\"count\":3,\"type\":\"VEC3\",\"sparse\":{\"count\":1,\"indices\":{\"bufferView\":0,"
                       "\"componentType\":5121,\"byteOffset\":14},"
                       "\"values\":{\"bufferView\":0}}}]," MESH TREE,
          TSR_ERROR_FORMAT, "sparse index 128" },
        { "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":9,\"uri\":\"data:;base64,AAAA\"}]}", TSR_ERROR_FORMAT, "truncated" },
        { "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":9,\"uri\":\"../../secret\"}]}", TSR_ERROR_FORMAT, "secret" },
        { "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":9,\"uri\":\"http://a/b\"}]}", TSR_ERROR_UNSUPPORTED, "beside it" },
        { "{\"asset\":{\"version\":\"2.0\"},\"extensionsRequired\":[\"KHR_draco_mesh_compression\"]}", TSR_ERROR_UNSUPPORTED, "Draco" },
        { "{\"asset\":{\"version\":\"2.0\"}}", TSR_ERROR_FORMAT, "no mesh" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_mesh *m;
        scratch_write("l.gltf", cases[i].text, strlen(cases[i].text));
        const tsr_status status = tsr_mesh_read(scratch("l.gltf"), NULL, &m);
        if (status == TSR_ERROR_UNSUPPORTED && strstr(tsr_error_message(), "this build")) skip();
        /* a name that leads out of the folder is refused in the words of the input */
        const int way_out = strstr(cases[i].text, "secret") && status != TSR_OK;
        if (!way_out && (status != cases[i].status || (status != TSR_OK && !strstr(tsr_error_message(), cases[i].said))))
            fail_msg("case %zu: %s '%s', expected %s and '%s'", i, tsr_status_name(status), tsr_error_message(), tsr_status_name(cases[i].status),
                     cases[i].said);
        assert_true((m != NULL) == (status == TSR_OK));
        tsr_mesh_destroy(&m);
    }
    scratch_files(1);
}

/* Base64 ends in the middle of three bytes, too: a triangle whose last index is the last byte of a data URI of any length. */
static void data_uris_of_any_length(void **state)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const float corners[9] = { 0, 0, 0, 1, 0, 0, 0, 1, 0 };
    (void)state;
    for (int gap = 0; gap < 6; gap++) {
        const int bytes = 36 + gap % 3 + 3, padded = gap >= 3; /* '=' at the end, or nothing */
        uint8_t buffer[48] = { 0 };
        char text[1000], uri[80];
        int used = 0;
        tsr_mesh *m;
        memcpy(buffer, corners, 36);
        for (int k = 0; k < 3; k++) buffer[bytes - 3 + k] = (uint8_t)k;
        for (int i = 0; i < bytes; i += 3) {
            const uint32_t three = (uint32_t)buffer[i] << 16 | (uint32_t)buffer[i + 1] << 8 | buffer[i + 2];
            for (int k = 0; k < 4; k++) {
                if (i + k <= bytes) uri[used++] = digits[three >> (18 - 6 * k) & 63];
                else if (padded) uri[used++] = '=';
            }
        }
        uri[used] = 0;
        snprintf(
            text, sizeof text,
            "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":%d,\"uri\":\"data:;base64,%s\"}],\"bufferViews\":[{\"buffer\":0,"
            "\"byteLength\":36},{\"buffer\":0,\"byteOffset\":%d,\"byteLength\":3}],\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":"
            "3,\"type\":\"VEC3\"},{\"bufferView\":1,\"componentType\":5121,\"count\":3,\"type\":\"SCALAR\"}],\"meshes\":[{\"primitives\":[{"
            "\"attributes\":{\"POSITION\":0},\"indices\":1}]}]," TREE,
            bytes, uri, bytes - 3);
        scratch_write("u.gltf", text, strlen(text));
        const tsr_status status = tsr_mesh_read(scratch("u.gltf"), NULL, &m);
        if (status == TSR_ERROR_UNSUPPORTED && strstr(tsr_error_message(), "this build")) skip();
        require_ok(status);
        assert_true(tsr_mesh_vertex_count(m) == 3 && tsr_mesh_triangle_count(m) == 1);
        for (int k = 0; k < 3; k++) assert_int_equal(tsr_mesh_triangles_const(m)[k], k);
        tsr_mesh_destroy(&m);
    }
    scratch_files(1);
}

static void las_lies(void **state)
{
    (void)state;
    static const struct {
        int at, bytes;
        uint64_t value;
        tsr_status status;
        const char *said;
    } cases[] = {
        { 0, 0, 0, TSR_OK, "" },
        { 24, 1, 2, TSR_ERROR_UNSUPPORTED, "LAS 2.2" },
        { 104, 1, 128, TSR_ERROR_FORMAT, "LAZ without the record" },
        { 104, 1, 11, TSR_ERROR_UNSUPPORTED, "point format 11" },
        { 104, 1, 3, TSR_ERROR_FORMAT, "records of 20 bytes" },
        { 107, 4, 1000, TSR_ERROR_FORMAT, "truncated" },
        { 107, 4, 0xffffffff, TSR_ERROR_FORMAT, "truncated" },
        { 96, 4, 0xfffffff0, TSR_ERROR_FORMAT, "truncated" },
        { 96, 4, 3, TSR_ERROR_FORMAT, "truncated" },
        { 131, 8, 0, TSR_ERROR_FORMAT, "scale 0" },
        { 155, 8, 0x7ff8000000000000, TSR_ERROR_FORMAT, "offset nan" },
    };
    tsr_points *p, *back;
    size_t size;
    require_ok(tsr_points_create(NULL, 5, 0, &p));
    for (int k = 0; k < 15; k++) tsr_points_positions(p)[k] = (float)k * 0.5f - 3;
    require_ok(tsr_points_write(p, scratch("a.las"), &overwrite));
    require_ok(tsr_points_read(scratch("a.las"), NULL, &back));
    for (int k = 0; k < 15; k++) assert_true(fabsf(tsr_points_positions(back)[k] - ((float)k * 0.5f - 3)) < 1e-6f);
    tsr_points_destroy(&back);
    tsr_points_destroy(&p);
    uint8_t *bytes = (uint8_t *)scratch_read("a.las", &size);
    assert_int_equal(size, 227 + 5 * 20);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t copy[327];
        memcpy(copy, bytes, sizeof copy);
        for (int k = 0; k < cases[i].bytes; k++) copy[cases[i].at + k] = (uint8_t)(cases[i].value >> 8 * k);
        scratch_write("b.las", copy, sizeof copy);
        const tsr_status status = tsr_points_read(scratch("b.las"), NULL, &back);
        if (status != cases[i].status || (status != TSR_OK && !strstr(tsr_error_message(), cases[i].said)))
            fail_msg("case %zu: %s '%s', expected %s and '%s'", i, tsr_status_name(status), tsr_error_message(), tsr_status_name(cases[i].status),
                     cases[i].said);
        tsr_points_destroy(&back);
    }
    for (size_t cut = 4; cut < size; cut++) {
        tsr_read_options named = TSR_READ_OPTIONS;
        named.format = "las";
        scratch_write("c.las", bytes, cut);
        if (tsr_points_read(scratch("c.las"), &named, &back) == TSR_OK) fail_msg("read although cut to %zu of %zu bytes", cut, size);
    }
    free(bytes);
    scratch_files(1);
}

static void vti_lies(void **state)
{
    (void)state;
#define IMAGE(extent, piece, array)                                                                                                     \
    "<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"" extent "\" Spacing=\"1 2 3\"><Piece Extent=\"" piece "\"><PointData>" array \
    "</PointData></Piece></ImageData></VTKFile>"
#define ARRAY(numbers) "<DataArray type=\"UInt8\" Name=\"a\" format=\"ascii\">" numbers "</DataArray>"
    static const char *const cases[][2] = {
        { IMAGE("0 1 0 1 0 0", "0 1 0 1 0 0", ARRAY("1 2 3 4")), "" },
        { IMAGE("0 1 0 1 0 0", "0 1 0 1 0 0", ARRAY("1 2 3")), "has room for" },
        { IMAGE("0 1 0 1 0 0", "0 1 0 1 0 0", ARRAY("1 2 x 4")), "no number" },
        { IMAGE("0 1 0 1", "0 1 0 1 0 0", ARRAY("1 2 3 4")), "WholeExtent" },
        { IMAGE("1 0 0 1 0 0", "0 1 0 1 0 0", ARRAY("1 2 3 4")), "WholeExtent" },
        { IMAGE("0 2 0 1 0 0", "0 1 0 1 0 0", ARRAY("1 2 3 4")), "the image has 6" },
        { IMAGE("0 1 0 1 0 0", "5 6 0 1 0 0", ARRAY("1 2 3 4")), "outside of the image" },
        { IMAGE("0 2000000000 0 2000000000 0 2000000000", "0 2000000000 0 2000000000 0 2000000000", ARRAY("1")), "than can be counted" },
        { IMAGE("0 2000000000 0 1 0 0", "0 2000000000 0 1 0 0", ARRAY("1")), "has room for" },
        { IMAGE("0 1 0 1 0 0", "0 1 0 1 0 0", ""), "no array" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_volume *v;
        scratch_write("a.vti", cases[i][0], strlen(cases[i][0]));
        const tsr_status status = tsr_volume_read(scratch("a.vti"), NULL, &v);
        if ((status == TSR_OK) != !*cases[i][1] || (status != TSR_OK && !strstr(tsr_error_message(), cases[i][1])))
            fail_msg("case %zu: '%s', expected '%s'", i, tsr_error_message(), cases[i][1]);
        tsr_volume_destroy(&v);
    }
    /* an image that does not begin at 0: as large as from its first to its last sample, and where its first is */
    static const char later[] = IMAGE("3 4 -1 1 5 5", "3 4 -1 1 5 5", ARRAY("1 2 3 4 5 6"));
    static const uint8_t numbers[] = { 1, 2, 3, 4, 5, 6 };
    tsr_volume *v;
    scratch_write("a.vti", later, strlen(later));
    require_ok(tsr_volume_read(scratch("a.vti"), NULL, &v));
    const tsr_size3 n = tsr_volume_size(v);
    assert_true(n.x == 2 && n.y == 3 && n.z == 1);
    assert_memory_equal(tsr_volume_data_const(v), numbers, sizeof numbers);
    const tsr_vec3 first = tsr_geometry_to_world(tsr_volume_geometry(v), (tsr_vec3){ 0, 0, 0 });
    assert_true(first.x == 3 && first.y == -2 && first.z == 15);
    tsr_volume_destroy(&v);
    scratch_files(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(round_trips), cmocka_unit_test(cut_files),
                                        cmocka_unit_test(gltf_lies),   cmocka_unit_test(data_uris_of_any_length),
                                        cmocka_unit_test(las_lies),    cmocka_unit_test(vti_lies) };
    return cmocka_run_group_tests_name("more mesh files", tests, scratch_make, scratch_remove);
}
