/* video/dirac/pictures_core.c: core-syntax pictures: references, prediction, residue. */
#include <stdlib.h>

#include "video/dirac/decoder.h"
#include "video/statistics/band_streams.h"

void tsr_dirac_motion_free(tsr_dirac_decoder *d)
{
    tsr_dirac_motion *m = &d->motion;
    if (!tsr_dirac_on_host(d)) tsr_device_release(d->context, m->on_device, (size_t)m->device_bytes);
    tsr_host_release(NULL, m->blocks, (size_t)m->bytes);
    *m = (tsr_dirac_motion){ 0 };
}

enum { NARROW_DEPTH = 10 }; /* of samples whose coefficients are tried in 16 bits */

int32_t tsr_dirac_reference_bytes(const tsr_dirac_decoder *d)
{
    const int32_t depth = d->sequence.luma_depth > d->sequence.chroma_depth ? d->sequence.luma_depth : d->sequence.chroma_depth;
    return tsr_dirac_on_host(d) && depth <= 8 ? 1 : 2;
}

/* ---- references ---------------------------------------------------------------------------------------------------------------------------- */

static tsr_dirac_reference *find_reference(tsr_dirac_decoder *d, uint32_t number)
{
    for (int k = 0; k < TSR_DIRAC_REFERENCES; k++)
        if (d->reference[k].used && d->reference[k].number == number) return &d->reference[k];
    return NULL;
}

/* The one whose number is nearest; NULL where there are none. */
static tsr_dirac_reference *nearest_reference(tsr_dirac_decoder *d, uint32_t number)
{
    tsr_dirac_reference *nearest = NULL;
    uint32_t least = 0;
    for (int k = 0; k < TSR_DIRAC_REFERENCES; k++) {
        tsr_dirac_reference *r = &d->reference[k];
        const uint32_t ahead = r->number - number, behind = number - r->number, far = ahead < behind ? ahead : behind;
        if (!r->used || (nearest && far >= least)) continue;
        nearest = r;
        least = far;
    }
    return nearest;
}

static int64_t picture_elements(const tsr_dirac_sequence *s)
{
    int64_t all = 0;
    for (int c = 0; c < 3; c++) {
        int32_t width, height;
        tsr_dirac_component_size(s, c, &width, &height);
        all += (int64_t)width * height;
    }
    return all;
}

/* A place for a new reference: the oldest goes if all are in use. Not one of those that the picture at hand is predicted from. */
static tsr_status new_reference(tsr_dirac_decoder *d, int64_t offset, tsr_dirac_reference **place)
{
    const int64_t elements = picture_elements(&d->sequence);
    const int32_t bytes = tsr_dirac_reference_bytes(d);
    tsr_dirac_reference *r = NULL;
    for (int k = 0; k < TSR_DIRAC_REFERENCES && !r; k++)
        if (!d->reference[k].used) r = &d->reference[k];
    if (!r) {
        for (int k = 0; k < TSR_DIRAC_REFERENCES; k++) {
            const int busy = d->motion.prediction.references && (k == d->motion.reference[0] || k == d->motion.reference[1]);
            if (!busy && (!r || r->number - d->reference[k].number < 0x80000000u)) r = &d->reference[k];
        }
        TSR_TRY(tsr_dirac_damage(d, offset, "more than %d references: picture %u is dropped", TSR_DIRAC_REFERENCES, r->number));
        r->used = 0;
    }
    if (r->elements != elements || r->bytes != bytes) {
        tsr_device_release(d->context, r->grid, (size_t)(4 * r->elements * r->bytes));
        *r = (tsr_dirac_reference){ 0 };
        TSR_TRY(tsr_device_allocate(d->context, (size_t)(4 * elements * bytes), &r->grid));
        r->elements = elements;
        r->bytes = bytes;
    }
    *place = r;
    return TSR_OK;
}

