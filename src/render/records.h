/* render/records.h: compact surface records: which cells of a tile have one, how corner values are coded, and the triangles of a record. */
#ifndef TSR_RENDER_RECORDS_H
#define TSR_RENDER_RECORDS_H

#include "tiles/tile_pool.h"
#include "render/write.h"
#include "surface/case_table.h"
#include "tessera/records.h"

enum {
    TSR_RECORD_OUTSIDE = 128, /* codes from here on are outside */
    TSR_RECORD_SPAN_MOST = 10,
    TSR_RECORD_CODES_MOST = TSR_RECORD_SPAN_MOST * TSR_RECORD_SPAN_MOST * TSR_RECORD_SPAN_MOST /* edge 8 and a voxel around */
};

/* What reads the case table, which nvcc keeps on the device alone. */
#if defined(__CUDACC__)
#define TSR_RECORD_FN static __device__ __forceinline__
#else
#define TSR_RECORD_FN TSR_HD
#endif

/* ---- extraction ------------------------------------------------------------------------------------------------------------------------ */

typedef struct tsr_records_job {
    const float *phi;
    tsr_keys keys;
    const uint32_t *ids, *neighbours;
    int32_t log2_edge, bounded, domain[3], tiles;
    int64_t origin[3];      /* voxel with position 0 0 0 */
    float isovalue, scale;  /* smallest float that is outside; 128 / band */
    int32_t by_id;          /* keys are of ids, not of entries; counts have no end */
    uint64_t *tile_keys;    /* by_id: [tiles] their keys, written with the counts */
    uint32_t *counts;       /* [tiles + 1], the last is 0 */
    const uint64_t *places; /* [tiles] where the records of each begin: sums of the counts before, by_id as the caller likes */
    uint16_t *positions;    /* [records][3] */
    uint8_t *cases;         /* [records] */
    uint64_t *values;       /* [records] corner 0 in the lowest byte */
} tsr_records_job;

TSR_HD uint64_t tsr_record_key(const tsr_records_job *j, int64_t t) { return tsr_key_at(j->keys, j->by_id ? (int64_t)j->ids[t] : t); }

/* Where the records of a tile are. */
typedef struct tsr_record_run {
    uint32_t begin, count;
} tsr_record_run;

/* Of records that follow a list. */
typedef struct tsr_records_some {
    int64_t gaps, count;
    const uint32_t (*gap)[2]; /* [gaps] records begin <= k < end that become empty */
    const uint32_t (*run)[3]; /* [count] id, begin, count */
    tsr_record_run *runs;     /* by id */
    uint8_t *cases;
} tsr_records_some;

/* Code of a value; the side decides where rounding would cross (a difference that underflows, or is NaN). */
TSR_HD uint32_t tsr_record_code(float v, float isovalue, float scale)
{
    const int32_t whole = tsr_floor_int(tsr_maxf(tsr_minf((v - isovalue) * scale, 127.0f), -128.0f)); /* NaN: 127 */
    return (uint32_t)((v < isovalue ? tsr_mini(whole, -1) : tsr_maxi(whole, 0)) + TSR_RECORD_OUTSIDE);
}
/* The value that a code stands for, times 256 / band: odd, so never 0. */
TSR_HD int32_t tsr_record_value(uint64_t values, int32_t corner) { return 2 * (int32_t)(values >> (8 * corner) & 255u) - 255; }

/* k: log2_edge of the job, which kernels know beforehand.
 * Id of the tile, stored or static, that holds the voxel (x, y, z) of a tile's own count, -1 to the edge. */
TSR_HD uint32_t tsr_record_tile(const tsr_records_job *j, int32_t k, uint32_t id, int32_t x, int32_t y, int32_t z)
{
    const int32_t direction = 9 * ((z >> k) + 1) + 3 * ((y >> k) + 1) + (x >> k) + 1;
    return direction == TSR_TILE_MIDDLE ? id : j->neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + direction];
}
/* Code number i of the (edge + 2)^3 in and around a tile. */
TSR_HD uint32_t tsr_record_load(const tsr_records_job *j, int32_t k, uint32_t id, int32_t i)
{
    const int32_t mask = (1 << k) - 1, span = (1 << k) + 2, x = i % span - 1, y = i / span % span - 1, z = i / (span * span) - 1;
    const int64_t tile = (int64_t)tsr_record_tile(j, k, id, x, y, z);
    return tsr_record_code(j->phi[((((tile << k | (z & mask)) << k) | (y & mask)) << k) | (x & mask)], j->isovalue, j->scale);
}

