/* video/dirac/pictures.c: slice-coded pictures, whole or in fragments. */
#include <stdlib.h>

#include "video/dirac/decoder.h"

/* ---- slices -------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status room_for_starts(tsr_dirac_decoder *d, int64_t count)
{
    if (count + 1 <= d->starts_room) return TSR_OK;
    int64_t *larger = (int64_t *)realloc(d->starts, (size_t)(count + 1) * sizeof *larger);
    if (!larger) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for %lld slices", (long long)count);
    d->starts = larger;
    d->starts_room = count + 1;
    return TSR_OK;
}

/* *narrow (in: may they be?): the coefficients are those of 16 bits. */
static tsr_status decode(tsr_dirac_decoder *d, tsr_bits *bits, int64_t first, int64_t count, int64_t *whole, int *narrow)
{
    const tsr_bits start = *bits;
    int fits = 1;
    tsr_dirac_residue *p = &d->residue;
    if (!*narrow || !p->narrow[0]) TSR_TRY(tsr_dirac_residue_whole(d));
    tsr_dirac_slices slices = { .transform = &p->transform, .threads = d->context->threads, .long_length = d->options.long_length };
    for (int c = 0; c < 3; c++) {
        slices.layout[c] = &p->layout[c];
        slices.coefficients[c] = p->coefficients[c];
        slices.narrow[c] = *narrow ? p->narrow[c] : NULL;
    }
    memset(p->empty, 0, sizeof p->empty);
    TSR_TRY(room_for_starts(d, count));
    TSR_TRY(d->context->backend->synchronize(d->context->queue)); /* coefficients of the picture before are still being read */
    *narrow = slices.narrow[0] != NULL;
    TSR_TRY(tsr_dirac_slices_decode(&slices, bits, first, count, d->starts, whole, &fits));
    if (fits) return TSR_OK;
    *narrow = 0;
    *bits = start;
    TSR_TRY(tsr_dirac_residue_whole(d));
    memset(slices.narrow, 0, sizeof slices.narrow);
    memcpy(slices.coefficients, p->coefficients, sizeof slices.coefficients);
    return tsr_dirac_slices_decode(&slices, bits, first, count, d->starts, whole, &fits);
}

static void predict_approximations(tsr_dirac_residue *p)
{
    if (p->transform.high_quality) return;
    for (int c = 0; c < 3; c++) tsr_dirac_predict_approximation(p->coefficients[c], &p->layout[c]);
}

static tsr_status store(tsr_dirac_decoder *d, uint32_t number, const tsr_dirac_data *data, int narrow)
{
    const tsr_dirac_target target = {
        .number = number, .offset = data->offset, .code = data->unit.code, .residue = narrow ? TSR_DIRAC_RESIDUE_NARROW : TSR_DIRAC_RESIDUE
    };
    return tsr_dirac_store_picture(d, &target);
}

/* The transform parameters at `bits`; *usable 0: damaged, the picture is left out. */
static tsr_status take_transform(tsr_dirac_decoder *d, const tsr_dirac_data *data, uint32_t number, tsr_bits *bits, int *usable)
{
    const int high_quality = (data->unit.code & 0x20) != 0;
    tsr_dirac_transform transform;
    *usable = 0;
    if (tsr_dirac_transform_read(bits, d->sequence.major_version, high_quality, &transform) != TSR_OK)
        return tsr_dirac_damage(d, data->offset, "picture %u: %s", number, tsr_error_message());
    tsr_bits_align(bits);
    d->transform = transform;
    *usable = 1;
    return TSR_OK;
}

/* Whole pictures on a device: their slices wait for those of others. *taken 0: they go through the host. */
static tsr_status board(tsr_dirac_decoder *d, uint32_t number, const tsr_dirac_data *data, const tsr_bits *bits, int *taken)
{
    const tsr_dirac_target target = { .number = number, .offset = data->offset, .code = data->unit.code };
    const tsr_dirac_transform *t = &d->transform;
    const int64_t count = (int64_t)t->slices_x * t->slices_y;
    tsr_dirac_frame *frame = NULL;
    tsr_dirac_layout layout[3];
    int64_t whole = 0, bytes = 0;
    *taken = 0;
    if (tsr_dirac_on_host(d) || !d->context->backend->dirac->slices) return TSR_OK;
    for (int c = 0; c < 3; c++) {
        int32_t width, height;
        tsr_dirac_component_size(&d->sequence, c, &width, &height);
        tsr_dirac_layout_make(t, width, height, &layout[c]);
        bytes += 2 * tsr_dirac_layout_elements(&layout[c]) * (int64_t)sizeof(int32_t) * d->options.ahead;
    }
    TSR_TRY(tsr_dirac_within_limit(d, bytes));
    if (!tsr_slice_flight_fits(&d->flight, t, layout)) TSR_TRY(tsr_dirac_land(d));
    TSR_TRY(tsr_slice_flight_make(&d->flight, d->context, d->options.ahead, t, layout, taken));
    if (!*taken) return TSR_OK;
    TSR_TRY(tsr_dirac_begin_picture(d, &target, &frame));
    const tsr_slice_target to = tsr_dirac_planes(d, &target, frame);
    const tsr_slice_target *first = &d->flight.target[0];
    if (d->flight.count && (memcmp(to.plane_stride, first->plane_stride, sizeof to.plane_stride) || memcmp(to.depth, first->depth, sizeof to.depth)))
        TSR_TRY(tsr_dirac_land(d));
    TSR_TRY(tsr_slice_flight_add(&d->flight, t, bits, &to, &whole));
    frame->in_flight = 1;
    if (d->has_digest) TSR_TRY(tsr_dirac_land(d));
    if (whole < count)
        TSR_TRY(tsr_dirac_damage(d, data->offset, "picture %u: %lld of %lld slices are missing or cut", number, (long long)(count - whole),
                                 (long long)count));
    TSR_TRY(tsr_dirac_check_digest(d, &target, frame));
    tsr_dirac_end_picture(d, &target, frame);
    return TSR_OK;
}

