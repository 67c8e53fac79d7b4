/* vision/features_cpu.c: tiles in parallel, the few cells above them by recursion. */
#include "core/parallel.h"
#include "vision/features_isa.h"

struct work {
    const tsr_features_job *job;
    int32_t stage, index;
    uint8_t *mask;
};

static void tiles(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    TSR_ISA_SELECT(tsr_features_tiles)(w->job, begin, end);
}

/* side x side cells of the stage below at (row, column). */
static void join(const tsr_features_job *j, int32_t stage, int32_t image, int32_t test, int32_t row, int32_t column, int32_t side, tsr_blob *kept)
{
    tsr_blob four[4 * TSR_BLOB_KEEP];
    if (row >= j->rows[stage - 1] || column >= j->columns[stage - 1]) {
        for (int32_t k = 0; k < j->keep; k++) tsr_blob_clear(&kept[k]);
        return;
    }
    if (side == 1) {
        memcpy(kept, tsr_features_cell(j, stage - 1, image, test, row, column), (size_t)j->keep * sizeof *kept);
        return;
    }
    for (int32_t c = 0; c < 4; c++) join(j, stage, image, test, row + (c >> 1) * side / 2, column + (c & 1) * side / 2, side / 2, &four[c * j->keep]);
    tsr_blob_compete(four, j->keep, j->rule, kept);
}

static void joins(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    const tsr_features_job *j = w->job;
    const int32_t columns = j->columns[w->stage], rows = j->rows[w->stage];
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const int32_t column = (int32_t)(i % columns), row = (int32_t)(i / columns % rows);
        const int32_t test = (int32_t)(i / columns / rows % j->tests), image = (int32_t)(i / columns / rows / j->tests);
        join(j, w->stage, image, test, row * TSR_FEATURES_JOIN, column * TSR_FEATURES_JOIN, TSR_FEATURES_JOIN,
             tsr_features_cell(j, w->stage, image, test, row, column));
    }
}

static tsr_status cpu_detect(tsr_queue *queue, const tsr_features_job *job)
{
    struct work w = { .job = job };
    tsr_parallel(queue->threads, (int64_t)job->images * job->rows[0] * job->columns[0], 4, tiles, &w);
    for (w.stage = 1; w.stage < job->stages; w.stage++)
        tsr_parallel(queue->threads, (int64_t)job->images * job->tests * job->rows[w.stage] * job->columns[w.stage], 1, joins, &w);
    return TSR_OK;
}

static void mask_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    const int32_t width = w->job->frame.width, height = w->job->frame.height;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const tsr_frame_view v = tsr_features_view(w->job, (int32_t)(i / height));
        for (int32_t x = 0; x < width; x += 64) {
            const int32_t n = tsr_mini(64, width - x);
            const uint64_t bits = TSR_ISA_SELECT(tsr_features_bits)(&w->job->test[w->index], &v, x, (int32_t)(i % height), n);
            for (int32_t k = 0; k < n; k++) w->mask[i * width + x + k] = (uint8_t)(bits >> k & 1u);
        }
    }
}

static tsr_status cpu_mask(tsr_queue *queue, const tsr_features_job *job, int32_t index, uint8_t *mask)
{
    struct work w = { .job = job, .index = index, .mask = mask };
    tsr_parallel(queue->threads, (int64_t)job->images * job->frame.height, 16, mask_rows, &w);
    return TSR_OK;
}

/* One thread: neighbours mostly share their label, so a run costs one update. */
static tsr_status cpu_measure(tsr_queue *queue, const uint32_t *labels, int32_t width, int32_t height, tsr_blob *blobs, int64_t count)
{
    (void)queue;
    for (int64_t i = 0; i < count; i++) tsr_blob_clear(&blobs[i]);
    for (int32_t y = 0; y < height; y++) {
        const uint32_t *row = labels + (int64_t)y * width;
        for (int32_t x = 0; x < width;) {
            const int32_t begin = x;
            while (x < width && row[x] == row[begin]) x++;
            if (row[begin]) tsr_blob_add_run(&blobs[row[begin] - 1], begin, x, y);
        }
    }
    return TSR_OK;
}

const tsr_features_ops tsr_features_cpu = { .detect = cpu_detect, .mask = cpu_mask, .measure = cpu_measure };
