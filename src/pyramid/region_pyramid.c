#include "pyramid/region_tree.h"

#include <math.h>

static int32_t dimensions(tsr_size3 size) { return size.z > 1 ? 3 : 2; }

static void plan_levels(tsr_regions *t, tsr_size3 size)
{
    const int64_t n[3] = { size.x, size.y, size.z }, most = tsr_max64(size.x, tsr_max64(size.y, size.z));
    t->bits = dimensions(size);
    t->brick = t->bits == 3 ? 2 : 3;
    while (((int64_t)1 << t->top) < most) t->top++;
    for (int32_t l = t->brick; l <= tsr_region_highest(t); l++)
        for (int k = 0; k < 3; k++) t->level[l].size[k] = k < 2 || t->bits == 3 ? ((n[k] - 1) >> l) + 1 : 1;
}

/* Bytes of everything; the pointers are set if there is memory. */
static int64_t place(tsr_regions *t, int stored, int states, char *memory)
{
    int64_t at = 0;
    const int64_t bricks = tsr_region_cells(&t->level[t->brick]);
#define TAKE(pointer, type, bytes)                           \
    do {                                                     \
        if (memory) (pointer) = (type)(void *)(memory + at); \
        at += tsr_ceil_div((bytes), 256) * 256;              \
    } while (0)
    TAKE(t->words, uint64_t *, bricks * 8);
    if (stored) TAKE(t->merged, uint64_t *, bricks * 8);
    for (int32_t l = t->brick; l <= tsr_region_highest(t); l++) {
        const int64_t cells = tsr_region_cells(&t->level[l]);
        if (l > t->brick) TAKE(t->level[l].counts, int64_t *, cells * 16);
        if (states) TAKE(t->level[l].state, float *, cells *states *(int64_t)sizeof(float));
    }
#undef TAKE
    return at;
}

static tsr_status check(tsr_size3 size, const tsr_region_options *o)
{
    int64_t bytes;
    const int64_t most = (int64_t)1 << (dimensions(size) == 3 ? 19 : 28);
    TSR_TRY(tsr_size_bytes(size, 8, "region tree", &bytes));
    if (size.x > most || size.y > most || size.z > most)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: %lld x %lld x %lld voxels, expected extents up to %lld", (long long)size.x, (long long)size.y,
                 (long long)size.z, (long long)most);
    if ((unsigned)o->rule > TSR_REGION_SPREAD)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: rule is %d, expected one of tsr_region_rule_kind (0 to %d)", (int)o->rule, (int)TSR_REGION_SPREAD);
    if (o->rule == TSR_REGION_CLASSES) {
        if (o->classifier == TSR_PYRAMID_COUNTS || o->classifier == TSR_PYRAMID_CROSSINGS)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: classifier gives counts, expected one that gives 0 or 1: range, nonzero, label, ...");
        TSR_TRY(tsr_classifier_check("region tree", o->classifier, o->lower, o->upper));
    } else if (!(o->threshold >= 0)) {
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: threshold is %g, expected 0 or more", o->threshold);
    }
    if ((o->complement || o->singles) && tsr_region_clusters(o->rule))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: complement and singles are for the rules classes, edges and linear: all voxels are kept here");
    return TSR_OK;
}

tsr_status tsr_region_pyramid_create(tsr_context *context, tsr_size3 size, const tsr_region_options *options, tsr_region_pyramid **pyramid)
{
    tsr_region_options own;
    tsr_status status;
    *pyramid = NULL;
    if (!context) TSR_FAIL(TSR_ERROR_ARGUMENT, "context is NULL");
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(check(size, &own));
    TSR_TRY(tsr_host_allocate(&context->host_allocator, sizeof **pyramid, (void **)pyramid));
    tsr_region_pyramid *p = *pyramid;
    *p = (tsr_region_pyramid){ .context = context, .options = own, .size = size };
    plan_levels(&p->regions, size);
    const int states = own.rule == TSR_REGION_DEVIATION ? TSR_REGION_CHANNELS : own.rule == TSR_REGION_SPREAD ? 2 * TSR_REGION_CHANNELS : 0;
    const int stored = states > 0 || own.singles;
    p->bytes = place(&p->regions, stored, states, NULL);
    TSR_TRY_GOTO(tsr_device_allocate(context, (size_t)p->bytes, &p->memory), fail);
    place(&p->regions, stored, states, (char *)p->memory);
    return TSR_OK;
fail:
    tsr_region_pyramid_destroy(pyramid);
    return status;
}

