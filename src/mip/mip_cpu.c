/* mip/mip_cpu.c: every worker draws into a picture of its own, brightest bricks first, then the pictures become one. */
#include "core/parallel.h"
#include "mip/mip_isa.h"
#include "mip/mip_ops.h"

enum { ROWS = 8 };

struct work {
    const tsr_mip_job *job;
    const tsr_mip_tables *tables;
    const tsr_mip_finish *finish;
    const tsr_mip_rays *rays;
    int32_t slice;
    const uint32_t *above;
    uint32_t *image;
    uint16_t *most;
    int32_t above_width, above_height, width, threads;
    const tsr_mip_offsets *element;
};

static int64_t scratch_stride(const tsr_mip_job *job) { return job->width + 2 * (int64_t)job->footprint; }
static uint16_t *scratch_of(const tsr_mip_job *job, int worker)
{
    return job->scratch + worker * job->scratch_pixels + (int64_t)job->footprint * scratch_stride(job) + job->footprint;
}

/* u + 2^32 v, in an order of 15 bits: x, y, z. */
static void make_tables(const tsr_mip_job *job, tsr_mip_tables *t)
{
    int64_t low[3], high = (int64_t)1 << 32;
    for (int k = 0; k < 3; k++) {
        const int64_t u = (TSR_CELL_SIDE - 1) * (int64_t)tsr_mini(job->p.u[k], 0), v = (TSR_CELL_SIDE - 1) * (int64_t)tsr_mini(job->p.v[k], 0);
        low[k] = u + v * high;
    }
    for (int64_t y = 0; y < TSR_CELL_SIDE; y++)
        for (int64_t x = 0; x < TSR_CELL_SIDE; x++)
            t->xy[y * TSR_CELL_SIDE + x] = job->p.u[0] * x + job->p.u[1] * y + (job->p.v[0] * x + job->p.v[1] * y) * high - low[0] - low[1];
    for (int64_t z = 0; z < TSR_CELL_SIDE; z++) t->z[z] = job->p.u[2] * z + job->p.v[2] * z * high - low[2];
    t->low = low[0] + low[1] + low[2];
}

/* One by one, clipped: any element, slabs, bricks that reach out of the volume. */
static void draw_slowly(const tsr_mip_job *job, int64_t brick, const tsr_mip_canvas *c)
{
    const tsr_details *d = &job->d;
    const tsr_detail_brick *b = &d->brick[brick];
    for (uint32_t k = b->run; k < b->run + b->runs; k++) {
        const tsr_detail_run r = d->run[k];
        const uint32_t value = tsr_mip_shown(job, r.value);
        if (!value || r.level < job->level_low || r.level > job->slow_high) continue;
        for (uint32_t i = d->from[k]; i < d->to[k]; i++) {
            int32_t at[3];
            tsr_detail_get(d, b->first + r.first + i, r.level, brick, at);
            tsr_mip_coefficient(job, c, r.level, at, value);
        }
    }
}

static void draw_bricks(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    const tsr_mip_job *job = w->job;
    const int by_box = job->cube2 && !job->slab && job->d.levels <= TSR_CELL;
    uint16_t *scratch = scratch_of(job, worker);
    const tsr_mip_canvas canvas = { scratch, scratch_stride(job), 0, job->width, job->height };
    for (int64_t i = begin; i < end; i++) {
        const tsr_detail_order order = job->d.order[i];
        if (by_box && tsr_mip_box_fits(job, order.brick)) TSR_ISA_SELECT(tsr_mip_brick)(job, w->tables, order, scratch, canvas.stride);
        else draw_slowly(job, order.brick, &canvas);
    }
}
static void draw_chunks(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    const tsr_mip_job *job = w->job;
    const tsr_details *d = &job->d;
    const tsr_mip_canvas canvas = { scratch_of(job, worker), scratch_stride(job), 0, job->width, job->height };
    for (int64_t i = begin; i < end; i++) {
        const tsr_detail_chunk c = job->chunk[i];
        const tsr_detail_run r = d->run[c.run];
        const uint32_t value = tsr_mip_shown(job, r.value);
        if (!value || r.level < job->level_low || r.level > job->slow_high) continue;
        for (uint32_t k = c.begin; k < c.end; k++) {
            int32_t at[3];
            tsr_detail_get(d, (int64_t)r.first + k, r.level, 0, at);
            tsr_mip_coefficient(job, &canvas, r.level, at, value);
        }
    }
}
static void clear(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_mip_job *job = ((const struct work *)user)->job;
    (void)worker;
    for (int64_t i = begin; i < end; i++) memset(job->scratch + i * job->scratch_pixels, 0, (size_t)job->scratch_pixels * sizeof *job->scratch);
}
static void merge(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    const tsr_mip_job *job = w->job;
    (void)worker;
    for (int64_t y = begin; y < end; y++)
        for (int t = 0; t < w->threads; t++)
            TSR_ISA_SELECT(tsr_mip_merge)(job->image + y * job->width, scratch_of(job, t) + y * scratch_stride(job), job->width);
}

