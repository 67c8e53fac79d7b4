/* light/view_lanes.h: as many viewing rays as a register has lanes, each with a pixel of its own: the arithmetic of tsr_light_go in the same order, hence the same
 * bits. Where rays end, meet surfaces or scatter, view.h takes over for that lane. */
#ifndef TSR_LIGHT_VIEW_LANES_H
#define TSR_LIGHT_VIEW_LANES_H

#include "light/lanes.h"

typedef struct lanes_view {
    float x[3][LANES], v[3][LANES], d[3][LANES], weight[3][LANES], first[LANES], bend[LANES];
    float began[3][LANES], way[3][LANES], from[LANES], to[LANES], steepest[LANES]; /* passages: tsr_light_passage */
    marks active, rising, alive;
    int32_t steps[LANES], depth[LANES];
    int64_t next, end; /* pixels that no lane has yet */
    tsr_light_path path[LANES];
} lanes_view;

TSR_INLINE void lanes_get(const float (*from)[LANES], int l, float to[3])
{
    for (int k = 0; k < 3; k++) to[k] = from[k][l];
}
TSR_INLINE void lanes_set(float (*to)[LANES], int l, const float from[3])
{
    for (int k = 0; k < 3; k++) to[k][l] = from[k];
}

static void passage_get(const lanes_view *r, int l, tsr_light_passage *g)
{
    g->active = r->active[l] != 0;
    g->rising = r->rising[l] != 0;
    lanes_get(r->began, l, g->x);
    lanes_get(r->way, l, g->d);
    g->from = r->from[l];
    g->to = r->to[l];
    g->steepest = r->steepest[l];
}
static void passage_set(lanes_view *r, int l, const tsr_light_passage *g)
{
    r->active[l] = -g->active;
    r->rising[l] = -g->rising;
    lanes_set(r->began, l, g->x);
    lanes_set(r->way, l, g->d);
    r->from[l] = g->from;
    r->to[l] = g->to;
    r->steepest[l] = g->steepest;
}

/* A lane's passage ends between two media. */
static void lane_passed(const tsr_light_seen *s, lanes_view *r, int l)
{
    tsr_light_passage g;
    float weight[3], d[3];
    if (!r->active[l]) return;
    passage_get(r, l, &g);
    lanes_get(r->weight, l, weight);
    lanes_get(r->d, l, d);
    tsr_light_passed(s, &r->path[l], &g, d, weight, r->depth[l]);
    lanes_set(r->weight, l, weight);
    r->active[l] = 0;
}

/* Pixels go down the columns of strips of 16 rows, so that the rays of all lanes pass the same voxels. */
static int64_t lanes_pixel(const tsr_light_seen *s, int64_t i)
{
    enum { ROWS = 16 };
    const int64_t strip = i / ((int64_t)s->width * ROWS) * ROWS, rest = i - strip * s->width, rows = tsr_min64(ROWS, s->height - strip);
    return (strip + rest % rows) * s->width + rest / rows;
}

/* The next ray of a lane: of its pixel, or of the next one; none: the lane rests. */
static void lane_next(const tsr_light_seen *s, lanes_view *r, int l)
{
    tsr_light_path *path = &r->path[l];
    tsr_light_branch b;
    float x[3], v[3], d[3], weight[3];
    for (;;) {
        while (path->pixel < 0 || !tsr_light_next_ray(s, path, &b)) {
            if (r->next >= r->end) {
                r->alive[l] = 0;
                return;
            }
            tsr_light_begin_pixel(s, path, lanes_pixel(s, r->next++));
        }
        r->bend[l] = s->bends[path->color];
        if (tsr_light_enter(s, &b, x, v, d, weight)) break;
        tsr_light_outside(s, path, x, d, weight, b.depth);
    }
    lanes_set(r->x, l, x);
    lanes_set(r->v, l, v);
    lanes_set(r->d, l, d);
    lanes_set(r->weight, l, weight);
    r->first[l] = path->start;
    r->depth[l] = b.depth;
    r->steps[l] = 0;
    r->active[l] = 0;
    r->alive[l] = -1;
}

