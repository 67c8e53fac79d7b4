/* edit/patch.c: patches of tile lists: what the journal keeps, and how it comes back. */
#include <stdlib.h>
#include <string.h>

#include "edit/edit.h"

static size_t page_bytes(const tsr_tiles *tiles, int64_t count)
{
    return ((size_t)count * (sizeof(float) << (3 * tiles->pool.log2_edge)) + 255) / 256 * 256;
}

void tsr_patch_drop(tsr_patch *patch)
{
    if (patch->context) tsr_device_release(patch->context, patch->pages, patch->bytes);
    free(patch->keys);
    memset(patch, 0, sizeof *patch);
}

/* ---- taking ----------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status take(const tsr_tiles *tiles, tsr_csg_work *work, tsr_patch *patch)
{
    tsr_context *context = tiles->context;
    int64_t n = patch->count;
    TSR_TRY(context->backend->upload(context->queue, work->args.keys, patch->keys, (size_t)n * sizeof *patch->keys));
    work->args.a = tiles->pool;
    work->args.pages = patch->pages;
    work->args.words = patch->words;
    TSR_TRY(tsr_csg_run(work, TSR_CSG_locate_kernel, n));
    TSR_TRY(tsr_csg_run(work, TSR_CSG_read_kernel, n));
    TSR_TRY(tsr_csg_run(work, TSR_CSG_read_borders_kernel, n));
    return TSR_OK;
}

tsr_status tsr_patch_take(const tsr_tiles *tiles, const uint64_t *keys, int64_t count, tsr_patch *patch)
{
    tsr_tile_state state;
    tsr_csg_work work;
    void *memory = NULL;
    memset(patch, 0, sizeof *patch);
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    patch->background = state.background;
    patch->context = tiles->context;
    if (count == 0) return TSR_OK;
    patch->bytes = page_bytes(tiles, count) + (size_t)count * sizeof(uint32_t);
    patch->count = count;
    patch->keys = (uint64_t *)malloc((size_t)count * sizeof *keys);
    tsr_status status = patch->keys ? TSR_OK : TSR_FAILED(TSR_ERROR_MEMORY, "patch: out of memory for %lld keys", (long long)count);
    if (status == TSR_OK) status = tsr_device_allocate(tiles->context, patch->bytes, &memory);
    if (status == TSR_OK) {
        memcpy(patch->keys, keys, (size_t)count * sizeof *keys);
        patch->pages = (float *)memory;
        patch->words = (uint32_t *)(void *)((char *)memory + page_bytes(tiles, count));
        status = tsr_csg_work_take(tiles->context, count, 0, &work);
        if (status == TSR_OK) {
            status = take(tiles, &work, patch);
            tsr_csg_work_drop(&work);
        }
    } else {
        patch->bytes = 0;
    }
    if (status != TSR_OK) tsr_patch_drop(patch);
    return status;
}

/* Copies a run of pages and words. */
static tsr_status copy_run(tsr_context *context, size_t page, const tsr_patch *from, int64_t first, int64_t count, tsr_patch *to, int64_t place)
{
    if (count == 0) return TSR_OK;
    memcpy(to->keys + place, from->keys + first, (size_t)count * sizeof *to->keys);
    TSR_TRY(context->backend->copy(context->queue, (char *)to->pages + (size_t)place * page, (const char *)from->pages + (size_t)first * page,
                                   (size_t)count * page));
    TSR_TRY(context->backend->copy(context->queue, to->words + place, from->words + first, (size_t)count * sizeof *to->words));
    return TSR_OK;
}

/* Both are sorted: runs of one between keys of the other. */
static tsr_status join_runs(const tsr_tiles *tiles, const tsr_patch *a, const tsr_patch *b, tsr_patch *joined)
{
    const size_t page = sizeof(float) << (3 * tiles->pool.log2_edge);
    int64_t i = 0, j = 0;
    while (i < a->count || j < b->count) {
        int from_a = j == b->count || (i < a->count && a->keys[i] < b->keys[j]);
        const tsr_patch *from = from_a ? a : b, *other = from_a ? b : a;
        int64_t first = from_a ? i : j, next = first, stop = from_a ? j : i, place = i + j;
        while (next < from->count && (stop == other->count || from->keys[next] < other->keys[stop])) next++;
        TSR_TRY(copy_run(tiles->context, page, from, first, next - first, joined, place));
        *(from_a ? &i : &j) = next;
    }
    return TSR_OK;
}

tsr_status tsr_patch_join(const tsr_tiles *tiles, const tsr_patch *a, const tsr_patch *b, tsr_patch *joined)
{
    void *memory = NULL;
    const int64_t count = a->count + b->count;
    *joined = (tsr_patch){ .context = tiles->context, .background = a->background };
    if (count == 0) return TSR_OK;
    joined->keys = (uint64_t *)malloc((size_t)count * sizeof *joined->keys);
    if (!joined->keys) TSR_FAIL(TSR_ERROR_MEMORY, "patch: out of memory for %lld keys", (long long)count);
    size_t pages = page_bytes(tiles, count);
    tsr_status status = tsr_device_allocate(tiles->context, pages + (size_t)count * sizeof(uint32_t), &memory);
    if (status == TSR_OK) {
        joined->count = count;
        joined->bytes = pages + (size_t)count * sizeof(uint32_t);
        joined->pages = (float *)memory;
        joined->words = (uint32_t *)(void *)((char *)memory + pages);
        status = join_runs(tiles, a, b, joined);
    }
    if (status != TSR_OK) tsr_patch_drop(joined);
    return status;
}

