/* vision/views/views_isa.c */
#include "vision/views/views_isa.h"

enum { RUN = 64 /* pixels whose weights are found at once */ };

/* Samples [*first, *end) of a row hold all that are there: others get no vertex and are not looked at. */
static void find_extent(const tsr_view_job *job, int64_t y, int32_t *first, int32_t *end)
{
    *first = 0;
    *end = job->columns;
    if (job->position || job->background > 0.0) return;
    const float *row = job->depth + y * job->columns;
    while (*first < *end && !(row[*first] > 0.0f)) (*first)++;
    while (*end > *first && !(row[*end - 1] > 0.0f)) (*end)--;
}

void TSR_ISA_NAME(tsr_views_vertex_rows)(const tsr_view_job *job, int64_t begin, int64_t end)
{
    for (int64_t y = begin; y < end; y++) {
        int32_t from, to;
        find_extent(job, y, &from, &to);
        for (int64_t x = from; x < to; x++) tsr_view_place_vertex(job, y * job->columns + x);
    }
}

void TSR_ISA_NAME(tsr_views_draw_rows)(const tsr_view_job *job, int64_t begin, int64_t end)
{
    for (int64_t y = begin; y < end; y++) {
        int32_t from, to, from_below, to_below;
        find_extent(job, y, &from, &to);
        if (job->connect != TSR_CONNECT_NONE) { /* the quads of two rows */
            if (y + 1 == job->rows) return;
            find_extent(job, y + 1, &from_below, &to_below);
            from = tsr_maxi(from, from_below);
            to = tsr_mini(to, to_below) - 1;
        }
        for (int64_t x = from; x < to; x++) tsr_view_draw(job, y * job->columns + x);
    }
}

void TSR_ISA_NAME(tsr_views_resolve_rows)(const tsr_view_job *job, int64_t begin, int64_t end)
{
    for (int64_t i = begin * job->width; i < end * job->width; i++) tsr_view_resolve(job, i);
}

/* Rays of a run of pixels of a row. */
typedef struct run_rays {
    double origin[3][RUN], ray[3][RUN];
} run_rays;

static void find_rays(const tsr_camera_rays *rays, int32_t x, int32_t y, run_rays *r)
{
    const tsr_camera_rays own = *rays;
    for (int32_t n = 0; n < RUN; n++) {
        double origin[3], ray[3];
        tsr_camera_rays_place(&own, x + n + 0.5, y + 0.5, origin, ray);
        for (int32_t k = 0; k < 3; k++) {
            r->origin[k][n] = origin[k];
            r->ray[k][n] = ray[k];
        }
    }
}

/* tsr_view_weight of a run, in vectors. */
static void find_weights(const tsr_merge_job *job, const tsr_view_source *source, const run_rays *r, int64_t first, uint32_t *weight)
{
    const tsr_view_source s = *source;
    const double feather = job->feather;
    double cosine[RUN], power[RUN], rim[RUN], depth[RUN];
    for (int32_t n = 0; n < RUN; n++) depth[n] = (double)s.view_depth[first + n];
    for (int32_t n = 0; n < RUN; n++) {
        const double ray[3] = { r->ray[0][n], r->ray[1][n], r->ray[2][n] };
        const double world[3] = { r->origin[0][n] + depth[n] * ray[0], r->origin[1][n] + depth[n] * ray[1], r->origin[2][n] + depth[n] * ray[2] };
        cosine[n] = tsr_view_cosine(&s, world, ray);
        rim[n] = tsr_view_rim(&s, world, feather);
    }
    for (int32_t n = 0; n < RUN; n++) power[n] = 1.0;
    for (int32_t k = 0; k < job->power; k++)
        for (int32_t n = 0; n < RUN; n++) power[n] *= cosine[n];
    for (int32_t n = 0; n < RUN; n++) weight[n] = tsr_view_whole(power[n] * rim[n]);
}

static void merge_run(const tsr_merge_job *job, int32_t x, int32_t y)
{
    const int64_t first = (int64_t)y * job->width + x;
    run_rays r;
    uint32_t chosen[RUN], several = 0, weights[TSR_VIEWS_MOST][RUN], weight[TSR_VIEWS_MOST];
    float most = 0.0f;
    for (int32_t s = 0; s < job->count; s++)
        for (int32_t n = 0; n < RUN; n++) most = tsr_maxf(most, job->source[s].view_depth[first + n]);
    if (!(most > 0.0f)) { /* nothing is here */
        for (int32_t n = 0; n < RUN; n++) tsr_merge_put(job, first + n, 0, NULL);
        return;
    }
    find_rays(&job->rays, x, y, &r);
    for (int32_t n = 0; n < RUN; n++) {
        const double origin[3] = { r.origin[0][n], r.origin[1][n], r.origin[2][n] }, ray[3] = { r.ray[0][n], r.ray[1][n], r.ray[2][n] };
        chosen[n] = tsr_merge_select(job, first + n, origin, ray);
        if (chosen[n] & (chosen[n] - 1)) several |= chosen[n];
    }
    for (int32_t s = 0; s < job->count; s++) {
        if (!(several >> s & 1u)) continue;
        if (job->mode == TSR_MERGE_BLEND) {
            const uint32_t even = tsr_merge_even(&job->source[s]);
            for (int32_t n = 0; n < RUN; n++) weights[s][n] = even;
        } else find_weights(job, &job->source[s], &r, first, weights[s]);
    }
    for (int32_t n = 0; n < RUN; n++) {
        for (int32_t s = 0; s < job->count; s++) weight[s] = chosen[n] >> s & 1u ? weights[s][n] : 0;
        tsr_merge_put(job, first + n, chosen[n], weight);
    }
}

void TSR_ISA_NAME(tsr_views_merge_rows)(const tsr_merge_job *job, int64_t begin, int64_t end)
{
    for (int32_t y = (int32_t)begin; y < (int32_t)end; y++) {
        int32_t x = 0;
        for (; x + RUN <= job->width; x += RUN) merge_run(job, x, y);
        for (; x < job->width; x++) tsr_merge_pixel(job, (int64_t)y * job->width + x);
    }
}

void TSR_ISA_NAME(tsr_views_texture_rows)(const tsr_merge_job *job, int64_t begin, int64_t end)
{
    for (int64_t i = begin * job->width; i < end * job->width; i++) tsr_texture_pixel(job, i);
}

void TSR_ISA_NAME(tsr_views_sweep_rows)(const tsr_sweep_job *job, int64_t begin, int64_t end)
{
    for (int64_t i = begin * job->width; i < end * job->width; i++) tsr_sweep_pixel(job, i);
}
