/* video/multiview/multiview.c: the object, its metadata, its pictures. */
#include "video/multiview/multiview.h"

#include <stdlib.h>

#include "formats/films/ycbcr.h"
#include "io/xxh64.h"

/* Bytes of the parts of one block: three planes, masks, atlas. 0 where the sum is beyond what a size holds. */
static size_t parts(const tsr_multiview_view *v, int masks, int64_t *plane, int64_t *visible)
{
    int64_t textures, words, sum;
    *visible = 0;
    if (__builtin_mul_overflow((int64_t)v->cameras * v->steps, tsr_mvv_texels(v), &textures)) return 0;
    *plane = (textures + 255) / 256 * 256;
    if (__builtin_mul_overflow((int64_t)v->cameras * v->steps, tsr_mvv_mask_words(v) * 8, &words)) return 0;
    if (masks) *visible = (words + 255) / 256 * 256;
    if (__builtin_mul_overflow(*plane, (int64_t)3, &sum) || __builtin_add_overflow(sum, *visible, &sum)) return 0;
    if (masks && __builtin_add_overflow(sum, tsr_mvv_mask_words(v) * 8, &sum)) return 0;
    return (size_t)sum;
}

static void place(tsr_multiview_view *v, void *block, int masks, int64_t plane, int64_t visible)
{
    uint8_t *at = (uint8_t *)block;
    for (int p = 0; p < 3; p++) v->plane[p] = at + p * plane;
    v->visible = masks ? (uint64_t *)(void *)(at + 3 * plane) : NULL;
    v->atlas = masks ? (uint64_t *)(void *)(at + 3 * plane + visible) : NULL;
}

tsr_status tsr_multiview_create(tsr_context *context, int32_t width, int32_t height, int32_t cameras, int32_t steps, int masks,
                                tsr_multiview **multiview)
{
    TSR_RETURNS(multiview);
    int64_t plane, visible;
    tsr_status status;
    if (!context) TSR_FAIL(TSR_ERROR_ARGUMENT, "no context");
    if (width < 1 || height < 1 || width > TSR_MULTIVIEW_MOST_SIDE || height > TSR_MULTIVIEW_MOST_SIDE)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "textures of %d x %d texels, expected 1 to %d along each side", width, height, TSR_MULTIVIEW_MOST_SIDE);
    if (cameras < 1 || cameras > TSR_MULTIVIEW_MOST_CAMERAS || steps < 1 || steps > TSR_MULTIVIEW_MOST_STEPS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%d cameras and %d steps, expected 1 to %d and 1 to %d", cameras, steps, TSR_MULTIVIEW_MOST_CAMERAS,
                 TSR_MULTIVIEW_MOST_STEPS);
    tsr_multiview *m = (tsr_multiview *)calloc(1, sizeof *m);
    if (m) m->names = (char **)calloc((size_t)cameras, sizeof *m->names);
    if (!m || !m->names) {
        free(m);
        TSR_FAIL(TSR_ERROR_MEMORY, "out of memory");
    }
    m->context = context;
    m->view = (tsr_multiview_view){ .width = width, .height = height, .cameras = cameras, .steps = steps };
    m->rate[0] = 25;
    m->rate[1] = 1;
    m->bytes = parts(&m->view, masks, &plane, &visible);
    if (!m->bytes)
        TSR_FAIL_GOTO(TSR_ERROR_MEMORY, fail, "%d steps of %d textures of %d x %d texels do not fit memory", steps, cameras, width, height);
    TSR_TRY_GOTO(tsr_device_allocate(context, m->bytes, &m->block), fail);
    TSR_TRY_GOTO(context->backend->fill(context->queue, m->block, 0, m->bytes), fail);
    place(&m->view, m->block, masks, plane, visible);
    *multiview = m;
    return TSR_OK;
fail:
    tsr_multiview_destroy(&m);
    return status;
}

