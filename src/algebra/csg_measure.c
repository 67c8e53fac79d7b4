/* algebra/csg_measure.c: connected components and measures of a tile list. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algebra/csg.h"
#include "algebra/csg_labels.h"

/* ---- labels ------------------------------------------------------------------------------------------------------------------------------- */

void tsr_csg_labels_drop(tsr_csg_labels *labels)
{
    tsr_context *context = labels->work.context;
    if (context) tsr_device_release(context, labels->memory, labels->bytes);
    tsr_csg_work_drop(&labels->work);
    free(labels->roots);
    free(labels->voxels);
    memset(labels, 0, sizeof *labels);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Roots of all sets into labels->roots, in order. The room grows when there are more than it holds. */
static tsr_status collect_roots(tsr_csg_labels *labels)
{
    tsr_context *context = labels->work.context;
    for (int64_t room = 1024;;) {
        void *memory;
        uint32_t found = 0;
        size_t bytes = (size_t)room * sizeof(uint32_t);
        TSR_TRY(tsr_device_allocate(context, bytes, &memory));
        labels->work.args.roots = (uint32_t *)memory;
        labels->work.args.root_room = (int32_t)tsr_min64(room, INT32_MAX);
        tsr_status status = context->backend->fill(context->queue, labels->work.args.flags, 0, sizeof found);
        if (status == TSR_OK) status = tsr_csg_run(&labels->work, TSR_CSG_label_roots_kernel, labels->nodes);
        if (status == TSR_OK) status = context->backend->download(context->queue, &found, labels->work.args.flags, sizeof found);
        if (status == TSR_OK && found <= room) {
            labels->roots = (uint32_t *)malloc((size_t)tsr_max64(found, 1) * sizeof(uint32_t));
            if (!labels->roots) status = TSR_FAILED(TSR_ERROR_MEMORY, "components: out of memory for %u of them", found);
            if (status == TSR_OK) status = context->backend->download(context->queue, labels->roots, memory, found * sizeof(uint32_t));
            labels->count = found;
        }
        tsr_device_release(context, memory, bytes);
        labels->work.args.roots = NULL;
        TSR_TRY(status);
        if (found <= room) break;
        room = found;
    }
    qsort(labels->roots, (size_t)labels->count, sizeof *labels->roots, by_number);
    /* the unbounded space is a node of its own even where nothing touches it: not a component then */
    if (labels->count > 0 && (int64_t)labels->roots[labels->count - 1] == labels->nodes - 1) labels->count--;
    return TSR_OK;
}

/* Numbers instead of roots, and voxels per component. */
static tsr_status number_components(tsr_csg_labels *labels)
{
    tsr_context *context = labels->work.context;
    tsr_csg_args *args = &labels->work.args;
    const int64_t E = (int64_t)1 << args->a.log2_edge;
    size_t n = (size_t)tsr_max64(labels->count, 1), roots = (n * sizeof(uint32_t) + 255) / 256 * 256, bytes = roots + n * sizeof(int64_t);
    void *memory;
    labels->voxels = (int64_t *)malloc(n * sizeof(int64_t));
    if (!labels->voxels) TSR_FAIL(TSR_ERROR_MEMORY, "components: out of memory for %lld of them", (long long)labels->count);
    TSR_TRY(tsr_device_allocate(context, bytes, &memory));
    args->roots = (uint32_t *)memory;
    args->root_count = (int32_t)labels->count;
    args->tallies = (uint64_t *)(void *)((char *)memory + roots);
    tsr_status status = context->backend->fill(context->queue, memory, 0, bytes);
    if (status == TSR_OK) status = context->backend->upload(context->queue, memory, labels->roots, (size_t)labels->count * sizeof(uint32_t));
    if (status == TSR_OK) status = tsr_csg_run(&labels->work, TSR_CSG_label_number_kernel, labels->nodes);
    if (status == TSR_OK) status = tsr_csg_run(&labels->work, TSR_CSG_label_tally_kernel, args->count * (E * E + tsr_absent_kinds(&args->a)));
    if (status == TSR_OK) status = context->backend->download(context->queue, labels->voxels, args->tallies, (size_t)labels->count * sizeof(int64_t));
    if (status == TSR_OK)
        status = context->backend->download(context->queue, &labels->unbounded, args->parent + labels->nodes - 1, sizeof labels->unbounded);
    tsr_device_release(context, memory, bytes);
    args->roots = NULL;
    args->tallies = NULL;
    return status;
}

/* Unites the nodes of every component. */
static tsr_status unite(const tsr_tiles *tiles, int64_t count, int32_t wanted, int32_t connectivity, tsr_csg_labels *labels)
{
    const int64_t V = (int64_t)1 << (3 * tiles->pool.log2_edge);
    tsr_csg_work *work = &labels->work;
    labels->nodes = tsr_csg_nodes(&tiles->pool, count);
    size_t parents = ((size_t)labels->nodes * sizeof(uint32_t) + 255) / 256 * 256;
    if (labels->nodes >= (int64_t)UINT32_MAX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "components: %lld stored voxels, expected fewer than 2^32", (long long)(count * V));
    TSR_TRY(tsr_csg_work_take(tiles->context, count, 0, work));
    labels->bytes = parents + (size_t)tiles->pool.capacity * sizeof(uint32_t);
    TSR_TRY(tsr_device_allocate(tiles->context, labels->bytes, &labels->memory));
    work->args.a = tiles->pool;
    work->args.wanted = wanted;
    work->args.operation = connectivity;
    work->args.parent = (uint32_t *)labels->memory;
    work->args.entries = (uint32_t *)(void *)((char *)labels->memory + parents);
    TSR_TRY(tsr_csg_run(work, TSR_CSG_entry_of_kernel, count));
    TSR_TRY(tsr_csg_run(work, TSR_CSG_label_begin_kernel, labels->nodes));
    TSR_TRY(tsr_csg_run(work, TSR_CSG_label_join_kernel, count * V));
    TSR_TRY(tsr_csg_run(work, TSR_CSG_label_gaps_kernel, count * tsr_absent_kinds(&tiles->pool)));
    return TSR_OK;
}

static tsr_status label(const tsr_tiles *tiles, int64_t count, int32_t wanted, int32_t connectivity, tsr_csg_labels *labels)
{
    TSR_TRY(unite(tiles, count, wanted, connectivity, labels));
    TSR_TRY(tsr_csg_run(&labels->work, TSR_CSG_label_flatten_kernel, labels->nodes));
    TSR_TRY(collect_roots(labels));
    TSR_TRY(number_components(labels));
    return TSR_OK;
}

tsr_status tsr_csg_label(const tsr_tiles *tiles, int32_t wanted, int32_t connectivity, tsr_csg_labels *labels)
{
    tsr_tile_state state;
    memset(labels, 0, sizeof *labels);
    labels->unbounded = UINT32_MAX;
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    if (state.count == 0) return TSR_OK;
    tsr_status status = label(tiles, state.count, wanted, connectivity, labels);
    if (status != TSR_OK) tsr_csg_labels_drop(labels);
    return status;
}

/* ---- components ----------------------------------------------------------------------------------------------------------------------------- */

static tsr_size3 place_of(const tsr_tile_pool *pool, const uint64_t *keys, int64_t node)
{
    const int64_t E = (int64_t)1 << pool->log2_edge, V = E * E * E, k = node % V;
    uint64_t key = keys[node / V];
    return (tsr_size3){ tsr_key_x(key) * E + k % E, tsr_key_y(key) * E + k / E % E, tsr_key_z(key) * E + k / (E * E) };
}

tsr_status tsr_tiles_components(const tsr_tiles *tiles, int32_t connectivity, tsr_component *components, int64_t room, int64_t *count)
{
    TSR_NEEDS(tiles);
    tsr_csg_labels labels;
    uint64_t *keys = NULL;
    int64_t n;
    *count = 0;
    TSR_TRY(tsr_csg_require_field(tiles, "components"));
    if (connectivity != 6 && connectivity != 26) TSR_FAIL(TSR_ERROR_ARGUMENT, "components: connectivity is %d, expected 6 or 26", connectivity);
    TSR_TRY(tsr_csg_label(tiles, 1, connectivity, &labels));
    tsr_status status = components && room > 0 && labels.count > 0 ? tsr_csg_keys(tiles, &keys, &n) : TSR_OK;
    for (int64_t i = 0; keys && i < labels.count && i < room; i++)
        components[i] = (tsr_component){ labels.voxels[i], place_of(&tiles->pool, keys, (int64_t)labels.roots[i]) };
    *count = labels.count;
    free(keys);
    tsr_csg_labels_drop(&labels);
    return status;
}

static tsr_status fill_masks(tsr_csg_labels *labels, uint64_t *masks, int64_t room)
{
    tsr_context *context = labels->work.context;
    const int64_t tiles = labels->work.args.count;
    const size_t bytes = (size_t)tiles * 2 * sizeof(uint32_t);
    void *memory = NULL;
    if (labels->count > 64) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "components: masks of %lld of them, expected at most 64", (long long)labels->count);
    uint32_t *words = (uint32_t *)malloc(bytes);
    if (!words) TSR_FAIL(TSR_ERROR_MEMORY, "components: out of memory for %lld masks", (long long)tiles);
    tsr_status status = tsr_device_allocate(context, bytes, &memory);
    labels->work.args.roots = (uint32_t *)memory;
    if (status == TSR_OK) status = context->backend->fill(context->queue, memory, 0, bytes);
    if (status == TSR_OK) status = tsr_csg_run(&labels->work, TSR_CSG_label_masks_kernel, tiles);
    if (status == TSR_OK) status = context->backend->download(context->queue, words, memory, bytes);
    for (int64_t i = 0; i < tsr_min64(tiles, room) && status == TSR_OK; i++) masks[i] = words[2 * i] | (uint64_t)words[2 * i + 1] << 32;
    tsr_device_release(context, memory, bytes);
    labels->work.args.roots = NULL;
    free(words);
    return status;
}

