/* volume/filter_isa.c: compiled once per SIMD variant. The element type is decided once per row, so that every loop is a plain vector loop. */
#include "volume/filter_isa.h"

#include "core/simd.h"

#define LOADS(CASE)                                                                                                                            \
    CASE(TSR_U8, uint8_t)                                                                                                                      \
    CASE(TSR_I8, int8_t) CASE(TSR_U16, uint16_t) CASE(TSR_I16, int16_t) CASE(TSR_U32, uint32_t) CASE(TSR_I32, int32_t) CASE(TSR_U64, uint64_t) \
        CASE(TSR_I64, int64_t) CASE(TSR_F32, float) CASE(TSR_F64, double)

void TSR_ISA_NAME(tsr_row_load)(const tsr_source *from, int64_t begin, int64_t n, double *TSR_RESTRICT out)
{
    const double slope = from->slope, intercept = from->intercept;
#define CASE(tag, type)                                                                          \
    case tag: {                                                                                  \
        const type *TSR_RESTRICT p = (const type *)from->data + begin;                           \
        for (int64_t i = 0; i < n; i++) out[i] = tsr_voxel_real((double)p[i], slope, intercept); \
        break;                                                                                   \
    }
    switch (from->dtype) {
        LOADS(CASE)
    default: break;
    }
#undef CASE
}

void TSR_ISA_NAME(tsr_row_load_float)(const tsr_source *from, int64_t begin, int64_t n, float *TSR_RESTRICT out)
{
    const double slope = from->slope, intercept = from->intercept;
#define CASE(tag, type)                                                                                 \
    case tag: {                                                                                         \
        const type *TSR_RESTRICT p = (const type *)from->data + begin;                                  \
        for (int64_t i = 0; i < n; i++) out[i] = (float)tsr_voxel_real((double)p[i], slope, intercept); \
        break;                                                                                          \
    }
    switch (from->dtype) {
        LOADS(CASE)
    default: break;
    }
#undef CASE
}

/* With the type a constant, tsr_voxel_store's switch disappears and the loop is a vector loop. */
void TSR_ISA_NAME(tsr_row_store)(const double *TSR_RESTRICT in, int64_t n, void *TSR_RESTRICT to, tsr_dtype dtype, int64_t begin)
{
#define CASE(tag, type)                                                    \
    case tag: {                                                            \
        type *TSR_RESTRICT p = (type *)to + begin;                         \
        for (int64_t i = 0; i < n; i++) tsr_voxel_store(p, tag, i, in[i]); \
        break;                                                             \
    }
    switch (dtype) {
        LOADS(CASE)
    default: break;
    }
#undef CASE
}

enum { LANES = TSR_WIDE_32, STEP = 4 * LANES };

void TSR_ISA_NAME(tsr_row_taps)(float *out, const float *const *below, const float *const *above, const float *w, int64_t radius, int64_t n)
{
    const float *centre = below[0];
    int64_t i = 0;
    for (; i + STEP <= n; i += STEP) { /* four vectors at once: enough independent sums to hide the latency of an addition */
        tsr_wide_f32_at s0 = TSR_TAP_CENTRE(w[0], tsr_wide_load(centre + i)), s1 = TSR_TAP_CENTRE(w[0], tsr_wide_load(centre + i + LANES));
        tsr_wide_f32_at s2 = TSR_TAP_CENTRE(w[0], tsr_wide_load(centre + i + 2 * LANES)),
                        s3 = TSR_TAP_CENTRE(w[0], tsr_wide_load(centre + i + 3 * LANES));
        for (int64_t k = 1; k <= radius; k++) {
            const float *a = below[k] + i, *b = above[k] + i;
            s0 = TSR_TAP_PAIR(s0, w[k], tsr_wide_load(a), tsr_wide_load(b));
            s1 = TSR_TAP_PAIR(s1, w[k], tsr_wide_load(a + LANES), tsr_wide_load(b + LANES));
            s2 = TSR_TAP_PAIR(s2, w[k], tsr_wide_load(a + 2 * LANES), tsr_wide_load(b + 2 * LANES));
            s3 = TSR_TAP_PAIR(s3, w[k], tsr_wide_load(a + 3 * LANES), tsr_wide_load(b + 3 * LANES));
        }
        tsr_wide_store(out + i, s0);
        tsr_wide_store(out + i + LANES, s1);
        tsr_wide_store(out + i + 2 * LANES, s2);
        tsr_wide_store(out + i + 3 * LANES, s3);
    }
    for (; i < n; i++) {
        float sum = TSR_TAP_CENTRE(w[0], centre[i]);
        for (int64_t k = 1; k <= radius; k++) sum = TSR_TAP_PAIR(sum, w[k], below[k][i], above[k][i]);
        out[i] = sum;
    }
}

