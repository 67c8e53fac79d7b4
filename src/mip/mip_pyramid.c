/* mip/mip_pyramid.c: memory of a pyramid, its numbers, and the way back to the volume. */
#include "mip/mip_pyramid.h"

#include <stdlib.h>

#include "volume/volume.h"

static int64_t tie_bins(const tsr_details *d) { return (int64_t)(d->levels + 1) << (8 * d->bytes); }

/* Calls f for every array of device memory and its bytes. */
static tsr_status each_array(tsr_mip *mip, tsr_status (*f)(tsr_mip *, void **, int64_t))
{
    tsr_details *d = &mip->details;
    TSR_TRY(f(mip, (void **)&d->brick, d->bricks * (int64_t)sizeof *d->brick));
    TSR_TRY(f(mip, (void **)&d->order, d->bricks * (int64_t)sizeof *d->order));
    TSR_TRY(f(mip, (void **)&mip->most, d->bricks * 4));
    TSR_TRY(f(mip, &d->place, d->count * d->width));
    TSR_TRY(f(mip, &d->residual, d->count * d->bytes));
    TSR_TRY(f(mip, (void **)&d->run, d->runs * (int64_t)sizeof *d->run));
    TSR_TRY(f(mip, (void **)&d->from, d->runs * 4));
    TSR_TRY(f(mip, (void **)&d->to, d->runs * 4));
    TSR_TRY(f(mip, (void **)&mip->ties, tie_bins(d) * 8));
    return TSR_OK;
}

static tsr_status allocate(tsr_mip *mip, void **memory, int64_t bytes)
{
    if (*memory || !bytes) return TSR_OK;
    TSR_TRY(tsr_device_allocate(mip->context, (size_t)bytes, memory));
    mip->info.device_bytes += bytes;
    return TSR_OK;
}
static tsr_status release(tsr_mip *mip, void **memory, int64_t bytes)
{
    if (*memory) tsr_device_release(mip->context, *memory, (size_t)bytes);
    return TSR_OK;
}

static tsr_status add_bytes(tsr_mip *mip, void **memory, int64_t bytes)
{
    (void)memory;
    mip->info.device_bytes += bytes;
    return TSR_OK;
}

tsr_status tsr_mip_allocate(tsr_mip *mip)
{
    const tsr_status status = each_array(mip, allocate);
    if (status == TSR_OK) return TSR_OK;
    if (status != TSR_ERROR_MEMORY) TSR_TRY(status);
    mip->info.device_bytes = 0;
    TSR_TRY(each_array(mip, add_bytes));
    const int64_t needed = mip->info.device_bytes, each = mip->details.width + mip->details.bytes;
    mip->info.device_bytes = 0;
    TSR_FAIL(TSR_ERROR_MEMORY,
             "mip: the device has no room for %lld bytes, of which %lld coefficients take %lld: keep fewer of them, --keep, or draw piece by piece, "
             "--stream (tsr_mip_keep, tsr_mip_stream_create)",
             (long long)needed, (long long)mip->details.count, (long long)(mip->details.count * each));
}

void tsr_mip_destroy(tsr_mip **result)
{
    if (!result || !*result) return;
    tsr_mip *mip = *result;
    const tsr_allocator *host = &mip->context->host_allocator;
    *result = NULL;
    (void)(each_array(mip, release) == TSR_OK);
    if (mip->chunk) tsr_device_release(mip->context, mip->chunk, (size_t)mip->chunk_bytes);
    if (mip->brick) tsr_host_release(host, mip->brick, (size_t)mip->details.bricks * sizeof *mip->brick);
    if (mip->rank) tsr_host_release(host, mip->rank, (size_t)mip->ranks * sizeof *mip->rank);
    tsr_host_release(host, mip, sizeof *mip);
}

static const tsr_mip_info nothing;

const tsr_mip_info *tsr_mip_describe(const tsr_mip *mip) { return mip ? &mip->info : &nothing; }

void tsr_mip_get_points(const tsr_mip *mip, int8_t (*points)[3])
{
    for (int32_t i = 0; mip && i < mip->info.points; i++) memcpy(points[i], mip->point[i], 3);
}

/* ---- what follows from the coefficients ---------------------------------------------------------------------------------------------------- */

