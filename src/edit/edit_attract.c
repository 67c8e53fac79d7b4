/* edit/edit_attract.c: attraction and repulsion by points (docs/theory/editing.md 7): an octree over the points, the tiles within reach of one, their
 * velocities in pages that are kept from piece to piece, and the solver on these tiles and a ring as a list of their own.
 *
 * Piece by piece of at most a voxel of motion, so that neither the surface leaves the tiles nor the cut edge of the part is felt within the radius; after
 * each the voxels within the radius go back into the object as a patch. Velocities that come together steepen the field: the reshaping runs as fast as
 * they do, and in the end the voxels within the radius become a distance again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "edit/attract_host.h"
#include "edit/edit.h"
#include "solver/engine_object.h"

enum { CUDA_CHUNK = 16384, CPU_CHUNK = 512 /* tiles between looks at the progress */, SWEEPS = 4 /* a voxel */ };
static const double PIECE_MOST = 4; /* time of a piece: rescaling travels a voxel per unit of time, or as far as the surface */

/* Velocities of tiles with sorted keys. */
struct cache {
    int64_t count;
    uint64_t *host, *keys; /* keys on the host and on the device */
    uint32_t *pages;
};

struct stroke {
    tsr_editor *editor;
    tsr_context *context;
    const tsr_attraction *a;
    tsr_progress_part progress; /* now */
    int32_t slot;
    tsr_attract_field field;
    struct cache cache;
};

/* ---- checks -------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status check_attraction(const tsr_attraction *a, double h)
{
    if (!a || !a->points) TSR_FAIL(TSR_ERROR_ARGUMENT, "attraction: no points");
    if (a->count < 1 || a->count > INT32_MAX)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "attraction: %lld points, expected 1 to %d", (long long)a->count, INT32_MAX);
    for (int64_t i = 0; i < 3 * a->count; i++)
        if (!isfinite(a->points[i / 3][i % 3])) TSR_FAIL(TSR_ERROR_ARGUMENT, "attraction: point %lld is not finite", (long long)(i / 3));
    if (!(a->radius > 0 && a->radius < 1e6))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "attraction: radius is %g, expected a positive number below 1e6", a->radius);
    if (!isfinite(a->speed)) TSR_FAIL(TSR_ERROR_ARGUMENT, "attraction: the speed is not finite");
    TSR_TRY(tsr_edit_check_length("time of the attraction", a->time));
    if (!(a->power == 0 || (a->power > 1 && a->power <= 10)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "attraction: power is %g, expected 0 (which is 3) or more than 1 and at most 10", a->power);
    if (!(a->epsilon == 0 || (a->epsilon >= 0.01 * h && a->epsilon <= 1000 * h)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "attraction: epsilon is %g, expected 0 (a voxel) or %g to %g (0.01 to 1000 voxels)", a->epsilon, 0.01 * h,
                 1000 * h);
    if (!(a->tolerance >= 0 && isfinite(a->tolerance)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "attraction: tolerance is %g, expected 0 (none) or a positive number", a->tolerance);
    return TSR_OK;
}

/* ---- tiles within reach ------------------------------------------------------------------------------------------------------------------------ */

/* The stored tiles of the part that moves, all of its box, and those of them that lie within the radius, sorted (malloc, both). */
static tsr_status tiles_within(const struct stroke *s, uint64_t **part, int64_t *parts, uint64_t **region, int64_t *regions)
{
    uint64_t *keys = NULL;
    int64_t count = 0;
    *part = *region = NULL;
    *parts = *regions = 0;
    for (int k = 0; k < 3; k++)
        if (s->field.low[k] > s->field.high[k]) return TSR_OK;
    TSR_TRY(tsr_csg_box_keys(s->editor->object[s->slot].tiles, s->field.low, s->field.high, &keys, &count));
    uint8_t *within = (uint8_t *)malloc((size_t)count + 1);
    uint64_t *inner = (uint64_t *)malloc(((size_t)count + 1) * sizeof *inner);
    tsr_status status = within && inner ? TSR_OK : TSR_FAILED(TSR_ERROR_MEMORY, "attraction: out of memory for %lld tiles", (long long)count);
    if (status == TSR_OK) status = tsr_attract_tiles_within(&s->field, keys, count, within);
    for (int64_t i = 0; i < count && status == TSR_OK; i++)
        if (within[i]) inner[(*regions)++] = keys[i];
    *parts = count;
    free(within);
    if (status != TSR_OK) {
        free(keys);
        free(inner);
        return status;
    }
    *part = keys;
    *region = inner;
    return TSR_OK;
}