/* The cell that begins at voxel `at` of a tile's own count, -1 to edge - 1: is it cut and to be recorded by this tile? A cell that begins in a tile
 * that is stored belongs to that one; one that does not, to the first of its corners' tiles that is stored. */
TSR_HD int tsr_record_cell(const tsr_records_job *j, int32_t k, uint64_t key, uint32_t id, const uint8_t *codes, const int32_t at[3],
                           uint16_t position[3], uint32_t *code, uint64_t *values)
{
    const int32_t edge = 1 << k, span = edge + 2, tile[3] = { tsr_key_x(key), tsr_key_y(key), tsr_key_z(key) };
    const uint8_t *from = codes + ((at[2] + 1) * span + at[1] + 1) * span + at[0] + 1;
    uint32_t inside = 0;
    for (int32_t c = 0; c < 8; c++) inside |= (uint32_t)(from[(c >> 2) * span * span + (c >> 1 & 1) * span + (c & 1)] < TSR_RECORD_OUTSIDE) << c;
    if (inside == 0 || inside == 255) return 0;
    for (int32_t a = 0; a < 3; a++) {
        const int64_t voxel = (int64_t)tile[a] * edge + at[a];
        if (j->bounded && (voxel < 0 || voxel + 1 >= j->domain[a])) return 0;
        position[a] = (uint16_t)(voxel - j->origin[a]);
    }
    if (at[0] < 0 || at[1] < 0 || at[2] < 0) {
        uint32_t owner = TSR_TILE_OUTSIDE;
        int32_t c = 0, own = 0;
        for (; c < 8 && owner < TSR_TILE_FIRST; c++) {
            const int32_t x = at[0] + (c & 1), y = at[1] + (c >> 1 & 1), z = at[2] + (c >> 2);
            owner = tsr_record_tile(j, k, id, x, y, z);
            own = (x | y | z) >= 0 && x < edge && y < edge && z < edge;
        }
        if (!own) return 0;
    }
    *code = inside;
    *values = 0;
    for (int32_t c = 0; c < 8; c++) *values |= (uint64_t)from[(c >> 2) * span * span + (c >> 1 & 1) * span + (c & 1)] << (8 * c);
    return 1;
}
TSR_HD void tsr_record_store(const tsr_records_job *j, uint64_t to, const uint16_t position[3], uint32_t code, uint64_t values)
{
    for (int32_t a = 0; a < 3; a++) j->positions[3 * to + (uint64_t)a] = position[a];
    j->cases[to] = (uint8_t)code;
    j->values[to] = values;
}

/* ---- expansion ------------------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_records_view {
    int64_t count;
    const uint16_t *positions;
    const uint8_t *cases;
    const uint64_t *values;
    double affine[3][4];  /* position to the world, or to the frame */
    float gradient[3][3]; /* gradient along the index axes to the world's */
    int32_t flip, mirrored;
} tsr_records_view;

/* Of a mesh: counts are triangles of a record, places their sums. */
typedef struct tsr_records_expand {
    tsr_records_view view;
    uint8_t *counts;        /* [records + 1], the last is 0 */
    const uint64_t *places; /* [records + 1] */
    float *vertices;
    uint32_t *triangles;
} tsr_records_expand;

TSR_RECORD_FN int32_t tsr_record_triangles(const tsr_records_view *v, int64_t k) { return tsr_case_triangles[v->cases[k] ^ v->flip]; }

/* Vertex n of triangle t: its place in the cell, from 0 to 1 along each axis. Taken from the lower end of its edge, so that all cells around
 * the edge, which hold the same two codes, find the same. */
