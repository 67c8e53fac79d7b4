/* vision/feature_region.h: regions of feature pixels and how four cells become one. docs/theory/features.md 2. */
#ifndef TSR_VISION_FEATURE_REGION_H
#define TSR_VISION_FEATURE_REGION_H

#include "core/hd.h"

/* Box [x0, x1) x [y0, y1); x1 <= x0: there is none. */
typedef struct tsr_blob {
    int32_t x0, y0, x1, y1;
    uint64_t count, sum_x, sum_y;
} tsr_blob;

typedef struct tsr_blob_rule {
    int32_t connectivity; /* 4 or 8 */
    int32_t by_count;
} tsr_blob_rule;

/* Loops over up to 16 regions: not unrolled on a GPU, where a pair is much text. */
#if defined(__CUDA_ARCH__)
#define TSR_BLOB_ROLLED _Pragma("unroll 1")
#else
#define TSR_BLOB_ROLLED
#endif

enum { TSR_BLOB_KEEP = 4, TSR_BLOB_TILE = 64, TSR_BLOB_BLOCK = 4 };

TSR_HD int tsr_blob_some(const tsr_blob *b) { return b->x1 > b->x0; }
TSR_HD void tsr_blob_clear(tsr_blob *b)
{
    b->x0 = b->y0 = b->x1 = b->y1 = 0;
    b->count = b->sum_x = b->sum_y = 0;
}
/* The filled square of side n at (x, y). */
TSR_HD void tsr_blob_square(tsr_blob *b, int32_t x, int32_t y, int32_t n)
{
    const uint64_t pixels = (uint64_t)n * (uint64_t)n, inner = pixels * (uint64_t)(n - 1) / 2u;
    b->x0 = x;
    b->y0 = y;
    b->x1 = x + n;
    b->y1 = y + n;
    b->count = pixels;
    b->sum_x = pixels * (uint64_t)x + inner;
    b->sum_y = pixels * (uint64_t)y + inner;
}
TSR_HD int tsr_blob_touch(const tsr_blob *a, const tsr_blob *b, int32_t connectivity)
{
    const int32_t ox = tsr_mini(a->x1, b->x1) - tsr_maxi(a->x0, b->x0), oy = tsr_mini(a->y1, b->y1) - tsr_maxi(a->y0, b->y0);
    return ox >= 0 && oy >= 0 && (connectivity == 8 || ox > 0 || oy > 0);
}
TSR_HD void tsr_blob_unite(tsr_blob *a, const tsr_blob *b)
{
    a->x0 = tsr_mini(a->x0, b->x0);
    a->y0 = tsr_mini(a->y0, b->y0);
    a->x1 = tsr_maxi(a->x1, b->x1);
    a->y1 = tsr_maxi(a->y1, b->y1);
    a->count += b->count;
    a->sum_x += b->sum_x;
    a->sum_y += b->sum_y;
}
/* The pixels [x0, x1) of row y. */
TSR_HD void tsr_blob_run(tsr_blob *b, int32_t x0, int32_t x1, int32_t y)
{
    b->x0 = x0;
    b->x1 = x1;
    b->y0 = y;
    b->y1 = y + 1;
    b->count = (uint64_t)(x1 - x0);
    b->sum_x = b->count * (uint64_t)(x0 + x1 - 1) / 2u;
    b->sum_y = b->count * (uint64_t)y;
}
TSR_HD void tsr_blob_add_run(tsr_blob *b, int32_t x0, int32_t x1, int32_t y)
{
    tsr_blob run;
    tsr_blob_run(&run, x0, x1, y);
    if (tsr_blob_some(b)) tsr_blob_unite(b, &run);
    else *b = run;
}
/* Is a larger than b; equals are not. */
TSR_HD int tsr_blob_larger(const tsr_blob *a, const tsr_blob *b, int32_t by_count)
{
    const uint64_t p = (uint64_t)(a->x1 - a->x0) * (uint64_t)(a->y1 - a->y0), q = (uint64_t)(b->x1 - b->x0) * (uint64_t)(b->y1 - b->y0);
    if (by_count && a->count != b->count) return a->count > b->count;
    if (p != q) return p > q;
    return a->count > b->count;
}

/* If a and b touch, a becomes both and b none. */
TSR_HD int tsr_blob_join(tsr_blob *a, tsr_blob *b, int32_t connectivity)
{
    if (!tsr_blob_some(a) || !tsr_blob_some(b) || !tsr_blob_touch(a, b, connectivity)) return 0;
    tsr_blob_unite(a, b);
    tsr_blob_clear(b);
    return 1;
}
TSR_HD int tsr_blob_beats(const tsr_blob *a, const tsr_blob *best, int32_t by_count)
{
    return tsr_blob_some(a) && (!tsr_blob_some(best) || tsr_blob_larger(a, best, by_count));
}

/* The largest of four regions after those that touch became one; `four` is scratch afterwards. The sets that unite do not depend on the order, since a
 * box that grows touches no less. No index that is not a constant: a GPU holds them in registers. */
