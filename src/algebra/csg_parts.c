/* algebra/csg_parts.c: parts of a tile list: boxes of tiles, resampled movement. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algebra/csg_search.h"

enum { CPU_CHUNK = 512 }; /* tiles between looks at the progress */

/* ---- boxes of tiles: columns by binary search (docs/theory/editing.md 4) ------------------------------------------------------------------------- */

/* All keys of the list that are in the box: for boxes with more rows of tiles than the list has tiles. */
static tsr_status box_keys_of_all(const tsr_tiles *tiles, const int32_t low[3], const int32_t high[3], uint64_t **found, int64_t *count)
{
    uint64_t *keys;
    int64_t n;
    TSR_TRY(tsr_csg_keys(tiles, &keys, &n));
    for (int64_t i = 0; i < n; i++) {
        const int32_t at[3] = { tsr_key_x(keys[i]), tsr_key_y(keys[i]), tsr_key_z(keys[i]) };
        int in = 1;
        for (int k = 0; k < 3; k++) in &= at[k] >= low[k] && at[k] <= high[k];
        keys[*count] = keys[i];
        *count += in;
    }
    *found = keys;
    return TSR_OK;
}

/* The rows of the box, their ends in the list (on the host: first, second), then their keys. */
static tsr_status row_keys(tsr_csg_work *work, const int32_t low[3], const int32_t high[3], int64_t rows, uint64_t *keys, uint32_t *ends,
                           uint64_t **found, int64_t *count)
{
    tsr_context *context = work->context;
    tsr_queue *queue = context->queue;
    const int64_t wide = high[1] - low[1] + 1;
    uint32_t *begin = ends, *end = ends + rows;
    void *memory = NULL;
    for (int64_t i = 0; i < rows; i++) keys[i] = tsr_key_make(low[0], low[1] + (int32_t)(i % wide), low[2] + (int32_t)(i / wide));
    work->args.shift_a = (int64_t)high[0] - low[0] + 1;
    TSR_TRY(context->backend->upload(queue, work->args.keys, keys, (size_t)rows * sizeof *keys));
    TSR_TRY(tsr_csg_run(work, TSR_CSG_row_ends_kernel, rows));
    TSR_TRY(context->backend->download(queue, begin, work->args.first, (size_t)rows * sizeof *begin));
    TSR_TRY(context->backend->download(queue, end, work->args.second, (size_t)rows * sizeof *end));
    uint32_t n = 0;
    for (int64_t i = 0; i < rows; i++) {
        uint32_t own = end[i] - begin[i];
        begin[i] = n;
        n += own;
    }
    *count = n;
    *found = (uint64_t *)malloc(((size_t)n + 1) * sizeof **found);
    if (!*found) TSR_FAIL(TSR_ERROR_MEMORY, "tile list: out of memory for %u keys", n);
    if (n == 0) return TSR_OK;
    TSR_TRY(tsr_device_allocate(context, (size_t)n * sizeof **found, &memory));
    work->args.tallies = (uint64_t *)memory;
    tsr_status status = context->backend->upload(queue, work->args.flags, begin, (size_t)rows * sizeof *begin);
    if (status == TSR_OK) status = tsr_csg_run(work, TSR_CSG_row_keys_kernel, rows);
    if (status == TSR_OK) status = context->backend->download(queue, *found, memory, (size_t)n * sizeof **found);
    tsr_device_release(context, memory, (size_t)n * sizeof **found);
    return status;
}

