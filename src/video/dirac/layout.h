/* video/dirac/layout.h: where the sub-bands of a component lie, in the nested order of the wavelet plans: the approximation in the corner. */
#ifndef TSR_VIDEO_DIRAC_LAYOUT_H
#define TSR_VIDEO_DIRAC_LAYOUT_H

#include "core/hd.h"
#include "video/dirac/syntax.h"

typedef struct tsr_dirac_band {
    int64_t offset; /* elements; rows are layout.stride apart */
    int32_t width, height;
} tsr_dirac_band;

typedef struct tsr_dirac_layout {
    int32_t width, height;         /* of the component */
    int32_t stride, padded_height; /* of its coefficients, multiples of what the levels halve */
    tsr_dirac_band band[TSR_DIRAC_LEVELS + 1][4];
} tsr_dirac_layout;

static inline int64_t tsr_dirac_layout_elements(const tsr_dirac_layout *l) { return (int64_t)l->stride * l->padded_height; }

void tsr_dirac_layout_make(const tsr_dirac_transform *t, int32_t width, int32_t height, tsr_dirac_layout *layout);

/* Extents of component c of one picture. */
static inline void tsr_dirac_component_size(const tsr_dirac_sequence *s, int c, int32_t *width, int32_t *height)
{
    *width = c && s->chroma != TSR_CHROMA_444 ? s->width / 2 : s->width;
    *height = (c && s->chroma == TSR_CHROMA_420 ? s->height / 2 : s->height) >> s->fields;
}

/* The part of a band that slice (sx, sy) covers. */
typedef struct tsr_dirac_area {
    int32_t x0, x1, y0, y1;
} tsr_dirac_area;
static inline tsr_dirac_area tsr_dirac_slice_area(const tsr_dirac_transform *t, const tsr_dirac_band *b, int32_t sx, int32_t sy)
{
    return (tsr_dirac_area){ (int32_t)((int64_t)b->width * sx / t->slices_x), (int32_t)((int64_t)b->width * (sx + 1) / t->slices_x),
                             (int32_t)((int64_t)b->height * sy / t->slices_y), (int32_t)((int64_t)b->height * (sy + 1) / t->slices_y) };
}

/* The same without divisions where all slices of a band have the same extents: 0 where they have not. */
typedef struct tsr_dirac_steps {
    int32_t x, y;
} tsr_dirac_steps;
static inline tsr_dirac_steps tsr_dirac_steps_of(const tsr_dirac_transform *t, const tsr_dirac_band *b)
{
    return (tsr_dirac_steps){ b->width % t->slices_x ? 0 : b->width / t->slices_x, b->height % t->slices_y ? 0 : b->height / t->slices_y };
}
static inline tsr_dirac_area tsr_dirac_stepped_area(const tsr_dirac_transform *t, const tsr_dirac_band *b, tsr_dirac_steps s, int32_t sx, int32_t sy)
{
    if (!s.x || !s.y) return tsr_dirac_slice_area(t, b, sx, sy);
    return (tsr_dirac_area){ sx * s.x, (sx + 1) * s.x, sy * s.y, (sy + 1) * s.y };
}

/* What the approximation at `here` is predicted from, in rows of `stride`: the neighbours that a decoder has before it. */
TSR_HD int32_t tsr_dirac_neighbours_mean(const int32_t *here, int64_t stride, int32_t x, int32_t y)
{
    if (x && y) {
        const int64_t sum = (int64_t)here[-1] + here[-stride] + here[-stride - 1] + 1;
        return (int32_t)(sum >= 0 ? sum / 3 : -((-sum + 2) / 3));
    }
    return x ? here[-1] : y ? here[-stride] : 0;
}

/* Bytes of low-delay slice n; its share of the picture in high-quality streams of a fixed rate. */
static inline int64_t tsr_dirac_slice_bytes(const tsr_dirac_transform *t, int64_t n)
{
    return (int64_t)((uint64_t)(n + 1) * t->numerator / t->denominator - (uint64_t)n * t->numerator / t->denominator);
}

/* Bits of the length of the luma part in a low-delay slice. */
static inline int tsr_dirac_length_bits(int64_t bytes) { return bytes > 1 ? 32 - __builtin_clz((unsigned)(8 * bytes - 8)) : 0; }

#endif
