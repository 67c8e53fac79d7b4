/* vision/textures/textures_math.h: textures of a moving mesh from pictures: depth maps, the atlas, visibility, samples. See tessera/multiview_model.h and
 * docs/theory/multiview-textures.md. Corners are placed in float64 without contraction and rounded to 1/256; from there on whole numbers decide what is covered
 * and how far it is: the same bits everywhere. */
#ifndef TSR_VISION_TEXTURES_TEXTURES_MATH_H
#define TSR_VISION_TEXTURES_TEXTURES_MATH_H

#include "camera/camera_math.h"
#include "core/hd.h"

enum {
    TSR_TEXTURE_SUB = 256,       /* steps of a pixel */
    TSR_TEXTURE_FAR = 1 << 22,   /* corners beyond so many steps from the upper left corner are not drawn: differences stay below 2^23 */
    TSR_TEXTURE_RANGE = 1 << 30, /* depths are 0 (nearest) to this: 2^6 units are a quantum of 24 bits */
    TSR_TEXTURE_NARROW = 16,     /* columns */
    TSR_TEXTURE_NO_CORNER = 0x7fffffff
};
#define TSR_TEXTURE_NO_TRIANGLE 0xffffffffu
#define TSR_TEXTURE_NOTHING 0xffffffffffffffffull /* in a depth map: no surface */

/* What a camera makes of a step. Depth: ranged by `nearest` and `farthest` of the mesh's box, of 1/w for a camera whose rays meet, of the distance for parallel
 * ones: both are affine over the picture. */
typedef struct tsr_texture_camera {
    double row[4][4];      /* world to (x w, y w, w, depth w): x, y in pixels of the picture */
    double eye[4];         /* where it stands; [3] 0: the direction towards it */
    double orient;         /* of the triple product of a triangle's corners as it sees them: its sign for one that faces it */
    int32_t width, height; /* of the picture */
    int32_t map_width, map_height, scale;
    int64_t map;     /* index of its depth map's first texel */
    int64_t picture; /* index of its picture's first byte */
} tsr_texture_camera;

typedef struct tsr_texture_corner {
    double at[4];
    int32_t x, y; /* in the depth map, 1/256; x = TSR_TEXTURE_NO_CORNER: behind the camera, or far off */
    uint32_t depth;
} tsr_texture_corner;

/* A triangle as a camera sees it: whether it faces it, the bias of its depth test, and how its depth changes over the depth map (tsr_texture_plane). */
typedef struct tsr_texture_face {
    int64_t along, down;
    int32_t front;
    uint32_t bias;
} tsr_texture_face;

/* A texel's triangle and its place in it: shares of corners 0 and 1 in 1/65536; corner 2 has the rest. */
typedef struct tsr_texture_texel {
    uint32_t triangle;
    uint16_t share[2];
} tsr_texture_texel;

/* How shares of corners change from texel to texel, [along u, down][corner 0, corner 1], of 65536. */
typedef struct tsr_texture_chart {
    double step[2][2];
} tsr_texture_chart;

typedef struct tsr_texture_job {
    const tsr_texture_camera *camera; /* [cameras] */
    const uint32_t *triangle;         /* [triangles][3] */
    const float *position;            /* [vertices][3] of the step */
    tsr_texture_corner *corner;       /* [cameras][vertices] */
    tsr_texture_face *face;           /* [cameras][triangles] */
    uint64_t *map;                    /* depth maps: depth, and behind it the number of the triangle */
    const uint8_t *picture;           /* RGB; NULL: masks alone */
    const tsr_texture_texel *texel;   /* [height][width] */
    const tsr_texture_chart *chart;   /* [triangles] */
    uint64_t *visible;
    uint8_t *plane[3];
    int64_t vertices, triangles, map_texels;
    int32_t cameras, width, height, words;
    int32_t vote, ewa;
    double cos_min;
    uint32_t bias, slope_most; /* units of depth */
    double slope;
} tsr_texture_job;

TSR_HD int32_t tsr_texture_round(double v) /* to nearest, halves upwards; |v| < 2^30 */
{
    const double s = v + 0.5;
    const int32_t whole = (int32_t)s;
    return (double)whole > s ? whole - 1 : whole;
}

/* ---- corners ------------------------------------------------------------------------------------------------------------------------ */

