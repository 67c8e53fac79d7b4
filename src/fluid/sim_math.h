/* fluid/sim_math.h: the mathematics of ONE particle of a simulated fluid: kernel, solid share of a particle's ball, density, pressure.
 *
 * Smoothed particles with an implicit pressure: velocities are projected so that no particle is compressed (docs/theory/fluid-simulation.md). Neighbours are
 * visited in the order of the sorted list, each sum is one float32 accumulator, no transcendental functions: the same bits on every backend. */
#ifndef TSR_FLUID_SIM_MATH_H
#define TSR_FLUID_SIM_MATH_H

#include "core/hd.h"

/* Four floats side by side, one 16-byte load. */
typedef struct __attribute__((aligned(16))) tsr_sim4 {
    float x, y, z, w;
} tsr_sim4;

/* ---- kernel: cubic spline with support `reach`, Monaghan 1992, normalised in three dimensions ------------------------------------------------ */

typedef struct tsr_sim_kernel {
    float reach, square, inverse; /* support H, H^2, 1 / H */
    float mass;                   /* of a particle */
    float offset;                 /* walls count as so much farther: then the first layer of a lattice, half a spacing away, has the density at rest */
    float value;                  /* mass * 8 / (pi H^3) */
    float slope;                  /* value / H^2 */
    float cohesion;               /* factor of the cohesion between two particles: acceleration = cohesion * shape(q) * direction */
    float viscosity;              /* share of the velocity difference that a step takes away, times mass / density at rest */
} tsr_sim_kernel;

/* mass * W at the distance q = r / H in [0, 1], without the factor `value`. */
TSR_HD float tsr_sim_w(float q)
{
    const float p = 1.0f - q;
    return q <= 0.5f ? 6.0f * q * q * (q - 1.0f) + 1.0f : 2.0f * p * p * p;
}
/* Gradient of W over the difference of positions, without the factor `slope`; inverse_q = 1 / q. Never positive. */
TSR_HD float tsr_sim_g(float q, float inverse_q)
{
    const float p = 1.0f - q;
    return q <= 0.5f ? 18.0f * q - 12.0f : -6.0f * p * p * inverse_q;
}
/* Cohesion of Akinci et al. 2013, without its factor: attraction beyond half the reach, repulsion near 0; q in [0, 1]. */
TSR_HD float tsr_sim_cohesion(float q)
{
    const float p = (1.0f - q) * q, c = p * p * p;
    return q > 0.5f ? c : 2.0f * c - 0.015625f;
}

/* Share of the kernel's mass beyond a plane at the distance q H from its centre, q in [0, 1]: 16 times the integral from q to 1 of P(t) dt. */
TSR_HD float tsr_sim_beyond(float q)
{
    const float p = 1.0f - q;
    if (q > 0.5f) {
        const float p5 = p * p * p * p * p;
        return p5 * (1.6f - 1.0666667f * p);
    }
    /* 16 * (a + (1/2 - q) b + integral from q to 1/2 of the inner polynomial), worked out */
    const float s = q * q;
    return 0.5f + q * (-1.4f + s * (2.6666667f + s * (-4.8f + 3.2f * q)));
}
/* Its negative derivative, P: how much of the kernel lies in the plane, per unit of q. */
TSR_HD float tsr_sim_plane(float q)
{
    const float p = 1.0f - q;
    if (q > 0.5f) {
        const float p4 = p * p * p * p;
        return p4 * (8.0f - 6.4f * p);
    }
    const float s = q * q;
    return 1.4f + s * (-8.0f + s * (24.0f - 19.2f * q));
}

/* ---- what the fluid runs against ---------------------------------------------------------------------------------------------------------- */

/* A collider gives the distance d of a place from its solid (negative inside it) and the direction n away from it. */
enum { TSR_SIM_PLANE = 0, TSR_SIM_ROOM, TSR_SIM_BLOCK, TSR_SIM_BALL, TSR_SIM_CUP, TSR_SIM_FIELD };
enum { TSR_SIM_COLLIDERS_MOST = 64 };

typedef struct tsr_sim_collider {
    int32_t kind;
    float a[3], b[3];    /* PLANE: point, normal; ROOM, BLOCK: lower, upper; BALL: centre; CUP: middle of the bottom, axis; FIELD: lower corner */
    float radius, height, thickness; /* BALL, CUP */
    int32_t size[3];     /* FIELD: [z][y][x] distances at the points lower + i * spacing */
    float spacing, inverse; /* and 1 / spacing */
    const float *field;  /* device memory */
} tsr_sim_collider;

