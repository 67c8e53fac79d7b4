/* vision/depth/sweep_math.h: one place of the depth camera against all views: where it is seen, how well the views agree there, the search along its ray,
 * the median of a map, the recursive Gaussian. Depth is counted by t, 0 at the far and 1 at the near end of the range, evenly in z / w of clip coordinates
 * (a pinhole: in 1 / depth). Class exact: additions, multiplications, divisions and correctly rounded roots alone. */
#ifndef TSR_VISION_DEPTH_SWEEP_MATH_H
#define TSR_VISION_DEPTH_SWEEP_MATH_H

#include <math.h>

#include "core/hd.h"

enum {
    TSR_PLANES_KEPT = 32,    /* colours of so many views are kept between the two passes over the views; those of others are sampled again */
    TSR_PLANES_WINDOW = 49,  /* largest window of census and correlation, 7 x 7 */
    TSR_PLANES_SEARCHED = 0, /* states of a place: its depth was found at this level, */
    TSR_PLANES_HELD = 1,     /* or is that of the level before, as too few views contribute, or there is no texture, */
    TSR_PLANES_EMPTY = 2     /* or there never was one */
};

/* One view: its stack's level, [height][width][4] red, green, blue (grey: red alone, the others 0) and 1 where it is known; the rows of its matrix that give
 * x w, y w and w, in places of texel centres, from (x, y, t, 1), x and y in pixels of the depth camera. */
typedef struct tsr_planes_view_level {
    const float *texels;
    int32_t width, height;
    int32_t masked; /* != 0: not all texels are known */
    float row[3][4];
    const float *shadow; /* distances along the view's axis of the surface found before, 0 = none: what lies behind is not seen; NULL: no shadows */
    int32_t shadow_width, shadow_height;
    float shadow_scale;  /* its pixels per texel */
    float shadow_slack;  /* times the distance: still seen */
    float world[4];      /* w over this, from (x, y, t, 1), is the distance along the view's axis */
} tsr_planes_view_level;

TSR_HD float tsr_exact_root(float v)
{
#if defined(__CUDA_ARCH__)
    return __fsqrt_rn(v);
#else
    return sqrtf(v);
#endif
}

/* The part of a view's place that does not depend on t. */
TSR_HD void tsr_planes_ray(const tsr_planes_view_level *v, float x, float y, float q[3])
{
    for (int k = 0; k < 3; k++) q[k] = v->row[k][0] * x + v->row[k][1] * y + v->row[k][3];
}
/* Where t of that ray is seen; 0: nowhere within the view. */
TSR_HD int tsr_planes_place(const tsr_planes_view_level *v, const float q[3], float t, float at[2])
{
    const float w = q[2] + t * v->row[2][2];
    if (!(w > 0.0f)) return 0;
    const float inverse = 1.0f / w;
    at[0] = (q[0] + t * v->row[0][2]) * inverse;
    at[1] = (q[1] + t * v->row[1][2]) * inverse;
    return at[0] >= 0.0f && at[1] >= 0.0f && at[0] <= (float)(v->width - 1) && at[1] <= (float)(v->height - 1);
}
/* The colour there, between four texels; 0: not known. */
TSR_HD int tsr_planes_colour(const tsr_planes_view_level *v, const float at[2], float colour[3])
{
    const int32_t x = (int32_t)at[0], y = (int32_t)at[1];
    const float fx = at[0] - (float)x, fy = at[1] - (float)y;
    const float *a = v->texels + ((int64_t)y * v->width + x) * 4, *b = a + (x + 1 < v->width ? 4 : 0);
    const int64_t down = y + 1 < v->height ? (int64_t)v->width * 4 : 0;
    const float *c = a + down, *d = b + down;
    if (!v->masked) {
        for (int k = 0; k < 3; k++) {
            const float above = a[k] + fx * (b[k] - a[k]), below = c[k] + fx * (d[k] - c[k]);
            colour[k] = above + fy * (below - above);
        }
        return 1;
    }
    const float wa = (1.0f - fx) * (1.0f - fy) * a[3], wb = fx * (1.0f - fy) * b[3], wc = (1.0f - fx) * fy * c[3], wd = fx * fy * d[3];
    const float sum = wa + wb + wc + wd;
    if (!(sum >= 0.5f)) return 0;
    for (int k = 0; k < 3; k++) colour[k] = (wa * a[k] + wb * b[k] + wc * c[k] + wd * d[k]) / sum;
    return 1;
}
/* Is the hypothesis in front of what was found there before? */
TSR_HD int tsr_planes_lit(const tsr_planes_view_level *v, float x, float y, float t, float w, const float at[2])
{
    const int32_t i = tsr_mini((int32_t)((at[0] + 0.5f) * v->shadow_scale), v->shadow_width - 1);
    const int32_t k = tsr_mini((int32_t)((at[1] + 0.5f) * v->shadow_scale), v->shadow_height - 1);
    const float surface = v->shadow[(int64_t)k * v->shadow_width + i];
    if (!(surface > 0.0f)) return 1;
    return w <= surface * v->shadow_slack * (v->world[0] * x + v->world[1] * y + v->world[2] * t + v->world[3]);
}
TSR_HD int tsr_planes_sample(const tsr_planes_view_level *v, float x, float y, float t, float colour[3])
{
    float q[3], at[2];
    tsr_planes_ray(v, x, y, q);
    if (!tsr_planes_place(v, q, t, at)) return 0;
    if (v->shadow && !tsr_planes_lit(v, x, y, t, q[2] + t * v->row[2][2], at)) return 0;
    return tsr_planes_colour(v, at, colour);
}

