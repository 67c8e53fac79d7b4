/* light/light_ops.h: what a backend provides for light. All pointers are device memory of the queue. */
#ifndef TSR_LIGHT_LIGHT_OPS_H
#define TSR_LIGHT_LIGHT_OPS_H

#include "device/backend.h"
#include "light/view.h"

/* What a pass over the list does with a patch. */
enum { TSR_LIGHT_PASS_FIRST = 0 /* only finds what is too large */, TSR_LIGHT_PASS_STEP, TSR_LIGHT_PASS_LAST /* only voxels */ };

/* Rays through matter, 7 floats each: place, speed, optical length. */
typedef struct tsr_light_tracing {
    tsr_light_medium medium;
    int32_t integrator, form, project;
    float step;
    int64_t steps, count;
    float *rays;
} tsr_light_tracing;

/* Counts over voxels of a field: lit, of these lit from several directions; sums of the strongest's share in 2^-20. */
typedef struct tsr_light_census {
    const float *field;
    int64_t voxels;
    int32_t layers;
    int64_t *counts; /* [3], zero before */
} tsr_light_census;

typedef struct tsr_light_ops {
    size_t (*advance_bytes)(int64_t capacity);
    /* Steps `first` to first + count - 1, fewer if no patch is left. Step 0 is the first pass. The list of step s is list[s & 1]; account->patches long. */
    tsr_status (*advance)(tsr_queue *queue, const tsr_light_wave *wave, int64_t first, int64_t count, void *workspace);
    tsr_status (*last)(tsr_queue *queue, const tsr_light_wave *wave, int64_t step); /* after the last step: voxels and power of what is left */
    tsr_status (*land)(tsr_queue *queue, const tsr_light_wave *wave,
                       int64_t count); /* `count` patches of list[1] that do not meet the volume, to the floor */
    tsr_status (*settle)(tsr_queue *queue, const tsr_light_wave *wave);
    tsr_status (*census)(tsr_queue *queue, const tsr_light_census *job);
    tsr_status (*trace)(tsr_queue *queue, const tsr_light_tracing *job);
    tsr_status (*view)(tsr_queue *queue, const tsr_light_seen *job);
    tsr_status (*tone_sum)(tsr_queue *queue, const tsr_light_tones *job);
    tsr_status (*tone)(tsr_queue *queue, const tsr_light_tones *job);
} tsr_light_ops;

TSR_HD int32_t tsr_light_parts(int fate)
{
    return fate < TSR_LIGHT_KEEP ? 0 : 1 << (((fate - TSR_LIGHT_KEEP) & 15) + ((fate - TSR_LIGHT_KEEP) >> 4));
}

/* Patch i, if it was the strongest in its voxel a step ago, leaves its light there. */
TSR_HD int tsr_light_wins(const tsr_light_wave *w, int64_t i) { return !w->sums && w->mark[i] && w->mark[i] == w->keys[w->at[i]]; }
TSR_HD void tsr_light_win(const tsr_light_wave *w, const tsr_light_patch *p, int64_t i)
{
    float own[3], direction[3];
    tsr_light_shining(w, p, own, direction);
    tsr_light_join(w, own, direction, tsr_light_pack(direction), w->at[i]);
}

/* Patch i of the list meets its fate; returns how many it becomes. */
TSR_HD int32_t tsr_light_meets(const tsr_light_wave *w, const tsr_light_patch *p, int64_t i, int fate, tsr_light_account *sums)
{
    w->fate[i] = (uint8_t)fate;
    if (fate < TSR_LIGHT_KEEP) {
        for (int k = 0; k < 3; k++) tsr_light_tally(&sums->ended[fate][k], tsr_light_units(p->power[k], w->unit));
        tsr_light_tally(&sums->ends[fate], 1);
        return 0;
    }
    tsr_light_tally(&sums->splits, fate > TSR_LIGHT_KEEP);
    return tsr_light_parts(fate);
}

