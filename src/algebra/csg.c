/* algebra/csg.c: host logic of the algebra of tile lists: merging, movement by tiles, comparison. */
#include "algebra/csg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tiles/tiles_build.h"

/* ---- requirements ------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_csg_require_field(const tsr_tiles *tiles, const char *name)
{
    if (!tiles) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the tile list is NULL", name);
    TSR_TRY(tsr_tiles_need_f32(tiles, name));
    TSR_TRY(tsr_geometry_check_perpendicular(&tiles->geometry, name));
    return TSR_OK;
}

tsr_status tsr_csg_require(const tsr_tiles *tiles, const char *name)
{
    TSR_TRY(tsr_csg_require_field(tiles, name));
    if (tiles->pool.bounded) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: a tile list with a domain, expected an unbounded one", name);
    return TSR_OK;
}

static tsr_status same_domain(const tsr_tile_pool *p, const tsr_tile_pool *q)
{
    if (p->bounded != q->bounded)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "domain: the %s operand has one and the other has not, expected both or none", p->bounded ? "first" : "second");
    for (int k = 0; k < 3 && p->bounded; k++)
        if (p->domain[k] != q->domain[k])
            TSR_FAIL(TSR_ERROR_ARGUMENT, "domain: %d x %d x %d and %d x %d x %d voxels, expected the same of both operands", p->domain[0],
                     p->domain[1], p->domain[2], q->domain[0], q->domain[1], q->domain[2]);
    return TSR_OK;
}

tsr_status tsr_csg_require_pair(const tsr_tiles *a, const tsr_tiles *b)
{
    TSR_TRY(tsr_csg_require_field(a, "first operand"));
    TSR_TRY(tsr_csg_require_field(b, "second operand"));
    const tsr_tile_pool *p = &a->pool, *q = &b->pool;
    if (a->context != b->context) TSR_FAIL(TSR_ERROR_ARGUMENT, "the operands live in different contexts; copy one of them");
    for (int k = 0; k < 3; k++)
        if (p->spacing[k] != q->spacing[k])
            TSR_FAIL(TSR_ERROR_ARGUMENT, "voxel size along %c: %g and %g, expected the same of both operands", "xyz"[k], (double)p -> spacing[k],
                     (double)q -> spacing[k]);
    if (p->band != q->band) TSR_FAIL(TSR_ERROR_ARGUMENT, "band: %g and %g, expected the same of both operands", (double)p->band, (double)q->band);
    if (p->log2_edge != q->log2_edge)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "tile edge: %d and %d, expected the same of both operands", 1 << p->log2_edge, 1 << q->log2_edge);
    TSR_TRY(same_domain(p, q));
    return TSR_OK;
}

/* ---- building blocks -------------------------------------------------------------------------------------------------------------------------- */

static size_t rounded(size_t bytes) { return (bytes + 255) / 256 * 256; }

tsr_status tsr_csg_work_take(tsr_context *context, int64_t n, int64_t flag_room, tsr_csg_work *work)
{
    size_t m = (size_t)tsr_max64(n, 1), keys = rounded(m * sizeof(uint64_t)), words = rounded(m * sizeof(uint32_t));
    size_t flags = rounded((size_t)tsr_max64(flag_room, (int64_t)m) * sizeof(uint32_t));
    memset(work, 0, sizeof *work);
    work->context = context;
    work->bytes = keys + 3 * words + flags + 256;
    TSR_TRY(tsr_device_allocate(context, work->bytes, &work->memory));
    char *at = (char *)work->memory;
    work->args.count = n;
    work->args.keys = (uint64_t *)(void *)at;
    work->args.first = (uint32_t *)(void *)(at += keys);
    work->args.second = (uint32_t *)(void *)(at += words);
    work->args.words = (uint32_t *)(void *)(at += words);
    work->args.flags = (uint32_t *)(void *)(at += words);
    work->args.totals = (int64_t *)(void *)(at + flags);
    return TSR_OK;
}

void tsr_csg_work_drop(tsr_csg_work *work)
{
    if (work->context) tsr_device_release(work->context, work->memory, work->bytes);
    memset(work, 0, sizeof *work);
}

