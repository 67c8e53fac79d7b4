/* tests/reconstruct/cloud.h: trees and pages for tests: built on a device, looked at on the host. */
#ifndef TSR_TESTS_LEVELSET_CLOUD_H
#define TSR_TESTS_LEVELSET_CLOUD_H

#include <math.h>

#include "reconstruct/potential_host.h"
#include "support.h"

/* Cube [0, 2^level)^3 in voxels. */
static inline tsr_points_frame cloud_frame(int32_t level)
{
    return (tsr_points_frame){ { 0, 0, 0 }, ldexp(1, level), ldexp(1, TSR_FIXED_BITS - level) };
}

/* Random points on a sphere round the middle of the cube. */
static inline float *sphere_points(int64_t count, double middle, double radius, uint64_t seed)
{
    float *p = (float *)malloc((size_t)count * 12);
    for (int64_t i = 0; i < count; i++) {
        double v[3], length;
        do {
            for (int k = 0; k < 3; k++) v[k] = 2 * test_uniform(&seed) - 1;
            length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        } while (length > 1 || length < 0.01);
        for (int k = 0; k < 3; k++) p[3 * i + k] = (float)(middle + radius * v[k] / length);
    }
    return p;
}

static inline void *to_device(tsr_context *context, const void *host, size_t bytes)
{
    void *device;
    require_ok(tsr_device_allocate(context, bytes ? bytes : 1, &device));
    if (bytes) require_ok(context->backend->upload(context->queue, device, host, bytes));
    return device;
}

static inline tsr_points_tree *tree_on(tsr_context *context, const float *points, const float *radii, int64_t count, const tsr_points_frame *frame,
                                       int32_t depth, int starts)
{
    tsr_points_tree *tree;
    void *device = to_device(context, points, (size_t)count * 12), *device_radii = radii ? to_device(context, radii, (size_t)count * 4) : NULL;
    require_ok(tsr_points_tree_create(context, (const float *)device, (const float *)device_radii, count, frame, depth, starts, &tree));
    tsr_device_release(context, device, (size_t)count * 12);
    if (radii) tsr_device_release(context, device_radii, (size_t)count * 4);
    return tree;
}

/* The nodes on the host: free centre and walk. */
static inline tsr_tree_view tree_view(const tsr_points_tree *tree)
{
    tsr_tree_view v = tree->view;
    tsr_tree_centre *centre = (tsr_tree_centre *)malloc(v.nodes * sizeof *centre);
    tsr_tree_walk *walk = (tsr_tree_walk *)malloc(v.nodes * sizeof *walk);
    require_ok(tree->context->backend->download(tree->context->queue, centre, tree->centre, v.nodes * sizeof *centre));
    require_ok(tree->context->backend->download(tree->context->queue, walk, tree->walk, v.nodes * sizeof *walk));
    v.centre = centre;
    v.walk = walk;
    v.radius = NULL;
    return v;
}
static inline void view_free(tsr_tree_view *v)
{
    free((void *)(uintptr_t)v->centre);
    free((void *)(uintptr_t)v->walk);
}

/* Pages of the tiles with these keys, on the host, of floats or of 16 bits. `balls` NULL: the potential. */
static inline void *filled_pages(const tsr_points_tree *tree, const tsr_potential_params *potential, const tsr_ball_params *balls,
                                 const uint64_t *keys, int32_t count, int32_t log2_edge, int32_t coded)
{
    tsr_context *context = tree->context;
    const size_t bytes = (size_t)count * (size_t)(coded ? 2 : 4) << (3 * log2_edge);
    void *host = malloc(bytes);
    void *device, *device_keys = to_device(context, keys, (size_t)count * sizeof *keys);
    require_ok(tsr_device_allocate(context, bytes, &device));
    const tsr_page_list list = {
        .keys = tsr_keys_wide((const uint64_t *)device_keys), .count = count, .log2_edge = log2_edge, .coded = coded, .pages = (float *)device
    };
    if (potential) require_ok(context->backend->potential->evaluate(context->queue, &tree->view, potential, &list));
    else require_ok(context->backend->potential->balls(context->queue, &tree->view, balls, &list));
    require_ok(context->backend->download(context->queue, host, device, bytes));
    tsr_device_release(context, device, bytes);
    tsr_device_release(context, device_keys, (size_t)count * sizeof *keys);
    return host;
}

static inline float *pages_of(const tsr_points_tree *tree, const tsr_potential_params *potential, const tsr_ball_params *balls, const uint64_t *keys,
                              int32_t count, int32_t log2_edge)
{
    return (float *)filled_pages(tree, potential, balls, keys, count, log2_edge, 0);
}
static inline uint16_t *codes_of(const tsr_points_tree *tree, const tsr_potential_params *potential, const uint64_t *keys, int32_t count,
                                 int32_t log2_edge)
{
    return (uint16_t *)filled_pages(tree, potential, NULL, keys, count, log2_edge, 1);
}

/* Sum over all points in float64: P and its gradient at x. */
static inline double direct_potential(const float *points, int64_t count, const double x[3], double epsilon, double p, double gradient[3])
{
    double sum = 0, g[3] = { 0, 0, 0 };
    for (int64_t i = 0; i < count; i++) {
        double d[3], d2 = epsilon * epsilon;
        for (int k = 0; k < 3; k++) {
            d[k] = x[k] - (double)points[3 * i + k];
            d2 += d[k] * d[k];
        }
        double term = p == 3 ? 1 / d2 : pow(d2, -(p - 1) / 2);
        sum += term;
        for (int k = 0; k < 3; k++) g[k] -= (p - 1) * term / d2 * d[k];
    }
    for (int k = 0; gradient && k < 3; k++) gradient[k] = g[k];
    return sum;
}

static inline double angle_between(const double a[3], const double b[3])
{
    double ab = a[0] * b[0] + a[1] * b[1] + a[2] * b[2], aa = a[0] * a[0] + a[1] * a[1] + a[2] * a[2], bb = b[0] * b[0] + b[1] * b[1] + b[2] * b[2];
    return acos(fmax(-1, fmin(1, ab / sqrt(aa * bb)))) * 57.29577951308232;
}

#endif
