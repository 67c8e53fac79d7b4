/* region/region_rule.h: the rules of region trees on one voxel and on one brick: see tsr_region_rule_kind. */
#ifndef TSR_REGION_REGION_RULE_H
#define TSR_REGION_REGION_RULE_H

#include "region/region.h"

typedef struct tsr_region_rule {
    tsr_region_rule_kind kind;
    int32_t complement, singles, channels, magnitudes;
    int32_t gradient; /* != 0: what clusters are the differences of channel 0 along each axis, `channels` of them */
    double threshold;
    double colour[TSR_REGION_CHANNELS];
    double rounding;           /* DEVIATION, SPREAD, VARIANCE: what float32 may change of a value beyond 2^24; negative: no value can be that large */
    int64_t lower[3], size[3]; /* the box of the channels that the pyramid covers; what lies around it gives neighbours only */
    tsr_classifier channel[TSR_REGION_CHANNELS];
} tsr_region_rule;

TSR_HD int tsr_region_clusters(tsr_region_rule_kind kind) { return kind >= TSR_REGION_DEVIATION && kind <= TSR_REGION_VARIANCE; }

/* Forward differences, squared or as magnitudes; at the upper border 0. */
TSR_HD int tsr_region_edge(const tsr_region_rule *r, int64_t i, const int64_t at[3])
{
    double sum = 0.0;
    for (int32_t n = 0; n < r->channels; n++) {
        const tsr_classifier *c = &r->channel[n];
        const int64_t stride[3] = { 1, c->size[0], c->size[0] * c->size[1] };
        for (int32_t k = 0; k < 3; k++) {
            if (at[k] + 1 >= c->size[k]) continue;
            const double d = tsr_classifier_value(c, i + stride[k]) - tsr_classifier_value(c, i);
            sum += !r->magnitudes ? d * d : d < 0.0 ? -d : d; /* NaN stays NaN */
        }
    }
    return sum < r->threshold;
}

/* Second differences; those that leave the volume count as 0. */
TSR_HD int tsr_region_linear(const tsr_region_rule *r, int64_t i, const int64_t at[3])
{
    for (int32_t n = 0; n < r->channels; n++) {
        const tsr_classifier *c = &r->channel[n];
        const int64_t stride[3] = { 1, c->size[0], c->size[0] * c->size[1] };
        const double v = tsr_classifier_value(c, i);
        if (!(v == v)) return 0;
        for (int32_t k = 0; k < 3; k++) {
            if (at[k] + 1 >= c->size[k]) continue;
            const double up = tsr_classifier_value(c, i + stride[k]);
            if (at[k] > 0) {
                const double d = up - 2.0 * v + tsr_classifier_value(c, i - stride[k]);
                if (!(d <= r->threshold && d >= -r->threshold)) return 0;
            }
            for (int32_t m = k + 1; m < 3; m++) {
                if (at[m] + 1 >= c->size[m]) continue;
                const double d = tsr_classifier_value(c, i + stride[k] + stride[m]) - up - tsr_classifier_value(c, i + stride[m]) + v;
                if (!(d <= r->threshold && d >= -r->threshold)) return 0;
            }
        }
    }
    return 1;
}

/* Squares of the distances from the wanted colour, channel by channel; NaN is no colour. */
TSR_HD int tsr_region_coloured(const tsr_region_rule *r, int64_t i)
{
    double sum = 0.0;
    for (int32_t n = 0; n < r->channels; n++) {
        const double d = tsr_classifier_value(&r->channel[n], i) - r->colour[n];
        sum += d * d;
    }
    return sum <= r->threshold * r->threshold;
}

TSR_HD int tsr_region_kept(const tsr_region_rule *r, int64_t i, const int64_t at[3])
{
    int32_t not_a_number = 0;
    int kept = r->kind == TSR_REGION_CLASSES  ? (int)tsr_classify(&r->channel[0], i, &not_a_number)
               : r->kind == TSR_REGION_EDGES  ? tsr_region_edge(r, i, at)
               : r->kind == TSR_REGION_COLOUR ? tsr_region_coloured(r, i)
                                              : tsr_region_linear(r, i, at);
    return kept != r->complement;
}

/* Voxels of brick `at` at place p: index in memory and `at` in the channels, or -1 beyond the box. */
TSR_HD int64_t tsr_region_voxel(const tsr_regions *t, const tsr_region_rule *r, const int64_t brick[3], int32_t p, int64_t at[3])
{
    const int64_t *size = r->channel[0].size;
    tsr_region_decode(t->bits, (uint64_t)p, at);
    for (int32_t k = 0; k < 3; k++) {
        at[k] += k < 2 || t->bits == 3 ? brick[k] << t->brick : 0;
        if (at[k] >= r->size[k]) return -1;
        at[k] += r->lower[k];
    }
    return (at[2] * size[1] + at[1]) * size[0] + at[0];
}

