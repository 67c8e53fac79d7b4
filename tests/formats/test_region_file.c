/* Region trees in files: what is written comes back bit for bit; what is damaged is refused by name. */
#include "io/little_endian.h"
#include "formats/volumes/rgt.h"
#include "scratch.h"
#include "support.h"

static tsr_region_tree *make(tsr_size3 n, uint64_t *seed, int full)
{
    tsr_context *context = test_context_on("cpu", 1);
    tsr_region_options o = TSR_REGION_OPTIONS;
    const tsr_geometry g = tsr_geometry_make((tsr_vec3){ 0.5, 0.75, 2 }, (tsr_vec3){ 1, -2, 3 }, TSR_SPACE_RAS);
    tsr_volume *volume;
    tsr_region_tree *tree, *host;
    o.classifier = TSR_PYRAMID_NONZERO;
    require_ok(tsr_volume_create(context, TSR_U8, n, &g, &volume));
    uint8_t *v = tsr_volume_data(volume);
    for (int64_t i = 0; i < n.x * n.y * n.z; i++)
        v[i] = full || (i % n.x / 4 + i / n.x % n.y / 4 + i / n.x / n.y / 4) % 3 == 0 || test_random(seed) % 20 == 0;
    require_ok(tsr_region_tree_make(context, (const tsr_volume *const[]){ volume }, 1, &o, &tree));
    require_ok(tsr_region_tree_copy(tree, NULL, &host));
    tsr_region_tree_destroy(&tree);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
    return host;
}

static void round_trips(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    const tsr_size3 sizes[] = { { 33, 20, 1 }, { 19, 24, 13 }, { 16, 16, 16 }, { 1, 1, 1 }, { 8, 8, 1 } };
    for (int k = 0; k < 10; k++) {
        const int full = k >= 5;
        tsr_region_tree *tree = make(sizes[k % 5], &seed, full), *back;
        const tsr_region_info a = *tsr_region_tree_describe(tree);
        const int32_t channels = a.leaves ? k % 4 : 0;
        tsr_volume *values = NULL, *values_back;
        const char *path = scratch(k % 2 ? "tree.rgt" : "tree.rgt.gz");
        if (channels) {
            require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ a.leaves, channels, 1 }, NULL, &values));
            for (int64_t i = 0; i < a.leaves * channels; i++) ((float *)tsr_volume_data(values))[i] = (float)test_uniform(&seed);
        }
        tsr_write_options write = TSR_WRITE_OPTIONS;
        write.overwrite = 1;
        require_ok(tsr_region_tree_write(tree, values, path, &write));
        require_ok(tsr_region_tree_read(path, NULL, &back, &values_back));
        const tsr_region_info b = *tsr_region_tree_describe(back);
        assert_true(a.leaves == b.leaves && a.nodes == b.nodes && a.top == b.top && a.root == b.root && a.size.x == b.size.x && a.size.z == b.size.z);
        if (a.leaves) assert_memory_equal(tsr_region_tree_leaves(tree), tsr_region_tree_leaves(back), (size_t)a.leaves * 8);
        if (a.nodes) assert_memory_equal(tsr_region_tree_nodes(tree), tsr_region_tree_nodes(back), (size_t)(a.nodes << a.dimensions) * 4);
        assert_int_equal(values_back != NULL, channels > 0);
        if (channels) assert_memory_equal(tsr_volume_data(values), tsr_volume_data(values_back), (size_t)a.leaves * (size_t)channels * 4);
        tsr_volume_destroy(&values);
        tsr_volume_destroy(&values_back);
        tsr_region_tree_destroy(&tree);
        tsr_region_tree_destroy(&back);
    }
}

