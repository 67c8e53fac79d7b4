/* fluid/fluid_shade.h: light: the environment, the scene behind the fluid, and the colour of one pixel. All colours are linear; directions of light
 * are in the frame of the scene: x and y level, z up. */
#ifndef TSR_FLUID_SHADE_H
#define TSR_FLUID_SHADE_H

#include "core/quad.h"
#include "fluid/fluid_flow.h"

/* The environment as an octahedral map of `size` texels a side with one texel of border, r g b 0. */
typedef struct tsr_fluid_light {
    const float *map; /* device memory, [size + 2][size + 2][4] */
    int32_t size;
    float level;               /* times what the map says */
    float turn[2];             /* cosine and sine of the angle by which the sky is turned about its zenith */
    tsr_float3 sun, sun_color; /* towards it; what a white surface that faces it reflects */
    float ambient[4][3];       /* irradiance / pi = ambient[0] + ambient[1] x + ambient[2] y + ambient[3] z of a normal */
} tsr_fluid_light;

typedef struct tsr_fluid_set {
    int32_t kind;                    /* tsr_fluid_scenery */
    tsr_float3 east, north, up;      /* the frame, in the particles' coordinates */
    tsr_float3 eye;                  /* in the frame */
    tsr_float3 right, down, forward; /* the eye's axes in the frame */
    float lower[3], upper[3];        /* of the room, in the frame; the floor is at lower[2] */
    float check;                     /* side of the floor's checks */
    float pale[3], dark[3];          /* their reflectances */
    float wall[3];
    float fog; /* 1 / distance over which the floor fades into the horizon */
    /* The fluid as the sun sees it: thickness through a parallel view, 0: no shadow. */
    const float *shade; /* padded image of shade_view */
    tsr_fluid_view shade_view;
    tsr_float3 shade_density; /* how much light a unit of thickness takes away, per channel */
} tsr_fluid_set;

/* What the fluid looks like; lengths in world units. */
typedef struct tsr_fluid_paint {
    tsr_float3 color, absorption, foam, emission;
    float fresnel, specular, shininess, refraction; /* refraction: share of the picture's height per unit of thickness */
    float matte;                                    /* share of the colour that is lit as a matte surface */
    float foam_low, foam_high;
    float threshold;
    int32_t curvature;     /* the picture shows curvature in place of the fluid */
    float curvature_scale; /* world units: a curvature of its inverse is shown at full strength */
} tsr_fluid_paint;

TSR_HD tsr_float3 tsr_fluid_turn(const tsr_fluid_set *s, tsr_float3 d) /* eye coordinates to those of the frame */
{
    return tsr_add3(tsr_add3(tsr_scale3(s->right, d.x), tsr_scale3(s->down, d.y)), tsr_scale3(s->forward, d.z));
}
TSR_HD tsr_float3 tsr_fluid_frame(const tsr_fluid_set *s, tsr_float3 d)
{
    return tsr_f3(tsr_dot3(d, s->east), tsr_dot3(d, s->north), tsr_dot3(d, s->up));
}

/* ---- environment ----------------------------------------------------------------------------------------------------------------- */

/* Place of a direction in the square [-1, 1]^2: the upper half sphere is its inner diamond. */
TSR_HD void tsr_fluid_octahedral(tsr_float3 d, float *u, float *v)
{
    const float sum = tsr_absf(d.x) + tsr_absf(d.y) + tsr_absf(d.z), inverse = 1.0f / (sum > 1.0e-30f ? sum : 1.0f);
    const float x = d.x * inverse, y = d.y * inverse;
    *u = d.z >= 0.0f ? x : (x >= 0.0f ? 1.0f - tsr_absf(y) : tsr_absf(y) - 1.0f);
    *v = d.z >= 0.0f ? y : (y >= 0.0f ? 1.0f - tsr_absf(x) : tsr_absf(x) - 1.0f);
}

TSR_HD tsr_float3 tsr_fluid_texel(const float *t) { return tsr_f3(t[0], t[1], t[2]); }

