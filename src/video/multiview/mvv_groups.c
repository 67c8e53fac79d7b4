/* video/multiview/mvv_groups.c: groups of pictures of codec SPIHT4D. Each component of a group is a stream of its own. */
#include <stdio.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "video/multiview/mvv_codec.h"
#include "video/multiview/mvv_fill.h"
#include "video/multiview/mvv_haar.h"
#include "video/multiview/mvv_haar_isa.h"
#include "video/multiview/multiview_ops.h"
#include "video/multiview/mvv_spiht.h"

enum { LOSSLESS_PLANES = 26 };

/* What one worker needs. */
typedef struct room {
    int32_t *sample, *scratch; /* 2^all each; scratch: float while it transforms forward */
    int32_t *columns;
    tsr_mvv_sets sets;
    tsr_mvv_coder coder;
} room;

typedef struct grouping {
    tsr_mvv_shape shape;
    const tsr_mvv_writing *w;
    const tsr_mvv_reading *r;
    room *room; /* of each worker */
    int threads;
    int64_t first; /* job of the batch */
    struct {
        uint8_t *bytes;
        int64_t size;
        tsr_status status;
        char message[256];
    } * result; /* of each job of the batch */
    int64_t batch;
} grouping;

static void rooms_free(grouping *g)
{
    for (int k = 0; g->room && k < g->threads; k++) {
        free(g->room[k].sample);
        free(g->room[k].scratch);
        free(g->room[k].columns);
        free(g->room[k].sets.all);
        free(g->room[k].sets.but_children);
        tsr_mvv_coder_free(&g->room[k].coder);
    }
    for (int64_t k = 0; g->result && k < g->batch; k++) free(g->result[k].bytes);
    free(g->room);
    free(g->result);
}

static tsr_status rooms_make(grouping *g, const tsr_mvv_head *h, tsr_context *context, int64_t jobs, int encoding)
{
    const int32_t group = (int32_t)tsr_min64(h->group, 1 << 20);
    if (!tsr_mvv_shape_make(h->width, h->height, h->cameras, group, &g->shape))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "groups of %d steps, %d cameras and %d x %d texels have more than 2^%d samples; make groups shorter",
                 h->group, h->cameras, h->width, h->height, TSR_MVV_MOST_BITS);
    const size_t count = (size_t)1 << g->shape.all, columns = (size_t)TSR_MVV_COLUMNS << g->shape.levels;
    g->threads = (int)tsr_min64(tsr_context_threads(context), jobs);
    g->batch = 3 * (int64_t)g->threads;
    g->room = (room *)calloc((size_t)g->threads, sizeof *g->room);
    g->result = calloc((size_t)g->batch, sizeof *g->result);
    if (!g->room || !g->result) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory");
    for (int k = 0; k < g->threads; k++) {
        room *r = g->room + k;
        r->sample = (int32_t *)malloc(count * 4);
        r->columns = (int32_t *)malloc(columns * 4);
        if (encoding) {
            r->scratch = (int32_t *)malloc(tsr_mvv_fill_scratch(&g->shape) * 4);
            r->sets.all = (uint8_t *)malloc(count);
            r->sets.but_children = (uint8_t *)malloc(count);
        }
        if (!r->sample || !r->columns || (encoding && (!r->scratch || !r->sets.all || !r->sets.but_children)))
            TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for a group of %zu samples; make groups shorter or take fewer threads", count);
    }
    return TSR_OK;
}

/* ---- forward ---------------------------------------------------------------------------------------------------------------------------------- */

