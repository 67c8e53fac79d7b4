/* fluid/fluid_compose.h: one pixel of the picture from the images of the fluid, of the same, half or quarter resolution, and the picture behind. */
#ifndef TSR_FLUID_COMPOSE_H
#define TSR_FLUID_COMPOSE_H

#include "fluid/fluid_ops.h"

TSR_HD tsr_fluid_point tsr_fluid_point_at(const tsr_fluid_compose_job *j, int64_t at)
{
    tsr_fluid_point p;
    p.z = j->depth[at];
    p.thickness = j->thickness[at];
    p.foam = j->foam ? j->foam[at] : 0.0f;
    p.normal = tsr_fluid_texel(j->normals + 4 * at);
    return p;
}

TSR_HD tsr_float3 tsr_fluid_point_color(const tsr_fluid_compose_job *j, float x, float y, const tsr_fluid_point *p, float curvature)
{
    return j->paint.curvature ? tsr_fluid_curved(curvature, j->paint.curvature_scale / tsr_fluid_width(&j->low, 1, p->z))
                              : tsr_fluid_shade(&j->view, &j->set, &j->light, &j->paint, j->back, x, y, p);
}

/* The four low pixels round a pixel of the picture and their weights; beyond the border: the pixel at it. */
typedef struct tsr_fluid_corners {
    int64_t at[4];
    float w[4];
} tsr_fluid_corners;
TSR_HD tsr_fluid_corners tsr_fluid_corners_of(const tsr_fluid_compose_job *j, int32_t x, int32_t y)
{
    const tsr_fluid_view *low = &j->low;
    const float per = 1.0f / (float)j->factor, lx = ((float)x + 0.5f) * per - 0.5f, ly = ((float)y + 0.5f) * per - 0.5f;
    const int32_t x0 = tsr_floor_int(lx), y0 = tsr_floor_int(ly);
    const float fx = lx - (float)x0, fy = ly - (float)y0;
    const int32_t left = tsr_mini(tsr_maxi(x0, 0), low->width - 1), right = tsr_mini(tsr_maxi(x0 + 1, 0), low->width - 1);
    const int64_t top = tsr_fluid_at(low, 0, tsr_mini(tsr_maxi(y0, 0), low->height - 1)),
                  below = tsr_fluid_at(low, 0, tsr_mini(tsr_maxi(y0 + 1, 0), low->height - 1));
    const tsr_fluid_corners c = { { top + left, top + right, below + left, below + right },
                                  { (1.0f - fx) * (1.0f - fy), fx * (1.0f - fy), (1.0f - fx) * fy, fx * fy } };
    return c;
}

TSR_HD float tsr_fluid_mean(const float w[4], float a, float b, float c, float d) { return ((w[0] * a + w[1] * b) + w[2] * c) + w[3] * d; }

/* What a pixel shows: nothing of the fluid; one point, the low pixel itself or what all of the four around know, if they agree, interpolated; an edge. *z: the
 * distance of the point. */
enum { TSR_FLUID_EMPTY, TSR_FLUID_INNER, TSR_FLUID_EDGE };
TSR_HD int tsr_fluid_shows(const tsr_fluid_compose_job *j, const tsr_fluid_corners *c, float back, float *z)
{
    const float a[4] = { j->depth[c->at[0]], j->depth[c->at[1]], j->depth[c->at[2]], j->depth[c->at[3]] };
    const float least = tsr_minf(tsr_minf(a[0], a[1]), tsr_minf(a[2], a[3])), most = tsr_maxf(tsr_maxf(a[0], a[1]), tsr_maxf(a[2], a[3]));
    if (!(least < back)) return TSR_FLUID_EMPTY;
    if (!(most - least <= j->paint.threshold)) return TSR_FLUID_EDGE;
    *z = tsr_fluid_mean(c->w, a[0], a[1], a[2], a[3]);
    return *z < back ? TSR_FLUID_INNER : TSR_FLUID_EMPTY;
}
TSR_HD float tsr_fluid_four(const float *from, int64_t step, const int64_t at[4], const float w[4])
{
    return tsr_fluid_mean(w, from[step * at[0]], from[step * at[1]], from[step * at[2]], from[step * at[3]]);
}
TSR_HD tsr_float3 tsr_fluid_blended_normal(float x, float y, float z) { return tsr_normalize3(tsr_f3(x, y, z), tsr_f3(0.0f, 0.0f, -1.0f)); }
TSR_HD tsr_fluid_point tsr_fluid_blend(const tsr_fluid_compose_job *j, const int64_t at[4], const float w[4], float z)
{
    const float *n = j->normals;
    tsr_fluid_point p;
    p.normal = tsr_fluid_blended_normal(tsr_fluid_four(n, 4, at, w), tsr_fluid_four(n + 1, 4, at, w), tsr_fluid_four(n + 2, 4, at, w));
    p.z = z;
    p.thickness = tsr_fluid_four(j->thickness, 1, at, w);
    p.foam = j->foam ? tsr_fluid_four(j->foam, 1, at, w) : 0.0f;
    return p;
}

