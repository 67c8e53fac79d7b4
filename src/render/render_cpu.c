#include "render/render_cpu.h"

#include <stdlib.h>

#include "core/parallel.h"
#include "render/render_ops.h"
#include "render/write.h"

enum { TILE = 16 };

struct bricks_job {
    const tsr_brick_source *source;
    const float *range;
    int32_t bricks[3], origin[3], pass, margin;
    const tsr_brick_test *test;
    const tsr_tile_pool *pool;
    const tsr_tile_state *state;
    const uint8_t *in;
    uint8_t *out;
    uint32_t *table;
    float *range_out, *slope;
    uint64_t *nan_count, *cells;
};

static struct bricks_job job_make(const int32_t bricks[3]) { return (struct bricks_job){ .bricks = { bricks[0], bricks[1], bricks[2] } }; }
static int64_t brick_count(const int32_t bricks[3]) { return (int64_t)bricks[0] * bricks[1] * bricks[2]; }

static void ranges_body(void *user, int64_t begin, int64_t end, int worker)
{
    const struct bricks_job *j = (const struct bricks_job *)user;
    (void)worker;
    for (int64_t row = begin; row < end; row++) {
        const int64_t nan =
            TSR_ISA_SELECT(tsr_brick_row)(j->source, (int32_t)(row % j->bricks[1]), (int32_t)(row / j->bricks[1]), j->range_out, j->slope);
        if (nan) __atomic_fetch_add(j->nan_count, (uint64_t)nan, __ATOMIC_RELAXED); /* a sum of integers: order does not matter */
    }
}
static tsr_status cpu_ranges(tsr_queue *queue, const tsr_brick_source *source, float *range, float *slope, tsr_brick_counts *counts)
{
    struct bricks_job j = job_make(source->bricks);
    j.source = source;
    j.range_out = range;
    j.slope = slope;
    j.nan_count = &counts->found.nan_count;
    tsr_parallel(queue->threads, (int64_t)j.bricks[1] * j.bricks[2], 4, ranges_body, &j);
    return TSR_OK;
}
static tsr_status cpu_summarize(tsr_queue *queue, const float *range, int64_t bricks, tsr_brick_counts *counts)
{
    tsr_brick_summary *summary = &counts->found;
    (void)queue;
    for (int32_t pass = 0; pass < TSR_RANK_PASSES; pass++) {
        uint32_t *bin = counts->bin[pass];
        for (int64_t b = 0; b < bricks; b++) {
            if (range[2 * b] > range[2 * b + 1]) continue; /* nothing but NaN */
            const uint32_t low = ~tsr_float_key(range[2 * b]), high = tsr_float_key(range[2 * b + 1]);
            const int32_t at = tsr_rank_bin(pass, summary->key, high);
            if (at >= 0) bin[at]++;
            if (pass > 0) continue;
            if (low > summary->lowest) summary->lowest = low;
            if (high > summary->highest) summary->highest = high;
            summary->bricks++;
        }
        if (!summary->bricks) break;
        if (pass == 0) summary->rank = tsr_rank_wanted(summary->bricks);
        summary->key |= (uint32_t)tsr_rank_pick(bin, TSR_RANK_BINS, &summary->rank) << tsr_rank_shift(pass);
    }
    return TSR_OK;
}

static void visible_body(void *user, int64_t begin, int64_t end, int worker)
{
    const struct bricks_job *j = (const struct bricks_job *)user;
    (void)worker;
    for (int64_t b = begin; b < end; b++) j->out[b] = tsr_brick_visible(j->test, j->range[2 * b], j->range[2 * b + 1]);
}
static void distance_body(void *user, int64_t begin, int64_t end, int worker)
{
    const struct bricks_job *j = (const struct bricks_job *)user;
    (void)worker;
    for (int64_t b = begin; b < end; b++) j->out[b] = tsr_brick_distance(j->in, j->bricks, j->pass, j->margin, b);
}
static void distances(tsr_queue *queue, struct bricks_job *j, uint8_t *visible, uint8_t *skip)
{
    for (j->pass = 0; j->pass < 3; j->pass++) {
        j->in = j->pass == 1 ? skip : visible;
        j->out = j->pass == 1 ? visible : skip;
        tsr_parallel(queue->threads, brick_count(j->bricks), 4096, distance_body, j);
    }
}
static tsr_status cpu_skips(tsr_queue *queue, const float *range, const int32_t bricks[3], const tsr_brick_test *test, uint8_t *skip,
                            uint8_t *scratch)
{
    struct bricks_job j = job_make(bricks);
    j.range = range;
    j.test = test;
    j.margin = test->margin;
    j.out = scratch;
    tsr_parallel(queue->threads, brick_count(bricks), 4096, visible_body, &j);
    distances(queue, &j, scratch, skip);
    return TSR_OK;
}

