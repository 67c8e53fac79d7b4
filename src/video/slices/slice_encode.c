/* video/slices/slice_encode.c: pictures of slices that a device codes together. */
#include "video/slices/slice_encode.h"

static void enter(const tsr_slice_coder *c, int stage)
{
    if (c->stage) c->stage(c->user, stage);
}

static size_t approximation_bytes(const tsr_slice_coder *c) { return 2 * (size_t)(c->approximation_batch * c->ahead) * sizeof(int32_t); }

void tsr_slice_coder_free(tsr_slice_coder *c)
{
    tsr_context *const context = c->context;
    if (!context) return;
    tsr_picture_graph_free(&c->transforms);
    tsr_picture_graph_free(&c->plans);
    for (int k = 0; k < 2; k++) {
        const size_t bytes = (size_t)(c->elements[k] * (1 + k) * c->ahead) * sizeof(int32_t);
        tsr_dirac_synthesis_free(&c->many[k]);
        tsr_dirac_synthesis_free(&c->one[k]);
        tsr_device_release(context, c->samples[k], c->samples[k] ? bytes : 0);
        tsr_device_release(context, c->coefficients[k], c->coefficients[k] ? bytes : 0);
    }
    tsr_device_release(context, c->workspace, c->workspace ? (size_t)c->workspace_bytes : 0);
    tsr_device_release(context, c->scale, c->scale ? (TSR_QUANTISER_MOST + 1) * sizeof(uint64_t) : 0);
    tsr_device_release(context, c->plan, c->plan ? (size_t)(c->slices * c->ahead) * sizeof *c->plan : 0);
    tsr_device_release(context, c->total, c->total ? sizeof c->totals : 0);
    tsr_device_release(context, c->bytes, c->bytes ? (size_t)(c->room * c->ahead) : 0);
    tsr_device_release(context, c->approximation, c->approximation ? approximation_bytes(c) : 0);
    *c = (tsr_slice_coder){ .stage = c->stage, .user = c->user };
}

static tsr_status make_memory(tsr_slice_coder *c)
{
    uint64_t scale[TSR_QUANTISER_MOST + 1];
    for (int k = 0; k < 2; k++) {
        c->elements[k] = tsr_dirac_layout_elements(&c->layout[k]);
        const size_t bytes = (size_t)(c->elements[k] * (1 + k) * c->ahead) * sizeof(int32_t);
        TSR_TRY(tsr_device_allocate(c->context, bytes, (void **)&c->samples[k]));
        TSR_TRY(tsr_device_allocate(c->context, bytes, (void **)&c->coefficients[k]));
        TSR_TRY(tsr_dirac_synthesis_make_many(c->context, &c->transform, &c->layout[k], TSR_I32, 0, (1 + k) * c->ahead, &c->many[k]));
        TSR_TRY(tsr_dirac_synthesis_make_many(c->context, &c->transform, &c->layout[k], TSR_I32, 0, 1 + k, &c->one[k]));
        c->workspace_bytes = tsr_max64(c->workspace_bytes, tsr_max64(c->many[k].workspace_bytes, c->one[k].workspace_bytes));
    }
    TSR_TRY(tsr_device_allocate(c->context, (size_t)c->workspace_bytes, &c->workspace));
    TSR_TRY(tsr_device_allocate(c->context, sizeof scale, (void **)&c->scale));
    TSR_TRY(tsr_device_allocate(c->context, (size_t)(c->slices * c->ahead) * sizeof *c->plan, (void **)&c->plan));
    TSR_TRY(tsr_device_allocate(c->context, sizeof c->totals, (void **)&c->total));
    TSR_TRY(tsr_device_allocate(c->context, (size_t)(c->room * c->ahead), (void **)&c->bytes));
    if (!c->transform.high_quality) TSR_TRY(tsr_device_allocate(c->context, approximation_bytes(c), (void **)&c->approximation));
    for (int32_t k = 0; k <= TSR_QUANTISER_MOST; k++) scale[k] = tsr_quantiser_scale(k);
    return c->context->backend->upload(c->context->queue, c->scale, scale, sizeof scale);
}

tsr_status tsr_slice_coder_make(tsr_slice_coder *c, tsr_context *context, int32_t ahead, const tsr_dirac_transform *t,
                                const tsr_dirac_layout layout[3], int64_t expected, int *usable)
{
    *c = (tsr_slice_coder){ .context = context,
                            .ahead = ahead,
                            .transform = *t,
                            .slices = (int64_t)t->slices_x * t->slices_y,
                            .room = (expected + 64 + 255) & ~(int64_t)255,
                            .stage = c->stage,
                            .user = c->user };
    memcpy(c->layout, layout, sizeof c->layout);
    for (int k = 0; k < 3; k++) c->approximation_batch += (int64_t)layout[k].band[0][0].width * layout[k].band[0][0].height;
    *usable = context->backend->dirac->slices && expected <= TSR_SLICE_BYTES && tsr_slice_shape_make(t, layout, &c->shape);
    if (!*usable) {
        c->context = NULL;
        return TSR_OK;
    }
    const tsr_status status = make_memory(c);
    if (status != TSR_OK) tsr_slice_coder_free(c);
    return status;
}

