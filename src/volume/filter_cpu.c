/* volume/filter_cpu.c: smoothing, Laplacian and resampling on the CPU. */
#include "core/parallel.h"
#include "volume/filter_isa.h"
#include "volume/volume_cpu.h"

/* ---- smoothing: x and y of a slice through a ring of rows, then z in place through a ring of slice parts ---------------------------- */

enum { PART = 2048 }; /* floats of a slice that the z pass takes at a time */

struct smooth {
    const tsr_smooth_plan *plan;
    const tsr_source *from;
    float *to;
    char *scratch; /* per worker */
    size_t scratch_bytes;
};

struct smooth_rows { /* a worker's scratch */
    const float **below, **above;
    float *padded, *ring;
};

static size_t smooth_scratch(const tsr_smooth_plan *p, char *at, struct smooth_rows *rows)
{
    int64_t most = tsr_max64(tsr_max64(p->radius[0], p->radius[1]), p->radius[2]);
    size_t pointers = (size_t)(most + 1) * sizeof(float *);
    size_t padded = (size_t)(p->size[0] + 2 * p->radius[0]) * sizeof(float);
    size_t ring = (size_t)tsr_max64((2 * p->radius[1] + 1) * p->size[0], (2 * p->radius[2] + 1) * PART) * sizeof(float);
    if (at) *rows = (struct smooth_rows){ (const float **)(void *)at, (const float **)(void *)(at + pointers), (float *)(void *)(at + 2 * pointers),
                                          (float *)(void *)(at + 2 * pointers + padded) };
    return (2 * pointers + padded + ring + 127) / 64 * 64;
}

/* Row y of slice z, smoothed along x. */
static void smooth_x(const struct smooth *s, struct smooth_rows *rows, int64_t y, int64_t z, float *out)
{
    const tsr_smooth_plan *p = s->plan;
    int64_t nx = p->size[0], radius = p->radius[0];
    float *row = rows->padded + radius;
    TSR_ISA_SELECT(tsr_row_load_float)(s->from, (z * p->size[1] + y) * nx, nx, row);
    for (int64_t k = 1; k <= radius; k++) {
        row[-k] = row[0];
        row[nx - 1 + k] = row[nx - 1];
    }
    for (int64_t k = 0; k <= radius; k++) {
        rows->below[k] = row - k;
        rows->above[k] = row + k;
    }
    TSR_ISA_SELECT(tsr_row_taps)(out, rows->below, rows->above, p->weights[0], radius, nx);
}

static void smooth_slices(void *user, int64_t begin, int64_t end, int worker)
{
    const struct smooth *s = (const struct smooth *)user;
    const tsr_smooth_plan *p = s->plan;
    int64_t nx = p->size[0], ny = p->size[1], radius = p->radius[1], length = 2 * radius + 1;
    struct smooth_rows rows = { 0 };
    smooth_scratch(p, s->scratch + (size_t)worker * s->scratch_bytes, &rows);
    for (int64_t z = begin; z < end; z++) {
        int64_t ready = 0; /* rows smoothed along x so far */
        for (int64_t y = 0; y < ny; y++) {
            for (; ready <= tsr_min64(y + radius, ny - 1); ready++) smooth_x(s, &rows, ready, z, rows.ring + ready % length * nx);
            for (int64_t k = 0; k <= radius; k++) {
                rows.below[k] = rows.ring + tsr_clamp_index(y - k, ny) % length * nx;
                rows.above[k] = rows.ring + tsr_clamp_index(y + k, ny) % length * nx;
            }
            TSR_ISA_SELECT(tsr_row_taps)(s->to + (z * ny + y) * nx, rows.below, rows.above, p->weights[1], radius, nx);
        }
    }
}

static void smooth_columns(void *user, int64_t begin, int64_t end, int worker)
{
    const struct smooth *s = (const struct smooth *)user;
    const tsr_smooth_plan *p = s->plan;
    int64_t slice = p->size[0] * p->size[1], nz = p->size[2], radius = p->radius[2], length = 2 * radius + 1;
    struct smooth_rows rows = { 0 };
    smooth_scratch(p, s->scratch + (size_t)worker * s->scratch_bytes, &rows);
    for (int64_t first = begin; first < end; first += PART) {
        int64_t n = tsr_min64(PART, end - first), ready = 0;
        for (int64_t z = 0; z < nz; z++) {
            for (; ready <= tsr_min64(z + radius, nz - 1); ready++)
                memcpy(rows.ring + ready % length * PART, s->to + ready * slice + first, (size_t)n * sizeof(float));
            for (int64_t k = 0; k <= radius; k++) {
                rows.below[k] = rows.ring + tsr_clamp_index(z - k, nz) % length * PART;
                rows.above[k] = rows.ring + tsr_clamp_index(z + k, nz) % length * PART;
            }
            TSR_ISA_SELECT(tsr_row_taps)(s->to + z * slice + first, rows.below, rows.above, p->weights[2], radius, n);
        }
    }
}

