/* volume/compare.c: overlap and surface distances of masks, differences of volumes. */
#include "tessera/compare.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "volume/compare.h"
#include "volume/surface_distances.h"
#include "volume/volume.h"
#include "tessera/distance.h"

/* ---- are the two comparable? ---- */

tsr_status tsr_compare_check(tsr_context *context, const tsr_volume *a, const tsr_volume *b, const tsr_compare_options *options)
{
    TSR_TRY(tsr_volume_require(context, a, "the first volume"));
    TSR_TRY(tsr_volume_require(context, b, "the reference"));
    if (context->device.kind != TSR_DEVICE_CPU)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "compare: the context is on %s, expected a CPU context and host volumes",
                 tsr_device_kind_name(context->device.kind));
    if (a->size.x != b->size.x || a->size.y != b->size.y || a->size.z != b->size.z)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "compare: the extents differ: %lld x %lld x %lld and %lld x %lld x %lld", (long long)a->size.x,
                 (long long)a->size.y, (long long)a->size.z, (long long)b->size.x, (long long)b->size.y, (long long)b->size.z);
    if (options->ignore_geometry) return TSR_OK;
    static const char *const spaces[] = { "none", "RAS", "LPS" };
    if ((a->geometry.space == TSR_SPACE_NONE) != (b->geometry.space == TSR_SPACE_NONE))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "compare: the spaces differ: %s and %s; options.ignore_geometry compares by index", spaces[a->geometry.space],
                 spaces[b->geometry.space]);
    const double unit = tsr_volume_unit(a), other = tsr_volume_unit(b);
    if ((unit > 0 ? unit : 1) != (other > 0 ? other : 1))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "compare: lengths are in %s and in %s, expected the same unit; options.ignore_geometry compares by index",
                 unit > 0 ? tsr_volume_unit_name(a) : "mm", other > 0 ? tsr_volume_unit_name(b) : "mm");
    TSR_TRY(tsr_geometry_require_same(&a->geometry, &b->geometry, "compare", "options.ignore_geometry compares by index"));
    return TSR_OK;
}

tsr_status tsr_compare_check_distances(const tsr_volume *mask, const tsr_compare_options *options)
{
    if (options->skip_distances) return TSR_OK;
    return tsr_geometry_check_perpendicular(&mask->geometry, "compare: the distances (options.skip_distances leaves them out)");
}

/* ---- masks: counts ---- */

/* Counts and bounding box of one slice; slices are added in order. */
typedef struct slice_counts {
    int64_t inside[2], both;
    int64_t lower[2], upper[2]; /* x and y, of the union; upper exclusive */
} slice_counts;

struct mask_pair {
    const tsr_volume *mask[2];
    slice_counts *slices;
};

static void count_slices(void *user, int64_t begin, int64_t end, int worker)
{
    const struct mask_pair *pair = (const struct mask_pair *)user;
    tsr_size3 n = pair->mask[0]->size;
    (void)worker;
    for (int64_t z = begin; z < end; z++) {
        slice_counts s = { { 0, 0 }, 0, { n.x, n.y }, { 0, 0 } };
        for (int64_t y = 0; y < n.y; y++)
            for (int64_t x = 0; x < n.x; x++) {
                int64_t v = (z * n.y + y) * n.x + x;
                int a = tsr_distance_inside(pair->mask[0]->data, pair->mask[0]->dtype, v);
                int b = tsr_distance_inside(pair->mask[1]->data, pair->mask[1]->dtype, v);
                if (!(a | b)) continue;
                s.inside[0] += a;
                s.inside[1] += b;
                s.both += a & b;
                s.lower[0] = tsr_min64(s.lower[0], x);
                s.lower[1] = tsr_min64(s.lower[1], y);
                s.upper[0] = tsr_max64(s.upper[0], x + 1);
                s.upper[1] = tsr_max64(s.upper[1], y + 1);
            }
        pair->slices[z] = s;
    }
}

/* ---- masks: surfaces ---- */

/* The surface voxels of a mask within the box of both masks, as bytes. */
struct surface {
    const tsr_mask_rule *mask;
    tsr_size3 lower, size;
    uint8_t *on;
};

static int inside_at(const tsr_mask_rule *m, int64_t x, int64_t y, int64_t z)
{
    const tsr_size3 n = m->volume->size;
    if (x < 0 || y < 0 || z < 0 || x >= n.x || y >= n.y || z >= n.z) return 0;
    return tsr_mask_inside(m, (z * n.y + y) * n.x + x);
}