static int by_effect(const void *a, const void *b)
{
    const uint64_t x = ((const tsr_mip_rank *)a)->effect, y = ((const tsr_mip_rank *)b)->effect;
    return x < y ? 1 : x > y ? -1 : 0;
}

static int32_t key_shift(tsr_mip_key key)
{
    static const int32_t shift[TSR_MIP_KEY_GREEDY + 1] = { 1, 0, 2, 3, 0, 0 }; /* IMAGE1, RESIDUAL, IMAGE, VOLUME, NONE, GREEDY */
    return shift[key];
}

/* Effects, largest first, equal ones of several levels together. */
tsr_status tsr_mip_make_ranks(tsr_mip *mip, const uint64_t *histogram)
{
    int64_t n = 0;
    for (int32_t j = 0; j <= mip->info.levels; j++)
        for (int32_t e = 1; e < 65536; e++) n += histogram[j * 65536 + e] != 0;
    if (!n) return TSR_OK;
    TSR_TRY(tsr_host_allocate(&mip->context->host_allocator, (size_t)n * sizeof *mip->rank, (void **)&mip->rank));
    mip->ranks = n;
    n = 0;
    for (int32_t j = 0; j <= mip->info.levels; j++)
        for (int32_t e = 1; e < 65536; e++)
            if (histogram[j * 65536 + e])
                mip->rank[n++] =
                    (tsr_mip_rank){ .effect = (uint64_t)e << (key_shift(mip->info.key) * j), .count = (int64_t)histogram[j * 65536 + e] };
    qsort(mip->rank, (size_t)n, sizeof *mip->rank, by_effect);
    int64_t kept = 0, before = 0;
    for (int64_t i = 0; i < n; i++) {
        const tsr_mip_rank r = mip->rank[i];
        if (kept && mip->rank[kept - 1].effect == r.effect) mip->rank[kept - 1].count += r.count;
        else mip->rank[kept++] = (tsr_mip_rank){ r.effect, before, r.count };
        before += r.count;
    }
    for (int64_t i = kept; i < n; i++) mip->rank[i] = (tsr_mip_rank){ 0, before, 0 };
    return TSR_OK;
}

/* Coefficients by level. */
static tsr_status count_levels(tsr_mip *mip)
{
    const tsr_details *d = &mip->details;
    tsr_detail_run *runs;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)d->runs * sizeof *runs + 1, (void **)&runs));
    const tsr_status status = d->runs ? tsr_device_move(NULL, runs, mip->context, d->run, (size_t)d->runs * sizeof *runs) : TSR_OK;
    for (int64_t i = 0; i < d->bricks && status == TSR_OK; i++) {
        const tsr_detail_brick *b = &mip->brick[i];
        for (uint32_t k = b->run; k < b->run + b->runs; k++) {
            const uint32_t count = (k + 1 < b->run + b->runs ? runs[k + 1].first : b->count) - runs[k].first;
            mip->info.by_level[runs[k].level] += count;
        }
    }
    tsr_host_release(NULL, runs, (size_t)d->runs * sizeof *runs + 1);
    TSR_TRY(status);
    return TSR_OK;
}

tsr_status tsr_mip_complete(tsr_mip *mip, const uint64_t *histogram)
{
    tsr_details *d = &mip->details;
    mip->info.spacing = tsr_geometry_spacing(&mip->geometry);
    mip->info.geometry = mip->geometry;
    mip->info.coefficients = d->count;
    mip->info.runs = d->runs;
    mip->info.bricks = d->bricks;
    TSR_TRY(count_levels(mip));
    TSR_TRY(tsr_mip_make_ranks(mip, histogram));
    TSR_TRY(tsr_device_move(mip->context, d->brick, NULL, mip->brick, (size_t)d->bricks * sizeof *mip->brick));
    return TSR_OK;
}

/* ---- selection --------------------------------------------------------------------------------------------------------------------------- */

int64_t tsr_mip_bins(const tsr_mip *mip) { return tie_bins(&mip->details); }

