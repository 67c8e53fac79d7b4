#include "wavelet/wavelet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wavelet/calm.h"
#include "wavelet/lifting_filters.h"

enum { LOST_BYTES = 256 };

/* ---- checks --------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status check_options(tsr_dtype dtype, int32_t dimensions, const int64_t *size, const tsr_wavelet_options *o)
{
    int real = dtype == TSR_F32 || dtype == TSR_F64;
    if (dtype != TSR_I16 && dtype != TSR_I32 && !real)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: element type %s, expected i16, i32, f32 or f64", tsr_dtype_name(dtype));
    if (dimensions < 1 || dimensions > TSR_WAVELET_AXES)
        TSR_FAIL(TSR_ERROR_ARGUMENT,
                 "wavelet: %d dimensions, expected 1 to %d: an axis more is a transform of each slice along it, by strides or as a batch", dimensions,
                 TSR_WAVELET_AXES);
    for (int32_t a = 0; a < dimensions; a++)
        if (size[a] < 1 || size[a] > INT64_C(1) << 40)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: extent %lld along axis %d, expected 1 to 2^40", (long long)size[a], a);
    if ((unsigned)o->filter >= TSR_WAVELET_FILTERS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: filter is %d, expected a tsr_wavelet_filter", (int)o->filter);
    if ((unsigned)o->boundary >= TSR_WAVELET_BOUNDARIES)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: boundary is %d, expected clamp, symmetric, periodic or zero", (int)o->boundary);
    if ((unsigned)o->layout >= TSR_WAVELET_LAYOUTS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: layout is %d, expected mallat, interleaved, split or subbands", (int)o->layout);
    if (o->axes >> dimensions) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: axes is 0x%x, expected bits of the %d axes only", o->axes, dimensions);
    int32_t possible = tsr_wavelet_levels_possible(dimensions, size, o->axes);
    if (o->levels < 0 || o->levels > possible)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: levels is %d, expected 0 to %d, which these extents allow", o->levels, possible);
    if (o->accuracy < -1 || o->accuracy > 4) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: accuracy is %d, expected -1 to 4 bits", o->accuracy);
    if (real && o->accuracy > 0)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: accuracy is %d bits of %s samples, which have none", o->accuracy, tsr_dtype_name(dtype));
    if (o->normalise && !real) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: normalise is set for %s samples, expected f32 or f64", tsr_dtype_name(dtype));
    if (o->inplace && o->layout != TSR_WAVELET_INTERLEAVED && o->layout != TSR_WAVELET_SPLIT)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: inplace with layout %s, expected interleaved or split", tsr_wavelet_layout_name(o->layout));
    if (o->inplace && (o->coefficient_stride || o->coefficient_batch))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: inplace with strides of the coefficients, which are those of the samples");
    if (o->layout == TSR_WAVELET_SUBBANDS && o->coefficient_stride)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: layout subbands with strides of the coefficients, which are packed");
    if (o->pad) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: pad is %d, expected 0: only volumes in memory are padded (tsr_volume_dwt)", (int)o->pad);
    if (o->batch < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: batch is %lld, expected 0 or more arrays", (long long)o->batch);
    if (o->filter == TSR_WAVELET_CUSTOM && (!o->steps || o->step_count < 1 || o->step_count > TSR_WAVELET_STEPS))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: custom filter of %d steps, expected 1 to %d", o->steps ? o->step_count : 0, TSR_WAVELET_STEPS);
    if (o->filter == TSR_WAVELET_ADAPTIVE53 && !(o->threshold > 0 && o->threshold < 1e300))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: threshold is %g for filter adaptive53, expected a number over 0", o->threshold);
    if (o->filter == TSR_WAVELET_CUSTOM && !(o->scale >= 0 && o->scale < 1e30))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: scale is %g, expected a positive number", o->scale);
    return TSR_OK;
}

/* Packed strides where none are given; then: no two elements in one place, and offsets that fit. */
static tsr_status take_strides(const char *what, int32_t dimensions, const int64_t *size, const int64_t *given, int64_t batch, int64_t stride[])
{
    int32_t order[TSR_WAVELET_DIMENSIONS];
    int64_t packed = 1;
    double extent = 0;
    for (int32_t a = 0; a < TSR_WAVELET_DIMENSIONS; a++) {
        stride[a] = a < dimensions && given ? given[a] : packed;
        packed *= size[a];
    }
    if (batch) stride[TSR_WAVELET_AXES] = batch;
    else if (given) {
        int64_t last = 1;
        for (int32_t a = 0; a < dimensions; a++) last = tsr_max64(last, size[a] * (stride[a] < 0 ? -stride[a] : stride[a]));
        stride[TSR_WAVELET_AXES] = last;
    }
    for (int32_t a = 0; a < TSR_WAVELET_DIMENSIONS; a++) {
        extent += (double)(size[a] - 1) * (stride[a] < 0 ? -(double)stride[a] : (double)stride[a]);
        int32_t k = a;
        for (; k > 0 && llabs(stride[order[k - 1]]) > llabs(stride[a]); k--) order[k] = order[k - 1];
        order[k] = a;
    }
    if (extent > 0x1p58) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: %s strides reach over %.3g elements, expected less than 2^58", what, extent);
    int64_t reached = 1;
    for (int32_t k = 0; k < TSR_WAVELET_DIMENSIONS; k++) {
        int32_t a = order[k];
        int64_t s = stride[a] < 0 ? -stride[a] : stride[a];
        if (size[a] == 1) continue;
        if (s < reached)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: %s stride %lld along axis %d%s, expected at least %lld: elements would overlap", what,
                     (long long)stride[a], a, a == TSR_WAVELET_AXES ? " (the batch)" : "", (long long)reached);
        reached = s * size[a];
    }
    return TSR_OK;
}