/* Component p of group g: samples around grey times 2^fraction; TSR_MVV_EMPTY where none is relevant. */
static void gather(const grouping *g, int64_t group, int p, int32_t *to)
{
    const tsr_mvv_head *h = &g->w->head;
    const tsr_multiview_view *v = g->w->view;
    const tsr_mvv_shape *s = &g->shape;
    const int64_t n[4] = { 1ll << s->bits[0], 1ll << s->bits[1], 1ll << s->bits[2], 1ll << s->bits[3] };
    const int32_t outside = h->fill == TSR_MULTIVIEW_FILL_NONE ? 0 : TSR_MVV_EMPTY;
    for (int64_t t = 0; t < n[3]; t++)
        for (int64_t c = 0; c < n[2]; c++) {
            const int64_t step = group * h->group + t;
            const int there = step < v->steps && c < v->cameras;
            const uint8_t *texture = there ? tsr_mvv_texture(v, p, step, c) : NULL;
            const uint64_t *mask = there ? tsr_mvv_mask(v, step, c) : NULL;
            for (int64_t y = 0; y < n[1]; y++)
                for (int64_t u = 0; u < n[0]; u++, to++) {
                    const int inside = there && y < v->height && u < v->width && (!mask || tsr_mvv_bit(mask + y * tsr_mvv_words(v->width), u));
                    *to = inside ? tsr_mvv_from_texel(texture[y * v->width + u], h->fraction) : outside;
                }
        }
}

/* Along an axis other than u, in columns side by side. */
static void along_f(const tsr_mvv_shape *s, int a, float *data, float *scratch)
{
    const int64_t stride = 1ll << s->shift[a], n = 1ll << s->bits[a], outer = 1ll << (s->all - s->shift[a] - s->bits[a]);
    const int64_t columns = tsr_min64(stride, TSR_MVV_COLUMNS);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t c = 0; c < stride; c += columns) TSR_ISA_SELECT(tsr_mvv_haar_forward)(data + o * n * stride + c, n, stride, columns, scratch);
}
static void along_s(const tsr_mvv_shape *s, int a, int32_t *data, int32_t *scratch)
{
    const int64_t stride = 1ll << s->shift[a], n = 1ll << s->bits[a], outer = 1ll << (s->all - s->shift[a] - s->bits[a]);
    const int64_t columns = tsr_min64(stride, TSR_MVV_COLUMNS);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t c = 0; c < stride; c += columns) TSR_ISA_SELECT(tsr_mvv_turned_forward)(data + o * n * stride + c, n, stride, columns, scratch);
}

static void forward(const grouping *g, room *r)
{
    const tsr_mvv_shape *s = &g->shape;
    const int64_t count = 1ll << s->all, n = 1ll << s->bits[0];
    if (g->w->head.lossless) {
        for (int a = 3; a > 0; a--) along_s(s, a, r->sample, r->columns);
        for (int64_t k = 0; k < count; k += n) TSR_ISA_SELECT(tsr_mvv_turned_forward_row)(r->sample + k, n, r->columns);
        return;
    }
    float *data = (float *)(void *)r->scratch, *columns = (float *)(void *)r->columns;
    for (int64_t k = 0; k < count; k++) data[k] = (float)r->sample[k];
    for (int a = 3; a > 0; a--) along_f(s, a, data, columns);
    for (int64_t k = 0; k < count; k += n) {
        TSR_ISA_SELECT(tsr_mvv_haar_forward_row)(data + k, n, columns);
        TSR_ISA_SELECT(tsr_mvv_round_row)(data + k, r->sample + k, n);
    }
}

/* Coefficients of a stream, and the sets of them. */
static void prepare(const grouping *g, room *r, int64_t job)
{
    const tsr_mvv_head *h = &g->w->head;
    gather(g, job / 3, (int)(job % 3), r->sample);
    if (h->fill != TSR_MULTIVIEW_FILL_NONE) tsr_mvv_fill(&g->shape, h->fill == TSR_MULTIVIEW_FILL_2D, r->sample, r->scratch);
    forward(g, r);
    tsr_mvv_sets_make(&g->shape, r->sample, &r->sets);
}

