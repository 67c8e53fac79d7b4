/* mip/mip_pixels.h: where coefficients fall in a picture (docs/theory/mip.md 4), in 16.16 fixed point. Voxel x of level 0 has u = anchor_u[0] + U . x, a
 * coefficient at n of level j the anchor u = anchor_u[j] + 2^j U . n: the middle of what it covers. Included by a .cu file after device/kernel.h, where pixels
 * are 32-bit words of a common picture, or by C, where they are 16-bit words of the worker's own. */
#ifndef TSR_MIP_MIP_PIXELS_H
#define TSR_MIP_MIP_PIXELS_H

#include "histopyramid/detail.h"

typedef struct tsr_mip_projection {
    int32_t u[3], v[3], w[3]; /* right, down, away: 16.16 pixels (w: voxels) per voxel */
    int64_t anchor_u[TSR_MIP_LEVELS + 1], anchor_v[TSR_MIP_LEVELS + 1], anchor_w;
} tsr_mip_projection;

/* What a coefficient of a level covers. */
typedef struct tsr_mip_cover {
    int32_t side[2];         /* of the rectangle, pixels across and down; 0: the offsets below instead */
    int32_t low[3], high[3]; /* box of voxels from 2^j n, both included; used where voxels == 0 */
    int32_t voxels, pixels;  /* entries of the lists */
    const int16_t *voxel;    /* device: x, y, z from 2^j n (elements that are no box) */
    const int16_t *pixel;    /* device: dx, dy from the pixel of voxel 2^j n */
} tsr_mip_cover;

/* Pixels [low, high) of a row of a brick's box, from the box's corner: all that the brick can touch there. */
typedef struct tsr_mip_span {
    uint8_t low, high;
} tsr_mip_span;
enum { TSR_MIP_SPANS = 128 /* rows; boxes of more have no spans */ };

typedef struct tsr_mip_job {
    tsr_details d;
    tsr_mip_projection p;
    tsr_mip_cover cover[TSR_MIP_LEVELS + 1];
    int32_t width, height;         /* of the picture */
    int32_t shift;                 /* its pixels are 2^shift wide: level pictures of the cascade */
    int32_t level_low, level_high; /* levels that are drawn, both included */
    int32_t slow_high;             /* the same one by one: of higher levels what reaches out of the volume, voxel by voxel, into the finest picture */
    int32_t exact, slab;
    int32_t cube2;  /* a coefficient covers the octree node at its place */
    int32_t points; /* of an element that is no box, else 0 */
    int8_t point[TSR_MIP_POINTS][4];
    int32_t lower, upper, most; /* above `upper`: most */
    int64_t slab_lower, slab_upper;
    int32_t refine;                  /* != 0: details.from is not all 0 */
    int32_t footprint;               /* pixels that a brick can touch, each way */
    int64_t box_low[2], box_high[2]; /* see tsr_mip_box_limits */
    int64_t box_level[2][TSR_MIP_LEVELS + 1];
    int32_t spans; /* rows of span; 0: whole boxes */
    tsr_mip_span span[TSR_MIP_SPANS];
    uint32_t *image;                      /* [height][width] */
    uint16_t *scratch;                    /* cpu: per worker, framed by `footprint` pixels */
    int64_t scratch_pixels;               /* of one worker */
    const struct tsr_detail_chunk *chunk; /* lists: what is drawn */
    int64_t chunks;
} tsr_mip_job;

/* Where pixels go: memory of some rectangle of the picture. */
typedef struct tsr_mip_canvas {
    void *pixels;
    int64_t stride, origin; /* origin: place of pixel (0, 0), negated */
    int32_t width, height;
} tsr_mip_canvas;

#ifdef __cplusplus
#define TSR_MIP_FN TSR_DEVICE_FN
TSR_MIP_FN void tsr_mip_put(const tsr_mip_canvas *c, int64_t x, int64_t y, uint32_t v)
{
    uint32_t *p = (uint32_t *)c->pixels + (y * c->stride + x - c->origin);
    if (*p < v) atomicMax(p, v); /* pixels only grow: a stale value costs an atomic, no more */
}
#else
#define TSR_MIP_FN TSR_INLINE
TSR_MIP_FN void tsr_mip_put(const tsr_mip_canvas *c, int64_t x, int64_t y, uint32_t v)
{
    uint16_t *p = (uint16_t *)c->pixels + (y * c->stride + x - c->origin);
    if (*p < v) *p = (uint16_t)v;
}
#endif

