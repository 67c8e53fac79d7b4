/* fluid/fluid_look.c: the presets. */
#include <math.h>
#include <string.h>

#include "core/core.h"
#include "tessera/fluid.h"

static const char *const preset_names[] = { "water", "oil", "milk", "lava", "honey" };
enum { PRESETS = sizeof preset_names / sizeof *preset_names };

/* Absorption in units of 1 / (8 radii), refraction of 1 / radius. */
static const tsr_fluid_look presets[PRESETS] = {
    [TSR_FLUID_WATER] = { .color = { 0.008f, 0.060f, 0.095f },
                          .absorption = { 0.55f, 0.14f, 0.09f },
                          .fresnel = 0.02f,
                          .specular = 0.9f,
                          .shininess = 420.0f,
                          .refraction = 0.010f,
                          .matte = 0.35f,
                          .foam = { 0.92f, 0.95f, 0.97f },
                          .foam_low = 0.18f,
                          .foam_high = 1.5f,
                          .foam_fill = 0.10f,
                          .bump = 0.10f,
                          .noise = 0.06f,
                          .agitated = 1.0f },
    [TSR_FLUID_OIL] = { .color = { 0.30f, 0.17f, 0.012f },
                        .absorption = { 0.16f, 0.42f, 2.2f },
                        .fresnel = 0.036f,
                        .specular = 0.8f,
                        .shininess = 260.0f,
                        .refraction = 0.012f,
                        .matte = 0.35f,
                        .foam = { 0.9f, 0.8f, 0.5f },
                        .foam_low = 2.0f,
                        .foam_high = 3.0f },
    [TSR_FLUID_MILK] = { .color = { 0.64f, 0.615f, 0.57f },
                         .absorption = { 5.0f, 5.6f, 7.0f },
                         .fresnel = 0.03f,
                         .specular = 0.45f,
                         .shininess = 160.0f,
                         .refraction = 0.004f,
                         .matte = 0.94f,
                         .foam = { 0.95f, 0.93f, 0.9f },
                         .foam_low = 2.0f,
                         .foam_high = 3.0f },
    [TSR_FLUID_LAVA] = { .color = { 1.35f, 0.23f, 0.014f },
                         .absorption = { 9.0f, 9.0f, 9.0f },
                         .fresnel = 0.03f,
                         .specular = 0.10f,
                         .shininess = 24.0f,
                         .refraction = 0.0f,
                         .matte = 0.45f,
                         .emission = { 0.16f, 0.018f, 0.0f },
                         .foam = { 0.075f, 0.062f, 0.058f },
                         .foam_low = 0.40f,
                         .foam_high = 0.90f,
                         .bump = 0.30f,
                         .noise = 0.8f,
                         .agitated = 0.25f,
                         .noise_size = 10.0f },

    [TSR_FLUID_HONEY] = { .color = { 0.44f, 0.17f, 0.008f },
                          .absorption = { 0.30f, 0.95f, 5.0f },
                          .fresnel = 0.039f,
                          .specular = 0.9f,
                          .shininess = 320.0f,
                          .refraction = 0.014f,
                          .matte = 0.5f,
                          .foam = { 0.9f, 0.8f, 0.5f },
                          .foam_low = 2.0f,
                          .foam_high = 3.0f },
};

tsr_status tsr_fluid_look_make(tsr_fluid_preset preset, double radius, tsr_fluid_look *look)
{
    TSR_NEEDS(look);
    if ((unsigned)preset >= PRESETS) TSR_FAIL(TSR_ERROR_ARGUMENT, "preset is %d, expected 0 to %d", (int)preset, PRESETS - 1);
    if (!(radius > 0 && radius <= 1e15)) TSR_FAIL(TSR_ERROR_ARGUMENT, "radius is %g, expected a number above 0", radius);
    *look = presets[preset];
    look->struct_size = sizeof *look;
    for (int k = 0; k < 3; k++) look->absorption[k] /= (float)(8 * radius);
    look->refraction /= (float)radius;
    return TSR_OK;
}

tsr_status tsr_fluid_preset_parse(const char *name, tsr_fluid_preset *preset)
{
    if (!name || !preset) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", name ? "preset" : "name");
    for (int k = 0; k < PRESETS; k++)
        if (!strcmp(name, preset_names[k])) {
            *preset = (tsr_fluid_preset)k;
            return TSR_OK;
        }
    TSR_FAIL(TSR_ERROR_ARGUMENT, "look '%s' is unknown, expected water, oil, milk, lava or honey", name);
}

static const char *const smoother_names[] = { "flow",           "exact",          "implicit", "multigrid", "narrow-range", "bilateral",
                                              "bilateral-true", "bilateral-grid", "gaussian", "binomial",  "none" };

tsr_status tsr_fluid_smoother_parse(const char *name, tsr_fluid_smoother *smoother)
{
    if (!name || !smoother) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", name ? "smoother" : "name");
    for (size_t k = 0; k < sizeof smoother_names / sizeof *smoother_names; k++)
        if (!strcmp(name, smoother_names[k])) {
            *smoother = (tsr_fluid_smoother)k;
            return TSR_OK;
        }
    TSR_FAIL(TSR_ERROR_ARGUMENT,
             "smoother '%s' is unknown, expected flow, exact, implicit, multigrid, narrow-range, bilateral, bilateral-true, bilateral-grid, "
             "gaussian, binomial or none",
             name);
}