/* What the colliders leave of a particle's ball: `open` is the share that is not solid, the gradient that of the solid share 1 - open. */
typedef struct tsr_sim_solid {
    float open, x, y, z;
} tsr_sim_solid;

/* One more half-space at the distance d with the normal n: shares that are free multiply, so that a corner of three walls leaves an eighth. */
TSR_HD void tsr_sim_add_wall(tsr_sim_solid *s, const tsr_sim_kernel *k, float d, float nx, float ny, float nz)
{
    d += k->offset;
    if (d >= k->reach) return;
    const float q = tsr_minf(tsr_absf(d) * k->inverse, 1.0f), beyond = tsr_sim_beyond(q), share = d < 0.0f ? 1.0f - beyond : beyond;
    const float slope = -tsr_sim_plane(q) * k->inverse, keep = tsr_maxf(1.0f - share, 1e-6f);
    /* 1 - open keep: its gradient is -keep grad(open) + open slope n */
    s->x = keep * s->x + s->open * slope * nx;
    s->y = keep * s->y + s->open * slope * ny;
    s->z = keep * s->z + s->open * slope * nz;
    s->open *= keep;
}

/* Signed distance from a box that is solid, and the direction away from it. */
TSR_HD float tsr_sim_block(const tsr_sim_collider *c, const float p[3], float n[3])
{
    float out[3], square = 0.0f, deepest = -3.4e38f;
    int32_t axis = 0;
    for (int32_t k = 0; k < 3; k++) {
        const float below = c->a[k] - p[k], above = p[k] - c->b[k], side = tsr_maxf(below, above);
        n[k] = below > above ? -1.0f : 1.0f;
        out[k] = tsr_maxf(side, 0.0f);
        square += out[k] * out[k];
        if (side > deepest) {
            deepest = side;
            axis = k;
        }
    }
    if (square > 0.0f) {
        const float inverse = tsr_rsqrt(square);
        for (int32_t k = 0; k < 3; k++) n[k] *= out[k] * inverse;
        return square * inverse;
    }
    for (int32_t k = 0; k < 3; k++) n[k] = k == axis ? n[k] : 0.0f;
    return deepest;
}

/* A cup: a tube of inner `radius` and a wall of `thickness`, closed below by a bottom as thick, open above. In the plane of radius r and height h it is an
 * L of two boxes: the wall [radius, radius + thickness] x [-thickness, height] and the bottom [0, radius + thickness] x [-thickness, 0]. Distances of the two
 * are joined outside; inside the cup both walls act, each for itself. */
TSR_HD void tsr_sim_cup_place(const tsr_sim_collider *c, const float p[3], float *r, float *h, float out[3])
{
    const float d[3] = { p[0] - c->a[0], p[1] - c->a[1], p[2] - c->a[2] };
    *h = d[0] * c->b[0] + d[1] * c->b[1] + d[2] * c->b[2];
    for (int32_t k = 0; k < 3; k++) out[k] = d[k] - *h * c->b[k];
    const float square = out[0] * out[0] + out[1] * out[1] + out[2] * out[2], inverse = tsr_rsqrt(square);
    *r = square * inverse;
    for (int32_t k = 0; k < 3; k++) out[k] *= inverse;
}
/* Distance of (r, h) from the rectangle [r0, r1] x [h0, h1] and the direction away from it. */
TSR_HD float tsr_sim_rectangle(float r, float h, float r0, float r1, float h0, float h1, float *nr, float *nh)
{
    const float sr = tsr_maxf(r0 - r, r - r1), sh = tsr_maxf(h0 - h, h - h1);
    const float fr = r0 - r > r - r1 ? -1.0f : 1.0f, fh = h0 - h > h - h1 ? -1.0f : 1.0f;
    const float out_r = tsr_maxf(sr, 0.0f), out_h = tsr_maxf(sh, 0.0f), square = out_r * out_r + out_h * out_h;
    if (square > 0.0f) {
        const float inverse = tsr_rsqrt(square);
        *nr = fr * out_r * inverse;
        *nh = fh * out_h * inverse;
        return square * inverse;
    }
    *nr = sr > sh ? fr : 0.0f;
    *nh = sr > sh ? 0.0f : fh;
    return tsr_maxf(sr, sh);
}

