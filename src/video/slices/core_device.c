/* video/slices/core_device.c: what precedes the codes of sub-bands is read and written by the host. */
#include "video/slices/core_device.h"

#include <stdlib.h>

#include "video/slices/slice_flight.h"

int tsr_core_device_usable(const tsr_context *context, int variable)
{
    return variable && context->device.kind != TSR_DEVICE_CPU && context->backend->dirac->core && context->backend->dirac->slices;
}

void tsr_core_device_free(tsr_core_device *d)
{
    tsr_context *const context = d->context;
    if (!context) return;
    for (int c = 0; c < 3; c++) {
        const size_t bytes = (size_t)d->elements[c] * sizeof(int32_t);
        tsr_device_release(context, d->quantised[c], d->quantised[c] ? bytes : 0);
        tsr_device_release(context, d->decoded[c], d->decoded[c] ? bytes : 0);
    }
    tsr_device_release(context, d->bands, d->bands ? TSR_CORE_BANDS * sizeof *d->bands : 0);
    tsr_device_release(context, d->failed, d->failed ? sizeof *d->failed : 0);
    tsr_device_release(context, d->bytes, d->bytes ? (size_t)d->room : 0);
    tsr_device_release(context, d->scale, d->scale ? (TSR_QUANTISER_MOST + 1) * sizeof *d->scale : 0);
    tsr_device_release(context, d->row, d->row ? (size_t)d->rows * sizeof *d->row : 0);
    *d = (tsr_core_device){ 0 };
}

static tsr_status begin(tsr_core_device *d, tsr_context *context)
{
    d->context = context;
    if (!d->bands) TSR_TRY(tsr_device_allocate(context, TSR_CORE_BANDS * sizeof *d->bands, (void **)&d->bands));
    if (!d->failed) TSR_TRY(tsr_device_allocate(context, sizeof *d->failed, (void **)&d->failed));
    return TSR_OK;
}

static tsr_status room_for(tsr_core_device *d, int64_t bytes)
{
    if (bytes <= d->room) return TSR_OK;
    tsr_device_release(d->context, d->bytes, d->bytes ? (size_t)d->room : 0);
    d->bytes = NULL;
    d->room = 0;
    const int64_t room = bytes + bytes / 4 + 64;
    TSR_TRY(tsr_device_allocate(d->context, (size_t)room, (void **)&d->bytes));
    d->room = room;
    return TSR_OK;
}

/* Bands of all components in the order of the stream. */
static int32_t list_bands(const tsr_dirac_transform *t, const tsr_dirac_layout *const layout[3], int inter, tsr_core_band list[TSR_CORE_BANDS])
{
    int32_t count = 0;
    for (int c = 0; c < 3; c++)
        for (int level = 0; level <= t->depth; level++)
            for (int band = level > 0; band < tsr_dirac_bands(t, level); band++) {
                const tsr_dirac_band *b = &layout[c]->band[level][band];
                list[count++] = (tsr_core_band){ .offset = b->offset,
                                                 .component = c,
                                                 .width = b->width,
                                                 .height = b->height,
                                                 .blocks = { t->codeblocks[level][0], t->codeblocks[level][1] },
                                                 .predicted = !level && !inter };
            }
    return count;
}

/* ---- decoding ------------------------------------------------------------------------------------------------------------------------------ */

static tsr_status undo_predictions(tsr_core_device *d, const tsr_dirac_core *core, int32_t *const coefficients[3])
{
    for (int c = 0; c < 3 && !core->inter; c++) {
        const tsr_dirac_band *b = &core->layout[c]->band[0][0];
        const tsr_slices_predict_job job = { .coefficients = coefficients[c],
                                             .offset = b->offset,
                                             .stride = core->layout[c]->stride,
                                             .width = b->width,
                                             .height = b->height,
                                             .pictures = 1 };
        TSR_TRY(d->context->backend->dirac->slices->predict(d->context->queue, &job));
    }
    return TSR_OK;
}

