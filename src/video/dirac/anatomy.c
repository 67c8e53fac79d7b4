/* video/dirac/anatomy.c: what pictures are put together from, for who asks. */
#include <stdlib.h>

#include "video/dirac/decoder.h"

tsr_status tsr_dirac_note_slices(tsr_dirac_decoder *d, const tsr_bits *bits, int64_t first, int64_t count)
{
    const tsr_dirac_transform *t = &d->transform;
    const int64_t all = (int64_t)t->slices_x * t->slices_y;
    const tsr_bits own = { bits->data + bits->at / 8, 0, bits->end - bits->at };
    int64_t whole = 0;
    if (!d->options.anatomy) return TSR_OK;
    if (all > d->quantisers_room) {
        TSR_TRY(tsr_dirac_within_limit(d, all));
        uint8_t *larger = (uint8_t *)realloc(d->quantisers, (size_t)all);
        if (!larger) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for %lld slices", (long long)all);
        memset(larger + d->quantisers_room, 0, (size_t)(all - d->quantisers_room));
        d->quantisers = larger;
        d->quantisers_room = all;
    }
    uint32_t *starts = (uint32_t *)malloc((size_t)(count + 1) * sizeof *starts);
    if (!starts) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for %lld slices", (long long)count);
    tsr_dirac_slices_find(t, &own, first, count, starts, &whole);
    for (int64_t k = 0; k < count; k++) {
        const int64_t at = starts[k] + (int64_t)(t->high_quality ? t->prefix : 0);
        const uint8_t byte = at < own.end / 8 ? own.data[at] : 0;
        d->quantisers[first + k] = t->high_quality ? byte : byte >> 1; /* seven bits of low delay */
    }
    free(starts);
    return TSR_OK;
}

void tsr_dirac_show_slices(const tsr_dirac_decoder *d, uint32_t number)
{
    tsr_dirac_anatomy a = TSR_DIRAC_ANATOMY;
    if (!d->options.anatomy) return;
    a.number = number;
    a.slices[0] = d->transform.slices_x;
    a.slices[1] = d->transform.slices_y;
    a.quantiser = d->quantisers;
    d->options.anatomy(d->options.user, &a);
}

tsr_status tsr_dirac_show_core(const tsr_dirac_decoder *d, const tsr_dirac_target *t, const uint32_t reference[2])
{
    const tsr_dirac_prediction *p = &d->motion.prediction;
    const int64_t count = t->predicted ? (int64_t)p->blocks_x * p->blocks_y : 0;
    tsr_dirac_anatomy a = TSR_DIRAC_ANATOMY;
    if (!d->options.anatomy) return TSR_OK;
    tsr_dirac_block_info *blocks = (tsr_dirac_block_info *)malloc((size_t)(count + 1) * sizeof *blocks);
    if (!blocks) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for %lld blocks", (long long)count);
    for (int64_t k = 0; k < count; k++) {
        const tsr_dirac_block *b = &d->motion.blocks[k];
        blocks[k] = (tsr_dirac_block_info){ .mode = b->mode, .global = b->global };
        memcpy(blocks[k].vector, b->vector, sizeof b->vector);
    }
    a.number = t->number;
    if (count) {
        a.references = p->references;
        memcpy(a.reference, reference, sizeof a.reference);
        a.blocks[0] = p->blocks_x;
        a.blocks[1] = p->blocks_y;
        memcpy(a.separation, p->separation, sizeof a.separation);
        a.precision = p->precision;
        a.block = blocks;
    }
    d->options.anatomy(d->options.user, &a);
    free(blocks);
    return TSR_OK;
}
