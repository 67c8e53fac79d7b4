/* flow/seeds.c: seeds of stream lines. */
#include <math.h>

#include "flow/vectors.h"
#include "volume/deterministic.h"
#include "tessera/streamlines.h"

void tsr_seeds_destroy(double **seeds)
{
    if (!seeds) return;
    tsr_host_release(NULL, *seeds, 0);
    *seeds = NULL;
}

static int finite3(tsr_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

static tsr_status check_options(const tsr_seed_options *o)
{
    if ((unsigned)o->kind > TSR_SEED_RANDOM) TSR_FAIL(TSR_ERROR_ARGUMENT, "kind of seeds is %d, expected 0 to 5", (int)o->kind);
    if (o->count < 0 || o->count > INT32_MAX) TSR_FAIL(TSR_ERROR_ARGUMENT, "count of seeds is %lld, expected 1 to 2^31 - 1", (long long)o->count);
    if (o->every < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "every is %d, expected 1 or more", o->every);
    if (o->resolution[0] < 0 || o->resolution[1] < 0 || o->resolution[0] > 30000 || o->resolution[1] > 30000)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "resolution is %d x %d, expected 1 to 30000 each", o->resolution[0], o->resolution[1]);
    for (int k = 0; k < 3; k++)
        if (!finite3(o->point[k])) TSR_FAIL(TSR_ERROR_ARGUMENT, "point %d is not finite", k);
    if ((o->kind == TSR_SEED_SPHERE || o->kind == TSR_SEED_BALL) && (!(o->radius > 0) || !isfinite(o->radius)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "radius is %g, expected a positive length", o->radius);
    return TSR_OK;
}

static void put(double *to, tsr_vec3 p)
{
    to[0] = p.x;
    to[1] = p.y;
    to[2] = p.z;
}

/* Evenly over the sphere: the golden angle, steps of equal height. */
static tsr_vec3 on_sphere(int64_t k, int64_t count)
{
    const double z = 1 - (2 * (double)k + 1) / (double)count, r = sqrt(fmax(0, 1 - z * z));
    double s, c;
    tsr_det_sincos_turns((double)k * 0.3819660112501051, &s, &c);
    return (tsr_vec3){ r * c, r * s, z };
}

/* By rejection from the cube. */
static tsr_vec3 in_ball(uint64_t seed, uint64_t *at)
{
    for (;;) {
        const tsr_vec3 p = { 2 * tsr_det_uniform(seed, *at) - 1, 2 * tsr_det_uniform(seed, *at + 1) - 1, 2 * tsr_det_uniform(seed, *at + 2) - 1 };
        *at += 3;
        if (tsr_vec3_dot(p, p) <= 1) return p;
    }
}

tsr_status tsr_seeds_make(const tsr_vector_field *field, const tsr_seed_options *options, double **seeds, int64_t *count)
{
    TSR_RETURNS(seeds);
    TSR_NEEDS(field, count);
    tsr_seed_options o;
    void *memory = NULL;
    *count = 0;
    TSR_TRY(tsr_field_require(field, "field"));
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    TSR_TRY(check_options(&o));
    const int32_t every = o.every ? o.every : 10, rows[2] = { o.resolution[0] ? o.resolution[0] : 10, o.resolution[1] ? o.resolution[1] : 10 };
    int64_t n = o.count ? o.count : 100, grid[3];
    for (int i = 0; i < 3; i++) grid[i] = (field->grid.n[i] - 1) / every + 1;
    if (o.kind == TSR_SEED_GRID) n = grid[0] * grid[1] * grid[2];
    if (o.kind == TSR_SEED_PLANE) n = (int64_t)rows[0] * rows[1];
    if (n > INT32_MAX) TSR_FAIL(TSR_ERROR_CAPACITY, "%lld seeds, expected at most 2^31 - 1", (long long)n);
    TSR_TRY(tsr_host_allocate(NULL, (size_t)n * 3 * sizeof(double), &memory));
    double *to = (double *)memory;
    uint64_t drawn = 0;
    for (int64_t k = 0; k < n; k++, to += 3) {
        const double share = n > 1 ? (double)k / (double)(n - 1) : 0.5;
        const tsr_vec3 u = tsr_vec3_sub(o.point[1], o.point[0]), v = tsr_vec3_sub(o.point[2], o.point[0]);
        switch (o.kind) {
        case TSR_SEED_LINE: put(to, tsr_vec3_add(o.point[0], tsr_vec3_scale(u, share))); break;
        case TSR_SEED_PLANE: {
            const double a = rows[0] > 1 ? (double)(k % rows[0]) / (rows[0] - 1) : 0.5, b = rows[1] > 1 ? (double)(k / rows[0]) / (rows[1] - 1) : 0.5;
            put(to, tsr_vec3_add(o.point[0], tsr_vec3_add(tsr_vec3_scale(u, a), tsr_vec3_scale(v, b))));
            break;
        }
        case TSR_SEED_SPHERE: put(to, tsr_vec3_add(o.point[0], tsr_vec3_scale(on_sphere(k, n), o.radius))); break;
        case TSR_SEED_BALL: put(to, tsr_vec3_add(o.point[0], tsr_vec3_scale(in_ball(o.seed, &drawn), o.radius))); break;
        default: {
            double at[3];
            if (o.kind == TSR_SEED_GRID) {
                at[0] = (double)(k % grid[0] * every);
                at[1] = (double)(k / grid[0] % grid[1] * every);
                at[2] = (double)(k / grid[0] / grid[1] * every);
            } else
                for (int i = 0; i < 3; i++) at[i] = (field->grid.n[i] - 1) * tsr_det_uniform(o.seed, (uint64_t)(3 * k + i));
            put(to, tsr_geometry_to_world(&field->geometry, (tsr_vec3){ at[0], at[1], at[2] }));
        }
        }
    }
    *seeds = (double *)memory;
    *count = n;
    return TSR_OK;
}
