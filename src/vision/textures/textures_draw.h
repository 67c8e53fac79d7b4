/* vision/textures/textures_draw.h: the textured mesh from any camera: which triangle a pixel shows, and its colour from the textures of several cameras. */
#ifndef TSR_VISION_TEXTURES_TEXTURES_DRAW_H
#define TSR_VISION_TEXTURES_TEXTURES_DRAW_H

#include "camera/lens_model.h"
#include "formats/films/ycbcr.h"
#include "vision/textures/textures_math.h"
#include "vision/views/views_math.h"

typedef struct tsr_texture_view {
    tsr_texture_job shape;          /* of ONE camera, the view's: its corners, triangles, positions; no map */
    const tsr_texture_camera *from; /* [cameras] of the textures */
    const uint32_t *place_of;       /* [triangles][3] places of the atlas */
    const float *place;             /* [places][2] */
    const uint64_t *visible;        /* [cameras][atlas_height][words] */
    const uint8_t *plane[3];
    uint64_t *key;  /* [height][width]: depth, and behind it the number of the triangle */
    uint8_t *color; /* [height][width][4] RGBA; alpha 255, or 254 where no camera saw the point, 0: no mesh */
    tsr_ycbcr colors;
    int32_t width, height, atlas_width, atlas_height, words;
    int32_t cameras, power, only, leave_out;
    uint8_t background[3], unseen[3];
} tsr_texture_view;

/* Rows first, first + stride ... of a triangle that faces the view. */
TSR_HD void tsr_texture_draw_keys(const tsr_texture_view *v, int64_t i, int32_t first, int32_t stride)
{
    tsr_texture_triangle t;
    tsr_texture_plane p;
    if (!v->shape.face[i].front || !tsr_texture_on_map(&v->shape, 0, i, &t, &p)) return;
    for (int32_t row = t.y0 + first; row <= t.y1; row += stride) {
        int32_t from, to;
        tsr_texture_span(&t, row, &from, &to);
        for (int32_t column = from; column <= to; column++)
            tsr_key_least(&v->key[(int64_t)row * v->width + column], (uint64_t)tsr_texture_depth(&p, &t, column, row) << 32 | (uint64_t)i);
    }
}

/* Sums of a texture between its four nearest texels, of those that are visible; returns how much they weigh, of 65536. */
TSR_HD int32_t tsr_texture_look_up(const tsr_texture_view *v, int32_t c, int32_t x, int32_t y, int64_t sum[3])
{
    const int64_t base = (int64_t)c * v->atlas_height;
    const int32_t ix = x >> 8, iy = y >> 8, fx = x & 255, fy = y & 255;
    int32_t weights = 0;
    sum[0] = sum[1] = sum[2] = 0;
    for (int32_t k = 0; k < 4; k++) {
        const int32_t sx = ix + (k & 1), sy = iy + (k >> 1), w = (k & 1 ? fx : 256 - fx) * (k & 2 ? fy : 256 - fy);
        if (w == 0 || sx < 0 || sy < 0 || sx >= v->atlas_width || sy >= v->atlas_height) continue;
        if (!(v->visible[(base + sy) * v->words + sx / 64] >> (sx & 63) & 1u)) continue;
        for (int32_t n = 0; n < 3; n++) sum[n] += (int64_t)w * v->plane[n][(base + sy) * v->atlas_width + sx];
        weights += w;
    }
    return weights;
}

/* The way from a point to where a camera stands, or towards it. */
TSR_HD void tsr_texture_way(const tsr_texture_camera *c, const double world[3], double way[3])
{
    for (int32_t k = 0; k < 3; k++) way[k] = c->eye[k] - c->eye[3] * world[k];
}

/* The cosine between two ways, to a power; at least 1/65536. */
TSR_HD double tsr_texture_weight(const double a[3], const double b[3], int32_t power)
{
    double dot = 0.0, aa = 0.0, bb = 0.0, w = 1.0;
    for (int32_t k = 0; k < 3; k++) {
        dot += a[k] * b[k];
        aa += a[k] * a[k];
        bb += b[k] * b[k];
    }
    const double cosine = dot / tsr_lens_root(aa * bb), least = 1.0 / 65536.0;
    for (int32_t k = 0; k < power && w > least; k++) w *= cosine;
    return power > 0 && !(cosine > 0.0 && w > least) ? least : w;
}

/* Pixel i: the point of the surface, and what the cameras say of it. */
TSR_HD void tsr_texture_resolve(const tsr_texture_view *v, int64_t i)
{
    const uint64_t key = v->key[i];
    uint8_t *out = v->color + 4 * i;
    for (int32_t k = 0; k < 3; k++) out[k] = v->background[k];
    out[3] = 0;
    if (key == TSR_KEY_NONE) return;
    const int64_t number = (int64_t)(key & 0xffffffffu);
    const uint32_t *corner = v->shape.triangle + 3 * number, *place = v->place_of + 3 * number;
    tsr_texture_triangle t;
    tsr_texture_plane p;
    int64_t w[3];
    if (!tsr_texture_on_map(&v->shape, 0, number, &t, &p)) return;
    tsr_texture_weights(&t, (int32_t)(i % v->width), (int32_t)(i / v->width), w);
    double world[3] = { 0.0, 0.0, 0.0 }, uv[2] = { 0.0, 0.0 }, whole = 0.0;
    for (int32_t k = 0; k < 3; k++) {
        const int32_t own = k && t.turned ? 3 - k : k; /* where corner k of the mesh is */
        const double share = (double)w[own] / v->shape.corner[corner[k]].at[2];
        for (int32_t n = 0; n < 3; n++) world[n] += share * (double)v->shape.position[3 * (int64_t)corner[k] + n];
        for (int32_t n = 0; n < 2; n++) uv[n] += share * (double)v->place[2 * (int64_t)place[k] + n];
        whole += share;
    }
    for (int32_t n = 0; n < 3; n++) world[n] /= whole;
    const int32_t x = tsr_texture_round(uv[0] / whole * (double)(v->atlas_width * TSR_TEXTURE_SUB)) - TSR_TEXTURE_SUB / 2;
    const int32_t y = tsr_texture_round((1.0 - uv[1] / whole) * (double)(v->atlas_height * TSR_TEXTURE_SUB)) - TSR_TEXTURE_SUB / 2;
    double way[3], other[3], sum[3] = { 0.0, 0.0, 0.0 }, weights = 0.0;
    tsr_texture_way(v->shape.camera, world, way);
    for (int32_t c = 0; c < v->cameras; c++) {
        int64_t own[3];
        if ((v->only && c != v->only - 1) || c == v->leave_out - 1) continue;
        const int32_t seen = tsr_texture_look_up(v, c, x, y, own);
        if (!seen) continue;
        tsr_texture_way(&v->from[c], world, other);
        const double weight = tsr_texture_weight(way, other, v->power);
        for (int32_t n = 0; n < 3; n++) sum[n] += weight * (double)own[n];
        weights += weight * (double)seen;
    }
    out[3] = 254;
    for (int32_t k = 0; k < 3; k++) out[k] = v->unseen[k];
    if (!(weights > 0.0)) return;
    out[3] = 255;
    tsr_ycbcr_rgb(&v->colors, (float)(sum[0] / weights), (float)(sum[1] / weights), (float)(sum[2] / weights), out);
}

#endif
