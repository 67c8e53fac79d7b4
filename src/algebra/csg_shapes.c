/* algebra/csg_shapes.c: primitives straight into tile lists. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "algebra/csg_search.h"
#include "solver/list_distance.h"

static const char *const shape_names[] = { "sphere", "box", "torus", "cylinder", "capsule", "ellipsoid" };
enum { SHAPES = sizeof shape_names / sizeof *shape_names };

const char *tsr_shape_name(tsr_shape_kind kind) { return (int)kind >= 0 && (int)kind < SHAPES ? shape_names[kind] : NULL; }

tsr_status tsr_shape_parse(const char *name, tsr_shape_kind *kind)
{
    TSR_NEEDS(kind);
    for (int i = 0; i < SHAPES; i++)
        if (name && !strcmp(name, shape_names[i])) {
            *kind = (tsr_shape_kind)i;
            return TSR_OK;
        }
    TSR_FAIL(TSR_ERROR_ARGUMENT, "'%.40s' is no shape, expected sphere, box, torus, cylinder, capsule or ellipsoid", name ? name : "");
}

/* ---- checks ------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status positive(const char *shape, const char *field, double value)
{
    if (!(value > 0 && value < 1e12)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %s is %g, expected a positive number below 1e12", shape, field, value);
    return TSR_OK;
}

static tsr_status check_shape(const tsr_shape *s)
{
    const char *name = tsr_shape_name(s->kind);
    const double finite[6] = { s->centre.x, s->centre.y, s->centre.z, s->turn.x, s->turn.y, s->turn.z };
    if (!name) TSR_FAIL(TSR_ERROR_ARGUMENT, "shape: kind is %d, expected SPHERE to ELLIPSOID", (int)s->kind);
    for (int i = 0; i < 6; i++)
        if (!isfinite(finite[i])) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %s is not finite", name, i < 3 ? "centre" : "turn");
    if (!(s->shell >= 0 && s->shell < 1e12)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: shell is %g, expected 0 or a thickness", name, s->shell);
    if (s->kind == TSR_SHAPE_BOX || s->kind == TSR_SHAPE_ELLIPSOID) {
        TSR_TRY(positive(name, "half.x", s->half.x));
        TSR_TRY(positive(name, "half.y", s->half.y));
        TSR_TRY(positive(name, "half.z", s->half.z));
        if (s->kind == TSR_SHAPE_BOX && !(s->radius >= 0 && s->radius <= fmin(s->half.x, fmin(s->half.y, s->half.z))))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "box: radius of the edges is %g, expected 0 to the smallest half extent", s->radius);
        return TSR_OK;
    }
    TSR_TRY(positive(name, "radius", s->radius));
    if (s->kind == TSR_SHAPE_TORUS) TSR_TRY(positive(name, "minor", s->minor));
    if (s->kind == TSR_SHAPE_CYLINDER || s->kind == TSR_SHAPE_CAPSULE) TSR_TRY(positive(name, "half.z", s->half.z));
    return TSR_OK;
}

void tsr_csg_rotation(tsr_vec3 axis, double angle, double m[9])
{
    double length = sqrt(axis.x * axis.x + axis.y * axis.y + axis.z * axis.z), c = cos(angle), s = sin(angle), t = 1 - c;
    double x = length > 0 ? axis.x / length : 0, y = length > 0 ? axis.y / length : 0, z = length > 0 ? axis.z / length : 0;
    if (!(length > 0)) c = 1, s = 0, t = 0;
    const double r[9] = { t * x * x + c,     t * x * y - s * z, t * x * z + s * y, t * x * y + s * z, t * y * y + c,
                          t * y * z - s * x, t * x * z - s * y, t * y * z + s * x, t * z * z + c };
    memcpy(m, r, sizeof r);
}

/* The primitive as kernels see it, and how far its surface reaches from the centre. */
static void make_shape(const tsr_shape *s, tsr_csg_shape *made, double *reach)
{
    double m[9];
    tsr_csg_rotation(s->turn, sqrt(s->turn.x * s->turn.x + s->turn.y * s->turn.y + s->turn.z * s->turn.z), m);
    *made = (tsr_csg_shape){ .kind = (int32_t)s->kind,
                             .centre = { (float)s->centre.x, (float)s->centre.y, (float)s->centre.z },
                             .half = { (float)s->half.x, (float)s->half.y, (float)s->half.z },
                             .radius = (float)s->radius,
                             .minor = (float)s->minor,
                             .shell = (float)s->shell };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) made->frame[3 * i + j] = (float)m[3 * j + i]; /* the inverse */
    double extent = sqrt(s->half.x * s->half.x + s->half.y * s->half.y + s->half.z * s->half.z);
    if (s->kind == TSR_SHAPE_SPHERE || s->kind == TSR_SHAPE_TORUS) extent = s->radius + (s->kind == TSR_SHAPE_TORUS ? s->minor : 0);
    else if (s->kind == TSR_SHAPE_CYLINDER || s->kind == TSR_SHAPE_CAPSULE) extent = s->half.z + s->radius;
    *reach = extent + 0.5 * s->shell;
}

