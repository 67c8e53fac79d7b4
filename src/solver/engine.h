/* solver/engine.h: the inside of the level-set solver: what a backend provides, the block of numbers a run keeps on the device, and the
 * provider of payload pages (docs/theory/tiles.md 3, 4, 8, docs/theory/levelset.md 6).
 *
 * A step is `stages` passes of the scheme (Euler 1, RK2 2, RK3 3) and `sweeps` passes of reinitialisation, then one management pass of the list,
 * then payload and age of the created tiles, then `finish`, which decides on the device whether the run goes on and how long the next step is.
 * Nothing allocates or synchronises. The k-th of P passes reads what the one before wrote (the first: phi[state->phi]) and writes so that the
 * last writes phi[state->phi ^ 1]; passes in between use phi[2]. */
#ifndef TSR_SOLVER_ENGINE_H
#define TSR_SOLVER_ENGINE_H

#include "tiles/tiles.h"
#include "solver/terms.h"
#include "tessera/levelset.h"

/* What a sweep does: reshape, or a pass of tsr_levelset_redistance. */
enum { TSR_SWEEP_RESHAPE = 0, TSR_SWEEP_SEED, TSR_SWEEP_DISTANCE };
enum { TSR_ENGINE_STAGES = 3, TSR_ENGINE_PASSES = 19, TSR_ENGINE_SUM_BITS = 30 };

/* ---- payload ---------------------------------------------------------------------------------------------------------------------------- */

/* Fills payload pages: pool->payload[id][edge^3] (z, y, x) = a value per voxel (a code of 16 bits if pool->coded) of the tile with key tsr_pool_key_of(pool, id). With `all` the pages of all
 * state->count tiles of the list pool->id[state->list], else of the state->created tiles pool->created_ids that the last management made. Both
 * numbers are on the device; the call must queue work that reads them there, and must not synchronise, unless the provider is not `recordable`:
 * then it is called anew after every step instead of being recorded in a graph, and may wait for the queue and use host threads. Nothing may be
 * done while state->shortage > 0 or state->halted != 0. An error it returns ends the run with the surface of the last completed step. */
typedef struct tsr_payload_provider {
    tsr_status (*fill)(void *user, tsr_queue *queue, const tsr_tile_pool *pool, int all);
    void *user;
    int recordable;
} tsr_payload_provider;

/* The provider of a solver (TSR_LEVELSET_POTENTIAL needs one before its first step); COPIES the struct, KEEPS user. All pages are asked for at the
 * next step. P of TSR_LEVELSET_POTENTIAL is the payload; its gradient is central, one-sided towards absent tiles. Of TSR_LEVELSET_PULL it is the bits of
 * tsr_pull_pack. */
tsr_status tsr_levelset_set_payload(tsr_levelset *levelset, const tsr_payload_provider *provider);

/* ---- what a run consists of ------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_engine_setup {
    tsr_engine_scheme scheme; /* of the stages */
    tsr_engine_scheme sweep;  /* of the sweeps: reshape term alone, weight 1 */
    tsr_engine_flow flow;
    int32_t radius; /* halo of the passes: 1 or 3 voxels */
    int32_t stages, sweeps, sweep_kind;
    float blend[TSR_ENGINE_STAGES];  /* see tsr_stage_value */
    float moment[TSR_ENGINE_STAGES]; /* of each stage, as a share of the time step */
    float sweep_step;              /* world units */
    int32_t guard;                 /* width of the guard areas of the activity word, 1..3 */
    float fixed_step;              /* > 0: the time step */
    float cfl;
    float rate;                 /* largest hyperbolic rate of terms whose bound the host knows, reshape term included, 1 / time */
    float parabolic;            /* rate of the curvature terms: 2 a sum 1/h^2 */
    float parabolic_unit;       /* 2 sum 1/h^2: rate of a measured coefficient */
    int32_t measured;           /* the first stage measures the rate of terms whose bound is not known */
    int32_t needs_mean;         /* Kbar, volume and area before each step */
    float mean_value, feedback; /* F = mean_value Kbar + feedback (V0 - V) / A */
    float delta_width;          /* eps of the smoothed delta, world units */
    int32_t managed_every;
    int32_t age; /* 0: no convergence test */
    int32_t source_rule;
    float change_tolerance; /* world units; 0: none */
    int32_t calm_steps;     /* management passes below it that end the run; 0: none */
    int32_t fused;          /* off the CPU: the arithmetic of the device */
    int32_t persistent;     /* off the CPU, steps in one kernel: 0 those of small lists, > 0 wherever it can be, < 0 never */
    int32_t watched;        /* the surface could go farther between management passes than its band: forced steps, or several between them */
} tsr_engine_setup;

