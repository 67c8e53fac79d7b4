/* vision/depth/sweep_image.h: the pictures and maps round the search: stacks of box means, of halved pictures and of recursive Gaussians, enlarging by the
 * picture, depths, agreement of two maps, costs of a plane, slanted windows. One function for each, of item i. Class exact. */
#ifndef TSR_VISION_DEPTH_SWEEP_IMAGE_H
#define TSR_VISION_DEPTH_SWEEP_IMAGE_H

#include "core/mix.h"
#include "vision/depth/match_math.h"
#include "vision/depth/sweep_math.h"

/* ---- stacks -------------------------------------------------------------------------------------------------------------------- */

/* Pixel i to sums: red, green, blue (grey: red) and 1, or four 0 where it does not count. */
typedef struct tsr_planes_load_job {
    int32_t width, height, channels;
    const uint8_t *image, *mask; /* mask: 0 = does not count; may be NULL */
    int32_t margin;              /* the sums have so many pixels more on every side */
    float dark, flat;            /* luminance below which a pixel does not count; range of the 3 x 3 pixels round it below which it does not */
    uint32_t *sums;
} tsr_planes_load_job;

TSR_HD float tsr_planes_luminance(const uint8_t *p, int32_t channels)
{
    return channels < 3 ? (float)p[0] : 0.299f * (float)p[0] + 0.587f * (float)p[1] + 0.114f * (float)p[2];
}
TSR_HD void tsr_planes_load_at(const tsr_planes_load_job *j, int64_t i)
{
    const uint8_t *p = j->image + i * j->channels;
    int known = !j->mask || j->mask[i];
    if (known && j->dark > 0.0f && tsr_planes_luminance(p, j->channels) < j->dark) known = 0;
    if (known && j->flat > 0.0f) {
        const int32_t px = (int32_t)(i % j->width), py = (int32_t)(i / j->width);
        float low = 255.0f, high = 0.0f;
        for (int32_t y = tsr_maxi(0, py - 1); y <= tsr_mini(j->height - 1, py + 1); y++)
            for (int32_t x = tsr_maxi(0, px - 1); x <= tsr_mini(j->width - 1, px + 1); x++) {
                const float v = tsr_planes_luminance(j->image + ((int64_t)y * j->width + x) * j->channels, j->channels);
                low = tsr_minf(low, v);
                high = tsr_maxf(high, v);
            }
        known = high - low >= j->flat;
    }
    uint32_t *to = j->sums + 4 * ((i / j->width + j->margin) * (j->width + 2 * j->margin) + i % j->width + j->margin);
    to[0] = known ? p[0] : 0u;
    to[1] = known && j->channels >= 3 ? p[1] : 0u;
    to[2] = known && j->channels >= 3 ? p[2] : 0u;
    to[3] = (uint32_t)known;
}

/* Sums of three pixels, `reach` apart, along x or y; beyond the margin, which is as wide as half the largest box, there are none. Item: one of the four numbers
 * of a pixel. */
typedef struct tsr_planes_box_job {
    int32_t width, height, reach, along_y;
    const uint32_t *from;
    uint32_t *to;
} tsr_planes_box_job;
TSR_HD void tsr_planes_box_at(const tsr_planes_box_job *j, int64_t i)
{
    const int64_t pixel = i / 4, place = j->along_y ? pixel / j->width : pixel % j->width, step = (int64_t)j->reach * 4 * (j->along_y ? j->width : 1);
    uint32_t sum = j->from[i];
    if (place >= j->reach) sum += j->from[i - step];
    if (place + j->reach < (j->along_y ? j->height : j->width)) sum += j->from[i + step];
    j->to[i] = sum;
}