tsr_status tsr_csg_box_keys(const tsr_tiles *tiles, const int32_t low[3], const int32_t high[3], uint64_t **found, int64_t *count)
{
    tsr_csg_work work;
    const double rows = ((double)high[1] - low[1] + 1) * ((double)high[2] - low[2] + 1);
    *found = NULL;
    *count = 0;
    if (rows > (double)tiles->pool.capacity) {
        TSR_TRY(box_keys_of_all(tiles, low, high, found, count));
        return TSR_OK;
    }
    const int64_t n = (int64_t)rows;
    TSR_TRY(tsr_csg_work_take(tiles->context, n, 0, &work));
    work.args.a = tiles->pool;
    uint64_t *keys = (uint64_t *)malloc((size_t)n * (sizeof *keys + 2 * sizeof(uint32_t)));
    tsr_status status = keys ? TSR_OK : TSR_FAILED(TSR_ERROR_MEMORY, "tile list: out of memory for %lld rows", (long long)n);
    if (status == TSR_OK) status = row_keys(&work, low, high, n, keys, (uint32_t *)(void *)(keys + n), found, count);
    free(keys);
    tsr_csg_work_drop(&work);
    if (status != TSR_OK) {
        free(*found);
        *found = NULL;
    }
    return status;
}

tsr_status tsr_csg_extent(const tsr_tiles *tiles, int64_t low[3], int64_t high[3], int64_t *count)
{
    uint64_t *keys;
    for (int k = 0; k < 3; k++) {
        low[k] = INT64_MAX;
        high[k] = INT64_MIN;
    }
    TSR_TRY(tsr_csg_keys(tiles, &keys, count));
    for (int64_t i = 0; i < *count; i++) {
        const int64_t at[3] = { tsr_key_x(keys[i]), tsr_key_y(keys[i]), tsr_key_z(keys[i]) };
        for (int k = 0; k < 3; k++) {
            low[k] = tsr_min64(low[k], at[k]);
            high[k] = tsr_max64(high[k], at[k]);
        }
    }
    free(keys);
    return TSR_OK;
}

/* ---- a part of a list ----------------------------------------------------------------------------------------------------------------------- */

static tsr_status fill_part(tsr_csg_work *work, const tsr_tiles *tiles, const uint64_t *keys, int64_t count, tsr_tiles *part)
{
    tsr_context *context = tiles->context;
    TSR_TRY(context->backend->upload(context->queue, work->args.keys, keys, (size_t)count * sizeof *keys));
    work->args.a = tiles->pool;
    work->args.second = NULL;
    work->args.operation = TSR_CSG_FIRST;
    TSR_TRY(tsr_csg_run(work, TSR_CSG_locate_kernel, count));
    TSR_TRY(tsr_csg_run(work, TSR_CSG_sub_borders_kernel, count));
    TSR_TRY(tsr_csg_link(work, part));
    TSR_TRY(tsr_csg_run(work, TSR_CSG_combine_kernel, count));
    TSR_TRY(tsr_csg_finish(part));
    return TSR_OK;
}

tsr_status tsr_csg_part(const tsr_tiles *tiles, const uint64_t *keys, int64_t count, const int32_t low[3], const int32_t high[3],
                        tsr_tiles **part)
{
    tsr_csg_work work;
    TSR_TRY(tsr_csg_create_like(tiles, 2 * count, 0, part));
    (*part)->pool.fenced = 1;
    for (int k = 0; k < 3; k++) {
        (*part)->pool.fence[k] = low[k];
        (*part)->pool.fence[3 + k] = high[k];
    }
    if (count == 0) return TSR_OK;
    tsr_status status = tsr_csg_work_take(tiles->context, count, 0, &work);
    if (status == TSR_OK) {
        status = fill_part(&work, tiles, keys, count, *part);
        tsr_csg_work_drop(&work);
    }
    if (status != TSR_OK) tsr_tiles_destroy(part);
    return status;
}

/* ---- resampling ------------------------------------------------------------------------------------------------------------------------------- */

/* x' = linear x + offset in index units. */
struct affine {
    double linear[9], offset[3];
};

