/* algebra/morph.c: surfaces between two surfaces. */
#include "tessera/csg.h"

#include <math.h>

#include "algebra/csg.h"
#include "tessera/edit.h"
#include "tessera/levelset.h"

enum { MOST_DOUBLINGS = 12 };

/* A copy whose field is a distance over another band. */
static tsr_status with_band(const tsr_tiles *tiles, double band, const tsr_progress *progress, tsr_tiles **made)
{
    TSR_TRY(tsr_csg_with_band(tiles, band, made));
    TSR_TRY(tsr_levelset_redistance(*made, 0, progress));
    return TSR_OK;
}

/* A list of distances over the band, of a field with the right zero set. */
static tsr_status settle(const tsr_tiles *tiles, double band, tsr_tiles **result)
{
    tsr_tiles *made = NULL;
    tsr_status status = with_band(tiles, band, NULL, &made);
    if (status == TSR_OK) status = tsr_csg_merge_lists(made, 0, NULL, 0, TSR_CSG_FIRST, 0, result);
    tsr_tiles_destroy(&made);
    return status;
}

/* ---- interpolation --------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status count_conflicts(tsr_csg_work *work, int64_t *conflicts)
{
    tsr_context *context = work->context;
    int64_t n = 0;
    TSR_TRY(context->backend->csg->merge(context->queue, &work->args));
    TSR_TRY(context->backend->download(context->queue, &n, work->args.totals, sizeof n));
    TSR_TRY(context->backend->fill(context->queue, work->args.totals, 0, sizeof n));
    TSR_TRY(tsr_csg_run(work, TSR_CSG_conflict_kernel, n));
    TSR_TRY(context->backend->download(context->queue, conflicts, work->args.totals, sizeof *conflicts));
    return TSR_OK;
}

/* Voxels between both surfaces where the clamped field of either does not say how far its surface is. */
static tsr_status conflicts_between(const tsr_tiles *a, const tsr_tiles *b, int64_t *conflicts)
{
    tsr_tile_state sa, sb;
    tsr_csg_work work;
    TSR_TRY(tsr_tiles_read_state(a, &sa));
    TSR_TRY(tsr_tiles_read_state(b, &sb));
    TSR_TRY(tsr_csg_work_take(a->context, (int64_t)sa.count + sb.count, (int64_t)b->pool.capacity + 1, &work));
    work.args.a = a->pool;
    work.args.b = b->pool;
    tsr_status status = count_conflicts(&work, conflicts);
    tsr_csg_work_drop(&work);
    return status;
}

/* Both lists over a band that is wide enough. */
static tsr_status widen(const tsr_tiles *a, const tsr_tiles *b, double reach, const tsr_progress *progress, tsr_tiles *wide[2])
{
    double band = reach > 0 ? reach : 2 * (double)a->pool.band;
    for (int i = 0; i < MOST_DOUBLINGS; i++) {
        int64_t conflicts = 0;
        TSR_TRY(with_band(a, band, progress, &wide[0]));
        TSR_TRY(with_band(b, band, progress, &wide[1]));
        if (reach > 0) return TSR_OK;
        TSR_TRY(conflicts_between(wide[0], wide[1], &conflicts));
        if (conflicts == 0) return TSR_OK;
        tsr_tiles_destroy(&wide[0]);
        tsr_tiles_destroy(&wide[1]);
        band *= 2;
    }
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "morph: the shapes are farther apart than %g, expected less (or set reach)", band / 2);
}

static tsr_status interpolate(const tsr_tiles *a, const tsr_tiles *b, tsr_tiles *const wide[2], const double *t, int32_t count,
                              const tsr_progress *progress, tsr_tiles **results)
{
    for (int32_t i = 0; i < count; i++) {
        tsr_tiles *mixed = NULL;
        TSR_PROGRESS(progress, (double)i / (double)count, "morph");
        if (t[i] <= 0 || t[i] >= 1) { /* a shape itself: distances made anew move its edges a little */
            TSR_TRY(tsr_tiles_copy(t[i] <= 0 ? a : b, a->context, &results[i]));
            continue;
        }
        TSR_TRY(tsr_tiles_interpolate(wide[0], wide[1], t[i], &mixed));
        const tsr_status status = settle(mixed, (double)a->pool.band, &results[i]);
        tsr_tiles_destroy(&mixed);
        TSR_TRY(status);
    }
    return TSR_OK;
}

