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
    const tsr_transfer_linear *none;
    float *rgba, *depth;
    int32_t write;
};

static void tiles(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    const tsr_records_job *j = w->job;
    const int32_t k = j->log2_edge, edge = 1 << k, codes = (edge + 2) * (edge + 2) * (edge + 2), cells = (edge + 1) * (edge + 1) * (edge + 1);
    uint8_t code[TSR_RECORD_CODES_MOST];
    (void)worker;
    for (int64_t t = begin; t < end; t++) {
        const uint32_t id = j->ids[t];
        uint32_t sides = 0, inside, found = 0;
        if (w->write && j->places[t] == j->places[t + 1]) continue;
        for (int32_t i = 0; i < codes; i++) {
            code[i] = (uint8_t)tsr_record_load(j, k, id, i);
            sides |= code[i] < TSR_RECORD_OUTSIDE ? 1u : 2u;
        }
        for (int32_t i = 0; i < cells && sides == 3; i++) {
            uint16_t position[3];
            uint64_t values;
            if (!tsr_record_cell(j, k, j->keys[t], id, code, i, position, &inside, &values)) continue;
            if (w->write) tsr_record_store(j, j->places[t] + found, position, inside, values);
            found++;
        }
        if (!w->write) j->counts[t] = found;
    }
}

static tsr_status run(tsr_queue *queue, const tsr_records_job *job, int write)
{
    struct work w = { .job = job, .write = write };
    if (!write) job->counts[job->tiles] = 0;
    tsr_parallel(queue->threads, job->tiles, 16, tiles, &w);
    return TSR_OK;
}
static tsr_status cpu_count(tsr_queue *queue, const tsr_records_job *job) { return run(queue, job, 0); }
static tsr_status cpu_extract(tsr_queue *queue, const tsr_records_job *job) { return run(queue, job, 1); }

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
    for (int64_t k = begin; k < end; k++) tsr_record_splat(((const struct work *)user)->draw, k);
}
static tsr_status cpu_splat(tsr_queue *queue, const tsr_records_draw_job *job)
{
    struct work w = { .draw = job };
    tsr_parallel(queue->threads, job->view.count, 1 << 10, splat, &w);
    return TSR_OK;
}
static void rows(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t y = begin; y < end; y++)
        for (int32_t x = 0; x < w->draw->frame.width; x++) tsr_record_pixel(w->draw, w->none, x, (int32_t)y, w->rgba, w->depth);
}
static tsr_status cpu_draw(tsr_queue *queue, const tsr_records_draw_job *job, float *rgba, float *depth)
{
    const tsr_transfer_linear none = { 0 };
    struct work w = { .draw = job, .none = &none, .rgba = rgba, .depth = depth };
    tsr_parallel(queue->threads, job->frame.height, 4, rows, &w);
    return TSR_OK;
}

const tsr_records_ops tsr_records_cpu = { cpu_count, cpu_extract, cpu_expand_count, cpu_expand, cpu_splat, cpu_draw };
