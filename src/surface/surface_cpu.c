#include "core/parallel.h"
#include "surface/gather_cpu.h"
#include "surface/surface_isa.h"
#include "surface/surface_ops.h"
#include "surface/tetrahedra_cpu.h"
#include "surface/vertex_store.h"

struct work {
    const tsr_surface_grid *grid; /* several of one volume in the sweep, else one */
    int32_t grids;
    const tsr_surface_output *output, *from;
    int64_t planes;                          /* of a range of the sweep */
    uint8_t *seam;                           /* [ranges] != 0: the blocks before the end of the range wait for the next one */
    int64_t not_a_number[TSR_STORE_WORKERS]; /* per worker: integer sums, so the partition does not matter */
    int torn[TSR_STORE_WORKERS];
    const tsr_surface_look *look;
    const tsr_surface_some *some;
    const tsr_view_job *view;
};

static int64_t plane_words(const tsr_surface_grid *g) { return g->row_words * g->size[1]; }
/* The first block that begins in plane z or after. */
static int64_t block_from(const tsr_surface_grid *g, int64_t z) { return (z * plane_words(g) + TSR_BLOCK_WORDS - 1) >> TSR_BLOCK_SHIFT; }
/* Blocks that end before plane z. */
static int64_t blocks_before(const tsr_surface_grid *g, int64_t z) { return z >= g->size[2] ? g->blocks : z * plane_words(g) >> TSR_BLOCK_SHIFT; }

/* Sides of the planes [begin, end), and one plane behind, while its samples are near, counts and vertices of the blocks for which that is enough:
 * a block needs the plane after its last. */
static void sweep(void *user, int64_t begin, int64_t end, int worker)
{
    struct work *w = (struct work *)user;
    const tsr_surface_grid *g = w->grid;
    int64_t next = block_from(g, begin), last = g->size[2] - 1;
    for (int64_t z = begin; z < end; z++) {
        int64_t ready = z == last ? g->blocks : blocks_before(g, z);
        for (int32_t k = 0; k < w->grids; k++) {
            int64_t found = TSR_ISA_SELECT(tsr_surface_rows)(&g[k], z * g->size[1], (z + 1) * g->size[1]);
            if (k == 0) w->not_a_number[worker] += found; /* the same for all */
        }
        for (int32_t k = 0; k < w->grids && ready > next; k++) TSR_ISA_SELECT(tsr_surface_count_dense)(&g[k], next, ready, worker);
        next = tsr_maxl(next, ready);
    }
    if (end <= last) w->seam[(end - 1) / w->planes] = 1;
}

static void seams(void *user, int64_t begin, int64_t end, int worker)
{
    struct work *w = (struct work *)user;
    const tsr_surface_grid *g = w->grid;
    for (int64_t r = begin; r < end; r++) {
        int64_t z = (r + 1) * w->planes, first = tsr_maxl(block_from(g, r * w->planes), blocks_before(g, z - 1)), stop = block_from(g, z);
        for (int32_t k = 0; k < w->grids && w->seam[r] && first < stop; k++) TSR_ISA_SELECT(tsr_surface_count_dense)(&g[k], first, stop, worker);
    }
}

static void tile_rows(void *user, int64_t begin, int64_t end, int worker)
{
    struct work *w = (struct work *)user;
    w->not_a_number[worker] += TSR_ISA_SELECT(tsr_surface_tile_rows)(w->grid, begin, end);
}

static void count_tiles(void *user, int64_t begin, int64_t end, int worker)
{
    struct work *w = (struct work *)user;
    w->torn[worker] |= TSR_ISA_SELECT(tsr_surface_count_tiles)(w->grid, begin, end);
}

static void emit_blocks(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    if (w->grid->tiled) TSR_ISA_SELECT(tsr_surface_emit_tiles)(w->grid, w->output, begin, end);
    else TSR_ISA_SELECT(tsr_surface_emit_dense)(w->grid, w->output, begin, end);
}

static tsr_status count_volume(int threads, tsr_surface_grid *g, int32_t count, struct work *w)
{
    w->planes = tsr_maxl(4, g->size[2] / (3 * threads));
    int64_t ranges = tsr_ceil_div(g->size[2], w->planes);
    w->seam = (uint8_t *)calloc((size_t)ranges, 1);
    int failed = !w->seam;
    for (int32_t k = 0; k < count && !failed; k++) { failed = !tsr_store_begin(&g[k].store, g->normals ? 6 : 3); }
    if (!failed) {
        tsr_parallel(threads, g->size[2], w->planes, sweep, w);
        tsr_parallel(threads, ranges, 1, seams, w);
    }
    free(w->seam);
    for (int32_t k = 0; k < count && !failed; k++)
        for (int worker = 0; worker < threads; worker++) failed |= g[k].store->arena[worker].failed;
    if (failed) TSR_FAIL(TSR_ERROR_MEMORY, "surface: out of host memory for the vertices");
    return TSR_OK;
}

