/* vision/depth/depth_vertices.c: a depth map as points of the world. */
#include <math.h>

#include "camera/camera.h"
#include "vision/depth/depth_work.h"

static tsr_vec3 place(const tsr_camera_rays *rays, int32_t x, int32_t y, float depth)
{
    tsr_vec3 origin, direction;
    tsr_camera_rays_at(rays, x + 0.5, y + 0.5, &origin, &direction);
    const double d = (double)depth;
    return (tsr_vec3){ origin.x + d * direction.x, origin.y + d * direction.y, origin.z + d * direction.z };
}

/* From the neighbours with a depth that differs by at most a twentieth; 0 where there are none on both axes. */
static void normal_at(const tsr_camera_rays *rays, const float *d, int32_t w, int32_t h, int32_t x, int32_t y, float normal[3])
{
    const float own = d[(int64_t)y * w + x];
    tsr_vec3 side[2];
    for (int axis = 0; axis < 2; axis++) {
        int32_t to[2] = { 0, 0 };
        for (int k = 0; k < 2; k++) {
            const int32_t step = k ? 1 : -1, u = x + (axis ? 0 : step), v = y + (axis ? step : 0);
            if (u < 0 || v < 0 || u >= w || v >= h) continue;
            const float there = d[(int64_t)v * w + u];
            if (there > 0.0f && fabsf(there - own) <= 0.05f * own) to[k] = step;
        }
        normal[0] = normal[1] = normal[2] = 0.0f;
        if (to[0] == to[1]) return;
        tsr_vec3 end[2];
        for (int k = 0; k < 2; k++) {
            const int32_t u = x + (axis ? 0 : to[k]), v = y + (axis ? to[k] : 0);
            end[k] = place(rays, u, v, d[(int64_t)v * w + u]);
        }
        side[axis] = (tsr_vec3){ end[1].x - end[0].x, end[1].y - end[0].y, end[1].z - end[0].z };
    }
    /* y of the image runs downwards: right x down looks away from the camera. */
    const double n[3] = { side[1].y * side[0].z - side[1].z * side[0].y, side[1].z * side[0].x - side[1].x * side[0].z, side[1].x * side[0].y - side[1].y * side[0].x };
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int k = 0; k < 3 && length > 0; k++) normal[k] = (float)(n[k] / length);
}

tsr_status tsr_depth_vertices(const tsr_volume *depth, const tsr_camera *camera, const tsr_volume *image, int32_t channels, tsr_mesh **vertices)
{
    TSR_RETURNS(vertices);
    tsr_status status;
    tsr_volume *map = NULL, *picture = NULL;
    tsr_camera_rays rays;
    int64_t count = 0, n = 0;
    if (!depth || !camera) TSR_FAIL(TSR_ERROR_ARGUMENT, "depth vertices: %s is NULL", depth ? "camera" : "depth");
    if (depth->dtype != TSR_F32 || depth->size.z != 1)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "depth vertices: depth is of %s with %lld slices, expected f32 and one", tsr_dtype_name(depth->dtype), (long long)depth->size.z);
    const int32_t w = (int32_t)depth->size.x, h = (int32_t)depth->size.y;
    if (image && ((channels != 1 && channels != 3 && channels != 4) || image->dtype != TSR_U8 || image->size.x != (int64_t)w * channels || image->size.y != h))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "depth vertices: the image has %lld x %lld bytes, expected %d x %d pixels of u8 with 1, 3 or 4 channels (%d given)",
                 (long long)image->size.x, (long long)image->size.y, w, h, channels);
    TSR_TRY(tsr_camera_rays_make("depth vertices", camera, w, h, &rays));
    TSR_TRY(tsr_volume_copy(depth, NULL, &map));
    if (image) TSR_TRY_GOTO(tsr_volume_copy(image, NULL, &picture), done);
    const float *d = (const float *)map->data;
    for (int64_t i = 0; i < (int64_t)w * h; i++) count += d[i] > 0.0f && isfinite(d[i]);
    if (!count) TSR_FAIL_GOTO(TSR_ERROR_STATE, done, "depth vertices: no pixel of the map has a depth");
    TSR_TRY_GOTO(tsr_mesh_create(NULL, count, 0, 1, vertices), done);
    if (picture) TSR_TRY_GOTO(tsr_mesh_add_colors(*vertices), done);
    float *to = tsr_mesh_vertices(*vertices), *normals = tsr_mesh_normals(*vertices);
    uint8_t *colors = picture ? tsr_mesh_colors(*vertices) : NULL;
    for (int64_t i = 0; i < (int64_t)w * h; i++) {
        if (!(d[i] > 0.0f) || !isfinite(d[i])) continue;
        const tsr_vec3 p = place(&rays, (int32_t)(i % w), (int32_t)(i / w), d[i]);
        to[3 * n] = (float)p.x;
        to[3 * n + 1] = (float)p.y;
        to[3 * n + 2] = (float)p.z;
        normal_at(&rays, d, w, h, (int32_t)(i % w), (int32_t)(i / w), normals + 3 * n);
        if (colors) {
            const uint8_t *c = (const uint8_t *)picture->data + i * channels;
            for (int k = 0; k < 3; k++) colors[4 * n + k] = c[channels < 3 ? 0 : k];
            colors[4 * n + 3] = 255;
        }
        n++;
    }
done:
    tsr_volume_destroy(&map);
    tsr_volume_destroy(&picture);
    if (status != TSR_OK) tsr_mesh_destroy(vertices);
    return status;
}
