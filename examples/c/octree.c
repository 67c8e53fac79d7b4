/* Label volume to octree to file, lossless, and where a point is: octree LABELS TREE.rgt.gz X Y Z */
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
    tsr_volume *labels = NULL;
    tsr_region_tree *tree = NULL;
    int code = 1;
    if (argc != 6) {
        fprintf(stderr, "usage: %s LABELS TREE.rgt.gz X Y Z\n", argv[0]);
        return 2;
    }
    const tsr_context_options on_cpu = { .struct_size = sizeof on_cpu, .device = "cpu" }; /* device memory is host memory there */
    TRY(tsr_context_create(&on_cpu, &context));
    TRY(tsr_volume_read(argv[1], NULL, &labels));

    tsr_region_options options = TSR_REGION_OPTIONS;
    options.rule = TSR_REGION_SPREAD; /* threshold 0: only equal values merge */
    const tsr_volume *channels[1] = { labels };
    TRY(tsr_region_tree_make(context, channels, 1, &options, &tree));
    const tsr_region_info info = *tsr_region_tree_describe(tree);
    printf("%lld voxels: %lld leaves, %lld nodes\n", (long long)tsr_volume_count(labels), (long long)info.leaves, (long long)info.nodes);

    const int32_t position[3] = { atoi(argv[3]), atoi(argv[4]), atoi(argv[5]) };
    tsr_region_hit hit;
    TRY(tsr_region_tree_find(tree, position, 1, &hit));
    if (hit.leaf >= 0) printf("leaf %lld of side %d at %d %d %d\n", (long long)hit.leaf, 1 << hit.level, hit.lower[0], hit.lower[1], hit.lower[2]);
    else printf("outside\n");

    tsr_region_tree *host = NULL;
    TRY(tsr_region_tree_copy(tree, NULL, &host));
    tsr_write_options write = TSR_WRITE_OPTIONS;
    write.overwrite = 1;
    const tsr_status status = tsr_region_tree_write(host, NULL, argv[2], &write);
    tsr_region_tree_destroy(&host);
    TRY(status);
    code = 0;
done:
    tsr_region_tree_destroy(&tree);
    tsr_volume_destroy(&labels);
    tsr_context_destroy(&context);
    return code;
}
