/* video/statistics/band_streams_isa.c, compiled once per SIMD variant: contexts of a row. */
#include "video/statistics/band_streams.h"

enum { OWN = 5, PART = 256 }; /* weight of the band's own rows */

static inline uint32_t magnitude(int32_t v) { return tsr_rans_magnitude(v); }

/* Twice above, beside it, and once the row before that. */
static void add_own(const tsr_statistics_around *a, int32_t n, uint32_t *TSR_RESTRICT sum)
{
    const int32_t *TSR_RESTRICT above = a->above, *TSR_RESTRICT second = a->second;
    for (int32_t x = 0; x < n; x += tsr_maxi(n - 1, 1)) {
        const int32_t left = tsr_maxi(x - 1, 0), right = tsr_mini(x + 1, n - 1);
        sum[x] += 2 * magnitude(above[x]) + magnitude(above[left]) + magnitude(above[right]) + magnitude(second[x]);
    }
    _Pragma("omp simd") for (int32_t x = 1; x < n - 1; x++) sum[x] +=
        2 * magnitude(above[x]) + magnitude(above[x - 1]) + magnitude(above[x + 1]) + magnitude(second[x]);
}

static void add_one(const int32_t *TSR_RESTRICT v, int32_t n, uint32_t *TSR_RESTRICT sum)
{
    _Pragma("omp simd") for (int32_t x = 0; x < n; x++) sum[x] += magnitude(v[x]);
}

void TSR_ISA_NAME(tsr_statistics_contexts)(const tsr_statistics_around *a, int32_t n, int32_t start, uint32_t *TSR_RESTRICT work,
                                           uint8_t *TSR_RESTRICT context)
{
    uint32_t weight = 0;
    memset(work, 0, (size_t)n * sizeof *work);
    if (a->above) add_own(a, n, work), weight += OWN;
    for (int k = 0; k < 2; k++)
        if (a->sibling[k]) add_one(a->sibling[k], n, work), weight++;
    if (a->parent) {
        for (int32_t x = 0; x < n; x++) work[x] += magnitude(a->parent[x >> 1]);
        weight++;
    }
    if (!weight) {
        memset(context, start, (size_t)n);
        return;
    }
    const uint32_t scale = 2048 / weight; /* 8 times the mean, in 256ths */
    for (int32_t first = 0; first < n; first += PART) {
        const int32_t part = tsr_mini(n - first, PART);
        float energy[PART]; /* apart from their bits: so loops become vectors */
        uint32_t bits[PART];
        _Pragma("omp simd") for (int32_t x = 0; x < part; x++) energy[x] = (float)(int32_t)(work[first + x] * scale >> 8);
        memcpy(bits, energy, (size_t)part * sizeof *bits);
        _Pragma("omp simd") for (int32_t x = 0; x < part; x++) context[first + x] = (uint8_t)tsr_rans_context_of_bits(bits[x]);
    }
}
