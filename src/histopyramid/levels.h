/* histopyramid/levels.h: one cell of a pyramid of reductions from up to eight below it. docs/theory/foundations.md 3. */
#ifndef TSR_HISTOPYRAMID_LEVELS_H
#define TSR_HISTOPYRAMID_LEVELS_H

#include "volume/voxel.h"
#include "tessera/pyramid.h"

enum { TSR_LEVELS_MOST = 64 };

/* A processor's loops are made for each rule and type, and know both. */
#if defined(__CUDACC__) || defined(TSR_EMU)
#define TSR_LEVEL_FN TSR_HD
#else
#define TSR_LEVEL_FN TSR_HD __attribute__((always_inline))
#endif

/* A value in the widest type of its kind. */
typedef union tsr_level_value {
    uint64_t u;
    int64_t i;
    double f;
} tsr_level_value;
typedef enum tsr_level_kind { TSR_LEVEL_UNSIGNED, TSR_LEVEL_SIGNED, TSR_LEVEL_REAL } tsr_level_kind;

/* One level from the one below. `sums`: AVERAGE: what is summed; counts of cells, NULL below level 1, where a voxel is one. */
typedef struct tsr_level_job {
    const void *from;
    void *to; /* MIN, MAX: the volume's type; else sums of its kind */
    tsr_dtype from_type, to_type;
    int64_t size[3], cells[3]; /* of the levels below and above */
    const uint8_t *mask;       /* of voxels; NULL: none */
    const uint64_t *from_count;
    uint64_t *to_count; /* AVERAGE */
    double *average;
} tsr_level_job;

TSR_LEVEL_FN tsr_level_kind tsr_level_kind_of(tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_F32:
    case TSR_F64: return TSR_LEVEL_REAL;
    case TSR_I8:
    case TSR_I16:
    case TSR_I32:
    case TSR_I64: return TSR_LEVEL_SIGNED;
    default: return TSR_LEVEL_UNSIGNED;
    }
}

TSR_LEVEL_FN tsr_level_value tsr_level_load(const void *data, tsr_dtype dtype, int64_t at)
{
    tsr_level_value v;
    if (dtype == TSR_U64) v.u = ((const uint64_t *)data)[at];
    else if (dtype == TSR_I64) v.i = ((const int64_t *)data)[at];
    else if (dtype == TSR_U8) v.u = ((const uint8_t *)data)[at];
    else if (dtype == TSR_U16) v.u = ((const uint16_t *)data)[at];
    else if (dtype == TSR_U32) v.u = ((const uint32_t *)data)[at];
    else if (dtype == TSR_I8) v.i = ((const int8_t *)data)[at];
    else if (dtype == TSR_I16) v.i = ((const int16_t *)data)[at];
    else if (dtype == TSR_I32) v.i = ((const int32_t *)data)[at];
    else if (dtype == TSR_F32) v.f = (double)((const float *)data)[at];
    else v.f = ((const double *)data)[at];
    return v;
}
TSR_LEVEL_FN void tsr_level_store(void *data, tsr_dtype dtype, int64_t at, tsr_level_value v)
{
    switch (dtype) {
    case TSR_U8: ((uint8_t *)data)[at] = (uint8_t)v.u; break;
    case TSR_U16: ((uint16_t *)data)[at] = (uint16_t)v.u; break;
    case TSR_U32: ((uint32_t *)data)[at] = (uint32_t)v.u; break;
    case TSR_U64: ((uint64_t *)data)[at] = v.u; break;
    case TSR_I8: ((int8_t *)data)[at] = (int8_t)v.i; break;
    case TSR_I16: ((int16_t *)data)[at] = (int16_t)v.i; break;
    case TSR_I32: ((int32_t *)data)[at] = (int32_t)v.i; break;
    case TSR_I64: ((int64_t *)data)[at] = v.i; break;
    case TSR_F32: ((float *)data)[at] = (float)v.f; break;
    default: ((double *)data)[at] = v.f; break;
    }
}

