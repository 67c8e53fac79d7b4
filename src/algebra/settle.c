/* algebra/settle.c: before a mesh is made of a list: where it lies, and samples on the surface. */
#include "algebra/csg.h"

#include <math.h>

#include "algebra/csg_settle.h"
#include "core/parallel.h"
#include "volume/volume.h"

tsr_status tsr_tiles_set_origin(tsr_tiles *tiles, tsr_vec3 origin)
{
    TSR_NEEDS(tiles);
    if (!isfinite(origin.x) || !isfinite(origin.y) || !isfinite(origin.z))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "origin is (%g, %g, %g), expected finite numbers", origin.x, origin.y, origin.z);
    tiles->geometry.affine[0][3] = origin.x;
    tiles->geometry.affine[1][3] = origin.y;
    tiles->geometry.affine[2][3] = origin.z;
    return TSR_OK;
}

tsr_status tsr_tiles_settle(tsr_tiles *tiles, int64_t *changed)
{
    tsr_tile_state state;
    tsr_csg_work work;
    int64_t found = 0;
    if (changed) *changed = 0;
    TSR_NEEDS(tiles);
    TSR_TRY(tsr_csg_require_field(tiles, "tiles"));
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    if (state.count == 0) return TSR_OK;
    TSR_TRY(tsr_csg_work_take(tiles->context, 1, 0, &work));
    work.args.a = tiles->pool;
    tsr_status status = tiles->context->backend->fill(tiles->context->queue, work.args.totals, 0, sizeof found);
    if (status == TSR_OK) status = tsr_csg_run(&work, TSR_CSG_settle_kernel, state.count);
    if (status == TSR_OK) status = tiles->context->backend->download(tiles->context->queue, &found, work.args.totals, sizeof found);
    if (status == TSR_OK) status = tsr_csg_run(&work, TSR_CSG_settle_back_kernel, state.count);
    tsr_csg_work_drop(&work);
    TSR_TRY(status);
    if (found) TSR_TRY(tsr_csg_finish(tiles));
    if (changed) *changed = found;
    return TSR_OK;
}

/* ---- a volume ----------------------------------------------------------------------------------------------------------------------------------- */

struct settle {
    const float *phi;
    int64_t size[3];
    float spacing[3], first[3]; /* the world coordinates of the first sample are `first`, were the axes those of the world */
    uint8_t *settled;           /* of each sample: 0 off the surface, else 2 + tsr_csg_settled */
};

static float near_at(const struct settle *s, int64_t x, int64_t y, int64_t z)
{
    const float at[3] = { s->first[0] + (float)x * s->spacing[0], s->first[1] + (float)y * s->spacing[1], s->first[2] + (float)z * s->spacing[2] };
    return tsr_csg_near(s->spacing, tsr_maxf(fabsf(at[0]), tsr_maxf(fabsf(at[1]), fabsf(at[2]))));
}

static void settle_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct settle *s = (const struct settle *)user;
    const int64_t *n = s->size;
    (void)worker;
    for (int64_t row = begin; row < end; row++)
        for (int64_t x = 0; x < n[0]; x++) {
            const int64_t y = row % n[1], z = row / n[1];
            const float *at = s->phi + row * n[0] + x;
            uint8_t *to = s->settled + row * n[0] + x;
            int8_t side[27];
            *to = 0;
            if (!(fabsf(*at) <= near_at(s, x, y, z))) continue;
            for (int64_t d = 0; d < 27; d++) {
                const int64_t i = d % 3 - 1, j = d / 3 % 3 - 1, k = d / 9 - 1;
                const int beyond = x + i < 0 || y + j < 0 || z + k < 0 || x + i >= n[0] || y + j >= n[1] || z + k >= n[2];
                const float w = beyond ? 0.0f : at[(k * n[1] + j) * n[0] + i];
                side[d] = tsr_csg_side_of(w, near_at(s, x + i, y + j, z + k), beyond);
            }
            *to = (uint8_t)(2 + tsr_csg_settled(side));
        }
}

tsr_status tsr_volume_settle(tsr_volume *volume, int64_t *changed)
{
    if (changed) *changed = 0;
    TSR_NEEDS(volume);
    if (volume->context && volume->context->device.kind != TSR_DEVICE_CPU) TSR_FAIL(TSR_ERROR_ARGUMENT, "volume: on a device, expected host memory");
    if (volume->dtype != TSR_F32 || volume->slope != 1 || volume->intercept != 0)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "volume: %s%s, expected f32 without scaling", tsr_dtype_name(volume->dtype),
                 volume->slope != 1 || volume->intercept != 0 ? " with scaling" : "");
    const tsr_vec3 h = tsr_geometry_spacing(&volume->geometry);
    const float spacing[3] = { (float)h.x, (float)h.y, (float)h.z };
    const int64_t count = tsr_volume_count(volume);
    float *phi = (float *)volume->data;
    struct settle s = { .phi = phi, .size = { volume->size.x, volume->size.y, volume->size.z } };
    for (int a = 0; a < 3; a++) {
        s.spacing[a] = spacing[a];
        s.first[a] = (float)volume->geometry.affine[a][3];
    }
    int64_t found = 0;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)count, (void **)&s.settled));
    tsr_parallel(volume->context ? volume->context->threads : tsr_parallel_default_threads(), volume->size.y * volume->size.z, 64, settle_range, &s);
    for (int64_t i = 0; i < count; i++) {
        if (!s.settled[i]) continue;
        const float to = tsr_csg_settled_value((int32_t)s.settled[i] - 2, phi[i]);
        found += (to < 0.0f) != (phi[i] < 0.0f);
        phi[i] = to;
    }
    tsr_host_release(NULL, s.settled, (size_t)count);
    if (changed) *changed = found;
    return TSR_OK;
}