/* Where the data of each band lies behind `bits`. */
static int32_t find_data(const tsr_dirac_core *core, tsr_bits *bits, const uint8_t *first, tsr_core_band list[TSR_CORE_BANDS],
                         tsr_dirac_core_damage *damage)
{
    tsr_dirac_coded_band coded[3][TSR_DIRAC_LEVELS + 1][4] = { { { { 0 } } } };
    const int32_t count = list_bands(core->transform, core->layout, core->inter, list);
    int32_t k = 0;
    tsr_dirac_core_find(core->transform, bits, coded, damage);
    for (int c = 0; c < 3; c++)
        for (int level = 0; level <= core->transform->depth; level++)
            for (int band = level > 0; band < tsr_dirac_bands(core->transform, level); band++, k++) {
                const tsr_dirac_coded_band *own = &coded[c][level][band];
                list[k].size = own->size;
                list[k].index = own->index;
                if (own->size) list[k].data = own->data - first;
            }
    return count;
}

tsr_status tsr_core_device_decode(tsr_core_device *d, tsr_context *context, const tsr_dirac_core *core, tsr_bits *bits,
                                  int32_t *const coefficients[3], tsr_dirac_core_damage *damage)
{
    const tsr_backend *backend = context->backend;
    const uint8_t *first = bits->data + bits->at / 8;
    const int64_t size = bits->end / 8 - bits->at / 8;
    tsr_core_band list[TSR_CORE_BANDS];
    uint32_t failed = 0;
    *damage = (tsr_dirac_core_damage){ 0 };
    TSR_TRY(begin(d, context));
    TSR_TRY(room_for(d, size + TSR_BITS_SLACK));
    const int32_t count = find_data(core, bits, first, list, damage);
    tsr_core_decode_job job = { .bytes = d->bytes,
                                .band = d->bands,
                                .bands = count,
                                .inter = core->inter,
                                .offsets = core->transform->codeblock_mode == 1,
                                .old_blocks = core->old_blocks,
                                .failed = d->failed };
    for (int c = 0; c < 3; c++) {
        job.coefficients[c] = coefficients[c];
        job.stride[c] = core->layout[c]->stride;
        TSR_TRY(backend->fill(context->queue, coefficients[c], 0, (size_t)tsr_dirac_layout_elements(core->layout[c]) * sizeof(int32_t)));
    }
    TSR_TRY(backend->upload(context->queue, d->bytes, first, (size_t)size));
    TSR_TRY(backend->upload(context->queue, d->bands, list, (size_t)count * sizeof *list));
    TSR_TRY(backend->fill(context->queue, d->failed, 0, sizeof *d->failed));
    TSR_TRY(backend->dirac->core->decode(context->queue, &job));
    if (job.offsets) TSR_TRY(backend->download(context->queue, &failed, d->failed, sizeof failed));
    damage->quantiser += (int32_t)failed;
    return undo_predictions(d, core, coefficients);
}

/* ---- coding -------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status make_coding(tsr_core_device *d, const tsr_dirac_core_writing *w, int64_t rows)
{
    uint64_t scale[TSR_QUANTISER_MOST + 1];
    if (d->scale) return TSR_OK;
    for (int c = 0; c < 3; c++) {
        d->elements[c] = tsr_dirac_layout_elements(w->layout[c]);
        TSR_TRY(tsr_device_allocate(d->context, (size_t)d->elements[c] * sizeof(int32_t), (void **)&d->quantised[c]));
        TSR_TRY(tsr_device_allocate(d->context, (size_t)d->elements[c] * sizeof(int32_t), (void **)&d->decoded[c]));
    }
    TSR_TRY(tsr_device_allocate(d->context, (size_t)rows * sizeof *d->row, (void **)&d->row));
    d->rows = rows;
    for (int32_t k = 0; k <= TSR_QUANTISER_MOST; k++) scale[k] = tsr_quantiser_scale(k);
    TSR_TRY(tsr_device_allocate(d->context, sizeof scale, (void **)&d->scale));
    return d->context->backend->upload(d->context->queue, d->scale, scale, sizeof scale);
}

/* The bytes of a band where the host's writing has them. */
static tsr_status keep_band(tsr_dirac_written *out, int64_t size, const uint8_t *from)
{
    if (size > out->room) {
        uint8_t *larger = (uint8_t *)realloc(out->bytes, (size_t)(size + size / 2));
        if (!larger) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for %lld bytes of a sub-band", (long long)size);
        out->bytes = larger;
        out->room = size + size / 2;
    }
    if (size) memcpy(out->bytes, from, (size_t)size);
    out->size = size;
    return TSR_OK;
}