TSR_RECORD_FN void tsr_record_vertex(const tsr_records_view *v, int64_t k, int32_t t, int32_t n, float local[3])
{
    const uint64_t values = v->values[k];
    const int32_t edge = tsr_case_edges[v->cases[k] ^ v->flip][3 * t + (n && v->mirrored ? 3 - n : n)], axis = edge >> 2;
    const int32_t first = edge & 1, second = edge >> 1 & 1;
    const int32_t low = axis == 0 ? first << 1 | second << 2 : axis == 1 ? first | second << 2 : first | second << 1;
    const int32_t a = tsr_record_value(values, low), b = tsr_record_value(values, low | 1 << axis);
    const float share = (float)a / (float)(a - b);
    for (int32_t r = 0; r < 3; r++) local[r] = r == axis ? share : (float)(low >> r & 1);
}
TSR_HD void tsr_record_place(const tsr_records_view *v, int64_t k, const float local[3], float out[3])
{
    double p[3];
    for (int32_t r = 0; r < 3; r++) p[r] = (double)v->positions[3 * k + r] + (double)local[r];
    for (int32_t r = 0; r < 3; r++) {
        const double *m = v->affine[r];
        out[r] = (float)(((m[0] * p[0] + m[1] * p[1]) + m[2] * p[2]) + m[3]);
    }
}
TSR_RECORD_FN void tsr_record_triangle(const tsr_records_view *v, int64_t k, int32_t t, float corners[9])
{
    float local[3];
    for (int32_t n = 0; n < 3; n++) {
        tsr_record_vertex(v, k, t, n, local);
        tsr_record_place(v, k, local, corners + 3 * n);
    }
}
TSR_RECORD_FN void tsr_record_expand(const tsr_records_expand *e, int64_t k)
{
    const int32_t count = tsr_record_triangles(&e->view, k);
    for (int32_t t = 0; t < count; t++) {
        const uint64_t to = e->places[k] + (uint64_t)t;
        tsr_record_triangle(&e->view, k, t, e->vertices + 9 * to);
        for (uint64_t n = 0; n < 3; n++) e->triangles[3 * to + n] = (uint32_t)(3 * to + n);
    }
}

/* ---- drawing --------------------------------------------------------------------------------------------------------------------------- */

/* Surfaces one behind the other are found one after the other: of layer n a ray keeps the nearest hit behind that of layer n - 1. */
enum { TSR_RECORD_LAYERS = 64 };

/* Nearest hit of a ray as one number: the distance in the upper half (ordered as its bits), record and triangle in the lower. */
#define TSR_RECORD_NO_HIT UINT64_MAX
enum { TSR_RECORD_TRIANGLE_BITS = 3 };

typedef struct tsr_records_draw_job {
    tsr_frame frame;
    tsr_records_view view; /* affine: to the frame */
    int32_t cull;
    int64_t from, to;      /* records at hand; if there are runs, ids */
    int32_t layers, layer; /* that are kept; the one at hand */
    uint64_t *hits;        /* [layers][height x samples][width x samples] */
    int32_t window[4];     /* pixels to draw: first column and row, and those after the last */
    /* Of records that follow a list; NULL: records one by one. */
    const tsr_record_run *runs; /* [ids] */
    const uint64_t *keys;       /* [ids] TSR_KEY_END: none */
    int64_t ids, origin[3];     /* origin: voxel with position 0 0 0 */
    int32_t edge;
    float reach; /* of a tile's cells around their middle, in the frame */
} tsr_records_draw_job;

TSR_HD int64_t tsr_record_items(const tsr_records_draw_job *j) { return j->runs ? j->ids : j->view.count; }

TSR_HD int64_t tsr_record_sheet(const tsr_frame *f) { return (int64_t)f->width * f->height * f->samples * f->samples; }
/* How far behind a layer the next one begins: more than the error of a hit. */
TSR_HD float tsr_record_apart(const tsr_frame *f) { return 1.0e-3f * f->dt; }
TSR_HD float tsr_record_distance(uint64_t number) { return tsr_key_float((uint32_t)(number >> 32)); }

TSR_HD int32_t tsr_record_axis(tsr_float3 d) /* as tsr_bvh_trace shears */
{
    return tsr_absf(d.x) > tsr_absf(d.y) ? (tsr_absf(d.x) > tsr_absf(d.z) ? 0 : 2) : (tsr_absf(d.y) > tsr_absf(d.z) ? 1 : 2);
}

