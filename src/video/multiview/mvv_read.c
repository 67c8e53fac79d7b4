/* video/multiview/mvv_read.c: the steps and cameras that are asked for, with their masks. */
#include "video/multiview/mvv_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "video/multiview/mvv_codec.h"
#include "video/multiview/mvv_mask.h"
#include "video/multiview/mvv_tree.h"
#include "tessera/multiview_model.h"

static tsr_status take_range(const char *name, const char *what, int32_t there, int32_t first, int32_t *count)
{
    if (first < 0 || first >= there || *count < 0 || *count > there - first)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %ss %d to %d, the file has %d (from 0 on)", name, what, first, first + (*count ? *count : 1) - 1, there);
    if (!*count) *count = there - first;
    return TSR_OK;
}

static tsr_status read_atlas(tsr_mvv_reading *r, uint64_t *atlas)
{
    const uint8_t *bytes;
    int64_t size;
    TSR_TRY(tsr_chunk_file_read(r->reader, TSR_MVV_ATLS, 0, 0, &bytes, &size));
    if (bytes) return tsr_mvv_mask_decode(bytes, (size_t)size, atlas, 0, 1, r->head->width, r->head->height, NULL);
    if (!r->reader->partial) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the atlas is missing", r->reader->name);
    return TSR_OK;
}

/* Masks of a group and camera, for one of several threads. */
typedef struct masking {
    tsr_mvv_reading *r;
    tsr_status status;
    char message[256];
} masking;

static tsr_status sent_mask(tsr_mvv_reading *r, int32_t g, int32_t c)
{
    const tsr_mvv_head *h = r->head;
    const int64_t words = tsr_mvv_words(h->width) * h->height;
    const int32_t first = g * h->group, count = (int32_t)tsr_min64(h->group, h->steps - first);
    const uint8_t *bytes;
    int64_t size;
    uint64_t *to = r->masks + ((first - r->mask_step) * (int64_t)r->mask_cameras + c - r->mask_camera) * words;
    TSR_TRY(tsr_chunk_file_read(r->reader, TSR_MVV_MASK, (int64_t)g * h->cameras + c, 0, &bytes, &size));
    if (bytes) return tsr_mvv_mask_decode(bytes, (size_t)size, to, r->mask_cameras * words, count, h->width, h->height, h->atlas ? r->atlas : NULL);
    if (!r->reader->partial) TSR_FAIL(TSR_ERROR_FORMAT, "%s: masks of steps from %d on, camera %d, are missing", r->reader->name, first, c);
    return TSR_OK;
}

static void sent_some(void *user, int64_t begin, int64_t end, int worker)
{
    masking *m = (masking *)user + worker;
    for (int64_t k = begin; k < end && m->status == TSR_OK; k++) {
        m->status = sent_mask(m->r, m->r->mask_step / m->r->head->group + (int32_t)(k / m->r->mask_cameras),
                              m->r->mask_camera + (int32_t)(k % m->r->mask_cameras));
        if (m->status != TSR_OK) snprintf(m->message, sizeof m->message, "%s", tsr_error_message());
    }
}

static tsr_status sent_masks(tsr_mvv_reading *r)
{
    const int threads = tsr_context_threads(r->context);
    const int64_t jobs = tsr_ceil_div(r->mask_steps, r->head->group) * r->mask_cameras;
    masking *m = (masking *)calloc((size_t)threads, sizeof *m);
    tsr_status status = TSR_OK;
    if (!m) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory");
    for (int64_t k = 0; k < jobs && status == TSR_OK; k++)
        status = tsr_chunk_file_look(r->reader, TSR_MVV_MASK,
                                     (r->mask_step / r->head->group + k / r->mask_cameras) * r->head->cameras + r->mask_camera + k % r->mask_cameras);
    for (int k = 0; k < threads; k++) m[k].r = r;
    if (status == TSR_OK) tsr_parallel(threads, jobs, 1, sent_some, m);
    for (int k = 0; k < threads && status == TSR_OK; k++)
        if (m[k].status != TSR_OK) status = TSR_FAILED(m[k].status, "%s", m[k].message);
    free(m);
    return status;
}

