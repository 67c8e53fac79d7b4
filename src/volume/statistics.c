/* volume/statistics.c: host logic of tessera/filter.h: statistics, histogram, arithmetic, masks and connected components. */
#include <math.h>
#include <string.h>

#include "volume/volume.h"
#include "tessera/filter.h"

/* Extents must agree for voxel-by-voxel work. */
static int same_size(const tsr_volume *a, const tsr_volume *b) { return a->size.x == b->size.x && a->size.y == b->size.y && a->size.z == b->size.z; }

/* ---- statistics --------------------------------------------------------------------------------------------------------------- */

/* Blocks i and i + stride meet, stride 1, 2, 4, ...: the same tree whatever made the blocks. */
static void merge_blocks(tsr_block_statistics *blocks, int64_t count)
{
    for (int64_t stride = 1; stride < count; stride *= 2)
        for (int64_t i = 0; i + stride < count; i += 2 * stride) tsr_statistics_merge(&blocks[i], &blocks[i + stride]);
}

tsr_status tsr_volume_statistics(tsr_context *context, const tsr_volume *volume, tsr_statistics *statistics)
{
    TSR_NEEDS(context, volume, statistics);
    tsr_status status;
    tsr_statistics own = TSR_STATISTICS;
    TSR_TRY(TSR_STRUCT_GIVE(statistics, &own));
    TSR_TRY(tsr_volume_require(context, volume, "volume"));
    int64_t count = tsr_volume_count(volume), blocks = tsr_ceil_div(count, TSR_STATISTICS_BLOCK);
    size_t bytes = (size_t)blocks * sizeof(tsr_block_statistics);
    tsr_source source = tsr_volume_source(volume);
    tsr_block_statistics *host = NULL;
    void *device = NULL;
    TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&host));
    TSR_TRY_GOTO(tsr_device_allocate(context, bytes, &device), done);
    TSR_TRY_GOTO(context->backend->volume->statistics(context->queue, &source, count, (tsr_block_statistics *)device), done);
    TSR_TRY_GOTO(context->backend->download(context->queue, host, device, bytes), done);
    merge_blocks(host, blocks);
    int any = host->count > 0;
    own = (tsr_statistics){ .count = host->count,
                                    .minimum = any ? host->minimum : (double)NAN,
                                    .maximum = any ? host->maximum : (double)NAN,
                                    .mean = any ? host->mean : (double)NAN,
                                    .variance = host->count > 1 ? host->m2 / (double)(host->count - 1) : 0,
                                    .sum = host->mean * (double)host->count,
                                    .nan_count = host->nan_count,
                                    .infinite_count = host->infinite_count,
                                    .first_nonfinite = host->first_nonfinite == TSR_NO_INDEX ? -1 : host->first_nonfinite };
    status = TSR_STRUCT_GIVE(statistics, &own);
done:
    tsr_device_release(context, device, bytes);
    tsr_host_release(NULL, host, bytes);
    return status;
}

static tsr_status find_nonfinite(tsr_context *context, const tsr_volume *volume, uint32_t *bad)
{
    tsr_status status;
    void *device = NULL;
    TSR_TRY(tsr_device_allocate(context, sizeof *bad, &device));
    TSR_TRY_GOTO(context->backend->fill(context->queue, device, 0, sizeof *bad), done);
    TSR_TRY_GOTO(context->backend->volume->find_nonfinite(context->queue, volume->data, volume->dtype, tsr_volume_count(volume), (uint32_t *)device),
                 done);
    TSR_TRY_GOTO(context->backend->download(context->queue, bad, device, sizeof *bad), done);
done:
    tsr_device_release(context, device, sizeof *bad);
    return status;
}

tsr_status tsr_volume_check_finite(tsr_context *context, const tsr_volume *volume, const char *name)
{
    TSR_NEEDS(context, volume, name);
    tsr_statistics s = TSR_STATISTICS;
    uint32_t bad = 0;
    TSR_TRY(tsr_volume_require(context, volume, name));
    if (volume->dtype != TSR_F32 && volume->dtype != TSR_F64) return TSR_OK;
    TSR_TRY(find_nonfinite(context, volume, &bad));
    if (!bad) return TSR_OK;
    TSR_TRY(tsr_volume_statistics(context, volume, &s)); /* where and how many: only for the message */
    TSR_ASSERT(s.first_nonfinite >= 0);
    int64_t i = s.first_nonfinite, nx = volume->size.x, ny = volume->size.y;
    TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %lld voxels are NaN and %lld infinite, the first at (%lld, %lld, %lld); expected finite values", name,
             (long long)s.nan_count, (long long)s.infinite_count, (long long)(i % nx), (long long)(i / nx % ny), (long long)(i / nx / ny));
}