tsr_status tsr_csg_create_like(const tsr_tiles *like, int64_t n, double band, tsr_tiles **made)
{
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    options.edge = 1 << like->pool.log2_edge;
    options.band = band > 0 ? band : (double)like->pool.band;
    options.capacity = n + n / 8 + TSR_TILE_FIRST + 32;
    options.memory_limit = like->memory_limit;
    if (like->pool.bounded) options.domain = (tsr_size3){ like->pool.domain[0], like->pool.domain[1], like->pool.domain[2] };
    TSR_TRY(tsr_tiles_create(like->context, &like->geometry, &options, made));
    (*made)->short_keys = like->pool.key_first != 0;
    if (!(band > 0)) (*made)->pool.band = like->pool.band; /* not through double and back */
    return TSR_OK;
}

tsr_status tsr_csg_link(tsr_csg_work *work, tsr_tiles *to)
{
    work->args.to = to->pool;
    TSR_TRY(work->context->backend->csg->link(work->context->queue, &work->args));
    return TSR_OK;
}

/* Value of the first voxel of the first tile, and the sign of space behind the last entry (any row end does). */
static tsr_status look_at_ends(const tsr_tiles *tiles, const tsr_tile_state *state, float *first, uint32_t *behind)
{
    tsr_context *context = tiles->context;
    const tsr_tile_pool *pool = &tiles->pool;
    uint32_t id[2];
    size_t voxels = (size_t)1 << (3 * pool->log2_edge);
    TSR_TRY(context->backend->download(context->queue, &id[0], pool->id[state->list], sizeof *id));
    TSR_TRY(context->backend->download(context->queue, &id[1], pool->id[state->list] + state->count - 1, sizeof *id));
    TSR_TRY(context->backend->download(context->queue, first, pool->phi[state->phi] + id[0] * voxels, sizeof *first));
    TSR_TRY(context->backend->download(context->queue, behind, pool->neighbours + (size_t)id[1] * TSR_NEIGHBOUR_ROW + 14, sizeof *behind));
    return TSR_OK;
}

/* Counts the positive voxels: a list whose space ends inside and that has none is all inside. */
static tsr_status count_positive(const tsr_tiles *tiles, int64_t count, int64_t *positive)
{
    tsr_csg_work work;
    TSR_TRY(tsr_csg_work_take(tiles->context, count, 0, &work));
    work.args.a = tiles->pool;
    tsr_status status = work.context->backend->fill(work.context->queue, work.args.totals, 0, sizeof(int64_t));
    if (status == TSR_OK) status = tsr_csg_run(&work, TSR_CSG_locate_entry_kernel, count);
    if (status == TSR_OK) status = tsr_csg_run(&work, TSR_CSG_positive_kernel, count);
    if (status == TSR_OK) status = work.context->backend->download(work.context->queue, positive, work.args.totals, sizeof *positive);
    tsr_csg_work_drop(&work);
    return status;
}

/* Is the managed list without an inside or an outside? `first` and `behind` as look_at_ends found them. */
static tsr_status one_sided(const tsr_tiles *tiles, const tsr_tile_state *state, float first, uint32_t behind, int *empty, int *full)
{
    const tsr_tile_pool *pool = &tiles->pool;
    int64_t positive = 0;
    if (pool->bounded) {
        const int64_t inside = state->inside_voxels + state->inside_absent;
        *empty = inside == 0;
        *full = inside == (int64_t)pool->domain[0] * pool->domain[1] * pool->domain[2];
        return TSR_OK;
    }
    *empty = state->count > 0 ? state->inside_voxels == 0 : !(first < 0);
    *full = state->count == 0 && first < 0;
    if (state->count == 0 || *empty || behind != TSR_TILE_INSIDE) return TSR_OK;
    TSR_TRY(count_positive(tiles, state->count, &positive));
    *full = positive == 0;
    return TSR_OK;
}