/* Four texels of four numbers each, `right` and `below` numbers apart: linear between them. */
TSR_HD tsr_f4 tsr_fluid_mix4(tsr_f4 a, tsr_f4 b, float t) { return (1.0f - t) * a + t * b; }
TSR_HD tsr_f4 tsr_fluid_texels(const float *t, int64_t right, int64_t below, float fx, float fy)
{
    return tsr_fluid_mix4(tsr_fluid_mix4(tsr_f4_load(t), tsr_f4_load(t + right), fx),
                          tsr_fluid_mix4(tsr_f4_load(t + below), tsr_f4_load(t + right + below), fx), fy);
}
TSR_HD tsr_float3 tsr_fluid_first3(tsr_f4 v) { return tsr_f3(TSR_F4_AT(v, 0), TSR_F4_AT(v, 1), TSR_F4_AT(v, 2)); }

/* Place of a direction in the map, in texels. */
TSR_HD void tsr_fluid_sky_place(const tsr_fluid_light *l, tsr_float3 d, float *x, float *y)
{
    const float half = 0.5f * (float)l->size, most = (float)l->size + 0.999f;
    float u, v;
    tsr_fluid_octahedral(tsr_f3(l->turn[0] * d.x + l->turn[1] * d.y, l->turn[0] * d.y - l->turn[1] * d.x, d.z), &u, &v);
    *x = tsr_clampf(u * half + half + 0.5f, 0.0f, most);
    *y = tsr_clampf(v * half + half + 0.5f, 0.0f, most);
}
TSR_HD tsr_f4 tsr_fluid_sky4(const tsr_fluid_light *l, float x, float y) /* the fourth number means nothing */
{
    if (!l->map) return tsr_f4_make(0.0f, 0.0f, 0.0f);
    const int32_t i = (int32_t)x, j = (int32_t)y, row = (l->size + 2) * 4;
    return l->level * tsr_fluid_texels(l->map + (int64_t)j * row + i * 4, 4, row, x - (float)i, y - (float)j);
}
TSR_HD tsr_float3 tsr_fluid_sky_at(const tsr_fluid_light *l, float x, float y) { return tsr_fluid_first3(tsr_fluid_sky4(l, x, y)); }
TSR_HD tsr_float3 tsr_fluid_sky(const tsr_fluid_light *l, tsr_float3 d)
{
    float x, y;
    tsr_fluid_sky_place(l, d, &x, &y);
    return tsr_fluid_sky_at(l, x, y);
}

/* Light on a matte white surface from all of the sky, without the sun. */
TSR_HD tsr_float3 tsr_fluid_ambient(const tsr_fluid_light *l, tsr_float3 n)
{
    const float r = l->ambient[0][0] + l->ambient[1][0] * n.x + l->ambient[2][0] * n.y + l->ambient[3][0] * n.z;
    const float g = l->ambient[0][1] + l->ambient[1][1] * n.x + l->ambient[2][1] * n.y + l->ambient[3][1] * n.z;
    const float b = l->ambient[0][2] + l->ambient[1][2] * n.x + l->ambient[2][2] * n.y + l->ambient[3][2] * n.z;
    return tsr_scale3(tsr_f3(tsr_maxf(r, 0.0f), tsr_maxf(g, 0.0f), tsr_maxf(b, 0.0f)), l->level);
}
TSR_HD tsr_float3 tsr_fluid_matte(const tsr_fluid_light *l, tsr_float3 n, tsr_float3 shade)
{
    const float facing = tsr_maxf(tsr_dot3(n, l->sun), 0.0f);
    return tsr_add3(tsr_fluid_ambient(l, n), tsr_scale3(tsr_mul3(l->sun_color, shade), facing * l->level));
}

/* ---- the built-in scenes --------------------------------------------------------------------------------------------------------- */

/* Share of dark checks in the interval of length w around x, checks of length 1: the integral of the square wave (a triangle wave) differenced. */
TSR_HD float tsr_fluid_triangle(float x)
{
    const float half = 0.5f * x, t = half - (float)tsr_floor_int(half);
    return tsr_absf(t - 0.5f) * 2.0f;
}
TSR_HD float tsr_fluid_checks(float x, float y, float wx, float wy)
{
    const float limit = 1.0e8f;
    x = tsr_clampf(x, -limit, limit);
    y = tsr_clampf(y, -limit, limit);
    wx = tsr_maxf(wx, 1.0e-3f);
    wy = tsr_maxf(wy, 1.0e-3f);
    const float i = tsr_clampf(2.0f * (tsr_fluid_triangle(x + 0.5f * wx) - tsr_fluid_triangle(x - 0.5f * wx)) / wx, -1.0f, 1.0f);
    const float j = tsr_clampf(2.0f * (tsr_fluid_triangle(y + 0.5f * wy) - tsr_fluid_triangle(y - 0.5f * wy)) / wy, -1.0f, 1.0f);
    return 0.5f - 0.5f * i * j;
}