TSR_HD void tsr_texture_place(const tsr_texture_camera *c, const float *position, tsr_texture_corner *corner)
{
    const double x = (double)position[0], y = (double)position[1], z = (double)position[2];
    for (int32_t r = 0; r < 4; r++) corner->at[r] = c->row[r][0] * x + c->row[r][1] * y + c->row[r][2] * z + c->row[r][3];
    corner->x = TSR_TEXTURE_NO_CORNER;
    corner->y = 0;
    corner->depth = 0;
    if (!(corner->at[2] > 0.0 && corner->at[2] < 1e30)) return;
    const double inverse = 1.0 / corner->at[2], steps = (double)(c->scale * TSR_TEXTURE_SUB), far_ = (double)TSR_TEXTURE_FAR;
    const double px = corner->at[0] * inverse * steps, py = corner->at[1] * inverse * steps, depth = corner->at[3] * inverse;
    if (!(px > -far_ && px < far_ && py > -far_ && py < far_)) return;
    corner->x = tsr_texture_round(px);
    corner->y = tsr_texture_round(py);
    corner->depth = depth > 0.0 ? depth < (double)TSR_TEXTURE_RANGE ? (uint32_t)depth : (uint32_t)TSR_TEXTURE_RANGE : 0u;
}

/* ---- triangles of whole numbers ------------------------------------------------------------------------------------------------------- */

/* A triangle on a raster: corners in 1/256, turned so that the area is positive (x to the right, y down), and the box of the centres it may cover. */
typedef struct tsr_texture_triangle {
    int32_t x[3], y[3], turned; /* turned: corners 1 and 2 were exchanged */
    int32_t x0, y0, x1, y1;
    int64_t area;   /* twice, in 1/65536 */
    int32_t own[3]; /* 0: centres on the edge opposite to this corner belong to it (a top or left edge), -1: they do not */
} tsr_texture_triangle;

/* 0: it has no area, or no centre lies in its box (all of it is set then, too). */
TSR_HD int tsr_texture_set_up(tsr_texture_triangle *t, const int32_t x[3], const int32_t y[3], int32_t width, int32_t height)
{
    for (int32_t k = 0; k < 3; k++) {
        t->x[k] = x[k];
        t->y[k] = y[k];
    }
    const int32_t half = TSR_TEXTURE_SUB / 2;
    t->x0 = tsr_maxi(0, (tsr_mini(x[0], tsr_mini(x[1], x[2])) - half + TSR_TEXTURE_SUB - 1) >> 8);
    t->y0 = tsr_maxi(0, (tsr_mini(y[0], tsr_mini(y[1], y[2])) - half + TSR_TEXTURE_SUB - 1) >> 8);
    t->x1 = tsr_mini(width - 1, (tsr_maxi(x[0], tsr_maxi(x[1], x[2])) - half) >> 8);
    t->y1 = tsr_mini(height - 1, (tsr_maxi(y[0], tsr_maxi(y[1], y[2])) - half) >> 8);
    t->area = ((int64_t)x[1] - x[0]) * ((int64_t)y[2] - y[0]) - ((int64_t)y[1] - y[0]) * ((int64_t)x[2] - x[0]);
    t->turned = t->area < 0;
    if (t->turned) {
        t->area = -t->area;
        t->x[1] = x[2];
        t->y[1] = y[2];
        t->x[2] = x[1];
        t->y[2] = y[1];
    }
    if (t->area == 0) return 0;
    for (int32_t k = 0; k < 3;
         k++) { /* with a positive area and y down, the inside is to the right of an edge: left edges go up, top edges to the right */
        const int32_t a = (k + 1) % 3, b = (k + 2) % 3, dx = t->x[b] - t->x[a], dy = t->y[b] - t->y[a];
        t->own[k] = dy < 0 || (dy == 0 && dx > 0) ? 0 : -1;
    }
    return t->x0 <= t->x1 && t->y0 <= t->y1;
}

/* Shares of the corners at a centre, of `area`; w + own >= 0 of all: covered. */
TSR_HD void tsr_texture_weights(const tsr_texture_triangle *t, int32_t column, int32_t row, int64_t w[3])
{
    const int64_t px = (int64_t)column * TSR_TEXTURE_SUB + TSR_TEXTURE_SUB / 2, py = (int64_t)row * TSR_TEXTURE_SUB + TSR_TEXTURE_SUB / 2;
    for (int32_t k = 0; k < 3; k++) {
        const int32_t a = (k + 1) % 3, b = (k + 2) % 3;
        w[k] = ((int64_t)t->x[b] - t->x[a]) * (py - t->y[a]) - ((int64_t)t->y[b] - t->y[a]) * (px - t->x[a]);
    }
}
TSR_HD int tsr_texture_covers(const tsr_texture_triangle *t, const int64_t w[3])
{
    return ((w[0] + t->own[0]) | (w[1] + t->own[1]) | (w[2] + t->own[2])) >= 0;
}

