#include <math.h>

#include "volume/volume.h"
#include "histopyramid/classes.h"

struct tsr_class_pyramid {
    tsr_context *context;
    tsr_class_options options;
    tsr_classes classes;
    int32_t built;
    void *memory;
    int64_t bytes;
};

/* Bytes of all levels; sets the pointers if there is memory. */
static int64_t place(tsr_classes *t, char *memory)
{
    int64_t at = 0;
    for (int32_t l = TSR_CLASSES_LOWEST; l <= t->top; l++) {
        tsr_classes_level *own = &t->level[l];
        own->columns = (int32_t)(((int64_t)t->width - 1) >> l) + 1;
        own->rows = (int32_t)(((int64_t)t->height - 1) >> l) + 1;
        own->bytes = l <= 3 ? 1 : l <= 7 ? 2 : 4;
        if (memory) own->counts = memory + at;
        at += tsr_ceil_div((int64_t)own->columns * own->rows * t->classes * own->bytes, 256) * 256;
    }
    return at;
}

tsr_status tsr_class_pyramid_create(tsr_context *context, const tsr_class_options *options, tsr_class_pyramid **pyramid)
{
    TSR_RETURNS(pyramid);
    TSR_NEEDS(context);
    tsr_class_options o;
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    if (o.width < 1 || o.height < 1 || o.width > 65535 || o.height > 65535)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "class pyramid: image of %d x %d pixels, expected extents from 1 to 65535", o.width, o.height);
    if (o.classes < 1 || o.classes > (o.bits ? 8 : TSR_CLASSES_MOST))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "class pyramid: %d classes, expected 1 to %d", o.classes, o.bits ? 8 : TSR_CLASSES_MOST);
    if (o.lower == 0 && o.upper == 0) o.upper = 256;
    if (!(o.lower < o.upper) || !isfinite(o.lower) || !isfinite(o.upper))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "class pyramid: range from %g to %g, expected finite numbers and lower < upper", o.lower, o.upper);
    TSR_TRY(tsr_host_allocate(&context->host_allocator, sizeof **pyramid, (void **)pyramid));
    tsr_class_pyramid *p = *pyramid;
    *p = (tsr_class_pyramid){ .context = context, .options = o };
    p->classes = (tsr_classes){ .width = o.width, .height = o.height, .classes = o.classes, .bits = o.bits != 0, .top = TSR_CLASSES_LOWEST };
    while (1 << p->classes.top < o.width || 1 << p->classes.top < o.height) p->classes.top++;
    p->bytes = place(&p->classes, NULL);
    TSR_TRY_GOTO(tsr_device_allocate(context, (size_t)p->bytes, &p->memory), fail);
    place(&p->classes, (char *)p->memory);
    return TSR_OK;
fail:
    tsr_class_pyramid_destroy(pyramid);
    return status;
}

void tsr_class_pyramid_destroy(tsr_class_pyramid **pyramid)
{
    if (!pyramid || !*pyramid) return;
    tsr_class_pyramid *p = *pyramid;
    *pyramid = NULL;
    if (p->memory) tsr_device_release(p->context, p->memory, (size_t)p->bytes);
    tsr_host_release(&p->context->host_allocator, p, sizeof *p);
}

tsr_status tsr_class_pyramid_build(tsr_class_pyramid *pyramid, const tsr_volume *image)
{
    TSR_NEEDS(pyramid, image);
    const tsr_class_options *o = &pyramid->options;
    TSR_TRY(tsr_volume_require(pyramid->context, image, "image"));
    if (image->dtype != TSR_U8 || image->size.x != o->width || image->size.y != o->height || image->size.z != 1)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "class pyramid: image is a %s volume of %lld x %lld x %lld, expected u8 of %d x %d x 1",
                 tsr_dtype_name(image->dtype), (long long)image->size.x, (long long)image->size.y, (long long)image->size.z, o->width, o->height);
    for (int v = 0; v < 256; v++) {
        const double real = v * image->slope + image->intercept, bin = floor((real - o->lower) * (o->classes / (o->upper - o->lower)));
        pyramid->classes.of[v] = real >= o->lower && real < o->upper ? (int16_t)fmin(bin, o->classes - 1) : -1;
    }
    pyramid->classes.image = (const uint8_t *)image->data;
    TSR_TRY(pyramid->context->backend->classes->build(pyramid->context->queue, &pyramid->classes));
    pyramid->built = 1;
    return TSR_OK;
}

