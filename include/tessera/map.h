/* tessera/map.h: a function of your own over every element of a domain of 1 to 3 axes, one text for the CPU and the GPU; classifiers of HistoPyramids among them.
 *
 *     #include "tessera/map.h"                          in life.c
 *     typedef struct life { int32_t born, stays; } life;
 *     TSR_MAP(life, 1, 1, TSR_U8, TSR_U8)              1 input, 1 output, the types of both
 *     {
 *         int32_t n = 0;
 *         for (int k = 0; k < 9; k++) n += k != 4 && tsr_map_inside(&in[0], at[0] + k % 3 - 1, at[1] + k / 3 - 1, at[2]) && ...;
 *         TSR_MAP_OUT(0, uint8_t) = (uint8_t)(... data->born >> n & 1 ...);
 *     }
 *
 * The contract is that of the stream model: the number of processors is not visible; element i writes element i of each output and nothing else, and may
 * read anything of the inputs, which no element of this call writes. What is written is there for the next call (ping-pong: swap the volumes). The body
 * sees `data` (const TYPE *, the caller's numbers), `in` (const tsr_map_array *), `out` (through TSR_MAP_OUT), `at` (const int64_t[3]) and `i`, the
 * place in memory, (at[2] * size[1] + at[1]) * size[0] + at[0]. It is compiled as C11 and as CUDA: the C both know, no calls but of static functions marked
 * TSR_MAP_FN in the same file, no global variables. With + - * / and comparisons only, all devices give the same bits.
 *
 *     TSR_CLASSIFIER(type, most)                        a rule for tsr_pyramid_options.user: multiplicity of a voxel
 *     {
 *         return tsr_map_value(&in[0], at[0], at[1], at[2]) > data->threshold;
 *     }
 *
 * A map names the types of its inputs and outputs, and volumes of other types are refused. TSR_MAP_ANY is an input of any type, read by tsr_map_value alone, as that
 * of a classifier is.
 *
 * One function a file. In CMake, tessera_add_map(NAME FILE) makes NAME.so and, where there is a CUDA compiler, NAME_cuda.so beside it; by hand as in
 * tessera/levelset_term.h. tsr_map_load finds both. Source: docs/theory/foundations.md 1, 2, docs/theory/histopyramid.md 1. */
#ifndef TESSERA_MAP_H
#define TESSERA_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TSR_MAP_ARRAYS = 8, TSR_MAP_DATA = 1024, TSR_MAP_ABI = 2, TSR_MAP_ANY = -1 };

/* An input or output: memory of the device, x fastest. The real value of an element is stored * slope + intercept. */
typedef struct tsr_map_array {
    void *data;
    int64_t size[3];
    double slope, intercept;
    int32_t dtype; /* tsr_dtype */
} tsr_map_array;

/* Work of one call, as modules see it. */
typedef struct tsr_map_job {
    int64_t size[3];
    tsr_map_array in[TSR_MAP_ARRAYS], out[TSR_MAP_ARRAYS];
    uint64_t data[TSR_MAP_DATA / 8]; /* the caller's numbers */
} tsr_map_job;

/* What a module exports as tsr_map_module_1; functions that its compiler cannot make are NULL. */
typedef struct tsr_map_module {
    uint32_t abi, inputs, outputs, most; /* most: the largest multiplicity of a classifier; 0: it is none */
    int32_t types[2 * TSR_MAP_ARRAYS];   /* tsr_dtype of the inputs, or TSR_MAP_ANY, then of the outputs */
    uint64_t data_bytes;
    void (*thread)(const tsr_map_job *job, int64_t first, int64_t step, int64_t end); /* elements first, first + step, ... below end, on the host */
    int (*launch)(void *stream, const tsr_map_job *job, uint32_t blocks);             /* queues all elements; 0 or the number of a CUDA error */
} tsr_map_module;

/* A map ready to run. `data` points at the caller's numbers, read at each call; it may be changed between calls. */
typedef struct tsr_map {
    const tsr_map_module *module;
    const void *data;
} tsr_map;

/* Opens PATH.so (on a GPU PATH_cuda.so; a path ending in .so without it), which stays loaded until the process ends, and fills *map but for its data. data_bytes:
 * the size of the caller's numbers, at most TSR_MAP_DATA; TSR_ERROR_ARGUMENT if the module works on another size, TSR_ERROR_IO, TSR_ERROR_FORMAT. */
