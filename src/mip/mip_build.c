/* mip/mip_build.c: from a volume to sorted coefficients: levels, counts per cell, then part by part keys, one sort, places and runs. */
#include "volume/volume.h"
#include "mip/mip_pyramid.h"
#include "tessera/primitives.h"

enum { PART = 1 << 24, RESIDUALS = 65536, RESIDUAL_BINS = (TSR_MIP_LEVELS + 1) * RESIDUALS };

static const tsr_detail_ops *ops_of(const tsr_mip *mip) { return mip->context->backend->detail; }

/* What the parts share: memory for the largest of them. */
struct builder {
    tsr_mip *mip;
    tsr_adjunction a;
    tsr_detail_sort sort;
    uint32_t *cell_count; /* host, per cell */
    int64_t *cell_first;  /* host */
    int64_t cells, most;  /* most: coefficients of a part */
    void *keys[2], *device_cells, *workspace, *select_workspace;
    uint32_t *payload[2], *heads, *brick_runs;
    uint8_t *flags;
    uint64_t *histogram, *found;
    size_t key_bytes, workspace_bytes, select_bytes;
    struct part_runs {
        void *runs;
        int64_t count;
    } * parts;
    int64_t part_count;
};

static tsr_status device_new(struct builder *b, int64_t bytes, void *memory)
{
    TSR_TRY(tsr_device_allocate(b->mip->context, (size_t)tsr_max64(bytes, 8), (void **)memory));
    return TSR_OK;
}
static void device_free(struct builder *b, void *memory, int64_t bytes)
{
    if (memory) tsr_device_release(b->mip->context, memory, (size_t)tsr_max64(bytes, 8));
}

/* Numbers per cell; the bricks of the format; room for all. */
static tsr_status count_cells(struct builder *b)
{
    tsr_mip *mip = b->mip;
    tsr_details *d = &mip->details;
    uint32_t *counts = NULL;
    tsr_status status;
    b->cells = tsr_adjunction_cells(d->cells);
    TSR_TRY(tsr_host_allocate(NULL, (size_t)b->cells * 4, (void **)&b->cell_count));
    TSR_TRY(tsr_host_allocate(NULL, (size_t)(b->cells + 1) * 8, (void **)&b->cell_first));
    TSR_TRY(device_new(b, b->cells * 4, &counts));
    status = ops_of(mip)->count(mip->context->queue, &b->a, d, counts);
    if (status == TSR_OK) status = tsr_device_move(NULL, b->cell_count, mip->context, counts, (size_t)b->cells * 4);
    device_free(b, counts, b->cells * 4);
    TSR_TRY(status);
    int64_t sum = 0;
    for (int64_t i = 0; i < b->cells; i++) {
        b->cell_first[i] = sum;
        sum += b->cell_count[i];
    }
    b->cell_first[b->cells] = sum;
    d->count = sum;
    d->bricks = d->format == TSR_MIP_BRICKS ? b->cells : 1;
    if (d->format != TSR_MIP_BRICKS && sum > UINT32_MAX)
        TSR_FAIL(TSR_ERROR_CAPACITY, "mip: %lld coefficients, formats of lists hold at most 2^32 - 1: take bricks", (long long)sum);
    TSR_TRY(tsr_host_allocate(&mip->context->host_allocator, (size_t)d->bricks * sizeof *mip->brick, (void **)&mip->brick));
    for (int64_t i = 0; i < d->bricks; i++)
        mip->brick[i] = (tsr_detail_brick){ .first = b->cell_first[i], .count = d->bricks == b->cells ? b->cell_count[i] : (uint32_t)sum };
    return TSR_OK;
}

/* End of the part that begins at cell `from`. Lists are sorted as a whole. */
static int64_t part_end(const struct builder *b, int64_t from)
{
    int64_t end = from + 1;
    if (b->mip->details.format != TSR_MIP_BRICKS) return b->cells;
    while (end < b->cells && end - from < 65536 && b->cell_first[end + 1] - b->cell_first[from] <= PART) end++;
    return end;
}

static int32_t bits_for(int64_t values)
{
    int32_t bits = 0;
    while ((int64_t)1 << bits < values) bits++;
    return bits;
}

