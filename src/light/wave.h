/* light/wave.h: a wavefront as a list of patches of four particles each: their step, when they end or split, what they leave in voxels and on the floor.
 * Sums of power are whole numbers of a unit, so that they do not depend on the order; the same bits on every backend. */
#ifndef TSR_LIGHT_WAVE_H
#define TSR_LIGHT_WAVE_H

#include "light/medium.h"

/* What happens to a patch: it ends for a reason, or becomes 2^r x 2^q patches: fate TSR_LIGHT_KEEP + r + 16 q. */
enum {
    TSR_LIGHT_LEFT = 0, /* all corners outside, moving away */
    TSR_LIGHT_LANDED,   /* the same, on the floor */
    TSR_LIGHT_FAINT,    /* power below the least */
    TSR_LIGHT_CAUSTIC,  /* turned over at a caustic, or passed a focus */
    TSR_LIGHT_TORN,     /* its corners go different ways */
    TSR_LIGHT_STOPPED,  /* by opaque matter */
    TSR_LIGHT_REASONS,
    TSR_LIGHT_KEEP = 8,
    TSR_LIGHT_ROUNDS = 4,       /* most r and q */
    TSR_LIGHT_WORDS = 32,       /* of a patch */
    TSR_LIGHT_PLAIN_WORDS = 28, /* without those that surfaces need */
    TSR_LIGHT_BINS = 64,        /* of irradiance, when the list is full */
    TSR_LIGHT_TEXELS = 32,      /* samples along an edge of a patch on the floor, at most */
    TSR_LIGHT_PARTED = 0xf0,    /* of its state: corners that have met a surface before others */
    TSR_LIGHT_APART = 4,        /* times the largest extent that a patch may have while its corners are on both sides of a surface */
    TSR_LIGHT_PLOT = 20         /* texels along an edge of the sums that a patch has for itself */
};

/* Corners 0 (0,0), 1 (1,0), 2 (1,1), 3 (0,1) of the unit square. */
typedef struct tsr_light_patch {
    float x[3][4], v[3][4]; /* places and speeds, [axis][corner] */
    float power[3];         /* r, g, b */
    uint32_t state; /* bits 0-1: colour 0 all, 1 r, 2 g, 3 b; bits 4-7: corners that have met a surface before others; bits 8 up: caustics passed */
    float steep,
        start[3]; /* a passage between two media: square of the steepest gradient, below 0 where the index falls, 0: none; the speed where it began */
} tsr_light_patch;

/* Word k of patch i lies at data[k * across + i]; what follows the last patch up to a multiple of 32 may be written. */
typedef struct tsr_light_list {
    float *data;
    int64_t across;
    int32_t words; /* TSR_LIGHT_WORDS, or the plain ones where surfaces take nothing */
} tsr_light_list;

/* Device memory; of power r, g, b in units. */
typedef struct tsr_light_account {
    int64_t ended[TSR_LIGHT_REASONS][3], dimmed[3], mirrored[3], rest[3];
    int64_t ends[TSR_LIGHT_REASONS];
    int64_t patches, peak, steps, moved, splits, crowded; /* crowded: patches that were to be split when the list was full */
    int64_t more[TSR_LIGHT_BINS];                         /* room that splits of each bin ask for, while the list is full */
    int64_t bin;                                          /* the last bin that is not split then */
} tsr_light_account;

typedef struct tsr_light_floor {
    float *light;       /* what is seen: irradiance [y][x][3], made from sums at the end */
    int64_t *sums;      /* [y][x][3], power in units; NULL: no floor */
    float z, corner[2]; /* height and lower corner, voxels */
    float scale;        /* texels per voxel */
    int32_t size[2];    /* texels */
} tsr_light_floor;

typedef struct tsr_light_wave {
    tsr_light_medium medium;
    float bends[4];                                                     /* by colour */
    float dt, extent, least, least_area, unit;                          /* least power; unit: whole units per power */
    int32_t integrator, project, rounds, go_on, layers, steps, mirrors; /* mirrors: surfaces take what they reflect */
    tsr_light_floor floor;
    tsr_light_list list[2];
    int64_t capacity;
    uint8_t *fate;  /* [capacity] */
    uint64_t *mark; /* [capacity] the key with which a patch came to its voxel, 0: to none */
    uint32_t *at;   /* [capacity] that voxel */
    uint64_t *keys; /* [voxels] the strongest of a step */
    float *field;   /* [layers][voxels][4]: irradiance r, g, b; packed direction */
    int64_t *sums;  /* [voxels][6]: fluence r, g, b and direction x luminance; NULL: strongest rays instead */
    tsr_light_account *account;
} tsr_light_wave;

