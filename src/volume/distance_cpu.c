/* volume/distance_cpu.c: rows in place; then blocks of neighbouring columns, gathered so that each column lies together and every cache line
 * of the volume is read and written once per pass. */
#include "core/parallel.h"
#include "tessera/distance.h"
#include "volume/distance_isa.h"
#include "volume/distance_ops.h"

enum { COLUMNS = TSR_DISTANCE_COLUMNS, NEAR = 320, WHOLE = 2048 };

struct transform {
    const void *mask;
    tsr_dtype dtype;
    tsr_size3 size;
    float weight[3], core[3];
    float *distance;
    const tsr_distance_finish *finish;
    char *scratch;
    int64_t scratch_per_worker;
    int axis, outside_only;
    int whole;  /* squares are whole numbers, and their sums below 2^24: floats hold them */
    float most; /* of whole squares: what is farther is beyond the band, however far */
};

static int64_t longest_line(tsr_size3 size) { return tsr_max64(size.y, size.z); }
static int64_t per_worker(tsr_size3 size) { return tsr_ceil_div(longest_line(size) * (2 * COLUMNS * (int64_t)sizeof(float) + 2), 64) * 64; }
static int64_t cpu_scratch_bytes(const tsr_queue *queue, tsr_size3 size) { return queue->threads * per_worker(size); }

static void one_row(const struct transform *t, int64_t row, int bytes)
{
    const int32_t n = (int32_t)t->size.x;
    const uint8_t *mask = (const uint8_t *)t->mask + row * n; /* of bytes alone */
    float *out = t->distance + row * n;
    int32_t last[2] = { -1, -1 }; /* position of the last voxel outside and inside */
    for (int32_t x = 0; x < n; x++) {
        const int inside = bytes ? mask[x] != 0 : tsr_distance_inside(t->mask, t->dtype, row * n + x);
        const float left = t->outside_only && inside ? -1.0f : tsr_distance_along_row(inside, x, last[!inside], t->weight[0], t->core[0]);
        out[x] = tsr_clampf(left, -t->most, t->most);
        last[inside] = x;
    }
    last[0] = last[1] = -1;
    for (int32_t x = n - 1; x >= 0; x--) {
        const int inside = out[x] < 0.0f;
        last[inside] = x;
        if (t->outside_only && inside) continue;
        const float right = tsr_distance_along_row(inside, x, last[!inside], t->weight[0], t->core[0]);
        if (tsr_absf(right) < tsr_absf(out[x])) out[x] = right;
    }
}

static void rows(void *user, int64_t begin, int64_t end, int worker)
{
    const struct transform *t = (const struct transform *)user;
    (void)worker;
    for (int64_t row = begin; row < end; row++)
        if (t->dtype == TSR_U8) one_row(t, row, 1);
        else one_row(t, row, 0);
}

/* Columns side by side are looked at outward from each voxel where that is soon over: in short lines, and near the other side. */
static int near(const struct transform *t, const float *block, int64_t n)
{
    float most = 0.0f;
    if (!t->whole || n > WHOLE) return 0;
    if (n <= NEAR) return 1;
    for (int64_t i = 0; i < n * COLUMNS; i++) most = tsr_maxf(most, tsr_absf(block[i]));
    return most < 0.0625f * (float)(NEAR * NEAR);
}

/* Item = one block of columns: of slice z for the y axis, of row y for the z axis. */
static void columns(void *user, int64_t begin, int64_t end, int worker)
{
    const struct transform *t = (const struct transform *)user;
    int64_t blocks = tsr_ceil_div(t->size.x, COLUMNS), plane = t->size.x * t->size.y, n = t->axis == 1 ? t->size.y : t->size.z;
    int64_t step = t->axis == 1 ? t->size.x : plane, outer = t->axis == 1 ? plane : t->size.x;
    float *in = (float *)(void *)(t->scratch + worker * t->scratch_per_worker), *out = in + COLUMNS * n;
    for (int64_t item = begin; item < end; item++) {
        int64_t x = item % blocks * COLUMNS, width = tsr_min64(COLUMNS, t->size.x - x);
        float *corner = t->distance + item / blocks * outer + x;
        if (width == COLUMNS && t->whole) {
            for (int64_t i = 0; i < n; i++) memcpy(in + i * COLUMNS, corner + i * step, COLUMNS * sizeof *in);
            if (near(t, in, n)) {
                TSR_ISA_SELECT(tsr_distance_outward_columns)(in, out, (int32_t)n, t->finish);
                for (int64_t i = 0; i < n; i++) memcpy(corner + i * step, out + i * COLUMNS, COLUMNS * sizeof *out);
                continue;
            }
        }
        for (int64_t i = 0; i < n; i++)
            for (int64_t c = 0; c < width; c++) in[c * n + i] = corner[i * step + c];
        for (int64_t c = 0; c < width; c++) {
            tsr_distance_line line = { .in = in + c * n,
                                       .out = out + c * n,
                                       .stack = (uint16_t *)(void *)(out + COLUMNS * n),
                                       .in_stride = 1,
                                       .out_stride = 1,
                                       .stack_stride = 1,
                                       .n = (int32_t)n,
                                       .weight = t->weight[t->axis],
                                       .core = t->core[t->axis],
                                       .outside_only = t->outside_only };
            tsr_distance_transform_line(&line, t->finish);
        }
        for (int64_t i = 0; i < n; i++)
            for (int64_t c = 0; c < width; c++) corner[i * step + c] = out[c * n + i];
    }
}