/* How much of the sun reaches a point of the frame through the fluid, per channel. */
TSR_HD tsr_float3 tsr_fluid_shaded(const tsr_fluid_set *s, tsr_float3 p)
{
    if (!s->shade) return tsr_f3(1.0f, 1.0f, 1.0f);
    const tsr_fluid_view *v = &s->shade_view;
    const tsr_float3 q = tsr_sub3(tsr_add3(tsr_add3(tsr_scale3(s->east, p.x), tsr_scale3(s->north, p.y)), tsr_scale3(s->up, p.z)), v->eye);
    const float x = tsr_dot3(q, v->right) / v->step[0] + v->centre[0] - 0.5f, y = tsr_dot3(q, v->down) / v->step[1] + v->centre[1] - 0.5f;
    if (!(x > 0.0f && y > 0.0f && x < (float)(v->width - 1) && y < (float)(v->height - 1))) return tsr_f3(1.0f, 1.0f, 1.0f);
    const int32_t i = (int32_t)x, j = (int32_t)y;
    const float fx = x - (float)i, fy = y - (float)j;
    const float *t = s->shade + tsr_fluid_at(v, i, j);
    const float top = t[0] + fx * (t[1] - t[0]), low = t[v->stride] + fx * (t[v->stride + 1] - t[v->stride]);
    const float thick = top + fy * (low - top);
    return tsr_f3(tsr_expf(-thick * s->shade_density.x), tsr_expf(-thick * s->shade_density.y), tsr_expf(-thick * s->shade_density.z));
}

/* Colour and distance along the axis of what the ray from o along d (in the frame, 1 along the axis) meets. `pixel` is the angle of a pixel. */
TSR_HD tsr_float3 tsr_fluid_seen(const tsr_fluid_set *s, const tsr_fluid_light *l, tsr_float3 o, tsr_float3 d, float pixel, float *distance)
{
    *distance = TSR_FLUID_NOTHING;
    if (s->kind == 0) return tsr_fluid_sky(l, d);
    float t = TSR_FLUID_NOTHING;
    int32_t face = -1;
    if (s->kind == 1) { /* a floor without end */
        if (d.z < -1.0e-6f && o.z > s->lower[2]) {
            t = (s->lower[2] - o.z) / d.z;
            face = 2;
        }
    } else /* a room without the walls that are nearer to the eye and without a ceiling */
        for (int32_t k = 0; k < 3; k++) {
            const float dk = tsr_get3(d, k), at = tsr_get3(o, k);
            if (tsr_absf(dk) < 1.0e-6f) continue;
            const float tk = ((dk > 0.0f ? s->upper[k] : s->lower[k]) - at) / dk;
            if (tk > 0.0f && tk < t) {
                t = tk;
                face = dk > 0.0f ? 3 + k : k;
            }
        }
    if (face < 0 || face == 5) return tsr_fluid_sky(l, d);
    const tsr_float3 p = tsr_along3(o, d, t);
    if (s->kind == 2 && (p.x < s->lower[0] - 1.0e-3f * s->check || p.x > s->upper[0] + 1.0e-3f * s->check || p.y < s->lower[1] - 1.0e-3f * s->check ||
                         p.y > s->upper[1] + 1.0e-3f * s->check || p.z > s->upper[2]))
        return tsr_fluid_sky(l, d);
    const int32_t k = face % 3;
    const tsr_float3 n = tsr_f3(k == 0 ? (face < 3 ? 1.0f : -1.0f) : 0.0f, k == 1 ? (face < 3 ? 1.0f : -1.0f) : 0.0f, k == 2 ? 1.0f : 0.0f);
    const float steep = tsr_maxf(tsr_absf(tsr_get3(d, k)) * tsr_rsqrt(tsr_dot3(d, d)), 1.0e-4f), wide = t * pixel / s->check;
    tsr_float3 albedo = tsr_f3(s->wall[0], s->wall[1], s->wall[2]);
    if (k == 2) {
        const float across = wide / steep, level = tsr_rsqrt(tsr_maxf(d.x * d.x + d.y * d.y, 1.0e-12f));
        const float ax = tsr_absf(d.x) * level, ay = tsr_absf(d.y) * level;
        const float dark = tsr_fluid_checks(p.x / s->check, p.y / s->check, ax * across + ay * wide, ay * across + ax * wide);
        albedo = tsr_mix3(tsr_f3(s->pale[0], s->pale[1], s->pale[2]), tsr_f3(s->dark[0], s->dark[1], s->dark[2]), dark);
    }
    tsr_float3 shade = tsr_fluid_shaded(s, p);
    float corner = 1.0f;
    if (s->kind == 2) { /* corners are darker */
        const float reach = 1.5f * s->check;
        for (int32_t m = 0; m < 3; m++) {
            if (m == k) continue;
            const float low = tsr_get3(p, m) - s->lower[m], high = m == 2 ? 3.0e38f : s->upper[m] - tsr_get3(p, m);
            corner *= 1.0f - 0.45f * tsr_expf(-tsr_maxf(tsr_minf(low, high), 0.0f) / reach);
        }
    }
    tsr_float3 color = tsr_scale3(tsr_mul3(albedo, tsr_fluid_matte(l, n, shade)), corner);
    if (s->kind == 1) {
        const float haze = 1.0f - tsr_expf(-t * tsr_sqrt(tsr_dot3(d, d)) * s->fog);
        color = tsr_mix3(color, tsr_fluid_sky(l, tsr_f3(d.x, d.y, 0.02f)), haze);
    }
    *distance = t;
    return color;
}

