/* Region trees against a recursive construction from above, golden counts of the literature's shapes, closed forms. */
#include <math.h>

#include "region_trees.h"

/* ---- the oracle: a cell is a leaf if all of it is alike, else a node; from the root down, depth first ------------------------------------- */

typedef struct oracle {
    tsr_size3 n;
    int bits;
    const tsr_region_options *o;
    const double *v[4];
    int channels;
    int64_t leaves, nodes;
    tsr_region_leaf *leaf;
    int32_t (*node)[8];
} oracle;

static int within(const oracle *q, int64_t x, int64_t y, int64_t z) { return x < q->n.x && y < q->n.y && z < q->n.z; }
static double at(const oracle *q, int c, int64_t x, int64_t y, int64_t z) { return q->v[c][(z * q->n.y + y) * q->n.x + x]; }

static int kept(const oracle *q, int64_t x, int64_t y, int64_t z)
{
    const tsr_region_options *o = q->o;
    const int64_t p[3] = { x, y, z }, n[3] = { q->n.x, q->n.y, q->n.z };
    int result = 1;
    if (o->rule == TSR_REGION_CLASSES) {
        result = o->lower <= at(q, 0, x, y, z) && at(q, 0, x, y, z) < o->upper;
    } else if (o->rule == TSR_REGION_EDGES) {
        double sum = 0;
        for (int c = 0; c < q->channels; c++)
            for (int k = 0; k < 3; k++)
                if (p[k] + 1 < n[k]) sum += pow(fabs(at(q, c, x + (k == 0), y + (k == 1), z + (k == 2)) - at(q, c, x, y, z)), o->edge_norm ? 1 : 2);
        result = sum < o->threshold;
    } else if (o->rule == TSR_REGION_COLOUR) {
        double far = 0;
        for (int c = 0; c < q->channels; c++) far = hypot(far, at(q, c, x, y, z) - o->colour[c]);
        result = far <= o->threshold + 1e-12;
    } else if (o->rule == TSR_REGION_LINEAR) {
        for (int c = 0; c < q->channels; c++)
            for (int k = 0; k < 3; k++)
                for (int m = k; m < 3; m++) {
                    const int64_t dk[3] = { k == 0, k == 1, k == 2 }, dm[3] = { m == 0, m == 1, m == 2 };
                    double d;
                    if (p[k] + 1 >= n[k] || p[m] + 1 >= n[m] || (m == k && p[k] == 0)) continue;
                    if (m == k) d = at(q, c, x + dk[0], y + dk[1], z + dk[2]) - 2 * at(q, c, x, y, z) + at(q, c, x - dk[0], y - dk[1], z - dk[2]);
                    else
                        d = at(q, c, x + dk[0] + dm[0], y + dk[1] + dm[1], z + dk[2] + dm[2]) - at(q, c, x + dk[0], y + dk[1], z + dk[2]) -
                            at(q, c, x + dm[0], y + dm[1], z + dm[2]) + at(q, c, x, y, z);
                    result &= fabs(d) <= o->threshold;
                }
    }
    return result != (o->complement != 0);
}

static int clusters(const oracle *q) /* all are kept, and merge by what they are like */
{
    return q->o->rule == TSR_REGION_DEVIATION || q->o->rule == TSR_REGION_SPREAD || q->o->rule == TSR_REGION_VARIANCE;
}

/* Means of a block from its voxels (equal children: the mean of the means is it). */
static double block_mean(const oracle *q, int c, int64_t x, int64_t y, int64_t z, int64_t side)
{
    double sum = 0;
    for (int64_t k = 0; k < (q->bits == 3 ? side : 1); k++)
        for (int64_t j = 0; j < side; j++)
            for (int64_t i = 0; i < side; i++) sum += at(q, c, x + i, y + j, z + k);
    return sum / (double)(q->bits == 3 ? side * side * side : side * side);
}