/* Where a point of the frame lies in the picture, in pixels. Returns 0 if it is not in front of the eye. */
TSR_HD int tsr_record_project(const tsr_frame *f, const float *p, float *x, float *y)
{
    tsr_float3 d = tsr_f3(p[0], p[1], p[2]);
    if (!f->orthographic) {
        d = tsr_sub3(d, f->origin);
        const float away = tsr_dot3(d, f->forward);
        if (!(away > 1.0e-4f * f->radius)) return 0;
        d = tsr_scale3(d, 1.0f / away);
    }
    d = tsr_sub3(d, f->corner);
    *x = tsr_dot3(d, f->right) / tsr_dot3(f->right, f->right);
    *y = tsr_dot3(d, f->down) / tsr_dot3(f->down, f->down);
    return 1;
}
/* Left, top, right and bottom of what the cells of a tile can cover, in pixels. Returns 0 if that is not bounded: they reach the eye. */
TSR_HD int tsr_record_shadow(const tsr_records_draw_job *j, uint64_t key, float box[4])
{
    const tsr_frame *f = &j->frame;
    const int32_t tile[3] = { tsr_key_x(key), tsr_key_y(key), tsr_key_z(key) };
    float p[3], x, y, wide = j->reach;
    double at[3];
    for (int32_t k = 0; k < 3; k++) at[k] = (double)((int64_t)tile[k] * j->edge - j->origin[k]) + 0.5 * (double)(j->edge - 1);
    for (int32_t k = 0; k < 3; k++) {
        const double *m = j->view.affine[k];
        p[k] = (float)(((m[0] * at[0] + m[1] * at[1]) + m[2] * at[2]) + m[3]);
    }
    if (!tsr_record_project(f, p, &x, &y)) return 0;
    if (!f->orthographic) { /* u' / w' - u / w of a point within reach r: at most r |(u, w)| / (w (w - r)), and |u| at most that of the whole ray */
        const tsr_float3 d = tsr_sub3(tsr_f3(p[0], p[1], p[2]), f->origin);
        const float away = tsr_dot3(d, f->forward), near = away - j->reach;
        if (!(near > 1.0e-4f * f->radius)) return 0;
        wide = 1.001f * j->reach * sqrtf(tsr_dot3(d, d)) / (away * near);
    }
    wide = wide / sqrtf(tsr_dot3(f->right, f->right)) + 1.0f; /* pixels are square; one for rounding */
    box[0] = x - wide;
    box[1] = y - wide;
    box[2] = x + wide;
    box[3] = y + wide;
    return 1;
}
/* Can the records of this tile be met in the window? */
TSR_HD int tsr_record_meets(const tsr_records_draw_job *j, uint64_t key)
{
    float box[4];
    if (!tsr_record_shadow(j, key, box)) return 1;
    return box[0] < (float)j->window[2] && box[2] > (float)j->window[0] && box[1] < (float)j->window[3] && box[3] > (float)j->window[1];
}
/* The hits of a row of rays in the window: where they begin. *count: how many. */
TSR_HD int64_t tsr_record_row(const tsr_records_draw_job *j, int64_t row, int64_t *count)
{
    const int32_t n = j->frame.samples;
    *count = (int64_t)(j->window[2] - j->window[0]) * n;
    return j->layer * tsr_record_sheet(&j->frame) + ((int64_t)j->window[1] * n + row) * j->frame.width * n + (int64_t)j->window[0] * n;
}

/* First and last ray from `begin` to `end` - 1 along an axis of the picture whose place can lie within [low, high] pixels; a quarter pixel to spare for rounding. */
TSR_HD void tsr_record_rays(float low, float high, float shift, int32_t samples, int32_t begin, int32_t end, int32_t *first, int32_t *last)
{
    const float most = (float)end;
    low = tsr_clampf((low - 0.25f) * (float)samples - shift, -1.0f, most);
    high = tsr_clampf((high + 0.25f) * (float)samples - shift, -1.0f, most);
    *first = tsr_maxi(begin, tsr_ceil_int(low));
    *last = tsr_mini(end - 1, tsr_floor_int(high));
}

