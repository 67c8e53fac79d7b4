/* video/multiview/mvv_mask.c: a texel is coded with a probability that its context has learnt: six texels of this mask that come before it, and five
 * of
 * the mask of the step before, around its place. */
#include "video/multiview/mvv_mask.h"

#include <stdlib.h>

#include "compress/binary_coder.h"

enum { CONTEXTS = 1 << 12, LEARNS = 250, UNIT = 16 };

/* Rows of a mask with a margin of two on every side, a byte a texel. Margins stay 0. */
typedef struct plane {
    uint8_t *texel; /* of row 0, column 0 */
    int64_t stride;
} plane;

static void unpack(const uint64_t *mask, int32_t width, int32_t height, plane p)
{
    const int64_t words = tsr_mvv_words(width);
    for (int32_t v = 0; v < height; v++) tsr_mvv_mask_bytes(mask + v * words, width, p.texel + v * p.stride);
}

/* Probability of 1 in 16 bits, never 0 and never all. */
TSR_ALWAYS_INLINE uint32_t chance(tsr_bit b)
{
    const uint32_t p = b >> 16;
    return p < 32 ? 32 : p > 65504 ? 65504 : p;
}

/* One texel, by its context. */
TSR_ALWAYS_INLINE void code_texel(tsr_coder *c, tsr_bit *model, uint8_t *x, const uint8_t *b, int64_t s, int first, const int decoding)
{
    const uint32_t context = (uint32_t)x[-1] | (uint32_t)x[-2] << 1 | (uint32_t)x[-s - 1] << 2 | (uint32_t)x[-s] << 3 | (uint32_t)x[-s + 1] << 4 |
                             (uint32_t)x[-2 * s] << 5 | (uint32_t)b[0] << 6 | (uint32_t)b[1] << 7 | (uint32_t)b[s] << 8 | (uint32_t)b[-1] << 9 |
                             (uint32_t)b[-s] << 10 | (uint32_t)first << 11;
    const int bit = tsr_code_bit(c, chance(model[context]), *x, decoding);
    tsr_bit_learn(model + context, bit, LEARNS);
    *x = (uint8_t)bit;
}

/* Masks as words beside their bytes. */
typedef struct words {
    uint64_t *now, *before;
    const uint64_t *atlas;
} words;

/* A unit of row v: UNIT texels from u0 on. Where the row above, the mask before and the texel on the left are all 0 or all 1 (as far as the atlas
 * goes), one bit
 * says that the unit is so, too; else, and where it is not, texel by texel. */
TSR_ALWAYS_INLINE void code_unit(tsr_coder *c, tsr_bit *model, const words *w, plane now, plane before, plane atlas, int64_t v, int64_t u0,
                                 int64_t per_row, int32_t width, int first, const int decoding)
{
    const int64_t at = v * per_row + u0 / 64, place = v * now.stride + u0, wide = width - u0 < UNIT ? width - u0 : UNIT;
    const int by = (int)(u0 & 63);
    const uint64_t part = (1ull << UNIT) - 1, allowed = w->atlas[at] >> by & part;
    const uint64_t above = v ? w->now[at - per_row] >> by & part : 0, last = w->before[at] >> by & part;
    uint8_t *x = now.texel + place;
    int kind = -1;
    if (!allowed) {
        memset(x, 0, (size_t)wide);
        return;
    }
    if (!((above | last) & allowed) && !x[-1]) kind = 0;
    else if (!(~(above & last) & allowed) && x[-1]) kind = 1;
    if (kind >= 0) {
        const uint64_t guess = kind ? allowed : 0;
        tsr_bit *m = model + CONTEXTS + 2 * kind + first;
        const int alike = tsr_code_bit(c, chance(*m), (w->now[at] >> by & part) == guess, decoding);
        tsr_bit_learn(m, alike, LEARNS);
        if (alike) {
            if (kind) memcpy(x, atlas.texel + place, (size_t)wide);
            else memset(x, 0, (size_t)wide);
            if (decoding) w->now[at] |= guess << by;
            return;
        }
    }
    uint64_t got = 0;
    for (int64_t u = 0; u < wide; u++) {
        if (allowed >> u & 1) code_texel(c, model, x + u, before.texel + place + u, now.stride, first, decoding);
        else x[u] = 0;
        got |= (uint64_t)x[u] << u;
    }
    if (decoding) w->now[at] |= got << by;
}

