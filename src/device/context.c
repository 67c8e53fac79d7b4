#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/parallel.h"
#include "backend_abi.h"
#include "device/backend.h"

static const char *const kind_names[TSR_DEVICE_KINDS] = { "cpu", "cuda", "emu" };

const char *tsr_device_kind_name(tsr_device_kind kind) { return (int)kind >= 0 && kind < TSR_DEVICE_KINDS ? kind_names[kind] : "invalid"; }

/* ---- backends ------------------------------------------------------------------------------------------------------------- */

static tsr_status module_fail(tsr_status status, const char *function, const char *file, int line, const char *message)
{
    return tsr_fail_at(status, function, file, line, "%s", message);
}
static const tsr_module_host module_host = { module_fail, tsr_frame_at };

static struct module {
    const tsr_backend *backend;
    char why[512];
} modules[TSR_DEVICE_KINDS];
static pthread_once_t modules_once[TSR_DEVICE_KINDS] = { PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT };

/* Modules lie beside the library or the executable that contains it, when installed in a folder of their own there; TESSERA_MODULES names another folder. */
static void *open_beside(const char *file, char *why, size_t why_bytes)
{
    char path[4096];
    const char *folder = getenv("TESSERA_MODULES");
    if (folder && *folder) {
        snprintf(path, sizeof path, "%s/%s", folder, file);
    } else {
        Dl_info info;
        const char *slash = dladdr((const void *)&module_host, &info) && info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
        if (slash) snprintf(path, sizeof path, "%.*s/tessera/%s", (int)(slash - info.dli_fname), info.dli_fname, file);
        if (slash && access(path, R_OK) != 0) snprintf(path, sizeof path, "%.*s/%s", (int)(slash - info.dli_fname), info.dli_fname, file);
        else snprintf(path, sizeof path, "%s", file);
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library && !folder) library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) snprintf(why, why_bytes, "cannot open the module: %s", dlerror());
    return library;
}

static void open_module(tsr_device_kind kind)
{
    struct module *module = &modules[kind];
    char file[64];
    snprintf(file, sizeof file, "libtessera_%s.so", kind_names[kind]);
    void *library = open_beside(file, module->why, sizeof module->why);
    if (!library) return;
    tsr_backend_open_function open = NULL;
    void *symbol = dlsym(library, "tsr_backend_open");
    memcpy(&open, &symbol, sizeof open);
    const tsr_backend *backend = open ? open(&module_host) : NULL;
    if (!backend || backend->abi != TSR_BACKEND_ABI || backend->kind != kind) {
        snprintf(module->why, sizeof module->why, "%s is of another version of tessera", file);
        dlclose(library);
        return;
    }
    module->backend = backend;
}
static void open_cuda(void) { open_module(TSR_DEVICE_CUDA); }
static void open_emu(void) { open_module(TSR_DEVICE_EMU); }
static void open_cpu(void) { modules[TSR_DEVICE_CPU].backend = &tsr_backend_cpu; }

const tsr_backend *tsr_backend_get(tsr_device_kind kind, char *why, size_t why_bytes)
{
    static void (*const openers[TSR_DEVICE_KINDS])(void) = { open_cpu, open_cuda, open_emu };
    if ((int)kind < 0 || kind >= TSR_DEVICE_KINDS) {
        snprintf(why, why_bytes, "no such kind of device");
        return NULL;
    }
    pthread_once(&modules_once[kind], openers[kind]);
    if (!modules[kind].backend) snprintf(why, why_bytes, "%s", modules[kind].why);
    return modules[kind].backend;
}

int32_t tsr_device_count(tsr_device_kind kind, tsr_device_info *info)
{
    char why[256] = "";
    const tsr_backend *backend = tsr_backend_get(kind, why, sizeof why);
    int32_t count = backend ? backend->device_count(why, sizeof why) : 0;
    tsr_device_info own = TSR_DEVICE_INFO;
    memcpy(own.detail, why, sizeof why);
    if (count <= 0 && TSR_STRUCT_GIVE(info, &own) != TSR_OK) return 0;
    return count > 0 ? count : 0;
}

tsr_status tsr_device_describe(tsr_device device, tsr_device_info *info)
{
    TSR_NEEDS(info);
    char why[256] = "";
    tsr_device_info own = TSR_DEVICE_INFO;
    TSR_TRY(TSR_STRUCT_GIVE(info, &own));
    const tsr_backend *backend = tsr_backend_get(device.kind, why, sizeof why);
    if (!backend) TSR_FAIL(TSR_ERROR_DEVICE, "device %s: %s", tsr_device_kind_name(device.kind), why);
    int32_t count = backend->device_count(why, sizeof why);
    if (device.index < 0 || device.index >= count)
        TSR_FAIL(TSR_ERROR_DEVICE, "device %s:%d: there are %d such devices%s%s", tsr_device_kind_name(device.kind), device.index, count,
                 *why ? ": " : "", why);
    TSR_TRY(backend->describe(device.index, &own));
    return TSR_STRUCT_GIVE(info, &own);
}

/* ---- contexts ------------------------------------------------------------------------------------------------------------- */

static tsr_status parse_device(const char *text, tsr_device *device, int *automatic)
{
    *automatic = 0;
    *device = (tsr_device){ TSR_DEVICE_CPU, 0 };
    if (!strcmp(text, "auto")) {
        *automatic = 1;
        return TSR_OK;
    }
    for (int kind = 0; kind < TSR_DEVICE_KINDS; kind++) {
        size_t length = strlen(kind_names[kind]);
        if (strncmp(text, kind_names[kind], length)) continue;
        device->kind = (tsr_device_kind)kind;
        if (!text[length]) return TSR_OK;
        char *end;
        long index = text[length] == ':' ? strtol(text + length + 1, &end, 10) : -1;
        if (index < 0 || index > 1023 || *end || !text[length + 1]) break;
        device->index = (int32_t)index;
        return TSR_OK;
    }
    TSR_FAIL(TSR_ERROR_ARGUMENT, "device '%.40s': expected auto, cpu, cuda, cuda:N or emu", text);
}

