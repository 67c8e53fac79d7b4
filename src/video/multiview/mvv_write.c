/* video/multiview/mvv_write.c: a file: header, model, masks, then what the codec writes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "video/multiview/mvv_codec.h"
#include "video/multiview/mvv_mask.h"
#include "video/multiview/mvv_report.h"
#include "tessera/multiview_model.h"

enum { MASK_GROUP = 8, LEVELS = 5, MOST_LEVELS = 12, FRACTION = 4 };

static tsr_status take_options(const tsr_multiview *m, const tsr_multiview_write_options *o, tsr_mvv_head *h)
{
    const tsr_multiview_view *v = &m->view;
    if ((unsigned)o->codec >= TSR_MULTIVIEW_CODECS || (unsigned)o->masks >= TSR_MULTIVIEW_MASK_MODES || (unsigned)o->fill >= TSR_MULTIVIEW_FILLS ||
        (unsigned)o->syntax >= TSR_MULTIVIEW_SYNTAXES || (unsigned)o->filter >= TSR_MULTIVIEW_FILTERS ||
        (unsigned)o->allocation >= TSR_MULTIVIEW_ALLOCATIONS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "codec %d, masks %d, fill %d, syntax %d, filter %d, allocation %d: one of them is not known", (int)o->codec,
                 (int)o->masks, (int)o->fill, (int)o->syntax, (int)o->filter, (int)o->allocation);
    if (o->group < 0 || o->group > TSR_MULTIVIEW_MOST_STEPS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "groups of %d steps, expected 1 to %d", o->group, TSR_MULTIVIEW_MOST_STEPS);
    if (o->codec == TSR_MULTIVIEW_SPIHT4D && o->group & (o->group - 1))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "groups of %d steps, expected a power of two (1, 2, 4, 8 ...)", o->group);
    if (o->levels < 0 || o->levels > MOST_LEVELS) TSR_FAIL(TSR_ERROR_ARGUMENT, "%d levels, expected 1 to %d", o->levels, MOST_LEVELS);
    for (int p = 0; p < 3; p++)
        if (!(o->bpp[p] >= 0) || o->bpp[p] > 64)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "%g bits a texel of %c, expected a number above 0, at most 64 (0: the default)", o->bpp[p], "YUV"[p]);
    if (o->masks == TSR_MULTIVIEW_MASKS_REBUILT && !m->model_size)
        TSR_FAIL(TSR_ERROR_STATE, "masks that are rebuilt need a model in the file, and there is none; send the masks");
    *h = (tsr_mvv_head){ .width = v->width,
                         .height = v->height,
                         .cameras = v->cameras,
                         .steps = v->steps,
                         .rate = { m->rate[0], m->rate[1] },
                         .codec = (int32_t)o->codec,
                         .masks = v->visible ? (int32_t)o->masks : TSR_MULTIVIEW_MASKS_NONE };
    h->atlas = v->atlas && h->masks != TSR_MULTIVIEW_MASKS_NONE;
    h->group = o->group ? o->group : o->codec == TSR_MULTIVIEW_DIFF2D ? v->steps : MASK_GROUP;
    h->lossless = o->codec == TSR_MULTIVIEW_RAW || o->lossless;
    if (o->codec == TSR_MULTIVIEW_RAW) return TSR_OK;
    h->bpp[0] = o->bpp[0] > 0 ? o->bpp[0] : 0.75;
    for (int p = 1; p < 3; p++) h->bpp[p] = o->bpp[p] > 0 ? o->bpp[p] : h->bpp[0] / 3;
    if (o->codec == TSR_MULTIVIEW_SPIHT4D) {
        h->fill = (int32_t)o->fill;
        h->syntax = (int32_t)o->syntax;
        h->fraction = h->lossless ? 0 : FRACTION;
    } else {
        h->filter = h->lossless && !o->filter ? TSR_MULTIVIEW_FILTER_53 : (int32_t)o->filter;
        if (h->lossless && h->filter == TSR_MULTIVIEW_FILTER_97) TSR_FAIL(TSR_ERROR_ARGUMENT, "filter 97 is not lossless, expected 53 or haar");
        h->levels = o->levels ? o->levels : LEVELS;
        h->open_loop = o->open_loop != 0;
        h->fraction = h->lossless ? 0 : FRACTION;
    }
    return TSR_OK;
}

/* Bits beyond the width and texels outside the atlas are never set: nobody could code them. */
static tsr_status check_masks(const tsr_multiview_view *v)
{
    const int64_t words = tsr_mvv_words(v->width);
    const uint64_t last = v->width % 64 ? ~0ull << v->width % 64 : 0;
    for (int64_t k = 0; k < (int64_t)v->steps * v->cameras; k++)
        for (int64_t i = 0; i < words * v->height; i++) {
            const uint64_t outside = (v->atlas ? ~v->atlas[i] : 0) | (i % words == words - 1 ? last : 0);
            if (v->visible[k * words * v->height + i] & outside)
                TSR_FAIL(TSR_ERROR_ARGUMENT, "the mask of step %lld, camera %lld has texels outside the atlas or beyond the width, in row %lld",
                         (long long)(k / v->cameras), (long long)(k % v->cameras), (long long)(i / words));
        }
    return TSR_OK;
}

