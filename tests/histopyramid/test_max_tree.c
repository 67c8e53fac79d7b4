/* Max-trees: filters and attributes against components found by flooding, one threshold after another; the tree's own order; what is refused. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 6, MOST = SIDE * SIDE * SIDE };

struct oracle {
    int n[3], neighbours;
    const uint16_t *f;
};

/* member[i] = 1 for the voxels of { f >= t } that are connected to `seed`. Returns their number. */
static int flood(const struct oracle *o, int seed, int t, uint8_t *member)
{
    int stack[MOST], top = 0, count = 0;
    memset(member, 0, MOST);
    if (o->f[seed] < t) return 0;
    stack[top++] = seed;
    member[seed] = 1;
    while (top) {
        const int i = stack[--top], x = i % o->n[0], y = i / o->n[0] % o->n[1], z = i / o->n[0] / o->n[1];
        count++;
        for (int k = 0; k < 27; k++) {
            const int d[3] = { k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1 }, p[3] = { x + d[0], y + d[1], z + d[2] };
            const int steps = abs(d[0]) + abs(d[1]) + abs(d[2]), far = o->neighbours == 6 ? 1 : o->neighbours == 18 ? 2 : 3;
            if (!steps || steps > far || p[0] < 0 || p[1] < 0 || p[2] < 0 || p[0] >= o->n[0] || p[1] >= o->n[1] || p[2] >= o->n[2]) continue;
            const int j = (p[2] * o->n[1] + p[1]) * o->n[0] + p[0];
            if (member[j] || o->f[j] < t) continue;
            member[j] = 1;
            stack[top++] = j;
        }
    }
    return count;
}

static double attribute_of(const struct oracle *o, const uint8_t *member, int below, int attribute)
{
    const int all = o->n[0] * o->n[1] * o->n[2];
    double count = 0, mass = 0, mean[3] = { 0 }, spread = 0, most = 0;
    int low[3] = { 99, 99, 99 }, high[3] = { -1, -1, -1 }, side = 0;
    for (int i = 0; i < all; i++) {
        if (!member[i]) continue;
        const int at[3] = { i % o->n[0], i / o->n[0] % o->n[1], i / o->n[0] / o->n[1] };
        count++;
        mass += o->f[i] - below;
        most = fmax(most, o->f[i]);
        for (int c = 0; c < 3; c++) {
            mean[c] += at[c];
            low[c] = at[c] < low[c] ? at[c] : low[c];
            high[c] = at[c] > high[c] ? at[c] : high[c];
        }
    }
    for (int i = 0; i < all; i++) {
        if (!member[i]) continue;
        const int at[3] = { i % o->n[0], i / o->n[0] % o->n[1], i / o->n[0] / o->n[1] };
        for (int c = 0; c < 3; c++) spread += pow(at[c] - mean[c] / count, 2) + 1.0 / 12;
    }
    for (int c = 0; c < 3; c++) side = high[c] - low[c] + 1 > side ? high[c] - low[c] + 1 : side;
    const double values[5] = { count, most - below, mass, side, spread / pow(count, 5.0 / 3) };
    return values[attribute];
}

/* Does a component hold a voxel of value t? Only then it is a node. */
static int is_node(const struct oracle *o, const uint8_t *member, int t)
{
    for (int i = 0; i < o->n[0] * o->n[1] * o->n[2]; i++)
        if (member[i] && o->f[i] == t) return 1;
    return 0;
}

