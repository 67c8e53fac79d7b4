/* fluid/fluid_cpu.c: particles, tiles and rows in parallel. Minima and sums of whole numbers do not depend on the order. */
#include "core/parallel.h"
#include "fluid/fluid_isa.h"

static void project_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_fluid_bin_job *j = (const tsr_fluid_bin_job *)user;
    tsr_fluid_tally tally = { 0 };
    (void)worker;
    TSR_ISA_SELECT(tsr_fluid_project_range)(j, (int32_t)begin, (int32_t)end, &tally);
    for (int k = 0; k < TSR_FLUID_FATES; k++) __atomic_fetch_add(&j->tally->fates[k], tally.fates[k], __ATOMIC_RELAXED);
    __atomic_fetch_add(&j->tally->entries, tally.entries, __ATOMIC_RELAXED);
}

static tsr_status cpu_project(tsr_queue *queue, const tsr_fluid_bin_job *job)
{
    tsr_fluid_bin_job own = *job;
    tsr_parallel(queue->threads, job->draw.count, 4096, project_range, &own);
    return TSR_OK;
}

static void fill_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_fluid_bin_job *j = (const tsr_fluid_bin_job *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int32_t box[4];
        if (!tsr_fluid_tiles_again(j, (int32_t)i, box)) continue;
        for (int32_t y = box[1]; y < box[3]; y++)
            for (int32_t x = box[0]; x < box[2]; x++) {
                const int32_t tile = y * j->draw.view.tiles[0] + x;
                j->entries[j->starts[tile] + __atomic_fetch_add(&j->cursors[tile], 1, __ATOMIC_RELAXED)] = (uint32_t)i;
            }
    }
}

static tsr_status cpu_fill(tsr_queue *queue, const tsr_fluid_bin_job *job)
{
    tsr_fluid_bin_job own = *job;
    tsr_parallel(queue->threads, job->draw.count, 4096, fill_range, &own);
    return TSR_OK;
}

#define ROWS(name, type, call)                                                     \
    static void name(void *user, int64_t begin, int64_t end, int worker)           \
    {                                                                              \
        const type *j = (const type *)user;                                        \
        (void)worker;                                                              \
        for (int64_t i = begin; i < end; i++) TSR_ISA_SELECT(call)(j, (int32_t)i); \
    }
ROWS(splat_tiles, tsr_fluid_splat_job, tsr_fluid_splat_tile)
ROWS(noise_tiles, tsr_fluid_noise_job, tsr_fluid_noise_tile)
ROWS(normal_rows, tsr_fluid_normal_job, tsr_fluid_normal_row)
ROWS(backdrop_rows, tsr_fluid_backdrop_job, tsr_fluid_backdrop_row)
ROWS(scene_rows, tsr_fluid_backdrop_job, tsr_fluid_scene_row)
ROWS(compose_rows, tsr_fluid_compose_job, tsr_fluid_compose_row)

static tsr_status cpu_splat(tsr_queue *queue, const tsr_fluid_splat_job *job)
{
    tsr_fluid_splat_job own = *job;
    tsr_parallel(queue->threads, (int64_t)job->draw.view.tiles[0] * job->draw.view.tiles[1], 4, splat_tiles, &own);
    return TSR_OK;
}

typedef struct enlarging {
    const tsr_fluid_view *thin, *view;
    const float *from;
    float *to;
} enlarging;
static void enlarge_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const enlarging *e = (const enlarging *)user;
    (void)worker;
    for (int64_t y = begin; y < end; y++) TSR_ISA_SELECT(tsr_fluid_enlarge_row)(e->thin, e->from, e->view, e->to, (int32_t)y);
}
static tsr_status cpu_enlarge(tsr_queue *queue, const tsr_fluid_view *thin, const float *from, const tsr_fluid_view *view, float *to)
{
    enlarging e = { thin, view, from, to };
    tsr_parallel(queue->threads, view->height, 16, enlarge_rows, &e);
    return TSR_OK;
}

static tsr_status cpu_noise(tsr_queue *queue, const tsr_fluid_noise_job *job)
{
    tsr_fluid_noise_job own = *job;
    tsr_parallel(queue->threads, (int64_t)job->draw.view.tiles[0] * job->draw.view.tiles[1], 4, noise_tiles, &own);
    return TSR_OK;
}

/* ---- smoothing: from one image to the other, row by row ------------------------------------------------------------------------------ */

typedef struct pass {
    const void *job;
    const float *from;
    float *to;
    int32_t kind, width;
} pass;

