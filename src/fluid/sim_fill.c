/* fluid/sim_fill.c: fluid: blocks, balls, particles as they are, and what flows in. */
#include <math.h>
#include <string.h>

#include "core/vec3.h"
#include "fluid/sim.h"
#include "volume/deterministic.h"

static int finite3(tsr_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

/* ---- lattices --------------------------------------------------------------------------------------------------------------------------------- */

/* Portions of a lattice on their way. */
typedef struct tsr_sim_filler {
    tsr_fluid_sim *sim;
    double positions[3 * 1024], velocities[3 * 1024];
    int64_t count, came; /* came: with those that went before, for the small displacements */
} filler;

static tsr_status flush(filler *f)
{
    const int64_t count = f->count;
    f->count = 0;
    TSR_TRY(tsr_sim_append(f->sim, f->positions, f->velocities, count, 0));
    return TSR_OK;
}

static tsr_status put(filler *f, const double at[3], const double velocity[3])
{
    const tsr_fluid_sim_options *o = &f->sim->options;
    const double size = o->jitter > 0 ? o->jitter * o->spacing : 0;
    const uint64_t number = (uint64_t)(f->sim->next_number + f->sim->gone) * 4 + (uint64_t)f->came * 3;
    for (int k = 0; k < 3; k++) {
        f->positions[3 * f->count + k] = at[k] + (size > 0 ? size * (2 * tsr_det_uniform(o->seed, number + (uint64_t)k) - 1) : 0);
        f->velocities[3 * f->count + k] = velocity[k];
    }
    f->came++;
    if (++f->count == 1024) TSR_TRY(flush(f));
    return TSR_OK;
}

/* Sites of a lattice of cubes that fills the box, where inside(user, site) says so (NULL: everywhere). */
static tsr_status fill(tsr_fluid_sim *sim, tsr_vec3 lower, tsr_vec3 upper, tsr_vec3 velocity, const double centre[3], double radius)
{
    filler *f = NULL;
    const double s = sim->options.spacing, from[3] = { lower.x, lower.y, lower.z }, to[3] = { upper.x, upper.y, upper.z };
    const double v[3] = { velocity.x, velocity.y, velocity.z };
    int64_t n[3];
    tsr_status status = TSR_OK;
    for (int k = 0; k < 3; k++) n[k] = (int64_t)floor((to[k] - from[k]) / s + 1e-6);
    if (n[0] < 1 || n[1] < 1 || n[2] < 1) return TSR_OK;
    if ((double)n[0] * (double)n[1] * (double)n[2] > 1e9)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "a block of %lld x %lld x %lld particles, expected at most 10^9", (long long)n[0], (long long)n[1], (long long)n[2]);
    TSR_TRY(tsr_host_allocate(NULL, sizeof *f, (void **)&f));
    f->sim = sim;
    f->count = f->came = 0;
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++)
            for (int64_t x = 0; x < n[0]; x++) {
                const double at[3] = { from[0] + ((double)x + 0.5) * s, from[1] + ((double)y + 0.5) * s, from[2] + ((double)z + 0.5) * s };
                double square = 0;
                for (int k = 0; centre && k < 3; k++) square += (at[k] - centre[k]) * (at[k] - centre[k]);
                if (square > radius * radius) continue;
                TSR_TRY_GOTO(put(f, at, v), done);
            }
    TSR_TRY_GOTO(flush(f), done);
done:
    tsr_host_release(NULL, f, sizeof *f);
    return status;
}

tsr_status tsr_fluid_sim_add_block(tsr_fluid_sim *sim, tsr_vec3 lower, tsr_vec3 upper, tsr_vec3 velocity)
{
    TSR_NEEDS(sim);
    if (!finite3(lower) || !finite3(upper) || !(lower.x < upper.x && lower.y < upper.y && lower.z < upper.z))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "block from (%g, %g, %g) to (%g, %g, %g), expected upper above lower", lower.x, lower.y, lower.z, upper.x, upper.y,
                 upper.z);
    if (!finite3(velocity)) TSR_FAIL(TSR_ERROR_ARGUMENT, "velocity of the block is not finite");
    TSR_TRY(fill(sim, lower, upper, velocity, NULL, 0));
    return TSR_OK;
}

tsr_status tsr_fluid_sim_add_ball(tsr_fluid_sim *sim, tsr_vec3 centre, double radius, tsr_vec3 velocity)
{
    TSR_NEEDS(sim);
    if (!finite3(centre) || !finite3(velocity)) TSR_FAIL(TSR_ERROR_ARGUMENT, "centre or velocity of the ball is not finite");
    if (!(radius > 0 && radius < 1e6)) TSR_FAIL(TSR_ERROR_ARGUMENT, "radius is %g, expected above 0, below 10^6 metres", radius);
    /* a site in its centre, or between, whatever the radius: the lattice is symmetric about it */
    const double reach = sim->options.spacing * ceil(radius / sim->options.spacing);
    const double at[3] = { centre.x, centre.y, centre.z };
    TSR_TRY(fill(sim, (tsr_vec3){ centre.x - reach, centre.y - reach, centre.z - reach }, (tsr_vec3){ centre.x + reach, centre.y + reach, centre.z + reach },
                 velocity, at, radius));
    return TSR_OK;
}

