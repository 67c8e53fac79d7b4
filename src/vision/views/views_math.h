/* vision/views/views_math.h: from samples of depth images to pixels of other cameras. See tessera/views.h and docs/theory/cameras.md.
 * Float64 without contraction decides where corners lie, whole numbers what is covered: the same bits everywhere. */
#ifndef TSR_VISION_VIEWS_VIEWS_MATH_H
#define TSR_VISION_VIEWS_VIEWS_MATH_H

#include "camera/camera_math.h"
#include "camera/lens_model.h"
#include "core/hd.h"
#include "tessera/views.h"

enum { TSR_SUBPIXEL = 256, TSR_VERTEX_FAR = 1 << 29, TSR_VERTEX_NONE = -(1 << 30), TSR_SMALL_TRIANGLE = 256 /* pixels of its box */ };
#define TSR_KEY_NONE 0xffffffffffffffffull

/* A sample as the view sees it: place in 1/256 pixel, and what is linear over the picture: distance / w and 1 / w. */
typedef struct tsr_view_vertex {
    int32_t x, y; /* x = TSR_VERTEX_NONE: no vertex */
    float depth;  /* of the sample in its own camera */
    float size;   /* NONE: half the side of its square in 1/256 pixel */
    double over, inverse;
} tsr_view_vertex;

/* One projector for one view. */
typedef struct tsr_view_job {
    tsr_camera_rays rays;   /* of the projector */
    tsr_camera_points seen; /* by the view's camera */
    const float *depth, *position;
    const uint8_t *color;
    int32_t columns, rows, color_columns, color_rows; /* of the projector's images */
    int32_t width, height;
    int32_t connect, fixed, keep, front;  /* front: nothing where a triangle is seen from behind */
    double ratio, point_size, background; /* background: depth of samples without one; 0: none */
    float near_, far_;
    tsr_view_vertex *vertex; /* [rows][columns] */
    uint64_t *key;           /* [height][width] */
    uint32_t
        *large; /* numbers of triangles that one thread would be long at; [0] how many, behind it `large_room` of them. NULL: none is put there */
    uint32_t large_room;
    float *out_depth;
    uint8_t *out_color;
} tsr_view_job;