static void flow_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const pass *p = (const pass *)user;
    (void)worker;
    for (int64_t y = begin; y < end; y++)
        TSR_ISA_SELECT(tsr_fluid_flow_row)((const tsr_fluid_flow_job *)p->job, p->from, p->to, (int32_t)y, 0, p->width);
}
static void filter_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const pass *p = (const pass *)user;
    (void)worker;
    for (int64_t y = begin; y < end; y++)
        TSR_ISA_SELECT(tsr_fluid_filter_row)((const tsr_fluid_filter_job *)p->job, p->from, p->to, p->kind, (int32_t)y);
}
static void blur_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const pass *p = (const pass *)user;
    (void)worker;
    for (int64_t y = begin; y < end; y++) TSR_ISA_SELECT(tsr_fluid_blur_row)((const tsr_fluid_blur_job *)p->job, p->from, p->to, p->kind, (int32_t)y);
}

static void copy_back(const tsr_fluid_view *v, const float *from, float *to)
{
    if (from != to) memcpy(to, from, (size_t)v->stride * (size_t)(v->height + 2) * sizeof *to);
}

static tsr_status cpu_flow(tsr_queue *queue, const tsr_fluid_flow_job *job)
{
    float *from = job->depth, *to = job->other;
    for (int32_t n = 0; n < job->iterations; n++) {
        pass p = { job, from, to, 0, job->view.width };
        tsr_parallel(queue->threads, job->view.height, 16, flow_rows, &p);
        float *swap = from;
        from = to;
        to = swap;
    }
    copy_back(&job->view, from, job->depth);
    return TSR_OK;
}

static void assemble_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const pass *p = (const pass *)user;
    (void)worker;
    for (int64_t y = begin; y < end; y++) TSR_ISA_SELECT(tsr_fluid_assemble_row)((const tsr_fluid_flow_job *)p->job, p->kind, (int32_t)y);
}
/* Items are windows: along the axis that is solved, then bundles of lines. */
enum { BUNDLE = 16 };
static void solve_windows(void *user, int64_t begin, int64_t end, int worker)
{
    const pass *p = (const pass *)user;
    const tsr_fluid_flow_job *j = (const tsr_fluid_flow_job *)p->job;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const int32_t window = (int32_t)(i % p->width) * TSR_FLUID_SOLVE_CORE, bundle = (int32_t)(i / p->width) * BUNDLE;
        if (p->kind) TSR_ISA_SELECT(tsr_fluid_solve_columns)(j, bundle, window);
        else TSR_ISA_SELECT(tsr_fluid_solve_rows)(j, window, bundle);
    }
}
static int32_t parts(int32_t extent, int32_t part) { return (extent + part - 1) / part; }

static tsr_status cpu_implicit(tsr_queue *queue, const tsr_fluid_flow_job *job)
{
    const tsr_fluid_view *v = &job->view;
    for (int32_t n = 0; n < job->iterations; n++) {
        pass assemble = { job, NULL, NULL, 0, 0 };
        pass rows = { job, NULL, NULL, 0, parts(v->width, TSR_FLUID_SOLVE_CORE) },
             columns = { job, NULL, NULL, 1, parts(v->height, TSR_FLUID_SOLVE_CORE) };
        tsr_parallel(queue->threads, v->height, 16, assemble_rows, &assemble);
        tsr_parallel(queue->threads, (int64_t)rows.width * parts(v->height, BUNDLE), 2, solve_windows, &rows);
        tsr_parallel(queue->threads, (int64_t)columns.width * parts(v->width, BUNDLE), 2, solve_windows, &columns);
    }
    return TSR_OK;
}

static void relax_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const pass *p = (const pass *)user;
    (void)worker;
    for (int64_t y = begin; y < end; y++)
        TSR_ISA_SELECT(tsr_fluid_relax_row)((const tsr_fluid_level *)p->job, p->from, p->to, tsr_fluid_weight(p->kind), (int32_t)y);
}
static void relax(tsr_queue *queue, const tsr_fluid_level *l, int32_t sweeps) /* an even number */
{
    for (int32_t k = 0; k < sweeps; k++) {
        pass p = { l, k % 2 ? l->t : l->u, k % 2 ? l->u : l->t, k, 0 };
        tsr_parallel(queue->threads, l->height, 16, relax_rows, &p);
    }
}
typedef struct transfer {
    const tsr_fluid_level *fine, *coarse;
} transfer;
static void restrict_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const transfer *t = (const transfer *)user;
    (void)worker;
    for (int64_t y = begin; y < end; y++)
        for (int32_t x = 0; x < t->coarse->width; x++) tsr_fluid_restrict(t->fine, t->coarse, x, (int32_t)y);
}
static void prolong_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const transfer *t = (const transfer *)user;
    (void)worker;
    for (int64_t y = begin; y < end; y++)
        for (int32_t x = 0; x < t->fine->width; x++) {
            const int64_t at = tsr_fluid_level_at(t->fine, x, (int32_t)y);
            if (t->fine->cx[at] + t->fine->cy[at] > 0.0f) t->fine->u[at] += tsr_fluid_prolong(t->coarse, x, (int32_t)y);
        }
}
static void correct_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_fluid_flow_job *j = (const tsr_fluid_flow_job *)user;
    (void)worker;
    for (int64_t y = begin; y < end; y++)
        for (int32_t x = 0; x < j->view.width; x++) {
            const int64_t at = tsr_fluid_at(&j->view, x, (int32_t)y);
            j->depth[at] += j->levels[0].u[at];
        }
}