/* Places of the blocks, and the totals. */
static void scan_blocks(tsr_surface_grid *g, tsr_surface_totals totals)
{
    const int64_t own = g->tiled || g->own >= g->size[2] ? g->words : g->own * plane_words(g); /* the words after are of the next part */
    uint64_t limit = UINT64_MAX;
    for (int64_t block = 0; block < g->blocks; block++) {
        uint32_t sum = g->block_sum[block];
        g->block_vertex[block] = (uint32_t)totals.vertices;
        g->block_triangle[block] = totals.triangles;
        if (own < g->words && block == own >> TSR_BLOCK_SHIFT) limit = totals.vertices + g->prefix[own];
        totals.vertices += tsr_count_vertices(sum);
        totals.triangles += tsr_count_triangles(sum);
        if (sum) g->active[totals.active_blocks++] = (uint32_t)block;
    }
    if (totals.vertices > limit) totals.vertices = limit;
    *g->totals = totals;
}

static tsr_status cpu_count(tsr_queue *queue, tsr_surface_grid *g, int32_t count)
{
    struct work w = { .grid = g, .grids = count };
    int threads = queue->threads < TSR_STORE_WORKERS ? queue->threads : TSR_STORE_WORKERS;
    tsr_surface_totals totals = { 0 };
    if (g->tiled) {
        for (int64_t tile = 0; tile < g->words >> 2 * g->log2_edge; tile++) g->slot_of[g->ids[tile]] = (uint32_t)tile;
        tsr_parallel(threads, g->words, 4096, tile_rows, &w);
        tsr_parallel(threads, g->blocks, 16, count_tiles, &w);
    } else {
        TSR_TRY(count_volume(threads, g, count, &w));
    }
    for (int k = 0; k < threads; k++) {
        totals.not_a_number += (uint64_t)w.not_a_number[k];
        totals.torn |= (uint32_t)w.torn[k];
    }
    for (int32_t k = 0; k < count; k++) scan_blocks(&g[k], totals);
    return TSR_OK;
}

static tsr_status cpu_emit(tsr_queue *queue, const tsr_surface_grid *g, const tsr_surface_output *output)
{
    struct work w = { .grid = g, .output = output };
    tsr_parallel(queue->threads, output->active_blocks, 4, emit_blocks, &w);
    return TSR_OK;
}

static int64_t cpu_finish(tsr_surface_grid *g)
{
    int64_t bytes = g->store ? tsr_store_bytes(g->store) : 0;
    tsr_store_destroy(&g->store);
    return bytes;
}

static void unindex(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t k = 3 * begin; k < 3 * end; k++) tsr_unindex(w->from, w->output, k);
}

static tsr_status cpu_unindex(tsr_queue *queue, const tsr_surface_output *from, int64_t triangles, const tsr_surface_output *to)
{
    struct work w = { .from = from, .output = to };
    tsr_parallel(queue->threads, triangles, 1 << 14, unindex, &w);
    return TSR_OK;
}

/* ---- a surface that follows its list: some tiles of it --------------------------------------------------------------------------------------- */

static void look_entries(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_surface_look *l = ((const struct work *)user)->look;
    (void)worker;
    for (int64_t k = begin; k < end; k++) {
        int wanted = tsr_track_wanted(l, tsr_key_at(l->keys, k), l->ids[k]);
        tsr_track_keep(l, tsr_key_at(l->keys, k), l->ids[k], wanted, wanted ? tsr_track_sum(l, l->ids[k], 0, 1) : 0);
    }
}
static void look_gone(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t id = begin; id < end; id++) tsr_track_gone(((const struct work *)user)->look, id);
}
static void look_ring(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_surface_look *l = ((const struct work *)user)->look;
    (void)worker;
    for (int64_t k = begin; k < end; k++) tsr_track_ring(l, l->ids[k]);
}
static void look_reach(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_surface_look *l = ((const struct work *)user)->look;
    (void)worker;
    for (int64_t k = begin; k < end; k++) tsr_track_reach(l, l->ids[k]);
}

/* Eight ids at a time: most have no mark. */
static void look_found(const tsr_surface_look *l)
{
    uint32_t count = 0;
    for (int64_t from = 0; from < l->capacity; from += 8) {
        const int64_t end = from + 8 < l->capacity ? from + 8 : l->capacity;
        uint64_t state, reached;
        if (end == from + 8) {
            memcpy(&state, l->state + from, 8);
            memcpy(&reached, l->reached + from, 8);
            if (!reached && !(state & TSR_TRACK_GONE * 0x0101010101010101u)) continue;
        }
        for (int64_t id = from; id < end; id++) {
            const int32_t kind = tsr_track_kind(l, id);
            if (kind >= 0) l->found[1 + count++] = tsr_track_found((uint32_t)id, (uint32_t)kind);
        }
    }
    l->found[0] = count;
}