static tsr_status check_periodic(const tsr_wavelet_plan *p)
{
    for (int32_t n = 0; p->boundary == TSR_WAVELET_PERIODIC && n < p->levels; n++)
        for (int32_t a = 0; a < p->dimensions; a++)
            if ((p->stage[n].axes >> a & 1) && (p->stage[n].size[a] & 1))
                TSR_FAIL(TSR_ERROR_ARGUMENT,
                         "wavelet: periodic with %lld samples along axis %d at level %d, expected an even number: fewer levels, another boundary, or "
                         "padding (--pad dirac)",
                         (long long)p->stage[n].size[a], a, n + 1);
    return TSR_OK;
}

/* ---- where everything lies -------------------------------------------------------------------------------------------------------------------- */

static int64_t band_size(const tsr_wavelet_stage *s, uint32_t bits, int32_t a)
{
    return !(s->axes >> a & 1) ? s->size[a] : (bits >> a & 1) ? s->size[a] / 2 : (s->size[a] + 1) / 2;
}

static int64_t band_elements(const tsr_wavelet_stage *s, uint32_t bits)
{
    int64_t n = 1;
    for (int32_t a = 0; a < TSR_WAVELET_AXES; a++) n *= band_size(s, bits, a);
    return n;
}

static void pack(tsr_wavelet_slot *slot, const tsr_wavelet_stage *s, uint32_t bits)
{
    slot->stride[0] = 1;
    for (int32_t a = 1; a < TSR_WAVELET_DIMENSIONS; a++) slot->stride[a] = slot->stride[a - 1] * band_size(s, bits, a - 1);
}

/* A band where the layout wants it; `stride`: of the whole array of coefficients. */
static void place_band(const tsr_wavelet_plan *p, const tsr_wavelet_stage *s, uint32_t bits, const int64_t stride[], tsr_wavelet_slot *slot)
{
    *slot = (tsr_wavelet_slot){ .memory = TSR_WAVELET_COEFFICIENTS };
    memcpy(slot->stride, stride, sizeof slot->stride);
    for (int32_t a = 0; a < TSR_WAVELET_AXES; a++) {
        int split = s->axes >> a & 1, high = bits >> a & 1, halves = p->layout == TSR_WAVELET_MALLAT || (p->layout == TSR_WAVELET_SPLIT && a == 0);
        if (halves) slot->offset += high ? (s->size[a] + 1) / 2 * stride[a] : 0;
        else {
            slot->stride[a] = stride[a] << s->splits[a];
            slot->offset += high ? stride[a] << (s->splits[a] - split) : 0;
        }
    }
}