static tsr_status cpu_multigrid(tsr_queue *queue, const tsr_fluid_flow_job *job)
{
    tsr_fluid_flow_job own = *job;
    const tsr_fluid_level *l = own.levels;
    for (int32_t n = 0; n < job->iterations; n++) {
        pass assemble = { &own, NULL, NULL, 1, 0 };
        tsr_parallel(queue->threads, job->view.height, 16, assemble_rows, &assemble);
        memset(l[0].u, 0, (size_t)l[0].stride * (size_t)(l[0].height + 2) * sizeof(float));
        for (int32_t k = 0; k < TSR_FLUID_LEVELS; k++) {
            relax(queue, &l[k], k + 1 < TSR_FLUID_LEVELS ? TSR_FLUID_SWEEPS : TSR_FLUID_LAST_SWEEPS);
            if (k + 1 == TSR_FLUID_LEVELS) break;
            transfer t = { &l[k], &l[k + 1] };
            tsr_parallel(queue->threads, l[k + 1].height, 8, restrict_rows, &t);
        }
        for (int32_t k = TSR_FLUID_LEVELS - 2; k >= 0; k--) {
            transfer t = { &l[k], &l[k + 1] };
            tsr_parallel(queue->threads, l[k].height, 8, prolong_rows, &t);
            relax(queue, &l[k], TSR_FLUID_SWEEPS);
        }
        tsr_parallel(queue->threads, job->view.height, 16, correct_rows, &own);
    }
    return TSR_OK;
}

static tsr_status cpu_filter(tsr_queue *queue, const tsr_fluid_filter_job *job)
{
    int32_t passes[4];
    const int32_t count = tsr_fluid_passes(job->filter.kind, passes);
    float *from = job->depth, *to = job->other;
    for (int32_t n = 0; n < job->iterations * count; n++) {
        pass p = { job, from, to, passes[n % count], job->view.width };
        tsr_parallel(queue->threads, job->view.height, 8, filter_rows, &p);
        float *swap = from;
        from = to;
        to = swap;
    }
    copy_back(&job->view, from, job->depth);
    return TSR_OK;
}

static void grid_fill_rows(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t y = begin; y < end; y++) TSR_ISA_SELECT(tsr_fluid_grid_fill_row)((const tsr_fluid_grid_job *)user, (int32_t)y);
}
static void grid_blur_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const pass *p = (const pass *)user;
    (void)worker;
    for (int64_t y = begin; y < end; y++) TSR_ISA_SELECT(tsr_fluid_grid_blur_row)((const tsr_fluid_grid_job *)p->job, p->kind, (int32_t)y);
}
static void grid_slice_rows(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t y = begin; y < end; y++) TSR_ISA_SELECT(tsr_fluid_grid_slice_row)((const tsr_fluid_grid_job *)user, (int32_t)y);
}

static tsr_status cpu_grid(tsr_queue *queue, const tsr_fluid_grid_job *job)
{
    tsr_fluid_grid_job own = *job;
    for (int32_t n = 0; n < job->iterations; n++) {
        tsr_parallel(queue->threads, job->high, 1, grid_fill_rows, &own);
        for (int32_t k = 0; k < 3; k++) {
            pass p = { job, NULL, NULL, (k + 2) % 3, 0 }; /* z, x, y */
            tsr_parallel(queue->threads, job->high, 1, grid_blur_rows, &p);
        }
        tsr_parallel(queue->threads, job->view.height, 8, grid_slice_rows, &own);
    }
    return TSR_OK;
}