/* Of a / b, b > 0, the whole number not above it. */
TSR_HD int64_t tsr_texture_floor(int64_t a, int64_t b)
{
    const int64_t q = a / b;
    return q - (a % b < 0);
}

/* The covered columns of a row: *first to *last (below first: none). Where there are few of them, looking at each takes less time than dividing. */
TSR_HD void tsr_texture_span(const tsr_texture_triangle *t, int32_t row, int32_t *first, int32_t *last)
{
    int64_t w[3], steps[3], low = 0, high = t->x1 - t->x0;
    tsr_texture_weights(t, t->x0, row, w);
    for (int32_t k = 0; k < 3; k++) steps[k] = -(int64_t)TSR_TEXTURE_SUB * (t->y[(k + 2) % 3] - t->y[(k + 1) % 3]);
    if (high < TSR_TEXTURE_NARROW) {
        int32_t column = t->x0;
        *first = t->x1 + 1;
        for (int32_t before = 0; column <= t->x1; column++) {
            const int now = tsr_texture_covers(t, w);
            if (now && !before) *first = column;
            if (before && !now) break;
            before = now;
            for (int32_t k = 0; k < 3; k++) w[k] += steps[k];
        }
        *last = column - 1;
        return;
    }
    for (int32_t k = 0; k < 3; k++) {
        const int64_t step = steps[k], at = w[k] + t->own[k];
        if (step > 0) {
            if (at < 0) low = tsr_maxl(low, -tsr_texture_floor(at, step));
        } else if (step < 0) {
            high = at < 0 ? -1 : tsr_minl(high, at / -step);
        } else if (at < 0) {
            high = -1;
        }
    }
    *first = t->x0 + (int32_t)tsr_minl(low, 1 << 20);
    *last = t->x0 + (int32_t)high;
}

/* Depth over a triangle: a plane of whole numbers, in 1/256 unit per 1/256 pixel. */
typedef struct tsr_texture_plane {
    int64_t along, down;
    int64_t origin, least, most; /* of corner 0; of all corners */
} tsr_texture_plane;

TSR_HD tsr_texture_plane tsr_texture_plane_of(const uint32_t depth[3], int64_t along, int64_t down)
{
    tsr_texture_plane p;
    p.along = along;
    p.down = down;
    p.origin = depth[0];
    p.least = tsr_minl(depth[0], tsr_minl(depth[1], depth[2]));
    p.most = tsr_maxl(depth[0], tsr_maxl(depth[1], depth[2]));
    return p;
}
TSR_HD tsr_texture_plane tsr_texture_make_plane(const tsr_texture_triangle *t, const uint32_t depth[3])
{
    const int64_t a = depth[0], b = depth[t->turned ? 2 : 1], c = depth[t->turned ? 1 : 2], most = (int64_t)1 << 38;
    /* differences of depth below 2^31, of places below 2^23: the sums stay below 2^55, times 256 below 2^63; gradients of slivers are limited */
    const int64_t along = (b - a) * (t->y[2] - t->y[0]) - (c - a) * (t->y[1] - t->y[0]);
    const int64_t down = (c - a) * (t->x[1] - t->x[0]) - (b - a) * (t->x[2] - t->x[0]);
    return tsr_texture_plane_of(depth, tsr_maxl(-most, tsr_minl(most, tsr_texture_floor(along * 256, t->area))),
                                tsr_maxl(-most, tsr_minl(most, tsr_texture_floor(down * 256, t->area))));
}
TSR_HD uint32_t tsr_texture_depth(const tsr_texture_plane *p, const tsr_texture_triangle *t, int32_t column, int32_t row)
{
    const int64_t dx = (int64_t)column * TSR_TEXTURE_SUB + TSR_TEXTURE_SUB / 2 - t->x[0],
                  dy = (int64_t)row * TSR_TEXTURE_SUB + TSR_TEXTURE_SUB / 2 - t->y[0];
    const int64_t z = p->origin + ((p->along * dx + p->down * dy) >> 8);
    return (uint32_t)tsr_maxl(p->least, tsr_minl(p->most, z));
}

/* ---- depth maps --------------------------------------------------------------------------------------------------------------------- */