/* Where a value was not finite, and what made it so. */
enum { TSR_BLAME_FIELD = -1, TSR_BLAME_SCHEME = -2 };
typedef struct tsr_engine_blame {
    int32_t term; /* index of the caller's term, or one of the above */
    int32_t voxel[3];
    float value; /* of the field there */
} tsr_engine_blame;

/* Device memory of a run. All that the host wants to know after a batch of steps lies here and in tsr_tile_state. */
typedef struct tsr_engine_control {
    double end;                                                /* the run halts when the time reaches this exactly; HUGE_VAL = never */
    double volume_start;                                       /* V0 of the feedback, world units^3; < 0: not taken yet */
    double mean_curvature;                                     /* Kbar of the last step */
    double volume, area;                                       /* measured with it */
    float time_step;                                           /* of the next or running step */
    float largest_change;                                      /* max |phi_new - phi| over band voxels, last step */
    float rate, curvature;                                     /* measured by the last step: hyperbolic rate, largest coefficient a */
    float mean_speed;                                          /* what it adds to F now */
    int32_t last;                                              /* the running step ends the run */
    int32_t converged, empty, ended;                           /* why it halted */
    int32_t youngest;                                          /* smallest age of a stored tile after the last management */
    tsr_engine_blame blame;                                      /* answer of `explain` */
    int32_t management;                                        /* steps since the last management pass */
    int32_t calm;                                              /* management passes running with a change below the tolerance */
    uint32_t rate_bits, curvature_bits, change_bits, old_bits; /* being collected; old = 255 - youngest */
    int64_t sums[4];                                           /* fixed point, TSR_ENGINE_SUM_BITS: delta |grad|, K delta |grad|, Heaviside, - */
    float moved;                                               /* of a watched run, since the last management: see tsr_engine_watch */
    int32_t left;                                              /* it went beyond the band, and halted there */
} tsr_engine_control;

/* ---- backend ------------------------------------------------------------------------------------------------------------------------------ */

/* Recorded steps for one pool and one setup; made anew when either changes. */
typedef struct tsr_engine_plan tsr_engine_plan;

typedef struct tsr_engine_ops {
    /* COPIES pool, setup and provider (which may be NULL); `control` is device memory the caller keeps. */
    tsr_status (*plan_create)(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_engine_setup *setup, const tsr_payload_provider *provider,
                              tsr_engine_control *control, tsr_engine_plan **plan);
    void (*plan_destroy)(tsr_queue *queue, tsr_engine_plan **plan);
    /* Before the first step of a run: payload of all tiles (if `payload`), rates of the terms, length of the next step. The fields end and
     * volume_start of *control must be set, ages be right (zeroed for a new solver); clears state->halted, steps to the next management begin anew. */
    tsr_status (*plan_start)(tsr_queue *queue, tsr_engine_plan *plan, int payload);
    /* Queues `steps` steps of a list that has about so many tiles now. After a halt or a shortage of ids the rest does nothing. A step that meets a value that is not finite (state->bad) halts
     * the run: phi[state->phi] and the list are those before it, activity words and state->scratch may not be. */
    tsr_status (*plan_run)(tsr_queue *queue, tsr_engine_plan *plan, int32_t steps, int32_t tiles);
    /* Fills control->blame for state->bad; queued. */
    tsr_status (*plan_explain)(tsr_queue *queue, tsr_engine_plan *plan);
    /* After the host has grown the pool and managed the list: what a step does after its management. */
    tsr_status (*plan_resume)(tsr_queue *queue, tsr_engine_plan *plan);
    /* Values, neighbour rows and activity (none) of the state->count tiles of `to`, whose keys and ids are set, from a list of half (up) or twice the
     * resolution (resample.h); adds to to->state->inside_absent what stored tiles of `to` cover of absent inside tiles of `from`, negative. */
    tsr_status (*resample)(tsr_queue *queue, const tsr_tile_pool *from, const tsr_tile_pool *to, int up);
    /* Tiles created by the steps of this plan. NULL: the order of the tiles in memory does not matter to this backend. */
    int64_t (*plan_created)(const tsr_engine_plan *plan);
} tsr_engine_ops;