typedef struct hashing {
    const tsr_mvv_reading *r;
    const uint8_t *bytes; /* of the file: a hash for each step and camera */
    uint8_t *alike;       /* of each mask that was read */
} hashing;

static void compare_some(void *user, int64_t begin, int64_t end, int worker)
{
    const hashing *h = (const hashing *)user;
    const tsr_mvv_head *head = h->r->head;
    (void)worker;
    for (int64_t k = begin; k < end; k++) {
        const int64_t t = h->r->mask_step + k / h->r->mask_cameras, c = h->r->mask_camera + k % h->r->mask_cameras;
        h->alike[k] =
            tsr_mask_hash(tsr_mvv_reading_mask(h->r, t, c), head->width, head->height) == tsr_get_u64(h->bytes + 8 * (t * head->cameras + c));
    }
}

/* Each mask is the one whose hash the file holds; with `partial` one that is not becomes empty. */
static tsr_status check_hashes(tsr_mvv_reading *r, int rebuilt)
{
    const tsr_mvv_head *h = r->head;
    const int64_t words = tsr_mvv_words(h->width) * h->height, count = (int64_t)r->mask_steps * r->mask_cameras;
    tsr_status status = TSR_OK;
    const uint8_t *bytes;
    int64_t size;
    TSR_TRY(tsr_chunk_file_read(r->reader, TSR_MVV_HASH, 0, 0, &bytes, &size));
    if ((!bytes && !r->reader->partial) || (bytes && size != (int64_t)h->steps * h->cameras * 8))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the hashes of the masks are missing, or not one for each", r->reader->name);
    hashing all = { r, bytes, (uint8_t *)calloc((size_t)count, 1) };
    if (!all.alike) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory");
    if (bytes) tsr_parallel(tsr_context_threads(r->context), count, 1, compare_some, &all);
    for (int64_t k = 0; k < count; k++) {
        const int64_t t = r->mask_step + k / r->mask_cameras, c = r->mask_camera + k % r->mask_cameras;
        if (all.alike[k]) continue;
        if (!r->reader->partial)
            TSR_FAIL_GOTO(TSR_ERROR_FORMAT, done,
                          "%s: the mask of step %lld, camera %lld that was %s is not the one that the textures were coded with%s", r->reader->name,
                          (long long)t, (long long)c, rebuilt ? "rebuilt" : "read",
                          rebuilt ? ": model, cameras and bias must be those of the file" : "");
        tsr_remark("%s: the mask of step %lld, camera %lld is lost", r->reader->name, (long long)t, (long long)c);
        memset(r->masks + k * words, 0, (size_t)words * 8);
    }
done:
    free(all.alike);
    return status;
}

static tsr_status rebuilt_masks(tsr_mvv_reading *r, const tsr_multiview_read_options *o, const tsr_multiview *m)
{
    const int64_t words = tsr_mvv_words(r->head->width) * r->head->height;
    if (!o->rebuild) TSR_FAIL(TSR_ERROR_STATE, "%s: its masks are to be rebuilt from its model, and nobody does that here", r->reader->name);
    if (!m->model)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: its masks are made from its model, which is damaged or missing%s", r->reader->name,
                 r->head->codec == TSR_MULTIVIEW_DIFF2D ? "" : "; the textures can be read without masks (no-masks)");
    for (int64_t k = 0; k < (int64_t)r->mask_steps * r->mask_cameras; k++)
        TSR_TRY(o->rebuild(o->user, m->model, m->model_size, (int32_t)(r->mask_step + k / r->mask_cameras),
                           (int32_t)(r->mask_camera + k % r->mask_cameras), r->head->width, r->head->height, r->masks + k * words));
    return TSR_OK;
}