static void place_subbands(tsr_wavelet_plan *p, const int64_t stride[])
{
    int64_t offset = 0;
    for (int32_t n = p->stages - 1; n >= 0; n--) {
        tsr_wavelet_stage *s = &p->stage[n];
        for (uint32_t bits = n == p->stages - 1 ? 0 : 1; bits < TSR_WAVELET_BANDS; bits++) {
            if (bits & ~s->axes) continue;
            tsr_wavelet_slot *slot = &s->band[bits];
            *slot = (tsr_wavelet_slot){ .memory = TSR_WAVELET_COEFFICIENTS, .offset = offset };
            pack(slot, s, bits);
            slot->stride[TSR_WAVELET_AXES] = stride[TSR_WAVELET_AXES];
            offset += band_elements(s, bits);
        }
    }
}

/* Approximations between levels take turns in two parts of the workspace. Returns the elements of both. */
static int64_t place_approximations(tsr_wavelet_plan *p)
{
    int64_t batch = p->size[TSR_WAVELET_AXES], first = p->levels > 1 ? band_elements(&p->stage[0], 0) * batch : 0, total = first;
    for (int32_t n = 0; n + 1 < p->levels; n++) {
        tsr_wavelet_slot *slot = &p->stage[n].band[0];
        *slot = (tsr_wavelet_slot){ .memory = TSR_WAVELET_WORK, .offset = n & 1 ? first : 0 };
        pack(slot, &p->stage[n], 0);
        if (n == 1) total += band_elements(&p->stage[1], 0) * batch;
    }
    return total;
}

static void place_levels(tsr_wavelet_plan *p, uint32_t axes, const int64_t sample_stride[], const int64_t stride[])
{
    int64_t approximations = 0;
    for (int32_t n = 0; n < p->stages; n++) {
        tsr_wavelet_stage *s = &p->stage[n], *before = n ? s - 1 : NULL;
        for (int32_t a = 0; a < TSR_WAVELET_DIMENSIONS; a++) {
            s->size[a] = before ? band_size(before, 0, a) : p->size[a];
            if (a < TSR_WAVELET_AXES && (axes >> a & 1) && s->size[a] > 1) s->axes |= 1u << a;
            if (a < TSR_WAVELET_AXES) s->splits[a] = (before ? before->splits[a] : 0) + (int32_t)(s->axes >> a & 1);
        }
        for (uint32_t bits = 0; bits < TSR_WAVELET_BANDS; bits++) {
            if (bits & ~s->axes) continue;
            place_band(p, s, bits, stride, &s->band[bits]);
            s->scale[bits] = 1;
            for (int32_t a = 0; a < TSR_WAVELET_AXES; a++)
                if (s->axes >> a & 1) s->scale[bits] *= bits >> a & 1 ? 1 / p->scale : p->scale;
        }
    }
    if (p->layout == TSR_WAVELET_SUBBANDS) place_subbands(p, stride);
    if (!p->inplace) approximations = place_approximations(p);
    for (int32_t n = 0; n < p->stages; n++) {
        if (n) p->stage[n].whole = p->stage[n - 1].band[0];
        else memcpy(p->stage[0].whole.stride, sample_stride, sizeof p->stage[0].whole.stride);
    }
    p->approximation_offset = LOST_BYTES;
    p->work_offset = LOST_BYTES + tsr_ceil_div(approximations * (int64_t)tsr_dtype_size(p->dtype), 256) * 256;
}

static tsr_wavelet_array array_of(const tsr_wavelet_plan *p, const tsr_wavelet_slot *slot, void *const memory[3])
{
    tsr_wavelet_array a = { (char *)memory[slot->memory] + slot->offset * (int64_t)tsr_dtype_size(p->dtype), { 0 } };
    memcpy(a.stride, slot->stride, sizeof a.stride);
    return a;
}