static tsr_status cpu_blur(tsr_queue *queue, const tsr_fluid_blur_job *job)
{
    for (int32_t n = 0; n < job->passes; n++) {
        pass across = { job, job->image, job->other, 1, job->view.width }, down = { job, job->other, job->image, 0, job->view.width };
        tsr_parallel(queue->threads, job->view.height, 16, blur_rows, &across);
        tsr_parallel(queue->threads, job->view.height, 16, blur_rows, &down);
    }
    return TSR_OK;
}

static tsr_status cpu_normals(tsr_queue *queue, const tsr_fluid_normal_job *job)
{
    tsr_fluid_normal_job own = *job;
    tsr_parallel(queue->threads, job->view.height, 8, normal_rows, &own);
    return TSR_OK;
}

static tsr_status cpu_backdrop(tsr_queue *queue, const tsr_fluid_backdrop_job *job)
{
    tsr_fluid_backdrop_job own = *job;
    tsr_parallel(queue->threads, job->view.height, 8, backdrop_rows, &own);
    if (job->scene) tsr_parallel(queue->threads, job->low.height, 8, scene_rows, &own);
    return TSR_OK;
}

static tsr_status cpu_compose(tsr_queue *queue, const tsr_fluid_compose_job *job)
{
    tsr_fluid_compose_job own = *job;
    tsr_parallel(queue->threads, job->view.height, 8, compose_rows, &own);
    return TSR_OK;
}

static void key_range(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_fluid_key_particle((const tsr_fluid_shape_job *)user, (int32_t)i);
}
static tsr_status cpu_keys(tsr_queue *queue, const tsr_fluid_shape_job *job)
{
    tsr_fluid_shape_job own = *job;
    tsr_parallel(queue->threads, job->count, 1 << 14, key_range, &own);
    return TSR_OK;
}
static void range_range(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_fluid_range_particle((const tsr_fluid_shape_job *)user, (int32_t)i);
}
static void shape_range(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    TSR_ISA_SELECT(tsr_fluid_shape_range)((const tsr_fluid_shape_job *)user, (int32_t)begin, (int32_t)end);
}
static tsr_status cpu_shapes(tsr_queue *queue, const tsr_fluid_shape_job *job)
{
    tsr_fluid_shape_job own = *job;
    tsr_parallel(queue->threads, job->count, 1 << 14, range_range, &own);
    tsr_parallel(queue->threads, job->count, 256, shape_range, &own);
    return TSR_OK;
}

static void heat_range(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_fluid_heat_particle((const tsr_fluid_heat_job *)user, (int32_t)i);
}
static tsr_status cpu_heat(tsr_queue *queue, const tsr_fluid_heat_job *job)
{
    tsr_fluid_heat_job own = *job;
    tsr_parallel(queue->threads, job->count, 1 << 14, heat_range, &own);
    return TSR_OK;
}

static void nothing_range(void *user, int64_t begin, int64_t end, int worker)
{
    float *image = (float *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) image[i] = TSR_FLUID_NOTHING;
}
static tsr_status cpu_nothing(tsr_queue *queue, float *image, int64_t count)
{
    tsr_parallel(queue->threads, count, 1 << 16, nothing_range, image);
    return TSR_OK;
}

typedef struct encoding {
    const float *color;
    uint8_t *image;
    int32_t channels;
    float exposure;
} encoding;
static void encode_range(void *user, int64_t begin, int64_t end, int worker)
{
    const encoding *e = (const encoding *)user;
    (void)worker;
    TSR_ISA_SELECT(tsr_fluid_encode_range)(e->color, e->image, begin, end, e->channels, e->exposure);
}
static tsr_status cpu_encode(tsr_queue *queue, const float *color, uint8_t *image, int64_t pixels, int32_t channels, float exposure)
{
    encoding e = { color, image, channels, exposure };
    tsr_parallel(queue->threads, pixels, 8192, encode_range, &e);
    return TSR_OK;
}

const tsr_fluid_ops tsr_fluid_cpu = { .project = cpu_project,
                                      .fill = cpu_fill,
                                      .splat = cpu_splat,
                                      .enlarge = cpu_enlarge,
                                      .noise = cpu_noise,
                                      .flow = cpu_flow,
                                      .implicit = cpu_implicit,
                                      .multigrid = cpu_multigrid,
                                      .filter = cpu_filter,
                                      .grid = cpu_grid,
                                      .blur = cpu_blur,
                                      .normals = cpu_normals,
                                      .backdrop = cpu_backdrop,
                                      .compose = cpu_compose,
                                      .keys = cpu_keys,
                                      .shapes = cpu_shapes,
                                      .heat = cpu_heat,
                                      .nothing = cpu_nothing,
                                      .encode = cpu_encode };
