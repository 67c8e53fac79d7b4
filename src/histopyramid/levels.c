/* histopyramid/levels.c: pyramids of reductions: storage, levels, views. */
#include "volume/volume.h"
#include "histopyramid/pyramid_ops.h"

struct tsr_levels {
    tsr_context *context;
    tsr_size3 size;
    tsr_dtype dtype;
    tsr_level_rule rule;
    int32_t count;
    int64_t bytes;
    void *memory;
    tsr_level_job job[TSR_LEVELS_MOST]; /* of level k + 1, without what the volume brings */
    tsr_volume *view[TSR_LEVELS_MOST], *voxels[TSR_LEVELS_MOST];
};

static int64_t aligned(int64_t bytes) { return (bytes + 255) / 256 * 256; }

/* Sizes, types and places of all levels; returns the bytes. The pointers are set if there is memory. */
static int64_t plan(tsr_levels *l)
{
    static const tsr_dtype sums[3] = { [TSR_LEVEL_UNSIGNED] = TSR_U64, [TSR_LEVEL_SIGNED] = TSR_I64, [TSR_LEVEL_REAL] = TSR_F64 };
    const int sum = l->rule == TSR_LEVEL_SUM || l->rule == TSR_LEVEL_AVERAGE;
    int64_t size[3] = { l->size.x, l->size.y, l->size.z }, at = 0;
    char *memory = (char *)l->memory;
    for (l->count = 0; size[0] > 1 || size[1] > 1 || size[2] > 1; l->count++) {
        tsr_level_job *j = &l->job[l->count];
        *j = (tsr_level_job){ .to_type = sum ? sums[tsr_level_kind_of(l->dtype)] : l->dtype };
        j->from_type = l->count ? j[-1].to_type : l->dtype;
        for (int k = 0; k < 3; k++) {
            j->size[k] = size[k];
            j->cells[k] = size[k] = size[k] / 2 + size[k] % 2;
        }
        const int64_t cells = size[0] * size[1] * size[2];
        if (memory) {
            j->to = memory + at;
            if (l->count) {
                j->from = j[-1].to;
                j->from_count = j[-1].to_count;
            }
        }
        at += aligned(cells * (int64_t)tsr_dtype_size(j->to_type));
        if (l->rule != TSR_LEVEL_AVERAGE) continue;
        if (memory) {
            j->to_count = (uint64_t *)(void *)(memory + at);
            j->average = (double *)(void *)(memory + at + aligned(cells * 8));
        }
        at += 2 * aligned(cells * 8);
    }
    return at;
}

/* Geometry of the cells' centres: twice the spacing, half a voxel on. */
static tsr_geometry coarser(const tsr_geometry *g)
{
    tsr_geometry next = *g;
    const tsr_vec3 origin = tsr_geometry_to_world(g, (tsr_vec3){ 0.5, 0.5, 0.5 });
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) next.affine[r][c] *= 2;
    next.affine[0][3] = origin.x;
    next.affine[1][3] = origin.y;
    next.affine[2][3] = origin.z;
    return next;
}