static tsr_status prepare(struct builder *b)
{
    tsr_mip *mip = b->mip;
    const tsr_details *d = &mip->details;
    int64_t widest = 1;
    for (int64_t c = 0; c < b->cells; b->part_count++) {
        const int64_t end = part_end(b, c);
        b->most = tsr_max64(b->most, b->cell_first[end] - b->cell_first[c]);
        if (d->format == TSR_MIP_BRICKS) widest = tsr_max64(widest, end - c);
        c = end;
    }
    b->sort.value_bits = 8 * d->bytes;
    b->sort.level_bits = bits_for(d->levels + 1);
    b->sort.brick_bits = bits_for(widest);
    b->sort.key_bytes = 2 * b->sort.value_bits + b->sort.level_bits + b->sort.brick_bits <= 32 ? 4 : 8;
    const tsr_dtype key = b->sort.key_bytes == 4 ? TSR_U32 : TSR_U64;
    b->key_bytes = (size_t)b->most * (size_t)b->sort.key_bytes;
    TSR_TRY(tsr_sort_workspace(mip->context, key, 1, b->most, &b->workspace_bytes));
    TSR_TRY(tsr_select_workspace(mip->context, b->most, &b->select_bytes));
    for (int k = 0; k < 2; k++) {
        TSR_TRY(device_new(b, (int64_t)b->key_bytes, &b->keys[k]));
        TSR_TRY(device_new(b, b->most * 4, &b->payload[k]));
    }
    TSR_TRY(device_new(b, (b->cells + 1) * 8, &b->device_cells));
    TSR_TRY(tsr_device_move(mip->context, b->device_cells, NULL, b->cell_first, (size_t)(b->cells + 1) * 8));
    TSR_TRY(device_new(b, (int64_t)b->workspace_bytes, &b->workspace));
    TSR_TRY(device_new(b, (int64_t)b->select_bytes, &b->select_workspace));
    TSR_TRY(device_new(b, b->most, &b->flags));
    TSR_TRY(device_new(b, b->most * 4, &b->heads));
    TSR_TRY(device_new(b, d->bricks * 4, &b->brick_runs));
    TSR_TRY(device_new(b, RESIDUAL_BINS * 8, &b->histogram));
    TSR_TRY(device_new(b, 8, &b->found));
    TSR_TRY(tsr_host_allocate(NULL, (size_t)(b->part_count + 1) * sizeof *b->parts, (void **)&b->parts));
    memset(b->parts, 0, (size_t)(b->part_count + 1) * sizeof *b->parts);
    TSR_TRY(mip->context->backend->fill(mip->context->queue, b->brick_runs, 0, (size_t)d->bricks * 4));
    TSR_TRY(mip->context->backend->fill(mip->context->queue, b->histogram, 0, RESIDUAL_BINS * 8));
    return TSR_OK;
}

static tsr_status build_part(struct builder *b, int64_t from, int64_t end, struct part_runs *runs, const tsr_progress *progress)
{
    tsr_mip *mip = b->mip;
    const tsr_detail_ops *ops = ops_of(mip);
    const tsr_details *d = &mip->details;
    tsr_detail_sort *s = &b->sort;
    const tsr_dtype key = s->key_bytes == 4 ? TSR_U32 : TSR_U64;
    const double begin = 0.1 + 0.8 * (double)from / (double)b->cells, share = 0.8 * (double)(end - from) / (double)b->cells;
    s->brick = d->format == TSR_MIP_BRICKS ? from : 0;
    s->bricks = end - from;
    s->first = b->cell_first[from];
    s->count = b->cell_first[end] - s->first;
    s->cell = (const int64_t *)b->device_cells;
    s->keys = b->keys[0];
    s->payload = b->payload[0];
    if (!s->count) return TSR_OK;
    TSR_PROGRESS(progress, begin, "coefficients");
    TSR_TRY(ops->emit(mip->context->queue, &b->a, d, s));
    TSR_PROGRESS(progress, begin + 0.2 * share, "coefficients"); /* a list is one part, however long */
    TSR_TRY(tsr_sort(mip->context, key, b->keys[0], b->keys[1], b->payload[0], b->payload[1], s->count, 0,
                     2 * s->value_bits + s->level_bits + s->brick_bits, b->workspace, b->workspace_bytes));
    s->keys = b->keys[1];
    s->payload = b->payload[1];
    TSR_PROGRESS(progress, begin + 0.7 * share, "coefficients");
    TSR_TRY(ops->code(mip->context->queue, d, s, b->flags, b->brick_runs, b->histogram));
    TSR_TRY(tsr_select_indices(mip->context, (tsr_predicate){ .kind = TSR_KEEP_NONZERO }, TSR_U8, b->flags, s->count, TSR_U32, b->heads, s->count,
                               b->found, b->select_workspace, b->select_bytes));
    uint64_t found;
    TSR_TRY(tsr_found_host(mip->context, b->found, -1, &found));
    TSR_TRY(device_new(b, (int64_t)found * (int64_t)sizeof(tsr_detail_run), &runs->runs));
    runs->count = (int64_t)found;
    TSR_TRY(ops->runs(mip->context->queue, d, s, b->heads, runs->count, (tsr_detail_run *)runs->runs));
    return TSR_OK;
}

