/* video/multiview/mvv_layer.c: what codec DIFF2D codes, as textures to look at. */
#include <math.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "video/multiview/mvv_codec.h"
#include "video/multiview/mvv_sheets.h"

enum { FRACTION = 4 }; /* bits of averages */

typedef struct layering {
    const tsr_multiview_view *from, *to;
    tsr_multiview_layer layer;
    int32_t first;
    double gain;
    int32_t *master[3];
    uint8_t *seen; /* of the master */
} layering;

/* A texel's average over the cameras that see it at a step; 0: none does. */
static int average(const tsr_multiview_view *v, int64_t t, int64_t u, int64_t y, int32_t mean[3])
{
    int32_t sum[3] = { 0, 0, 0 }, count = 0;
    for (int64_t c = 0; c < v->cameras; c++) {
        const uint64_t *mask = tsr_mvv_mask(v, t, c);
        if (mask && !tsr_mvv_bit(mask + y * tsr_mvv_words(v->width), u)) continue;
        for (int p = 0; p < 3; p++) sum[p] += tsr_mvv_texture(v, p, t, c)[y * v->width + u];
        count++;
    }
    for (int p = 0; p < 3; p++) mean[p] = tsr_mvv_mean_texel(sum[p], count, FRACTION);
    return count > 0;
}

static void master_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const layering *l = (const layering *)user;
    const tsr_multiview_view *v = l->from;
    (void)worker;
    for (int64_t i = begin * v->width; i < end * v->width; i++) {
        int64_t sum[3] = { 0, 0, 0 }, count = 0;
        for (int64_t t = 0; t < v->steps; t++) {
            int32_t mean[3];
            if (!average(v, t, i % v->width, i / v->width, mean)) continue;
            for (int p = 0; p < 3; p++) sum[p] += mean[p];
            count++;
        }
        for (int p = 0; p < 3; p++) l->master[p][i] = tsr_mvv_mean_sample(sum[p], count, 0);
        l->seen[i] = count > 0;
    }
}

static uint8_t clamped(double texel) { return (uint8_t)(texel < 0 ? 0 : texel > 255 ? 255 : floor(texel + 0.5)); }

/* A texel of all cameras. */
static void put_texel(const layering *l, int64_t t, int64_t u, int64_t y)
{
    const tsr_multiview_view *from = l->from, *to = l->to;
    const int64_t i = y * from->width + u, words = tsr_mvv_words(from->width);
    int32_t mean[3] = { 0 };
    const int seen = l->layer == TSR_MULTIVIEW_LAYER_MASTER ? l->seen[i] : average(from, l->first + t, u, y, mean);
    for (int64_t c = 0; c < to->cameras; c++) {
        const uint64_t *mask = tsr_mvv_mask(from, l->first + t, c);
        const int own = l->layer == TSR_MULTIVIEW_LAYER_DIFFERENCES ? !mask || tsr_mvv_bit(mask + y * words, u) : seen;
        if (!own) continue;
        if (to->visible) tsr_mvv_mask(to, t, c)[y * words + u / 64] |= 1ull << u % 64;
        for (int p = 0; p < 3; p++) {
            const double whole = 1.0 / (1 << FRACTION), texel = tsr_mvv_texture(from, p, l->first + t, c)[i];
            const double value = l->layer == TSR_MULTIVIEW_LAYER_AVERAGES      ? mean[p] * whole
                                 : l->layer == TSR_MULTIVIEW_LAYER_MASTER      ? l->master[p][i] * whole
                                 : l->layer == TSR_MULTIVIEW_LAYER_DIFFERENCES ? TSR_MVV_GREY + l->gain * (texel - mean[p] * whole)
                                                                               : TSR_MVV_GREY + l->gain * (mean[p] - l->master[p][i]) * whole;
            tsr_mvv_texture(to, p, t, c)[i] = clamped(value);
        }
    }
}

static void layer_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const layering *l = (const layering *)user;
    (void)worker;
    for (int64_t k = begin; k < end; k++) /* rows of all steps */
        for (int64_t u = 0; u < l->to->width; u++) put_texel(l, k / l->to->height, u, k % l->to->height);
}

