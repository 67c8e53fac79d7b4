/* fluid/sim_scenes.c: scenes of known names. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fluid/sim.h"

typedef struct scene {
    tsr_fluid_scene info;
    double volume, flow; /* of fluid: at first, and per second, m^3 */
    tsr_vec3 lower, upper;
    double viscosity, tension, friction; /* unless the caller chooses */
    tsr_status (*solids)(tsr_fluid_sim *sim);
    tsr_status (*fluid)(tsr_fluid_sim *sim, double seconds);
} scene;

static const tsr_vec3 AT_REST = { 0, 0, 0 };

/* A column of water behind a gate that is gone at once: 0.6 x 0.8 x 0.8 m in a tank of 2 x 0.8 x 1.6 m. */
static tsr_status dam_solids(tsr_fluid_sim *sim)
{
    TSR_TRY(tsr_fluid_sim_add_room(sim, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 2, 0.8, 1.6 }));
    return TSR_OK;
}
static tsr_status dam_fluid(tsr_fluid_sim *sim, double seconds)
{
    (void)seconds;
    TSR_TRY(tsr_fluid_sim_add_block(sim, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0.6, 0.8, 0.8 }, AT_REST));
    return TSR_OK;
}

/* A jet out of a pipe 12 cm wide into a basin, against a ball. */
static tsr_status jet_solids(tsr_fluid_sim *sim)
{
    TSR_TRY(tsr_fluid_sim_add_room(sim, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 2, 1, 3 }));
    TSR_TRY(tsr_fluid_sim_add_sphere(sim, (tsr_vec3){ 1.45, 0.5, 0.16 }, 0.16));
    return TSR_OK;
}
static tsr_status jet_fluid(tsr_fluid_sim *sim, double seconds)
{
    TSR_TRY(tsr_fluid_sim_add_inflow(sim, (tsr_vec3){ 0.08, 0.5, 0.75 }, (tsr_vec3){ 2.6, 0, 0.9 }, 0.06, AT_REST, 0, 0, seconds));
    return TSR_OK;
}

/* Four steps down a corridor 0.8 m wide; what reaches the end is gone. */
enum { STEPS = 4 };
static tsr_status waterfall_solids(tsr_fluid_sim *sim)
{
    TSR_TRY(tsr_fluid_sim_add_plane(sim, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 1, 0 }));
    TSR_TRY(tsr_fluid_sim_add_plane(sim, (tsr_vec3){ 0, 0.8, 0 }, (tsr_vec3){ 0, -1, 0 }));
    TSR_TRY(tsr_fluid_sim_add_plane(sim, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 1, 0, 0 }));
    TSR_TRY(tsr_fluid_sim_add_plane(sim, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 0, 1 }));
    for (int k = 0; k < STEPS; k++) /* each from the wall to its edge */
        TSR_TRY(tsr_fluid_sim_add_box(sim, (tsr_vec3){ -0.2, -0.1, 0.3 * (STEPS - k - 1) }, (tsr_vec3){ 0.4 * (k + 1), 0.9, 0.3 * (STEPS - k) }));
    return TSR_OK;
}
static tsr_status waterfall_fluid(tsr_fluid_sim *sim, double seconds)
{
    TSR_TRY(tsr_fluid_sim_add_inflow(sim, (tsr_vec3){ 0.05, 0.4, 0.3 * STEPS + 0.04 }, (tsr_vec3){ 1.8, 0, 0 }, 0.04, (tsr_vec3){ 0, 1, 0 }, 0.4, 0, seconds));
    return TSR_OK;
}

/* Thick fluid falls into a glass as two blobs. */
static tsr_status glass_solids(tsr_fluid_sim *sim)
{
    TSR_TRY(tsr_fluid_sim_add_plane(sim, (tsr_vec3){ 0, 0, -0.006 }, (tsr_vec3){ 0, 0, 1 }));
    TSR_TRY(tsr_fluid_sim_add_glass(sim, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 0, 1 }, 0.04, 0.1, 0.006));
    return TSR_OK;
}
static tsr_status glass_fluid(tsr_fluid_sim *sim, double seconds)
{
    (void)seconds;
    TSR_TRY(tsr_fluid_sim_add_ball(sim, (tsr_vec3){ 0.006, 0, 0.16 }, 0.034, (tsr_vec3){ 0, 0, -0.8 }));
    TSR_TRY(tsr_fluid_sim_add_ball(sim, (tsr_vec3){ -0.008, 0.004, 0.25 }, 0.026, (tsr_vec3){ 0, 0, -0.8 }));
    return TSR_OK;
}

/* A drop falls into a layer of the same liquid: a crown rises. Tension and viscosity are such that inertia is to them what it is in a drop of 5 mm at 3 m/s (Weber number 650,
 * Reynolds number 1900): water's own would tear a drop of this size to spray. */
static tsr_status crown_solids(tsr_fluid_sim *sim)
{
    TSR_TRY(tsr_fluid_sim_add_room(sim, (tsr_vec3){ -0.08, -0.08, 0 }, (tsr_vec3){ 0.08, 0.08, 1 }));
    return TSR_OK;
}
static tsr_status crown_fluid(tsr_fluid_sim *sim, double seconds)
{
    (void)seconds;
    TSR_TRY(tsr_fluid_sim_add_block(sim, (tsr_vec3){ -0.08, -0.08, 0 }, (tsr_vec3){ 0.08, 0.08, 0.01 }, AT_REST));
    TSR_TRY(tsr_fluid_sim_add_ball(sim, (tsr_vec3){ 0, 0, 0.03 }, 0.016, (tsr_vec3){ 0, 0, -3.5 }));
    return TSR_OK;
}