/* ---- one pixel of the fluid ------------------------------------------------------------------------------------------------------ */

/* The picture behind, [height][width][4]: r, g, b, distance along the axis. Linear between pixels, held at the border. Nearer things than `z` are
 * left out by taking the place itself instead. Of the four numbers the colour counts. */
TSR_HD tsr_f4 tsr_fluid_behind(const float *back, int32_t width, int32_t height, float x, float y, float z, int32_t own_x, int32_t own_y)
{
    x = tsr_clampf(x, 0.0f, (float)(width - 1));
    y = tsr_clampf(y, 0.0f, (float)(height - 1));
    const int32_t i = (int32_t)x, j = (int32_t)y;
    const int64_t right = i + 1 < width ? 4 : 0, below = j + 1 < height ? 4 * (int64_t)width : 0;
    const float *t = back + 4 * ((int64_t)j * width + i);
    const float nearest = tsr_minf(tsr_minf(t[3], t[right + 3]), tsr_minf(t[below + 3], t[right + below + 3]));
    if (!(nearest > z)) return tsr_f4_load(back + 4 * ((int64_t)own_y * width + own_x));
    return tsr_fluid_texels(t, right, below, x - (float)i, y - (float)j);
}

TSR_HD float tsr_fluid_fresnel(float f0, float cosine)
{
    const float m = 1.0f - tsr_saturatef(cosine), m2 = m * m;
    return f0 + (1.0f - f0) * (m2 * m2 * m);
}

typedef struct tsr_fluid_point {
    tsr_float3 normal; /* eye coordinates, towards the eye */
    float z, thickness, foam;
} tsr_fluid_point;

/* What shading a point takes before it looks at maps: arithmetic alone, so that a CPU does many points at once. */
typedef struct tsr_fluid_glance {
    tsr_float3 normal;        /* in the frame */
    float fresnel, highlight; /* highlight: cosine between the normal and the half vector */
    float behind[2], sky[2];  /* places in the picture behind, in pixels, and in the map of the sky, in texels */
    float exponent[4];        /* 2^ of them is what comes through of each channel, and the highlight's power */
} tsr_fluid_glance;