void TSR_ISA_NAME(tsr_row_laplacian)(float *TSR_RESTRICT out, const float *const rows[5], const float inverse[3], int64_t n)
{
    const float *c = rows[0], *ym = rows[1], *yp = rows[2], *zm = rows[3], *zp = rows[4], ix = inverse[0], iy = inverse[1], iz = inverse[2];
    for (int64_t i = 1; i < n - 1; i++) out[i] = tsr_laplacian7(c[i], c[i - 1], c[i + 1], ym[i], yp[i], zm[i], zp[i], ix, iy, iz);
    for (int64_t i = 0; i<n; i += n> 1 ? n - 1 : 1)
        out[i] = tsr_laplacian7(c[i], c[tsr_clamp_index(i - 1, n)], c[tsr_clamp_index(i + 1, n)], ym[i], yp[i], zm[i], zp[i], ix, iy, iz);
}

void TSR_ISA_NAME(tsr_row_blend)(double *TSR_RESTRICT out, int taps, const double *w, const double *const rows[4], int64_t n)
{
    for (int64_t i = 0; i < n && taps == 2; i++) {
        double v[2] = { rows[0][i], rows[1][i] };
        out[i] = tsr_resample_sum(2, w, v);
    }
    for (int64_t i = 0; i < n && taps == 4; i++) {
        double v[4] = { rows[0][i], rows[1][i], rows[2][i], rows[3][i] };
        out[i] = tsr_resample_sum(4, w, v);
    }
}

void TSR_ISA_NAME(tsr_row_gather)(double *TSR_RESTRICT out, int taps, const double *in, const int32_t *index, const double *weights, int64_t n)
{
    for (int64_t i = 0; i < n && taps == 2; i++) {
        double v[2] = { in[index[i]], in[index[n + i]] }, w[2] = { weights[i], weights[n + i] };
        out[i] = tsr_resample_sum(2, w, v);
    }
    for (int64_t i = 0; i < n && taps == 4; i++) {
        double v[4] = { in[index[i]], in[index[n + i]], in[index[2 * n + i]], in[index[3 * n + i]] };
        double w[4] = { weights[i], weights[n + i], weights[2 * n + i], weights[3 * n + i] };
        out[i] = tsr_resample_sum(4, w, v);
    }
}

/* One block of statistics. Whole rows of finite values are vector loops; the last row and blocks with other values go one by one, with the same
 * sums in the same order. */
struct lanes {
    double sum[TSR_STATISTICS_LANES], lower[TSR_STATISTICS_LANES], upper[TSR_STATISTICS_LANES];
};

static void lanes_take(struct lanes *TSR_RESTRICT l, const double *TSR_RESTRICT p)
{
    for (int j = 0; j < TSR_STATISTICS_LANES; j++) {
        l->sum[j] = tsr_lane_add(l->sum[j], p[j]);
        l->lower[j] = tsr_lane_minimum(l->lower[j], p[j]);
        l->upper[j] = tsr_lane_maximum(l->upper[j], p[j]);
    }
}

static void lanes_square(double *TSR_RESTRICT square, const double *TSR_RESTRICT p, double mean)
{
    for (int j = 0; j < TSR_STATISTICS_LANES; j++) square[j] = tsr_lane_square(square[j], p[j], mean);
}

static void lanes_fold(double *sum)
{
    for (int half = TSR_STATISTICS_LANES / 2; half > 0; half /= 2)
        for (int j = 0; j < half; j++) sum[j] = tsr_lane_add(sum[j], sum[j + half]);
}

