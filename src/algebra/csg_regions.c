/* algebra/csg_regions.c: what selections do to tile lists: their tiles, severing at their faces, what is in and what is out (docs/theory/editing.md 4). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algebra/csg_search.h"
#include "algebra/selection.h"
#include "primitives/primitives_ops.h"

/* A selection on the device: its corners are a copy there. */
struct placed {
    tsr_context *context;
    tsr_selection_plan plan;
    tsr_selection_field field; /* with the corners on the device */
    void *corners;
    size_t bytes;
};

static void drop_placed(struct placed *p)
{
    tsr_device_release(p->context, p->corners, p->bytes);
    tsr_selection_drop(&p->plan);
}

/* 1 if the inside has no end. */
tsr_status tsr_csg_is_unbounded(const tsr_tiles *tiles, const tsr_tile_state *state, int *unbounded)
{
    tsr_context *context = tiles->context;
    const tsr_tile_pool *pool = &tiles->pool;
    uint32_t id, behind = (uint32_t)state->background;
    if (state->count > 0) { /* behind the last tile of a row: any will do */
        TSR_TRY(context->backend->download(context->queue, &id, pool->id[state->list] + state->count - 1, sizeof id));
        TSR_TRY(context->backend->download(context->queue, &behind, pool->neighbours + (size_t)id * TSR_NEIGHBOUR_ROW + 14, sizeof behind));
    }
    *unbounded = behind == TSR_TILE_INSIDE;
    return TSR_OK;
}

/* With a margin that a wall of `reach` does not leave. */
static tsr_status place(const tsr_tiles *tiles, const tsr_tile_state *state, const tsr_selection *selection, double reach, struct placed *p)
{
    tsr_context *context = tiles->context;
    tsr_selection_place at;
    int64_t low[3], high[3], count = 0;
    int unbounded = 1;
    memset(p, 0, sizeof *p);
    p->context = context;
    at.voxel = (double)tsr_minf(tiles->pool.spacing[0], tsr_minf(tiles->pool.spacing[1], tiles->pool.spacing[2]));
    TSR_TRY(tsr_selection_prepare(selection, NULL, &p->plan));
    if (p->plan.most > 4096 * at.voxel) { /* so large that it matters where the list lies, which takes a look at all keys */
        tsr_selection_drop(&p->plan);
        TSR_TRY(tsr_csg_is_unbounded(tiles, state, &unbounded));
        TSR_TRY(tsr_csg_extent(tiles, low, high, &count));
        at.bounded = !unbounded && count > 0;
        for (int k = 0; k < 3; k++) {
            const double tile = (double)tiles->pool.spacing[k] * (double)(1 << tiles->pool.log2_edge), margin = 1024 * at.voxel + 4 * (tile + reach);
            at.low[k] = count > 0 ? (double)low[k] * tile - margin : 0;
            at.high[k] = count > 0 ? (double)(high[k] + 1) * tile + margin : 0;
        }
        TSR_TRY(tsr_selection_prepare(selection, &at, &p->plan));
    }
    p->field = p->plan.field;
    if (!p->plan.corners) return TSR_OK;
    p->bytes = (size_t)p->field.count * TSR_CORNER * sizeof(float);
    tsr_status status = tsr_device_allocate(context, p->bytes, &p->corners);
    if (status == TSR_OK) status = context->backend->upload(context->queue, p->corners, p->plan.corners, p->bytes);
    p->field.corners = (const float *)p->corners;
    if (status != TSR_OK) drop_placed(p);
    return status;
}

/* ---- tiles -------------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status check_region(const tsr_box *r)
{
    const double low[3] = { r->lower.x, r->lower.y, r->lower.z }, high[3] = { r->upper.x, r->upper.y, r->upper.z };
    for (int k = 0; k < 3; k++)
        if (!(low[k] <= high[k])) TSR_FAIL(TSR_ERROR_ARGUMENT, "region: %g to %g along %c, expected lower <= upper", low[k], high[k], "xyz"[k]);
    return TSR_OK;
}

/* First and last tile with a voxel in the box (which may be infinite); 0 if there is none. */
static int tiles_of_box(const tsr_tile_pool *pool, const double a[3], const double b[3], int32_t low[3], int32_t high[3])
{
    const double most = (double)TSR_KEY_BIAS - 1;
    for (int k = 0; k < 3; k++) {
        double h = (double)pool->spacing[k], first = ceil(a[k] / h), last = floor(b[k] / h), edge = (double)(1 << pool->log2_edge);
        if (first > last) return 0;
        low[k] = (int32_t)fmin(fmax(floor(first / edge), -most), most + 1);
        high[k] = (int32_t)fmax(fmin(floor(last / edge), most), -most - 1);
        if (low[k] > high[k]) return 0;
    }
    return 1;
}