/* Sums to means, and 1 where there is one. Sums of a pixel alone (plain) stay as they are. */
typedef struct tsr_planes_mean_job {
    int32_t width, margin; /* of the means, and of the sums around them */
    const uint32_t *from;
    float *to;
    int32_t plain;
} tsr_planes_mean_job;
TSR_HD void tsr_planes_mean_at(const tsr_planes_mean_job *j, int64_t i)
{
    const uint32_t *s = j->from + 4 * ((i / j->width + j->margin) * (j->width + 2 * j->margin) + i % j->width + j->margin);
    const float count = (float)s[3];
    for (int k = 0; k < 3; k++) j->to[4 * i + k] = s[3] && !j->plain ? (float)s[k] / count : (float)s[k];
    j->to[4 * i + 3] = s[3] ? 1.0f : 0.0f;
}

/* 2 x 2 pixels to one: the mean of those that are known. */
typedef struct tsr_planes_halve_job {
    int32_t width, height, half_width; /* of what is halved */
    const float *from;
    float *to;
} tsr_planes_halve_job;
TSR_HD void tsr_planes_halve_at(const tsr_planes_halve_job *j, int64_t i)
{
    const int32_t px = (int32_t)(i % j->half_width) * 2, py = (int32_t)(i / j->half_width) * 2;
    float sum[4] = { 0.0f, 0.0f, 0.0f, 0.0f };
    for (int n = 0; n < 4; n++) {
        const float *p = j->from + ((int64_t)tsr_mini(j->height - 1, py + n / 2) * j->width + tsr_mini(j->width - 1, px + n % 2)) * 4;
        for (int k = 0; k < 3; k++) sum[k] += p[3] * p[k];
        sum[3] += p[3];
    }
    for (int k = 0; k < 3; k++) j->to[4 * i + k] = sum[3] > 0.0f ? sum[k] / sum[3] : 0.0f;
    j->to[4 * i + 3] = sum[3] > 0.0f ? 1.0f : 0.0f;
}

/* The recursive Gaussian of Young and van Vliet, third order: one of the four numbers along a row or column, forward and backward, in place. Item: the number
 * and the row or column. Beyond the ends their values go on. */
typedef struct tsr_planes_gauss_job {
    int32_t width, height, along_y;
    float gain, before[3]; /* B, b1 / b0, b2 / b0, b3 / b0 */
    float *data;
} tsr_planes_gauss_job;
TSR_HD void tsr_planes_gauss_at(const tsr_planes_gauss_job *j, int64_t i)
{
    const int64_t line = i / 4, length = j->along_y ? j->height : j->width, step = j->along_y ? 4 * (int64_t)j->width : 4;
    float *p = j->data + (j->along_y ? 4 * line : 4 * line * j->width) + i % 4;
    float a = p[0], b = a, c = a;
    for (int64_t n = 0; n < length; n++) {
        const float v = j->gain * p[n * step] + (j->before[0] * a + j->before[1] * b + j->before[2] * c);
        c = b;
        b = a;
        a = p[n * step] = v;
    }
    a = b = c = p[(length - 1) * step];
    for (int64_t n = length - 1; n >= 0; n--) {
        const float v = j->gain * p[n * step] + (j->before[0] * a + j->before[1] * b + j->before[2] * c);
        c = b;
        b = a;
        a = p[n * step] = v;
    }
}
/* After it: colours are divided by what is known of them. */
typedef struct tsr_planes_even_job {
    float *data;
} tsr_planes_even_job;
TSR_HD void tsr_planes_even_at(const tsr_planes_even_job *j, int64_t i)
{
    float *p = j->data + 4 * i;
    const float known = p[3];
    for (int k = 0; k < 3; k++) p[k] = known > 1e-3f ? p[k] / known : 0.0f;
    p[3] = known > 1e-3f ? 1.0f : 0.0f;
}

/* ---- enlarging by the picture ---------------------------------------------------------------------------------------------------- */

