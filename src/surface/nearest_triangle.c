#include "surface/nearest_triangle.h"

#include <math.h>
#include <string.h>

#include "tessera/mapping.h"
#include "surface/mesh_math.h"

enum { LEAF = 4, DIGIT = 11, DIGITS = 6 }; /* 63-bit Morton codes sorted in 6 passes of 11 bits */

typedef struct box { float lower[3], upper[3]; } box;

struct tsr_triangle_tree {
    const tsr_mesh *mesh;
    uint32_t *order;  /* triangles in Morton order, LEAF of them per leaf */
    box *boxes;       /* node i has children 2i and 2i + 1, the root is 1, leaf k is leaves + k */
    int64_t leaves;   /* power of two */
};

/* ---- building ---- */

typedef struct keyed { uint64_t key; uint32_t triangle; } keyed;

static void make_keys(const tsr_mesh *mesh, keyed *keys)
{
    double lower[3] = { INFINITY, INFINITY, INFINITY }, upper[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++) {
        lower[i % 3] = fmin(lower[i % 3], (double)mesh->vertices[i]);
        upper[i % 3] = fmax(upper[i % 3], (double)mesh->vertices[i]);
    }
    double edge = fmax(upper[0] - lower[0], fmax(upper[1] - lower[1], upper[2] - lower[2]));
    double scale = edge > 0 ? 2097151.0 / (3 * edge) : 0;
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        const uint32_t *corner = mesh->triangles + 3 * t;
        keys[t] = (keyed){ 0, (uint32_t)t };
        for (int axis = 0; axis < 3; axis++) {
            double sum = 0;
            for (int k = 0; k < 3; k++) sum += (double)mesh->vertices[3 * (int64_t)corner[k] + axis] - lower[axis];
            keys[t].key |= tsr_spread3((uint64_t)(sum * scale)) << axis;
        }
    }
}

/* Least significant digit first; DIGITS is even, so the result is in `keys` again. */
static void sort_keys(keyed *keys, keyed *spare, int64_t count)
{
    for (int digit = 0; digit < DIGITS; digit++) {
        int64_t start[(1 << DIGIT) + 1] = { 0 };
        int shift = digit * DIGIT;
        for (int64_t i = 0; i < count; i++) start[(keys[i].key >> shift & ((1 << DIGIT) - 1)) + 1]++;
        for (int i = 0; i < 1 << DIGIT; i++) start[i + 1] += start[i];
        for (int64_t i = 0; i < count; i++) spare[start[keys[i].key >> shift & ((1 << DIGIT) - 1)]++] = keys[i];
        keyed *swap = keys;
        keys = spare;
        spare = swap;
    }
}

static void bound(const tsr_triangle_tree *tree, int64_t leaf, box *b)
{
    int64_t end = tsr_min64((leaf + 1) * LEAF, tree->mesh->triangle_count);
    *b = (box){ { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } }; /* stays empty behind the last triangle */
    for (int64_t i = leaf * LEAF; i < end; i++)
        for (int k = 0; k < 3; k++) {
            const float *p = tree->mesh->vertices + 3 * (int64_t)tree->mesh->triangles[3 * (int64_t)tree->order[i] + k];
            for (int axis = 0; axis < 3; axis++) {
                b->lower[axis] = fminf(b->lower[axis], p[axis]);
                b->upper[axis] = fmaxf(b->upper[axis], p[axis]);
            }
        }
}

static void make_boxes(tsr_triangle_tree *tree)
{
    for (int64_t leaf = 0; leaf < tree->leaves; leaf++) bound(tree, leaf, &tree->boxes[tree->leaves + leaf]);
    for (int64_t node = tree->leaves - 1; node >= 1; node--)
        for (int axis = 0; axis < 3; axis++) {
            const box *one = &tree->boxes[2 * node], *other = &tree->boxes[2 * node + 1];
            tree->boxes[node].lower[axis] = fminf(one->lower[axis], other->lower[axis]);
            tree->boxes[node].upper[axis] = fmaxf(one->upper[axis], other->upper[axis]);
        }
}

tsr_status tsr_triangle_tree_create(const tsr_mesh *mesh, tsr_triangle_tree **tree)
{
    keyed *keys = NULL;
    size_t key_bytes = (size_t)mesh->triangle_count * 2 * sizeof *keys;
    tsr_status status;
    *tree = NULL;
    if (mesh->triangle_count > (int64_t)UINT32_MAX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "mesh: %lld triangles, expected at most 4294967295", (long long)mesh->triangle_count);
    TSR_TRY(tsr_host_allocate(NULL, sizeof **tree, (void **)tree));
    **tree = (tsr_triangle_tree){ .mesh = mesh, .leaves = 1 };
    while ((*tree)->leaves * LEAF < mesh->triangle_count) (*tree)->leaves *= 2;
    TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)mesh->triangle_count * sizeof(uint32_t), (void **)&(*tree)->order), done);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)(*tree)->leaves * 2 * sizeof(box), (void **)&(*tree)->boxes), done);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, key_bytes, (void **)&keys), done);
    make_keys(mesh, keys);
    sort_keys(keys, keys + mesh->triangle_count, mesh->triangle_count);
    for (int64_t i = 0; i < mesh->triangle_count; i++) (*tree)->order[i] = keys[i].triangle;
    make_boxes(*tree);
