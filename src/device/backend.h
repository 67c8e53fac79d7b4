/* device/backend.h: what a backend (cpu, cuda, emu) provides. The CPU backend is part of the library; cuda and emu are modules
 * (libtessera_cuda.so, libtessera_emu.so) that are opened on first use and export tsr_backend_open.
 *
 * Subjects add their own table of operations (device/subjects.h; struct tsr_SUBJECT_ops stands in SUBJECT_ops.h of the room): pointers to functions that take the
 * queue first and device pointers after. Host logic checks arguments, plans, and calls context->backend->SUBJECT->operation(queue, ...). */
#ifndef TSR_DEVICE_BACKEND_H
#define TSR_DEVICE_BACKEND_H

#include "core/core.h"
#include "tessera/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One ordered stream of work on one device. Each backend has its own struct whose first member is this. */
typedef struct tsr_queue {
    int32_t threads; /* CPU workers for the cpu backend */
} tsr_queue;

#define TSR_SUBJECT(name) struct tsr_##name##_ops;
#include "device/subjects.h"
#undef TSR_SUBJECT

typedef struct tsr_backend {
    uint32_t abi; /* TSR_BACKEND_ABI of the generated backend_abi.h */
    tsr_device_kind kind;
    int32_t (*device_count)(char *why, size_t why_bytes);
    tsr_status (*describe)(int32_t index, tsr_device_info *info);
    tsr_status (*queue_create)(int32_t index, int32_t threads, void *stream, tsr_queue **queue); /* stream: the caller's, or NULL */
    void (*queue_destroy)(tsr_queue *queue);
    tsr_status (*synchronize)(tsr_queue *queue);
    /* Device memory, 256-byte aligned, uninitialised (emu fills it with a NaN pattern). */
    tsr_status (*allocate)(tsr_queue *queue, size_t bytes, void **memory);
    void (*release)(tsr_queue *queue, void *memory, size_t bytes);
    /* Ordered in the queue. upload may return before the copy is done only if it no longer needs `host`; download is complete on return. */
    tsr_status (*upload)(tsr_queue *queue, void *device, const void *host, size_t bytes);
    tsr_status (*download)(tsr_queue *queue, void *host, const void *device, size_t bytes);
    tsr_status (*copy)(tsr_queue *queue, void *to, const void *from, size_t bytes); /* device to device */
    tsr_status (*fill)(tsr_queue *queue, void *device, int byte, size_t bytes);

#define TSR_SUBJECT(name) const struct tsr_##name##_ops *name;
#include "device/subjects.h"
#undef TSR_SUBJECT
} tsr_backend;

/* What a module gets from the library when it is opened. */
typedef struct tsr_module_host {
    tsr_status (*fail)(tsr_status status, const char *function, const char *file, int line, const char *message);
    tsr_status (*frame)(tsr_status status, const char *function, const char *file, int line);
} tsr_module_host;
typedef const tsr_backend *(*tsr_backend_open_function)(const tsr_module_host *host);

extern const tsr_backend tsr_backend_cpu;

/* The backend of a kind, opening its module at the first call; NULL with the reason in `why`. Thread-safe. */
const tsr_backend *tsr_backend_get(tsr_device_kind kind, char *why, size_t why_bytes);

struct tsr_context {
    const tsr_backend *backend;
    tsr_queue *queue;
    tsr_device device;
    int32_t threads;
    tsr_allocator host_allocator, device_allocator;
    tsr_memory_use memory;
};

/* Device memory of a context, counted; `bytes` 0 gives NULL. */
tsr_status tsr_device_allocate(tsr_context *context, size_t bytes, void **memory);
void tsr_device_release(tsr_context *context, void *memory, size_t bytes);

/* Copies between any two memories; a NULL context is the host. */
tsr_status tsr_device_move(tsr_context *to_context, void *to, tsr_context *from_context, const void *from, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