/* Of the 3 x 3 coarse places round a fine one the mean, weighted by distance and by how alike the first view's colours are at both. */
typedef struct tsr_planes_enlarge_job {
    const tsr_planes_view_level *view;
    tsr_planes_search_job base; /* base, base_state, base_width, ...: nearest */
    int32_t width, height;
    float spacing, range; /* range: difference of colours that halves a weight */
    float *to;
    uint8_t *to_state;
} tsr_planes_enlarge_job;
TSR_HD void tsr_planes_enlarge_at(const tsr_planes_enlarge_job *j, int64_t i)
{
    const tsr_planes_search_job *b = &j->base;
    const float x = ((float)(int32_t)(i % j->width) + 0.5f) * j->spacing, y = ((float)(int32_t)(i / j->width) + 0.5f) * j->spacing;
    float t, here[3], there[3], sum = 0.0f, weights = 0.0f;
    const uint8_t state = tsr_planes_base(b, x, y, &t);
    j->to[i] = t;
    j->to_state[i] = state;
    if (state != TSR_PLANES_SEARCHED || !tsr_planes_sample(&j->view[0], x, y, t, here)) return;
    const int32_t px = tsr_mini(b->base_width - 1, (int32_t)(x / b->base_spacing)), py = tsr_mini(b->base_height - 1, (int32_t)(y / b->base_spacing));
    for (int32_t v = tsr_maxi(0, py - 1); v <= tsr_mini(b->base_height - 1, py + 1); v++)
        for (int32_t u = tsr_maxi(0, px - 1); u <= tsr_mini(b->base_width - 1, px + 1); u++) {
            const float own = b->base[(int64_t)v * b->base_width + u], ux = ((float)u + 0.5f) * b->base_spacing, uy = ((float)v + 0.5f) * b->base_spacing;
            if (own != own || !tsr_planes_sample(&j->view[0], ux, uy, own, there)) continue;
            const float dx = (ux - x) / b->base_spacing, dy = (uy - y) / b->base_spacing, far = tsr_maxf(0.0f, 2.25f - (dx * dx + dy * dy));
            const float apart = tsr_planes_deviation(TSR_PLANES_SSD, here, there) / (j->range * j->range), weight = far / (1.0f + apart * apart);
            sum += weight * own;
            weights += weight;
        }
    if (weights > 0.0f) j->to[i] = sum / weights;
}

/* ---- results -------------------------------------------------------------------------------------------------------------------- */

/* t to the depth along the axis, a quotient of what is linear in (x, y, t, 1); 0 where not valid. */
typedef struct tsr_planes_depth_job {
    int32_t width, height;
    float scale[2]; /* pixels of the depth camera a place is wide and high */
    float numerator[4], denominator[4];
    const float *t;
    const uint8_t *valid;
    float *depth;
    const tsr_planes_view_level *view; /* not NULL: the disparity of the first two, in their pixels, instead; NAN where not valid */
} tsr_planes_depth_job;
TSR_HD void tsr_planes_depth_at(const tsr_planes_depth_job *j, int64_t i)
{
    const float x = ((float)(int32_t)(i % j->width) + 0.5f) * j->scale[0], y = ((float)(int32_t)(i / j->width) + 0.5f) * j->scale[1], t = j->t[i];
    if (!j->valid[i] || t != t) {
        j->depth[i] = j->view ? tsr_no_number() : 0.0f;
        return;
    }
    if (j->view) {
        float a[3], b[3];
        tsr_planes_ray(&j->view[0], x, y, a);
        tsr_planes_ray(&j->view[1], x, y, b);
        j->depth[i] = (a[0] + t * j->view[0].row[0][2]) / (a[2] + t * j->view[0].row[2][2]) - (b[0] + t * j->view[1].row[0][2]) / (b[2] + t * j->view[1].row[2][2]);
        return;
    }
    const float n = j->numerator[0] * x + j->numerator[1] * y + j->numerator[2] * t + j->numerator[3];
    const float d = j->denominator[0] * x + j->denominator[1] * y + j->denominator[2] * t + j->denominator[3];
    j->depth[i] = n / d;
}