/* A lane's ray leaves, or has gone so far that it is given up. */
static void lane_outside(const tsr_light_seen *s, lanes_view *r, int l, int given_up)
{
    float x[3], d[3], weight[3];
    if (!given_up) lane_passed(s, r, l);
    lanes_get(r->x, l, x);
    lanes_get(r->d, l, d);
    lanes_get(r->weight, l, weight);
    tsr_light_outside(s, &r->path[l], x, d, weight, given_up ? s->reflections : r->depth[l]);
}

TSR_INLINE void lanes_load3(const float (*from)[LANES], lanes to[3])
{
    for (int k = 0; k < 3; k++) to[k] = lanes_load(from[k]);
}
TSR_INLINE void lanes_keep3(float (*to)[LANES], marks m, const lanes from[3])
{
    for (int k = 0; k < 3; k++) lanes_store(to[k], lanes_pick(m, from[k], lanes_load(to[k])));
}

/* Rays in `m` pass the empty blocks around them. */
TSR_INLINE void lanes_skip(const tsr_light_seen *s, lanes_view *r, marks m, marks far)
{
    lanes x[3], d[3], enter = lanes_all(0.0f), leave = lanes_all(1e30f);
    lanes_load3((const float(*)[LANES])r->x, x);
    lanes_load3((const float(*)[LANES])r->d, d);
    for (int k = 0; k < 3; k++) {
        const marks b = whole(x[k] + 0.5f) / TSR_LIGHT_BLOCK;
        const lanes near_ = lanes_max(__builtin_convertvector((b - far + 1) * TSR_LIGHT_BLOCK, lanes) - 0.5f, lanes_all(-0.5f));
        const lanes far_ = lanes_min(__builtin_convertvector((b + far) * TSR_LIGHT_BLOCK, lanes) - 0.5f, lanes_all(s->medium.upper[k]));
        const marks level = (marks)(lanes_abs(d[k]) < 1e-12f), misses = level & ((marks)(x[k] < near_) | (marks)(x[k] > far_));
        const lanes inverse = 1.0f / d[k], t0 = (near_ - x[k]) * inverse, t1 = (far_ - x[k]) * inverse;
        enter = lanes_pick(level, enter, lanes_max(enter, lanes_min(t0, t1)));
        leave = lanes_pick(misses, lanes_all(0.0f), lanes_pick(level, leave, lanes_min(leave, lanes_max(t0, t1))));
    }
    leave = lanes_pick((marks)(enter < leave), leave, lanes_all(0.0f));
    for (int k = 0; k < 3; k++) x[k] = x[k] + (leave + 2e-3f) * d[k];
    lanes_keep3(r->x, m, x);
}

/* The questions of tsr_light_passage_asks for rays in m; n: index and gradient. */
TSR_INLINE void lanes_watch(const tsr_light_seen *s, lanes_view *r, marks m, const lanes x[3], const lanes d[3], const lanes n[4])
{
    const lanes along = n[1] * d[0] + n[2] * d[1] + n[3] * d[2], g2 = n[1] * n[1] + n[2] * n[2] + n[3] * n[3];
    const marks counts = (marks)(lanes_abs(along) > TSR_LIGHT_SLOPE), up = (marks)(along > 0.0f);
    const marks ends = m & r->active & (~counts | (up ^ r->rising));
    const marks starts = m & counts & ~r->active, goes_on = m & counts & ~ends;
    for (uint32_t rest = lanes_bits(ends); rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const float at[3] = { x[0][l], x[1][l], x[2][l] }, ahead[3] = { d[0][l], d[1][l], d[2][l] }, four[4] = { n[0][l], n[1][l], n[2][l], n[3][l] };
        tsr_light_passage g;
        float weight[3];
        passage_get(r, l, &g);
        lanes_get((const float(*)[LANES])r->weight, l, weight);
        const int says = tsr_light_passage_asks(&g, ahead, four);
        if (says == TSR_LIGHT_PASSED) tsr_light_passed(s, &r->path[l], &g, ahead, weight, r->depth[l]);
        if (says != TSR_LIGHT_LEVEL) tsr_light_passage_takes(&g, at, ahead, four);
        lanes_set(r->weight, l, weight);
        passage_set(r, l, &g);
    }
    if (!lanes_bits(goes_on)) return;
    r->active |= starts;
    r->rising = marks_pick(starts, up, r->rising);
    lanes_store(r->from, lanes_pick(starts, n[0], lanes_load(r->from)));
    lanes_store(r->steepest, lanes_pick(starts, lanes_all(0.0f), lanes_load(r->steepest)));
    lanes_keep3(r->began, starts, x);
    lanes_keep3(r->way, starts, d);
    lanes_store(r->to, lanes_pick(goes_on, n[0], lanes_load(r->to)));
    const lanes steepest = lanes_load(r->steepest);
    lanes_store(r->steepest, lanes_pick(goes_on, lanes_max(steepest, g2), steepest));
}