/* Triangle i of camera c on its depth map, and the depths of its corners; 0: nothing of it is there. */
TSR_HD int tsr_texture_place_triangle(const tsr_texture_job *j, int32_t c, int64_t i, tsr_texture_triangle *t, uint32_t depth[3])
{
    const tsr_texture_corner *corner = j->corner + (int64_t)c * j->vertices;
    int32_t x[3], y[3];
    t->area = 0;
    t->x0 = t->y0 = 0;
    t->x1 = t->y1 = -1;
    for (int32_t k = 0; k < 3; k++) {
        const tsr_texture_corner *v = corner + j->triangle[3 * i + k];
        if (v->x == TSR_TEXTURE_NO_CORNER) return 0;
        x[k] = v->x;
        y[k] = v->y;
        depth[k] = v->depth;
    }
    return tsr_texture_set_up(t, x, y, j->camera[c].map_width, j->camera[c].map_height);
}
/* The same with its plane. */
TSR_HD int tsr_texture_on_map(const tsr_texture_job *j, int32_t c, int64_t i, tsr_texture_triangle *t, tsr_texture_plane *p)
{
    uint32_t depth[3];
    const int there = tsr_texture_place_triangle(j, c, i, t, depth);
    p->along = p->down = p->origin = p->least = p->most = 0;
    if (t->area) *p = tsr_texture_make_plane(t, depth);
    return there;
}

/* What of a triangle the texels of the atlas ask for. */
TSR_HD void tsr_texture_make_face(const tsr_texture_job *j, int32_t c, int64_t i)
{
    tsr_texture_face *f = j->face + (int64_t)c * j->triangles + i;
    const tsr_texture_corner *corner = j->corner + (int64_t)c * j->vertices;
    const double *a = corner[j->triangle[3 * i]].at, *b = corner[j->triangle[3 * i + 1]].at, *d = corner[j->triangle[3 * i + 2]].at;
    tsr_texture_triangle t;
    tsr_texture_plane p;
    f->front = 0;
    f->bias = j->bias;
    f->along = f->down = 0;
    for (int32_t k = 0; k < 3; k++)
        if (corner[j->triangle[3 * i + k]].x == TSR_TEXTURE_NO_CORNER) return; /* it is not on the map either */
    const double product = a[0] * (b[1] * d[2] - b[2] * d[1]) - a[1] * (b[0] * d[2] - b[2] * d[0]) + a[2] * (b[0] * d[1] - b[1] * d[0]);
    f->front = product * j->camera[c].orient > 0.0;
    (void)tsr_texture_on_map(j, c, i, &t, &p);
    if (t.area == 0) return;
    f->along = p.along;
    f->down = p.down;
    const int64_t along = p.along < 0 ? -p.along : p.along, down = p.down < 0 ? -p.down : p.down;
    const double slope = j->slope * (double)tsr_maxl(along, down), most = (double)j->slope_most;
    f->bias += (uint32_t)(slope < most ? slope : most);
}

#if defined(__CUDACC__)
#define TSR_TEXTURE_DRAW static __device__ __forceinline__ /* takes the least by an atomic operation of the device */
#else
#define TSR_TEXTURE_DRAW TSR_HD
#endif
#if defined(__CUDACC__) || defined(TSR_TEXTURES_SHARED)
#define TSR_TEXTURE_LEAST(at, value) \
    ((void)atomicMin((unsigned long long *)(at), (unsigned long long)(value))) /* several threads draw into one row */
#else
#define TSR_TEXTURE_LEAST(at, value) (*(at) = (value))
#endif

/* Rows of the triangle within [begin, end) into the map: of these the first, first + stride and so on. Its face is made. */
TSR_TEXTURE_DRAW void tsr_texture_draw_depth(const tsr_texture_job *j, int32_t c, int64_t i, int32_t begin, int32_t end, int32_t first,
                                             int32_t stride)
{
    const tsr_texture_face *f = j->face + (int64_t)c * j->triangles + i;
    tsr_texture_triangle t;
    uint32_t depth[3];
    if (!tsr_texture_place_triangle(j, c, i, &t, depth)) return;
    const tsr_texture_plane p = tsr_texture_plane_of(depth, f->along, f->down);
    for (int32_t row = tsr_maxi(t.y0, begin) + first; row <= t.y1 && row < end; row += stride) {
        int32_t from, to;
        tsr_texture_span(&t, row, &from, &to);
        uint64_t *map = j->map + j->camera[c].map + (int64_t)row * j->camera[c].map_width;
        for (int32_t column = from; column <= to; column++) {
            const uint64_t z = (uint64_t)tsr_texture_depth(&p, &t, column, row) << 32 | (uint64_t)i;
            if (z < map[column]) TSR_TEXTURE_LEAST(&map[column], z);
        }
    }
}

/* ---- the atlas ---------------------------------------------------------------------------------------------------------------------- */

