/* volume/filter_math.h: the formulas of the dense volume operations: one voxel or one row, the same bits on every backend. */
#ifndef TSR_VOLUME_FILTER_MATH_H
#define TSR_VOLUME_FILTER_MATH_H

#include "core/hd.h"
#include "volume/voxel.h"
#include "tessera/filter.h"

/* Index of the sample that stands for index i of a row of n; -1: the constant. */
TSR_HD int64_t tsr_border_index(int64_t i, int64_t n, tsr_border border)
{
    if (i >= 0 && i < n) return i;
    if (border == TSR_BORDER_CONSTANT) return -1;
    if (border == TSR_BORDER_REPLICATE) return i < 0 ? 0 : n - 1;
    int64_t period = 2 * (n - 1);
    if (period == 0) return 0;
    i %= period;
    if (i < 0) i += period;
    return i < n ? i : period - i;
}

TSR_HD int64_t tsr_clamp_index(int64_t i, int64_t n) { return i < 0 ? 0 : i < n ? i : n - 1; }

/* Moves voxels: output index o along output axis a reads input index offset[a] + o (or offset[a] - o) along input axis axes[a]. */
typedef struct tsr_rearrange {
    int64_t size[3], input_size[3]; /* of output and input, each by its own axes */
    int32_t axes[3], flip[3];
    int64_t offset[3];              /* by output axis */
    tsr_border border;
    uint64_t value;                 /* element of TSR_BORDER_CONSTANT in its first bytes */
} tsr_rearrange;

/* Linear contribution of output index o of axis a to the input position; -1: the constant. */
TSR_HD int64_t tsr_rearrange_axis(const tsr_rearrange *p, int a, int64_t o)
{
    int32_t axis = p->axes[a];
    int64_t i = tsr_border_index(p->flip[a] ? p->offset[a] - o : p->offset[a] + o, p->input_size[axis], p->border);
    if (i < 0) return -1;
    return axis == 0 ? i : axis == 1 ? i * p->input_size[0] : i * p->input_size[0] * p->input_size[1];
}

/* ---- smoothing: symmetric taps, centre first, then pairs outwards ------------------------------------------------------------------ */

/* Macros, because the CPU applies them to SIMD vectors. */
#define TSR_TAP_CENTRE(w, v) ((w) * (v))
#define TSR_TAP_PAIR(sum, w, below, above) ((sum) + (w) * ((below) + (above)))

/* Second differences; c centre, the rest face neighbours; i* = 1/h^2. */
TSR_HD float tsr_laplacian7(float c, float xm, float xp, float ym, float yp, float zm, float zp, float ix, float iy, float iz)
{
    float two = c + c;
    return ((xm + xp) - two) * ix + ((ym + yp) - two) * iy + ((zm + zp) - two) * iz;
}

/* ---- resampling -------------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_resample_plan {
    int64_t size[3], input_size[3];
    double matrix[3][4];            /* target index to input index */
    tsr_interpolation interpolation;
    int32_t constant;               /* outside samples take `value`; else replicate */
    double value;                   /* stored (unscaled) value */
} tsr_resample_plan;

TSR_HD int64_t tsr_floor_index(double v)
{
    int64_t i = (int64_t)v;
    return (double)i > v ? i - 1 : i;
}

/* Input position along axis r of target index (x, y, z): the part of y and z first, as a row loop has it. */
TSR_HD double tsr_resample_row(const tsr_resample_plan *p, int r, double y, double z)
{
    return (p->matrix[r][1] * y + p->matrix[r][2] * z) + p->matrix[r][3];
}
TSR_HD double tsr_resample_position(const tsr_resample_plan *p, int r, double row, double x) { return p->matrix[r][0] * x + row; }

/* Outside by more than half a voxel (the outer faces belong to the volume). */
TSR_HD int tsr_resample_outside(double v, int64_t n) { return !(v >= -0.5 && v <= (double)n - 0.5); }