TSR_API tsr_status tsr_map_load(const tsr_context *context, const char *path, size_t data_bytes, tsr_map *map) TSR_CHECKED;

/* Queues one pass over the domain. BORROWS the volumes (of the context's device; keep them until tsr_context_synchronize). Each output has as many elements as the
 * domain and shares no memory with an input or another output; inputs are of any size, and may be given twice. All are of the types that the module names.
 * TSR_ERROR_ARGUMENT else. Allocates nothing. */
TSR_API tsr_status tsr_map_run(tsr_context *context, const tsr_map *map, tsr_size3 domain, const tsr_volume *const *inputs, int32_t input_count,
                               tsr_volume *const *outputs, int32_t output_count) TSR_CHECKED;

#ifdef __cplusplus
}
#endif

/* ---- inside the body ------------------------------------------------------------------------------------------------------------------ */

#ifdef __CUDACC__
#define TSR_MAP_FN static __host__ __device__ inline
#else
#define TSR_MAP_FN static inline __attribute__((unused))
#endif

/* The element of output k that this call of the body writes, as an lvalue of `type`, which is what TSR_MAP names for it. */
#define TSR_MAP_OUT(k, type) (((type *)out[k].data)[i])
/* Element number j of input k, stored value; j is inside of it. */
#define TSR_MAP_IN(k, type, j) (((const type *)in[k].data)[j])

TSR_MAP_FN int tsr_map_inside(const tsr_map_array *a, int64_t x, int64_t y, int64_t z)
{
    return x >= 0 && x < a->size[0] && y >= 0 && y < a->size[1] && z >= 0 && z < a->size[2];
}
TSR_MAP_FN int64_t tsr_map_place(const tsr_map_array *a, int64_t x, int64_t y, int64_t z) { return (z * a->size[1] + y) * a->size[0] + x; }
/* Real value at (x, y, z), each brought to the nearest place inside. */
TSR_MAP_FN double tsr_map_value(const tsr_map_array *a, int64_t x, int64_t y, int64_t z)
{
    double v;
    x = x < 0 ? 0 : x < a->size[0] ? x : a->size[0] - 1;
    y = y < 0 ? 0 : y < a->size[1] ? y : a->size[1] - 1;
    z = z < 0 ? 0 : z < a->size[2] ? z : a->size[2] - 1;
    const int64_t j = tsr_map_place(a, x, y, z);
    switch (a->dtype) {
    case TSR_U8: v = (double)((const uint8_t *)a->data)[j]; break;
    case TSR_I8: v = (double)((const int8_t *)a->data)[j]; break;
    case TSR_U16: v = (double)((const uint16_t *)a->data)[j]; break;
    case TSR_I16: v = (double)((const int16_t *)a->data)[j]; break;
    case TSR_U32: v = (double)((const uint32_t *)a->data)[j]; break;
    case TSR_I32: v = (double)((const int32_t *)a->data)[j]; break;
    case TSR_U64: v = (double)((const uint64_t *)a->data)[j]; break;
    case TSR_I64: v = (double)((const int64_t *)a->data)[j]; break;
    case TSR_F32: v = (double)((const float *)a->data)[j]; break;
    default: v = ((const double *)a->data)[j]; break;
    }
    return v * a->slope + a->intercept;
}

/* ---- what stands behind TSR_MAP and TSR_CLASSIFIER ---------------------------------------------------------------------------------------- */

#ifdef __cplusplus
#define TSR_MAP_C_ extern "C"
#define TSR_MAP_DEFINE_ extern "C"
#define TSR_MAP_ASSERT_ static_assert
#else
#define TSR_MAP_C_ extern
#define TSR_MAP_DEFINE_
#define TSR_MAP_ASSERT_ _Static_assert
#endif