/* A whole number whose root is at least a voxel beyond the band; infinity: there is none. Searches outward end there. */
static float square_beyond(const tsr_distance_finish *finish)
{
    const double root = ceil(((double)finish->band + (double)finish->half) / (double)finish->scale) + 1.0;
    return (float)(root * root);
}

static tsr_status cpu_transform(tsr_queue *queue, const void *mask, tsr_dtype dtype, tsr_size3 size, const float weight[3], const float core[3],
                                const tsr_distance_finish *finish, void *scratch, float *distance)
{
    tsr_distance_finish keep = { .mode = -1 };
    struct transform t = { mask,
                           dtype,
                           size,
                           { weight[0], weight[1], weight[2] },
                           { core[0], core[1], core[2] },
                           distance,
                           &keep,
                           (char *)scratch,
                           per_worker(size),
                           1,
                           finish->mode == TSR_DISTANCE_TO_MASK,
                           1,
                           TSR_DISTANCE_FAR };
    for (int a = 0; a < 3; a++)
        if (weight[a] != 1.0f || core[a] != 0.0f) t.whole = 0;
    if (tsr_max64(size.x, longest_line(size)) > WHOLE) t.whole = 0;
    if (t.whole) t.most = tsr_minf(t.most, square_beyond(finish));
    int64_t blocks = tsr_ceil_div(size.x, COLUMNS);
    tsr_parallel(queue->threads, size.y * size.z, tsr_max64(1, (1 << 16) / size.x), rows, &t);
    tsr_parallel(queue->threads, size.z * blocks, tsr_max64(1, (1 << 12) / size.y), columns, &t);
    t.axis = 2;
    t.finish = finish;
    tsr_parallel(queue->threads, size.y * blocks, tsr_max64(1, (1 << 12) / size.z), columns, &t);
    return TSR_OK;
}

/* ---- evolution ----------------------------------------------------------------------------------------------------------------------------- */

static void lock_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_distance_pde_job *j = (const tsr_distance_pde_job *)user;
    (void)worker;
    for (int64_t row = begin; row < end; row++)
        for (int64_t x = 0; x < j->size[0]; x++) {
            const int64_t at[3] = { x, row % j->size[1], row / j->size[1] }, i = row * j->size[0] + x;
            j->to[i] = tsr_distance_pde_lock(j, i, at);
        }
}
static void step_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_distance_pde_job *j = (const tsr_distance_pde_job *)user;
    float most = 0.0f;
    uint32_t bits, seen = __atomic_load_n(j->change, __ATOMIC_RELAXED);
    (void)worker;
    for (int64_t row = begin; row < end; row++)
        for (int64_t x = 0; x < j->size[0]; x++) {
            const int64_t at[3] = { x, row % j->size[1], row / j->size[1] }, i = row * j->size[0] + x;
            j->to[i] = tsr_distance_pde_voxel(j, i, at);
            most = fmaxf(most, fabsf(j->to[i] - j->from[i]));
        }
    memcpy(&bits, &most, 4);
    while (seen < bits && !__atomic_compare_exchange_n(j->change, &seen, bits, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) continue;
}
static tsr_status cpu_pde_lock(tsr_queue *queue, const tsr_distance_pde_job *job)
{
    tsr_distance_pde_job own = *job;
    tsr_parallel(queue->threads, job->size[1] * job->size[2], 64, lock_rows, &own);
    return TSR_OK;
}
static tsr_status cpu_pde_step(tsr_queue *queue, const tsr_distance_pde_job *job)
{
    tsr_distance_pde_job own = *job;
    tsr_parallel(queue->threads, job->size[1] * job->size[2], 64, step_rows, &own);
    return TSR_OK;
}

const tsr_distance_ops tsr_distance_cpu = {
    .scratch_bytes = cpu_scratch_bytes, .transform = cpu_transform, .pde_lock = cpu_pde_lock, .pde_step = cpu_pde_step
};