/* Masks of whole groups; DIFF2D needs those of all cameras. */
static tsr_status read_masks(tsr_mvv_reading *r, const tsr_multiview_read_options *o, const tsr_multiview *m)
{
    const tsr_mvv_head *h = r->head;
    const int64_t words = tsr_mvv_words(h->width) * h->height;
    const int all = h->codec == TSR_MULTIVIEW_DIFF2D;
    if (!r->view.visible) return TSR_OK;
    r->mask_step = r->first_step / h->group * h->group;
    const int64_t last = tsr_ceil_div(r->first_step + r->view.steps, h->group) * h->group;
    r->mask_steps = (int32_t)tsr_min64(last, h->steps) - r->mask_step;
    r->mask_camera = all ? 0 : r->first_camera;
    r->mask_cameras = all ? h->cameras : r->view.cameras;
    r->masks = (uint64_t *)calloc((size_t)r->mask_steps * (size_t)r->mask_cameras, (size_t)words * 8);
    if (!r->masks) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for masks of %d steps and %d cameras", r->mask_steps, r->mask_cameras);
    r->atlas = r->view.atlas;
    if (h->atlas) TSR_TRY(read_atlas(r, r->view.atlas));
    else
        for (int64_t i = 0; i < words; i++)
            r->view.atlas[i] = (i + 1) % tsr_mvv_words(h->width) || h->width % 64 == 0 ? ~0ull : (1ull << h->width % 64) - 1;
    if (h->masks == TSR_MULTIVIEW_MASKS_SENT) TSR_TRY(sent_masks(r));
    else TSR_TRY(rebuilt_masks(r, o, m));
    TSR_TRY(check_hashes(r, h->masks == TSR_MULTIVIEW_MASKS_REBUILT));
    if (r->reader->partial) /* where the atlas is lost, it has at least the texels of masks that are as they were */
        for (int64_t k = 0; k < (int64_t)r->mask_steps * r->mask_cameras * words; k++) r->view.atlas[k % words] |= r->masks[k];
    for (int32_t t = 0; t < r->view.steps; t++)
        for (int32_t c = 0; c < r->view.cameras; c++)
            memcpy(tsr_mvv_mask(&r->view, t, c), tsr_mvv_reading_mask(r, r->first_step + t, r->first_camera + c), (size_t)words * 8);
    return TSR_OK;
}

/* Eight texels, or fewer at the end of a row: those whose bit is 0 become 0. */
static inline void keep_texels(uint8_t *texel, uint32_t bits, int64_t count)
{
    if (count < 8) {
        for (int64_t u = 0; u < count; u++) texel[u] = bits >> u & 1 ? texel[u] : 0;
        return;
    }
    tsr_put_u64(texel, tsr_get_u64(texel) & tsr_mvv_spread(bits) * 255);
}

/* What a lossy codec left in irrelevant texels goes. */
static void blank_some(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_multiview_view *v = (const tsr_multiview_view *)user;
    const int64_t words = tsr_mvv_words(v->width);
    (void)worker;
    for (int64_t k = begin; k < end; k++) /* rows of all textures */
        for (int64_t i = 0; i < words; i++) {
            const uint64_t word = v->visible[k * words + i];
            const int64_t wide = tsr_min64(64, v->width - 64 * i);
            for (int p = 0; p < 3 && ~word; p++) {
                uint8_t *texel = v->plane[p] + k * v->width + 64 * i;
                if (!word) memset(texel, 0, (size_t)wide);
                else
                    for (int64_t u = 0; u < wide; u += 8) keep_texels(texel + u, (uint32_t)(word >> u & 255), tsr_min64(8, wide - u));
            }
        }
}

static void blank(tsr_context *context, tsr_multiview_view *v)
{
    if (v->visible) tsr_parallel(tsr_context_threads(context), (int64_t)v->steps * v->cameras * v->height, 256, blank_some, v);
}