/* ---- how well views agree -------------------------------------------------------------------------------------------------------- */

typedef enum tsr_planes_measure { TSR_PLANES_L2 = 0, TSR_PLANES_L1, TSR_PLANES_SSD, TSR_PLANES_CENSUS, TSR_PLANES_ZNCC } tsr_planes_measure;

TSR_HD float tsr_planes_deviation(int measure, const float a[3], const float b[3])
{
    const float r = a[0] - b[0], g = a[1] - b[1], l = a[2] - b[2];
    if (measure == TSR_PLANES_L1) return tsr_absf(r) + tsr_absf(g) + tsr_absf(l);
    const float square = r * r + g * g + l * l;
    return measure == TSR_PLANES_SSD ? square : tsr_exact_root(square);
}

typedef struct tsr_planes_search_job {
    const tsr_planes_view_level *view; /* [views], device memory */
    int32_t views, measure, window;   /* window: of census and correlation, places along its edge; else 1 */
    int32_t least_count, raw;         /* contributors asked for; raw: the sum as it is, else per contributor beyond the first */
    int32_t width, height;            /* of the level's grid */
    float spacing;                    /* pixels of the depth camera from place to place; place (i, j) is at (i + 1/2, j + 1/2) spacings */
    int32_t samples;                  /* along the edge of a place: s x s scores are added */
    const float *base;                /* the level before: t, [base_height][base_width], NAN = none; NULL: t = 0 */
    const uint8_t *base_state;
    int32_t base_width, base_height, linear; /* linear: between its places, else the nearest */
    float base_spacing;
    float first, step;                /* hypothesis k: t = base + first + k step */
    int32_t hypotheses, parabola;
    float flat;                       /* no texture: no score of any hypothesis above it; 0 = not asked */
    float *t, *score, *second;        /* second: the best score further than one step from the best; may be NULL, */
    uint8_t *count, *state;
    float *scores;                    /* and this: [width height][hypotheses] */
} tsr_planes_search_job;