/* The CPU's `resample` (resample_cpu.c). */
tsr_status tsr_resample_cpu(tsr_queue *queue, const tsr_tile_pool *from, const tsr_tile_pool *to, int up);

/* Fixed-point sums of Kbar: exact, so that the order does not matter. */
TSR_HD int64_t tsr_engine_fixed(float v) { return (int64_t)(v * 1073741824.0f); }

/* Gradient of the payload at voxel (x, y, z) of the tile of edge E with this neighbour row; `pages` are those of all ids,
 * `coded` ones uint16_t: of a coding whose steps are equal the difference of codes has the direction of the gradient. */
TSR_HD void tsr_page_gradient(const float *pages, int coded, int32_t E, const uint32_t *row, int32_t x, int32_t y, int32_t z, const int32_t extent[3],
                              const float inverse_spacing[3], float gradient[3])
{
    const int32_t V = E * E * E, i = (z * E + y) * E + x, at[3] = { x, y, z };
    const int64_t own = (int64_t)row[TSR_TILE_MIDDLE] * V + i;
    for (int32_t k = 0, stride = 1, direction = 1; k < 3; k++, stride *= E, direction *= 3) {
        const uint32_t below = row[TSR_TILE_MIDDLE - direction], above = row[TSR_TILE_MIDDLE + direction];
        float before = 0.0f, after = 0.0f;
        int has_before = at[k] > 0, has_after = at[k] < extent[k] - 1;
        if (has_before) before = tsr_payload_at(pages, coded, own - stride);
        else if (below >= TSR_TILE_FIRST) {
            has_before = 1;
            before = tsr_payload_at(pages, coded, (int64_t)below * V + i + (E - 1) * stride);
        }
        if (has_after) after = tsr_payload_at(pages, coded, own + stride);
        else if (at[k] == E - 1 && above >= TSR_TILE_FIRST) {
            has_after = 1;
            after = tsr_payload_at(pages, coded, (int64_t)above * V + i - (E - 1) * stride);
        }
        gradient[k] = tsr_payload_slope(before, tsr_payload_at(pages, coded, own), after, has_before, has_after, inverse_spacing[k]);
    }
}

TSR_HD void tsr_payload_gradient(const tsr_tile_pool *pool, const uint32_t *row, int32_t x, int32_t y, int32_t z, const int32_t extent[3],
                                 const float inverse_spacing[3], float gradient[3])
{
    tsr_page_gradient(pool->payload, pool->coded, 1 << pool->log2_edge, row, x, y, z, extent, inverse_spacing, gradient);
}

/* What the payload is to the terms: nothing, a potential whose gradient is needed, or velocities. */
enum { TSR_PAYLOAD_UNUSED = 0, TSR_PAYLOAD_POTENTIAL, TSR_PAYLOAD_VELOCITY };
TSR_HD int tsr_engine_payload(const tsr_engine_flow *flow)
{
    for (int32_t i = 0; i < flow->count; i++) {
        if (flow->source[i].kind == TSR_SOURCE_POTENTIAL) return TSR_PAYLOAD_POTENTIAL;
        if (flow->source[i].kind == TSR_SOURCE_PULL) return TSR_PAYLOAD_VELOCITY;
    }
    return TSR_PAYLOAD_UNUSED;
}

/* The gradient, or the velocity, at voxel (x, y, z) of the tile with this neighbour row; `use` is tsr_engine_payload. */
TSR_HD void tsr_payload_vector(const tsr_tile_pool *pool, int use, const uint32_t *row, int32_t x, int32_t y, int32_t z, const int32_t extent[3],
                               const float inverse_spacing[3], float vector[3])
{
    if (use == TSR_PAYLOAD_POTENTIAL) {
        tsr_payload_gradient(pool, row, x, y, z, extent, inverse_spacing, vector);
        return;
    }
    const int32_t e = pool->log2_edge;
    const uint32_t word = tsr_float_bits(pool->payload[((int64_t)row[TSR_TILE_MIDDLE] << 3 * e) + ((((z << e) + y) << e) + x)]);
    for (int32_t k = 0; k < 3; k++) vector[k] = tsr_pull_component(word, k);
}