/* The value of a voxel by the definition of the rule: its components from the whole volume upwards. */
static int filtered_value(const struct oracle *o, int seed, const tsr_max_tree_filter_options *options)
{
    uint8_t member[MOST], inner[MOST];
    int value = 0, last = 0, lost = 0, first = 1;
    for (int t = 0; t <= o->f[seed]; t++) {
        flood(o, seed, t, member);
        if (!is_node(o, member, t)) continue;
        int stays = first || attribute_of(o, member, last, (int)options->attribute) >= options->threshold;
        lost |= !stays;
        if (options->rule == TSR_MAX_TREE_MIN) stays = !lost;
        for (int i = 0; options->rule == TSR_MAX_TREE_MAX && i < o->n[0] * o->n[1] * o->n[2]; i++) { /* any node inside? */
            if (!member[i]) continue;
            int below = t;
            for (int s = t + 1; s <= o->f[i]; s++) {
                flood(o, i, s, inner);
                if (!is_node(o, inner, s)) continue;
                stays |= attribute_of(o, inner, below, (int)options->attribute) >= options->threshold;
                below = s;
            }
        }
        if (stays) value = options->rule == TSR_MAX_TREE_SUBTRACTIVE ? value + t - last : t;
        last = t;
        first = 0;
    }
    return value;
}

static tsr_volume *host_volume(tsr_size3 n, tsr_dtype dtype, const uint16_t *f)
{
    tsr_volume *v;
    require_ok(tsr_volume_create(NULL, dtype, n, NULL, &v));
    for (int64_t i = 0; i < n.x * n.y * n.z; i++) {
        if (dtype == TSR_U8) ((uint8_t *)tsr_volume_data(v))[i] = (uint8_t)f[i];
        else ((uint16_t *)tsr_volume_data(v))[i] = f[i];
    }
    return v;
}

/* All attributes but the last: no component has more than its parent. RETURNS how often the last one has. */
static int attributes_increase(const tsr_max_tree *tree)
{
    const int64_t nodes = tsr_max_tree_describe(tree)->nodes;
    const uint32_t *parent = tsr_max_tree_parents(tree);
    double *values = (double *)malloc((size_t)nodes * sizeof *values);
    int more = 0;
    for (int a = 0; a < 5; a++) {
        require_ok(tsr_max_tree_attributes(tree, (tsr_max_tree_attribute)a, values));
        for (int64_t k = 1; k < nodes; k++) {
            if (a == TSR_MAX_TREE_NONCOMPACTNESS) more += values[k] > values[parent[k]];
            else assert_true(values[k] <= values[parent[k]]);
        }
    }
    free(values);
    return more;
}

static void filters_are_their_definition(void **state)
{
    static const int32_t connects[3] = { 6, 18, 26 };
    (void)state;
    uint64_t seed = test_seed();
    int exceptions = 0;
    for (int k = 0; k < (test_is_slow() ? 20 : 60); k++) {
        uint16_t f[MOST];
        tsr_size3 n = { 1 + (int64_t)(test_random(&seed) % 5), 1 + (int64_t)(test_random(&seed) % 5), 1 + (int64_t)(test_random(&seed) % 5) };
        const int values = 2 + (int)(test_random(&seed) % 6), count = (int)(n.x * n.y * n.z);
        for (int i = 0; i < count; i++) f[i] = (uint16_t)(test_random(&seed) % (uint64_t)values);
        const struct oracle o = { { (int)n.x, (int)n.y, (int)n.z }, connects[k % 3], f };
        tsr_max_tree_options build = TSR_MAX_TREE_OPTIONS;
        build.neighbours = o.neighbours;
        tsr_volume *v = host_volume(n, k % 2 ? TSR_U8 : TSR_U16, f), *out;
        tsr_max_tree *tree;
        require_ok(tsr_volume_set_scaling(v, 2, 3));
        require_ok(tsr_max_tree_create(v, &build, &tree));
        for (int a = 0; a < 5; a++) {
            const double threshold = a == 4 ? 0.2 + test_uniform(&seed) : 0.5 + (double)(test_random(&seed) % 12);
            int direct[MOST] = { 0 };
            for (int rule = 0; rule < 4; rule++) {
                tsr_max_tree_filter_options options = TSR_MAX_TREE_FILTER_OPTIONS;
                double slope, intercept;
                options.attribute = (tsr_max_tree_attribute)a;
                options.rule = (tsr_max_tree_rule)rule;
                options.threshold = threshold;
                require_ok(tsr_max_tree_filter(NULL, tree, &options, &out, NULL));
                tsr_volume_scaling(out, &slope, &intercept);
                assert_true(slope == 2 && intercept == 3);
                for (int i = 0; i < count; i++) {
                    const int got = k % 2 ? ((const uint8_t *)tsr_volume_data_const(out))[i] : ((const uint16_t *)tsr_volume_data_const(out))[i];
                    const int want = filtered_value(&o, i, &options);
                    if (got != want)
                        fail_msg("%lldx%lldx%lld, %d neighbours, attribute %d, rule %d, threshold %g: voxel %d is %d, expected %d", (long long)n.x,
                                 (long long)n.y, (long long)n.z, o.neighbours, a, rule, options.threshold, i, got, want);
                    if (rule == TSR_MAX_TREE_DIRECT) direct[i] = got;
                    else if (rule != TSR_MAX_TREE_SUBTRACTIVE && a != TSR_MAX_TREE_NONCOMPACTNESS) assert_int_equal(got, direct[i]);
                }
                tsr_volume_destroy(&out);
            }
        }
        exceptions += attributes_increase(tree);
        tsr_max_tree_destroy(&tree);
        tsr_volume_destroy(&v);
    }
    assert_true(exceptions > 0);
}