static tsr_status read_metadata(const tsr_mvv_reader *r, int32_t first_camera, tsr_multiview *m)
{
    const uint8_t *bytes;
    int64_t size, at = 0;
    char name[256];
    TSR_TRY(tsr_multiview_set_rate(m, r->head.rate));
    for (int32_t c = 0; c < r->head.cameras; c++) {
        const size_t length = r->names[at];
        memcpy(name, r->names + at + 1, length);
        name[length] = 0;
        at += 1 + (int64_t)length;
        if (length && c >= first_camera && c - first_camera < m->view.cameras) TSR_TRY(tsr_multiview_set_camera_name(m, c - first_camera, name));
    }
    if (!tsr_chunk_file_find(&r->chunks, TSR_MVV_MODL, 0)) return TSR_OK;
    TSR_TRY(tsr_chunk_file_read(&r->chunks, TSR_MVV_MODL, 0, 0, &bytes, &size));
    if (bytes) TSR_TRY(tsr_multiview_set_model_bytes(m, bytes, (size_t)size));
    return TSR_OK;
}

static tsr_status decode_here(tsr_mvv_reading *r, const tsr_mvv_host *host, tsr_multiview *m)
{
    switch (r->head->codec) {
    case TSR_MULTIVIEW_RAW: TSR_TRY(tsr_mvv_raw_read(r)); break;
    case TSR_MULTIVIEW_SPIHT4D: TSR_TRY(tsr_mvv_spiht_read(r)); break;
    default: TSR_TRY(tsr_mvv_diff_read(r));
    }
    if (r->head->codec != TSR_MULTIVIEW_RAW) blank(r->context, &r->view);
    return tsr_mvv_host_upload(host, m);
}

static tsr_status decode_there(tsr_mvv_reading *r, tsr_multiview *m)
{
    const tsr_multiview_view *v = &m->view;
    const size_t words = (size_t)tsr_mvv_mask_words(v);
    for (int p = 0; p < 3; p++) r->device_plane[p] = v->plane[p];
    r->device_visible = v->visible;
    if (v->visible) {
        TSR_TRY(tsr_device_move(m->context, v->visible, NULL, r->view.visible, words * 8 * (size_t)v->steps * (size_t)v->cameras));
        TSR_TRY(tsr_device_move(m->context, v->atlas, NULL, r->view.atlas, words * 8));
    }
    return r->head->codec == TSR_MULTIVIEW_DIFF2D ? tsr_mvv_diff_read_device(r) : tsr_mvv_spiht_read_device(r);
}

static tsr_status read_content(tsr_mvv_reading *r, const tsr_multiview_read_options *o, tsr_multiview *m)
{
    tsr_mvv_host host = { 0 };
    tsr_status status = tsr_mvv_host_open(m, TSR_MVV_NOTHING, &host);
    r->view = host.view;
    if (status == TSR_OK) status = read_masks(r, o, m);
    const int there = tsr_mvv_spiht_on_device(r->context, r->head) || tsr_mvv_diff_on_device(r->context, r->head);
    if (status == TSR_OK) status = there ? decode_there(r, m) : decode_here(r, &host, m);
    tsr_mvv_host_close(&host);
    free(r->masks);
    r->masks = NULL;
    return status;
}

