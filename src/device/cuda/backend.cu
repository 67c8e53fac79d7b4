/* device/cuda/backend.cu: memory, queue and graphs of the CUDA backend. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend_abi.h"
#include "device/capability.h"
#include "device/dependent_launch.h"
#include "device/mail.h"
#include "device/module.h"
#include "device/recording.h"

static const size_t STAGING_HALF = (size_t)8 << 20, STAGING_STEP = 256;

/* A queue, and where its next upload is staged: bytes of a half that are taken. */
typedef struct staging_queue {
    tsr_cuda_queue queue;
    int half;
    size_t used;
} staging_queue;

static const int codes[] = { __CUDA_ARCH_LIST__ };
static const tsr_capability_codes made_for = { codes, (int)(sizeof codes / sizeof *codes) };

static int ask_capability(int device, int *major, int *minor, char *name, size_t name_bytes)
{
    cudaDeviceProp properties;
    const cudaError_t error = cudaGetDeviceProperties(&properties, device);
    snprintf(name, name_bytes, "%.100s", error == cudaSuccess ? properties.name : cudaGetErrorString(error));
    if (error != cudaSuccess) return 0;
    *major = properties.major;
    *minor = properties.minor;
    return 1;
}

static int32_t cuda_count(char *why, size_t why_bytes)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) {
        snprintf(why, why_bytes, "CUDA: %s", cudaGetErrorString(error));
        cudaGetLastError();
        return 0;
    }
    if (!count) snprintf(why, why_bytes, "CUDA: the driver reports no GPU");
    return tsr_capability_count(made_for, ask_capability, count, why, why_bytes);
}

static tsr_status cuda_describe(int32_t index, tsr_device_info *info)
{
    cudaDeviceProp properties;
    TSR_CUDA(cudaGetDeviceProperties(&properties, index));
    snprintf(info->name, sizeof info->name, "%.120s", properties.name);
    snprintf(info->detail, sizeof info->detail, "compute capability %d.%d, %d MiB of L2", properties.major, properties.minor,
             properties.l2CacheSize >> 20);
    info->memory_bytes = (int64_t)properties.totalGlobalMem;
    info->processors = properties.multiProcessorCount;
    return TSR_OK;
}

static void cuda_queue_destroy(tsr_queue *queue)
{
    tsr_cuda_queue *q = (tsr_cuda_queue *)queue;
    if (!q) return;
    for (int i = 0; i < 2; i++)
        if (q->staged[i]) cudaEventDestroy(q->staged[i]);
    if (q->staging) cudaFreeHost(q->staging);
    if (q->stream && !q->borrowed) cudaStreamDestroy(q->stream);
    free(q);
}

/* What is allocated on one GPU may be read and written by the other, where it has a way there: copies between them go past the host then. Where it has
 * none, or the driver declines, the driver takes copies through the host. */
static void cuda_let_reach(int on, int from)
{
    cudaMemPool_t pool;
    cudaMemAccessDesc access = {};
    int reaches = 0;
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = from;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    if (cudaDeviceCanAccessPeer(&reaches, from, on) != cudaSuccess || !reaches || cudaDeviceGetDefaultMemPool(&pool, on) != cudaSuccess ||
        cudaMemPoolSetAccess(pool, &access, 1) != cudaSuccess)
        cudaGetLastError();
}

/* GPUs that queues were opened on reach one another; one that nobody asked for is left alone. */
static void cuda_join(tsr_cuda_queue *q)
{
    static uint64_t opened;
    int count = 0;
    q->several = cudaGetDeviceCount(&count) == cudaSuccess && count > 1;
    if (!q->several || q->device >= 64) return;
    const uint64_t others = __atomic_fetch_or(&opened, (uint64_t)1 << q->device, __ATOMIC_ACQ_REL);
    if (others >> q->device & 1) return;
    for (int other = 0; other < 64; other++) {
        if (!(others >> other & 1)) continue;
        cuda_let_reach(q->device, other);
        cuda_let_reach(other, q->device);
    }
}

static tsr_status cuda_queue_open(tsr_cuda_queue *q)
{
    cudaMemPool_t pool;
    char why[256];
    if (!tsr_capability_runs(made_for, ask_capability, q->device, why, sizeof why)) TSR_FAIL(TSR_ERROR_DEVICE, "%s", why);
    uint64_t keep = UINT64_MAX; /* freed memory stays in the pool, so that a later allocation costs no driver call */
    TSR_CUDA(cudaSetDevice(q->device));
    TSR_CUDA(cudaDeviceGetAttribute(&q->processors, cudaDevAttrMultiProcessorCount, q->device));
    TSR_CUDA(cudaDeviceGetDefaultMemPool(&pool, q->device));
    TSR_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    cuda_join(q);
    if (!q->borrowed) TSR_CUDA(cudaStreamCreateWithFlags(&q->stream, cudaStreamNonBlocking));
    TSR_CUDA(cudaMallocHost(&q->staging, 2 * STAGING_HALF + TSR_QUEUE_MAIL));
    for (int i = 0; i < 2; i++) TSR_CUDA(cudaEventCreateWithFlags(&q->staged[i], cudaEventDisableTiming));
    return TSR_OK;
}

