/* fluid/fluid_ops.h: what a backend provides for fluids. All pointers are device memory of the queue. Images are padded as fluid_view.h says unless
 * said otherwise; their borders, and depths where there is no fluid, are infinite. */
#ifndef TSR_FLUID_FLUID_OPS_H
#define TSR_FLUID_FLUID_OPS_H

#include "device/backend.h"
#include "fluid/fluid_filter.h"
#include "fluid/fluid_grid.h"
#include "fluid/fluid_noise.h"
#include "fluid/fluid_shade.h"
#include "fluid/fluid_shape.h"
#include "fluid/fluid_solve.h"

/* What became of the particles of a drawing. */
typedef struct tsr_fluid_tally {
    uint64_t entries;         /* tiles that particles touch, in all */
    uint64_t pixels, largest; /* pixels round them, in all (of one at most TSR_FLUID_BOX_MOST), and of the largest; counted where the backend scatters */
    uint32_t fates[TSR_FLUID_FATES + 1];
} tsr_fluid_tally;
enum { TSR_FLUID_BOX_MOST = 1 << 20 };

/* Particles to records and to lists of the tiles that they touch. */
typedef struct tsr_fluid_bin_job {
    tsr_fluid_cast draw;
    const float *positions; /* [count][3] */
    const float *radii;     /* [count] or NULL */
    const float *densities; /* [count] or NULL */
    const float *heats;     /* [count] or NULL */
    const float *axes;      /* [count][6] or NULL: ellipsoids, Q for radius 1, in the particles' coordinates */
    tsr_fluid_record *records;
    float *forms;           /* [count][6], with axes: Q in eye coordinates */
    uint32_t *counts;       /* [tiles + 1]: particles of each tile (project and count), zeroed before; NULL: project does not count them */
    const uint64_t *starts; /* [tiles + 1]: where each tile's list begins (fill) */
    uint32_t *cursors;      /* [tiles]: zeroed before (fill) */
    uint32_t *entries;      /* particles' numbers, in any order within a tile */
    tsr_fluid_tally *tally; /* zeroed before */
} tsr_fluid_bin_job;

typedef struct tsr_fluid_splat_job {
    tsr_fluid_cast draw;
    const tsr_fluid_record *records;
    const float *forms;
    const uint64_t *starts; /* NULL: particle by particle, of backends that scatter; depth is infinite and `units` 0 before */
    const uint32_t *entries;
    uint64_t *units;     /* without lists: thickness in whole units, as `thin` or `thickness` */
    const float *scene;  /* padded image of distances of opaque things, or NULL */
    const float *before; /* depth peeling: where the layer before ends; only what enters behind that counts; or NULL */
    float *depth;        /* nearest entry; NULL: not wanted */
    float *thickness;    /* NULL: not wanted */
    float *thin;         /* in place of thickness: at every other pixel of every other row, a padded image of thin_view; or NULL */
    tsr_fluid_view thin_view;
    float *ends;          /* peeling: where the run of overlapping particles that begins at `depth` ends, of which then is the thickness; or NULL */
    float per_unit, unit; /* of thickness */
} tsr_fluid_splat_job;

typedef struct tsr_fluid_noise_job {
    tsr_fluid_cast draw;
    const tsr_fluid_record *records;
    const uint64_t *starts; /* NULL: particle by particle; noise, foam and `units` are 0 before */
    const uint32_t *entries;
    uint64_t *units; /* without lists: spray in whole units, a padded image */
    const float *depth, *scene;
    float *noise; /* NULL: not wanted */
    float *foam;  /* |noise| + fill times the amplitudes alone; with noise */
    float *spray; /* opacity, NULL: not wanted */
    float fill;
    float fade; /* 1 / depth over which noise of particles below the surface fades, in radii */
} tsr_fluid_noise_job;

/* Explicit steps; the result is in `depth`, `other` is of the same shape. */
typedef struct tsr_fluid_flow_job {
    tsr_fluid_view view;
    tsr_fluid_step step;
    float *depth, *other;
    int32_t iterations, exact;
    tsr_fluid_level levels[TSR_FLUID_LEVELS]; /* implicit: cx, cy and r of the first; multigrid: all */
} tsr_fluid_flow_job;

