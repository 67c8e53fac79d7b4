/* volume/components_cpu.c: connected components by union-find over runs: maximal pieces of rows. Runs are numbered in memory order, and the
 * smallest run of a component names it, so labels come out in the order of the components' first voxels whatever the threads do. */
#include "core/parallel.h"
#include "volume/components.h"
#include "volume/volume_cpu.h"

struct run { int32_t begin, end; };

struct components {
    const uint8_t *mask;
    uint32_t *labels;
    int64_t nx, ny, nz;
    int margin;          /* 0: runs of neighbouring rows must share an x; 1: may also touch diagonally */
    int64_t slab;        /* slices per parallel piece of the union */
    int64_t *first;      /* first run of every row, ny * nz + 1 */
    struct run *runs;
    uint32_t *parent;
};

/* Calls are cheap where the mask is empty: eight voxels at a time. */
static int64_t row_runs(const uint8_t *row, int64_t nx, struct run *runs)
{
    int64_t count = 0, x = 0;
    while (x < nx) {
        uint64_t word;
        while (x + 8 <= nx && (memcpy(&word, row + x, 8), word == 0)) x += 8;
        while (x < nx && !row[x]) x++;
        if (x == nx) break;
        int64_t begin = x;
        while (x < nx && row[x]) x++;
        if (runs) runs[count] = (struct run){ (int32_t)begin, (int32_t)x };
        count++;
    }
    return count;
}

static void count_rows(void *user, int64_t begin, int64_t end, int worker)
{
    struct components *c = (struct components *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) c->first[i + 1] = row_runs(c->mask + i * c->nx, c->nx, NULL);
}

static void fill_rows(void *user, int64_t begin, int64_t end, int worker)
{
    struct components *c = (struct components *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        row_runs(c->mask + i * c->nx, c->nx, c->runs + c->first[i]);
        for (int64_t k = c->first[i]; k < c->first[i + 1]; k++) c->parent[k] = (uint32_t)k;
    }
}

/* Joins the touching runs of two rows: both lists are sorted, one sweep. */
static void join_rows(struct components *c, int64_t row, int64_t other)
{
    int64_t a = c->first[row], b = c->first[other], a_end = c->first[row + 1], b_end = c->first[other + 1];
    while (a < a_end && b < b_end) {
        if (c->runs[a].begin < c->runs[b].end + c->margin && c->runs[b].begin < c->runs[a].end + c->margin)
            tsr_union_merge(c->parent, (uint32_t)a, (uint32_t)b);
        if (c->runs[a].end < c->runs[b].end) a++;
        else b++;
    }
}

static void join_slice(struct components *c, int64_t z)
{
    for (int64_t y = 0; y < c->ny; y++)
        for (int64_t dy = -c->margin; dy <= c->margin; dy++)
            if (y + dy >= 0 && y + dy < c->ny) join_rows(c, z * c->ny + y, (z - 1) * c->ny + y + dy);
}

static void join_slabs(void *user, int64_t begin, int64_t end, int worker)
{
    struct components *c = (struct components *)user;
    (void)worker;
    for (int64_t s = begin; s < end; s++)
        for (int64_t z = s * c->slab; z < tsr_min64((s + 1) * c->slab, c->nz); z++) {
            for (int64_t y = 1; y < c->ny; y++) join_rows(c, z * c->ny + y, z * c->ny + y - 1);
            if (z > s * c->slab) join_slice(c, z);
        }
}

static void paint_rows(void *user, int64_t begin, int64_t end, int worker)
{
    struct components *c = (struct components *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        uint32_t *row = c->labels + i * c->nx;
        int64_t x = 0;
        for (int64_t k = c->first[i]; k < c->first[i + 1]; k++) {
            for (; x < c->runs[k].begin; x++) row[x] = 0;
            for (; x < c->runs[k].end; x++) row[x] = c->parent[k];
        }
        for (; x < c->nx; x++) row[x] = 0;
    }
}

/* Turns parents into labels 1, 2, ...; a parent is never larger than its run, so one ascending pass sees final values below it. */
static uint32_t number(uint32_t *parent, int64_t runs)
{
    uint32_t labels = 0;
    for (int64_t i = 0; i < runs; i++) parent[i] = parent[i] == (uint32_t)i ? ++labels : parent[parent[i]];
    return labels;
}

size_t tsr_cpu_components_work(const int64_t size[3])
{
    (void)size;
    return 0; /* its own memory: the number of runs is not known before */
}

tsr_status tsr_cpu_components(tsr_queue *queue, const uint8_t *mask, const int64_t size[3], int connectivity, uint32_t *labels, void *work,
                              uint32_t *total)
{
    tsr_status status = TSR_OK;
    int threads = queue->threads < 1 ? 1 : queue->threads;
    struct components c = { .mask = mask, .labels = labels, .nx = size[0], .ny = size[1], .nz = size[2], .margin = connectivity == 26 };
    int64_t rows = c.ny * c.nz, runs = 0;
    (void)work;
    size_t first_bytes = (size_t)(rows + 1) * sizeof *c.first;
    if (c.nx > INT32_MAX) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "components: extent x is %lld, expected less than 2^31", (long long)c.nx);
    TSR_TRY(tsr_host_allocate(NULL, first_bytes, (void **)&c.first));
    c.first[0] = 0;
    tsr_parallel(threads, rows, 64, count_rows, &c);
    for (int64_t i = 0; i < rows; i++) c.first[i + 1] += c.first[i];
    runs = c.first[rows];
    if (runs >= UINT32_MAX) TSR_FAIL_GOTO(TSR_ERROR_CAPACITY, done, "components: %lld runs of voxels, expected less than 2^32 - 1", (long long)runs);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)runs * (sizeof *c.runs + sizeof *c.parent), (void **)&c.runs), done);
    c.parent = (uint32_t *)(void *)(c.runs + runs);
    tsr_parallel(threads, rows, 64, fill_rows, &c);
    c.slab = tsr_max64(8, tsr_ceil_div(c.nz, 4 * threads));
    tsr_parallel(threads, tsr_ceil_div(c.nz, c.slab), 1, join_slabs, &c);
    for (int64_t z = c.slab; z < c.nz; z += c.slab) join_slice(&c, z);
    *total = number(c.parent, runs);
    tsr_parallel(threads, rows, 64, paint_rows, &c);
done:
    tsr_host_release(NULL, c.runs, (size_t)runs * (sizeof *c.runs + sizeof *c.parent));
    tsr_host_release(NULL, c.first, first_bytes);
    return status;
}

/* ---- selection ---------------------------------------------------------------------------------------------------------------------- */

struct select {
    const uint32_t *labels;
    const uint8_t *keep;
    uint8_t *mask;
};

static void select_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct select *s = (const struct select *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) s->mask[i] = s->keep[s->labels[i]];
}

tsr_status tsr_cpu_select_labels(tsr_queue *queue, const uint32_t *labels, int64_t count, const uint8_t *keep, uint8_t *mask)
{
    struct select s = { labels, keep, mask };
    tsr_parallel(queue->threads, count, 1 << 16, select_range, &s);
    return TSR_OK;
}

/* One thread: neighbouring voxels mostly share their label, so a run costs one addition. */
tsr_status tsr_cpu_label_sizes(tsr_queue *queue, const uint32_t *labels, int64_t count, uint64_t *sizes)
{
    (void)queue;
    for (int64_t i = 0; i < count;) {
        int64_t begin = i;
        while (i < count && labels[i] == labels[begin]) i++;
        sizes[labels[begin]] += (uint64_t)(i - begin);
    }
    return TSR_OK;
}
