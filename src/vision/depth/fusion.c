/* vision/depth/fusion.c: the table of bricks and their pool, and how maps go in. */
#include "vision/depth/fusion.h"

#include <math.h>
#include <stdlib.h>

enum { BRICK_BYTES = TSR_FUSION_PARTS * TSR_FUSION_VOXELS * 4 };

static size_t table_bytes(uint32_t size) { return (size_t)size * (8 + 4 + 4 + 4); }

tsr_status tsr_fusion_create(tsr_context *context, const tsr_fusion_options *options, tsr_fusion **fusion)
{
    TSR_RETURNS(fusion);
    TSR_NEEDS(context);
    tsr_fusion_options o;
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    if (!(o.voxel > 0 && o.voxel < 1e30)) TSR_FAIL(TSR_ERROR_ARGUMENT, "fusion: voxel is %g, expected a length above 0", o.voxel);
    if (o.truncation == 0) o.truncation = 4 * o.voxel;
    if (!(o.truncation >= o.voxel && o.truncation <= 64 * o.voxel))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "fusion: truncation is %g, expected 1 to 64 voxels (%g to %g)", o.truncation, o.voxel, 64 * o.voxel);
    if (!(o.nearest >= 0) || !(o.farthest >= 0) || (o.farthest > 0 && !(o.nearest < o.farthest)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "fusion: depths from %g to %g, expected 0 <= nearest < farthest", o.nearest, o.farthest);
    if (!(o.most_weight >= 0)) TSR_FAIL(TSR_ERROR_ARGUMENT, "fusion: most_weight is %g, expected 0 or more", o.most_weight);
    if ((unsigned)o.weight > TSR_FUSION_NEAR) TSR_FAIL(TSR_ERROR_ARGUMENT, "fusion: weight is %d, expected 0 or 1", (int)o.weight);
    o.channels = o.channels ? o.channels : 3;
    if (o.channels != 1 && o.channels != 3 && o.channels != 4) TSR_FAIL(TSR_ERROR_ARGUMENT, "fusion: channels is %d, expected 1, 3 or 4", o.channels);
    if (o.capacity < 0 || o.capacity > 1 << 28 || o.memory_limit < 0)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "fusion: capacity %lld and memory_limit %lld, expected 0 to 2^28 and 0 or more", (long long)o.capacity, (long long)o.memory_limit);
    tsr_fusion *f = calloc(1, sizeof *f);
    if (!f) TSR_FAIL(TSR_ERROR_MEMORY, "fusion: out of host memory");
    f->context = context;
    f->o = o;
    *fusion = f;
    return TSR_OK;
}

static void release_table(tsr_fusion *f, tsr_fusion_table *t)
{
    if (t->keys) tsr_device_release(f->context, t->keys, table_bytes(t->size));
    if (t->counters) tsr_device_release(f->context, t->counters, 256);
    *t = (tsr_fusion_table){ .stamp = t->stamp };
}

void tsr_fusion_destroy(tsr_fusion **fusion)
{
    if (!fusion || !*fusion) return;
    release_table(*fusion, &(*fusion)->table);
    if ((*fusion)->pool) tsr_device_release((*fusion)->context, (*fusion)->pool, (size_t)(*fusion)->capacity * BRICK_BYTES);
    free(*fusion);
    *fusion = NULL;
}

static tsr_status within_limit(const tsr_fusion *f, int64_t bytes)
{
    if (f->o.memory_limit && bytes > f->o.memory_limit)
        TSR_FAIL(TSR_ERROR_CAPACITY, "fusion: %lld bytes of device memory are needed, memory_limit allows %lld: larger voxels or a nearer farthest depth",
                 (long long)bytes, (long long)f->o.memory_limit);
    return TSR_OK;
}