/* ---- evolution ---------------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status evolve(const tsr_tiles *a, const tsr_volume *target, const tsr_morph_options *o, const double *t, int32_t count,
                         const tsr_progress *progress, tsr_tiles **results)
{
    tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
    tsr_levelset *levelset = NULL;
    tsr_tiles *work = NULL;
    options.space = o->draft ? TSR_STENCIL_GODUNOV : TSR_STENCIL_WENO5;
    options.time = o->draft ? TSR_TIME_EULER : TSR_TIME_RK3;
    options.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_SPEED_FIELD, .value = -1, .field = { target } };
    options.term_count = 1;
    TSR_TRY(tsr_csg_merge_lists(a, 0, NULL, 0, TSR_CSG_FIRST, 0, &work));
    tsr_status status = tsr_levelset_create(work, &options, &levelset);
    for (int32_t i = 0; i < count && status == TSR_OK; i++) {
        tsr_levelset_report report = TSR_LEVELSET_REPORT;
        double duration = t[i] - (i ? t[i - 1] : 0);
        if (duration > 0) status = tsr_levelset_advance(levelset, duration, progress, &report);
        /* The speed is a distance itself: it changes the slope faster than the reshaping term mends it. */
        if (status == TSR_OK) status = t[i] > 0 ? settle(work, (double)a->pool.band, &results[i]) : tsr_tiles_copy(a, a->context, &results[i]);
    }
    tsr_levelset_destroy(&levelset);
    tsr_tiles_destroy(&work);
    return status;
}

/* ---- both ------------------------------------------------------------------------------------------------------------------------------------------------ */

/* Open meshes of a few triangles make tiles with nothing inside: no band is wide enough to lead anywhere from there. */
static tsr_status require_inside(const tsr_tiles *tiles, int64_t count, int unbounded, const char *which)
{
    tsr_tiles_info info = TSR_TILES_INFO;
    TSR_TRY(tsr_tiles_describe(tiles, &info));
    if (count == 0) TSR_FAIL(TSR_ERROR_STATE, "morph: the %s shape has no surface", which);
    if (info.inside_voxels == 0 && !unbounded) TSR_FAIL(TSR_ERROR_STATE, "morph: the %s shape has no inside", which);
    return TSR_OK;
}

static tsr_status check(const tsr_tiles *a, const tsr_tiles *b, const double *t, int32_t count, const tsr_morph_options *o)
{
    tsr_tile_state sa, sb;
    int unbounded[2];
    TSR_TRY(tsr_csg_require_pair(a, b));
    if (!t || count < 1) TSR_FAIL(TSR_ERROR_ARGUMENT, "morph: no t given");
    if (o->method != TSR_MORPH_INTERPOLATE && o->method != TSR_MORPH_EVOLVE)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "morph: method is %d, expected INTERPOLATE or EVOLVE", (int)o->method);
    for (int32_t i = 0; i < count; i++)
        if (!(t[i] >= (i ? t[i - 1] : 0) && t[i] <= (o->method == TSR_MORPH_EVOLVE ? 1e9 : 1)))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "morph: t[%d] is %g, expected increasing values from 0%s", i, t[i],
                     o->method == TSR_MORPH_EVOLVE ? "" : " to 1");
    if (!(o->reach >= 0 && o->reach < 1e9)) TSR_FAIL(TSR_ERROR_ARGUMENT, "morph: reach is %g, expected 0 or more and less than 1e9", o->reach);
    TSR_TRY(tsr_tiles_read_state(a, &sa));
    TSR_TRY(tsr_tiles_read_state(b, &sb));
    TSR_TRY(tsr_csg_is_unbounded(a, &sa, &unbounded[0]));
    TSR_TRY(tsr_csg_is_unbounded(b, &sb, &unbounded[1]));
    TSR_TRY(require_inside(a, sa.count, unbounded[0], "first"));
    TSR_TRY(require_inside(b, sb.count, unbounded[1], "second"));
    if (o->method == TSR_MORPH_INTERPOLATE && !a->pool.bounded && unbounded[0] != unbounded[1])
        TSR_FAIL(TSR_ERROR_ARGUMENT, "morph: the %s shape is inside far from its surface and the other is not: no surface lies between",
                 unbounded[0] ? "first" : "second");
    return TSR_OK;
}

tsr_status tsr_tiles_morph(const tsr_tiles *a, const tsr_tiles *b, const double *t, int32_t count, const tsr_morph_options *options,
                           const tsr_progress *progress, tsr_tiles **results)
{
    TSR_NEEDS(b, results);
    tsr_morph_options own;
    tsr_tiles *wide[2] = { NULL, NULL };
    tsr_volume *target = NULL;
    tsr_status status;
    for (int32_t i = 0; i < count; i++) results[i] = NULL;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(check(a, b, t, count, &own));
    if (own.method == TSR_MORPH_INTERPOLATE) {
        status = widen(a, b, own.reach, progress, wide);
        if (status == TSR_OK) status = interpolate(a, b, wide, t, count, progress, results);
    } else {
        status = tsr_tiles_field(b, &target);
        if (status == TSR_OK) status = evolve(a, target, &own, t, count, progress, results);
    }
    tsr_tiles_destroy(&wide[0]);
    tsr_tiles_destroy(&wide[1]);
    tsr_volume_destroy(&target);
    for (int32_t i = 0; i < count && status != TSR_OK; i++) tsr_tiles_destroy(&results[i]);
    return status;
}