/* Trilinear distance of a field of distances and its gradient, 0 0 0 outside of the field (returns far). */
TSR_HD float tsr_sim_field(const tsr_sim_collider *c, const float p[3], float n[3])
{
    int32_t at[3];
    float f[3];
    for (int32_t k = 0; k < 3; k++) {
        const float u = (p[k] - c->a[k]) * c->inverse;
        n[k] = 0.0f;
        if (!(u >= 0.0f && u <= (float)(c->size[k] - 1))) return 3.4e38f;
        at[k] = tsr_mini((int32_t)u, c->size[k] - 2);
        f[k] = u - (float)at[k];
    }
    const int64_t row = c->size[0], slice = (int64_t)c->size[0] * c->size[1];
    const float *v = c->field + at[2] * slice + at[1] * row + at[0];
    float e[2][2][2];
    for (int32_t i = 0; i < 8; i++) e[i >> 2][i >> 1 & 1][i & 1] = v[(i >> 2) * slice + (i >> 1 & 1) * row + (i & 1)];
    const float x0 = 1.0f - f[0], y0 = 1.0f - f[1], z0 = 1.0f - f[2];
    const float a00 = e[0][0][0] * x0 + e[0][0][1] * f[0], a01 = e[0][1][0] * x0 + e[0][1][1] * f[0];
    const float a10 = e[1][0][0] * x0 + e[1][0][1] * f[0], a11 = e[1][1][0] * x0 + e[1][1][1] * f[0];
    n[0] = ((e[0][0][1] - e[0][0][0]) * y0 + (e[0][1][1] - e[0][1][0]) * f[1]) * z0 +
           ((e[1][0][1] - e[1][0][0]) * y0 + (e[1][1][1] - e[1][1][0]) * f[1]) * f[2];
    n[1] = (a01 - a00) * z0 + (a11 - a10) * f[2];
    n[2] = (a10 * y0 + a11 * f[1]) - (a00 * y0 + a01 * f[1]);
    const float square = n[0] * n[0] + n[1] * n[1] + n[2] * n[2], inverse = square > 0.0f ? tsr_rsqrt(square) : 0.0f;
    for (int32_t k = 0; k < 3; k++) n[k] *= inverse;
    return (a00 * y0 + a01 * f[1]) * z0 + (a10 * y0 + a11 * f[1]) * f[2];
}

enum { TSR_SIM_WALLS_MOST = 6 }; /* of one collider */
typedef struct tsr_sim_wall {
    float d, n[3];
} tsr_sim_wall;

/* The walls of a collider near p: how many, each a distance and a normal. */
TSR_HD int32_t tsr_sim_walls(const tsr_sim_collider *c, const float p[3], tsr_sim_wall walls[TSR_SIM_WALLS_MOST])
{
    tsr_sim_wall *w = walls;
    if (c->kind == TSR_SIM_ROOM) {
        for (int32_t k = 0; k < 6; k++) {
            const int32_t axis = k >> 1;
            w[k].d = k & 1 ? c->b[axis] - p[axis] : p[axis] - c->a[axis];
            for (int32_t i = 0; i < 3; i++) w[k].n[i] = i == axis ? (k & 1 ? -1.0f : 1.0f) : 0.0f;
        }
        return 6;
    }
    if (c->kind == TSR_SIM_CUP) {
        float r, h, out[3], nr, nh;
        tsr_sim_cup_place(c, p, &r, &h, out);
        if (r < c->radius && h > 0.0f && h < c->height) { /* within: wall and bottom, each for itself */
            w[0].d = c->radius - r;
            w[1].d = h;
            for (int32_t i = 0; i < 3; i++) {
                w[0].n[i] = -out[i];
                w[1].n[i] = c->b[i];
            }
            return 2;
        }
        float mr, mh;
        const float wall = tsr_sim_rectangle(r, h, c->radius, c->radius + c->thickness, -c->thickness, c->height, &nr, &nh);
        const float bottom = tsr_sim_rectangle(r, h, -c->radius - c->thickness, c->radius + c->thickness, -c->thickness, 0.0f, &mr, &mh);
        w[0].d = tsr_minf(wall, bottom);
        for (int32_t i = 0; i < 3; i++) w[0].n[i] = wall < bottom ? nr * out[i] + nh * c->b[i] : mr * out[i] + mh * c->b[i];
        return 1;
    }
    if (c->kind == TSR_SIM_PLANE) {
        w->d = (p[0] - c->a[0]) * c->b[0] + (p[1] - c->a[1]) * c->b[1] + (p[2] - c->a[2]) * c->b[2];
        for (int32_t i = 0; i < 3; i++) w->n[i] = c->b[i];
    } else if (c->kind == TSR_SIM_BALL) {
        float square = 0.0f;
        for (int32_t i = 0; i < 3; i++) square += (p[i] - c->a[i]) * (p[i] - c->a[i]);
        const float inverse = tsr_rsqrt(square);
        w->d = square * inverse - c->radius;
        for (int32_t i = 0; i < 3; i++) w->n[i] = (p[i] - c->a[i]) * inverse;
    } else if (c->kind == TSR_SIM_BLOCK) {
        w->d = tsr_sim_block(c, p, w->n);
    } else {
        w->d = tsr_sim_field(c, p, w->n);
    }
    return 1;
}

