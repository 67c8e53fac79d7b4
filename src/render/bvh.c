/* Building the bounding volume hierarchy: binned surface-area heuristic from the top down (Wald 2007), 16 bins, at most 4 triangles per leaf. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/scene.h"

enum { BINS = 16, LEAF = 4, DEEPEST = 30 }; /* below DEEPEST halves are equal, so that the depth stays under TSR_BVH_STACK */

struct box { float lower[3], upper[3]; };
struct item { struct box box; float centre[3]; uint32_t triangle; };
struct range { uint32_t node, begin, end; int32_t depth; };

static struct box box_empty(void) { return (struct box){ { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } }; }
static void box_point(struct box *b, const float p[3])
{
    for (int k = 0; k < 3; k++) {
        if (p[k] < b->lower[k]) b->lower[k] = p[k];
        if (p[k] > b->upper[k]) b->upper[k] = p[k];
    }
}
static void box_box(struct box *b, const struct box *c)
{
    box_point(b, c->lower);
    box_point(b, c->upper);
}
static float box_area(const struct box *b)
{
    float x = b->upper[0] - b->lower[0], y = b->upper[1] - b->lower[1], z = b->upper[2] - b->lower[2];
    return x >= 0 ? x * y + y * z + z * x : 0;
}

static int bin_of(float c, float low, float scale) { return tsr_mini(BINS - 1, tsr_maxi(0, (int32_t)((c - low) * scale))); }

/* Best split plane of items[begin, end): axis or -1, bin after which it lies. */
static int best_split(const struct item *items, uint32_t begin, uint32_t end, const struct box *centres, int *after)
{
    float best = INFINITY;
    int axis = -1;
    for (int k = 0; k < 3; k++) {
        float extent = centres->upper[k] - centres->lower[k];
        if (!(extent > 0)) continue;
        float scale = (float)BINS / extent, right_area[BINS];
        struct box box[BINS], sum = box_empty();
        uint32_t count[BINS] = { 0 }, left = 0;
        for (int i = 0; i < BINS; i++) box[i] = box_empty();
        for (uint32_t i = begin; i < end; i++) {
            int b = bin_of(items[i].centre[k], centres->lower[k], scale);
            count[b]++;
            box_box(&box[b], &items[i].box);
        }
        for (int i = BINS - 1; i > 0; i--) {
            if (count[i]) box_box(&sum, &box[i]);
            right_area[i] = box_area(&sum);
        }
        sum = box_empty();
        for (int i = 0; i + 1 < BINS; i++) {
            if (count[i]) box_box(&sum, &box[i]);
            left += count[i];
            if (left == 0 || left == end - begin) continue;
            float cost = box_area(&sum) * (float)left + right_area[i + 1] * (float)(end - begin - left);
            if (cost < best) {
                best = cost;
                axis = k;
                *after = i;
            }
        }
    }
    return axis;
}

static uint32_t partition(struct item *items, uint32_t begin, uint32_t end, int axis, float low, float scale, int after)
{
    uint32_t at = begin;
    for (uint32_t i = begin; i < end; i++) {
        if (bin_of(items[i].centre[axis], low, scale) > after) continue;
        struct item swap = items[at];
        items[at++] = items[i];
        items[i] = swap;
    }
    return at;
}

static int64_t build(struct item *items, uint32_t count, tsr_bvh_node *nodes, struct range *stack)
{
    int64_t used = 1;
    int top = 0;
    stack[top++] = (struct range){ 0, 0, count, 0 };
    while (top > 0) {
        struct range r = stack[--top];
        struct box all = box_empty(), centres = box_empty();
        for (uint32_t i = r.begin; i < r.end; i++) {
            box_box(&all, &items[i].box);
            box_point(&centres, items[i].centre);
        }
        tsr_bvh_node *n = &nodes[r.node];
        memcpy(n->lower, all.lower, sizeof n->lower);
        memcpy(n->upper, all.upper, sizeof n->upper);
        if (r.end - r.begin <= LEAF) {
            n->first = r.begin;
            n->count = r.end - r.begin;
            continue;
        }
        int after = 0, axis = r.depth < DEEPEST ? best_split(items, r.begin, r.end, &centres, &after) : -1;
        uint32_t middle = r.begin + (r.end - r.begin) / 2;
        if (axis >= 0)
            middle = partition(items, r.begin, r.end, axis, centres.lower[axis], (float)BINS / (centres.upper[axis] - centres.lower[axis]), after);
        n->first = (uint32_t)used;
        n->count = 0;
        used += 2;
        stack[top++] = (struct range){ n->first, r.begin, middle, r.depth + 1 };
        stack[top++] = (struct range){ n->first + 1, middle, r.end, r.depth + 1 };
    }
    return used;
}

/* Area-weighted normals of the vertices, for a mesh without its own. */
static void vertex_normals(const tsr_mesh *mesh, float *normals)
{
    memset(normals, 0, (size_t)mesh->vertex_count * 3 * sizeof *normals);
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        const uint32_t *i = mesh->triangles + 3 * t;
        const float *a = mesh->vertices + 3 * (int64_t)i[0], *b = mesh->vertices + 3 * (int64_t)i[1], *c = mesh->vertices + 3 * (int64_t)i[2];
        tsr_float3 n = tsr_cross3(tsr_f3(b[0] - a[0], b[1] - a[1], b[2] - a[2]), tsr_f3(c[0] - a[0], c[1] - a[1], c[2] - a[2]));
        for (int v = 0; v < 3; v++) {
            float *to = normals + 3 * (int64_t)i[v];
            to[0] += n.x;
            to[1] += n.y;
            to[2] += n.z;
        }
    }
}