typedef struct tsr_fluid_filter_job {
    tsr_fluid_view view;
    tsr_fluid_filter filter;
    float *depth, *other;
    int32_t iterations;
} tsr_fluid_filter_job;

/* A few passes of (1 2 1) / 4 along both axes among the pixels that have fluid. */
typedef struct tsr_fluid_blur_job {
    tsr_fluid_view view;
    const float *depth;
    float *image, *other;
    int32_t passes;
} tsr_fluid_blur_job;

typedef struct tsr_fluid_normal_job {
    tsr_fluid_view view;
    tsr_fluid_step step;
    const float *depth, *noise; /* noise may be NULL */
    float bump;                 /* slope per noise: times the difference per world unit */
    float *normals;             /* [height + 2][stride][4]: normal in eye coordinates, curvature 2 H per pixel */
} tsr_fluid_normal_job;

typedef struct tsr_fluid_backdrop_job {
    tsr_fluid_view view; /* of the full picture */
    tsr_fluid_set set;
    tsr_fluid_light light;
    const float *color;    /* [height][width][4] linear r g b a over the sky, or NULL: a built-in scene */
    const float *distance; /* [height][width] along the axis, beside color; NULL: far */
    float *back;           /* [height][width][4] */
    float *scene;          /* padded image of `low`: distances seen by its pixels, or NULL */
    tsr_fluid_view low;
    int32_t factor;
} tsr_fluid_backdrop_job;

typedef struct tsr_fluid_compose_job {
    tsr_fluid_view view, low; /* the picture's, and that of the fluid's images */
    int32_t factor;           /* of low: 1, 2 or 4 */
    tsr_fluid_set set;
    tsr_fluid_light light;
    tsr_fluid_paint paint;
    const float *depth, *thickness, *foam, *spray, *normals; /* foam, spray may be NULL */
    const float *back;                                       /* [height][width][4] */
    float *color;                                            /* [height][width][4] */
    float *distance;                                         /* [height][width] */
} tsr_fluid_compose_job;

/* Heat of particles from the change of their velocities. */
typedef struct tsr_fluid_heat_job {
    const float *velocities; /* [count][3] */
    float *before, *heats;   /* [count][3], [count]; the first `known` have a frame before */
    int32_t count, known;
    float threshold, keep; /* keep: what is left of heat after the time of a frame */
} tsr_fluid_heat_job;

typedef struct tsr_fluid_ops {
    int32_t scatters; /* splat and noise need no lists: threads go over the pixels of each particle */
    tsr_status (*project)(tsr_queue *queue, const tsr_fluid_bin_job *job);
    tsr_status (*count)(tsr_queue *queue, const tsr_fluid_bin_job *job); /* counts from the records, where project did not */
    tsr_status (*fill)(tsr_queue *queue, const tsr_fluid_bin_job *job);
    tsr_status (*splat)(tsr_queue *queue, const tsr_fluid_splat_job *job);
    tsr_status (*enlarge)(tsr_queue *queue, const tsr_fluid_view *thin, const float *from, const tsr_fluid_view *view, float *to);
    tsr_status (*noise)(tsr_queue *queue, const tsr_fluid_noise_job *job);
    tsr_status (*flow)(tsr_queue *queue, const tsr_fluid_flow_job *job);
    tsr_status (*implicit)(tsr_queue *queue, const tsr_fluid_flow_job *job);
    tsr_status (*multigrid)(tsr_queue *queue, const tsr_fluid_flow_job *job);
    tsr_status (*filter)(tsr_queue *queue, const tsr_fluid_filter_job *job);
    tsr_status (*grid)(tsr_queue *queue, const tsr_fluid_grid_job *job);
    tsr_status (*blur)(tsr_queue *queue, const tsr_fluid_blur_job *job);
    tsr_status (*normals)(tsr_queue *queue, const tsr_fluid_normal_job *job);
    tsr_status (*backdrop)(tsr_queue *queue, const tsr_fluid_backdrop_job *job);
    tsr_status (*compose)(tsr_queue *queue, const tsr_fluid_compose_job *job);
    tsr_status (*keys)(tsr_queue *queue, const tsr_fluid_shape_job *job);   /* cells and numbers */
    tsr_status (*shapes)(tsr_queue *queue, const tsr_fluid_shape_job *job); /* of the sorted list */
    tsr_status (*heat)(tsr_queue *queue, const tsr_fluid_heat_job *job);
    tsr_status (*nothing)(tsr_queue *queue, float *image, int64_t count); /* infinite all over */
    tsr_status (*encode)(tsr_queue *queue, const float *color, uint8_t *image, int64_t pixels, int32_t channels, float exposure);
} tsr_fluid_ops;

