/* pyramid/bricks_cuda.h: one thread makes the word of one brick. Neighbouring threads have neighbouring bricks along x, so that a warp reads 128
 * or 256 bytes of each row; the rows of a brick are independent loads. */
#ifndef TSR_PYRAMID_BRICKS_CUDA_H
#define TSR_PYRAMID_BRICKS_CUDA_H

#include "device/kernel.h"

#include "pyramid/tree.h"

/* The words of bytes can be read 4 (CUBE) or 8 (PLANE) at a time. */
static inline int tsr_bricks_of_bytes(const tsr_classifier *c, tsr_tree_brick brick)
{
    const int64_t wide = brick == TSR_BRICK_CUBE ? 4 : 8;
    return c->bytes && (brick == TSR_BRICK_CUBE || brick == TSR_BRICK_PLANE) && c->size[0] % wide == 0 && (uintptr_t)c->data % (uintptr_t)wide == 0;
}

/* High bit of each byte of w that the byte rule keeps. */
TSR_DEVICE_FN uint32_t tsr_kept_bytes(const tsr_classifier *c, uint32_t w)
{
    uint32_t high;
    if (c->low == 1 && c->high == 255) high = (((w & 0x7f7f7f7fu) + 0x7f7f7f7fu) | w) & 0x80808080u;
    else high = tsr_bytes_not_below(w, (uint32_t)c->low * 0x01010101u) & tsr_bytes_not_below((uint32_t)c->high * 0x01010101u, w);
    return c->invert ? high ^ 0x80808080u : high;
}

/* Half a brick (z = 0, 1), from byte x, bit r = 4 (z & 1) + 2 (y & 1) + (y >> 1) to Morton order: the bits of the place (x1 x0 z y0 y1)
 * become (y1 x1 z y0 x0) by two exchanges. */
TSR_DEVICE_FN uint32_t tsr_brick_half(uint32_t v)
{
    uint32_t t = (v >> 15 ^ v) & 0x0000aaaau; /* bits 0 and 4 of the place */
    v ^= t ^ t << 15;
    t = (v >> 7 ^ v) & 0x00aa00aau; /* bits 0 and 3 */
    return v ^ t ^ t << 7;
}

/* Brick of bytes with its lower corner at voxel `origin`, `ny` x `nz` rows of it inside. */
TSR_DEVICE_FN uint64_t tsr_brick_cube(const tsr_classifier *c, int64_t origin, int64_t ny, int64_t nz)
{
    const uint8_t *p = (const uint8_t *)c->data + origin;
    const int64_t plane = c->size[0] * c->size[1];
    uint32_t row[16], half[2] = { 0, 0 };
#pragma unroll
    for (int r = 0; r < 16; r++)
        row[r] = (r & 3) < ny && r >> 2 < nz ? *(const uint32_t *)(const void *)(p + (r & 3) * c->size[0] + (r >> 2) * plane) : 0;
#pragma unroll
    for (int r = 0; r < 16; r++)
        if ((r & 3) < ny && r >> 2 < nz) half[r >> 3] |= tsr_kept_bytes(c, row[r]) >> (7 - ((r >> 2 & 1) * 4 + (r & 1) * 2 + (r >> 1 & 1)));
    return (uint64_t)tsr_brick_half(half[1]) << 32 | tsr_brick_half(half[0]);
}
TSR_DEVICE_FN uint64_t tsr_brick_plane(const tsr_classifier *c, int64_t origin, int64_t ny)
{
    const uint8_t *p = (const uint8_t *)c->data + origin;
    uint2 row[8];
    uint64_t word = 0;
#pragma unroll
    for (int r = 0; r < 8; r++) row[r] = r < ny ? *(const uint2 *)(const void *)(p + r * c->size[0]) : make_uint2(0, 0);
#pragma unroll
    for (int r = 0; r < 8; r++)
        if (r < ny) word |= tsr_brick_spread8(tsr_classify_bytes(c, row[r].x) | tsr_classify_bytes(c, row[r].y) << 4) << tsr_brick_row8(r);
    return word;
}

#endif
