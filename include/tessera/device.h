/* tessera/device.h: contexts and devices. A context is one device (CPU, a CUDA GPU, or the emulator that runs the CUDA
 * kernels on the CPU for tests) with its memory, its queue of work and its number of threads. */
#ifndef TESSERA_DEVICE_H
#define TESSERA_DEVICE_H

#include "tessera/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_device_kind { TSR_DEVICE_CPU = 0, TSR_DEVICE_CUDA = 1, TSR_DEVICE_EMU = 2, TSR_DEVICE_KINDS } tsr_device_kind;

typedef struct tsr_device { tsr_device_kind kind; int32_t index; } tsr_device; /* zero = the CPU */

typedef struct tsr_device_info {
    size_t struct_size;
    char name[128];            /* "AMD EPYC ...", "NVIDIA H200", "emulator of CUDA kernels on the CPU" */
    char detail[256];          /* SIMD variant in use, compute capability; or why the backend has no device */
    int64_t memory_bytes;      /* total memory of the device, 0 if unknown */
    int32_t processors;        /* threads of the CPU, multiprocessors of a GPU */
} tsr_device_info;
#define TSR_DEVICE_INFO TSR_SIZED(tsr_device_info)

/* A context is not thread-safe; objects made from one context are used by one thread at a time. */
typedef struct tsr_context tsr_context;

typedef struct tsr_context_options {
    size_t struct_size;             /* sizeof(tsr_context_options); set by TSR_CONTEXT_OPTIONS */
    const char *device;             /* "auto", "cpu", "cuda", "cuda:1", "emu"; NULL: environment TESSERA_DEVICE, else "auto" */
    int32_t threads;                /* CPU threads; 0 = OMP_NUM_THREADS or all */
    tsr_allocator host_allocator;   /* KEEPS; zero = malloc family */
    tsr_allocator device_allocator; /* KEEPS; zero = the backend's own. Must return memory of the chosen device */
    void *stream;                   /* of cuda: a cudaStream_t of the chosen GPU that all work is queued on, in order with what else its owner queues; it must
                                     * outlive the context. NULL: one of the context's own */
} tsr_context_options;
#define TSR_CONTEXT_OPTIONS TSR_SIZED(tsr_context_options)

/* Creates a context; "auto" takes a CUDA device if one works, else the CPU; a device named explicitly that does not work
 * is TSR_ERROR_DEVICE, never a silent fallback. `options` may be NULL. RETURNS NEW in *context. */
TSR_API tsr_status tsr_context_create(const tsr_context_options *options, tsr_context **context) TSR_CHECKED;

/* Waits for the queue and frees it. Objects made from the context must be destroyed before. NULL or *context NULL is fine. */
TSR_API void tsr_context_destroy(tsr_context **context);

TSR_API tsr_device tsr_context_device(const tsr_context *context);
TSR_API int32_t tsr_context_threads(const tsr_context *context);

/* Waits until all work queued by earlier calls is done and reports the first failure among it. */
TSR_API tsr_status tsr_context_synchronize(tsr_context *context) TSR_CHECKED;

/* Number of usable devices of a kind; if 0 and `info` is given, info->detail says why. */
TSR_API int32_t tsr_device_count(tsr_device_kind kind, tsr_device_info *info);
TSR_API tsr_status tsr_device_describe(tsr_device device, tsr_device_info *info) TSR_CHECKED;
TSR_API const char *tsr_device_kind_name(tsr_device_kind kind); /* "cpu", "cuda", "emu" */

/* Bytes of device memory the context holds now and held at most since it was created (or since tsr_context_reset_peak). */
typedef struct tsr_memory_use { int64_t current_bytes, peak_bytes, allocations; } tsr_memory_use;
TSR_API const tsr_memory_use *tsr_context_memory(const tsr_context *context);
TSR_API void tsr_context_reset_peak(tsr_context *context);

/* ---- processes of a job -------------------------------------------------------------------------------------------------------------- */

/* How the processes of a job, its ranks, exchange memory. A caller supplies one from whatever its job runs on; tessera/mpi.h
 * makes one of an MPI communicator. */

typedef struct tsr_message {
    int32_t rank;  /* the other one */
    int receive;   /* 1: from it, 0: to it */
    void *data;    /* host memory; BORROWS, until the exchange returns */
    int64_t bytes; /* the same on both sides */
} tsr_message;

/* All functions are called by all ranks in the same order, from one thread. What one rank sends to another arrives in the order in which
 * both list it. */
typedef struct tsr_communicator {
    int32_t rank, ranks; /* 0 <= rank < ranks */
    void *user;
    /* All messages at once; returns when what is to be received is there and what is to be sent may be changed. TSR_ERROR_IO if that fails. A
     * rank that cannot take part must not leave the others waiting. */
    tsr_status (*exchange)(void *user, const tsr_message *messages, int32_t count);
    /* *worst: of all ranks the least (tsr_status: failures are negative). */
    tsr_status (*agree)(void *user, int32_t *worst);
} tsr_communicator;

#ifdef __cplusplus
}
#endif
#endif
