#define FUZZ_FORMAT "gltf"
#include "fuzz/fuzz_mesh.h"

void fuzz_seeds(void)
{
    static const float corners[12] = { 0, 0, 0, 1.5f, 0, 0, 0, -2, 1, 0, 0, 3 };
    static const uint32_t faces[6] = { 0, 2, 1, 0, 1, 3 };
    for (int k = 0; k < 2; k++) {
        const tsr_mesh_part parts[2] = { { 3, "left", 1 }, { -7, NULL, 1 } };
        tsr_write_options options = { .struct_size = sizeof options, .overwrite = 1 };
        tsr_mesh *mesh;
        char path[64];
        snprintf(path, sizeof path, "fuzz-seed-%ld.glb", (long)getpid());
        fuzz_check(tsr_mesh_create(NULL, 4, 2, k, &mesh) == TSR_OK, "mesh\n");
        memcpy(tsr_mesh_vertices(mesh), corners, sizeof corners);
        memcpy(tsr_mesh_triangles(mesh), faces, sizeof faces);
        if (k) {
            memcpy(tsr_mesh_normals(mesh), corners, sizeof corners);
            fuzz_check(tsr_mesh_add_colors(mesh) == TSR_OK && tsr_mesh_set_parts(mesh, parts, 2) == TSR_OK, "extras\n");
            memset(tsr_mesh_colors(mesh), 100, 16);
            tsr_mesh_set_origin(mesh, (tsr_vec3){ 1e7, 0, -2e7 });
        }
        fuzz_check(tsr_mesh_write(mesh, path, &options) == TSR_OK, "write\n");
        fuzz_seed_file(path);
        tsr_mesh_destroy(&mesh);
    }
    fuzz_text_seed("{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":12,\"uri\":\"data:a/"
                   "b;base64,AAAAAAAAgD8AAABA\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":12}],"
                   "\"accessors\":[{\"bufferView\":0,\"componentType\":5121,\"normalized\":true,\"count\":4,\"type\":\"VEC3\"},{\"componentType\":"
                   "5126,\"count\":4,\"type\":\"VEC3\","
                   "\"sparse\":{\"count\":1,\"indices\":{\"bufferView\":0,\"componentType\":5123},\"values\":{\"bufferView\":0}}},{\"bufferView\":0,"
                   "\"componentType\":5123,\"count\":3,\"type\":\"SCALAR\"}],"
                   "\"materials\":[{\"pbrMetallicRoughness\":{\"baseColorFactor\":[1,0.5,0,1]}}],\"meshes\":[{\"primitives\":[{\"attributes\":{"
                   "\"POSITION\":0,\"NORMAL\":1},\"mode\":5,\"material\":0},"
                   "{\"attributes\":{\"POSITION\":1,\"COLOR_0\":0},\"indices\":2,\"mode\":6}]}],\"nodes\":[{\"children\":[1],\"scale\":[-1,2,3]},{"
                   "\"mesh\":0,\"matrix\":[1,0,0,0,0,1,0,0,0,0,1,0,5,6,7,1]}],"
                   "\"scenes\":[{\"nodes\":[0]}]}");
}