/* ---- particles ------------------------------------------------------------------------------------------------------------------------------- */

/* Everything a step works on, by value into every kernel. Particles lie in the order of their cells. */
typedef struct tsr_sim_job {
    tsr_sim_kernel kernel;
    int64_t count;
    float rest, inverse_rest;    /* density at rest, and 1 / it */
    float dt, inverse_dt, correction; /* correction: share of a density error that one step takes back */
    float relaxation;            /* of the pressure's iteration */
    float impulse_ratio;         /* this step's dt over the last one's: impulses begin as they were */
    float gravity[3];
    float friction;              /* share of the velocity along a wall that touching particles lose in a step */
    float nearest;               /* no particle comes closer to a solid */
    float lower[3], upper[3];    /* particles outside of it are gone */
    int32_t cells[3];
    float inverse_cell;
    const tsr_sim_collider *colliders; /* device memory */
    int32_t collider_count;
    tsr_sim4 *place;    /* x y z, w not used */
    tsr_sim4 *move;     /* velocity, w not used */
    float *impulse;     /* of the pressure: u = dt p / density^2 */
    tsr_sim4 *free;     /* velocity without pressure; w: density */
    tsr_sim4 *solid;    /* gradient of the density that solids give; w: 1 / (sum of squared gradients), 0 without neighbours */
    uint32_t *number;   /* of the particle: stays its own */
    uint32_t *key;      /* cell, or all ones for a particle that is gone */
    float *error;       /* see the passes */
    float *speed;       /* squared */
    /* before the sort */
    const uint32_t *order;
    const tsr_sim4 *from_place, *from_move;
    const float *from_impulse;
    const uint32_t *from_number;
    /* neighbours */
    uint32_t *starts;   /* [cells + 1]: first particle of a cell */
    uint32_t *found;    /* [count + 1]: neighbours of a particle, 0 at the end */
    uint32_t *first;    /* [count + 1]: the first of them in the list */
    uint32_t *list;
} tsr_sim_job;

TSR_HD int32_t tsr_sim_cell(const tsr_sim_job *j, float p, int32_t axis)
{
    return tsr_maxi(0, tsr_mini((int32_t)((p - j->lower[axis]) * j->inverse_cell), j->cells[axis] - 1));
}

/* Key of particle i: its cell, x fastest; the largest key for one that has left the region (or is not a number). */
TSR_HD void tsr_sim_find_key(const tsr_sim_job *j, int64_t i)
{
    const tsr_sim4 p = j->place[i];
    const int in = p.x >= j->lower[0] && p.x <= j->upper[0] && p.y >= j->lower[1] && p.y <= j->upper[1] && p.z >= j->lower[2] && p.z <= j->upper[2];
    const int32_t x = in ? tsr_sim_cell(j, p.x, 0) : 0, y = in ? tsr_sim_cell(j, p.y, 1) : 0, z = in ? tsr_sim_cell(j, p.z, 2) : 0;
    j->key[i] = in ? (uint32_t)((z * j->cells[1] + y) * j->cells[0] + x) : (uint32_t)(j->cells[0] * j->cells[1] * j->cells[2]);
}