tsr_status tsr_cpu_smooth(tsr_queue *queue, const tsr_smooth_plan *plan, const tsr_source *from, float *to, float *scratch)
{
    int threads = queue->threads < 1 ? 1 : queue->threads;
    struct smooth s = { .plan = plan, .from = from, .to = to, .scratch_bytes = smooth_scratch(plan, NULL, NULL) };
    (void)scratch;
    TSR_TRY(tsr_host_allocate(NULL, s.scratch_bytes * (size_t)threads, (void **)&s.scratch));
    tsr_parallel(threads, plan->size[2], 1, smooth_slices, &s);
    if (plan->radius[2] > 0) tsr_parallel(threads, plan->size[0] * plan->size[1], PART, smooth_columns, &s);
    tsr_host_release(NULL, s.scratch, s.scratch_bytes * (size_t)threads);
    return TSR_OK;
}

/* ---- Laplacian ---------------------------------------------------------------------------------------------------------------------- */

struct laplacian {
    const float *from;
    float *to;
    const int64_t *size;
    const float *inverse;
};

static void laplacian_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const struct laplacian *l = (const struct laplacian *)user;
    int64_t nx = l->size[0], ny = l->size[1], nz = l->size[2];
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int64_t y = i % ny, z = i / ny;
        const float *const rows[5] = { l->from + i * nx, l->from + (z * ny + tsr_clamp_index(y - 1, ny)) * nx,
                                       l->from + (z * ny + tsr_clamp_index(y + 1, ny)) * nx, l->from + (tsr_clamp_index(z - 1, nz) * ny + y) * nx,
                                       l->from + (tsr_clamp_index(z + 1, nz) * ny + y) * nx };
        TSR_ISA_SELECT(tsr_row_laplacian)(l->to + i * nx, rows, l->inverse, nx);
    }
}

tsr_status tsr_cpu_laplacian(tsr_queue *queue, const float *from, float *to, const int64_t size[3], const float inverse[3])
{
    struct laplacian l = { from, to, size, inverse };
    tsr_parallel(queue->threads, size[1] * size[2], 64, laplacian_rows, &l);
    return TSR_OK;
}

/* ---- resampling ---------------------------------------------------------------------------------------------------------------------- */

struct resample {
    const tsr_resample_plan *plan;
    const void *from;
    tsr_dtype dtype;
    void *to;
    /* axis-aligned targets: taps of every target x, first [taps][nx] indices, weights likewise */
    int taps;
    int32_t *index;
    double *weights;
    double *scratch; /* per worker: rows blended along z (4), their inputs (4), blended along y, result */
    int64_t scratch_length;
};

static void resample_any(void *user, int64_t begin, int64_t end, int worker)
{
    const struct resample *r = (const struct resample *)user;
    const tsr_resample_plan *p = r->plan;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        double row[3];
        for (int a = 0; a < 3; a++) row[a] = tsr_resample_row(p, a, (double)(i % p->size[1]), (double)(i / p->size[1]));
        for (int64_t x = 0; x < p->size[0]; x++) {
            double position[3];
            for (int a = 0; a < 3; a++) position[a] = tsr_resample_position(p, a, row[a], (double)x);
            if (p->interpolation == TSR_INTERPOLATE_LABEL) tsr_resample_label_voxel(p, r->from, r->dtype, r->to, i * p->size[0] + x, position);
            else tsr_resample_voxel(p, r->from, r->dtype, r->to, i * p->size[0] + x, position);
        }
    }
}

static void fill_row(double *row, int64_t n, double value)
{
    for (int64_t i = 0; i < n; i++) row[i] = value;
}