static void give_coordinates(const uint64_t *keys, int64_t n, int32_t (*coordinates)[3], int64_t room)
{
    for (int64_t i = 0; coordinates && i < tsr_min64(n, room); i++) {
        coordinates[i][0] = tsr_key_x(keys[i]);
        coordinates[i][1] = tsr_key_y(keys[i]);
        coordinates[i][2] = tsr_key_z(keys[i]);
    }
}

tsr_status tsr_tiles_select(const tsr_tiles *tiles, const tsr_box *region, int32_t (*coordinates)[3], int64_t room, int64_t *count)
{
    TSR_NEEDS(tiles, region, count);
    uint64_t *keys = NULL;
    int64_t n = 0;
    int32_t low[3], high[3];
    *count = 0;
    TSR_TRY(tsr_csg_require(tiles, "selection"));
    TSR_TRY(check_region(region));
    const double a[3] = { region->lower.x, region->lower.y, region->lower.z }, b[3] = { region->upper.x, region->upper.y, region->upper.z };
    if (tiles_of_box(&tiles->pool, a, b, low, high)) TSR_TRY(tsr_csg_box_keys(tiles, low, high, &keys, &n));
    give_coordinates(keys, n, coordinates, room);
    *count = n;
    free(keys);
    return TSR_OK;
}

/* Those of work->args.keys[0 .. candidates) that have a voxel in the selection: *count, and their keys (malloc) if `found` is not NULL. */
static tsr_status sift(tsr_csg_work *work, int64_t candidates, uint64_t **found, int64_t *count)
{
    tsr_context *context = work->context;
    tsr_csg_args *args = &work->args;
    const tsr_primitives_ops *primitives = context->backend->primitives;
    const size_t keys = (size_t)candidates * sizeof(uint64_t), bytes = keys + primitives->scan_bytes(candidates);
    uint32_t last[2];
    void *memory;
    TSR_TRY(context->backend->fill(context->queue, args->words, 0, (size_t)candidates * sizeof *args->words));
    TSR_TRY(tsr_csg_run(work, TSR_CSG_selection_near_kernel, candidates));
    TSR_TRY(tsr_csg_run(work, TSR_CSG_selection_kernel, candidates));
    TSR_TRY(tsr_device_allocate(context, bytes, &memory));
    args->tallies = (uint64_t *)memory;
    tsr_status status = primitives->scan(context->queue, 0, TSR_U32, args->words, candidates, TSR_U32, args->flags, (char *)memory + keys);
    if (status == TSR_OK) status = context->backend->download(context->queue, &last[0], args->flags + candidates - 1, sizeof *last);
    if (status == TSR_OK) status = context->backend->download(context->queue, &last[1], args->words + candidates - 1, sizeof *last);
    if (status == TSR_OK) *count = (int64_t)last[0] + last[1];
    if (status == TSR_OK && found && *count > 0) {
        *found = (uint64_t *)malloc((size_t)*count * sizeof **found);
        if (!*found) status = TSR_FAILED(TSR_ERROR_MEMORY, "selection: out of memory for %lld tiles", (long long)*count);
        if (status == TSR_OK) status = tsr_csg_run(work, TSR_CSG_selection_keys_kernel, candidates);
        if (status == TSR_OK) status = context->backend->download(context->queue, *found, args->tallies, (size_t)*count * sizeof **found);
    }
    tsr_device_release(context, memory, bytes);
    args->tallies = NULL;
    return status;
}

