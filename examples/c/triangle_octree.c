/* Which triangles of a mesh are where: triangle_octree MESH.ply SPACING. Leaves hold 8 triangles at most, unless they are voxels of the spacing. */
#include <stdio.h>
#include <stdlib.h>

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
    tsr_region_tree *tree = NULL;
    tsr_triangle_lists lists = { 0 };
    tsr_geometry geometry;
    tsr_size3 size;
    int code = 1;
    if (argc != 3) {
        fprintf(stderr, "usage: %s MESH SPACING\n", argv[0]);
        return 2;
    }
    const double h = strtod(argv[2], NULL);
    const tsr_context_options on_cpu = { .struct_size = sizeof on_cpu, .device = "cpu" }; /* device memory is host memory there */
    TRY(tsr_context_create(&on_cpu, &context));
    TRY(tsr_mesh_read(argv[1], NULL, &mesh));
    TRY(tsr_winding_lattice(mesh, (tsr_vec3){ h, h, h }, (tsr_vec3){ 0, 0, 0 }, 1, &size, &geometry));

    tsr_triangle_tree_options options = TSR_TRIANGLE_TREE_OPTIONS;
    options.most = 8;
    TRY(tsr_region_tree_from_triangles(context, mesh, size, &geometry, &options, &tree, &lists));
    TRY(tsr_context_synchronize(context));
    int64_t fullest = 0;
    for (int64_t i = 1; i < lists.leaves; i++)
        if (lists.starts[i + 1] - lists.starts[i] > lists.starts[fullest + 1] - lists.starts[fullest]) fullest = i;
    printf("%lld leaves in %lld x %lld x %lld voxels hold %lld triangles\n", (long long)lists.leaves, (long long)size.x, (long long)size.y,
           (long long)size.z, (long long)lists.pairs);
    if (lists.leaves) {
        const tsr_region_leaf leaf = tsr_region_leaf_of(tsr_region_tree_leaves(tree)[fullest], 3);
        printf("the fullest, of side %lld at %lld %lld %lld:", (long long)leaf.side, (long long)leaf.x, (long long)leaf.y, (long long)leaf.z);
        for (uint64_t k = lists.starts[fullest]; k < lists.starts[fullest + 1]; k++) printf(" %u", lists.triangles[k]);
        printf("\n");
    }
    code = 0;
done:
    tsr_triangle_lists_destroy(&lists);
    tsr_region_tree_destroy(&tree);
    tsr_mesh_destroy(&mesh);
    tsr_context_destroy(&context);
    return code;
}