static int one_leaf(const oracle *q, int64_t x, int64_t y, int64_t z, int64_t side)
{
    if (!within(q, x + side - 1, y + side - 1, q->bits == 3 ? z + side - 1 : z)) return 0;
    if (side == 1) return q->o->singles || kept(q, x, y, z);
    const int64_t h = side / 2;
    for (int c = 0; c < 1 << q->bits; c++)
        if (clusters(q) ? !one_leaf(q, x + (c & 1) * h, y + (c >> 1 & 1) * h, z + (c >> 2) * h, h) : 0) return 0;
    if (q->o->rule == TSR_REGION_DEVIATION) {
        double d = 0;
        for (int m = 0; m < q->channels; m++)
            for (int c = 0; c < 1 << q->bits; c++)
                d += pow(block_mean(q, m, x + (c & 1) * h, y + (c >> 1 & 1) * h, z + (c >> 2) * h, h) - block_mean(q, m, x, y, z, side), 2);
        return d <= q->o->threshold;
    }
    if (q->o->rule == TSR_REGION_VARIANCE) { /* of the voxels themselves */
        double variance = 0;
        for (int m = 0; m < q->channels; m++) {
            const double mean = block_mean(q, m, x, y, z, side), cells = (double)(q->bits == 3 ? side * side * side : side * side);
            for (int64_t k = 0; k < (q->bits == 3 ? side : 1); k++)
                for (int64_t j = 0; j < side; j++)
                    for (int64_t i = 0; i < side; i++) variance += pow(at(q, m, x + i, y + j, z + k) - mean, 2) / cells;
        }
        return variance <= q->o->threshold;
    }
    for (int m = 0; m < q->channels; m++) {
        double least = INFINITY, most = -INFINITY;
        for (int64_t k = 0; k < (q->bits == 3 ? side : 1); k++)
            for (int64_t j = 0; j < side; j++)
                for (int64_t i = 0; i < side; i++) {
                    if (q->o->rule == TSR_REGION_SPREAD) {
                        least = fmin(least, at(q, m, x + i, y + j, z + k));
                        most = fmax(most, at(q, m, x + i, y + j, z + k));
                    } else if (!kept(q, x + i, y + j, z + k)) {
                        return 0;
                    }
                }
        if (q->o->rule == TSR_REGION_SPREAD && !(most - least <= q->o->threshold)) return 0;
    }
    return 1;
}

static int anything(const oracle *q, int64_t x, int64_t y, int64_t z, int64_t side)
{
    for (int64_t k = z; k < q->n.z && k < z + (q->bits == 3 ? side : 1); k++)
        for (int64_t j = y; j < q->n.y && j < y + side; j++)
            for (int64_t i = x; i < q->n.x && i < x + side; i++)
                if (q->o->singles || clusters(q) || kept(q, i, j, k)) return 1;
    return 0;
}

static int32_t visit(oracle *q, int64_t x, int64_t y, int64_t z, int64_t side)
{
    if (!anything(q, x, y, z, side)) return 0;
    if (one_leaf(q, x, y, z, side)) {
        q->leaf[q->leaves] = (tsr_region_leaf){ x, y, z, side };
        return ~(int32_t)q->leaves++;
    }
    const int32_t own = (int32_t)q->nodes++;
    const int64_t h = side / 2;
    for (int c = 0; c < 1 << q->bits; c++) {
        const int32_t r = visit(q, x + (c & 1) * h, y + (c >> 1 & 1) * h, z + (c >> 2) * h, h);
        q->node[own][c] = r;
    }
    return own;
}

/* ---- the trees ---------------------------------------------------------------------------------------------------------------------------- */