/* ---- tiles that a surface meets ----------------------------------------------------------------------------------------------------------------- */

static float least_distance(const void *surface, const float x[3]) { return tsr_csg_least_distance((const tsr_csg_shape *)surface, x); }

/* The tiles that may hold a voxel within `reach` of the shape's centre. */
static tsr_status box_of_shape(tsr_tile_search *s, const tsr_csg_shape *shape, double reach)
{
    const tsr_tile_pool *pool = &s->list->pool;
    for (int k = 0; k < 3; k++) {
        double h = (double)pool->spacing[k] * (double)(1 << pool->log2_edge), c = (double)shape->centre[k], r = reach + (double)s->reach + h;
        double a = floor((c - r) / h), b = floor((c + r) / h) + 1;
        if (!(a > -TSR_KEY_BIAS + 1 && b < TSR_KEY_BIAS - 2))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: reaches from tile %.0f to %.0f along %c, expected %d to %d", s->name, a, b, "xyz"[k], -TSR_KEY_BIAS + 1,
                     TSR_KEY_BIAS - 2);
        s->first[k] = (int64_t)a;
        s->last[k] = (int64_t)b;
    }
    return TSR_OK;
}

struct borders {
    const tsr_tile_search *search;
    const tsr_csg_shape *shape;
    uint32_t *words; /* of the keys */
};

/* The border words: which neighbours of a tile lie inside. */
static void mark_borders(void *user, int64_t begin, int64_t end, int worker)
{
    const struct borders *b = (const struct borders *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const uint64_t key = b->search->keys[i];
        uint32_t word = 0;
        for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
            const int64_t at[3] = { tsr_key_x(key) + tsr_direction_x(d), tsr_key_y(key) + tsr_direction_y(d), tsr_key_z(key) + tsr_direction_z(d) };
            float x[3];
            tsr_tiles_middle(&b->search->list->pool, at, 0, x);
            word |= (uint32_t)(tsr_csg_distance(b->shape, x) < 0) << d;
        }
        b->words[i] = word;
    }
}

