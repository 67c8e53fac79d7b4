/* compress/rans_context_body.h: contexts of the coder rans row by row, for coefficients of type T, MAGNITUDE of rans.h; NAME(f) as in restore_body.h. */

/* Magnitudes of the bands before, on the grid of the low band; number of them. */
typedef struct NAME(seen) {
    uint32_t *sum;
    int32_t size[3], bands;
} NAME(seen);

static inline void NAME(magnitudes)(const T *TSR_RESTRICT v, int32_t n, uint16_t *TSR_RESTRICT m)
{
    _Pragma("omp simd") for (int32_t x = 0; x < n; x++) m[x] = (uint16_t)MAGNITUDE(v[x]);
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
    float energy[MOST_EDGE]; /* apart from their bits: so loops become vectors */
    uint32_t bits[MOST_EDGE];
    const int32_t n = x1 - x0;
    if (!before) {
        _Pragma("omp simd") for (int32_t x = 0; x < n; x++) energy[x] = (float)(int32_t)tsr_rans_energy(w, 0, sum[x0 + x]);
    } else {
        uint16_t at[MOST_EDGE + 1]; /* magnitudes; at[1] is that of x0 */
        NAME(magnitudes)(row + x0 - nx, n, at + 1);
        at[0] = (uint16_t)tsr_rans_magnitude(row[x0 - nx - (x0 ? 1 : 0)]);
        _Pragma("omp simd") for (int32_t x = 0; x < n; x++) energy[x] =
            (float)(int32_t)tsr_rans_energy(w, TSR_RANS_ROW_SUM((uint32_t)at[x + 1], (uint32_t)at[x]), sum[x0 + x]);
    }
    memcpy(bits, energy, (size_t)n * sizeof *bits);
    _Pragma("omp simd") for (int32_t x = 0; x < n; x++) context[x0 + x] = (uint8_t)tsr_rans_context_of_bits(bits[x]);
}

/* Magnitudes of row y, and those beside it that stand for what is not there: [CHUNK] is x = 0. */
static inline void NAME(magnitude_row)(const T *TSR_RESTRICT from, int32_t nx, uint16_t *TSR_RESTRICT to)
{
    for (int32_t x = 0; x < nx; x += CHUNK) _Pragma("omp simd") for (int k = 0; k < CHUNK; k++) to[CHUNK + x + k] = (uint16_t)MAGNITUDE(from[x + k]);
    to[CHUNK - 1] = to[CHUNK];
    to[CHUNK + nx] = to[CHUNK + nx - 1];
}

/* Contexts of rows y0 <= y < y1 of slice z > 0 from the slice before, whole vectors at a time: what is found beyond the end of a row makes way for
 * the next row. Magnitudes of some rows first: what was just written in parts cannot be read as a vector at once. */
static void NAME(slice_contexts)(const T *band, const int32_t s[3], const NAME(seen) * seen, int32_t y0, int32_t y1, int32_t z,
                                 uint8_t *TSR_RESTRICT context)
{
    enum { ROWS = 16 };
    const int32_t nx = s[0], ny = s[1];
    const tsr_rans_weights w = tsr_rans_weigh(1, seen->bands);
    const T *slice = band + (int64_t)(z - 1) * ny * nx;
    uint16_t row[ROWS + 2][MOST_EDGE + 2 * CHUNK];
    for (int32_t first = y0; first < y1; first += ROWS) {
        const int32_t end = tsr_mini(first + ROWS, y1);
        for (int32_t y = first - 1; y <= end; y++)
            NAME(magnitude_row)(slice + (int64_t)(y < 0 ? 0 : y < ny ? y : ny - 1) * nx, nx, row[y - first + 1]);
        for (int32_t y = first; y < end; y++) {
            const uint16_t *at = row[y - first + 1] + CHUNK, *above = row[y - first] + CHUNK, *below = row[y - first + 2] + CHUNK;
            const uint32_t *TSR_RESTRICT sum = seen->sum + ((int64_t)z * seen->size[1] + y) * seen->size[0];
            uint8_t *TSR_RESTRICT to = context + (int64_t)y * nx;
            for (int32_t x = 0; x < nx; x += TSR_RANS_CHUNK) {
                tsr_rans_chunk five[5], siblings;
                tsr_rans_widen(at + x, &five[0]);
                tsr_rans_widen(at + x - 1, &five[1]);
                tsr_rans_widen(at + x + 1, &five[2]);
                tsr_rans_widen(above + x, &five[3]);
                tsr_rans_widen(below + x, &five[4]);
                memcpy(&siblings, sum + x, sizeof siblings);
                const tsr_rans_chunk around = TSR_RANS_SLICE_SUM(five[0], five[1], five[2], five[3], five[4]),
                                     energy = TSR_RANS_ENERGY(w, around, siblings);
                tsr_rans_contexts(&energy, to + x);
            }
        }
    }
}