/* ---- one particle, one pixel ----------------------------------------------------------------------------------------------------- */

TSR_HD tsr_fluid_fate tsr_fluid_bin_particle(const tsr_fluid_bin_job *j, int32_t i, int32_t box[4])
{
    tsr_fluid_record *p = &j->records[i];
    box[0] = box[1] = box[2] = box[3] = 0;
    const tsr_fluid_fate fate = tsr_fluid_project(&j->draw, j->positions + 3 * (int64_t)i, j->radii ? j->radii[i] : j->draw.radius,
                                                  j->densities ? j->densities[i] : 0.0f, j->heats ? j->heats[i] : 0.0f, p);
    if (fate != TSR_FLUID_DRAWN) {
        p->radius = p->reach = p->spray = 0.0f;
        return fate;
    }
    if (j->axes) {
        const tsr_fluid_view *v = &j->draw.view;
        const float *q = j->axes + 6 * (int64_t)i;
        const tsr_float3 e[3] = { v->right, v->down, v->forward };
        tsr_float3 m[3];
        float *to = j->forms + 6 * (int64_t)i, longest;
        for (int32_t k = 0; k < 3; k++)
            m[k] = tsr_f3(q[0] * e[k].x + q[3] * e[k].y + q[4] * e[k].z, q[3] * e[k].x + q[1] * e[k].y + q[5] * e[k].z,
                          q[4] * e[k].x + q[5] * e[k].y + q[2] * e[k].z);
        longest = tsr_fluid_longest(q);
        const float own = p->radius > 0.0f ? 1.0f / (p->radius * p->radius) : 1.0f;
        to[0] = tsr_dot3(e[0], m[0]) * own;
        to[1] = tsr_dot3(e[1], m[1]) * own;
        to[2] = tsr_dot3(e[2], m[2]) * own;
        to[3] = tsr_dot3(e[0], m[1]) * own;
        to[4] = tsr_dot3(e[0], m[2]) * own;
        to[5] = tsr_dot3(e[1], m[2]) * own;
        p->reach = tsr_maxf(p->reach, p->radius * longest);
        if (!(p->z - p->radius * longest > v->nearest)) {
            p->radius = p->reach = p->spray = 0.0f;
            return TSR_FLUID_TOO_NEAR;
        }
    }
    p->reach = tsr_maxf(p->reach, p->radius);
    if (!(p->reach > 0.0f) || !tsr_fluid_tiles(&j->draw, p, box)) box[0] = box[1] = box[2] = box[3] = 0;
    return TSR_FLUID_DRAWN;
}

/* Thickness of a run along a ray. */
TSR_HD float tsr_fluid_run(const tsr_fluid_ray *r, float depth, float end, float scene)
{
    return depth < TSR_FLUID_NOTHING ? tsr_maxf(tsr_minf(end, scene) - depth, 0.0f) * r->length : 0.0f;
}

/* The tiles of a particle that tsr_fluid_bin_particle has made a record of. */
TSR_HD int tsr_fluid_tiles_again(const tsr_fluid_bin_job *j, int32_t i, int32_t box[4])
{
    const tsr_fluid_record *p = &j->records[i];
    return p->reach > 0.0f && tsr_fluid_tiles(&j->draw, p, box);
}

/* Pixels that a particle may change within `radius`, of those of its tiles; ends are excluded. `grain` 2: coarse pixels of thickness. A sixteenth of a
 * pixel is for rounding. Spheres close to the eye, whose outlines are not known so well, have all of their tiles. */