/* From the kept voxels of brick i to what is stored. `inside`: its voxels within the volume. */
TSR_HD void tsr_region_put(const tsr_regions *t, const tsr_region_rule *r, int64_t i, uint64_t kept, uint64_t inside)
{
    t->words[i] = r->singles ? inside : kept;
    if (t->merged) t->merged[i] = tsr_brick_merge(kept, t->bits);
}

/* Places of a brick within the box. */
TSR_HD uint64_t tsr_region_inside(const tsr_regions *t, const tsr_region_rule *r, const int64_t brick[3])
{
    int64_t at[3];
    uint64_t inside = 0;
    for (int32_t k = 0; k < (t->bits == 3 ? 3 : 2); k++)
        if (((brick[k] + 1) << t->brick) > r->size[k]) {
            for (int32_t p = 0; p < 64; p++) inside |= (uint64_t)(tsr_region_voxel(t, r, brick, p, at) >= 0) << p;
            return inside;
        }
    return ~inside;
}

/* CLASSES, EDGES and LINEAR: the kept voxels of the brick `brick`, and those within the volume. */
TSR_HD uint64_t tsr_region_classes(const tsr_regions *t, const tsr_region_rule *r, const int64_t brick[3], uint64_t *inside)
{
    int64_t at[3];
    uint64_t kept = 0;
    *inside = 0;
    for (int32_t p = 0; p < 64; p++) {
        const int64_t voxel = tsr_region_voxel(t, r, brick, p, at);
        if (voxel < 0) continue;
        *inside |= (uint64_t)1 << p;
        kept |= (uint64_t)tsr_region_kept(r, voxel, at) << p;
    }
    return kept;
}
TSR_HD void tsr_region_classify(const tsr_regions *t, const tsr_region_rule *r, int64_t i)
{
    int64_t brick[3];
    uint64_t inside;
    tsr_region_position(&t->level[t->brick], i, brick);
    const uint64_t kept = tsr_region_classes(t, r, brick, &inside);
    tsr_region_put(t, r, i, kept, inside);
}

/* ---- without a base: bricks are classified where they are asked for, by the cells next above them ------------------------------------------ */

/* Word, merged cells and counts of child c of the cell `at` above the bricks. */
TSR_HD void tsr_region_asked(const tsr_regions *t, const tsr_region_rule *r, const int64_t at[3], int32_t c, int64_t brick[3], uint64_t *word,
                             uint64_t *merged, int64_t counts[2])
{
    uint64_t inside;
    *word = *merged = 0;
    counts[0] = counts[1] = 0;
    tsr_region_child(at, t->bits, c, brick);
    if (!tsr_region_within(&t->level[t->brick], brick)) return;
    const uint64_t kept = tsr_region_classes(t, r, brick, &inside);
    *word = r->singles ? inside : kept;
    *merged = tsr_brick_merge(kept, t->bits);
    tsr_brick_counts(t, *word, *merged, counts);
}
/* Cell number i, at `at`, of the level above the bricks: its counts, and its entries. */
TSR_HD void tsr_region_reduce_asked(const tsr_regions *t, const tsr_region_rule *r, const int64_t at[3], int64_t i)
{
    int64_t brick[3], counts[2], leaves = 0, nodes = 0;
    uint64_t word, merged;
    int all = 1;
    for (int32_t c = 0; c < 1 << t->bits; c++) {
        tsr_region_asked(t, r, at, c, brick, &word, &merged, counts);
        all &= counts[0] == -1;
        leaves += counts[0] < 0 ? 1 : counts[0];
        nodes += counts[1];
    }
    t->level[t->brick + 1].counts[2 * i] = all ? -1 : leaves;
    t->level[t->brick + 1].counts[2 * i + 1] = all || !leaves ? 0 : 1 + nodes;
}
TSR_HD void tsr_region_list_asked(const tsr_regions *t, const tsr_region_rule *r, const tsr_region_lists *lists, const int64_t at[3], int64_t i)
{
    int64_t brick[3], first[2], counts[2];
    uint64_t word, merged;
    if (t->level[t->brick + 1].counts[2 * i] <= 0) { /* empty or one leaf: nothing below is looked at */
        tsr_region_list_cell(t, lists, t->brick + 1, at, i, 0);
        return;
    }
    tsr_region_first(t, t->brick + 1, at, first);
    int32_t *node = lists->nodes + (first[1] << t->bits);
    first[1]++;
    for (int32_t c = 0; c < 1 << t->bits; c++) {
        tsr_region_asked(t, r, at, c, brick, &word, &merged, counts);
        node[c] = counts[1] ? (int32_t)first[1] : counts[0] == -1 ? tsr_region_leaf_reference(lists, first[0]) : 0;
        if (counts[0]) tsr_region_list_entries(t, lists, brick, word, merged, first);
        first[0] += counts[0] < 0 ? 1 : counts[0];
        first[1] += counts[1];
    }
}

