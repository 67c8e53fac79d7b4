#include "grid/volume.h"
#include "pyramid/pyramid_ops.h"

struct tsr_pyramid {
    tsr_context *context;
    tsr_pyramid_options options;
    tsr_size3 size;
    tsr_tree tree;
    void *memory;
    int64_t bytes;
    int built;
};

static int64_t elements(const tsr_tree_level *l) { return l->size[0] * l->size[1] * l->size[2]; }

/* Sizes, fan-outs and widths of all levels; returns the bytes of the sums, each level aligned. */
static int64_t plan(tsr_tree *t, tsr_size3 size, tsr_pyramid_order order)
{
    int64_t bytes = 256, covered = 1, base;
    t->level[0] = (tsr_tree_level){ .size = { size.x, size.y, size.z }, .bytes = 1 };
    base = elements(&t->level[0]);
    if (order == TSR_PYRAMID_ROW) {
        t->level[0].size[0] = base;
        t->level[0].size[1] = t->level[0].size[2] = 1;
    }
    t->levels = 1;
    bytes += tsr_ceil_div(base, 256) * 256;
    do { /* at least two levels: select descends once or more */
        const tsr_tree_level *below = &t->level[t->levels - 1];
        tsr_tree_level *l = &t->level[t->levels++];
        *l = (tsr_tree_level){ .bytes = 8 };
        for (int k = 0; k < 3; k++) {
            if (order == TSR_PYRAMID_ROW) l->shift[k] = k == 0 ? 3 : 0;
            else l->shift[k] = below->size[k] > 1;
            l->size[k] = tsr_ceil_div(below->size[k], (int64_t)1 << l->shift[k]);
            covered <<= l->shift[k];
        }
        uint64_t most = 255u * (uint64_t)tsr_min64(covered, base);
        l->bytes = most <= UINT16_MAX ? 2 : most <= UINT32_MAX ? 4 : 8;
        bytes += tsr_ceil_div(elements(l) * l->bytes, 256) * 256;
    } while (elements(&t->level[t->levels - 1]) > 1);
    return bytes;
}

tsr_status tsr_pyramid_create(tsr_context *context, tsr_size3 size, const tsr_pyramid_options *options, tsr_pyramid **pyramid)
{
    tsr_pyramid_options own;
    tsr_status status;
    int64_t bytes;
    *pyramid = NULL;
    if (!context) TSR_FAIL(TSR_ERROR_ARGUMENT, "context is NULL");
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(tsr_size_bytes(size, 255, "pyramid", &bytes)); /* the total must fit in 63 bits */
    if ((unsigned)own.classifier > TSR_PYRAMID_RANGE)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "pyramid: classifier is %d, expected counts or range", (int)own.classifier);
    if ((unsigned)own.order > TSR_PYRAMID_ROW) TSR_FAIL(TSR_ERROR_ARGUMENT, "pyramid: order is %d, expected Morton or row", (int)own.order);
    if (own.classifier == TSR_PYRAMID_RANGE && !(own.lower < own.upper))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "pyramid: range from %g to %g, expected lower < upper", own.lower, own.upper);
    TSR_TRY(tsr_host_allocate(&context->host_allocator, sizeof **pyramid, (void **)pyramid));
    tsr_pyramid *p = *pyramid;
    *p = (tsr_pyramid){ .context = context, .options = own, .size = size };
    p->bytes = plan(&p->tree, size, own.order);
    TSR_TRY_GOTO(tsr_device_allocate(context, (size_t)p->bytes, &p->memory), fail);
    char *at = (char *)p->memory;
    p->tree.not_a_number = (uint64_t *)(void *)at;
    at += 256;
    for (int32_t n = 0; n < p->tree.levels; n++) {
        p->tree.level[n].sums = at;
        at += tsr_ceil_div(elements(&p->tree.level[n]) * p->tree.level[n].bytes, 256) * 256;
    }
    return TSR_OK;
fail:
    tsr_pyramid_destroy(pyramid);
    return status;
}

