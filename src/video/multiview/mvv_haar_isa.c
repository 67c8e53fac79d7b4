/* video/multiview/mvv_haar_isa.c */
#include "video/multiview/mvv_haar_isa.h"

#include "video/multiview/mvv_haar.h"

/* One level along an axis: `half` pairs become means and differences, or back. Rows are `columns` wide. Means stay in the scratch, differences go to
 * their place
 * in `data`; LOW and HIGH work on a, b. */
#define FORWARD(name, type, LOW, HIGH)                                                                                    \
    void TSR_ISA_NAME(name)(type * data, int64_t n, int64_t stride, int64_t columns, type * scratch)                      \
    {                                                                                                                     \
        for (int64_t i = 0; i < n; i++) memcpy(scratch + i * columns, data + i * stride, (size_t)columns * sizeof(type)); \
        for (int64_t half = n / 2; half > 0; half /= 2)                                                                   \
            for (int64_t i = 0; i < half; i++) {                                                                          \
                const type *pair = scratch + 2 * i * columns;                                                             \
                type *TSR_RESTRICT high = data + (half + i) * stride;                                                     \
                type *low = scratch + i * columns;                                                                        \
                for (int64_t c = 0; c < columns; c++) high[c] = HIGH(pair[c], pair[columns + c]);                         \
                _Pragma("omp simd") for (int64_t c = 0; c < columns; c++) low[c] = LOW(pair[c], pair[columns + c]);       \
            }                                                                                                             \
        memcpy(data, scratch, (size_t)columns * sizeof(type));                                                            \
    }

/* Low and high become a pair: into the scratch, and at the last level to `data`. Means lie at the scratch's end so that pairs never run over those
 * not yet
 * read: mean i of `half` lies in row n - half + i. */
#define INVERSE(name, FIRST, SECOND)                                                                                                          \
    void TSR_ISA_NAME(name)(int32_t * data, int64_t n, int64_t stride, int64_t columns, int32_t * scratch)                                    \
    {                                                                                                                                         \
        memcpy(scratch + (n - 1) * columns, data, (size_t)columns * sizeof(int32_t));                                                         \
        for (int64_t half = 1; half < n; half *= 2)                                                                                           \
            for (int64_t i = 0; i < half; i++) {                                                                                              \
                const int32_t *low = scratch + (n - half + i) * columns, *high = data + (half + i) * stride;                                  \
                const int last = 2 * half == n;                                                                                               \
                int32_t *a = last ? data + 2 * i * stride : scratch + (n - 2 * half + 2 * i) * columns, *b = last ? a + stride : a + columns; \
                _Pragma("omp simd") for (int64_t c = 0; c < columns; c++)                                                                     \
                {                                                                                                                             \
                    const int32_t l = low[c], h = high[c];                                                                                    \
                    a[c] = FIRST(l, h);                                                                                                       \
                    b[c] = SECOND(l, h);                                                                                                      \
                }                                                                                                                             \
            }                                                                                                                                 \
    }

#define FORWARD_ROW(name, type, LOW, HIGH)                            \
    void TSR_ISA_NAME(name)(type * data, int64_t n, type * scratch)   \
    {                                                                 \
        for (int64_t half = n / 2; half > 0; half /= 2) {             \
            type *TSR_RESTRICT to = scratch;                          \
            for (int64_t i = 0; i < half; i++) {                      \
                const type a = data[2 * i], b = data[2 * i + 1];      \
                to[i] = LOW(a, b);                                    \
                to[half + i] = HIGH(a, b);                            \
            }                                                         \
            memcpy(data, scratch, (size_t)(2 * half) * sizeof(type)); \
        }                                                             \
    }

#define INVERSE_ROW(name, FIRST, SECOND)                                              \
    void TSR_ISA_NAME(name)(int32_t * data, int64_t n, int32_t * scratch)             \
    {                                                                                 \
        int32_t *from = data, *other = scratch;                                       \
        for (int64_t half = 1; half < n; half *= 2) {                                 \
            const int32_t *TSR_RESTRICT low = from, *TSR_RESTRICT high = data + half; \
            int32_t *TSR_RESTRICT to = other == data ? scratch + n : other;           \
            for (int64_t i = 0; i < half; i++) {                                      \
                to[2 * i] = FIRST(low[i], high[i]);                                   \
                to[2 * i + 1] = SECOND(low[i], high[i]);                              \
            }                                                                         \
            other = from;                                                             \
            from = to;                                                                \
        }                                                                             \
        if (from != data) memcpy(data, from, (size_t)n * sizeof(int32_t));            \
    }

FORWARD(tsr_mvv_haar_forward, float, tsr_mvv_haar_low, tsr_mvv_haar_high)
FORWARD(tsr_mvv_turned_forward, int32_t, tsr_mvv_turned_low, tsr_mvv_turned_high)
INVERSE(tsr_mvv_haar_inverse, tsr_mvv_add, tsr_mvv_subtract)
INVERSE(tsr_mvv_turned_inverse, tsr_mvv_back_first, tsr_mvv_back_second)
FORWARD_ROW(tsr_mvv_haar_forward_row, float, tsr_mvv_haar_low, tsr_mvv_haar_high)
FORWARD_ROW(tsr_mvv_turned_forward_row, int32_t, tsr_mvv_turned_low, tsr_mvv_turned_high)
INVERSE_ROW(tsr_mvv_haar_inverse_row, tsr_mvv_add, tsr_mvv_subtract)
INVERSE_ROW(tsr_mvv_turned_inverse_row, tsr_mvv_back_first, tsr_mvv_back_second)

void TSR_ISA_NAME(tsr_mvv_round_row)(const float *from, int32_t *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++) to[i] = tsr_mvv_round(from[i]);
}

void TSR_ISA_NAME(tsr_mvv_texel_row)(const int32_t *from, uint8_t *to, int64_t n, int plain)
{
    if (plain)
        for (int64_t i = 0; i < n; i++) to[i] = tsr_mvv_plain_texel(from[i]);
    else
        for (int64_t i = 0; i < n; i++) to[i] = tsr_mvv_to_texel(from[i]);
}