/* The levels as a backend sees them. */
static void bind(const tsr_wavelet_plan *p, void *const memory[3], tsr_wavelet_level *levels)
{
    for (int32_t n = 0; n < p->levels; n++) {
        const tsr_wavelet_stage *s = &p->stage[n];
        tsr_wavelet_level *l = &levels[n];
        *l = (tsr_wavelet_level){
            .dtype = p->dtype, .boundary = p->boundary, .shift = p->shift, .inplace = p->inplace, .scaled = p->scale != 1.0, .axes = s->axes
        };
        memcpy(l->size, s->size, sizeof l->size);
        l->whole = array_of(p, &s->whole, memory);
        for (uint32_t bits = 0; bits < TSR_WAVELET_BANDS; bits++) {
            if (bits & ~s->axes) continue;
            l->band[bits] = array_of(p, &s->band[bits], memory);
            l->scale[bits] = s->scale[bits];
        }
    }
}

/* Bytes that an array without gaps takes from its first element on; 0 for one with gaps or negative strides, between whose elements others may lie. */
static int64_t dense_bytes(const tsr_wavelet_plan *p, const int64_t stride[])
{
    int64_t reach = 1;
    for (int32_t a = 0; a < TSR_WAVELET_DIMENSIONS; a++) {
        if (p->size[a] > 1 && stride[a] < 0) return 0;
        reach += (p->size[a] - 1) * stride[a];
    }
    const int64_t elements = p->elements * p->size[TSR_WAVELET_AXES];
    return reach == elements ? elements * (int64_t)tsr_dtype_size(p->dtype) : 0;
}