void tsr_pyramid_destroy(tsr_pyramid **pyramid)
{
    if (!pyramid || !*pyramid) return;
    tsr_pyramid *p = *pyramid;
    *pyramid = NULL;
    if (p->memory) tsr_device_release(p->context, p->memory, (size_t)p->bytes);
    tsr_host_release(&p->context->host_allocator, p, sizeof *p);
}

tsr_status tsr_pyramid_build(tsr_pyramid *p, const tsr_volume *volume)
{
    if (!p) TSR_FAIL(TSR_ERROR_ARGUMENT, "pyramid is NULL");
    TSR_TRY(tsr_volume_require(p->context, volume, "volume"));
    if (volume->size.x != p->size.x || volume->size.y != p->size.y || volume->size.z != p->size.z)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "pyramid: volume of %lld x %lld x %lld, expected %lld x %lld x %lld as it was created for",
                 (long long)volume->size.x, (long long)volume->size.y, (long long)volume->size.z, (long long)p->size.x, (long long)p->size.y,
                 (long long)p->size.z);
    int range = p->options.classifier == TSR_PYRAMID_RANGE;
    if (!range && volume->dtype != TSR_U8)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "pyramid: counts of type %s, expected u8 (or the classifier range)", tsr_dtype_name(volume->dtype));
    tsr_tree_classifier classifier = { volume->data, volume->dtype, range, volume->slope, volume->intercept, p->options.lower, p->options.upper };
    TSR_TRY(p->context->backend->pyramid->build(p->context->queue, &p->tree, &classifier));
    p->built = 1;
    return TSR_OK;
}

static tsr_status require_built(const tsr_pyramid *p, int64_t count, const void *from, const void *to)
{
    if (!p) TSR_FAIL(TSR_ERROR_ARGUMENT, "pyramid is NULL");
    if (!p->built) TSR_FAIL(TSR_ERROR_STATE, "pyramid: nothing was built yet: call tsr_pyramid_build first");
    if (count < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "pyramid: count is %lld, expected 0 or more", (long long)count);
    if (count && (!from || !to)) TSR_FAIL(TSR_ERROR_ARGUMENT, "pyramid: an array is NULL, expected device memory");
    return TSR_OK;
}

tsr_status tsr_pyramid_describe(const tsr_pyramid *p, tsr_pyramid_info *info)
{
    if (!p) TSR_FAIL(TSR_ERROR_ARGUMENT, "pyramid is NULL");
    *info = (tsr_pyramid_info){ .levels = p->tree.levels, .device_bytes = p->bytes };
    if (!p->built) return TSR_OK;
    const tsr_tree_level *top = &p->tree.level[p->tree.levels - 1];
    union { uint16_t two; uint32_t four; uint64_t eight; } total;
    TSR_TRY(p->context->backend->download(p->context->queue, &info->not_a_number, p->tree.not_a_number, sizeof info->not_a_number));
    TSR_TRY(p->context->backend->download(p->context->queue, &total, top->sums, (size_t)top->bytes));
    info->total = top->bytes == 2 ? total.two : top->bytes == 4 ? total.four : total.eight;
    return TSR_OK;
}

tsr_status tsr_pyramid_select(const tsr_pyramid *p, const uint64_t *keys, int64_t count, tsr_pyramid_entry *entries)
{
    TSR_TRY(require_built(p, count, keys, entries));
    if (count) TSR_TRY(p->context->backend->pyramid->select(p->context->queue, &p->tree, keys, 0, count, entries));
    return TSR_OK;
}

tsr_status tsr_pyramid_extract(const tsr_pyramid *p, uint64_t first, int64_t count, tsr_pyramid_entry *entries)
{
    TSR_TRY(require_built(p, count, entries, entries));
    if (count) TSR_TRY(p->context->backend->pyramid->select(p->context->queue, &p->tree, NULL, first, count, entries));
    return TSR_OK;
}

tsr_status tsr_pyramid_rank(const tsr_pyramid *p, const int64_t *voxels, int64_t count, uint64_t *keys)
{
    TSR_TRY(require_built(p, count, voxels, keys));
    if (count) TSR_TRY(p->context->backend->pyramid->rank(p->context->queue, &p->tree, voxels, count, keys));
    return TSR_OK;
}