tsr_status tsr_volume_histogram(tsr_context *context, const tsr_volume *volume, double lower, double upper, int32_t bins, int64_t *counts)
{
    TSR_NEEDS(context, volume, counts);
    tsr_status status;
    TSR_TRY(tsr_volume_require(context, volume, "volume"));
    if (bins < 1 || bins > 1 << 24) TSR_FAIL(TSR_ERROR_ARGUMENT, "histogram: %d bins, expected 1 to %d", (int)bins, 1 << 24);
    if (!(lower < upper) || !isfinite(lower) || !isfinite(upper) || !isfinite(upper - lower))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "histogram: range %g to %g, expected finite numbers, lower < upper", lower, upper);
    tsr_histogram_plan plan = { lower, upper, (double)bins / (upper - lower), bins };
    tsr_source source = tsr_volume_source(volume);
    size_t bytes = (size_t)(bins + 3) * sizeof(uint64_t);
    void *device = NULL;
    TSR_TRY(tsr_device_allocate(context, bytes, &device));
    TSR_TRY_GOTO(context->backend->fill(context->queue, device, 0, bytes), done);
    TSR_TRY_GOTO(context->backend->volume->histogram(context->queue, &source, tsr_volume_count(volume), &plan, (uint64_t *)device), done);
    TSR_TRY_GOTO(context->backend->download(context->queue, counts, device, bytes), done);
done:
    tsr_device_release(context, device, bytes);
    return status;
}

/* ---- arithmetic and threshold ------------------------------------------------------------------------------------------------- */

tsr_status tsr_volume_combine(tsr_context *context, tsr_combination combination, double a, const tsr_volume *first, double b,
                              const tsr_volume *second, double c, tsr_volume **combined)
{
    TSR_RETURNS(combined);
    TSR_NEEDS(context, first);
    tsr_status status;
    TSR_TRY(tsr_volume_require(context, first, "first"));
    if ((int)combination < 0 || combination > TSR_COMBINE_MAXIMUM)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "combine: combination %d is not one of tsr_combination", (int)combination);
    if (!second && combination != TSR_COMBINE_LINEAR)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "combine: the second volume is NULL, which only TSR_COMBINE_LINEAR allows");
    if (second) TSR_TRY(tsr_volume_require(context, second, "second"));
    if (second && !same_size(first, second))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "combine: extents %lld x %lld x %lld and %lld x %lld x %lld, expected equal ones", (long long)first->size.x,
                 (long long)first->size.y, (long long)first->size.z, (long long)second->size.x, (long long)second->size.y, (long long)second->size.z);
    TSR_TRY(tsr_volume_create_like(context, first, TSR_F32, first->size, &first->geometry, combined));
    tsr_source p = tsr_volume_source(first), q = second ? tsr_volume_source(second) : p;
    TSR_TRY_GOTO(context->backend->volume->combine(context->queue, combination, a, &p, second ? b : 0, second ? &q : NULL, c,
                                                   (float *)(*combined)->data, tsr_volume_count(first)),
                 fail);
    return TSR_OK;
fail:
    tsr_volume_destroy(combined);
    return status;
}

/* Mask of the stored values in [lower, upper] or elsewhere, as tsr_voxel_selected says. */
static tsr_status select_voxels(tsr_context *context, const tsr_volume *volume, int64_t lower, int64_t upper, int outside, tsr_volume **mask)
{
    tsr_status status;
    TSR_TRY(tsr_volume_create_like(context, volume, TSR_U8, volume->size, &volume->geometry, mask));
    TSR_TRY_GOTO(context->backend->volume->select(context->queue, volume->data, volume->dtype, tsr_volume_count(volume), lower, upper, outside,
                                                  (uint8_t *)(*mask)->data),
                 fail);
    return TSR_OK;
fail:
    tsr_volume_destroy(mask);
    return status;
}

/* The integers of a 64-bit type that lie in [lower, upper]; none: from 1 to 0. */
static void whole_bounds(tsr_dtype dtype, double lower, double upper, int64_t *first, int64_t *last)
{
    const int is_signed = dtype == TSR_I64;
    const double least = is_signed ? -0x1p63 : 0, most = is_signed ? 0x1p63 : 0x1p64; /* from the least to below the most */
    *first = 1;
    *last = 0;
    if (lower >= most || upper < least) return;
    lower = lower > least ? ceil(lower) : least;
    upper = floor(upper);
    if (!(lower <= upper)) return;
    *first = is_signed ? (int64_t)lower : (int64_t)(uint64_t)lower;
    if (upper >= most) *last = is_signed ? INT64_MAX : -1; /* -1: all bits of the largest unsigned number */
    else *last = is_signed ? (int64_t)upper : (int64_t)(uint64_t)upper;
}