TSR_MIP_FN void tsr_mip_rectangle(const tsr_mip_canvas *c, int64_t x, int64_t y, int32_t width, int32_t height, uint32_t value)
{
    const int64_t x1 = tsr_minl(x + width, c->width), y1 = tsr_minl(y + height, c->height);
    for (int64_t b = tsr_maxl(y, 0); b < y1; b++)
        for (int64_t a = tsr_maxl(x, 0); a < x1; a++) tsr_mip_put(c, a, b, value);
}

TSR_HD int64_t tsr_mip_dot(const int32_t f[3], int64_t x, int64_t y, int64_t z) { return f[0] * x + f[1] * y + f[2] * z; }

/* One voxel of level 0. */
TSR_MIP_FN void tsr_mip_voxel(const tsr_mip_job *job, const tsr_mip_canvas *c, int32_t x, int32_t y, int32_t z, uint32_t value)
{
    if (!tsr_adjunction_within(job->d.size[0], x, y, z)) return;
    if (job->slab) {
        const int64_t depth = job->p.anchor_w + tsr_mip_dot(job->p.w, x, y, z);
        if (depth < job->slab_lower || depth >= job->slab_upper) return;
    }
    const int64_t px = (job->p.anchor_u[0] + tsr_mip_dot(job->p.u, x, y, z)) >> 16, py = (job->p.anchor_v[0] + tsr_mip_dot(job->p.v, x, y, z)) >> 16;
    if (px >= 0 && py >= 0 && px < c->width && py < c->height) tsr_mip_put(c, px, py, value);
}

/* Does what a coefficient covers reach out of the volume? Then squares would draw where there is nothing. */
TSR_HD int tsr_mip_at_edge(const tsr_mip_job *job, const tsr_mip_cover *cover, int32_t x, int32_t y, int32_t z)
{
    const int32_t *n = job->d.size[0];
    return x + cover->low[0] < 0 || y + cover->low[1] < 0 || z + cover->low[2] < 0 || x + cover->high[0] >= n[0] || y + cover->high[1] >= n[1] ||
           z + cover->high[2] >= n[2];
}

/* Does a coefficient reach the voxel by places within its levels alone? What an element that is no box pushes out of a level may come back into the next, where it
 * was cut off (docs/theory/mip.md 2). From the voxel upwards, one point of the element after the other. */
TSR_MIP_FN int tsr_mip_reached(const tsr_mip_job *job, int32_t level, const int32_t at[3], int32_t x, int32_t y, int32_t z)
{
    int32_t place[TSR_MIP_LEVELS + 1][3] = { { x, y, z } }, next[TSR_MIP_LEVELS + 1] = { 0 }, j = 0;
    while (j >= 0) {
        if (next[j] == job->points) {
            j--;
            continue;
        }
        const int8_t *a = job->point[next[j]++];
        const int32_t px = place[j][0] - a[0], py = place[j][1] - a[1], pz = place[j][2] - a[2];
        if (((px | py | pz) & 1) || !tsr_adjunction_within(job->d.size[j + 1], px >> 1, py >> 1, pz >> 1)) continue;
        if (j + 1 == level) {
            if (px >> 1 == at[0] && py >> 1 == at[1] && pz >> 1 == at[2]) return 1;
            continue;
        }
        j++;
        place[j][0] = px >> 1;
        place[j][1] = py >> 1;
        place[j][2] = pz >> 1;
        next[j] = 0;
    }
    return 0;
}

/* A coefficient in any mode, clipped. */
TSR_MIP_FN void tsr_mip_coefficient(const tsr_mip_job *job, const tsr_mip_canvas *c, int32_t level, const int32_t at[3], uint32_t value)
{
    const tsr_mip_cover *cover = &job->cover[level];
    const int32_t x = at[0] << level, y = at[1] << level, z = at[2] << level;
    const int edge = level && tsr_mip_at_edge(job, cover, x, y, z);
    if (edge ? job->shift : level > job->level_high) return;
    if (job->exact || edge) {
        for (int32_t k = 0; k < cover->voxels; k++) {
            const int32_t vx = x + cover->voxel[3 * k], vy = y + cover->voxel[3 * k + 1], vz = z + cover->voxel[3 * k + 2];
            if (level < 2 || !edge || tsr_mip_reached(job, level, at, vx, vy, vz)) tsr_mip_voxel(job, c, vx, vy, vz, value);
        }
        for (int32_t b = cover->low[2]; b <= cover->high[2] && !cover->voxels; b++)
            for (int32_t a = cover->low[1]; a <= cover->high[1]; a++)
                for (int32_t i = cover->low[0]; i <= cover->high[0]; i++) tsr_mip_voxel(job, c, x + i, y + a, z + b, value);
        return;
    }
    const int64_t u = tsr_mip_dot(job->p.u, x, y, z), v = tsr_mip_dot(job->p.v, x, y, z);
    if (job->shift) {
        const int64_t px = (job->p.anchor_u[level] + u) >> (16 + job->shift), py = (job->p.anchor_v[level] + v) >> (16 + job->shift);
        if (px >= 0 && py >= 0 && px < c->width && py < c->height) tsr_mip_put(c, px, py, value);
    } else if (cover->side[0]) {
        const int64_t half_u = 32768 - 32768 * (int64_t)cover->side[0], half_v = 32768 - 32768 * (int64_t)cover->side[1];
        tsr_mip_rectangle(c, (job->p.anchor_u[level] + u + half_u) >> 16, (job->p.anchor_v[level] + v + half_v) >> 16, cover->side[0], cover->side[1],
                          value);
    } else {
        const int64_t px = (job->p.anchor_u[0] + u) >> 16, py = (job->p.anchor_v[0] + v) >> 16;
        for (int32_t k = 0; k < cover->pixels; k++) tsr_mip_rectangle(c, px + cover->pixel[2 * k], py + cover->pixel[2 * k + 1], 1, 1, value);
    }
}