/* Candidates: the tiles of the bounding box, by binary search, or where there is none all tiles of the list. */
static tsr_status select_tiles(const tsr_tiles *tiles, const struct placed *p, uint64_t **found, int64_t *count)
{
    tsr_context *context = tiles->context;
    const int bounded = isfinite(p->plan.low[0]);
    tsr_tile_state state;
    tsr_csg_work work;
    uint64_t *keys = NULL;
    int64_t n;
    int32_t low[3], high[3];
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    n = state.count;
    if (bounded && !tiles_of_box(&tiles->pool, p->plan.low, p->plan.high, low, high)) return TSR_OK;
    if (bounded) TSR_TRY(tsr_csg_box_keys(tiles, low, high, &keys, &n));
    if (n == 0) {
        free(keys);
        return TSR_OK;
    }
    tsr_status status = tsr_csg_work_take(context, n, 0, &work);
    if (status == TSR_OK) {
        work.args.a = tiles->pool;
        work.args.selection = p->field;
        if (bounded) status = context->backend->upload(context->queue, work.args.keys, keys, (size_t)n * sizeof *keys);
        else status = tsr_csg_run(&work, TSR_CSG_locate_entry_kernel, n);
        if (status == TSR_OK) status = sift(&work, n, found, count);
        tsr_csg_work_drop(&work);
    }
    free(keys);
    return status;
}

/* An oriented box that is not turned is a box. */
static int plain_box(const tsr_selection *s, tsr_box *box)
{
    const int turned = s->turn.x != 0 || s->turn.y != 0 || s->turn.z != 0;
    if (s->kind == TSR_SELECTION_BOX) *box = s->box;
    else if (s->kind == TSR_SELECTION_OBOX && !turned)
        *box = (tsr_box){ { s->centre.x - s->half.x, s->centre.y - s->half.y, s->centre.z - s->half.z },
                          { s->centre.x + s->half.x, s->centre.y + s->half.y, s->centre.z + s->half.z } };
    else return 0;
    return 1;
}

tsr_status tsr_tiles_select_in(const tsr_tiles *tiles, const tsr_selection *selection, int32_t (*coordinates)[3], int64_t room, int64_t *count)
{
    TSR_NEEDS(tiles, selection, count);
    struct placed p;
    tsr_box box;
    tsr_tile_state state;
    uint64_t *keys = NULL;
    *count = 0;
    TSR_TRY(tsr_csg_require(tiles, "selection"));
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    TSR_TRY(place(tiles, &state, selection, 0, &p)); /* checks */
    tsr_status status = TSR_OK;
    if (plain_box(selection, &box)) {
        status = tsr_tiles_select(tiles, &box, coordinates, room, count);
    } else {
        status = select_tiles(tiles, &p, coordinates && room > 0 ? &keys : NULL, count);
        if (status == TSR_OK && keys) give_coordinates(keys, *count, coordinates, room);
    }
    free(keys);
    drop_placed(&p);
    return status;
}

/* ---- carving -------------------------------------------------------------------------------------------------------------------------------------- */

static float least_of_faces(const void *surface, const float x[3])
{
    const tsr_selection_field *field = (const tsr_selection_field *)surface;
    return tsr_maxf(tsr_absf(tsr_selection_distance(field, x)) - tsr_selection_slack(field, x), 0.0f);
}

/* Where the wall can meet the inside: the box of the faces, in that of the stored tiles if the inside has an end. first > last: nowhere. */
static tsr_status box_of_wall(const tsr_tiles *tiles, const tsr_tile_state *state, const struct placed *p, tsr_tile_search *s)
{
    const tsr_tile_pool *pool = &tiles->pool;
    const double limit = (double)TSR_KEY_BIAS - 2;
    int unbounded = 0;
    TSR_TRY(tsr_csg_is_unbounded(tiles, state, &unbounded));
    if (unbounded && !isfinite(p->plan.low[0]))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                 "selection: a lasso or half space without an end on a surface whose inside has none, expected one of both with an end");
    for (int k = 0; k < 3; k++) {
        const double tile = (double)pool->spacing[k] * (double)(1 << pool->log2_edge);
        const double a = floor((p->plan.low[k] - (double)s->reach) / tile) - 1, b = floor((p->plan.high[k] + (double)s->reach) / tile) + 1;
        if (unbounded && !(a > -limit && b < limit))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "selection: reaches from tile %.0f to %.0f along %c, expected %.0f to %.0f", a, b, "xyz"[k], -limit, limit);
        s->first[k] = (int64_t)fmax(a, -limit);
        s->last[k] = (int64_t)fmin(b, limit);
    }
    if (unbounded) return TSR_OK;
    int64_t low[3], high[3], count;
    TSR_TRY(tsr_csg_extent(tiles, low, high, &count));
    for (int k = 0; k < 3; k++) {
        s->first[k] = tsr_max64(s->first[k], low[k]);
        s->last[k] = tsr_min64(s->last[k], high[k]);
    }
    return TSR_OK;
}

