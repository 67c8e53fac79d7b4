/* video/dirac/synthesis.c: plans from the coarsest levels to the finest. */
#include "video/dirac/synthesis.h"

#include "video/dirac/filters.h"

static int64_t element_size(const tsr_dirac_synthesis *s) { return s->dtype == TSR_I16 ? (int64_t)sizeof(int16_t) : (int64_t)sizeof(int32_t); }

int tsr_dirac_synthesis_narrow(const tsr_dirac_transform *t, int32_t bits)
{
    const struct tsr_dirac_filter *f = &tsr_dirac_filters[t->wavelet];
    if (t->horizontal || t->wavelet != t->wavelet_horizontal || !t->depth) return 0;
    return tsr_wavelet_safe_bits(f->filter, t->depth, 2, f->shift ? f->shift : -1) >= bits;
}

static tsr_status add_stage(tsr_dirac_synthesis *s, int32_t width, int32_t height, int32_t wavelet, uint32_t axes, int32_t levels, int32_t shift)
{
    tsr_dirac_step *stage = &s->stage[s->count];
    tsr_wavelet_options options = TSR_WAVELET_OPTIONS;
    tsr_wavelet_info info = TSR_WAVELET_INFO;
    const int64_t size[2] = { width, height }, stride[2] = { 1, s->stride };
    options.filter = tsr_dirac_filters[wavelet].filter;
    options.levels = levels;
    options.axes = axes;
    options.accuracy = shift ? shift : -1;
    options.sample_stride = options.coefficient_stride = stride;
    *stage = (tsr_dirac_step){ .width = width, .height = height };
    options.unchecked = s->unchecked;
    options.batch = s->batch;
    options.sample_batch = options.coefficient_batch = s->elements;
    TSR_TRY(tsr_wavelet_plan_create(s->context, s->dtype, 2, size, &options, &stage->plan));
    s->count++;
    tsr_wavelet_plan_describe(stage->plan, &info);
    stage->workspace_bytes = info.workspace_bytes;
    s->workspace_bytes = tsr_max64(s->workspace_bytes, info.workspace_bytes);
    return TSR_OK;
}

static tsr_status add_stages(tsr_dirac_synthesis *s, const tsr_dirac_transform *t, const tsr_dirac_layout *l)
{
    const int32_t across = t->wavelet_horizontal, shift = tsr_dirac_filters[across].shift;
    if (t->horizontal) TSR_TRY(add_stage(s, l->stride >> t->depth, l->padded_height >> t->depth, across, 1, t->horizontal, shift));
    if (t->wavelet == across) return t->depth ? add_stage(s, l->stride, l->padded_height, across, 3, t->depth, shift) : TSR_OK;
    for (int32_t up = t->depth - 1; up >= 0; up--) { /* columns, then rows */
        TSR_TRY(add_stage(s, l->stride >> up, l->padded_height >> up, t->wavelet, 2, 1, 0));
        TSR_TRY(add_stage(s, l->stride >> up, l->padded_height >> up, across, 1, 1, shift));
    }
    return TSR_OK;
}

tsr_status tsr_dirac_synthesis_make(tsr_context *context, const tsr_dirac_transform *t, const tsr_dirac_layout *l, tsr_dtype dtype, int unchecked,
                                    tsr_dirac_synthesis *s)
{
    return tsr_dirac_synthesis_make_many(context, t, l, dtype, unchecked, 1, s);
}

tsr_status tsr_dirac_synthesis_make_coarse(tsr_context *context, const tsr_dirac_transform *t, const tsr_dirac_layout *l, tsr_dtype dtype,
                                           tsr_dirac_synthesis *s)
{
    tsr_dirac_synthesis_free(s);
    *s = (tsr_dirac_synthesis){ .context = context, .dtype = dtype, .stride = l->stride, .batch = 1, .elements = tsr_dirac_layout_elements(l) };
    return add_stage(s, l->stride / 2, l->padded_height / 2, t->wavelet, 3, t->depth - 1, tsr_dirac_filters[t->wavelet].shift);
}

tsr_status tsr_dirac_synthesis_make_many(tsr_context *context, const tsr_dirac_transform *t, const tsr_dirac_layout *l, tsr_dtype dtype,
                                         int unchecked, int32_t batch, tsr_dirac_synthesis *s)
{
    tsr_dirac_synthesis_free(s);
    *s = (tsr_dirac_synthesis){
        .context = context, .dtype = dtype, .unchecked = unchecked, .stride = l->stride, .batch = batch, .elements = tsr_dirac_layout_elements(l)
    };
    tsr_status status = add_stages(s, t, l);
    if (status != TSR_OK) tsr_dirac_synthesis_free(s);
    return status;
}

void tsr_dirac_synthesis_free(tsr_dirac_synthesis *s)
{
    for (int32_t k = 0; k < s->count; k++) tsr_wavelet_plan_destroy(&s->stage[k].plan);
    s->count = 0;
}

/* The corner that a stage works on goes to the other array; rare: only where levels differ. */
static tsr_status copy_corner(const tsr_dirac_synthesis *s, const tsr_dirac_step *stage, void *to, const void *from)
{
    const int64_t element = element_size(s), row = (int64_t)s->stride * element;
    for (int64_t k = 0; k < s->batch; k++)
        for (int32_t y = 0; y < stage->height; y++) {
            const int64_t at = k * s->elements * element + y * row;
            TSR_TRY(s->context->backend->copy(s->context->queue, (char *)to + at, (const char *)from + at, (size_t)(stage->width * element)));
        }
    return TSR_OK;
}

tsr_status tsr_dirac_synthesis_run(const tsr_dirac_synthesis *s, void *coefficients, void *samples, void *workspace)
{
    if (!s->count) return s->context->backend->copy(s->context->queue, samples, coefficients, (size_t)(s->batch * s->elements * element_size(s)));
    for (int32_t k = 0; k < s->count; k++) {
        const tsr_dirac_step *stage = &s->stage[k];
        TSR_TRY(tsr_wavelet_inverse(stage->plan, coefficients, samples, stage->workspace_bytes ? workspace : NULL));
        if (k + 1 < s->count) TSR_TRY(copy_corner(s, stage, coefficients, samples));
    }
    return TSR_OK;
}

tsr_status tsr_dirac_analysis_run(const tsr_dirac_synthesis *s, void *samples, void *coefficients, void *workspace)
{
    if (!s->count) return s->context->backend->copy(s->context->queue, coefficients, samples, (size_t)(s->batch * s->elements * element_size(s)));
    for (int32_t k = s->count - 1; k >= 0; k--) {
        const tsr_dirac_step *stage = &s->stage[k];
        TSR_TRY(tsr_wavelet_forward(stage->plan, samples, coefficients, stage->workspace_bytes ? workspace : NULL));
        if (k > 0) TSR_TRY(copy_corner(s, &s->stage[k - 1], samples, coefficients));
    }
    return TSR_OK;
}