/* A table of `size` places with what the old one has. */
static tsr_status grow_table(tsr_fusion *f, uint32_t size)
{
    tsr_fusion_table t = { .size = size, .stamp = f->table.stamp };
    const tsr_backend *b = f->context->backend;
    tsr_status status;
    void *memory;
    TSR_TRY(within_limit(f, (int64_t)table_bytes(size) + f->capacity * BRICK_BYTES));
    TSR_TRY(tsr_device_allocate(f->context, table_bytes(size), &memory));
    t.keys = (uint64_t *)memory;
    t.stamps = (uint32_t *)(void *)(t.keys + size);
    t.bricks = t.stamps + size;
    t.reached = t.bricks + size;
    TSR_TRY_GOTO(tsr_device_allocate(f->context, 256, &memory), fail);
    t.counters = (uint32_t *)memory;
    TSR_TRY_GOTO(b->fill(f->context->queue, t.keys, 255, (size_t)size * 8), fail);
    TSR_TRY_GOTO(b->fill(f->context->queue, t.stamps, 0, (size_t)size * 4), fail);
    if (f->table.size) {
        const tsr_fusion_job job = { .table = t, .old_keys = f->table.keys, .old_bricks = f->table.bricks, .old_size = f->table.size };
        TSR_TRY_GOTO(b->fusion->rehash(f->context->queue, &job), fail);
        TSR_TRY_GOTO(b->copy(f->context->queue, t.counters, f->table.counters, 16), fail);
    } else TSR_TRY_GOTO(b->fill(f->context->queue, t.counters, 0, 256), fail);
    TSR_TRY_GOTO(b->synchronize(f->context->queue), fail);
    release_table(f, &f->table);
    f->table = t;
    return TSR_OK;
fail:
    release_table(f, &t);
    return status;
}

static tsr_status grow_pool(tsr_fusion *f, int64_t capacity)
{
    void *pool;
    tsr_status status;
    TSR_TRY(within_limit(f, (int64_t)table_bytes(f->table.size) + (capacity + f->capacity) * BRICK_BYTES));
    TSR_TRY(tsr_device_allocate(f->context, (size_t)capacity * BRICK_BYTES, &pool));
    if (f->bricks) TSR_TRY_GOTO(f->context->backend->copy(f->context->queue, pool, f->pool, (size_t)f->bricks * BRICK_BYTES), fail);
    TSR_TRY_GOTO(f->context->backend->synchronize(f->context->queue), fail);
    if (f->pool) tsr_device_release(f->context, f->pool, (size_t)f->capacity * BRICK_BYTES);
    f->pool = (float *)pool;
    f->capacity = capacity;
    return TSR_OK;
fail:
    tsr_device_release(f->context, pool, (size_t)capacity * BRICK_BYTES);
    return status;
}

/* A camera's rows for voxels, whose unit is the voxel. */
static tsr_status make_view(const tsr_fusion *f, const tsr_camera *camera, int32_t width, int32_t height, tsr_fusion_view *v)
{
    tsr_camera c = *camera;
    double projection[16], view[16], scale = f->o.voxel;
    tsr_vec3 origin[3], direction[3];
    static const double place[3][2] = { { 0, 0 }, { 1, 0 }, { 0, 1 } };
    if (tsr_lens_distorts(&camera->lens)) TSR_FAIL(TSR_ERROR_ARGUMENT, "fusion: the camera has a lens that distorts: remove it from depth map and picture first");
    if (c.projection == TSR_PROJECTION_MATRIX) {
        tsr_pinhole pinhole;
        TSR_TRY(tsr_camera_to_pinhole(&c, width, height, &pinhole));
        TSR_TRY(tsr_camera_from_pinhole(&pinhole, &c));
    }
    TSR_TRY(tsr_camera_matrices(&c, width, height, view, projection));
    for (int k = 0; k < 3; k++) TSR_TRY(tsr_camera_ray(&c, width, height, place[k], &origin[k], &direction[k]));
    v->parallel = c.projection == TSR_ORTHOGRAPHIC;
    for (int k = 0; k < 4; k++) {
        const double column[4] = { k == 0 ? scale : 0, k == 1 ? scale : 0, k == 2 ? scale : 0, k == 3 };
        double e[4], q[4];
        tsr_matrix4_apply(view, column, e);
        tsr_matrix4_apply(projection, e, q);
        v->row[0][k] = (float)((q[0] + q[3]) * 0.5 * width);
        v->row[1][k] = (float)((q[3] - q[1]) * 0.5 * height);
        v->row[2][k] = (float)q[3];
        v->axis[k] = (float)-e[2];
    }
    const tsr_vec3 *varying = v->parallel ? origin : direction;
    const double o[3] = { origin[0].x, origin[0].y, origin[0].z }, d[3] = { direction[0].x, direction[0].y, direction[0].z };
    const double r[3] = { varying[1].x - varying[0].x, varying[1].y - varying[0].y, varying[1].z - varying[0].z };
    const double s[3] = { varying[2].x - varying[0].x, varying[2].y - varying[0].y, varying[2].z - varying[0].z };
    for (int k = 0; k < 3; k++) {
        v->origin[k] = (float)(o[k] / scale);
        v->along[k] = (float)(d[k] / scale);
        v->right[k] = (float)(r[k] / scale);
        v->down[k] = (float)(s[k] / scale);
    }
    return TSR_OK;
}