/* ---- plans -------------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status fill_plan(tsr_wavelet_plan *p, const tsr_wavelet_options *o)
{
    int64_t sample_stride[TSR_WAVELET_DIMENSIONS], stride[TSR_WAVELET_DIMENSIONS];
    double scale = o->scale > 0 ? o->scale : 1;
    p->step_count = o->step_count;
    if (o->filter == TSR_WAVELET_CUSTOM) memcpy(p->steps, o->steps, (size_t)o->step_count * sizeof *o->steps);
    else p->step_count = tsr_wavelet_filter_steps(o->filter, p->steps, &scale);
    for (int32_t k = 0; k < p->step_count && o->filter == TSR_WAVELET_ADAPTIVE53; k++) p->steps[k].threshold = o->threshold;
    p->scale = o->normalise ? scale : 1;
    TSR_TRY(tsr_lift_check(p->steps, p->step_count, p->dtype, p->shift));
    TSR_TRY(take_strides("sample", p->dimensions, p->size, o->sample_stride, o->sample_batch, sample_stride));
    if (o->inplace) memcpy(stride, sample_stride, sizeof stride);
    else TSR_TRY(take_strides("coefficient", p->dimensions, p->size, o->coefficient_stride, o->coefficient_batch, stride));
    if (dense_bytes(p, sample_stride) == dense_bytes(p, stride)) p->dense_bytes = dense_bytes(p, stride);
    memcpy(p->coefficient_stride, stride, sizeof stride);
    tsr_lift_prepare(p->steps, p->step_count, &p->forward, &p->inverse);
    if (p->dtype == TSR_I16 || p->dtype == TSR_I32) {
        p->forward.calm = tsr_calm_bound(&p->forward, (int32_t)p->boundary, p->dtype);
        p->inverse.calm = tsr_calm_bound(&p->inverse, (int32_t)p->boundary, p->dtype);
        p->forward.calm16 = p->dtype == TSR_I16 ? p->forward.calm : tsr_calm_bound(&p->forward, (int32_t)p->boundary, TSR_I16);
        p->inverse.calm16 = p->dtype == TSR_I16 ? p->inverse.calm : tsr_calm_bound(&p->inverse, (int32_t)p->boundary, TSR_I16);
    }
    place_levels(p, o->axes ? o->axes : (1u << p->dimensions) - 1, sample_stride, stride);
    TSR_TRY(check_periodic(p));
    tsr_wavelet_level levels[TSR_WAVELET_LEVELS];
    void *none[3] = { NULL, NULL, NULL };
    bind(p, none, levels);
    p->workspace_bytes =
        p->work_offset + (int64_t)p->context->backend->wavelet->work_bytes(p->context->queue, p->context->threads, levels, p->levels, &p->forward);
    return TSR_OK;
}

tsr_status tsr_wavelet_plan_create(tsr_context *context, tsr_dtype dtype, int32_t dimensions, const int64_t *size, const tsr_wavelet_options *options,
                                   tsr_wavelet_plan **plan)
{
    TSR_RETURNS(plan);
    TSR_NEEDS(context, size);
    tsr_wavelet_options own;
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(check_options(dtype, dimensions, size, &own));
    int32_t possible = tsr_wavelet_levels_possible(dimensions, size, own.axes), levels = own.levels ? own.levels : possible < 3 ? possible : 3;
    int64_t extents[TSR_WAVELET_DIMENSIONS] = { 1, 1, 1, 1, own.batch ? own.batch : 1 };
    double total = (double)extents[TSR_WAVELET_AXES];
    for (int32_t a = 0; a < dimensions; a++) {
        extents[a] = size[a];
        total *= (double)size[a];
    }
    if (total > 0x1p58) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: %.3g elements, expected less than 2^58", total);
    size_t bytes = sizeof **plan + (size_t)(levels ? levels : 1) * sizeof(tsr_wavelet_stage);
    TSR_TRY(tsr_host_allocate(&context->host_allocator, bytes, (void **)plan));
    tsr_wavelet_plan *p = *plan;
    memset(p, 0, bytes);
    *p = (tsr_wavelet_plan){ .context = context,
                             .dtype = dtype,
                             .dimensions = dimensions,
                             .levels = levels,
                             .stages = levels ? levels : 1,
                             .filter = own.filter,
                             .boundary = own.boundary,
                             .layout = own.layout,
                             .inplace = own.inplace != 0,
                             .elements = 1 };
    int real = dtype == TSR_F32 || dtype == TSR_F64;
    p->shift = real || own.accuracy < 0 ? 0 : own.accuracy ? own.accuracy : tsr_lift_dirac_bits(own.filter);
    p->checked = dtype == TSR_I16 && !own.unchecked;
    memcpy(p->size, extents, sizeof extents);
    for (int32_t a = 0; a < dimensions; a++) p->elements *= size[a];
    TSR_TRY_GOTO(fill_plan(p, &own), fail);
    if (context->backend->wavelet->recording_create) TSR_TRY_GOTO(context->backend->wavelet->recording_create(&p->recording), fail);
    return TSR_OK;
fail:
    tsr_wavelet_plan_destroy(plan);
    return status;
}

void tsr_wavelet_plan_destroy(tsr_wavelet_plan **plan)
{
    if (!plan || !*plan) return;
    tsr_wavelet_plan *p = *plan;
    *plan = NULL;
    if (p->recording) p->context->backend->wavelet->recording_destroy(&p->recording);
    tsr_host_release(&p->context->host_allocator, p, sizeof *p + (size_t)p->stages * sizeof(tsr_wavelet_stage));
}

static int32_t bit_count(uint32_t bits)
{
    int32_t n = 0;
    for (; bits; bits &= bits - 1) n++;
    return n;
}

/* Bytes that a transform moves through memory, all levels. */
static int64_t moved_bytes(const tsr_wavelet_plan *p, const tsr_wavelet_level *levels, int inverse)
{
    const tsr_wavelet_ops *ops = p->context->backend->wavelet;
    const tsr_wavelet_job job = { .level = levels, .levels = p->levels, .forward = &p->forward, .inverse = &p->inverse };
    int64_t bytes = 0;
    for (int32_t n = 0, together; n < p->levels; n += together) {
        const tsr_wavelet_stage *s = &p->stage[n];
        int64_t level = 2 * (int64_t)tsr_dtype_size(p->dtype) * p->size[TSR_WAVELET_AXES];
        for (int32_t a = 0; a < TSR_WAVELET_AXES; a++) level *= s->size[a];
        together = tsr_maxi(1, ops->together ? ops->together(p->context->queue, &job, n, inverse) : 1);
        if (together > 1) bytes += level;
        else if (ops->passes) bytes += level * ops->passes(&levels[n], &p->forward, inverse);
        else bytes += level * (bit_count(s->axes) - ((s->axes & 3) == 3 && !p->inplace));
    }
    return bytes;
}