/* Matter between `before` and x adds light and takes some; returns the rays that end there. */
TSR_INLINE marks lanes_pass(const tsr_light_seen *s, lanes_view *r, marks m, marks holds, const lanes before[3], lanes ds)
{
    const tsr_light_medium *medium = &s->medium;
    const marks dims = m & (marks)((holds & TSR_LIGHT_DIMS) != 0);
    uint32_t hard = lanes_bits(m & (marks)((holds & (TSR_LIGHT_SCATTERS | TSR_LIGHT_EMITS | TSR_LIGHT_STOPS)) != 0));
    marks ends = { 0 };
    lanes x[3], d[3], mid[3], weight[3], four[4];
    lanes_load3((const float(*)[LANES])r->x, x);
    lanes_load3((const float(*)[LANES])r->d, d);
    lanes_load3((const float(*)[LANES])r->weight, weight);
    for (int k = 0; k < 3; k++) mid[k] = 0.5f * (before[k] + x[k]);
    const marks inside = lanes_inside(medium, mid);
    if (lanes_bits(dims)) {
        const marks simple = dims & inside & (marks)((holds & (TSR_LIGHT_SCATTERS | TSR_LIGHT_EMITS | TSR_LIGHT_STOPS)) == 0);
        lanes dimmed[3];
        lanes_four(medium, medium->dim, lanes_bits(simple), mid, four);
        for (int k = 0; k < 3; k++) dimmed[k] = weight[k] * lanes_exp(-four[k] * ds);
        lanes_keep3(r->weight, simple, dimmed);
    }
    for (; hard; hard &= hard - 1) {
        const int l = __builtin_ctz(hard);
        const float from[3] = { before[0][l], before[1][l], before[2][l] }, at[3] = { x[0][l], x[1][l], x[2][l] },
                    ahead[3] = { d[0][l], d[1][l], d[2][l] };
        const float half_way[3] = { mid[0][l], mid[1][l], mid[2][l] };
        float own[3] = { weight[0][l], weight[1][l], weight[2][l] };
        if ((holds[l] & TSR_LIGHT_STOPS) && tsr_light_cover(medium, at) > 0.5f) {
            tsr_light_shade(s, &r->path[l], from, at, ahead, own);
            ends[l] = -1;
            continue;
        }
        if (inside[l]) tsr_light_pass(s, &r->path[l], holds[l], half_way, ahead, ds[l], own);
        lanes_set(r->weight, l, own);
    }
    lanes_load3((const float(*)[LANES])r->weight, weight);
    return ends | (m & (marks)(lanes_max(lanes_max(weight[0], weight[1]), weight[2]) < 1e-3f));
}

