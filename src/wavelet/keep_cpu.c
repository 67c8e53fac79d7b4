/* wavelet/keep_cpu.c: the loops of keep.c on the CPU. Rows of bands are parallel; counts of several threads are added. */
#include "core/parallel.h"
#include "wavelet/keep.h"

enum { GRAIN = 1 << 16 /* coefficients: counters are cleared and added for each */ };

struct rows {
    const tsr_keep_band *band;
    const tsr_keep_pass *pass;
    const tsr_keep_limit *limit;
    uint64_t *counts;
};

TSR_INLINE void count_row(const tsr_keep_band *b, tsr_dtype dtype, const tsr_keep_pass *pass, int64_t at, uint32_t *counts)
{
    for (int64_t x = 0; x < b->size[0]; x++, at += b->stride[0]) {
        const int32_t digit = tsr_keep_digit(pass, tsr_keep_key(tsr_voxel_load(b->data, dtype, at), b->weight), (uint64_t)at);
        if (digit >= 0) counts[digit]++;
    }
}

static void count_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const struct rows *r = (const struct rows *)user;
    const tsr_keep_band *b = r->band;
    uint32_t own[TSR_KEEP_BINS] = { 0 };
    (void)worker;
    for (int64_t row = begin; row < end; row++) {
        const int64_t at = tsr_keep_place(b, 0, row % b->size[1], row / b->size[1]);
        switch (b->dtype) { /* a loop for each type */
        case TSR_I16: count_row(b, TSR_I16, r->pass, at, own); break;
        case TSR_I32: count_row(b, TSR_I32, r->pass, at, own); break;
        case TSR_F32: count_row(b, TSR_F32, r->pass, at, own); break;
        default: count_row(b, TSR_F64, r->pass, at, own); break;
        }
    }
    for (int i = 0; i < TSR_KEEP_BINS; i++)
        if (own[i]) __atomic_fetch_add(&r->counts[i], own[i], __ATOMIC_RELAXED);
}

static void apply_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const struct rows *r = (const struct rows *)user;
    const tsr_keep_band *b = r->band;
    (void)worker;
    for (int64_t row = begin; row < end; row++) {
        int64_t at = tsr_keep_place(b, 0, row % b->size[1], row / b->size[1]);
        for (int64_t x = 0; x < b->size[0]; x++, at += b->stride[0]) {
            const double c = tsr_voxel_load(b->data, b->dtype, at), v = tsr_keep_value(r->limit, b, c, (uint64_t)at);
            if (v != c) tsr_voxel_store(b->data, b->dtype, at, v);
        }
    }
}

static int64_t grain_of(const tsr_keep_band *b) { return tsr_max64(1, GRAIN / b->size[0]); }

static tsr_status cpu_count(tsr_queue *queue, const tsr_keep_band *bands, int32_t number, const tsr_keep_pass *pass, uint64_t *counts)
{
    for (int32_t k = 0; k < number; k++) {
        struct rows r = { .band = &bands[k], .pass = pass, .counts = counts };
        tsr_parallel(queue->threads, bands[k].size[1] * bands[k].size[2], grain_of(&bands[k]), count_rows, &r);
    }
    return TSR_OK;
}

static tsr_status cpu_apply(tsr_queue *queue, const tsr_keep_band *bands, int32_t number, const tsr_keep_limit *limit)
{
    for (int32_t k = 0; k < number; k++) {
        struct rows r = { .band = &bands[k], .limit = limit };
        tsr_parallel(queue->threads, bands[k].size[1] * bands[k].size[2], grain_of(&bands[k]), apply_rows, &r);
    }
    return TSR_OK;
}

const tsr_keep_ops tsr_keep_cpu = { .count = cpu_count, .apply = cpu_apply };