/* Neighbours in memory follow by counting up, others by division. */
#define TSR_MAP_LOOP_                                                                                                       \
    TSR_MAP_FN void tsr_map_elements_(const tsr_map_job *job, int64_t first, int64_t step, int64_t end)                     \
    {                                                                                                                       \
        int64_t at[3] = { first % job->size[0], first / job->size[0] % job->size[1], first / job->size[0] / job->size[1] }; \
        for (int64_t i = first; i < end;) {                                                                                 \
            tsr_map_one_((const tsr_map_data_ *)(const void *)job->data, job->in, job->out, at, i);                         \
            i += step;                                                                                                      \
            at[0] += step;                                                                                                  \
            if (at[0] < job->size[0]) continue;                                                                             \
            at[1] += at[0] / job->size[0];                                                                                  \
            at[0] %= job->size[0];                                                                                          \
            at[2] += at[1] / job->size[1];                                                                                  \
            at[1] %= job->size[1];                                                                                          \
        }                                                                                                                   \
    }

#ifdef __CUDACC__
#define TSR_MAP_RUN_                                                                                            \
    static __global__ void tsr_map_kernel_(const __grid_constant__ tsr_map_job job)                             \
    {                                                                                                           \
        tsr_map_elements_(&job, (int64_t)blockIdx.x *blockDim.x + threadIdx.x, (int64_t)gridDim.x * blockDim.x, \
                          job.size[0] * job.size[1] * job.size[2]);                                             \
    }                                                                                                           \
    static int tsr_map_launch_(void *stream, const tsr_map_job *job, uint32_t blocks)                           \
    {                                                                                                           \
        tsr_map_kernel_<<<blocks, 256, 0, (cudaStream_t)stream>>>(*job);                                        \
        return (int)cudaGetLastError();                                                                         \
    }
#define TSR_MAP_THREAD_ NULL, tsr_map_launch_
#else
#define TSR_MAP_RUN_
#define TSR_MAP_THREAD_ tsr_map_elements_, NULL
#endif

#define TSR_MAP_MODULE_(inputs, outputs, most, ...)                                                                                    \
    TSR_MAP_LOOP_                                                                                                                      \
    TSR_MAP_RUN_                                                                                                                       \
    static const int32_t tsr_map_types_[] __attribute__((unused)) = { __VA_ARGS__ };                                                   \
    TSR_MAP_ASSERT_(sizeof tsr_map_types_ / sizeof(int32_t) == (inputs) + (outputs), "as many types as there are inputs and outputs"); \
    TSR_MAP_C_ const tsr_map_module tsr_map_module_1;                                                                                  \
    TSR_MAP_DEFINE_ __attribute__((visibility("default")))                                                                             \
    const tsr_map_module tsr_map_module_1 = { TSR_MAP_ABI, (inputs), (outputs), (most), { __VA_ARGS__ }, sizeof(tsr_map_data_), TSR_MAP_THREAD_ };

/* data, in, out, at and i are there; some may not be used. */
#define TSR_MAP_ARGUMENTS_                                                                              \
    const tsr_map_data_ *data __attribute__((unused)), const tsr_map_array *in __attribute__((unused)), \
        const tsr_map_array *out __attribute__((unused)), const int64_t *at __attribute__((unused)), int64_t i __attribute__((unused))

#define TSR_MAP(type, inputs, outputs, ...)           \
    typedef type tsr_map_data_;                       \
    TSR_MAP_FN void tsr_map_one_(TSR_MAP_ARGUMENTS_); \
    TSR_MAP_MODULE_(inputs, outputs, 0, __VA_ARGS__)  \
    TSR_MAP_FN void tsr_map_one_(TSR_MAP_ARGUMENTS_)

/* The body returns how many outputs the voxel makes; below 0 counts as 0, above `most` (1 to 255) as that. */
#define TSR_CLASSIFIER(type, most)                                                            \
    typedef type tsr_map_data_;                                                               \
    TSR_MAP_FN int32_t tsr_classify_one_(TSR_MAP_ARGUMENTS_);                                 \
    TSR_MAP_FN void tsr_map_one_(TSR_MAP_ARGUMENTS_)                                          \
    {                                                                                         \
        const int32_t count = tsr_classify_one_(data, in, out, at, i);                        \
        TSR_MAP_OUT(0, uint8_t) = (uint8_t)(count < 0 ? 0 : count < (most) ? count : (most)); \
    }                                                                                         \
    TSR_MAP_MODULE_(1, 1, most, TSR_MAP_ANY, TSR_U8)                                          \
    TSR_MAP_FN int32_t tsr_classify_one_(TSR_MAP_ARGUMENTS_)

#endif
