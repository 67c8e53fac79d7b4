/* tessera/levelset_term.h: a term of the level-set equation in your own C, one text for the CPU and the GPU.
 *
 *     #include "tessera/levelset_term.h"
 *     typedef struct vortex { float centre[2], rate; } vortex;
 *     TSR_TERM(vortex, TSR_TERM_VELOCITY)
 *     {
 *         answer->velocity[0] = -data->rate * (x[1] - data->centre[1]);
 *         answer->velocity[1] = data->rate * (x[0] - data->centre[0]);
 *     }
 *
 * One term a file. The body sees `data` (const TYPE *, the caller's numbers), `x` (const float[3], index * spacing along the grid axes), `t`
 * (double, the time) and `answer` (tsr_levelset_answer *, zeros). It is compiled as C11 and as CUDA: the C both know, no calls but of static functions
 * marked TSR_TERM_FN in the same file, no global variables. With + - * / and comparisons only, the runs of all devices have the same bits; sin, exp and their like
 * differ in the last bits between devices. In CMake, tessera_add_term(NAME FILE) makes NAME.so and, where there is a CUDA compiler, NAME_cuda.so
 * beside it; by hand:
 *     cc   -shared -fPIC -O2 -ffp-contract=off -fvisibility=hidden vortex.c -o vortex.so
 *     nvcc -shared -Xcompiler -fPIC -O3 -fmad=false -x cu vortex.c -o vortex_cuda.so
 * tsr_term_load finds both. On a GPU the term runs as a kernel of its own before each stage: it costs one launch and 4, 12 or 4 bytes written and
 * read per stored voxel for speed, velocity and curvature. Source: docs/theory/tiles.md 8 (speed functor over voxel and payload). */
#ifndef TESSERA_LEVELSET_TERM_H
#define TESSERA_LEVELSET_TERM_H

#include <stddef.h>
#include <stdint.h>

#include "tessera/levelset.h"

/* What a term answers; members of the answer it does not name are ignored. */
enum { TSR_TERM_SPEED = 1, TSR_TERM_VELOCITY = 2, TSR_TERM_CURVATURE = 4 };
enum { TSR_TERM_ABI = 2 };

/* Work of one launch: the tiles of a list. All pointers are device memory, the numbers behind them are current when the kernel runs. */
typedef struct tsr_term_job {
    const void *key[2]; /* coordinates of the tiles, z most significant: uint64_t, 21 bits an axis, biased by 2^20, or */
    uint64_t key_first; /* not 0: uint32_t, 10 bits an axis, counted from the tile with this key */
    const uint32_t *id[2];
    const int32_t *list, *count; /* which of the two; entries */
    const int32_t *shortage, *halted;
    const uint64_t *bad; /* the run is over or waits for the host if one of the three is not 0 */
    const double *time;
    const float *time_step; /* the moment is *time + share * *time_step */
    double share;
    float spacing[3];
    int32_t log2_edge, channels;
    const void *data;
    float *answers; /* [id][channels][edge^3]: speed, velocity x y z, curvature, those that the term gives */
} tsr_term_job;

/* What a module exports as tsr_term_module_1; functions that its compiler cannot make are NULL. */
typedef struct tsr_term_module {
    uint32_t abi, gives;
    uint64_t data_bytes;
    void (*evaluate)(const void *data, const float x[3], double t, tsr_levelset_answer *answer);
    void (*thread)(const tsr_term_job *job, int64_t index, int64_t total); /* one thread of a launch, on the host */
    int (*launch)(void *stream, const tsr_term_job *job, uint32_t blocks); /* queues the job; 0 or the number of a CUDA error */
} tsr_term_module;

#ifdef __cplusplus
#define TSR_TERM_C_ extern "C"
#define TSR_TERM_DEFINE_ extern "C"
#else
#define TSR_TERM_C_ extern
#define TSR_TERM_DEFINE_
#endif
#ifdef __CUDACC__
#define TSR_TERM_FN static __host__ __device__ inline
#else
#define TSR_TERM_FN static inline __attribute__((unused))
#endif

static inline int tsr_term_channels(uint32_t gives)
{
    return (gives & TSR_TERM_SPEED ? 1 : 0) + (gives & TSR_TERM_VELOCITY ? 3 : 0) + (gives & TSR_TERM_CURVATURE ? 1 : 0);
}

/* ---- what stands behind TSR_TERM ---------------------------------------------------------------------------------------------------------- */