static tsr_status make_motion(const tsr_tile_pool *pool, const tsr_motion *m, struct affine *forward, struct affine *back)
{
    double scale = m->scale != 0 ? m->scale : 1, r[9], h[3];
    const double c[3] = { m->centre.x, m->centre.y, m->centre.z }, s[3] = { m->shift.x, m->shift.y, m->shift.z };
    const double all[] = { c[0], c[1], c[2], s[0], s[1], s[2], m->angle, m->axis.x, m->axis.y, m->axis.z };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!isfinite(all[i])) TSR_FAIL(TSR_ERROR_ARGUMENT, "motion: a number is not finite");
    if (!(scale > 1e-3 && scale < 1e3)) TSR_FAIL(TSR_ERROR_ARGUMENT, "motion: scale is %g, expected 0.001 to 1000", scale);
    if (m->angle != 0 && m->axis.x == 0 && m->axis.y == 0 && m->axis.z == 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "motion: the rotation axis has no length");
    tsr_csg_rotation(m->axis, m->angle, r);
    for (int k = 0; k < 3; k++) h[k] = (double)pool->spacing[k];
    for (int i = 0; i < 3; i++) {
        double moved = 0, origin = 0;
        for (int j = 0; j < 3; j++) {
            forward->linear[3 * i + j] = scale * r[3 * i + j] * h[j] / h[i];
            back->linear[3 * i + j] = r[3 * j + i] / scale * h[j] / h[i];
            moved += scale * r[3 * i + j] * c[j];
            origin += r[3 * j + i] / scale * (c[j] + s[j]);
        }
        forward->offset[i] = (c[i] + s[i] - moved) / h[i];
        back->offset[i] = (c[i] - origin) / h[i];
    }
    return TSR_OK;
}

/* Keys of the tiles that the images of the stored tiles meet, grown by one voxel for the samples around them. */
static tsr_status image_keys(const tsr_tiles *tiles, const struct affine *f, double margin, const uint64_t *keys, int64_t count, uint64_t **image,
                             int64_t *image_count)
{
    int64_t n = 0, room = 0;
    const double edge = (double)(1 << tiles->pool.log2_edge), most = (double)TSR_KEY_BIAS - 2;
    uint64_t *out = NULL;
    for (int64_t i = 0; i < count; i++) {
        const double at[3] = { tsr_key_x(keys[i]) * edge + 0.5 * (edge - 1), tsr_key_y(keys[i]) * edge + 0.5 * (edge - 1),
                               tsr_key_z(keys[i]) * edge + 0.5 * (edge - 1) };
        int32_t low[3], high[3];
        for (int k = 0; k < 3; k++) {
            double c = f->offset[k], r = margin;
            for (int j = 0; j < 3; j++) {
                c += f->linear[3 * k + j] * at[j];
                r += fabs(f->linear[3 * k + j]) * (0.5 * (edge - 1) + 1);
            }
            double a = floor((c - r) / edge), b = floor((c + r) / edge);
            if (!(a > -most && b < most)) {
                free(out);
                TSR_FAIL(TSR_ERROR_ARGUMENT, "motion: moves a tile to %.0f along %c, beyond the tile coordinates", a, "xyz"[k]);
            }
            low[k] = (int32_t)a;
            high[k] = (int32_t)b;
        }
        int64_t more = (int64_t)(high[0] - low[0] + 1) * (high[1] - low[1] + 1) * (high[2] - low[2] + 1);
        if (n + more > room) {
            n = tsr_keys_sort_unique(out, n);
            if (n + more > tsr_tiles_most(tiles)) {
                free(out);
                return tsr_tiles_too_many(tiles, "motion");
            }
            if (2 * n + more > room) {
                int64_t grown_room = 2 * (2 * n + more) + 1024;
                uint64_t *grown = (uint64_t *)realloc(out, (size_t)grown_room * sizeof *out);
                if (!grown) {
                    free(out);
                    TSR_FAIL(TSR_ERROR_MEMORY, "motion: out of memory for %lld tiles", (long long)grown_room);
                }
                out = grown;
                room = grown_room;
            }
        }
        for (int32_t z = low[2]; z <= high[2]; z++)
            for (int32_t y = low[1]; y <= high[1]; y++)
                for (int32_t x = low[0]; x <= high[0]; x++) out[n++] = tsr_key_make(x, y, z);
    }
    *image = out;
    *image_count = n ? tsr_keys_sort_unique(out, n) : 0;
    return TSR_OK;
}