/* A value as it is drawn, 0 if it is not. */
TSR_HD uint32_t tsr_mip_shown(const tsr_mip_job *job, uint32_t value)
{
    return value < (uint32_t)job->lower ? 0u : value > (uint32_t)job->upper ? (uint32_t)job->most : value;
}

/* ---- bricks ------------------------------------------------------------------------------------------------------------------------------ */

/* Octree coefficients of a brick in the pixels it can touch: u and v count from the corner of that box, and no term of them is negative. */
typedef struct tsr_mip_box {
    int64_t x, y;                                         /* first pixel */
    int32_t width, height;                                /* pixels that can be touched */
    int32_t u[TSR_MIP_LEVELS + 1], v[TSR_MIP_LEVELS + 1]; /* anchor of the brick's first coefficient of a level, exact mode: of its first voxel */
    int32_t inside;                                       /* all of the box lies in the picture */
} tsr_mip_box;

/* Pixels by which what is drawn reaches over a point of a brick's box: a rectangle's half, or a pixel's. */
TSR_HD int32_t tsr_mip_margin(const tsr_mip_job *job, int axis)
{
    const int32_t side = !job->exact && !job->shift ? job->cover[job->level_high].side[axis] : 1;
    return side / 2 + (side > 1);
}

/* What the boxes of all bricks of a job share: u and v of their limits and levels, from the brick's first voxel's U . x. */
TSR_HD void tsr_mip_box_limits(tsr_mip_job *job)
{
    int64_t low[2] = { 0, 0 }, high[2] = { 0, 0 };
    for (int k = 0; k < 3; k++) {
        low[0] += (int64_t)(TSR_CELL_SIDE - 1) * tsr_mini(job->p.u[k], 0);
        high[0] += (int64_t)(TSR_CELL_SIDE - 1) * tsr_maxi(job->p.u[k], 0);
        low[1] += (int64_t)(TSR_CELL_SIDE - 1) * tsr_mini(job->p.v[k], 0);
        high[1] += (int64_t)(TSR_CELL_SIDE - 1) * tsr_maxi(job->p.v[k], 0);
    }
    for (int c = 0; c < 2; c++) {
        const int64_t *anchor = c ? job->p.anchor_v : job->p.anchor_u; /* cascade: one level alone */
        const int64_t margin = (int64_t)tsr_mip_margin(job, c) * 65536;
        job->box_low[c] = anchor[job->shift] + low[c] - margin;
        job->box_high[c] = anchor[job->shift] + high[c] + margin;
        for (int32_t j = 0; j <= TSR_MIP_LEVELS; j++) {
            const int64_t half = job->exact || job->shift ? 0 : 32768 - 32768 * (int64_t)job->cover[j].side[c];
            job->box_level[c][j] = anchor[job->exact ? 0 : j] + half;
        }
    }
}

/* Does a brick's box meet the picture? Levels up to 5. */
TSR_HD int tsr_mip_box_of(const tsr_mip_job *job, int64_t brick, tsr_mip_box *b)
{
    int32_t o[3];
    const int32_t shift = 16 + job->shift;
    tsr_detail_origin(&job->d, brick, 0, o);
    const int64_t at_u = tsr_mip_dot(job->p.u, o[0], o[1], o[2]), at_v = tsr_mip_dot(job->p.v, o[0], o[1], o[2]);
    const int64_t x1 = (at_u + job->box_high[0]) >> shift, y1 = (at_v + job->box_high[1]) >> shift;
    b->x = (at_u + job->box_low[0]) >> shift;
    b->y = (at_v + job->box_low[1]) >> shift;
    b->width = (int32_t)(x1 - b->x) + 1;
    b->height = (int32_t)(y1 - b->y) + 1;
    b->inside = b->x >= 0 && b->y >= 0 && x1 < job->width && y1 < job->height;
    for (int32_t j = job->level_low; j <= job->level_high; j++) {
        b->u[j] = (int32_t)(at_u + job->box_level[0][j] - b->x * ((int64_t)1 << shift));
        b->v[j] = (int32_t)(at_v + job->box_level[1][j] - b->y * ((int64_t)1 << shift));
    }
    return b->x < job->width && b->y < job->height && x1 >= 0 && y1 >= 0;
}