/* One thread: voxels index, index + total, ... of the tiles. */
#define TSR_TERM_LOOP_                                                                                                                        \
    TSR_TERM_FN void tsr_term_voxels_(const tsr_term_job *job, int64_t index, int64_t total)                                                  \
    {                                                                                                                                         \
        if (*job->shortage > 0 || *job->halted || *job->bad) return;                                                                          \
        const int32_t list = *job->list, bits = job->log2_edge, mask = (1 << bits) - 1;                                                       \
        const int64_t voxels = (int64_t)*job->count << 3 * bits;                                                                              \
        const double t = *job->time + job->share * (double)*job->time_step;                                                                   \
        for (int64_t v = index; v < voxels; v += total) {                                                                                     \
            const int64_t at = v >> 3 * bits;                                                                                                 \
            const int32_t i = (int32_t)(v - (at << 3 * bits));                                                                                \
            const uint64_t key = job->key_first ? 0 : ((const uint64_t *)job->key[list])[at];                                                 \
            const uint32_t part = job->key_first ? ((const uint32_t *)job->key[list])[at] : 0;                                                \
            float x[3], *out = job->answers + (((int64_t)job->id[list][at] * job->channels) << 3 * bits) + i;                                 \
            tsr_levelset_answer answer = { 0.0f, { 0.0f, 0.0f, 0.0f }, 0.0f };                                                                    \
            for (int k = 0; k < 3; k++) {                                                                                                     \
                const int32_t tile = (int32_t)((key | job->key_first) >> 21 * k & 0x1fffffu) + (int32_t)(part >> 10 * k & 1023u) - (1 << 20); \
                x[k] = (float)(tile * (1 << bits) + (i >> bits * k & mask)) * job->spacing[k];                                                \
            }                                                                                                                                 \
            tsr_term_body_((const tsr_term_data_ *)job->data, x, t, &answer);                                                                 \
            if (tsr_term_gives_ & TSR_TERM_SPEED) {                                                                                           \
                *out = answer.speed;                                                                                                          \
                out += (int64_t)1 << 3 * bits;                                                                                                \
            }                                                                                                                                 \
            for (int k = 0; k < 3 && (tsr_term_gives_ & TSR_TERM_VELOCITY); k++, out += (int64_t)1 << 3 * bits) *out = answer.velocity[k];    \
            if (tsr_term_gives_ & TSR_TERM_CURVATURE) *out = answer.curvature;                                                                \
        }                                                                                                                                     \
    }

#ifdef __CUDACC__
#define TSR_TERM_RUN_                                                                                           \
    static __global__ void tsr_term_kernel_(tsr_term_job job)                                                   \
    {                                                                                                           \
        tsr_term_voxels_(&job, (int64_t)blockIdx.x *blockDim.x + threadIdx.x, (int64_t)gridDim.x * blockDim.x); \
    }                                                                                                           \
    static int tsr_term_launch_(void *stream, const tsr_term_job *job, uint32_t blocks)                         \
    {                                                                                                           \
        tsr_term_kernel_<<<blocks, 256, 0, (cudaStream_t)stream>>>(*job);                                       \
        return (int)cudaGetLastError();                                                                         \
    }
#define TSR_TERM_TABLE_                                                                                   \
    {                                                                                                     \
        TSR_TERM_ABI, tsr_term_gives_, sizeof(tsr_term_data_), tsr_term_evaluate_, NULL, tsr_term_launch_ \
    }
#else
#define TSR_TERM_RUN_
#define TSR_TERM_TABLE_                                                                                   \
    {                                                                                                     \
        TSR_TERM_ABI, tsr_term_gives_, sizeof(tsr_term_data_), tsr_term_evaluate_, tsr_term_voxels_, NULL \
    }
#endif

#define TSR_TERM(type, gives)                                                                                           \
    typedef type tsr_term_data_;                                                                                        \
    enum { tsr_term_gives_ = (gives) };                                                                                 \
    TSR_TERM_FN void tsr_term_body_(const type *data, const float *x, double t, tsr_levelset_answer *answer);               \
    static void tsr_term_evaluate_(const void *data, const float x[3], double t, tsr_levelset_answer *answer)               \
    {                                                                                                                   \
        tsr_levelset_answer own = { 0.0f, { 0.0f, 0.0f, 0.0f }, 0.0f };                                                     \
        tsr_term_body_((const type *)data, x, t, &own);                                                                 \
        answer->speed = tsr_term_gives_ & TSR_TERM_SPEED ? own.speed : 0.0f;                                            \
        for (int k = 0; k < 3; k++) answer->velocity[k] = tsr_term_gives_ & TSR_TERM_VELOCITY ? own.velocity[k] : 0.0f; \
        answer->curvature = tsr_term_gives_ & TSR_TERM_CURVATURE ? own.curvature : 0.0f;                                \
    }                                                                                                                   \
    TSR_TERM_LOOP_                                                                                                      \
    TSR_TERM_RUN_                                                                                                       \
    TSR_TERM_C_ const tsr_term_module tsr_term_module_1;                                                                \
    TSR_TERM_DEFINE_ __attribute__((visibility("default"))) const tsr_term_module tsr_term_module_1 = TSR_TERM_TABLE_;  \
    TSR_TERM_FN void tsr_term_body_(const type *data, const float *x, double t, tsr_levelset_answer *answer)

#endif
