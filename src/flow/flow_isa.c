#include "flow/flow_isa.h"
#include "flow/stream_lanes.h"

void TSR_ISA_NAME(tsr_contour_slice)(const tsr_contour_job *job, int32_t z, float *s)
{
    const tsr_field_grid *g = &job->grid;
    const int64_t nx = g->n[0], count = nx * g->n[1];
    const float *v = g->v + z * g->sz, *w = g->w + z * g->sz, k[3] = { job->r[0], job->r[1], job->r[2] };
    float *t = s + count;
    if (job->perspective)
        for (int32_t y = 0; y < g->n[1]; y++)
            for (int32_t x = 0; x < g->n[0]; x++) {
                s[y * nx + x] = tsr_contour_s(job, x, y, z);
                t[y * nx + x] = tsr_contour_t(job, x, y, z);
            }
    else {
        for (int64_t i = 0; i < count; i++) s[i] = tsr_contour_dot(k, v + 4 * i);
        for (int64_t i = 0; i < count; i++) t[i] = tsr_contour_dot(k, w + 4 * i);
    }
}

/* A bit for each face of the samples of a row whose corners are of both signs: values here, one up in y, one up in z, and both. */
static void mixed_row(int64_t nx, const float *a, const float *b, const float *c, const float *d, uint8_t *faces)
{
    for (int64_t x = 0; x + 1 < nx; x++) {
        const float low_a = tsr_minf(a[x], a[x + 1]), high_a = tsr_maxf(a[x], a[x + 1]);
        const float low_z = tsr_minf(low_a, tsr_minf(b[x], b[x + 1])), high_z = tsr_maxf(high_a, tsr_maxf(b[x], b[x + 1]));
        const float low_y = tsr_minf(low_a, tsr_minf(c[x], c[x + 1])), high_y = tsr_maxf(high_a, tsr_maxf(c[x], c[x + 1]));
        const float low_x = tsr_minf(tsr_minf(a[x], b[x]), tsr_minf(c[x], d[x])), high_x = tsr_maxf(tsr_maxf(a[x], b[x]), tsr_maxf(c[x], d[x]));
        faces[x] = (uint8_t)(((low_z <= 0.0f) & (high_z >= 0.0f)) | ((low_y <= 0.0f) & (high_y >= 0.0f)) << 1 |
                             ((low_x <= 0.0f) & (high_x >= 0.0f)) << 2);
    }
    const float low = tsr_minf(tsr_minf(a[nx - 1], b[nx - 1]), tsr_minf(c[nx - 1], d[nx - 1]));
    const float high = tsr_maxf(tsr_maxf(a[nx - 1], b[nx - 1]), tsr_maxf(c[nx - 1], d[nx - 1]));
    faces[nx - 1] = (uint8_t)((low <= 0.0f && high >= 0.0f) << 2);
}

static uint8_t count_sample(const tsr_contour_job *job, const int32_t at[3], unsigned faces, const float *const row[8])
{
    int count = 0;
    for (int face = 0; face < 3; face++) {
        float corner[2][4];
        if (!(faces >> face & 1)) continue;
        for (int k = 0; k < 2; k++) { /* S, T */
            const float *a = row[4 * k] + at[0], *u = face == 2 ? row[4 * k + 1] + at[0] : a + 1, *q = row[4 * k + (face == 0 ? 1 : 2)] + at[0];
            corner[k][0] = a[0];
            corner[k][1] = u[0];
            corner[k][2] = q[0];
            corner[k][3] = face == 2 ? row[4 * k + 3][at[0]] : q[1];
        }
        count += tsr_contour_count(job, at, face, corner[0], corner[1]);
    }
    return (uint8_t)count;
}