/* Keys of the tiles that differ, on the host: the first *count of keys. */
static tsr_status changed_keys(tsr_csg_work *work, const tsr_tiles *before, const tsr_tiles *after, uint64_t **keys, int64_t *count)
{
    tsr_context *context = before->context;
    int64_t n = 0;
    work->args.a = before->pool;
    work->args.b = after->pool;
    TSR_TRY(context->backend->csg->merge(context->queue, &work->args));
    TSR_TRY(context->backend->download(context->queue, &n, work->args.totals, sizeof n));
    uint32_t *flags = (uint32_t *)malloc((size_t)tsr_max64(n, 1) * sizeof *flags);
    *keys = (uint64_t *)malloc((size_t)tsr_max64(n, 1) * sizeof **keys);
    tsr_status status = flags && *keys ? TSR_OK : TSR_FAILED(TSR_ERROR_MEMORY, "patch: out of memory for %lld tiles", (long long)n);
    if (status == TSR_OK) status = context->backend->fill(context->queue, work->args.flags, 0, (size_t)n * sizeof *flags);
    if (status == TSR_OK) status = tsr_csg_run(work, TSR_CSG_differs_kernel, n);
    if (status == TSR_OK) status = context->backend->download(context->queue, flags, work->args.flags, (size_t)n * sizeof *flags);
    if (status == TSR_OK) status = context->backend->download(context->queue, *keys, work->args.keys, (size_t)n * sizeof **keys);
    for (int64_t i = 0; i < n && status == TSR_OK; i++)
        if (flags[i]) (*keys)[(*count)++] = (*keys)[i];
    free(flags);
    return status;
}

tsr_status tsr_patch_difference(const tsr_tiles *before, const tsr_tiles *after, tsr_patch *patch)
{
    tsr_tile_state a, b;
    tsr_csg_work work;
    uint64_t *keys = NULL;
    int64_t count = 0;
    memset(patch, 0, sizeof *patch);
    TSR_TRY(tsr_tiles_read_state(before, &a));
    TSR_TRY(tsr_tiles_read_state(after, &b));
    TSR_TRY(tsr_csg_work_take(before->context, (int64_t)a.count + b.count, (int64_t)after->pool.capacity + 1, &work));
    tsr_status status = changed_keys(&work, before, after, &keys, &count);
    tsr_csg_work_drop(&work);
    if (status == TSR_OK) status = tsr_patch_take(before, keys, count, patch);
    free(keys);
    return status;
}

/* ---- applying ------------------------------------------------------------------------------------------------------------------------------------- */

/* Sorted unique keys, and each of them one step down and up: the same three sequences merged. */
static int64_t spread(const uint64_t *keys, int64_t n, uint64_t step, uint64_t *out)
{
    int64_t down = 0, same = 0, up = 0, made = 0;
    while (up < n) { /* the last to come is the last key, one step up */
        const uint64_t a = down < n ? keys[down] - step : TSR_KEY_END, b = same < n ? keys[same] : TSR_KEY_END, c = keys[up] + step;
        uint64_t least = a < b ? a : b;
        least = c < least ? c : least;
        out[made++] = least;
        down += a == least;
        same += b == least;
        up += c == least;
    }
    return made;
}

/* The keys and their 26 neighbours each, sorted and unique (malloc): one axis after the other, in time proportional to their number. */
static tsr_status ring_keys(const tsr_patch *patch, uint64_t **ring, int64_t *count)
{
    const size_t n = (size_t)patch->count;
    *ring = (uint64_t *)malloc(27 * n * sizeof **ring);
    uint64_t *rows = (uint64_t *)malloc(9 * n * sizeof *rows);
    tsr_status status =
        *ring && rows ? TSR_OK : TSR_FAILED(TSR_ERROR_MEMORY, "patch: out of memory for the ring of %lld tiles", (long long)patch->count);
    if (status == TSR_OK) {
        *count = spread(patch->keys, patch->count, (uint64_t)tsr_key_offset(14), *ring);
        *count = spread(*ring, *count, (uint64_t)tsr_key_offset(16), rows);
        *count = spread(rows, *count, (uint64_t)tsr_key_offset(22), *ring);
    } else {
        free(*ring);
    }
    free(rows);
    return status;
}