void TSR_ISA_NAME(tsr_row_statistics)(const double *v, int64_t n, int64_t first, tsr_block_statistics *block)
{
    struct lanes l = { { 0 }, { 0 }, { 0 } };
    double square[TSR_STATISTICS_LANES] = { 0 };
    int64_t bad = 0;
    for (int64_t i = 0; i < n; i++) bad += !tsr_is_finite(v[i]);
    int64_t whole = bad ? 0 : n / TSR_STATISTICS_LANES * TSR_STATISTICS_LANES;
    *block = (tsr_block_statistics){ .count = n - bad, .first_nonfinite = TSR_NO_INDEX };
    for (int j = 0; j < TSR_STATISTICS_LANES; j++) {
        l.lower[j] = TSR_LARGEST;
        l.upper[j] = -TSR_LARGEST;
    }
    for (int64_t i = 0; i < whole; i += TSR_STATISTICS_LANES) lanes_take(&l, v + i);
    for (int64_t i = whole; i < n; i++) {
        int64_t j = i % TSR_STATISTICS_LANES;
        if (tsr_is_finite(v[i])) {
            l.sum[j] = tsr_lane_add(l.sum[j], v[i]);
            l.lower[j] = tsr_lane_minimum(l.lower[j], v[i]);
            l.upper[j] = tsr_lane_maximum(l.upper[j], v[i]);
        } else {
            if (block->first_nonfinite == TSR_NO_INDEX) block->first_nonfinite = first + i;
            if (v[i] == v[i]) block->infinite_count++;
            else block->nan_count++;
        }
    }
    if (!block->count) return;
    lanes_fold(l.sum);
    for (int half = TSR_STATISTICS_LANES / 2; half > 0; half /= 2)
        for (int j = 0; j < half; j++) {
            l.lower[j] = tsr_lane_minimum(l.lower[j], l.lower[j + half]);
            l.upper[j] = tsr_lane_maximum(l.upper[j], l.upper[j + half]);
        }
    block->mean = l.sum[0] / (double)block->count;
    block->minimum = l.lower[0];
    block->maximum = l.upper[0];
    for (int64_t i = 0; i < whole; i += TSR_STATISTICS_LANES) lanes_square(square, v + i, block->mean);
    for (int64_t i = whole; i < n; i++)
        if (tsr_is_finite(v[i])) square[i % TSR_STATISTICS_LANES] = tsr_lane_square(square[i % TSR_STATISTICS_LANES], v[i], block->mean);
    lanes_fold(square);
    block->m2 = square[0];
}

int TSR_ISA_NAME(tsr_row_nonfinite)(const void *data, tsr_dtype dtype, int64_t begin, int64_t n)
{
    uint32_t bad = 0;
    uint64_t bad_wide = 0;
    if (dtype == TSR_F32)
        for (int64_t i = begin; i < begin + n; i++) bad |= tsr_nonfinite_float(((const uint32_t *)data)[i]);
    else
        for (int64_t i = begin; i < begin + n; i++) bad_wide |= tsr_nonfinite_double(((const uint64_t *)data)[i]);
    return bad || bad_wide;
}

void TSR_ISA_NAME(tsr_row_threshold)(const double *TSR_RESTRICT v, int64_t n, double lower, double upper, uint8_t *TSR_RESTRICT mask)
{
    for (int64_t i = 0; i < n; i++) mask[i] = tsr_in_interval(v[i], lower, upper);
}

void TSR_ISA_NAME(tsr_row_combine)(tsr_combination combination, double a, const double *p, double b, const double *q, double c,
                                   float *TSR_RESTRICT out, int64_t n)
{
#define CASE(tag)                                                                             \
    case tag:                                                                                 \
        for (int64_t i = 0; i < n; i++) out[i] = tsr_combine_value(tag, a, p[i], b, q[i], c); \
        break;
    switch (combination) {
        CASE(TSR_COMBINE_LINEAR) CASE(TSR_COMBINE_MULTIPLY) CASE(TSR_COMBINE_MINIMUM) CASE(TSR_COMBINE_MAXIMUM) default : break;
    }
#undef CASE
}
