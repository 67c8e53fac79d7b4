/* histopyramid/levels_cpu.c: rows of cells, a loop for each rule and type. */
#include "core/parallel.h"
#include "histopyramid/pyramid_ops.h"

struct work {
    const tsr_level_job *job;
    tsr_level_rule rule;
};

static inline __attribute__((always_inline)) void row(const tsr_level_job *j, tsr_level_rule rule, tsr_dtype from, tsr_dtype to, int64_t y, int64_t z)
{
    const int64_t whole = 2 * y + 1 < j->size[1] && 2 * z + 1 < j->size[2] ? j->size[0] / 2 : 0;
    for (int64_t x = 0; x < whole; x++) tsr_level_cell(j, rule, from, to, x, y, z, 1);
    for (int64_t x = whole; x < j->cells[0]; x++) tsr_level_cell(j, rule, from, to, x, y, z, 0);
}
static inline __attribute__((always_inline)) void row_of_rule(const tsr_level_job *j, tsr_level_rule rule, tsr_dtype from, tsr_dtype sum, int64_t y,
                                                              int64_t z)
{
    switch (rule) {
    case TSR_LEVEL_AVERAGE: row(j, TSR_LEVEL_AVERAGE, from, sum, y, z); break;
    case TSR_LEVEL_SUM: row(j, TSR_LEVEL_SUM, from, sum, y, z); break;
    case TSR_LEVEL_MIN: row(j, TSR_LEVEL_MIN, from, from, y, z); break;
    default: row(j, TSR_LEVEL_MAX, from, from, y, z); break;
    }
}

static void rows(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    const tsr_level_job *j = w->job;
    (void)worker;
    for (int64_t r = begin; r < end; r++) {
        const int64_t y = r % j->cells[1], z = r / j->cells[1];
        switch (j->from_type) {
        case TSR_U8: row_of_rule(j, w->rule, TSR_U8, TSR_U64, y, z); break;
        case TSR_I8: row_of_rule(j, w->rule, TSR_I8, TSR_I64, y, z); break;
        case TSR_U16: row_of_rule(j, w->rule, TSR_U16, TSR_U64, y, z); break;
        case TSR_I16: row_of_rule(j, w->rule, TSR_I16, TSR_I64, y, z); break;
        case TSR_U32: row_of_rule(j, w->rule, TSR_U32, TSR_U64, y, z); break;
        case TSR_I32: row_of_rule(j, w->rule, TSR_I32, TSR_I64, y, z); break;
        case TSR_U64: row_of_rule(j, w->rule, TSR_U64, TSR_U64, y, z); break;
        case TSR_I64: row_of_rule(j, w->rule, TSR_I64, TSR_I64, y, z); break;
        case TSR_F32: row_of_rule(j, w->rule, TSR_F32, TSR_F64, y, z); break;
        default: row_of_rule(j, w->rule, TSR_F64, TSR_F64, y, z); break;
        }
    }
}

tsr_status tsr_levels_cpu(tsr_queue *queue, tsr_level_rule rule, const tsr_level_job *jobs, int32_t count)
{
    for (int32_t k = 0; k < count; k++) {
        struct work w = { &jobs[k], rule };
        tsr_parallel(queue->threads, jobs[k].cells[1] * jobs[k].cells[2], 64, rows, &w);
    }
    return TSR_OK;
}