void tsr_multiview_destroy(tsr_multiview **multiview)
{
    tsr_multiview *m = multiview ? *multiview : NULL;
    if (!m) return;
    if (m->block) tsr_device_release(m->context, m->block, m->bytes);
    for (int32_t c = 0; c < m->view.cameras; c++) free(m->names[c]);
    free(m->names);
    free(m->model);
    free(m);
    *multiview = NULL;
}

tsr_status tsr_multiview_view_of(const tsr_multiview *multiview, tsr_multiview_view *view)
{
    TSR_NEEDS(view);
    if (!multiview) TSR_FAIL(TSR_ERROR_ARGUMENT, "no textures");
    *view = multiview->view;
    return TSR_OK;
}

tsr_context *tsr_multiview_context(const tsr_multiview *multiview) { return multiview ? multiview->context : NULL; }

tsr_status tsr_multiview_set_rate(tsr_multiview *multiview, const int32_t rate[2])
{
    TSR_NEEDS(multiview);
    if (rate[0] < 1 || rate[1] < 1) TSR_FAIL(TSR_ERROR_ARGUMENT, "a rate of %d / %d steps a second, expected numbers above 0", rate[0], rate[1]);
    memcpy(multiview->rate, rate, sizeof multiview->rate);
    return TSR_OK;
}

void tsr_multiview_rate(const tsr_multiview *multiview, int32_t rate[2])
{
    if (multiview && rate) memcpy(rate, multiview->rate, sizeof multiview->rate);
}

tsr_status tsr_multiview_set_camera_name(tsr_multiview *multiview, int32_t camera, const char *name)
{
    TSR_NEEDS(multiview, name);
    if (camera < 0 || camera >= multiview->view.cameras)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "camera %d, expected 0 to %d", camera, multiview->view.cameras - 1);
    const size_t length = strlen(name);
    if (length > 255) TSR_FAIL(TSR_ERROR_ARGUMENT, "a camera's name of %zu bytes, expected at most 255", length);
    char *copy = (char *)malloc(length + 1);
    if (!copy) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory");
    memcpy(copy, name, length + 1);
    free(multiview->names[camera]);
    multiview->names[camera] = copy;
    return TSR_OK;
}

const char *tsr_multiview_camera_name(const tsr_multiview *multiview, int32_t camera)
{
    if (!multiview) return NULL;
    return camera >= 0 && camera < multiview->view.cameras && multiview->names[camera] ? multiview->names[camera] : "";
}

tsr_status tsr_multiview_set_model_bytes(tsr_multiview *multiview, const void *bytes, size_t size)
{
    TSR_NEEDS(multiview);
    uint8_t *copy = NULL;
    if (size) {
        copy = (uint8_t *)malloc(size);
        if (!copy) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for %zu bytes of a model", size);
        memcpy(copy, bytes, size);
    }
    free(multiview->model);
    multiview->model = copy;
    multiview->model_size = size;
    return TSR_OK;
}

const void *tsr_multiview_model_bytes(const tsr_multiview *multiview, size_t *size)
{
    if (!multiview || !size) return NULL;
    if (size) *size = multiview->model_size;
    return multiview->model;
}

tsr_status tsr_mvv_host_open(const tsr_multiview *multiview, tsr_mvv_wanted wanted, tsr_mvv_host *host)
{
    int64_t plane, visible;
    host->view = multiview->view;
    host->block = NULL;
    if (multiview->context->device.kind == TSR_DEVICE_CPU) return tsr_context_synchronize(multiview->context);
    const int masks = multiview->view.visible != NULL;
    const size_t bytes = parts(&host->view, masks, &plane, &visible);
    host->block = calloc(1, bytes);
    if (!host->block) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for %zu bytes of textures on the host", bytes);
    place(&host->view, host->block, masks, plane, visible);
    const size_t from = wanted == TSR_MVV_ALL ? 0 : wanted == TSR_MVV_MASKS && masks ? 3 * (size_t)plane : bytes;
    if (from < bytes)
        TSR_TRY(tsr_device_move(NULL, (uint8_t *)host->block + from, multiview->context, (uint8_t *)multiview->block + from, bytes - from));
    return TSR_OK;
}

