/* fluid/fluid_compose_isa.c: rows of the picture, as many of their points at once as fit: the formulas of fluid_compose.h and fluid_shade.h, hence the same bits. */
#include "fluid/fluid_compose.h"
#include "fluid/fluid_isa.h"

/* Points of the fluid in one row of the picture, shaded together: what tsr_fluid_blend and tsr_fluid_shade do, their parts one after another. */
enum { POINTS = 32 };
typedef struct points {
    int32_t count, x[POINTS];
    int64_t corner[4][POINTS];
    float weight[4][POINTS], at[POINTS], z[POINTS], normal[3][POINTS], thickness[POINTS], foam[POINTS];
    /* of edges: the point's share of its pixel, and with the last point of the pixel what all of them cover of it and its distance; the sum of those before */
    int32_t last[POINTS];
    float share[POINTS], cover[POINTS], distance[POINTS];
    tsr_float3 sum;
} points;

/* One number of each point out of an image. */
static void blend(const float *TSR_RESTRICT from, const points *TSR_RESTRICT p, float *TSR_RESTRICT to)
{
#pragma omp simd
    for (int32_t k = 0; k < POINTS; k++) {
        const float w[4] = { p->weight[0][k], p->weight[1][k], p->weight[2][k], p->weight[3][k] };
        to[k] = tsr_fluid_mean(w, from[p->corner[0][k]], from[p->corner[1][k]], from[p->corner[2][k]], from[p->corner[3][k]]);
    }
}
static void blend_points(const tsr_fluid_compose_job *job, points *p)
{
    float normal[POINTS][4]; /* the four numbers of a low pixel lie together: tsr_fluid_mean of all of them at once */
    for (int32_t k = 0; k < POINTS; k++) {
        tsr_f4 corner[4];
        for (int32_t n = 0; n < 4; n++) corner[n] = p->weight[n][k] * tsr_f4_load(job->normals + 4 * p->corner[n][k]);
        tsr_f4_store(normal[k], ((corner[0] + corner[1]) + corner[2]) + corner[3]);
    }
    blend(job->thickness, p, p->thickness);
    if (job->foam) blend(job->foam, p, p->foam);
#pragma omp simd
    for (int32_t k = 0; k < POINTS; k++) {
        const tsr_float3 n = tsr_fluid_blended_normal(normal[k][0], normal[k][1], normal[k][2]);
        p->normal[0][k] = n.x;
        p->normal[1][k] = n.y;
        p->normal[2][k] = n.z;
    }
}

/* Texel (x, y) of four numbers and that below it. */
static inline void prefetch_rows(const float *from, int64_t row, int32_t x, int32_t y)
{
    const float *at = from + y * row + 4 * (int64_t)x;
    __builtin_prefetch(at);
    __builtin_prefetch(at + row);
}