static tsr_status encode(const grouping *g, room *r, int64_t job, uint8_t **bytes, int64_t *size)
{
    const tsr_mvv_head *h = &g->w->head;
    const int64_t steps = tsr_min64(h->group, h->steps - job / 3 * h->group);
    const int64_t budget = h->lossless ? INT64_MAX : tsr_mvv_budget(h->bpp[job % 3], steps * h->cameras * h->width * h->height);
    uint8_t *made;
    TSR_TRY(tsr_mvv_spiht_encode(&r->coder, &g->shape, r->sample, &r->sets, (tsr_multiview_syntax)h->syntax, budget, &made, size));
    *bytes = (uint8_t *)malloc((size_t)tsr_max64(1, *size));
    if (!*bytes) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for a stream of %lld bytes", (long long)*size);
    memcpy(*bytes, made, (size_t)*size);
    return TSR_OK;
}

/* Errors of workers are kept for the calling thread. */
static void note(grouping *g, int64_t k, tsr_status status)
{
    g->result[k].status = status;
    if (status != TSR_OK) snprintf(g->result[k].message, sizeof g->result[k].message, "%s", tsr_error_message());
}

static void encode_some(void *user, int64_t begin, int64_t end, int worker)
{
    grouping *g = (grouping *)user;
    for (int64_t k = begin; k < end; k++) {
        prepare(g, g->room + worker, g->first + k);
        note(g, k, encode(g, g->room + worker, g->first + k, &g->result[k].bytes, &g->result[k].size));
    }
}

static void prepare_some(void *user, int64_t begin, int64_t end, int worker)
{
    grouping *g = (grouping *)user;
    (void)worker;
    for (int64_t k = begin; k < end; k++) prepare(g, g->room + k, g->first + k);
}

/* A batch of streams: a thread each; where there are more threads than streams, all threads on one stream after the other. */
static void encode_batch(grouping *g, int64_t some, int threads)
{
    if (threads <= g->threads || some > g->threads) {
        tsr_parallel(g->threads, some, 1, encode_some, g);
        return;
    }
    tsr_parallel(g->threads, some, 1, prepare_some, g);
    for (int64_t k = 0; k < some; k++) {
        g->room[k].coder.threads = threads;
        note(g, k, encode(g, g->room + k, g->first + k, &g->result[k].bytes, &g->result[k].size));
    }
}

tsr_status tsr_mvv_spiht_write(tsr_mvv_writing *w)
{
    const int64_t jobs = 3 * (int64_t)tsr_mvv_groups(&w->head);
    grouping g = { .w = w };
    tsr_status status = rooms_make(&g, &w->head, w->context, jobs, 1);
    for (; status == TSR_OK && g.first < jobs; g.first += g.batch) {
        const int64_t some = tsr_min64(g.batch, jobs - g.first);
        encode_batch(&g, some, tsr_context_threads(w->context));
        for (int64_t k = 0; status == TSR_OK && k < some; k++) {
            if (g.result[k].status != TSR_OK) status = TSR_FAILED(g.result[k].status, "%s", g.result[k].message);
            else status = tsr_chunk_file_write(w->writer, TSR_MVV_GOPS, g.first + k, g.result[k].bytes, (size_t)g.result[k].size);
            w->stream_bytes[(g.first + k) % 3] += g.result[k].size;
            free(g.result[k].bytes);
            g.result[k].bytes = NULL;
        }
        if (status == TSR_OK && tsr_progress_report(w->progress, (double)(g.first + some) / (double)jobs, "encoding"))
            status = TSR_FAILED(TSR_ERROR_CANCELLED, "cancelled during encoding");
    }
    rooms_free(&g);
    return status;
}

/* ---- inverse ---------------------------------------------------------------------------------------------------------------------------------- */

/* The coefficients that were found go to their places. *filled: which textures (camera and time) have some. */
static void scatter(const grouping *g, room *r, uint8_t *filled)
{
    const tsr_mvv_shape *s = &g->shape;
    const int32_t texture = s->bits[0] + s->bits[1];
    const int lossless = g->r->head->lossless;
    memset(r->sample, 0, (size_t)4 << s->all);
    for (int64_t k = 0; k < r->coder.found.count; k++) {
        const uint32_t x = r->coder.found.item[k];
        tsr_mvv_scatter(s, x, r->coder.value.item[k], lossless, r->sample);
        filled[x >> texture] = 1;
    }
}

