/* histopyramid/detail_cpu.c: rows of voxels, cells of 32^3, runs. Nothing depends on the number of threads. */
#include "core/parallel.h"
#include "histopyramid/detail_ops.h"

enum { ROWS = 8, COEFFICIENTS = 1 << 14, RUNS = 1 << 10 };

struct work {
    const tsr_adjunction *a;
    const tsr_details *d;
    const tsr_detail_sort *sort;
    const tsr_detail_choice *choice;
    int32_t level;
    void *data;
    uint32_t *counts, *run_counts;
    uint8_t *heads;
    uint64_t *histogram;
    const uint32_t *head;
    tsr_detail_run *to;
};

/* Least of 2 x 2 x 2, a row: four rows of the level below. */
#define REDUCE_ROW(T)                                                                                \
    static void reduce_row_##T(const T *p0, const T *p1, const T *p2, const T *p3, T *to, int32_t n) \
    {                                                                                                \
        for (int32_t x = 0; x < n; x++) {                                                            \
            const int32_t e = 2 * x, o = e + 1;                                                      \
            const T a = p0[e] < p0[o] ? p0[e] : p0[o], b = p1[e] < p1[o] ? p1[e] : p1[o];            \
            const T c = p2[e] < p2[o] ? p2[e] : p2[o], d = p3[e] < p3[o] ? p3[e] : p3[o];            \
            const T s = a < b ? a : b, t = c < d ? c : d;                                            \
            to[x] = s < t ? s : t;                                                                   \
        }                                                                                            \
    }
REDUCE_ROW(uint8_t)
REDUCE_ROW(uint16_t)

static void reduce_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    const tsr_adjunction *a = w->a;
    const int32_t j = w->level, *n = a->size[j], *m = a->size[j + 1];
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const int32_t y = (int32_t)(i % m[1]), z = (int32_t)(i / m[1]);
        int32_t x = 0;
        if (a->cube2) {
            const int32_t y1 = tsr_mini(2 * y + 1, n[1] - 1), z1 = tsr_mini(2 * z + 1, n[2] - 1); /* the last row twice where the level ends */
            const int64_t row[4] = { tsr_adjunction_index(n, 0, 2 * y, 2 * z), tsr_adjunction_index(n, 0, y1, 2 * z),
                                     tsr_adjunction_index(n, 0, 2 * y, z1), tsr_adjunction_index(n, 0, y1, z1) };
            const uint8_t *b = (const uint8_t *)a->level[j];
            const uint16_t *s = (const uint16_t *)a->level[j];
            x = n[0] / 2;
            if (a->bytes == 1) reduce_row_uint8_t(b + row[0], b + row[1], b + row[2], b + row[3], (uint8_t *)a->level[j + 1] + i * m[0], x);
            else reduce_row_uint16_t(s + row[0], s + row[1], s + row[2], s + row[3], (uint16_t *)a->level[j + 1] + i * m[0], x);
        }
        for (; x < m[0]; x++) tsr_adjunction_store(a->level[j + 1], a->bytes, i * m[0] + x, tsr_adjunction_reduce(a, j, x, y, z));
    }
}
static void expand_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    const tsr_adjunction *a = w->a;
    const int32_t *n = a->size[w->level];
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        for (int32_t x = 0; x < n[0]; x++) {
            const uint32_t s = tsr_adjunction_expand(a, w->level, x, (int32_t)(i % n[1]), (int32_t)(i / n[1]));
            const int64_t at = i * n[0] + x;
            if (w->data) tsr_adjunction_store(w->data, a->bytes, at, s);
            else if (s > tsr_adjunction_load(a->level[w->level], a->bytes, at)) tsr_adjunction_store(a->level[w->level], a->bytes, at, s);
        }
}

static tsr_status cpu_reduce(tsr_queue *queue, const tsr_adjunction *a, int32_t j)
{
    struct work w = { .a = a, .level = j };
    tsr_parallel(queue->threads, (int64_t)a->size[j + 1][1] * a->size[j + 1][2], ROWS, reduce_rows, &w);
    return TSR_OK;
}
static tsr_status cpu_expand(tsr_queue *queue, const tsr_adjunction *a, int32_t j)
{
    struct work w = { .a = a, .level = j };
    tsr_parallel(queue->threads, (int64_t)a->size[j][1] * a->size[j][2], ROWS, expand_rows, &w);
    return TSR_OK;
}
static tsr_status cpu_opening(tsr_queue *queue, const tsr_adjunction *a, void *data)
{
    struct work w = { .a = a, .data = data };
    tsr_parallel(queue->threads, (int64_t)a->size[0][1] * a->size[0][2], ROWS, expand_rows, &w);
    return TSR_OK;
}