done:
    if (keys) tsr_host_release(NULL, keys, key_bytes);
    if (status != TSR_OK) tsr_triangle_tree_destroy(tree);
    return status;
}

void tsr_triangle_tree_destroy(tsr_triangle_tree **tree)
{
    if (!tree || !*tree) return;
    if ((*tree)->order) tsr_host_release(NULL, (*tree)->order, (size_t)(*tree)->mesh->triangle_count * sizeof(uint32_t));
    if ((*tree)->boxes) tsr_host_release(NULL, (*tree)->boxes, (size_t)(*tree)->leaves * 2 * sizeof(box));
    tsr_host_release(NULL, *tree, sizeof **tree);
    *tree = NULL;
}

/* ---- asking ---- */

static double segment_distance(tsr_vec3 p, tsr_vec3 a, tsr_vec3 b)
{
    tsr_vec3 along = tsr_vec3_sub(b, a), to = tsr_vec3_sub(p, a);
    double length = tsr_vec3_dot(along, along), t = length > 0 ? tsr_vec3_dot(to, along) / length : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    tsr_vec3 rest = { to.x - t * along.x, to.y - t * along.y, to.z - t * along.z };
    return tsr_vec3_dot(rest, rest);
}

/* Squared: to the plane where the foot of the perpendicular lies within the triangle, else to the nearest side. */
static double triangle_distance(const tsr_mesh *mesh, uint32_t triangle, tsr_vec3 p)
{
    const uint32_t *corner = mesh->triangles + 3 * (int64_t)triangle;
    tsr_vec3 a = tsr_mesh_position(mesh, corner[0]), b = tsr_mesh_position(mesh, corner[1]), c = tsr_mesh_position(mesh, corner[2]);
    tsr_vec3 n = tsr_vec3_cross(tsr_vec3_sub(b, a), tsr_vec3_sub(c, a));
    double square = tsr_vec3_dot(n, n);
    if (square > 0 && tsr_vec3_dot(tsr_vec3_cross(n, tsr_vec3_sub(b, a)), tsr_vec3_sub(p, a)) >= 0 && tsr_vec3_dot(tsr_vec3_cross(n, tsr_vec3_sub(c, b)), tsr_vec3_sub(p, b)) >= 0 &&
        tsr_vec3_dot(tsr_vec3_cross(n, tsr_vec3_sub(a, c)), tsr_vec3_sub(p, c)) >= 0) {
        double height = tsr_vec3_dot(n, tsr_vec3_sub(p, a));
        return height * height / square;
    }
    return fmin(segment_distance(p, a, b), fmin(segment_distance(p, b, c), segment_distance(p, c, a)));
}

static double box_distance(const box *b, const double p[3])
{
    double sum = 0;
    for (int axis = 0; axis < 3; axis++) {
        double d = fmax(fmax((double)b->lower[axis] - p[axis], p[axis] - (double)b->upper[axis]), 0);
        sum += d * d;
    }
    return sum;
}

double tsr_triangle_tree_nearest(const tsr_triangle_tree *tree, tsr_vec3 point, uint32_t *hint)
{
    const double p[3] = { point.x, point.y, point.z };
    struct { int64_t node; double distance; } stack[64];
    int depth = 0;
    double best = triangle_distance(tree->mesh, *hint, point);
    stack[depth++].node = 1;
    stack[0].distance = box_distance(&tree->boxes[1], p);
    while (depth) {
        int64_t node = stack[--depth].node;
        if (stack[depth].distance >= best) continue;
        if (node >= tree->leaves) {
            int64_t begin = (node - tree->leaves) * LEAF, end = tsr_min64(begin + LEAF, tree->mesh->triangle_count);
            for (int64_t i = begin; i < end; i++) {
                double d = triangle_distance(tree->mesh, tree->order[i], point);
                if (d >= best) continue;
                best = d;
                *hint = tree->order[i];
            }
            continue;
        }
        double one = box_distance(&tree->boxes[2 * node], p), other = box_distance(&tree->boxes[2 * node + 1], p);
        int nearer = other < one; /* on top, so that it is visited first */
        stack[depth].node = 2 * node + !nearer;
        stack[depth++].distance = nearer ? one : other;
        stack[depth].node = 2 * node + nearer;
        stack[depth++].distance = nearer ? other : one;
    }
    return best;
}
