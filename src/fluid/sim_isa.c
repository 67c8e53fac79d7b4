#include "fluid/sim_isa.h"

/* Sixteen particles side by side: each lane walks through its own neighbours in their order, so that sums are those of one particle at a time. A lane whose
 * neighbours have ended takes its own particle, which adds nothing. */
enum { LANES = 16 };

typedef struct lanes {
    uint32_t first[LANES], count[LANES], own[LANES];
    float x[LANES], y[LANES], z[LANES];
    uint32_t most;
} lanes;

static inline void take_lanes(const tsr_sim_job *j, int64_t i, lanes *a)
{
    a->most = 0;
    for (int l = 0; l < LANES; l++) {
        a->own[l] = (uint32_t)(i + l);
        a->first[l] = j->first[i + l];
        a->count[l] = j->first[i + l + 1] - a->first[l];
        a->x[l] = j->place[i + l].x;
        a->y[l] = j->place[i + l].y;
        a->z[l] = j->place[i + l].z;
        a->most = a->count[l] > a->most ? a->count[l] : a->most;
    }
}

/* Neighbour n of the lanes. */
static inline void neighbours(const tsr_sim_job *j, const lanes *a, uint32_t n, uint32_t other[LANES])
{
    const uint32_t *list = j->list;
    for (int l = 0; l < LANES; l++) other[l] = n < a->count[l] ? list[a->first[l] + n] : a->own[l];
}

static inline void gather4(const tsr_sim4 *from, const uint32_t other[LANES], float x[LANES], float y[LANES], float z[LANES])
{
    for (int l = 0; l < LANES; l++) {
        const tsr_sim4 v = from[other[l]];
        x[l] = v.x;
        y[l] = v.y;
        z[l] = v.z;
    }
}

static void push_lanes(const tsr_sim_job *j, int64_t i)
{
    lanes a;
    float x[LANES] = { 0 }, y[LANES] = { 0 }, z[LANES] = { 0 }, own[LANES];
    const tsr_sim_kernel k = j->kernel;
    take_lanes(j, i, &a);
    for (int l = 0; l < LANES; l++) own[l] = j->impulse[i + l];
    for (uint32_t n = 0; n < a.most; n++) {
        uint32_t other[LANES];
        float ox[LANES], oy[LANES], oz[LANES], both[LANES];
        neighbours(j, &a, n, other);
        gather4(j->place, other, ox, oy, oz);
        for (int l = 0; l < LANES; l++) both[l] = own[l] + j->impulse[other[l]];
#pragma omp simd
        for (int l = 0; l < LANES; l++) tsr_sim_add_push(&k, a.x[l] - ox[l], a.y[l] - oy[l], a.z[l] - oz[l], both[l], &x[l], &y[l], &z[l]);
    }
    for (int l = 0; l < LANES; l++) tsr_sim_end_push(j, i + l, x[l], y[l], z[l]);
}

static void press_lanes(const tsr_sim_job *j, int64_t i)
{
    lanes a;
    float rate[LANES] = { 0 }, vx[LANES], vy[LANES], vz[LANES];
    const tsr_sim_kernel k = j->kernel;
    take_lanes(j, i, &a);
    gather4(j->move, a.own, vx, vy, vz);
    for (uint32_t n = 0; n < a.most; n++) {
        uint32_t other[LANES];
        float ox[LANES], oy[LANES], oz[LANES], ux[LANES], uy[LANES], uz[LANES];
        neighbours(j, &a, n, other);
        gather4(j->place, other, ox, oy, oz);
        gather4(j->move, other, ux, uy, uz);
#pragma omp simd
        for (int l = 0; l < LANES; l++)
            tsr_sim_add_press(&k, a.x[l] - ox[l], a.y[l] - oy[l], a.z[l] - oz[l], vx[l] - ux[l], vy[l] - uy[l], vz[l] - uz[l], &rate[l]);
    }
    for (int l = 0; l < LANES; l++) tsr_sim_end_press(j, i + l, rate[l]);
}