/* A texture along u, then along v. */
static void inverse_texture(const tsr_mvv_shape *s, int32_t *data, int32_t *scratch, int lossless)
{
    const int64_t n = 1ll << s->bits[0], rows = 1ll << s->bits[1], columns = tsr_min64(n, TSR_MVV_COLUMNS);
    for (int64_t v = 0; v < rows; v++) {
        int32_t *row = data + v * n, any = 0;
        for (int64_t u = 0; u < n; u++) any |= row[u];
        if (!any) continue;
        if (lossless) TSR_ISA_SELECT(tsr_mvv_turned_inverse_row)(row, n, scratch);
        else TSR_ISA_SELECT(tsr_mvv_haar_inverse_row)(row, n, scratch);
    }
    for (int64_t u = 0; u < n; u += columns) {
        if (lossless) TSR_ISA_SELECT(tsr_mvv_turned_inverse)(data + u, rows, n, columns, scratch);
        else TSR_ISA_SELECT(tsr_mvv_haar_inverse)(data + u, rows, n, columns, scratch);
    }
}

/* Some columns of all textures, `columns` wide and one behind the other in `block`, along the cameras and along time. */
static void inverse_between(const tsr_mvv_shape *s, int32_t *block, int64_t columns, int32_t *scratch, int lossless)
{
    const int64_t cameras = 1ll << s->bits[2], steps = 1ll << s->bits[3];
    for (int64_t t = 0; t < steps; t++) {
        if (lossless) TSR_ISA_SELECT(tsr_mvv_turned_inverse)(block + t * cameras * columns, cameras, columns, columns, scratch);
        else TSR_ISA_SELECT(tsr_mvv_haar_inverse)(block + t * cameras * columns, cameras, columns, columns, scratch);
    }
    for (int64_t c = 0; c < cameras; c++) {
        if (lossless) TSR_ISA_SELECT(tsr_mvv_turned_inverse)(block + c * columns, steps, cameras * columns, columns, scratch);
        else TSR_ISA_SELECT(tsr_mvv_haar_inverse)(block + c * columns, steps, cameras * columns, columns, scratch);
    }
}

/* Texels of the steps and cameras that are asked for. */
static void put_texels(const grouping *g, int64_t group, int p, const int32_t *block, int64_t columns, int64_t y, int64_t u)
{
    const tsr_mvv_reading *r = g->r;
    const int64_t cameras = 1ll << g->shape.bits[2], wide = tsr_min64(columns, r->view.width - u), first = group * r->head->group;
    for (int64_t t = tsr_max64(0, r->first_step - first); t < r->head->group && first + t < r->first_step + r->view.steps; t++)
        for (int64_t c = 0; c < r->view.cameras; c++) TSR_ISA_SELECT(tsr_mvv_texel_row)
    (block + (t * cameras + r->first_camera + c) * columns, tsr_mvv_texture(&r->view, p, first + t - r->first_step, c) + y * r->view.width + u, wide,
     r->head->lossless);
}