/* A file of nodes alone comes back with its leaves; a root that is higher than need be does not fit in a file. */
static void nodes_alone_and_high_roots(void **state)
{
    (void)state;
    tsr_context *context = test_context_on("cpu", 1);
    tsr_write_options write = TSR_WRITE_OPTIONS;
    tsr_volume *volume, *values;
    require_ok(tsr_volume_create(context, TSR_U8, (tsr_size3){ 11, 9, 8 }, NULL, &volume));
    for (int i = 0; i < 11 * 9 * 8; i++) ((uint8_t *)tsr_volume_data(volume))[i] = i / 11 % 3 > 0;
    write.overwrite = 1;
    tsr_region_tree *full = NULL;
    for (int k = 0; k < 3; k++) {
        tsr_region_options o = TSR_REGION_OPTIONS;
        tsr_region_tree *tree, *host, *back;
        o.classifier = TSR_PYRAMID_NONZERO;
        o.nodes_only = k == 1;
        o.top = k == 2 ? 6 : 0;
        require_ok(tsr_region_tree_make(context, (const tsr_volume *const[]){ volume }, 1, &o, &tree));
        require_ok(tsr_region_tree_copy(tree, NULL, &host));
        const tsr_region_info info = *tsr_region_tree_describe(host);
        if (k == 0) require_ok(tsr_region_tree_copy(host, NULL, &full));
        if (k == 1) {
            require_ok(tsr_region_tree_write(host, NULL, scratch("nodes.rgt"), &write));
            require_ok(tsr_region_tree_read(scratch("nodes.rgt"), NULL, &back, NULL));
            assert_memory_equal(tsr_region_tree_leaves(back), tsr_region_tree_leaves(full), (size_t)info.leaves * 8);
            assert_memory_equal(tsr_region_tree_nodes(back), tsr_region_tree_nodes(full), (size_t)info.nodes * 32);
            tsr_region_tree_destroy(&back);
            require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ info.leaves, 1, 1 }, NULL, &values));
            require_error(tsr_region_tree_write(host, values, scratch("nodes.rgt"), &write), TSR_ERROR_ARGUMENT, "no list of leaves");
            tsr_volume_destroy(&values);
        }
        if (k == 2) require_error(tsr_region_tree_write(host, NULL, scratch("high.rgt"), &write), TSR_ERROR_ARGUMENT, "a region tree of top 6");
        tsr_region_tree_destroy(&host);
        tsr_region_tree_destroy(&tree);
    }
    tsr_region_tree_destroy(&full);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

static void refuse(const uint8_t *bytes, size_t size, const char *text)
{
    tsr_input *input = NULL;
    tsr_region_tree *tree = NULL;
    tsr_volume *values = NULL;
    require_ok(tsr_input_memory(bytes, size, "t.rgt", NULL, &input));
    require_error(tsr_rgt_read(input, &tree, &values), TSR_ERROR_FORMAT, text);
    assert_null(tree);
    assert_null(values);
    tsr_input_close(&input);
}

static void damage(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_region_tree *tree = make((tsr_size3){ 19, 24, 13 }, &seed, 0);
    const char *path = scratch("damage.rgt");
    tsr_input *input = NULL;
    const uint8_t *content;
    size_t size;
    require_ok(tsr_region_tree_write(tree, NULL, path, NULL));
    require_ok(tsr_input_open(path, NULL, &input));
    require_ok(tsr_input_all(input, &content, &size));
    uint8_t *bytes = malloc(size + 8);
    memcpy(bytes, content, size);
    tsr_input_close(&input);
    for (size_t part = 0; part < size; part += 1 + part / 8) refuse(bytes, part, "t.rgt: ");
    refuse(bytes, size - 1, "expected");
    static const struct {
        int at;
        uint64_t value;
        const char *text;
    } fields[] = {
        { TSR_RGT_AT_SIZE, 0, "extent x is 0" },
        { TSR_RGT_AT_SIZE + 8, (uint64_t)1 << 40, "extent y is" },
        { TSR_RGT_AT_SIZE + 24, (uint64_t)-1, "leaves is -1" },
        { TSR_RGT_AT_SIZE + 32, (uint64_t)1 << 30, "expected" },
        { TSR_RGT_AT_SIZE + 32, 0, "root is" },
        { TSR_RGT_AT_CHANNELS, 65, "channels is 65" },
        { TSR_RGT_AT_AFFINE, 0x7ff8000000000000ull, "matrix" },
        { TSR_RGT_AT_SIZE, 64, "checksum" },
        { TSR_RGT_HEADER, 0, "checksum" },
    };
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
        uint8_t kept[8];
        memcpy(kept, bytes + fields[k].at, 8);
        if (fields[k].at == TSR_RGT_AT_CHANNELS) tsr_put_u32(bytes + fields[k].at, (uint32_t)fields[k].value);
        else tsr_put_u64(bytes + fields[k].at, fields[k].value);
        refuse(bytes, size, fields[k].text);
        memcpy(bytes + fields[k].at, kept, 8);
    }
    for (int k = 0; k < 4; k++) { /* kinds that do not belong there, under a true checksum */
        const uint8_t kept = bytes[TSR_RGT_HEADER];
        bytes[TSR_RGT_HEADER] = (uint8_t[]){ 0xff, 0x55, 0xa9, 0x00 }[k];
        tsr_put_u64(bytes + TSR_RGT_AT_SUM, tsr_rgt_sum(bytes, size));
        refuse(bytes, size, k < 3 ? "node" : "structure has");
        bytes[TSR_RGT_HEADER] = kept;
    }
    free(bytes);
    tsr_region_tree_destroy(&tree);
    tsr_volume *wrong;
    tree = make((tsr_size3){ 8, 8, 8 }, &seed, 1);
    require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ 7, 1, 1 }, NULL, &wrong));
    require_error(tsr_region_tree_write(tree, wrong, path, NULL), TSR_ERROR_ARGUMENT, "expected 1 leaves");
    tsr_volume_destroy(&wrong);
    tsr_region_tree_destroy(&tree);
    require_error(tsr_region_tree_read("nowhere.rgt", NULL, &tree, NULL), TSR_ERROR_IO, "nowhere.rgt");
}

