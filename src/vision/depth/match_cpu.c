/* vision/depth/match_cpu.c: rows of codes and answers in parallel; the forward and the backward paths are two workers' business. */
#include <string.h>

#include "core/parallel.h"
#include "vision/depth/match_isa.h"

static void greys(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    TSR_ISA_SELECT(tsr_match_greys)((const tsr_code_job *)user, begin, end);
}
static void codes(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t y = begin; y < end; y++) TSR_ISA_SELECT(tsr_match_codes)((const tsr_code_job *)user, (int32_t)y);
}

static tsr_status cpu_code(tsr_queue *queue, const tsr_code_job *job)
{
    tsr_code_job own = *job;
    if (job->image) tsr_parallel(queue->threads, (int64_t)job->width * job->height, 8192, greys, &own);
    if (job->code) tsr_parallel(queue->threads, job->height, 8, codes, &own);
    return TSR_OK;
}

struct passes {
    tsr_match_job job;
    tsr_match_room room[2];
};

static void pass(void *user, int64_t begin, int64_t end, int worker)
{
    const struct passes *p = (const struct passes *)user;
    (void)worker;
    for (int64_t k = begin; k < end; k++) {
        const int own = k && p->job.more;
        TSR_ISA_SELECT(tsr_match_pass)(&p->job, (int)k, own ? p->job.more : p->job.sums, k && !own, &p->room[own]);
    }
}

/* ---- three paths: no sums are kept ---------------------------------------------------------------------------------------------- */

/* A few rows at a time: each row's own paths, then the path from above in strips of columns, then the answers. */
struct rows {
    tsr_match_job job;
    int32_t first, count, ring; /* rows at hand; row y has place y % ring */
    tsr_match_rows *row;
    tsr_match_room *room; /* of each worker */
    uint32_t *other;      /* likewise, [width] */
};

static void along(void *user, int64_t begin, int64_t end, int worker)
{
    const struct rows *r = (const struct rows *)user;
    for (int64_t k = begin; k < end; k++) {
        const int32_t y = r->first + (int32_t)k;
        TSR_ISA_SELECT(tsr_match_along)(&r->job, y, &r->room[worker], &r->row[y % r->ring]);
    }
}
static void down(void *user, int64_t begin, int64_t end, int worker)
{
    const struct rows *r = (const struct rows *)user;
    (void)worker;
    for (int32_t y = r->first; y < r->first + r->count; y++)
        TSR_ISA_SELECT(tsr_match_down)(&r->job, y, (int32_t)begin, (int32_t)end, &r->row[(y + r->ring - 1) % r->ring], &r->row[y % r->ring]);
}
static void answer_row(void *user, int64_t begin, int64_t end, int worker)
{
    const struct rows *r = (const struct rows *)user;
    for (int64_t k = begin; k < end; k++) {
        const int32_t y = r->first + (int32_t)k;
        TSR_ISA_SELECT(tsr_match_select_row)(&r->job, y, &r->row[y % r->ring], r->other + (size_t)worker * (size_t)r->job.width);
    }
}

static tsr_status three_paths(tsr_queue *queue, const tsr_match_job *job)
{
    const int32_t threads = queue->threads, block = threads > 1 ? 4 * threads : 1, ahead = job->first < 0 ? -job->first : job->first;
    struct rows r = { .job = *job, .ring = block + 1 };
    const size_t wide = ((size_t)job->width + 63) / 64 * 64, entries = wide * (size_t)job->padded, turned = (wide + 2 * (size_t)ahead + (size_t)job->padded + 127) / 64 * 64;
    const size_t of_row = 4 * entries + wide, of_worker = 5 * turned + 4 * wide;
    const size_t tables = ((size_t)r.ring * sizeof *r.row + (size_t)threads * sizeof *r.room + 63) / 64 * 64, bytes = tables + (size_t)r.ring * of_row + (size_t)threads * of_worker;
    void *memory;
    TSR_TRY(tsr_host_allocate(NULL, bytes, &memory));
    uint8_t *at = (uint8_t *)memory + tables;
    r.row = (tsr_match_rows *)memory;
    r.room = (tsr_match_room *)(void *)(r.row + r.ring);
    for (int32_t k = 0; k < r.ring; k++, at += of_row)
        r.row[k] = (tsr_match_rows){ .cost = at, .path = { at + entries, at + 2 * entries, at + 3 * entries }, .least = at + 4 * entries };
    r.other = (uint32_t *)(void *)at;
    r.job.width = job->width;
    at += (size_t)threads * 4 * wide;
    for (int32_t k = 0; k < threads; k++) {
        memset(&r.room[k], 0, sizeof r.room[k]);
        memset(at, 0, 5 * turned);
        for (int n = 0; n < 5; n++, at += turned) r.room[k].other[n] = at + ahead;
    }
    for (r.first = 0; r.first < job->height; r.first += block) {
        r.count = job->height - r.first < block ? job->height - r.first : block;
        tsr_parallel(threads, r.count, 1, along, &r);
        tsr_parallel(threads, job->width, threads > 1 ? 64 : job->width, down, &r);
        tsr_parallel(threads, r.count, 1, answer_row, &r);
    }
    tsr_host_release(NULL, memory, bytes);
    return TSR_OK;
}

