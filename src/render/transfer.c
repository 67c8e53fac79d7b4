#include <math.h>
#include <string.h>

#include "render/scene.h"

/* What a primitive has beside value and gradient. */
static tsr_status check_primitive(const struct tsr_transfer_gaussian *g, int i)
{
    if (!isfinite(g->level_centre) || !(g->level_width >= 0 && isfinite(g->level_width)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "transfer function: Gaussian %d has level centre %g and level width %g, expected finite numbers and width >= 0",
                 i, (double)g->level_centre, (double)g->level_width);
    if ((int)g->shape < 0 || g->shape > TSR_TRANSFER_TRIANGLE)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "transfer function: primitive %d has shape %d, expected TSR_TRANSFER_GAUSSIAN to TSR_TRANSFER_TRIANGLE", i,
                 (int)g->shape);
    int sheared = 0;
    for (int k = 0; k < 3; k++) {
        if (!isfinite(g->shear[k]))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "transfer function: primitive %d has shear %g, expected finite numbers", i, (double)g->shear[k]);
        sheared |= g->shear[k] != 0;
    }
    if (g->beyond < 0 || g->beyond > 7 || (g->beyond && sheared))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "transfer function: primitive %d has beyond %d%s, expected a sum of 1, 2 and 4, and no shear with it", i,
                 (int)g->beyond, sheared ? " and shear" : "");
    return TSR_OK;
}

tsr_status tsr_transfer_check(const tsr_transfer *t, tsr_transfer_linear *out)
{
    memset(out, 0, sizeof *out);
    if (t->points < 0 || t->points > TSR_TRANSFER_POINTS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "transfer function: %d points, expected 0 to %d", t->points, TSR_TRANSFER_POINTS);
    if (t->gaussians < 0 || t->gaussians > TSR_TRANSFER_GAUSSIANS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "transfer function: %d Gaussians, expected 0 to %d", t->gaussians, TSR_TRANSFER_GAUSSIANS);
    if (t->points + t->gaussians == 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "transfer function: no points and no Gaussians");
    out->points = t->points;
    out->gaussians = t->gaussians;
    for (int i = 0; i < t->points; i++) {
        const struct tsr_transfer_point *p = &t->point[i];
        if (!isfinite(p->value) || !(p->alpha >= 0 && p->alpha <= 1))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "transfer function: point %d has value %g and alpha %g, expected a finite value and alpha in [0, 1]", i,
                     (double)p->value, (double)p->alpha);
        if (i > 0 && !(p->value > t->point[i - 1].value))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "transfer function: point %d has value %g, expected more than the %g before it", i, (double)p->value,
                     (double)t->point[i - 1].value);
        out->point[i].value = p->value;
        out->point[i].alpha = p->alpha;
        out->point[i].color = tsr_color_linear(p->color);
    }
    for (int i = 0; i < t->gaussians; i++) {
        const struct tsr_transfer_gaussian *g = &t->gaussian[i];
        if (!isfinite(g->centre) || !(g->width > 0 && isfinite(g->width)) || !(g->alpha >= 0 && g->alpha <= 1) || !isfinite(g->gradient_centre) ||
            !(g->gradient_width >= 0 && isfinite(g->gradient_width)))
            TSR_FAIL(TSR_ERROR_ARGUMENT,
                     "transfer function: Gaussian %d has centre %g, width %g, gradient width %g, alpha %g; expected finite numbers, width > 0, "
                     "gradient width >= 0 and alpha in [0, 1]",
                     i, (double)g->centre, (double)g->width, (double)g->gradient_width, (double)g->alpha);
        out->gaussian[i].centre = g->centre;
        out->gaussian[i].inverse_width = 1 / g->width;
        out->gaussian[i].gradient_centre = g->gradient_centre;
        out->gaussian[i].gradient_inverse_width = g->gradient_width > 0 ? 1 / g->gradient_width : 0;
        out->gaussian[i].alpha = g->alpha;
        out->gaussian[i].color = tsr_color_linear(g->color);
        TSR_TRY(check_primitive(g, i));
        out->gaussian[i].level_centre = g->level_centre;
        out->gaussian[i].level_inverse_width = g->level_width > 0 ? 1 / g->level_width : 0;
        memcpy(out->gaussian[i].shear, g->shear, sizeof g->shear);
        out->gaussian[i].shape = (int32_t)g->shape;
        out->gaussian[i].beyond = g->beyond;
        const int sheared = g->shear[0] != 0 || g->shear[1] != 0 || g->shear[2] != 0;
        out->needs_gradient |= g->gradient_width > 0 || g->shear[0] != 0 || g->shear[2] != 0;
        out->needs_level |= g->level_width > 0 || g->shear[1] != 0 || g->shear[2] != 0;
        out->general |= g->level_width > 0 || sheared || g->shape != TSR_TRANSFER_GAUSSIAN || g->beyond != 0;
    }
    return TSR_OK;
}