/* `view` is that of the full picture; (x, y) pixels from its corner, centres at halves. */
TSR_HD tsr_fluid_glance tsr_fluid_glance_at(const tsr_fluid_view *view, const tsr_fluid_set *set, const tsr_fluid_light *l,
                                            const tsr_fluid_paint *paint, float x, float y, const tsr_fluid_point *p)
{
    tsr_fluid_glance g;
    const float gx = x - view->centre[0], gy = y - view->centre[1];
    const tsr_float3 d = tsr_normalize3(tsr_f3(gx * view->slope[0], gy * view->slope[1], 1.0f), tsr_f3(0.0f, 0.0f, 1.0f));
    const float facing = -tsr_dot3(p->normal, d);
    const tsr_float3 along = tsr_fluid_turn(set, d);
    const float shift = tsr_minf(p->thickness * paint->refraction, 0.25f) * (float)view->height, t = p->thickness;
    g.normal = tsr_fluid_turn(set, p->normal);
    g.fresnel = tsr_fluid_fresnel(paint->fresnel, tsr_saturatef(facing));
    g.behind[0] = x - 0.5f + shift * p->normal.x;
    g.behind[1] = y - 0.5f + shift * p->normal.y;
    tsr_fluid_sky_place(l, tsr_along3(along, g.normal, 2.0f * facing), &g.sky[0], &g.sky[1]);
    const tsr_float3 h = tsr_normalize3(tsr_sub3(l->sun, along), g.normal);
    g.highlight = tsr_saturatef(tsr_dot3(g.normal, h));
    g.exponent[0] = tsr_exp2_clamp(tsr_expf_exponent(-t * paint->absorption.x));
    g.exponent[1] = tsr_exp2_clamp(tsr_expf_exponent(-t * paint->absorption.y));
    g.exponent[2] = tsr_exp2_clamp(tsr_expf_exponent(-t * paint->absorption.z));
    g.exponent[3] = tsr_exp2_clamp(paint->shininess * tsr_log2(g.highlight));
    return g;
}

/* Colour of the point: `behind` and `sky` are what the maps hold, `power` the powers of two of the exponents. */
TSR_HD tsr_float3 tsr_fluid_colored(const tsr_fluid_light *l, const tsr_fluid_paint *paint, const tsr_fluid_glance *g, float foam, tsr_float3 behind,
                                    tsr_float3 sky, tsr_float3 through, float power)
{
    const tsr_float3 white = tsr_f3(1.0f, 1.0f, 1.0f), lit = tsr_fluid_matte(l, g->normal, white);
    const tsr_float3 body = tsr_mix3(paint->color, tsr_mul3(paint->color, lit), paint->matte);
    /* where the power is below 2^-24 there is no highlight; 0 has no logarithm */
    const int shines = ((1.0f - g->highlight) * paint->shininess < 17.0f) & (g->highlight > 1.2e-38f);
    tsr_float3 a = tsr_add3(body, tsr_mul3(tsr_sub3(behind, body), through));
    a = tsr_add3(tsr_scale3(a, 1.0f - g->fresnel), tsr_scale3(sky, g->fresnel));
    a = tsr_add3(a, tsr_scale3(l->sun_color, paint->specular * (shines ? power : 0.0f) * l->level));
    a = tsr_add3(a, paint->emission);
    return tsr_mix3(a, tsr_mul3(paint->foam, lit), tsr_smoothstepf(paint->foam_low, paint->foam_high, foam));
}

/* The picture behind at a glance's place. */
TSR_HD tsr_f4 tsr_fluid_glance_behind(const tsr_fluid_view *view, const float *back, const float place[2], float x, float y, float z)
{
    const int32_t own_x = tsr_mini(tsr_maxi((int32_t)x, 0), view->width - 1), own_y = tsr_mini(tsr_maxi((int32_t)y, 0), view->height - 1);
    return tsr_fluid_behind(back, view->width, view->height, place[0], place[1], z, own_x, own_y);
}

TSR_HD tsr_float3 tsr_fluid_shade(const tsr_fluid_view *view, const tsr_fluid_set *set, const tsr_fluid_light *l, const tsr_fluid_paint *paint,
                                  const float *back, float x, float y, const tsr_fluid_point *p)
{
    const tsr_fluid_glance g = tsr_fluid_glance_at(view, set, l, paint, x, y, p);
    const tsr_float3 through = tsr_f3(tsr_exp2_within(g.exponent[0]), tsr_exp2_within(g.exponent[1]), tsr_exp2_within(g.exponent[2]));
    return tsr_fluid_colored(l, paint, &g, p->foam, tsr_fluid_first3(tsr_fluid_glance_behind(view, back, g.behind, x, y, p->z)),
                             tsr_fluid_sky_at(l, g.sky[0], g.sky[1]), through, tsr_exp2_within(g.exponent[3]));
}

/* Curvature as a colour: black 0, green positive, red negative (positive: a hump towards the eye). */
TSR_HD tsr_float3 tsr_fluid_curved(float curvature, float scale)
{
    const float v = tsr_clampf(curvature * scale, -1.0f, 1.0f);
    return tsr_f3(v < 0.0f ? -v : 0.0f, v > 0.0f ? v : 0.0f, 0.0f);
}

#endif
