#include "flow/flow_isa.h"

void TSR_ISA_NAME(tsr_contour_slice)(const tsr_contour_job *job, int32_t z, float *s)
{
    const tsr_field_grid *g = &job->grid;
    const int64_t nx = g->n[0], count = nx * g->n[1];
    const float *v = g->v + z * g->sz, k[3] = { job->r[0], job->r[1], job->r[2] };
    if (job->perspective)
        for (int32_t y = 0; y < g->n[1]; y++)
            for (int32_t x = 0; x < g->n[0]; x++) s[y * nx + x] = tsr_contour_s(job, x, y, z);
    else
        for (int64_t i = 0; i < count; i++) s[i] = tsr_contour_dot(k, v + 4 * i);
}

/* A bit for each face of the samples of a row that may hold a zero of S. The samples behind the last (of x, y, z) have none. */
static void mixed_row(int64_t nx, const float *a, const float *b, const float *c, const float *d, uint8_t *faces)
{
    /* a here, b one up in y, c one up in z, d both */
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

static uint8_t count_sample(const tsr_contour_job *job, const int32_t at[3], unsigned faces, const float *a, const float *b, const float *c, const float *d)
{
    int count = 0;
    for (int face = 0; face < 3; face++) {
        if (!(faces >> face & 1)) continue;
        const float *across = face == 0 ? b : c, *from = a;
        const float s[4] = { from[0], face == 2 ? b[0] : a[1], across[0], face == 2 ? d[0] : across[1] };
        count += tsr_contour_count(job, at, face, s);
    }
    return (uint8_t)count;
}

void TSR_ISA_NAME(tsr_contour_count_slice)(const tsr_contour_job *job, int32_t z, const float *here, const float *above)
{
    enum { PIECE = 512 };
    const tsr_field_grid *g = &job->grid;
    const int32_t nx = g->n[0];
    uint8_t *counts = job->counts + (int64_t)z * nx * g->n[1], faces[PIECE + 8];
    for (int32_t y = 0; y < g->n[1]; y++, counts += nx) {
        const int last_y = y + 1 == g->n[1];
        const float *a = here + (int64_t)y * nx, *b = last_y ? a : a + nx, *c = above ? above + (int64_t)y * nx : a, *d = last_y ? c : c + nx;
        const unsigned exist = (last_y ? 0u : 1u) | (above ? 2u : 0u) | (!last_y && above ? 4u : 0u);
        memset(counts, 0, (size_t)nx);
        for (int32_t x0 = 0; x0 < nx; x0 += PIECE - 1) { /* the last sample of a piece is the first of the next */
            const int32_t n = nx - x0 < PIECE ? nx - x0 : PIECE, own = x0 + n == nx ? n : n - 1;
            mixed_row(n, a + x0, b + x0, c + x0, d + x0, faces);
            memset(faces + own, 0, 8);
            for (int32_t i = 0; i < own; i += 8) {
                uint64_t eight;
                memcpy(&eight, faces + i, 8);
                eight &= 0x0101010101010101ull * exist;
                for (int32_t x = i; eight; x++, eight >>= 8) {
                    const unsigned mixed = (unsigned)(eight & 7);
                    const int32_t at[3] = { x0 + x, y, z }, o = x0 + x;
                    if (mixed) counts[o] = count_sample(job, at, mixed, a + o, b + o, c + o, d + o);
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

void TSR_ISA_NAME(tsr_stream_range)(const tsr_stream_job *job, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) tsr_stream_half(job, i);
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