static tsr_status inverse(const grouping *g, room *r, int64_t group, int p)
{
    const tsr_mvv_shape *s = &g->shape;
    const int64_t textures = 1ll << (s->bits[2] + s->bits[3]), texels = 1ll << (s->bits[0] + s->bits[1]), n = 1ll << s->bits[0];
    const int64_t columns = tsr_min64(n, TSR_MVV_COLUMNS);
    const int lossless = g->r->head->lossless;
    int32_t *block = (int32_t *)malloc((size_t)(textures * columns) * 4);
    uint8_t *filled = (uint8_t *)calloc((size_t)textures, 1);
    if (!block || !filled) {
        free(block);
        free(filled);
        TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for a row of %lld textures", (long long)textures);
    }
    scatter(g, r, filled);
    for (int64_t k = 0; k < textures; k++)
        if (filled[k]) inverse_texture(s, r->sample + k * texels, r->columns, lossless);
    for (int64_t y = 0; y < g->r->view.height; y++)
        for (int64_t u = 0; u < g->r->view.width; u += columns) {
            for (int64_t k = 0; k < textures; k++) {
                if (filled[k]) memcpy(block + k * columns, r->sample + k * texels + y * n + u, (size_t)columns * 4);
                else memset(block + k * columns, 0, (size_t)columns * 4);
            }
            inverse_between(s, block, columns, r->columns, lossless);
            put_texels(g, group, p, block, columns, y, u);
        }
    free(block);
    free(filled);
    return TSR_OK;
}

static tsr_status decode_one(const grouping *g, room *r, int64_t job)
{
    const tsr_mvv_reading *reading = g->r;
    const tsr_mvv_head *h = reading->head;
    const int64_t group = job / 3, steps = tsr_min64(h->group, h->steps - group * h->group);
    const int p = (int)(job % 3);
    const uint8_t *bytes;
    int64_t size;
    TSR_TRY(tsr_chunk_file_read(reading->reader, TSR_MVV_GOPS, job, 1, &bytes, &size));
    if (!bytes && !reading->reader->partial)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: component %c of group %lld is missing", reading->reader->name, "YUV"[p], (long long)group);
    if (!bytes) {
        for (int64_t t = tsr_max64(group * h->group, reading->first_step);
             t < tsr_min64(group * h->group + steps, reading->first_step + reading->view.steps); t++)
            tsr_mvv_grey(tsr_mvv_texture(&reading->view, p, t - reading->first_step, 0), tsr_mvv_texels(&reading->view) * reading->view.cameras);
        return TSR_OK;
    }
    if (reading->keep < 1) size = tsr_min64(size, tsr_mvv_budget(reading->keep * h->bpp[p], steps * h->cameras * h->width * h->height));
    TSR_TRY(tsr_mvv_spiht_decode(&r->coder, &g->shape, bytes, size, (tsr_multiview_syntax)h->syntax,
                                 h->lossless ? LOSSLESS_PLANES : TSR_MVV_MOST_PLANES));
    TSR_TRY(inverse(g, r, group, p));
    return TSR_OK;
}

static void decode_some(void *user, int64_t begin, int64_t end, int worker)
{
    grouping *g = (grouping *)user;
    for (int64_t k = begin; k < end; k++) note(g, k, decode_one(g, g->room + worker, g->first + k));
}

tsr_status tsr_mvv_spiht_read(const tsr_mvv_reading *r)
{
    const tsr_mvv_head *h = r->head;
    const int64_t first = r->first_step / h->group, last = (r->first_step + r->view.steps - 1) / h->group;
    const int64_t jobs = 3 * (last + 1);
    grouping g = { .r = r, .first = 3 * first };
    tsr_status status = rooms_make(&g, h, r->context, jobs - g.first, 0);
    for (int64_t k = 3 * first; status == TSR_OK && k < jobs; k++) status = tsr_chunk_file_look(r->reader, TSR_MVV_GOPS, k);
    for (; status == TSR_OK && g.first < jobs; g.first += g.batch) {
        const int64_t some = tsr_min64(g.batch, jobs - g.first);
        tsr_parallel(g.threads, some, 1, decode_some, &g);
        for (int64_t k = 0; status == TSR_OK && k < some; k++)
            if (g.result[k].status != TSR_OK) status = TSR_FAILED(g.result[k].status, "%s", g.result[k].message);
        if (status == TSR_OK && tsr_progress_report(r->progress, (double)(g.first + some - 3 * first) / (double)(jobs - 3 * first), "decoding"))
            status = TSR_FAILED(TSR_ERROR_CANCELLED, "cancelled during decoding");
    }
    rooms_free(&g);
    return status;
}