void tsr_mip_bar_of(const tsr_mip *mip, int64_t count, tsr_detail_choice *c)
{
    const int32_t shift = key_shift(mip->info.key);
    *c = (tsr_detail_choice){ .values = 1 << (8 * mip->details.bytes) };
    if (count >= mip->info.coefficients) return; /* residuals are at least 1 */
    int64_t low = 0, high = mip->ranks;          /* the rank that count ends in: before < count <= before + count */
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (mip->rank[middle].before + mip->rank[middle].count < count) low = middle + 1;
        else high = middle;
    }
    const tsr_mip_rank none = { .effect = UINT64_MAX };
    const tsr_mip_rank *r = count && low < mip->ranks ? &mip->rank[low] : &none;
    c->rest = count ? count - r->before : 0;
    for (int32_t j = 0; j <= mip->details.levels; j++) { /* e << s > effect where e > effect >> s */
        const uint64_t bar = r->effect >> (shift * j);
        c->above[j] = bar > UINT32_MAX ? UINT32_MAX : (uint32_t)bar;
        c->equal[j] = bar << (shift * j) == r->effect && bar < 65536 ? (uint32_t)bar : 0;
    }
}

tsr_status tsr_mip_bar_choose(tsr_mip *mip, const tsr_detail_choice *bar, uint64_t *ties)
{
    const tsr_backend *backend = mip->context->backend;
    const int64_t bins = tie_bins(&mip->details);
    tsr_detail_choice c = *bar;
    uint64_t *own;
    c.ties = mip->ties;
    TSR_TRY(backend->fill(mip->context->queue, mip->ties, 0, (size_t)bins * 8));
    TSR_TRY(backend->detail->choose(mip->context->queue, &mip->details, &c));
    if (!ties) return TSR_OK;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)bins * 8, (void **)&own));
    const tsr_status status = tsr_device_move(NULL, own, mip->context, mip->ties, (size_t)bins * 8);
    for (int64_t i = 0; i < bins && status == TSR_OK; i++) ties[i] += own[i];
    tsr_host_release(NULL, own, (size_t)bins * 8);
    TSR_TRY(status);
    return TSR_OK;
}

void tsr_mip_bar_bin(const tsr_mip *mip, const uint64_t *ties, tsr_detail_choice *c)
{
    const int64_t bins = tie_bins(&mip->details);
    for (c->bin = 0; c->bin < bins && (int64_t)ties[c->bin] <= c->rest; c->bin++) c->rest -= (int64_t)ties[c->bin];
}

tsr_status tsr_mip_bar_ties(tsr_mip *const *parts, int32_t count, tsr_detail_choice *c)
{
    const int64_t bricks = parts[0]->details.bricks;
    const size_t bytes = (size_t)bricks * 4 * (size_t)count;
    uint32_t *numbers;
    for (int32_t g = 0; g < count; g++) TSR_TRY(parts[g]->context->backend->detail->choose_ties(parts[g]->context->queue, &parts[g]->details, c));
    if (!c->rest) return TSR_OK;
    TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&numbers));
    tsr_status status = TSR_OK;
    for (int32_t g = 0; g < count && status == TSR_OK; g++) {
        tsr_mip *p = parts[g];
        status = p->context->backend->detail->count_rest(p->context->queue, &p->details, c, p->most);
        if (status == TSR_OK) status = tsr_device_move(NULL, numbers + g * bricks, p->context, p->most, (size_t)bricks * 4);
    }
    for (int64_t i = 0; i < bricks && status == TSR_OK; i++) /* brick after brick, whoever has it */
        for (int32_t g = 0; g < count; g++) {
            uint32_t *n = &numbers[g * bricks + i];
            if (*n > c->rest) *n = (uint32_t)c->rest;
            c->rest -= *n;
        }
    for (int32_t g = 0; g < count && status == TSR_OK; g++) {
        tsr_mip *p = parts[g];
        status = tsr_device_move(p->context, p->most, NULL, numbers + g * bricks, (size_t)bricks * 4);
        if (status == TSR_OK) status = p->context->backend->detail->choose_rest(p->context->queue, &p->details, c, p->most);
    }
    tsr_host_release(NULL, numbers, bytes);
    TSR_TRY(status);
    return TSR_OK;
}

