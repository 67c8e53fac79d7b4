/* video/multiview/mvv_raw.c: textures as they are, each a chunk of its own, packed by a general coder. */
#include <stdlib.h>

#include "core/parallel.h"
#include "io/packing.h"
#include "video/multiview/mvv_codec.h"

enum { RAW_HEADER = 8, ZSTD_LEVEL = 3, BATCH = 16 };

/* Each texel less the one on its left, modulo 256; and back. */
static void differences(const uint8_t *from, uint8_t *to, int32_t width, int64_t rows)
{
    for (int64_t v = 0; v < rows; v++, from += width, to += width) {
        to[0] = from[0];
        for (int32_t u = 1; u < width; u++) to[u] = (uint8_t)(from[u] - from[u - 1]);
    }
}

static void sums(uint8_t *texels, int32_t width, int64_t rows)
{
    for (int64_t v = 0; v < rows; v++, texels += width)
        for (int32_t u = 1; u < width; u++) texels[u] = (uint8_t)(texels[u] + texels[u - 1]);
}

typedef struct packing {
    const tsr_mvv_writing *w;
    int64_t first; /* texture */
    struct {
        uint8_t *bytes, *plain;
        int64_t size;
    } slot[BATCH];
} packing;

static void pack_textures(void *user, int64_t begin, int64_t end, int worker)
{
    packing *p = (packing *)user;
    const tsr_multiview_view *v = p->w->view;
    const int64_t texels = tsr_mvv_texels(v), room = tsr_pack_bound(TSR_CODEC_ZSTD, 3 * texels);
    (void)worker;
    for (int64_t k = begin; k < end; k++) {
        const int64_t at = p->first + k;
        int codec = TSR_CODEC_ZSTD;
        for (int c = 0; c < 3; c++)
            differences(tsr_mvv_texture(v, c, at / v->cameras, at % v->cameras), p->slot[k].plain + c * texels, v->width, v->height);
        const int64_t size = tsr_pack(&codec, ZSTD_LEVEL, p->slot[k].plain, 3 * texels, p->slot[k].bytes + RAW_HEADER, room);
        memset(p->slot[k].bytes, 0, RAW_HEADER);
        p->slot[k].bytes[0] = (uint8_t)codec;
        p->slot[k].size = size ? size + RAW_HEADER : 0;
    }
}

tsr_status tsr_mvv_raw_write(tsr_mvv_writing *w)
{
    const tsr_multiview_view *v = w->view;
    const int64_t count = (int64_t)v->steps * v->cameras, texels = tsr_mvv_texels(v);
    const int64_t room = tsr_pack_bound(TSR_CODEC_ZSTD, 3 * texels) + RAW_HEADER;
    packing p = { .w = w };
    tsr_status status = TSR_OK;
    for (int k = 0; k < BATCH; k++) {
        p.slot[k].bytes = (uint8_t *)malloc((size_t)room);
        p.slot[k].plain = (uint8_t *)malloc((size_t)(3 * texels));
        if (!p.slot[k].bytes || !p.slot[k].plain) status = TSR_FAILED(TSR_ERROR_MEMORY, "out of memory for packed textures");
    }
    for (; status == TSR_OK && p.first < count; p.first += BATCH) {
        const int64_t some = tsr_min64(BATCH, count - p.first);
        tsr_parallel(tsr_context_threads(w->context), some, 1, pack_textures, &p);
        for (int64_t k = 0; status == TSR_OK && k < some; k++) {
            if (!p.slot[k].size) status = TSR_FAILED(TSR_ERROR_INTERNAL, "a texture cannot be packed");
            else status = tsr_chunk_file_write(w->writer, TSR_MVV_TEXR, p.first + k, p.slot[k].bytes, (size_t)p.slot[k].size);
            w->stream_bytes[0] += p.slot[k].size;
        }
        if (status == TSR_OK && tsr_progress_report(w->progress, (double)(p.first + some) / (double)count, "writing"))
            status = TSR_FAILED(TSR_ERROR_CANCELLED, "cancelled during writing");
    }
    for (int k = 0; k < BATCH; k++) {
        free(p.slot[k].bytes);
        free(p.slot[k].plain);
    }
    return status;
}

tsr_status tsr_mvv_raw_read(const tsr_mvv_reading *r)
{
    const tsr_multiview_view *v = &r->view;
    const int64_t texels = tsr_mvv_texels(v);
    tsr_status status = TSR_OK;
    uint8_t *plain = (uint8_t *)malloc((size_t)(3 * texels));
    if (!plain) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for a texture of %lld texels", (long long)texels);
    for (int64_t k = 0; k < (int64_t)v->steps * v->cameras; k++) {
        const int64_t t = r->first_step + k / v->cameras, c = r->first_camera + k % v->cameras;
        const uint8_t *bytes;
        int64_t size;
        TSR_TRY_GOTO(tsr_chunk_file_read(r->reader, TSR_MVV_TEXR, t * r->head->cameras + c, 0, &bytes, &size), done);
        if (!bytes && !r->reader->partial)
            TSR_FAIL_GOTO(TSR_ERROR_FORMAT, done, "%s: the texture of step %lld, camera %lld is missing", r->reader->name, (long long)t,
                          (long long)c);
        const int good = bytes && size >= RAW_HEADER && tsr_codec_known(bytes[0]) &&
                         tsr_unpack(bytes[0], bytes + RAW_HEADER, size - RAW_HEADER, plain, 3 * texels);
        if (bytes && !good)
            TSR_FAIL_GOTO(TSR_ERROR_FORMAT, done, "%s: the texture of step %lld, camera %lld does not unpack to %lld bytes", r->reader->name,
                          (long long)t, (long long)c, (long long)(3 * texels));
        if (good) sums(plain, v->width, 3 * (int64_t)v->height);
        else tsr_mvv_grey(plain, 3 * texels);
        for (int p = 0; p < 3; p++) memcpy(tsr_mvv_texture(v, p, k / v->cameras, k % v->cameras), plain + p * texels, (size_t)texels);
        if (k % 16 == 15 && tsr_progress_report(r->progress, (double)k / (double)((int64_t)v->steps * v->cameras), "reading"))
            TSR_FAIL_GOTO(TSR_ERROR_CANCELLED, done, "cancelled during reading");
    }
done:
    free(plain);
    return status;
}