/* The tiles of the region and those that the part has now within the radius, sorted (malloc). */
static tsr_status tiles_to_patch(const struct stroke *s, const tsr_tiles *part, const uint64_t *region, int64_t regions, uint64_t **both,
                                 int64_t *count)
{
    uint64_t *after;
    int64_t n;
    TSR_TRY(tsr_csg_keys(part, &after, &n));
    uint8_t *within = (uint8_t *)malloc((size_t)n + 1);
    *both = (uint64_t *)malloc((size_t)(n + regions + 1) * sizeof **both);
    tsr_status status =
        within && *both ? TSR_OK : TSR_FAILED(TSR_ERROR_MEMORY, "attraction: out of memory for %lld tiles", (long long)(n + regions));
    if (status == TSR_OK) status = tsr_attract_tiles_within(&s->field, after, n, within);
    if (status == TSR_OK) {
        *count = regions;
        memcpy(*both, region, (size_t)regions * sizeof **both);
        for (int64_t i = 0; i < n; i++)
            if (within[i]) (*both)[(*count)++] = after[i];
        *count = tsr_keys_sort_unique(*both, *count);
    } else {
        free(*both);
        *both = NULL;
    }
    free(within);
    free(after);
    return status;
}

/* ---- velocities ------------------------------------------------------------------------------------------------------------------------------------ */

static void cache_drop(const struct stroke *s, struct cache *cache)
{
    const size_t page = sizeof(uint32_t) << 3 * s->editor->model->pool.log2_edge;
    if (cache->keys) tsr_device_release(s->context, cache->keys, (size_t)cache->count * sizeof *cache->keys);
    if (cache->pages) tsr_device_release(s->context, cache->pages, (size_t)cache->count * page);
    free(cache->host);
    memset(cache, 0, sizeof *cache);
}

static tsr_attract_cache cache_seen(const struct cache *cache) { return (tsr_attract_cache){ cache->keys, cache->pages, (int32_t)cache->count }; }

static tsr_status report(const struct stroke *s, double fraction, const char *stage)
{
    TSR_PROGRESS(s->progress.whole, tsr_progress_at(&s->progress, fraction), stage);
    return TSR_OK;
}

static tsr_status fill_fresh(const struct stroke *s, struct cache *fresh)
{
    tsr_context *context = s->context;
    const int32_t log2_edge = s->editor->model->pool.log2_edge, chunk = context->device.kind == TSR_DEVICE_CUDA ? CUDA_CHUNK : CPU_CHUNK;
    const tsr_attract_cache old = cache_seen(&s->cache);
    TSR_TRY(context->backend->upload(context->queue, fresh->keys, fresh->host, (size_t)fresh->count * sizeof *fresh->keys));
    for (int64_t first = 0; first < fresh->count; first += chunk) {
        const tsr_page_list list = { .keys = tsr_keys_wide(fresh->keys + first),
                                     .count = (int32_t)tsr_min64(chunk, fresh->count - first),
                                     .log2_edge = log2_edge,
                                     .pages = (float *)(void *)(fresh->pages + (first << 3 * log2_edge)) };
        TSR_TRY(report(s, (double)first / (double)fresh->count, "the potential of the points"));
        TSR_TRY(context->backend->attract->fill(context->queue, &s->field.tree->view, &s->field.params, &old, &list));
    }
    return TSR_OK;
}

/* The cache becomes that of these tiles (sorted keys, host); what it has already is copied. */
static tsr_status cache_take(struct stroke *s, const uint64_t *keys, int64_t count)
{
    struct cache *cache = &s->cache, fresh = { .count = count };
    const size_t page = sizeof(uint32_t) << 3 * s->editor->model->pool.log2_edge;
    if (count == cache->count && (count == 0 || !memcmp(keys, cache->host, (size_t)count * sizeof *keys))) return TSR_OK;
    if (count == 0) {
        cache_drop(s, cache);
        return TSR_OK;
    }
    fresh.host = (uint64_t *)malloc((size_t)count * sizeof *keys);
    tsr_status status = fresh.host ? TSR_OK : TSR_FAILED(TSR_ERROR_MEMORY, "attraction: out of memory for %lld tiles", (long long)count);
    if (status == TSR_OK) memcpy(fresh.host, keys, (size_t)count * sizeof *keys);
    if (status == TSR_OK) status = tsr_device_allocate(s->context, (size_t)count * sizeof *keys, (void **)&fresh.keys);
    if (status == TSR_OK) status = tsr_device_allocate(s->context, (size_t)count * page, (void **)&fresh.pages);
    if (status == TSR_OK) status = fill_fresh(s, &fresh);
    cache_drop(s, status == TSR_OK ? cache : &fresh);
    if (status == TSR_OK) *cache = fresh;
    return status;
}