tsr_status tsr_tiles_component_masks(const tsr_tiles *tiles, uint64_t *masks, int64_t room, int64_t *count)
{
    TSR_NEEDS(tiles, count);
    tsr_csg_labels labels;
    *count = 0;
    TSR_TRY(tsr_csg_require(tiles, "components"));
    TSR_TRY(tsr_csg_label(tiles, 1, 26, &labels));
    const int64_t n = labels.work.args.count;
    tsr_status status = n > 0 && masks && room > 0 ? fill_masks(&labels, masks, room) : TSR_OK;
    if (status == TSR_OK) *count = n;
    tsr_csg_labels_drop(&labels);
    return status;
}

/* `chosen` is device memory, [components]. */
static tsr_status keep_chosen(const tsr_tiles *tiles, tsr_csg_labels *labels, void *chosen, tsr_tiles *to)
{
    tsr_csg_work *work = &labels->work;
    tsr_context *context = tiles->context;
    const int64_t count = work->args.count, V = (int64_t)1 << (3 * tiles->pool.log2_edge);
    work->args.roots = (uint32_t *)chosen;
    TSR_TRY(context->backend->fill(context->queue, work->args.flags, 0, (size_t)count * sizeof(uint32_t)));
    TSR_TRY(tsr_csg_run(work, TSR_CSG_keep_mark_kernel, count * V));
    TSR_TRY(tsr_csg_run(work, TSR_CSG_keep_borders_kernel, count));
    TSR_TRY(tsr_csg_run(work, TSR_CSG_locate_entry_kernel, count));
    TSR_TRY(tsr_csg_link(work, to));
    TSR_TRY(tsr_csg_run(work, TSR_CSG_keep_kernel, count));
    TSR_TRY(tsr_csg_finish(to));
    return TSR_OK;
}