TSR_HD int64_t tsr_fluid_pixels(const tsr_fluid_cast *d, const tsr_fluid_record *p, float radius, int32_t sprite, const int32_t tiles[4], int32_t grain,
                                int32_t box[4])
{
    const float most = 1.0e6f, slack = 0.5f + 0.0625f, per = 1.0f / (float)grain;
    for (int32_t k = 0; k < 2; k++) {
        const int32_t side = TSR_FLUID_TILE / grain, extent = ((k ? d->view.height : d->view.width) + grain - 1) / grain;
        box[k] = tiles[k] * side;
        box[2 + k] = tsr_mini(tiles[2 + k] * side, extent);
        if (sprite || d->view.slope[k] == 0.0f || p->z > 2.0f * radius) {
            float span[2];
            tsr_fluid_span(&d->view, k, k ? p->y : p->x, p->z, radius, sprite, span);
            box[k] = tsr_maxi(box[k], tsr_ceil_int(tsr_clampf(span[0] * per, -most, most) - slack));
            box[2 + k] = tsr_mini(box[2 + k], tsr_floor_int(tsr_clampf(span[1] * per, -most, most) + (slack - 1.0f)) + 1);
        }
    }
    if (box[0] < box[2] && box[1] < box[3]) return (int64_t)(box[2] - box[0]) * (box[3] - box[1]);
    box[2] = box[0];
    box[3] = box[1];
    return 0;
}

/* Coarse pixels of thickness lie in the middle of 2 x 2 pixels. A particle is at least 0.75 of them large, and thinner in return. */
TSR_HD tsr_fluid_ray tsr_fluid_thin_ray(const tsr_fluid_cast *d, int32_t x, int32_t y)
{
    return tsr_fluid_ray_place(d, ((float)(2 * x) + 1.0f) - d->view.centre[0], ((float)(2 * y) + 1.0f) - d->view.centre[1]);
}
TSR_HD float tsr_fluid_thin_radius(const tsr_fluid_cast *d, const tsr_fluid_record *p, float *weight)
{
    const float radius = tsr_maxf(p->radius, 1.5f * tsr_minf(tsr_fluid_width(&d->view, 0, p->z), tsr_fluid_width(&d->view, 1, p->z))),
                share = p->radius / radius;
    *weight = p->weight * (share * (share * share));
    return radius;
}
TSR_HD float tsr_fluid_thin_scene(const tsr_fluid_splat_job *j, int32_t x, int32_t y)
{
    const tsr_fluid_view *v = &j->draw.view;
    const int32_t right = tsr_mini(2 * x + 1, v->width - 1), below = tsr_mini(2 * y + 1, v->height - 1);
    if (!j->scene || 2 * x >= v->width || 2 * y >= v->height) return TSR_FLUID_NOTHING;
    const float *s = j->scene;
    return tsr_maxf(tsr_maxf(s[tsr_fluid_at(v, 2 * x, 2 * y)], s[tsr_fluid_at(v, right, 2 * y)]),
                    tsr_maxf(s[tsr_fluid_at(v, 2 * x, below)], s[tsr_fluid_at(v, right, below)]));
}
/* Units of one particle at a coarse pixel. */
TSR_HD uint32_t tsr_fluid_thin_units(const tsr_fluid_splat_job *j, const tsr_fluid_ray *r, const tsr_fluid_record *p, uint32_t number, float scene)
{
    float weight, enter, leave;
    const float radius = tsr_fluid_thin_radius(&j->draw, p, &weight);
    const float ox = p->x - r->gx * tsr_fluid_width(&j->draw.view, 0, p->z), oy = p->y - r->gy * tsr_fluid_width(&j->draw.view, 1, p->z);
    int hit;
    if (j->forms) {
        hit = tsr_fluid_ellipsoid(r, ox, oy, p->z, j->forms + 6 * (int64_t)number, &enter, &leave);
        weight = p->weight;
    } else hit = tsr_fluid_sphere(r, ox, oy, p->z, radius * radius, &enter, &leave);
    return hit ? tsr_fluid_units(tsr_maxf(tsr_minf(leave, scene) - enter, 0.0f) * r->length, weight * j->per_unit) : 0u;
}
/* Pixel (x, y) from the coarse image, linear between the middles of its pixels. */
TSR_HD float tsr_fluid_enlarged(const tsr_fluid_view *thin, const float *image, int32_t x, int32_t y)
{
    const int32_t i = tsr_mini(x / 2, thin->width - 1), k = tsr_mini(y / 2, thin->height - 1);
    const int32_t a = tsr_mini(tsr_maxi(x % 2 ? i + 1 : i - 1, 0), thin->width - 1),
                  b = tsr_mini(tsr_maxi(y % 2 ? k + 1 : k - 1, 0), thin->height - 1);
    return 0.5625f * image[tsr_fluid_at(thin, i, k)] + 0.1875f * (image[tsr_fluid_at(thin, a, k)] + image[tsr_fluid_at(thin, i, b)]) +
           0.0625f * image[tsr_fluid_at(thin, a, b)];
}

