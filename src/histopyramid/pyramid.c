#include "histopyramid/pyramid.h"

/* Axes of the digits of the order, lowest first; returns their number. */
static int32_t order_digits(const int64_t size[4], int32_t radix, uint8_t axis[64])
{
    int64_t left[4] = { size[0] - 1, size[1] - 1, size[2] - 1, size[3] - 1 }; /* the last place, without the digits that were given out */
    int32_t digits = 0;
    while (left[0] || left[1] || left[2])
        for (int k = 0; k < 3; k++) {
            if (left[k]) axis[digits++] = (uint8_t)k;
            left[k] /= radix;
        }
    for (; left[3]; left[3] /= radix) axis[digits++] = 3;
    return digits;
}

static tsr_tree_brick brick_of(const tsr_tree_level *l, tsr_pyramid_order order)
{
    static const uint8_t cube[6] = { 0, 1, 2, 0, 1, 2 }, plane[6] = { 0, 1, 0, 1, 0, 1 };
    if (l->bits < TSR_TREE_BITS || l->radix != 2) return TSR_BRICK_OTHER;
    if (order == TSR_PYRAMID_ROW) return TSR_BRICK_ROW;
    return !memcmp(l->axis, cube, 6) ? TSR_BRICK_CUBE : !memcmp(l->axis, plane, 6) ? TSR_BRICK_PLANE : TSR_BRICK_OTHER;
}

/* Sums of a level, padded to whole families of siblings. */
static int64_t slots(const tsr_tree *t, int32_t n)
{
    return n + 1 < t->levels ? tsr_tree_family(&t->level[n + 1], tsr_tree_cells(&t->level[n + 1])) : 1;
}

static int64_t aligned(int64_t bytes) { return tsr_ceil_div(bytes, 256) * 256; }

/* The largest multiplicity of any class. */
static uint64_t most_of(const tsr_pyramid_options *o)
{
    uint64_t most = 0;
    for (int32_t c = 0; c < o->channels; c++) {
        const uint64_t own = tsr_classifier_most(o->classes[c].classifier, o->most);
        most = own > most ? own : most;
    }
    return most;
}

/* Multiplicities are kept as bytes even if none is above 1: the words of bits are made by the classes of one bit alone. */
static int has_counts(const tsr_pyramid_options *o)
{
    for (int32_t c = 0; c < o->channels; c++)
        if (o->classes[c].classifier == TSR_PYRAMID_COUNTS) return 1;
    return 0;
}

static void plan_levels(tsr_tree *t, const tsr_pyramid_options *o, tsr_size3 size)
{
    uint8_t axis[64];
    const int64_t cells = size.x * size.y * size.z;
    tsr_tree_level *l = t->level;
    const uint8_t radix = o->fanout % 3 ? 2 : 3;
    *l = (tsr_tree_level){ .size = { size.x, size.y, size.z / o->batch, o->batch * o->channels }, .radix = radix };
    if (o->order == TSR_PYRAMID_ROW) *l = (tsr_tree_level){ .size = { cells, 1, 1, o->channels }, .radix = radix };
    t->volume = cells / o->batch;
    t->channels = o->channels;
    t->stride[0] = 1;
    for (int k = 1; k < 4; k++) t->stride[k] = t->stride[k - 1] * l->size[k - 1];
    const int32_t digits = order_digits(l->size, radix, axis), brick = radix == 2 ? TSR_TREE_BITS : TSR_TREE_THIRDS;
    int32_t done = 0, step = 0;
    int64_t covered = 1; /* voxels of a cell, beyond the volume too */
    while (tsr_tree_power(radix, step) < o->fanout) step++;
    t->levels = 1;
    do { /* at least two levels: the bricks are one */
        l = &t->level[t->levels];
        *l = t->level[t->levels - 1];
        l->bits = (uint8_t)tsr_min64(digits - done, t->levels == 1 ? brick : step);
        l->flip = 0;
        for (int b = 0; b < l->bits; b++) {
            const int k = axis[done + b];
            l->axis[b] = (uint8_t)k;
            l->shift[k]++;
            if (o->order == TSR_PYRAMID_VIEW && k < 3 && (o->reverse >> k & 1)) l->flip |= (uint8_t)(1 << b);
        }
        for (int k = 0; k < 4; k++) {
            int64_t last = t->level[0].size[k] - 1;
            for (int n = 0; n < l->shift[k]; n++) last /= radix;
            l->size[k] = last + 1;
        }
        done += l->bits;
        for (int b = 0; b < l->bits; b++) covered = covered < cells * o->channels ? covered * radix : covered;
        const uint64_t most = most_of(o) * (uint64_t)tsr_min64(cells * o->channels, covered);
        l->bytes = most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : most <= UINT32_MAX ? 4 : 8;
        t->levels++;
    } while (done < digits);
    t->brick = brick_of(&t->level[1], o->order);
    if (o->order == TSR_PYRAMID_ROW && t->brick == TSR_BRICK_ROW && t->level[1].shift[0] < TSR_TREE_BITS)
        t->brick = TSR_BRICK_OTHER; /* it holds several classes */
    t->base = o->implicit_base ? TSR_TREE_IMPLICIT : most_of(o) > 1 || has_counts(o) ? TSR_TREE_BYTES : TSR_TREE_WORDS;
}