static void check_against_oracle(tsr_dtype dtype, tsr_size3 n, const void *const *data, const double *const *real, int channels,
                                 const tsr_region_options *o)
{
    tsr_context *context = test_context();
    tsr_region_tree *device = make(context, dtype, n, data, channels, o), *tree;
    require_ok(tsr_region_tree_copy(device, NULL, &tree));
    const tsr_region_info info = *tsr_region_tree_describe(tree);
    const int64_t cells = n.x * n.y * n.z, side = (int64_t)1 << info.top;
    oracle q = { .n = n, .bits = n.z > 1 ? 3 : 2, .o = o, .channels = channels, .leaf = malloc((size_t)cells * sizeof *q.leaf) };
    q.node = malloc((size_t)(cells * 2 + 40) * sizeof *q.node);
    for (int c = 0; c < channels; c++) q.v[c] = real[c];
    const int32_t root = visit(&q, 0, 0, 0, side);
    if (info.leaves != q.leaves || info.nodes != q.nodes)
        fail_msg("rule %d, %dx%dx%d: %d leaves %d nodes, expected %d and %d", (int)o->rule, (int)n.x, (int)n.y, (int)n.z, (int)info.leaves,
                 (int)info.nodes, (int)q.leaves, (int)q.nodes);
    assert_int_equal(info.root, q.nodes ? TSR_REGION_NODE : root < 0 ? TSR_REGION_LEAF : TSR_REGION_EMPTY);
    for (int64_t i = 0; i < q.leaves; i++) {
        const tsr_region_leaf l = tsr_region_leaf_of(tsr_region_tree_leaves(tree)[i], info.dimensions);
        assert_true(l.x == q.leaf[i].x && l.y == q.leaf[i].y && l.z == q.leaf[i].z && l.side == q.leaf[i].side);
        assert_true(!i || tsr_region_tree_leaves(tree)[i] > tsr_region_tree_leaves(tree)[i - 1]);
    }
    int64_t empty = 0;
    for (int64_t i = 0; i < q.nodes; i++)
        for (int c = 0; c < 1 << q.bits; c++) {
            const int32_t r = tsr_region_tree_nodes(tree)[(i << q.bits) + c];
            if (r != q.node[i][c]) fail_msg("node %d child %d: %d, expected %d", (int)i, c, r, q.node[i][c]);
            empty += r == 0;
        }
    if (q.nodes) assert_int_equal(q.leaves + empty, ((1 << q.bits) - 1) * q.nodes + 1);
    free(q.leaf);
    free(q.node);
    tsr_region_tree_destroy(&tree);
    tsr_region_tree_destroy(&device);
    tsr_context_destroy(&context);
}

static void trees_equal_recursion(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    const tsr_size3 sizes[] = { { 32, 32, 1 },  { 31, 17, 1 }, { 1, 1, 1 }, { 1, 9, 1 }, { 5, 3, 1 },
                                { 16, 16, 16 }, { 17, 8, 5 },  { 2, 2, 2 }, { 3, 1, 4 }, { 24, 20, 9 } };
    static uint8_t bytes[24 * 20 * 16];
    static float floats[3][24 * 20 * 16];
    static double real[3][24 * 20 * 16];
    const void *byte_channel[1] = { bytes }, *float_channels[3] = { floats[0], floats[1], floats[2] };
    const double *reals[3] = { real[0], real[1], real[2] };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int round = 0; round < 6; round++) {
            const int64_t cells = sizes[s].x * sizes[s].y * sizes[s].z;
            tsr_region_options o = TSR_REGION_OPTIONS;
            o.classifier = TSR_PYRAMID_RANGE;
            o.lower = 1;
            o.upper = round == 5 ? 1000 : 4;
            o.complement = round == 1 || round == 3;
            o.singles = round == 2 || round == 3;
            if (round == 4)
                for (int64_t i = 0; i < cells; i++) bytes[i] = test_random(&seed) % 12 ? 2 : 0;
            else if (round == 5) memset(bytes, 9, sizeof bytes);
            else clumps(&seed, sizes[s], 6, bytes);
            for (int64_t i = 0; i < cells; i++) real[0][i] = bytes[i];
            check_against_oracle(TSR_U8, sizes[s], byte_channel, reals, 1, &o);
            for (int c = 0; c < 3; c++) {
                clumps(&seed, sizes[s], 4, bytes);
                for (int64_t i = 0; i < cells; i++) real[c][i] = floats[c][i] = (float)(bytes[i] + (i / 5 % 7 == 0) * 0.125);
            }
            if (round < 4) check_against_oracle(TSR_F32, sizes[s], float_channels, reals, 1, &o);
            o.threshold = 0.02;
            o.rule = round % 2 ? TSR_REGION_EDGES : TSR_REGION_LINEAR;
            o.edge_norm = round % 4 == 1 ? TSR_REGION_EDGE_MAGNITUDES : TSR_REGION_EDGE_SQUARES;
            check_against_oracle(TSR_F32, sizes[s], float_channels, reals, 1 + round % 3, &o);
            o.rule = TSR_REGION_COLOUR;
            o.threshold = round == 0 ? 0 : 0.4 * round; /* distances are roots of sums of squares of eighths: none is near a threshold but 0 */
            for (int c = 0; c < 4; c++) o.colour[c] = c + 0.125 * (round & 1);
            check_against_oracle(TSR_F32, sizes[s], float_channels, reals, 1 + round % 3, &o);
            o.singles = o.complement = 0;
            o.threshold = round == 0 ? 0 : round * 0.1 + 0.033;
            o.rule = TSR_REGION_DEVIATION;
            check_against_oracle(TSR_F32, sizes[s], float_channels, reals, 1 + round % 3, &o);
            o.rule = TSR_REGION_SPREAD;
            check_against_oracle(TSR_F32, sizes[s], float_channels, reals, 1 + round % 3, &o);
            o.rule = TSR_REGION_VARIANCE;
            check_against_oracle(TSR_F32, sizes[s], float_channels, reals, 1 + round % 3, &o);
        }
}

