/* wavelet/rans_context_body.h: contexts of the coder rans row by row, for coefficients of type T; NAME(f) as in restore_body.h. */

/* Magnitudes of the bands before, on the grid of the low band; number of them. */
typedef struct NAME(seen) {
    uint32_t *sum;
    int32_t size[3], bands;
} NAME(seen);

static inline void NAME(magnitudes)(const T *TSR_RESTRICT v, int32_t n, uint16_t *TSR_RESTRICT m)
{
    _Pragma("omp simd") for (int32_t x = 0; x < n; x++) m[x] = (uint16_t)tsr_rans_magnitude(v[x]);
}

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
    uint16_t at[MOST_EDGE + 2], above[MOST_EDGE], below[MOST_EDGE]; /* magnitudes; at[1] is that of x0 */
    float energy[MOST_EDGE];                                        /* apart from their bits: so loops become vectors */
    uint32_t bits[MOST_EDGE];
    const int32_t n = x1 - x0;
    if (!before) {
        _Pragma("omp simd") for (int32_t x = 0; x < n; x++) energy[x] = (float)(int32_t)tsr_rans_energy(w, 0, sum[x0 + x]);
    } else if (reach == 1) {
        NAME(magnitudes)(row + x0 - nx, n, at + 1);
        at[0] = (uint16_t)tsr_rans_magnitude(row[x0 - nx - (x0 ? 1 : 0)]);
        _Pragma("omp simd") for (int32_t x = 0; x < n; x++) energy[x] =
            (float)(int32_t)tsr_rans_energy(w, TSR_RANS_ROW_SUM((uint32_t)at[x + 1], (uint32_t)at[x]), sum[x0 + x]);
    } else { /* whole rows */
        const T *p = row - (int64_t)nx * s[1];
        NAME(magnitudes)(p, n, at + 1);
        NAME(magnitudes)(y ? p - nx : p, n, above);
        NAME(magnitudes)(y + 1 < s[1] ? p + nx : p, n, below);
        at[0] = at[1];
        at[n + 1] = at[n];
        _Pragma("omp simd") for (int32_t x = 0; x < n; x++)
        {
            const uint32_t around =
                TSR_RANS_SLICE_SUM((uint32_t)at[x + 1], (uint32_t)at[x], (uint32_t)at[x + 2], (uint32_t)above[x], (uint32_t)below[x]);
            energy[x] = (float)(int32_t)tsr_rans_energy(w, around, sum[x]);
        }
    }
    memcpy(bits, energy, (size_t)n * sizeof *bits);
    _Pragma("omp simd") for (int32_t x = 0; x < n; x++) context[x0 + x] = (uint8_t)tsr_rans_context_of_bits(bits[x]);
}

/* Contexts of coefficients *ready to `need` - 1, and up to the end of a row where the slice before has all it takes. */
static void NAME(contexts)(const T *band, const int32_t s[3], int32_t start, const NAME(seen) * seen, int64_t need, int64_t *ready, uint8_t *context)
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
