/* render/batch.h: many samples of a dense volume at a time on the CPU, in loops that become vector code, with the bits of field.h and transfer.h. */
#ifndef TSR_RENDER_BATCH_H
#define TSR_RENDER_BATCH_H

#include "render/march.h"

enum { TSR_LANES = 32 };
/* The lanes of the next loop do not depend on each other. (Not `omp simd`: it keeps variables whose address is taken in arrays of lanes.) */
#if defined(__clang__)
#define TSR_LANES_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define TSR_LANES_LOOP _Pragma("GCC ivdep")
#endif
#define TSR_BATCH_FN TSR_INLINE

typedef struct tsr_batch {
    int32_t count, k[TSR_LANES], steep[TSR_LANES];
    float t[TSR_LANES], length[TSR_LANES], x[TSR_LANES], y[TSR_LANES], z[TSR_LANES]; /* index positions */
    float px[TSR_LANES], py[TSR_LANES], pz[TSR_LANES];                               /* frame positions, where a region or a level is looked up */
    float behind[TSR_LANES];                                                         /* value at the end of the piece, of pre-integrated tables */
    float value[TSR_LANES], gx[TSR_LANES], gy[TSR_LANES], gz[TSR_LANES], slope[TSR_LANES], level[TSR_LANES];
    float a[TSR_LANES], r[TSR_LANES], g[TSR_LANES], b[TSR_LANES];
} tsr_batch;

/* The points of a transfer function one array each, so that lanes can look them up. */
typedef struct tsr_points {
    float value[TSR_TRANSFER_MOST_POINTS], alpha[TSR_TRANSFER_MOST_POINTS], r[TSR_TRANSFER_MOST_POINTS], g[TSR_TRANSFER_MOST_POINTS],
        b[TSR_TRANSFER_MOST_POINTS];
} tsr_points;

/* Indices of voxels fit 32 bits, and there is a cell along every axis. */
TSR_BATCH_FN int tsr_batch_fits(const tsr_field *f)
{
    return f->kind == TSR_FIELD_DENSE && f->size[0] > 1 && f->size[1] > 1 && f->size[2] > 1 &&
           (int64_t)f->size[0] * f->size[1] * f->size[2] <= 0x7fffffff;
}

/* Lanes that a loop over n samples takes: whole vectors, so that nothing is left over. Arrays are filled so far; positions of any kind are clamped. */
TSR_BATCH_FN int32_t tsr_batch_whole(int32_t n) { return (n + 15) & ~15; }

/* tsr_field_value of the lanes. The cells' voxels are fetched as pairs along x, which costs half as much as gathering single ones. */
static __attribute__((noinline)) void tsr_batch_values(const tsr_field *f, const float *x, const float *y, const float *z, int32_t n, float *value)
{
    const float *v = f->values;
    const int32_t sx = f->size[0], sy = f->size[1], sz = f->size[2], whole = tsr_batch_whole(n);
    const int64_t dy = sx, dz = (int64_t)sx * sy;
    int32_t at[TSR_LANES];
    float fx[TSR_LANES], fy[TSR_LANES], fz[TSR_LANES], pair[4][2 * TSR_LANES]; /* pair: rows (y, z) = 00 10 01 11 */
    TSR_LANES_LOOP
    for (int32_t i = 0; i < whole; i++) {
        int32_t cx, cy, cz;
        tsr_cell(x[i], sx, &cx, &fx[i]);
        tsr_cell(y[i], sy, &cy, &fy[i]);
        tsr_cell(z[i], sz, &cz, &fz[i]);
        at[i] = (cz * sy + cy) * sx + cx;
    }
    for (int32_t i = 0; i < whole; i++) {
        const float *from = v + at[i];
        memcpy(&pair[0][2 * i], from, 2 * sizeof *from);
        memcpy(&pair[1][2 * i], from + dy, 2 * sizeof *from);
        memcpy(&pair[2][2 * i], from + dz, 2 * sizeof *from);
        memcpy(&pair[3][2 * i], from + dz + dy, 2 * sizeof *from);
    }
    TSR_LANES_LOOP
    for (int32_t i = 0; i < whole; i++) {
        const float c[8] = { pair[0][2 * i], pair[0][2 * i + 1], pair[1][2 * i], pair[1][2 * i + 1],
                             pair[2][2 * i], pair[2][2 * i + 1], pair[3][2 * i], pair[3][2 * i + 1] };
        value[i] = tsr_trilinear(c, fx[i], fy[i], fz[i]);
    }
}