/* The triangles of record k against the rays that can meet them; includers say how a smaller number is kept: TSR_RECORD_KEEP(address, number). */
#ifdef TSR_RECORD_KEEP
TSR_RECORD_FN void tsr_record_splat(const tsr_records_draw_job *j, int64_t k)
{
    const tsr_frame *f = &j->frame;
    const int32_t triangles = tsr_record_triangles(&j->view, k), samples = f->samples;
    const float dx = f->pass > 0 ? tsr_pass_shift(f->pass, 0.75487767f) : 0.5f, dy = f->pass > 0 ? tsr_pass_shift(f->pass, 0.56984029f) : 0.5f;
    uint64_t *hits = j->hits + j->layer * tsr_record_sheet(f);
    const uint64_t *before = j->layer ? hits - tsr_record_sheet(f) : NULL;
    for (int32_t t = 0; t < triangles; t++) {
        float c[9], left = TSR_FLOAT_BIG, right = -TSR_FLOAT_BIG, top = TSR_FLOAT_BIG, bottom = -TSR_FLOAT_BIG;
        int32_t front = 0, x0, x1, y0, y1;
        tsr_record_triangle(&j->view, k, t, c);
        if (j->cull) {
            const tsr_float3 normal = tsr_cross3(tsr_f3(c[3] - c[0], c[4] - c[1], c[5] - c[2]), tsr_f3(c[6] - c[0], c[7] - c[1], c[8] - c[2]));
            const tsr_float3 look = f->orthographic ? f->forward : tsr_sub3(tsr_f3(c[0], c[1], c[2]), f->origin);
            if (tsr_dot3(normal, look) >= 0.0f) continue;
        }
        for (int32_t n = 0; n < 3; n++) {
            float x, y;
            if (!tsr_record_project(f, c + 3 * n, &x, &y)) continue;
            front++;
            left = tsr_minf(left, x);
            right = tsr_maxf(right, x);
            top = tsr_minf(top, y);
            bottom = tsr_maxf(bottom, y);
        }
        if (!front) continue;
        if (front < 3) { /* reaches behind the eye: anywhere */
            left = top = -TSR_FLOAT_BIG;
            right = bottom = TSR_FLOAT_BIG;
        }
        tsr_record_rays(left, right, dx, samples, j->window[0] * samples, j->window[2] * samples, &x0, &x1);
        tsr_record_rays(top, bottom, dy, samples, j->window[1] * samples, j->window[3] * samples, &y0, &y1);
        for (int32_t y = y0; y <= y1; y++)
            for (int32_t x = x0; x <= x1; x++) {
                const tsr_ray ray = tsr_pixel_ray(f, x / samples, y / samples, x % samples, y % samples);
                const int64_t at = (int64_t)y * f->width * samples + x;
                tsr_bvh_hit hit = { TSR_FLOAT_BIG, 0.0f, 0.0f, 0 };
                float begin = f->t_near;
                int32_t entered = 0;
                if (f->clip && f->clip_surface && !tsr_plane_clip(&ray, f->clip_normal, f->clip_offset, &begin, &hit.t, &entered)) continue;
                if (before) {
                    const uint64_t last = before[at];
                    if (last == TSR_RECORD_NO_HIT) continue;
                    begin = tsr_maxf(begin, tsr_record_distance(last) + tsr_record_apart(f));
                }
                if (!tsr_bvh_triangle(c, ray.o, ray.d, tsr_record_axis(ray.d), &hit, begin)) continue;
                const uint64_t number = (uint64_t)tsr_float_key(hit.t) << 32 | (uint32_t)((uint64_t)k << TSR_RECORD_TRIANGLE_BITS | (uint64_t)t);
                TSR_RECORD_KEEP(hits + at, number);
            }
    }
}
#endif

/* Gradient of the trilinear interpolant of the corner values at a place of the cell. */
TSR_HD tsr_float3 tsr_record_gradient(uint64_t values, const float at[3])
{
    float g[3] = { 0.0f, 0.0f, 0.0f };
    for (int32_t a = 0; a < 3; a++) {
        const int32_t b = a == 2 ? 0 : a + 1, c = b == 2 ? 0 : b + 1;
        for (int32_t n = 0; n < 4; n++) {
            const int32_t low = (n & 1) << b | (n >> 1) << c;
            const float weight = (n & 1 ? at[b] : 1.0f - at[b]) * (n >> 1 ? at[c] : 1.0f - at[c]);
            g[a] += weight * (float)(tsr_record_value(values, low | 1 << a) - tsr_record_value(values, low));
        }
    }
    return tsr_f3(g[0], g[1], g[2]);
}