static void mark_surface(void *user, int64_t begin, int64_t end, int worker)
{
    const struct surface *s = (const struct surface *)user;
    (void)worker;
    for (int64_t k = begin; k < end; k++)
        for (int64_t j = 0; j < s->size.y; j++)
            for (int64_t i = 0; i < s->size.x; i++) {
                int64_t x = s->lower.x + i, y = s->lower.y + j, z = s->lower.z + k;
                s->on[(k * s->size.y + j) * s->size.x + i] =
                    inside_at(s->mask, x, y, z) &&
                    !(inside_at(s->mask, x - 1, y, z) && inside_at(s->mask, x + 1, y, z) && inside_at(s->mask, x, y - 1, z) &&
                      inside_at(s->mask, x, y + 1, z) && inside_at(s->mask, x, y, z - 1) && inside_at(s->mask, x, y, z + 1));
            }
}

static int64_t count_bytes(const uint8_t *bytes, int64_t count)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++) sum += bytes[i];
    return sum;
}

/* Distances from the voxels of `from` to those of `to`; *values RETURNS NEW, one per voxel of `from` in order. */
static tsr_status directed(tsr_context *context, const tsr_volume *from, int64_t count, const tsr_volume *to, float **values)
{
    tsr_distance_options options = TSR_DISTANCE_OPTIONS;
    tsr_volume *distance = NULL;
    options.mode = TSR_DISTANCE_TO_MASK;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)count * sizeof(float), (void **)values));
    TSR_TRY(tsr_distance_transform(context, to, &options, &distance));
    const uint8_t *on = (const uint8_t *)from->data;
    const float *all = (const float *)distance->data;
    float *next = *values;
    for (int64_t i = 0, n = tsr_volume_count(from); i < n; i++)
        if (on[i]) *next++ = all[i];
    tsr_volume_destroy(&distance);
    return TSR_OK;
}

static tsr_status surface_distances(tsr_context *context, const tsr_mask_rule mask[2], tsr_size3 lower, tsr_size3 size, tsr_mask_comparison *c)
{
    tsr_volume *surface[2] = { NULL, NULL };
    float *values[2] = { NULL, NULL };
    int64_t count[2] = { 0, 0 };
    tsr_status status = TSR_OK;
    for (int i = 0; i < 2; i++) {
        TSR_TRY_GOTO(tsr_volume_create(context, TSR_U8, size, &mask[i].volume->geometry, &surface[i]), done);
        struct surface s = { &mask[i], lower, size, (uint8_t *)surface[i]->data };
        tsr_parallel(context->threads, size.z, 1, mark_surface, &s);
        count[i] = count_bytes(s.on, tsr_volume_count(surface[i]));
    }
    for (int i = 0; i < 2; i++) TSR_TRY_GOTO(directed(context, surface[i], count[i], surface[1 - i], &values[i]), done);
    c->surface_voxels = count[0];
    c->surface_voxels_reference = count[1];
    tsr_surface_distances_summarise(values[0], count[0], values[1], count[1], &c->distances);
done:
    for (int i = 0; i < 2; i++) {
        if (values[i]) tsr_host_release(NULL, values[i], (size_t)count[i] * sizeof(float));
        tsr_volume_destroy(&surface[i]);
    }
    return status;
}

static double ratio(int64_t part, int64_t whole) { return whole ? (double)part / (double)whole : (double)NAN; }

tsr_status tsr_compare_finish(tsr_context *context, const tsr_mask_rule mask[2], tsr_size3 lower, tsr_size3 upper, int skip_distances,
                              tsr_mask_comparison *c)
{
    const int64_t either = c->inside + c->inside_reference - c->inside_both, outside_reference = c->voxels - c->inside_reference;
    c->dice = either ? ratio(2 * c->inside_both, c->inside + c->inside_reference) : 1;
    c->jaccard = either ? ratio(c->inside_both, either) : 1;
    c->sensitivity = ratio(c->inside_both, c->inside_reference);
    c->specificity = ratio(c->voxels - either, outside_reference);
    c->total_correct = ratio(c->voxels - either + c->inside_both, c->voxels);
    c->volume = (double)c->inside * fabs(tsr_geometry_determinant(&mask[0].volume->geometry));
    c->volume_reference = (double)c->inside_reference * fabs(tsr_geometry_determinant(&mask[1].volume->geometry));
    c->volume_error = c->volume_reference > 0 ? (c->volume - c->volume_reference) / c->volume_reference : (double)NAN;
    if (skip_distances || !either) return TSR_OK;
    const tsr_size3 size = { upper.x - lower.x, upper.y - lower.y, upper.z - lower.z };
    if (!c->inside || !c->inside_reference) c->distances = (tsr_surface_distances){ INFINITY, INFINITY, INFINITY };
    else TSR_TRY(surface_distances(context, mask, lower, size, c));
    return TSR_OK;
}