TSR_HD void tsr_key_least(uint64_t *key, uint64_t value)
{
#if defined(__CUDA_ARCH__)
    if (value < *(volatile uint64_t *)key) atomicMin((unsigned long long *)key, (unsigned long long)value);
#else
    uint64_t old = __atomic_load_n(key, __ATOMIC_RELAXED);
    while (value < old && !__atomic_compare_exchange_n(key, &old, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) continue;
#endif
}

TSR_HD int tsr_finite(double v) { return v - v == 0.0; }
TSR_HD double tsr_floor(double v)
{
    const double whole = (double)(int64_t)v;
    return whole > v ? whole - 1.0 : whole;
}

/* The sample's place in the world; 0: it has none. */
TSR_HD int tsr_view_sample(const tsr_view_job *j, int32_t x, int32_t y, double world[3], float *depth)
{
    const int64_t i = (int64_t)y * j->columns + x;
    if (j->position) {
        for (int32_t k = 0; k < 3; k++) world[k] = (double)j->position[3 * i + k];
        *depth = 1.0f; /* all are connected */
        return tsr_finite(world[0]) && tsr_finite(world[1]) && tsr_finite(world[2]);
    }
    double origin[3], direction[3], d = (double)j->depth[i];
    if (!(d > 0.0)) d = j->background;
    if (!(d > 0.0) || !tsr_finite(d)) return 0;
    *depth = (float)d;
    tsr_camera_rays_place(&j->rays, x + 0.5, y + 0.5, origin, direction);
    for (int32_t k = 0; k < 3; k++) world[k] = origin[k] + d * direction[k];
    return 1;
}

TSR_HD void tsr_view_place_vertex(const tsr_view_job *j, int64_t i)
{
    const int32_t x = (int32_t)((uint32_t)i % (uint32_t)j->columns), y = (int32_t)((uint32_t)i / (uint32_t)j->columns);
    double world[3], at[4];
    tsr_view_vertex v;
    v.x = TSR_VERTEX_NONE;
    v.y = 0;
    v.depth = v.size = 0.0f;
    v.over = v.inverse = 0.0;
    if (tsr_view_sample(j, x, y, world, &v.depth)) {
        tsr_camera_points_place(&j->seen, world, at);
        if (at[2] > 1e-12 && tsr_finite(at[2])) {
            v.inverse = 1.0 / at[2];
            v.over = at[3] * v.inverse;
            const double px = at[0] * v.inverse * TSR_SUBPIXEL, py = at[1] * v.inverse * TSR_SUBPIXEL;
            const double far_ = (double)TSR_VERTEX_FAR;
            if (px > -far_ && px < far_ && py > -far_ && py < far_) {
                v.x = (int32_t)tsr_floor(px + 0.5);
                v.y = (int32_t)tsr_floor(py + 0.5);
            }
            if (j->connect == TSR_CONNECT_NONE) {
                double size = j->point_size;
                if (!(size > 0.0) && !j->position) { /* the sample's width in its own camera, at this distance */
                    const double own = j->rays.projection == TSR_ORTHOGRAPHIC ? j->rays.step[0] : j->rays.step[0] * (double)v.depth;
                    size = own * j->seen.scale * v.inverse;
                }
                if (!(size > 1.0)) size = 1.0;
                if (size > 256.0) size = 256.0;
                v.size = (float)(0.5 * size * TSR_SUBPIXEL);
            }
        }
    }
    j->vertex[i] = v;
}

/* Corners of a half of the quad at x, y, as numbers of samples; 0: it is left out. */
TSR_HD int tsr_view_corners(const tsr_view_job *j, int32_t x, int32_t y, int32_t half, int64_t corner[3])
{
    const int64_t a = (int64_t)y * j->columns + x, b = a + 1, c = a + j->columns, d = c + 1;
    const tsr_view_vertex *v = j->vertex;
    if (v[a].x == TSR_VERTEX_NONE || v[b].x == TSR_VERTEX_NONE || v[c].x == TSR_VERTEX_NONE || v[d].x == TSR_VERTEX_NONE) return 0;
    const int32_t other = !j->fixed && tsr_absf(v[b].depth - v[c].depth) < tsr_absf(v[a].depth - v[d].depth);
    corner[0] = other && half ? b : a;
    corner[1] = half ? d : b;
    corner[2] = half || other ? c : d;
    if (j->connect == TSR_CONNECT_THRESHOLD) {
        float low = v[corner[0]].depth, high = low;
        for (int32_t k = 1; k < 3; k++) {
            low = tsr_minf(low, v[corner[k]].depth);
            high = tsr_maxf(high, v[corner[k]].depth);
        }
        if ((double)high > j->ratio * (double)low) return 0;
    }
    return 1;
}

typedef struct tsr_view_triangle {
    const tsr_view_vertex *v[3];
    int64_t area;
    int32_t turned;         /* seen from behind */
    int32_t x0, y0, x1, y1; /* pixels, the last included */
} tsr_view_triangle;

TSR_HD int32_t tsr_view_first(int32_t v) { return (v - TSR_SUBPIXEL / 2 + TSR_SUBPIXEL - 1) >> 8; } /* the first pixel whose centre is not before */
TSR_HD int32_t tsr_view_last(int32_t v) { return (v - TSR_SUBPIXEL / 2) >> 8; }

/* Its corners, the front outwards; 0: it has no area. */
TSR_HD int tsr_view_turn(const tsr_view_job *j, const int64_t corner[3], tsr_view_triangle *t)
{
    const tsr_view_vertex *a = &j->vertex[corner[0]], *b = &j->vertex[corner[1]], *c = &j->vertex[corner[2]];
    t->area = ((int64_t)b->x - a->x) * ((int64_t)c->y - a->y) - ((int64_t)b->y - a->y) * ((int64_t)c->x - a->x);
    t->turned = t->area < 0;
    t->v[0] = a;
    t->v[1] = t->turned ? c : b; /* the other way round */
    t->v[2] = t->turned ? b : c;
    if (t->turned) t->area = -t->area;
    return t->area != 0;
}

/* 0: it covers no pixel. */
TSR_HD int tsr_view_set_up_at(const tsr_view_job *j, int32_t x, int32_t y, int32_t half, tsr_view_triangle *t)
{
    int64_t corner[3];
    if (!tsr_view_corners(j, x, y, half, corner)) return 0;
    const tsr_view_vertex *a = &j->vertex[corner[0]], *b = &j->vertex[corner[1]], *c = &j->vertex[corner[2]];
    t->x0 = tsr_maxi(0, tsr_view_first(tsr_mini(a->x, tsr_mini(b->x, c->x))));
    t->y0 = tsr_maxi(0, tsr_view_first(tsr_mini(a->y, tsr_mini(b->y, c->y))));
    t->x1 = tsr_mini(j->width - 1, tsr_view_last(tsr_maxi(a->x, tsr_maxi(b->x, c->x))));
    t->y1 = tsr_mini(j->height - 1, tsr_view_last(tsr_maxi(a->y, tsr_maxi(b->y, c->y))));
    if (t->x0 > t->x1 || t->y0 > t->y1) return 0;
    return tsr_view_turn(j, corner, t);
}

/* By its number, 2 quad + half. */
TSR_HD int tsr_view_set_up(const tsr_view_job *j, uint32_t number, tsr_view_triangle *t)
{
    const uint32_t quad = number >> 1, wide = (uint32_t)j->columns - 1;
    return tsr_view_set_up_at(j, (int32_t)(quad % wide), (int32_t)(quad / wide), (int32_t)(number & 1u), t);
}

/* Weights of the corners at a pixel's centre, times twice the area; all are >= 0 within. */
TSR_HD int tsr_view_weights(const tsr_view_triangle *t, int32_t x, int32_t y, int64_t w[3])
{
    const int64_t px = (int64_t)x * TSR_SUBPIXEL + TSR_SUBPIXEL / 2, py = (int64_t)y * TSR_SUBPIXEL + TSR_SUBPIXEL / 2;
    for (int32_t k = 0; k < 3; k++) {
        const tsr_view_vertex *a = t->v[(k + 1) % 3], *b = t->v[(k + 2) % 3];
        w[k] = ((int64_t)b->x - a->x) * (py - a->y) - ((int64_t)b->y - a->y) * (px - a->x);
    }
    return (w[0] | w[1] | w[2]) >= 0;
}
TSR_HD float tsr_view_depth_at(const tsr_view_triangle *t, const int64_t w[3])
{
    double over = 0.0, inverse = 0.0;
    for (int32_t k = 0; k < 3; k++) {
        over += (double)w[k] * t->v[k]->over;
        inverse += (double)w[k] * t->v[k]->inverse;
    }
    return (float)(over / inverse);
}
TSR_HD void tsr_view_put(const tsr_view_job *j, int32_t x, int32_t y, float d, uint32_t number)
{
    if (d > 0.0f && d >= j->near_ && d <= j->far_) tsr_key_least(&j->key[(int64_t)y * j->width + x], (uint64_t)tsr_float_bits(d) << 32 | number);
}

/* The whole number not above a / b, b > 0. */
TSR_HD int64_t tsr_view_floor(int64_t a, int64_t b)
{
    const int64_t q = a / b;
    return q - (a % b < 0);
}

/* Rows first, first + stride ... of the triangle: of each the pixels between its edges, found by division: long thin triangles have large boxes. */
TSR_HD void tsr_view_fill(const tsr_view_job *j, uint32_t number, const tsr_view_triangle *t, int32_t first, int32_t stride)
{
    int64_t step[3];
    for (int32_t k = 0; k < 3; k++) step[k] = -(int64_t)TSR_SUBPIXEL * ((int64_t)t->v[(k + 2) % 3]->y - t->v[(k + 1) % 3]->y);
    for (int32_t y = t->y0 + first; y <= t->y1; y += stride) {
        int64_t w[3], low = 0, high = t->x1 - t->x0;
        tsr_view_weights(t, t->x0, y, w);
        if (high > 2) {
            for (int32_t k = 0; k < 3; k++) {
                if (step[k] > 0) low = tsr_maxl(low, -tsr_view_floor(w[k], step[k]));
                else if (step[k] < 0) high = tsr_minl(high, tsr_view_floor(w[k], -step[k]));
                else if (w[k] < 0) high = -1;
            }
            for (int32_t k = 0; k < 3; k++) w[k] += low * step[k];
        }
        for (int64_t x = low; x <= high; x++) {
            if ((w[0] | w[1] | w[2]) >= 0) tsr_view_put(j, t->x0 + (int32_t)x, y, tsr_view_depth_at(t, w), number);
            for (int32_t k = 0; k < 3; k++) w[k] += step[k];
        }
    }
}

#if defined(__CUDACC__)
#define TSR_VIEW_DRAW static __device__ __forceinline__ /* takes numbers from a counter of the device */
#else
#define TSR_VIEW_DRAW TSR_HD
#endif

/* All of the sample i: both triangles of the quad to its lower right, or its square. */
TSR_VIEW_DRAW void tsr_view_draw(const tsr_view_job *j, int64_t i)
{
    if (j->connect == TSR_CONNECT_NONE) {
        const tsr_view_vertex *v = &j->vertex[i];
        if (v->x == TSR_VERTEX_NONE) return;
        const int32_t half = (int32_t)v->size;
        const int32_t x0 = tsr_maxi(0, tsr_view_first(v->x - half)), y0 = tsr_maxi(0, tsr_view_first(v->y - half));
        const int32_t x1 = tsr_mini(j->width - 1, tsr_view_last(v->x + half)), y1 = tsr_mini(j->height - 1, tsr_view_last(v->y + half));
        const float d = (float)(v->over / v->inverse);
        for (int32_t y = y0; y <= y1; y++)
            for (int32_t x = x0; x <= x1; x++) tsr_view_put(j, x, y, d, (uint32_t)i);
        return;
    }
    const int32_t x = (int32_t)((uint32_t)i % (uint32_t)j->columns), y = (int32_t)((uint32_t)i / (uint32_t)j->columns); /* at most 2^28 samples */
    if (x + 1 >= j->columns || y + 1 >= j->rows) return;
    for (uint32_t half = 0; half < 2; half++) {
        const uint32_t number = (uint32_t)((int64_t)y * (j->columns - 1) + x) * 2 + half;
        tsr_view_triangle t;
        if (!tsr_view_set_up_at(j, x, y, (int32_t)half, &t)) continue;
#if defined(__CUDACC__) || defined(TSR_VIEWS_QUEUE)
        if (j->large && (int64_t)(t.x1 - t.x0 + 1) * (t.y1 - t.y0 + 1) > TSR_SMALL_TRIANGLE) {
            const uint32_t at = atomicAdd(&j->large[0], 1u);
            if (at < j->large_room) {
                j->large[1 + at] = number;
                continue;
            }
        }
#endif
        tsr_view_fill(j, number, &t, 0, 1);
    }
}

/* Colour of an image of three bytes a pixel at a place (pixels, corners at whole numbers), between the four nearest centres. */
TSR_HD void tsr_view_bilinear(const uint8_t *image, int32_t columns, int32_t rows, double u, double v, float color[3])
{
    double x = u - 0.5, y = v - 0.5;
    x = x < 0.0 ? 0.0 : x > columns - 1.0 ? columns - 1.0 : x;
    y = y < 0.0 ? 0.0 : y > rows - 1.0 ? rows - 1.0 : y;
    const int32_t ix = (int32_t)x, iy = (int32_t)y;
    const float fx = (float)(x - ix), fy = (float)(y - iy);
    const uint8_t *p = image + ((int64_t)iy * columns + ix) * 3;
    const int64_t right = ix + 1 < columns ? 3 : 0, down = iy + 1 < rows ? (int64_t)columns * 3 : 0;
    for (int32_t k = 0; k < 3; k++) {
        const float a = (float)p[k] + fx * ((float)p[right + k] - (float)p[k]);
        const float b = (float)p[down + k] + fx * ((float)p[down + right + k] - (float)p[down + k]);
        color[k] = a + fy * (b - a);
    }
}
TSR_HD uint8_t tsr_view_byte(float v) { return (uint8_t)tsr_clampf(v + 0.5f, 0.0f, 255.0f); }

/* Pixel i of the view: depth and colour of the triangle that won. */
TSR_HD void tsr_view_resolve(const tsr_view_job *j, int64_t i)
{
    const uint64_t key = j->key[i];
    uint8_t *color = j->out_color + 4 * i;
    const float d = tsr_bits_float((uint32_t)(key >> 32));
    if (j->keep && (key == TSR_KEY_NONE || (j->out_depth[i] > 0.0f && j->out_depth[i] <= d))) return;
    j->out_depth[i] = 0.0f;
    color[0] = color[1] = color[2] = color[3] = 0;
    if (key == TSR_KEY_NONE) return;
    const uint32_t number = (uint32_t)key;
    double u, v;
    j->out_depth[i] = d;
    if (j->connect == TSR_CONNECT_NONE) {
        u = (double)(number % (uint32_t)j->columns) + 0.5;
        v = (double)(number / (uint32_t)j->columns) + 0.5;
    } else {
        const uint32_t quad = number >> 1, wide = (uint32_t)j->columns - 1;
        const int32_t x = (int32_t)(quad % wide), y = (int32_t)(quad / wide);
        tsr_view_triangle t;
        int64_t corner[3], w[3];
        double sum = 0.0, share;
        u = v = 0.0;
        if (!tsr_view_corners(j, x, y, (int32_t)(number & 1u), corner) || !tsr_view_turn(j, corner, &t)) return;
        if (j->front && t.turned) {
            j->out_depth[i] = 0.0f;
            return;
        }
        tsr_view_weights(&t, (int32_t)(i % j->width), (int32_t)(i / j->width), w);
        const tsr_view_vertex *first = j->vertex + (int64_t)y * j->columns + x, *next = first + j->columns;
        for (int32_t k = 0; k < 3; k++) {
            share = (double)w[k] * t.v[k]->inverse;
            u += share * ((double)(x + (t.v[k] == first + 1 || t.v[k] == next + 1)) + 0.5);
            v += share * ((double)(y + (t.v[k] >= next)) + 0.5);
            sum += share;
        }
        u /= sum;
        v /= sum;
    }
    color[0] = color[1] = color[2] = color[3] = 255;
    if (!j->color) return;
    float c[3];
    tsr_view_bilinear(j->color, j->color_columns, j->color_rows, u * j->color_columns / j->columns, v * j->color_rows / j->rows, c);
    for (int32_t k = 0; k < 3; k++) color[k] = tsr_view_byte(c[k]);
}

/* ---- several cameras -------------------------------------------------------------------------------------------------------------- */

/* A projector as others look at it. */
typedef struct tsr_view_source {
    tsr_camera_points seen;
    const float *depth; /* NULL: none */
    const uint8_t *color;
    int32_t columns, rows, color_columns, color_rows, orthographic;
    double position[3], forward[3], quantum;
    const float *view_depth; /* what it drew into this view, or NULL */
    const uint8_t *view_color;
    double weight; /* OVERLAY: its place, 0 on top; BLEND: its weight */
} tsr_view_source;

typedef struct tsr_merge_job {
    const struct tsr_merge_job *device; /* its copy there, where kernels need one */
    tsr_view_source source[TSR_VIEWS_MOST];
    tsr_camera_rays rays; /* of the view */
    int32_t count, width, height, mode, power, background_known;
    double epsilon, feather;
    float *out_depth;
    uint8_t *out_color;
    uint32_t *choice; /* or NULL */
} tsr_merge_job;

/* The smaller of the differences to both neighbours along x and along y, of those that are there: how much the surface may change over a pixel. */
TSR_HD double tsr_view_slope(const float *depth, int32_t columns, int32_t rows, int32_t x, int32_t y)
{
    const int64_t i = (int64_t)y * columns + x;
    const float here = depth[i], most = 3.0e38f;
    float dx = most, dy = most;
    if (x > 0 && depth[i - 1] > 0.0f) dx = tsr_minf(dx, tsr_absf(here - depth[i - 1]));
    if (x + 1 < columns && depth[i + 1] > 0.0f) dx = tsr_minf(dx, tsr_absf(here - depth[i + 1]));
    if (y > 0 && depth[i - columns] > 0.0f) dy = tsr_minf(dy, tsr_absf(here - depth[i - columns]));
    if (y + 1 < rows && depth[i + columns] > 0.0f) dy = tsr_minf(dy, tsr_absf(here - depth[i + columns]));
    return (double)(dx < most ? dx : 0.0f) + (double)(dy < most ? dy : 0.0f);
}
TSR_HD double tsr_view_epsilon(double epsilon, double quantum, double slope)
{
    const double own = 2.0 * (quantum + slope);
    return own > epsilon ? own : epsilon;
}

/* A camera's weight at a place of the world, in 1/65536 and at least 1: a power of the cosine between its ray and the view's, less towards its rim. */
TSR_HD double tsr_view_cosine(const tsr_view_source *s, const double world[3], const double ray[3])
{
    double cosine = 0.0, a = 0.0, b = 0.0;
    for (int32_t k = 0; k < 3; k++) {
        const double to = s->orthographic ? s->forward[k] : world[k] - s->position[k];
        cosine += to * ray[k];
        a += to * to;
        b += ray[k] * ray[k];
    }
    cosine = cosine / tsr_lens_root(a * b);
    return cosine > 0.0 ? cosine : 0.0;
}
TSR_HD double tsr_view_rim(const tsr_view_source *s, const double world[3], double feather)
{
    double at[4];
    tsr_camera_points_place(&s->seen, world, at);
    const double x = at[0] / at[2], y = at[1] / at[2];
    double edge = x < s->columns - x ? x : s->columns - x;
    edge = y < edge ? y : edge;
    edge = s->rows - y < edge ? s->rows - y : edge;
    const double share = edge > 0.0 ? edge / feather : 0.0;
    return feather > 0.0 && at[2] > 0.0 && edge < feather ? share : 1.0;
}
TSR_HD uint32_t tsr_view_whole(double weight)
{
    const double scaled = weight * 65536.0;
    return scaled > 1.0 ? (uint32_t)(int32_t)scaled : 1u;
}
TSR_HD uint32_t tsr_view_weight(const tsr_view_source *s, const double world[3], const double ray[3], int32_t power, double feather)
{
    const double cosine = tsr_view_cosine(s, world, ray);
    double w = 1.0;
    for (int32_t k = 0; k < power; k++) w *= cosine;
    return tsr_view_whole(w * tsr_view_rim(s, world, feather));
}

/* What another camera says of a place of the world: 1 it looks through it, what it sees there lies behind by more than epsilon; -1 its surface hides it; -2 its surface is there;
 * 0 nothing. */
TSR_HD int tsr_view_says(const tsr_merge_job *j, const tsr_view_source *s, const double world[3])
{
    double at[4];
    tsr_camera_points_place(&s->seen, world, at);
    if (!(at[2] > 0.0) || !s->depth) return 0;
    const double x = at[0] / at[2], y = at[1] / at[2];
    if (!(x >= 0.0 && y >= 0.0 && x < s->columns && y < s->rows)) return 0;
    const int32_t ix = (int32_t)x, iy = (int32_t)y;
    const float there = s->depth[(int64_t)iy * s->columns + ix];
    if (!(there > 0.0f)) return !j->background_known;
    const double off = (double)there - at[3],
                 epsilon = tsr_view_epsilon(j->epsilon, s->quantum, tsr_view_slope(s->depth, s->columns, s->rows, ix, iy));
    return off > epsilon ? 1 : off < -epsilon ? -1 : -2;
}

/* How far apart surfaces are one at a pixel: by the steps and the slope of a view there, and of its camera's own samples, which may lie many pixels apart. */
TSR_HD double tsr_merge_epsilon(const tsr_merge_job *j, const tsr_view_source *s, int32_t x, int32_t y, const double world[3])
{
    double at[4], slope = tsr_view_slope(s->view_depth, j->width, j->height, x, y);
    tsr_camera_points_place(&s->seen, world, at);
    if (at[2] > 0.0 && s->depth) {
        const double u = at[0] / at[2], v = at[1] / at[2];
        if (u >= 0.0 && v >= 0.0 && u < s->columns && v < s->rows && s->depth[(int64_t)(int32_t)v * s->columns + (int32_t)u] > 0.0f) {
            const double own = tsr_view_slope(s->depth, s->columns, s->rows, (int32_t)u, (int32_t)v);
            slope = own > slope ? own : slope;
        }
    }
    return tsr_view_epsilon(j->epsilon, s->quantum, slope);
}

TSR_HD int tsr_view_seen_through(const tsr_merge_job *j, int32_t own, const double world[3])
{
    for (int32_t o = 0; o < j->count; o++)
        if (o != own && tsr_view_says(j, &j->source[o], world) > 0) return 1;
    return 0;
}

/* Which views say how far csg may go: not one whose camera has matter at the place of a nearer surface that a third camera sees, too, and nobody looks through. The ray was in that
 * camera's solid there; what its mesh shows farther on was met through a gap at a rim. */
TSR_HD uint32_t tsr_merge_knows(const tsr_merge_job *j, int64_t i, const double origin[3], const double ray[3])
{
    const int32_t x = (int32_t)(i % j->width), y = (int32_t)(i / j->width);
    uint32_t knows = 0, drop = 0;
    float near_ = 0.0f, far_ = 0.0f;
    double epsilon[TSR_VIEWS_MOST], least = 0.0, world[3];
    if (j->count < 3) return ~0u;
    for (int32_t s = 0; s < j->count; s++) {
        const float d = j->source[s].view_depth[i];
        if (!(d > 0.0f)) continue;
        const double own = tsr_view_epsilon(j->epsilon, j->source[s].quantum, tsr_view_slope(j->source[s].view_depth, j->width, j->height, x, y));
        near_ = knows && near_ < d ? near_ : d;
        far_ = far_ > d ? far_ : d;
        least = knows && least < own ? least : own;
        knows |= 1u << s;
    }
    if (!((double)far_ - (double)near_ > least)) return knows;
    for (int32_t s = 0; s < j->count; s++) {
        if (!(knows >> s & 1u)) continue;
        for (int32_t k = 0; k < 3; k++) world[k] = origin[k] + (double)j->source[s].view_depth[i] * ray[k];
        epsilon[s] = tsr_merge_epsilon(j, &j->source[s], x, y, world);
    }
    for (int32_t c = 0; c < j->count; c++) {
        const double d = (double)j->source[c].view_depth[i];
        uint32_t there = 0, hidden = 0;
        int32_t through = !(knows >> c & 1u), others = 0;
        for (int32_t k = 0; k < 3; k++) world[k] = origin[k] + d * ray[k];
        for (int32_t o = 0; o < j->count && !through; o++) {
            const int32_t says = o != c ? tsr_view_says(j, &j->source[o], world) : 0;
            through = says > 0;
            if (says == -2) there |= 1u << o;
            if (says == -1) hidden |= 1u << o;
            others += (int32_t)(says == -2);
        }
        for (int32_t s = 0; s < j->count && !through; s++)
            if (((there | hidden) & knows) >> s & 1u && others > (int32_t)(there >> s & 1u) && (double)j->source[s].view_depth[i] - d > epsilon[s])
                drop |= 1u << s;
    }
    return knows & ~drop; /* never none: nothing is nearer than the nearest */
}

/* Which views make the pixel, a bit each; `ray` belongs to the pixel. */
TSR_HD uint32_t tsr_merge_select(const tsr_merge_job *j, int64_t i, const double origin[3], const double ray[3])
{
    const int32_t x = (int32_t)(i % j->width), y = (int32_t)(i / j->width);
    const uint32_t knows = j->mode == TSR_MERGE_CSG ? tsr_merge_knows(j, i, origin, ray) : ~0u;
    uint32_t there = 0, chosen = 0;
    double world[3], epsilon = 0.0, least = 0.0;
    int32_t best = -1, exact = 0;
    float z = 0.0f;
    for (int32_t s = 0; s < j->count; s++) {
        const tsr_view_source *v = &j->source[s];
        const float d = v->view_depth[i];
        if (!(d > 0.0f) || !(knows >> s & 1u)) continue;
        if (j->mode == TSR_MERGE_FREESPACE) {
            for (int32_t k = 0; k < 3; k++) world[k] = origin[k] + (double)d * ray[k];
            if (tsr_view_seen_through(j, s, world)) continue;
        }
        there |= 1u << s;
        const int better = best < 0 || (j->mode == TSR_MERGE_OVERLAY ? v->weight < j->source[best].weight : j->mode == TSR_MERGE_CSG ? d > z : d < z);
        if (better) {
            best = s;
            z = d;
        }
    }
    if (!(there & (there - 1)) || j->mode == TSR_MERGE_BLEND) return there;
    if (j->mode == TSR_MERGE_OVERLAY) return 1u << best;
    for (int32_t s = 0, any = 0; s < j->count; s++) { /* the least of those that are just as far; by the view alone it is never more */
        if (!(there >> s & 1u) || j->source[s].view_depth[i] != z) continue;
        const double own = tsr_view_epsilon(j->epsilon, j->source[s].quantum, tsr_view_slope(j->source[s].view_depth, j->width, j->height, x, y));
        least = any && least < own ? least : own;
        any = 1;
    }
    for (int32_t s = 0; s < j->count; s++) {
        if (!(there >> s & 1u)) continue;
        const float d = j->source[s].view_depth[i];
        const double off = d > z ? (double)d - (double)z : (double)z - (double)d;
        if (off > least && !exact) {
            for (int32_t k = 0; k < 3; k++) world[k] = origin[k] + (double)z * ray[k];
            for (int32_t o = 0; o < j->count; o++) {
                if (!(there >> o & 1u) || j->source[o].view_depth[i] != z) continue;
                const double own = tsr_merge_epsilon(j, &j->source[o], x, y, world);
                epsilon = exact && epsilon < own ? epsilon : own;
                exact = 1;
            }
        }
        if (off <= least || off <= epsilon) chosen |= 1u << s;
    }
    return chosen;
}

/* The pixel from the views chosen; weight[s] counts where there are several. At most 16 of 65536, times 255: sums fit 32 bits. */
TSR_HD void tsr_merge_put(const tsr_merge_job *j, int64_t i, uint32_t chosen, const uint32_t *weight)
{
    uint8_t *color = j->out_color + 4 * i;
    uint32_t sum[3] = { 0, 0, 0 }, weights = 0;
    double depth = 0.0;
    if (j->choice) j->choice[i] = chosen;
    for (int32_t s = 0; s < j->count; s++) {
        if (!(chosen >> s & 1u)) continue;
        const uint8_t *own = j->source[s].view_color + 4 * i;
        if (chosen == 1u << s) {
            for (int32_t k = 0; k < 3; k++) color[k] = own[k];
            color[3] = 255;
            j->out_depth[i] = j->source[s].view_depth[i];
            return;
        }
        for (int32_t k = 0; k < 3; k++) sum[k] += weight[s] * own[k];
        depth += (double)weight[s] * (double)j->source[s].view_depth[i];
        weights += weight[s];
    }
    for (int32_t k = 0; k < 3; k++) color[k] = chosen ? (uint8_t)((sum[k] + weights / 2) / weights) : 0;
    color[3] = chosen ? 255 : 0;
    j->out_depth[i] = chosen ? (float)(depth / (double)weights) : 0.0f;
}

/* Of a view in BLEND: the same over the picture. */
TSR_HD uint32_t tsr_merge_even(const tsr_view_source *v) { return tsr_view_whole(v->weight); }

TSR_HD void tsr_merge_pixel(const tsr_merge_job *j, int64_t i)
{
    uint32_t weight[TSR_VIEWS_MOST];
    double origin[3], ray[3], world[3];
    tsr_camera_rays_place(&j->rays, (int32_t)(i % j->width) + 0.5, (int32_t)(i / j->width) + 0.5, origin, ray);
    const uint32_t chosen = tsr_merge_select(j, i, origin, ray);
    for (int32_t s = 0; s < j->count && (chosen & (chosen - 1)); s++) {
        if (!(chosen >> s & 1u)) continue;
        for (int32_t k = 0; k < 3; k++) world[k] = origin[k] + (double)j->source[s].view_depth[i] * ray[k];
        weight[s] = j->mode == TSR_MERGE_BLEND ? tsr_merge_even(&j->source[s]) : tsr_view_weight(&j->source[s], world, ray, j->power, j->feather);
    }
    tsr_merge_put(j, i, chosen, weight);
}

/* Colours from pictures of other cameras, where their own surface is not nearer. */
TSR_HD void tsr_texture_pixel(const tsr_merge_job *j, int64_t i)
{
    const float d = j->out_depth[i];
    double origin[3], ray[3], world[3], sum[3] = { 0.0, 0.0, 0.0 }, weights = 0.0;
    if (!(d > 0.0f)) return;
    tsr_camera_rays_place(&j->rays, (int32_t)(i % j->width) + 0.5, (int32_t)(i / j->width) + 0.5, origin, ray);
    for (int32_t k = 0; k < 3; k++) world[k] = origin[k] + (double)d * ray[k];
    for (int32_t s = 0; s < j->count; s++) {
        const tsr_view_source *v = &j->source[s];
        double at[4];
        float c[3];
        tsr_camera_points_place(&v->seen, world, at);
        if (!(at[2] > 0.0) || !v->color) continue;
        const double x = at[0] / at[2], y = at[1] / at[2];
        if (!(x >= 0.0 && y >= 0.0 && x <= v->columns && y <= v->rows)) continue;
        if (v->depth) {
            const int32_t ix = tsr_mini((int32_t)x, v->columns - 1), iy = tsr_mini((int32_t)y, v->rows - 1);
            const float there = v->depth[(int64_t)iy * v->columns + ix];
            if (there > 0.0f &&
                at[3] > (double)there + tsr_view_epsilon(j->epsilon, v->quantum, tsr_view_slope(v->depth, v->columns, v->rows, ix, iy)))
                continue;
        }
        const double w = (double)tsr_view_weight(v, world, ray, j->power, j->feather);
        tsr_view_bilinear(v->color, v->color_columns, v->color_rows, x * v->color_columns / v->columns, y * v->color_rows / v->rows, c);
        for (int32_t k = 0; k < 3; k++) sum[k] += w * (double)c[k];
        weights += w;
    }
    if (!(weights > 0.0)) return;
    for (int32_t k = 0; k < 3; k++) j->out_color[4 * i + k] = tsr_view_byte((float)(sum[k] / weights));
}

/* ---- sweeps ------------------------------------------------------------------------------------------------------------------------ */

enum { TSR_SWEEP_PLACES = 64 }; /* on each ray, evenly between the clip distances */

typedef struct tsr_sweep_job {
    tsr_view_source source; /* the frame; view_depth NULL: another sweep is joined */
    tsr_camera_rays rays;
    int32_t width, height, number;
    double near_, far_;
    float *depth;
    uint8_t *color;
    int32_t *winner, *first, *hits;
    uint64_t *looked, *free_;
    /* of the sweep that is joined */
    const float *from_depth;
    const uint8_t *from_color;
    const int32_t *from_winner, *from_first, *from_hits;
    const uint64_t *from_looked, *from_free;
} tsr_sweep_job;

TSR_HD void tsr_sweep_take(const tsr_sweep_job *j, int64_t i, float d, const uint8_t *color, int32_t number)
{
    if (!(d > 0.0f)) return;
    if (j->depth[i] > 0.0f && d >= j->depth[i]) { /* as far: the smaller number, then the smaller colour */
        if (d > j->depth[i] || number > j->winner[i]) return;
        int32_t order = number - j->winner[i];
        for (int32_t k = 0; k < 3 && !order; k++) order = (int32_t)color[k] - (int32_t)j->color[4 * i + k];
        if (order >= 0) return;
    }
    j->depth[i] = d;
    j->winner[i] = number;
    for (int32_t k = 0; k < 4; k++) j->color[4 * i + k] = color[k];
}

TSR_HD void tsr_sweep_pixel(const tsr_sweep_job *j, int64_t i)
{
    if (j->from_depth) {
        tsr_sweep_take(j, i, j->from_depth[i], j->from_color + 4 * i, j->from_winner[i]);
        if (j->from_first[i] >= 0 && (j->first[i] < 0 || j->from_first[i] < j->first[i])) j->first[i] = j->from_first[i];
        j->hits[i] += j->from_hits[i];
        j->looked[i] |= j->from_looked[i];
        j->free_[i] |= j->from_free[i];
        return;
    }
    const tsr_view_source *s = &j->source;
    const float d = s->view_depth[i];
    tsr_sweep_take(j, i, d, s->view_color + 4 * i, j->number);
    if (d > 0.0f) {
        j->hits[i]++;
        if (j->first[i] < 0 || j->number < j->first[i]) j->first[i] = j->number;
    }
    if (!s->depth) return;
    double origin[3], ray[3], world[3], at[4];
    uint64_t looked = 0, clear = 0;
    tsr_camera_rays_place(&j->rays, (int32_t)(i % j->width) + 0.5, (int32_t)(i / j->width) + 0.5, origin, ray);
    for (int32_t n = 0; n < TSR_SWEEP_PLACES; n++) {
        const double t = j->near_ + (n + 0.5) / TSR_SWEEP_PLACES * (j->far_ - j->near_);
        for (int32_t k = 0; k < 3; k++) world[k] = origin[k] + t * ray[k];
        tsr_camera_points_place(&s->seen, world, at);
        if (!(at[2] > 0.0) || !(at[3] > 0.0)) continue;
        const double x = at[0] / at[2], y = at[1] / at[2];
        if (!(x >= 0.0 && y >= 0.0 && x < s->columns && y < s->rows)) continue;
        const float there = s->depth[(int64_t)(int32_t)y * s->columns + (int32_t)x];
        looked |= (uint64_t)1 << n;
        if (!(there > 0.0f) || at[3] < (double)there) clear |= (uint64_t)1 << n;
    }
    j->looked[i] |= looked;
    j->free_[i] |= clear;
}

#endif
