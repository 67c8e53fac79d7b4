/* fluid/sim.h: the inside of a simulated fluid. */
#ifndef TSR_FLUID_SIM_H
#define TSR_FLUID_SIM_H

#include "fluid/sim_ops.h"
#include "tessera/fluid_sim.h"
#include "tessera/primitives.h"

enum { TSR_SIM_INFLOWS_MOST = 16 };

typedef struct tsr_sim_inflow {
    double centre[3], along[3], side[3], up[3]; /* orthonormal */
    double speed, radius, half_width, start, end;
    int64_t layers; /* that have come in */
} tsr_sim_inflow;

/* What moves with a particle when particles are sorted: twice, from and to. */
typedef struct tsr_sim_state {
    tsr_sim4 *place, *move;
    float *impulse;
    uint32_t *number;
} tsr_sim_state;

struct tsr_fluid_sim {
    tsr_context *context;
    tsr_fluid_sim_options options; /* complete */
    double mass, viscosity, cell;
    tsr_sim_kernel kernel;
    int32_t cells[3];
    double time, step, speed; /* speed: an upper bound of the particles' */
    int64_t count, capacity, list_capacity, gone, next_number, steps, iterations;
    /* device memory */
    tsr_sim_state now, other;
    tsr_sim4 *free, *solid;
    uint32_t *key, *sorted, *order, *found, *first, *list, *starts;
    float *error, *fast;
    tsr_reduced *reduced;
    void *work;
    size_t work_bytes;
    tsr_sim_collider *device_colliders;
    /* host memory */
    tsr_sim_collider colliders[TSR_SIM_COLLIDERS_MOST]; /* fields on the host */
    tsr_mesh *meshes[TSR_SIM_COLLIDERS_MOST];           /* of fields, to be drawn; else NULL */
    float *fields[TSR_SIM_COLLIDERS_MOST];              /* on the device */
    int32_t collider_count, inflow_count, colliders_ready;
    tsr_sim_inflow inflows[TSR_SIM_INFLOWS_MOST];
};

/* The job of the next pass; dt 0 to look at the particles alone. */
tsr_sim_job tsr_sim_job_of(const tsr_fluid_sim *sim, double dt);
/* Particles sorted, neighbours listed, density known. impulse_ratio: see the job. */
tsr_status tsr_sim_prepare(tsr_fluid_sim *sim, tsr_sim_job *job);
/* Smallest distance of a place from the solids. */
float tsr_sim_distance(const tsr_fluid_sim *sim, const double place[3]);
/* `count` particles more, [count][3]; those within solids or outside of the region are left out. */
tsr_status tsr_sim_append(tsr_fluid_sim *sim, const double *positions, const double *velocities, int64_t count, int checked);
/* What flows in before the end of the step that begins now. */
tsr_status tsr_sim_flow_in(tsr_fluid_sim *sim);

#endif
