/* primitives/segments.h: what a backend is asked for by segmented reductions and scans, gather and scatter, and the formulas on one element of them. */
#ifndef TSR_PRIMITIVES_SEGMENTS_H
#define TSR_PRIMITIVES_SEGMENTS_H

#include "primitives/element.h"
#include "tessera/scatter.h"

typedef struct tsr_segment_reduce_job {
    tsr_reduction reduction;
    tsr_dtype dtype;
    const void *data;
    int64_t count;
    int32_t wide; /* offsets are u64, else u32 */
    const void *offsets;
    int64_t segments;
    tsr_reduced *results;
} tsr_segment_reduce_job;

typedef struct tsr_segment_scan_job {
    int32_t inclusive;
    tsr_dtype data_type;
    const void *data;
    int64_t count;
    const uint8_t *flags; /* NULL: offsets */
    int32_t wide;
    const void *offsets;
    int64_t segments;
    tsr_dtype sum_type;
    void *sums;
} tsr_segment_scan_job;

typedef struct tsr_gather_job {
    const void *values;
    int32_t value_bytes;
    int64_t values_count;
    int32_t wide; /* indices are u64, else u32 */
    const void *indices;
    int64_t count;
    uint64_t outside; /* the bits of that element */
    void *out;
} tsr_gather_job;

typedef struct tsr_scatter_job {
    tsr_scatter_rule rule;
    const void *values;
    int32_t value_bytes;
    tsr_dtype dtype; /* of SUM, MIN and MAX */
    int32_t wide;
    const void *indices;
    int64_t count;
    void *out;
    int64_t out_count;
    tsr_scatter_report *report; /* may be NULL */
    uint32_t *owner;            /* [out_count]; NULL: each source writes, unchecked */
} tsr_scatter_job;

TSR_HD uint64_t tsr_index_load(const void *indices, int32_t wide, int64_t i)
{
    return wide ? ((const uint64_t *)indices)[i] : ((const uint32_t *)indices)[i];
}
/* An offset, not beyond the array. */
TSR_HD int64_t tsr_offset_load(const void *offsets, int32_t wide, int64_t s, int64_t count)
{
    const uint64_t at = tsr_index_load(offsets, wide, s);
    return at < (uint64_t)count ? (int64_t)at : count;
}
TSR_HD uint64_t tsr_bits_load(const void *values, int32_t bytes, int64_t i)
{
    switch (bytes) {
    case 1: return ((const uint8_t *)values)[i];
    case 2: return ((const uint16_t *)values)[i];
    case 4: return ((const uint32_t *)values)[i];
    default: return ((const uint64_t *)values)[i];
    }
}
TSR_HD void tsr_bits_store(void *values, int32_t bytes, int64_t i, uint64_t v)
{
    switch (bytes) {
    case 1: ((uint8_t *)values)[i] = (uint8_t)v; break;
    case 2: ((uint16_t *)values)[i] = (uint16_t)v; break;
    case 4: ((uint32_t *)values)[i] = (uint32_t)v; break;
    default: ((uint64_t *)values)[i] = v; break;
    }
}

TSR_HD void tsr_gather_one(const tsr_gather_job *j, int64_t i)
{
    const uint64_t at = tsr_index_load(j->indices, j->wide, i);
    tsr_bits_store(j->out, j->value_bytes, i, at < (uint64_t)j->values_count ? tsr_bits_load(j->values, j->value_bytes, (int64_t)at) : j->outside);
}

/* What sources are compared by: the smallest claim of a place owns it. */
TSR_HD uint32_t tsr_scatter_claim(tsr_scatter_rule rule, int64_t i) { return rule == TSR_SCATTER_LAST ? ~(uint32_t)i : (uint32_t)i; }

/* After all claims: writes source i if its place is its own; 1 if it is in conflict with the owner. */
TSR_HD int tsr_scatter_one(const tsr_scatter_job *j, int64_t i, uint64_t at)
{
    const uint32_t owner = j->owner[at];
    if (owner == tsr_scatter_claim(j->rule, i)) {
        tsr_bits_store(j->out, j->value_bytes, (int64_t)at, tsr_bits_load(j->values, j->value_bytes, i));
        return 0;
    }
    if (j->rule == TSR_SCATTER_EXCLUSIVE) return 1;
    return j->rule == TSR_SCATTER_COMMON && tsr_bits_load(j->values, j->value_bytes, i) != tsr_bits_load(j->values, j->value_bytes, owner);
}

/* First k with keys[k] >= j of ascending keys: where the sources of place j start. */
TSR_HD uint64_t tsr_lower_bound(const void *keys, int32_t wide, int64_t count, uint64_t j)
{
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (tsr_index_load(keys, wide, middle) < j) low = middle + 1;
        else high = middle;
    }
    return (uint64_t)low;
}

/* An old value and the reduction of the new ones: float64, rounded by the caller. MIN and MAX skip NaN. */
TSR_HD double tsr_combine_float(tsr_scatter_rule rule, double old, double reduced)
{
    const int64_t none = rule == TSR_SCATTER_MIN ? tsr_order64((int64_t)0x7ff0000000000000ull) : tsr_order64((int64_t)0xfff0000000000000ull);
    if (rule == TSR_SCATTER_SUM) return old + reduced;
    const int64_t a = tsr_order_f64(old, none), b = tsr_order_f64(reduced, none);
    return tsr_unorder_f64(rule == TSR_SCATTER_MIN ? (b < a ? b : a) : (b > a ? b : a));
}
/* NaN comes out as the quiet one: units differ in what they leave of its bits. */
TSR_HD void tsr_combine_place(tsr_scatter_rule rule, tsr_dtype dtype, const uint64_t *starts, const tsr_reduced *reduced, int64_t j, void *out)
{
    const uint64_t nan64 = 0x7ff8000000000000ull;
    if (starts[j + 1] <= starts[j]) return;
    if (dtype == TSR_F32) {
        const float v = (float)tsr_combine_float(rule, (double)((float *)out)[j], reduced[j].f);
        ((float *)out)[j] = v == v ? v : tsr_no_number();
    } else {
        const double v = tsr_combine_float(rule, ((double *)out)[j], reduced[j].f);
        if (v == v) ((double *)out)[j] = v;
        else memcpy((double *)out + j, &nan64, sizeof nan64);
    }
}

#endif