/* What tsr_csg_finish does; `one_sided_stays`: also of a list without a surface every value stays. */
static tsr_status finish(tsr_tiles *tiles, int one_sided_stays)
{
    tsr_context *context = tiles->context;
    const tsr_tiles_ops *ops = context->backend->tiles;
    tsr_csg_args args = { .a = tiles->pool };
    tsr_tile_state state;
    float first = 0;
    uint32_t behind = TSR_TILE_OUTSIDE;
    int full = 0, empty = 0;
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    if (state.count == 0) return tsr_tiles_take_after(tiles);
    state.inside_absent = 0;
    TSR_TRY(context->backend->upload(context->queue, tiles->pool.state, &state, sizeof state));
    TSR_TRY(ops->refresh(context->queue, &tiles->pool));
    TSR_TRY(context->backend->csg->run(context->queue, TSR_CSG_enclosed_kernel, &args, state.count));
    TSR_TRY(look_at_ends(tiles, &state, &first, &behind));
    TSR_TRY(tsr_tiles_manage(tiles));
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    if (behind == TSR_TILE_INSIDE && state.count > 0 && !tiles->pool.bounded) { /* management takes space that has no end for counted */
        state.inside_absent = 0;
        args.a = tiles->pool;
        TSR_TRY(context->backend->upload(context->queue, tiles->pool.state, &state, sizeof state));
        TSR_TRY(context->backend->csg->run(context->queue, TSR_CSG_enclosed_kernel, &args, state.count));
    }
    TSR_TRY(one_sided(tiles, &state, first, behind, &empty, &full));
    if ((full || empty) && !one_sided_stays) TSR_TRY(ops->clear(context->queue, &tiles->pool, full ? TSR_TILE_INSIDE : TSR_TILE_OUTSIDE));
    TSR_TRY(tsr_tiles_take_after(tiles));
    return TSR_OK;
}
tsr_status tsr_csg_finish(tsr_tiles *tiles) { return finish(tiles, 0); }

/* ---- merging -------------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_csg_merge_keys(tsr_csg_work *work, const tsr_tiles *a, const tsr_tiles *b, int64_t count_a, int64_t *count)
{
    tsr_context *context = a->context;
    work->args.a = a->pool;
    *count = count_a;
    if (!b) {
        work->args.second = NULL;
        TSR_TRY(tsr_csg_run(work, TSR_CSG_locate_entry_kernel, count_a));
        return TSR_OK;
    }
    work->args.b = b->pool;
    TSR_TRY(context->backend->csg->merge(context->queue, &work->args));
    TSR_TRY(context->backend->download(context->queue, count, work->args.totals, sizeof *count));
    return TSR_OK;
}

static tsr_status merge_into(tsr_csg_work *work, const tsr_tiles *a, double band, tsr_tiles **result, int64_t count)
{
    TSR_TRY(tsr_csg_create_like(a, count, band, result));
    work->args.count = count;
    TSR_TRY(tsr_csg_run(work, TSR_CSG_borders_kernel, count));
    TSR_TRY(tsr_csg_link(work, *result));
    TSR_TRY(tsr_csg_run(work, TSR_CSG_combine_kernel, count));
    /* What only its zeros keep from being all inside turns into zeros and an outside: without them it would not turn back. */
    TSR_TRY(finish(*result, work->args.operation == TSR_CSG_COMPLEMENT));
    return TSR_OK;
}

/* Both operands store nothing: so does the result. */
static tsr_status merge_constants(const tsr_tiles *a, uint32_t sa, uint32_t sb, int32_t operation, float amount, tsr_tiles **result)
{
    TSR_TRY(tsr_csg_create_like(a, 0, 0, result));
    int32_t sign = (int32_t)tsr_csg_combine_sign(operation, sa, sb, amount);
    TSR_TRY(a->context->backend->tiles->clear(a->context->queue, &(*result)->pool, sign));
    return TSR_OK;
}

tsr_status tsr_csg_merge_lists(const tsr_tiles *a, int64_t shift_a, const tsr_tiles *b, int64_t shift_b, int32_t operation, float amount,
                               tsr_tiles **result)
{
    tsr_tile_state sa, sb = { 0 };
    tsr_csg_work work;
    int64_t count = 0;
    *result = NULL;
    TSR_TRY(tsr_tiles_read_state(a, &sa));
    if (b) TSR_TRY(tsr_tiles_read_state(b, &sb));
    const int whole = TSR_TILES_WERE_WHOLE(a) && (!b || TSR_TILES_WERE_WHOLE(b));
    if (sa.count + (int64_t)sb.count == 0) return merge_constants(a, (uint32_t)sa.background, (uint32_t)sb.background, operation, amount, result);
    TSR_TRY(tsr_csg_work_take(a->context, (int64_t)sa.count + sb.count, b ? (int64_t)b->pool.capacity + 1 : 0, &work));
    work.args.shift_a = shift_a;
    work.args.shift_b = shift_b;
    work.args.operation = operation;
    work.args.amount = amount;
    tsr_status status = tsr_csg_merge_keys(&work, a, b, sa.count, &count);
    if (status == TSR_OK) status = merge_into(&work, a, 0, result, count);
    tsr_csg_work_drop(&work);
    if (status == TSR_OK) status = TSR_TILES_ARE_WHOLE(whole, *result, "combination");
    if (status != TSR_OK) tsr_tiles_destroy(result);
    return status;
}

