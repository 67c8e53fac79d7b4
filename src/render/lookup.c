/* render/lookup.c: tables of transfer functions, kept by the scene as long as nothing they depend on changes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/scene.h"

void tsr_scene_drop_lookup(tsr_scene *s)
{
    if (s->lookup.entries) tsr_device_release(s->context, s->lookup.entries, s->lookup.bytes);
    memset(&s->lookup, 0, sizeof s->lookup);
}

static void put(float *entry, tsr_float3 color, float exponent)
{
    entry[0] = color.x;
    entry[1] = color.y;
    entry[2] = color.z;
    entry[3] = exponent;
}

/* Entries of a function of value (and gradient), one per node. */
static void fill_samples(const struct tsr_lookup_key *key, const tsr_lookup_view *view, float *entries)
{
    for (int32_t j = 0; j < view->size[1]; j++)
        for (int32_t i = 0; i < view->size[0]; i++) {
            tsr_float3 c;
            float gradient = view->gradient_scale > 0 ? (float)j / view->gradient_scale : 0.0f;
            float a = tsr_transfer_evaluate(&key->transfer, 1, tsr_lookup_node(view, i), gradient, 0.0f, &c);
            put(entries + 4 * ((int64_t)j * view->size[0] + i), c, tsr_transparency(a));
        }
}

/* Entries of pieces: the value runs linearly from node i to node j; composed front to back over the nodes between, the function linear in between
 * (extinction and emission). `length` = extinction times the length of a whole piece, which the colour depends on. Colours of clear pieces are those
 * of the nodes, so that interpolation towards them is harmless. */
static void fill_pieces(const struct tsr_lookup_key *key, const tsr_lookup_view *view, float *entries)
{
    enum { SUB = 4 }; /* at least so many steps a piece */
    const int32_t n = view->size[0];
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = 0; i < n; i++) {
            int32_t cells = abs(j - i), steps = cells < 1 ? 1 : cells < SUB ? SUB : cells;
            double red = 0, green = 0, blue = 0, total = 0, clear = 1, plain[3] = { 0, 0, 0 };
            for (int32_t s = 0; s < steps; s++) {
                tsr_float3 c;
                double at = i + (j - i) * ((s + 0.5) / steps);
                double a = (double)tsr_transfer_evaluate(&key->transfer, 1, view->low + (float)at / view->scale, 0.0f, 0.0f, &c);
                double exponent = (double)tsr_transparency((float)a) / steps, rest = exp2(exponent * (double)key->length),
                       weight = clear * (1 - rest);
                total += exponent;
                clear *= rest;
                red += weight * (double)c.x;
                green += weight * (double)c.y;
                blue += weight * (double)c.z;
                plain[0] += (double)c.x / steps;
                plain[1] += (double)c.y / steps;
                plain[2] += (double)c.z / steps;
            }
            double opacity = 1 - clear;
            tsr_float3 color = opacity > 1e-9 ? tsr_f3((float)(red / opacity), (float)(green / opacity), (float)(blue / opacity))
                                              : tsr_f3((float)plain[0], (float)plain[1], (float)plain[2]);
            put(entries + 4 * ((int64_t)j * n + i), color, (float)total);
        }
}

tsr_status tsr_scene_lookup(tsr_scene *s, const struct tsr_lookup_key *key, tsr_lookup_view *view)
{
    const tsr_transfer_linear *f = &key->transfer;
    if (s->lookup.entries && !memcmp(&s->lookup.key, key, sizeof *key)) {
        *view = s->lookup.view;
        return TSR_OK;
    }
    memset(view, 0, sizeof *view);
    view->kind = key->kind;
    view->size[0] = key->size;
    view->size[1] = key->kind == TSR_LOOKUP_OF_PIECES ? key->size : 1;
    view->low = key->low;
    view->scale = (float)(key->size - 1) / (key->high - key->low);
    if (key->kind == TSR_LOOKUP_OF_SAMPLES && f->needs_gradient) {
        double top = 0; /* beyond it a function of the gradient changes no more */
        for (int32_t i = 0; i < f->gaussians; i++) {
            double width = f->gaussian[i].gradient_inverse_width > 0 ? 1 / (double)f->gaussian[i].gradient_inverse_width : 0;
            top = fmax(top, (double)f->gaussian[i].gradient_centre + (f->gaussian[i].shape == 0 ? 5 : 1) * width);
        }
        view->size[1] = key->size;
        view->gradient_scale = top > 0 ? (float)((key->size - 1) / top) : 0;
    }
    size_t bytes = (size_t)view->size[0] * (size_t)view->size[1] * 16;
    float *host = (float *)malloc(bytes);
    if (!host) TSR_FAIL(TSR_ERROR_MEMORY, "transfer function: out of host memory for a table of %d x %d", (int)view->size[0], (int)view->size[1]);
    if (key->kind == TSR_LOOKUP_OF_PIECES) fill_pieces(key, view, host);
    else fill_samples(key, view, host);
    tsr_scene_drop_lookup(s);
    void *entries = NULL;
    tsr_status status = tsr_device_allocate(s->context, bytes, &entries);
    if (status == TSR_OK) status = s->context->backend->upload(s->context->queue, entries, host, bytes);
    free(host);
    if (status != TSR_OK) {
        tsr_device_release(s->context, entries, bytes);
        TSR_TRY(status);
    }
    view->entries = (const float *)entries;
    s->lookup.entries = entries;
    s->lookup.bytes = bytes;
    s->lookup.key = *key;
    s->lookup.view = *view;
    return TSR_OK;
}