/* One particle at a pixel: the nearest entry, and the units of thickness. */
TSR_HD void tsr_fluid_splat_add(const tsr_fluid_splat_job *j, const tsr_fluid_ray *r, const tsr_fluid_record *p, uint32_t number, float scene,
                                float before, float *depth, uint32_t *sum)
{
    if (!(p->radius > 0.0f)) return;
    const float ox = p->x - r->gx * tsr_fluid_width(&j->draw.view, 0, p->z), oy = p->y - r->gy * tsr_fluid_width(&j->draw.view, 1, p->z);
    float enter, leave;
    int hit = j->forms ? tsr_fluid_ellipsoid(r, ox, oy, p->z, j->forms + 6 * (int64_t)number, &enter, &leave)
                       : tsr_fluid_sphere(r, ox, oy, p->z, p->radius * p->radius, &enter, &leave);
    hit &= enter > before;
    if (!hit) return;
    *depth = tsr_minf(*depth, enter);
    *sum = tsr_fluid_add(*sum, tsr_fluid_units(tsr_maxf(tsr_minf(leave, scene) - enter, 0.0f) * r->length, p->weight * j->per_unit));
}

/* One particle in the search for the end of the run that begins at the nearest entry: *end grows if the particle begins within the run. 1 if it did.
 * */
TSR_HD int tsr_fluid_lengthen(const tsr_fluid_splat_job *j, const tsr_fluid_ray *r, const tsr_fluid_record *p, const float *form, float before,
                              float *end)
{
    const float ox = p->x - r->gx * tsr_fluid_width(&j->draw.view, 0, p->z), oy = p->y - r->gy * tsr_fluid_width(&j->draw.view, 1, p->z);
    float enter, leave;
    const int hit =
        form ? tsr_fluid_ellipsoid(r, ox, oy, p->z, form, &enter, &leave) : tsr_fluid_sphere(r, ox, oy, p->z, p->radius * p->radius, &enter, &leave);
    if (!hit || !(enter > before) || !(enter <= *end) || !(leave > *end)) return 0;
    *end = leave;
    return 1;
}

/* Slopes and what hangs on them at (x, y). */
TSR_HD tsr_fluid_slopes tsr_fluid_slopes_at(const tsr_fluid_step *s, const float *z, int64_t stride)
{
    return tsr_fluid_slopes_of(s, z[0], z[-1], z[1], z[-stride], z[stride], z[-stride - 1], z[-stride + 1], z[stride - 1], z[stride + 1]);
}

TSR_HD void tsr_fluid_nine(const float *z, int64_t stride, float m[9])
{
    for (int32_t j = 0; j < 3; j++)
        for (int32_t i = 0; i < 3; i++) m[3 * j + i] = z[(j - 1) * stride + i - 1];
}

