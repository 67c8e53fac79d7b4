/* tiles/tile_code.h: values of a clamped field as 16-bit fixed point (docs/theory/tiles.md 6): q = round(32767 phi / band), +-32767 being exactly
 * +-band. A value moves by at most half a code, band / 65534, and up to 4 % of that in roundings to float32 when it is stored; a stored one comes back as it
 * is. Exact class. Files have a code of their own (tsr_q16), which keeps signs and takes float64; codes from here pass through it as they are. */
#ifndef TSR_TILES_TILE_CODE_H
#define TSR_TILES_TILE_CODE_H

#include "core/hd.h"

enum { TSR_CODE_MOST = 32767 };

typedef struct tsr_coding {
    float band, unit, inverse; /* unit: a little above band / 32767, so that 32767 units are no less than the band in any rounding */
} tsr_coding;

TSR_HD tsr_coding tsr_coding_of(float band)
{
    tsr_coding c;
    c.band = band;
    c.unit = band * 3.0518516e-5f;
    c.inverse = 32767.0f / band;
    return c;
}

/* The code of a value within the band. */
TSR_HD int32_t tsr_code_of(const tsr_coding *c, float v)
{
    const float scaled = v * c->inverse;
    const int32_t q = (int32_t)(scaled < 0.0f ? scaled - 0.5f : scaled + 0.5f);
    return tsr_mini(tsr_maxi(q, -TSR_CODE_MOST), TSR_CODE_MOST);
}
TSR_HD float tsr_code_value(const tsr_coding *c, int32_t q) { return tsr_clampf((float)q * c->unit, -c->band, c->band); }

/* What a value is once it has been stored. */
TSR_HD float tsr_code_rounded(const tsr_coding *c, float v) { return tsr_code_value(c, tsr_code_of(c, v)); }

#endif