typedef struct hashing {
    const tsr_multiview_view *view;
    uint8_t *bytes;
} hashing;

static void hash_some(void *user, int64_t begin, int64_t end, int worker)
{
    const hashing *h = (const hashing *)user;
    const tsr_multiview_view *v = h->view;
    (void)worker;
    for (int64_t k = begin; k < end; k++)
        tsr_put_u64(h->bytes + 8 * k, tsr_mask_hash(v->visible + k * tsr_mvv_mask_words(v), v->width, v->height));
}

static tsr_status write_hashes(tsr_mvv_writing *w)
{
    const int64_t count = (int64_t)w->view->steps * w->view->cameras;
    hashing h = { w->view, (uint8_t *)malloc((size_t)count * 8) };
    if (!h.bytes) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for %lld hashes", (long long)count);
    tsr_parallel(tsr_context_threads(w->context), count, 1, hash_some, &h);
    const tsr_status status = tsr_chunk_file_write(w->writer, TSR_MVV_HASH, 0, h.bytes, (size_t)count * 8);
    free(h.bytes);
    return status;
}

/* Coded masks of a group and camera; errors of workers are kept for the calling thread. */
typedef struct coded_mask {
    uint8_t *bytes;
    size_t size;
    tsr_status status;
    char message[256];
} coded_mask;

typedef struct masking {
    const tsr_mvv_writing *w;
    coded_mask *coded;
} masking;

static void code_some(void *user, int64_t begin, int64_t end, int worker)
{
    const masking *m = (const masking *)user;
    const tsr_multiview_view *v = m->w->view;
    (void)worker;
    for (int64_t k = begin; k < end; k++) {
        coded_mask *to = m->coded + k;
        const int32_t first = (int32_t)(k / v->cameras) * m->w->head.group, count = (int32_t)tsr_min64(m->w->head.group, v->steps - first);
        to->status = tsr_mvv_mask_encode(tsr_mvv_mask(v, first, k % v->cameras), v->cameras * tsr_mvv_mask_words(v), count, v->width, v->height,
                                         v->atlas, &to->bytes, &to->size);
        if (to->status != TSR_OK) snprintf(to->message, sizeof to->message, "%s", tsr_error_message());
    }
}

static tsr_status send_masks(tsr_mvv_writing *w)
{
    const int64_t count = (int64_t)tsr_mvv_groups(&w->head) * w->view->cameras;
    masking m = { w, (coded_mask *)calloc((size_t)count, sizeof *m.coded) };
    tsr_status status = TSR_OK;
    if (!m.coded) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for the masks of %lld groups and cameras", (long long)count);
    tsr_parallel(tsr_context_threads(w->context), count, 1, code_some, &m);
    for (int64_t k = 0; k < count; k++) {
        const coded_mask *c = m.coded + k;
        if (status == TSR_OK && c->status != TSR_OK) status = TSR_FAILED(c->status, "%s", c->message);
        if (status == TSR_OK) status = tsr_chunk_file_write(w->writer, TSR_MVV_MASK, k, c->bytes, c->size);
        free(c->bytes);
    }
    free(m.coded);
    return status;
}