/* What a pass does with patch i of the list of step `step`: its fate, and how many it becomes. fall: NULL, or takes what lands (tsr_light_judge). */
TSR_HD int32_t tsr_light_visit(const tsr_light_wave *w, int pass, int64_t step, int64_t i, tsr_light_account *sums, tsr_light_fall *fall)
{
    const tsr_light_list *list = &w->list[step & 1];
    tsr_light_patch p;
    tsr_light_get(list, i, &p);
    if (pass != TSR_LIGHT_PASS_FIRST && tsr_light_wins(w, i)) tsr_light_win(w, &p, i);
    if (pass == TSR_LIGHT_PASS_LAST) {
        for (int k = 0; k < 3; k++) tsr_light_tally(&sums->rest[k], tsr_light_units(p.power[k], w->unit));
        return 0;
    }
    const int fate = pass == TSR_LIGHT_PASS_STEP ? tsr_light_step(w, &p, sums, fall) : TSR_LIGHT_KEEP + tsr_light_rounds(w, &p);
    if (pass == TSR_LIGHT_PASS_STEP && fate >= TSR_LIGHT_KEEP) tsr_light_put(list, i, &p);
    return tsr_light_meets(w, &p, i, fate, sums);
}

/* How many patches patch i becomes. */
TSR_HD int32_t tsr_light_becomes(const tsr_light_wave *w, int64_t i) { return tsr_light_parts(w->fate[i]); }
/* The list is full: how much room patch i asks for, by bins ... */
TSR_HD void tsr_light_crowd(const tsr_light_wave *w, int64_t step, int64_t i, int64_t *more)
{
    tsr_light_patch p;
    if (w->fate[i] <= TSR_LIGHT_KEEP) return;
    tsr_light_get(&w->list[step & 1], i, &p);
    tsr_light_tally(&more[tsr_light_bin(w, &p)], tsr_light_becomes(w, i) - 1);
}
/* ... up to which bin there is room from the brightest on down, given how many there are without splits ... */
TSR_HD int64_t tsr_light_crowd_bin(const int64_t *more, int64_t without, int64_t capacity)
{
    int64_t bin = TSR_LIGHT_BINS - 1;
    while (bin >= 0 && without + more[bin] <= capacity) without += more[bin--];
    return bin;
}
/* ... and which stay as they are. Returns what patch i becomes. */
TSR_HD int32_t tsr_light_crowd_out(const tsr_light_wave *w, int64_t step, int64_t i, int64_t bin, int64_t *crowded)
{
    tsr_light_patch p;
    if (w->fate[i] > TSR_LIGHT_KEEP) {
        tsr_light_get(&w->list[step & 1], i, &p);
        if (tsr_light_bin(w, &p) <= bin) {
            w->fate[i] = TSR_LIGHT_KEEP;
            tsr_light_tally(crowded, 1);
        }
    }
    return tsr_light_becomes(w, i);
}

/* Voxels are told of patch `to` of the next list, whose key is `key`. */
TSR_HD void tsr_light_tell(const tsr_light_wave *w, int64_t to, uint64_t key, uint32_t voxel)
{
    w->mark[to] = key;
    w->at[to] = voxel;
    if (key) tsr_light_largest(&w->keys[voxel], key);
}

/* Part k of patch p of fate TSR_LIGHT_KEEP + r + 16 q to place `to` of the next list; voxels are told. */
TSR_HD void tsr_light_grow_part(const tsr_light_wave *w, int64_t step, const tsr_light_patch *p, int fate, int32_t k, int64_t to)
{
    const int r = (fate - TSR_LIGHT_KEEP) & 15, q = (fate - TSR_LIGHT_KEEP) >> 4;
    tsr_light_patch part;
    uint32_t voxel = 0;
    if (r + q) tsr_light_part(w, p, r, q, k, &part);
    else part = *p;
    tsr_light_put(&w->list[(step + 1) & 1], to, &part);
    const uint64_t key = tsr_light_key(w, &part, step, to, &voxel);
    if (!w->sums) tsr_light_tell(w, to, key, voxel);
    else if (key) tsr_light_gather(w, &part, voxel);
}
/* Patch i becomes what its fate says, from place `to` on in the next list. */
TSR_HD void tsr_light_grow(const tsr_light_wave *w, int64_t step, int64_t i, int64_t to)
{
    const int32_t parts = tsr_light_becomes(w, i);
    tsr_light_patch p;
    if (!parts) return;
    tsr_light_get(&w->list[step & 1], i, &p);
    for (int32_t k = 0; k < parts; k++) tsr_light_grow_part(w, step, &p, w->fate[i], k, to + k);
}