/* tsr_field_gradient of the lanes, and its length. */
static __attribute__((noinline)) void tsr_batch_gradients(const tsr_field *f, tsr_batch *s, int32_t n)
{
    const int32_t whole = tsr_batch_whole(n);
    float at[3][2][TSR_LANES], value[2][TSR_LANES], g[3][TSR_LANES]; /* at: one voxel down and up the axis */
    const float *p[3] = { s->x, s->y, s->z };
    for (int32_t k = 0; k < 3; k++) {
        const float most = (float)(f->size[k] - 1);
        TSR_LANES_LOOP
        for (int32_t i = 0; i < whole; i++) {
            at[k][0][i] = tsr_maxf(p[k][i] - 1.0f, 0.0f);
            at[k][1][i] = tsr_minf(p[k][i] + 1.0f, most);
        }
        for (int32_t side = 0; side < 2; side++)
            tsr_batch_values(f, k == 0 ? at[0][side] : s->x, k == 1 ? at[1][side] : s->y, k == 2 ? at[2][side] : s->z, n, value[side]);
        TSR_LANES_LOOP
        for (int32_t i = 0; i < whole; i++) {
            const float low = at[k][0][i], high = at[k][1][i], d = (value[1][i] - value[0][i]) / (high - low);
            g[k][i] = high > low ? d : 0.0f;
        }
    }
    TSR_LANES_LOOP
    for (int32_t i = 0; i < whole; i++) {
        tsr_float3 w = tsr_field_covector(f, tsr_f3(g[0][i], g[1][i], g[2][i]));
        s->gx[i] = w.x;
        s->gy[i] = w.y;
        s->gz[i] = w.z;
        s->slope[i] = tsr_sqrt(tsr_dot3(w, w));
    }
}

TSR_BATCH_FN void tsr_points_take(const tsr_transfer_linear *transfer, tsr_points *points)
{
    for (int32_t i = 0; i < transfer->points; i++) {
        points->value[i] = transfer->point[i].value;
        points->alpha[i] = transfer->point[i].alpha;
        points->r[i] = transfer->point[i].color.x;
        points->g[i] = transfer->point[i].color.y;
        points->b[i] = transfer->point[i].color.z;
    }
}