/* Rays in m take a step. Returns those that end. */
TSR_INLINE marks lanes_march(const tsr_light_seen *s, lanes_view *r, marks m, marks holds)
{
    const marks bends = m & (marks)((holds & TSR_LIGHT_BENDS) != 0);
    const marks matter = m & (marks)((holds & (TSR_LIGHT_DIMS | TSR_LIGHT_SCATTERS | TSR_LIGHT_EMITS | TSR_LIGHT_STOPS)) != 0);
    const lanes ds = s->step * lanes_load(r->first);
    lanes x[3], d[3], before[3];
    lanes_load3((const float(*)[LANES])r->x, x);
    lanes_load3((const float(*)[LANES])r->d, d);
    lanes_load3((const float(*)[LANES])r->x, before);
    lanes_store(r->first, lanes_pick(m, lanes_all(1.0f), lanes_load(r->first)));
    for (uint32_t rest = lanes_bits(m & ~bends & r->active); rest; rest &= rest - 1) lane_passed(s, r, __builtin_ctz(rest));
    for (int k = 0; k < 3; k++) x[k] = x[k] + ds * d[k];
    if (lanes_bits(bends)) {
        const lanes_medium medium = { &s->medium, lanes_load(r->bend), lanes_bits(bends) };
        lanes n[4], v[3], at[3];
        lanes_load3((const float(*)[LANES])r->v, v);
        lanes_ray_ahead(before, d, 0.5f * ds, at);
        lanes_sample(&medium, at, n);
        lanes_watch(s, r, bends, at, d, n);
        lanes_ray_turn(n, at, v, d, ds);
        for (int k = 0; k < 3; k++) x[k] = lanes_pick(bends, at[k], x[k]);
        lanes_keep3(r->v, bends, v);
        lanes_keep3(r->d, bends, d);
    }
    lanes_keep3(r->x, m, x);
    return lanes_bits(matter) ? lanes_pass(s, r, matter, holds, before, ds) : (marks){ 0 };
}

/* Pixels begin to end - 1 in the order of lanes_pixel. */
static void lanes_look(const tsr_light_seen *s, int64_t begin, int64_t end)
{
    lanes_view r;
    memset(&r, 0, sizeof r);
    r.next = begin;
    r.end = end;
    for (int l = 0; l < LANES; l++) {
        r.path[l].pixel = -1;
        r.x[0][l] = r.x[1][l] = r.x[2][l] = -9.0f;
        r.d[0][l] = r.d[1][l] = r.d[2][l] = r.v[0][l] = r.v[1][l] = r.v[2][l] = 1.0f;
        lane_next(s, &r, l);
    }
    while (lanes_bits(r.alive)) {
        lanes x[3];
        lanes_load3((const float(*)[LANES])r.x, x);
        const marks inside = r.alive & lanes_inside(&s->medium, x), all = inside & lanes_holds(&s->medium, x), holds = all & 31;
        const marks skips = s->skips ? inside & (marks)(holds == 0) : (marks){ 0 }, marches = inside & ~skips;
        uint32_t ends = lanes_bits(r.alive & ~inside), given_up = 0;
        for (uint32_t rest = ends; rest; rest &= rest - 1) lane_outside(s, &r, __builtin_ctz(rest), 0);
        if (lanes_bits(skips)) {
            for (uint32_t rest = lanes_bits(skips & r.active); rest; rest &= rest - 1) lane_passed(s, &r, __builtin_ctz(rest));
            lanes_skip(s, &r, skips, all >> TSR_LIGHT_FAR);
        }
        if (lanes_bits(marches)) ends |= lanes_bits(lanes_march(s, &r, marches, holds));
        for (int l = 0; l < LANES; l++) given_up |= (uint32_t)(++r.steps[l] >= s->most) << l;
        given_up &= lanes_bits(r.alive) & ~ends;
        for (uint32_t rest = given_up; rest; rest &= rest - 1) lane_outside(s, &r, __builtin_ctz(rest), 1);
        for (uint32_t rest = ends | given_up; rest; rest &= rest - 1) lane_next(s, &r, __builtin_ctz(rest));
    }
}

#endif