/* A triangle in the atlas, of places u, v: v goes up. */
TSR_HD int tsr_texture_on_atlas(const float *place, const uint32_t corner[3], int32_t width, int32_t height, tsr_texture_triangle *t)
{
    int32_t x[3], y[3];
    for (int32_t k = 0; k < 3; k++) {
        x[k] = tsr_texture_round((double)place[2 * (int64_t)corner[k]] * (double)(width * TSR_TEXTURE_SUB));
        y[k] = tsr_texture_round((1.0 - (double)place[2 * (int64_t)corner[k] + 1]) * (double)(height * TSR_TEXTURE_SUB));
    }
    return tsr_texture_set_up(t, x, y, width, height);
}
TSR_HD tsr_texture_texel tsr_texture_make_texel(const tsr_texture_triangle *t, uint32_t number, int32_t column, int32_t row)
{
    int64_t w[3];
    tsr_texture_texel texel;
    tsr_texture_weights(t, column, row, w);
    const int64_t other = t->turned ? w[2] : w[1];
    texel.triangle = number;
    texel.share[0] = (uint16_t)tsr_minl(65535, tsr_maxl(0, w[0] * 65536 / t->area));
    texel.share[1] = (uint16_t)tsr_minl(65535 - texel.share[0], tsr_maxl(0, other * 65536 / t->area));
    return texel;
}
TSR_HD tsr_texture_chart tsr_texture_make_chart(const tsr_texture_triangle *t)
{
    tsr_texture_chart chart;
    const double whole = 65536.0 * (double)TSR_TEXTURE_SUB / (double)t->area;
    const int32_t one = t->turned ? 2 : 1; /* where corner 1 of the mesh is */
    chart.step[0][0] = -(double)(t->y[2] - t->y[1]) * whole;
    chart.step[1][0] = (double)(t->x[2] - t->x[1]) * whole;
    chart.step[0][1] = -(double)(t->y[(one + 2) % 3] - t->y[(one + 1) % 3]) * whole;
    chart.step[1][1] = (double)(t->x[(one + 2) % 3] - t->x[(one + 1) % 3]) * whole;
    return chart;
}

/* ---- samples ------------------------------------------------------------------------------------------------------------------------ */

/* RGB in 1/256 to Y, U, V of BT.601, full range, rounded: docs/theory/multiview-textures.md 4. */
TSR_HD void tsr_texture_yuv(const int32_t rgb[3], uint8_t yuv[3])
{
    const int32_t half = 1 << 22;
    const int32_t y = (9798 * rgb[0] + 19235 * rgb[1] + 3735 * rgb[2] + half) >> 23;
    const int32_t u = ((-5529 * rgb[0] - 10855 * rgb[1] + 16384 * rgb[2] + half) >> 23) + 128;
    const int32_t v = ((16384 * rgb[0] - 13720 * rgb[1] - 2664 * rgb[2] + half) >> 23) + 128;
    yuv[0] = (uint8_t)tsr_mini(255, tsr_maxi(0, y));
    yuv[1] = (uint8_t)tsr_mini(255, tsr_maxi(0, u));
    yuv[2] = (uint8_t)tsr_mini(255, tsr_maxi(0, v));
}

/* Between the four nearest pixels of a place in 1/256 pixel (corners at whole pixels); result in 1/256. */
TSR_HD void tsr_texture_bilinear(const uint8_t *picture, int32_t width, int32_t height, int32_t x, int32_t y, int32_t rgb[3])
{
    x = tsr_maxi(0, tsr_mini(x - TSR_TEXTURE_SUB / 2, (width - 1) * TSR_TEXTURE_SUB));
    y = tsr_maxi(0, tsr_mini(y - TSR_TEXTURE_SUB / 2, (height - 1) * TSR_TEXTURE_SUB));
    const int32_t ix = x >> 8, iy = y >> 8, fx = x & 255, fy = y & 255;
    const int32_t right = ix + 1 < width ? 3 : 0;
    const uint8_t *p = picture + ((int64_t)iy * width + ix) * 3, *q = iy + 1 < height ? p + (int64_t)width * 3 : p;
    for (int32_t k = 0; k < 3; k++) {
        const int32_t a = p[k] * (256 - fx) + p[right + k] * fx, b = q[k] * (256 - fx) + q[right + k] * fx;
        rgb[k] = (a * (256 - fy) + b * fy + 128) >> 8;
    }
}

/* The mean over an ellipse: the image of a texel, widened by a pixel, weights (1 - q / 2 F)^2 within q < 2 F of the form q = A dx^2 + B dx dy + C dy^2. Weights
 * become whole numbers of 1/65536: their sums are exact in any order. */
