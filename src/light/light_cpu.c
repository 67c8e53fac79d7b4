/* light/light_cpu.c: chunks of patches in parallel; a serial sum over chunks says where each one's patches go in the next list. */
#include "core/parallel.h"
#include "light/light_isa.h"

enum { CHUNK = 512 };

typedef struct pass_job {
    const tsr_light_wave *wave;
    int pass;
    int64_t step, count, bin, next; /* next: patches of the next list */
    int64_t *offsets; /* [chunks] */
} pass_job;

static void add_account(tsr_light_account *to, const tsr_light_account *from)
{
    for (int k = 0; k < 3; k++) {
        for (int r = 0; r < TSR_LIGHT_REASONS; r++)
            if (from->ended[r][k]) tsr_light_add(&to->ended[r][k], from->ended[r][k]);
        if (from->dimmed[k]) tsr_light_add(&to->dimmed[k], from->dimmed[k]);
        if (from->mirrored[k]) tsr_light_add(&to->mirrored[k], from->mirrored[k]);
        if (from->rest[k]) tsr_light_add(&to->rest[k], from->rest[k]);
    }
    for (int r = 0; r < TSR_LIGHT_REASONS; r++)
        if (from->ends[r]) tsr_light_add(&to->ends[r], from->ends[r]);
    if (from->splits) tsr_light_add(&to->splits, from->splits);
    if (from->crowded) tsr_light_add(&to->crowded, from->crowded);
    for (int b = 0; b < TSR_LIGHT_BINS; b++)
        if (from->more[b]) tsr_light_add(&to->more[b], from->more[b]);
}

static void visit_chunks(void *user, int64_t begin, int64_t end, int worker)
{
    const pass_job *j = (const pass_job *)user;
    tsr_light_account own;
    (void)worker;
    memset(&own, 0, sizeof own);
    for (int64_t c = begin; c < end; c++)
        j->offsets[c] = TSR_ISA_SELECT(tsr_light_visit_range)(j->wave, j->pass, j->step, c * CHUNK, tsr_minl(j->count, (c + 1) * CHUNK), &own);
    add_account(j->wave->account, &own);
}

static void crowd_chunks(void *user, int64_t begin, int64_t end, int worker)
{
    const pass_job *j = (const pass_job *)user;
    tsr_light_account own;
    (void)worker;
    memset(&own, 0, sizeof own);
    for (int64_t i = begin * CHUNK; i < tsr_minl(j->count, end * CHUNK); i++) tsr_light_crowd(j->wave, j->step, i, own.more);
    add_account(j->wave->account, &own);
}

static void crowd_out_chunks(void *user, int64_t begin, int64_t end, int worker)
{
    const pass_job *j = (const pass_job *)user;
    tsr_light_account own;
    (void)worker;
    memset(&own, 0, sizeof own);
    for (int64_t c = begin; c < end; c++) {
        j->offsets[c] = 0;
        for (int64_t i = c * CHUNK; i < tsr_minl(j->count, (c + 1) * CHUNK); i++)
            j->offsets[c] += tsr_light_crowd_out(j->wave, j->step, i, j->bin, &own.crowded);
    }
    add_account(j->wave->account, &own);
}

static void grow_chunks(void *user, int64_t begin, int64_t end, int worker)
{
    const pass_job *j = (const pass_job *)user;
    (void)worker;
    for (int64_t c = begin; c < end; c++) {
        const int64_t last = c * CHUNK + CHUNK < j->count ? j->offsets[c + 1] : j->next;
        TSR_ISA_SELECT(tsr_light_grow_range)(j->wave, j->step, c * CHUNK, tsr_minl(j->count, (c + 1) * CHUNK), j->offsets[c], last);
    }
}

static int64_t sum_chunks(int64_t *offsets, int64_t chunks)
{
    int64_t all = 0;
    for (int64_t c = 0; c < chunks; c++) {
        const int64_t own = offsets[c];
        offsets[c] = all;
        all += own;
    }
    return all;
}

static size_t cpu_advance_bytes(int64_t capacity) { return (size_t)(capacity / CHUNK + 1) * sizeof(int64_t); }

static tsr_status cpu_advance(tsr_queue *queue, const tsr_light_wave *wave, int64_t first, int64_t count, void *workspace)
{
    tsr_light_account *a = wave->account;
    for (int64_t s = first; s < first + count && a->patches; s++) {
        pass_job job = { .wave = wave, .pass = s ? TSR_LIGHT_PASS_STEP : TSR_LIGHT_PASS_FIRST, .step = s, .count = a->patches, .offsets = workspace };
        const int64_t chunks = (a->patches + CHUNK - 1) / CHUNK;
        tsr_parallel(queue->threads, chunks, 4, visit_chunks, &job);
        int64_t next = sum_chunks(job.offsets, chunks);
        if (next > wave->capacity) {
            int64_t without = next;
            memset(a->more, 0, sizeof a->more);
            tsr_parallel(queue->threads, chunks, 4, crowd_chunks, &job);
            for (int b = 0; b < TSR_LIGHT_BINS; b++) without -= a->more[b];
            job.bin = tsr_light_crowd_bin(a->more, without, wave->capacity);
            tsr_parallel(queue->threads, chunks, 4, crowd_out_chunks, &job);
            next = sum_chunks(job.offsets, chunks);
        }
        job.next = next;
        tsr_parallel(queue->threads, chunks, 4, grow_chunks, &job);
        a->moved += s ? a->patches : 0;
        a->patches = next;
        a->peak = tsr_maxl(a->peak, next);
        a->steps = s;
    }
    return TSR_OK;
}