tsr_status tsr_slice_coder_add(tsr_slice_coder *c, const tsr_dirac_load_job load[3])
{
    tsr_slices_load_job job;
    enter(c, TSR_DIRAC_COMBINE);
    for (int k = 0; k < 3; k++) {
        const int kind = k > 0;
        const tsr_dirac_layout *l = &c->layout[k];
        tsr_dirac_load_job *one = &job.component[k];
        *one = load[k];
        one->samples = c->samples[kind] + (c->count * (1 + kind) + (k == 2)) * c->elements[kind];
        one->stride = l->stride;
        one->width = l->width;
        one->height = l->height;
        one->padded_width = l->stride;
        one->padded_height = l->padded_height;
    }
    TSR_TRY(c->context->backend->dirac->slices->load(c->context->queue, &job));
    enter(c, -1);
    c->count++;
    return TSR_OK;
}

static tsr_status transform(void *user)
{
    tsr_slice_coder *c = (tsr_slice_coder *)user;
    enter(c, TSR_DIRAC_WAVELET_TRANSFORM);
    for (int kind = 0; kind < 2; kind++) {
        if (c->count == c->ahead) {
            TSR_TRY(tsr_dirac_analysis_run(&c->many[kind], c->samples[kind], c->coefficients[kind], c->workspace));
            continue;
        }
        for (int32_t p = 0; p < c->count; p++) {
            const int64_t at = p * (1 + kind) * c->elements[kind];
            TSR_TRY(tsr_dirac_analysis_run(&c->one[kind], c->samples[kind] + at, c->coefficients[kind] + at, c->workspace));
        }
    }
    enter(c, -1);
    return TSR_OK;
}

tsr_status tsr_slice_coder_transform(tsr_slice_coder *c)
{
    const int64_t key = c->count;
    return c->stage ? transform(c) : tsr_picture_graph_run(&c->transforms, c->context, &key, 1, transform, c);
}

static tsr_status more_room(tsr_slice_coder *c, int64_t bytes)
{
    tsr_device_release(c->context, c->bytes, (size_t)(c->room * c->ahead));
    c->bytes = NULL;
    c->room = (bytes + bytes / 4 + 255) & ~(int64_t)255;
    return tsr_device_allocate(c->context, (size_t)(c->room * c->ahead), (void **)&c->bytes);
}

/* Plans of the pictures that wait, and with `write` their bytes. */
typedef struct planning {
    tsr_slice_coder *coder;
    tsr_slices_encode_job job;
    int write;
} planning;

static tsr_status plan_and_write(void *user)
{
    const planning *p = (const planning *)user;
    const tsr_slice_ops *ops = p->coder->context->backend->dirac->slices;
    TSR_TRY(ops->plan(p->coder->context->queue, &p->job));
    return p->write ? ops->write(p->coder->context->queue, &p->job) : TSR_OK;
}

tsr_status tsr_slice_coder_plan(tsr_slice_coder *c, int32_t quantiser, int write)
{
    const tsr_backend *backend = c->context->backend;
    const tsr_dirac_transform *t = &c->transform;
    int64_t most = 0;
    planning p = { .coder = c, .write = write };
    p.job = (tsr_slices_encode_job){ .shape = c->shape,
                                     .coefficients = { c->coefficients[0], c->coefficients[1], c->coefficients[1] + c->elements[1] },
                                     .batch = { c->elements[0], 2 * c->elements[1], 2 * c->elements[1] },
                                     .approximation_batch = c->approximation_batch,
                                     .pictures = c->count,
                                     .compatible = c->compatible,
                                     .quantiser = quantiser,
                                     .prefix = t->prefix,
                                     .scaler = t->scaler,
                                     .numerator = t->numerator,
                                     .denominator = t->denominator,
                                     .scale = c->scale,
                                     .plan = c->plan,
                                     .total = c->total,
                                     .bytes = c->bytes,
                                     .room = c->room };
    for (int k = 0, at = 0; k < 3 && c->approximation; k++) {
        p.job.wanted[k] = c->approximation + at;
        p.job.decoded[k] = p.job.wanted[k] + c->approximation_batch * c->ahead;
        at += c->layout[k].band[0][0].width * c->layout[k].band[0][0].height;
    }
    enter(c, TSR_DIRAC_RESIDUAL_DECODE);
    const int64_t key[] = { c->count,     quantiser,      write,        (int64_t)(uintptr_t)c->bytes, c->room, t->prefix, t->scaler,
                            t->numerator, t->denominator, c->compatible };
    if (c->stage) TSR_TRY(plan_and_write(&p));
    else TSR_TRY(tsr_picture_graph_run(&c->plans, c->context, key, (int32_t)(sizeof key / sizeof *key), plan_and_write, &p));
    enter(c, -1);
    TSR_TRY(backend->download(c->context->queue, c->totals, c->total, (size_t)c->count * sizeof *c->totals));
    for (int32_t k = 0; k < c->count; k++) {
        if (c->totals[k].overfull) return tsr_dirac_slices_overfull(t, (int64_t)c->totals[k].overfull);
        most = tsr_max64(most, c->totals[k].bytes);
    }
    if (!write || most <= c->room) return TSR_OK;
    TSR_TRY(more_room(c, most));
    p.job.bytes = c->bytes;
    p.job.room = c->room;
    return backend->dirac->slices->write(c->context->queue, &p.job);
}

tsr_status tsr_slice_coder_take(tsr_slice_coder *c, int32_t k, void *bytes, tsr_dirac_slice_plan *plan)
{
    const tsr_backend *backend = c->context->backend;
    if (plan) TSR_TRY(backend->download(c->context->queue, plan, c->plan + k * c->slices, (size_t)c->slices * sizeof *plan));
    return backend->download(c->context->queue, bytes, c->bytes + k * c->room, (size_t)c->totals[k].bytes);
}
