/* reconstruct/reconstruct_octree.c: the cube of a reconstruction and the octree of the samples in it, without lone points. */
#include <math.h>

#include "reconstruct/reconstruct.h"

/* Box of points on the context's device; bad: see tsr_points_bounds. */
static tsr_status bounds_of(tsr_context *context, const tsr_points *points, tsr_points_bounds *b)
{
    void *place;
    TSR_TRY(tsr_device_allocate(context, sizeof *b, &place));
    tsr_status status = context->backend->potential->bounds(context->queue, points->positions, points->count, (tsr_points_bounds *)place);
    if (status == TSR_OK) status = context->backend->download(context->queue, b, place, sizeof *b);
    tsr_device_release(context, place, sizeof *b);
    return status;
}

static void frame_of(const tsr_points_bounds *b, double margin, tsr_points_frame *frame, double *diagonal, int32_t *flat)
{
    double extent = 0, size = 0;
    *diagonal = 0;
    *flat = 0;
    for (int k = 0; k < 3; k++) {
        double e = (double)b->upper[k] - (double)b->lower[k];
        extent = fmax(extent, e);
        size = fmax(size, fmax(fabs((double)b->upper[k]), fabs((double)b->lower[k])));
        *diagonal += e * e;
        *flat |= e == 0;
    }
    *diagonal = sqrt(*diagonal);
    if (!(extent > 0)) { /* all in one place: a cube that float32 positions can tell apart */
        extent = size > 0 ? size / 1024 : 1;
        *diagonal = extent;
    }
    frame->side = extent / (1 - 2 * margin);
    frame->scale = (double)TSR_FIXED_ONE / frame->side;
    for (int k = 0; k < 3; k++) frame->lower[k] = 0.5 * ((double)b->lower[k] + (double)b->upper[k]) - 0.5 * frame->side;
}

tsr_status tsr_reconstruct_frame(tsr_context *context, const tsr_points *points, const char *who, int64_t least, double margin,
                                 tsr_points_frame *frame, double *diagonal, int32_t *flat)
{
    tsr_points_bounds b = { { 0 }, { 0 }, 0 };
    if (!points) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: points is NULL", who);
    if (points->count < least)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %lld points, expected at least %lld", who, (long long)points->count, (long long)least);
    const tsr_device on = tsr_points_device(points);
    if (on.kind != context->device.kind || on.index != context->device.index)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the points live on %s:%d, the context on %s:%d: use tsr_points_copy", who, tsr_device_kind_name(on.kind),
                 on.index, tsr_device_kind_name(context->device.kind), context->device.index);
    TSR_TRY(bounds_of(context, points, &b));
    if (b.bad < points->count) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: point %lld is not finite, expected three numbers", who, (long long)b.bad);
    frame_of(&b, margin, frame, diagonal, flat);
    return TSR_OK;
}

tsr_geometry tsr_reconstruct_geometry(const tsr_points_frame *frame, int32_t level, tsr_space space)
{
    const double h = ldexp(frame->side, -level);
    return tsr_geometry_make((tsr_vec3){ h, h, h }, (tsr_vec3){ frame->lower[0] + 0.5 * h, frame->lower[1] + 0.5 * h, frame->lower[2] + 0.5 * h },
                             space);
}

/* Distances and squares of voxels are float32 numbers: within these sizes none of them overflows or loses digits near 0. */
static tsr_status check_size(const tsr_points_frame *frame, const tsr_reconstruct_options *o)
{
    const double weight = o->alpha > 0 ? o->alpha : 0.1;
    const double least = ldexp(1e-17, o->depth), most = ldexp(sqrt(1e18 / weight), o->start_depth) * 0.99;
    if (!(frame->side >= least && frame->side <= most))
        TSR_FAIL(
            TSR_ERROR_UNSUPPORTED,
            "reconstruct: the grid round the points has a side of %g, expected %.3g to %.3g at depth %d: scale the points (another unit of length)",
            frame->side, least, most, o->depth);
    return TSR_OK;
}

enum { OTHERS = 3 }; /* that a point must have near it if the caller does not say */
/* A cube that is larger than what is kept needs by less than this stays: it costs less than half a level. */
#define FITS 0.75

tsr_status tsr_reconstruct_octree(tsr_context *context, const tsr_points *points, const tsr_reconstruct_options *o, tsr_points_frame *frame,
                                  double *diagonal, int32_t *flat, tsr_points_tree **tree)
{
    tsr_points *kept = NULL;
    tsr_points_frame fitted;
    tsr_points_bounds b;
    tsr_status status;
    *tree = NULL;
    TSR_TRY(tsr_reconstruct_frame(context, points, "reconstruct", POINTS_LEAST, o->margin, frame, diagonal, flat));
    const tsr_lone_rule rule = { .others = o->min_neighbours ? o->min_neighbours : OTHERS,
                                 .judged = o->min_neighbours == 0,
                                 .least = tsr_max64(points->count - points->count / 2, POINTS_LEAST) };
    for (fitted = *frame;;) { /* ends: each round but the last leaves out a point */
        const tsr_points *from = kept ? kept : points;
        *frame = fitted;
        TSR_TRY_GOTO(
            tsr_points_tree_create_without_lone(context, from->positions, from->count, frame, o->depth, o->min_neighbours >= 0 ? &rule : NULL, tree),
            done);
        tsr_points_destroy(&kept);
        kept = (*tree)->kept;
        (*tree)->kept = NULL;
        if (!kept) break;
        TSR_TRY_GOTO(bounds_of(context, kept, &b), done);
        frame_of(&b, o->margin, &fitted, diagonal, flat);
        if (fitted.side > FITS * frame->side) break;
        tsr_points_tree_destroy(tree);
    }
    TSR_TRY_GOTO(check_size(frame, o), done);
    (*tree)->lone = points->count - (*tree)->points;
done:
    tsr_points_destroy(&kept);
    if (status != TSR_OK) tsr_points_tree_destroy(tree);
    return status;
}