/* What a ray hit. */
TSR_RECORD_FN tsr_hit tsr_record_hit(const tsr_records_draw_job *j, uint64_t number, const tsr_ray *ray)
{
    tsr_hit hit = { TSR_HIT_NONE, TSR_FLOAT_BIG, { 0.0f, 0.0f, 0.0f } };
    if (number == TSR_RECORD_NO_HIT) return hit;
    const tsr_records_view *v = &j->view;
    const int64_t k = (int64_t)(number & UINT32_MAX) >> TSR_RECORD_TRIANGLE_BITS;
    const int32_t t = (int32_t)(number & ((1u << TSR_RECORD_TRIANGLE_BITS) - 1u));
    const tsr_float3 viewer = tsr_scale3(ray->d, -1.0f);
    float c[9], local[3][3], at[3];
    tsr_bvh_hit b = { TSR_FLOAT_BIG, 0.0f, 0.0f, 0 };
    tsr_record_triangle(v, k, t, c);
    hit.kind = TSR_HIT_SURFACE;
    hit.t = tsr_record_distance(number);
    const tsr_float3 e = tsr_f3(c[3] - c[0], c[4] - c[1], c[5] - c[2]), g = tsr_f3(c[6] - c[0], c[7] - c[1], c[8] - c[2]);
    hit.normal = tsr_normalize3(tsr_cross3(e, g), viewer);
    if (j->frame.flat || !tsr_bvh_triangle(c, ray->o, ray->d, tsr_record_axis(ray->d), &b, j->frame.t_near)) return hit;
    for (int32_t n = 0; n < 3; n++) tsr_record_vertex(v, k, t, n, local[n]);
    for (int32_t r = 0; r < 3; r++) at[r] = tsr_saturatef(((1.0f - b.u - b.v) * local[0][r] + b.u * local[1][r]) + b.v * local[2][r]);
    const tsr_float3 slope = tsr_record_gradient(v->values[k], at);
    hit.normal = tsr_normalize3(tsr_f3((v->gradient[0][0] * slope.x + v->gradient[0][1] * slope.y) + v->gradient[0][2] * slope.z,
                                       (v->gradient[1][0] * slope.x + v->gradient[1][1] * slope.y) + v->gradient[1][2] * slope.z,
                                       (v->gradient[2][0] * slope.x + v->gradient[2][1] * slope.y) + v->gradient[2][2] * slope.z),
                                hit.normal);
    return hit;
}

/* What a ray meets layer by layer: where it begins inside (a cut, or the end of the list's box), then records. Of a picture without the field that
 * they came from, records alone. Returns how many. */
TSR_RECORD_FN int32_t tsr_record_layers(const tsr_records_draw_job *j, int64_t at, const tsr_ray *ray, int32_t most, tsr_hit *hits)
{
    const tsr_frame *f = &j->frame;
    float t0 = f->t_near, t1 = TSR_FLOAT_BIG;
    int32_t entered = 0, n = 0;
    if (f->surface.kind != TSR_FIELD_NONE) {
        tsr_ray in_field;
        if (f->clip && f->clip_surface && !tsr_plane_clip(ray, f->clip_normal, f->clip_offset, &t0, &t1, &entered)) return 0;
        n = tsr_surface_begin(f, ray, entered, &in_field, &t0, &t1, hits) == 2;
    }
    for (int32_t layer = 0; n < most; layer++, n++) {
        const uint64_t number = j->hits[layer * tsr_record_sheet(f) + at];
        if (number == TSR_RECORD_NO_HIT) break;
        hits[n] = tsr_record_hit(j, number, ray);
    }
    return n;
}

/* `parts`, `most` (layers): constants. */
TSR_RECORD_FN void tsr_record_pixel(const tsr_records_draw_job *j, int parts, int32_t most, const tsr_transfer_linear *transfer, int32_t x, int32_t y,
                                    tsr_hit *hits, float *rgba, float *depth)
{
    const tsr_frame *f = &j->frame;
    const int32_t n = f->samples;
    const tsr_hit none = { TSR_HIT_NONE, TSR_FLOAT_BIG, { 0.0f, 0.0f, 0.0f } };
    const float shift = tsr_pixel_shift(f, x, y);
    const tsr_float3 background = tsr_frame_background(f, y);
    tsr_pixel out = { 0.0f, 0.0f, 0.0f, 0.0f, TSR_FLOAT_BIG };
    for (int32_t s = 0; s < n * n; s++) {
        const tsr_ray ray = tsr_pixel_ray(f, x, y, s % n, s / n);
        tsr_float3 c = { 0.0f, 0.0f, 0.0f };
        float alpha = 0.0f;
        const int32_t met =
            tsr_record_layers(j, ((int64_t)y * n + s / n) * f->width * n + (int64_t)x * n + s % n, &ray, tsr_mini(most, j->layers), hits);
        for (int32_t i = met; i < tsr_mini(most, f->layers); i++) hits[i] = none;
        tsr_ray_color(f, parts, transfer, &ray, shift, hits, f->layers, &c, &alpha, &out.depth);
        tsr_pixel_add(f, background, c, alpha, &out);
    }
    tsr_pixel_mean(f, &out);
    tsr_pixel_blend(f, &out, rgba, depth, (int64_t)y * f->width + x);
}

#endif