/* Slices of an axis-aligned target: rows are blended along z, kept while the next target rows need them, blended along y, then gathered along x. */
static void resample_slices(void *user, int64_t begin, int64_t end, int worker)
{
    const struct resample *r = (const struct resample *)user;
    const tsr_resample_plan *p = r->plan;
    const tsr_source stored = { r->from, r->dtype, 1, 0 };
    int64_t nx = p->input_size[0], ny = p->input_size[1], nz = p->input_size[2], out_x = p->size[0];
    double *scratch = r->scratch + (int64_t)worker * r->scratch_length, *kept = scratch, *inputs = kept + 4 * nx, *blended = inputs + 4 * nx,
           *result = blended + nx;
    for (int64_t z = begin; z < end; z++) {
        double position_z = tsr_resample_position(p, 2, tsr_resample_row(p, 2, 0, (double)z), 0), wz[4] = { 0 };
        int64_t first_z, held[4] = { -1, -1, -1, -1 };
        tsr_resample_taps(p->interpolation, position_z, nz, &first_z, wz);
        for (int64_t y = 0; y < p->size[1]; y++) {
            double position_y = tsr_resample_position(p, 1, tsr_resample_row(p, 1, (double)y, (double)z), 0), wy[4] = { 0 };
            int64_t first_y, out = (z * p->size[1] + y) * out_x;
            tsr_resample_taps(p->interpolation, position_y, ny, &first_y, wy);
            if (p->constant && (tsr_resample_outside(position_y, ny) || tsr_resample_outside(position_z, nz))) {
                fill_row(result, out_x, p->value);
                TSR_ISA_SELECT(tsr_row_store)(result, out_x, r->to, r->dtype, out);
                continue;
            }
            const double *rows_y[4] = { 0 };
            for (int j = 0; j < r->taps; j++) {
                int64_t iy = tsr_clamp_index(first_y + j, ny);
                double *row = kept + (iy & 3) * nx;
                if (held[iy & 3] != iy) {
                    const double *rows_z[4] = { 0 };
                    for (int k = 0; k < r->taps; k++) {
                        TSR_ISA_SELECT(tsr_row_load)(&stored, (tsr_clamp_index(first_z + k, nz) * ny + iy) * nx, nx, inputs + k * nx);
                        rows_z[k] = inputs + k * nx;
                    }
                    TSR_ISA_SELECT(tsr_row_blend)(row, r->taps, wz, rows_z, nx);
                    held[iy & 3] = iy;
                }
                rows_y[j] = row;
            }
            TSR_ISA_SELECT(tsr_row_blend)(blended, r->taps, wy, rows_y, nx);
            TSR_ISA_SELECT(tsr_row_gather)(result, r->taps, blended, r->index, r->weights, out_x);
            for (int64_t x = 0; x < out_x && p->constant; x++)
                if (tsr_resample_outside(tsr_resample_position(p, 0, tsr_resample_row(p, 0, (double)y, (double)z), (double)x), nx))
                    result[x] = p->value;
            TSR_ISA_SELECT(tsr_row_store)(result, out_x, r->to, r->dtype, out);
        }
    }
}

static tsr_status resample_aligned(tsr_queue *queue, struct resample *r)
{
    const tsr_resample_plan *p = r->plan;
    int threads = queue->threads < 1 ? 1 : queue->threads;
    r->taps = p->interpolation == TSR_INTERPOLATE_LINEAR ? 2 : 4;
    r->scratch_length = 9 * p->input_size[0] + p->size[0];
    size_t weights = (size_t)(r->taps * p->size[0]),
           bytes = weights * (sizeof(double) + sizeof(int32_t)) + (size_t)(threads * r->scratch_length) * sizeof(double);
    TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&r->scratch));
    r->weights = r->scratch + threads * r->scratch_length;
    r->index = (int32_t *)(void *)(r->weights + weights);
    for (int64_t x = 0; x < p->size[0]; x++) {
        int64_t first;
        double w[4] = { 0 };
        tsr_resample_taps(p->interpolation, tsr_resample_position(p, 0, tsr_resample_row(p, 0, 0, 0), (double)x), p->input_size[0], &first, w);
        for (int k = 0; k < r->taps; k++) {
            r->index[k * p->size[0] + x] = (int32_t)tsr_clamp_index(first + k, p->input_size[0]);
            r->weights[k * p->size[0] + x] = w[k];
        }
    }
    tsr_parallel(threads, p->size[2], 1, resample_slices, r);
    tsr_host_release(NULL, r->scratch, bytes);
    return TSR_OK;
}

tsr_status tsr_cpu_resample(tsr_queue *queue, const tsr_resample_plan *plan, const void *from, tsr_dtype dtype, void *to)
{
    struct resample r = { .plan = plan, .from = from, .dtype = dtype, .to = to };
    int aligned = (plan->interpolation == TSR_INTERPOLATE_LINEAR || plan->interpolation == TSR_INTERPOLATE_CUBIC) && plan->input_size[0] <= INT32_MAX;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) aligned = aligned && (i == k || plan->matrix[i][k] == 0);
    if (aligned) TSR_TRY(resample_aligned(queue, &r));
    else tsr_parallel(queue->threads, plan->size[1] * plan->size[2], 16, resample_any, &r);
    return TSR_OK;
}