/* What changes nothing: 0 of sums, the far end of the type of MIN and MAX. */
TSR_LEVEL_FN tsr_level_value tsr_level_none(tsr_level_rule rule, tsr_dtype dtype)
{
    tsr_level_value v;
    const int sum = rule == TSR_LEVEL_SUM || rule == TSR_LEVEL_AVERAGE;
    v.u = 0;
    switch (tsr_level_kind_of(dtype)) {
    case TSR_LEVEL_REAL:
        if (!sum) v.u = rule == TSR_LEVEL_MIN ? 0x7ff0000000000000u : 0xfff0000000000000u; /* infinities */
        break;
    case TSR_LEVEL_SIGNED:
        if (sum) break;
        v.i = dtype == TSR_I8 ? INT8_MAX : dtype == TSR_I16 ? INT16_MAX : dtype == TSR_I32 ? INT32_MAX : INT64_MAX;
        if (rule == TSR_LEVEL_MAX) v.i = -v.i - 1;
        break;
    default:
        if (rule == TSR_LEVEL_MIN) v.u = dtype == TSR_U8 ? UINT8_MAX : dtype == TSR_U16 ? UINT16_MAX : dtype == TSR_U32 ? UINT32_MAX : UINT64_MAX;
        break;
    }
    return v;
}

TSR_LEVEL_FN tsr_level_value tsr_level_merge(tsr_level_rule rule, tsr_level_kind kind, tsr_level_value a, tsr_level_value b)
{
    if (rule == TSR_LEVEL_SUM || rule == TSR_LEVEL_AVERAGE) {
        if (kind == TSR_LEVEL_REAL) a.f += b.f;
        else a.u += b.u; /* two's complement: signed sums wrap likewise */
        return a;
    }
    int less; /* NaN never takes a place: the first of a pair is checked by its loader */
    if (kind == TSR_LEVEL_REAL) less = rule == TSR_LEVEL_MIN ? b.f < a.f : b.f > a.f;
    else if (kind == TSR_LEVEL_SIGNED) less = rule == TSR_LEVEL_MIN ? b.i < a.i : b.i > a.i;
    else less = rule == TSR_LEVEL_MIN ? b.u < a.u : b.u > a.u;
    return less ? b : a;
}

/* The element below at (x, y, z), or nothing. whole: it is known to be there. */
TSR_LEVEL_FN tsr_level_value tsr_level_below(const tsr_level_job *j, tsr_level_rule rule, tsr_dtype from, int64_t x, int64_t y, int64_t z, int whole,
                                             uint64_t *count)
{
    if (!whole && (x >= j->size[0] || y >= j->size[1] || z >= j->size[2])) return tsr_level_none(rule, from);
    const int64_t at = (z * j->size[1] + y) * j->size[0] + x;
    if (j->mask && !j->mask[at]) return tsr_level_none(rule, from);
    const tsr_level_value v = tsr_level_load(j->from, from, at);
    if (rule == TSR_LEVEL_AVERAGE) *count += j->from_count ? j->from_count[at] : 1;
    if ((rule == TSR_LEVEL_MIN || rule == TSR_LEVEL_MAX) && tsr_level_kind_of(from) == TSR_LEVEL_REAL && !(v.f == v.f))
        return tsr_level_none(rule, from);
    return v;
}

/* Cell (x, y, z). rule, from and to are j's own, given apart so that loops that know them are made for them. whole: all eight
 * elements below are there. */
TSR_LEVEL_FN void tsr_level_cell(const tsr_level_job *j, tsr_level_rule rule, tsr_dtype from, tsr_dtype to, int64_t x, int64_t y, int64_t z,
                                 int whole)
{
    const tsr_level_kind kind = tsr_level_kind_of(from);
    const int64_t at = (z * j->cells[1] + y) * j->cells[0] + x;
    tsr_level_value part[4], half[2];
    uint64_t count = 0;
    for (int32_t k = 0; k < 4; k++) {
        const tsr_level_value a = tsr_level_below(j, rule, from, 2 * x, 2 * y + (k & 1), 2 * z + (k >> 1), whole, &count);
        part[k] = tsr_level_merge(rule, kind, a, tsr_level_below(j, rule, from, 2 * x + 1, 2 * y + (k & 1), 2 * z + (k >> 1), whole, &count));
    }
    for (int32_t k = 0; k < 2; k++) half[k] = tsr_level_merge(rule, kind, part[2 * k], part[2 * k + 1]);
    const tsr_level_value all = tsr_level_merge(rule, kind, half[0], half[1]);
    tsr_level_store(j->to, to, at, all);
    if (rule == TSR_LEVEL_AVERAGE) {
        const double sum = kind == TSR_LEVEL_REAL ? all.f : kind == TSR_LEVEL_SIGNED ? (double)all.i : (double)all.u;
        j->to_count[at] = count;
        j->average[at] = sum / (double)count; /* 0 / 0 is NaN */
    }
}

#endif
