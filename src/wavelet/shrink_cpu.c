/* wavelet/shrink_cpu.c: the loops of denoising on the CPU. */
#include "core/parallel.h"
#include "wavelet/shrink.h"

enum { PART = TSR_SHRINK_PART, LANES = TSR_SHRINK_LANES };

static tsr_status cpu_finite(tsr_queue *queue, const void *voxels, tsr_dtype dtype, int64_t count, uint64_t *first)
{
    int64_t i = 0;
    (void)queue;
    while (i < count && tsr_shrink_is_finite(tsr_voxel_load(voxels, dtype, i))) i++;
    *first = (uint64_t)i;
    return TSR_OK;
}

static void take_parts(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_shrink_job *j = (const tsr_shrink_job *)user;
    (void)worker;
    for (int64_t i = begin * PART; i < tsr_min64(end * PART, j->count); i++) j->samples[i] = tsr_shrink_sample(j, i);
}
static void give_parts(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_shrink_job *j = (const tsr_shrink_job *)user;
    (void)worker;
    for (int64_t i = begin * PART; i < tsr_min64(end * PART, j->count); i++) tsr_shrink_give(j, i);
}

/* Rows in two pieces, so that neighbours stay neighbours. */
static void roll_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_shrink_job *j = (const tsr_shrink_job *)user;
    const int64_t nx = j->size[0], sx = j->shift[0];
    (void)worker;
    for (int64_t r = begin; r < end; r++) {
        const float *from = j->samples + tsr_shrink_row(j, r);
        memcpy(j->shifted + r * nx, from + sx, (size_t)(nx - sx) * sizeof *from);
        memcpy(j->shifted + r * nx + nx - sx, from, (size_t)sx * sizeof *from);
    }
}
static void add_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_shrink_job *j = (const tsr_shrink_job *)user;
    const int64_t nx = j->size[0], sx = j->shift[0];
    (void)worker;
    for (int64_t r = begin; r < end; r++) {
        float *to = j->sum + tsr_shrink_row(j, r);
        const float *from = j->shifted + r * nx;
        for (int64_t x = 0; x < nx - sx; x++) to[x + sx] += from[x];
        for (int64_t x = nx - sx; x < nx; x++) to[x + sx - nx] += from[x];
    }
}

static tsr_shrink_job *writable(const tsr_shrink_job *job, tsr_shrink_job *own) /* what workers only read */
{
    *own = *job;
    return own;
}
static tsr_status cpu_take(tsr_queue *queue, const tsr_shrink_job *job)
{
    tsr_shrink_job own;
    tsr_parallel(queue->threads, tsr_shrink_parts(job->count), 4, take_parts, writable(job, &own));
    return TSR_OK;
}
static tsr_status cpu_give(tsr_queue *queue, const tsr_shrink_job *job)
{
    tsr_shrink_job own;
    tsr_parallel(queue->threads, tsr_shrink_parts(job->count), 4, give_parts, writable(job, &own));
    return TSR_OK;
}
static tsr_status cpu_roll(tsr_queue *queue, const tsr_shrink_job *job)
{
    tsr_shrink_job own;
    tsr_parallel(queue->threads, job->size[1] * job->size[2], 64, roll_rows, writable(job, &own));
    return TSR_OK;
}
static tsr_status cpu_add(tsr_queue *queue, const tsr_shrink_job *job)
{
    tsr_shrink_job own;
    tsr_parallel(queue->threads, job->size[1] * job->size[2], 64, add_rows, writable(job, &own));
    return TSR_OK;
}

/* ---- coefficients ------------------------------------------------------------------------------------------------------------------------------ */

static tsr_status cpu_magnitudes(tsr_queue *queue, const float *from, int64_t count, uint32_t *to)
{
    (void)queue;
    for (int64_t i = 0; i < count; i++) {
        const float m = fabsf(from[i]);
        memcpy(&to[i], &m, sizeof m);
    }
    return TSR_OK;
}

struct band {
    tsr_shrink_band band;
    double *partial;
    int hard;
};

static void square_parts(void *user, int64_t begin, int64_t end, int worker)
{
    const struct band *b = (const struct band *)user;
    (void)worker;
    for (int64_t p = begin; p < end; p++) {
        double lane[LANES] = { 0 };
        const int64_t last = tsr_min64((p + 1) * PART, b->band.count);
        for (int64_t i = p * PART; i < last; i += LANES)
            for (int k = 0; k < LANES && i + k < last; k++) lane[k] += tsr_shrink_square(b->band.data[i + k]);
        for (int half = LANES / 2; half > 0; half /= 2)
            for (int k = 0; k < half; k++) lane[k] += lane[k + half];
        b->partial[b->band.first_part + p] = lane[0];
    }
}
static tsr_status cpu_squares(tsr_queue *queue, const tsr_shrink_band *bands, int32_t count, double *partial)
{
    for (int32_t k = 0; k < count; k++) {
        struct band b = { bands[k], partial, 0 };
        tsr_parallel(queue->threads, tsr_shrink_parts(b.band.count), 4, square_parts, &b);
    }
    return TSR_OK;
}

static void shrink_parts(void *user, int64_t begin, int64_t end, int worker)
{
    const struct band *b = (const struct band *)user;
    (void)worker;
    for (int64_t i = begin * PART; i < tsr_min64(end * PART, b->band.count); i++)
        b->band.data[i] = tsr_shrink_coefficient(b->band.data[i], b->band.threshold, b->hard);
}
static tsr_status cpu_shrink(tsr_queue *queue, const tsr_shrink_band *bands, int32_t count, int hard)
{
    for (int32_t k = 0; k < count; k++) {
        struct band b = { bands[k], NULL, hard };
        tsr_parallel(queue->threads, tsr_shrink_parts(b.band.count), 4, shrink_parts, &b);
    }
    return TSR_OK;
}

const tsr_shrink_ops tsr_shrink_cpu = { .finite = cpu_finite,
                                        .take = cpu_take,
                                        .roll = cpu_roll,
                                        .add = cpu_add,
                                        .give = cpu_give,
                                        .magnitudes = cpu_magnitudes,
                                        .squares = cpu_squares,
                                        .shrink = cpu_shrink };