TSR_HD void tsr_texture_ewa(const uint8_t *picture, int32_t width, int32_t height, double x, double y, const double slope[2][2], int32_t rgb[3])
{
    double ux = slope[0][0], uy = slope[0][1], vx = slope[1][0], vy = slope[1][1];
    const double large = ux * ux + uy * uy + vx * vx + vy * vy, most = 256.0;
    if (large > most) { /* of a texel that covers more than 16 pixels: fewer of them */
        const double shrink = most / large;
        ux *= shrink, uy *= shrink, vx *= shrink, vy *= shrink;
    }
    const double a = uy * uy + vy * vy + 1.0, b = -2.0 * (ux * uy + vx * vy), c = ux * ux + vx * vx + 1.0, f = 2.0 * (a * c - 0.25 * b * b);
    /* half the box: dx^2 < 2 C, dy^2 < 2 A, found by counting up: no square root */
    int32_t rx = 1, ry = 1;
    while ((double)(rx * rx) < 2.0 * c) rx++;
    while ((double)(ry * ry) < 2.0 * a) ry++;
    const int32_t cx = (int32_t)x, cy = (int32_t)y;
    int64_t sum[3] = { 0, 0, 0 }, weights = 0;
    for (int32_t row = tsr_maxi(0, cy - ry); row <= tsr_mini(height - 1, cy + ry); row++)
        for (int32_t column = tsr_maxi(0, cx - rx); column <= tsr_mini(width - 1, cx + rx); column++) {
            const double dx = (double)column + 0.5 - x, dy = (double)row + 0.5 - y, q = (a * dx * dx + b * dx * dy + c * dy * dy) / f;
            if (!(q < 1.0)) continue;
            const int64_t w = (int64_t)((1.0 - q) * (1.0 - q) * 65536.0);
            const uint8_t *p = picture + ((int64_t)row * width + column) * 3;
            for (int32_t k = 0; k < 3; k++) sum[k] += w * p[k];
            weights += w;
        }
    if (weights == 0) {
        tsr_texture_bilinear(picture, width, height, (int32_t)(x * TSR_TEXTURE_SUB), (int32_t)(y * TSR_TEXTURE_SUB), rgb);
        return;
    }
    for (int32_t k = 0; k < 3; k++) rgb[k] = (int32_t)((sum[k] * 256 + weights / 2) / weights);
}

/* ---- texels ------------------------------------------------------------------------------------------------------------------------- */

/* A texel's place on the depth map and its depth, between the ROUNDED corners of its triangle: so it lies in the triangle as the map has it. */
typedef struct tsr_texture_spot {
    double x, y, depth; /* in 1/256 */
} tsr_texture_spot;

/* Nothing is in front of a spot, by `key` of the texel (column, row) of the map: depths are compared at the texel's CENTRE, to which the triangle's own plane carries the
 * depth of the spot. */
TSR_HD int tsr_texture_passes(uint64_t key, const tsr_texture_face *f, uint32_t triangle, const tsr_texture_spot *s, int32_t column, int32_t row)
{
    if ((uint32_t)(key & 0xffffffffu) == triangle && key != TSR_TEXTURE_NOTHING) return 1; /* itself */
    const double dx = (double)(column * TSR_TEXTURE_SUB + TSR_TEXTURE_SUB / 2) - s->x,
                 dy = (double)(row * TSR_TEXTURE_SUB + TSR_TEXTURE_SUB / 2) - s->y;
    const double moved = ((double)f->along * dx + (double)f->down * dy) * (1.0 / 256.0);
    return s->depth + moved - (double)f->bias <= (double)(key >> 32);
}

/* What another triangle does to a spot: 0 it is beside it, 1 behind it, 2 in front. */
TSR_HD int tsr_texture_hides(const tsr_texture_job *j, int32_t c, int64_t i, const tsr_texture_spot *s)
{
    const tsr_texture_corner *all = j->corner + (int64_t)c * j->vertices;
    const tsr_texture_corner *v[3] = { all + j->triangle[3 * i], all + j->triangle[3 * i + 1], all + j->triangle[3 * i + 2] };
    double w[3];
    for (int32_t k = 0; k < 3; k++) {
        const tsr_texture_corner *a = v[(k + 1) % 3], *b = v[(k + 2) % 3];
        w[k] = (double)(b->x - a->x) * (s->y - (double)a->y) - (double)(b->y - a->y) * (s->x - (double)a->x);
    }
    if ((w[0] < 0.0 || w[1] < 0.0 || w[2] < 0.0) && (w[0] > 0.0 || w[1] > 0.0 || w[2] > 0.0)) return 0; /* of both signs */
    const double area = w[0] + w[1] + w[2];
    if (area == 0.0) return 0;
    const double z = (w[0] * (double)v[0]->depth + w[1] * (double)v[1]->depth + w[2] * (double)v[2]->depth) / area;
    return z + (double)j->bias < s->depth ? 2 : 1;
}