static tsr_status cpu_look(tsr_queue *queue, const tsr_surface_look *look)
{
    struct work w = { .look = look };
    tsr_parallel(queue->threads, look->entries, 1024, look_entries, &w);
    tsr_parallel(queue->threads, look->capacity, 1 << 15, look_gone, &w);
    tsr_parallel(queue->threads, look->entries, 1 << 14, look_ring, &w);
    tsr_parallel(queue->threads, look->entries, 1 << 14, look_reach, &w);
    look_found(look);
    return TSR_OK;
}

static void some_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    const int32_t shift = 2 * w->grid->log2_edge;
    (void)worker;
    for (int64_t k = begin; k < end; k++) {
        int64_t id = w->some->ids[k];
        TSR_ISA_SELECT(tsr_surface_tile_rows)(w->grid, id << shift, (id + 1) << shift);
    }
}
static void count_some(void *user, int64_t begin, int64_t end, int worker)
{
    struct work *w = (struct work *)user;
    w->torn[worker] |= TSR_ISA_SELECT(tsr_surface_count_some)(w->grid, w->some, begin, end);
}
static void emit_some(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    TSR_ISA_SELECT(tsr_surface_emit_some)(w->grid, w->some, w->output, begin, end);
}

static tsr_status cpu_count_some(tsr_queue *queue, const tsr_surface_grid *g, const tsr_surface_some *some)
{
    struct work w = { .grid = g, .some = some };
    int threads = queue->threads < TSR_STORE_WORKERS ? queue->threads : TSR_STORE_WORKERS;
    tsr_parallel(threads, some->count, 64, some_rows, &w);
    tsr_parallel(threads, some->count, 16, count_some, &w);
    *some->torn = 0;
    for (int k = 0; k < threads; k++) *some->torn |= (uint32_t)w.torn[k];
    return TSR_OK;
}

static tsr_status cpu_emit_some(tsr_queue *queue, const tsr_surface_grid *g, const tsr_surface_some *some, const tsr_surface_output *output)
{
    struct work w = { .grid = g, .some = some, .output = output };
    for (int64_t k = 0; k < some->gaps; k++)
        memset(output->triangles + 3 * some->gap[k][0], 0, (size_t)(some->gap[k][1] - some->gap[k][0]) * 3 * sizeof *output->triangles);
    for (int64_t k = 0; k < some->count; k++) g->block_vertex[some->ids[k]] = some->vertex[k];
    tsr_parallel(queue->threads, some->count, 16, emit_some, &w);
    return TSR_OK;
}

/* ---- the order of a view --------------------------------------------------------------------------------------------------------------------- */

static void view_keys(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t k = begin; k < end; k++) tsr_view_key(((const struct work *)user)->view, k);
}
static void view_move(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t k = begin; k < end; k++) tsr_view_move(((const struct work *)user)->view, k);
}
static tsr_status cpu_view_keys(tsr_queue *queue, const tsr_view_job *job)
{
    struct work w = { .view = job };
    tsr_parallel(queue->threads, job->triangles, 1 << 14, view_keys, &w);
    return TSR_OK;
}
static tsr_status cpu_view_move(tsr_queue *queue, const tsr_view_job *job)
{
    struct work w = { .view = job };
    tsr_parallel(queue->threads, job->triangles, 1 << 14, view_move, &w);
    return TSR_OK;
}

static tsr_status cpu_totals(tsr_queue *queue, const tsr_surface_grid *grid, int32_t number, tsr_surface_totals *totals)
{
    (void)queue;
    (void)number;
    *totals = *grid->totals;
    return TSR_OK;
}

static void sides(void *user, int64_t begin, int64_t end, int worker)
{
    struct work *w = (struct work *)user;
    w->not_a_number[worker] += TSR_ISA_SELECT(tsr_surface_rows)(w->grid, begin, end);
}
static tsr_status cpu_sides(tsr_queue *queue, const tsr_surface_grid *g)
{
    struct work w = { .grid = g };
    int threads = queue->threads < TSR_STORE_WORKERS ? queue->threads : TSR_STORE_WORKERS;
    tsr_parallel(threads, g->size[1] * g->size[2], 64, sides, &w);
    for (int k = 0; k < threads; k++) g->totals->not_a_number += (uint64_t)w.not_a_number[k];
    return TSR_OK;
}

const tsr_surface_ops tsr_surface_cpu = { .count = cpu_count,
                                          .totals = cpu_totals,
                                          .emit = cpu_emit,
                                          .finish = cpu_finish,
                                          .unindex = cpu_unindex,
                                          .look = cpu_look,
                                          .count_some = cpu_count_some,
                                          .emit_some = cpu_emit_some,
                                          .view_keys = cpu_view_keys,
                                          .view_move = cpu_view_move,
                                          .sides = cpu_sides,
                                          .gather_count = cpu_gather_count,
                                          .gather_listed = cpu_gather_listed,
                                          .gather_write = cpu_gather_write,
                                          .tetra_count = cpu_tetra_count,
                                          .tetra_write = cpu_tetra_write };
