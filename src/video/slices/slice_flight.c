/* video/slices/slice_flight.c: pictures of slices that a device decodes together. */
#include "video/slices/slice_flight.h"

#include <stdlib.h>

#include "video/dirac/slices.h"

void tsr_slice_flight_free(tsr_slice_flight *f)
{
    if (!f->made) return;
    tsr_picture_graph_free(&f->graph);
    tsr_context *const context = f->context;
    for (int k = 0; k < 2; k++) {
        tsr_dirac_synthesis_free(&f->many[k]);
        tsr_dirac_synthesis_free(&f->one[k]);
        tsr_device_release(context, f->coefficients[k], f->coefficients[k] ? (size_t)(f->elements[k] * (1 + k) * f->ahead) * sizeof(int32_t) : 0);
    }
    tsr_device_release(context, f->samples, f->samples ? (size_t)f->samples_count * sizeof(int32_t) : 0);
    tsr_device_release(context, f->workspace, f->workspace ? (size_t)f->workspace_bytes : 0);
    tsr_device_release(context, f->bytes, (size_t)f->room);
    tsr_device_release(context, f->starts_on_device, f->starts_on_device ? (size_t)((f->slices + 1) * f->ahead) * sizeof(uint32_t) : 0);
    tsr_device_release(context, f->pictures_on_device, f->pictures_on_device ? sizeof f->picture : 0);
    tsr_device_release(context, f->quantiser, f->quantiser ? (TSR_QUANTISER_MOST + 1) * sizeof(tsr_quantiser) : 0);
    free(f->starts);
    *f = (tsr_slice_flight){ .stage = f->stage, .user = f->user };
}

int tsr_slice_flight_fits(const tsr_slice_flight *f, const tsr_dirac_transform *t, const tsr_dirac_layout layout[3])
{
    const tsr_dirac_transform *o = &f->transform;
    return f->made && !memcmp(layout, f->layout, sizeof f->layout) && t->wavelet == o->wavelet && t->wavelet_horizontal == o->wavelet_horizontal &&
           t->depth == o->depth && t->horizontal == o->horizontal && t->slices_x == o->slices_x && t->slices_y == o->slices_y &&
           t->high_quality == o->high_quality && !memcmp(t->matrix, o->matrix, sizeof t->matrix);
}

static tsr_status make_memory(tsr_slice_flight *f)
{
    const size_t count = (size_t)f->ahead;
    tsr_quantiser quantiser[TSR_QUANTISER_MOST + 1];
    for (int k = 0; k < 2; k++) {
        f->elements[k] = tsr_dirac_layout_elements(&f->layout[k]);
        TSR_TRY(tsr_device_allocate(f->context, (size_t)f->elements[k] * (size_t)(1 + k) * count * sizeof(int32_t), (void **)&f->coefficients[k]));
        TSR_TRY(tsr_dirac_synthesis_make_many(f->context, &f->transform, &f->layout[k], TSR_I32, 0, (1 + k) * f->ahead, &f->many[k]));
        TSR_TRY(tsr_dirac_synthesis_make_many(f->context, &f->transform, &f->layout[k], TSR_I32, 0, 1 + k, &f->one[k]));
        f->workspace_bytes = tsr_max64(f->workspace_bytes, tsr_max64(f->many[k].workspace_bytes, f->one[k].workspace_bytes));
    }
    f->samples_count = tsr_max64(f->elements[0], 2 * f->elements[1]) * f->ahead;
    TSR_TRY(tsr_device_allocate(f->context, (size_t)f->samples_count * sizeof(int32_t), (void **)&f->samples));
    TSR_TRY(tsr_device_allocate(f->context, (size_t)f->workspace_bytes, &f->workspace));
    TSR_TRY(tsr_device_allocate(f->context, (size_t)(f->slices + 1) * count * sizeof(uint32_t), (void **)&f->starts_on_device));
    TSR_TRY(tsr_device_allocate(f->context, sizeof f->picture, (void **)&f->pictures_on_device));
    TSR_TRY(tsr_device_allocate(f->context, sizeof quantiser, (void **)&f->quantiser));
    for (int32_t k = 0; k <= TSR_QUANTISER_MOST; k++) quantiser[k] = tsr_quantiser_make(k, 0);
    TSR_TRY(f->context->backend->upload(f->context->queue, f->quantiser, quantiser, sizeof quantiser));
    f->starts = (uint32_t *)malloc((size_t)(f->slices + 1) * count * sizeof(uint32_t));
    if (!f->starts) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for %lld slices", (long long)f->slices);
    return TSR_OK;
}

