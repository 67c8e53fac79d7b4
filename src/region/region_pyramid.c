#include "region/region_tree.h"

#include <math.h>
#include <stdio.h>

#include "tessera/filter.h"

static int32_t dimensions(tsr_size3 size, const tsr_region_options *o) { return o->dimensions ? o->dimensions : size.z > 1 ? 3 : 2; }

static void plan_levels(tsr_regions *t, tsr_size3 size, const tsr_region_options *o)
{
    const int64_t n[3] = { size.x, size.y, size.z }, most = tsr_max64(size.x, tsr_max64(size.y, size.z));
    t->bits = dimensions(size, o);
    t->brick = t->bits == 3 ? 2 : 3;
    while (((int64_t)1 << t->top) < most) t->top++;
    t->top = tsr_maxi(t->top, o->top);
    for (int32_t l = t->brick; l <= tsr_region_highest(t); l++)
        for (int k = 0; k < 3; k++) t->level[l].size[k] = k < 2 || t->bits == 3 ? ((n[k] - 1) >> l) + 1 : 1;
}

/* Bytes of everything; the pointers are set if there is memory. */
static int64_t place(tsr_regions *t, int words, int stored, int states, char *memory)
{
    int64_t at = 0;
    const int64_t bricks = tsr_region_cells(&t->level[t->brick]);
#define TAKE(pointer, type, bytes)                           \
    do {                                                     \
        if (memory) (pointer) = (type)(void *)(memory + at); \
        at += tsr_ceil_div((bytes), 256) * 256;              \
    } while (0)
    if (words) TAKE(t->words, uint64_t *, bricks * 8);
    if (stored) TAKE(t->merged, uint64_t *, bricks * 8);
    if (states) TAKE(t->unheld, uint64_t *, 8);
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
    if (o->dimensions != 0 && o->dimensions != 3 && (o->dimensions != 2 || size.z != 1))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: dimensions is %d with extent z %lld, expected 0, 3, or 2 for extent z 1", o->dimensions,
                 (long long)size.z);
    const int32_t levels = dimensions(size, o) == 3 ? 19 : 28;
    const int64_t most = (int64_t)1 << levels;
    TSR_TRY(tsr_size_bytes(size, 8, "region tree", &bytes));
    if (size.x > most || size.y > most || size.z > most)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: %lld x %lld x %lld voxels, expected extents up to %lld", (long long)size.x, (long long)size.y,
                 (long long)size.z, (long long)most);
    if (o->top && (o->top < 0 || o->top > levels || ((int64_t)1 << o->top) < tsr_max64(size.x, tsr_max64(size.y, size.z))))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: top is %d, expected 0 or a level up to %d that covers %lld x %lld x %lld voxels", o->top, levels,
                 (long long)size.x, (long long)size.y, (long long)size.z);
    if ((unsigned)o->rule > TSR_REGION_COLOUR)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: rule is %d, expected one of tsr_region_rule_kind (0 to %d)", (int)o->rule, (int)TSR_REGION_COLOUR);
    if (o->rule == TSR_REGION_CLASSES) {
        if (o->classifier == TSR_PYRAMID_COUNTS || o->classifier == TSR_PYRAMID_CROSSINGS)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: classifier gives counts, expected one that gives 0 or 1: range, nonzero, label, ...");
        TSR_TRY(tsr_classifier_check("region tree", o->classifier, o->lower, o->upper));
    } else if (!(o->threshold >= 0)) {
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: threshold is %g, expected 0 or more", o->threshold);
    }
    for (int c = 0; c < TSR_REGION_CHANNELS && o->rule == TSR_REGION_COLOUR; c++)
        if (!isfinite(o->colour[c])) TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: colour[%d] is %g, expected a finite value", c, o->colour[c]);
    if ((unsigned)o->nan > TSR_REGION_NAN_FAIL) TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: nan is %d, expected apart or fail", (int)o->nan);
    if ((unsigned)o->edge_norm > TSR_REGION_EDGE_MAGNITUDES)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: edge_norm is %d, expected a tsr_region_edge_norm", (int)o->edge_norm);
    if ((o->complement || o->singles) && tsr_region_clusters(o->rule))
        TSR_FAIL(TSR_ERROR_ARGUMENT,
                 "region tree: complement and singles are for the rules classes, edges, linear and colour: all voxels are kept here");
    if (o->gradient && !tsr_region_clusters(o->rule))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: gradient is for the rules deviation, spread and variance");
    if (o->implicit_base && tsr_region_clusters(o->rule))
        TSR_FAIL(TSR_ERROR_ARGUMENT,
                 "region tree: implicit_base is for the rules classes, edges, linear and colour: the others compare what cells hold");
    return TSR_OK;
}

