/* tessera/mapping.h: index maps between arrays of 1 to 4 axes, with their inverses: pure functions for the host and for maps and terms on a GPU.
 *
 * All are bijections between a box of places and [0, count) or a plane, 64-bit safe; arguments lie inside (nothing is checked). Source: [Ziegler10 2.2.5.4],
 * docs/theory/foundations.md 2 (flat 3-D textures after Harris et al. 2003; Morton order 1966; bricks). */
#ifndef TESSERA_MAPPING_H
#define TESSERA_MAPPING_H

#include <stdint.h>

#ifdef __CUDACC__
#define TSR_MAPPING_FN static __host__ __device__ __forceinline__
#else
#define TSR_MAPPING_FN static inline __attribute__((unused))
#endif

/* ---- a line folded into rows of `width` -------------------------------------------------------------------------------------------------- */

TSR_MAPPING_FN void tsr_fold(int64_t i, int64_t width, int64_t at[2])
{
    at[0] = i % width;
    at[1] = i / width;
}
TSR_MAPPING_FN int64_t tsr_unfold(const int64_t at[2], int64_t width) { return at[1] * width + at[0]; }

/* ---- flat 3-D: the slices of a volume side by side in a plane ------------------------------------------------------------------------------ */

typedef struct tsr_flat {
    int64_t size[3];  /* of the volume */
    int64_t columns;  /* slices in a row of the plane */
    int64_t plane[2]; /* extents of the plane; places right of the last slice are unused */
} tsr_flat;

/* columns 0: the least c with c * c >= nz. */
TSR_MAPPING_FN tsr_flat tsr_flat_make(int64_t nx, int64_t ny, int64_t nz, int64_t columns)
{
    tsr_flat f;
    for (f.columns = columns > 0 ? columns : 1; columns <= 0 && f.columns * f.columns < nz; f.columns++) continue;
    f.size[0] = nx;
    f.size[1] = ny;
    f.size[2] = nz;
    f.plane[0] = nx * f.columns;
    f.plane[1] = ny * ((nz + f.columns - 1) / f.columns);
    return f;
}
TSR_MAPPING_FN void tsr_flat_place(const tsr_flat *f, const int64_t at[3], int64_t place[2])
{
    place[0] = at[0] + at[2] % f->columns * f->size[0];
    place[1] = at[1] + at[2] / f->columns * f->size[1];
}
TSR_MAPPING_FN void tsr_flat_inverse(const tsr_flat *f, const int64_t place[2], int64_t at[3])
{
    at[0] = place[0] % f->size[0];
    at[1] = place[1] % f->size[1];
    at[2] = place[1] / f->size[1] * f->columns + place[0] / f->size[0];
}

/* Linear interpolation within slice z of the plane; x and y are brought into the slice, so that neighbours in the plane do not leak. */
TSR_MAPPING_FN float tsr_flat_bilinear(const tsr_flat *f, const float *plane, float x, float y, int64_t z)
{
    const float mx = (float)(f->size[0] - 1), my = (float)(f->size[1] - 1);
    const float cx = x > 0.0f ? x < mx ? x : mx : 0.0f, cy = y > 0.0f ? y < my ? y : my : 0.0f;
    const int64_t i = (int64_t)cx, j = (int64_t)cy, right = i + 1 < f->size[0], below = j + 1 < f->size[1];
    const float a = cx - (float)i, b = cy - (float)j;
    const int64_t at[3] = { i, j, z };
    int64_t p[2];
    tsr_flat_place(f, at, p);
    const float *s = plane + p[1] * f->plane[0] + p[0], *t = s + below * f->plane[0];
    const float upper = s[0] + a * (s[right] - s[0]), lower = t[0] + a * (t[right] - t[0]);
    return upper + b * (lower - upper);
}
/* Linear interpolation of the volume in its plane: two taps in slices, mixed; beyond the volume the border's value. NaN positions are at the origin. */
TSR_MAPPING_FN float tsr_flat_trilinear(const tsr_flat *f, const float *plane, float x, float y, float z)
{
    const float mz = (float)(f->size[2] - 1), cz = z > 0.0f ? z < mz ? z : mz : 0.0f;
    const int64_t k = (int64_t)cz, next = k + 1 < f->size[2] ? k + 1 : k;
    const float near = tsr_flat_bilinear(f, plane, x, y, k), far = tsr_flat_bilinear(f, plane, x, y, next);
    return near + (cz - (float)k) * (far - near);
}

/* ---- Morton order ------------------------------------------------------------------------------------------------------------------------- */