static void copy_steps(const layering *l)
{
    const tsr_multiview_view *from = l->from, *to = l->to;
    const size_t textures = (size_t)to->steps * (size_t)to->cameras;
    for (int p = 0; p < 3; p++) memcpy(to->plane[p], tsr_mvv_texture(from, p, l->first, 0), textures * (size_t)tsr_mvv_texels(to));
    if (to->visible) memcpy(to->visible, tsr_mvv_mask(from, l->first, 0), textures * (size_t)tsr_mvv_mask_words(to) * 8);
}

static tsr_status make_layer(layering *l, const tsr_context *context)
{
    const int64_t texels = tsr_mvv_texels(l->from);
    if (l->to->atlas) memcpy(l->to->atlas, l->from->atlas, (size_t)tsr_mvv_mask_words(l->to) * 8);
    if (l->layer == TSR_MULTIVIEW_LAYER_TEXTURES) {
        copy_steps(l);
        return TSR_OK;
    }
    int32_t *memory = (int32_t *)malloc((size_t)texels * 13);
    if (!memory) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for a master texture of %d x %d", l->from->width, l->from->height);
    for (int p = 0; p < 3; p++) l->master[p] = memory + p * texels;
    l->seen = (uint8_t *)(memory + 3 * texels);
    const int threads = tsr_context_threads(context);
    if (l->layer == TSR_MULTIVIEW_LAYER_MASTER || l->layer == TSR_MULTIVIEW_LAYER_AVERAGE_DIFFERENCES)
        tsr_parallel(threads, l->from->height, 1, master_rows, l);
    tsr_parallel(threads, (int64_t)l->to->steps * l->to->height, 16, layer_rows, l);
    free(memory);
    return TSR_OK;
}

tsr_status tsr_multiview_layer_of(const tsr_multiview *multiview, tsr_multiview_layer layer, int32_t first_step, int32_t steps, double gain,
                                  tsr_multiview **layered)
{
    TSR_RETURNS(layered);
    TSR_NEEDS(multiview);
    const tsr_multiview_view *v = &multiview->view;
    tsr_mvv_host from = { 0 }, to = { 0 };
    tsr_multiview *m = NULL;
    if ((unsigned)layer >= TSR_MULTIVIEW_LAYERS) TSR_FAIL(TSR_ERROR_ARGUMENT, "layer %d, expected 0 to %d", (int)layer, TSR_MULTIVIEW_LAYERS - 1);
    if (first_step < 0 || first_step >= v->steps || steps < 1 || steps > v->steps - first_step)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%d steps from %d on, there are %d", steps, first_step, v->steps);
    if (!(fabs(gain) <= 1e3)) TSR_FAIL(TSR_ERROR_ARGUMENT, "a gain of %g, expected -1000 to 1000", gain);
    TSR_TRY(tsr_multiview_create(multiview->context, v->width, v->height, v->cameras, steps, v->visible != NULL, &m));
    tsr_status status = tsr_multiview_set_rate(m, multiview->rate);
    for (int32_t c = 0; status == TSR_OK && c < v->cameras; c++)
        status = tsr_multiview_set_camera_name(m, c, tsr_multiview_camera_name(multiview, c));
    if (status == TSR_OK && multiview->model) status = tsr_multiview_set_model_bytes(m, multiview->model, multiview->model_size);
    if (status == TSR_OK) status = tsr_mvv_host_open(multiview, TSR_MVV_ALL, &from);
    if (status == TSR_OK) status = tsr_mvv_host_open(m, TSR_MVV_NOTHING, &to);
    if (status == TSR_OK) {
        layering l = { .from = &from.view, .to = &to.view, .layer = layer, .first = first_step, .gain = gain };
        status = make_layer(&l, multiview->context);
    }
    if (status == TSR_OK) status = tsr_mvv_host_upload(&to, m);
    tsr_mvv_host_close(&from);
    tsr_mvv_host_close(&to);
    if (status == TSR_OK) *layered = m;
    else tsr_multiview_destroy(&m);
    return status;
}