/* Does another depth map say the same? Where its camera sees the point, its depth there must be within `tolerance` of the point's, relative; what it does not
 * see is neither. */
typedef struct tsr_planes_consist_job {
    int32_t width, height, other_width, other_height;
    float row[4][4];       /* x w, y w (pixels of the other map), depth and w of (x d, y d, d, 1), d the depth; parallel rays: of (x, y, d, 1) */
    int32_t parallel;
    float tolerance;
    int32_t unseen;        /* what a point that the other camera does not see becomes */
    float *depth;          /* 0 where they differ */
    const float *other;
    uint8_t *valid;        /* 0 where they differ */
} tsr_planes_consist_job;
TSR_HD void tsr_planes_consist_at(const tsr_planes_consist_job *j, int64_t i)
{
    const float x = (float)(int32_t)(i % j->width) + 0.5f, y = (float)(int32_t)(i / j->width) + 0.5f, d = j->depth[i];
    float q[4];
    if (!(d > 0.0f)) {
        j->valid[i] = 0;
        return;
    }
    for (int k = 0; k < 4; k++) {
        const float across = j->row[k][0] * x + j->row[k][1] * y;
        q[k] = (j->parallel ? across + j->row[k][2] * d : (across + j->row[k][2]) * d) + j->row[k][3];
    }
    const float u = q[0] / q[3], v = q[1] / q[3], own = q[2];
    if (!(q[3] > 0.0f) || !(u >= 0.0f && v >= 0.0f && u < (float)j->other_width && v < (float)j->other_height)) {
        if (!j->unseen) j->valid[i] = 0;
        if (!j->unseen) j->depth[i] = 0.0f;
        return;
    }
    const float there = j->other[(int64_t)(int32_t)v * j->other_width + (int32_t)u];
    if (tsr_absf(there - own) <= j->tolerance * own) return;
    j->valid[i] = 0;
    j->depth[i] = 0.0f;
}

/* What is valid. From a search: what it found by itself, and better than elsewhere. From matching along paths: t of the hypothesis. */
typedef struct tsr_planes_settle_job {
    float uniqueness, scale; /* scale: t from one hypothesis to the next */
    const float *best;       /* of matching, or NULL */
    const uint16_t *sums;
    const uint8_t *unique;
    int32_t least_count;
    float *t, *score, *second; /* second may be NULL */
    uint8_t *count, *state, *valid;
} tsr_planes_settle_job;
TSR_HD void tsr_planes_settle_at(const tsr_planes_settle_job *j, int64_t i)
{
    if (j->best) {
        const int seen = j->count[i] >= j->least_count;
        j->t[i] = seen ? j->best[i] * j->scale : tsr_no_number();
        j->score[i] = (float)j->sums[i];
        j->state[i] = seen ? TSR_PLANES_SEARCHED : TSR_PLANES_EMPTY;
        j->valid[i] = (uint8_t)(seen && j->unique[i]);
        return;
    }
    j->valid[i] = (uint8_t)(j->state[i] == TSR_PLANES_SEARCHED && j->count[i] >= j->least_count &&
                            (!(j->uniqueness > 0.0f) || j->second[i] >= j->score[i] * (1.0f + j->uniqueness)));
}

/* ---- costs of a plane ------------------------------------------------------------------------------------------------------------ */

