/* histopyramid/bricks_cuda.h: one thread makes the words of one brick or of the bricks in 16 bytes of a row. Neighbouring threads have neighbouring
 * bricks along x, so that a warp reads whole lines of each row; the rows of a brick are independent loads. */
#ifndef TSR_HISTOPYRAMID_BRICKS_CUDA_H
#define TSR_HISTOPYRAMID_BRICKS_CUDA_H

#include "device/kernel.h"

#include "histopyramid/tree.h"

/* The words of bytes can be read 4 (CUBE) or 8 (PLANE) at a time. */
static inline int tsr_bricks_of_bytes(const tsr_classifier *c, tsr_tree_brick brick)
{
    const int64_t wide = brick == TSR_BRICK_CUBE ? 4 : 8;
    return c->bytes && (brick == TSR_BRICK_CUBE || brick == TSR_BRICK_PLANE) && c->size[0] % wide == 0 && (uintptr_t)c->data % (uintptr_t)wide == 0;
}

/* High bit of each byte of w that the byte rule keeps. NONZERO 1: the rule is known to keep 1 to 255; -1: look. */
template <int NONZERO> TSR_DEVICE_FN uint32_t tsr_kept_high(const tsr_classifier *c, uint32_t w)
{
    uint32_t high;
    if (NONZERO > 0 || (NONZERO < 0 && c->low == 1 && c->high == 255)) high = (((w & 0x7f7f7f7fu) + 0x7f7f7f7fu) | w) & 0x80808080u;
    else high = tsr_bytes_not_below(w, (uint32_t)c->low * 0x01010101u) & tsr_bytes_not_below((uint32_t)c->high * 0x01010101u, w);
    return NONZERO <= 0 && c->invert ? high ^ 0x80808080u : high;
}
static inline int tsr_rule_nonzero(const tsr_classifier *c) { return c->low == 1 && c->high == 255 && !c->invert; }

/* The four high bits, lowest byte first, as the top bits of the result: the products that do not belong there fall below or out. */
TSR_DEVICE_FN uint32_t tsr_high_bits(uint32_t high) { return high * 0x00204081u; }
/* One bit per byte of 16 in a row. */
template <int NONZERO> TSR_DEVICE_FN uint32_t tsr_kept_row(const tsr_classifier *c, const uint4 &v)
{
    uint32_t bits = tsr_high_bits(tsr_kept_high<NONZERO>(c, v.w)) >> 28;
    bits = bits << 4 | tsr_high_bits(tsr_kept_high<NONZERO>(c, v.z)) >> 28;
    bits = bits << 4 | tsr_high_bits(tsr_kept_high<NONZERO>(c, v.y)) >> 28;
    return bits << 4 | tsr_high_bits(tsr_kept_high<NONZERO>(c, v.x)) >> 28;
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
/* Of four rows of 8 x 8, from byte x & 3, bit r = 4 (x >> 2) + 2 (y & 1) + (y >> 1 & 1): (x1 x0 x2 y0 y1) becomes (x2 y1 x1 y0 x0). */
TSR_DEVICE_FN uint32_t tsr_plane_half(uint32_t v)
{
    uint32_t t = (v >> 12 ^ v) & 0x0000f0f0u; /* bits 2 and 4 of the place */
    v ^= t ^ t << 12;
    t = (v >> 7 ^ v) & 0x00aa00aau; /* bits 0 and 3 */
    return v ^ t ^ t << 7;
}
TSR_DEVICE_FN int32_t tsr_brick_bit(int32_t y, int32_t z) { return (z & 1) * 4 + (y & 1) * 2 + (y >> 1 & 1); }
TSR_DEVICE_FN int32_t tsr_plane_bit(int32_t x2, int32_t y) { return x2 * 4 + (y & 1) * 2 + (y >> 1 & 1); }

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
        if ((r & 3) < ny && r >> 2 < nz) half[r >> 3] |= tsr_kept_high<-1>(c, row[r]) >> (7 - tsr_brick_bit(r & 3, r >> 2));
    return (uint64_t)tsr_brick_half(half[1]) << 32 | tsr_brick_half(half[0]);
}
TSR_DEVICE_FN uint64_t tsr_brick_plane(const tsr_classifier *c, int64_t origin, int64_t ny)
{
    const uint8_t *p = (const uint8_t *)c->data + origin;
    uint2 row[8];
    uint32_t half[2] = { 0, 0 };
#pragma unroll
    for (int r = 0; r < 8; r++) row[r] = r < ny ? *(const uint2 *)(const void *)(p + r * c->size[0]) : make_uint2(0, 0);
#pragma unroll
    for (int r = 0; r < 8; r++)
        if (r < ny)
            half[r >> 2] |= tsr_kept_high<-1>(c, row[r].x) >> (7 - tsr_plane_bit(0, r)) | tsr_kept_high<-1>(c, row[r].y) >> (7 - tsr_plane_bit(1, r));
    return (uint64_t)tsr_plane_half(half[1]) << 32 | tsr_plane_half(half[0]);
}