static void density_lanes(const tsr_sim_job *j, int64_t i)
{
    lanes a;
    float w[LANES] = { 0 }, gx[LANES] = { 0 }, gy[LANES] = { 0 }, gz[LANES] = { 0 }, squares[LANES] = { 0 }, vx[LANES] = { 0 }, vy[LANES] = { 0 }, vz[LANES] = { 0 };
    float cx[LANES] = { 0 }, cy[LANES] = { 0 }, cz[LANES] = { 0 }, ownx[LANES], owny[LANES], ownz[LANES];
    const tsr_sim_kernel k = j->kernel;
    take_lanes(j, i, &a);
    gather4(j->move, a.own, ownx, owny, ownz);
    for (uint32_t n = 0; n < a.most; n++) {
        uint32_t other[LANES];
        float ox[LANES], oy[LANES], oz[LANES], ux[LANES], uy[LANES], uz[LANES], each[LANES];
        neighbours(j, &a, n, other);
        gather4(j->place, other, ox, oy, oz);
#pragma omp simd
        for (int l = 0; l < LANES; l++) {
            tsr_sim_sums s = { w[l], gx[l], gy[l], gz[l], squares[l], 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f };
            tsr_sim_add_density(&k, a.x[l] - ox[l], a.y[l] - oy[l], a.z[l] - oz[l], n < a.count[l] ? 1.0f : 0.0f, &s, &each[l]);
            w[l] = s.w;
            gx[l] = s.gx;
            gy[l] = s.gy;
            gz[l] = s.gz;
            squares[l] = s.squares;
        }
        if (k.viscosity > 0.0f) {
            gather4(j->move, other, ux, uy, uz);
#pragma omp simd
            for (int l = 0; l < LANES; l++) {
                tsr_sim_sums s = { 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, vx[l], vy[l], vz[l], 0.0f, 0.0f, 0.0f };
                tsr_sim_add_viscosity(each[l], ux[l] - ownx[l], uy[l] - owny[l], uz[l] - ownz[l], &s);
                vx[l] = s.vx;
                vy[l] = s.vy;
                vz[l] = s.vz;
            }
        }
        if (k.cohesion > 0.0f) {
#pragma omp simd
            for (int l = 0; l < LANES; l++) {
                tsr_sim_sums s = { 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, cx[l], cy[l], cz[l] };
                tsr_sim_add_cohesion(&k, a.x[l] - ox[l], a.y[l] - oy[l], a.z[l] - oz[l], &s);
                cx[l] = s.cx;
                cy[l] = s.cy;
                cz[l] = s.cz;
            }
        }
    }
    for (int l = 0; l < LANES; l++) {
        const tsr_sim_sums s = { w[l], gx[l], gy[l], gz[l], squares[l], vx[l], vy[l], vz[l], cx[l], cy[l], cz[l] };
        tsr_sim_end_density(j, i + l, &s);
    }
}

/* Numbers of the neighbours as tsr_sim_neighbours finds them, without a branch for each. */
static uint32_t find_neighbours(const tsr_sim_job *j, int64_t i, uint32_t *list)
{
    enum { ROOM = 512 };
    uint32_t near[ROOM], found = 0;
    const tsr_sim4 p = j->place[i];
    const int32_t x = tsr_sim_cell(j, p.x, 0), y = tsr_sim_cell(j, p.y, 1), z = tsr_sim_cell(j, p.z, 2);
    const int32_t x0 = tsr_maxi(x - 1, 0), x1 = tsr_mini(x + 1, j->cells[0] - 1);
    for (int32_t cz = tsr_maxi(z - 1, 0); cz <= tsr_mini(z + 1, j->cells[2] - 1); cz++)
        for (int32_t cy = tsr_maxi(y - 1, 0); cy <= tsr_mini(y + 1, j->cells[1] - 1); cy++) {
            const int64_t row = ((int64_t)cz * j->cells[1] + cy) * j->cells[0];
            const uint32_t end = j->starts[row + x1 + 1];
            for (uint32_t n = j->starts[row + x0]; n < end;) {
                const uint32_t stop = end - n < ROOM ? end : n + ROOM;
                uint32_t some = 0;
                for (; n < stop; n++) {
                    near[some] = n;
                    some += (uint32_t)tsr_sim_is_near(j, &p, &j->place[n]) & (uint32_t)((int64_t)n != i);
                }
                for (uint32_t k = 0; list && k < some; k++) list[found + k] = near[k];
                found += some;
            }
        }
    return found;
}

void TSR_ISA_NAME(tsr_sim_range)(const tsr_sim_job *job, int32_t pass, int64_t begin, int64_t end)
{
    const tsr_sim_job own = *job;
    int64_t i = begin;
    if (pass == TSR_SIM_COUNT || pass == TSR_SIM_LIST) {
        for (; i < end && i < own.count; i++)
            if (pass == TSR_SIM_COUNT) own.found[i] = find_neighbours(&own, i, NULL);
            else find_neighbours(&own, i, own.list + own.first[i]);
    }
    if (pass == TSR_SIM_DENSITY)
        for (; i + LANES <= end; i += LANES) density_lanes(&own, i);
    if (pass == TSR_SIM_PUSH)
        for (; i + LANES <= end; i += LANES) push_lanes(&own, i);
    if (pass == TSR_SIM_PRESS)
        for (; i + LANES <= end; i += LANES) press_lanes(&own, i);
    for (; i < end; i++) tsr_sim_item(&own, pass, i);
}
