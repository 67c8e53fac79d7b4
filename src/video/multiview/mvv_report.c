/* video/multiview/mvv_report.c: bits a texel, of all texels and of the relevant ones. */
#include "video/multiview/mvv_report.h"

#include <stdlib.h>

#include "video/multiview/mvv_diff.h"
#include "video/multiview/mvv_mask.h"

static void begin(const tsr_mvv_head *h, tsr_multiview_report *r)
{
    r->codec = (tsr_multiview_codec)h->codec;
    r->masks = (tsr_multiview_masks)h->masks;
    r->width = h->width;
    r->height = h->height;
    r->cameras = h->cameras;
    r->steps = h->steps;
    memcpy(r->rate, h->rate, sizeof r->rate);
    r->group = h->group;
    r->groups = tsr_mvv_groups(h);
    r->lossless = h->lossless;
    r->has_masks = h->masks != TSR_MULTIVIEW_MASKS_NONE;
    r->has_atlas = h->atlas;
    r->fill = (tsr_multiview_fill)h->fill;
    r->syntax = (tsr_multiview_syntax)h->syntax;
    r->filter = (tsr_multiview_filter)h->filter;
    r->levels = h->levels;
    r->open_loop = h->open_loop;
    r->padded = h->steps % h->group != 0;
    r->texels = (int64_t)h->steps * h->cameras * h->width * h->height;
    r->relevant = r->has_masks ? -1 : r->texels;
}

/* Streams of a chunk are counted without their sizes, which stand before them. */
static void count_streams(const tsr_mvv_reader *reader, const tsr_chunk *e, tsr_multiview_report *r)
{
    const tsr_chunk_reader *c = &reader->chunks;
    tsr_diff_streams s = { .bytes = c->bytes + e->offset, .size = tsr_min64(e->size, c->size - e->offset), .whole = e->size };
    s.count = tsr_diff_streams_in(&reader->head, e->type);
    for (int32_t k = 0; s.size > 0 && k < s.count; k++) {
        int64_t begin, end;
        if (tsr_diff_find_stream(&s, k, &begin, &end)) r->stream_bytes[k % 3] += end - begin;
    }
}

static void count_chunk(const tsr_chunk *e, tsr_multiview_report *r)
{
    r->chunks++;
    if (e->type == TSR_MVV_TEXR) r->stream_bytes[0] += e->size;
    else if (e->type == TSR_MVV_GOPS) r->stream_bytes[e->index % 3] += e->size;
    else if (e->type == TSR_MVV_MODL) r->model_bytes += e->size;
    else if (e->type == TSR_MVV_MASK || e->type == TSR_MVV_ATLS || e->type == TSR_MVV_HASH) r->mask_bytes += e->size;
}

static void finish(tsr_multiview_report *r)
{
    double sum = 0;
    for (int p = 0; p < 3; p++) {
        r->bpp[p] = 8.0 * (double)r->stream_bytes[p] / (double)r->texels;
        r->bpp_relevant[p] = r->relevant > 0 ? 8.0 * (double)r->stream_bytes[p] / (double)r->relevant : 0;
        sum += r->bpp[p];
    }
    r->ratio = sum > 0 ? tsr_multiview_ratio(r->bpp) : 0;
    sum += 8.0 * (double)r->mask_bytes / (double)r->texels;
    r->ratio_total = sum > 0 ? 24 / sum : 0;
}

static int64_t count_bits(const uint64_t *words, int64_t count)
{
    int64_t sum = 0;
    for (int64_t k = 0; k < count; k++) sum += __builtin_popcountll(words[k]);
    return sum;
}