static tsr_status keep_bands(tsr_dirac_core_writing *w, const tsr_core_band *list, const uint8_t *bytes)
{
    for (int c = 0; c < 3; c++)
        for (int level = 0; level <= w->transform->depth; level++)
            for (int band = level > 0; band < tsr_dirac_bands(w->transform, level); band++, list++)
                TSR_TRY(keep_band(&w->band[c][level][band], list->size, bytes + list->data));
    return TSR_OK;
}

static tsr_status write_bands(tsr_core_device *d, tsr_dirac_core_writing *w, tsr_core_encode_job *job, tsr_core_band list[TSR_CORE_BANDS])
{
    const tsr_backend *backend = d->context->backend;
    int64_t all = 0;
    tsr_status status;
    TSR_TRY(backend->download(d->context->queue, list, d->bands, (size_t)job->bands * sizeof *list));
    for (int32_t k = 0; k < job->bands; k++) {
        list[k].data = all;
        all += list[k].size;
    }
    TSR_TRY(room_for(d, all + TSR_BITS_SLACK));
    job->bytes = d->bytes;
    TSR_TRY(backend->upload(d->context->queue, d->bands, list, (size_t)job->bands * sizeof *list));
    TSR_TRY(backend->fill(d->context->queue, d->bytes, 0, (size_t)(all + TSR_BITS_SLACK)));
    TSR_TRY(backend->dirac->core->write(d->context->queue, job));
    uint8_t *bytes = (uint8_t *)malloc((size_t)all + 1);
    if (!bytes) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for %lld bytes of sub-bands", (long long)all);
    TSR_TRY_GOTO(backend->download(d->context->queue, bytes, d->bytes, (size_t)all), done);
    status = keep_bands(w, list, bytes);
done:
    free(bytes);
    return status;
}

tsr_status tsr_core_device_write(tsr_core_device *d, tsr_context *context, tsr_dirac_core_writing *w, const int32_t *const coefficients[3])
{
    const tsr_backend *backend = context->backend;
    tsr_core_band list[TSR_CORE_BANDS];
    tsr_core_encode_job job = { .inter = w->inter };
    job.bands = list_bands(w->transform, w->layout, w->inter, list);
    for (int32_t k = 0, c = 0, level = 0, band = 0; k < job.bands; k++) {
        list[k].index = w->index[c][level][band];
        job.tallest = tsr_maxi(job.tallest, list[k].height);
        if (++band == tsr_dirac_bands(w->transform, level) && ++level) band = 1;
        if (level > w->transform->depth) c++, level = band = 0;
    }
    TSR_TRY(begin(d, context));
    TSR_TRY(make_coding(d, w, (int64_t)job.tallest * job.bands));
    job.band = d->bands;
    job.scale = d->scale;
    job.row = d->row;
    for (int c = 0; c < 3; c++) {
        job.coefficients[c] = coefficients[c];
        job.quantised[c] = d->quantised[c];
        job.decoded[c] = d->decoded[c];
        job.stride[c] = w->layout[c]->stride;
    }
    TSR_TRY(backend->upload(context->queue, d->bands, list, (size_t)job.bands * sizeof *list));
    TSR_TRY(backend->dirac->core->measure(context->queue, &job));
    return write_bands(d, w, &job, list);
}