tsr_status tsr_mip_bar_apply(tsr_mip *const *parts, int32_t count, tsr_detail_choice *c)
{
    const int64_t bins = tie_bins(&parts[0]->details);
    uint64_t *ties = NULL;
    tsr_status status = TSR_OK;
    if (c->rest) {
        TSR_TRY(tsr_host_allocate(NULL, (size_t)bins * 8, (void **)&ties));
        memset(ties, 0, (size_t)bins * 8);
    }
    for (int32_t g = 0; g < count && status == TSR_OK; g++) status = tsr_mip_bar_choose(parts[g], c, ties);
    if (ties) {
        if (status == TSR_OK) tsr_mip_bar_bin(parts[0], ties, c);
        tsr_host_release(NULL, ties, (size_t)bins * 8);
        if (status == TSR_OK) status = tsr_mip_bar_ties(parts, count, c);
    }
    TSR_TRY(status);
    return TSR_OK;
}

/* What was selected is where drawing begins, or nothing is. */
static tsr_status begin_selection(tsr_mip *mip, int refine)
{
    tsr_details *d = &mip->details;
    const tsr_backend *backend = mip->context->backend;
    if (refine) {
        uint32_t *from = d->from;
        d->from = d->to;
        d->to = from;
        mip->selected_from = mip->selected;
        mip->selected = -1;
    } else if (mip->selected_from != 0 || mip->selected < 0) {
        TSR_TRY(backend->fill(mip->context->queue, d->from, 0, (size_t)d->runs * 4));
        mip->selected_from = 0;
    }
    return TSR_OK;
}

tsr_status tsr_mip_select_parts(tsr_mip *const *parts, int32_t parts_count, const tsr_mip *ranked, int64_t count, int refine)
{
    tsr_detail_choice c;
    int known = 1;
    for (int32_t g = 0; g < parts_count; g++) {
        if (parts[g]->details.runs) TSR_TRY(begin_selection(parts[g], refine));
        known &= parts[g]->selected == count;
    }
    if (known) return TSR_OK;
    for (int32_t g = 0; g < parts_count; g++) parts[g]->selected = -1;
    tsr_mip_bar_of(ranked, count, &c);
    TSR_TRY(tsr_mip_bar_apply(parts, parts_count, &c));
    for (int32_t g = 0; g < parts_count; g++) parts[g]->selected = count;
    return TSR_OK;
}

tsr_status tsr_mip_select(tsr_mip *mip, int64_t count, int refine)
{
    if (!mip->details.runs) return TSR_OK;
    TSR_TRY(tsr_mip_select_parts(&mip, 1, mip, count, refine));
    return TSR_OK;
}

/* ---- the way back ------------------------------------------------------------------------------------------------------------------------ */

tsr_status tsr_mip_reconstruct(const tsr_mip *mip, tsr_volume **volume)
{
    TSR_RETURNS(volume);
    TSR_NEEDS(mip);
    tsr_adjunction a = { 0 };
    tsr_status status;
    const tsr_backend *backend = mip->context->backend;
    a.levels = mip->info.levels;
    a.bytes = mip->details.bytes;
    a.cube2 = mip->info.element == TSR_MIP_CUBE2;
    a.points = mip->info.points;
    memcpy(a.point, mip->point, sizeof a.point);
    memcpy(a.size, mip->details.size, sizeof a.size);
    TSR_TRY(tsr_volume_create(mip->context, mip->info.dtype, mip->info.size, &mip->geometry, volume));
    TSR_TRY_GOTO(tsr_volume_set_scaling(*volume, mip->slope, mip->intercept), done);
    a.level[0] = (*volume)->data;
    for (int32_t j = 1; j <= a.levels; j++) {
        const size_t bytes = (size_t)(tsr_adjunction_cells(a.size[j]) * a.bytes);
        TSR_TRY_GOTO(tsr_device_allocate(mip->context, bytes, &a.level[j]), done);
        TSR_TRY_GOTO(backend->fill(mip->context->queue, a.level[j], 0, bytes), done);
    }
    TSR_TRY_GOTO(backend->detail->scatter(mip->context->queue, &a, &mip->details), done);
    for (int32_t j = a.levels - 1; j >= 0; j--) TSR_TRY_GOTO(backend->detail->expand(mip->context->queue, &a, j), done);
    status = backend->synchronize(mip->context->queue);
done:
    for (int32_t j = 1; j <= a.levels; j++)
        if (a.level[j]) tsr_device_release(mip->context, a.level[j], (size_t)(tsr_adjunction_cells(a.size[j]) * a.bytes));
    if (status != TSR_OK) tsr_volume_destroy(volume);
    return status;
}