static tsr_status keep_given(const tsr_tiles *tiles, tsr_csg_labels *labels, const uint8_t *keep, int64_t count, tsr_tiles **result)
{
    tsr_context *context = tiles->context;
    void *chosen = NULL;
    size_t bytes = (size_t)tsr_max64(count, 1) * sizeof(uint32_t);
    if (count != labels->count)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "keep: %lld choices, the surface has %lld components", (long long)count, (long long)labels->count);
    uint32_t *host = (uint32_t *)calloc((size_t)tsr_max64(count, 1), sizeof *host);
    if (!host) TSR_FAIL(TSR_ERROR_MEMORY, "keep: out of memory for %lld components", (long long)count);
    for (int64_t i = 0; i < count; i++) host[i] = keep[i] != 0;
    tsr_status status = tsr_device_allocate(context, bytes, &chosen);
    if (status == TSR_OK) status = context->backend->upload(context->queue, chosen, host, bytes);
    if (status == TSR_OK) status = tsr_csg_create_like(tiles, labels->work.args.count, 0, result);
    if (status == TSR_OK && count > 0) status = keep_chosen(tiles, labels, chosen, *result);
    tsr_device_release(context, chosen, bytes);
    free(host);
    return status;
}

tsr_status tsr_tiles_keep(const tsr_tiles *tiles, const uint8_t *keep, int64_t count, tsr_tiles **result)
{
    TSR_RETURNS(result);
    TSR_NEEDS(tiles);
    tsr_csg_labels labels;
    TSR_TRY(tsr_csg_require_field(tiles, "keep"));
    if (!keep && count != 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "keep is NULL");
    TSR_TRY(tsr_csg_label(tiles, 1, 26, &labels));
    tsr_status status = keep_given(tiles, &labels, keep, count, result);
    tsr_csg_labels_drop(&labels);
    if (status != TSR_OK) tsr_tiles_destroy(result);
    return status;
}