/* Shapes in which little merges: a Menger sponge, whose cells are thirds, and the solid side of a gyroid. */
static void sponge_and_gyroid(void **state)
{
    enum { N = 27 };
    static uint8_t bytes[N * N * N];
    static double real[N * N * N];
    const void *channel[1] = { bytes };
    const double *reals[1] = { real };
    const tsr_size3 n = { N, N, N };
    tsr_region_options o = TSR_REGION_OPTIONS;
    (void)state;
    o.classifier = TSR_PYRAMID_RANGE;
    o.lower = 1;
    o.upper = 2;
    for (int shape = 0; shape < 2; shape++) {
        int inside = 0;
        for (int i = 0; i < N * N * N; i++) {
            int at[3] = { i % N, i / N % N, i / N / N };
            const double w = 0.4, x = w * at[0], y = w * at[1], z = w * at[2];
            bytes[i] = shape == 0 || sin(x) * cos(y) + sin(y) * cos(z) + sin(z) * cos(x) > 0;
            for (int k = 0; k < 3 && shape == 0; k++) { /* a hole where two digits to base 3 are 1 */
                const int ones = (at[0] % 3 == 1) + (at[1] % 3 == 1) + (at[2] % 3 == 1);
                if (ones >= 2) bytes[i] = 0;
                for (int a = 0; a < 3; a++) at[a] /= 3;
            }
            real[i] = bytes[i];
            inside += bytes[i];
        }
        if (shape == 0) assert_int_equal(inside, 20 * 20 * 20);
        for (int turn = 0; turn < 4; turn++) {
            o.complement = turn & 1;
            o.singles = turn >> 1;
            check_against_oracle(TSR_U8, n, channel, reals, 1, &o);
        }
        o.complement = o.singles = 0;
    }
}

/* ---- golden counts ------------------------------------------------------------------------------------------------------------------------ */

static tsr_region_info count(tsr_context *context, tsr_size3 n, const uint8_t *mask, int complement)
{
    tsr_region_options o = TSR_REGION_OPTIONS;
    o.classifier = TSR_PYRAMID_NONZERO;
    o.complement = complement;
    tsr_region_tree *tree = make(context, TSR_U8, n, (const void *const[]){ mask }, 1, &o);
    const tsr_region_info info = *tsr_region_tree_describe(tree);
    tsr_region_tree_destroy(&tree);
    return info;
}