/* Taps of one axis: first input index and weights; 1, 2 or 4 of them. Positions far outside are clamped before they become integers. */
TSR_HD int tsr_resample_taps(tsr_interpolation interpolation, double v, int64_t n, int64_t *first, double w[4])
{
    double top = (double)n;
    v = !(v >= -1.0) ? -1.0 : v > top ? top : v; /* NaN too: an overflown position is far outside */
    if (interpolation == TSR_INTERPOLATE_NEAREST) {
        *first = tsr_clamp_index(tsr_floor_index(v + 0.5), n);
        w[0] = 1.0;
        return 1;
    }
    v = v < 0.0 ? 0.0 : v > top - 1.0 ? top - 1.0 : v; /* replicate */
    int64_t i = tsr_floor_index(v);
    double f = v - (double)i;
    if (interpolation != TSR_INTERPOLATE_CUBIC) {
        *first = i;
        w[0] = 1.0 - f;
        w[1] = f;
        return 2;
    }
    *first = i - 1;
    w[0] = f * (f * (1.0 - 0.5 * f) - 0.5);
    w[1] = 1.0 + f * f * (1.5 * f - 2.5);
    w[2] = f * (0.5 + f * (2.0 - 1.5 * f));
    w[3] = f * f * (0.5 * f - 0.5);
    return 4;
}

/* Weighted sum in the order of the taps; linear as a + f (b - a), exact at both ends and for constants. */
TSR_HD double tsr_resample_sum(int taps, const double *w, const double *v)
{
    if (taps == 1) return v[0];
    if (taps == 2) return v[0] + w[1] * (v[1] - v[0]);
    return ((w[0] * v[0] + w[1] * v[1]) + w[2] * v[2]) + w[3] * v[3];
}

/* One target voxel: sums along z inside, then y, then x. */
TSR_HD void tsr_resample_voxel(const tsr_resample_plan *p, const void *from, tsr_dtype dtype, void *to, int64_t out, const double position[3])
{
    if (p->constant && (tsr_resample_outside(position[0], p->input_size[0]) || tsr_resample_outside(position[1], p->input_size[1]) ||
                        tsr_resample_outside(position[2], p->input_size[2]))) {
        tsr_voxel_store(to, dtype, out, p->value);
        return;
    }
    int64_t first[3];
    double w[3][4] = { { 0.0 } };
    int taps = tsr_resample_taps(p->interpolation, position[0], p->input_size[0], &first[0], w[0]);
    tsr_resample_taps(p->interpolation, position[1], p->input_size[1], &first[1], w[1]);
    tsr_resample_taps(p->interpolation, position[2], p->input_size[2], &first[2], w[2]);
    if (taps == 1) {
        tsr_voxel_copy(from, dtype, to, out, (first[2] * p->input_size[1] + first[1]) * p->input_size[0] + first[0]);
        return;
    }
    double along_x[4] = { 0.0 };
    for (int i = 0; i < taps; i++) {
        int64_t x = tsr_clamp_index(first[0] + i, p->input_size[0]);
        double along_y[4] = { 0.0 };
        for (int j = 0; j < taps; j++) {
            int64_t y = tsr_clamp_index(first[1] + j, p->input_size[1]);
            double along_z[4] = { 0.0 };
            for (int k = 0; k < taps; k++)
                along_z[k] =
                    tsr_voxel_load(from, dtype, (tsr_clamp_index(first[2] + k, p->input_size[2]) * p->input_size[1] + y) * p->input_size[0] + x);
            along_y[j] = tsr_resample_sum(taps, w[2], along_z);
        }
        along_x[i] = tsr_resample_sum(taps, w[1], along_y);
    }
    tsr_voxel_store(to, dtype, out, tsr_resample_sum(taps, w[0], along_x));
}

/* Where in the input the label with the largest sum of linear weights lies, of equals the one met first (lower z, then y, then x). */
TSR_HD int64_t tsr_resample_label(const tsr_resample_plan *p, const void *from, tsr_dtype dtype, const int64_t first[3], double w[3][4])
{
    int64_t at[8], best = 0;
    double weight[8];
    for (int t = 0; t < 8; t++) {
        const int64_t x = tsr_clamp_index(first[0] + (t & 1), p->input_size[0]), y = tsr_clamp_index(first[1] + (t >> 1 & 1), p->input_size[1]);
        const int64_t z = tsr_clamp_index(first[2] + (t >> 2), p->input_size[2]);
        at[t] = (z * p->input_size[1] + y) * p->input_size[0] + x;
        weight[t] = (w[0][t & 1] * w[1][t >> 1 & 1]) * w[2][t >> 2];
        for (int k = 0; k < t; k++) /* the first voxel of a label gathers its weights */
            if (tsr_voxel_same(from, dtype, at[k], at[t])) {
                weight[k] = weight[k] + weight[t];
                weight[t] = 0.0;
                break;
            }
    }
    for (int t = 1; t < 8; t++)
        if (weight[t] > weight[best]) best = t;
    return at[best];
}

