/* device/cpu.c: the CPU backend: device memory is host memory, the queue is the calling thread and its workers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "backend_abi.h"
#include "device/backend.h"
#include "device/isa.h"

static int32_t cpu_count(char *why, size_t why_bytes)
{
    (void)why;
    (void)why_bytes;
    return 1;
}

static void cpu_model(char *name, size_t bytes)
{
    snprintf(name, bytes, "CPU");
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !colon) continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(name, bytes, "%.*s", (int)bytes - 1, colon[1] == ' ' ? colon + 2 : colon + 1);
        break;
    }
    if (file) fclose(file);
}

static tsr_status cpu_describe(int32_t index, tsr_device_info *info)
{
    (void)index;
    cpu_model(info->name, sizeof info->name);
    snprintf(info->detail, sizeof info->detail, "SIMD variant %s", tsr_isa_name(tsr_isa_current()));
    info->memory_bytes = tsr_physical_memory();
    info->processors = tsr_parallel_default_threads();
    return TSR_OK;
}

static tsr_status cpu_queue_create(int32_t index, int32_t threads, void *stream, tsr_queue **queue)
{
    (void)index;
    (void)stream;
    TSR_TRY(tsr_host_allocate(NULL, sizeof **queue, (void **)queue));
    (*queue)->threads = threads;
    return TSR_OK;
}
static void cpu_queue_destroy(tsr_queue *queue) { tsr_host_release(NULL, queue, sizeof *queue); }
static tsr_status cpu_synchronize(tsr_queue *queue)
{
    (void)queue;
    return TSR_OK;
}

static tsr_status cpu_allocate(tsr_queue *queue, size_t bytes, void **memory)
{
    (void)queue;
    TSR_TRY(tsr_host_allocate(NULL, bytes, memory));
    return TSR_OK;
}
static void cpu_release(tsr_queue *queue, void *memory, size_t bytes)
{
    (void)queue;
    tsr_host_release(NULL, memory, bytes);
}

struct copy { char *to; const char *from; };
static void copy_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct copy *copy = (const struct copy *)user;
    (void)worker;
    memcpy(copy->to + begin, copy->from + begin, (size_t)(end - begin));
}
static tsr_status cpu_copy(tsr_queue *queue, void *to, const void *from, size_t bytes)
{
    struct copy copy = { (char *)to, (const char *)from };
    tsr_parallel(queue->threads, (int64_t)bytes, 1 << 22, copy_range, &copy);
    return TSR_OK;
}
static tsr_status cpu_download(tsr_queue *queue, void *host, const void *device, size_t bytes) { return cpu_copy(queue, host, device, bytes); }
static tsr_status cpu_upload(tsr_queue *queue, void *device, const void *host, size_t bytes) { return cpu_copy(queue, device, host, bytes); }

struct fill { char *to; int byte; };
static void fill_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct fill *fill = (const struct fill *)user;
    (void)worker;
    memset(fill->to + begin, fill->byte, (size_t)(end - begin));
}
static tsr_status cpu_fill(tsr_queue *queue, void *device, int byte, size_t bytes)
{
    struct fill fill = { (char *)device, byte };
    tsr_parallel(queue->threads, (int64_t)bytes, 1 << 22, fill_range, &fill);
    return TSR_OK;
}

#define TSR_SUBJECT(name) extern const struct tsr_##name##_ops tsr_##name##_cpu;
#include "device/subjects.h"
#undef TSR_SUBJECT

const tsr_backend tsr_backend_cpu = {
    .abi = TSR_BACKEND_ABI,
    .kind = TSR_DEVICE_CPU,
    .device_count = cpu_count,
    .describe = cpu_describe,
    .queue_create = cpu_queue_create,
    .queue_destroy = cpu_queue_destroy,
    .synchronize = cpu_synchronize,
    .allocate = cpu_allocate,
    .release = cpu_release,
    .upload = cpu_upload,
    .download = cpu_download,
    .copy = cpu_copy,
    .fill = cpu_fill,
#define TSR_SUBJECT(name) .name = &tsr_##name##_cpu,
#include "device/subjects.h"
#undef TSR_SUBJECT
};
