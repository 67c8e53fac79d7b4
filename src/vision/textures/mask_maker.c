/* vision/textures/mask_maker.c: masks made again from the bytes of a model. */
#include <stdlib.h>
#include <string.h>

#include "device/backend.h"
#include "tessera/multiview_model.h"

struct tsr_mask_maker {
    tsr_context *context;
    uint8_t *bytes; /* of the model at hand */
    size_t size;
    tsr_multiview_model *model;
    tsr_texturer *texturer;
    uint64_t *visible, *host; /* [cameras][height][words] of step `t` */
    size_t visible_bytes;
    int32_t t;
};

tsr_status tsr_mask_maker_create(tsr_context *context, tsr_mask_maker **maker)
{
    TSR_RETURNS(maker);
    TSR_NEEDS(context);
    *maker = (tsr_mask_maker *)calloc(1, sizeof **maker);
    if (!*maker) TSR_FAIL(TSR_ERROR_MEMORY, "masks: out of host memory");
    (*maker)->context = context;
    (*maker)->t = -1;
    return TSR_OK;
}

static void forget(tsr_mask_maker *m)
{
    tsr_device_release(m->context, m->visible, m->visible_bytes);
    tsr_texturer_destroy(&m->texturer);
    tsr_multiview_model_destroy(&m->model);
    free(m->bytes);
    free(m->host);
    m->bytes = NULL;
    m->visible = m->host = NULL;
    m->size = m->visible_bytes = 0;
    m->t = -1;
}

void tsr_mask_maker_destroy(tsr_mask_maker **maker)
{
    if (!maker || !*maker) return;
    forget(*maker);
    free(*maker);
    *maker = NULL;
}

static tsr_status take_model(tsr_mask_maker *m, const void *model, size_t size)
{
    if (m->texturer && m->size == size && !memcmp(m->bytes, model, size)) return TSR_OK;
    forget(m);
    TSR_TRY(tsr_multiview_model_unpack(model, size, "model", 0, &m->model));
    TSR_TRY(tsr_texturer_create(m->context, m->model, &m->texturer));
    const tsr_multiview_parts p = tsr_multiview_model_parts(m->model);
    const size_t bytes = (size_t)p.cameras * (size_t)p.height * (size_t)((p.width + 63) / 64) * sizeof *m->host;
    m->host = (uint64_t *)malloc(bytes);
    m->bytes = (uint8_t *)malloc(size);
    if (!m->host || !m->bytes) TSR_FAIL(TSR_ERROR_MEMORY, "masks: out of host memory for %zu bytes", bytes);
    TSR_TRY(tsr_device_allocate(m->context, bytes, (void **)&m->visible));
    m->visible_bytes = bytes;
    memcpy(m->bytes, model, size);
    m->size = size;
    return TSR_OK;
}

tsr_status tsr_mask_maker_rebuild(void *maker, const void *model, size_t model_size, int32_t t, int32_t c, int32_t width, int32_t height,
                                  uint64_t *mask)
{
    tsr_mask_maker *m = (tsr_mask_maker *)maker;
    if (!m || !mask) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", m ? "mask" : "maker");
    if (!model) TSR_FAIL(TSR_ERROR_ARGUMENT, "masks are to be made from a model, and there is none");
    const tsr_status status = take_model(m, model, model_size);
    if (status != TSR_OK) {
        forget(m);
        return tsr_frame_at(status, __func__, __FILE__, __LINE__);
    }
    const tsr_multiview_parts p = tsr_multiview_model_parts(m->model);
    if (width != p.width || height != p.height || c < 0 || c >= p.cameras || t < 0 || t >= p.steps)
        TSR_FAIL(TSR_ERROR_FORMAT, "a mask of %d x %d texels, step %d, camera %d, of a model of %d x %d texels, %d steps, %d cameras", width, height,
                 t, c, p.width, p.height, p.steps, p.cameras);
    if (m->t != t) {
        m->t = -1;
        TSR_TRY(tsr_texturer_step(m->texturer, t, NULL, TSR_TEXTURE_BILINEAR, NULL, m->visible));
        TSR_TRY(m->context->backend->download(m->context->queue, m->host, m->visible, m->visible_bytes));
        m->t = t;
    }
    const size_t words = (size_t)height * (size_t)((width + 63) / 64);
    memcpy(mask, m->host + (size_t)c * words, words * sizeof *mask);
    return TSR_OK;
}
