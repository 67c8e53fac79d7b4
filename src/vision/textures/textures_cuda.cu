/* vision/textures/textures_cuda.cu: one thread a corner, a face, a texel; a warp a triangle of a depth map. */
#include "device/kernel.h"
#define TSR_TEXTURES_SHARED 1
#include "vision/textures/textures_ops.h"

enum { THREADS = 128, WARP = 32 };

TSR_KERNEL(textures_corners)(tsr_texture_job job, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) tsr_texture_place(&job.camera[i / job.vertices], job.position + 3 * (i % job.vertices), &job.corner[i]);
}
TSR_KERNEL(textures_faces)(tsr_texture_job job, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) tsr_texture_make_face(&job, (int32_t)(i / job.triangles), i % job.triangles);
}
TSR_KERNEL(textures_maps)(tsr_texture_job job, int64_t count)
{
    const int64_t i = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / WARP;
    if (i >= count) return;
    const int32_t c = (int32_t)(i / job.triangles);
    tsr_texture_draw_depth(&job, c, i % job.triangles, 0, job.camera[c].map_height, (int32_t)(threadIdx.x % WARP), WARP);
}
/* A thread a texel; the warp's votes are half a word of the mask. */
TSR_KERNEL(textures_texels)(tsr_texture_job job)
{
    const int32_t u = (int32_t)(blockIdx.x % (uint32_t)job.words) * 64 + (int32_t)threadIdx.x;
    const int64_t line = blockIdx.x / (uint32_t)job.words; /* camera and row */
    const int32_t c = (int32_t)(line / job.height);
    const int64_t texel = (line % job.height) * job.width + u, out = line * job.width + u;
    uint8_t yuv[3] = { 0, 0, 0 };
    const int seen = u < job.width && tsr_texture_texel_of(&job, c, texel, yuv);
    if (u < job.width && job.picture)
        for (int32_t k = 0; k < 3; k++) job.plane[k][out] = yuv[k];
    const uint32_t half = __ballot_sync(TSR_WARP_ALL, seen);
    if (threadIdx.x % WARP == 0) ((uint32_t *)job.visible)[(line * job.words + blockIdx.x % (uint32_t)job.words) * 2 + threadIdx.x / WARP] = half;
}
TSR_KERNEL(textures_gutter)(tsr_gutter_job job, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) tsr_texture_gutter(&job, i);
}
TSR_KERNEL(textures_keys)(tsr_texture_view view, int64_t count)
{
    const int64_t i = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / WARP;
    if (i < count) tsr_texture_draw_keys(&view, i, (int32_t)(threadIdx.x % WARP), WARP);
}
TSR_KERNEL(textures_resolve)(tsr_texture_view view, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) tsr_texture_resolve(&view, i);
}

static tsr_status cuda_shapes(tsr_queue *queue, const tsr_texture_job *job)
{
    const int64_t corners = job->vertices * job->cameras, faces = job->triangles * job->cameras;
    TSR_LAUNCH(queue, textures_corners, tsr_blocks(corners, THREADS, INT32_MAX), THREADS, 0, *job, corners);
    TSR_LAUNCH(queue, textures_faces, tsr_blocks(faces, THREADS, INT32_MAX), THREADS, 0, *job, faces);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_maps(tsr_queue *queue, const tsr_texture_job *job)
{
    const int64_t count = job->triangles * job->cameras;
    TSR_LAUNCH(queue, textures_maps, tsr_blocks(count, THREADS / WARP, INT32_MAX), THREADS, 0, *job, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_texels(tsr_queue *queue, const tsr_texture_job *job)
{
    TSR_LAUNCH(queue, textures_texels, (uint32_t)((int64_t)job->words * job->height * job->cameras), 64, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_gutter(tsr_queue *queue, const tsr_gutter_job *job)
{
    const int64_t count = (int64_t)job->width * job->height;
    TSR_LAUNCH(queue, textures_gutter, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, *job, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_draw(tsr_queue *queue, const tsr_texture_view *view)
{
    const int64_t pixels = (int64_t)view->width * view->height, triangles = view->shape.triangles;
    TSR_LAUNCH(queue, textures_keys, tsr_blocks(triangles, THREADS / WARP, INT32_MAX), THREADS, 0, *view, triangles);
    TSR_LAUNCH(queue, textures_resolve, tsr_blocks(pixels, THREADS, INT32_MAX), THREADS, 0, *view, pixels);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_textures_ops tsr_textures_cuda = { cuda_shapes, cuda_maps, cuda_texels, cuda_gutter, cuda_draw };
