/* video/dirac/encoder/syntax_write.c: sequence headers, transform parameters and the headers of data units. */
#include "video/dirac/encoder/syntax_write.h"

static void put_flagged_number(tsr_bits_out *b, int32_t value)
{
    tsr_bits_put(b, 1, 1);
    tsr_bits_put_uint(b, (uint32_t)value);
}

/* Custom numbers everywhere: presets differ between editions. Which field is first comes from the base format alone. */
void tsr_dirac_sequence_write(tsr_bits_out *b, const tsr_dirac_sequence *s)
{
    const int32_t head[] = { s->major_version, s->minor_version, s->profile, s->level, s->base_format };
    for (size_t k = 0; k < sizeof head / sizeof *head; k++) tsr_bits_put_uint(b, (uint32_t)head[k]);
    put_flagged_number(b, s->width);
    tsr_bits_put_uint(b, (uint32_t)s->height);
    put_flagged_number(b, s->chroma == TSR_CHROMA_444 ? 0 : s->chroma == TSR_CHROMA_422 ? 1 : 2);
    put_flagged_number(b, s->interlaced);
    put_flagged_number(b, 0);
    tsr_bits_put_uint(b, (uint32_t)s->rate[0]);
    tsr_bits_put_uint(b, (uint32_t)s->rate[1]);
    put_flagged_number(b, 0);
    tsr_bits_put_uint(b, (uint32_t)s->aspect[0]);
    tsr_bits_put_uint(b, (uint32_t)s->aspect[1]);
    put_flagged_number(b, s->clean_width);
    tsr_bits_put_uint(b, (uint32_t)s->clean_height);
    tsr_bits_put_uint(b, (uint32_t)s->clean_left);
    tsr_bits_put_uint(b, (uint32_t)s->clean_top);
    const int32_t range[4] = { s->luma_offset, s->luma_excursion, s->chroma_offset, s->chroma_excursion };
    const int32_t preset = tsr_dirac_range_preset(range, s->major_version);
    put_flagged_number(b, preset);
    for (int k = 0; k < 4 && !preset; k++) tsr_bits_put_uint(b, (uint32_t)range[k]);
    put_flagged_number(b, 0);
    put_flagged_number(b, s->primaries);
    put_flagged_number(b, s->matrix);
    put_flagged_number(b, s->transfer);
    tsr_bits_put_uint(b, (uint32_t)s->fields);
    tsr_bits_finish(b);
}

void tsr_dirac_transform_write(tsr_bits_out *b, int32_t major, const tsr_dirac_transform *t)
{
    int32_t standard[TSR_DIRAC_LEVELS + 1][4];
    tsr_bits_put_uint(b, (uint32_t)t->wavelet);
    tsr_bits_put_uint(b, (uint32_t)t->depth);
    if (major >= 3) {
        tsr_bits_put(b, t->wavelet_horizontal != t->wavelet, 1);
        if (t->wavelet_horizontal != t->wavelet) tsr_bits_put_uint(b, (uint32_t)t->wavelet_horizontal);
        tsr_bits_put(b, t->horizontal != 0, 1);
        if (t->horizontal) tsr_bits_put_uint(b, (uint32_t)t->horizontal);
    }
    tsr_bits_put_uint(b, (uint32_t)t->slices_x);
    tsr_bits_put_uint(b, (uint32_t)t->slices_y);
    tsr_bits_put_uint(b, t->high_quality ? t->prefix : t->numerator);
    tsr_bits_put_uint(b, t->high_quality ? t->scaler : t->denominator);
    const int custom = !tsr_dirac_default_matrix(t, standard) || memcmp(standard, t->matrix, sizeof standard) != 0;
    tsr_bits_put(b, custom, 1);
    for (int level = 0; level <= t->horizontal + t->depth && custom; level++)
        for (int band = level > 0; band < tsr_dirac_bands(t, level); band++) tsr_bits_put_uint(b, (uint32_t)t->matrix[level][band]);
    tsr_bits_finish(b);
}

static void put_word(uint8_t *to, uint32_t v)
{
    for (int k = 0; k < 4; k++) to[k] = (uint8_t)(v >> (24 - 8 * k));
}

void tsr_dirac_unit_write(uint8_t *to, int32_t code, uint32_t next, uint32_t previous)
{
    memcpy(to, "BBCD", 4);
    to[4] = (uint8_t)code;
    put_word(to + 5, next);
    put_word(to + 9, previous);
}