/* Bricks side by side in 16-byte loads: rows of 16 bytes, aligned. */
static inline int tsr_bricks_of_rows(const tsr_classifier *c) { return c->bytes && c->size[0] % 16 == 0 && (uintptr_t)c->data % 16 == 0; }

TSR_DEVICE_FN void tsr_bricks_load(const tsr_classifier *c, int64_t origin, int64_t ny, int64_t nz, uint4 row[16])
{
    const uint8_t *p = (const uint8_t *)c->data + origin;
    const int64_t plane = c->size[0] * c->size[1];
#pragma unroll
    for (int r = 0; r < 16; r++)
        row[r] = (r & 3) < ny && r >> 2 < nz ? *(const uint4 *)(const void *)(p + (r & 3) * c->size[0] + (r >> 2) * plane) : make_uint4(0, 0, 0, 0);
}
template <int NONZERO> TSR_DEVICE_FN void tsr_bricks_words(const tsr_classifier *c, int64_t ny, int64_t nz, const uint4 row[16], uint64_t word[4])
{
    uint32_t half[4][2] = {};
#pragma unroll
    for (int r = 0; r < 16; r++)
        if (NONZERO > 0 || ((r & 3) < ny && r >> 2 < nz)) {
            const int down = 7 - tsr_brick_bit(r & 3, r >> 2);
            half[0][r >> 3] |= tsr_kept_high<NONZERO>(c, row[r].x) >> down;
            half[1][r >> 3] |= tsr_kept_high<NONZERO>(c, row[r].y) >> down;
            half[2][r >> 3] |= tsr_kept_high<NONZERO>(c, row[r].z) >> down;
            half[3][r >> 3] |= tsr_kept_high<NONZERO>(c, row[r].w) >> down;
        }
#pragma unroll
    for (int k = 0; k < 4; k++) word[k] = (uint64_t)tsr_brick_half(half[k][1]) << 32 | tsr_brick_half(half[k][0]);
}
template <int NONZERO> TSR_DEVICE_FN void tsr_bricks_cube(const tsr_classifier *c, int64_t origin, int64_t ny, int64_t nz, uint64_t word[4])
{
    uint4 row[16];
    tsr_bricks_load(c, origin, ny, nz, row);
    tsr_bricks_words<NONZERO>(c, ny, nz, row, word);
}
template <int NONZERO> TSR_DEVICE_FN void tsr_bricks_plane(const tsr_classifier *c, int64_t origin, int64_t ny, uint64_t word[2])
{
    const uint8_t *p = (const uint8_t *)c->data + origin;
    uint4 row[8];
    uint32_t half[2][2] = {};
#pragma unroll
    for (int r = 0; r < 8; r++) row[r] = r < ny ? *(const uint4 *)(const void *)(p + r * c->size[0]) : make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int r = 0; r < 8; r++)
        if (NONZERO > 0 || r < ny) {
            const int near = 7 - tsr_plane_bit(0, r), far = 7 - tsr_plane_bit(1, r);
            half[0][r >> 2] |= tsr_kept_high<NONZERO>(c, row[r].x) >> near | tsr_kept_high<NONZERO>(c, row[r].y) >> far;
            half[1][r >> 2] |= tsr_kept_high<NONZERO>(c, row[r].z) >> near | tsr_kept_high<NONZERO>(c, row[r].w) >> far;
        }
#pragma unroll
    for (int k = 0; k < 2; k++) word[k] = (uint64_t)tsr_plane_half(half[k][1]) << 32 | tsr_plane_half(half[k][0]);
}

/* Words that go together in one access of 16 bytes. */
typedef struct alignas(16) tsr_word_pair {
    uint64_t v[2];
} tsr_word_pair;

#endif
