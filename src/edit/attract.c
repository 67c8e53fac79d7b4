/* edit/attract.c: the octree over the points of an attraction, and its numbers. */
#include "edit/attract_host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double THETA = 0.5;

/* ---- the octree ------------------------------------------------------------------------------------------------------------------------------ */

/* The cube of the octree round the points and all that lies within the radius and the ring, and the box of tiles that may. */
static tsr_status frame_of(tsr_attract_field *f, const tsr_tile_pool *pool, const tsr_attraction *a, double h, tsr_points_frame *frame,
                           double centre[3])
{
    const double E = (double)(1 << pool->log2_edge);
    double low[3] = { HUGE_VAL, HUGE_VAL, HUGE_VAL }, high[3] = { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL }, extent = 0, coarsest = 0;
    for (int64_t i = 0; i < a->count; i++)
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], a->points[i][k]);
            high[k] = fmax(high[k], a->points[i][k]);
        }
    for (int k = 0; k < 3; k++) coarsest = fmax(coarsest, (double)pool->spacing[k]);
    const double reach = a->radius + TSR_ATTRACT_RING * coarsest;
    for (int k = 0; k < 3; k++) {
        const double edge = E * (double)pool->spacing[k];
        extent = fmax(extent, high[k] - low[k]);
        centre[k] = 0.5 * (low[k] + high[k]);
        const double least = tsr_pool_least(pool, k) + 3, most = tsr_pool_most(pool, k) - 2; /* what lies there has no ring */
        f->low[k] = (int32_t)fmin(fmax(floor((low[k] - reach) / edge), least), most + 1);
        f->high[k] = (int32_t)fmax(fmin(floor((high[k] + reach) / edge), most), least - 1);
    }
    frame->side = extent + 2 * (reach + 2 * E * coarsest);
    frame->scale = (double)TSR_FIXED_ONE / frame->side;
    for (int k = 0; k < 3; k++) frame->lower[k] = -0.5 * frame->side; /* points are given from the centre: float32 has digits for that */
    if (!(frame->side / h < 16777216))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "attraction: the points and their radius span %g voxels, expected fewer than 16777216", frame->side / h);
    return TSR_OK;
}

static tsr_status make_params(tsr_attract_field *f, const tsr_tile_pool *pool, const tsr_attraction *a, double h, const tsr_points_frame *frame,
                              const double centre[3])
{
    const float *spacing = pool->spacing;
    tsr_attract_params *p = &f->params;
    const double side = frame->side / h; /* from here on in units of the smallest spacing */
    double half2 = 0;
    int32_t level = 2;
    while (level < TSR_TREE_DEPTH_MOST && ldexp(side, -level) > 0.5) level++; /* cells of half a voxel are points to the force */
    const double cell = ldexp(side, -level);
    TSR_TRY(tsr_potential_prepare(a->power > 0 ? a->power : 3, (a->epsilon > 0 ? a->epsilon / h : 1) / cell, THETA, level, &p->potential));
    for (int k = 0; k < 3; k++) {
        p->lower[k] = centre[k] + frame->lower[k];
        p->spacing[k] = (double)spacing[k];
        p->step[k] = (float)((double)spacing[k] / h);
        p->half[k] = 1.5f * p->step[k];
        half2 += (double)p->half[k] * (double)p->half[k];
    }
    p->scale = frame->scale;
    p->potential.unit = (float)(side / (double)TSR_FIXED_ONE);
    p->potential.epsilon2 = (float)((double)p->potential.epsilon2 * cell * cell);
    for (int d = 0; d <= TSR_TREE_DEPTH_MOST; d++) { /* theta as it is: what differs by the power there is for surfaces in the far field */
        const double far = ldexp(side, -d) / THETA + sqrt(half2);
        p->potential.far2[d] = (float)(far * far);
    }
    const double radius = a->radius / h;
    p->radius2 = (float)(radius * radius);
    p->coarse = level > 1 ? level - 1 : 1;
    p->spread = (float)(0.75 * ldexp(cell, 1) * ldexp(cell, 1) * 1.001);
    return TSR_OK;
}

tsr_status tsr_attract_open(tsr_context *context, const tsr_tile_pool *pool, const tsr_attraction *a, tsr_attract_field *f)
{
    const double h = (double)tsr_minf(pool->spacing[0], tsr_minf(pool->spacing[1], pool->spacing[2]));
    const size_t bytes = (size_t)a->count * 3 * sizeof(float);
    tsr_points_frame frame;
    double centre[3];
    void *device;
    *f = (tsr_attract_field){ .context = context, .log2_edge = pool->log2_edge };
    TSR_TRY(frame_of(f, pool, a, h, &frame, centre));
    TSR_TRY(make_params(f, pool, a, h, &frame, centre));
    float *positions = (float *)malloc(bytes);
    if (!positions) TSR_FAIL(TSR_ERROR_MEMORY, "attraction: out of memory for %lld points", (long long)a->count);
    for (int64_t i = 0; i < a->count; i++)
        for (int k = 0; k < 3; k++) positions[3 * i + k] = (float)(a->points[i][k] - centre[k]);
    tsr_status status = tsr_device_allocate(context, bytes, &device);
    if (status == TSR_OK) {
        status = context->backend->upload(context->queue, device, positions, bytes);
        if (status == TSR_OK)
            status = tsr_points_tree_create(context, (const float *)device, NULL, a->count, &frame, TSR_TREE_DEPTH_MOST, 0, &f->tree);
        tsr_device_release(context, device, bytes);
    }
    free(positions);
    return status;
}

void tsr_attract_close(tsr_attract_field *f) { tsr_points_tree_destroy(&f->tree); }

tsr_status tsr_attract_tiles_within(const tsr_attract_field *f, const uint64_t *keys, int64_t count, uint8_t *within)
{
    tsr_context *context = f->context;
    const size_t bytes = (size_t)count * (sizeof *keys + 1);
    void *device;
    if (count == 0) return TSR_OK;
    TSR_TRY(tsr_device_allocate(context, bytes, &device));
    uint64_t *own = (uint64_t *)device;
    uint8_t *found = (uint8_t *)(own + count);
    tsr_status status = context->backend->upload(context->queue, own, keys, (size_t)count * sizeof *keys);
    if (status == TSR_OK) status = context->backend->attract->within(context->queue, &f->tree->view, &f->params, own, count, f->log2_edge, found);
    if (status == TSR_OK) status = context->backend->download(context->queue, within, found, (size_t)count);
    tsr_device_release(context, device, bytes);
    return status;
}