/* Bits of v, of 32 to every other place, of 21 to every third; and back. */
TSR_MAPPING_FN uint64_t tsr_spread2(uint64_t v)
{
    v = (v | v << 16) & 0x0000ffff0000ffffull;
    v = (v | v << 8) & 0x00ff00ff00ff00ffull;
    v = (v | v << 4) & 0x0f0f0f0f0f0f0f0full;
    v = (v | v << 2) & 0x3333333333333333ull;
    return (v | v << 1) & 0x5555555555555555ull;
}
TSR_MAPPING_FN uint64_t tsr_compact2(uint64_t v)
{
    v &= 0x5555555555555555ull;
    v = (v | v >> 1) & 0x3333333333333333ull;
    v = (v | v >> 2) & 0x0f0f0f0f0f0f0f0full;
    v = (v | v >> 4) & 0x00ff00ff00ff00ffull;
    v = (v | v >> 8) & 0x0000ffff0000ffffull;
    return (v | v >> 16) & 0x00000000ffffffffull;
}
TSR_MAPPING_FN uint64_t tsr_spread3(uint64_t v)
{
    v = (v | v << 32) & 0x001f00000000ffffull;
    v = (v | v << 16) & 0x001f0000ff0000ffull;
    v = (v | v << 8) & 0x100f00f00f00f00full;
    v = (v | v << 4) & 0x10c30c30c30c30c3ull;
    return (v | v << 2) & 0x1249249249249249ull;
}
TSR_MAPPING_FN uint64_t tsr_compact3(uint64_t v)
{
    v &= 0x1249249249249249ull;
    v = (v | v >> 2) & 0x10c30c30c30c30c3ull;
    v = (v | v >> 4) & 0x100f00f00f00f00full;
    v = (v | v >> 8) & 0x001f0000ff0000ffull;
    v = (v | v >> 16) & 0x001f00000000ffffull;
    return (v | v >> 32) & 0x00000000001fffffull;
}
/* x the lowest bit. Coordinates below 2^32, 2^21 and 2^16. */
TSR_MAPPING_FN uint64_t tsr_morton2(uint64_t x, uint64_t y) { return tsr_spread2(x) | tsr_spread2(y) << 1; }
TSR_MAPPING_FN uint64_t tsr_morton3(uint64_t x, uint64_t y, uint64_t z) { return tsr_spread3(x) | tsr_spread3(y) << 1 | tsr_spread3(z) << 2; }
TSR_MAPPING_FN uint64_t tsr_morton4(uint64_t x, uint64_t y, uint64_t z, uint64_t w)
{
    return tsr_spread2(tsr_morton2(x, z)) | tsr_spread2(tsr_morton2(y, w)) << 1;
}
TSR_MAPPING_FN void tsr_morton2_inverse(uint64_t key, uint64_t at[2])
{
    at[0] = tsr_compact2(key);
    at[1] = tsr_compact2(key >> 1);
}
TSR_MAPPING_FN void tsr_morton3_inverse(uint64_t key, uint64_t at[3])
{
    for (int k = 0; k < 3; k++) at[k] = tsr_compact3(key >> k);
}
TSR_MAPPING_FN void tsr_morton4_inverse(uint64_t key, uint64_t at[4])
{
    for (int k = 0; k < 2; k++) {
        const uint64_t pair = tsr_compact2(key >> k);
        at[k] = tsr_compact2(pair);
        at[k + 2] = tsr_compact2(pair >> 1);
    }
}
/* Morton order of a box of 2^bits[k] places along axis k, at most 63 bits in all: an axis takes part while it has bits left. */
TSR_MAPPING_FN uint64_t tsr_morton_box(const int32_t bits[4], const uint64_t at[4])
{
    uint64_t key = 0;
    int32_t place = 0;
    for (int32_t b = 0; b < 63; b++)
        for (int32_t k = 0; k < 4; k++)
            if (b < bits[k]) key |= (at[k] >> b & 1u) << place++;
    return key;
}
TSR_MAPPING_FN void tsr_morton_box_inverse(const int32_t bits[4], uint64_t key, uint64_t at[4])
{
    int32_t place = 0;
    at[0] = at[1] = at[2] = at[3] = 0;
    for (int32_t b = 0; b < 63; b++)
        for (int32_t k = 0; k < 4; k++)
            if (b < bits[k]) at[k] |= (key >> place++ & 1u) << b;
}

/* ---- bricks of edge^3, one behind the other, x fastest in and between them; those at the upper borders are whole ------------------------------ */

TSR_MAPPING_FN int64_t tsr_bricked(const int64_t size[3], int64_t edge, const int64_t at[3])
{
    int64_t brick = 0, inside = 0;
    for (int k = 2; k >= 0; k--) {
        brick = brick * ((size[k] + edge - 1) / edge) + at[k] / edge;
        inside = inside * edge + at[k] % edge;
    }
    return brick * edge * edge * edge + inside;
}
/* Of padding: places beyond the volume. */
TSR_MAPPING_FN void tsr_bricked_inverse(const int64_t size[3], int64_t edge, int64_t i, int64_t at[3])
{
    int64_t brick = i / (edge * edge * edge), inside = i % (edge * edge * edge);
    for (int k = 0; k < 3; k++) {
        const int64_t bricks = (size[k] + edge - 1) / edge;
        at[k] = brick % bricks * edge + inside % edge;
        brick /= bricks;
        inside /= edge;
    }
}

#endif
