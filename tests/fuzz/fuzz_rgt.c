/* Region trees. The checksum is made right before a file is read: what it would catch is not what is looked for. */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/little_endian.h"
#include "formats/volumes/rgt.h"
#include "tessera/tessera.h"

static void check(int good, const char *what)
{
    if (good) return;
    fputs(what, stderr);
    abort();
}

/* What was accepted can be used: every reference leads to an entry, every leaf lies in the volume. */
static void use(const tsr_region_tree *tree)
{
    const tsr_region_info info = *tsr_region_tree_describe(tree);
    const int64_t children = info.nodes << info.dimensions;
    for (int64_t k = 0; k < children; k++) {
        const int32_t r = tsr_region_tree_nodes(tree)[k];
        check(r < info.nodes && (r >= 0 || ~r < info.leaves), "a reference without an entry\n");
    }
    for (int64_t k = 0; k < info.leaves; k++) {
        const tsr_region_leaf l = tsr_region_leaf_of(tsr_region_tree_leaves(tree)[k], info.dimensions);
        check(l.x + l.side <= info.size.x && l.y + l.side <= info.size.y && (info.dimensions == 2 || l.z + l.side <= info.size.z),
              "a leaf outside\n");
        check(!k || tsr_region_tree_leaves(tree)[k] > tsr_region_tree_leaves(tree)[k - 1], "leaves out of order\n");
    }
}

int fuzz_accepts(const uint8_t *bytes, size_t size)
{
    tsr_input_options settings = { .memory_limit = 64 << 20 };
    tsr_input *input = NULL;
    tsr_region_tree *tree = NULL;
    tsr_volume *values = NULL;
    uint8_t *copy = (uint8_t *)malloc(size + 1);
    check(copy != NULL, "memory\n");
    if (size) memcpy(copy, bytes, size);
    if (size >= TSR_RGT_HEADER) tsr_put_u64(copy + TSR_RGT_AT_SUM, tsr_rgt_sum(copy, size));
    const int accepted = tsr_input_memory(copy, size, "fuzz", &settings, &input) == TSR_OK && tsr_rgt_read(input, &tree, &values) == TSR_OK;
    if (accepted) use(tree);
    else check(!tree && !values, "a failed read left something\n");
    tsr_region_tree_destroy(&tree);
    tsr_volume_destroy(&values);
    tsr_input_close(&input);
    free(copy);
    return accepted;
}

static void seed(tsr_size3 n, int full, int32_t channels)
{
    tsr_context_options on_cpu = { .struct_size = sizeof on_cpu, .device = "cpu", .threads = 1 };
    tsr_region_options options = TSR_REGION_OPTIONS;
    tsr_context *context;
    tsr_volume *volume = NULL, *values = NULL;
    tsr_region_tree *tree, *host;
    tsr_input *input = NULL;
    const uint8_t *bytes = NULL;
    size_t length = 0;
    char path[64];
    snprintf(path, sizeof path, "fuzz-seed-%ld.rgt", (long)getpid());
    options.classifier = TSR_PYRAMID_NONZERO;
    check(tsr_context_create(&on_cpu, &context) == TSR_OK && tsr_volume_create(context, TSR_U8, n, NULL, &volume) == TSR_OK, "volume\n");
    uint8_t *v = (uint8_t *)tsr_volume_data(volume);
    for (int64_t i = 0; i < n.x * n.y * n.z; i++) v[i] = (uint8_t)(full || (i % n.x) * 2 + i / n.x % n.y > 9);
    check(tsr_region_tree_make(context, (const tsr_volume *const[]){ volume }, 1, &options, &tree) == TSR_OK, "tree\n");
    check(tsr_region_tree_copy(tree, NULL, &host) == TSR_OK, "copy\n");
    if (channels)
        check(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ tsr_region_tree_describe(host)->leaves, channels, 1 }, NULL, &values) == TSR_OK,
              "values\n");
    check(tsr_region_tree_write(host, values, path, NULL) == TSR_OK, "write\n");
    check(tsr_input_open(path, NULL, &input) == TSR_OK && tsr_input_all(input, &bytes, &length) == TSR_OK, "read\n");
    fuzz_seed(bytes, length);
    tsr_input_close(&input);
    unlink(path);
    tsr_region_tree_destroy(&host);
    tsr_region_tree_destroy(&tree);
    tsr_volume_destroy(&values);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

void fuzz_seeds(void)
{
    seed((tsr_size3){ 9, 7, 5 }, 0, 1);
    seed((tsr_size3){ 16, 11, 1 }, 0, 3);
    seed((tsr_size3){ 8, 8, 8 }, 1, 0);
}