static tsr_status write_pages(tsr_csg_work *work, const tsr_patch *patch)
{
    const int64_t n = patch->count;
    work->args.pages = patch->pages;
    work->args.words = patch->words;
    TSR_TRY(tsr_csg_run(work, TSR_CSG_locate_kernel, n));
    work->args.wanted = -1;
    TSR_TRY(tsr_csg_run(work, TSR_CSG_count_kernel, n));
    TSR_TRY(tsr_csg_run(work, TSR_CSG_write_kernel, n));
    TSR_TRY(tsr_csg_run(work, TSR_CSG_write_borders_kernel, n));
    work->args.wanted = 1;
    TSR_TRY(tsr_csg_run(work, TSR_CSG_count_kernel, n));
    return TSR_OK;
}

static tsr_status renew_activity(tsr_csg_work *work, const uint64_t *ring, int64_t n)
{
    tsr_context *context = work->context;
    TSR_TRY(context->backend->upload(context->queue, work->args.keys, ring, (size_t)n * sizeof *ring));
    TSR_TRY(tsr_csg_run(work, TSR_CSG_locate_kernel, n));
    TSR_TRY(tsr_csg_run(work, TSR_CSG_activity_begin_kernel, n));
    TSR_TRY(tsr_csg_run(work, TSR_CSG_activity_kernel, n));
    TSR_TRY(tsr_csg_run(work, TSR_CSG_activity_end_kernel, n));
    return TSR_OK;
}

/* The enclosed space anew: the patch may have turned it. An empty list takes the background of the patch. */
static tsr_status settle(const tsr_patch *patch, tsr_tiles *tiles)
{
    tsr_context *context = tiles->context;
    tsr_tile_state state;
    TSR_TRY(tsr_tiles_manage(tiles));
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    state.inside_absent = 0;
    if (state.count == 0) state.background = patch->background;
    TSR_TRY(context->backend->upload(context->queue, tiles->pool.state, &state, sizeof state));
    tsr_csg_args args = { .a = tiles->pool };
    TSR_TRY(context->backend->csg->run(context->queue, TSR_CSG_enclosed_kernel, &args, state.count));
    return TSR_OK;
}

/* Room for every tile of the ring that is not stored: no more can be inserted or asked for. Grown with some to spare where that is allowed. */
static tsr_status make_room(tsr_csg_work *work, tsr_tiles *tiles, int64_t stored, const uint64_t *ring, int64_t n)
{
    tsr_context *context = tiles->context;
    if (stored + n + TSR_TILE_FIRST <= tiles->pool.capacity) return TSR_OK;
    uint32_t *ids = (uint32_t *)malloc((size_t)n * sizeof *ids);
    if (!ids) TSR_FAIL(TSR_ERROR_MEMORY, "patch: out of memory for %lld tiles", (long long)n);
    work->args.a = tiles->pool;
    tsr_status status = context->backend->upload(context->queue, work->args.keys, ring, (size_t)n * sizeof *ring);
    if (status == TSR_OK) status = tsr_csg_run(work, TSR_CSG_locate_kernel, n);
    if (status == TSR_OK) status = context->backend->download(context->queue, ids, work->args.first, (size_t)n * sizeof *ids);
    int64_t needed = stored + TSR_TILE_FIRST;
    for (int64_t i = 0; i < n && status == TSR_OK; i++) needed += ids[i] < TSR_TILE_FIRST;
    free(ids);
    TSR_TRY(status);
    if (needed <= tiles->pool.capacity) return TSR_OK;
    if (tsr_tiles_reserve(tiles, needed + needed / 4) != TSR_OK) TSR_TRY(tsr_tiles_reserve(tiles, needed));
    return TSR_OK;
}

static tsr_status apply(const tsr_patch *patch, tsr_tiles *tiles, const uint64_t *ring, int64_t ring_count)
{
    tsr_context *context = tiles->context;
    tsr_tile_state state;
    tsr_csg_work work;
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    /* everything that can be refused comes before the first change: room for the patch and for what management may ask for beside it */
    TSR_TRY(tsr_csg_work_take(context, ring_count, 0, &work));
    uint32_t *words = work.args.words;
    tsr_status status = make_room(&work, tiles, state.count, ring, ring_count);
    if (status == TSR_OK) status = context->backend->upload(context->queue, work.args.keys, patch->keys, (size_t)patch->count * sizeof *patch->keys);
    if (status == TSR_OK) status = context->backend->tiles->insert(context->queue, &tiles->pool, work.args.keys, (int32_t)patch->count);
    work.args.a = tiles->pool;
    if (status == TSR_OK) status = write_pages(&work, patch);
    work.args.words = words;
    if (status == TSR_OK) status = renew_activity(&work, ring, ring_count);
    if (status == TSR_OK) status = settle(patch, tiles);
    tsr_csg_work_drop(&work);
    return status;
}

tsr_status tsr_patch_apply(const tsr_patch *patch, tsr_tiles *tiles)
{
    uint64_t *ring;
    int64_t count = 0;
    if (patch->count == 0) {
        TSR_TRY(settle(patch, tiles));
        return TSR_OK;
    }
    TSR_TRY(ring_keys(patch, &ring, &count));
    tsr_status status = apply(patch, tiles, ring, count);
    free(ring);
    return status;
}