/* The four texels of the map round the spot: where all say the same, so it is. Else, at a boundary, of the triangles that win them those count that cover the
 * spot, which is much sharper than the map; where none does, the nearest texel decides. */
TSR_HD int tsr_texture_in_light(const tsr_texture_job *j, int32_t number, uint32_t triangle, const tsr_texture_spot *s)
{
    const tsr_texture_camera *c = &j->camera[number];
    const tsr_texture_face *f = j->face + (int64_t)number * j->triangles + triangle;
    const int32_t mx = tsr_maxi(0, tsr_mini((int32_t)s->x, c->map_width * TSR_TEXTURE_SUB - 1)),
                  my = tsr_maxi(0, tsr_mini((int32_t)s->y, c->map_height * TSR_TEXTURE_SUB - 1));
    const int32_t ox = (mx & 255) < TSR_TEXTURE_SUB / 2 ? -1 : 1, oy = (my & 255) < TSR_TEXTURE_SUB / 2 ? -1 : 1;
    const int32_t column[2] = { mx >> 8, tsr_maxi(0, tsr_mini(c->map_width - 1, (mx >> 8) + ox)) };
    const int32_t row[2] = { my >> 8, tsr_maxi(0, tsr_mini(c->map_height - 1, (my >> 8) + oy)) };
    uint64_t key[4]; /* all at once, since each is far away */
    for (int32_t k = 0; k < 4; k++) key[k] = j->map[c->map + (int64_t)row[k >> 1] * c->map_width + column[k & 1]];
    const int32_t nearest = tsr_texture_passes(key[0], f, triangle, s, column[0], row[0]);
    int32_t passed = nearest, covered = 0;
    for (int32_t k = 1; k < 4; k++) passed += tsr_texture_passes(key[k], f, triangle, s, column[k & 1], row[k >> 1]);
    if (j->vote) return passed >= 2;
    if (passed == 0 || passed == 4) return passed == 4;
    uint32_t before = triangle;
    for (int32_t k = 0; k < 4; k++) {
        const uint32_t winner = (uint32_t)(key[k] & 0xffffffffu);
        covered |= winner == triangle;
        if (key[k] == TSR_TEXTURE_NOTHING || winner == before || winner == triangle) continue;
        before = winner;
        const int hides = tsr_texture_hides(j, number, (int64_t)winner, s);
        if (hides == 2) return 0;
        covered |= hides;
    }
    return covered || nearest;
}

/* The cosine at a texel is at least cos_min: squares are compared. */
TSR_HD int tsr_texture_faces(const tsr_texture_job *j, const tsr_texture_camera *c, const uint32_t *corner, const double share[3])
{
    double p[3][3], n[3], to[3], dot = 0.0, nn = 0.0, tt = 0.0;
    for (int32_t i = 0; i < 3; i++)
        for (int32_t k = 0; k < 3; k++) p[i][k] = (double)j->position[3 * (int64_t)corner[i] + k];
    for (int32_t k = 0; k < 3; k++) {
        const int32_t a = (k + 1) % 3, b = (k + 2) % 3;
        n[k] = (p[1][a] - p[0][a]) * (p[2][b] - p[0][b]) - (p[1][b] - p[0][b]) * (p[2][a] - p[0][a]);
        to[k] = c->eye[k] - c->eye[3] * (share[0] * p[0][k] + share[1] * p[1][k] + share[2] * p[2][k]) / 65536.0;
    }
    for (int32_t k = 0; k < 3; k++) {
        dot += n[k] * to[k];
        nn += n[k] * n[k];
        tt += to[k] * to[k];
    }
    return dot > 0.0 && dot * dot >= j->cos_min * j->cos_min * nn * tt;
}