/* Sum over the contributing views of how far their colours are from the mean of them. Returns the number of contributors. */
TSR_HD int32_t tsr_planes_agree(const tsr_planes_search_job *j, float x, float y, float t, float *score)
{
    float kept[TSR_PLANES_KEPT][3], mean[3] = { 0.0f, 0.0f, 0.0f }, colour[3];
    int32_t count = 0;
    if (j->views == 2) { /* both lie half their difference from the mean */
        float a[3], b[3];
        if (!tsr_planes_sample(&j->view[0], x, y, t, a) || !tsr_planes_sample(&j->view[1], x, y, t, b)) return 0;
        const float d = tsr_planes_deviation(j->measure, a, b);
        *score = j->measure == TSR_PLANES_SSD && j->raw ? 0.5f * d : d;
        return 2;
    }
    for (int32_t v = 0; v < j->views; v++) {
        if (!tsr_planes_sample(&j->view[v], x, y, t, colour)) continue;
        for (int k = 0; k < 3; k++) {
            mean[k] += colour[k];
            if (count < TSR_PLANES_KEPT) kept[count][k] = colour[k];
        }
        count++;
    }
    if (count < 1) return 0;
    const float share = 1.0f / (float)count;
    for (int k = 0; k < 3; k++) mean[k] *= share;
    float sum = 0.0f;
    if (count <= TSR_PLANES_KEPT)
        for (int32_t n = 0; n < count; n++) sum += tsr_planes_deviation(j->measure, kept[n], mean);
    else
        for (int32_t v = 0; v < j->views; v++)
            if (tsr_planes_sample(&j->view[v], x, y, t, colour)) sum += tsr_planes_deviation(j->measure, colour, mean);
    *score = j->raw ? sum : (j->measure == TSR_PLANES_SSD ? 2.0f : 1.0f) * sum / (float)tsr_maxi(1, count - 1);
    return count;
}

/* The grey values of a view in a window; those that are not known: of the middle. 0: the middle is not known. */
TSR_HD int tsr_planes_window(const tsr_planes_search_job *j, const tsr_planes_view_level *v, float x, float y, float t, float grey[TSR_PLANES_WINDOW])
{
    const int32_t reach = j->window / 2, middle = (j->window * j->window) / 2;
    float colour[3];
    if (!tsr_planes_sample(v, x, y, t, colour)) return 0;
    grey[middle] = colour[0] + colour[1] + colour[2];
    for (int32_t n = 0; n < j->window * j->window; n++) {
        if (n == middle) continue;
        const float dx = (float)(n % j->window - reach) * j->spacing, dy = (float)(n / j->window - reach) * j->spacing;
        grey[n] = tsr_planes_sample(v, x + dx, y + dy, t, colour) ? colour[0] + colour[1] + colour[2] : grey[middle];
    }
    return 1;
}
/* Of two windows. Census: places whose order with the middle differs. Correlation: 1 less it, 1 where one of them has no texture. */
TSR_HD float tsr_planes_windows(int measure, const float *a, const float *b, int32_t count)
{
    const int32_t middle = count / 2;
    if (measure == TSR_PLANES_CENSUS) {
        int32_t different = 0;
        for (int32_t n = 0; n < count; n++) different += n != middle && (a[n] > a[middle]) != (b[n] > b[middle]);
        return (float)different;
    }
    float ma = 0.0f, mb = 0.0f, aa = 0.0f, bb = 0.0f, ab = 0.0f;
    for (int32_t n = 0; n < count; n++) {
        ma += a[n];
        mb += b[n];
    }
    ma /= (float)count;
    mb /= (float)count;
    for (int32_t n = 0; n < count; n++) {
        aa += (a[n] - ma) * (a[n] - ma);
        bb += (b[n] - mb) * (b[n] - mb);
        ab += (a[n] - ma) * (b[n] - mb);
    }
    const float scale = aa * bb;
    return scale > 1e-6f ? 1.0f - ab / tsr_exact_root(scale) : 1.0f;
}
/* Mean over the pairs of the contributing views. */
TSR_HD int32_t tsr_planes_agree_windows(const tsr_planes_search_job *j, float x, float y, float t, float *score)
{
    float a[TSR_PLANES_WINDOW], b[TSR_PLANES_WINDOW], sum = 0.0f;
    int32_t count = 0, pairs = 0;
    for (int32_t v = 0; v < j->views; v++) {
        if (!tsr_planes_window(j, &j->view[v], x, y, t, a)) continue;
        count++;
        for (int32_t o = v + 1; o < j->views; o++) {
            if (!tsr_planes_window(j, &j->view[o], x, y, t, b)) continue;
            sum += tsr_planes_windows(j->measure, a, b, j->window * j->window);
            pairs++;
        }
    }
    *score = pairs ? j->raw ? sum : sum / (float)pairs : 0.0f;
    return count;
}

