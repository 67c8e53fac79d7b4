/* primitives/element.h: the formulas on one element: order of floats, what a selection keeps, bin of a histogram, digit of a key. */
#ifndef TSR_PRIMITIVES_ELEMENT_H
#define TSR_PRIMITIVES_ELEMENT_H

#include "core/hd.h"
#include "tessera/primitives.h"

/* ---- reductions ----------------------------------------------------------------------------------------------------------------- */

/* Pieces of a reduction. Those of float sums are the fixed tree: TSR_TILE_LANES sums over each piece, folded, then the same over the pieces. They are
 * smaller, so that a GPU's processors finish together. */
enum { TSR_TILE_LANES = 1024, TSR_TILE_ELEMENTS = 65536, TSR_SUM_ELEMENTS = 32768 };

TSR_HD int64_t tsr_tile_size(tsr_reduction reduction, tsr_dtype dtype)
{
    return reduction == TSR_REDUCE_SUM && (dtype == TSR_F32 || dtype == TSR_F64) ? TSR_SUM_ELEMENTS : TSR_TILE_ELEMENTS;
}
TSR_HD int64_t tsr_tile_count(int64_t count, int64_t tile) { return (count + tile - 1) / tile; }

/* Integers ordered as the floats are, -0 before +0; the same function undoes it. */
TSR_HD int32_t tsr_order32(int32_t bits) { return bits ^ ((bits >> 31) & 0x7fffffff); }
TSR_HD int64_t tsr_order64(int64_t bits) { return bits ^ ((bits >> 63) & INT64_MAX); }

/* One float as its order, NaN as `neutral`. */
TSR_HD int32_t tsr_order_f32(float v, int32_t neutral) { return v == v ? tsr_order32((int32_t)tsr_float_bits(v)) : neutral; }
TSR_HD int64_t tsr_order_f64(double v, int64_t neutral)
{
    int64_t bits;
    memcpy(&bits, &v, 8);
    return v == v ? tsr_order64(bits) : neutral;
}
TSR_HD double tsr_unorder_f32(int32_t order) { return (double)tsr_bits_float((uint32_t)tsr_order32(order)); }
TSR_HD double tsr_unorder_f64(int64_t order)
{
    int64_t bits = tsr_order64(order);
    double v;
    memcpy(&v, &bits, 8);
    return v;
}

/* Keys: 64-bit unsigned numbers ordered as the elements are; signed types have their sign bit flipped. */
#define TSR_KEY_SIGN 0x8000000000000000ull
TSR_HD uint64_t tsr_key_signed(int64_t order) { return (uint64_t)order ^ TSR_KEY_SIGN; }
TSR_HD int64_t tsr_key_order(uint64_t key) { return (int64_t)(key ^ TSR_KEY_SIGN); }

/* What an empty reduction gives, as the key of MIN and MAX or the bits of a sum. */
TSR_HD uint64_t tsr_reduce_neutral(tsr_reduction reduction, tsr_dtype dtype)
{
    const int min = reduction == TSR_REDUCE_MIN;
    if (reduction == TSR_REDUCE_SUM) return 0;
    switch (dtype) {
    case TSR_U8: return min ? 0xffu : 0u;
    case TSR_U16: return min ? 0xffffu : 0u;
    case TSR_U32: return min ? 0xffffffffu : 0u;
    case TSR_U64: return min ? UINT64_MAX : 0u;
    case TSR_I8: return tsr_key_signed(min ? 127 : -128);
    case TSR_I16: return tsr_key_signed(min ? 32767 : -32768);
    case TSR_I32: return tsr_key_signed(min ? INT32_MAX : INT32_MIN);
    case TSR_F32: return tsr_key_signed(tsr_order32((int32_t)(min ? 0x7f800000u : 0xff800000u)));
    case TSR_F64: return tsr_key_signed(tsr_order64((int64_t)(min ? 0x7ff0000000000000ull : 0xfff0000000000000ull)));
    default: return tsr_key_signed(min ? INT64_MAX : INT64_MIN);
    }
}

/* The 8 bytes of tsr_reduced from the key of a minimum or maximum, or from the bits of a sum, which are it. */
TSR_HD uint64_t tsr_reduce_decode(tsr_reduction reduction, tsr_dtype dtype, uint64_t key)
{
    double v;
    uint64_t bits;
    if (reduction == TSR_REDUCE_SUM) return key;
    switch (dtype) {
    case TSR_U8: case TSR_U16: case TSR_U32: case TSR_U64: return key;
    case TSR_F32: v = tsr_unorder_f32((int32_t)tsr_key_order(key)); break;
    case TSR_F64: v = tsr_unorder_f64(tsr_key_order(key)); break;
    default: return (uint64_t)tsr_key_order(key);
    }
    memcpy(&bits, &v, 8);
    return bits;
}