/* Components that hold a voxel of `body`. */
static tsr_status keep_touched(const tsr_tiles *tiles, const tsr_tiles *body, tsr_csg_labels *labels, tsr_tiles **result)
{
    tsr_context *context = tiles->context;
    tsr_tile_state state;
    void *chosen;
    const size_t bytes = (size_t)labels->count * sizeof(uint32_t);
    TSR_TRY(tsr_tiles_read_state(body, &state));
    TSR_TRY(tsr_device_allocate(context, bytes, &chosen));
    labels->work.args.b = body->pool;
    labels->work.args.roots = (uint32_t *)chosen;
    tsr_status status = context->backend->fill(context->queue, chosen, 0, bytes);
    if (status == TSR_OK) status = tsr_csg_run(&labels->work, TSR_CSG_keep_where_kernel, (int64_t)state.count << (3 * body->pool.log2_edge));
    if (status == TSR_OK) status = tsr_csg_create_like(tiles, labels->work.args.count, 0, result);
    if (status == TSR_OK) status = keep_chosen(tiles, labels, chosen, *result);
    tsr_device_release(context, chosen, bytes);
    return status;
}

static void replace(tsr_tiles **tiles, tsr_tiles *by)
{
    tsr_tiles_destroy(tiles);
    *tiles = by;
}

/* The first component of the outside, from which the list begins, is the space around: the others are cavities, which become inside. */
static tsr_status fill_cavities(tsr_tiles **tiles)
{
    tsr_tiles *turned = NULL, *around = NULL, *filled = NULL;
    const float *h = (*tiles)->pool.spacing,
                least = 1e-6f * fminf(h[0], fminf(h[1], h[2])); /* zeros are of the outside, of the complement else neither */
    int64_t count;
    uint8_t *keep = NULL;
    TSR_TRY(tsr_csg_merge_lists(*tiles, 0, NULL, 0, TSR_CSG_COMPLEMENT, least, &turned));
    tsr_status status = tsr_tiles_components(turned, 26, NULL, 0, &count);
    if (status == TSR_OK) {
        keep = (uint8_t *)calloc((size_t)count + 1, 1);
        if (keep) keep[0] = 1;
        else status = TSR_FAILED(TSR_ERROR_MEMORY, "cavities: out of memory for %lld", (long long)count);
    }
    if (status == TSR_OK) status = tsr_tiles_keep(turned, keep, count, &around);
    tsr_tiles_destroy(&turned);
    if (status == TSR_OK) status = tsr_tiles_complement(around, &filled);
    tsr_tiles_destroy(&around);
    if (status == TSR_OK) replace(tiles, filled);
    free(keep);
    return status;
}