/* What was accepted can be walked: references lead to entries, leaves lie within, in order. */
static void walk(const tsr_region_tree *tree)
{
    const tsr_region_info info = *tsr_region_tree_describe(tree);
    int64_t before = -1, leaves = 0, nodes = info.nodes > 0;
    for (int64_t k = 0; k < info.nodes << info.dimensions; k++) {
        const int32_t r = tsr_region_tree_nodes(tree)[k];
        assert_true(r < info.nodes && (r >= 0 || ~r < info.leaves));
        if (r < 0) leaves++;
        if (r > 0) nodes++;
    }
    if (info.nodes) assert_true(leaves == info.leaves && nodes == info.nodes);
    for (int64_t k = 0; k < info.leaves; k++) {
        const uint64_t key = tsr_region_tree_leaves(tree)[k];
        const tsr_region_leaf l = tsr_region_leaf_of(key, info.dimensions);
        assert_true((int64_t)key > before && l.x + l.side <= info.size.x && l.y + l.side <= info.size.y);
        assert_true(info.dimensions == 2 || l.z + l.side <= info.size.z);
        before = (int64_t)key;
    }
}

/* Every bit of a file: refused by the checksum; under a true one refused by name, or a sound tree. */
static void every_bit(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    const char *path = scratch("bits.rgt");
    tsr_input_options settings = { .memory_limit = 64 << 20 };
    int accepted = 0, refused = 0;
    for (int kind = 0; kind < 2; kind++) {
        tsr_region_tree *tree = make((tsr_size3){ 11, 6, kind ? 1 : 7 }, &seed, 0);
        tsr_volume *values;
        tsr_input *input = NULL;
        const uint8_t *content;
        size_t size;
        require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ tsr_region_tree_describe(tree)->leaves, 2, 1 }, NULL, &values));
        require_ok(tsr_region_tree_write(tree, values, path, &(tsr_write_options){ .struct_size = sizeof(tsr_write_options), .overwrite = 1 }));
        require_ok(tsr_input_open(path, NULL, &input));
        require_ok(tsr_input_all(input, &content, &size));
        uint8_t *bytes = malloc(size);
        memcpy(bytes, content, size);
        tsr_input_close(&input);
        tsr_volume_destroy(&values);
        tsr_region_tree_destroy(&tree);
        for (size_t bit = 0; bit < 8 * size; bit += test_is_slow() ? 3 : 1)
            for (int mended = 0; mended < 2; mended++) {
                uint64_t sum;
                bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
                memcpy(&sum, bytes + TSR_RGT_AT_SUM, sizeof sum);
                if (mended) tsr_put_u64(bytes + TSR_RGT_AT_SUM, tsr_rgt_sum(bytes, size));
                require_ok(tsr_input_memory(bytes, size, "t.rgt", &settings, &input));
                const tsr_status status = tsr_rgt_read(input, &tree, &values);
                if (status == TSR_OK) {
                    assert_true(mended);
                    walk(tree);
                    accepted++;
                } else {
                    assert_true(!tree && !values);
                    assert_non_null(strstr(tsr_error_message(), "t.rgt"));
                    refused++;
                }
                tsr_region_tree_destroy(&tree);
                tsr_volume_destroy(&values);
                tsr_input_close(&input);
                memcpy(bytes + TSR_RGT_AT_SUM, &sum, sizeof sum);
                bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            }
        free(bytes);
    }
    assert_true(accepted > 100 && refused > 1000); /* values and the matrix take any bits but NaN; counts and structure do not */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_bit), cmocka_unit_test(round_trips), cmocka_unit_test(nodes_alone_and_high_roots),
                                        cmocka_unit_test(damage) };
    return cmocka_run_group_tests_name("region files", tests, scratch_make, scratch_remove);
}
