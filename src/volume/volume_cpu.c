/* volume/volume_cpu.c: dense volume operations on the CPU: how the work is cut into ranges and rows; the loops are in filter_isa.c. */
#include "core/parallel.h"
#include "volume/volume_cpu.h"
#include "volume/filter_isa.h"

enum { GRAIN = 1 << 16 };

/* ---- one value after another ----------------------------------------------------------------------------------------------------- */

struct stream {
    const tsr_source *from, *second;
    void *to;
    tsr_dtype to_type;
    double lower, upper, a, b, c;
    tsr_combination combination;
};

static void convert_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct stream *s = (const struct stream *)user;
    double row[TSR_ROW_PART];
    (void)worker;
    for (int64_t i = begin; i < end; i += TSR_ROW_PART) {
        int64_t n = tsr_min64(TSR_ROW_PART, end - i);
        if (s->to_type == TSR_F32) {
            TSR_ISA_SELECT(tsr_row_load_float)(s->from, i, n, (float *)s->to + i);
        } else {
            TSR_ISA_SELECT(tsr_row_load)(s->from, i, n, row);
            TSR_ISA_SELECT(tsr_row_store)(row, n, s->to, s->to_type, i);
        }
    }
}

static tsr_status cpu_convert(tsr_queue *queue, const tsr_source *from, void *to, tsr_dtype to_type, int64_t count)
{
    struct stream s = { .from = from, .to = to, .to_type = to_type };
    tsr_parallel(queue->threads, count, GRAIN, convert_range, &s);
    return TSR_OK;
}

static void threshold_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct stream *s = (const struct stream *)user;
    double row[TSR_ROW_PART];
    (void)worker;
    for (int64_t i = begin; i < end; i += TSR_ROW_PART) {
        int64_t n = tsr_min64(TSR_ROW_PART, end - i);
        TSR_ISA_SELECT(tsr_row_load)(s->from, i, n, row);
        TSR_ISA_SELECT(tsr_row_threshold)(row, n, s->lower, s->upper, (uint8_t *)s->to + i);
    }
}

static tsr_status cpu_threshold(tsr_queue *queue, const tsr_source *from, int64_t count, double lower, double upper, uint8_t *mask)
{
    struct stream s = { .from = from, .to = mask, .lower = lower, .upper = upper };
    tsr_parallel(queue->threads, count, GRAIN, threshold_range, &s);
    return TSR_OK;
}

struct selection {
    const void *data;
    tsr_dtype dtype;
    int outside;
    int64_t lower, upper;
    uint8_t *mask;
};

static void select_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct selection *s = (const struct selection *)user;
    (void)worker;
#define SELECT(type)                                                                                                                      \
    case type:                                                                                                                            \
        for (int64_t i = begin; i < end; i++) s->mask[i] = (uint8_t)tsr_voxel_selected(s->data, type, i, s->lower, s->upper, s->outside); \
        break;
    switch (s->dtype) {
        SELECT(TSR_U8)
        SELECT(TSR_I8) SELECT(TSR_U16) SELECT(TSR_I16) SELECT(TSR_U32) SELECT(TSR_I32) SELECT(TSR_U64) SELECT(TSR_I64) SELECT(TSR_F32)
            SELECT(TSR_F64) default : break;
    }
#undef SELECT
}

static tsr_status cpu_select(tsr_queue *queue, const void *data, tsr_dtype dtype, int64_t count, int64_t lower, int64_t upper, int outside,
                             uint8_t *mask)
{
    struct selection s = { data, dtype, outside, lower, upper, mask };
    tsr_parallel(queue->threads, count, GRAIN, select_range, &s);
    return TSR_OK;
}

static void combine_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct stream *s = (const struct stream *)user;
    double p[TSR_ROW_PART], q[TSR_ROW_PART] = { 0 };
    (void)worker;
    for (int64_t i = begin; i < end; i += TSR_ROW_PART) {
        int64_t n = tsr_min64(TSR_ROW_PART, end - i);
        TSR_ISA_SELECT(tsr_row_load)(s->from, i, n, p);
        if (s->second) TSR_ISA_SELECT(tsr_row_load)(s->second, i, n, q);
        TSR_ISA_SELECT(tsr_row_combine)(s->combination, s->a, p, s->b, q, s->c, (float *)s->to + i, n);
    }
}

static tsr_status cpu_combine(tsr_queue *queue, tsr_combination combination, double a, const tsr_source *first, double b, const tsr_source *second,
                              double c, float *to, int64_t count)
{
    struct stream s = { .from = first, .second = second, .to = to, .a = a, .b = b, .c = c, .combination = combination };
    tsr_parallel(queue->threads, count, GRAIN, combine_range, &s);
    return TSR_OK;
}