tsr_status tsr_levels_create(tsr_context *context, tsr_size3 size, tsr_dtype dtype, tsr_level_rule rule, tsr_levels **levels)
{
    TSR_RETURNS(levels);
    TSR_NEEDS(context);
    tsr_status status;
    int64_t bytes;
    if ((unsigned)dtype >= TSR_DTYPE_COUNT) TSR_FAIL(TSR_ERROR_ARGUMENT, "levels: dtype is %d, expected one of tsr_dtype", (int)dtype);
    if ((unsigned)rule > TSR_LEVEL_MAX)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "levels: rule is %d, expected one of tsr_level_rule (0 to %d)", (int)rule, (int)TSR_LEVEL_MAX);
    TSR_TRY(tsr_size_bytes(size, 32, "levels", &bytes)); /* twice as many cells in one dimension, three numbers each, fit in 63 bits */
    TSR_TRY(tsr_host_allocate(&context->host_allocator, sizeof **levels, (void **)levels));
    tsr_levels *l = *levels;
    *l = (tsr_levels){ .context = context, .size = size, .dtype = dtype, .rule = rule };
    l->bytes = plan(l);
    if (l->count) {
        TSR_TRY_GOTO(tsr_device_allocate(context, (size_t)l->bytes, &l->memory), fail);
        plan(l);
    }
    for (int32_t k = 0; k < l->count; k++) {
        const tsr_level_job *j = &l->job[k];
        const tsr_size3 cells = { j->cells[0], j->cells[1], j->cells[2] };
        const int average = rule == TSR_LEVEL_AVERAGE;
        TSR_TRY_GOTO(
            tsr_volume_wrap(context, average ? TSR_F64 : j->to_type, cells, NULL, average ? (void *)j->average : j->to, NULL, NULL, &l->view[k]),
            fail);
        if (average) TSR_TRY_GOTO(tsr_volume_wrap(context, TSR_U64, cells, NULL, j->to_count, NULL, NULL, &l->voxels[k]), fail);
    }
    return TSR_OK;
fail:
    tsr_levels_destroy(levels);
    return status;
}

void tsr_levels_destroy(tsr_levels **levels)
{
    if (!levels || !*levels) return;
    tsr_levels *l = *levels;
    *levels = NULL;
    for (int32_t k = 0; k < l->count; k++) {
        tsr_volume_destroy(&l->view[k]);
        tsr_volume_destroy(&l->voxels[k]);
    }
    if (l->memory) tsr_device_release(l->context, l->memory, (size_t)l->bytes);
    tsr_host_release(&l->context->host_allocator, l, sizeof *l);
}

static tsr_status check(const tsr_levels *l, const tsr_volume *v, const char *what, tsr_dtype dtype)
{
    TSR_TRY(tsr_volume_require(l->context, v, what));
    if (v->size.x != l->size.x || v->size.y != l->size.y || v->size.z != l->size.z)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "levels: %s of %lld x %lld x %lld, expected %lld x %lld x %lld as they were created for", what,
                 (long long)v->size.x, (long long)v->size.y, (long long)v->size.z, (long long)l->size.x, (long long)l->size.y, (long long)l->size.z);
    if (v->dtype != dtype) TSR_FAIL(TSR_ERROR_ARGUMENT, "levels: %s of type %s, expected %s", what, tsr_dtype_name(v->dtype), tsr_dtype_name(dtype));
    return TSR_OK;
}

tsr_status tsr_levels_build(tsr_levels *levels, const tsr_volume *volume, const tsr_volume *mask)
{
    TSR_NEEDS(levels, volume);
    TSR_TRY(check(levels, volume, "volume", levels->dtype));
    if (mask) TSR_TRY(check(levels, mask, "mask", TSR_U8));
    tsr_geometry geometry = volume->geometry;
    for (int32_t k = 0; k < levels->count; k++) {
        geometry = coarser(&geometry);
        TSR_TRY(tsr_volume_set_geometry(levels->view[k], &geometry));
        if (levels->voxels[k]) TSR_TRY(tsr_volume_set_geometry(levels->voxels[k], &geometry));
        if (levels->rule != TSR_LEVEL_SUM) TSR_TRY(tsr_volume_set_scaling(levels->view[k], volume->slope, volume->intercept));
    }
    if (!levels->count) return TSR_OK;
    levels->job[0].from = volume->data;
    levels->job[0].mask = mask ? (const uint8_t *)mask->data : NULL;
    TSR_TRY(levels->context->backend->pyramid->levels(levels->context->queue, levels->rule, levels->job, levels->count));
    return TSR_OK;
}

int32_t tsr_levels_count(const tsr_levels *l) { return l ? l->count : 0; }
const tsr_volume *tsr_levels_volume(const tsr_levels *l, int32_t level) { return l && level >= 1 && level <= l->count ? l->view[level - 1] : NULL; }
const tsr_volume *tsr_levels_voxels(const tsr_levels *l, int32_t level) { return l && level >= 1 && level <= l->count ? l->voxels[level - 1] : NULL; }