tsr_status tsr_wavelet_plan_describe(const tsr_wavelet_plan *p, tsr_wavelet_info *info)
{
    TSR_NEEDS(p, info);
    tsr_wavelet_level levels[TSR_WAVELET_LEVELS];
    void *const none[3] = { NULL, NULL, NULL };
    bind(p, none, levels);
    tsr_wavelet_info own = { .levels = p->levels, .bands = 1, .elements = p->elements, .workspace_bytes = p->workspace_bytes };
    for (int32_t n = 0; n < p->levels; n++) own.bands += (1 << bit_count(p->stage[n].axes)) - 1;
    own.forward_bytes = moved_bytes(p, levels, 0);
    own.inverse_bytes = moved_bytes(p, levels, 1);
    return TSR_STRUCT_GIVE(info, &own);
}

void tsr_wavelet_plan_print(const tsr_wavelet_plan *p, char *text, size_t bytes)
{
    if (!p || !text) return;
    char size[128] = "";
    tsr_wavelet_info info = TSR_WAVELET_INFO;
    tsr_wavelet_plan_describe(p, &info);
    for (int32_t a = 0; a < p->dimensions; a++) {
        size_t used = strlen(size);
        snprintf(size + used, sizeof size - used, a ? " x %lld" : "%lld", (long long)p->size[a]);
    }
    snprintf(text, bytes, "%s %s %s%s%lld, %d levels, %d accuracy bits, %s%s, %s%s, %lld bytes of workspace, %lld bytes moved",
             tsr_wavelet_filter_name(p->filter), tsr_dtype_name(p->dtype), size, p->size[TSR_WAVELET_AXES] > 1 ? ", batch " : ", batch ",
             (long long)p->size[TSR_WAVELET_AXES], p->levels, p->shift, tsr_wavelet_boundary_name(p->boundary), p->scale != 1.0 ? ", normalised" : "",
             tsr_wavelet_layout_name(p->layout), p->inplace ? " in place" : "", (long long)info.workspace_bytes, (long long)info.forward_bytes);
}

/* Level and bits of band `index`, and its slot. */
static int find_band(const tsr_wavelet_plan *p, int32_t index, int32_t *level, uint32_t *high)
{
    for (int32_t n = p->stages - 1; n >= 0; n--)
        for (uint32_t bits = n == p->stages - 1 ? 0 : 1; bits < TSR_WAVELET_BANDS; bits++) {
            if (bits & ~p->stage[n].axes) continue;
            if (index-- > 0) continue;
            *level = n;
            *high = bits;
            return 1;
        }
    return 0;
}

static double band_weight(const tsr_wavelet_plan *p, const tsr_wavelet_stage *s, int32_t level, uint32_t bits)
{
    double weight = 1;
    for (int32_t k = 0; k < p->shift * level; k++) weight /= 2;
    for (int32_t a = 0; a < p->dimensions; a++) {
        int high = bits >> a & 1;
        weight *= tsr_lift_norm(p->steps, p->step_count, s->splits[a], high);
        for (int32_t k = 0; k < s->splits[a]; k++) weight *= high && k == s->splits[a] - 1 ? p->scale : 1 / p->scale;
    }
    return weight;
}

tsr_status tsr_wavelet_plan_band(const tsr_wavelet_plan *plan, int32_t index, tsr_wavelet_band *band)
{
    TSR_NEEDS(plan, band);
    int32_t n;
    uint32_t bits;
    if (index < 0 || !find_band(plan, index, &n, &bits)) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: no band %d in this plan", index);
    const tsr_wavelet_stage *s = &plan->stage[n];
    *band = (tsr_wavelet_band){ .level = plan->levels ? n + 1 : 0, .high = bits, .split = s->axes, .offset = s->band[bits].offset };
    band->weight = band_weight(plan, s, band->level, bits);
    for (int32_t a = 0; a < TSR_WAVELET_AXES; a++) {
        band->size[a] = band_size(s, bits, a);
        band->stride[a] = s->band[bits].stride[a];
    }
    return TSR_OK;
}

/* ---- transforms ------------------------------------------------------------------------------------------------------------------------------------ */