tsr_status tsr_transfer_sample(const tsr_transfer *transfer, double value, double gradient, double level, double *alpha, tsr_color *color)
{
    tsr_transfer_linear linear;
    tsr_float3 c;
    if (!transfer || !alpha) TSR_FAIL(TSR_ERROR_ARGUMENT, "transfer function: %s is NULL", transfer ? "alpha" : "transfer");
    TSR_TRY(tsr_transfer_check(transfer, &linear));
    *alpha = (double)tsr_transfer_evaluate(&linear, 1, (float)value, (float)gradient, (float)level, &c);
    if (color) *color = (tsr_color){ tsr_srgb_encode(c.x), tsr_srgb_encode(c.y), tsr_srgb_encode(c.z) };
    return TSR_OK;
}

static void add(tsr_transfer *t, double value, double alpha, double r, double g, double b)
{
    t->point[t->points++] = (struct tsr_transfer_point){ (float)value, (float)alpha, { (float)r, (float)g, (float)b } };
}

tsr_status tsr_transfer_make(tsr_transfer_preset preset, double low, double high, tsr_transfer *transfer)
{
    TSR_NEEDS(transfer);
    if (!isfinite(low) || !isfinite(high) || !(low < high))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "window %g to %g, expected two finite numbers in rising order", low, high);
    double w = high - low;
    memset(transfer, 0, sizeof *transfer);
    switch (preset) {
    case TSR_TRANSFER_GREY:
        add(transfer, low, 0, 0, 0, 0);
        add(transfer, high, 0.12, 1, 1, 1);
        return TSR_OK;
    case TSR_TRANSFER_MRI_HEAD: /* air clear, then a thin veil, denser where fat and skin shine */
        add(transfer, low + 0.10 * w, 0, 0.60, 0.40, 0.33);
        add(transfer, low + 0.22 * w, 0.010, 0.72, 0.50, 0.42);
        add(transfer, low + 0.45 * w, 0.016, 0.82, 0.63, 0.53);
        add(transfer, low + 0.75 * w, 0.035, 0.93, 0.80, 0.68);
        add(transfer, low + 1.00 * w, 0.060, 1.00, 0.94, 0.84);
        return TSR_OK;
    case TSR_TRANSFER_MRI_BRAIN: /* fluid blue and faint, grey matter rose, white matter ivory */
        add(transfer, low + 0.08 * w, 0, 0.25, 0.35, 0.55);
        add(transfer, low + 0.25 * w, 0.010, 0.35, 0.45, 0.65);
        add(transfer, low + 0.42 * w, 0.120, 0.78, 0.55, 0.50);
        add(transfer, low + 0.58 * w, 0.180, 0.86, 0.66, 0.58);
        add(transfer, low + 0.70 * w, 0.350, 0.96, 0.92, 0.82);
        add(transfer, low + 1.00 * w, 0.450, 1.00, 0.98, 0.92);
        return TSR_OK;
    case TSR_TRANSFER_CT_BONE:
        add(transfer, 150, 0, 0.80, 0.62, 0.48);
        add(transfer, 300, 0.10, 0.90, 0.78, 0.62);
        add(transfer, 700, 0.60, 0.97, 0.92, 0.82);
        add(transfer, 2000, 0.90, 1, 1, 0.97);
        return TSR_OK;
    case TSR_TRANSFER_CT_SOFT:
        add(transfer, -700, 0, 0.75, 0.52, 0.40);
        add(transfer, -300, 0.020, 0.85, 0.62, 0.50);
        add(transfer, -60, 0.012, 0.90, 0.75, 0.50);
        add(transfer, 20, 0.030, 0.75, 0.30, 0.25);
        add(transfer, 90, 0.080, 0.80, 0.32, 0.26);
        add(transfer, 180, 0.200, 0.92, 0.50, 0.35);
        add(transfer, 350, 0.450, 0.95, 0.85, 0.70);
        add(transfer, 1500, 0.850, 1, 0.98, 0.93);
        return TSR_OK;
    }
    TSR_FAIL(TSR_ERROR_ARGUMENT, "transfer preset %d, expected TSR_TRANSFER_GREY to TSR_TRANSFER_CT_SOFT", (int)preset);
}

tsr_status tsr_transfer_parse(const char *name, tsr_transfer_preset *preset)
{
    TSR_NEEDS(preset);
    static const char *const names[] = { "grey", "mri-head", "mri-brain", "ct-bone", "ct-soft" };
    for (int i = 0; i < 5; i++) {
        if (name && !strcmp(name, names[i])) {
            *preset = (tsr_transfer_preset)i;
            return TSR_OK;
        }
    }
    TSR_FAIL(TSR_ERROR_ARGUMENT, "transfer function '%.40s', expected grey, mri-head, mri-brain, ct-bone or ct-soft", name ? name : "");
}
