#include <string.h>

#include "core/parallel.h"

/* The smallest of all numbers, whatever their order. */
#define TSR_RECORD_KEEP(address, number)                                                                                                 \
    do {                                                                                                                                 \
        uint64_t old_ = __atomic_load_n(address, __ATOMIC_RELAXED);                                                                      \
        while ((number) < old_ && !__atomic_compare_exchange_n(address, &old_, number, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) continue; \
    } while (0)

#include "render/records_ops.h"

struct work {
    const tsr_records_job *job;
    const tsr_records_expand *mesh;
    const tsr_records_draw_job *draw;
    const tsr_transfer_linear *transfer;
    int32_t first_row;
    float *rgba, *depth;
    int32_t write;
};

/* Codes of a row within a tile, as many as an edge has: loops of known length become vector code. `sides` alone: 0 and 255. */
static void code_row(const tsr_records_job *j, int sides, const float *from, uint8_t *to)
{
    const float isovalue = j->isovalue, scale = j->scale;
    if (sides)
        for (int32_t x = 0; x < 1 << j->log2_edge; x++) to[x] = (uint8_t)((from[x] < isovalue) - 1);
    else if (j->log2_edge == 3)
        for (int32_t x = 0; x < 8; x++) to[x] = (uint8_t)tsr_record_code(from[x], isovalue, scale);
    else
        for (int32_t x = 0; x < 4; x++) to[x] = (uint8_t)tsr_record_code(from[x], isovalue, scale);
}

/* Codes in and around a tile from voxel `first` (-1 or 0) along each axis, and a bit per inside voxel of each row. Returns 0 if all are on one
 * side. */
static int load(const tsr_records_job *j, int sides, uint32_t id, int32_t first, uint8_t *code, uint32_t *rows)
{
    const int32_t k = j->log2_edge, edge = 1 << k, span = edge + 2, mask = edge - 1;
    uint32_t any = 0, all = ~0u;
    for (int32_t z = first; z <= edge; z++)
        for (int32_t y = first; y <= edge; y++) {
            const int64_t row = (z & mask) << k | (y & mask);
            const float *middle = j->phi + (((int64_t)tsr_record_tile(j, k, id, 0, y, z) << 2 * k | row) << k);
            uint8_t *to = code + ((z + 1) * span + y + 1) * span + 1;
            uint32_t bits = 0;
            code_row(j, sides, middle, to);
            if (first < 0)
                to[-1] = (uint8_t)tsr_record_code(j->phi[(((int64_t)tsr_record_tile(j, k, id, -1, y, z) << 2 * k | row) << k) + mask], j->isovalue,
                                                  j->scale);
            to[edge] = (uint8_t)tsr_record_code(j->phi[((int64_t)tsr_record_tile(j, k, id, edge, y, z) << 2 * k | row) << k], j->isovalue, j->scale);
            for (int32_t x = first; x <= edge; x++) bits |= (uint32_t)(to[x] < TSR_RECORD_OUTSIDE) << (x - first);
            rows[(z + 1) * span + y + 1] = bits;
            any |= bits;
            all &= bits;
        }
    return any != 0 && all != (1u << (edge + 1 - first)) - 1u;
}

/* Does a cell that begins in a tile which is not stored reach into this one? Then the voxels before the tile count too. */
static int first_of(const tsr_records_job *j, uint32_t id)
{
    for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++)
        if ((d % 3 == 0 || d / 3 % 3 == 0 || d / 9 == 0) && j->neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + d] < TSR_TILE_FIRST) return -1;
    return 0;
}

static void tiles(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    const tsr_records_job *j = w->job;
    const int32_t k = j->log2_edge, edge = 1 << k, span = edge + 2;
    uint8_t code[TSR_RECORD_CODES_MOST];
    uint32_t rows[TSR_RECORD_SPAN_MOST * TSR_RECORD_SPAN_MOST];
    (void)worker;
    for (int64_t t = begin; t < end; t++) {
        const uint32_t id = j->ids[t];
        uint32_t inside, found = 0;
        const uint64_t key = tsr_record_key(j, t);
        if (w->write && !j->counts[t]) continue;
        const int32_t first = first_of(j, id), cut = load(j, !w->write, id, first, code, rows);
        for (int32_t z = first; z < edge && cut; z++)
            for (int32_t y = first; y < edge; y++) {
                const uint32_t *r = rows + (z + 1) * span + y + 1, any = r[0] | r[1] | r[span] | r[span + 1],
                               all = r[0] & r[1] & r[span] & r[span + 1];
                for (uint32_t m = (any | any >> 1) & ~(all & all >> 1) & ((1u << (edge - first)) - 1u); m; m &= m - 1) {
                    const int32_t at[3] = { __builtin_ctz(m) + first, y, z };
                    uint16_t position[3];
                    uint64_t values;
                    if (!tsr_record_cell(j, k, key, id, code, at, position, &inside, &values)) continue;
                    if (w->write) tsr_record_store(j, j->places[t] + found, position, inside, values);
                    found++;
                }
            }
        if (w->write) continue;
        j->counts[t] = found;
        if (j->by_id) j->tile_keys[t] = key;
    }
}