TSR_HD void tsr_sim_gather(const tsr_sim_job *j, int64_t i)
{
    const uint32_t from = j->order[i];
    j->place[i] = j->from_place[from];
    j->move[i] = j->from_move[from];
    j->impulse[i] = j->impulse_ratio * j->from_impulse[from];
    j->number[i] = j->from_number[from];
}

/* First sorted particle of cell c; c = number of cells: the number of particles that are not gone. */
TSR_HD void tsr_sim_find_start(const tsr_sim_job *j, int64_t c)
{
    int64_t low = 0, high = j->count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if ((int64_t)j->key[middle] < c) low = middle + 1;
        else high = middle;
    }
    j->starts[c] = (uint32_t)low;
}

TSR_HD int tsr_sim_is_near(const tsr_sim_job *j, const tsr_sim4 *p, const tsr_sim4 *o)
{
    const float dx = p->x - o->x, dy = p->y - o->y, dz = p->z - o->z;
    return dx * dx + dy * dy + dz * dz < j->kernel.square;
}

/* Neighbours of particle i, nearer than the reach, in the order of the cells; list NULL: their number alone. */
TSR_HD uint32_t tsr_sim_neighbours(const tsr_sim_job *j, int64_t i, uint32_t *list)
{
    const tsr_sim4 p = j->place[i];
    const int32_t x = tsr_sim_cell(j, p.x, 0), y = tsr_sim_cell(j, p.y, 1), z = tsr_sim_cell(j, p.z, 2);
    const int32_t x0 = tsr_maxi(x - 1, 0), x1 = tsr_mini(x + 1, j->cells[0] - 1);
    uint32_t found = 0;
    for (int32_t cz = tsr_maxi(z - 1, 0); cz <= tsr_mini(z + 1, j->cells[2] - 1); cz++)
        for (int32_t cy = tsr_maxi(y - 1, 0); cy <= tsr_mini(y + 1, j->cells[1] - 1); cy++) {
            const int64_t row = ((int64_t)cz * j->cells[1] + cy) * j->cells[0];
            const uint32_t end = j->starts[row + x1 + 1];
            for (uint32_t n = j->starts[row + x0]; n < end; n++) {
                if ((int64_t)n != i && tsr_sim_is_near(j, &p, &j->place[n])) {
                    if (list) list[found] = n;
                    found++;
                }
            }
        }
    return found;
}

/* Distance over reach to a neighbour and its inverse. */
TSR_HD float tsr_sim_q(const tsr_sim_kernel *k, float square, float *inverse_q)
{
    const float inverse = tsr_rsqrt(square);
    *inverse_q = inverse * k->reach;
    return tsr_minf(square * inverse * k->inverse, 1.0f);
}

/* What one neighbour adds to the sums of a particle: p - o is the difference of positions, u - v that of velocities. */
typedef struct tsr_sim_sums {
    float w, gx, gy, gz, squares, vx, vy, vz, cx, cy, cz;
} tsr_sim_sums;
TSR_HD void tsr_sim_add_density(const tsr_sim_kernel *k, float dx, float dy, float dz, float in, tsr_sim_sums *s, float *w)
{
    const float square = dx * dx + dy * dy + dz * dz;
    float inverse_q;
    const float q = tsr_sim_q(k, square, &inverse_q), g = k->slope * tsr_sim_g(q, inverse_q) * in;
    *w = tsr_sim_w(q) * in;
    s->w += *w;
    s->gx += g * dx;
    s->gy += g * dy;
    s->gz += g * dz;
    s->squares += g * g * square;
}
TSR_HD void tsr_sim_add_viscosity(float w, float ux, float uy, float uz, tsr_sim_sums *s)
{
    s->vx += w * ux;
    s->vy += w * uy;
    s->vz += w * uz;
}
TSR_HD void tsr_sim_add_cohesion(const tsr_sim_kernel *k, float dx, float dy, float dz, tsr_sim_sums *s)
{
    float inverse_q;
    const float q = tsr_sim_q(k, dx * dx + dy * dy + dz * dz, &inverse_q), c = tsr_sim_cohesion(q) * inverse_q * k->inverse;
    s->cx -= c * dx;
    s->cy -= c * dy;
    s->cz -= c * dz;
}

