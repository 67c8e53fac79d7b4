/* video/slices/core_ahead.c: what a device needs to decode arithmetic codes of several pictures. */
#include "video/slices/core_ahead.h"

#include <stdlib.h>

#include "video/dirac/arithmetic.h"

int tsr_core_ahead_usable(const tsr_context *context)
{
    return context->device.kind != TSR_DEVICE_CPU && context->backend->dirac->core && context->backend->dirac->core->arithmetic;
}

static size_t list_bytes(const tsr_core_ahead *a) { return (size_t)a->room * TSR_CORE_BANDS * sizeof *a->list; }
static size_t coefficient_bytes(const tsr_core_ahead *a, int32_t pictures) { return (size_t)(a->elements * pictures) * sizeof *a->coefficients; }

void tsr_core_ahead_free(tsr_core_ahead *a)
{
    tsr_context *const context = a->context;
    if (!context) return;
    tsr_device_release(context, a->bands, a->bands ? list_bytes(a) : 0);
    tsr_device_release(context, a->coefficients, a->coefficients ? coefficient_bytes(a, a->room) : 0);
    tsr_device_release(context, a->bytes, a->bytes ? (size_t)a->bytes_room : 0);
    tsr_device_release(context, a->failed, a->failed ? (size_t)a->room * sizeof *a->failed : 0);
    tsr_device_release(context, a->step, a->step ? sizeof tsr_arithmetic_step : 0);
    free(a->picture);
    free(a->list);
    *a = (tsr_core_ahead){ 0 };
}

static tsr_status make_memory(tsr_core_ahead *a)
{
    a->picture = (tsr_core_ahead_picture *)malloc((size_t)a->room * sizeof *a->picture);
    a->list = (tsr_core_arithmetic_band *)malloc(list_bytes(a));
    if (!a->picture || !a->list) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for the sub-bands of %d pictures", a->room);
    TSR_TRY(tsr_device_allocate(a->context, list_bytes(a), (void **)&a->bands));
    TSR_TRY(tsr_device_allocate(a->context, coefficient_bytes(a, a->room), (void **)&a->coefficients));
    TSR_TRY(tsr_device_allocate(a->context, (size_t)a->room * sizeof *a->failed, (void **)&a->failed));
    TSR_TRY(tsr_device_allocate(a->context, sizeof tsr_arithmetic_step, (void **)&a->step));
    return a->context->backend->upload(a->context->queue, a->step, tsr_arithmetic_step, sizeof tsr_arithmetic_step);
}

static int same_layout(const tsr_core_ahead *a, const tsr_dirac_layout *const layout[3])
{
    for (int c = 0; c < 3; c++)
        if (memcmp(&a->layout[c], layout[c], sizeof a->layout[c]) != 0) return 0;
    return 1;
}

tsr_status tsr_core_ahead_begin(tsr_core_ahead *a, tsr_context *context, const tsr_dirac_layout *const layout[3], int32_t pictures)
{
    a->count = 0;
    if (a->context && a->room == pictures && same_layout(a, layout)) return TSR_OK;
    tsr_core_ahead_free(a);
    a->context = context;
    a->room = pictures;
    for (int c = 0; c < 3; c++) {
        a->layout[c] = *layout[c];
        a->elements += tsr_dirac_layout_elements(layout[c]);
    }
    const tsr_status status = make_memory(a);
    if (status != TSR_OK) tsr_core_ahead_free(a);
    return status;
}

void tsr_core_ahead_add(tsr_core_ahead *a, const tsr_dirac_core *core, const tsr_bits *bits, int64_t offset)
{
    tsr_core_ahead_picture *p = &a->picture[a->count++];
    tsr_bits own = *bits;
    *p = (tsr_core_ahead_picture){ .offset = offset,
                                   .inter = core->inter,
                                   .old_blocks = core->old_blocks,
                                   .transform = *core->transform,
                                   .bytes = bits->data + bits->at / 8,
                                   .size = tsr_max64(bits->end / 8 - bits->at / 8, 0) };
    tsr_dirac_core_find(core->transform, &own, p->band, &p->damage);
}

/* The band of picture k, whose bytes begin at `data` of the job's. */
static tsr_core_arithmetic_band band_of(const tsr_core_ahead *a, int32_t k, int64_t data, int32_t c, int32_t level, int32_t orientation)
{
    const tsr_core_ahead_picture *p = &a->picture[k];
    const tsr_dirac_coded_band *coded = &p->band[c][level][orientation];
    const tsr_dirac_band *b = &a->layout[c].band[level][orientation];
    const int32_t nx = p->transform.codeblocks[level][0], ny = p->transform.codeblocks[level][1];
    int32_t *first = a->coefficients + k * a->elements;
    for (int32_t i = 0; i < c; i++) first += tsr_dirac_layout_elements(&a->layout[i]);
    return (tsr_core_arithmetic_band){ .data = data + (coded->data - p->bytes),
                                       .size = coded->size,
                                       .to = first + b->offset,
                                       .parent = level >= 2 ? first + a->layout[c].band[level - 1][orientation].offset : NULL,
                                       .stride = a->layout[c].stride,
                                       .width = b->width,
                                       .height = b->height,
                                       .index = coded->index,
                                       .blocks = { nx, ny },
                                       .orientation = orientation,
                                       .inter = p->inter,
                                       .picture = k,
                                       .offsets = p->transform.codeblock_mode == 1 && !(p->old_blocks && nx * ny == 1) };
}

