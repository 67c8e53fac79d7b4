/* tests/fuzz/fuzz_mesh.h: seeds of the mesh formats, written by the library: with and without normals, each variant. */
#include "fuzz/fuzz_format.h"

#include <stdio.h>

static inline void fuzz_mesh_seeds(const char *format, int ascii, int big_endian)
{
    static const float corners[12] = { 0, 0, 0, 1.5f, 0, 0, 0, -2, 1e-9f, 0, 0, 3 };
    static const uint32_t faces[12] = { 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3 };
    for (int normals = 0; normals < 2; normals++) {
        tsr_write_options options = TSR_WRITE_OPTIONS;
        tsr_mesh *mesh;
        char path[64];
        options.format = format;
        options.ascii = ascii;
        options.big_endian = big_endian;
        options.overwrite = 1;
        snprintf(path, sizeof path, "fuzz-seed-%ld.%s", (long)getpid(), format);
        fuzz_check(tsr_mesh_create(NULL, 4, 4, normals, &mesh) == TSR_OK, "mesh\n");
        memcpy(tsr_mesh_vertices(mesh), corners, sizeof corners);
        memcpy(tsr_mesh_triangles(mesh), faces, sizeof faces);
        if (normals) memcpy(tsr_mesh_normals(mesh), corners, sizeof corners);
        tsr_mesh_set_space(mesh, normals ? TSR_SPACE_LPS : TSR_SPACE_NONE);
        if (normals) { /* with all that a file may carry, at a place where float32 has steps of 1 */
            const tsr_mesh_part parts[2] = { { 3, "left", 1 }, { -7, NULL, 3 } };
            fuzz_check(tsr_mesh_add_colors(mesh) == TSR_OK && tsr_mesh_set_parts(mesh, parts, 2) == TSR_OK, "extras\n");
            memset(tsr_mesh_colors(mesh), 100, 16);
            tsr_mesh_set_origin(mesh, (tsr_vec3){ 1e7, 0, -2e7 });
        }
        fuzz_check(tsr_mesh_write(mesh, path, &options) == TSR_OK, "write\n");
        fuzz_seed_file(path);
        tsr_mesh_destroy(&mesh);
    }
}
static inline void fuzz_text_seed(const char *text) { fuzz_seed(text, strlen(text)); }