/* ---- pieces ---------------------------------------------------------------------------------------------------------------------------------------------- */

/* The provider of the solver. */
static tsr_status fill_pages(void *user, tsr_queue *queue, const tsr_tile_pool *pool, int all)
{
    const struct stroke *s = (const struct stroke *)user;
    const tsr_page_list list = tsr_pages_of_pool(pool, all);
    const tsr_attract_cache cache = cache_seen(&s->cache);
    return s->context->backend->attract->fill(queue, &s->field.tree->view, &s->field.params, &cache, &list);
}

static tsr_status move_part(struct stroke *s, tsr_tiles *part, double duration)
{
    const tsr_payload_provider provider = { .fill = fill_pages, .user = s }; /* not recorded: a piece has a few steps */
    const tsr_progress progress = { tsr_progress_of_part, &s->progress };
    tsr_levelset_options options;
    tsr_levelset *solver = NULL;
    tsr_edit_flow_options(s->editor, &options);
    options.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_PULL, .value = s->a->speed };
    options.term_count = 1;
    options.reshape_weight = tsr_edit_reshape_weight(s->editor->object[s->slot].tiles, fabs(s->a->speed));
    TSR_TRY(tsr_levelset_create(part, &options, &solver));
    tsr_status status = tsr_levelset_set_payload(solver, &provider);
    if (status == TSR_OK) status = tsr_levelset_advance(solver, duration, &progress, NULL);
    tsr_levelset_destroy(&solver);
    return status;
}

/* The voxels within the radius take the values of the part; the cache has the pages of exactly these tiles. */
static tsr_status blend(const struct stroke *s, const tsr_tiles *part, const tsr_patch *patch, tsr_csg_work *work, float *device, float *change)
{
    tsr_context *context = s->context;
    tsr_tile_state state;
    const int64_t n = patch->count;
    TSR_TRY(tsr_tiles_read_state(part, &state));
    work->args.a = part->pool;
    TSR_TRY(context->backend->copy(context->queue, work->args.keys, s->cache.keys, (size_t)n * sizeof *s->cache.keys));
    work->args.pages = patch->pages;
    TSR_TRY(tsr_csg_run(work, TSR_CSG_locate_moved_kernel, n));
    const tsr_attract_blend job = { .part = part->pool.phi[state.phi],
                                    .ids = work->args.first,
                                    .words = s->cache.pages,
                                    .pages = patch->pages,
                                    .change = device,
                                    .count = (int32_t)n,
                                    .log2_edge = part->pool.log2_edge,
                                    .band = part->pool.band };
    TSR_TRY(context->backend->attract->blend(context->queue, &job));
    if (s->a->tolerance > 0) TSR_TRY(context->backend->download(context->queue, change, device, (size_t)n * sizeof *change));
    return TSR_OK;
}

/* *most: the largest change of a value in the band. */
static tsr_status put_back(struct stroke *s, const tsr_tiles *part, double *most)
{
    const int64_t n = s->cache.count;
    tsr_patch patch;
    tsr_csg_work work;
    void *device;
    float *change = (float *)malloc((size_t)n * sizeof *change);
    if (!change) TSR_FAIL(TSR_ERROR_MEMORY, "attraction: out of memory for %lld tiles", (long long)n);
    tsr_status status = tsr_patch_take(s->editor->object[s->slot].tiles, s->cache.host, n, &patch);
    if (status == TSR_OK) {
        status = tsr_device_allocate(s->context, (size_t)n * sizeof *change, &device);
        if (status == TSR_OK) {
            status = tsr_csg_work_take(s->context, n, 0, &work);
            if (status == TSR_OK) {
                status = blend(s, part, &patch, &work, (float *)device, change);
                tsr_csg_work_drop(&work);
            }
            tsr_device_release(s->context, device, (size_t)n * sizeof *change);
        }
        if (status == TSR_OK) status = tsr_edit_patch(s->editor, s->slot, &patch);
        tsr_patch_drop(&patch);
    }
    *most = 0;
    for (int64_t i = 0; i < n && status == TSR_OK && s->a->tolerance > 0; i++) *most = fmax(*most, (double)change[i]);
    free(change);
    return status;
}

