/* tessera/primitives.h: reduce, scan, select, count, sort and histogram of arrays on a context's device.
 *
 * All arrays are memory of the context's device (tsr_volume_data of a volume made on it is one way to have some) and are BORROWED; the
 * calls are queued, so keep arrays until tsr_context_synchronize. Results stay on the device. Nothing is allocated and nothing waits
 * inside a call: temporary memory is the caller's `workspace` (its size from the _workspace function; contents need no preparation,
 * 64-byte aligned), so that calls can be recorded in a graph. Input and output must not overlap. Arrays are aligned to
 * their element; 16-byte alignment is faster. Cost is linear in `count`; `count` 0 is valid, below 2^40.
 * Class: exact (same bits on every backend and number of threads), sums of floats included: they are added in a fixed order.
 * Source: docs/theory/foundations.md 3, 4; single-pass scan after Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled
 * Look-back", 2016. */
#ifndef TESSERA_PRIMITIVES_H
#define TESSERA_PRIMITIVES_H

#include "tessera/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_reduction { TSR_REDUCE_SUM = 0, TSR_REDUCE_MIN, TSR_REDUCE_MAX } tsr_reduction;

/* 8 bytes: u of unsigned, i of signed, f of floating-point elements. Integer sums are taken modulo 2^64, float sums in float64. */
typedef union tsr_reduced { uint64_t u; int64_t i; double f; } tsr_reduced;

TSR_API tsr_status tsr_reduce_workspace(tsr_context *context, int64_t count, size_t *bytes) TSR_CHECKED;

/* *result (device) = reduction of data[0..count) of any element type. Empty input gives 0, the largest (MIN) or the smallest (MAX)
 * value of the type (floats: +-infinity). MIN and MAX skip NaN and order -0 before +0. A float sum adds tiles of 65536 elements: 1024 lanes each take every
 * 1024th element in order, then fold by halves; the sums of the tiles are added in the same way. */
TSR_API tsr_status tsr_reduce(tsr_context *context, tsr_reduction reduction, tsr_dtype dtype, const void *data, int64_t count,
                              tsr_reduced *result, void *workspace, size_t workspace_bytes) TSR_CHECKED;

/* The same with the result on the host; allocates, waits. */
TSR_API tsr_status tsr_reduce_host(tsr_context *context, tsr_reduction reduction, tsr_dtype dtype, const void *data, int64_t count,
                                   tsr_reduced *result) TSR_CHECKED;

typedef enum tsr_scan_kind { TSR_SCAN_EXCLUSIVE = 0, TSR_SCAN_INCLUSIVE } tsr_scan_kind;

TSR_API tsr_status tsr_scan_workspace(tsr_context *context, int64_t count, size_t *bytes) TSR_CHECKED;

/* sums[i] = data[0] + ... + data[i] (inclusive) or up to data[i-1] (exclusive), modulo 2^32 or 2^64. data: u8, u32 or u64; sums: u32 or
 * u64, u64 for u64 data. */
TSR_API tsr_status tsr_scan(tsr_context *context, tsr_scan_kind kind, tsr_dtype data_type, const void *data, int64_t count, tsr_dtype sum_type,
                            void *sums, void *workspace, size_t workspace_bytes) TSR_CHECKED;

/* Which elements a selection keeps: those that are not zero (NaN is not), or those in the closed range [lower, upper] (NaN is never in). */
typedef enum tsr_predicate_kind { TSR_KEEP_NONZERO = 0, TSR_KEEP_RANGE } tsr_predicate_kind;
typedef struct tsr_predicate { tsr_predicate_kind kind; double lower, upper; } tsr_predicate;

TSR_API tsr_status tsr_select_workspace(tsr_context *context, int64_t count, size_t *bytes) TSR_CHECKED;

/* Indices i of the kept elements of data (u8, u16 or f32) in ascending order: the first `capacity` of them go to indices (u32 or u64; u32
 * needs count <= 2^32), the number of all kept ones to *found (device). *found > capacity means that indices were left out. */
TSR_API tsr_status tsr_select_indices(tsr_context *context, tsr_predicate keep, tsr_dtype dtype, const void *data, int64_t count,
                                      tsr_dtype index_type, void *indices, int64_t capacity, uint64_t *found, void *workspace,
                                      size_t workspace_bytes) TSR_CHECKED;

/* values[i] where flags[i] (u8) is not zero, in order; otherwise as tsr_select_indices. value_bytes is 1, 2, 4 or 8. */
TSR_API tsr_status tsr_select_values(tsr_context *context, const uint8_t *flags, const void *values, int32_t value_bytes, int64_t count, void *kept,
                                     int64_t capacity, uint64_t *found, void *workspace, size_t workspace_bytes) TSR_CHECKED;

/* *found (device) = number of kept elements of data (u8, u16 or f32). No workspace. */
TSR_API tsr_status tsr_count(tsr_context *context, tsr_predicate keep, tsr_dtype dtype, const void *data, int64_t count, uint64_t *found) TSR_CHECKED;
/* The same with the number on the host; allocates, waits. */
TSR_API tsr_status tsr_count_host(tsr_context *context, tsr_predicate keep, tsr_dtype dtype, const void *data, int64_t count, int64_t *found) TSR_CHECKED;

/* Waits and copies a device counter to the host; more than `capacity` (if that is >= 0) is TSR_ERROR_CAPACITY, *value is set all the same. */
TSR_API tsr_status tsr_found_host(tsr_context *context, const uint64_t *found, int64_t capacity, uint64_t *value) TSR_CHECKED;

/* key_type u32 or u64. */
TSR_API tsr_status tsr_sort_workspace(tsr_context *context, tsr_dtype key_type, int with_payload, int64_t count, size_t *bytes) TSR_CHECKED;

