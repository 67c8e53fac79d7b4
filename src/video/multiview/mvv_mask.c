/* video/multiview/mvv_mask.c: a texel is coded with a probability that its context has learnt: six texels of this mask that come before it, and five of
 * the mask of the step before, around its place. */
#include "video/multiview/mvv_mask.h"

#include <stdlib.h>

#include "compress/binary_coder.h"

enum { CONTEXTS = 1 << 12, LEARNS = 250 };

/* Rows of a mask with a margin of two on every side, a byte a texel. */
typedef struct plane {
    uint8_t *texel; /* of row 0, column 0 */
    int64_t stride;
} plane;

static void unpack(const uint64_t *mask, int32_t width, int32_t height, plane p)
{
    const int64_t words = tsr_mvv_words(width);
    for (int32_t v = 0; v < height; v++)
        for (int32_t u = 0; u < width; u++) p.texel[v * p.stride + u] = (uint8_t)tsr_mvv_bit(mask + v * words, u);
}

static void pack(plane p, int32_t width, int32_t height, uint64_t *mask)
{
    const int64_t words = tsr_mvv_words(width);
    memset(mask, 0, (size_t)(words * height) * 8);
    for (int32_t v = 0; v < height; v++)
        for (int32_t u = 0; u < width; u++) mask[v * words + (u >> 6)] |= (uint64_t)p.texel[v * p.stride + u] << (u & 63);
}

/* Probability of 1 in 16 bits, never 0 and never all. */
TSR_ALWAYS_INLINE uint32_t chance(tsr_bit b)
{
    const uint32_t p = b >> 16;
    return p < 32 ? 32 : p > 65504 ? 65504 : p;
}

TSR_ALWAYS_INLINE void code_mask(tsr_coder *c, tsr_bit *model, plane now, plane before, plane atlas, int32_t width, int32_t height, int first,
                                 const int decoding)
{
    const int64_t s = now.stride;
    for (int32_t v = 0; v < height; v++)
        for (int32_t u = 0; u < width; u++) {
            uint8_t *x = now.texel + v * s + u;
            const uint8_t *b = before.texel + v * s + u;
            if (!atlas.texel[v * s + u]) { /* nothing belongs there; what the caller has there is looked at before */
                *x = 0;
                continue;
            }
            const uint32_t context = (uint32_t)x[-1] | (uint32_t)x[-2] << 1 | (uint32_t)x[-s - 1] << 2 | (uint32_t)x[-s] << 3 |
                                     (uint32_t)x[-s + 1] << 4 | (uint32_t)x[-2 * s] << 5 | (uint32_t)b[0] << 6 | (uint32_t)b[1] << 7 |
                                     (uint32_t)b[s] << 8 | (uint32_t)b[-1] << 9 | (uint32_t)b[-s] << 10 | (uint32_t)first << 11;
            const int bit = tsr_code_bit(c, chance(model[context]), *x, decoding);
            tsr_bit_learn(model + context, bit, LEARNS);
            *x = (uint8_t)bit;
        }
}

static tsr_status code(tsr_coder *c, uint64_t *masks, int64_t stride, int32_t count, int32_t width, int32_t height, const uint64_t *atlas, int decoding)
{
    const int64_t row = (int64_t)width + 4, bytes = row * ((int64_t)height + 4);
    uint8_t *room = (uint8_t *)calloc(3, (size_t)bytes);
    tsr_bit *model = (tsr_bit *)malloc(CONTEXTS * sizeof *model);
    tsr_status status = TSR_OK;
    if (!room || !model) status = TSR_FAILED(TSR_ERROR_MEMORY, "out of memory for masks of %d x %d texels", width, height);
    if (status == TSR_OK) {
        plane now = { room + 2 * row + 2, row }, before = { now.texel + bytes, row }, allowed = { before.texel + bytes, row };
        for (int k = 0; k < CONTEXTS; k++) model[k] = TSR_BIT_NEW;
        if (atlas) unpack(atlas, width, height, allowed);
        else
            for (int32_t v = 0; v < height; v++) memset(allowed.texel + v * row, 1, (size_t)width);
        for (int32_t k = 0; k < count; k++) {
            if (!decoding) unpack(masks + k * stride, width, height, now);
            if (decoding) code_mask(c, model, now, before, allowed, width, height, !k, 1);
            else code_mask(c, model, now, before, allowed, width, height, !k, 0);
            if (decoding) pack(now, width, height, masks + k * stride);
            const plane swap = now;
            now = before;
            before = swap;
        }
    }
    free(room);
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