/* ---- measures ---------------------------------------------------------------------------------------------------------------------- */

struct measure {
    const tsr_source *from;
    int64_t count;
    tsr_block_statistics *blocks;
    const tsr_histogram_plan *plan;
    uint64_t *counts; /* one histogram per worker */
};

static void statistics_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct measure *m = (const struct measure *)user;
    double block[TSR_STATISTICS_BLOCK];
    (void)worker;
    for (int64_t b = begin; b < end; b++) {
        int64_t first = b * TSR_STATISTICS_BLOCK, n = tsr_min64(TSR_STATISTICS_BLOCK, m->count - first);
        TSR_ISA_SELECT(tsr_row_load)(m->from, first, n, block);
        TSR_ISA_SELECT(tsr_row_statistics)(block, n, first, &m->blocks[b]);
    }
}

static tsr_status cpu_statistics(tsr_queue *queue, const tsr_source *from, int64_t count, tsr_block_statistics *blocks)
{
    struct measure m = { .from = from, .count = count, .blocks = blocks };
    tsr_parallel(queue->threads, tsr_ceil_div(count, TSR_STATISTICS_BLOCK), 8, statistics_range, &m);
    return TSR_OK;
}

struct search {
    const void *data;
    tsr_dtype dtype;
    uint32_t *bad;
};

static void search_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct search *s = (const struct search *)user;
    (void)worker;
    if (TSR_ISA_SELECT(tsr_row_nonfinite)(s->data, s->dtype, begin, end - begin)) __atomic_store_n(s->bad, 1, __ATOMIC_RELAXED);
}

static tsr_status cpu_find_nonfinite(tsr_queue *queue, const void *data, tsr_dtype dtype, int64_t count, uint32_t *bad)
{
    struct search s = { data, dtype, bad };
    tsr_parallel(queue->threads, count, GRAIN, search_range, &s);
    return TSR_OK;
}

static void histogram_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct measure *m = (const struct measure *)user;
    uint64_t *counts = m->counts + (int64_t)worker * (m->plan->bins + 3);
    double row[TSR_ROW_PART];
    for (int64_t i = begin; i < end; i += TSR_ROW_PART) {
        int64_t n = tsr_min64(TSR_ROW_PART, end - i);
        TSR_ISA_SELECT(tsr_row_load)(m->from, i, n, row);
        for (int64_t k = 0; k < n; k++) counts[tsr_histogram_bin(m->plan, row[k])]++;
    }
}

static tsr_status cpu_histogram(tsr_queue *queue, const tsr_source *from, int64_t count, const tsr_histogram_plan *plan, uint64_t *counts)
{
    int64_t bins = plan->bins + 3;
    int threads = queue->threads < 1 ? 1 : queue->threads;
    size_t bytes = (size_t)bins * (size_t)threads * sizeof *counts;
    struct measure m = { .from = from, .count = count, .plan = plan };
    TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&m.counts));
    memset(m.counts, 0, bytes);
    tsr_parallel(threads, count, GRAIN, histogram_range, &m);
    for (int t = 0; t < threads; t++)
        for (int64_t i = 0; i < bins; i++) counts[i] += m.counts[t * bins + i];
    tsr_host_release(NULL, m.counts, bytes);
    return TSR_OK;
}

/* ---- moving voxels ------------------------------------------------------------------------------------------------------------------- */

struct rearrange {
    const tsr_rearrange *plan;
    const char *from;
    char *to;
    size_t element;
};

/* Voxels of one type from `in` (or the constant where a position is -1); column[i] = position of output x. */
#define REARRANGE_TYPE(type)                                                                                         \
    do {                                                                                                             \
        type *out_ = (type *)(void *)r->to + out;                                                                    \
        const type *in_ = (const type *)(const void *)r->from + (row < 0 ? 0 : row);                                 \
        type constant_;                                                                                              \
        memcpy(&constant_, &p->value, sizeof constant_);                                                             \
        for (int64_t x = x0; x < x1; x++) out_[x] = row < 0 || column[x - x0] < 0 ? constant_ : in_[column[x - x0]]; \
    } while (0)

/* Where an output axis `across` (1 or 2) runs along the input's rows: pieces of TILE voxels by TILE of its indices, whose input fits the
 * first-level cache, so that every cache line is fetched once. */
