/* video/dirac/encoder/syntax_write.c: sequence headers, transform parameters and the headers of data units. */
#include "video/dirac/encoder/syntax_write.h"

/* Is field `which` written, in place of what the base format says? */
static int has_own(tsr_bits_out *b, const tsr_dirac_sequence *s, int which)
{
    const int own = !s->level || (s->custom >> which & 1);
    tsr_bits_put(b, (uint64_t)own, 1);
    return own;
}

/* A preset of a level, which wants it so; else both numbers. */
static void put_ratio(tsr_bits_out *b, const int32_t ratio[2], int32_t preset)
{
    tsr_bits_put_uint(b, (uint32_t)preset);
    for (int k = 0; k < 2 && !preset; k++) tsr_bits_put_uint(b, (uint32_t)ratio[k]);
}

static void put_flagged_number(tsr_bits_out *b, int32_t value)
{
    tsr_bits_put(b, 1, 1);
    tsr_bits_put_uint(b, (uint32_t)value);
}

/* Without a level custom numbers everywhere: presets differ between editions. Which field is first comes from the base format alone. */
void tsr_dirac_sequence_write(tsr_bits_out *b, const tsr_dirac_sequence *s)
{
    const int32_t head[] = { s->major_version, s->minor_version, s->profile, s->level, s->base_format };
    const int32_t clean[] = { s->clean_width, s->clean_height, s->clean_left, s->clean_top };
    const int32_t range[4] = { s->luma_offset, s->luma_excursion, s->chroma_offset, s->chroma_excursion };
    for (size_t k = 0; k < sizeof head / sizeof *head; k++) tsr_bits_put_uint(b, (uint32_t)head[k]);
    if (has_own(b, s, 0)) {
        tsr_bits_put_uint(b, (uint32_t)s->width);
        tsr_bits_put_uint(b, (uint32_t)s->height);
    }
    if (has_own(b, s, 1)) tsr_bits_put_uint(b, s->chroma == TSR_CHROMA_444 ? 0 : s->chroma == TSR_CHROMA_422 ? 1 : 2);
    if (has_own(b, s, 2)) tsr_bits_put_uint(b, (uint32_t)s->interlaced);
    if (has_own(b, s, 3)) put_ratio(b, s->rate, s->level ? tsr_dirac_rate_preset(s->rate) : 0);
    if (has_own(b, s, 4)) put_ratio(b, s->aspect, s->level ? tsr_dirac_aspect_preset(s->aspect) : 0);
    if (has_own(b, s, 5))
        for (int k = 0; k < 4; k++) tsr_bits_put_uint(b, (uint32_t)clean[k]);
    if (has_own(b, s, 6)) {
        const int32_t preset = tsr_dirac_range_preset(range, s->major_version);
        tsr_bits_put_uint(b, (uint32_t)preset);
        for (int k = 0; k < 4 && !preset; k++) tsr_bits_put_uint(b, (uint32_t)range[k]);
    }
    if (has_own(b, s, 7)) {
        tsr_bits_put_uint(b, 0);
        put_flagged_number(b, s->primaries);
        put_flagged_number(b, s->matrix);
        put_flagged_number(b, s->transfer);
    }
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
