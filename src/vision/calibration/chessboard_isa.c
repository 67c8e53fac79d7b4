#include "vision/calibration/chessboard_isa.h"

#include "core/hd.h"

void TSR_ISA_NAME(tsr_corner_grey_row)(const uint8_t *from, int32_t width, float *to)
{
    const uint8_t *TSR_RESTRICT p = from;
    float *TSR_RESTRICT out = to;
    for (int32_t x = 0; x < width; x++) out[x] = (float)p[x];
}

void TSR_ISA_NAME(tsr_corner_halve_row)(const float *upper, const float *lower, int32_t width, float *to)
{
    const float *TSR_RESTRICT a = upper, *TSR_RESTRICT b = lower;
    float *TSR_RESTRICT out = to;
    for (int32_t x = 0; x < width; x++) out[x] = 0.25f * (a[2 * x] + a[2 * x + 1] + b[2 * x] + b[2 * x + 1]);
}

void TSR_ISA_NAME(tsr_corner_blur_row)(const float *const rows[5], int32_t width, float *between, float *to)
{
    const float *TSR_RESTRICT a = rows[0], *TSR_RESTRICT b = rows[1], *TSR_RESTRICT c = rows[2], *TSR_RESTRICT d = rows[3], *TSR_RESTRICT e = rows[4];
    float *TSR_RESTRICT r = between + 2, *TSR_RESTRICT out = to;
    for (int32_t x = 0; x < width; x++) r[x] = (a[x] + e[x] + 4 * (b[x] + d[x]) + 6 * c[x]) * (1.0f / 16);
    r[-1] = r[-2] = r[0];
    r[width] = r[width + 1] = r[width - 1];
    for (int32_t x = 0; x < width; x++) out[x] = (r[x - 2] + r[x + 2] + 4 * (r[x - 1] + r[x + 1]) + 6 * r[x]) * (1.0f / 16);
}

void TSR_ISA_NAME(tsr_corner_saddle_row)(const float *middle, int32_t width, float *to, float *most)
{
    const float *TSR_RESTRICT p = middle, *TSR_RESTRICT above = middle - width, *TSR_RESTRICT below = middle + width;
    float *TSR_RESTRICT out = to;
    for (int32_t x = 1; x < width - 1; x++) {
        const float xx = p[x + 1] - 2 * p[x] + p[x - 1], yy = below[x] - 2 * p[x] + above[x], xy = 0.25f * (below[x + 1] + above[x - 1] - below[x - 1] - above[x + 1]);
        const float saddle = xy * xy - xx * yy, bend = xx + yy;
        out[x] = saddle > 0.02f * bend * bend ? saddle : 0.0f;
    }
    out[0] = out[width - 1] = 0;
    for (int32_t b = 0; b < width; b += 16) {
        const int32_t end = tsr_mini(width, b + 16);
        float m = out[b];
        if (end - b == 16) {
            float lane[8];
            for (int k = 0; k < 8; k++) lane[k] = tsr_maxf(out[b + k], out[b + 8 + k]);
            for (int k = 0; k < 4; k++) lane[k] = tsr_maxf(lane[k], lane[k + 4]);
            m = tsr_maxf(tsr_maxf(lane[0], lane[1]), tsr_maxf(lane[2], lane[3]));
        } else {
            for (int32_t x = b; x < end; x++) m = tsr_maxf(m, out[x]);
        }
        most[b / 16] = m;
    }
}

void TSR_ISA_NAME(tsr_corner_peak_row)(const float *score, int32_t width, int32_t first, int32_t last, float least, uint8_t *peak)
{
    const float *TSR_RESTRICT v = score, *TSR_RESTRICT above = score - width, *TSR_RESTRICT below = score + width;
    uint8_t *TSR_RESTRICT to = peak;
    for (int32_t x = first; x < last; x++) to[x] = (uint8_t)((v[x] > least) & (v[x] > v[x - 1]) & (v[x] > above[x]) & (v[x] >= v[x + 1]) & (v[x] >= below[x]));
}

/* Rows are brought between pixels one by one, along the row once and across it with the one before; sums stay in eight lanes until the end. */
void TSR_ISA_NAME(tsr_corner_moments)(const float *first, int64_t stride, float fx, float fy, int32_t window, const float *mask, double sums[5])
{
    enum { LANES = 8, WIDE = 2 * TSR_CORNER_WINDOW_MOST + 3 + 2 * LANES };
    const int32_t side = 2 * window + 1, wide = (side + LANES - 1) / LANES * LANES, across = side + 2;
    float row[3][WIDE], along[2][WIDE], weight[WIDE], place[WIDE];
    float lane[5][LANES];
    for (int32_t i = 0; i < wide; i++) {
        weight[i] = i < side ? mask[i] : 0.0f;
        place[i] = (float)(i - window);
    }
    for (int r = 0; r < 3; r++)
        for (int32_t i = across; i < WIDE; i++) row[r][i] = 0.0f;
    for (int k = 0; k < 5; k++)
        for (int l = 0; l < LANES; l++) lane[k][l] = 0.0f;
    for (int32_t j = 0; j <= across; j++) {
        const float *TSR_RESTRICT p = first + j * stride;
        float *TSR_RESTRICT now = along[j & 1];
        const float *TSR_RESTRICT before = along[~j & 1];
        for (int32_t i = 0; i < across; i++) now[i] = p[i] + fx * (p[i + 1] - p[i]);
        if (j < 1) continue;
        float *TSR_RESTRICT to = row[(j - 1) % 3];
        for (int32_t i = 0; i < across; i++) to[i] = before[i] + fy * (now[i] - before[i]);
        if (j < 3) continue;
        const float *TSR_RESTRICT above = row[(j - 3) % 3], *TSR_RESTRICT here = row[(j - 2) % 3], *TSR_RESTRICT below = row[(j - 1) % 3];
        const float y = (float)(j - 3 - window), m = mask[j - 3];
        for (int32_t b = 0; b < wide; b += LANES)
            for (int l = 0; l < LANES; l++) {
                const float gx = here[b + l + 2] - here[b + l], gy = below[b + l + 1] - above[b + l + 1], w = m * weight[b + l];
                const float xx = w * gx * gx, xy = w * gx * gy, yy = w * gy * gy, x = place[b + l];
                lane[0][l] += xx;
                lane[1][l] += xy;
                lane[2][l] += yy;
                lane[3][l] += xx * x + xy * y;
                lane[4][l] += xy * x + yy * y;
            }
    }
    for (int k = 0; k < 5; k++) {
        const float four[4] = { lane[k][0] + lane[k][4], lane[k][1] + lane[k][5], lane[k][2] + lane[k][6], lane[k][3] + lane[k][7] };
        sums[k] = (double)((four[0] + four[2]) + (four[1] + four[3]));
    }
}
