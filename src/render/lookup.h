/* render/lookup.h: transfer functions as tables (spec volume-rendering.md 2.4: optional 2-D tables, pre-integration). Entries are made on the host,
 * once per function, step and extinction. */
#ifndef TSR_RENDER_LOOKUP_H
#define TSR_RENDER_LOOKUP_H

#include "render/transfer.h"

enum { TSR_LOOKUP_OFF = 0, TSR_LOOKUP_OF_SAMPLES, TSR_LOOKUP_OF_PIECES };

/* An entry is r, g, b (linear) and log2 of the transparency per reference length (<= 0). OF_SAMPLES: [gradients][values], OF_PIECES: [value at the end
 * of a piece][value at its beginning]. */
typedef struct tsr_lookup_view {
    int32_t kind, size[2];
    float low, scale,
        gradient_scale; /* place along the first axis = (value - low) * scale; along the second gradient * gradient_scale or as the first */
    const float *entries;
} tsr_lookup_view;

/* log2 of what is left of light per reference length of opacity a. */
TSR_HD float tsr_transparency(float a) { return tsr_log2(tsr_maxf(1.0f - a, 1.0e-6f)); }

/* Bilinear entry at places x and y (clamped; NaN counts as 0): colour, and the exponent. */
TSR_HD float tsr_lookup_entry(const tsr_lookup_view *l, float x, float y, tsr_float3 *color)
{
    float mx = (float)(l->size[0] - 1), my = (float)(l->size[1] - 1);
    x = x > 0.0f ? tsr_minf(x, mx) : 0.0f;
    y = y > 0.0f ? tsr_minf(y, my) : 0.0f;
    int32_t i = tsr_mini((int32_t)x, tsr_maxi(l->size[0] - 2, 0)), j = tsr_mini((int32_t)y, tsr_maxi(l->size[1] - 2, 0));
    int32_t dx = l->size[0] > 1 ? 4 : 0, dy = l->size[1] > 1 ? 4 * l->size[0] : 0;
    float fx = x - (float)i, fy = y - (float)j, out[4];
    const float *e = l->entries + 4 * ((int64_t)j * l->size[0] + i);
    for (int32_t k = 0; k < 4; k++) {
        float a = e[k] + fx * (e[dx + k] - e[k]), b = e[dy + k] + fx * (e[dy + dx + k] - e[dy + k]);
        out[k] = a + fy * (b - a);
    }
    *color = tsr_f3(out[0], out[1], out[2]);
    return out[3];
}

#endif