tsr_status tsr_dirac_decode_slices(tsr_dirac_decoder *d, const tsr_dirac_data *data)
{
    tsr_bits bits = { data->payload, 0, 8 * data->size };
    const uint32_t number = tsr_bits_take(&bits, 32);
    int usable = 0, narrow = (data->unit.code & 0x20) != 0; /* the approximation of low-delay pictures is predicted in 32 bits */
    int64_t whole = 0;
    if (tsr_bits_over(&bits))
        return tsr_dirac_damage(d, data->offset, "%s of %lld bytes: left out", tsr_dirac_code_name(data->unit.code), (long long)data->size);
    TSR_TRY(take_transform(d, data, number, &bits, &usable));
    if (!usable) return TSR_OK;
    const tsr_dirac_transform *t = &d->transform;
    const int64_t count = (int64_t)t->slices_x * t->slices_y;
    if (count > data->size)
        return tsr_dirac_damage(d, data->offset, "picture %u: %d x %d slices in %lld bytes: left out", number, t->slices_x, t->slices_y,
                                (long long)data->size);
    TSR_TRY(tsr_dirac_note_slices(d, &bits, 0, count));
    tsr_dirac_show_slices(d, number);
    int taken = 0;
    d->kind = 0;
    tsr_dirac_enter(d, TSR_DIRAC_RESIDUAL_DECODE);
    TSR_TRY(board(d, number, data, &bits, &taken));
    if (taken) {
        tsr_dirac_enter(d, -1);
        return TSR_OK;
    }
    TSR_TRY(tsr_dirac_residue_make(d, &d->transform));
    TSR_TRY(decode(d, &bits, 0, count, &whole, &narrow));
    if (whole < count)
        TSR_TRY(tsr_dirac_damage(d, data->offset, "picture %u: %lld of %lld slices are missing or cut", number, (long long)(count - whole),
                                 (long long)count));
    predict_approximations(&d->residue);
    return store(d, number, data, narrow);
}

/* ---- fragments ----------------------------------------------------------------------------------------------------------------------------- */

/* Where a device decodes slices, those of fragments are put behind one another until the picture is whole. */
static tsr_status gather(tsr_dirac_decoder *d, const tsr_bits *bits, int64_t first, int64_t count, int *taken)
{
    const tsr_bits own = { bits->data + bits->at / 8, 0, bits->end - bits->at };
    int64_t whole = 0;
    uint32_t *starts = (uint32_t *)malloc((size_t)(count + 1) * sizeof *starts);
    if (!starts) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for %lld slices", (long long)count);
    tsr_dirac_slices_find(&d->transform, &own, first, count, starts, &whole);
    const int64_t bytes = starts[count], wanted = d->gathered_size + bytes + TSR_BITS_SLACK;
    free(starts);
    *taken = whole == count;
    if (!*taken) return TSR_OK;
    if (wanted > d->gathered_room) {
        uint8_t *larger = (uint8_t *)realloc(d->gathered, (size_t)(2 * wanted));
        if (!larger) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for %lld bytes of slices", (long long)wanted);
        d->gathered = larger;
        d->gathered_room = 2 * wanted;
    }
    memcpy(d->gathered + d->gathered_size, own.data, (size_t)bytes);
    memset(d->gathered + d->gathered_size + bytes, 0, TSR_BITS_SLACK);
    d->gathered_size += bytes;
    return TSR_OK;
}

static tsr_status clear(tsr_dirac_decoder *d)
{
    TSR_TRY(tsr_dirac_residue_make(d, &d->transform));
    TSR_TRY(tsr_dirac_residue_whole(d));
    TSR_TRY(d->context->backend->synchronize(d->context->queue)); /* coefficients of the picture before are still being read */
    for (int c = 0; c < 3; c++) memset(d->residue.coefficients[c], 0, (size_t)d->residue.elements[c] * sizeof(int32_t));
    return TSR_OK;
}