/* The half-sample grids, when the first vector needs them. */
static tsr_status make_half(tsr_dirac_decoder *d, tsr_dirac_reference *r)
{
    int64_t at = 0;
    if (r->halved) return TSR_OK;
    for (int c = 0; c < 3; c++) {
        const int32_t half = 1 << ((c ? d->sequence.chroma_depth : d->sequence.luma_depth) - 1);
        tsr_dirac_half_job job = { .grid = (char *)r->grid + 4 * at * r->bytes, .bytes = r->bytes, .low = -half, .high = half - 1 };
        tsr_dirac_component_size(&d->sequence, c, &job.width, &job.height);
        TSR_TRY(d->context->backend->dirac->half(d->context->queue, &job));
        at += (int64_t)job.width * job.height;
    }
    r->halved = 1;
    return TSR_OK;
}

/* ---- motion -------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status room_for_blocks(tsr_dirac_decoder *d)
{
    tsr_dirac_motion *m = &d->motion;
    const int64_t count = (int64_t)m->prediction.blocks_x * m->prediction.blocks_y,
                  bytes = (count + 1) * (int64_t)sizeof(tsr_dirac_block) + m->prediction.blocks_x;
    if (m->bytes < bytes) {
        tsr_host_release(NULL, m->blocks, (size_t)m->bytes);
        m->blocks = NULL;
        m->bytes = 0;
        TSR_TRY(tsr_host_allocate(NULL, (size_t)bytes, (void **)&m->blocks));
        m->bytes = bytes;
    }
    if (!tsr_dirac_on_host(d) && m->device_bytes < bytes) {
        tsr_device_release(d->context, m->on_device, (size_t)m->device_bytes);
        m->on_device = NULL;
        m->device_bytes = 0;
        TSR_TRY(tsr_device_allocate(d->context, (size_t)bytes, (void **)&m->on_device));
        m->device_bytes = bytes;
    }
    return TSR_OK;
}

static tsr_status read_blocks(tsr_dirac_decoder *d, const tsr_dirac_target *t, tsr_bits *bits)
{
    tsr_dirac_motion *m = &d->motion;
    tsr_dirac_blocks_damage damage = { 0 };
    tsr_dirac_enter(d, TSR_DIRAC_MOTION_DECODE);
    TSR_TRY(room_for_blocks(d));
    tsr_dirac_blocks_read(bits, &m->prediction, m->blocks, &damage);
    if (damage.cut) TSR_TRY(tsr_dirac_damage(d, t->offset, "picture %u: %d of its motion streams are cut", t->number, damage.cut));
    if (damage.split) TSR_TRY(tsr_dirac_damage(d, t->offset, "picture %u: splits of %d superblocks are beyond 2", t->number, damage.split));
    const int64_t bytes = (int64_t)m->prediction.blocks_x * m->prediction.blocks_y * (int64_t)sizeof(tsr_dirac_block);
    if (tsr_dirac_on_host(d)) m->on_device = m->blocks;
    else TSR_TRY(d->context->backend->upload(d->context->queue, m->on_device, m->blocks, (size_t)bytes));
    tsr_dirac_enter(d, TSR_DIRAC_UPSAMPLE);
    for (int32_t r = 0; r < m->prediction.references && m->prediction.precision; r++) TSR_TRY(make_half(d, &d->reference[m->reference[r]]));
    return TSR_OK;
}

/* ---- pictures ------------------------------------------------------------------------------------------------------------------------------ */

/* References by their numbers; what is missing is replaced by the nearest. *usable 0: there is none. */
static tsr_status take_references(tsr_dirac_decoder *d, const tsr_dirac_target *t, const uint32_t wanted[2], int32_t count, int *usable)
{
    *usable = 1;
    for (int32_t r = 0; r < count; r++) {
        tsr_dirac_reference *found = find_reference(d, wanted[r]);
        if (!found) {
            found = nearest_reference(d, wanted[r]);
            TSR_TRY(tsr_dirac_damage(d, t->offset, "picture %u: its reference %u is missing%s", t->number, wanted[r],
                                     found ? "; the nearest stands in for it" : "; it is left out"));
        }
        if (!found || found->elements != picture_elements(&d->sequence) || found->bytes != tsr_dirac_reference_bytes(d)) {
            *usable = 0;
            return TSR_OK;
        }
        d->motion.reference[r] = (int32_t)(found - d->reference);
    }
    return TSR_OK;
}