/* What a voxel within e of the surface adds to the sums: delta |grad phi| h, K delta |grad phi| h^2, the share that is inside (docs/theory/levelset.md 4; delta of half
 * width e). xm..zp are its one-sided differences, xy, xz and yz the mixed ones. */
typedef struct tsr_mean_parts {
    float weight, curved, inside;
} tsr_mean_parts;
TSR_HD tsr_mean_parts tsr_engine_mean_parts(float c, float xm, float xp, float ym, float yp, float zm, float zp, float xy, float xz, float yz,
                                          const tsr_engine_scheme *k, float e)
{
    const float *r = k->inverse_spacing, h = k->spacing;
    const float gx = 0.5f * (xm + xp), gy = 0.5f * (ym + yp), gz = 0.5f * (zm + zp), u = c / e;
    const float delta = 0.5f * (1.0f + tsr_cos_pi(u)) / e;
    const float curved = tsr_curvature_part(gx, gy, gz, (xp - xm) * r[0], (yp - ym) * r[1], (zp - zm) * r[2], xy, xz, yz, k->curvature_limit);
    tsr_mean_parts p;
    p.weight = delta * tsr_sqrt((gx * gx + gy * gy) + gz * gz) * h;
    p.curved = curved * delta * (h * h);
    p.inside = 0.5f * ((1.0f - u) - 0.318309886f * tsr_sin_pi(u));
    return p;
}

/* Adds the parts of one voxel; one that is farther from the surface is inside or outside. */
TSR_HD void tsr_engine_mean_voxel(const float *p, int32_t sy, int32_t sz, const tsr_engine_scheme *k, float e, int64_t sums[3])
{
    const float c = p[0], *r = k->inverse_spacing;
    if (c >= e) return;
    if (c <= -e) {
        sums[2] += tsr_engine_fixed(1.0f);
        return;
    }
    const tsr_mean_parts parts = tsr_engine_mean_parts(c, (c - p[-1]) * r[0], (p[1] - c) * r[0], (c - p[-sy]) * r[1], (p[sy] - c) * r[1],
                                                     (c - p[-sz]) * r[2], (p[sz] - c) * r[2], tsr_cross_difference(p, 1, sy, r[0], r[1]),
                                                     tsr_cross_difference(p, 1, sz, r[0], r[2]), tsr_cross_difference(p, sy, sz, r[1], r[2]), k, e);
    sums[0] += tsr_engine_fixed(parts.weight);
    sums[1] += tsr_engine_fixed(parts.curved);
    sums[2] += tsr_engine_fixed(parts.inside);
}

/* Buffers of pass k of `passes`: 0 = phi[state->phi], 1 = the other, 2 = phi[2]. */
TSR_HD int32_t tsr_pass_target(int32_t k, int32_t passes) { return (passes - 1 - k) & 1 ? 2 : 1; }
TSR_HD int32_t tsr_pass_source(int32_t k, int32_t passes) { return k == 0 ? 0 : tsr_pass_target(k - 1, passes); }

/* ---- values that are not finite ------------------------------------------------------------------------------------------------------------- */

/* The field at an offset of at most one tile from a voxel of the tile with this neighbour row. */
TSR_HD float tsr_stored_value(const tsr_tile_pool *pool, const float *phi, const uint32_t *row, const int32_t at[3])
{
    const int32_t E = 1 << pool->log2_edge;
    int32_t direction = TSR_TILE_MIDDLE, inside[3], stride = 1;
    for (int32_t k = 0; k < 3; k++, stride *= 3) {
        direction += at[k] < 0 ? -stride : at[k] >= E ? stride : 0;
        inside[k] = at[k] & (E - 1);
    }
    return tsr_pool_value(pool, phi, (int64_t)row[direction] * E * E * E + (inside[2] * E + inside[1]) * E + inside[0]);
}