void tsr_mvv_report_fill(const tsr_mvv_writing *w, const tsr_chunk_writer *writer, size_t model_size, tsr_multiview_report *report)
{
    begin(&w->head, report);
    for (int64_t k = 0; k < writer->entries; k++) count_chunk(writer->entry + k, report);
    for (int p = 0; p < 3 && w->head.codec == TSR_MULTIVIEW_DIFF2D; p++) report->stream_bytes[p] = w->stream_bytes[p];
    report->model_bytes = (int64_t)model_size;
    if (w->view->visible) report->relevant = count_bits(w->view->visible, (int64_t)w->view->steps * w->view->cameras * tsr_mvv_mask_words(w->view));
    finish(report);
}

/* Relevant texels of masks that are in the file; -1 where one of them is damaged. */
static tsr_status count_relevant(const tsr_mvv_reader *r, int64_t *relevant)
{
    const tsr_mvv_head *h = &r->head;
    const int64_t words = tsr_mvv_words(h->width) * h->height;
    const int32_t most = (int32_t)tsr_min64(h->group, h->steps);
    const uint8_t *bytes;
    int64_t size, sum = 0;
    tsr_status status = TSR_OK;
    if (words * 8 * most > tsr_physical_memory()) TSR_FAIL(TSR_ERROR_MEMORY, "%s: masks of %d steps do not fit memory", r->chunks.name, most);
    uint64_t *masks = (uint64_t *)calloc((size_t)most, (size_t)words * 8), *atlas = (uint64_t *)malloc((size_t)words * 8);
    if (!masks || !atlas) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "out of memory for masks");
    *relevant = -1;
    if (h->atlas) {
        TSR_TRY_GOTO(tsr_chunk_file_read(&r->chunks, TSR_MVV_ATLS, 0, 0, &bytes, &size), done);
        if (!bytes) goto done;
        TSR_TRY_GOTO(tsr_mvv_mask_decode(bytes, (size_t)size, atlas, 0, 1, h->width, h->height, NULL), done);
    }
    for (int64_t k = 0; k < (int64_t)tsr_mvv_groups(h) * h->cameras; k++) {
        const int32_t count = (int32_t)tsr_min64(h->group, h->steps - k / h->cameras * h->group);
        TSR_TRY_GOTO(tsr_chunk_file_read(&r->chunks, TSR_MVV_MASK, k, 0, &bytes, &size), done);
        if (!bytes) goto done;
        TSR_TRY_GOTO(tsr_mvv_mask_decode(bytes, (size_t)size, masks, words, count, h->width, h->height, h->atlas ? atlas : NULL), done);
        sum += count_bits(masks, words * count);
    }
    *relevant = sum;
done:
    free(masks);
    free(atlas);
    return status;
}

tsr_status tsr_multiview_inspect(const char *path, tsr_multiview_report *report)
{
    TSR_NEEDS(path, report);
    TSR_TRY(TSR_STRUCT_BEGUN(report));
    tsr_multiview_report own = TSR_MULTIVIEW_REPORT;
    tsr_input *input;
    tsr_mvv_reader r;
    char forget[8];
    TSR_TRY(tsr_input_open(path, NULL, &input));
    tsr_status status = tsr_mvv_reader_open(&r, input, 1);
    if (status == TSR_OK) {
        begin(&r.head, &own);
        for (int64_t k = 0; k < r.chunks.entries; k++) {
            const tsr_chunk *e = r.chunks.entry + k;
            count_chunk(e, &own);
            if (e->type == TSR_MVV_MSTR || e->type == TSR_MVV_STEP) count_streams(&r, e, &own);
            own.damaged += !tsr_chunk_file_good(&r.chunks, r.chunks.entry + k);
        }
        own.damaged += !r.chunks.complete;
        own.file_bytes = r.chunks.size;
        if (r.head.masks == TSR_MULTIVIEW_MASKS_SENT) status = count_relevant(&r, &own.relevant);
        finish(&own);
        if (status == TSR_OK) status = TSR_STRUCT_GIVE(report, &own);
        tsr_chunk_file_close_reader(&r.chunks);
        tsr_remarks_take(forget, sizeof forget); /* the counts say it */
    }
    tsr_input_close(&input);
    return status;
}