TSR_HD void tsr_fluid_compose_put(const tsr_fluid_compose_job *j, int64_t i, tsr_float3 color, float distance)
{
    float *to = j->color + 4 * i;
    to[0] = color.x;
    to[1] = color.y;
    to[2] = color.z;
    to[3] = j->back[4 * i + 3]; /* so that a picture can be what the next layer stands before */
    j->distance[i] = distance;
}

/* A pixel at an edge, of half or quarter resolution: low pixels are shaded and their colours are mixed, so that depths of different surfaces never are. The distance
 * is that of the low pixel that counts most. */
TSR_HD int tsr_fluid_counts(const tsr_fluid_compose_job *j, const tsr_fluid_corners *c, int32_t k, float back)
{
    return (j->depth[c->at[k]] < back) & (c->w[k] != 0.0f);
}
TSR_HD void tsr_fluid_covers(float w, float z, float *cover, float *heaviest, float *distance)
{
    *cover += w;
    if (w > *heaviest) *distance = z;
    *heaviest = tsr_maxf(*heaviest, w);
}
TSR_HD tsr_float3 tsr_fluid_edge_color(tsr_float3 sum, tsr_float3 back, float cover) { return tsr_add3(sum, tsr_scale3(back, 1.0f - cover)); }
TSR_HD tsr_float3 tsr_fluid_edge(const tsr_fluid_compose_job *j, const tsr_fluid_corners *c, float x, float y, tsr_float3 color, float back,
                                 float *distance)
{
    tsr_float3 sum = tsr_f3(0.0f, 0.0f, 0.0f);
    float cover = 0.0f, heaviest = 0.0f;
    for (int32_t k = 0; k < 4; k++) {
        if (!tsr_fluid_counts(j, c, k, back)) continue;
        const tsr_fluid_point p = tsr_fluid_point_at(j, c->at[k]);
        sum = tsr_along3(sum, tsr_fluid_point_color(j, x, y, &p, j->normals[4 * c->at[k] + 3]), c->w[k]);
        tsr_fluid_covers(c->w[k], p.z, &cover, &heaviest, distance);
    }
    if (cover < 0.5f) *distance = back;
    return tsr_fluid_edge_color(sum, color, cover);
}

/* One pixel of the picture. */
TSR_HD void tsr_fluid_compose_at(const tsr_fluid_compose_job *j, int32_t x, int32_t y)
{
    const int64_t i = (int64_t)y * j->view.width + x;
    const float *back = j->back + 4 * i, at_x = (float)x + 0.5f, at_y = (float)y + 0.5f;
    tsr_float3 color = tsr_fluid_texel(back);
    float distance = back[3], spray = 0.0f;
    if (j->factor == 1) {
        const int64_t at = tsr_fluid_at(&j->low, x, y);
        if (j->depth[at] < back[3]) {
            const tsr_fluid_point p = tsr_fluid_point_at(j, at);
            color = tsr_fluid_point_color(j, at_x, at_y, &p, j->normals[4 * at + 3]);
            distance = p.z;
        }
        if (j->spray) spray = j->spray[at];
    } else {
        const tsr_fluid_corners c = tsr_fluid_corners_of(j, x, y);
        const int shows = tsr_fluid_shows(j, &c, back[3], &distance);
        if (shows == TSR_FLUID_INNER) {
            const tsr_fluid_point p = tsr_fluid_blend(j, c.at, c.w, distance);
            color = tsr_fluid_point_color(j, at_x, at_y, &p, tsr_fluid_four(j->normals + 3, 4, c.at, c.w));
        } else distance = back[3];
        if (shows == TSR_FLUID_EDGE) color = tsr_fluid_edge(j, &c, at_x, at_y, color, back[3], &distance);
        if (j->spray) spray = tsr_fluid_four(j->spray, 1, c.at, c.w);
    }
    if (spray > 0.0f) {
        const tsr_float3 up = tsr_f3(0.0f, 0.0f, 1.0f), white = tsr_f3(1.0f, 1.0f, 1.0f);
        color = tsr_mix3(color, tsr_mul3(j->paint.foam, tsr_fluid_matte(&j->light, up, white)), spray);
    }
    tsr_fluid_compose_put(j, i, color, distance);
}

#endif