static tsr_status run(tsr_queue *queue, const tsr_records_job *job, int write)
{
    struct work w = { .job = job, .write = write };
    if (!write && !job->by_id) job->counts[job->tiles] = 0;
    tsr_parallel(queue->threads, job->tiles, 16, tiles, &w);
    return TSR_OK;
}
static tsr_status cpu_count(tsr_queue *queue, const tsr_records_job *job) { return run(queue, job, 0); }
static tsr_status cpu_extract(tsr_queue *queue, const tsr_records_job *job) { return run(queue, job, 1); }

static tsr_status cpu_settle(tsr_queue *queue, const tsr_records_some *some)
{
    (void)queue;
    for (int64_t k = 0; k < some->gaps; k++) memset(some->cases + some->gap[k][0], 0, some->gap[k][1] - some->gap[k][0]);
    for (int64_t k = 0; k < some->count; k++) some->runs[some->run[k][0]] = (tsr_record_run){ some->run[k][1], some->run[k][2] };
    return TSR_OK;
}

static void expand_count(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_records_expand *e = ((const struct work *)user)->mesh;
    (void)worker;
    for (int64_t k = begin; k < end; k++) e->counts[k] = (uint8_t)tsr_record_triangles(&e->view, k);
}
static tsr_status cpu_expand_count(tsr_queue *queue, const tsr_records_expand *job)
{
    struct work w = { .mesh = job };
    job->counts[job->view.count] = 0;
    tsr_parallel(queue->threads, job->view.count, 1 << 14, expand_count, &w);
    return TSR_OK;
}
static void expand(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t k = begin; k < end; k++) tsr_record_expand(((const struct work *)user)->mesh, k);
}
static tsr_status cpu_expand(tsr_queue *queue, const tsr_records_expand *job)
{
    struct work w = { .mesh = job };
    tsr_parallel(queue->threads, job->view.count, 1 << 12, expand, &w);
    return TSR_OK;
}

static void splat(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    const tsr_records_draw_job *j = ((const struct work *)user)->draw;
    for (int64_t k = j->from + begin; k < j->from + end; k++) tsr_record_splat(j, k);
}
static void splat_runs(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    const tsr_records_draw_job *j = ((const struct work *)user)->draw;
    for (int64_t id = j->from + begin; id < j->from + end; id++) {
        const tsr_record_run run = j->runs[id];
        if (!run.count || !tsr_record_meets(j, j->keys[id])) continue;
        for (int64_t k = run.begin; k < (int64_t)run.begin + run.count; k++) tsr_record_splat(j, k);
    }
}
static tsr_status cpu_splat(tsr_queue *queue, const tsr_records_draw_job *job)
{
    struct work w = { .draw = job };
    if (job->runs) tsr_parallel(queue->threads, job->to - job->from, 1 << 8, splat_runs, &w);
    else tsr_parallel(queue->threads, job->to - job->from, 1 << 10, splat, &w);
    return TSR_OK;
}
static tsr_status cpu_clear(tsr_queue *queue, const tsr_records_draw_job *job)
{
    (void)queue;
    for (int64_t row = 0; row < (int64_t)(job->window[3] - job->window[1]) * job->frame.samples; row++) {
        int64_t count;
        uint64_t *to = job->hits + tsr_record_row(job, row, &count);
        memset(to, 0xff, (size_t)count * sizeof *to);
    }
    return TSR_OK;
}
static void rows(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    const tsr_records_draw_job *j = w->draw;
    const int plain = tsr_frame_parts(&j->frame, w->transfer) == TSR_PART_SHEET && j->frame.layers == 1;
    tsr_hit hits[TSR_RECORD_LAYERS];
    (void)worker;
    for (int64_t row = begin; row < end; row++) {
        const int32_t y = w->first_row + (int32_t)row;
        for (int32_t x = j->window[0]; x < j->window[2]; x++) {
            if (plain) tsr_record_pixel(j, TSR_PART_SHEET, 1, w->transfer, x, y, hits, w->rgba, w->depth);
            else tsr_record_pixel(j, TSR_PARTS_ALL, TSR_RECORD_LAYERS, w->transfer, x, y, hits, w->rgba, w->depth);
        }
    }
}
static tsr_status cpu_draw(tsr_queue *queue, const tsr_records_draw_job *job, const tsr_transfer_linear *transfer, int32_t row_begin, int32_t row_end,
                           float *rgba, float *depth)
{
    struct work w = { .draw = job, .transfer = transfer, .first_row = row_begin, .rgba = rgba, .depth = depth };
    tsr_parallel(queue->threads, row_end - row_begin, 4, rows, &w);
    return TSR_OK;
}

const tsr_records_ops tsr_records_cpu = { cpu_count, cpu_extract, cpu_settle, cpu_expand_count, cpu_expand, cpu_splat, cpu_clear, cpu_draw };