enum { TILE = 64 };
static void rearrange_tile(const struct rearrange *r, int across, int64_t other, int64_t a0, int64_t a1)
{
    const tsr_rearrange *p = r->plan;
    int64_t column[TILE], fixed = tsr_rearrange_axis(p, 3 - across, other);
    for (int64_t x0 = 0; x0 < p->size[0]; x0 += TILE) {
        int64_t x1 = tsr_min64(x0 + TILE, p->size[0]);
        for (int64_t x = x0; x < x1; x++) column[x - x0] = tsr_rearrange_axis(p, 0, x);
        for (int64_t a = a0; a < a1; a++) {
            int64_t moving = tsr_rearrange_axis(p, across, a), row = fixed < 0 || moving < 0 ? -1 : fixed + moving;
            int64_t out = (across == 1 ? other * p->size[1] + a : a * p->size[1] + other) * p->size[0];
            switch (r->element) {
            case 1: REARRANGE_TYPE(uint8_t); break;
            case 2: REARRANGE_TYPE(uint16_t); break;
            case 4: REARRANGE_TYPE(uint32_t); break;
            default: REARRANGE_TYPE(uint64_t); break;
            }
        }
    }
}

static int across_axis(const tsr_rearrange *p) { return p->axes[2] == 0 ? 2 : 1; }

static void rearrange_tiles(void *user, int64_t begin, int64_t end, int worker)
{
    const struct rearrange *r = (const struct rearrange *)user;
    int across = across_axis(r->plan);
    int64_t others = r->plan->size[3 - across];
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int64_t a0 = i / others * TILE;
        rearrange_tile(r, across, i % others, a0, tsr_min64(a0 + TILE, r->plan->size[across]));
    }
}

/* Output rows that are pieces of input rows: the piece in one copy, the border voxel by voxel. */
static void rearrange_copy_row(const struct rearrange *r, int64_t z, int64_t y)
{
    const tsr_rearrange *p = r->plan;
    int64_t iz = tsr_rearrange_axis(p, 2, z), iy = tsr_rearrange_axis(p, 1, y), row = iz < 0 || iy < 0 ? -1 : iz + iy;
    int64_t first = tsr_max64(0, -p->offset[0]), last = tsr_min64(p->size[0], p->input_size[0] - p->offset[0]), nx = p->size[0];
    char *out = r->to + (size_t)((z * p->size[1] + y) * nx) * r->element;
    if (row < 0 || last < first) first = last = 0;
    memcpy(out + (size_t)first * r->element, r->from + (size_t)(row < 0 ? 0 : row + p->offset[0] + first) * r->element,
           (size_t)(last - first) * r->element);
    for (int64_t x = first == 0 ? last : 0; x < nx; x = x + 1 == first ? last : x + 1) {
        int64_t column = row < 0 ? -1 : tsr_rearrange_axis(p, 0, x);
        memcpy(out + (size_t)x * r->element, column < 0 ? (const char *)&p->value : r->from + (size_t)(row + column) * r->element, r->element);
    }
}

static void rearrange_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct rearrange *r = (const struct rearrange *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) rearrange_copy_row(r, i / r->plan->size[1], i % r->plan->size[1]);
}

static tsr_status cpu_rearrange(tsr_queue *queue, const tsr_rearrange *plan, const void *from, void *to, size_t element)
{
    struct rearrange r = { plan, (const char *)from, (char *)to, element };
    int across = across_axis(plan);
    if (plan->axes[0] == 0 && !plan->flip[0]) tsr_parallel(queue->threads, plan->size[1] * plan->size[2], 64, rearrange_range, &r);
    else tsr_parallel(queue->threads, plan->size[3 - across] * tsr_ceil_div(plan->size[across], TILE), 4, rearrange_tiles, &r);
    return TSR_OK;
}

struct map_call {
    const tsr_map_module *module;
    const tsr_map_job *job;
};
static void map_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct map_call *call = (const struct map_call *)user;
    (void)worker;
    call->module->thread(call->job, begin, 1, end);
}
static tsr_status cpu_map(tsr_queue *queue, const tsr_map_module *module, const tsr_map_job *job)
{
    struct map_call call = { module, job };
    tsr_parallel(queue->threads, job->size[0] * job->size[1] * job->size[2], 4096, map_range, &call);
    return TSR_OK;
}

const tsr_volume_ops tsr_volume_cpu = {
    .convert = cpu_convert,
    .rearrange = cpu_rearrange,
    .resample = tsr_cpu_resample,
    .smooth = tsr_cpu_smooth,
    .laplacian = tsr_cpu_laplacian,
    .statistics = cpu_statistics,
    .find_nonfinite = cpu_find_nonfinite,
    .histogram = cpu_histogram,
    .threshold = cpu_threshold,
    .select = cpu_select,
    .combine = cpu_combine,
    .components = tsr_cpu_components,
    .components_work = tsr_cpu_components_work,
    .label_sizes = tsr_cpu_label_sizes,
    .select_labels = tsr_cpu_select_labels,
    .map = cpu_map,
};