/* One explicit step at pixel (x, y), which lies at `z` of an image of this stride. */
TSR_HD float tsr_fluid_flow_value(const tsr_fluid_flow_job *j, const float *z, int64_t stride, int32_t x, int32_t y)
{
    if (j->exact) {
        float m[9];
        if (!(*z < TSR_FLUID_NOTHING)) return *z;
        tsr_fluid_nine(z, stride, m);
        return *z + tsr_fluid_flow_exact(&j->step, m, tsr_fluid_offset(&j->view, 0, x), tsr_fluid_offset(&j->view, 1, y));
    }
    const tsr_fluid_slopes d = tsr_fluid_slopes_at(&j->step, z, stride);
    return *z + tsr_fluid_flow(&j->step, &d);
}

TSR_HD float tsr_fluid_filter_at(const tsr_fluid_filter_job *j, const float *from, int32_t pass, int32_t x, int32_t y)
{
    const tsr_fluid_view *v = &j->view;
    const float *z = from + tsr_fluid_at(v, x, y);
    const int32_t sides[4] = { x, v->width - 1 - x, y, v->height - 1 - y };
    if (pass == 0) return tsr_fluid_filter_line(&j->filter, z, 1, sides[0], sides[1]);
    if (pass == 1) return tsr_fluid_filter_line(&j->filter, z, v->stride, sides[2], sides[3]);
    return tsr_fluid_filter_square(&j->filter, z, v->stride, sides, pass == 3 ? 2 : j->filter.reach);
}

/* Coefficients and right-hand side of an implicit step at a pixel: that of rows alone, or of both axes. */
TSR_HD void tsr_fluid_assemble(const tsr_fluid_step *step, const float *z, int64_t s, int32_t both, float *to_x, float *to_y, float *to_r)
{
    const tsr_fluid_slopes d = tsr_fluid_slopes_at(step, z, s);
    float cx, cy, rest;
    tsr_fluid_frozen(step, &d, &cx, &cy, &rest);
    /* without both links along an axis there is nothing to solve along it */
    const int across = tsr_fluid_near(z[-1], *z, step->threshold) & tsr_fluid_near(z[1], *z, step->threshold);
    const int down = tsr_fluid_near(z[-s], *z, step->threshold) & tsr_fluid_near(z[s], *z, step->threshold);
    cx = across ? cx : 0.0f;
    cy = down ? cy : 0.0f;
    *to_x = cx;
    *to_y = cy;
    *to_r = cx * d.xx + ((both ? cy * d.yy : 0.0f) + rest);
}

/* (1 2 1) / 4 along one axis among neighbours that have fluid; the weights of the others fall to the middle. */
TSR_HD float tsr_fluid_blur_at(const float *depth, const float *image, int64_t step)
{
    if (!(*depth < TSR_FLUID_NOTHING)) return *image;
    const float a = depth[-step] < TSR_FLUID_NOTHING ? image[-step] : *image, b = depth[step] < TSR_FLUID_NOTHING ? image[step] : *image;
    return 0.25f * (a + b) + 0.5f * *image;
}

/* Normal and curvature at a pixel, without branches: z and, with `noise`, n lie at it. */
TSR_HD void tsr_fluid_normal_of(const tsr_fluid_normal_job *j, const float *z, const float *n, int noise, int32_t x, int32_t y, float to[4])
{
    const tsr_fluid_view *v = &j->view;
    const int64_t s = v->stride;
    const int there = *z < TSR_FLUID_NOTHING;
    float p = tsr_fluid_shading_slope(&j->step, 0, z[-1], *z, z[1]), q = tsr_fluid_shading_slope(&j->step, 1, z[-s], *z, z[s]);
    const tsr_fluid_slopes d = tsr_fluid_slopes_at(&j->step, z, s);
    const float curvature = tsr_fluid_curvature(&j->step, &d);
    if (noise) {
        const float west = z[-1] < TSR_FLUID_NOTHING ? n[-1] : *n, east = z[1] < TSR_FLUID_NOTHING ? n[1] : *n;
        const float north = z[-s] < TSR_FLUID_NOTHING ? n[-s] : *n, south = z[s] < TSR_FLUID_NOTHING ? n[s] : *n;
        p -= j->bump * (0.5f * (east - west)) * d.ix; /* noise lifts the surface towards the eye */
        q -= j->bump * (0.5f * (south - north)) * d.iy;
    }
    const tsr_float3 normal = tsr_fluid_normal(p, q, tsr_fluid_offset(v, 0, x) * v->slope[0], tsr_fluid_offset(v, 1, y) * v->slope[1]);
    to[0] = there ? normal.x : 0.0f;
    to[1] = there ? normal.y : 0.0f;
    to[2] = there ? normal.z : -1.0f;
    to[3] = there ? curvature : 0.0f;
}
TSR_HD void tsr_fluid_normal_at(const tsr_fluid_normal_job *j, int32_t x, int32_t y)
{
    const int64_t at = tsr_fluid_at(&j->view, x, y);
    tsr_fluid_normal_of(j, j->depth + at, j->noise ? j->noise + at : NULL, j->noise != NULL, x, y, j->normals + 4 * at);
}