/* The counters: places in use, reached, faults. */
static tsr_status counters_of(tsr_fusion *f, uint32_t counters[3])
{
    TSR_TRY(f->context->backend->download(f->context->queue, counters, f->table.counters, 12));
    return TSR_OK;
}

tsr_status tsr_fusion_add(tsr_fusion *fusion, const tsr_volume *depth, const tsr_volume *image, const tsr_camera *camera)
{
    TSR_NEEDS(fusion, depth);
    tsr_fusion *f = fusion;
    static const char *const names[] = { "fusion", "depth", "camera" };
    const void *const given[] = { fusion, depth, camera };
    for (size_t i = 0; i < 3; i++)
        if (!given[i]) TSR_FAIL(TSR_ERROR_ARGUMENT, "fusion: %s is NULL", names[i]);
    TSR_TRY(tsr_camera_check(camera));
    TSR_TRY(tsr_volume_require(f->context, depth, "depth"));
    if (depth->dtype != TSR_F32 || depth->size.z != 1 || depth->size.x > 32768 || depth->size.y > 32768)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "fusion: depth map of %s, %lld x %lld x %lld, expected f32 and up to 32768 x 32768 x 1", tsr_dtype_name(depth->dtype),
                 (long long)depth->size.x, (long long)depth->size.y, (long long)depth->size.z);
    tsr_fusion_job job = { .view = { .width = (int32_t)depth->size.x, .height = (int32_t)depth->size.y, .channels = f->o.channels,
                                     .depth = (const float *)depth->data } };
    if (image) {
        int32_t w, h;
        TSR_TRY(tsr_depth_image(f->context, image, f->o.channels, "image", &w, &h));
        if (w != job.view.width || h != job.view.height)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "fusion: image of %d x %d pixels, depth map of %d x %d, expected the same", w, h, job.view.width, job.view.height);
        job.view.image = (const uint8_t *)image->data;
    }
    TSR_TRY(make_view(f, camera, job.view.width, job.view.height, &job.view));
    job.view.nearest = (float)f->o.nearest;
    job.view.farthest = f->o.farthest > 0 ? (float)f->o.farthest : 3.0e38f;
    job.view.truncation = (float)f->o.truncation;
    job.view.voxel = (float)f->o.voxel;
    job.view.most_weight = (float)f->o.most_weight;
    job.view.near_weight = f->o.weight == TSR_FUSION_NEAR ? (float)(f->o.nearest > 0 ? f->o.nearest : 16 * f->o.voxel) : 0.0f;
    if (!f->table.size) {
        uint32_t size = 1 << 12;
        while (size < f->o.capacity * 2 && size < 1u << 30) size *= 2;
        TSR_TRY(grow_table(f, size));
    }
    const tsr_backend *b = f->context->backend;
    uint32_t counters[3];
    f->table.stamp++;
    for (;;) { /* until the table has room for all that the map reaches */
        TSR_TRY(b->fill(f->context->queue, f->table.counters + 1, 0, 8));
        job.table = f->table;
        TSR_TRY(b->fusion->reach(f->context->queue, &job));
        TSR_TRY(counters_of(f, counters));
        if (counters[2] == 2) TSR_FAIL(TSR_ERROR_CAPACITY, "fusion: a depth lies more than 2^23 voxels of %g from the origin: larger voxels, or a farthest depth", f->o.voxel);
        if (!counters[2] && (uint64_t)counters[0] * 2 <= f->table.size) break;
        if (f->table.size >= 1u << 30) TSR_FAIL(TSR_ERROR_CAPACITY, "fusion: more than 2^29 bricks: larger voxels");
        TSR_TRY(grow_table(f, f->table.size * 2));
        f->table.stamp++;
    }
    if (counters[0] > f->capacity) {
        const int64_t wanted = tsr_max64(tsr_max64(counters[0], f->o.capacity), f->capacity + f->capacity / 2);
        TSR_TRY(grow_pool(f, tsr_max64(wanted, 1024)));
    }
    job.table = f->table;
    job.pool = f->pool;
    job.reached = counters[1];
    job.first = (uint32_t)f->bricks;
    job.fresh = counters[0] - job.first;
    TSR_TRY(b->fusion->clear(f->context->queue, &job));
    TSR_TRY(b->fusion->integrate(f->context->queue, &job));
    TSR_TRY(b->synchronize(f->context->queue));
    f->bricks = counters[0];
    f->touched = counters[1];
    f->maps++;
    f->colored |= image != NULL;
    return TSR_OK;
}