/* All runs side by side, the bricks know theirs. */
static tsr_status join_runs(struct builder *b)
{
    tsr_mip *mip = b->mip;
    tsr_details *d = &mip->details;
    uint32_t *counts;
    int64_t sum = 0;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)d->bricks * 4, (void **)&counts));
    const tsr_status status = tsr_device_move(NULL, counts, mip->context, b->brick_runs, (size_t)d->bricks * 4);
    for (int64_t i = 0; i < d->bricks && status == TSR_OK; i++) {
        mip->brick[i].run = (uint32_t)sum;
        mip->brick[i].runs = counts[i];
        sum += counts[i];
    }
    tsr_host_release(NULL, counts, (size_t)d->bricks * 4);
    TSR_TRY(status);
    if (sum > UINT32_MAX) TSR_FAIL(TSR_ERROR_CAPACITY, "mip: %lld runs, expected at most 2^32 - 1", (long long)sum);
    int64_t at = 0;
    for (int64_t p = 0; p < b->part_count; p++) {
        if (b->parts[p].count == 0) continue; /* there may be no run at all, and no memory for them */
        TSR_TRY(tsr_device_move(mip->context, d->run + at, mip->context, b->parts[p].runs, (size_t)b->parts[p].count * sizeof *d->run));
        at += b->parts[p].count;
    }
    return TSR_OK;
}

static void builder_free(struct builder *b)
{
    const tsr_details *d = &b->mip->details;
    for (int k = 0; k < 2; k++) {
        device_free(b, b->keys[k], (int64_t)b->key_bytes);
        device_free(b, b->payload[k], b->most * 4);
    }
    device_free(b, b->device_cells, (b->cells + 1) * 8);
    device_free(b, b->workspace, (int64_t)b->workspace_bytes);
    device_free(b, b->select_workspace, (int64_t)b->select_bytes);
    device_free(b, b->flags, b->most);
    device_free(b, b->heads, b->most * 4);
    device_free(b, b->brick_runs, d->bricks * 4);
    device_free(b, b->histogram, RESIDUAL_BINS * 8);
    device_free(b, b->found, 8);
    for (int64_t p = 0; b->parts && p < b->part_count; p++) device_free(b, b->parts[p].runs, b->parts[p].count * (int64_t)sizeof(tsr_detail_run));
    if (b->parts) tsr_host_release(NULL, b->parts, (size_t)(b->part_count + 1) * sizeof *b->parts);
    if (b->cell_count) tsr_host_release(NULL, b->cell_count, (size_t)b->cells * 4);
    if (b->cell_first) tsr_host_release(NULL, b->cell_first, (size_t)(b->cells + 1) * 8);
}

static tsr_status build_levels(struct builder *b, const tsr_volume *volume, const tsr_progress *progress)
{
    tsr_mip *mip = b->mip;
    tsr_adjunction *a = &b->a;
    a->levels = mip->info.levels;
    a->bytes = mip->details.bytes;
    memcpy(a->size, mip->details.size, sizeof a->size);
    a->level[0] = volume->data;
    for (int32_t j = 1; j <= a->levels; j++) {
        TSR_TRY(device_new(b, tsr_adjunction_cells(a->size[j]) * a->bytes, &a->level[j]));
        TSR_PROGRESS(progress, 0.1 * (j - 1) / a->levels, "levels");
        TSR_TRY(ops_of(mip)->reduce(mip->context->queue, a, j - 1));
    }
    return TSR_OK;
}