tsr_status tsr_region_pyramid_create(tsr_context *context, tsr_size3 size, const tsr_region_options *options, tsr_region_pyramid **pyramid)
{
    TSR_RETURNS(pyramid);
    TSR_NEEDS(context);
    tsr_region_options own;
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(check(size, &own));
    TSR_TRY(tsr_host_allocate(&context->host_allocator, sizeof **pyramid, (void **)pyramid));
    tsr_region_pyramid *p = *pyramid;
    *p = (tsr_region_pyramid){ .context = context, .options = own, .size = size };
    plan_levels(&p->regions, size, &own);
    const int states = own.rule == TSR_REGION_DEVIATION ? TSR_REGION_CHANNELS : tsr_region_clusters(own.rule) ? 2 * TSR_REGION_CHANNELS : 0;
    const int words = !own.implicit_base || p->regions.top <= p->regions.brick; /* a single brick is stored all the same */
    const int stored = words && (states > 0 || own.singles);
    p->bytes = place(&p->regions, words, stored, states, NULL);
    TSR_TRY_GOTO(tsr_device_allocate(context, (size_t)p->bytes, &p->memory), fail);
    place(&p->regions, words, stored, states, (char *)p->memory);
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

/* Can a value be beyond 2^24 and not a float32. */
static int may_round(const tsr_volume *v)
{
    double slope, intercept, most;
    tsr_volume_scaling(v, &slope, &intercept);
    switch (v->dtype) {
    case TSR_U8:
    case TSR_I8: most = 255; break;
    case TSR_U16:
    case TSR_I16: most = 65535; break;
    case TSR_F32: return slope != 1 || intercept != 0;
    default: return 1;
    }
    return !(most * fabs(slope) + fabs(intercept) <= 16777216);
}

/* Values that become equal as float32 would merge as if they were. */
static tsr_status check_held(const tsr_region_pyramid *p, const tsr_region_rule *rule)
{
    uint64_t unheld = 0;
    if (rule->rounding < 0) return TSR_OK;
    TSR_TRY(p->context->backend->download(p->context->queue, &unheld, p->regions.unheld, sizeof unheld));
    if (unheld)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                 "region tree: values beyond 2^24 (16777216) in %llu bricks change by more than the threshold of %g as float32, in which the rules "
                 "deviation and spread compare: expected smaller values, or a larger threshold",
                 (unsigned long long)unheld, rule->threshold);
    return TSR_OK;
}

/* Values that are no numbers are no mistake of the caller's. */
static tsr_status check_finite(tsr_context *context, const tsr_volume *channel)
{
    char why[300];
    const tsr_status status = tsr_volume_check_finite(context, channel, "region tree");
    if (status != TSR_ERROR_ARGUMENT) return status;
    snprintf(why, sizeof why, "%s", tsr_error_message());
    TSR_FAIL(TSR_ERROR_STATE, "%s", why);
}