static void count_cells(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t cell = begin; cell < end; cell++) {
        uint32_t count = 0;
        for (int32_t j = 0; j <= w->d->levels; j++) {
            int32_t o[3], n[3];
            if (!tsr_detail_cell(w->d, cell, j, o, n)) continue;
            for (int32_t z = o[2]; z < o[2] + n[2]; z++)
                for (int32_t y = o[1]; y < o[1] + n[1]; y++)
                    for (int32_t x = o[0]; x < o[0] + n[0]; x++) {
                        uint32_t residual;
                        count += tsr_adjunction_detail(w->a, j, x, y, z, &residual) != 0;
                    }
        }
        w->counts[cell] = count;
    }
}
static void emit_cells(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    const tsr_detail_sort *s = w->sort;
    (void)worker;
    for (int64_t cell = s->brick + begin; cell < s->brick + end; cell++) {
        int64_t at = s->cell[cell] - s->first;
        for (int32_t j = 0; j <= w->d->levels; j++) {
            int32_t o[3], n[3];
            if (!tsr_detail_cell(w->d, cell, j, o, n)) continue;
            for (int32_t z = o[2]; z < o[2] + n[2]; z++)
                for (int32_t y = o[1]; y < o[1] + n[1]; y++)
                    for (int32_t x = o[0]; x < o[0] + n[0]; x++) {
                        uint64_t key;
                        uint32_t payload;
                        if (!tsr_detail_emit(w->a, w->d, s, cell, j, o, x, y, z, &key, &payload)) continue;
                        tsr_detail_key_put(s, at, key);
                        s->payload[at++] = payload;
                    }
        }
    }
}
static tsr_status cpu_count(tsr_queue *queue, const tsr_adjunction *a, const tsr_details *d, uint32_t *counts)
{
    struct work w = { .a = a, .d = d, .counts = counts };
    tsr_parallel(queue->threads, tsr_adjunction_cells(d->cells), 4, count_cells, &w);
    return TSR_OK;
}
static tsr_status cpu_emit(tsr_queue *queue, const tsr_adjunction *a, const tsr_details *d, const tsr_detail_sort *sort)
{
    struct work w = { .a = a, .d = d, .sort = sort };
    tsr_parallel(queue->threads, sort->bricks, 4, emit_cells, &w);
    return TSR_OK;
}

static void code(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    int64_t bin = 0, equal = 0; /* neighbours mostly share a bin of the histogram */
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int32_t level;
        uint32_t value, residual;
        int64_t brick;
        w->heads[i] = (uint8_t)tsr_detail_code(w->d, w->sort, i, &level, &value, &residual, &brick);
        if (w->heads[i]) __atomic_fetch_add(&w->run_counts[brick], 1, __ATOMIC_RELAXED);
        if (bin != (int64_t)level * 65536 + residual) {
            __atomic_fetch_add(&w->histogram[bin], (uint64_t)equal, __ATOMIC_RELAXED);
            bin = (int64_t)level * 65536 + residual;
            equal = 0;
        }
        equal++;
    }
    __atomic_fetch_add(&w->histogram[bin], (uint64_t)equal, __ATOMIC_RELAXED);
}
static tsr_status cpu_code(tsr_queue *queue, const tsr_details *d, const tsr_detail_sort *sort, uint8_t *heads, uint32_t *runs, uint64_t *histogram)
{
    struct work w = { .d = d, .sort = sort, .heads = heads, .run_counts = runs, .histogram = histogram };
    tsr_parallel(queue->threads, sort->count, COEFFICIENTS, code, &w);
    return TSR_OK;
}

static void runs(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t k = begin; k < end; k++) w->to[k] = tsr_detail_run_make(w->d, w->sort, w->head[k]);
}
static tsr_status cpu_runs(tsr_queue *queue, const tsr_details *d, const tsr_detail_sort *sort, const uint32_t *heads, int64_t count,
                           tsr_detail_run *to)
{
    struct work w = { .d = d, .sort = sort, .head = heads, .to = to };
    tsr_parallel(queue->threads, count, RUNS, runs, &w);
    return TSR_OK;
}

/* ---- selection --------------------------------------------------------------------------------------------------------------------------- */

/* Lists have one brick with all the runs: the unit of work is a piece of its runs. */
struct piece {
    int64_t brick, pieces;
    uint32_t begin, end;
};
static struct piece piece_of(const tsr_details *d, int64_t i)
{
    struct piece p = { .brick = i };
    if (d->bricks == 1) {
        p.brick = 0;
        p.begin = (uint32_t)(i * RUNS);
        p.end = (uint32_t)tsr_min64((i + 1) * RUNS, d->brick[0].runs);
    } else p.end = d->brick[i].runs;
    return p;
}
static int64_t pieces(const tsr_details *d) { return d->bricks == 1 ? tsr_ceil_div(d->runs, RUNS) : d->bricks; }