tsr_status tsr_csg_with_band(const tsr_tiles *tiles, double band, tsr_tiles **result)
{
    tsr_tile_state state;
    tsr_csg_work work;
    int64_t count;
    *result = NULL;
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    if (state.count == 0) {
        TSR_TRY(tsr_csg_create_like(tiles, 0, band, result));
        TSR_TRY(tiles->context->backend->tiles->clear(tiles->context->queue, &(*result)->pool, state.background));
        return TSR_OK;
    }
    TSR_TRY(tsr_csg_work_take(tiles->context, state.count, 0, &work));
    work.args.operation = TSR_CSG_FIRST;
    tsr_status status = tsr_csg_merge_keys(&work, tiles, NULL, state.count, &count);
    if (status == TSR_OK) status = merge_into(&work, tiles, band, result, count);
    tsr_csg_work_drop(&work);
    if (status != TSR_OK) tsr_tiles_destroy(result);
    return status;
}

static const char *const operation_names[] = { "union", "intersection", "difference", "blend" };
enum { OPERATIONS = sizeof operation_names / sizeof *operation_names };

const char *tsr_csg_name(tsr_csg_operation operation)
{
    return (int)operation >= 0 && (int)operation < OPERATIONS ? operation_names[operation] : NULL;
}

tsr_status tsr_csg_parse(const char *name, tsr_csg_operation *operation)
{
    TSR_NEEDS(operation);
    for (int i = 0; i < OPERATIONS; i++)
        if (name && !strcmp(name, operation_names[i])) {
            *operation = (tsr_csg_operation)i;
            return TSR_OK;
        }
    TSR_FAIL(TSR_ERROR_ARGUMENT, "'%.40s' is no operation, expected union, intersection, difference or blend", name ? name : "");
}

tsr_status tsr_tiles_combine(const tsr_tiles *a, const tsr_tiles *b, tsr_csg_operation operation, double radius, tsr_tiles **result)
{
    TSR_RETURNS(result);
    TSR_NEEDS(a, b);
    TSR_TRY(tsr_csg_require_pair(a, b));
    if (!tsr_csg_name(operation)) TSR_FAIL(TSR_ERROR_ARGUMENT, "operation is %d, expected UNION, INTERSECTION, DIFFERENCE or BLEND", (int)operation);
    if (operation == TSR_CSG_BLEND && !(radius > 0 && (float)radius <= a->pool.band))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "radius of the blend is %g, expected more than 0 and at most the band (%g)", radius, (double)a->pool.band);
    TSR_TRY(tsr_csg_merge_lists(a, 0, b, 0, (int32_t)operation, operation == TSR_CSG_BLEND ? (float)radius : 0.0f, result));
    return TSR_OK;
}

tsr_status tsr_tiles_complement(const tsr_tiles *tiles, tsr_tiles **result)
{
    TSR_RETURNS(result);
    TSR_NEEDS(tiles);
    TSR_TRY(tsr_csg_require_field(tiles, "operand"));
    TSR_TRY(tsr_csg_merge_lists(tiles, 0, NULL, 0, TSR_CSG_COMPLEMENT, 0, result));
    return TSR_OK;
}

tsr_status tsr_tiles_interpolate(const tsr_tiles *a, const tsr_tiles *b, double t, tsr_tiles **result)
{
    TSR_RETURNS(result);
    TSR_NEEDS(a, b);
    TSR_TRY(tsr_csg_require_pair(a, b));
    if (!(t >= 0 && t <= 1)) TSR_FAIL(TSR_ERROR_ARGUMENT, "t is %g, expected 0 to 1", t);
    TSR_TRY(tsr_csg_merge_lists(a, 0, b, 0, TSR_CSG_MIX, (float)t, result));
    return TSR_OK;
}