static tsr_status build(tsr_region_pyramid *p, const tsr_volume *const *channels, int32_t count, const int64_t lower[3])
{
    if (!p) TSR_FAIL(TSR_ERROR_ARGUMENT, "region pyramid is NULL");
    if (!channels || count < 1 || count > TSR_REGION_CHANNELS) TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: %d channels, expected 1 to 4", count);
    if (p->options.rule == TSR_REGION_CLASSES && count != 1)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: %d channels, expected one for a classifier", count);
    if (p->options.gradient && count != 1) TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: %d channels, expected one for its gradient", count);
    tsr_region_rule rule = { .kind = p->options.rule,
                             .complement = p->options.complement != 0,
                             .magnitudes = p->options.edge_norm == TSR_REGION_EDGE_MAGNITUDES,
                             .singles = p->options.singles != 0,
                             .channels = p->options.gradient ? p->regions.bits : count,
                             .gradient = p->options.gradient != 0,
                             .threshold = p->options.threshold,
                             .colour = { p->options.colour[0], p->options.colour[1], p->options.colour[2], p->options.colour[3] },
                             .rounding = -1,
                             .lower = { lower ? lower[0] : 0, lower ? lower[1] : 0, lower ? lower[2] : 0 },
                             .size = { p->size.x, p->size.y, p->size.z } };
    for (int32_t c = 0; c < count; c++) {
        TSR_TRY(tsr_volume_require(p->context, channels[c], "channel"));
        const tsr_size3 n = channels[c]->size, first = channels[0]->size;
        if (lower) {
            if (n.x != first.x || n.y != first.y || n.z != first.z || lower[0] < 0 || lower[1] < 0 || lower[2] < 0 || lower[0] > n.x - p->size.x ||
                lower[1] > n.y - p->size.y || lower[2] > n.z - p->size.z)
                TSR_FAIL(TSR_ERROR_ARGUMENT,
                         "region tree: channel %d of %lld x %lld x %lld, expected that of channel 0, with %lld x %lld x %lld from "
                         "(%lld, %lld, %lld) inside",
                         c, (long long)n.x, (long long)n.y, (long long)n.z, (long long)p->size.x, (long long)p->size.y, (long long)p->size.z,
                         (long long)lower[0], (long long)lower[1], (long long)lower[2]);
        } else if (n.x != p->size.x || n.y != p->size.y || n.z != p->size.z)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: channel %d of %lld x %lld x %lld, expected %lld x %lld x %lld as it was created for", c,
                     (long long)n.x, (long long)n.y, (long long)n.z, (long long)p->size.x, (long long)p->size.y, (long long)p->size.z);
        if (p->options.nan == TSR_REGION_NAN_FAIL) TSR_TRY(check_finite(p->context, channels[c]));
        const tsr_pyramid_classifier kind = p->options.rule == TSR_REGION_CLASSES ? p->options.classifier : TSR_PYRAMID_NONZERO;
        TSR_TRY(tsr_classifier_make("region tree", kind, p->options.lower, p->options.upper, channels[c], 1, &rule.channel[c]));
        if (tsr_region_clusters(rule.kind) && may_round(channels[c]))
            rule.rounding = rule.kind == TSR_REGION_SPREAD ? rule.threshold : sqrt(rule.threshold);
    }
    p->regions.width = rule.kind == TSR_REGION_DEVIATION ? rule.channels : tsr_region_clusters(rule.kind) ? 2 * rule.channels : 0;
    p->built = 0;
    TSR_TRY(p->context->backend->region->build(p->context->queue, &p->regions, &rule));
    TSR_TRY(check_held(p, &rule));
    p->rule = rule;
    p->geometry = channels[0]->geometry;
    if (lower) {
        const tsr_vec3 origin = tsr_geometry_to_world(&p->geometry, (tsr_vec3){ (double)lower[0], (double)lower[1], (double)lower[2] });
        p->geometry.affine[0][3] = origin.x;
        p->geometry.affine[1][3] = origin.y;
        p->geometry.affine[2][3] = origin.z;
    }
    p->built = 1;
    return TSR_OK;
}

tsr_status tsr_region_pyramid_build(tsr_region_pyramid *pyramid, const tsr_volume *const *channels, int32_t count)
{
    TSR_NEEDS(pyramid, channels);
    TSR_TRY(build(pyramid, channels, count, NULL));
    return TSR_OK;
}

tsr_status tsr_region_pyramid_build_part(tsr_region_pyramid *pyramid, const tsr_volume *const *channels, int32_t count, const int64_t lower[3])
{
    TSR_NEEDS(pyramid, channels);
    if (!lower) TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: lower is NULL, expected the first voxel of the part");
    TSR_TRY(build(pyramid, channels, count, lower));
    return TSR_OK;
}

void tsr_region_count(const int64_t counts[2], tsr_region_info *info)
{
    info->leaves = counts[0] < 0 ? 1 : counts[0];
    info->nodes = counts[1];
    info->root = counts[1] ? TSR_REGION_NODE : counts[0] ? TSR_REGION_LEAF : TSR_REGION_EMPTY;
}

tsr_status tsr_region_pyramid_describe(const tsr_region_pyramid *pyramid, tsr_region_info *info)
{
    TSR_NEEDS(pyramid, info);
    const tsr_regions *t = &pyramid->regions;
    tsr_region_info own = {
        .size = pyramid->size, .dimensions = t->bits, .top = t->top, .device_bytes = pyramid->bytes, .nodes_only = pyramid->options.nodes_only != 0
    };
    TSR_TRY(TSR_STRUCT_GIVE(info, &own));
    if (!pyramid->built) TSR_FAIL(TSR_ERROR_STATE, "region tree: nothing was built yet: call tsr_region_pyramid_build first");
    int64_t counts[2] = { 0 };
    if (t->top > t->brick) {
        TSR_TRY(pyramid->context->backend->download(pyramid->context->queue, counts, t->level[t->top].counts, sizeof counts));
    } else { /* the only brick is counted here */
        uint64_t word, merged;
        TSR_TRY(pyramid->context->backend->download(pyramid->context->queue, &word, t->words, sizeof word));
        merged = tsr_brick_merge(word, t->bits);
        if (t->merged) TSR_TRY(pyramid->context->backend->download(pyramid->context->queue, &merged, t->merged, sizeof merged));
        tsr_brick_counts(t, word, merged, counts);
    }
    tsr_region_count(counts, &own);
    return TSR_STRUCT_GIVE(info, &own);
}