tsr_status tsr_slice_flight_make(tsr_slice_flight *f, tsr_context *context, int32_t ahead, const tsr_dirac_transform *t,
                                 const tsr_dirac_layout layout[3], int *usable)
{
    const tsr_dirac_ops *ops = context->backend->dirac;
    *usable = 1;
    if (tsr_slice_flight_fits(f, t, layout)) return TSR_OK;
    tsr_slice_flight_free(f);
    *usable = ops->slices && tsr_slice_shape_make(t, layout, &f->shape);
    if (!*usable) return TSR_OK;
    f->made = 1;
    f->context = context;
    f->ahead = ahead;
    f->transform = *t;
    f->slices = (int64_t)t->slices_x * t->slices_y;
    memcpy(f->layout, layout, sizeof f->layout);
    const tsr_status status = make_memory(f);
    if (status != TSR_OK) tsr_slice_flight_free(f);
    return status;
}

/* ---- pictures ------------------------------------------------------------------------------------------------------------------------------ */

static tsr_status room_for(tsr_slice_flight *f, int64_t bytes)
{
    if (f->used + bytes <= f->room) return TSR_OK;
    if (f->count) TSR_TRY(tsr_slice_flight_run(f)); /* they would be left behind */
    if (bytes <= f->room) return TSR_OK;
    tsr_device_release(f->context, f->bytes, (size_t)f->room);
    f->bytes = NULL;
    f->room = 0;
    const int64_t room = (bytes + bytes / 4) * f->ahead;
    TSR_TRY(tsr_device_allocate(f->context, (size_t)room, (void **)&f->bytes));
    f->room = room;
    return TSR_OK;
}

tsr_status tsr_slice_flight_add(tsr_slice_flight *f, const tsr_dirac_transform *t, const tsr_bits *bits, const tsr_slice_target *target,
                                int64_t *whole)
{
    const uint8_t *data = bits->data + bits->at / 8; /* slices begin at a byte */
    const int64_t size = bits->end / 8 - bits->at / 8, taken = (size + 4 + 255) & ~(int64_t)255;
    TSR_TRY(room_for(f, taken));
    if (f->count == f->ahead) TSR_TRY(tsr_slice_flight_run(f));
    tsr_slice_picture *p = &f->picture[f->count];
    *p = (tsr_slice_picture){ .data = f->used, .end = size, .prefix = t->prefix, .scaler = t->scaler };
    memcpy(p->plane, target->plane, sizeof p->plane);
    TSR_TRY(f->context->backend->upload(f->context->queue, f->bytes + f->used, data, (size_t)size));
    const tsr_bits own = { data, 0, 8 * size };
    const int64_t at = f->count * (f->slices + 1);
    tsr_dirac_slices_find(t, &own, 0, f->slices, f->starts + at, whole);
    TSR_TRY(f->context->backend->upload(f->context->queue, f->starts_on_device + at, f->starts + at, (size_t)(f->slices + 1) * sizeof(uint32_t)));
    f->target[f->count++] = *target;
    f->used += taken;
    f->shape.long_length = target->long_length;
    return TSR_OK;
}

static void enter(const tsr_slice_flight *f, int stage)
{
    if (f->stage) f->stage(f->user, stage);
}