/* Keeps those of the sorted keys that are absent tiles inside. */
static tsr_status keep_inside(const tsr_tiles *tiles, uint64_t *keys, int64_t *count)
{
    tsr_context *context = tiles->context;
    tsr_csg_work work;
    int64_t n = 0;
    uint32_t *id = (uint32_t *)malloc((size_t)*count * sizeof *id);
    if (!id) TSR_FAIL(TSR_ERROR_MEMORY, "selection: out of memory for %lld tiles", (long long)*count);
    tsr_status status = tsr_csg_work_take(context, *count, 0, &work);
    if (status == TSR_OK) {
        work.args.a = tiles->pool;
        status = context->backend->upload(context->queue, work.args.keys, keys, (size_t)*count * sizeof *keys);
        if (status == TSR_OK) status = tsr_csg_run(&work, TSR_CSG_locate_kernel, *count);
        if (status == TSR_OK) status = context->backend->download(context->queue, id, work.args.first, (size_t)*count * sizeof *id);
        tsr_csg_work_drop(&work);
    }
    for (int64_t i = 0; i < *count && status == TSR_OK; i++)
        if (id[i] == TSR_TILE_INSIDE) keys[n++] = keys[i];
    *count = n;
    free(id);
    return status;
}

/* A list of these keys, only to be merged: its tiles have no values. */
static tsr_status list_of_keys(const tsr_tiles *like, const uint64_t *keys, int64_t count, tsr_tiles **list)
{
    tsr_context *context = like->context;
    tsr_csg_work work;
    TSR_TRY(tsr_csg_create_like(like, count, 0, list));
    tsr_status status = tsr_csg_work_take(context, count, 0, &work);
    if (status == TSR_OK) {
        status = context->backend->upload(context->queue, work.args.keys, keys, (size_t)count * sizeof *keys);
        if (status == TSR_OK) status = context->backend->fill(context->queue, work.args.words, 0, (size_t)count * sizeof *work.args.words);
        if (status == TSR_OK) status = tsr_csg_link(&work, *list);
        tsr_csg_work_drop(&work);
    }
    if (status != TSR_OK) tsr_tiles_destroy(list);
    return status;
}

/* The absent tiles inside that the wall needs; *wall stays NULL if there are none. */
static tsr_status find_wall(const tsr_tiles *tiles, const tsr_tile_state *state, const struct placed *p, float reach, tsr_tiles **wall)
{
    tsr_tile_search s = { .list = tiles, .name = "selection", .surface = &p->plan.field, .least = least_of_faces, .reach = reach };
    *wall = NULL;
    tsr_status status = box_of_wall(tiles, state, p, &s);
    if (status == TSR_OK) status = tsr_search_tiles(&s, tiles->context->threads);
    if (status == TSR_OK && s.count > 0) status = keep_inside(tiles, s.keys, &s.count);
    if (status == TSR_OK && s.count > 0) status = list_of_keys(tiles, s.keys, s.count, wall);
    free(s.keys);
    return status;
}

struct carving {
    const tsr_tiles *tiles;
    const tsr_tiles *wall;
    const struct placed *placed;
    int64_t count; /* tiles of both lists */
    float half_width, reach;
};