static void cells_body(void *user, int64_t begin, int64_t end, int worker)
{
    const struct bricks_job *j = (const struct bricks_job *)user;
    (void)worker;
    for (int64_t b = begin; b < end; b++) {
        const int32_t at[3] = { (int32_t)(b % j->bricks[0]), (int32_t)(b / j->bricks[0] % j->bricks[1]),
                                (int32_t)(b / ((int64_t)j->bricks[0] * j->bricks[1])) };
        j->cells[b] = j->in[b] ? 0 : tsr_brick_cells(j->test, j->source->values, j->source->size, at);
    }
}
static tsr_status cpu_cells(tsr_queue *queue, const tsr_brick_source *source, const tsr_brick_test *test, const uint8_t *skip, uint64_t *cells)
{
    struct bricks_job j = job_make(source->bricks);
    j.source = source;
    j.test = test;
    j.in = skip;
    j.cells = cells;
    tsr_parallel(queue->threads, brick_count(j.bricks), 1024, cells_body, &j);
    return TSR_OK;
}

static void table_body(void *user, int64_t begin, int64_t end, int worker)
{
    const struct bricks_job *j = (const struct bricks_job *)user;
    (void)worker;
    for (int64_t b = begin; b < end; b++) j->table[b] = tsr_brick_tile(j->pool, j->state, j->origin, j->bricks, b);
}
static void stored_body(void *user, int64_t begin, int64_t end, int worker)
{
    const struct bricks_job *j = (const struct bricks_job *)user;
    (void)worker;
    for (int64_t b = begin; b < end; b++) j->out[b] = tsr_brick_stored(j->table, j->bricks, b);
}
static tsr_status cpu_tile_table(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_tile_state *state, const int32_t origin[3],
                                 const int32_t bricks[3], uint32_t *table, uint8_t *skip, uint8_t *scratch)
{
    struct bricks_job j = job_make(bricks);
    j.pool = pool;
    j.state = state;
    for (int k = 0; k < 3; k++) j.origin[k] = origin[k];
    j.table = table;
    j.out = scratch;
    tsr_parallel(queue->threads, brick_count(bricks), 1024, table_body, &j);
    tsr_parallel(queue->threads, brick_count(bricks), 4096, stored_body, &j);
    distances(queue, &j, scratch, skip);
    return TSR_OK;
}

struct draw_job {
    const tsr_frame *frame;
    const tsr_transfer_linear *transfer;
    const tsr_slice_frame *slice;
    const float *rgba_in;
    float *rgba, *depth;
    uint8_t *out;
    int32_t width, row_begin, row_end, channels;
};

static int64_t tile_count(const struct draw_job *j) { return tsr_ceil_div(j->width, TILE) * tsr_ceil_div(j->row_end - j->row_begin, TILE); }
static void tile_box(const struct draw_job *j, int64_t tile, int32_t box[4])
{
    int64_t across = tsr_ceil_div(j->width, TILE);
    box[0] = (int32_t)(tile % across) * TILE;
    box[1] = j->row_begin + (int32_t)(tile / across) * TILE;
    box[2] = tsr_mini(box[0] + TILE, j->width);
    box[3] = tsr_mini(box[1] + TILE, j->row_end);
}

static void draw_body(void *user, int64_t begin, int64_t end, int worker)
{
    const struct draw_job *j = (const struct draw_job *)user;
    (void)worker;
    for (int64_t tile = begin; tile < end; tile++) {
        int32_t b[4];
        tile_box(j, tile, b);
        TSR_ISA_SELECT(tsr_draw_tile)(j->frame, j->transfer, b[0], b[1], b[2], b[3], j->rgba, j->depth);
    }
}

/* Largest values of blocks of 8 x 8 x 8 bricks, or NULL if there is no memory for them: they only save time. */
static float *coarse_maxima(const tsr_field *f)
{
    const int32_t across = (f->bricks[0] + 7) >> 3, along = (f->bricks[1] + 7) >> 3, up = (f->bricks[2] + 7) >> 3;
    const int64_t count = (int64_t)across * along * up;
    float *coarse = (float *)malloc((size_t)count * sizeof *coarse);
    if (!coarse) return NULL;
    for (int64_t i = 0; i < count; i++) coarse[i] = -TSR_FLOAT_BIG;
    const float *range = f->range;
    for (int32_t z = 0; z < f->bricks[2]; z++)
        for (int32_t y = 0; y < f->bricks[1]; y++)
            for (int32_t x = 0; x < f->bricks[0]; x++, range += 2) {
                float *to = coarse + ((int64_t)(z >> 3) * along + (y >> 3)) * across + (x >> 3);
                *to = tsr_maxf(*to, range[1]);
            }
    return coarse;
}