int32_t tsr_class_pyramid_top(const tsr_class_pyramid *p) { return p ? p->classes.top : 0; }

static tsr_status require_built(const tsr_class_pyramid *p)
{
    if (!p) TSR_FAIL(TSR_ERROR_ARGUMENT, "class pyramid is NULL");
    if (!p->built) TSR_FAIL(TSR_ERROR_STATE, "class pyramid: nothing was built yet: call tsr_class_pyramid_build first");
    return TSR_OK;
}

tsr_status tsr_class_pyramid_histogram(const tsr_class_pyramid *pyramid, uint64_t *counts)
{
    TSR_NEEDS(pyramid, counts);
    uint32_t raw[TSR_CLASSES_MOST];
    TSR_TRY(require_built(pyramid));
    tsr_classes_level top = pyramid->classes.level[pyramid->classes.top];
    TSR_TRY(pyramid->context->backend->download(pyramid->context->queue, raw, top.counts, (size_t)pyramid->options.classes * (size_t)top.bytes));
    top.counts = raw;
    for (int32_t c = 0; c < pyramid->options.classes; c++) counts[c] = tsr_classes_get(&top, c);
    return TSR_OK;
}

tsr_status tsr_class_pyramid_count(const tsr_class_pyramid *pyramid, const int32_t *boxes, int64_t count, uint64_t *counts)
{
    TSR_NEEDS(pyramid);
    TSR_TRY(require_built(pyramid));
    if (count < 0 || (count && (!boxes || !counts)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "class pyramid: %lld boxes, expected 0 or more and two arrays", (long long)count);
    if (count) TSR_TRY(pyramid->context->backend->classes->count(pyramid->context->queue, &pyramid->classes, boxes, count, counts));
    return TSR_OK;
}

tsr_status tsr_class_pyramid_level(const tsr_class_pyramid *pyramid, int32_t level, int64_t *columns, int64_t *rows, int32_t *bytes,
                                   const void **counts)
{
    TSR_NEEDS(pyramid, columns, rows, bytes);
    TSR_TRY(require_built(pyramid));
    if (level < TSR_CLASSES_LOWEST || level > pyramid->classes.top)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "class pyramid: level %d, expected %d to %d: those below are not stored", level, TSR_CLASSES_LOWEST,
                 pyramid->classes.top);
    const tsr_classes_level *l = &pyramid->classes.level[level];
    *columns = l->columns;
    *rows = l->rows;
    *bytes = l->bytes;
    *counts = l->counts;
    return TSR_OK;
}

/* ---- histograms ----------------------------------------------------------------------------------------------------------------------------- */

void tsr_histogram_cumulative(const uint64_t *counts, int32_t bins, uint64_t *sums)
{
    uint64_t sum = 0;
    for (int32_t b = 0; b < bins; b++) sums[b] = sum += counts[b];
}

int32_t tsr_histogram_percentile(const uint64_t *counts, int32_t bins, double share)
{
    uint64_t total = 0, sum = 0;
    for (int32_t b = 0; b < bins; b++) total += counts[b];
    for (int32_t b = 0; b < bins && total; b++) {
        sum += counts[b];
        if (sum && (double)sum >= share * (double)total) return b;
    }
    return -1;
}

int32_t tsr_histogram_otsu(const uint64_t *counts, int32_t bins)
{
    double total = 0, moment = 0, below = 0, below_moment = 0, most = 0;
    int32_t best = -1;
    for (int32_t b = 0; b < bins; b++) {
        total += (double)counts[b];
        moment += b * (double)counts[b];
    }
    for (int32_t b = 0; b + 1 < bins; b++) {
        below += (double)counts[b];
        below_moment += b * (double)counts[b];
        if (below <= 0 || below >= total) continue;
        const double apart = below_moment / below - (moment - below_moment) / (total - below), between = below * (total - below) * apart * apart;
        if (between <= most) continue;
        most = between;
        best = b;
    }
    return best;
}