static tsr_status cpu_last(tsr_queue *queue, const tsr_light_wave *wave, int64_t step)
{
    const int64_t chunks = (wave->account->patches + CHUNK - 1) / CHUNK;
    pass_job job = { .wave = wave, .pass = TSR_LIGHT_PASS_LAST, .step = step, .count = wave->account->patches, .offsets = NULL };
    tsr_light_account own;
    (void)queue;
    memset(&own, 0, sizeof own);
    if (chunks) TSR_ISA_SELECT(tsr_light_visit_range)(job.wave, job.pass, job.step, 0, job.count, &own);
    add_account(wave->account, &own);
    return TSR_OK;
}

typedef struct land_job { const tsr_light_wave *wave; } land_job;
static void land_range(void *user, int64_t begin, int64_t end, int worker)
{
    const land_job *j = (const land_job *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_light_land_patch(j->wave, i, 0, 1);
}
static tsr_status cpu_land(tsr_queue *queue, const tsr_light_wave *wave, int64_t count)
{
    land_job job = { wave };
    tsr_parallel(queue->threads, count, 64, land_range, &job);
    return TSR_OK;
}

static void settle_range(void *user, int64_t begin, int64_t end, int worker)
{
    const land_job *j = (const land_job *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_light_settle(j->wave, i);
}
static void settle_floor_range(void *user, int64_t begin, int64_t end, int worker)
{
    const land_job *j = (const land_job *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_light_settle_floor(j->wave, i);
}
static tsr_status cpu_settle(tsr_queue *queue, const tsr_light_wave *wave)
{
    land_job job = { wave };
    const int32_t *n = wave->medium.size, *f = wave->floor.size;
    if (wave->sums) tsr_parallel(queue->threads, (int64_t)n[0] * n[1] * n[2], 4096, settle_range, &job);
    if (wave->floor.sums) tsr_parallel(queue->threads, (int64_t)f[0] * f[1], 4096, settle_floor_range, &job);
    return TSR_OK;
}

static void census_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_light_census *j = (const tsr_light_census *)user;
    int64_t own[3] = { 0 };
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_light_count_voxel(j, i, own);
    for (int k = 0; k < 3; k++) tsr_light_add(&j->counts[k], own[k]);
}
static tsr_status cpu_census(tsr_queue *queue, const tsr_light_census *job)
{
    tsr_light_census own = *job;
    tsr_parallel(queue->threads, own.voxels, 16384, census_range, &own);
    return TSR_OK;
}

static void trace_range(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    TSR_ISA_SELECT(tsr_light_trace_range)((const tsr_light_tracing *)user, begin, end);
}
static tsr_status cpu_trace(tsr_queue *queue, const tsr_light_tracing *job)
{
    tsr_light_tracing own = *job;
    tsr_parallel(queue->threads, own.count, 16, trace_range, &own);
    return TSR_OK;
}

static void view_range(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    TSR_ISA_SELECT(tsr_light_view_range)((const tsr_light_seen *)user, begin, end);
}
static tsr_status cpu_view(tsr_queue *queue, const tsr_light_seen *job)
{
    tsr_light_seen own = *job;
    tsr_parallel(queue->threads, (int64_t)own.width * own.height, 1024, view_range, &own);
    return TSR_OK;
}

static void tone_sum_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_light_tones *j = (const tsr_light_tones *)user;
    int64_t own = 0;
    (void)worker;
    for (int64_t i = begin; i < end; i++) own += tsr_light_tone_log(j, i);
    tsr_light_add(j->sum, own);
}
static tsr_status cpu_tone_sum(tsr_queue *queue, const tsr_light_tones *job)
{
    tsr_light_tones own = *job;
    tsr_parallel(queue->threads, own.count, 8192, tone_sum_range, &own);
    return TSR_OK;
}
static void tone_range(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    TSR_ISA_SELECT(tsr_light_tone_range)((const tsr_light_tones *)user, begin, end);
}
static tsr_status cpu_tone(tsr_queue *queue, const tsr_light_tones *job)
{
    tsr_light_tones own = *job;
    tsr_parallel(queue->threads, own.count, 8192, tone_range, &own);
    return TSR_OK;
}

const tsr_light_ops tsr_light_cpu = { .advance_bytes = cpu_advance_bytes, .advance = cpu_advance, .last = cpu_last, .land = cpu_land, .settle = cpu_settle,
                                      .census = cpu_census, .trace = cpu_trace, .view = cpu_view, .tone_sum = cpu_tone_sum, .tone = cpu_tone };
