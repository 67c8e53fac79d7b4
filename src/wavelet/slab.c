#include "wavelet/slab.h"

#include <math.h>
#include <string.h>

int32_t tsr_wavelet_slab_axis(const tsr_wavelet_plan *whole)
{
    int32_t axis = whole->dimensions > 1 ? whole->dimensions - 1 : 0;
    while (axis > 1 && whole->size[axis] == 1) axis--;
    return axis;
}

int64_t tsr_wavelet_slab_inner(const tsr_wavelet_plan *whole, int32_t level, int32_t axis)
{
    int64_t inner = 1;
    for (int32_t a = 0; a < TSR_WAVELET_AXES; a++)
        if (a != axis) inner *= whole->stage[level].size[a];
    return inner;
}

tsr_wavelet_slab tsr_wavelet_slab_make(const tsr_wavelet_plan *whole, int32_t level, int32_t axis, int64_t begin, int64_t end)
{
    const int64_t n = whole->stage[level].size[axis], reach = whole->forward.reach;
    tsr_wavelet_slab s = { .begin = begin, .end = end, .from = begin, .to = end };
    if (!tsr_wavelet_slab_split(whole, level, axis)) {
        s.low = s.own_low = end - begin;
        return s;
    }
    if (end - begin + 2 * reach >= n) {
        s.from = 0;
        s.to = n;
    } else {
        s.from = begin - reach;
        s.to = end + reach;
        if (whole->boundary != TSR_WAVELET_PERIODIC) {
            s.from = tsr_max64(s.from, 0);
            s.to = tsr_min64(s.to, n);
        }
    }
    s.low = (s.to - s.from + 1) / 2;
    s.high = (s.to - s.from) / 2;
    s.own_low = (end - begin + 1) / 2;
    s.own_high = (end - begin) / 2;
    s.skip = (begin - s.from) / 2;
    return s;
}

int64_t tsr_wavelet_slab_most(const tsr_wavelet_plan *whole, int32_t level, int32_t axis, int64_t own)
{
    const int64_t n = whole->stage[level].size[axis], around = tsr_wavelet_slab_split(whole, level, axis) ? 2 * whole->forward.reach : 0;
    return tsr_min64(n, own + around);
}

tsr_status tsr_wavelet_slab_plan(tsr_context *context, const tsr_wavelet_plan *whole, int32_t level, int32_t axis, int64_t length,
                                 tsr_wavelet_plan **plan)
{
    const tsr_wavelet_stage *s = &whole->stage[level];
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    int64_t size[TSR_WAVELET_AXES];
    memcpy(size, s->size, sizeof size);
    size[axis] = length;
    o.filter = whole->filter;
    o.levels = 1;
    o.boundary = whole->boundary;
    o.axes = s->axes;
    o.accuracy = whole->shift ? whole->shift : -1;
    o.normalise = whole->scale != 1.0;
    o.unchecked = !whole->checked;
    for (int32_t k = 0; k < whole->step_count; k++) o.threshold = fmax(o.threshold, whole->steps[k].threshold);
    if (whole->filter == TSR_WAVELET_CUSTOM) {
        o.steps = whole->steps;
        o.step_count = whole->step_count;
        o.scale = whole->scale;
    }
    TSR_TRY(tsr_wavelet_plan_create(context, whole->dtype, whole->dimensions, size, &o, plan));
    return TSR_OK;
}