/* From now on fragments go through the host, and so do those that wait. */
static tsr_status scatter(tsr_dirac_decoder *d)
{
    tsr_bits bits = { d->gathered, 0, 8 * d->gathered_size };
    int64_t whole = 0;
    int narrow = 0;
    if (!d->gathering) return TSR_OK;
    d->gathering = 0;
    TSR_TRY(clear(d));
    return d->fragment_slices ? decode(d, &bits, 0, d->fragment_slices, &whole, &narrow) : TSR_OK;
}

static tsr_status finish(tsr_dirac_decoder *d, const tsr_dirac_data *data)
{
    const tsr_bits bits = { d->gathered, 0, 8 * d->gathered_size };
    int taken = 0;
    if (d->fragment_slices) tsr_dirac_show_slices(d, d->fragment_number);
    if (d->gathering) TSR_TRY(board(d, d->fragment_number, data, &bits, &taken));
    if (!taken) {
        TSR_TRY(scatter(d));
        predict_approximations(&d->residue);
        TSR_TRY(store(d, d->fragment_number, data, 0));
    }
    d->collecting = d->has_digest = 0;
    return TSR_OK;
}

tsr_status tsr_dirac_finish_fragments(tsr_dirac_decoder *d, int64_t offset)
{
    if (!d->collecting) return TSR_OK;
    const tsr_dirac_transform *t = &d->transform;
    const int64_t count = (int64_t)t->slices_x * t->slices_y;
    TSR_TRY(tsr_dirac_damage(d, offset, "picture %u: fragments with %lld of %lld slices are missing", d->fragment_number,
                             (long long)(count - d->fragment_slices), (long long)count));
    const tsr_dirac_data data = { .unit = { .code = t->high_quality ? TSR_DIRAC_HIGH_QUALITY_FRAGMENT : TSR_DIRAC_LOW_DELAY_FRAGMENT },
                                  .offset = offset };
    TSR_TRY(scatter(d));
    return finish(d, &data);
}

static tsr_status begin_fragments(tsr_dirac_decoder *d, const tsr_dirac_data *data, uint32_t number, tsr_bits *bits)
{
    int usable = 0;
    TSR_TRY(take_transform(d, data, number, bits, &usable));
    if (!usable) return TSR_OK;
    d->gathering = !tsr_dirac_on_host(d) && d->context->backend->dirac->slices;
    if (!d->gathering) TSR_TRY(clear(d));
    d->collecting = 1;
    d->fragment_number = number;
    d->fragment_slices = d->gathered_size = 0;
    return TSR_OK;
}

tsr_status tsr_dirac_decode_fragment(tsr_dirac_decoder *d, const tsr_dirac_data *data)
{
    tsr_bits bits = { data->payload, 0, 8 * data->size };
    const uint32_t number = tsr_bits_take(&bits, 32);
    tsr_bits_take(&bits, 16); /* bytes of slices: the unit's length says it, too */
    const int64_t count = tsr_bits_take(&bits, 16);
    if (tsr_bits_over(&bits)) return tsr_dirac_damage(d, data->offset, "a fragment of %lld bytes: left out", (long long)data->size);
    if (!count) return begin_fragments(d, data, number, &bits);
    const tsr_dirac_transform *t = &d->transform;
    const int64_t x = tsr_bits_take(&bits, 16), y = tsr_bits_take(&bits, 16), first = y * t->slices_x + x, all = (int64_t)t->slices_x * t->slices_y;
    int64_t whole = 0;
    int narrow = 0, taken = 0;
    if (!d->collecting || number != d->fragment_number)
        return tsr_dirac_damage(d, data->offset, "a fragment of picture %u, whose beginning is missing: left out", number);
    if (x >= t->slices_x || first + count > all || count > data->size)
        return tsr_dirac_damage(d, data->offset, "picture %u: a fragment of %lld slices from %lld, %lld, expected them within %d x %d: left out",
                                number, (long long)count, (long long)x, (long long)y, t->slices_x, t->slices_y);
    if (first != d->fragment_slices) {
        TSR_TRY(tsr_dirac_damage(d, data->offset, "picture %u: a fragment from slice %lld, expected %lld", number, (long long)first,
                                 (long long)d->fragment_slices));
        if (first < d->fragment_slices) return TSR_OK;
    } else if (d->gathering) TSR_TRY(gather(d, &bits, first, count, &taken));
    TSR_TRY(tsr_dirac_note_slices(d, &bits, first, count));
    if (!taken) {
        TSR_TRY(scatter(d));
        TSR_TRY(decode(d, &bits, first, count, &whole, &narrow));
        if (whole < count)
            TSR_TRY(tsr_dirac_damage(d, data->offset, "picture %u: %lld of %lld slices of a fragment are missing or cut", number,
                                     (long long)(count - whole), (long long)count));
    }
    d->fragment_slices = first + count;
    return d->fragment_slices == all ? finish(d, data) : TSR_OK;
}
