/* fluid/sim_look.c: what a simulated fluid is like now: numbers and particles. */
#include <math.h>
#include <string.h>

#include "fluid/sim.h"

/* What was downloaded, and for each number the particle that has it (-1: gone). */
typedef struct particles {
    tsr_sim4 *place, *move, *free;
    uint32_t *number;
    int32_t *of;
} particles;

static void release(particles *p)
{
    tsr_host_release(NULL, p->place, 0);
    tsr_host_release(NULL, p->move, 0);
    tsr_host_release(NULL, p->free, 0);
    tsr_host_release(NULL, p->number, 0);
    tsr_host_release(NULL, p->of, 0);
}

static tsr_status download(tsr_fluid_sim *s, particles *p)
{
    const tsr_backend *b = s->context->backend;
    tsr_queue *queue = s->context->queue;
    tsr_sim_job j = tsr_sim_job_of(s, 0);
    TSR_TRY(tsr_sim_prepare(s, &j));
    const size_t n = (size_t)s->count;
    TSR_TRY(tsr_host_allocate(NULL, n * 16 + 16, (void **)&p->place));
    TSR_TRY(tsr_host_allocate(NULL, n * 16 + 16, (void **)&p->move));
    TSR_TRY(tsr_host_allocate(NULL, n * 16 + 16, (void **)&p->free));
    TSR_TRY(tsr_host_allocate(NULL, n * 4 + 4, (void **)&p->number));
    TSR_TRY(tsr_host_allocate(NULL, (size_t)s->next_number * 4 + 4, (void **)&p->of));
    memset(p->of, 0xff, (size_t)s->next_number * 4);
    if (!n) return TSR_OK;
    TSR_TRY(b->download(queue, p->place, s->now.place, n * 16));
    TSR_TRY(b->download(queue, p->move, s->now.move, n * 16));
    TSR_TRY(b->download(queue, p->free, s->free, n * 16));
    TSR_TRY(b->download(queue, p->number, s->now.number, n * 4));
    for (size_t i = 0; i < n; i++) p->of[p->number[i]] = (int32_t)i;
    return TSR_OK;
}

tsr_status tsr_fluid_sim_describe(tsr_fluid_sim *sim, tsr_fluid_sim_info *info)
{
    particles p = { 0 };
    tsr_status status;
    if (!sim || !info) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", sim ? "info" : "sim");
    const tsr_fluid_sim_options *o = &sim->options;
    TSR_TRY_GOTO(download(sim, &p), done);
    tsr_fluid_sim_info d = { .time = sim->time, .particles = sim->count, .gone = sim->gone, .steps = sim->steps,
                             .iterations = sim->iterations, .step = sim->step, .mass = sim->mass * (double)sim->count,
                             .volume = sim->mass * (double)sim->count / o->density, .device_bytes = tsr_context_memory(sim->context)->current_bytes };
    double fastest = 0, error = 0;
    for (int64_t n = 0; n < sim->next_number; n++) {
        if (p.of[n] < 0) continue;
        const tsr_sim4 *at = &p.place[p.of[n]], *v = &p.move[p.of[n]];
        const double x = (double)at->x, y = (double)at->y, z = (double)at->z, vx = (double)v->x, vy = (double)v->y, vz = (double)v->z;
        const double square = vx * vx + vy * vy + vz * vz, over = (double)p.free[p.of[n]].w / o->density - 1;
        d.momentum.x += vx;
        d.momentum.y += vy;
        d.momentum.z += vz;
        d.centre.x += x;
        d.centre.y += y;
        d.centre.z += z;
        d.kinetic += square;
        fastest = square > fastest ? square : fastest;
        if (over > 0) error += over;
        if (over > d.largest_density_error) d.largest_density_error = over;
    }
    const double m = sim->mass, count = sim->count ? (double)sim->count : 1;
    d.potential = -m * (o->gravity.x * d.centre.x + o->gravity.y * d.centre.y + o->gravity.z * d.centre.z);
    d.momentum = (tsr_vec3){ m * d.momentum.x, m * d.momentum.y, m * d.momentum.z };
    d.centre = (tsr_vec3){ d.centre.x / count, d.centre.y / count, d.centre.z / count };
    d.kinetic *= 0.5 * m;
    d.density_error = error / count;
    d.speed = sqrt(fastest);
    status = TSR_STRUCT_GIVE(info, &d);
done:
    release(&p);
    return status;
}

tsr_status tsr_fluid_sim_points(tsr_fluid_sim *sim, tsr_points **points)
{
    TSR_RETURNS(points);
    particles p = { 0 };
    tsr_status status;
    float *density = NULL, *velocity = NULL;
    if (!sim || !points) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", sim ? "points" : "sim");
    TSR_TRY_GOTO(download(sim, &p), done);
    TSR_TRY_GOTO(tsr_points_create(NULL, sim->count, TSR_POINTS_RADII, points), done);
    TSR_TRY_GOTO(tsr_points_add_attribute(*points, "density", 1, &density), done);
    TSR_TRY_GOTO(tsr_points_add_attribute(*points, "velocity", 3, &velocity), done);
    float *position = tsr_points_positions(*points), *radius = tsr_points_radii(*points);
    int64_t k = 0;
    for (int64_t n = 0; n < sim->next_number; n++) {
        if (p.of[n] < 0) continue;
        const tsr_sim4 *at = &p.place[p.of[n]], *v = &p.move[p.of[n]];
        position[3 * k] = at->x;
        position[3 * k + 1] = at->y;
        position[3 * k + 2] = at->z;
        velocity[3 * k] = v->x;
        velocity[3 * k + 1] = v->y;
        velocity[3 * k + 2] = v->z;
        density[k] = p.free[p.of[n]].w;
        radius[k++] = (float)(0.5 * sim->options.spacing);
    }
done:
    if (status != TSR_OK) tsr_points_destroy(points);
    release(&p);
    return status;
}