static void shade_points(const tsr_fluid_compose_job *job, int32_t y, int edges, points *p)
{
    const tsr_fluid_view view = job->view;
    const tsr_fluid_set set = job->set;
    const tsr_fluid_light light = job->light;
    const tsr_fluid_paint paint = job->paint;
    const float at_y = (float)y + 0.5f;
    float normal[3][POINTS], fresnel[POINTS], highlight[POINTS], behind[2][POINTS], sky[2][POINTS], power[4][POINTS];
    float seen[POINTS][4], up[POINTS][4];
    if (job->factor > 1 && !edges) blend_points(job, p);
#pragma omp simd
    for (int32_t k = 0; k < POINTS; k++) {
        const tsr_fluid_point one = { { p->normal[0][k], p->normal[1][k], p->normal[2][k] }, p->z[k], p->thickness[k], 0.0f };
        const tsr_fluid_glance g = tsr_fluid_glance_at(&view, &set, &light, &paint, p->at[k], at_y, &one);
        normal[0][k] = g.normal.x;
        normal[1][k] = g.normal.y;
        normal[2][k] = g.normal.z;
        fresnel[k] = g.fresnel;
        highlight[k] = g.highlight;
        behind[0][k] = g.behind[0];
        behind[1][k] = g.behind[1];
        sky[0][k] = g.sky[0];
        sky[1][k] = g.sky[1];
        power[0][k] = g.exponent[0];
        power[1][k] = g.exponent[1];
        power[2][k] = g.exponent[2];
        power[3][k] = g.exponent[3];
    }
    for (int32_t n = 0; n < 4; n++) {
#pragma omp simd
        for (int32_t k = 0; k < POINTS; k++) power[n][k] = tsr_exp2_within(power[n][k]);
    }
    for (int32_t k = 0; k < p->count; k++) { /* from memory all at once, not one after another */
        if (light.map) prefetch_rows(light.map, 4 * (int64_t)(light.size + 2), (int32_t)sky[0][k], (int32_t)sky[1][k]);
        prefetch_rows(job->back, 4 * (int64_t)view.width, tsr_mini(tsr_maxi((int32_t)behind[0][k], 0), view.width - 1),
                      tsr_mini(tsr_maxi((int32_t)behind[1][k], 0), view.height - 1));
    }
    for (int32_t k = 0; k < p->count; k++) {
        const float place[2] = { behind[0][k], behind[1][k] };
        tsr_f4_store(seen[k], tsr_fluid_glance_behind(&view, job->back, place, p->at[k], at_y, p->z[k]));
        tsr_f4_store(up[k], tsr_fluid_sky4(&light, sky[0][k], sky[1][k]));
    }
    if (p->count < POINTS) {
        memset(seen[p->count], 0, (size_t)(POINTS - p->count) * sizeof *seen);
        memset(up[p->count], 0, (size_t)(POINTS - p->count) * sizeof *up);
    }
#pragma omp simd
    for (int32_t k = 0; k < POINTS; k++) {
        const tsr_fluid_glance g = { .normal = { normal[0][k], normal[1][k], normal[2][k] }, .fresnel = fresnel[k], .highlight = highlight[k] };
        const tsr_float3 color = tsr_fluid_colored(&light, &paint, &g, p->foam[k], tsr_fluid_texel(seen[k]), tsr_fluid_texel(up[k]),
                                                   tsr_f3(power[0][k], power[1][k], power[2][k]), power[3][k]);
        normal[0][k] = color.x;
        normal[1][k] = color.y;
        normal[2][k] = color.z;
    }
    for (int32_t k = 0; k < p->count; k++) {
        const int64_t i = (int64_t)y * view.width + p->x[k];
        const tsr_float3 color = tsr_f3(normal[0][k], normal[1][k], normal[2][k]);
        if (!edges) {
            tsr_fluid_compose_put(job, i, color, p->z[k]);
            continue;
        }
        p->sum = tsr_along3(p->sum, color, p->share[k]);
        if (!p->last[k]) continue;
        tsr_fluid_compose_put(job, i, tsr_fluid_edge_color(p->sum, tsr_fluid_texel(job->back + 4 * i), p->cover[k]), p->distance[k]);
        p->sum = tsr_f3(0.0f, 0.0f, 0.0f);
    }
    p->count = 0;
}

static void put_point(points *p, int32_t x, const tsr_fluid_point *one)
{
    const int32_t k = p->count++;
    p->x[k] = x;
    p->at[k] = (float)x + 0.5f;
    p->normal[0][k] = one->normal.x;
    p->normal[1][k] = one->normal.y;
    p->normal[2][k] = one->normal.z;
    p->thickness[k] = one->thickness;
    p->foam[k] = one->foam;
    p->z[k] = one->z;
}