static tsr_status carve_into(const struct carving *c, tsr_csg_work *work, int64_t own, int part, tsr_tiles **result)
{
    int64_t count;
    TSR_TRY(tsr_csg_merge_keys(work, c->tiles, c->wall, own, &count));
    TSR_TRY(tsr_csg_create_like(c->tiles, count, 0, result));
    work->args.count = count;
    work->args.operation = part;
    work->args.selection = c->placed->field;
    work->args.width = c->half_width;
    work->args.reach = c->reach;
    TSR_TRY(tsr_csg_run(work, TSR_CSG_selection_near_kernel, count));
    TSR_TRY(tsr_csg_run(work, TSR_CSG_carve_borders_kernel, count));
    TSR_TRY(tsr_csg_link(work, *result));
    TSR_TRY(tsr_csg_run(work, TSR_CSG_carve_kernel, count));
    TSR_TRY(tsr_csg_finish(*result));
    return TSR_OK;
}

/* A list without tiles stays so where no wall goes through it: all outside. */
static tsr_status carve(const struct carving *c, int64_t own, int part, tsr_tiles **result)
{
    tsr_csg_work work;
    if (c->count == 0) {
        TSR_TRY(tsr_csg_create_like(c->tiles, 0, 0, result));
        return TSR_OK;
    }
    TSR_TRY(tsr_csg_work_take(c->tiles->context, c->count, c->wall ? (int64_t)c->wall->pool.capacity + 1 : 0, &work));
    tsr_status status = carve_into(c, &work, own, part, result);
    tsr_csg_work_drop(&work);
    if (status != TSR_OK) tsr_tiles_destroy(result);
    return status;
}

/* Makes those of the parts whose place is not NULL. */
static tsr_status carve_parts(const tsr_tiles *tiles, const tsr_selection *selection, double width, tsr_tiles **results[3])
{
    struct placed p;
    tsr_tile_state state, extra = { 0 };
    tsr_tiles *wall = NULL;
    for (int part = 0; part < 3; part++)
        if (results[part]) *results[part] = NULL;
    TSR_TRY(tsr_csg_require(tiles, "selection"));
    const float *h = tiles->pool.spacing, widest = tsr_maxf(h[0], tsr_maxf(h[1], h[2]));
    const double least = 2 * (double)tsr_minf(h[0], tsr_minf(h[1], h[2]));
    if (!(width == 0 || (width >= least && width < 1e12)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "disconnection: width is %g, expected 0 or at least two voxels (%g)", width, least);
    struct carving c = { .tiles = tiles, .placed = &p, .half_width = 0.5f * (float)(width > 0 ? width : least) };
    c.reach = c.half_width + tiles->pool.band + widest;
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    TSR_TRY(place(tiles, &state, selection, (double)c.reach, &p));
    tsr_status status = find_wall(tiles, &state, &p, c.reach, &wall);
    if (status == TSR_OK && wall) status = tsr_tiles_read_state(wall, &extra);
    c.wall = wall;
    c.count = (int64_t)state.count + extra.count;
    for (int part = 0; part < 3 && status == TSR_OK; part++)
        if (results[part]) status = carve(&c, state.count, part, results[part]);
    for (int part = 0; part < 3 && status != TSR_OK; part++)
        if (results[part]) tsr_tiles_destroy(results[part]);
    tsr_tiles_destroy(&wall);
    drop_placed(&p);
    return status;
}

tsr_status tsr_tiles_disconnect_at(const tsr_tiles *tiles, const tsr_selection *selection, double width, tsr_tiles **result)
{
    TSR_NEEDS(tiles, selection, result);
    tsr_tiles **results[3] = { result, NULL, NULL };
    return carve_parts(tiles, selection, width, results);
}

tsr_status tsr_tiles_divide(const tsr_tiles *tiles, const tsr_selection *selection, tsr_tiles **inner, tsr_tiles **outer)
{
    tsr_tiles **results[3] = { NULL, inner, outer };
    return carve_parts(tiles, selection, 0, results);
}

tsr_status tsr_tiles_disconnect(const tsr_tiles *tiles, const tsr_box *region, double width, tsr_tiles **result)
{
    TSR_RETURNS(result);
    TSR_NEEDS(tiles, region);
    tsr_selection selection = TSR_SELECTION;
    TSR_TRY(tsr_csg_require(tiles, "disconnection"));
    TSR_TRY(check_region(region));
    selection.box = *region;
    return tsr_tiles_disconnect_at(tiles, &selection, width, result);
}