static tsr_status build(struct builder *b, const tsr_volume *volume, const tsr_progress *progress)
{
    tsr_mip *mip = b->mip;
    uint64_t *histogram = NULL;
    tsr_status status;
    TSR_PROGRESS(progress, 0, "levels");
    TSR_TRY(build_levels(b, volume, progress));
    TSR_PROGRESS(progress, 0.1, "levels");
    TSR_TRY(count_cells(b));
    b->a.same = mip->info.key == TSR_MIP_KEY_NONE;
    if (mip->info.key == TSR_MIP_KEY_GREEDY) TSR_TRY(tsr_mip_order_greedily(mip, &b->a, progress));
    TSR_TRY(prepare(b));
    TSR_TRY(tsr_mip_allocate(mip)); /* the bricks and their coefficients; the number of runs is known last */
    TSR_TRY(tsr_device_move(mip->context, mip->details.brick, NULL, mip->brick, (size_t)mip->details.bricks * sizeof *mip->brick));
    int64_t from = 0;
    for (int64_t p = 0; p < b->part_count; p++) {
        const int64_t end = part_end(b, from);
        TSR_TRY(build_part(b, from, end, &b->parts[p], progress));
        from = end;
    }
    for (int64_t p = 0; p < b->part_count; p++) mip->details.runs += b->parts[p].count;
    TSR_PROGRESS(progress, 0.9, "runs");
    TSR_TRY(tsr_mip_allocate(mip));
    TSR_TRY(join_runs(b));
    TSR_TRY(tsr_host_allocate(NULL, RESIDUAL_BINS * 8, (void **)&histogram));
    status = tsr_device_move(NULL, histogram, mip->context, b->histogram, RESIDUAL_BINS * 8);
    if (status == TSR_OK) status = tsr_mip_complete(mip, histogram);
    tsr_host_release(NULL, histogram, RESIDUAL_BINS * 8);
    TSR_TRY(status);
    return TSR_OK;
}

static tsr_status check_volume(const tsr_volume *volume)
{
    if (volume->dtype == TSR_F32 || volume->dtype == TSR_F64)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: the volume is %s, expected u8 or u16: choose a range and convert it", tsr_dtype_name(volume->dtype));
    if (volume->dtype != TSR_U8 && volume->dtype != TSR_U16)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: the volume is %s, expected u8 or u16: add an offset and convert it", tsr_dtype_name(volume->dtype));
    return TSR_OK;
}

tsr_status tsr_mip_create(tsr_context *context, const tsr_volume *volume, const tsr_mip_options *own, tsr_mip **result, tsr_adjunction *a)
{
    TSR_TRY(check_volume(volume));
    const int one = volume->size.x == 1 && volume->size.y == 1 && volume->size.z == 1; /* a single voxel has one reduction */
    const int32_t levels = own->levels < 0 ? 0 : own->levels ? own->levels : one ? 1 : 2;
    if ((unsigned)own->key > TSR_MIP_KEY_GREEDY)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: key is %d, expected one of tsr_mip_key (0 to %d)", (int)own->key, (int)TSR_MIP_KEY_GREEDY);
    TSR_TRY(tsr_mip_element_points(own->element, own->points, own->point_count, a));
    TSR_TRY(tsr_mip_check_levels(volume->size, levels));
    TSR_TRY(tsr_host_allocate(&context->host_allocator, sizeof **result, (void **)result));
    tsr_mip *mip = *result;
    *mip = (tsr_mip){ .context = context,
                      .geometry = volume->geometry,
                      .slope = volume->slope,
                      .intercept = volume->intercept,
                      .selected = -1,
                      .chunk_to = -1,
                      .order_to = -1 };
    mip->info = (tsr_mip_info){ .size = volume->size,
                                .levels = levels,
                                .dtype = volume->dtype,
                                .element = own->element,
                                .points = a->points,
                                .key = own->key,
                                .format = own->format };
    memcpy(mip->point, a->point, sizeof mip->point);
    TSR_TRY(tsr_mip_plan(mip));
    return TSR_OK;
}

tsr_status tsr_mip_build_plain(tsr_context *context, const tsr_volume *volume, const tsr_mip_options *own, tsr_mip **result)
{
    struct builder b = { 0 };
    tsr_status status = tsr_mip_create(context, volume, own, result, &b.a);
    b.mip = *result;
    if (status == TSR_OK) {
        status = build(&b, volume, &own->progress);
        for (int32_t j = 1; j <= b.a.levels; j++) device_free(&b, b.a.level[j], tsr_adjunction_cells(b.a.size[j]) * b.a.bytes);
        for (int32_t j = 0; j <= b.a.levels; j++) device_free(&b, b.a.code[j], tsr_adjunction_cells(b.a.size[j]) * b.a.bytes);
        builder_free(&b);
    }
    if (status != TSR_OK) tsr_mip_destroy(result);
    TSR_TRY(status);
    return TSR_OK;
}
