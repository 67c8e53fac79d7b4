/* histopyramid/detail_ops.h: what a backend provides for morphological pyramids and their coefficients. All pointers are device memory of the queue. */
#ifndef TSR_HISTOPYRAMID_DETAIL_OPS_H
#define TSR_HISTOPYRAMID_DETAIL_OPS_H

#include "device/backend.h"
#include "histopyramid/detail.h"

typedef struct tsr_detail_ops {
    /* level[j + 1] from level[j] */
    tsr_status (*reduce)(tsr_queue *queue, const tsr_adjunction *a, int32_t j);
    /* level[j] = max(level[j], expansion of level[j + 1]) */
    tsr_status (*expand)(tsr_queue *queue, const tsr_adjunction *a, int32_t j);
    /* data = expansion of level 1: the opening of level 0 */
    tsr_status (*opening)(tsr_queue *queue, const tsr_adjunction *a, void *data);
    /* counts[cell] = coefficients of a cell, all levels */
    tsr_status (*count)(tsr_queue *queue, const tsr_adjunction *a, const tsr_details *d, uint32_t *counts);
    /* keys and payload of the cells of a part, in order */
    tsr_status (*emit)(tsr_queue *queue, const tsr_adjunction *a, const tsr_details *d, const tsr_detail_sort *sort);
    /* places and residuals from sorted keys; heads[i] = 1 where a run begins; runs[brick] += heads; histogram[level][residual] += 1 */
    tsr_status (*code)(tsr_queue *queue, const tsr_details *d, const tsr_detail_sort *sort, uint8_t *heads, uint32_t *runs, uint64_t *histogram);
    /* run records of a part: to[k] of the coefficient heads[k] */
    tsr_status (*runs)(tsr_queue *queue, const tsr_details *d, const tsr_detail_sort *sort, const uint32_t *heads, int64_t count, tsr_detail_run *to);
    /* d->to = coefficients above the bars; ties per bin */
    tsr_status (*choose)(tsr_queue *queue, const tsr_details *d, const tsr_detail_choice *choice);
    /* d->to += ties of the bins before the choice's */
    tsr_status (*choose_ties)(tsr_queue *queue, const tsr_details *d, const tsr_detail_choice *choice);
    /* numbers[brick] = ties of the choice's bin; then d->to += numbers[brick] of them */
    tsr_status (*count_rest)(tsr_queue *queue, const tsr_details *d, const tsr_detail_choice *choice, uint32_t *numbers);
    tsr_status (*choose_rest)(tsr_queue *queue, const tsr_details *d, const tsr_detail_choice *choice, const uint32_t *numbers);
    /* most[brick] = the largest value of which [from, to) is not empty, 0 without any */
    tsr_status (*most)(tsr_queue *queue, const tsr_details *d, uint32_t *most);
    /* every coefficient into the dense levels */
    tsr_status (*scatter)(tsr_queue *queue, const tsr_adjunction *a, const tsr_details *d);
} tsr_detail_ops;

/* Value of a coefficient into its level. */
TSR_HD void tsr_detail_scatter(const tsr_adjunction *a, const tsr_details *d, int64_t brick, const tsr_detail_run *r, int64_t i)
{
    int32_t at[3];
    tsr_detail_get(d, i, r->level, brick, at);
    tsr_adjunction_store(a->level[r->level], a->bytes, tsr_adjunction_index(a->size[r->level], at[0], at[1], at[2]), r->value);
}

#endif
