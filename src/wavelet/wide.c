/* wavelet/wide.c: the way back of int16 coefficients once more, in 32 bits, where a value on its way did not fit into 16: it may still end at samples
 * that do. Coefficients of samples that a checked forward transform took never come here: the way back meets the same values. */
#include "volume/volume.h"
#include "tessera/filter.h"
#include "wavelet/wavelet.h"

/* Steps with which values of 16 bits may leave 32 on the way are custom ones; of the others' bounds docs/theory/wavelets.md 3 says that they grow by a
 * few bits. */
static int has_room(const tsr_wavelet_plan *p)
{
    double most = 32768;
    if (p->filter != TSR_WAVELET_CUSTOM) return 1;
    for (int32_t n = p->levels - 1; n >= 0; n--) {
        double band = 32768; /* of the level's details */
        if (most < band) most = band;
        for (int32_t a = 0; a < TSR_WAVELET_AXES; a++)
            for (int32_t k = 0; (p->stage[n].axes >> a & 1) && k < p->step_count; k++) {
                const tsr_wavelet_step *s = &p->steps[k];
                double sum = 0;
                for (int32_t t = 0; t < s->count; t++) sum += s->tap[t] < 0 ? -(double)s->tap[t] : (double)s->tap[t];
                most += (sum * most + (s->rounding < 0 ? -(double)s->rounding : (double)s->rounding)) / (double)(INT64_C(1) << s->shift) + 1;
            }
        if (most >= 0x1p31) return 0;
        most = most / (double)(1 << p->shift) + 1;
    }
    return 1;
}

static tsr_status wide_plan(const tsr_wavelet_plan *p, tsr_wavelet_plan **plan)
{
    const tsr_wavelet_options o = { .struct_size = sizeof o,
                                    .filter = TSR_WAVELET_CUSTOM, /* the steps as they are, thresholds among them */
                                    .steps = p->steps,
                                    .step_count = p->step_count,
                                    .levels = p->levels,
                                    .boundary = p->boundary,
                                    .layout = p->layout,
                                    .axes = p->stage[0].axes,
                                    .accuracy = p->shift ? p->shift : -1,
                                    .batch = p->size[TSR_WAVELET_AXES] };
    return tsr_wavelet_plan_create(p->context, TSR_I32, p->dimensions, p->size, &o, plan);
}

/* Everything packed; subbands are but for the batch. */
static void packed_strides(const int64_t size[TSR_WAVELET_DIMENSIONS], int64_t stride[TSR_WAVELET_DIMENSIONS])
{
    int64_t step = 1;
    for (int32_t a = 0; a < TSR_WAVELET_DIMENSIONS; step *= size[a++]) stride[a] = step;
}

tsr_status tsr_wavelet_inverse_wide(const tsr_wavelet_plan *p, void *samples, void *coefficients, int *fits)
{
    tsr_context *context = p->context;
    const tsr_wavelet_ops *ops = context->backend->wavelet;
    const tsr_size3 all = { p->elements * p->size[TSR_WAVELET_AXES], 1, 1 };
    int64_t flat[TSR_WAVELET_DIMENSIONS] = { p->elements, 1, 1, 1, p->size[TSR_WAVELET_AXES] };
    const int64_t *size = p->layout == TSR_WAVELET_SUBBANDS ? flat : p->size;
    tsr_volume *narrow = NULL, *wide = NULL, *result = NULL;
    tsr_wavelet_plan *plan = NULL;
    tsr_statistics found = TSR_STATISTICS;
    tsr_status status;
    *fits = 0;
    if (!has_room(p)) return TSR_OK;
    TSR_TRY_GOTO(wide_plan(p, &plan), done);
    TSR_TRY_GOTO(tsr_volume_create(context, TSR_I16, all, NULL, &narrow), done);
    tsr_wavelet_array from = { coefficients, { 0 } }, to = { narrow->data, { 0 } };
    memcpy(from.stride, p->coefficient_stride, sizeof from.stride);
    if (size == flat) from.stride[0] = 1;
    packed_strides(size, to.stride);
    TSR_TRY_GOTO(ops->copy(context->queue, sizeof(int16_t), size, &from, &to), done);
    TSR_TRY_GOTO(tsr_volume_convert(context, narrow, TSR_I32, &wide), done);
    TSR_TRY_GOTO(tsr_volume_create(context, TSR_I32, all, NULL, &result), done);
    TSR_TRY_GOTO(tsr_wavelet_inverse(plan, wide->data, result->data, NULL), done);
    TSR_TRY_GOTO(tsr_volume_statistics(context, result, &found), done);
    *fits = found.minimum >= -32768 && found.maximum <= 32767;
    if (!*fits) goto done;
    tsr_volume_destroy(&narrow);
    TSR_TRY_GOTO(tsr_volume_convert(context, result, TSR_I16, &narrow), done);
    from.data = narrow->data;
    to.data = samples;
    packed_strides(p->size, from.stride);
    memcpy(to.stride, p->stage[0].whole.stride, sizeof to.stride);
    TSR_TRY_GOTO(ops->copy(context->queue, sizeof(int16_t), p->size, &from, &to), done);
    TSR_TRY_GOTO(context->backend->synchronize(context->queue), done);
done:
    tsr_volume_destroy(&result);
    tsr_volume_destroy(&wide);
    tsr_volume_destroy(&narrow);
    tsr_wavelet_plan_destroy(&plan);
    return status;
}