static void discs_and_spheres(void **state)
{
    (void)state;
    static const struct {
        int n, z, in, leaves, nodes, empty;
    } rows[] = {
        { 16, 0, 112, 28, 21, 36 },
        { 32, 0, 448, 100, 53, 60 },
        { 64, 0, 1804, 160, 101, 144 },
        { 128, 0, 7232, 368, 237, 344 },
        { 256, 0, 28968, 768, 485, 688 },
        { 512, 0, 115816, 1456, 933, 1344 },
        { 16, 1, 912, 352, 121, 496 },
        { 32, 1, 7208, 1776, 489, 1648 },
        { 64, 1, 57856, 6504, 1977, 7336 },
        { 128, 1, 463400, 27720, 8217, 29800 },
        { 1024, 0, 463304, 3224, 2021, 2840 },
        { 2048, 0, 1853028, 6264, 4025, 5812 },
        { 4096, 0, 7412064, 12408, 8041, 11716 },
        { 256, 1, 3706160, 114376, 33105, 117360 },
    };
    const size_t count_of_rows = sizeof rows / sizeof *rows - (test_is_slow() ? 4 : 0);
    tsr_context *context = test_context();
    uint8_t *mask = malloc(256 * 256 * 256);
    for (size_t r = 0; r < count_of_rows; r++) {
        const int64_t n = rows[r].n, deep = rows[r].z ? n : 1;
        const tsr_size3 size = { n, n, deep };
        int64_t inside = 0;
        for (int64_t i = 0; i < n * n * deep; i++) {
            const int64_t x = 2 * (i % n) + 1 - n, y = 2 * (i / n % n) + 1 - n, z = rows[r].z ? 2 * (i / n / n) + 1 - n : 0;
            inside += mask[i] = 16 * (x * x + y * y + z * z) <= 9 * n * n;
        }
        assert_int_equal(inside, rows[r].in);
        const tsr_region_info solid = count(context, size, mask, 0), empty = count(context, size, mask, 1);
        assert_true(solid.leaves == rows[r].leaves && solid.nodes == rows[r].nodes && empty.leaves == rows[r].empty && empty.nodes == rows[r].nodes);
    }
    free(mask);
    tsr_context_destroy(&context);
}

static void closed_forms(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    static uint8_t mask[64 * 64 * 64];
    for (int three = 0; three < 2; three++) {
        const int L = three ? 4 : 6, n = 1 << L, bits = three ? 3 : 2;
        const tsr_size3 size = { n, n, three ? n : 1 };
        const int64_t cells = size.x * size.y * size.z;
        for (int a = 1; a < n; a++) { /* half-spaces x < a */
            int64_t leaves = 0, low = 0;
            for (int64_t i = 0; i < cells; i++) mask[i] = i % n < a;
            for (int b = 0; b < L; b++)
                if (a >> b & 1) leaves += (int64_t)1 << ((bits - 1) * (L - b));
            while (!(a >> low & 1)) low++;
            const tsr_region_info info = count(context, size, mask, 0);
            assert_int_equal(info.leaves, leaves);
            assert_int_equal(info.nodes, (((int64_t)1 << ((bits - 1) * (L - low))) - 1) / ((1 << (bits - 1)) - 1));
        }
        for (int64_t i = 0; i < cells; i++) mask[i] = (i % n + i / n % n + i / n / n) & 1; /* checkerboard */
        tsr_region_info info = count(context, size, mask, 0);
        assert_true(info.leaves == cells / 2 && info.nodes == (cells - 1) / ((1 << bits) - 1));
        for (int64_t i = 0; i < cells; i++) mask[i] = i % n == i / n % n && (!three || i % n == i / n / n); /* main diagonal */
        info = count(context, size, mask, 0);
        assert_true(info.leaves == n && info.nodes == n - 1);
        memset(mask, 0, sizeof mask);
        mask[cells / 3] = 1; /* a single voxel */
        info = count(context, size, mask, 0);
        assert_true(info.leaves == 1 && info.nodes == L && info.top == L);
        info = count(context, size, mask, 1);
        assert_true(info.leaves == ((1 << bits) - 1) * L && info.nodes == L);
    }
    /* a ramp under clustering: leaves of side 2^l, the greatest l with (2^(l-1) / n)^2 <= T */
    static float ramp[512 * 512];
    for (int i = 0; i < 512 * 512; i++) ramp[i] = (float)(i % 512) / 512;
    const double thresholds[] = { 0.01, 0.001, 1e-4 };
    const int64_t expected[] = { 64, 256, 4096 };
    for (int k = 0; k < 3; k++) {
        tsr_region_options o = TSR_REGION_OPTIONS;
        o.rule = TSR_REGION_DEVIATION;
        o.threshold = thresholds[k];
        tsr_region_tree *tree = make(context, TSR_F32, (tsr_size3){ 512, 512, 1 }, (const void *const[]){ ramp }, 1, &o);
        assert_int_equal(tsr_region_tree_describe(tree)->leaves, expected[k]);
        tsr_region_tree_destroy(&tree);
    }
    tsr_context_destroy(&context);
}

