/* Meshes as legacy VTK polydata: every number of the text and every byte of the binary file. */
#include <unistd.h>

#include "mesh/mesh.h"
#include "support.h"
#include "tessera/streamlines.h"

static const float corner[12] = { 0, 1, 2, 0.5f, -1, 3, -2.25f, 0, 1e-3f, 7, 8, 9 }, normal[12] = { 1, 0, 0, 0, -1, 0, 0, 0, 1, 0.6f, 0.8f, 0 };
static const uint32_t triangle[6] = { 0, 1, 2, 2, 1, 3 };
static const uint8_t color[16] = { 0, 51, 255, 9, 102, 204, 153, 8, 255, 0, 1, 7, 254, 128, 64, 6 };

/* normals, colours: which of them it has */
static tsr_mesh *made(int normals, int colors)
{
    tsr_mesh *m;
    require_ok(tsr_mesh_create(NULL, 4, 2, normals, &m));
    memcpy(tsr_mesh_vertices(m), corner, sizeof corner);
    memcpy(tsr_mesh_triangles(m), triangle, sizeof triangle);
    if (normals) memcpy(tsr_mesh_normals(m), normal, sizeof normal);
    if (colors) {
        require_ok(tsr_mesh_add_colors(m));
        memcpy(tsr_mesh_colors(m), color, sizeof color);
    }
    return m;
}

static size_t slurp(const char *path, char *to, size_t room)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    const size_t n = fread(to, 1, room - 1, f);
    assert_true(n < room - 1);
    to[n] = 0;
    fclose(f);
    return n;
}

static void expect(char **at, const char *text)
{
    if (strncmp(*at, text, strlen(text))) fail_msg("'%.40s', expected '%s'", *at, text);
    *at += strlen(text);
}
static void numbers(char **at, int binary, int count, const float *of)
{
    for (int k = 0; k < count; k++) {
        float v;
        if (binary) {
            const uint8_t *b = (const uint8_t *)*at;
            const uint32_t bits = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
            memcpy(&v, &bits, 4);
            *at += 4;
        } else {
            v = strtof(*at, at);
            assert_true(**at == (k % 3 == 2 ? '\n' : ' ')); /* three a line */
            ++*at;
        }
        if (v != of[k]) fail_msg("number %d is %.9g, expected %.9g", k, (double)v, (double)of[k]);
    }
    if (binary) expect(at, "\n");
}

static void files(void **unused)
{
    (void)unused;
    char path[64], text[4000];
    snprintf(path, sizeof path, "mesh-%d.vtk", (int)getpid());
    for (int way = 0; way < 16; way++) {
        const int normals = way & 1, colors = way >> 1 & 1, binary = way >> 2 & 1;
        tsr_write_options w = TSR_WRITE_OPTIONS;
        tsr_mesh *m = made(normals, colors);
        char *at = text;
        tsr_mesh_set_space(m, way & 8 ? TSR_SPACE_LPS : TSR_SPACE_NONE);
        w.overwrite = 1;
        w.ascii = !binary;
        require_ok(tsr_mesh_write_vtk(m, path, &w));
        const size_t size = slurp(path, text, sizeof text);
        expect(&at, "# vtk DataFile Version 3.0\ntubes");
        expect(&at, way & 8 ? " SPACE=LPS\n" : "\n");
        expect(&at, binary ? "BINARY\n" : "ASCII\n");
        expect(&at, "DATASET POLYDATA\nPOINTS 4 float\n");
        numbers(&at, binary, 12, corner);
        expect(&at, "POLYGONS 2 8\n");
        if (binary) {
            static const uint8_t cells[33] = { 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, '\n' };
            assert_memory_equal(at, cells, sizeof cells);
            at += sizeof cells;
        } else expect(&at, "3 0 1 2\n3 2 1 3\n");
        if (normals || colors) expect(&at, "POINT_DATA 4\n");
        if (normals) {
            expect(&at, "NORMALS normals float\n");
            numbers(&at, binary, 12, normal);
        }
        if (colors) {
            expect(&at, "COLOR_SCALARS colors 3\n");
            for (int k = 0; k < 4; k++) { /* without their alpha; as text of 1 */
                float of[3];
                if (binary) {
                    assert_memory_equal(at, color + 4 * k, 3);
                    at += 3;
                    continue;
                }
                for (int c = 0; c < 3; c++) of[c] = (float)color[4 * k + c] / 255.0f;
                numbers(&at, 0, 3, of);
            }
            if (binary) expect(&at, "\n");
        }
        assert_int_equal(at - text, size);
        tsr_mesh_destroy(&m);
        unlink(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(files) };
    return cmocka_run_group_tests_name("meshes as VTK", tests, NULL, NULL);
}
