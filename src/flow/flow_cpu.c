/* flow/flow_cpu.c: slices, lines and points in parallel. */
#include "core/parallel.h"
#include "flow/flow_isa.h"

#define RANGE(name, type, call)                                                                                                                   \
    static void name(void *user, int64_t begin, int64_t end, int worker)                                                                          \
    {                                                                                                                                             \
        (void)worker;                                                                                                                             \
        call((const type *)user, begin, end);                                                                                                     \
    }

RANGE(derive_range, tsr_derive_job, TSR_ISA_SELECT(tsr_derive_range))
RANGE(seed_range, tsr_contour_job, TSR_ISA_SELECT(tsr_contour_seed_range))
RANGE(stream_range, tsr_stream_job, TSR_ISA_SELECT(tsr_stream_range))
RANGE(line_range, tsr_lines_job, TSR_ISA_SELECT(tsr_line_range))
RANGE(value_range, tsr_values_job, TSR_ISA_SELECT(tsr_value_range))

static tsr_status cpu_derive(tsr_queue *queue, const tsr_derive_job *job)
{
    tsr_derive_job own = *job;
    tsr_parallel(queue->threads, tsr_flow_samples(&job->grid), 4096, derive_range, &own);
    return TSR_OK;
}

struct moments {
    const tsr_field_grid *grid;
    tsr_field_moments *slices;
};
static void moments_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct moments *m = (const struct moments *)user;
    (void)worker;
    for (int64_t z = begin; z < end; z++) {
        tsr_field_moments lane[TSR_FIELD_LANES];
        for (int32_t k = 0; k < TSR_FIELD_LANES; k++) tsr_field_moments_lane(m->grid, (int32_t)z, k, &lane[k]);
        for (int32_t half = TSR_FIELD_LANES / 2; half; half /= 2)
            for (int32_t k = 0; k < half; k++) tsr_field_moments_add(&lane[k], &lane[k + half]);
        m->slices[z] = lane[0];
    }
}
static tsr_status cpu_moments(tsr_queue *queue, const tsr_field_grid *grid, tsr_field_moments *slices)
{
    struct moments own = { grid, slices };
    tsr_parallel(queue->threads, grid->n[2], 1, moments_range, &own);
    return TSR_OK;
}

static void quantity_range(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_quantity_sample((const tsr_derive_job *)user, i);
}
static tsr_status cpu_quantity(tsr_queue *queue, const tsr_derive_job *job)
{
    tsr_derive_job own = *job;
    tsr_parallel(queue->threads, tsr_flow_samples(&job->grid), 4096, quantity_range, &own);
    return TSR_OK;
}

/* Slices of S and T are made once and serve the slice below, too. */
static void count_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_contour_job *j = (const tsr_contour_job *)user;
    const int64_t slice = (int64_t)j->grid.n[0] * j->grid.n[1];
    float *s[2] = { j->slices + 4 * worker * slice, j->slices + (4 * worker + 2) * slice };
    TSR_ISA_SELECT(tsr_contour_slice)(j, (int32_t)begin, s[begin & 1]);
    for (int64_t z = begin; z < end; z++) {
        const int last = z + 1 == j->grid.n[2];
        if (!last) TSR_ISA_SELECT(tsr_contour_slice)(j, (int32_t)z + 1, s[(z + 1) & 1]);
        TSR_ISA_SELECT(tsr_contour_count_slice)(j, (int32_t)z, s[z & 1], last ? NULL : s[(z + 1) & 1]);
    }
}
static tsr_status cpu_count(tsr_queue *queue, const tsr_contour_job *job)
{
    tsr_contour_job own = *job;
    void *memory;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)queue->threads * 4 * (size_t)job->grid.n[0] * (size_t)job->grid.n[1] * sizeof(float), &memory));
    own.slices = (float *)memory;
    tsr_parallel(queue->threads, job->grid.n[2], tsr_max64(1, tsr_min64(16, job->grid.n[2] / (4 * queue->threads))), count_range, &own);
    tsr_host_release(NULL, memory, 0);
    return TSR_OK;
}
static tsr_status cpu_seeds(tsr_queue *queue, const tsr_contour_job *job)
{
    tsr_contour_job own = *job;
    tsr_parallel(queue->threads, job->seeds_count, 128, seed_range, &own);
    return TSR_OK;
}
static void side_range(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_contour_volume_one((const tsr_contour_job *)user, i);
}
static tsr_status cpu_side(tsr_queue *queue, const tsr_contour_job *job)
{
    tsr_contour_job own = *job;
    tsr_parallel(queue->threads, tsr_flow_samples(&job->grid), 4096, side_range, &own);
    return TSR_OK;
}