/* 1: the device decodes the codes, so that the coefficients are there. */
static int on_device(const tsr_dirac_decoder *d, const tsr_dirac_core *core)
{
    if (core->statistics) return 0;
    return core->variable ? tsr_core_device_usable(d->context, 1) : d->options.arithmetic > 0;
}

/* Does the unit come before arithmetic codes that may be decoded with those at hand? */
static int leads_on(const tsr_dirac_decoder *d, const tsr_dirac_data *data)
{
    const int32_t code = data->unit.code;
    if (code == TSR_DIRAC_SEQUENCE_HEADER) return data->size >= d->header_size && !memcmp(data->payload, d->header, (size_t)d->header_size);
    return (code & 0xf8) == TSR_DIRAC_AUXILIARY || code == TSR_DIRAC_PADDING || code == TSR_DIRAC_END;
}

/* The pictures behind the one at hand, as far as they are there and alike. */
static void look_ahead(tsr_dirac_decoder *d, const tsr_dirac_core *core)
{
    tsr_core_ahead *a = &d->core_ahead;
    tsr_dirac_stream stream = d->stream; /* goes on by itself */
    tsr_dirac_data data;
    int more = 1;
    while (a->count < a->room) {
        tsr_dirac_transform transform;
        tsr_dirac_layout layout[3];
        tsr_dirac_core own = *core;
        tsr_dirac_stream_next(&stream, &data, &more);
        if (!more || data.skipped || data.lost) return;
        if (leads_on(d, &data)) continue;
        if ((data.unit.code & (0xc8 | TSR_DIRAC_STATISTICS)) != 0x08) return; /* not a picture of arithmetic codes */
        tsr_bits bits = { data.payload, 0, 8 * data.size };
        if (!tsr_dirac_core_skip(&d->sequence, data.unit.code, &bits, &transform)) continue;
        for (int c = 0; c < 3; c++) {
            int32_t width, height;
            tsr_dirac_component_size(&d->sequence, c, &width, &height);
            tsr_dirac_layout_make(&transform, width, height, &layout[c]);
            if (memcmp(&layout[c], core->layout[c], sizeof layout[c]) != 0) return;
        }
        own.transform = &transform;
        own.inter = (data.unit.code & 3) != 0;
        tsr_core_ahead_add(a, &own, &bits, data.offset);
    }
}

/* Arithmetic codes on the device, with those of pictures that follow. */
static tsr_status decode_ahead(tsr_dirac_decoder *d, const tsr_dirac_core *core, const tsr_bits *bits, int64_t offset, tsr_dirac_core_damage *damage)
{
    int64_t bytes = 0;
    int found = 0;
    TSR_TRY(tsr_core_ahead_take(&d->core_ahead, core, offset, d->residue.on_device, damage, &found));
    if (found) return TSR_OK;
    for (int c = 0; c < 3; c++) bytes += tsr_dirac_layout_elements(core->layout[c]) * (int64_t)sizeof(int32_t);
    const int64_t room = tsr_min64(d->options.arithmetic, tsr_max64(d->options.memory_limit / bytes, 1));
    TSR_TRY(tsr_core_ahead_begin(&d->core_ahead, d->context, core->layout, (int32_t)room));
    tsr_core_ahead_add(&d->core_ahead, core, bits, offset);
    look_ahead(d, core);
    TSR_TRY(tsr_core_ahead_run(&d->core_ahead));
    return tsr_core_ahead_take(&d->core_ahead, core, offset, d->residue.on_device, damage, &found);
}

/* All sub-bands of the picture at `offset`, where it lies if its device does that. core->narrow: in 16 bits, but for the approximations; set to NULL
 * where they do not do. */
static tsr_status decode_bands(tsr_dirac_decoder *d, tsr_dirac_core *core, tsr_bits *bits, int64_t offset, tsr_dirac_core_damage *damage)
{
    const tsr_bits start = *bits;
    int fits = 1;
    if (on_device(d, core) && core->variable) return tsr_core_device_decode(&d->core_device, d->context, core, bits, d->residue.on_device, damage);
    if (on_device(d, core)) return decode_ahead(d, core, bits, offset, damage);
    if (core->narrow[0]) TSR_TRY(tsr_dirac_core_decode(core, bits, &fits, damage));
    if (core->narrow[0] && fits) return TSR_OK;
    *bits = start;
    TSR_TRY(tsr_dirac_residue_whole(d));
    memset(core->narrow, 0, sizeof core->narrow);
    memcpy(core->coefficients, d->residue.coefficients, sizeof core->coefficients);
    return core->statistics ? tsr_dirac_statistics_decode(core, bits, damage) : tsr_dirac_core_decode(core, bits, &fits, damage);
}