void tsr_region_pyramid_destroy(tsr_region_pyramid **pyramid)
{
    if (!pyramid || !*pyramid) return;
    tsr_region_pyramid *p = *pyramid;
    *pyramid = NULL;
    if (p->memory) tsr_device_release(p->context, p->memory, (size_t)p->bytes);
    tsr_host_release(&p->context->host_allocator, p, sizeof *p);
}

tsr_status tsr_region_pyramid_build(tsr_region_pyramid *p, const tsr_volume *const *channels, int32_t count)
{
    if (!p) TSR_FAIL(TSR_ERROR_ARGUMENT, "region pyramid is NULL");
    if (!channels || count < 1 || count > TSR_REGION_CHANNELS) TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: %d channels, expected 1 to 4", count);
    if (p->options.rule == TSR_REGION_CLASSES && count != 1)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: %d channels, expected one for a classifier", count);
    tsr_region_rule rule = { .kind = p->options.rule,
                             .complement = p->options.complement != 0,
                             .singles = p->options.singles != 0,
                             .channels = count,
                             .threshold = p->options.threshold };
    for (int32_t c = 0; c < count; c++) {
        TSR_TRY(tsr_volume_require(p->context, channels[c], "channel"));
        const tsr_size3 n = channels[c]->size;
        if (n.x != p->size.x || n.y != p->size.y || n.z != p->size.z)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: channel %d of %lld x %lld x %lld, expected %lld x %lld x %lld as it was created for", c,
                     (long long)n.x, (long long)n.y, (long long)n.z, (long long)p->size.x, (long long)p->size.y, (long long)p->size.z);
        const tsr_pyramid_classifier kind = p->options.rule == TSR_REGION_CLASSES ? p->options.classifier : TSR_PYRAMID_NONZERO;
        TSR_TRY(tsr_classifier_make("region tree", kind, p->options.lower, p->options.upper, channels[c], 1, &rule.channel[c]));
    }
    p->regions.width = rule.kind == TSR_REGION_DEVIATION ? count : rule.kind == TSR_REGION_SPREAD ? 2 * count : 0;
    TSR_TRY(p->context->backend->region->build(p->context->queue, &p->regions, &rule));
    p->geometry = channels[0]->geometry;
    p->built = 1;
    return TSR_OK;
}

tsr_status tsr_region_pyramid_describe(const tsr_region_pyramid *p, tsr_region_info *info)
{
    if (!p) TSR_FAIL(TSR_ERROR_ARGUMENT, "region pyramid is NULL");
    const tsr_regions *t = &p->regions;
    *info = (tsr_region_info){ .size = p->size, .dimensions = t->bits, .top = t->top, .device_bytes = p->bytes };
    if (!p->built) TSR_FAIL(TSR_ERROR_STATE, "region tree: nothing was built yet: call tsr_region_pyramid_build first");
    int64_t counts[2] = { 0 };
    if (t->top > t->brick) {
        TSR_TRY(p->context->backend->download(p->context->queue, counts, t->level[t->top].counts, sizeof counts));
    } else { /* the only brick is counted here */
        uint64_t word, merged;
        TSR_TRY(p->context->backend->download(p->context->queue, &word, t->words, sizeof word));
        merged = tsr_brick_merge(word, t->bits);
        if (t->merged) TSR_TRY(p->context->backend->download(p->context->queue, &merged, t->merged, sizeof merged));
        tsr_brick_counts(t, word, merged, counts);
    }
    info->leaves = counts[0] < 0 ? 1 : counts[0];
    info->nodes = counts[1];
    info->root = counts[1] ? TSR_REGION_NODE : counts[0] ? TSR_REGION_LEAF : TSR_REGION_EMPTY;
    return TSR_OK;
}