/* What view n sees of the plane t: grey 1 to 255 for each pixel of the depth camera, 0 where it is not seen. Item: pixel of [views][height][width]. */
typedef struct tsr_planes_warp_job {
    const tsr_planes_view_level *view;
    int32_t width, height, grey; /* grey: the pictures have one channel */
    float scale[2], t;
    uint8_t *to;
} tsr_planes_warp_job;
TSR_HD void tsr_planes_warp_at(const tsr_planes_warp_job *j, int64_t i)
{
    const int64_t pixels = (int64_t)j->width * j->height, p = i % pixels;
    float colour[3];
    const float x = ((float)(int32_t)(p % j->width) + 0.5f) * j->scale[0], y = ((float)(int32_t)(p / j->width) + 0.5f) * j->scale[1];
    j->to[i] = 0;
    if (tsr_planes_sample(&j->view[i / pixels], x, y, j->t, colour))
        j->to[i] = (uint8_t)tsr_clampf((j->grey ? colour[0] : 0.299f * colour[0] + 0.587f * colour[1] + 0.114f * colour[2]) + 0.5f, 1.0f, 255.0f);
}

/* Costs of the views' codes: the mean of the better half of the comparisons, with the reference view or, where there is none, of all pairs. */
typedef struct tsr_planes_merge_job {
    int32_t views, reference; /* -1: none */
    int32_t least_count, padded, hypothesis, depths;
    int64_t pixels;
    const uint8_t *grey;  /* [views][pixels] */
    const uint32_t *code; /* [views][pixels] */
    uint8_t *volume;      /* [pixels][padded] */
    uint8_t *count;       /* [pixels]: most contributors of a hypothesis */
} tsr_planes_merge_job;
TSR_HD void tsr_planes_merge_at(const tsr_planes_merge_job *j, int64_t i)
{
    uint32_t histogram[TSR_MATCH_WORST + 1];
    uint8_t *to = j->volume + i * j->padded + j->hypothesis;
    int32_t count = 0, pairs = 0;
    for (int32_t k = 0; k <= TSR_MATCH_WORST; k++) histogram[k] = 0;
    for (int32_t a = 0; a < j->views; a++) {
        const int64_t ia = a * j->pixels + i;
        if (!j->grey[ia]) continue;
        count++;
        if (j->reference >= 0 && a != j->reference) continue;
        for (int32_t b = j->reference >= 0 ? 0 : a + 1; b < j->views; b++) {
            const int64_t ib = b * j->pixels + i;
            if (b == a || !j->grey[ib]) continue;
            histogram[tsr_mini(TSR_MATCH_WORST, tsr_match_cost(j->code[ia], j->code[ib], j->grey[ia], j->grey[ib]))]++;
            pairs++;
        }
    }
    if (j->hypothesis == 0) {
        j->count[i] = 0;
        for (int32_t d = j->depths; d < j->padded; d++) j->volume[i * j->padded + d] = TSR_MATCH_WORST;
    }
    j->count[i] = (uint8_t)tsr_maxi(j->count[i], tsr_mini(count, 255));
    *to = TSR_MATCH_UNSEEN;
    if (count < j->least_count || !pairs) return;
    int32_t left = (pairs + 1) / 2, sum = 0;
    const int32_t half = left;
    for (int32_t k = 0; k <= TSR_MATCH_WORST && left > 0; k++) {
        const int32_t take = tsr_mini(left, (int32_t)histogram[k]);
        sum += take * k;
        left -= take;
    }
    *to = (uint8_t)((sum + half / 2) / half);
}

/* ---- slanted windows -------------------------------------------------------------------------------------------------------------- */

/* Planes of hypotheses: at a pixel d, and its slope to the right and down. One turn of one colour of the chessboard: each pixel takes the best of its own plane,
 * those of its neighbours, carried on to it, and some at random. */
typedef struct tsr_planes_patch_job {
    int32_t width, height, depths, padded, reach; /* reach: window of 2 reach + 1 pixels, every second one */
    int32_t colour, turn;
    const uint8_t *volume, *grey;
    float *plane; /* [height][width][3] */
    float *best;  /* hypotheses: colour -1 begins with them, colour 2 gives them back */
    float *cost;
    float range;    /* of the random ones */
    uint64_t seed;
} tsr_planes_patch_job;