static tsr_status fill_list(const tsr_tile_search *s, const tsr_csg_shape *shape, const uint32_t *words, tsr_tiles *tiles)
{
    tsr_context *context = tiles->context;
    tsr_csg_work work;
    size_t n = (size_t)s->count;
    if (n == 0) return TSR_OK;
    TSR_TRY(tsr_tiles_reserve(tiles, s->count + s->count / 8 + TSR_TILE_FIRST + 32));
    TSR_TRY(context->backend->tiles->clear(context->queue, &tiles->pool, TSR_TILE_OUTSIDE)); /* ids in order again after growing */
    TSR_TRY(tsr_tiles_place_box(tiles, s->keys, s->count, "shape"));
    TSR_TRY(tsr_csg_work_take(context, s->count, 0, &work));
    work.args.shape = *shape;
    tsr_status status = context->backend->upload(context->queue, work.args.keys, s->keys, n * sizeof *s->keys);
    if (status == TSR_OK) status = context->backend->upload(context->queue, work.args.words, words, n * sizeof *words);
    if (status == TSR_OK) status = tsr_csg_link(&work, tiles);
    if (status == TSR_OK) status = tsr_csg_run(&work, TSR_CSG_shape_kernel, s->count);
    if (status == TSR_OK) status = tsr_csg_finish(tiles);
    tsr_csg_work_drop(&work);
    return status;
}

static tsr_status fill_shape(const tsr_shape *shape, tsr_tiles *tiles)
{
    const int threads = tiles->context->threads;
    tsr_csg_shape made;
    double reach;
    make_shape(shape, &made, &reach);
    const tsr_tile_pool *pool = &tiles->pool;
    float widest = tsr_maxf(pool->spacing[0], tsr_maxf(pool->spacing[1], pool->spacing[2]));
    tsr_tile_search s = {
        .list = tiles, .name = tsr_shape_name(shape->kind), .surface = &made, .least = least_distance, .reach = pool->band + widest
    };
    TSR_TRY(box_of_shape(&s, &made, reach));
    tsr_status status = tsr_search_tiles(&s, threads);
    struct borders b = { &s, &made, (uint32_t *)malloc((size_t)tsr_max64(s.count, 1) * sizeof *b.words) };
    if (status == TSR_OK && !b.words) status = TSR_FAILED(TSR_ERROR_MEMORY, "%s: out of memory for %lld tiles", s.name, (long long)s.count);
    if (status == TSR_OK) tsr_parallel(threads, s.count, 1024, mark_borders, &b);
    if (status == TSR_OK) status = fill_list(&s, &made, b.words, tiles);
    free(s.keys);
    free(b.words);
    return status;
}

tsr_status tsr_tiles_shape(tsr_context *context, const tsr_geometry *geometry, const tsr_tiles_options *options, const tsr_shape *shape,
                           tsr_tiles **tiles)
{
    TSR_RETURNS(tiles);
    TSR_NEEDS(shape);
    TSR_TRY(check_shape(shape));
    TSR_TRY(tsr_tiles_create(context, geometry, options, tiles));
    tsr_status status = tsr_csg_require(*tiles, tsr_shape_name(shape->kind));
    if (status == TSR_OK) status = fill_shape(shape, *tiles);
    if (status != TSR_OK) tsr_tiles_destroy(tiles);
    return status;
}

/* ---- the animal ------------------------------------------------------------------------------------------------------------------------------------ */

/* A limb from a to b in units of the animal's length. */
static tsr_shape limb(const double a[3], const double b[3], double radius)
{
    double d[3] = { b[0] - a[0], b[1] - a[1], b[2] - a[2] }, length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    double across = sqrt(d[0] * d[0] + d[1] * d[1]), angle = atan2(across, d[2]);
    tsr_shape s = { .kind = TSR_SHAPE_CAPSULE, .radius = radius, .half = { 0, 0, 0.5 * length } };
    s.centre = (tsr_vec3){ 0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2]) };
    if (across > 0) s.turn = (tsr_vec3){ -d[1] / across * angle, d[0] / across * angle, 0 };
    return s;
}