/* Nodes: parents first and of lower value; every voxel in a node of its value; as many nodes as the definition finds. */
static void trees_are_in_order(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    uint16_t f[MOST];
    uint8_t member[MOST];
    const tsr_size3 n = { SIDE, SIDE, SIDE };
    for (int i = 0; i < MOST; i++) f[i] = (uint16_t)(test_random(&seed) % 5);
    const struct oracle o = { { SIDE, SIDE, SIDE }, 26, f };
    tsr_volume *v = host_volume(n, TSR_U8, f);
    tsr_max_tree *tree;
    require_ok(tsr_max_tree_create(v, NULL, &tree));
    const tsr_max_tree_info info = *tsr_max_tree_describe(tree);
    const uint32_t *parent = tsr_max_tree_parents(tree), *node = tsr_max_tree_voxels(tree);
    const uint16_t *value = tsr_max_tree_values(tree);
    int64_t nodes = 0;
    for (int i = 0; i < MOST; i++) { /* a node is counted at its first voxel of the node's value */
        int first = 1;
        flood(&o, i, f[i], member);
        for (int j = 0; j < i; j++) first &= !(member[j] && f[j] == f[i]);
        nodes += first;
        assert_int_equal(value[node[i]], f[i]);
    }
    assert_int_equal(info.nodes, nodes);
    assert_true(info.leaves > 0 && info.leaves < nodes);
    for (int64_t k = 1; k < nodes; k++) assert_true(parent[k] < k && value[parent[k]] < value[k]);
    double *volume = malloc((size_t)nodes * sizeof *volume);
    require_ok(tsr_max_tree_attributes(tree, TSR_MAX_TREE_VOLUME, volume));
    assert_true(volume[0] == MOST);
    free(volume);
    tsr_max_tree_destroy(&tree);
    tsr_volume_destroy(&v);
}