/* Runs [k] of the pieces, one after another. */
typedef void (*run_body)(const struct work *w, int64_t brick, uint32_t k);
static void each_run(const struct work *w, int64_t begin, int64_t end, run_body body)
{
    for (int64_t i = begin; i < end; i++) {
        const struct piece p = piece_of(w->d, i);
        const uint32_t first = w->d->brick[p.brick].run;
        for (uint32_t k = first + p.begin; k < first + p.end; k++) body(w, p.brick, k);
    }
}

static void choose_run(const struct work *w, int64_t brick, uint32_t k)
{
    uint32_t ties;
    w->d->to[k] = tsr_detail_choose(w->d, w->choice, &w->d->brick[brick], k, &ties);
    if (ties) __atomic_fetch_add(&w->choice->ties[tsr_detail_bin(w->d, w->choice, &w->d->run[k])], ties, __ATOMIC_RELAXED);
}
static void choose_ties_run(const struct work *w, int64_t brick, uint32_t k)
{
    uint32_t ties;
    if (tsr_detail_bin(w->d, w->choice, &w->d->run[k]) >= w->choice->bin) return;
    tsr_detail_choose(w->d, w->choice, &w->d->brick[brick], k, &ties);
    w->d->to[k] += ties;
}
static void scatter_run(const struct work *w, int64_t brick, uint32_t k)
{
    const tsr_detail_brick *b = &w->d->brick[brick];
    const int64_t first = b->first + w->d->run[k].first;
    for (uint32_t c = 0; c < tsr_detail_run_count(w->d, b, k); c++) tsr_detail_scatter(w->a, w->d, brick, &w->d->run[k], first + c);
}

static void choose(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    each_run((const struct work *)user, begin, end, choose_run);
}
static void choose_ties(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    each_run((const struct work *)user, begin, end, choose_ties_run);
}
static void scatter(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    each_run((const struct work *)user, begin, end, scatter_run);
}

static tsr_status cpu_choose(tsr_queue *queue, const tsr_details *d, const tsr_detail_choice *choice)
{
    struct work w = { .d = d, .choice = choice };
    tsr_parallel(queue->threads, pieces(d), d->bricks == 1 ? 1 : 64, choose, &w);
    return TSR_OK;
}
static tsr_status cpu_choose_ties(tsr_queue *queue, const tsr_details *d, const tsr_detail_choice *choice)
{
    struct work w = { .d = d, .choice = choice };
    tsr_parallel(queue->threads, pieces(d), d->bricks == 1 ? 1 : 64, choose_ties, &w);
    return TSR_OK;
}
static void count_rest(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) w->counts[i] = tsr_detail_rest(w->d, w->choice, i);
}
static tsr_status cpu_count_rest(tsr_queue *queue, const tsr_details *d, const tsr_detail_choice *choice, uint32_t *numbers)
{
    struct work w = { .d = d, .choice = choice, .counts = numbers };
    tsr_parallel(queue->threads, d->bricks, 64, count_rest, &w);
    return TSR_OK;
}
static tsr_status cpu_choose_rest(tsr_queue *queue, const tsr_details *d, const tsr_detail_choice *choice, const uint32_t *numbers)
{
    (void)queue;
    for (int64_t i = 0; i < d->bricks; i++) tsr_detail_take_rest(d, choice, i, numbers[i]);
    return TSR_OK;
}

static void find_most(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        uint32_t most = 0;
        for (uint32_t k = 0; k < w->d->brick[i].runs; k++) {
            const uint32_t v = tsr_detail_most(w->d, &w->d->brick[i], k);
            most = v > most ? v : most;
        }
        w->counts[i] = most;
    }
}
static tsr_status cpu_most(tsr_queue *queue, const tsr_details *d, uint32_t *most)
{
    struct work w = { .d = d, .counts = most };
    tsr_parallel(queue->threads, d->bricks, 64, find_most, &w);
    return TSR_OK;
}

static tsr_status cpu_scatter(tsr_queue *queue, const tsr_adjunction *a, const tsr_details *d)
{
    struct work w = { .a = a, .d = d };
    tsr_parallel(queue->threads, pieces(d), d->bricks == 1 ? 1 : 16, scatter, &w);
    return TSR_OK;
}

const tsr_detail_ops tsr_detail_cpu = { .reduce = cpu_reduce,
                                        .expand = cpu_expand,
                                        .opening = cpu_opening,
                                        .count = cpu_count,
                                        .emit = cpu_emit,
                                        .code = cpu_code,
                                        .runs = cpu_runs,
                                        .choose = cpu_choose,
                                        .choose_ties = cpu_choose_ties,
                                        .count_rest = cpu_count_rest,
                                        .choose_rest = cpu_choose_rest,
                                        .most = cpu_most,
                                        .scatter = cpu_scatter };