/* Can pixel (x, y) of a brick's box be touched? Only rows within the job's spans may be asked for. */
TSR_HD int tsr_mip_span_has(const tsr_mip_job *job, int32_t x, int32_t y) { return !job->spans || (x >= job->span[y].low && x < job->span[y].high); }

/* Can the coefficients of a brick be drawn by its box? None of them may reach out of the volume. */
TSR_HD int tsr_mip_box_fits(const tsr_mip_job *job, int64_t brick)
{
    int32_t o[3];
    tsr_detail_origin(&job->d, brick, 0, o);
    for (int k = 0; k < 3; k++)
        if (o[k] + TSR_CELL_SIDE > job->d.size[0][k] && (job->d.size[0][k] & ((1 << job->d.levels) - 1))) return 0;
    return 1;
}

/* ---- after drawing ------------------------------------------------------------------------------------------------------------------------ */

/* Offsets in pixels. */
typedef struct tsr_mip_offsets {
    int16_t at[TSR_MIP_POINTS][2];
    int32_t count;
} tsr_mip_offsets;

/* R_{j-1}(x, y) = max(own, expansion of the level picture above by the projected element). */
TSR_HD uint32_t tsr_mip_expand_pixel(const uint32_t *above, int32_t width, int32_t height, const tsr_mip_offsets *o, int32_t x, int32_t y,
                                     uint32_t own)
{
    for (int32_t k = 0; k < o->count; k++) {
        const int32_t a = x - o->at[k][0], b = y - o->at[k][1];
        if (((a | b) & 1) || a < 0 || b < 0 || a >> 1 >= width || b >> 1 >= height) continue;
        const uint32_t v = above[(int64_t)(b >> 1) * width + (a >> 1)];
        own = v > own ? v : own;
    }
    return own;
}

/* The finished picture from the drawn one: its closing (the erosion of `dilated`) everywhere or in holes, every pixel `repeat` times across and down. */
typedef struct tsr_mip_finish {
    const uint32_t *drawn, *dilated; /* dilated NULL: no closing */
    int32_t width, height;           /* of these */
    int32_t stride, left, top;       /* of `drawn`: row length and the place of its first pixel */
    int32_t holes, repeat[2];
    tsr_mip_offsets element;
    uint32_t *picture;
    int32_t picture_width, picture_height;
} tsr_mip_finish;

TSR_HD uint32_t tsr_mip_drawn(const tsr_mip_finish *f, int32_t x, int32_t y) { return f->drawn[(int64_t)(y + f->top) * f->stride + x + f->left]; }

TSR_HD uint32_t tsr_mip_finish_pixel(const tsr_mip_finish *f, int32_t picture_x, int32_t picture_y)
{
    const int32_t x = picture_x / f->repeat[0], y = picture_y / f->repeat[1];
    const uint32_t v = tsr_mip_drawn(f, x, y);
    if (!f->dilated || (f->holes && v)) return v;
    uint32_t closed = UINT32_MAX;
    for (int32_t k = 0; k < f->element.count; k++) {
        const int32_t a = x + f->element.at[k][0], b = y + f->element.at[k][1];
        if ((uint32_t)a >= (uint32_t)f->width || (uint32_t)b >= (uint32_t)f->height) continue;
        const uint32_t d = f->dilated[(int64_t)b * f->width + a];
        closed = d < closed ? d : closed;
    }
    return closed == UINT32_MAX ? v : closed;
}
/* The drawn picture dilated; its margins are not part of it. Pixels outside are skipped, here and in the erosion. */
TSR_HD uint32_t tsr_mip_dilate_pixel(const tsr_mip_finish *f, int32_t x, int32_t y)
{
    uint32_t best = 0;
    for (int32_t k = 0; k < f->element.count; k++) {
        const int32_t a = x - f->element.at[k][0], b = y - f->element.at[k][1];
        if ((uint32_t)a >= (uint32_t)f->width || (uint32_t)b >= (uint32_t)f->height) continue;
        const uint32_t v = tsr_mip_drawn(f, a, b);
        best = v > best ? v : best;
    }
    return best;
}

#endif