/* ---- selection ------------------------------------------------------------------------------------------------------------------ */

/* A predicate made ready by the host: integers compare with lower/upper, floats with flower/fupper. */
typedef struct tsr_keep {
    int32_t nonzero;
    uint32_t lower, upper;
    float flower, fupper;
} tsr_keep;

TSR_HD int tsr_kept_int(tsr_keep k, uint32_t v) { return k.nonzero ? v != 0u : v >= k.lower && v <= k.upper; }
TSR_HD int tsr_kept_float(tsr_keep k, float v) { return k.nonzero ? v != 0.0f : v >= k.flower && v <= k.fupper; }

/* Bit i of the result: the high bit of byte i / whether byte i is not zero. Little-endian. */
TSR_HD uint32_t tsr_gather_high_bits(uint32_t high) { return (high >> 7) * 0x10204080u >> 28; }
TSR_HD uint32_t tsr_nonzero_bytes(uint32_t w)
{
    return tsr_gather_high_bits((((w & 0x7f7f7f7fu) + 0x7f7f7f7fu) | w) & 0x80808080u);
}
/* High bit of each byte where a >= b, unsigned bytes. */
TSR_HD uint32_t tsr_bytes_not_below(uint32_t a, uint32_t b)
{
    uint32_t d = (a | 0x80808080u) - (b & 0x7f7f7f7fu);
    return ((a & ~b) | (~(a ^ b) & d)) & 0x80808080u;
}
/* 4 bits: bytes of w within [lower, upper], both replicated to 4 bytes. */
TSR_HD uint32_t tsr_bytes_within(uint32_t w, uint32_t lower, uint32_t upper)
{
    return tsr_gather_high_bits(tsr_bytes_not_below(w, lower) & tsr_bytes_not_below(upper, w));
}

/* ---- histogram ------------------------------------------------------------------------------------------------------------------ */

typedef struct tsr_bins {
    double lower, upper, scale; /* scale = bins / (upper - lower) */
    int32_t count;
} tsr_bins;

/* Bin of v, or -1. The product may round up to `count` just below `upper`: that is the last bin. */
TSR_HD int32_t tsr_bin(tsr_bins b, double v)
{
    if (!(v >= b.lower && v < b.upper)) return -1;
    int32_t bin = (int32_t)((v - b.lower) * b.scale);
    return bin < b.count ? bin : b.count - 1;
}

/* Several axes and weights: see tsr_histogram_joint. */
enum { TSR_JOINT_AXES = 3 };
typedef struct tsr_joint_job {
    int32_t axes;
    tsr_dtype dtype[TSR_JOINT_AXES]; /* u8, u16, f32 */
    const void *data[TSR_JOINT_AXES];
    tsr_bins bins[TSR_JOINT_AXES];
    int32_t cells;                   /* product of the bins */
    const float *weights;            /* NULL: 1 */
    double units;                    /* 2^fraction_bits */
    int64_t count;
    uint64_t *sums;
} tsr_joint_job;

/* Cell of element i, or -1. */
TSR_HD int32_t tsr_joint_cell(const tsr_joint_job *j, int64_t i)
{
    int32_t cell = 0;
    for (int32_t k = j->axes - 1; k >= 0; k--) {
        const void *p = j->data[k];
        const double v = j->dtype[k] == TSR_U8    ? (double)((const uint8_t *)p)[i]
                         : j->dtype[k] == TSR_U16 ? (double)((const uint16_t *)p)[i]
                                                  : (double)((const float *)p)[i];
        const int32_t bin = tsr_bin(j->bins[k], v);
        if (bin < 0) return -1;
        cell = cell * j->bins[k].count + bin;
    }
    return cell;
}

/* A weight in units, to the nearest, halves to even. */
TSR_HD int64_t tsr_joint_weight(const tsr_joint_job *j, int64_t i)
{
    const double most = 4611686018427387904.0, magic = 6755399441055744.0; /* 2^62; 1.5 * 2^52: adding it rounds to integers */
    if (!j->weights) return 1;
    double v = (double)j->weights[i] * j->units;
    if (!(v == v)) return 0;
    if (v >= most) return (int64_t)1 << 62;
    if (v <= -most) return -((int64_t)1 << 62);
    if (v < 2251799813685248.0 && v > -2251799813685248.0) v = (v + magic) - magic; /* above 2^51 a float's multiples are integers */
    return (int64_t)v;
}

/* ---- radix sort ----------------------------------------------------------------------------------------------------------------- */

enum { TSR_DIGIT_BITS = 8, TSR_DIGITS = 256 };

/* The digit of `bits` <= 8 bits at `shift`. */
TSR_HD uint32_t tsr_digit(uint64_t key, int32_t shift, int32_t bits) { return (uint32_t)(key >> shift) & ((1u << bits) - 1u); }

#endif