/* A pixel at an edge: tsr_fluid_edge. Returns how many of its low pixels wait. */
static int32_t put_edge(const tsr_fluid_compose_job *job, int32_t x, const tsr_fluid_corners *c, float back, points *p)
{
    const int32_t before = p->count;
    float cover = 0.0f, heaviest = 0.0f, distance = back;
    for (int32_t n = 0; n < 4; n++) {
        if (!tsr_fluid_counts(job, c, n, back)) continue;
        const tsr_fluid_point one = tsr_fluid_point_at(job, c->at[n]);
        p->share[p->count] = c->w[n];
        p->last[p->count] = 0;
        put_point(p, x, &one);
        tsr_fluid_covers(c->w[n], one.z, &cover, &heaviest, &distance);
    }
    if (p->count == before) return 0;
    p->last[p->count - 1] = 1;
    p->cover[p->count - 1] = cover;
    p->distance[p->count - 1] = cover < 0.5f ? back : distance;
    return p->count - before;
}

/* Pixel x of the row: done, or among the points that wait. */
static void take_pixel(const tsr_fluid_compose_job *job, int32_t x, int32_t y, points *inner, points *edges)
{
    const int64_t i = (int64_t)y * job->view.width + x;
    const float *back = job->back + 4 * i;
    float z;
    if (job->factor == 1) {
        const int64_t at = tsr_fluid_at(&job->low, x, y);
        if (job->depth[at] < back[3]) {
            const tsr_fluid_point one = tsr_fluid_point_at(job, at);
            put_point(inner, x, &one);
        } else tsr_fluid_compose_put(job, i, tsr_fluid_texel(back), back[3]);
        return;
    }
    const tsr_fluid_corners c = tsr_fluid_corners_of(job, x, y);
    const int shows = tsr_fluid_shows(job, &c, back[3], &z);
    if (shows == TSR_FLUID_INNER) {
        const int32_t k = inner->count++;
        for (int32_t n = 0; n < 4; n++) {
            inner->corner[n][k] = c.at[n];
            inner->weight[n][k] = c.w[n];
        }
        inner->x[k] = x;
        inner->at[k] = (float)x + 0.5f;
        inner->z[k] = z;
    } else if (shows == TSR_FLUID_EMPTY || !put_edge(job, x, &c, back[3], edges)) tsr_fluid_compose_put(job, i, tsr_fluid_texel(back), back[3]);
}

/* Pixels from x on that have the same low pixels around them end here: in the middle of low pixels. *empty: these show no fluid. */
static int32_t same_corners(const tsr_fluid_compose_job *job, int32_t x, int32_t y, int *empty)
{
    const int32_t factor = job->factor, half = factor / 2;
    *empty = 0;
    if (factor == 1) return job->view.width;
    const tsr_fluid_corners c = tsr_fluid_corners_of(job, x, y);
    const float least = tsr_minf(tsr_minf(job->depth[c.at[0]], job->depth[c.at[1]]), tsr_minf(job->depth[c.at[2]], job->depth[c.at[3]]));
    *empty = !(least < TSR_FLUID_NOTHING);
    return tsr_mini((x + half) / factor * factor + factor - half, job->view.width);
}

void TSR_ISA_NAME(tsr_fluid_compose_row)(const tsr_fluid_compose_job *job, int32_t y)
{
    const int32_t width = job->view.width;
    points inner, edges;
    if (job->spray || job->paint.curvature) {
        for (int32_t x = 0; x < width; x++) tsr_fluid_compose_at(job, x, y);
        return;
    }
    memset(&inner, 0, sizeof inner);
    memset(&edges, 0, sizeof edges);
    for (int32_t x = 0, end, empty; x < width;) {
        end = same_corners(job, x, y, &empty);
        for (; empty && x < end; x++) {
            const int64_t i = (int64_t)y * width + x;
            tsr_fluid_compose_put(job, i, tsr_fluid_texel(job->back + 4 * i), job->back[4 * i + 3]);
        }
        for (; x < end; x++) {
            take_pixel(job, x, y, &inner, &edges);
            if (inner.count == POINTS) shade_points(job, y, 0, &inner);
            if (edges.count > POINTS - 4) shade_points(job, y, 1, &edges);
        }
    }
    if (inner.count) shade_points(job, y, 0, &inner);
    if (edges.count) shade_points(job, y, 1, &edges);
}