/* Is v a value whose float32 tells it apart from others no better than `rounding`: 64-bit integers beyond 2^53 are rounded before. */
TSR_HD int tsr_region_unheld(const tsr_region_rule *r, tsr_dtype dtype, double v)
{
    const double size = v < 0.0 ? -v : v, lost = (double)(float)v - v;
    if (r->rounding < 0.0 || !(size > 16777216.0)) return 0;
    return lost > r->rounding || -lost > r->rounding || ((dtype == TSR_I64 || dtype == TSR_U64) && size >= 9007199254740992.0);
}

/* Difference of channel 0 along axis k at voxel i: towards the next, at the upper border from the one before, so that a linear function has one. */
TSR_HD double tsr_region_slope(const tsr_region_rule *r, int32_t k, int64_t i, const int64_t at[3])
{
    const tsr_classifier *c = &r->channel[0];
    const int64_t stride = k == 0 ? 1 : k == 1 ? c->size[0] : c->size[0] * c->size[1], up = at[k] + 1 < c->size[k] ? stride : 0;
    const int64_t down = up || at[k] == 0 ? 0 : stride;
    return tsr_classifier_value(c, i + up) - tsr_classifier_value(c, i - down);
}

/* DEVIATION, SPREAD and VARIANCE: cells merge level by level within the brick. Returns whether float32 does not hold a value. */
TSR_HD int tsr_region_cluster(const tsr_regions *t, const tsr_region_rule *r, int64_t i)
{
    enum { WIDTH = 2 * TSR_REGION_CHANNELS };
    const int32_t children = 1 << t->bits, width = t->width, channels = r->channels;
    int unheld = 0;
    int64_t brick[3], at[3];
    float states[16 * WIDTH], voxels[8 * WIDTH]; /* of the cells of the level in hand; of one family of voxels */
    uint64_t inside = 0, merged = 0;
    tsr_region_position(&t->level[t->brick], i, brick);
    for (int32_t p = 0; p < 64; p += children) {
        int all = 1;
        for (int32_t c = 0; c < children; c++) {
            const int64_t voxel = tsr_region_voxel(t, r, brick, p + c, at);
            all &= voxel >= 0;
            inside |= (uint64_t)(voxel >= 0) << (p + c);
            for (int32_t n = 0; n < channels && voxel >= 0; n++) {
                const double real = r->gradient ? tsr_region_slope(r, n, voxel, at) : tsr_classifier_value(&r->channel[n], voxel);
                const float v = (float)real;
                unheld |= tsr_region_unheld(r, r->channel[r->gradient ? 0 : n].dtype, real);
                voxels[c * width + n] = v;
                if (width > channels) voxels[c * width + channels + n] = r->kind == TSR_REGION_VARIANCE ? v - v : v; /* NaN and infinities spoil it */
            }
        }
        if (all && tsr_region_states(r->kind, r->threshold, voxels, children, width, states + (p >> t->bits) * width)) merged |= (uint64_t)1 << p;
    }
    for (int32_t l = 2; l <= t->brick; l++)
        for (int32_t p = 0, n = 0; p < 64; p += 1 << (t->bits * l), n++) {
            int all = 1;
            float common[WIDTH];
            for (int32_t c = 0; c < children; c++) all &= (int)(merged >> (p + (c << (t->bits * (l - 1))) + l - 2) & 1u);
            if (!all || !tsr_region_states(r->kind, r->threshold, states + n * children * width, children, width, common)) continue;
            merged |= (uint64_t)1 << (p + l - 1);
            for (int32_t k = 0; k < width; k++) states[n * width + k] = common[k]; /* n <= n * children: its children are done with */
        }
    t->words[i] = inside;
    t->merged[i] = merged;
    if (merged >> (t->brick - 1) & 1u)
        for (int32_t k = 0; k < width; k++) t->level[t->brick].state[i * width + k] = states[k];
    return unheld;
}

/* Returns whether the brick counts as unheld. */
TSR_HD int tsr_region_brick(const tsr_regions *t, const tsr_region_rule *r, int64_t i)
{
    if (tsr_region_clusters(r->kind)) return tsr_region_cluster(t, r, i);
    tsr_region_classify(t, r, i);
    return 0;
}

#endif