/* The approximations are there in 32 bits, and predicted. To 16 where they fit (*narrow 1), else what is in 16 to 32. */
static tsr_status narrow_approximations(tsr_dirac_decoder *d, int *narrow)
{
    tsr_dirac_residue *p = &d->residue;
    int32_t lost = 0;
    for (int c = 0; c < 3; c++) {
        const tsr_dirac_band *b = &p->layout[c].band[0][0];
        for (int32_t y = 0; y < b->height; y++) {
            const int64_t row = b->offset + (int64_t)y * p->layout[c].stride;
            for (int32_t x = 0; x < b->width; x++) {
                p->narrow[c][row + x] = (int16_t)p->coefficients[c][row + x];
                lost |= p->coefficients[c][row + x] ^ p->narrow[c][row + x];
            }
        }
    }
    if (lost) TSR_TRY(tsr_dirac_residue_whole(d));
    for (int c = 0; c < 3 && lost; c++) {
        const tsr_dirac_band *b = &p->layout[c].band[0][0];
        for (int32_t y = 0; y < p->layout[c].padded_height; y++) {
            const int64_t row = (int64_t)y * p->layout[c].stride;
            for (int32_t x = y < b->height ? b->width : 0; x < p->layout[c].stride; x++) p->coefficients[c][row + x] = p->narrow[c][row + x];
        }
    }
    *narrow = !lost;
    return TSR_OK;
}

static tsr_status take_residue(tsr_dirac_decoder *d, const tsr_dirac_data *data, tsr_dirac_target *t, tsr_bits *bits)
{
    tsr_dirac_transform transform;
    tsr_dirac_core_damage damage = { 0 };
    tsr_bits_align(bits);
    tsr_dirac_enter(d, TSR_DIRAC_RESIDUAL_DECODE);
    if (t->predicted && tsr_bits_flag(bits)) return TSR_OK; /* no residue */
    if (tsr_dirac_transform_read_core(bits, &transform) != TSR_OK)
        return tsr_dirac_damage(d, data->offset, "picture %u: %s", t->number, tsr_error_message());
    TSR_TRY(tsr_dirac_residue_make(d, &transform));
    tsr_dirac_residue *p = &d->residue;
    tsr_dirac_core core = { .transform = &p->transform,
                            .empty = p->empty,
                            .threads = d->context->threads,
                            .inter = t->predicted,
                            .variable = (t->code & 0x40) != 0,
                            .statistics = (t->code & TSR_DIRAC_STATISTICS) != 0,
                            .old_blocks = d->old_blocks };
    for (int c = 0; c < 3; c++) {
        core.layout[c] = &p->layout[c];
        core.coefficients[c] = p->coefficients[c];
        if (!core.statistics && !on_device(d, &core) && d->sequence.luma_depth <= NARROW_DEPTH && d->sequence.chroma_depth <= NARROW_DEPTH)
            core.narrow[c] = p->narrow[c];
    }
    const tsr_bits start = *bits;
    TSR_TRY(decode_bands(d, &core, bits, data->offset, &damage));
    if ((damage.cut || damage.quantiser) && transform.codeblock_mode) { /* perhaps the other convention, which no header names */
        tsr_bits again = start;
        tsr_dirac_core_damage still = { 0 };
        core.old_blocks = !core.old_blocks;
        TSR_TRY(decode_bands(d, &core, &again, data->offset, &still));
        if (!still.cut && !still.quantiser) d->old_blocks = core.old_blocks;
        else {
            core.old_blocks = !core.old_blocks;
            *bits = start;
            TSR_TRY(decode_bands(d, &core, bits, data->offset, &still));
        }
        damage = still;
    }
    if (damage.cut) TSR_TRY(tsr_dirac_damage(d, data->offset, "picture %u: %d sub-bands are cut", t->number, damage.cut));
    if (damage.quantiser)
        TSR_TRY(tsr_dirac_damage(d, data->offset, "picture %u: quantisers of %d sub-bands are no number from 0 to %d", t->number, damage.quantiser,
                                 TSR_QUANTISER_MOST));
    t->residue = on_device(d, &core) ? TSR_DIRAC_RESIDUE_THERE : TSR_DIRAC_RESIDUE;
    for (int c = 0; c < 3 && !t->predicted && t->residue == TSR_DIRAC_RESIDUE; c++)
        tsr_dirac_predict_approximation(p->coefficients[c], &p->layout[c]);
    int narrow = 0;
    if (core.narrow[0]) TSR_TRY(narrow_approximations(d, &narrow));
    if (narrow) t->residue = TSR_DIRAC_RESIDUE_NARROW;
    return TSR_OK;
}

