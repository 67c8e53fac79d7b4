/* tessera/fluid_sim.h: a simulator of liquids by particles, for films of water, oil or honey and for tests of what draws them.
 *
 * Smoothed particle hydrodynamics with an implicit pressure: in each step velocities are projected until no particle is compressed (a pressure that only
 * pushes), by relaxed Jacobi iterations that begin with the pressure of the step before. Walls act through the exact share of a particle's ball that lies
 * beyond them, so that they need no particles. Water is incompressible here up to `tolerance`; air is not there.
 *
 * Units are metres, seconds and kilograms, z is up. A particle stands for a cube of side `spacing`; its radius is half of that.
 * Class: exact: a scene has the same bits on every backend, SIMD variant and number of threads: particles gather from their neighbours in the order of a
 * stable sort, sums are reduced in a fixed tree. Cost: linear in particles; about 400 bytes of device memory for each.
 * Source: docs/theory/fluid-simulation.md; pressure after Ihmsen et al., "Implicit Incompressible SPH", 2014, and Bender and Koschier, "Divergence-Free SPH",
 * 2015; cohesion after Akinci et al., "Versatile Surface Tension and Adhesion for SPH Fluids", 2013. */
#ifndef TESSERA_FLUID_SIM_H
#define TESSERA_FLUID_SIM_H

#include "tessera/device.h"
#include "tessera/mesh.h"
#include "tessera/points.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_fluid_sim tsr_fluid_sim;

typedef struct tsr_fluid_sim_options {
    size_t struct_size;
    double spacing;        /* of the particles at rest, m; required */
    tsr_vec3 lower, upper; /* the region: particles that leave it are gone. Required */
    tsr_vec3 gravity;      /* m/s^2; all 0 = (0, 0, -9.81) unless `weightless` */
    int weightless;        /* != 0: gravity as given, 0 too */
    double density;        /* at rest, kg/m^3; 0 = 1000 */
    double viscosity;      /* kinematic, m^2/s: water 1e-6, honey 0.01. Not below what keeps the particles calm, 0.06 spacing sqrt(g spacing), which is what 0
                            * stands for; < 0 = none at all */
    double tension;        /* of the surface, N/m: water 0.073; 0 = none */
    double friction;       /* of walls: share of the velocity along it that a particle next to a wall loses in a hundredth of a second, 0 to 1 */
    double step;           /* longest step, s; 0 = as short as the fluid needs (`courant`, gravity, viscosity, tension) */
    double courant;        /* spacings that the fastest particle may move in a step, 0 = 0.4; up to 1 */
    double tolerance;      /* mean density error, relative, that the pressure of a step may leave; 0 = 1e-4 */
    int32_t iterations;    /* of the pressure at most, in a step; 0 = 100 */
    uint64_t seed;         /* of the small displacements that break the lattice's symmetry */
    double jitter;         /* their size in spacings; 0 = 0.01, < 0 = none */
    int64_t memory_limit;  /* bytes of device memory; beyond it TSR_ERROR_CAPACITY. 0 = none */
} tsr_fluid_sim_options;
#define TSR_FLUID_SIM_OPTIONS TSR_SIZED(tsr_fluid_sim_options)

/* An empty region on the context's device (KEEPS the context). TSR_ERROR_ARGUMENT names an option out of range; TSR_ERROR_UNSUPPORTED: a region of more than
 * 2^28 cells of two spacings. RETURNS NEW. */
TSR_API tsr_status tsr_fluid_sim_create(tsr_context *context, const tsr_fluid_sim_options *options, tsr_fluid_sim **sim) TSR_CHECKED;
TSR_API void tsr_fluid_sim_destroy(tsr_fluid_sim **sim);

/* ---- solids: add them before the fluid. At most 64 in all. Motion of solids is not simulated ------------------------------------------------ */

/* The half-space behind a plane; `normal` (any length) points into the fluid. */
TSR_API tsr_status tsr_fluid_sim_add_plane(tsr_fluid_sim *sim, tsr_vec3 point, tsr_vec3 normal) TSR_CHECKED;
/* A room: everything outside of the box is solid. */
TSR_API tsr_status tsr_fluid_sim_add_room(tsr_fluid_sim *sim, tsr_vec3 lower, tsr_vec3 upper) TSR_CHECKED;
TSR_API tsr_status tsr_fluid_sim_add_box(tsr_fluid_sim *sim, tsr_vec3 lower, tsr_vec3 upper) TSR_CHECKED;
TSR_API tsr_status tsr_fluid_sim_add_sphere(tsr_fluid_sim *sim, tsr_vec3 centre, double radius) TSR_CHECKED;
/* A round glass: `bottom` is the middle of its bottom's upper side, `axis` (any length) points to its opening, `thickness` is that of wall and bottom. */
TSR_API tsr_status tsr_fluid_sim_add_glass(tsr_fluid_sim *sim, tsr_vec3 bottom, tsr_vec3 axis, double radius, double height, double thickness) TSR_CHECKED;
/* A closed host mesh: solid inside, or, with `hollow` != 0, everything but its inside. Becomes a field of distances with samples `voxel` apart (0 = the
 * spacing); parts thinner than about two of them leak. COPIES. Errors of tsr_volume_from_mesh; TSR_ERROR_ARGUMENT for an open mesh. */
TSR_API tsr_status tsr_fluid_sim_add_mesh(tsr_fluid_sim *sim, const tsr_mesh *mesh, double voxel, int hollow) TSR_CHECKED;