/* Density, solid share, diagonal of the pressure's equations, and the velocity without pressure (gravity, viscosity, cohesion, friction), from the sums. */
TSR_HD void tsr_sim_end_density(const tsr_sim_job *j, int64_t i, const tsr_sim_sums *a)
{
    const tsr_sim_kernel *k = &j->kernel;
    const tsr_sim4 p = j->place[i], v = j->move[i];
    const float at[3] = { p.x, p.y, p.z };
    tsr_sim_solid s = { 1.0f, 0.0f, 0.0f, 0.0f };
    tsr_sim4 f = { v.x + j->dt * (j->gravity[0] + k->cohesion * a->cx) + k->viscosity * a->vx,
                   v.y + j->dt * (j->gravity[1] + k->cohesion * a->cy) + k->viscosity * a->vy,
                   v.z + j->dt * (j->gravity[2] + k->cohesion * a->cz) + k->viscosity * a->vz, 0.0f };
    for (int32_t c = 0; c < j->collider_count; c++) {
        tsr_sim_wall walls[TSR_SIM_WALLS_MOST];
        const int32_t count = tsr_sim_walls(&j->colliders[c], at, walls);
        for (int32_t w = 0; w < count; w++) {
            const tsr_sim_wall *b = &walls[w];
            if (b->d >= k->reach) continue;
            tsr_sim_add_wall(&s, k, b->d, b->n[0], b->n[1], b->n[2]);
            if (j->friction > 0.0f && b->d < 0.5f * k->reach) { /* of those that touch it: within one spacing */
                const float along = f.x * b->n[0] + f.y * b->n[1] + f.z * b->n[2];
                f.x -= j->friction * (f.x - along * b->n[0]);
                f.y -= j->friction * (f.y - along * b->n[1]);
                f.z -= j->friction * (f.z - along * b->n[2]);
            }
        }
    }
    const float density = k->value * (1.0f + a->w) + j->rest * (1.0f - s.open);
    tsr_sim4 solid = { j->rest * s.x, j->rest * s.y, j->rest * s.z, 0.0f };
    const float gx = a->gx + solid.x, gy = a->gy + solid.y, gz = a->gz + solid.z, total = gx * gx + gy * gy + gz * gz + a->squares;
    f.w = density;
    solid.w = total > 0.0f ? 1.0f / total : 0.0f;
    j->free[i] = f;
    j->solid[i] = solid;
    j->error[i] = tsr_maxf(density * j->inverse_rest - 1.0f, 0.0f);
}

TSR_HD void tsr_sim_density(const tsr_sim_job *j, int64_t i)
{
    const tsr_sim_kernel *k = &j->kernel;
    const tsr_sim4 p = j->place[i], v = j->move[i];
    tsr_sim_sums s = { 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f };
    for (uint32_t n = j->first[i]; n < j->first[i + 1]; n++) {
        const uint32_t o = j->list[n];
        const tsr_sim4 b = j->place[o];
        float w;
        tsr_sim_add_density(k, p.x - b.x, p.y - b.y, p.z - b.z, 1.0f, &s, &w);
        if (k->viscosity > 0.0f) {
            const tsr_sim4 u = j->move[o];
            tsr_sim_add_viscosity(w, u.x - v.x, u.y - v.y, u.z - v.z, &s);
        }
        if (k->cohesion > 0.0f) tsr_sim_add_cohesion(k, p.x - b.x, p.y - b.y, p.z - b.z, &s);
    }
    tsr_sim_end_density(j, i, &s);
}

/* One neighbour's push, with both impulses of the pressure together. */
TSR_HD void tsr_sim_add_push(const tsr_sim_kernel *k, float dx, float dy, float dz, float both, float *x, float *y, float *z)
{
    float inverse_q;
    const float q = tsr_sim_q(k, dx * dx + dy * dy + dz * dz, &inverse_q), g = both * tsr_sim_g(q, inverse_q);
    *x += g * dx;
    *y += g * dy;
    *z += g * dz;
}
/* The velocity with the pressure at hand: v = free - sum (u_i + u_j) grad W - u_i grad S. Pairs push each other alike: momentum stays. */
TSR_HD void tsr_sim_end_push(const tsr_sim_job *j, int64_t i, float x, float y, float z)
{
    const tsr_sim4 f = j->free[i], s = j->solid[i];
    const float own = j->impulse[i], slope = j->kernel.slope;
    const tsr_sim4 v = { f.x - (slope * x + own * s.x), f.y - (slope * y + own * s.y), f.z - (slope * z + own * s.z), 0.0f };
    j->move[i] = v;
}
TSR_HD void tsr_sim_push(const tsr_sim_job *j, int64_t i)
{
    const tsr_sim4 p = j->place[i];
    const float own = j->impulse[i];
    float x = 0.0f, y = 0.0f, z = 0.0f;
    for (uint32_t n = j->first[i]; n < j->first[i + 1]; n++) {
        const uint32_t o = j->list[n];
        const tsr_sim4 b = j->place[o];
        tsr_sim_add_push(&j->kernel, p.x - b.x, p.y - b.y, p.z - b.z, own + j->impulse[o], &x, &y, &z);
    }
    tsr_sim_end_push(j, i, x, y, z);
}