/* Level by level. Sub-bands without data are left out: they are 0. */
static void list_bands(tsr_core_ahead *a, const int64_t data[TSR_CORE_AHEAD], tsr_core_arithmetic_job *job)
{
    int32_t count = 0;
    for (int32_t k = 0; k < a->count; k++) job->levels = tsr_maxi(job->levels, a->picture[k].transform.depth + 1);
    for (int32_t level = 0; level < job->levels; level++) {
        job->first[level] = count;
        for (int32_t k = 0; k < a->count; k++)
            for (int32_t c = 0; c < 3; c++)
                for (int32_t band = level > 0; band < (level ? 4 : 1); band++)
                    if (a->picture[k].band[c][level][band].size) a->list[count++] = band_of(a, k, data[k], c, level, band);
    }
    job->first[job->levels] = count;
}

static tsr_status upload_bytes(tsr_core_ahead *a, int64_t data[TSR_CORE_AHEAD])
{
    int64_t all = 0;
    for (int32_t k = 0; k < a->count; k++) {
        data[k] = all;
        all += (a->picture[k].size + TSR_BITS_SLACK + 3) & ~(int64_t)3;
    }
    if (all > a->bytes_room) {
        tsr_device_release(a->context, a->bytes, a->bytes ? (size_t)a->bytes_room : 0);
        a->bytes = NULL;
        a->bytes_room = 0;
        TSR_TRY(tsr_device_allocate(a->context, (size_t)(all + all / 4), (void **)&a->bytes));
        a->bytes_room = all + all / 4;
    }
    for (int32_t k = 0; k < a->count; k++)
        TSR_TRY(a->context->backend->upload(a->context->queue, a->bytes + data[k], a->picture[k].bytes, (size_t)a->picture[k].size));
    return TSR_OK;
}

/* What the device found to be wrong. */
static tsr_status take_failures(tsr_core_ahead *a)
{
    uint32_t failed[TSR_CORE_AHEAD];
    int may_fail = 0;
    for (int32_t k = 0; k < a->count; k++) may_fail |= a->picture[k].transform.codeblock_mode == 1;
    if (!may_fail) return TSR_OK;
    TSR_TRY(a->context->backend->download(a->context->queue, failed, a->failed, (size_t)a->count * sizeof *failed));
    for (int32_t k = 0; k < a->count; k++) a->picture[k].damage.quantiser += (int32_t)failed[k];
    return TSR_OK;
}

static tsr_status run(tsr_core_ahead *a)
{
    const tsr_backend *backend = a->context->backend;
    tsr_queue *queue = a->context->queue;
    int64_t data[TSR_CORE_AHEAD];
    TSR_TRY(upload_bytes(a, data));
    tsr_core_arithmetic_job job = { .bytes = a->bytes, .band = a->bands, .step = a->step, .failed = a->failed };
    list_bands(a, data, &job);
    TSR_TRY(backend->upload(queue, a->bands, a->list, (size_t)job.first[job.levels] * sizeof *a->list));
    TSR_TRY(backend->fill(queue, a->coefficients, 0, coefficient_bytes(a, a->count)));
    TSR_TRY(backend->fill(queue, a->failed, 0, (size_t)a->count * sizeof *a->failed));
    TSR_TRY(backend->dirac->core->arithmetic(queue, &job));
    return take_failures(a);
}

tsr_status tsr_core_ahead_run(tsr_core_ahead *a)
{
    const tsr_status status = run(a);
    if (status != TSR_OK) a->count = 0;
    return status;
}

tsr_status tsr_core_ahead_take(const tsr_core_ahead *a, const tsr_dirac_core *core, int64_t offset, int32_t *const coefficients[3],
                               tsr_dirac_core_damage *damage, int *found)
{
    int32_t k = 0;
    while (k < a->count && a->picture[k].offset != offset) k++;
    *found = k < a->count && a->picture[k].inter == core->inter && a->picture[k].old_blocks == core->old_blocks && same_layout(a, core->layout);
    if (!*found) return TSR_OK;
    const int32_t *from = a->coefficients + k * a->elements;
    for (int c = 0; c < 3; c++) {
        const int64_t elements = tsr_dirac_layout_elements(&a->layout[c]);
        TSR_TRY(a->context->backend->copy(a->context->queue, coefficients[c], from, (size_t)elements * sizeof *from));
        from += elements;
    }
    *damage = a->picture[k].damage;
    return TSR_OK;
}