/* `decoding`: masks are 0 at first. */
TSR_ALWAYS_INLINE void code_mask(tsr_coder *c, tsr_bit *model, const words *w, plane now, plane before, plane atlas, int32_t width, int32_t height,
                                 int first, const int decoding)
{
    for (int64_t v = 0; v < height; v++)
        for (int64_t u = 0; u < width; u += UNIT) code_unit(c, model, w, now, before, atlas, v, u, tsr_mvv_words(width), width, first, decoding);
}

static tsr_status code(tsr_coder *c, uint64_t *masks, int64_t stride, int32_t count, int32_t width, int32_t height, const uint64_t *atlas,
                       int decoding)
{
    const int64_t row = (int64_t)width + 4, bytes = row * ((int64_t)height + 4), per_row = tsr_mvv_words(width), all = per_row * height;
    uint8_t *room = (uint8_t *)calloc(3, (size_t)bytes);
    uint64_t *none = (uint64_t *)calloc(2, (size_t)all * 8);
    tsr_bit *model = (tsr_bit *)malloc((CONTEXTS + 4) * sizeof *model);
    tsr_status status = TSR_OK;
    if (!room || !none || !model) status = TSR_FAILED(TSR_ERROR_MEMORY, "out of memory for masks of %d x %d texels", width, height);
    if (status == TSR_OK) {
        plane now = { room + 2 * row + 2, row }, before = { now.texel + bytes, row }, allowed = { before.texel + bytes, row };
        words w = { .before = none, .atlas = none + all };
        for (int k = 0; k < CONTEXTS + 4; k++) model[k] = TSR_BIT_NEW;
        for (int64_t k = 0; k < all; k++) none[all + k] = atlas ? atlas[k] : (k + 1) % per_row || width % 64 == 0 ? ~0ull : (1ull << width % 64) - 1;
        unpack(none + all, width, height, allowed);
        for (int32_t m = 0; m < count; m++) {
            w.now = masks + m * stride;
            if (!decoding) unpack(w.now, width, height, now);
            else memset(w.now, 0, (size_t)all * 8);
            if (decoding) code_mask(c, model, &w, now, before, allowed, width, height, !m, 1);
            else code_mask(c, model, &w, now, before, allowed, width, height, !m, 0);
            const plane swap = now;
            now = before;
            before = swap;
            w.before = w.now;
        }
    }
    free(room);
    free(none);
    free(model);
    return status;
}

tsr_status tsr_mvv_mask_encode(const uint64_t *masks, int64_t stride, int32_t count, int32_t width, int32_t height, const uint64_t *atlas,
                               uint8_t **bytes, size_t *size)
{
    tsr_coder *c = (tsr_coder *)malloc(sizeof *c);
    uint64_t *borrowed;
    *bytes = NULL;
    *size = 0;
    if (!c) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory");
    memcpy(&borrowed, &masks, sizeof masks); /* the coder's text is one for both directions: encoding leaves them as they are */
    tsr_coder_write(c);
    tsr_status status = code(c, borrowed, stride, count, width, height, atlas, 0);
    if (status == TSR_OK) tsr_coder_finish(c);
    if (status == TSR_OK && c->failed) status = TSR_FAILED(TSR_ERROR_MEMORY, "out of memory for coded masks");
    if (status == TSR_OK) {
        *bytes = c->bytes;
        *size = c->used;
    } else free(c->bytes);
    free(c);
    return status;
}

tsr_status tsr_mvv_mask_decode(const uint8_t *bytes, size_t size, uint64_t *masks, int64_t stride, int32_t count, int32_t width, int32_t height,
                               const uint64_t *atlas)
{
    tsr_coder *c = (tsr_coder *)malloc(sizeof *c);
    if (!c) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory");
    tsr_coder_read(c, bytes, size);
    const tsr_status status = code(c, masks, stride, count, width, height, atlas, 1);
    free(c);
    return status;
}