tsr_status tsr_csg_keep_with(tsr_tiles **tiles, const tsr_tiles *body)
{
    tsr_csg_labels labels;
    tsr_tiles *kept = NULL;
    TSR_TRY(tsr_csg_require_pair(*tiles, body));
    TSR_TRY(tsr_csg_label(*tiles, 1, 6, &labels));
    tsr_status status = labels.count > 1 ? keep_touched(*tiles, body, &labels, &kept) : TSR_OK;
    tsr_csg_labels_drop(&labels);
    if (status != TSR_OK) tsr_tiles_destroy(&kept);
    TSR_TRY(status);
    if (kept) replace(tiles, kept);
    TSR_TRY(tsr_csg_label(*tiles, 0, 26, &labels));
    const int64_t outside = labels.count;
    tsr_csg_labels_drop(&labels);
    if (outside > 1) TSR_TRY(fill_cavities(tiles));
    return TSR_OK;
}

/* ---- measures -------------------------------------------------------------------------------------------------------------------------------- */

struct totals {
    double sums[6];
    int64_t corners[4];
};

/* Volume and first moments of the absent inside tiles, in voxels, added in the order of the list. `host` has room for the sums. */
static tsr_status add_enclosed(tsr_csg_work *work, int64_t count, double *host, struct totals *t)
{
    tsr_context *context = work->context;
    TSR_TRY(tsr_csg_run(work, TSR_CSG_enclosed_sums_kernel, count));
    TSR_TRY(context->backend->download(context->queue, host, work->args.sums, (size_t)count * 5 * sizeof *host));
    for (int64_t i = 0; i < count; i++) {
        t->sums[0] += host[5 * i];
        for (int k = 0; k < 3; k++) t->sums[3 + k] += host[5 * i + 1 + k];
        t->corners[0] += (int64_t)host[5 * i + 4];
    }
    return TSR_OK;
}

static tsr_status sum_with(tsr_csg_work *work, int64_t count, void *memory, size_t sum_bytes, struct totals *t)
{
    tsr_context *context = work->context;
    const int64_t items = count << work->args.a.log2_edge;
    work->args.sums = (double *)memory;
    work->args.corners = (int64_t *)(void *)((char *)memory + sum_bytes);
    double *host = (double *)malloc(sum_bytes);
    if (!host) TSR_FAIL(TSR_ERROR_MEMORY, "measures: out of memory for %lld tiles", (long long)count);
    tsr_status status = context->backend->fill(context->queue, work->args.corners, 0, sizeof t->corners);
    if (status == TSR_OK) status = tsr_csg_run(work, TSR_CSG_locate_entry_kernel, count);
    if (status == TSR_OK) status = tsr_csg_run(work, TSR_CSG_measure_kernel, items);
    if (status == TSR_OK) status = context->backend->download(context->queue, host, memory, sum_bytes);
    if (status == TSR_OK) status = context->backend->download(context->queue, t->corners, work->args.corners, sizeof t->corners);
    for (int64_t i = 0; i < items && status == TSR_OK; i++)
        for (int k = 0; k < 6; k++) t->sums[k] += host[6 * i + k];
    if (status == TSR_OK) status = add_enclosed(work, count, host, t);
    free(host);
    return status;
}

static tsr_status sum_tiles(const tsr_tiles *tiles, int64_t count, double reach, struct totals *t)
{
    tsr_csg_work work;
    void *memory = NULL;
    size_t sum_bytes = (size_t)(count << tiles->pool.log2_edge) * 6 * sizeof(double), bytes = sum_bytes + sizeof t->corners;
    TSR_TRY(tsr_csg_work_take(tiles->context, count, 0, &work));
    work.args.a = tiles->pool;
    work.args.width = (float)reach;
    tsr_status status = tsr_device_allocate(tiles->context, bytes, &memory);
    if (status == TSR_OK) status = sum_with(&work, count, memory, sum_bytes, t);
    tsr_device_release(tiles->context, memory, bytes);
    tsr_csg_work_drop(&work);
    return status;
}