static tsr_status check_mesh(const tsr_mesh *mesh, tsr_box *bounds)
{
    if (mesh->triangle_count == 0) TSR_FAIL(TSR_ERROR_STATE, "mesh has no triangles: there is no surface to draw");
    if (mesh->triangle_count > UINT32_MAX / 2)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "mesh has %lld triangles, expected at most 2^31", (long long)mesh->triangle_count);
    *bounds = (tsr_box){ { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        for (int v = 0; v < 3; v++) {
            uint32_t i = mesh->triangles[3 * t + v];
            if ((int64_t)i >= mesh->vertex_count)
                TSR_FAIL(TSR_ERROR_FORMAT, "mesh: triangle %lld names vertex %u of %lld", (long long)t, i, (long long)mesh->vertex_count);
            const float *p = mesh->vertices + 3 * (int64_t)i;
            if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]))
                TSR_FAIL(TSR_ERROR_ARGUMENT, "mesh: vertex %u is (%g, %g, %g), expected finite numbers", i, (double)p[0], (double)p[1], (double)p[2]);
            bounds->lower =
                (tsr_vec3){ fmin(bounds->lower.x, (double)p[0]), fmin(bounds->lower.y, (double)p[1]), fmin(bounds->lower.z, (double)p[2]) };
            bounds->upper =
                (tsr_vec3){ fmax(bounds->upper.x, (double)p[0]), fmax(bounds->upper.y, (double)p[1]), fmax(bounds->upper.z, (double)p[2]) };
        }
    }
    return TSR_OK;
}

void tsr_bvh_free(tsr_bvh_host *b)
{
    free(b->nodes);
    free(b->corners);
    free(b->normals);
    memset(b, 0, sizeof *b);
}

tsr_status tsr_bvh_build(const tsr_mesh *mesh, tsr_bvh_host *b)
{
    memset(b, 0, sizeof *b);
    TSR_TRY(check_mesh(mesh, &b->bounds));
    tsr_status status = TSR_OK;
    size_t n = (size_t)mesh->triangle_count;
    struct item *items = (struct item *)malloc(n * sizeof *items);
    struct range *stack = (struct range *)malloc((TSR_BVH_STACK + 8) * 2 * sizeof *stack);
    float *own_normals = mesh->normals ? NULL : (float *)malloc((size_t)mesh->vertex_count * 3 * sizeof(float));
    b->nodes = (tsr_bvh_node *)malloc(2 * n * sizeof *b->nodes);
    b->corners = (float *)malloc(n * 9 * sizeof(float));
    b->normals = (float *)malloc(n * 9 * sizeof(float));
    if (!items || !stack || !b->nodes || !b->corners || !b->normals || (!mesh->normals && !own_normals))
        TSR_FAIL_GOTO(TSR_ERROR_MEMORY, end, "bounding volume hierarchy of %lld triangles: out of host memory", (long long)mesh->triangle_count);
    if (own_normals) vertex_normals(mesh, own_normals);
    const float *normals = mesh->normals ? mesh->normals : own_normals;
    b->triangles = mesh->triangle_count;
    b->origin = tsr_vec3_scale(tsr_vec3_add(b->bounds.lower, b->bounds.upper), 0.5);
    const double origin[3] = { b->origin.x, b->origin.y, b->origin.z };
    for (size_t t = 0; t < n; t++) {
        items[t].box = box_empty();
        items[t].triangle = (uint32_t)t;
        for (int v = 0; v < 3; v++) {
            float p[3];
            for (int k = 0; k < 3; k++) p[k] = (float)((double)mesh->vertices[3 * (int64_t)mesh->triangles[3 * t + (size_t)v] + k] - origin[k]);
            box_point(&items[t].box, p);
        }
        for (int k = 0; k < 3; k++) items[t].centre[k] = 0.5f * (items[t].box.lower[k] + items[t].box.upper[k]);
    }
    b->node_count = build(items, (uint32_t)n, b->nodes, stack);
    for (size_t t = 0; t < n; t++) {
        for (int v = 0; v < 3; v++) {
            int64_t vertex = mesh->triangles[3 * (int64_t)items[t].triangle + v];
            tsr_float3 unit = tsr_normalize3(tsr_f3(normals[3 * vertex], normals[3 * vertex + 1], normals[3 * vertex + 2]), tsr_f3(0, 0, 0));
            float *corner = b->corners + 9 * t + 3 * v, *normal = b->normals + 9 * t + 3 * v;
            for (int k = 0; k < 3; k++) {
                corner[k] = (float)((double)mesh->vertices[3 * vertex + k] - origin[k]);
                normal[k] = tsr_get3(unit, k);
            }
        }
    }
end:
    free(items);
    free(stack);
    free(own_normals);
    if (status != TSR_OK) tsr_bvh_free(b);
    return status;
}
