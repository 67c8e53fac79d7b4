/* tessera/scatter.h: moving elements by lists of indices: gather, scatter with a named rule for conflicts, and the inverse of a list of indices.
 *
 * A gather has one writer for every output and any number of readers (CREW of the PRAM models): prefer it. A scatter whose indices meet has
 * concurrent writers (CRCW); each rule below says which value stays, so that the result is that of a serial loop on every backend and
 * for any number of threads. Manners as in tessera/primitives.h: device memory, borrowed; queued; workspaces are the caller's; input and output do
 * not overlap. Class exact. Indices are u32 or u64; one that is not below the size it points into (-1, cast, is one) is outside.
 * Source: docs/theory/foundations.md 5; Fortune and Wyllie 1978 for the models. */
#ifndef TESSERA_SCATTER_H
#define TESSERA_SCATTER_H

#include "tessera/primitives.h"

#ifdef __cplusplus
extern "C" {
#endif

/* out[i] = values[indices[i]], i = 0 .. count - 1; of indices outside of [0, values_count): the element at `outside` (HOST memory; NULL: zero bytes). value_bytes is
 * 1, 2, 4 or 8. No workspace. */
TSR_API tsr_status tsr_gather(tsr_context *context, const void *values, int32_t value_bytes, int64_t values_count, tsr_dtype index_type,
                              const void *indices, int64_t count, const void *outside, void *out) TSR_CHECKED;

/* What stays in out[j] when the indices of several sources i are j. Elements of out that no index names keep their values. */
typedef enum tsr_scatter_rule {
    TSR_SCATTER_EXCLUSIVE = 0, /* EREW: there must be no such j; the report names the first pair. The lowest source stays */
    TSR_SCATTER_COMMON,        /* all must bring the same bits; the report names the first that does not. The lowest source stays */
    TSR_SCATTER_ARBITRARY,     /* one of them: here, as everywhere, the lowest source */
    TSR_SCATTER_FIRST,         /* priority to the lowest source index, */
    TSR_SCATTER_LAST,          /* to the highest: what a serial loop leaves */
    TSR_SCATTER_SUM,           /* combined with what out[j] held: integers modulo 2^bits; of floats see tsr_scatter_combine */
    TSR_SCATTER_MIN,
    TSR_SCATTER_MAX
} tsr_scatter_rule;

/* Device memory, written by the call. */
typedef struct tsr_scatter_report {
    uint64_t outside;   /* indices outside of [0, out_count): their elements go nowhere */
    uint64_t conflicts; /* EXCLUSIVE: sources whose place a lower one has; COMMON: sources whose bits differ from the lowest one's; else 0 */
    uint64_t first;     /* the lowest such source, UINT64_MAX if there is none */
    uint64_t second;    /* the lower source that holds its place; UINT64_MAX if there is none */
} tsr_scatter_report;

TSR_API tsr_status tsr_scatter_workspace(tsr_context *context, int64_t out_count, size_t *bytes) TSR_CHECKED;

/* out[indices[i]] = values[i] for the rules up to LAST. value_bytes is 1, 2, 4 or 8; count < 2^32. With a report NULL, EXCLUSIVE is not checked and takes
 * no workspace: it is then one pass, and the caller's word that indices differ. */
TSR_API tsr_status tsr_scatter(tsr_context *context, tsr_scatter_rule rule, const void *values, int32_t value_bytes, tsr_dtype index_type,
                               const void *indices, int64_t count, void *out, int64_t out_count, tsr_scatter_report *report, void *workspace,
                               size_t workspace_bytes) TSR_CHECKED;

/* Waits, copies a report to the host (NULL: not wanted) and turns conflicts into TSR_ERROR_ARGUMENT with the first pair of sources; indices outside are no
 * error. */
TSR_API tsr_status tsr_scatter_check(tsr_context *context, const tsr_scatter_report *report, tsr_scatter_report *host) TSR_CHECKED;

TSR_API tsr_status tsr_scatter_combine_workspace(tsr_context *context, tsr_dtype dtype, tsr_dtype index_type, int64_t count, int64_t out_count,
                                                 size_t *bytes) TSR_CHECKED;

/* out[j] = out[j] + (SUM), min or max (MIN, MAX) of values[i] over all i with indices[i] = j. dtype: u32, i32, u64, i64: one pass of atomic operations, no workspace
 * (0 bytes); f32, f64: sorted by index and reduced in segments: the sum of the values of j is that of tsr_reduce (float64, fixed order) over them in the
 * order of i, added to out[j] in float64 and rounded once; MIN and MAX pass NaN over, the old one of out[j] too (nothing but NaN: +-infinity). count < 2^32. */
TSR_API tsr_status tsr_scatter_combine(tsr_context *context, tsr_scatter_rule rule, tsr_dtype dtype, const void *values, tsr_dtype index_type,
                                       const void *indices, int64_t count, void *out, int64_t out_count, void *workspace,
                                       size_t workspace_bytes) TSR_CHECKED;

TSR_API tsr_status tsr_invert_workspace(tsr_context *context, tsr_dtype index_type, int64_t count, size_t *bytes) TSR_CHECKED;

/* The inverse of a map of indices in compressed rows: the sources i with indices[i] = j are sources[k], starts[j] <= k < starts[j + 1], ascending. Makes a gather of a
 * scatter. sources: u32 [count]; starts: u64 [out_count + 1]; starts[out_count] = indices inside; sources from there on are those outside. Of a permutation,
 * sources is its inverse. count < 2^32. */
TSR_API tsr_status tsr_invert(tsr_context *context, tsr_dtype index_type, const void *indices, int64_t count, int64_t out_count, uint64_t *starts,
                              uint32_t *sources, void *workspace, size_t workspace_bytes) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