/* The values. A GPU takes them at once; a CPU takes long, and looks at the progress now and then. */
static tsr_status resample_values(tsr_csg_work *work, int64_t count, const tsr_progress *progress)
{
    const int64_t chunk = tsr_context_device(work->context).kind == TSR_DEVICE_CPU ? CPU_CHUNK : count;
    const tsr_csg_args all = work->args;
    tsr_status status = TSR_OK;
    for (int64_t begin = 0; begin < count && status == TSR_OK; begin += chunk) {
        work->args.keys = all.keys + begin;
        work->args.to.phi[0] = all.to.phi[0] + (begin << 3 * all.to.log2_edge);
        if (tsr_progress_report(progress, (double)begin / (double)count, "transform"))
            status = TSR_FAILED(TSR_ERROR_CANCELLED, "cancelled during transform");
        else status = tsr_csg_run(work, TSR_CSG_resample_kernel, tsr_min64(chunk, count - begin));
    }
    work->args = all;
    return status;
}

static tsr_status resample(const tsr_tiles *tiles, const struct affine *back, double scale, const uint64_t *keys, int64_t count,
                           const tsr_progress *progress, tsr_tiles *to)
{
    tsr_context *context = tiles->context;
    tsr_csg_work work;
    if (count == 0) return TSR_OK;
    TSR_TRY(tsr_csg_work_take(context, count, 0, &work));
    work.args.a = tiles->pool;
    work.args.to = to->pool;
    work.args.scale = (float)scale;
    for (int i = 0; i < 3; i++) {
        memcpy(work.args.matrix + 4 * i, back->linear + 3 * i, 3 * sizeof(double));
        work.args.matrix[4 * i + 3] = back->offset[i];
    }
    tsr_status status = context->backend->upload(context->queue, work.args.keys, keys, (size_t)count * sizeof *keys);
    if (status == TSR_OK) status = tsr_csg_run(&work, TSR_CSG_probe_borders_kernel, count);
    if (status == TSR_OK) status = tsr_csg_link(&work, to);
    if (status == TSR_OK) status = resample_values(&work, count, progress);
    if (status == TSR_OK) status = tsr_csg_finish(to);
    tsr_csg_work_drop(&work);
    return status;
}

tsr_status tsr_tiles_transform(const tsr_tiles *tiles, const tsr_motion *motion, tsr_tiles **result)
{
    TSR_NEEDS(tiles, motion, result);
    return tsr_csg_transform(tiles, motion, NULL, result);
}

tsr_status tsr_csg_transform(const tsr_tiles *tiles, const tsr_motion *motion, const tsr_progress *progress, tsr_tiles **result)
{
    struct affine forward, back;
    uint64_t *keys = NULL, *image = NULL;
    int64_t count, image_count = 0;
    *result = NULL;
    TSR_TRY(tsr_csg_require(tiles, "motion"));
    if (!motion) TSR_FAIL(TSR_ERROR_ARGUMENT, "motion is NULL");
    TSR_TRY(make_motion(&tiles->pool, motion, &forward, &back));
    TSR_TRY(tsr_csg_keys(tiles, &keys, &count));
    double scale = motion->scale != 0 ? motion->scale : 1;
    tsr_status status = image_keys(tiles, &forward, 1, keys, count, &image, &image_count);
    if (status == TSR_OK) status = tsr_csg_create_like(tiles, image_count, 0, result);
    if (status == TSR_OK && count == 0) {
        tsr_tile_state state;
        status = tsr_tiles_read_state(tiles, &state);
        if (status == TSR_OK) status = tiles->context->backend->tiles->clear(tiles->context->queue, &(*result)->pool, state.background);
    }
    if (status == TSR_OK) status = resample(tiles, &back, scale, image, image_count, progress, *result);
    free(keys);
    free(image);
    if (status != TSR_OK) tsr_tiles_destroy(result);
    return status;
}