/* The 4 x 4 x 4 example of the literature: 15 leaves, 3 nodes. */
static void worked_example(void **state)
{
    (void)state;
    uint8_t mask[64] = { 0 };
    const int full[] = { 0, 1, 3, 4, 6 };
    for (int i = 0; i < 64; i++) {
        const int x = i % 4, y = i / 4 % 4, z = i / 16, octant = (x >> 1) | (y >> 1) << 1 | (z >> 1) << 2, c = (x & 1) | (y & 1) << 1 | (z & 1) << 2;
        for (int k = 0; k < 5; k++) mask[i] |= octant == full[k];
        if (octant == 5) mask[i] = c < 2 || c > 5;
        if (octant == 7) mask[i] = c < 6;
    }
    tsr_context *context = test_context();
    tsr_region_options o = TSR_REGION_OPTIONS;
    o.classifier = TSR_PYRAMID_NONZERO;
    tsr_region_tree *device = make(context, TSR_U8, (tsr_size3){ 4, 4, 4 }, (const void *const[]){ mask }, 1, &o), *tree;
    require_ok(tsr_region_tree_copy(device, NULL, &tree));
    static const int32_t nodes[3][8] = { { ~0, ~1, 0, ~2, ~3, 1, ~8, 2 }, { ~4, ~5, 0, 0, 0, 0, ~6, ~7 }, { ~9, ~10, ~11, ~12, ~13, ~14, 0, 0 } };
    assert_memory_equal(tsr_region_tree_nodes(tree), nodes, sizeof nodes);
    const tsr_region_leaf twelve = tsr_region_leaf_of(tsr_region_tree_leaves(tree)[12], 3);
    assert_true(twelve.x == 3 && twelve.y == 3 && twelve.z == 2 && twelve.side == 1);
    void *memory;
    const tsr_region_ray ray = { { 0, 0, 1 }, { 1, 0.5, 0.75 }, 1e9 };
    const int32_t point[3] = { 3, 2, 3 };
    tsr_region_span spans[8];
    tsr_region_hit hit;
    int32_t found;
    require_ok(tsr_device_allocate(context, 4096, &memory));
    require_ok(tsr_device_move(context, memory, NULL, point, sizeof point));
    require_ok(tsr_region_tree_find(device, memory, 1, (tsr_region_hit *)(void *)((char *)memory + 256)));
    require_ok(tsr_device_move(NULL, &hit, context, (char *)memory + 256, sizeof hit));
    assert_true(hit.leaf == 14 && hit.level == 0 && hit.lower[0] == 3 && hit.lower[1] == 2 && hit.lower[2] == 3);
    require_ok(tsr_device_move(context, memory, NULL, &ray, sizeof ray));
    require_ok(
        tsr_region_tree_rays(device, memory, 1, 8, 0, (tsr_region_span *)(void *)((char *)memory + 512), (int32_t *)(void *)((char *)memory + 256)));
    require_ok(tsr_device_move(NULL, &found, context, (char *)memory + 256, sizeof found));
    require_ok(tsr_device_move(NULL, spans, context, (char *)memory + 512, sizeof spans));
    assert_int_equal(found, 4); /* leaf 0, leaf 3, then in node 1 past an empty child leaves 6 and 7 */
    assert_true(spans[0].leaf == 0 && spans[1].leaf == 3 && spans[2].leaf == 6 && spans[3].leaf == 7);
    tsr_device_release(context, memory, 4096);
    tsr_region_tree_destroy(&tree);
    tsr_region_tree_destroy(&device);
    tsr_context_destroy(&context);
}