/* ---- keys on the host ---------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_csg_keys(const tsr_tiles *tiles, uint64_t **keys, int64_t *count)
{
    tsr_tile_state state;
    *keys = NULL;
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    *count = state.count;
    size_t bytes = (size_t)(state.count + 1) * sizeof **keys;
    *keys = (uint64_t *)malloc(bytes);
    if (!*keys) TSR_FAIL(TSR_ERROR_MEMORY, "tile list: out of memory for %d keys (%zu bytes)", state.count, bytes);
    tsr_status status = tsr_tiles_get_keys(tiles, state.list, state.count, *keys);
    if (status == TSR_OK) return TSR_OK;
    free(*keys);
    *keys = NULL;
    return status;
}

/* ---- movement by whole tiles ------------------------------------------------------------------------------------------------------------------------ */

static tsr_status check_translation(const uint64_t *keys, int64_t count, const int32_t shift[3])
{
    const int64_t most = TSR_KEY_BIAS - 2, least = -TSR_KEY_BIAS + 1;
    for (int64_t i = 0; i < count; i++) {
        const int64_t at[3] = { tsr_key_x(keys[i]), tsr_key_y(keys[i]), tsr_key_z(keys[i]) };
        for (int k = 0; k < 3; k++)
            if (at[k] + shift[k] < least || at[k] + shift[k] > most)
                TSR_FAIL(TSR_ERROR_ARGUMENT, "translation by %d tiles along %c moves a tile to %lld, expected %lld to %lld", shift[k], "xyz"[k],
                         (long long)(at[k] + shift[k]), (long long)least, (long long)most);
    }
    return TSR_OK;
}

tsr_status tsr_tiles_translate(const tsr_tiles *tiles, int32_t x, int32_t y, int32_t z, tsr_tiles **result)
{
    TSR_RETURNS(result);
    TSR_NEEDS(tiles);
    const int32_t shift[3] = { x, y, z };
    uint64_t *keys;
    int64_t count;
    TSR_TRY(tsr_csg_require(tiles, "translation"));
    TSR_TRY(tsr_csg_keys(tiles, &keys, &count));
    tsr_status status = check_translation(keys, count, shift);
    free(keys);
    TSR_TRY(status);
    int64_t offset = (int64_t)z * ((int64_t)1 << 42) + (int64_t)y * ((int64_t)1 << 21) + x;
    TSR_TRY(tsr_csg_merge_lists(tiles, offset, NULL, 0, TSR_CSG_FIRST, 0, result));
    return TSR_OK;
}

/* ---- comparison --------------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status compare(tsr_csg_work *work, const tsr_tiles *a, const tsr_tiles *b, int64_t count_a, int *same)
{
    tsr_context *context = a->context;
    int64_t count;
    TSR_TRY(tsr_csg_merge_keys(work, a, b, count_a, &count));
    uint32_t *flags = (uint32_t *)malloc((size_t)count * sizeof *flags);
    if (!flags) TSR_FAIL(TSR_ERROR_MEMORY, "comparison: out of memory for %lld tiles", (long long)count);
    tsr_status status = context->backend->fill(context->queue, work->args.flags, 0, (size_t)count * sizeof *flags);
    if (status == TSR_OK) status = tsr_csg_run(work, TSR_CSG_differs_kernel, count);
    if (status == TSR_OK) status = context->backend->download(context->queue, flags, work->args.flags, (size_t)count * sizeof *flags);
    for (int64_t i = 0; i < count && status == TSR_OK; i++) *same &= !flags[i];
    free(flags);
    return status;
}

tsr_status tsr_tiles_equal(const tsr_tiles *a, const tsr_tiles *b, int *same)
{
    TSR_NEEDS(a, b);
    tsr_tile_state sa, sb;
    tsr_csg_work work;
    *same = 0;
    TSR_TRY(tsr_csg_require_pair(a, b));
    TSR_TRY(tsr_tiles_read_state(a, &sa));
    TSR_TRY(tsr_tiles_read_state(b, &sb));
    *same = sa.count == sb.count && (sa.count > 0 || sa.background == sb.background);
    if (!*same || sa.count == 0) return TSR_OK;
    TSR_TRY(tsr_csg_work_take(a->context, 2 * (int64_t)sa.count, (int64_t)b->pool.capacity + 1, &work));
    tsr_status status = compare(&work, a, b, sa.count, same);
    tsr_csg_work_drop(&work);
    return status;
}