tsr_status tsr_mvv_host_upload(const tsr_mvv_host *host, tsr_multiview *multiview)
{
    if (host->block) TSR_TRY(tsr_device_move(multiview->context, multiview->block, NULL, host->block, multiview->bytes));
    return TSR_OK;
}

void tsr_mvv_host_close(tsr_mvv_host *host)
{
    free(host->block);
    host->block = NULL;
}

/* ---- pictures and comparison ------------------------------------------------------------------------------------------------------------------ */

static tsr_ycbcr colours(void)
{
    const tsr_video_format format = {
        .width = 1, .height = 1, .chroma = TSR_CHROMA_444, .bits = 8, .matrix = TSR_MATRIX_BT601, .range = TSR_RANGE_FULL
    };
    return tsr_ycbcr_of(&format);
}

void tsr_multiview_yuv(const uint8_t rgb[3], uint8_t yuv[3])
{
    if (!rgb || !yuv) return;
    const tsr_ycbcr c = colours();
    float y, cb, cr;
    tsr_ycbcr_signal(&c, rgb, &y, &cb, &cr);
    yuv[0] = (uint8_t)tsr_ycbcr_luma(&c, y);
    yuv[1] = (uint8_t)tsr_ycbcr_chroma(&c, cb);
    yuv[2] = (uint8_t)tsr_ycbcr_chroma(&c, cr);
}

void tsr_multiview_rgb(const uint8_t yuv[3], uint8_t rgb[3])
{
    if (!yuv || !rgb) return;
    const tsr_ycbcr c = colours();
    tsr_ycbcr_rgb(&c, (float)yuv[0], (float)yuv[1], (float)yuv[2], rgb);
}

tsr_status tsr_multiview_image(const tsr_multiview *multiview, int32_t step, int32_t camera, int alpha, tsr_image *image)
{
    TSR_NEEDS(multiview, image);
    const tsr_multiview_view *v = &multiview->view;
    const size_t texels = (size_t)tsr_mvv_texels(v), words = (size_t)tsr_mvv_mask_words(v);
    const int channels = alpha ? 4 : 3;
    const tsr_ycbcr colour = colours();
    tsr_status status;
    memset(image, 0, sizeof *image);
    if (step < 0 || step >= v->steps || camera < 0 || camera >= v->cameras)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "step %d of camera %d, expected 0 to %d and 0 to %d", step, camera, v->steps - 1, v->cameras - 1);
    uint8_t *host = (uint8_t *)malloc(3 * texels);
    uint64_t *mask = (uint64_t *)malloc(8 * words);
    if (!host || !mask) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "out of memory for a texture of %zu texels", texels);
    for (int p = 0; p < 3; p++)
        TSR_TRY_GOTO(tsr_device_move(NULL, host + (size_t)p * texels, multiview->context, tsr_mvv_texture(v, p, step, camera), texels), done);
    if (v->visible) TSR_TRY_GOTO(tsr_device_move(NULL, mask, multiview->context, tsr_mvv_mask(v, step, camera), 8 * words), done);
    else memset(mask, 255, 8 * words);
    TSR_TRY_GOTO(tsr_image_create(v->width, v->height, channels, image), done);
    for (size_t i = 0; i < texels; i++) {
        uint8_t *pixel = image->pixels + i * (size_t)channels;
        const int64_t row = (int64_t)i / v->width, u = (int64_t)i % v->width;
        const int seen = tsr_mvv_bit(mask + row * tsr_mvv_words(v->width), u);
        if (seen) tsr_ycbcr_rgb(&colour, (float)host[i], (float)host[texels + i], (float)host[2 * texels + i], pixel);
        if (alpha) pixel[3] = seen ? 255 : 0;
    }
    status = TSR_OK;
done:
    free(host);
    free(mask);
    return status;
}

double tsr_multiview_ratio(const double bpp[3]) { return bpp ? 24 / (bpp[0] + bpp[1] + bpp[2]) : 0; }