/* First source that is not finite at the voxel, or -1. */
TSR_HD int32_t tsr_engine_bad_source(const tsr_engine_flow *flow, const tsr_engine_moment *moment, const int32_t at[3], const tsr_engine_given *given)
{
    for (int32_t i = 0; i < flow->count; i++) {
        tsr_engine_values v = { 0.0f, { 0.0f, 0.0f, 0.0f }, 0.0f };
        tsr_engine_kind_add(flow, i, flow->source[i].kind, tsr_source_weight(flow, i, at[0], at[1], at[2]), moment, at[0], at[1], at[2], given, &v);
        if (!(tsr_finite(v.speed) && tsr_finite(v.velocity[0]) && tsr_finite(v.velocity[1]) && tsr_finite(v.velocity[2]) && tsr_finite(v.curvature)))
            return i;
    }
    return -1;
}

/* What is behind state->bad, one thread: a term, a value of the field in reach of the stencil, or numbers too large for the scheme. */
TSR_HD void tsr_engine_explain(const tsr_tile_pool *pool, const tsr_engine_setup *s, tsr_engine_control *c)
{
    const tsr_tile_state *state = pool->state;
    const int32_t E = 1 << pool->log2_edge, pass = tsr_bad_pass(state->bad), voxel = tsr_bad_voxel(state->bad), passes = s->stages + s->sweeps;
    const int32_t source = tsr_pass_source(pass, passes), entry = tsr_bad_entry(state->bad);
    const float *phi = source == 2 ? pool->phi[2] : pool->phi[state->phi ^ source];
    const uint64_t key = tsr_pool_key(pool, state->list, entry);
    const uint32_t *row = pool->neighbours + (int64_t)pool->id[state->list][entry] * TSR_NEIGHBOUR_ROW;
    const int32_t first[3] = { tsr_key_x(key) * E, tsr_key_y(key) * E, tsr_key_z(key) * E }, at[3] = { voxel % E, voxel / E % E, voxel / (E * E) };
    int32_t extent[3] = { E, E, E };
    tsr_engine_blame *blame = &c->blame;
    blame->term = TSR_BLAME_SCHEME;
    for (int32_t k = 0; k < 3; k++) {
        blame->voxel[k] = first[k] + at[k];
        if (pool->bounded) extent[k] = tsr_mini(E, pool->domain[k] - first[k]);
    }
    blame->value = tsr_stored_value(pool, phi, row, at);
    for (int32_t i = 0; i < 3 * 3 * 3 + 6 * 3; i++) { /* the cube around the voxel, then the arms */
        int32_t near[3] = { at[0], at[1], at[2] };
        if (i < 27) {
            near[0] += tsr_direction_x(i);
            near[1] += tsr_direction_y(i);
            near[2] += tsr_direction_z(i);
        } else {
            const int32_t arm = i - 27, reach = arm / 6 + 1;
            if (reach > s->radius) continue;
            near[arm % 3] += arm / 3 % 2 ? reach : -reach;
        }
        const float v = tsr_stored_value(pool, phi, row, near);
        if (tsr_finite(v)) continue;
        blame->term = TSR_BLAME_FIELD;
        blame->value = v;
        for (int32_t k = 0; k < 3; k++) blame->voxel[k] = first[k] + near[k];
        return;
    }
    if (pass >= s->stages) return;
    tsr_engine_moment moment;
    tsr_engine_given given = { { 0.0f, 0.0f, 0.0f }, row[TSR_TILE_MIDDLE], voxel, E * E * E };
    tsr_engine_moment_at(&s->flow, state->time + (double)s->moment[pass] * (double)c->time_step, c->mean_speed, &moment);
    const int use = tsr_engine_payload(&s->flow);
    if (use) tsr_payload_vector(pool, use, row, at[0], at[1], at[2], extent, s->scheme.inverse_spacing, given.gradient);
    const int32_t bad = tsr_engine_bad_source(&s->flow, &moment, blame->voxel, &given);
    if (bad >= 0) blame->term = s->flow.source[bad].term;
}

/* ---- decisions between steps, one thread -------------------------------------------------------------------------------------------------- */

/* Kbar, volume, area and what they add to F; `absent` = INSIDE voxels without a tile, cell = volume of a voxel (of a plane: as thick as its
 * voxels are wide, so that both are in proportion to area and length). */
