/* Planes of a volume file for callers: tessera/planes.h over formats/pieces.h. */
#include "tessera/planes.h"

#include "formats/pieces.h"

#include <math.h>
#include <stdlib.h>

enum { UNPACKED_BYTES = 256 << 20, SLAB_BYTES = 64 << 20 };

struct tsr_planes {
    tsr_pieces *pieces;
    int64_t slab; /* planes of tsr_planes_statistics at once */
};

tsr_status tsr_planes_open(const char *path, const tsr_read_options *options, tsr_planes **planes)
{
    TSR_RETURNS(planes);
    tsr_read_options own;
    TSR_NEEDS(path);
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    if (own.memory_limit < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "memory_limit is %lld, expected 0 or more bytes", (long long)own.memory_limit);
    if (!own.memory_limit) own.memory_limit = UNPACKED_BYTES;
    tsr_planes *p = (tsr_planes *)calloc(1, sizeof *p);
    tsr_status status = p ? TSR_OK : TSR_FAILED(TSR_ERROR_MEMORY, "%s: out of memory", path);
    if (status == TSR_OK) status = tsr_pieces_open(path, &own, "-", &p->pieces);
    if (status != TSR_OK) {
        free(p);
        return status;
    }
    const tsr_volume *v = p->pieces->header;
    const int64_t plane = v->size.x * v->size.y * (int64_t)tsr_dtype_size(v->dtype);
    p->slab = tsr_max64(1, tsr_min64(v->size.z, tsr_min64(SLAB_BYTES, own.memory_limit / 4) / plane));
    *planes = p;
    return TSR_OK;
}

void tsr_planes_close(tsr_planes **planes)
{
    if (!planes || !*planes) return;
    tsr_pieces_close(&(*planes)->pieces);
    free(*planes);
    *planes = NULL;
}

tsr_status tsr_planes_describe(const tsr_planes *planes, tsr_planes_info *info)
{
    TSR_NEEDS(planes, info);
    const tsr_volume *v = planes->pieces->header;
    const tsr_planes_info found = { .size = v->size, .dtype = v->dtype, .slope = v->slope, .intercept = v->intercept, .geometry = v->geometry };
    return TSR_STRUCT_GIVE(info, &found);
}

tsr_status tsr_planes_read(tsr_planes *planes, int64_t begin, int64_t end, void *samples)
{
    TSR_NEEDS(planes, samples);
    const tsr_size3 n = planes->pieces->header->size;
    if (begin < 0 || end < begin || end > n.z)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "planes %lld to %lld, expected a range within 0 to %lld", (long long)begin, (long long)end, (long long)n.z);
    TSR_TRY(planes->pieces->feed.read(planes->pieces->feed.user, begin * n.x * n.y, (end - begin) * n.x * n.y, samples));
    return TSR_OK;
}

static tsr_status read_planes(void *user, int64_t begin, int64_t end, void *samples)
{
    return tsr_planes_read((tsr_planes *)user, begin, end, samples);
}

tsr_status tsr_planes_as_source(tsr_planes *planes, tsr_planes_source *source)
{
    TSR_NEEDS(planes, source);
    const tsr_volume *v = planes->pieces->header;
    const tsr_planes_source found = { .size = v->size,
                                      .dtype = v->dtype,
                                      .slope = v->slope,
                                      .intercept = v->intercept,
                                      .geometry = &v->geometry,
                                      .planes = read_planes,
                                      .user = planes };
    return TSR_STRUCT_GIVE(source, &found);
}

/* Two parts become one: means and sums of squares about them (Chan, Golub, LeVeque 1983). `offset`: voxels in front of the second. */
static void join(tsr_statistics *all, const tsr_statistics *part, int64_t offset)
{
    if (all->first_nonfinite < 0 && part->first_nonfinite >= 0) all->first_nonfinite = offset + part->first_nonfinite;
    all->nan_count += part->nan_count;
    all->infinite_count += part->infinite_count;
    if (!part->count) return;
    const double a = (double)all->count, b = (double)part->count, apart = part->mean - (all->count ? all->mean : 0);
    const double squares =
        (all->count > 1 ? all->variance * (a - 1) : 0) + part->variance * (b - 1) + (all->count ? apart * apart * a * b / (a + b) : 0);
    all->minimum = all->count ? fmin(all->minimum, part->minimum) : part->minimum;
    all->maximum = all->count ? fmax(all->maximum, part->maximum) : part->maximum;
    all->sum += part->sum;
    all->count += part->count;
    all->mean = all->sum / (double)all->count;
    all->variance = all->count > 1 ? squares / (double)(all->count - 1) : 0;
}

static tsr_status add_slab(tsr_context *context, tsr_planes *planes, int64_t begin, int64_t end, void *samples, tsr_statistics *all)
{
    const tsr_volume *v = planes->pieces->header;
    tsr_statistics part = TSR_STATISTICS;
    tsr_volume *slab = NULL, *there = NULL;
    tsr_status status;
    TSR_TRY(tsr_planes_read(planes, begin, end, samples));
    TSR_TRY(tsr_volume_wrap(NULL, v->dtype, (tsr_size3){ v->size.x, v->size.y, end - begin }, NULL, samples, NULL, NULL, &slab));
    TSR_TRY_GOTO(tsr_volume_set_scaling(slab, v->slope, v->intercept), done);
    if (tsr_context_device(context).kind != TSR_DEVICE_CPU) TSR_TRY_GOTO(tsr_volume_copy(slab, context, &there), done);
    TSR_TRY_GOTO(tsr_volume_statistics(context, there ? there : slab, &part), done);
    join(all, &part, begin * v->size.x * v->size.y);
done:
    tsr_volume_destroy(&there);
    tsr_volume_destroy(&slab);
    return status;
}

tsr_status tsr_planes_statistics(tsr_context *context, tsr_planes *planes, tsr_statistics *statistics)
{
    TSR_NEEDS(context, planes, statistics);
    const tsr_volume *v = planes->pieces->header;
    tsr_statistics all = { .minimum = (double)NAN, .maximum = (double)NAN, .mean = (double)NAN, .first_nonfinite = -1 };
    const int64_t slab = planes->slab;
    tsr_status status = TSR_OK;
    void *samples = malloc((size_t)(slab * v->size.x * v->size.y) * tsr_dtype_size(v->dtype));
    if (!samples) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for %lld planes", (long long)slab);
    for (int64_t z = 0; z < v->size.z && status == TSR_OK; z += slab) {
        status = tsr_progress_report(&planes->pieces->options.progress, (double)z / (double)v->size.z, "statistics")
                     ? TSR_FAILED(TSR_ERROR_CANCELLED, "cancelled during statistics")
                     : add_slab(context, planes, z, tsr_min64(z + slab, v->size.z), samples, &all);
    }
    free(samples);
    TSR_TRY(status);
    return TSR_STRUCT_GIVE(statistics, &all);
}