/* Contexts of coefficients *ready to `need` - 1, and of as many rows more as the slice before has all they take; those before `known` are known.
 * What stands behind the last one, CHUNK - 1 bytes, is lost. */
static void NAME(contexts)(const T *band, const int32_t s[3], int32_t start, const NAME(seen) * seen, int64_t known, int64_t need, int64_t *ready,
                           uint8_t *context)
{
    const int32_t reach = tsr_rans_reach(s[0], s[1]);
    if (reach == 2 && *ready < (int64_t)s[0] * s[1]) need = tsr_maxl(need, (int64_t)s[0] * s[1]); /* the first slice takes nothing of its own band */
    while (*ready < need) {
        const int64_t row = *ready / s[0];
        const int32_t x0 = (int32_t)(*ready % s[0]), left = (int32_t)tsr_minl(need - *ready, s[0] - x0),
                      x1 = tsr_mini(reach == 1 ? x0 + left : s[0], x0 + MOST_EDGE); /* long rows in parts */
        const int32_t y = (int32_t)(row % s[1]), z = (int32_t)(row / s[1]);
        if (reach == 2 && z) { /* row y needs y + 1 of the slice before, unless that is the last one */
            const int64_t whole = known / s[0] - (int64_t)(z - 1) * s[1];
            const int32_t end = whole >= s[1] ? s[1] : tsr_maxi((int32_t)whole - 1, y + 1);
            NAME(slice_contexts)(band, s, seen, y, end, z, context + (int64_t)z * s[1] * s[0]);
            *ready += (int64_t)(end - y) * s[0];
        } else {
            NAME(row_contexts)(band, s, reach, start, seen, x0, x1, y, z, context + row * s[0]);
            *ready += x1 - x0;
        }
    }
}

/* Rows are short: whole vectors of them, then half ones. */
static inline void NAME(add_magnitudes)(const T *TSR_RESTRICT v, int64_t n, uint32_t *TSR_RESTRICT sum)
{
    int64_t x = 0;
    for (; x + CHUNK <= n; x += CHUNK) _Pragma("omp simd") for (int k = 0; k < CHUNK; k++) sum[x + k] += MAGNITUDE(v[x + k]);
    for (; x + CHUNK / 2 <= n; x += CHUNK / 2) _Pragma("omp simd") for (int k = 0; k < CHUNK / 2; k++) sum[x + k] += MAGNITUDE(v[x + k]);
    for (; x < n; x++) sum[x] += tsr_rans_magnitude(v[x]);
}

/* A band that is complete; where it is smaller than the low band its last samples stand for those that are not there. */
static void NAME(see)(NAME(seen) * seen, const T *band, const int32_t s[3])
{
    const int32_t *n = seen->size;
    seen->bands++;
    if (s[0] == n[0] && s[1] == n[1] && s[2] == n[2]) {
        NAME(add_magnitudes)(band, (int64_t)n[0] * n[1] * n[2], seen->sum);
        return;
    }
    for (int32_t z = 0; z < n[2]; z++)
        for (int32_t y = 0; y < n[1]; y++) {
            const T *TSR_RESTRICT row = band + ((int64_t)(z < s[2] ? z : s[2] - 1) * s[1] + (y < s[1] ? y : s[1] - 1)) * s[0];
            uint32_t *TSR_RESTRICT sum = seen->sum + ((int64_t)z * n[1] + y) * n[0];
            NAME(add_magnitudes)(row, s[0], sum);
            if (n[0] > s[0]) sum[s[0]] += tsr_rans_magnitude(row[s[0] - 1]);
        }
}