/* ---- search -------------------------------------------------------------------------------------------------------------------- */

/* t of the level before at a place of the depth camera. Returns the state of the place nearest to it. */
TSR_HD uint8_t tsr_planes_base(const tsr_planes_search_job *j, float x, float y, float *t)
{
    if (!j->base) {
        *t = 0.0f;
        return TSR_PLANES_SEARCHED;
    }
    const float u = x / j->base_spacing, v = y / j->base_spacing;
    const int32_t i = tsr_mini(j->base_width - 1, (int32_t)u), k = tsr_mini(j->base_height - 1, (int32_t)v);
    const int64_t n = (int64_t)k * j->base_width + i;
    *t = j->base[n];
    if (!j->linear || j->base_state[n] != TSR_PLANES_SEARCHED) return j->base_state[n];
    const float uc = tsr_clampf(u - 0.5f, 0.0f, (float)(j->base_width - 1)), vc = tsr_clampf(v - 0.5f, 0.0f, (float)(j->base_height - 1));
    const int32_t i0 = (int32_t)uc, k0 = (int32_t)vc, i1 = tsr_mini(i0 + 1, j->base_width - 1), k1 = tsr_mini(k0 + 1, j->base_height - 1);
    const float fx = uc - (float)i0, fy = vc - (float)k0;
    const float *above = j->base + (int64_t)k0 * j->base_width, *below = j->base + (int64_t)k1 * j->base_width;
    const float a = above[i0] + fx * (above[i1] - above[i0]), b = below[i0] + fx * (below[i1] - below[i0]), mixed = a + fy * (b - a);
    if (mixed == mixed) *t = mixed; /* else one of the four has none */
    return TSR_PLANES_SEARCHED;
}

/* The score of hypothesis k at a place: the sum over its samples. Returns the fewest contributors of a sample. */
TSR_HD int32_t tsr_planes_score(const tsr_planes_search_job *j, int32_t px, int32_t py, float base, int32_t k, float *score)
{
    const float offset = j->first + (float)k * j->step;
    if (j->samples == 1) {
        const float x = ((float)px + 0.5f) * j->spacing, y = ((float)py + 0.5f) * j->spacing, t = base + offset;
        if (!(t >= 0.0f && t <= 1.0f)) return 0;
        return j->measure >= TSR_PLANES_CENSUS ? tsr_planes_agree_windows(j, x, y, t, score) : tsr_planes_agree(j, x, y, t, score);
    }
    int32_t fewest = 1 << 30;
    float sum = 0.0f;
    for (int32_t n = 0; n < j->samples * j->samples; n++) {
        const float x = ((float)px + ((float)(n % j->samples) + 0.5f) / (float)j->samples) * j->spacing;
        const float y = ((float)py + ((float)(n / j->samples) + 0.5f) / (float)j->samples) * j->spacing;
        float t, own = 0.0f;
        tsr_planes_base(j, x, y, &t);
        t += offset;
        const int32_t count = !(t >= 0.0f && t <= 1.0f)         ? 0
                              : j->measure >= TSR_PLANES_CENSUS ? tsr_planes_agree_windows(j, x, y, t, &own)
                                                               : tsr_planes_agree(j, x, y, t, &own);
        fewest = tsr_mini(fewest, count);
        sum += own;
        if (fewest < j->least_count) return fewest;
    }
    *score = sum;
    return fewest;
}

