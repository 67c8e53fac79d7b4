/* render/lookup.h: transfer functions as tables (docs/theory/rendering.md 4: optional 2-D tables, pre-integration). Entries are made on the host,
 * once per function, step and extinction. */
#ifndef TSR_RENDER_LOOKUP_H
#define TSR_RENDER_LOOKUP_H

#include "render/transfer.h"

enum { TSR_LOOKUP_OFF = 0, TSR_LOOKUP_OF_SAMPLES, TSR_LOOKUP_OF_PIECES };

/* An entry is r, g, b (linear) and log2 of the transparency per reference length (<= 0). OF_SAMPLES: [gradients][values], OF_PIECES: [value at the
 * end of a piece][value at its beginning]. */
typedef struct tsr_lookup_view {
    int32_t kind, size[2];
    float low, scale,
        gradient_scale; /* place along the first axis = (value - low) * scale; along the second gradient * gradient_scale or as the first */
    const float *entries;
} tsr_lookup_view;

/* log2 of what is left of light per reference length of opacity a. */
TSR_HD float tsr_transparency(float a) { return tsr_log2(tsr_maxf(1.0f - a, 1.0e-6f)); }

TSR_HD float tsr_lookup_value(const tsr_lookup_view *l, float value) { return (value - l->low) * l->scale; }
/* Value of node i of the first axis. */
TSR_HD float tsr_lookup_node(const tsr_lookup_view *l, int32_t i) { return l->low + (float)i / l->scale; }
TSR_HD float tsr_lookup_gradient(const tsr_lookup_view *l, float slope) { return slope * l->gradient_scale; }

/* First of the four entries around places x and y (clamped; NaN counts as 0), and the shares of those after it along both axes. */
TSR_HD int32_t tsr_lookup_place(const tsr_lookup_view *l, float x, float y, float *fx, float *fy)
{
    const float mx = (float)(l->size[0] - 1), my = (float)(l->size[1] - 1);
    x = x > 0.0f ? tsr_minf(x, mx) : 0.0f;
    y = y > 0.0f ? tsr_minf(y, my) : 0.0f;
    const int32_t i = tsr_mini((int32_t)x, tsr_maxi(l->size[0] - 2, 0)), j = tsr_mini((int32_t)y, tsr_maxi(l->size[1] - 2, 0));
    *fx = x - (float)i;
    *fy = y - (float)j;
    return j * l->size[0] + i;
}
/* Bilinear mixture of the entries: colour, and the exponent last. */
TSR_HD void tsr_lookup_mix(const tsr_lookup_view *l, int32_t at, float fx, float fy, float out[4])
{
    const int32_t dx = l->size[0] > 1 ? 4 : 0, dy = l->size[1] > 1 ? 4 * l->size[0] : 0;
    const float *e = l->entries + 4 * (int64_t)at;
    for (int32_t k = 0; k < 4; k++) {
        const float a = e[k] + fx * (e[dx + k] - e[k]), b = e[dy + k] + fx * (e[dy + dx + k] - e[dy + k]);
        out[k] = a + fy * (b - a);
    }
}
TSR_HD float tsr_lookup_entry(const tsr_lookup_view *l, float x, float y, tsr_float3 *color)
{
    float fx, fy, out[4];
    const int32_t at = tsr_lookup_place(l, x, y, &fx, &fy);
    tsr_lookup_mix(l, at, fx, fy, out);
    *color = tsr_f3(out[0], out[1], out[2]);
    return out[3];
}

#endif
