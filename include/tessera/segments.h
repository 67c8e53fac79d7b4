/* tessera/segments.h: reductions and scans of many segments of an array at once.
 *
 * An array of `count` elements is cut into segments that lie one behind the other, in one of two ways:
 *   offsets  segment s holds elements offsets[s] <= i < offsets[s + 1], s = 0 .. segments - 1 (segments may be empty);
 *   flags    an element whose flag (u8) is not 0 is the head of a segment, which goes on to the next head.
 * tsr_segments_from_flags makes offsets of flags. Manners as in tessera/primitives.h: device memory, borrowed; queued; no allocation and no
 * waiting inside; the workspace is the caller's. Class: exact (same bits on every backend and number of threads), float sums included.
 * Cost is linear in count + segments, however the lengths are distributed.
 * Source: docs/theory/foundations.md 4; Sengupta et al., "Scan Primitives for GPU Computing", 2007. */
#ifndef TESSERA_SEGMENTS_H
#define TESSERA_SEGMENTS_H

#include "tessera/primitives.h"

#ifdef __cplusplus
extern "C" {
#endif

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