/* Distances anew as far as the ring allows, which keep the zero set also where the field is steep, and a voxel of sweeps of fifth order over them. */
static tsr_status reshape_part(struct stroke *s, tsr_tiles *part)
{
    const double band = (double)part->pool.band, most = (TSR_ATTRACT_RING - 1) * tsr_list_smallest_spacing(part);
    const tsr_progress progress = { tsr_progress_of_part, &s->progress };
    tsr_tile_state state;
    TSR_TRY(tsr_tiles_read_state(part, &state));
    if (state.count == 0) return TSR_OK;
    TSR_TRY(tsr_levelset_redistance(part, band > most ? most : 0, &progress));
    TSR_TRY(tsr_engine_reinitialise(part, TSR_STENCIL_WENO5, TSR_SIGN_SUBCELL, SWEEPS, NULL));
    return TSR_OK;
}

/* The tiles within reach as a list of their own: moved for `duration`, or (0) made a distance; and put back. */
static tsr_status one_piece(struct stroke *s, double duration, double *change)
{
    uint64_t *near = NULL, *region = NULL, *both = NULL;
    int64_t parts, regions, count = 0;
    tsr_tiles *part = NULL;
    *change = 0;
    TSR_TRY(tiles_within(s, &near, &parts, &region, &regions));
    tsr_status status = TSR_OK;
    if (regions > 0) {
        const double from = s->progress.from, share = s->progress.share; /* pages are most of the work of the first piece, and of no other */
        s->progress.share = 0.4 * share;
        status = cache_take(s, region, regions);
        s->progress.from = from + 0.4 * share;
        s->progress.share = 0.5 * share;
        if (status == TSR_OK) status = tsr_csg_part(s->editor->object[s->slot].tiles, near, parts, s->field.low, s->field.high, &part);
        if (status == TSR_OK) status = duration > 0 ? move_part(s, part, duration) : reshape_part(s, part);
        if (status == TSR_OK) status = tiles_to_patch(s, part, region, regions, &both, &count);
        s->progress.from = from + 0.9 * share;
        s->progress.share = 0.1 * share;
        if (status == TSR_OK) status = cache_take(s, both, count);
        if (status == TSR_OK) status = put_back(s, part, change);
        tsr_tiles_destroy(&part);
    }
    free(near);
    free(region);
    free(both);
    return status;
}

static tsr_status run(struct stroke *s, double *reached)
{
    const tsr_attraction *a = s->a;
    const double h = tsr_list_smallest_spacing(s->editor->object[s->slot].tiles), tree = 0.1, moved = 0.9;
    const double pieces = ceil(fmax(a->time * fabs(a->speed) / h, a->time / PIECE_MOST));
    double change;
    if (!(pieces < 1e6)) TSR_FAIL(TSR_ERROR_ARGUMENT, "attraction: it moves the surface by %g voxels, expected less than a million", pieces);
    s->progress.share = tree;
    TSR_TRY(report(s, 0, "the octree of the points"));
    TSR_TRY(tsr_attract_open(s->context, &s->editor->object[s->slot].tiles->pool, a, &s->field));
    for (double i = 0; i < pieces; i++) {
        s->progress.from = tree + (moved - tree) * i / pieces;
        s->progress.share = (moved - tree) / pieces;
        TSR_TRY(report(s, 0, "attraction"));
        TSR_TRY(one_piece(s, a->time / pieces, &change));
        *reached = a->time * (i + 1) / pieces;
        if (a->tolerance > 0 && change < a->tolerance) break;
    }
    if (!(*reached > 0 && a->speed != 0)) return TSR_OK;
    s->progress.from = moved;
    s->progress.share = 1 - moved;
    TSR_TRY(one_piece(s, 0, &change));
    return TSR_OK;
}

tsr_status tsr_editor_attract(tsr_editor *editor, const char *object, const tsr_attraction *attraction, const tsr_progress *progress)
{
    TSR_NEEDS(editor, attraction);
    struct stroke s = { .editor = editor, .a = attraction, .progress = { .whole = progress, .stage = "attraction" } };
    double reached = 0;
    TSR_TRY(tsr_edit_find(editor, object, &s.slot));
    TSR_TRY(check_attraction(attraction, tsr_list_smallest_spacing(editor->object[s.slot].tiles)));
    s.context = editor->context;
    tsr_edit_begin(editor);
    tsr_status status = run(&s, &reached);
    if (status == TSR_OK) status = tsr_edit_finish(editor, s.slot);
    if (status != TSR_OK) tsr_edit_abandon(editor);
    else if (attraction->reached) *attraction->reached = reached;
    cache_drop(&s, &s.cache);
    tsr_attract_close(&s.field);
    return status;
}