TSR_HD void tsr_engine_mean(const tsr_engine_setup *s, int64_t absent, tsr_engine_control *c)
{
    const float *spacing = s->flow.spacing;
    const double scale = 1.0 / 1073741824.0, cell = (double)spacing[0] * (double)spacing[1] * (double)spacing[2];
    const double weight = (double)c->sums[0] * scale, curved = (double)c->sums[1] * scale;
    c->mean_curvature = weight > 0.0 ? curved / weight / (double)s->scheme.spacing : 0.0;
    c->area = weight * cell / (double)s->scheme.spacing;
    c->volume = ((double)c->sums[2] * scale + (double)absent) * cell;
    if (c->volume_start < 0.0) c->volume_start = c->volume;
    double speed = (double)s->mean_value * c->mean_curvature;
    if (s->feedback > 0.0f && c->area > 0.0) speed += (double)s->feedback * (c->volume_start - c->volume) / c->area;
    c->mean_speed = (float)speed;
    for (int32_t i = 0; i < 4; i++) c->sums[i] = 0;
}

/* Length of the step that begins now. */
TSR_HD void tsr_engine_begin(const tsr_engine_setup *s, double time, tsr_engine_control *c)
{
    float step = s->fixed_step;
    if (!(step > 0.0f)) {
        const float hyperbolic = s->rate + c->rate + 1.7320508f * tsr_absf(c->mean_speed) / s->scheme.spacing;
        const float rate = hyperbolic + (s->parabolic + s->parabolic_unit * c->curvature);
        step = rate > 0.0f ? s->cfl / rate : 0.0f;
    }
    c->last = 0;
    if (time + (double)step * 1.00001 >= c->end) { /* not one last step that is almost nothing */
        step = (float)(c->end - time);
        c->last = 1;
    }
    c->time_step = step;
}

/* How far a surface may go between two management passes: after one the voxels beside tiles that are not stored are a band away from it, and it is
 * where it should be as long as a voxel beyond it is in the band. The guard areas allow for their width whatever the band. */
TSR_HD float tsr_engine_leeway(const tsr_engine_setup *s) { return tsr_maxf(s->scheme.band - s->scheme.spacing, (float)s->guard * s->scheme.spacing); }

/* Has it gone farther? phi changes by no less than the surface moves. A step beyond both sides of the band shows no change in it, but leaves an
 * object without a voxel in the band. */
TSR_HD void tsr_engine_watch(const tsr_engine_setup *s, int managed, const tsr_tile_state *state, tsr_engine_control *c)
{
    c->moved += c->largest_change;
    if (managed && state->count > 0 && state->active_voxels == 0) c->moved += 2.0f * s->scheme.band;
    c->left = c->moved > tsr_engine_leeway(s);
    if (managed && !c->left) c->moved = 0.0f;
}

/* After management: has the run converged, vanished or reached its end? Takes over what the step measured. `edge` in voxels. */
TSR_HD void tsr_engine_finish(const tsr_engine_setup *s, int32_t edge, int managed, tsr_tile_state *state, tsr_engine_control *c)
{
    c->management = managed ? 0 : c->management + 1;
    c->largest_change = tsr_bits_float(c->change_bits);
    c->rate = tsr_bits_float(c->rate_bits);
    c->curvature = tsr_bits_float(c->curvature_bits);
    c->change_bits = c->rate_bits = c->curvature_bits = 0;
    if (s->watched) tsr_engine_watch(s, managed, state, c);
    if (managed) {
        c->youngest = state->created ? 0 : 255 - (int32_t)c->old_bits;
        c->old_bits = 0;
        if (s->age > 0) {
            int32_t needed = s->age;
            if (!s->source_rule && c->largest_change > 0.0f) {
                /* a front that moves this fast needs so many passes to cross a tile; an age beyond 254 cannot be told */
                const float passes = (float)edge * s->scheme.spacing / (c->largest_change * (float)s->managed_every);
                needed = tsr_maxi(needed, passes > 252.0f ? 254 : (int32_t)passes + 2);
            }
            const int32_t slow = c->largest_change < s->change_tolerance;
            c->calm = slow ? c->calm + 1 : 0;
            c->converged = (c->youngest > needed && (slow || !(s->change_tolerance > 0.0f))) || (s->calm_steps > 0 && c->calm >= s->calm_steps);
        }
    }
    c->empty = state->count == 0;
    c->ended = c->last;
    if (c->last) state->time = c->end;
    if (c->converged || c->empty || c->ended || c->left || state->beyond) state->halted = 1;
    tsr_engine_begin(s, state->time, c);
}

#endif