void TSR_ISA_NAME(tsr_contour_count_slice)(const tsr_contour_job *job, int32_t z, const float *here, const float *above)
{
    enum { PIECE = 512 };
    const tsr_field_grid *g = &job->grid;
    const int32_t nx = g->n[0];
    const int64_t slice = (int64_t)nx * g->n[1];
    uint8_t *counts = job->counts + z * slice, faces[PIECE + 8], others[PIECE + 8];
    for (int32_t y = 0; y < g->n[1]; y++, counts += nx) {
        const int last_y = y + 1 == g->n[1];
        const unsigned exist = (last_y ? 0u : 1u) | (above ? 2u : 0u) | (!last_y && above ? 4u : 0u);
        const float *row[8]; /* of S here, one up in y, one up in z, both; of T likewise */
        for (int k = 0; k < 2; k++) {
            row[4 * k] = here + k * slice + (int64_t)y * nx;
            row[4 * k + 1] = last_y ? row[4 * k] : row[4 * k] + nx;
            row[4 * k + 2] = above ? above + k * slice + (int64_t)y * nx : row[4 * k];
            row[4 * k + 3] = last_y ? row[4 * k + 2] : row[4 * k + 2] + nx;
        }
        memset(counts, 0, (size_t)nx);
        for (int32_t x0 = 0; x0 < nx; x0 += PIECE - 1) { /* the last sample of a piece is the first of the next */
            const int32_t n = nx - x0 < PIECE ? nx - x0 : PIECE, own = x0 + n == nx ? n : n - 1;
            mixed_row(n, row[0] + x0, row[1] + x0, row[2] + x0, row[3] + x0, faces);
            mixed_row(n, row[4] + x0, row[5] + x0, row[6] + x0, row[7] + x0, others);
            memset(faces + own, 0, 8);
            memset(others + own, 0, 8);
            for (int32_t i = 0; i < own; i += 8) {
                uint64_t eight, other;
                memcpy(&eight, faces + i, 8);
                memcpy(&other, others + i, 8);
                eight &= other & 0x0101010101010101ull * exist;
                for (int32_t x = i; eight; x++, eight >>= 8) {
                    const int32_t at[3] = { x0 + x, y, z };
                    if (eight & 7) counts[x0 + x] = count_sample(job, at, (unsigned)(eight & 7), row);
                }
            }
            if (own == n) break;
        }
    }
}

void TSR_ISA_NAME(tsr_contour_seed_range)(const tsr_contour_job *job, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) tsr_contour_seed_one(job, i);
}

void TSR_ISA_NAME(tsr_derive_range)(const tsr_derive_job *job, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) tsr_derive_sample(job, i);
}

/* Lines along their arc length go by lanes, see stream_lanes.h. Else several halves go side by side: while the values of one are on their way the others
 * calculate. A half that ended makes room for the next. */
void TSR_ISA_NAME(tsr_stream_range)(const tsr_stream_job *shared, int64_t begin, int64_t end)
{
    const tsr_stream_job own = *shared, *job = &own; /* nothing that is written can be part of it */
    enum { SIDE_BY_SIDE = 4 };
    tsr_stream_state state[SIDE_BY_SIDE];
    tsr_stream_stages stages[SIDE_BY_SIDE];
    int64_t half[SIDE_BY_SIDE], next = begin;
    int running = 0;
    if (halves_fit(job)) {
        halves_run(job, begin, end);
        return;
    }
    if (job->method != TSR_STREAM_RK4) {
        for (int64_t i = begin; i < end; i++) tsr_stream_half(job, i);
        return;
    }
    for (;;) {
        for (int k = 0; k < SIDE_BY_SIDE; k++) { /* fill up from the back */
            while (k >= running && next < end) {
                tsr_stream_begin(job, next, &state[k]);
                half[k] = next++;
                if (!state[k].end) running = k + 1;
                else tsr_stream_finish(job, half[k], &state[k]);
            }
        }
        if (!running) return;
        for (int k = 0; k < running; k++) tsr_stream_first(job, &state[k], &stages[k]);
        for (int stage = 1; stage < 4; stage++)
            for (int k = 0; k < running; k++) tsr_stream_stage(job, &state[k], &stages[k], stage);
        for (int k = running - 1; k >= 0; k--) {
            tsr_stream_last_stage(job, half[k], &state[k], &stages[k]);
            if (!state[k].end) continue;
            tsr_stream_finish(job, half[k], &state[k]);
            running--;
            state[k] = state[running];
            half[k] = half[running];
        }
    }
}

void TSR_ISA_NAME(tsr_line_range)(const tsr_lines_job *job, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++)
        for (int64_t n = 0, count = tsr_line_points(job->points, i); n < count; n++) tsr_line_point(job, i, n);
}

void TSR_ISA_NAME(tsr_value_range)(const tsr_values_job *job, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) tsr_value_one(job, i);
}