static tsr_status cuda_queue_create(int32_t index, int32_t threads, void *stream, tsr_queue **queue)
{
    tsr_cuda_queue *q = (tsr_cuda_queue *)calloc(1, sizeof(staging_queue));
    if (!q) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory: %zu bytes asked for", sizeof(staging_queue));
    q->base.threads = threads;
    q->device = index;
    q->stream = (cudaStream_t)stream;
    q->borrowed = stream != NULL;
    tsr_status status = cuda_queue_open(q);
    if (status != TSR_OK) {
        cuda_queue_destroy(&q->base);
        return status;
    }
    *queue = &q->base;
    return TSR_OK;
}

static tsr_status cuda_synchronize(tsr_queue *queue)
{
    TSR_CUDA(cudaStreamSynchronize(tsr_cuda_stream(queue)));
    return TSR_OK;
}

tsr_status tsr_queue_allocate(tsr_queue *queue, size_t bytes, void **memory)
{
    cudaError_t error = cudaMallocAsync(memory, bytes, tsr_cuda_stream(queue));
    if (error != cudaSuccess) {
        size_t available = 0, total = 0;
        cudaGetLastError();
        cudaMemGetInfo(&available, &total);
        TSR_FAIL(error == cudaErrorMemoryAllocation ? TSR_ERROR_MEMORY : TSR_ERROR_DEVICE,
                 "CUDA: %s: %zu bytes asked for, %zu of %zu free", cudaGetErrorString(error), bytes, available, total);
    }
    return TSR_OK;
}
void tsr_queue_release(tsr_queue *queue, void *memory, size_t bytes)
{
    (void)bytes;
    cudaFreeAsync(memory, tsr_cuda_stream(queue));
}

/* Pageable memory goes through two pinned halves, so that the copy into one overlaps the transfer of the other; uploads share a half as long as they fit,
 * and wait for none of each other. */
static tsr_status cuda_upload(tsr_queue *queue, void *device, const void *host, size_t bytes)
{
    staging_queue *s = (staging_queue *)queue;
    tsr_cuda_queue *q = &s->queue;
    cudaStream_t stream = tsr_cuda_stream(queue);
    for (size_t done = 0; done < bytes;) {
        if (s->used && bytes - done > STAGING_HALF - s->used) {
            s->half ^= 1;
            s->used = 0;
            TSR_CUDA(cudaEventSynchronize(q->staged[s->half]));
        }
        const size_t part = bytes - done < STAGING_HALF ? bytes - done : STAGING_HALF;
        char *stage = (char *)q->staging + (size_t)s->half * STAGING_HALF + s->used;
        memcpy(stage, (const char *)host + done, part);
        TSR_CUDA(cudaMemcpyAsync((char *)device + done, stage, part, cudaMemcpyHostToDevice, stream));
        TSR_CUDA(cudaEventRecord(q->staged[s->half], stream));
        done += part;
        s->used += (part + STAGING_STEP - 1) / STAGING_STEP * STAGING_STEP;
    }
    return TSR_OK;
}

static tsr_status cuda_download(tsr_queue *queue, void *host, const void *device, size_t bytes)
{
    tsr_cuda_queue *q = (tsr_cuda_queue *)queue;
    cudaStream_t stream = tsr_cuda_stream(queue);
    size_t sent = 0, done = 0, parts[2] = { 0, 0 };
    for (int half = 0; done < bytes; half ^= 1) {
        if (parts[half]) { /* the transfer sent two rounds ago */
            TSR_CUDA(cudaEventSynchronize(q->staged[half]));
            memcpy((char *)host + done, (char *)q->staging + (size_t)half * STAGING_HALF, parts[half]);
            done += parts[half];
            parts[half] = 0;
        }
        if (sent < bytes) {
            parts[half] = bytes - sent < STAGING_HALF ? bytes - sent : STAGING_HALF;
            TSR_CUDA(cudaMemcpyAsync((char *)q->staging + (size_t)half * STAGING_HALF, (const char *)device + sent, parts[half],
                                     cudaMemcpyDeviceToHost, stream));
            TSR_CUDA(cudaEventRecord(q->staged[half], stream));
            sent += parts[half];
        }
    }
    return TSR_OK;
}