static tsr_status write_atlas(tsr_mvv_writing *w)
{
    uint8_t *bytes;
    size_t size;
    TSR_TRY(tsr_mvv_mask_encode(w->view->atlas, 0, 1, w->view->width, w->view->height, NULL, &bytes, &size));
    const tsr_status status = tsr_chunk_file_write(w->writer, TSR_MVV_ATLS, 0, bytes, size);
    free(bytes);
    return status;
}

static tsr_status write_masks(tsr_mvv_writing *w)
{
    if (w->head.atlas) TSR_TRY(write_atlas(w));
    if (w->head.masks == TSR_MULTIVIEW_MASKS_NONE) return TSR_OK;
    TSR_TRY(check_masks(w->view));
    TSR_TRY(write_hashes(w));
    if (w->head.masks == TSR_MULTIVIEW_MASKS_SENT) TSR_TRY(send_masks(w));
    return TSR_OK;
}

static tsr_status write_content(const tsr_multiview *m, tsr_mvv_writing *w)
{
    TSR_TRY(tsr_mvv_write_head(w->writer, &w->head, m));
    if (m->model_size) TSR_TRY(tsr_chunk_file_write(w->writer, TSR_MVV_MODL, 0, m->model, m->model_size));
    TSR_TRY(write_masks(w));
    switch (w->head.codec) {
    case TSR_MULTIVIEW_RAW: return tsr_mvv_raw_write(w);
    case TSR_MULTIVIEW_SPIHT4D: return tsr_mvv_spiht_on_device(w->context, &w->head) ? tsr_mvv_spiht_write_device(w) : tsr_mvv_spiht_write(w);
    default: return tsr_mvv_diff_write(w);
    }
}

tsr_status tsr_multiview_write(const tsr_multiview *multiview, const char *path, const tsr_multiview_write_options *options,
                               tsr_multiview_report *report)
{
    tsr_multiview_write_options o;
    tsr_mvv_host host = { 0 };
    tsr_chunk_writer writer;
    tsr_mvv_writing w = { 0 };
    tsr_multiview_report own = TSR_MULTIVIEW_REPORT;
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    if (report) TSR_TRY(TSR_STRUCT_BEGUN(report));
    if (!multiview) TSR_FAIL(TSR_ERROR_ARGUMENT, "no textures");
    TSR_TRY(take_options(multiview, &o, &w.head));
    const int there = tsr_mvv_spiht_on_device(multiview->context, &w.head) || tsr_mvv_diff_on_device(multiview->context, &w.head);
    tsr_status status = tsr_mvv_host_open(multiview, there ? TSR_MVV_MASKS : TSR_MVV_ALL, &host);
    w.view = &host.view;
    w.device = multiview->view;
    if (w.head.masks == TSR_MULTIVIEW_MASKS_NONE) host.view.visible = host.view.atlas = w.device.visible = w.device.atlas = NULL;
    w.writer = &writer;
    w.context = multiview->context;
    w.progress = o.progress.report ? &o.progress : NULL;
    w.allocation = o.allocation;
    if (status == TSR_OK) {
        status = tsr_chunk_file_open_writer(&writer, &tsr_mvv_kind, path, o.overwrite);
        if (status == TSR_OK) status = write_content(multiview, &w);
        if (status == TSR_OK && report) tsr_mvv_report_fill(&w, &writer, multiview->model_size, &own);
        status = tsr_chunk_file_finish(&writer, status);
        own.file_bytes = writer.position;
        if (status == TSR_OK && report) status = TSR_STRUCT_GIVE(report, &own);
    }
    tsr_mvv_host_close(&host);
    return status;
}