/* Patch i of list[1], which the volume does not meet: points from `first` on, `stride` apart. */
TSR_HD void tsr_light_land_patch(const tsr_light_wave *w, int64_t i, int32_t first, int32_t stride)
{
    tsr_light_patch p;
    tsr_light_fall fall;
    tsr_light_get(&w->list[1], i, &p);
    if (!tsr_light_landing(&w->floor, &p, fall.at)) return;
    fall.lands = 1;
    for (int k = 0; k < 3; k++) fall.power[k] = p.power[k];
    tsr_light_land(w, &fall, first, stride);
}

TSR_HD void tsr_light_count_voxel(const tsr_light_census *j, int64_t i, int64_t counts[3])
{
    float all = 0.0f, first = 0.0f;
    int32_t layers = 0;
    for (int32_t l = 0; l < j->layers; l++) {
        const float *from = j->field + (l * j->voxels + i) * 4;
        if (!tsr_float_bits(from[3])) break;
        const float e = tsr_light_luminance(from);
        if (!l) first = e;
        all += e;
        layers++;
    }
    counts[0] += layers > 0;
    if (layers < 2) return;
    counts[1]++;
    counts[2] += (int64_t)(first / tsr_maxf(all, 1e-30f) * 1048576.0f);
}

TSR_HD void tsr_light_ray_run(const tsr_light_tracing *j, int64_t i)
{
    float x[3], v[3], s[4], *ray = j->rays + i * 7;
    const tsr_light_medium *m = &j->medium;
    for (int k = 0; k < 3; k++) {
        x[k] = ray[k];
        v[k] = ray[3 + k];
    }
    tsr_light_sample(m, x, s);
    tsr_ray_project_f32(s, v);
    float way = ray[6];
    for (int64_t n = 0; n < j->steps; n++) {
        int away = 0;
        for (int k = 0; k < 3; k++) away |= (x[k] < -0.5f && v[k] <= 0.0f) | (x[k] > m->upper[k] && v[k] >= 0.0f);
        if (away) break;
        const int32_t surface = tsr_light_surface(m, x);
        if (surface && surface != TSR_LIGHT_STRAIGHT) { /* as long a time as the step takes up to the surface */
            const float own = tsr_sqrt(tsr_light_dot(v, v)), time = j->step * (j->integrator == TSR_RAY_VERLET ? own * own
                                                                               : j->form == TSR_RAY_TIME       ? 1.0f
                                                                                                               : own);
            float reflected;
            (void)tsr_light_refract(m, surface, x, v, time, &reflected);
            way = way + time;
            continue;
        }
        tsr_light_sample(m, x, s);
        if (j->project) tsr_ray_project_f32(s, v);
        const float from = s[0];
        tsr_ray_step_f32(j->integrator, j->form, m, s, x, v, j->step);
        if (j->form == TSR_RAY_TIME && j->integrator != TSR_RAY_VERLET) {
            way = way + j->step;
        } else { /* optical length by the trapezoid: of n along the way, of n^2 in tau */
            tsr_light_sample(m, x, s);
            way = way + 0.5f * j->step * (j->integrator == TSR_RAY_VERLET ? from * from + s[0] * s[0] : from + s[0]);
        }
    }
    for (int k = 0; k < 3; k++) {
        ray[k] = x[k];
        ray[3 + k] = v[k];
    }
    ray[6] = way;
}

#endif