/* Bytes that reading takes, before memory is taken: files of a few bytes may name any extents. */
static tsr_status check_memory(const tsr_mvv_reader *r, const tsr_multiview_read_options *o, const tsr_context *context, int masks)
{
    const tsr_mvv_head *h = &r->head;
    const double limit = (double)(o->memory_limit ? o->memory_limit : tsr_physical_memory()), texels = (double)h->width * h->height;
    const double words = 8.0 * (double)tsr_mvv_words(h->width) * h->height, textures = (double)o->steps * o->cameras;
    const double steps = (double)tsr_min64(h->steps, (int64_t)o->steps + 2 * (int64_t)h->group);
    const double cameras = h->codec == TSR_MULTIVIEW_DIFF2D ? h->cameras : o->cameras;
    double bytes = 3 * texels * textures + (double)h->steps * h->cameras;
    tsr_mvv_shape shape;
    if (masks) bytes += words * (textures + 1) + words * steps * cameras;
    if (h->codec == TSR_MULTIVIEW_DIFF2D) bytes += 40 * texels * tsr_context_threads(context);
    if (h->codec == TSR_MULTIVIEW_SPIHT4D && tsr_mvv_shape_make(h->width, h->height, h->cameras, (int32_t)tsr_min64(h->group, 1 << 20), &shape))
        bytes += ldexp(4, shape.all) * (double)tsr_min64(tsr_context_threads(context), 3 * tsr_ceil_div(o->steps + h->group, h->group));
    if (bytes > limit)
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: %d steps of %d textures of %d x %d texels, in groups of %d, need %.0f bytes, the limit is %.0f",
                 r->chunks.name, o->steps, o->cameras, h->width, h->height, h->group, bytes, limit);
    return TSR_OK;
}

tsr_status tsr_multiview_read_input(tsr_context *context, tsr_input *input, const tsr_multiview_read_options *options, tsr_multiview **multiview)
{
    tsr_multiview_read_options o;
    tsr_mvv_reader reader;
    tsr_multiview *m = NULL;
    tsr_status status;
    *multiview = NULL;
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    if (!context) TSR_FAIL(TSR_ERROR_ARGUMENT, "no context");
    if (!(o.bpp >= 0)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%g bits a texel, expected a number above 0", o.bpp);
    TSR_TRY(tsr_mvv_reader_open(&reader, input, o.partial));
    const tsr_mvv_head *h = &reader.head;
    tsr_mvv_reading r = {
        .reader = &reader.chunks, .head = h, .context = context, .first_step = o.first_step, .first_camera = o.first_camera, .keep = 1
    };
    r.progress = o.progress.report ? &o.progress : NULL;
    if (o.bpp > 0 && h->bpp[0] > 0 && !h->lossless) r.keep = fmin(1, o.bpp / h->bpp[0]);
    const int masks = h->masks != TSR_MULTIVIEW_MASKS_NONE && !o.no_masks && !o.no_textures;
    TSR_TRY_GOTO(take_range(reader.chunks.name, "step", h->steps, o.first_step, &o.steps), fail);
    TSR_TRY_GOTO(take_range(reader.chunks.name, "camera", h->cameras, o.first_camera, &o.cameras), fail);
    if (o.no_textures) o.steps = 1;
    if (o.no_masks && !o.no_textures && h->codec == TSR_MULTIVIEW_DIFF2D && h->masks != TSR_MULTIVIEW_MASKS_NONE)
        TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, fail, "%s: its codec needs the masks to decode textures", reader.chunks.name);
    TSR_TRY_GOTO(check_memory(&reader, &o, context, masks), fail);
    TSR_TRY_GOTO(tsr_multiview_create(context, h->width, h->height, o.cameras, o.steps, masks, &m), fail);
    TSR_TRY_GOTO(read_metadata(&reader, o.first_camera, m), fail);
    if (!o.no_textures) TSR_TRY_GOTO(read_content(&r, &o, m), fail);
    tsr_chunk_file_close_reader(&reader.chunks);
    *multiview = m;
    return TSR_OK;
fail:
    tsr_multiview_destroy(&m);
    tsr_chunk_file_close_reader(&reader.chunks);
    return status;
}

tsr_status tsr_multiview_read(tsr_context *context, const char *path, const tsr_multiview_read_options *options, tsr_multiview **multiview)
{
    TSR_RETURNS(multiview);
    TSR_NEEDS(context, path);
    tsr_input *input;
    TSR_TRY(tsr_input_open(path, NULL, &input));
    const tsr_status status = tsr_multiview_read_input(context, input, options, multiview);
    tsr_input_close(&input);
    return status;
}