/* Place i of a level. */
TSR_HD void tsr_planes_search_at(const tsr_planes_search_job *j, int64_t i)
{
    const int32_t px = (int32_t)(i % j->width), py = (int32_t)(i / j->width);
    float base, best = 0.0f, before = 0.0f, behind = 0.0f, last = 0.0f, second = -1.0f, worst = 0.0f, older = -1.0f;
    int32_t at = -1, best_count = 0, known_before = 0, known_behind = 0, last_known = 0;
    const uint8_t state = tsr_planes_base(j, ((float)px + 0.5f) * j->spacing, ((float)py + 0.5f) * j->spacing, &base);
    j->t[i] = base;
    j->score[i] = 0.0f;
    j->count[i] = 0;
    if (j->second) j->second[i] = 0.0f;
    if (base != base) {
        j->state[i] = TSR_PLANES_EMPTY;
        return;
    }
    if (state == TSR_PLANES_HELD && j->flat > 0.0f) { /* stopped: nothing is looked for below */
        j->state[i] = TSR_PLANES_HELD;
        return;
    }
    for (int32_t k = 0; k < j->hypotheses; k++) {
        float score = 0.0f;
        const int32_t count = tsr_planes_score(j, px, py, base, k, &score), known = count >= j->least_count;
        if (j->scores) j->scores[i * j->hypotheses + k] = known ? score : -1.0f;
        if (known) {
            if (at >= 0 && k == at + 1) {
                behind = score;
                known_behind = 1;
            }
            if (at < 0 || score < best) {
                /* What was best before counts as second where it is not a neighbour: `older` is the best up to k - 2. */
                second = older;
                before = last;
                known_before = last_known;
                known_behind = 0;
                best = score;
                best_count = count;
                at = k;
            } else if (k > at + 1 && (second < 0.0f || score < second)) {
                second = score;
            }
            worst = score > worst ? score : worst;
        }
        if (last_known && (older < 0.0f || last < older)) older = last;
        last = score;
        last_known = known;
    }
    j->state[i] = TSR_PLANES_HELD;
    if (at < 0) {
        if (!j->base) {
            j->state[i] = TSR_PLANES_EMPTY;
            j->t[i] = tsr_no_number();
        }
        return;
    }
    j->score[i] = best;
    j->count[i] = (uint8_t)tsr_mini(best_count, 255);
    if (j->second) j->second[i] = second < 0.0f ? 3.0e38f : second;
    if (j->flat > 0.0f && worst <= j->flat && j->base) return;
    float part = 0.0f;
    if (j->parabola && known_before && known_behind) {
        const float curve = before - 2.0f * best + behind;
        if (curve > 0.0f) part = 0.5f * (before - behind) / curve;
    }
    const float found = base + j->first + ((float)at + part) * j->step;
    j->t[i] = found < 0.0f ? 0.0f : found > 1.0f ? 1.0f : found;
    j->state[i] = TSR_PLANES_SEARCHED;
}

/* ---- medians ------------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_planes_median_job {
    int32_t width, height, reach; /* 1: 3 x 3, 2: 5 x 5 */
    int32_t mean;                 /* != 0: the mean instead, to compare */
    const float *from;
    const uint8_t *state;
    float *to;
    uint8_t *to_state;
} tsr_planes_median_job;

/* Of the places that have a depth, the middle one in order (of an even number: the lower of the two). Held places keep theirs; empty ones get one. */
TSR_HD void tsr_planes_median_at(const tsr_planes_median_job *j, int64_t i)
{
    const int32_t px = (int32_t)(i % j->width), py = (int32_t)(i / j->width);
    float sorted[25], sum = 0.0f;
    int32_t count = 0;
    j->to[i] = j->from[i];
    j->to_state[i] = j->state[i];
    if (j->state[i] == TSR_PLANES_HELD) return;
    for (int32_t y = tsr_maxi(0, py - j->reach); y <= tsr_mini(j->height - 1, py + j->reach); y++)
        for (int32_t x = tsr_maxi(0, px - j->reach); x <= tsr_mini(j->width - 1, px + j->reach); x++) {
            const float v = j->from[(int64_t)y * j->width + x];
            if (v != v) continue;
            int32_t k = count++;
            for (; k > 0 && sorted[k - 1] > v; k--) sorted[k] = sorted[k - 1];
            sorted[k] = v;
            sum += v;
        }
    if (!count) return;
    j->to[i] = j->mean ? sum / (float)count : sorted[(count - 1) / 2];
    if (j->state[i] == TSR_PLANES_EMPTY) j->to_state[i] = TSR_PLANES_SEARCHED;
}

#endif