/* ---- fluid. Particles that would lie in a solid or outside of the region are left out -------------------------------------------------------- */

/* Filled with particles on a lattice, with a velocity. */
TSR_API tsr_status tsr_fluid_sim_add_block(tsr_fluid_sim *sim, tsr_vec3 lower, tsr_vec3 upper, tsr_vec3 velocity) TSR_CHECKED;
TSR_API tsr_status tsr_fluid_sim_add_ball(tsr_fluid_sim *sim, tsr_vec3 centre, double radius, tsr_vec3 velocity) TSR_CHECKED;
/* `count` particles as they are; velocities NULL: at rest. Host arrays, [count][3]. COPIES. */
TSR_API tsr_status tsr_fluid_sim_add_particles(tsr_fluid_sim *sim, const float *positions, const float *velocities, int64_t count) TSR_CHECKED;
/* A round jet, or with `half_width` above 0 a slot so wide to both sides along `across`: fluid comes out at `centre` along `velocity` from `start` to `end`
 * (seconds of the simulation; end 0: for ever). What has come out is free: where it cannot flow away faster than waves run in it, it is pressed. At most 16. */
TSR_API tsr_status tsr_fluid_sim_add_inflow(tsr_fluid_sim *sim, tsr_vec3 centre, tsr_vec3 velocity, double radius, tsr_vec3 across, double half_width,
                                            double start, double end) TSR_CHECKED;

/* ---- time ------------------------------------------------------------------------------------------------------------------------------------ */

/* Goes on for `seconds` in as many equal steps as are needed. Cancelled or failed, the simulation stands after its last whole step. Waits. */
TSR_API tsr_status tsr_fluid_sim_advance(tsr_fluid_sim *sim, double seconds, const tsr_progress *progress) TSR_CHECKED;

typedef struct tsr_fluid_sim_info {
    size_t struct_size;
    double time;             /* s */
    int64_t particles, gone; /* in the region; that have left it */
    int64_t steps, iterations; /* so far; iterations of the pressure */
    double step;             /* the last one, s */
    double mass, volume;     /* of the particles; mass over density at rest */
    double density_error;    /* mean of max(density / density at rest - 1, 0), as it is now */
    double largest_density_error;
    double speed;            /* of the fastest particle, m/s */
    double kinetic, potential; /* energy, J; potential 0 at the origin of the world */
    tsr_vec3 momentum;       /* kg m/s */
    tsr_vec3 centre;         /* of mass */
    int64_t device_bytes;    /* held now */
} tsr_fluid_sim_info;
#define TSR_FLUID_SIM_INFO TSR_SIZED(tsr_fluid_sim_info)
/* Sums are taken on the host in float64, in the order of the particles' numbers. Waits. */
TSR_API tsr_status tsr_fluid_sim_describe(tsr_fluid_sim *sim, tsr_fluid_sim_info *info) TSR_CHECKED;

/* The particles now, in the order in which they came into being: host points with radii (half the spacing) and the attributes "density" (kg/m^3) and
 * "velocity" (m/s, three components). RETURNS NEW. */
TSR_API tsr_status tsr_fluid_sim_points(tsr_fluid_sim *sim, tsr_points **points) TSR_CHECKED;
TSR_API int64_t tsr_fluid_sim_count(const tsr_fluid_sim *sim);

/* ---- scenes of known names ------------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_fluid_scene {
    const char *name;        /* "fluid-dam", ...; static */
    const char *description; /* one line; static */
    double seconds;          /* that are worth a film */
    int grows;               /* != 0: fluid flows in; the count of particles is that at the end */
} tsr_fluid_scene;
TSR_API const tsr_fluid_scene *tsr_fluid_scene_at(int32_t index); /* index 0, 1, ... until it returns NULL. RETURNS VIEW, static */

typedef struct tsr_fluid_scene_options {
    size_t struct_size;
    int64_t count; /* particles, about: it chooses the spacing. 1000 to 100 000 000; 0 = 64000 */
    double seconds; /* for scenes that grow: how long fluid flows; 0 = the scene's own */
    const tsr_fluid_sim_options *sim; /* BORROWS; NULL: all as the scene has it. spacing, lower and upper are the scene's; of the others 0 is the scene's own choice, a negative viscosity, tension or friction none */
} tsr_fluid_scene_options;
#define TSR_FLUID_SCENE_OPTIONS TSR_SIZED(tsr_fluid_scene_options)
/* TSR_ERROR_ARGUMENT for an unknown name (the message lists the names) or an option out of range. RETURNS NEW. */
TSR_API tsr_status tsr_fluid_scene_create(tsr_context *context, const char *name, const tsr_fluid_scene_options *options, tsr_fluid_sim **sim) TSR_CHECKED;
/* The same in two halves: with its solids, so that others can be added, and then the fluid, with the same options. */
TSR_API tsr_status tsr_fluid_scene_create_empty(tsr_context *context, const char *name, const tsr_fluid_scene_options *options, tsr_fluid_sim **sim) TSR_CHECKED;
TSR_API tsr_status tsr_fluid_scene_fill(tsr_fluid_sim *sim, const char *name, const tsr_fluid_scene_options *options) TSR_CHECKED;
/* The solids of a simulation as a mesh, to be drawn beside the fluid: boxes, glasses, spheres and meshes; of rooms the floor; planes are left out. Host mesh, may be empty.
 * RETURNS NEW. */
TSR_API tsr_status tsr_fluid_sim_solids(const tsr_fluid_sim *sim, tsr_mesh **mesh) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