/* Texel i of the atlas in the texture of camera c: 1 if it is visible; its colour then, if there are pictures. */
TSR_HD int tsr_texture_texel_of(const tsr_texture_job *j, int32_t c, int64_t i, uint8_t yuv[3])
{
    const tsr_texture_texel texel = j->texel[i];
    if (texel.triangle == TSR_TEXTURE_NO_TRIANGLE) return 0;
    const tsr_texture_face *face = &j->face[(int64_t)c * j->triangles + texel.triangle];
    if (!face->front) return 0;
    const tsr_texture_camera *camera = &j->camera[c];
    const uint32_t *corner = j->triangle + 3 * (int64_t)texel.triangle;
    const tsr_texture_corner *all = j->corner + (int64_t)c * j->vertices;
    const tsr_texture_corner *c0 = &all[corner[0]], *c1 = &all[corner[1]], *c2 = &all[corner[2]];
    const double *v0 = c0->at, *v1 = c1->at, *v2 = c2->at;
    const double share[3] = { (double)texel.share[0], (double)texel.share[1], (double)(65536 - texel.share[0] - texel.share[1]) };
    double at[3];
    for (int32_t r = 0; r < 3; r++) at[r] = share[0] * v0[r] + share[1] * v1[r] + share[2] * v2[r];
    const double inverse = 1.0 / at[2], x = at[0] * inverse, y = at[1] * inverse;
    if (!(x >= 0.0 && y >= 0.0 && x < (double)camera->width && y < (double)camera->height)) return 0;
    const double w0 = share[0] * v0[2] * inverse, w1 = share[1] * v1[2] * inverse, w2 = share[2] * v2[2] * inverse;
    tsr_texture_spot spot;
    spot.x = w0 * (double)c0->x + w1 * (double)c1->x + w2 * (double)c2->x;
    spot.y = w0 * (double)c0->y + w1 * (double)c1->y + w2 * (double)c2->y;
    spot.depth = w0 * (double)c0->depth + w1 * (double)c1->depth + w2 * (double)c2->depth;
    if (!tsr_texture_in_light(j, c, texel.triangle, &spot)) return 0;
    if (j->cos_min > 0.0 && !tsr_texture_faces(j, camera, corner, share)) return 0;
    if (!j->picture) return 1;
    int32_t rgb[3];
    const uint8_t *picture = j->picture + camera->picture;
    if (j->ewa) {
        const tsr_texture_chart *chart = &j->chart[texel.triangle];
        double slope[2][2];
        for (int32_t k = 0; k < 2; k++) {
            const double a = chart->step[k][0], b = chart->step[k][1], d = -a - b;
            const double w = a * v0[2] + b * v1[2] + d * v2[2];
            slope[k][0] = (a * v0[0] + b * v1[0] + d * v2[0] - x * w) * inverse;
            slope[k][1] = (a * v0[1] + b * v1[1] + d * v2[1] - y * w) * inverse;
        }
        tsr_texture_ewa(picture, camera->width, camera->height, x, y, slope, rgb);
    } else {
        tsr_texture_bilinear(picture, camera->width, camera->height, (int32_t)(x * TSR_TEXTURE_SUB), (int32_t)(y * TSR_TEXTURE_SUB), rgb);
    }
    tsr_texture_yuv(rgb, yuv);
    return 1;
}

/* 64 texels of a row, of camera c: word `word` of the mask, and their colours. */
TSR_HD void tsr_texture_word(const tsr_texture_job *j, int32_t c, int32_t row, int32_t word)
{
    const int32_t first = 64 * word, end = tsr_mini(j->width, first + 64);
    const int64_t line = (int64_t)row * j->width, out = (int64_t)c * j->height * j->width + line;
    uint64_t bits = 0;
    for (int32_t u = first; u < end; u++) {
        uint8_t yuv[3] = { 0, 0, 0 };
        if (tsr_texture_texel_of(j, c, line + u, yuv)) bits |= (uint64_t)1 << (u & 63);
        if (j->picture)
            for (int32_t k = 0; k < 3; k++) j->plane[k][out + u] = yuv[k];
    }
    j->visible[((int64_t)c * j->height + row) * j->words + word] = bits;
}

/* ---- gutters ------------------------------------------------------------------------------------------------------------------------ */

typedef struct tsr_gutter_job {
    const tsr_texture_texel *texel;
    const uint64_t *visible;
    uint8_t *plane[3];
    int32_t width, height, words, gutter;
} tsr_gutter_job;

/* A texel beyond the atlas: the nearest visible one within reach, of equally near ones the first by rows. Reads visible texels alone and writes others: in place. */
TSR_HD void tsr_texture_gutter(const tsr_gutter_job *j, int64_t i)
{
    if (j->texel[i].triangle != TSR_TEXTURE_NO_TRIANGLE) return;
    const int32_t x = (int32_t)(i % j->width), y = (int32_t)(i / j->width);
    int32_t best = j->gutter * j->gutter + 1;
    int64_t from = -1;
    for (int32_t dy = -j->gutter; dy <= j->gutter; dy++)
        for (int32_t dx = -j->gutter; dx <= j->gutter; dx++) {
            const int32_t sx = x + dx, sy = y + dy, d = dx * dx + dy * dy;
            if (d >= best || sx < 0 || sy < 0 || sx >= j->width || sy >= j->height) continue;
            if (!(j->visible[(int64_t)sy * j->words + sx / 64] >> (sx & 63) & 1u)) continue;
            best = d;
            from = (int64_t)sy * j->width + sx;
        }
    for (int32_t k = 0; k < 3 && from >= 0; k++) j->plane[k][i] = j->plane[k][from];
}

#endif