/* Bytes of everything; the pointers are set if there is memory. */
static int64_t place(tsr_tree *t, char *memory)
{
    int64_t at = 256;
    if (memory) t->not_a_number = (uint64_t *)(void *)memory;
    for (int32_t n = 1; n < t->levels; n++) {
        if (memory) t->level[n].sums = memory + at;
        at += aligned(slots(t, n) * t->level[n].bytes);
    }
    if (memory) t->voxels = memory + at;
    if (t->base != TSR_TREE_IMPLICIT) at += aligned(slots(t, 1) * (t->base == TSR_TREE_WORDS ? 8 : TSR_TREE_BRICK));
    return at;
}

static tsr_status check_options(tsr_size3 size, tsr_pyramid_options *o)
{
    int64_t bytes;
    if (o->channels < 0 || o->channels > TSR_PYRAMID_CHANNELS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "pyramid: channels is %d, expected 0 to %d", o->channels, (int)TSR_PYRAMID_CHANNELS);
    if (o->channels > 1 && !o->classes) TSR_FAIL(TSR_ERROR_ARGUMENT, "pyramid: classes is NULL, expected %d of them", o->channels);
    if (o->most < 0 || o->most > TSR_PYRAMID_MOST)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "pyramid: most is %d, expected 1 to %d, or 0 for 255", o->most, (int)TSR_PYRAMID_MOST);
    if (o->most > UINT8_MAX && !o->implicit_base)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "pyramid: most is %d, expected at most 255, or implicit_base", o->most);
    if (!o->most) o->most = UINT8_MAX;
    /* the total must fit in 63 bits */
    TSR_TRY(tsr_size_bytes(size, (size_t)tsr_maxi(o->most, UINT8_MAX) * (size_t)tsr_maxi(o->channels, 1), "pyramid", &bytes));
    if ((unsigned)o->order > TSR_PYRAMID_VIEW) TSR_FAIL(TSR_ERROR_ARGUMENT, "pyramid: order is %d, expected Morton, row or view", (int)o->order);
    if (o->reverse < 0 || o->reverse > 7) TSR_FAIL(TSR_ERROR_ARGUMENT, "pyramid: reverse is %d, expected bits of 0 to 7", o->reverse);
    if (!o->fanout) o->fanout = 64;
    const int thirds = o->fanout == 3 || o->fanout == 9 || o->fanout == 27;
    if (!thirds && (o->fanout < 2 || o->fanout > 64 || (o->fanout & (o->fanout - 1))))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "pyramid: fanout is %d, expected 2, 4, 8, 16, 32 or 64, or 3, 9 or 27", o->fanout);
    if (!o->batch) o->batch = 1;
    if (o->batch < 0 || size.z % o->batch)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "pyramid: batch is %lld, expected a divisor of the extent z, %lld", (long long)o->batch, (long long)size.z);
    return TSR_OK;
}

static tsr_status check_user(const tsr_context *context, const tsr_map *user)
{
    if (!user || !user->module) TSR_FAIL(TSR_ERROR_ARGUMENT, "pyramid: classifier user without a module: tsr_map_load fills options.user");
    if (!user->module->most)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "pyramid: options.user is a map with %u inputs and %u outputs, expected a TSR_CLASSIFIER", user->module->inputs,
                 user->module->outputs);
    if (context->device.kind == TSR_DEVICE_CUDA ? !user->module->launch : !user->module->thread)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "pyramid: options.user was loaded for another kind of device");
    return TSR_OK;
}