/* One neighbour's share of how fast the density grows, without the factor `slope`; ux is the difference of velocities v - u. */
TSR_HD void tsr_sim_add_press(const tsr_sim_kernel *k, float dx, float dy, float dz, float ux, float uy, float uz, float *rate)
{
    float inverse_q;
    const float q = tsr_sim_q(k, dx * dx + dy * dy + dz * dz, &inverse_q);
    *rate += tsr_sim_g(q, inverse_q) * (ux * dx + uy * dy + uz * dz);
}
/* One step of projected Jacobi: how fast the particle is compressed beyond what it has room for, and so much more (or less) pressure, never below 0.
 * error: the density error that the velocities at hand would leave, over the density at rest. */
TSR_HD void tsr_sim_end_press(const tsr_sim_job *j, int64_t i, float rate)
{
    const tsr_sim4 v = j->move[i], s = j->solid[i];
    const float excess = j->free[i].w - j->rest;
    rate = j->kernel.slope * rate + (v.x * s.x + v.y * s.y + v.z * s.z);
    const float wanted = rate + (excess > 0.0f ? j->correction * excess : excess) * j->inverse_dt;
    j->impulse[i] = tsr_maxf(j->impulse[i] + j->relaxation * s.w * wanted, 0.0f);
    j->error[i] = tsr_maxf(wanted * j->dt * j->inverse_rest, 0.0f);
}
TSR_HD void tsr_sim_press(const tsr_sim_job *j, int64_t i)
{
    const tsr_sim4 p = j->place[i], v = j->move[i];
    float rate = 0.0f;
    for (uint32_t n = j->first[i]; n < j->first[i + 1]; n++) {
        const uint32_t o = j->list[n];
        const tsr_sim4 b = j->place[o], u = j->move[o];
        tsr_sim_add_press(&j->kernel, p.x - b.x, p.y - b.y, p.z - b.z, v.x - u.x, v.y - u.y, v.z - u.z, &rate);
    }
    tsr_sim_end_press(j, i, rate);
}

/* Moves the particle and keeps it out of the solids: it stops there, what it had along the wall stays. */
TSR_HD void tsr_sim_move(const tsr_sim_job *j, int64_t i)
{
    tsr_sim4 v = j->move[i], p = j->place[i];
    float at[3] = { p.x + j->dt * v.x, p.y + j->dt * v.y, p.z + j->dt * v.z };
    /* out of one solid may be into another, where two meet: so several times */
    for (int32_t turn = 0, moved = 1; turn < 8 && moved; turn++) {
        moved = 0;
        for (int32_t c = 0; c < j->collider_count; c++) {
            tsr_sim_wall walls[TSR_SIM_WALLS_MOST];
            const int32_t count = tsr_sim_walls(&j->colliders[c], at, walls);
            for (int32_t w = 0; w < count; w++) {
                const tsr_sim_wall *a = &walls[w];
                if (!(a->d < 0.999f * j->nearest)) continue;
                const float out = j->nearest - a->d, along = v.x * a->n[0] + v.y * a->n[1] + v.z * a->n[2];
                for (int32_t k = 0; k < 3; k++) at[k] += out * a->n[k];
                if (along < 0.0f) {
                    v.x -= along * a->n[0];
                    v.y -= along * a->n[1];
                    v.z -= along * a->n[2];
                }
                moved = 1;
            }
        }
    }
    p.x = at[0];
    p.y = at[1];
    p.z = at[2];
    j->place[i] = p;
    j->move[i] = v;
    j->speed[i] = v.x * v.x + v.y * v.y + v.z * v.z;
}

#endif