tsr_status tsr_volume_threshold_integers(tsr_context *context, const tsr_volume *volume, int64_t lower, int64_t upper, tsr_volume **mask)
{
    TSR_RETURNS(mask);
    TSR_NEEDS(context, volume);
    TSR_TRY(tsr_volume_require(context, volume, "volume"));
    if (volume->dtype == TSR_F32 || volume->dtype == TSR_F64)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "threshold: the volume is %s, expected an integer type", tsr_dtype_name(volume->dtype));
    TSR_TRY(select_voxels(context, volume, lower, upper, 0, mask));
    return TSR_OK;
}

tsr_status tsr_volume_threshold(tsr_context *context, const tsr_volume *volume, double lower, double upper, tsr_volume **mask)
{
    TSR_RETURNS(mask);
    TSR_NEEDS(context, volume);
    tsr_status status;
    TSR_TRY(tsr_volume_require(context, volume, "volume"));
    if (!(lower <= upper)) TSR_FAIL(TSR_ERROR_ARGUMENT, "threshold: interval %g to %g, expected lower <= upper", lower, upper);
    if ((volume->dtype == TSR_I64 || volume->dtype == TSR_U64) && volume->slope == 1 && volume->intercept == 0) {
        int64_t first, last; /* a double holds 53 bits: the values stay integers */
        whole_bounds(volume->dtype, lower, upper, &first, &last);
        TSR_TRY(select_voxels(context, volume, first, last, 0, mask));
        return TSR_OK;
    }
    TSR_TRY(tsr_volume_create_like(context, volume, TSR_U8, volume->size, &volume->geometry, mask));
    tsr_source source = tsr_volume_source(volume);
    TSR_TRY_GOTO(context->backend->volume->threshold(context->queue, &source, tsr_volume_count(volume), lower, upper, (uint8_t *)(*mask)->data),
                 fail);
    return TSR_OK;
fail:
    tsr_volume_destroy(mask);
    return status;
}

/* ---- connected components ----------------------------------------------------------------------------------------------------- */

/* Of a mask of bytes. */
static tsr_status label_bytes(tsr_context *context, const tsr_volume *mask, int32_t connectivity, tsr_volume **labels, int64_t *count)
{
    tsr_status status;
    TSR_TRY(tsr_volume_create_like(context, mask, TSR_U32, mask->size, &mask->geometry, labels));
    const int64_t size[3] = { mask->size.x, mask->size.y, mask->size.z };
    size_t work_bytes = context->backend->volume->components_work(size);
    void *work = NULL, *total = NULL;
    uint32_t found = 0;
    TSR_TRY_GOTO(tsr_device_allocate(context, work_bytes, &work), done);
    TSR_TRY_GOTO(tsr_device_allocate(context, sizeof found, &total), done);
    TSR_TRY_GOTO(context->backend->volume->components(context->queue, (const uint8_t *)mask->data, size, connectivity, (uint32_t *)(*labels)->data,
                                                      work, (uint32_t *)total),
                 done);
    TSR_TRY_GOTO(context->backend->download(context->queue, &found, total, sizeof found), done);
    *count = found;
done:
    tsr_device_release(context, total, sizeof found);
    tsr_device_release(context, work, work_bytes);
    if (status != TSR_OK) tsr_volume_destroy(labels);
    return status;
}

tsr_status tsr_volume_components(tsr_context *context, const tsr_volume *mask, int32_t connectivity, tsr_volume **labels, int64_t *count)
{
    TSR_RETURNS(labels);
    TSR_NEEDS(context, mask, count);
    tsr_volume *bytes = NULL;
    *count = 0;
    TSR_TRY(tsr_volume_require(context, mask, "mask"));
    if (connectivity != 6 && connectivity != 26) TSR_FAIL(TSR_ERROR_ARGUMENT, "components: connectivity %d, expected 6 or 26", (int)connectivity);
    if (mask->dtype != TSR_U8) TSR_TRY(select_voxels(context, mask, 0, 0, 1, &bytes));
    const tsr_status status = label_bytes(context, bytes ? bytes : mask, connectivity, labels, count);
    tsr_volume_destroy(&bytes);
    return status;
}

/* Mask of the labels l with keep[l]; `keep` is host memory of count + 1 bytes. */
static tsr_status select_labels(tsr_context *context, const tsr_volume *labels, const uint8_t *keep, int64_t count, tsr_volume **mask)
{
    tsr_status status;
    void *device = NULL;
    TSR_TRY(tsr_volume_create_like(context, labels, TSR_U8, labels->size, &labels->geometry, mask));
    TSR_TRY_GOTO(tsr_device_allocate(context, (size_t)count + 1, &device), done);
    TSR_TRY_GOTO(context->backend->upload(context->queue, device, keep, (size_t)count + 1), done);
    TSR_TRY_GOTO(context->backend->volume->select_labels(context->queue, (const uint32_t *)labels->data, tsr_volume_count(labels),
                                                         (const uint8_t *)device, (uint8_t *)(*mask)->data),
                 done);
done:
    tsr_device_release(context, device, (size_t)count + 1);
    if (status != TSR_OK) tsr_volume_destroy(mask);
    return status;
}