/* Do the bricks at the box's faces lie outside of the surface? Nothing is met on the faces then. */
static int32_t surface_closed(const tsr_field *f)
{
    if (f->kind != TSR_FIELD_DENSE || !f->range) return 0;
    for (int32_t z = 0; z < f->bricks[2]; z++) {
        for (int32_t y = 0; y < f->bricks[1]; y++) {
            const int face = z == 0 || z == f->bricks[2] - 1 || y == 0 || y == f->bricks[1] - 1;
            for (int32_t x = 0; x < f->bricks[0]; x += face ? 1 : tsr_maxi(f->bricks[0] - 1, 1)) {
                const float *range = f->range + 2 * (((int64_t)z * f->bricks[1] + y) * f->bricks[0] + x);
                if (range[0] > range[1]) continue; /* nothing but NaN, which is outside */
                const float a = f->scale * range[0], b = f->scale * range[1];
                const float most = tsr_maxf(tsr_maxf(tsr_absf(a), tsr_absf(b)), tsr_absf(f->offset));
                if (!(tsr_minf(a, b) + f->offset > 1.0e-5f * most)) return 0;
            }
        }
    }
    return 1;
}

static tsr_status cpu_draw(tsr_queue *queue, const tsr_frame *frame, const tsr_transfer_linear *transfer, int32_t row_begin, int32_t row_end,
                           float *rgba, float *depth)
{
    tsr_frame own = *frame;
    struct draw_job j = {
        .frame = &own, .transfer = transfer, .rgba = rgba, .depth = depth, .width = frame->width, .row_begin = row_begin, .row_end = row_end
    };
    float *coarse = frame->mip && frame->show_volume && frame->volume.kind == TSR_FIELD_DENSE ? coarse_maxima(&frame->volume) : NULL;
    own.volume.coarse = coarse;
    own.surface.closed = frame->show_surface && surface_closed(&frame->surface);
    tsr_parallel(queue->threads, tile_count(&j), 1, draw_body, &j);
    free(coarse);
    return TSR_OK;
}

static void slice_body(void *user, int64_t begin, int64_t end, int worker)
{
    const struct draw_job *j = (const struct draw_job *)user;
    (void)worker;
    const int64_t first = (int64_t)j->row_begin * j->width;
    for (int64_t at = first + begin; at < first + end; at++) {
        tsr_pixel p = tsr_slice_pixel(j->slice, (int32_t)(at % j->width), (int32_t)(at / j->width));
        tsr_pixel_store(&p, j->rgba, j->depth, at);
    }
}
static tsr_status cpu_slice(tsr_queue *queue, const tsr_slice_frame *frame, int32_t row_begin, int32_t row_end, float *rgba, float *depth)
{
    struct draw_job j = { .slice = frame, .rgba = rgba, .depth = depth, .width = frame->width, .row_begin = row_begin, .row_end = row_end };
    tsr_parallel(queue->threads, (int64_t)frame->width * (row_end - row_begin), 4096, slice_body, &j);
    return TSR_OK;
}

static void encode_body(void *user, int64_t begin, int64_t end, int worker)
{
    const struct draw_job *j = (const struct draw_job *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        for (int32_t c = 0; c < j->channels; c++) j->out[i * j->channels + c] = tsr_encode_channel(j->rgba_in + 4 * i, j->channels, c);
}
static tsr_status cpu_encode(tsr_queue *queue, const float *rgba, int64_t pixels, int32_t channels, uint8_t *out)
{
    struct draw_job j = { .rgba_in = rgba, .out = out, .channels = channels };
    tsr_parallel(queue->threads, pixels, 1 << 14, encode_body, &j);
    return TSR_OK;
}

static void clear_body(void *user, int64_t begin, int64_t end, int worker)
{
    const struct draw_job *j = (const struct draw_job *)user;
    const tsr_pixel empty = { 0, 0, 0, 0, TSR_FLOAT_BIG };
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_pixel_store(&empty, j->rgba, j->depth, i);
}
static tsr_status cpu_clear(tsr_queue *queue, float *rgba, float *depth, int64_t pixels)
{
    struct draw_job j = { .rgba = rgba, .depth = depth };
    tsr_parallel(queue->threads, pixels, 1 << 16, clear_body, &j);
    return TSR_OK;
}

const tsr_render_ops tsr_render_cpu = { .ranges = cpu_ranges,
                                        .summarize = cpu_summarize,
                                        .skips = cpu_skips,
                                        .cells = cpu_cells,
                                        .tile_table = cpu_tile_table,
                                        .draw = cpu_draw,
                                        .slice = cpu_slice,
                                        .encode = cpu_encode,
                                        .clear = cpu_clear,
                                        .records = &tsr_records_cpu,
                                        .stack = tsr_stack_cpu };