tsr_status tsr_compare_masks(tsr_context *context, const tsr_volume *mask, const tsr_volume *reference, const tsr_compare_options *options,
                             tsr_mask_comparison *comparison)
{
    TSR_NEEDS(context, mask, comparison);
    tsr_compare_options own = TSR_COMPARE_OPTIONS;
    tsr_mask_comparison c = TSR_MASK_COMPARISON;
    TSR_TRY(TSR_STRUCT_GIVE(comparison, &c));
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(tsr_compare_check(context, mask, reference, &own));
    TSR_TRY(tsr_compare_check_distances(mask, &own));
    struct mask_pair pair = { { mask, reference }, NULL };
    size_t bytes = (size_t)mask->size.z * sizeof *pair.slices;
    TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&pair.slices));
    tsr_parallel(context->threads, mask->size.z, 1, count_slices, &pair);
    c.voxels = tsr_volume_count(mask);
    tsr_size3 lower = mask->size, upper = { 0, 0, 0 };
    for (int64_t z = 0; z < mask->size.z; z++) {
        const slice_counts *s = &pair.slices[z];
        if (!s->inside[0] && !s->inside[1]) continue;
        c.inside += s->inside[0];
        c.inside_reference += s->inside[1];
        c.inside_both += s->both;
        lower = (tsr_size3){ tsr_min64(lower.x, s->lower[0]), tsr_min64(lower.y, s->lower[1]), tsr_min64(lower.z, z) };
        upper = (tsr_size3){ tsr_max64(upper.x, s->upper[0]), tsr_max64(upper.y, s->upper[1]), z + 1 };
    }
    tsr_host_release(NULL, pair.slices, bytes);
    const tsr_mask_rule rules[2] = { { .volume = mask }, { .volume = reference } };
    TSR_TRY(tsr_compare_finish(context, rules, lower, upper, own.skip_distances, &c));
    return TSR_STRUCT_GIVE(comparison, &c);
}

/* ---- volumes ---- */

typedef struct slice_difference {
    int64_t different, not_a_number, worst;
    double maximum, squares;
} slice_difference;

struct volume_pair {
    const tsr_volume *volume[2];
    double tolerance;
    slice_difference *slices;
};

static double real_value(const tsr_volume *v, int64_t i) { return tsr_voxel_load(v->data, v->dtype, i) * v->slope + v->intercept; }

static void compare_slices(void *user, int64_t begin, int64_t end, int worker)
{
    const struct volume_pair *pair = (const struct volume_pair *)user;
    int64_t plane = pair->volume[0]->size.x * pair->volume[0]->size.y;
    (void)worker;
    for (int64_t z = begin; z < end; z++) {
        slice_difference s = { 0, 0, z * plane, 0, 0 };
        for (int64_t i = z * plane; i < (z + 1) * plane; i++) {
            double a = real_value(pair->volume[0], i), b = real_value(pair->volume[1], i);
            if (a == b || (isnan(a) && isnan(b))) continue;
            if (isnan(a) || isnan(b)) {
                s.different++;
                s.not_a_number++;
                continue;
            }
            double difference = fabs(a - b);
            s.squares += difference * difference;
            s.different += difference > pair->tolerance;
            if (difference > s.maximum) {
                s.maximum = difference;
                s.worst = i;
            }
        }
        pair->slices[z] = s;
    }
}

tsr_status tsr_compare_volumes(tsr_context *context, const tsr_volume *volume, const tsr_volume *reference, const tsr_compare_options *options,
                               tsr_volume_comparison *comparison)
{
    TSR_NEEDS(context, volume, reference, comparison);
    tsr_compare_options own = TSR_COMPARE_OPTIONS;
    tsr_volume_comparison c = TSR_VOLUME_COMPARISON;
    TSR_TRY(TSR_STRUCT_GIVE(comparison, &c));
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(tsr_compare_check(context, volume, reference, &own));
    if (!(own.tolerance >= 0)) TSR_FAIL(TSR_ERROR_ARGUMENT, "compare: tolerance is %g, expected 0 or more", own.tolerance);
    struct volume_pair pair = { { volume, reference }, own.tolerance, NULL };
    size_t bytes = (size_t)volume->size.z * sizeof *pair.slices;
    TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&pair.slices));
    tsr_parallel(context->threads, volume->size.z, 1, compare_slices, &pair);
    c.voxels = tsr_volume_count(volume);
    double squares = 0;
    int64_t worst = 0;
    for (int64_t z = 0; z < volume->size.z; z++) {
        const slice_difference *s = &pair.slices[z];
        c.different += s->different;
        c.not_a_number += s->not_a_number;
        squares += s->squares;
        if (s->maximum > c.maximum) {
            c.maximum = s->maximum;
            worst = s->worst;
        }
    }
    tsr_host_release(NULL, pair.slices, bytes);
    c.worst = (tsr_size3){ worst % volume->size.x, worst / volume->size.x % volume->size.y, worst / (volume->size.x * volume->size.y) };
    if (c.voxels > c.not_a_number) c.rms = sqrt(squares / (double)(c.voxels - c.not_a_number));
    return TSR_STRUCT_GIVE(comparison, &c);
}
