/* vision/depth/match_math.h: matching with smoothness along paths: census codes, the cost of a hypothesis, one step of a path, the best hypothesis of a pixel.
 * Whole numbers all through (but the parabola of the last step): every backend gives the same bits. Semi-global matching, Hirschmueller 2008; centre-symmetric
 * census, Spangenberg 2013. */
#ifndef TSR_VISION_DEPTH_MATCH_MATH_H
#define TSR_VISION_DEPTH_MATCH_MATH_H

#include "core/hd.h"

enum {
    TSR_MATCH_LANES = 32,  /* hypotheses are made up to a multiple of it, by ones that cost the most */
    TSR_MATCH_MOST = 512,  /* hypotheses */
    TSR_MATCH_BITS = 31,   /* of a code: 9 x 7 pixels, each compared with the one opposite */
    TSR_MATCH_UNSEEN = 12, /* cost where the other picture has no pixel */
    TSR_MATCH_WORST = 63,  /* largest cost */
    TSR_MATCH_MOST_P1 = 64,
    TSR_MATCH_MOST_P2 = 127 /* worst + P2 + P1 fit a byte */
};

TSR_HD uint8_t tsr_match_grey(const uint8_t *p, int32_t channels)
{
    return channels < 3 ? p[0] : (uint8_t)((77 * p[0] + 150 * p[1] + 29 * p[2] + 128) >> 8);
}

/* The code of a pixel: bit set where a pixel is brighter than the one opposite. At the border the outermost pixels go on. */
TSR_HD uint32_t tsr_match_code(const uint8_t *grey, int32_t width, int32_t height, int32_t x, int32_t y)
{
    uint32_t code = 0;
    for (int32_t dy = -3; dy <= 0; dy++) {
        const uint8_t *a = grey + (int64_t)tsr_maxi(0, tsr_mini(height - 1, y + dy)) * width;
        const uint8_t *b = grey + (int64_t)tsr_maxi(0, tsr_mini(height - 1, y - dy)) * width;
        for (int32_t dx = -4; dx <= (dy ? 4 : -1); dx++)
            code = code << 1 | (uint32_t)(a[tsr_maxi(0, tsr_mini(width - 1, x + dx))] > b[tsr_maxi(0, tsr_mini(width - 1, x - dx))]);
    }
    return code;
}

TSR_HD uint32_t tsr_match_ones(uint32_t v)
{
#if defined(__CUDA_ARCH__)
    return (uint32_t)__popc(v);
#else
    v = v - ((v >> 1) & 0x55555555u);
    v = (v & 0x33333333u) + ((v >> 2) & 0x33333333u);
    v = (v + (v >> 4)) & 0x0f0f0f0fu;
    v = v + (v >> 8);
    return (v + (v >> 16)) & 63u;
#endif
}
/* Two codes and the greys of the pixels: different bits, and a little of how different the greys are. */
TSR_HD uint8_t tsr_match_cost(uint32_t a, uint32_t b, int32_t grey_a, int32_t grey_b)
{
    const int32_t difference = grey_a > grey_b ? grey_a - grey_b : grey_b - grey_a;
    return (uint8_t)((int32_t)tsr_match_ones(a ^ b) + tsr_mini(difference, 33) / 2);
}
/* The same of four hypotheses, one in each byte: bytes of the codes where they differ, differences of greys up to 33. */
TSR_HD uint32_t tsr_match_pairs(uint32_t v)
{
    v = v - ((v >> 1) & 0x55555555u);
    return (v & 0x33333333u) + ((v >> 2) & 0x33333333u);
}
TSR_HD uint32_t tsr_match_cost4(uint32_t first, uint32_t second, uint32_t third, uint32_t fourth, uint32_t difference)
{
    const uint32_t a = tsr_match_pairs(first) + tsr_match_pairs(second), b = tsr_match_pairs(third) + tsr_match_pairs(fourth);
    return (a & 0x0f0f0f0fu) + ((a >> 4) & 0x0f0f0f0fu) + (b & 0x0f0f0f0fu) + ((b >> 4) & 0x0f0f0f0fu) + ((difference >> 1) & 0x7f7f7f7fu);
}

/* One step of a path: `same`, `less`, `more` of the pixel before, for this hypothesis, the one before and the one behind; `least` of all of them,
 * jump = least + P2. */
TSR_HD uint8_t tsr_match_step(uint8_t cost, uint8_t same, uint8_t less, uint8_t more, uint8_t p1, uint8_t jump, uint8_t least)
{
    const uint8_t side = (uint8_t)((less < more ? less : more) + p1), near = same < side ? same : side, best = near < jump ? near : jump;
    return (uint8_t)(cost + (uint8_t)(best - least));
}
/* The same of bytes in words, for processors without arithmetic of bytes. */
TSR_HD uint32_t tsr_match_step_wide(uint32_t cost, uint32_t same, uint32_t less, uint32_t more, uint32_t p1, uint32_t jump, uint32_t least)
{
    const uint32_t side = (less < more ? less : more) + p1, near = same < side ? same : side, best = near < jump ? near : jump;
    return cost + (best - least);
}

/* Pixels of a row whose answers meet in one pixel of the other picture: the one with the least sum has it, and whose answer is further from that one's is
 * hidden there. */
TSR_HD uint32_t tsr_match_key(uint16_t sum, uint16_t hypothesis) { return (uint32_t)sum << 16 | hypothesis; }
TSR_HD int32_t tsr_match_agrees(uint32_t key, int32_t hypothesis, int32_t consistency)
{
    const int32_t difference = (int32_t)(key & 0xffffu) - hypothesis;
    return difference <= consistency && -difference <= consistency;
}

/* Of the three sums round the best hypothesis: where the parabola through them is least, -1/2 to 1/2. */
TSR_HD float tsr_match_vertex(int32_t before, int32_t best, int32_t behind)
{
    const int32_t curve = before - 2 * best + behind;
    return curve > 0 ? (float)(before - behind) / (float)(2 * curve) : 0.0f;
}

/* The middle of nine, by comparisons alone (Devillard's network). */
TSR_HD void tsr_match_order(float *a, float *b)
{
    const float low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;
    *a = low;
    *b = high;
}
TSR_HD float tsr_match_median9(const float v[9])
{
    float a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5], g = v[6], h = v[7], i = v[8];
    tsr_match_order(&b, &c), tsr_match_order(&e, &f), tsr_match_order(&h, &i), tsr_match_order(&a, &b), tsr_match_order(&d, &e), tsr_match_order(&g, &h);
    tsr_match_order(&b, &c), tsr_match_order(&e, &f), tsr_match_order(&h, &i), tsr_match_order(&a, &d), tsr_match_order(&f, &i), tsr_match_order(&e, &h);
    tsr_match_order(&d, &g), tsr_match_order(&b, &e), tsr_match_order(&c, &f), tsr_match_order(&e, &h), tsr_match_order(&e, &c), tsr_match_order(&g, &e);
    tsr_match_order(&e, &c);
    return e;
}

#endif