/* A filtered volume on a device, drawn: a small bright ball vanishes from the picture, a tube of equal brightness stays as it was. */
static void filters_feed_pictures(void **state)
{
    (void)state;
    enum { N = 24 };
    tsr_context *context = test_context();
    const tsr_size3 n = { N, N, N };
    uint8_t *f = calloc(N * N * N, 1);
    for (int i = 0; i < N * N * N; i++) {
        const int x = i % N, y = i / N % N, z = i / N / N;
        if (abs(x - 6) + abs(y - 6) + abs(z - 12) < 3) f[i] = 200;
        if (x >= 15 && x < 17 && y >= 15 && y < 17) f[i] = 180;
    }
    tsr_volume *host, *volume, *filtered;
    tsr_max_tree *tree;
    tsr_mip *mip;
    tsr_mip_frame *frame;
    uint32_t pixels[N * N];
    int64_t kept;
    require_ok(tsr_volume_wrap(NULL, TSR_U8, n, NULL, f, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, &volume));
    require_ok(tsr_max_tree_create(volume, NULL, &tree));
    tsr_max_tree_filter_options options = TSR_MAX_TREE_FILTER_OPTIONS;
    options.attribute = TSR_MAX_TREE_NONCOMPACTNESS;
    options.threshold = 0.5;
    require_ok(tsr_max_tree_filter(context, tree, &options, &filtered, &kept));
    assert_int_equal(kept, 2); /* air and tube */
    require_ok(tsr_mip_build(context, filtered, NULL, &mip));
    require_ok(tsr_mip_frame_create(context, N, N, &frame));
    const tsr_mip_view view = { .zoom = 1 };
    require_ok(tsr_mip_render(mip, &view, NULL, frame, NULL));
    require_ok(tsr_mip_frame_download(frame, pixels));
    for (int i = 0; i < N * N; i++) assert_int_equal(pixels[i], i % N >= 15 && i % N < 17 && i / N >= 15 && i / N < 17 ? 180 : 0);
    tsr_mip_frame_destroy(&frame);
    tsr_mip_destroy(&mip);
    tsr_volume_destroy(&filtered);
    tsr_max_tree_destroy(&tree);
    tsr_volume_destroy(&volume);
    tsr_volume_destroy(&host);
    tsr_context_destroy(&context);
    free(f);
}

static void refuses(void **state)
{
    (void)state;
    const uint16_t f[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    const tsr_size3 n = { 2, 2, 2 };
    tsr_volume *v = host_volume(n, TSR_U16, f), *reals, *out;
    tsr_max_tree *tree;
    tsr_max_tree_options build = TSR_MAX_TREE_OPTIONS;
    require_ok(tsr_volume_create(NULL, TSR_F32, n, NULL, &reals));
    require_error(tsr_max_tree_create(reals, NULL, &tree), TSR_ERROR_ARGUMENT, "the volume is f32, expected u8 or u16");
    require_error(tsr_max_tree_create(NULL, NULL, &tree), TSR_ERROR_ARGUMENT, "volume is NULL");
    build.neighbours = 8;
    require_error(tsr_max_tree_create(v, &build, &tree), TSR_ERROR_ARGUMENT, "neighbours is 8, expected 6, 18 or 26");
    build.neighbours = 6;
    build.progress.report = test_stops;
    require_error(tsr_max_tree_create(v, &build, &tree), TSR_ERROR_CANCELLED, "cancelled");
    assert_null(tree);
    require_ok(tsr_max_tree_create(v, NULL, &tree));
    tsr_max_tree_filter_options options = TSR_MAX_TREE_FILTER_OPTIONS;
    options.threshold = (double)NAN;
    require_error(tsr_max_tree_filter(NULL, tree, &options, &out, NULL), TSR_ERROR_ARGUMENT, "threshold is nan");
    options.threshold = 1;
    options.rule = (tsr_max_tree_rule)4;
    require_error(tsr_max_tree_filter(NULL, tree, &options, &out, NULL), TSR_ERROR_ARGUMENT, "rule is 4");
    options.rule = TSR_MAX_TREE_DIRECT;
    options.attribute = (tsr_max_tree_attribute)5;
    require_error(tsr_max_tree_filter(NULL, tree, &options, &out, NULL), TSR_ERROR_ARGUMENT, "attribute is 5");
    assert_null(out);
    tsr_max_tree_destroy(&tree);
    tsr_volume_destroy(&reals);
    tsr_volume_destroy(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(filters_are_their_definition), cmocka_unit_test(trees_are_in_order),
                                        cmocka_unit_test(filters_feed_pictures), cmocka_unit_test(refuses) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
