/* region/triangle_cpu.c: pairs of cells and triangles, one by one. */
#include "core/parallel.h"
#include "region/triangle_ops.h"

struct work {
    const tsr_triangles *mesh;
    const tsr_triangle_pairs *pairs;
    const tsr_pyramid_entry *entries;
    const tsr_surface_job *surface;
    const uint64_t *keys;
    uint64_t *codes;
    uint32_t *triangles;
    uint8_t *bytes;
};

static void look(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) w->bytes[i] = tsr_triangle_look(w->mesh, i);
}
static void split(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_triangle_split(w->mesh, w->pairs, i);
}
static void descend(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_triangle_descend(w->pairs, w->entries, w->codes, w->triangles, i);
}
static void heads(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) w->bytes[i] = tsr_triangle_head(w->keys, i);
}
static void surface(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_surface_point(w->surface, i);
}

static tsr_status cpu_look(tsr_queue *queue, const tsr_triangles *mesh, uint8_t *states)
{
    struct work w = { .mesh = mesh, .bytes = states };
    tsr_parallel(queue->threads, mesh->triangle_count, 1024, look, &w);
    return TSR_OK;
}
static tsr_status cpu_split(tsr_queue *queue, const tsr_triangles *mesh, const tsr_triangle_pairs *pairs)
{
    struct work w = { .mesh = mesh, .pairs = pairs };
    tsr_parallel(queue->threads, pairs->count, 512, split, &w);
    return TSR_OK;
}
static tsr_status cpu_descend(tsr_queue *queue, const tsr_triangle_pairs *pairs, const tsr_pyramid_entry *entries, int64_t count, uint64_t *codes,
                              uint32_t *triangles)
{
    struct work w = { .pairs = pairs, .entries = entries, .codes = codes, .triangles = triangles };
    tsr_parallel(queue->threads, count, 4096, descend, &w);
    return TSR_OK;
}
static tsr_status cpu_heads(tsr_queue *queue, const uint64_t *keys, int64_t count, uint8_t *flags)
{
    struct work w = { .keys = keys, .bytes = flags };
    tsr_parallel(queue->threads, count, 16384, heads, &w);
    return TSR_OK;
}
static tsr_status cpu_surface(tsr_queue *queue, const tsr_surface_job *job)
{
    struct work w = { .surface = job };
    tsr_parallel(queue->threads, job->count, 1024, surface, &w);
    return TSR_OK;
}

const tsr_triangle_ops tsr_triangle_cpu = {
    .look = cpu_look, .split = cpu_split, .descend = cpu_descend, .heads = cpu_heads, .surface = cpu_surface
};