/* Stable ascending sort of u32 or u64 keys by their bits first_bit <= b < last_bit (0, 32 or 64 for all); a u32 payload (NULL: none) moves with
 * its key. count <= 2^32. Input stays as it is. Least significant digit first radix sort. */
TSR_API tsr_status tsr_sort(tsr_context *context, tsr_dtype key_type, const void *keys, void *sorted_keys, const uint32_t *payload,
                            uint32_t *sorted_payload, int64_t count, int32_t first_bit, int32_t last_bit, void *workspace,
                            size_t workspace_bytes) TSR_CHECKED;

/* counts[b] (u32 modulo 2^32, or u64) = number of elements v of data (u8, u16, f32) with b = floor((v - lower) * (bins / (upper - lower))),
 * in float64, for lower <= v < upper; others (and NaN) are not counted. 1 to 65536 bins. No workspace. */
TSR_API tsr_status tsr_histogram(tsr_context *context, tsr_dtype dtype, const void *data, int64_t count, double lower, double upper, int32_t bins,
                                 tsr_dtype count_type, void *counts) TSR_CHECKED;

/* One axis of a joint histogram: an array and its bins, as in tsr_histogram. */
typedef struct tsr_histogram_axis {
    tsr_dtype dtype;      /* u8, u16 or f32 */
    const void *data;     /* device memory */
    double lower, upper;
    int32_t bins;
} tsr_histogram_axis;

/* sums[(b2 * bins1 + b1) * bins0 + b0] += weight over the elements whose value on axis k lies in bin bk, for 1 to 3 axes and at most 2^24 bins in all.
 * Elements outside of an axis's range (and NaN) are left out. weights NULL: each counts 1. Otherwise weight i is the multiple of 2^-fraction_bits nearest
 * to weights[i] (halves to even; NaN is 0; beyond +-2^62 units it is that), and sums are in these units, modulo 2^64: so the order of additions does
 * not matter. fraction_bits is 0 to 62. No workspace. Source: docs/theory/foundations.md 6. */
TSR_API tsr_status tsr_histogram_joint(tsr_context *context, const tsr_histogram_axis *axes, int32_t axis_count, int64_t count, const float *weights,
                                       int32_t fraction_bits, int64_t *sums) TSR_CHECKED;

/* ---- segments ------------------------------------------------------------------------------------------------------------------------ */

/* Reductions and scans of many segments of an array at once.
 *
 * An array of `count` elements is cut into segments that lie one behind the other, in one of two ways:
 *   offsets  segment s holds elements offsets[s] <= i < offsets[s + 1], s = 0 .. segments - 1 (segments may be empty);
 *   flags    an element whose flag (u8) is not 0 is the head of a segment, which goes on to the next head.
 * tsr_segments_from_flags makes offsets of flags. Manners as above: device memory, borrowed; queued; no allocation and no
 * waiting inside; the workspace is the caller's. Class: exact (same bits on every backend and number of threads), float sums included.
 * Cost is linear in count + segments, however the lengths are distributed.
 * Source: docs/theory/foundations.md 4; Sengupta et al., "Scan Primitives for GPU Computing", 2007. */

TSR_API tsr_status tsr_segments_workspace(tsr_context *context, int64_t count, size_t *bytes) TSR_CHECKED;

/* offsets[s] (u32 or u64; u32 needs count < 2^32) = index of head number s in flags, ascending, for the first `capacity` heads; *found (device) = number of all
 * heads. offsets has capacity + 1 entries: those from the last head on are `count`, so that the segments left over are empty. If found > capacity, offsets
 * holds the first capacity + 1 heads: the first `capacity` segments are whole. Elements before the first head belong to no segment. */
TSR_API tsr_status tsr_segments_from_flags(tsr_context *context, const uint8_t *flags, int64_t count, tsr_dtype offset_type, void *offsets,
                                           int64_t capacity, uint64_t *found, void *workspace, size_t workspace_bytes) TSR_CHECKED;

TSR_API tsr_status tsr_segmented_reduce_workspace(tsr_context *context, int64_t count, int64_t segments, size_t *bytes) TSR_CHECKED;

/* results[s] = what tsr_reduce gives for segment s alone, the same bits: see there for empty segments, NaN and the order of float sums. data: any element type;
 * offsets: u32 or u64 [segments + 1], ascending, offsets[segments] <= count. What offsets that do not ascend or go beyond give is undefined, but nothing
 * outside of data[0..count) is read. segments and count below 2^40. */
TSR_API tsr_status tsr_segmented_reduce(tsr_context *context, tsr_reduction reduction, tsr_dtype dtype, const void *data, int64_t count,
                                        tsr_dtype offset_type, const void *offsets, int64_t segments, tsr_reduced *results, void *workspace,
                                        size_t workspace_bytes) TSR_CHECKED;

TSR_API tsr_status tsr_segmented_scan_workspace(tsr_context *context, int64_t count, size_t *bytes) TSR_CHECKED;

/* tsr_scan that begins anew at every head: sums[i] = sum of the elements of i's segment up to and with i (inclusive) or before i (exclusive: 0 at heads),
 * modulo 2^32 or 2^64. data: u8, u32 or u64; sums: u32 or u64, u64 for u64 data. Heads are flags, or offsets with flags NULL. Elements before the first
 * head, and with offsets those from offsets[segments] on, are segments of their own. Offsets >= count are no heads. */
TSR_API tsr_status tsr_segmented_scan(tsr_context *context, tsr_scan_kind kind, tsr_dtype data_type, const void *data, int64_t count,
                                      const uint8_t *flags, tsr_dtype offset_type, const void *offsets, int64_t segments, tsr_dtype sum_type,
                                      void *sums, void *workspace, size_t workspace_bytes) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