/* Slices of all pictures to coefficients. */
static tsr_status decode(tsr_slice_flight *f)
{
    const tsr_backend *backend = f->context->backend;
    tsr_slices_decode_job job = { .shape = f->shape,
                                  .bytes = f->bytes,
                                  .picture = f->pictures_on_device,
                                  .starts = f->starts_on_device,
                                  .quantiser = f->quantiser,
                                  .coefficients = { f->coefficients[0], f->coefficients[1], f->coefficients[1] + f->elements[1] },
                                  .batch = { f->elements[0], 2 * f->elements[1], 2 * f->elements[1] },
                                  .pictures = f->count };
    TSR_TRY(backend->dirac->slices->decode(f->context->queue, &job));
    for (int k = 0; k < 2 && !f->shape.high_quality; k++) {
        const tsr_dirac_band *b = &f->layout[k].band[0][0];
        const tsr_slices_predict_job predict = { .coefficients = f->coefficients[k],
                                                 .offset = b->offset,
                                                 .batch = f->elements[k],
                                                 .stride = f->layout[k].stride,
                                                 .width = b->width,
                                                 .height = b->height,
                                                 .pictures = f->count * (1 + k) };
        TSR_TRY(backend->dirac->slices->predict(f->context->queue, &predict));
    }
    return TSR_OK;
}

static tsr_status synthesise(tsr_slice_flight *f, int kind)
{
    if (f->count == f->ahead) return tsr_dirac_synthesis_run(&f->many[kind], f->coefficients[kind], f->samples, f->workspace);
    for (int32_t p = 0; p < f->count; p++) {
        const int64_t at = p * (1 + kind) * f->elements[kind];
        TSR_TRY(tsr_dirac_synthesis_run(&f->one[kind], f->coefficients[kind] + at, f->samples + at, f->workspace));
    }
    return TSR_OK;
}

/* Luma, or both of chroma, which are alike. */
static tsr_status store(tsr_slice_flight *f, int kind)
{
    const int c = kind; /* the first */
    const tsr_slice_target *first = &f->target[0];
    const tsr_slices_store_job job = { .one = { .residue = f->samples,
                                                .stride = f->layout[c].stride,
                                                .plane_stride = first->plane_stride[c],
                                                .width = f->layout[c].width,
                                                .height = f->layout[c].height,
                                                .bytes = first->bytes,
                                                .depth = first->depth[kind] },
                                       .batch = (1 + kind) * f->elements[kind],
                                       .apart = f->elements[kind],
                                       .picture = f->pictures_on_device,
                                       .component = c,
                                       .components = 1 + kind,
                                       .pictures = f->count };
    return f->context->backend->dirac->slices->store(f->context->queue, &job);
}

static tsr_status launch(void *user)
{
    tsr_slice_flight *f = (tsr_slice_flight *)user;
    enter(f, TSR_DIRAC_RESIDUAL_DECODE);
    TSR_TRY(decode(f));
    for (int kind = 0; kind < 2; kind++) {
        enter(f, TSR_DIRAC_WAVELET_TRANSFORM);
        TSR_TRY(synthesise(f, kind));
        enter(f, TSR_DIRAC_COMBINE);
        TSR_TRY(store(f, kind));
    }
    enter(f, -1);
    return TSR_OK;
}

static tsr_status run(tsr_slice_flight *f)
{
    const tsr_slice_target *t = &f->target[0];
    const int64_t key[] = {
        f->count,    (int64_t)(uintptr_t)f->bytes, t->plane_stride[0], t->plane_stride[1], t->plane_stride[2], t->bytes, t->depth[0],
        t->depth[1], f->shape.long_length
    };
    enter(f, TSR_DIRAC_RESIDUAL_DECODE);
    TSR_TRY(f->context->backend->upload(f->context->queue, f->pictures_on_device, f->picture, (size_t)f->count * sizeof *f->picture));
    if (f->stage) return launch(f);
    return tsr_picture_graph_run(&f->graph, f->context, key, (int32_t)(sizeof key / sizeof *key), launch, f);
}

tsr_status tsr_slice_flight_run(tsr_slice_flight *f)
{
    if (!f->count) return TSR_OK;
    const tsr_status status = run(f);
    f->count = 0;
    f->used = 0;
    return status;
}