TSR_HD void tsr_light_add(int64_t *to, int64_t amount)
{
#if defined(__CUDA_ARCH__)
    atomicAdd((unsigned long long *)to, (unsigned long long)amount);
#else
    __atomic_fetch_add(to, amount, __ATOMIC_RELAXED);
#endif
}
TSR_HD void tsr_light_largest(uint64_t *to, uint64_t value)
{
#if defined(__CUDA_ARCH__)
    atomicMax((unsigned long long *)to, (unsigned long long)value);
#else
    uint64_t seen = __atomic_load_n(to, __ATOMIC_RELAXED);
    while (seen < value && !__atomic_compare_exchange_n(to, &seen, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
#endif
}

/* Of sums that one worker or one block of threads has for itself. */
TSR_HD void tsr_light_tally(int64_t *to, int64_t amount)
{
#if defined(__CUDA_ARCH__)
    if (amount) atomicAdd((unsigned long long *)to, (unsigned long long)amount);
#else
    *to += amount;
#endif
}

/* Whole units of an amount, to nearest. */
TSR_HD int64_t tsr_light_units(float amount, float unit)
{
    const float v = amount * unit;
    return v < 0.0f ? -(int64_t)(0.5f - v) : (int64_t)(v + 0.5f);
}

TSR_HD void tsr_light_get(const tsr_light_list *l, int64_t i, tsr_light_patch *p)
{
    float words[TSR_LIGHT_WORDS];
    const float *from = l->data + i;
    for (int k = 0; k < TSR_LIGHT_PLAIN_WORDS; k++) words[k] = from[k * l->across];
    for (int k = TSR_LIGHT_PLAIN_WORDS; k < TSR_LIGHT_WORDS; k++) words[k] = l->words > TSR_LIGHT_PLAIN_WORDS ? from[k * l->across] : 0.0f;
    memcpy(p, words, sizeof *p);
}
TSR_HD void tsr_light_put(const tsr_light_list *l, int64_t i, const tsr_light_patch *p)
{
    float words[TSR_LIGHT_WORDS], *to = l->data + i;
    memcpy(words, p, sizeof *p);
    for (int k = 0; k < TSR_LIGHT_PLAIN_WORDS; k++) to[k * l->across] = words[k];
    for (int k = TSR_LIGHT_PLAIN_WORDS; k < TSR_LIGHT_WORDS && l->words > TSR_LIGHT_PLAIN_WORDS; k++) to[k * l->across] = words[k];
}

TSR_HD void tsr_light_corner(const float w[3][4], int c, float to[3])
{
    for (int k = 0; k < 3; k++) to[k] = w[k][c];
}
TSR_HD void tsr_light_middle(const float w[3][4], float to[3])
{
    for (int k = 0; k < 3; k++) to[k] = 0.25f * ((w[k][0] + w[k][1]) + (w[k][2] + w[k][3]));
}
TSR_HD void tsr_light_cross(const float a[3], const float b[3], float to[3])
{
    to[0] = a[1] * b[2] - a[2] * b[1];
    to[1] = a[2] * b[0] - a[0] * b[2];
    to[2] = a[0] * b[1] - a[1] * b[0];
}
TSR_HD float tsr_light_dot(const float a[3], const float b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* Twice the vector area: the product of the diagonals. */
TSR_HD void tsr_light_twice_area(const tsr_light_patch *p, float to[3])
{
    float a[3], b[3];
    for (int k = 0; k < 3; k++) {
        a[k] = p->x[k][2] - p->x[k][0];
        b[k] = p->x[k][3] - p->x[k][1];
    }
    tsr_light_cross(a, b, to);
}
/* Area in voxels squared, of the patch across its direction. */
TSR_HD float tsr_light_area(const tsr_light_patch *p)
{
    float a[3];
    tsr_light_twice_area(p, a);
    return 0.5f * tsr_sqrt(tsr_light_dot(a, a));
}
/* Positive or negative as its corners run around its direction. */
TSR_HD float tsr_light_turn(const tsr_light_patch *p)
{
    float a[3], v[3];
    tsr_light_twice_area(p, a);
    tsr_light_middle(p->v, v);
    return tsr_light_dot(a, v);
}

/* Patches whose corners stay outside of the volume from here on: each has an axis along which it is outside and does not come nearer. */
TSR_HD int tsr_light_leaves(const tsr_light_medium *m, const tsr_light_patch *p)
{
    for (int c = 0; c < 4; c++) {
        int away = 0;
        for (int k = 0; k < 3; k++) away |= (p->x[k][c] < -0.5f && p->v[k][c] <= 0.0f) | (p->x[k][c] > m->upper[k] && p->v[k][c] >= 0.0f);
        if (!away) return 0;
    }
    return 1;
}

/* Where straight rays from the corners meet the floor, in texels: 0 unless all come down to it. */
TSR_HD int tsr_light_landing(const tsr_light_floor *f, const tsr_light_patch *p, float at[2][4])
{
    for (int c = 0; c < 4; c++) {
        if (!(p->v[2][c] < -1e-4f)) return 0;
        const float t = (f->z - p->x[2][c]) / p->v[2][c];
        for (int k = 0; k < 2; k++) at[k][c] = (p->x[k][c] + t * p->v[k][c] - f->corner[k]) * f->scale;
    }
    return 1;
}

/* What one patch leaves on the floor is summed by itself first on the CPU: few of its many additions go to memory that all share. */
typedef struct tsr_light_plot {
    int32_t from[2], size[2]; /* texels; size 0: none */
    int64_t sums[TSR_LIGHT_PLOT * TSR_LIGHT_PLOT * 3];
} tsr_light_plot;

/* For `points` points between low and high: none where they would hardly meet. */
TSR_HD void tsr_light_plot_open(tsr_light_plot *t, const float low[2], const float high[2], int32_t points)
{
    for (int k = 0; k < 2; k++) {
        t->from[k] = (int32_t)(tsr_maxf(low[k], -2.0f) + 1.5f) - 2;
        t->size[k] = (int32_t)(tsr_minf(high[k], 1e6f) + 2.5f) - 1 - t->from[k];
    }
    if (t->size[0] < 1 || t->size[1] < 1 || t->size[0] > TSR_LIGHT_PLOT || t->size[1] > TSR_LIGHT_PLOT || t->size[0] * t->size[1] > 2 * points)
        t->size[0] = t->size[1] = 0;
    memset(t->sums, 0, (size_t)(t->size[0] * t->size[1]) * 3 * sizeof *t->sums);
}
TSR_HD void tsr_light_plot_close(const tsr_light_floor *f, const tsr_light_plot *t)
{
    for (int32_t y = 0; y < t->size[1]; y++)
        for (int32_t x = 0; x < t->size[0]; x++)
            for (int k = 0; k < 3; k++) {
                const int64_t own = t->sums[(y * t->size[0] + x) * 3 + k];
                if (own) tsr_light_add(f->sums + ((int64_t)(t->from[1] + y) * f->size[0] + t->from[0] + x) * 3 + k, own);
            }
}

/* Points along sides a to b and c to d of a patch: two in a texel. */
TSR_HD int tsr_light_points(const float at[2][4], int a, int b, int c, int d)
{
    float size = 0.0f;
    for (int k = 0; k < 2; k++) size = tsr_maxf(size, tsr_maxf(tsr_absf(at[k][b] - at[k][a]), tsr_absf(at[k][d] - at[k][c])));
    return size < 0.5f * (float)TSR_LIGHT_TEXELS ? (int)(2.0f * size) + 1 : TSR_LIGHT_TEXELS;
}

/* A patch on the floor: its picture there, texels, and its power. */
typedef struct tsr_light_fall {
    int32_t lands;
    float at[2][4], power[3];
} tsr_light_fall;

/* Spreads the power over the patch's picture on the floor: points along both sides, each to the four texels around it. Of the points those from `first` on,
 * `stride` apart. */
TSR_HD void tsr_light_land(const tsr_light_wave *w, const tsr_light_fall *fall, int32_t first, int32_t stride)
{
    const float(*at)[4] = fall->at, *power = fall->power;
    const tsr_light_floor *f = &w->floor;
    float low[2], high[2];
    for (int k = 0; k < 2; k++) {
        low[k] = tsr_minf(tsr_minf(at[k][0], at[k][1]), tsr_minf(at[k][2], at[k][3]));
        high[k] = tsr_maxf(tsr_maxf(at[k][0], at[k][1]), tsr_maxf(at[k][2], at[k][3]));
        if (high[k] < -1.0f || low[k] > (float)f->size[k] + 1.0f) return;
    }
    const int wide = tsr_light_points(at, 0, 1, 3, 2), high_ = tsr_light_points(at, 0, 3, 1, 2);
    const float share[2] = { 1.0f / (float)wide, 1.0f / (float)high_ }, part = w->unit * share[0] * share[1];
#if !defined(__CUDA_ARCH__)
    tsr_light_plot plot;
    tsr_light_plot_open(&plot, low, high, wide * high_);
#endif
    for (int32_t i = first, j = 0;; i += stride) {
        for (; i >= wide; j++) i -= wide;
        if (j >= high_) break;
        const float u = ((float)i + 0.5f) * share[0], v = ((float)j + 0.5f) * share[1];
        float q[2];
        for (int k = 0; k < 2; k++) {
            const float near_ = at[k][0] + u * (at[k][1] - at[k][0]), far_ = at[k][3] + u * (at[k][2] - at[k][3]);
            q[k] = near_ + v * (far_ - near_) - 0.5f;
        }
        if (!(q[0] > -1.0f && q[1] > -1.0f && q[0] < (float)f->size[0] && q[1] < (float)f->size[1])) continue;
        const int32_t x = (int32_t)(q[0] + 1.0f) - 1, y = (int32_t)(q[1] + 1.0f) - 1;
        const float fx = q[0] - (float)x, fy = q[1] - (float)y;
        for (int c = 0; c < 4; c++) {
            const int32_t tx = x + (c & 1), ty = y + (c >> 1);
            if (tx < 0 || ty < 0 || tx >= f->size[0] || ty >= f->size[1]) continue;
            const float weight = ((c & 1) ? fx : 1.0f - fx) * ((c >> 1) ? fy : 1.0f - fy) * part;
#if !defined(__CUDA_ARCH__)
            const int32_t sx = tx - plot.from[0], sy = ty - plot.from[1];
            if (sx >= 0 && sy >= 0 && sx < plot.size[0] && sy < plot.size[1]) {
                int64_t *own = plot.sums + (sy * plot.size[0] + sx) * 3;
                for (int k = 0; k < 3; k++)
                    if (power[k] > 0.0f) own[k] += tsr_light_units(power[k], weight);
                continue;
            }
#endif
            int64_t *to = f->sums + ((int64_t)ty * f->size[0] + tx) * 3;
            for (int k = 0; k < 3; k++)
                if (power[k] > 0.0f) tsr_light_add(to + k, tsr_light_units(power[k], weight));
        }
    }
#if !defined(__CUDA_ARCH__)
    tsr_light_plot_close(f, &plot);
#endif
}

/* Takes from the power what is lost on the straight way from a to b; adds the units to lost[3]. */
TSR_HD void tsr_light_dim(const tsr_light_wave *w, tsr_light_patch *p, const float a[3], const float b[3], int64_t lost[3])
{
    float mid[3], s[4], d2 = 0.0f;
    for (int k = 0; k < 3; k++) {
        mid[k] = 0.5f * (a[k] + b[k]);
        d2 += (b[k] - a[k]) * (b[k] - a[k]);
    }
    if (!tsr_light_inside(&w->medium, mid)) return;
    tsr_light_four(&w->medium, w->medium.dim, mid, s);
    const float length = tsr_sqrt(d2);
    for (int k = 0; k < 3; k++) {
        if (!(s[k] > 0.0f) || !(p->power[k] > 0.0f)) continue;
        const int64_t before = tsr_light_units(p->power[k], w->unit);
        p->power[k] = p->power[k] * tsr_light_exp(-s[k] * length);
        tsr_light_tally(lost + k, before - tsr_light_units(p->power[k], w->unit));
    }
}

/* The longest edge of the box around its corners. */
TSR_HD float tsr_light_size(const tsr_light_patch *p)
{
    float size = 0.0f;
    for (int k = 0; k < 3; k++) {
        const float low = tsr_minf(tsr_minf(p->x[k][0], p->x[k][1]), tsr_minf(p->x[k][2], p->x[k][3]));
        size = tsr_maxf(size, tsr_maxf(tsr_maxf(p->x[k][0], p->x[k][1]), tsr_maxf(p->x[k][2], p->x[k][3])) - low);
    }
    return size;
}

/* The fate of a patch as it is: large ones are to be split, into parts no larger than the extent that is allowed. Long ones are split along their longer side,
 * unless they are always split into four. */
TSR_HD int tsr_light_rounds(const tsr_light_wave *w, const tsr_light_patch *p)
{
    float u[3], v[3], wide = 0.0f, high = 0.0f, size = tsr_light_size(p);
    int r = 0, q = 0;
    for (int k = 0; k < 3; k++) {
        u[k] = tsr_maxf(tsr_absf(p->x[k][1] - p->x[k][0]), tsr_absf(p->x[k][2] - p->x[k][3]));
        v[k] = tsr_maxf(tsr_absf(p->x[k][3] - p->x[k][0]), tsr_absf(p->x[k][2] - p->x[k][1]));
        wide = tsr_maxf(wide, u[k]);
        high = tsr_maxf(high, v[k]);
    }
    if (size <= w->extent) return 0;
    if (w->rounds == 1) return 1 + 16;
    while (size > w->extent && (r < w->rounds || q < w->rounds)) {
        const int across = q == w->rounds || (r < w->rounds && wide >= high);
        float *halved = across ? u : v;
        if (across) {
            wide = 0.5f * wide;
            r++;
        } else {
            high = 0.5f * high;
            q++;
        }
        size = 0.0f;
        for (int k = 0; k < 3; k++) {
            halved[k] = 0.5f * halved[k];
            size = tsr_maxf(size, u[k] + v[k]); /* a part is no larger, along any axis, than its sides together */
        }
    }
    return r + 16 * q;
}

/* A patch that has been sheared until its sides run nearly the same way would need as many parts as its length squared. It becomes a parallelogram of the same
 * middle and area whose sides are at right angles: the square of rays that it stands for is turned to the principal axes of its map. */
TSR_HD void tsr_light_straighten(tsr_light_patch *p)
{
    float u[3], v[3], n[3], uu, vv, uv;
    for (int k = 0; k < 3; k++) {
        u[k] = 0.5f * ((p->x[k][1] - p->x[k][0]) + (p->x[k][2] - p->x[k][3]));
        v[k] = 0.5f * ((p->x[k][3] - p->x[k][0]) + (p->x[k][2] - p->x[k][1]));
    }
    tsr_light_cross(u, v, n);
    uu = tsr_light_dot(u, u);
    vv = tsr_light_dot(v, v);
    uv = tsr_light_dot(u, v);
    float twist = 0.0f;
    for (int k = 0; k < 3; k++)
        twist += ((p->x[k][0] - p->x[k][1]) + (p->x[k][2] - p->x[k][3])) * ((p->x[k][0] - p->x[k][1]) + (p->x[k][2] - p->x[k][3]));
    if (tsr_light_dot(n, n) > 0.1f * uu * vv && twist < 0.5f * (uu + vv)) return;
    const float hyp = tsr_sqrt((uu - vv) * (uu - vv) + 4.0f * uv * uv);
    if (!(hyp > 1e-20f)) return;
    const float c2 = (uu - vv) / hyp;
    const float c = tsr_sqrt(tsr_maxf(0.5f + 0.5f * c2, 0.0f)), s = tsr_sqrt(tsr_maxf(0.5f - 0.5f * c2, 0.0f)) * (uv < 0.0f ? -1.0f : 1.0f);
    float length[4], now[3];
    for (int i = 0; i < 4; i++) {
        tsr_light_corner(p->v, i, now);
        length[i] = tsr_sqrt(tsr_light_dot(now, now));
    }
    for (int k = 0; k < 3; k++) {
        for (int field = 0; field < 2; field++) {
            float *w = field ? p->v[k] : p->x[k];
            const float middle = 0.25f * ((w[0] + w[1]) + (w[2] + w[3]));
            const float a = 0.25f * ((w[1] - w[0]) + (w[2] - w[3])), b = 0.25f * ((w[3] - w[0]) + (w[2] - w[1])); /* halves */
            const float along = c * a + s * b, across = c * b - s * a;
            w[0] = middle - along - across;
            w[1] = middle + along - across;
            w[2] = middle + along + across;
            w[3] = middle - along + across;
        }
    }
    const float mean = 0.25f * ((length[0] + length[1]) + (length[2] + length[3]));
    for (int i = 0; i < 4; i++) {
        tsr_light_corner(p->v, i, now);
        const float scale = mean * tsr_rsqrt(tsr_maxf(tsr_light_dot(now, now), 1e-20f));
        for (int k = 0; k < 3; k++) p->v[k][i] = p->v[k][i] * scale;
    }
}

/* What is left of a patch's power when one corner passes a surface that reflects this share; the fourth root, so that four corners take it once. */
TSR_HD float tsr_light_kept(float reflected) { return tsr_sqrt(tsr_sqrt(tsr_maxf(1.0f - reflected, 1e-3f))); }
/* All corners have met a surface: none is ahead then, unless light came through at some and turned back at others. */
TSR_HD uint32_t tsr_light_all_met(uint32_t state, const float v[3][4])
{
    float now[4], low = 1e30f, high = 0.0f;
    for (int c = 0; c < 4; c++) {
        now[c] = v[0][c] * v[0][c] + v[1][c] * v[1][c] + v[2][c] * v[2][c];
        low = tsr_minf(low, now[c]);
        high = tsr_maxf(high, now[c]);
    }
    state &= ~(uint32_t)TSR_LIGHT_PARTED;
    if (high < 1.05f * low) return state;
    for (int c = 0; c < 4; c++) state |= now[c] < 0.5f * (low + high) ? 16u << c : 0u;
    return state;
}
/* Takes from the power what surfaces have reflected; lost[3] takes the units. */
TSR_HD void tsr_light_keep(const tsr_light_wave *w, float power[3], float kept, int64_t lost[3])
{
    for (int k = 0; k < 3; k++) {
        const int64_t before = tsr_light_units(power[k], w->unit);
        power[k] = power[k] * kept;
        tsr_light_tally(lost + k, before - tsr_light_units(power[k], w->unit));
    }
}

/* Moves one particle by a step; bends: of its block. Returns whether the index varies, and its sample. */
TSR_HD int tsr_light_move(const tsr_light_wave *w, const tsr_light_medium *m, int bends, float x[3], float v[3], float s[4])
{
    if (bends) {
        if (w->integrator == TSR_RAY_LEAP) {
            tsr_ray_leap_f32(m, s, x, v, w->dt);
            return 1;
        }
        tsr_light_sample(m, x, s);
        if (w->project) tsr_ray_project_f32(s, v);
        tsr_ray_step_f32(w->integrator, TSR_RAY_TIME, m, s, x, v, w->dt);
        return 1;
    }
    const float scale = w->dt / tsr_light_dot(v, v); /* n = |v| does not change here */
    for (int k = 0; k < 3; k++) x[k] = x[k] + scale * v[k];
    return 0;
}

/* A run of rising or falling index along a patch's way is one passage between two media: when it ends, the share that its surface reflects is taken from the power.
 * `s`: index and gradient at the patch, `v`: its speed; lost[3] takes the units. */
TSR_HD void tsr_light_cross_surface(const tsr_light_wave *w, tsr_light_patch *p, const float s[4], const float v[3], int64_t lost[3])
{
    const float g2 = s[1] * s[1] + s[2] * s[2] + s[3] * s[3], inverse = s[0] * tsr_rsqrt(tsr_light_dot(v, v));
    const float now[3] = { v[0] * inverse, v[1] * inverse, v[2] * inverse }; /* as long as the index */
    const float along = (now[0] * s[1] + now[1] * s[2] + now[2] * s[3]) / s[0];
    const int counts = tsr_absf(along) > TSR_LIGHT_SLOPE, rising = p->steep > 0.0f;
    int turned = 0;
    if (p->steep != 0.0f && (!counts || (along > 0.0f) != rising)) {
        turned = !rising && along > 0.0f &&
                 p->start[0] * s[1] + p->start[1] * s[2] + p->start[2] * s[3] < 0.0f; /* total reflection, done by the rays themselves */
        if (!turned && !counts && g2 >= 1e-4f && !rising && s[0] >= 1.02f) return;    /* nearly level: it may turn */
        float normal[3];
        const float from = tsr_sqrt(tsr_light_dot(p->start, p->start)), facing = tsr_light_facing(p->start, now, normal);
        const float f = turned ? 0.0f : tsr_light_reflects(from, s[0], tsr_absf(facing) / from, tsr_absf(p->steep));
        for (int k = 0; k < 3 && f > 0.0f; k++) {
            const int64_t before = tsr_light_units(p->power[k], w->unit);
            p->power[k] = p->power[k] * (1.0f - f);
            tsr_light_tally(lost + k, before - tsr_light_units(p->power[k], w->unit));
        }
        p->steep = 0.0f;
    }
    if (!counts) return;
    if (p->steep == 0.0f) {
        p->steep = turned ? TSR_LIGHT_TURNED : along > 0.0f ? g2 : -g2; /* on its way back from a total reflection it passes no surface */
        for (int k = 0; k < 3; k++) p->start[k] = now[k];
    } else if (g2 > tsr_absf(p->steep)) {
        p->steep = rising ? g2 : -g2;
    }
}

/* Moves the corners by a step; surfaces take what they reflect: lost[3] takes the units. */
TSR_HD void tsr_light_move_all(const tsr_light_wave *w, tsr_light_patch *p, int64_t lost[3])
{
    tsr_light_medium m = w->medium;
    float at[4][4], before[3], s[4], kept = 1.0f, reflected;
    int bent = 0;
    m.bend = w->bends[p->state & 3u];
    tsr_light_middle(p->v, before);
    for (int c = 0; c < 4; c++) {
        float x[3], v[3];
        tsr_light_corner(p->x, c, x);
        tsr_light_corner(p->v, c, v);
        at[0][c] = tsr_light_dot(v, v);
        const int varies = tsr_light_holds(&m, x) & TSR_LIGHT_BENDS;
        const int32_t surface = varies ? tsr_light_surface(&m, x) : 0;
        int bends = 0;
        if (!surface || surface == TSR_LIGHT_STRAIGHT) bends = tsr_light_move(w, &m, varies && !surface, x, v, s);
        else if (tsr_light_refract(&m, surface, x, v, w->dt, &reflected)) {
            kept = kept * tsr_light_kept(reflected);
            p->state ^= 16u << c;
        }
        bent |= bends;
        if (!bends) s[1] = s[2] = s[3] = 0.0f;
        at[0][c] = bends ? s[0] : tsr_sqrt(at[0][c]);
        for (int k = 1; k < 4; k++) at[k][c] = s[k];
        for (int k = 0; k < 3; k++) {
            p->x[k][c] = x[k];
            p->v[k][c] = v[k];
        }
    }
    if ((p->state & TSR_LIGHT_PARTED) == TSR_LIGHT_PARTED) p->state = tsr_light_all_met(p->state, p->v);
    if (!w->mirrors) return;
    if (kept < 1.0f) tsr_light_keep(w, p->power, kept, lost);
    if (!bent && p->steep == 0.0f) return;
    for (int k = 0; k < 4; k++) s[k] = 0.25f * ((at[k][0] + at[k][1]) + (at[k][2] + at[k][3]));
    tsr_light_cross_surface(w, p, s, before, lost);
}

/* What matter takes on the way from `old` to p; lost[3] takes the units. Returns whether opaque matter stops the patch. */
TSR_HD int tsr_light_fade(const tsr_light_wave *w, const tsr_light_patch *old, tsr_light_patch *p, int64_t lost[3])
{
    const tsr_light_medium *m = &w->medium;
    float before[3], after[3], s[4];
    if (!m->dim) return 0;
    tsr_light_middle(p->x, after);
    if (!(tsr_light_holds(m, after) & (TSR_LIGHT_DIMS | TSR_LIGHT_STOPS))) return 0;
    tsr_light_middle(old->x, before);
    tsr_light_dim(w, p, before, after, lost);
    tsr_light_four(m, m->dim, before, s); /* voxels have been told of it a step ago */
    return s[3] > 0.5f && tsr_light_inside(m, before);
}

/* The fate of a patch that came from `old`; one that lands leaves its light, or gives `fall` where that is not NULL. lost[3]: units that surfaces take. */
TSR_HD int tsr_light_judge(const tsr_light_wave *w, const tsr_light_patch *old, tsr_light_patch *p, int64_t lost[3], tsr_light_fall *fall)
{
    tsr_light_fall own;
    if (tsr_light_leaves(&w->medium, p)) {
        if (p->steep != 0.0f) { /* matter that reaches the border ends there */
            const float beyond[4] = { 1.0f, 0.0f, 0.0f, 0.0f };
            float v[3];
            tsr_light_middle(p->v, v);
            tsr_light_cross_surface(w, p, beyond, v, lost);
        }
        if (!w->floor.sums || !tsr_light_landing(&w->floor, p, own.at)) return TSR_LIGHT_LEFT;
        own.lands = 1;
        for (int k = 0; k < 3; k++) own.power[k] = p->power[k];
        if (fall) *fall = own;
        else tsr_light_land(w, &own, 0, 1);
        return TSR_LIGHT_LANDED;
    }
    int turned = 0;
    for (int c = 0; c < 4; c++) {
        const int d = (c + 1) & 3;
        float dot = 0.0f;
        for (int k = 0; k < 3; k++) dot += (old->x[k][d] - old->x[k][c]) * (p->x[k][d] - p->x[k][c]);
        turned += dot < 0.0f;
    }
    const float turn = tsr_light_turn(old), now = tsr_light_turn(p);
    if ((turn > 0.0f && now < 0.0f) || (turn < 0.0f && now > 0.0f) || turned >= 2) {
        if (!w->go_on) return TSR_LIGHT_CAUSTIC;
        if (p->state < 0xffff0000u) p->state += 256u;
    }
    float mean[3], all = 0.0f;
    tsr_light_middle(p->v, mean);
    for (int c = 0; c < 4; c++) {
        float v[3];
        tsr_light_corner(p->v, c, v);
        all = tsr_maxf(all, tsr_light_dot(v, v));
    }
    const int parted =
        (p->state & TSR_LIGHT_PARTED) != 0; /* what lies between corners before and behind a surface is known better when all have met it */
    if (!parted && tsr_light_dot(mean, mean) < 0.7f * all) return TSR_LIGHT_TORN;
    if (tsr_light_luminance(p->power) < w->least) return TSR_LIGHT_FAINT;
    if (parted) return TSR_LIGHT_KEEP + (tsr_light_size(p) > TSR_LIGHT_APART * w->extent);
    const int rounds = tsr_light_rounds(w, p);
    if (!rounds || w->rounds == 1) return TSR_LIGHT_KEEP + rounds;
    tsr_light_straighten(p);
    return TSR_LIGHT_KEEP + tsr_light_rounds(w, p);
}

/* One step of a patch; sums take the units that medium and surfaces took. Returns its fate; `fall` as above. */
TSR_HD int tsr_light_step(const tsr_light_wave *w, tsr_light_patch *p, tsr_light_account *sums, tsr_light_fall *fall)
{
    const tsr_light_patch old = *p;
    tsr_light_move_all(w, p, sums->mirrored);
    return tsr_light_fade(w, &old, p, sums->dimmed) ? TSR_LIGHT_STOPPED : tsr_light_judge(w, &old, p, sums->mirrored, fall);
}

/* A place between corners of squared speed v2 keeps to their side of a surface that is bent. */
TSR_HD void tsr_light_stay(const tsr_light_medium *m, int32_t surface, float v2, float x[3])
{
    float e[4];
    const float low = tsr_light_side(m, surface, -1.0f), high = tsr_light_side(m, surface, 1.0f), sign = v2 > low * high ? 1.0f : -1.0f;
    tsr_light_four(m, m->edge, x, e);
    if (sign * e[0] < TSR_LIGHT_CLEAR) tsr_light_clear(m, sign, e + 1, x);
}

/* A patch whose corners a surface has sent far apart becomes two: one of the corners that have not met it and one of those that have (k is 1), each with its corners' share of the power. The
 * other corners come near them, to where they are further from the surface, and take their speeds. */
TSR_HD void tsr_light_tear(const tsr_light_wave *w, const tsr_light_medium *m, const tsr_light_patch *p, int32_t k, tsr_light_patch *part)
{
    float count = 0.0f;
    for (int c = 0; c < 4; c++) {
        float x[3], from[3] = { 0.0f, 0.0f, 0.0f }, speed[3] = { 0.0f, 0.0f, 0.0f }, way[3];
        int found = -1;
        for (int i = 0; i < 4; i++) { /* this corner, the next, the one before, or the opposite one */
            const int o = (c + (i == 2 ? 3 : i == 3 ? 2 : i)) & 3;
            if (found >= 0 || (int32_t)(p->state >> (4 + o) & 1u) != k) continue;
            found = i;
            tsr_light_corner(p->x, o, from);
            tsr_light_corner(p->v, o, speed);
        }
        tsr_light_corner(p->x, c, x);
        for (int a = 0; a < 3; a++) way[a] = from[a] - x[a];
        const float length = tsr_sqrt(tsr_light_dot(way, way)), scale = found ? tsr_minf(1.0f, 0.5f * w->extent / tsr_maxf(length, 1e-6f)) : 0.0f;
        for (int a = 0; a < 3; a++) x[a] = from[a] + scale * way[a];
        const int32_t surface = found ? tsr_light_surface(m, x) : 0;
        if (surface && surface != TSR_LIGHT_STRAIGHT) tsr_light_stay(m, surface, tsr_light_dot(speed, speed), x);
        for (int a = 0; a < 3; a++) {
            part->x[a][c] = x[a];
            part->v[a][c] = speed[a];
        }
        count += found ? 0.0f : 0.25f;
    }
    for (int c = 0; c < 3; c++) part->power[c] = p->power[c] * count;
    part->steep = p->steep;
    for (int a = 0; a < 3; a++) part->start[a] = p->start[a];
}

/* Part k of the 2^r x 2^q of a patch: corners by bilinear interpolation, speeds as long as the index, equal shares of the power. */
TSR_HD void tsr_light_part(const tsr_light_wave *w, const tsr_light_patch *p, int r, int q, int32_t k, tsr_light_patch *part)
{
    const float wide = 1.0f / (float)(1 << r), high = 1.0f / (float)(1 << q);
    tsr_light_medium medium = w->medium;
    medium.bend = w->bends[p->state & 3u];
    part->state = p->state & ~(uint32_t)TSR_LIGHT_PARTED;
    if (p->state & TSR_LIGHT_PARTED) {
        tsr_light_tear(w, &medium, p, k, part);
        return;
    }
    for (int c = 0; c < 4; c++) {
        const float u = (float)((k & ((1 << r) - 1)) + (c == 1 || c == 2)) * wide, v = (float)((k >> r) + (c >= 2)) * high;
        float x[3], speed[3], length = 0.0f;
        for (int a = 0; a < 3; a++) {
            const float near_ = p->x[a][0] + u * (p->x[a][1] - p->x[a][0]), far_ = p->x[a][3] + u * (p->x[a][2] - p->x[a][3]);
            x[a] = near_ + v * (far_ - near_);
            const float left = p->v[a][0] + u * (p->v[a][1] - p->v[a][0]), right = p->v[a][3] + u * (p->v[a][2] - p->v[a][3]);
            speed[a] = left + v * (right - left);
        }
        const int32_t surface = tsr_light_surface(&medium, x);
        if (!surface && tsr_light_holds(&medium, x) & TSR_LIGHT_BENDS) {
            float s[4];
            tsr_light_sample(&medium, x, s);
            tsr_ray_project_f32(s, speed);
        } else { /* corners of one index: as long as they are */
            const float lower = u + v < 1.0f ? 1.0f : 0.0f;
            for (int a = 0; a < 3; a++) length += lower > 0.0f ? p->v[a][0] * p->v[a][0] : p->v[a][2] * p->v[a][2];
            const float scale = tsr_sqrt(length) * tsr_rsqrt(tsr_maxf(tsr_light_dot(speed, speed), 1e-20f));
            for (int a = 0; a < 3; a++) speed[a] = speed[a] * scale;
            if (surface && surface != TSR_LIGHT_STRAIGHT) tsr_light_stay(&medium, surface, length, x);
        }
        for (int a = 0; a < 3; a++) {
            part->x[a][c] = x[a];
            part->v[a][c] = speed[a];
        }
    }
    for (int c = 0; c < 3; c++) part->power[c] = p->power[c] * (wide * high);
    part->steep = p->steep;
    for (int a = 0; a < 3; a++) part->start[a] = p->start[a];
}

/* The voxel at c, which is inside. */
TSR_HD uint32_t tsr_light_voxel(const tsr_light_medium *m, const float c[3])
{
    const int64_t x = (int64_t)(c[0] + 0.5f), y = (int64_t)(c[1] + 0.5f), z = (int64_t)(c[2] + 0.5f);
    return (uint32_t)((tsr_minl(z, m->size[2] - 1) * m->size[1] + tsr_minl(y, m->size[1] - 1)) * m->size[0] + tsr_minl(x, m->size[0] - 1));
}
/* The key of patch `number` of irradiance e: 14 bits of the step, 24 of the irradiance, 26 of the number. */
TSR_HD uint64_t tsr_light_key_of(float e, int64_t step, int64_t number)
{
    return (uint64_t)(step + 1) << 50 | (uint64_t)(tsr_float_bits(e) >> 7) << 26 | (uint64_t)(0x3ffffff - number);
}
/* The voxel of a patch and its key; 0: outside. */
TSR_HD uint64_t tsr_light_key(const tsr_light_wave *w, const tsr_light_patch *p, int64_t step, int64_t number, uint32_t *voxel)
{
    float c[3];
    tsr_light_middle(p->x, c);
    if (!tsr_light_inside(&w->medium, c)) return 0u;
    *voxel = tsr_light_voxel(&w->medium, c);
    return tsr_light_key_of(tsr_light_luminance(p->power) / tsr_maxf(tsr_light_area(p), w->least_area), step, number);
}

/* A patch adds its way through a voxel. */
TSR_HD void tsr_light_gather(const tsr_light_wave *w, const tsr_light_patch *p, uint32_t voxel)
{
    float v[3];
    tsr_light_middle(p->v, v);
    const float inverse = tsr_rsqrt(tsr_maxf(tsr_light_dot(v, v), 1e-20f)), way = w->dt * inverse;
    const float bright = tsr_light_luminance(p->power) * way;
    int64_t *to = w->sums + (int64_t)voxel * 6;
    for (int k = 0; k < 3; k++) {
        if (p->power[k] > 0.0f) tsr_light_add(to + k, tsr_light_units(p->power[k] * way, w->unit));
        tsr_light_add(to + 3 + k, tsr_light_units(bright * v[k] * inverse, w->unit));
    }
}

/* Irradiance of a patch and its direction. */
TSR_HD void tsr_light_shining(const tsr_light_wave *w, const tsr_light_patch *p, float own[3], float direction[3])
{
    tsr_light_middle(p->v, direction);
    const float inverse = 1.0f / tsr_maxf(tsr_light_area(p), w->least_area);
    const float long_ = tsr_rsqrt(tsr_maxf(tsr_light_dot(direction, direction), 1e-20f));
    for (int k = 0; k < 3; k++) {
        own[k] = p->power[k] * inverse;
        direction[k] = direction[k] * long_;
    }
}

/* The strongest patch of a step in its voxel joins the layers, which are in the order of their irradiance. One that comes from about where another came from
 * (20 degrees) is the same ray a step later: the stronger of the two stays. `packed` is the direction packed. */
TSR_HD void tsr_light_join(const tsr_light_wave *w, const float own[3], const float direction[3], uint32_t packed, uint32_t voxel)
{
    const int64_t voxels = (int64_t)w->medium.size[0] * w->medium.size[1] * w->medium.size[2];
    float known[3];
    float *to = w->field + (int64_t)voxel * 4;
    int32_t place = w->layers - 1;
    for (int32_t l = 0; l < w->layers - 1; l++) { /* in the last there is no choice */
        const float *layer = to + l * voxels * 4;
        const uint32_t there = tsr_float_bits(layer[3]);
        if (!there) {
            place = l;
            break;
        }
        tsr_light_unpack(there, known);
        if (tsr_light_dot(known, direction) > 0.94f) {
            place = l;
            break;
        }
    }
    const float bright = tsr_light_luminance(own);
    if (tsr_float_bits(to[place * voxels * 4 + 3]) && tsr_light_luminance(to + place * voxels * 4) >= bright) return;
    while (place > 0 && tsr_light_luminance(to + (place - 1) * voxels * 4) < bright) {
        for (int k = 0; k < 4; k++) to[place * voxels * 4 + k] = to[(place - 1) * voxels * 4 + k];
        place--;
    }
    to += place * voxels * 4;
    for (int k = 0; k < 3; k++) to[k] = own[k];
    to[3] = tsr_bits_float(packed);
}

/* Voxel i from its sums. */
TSR_HD void tsr_light_settle(const tsr_light_wave *w, int64_t i)
{
    const int64_t *from = w->sums + i * 6;
    float d[3], *to = w->field + i * 4;
    const float scale = 1.0f / w->unit;
    for (int k = 0; k < 3; k++) {
        to[k] = (float)from[k] * scale;
        d[k] = (float)from[3 + k] * scale;
    }
    to[3] = tsr_bits_float(tsr_light_pack(d));
}
/* Texel i of the floor from its sums. */
TSR_HD void tsr_light_settle_floor(const tsr_light_wave *w, int64_t i)
{
    const float scale = w->floor.scale * w->floor.scale / w->unit;
    for (int k = 0; k < 3; k++) w->floor.light[i * 3 + k] = (float)w->floor.sums[i * 3 + k] * scale;
}

/* When the list is full, the weakest patches are not split: the bin of a patch by the power of two of its units. */
TSR_HD int32_t tsr_light_bin(const tsr_light_wave *w, const tsr_light_patch *p)
{
    const float units = tsr_light_luminance(p->power) * w->unit;
    return tsr_mini(tsr_maxi((int32_t)(tsr_float_bits(units) >> 23) - 127, 0), TSR_LIGHT_BINS - 1);
}

#endif