/* The ray of the middle of a pixel (or of any place): its origin and direction, 1 along the axis, in the frame of the scene. */
TSR_HD void tsr_fluid_ray_frame(const tsr_fluid_view *v, const tsr_fluid_set *s, float x, float y, tsr_float3 *o, tsr_float3 *d)
{
    const float gx = x - v->centre[0], gy = y - v->centre[1];
    *d = tsr_fluid_turn(s, tsr_f3(gx * v->slope[0], gy * v->slope[1], 1.0f));
    *o = tsr_add3(s->eye, tsr_fluid_turn(s, tsr_f3(gx * v->step[0], gy * v->step[1], 0.0f)));
}

TSR_HD void tsr_fluid_backdrop_at(const tsr_fluid_backdrop_job *j, int32_t x, int32_t y)
{
    const tsr_fluid_view *v = &j->view;
    const int64_t i = (int64_t)y * v->width + x;
    float *to = j->back + 4 * i;
    tsr_float3 o, d, color;
    tsr_fluid_ray_frame(v, &j->set, (float)x + 0.5f, (float)y + 0.5f, &o, &d);
    if (j->color) {
        const float *c = j->color + 4 * i;
        color = tsr_f3(c[0], c[1], c[2]);
        if (c[3] < 1.0f) color = tsr_add3(color, tsr_scale3(tsr_fluid_sky(&j->light, d), 1.0f - c[3]));
        to[3] = j->distance && c[3] > 0.0f && j->distance[i] > 0.0f ? j->distance[i] : TSR_FLUID_NOTHING;
    } else color = tsr_fluid_seen(&j->set, &j->light, o, d, v->slope[1] > 0.0f ? v->slope[1] : v->step[1] / 1.0e3f, &to[3]);
    to[0] = color.x;
    to[1] = color.y;
    to[2] = color.z;
}

/* The farthest of the distances that the pixels of one low pixel see: fluid that any of them shows is drawn. */
TSR_HD void tsr_fluid_scene_depth(const tsr_fluid_backdrop_job *j, int32_t x, int32_t y)
{
    float far_ = 0.0f;
    for (int32_t b = y * j->factor; b < tsr_mini((y + 1) * j->factor, j->view.height); b++)
        for (int32_t a = x * j->factor; a < tsr_mini((x + 1) * j->factor, j->view.width); a++)
            far_ = tsr_maxf(far_, j->back[4 * ((int64_t)b * j->view.width + a) + 3]);
    j->scene[tsr_fluid_at(&j->low, x, y)] = far_;
}

TSR_HD void tsr_fluid_heat_particle(const tsr_fluid_heat_job *j, int32_t i)
{
    const float *v = j->velocities + 3 * (int64_t)i;
    float *b = j->before + 3 * (int64_t)i, heat = 0.0f;
    if (i < j->known) {
        const float x = v[0] - b[0], y = v[1] - b[1], z = v[2] - b[2];
        heat = x * x + y * y + z * z > j->threshold * j->threshold ? 1.0f : j->heats[i] * j->keep;
    }
    j->heats[i] = heat;
    for (int32_t k = 0; k < 3; k++) b[k] = v[k];
}