/* A volume of one value, one octant of another: two that float32 rounds to the same must not merge. */
static void values_beyond_float32(void **state)
{
    (void)state;
    enum { SIDE = 8, COUNT = SIDE * SIDE * SIDE };
    static const struct {
        tsr_dtype dtype;
        double value, other, slope, intercept, threshold;
        tsr_region_rule_kind rule;
        int fails, leaves;
    } cases[] = {
        { TSR_I32, 16777216, 16777217, 1, 0, 0, TSR_REGION_SPREAD, 1, 0 },
        { TSR_I32, -16777216, -16777217, 1, 0, 0, TSR_REGION_DEVIATION, 1, 0 },
        { TSR_U32, 16777216, 16777217, 1, 0, 0, TSR_REGION_SPREAD, 1, 0 },
        { TSR_U32, 16777216, 16777218, 1, 0, 0, TSR_REGION_SPREAD, 0, 8 },
        { TSR_I32, 16777215, 16777216, 1, 0, 0, TSR_REGION_SPREAD, 0, 8 },
        { TSR_I64, 16777216, 16777217, 1, 0, 0, TSR_REGION_SPREAD, 1, 0 },
        { TSR_U64, 9007199254740992.0, 1, 1, 0, 0, TSR_REGION_SPREAD, 1, 0 },
        { TSR_F64, 16777216, 16777217, 1, 0, 0, TSR_REGION_SPREAD, 1, 0 },
        { TSR_F64, 16777216, 16777217, 1, 0, 1, TSR_REGION_SPREAD, 0, 1 },
        { TSR_F64, 0.1, 0.2, 1, 0, 0, TSR_REGION_SPREAD, 0, 8 },
        { TSR_F64, 1e300, 0, 1, 0, 0, TSR_REGION_SPREAD, 1, 0 },
        { TSR_F64, INFINITY, 0, 1, 0, 0, TSR_REGION_SPREAD, 0, 449 }, /* infinities merge with nothing */
        { TSR_I16, 0, 1, 1, 16777216, 0, TSR_REGION_SPREAD, 1, 0 },
        { TSR_I16, 0, 1, 1, 16000000, 0, TSR_REGION_SPREAD, 0, 8 },
        { TSR_F32, 3e9, 1e9, 1, 0, 0, TSR_REGION_SPREAD, 0, 8 },
        { TSR_I32, 16777216, 16777217, 1, 0, 0, TSR_REGION_LINEAR, 0, -1 },
        { TSR_I32, 16777216, 16777217, 1, 0, 0, TSR_REGION_VARIANCE, 1, 0 },
        { TSR_F64, INFINITY, 0, 1, 0, 0, TSR_REGION_VARIANCE, 0, 449 },
        { TSR_F32, 3, 1, 1, 0, 0.4, TSR_REGION_VARIANCE, 0, 8 }, /* 7/8 1/8 4 = 0.4375 */
        { TSR_F32, 3, 1, 1, 0, 0.44, TSR_REGION_VARIANCE, 0, 1 },
    };
    tsr_context *context = test_context();
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        tsr_volume *host, *v;
        tsr_region_tree *tree = NULL;
        tsr_region_options o = TSR_REGION_OPTIONS;
        o.rule = cases[n].rule;
        o.threshold = cases[n].threshold;
        require_ok(tsr_volume_create(NULL, cases[n].dtype, (tsr_size3){ SIDE, SIDE, SIDE }, NULL, &host));
        for (int i = 0; i < COUNT; i++) {
            const double value = i % SIDE < 4 && i / SIDE % SIDE < 4 && i / SIDE / SIDE < 4 ? cases[n].other : cases[n].value;
            void *data = tsr_volume_data(host);
            switch (cases[n].dtype) {
            case TSR_I16: ((int16_t *)data)[i] = (int16_t)value; break;
            case TSR_I32: ((int32_t *)data)[i] = (int32_t)value; break;
            case TSR_U32: ((uint32_t *)data)[i] = (uint32_t)value; break;
            case TSR_I64: ((int64_t *)data)[i] = (int64_t)value; break;
            case TSR_U64: ((uint64_t *)data)[i] = (uint64_t)value; break;
            case TSR_F32: ((float *)data)[i] = (float)value; break;
            default: ((double *)data)[i] = value;
            }
        }
        require_ok(tsr_volume_set_scaling(host, cases[n].slope, cases[n].intercept));
        require_ok(tsr_volume_copy(host, context, &v));
        const tsr_volume *channels[] = { v };
        const tsr_status status = tsr_region_tree_make(context, channels, 1, &o, &tree);
        if (cases[n].fails) {
            require_error(status, TSR_ERROR_UNSUPPORTED, "values beyond 2^24");
        } else {
            require_ok(status);
            if (cases[n].leaves >= 0 && tsr_region_tree_describe(tree)->leaves != cases[n].leaves)
                fail_msg("case %zu: %lld leaves, expected %d", n, (long long)tsr_region_tree_describe(tree)->leaves, cases[n].leaves);
        }
        tsr_region_tree_destroy(&tree);
        tsr_volume_destroy(&v);
        tsr_volume_destroy(&host);
    }
    tsr_context_destroy(&context);
}