tsr_status tsr_volume_largest_component(tsr_context *context, const tsr_volume *mask, int32_t connectivity, tsr_volume **largest, int64_t *voxels)
{
    TSR_RETURNS(largest);
    TSR_NEEDS(context);
    tsr_status status;
    tsr_volume *labels = NULL;
    int64_t count = 0, best = 1;
    uint64_t *sizes = NULL;
    void *device = NULL;
    TSR_TRY(tsr_volume_components(context, mask, connectivity, &labels, &count));
    size_t bytes = (size_t)(count + 1) * sizeof *sizes;
    if (!count) TSR_FAIL_GOTO(TSR_ERROR_STATE, done, "largest component: the mask is empty");
    TSR_TRY_GOTO(tsr_host_allocate(NULL, bytes, (void **)&sizes), done);
    TSR_TRY_GOTO(tsr_device_allocate(context, bytes, &device), done);
    TSR_TRY_GOTO(context->backend->fill(context->queue, device, 0, bytes), done);
    TSR_TRY_GOTO(context->backend->volume->label_sizes(context->queue, (const uint32_t *)labels->data, tsr_volume_count(labels), (uint64_t *)device),
                 done);
    TSR_TRY_GOTO(context->backend->download(context->queue, sizes, device, bytes), done);
    for (int64_t i = 2; i <= count; i++)
        if (sizes[i] > sizes[best]) best = i;
    if (voxels) *voxels = (int64_t)sizes[best];
    uint8_t *keep = (uint8_t *)sizes; /* the sizes are read; their memory is large enough */
    memset(keep, 0, (size_t)count + 1);
    keep[best] = 1;
    TSR_TRY_GOTO(select_labels(context, labels, keep, count, largest), done);
done:
    tsr_device_release(context, device, bytes);
    tsr_host_release(NULL, sizes, bytes);
    tsr_volume_destroy(&labels);
    return status;
}

/* keep[l] = 1 for the labels at the seeds. */
static tsr_status seed_labels(tsr_context *context, const tsr_volume *labels, const tsr_size3 *seeds, int32_t seed_count, uint8_t *keep)
{
    for (int32_t i = 0; i < seed_count; i++) {
        uint32_t label;
        const uint32_t *at = (const uint32_t *)labels->data + (seeds[i].z * labels->size.y + seeds[i].y) * labels->size.x + seeds[i].x;
        TSR_TRY(context->backend->download(context->queue, &label, at, sizeof label));
        if (label) keep[label] = 1;
    }
    return TSR_OK;
}

tsr_status tsr_volume_connected_threshold(tsr_context *context, const tsr_volume *volume, double lower, double upper, const tsr_size3 *seeds,
                                          int32_t seed_count, int32_t connectivity, tsr_volume **mask)
{
    TSR_RETURNS(mask);
    TSR_NEEDS(context, volume);
    tsr_status status;
    tsr_volume *inside = NULL, *labels = NULL;
    uint8_t *keep = NULL;
    int64_t count = 0;
    TSR_TRY(tsr_volume_require(context, volume, "volume"));
    if (seed_count < 1 || !seeds) TSR_FAIL(TSR_ERROR_ARGUMENT, "connected threshold: no seed");
    for (int32_t i = 0; i < seed_count; i++) {
        tsr_size3 s = seeds[i], n = volume->size;
        if (s.x < 0 || s.y < 0 || s.z < 0 || s.x >= n.x || s.y >= n.y || s.z >= n.z)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "connected threshold: seed %d at (%lld, %lld, %lld), expected a voxel of a %lld x %lld x %lld volume",
                     (int)i, (long long)s.x, (long long)s.y, (long long)s.z, (long long)n.x, (long long)n.y, (long long)n.z);
    }
    TSR_TRY(tsr_volume_threshold(context, volume, lower, upper, &inside));
    TSR_TRY_GOTO(tsr_volume_components(context, inside, connectivity, &labels, &count), done);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)count + 1, (void **)&keep), done);
    memset(keep, 0, (size_t)count + 1);
    TSR_TRY_GOTO(seed_labels(context, labels, seeds, seed_count, keep), done);
    TSR_TRY_GOTO(select_labels(context, labels, keep, count, mask), done);
done:
    tsr_host_release(NULL, keep, (size_t)count + 1);
    tsr_volume_destroy(&labels);
    tsr_volume_destroy(&inside);
    return status;
}
