/* A ball that moves through 64^3 voxels: its octree in every frame, into the memory of the frame before: mesh_octree BALL.ply */
#include <stdio.h>

#include <tessera/tessera.h>

#define TRY(call)                                         \
    do {                                                  \
        if ((call) != TSR_OK) {                           \
            fprintf(stderr, "%s\n", tsr_error_message()); \
            goto done;                                    \
        }                                                 \
    } while (0)

int main(int argc, char **argv)
{
    tsr_context *context = NULL;
    tsr_mesh *mesh = NULL;
    tsr_winding *winding = NULL;
    tsr_volume *numbers = NULL;
    tsr_region_pyramid *pyramid = NULL;
    tsr_region_tree *tree = NULL;
    int code = 1;
    if (argc != 2) {
        fprintf(stderr, "usage: %s MESH\n", argv[0]);
        return 2;
    }
    const tsr_context_options on_cpu = { .struct_size = sizeof on_cpu, .device = "cpu" }; /* host meshes are device meshes there */
    TRY(tsr_context_create(&on_cpu, &context));
    TRY(tsr_mesh_read(argv[1], NULL, &mesh));
    const int64_t vertices = tsr_mesh_vertex_count(mesh);
    float *v = tsr_mesh_vertices(mesh);

    const tsr_size3 size = { 64, 64, 64 };
    tsr_region_options solid = TSR_REGION_OPTIONS;
    solid.classifier = TSR_PYRAMID_RANGE;
    solid.lower = 1;
    solid.upper = 1e9;
    TRY(tsr_winding_create(context, size, NULL, vertices, &winding));
    TRY(tsr_volume_create(context, TSR_I32, size, NULL, &numbers));
    TRY(tsr_region_pyramid_create(context, size, &solid, &pyramid));
    const tsr_volume *channels[1] = { numbers };
    for (int frame = 0; frame < 10; frame++) {
        TRY(tsr_winding_build(winding, mesh, NULL, numbers));
        TRY(tsr_winding_check(winding, mesh, NULL)); /* waits; leave it out where the mesh is known to be good */
        TRY(tsr_region_pyramid_build(pyramid, channels, 1));
        if (!tree) TRY(tsr_region_tree_extract(pyramid, &tree));
        else TRY(tsr_region_tree_renew(pyramid, tree));
        const tsr_region_info info = *tsr_region_tree_describe(tree);
        printf("frame %d: %lld leaves, %lld nodes, %lld bytes\n", frame, (long long)info.leaves, (long long)info.nodes, (long long)info.device_bytes);
        for (int64_t i = 0; i < 3 * vertices; i++) v[i] += 0.75f;
    }
    code = 0;
done:
    tsr_region_tree_destroy(&tree);
    tsr_region_pyramid_destroy(&pyramid);
    tsr_volume_destroy(&numbers);
    tsr_winding_destroy(&winding);
    tsr_mesh_destroy(&mesh);
    tsr_context_destroy(&context);
    return code;
}