/* *lost: a value left 16 bits, where that is looked for. */
static tsr_status run(const tsr_wavelet_plan *p, void *samples, void *coefficients, void *workspace, int inverse, int looked, uint32_t *lost)
{
    const tsr_wavelet_ops *ops = p->context->backend->wavelet;
    tsr_queue *queue = p->context->queue;
    tsr_wavelet_level levels[TSR_WAVELET_LEVELS];
    char *work = (char *)workspace;
    void *const memory[3] = { samples, coefficients, work + p->approximation_offset };
    uint32_t *word = looked ? (uint32_t *)(void *)work : NULL;
    const tsr_wavelet_job job = { .level = levels,
                                  .levels = p->levels,
                                  .forward = &p->forward,
                                  .inverse = &p->inverse,
                                  .lost = word,
                                  .work = work + p->work_offset,
                                  .recording = p->recording,
                                  .memory = { samples, coefficients, workspace } };
    *lost = 0;
    bind(p, memory, levels);
    if (word) TSR_TRY(p->context->backend->fill(queue, word, 0, sizeof *word));
    TSR_TRY(inverse ? ops->inverse(queue, &job) : ops->forward(queue, &job));
    if (word) TSR_TRY(p->context->backend->download(queue, lost, word, sizeof *lost));
    return TSR_OK;
}

static tsr_status say_lost(const tsr_wavelet_plan *p, int inverse)
{
    if (inverse)
        TSR_FAIL(TSR_ERROR_CAPACITY,
                 "wavelet: samples of these coefficients leave 16 bits, expected coefficients of samples that do not, or type i32");
    TSR_FAIL(TSR_ERROR_CAPACITY, "wavelet: values leave 16 bits: expected samples of at most %d bits for %d levels of %s, or type i32",
             tsr_wavelet_safe_bits(p->filter, p->levels, bit_count(p->stage[0].axes), p->shift ? p->shift : -1), p->levels,
             tsr_wavelet_filter_name(p->filter));
}

/* In place the coefficients are gone when a value is found that left 16 bits: they are kept meanwhile. Bytes from the first to the last of them;
 * *first: elements from `samples` to the first. */
static size_t reach(const tsr_wavelet_plan *p, int64_t *first)
{
    const int64_t *stride = p->stage[0].whole.stride;
    int64_t last = 0;
    *first = 0;
    for (int32_t a = 0; a < TSR_WAVELET_DIMENSIONS; a++) {
        last += stride[a] > 0 ? (p->size[a] - 1) * stride[a] : 0;
        *first += stride[a] < 0 ? (p->size[a] - 1) * stride[a] : 0;
    }
    return (size_t)(last - *first + 1) * tsr_dtype_size(p->dtype);
}

/* Values that leave 16 bits on the way back need not end there: those that were met are no answer, the wide way is. */
static tsr_status run_checked(const tsr_wavelet_plan *p, void *samples, void *coefficients, void *workspace, int inverse)
{
    /* The host looks anyway; it costs nothing there to give what was not asked for. */
    const int again = inverse && p->dtype == TSR_I16 && (p->checked || (p->context->device.kind == TSR_DEVICE_CPU && !p->inplace));
    uint32_t lost;
    int64_t first = 0;
    int fits = 0;
    tsr_status status;
    void *kept = NULL;
    const size_t bytes = again && p->inplace ? reach(p, &first) : 0;
    char *from = (char *)coefficients + first * (int64_t)tsr_dtype_size(p->dtype);
    if (bytes) {
        TSR_TRY(tsr_device_allocate(p->context, bytes, &kept));
        TSR_TRY_GOTO(p->context->backend->copy(p->context->queue, kept, from, bytes), done);
    }
    TSR_TRY_GOTO(run(p, samples, coefficients, workspace, inverse, p->checked || again, &lost), done);
    if (lost && again)
        TSR_TRY_GOTO(tsr_wavelet_inverse_wide(p, samples, kept ? (char *)kept - first * (int64_t)tsr_dtype_size(p->dtype) : coefficients, &fits),
                     done);
    if (lost && !fits && p->checked) TSR_TRY_GOTO(say_lost(p, inverse), done);
done:
    if (kept) tsr_device_release(p->context, kept, bytes);
    return status;
}