TSR_HD void tsr_blob_compete_one(tsr_blob *four, tsr_blob_rule rule, tsr_blob *kept)
{
    for (int united = 1; united;) {
        united = tsr_blob_join(&four[0], &four[1], rule.connectivity);
        united += tsr_blob_join(&four[0], &four[2], rule.connectivity);
        united += tsr_blob_join(&four[0], &four[3], rule.connectivity);
        united += tsr_blob_join(&four[1], &four[2], rule.connectivity);
        united += tsr_blob_join(&four[1], &four[3], rule.connectivity);
        united += tsr_blob_join(&four[2], &four[3], rule.connectivity);
    }
    *kept = four[0];
    if (tsr_blob_beats(&four[1], kept, rule.by_count)) *kept = four[1];
    if (tsr_blob_beats(&four[2], kept, rule.by_count)) *kept = four[2];
    if (tsr_blob_beats(&four[3], kept, rule.by_count)) *kept = four[3];
}
/* The same of the regions of four cells that hold `keep` each: the `keep` largest. A united region stands where its first member stood. */
TSR_HD void tsr_blob_compete(tsr_blob *blobs, int32_t keep, tsr_blob_rule rule, tsr_blob *kept)
{
    const int32_t n = 4 * keep;
    if (keep == 1) {
        tsr_blob_compete_one(blobs, rule, kept);
        return;
    }
    for (int united = 1; united;) {
        united = 0;
        TSR_BLOB_ROLLED
        for (int32_t i = 0; i + 1 < n; i++) {
            TSR_BLOB_ROLLED
            for (int32_t j = i + 1; j < n; j++) united += tsr_blob_join(&blobs[i], &blobs[j], rule.connectivity);
        }
    }
    TSR_BLOB_ROLLED
    for (int32_t k = 0; k < keep; k++) {
        int32_t best = 0;
        TSR_BLOB_ROLLED
        for (int32_t i = 1; i < n; i++)
            if (tsr_blob_beats(&blobs[i], &blobs[best], rule.by_count)) best = i;
        kept[k] = blobs[best];
        tsr_blob_clear(&blobs[best]);
    }
}

/* Regions of 2 x 2 pixels at (x, y); bits of `mask` are upper left, upper right, lower left, lower right. At most two: a diagonal of connectivity 4. */
TSR_HD void tsr_blob_quad(uint32_t mask, int32_t x, int32_t y, int32_t keep, tsr_blob_rule rule, tsr_blob *kept)
{
    const int apart = rule.connectivity == 4 && (mask == 6u || mask == 9u);
    for (int32_t k = 0; k < keep; k++) tsr_blob_clear(&kept[k]);
    for (int32_t k = 0; k < (apart && keep > 1 ? 2 : 1); k++) {
        const uint32_t m = !apart ? mask
                           : k    ? mask & (mask - 1u)
                                  : mask & (0u - mask),
                       right = (m >> 1 & 1u) + (m >> 3), low = (m >> 2 & 1u) + (m >> 3);
        const uint32_t count = (m & 1u) + (m >> 1 & 1u) + low;
        if (!m) return;
        kept[k].x0 = x + !(m & 5u);
        kept[k].x1 = x + 1 + !!(m & 10u);
        kept[k].y0 = y + !(m & 3u);
        kept[k].y1 = y + 1 + !!(m & 12u);
        kept[k].count = count;
        kept[k].sum_x = (uint64_t)count * (uint64_t)x + right;
        kept[k].sum_y = (uint64_t)count * (uint64_t)y + low;
    }
}

/* Quad c of 4 x 4 pixels. */
TSR_HD void tsr_blob_quad_of(uint32_t mask, int32_t c, int32_t x, int32_t y, int32_t keep, tsr_blob_rule rule, tsr_blob *four)
{
    const uint32_t m = mask >> ((c & 1) * 2 + (c >> 1) * 8);
    tsr_blob_quad((m & 3u) | (m >> 2 & 12u), x + (c & 1) * 2, y + (c >> 1) * 2, keep, rule, &four[c * keep]);
}
/* Regions of 4 x 4 pixels at (x, y); bit 4 row + column of `mask`. */
TSR_HD void tsr_blob_block(uint32_t mask, int32_t x, int32_t y, int32_t keep, tsr_blob_rule rule, tsr_blob *kept)
{
    tsr_blob four[4 * TSR_BLOB_KEEP];
    if (!mask) {
        for (int32_t k = 0; k < keep; k++) tsr_blob_clear(&kept[k]);
        return;
    }
    if (mask == 0xffffu) {
        for (int32_t k = 1; k < keep; k++) tsr_blob_clear(&kept[k]);
        tsr_blob_square(&kept[0], x, y, 4);
        return;
    }
    tsr_blob_quad_of(mask, 0, x, y, keep, rule, four);
    tsr_blob_quad_of(mask, 1, x, y, keep, rule, four);
    tsr_blob_quad_of(mask, 2, x, y, keep, rule, four);
    tsr_blob_quad_of(mask, 3, x, y, keep, rule, four);
    tsr_blob_compete(four, keep, rule, kept);
}

/* Place of cell number i of a Morton-ordered square: its column and row. */
TSR_HD int32_t tsr_blob_column(int32_t i)
{
    i &= 0x155;
    i = (i | i >> 1) & 0x133;
    i = (i | i >> 2) & 0x10f;
    return (i | i >> 4) & 0x1f;
}
TSR_HD int32_t tsr_blob_row(int32_t i) { return tsr_blob_column(i >> 1); }

#endif
