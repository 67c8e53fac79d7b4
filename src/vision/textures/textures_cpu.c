/* vision/textures/textures_cpu.c: cameras and bands of rows in parallel; each texel of a depth map is written by one thread, and only becomes smaller. */
#include "core/parallel.h"
#include "vision/textures/textures_isa.h"
#include "vision/textures/textures_ops.h"

static void place_corners(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_texture_job *j = (const tsr_texture_job *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_texture_place(&j->camera[i / j->vertices], j->position + 3 * (i % j->vertices), &j->corner[i]);
}
static void make_faces(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_texture_job *j = (const tsr_texture_job *)user;
    (void)worker;
    TSR_ISA_SELECT(tsr_texture_make_faces)(j, begin, end);
}
static tsr_status cpu_shapes(tsr_queue *queue, const tsr_texture_job *job)
{
    tsr_texture_job own = *job;
    tsr_parallel(queue->threads, job->vertices * job->cameras, 1024, place_corners, &own);
    tsr_parallel(queue->threads, job->triangles * job->cameras, 1024, make_faces, &own);
    return TSR_OK;
}

typedef struct bands {
    const tsr_texture_job *job;
    int32_t each; /* of a camera */
} bands;
static void draw_bands(void *user, int64_t begin, int64_t end, int worker)
{
    const bands *b = (const bands *)user;
    (void)worker;
    for (int64_t n = begin; n < end; n++) {
        const int32_t c = (int32_t)(n / b->each), band = (int32_t)(n % b->each), rows = b->job->camera[c].map_height;
        const int32_t from = (int32_t)((int64_t)rows * band / b->each), to = (int32_t)((int64_t)rows * (band + 1) / b->each);
        TSR_ISA_SELECT(tsr_texture_draw_band)(b->job, c, from, to);
    }
}
static tsr_status cpu_maps(tsr_queue *queue, const tsr_texture_job *job)
{
    bands b = { .job = job, .each = (3 * queue->threads + job->cameras - 1) / job->cameras };
    if (b.each < 1 || queue->threads == 1) b.each = 1;
    tsr_parallel(queue->threads, (int64_t)b.each * job->cameras, 1, draw_bands, &b);
    return TSR_OK;
}

static void make_texels(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_texture_job *j = (const tsr_texture_job *)user;
    (void)worker;
    TSR_ISA_SELECT(tsr_texture_make_rows)(j, begin, end);
}
static tsr_status cpu_texels(tsr_queue *queue, const tsr_texture_job *job)
{
    tsr_texture_job own = *job;
    tsr_parallel(queue->threads, (int64_t)job->cameras * job->height, 8, make_texels, &own);
    return TSR_OK;
}

static void fill_gutters(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_gutter_job *j = (const tsr_gutter_job *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_texture_gutter(j, i);
}
static tsr_status cpu_gutter(tsr_queue *queue, const tsr_gutter_job *job)
{
    tsr_gutter_job own = *job;
    tsr_parallel(queue->threads, (int64_t)job->width * job->height, 4096, fill_gutters, &own);
    return TSR_OK;
}

static void draw_keys(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_texture_view *v = (const tsr_texture_view *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_texture_draw_keys(v, i, 0, 1);
}
static void resolve_pixels(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_texture_view *v = (const tsr_texture_view *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_texture_resolve(v, i);
}
static tsr_status cpu_draw(tsr_queue *queue, const tsr_texture_view *view)
{
    tsr_texture_view own = *view;
    tsr_parallel(queue->threads, view->shape.triangles, 256, draw_keys, &own);
    tsr_parallel(queue->threads, (int64_t)view->width * view->height, 1024, resolve_pixels, &own);
    return TSR_OK;
}

const tsr_textures_ops tsr_textures_cpu = { .shapes = cpu_shapes, .maps = cpu_maps, .texels = cpu_texels, .gutter = cpu_gutter, .draw = cpu_draw };