tsr_status tsr_pyramid_create(tsr_context *context, tsr_size3 size, const tsr_pyramid_options *options, tsr_pyramid **pyramid)
{
    TSR_RETURNS(pyramid);
    TSR_NEEDS(context);
    tsr_pyramid_options own;
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(check_options(size, &own));
    tsr_pyramid_class classes[TSR_PYRAMID_CHANNELS] = { { own.classifier, own.lower, own.upper } };
    for (int32_t c = 0; own.classes && c < own.channels; c++) classes[c] = own.classes[c];
    if (own.channels <= 1 && classes[0].classifier == TSR_PYRAMID_USER) { /* its bytes are classified as any other's */
        TSR_TRY(check_user(context, own.user));
        own.most = UINT8_MAX;
        classes[0] = (tsr_pyramid_class){ own.user->module->most == 1 ? TSR_PYRAMID_NONZERO : TSR_PYRAMID_COUNTS, 0, 0 };
    } else {
        own.user = NULL;
    }
    own.channels = tsr_maxi(own.channels, 1);
    own.classes = classes;
    for (int32_t c = 0; c < own.channels; c++) TSR_TRY(tsr_classifier_check("pyramid", classes[c].classifier, classes[c].lower, classes[c].upper));
    TSR_TRY(tsr_host_allocate(&context->host_allocator, sizeof **pyramid, (void **)pyramid));
    tsr_pyramid *p = *pyramid;
    *p = (tsr_pyramid){ .context = context, .options = own, .size = size };
    memcpy(p->class_list, classes, sizeof classes);
    p->options.classes = p->class_list;
    plan_levels(&p->tree, &own, size);
    const int64_t counts = place(&p->tree, NULL);
    if (own.user) p->user = *own.user;
    p->options.user = NULL; /* the caller's may go */
    p->bytes = counts + (own.user ? aligned(size.x * size.y * size.z) : 0);
    TSR_TRY_GOTO(tsr_device_allocate(context, (size_t)p->bytes, &p->memory), fail);
    place(&p->tree, (char *)p->memory);
    p->counts = (uint8_t *)p->memory + counts;
    /* absent children stay 0 */
    for (int32_t n = 1; n < p->tree.levels; n++)
        TSR_TRY_GOTO(context->backend->fill(context->queue, p->tree.level[n].sums, 0, (size_t)(slots(&p->tree, n) * p->tree.level[n].bytes)), fail);
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

tsr_status tsr_pyramid_build(tsr_pyramid *pyramid, const tsr_volume *volume)
{
    TSR_NEEDS(pyramid, volume);
    TSR_TRY(tsr_volume_require(pyramid->context, volume, "volume"));
    if (volume->size.x != pyramid->size.x || volume->size.y != pyramid->size.y || volume->size.z != pyramid->size.z)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "pyramid: volume of %lld x %lld x %lld, expected %lld x %lld x %lld as it was created for",
                 (long long)volume->size.x, (long long)volume->size.y, (long long)volume->size.z, (long long)pyramid->size.x,
                 (long long)pyramid->size.y, (long long)pyramid->size.z);
    tsr_volume counts = *volume; /* a view of the bytes that a rule of the user's makes */
    if (pyramid->user.module) {
        tsr_volume *out = &counts;
        counts.dtype = TSR_U8;
        counts.bytes = tsr_volume_count(volume);
        counts.data = pyramid->counts;
        counts.slope = 1;
        counts.intercept = 0;
        TSR_TRY(tsr_map_run(pyramid->context, &pyramid->user, pyramid->size, &volume, 1, &out, 1));
        volume = out;
    }
    tsr_class_set *s = &pyramid->classes;
    s->count = pyramid->options.channels;
    s->voxels = pyramid->size.x * pyramid->size.y * pyramid->size.z;
    for (int32_t c = s->count - 1; c >= 0; c--) { /* the first comes last, and stays in s->first */
        const tsr_pyramid_class *k = &pyramid->class_list[c];
        TSR_TRY(tsr_classifier_make("pyramid", k->classifier, k->lower, k->upper, volume, pyramid->options.batch, &s->first));
        s->first.most = pyramid->options.most;
        s->channel[c] = (tsr_channel){ s->first.kind, s->first.bytes, s->first.low, s->first.high, s->first.invert, s->first.lower, s->first.upper };
    }
    TSR_TRY(pyramid->context->backend->pyramid->build(pyramid->context->queue, &pyramid->tree, s));
    pyramid->built = 1;
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

tsr_status tsr_pyramid_describe(const tsr_pyramid *pyramid, tsr_pyramid_info *info)
{
    TSR_NEEDS(pyramid, info);
    tsr_pyramid_info own = { .levels = pyramid->tree.levels - 1, .device_bytes = pyramid->bytes, .refused = -1 };
    TSR_TRY(TSR_STRUCT_GIVE(info, &own));
    if (!pyramid->built) return TSR_OK;
    const tsr_tree_level *top = &pyramid->tree.level[pyramid->tree.levels - 1];
    union {
        uint8_t one;
        uint16_t two;
        uint32_t four;
        uint64_t eight;
    } total;
    uint64_t unused[2];
    TSR_TRY(pyramid->context->backend->download(pyramid->context->queue, unused, pyramid->tree.not_a_number, sizeof unused));
    own.not_a_number = (int64_t)unused[0];
    if (unused[0] && pyramid->class_list[0].classifier == TSR_PYRAMID_COUNTS) own.refused = (int64_t)(UINT64_MAX - unused[1]);
    TSR_TRY(pyramid->context->backend->download(pyramid->context->queue, &total, top->sums, top->bytes));
    own.total = top->bytes == 1 ? total.one : top->bytes == 2 ? total.two : top->bytes == 4 ? total.four : total.eight;
    return TSR_STRUCT_GIVE(info, &own);
}

tsr_status tsr_pyramid_select(const tsr_pyramid *pyramid, const uint64_t *keys, int64_t count, tsr_pyramid_entry *entries)
{
    TSR_NEEDS(pyramid, entries);
    TSR_TRY(require_built(pyramid, count, keys, entries));
    if (count) TSR_TRY(pyramid->context->backend->pyramid->select(pyramid->context->queue, &pyramid->tree, &pyramid->classes, keys, count, entries));
    return TSR_OK;
}

static tsr_status extract(const tsr_pyramid *p, uint64_t first, int64_t count, int32_t bytes, void *out)
{
    const uint64_t end = first + (uint64_t)count < first ? UINT64_MAX : first + (uint64_t)count;
    const tsr_tree_list list = { first, end, out, bytes };
    TSR_TRY(require_built(p, count, out, out));
    if (!count) return TSR_OK;
    /* entries from the total on: -1 */
    if (bytes == 16) TSR_TRY(p->context->backend->fill(p->context->queue, out, 0xff, (size_t)count * sizeof(tsr_pyramid_entry)));
    TSR_TRY(p->context->backend->pyramid->extract(p->context->queue, &p->tree, &p->classes, &list));
    return TSR_OK;
}

tsr_status tsr_pyramid_extract(const tsr_pyramid *pyramid, uint64_t first, int64_t count, tsr_pyramid_entry *entries)
{
    TSR_NEEDS(pyramid);
    TSR_TRY(extract(pyramid, first, count, 16, entries));
    return TSR_OK;
}

tsr_status tsr_pyramid_indices(const tsr_pyramid *p, uint64_t first, int64_t count, tsr_dtype index_type, void *indices)
{
    if (index_type != TSR_U32 && index_type != TSR_U64)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "pyramid: index_type is %d, expected u32 or u64", (int)index_type);
    if (p && index_type == TSR_U32 && tsr_tree_cells(&p->tree.level[0]) > (int64_t)1 << 32)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "pyramid: %lld voxels, expected at most 2^32 for u32 indices: use u64",
                 (long long)tsr_tree_cells(&p->tree.level[0]));
    TSR_TRY(extract(p, first, count, index_type == TSR_U32 ? 4 : 8, indices));
    return TSR_OK;
}

tsr_status tsr_pyramid_rank(const tsr_pyramid *pyramid, const int64_t *voxels, int64_t count, uint64_t *keys)
{
    TSR_NEEDS(pyramid, keys);
    TSR_TRY(require_built(pyramid, count, voxels, keys));
    if (count) TSR_TRY(pyramid->context->backend->pyramid->rank(pyramid->context->queue, &pyramid->tree, &pyramid->classes, voxels, count, keys));
    return TSR_OK;
}

tsr_status tsr_pyramid_firsts(const tsr_pyramid *pyramid, uint64_t *keys)
{
    TSR_NEEDS(pyramid, keys);
    TSR_TRY(require_built(pyramid, 1, keys, keys));
    TSR_TRY(pyramid->context->backend->pyramid->firsts(pyramid->context->queue, &pyramid->tree, &pyramid->classes,
                                                       pyramid->options.batch * pyramid->options.channels, keys));
    return TSR_OK;
}