/* Sums of noise and spray to what the picture uses. */
TSR_HD float tsr_fluid_noise_value(int32_t units) { return (float)units * (1.0f / TSR_FLUID_NOISE_UNIT); }
TSR_HD float tsr_fluid_foam_value(const tsr_fluid_noise_job *j, int32_t noise, int32_t cover)
{
    return tsr_absf(tsr_fluid_noise_value(noise)) + j->fill * tsr_fluid_noise_value(cover);
}
TSR_HD float tsr_fluid_spray_value(uint32_t units) { return 1.0f - tsr_expf(-(float)units * (1.0f / TSR_FLUID_NOISE_UNIT)); }

/* What a particle has for noise and spray at all pixels. */
typedef struct tsr_fluid_sprite {
    uint32_t hash;
    float frequency, inverse, hx, hy, front, fade;
} tsr_fluid_sprite;
TSR_HD tsr_fluid_sprite tsr_fluid_sprite_of(const tsr_fluid_noise_job *j, uint32_t number, const tsr_fluid_record *p)
{
    tsr_fluid_sprite s;
    s.hash = tsr_fluid_hash(number + 1u);
    s.frequency = tsr_fluid_frequency(s.hash);
    s.inverse = 1.0f / p->reach;
    s.hx = tsr_fluid_width(&j->draw.view, 0, p->z);
    s.hy = tsr_fluid_width(&j->draw.view, 1, p->z);
    s.front = p->z - p->radius;
    s.fade = p->radius > 0.0f ? j->fade / p->radius : 0.0f;
    return s;
}
/* Units of noise and of its amplitude at a pixel; 0 beyond the sprite's disc, where there is no fluid, and far below its surface. */
TSR_HD void tsr_fluid_noise_add(const tsr_fluid_sprite *s, const tsr_fluid_record *p, float calm, float gx, float gy, float depth, int32_t *noise,
                                int32_t *cover)
{
    const float u = (gx * s->hx - p->x) * s->inverse, w = (gy * s->hy - p->y) * s->inverse, r2 = u * u + w * w;
    const float deep = (s->front - depth) * s->fade, deep2 = deep * deep;
    const int32_t in = -(int32_t)((r2 < 1.0f) & (deep2 < 12.0f)); /* infinite depths are not */
    float bell;
    const float value = tsr_fluid_noise(s->hash, s->frequency, tsr_clampf(u, -1.0f, 1.0f), tsr_clampf(w, -1.0f, 1.0f), tsr_minf(r2, 1.0f), tsr_minf(deep2, 12.0f), &bell);
    *noise += in & tsr_fluid_noise_units(p->noise * value);
    *cover += in & tsr_fluid_noise_units((p->noise - calm) * bell);
}
TSR_HD void tsr_fluid_spray_add(const tsr_fluid_sprite *s, const tsr_fluid_record *p, float gx, float gy, float depth, float scene, uint32_t *spray)
{
    const float u = (gx * s->hx - p->x) * s->inverse, w = (gy * s->hy - p->y) * s->inverse, soft = 1.0f - (u * u + w * w);
    if (soft > 0.0f && p->z < scene && p->z <= depth + 1.5f * p->radius)
        *spray = tsr_fluid_add(*spray, tsr_fluid_units(p->spray * (soft * soft), TSR_FLUID_NOISE_UNIT));
}
/* Does the particle make noise on a surface no farther than this? */
TSR_HD int tsr_fluid_noisy(const tsr_fluid_noise_job *j, const tsr_fluid_sprite *s, const tsr_fluid_record *p, float farthest)
{
    return j->noise && p->radius > 0.0f && p->noise != 0.0f && (s->front - farthest) * s->fade < 3.4641f;
}

/* One pixel of 8 bits: a filmic shoulder above 0.8 so that highlights keep their colour, then sRGB. */
TSR_HD float tsr_fluid_tone(float v)
{
    const float knee = 0.7f, room = 1.0f - knee, t = (v - knee) / room, bent = knee + room * (t / (1.0f + t));
    return v > knee ? bent : v;
}
TSR_HD uint8_t tsr_fluid_eight_bits(float v) { return (uint8_t)(int32_t)(v * 255.0f + 0.5f); }
TSR_HD uint8_t tsr_fluid_byte(float v, float exposure) { return tsr_fluid_eight_bits(tsr_srgb_encode(tsr_fluid_tone(v * exposure))); }

#endif
