/* wavelet/rans_context_body.h: contexts of the coder rans row by row, for coefficients of type T; NAME(f) as in restore_body.h. */

/* Magnitudes of the bands before, on the grid of the low band; number of them. */
typedef struct NAME(seen) {
    uint32_t *sum;
    int32_t size[3], bands;
} NAME(seen);

/* Contexts of x0 <= x < x1 in the row (y, z) of a band. */
static void NAME(row_contexts)(const T *band, const int32_t s[3], int32_t reach, int32_t start, const NAME(seen) * seen, int32_t x0, int32_t x1,
                               int32_t y, int32_t z, uint8_t *TSR_RESTRICT context)
{
    const int32_t before = reach == 2 ? z > 0 : reach && y > 0, nx = s[0];
    const tsr_rans_weights w = tsr_rans_weigh(before, seen->bands);
    const uint32_t *TSR_RESTRICT sum = seen->sum + ((int64_t)z * seen->size[1] + y) * seen->size[0];
    const T *TSR_RESTRICT row = band + ((int64_t)z * s[1] + y) * nx;
    if (!before && !seen->bands) {
        for (int32_t x = x0; x < x1; x++) context[x] = (uint8_t)start;
        return;
    }
    if (!before) {
        for (int32_t x = x0; x < x1; x++) context[x] = (uint8_t)tsr_rans_context(tsr_rans_energy(w, 0, sum[x]));
        return;
    }
    if (reach == 1) {
        for (int32_t x = x0; x < x1; x++) {
            const uint32_t at = tsr_rans_magnitude(row[x - nx]), left = x ? tsr_rans_magnitude(row[x - 1 - nx]) : at;
            context[x] = (uint8_t)tsr_rans_context(tsr_rans_energy(w, TSR_RANS_ROW_SUM(at, left), sum[x]));
        }
        return;
    }
    const T *TSR_RESTRICT p = row - (int64_t)nx * s[1], *TSR_RESTRICT above = y ? p - nx : p, *TSR_RESTRICT below = y + 1 < s[1] ? p + nx : p;
#define CONTEXT(x, l, r)                                                                                                                          \
    (uint8_t) tsr_rans_context(tsr_rans_energy(w,                                                                                                 \
                                               TSR_RANS_SLICE_SUM(tsr_rans_magnitude(p[x]), tsr_rans_magnitude(p[l]), tsr_rans_magnitude(p[r]), \
                                                                  tsr_rans_magnitude(above[x]), tsr_rans_magnitude(below[x])),                    \
                                               sum[x]))
    context[0] = CONTEXT(0, 0, nx > 1 ? 1 : 0);
    for (int32_t x = 1; x < nx - 1; x++) context[x] = CONTEXT(x, x - 1, x + 1);
    if (nx > 1) context[nx - 1] = CONTEXT(nx - 1, nx - 2, nx - 1);
#undef CONTEXT
}

/* Contexts of coefficients *ready to `need` - 1, and up to the end of a row where the slice before has all it takes. */
static void NAME(contexts)(const T *band, const int32_t s[3], int32_t start, const NAME(seen) * seen, int64_t need, int64_t *ready,
                           uint8_t *context)
{
    const int32_t reach = tsr_rans_reach(s[0], s[1]);
    while (*ready < need) {
        const int64_t row = *ready / s[0];
        const int32_t x0 = (int32_t)(*ready % s[0]), left = (int32_t)tsr_minl(need - *ready, s[0] - x0), x1 = reach == 1 ? x0 + left : s[0];
        NAME(row_contexts)(band, s, reach, start, seen, x0, x1, (int32_t)(row % s[1]), (int32_t)(row / s[1]), context + row * s[0]);
        *ready += x1 - x0;
    }
}

/* A band that is complete; where it is smaller than the low band its last samples stand for those that are not there. */
static void NAME(see)(NAME(seen) * seen, const T *band, const int32_t s[3])
{
    const int32_t *n = seen->size;
    for (int32_t z = 0; z < n[2]; z++)
        for (int32_t y = 0; y < n[1]; y++) {
            const T *TSR_RESTRICT row = band + ((int64_t)(z < s[2] ? z : s[2] - 1) * s[1] + (y < s[1] ? y : s[1] - 1)) * s[0];
            uint32_t *TSR_RESTRICT sum = seen->sum + ((int64_t)z * n[1] + y) * n[0];
            for (int32_t x = 0; x < s[0]; x++) sum[x] += tsr_rans_magnitude(row[x]);
            if (n[0] > s[0]) sum[s[0]] += tsr_rans_magnitude(row[s[0] - 1]);
        }
    seen->bands++;
}