/* tsr_transfer_evaluate of the lanes. */
static __attribute__((noinline)) void tsr_batch_transfer(const tsr_transfer_linear *f, const tsr_points *p, tsr_batch *s, int32_t n)
{
    const int32_t whole = tsr_batch_whole(n);
    const int32_t points = f->points, last = points - 1;
    if (points == 0) {
        TSR_LANES_LOOP
        for (int32_t i = 0; i < whole; i++) s->a[i] = s->r[i] = s->g[i] = s->b[i] = 0.0f;
    }
    /* The points on both sides of the value, picked one after the other, which costs less than gathering them; no need to pick those that are below or
     * above all lanes: samples next to each other mostly lie between the same points. */
    if (points > 0) {
        const float lowest = p->value[0], highest = p->value[last];
        int32_t base = 0, top = 0;
        for (int32_t k = 1; k < points; k++) {
            const float bound = p->value[k];
            int32_t above = 0;
            TSR_LANES_LOOP
            for (int32_t i = 0; i < whole; i++) above += s->value[i] > bound;
            base += above == whole;
            top += above > 0;
        }
        const int32_t second = tsr_mini(base + 1, last);
        float v0[TSR_LANES], v1[TSR_LANES], a1[TSR_LANES], r1[TSR_LANES], g1[TSR_LANES], b1[TSR_LANES];
        TSR_LANES_LOOP
        for (int32_t i = 0; i < whole; i++) {
            v0[i] = p->value[base];
            s->a[i] = p->alpha[base];
            s->r[i] = p->r[base];
            s->g[i] = p->g[base];
            s->b[i] = p->b[base];
            v1[i] = p->value[second];
            a1[i] = p->alpha[second];
            r1[i] = p->r[second];
            g1[i] = p->g[second];
            b1[i] = p->b[second];
        }
        for (int32_t k = base + 1; k <= top; k++) {
            const int32_t next = tsr_mini(k + 1, last);
            const float bound = p->value[k];
            TSR_LANES_LOOP
            for (int32_t i = 0; i < whole; i++) {
                const int32_t above = s->value[i] > bound;
                v0[i] = above ? bound : v0[i];
                s->a[i] = above ? p->alpha[k] : s->a[i];
                s->r[i] = above ? p->r[k] : s->r[i];
                s->g[i] = above ? p->g[k] : s->g[i];
                s->b[i] = above ? p->b[k] : s->b[i];
                v1[i] = above ? p->value[next] : v1[i];
                a1[i] = above ? p->alpha[next] : a1[i];
                r1[i] = above ? p->r[next] : r1[i];
                g1[i] = above ? p->g[next] : g1[i];
                b1[i] = above ? p->b[next] : b1[i];
            }
        }
        TSR_LANES_LOOP
        for (int32_t i = 0; i < whole; i++) {
            const float v = s->value[i], t = tsr_transfer_share(v, v0[i], v1[i]);
            const tsr_float3 mixed = tsr_mix3(tsr_f3(s->r[i], s->g[i], s->b[i]), tsr_f3(r1[i], g1[i], b1[i]), t);
            const float alpha = tsr_transfer_between(s->a[i], a1[i], t);
            const int32_t between = (v > lowest) & !(v > highest);
            s->r[i] = between ? mixed.x : s->r[i];
            s->g[i] = between ? mixed.y : s->g[i];
            s->b[i] = between ? mixed.z : s->b[i];
            s->a[i] = between ? alpha : s->a[i];
        }
    }
    if (f->gaussians > 0) {
        TSR_LANES_LOOP
        for (int32_t i = 0; i < whole; i++) {
            s->r[i] *= s->a[i];
            s->g[i] *= s->a[i];
            s->b[i] *= s->a[i];
        }
        for (int32_t k = 0; k < f->gaussians; k++) {
            const tsr_float3 color = f->gaussian[k].color;
            float square[TSR_LANES], exponent[TSR_LANES];
            if (f->general && f->gaussian[k].shape != 0) {
                const int32_t shape = f->gaussian[k].shape;
                TSR_LANES_LOOP
                for (int32_t i = 0; i < whole; i++) {
                    const tsr_float3 at = tsr_transfer_axes(f, k, s->value[i], s->slope[i], s->level[i]);
                    const float a = f->gaussian[k].alpha * tsr_transfer_block(shape, at);
                    s->a[i] += a;
                    s->r[i] += color.x * a;
                    s->g[i] += color.y * a;
                    s->b[i] += color.z * a;
                }
                continue;
            }
            if (f->general) {
                TSR_LANES_LOOP
                for (int32_t i = 0; i < whole; i++) square[i] = tsr_transfer_norm(tsr_transfer_axes(f, k, s->value[i], s->slope[i], s->level[i]));
            } else {
                TSR_LANES_LOOP
                for (int32_t i = 0; i < whole; i++) square[i] = tsr_transfer_square(f, k, s->value[i], s->slope[i]);
            }
            TSR_LANES_LOOP
            for (int32_t i = 0; i < whole; i++) exponent[i] = tsr_exp2_clamp(tsr_expf_exponent(-square[i]));
            TSR_LANES_LOOP
            for (int32_t i = 0; i < whole; i++) exponent[i] = tsr_exp2_within(exponent[i]);
            TSR_LANES_LOOP
            for (int32_t i = 0; i < whole; i++) {
                const float a = tsr_transfer_bump(f->gaussian[k].alpha, square[i], exponent[i]);
                s->a[i] += a;
                s->r[i] += color.x * a;
                s->g[i] += color.y * a;
                s->b[i] += color.z * a;
            }
        }
        TSR_LANES_LOOP
        for (int32_t i = 0; i < whole; i++) {
            const float scale = 1.0f / s->a[i];
            s->r[i] *= scale;
            s->g[i] *= scale;
            s->b[i] *= scale;
        }
    }
    TSR_LANES_LOOP
    for (int32_t i = 0; i < whole; i++) s->a[i] = s->value[i] == s->value[i] ? tsr_minf(s->a[i], 1.0f) : 0.0f;
}

#endif