tsr_status tsr_fluid_sim_add_particles(tsr_fluid_sim *sim, const float *positions, const float *velocities, int64_t count)
{
    double at[3 * 256], v[3 * 256];
    if (!sim || (!positions && count)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", sim ? "positions" : "sim");
    if (count < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "count is %lld, expected from 0", (long long)count);
    for (int64_t i = 0; i < 3 * count; i++)
        if (!isfinite(positions[i]) || (velocities && !isfinite(velocities[i])))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "particle %lld is not finite", (long long)(i / 3));
    for (int64_t done = 0; done < count; done += 256) {
        const int64_t n = count - done < 256 ? count - done : 256;
        for (int64_t i = 0; i < 3 * n; i++) {
            at[i] = (double)positions[3 * done + i];
            v[i] = velocities ? (double)velocities[3 * done + i] : 0;
        }
        TSR_TRY(tsr_sim_append(sim, at, v, n, 0));
    }
    return TSR_OK;
}

/* ---- inflow ----------------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_fluid_sim_add_inflow(tsr_fluid_sim *sim, tsr_vec3 centre, tsr_vec3 velocity, double radius, tsr_vec3 across, double half_width, double start,
                                    double end)
{
    TSR_NEEDS(sim);
    if (sim->inflow_count == TSR_SIM_INFLOWS_MOST) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "more than %d inflows", TSR_SIM_INFLOWS_MOST);
    const double speed = tsr_vec3_length(velocity);
    if (!finite3(centre) || !(speed > 1e-6 && speed < 1e6)) TSR_FAIL(TSR_ERROR_ARGUMENT, "inflow at %g m/s, expected a speed above 0", speed);
    if (!(radius >= 0.5 * sim->options.spacing && radius < 1e6))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "radius of the inflow is %g, expected at least half the spacing of %g", radius, sim->options.spacing);
    if (!(half_width >= 0 && half_width < 1e6)) TSR_FAIL(TSR_ERROR_ARGUMENT, "half_width is %g, expected from 0", half_width);
    if (!(start >= 0) || !(end == 0 || end > start)) TSR_FAIL(TSR_ERROR_ARGUMENT, "inflow from %g to %g seconds, expected an end after its start", start, end);
    const tsr_vec3 along = tsr_vec3_scale(velocity, 1 / speed);
    tsr_vec3 side = half_width > 0 ? across : fabs(along.z) < 0.9 ? (tsr_vec3){ 0, 0, 1 } : (tsr_vec3){ 1, 0, 0 };
    side = tsr_vec3_sub(side, tsr_vec3_scale(along, tsr_vec3_dot(side, along)));
    const double n = tsr_vec3_length(side);
    if (!(n > 1e-9)) TSR_FAIL(TSR_ERROR_ARGUMENT, "across is (%g, %g, %g), expected a direction other than that of the velocity", across.x, across.y, across.z);
    side = tsr_vec3_scale(side, 1 / n);
    sim->inflows[sim->inflow_count++] = (tsr_sim_inflow){ .centre = { centre.x, centre.y, centre.z },
                                                          .along = { along.x, along.y, along.z },
                                                          .side = { side.x, side.y, side.z },
                                                          .up = { along.y * side.z - along.z * side.y, along.z * side.x - along.x * side.z,
                                                                  along.x * side.y - along.y * side.x },
                                                          .speed = speed, .radius = radius, .half_width = half_width, .start = start, .end = end };
    return TSR_OK;
}

/* One layer of the lattice across the inflow, which has gone `ahead` since it came in. */
static tsr_status put_layer(filler *f, const tsr_sim_inflow *in, double ahead)
{
    const double s = f->sim->options.spacing, wide = in->half_width > 0 ? in->half_width : in->radius;
    const int64_t columns = (int64_t)floor(2 * wide / s + 1e-6) > 0 ? (int64_t)floor(2 * wide / s + 1e-6) : 1;
    const int64_t rows = (int64_t)floor(2 * in->radius / s + 1e-6) > 0 ? (int64_t)floor(2 * in->radius / s + 1e-6) : 1;
    const double v[3] = { in->speed * in->along[0], in->speed * in->along[1], in->speed * in->along[2] };
    for (int64_t y = 0; y < rows; y++)
        for (int64_t x = 0; x < columns; x++) {
            const double a = ((double)x - 0.5 * (double)(columns - 1)) * s, b = ((double)y - 0.5 * (double)(rows - 1)) * s;
            double at[3];
            if (in->half_width == 0 && a * a + b * b > in->radius * in->radius) continue;
            for (int k = 0; k < 3; k++) at[k] = in->centre[k] + ahead * in->along[k] + a * in->side[k] + b * in->up[k];
            TSR_TRY(put(f, at, v));
        }
    return TSR_OK;
}

tsr_status tsr_sim_flow_in(tsr_fluid_sim *s)
{
    filler *f = NULL;
    tsr_status status = TSR_OK;
    if (!s->inflow_count) return TSR_OK;
    TSR_TRY(tsr_host_allocate(NULL, sizeof *f, (void **)&f));
    f->sim = s;
    f->count = f->came = 0;
    for (int32_t k = 0; k < s->inflow_count; k++) {
        tsr_sim_inflow *in = &s->inflows[k];
        const double until = in->end > 0 && in->end < s->time ? in->end : s->time;
        while (in->start + (double)in->layers * s->options.spacing / in->speed <= until) {
            const double came = in->start + (double)in->layers * s->options.spacing / in->speed;
            TSR_TRY_GOTO(put_layer(f, in, in->speed * (s->time - came)), done);
            in->layers++;
        }
    }
    TSR_TRY_GOTO(flush(f), done);
done:
    tsr_host_release(NULL, f, sizeof *f);
    return status;
}