/* One target voxel of TSR_INTERPOLATE_LABEL. */
TSR_HD void tsr_resample_label_voxel(const tsr_resample_plan *p, const void *from, tsr_dtype dtype, void *to, int64_t out, const double position[3])
{
    int64_t first[3];
    double w[3][4];
    int outside = 0;
    for (int a = 0; a < 3; a++) {
        outside |= tsr_resample_outside(position[a], p->input_size[a]);
        tsr_resample_taps(p->interpolation, position[a], p->input_size[a], &first[a], w[a]);
    }
    if (p->constant && outside) tsr_voxel_store(to, dtype, out, p->value);
    else tsr_voxel_copy(from, dtype, to, out, tsr_resample_label(p, from, dtype, first, w));
}

/* ---- statistics: blocks of 32 rows of 256 lanes; each lane sums its column, lanes and then blocks meet in a binary tree -------------- */

enum { TSR_STATISTICS_LANES = 256, TSR_STATISTICS_ROWS = 32, TSR_STATISTICS_BLOCK = TSR_STATISTICS_LANES * TSR_STATISTICS_ROWS };

typedef struct tsr_block_statistics {
    double mean, m2, minimum, maximum; /* m2: sum of squared deviations from the mean */
    int64_t count, nan_count, infinite_count, first_nonfinite; /* first: INT64_MAX if none */
} tsr_block_statistics;

TSR_HD int tsr_is_finite(double v) { return v - v == 0.0; }

/* 1 for the bits of a NaN or infinity: the exponent is all ones. */
TSR_HD uint32_t tsr_nonfinite_float(uint32_t bits) { return (bits & 0x7f800000u) == 0x7f800000u; }
TSR_HD uint64_t tsr_nonfinite_double(uint64_t bits) { return (bits & 0x7ff0000000000000ull) == 0x7ff0000000000000ull; }

/* What a lane gathers from finite values; the caller skips the others. */
TSR_HD double tsr_lane_add(double sum, double v) { return sum + v; }
TSR_HD double tsr_lane_minimum(double minimum, double v) { return v < minimum ? v : minimum; }
TSR_HD double tsr_lane_maximum(double maximum, double v) { return v > maximum ? v : maximum; }
TSR_HD double tsr_lane_square(double sum, double v, double mean) { return sum + (v - mean) * (v - mean); }
#define TSR_LARGEST 1.7976931348623157e308
#define TSR_NO_INDEX 9223372036854775807ll

/* Chan, Golub, LeVeque 1983. */
TSR_HD void tsr_statistics_merge(tsr_block_statistics *a, const tsr_block_statistics *b)
{
    a->nan_count += b->nan_count;
    a->infinite_count += b->infinite_count;
    if (b->first_nonfinite < a->first_nonfinite) a->first_nonfinite = b->first_nonfinite;
    if (b->count == 0) return;
    if (a->count == 0) {
        a->mean = b->mean;
        a->m2 = b->m2;
        a->minimum = b->minimum;
        a->maximum = b->maximum;
        a->count = b->count;
        return;
    }
    double na = (double)a->count, nb = (double)b->count, n = na + nb, delta = b->mean - a->mean;
    a->mean = a->mean + delta * (nb / n);
    a->m2 = (a->m2 + b->m2) + delta * delta * (na * nb / n);
    if (b->minimum < a->minimum) a->minimum = b->minimum;
    if (b->maximum > a->maximum) a->maximum = b->maximum;
    a->count += b->count;
}

/* ---- histogram, threshold, arithmetic ------------------------------------------------------------------------------------------------ */

typedef struct tsr_histogram_plan { double lower, upper, scale; int32_t bins; } tsr_histogram_plan;

TSR_HD int32_t tsr_histogram_bin(const tsr_histogram_plan *p, double v)
{
    if (!(v == v)) return p->bins + 2;
    if (v < p->lower) return p->bins;
    if (v > p->upper) return p->bins + 1;
    int32_t bin = (int32_t)((v - p->lower) * p->scale);
    return bin < p->bins ? bin : p->bins - 1;
}

TSR_HD uint8_t tsr_in_interval(double v, double lower, double upper) { return (uint8_t)(v >= lower && v <= upper); }

TSR_HD float tsr_combine_value(tsr_combination combination, double a, double p, double b, double q, double c)
{
    double u = a * p, v = b * q;
    double r = combination == TSR_COMBINE_LINEAR     ? u + v
               : combination == TSR_COMBINE_MULTIPLY ? u * v
               : combination == TSR_COMBINE_MINIMUM  ? (u < v ? u : v)
                                                     : (u > v ? u : v);
    return (float)(r + c);
}

#endif