static tsr_status cpu_trace(tsr_queue *queue, const tsr_stream_job *job)
{
    tsr_stream_job own = *job;
    const int64_t grain = tsr_max64(32, tsr_min64(512, job->lines / (4 * queue->threads))); /* lanes idle at the end of each range */
    tsr_parallel(queue->threads, 2 * job->lines, grain, stream_range, &own);
    return TSR_OK;
}
static tsr_status cpu_totals(tsr_queue *queue, const int32_t *points, int64_t lines, uint32_t *totals)
{
    (void)queue;
    for (int64_t i = 0; i < lines; i++) totals[i] = tsr_line_points(points, i);
    return TSR_OK;
}
static tsr_status cpu_lines(tsr_queue *queue, const tsr_lines_job *job)
{
    tsr_lines_job own = *job;
    tsr_parallel(queue->threads, job->lines, 16, line_range, &own);
    return TSR_OK;
}
static tsr_status cpu_values(tsr_queue *queue, const tsr_values_job *job)
{
    tsr_values_job own = *job;
    tsr_parallel(queue->threads, job->count, 4096, value_range, &own);
    return TSR_OK;
}
static void length_range(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_length_line((const tsr_values_job *)user, i);
}
static tsr_status cpu_lengths(tsr_queue *queue, const tsr_values_job *job)
{
    tsr_values_job own = *job;
    tsr_parallel(queue->threads, job->lines, 16, length_range, &own);
    return TSR_OK;
}

static void frame_range(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_tube_frames((const tsr_tube_job *)user, i);
}
static tsr_status cpu_frames(tsr_queue *queue, const tsr_tube_job *job)
{
    tsr_tube_job own = *job;
    tsr_parallel(queue->threads, job->lines, 16, frame_range, &own);
    return TSR_OK;
}
static void tube_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_tube_job *j = (const tsr_tube_job *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const int64_t count = (int64_t)(j->offsets[i + 1] - j->offsets[i]);
        for (int64_t n = 0; count > 1 && n < count; n++) tsr_tube_ring(j, i, n);
        for (int64_t n = 0; n + 1 < count; n++) tsr_tube_segment(j, i, n);
    }
}
static tsr_status cpu_tubes(tsr_queue *queue, const tsr_tube_job *job)
{
    tsr_tube_job own = *job;
    tsr_parallel(queue->threads, job->lines, 16, tube_range, &own);
    return TSR_OK;
}

static void ftle_range(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_ftle_sample((const tsr_ftle_job *)user, i);
}
static tsr_status cpu_ftle(tsr_queue *queue, const tsr_ftle_job *job)
{
    tsr_ftle_job own = *job;
    tsr_parallel(queue->threads, tsr_flow_samples(&job->grid), 1024, ftle_range, &own);
    return TSR_OK;
}

const tsr_flow_ops tsr_flow_cpu = { .derive = cpu_derive,
                                    .moments = cpu_moments,
                                    .quantity = cpu_quantity,
                                    .count = cpu_count,
                                    .seeds = cpu_seeds,
                                    .side = cpu_side,
                                    .trace = cpu_trace,
                                    .totals = cpu_totals,
                                    .lines = cpu_lines,
                                    .values = cpu_values,
                                    .lengths = cpu_lengths,
                                    .frames = cpu_frames,
                                    .tubes = cpu_tubes,
                                    .ftle = cpu_ftle };