static const scene scenes[] = {
    { .info = { "fluid-dam", "water behind a gate that is gone: a column of 0.6 x 0.8 x 0.8 m in a tank of 2 m", 4, 0 }, .volume = 0.384,
      .lower = { -0.1, -0.1, -0.1 }, .upper = { 2.1, 0.9, 1.7 }, .solids = dam_solids, .fluid = dam_fluid },
    { .info = { "fluid-jet", "a jet out of a pipe 12 cm wide, into a basin of 2 x 1 m and against a ball", 4, 1 }, .flow = 0.0113 * 2.751,
      .lower = { -0.1, -0.1, -0.1 }, .upper = { 2.1, 1.1, 2.4 }, .solids = jet_solids, .fluid = jet_fluid },
    { .info = { "fluid-waterfall", "water down four steps of a corridor 0.8 m wide", 5, 1 }, .flow = 0.8 * 0.08 * 1.8, .lower = { -0.05, -0.1, -0.1 },
      .upper = { 2.2, 0.9, 1.8 }, .solids = waterfall_solids, .fluid = waterfall_fluid },
    { .info = { "fluid-glass", "two blobs of thick fluid fall into a glass 8 cm wide", 1.5, 0 }, .volume = 1.6464e-4 + 7.362e-5, .lower = { -0.15, -0.15, -0.02 },
      .upper = { 0.15, 0.15, 0.3 }, .viscosity = 0.002, .tension = 0.03, .friction = 0.3, .solids = glass_solids, .fluid = glass_fluid },
    { .info = { "fluid-crown", "a drop 32 mm wide falls into a layer of 10 mm", 0.25, 0 }, .volume = 2.56e-4 + 1.7157e-5, .lower = { -0.09, -0.09, -0.01 },
      .upper = { 0.09, 0.09, 0.4 }, .viscosity = 6e-5, .tension = 0.6, .solids = crown_solids, .fluid = crown_fluid },
};
enum { SCENES = sizeof scenes / sizeof *scenes };

const tsr_fluid_scene *tsr_fluid_scene_at(int32_t index) { return index >= 0 && index < SCENES ? &scenes[index].info : NULL; }

/* The scene of a name, and its options, complete. */
static tsr_status find_scene(const char *name, const tsr_fluid_scene_options *options, const scene **found, tsr_fluid_scene_options *own)
{
    char names[256] = "";
    *found = NULL;
    TSR_TRY(TSR_OPTIONS_TAKE(own, options));
    for (int k = 0; k < SCENES; k++) {
        if (!strcmp(name, scenes[k].info.name)) *found = &scenes[k];
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", k ? ", " : "", scenes[k].info.name);
    }
    if (!*found) TSR_FAIL(TSR_ERROR_ARGUMENT, "'%.40s' is not known, expected one of %s", name, names);
    if (own->count == 0) own->count = 64000;
    if (own->count < 1000 || own->count > 100000000) TSR_FAIL(TSR_ERROR_ARGUMENT, "count is %lld, expected 1000 to 100000000", (long long)own->count);
    if (own->seconds == 0) own->seconds = (*found)->info.seconds;
    if (!(own->seconds > 0 && own->seconds <= 1e6)) TSR_FAIL(TSR_ERROR_ARGUMENT, "seconds is %g, expected above 0, up to 10^6", own->seconds);
    return TSR_OK;
}

static double chosen(double given, double own) { return given == 0 ? own : given < 0 ? 0 : given; }

tsr_status tsr_fluid_scene_create_empty(tsr_context *context, const char *name, const tsr_fluid_scene_options *options, tsr_fluid_sim **sim)
{
    TSR_RETURNS(sim);
    tsr_fluid_scene_options o;
    const scene *s;
    tsr_status status;
    if (!context || !name || !sim) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !context ? "context" : !name ? "name" : "sim");
    TSR_TRY(find_scene(name, options, &s, &o));
    tsr_fluid_sim_options own;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, o.sim));
    own.struct_size = sizeof own;
    own.spacing = cbrt((s->volume + s->flow * o.seconds) / (double)o.count);
    own.lower = s->lower;
    own.upper = s->upper;
    if (own.viscosity == 0) own.viscosity = s->viscosity;
    own.tension = chosen(own.tension, s->tension);
    own.friction = chosen(own.friction, s->friction);
    TSR_TRY(tsr_fluid_sim_create(context, &own, sim));
    TSR_TRY_GOTO(s->solids(*sim), fail);
    return TSR_OK;
fail:
    tsr_fluid_sim_destroy(sim);
    return status;
}

tsr_status tsr_fluid_scene_fill(tsr_fluid_sim *sim, const char *name, const tsr_fluid_scene_options *options)
{
    tsr_fluid_scene_options o;
    const scene *s;
    if (!sim || !name) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", sim ? "name" : "sim");
    TSR_TRY(find_scene(name, options, &s, &o));
    TSR_TRY(s->fluid(sim, o.seconds));
    return TSR_OK;
}

tsr_status tsr_fluid_scene_create(tsr_context *context, const char *name, const tsr_fluid_scene_options *options, tsr_fluid_sim **sim)
{
    TSR_NEEDS(context, name, sim);
    TSR_TRY(tsr_fluid_scene_create_empty(context, name, options, sim));
    const tsr_status status = tsr_fluid_scene_fill(*sim, name, options);
    if (status != TSR_OK) tsr_fluid_sim_destroy(sim);
    TSR_TRY(status);
    return TSR_OK;
}