static tsr_status blend_in(tsr_tiles **all, const tsr_shape *part, tsr_vec3 centre, double size, double radius)
{
    tsr_shape s = *part;
    tsr_tiles *added = NULL, *joined = NULL;
    s.centre = (tsr_vec3){ centre.x + size * s.centre.x, centre.y + size * s.centre.y, centre.z + size * s.centre.z };
    s.half = (tsr_vec3){ size * s.half.x, size * s.half.y, size * s.half.z };
    s.radius *= size;
    if (!(*all)) TSR_FAIL(TSR_ERROR_INTERNAL, "animal without a body");
    TSR_TRY(tsr_csg_create_like(*all, 0, 0, &added));
    tsr_status status = fill_shape(&s, added);
    if (status == TSR_OK) status = tsr_tiles_combine(*all, added, radius > 0 ? TSR_CSG_BLEND : TSR_CSG_UNION, radius, &joined);
    tsr_tiles_destroy(&added);
    if (status != TSR_OK) return status;
    tsr_tiles_destroy(all);
    *all = joined;
    return TSR_OK;
}

static tsr_status change_band(tsr_tiles **tiles, double band)
{
    tsr_tiles *made = NULL;
    if (band == (double)(*tiles)->pool.band) return TSR_OK;
    TSR_TRY(tsr_csg_with_band(*tiles, band, &made));
    tsr_tiles_destroy(tiles);
    *tiles = made;
    return TSR_OK;
}

tsr_status tsr_tiles_animal(tsr_context *context, const tsr_geometry *geometry, const tsr_tiles_options *options, tsr_vec3 centre, double size,
                            tsr_tiles **tiles)
{
    TSR_RETURNS(tiles);
    TSR_NEEDS(context);
    TSR_TRY(positive("animal", "size", size));
    const tsr_shape parts[] = {
        { .kind = TSR_SHAPE_ELLIPSOID, .half = { 0.30, 0.14, 0.15 } },
        limb((const double[3]){ 0.20, 0, 0.05 }, (const double[3]){ 0.34, 0, 0.28 }, 0.065),
        { .kind = TSR_SHAPE_ELLIPSOID, .centre = { 0.40, 0, 0.32 }, .half = { 0.12, 0.075, 0.08 } },
        { .kind = TSR_SHAPE_ELLIPSOID, .centre = { 0.35, 0.06, 0.40 }, .half = { 0.025, 0.03, 0.06 } },
        { .kind = TSR_SHAPE_ELLIPSOID, .centre = { 0.35, -0.06, 0.40 }, .half = { 0.025, 0.03, 0.06 } },
        limb((const double[3]){ 0.18, 0.09, -0.05 }, (const double[3]){ 0.20, 0.10, -0.33 }, 0.05),
        limb((const double[3]){ 0.18, -0.09, -0.05 }, (const double[3]){ 0.20, -0.10, -0.33 }, 0.05),
        limb((const double[3]){ -0.18, 0.09, -0.05 }, (const double[3]){ -0.20, 0.10, -0.33 }, 0.05),
        limb((const double[3]){ -0.18, -0.09, -0.05 }, (const double[3]){ -0.20, -0.10, -0.33 }, 0.05),
        limb((const double[3]){ -0.27, 0, 0.05 }, (const double[3]){ -0.46, 0, 0.18 }, 0.03),
    };
    tsr_tiles *all = NULL;
    TSR_TRY(tsr_tiles_create(context, geometry, options, &all));
    tsr_status status = tsr_csg_require(all, "animal");
    /* a blend needs a band of its radius: the animal is the same whatever the band of the result; beyond 16 voxels the tiles would be many */
    const double band = (double)all->pool.band;
    const double radius = (double)(float)fmin(0.05 * size, 16 * tsr_list_smallest_spacing(all));
    if (status == TSR_OK) status = change_band(&all, fmax(band, radius));
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == TSR_OK; i++) status = blend_in(&all, &parts[i], centre, size, i ? radius : 0);
    if (status == TSR_OK) status = change_band(&all, band);
    if (status == TSR_OK) status = tsr_list_make_distance(all, NULL); /* within a fillet and beside it the blend is none */
    if (status == TSR_OK) status = tsr_csg_merge_lists(all, 0, NULL, 0, TSR_CSG_FIRST, 0, tiles);
    tsr_tiles_destroy(&all);
    return status;
}