static tsr_status cuda_copy(tsr_queue *queue, void *to, const void *from, size_t bytes)
{
    TSR_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, tsr_cuda_stream(queue)));
    return TSR_OK;
}
tsr_status tsr_queue_fill(tsr_queue *queue, void *device, int byte, size_t bytes)
{
    TSR_CUDA(cudaMemsetAsync(device, byte, bytes, tsr_cuda_stream(queue)));
    return TSR_OK;
}

/* Behind the two halves; the second half's event serves, since uploads that wait for it will wait for no less. */
void *tsr_queue_mail(tsr_queue *queue) { return (char *)((tsr_cuda_queue *)queue)->staging + 2 * STAGING_HALF; }
tsr_status tsr_queue_mail_mark(tsr_queue *queue)
{
    TSR_CUDA(cudaEventRecord(((tsr_cuda_queue *)queue)->staged[1], tsr_cuda_stream(queue)));
    return TSR_OK;
}
tsr_status tsr_queue_mail_wait(tsr_queue *queue)
{
    TSR_CUDA(cudaEventSynchronize(((tsr_cuda_queue *)queue)->staged[1]));
    return TSR_OK;
}

tsr_status tsr_launch_check(tsr_queue *queue)
{
    (void)queue;
    TSR_CUDA(cudaGetLastError());
    return TSR_OK;
}

int32_t tsr_queue_processors(const tsr_queue *queue) { return ((const tsr_cuda_queue *)queue)->processors; }

/* What runs is the newest code that is not newer than the device; of compute capability 9.0 and on it waits. */
int tsr_queue_chains(const tsr_queue *queue)
{
    const int device = ((const tsr_cuda_queue *)queue)->device;
    int major = 0, minor = 0;
    if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess) return 0;
    if (cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess) return 0;
    return tsr_capability_code(made_for, major, minor) >= 900;
}

struct tsr_graph { cudaGraphExec_t executable; };

tsr_status tsr_graph_begin(tsr_queue *queue)
{
    TSR_CUDA(cudaStreamBeginCapture(tsr_cuda_stream(queue), cudaStreamCaptureModeThreadLocal));
    return TSR_OK;
}

int tsr_queue_recording(const tsr_queue *queue)
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(((const tsr_cuda_queue *)queue)->stream, &status) == cudaSuccess && status != cudaStreamCaptureStatusNone;
}

tsr_status tsr_graph_end(tsr_queue *queue, tsr_graph **graph)
{
    cudaGraph_t captured = NULL;
    *graph = NULL;
    TSR_CUDA(cudaStreamEndCapture(tsr_cuda_stream(queue), &captured));
    tsr_graph *made = (tsr_graph *)calloc(1, sizeof *made);
    cudaError_t error = made ? cudaGraphInstantiate(&made->executable, captured, 0) : cudaErrorMemoryAllocation;
    cudaGraphDestroy(captured);
    if (error != cudaSuccess) {
        free(made);
        TSR_FAIL(TSR_ERROR_DEVICE, "CUDA: cannot instantiate a graph: %s", cudaGetErrorString(error));
    }
    *graph = made;
    return TSR_OK;
}

tsr_status tsr_graph_launch(tsr_queue *queue, tsr_graph *graph)
{
    TSR_CUDA(cudaGraphLaunch(graph->executable, tsr_cuda_stream(queue)));
    return TSR_OK;
}

void tsr_graph_destroy(tsr_graph **graph)
{
    if (!graph || !*graph) return;
    cudaGraphExecDestroy((*graph)->executable);
    free(*graph);
    *graph = NULL;
}

extern "C" {
#define TSR_SUBJECT(name) extern const struct tsr_##name##_ops tsr_##name##_cuda;
#include "device/subjects.h"
#undef TSR_SUBJECT
}

static tsr_backend make_backend(void)
{
    tsr_backend b = {};
    b.abi = TSR_BACKEND_ABI;
    b.kind = TSR_DEVICE_CUDA;
    b.device_count = cuda_count;
    b.describe = cuda_describe;
    b.queue_create = cuda_queue_create;
    b.queue_destroy = cuda_queue_destroy;
    b.synchronize = cuda_synchronize;
    b.allocate = tsr_queue_allocate;
    b.release = tsr_queue_release;
    b.upload = cuda_upload;
    b.download = cuda_download;
    b.copy = cuda_copy;
    b.fill = tsr_queue_fill;
#define TSR_SUBJECT(name) b.name = &tsr_##name##_cuda;
#include "device/subjects.h"
#undef TSR_SUBJECT
    return b;
}

extern "C" TSR_API const tsr_backend *tsr_backend_open(const tsr_module_host *host)
{
    static tsr_backend backend;
    tsr_module_attach(host);
    backend = make_backend();
    return &backend;
}