static void wrong_arguments(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_region_options o = TSR_REGION_OPTIONS;
    tsr_region_pyramid *p;
    tsr_region_tree *tree;
    tsr_region_info info = TSR_REGION_INFO;
    tsr_volume *v;
    const tsr_size3 n = { 4, 4, 4 };
    require_error(tsr_region_pyramid_create(context, n, NULL, &p), TSR_ERROR_ARGUMENT, "classifier gives counts");
    o.classifier = TSR_PYRAMID_RANGE;
    require_error(tsr_region_pyramid_create(context, n, &o, &p), TSR_ERROR_ARGUMENT, "lower < upper");
    o.rule = TSR_REGION_EDGES;
    o.threshold = NAN;
    require_error(tsr_region_pyramid_create(context, n, &o, &p), TSR_ERROR_ARGUMENT, "threshold is nan");
    o.threshold = -1;
    require_error(tsr_region_pyramid_create(context, n, &o, &p), TSR_ERROR_ARGUMENT, "threshold is -1");
    o.threshold = 1;
    o.edge_norm = (tsr_region_edge_norm)2;
    require_error(tsr_region_pyramid_create(context, n, &o, &p), TSR_ERROR_ARGUMENT, "edge_norm is 2");
    o.edge_norm = TSR_REGION_EDGE_SQUARES;
    o.rule = TSR_REGION_SPREAD;
    o.singles = 1;
    require_error(tsr_region_pyramid_create(context, n, &o, &p), TSR_ERROR_ARGUMENT, "complement and singles");
    o.singles = 0;
    o.rule = (tsr_region_rule_kind)9;
    require_error(tsr_region_pyramid_create(context, n, &o, &p), TSR_ERROR_ARGUMENT, "rule is 9");
    o.rule = TSR_REGION_COLOUR;
    o.colour[2] = INFINITY;
    require_error(tsr_region_pyramid_create(context, n, &o, &p), TSR_ERROR_ARGUMENT, "colour[2] is inf");
    o.colour[2] = 0;
    o.nan = (tsr_region_nan)2;
    require_error(tsr_region_pyramid_create(context, n, &o, &p), TSR_ERROR_ARGUMENT, "nan is 2");
    o.nan = TSR_REGION_NAN_APART;
    o.rule = TSR_REGION_SPREAD;
    require_error(tsr_region_pyramid_create(context, (tsr_size3){ 1 << 20, 2, 2 }, &o, &p), TSR_ERROR_ARGUMENT, "expected extents up to 524288");
    require_error(tsr_region_pyramid_create(context, (tsr_size3){ 0, 2, 2 }, &o, &p), TSR_ERROR_ARGUMENT, "extent x is 0");
    require_ok(tsr_region_pyramid_create(context, n, &o, &p));
    require_error(tsr_region_pyramid_describe(p, &info), TSR_ERROR_STATE, "nothing was built");
    require_error(tsr_region_tree_extract(p, &tree), TSR_ERROR_STATE, "nothing was built");
    require_ok(tsr_volume_create(context, TSR_U8, (tsr_size3){ 4, 4, 5 }, NULL, &v));
    require_error(tsr_region_pyramid_build(p, (const tsr_volume *const[]){ v }, 1), TSR_ERROR_ARGUMENT, "channel 0 of 4 x 4 x 5");
    require_error(tsr_region_pyramid_build(p, (const tsr_volume *const[]){ v }, 5), TSR_ERROR_ARGUMENT, "5 channels");
    tsr_volume_destroy(&v);
    tsr_region_pyramid_destroy(&p);
    require_error(tsr_region_tree_make(context, NULL, 0, &o, &tree), TSR_ERROR_ARGUMENT, "no channel");
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(trees_equal_recursion), cmocka_unit_test(discs_and_spheres),
                                        cmocka_unit_test(closed_forms),          cmocka_unit_test(worked_example),
                                        cmocka_unit_test(values_beyond_float32), cmocka_unit_test(wrong_arguments),
                                        cmocka_unit_test(sponge_and_gyroid) };
    return cmocka_run_group_tests_name("region trees", tests, NULL, NULL);
}