tsr_status tsr_fusion_describe(const tsr_fusion *fusion, tsr_fusion_info *info)
{
    if (!fusion || !info) TSR_FAIL(TSR_ERROR_ARGUMENT, "fusion: %s is NULL", fusion ? "info" : "fusion");
    const tsr_fusion_info own = { .maps = fusion->maps,
                                  .bricks = fusion->bricks,
                                  .touched = fusion->touched,
                                  .device_bytes = fusion->capacity * BRICK_BYTES +
                                                  (fusion->table.size ? (int64_t)table_bytes(fusion->table.size) + 256 : 0) };
    return TSR_STRUCT_GIVE(info, &own);
}

/* ---- to the host --------------------------------------------------------------------------------------------------------------- */

struct order {
    uint64_t key;
    uint32_t brick;
};
static int by_key(const void *a, const void *b)
{
    const uint64_t p = ((const struct order *)a)->key, q = ((const struct order *)b)->key;
    return p < q ? -1 : p > q;
}

void tsr_fusion_bricks_free(tsr_fusion_bricks *bricks)
{
    free(bricks->keys);
    free(bricks->parts);
    *bricks = (tsr_fusion_bricks){ 0 };
}

tsr_status tsr_fusion_download(tsr_fusion *f, tsr_fusion_bricks *bricks)
{
    const uint32_t size = f->table.size;
    tsr_status status = TSR_OK;
    *bricks = (tsr_fusion_bricks){ 0 };
    if (!f->bricks) TSR_FAIL(TSR_ERROR_STATE, "fusion: no depth map has been taken, or none had a depth");
    uint64_t *keys = malloc((size_t)size * 8);
    uint32_t *numbers = malloc((size_t)size * 4);
    struct order *order = malloc((size_t)f->bricks * sizeof *order);
    float *pool = malloc((size_t)f->bricks * BRICK_BYTES);
    bricks->keys = malloc((size_t)f->bricks * 8);
    bricks->parts = malloc((size_t)f->bricks * BRICK_BYTES);
    if (!keys || !numbers || !order || !pool || !bricks->keys || !bricks->parts)
        TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "fusion: out of host memory for %lld bricks", (long long)f->bricks);
    TSR_TRY_GOTO(f->context->backend->download(f->context->queue, keys, f->table.keys, (size_t)size * 8), done);
    TSR_TRY_GOTO(f->context->backend->download(f->context->queue, numbers, f->table.bricks, (size_t)size * 4), done);
    TSR_TRY_GOTO(f->context->backend->download(f->context->queue, pool, f->pool, (size_t)f->bricks * BRICK_BYTES), done);
    for (uint32_t i = 0; i < size; i++)
        if (keys[i] != TSR_FUSION_EMPTY && numbers[i] < f->bricks) order[bricks->count++] = (struct order){ keys[i], numbers[i] };
    qsort(order, (size_t)bricks->count, sizeof *order, by_key);
    for (int64_t i = 0; i < bricks->count; i++) {
        bricks->keys[i] = order[i].key;
        memcpy(bricks->parts + i * TSR_FUSION_PARTS * TSR_FUSION_VOXELS, pool + (int64_t)order[i].brick * TSR_FUSION_PARTS * TSR_FUSION_VOXELS, BRICK_BYTES);
    }
done:
    free(keys);
    free(numbers);
    free(order);
    free(pool);
    if (status != TSR_OK) tsr_fusion_bricks_free(bricks);
    return status;
}

int64_t tsr_fusion_find(const tsr_fusion_bricks *bricks, const int32_t place[3])
{
    const uint64_t key = tsr_fusion_key(place[0], place[1], place[2]);
    int64_t low = 0, high = bricks->count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (bricks->keys[middle] < key) low = middle + 1;
        else high = middle;
    }
    return low < bricks->count && bricks->keys[low] == key ? low : -1;
}