tsr_status tsr_context_create(const tsr_context_options *options, tsr_context **context)
{
    TSR_RETURNS(context);
    tsr_context_options own;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    const char *name = own.device;
    if (!name || !*name) name = getenv("TESSERA_DEVICE");
    if (!name || !*name) name = "auto";
    tsr_device device;
    int automatic;
    TSR_TRY(parse_device(name, &device, &automatic));
    if (automatic && tsr_device_count(TSR_DEVICE_CUDA, NULL) > 0) device.kind = TSR_DEVICE_CUDA;
    if (own.stream && device.kind != TSR_DEVICE_CUDA)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "stream: given with device %s, expected none or device cuda", tsr_device_kind_name(device.kind));
    if (own.threads < 0 || own.threads > 4096) TSR_FAIL(TSR_ERROR_ARGUMENT, "threads: %d given, expected 0 (all) to 4096", own.threads);
    int32_t threads = own.threads ? own.threads : tsr_parallel_default_threads();

    tsr_device_info info = TSR_DEVICE_INFO;
    TSR_TRY(tsr_device_describe(device, &info));
    const tsr_backend *backend = tsr_backend_get(device.kind, info.detail, sizeof info.detail);
    tsr_context *made = NULL;
    TSR_TRY(tsr_host_allocate(&own.host_allocator, sizeof *made, (void **)&made));
    *made = (tsr_context){
        .backend = backend, .device = device, .threads = threads, .host_allocator = own.host_allocator, .device_allocator = own.device_allocator
    };
    tsr_status status;
    TSR_TRY_GOTO(backend->queue_create(device.index, threads, own.stream, &made->queue), fail);
    *context = made;
    return TSR_OK;
fail:
    tsr_host_release(&own.host_allocator, made, sizeof *made);
    return status;
}

void tsr_context_destroy(tsr_context **context)
{
    if (!context || !*context) return;
    tsr_context *c = *context;
    *context = NULL;
    tsr_status ignored = c->backend->synchronize(c->queue);
    (void)ignored;
    c->backend->queue_destroy(c->queue);
    tsr_allocator allocator = c->host_allocator;
    tsr_host_release(&allocator, c, sizeof *c);
}

tsr_device tsr_context_device(const tsr_context *context) { return context ? context->device : (tsr_device){ 0 }; }
int32_t tsr_context_threads(const tsr_context *context) { return context ? context->threads : 0; }
const tsr_memory_use *tsr_context_memory(const tsr_context *context)
{
    static const tsr_memory_use none;
    return context ? &context->memory : &none;
}
void tsr_context_reset_peak(tsr_context *context)
{
    if (context) context->memory.peak_bytes = context->memory.current_bytes;
}

tsr_status tsr_context_synchronize(tsr_context *context)
{
    TSR_NEEDS(context);
    TSR_TRY(context->backend->synchronize(context->queue));
    return TSR_OK;
}

tsr_status tsr_device_allocate(tsr_context *context, size_t bytes, void **memory)
{
    *memory = NULL;
    if (!bytes) return TSR_OK;
    const tsr_allocator *own = &context->device_allocator;
    if (own->allocate) {
        *memory = own->allocate(own->user, bytes, 256);
        if (!*memory) TSR_FAIL(TSR_ERROR_MEMORY, "the device allocator refused %zu bytes", bytes);
    } else {
        TSR_TRY(context->backend->allocate(context->queue, bytes, memory));
    }
    tsr_memory_use *use = &context->memory;
    use->current_bytes += (int64_t)bytes;
    use->allocations++;
    if (use->current_bytes > use->peak_bytes) use->peak_bytes = use->current_bytes;
    return TSR_OK;
}

void tsr_device_release(tsr_context *context, void *memory, size_t bytes)
{
    if (!memory) return;
    const tsr_allocator *own = &context->device_allocator;
    if (own->allocate) {
        if (own->release) own->release(own->user, memory, bytes);
    } else {
        context->backend->release(context->queue, memory, bytes);
    }
    context->memory.current_bytes -= (int64_t)bytes;
}

tsr_status tsr_device_move(tsr_context *to_context, void *to, tsr_context *from_context, const void *from, size_t bytes)
{
    if (!bytes) return TSR_OK;
    if (to_context && to_context == from_context) return to_context->backend->copy(to_context->queue, to, from, bytes);
    if (to_context && !from_context) return to_context->backend->upload(to_context->queue, to, from, bytes);
    if (from_context && !to_context) return from_context->backend->download(from_context->queue, to, from, bytes);
    if (!to_context) {
        memcpy(to, from, bytes);
        return TSR_OK;
    }
    if (to_context->backend == from_context->backend && to_context->device.kind == from_context->device.kind &&
        to_context->device.index == from_context->device.index) { /* one memory, two queues: after what was asked of the one, before what will be */
        TSR_TRY(from_context->backend->synchronize(from_context->queue));
        TSR_TRY(to_context->backend->copy(to_context->queue, to, from, bytes));
        return to_context->backend->synchronize(to_context->queue);
    }
    void *host;
    TSR_TRY(tsr_host_allocate(NULL, bytes, &host));
    tsr_status status = from_context->backend->download(from_context->queue, host, from, bytes);
    if (status == TSR_OK) status = to_context->backend->upload(to_context->queue, to, host, bytes);
    tsr_host_release(NULL, host, bytes);
    return status;
}