/* The references of an inter picture and what is retired by a reference picture; then its blocks. */
static tsr_status take_motion(tsr_dirac_decoder *d, tsr_dirac_target *t, const uint32_t wanted[2], int32_t count, tsr_bits *bits, int *usable)
{
    TSR_TRY(take_references(d, t, wanted, count, usable));
    if (!*usable) return TSR_OK;
    tsr_bits_align(bits);
    if (tsr_dirac_prediction_read(bits, &d->sequence, count, &d->motion.prediction) != TSR_OK) {
        d->motion.prediction.references = 0;
        *usable = 0;
        return tsr_dirac_damage(d, t->offset, "picture %u: %s", t->number, tsr_error_message());
    }
    tsr_bits_align(bits);
    TSR_TRY(read_blocks(d, t, bits));
    t->predicted = 1;
    return TSR_OK;
}

tsr_status tsr_dirac_decode_core(tsr_dirac_decoder *d, const tsr_dirac_data *data)
{
    tsr_bits bits = { data->payload, 0, 8 * data->size };
    const int32_t code = data->unit.code, count = code & 3, is_reference = (code & 0x0c) == 0x0c;
    tsr_dirac_target t = { .number = tsr_bits_take(&bits, 32), .offset = data->offset, .code = code };
    uint32_t wanted[2] = { 0, 0 }, retired = t.number;
    int usable = 1;
    if ((code & TSR_DIRAC_STATISTICS) && d->sequence.profile != TSR_DIRAC_PROFILE_STATISTICS)
        return tsr_dirac_damage(d, data->offset, "a picture of tessera's own coding in a sequence of profile %d: left out", d->sequence.profile);
    if (count > 2 || (count && (code & 0x40)))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                 "at byte %lld: a picture of kind 0x%02x, expected intra pictures or arithmetic coding with one or two references",
                 (long long)data->offset, (unsigned)code);
    for (int32_t r = 0; r < count; r++) wanted[r] = t.number + (uint32_t)tsr_bits_int(&bits);
    if (is_reference) retired = t.number + (uint32_t)tsr_bits_int(&bits);
    if (tsr_bits_over(&bits))
        return tsr_dirac_damage(d, data->offset, "%s of %lld bytes: left out", tsr_dirac_code_name(code), (long long)data->size);
    d->motion.prediction.references = 0;
    d->kind = count;
    if (count) TSR_TRY(take_motion(d, &t, wanted, count, &bits, &usable));
    if (usable) TSR_TRY(take_residue(d, data, &t, &bits));
    tsr_dirac_reference *gone = retired == t.number ? NULL : find_reference(d, retired);
    if (is_reference && usable && (t.residue || t.predicted)) TSR_TRY(new_reference(d, data->offset, &t.reference));
    if (usable && (t.residue || t.predicted)) TSR_TRY(tsr_dirac_show_core(d, &t, wanted));
    if (usable && (t.residue || t.predicted)) TSR_TRY(tsr_dirac_store_picture(d, &t));
    tsr_dirac_enter(d, -1);
    if (gone && gone != t.reference) gone->used = 0; /* only now: this picture may be predicted from it */
    return TSR_OK;
}