/* Components of a list with `tiles_count` tiles: numbers and sizes are not asked for. The space beyond is none of the outside. */
static tsr_status count_pieces(const tsr_tiles *tiles, int64_t tiles_count, int32_t wanted, int32_t connectivity, int64_t *count)
{
    tsr_csg_labels labels;
    uint32_t found[2] = { 0 };
    tsr_context *context = tiles->context;
    memset(&labels, 0, sizeof labels);
    tsr_status status = unite(tiles, tiles_count, wanted, connectivity, &labels);
    if (status == TSR_OK) status = context->backend->fill(context->queue, labels.work.args.flags, 0, sizeof found);
    if (status == TSR_OK) status = tsr_csg_run(&labels.work, TSR_CSG_label_count_kernel, labels.nodes);
    if (status == TSR_OK) status = context->backend->download(context->queue, found, labels.work.args.flags, sizeof found);
    *count = (int64_t)found[0] - (found[1] && !wanted);
    tsr_csg_labels_drop(&labels);
    return status;
}

/* A list without a tile: all of its domain, or nothing. */
static void measure_constant(const tsr_tile_pool *pool, int inside, tsr_tiles_measures *m)
{
    if (!pool->bounded || !inside) return;
    m->volume = 1;
    for (int k = 0; k < 3; k++) m->volume *= pool->domain[k] > 1 ? pool->domain[k] * (double)pool->spacing[k] : 1;
    m->centroid = (tsr_vec3){ 0.5 * (pool->domain[0] - 1) * (double)pool->spacing[0], 0.5 * (pool->domain[1] - 1) * (double)pool->spacing[1],
                              0.5 * (pool->domain[2] - 1) * (double)pool->spacing[2] };
    m->components = m->euler = 1;
}

tsr_status tsr_tiles_measure(const tsr_tiles *tiles, tsr_tiles_measures *measures)
{
    TSR_NEEDS(tiles, measures);
    tsr_tile_state state;
    struct totals t = { { 0 }, { 0 } };
    int unbounded = 0;
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    TSR_TRY(TSR_STRUCT_GIVE(measures, &m));
    TSR_TRY(tsr_csg_require_field(tiles, "measures"));
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    const tsr_tile_pool *pool = &tiles->pool;
    const float *h = pool->spacing;
    double largest = 0, voxel = 1;
    for (int k = 0; k < 3; k++) m.dimensions += !pool->bounded || pool->domain[k] > 1;
    for (int k = 0; k < 3; k++) {
        if (m.dimensions < 3 && pool->domain[k] == 1) continue; /* nothing varies across a plane */
        largest = fmax(largest, (double)h[k]);
        voxel *= (double)h[k];
    }
    m.tiles = state.count;
    if (state.count == 0) {
        measure_constant(pool, state.background == TSR_TILE_INSIDE, &m);
        return TSR_STRUCT_GIVE(measures, &m);
    }
    m.active_voxels = state.active_voxels;
    /* the edge of the band has no gradient of length 1: no sample of the delta may lie there */
    const double reach = (double)pool->band >= 2 * largest ? 2 : (double)pool->band >= 1.5 * largest ? 1.5 : 1;
    TSR_TRY(sum_tiles(tiles, state.count, reach, &t));
    m.volume = fmax(t.sums[0] * voxel, 0); /* what is smaller than a voxel may come out below 0 */
    m.area = fmax(t.sums[1] * voxel, 0);
    m.mean_curvature = t.sums[1] > 0 ? t.sums[2] / t.sums[1] : 0;
    if (t.sums[0] > 0)
        m.centroid =
            (tsr_vec3){ t.sums[3] / t.sums[0] * (double)h[0], t.sums[4] / t.sums[0] * (double)h[1], t.sums[5] / t.sums[0] * (double)h[2] };
    m.euler = t.corners[0] - t.corners[1] + t.corners[2] - t.corners[3];
    TSR_TRY(count_pieces(tiles, state.count, 1, 6, &m.components)); /* as those of the surface are */
    TSR_TRY(count_pieces(tiles, state.count, 0, 26, &m.cavities));
    TSR_TRY(tsr_csg_is_unbounded(tiles, &state, &unbounded));
    /* An unbounded inside has no outermost surface: its pieces and cavities bound one surface less than those of a bounded one. */
    const int64_t surfaces = m.components + m.cavities - (!pool->bounded && unbounded);
    m.genus = m.dimensions == 3 ? surfaces - m.euler : 0;
    return TSR_STRUCT_GIVE(measures, &m);
}
