/* primitives/primitives_ops.h: what a backend provides for reduce, scan, select, sort, histogram, segments and scatter. Arguments are checked before. */
#ifndef TSR_PRIMITIVES_PRIMITIVES_OPS_H
#define TSR_PRIMITIVES_PRIMITIVES_OPS_H

#include "device/backend.h"
#include "primitives/element.h"
#include "primitives/segments.h"
#include "tessera/primitives.h"

typedef struct tsr_select_job {
    tsr_keep keep;
    tsr_dtype dtype; /* u8, u16, f32 */
    const void *data;
    int64_t count;
    const void *values; /* NULL: write indices */
    int32_t out_bytes;  /* of an index (4, 8) or a value (1, 2, 4, 8) */
    void *out;
    int64_t capacity;
    uint64_t *found;
} tsr_select_job;

typedef struct tsr_sort_job {
    int32_t key_bytes; /* 4 or 8 */
    const void *keys;
    void *sorted_keys;
    const uint32_t *payload; /* NULL: none */
    uint32_t *sorted_payload;
    int64_t count;
    int32_t first_bit, last_bit;
} tsr_sort_job;

typedef struct tsr_histogram_job {
    tsr_dtype dtype; /* u8, u16, f32 */
    const void *data;
    int64_t count;
    tsr_bins bins;
    int32_t wide; /* counts are u64, else u32 */
    void *counts;
} tsr_histogram_job;

typedef struct tsr_primitives_ops {
    size_t (*reduce_bytes)(int64_t count);
    tsr_status (*reduce)(tsr_queue *queue, tsr_reduction reduction, tsr_dtype dtype, const void *data, int64_t count, tsr_reduced *result,
                         void *workspace);
    size_t (*scan_bytes)(int64_t count);
    tsr_status (*scan)(tsr_queue *queue, int inclusive, tsr_dtype data_type, const void *data, int64_t count, tsr_dtype sum_type, void *sums,
                       void *workspace);
    size_t (*select_bytes)(int64_t count);
    tsr_status (*select)(tsr_queue *queue, const tsr_select_job *job, void *workspace);
    tsr_status (*count)(tsr_queue *queue, tsr_keep keep, tsr_dtype dtype, const void *data, int64_t count, uint64_t *found);
    size_t (*sort_bytes)(int32_t key_bytes, int payload, int64_t count);
    tsr_status (*sort)(tsr_queue *queue, const tsr_sort_job *job, void *workspace);
    /* The portable sort where `sort` is another one (a vendor's), for the checks; same workspace. */
    tsr_status (*sort_own)(tsr_queue *queue, const tsr_sort_job *job, void *workspace);
    tsr_status (*histogram)(tsr_queue *queue, const tsr_histogram_job *job);
    tsr_status (*joint)(tsr_queue *queue, const tsr_joint_job *job);
    size_t (*segment_reduce_bytes)(int64_t count);
    tsr_status (*segment_reduce)(tsr_queue *queue, const tsr_segment_reduce_job *job, void *workspace);
    size_t (*segment_scan_bytes)(int64_t count);
    tsr_status (*segment_scan)(tsr_queue *queue, const tsr_segment_scan_job *job, void *workspace);
    /* offsets[s] = count from s = *found on, up to and with `capacity`. */
    tsr_status (*segment_rest)(tsr_queue *queue, void *offsets, int32_t wide, int64_t capacity, const uint64_t *found, int64_t count);
    tsr_status (*gather)(tsr_queue *queue, const tsr_gather_job *job);
    tsr_status (*scatter)(tsr_queue *queue, const tsr_scatter_job *job);
    tsr_status (*combine)(tsr_queue *queue, const tsr_scatter_job *job);    /* SUM, MIN, MAX of integers */
    tsr_status (*ramp)(tsr_queue *queue, uint32_t *numbers, int64_t count); /* 0, 1, 2, ... */
    tsr_status (*starts)(tsr_queue *queue, const void *keys, int32_t wide, int64_t count, int64_t out_count, uint64_t *starts);
    tsr_status (*combine_places)(tsr_queue *queue, tsr_scatter_rule rule, tsr_dtype dtype, const uint64_t *starts, const tsr_reduced *reduced,
                                 int64_t out_count, void *out);
} tsr_primitives_ops;

#endif
