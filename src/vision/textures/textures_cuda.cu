/* vision/textures/textures_cuda.cu: one thread a corner, a face, a texel of a camera; some threads a triangle of a depth map. */
#include "device/kernel.h"
#define TSR_TEXTURES_SHARED 1
#include "vision/textures/textures_ops.h"

enum { THREADS = 128, WARP = 32, WORD = 64 };
enum { WORDS_AT_ONCE = 16 }; /* blocks of a word's texels on a multiprocessor: they wait for memory, one access after the other */

TSR_KERNEL(textures_corners)(tsr_texture_job job)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x, c = blockIdx.y;
    if (i < job.vertices) tsr_texture_place(&job.camera[c], job.position + 3 * i, &job.corner[c * job.vertices + i]);
}
TSR_KERNEL(textures_faces)(tsr_texture_job job)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < job.triangles) tsr_texture_make_face(&job, (int32_t)blockIdx.y, i);
}
/* 2^shift threads a triangle: each takes its rows. */
TSR_KERNEL(__launch_bounds__(THREADS, 6) textures_maps)(tsr_texture_job job, int32_t shift)
{
    const int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x, i = k >> shift;
    const int32_t c = (int32_t)blockIdx.y, threads = 1 << shift;
    if (i < job.triangles) tsr_texture_draw_depth(&job, c, i, 0, job.camera[c].map_height, (int32_t)(k & (threads - 1)), threads);
}
/* A thread a texel; the warp's votes are half a word of the mask. What is not asked for takes no registers. */
typedef enum asked { MASKS, BILINEAR, EWA } asked;
template <asked WHAT> TSR_KERNEL(__launch_bounds__(WORD, WORDS_AT_ONCE) textures_texels)(tsr_texture_job job)
{
    const int32_t u = (int32_t)blockIdx.x * WORD + (int32_t)threadIdx.x, c = (int32_t)blockIdx.z;
    const int64_t line = (int64_t)c * job.height + blockIdx.y; /* camera and row */
    const int64_t texel = (int64_t)blockIdx.y * job.width + u, out = line * job.width + u;
    uint8_t yuv[3] = { 0, 0, 0 };
    job.ewa = WHAT == EWA;
    if (WHAT == MASKS) job.picture = NULL;
    const int seen = u < job.width && tsr_texture_texel_of(&job, c, texel, yuv);
    if (u < job.width && WHAT != MASKS)
        for (int32_t k = 0; k < 3; k++) job.plane[k][out] = yuv[k];
    const uint32_t half = __ballot_sync(TSR_WARP_ALL, seen);
    if (threadIdx.x % WARP == 0) ((uint32_t *)job.visible)[(line * job.words + blockIdx.x) * 2 + threadIdx.x / WARP] = half;
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

static dim3 of_all_cameras(const tsr_texture_job *job, int64_t threads)
{
    return dim3(tsr_blocks(threads, THREADS, INT32_MAX), (uint32_t)job->cameras);
}

static tsr_status cuda_shapes(tsr_queue *queue, const tsr_texture_job *job)
{
    TSR_LAUNCH(queue, textures_corners, of_all_cameras(job, job->vertices), THREADS, 0, *job);
    TSR_LAUNCH(queue, textures_faces, of_all_cameras(job, job->triangles), THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
/* Of few triangles the rows are many, of many triangles they are few: as many threads a triangle as it takes to fill a device. */
static tsr_status cuda_maps(tsr_queue *queue, const tsr_texture_job *job)
{
    const int64_t full = (int64_t)2048 * tsr_queue_processors(queue);
    int32_t shift = 0;
    while (shift < 5 && job->triangles * job->cameras << shift < full) shift++;
    TSR_LAUNCH(queue, textures_maps, of_all_cameras(job, job->triangles << shift), THREADS, 0, *job, shift);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_texels(tsr_queue *queue, const tsr_texture_job *job)
{
    const dim3 blocks((uint32_t)job->words, (uint32_t)job->height, (uint32_t)job->cameras);
    if (!job->picture) TSR_LAUNCH(queue, textures_texels<MASKS>, blocks, WORD, 0, *job);
    else if (!job->ewa) TSR_LAUNCH(queue, textures_texels<BILINEAR>, blocks, WORD, 0, *job);
    else TSR_LAUNCH(queue, textures_texels<EWA>, blocks, WORD, 0, *job);
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