static tsr_status cpu_aggregate(tsr_queue *queue, const tsr_match_job *job)
{
    if (!job->sums) return three_paths(queue, job);
    struct passes p = { .job = *job };
    const int32_t rooms = job->more ? 2 : 1, paths = job->paths / 2, ahead = job->first < 0 ? -job->first : job->first;
    const size_t wide = ((size_t)job->width + 63) / 64 * 64, entries = wide * (size_t)job->padded;
    const size_t row = (wide + 2 * (size_t)ahead + (size_t)job->padded + TSR_MATCH_LANES + 63) / 64 * 64;
    const size_t one = ((size_t)paths * (entries + wide) + row * 5 + 63) / 64 * 64;
    uint8_t *memory;
    void *room;
    TSR_TRY(tsr_host_allocate(NULL, one * (size_t)rooms, &room));
    memory = (uint8_t *)room;
    for (int32_t k = 0; k < rooms; k++) {
        uint8_t *at = memory + one * (size_t)k;
        memset(at, 0, row * 5);
        for (size_t i = 0; i < 5; i++) p.room[k].other[i] = at + row * i + ahead;
        at += row * 5;
        for (int32_t i = 0; i < paths; i++) {
            p.room[k].path[i] = at;
            p.room[k].least[i] = at + entries;
            at += entries + wide;
        }
    }
    tsr_parallel(rooms, 2, job->more ? 1 : 2, pass, &p);
    (void)queue;
    tsr_host_release(NULL, room, one * (size_t)rooms);
    return TSR_OK;
}

struct answers {
    const tsr_match_job *job;
    uint32_t *room;
    size_t each;
};

static void answer(void *user, int64_t begin, int64_t end, int worker)
{
    const struct answers *a = (const struct answers *)user;
    for (int64_t y = begin; y < end; y++) TSR_ISA_SELECT(tsr_match_select_row)(a->job, (int32_t)y, NULL, a->room + a->each * (size_t)worker);
}

static tsr_status cpu_select(tsr_queue *queue, const tsr_match_job *job)
{
    if (!job->sums) return TSR_OK; /* done with the paths */
    const size_t each = ((size_t)job->width + 15) / 16 * 16, bytes = each * 4 * (size_t)queue->threads;
    void *room;
    TSR_TRY(tsr_host_allocate(NULL, bytes, &room));
    struct answers a = { job, (uint32_t *)room, each };
    tsr_parallel(queue->threads, job->height, 4, answer, &a);
    tsr_host_release(NULL, room, bytes);
    return TSR_OK;
}

static void finish_rows(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t y = begin; y < end; y++) tsr_finish_row((const tsr_finish_job *)user, (int32_t)y);
}
static void smooth_rows(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t y = begin; y < end; y++) TSR_ISA_SELECT(tsr_match_smooth_row)((const tsr_finish_job *)user, (int32_t)y);
}
static void finish_full(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    TSR_ISA_SELECT(tsr_match_full_range)((const tsr_finish_job *)user, begin, end);
}

static tsr_status cpu_finish(tsr_queue *queue, const tsr_finish_job *job)
{
    tsr_finish_job own = *job;
    tsr_parallel(queue->threads, job->height, 16, finish_rows, &own);
    if (job->fill) tsr_parallel(queue->threads, job->height, 16, smooth_rows, &own);
    tsr_parallel(queue->threads, (int64_t)job->full_width * job->full_height, 8192, finish_full, &own);
    return TSR_OK;
}

const tsr_match_ops tsr_match_cpu = { .code = cpu_code, .aggregate = cpu_aggregate, .select = cpu_select, .finish = cpu_finish };