static tsr_status cpu_draw(tsr_queue *queue, const tsr_mip_job *job)
{
    tsr_mip_tables tables;
    struct work w = { .job = job, .tables = &tables, .threads = queue->threads };
    make_tables(job, &tables);
    tsr_parallel(queue->threads, queue->threads, 1, clear, &w);
    if (job->d.format == TSR_MIP_BRICKS) tsr_parallel(queue->threads, job->d.ordered, 4, draw_bricks, &w);
    else tsr_parallel(queue->threads, job->chunks, 4, draw_chunks, &w);
    tsr_parallel(queue->threads, job->height, ROWS, merge, &w);
    return TSR_OK;
}

static void expand_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t y = begin; y < end; y++)
        for (int32_t x = 0; x < w->width; x++) {
            uint32_t *own = w->image + y * w->width + x;
            *own = tsr_mip_expand_pixel(w->above, w->above_width, w->above_height, w->element, x, (int32_t)y, *own);
        }
}
static tsr_status cpu_expand(tsr_queue *queue, const uint32_t *above, int32_t above_width, int32_t above_height, const tsr_mip_offsets *element,
                             uint32_t *own, int32_t width, int32_t height)
{
    struct work w = { .above = above, .above_width = above_width, .above_height = above_height, .element = element, .image = own, .width = width };
    tsr_parallel(queue->threads, height, ROWS, expand_rows, &w);
    return TSR_OK;
}

static void dilate_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t y = begin; y < end; y++)
        for (int32_t x = 0; x < w->finish->width; x++) w->image[y * w->finish->width + x] = tsr_mip_dilate_pixel(w->finish, x, (int32_t)y);
}
static void finish_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_mip_finish *f = ((const struct work *)user)->finish;
    (void)worker;
    for (int64_t y = begin; y < end; y++) {
        uint32_t *row = f->picture + y * f->picture_width;
        if (f->repeat[0] == 1 && f->repeat[1] == 1 && !f->dilated)
            memcpy(row, f->drawn + (y + f->top) * f->stride + f->left, (size_t)f->picture_width * sizeof *row);
        else
            for (int32_t x = 0; x < f->picture_width; x++) row[x] = tsr_mip_finish_pixel(f, x, (int32_t)y);
    }
}
static tsr_status cpu_finish(tsr_queue *queue, const tsr_mip_finish *finish, uint32_t *dilated)
{
    struct work w = { .finish = finish, .image = dilated };
    if (dilated) tsr_parallel(queue->threads, finish->height, ROWS, dilate_rows, &w);
    tsr_parallel(queue->threads, finish->picture_height, ROWS, finish_rows, &w);
    return TSR_OK;
}

static tsr_status cpu_combine(tsr_queue *queue, uint32_t *image, const uint32_t *other, int64_t pixels)
{
    (void)queue;
    for (int64_t i = 0; i < pixels; i++) image[i] = image[i] > other[i] ? image[i] : other[i];
    return TSR_OK;
}

static void most_of_bricks(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) w->most[i] = tsr_mip_ray_brick(w->rays->data, w->rays->bytes, w->rays->size, w->rays->bricks, i);
}
static tsr_status cpu_bricks(tsr_queue *queue, const tsr_mip_rays *rays, uint16_t *most)
{
    struct work w = { .rays = rays, .most = most };
    tsr_parallel(queue->threads, tsr_adjunction_cells(rays->bricks), 64, most_of_bricks, &w);
    return TSR_OK;
}
static void cast_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_mip_rays *r = ((const struct work *)user)->rays;
    (void)worker;
    for (int64_t y = begin; y < end; y++)
        for (int32_t x = 0; x < r->width; x++) r->image[y * r->width + x] = tsr_mip_ray_pixel(r, x, (int32_t)y);
}
static void slice_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t y = begin; y < end; y++)
        for (int32_t x = 0; x < w->rays->width; x++) tsr_mip_slice_pixel(w->rays, x, (int32_t)y, w->slice);
}
static tsr_status cpu_cast(tsr_queue *queue, const tsr_mip_rays *rays)
{
    struct work w = { .rays = rays };
    for (; rays->slices && w.slice < rays->size[rays->axis[0]]; w.slice++) tsr_parallel(queue->threads, rays->height, 8, slice_rows, &w);
    if (rays->slices) return TSR_OK;
    tsr_parallel(queue->threads, rays->height, 1, cast_rows, &w);
    return TSR_OK;
}

const tsr_mip_ops tsr_mip_cpu = {
    .draw = cpu_draw, .expand = cpu_expand, .finish = cpu_finish, .combine = cpu_combine, .bricks = cpu_bricks, .cast = cpu_cast
};