TSR_HD float tsr_planes_patch_cost(const tsr_planes_patch_job *j, int32_t px, int32_t py, const float plane[3])
{
    const int32_t middle = j->grey[(int64_t)py * j->width + px];
    float sum = 0.0f, weights = 0.0f;
    for (int32_t dy = -j->reach; dy <= j->reach; dy += 2)
        for (int32_t dx = -j->reach; dx <= j->reach; dx += 2) {
            const int32_t x = px + dx, y = py + dy;
            if (x < 0 || y < 0 || x >= j->width || y >= j->height) continue;
            const int64_t i = (int64_t)y * j->width + x;
            const int32_t grey = j->grey[i], apart = grey > middle ? grey - middle : middle - grey;
            const float weight = 12.0f / (12.0f + (float)apart), d = plane[0] + plane[1] * (float)dx + plane[2] * (float)dy;
            float cost = (float)TSR_MATCH_WORST;
            if (d >= 0.0f && d <= (float)(j->depths - 1)) {
                const int32_t n = (int32_t)d;
                const float f = d - (float)n, a = (float)j->volume[i * j->padded + n], b = (float)j->volume[i * j->padded + tsr_mini(n + 1, j->depths - 1)];
                cost = a + f * (b - a);
            }
            sum += weight * tsr_minf(cost, 24.0f);
            weights += weight;
        }
    return sum / weights;
}
TSR_HD float tsr_planes_random(uint64_t *state)
{
    *state += TSR_GOLDEN_STEP;
    return (float)(int32_t)(tsr_mix64(*state) >> 41) * (1.0f / 4194304.0f) - 1.0f; /* -1 to 1 */
}
TSR_HD void tsr_planes_patch_at(const tsr_planes_patch_job *j, int64_t i)
{
    const int32_t px = (int32_t)(i % j->width), py = (int32_t)(i / j->width);
    if (j->colour == 2) j->best[i] = tsr_clampf(j->plane[3 * i], 0.0f, (float)(j->depths - 1));
    if (j->colour < 0) {
        j->plane[3 * i] = j->best[i];
        j->plane[3 * i + 1] = j->plane[3 * i + 2] = 0.0f;
    }
    if (((px + py) & 1) != j->colour) return;
    float best[3] = { j->plane[3 * i], j->plane[3 * i + 1], j->plane[3 * i + 2] }, least = tsr_planes_patch_cost(j, px, py, best);
    for (int32_t n = 0; n < 8; n++) {
        const int32_t far = n < 4 ? 1 : 5, dx = n % 4 == 0 ? -far : n % 4 == 1 ? far : 0, dy = n % 4 == 2 ? -far : n % 4 == 3 ? far : 0;
        const int32_t x = px + dx, y = py + dy;
        if (x < 0 || y < 0 || x >= j->width || y >= j->height) continue;
        const float *p = j->plane + ((int64_t)y * j->width + x) * 3;
        const float own[3] = { p[0] - p[1] * (float)dx - p[2] * (float)dy, p[1], p[2] }, cost = tsr_planes_patch_cost(j, px, py, own);
        if (cost < least) {
            least = cost;
            for (int k = 0; k < 3; k++) best[k] = own[k];
        }
    }
    uint64_t state = j->seed + (uint64_t)i * 0x632be59bd9b4e019ull + (uint64_t)(uint32_t)j->turn * 0xd1342543de82ef95ull;
    float range = j->range;
    for (int32_t n = 0; n < 4; n++, range *= 0.4f) {
        const float own[3] = { best[0] + range * tsr_planes_random(&state), best[1] + 0.1f * range * tsr_planes_random(&state),
                               best[2] + 0.1f * range * tsr_planes_random(&state) };
        const float cost = tsr_planes_patch_cost(j, px, py, own);
        if (cost < least) {
            least = cost;
            for (int k = 0; k < 3; k++) best[k] = own[k];
        }
    }
    for (int k = 0; k < 3; k++) j->plane[3 * i + k] = best[k];
    j->cost[i] = least;
}

#endif