static tsr_status check_overlap(const tsr_wavelet_plan *p, const void *samples, const void *coefficients)
{
    if (!p->dense_bytes || samples == coefficients) return TSR_OK;
    const uintptr_t a = (uintptr_t)samples, b = (uintptr_t)coefficients, apart = a < b ? b - a : a - b;
    if (apart < (uintptr_t)p->dense_bytes)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: arrays overlap: coefficients begin %llu bytes %s the samples, expected %lld or more",
                 (unsigned long long)apart, a < b ? "behind" : "before", (long long)p->dense_bytes);
    return TSR_OK;
}

static tsr_status transform(const tsr_wavelet_plan *p, void *samples, void *coefficients, void *workspace, int inverse)
{
    const void *own = workspace;
    if (!p) TSR_FAIL(TSR_ERROR_ARGUMENT, "plan is NULL");
    if (!samples || !coefficients) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: %s is NULL", samples ? "coefficients" : "samples");
    if (p->inplace != (samples == coefficients))
        TSR_FAIL(TSR_ERROR_ARGUMENT,
                 p->inplace ? "wavelet: two arrays for a plan in place, expected one" : "wavelet: one array for a plan that needs two");
    TSR_TRY(check_overlap(p, samples, coefficients));
    if (!p->levels) { /* every axis has length 1 */
        void *const memory[3] = { samples, coefficients, NULL };
        const tsr_wavelet_array a = array_of(p, &p->stage->whole, memory), b = array_of(p, &p->stage->band[0], memory);
        if (!p->inplace)
            TSR_TRY(p->context->backend->wavelet->copy(p->context->queue, tsr_dtype_size(p->dtype), p->size, inverse ? &b : &a, inverse ? &a : &b));
        return TSR_OK;
    }
    if (!own) TSR_TRY(tsr_device_allocate(p->context, (size_t)p->workspace_bytes, &workspace));
    tsr_status status = run_checked(p, samples, coefficients, workspace, inverse);
    if (!own) tsr_device_release(p->context, workspace, (size_t)p->workspace_bytes);
    return status == TSR_OK ? TSR_OK : tsr_frame_at(status, __func__, __FILE__, __LINE__);
}

static void *writable(const void *memory) /* what a backend only reads stands in the same fields as what it writes */
{
    void *p;
    memcpy(&p, &memory, sizeof p);
    return p;
}

tsr_status tsr_wavelet_forward(const tsr_wavelet_plan *plan, const void *samples, void *coefficients, void *workspace)
{
    return transform(plan, writable(samples), coefficients, workspace, 0);
}

tsr_status tsr_wavelet_inverse(const tsr_wavelet_plan *plan, const void *coefficients, void *samples, void *workspace)
{
    TSR_NEEDS(plan);
    return transform(plan, samples, writable(coefficients), workspace, 1);
}

tsr_status tsr_wavelet_rearrange(const tsr_wavelet_plan *from_plan, const void *from, const tsr_wavelet_plan *to_plan, void *to)
{
    TSR_NEEDS(from_plan, from, to_plan, to);
    if (from_plan->context != to_plan->context || from_plan->dtype != to_plan->dtype || from_plan->levels != to_plan->levels ||
        memcmp(from_plan->size, to_plan->size, sizeof to_plan->size))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: plans of different context, type, levels or extents, expected the same");
    if (from == to) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: coefficients rearranged into themselves, expected two arrays");
    const tsr_context *context = to_plan->context;
    int32_t n;
    uint32_t bits;
    for (int32_t band = 0; find_band(from_plan, band, &n, &bits); band++) {
        const tsr_wavelet_stage *s = &from_plan->stage[n], *t = &to_plan->stage[n];
        if (s->axes != t->axes) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: plans of different axes, expected the same");
        int64_t size[TSR_WAVELET_DIMENSIONS];
        for (int32_t a = 0; a < TSR_WAVELET_DIMENSIONS; a++) size[a] = band_size(s, bits, a);
        void *const from_memory[3] = { NULL, writable(from), NULL }, *const to_memory[3] = { NULL, to, NULL };
        tsr_wavelet_array source = array_of(from_plan, &s->band[bits], from_memory), target = array_of(to_plan, &t->band[bits], to_memory);
        if (band_elements(s, bits)) TSR_TRY(context->backend->wavelet->copy(context->queue, tsr_dtype_size(to_plan->dtype), size, &source, &target));
    }
    return TSR_OK;
}
