/* device/emu/emu.cpp: fibres, scheduler, fenced memory, queue and graphs of the emulator. C++ because the kernels are. */
#include <atomic>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "backend_abi.h"
#include "device/kernel.h"
#include "device/mail.h"
#include "device/module.h"

#if defined(TSR_SANITIZE_ADDRESS)
#include <sanitizer/common_interface_defs.h>
#endif
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

tsr_emu_index threadIdx, blockIdx;
dim3 blockDim, gridDim;
unsigned char *tsr_emu_dynamic_shared;

/* ---- fibres: save the callee-saved registers on the own stack, swap stack pointers ------------------------------------------ */

struct context {
#if defined(__x86_64__)
    void *stack_pointer;
#else
    ucontext_t state;
#endif
    void *sanitizer;
};

#if defined(__x86_64__)
extern "C" void tsr_emu_switch(void **from, void *to);
__asm__(".text\n.globl tsr_emu_switch\n.hidden tsr_emu_switch\n.type tsr_emu_switch,@function\ntsr_emu_switch:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n  popq %rcx\n  jmp *%rcx\n"
        ".size tsr_emu_switch, .-tsr_emu_switch\n");
#endif

enum { STACK_BYTES = 128 << 10 };
enum thread_state { READY, WAIT_BLOCK, WAIT_WARP, DONE };

struct fibre {
    context registers;
    char *stack;
};

struct cuda_thread {
    tsr_emu_index index;
    thread_state state;
    fibre *on;
    tsr_emu_function function;
    uint32_t mask, wanted;
    uint64_t value, result;
};

struct scheduler {
    context main;
    std::vector<cuda_thread> threads;
    std::vector<fibre *> free_fibres, all_fibres;
    const std::function<void()> *body;
    cuda_thread *current;
    size_t next, done;      /* first thread of the block not yet begun; threads that have left the kernel */
    uint32_t warps_waiting; /* bit per warp: some lane waits in a warp function */
    const char *failure;
    ~scheduler()
    {
        for (fibre *f : all_fibres) {
            munmap(f->stack, STACK_BYTES);
            delete f;
        }
    }
};
static scheduler scheduler_;
static std::mutex one_kernel; /* held while a kernel runs: guards all of the above */
static thread_local bool in_kernel; /* this thread runs one */

#if defined(TSR_SANITIZE_ADDRESS)
static const void *last_stack; /* the stack that the last switch left: in a fibre, that of the host thread */
static size_t last_stack_bytes;
#endif
/* Inlined, and with a jump for a return above: each return after a switch is predicted wrong, so there should be few. */
#define EMU_INLINE static inline __attribute__((always_inline))
EMU_INLINE void switch_context(context *from, context *to, char *to_stack, size_t to_bytes, bool last)
{
#if defined(TSR_SANITIZE_ADDRESS)
    __sanitizer_start_switch_fiber(last ? nullptr : &from->sanitizer, to_stack, to_bytes);
#else
    (void)to_stack;
    (void)to_bytes;
    (void)last;
#endif
#if defined(__x86_64__)
    tsr_emu_switch(&from->stack_pointer, to->stack_pointer);
#else
    swapcontext(&from->state, &to->state);
#endif
#if defined(TSR_SANITIZE_ADDRESS)
    __sanitizer_finish_switch_fiber(from->sanitizer, &last_stack, &last_stack_bytes);
#endif
}

EMU_INLINE void leave_fibre(bool last)
{
    scheduler &s = scheduler_;
#if defined(TSR_SANITIZE_ADDRESS)
    switch_context(&s.current->on->registers, &s.main, (char *)last_stack, last_stack_bytes, last);
#else
    switch_context(&s.current->on->registers, &s.main, nullptr, 0, last);
#endif
}

/* Gives the fibre the next thread of the block that has not begun. */
static bool begin_thread(scheduler &s, fibre *f)
{
    if (s.next == s.threads.size() || s.failure) return false;
    s.current = &s.threads[s.next++];
    s.current->on = f;
    threadIdx = s.current->index;
    return true;
}

/* A fibre lives on: when its thread is done it goes on with the next one (a kernel without barriers is a plain loop here), and when there
 * is none it waits for the next block. */
static void fibre_main(void)
{
#if defined(TSR_SANITIZE_ADDRESS)
    __sanitizer_finish_switch_fiber(nullptr, &last_stack, &last_stack_bytes);
#endif
    scheduler &s = scheduler_;
    for (;;) {
        (*s.body)();
        fibre *own = s.current->on;
        s.current->state = DONE;
        s.done++;
        cuda_thread *ended = s.current;
        if (begin_thread(s, own)) ended->on = nullptr;
        else leave_fibre(false);
    }
}

static fibre *fibre_create(void)
{
    fibre *f = new fibre();
    f->stack = (char *)mmap(nullptr, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (f->stack == MAP_FAILED) abort(); /* a test instrument may */
#if defined(__x86_64__)
    /* Stacks begin at different lines of a page: the tops of all would fall into the same few sets of the cache. */
    size_t colour = scheduler_.all_fibres.size() % 64 * 256;
    void **top = (void **)(f->stack + STACK_BYTES - colour) - 1; /* the return address of fibre_main, never used; aligned as after a call */
    *top = nullptr;
    *--top = (void *)fibre_main;
    for (int i = 0; i < 6; i++) *--top = nullptr;
    f->registers.stack_pointer = top;
#else
    getcontext(&f->registers.state);
    f->registers.state.uc_stack.ss_sp = f->stack;
    f->registers.state.uc_stack.ss_size = STACK_BYTES;
    makecontext(&f->registers.state, fibre_main, 0);
#endif
    scheduler_.all_fibres.push_back(f);
    return f;
}

/* ---- barriers and warp functions ------------------------------------------------------------------------------------------ */

EMU_INLINE uint64_t thread_wait(thread_state state, tsr_emu_function function, uint32_t mask, uint64_t value, uint32_t wanted)
{
    scheduler &s = scheduler_;
    cuda_thread *t = s.current;
    t->state = state;
    t->function = function;
    t->mask = mask;
    t->value = value;
    t->wanted = wanted;
    if (state == WAIT_WARP) s.warps_waiting |= 1u << ((size_t)(t - s.threads.data()) / 32);
    leave_fibre(false);
    return t->result;
}

uint64_t tsr_emu_block_wait(tsr_emu_function function, uint64_t value) { return thread_wait(WAIT_BLOCK, function, 0, value, 0); }
uint64_t tsr_emu_warp_wait(tsr_emu_function function, uint32_t mask, uint64_t value, uint32_t lane)
{
    return thread_wait(WAIT_WARP, function, mask, value, lane);
}
uint32_t tsr_emu_lane(void)
{
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 31u;
}

static uint64_t combine(tsr_emu_function function, uint64_t a, uint64_t b)
{
    switch (function) {
    case TSR_EMU_SYNC_OR: case TSR_EMU_REDUCE_OR: return a | b;
    case TSR_EMU_SYNC_AND: case TSR_EMU_REDUCE_AND: return a & b;
    case TSR_EMU_SYNC_COUNT: case TSR_EMU_REDUCE_ADD: return a + b;
    case TSR_EMU_REDUCE_MIN: return std::min(a, b);
    case TSR_EMU_REDUCE_MAX: return std::max(a, b);
    case TSR_EMU_REDUCE_MIN_SIGNED: return (uint32_t)std::min((int32_t)a, (int32_t)b);
    case TSR_EMU_REDUCE_MAX_SIGNED: return (uint32_t)std::max((int32_t)a, (int32_t)b);
    default: return 0;
    }
}

/* Releases the warps whose function is complete. */
static void finish_warps(scheduler &s)
{
    size_t count = s.threads.size();
    for (uint32_t waiting = s.warps_waiting; waiting; waiting &= waiting - 1) {
        size_t first = (size_t)__builtin_ctz(waiting) * 32;
        bool left = false;
        size_t lanes = std::min<size_t>(32, count - first);
        cuda_thread *t = &s.threads[first];
        for (size_t i = 0; i < lanes; i++) {
            if (t[i].state != WAIT_WARP) continue;
            uint32_t mask = lanes == 32 ? t[i].mask : t[i].mask & ((1u << lanes) - 1u);
            bool complete = (mask >> i) & 1u;
            if (!complete) s.failure = "a lane calls a warp function whose mask does not name it";
            uint64_t total = 0;
            uint32_t ballot = 0;
            bool begun = false;
            for (size_t k = 0; k < lanes && complete; k++) {
                if (!((mask >> k) & 1u)) continue;
                if (t[k].state == DONE) { complete = false; s.failure = "a lane named in a warp function's mask has left the kernel"; }
                if (t[k].state != WAIT_WARP) { complete = false; break; }
                if (t[k].function != t[i].function || (t[k].mask ^ t[i].mask) & (lanes == 32 ? 0xffffffffu : (1u << lanes) - 1u)) {
                    complete = false;
                    s.failure = "lanes of one warp wait in different warp functions";
                    break;
                }
                total = begun ? combine(t[i].function, total, t[k].value) : t[k].value;
                begun = true;
                if (t[k].value) ballot |= 1u << k;
            }
            if (!complete) continue;
            for (size_t k = 0; k < lanes; k++) {
                if (!((mask >> k) & 1u)) continue;
                if (t[k].function == TSR_EMU_BALLOT) t[k].result = ballot;
                else if (t[k].function == TSR_EMU_SHUFFLE) t[k].result = t[k].wanted < lanes && (mask >> t[k].wanted & 1u)
                    ? t[t[k].wanted].value : 0x7fc0dead7fc0deadull;
                else t[k].result = total;
            }
            for (size_t k = 0; k < lanes; k++)
                if ((mask >> k) & 1u) t[k].state = READY;
        }
        for (size_t i = 0; i < lanes; i++) left |= t[i].state == WAIT_WARP;
        if (!left) s.warps_waiting &= ~(1u << (first / 32));
    }
}

/* Releases the block barrier when every thread that is still in the kernel waits there. */
static void finish_block(scheduler &s)
{
    const cuda_thread *one = nullptr;
    uint64_t total = 0;
    for (const cuda_thread &t : s.threads) {
        if (t.state == DONE) continue;
        if (t.state != WAIT_BLOCK) return;
        if (one && one->function != t.function) { s.failure = "threads of one block wait at different kinds of barriers"; return; }
        total = one ? combine(t.function, total, t.value) : t.value;
        one = &t;
    }
    for (cuda_thread &t : s.threads) {
        if (t.state != WAIT_BLOCK) continue;
        t.result = total;
        t.state = READY;
    }
}

/* Runs the current thread until it waits or, with all that follow it in the same fibre, is done. */
EMU_INLINE void enter(scheduler &s)
{
    fibre *f = s.current->on;
    threadIdx = s.current->index;
    switch_context(&s.main, &f->registers, f->stack, STACK_BYTES, false);
    if (s.current->state != DONE) return;
    s.current->on = nullptr;
    s.free_fibres.push_back(f);
}

static void run_block(scheduler &s, dim3 threads)
{
    size_t count = (size_t)threads.x * threads.y * threads.z;
    s.threads.assign(count, cuda_thread());
    s.next = s.done = 0;
    s.warps_waiting = 0;
    for (size_t i = 0; i < count; i++)
        s.threads[i].index = { (uint32_t)(i % threads.x), (uint32_t)(i / threads.x % threads.y), (uint32_t)(i / threads.x / threads.y) };
    while (s.next < count && !s.failure) {
        fibre *f;
        if (s.free_fibres.empty()) f = fibre_create();
        else {
            f = s.free_fibres.back();
            s.free_fibres.pop_back();
        }
        begin_thread(s, f);
        enter(s);
    }
    while (s.done < count && !s.failure) {
        finish_warps(s);
        finish_block(s);
        bool progress = false;
        for (size_t i = 0; i < count && !s.failure; i++) {
            if (s.threads[i].state != READY) continue;
            progress = true;
            s.current = &s.threads[i];
            enter(s);
        }
        if (!progress && !s.failure) s.failure = "deadlock: some threads wait at a barrier that others never reach";
    }
    for (cuda_thread &t : s.threads) t.on = nullptr; /* after a failure suspended fibres are abandoned, and never reused */
}

/* ---- fenced device memory --------------------------------------------------------------------------------------------------- */

static const size_t ARENA_BYTES = (size_t)1 << 37, HUGE_PAGE = (size_t)1 << 21;

struct emu_queue {
    tsr_queue base;
    char *arena;
    size_t used;
    std::multimap<size_t, char *> released; /* by size */
    bool fence, recording;
    std::mutex gate; /* of `open`, and of the rights of pages: a queue's memory may be the source of a copy that another thread makes */
    int open;        /* who has access just now, where page tables give it (the rights of a key belong to a thread) */
    int key; /* memory protection key of the fence, or -1: page tables are changed, which costs more than most kernels */
    uint64_t random;
    alignas(16) unsigned char mail[TSR_QUEUE_MAIL];
    bool marked;         /* the mail, which is waited for before it is touched again: a GPU may be writing it */
    std::string refused; /* a kernel one launch of which fails, for tests of what comes after */
    long refused_after;  /* this many launches of it */
    std::string failure;
    std::vector<std::function<void()>> record;
};

static int64_t physical_memory(void) { return (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE); }

static size_t page_round(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page + page; /* one page between allocations */
}

struct unfenced { /* device memory is accessible while one of these lives */
    emu_queue *queue;
    explicit unfenced(tsr_queue *q) : queue((emu_queue *)q) { set(true); }
    ~unfenced() { set(false); }
    void set(bool open)
    {
        if (!queue->fence) return;
#if defined(PKEY_DISABLE_ACCESS)
        if (queue->key >= 0) {
            pkey_set(queue->key, open ? 0 : PKEY_DISABLE_ACCESS);
            return;
        }
#endif
        std::lock_guard<std::mutex> lock(queue->gate);
        queue->open += open ? 1 : -1;
        if (!open && queue->open) return; /* another still works with it */
        if (queue->used) mprotect(queue->arena, (queue->used + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE, open ? PROT_READ | PROT_WRITE : PROT_NONE);
    }
};

/* All queues, to find whose memory an address is: copies go from one device to another, as they do between two GPUs. */
static std::mutex all_queues_lock;
static std::vector<emu_queue *> all_queues;

static emu_queue *owner_of(const void *memory)
{
    std::lock_guard<std::mutex> lock(all_queues_lock);
    for (emu_queue *q : all_queues)
        if ((const char *)memory >= q->arena && (const char *)memory < q->arena + ARENA_BYTES) return q;
    return nullptr;
}

static int32_t emu_count(char *why, size_t why_bytes)
{
    (void)why;
    (void)why_bytes;
    return 1;
}

static tsr_status emu_describe(int32_t index, tsr_device_info *info)
{
    (void)index;
    snprintf(info->name, sizeof info->name, "emulator");
    snprintf(info->detail, sizeof info->detail, "runs the CUDA kernels on the CPU, for tests");
    info->memory_bytes = physical_memory();
    info->processors = 4;
    return TSR_OK;
}

static tsr_status emu_queue_create(int32_t index, int32_t threads, void *stream, tsr_queue **queue)
{
    (void)index;
    (void)stream;
    emu_queue *q = new emu_queue();
    const char *fence = getenv("TESSERA_EMU_FENCE"), *seed = getenv("TESSERA_EMU_SEED");
    if (const char *refuse = getenv("TESSERA_EMU_REFUSE")) { /* KERNEL:LAUNCHES before */
        const std::string text = refuse;
        const size_t colon = text.find(':');
        q->refused = text.substr(0, colon);
        q->refused_after = colon == std::string::npos ? 0 : atol(text.c_str() + colon + 1);
    }
    q->base.threads = threads;
    q->fence = !fence || *fence != '0';
    q->random = seed ? strtoull(seed, nullptr, 10) * 2 + 1 : 0x9e3779b97f4a7c15ull;
    q->arena = (char *)mmap(nullptr, ARENA_BYTES, q->fence ? PROT_NONE : PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (q->arena == MAP_FAILED) {
        delete q;
        TSR_FAIL(TSR_ERROR_MEMORY, "emu: cannot reserve %zu bytes of address space", ARENA_BYTES);
    }
    madvise(q->arena, ARENA_BYTES, MADV_HUGEPAGE); /* where there are no keys a fence goes page by page: the fewer the better */
    q->key = -1;
#if defined(PKEY_DISABLE_ACCESS)
    if (q->fence) q->key = pkey_alloc(0, PKEY_DISABLE_ACCESS); /* there are 15 of them, on newer processors */
    if (q->key >= 0 && pkey_mprotect(q->arena, ARENA_BYTES, PROT_READ | PROT_WRITE, q->key)) {
        pkey_free(q->key);
        q->key = -1;
    }
#endif
    {
        std::lock_guard<std::mutex> lock(all_queues_lock);
        all_queues.push_back(q);
    }
    *queue = &q->base;
    return TSR_OK;
}

static void emu_queue_destroy(tsr_queue *queue)
{
    emu_queue *q = (emu_queue *)queue;
    if (!q) return;
    {
        std::lock_guard<std::mutex> lock(all_queues_lock);
        all_queues.erase(std::remove(all_queues.begin(), all_queues.end(), q), all_queues.end());
    }
    munmap(q->arena, ARENA_BYTES);
#if defined(PKEY_DISABLE_ACCESS)
    if (q->key >= 0) pkey_free(q->key);
#endif
    delete q;
}

tsr_status tsr_queue_allocate(tsr_queue *queue, size_t bytes, void **memory)
{
    emu_queue *q = (emu_queue *)queue;
    size_t rounded = page_round(bytes);
    auto found = q->released.find(rounded);
    if (found != q->released.end()) {
        *memory = found->second;
        q->released.erase(found);
    } else {
        if (rounded > ARENA_BYTES - q->used || (int64_t)rounded > physical_memory())
            TSR_FAIL(TSR_ERROR_MEMORY, "emu: %zu bytes asked for", bytes);
        *memory = q->arena + q->used;
        q->used += rounded;
    }
    unfenced access(queue);
    memset(*memory, 0xff, bytes); /* NaN, -1: whatever reads it before writing shows */
    return TSR_OK;
}

void tsr_queue_release(tsr_queue *queue, void *memory, size_t bytes)
{
    emu_queue *q = (emu_queue *)queue;
    unfenced access(queue);
    memset(memory, 0xff, bytes);
    q->released.emplace(page_round(bytes), (char *)memory);
}

/* Transfer audit: copies between host and device since the module was opened, for tests of whole pipelines. */
static std::atomic<int64_t> transfers[4];
extern "C" TSR_API void tsr_emu_transfers(int64_t counts[4]); /* uploads, their bytes, downloads, their bytes */
void tsr_emu_transfers(int64_t counts[4])
{
    for (int k = 0; k < 4; k++) counts[k] = transfers[k];
}
static void count_transfer(int first, size_t bytes)
{
    transfers[first]++;
    transfers[first + 1] += (int64_t)bytes;
}

static tsr_status emu_upload(tsr_queue *queue, void *device, const void *host, size_t bytes)
{
    count_transfer(0, bytes);
    unfenced access(queue);
    if (bytes) memcpy(device, host, bytes);
    return TSR_OK;
}
static tsr_status emu_download(tsr_queue *queue, void *host, const void *device, size_t bytes)
{
    count_transfer(2, bytes);
    TSR_TRY(tsr_launch_check(queue));
    unfenced access(queue);
    if (bytes) memcpy(host, device, bytes);
    return TSR_OK;
}

/* Work that a graph may record. */
static void submit(tsr_queue *queue, std::function<void()> work)
{
    emu_queue *q = (emu_queue *)queue;
    if (q->recording) q->record.push_back(work);
    else work();
}
static tsr_status emu_copy(tsr_queue *queue, void *to, const void *from, size_t bytes)
{
    submit(queue, [=]() {
        emu_queue *source = owner_of(from);
        unfenced access(queue);
        if (source && source != (emu_queue *)queue) {
            unfenced other(&source->base);
            memmove(to, from, bytes);
        } else memmove(to, from, bytes);
    });
    return TSR_OK;
}
tsr_status tsr_queue_fill(tsr_queue *queue, void *device, int byte, size_t bytes)
{
    submit(queue, [=]() {
        unfenced access(queue);
        memset(device, byte, bytes);
    });
    return TSR_OK;
}

void *tsr_queue_mail(tsr_queue *queue)
{
    emu_queue *q = (emu_queue *)queue;
    if (q->marked) q->failure = "the mail is touched before it is waited for";
    return q->mail;
}
tsr_status tsr_queue_mail_mark(tsr_queue *queue)
{
    ((emu_queue *)queue)->marked = true;
    return TSR_OK;
}
tsr_status tsr_queue_mail_wait(tsr_queue *queue)
{
    ((emu_queue *)queue)->marked = false;
    return tsr_launch_check(queue);
}

tsr_status tsr_launch_check(tsr_queue *queue)
{
    emu_queue *q = (emu_queue *)queue;
    if (q->failure.empty()) return TSR_OK;
    std::string text;
    text.swap(q->failure);
    TSR_FAIL(TSR_ERROR_DEVICE, "emu: %s", text.c_str());
}
static tsr_status emu_synchronize(tsr_queue *queue) { return tsr_launch_check(queue); }

int32_t tsr_queue_processors(const tsr_queue *queue)
{
    (void)queue;
    return 4;
}

static uint64_t random_next(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

/* Which kernels ran: with TESSERA_EMU_LAUNCHES=FILE a program adds at its end the places of their functions in the module, one a line, for
 * scripts/kernels.py. The first line says of which build of the module: places of another one are thrown away. */
struct launch_list {
    std::set<const void *> kernels;
    ~launch_list()
    {
        const char *path = getenv("TESSERA_EMU_LAUNCHES");
        Dl_info module;
        struct stat built;
        if (!path || !*path || kernels.empty() || !dladdr((const void *)&tsr_emu_run, &module) || stat(module.dli_fname, &built)) return;
        char which[64], line[64] = "";
        snprintf(which, sizeof which, "module %lld.%09ld\n", (long long)built.st_mtim.tv_sec, built.st_mtim.tv_nsec);
        FILE *f = fopen(path, "r");
        if (f) {
            if (!fgets(line, sizeof line, f)) *line = 0;
            fclose(f);
        }
        const bool same = !strcmp(line, which);
        f = fopen(path, same ? "a" : "w");
        if (!f) return;
        if (!same) fputs(which, f);
        for (const void *kernel : kernels) fprintf(f, "%zx\n", (size_t)((const char *)kernel - (const char *)module.dli_fbase));
        fclose(f);
    }
};
static launch_list launches;

static void run_grid(tsr_queue *queue, dim3 blocks, dim3 threads, size_t shared, const std::function<void()> &body, const char *name,
                     const void *kernel)
{
    emu_queue *q = (emu_queue *)queue;
    scheduler &s = scheduler_;
    size_t count = (size_t)blocks.x * blocks.y * blocks.z;
    if (!count || (size_t)threads.x * threads.y * threads.z - 1 > 1023 || blocks.y > 65535 || blocks.z > 65535 || shared > 232448) {
        q->failure = std::string(name) + ": invalid launch configuration";
        return;
    }
    if (!q->refused.empty() && std::string(name).find(q->refused) != std::string::npos && q->refused_after-- == 0) {
        q->failure = std::string(name) + ": launch refused";
        return;
    }
    if (in_kernel) { /* a suite that outlives a crash comes here, and would wait for itself for ever */
        q->failure = std::string(name) + ": the kernel before crashed; the emulator cannot go on in this program";
        return;
    }
    std::vector<uint32_t> order(count);
    for (size_t i = 0; i < count; i++) order[i] = (uint32_t)i;
    for (size_t i = count - 1; i > 0; i--) std::swap(order[i], order[random_next(&q->random) % (i + 1)]);
    std::vector<unsigned char> dynamic(shared + 64);
    std::lock_guard<std::mutex> alone(one_kernel);
    launches.kernels.insert(kernel);
    unfenced access(queue);
    tsr_emu_dynamic_shared = (unsigned char *)(((uintptr_t)dynamic.data() + 63) & ~(uintptr_t)63);
    blockDim = threads;
    gridDim = blocks;
    s.body = &body;
    s.failure = nullptr;
    in_kernel = true;
    for (size_t i = 0; i < count && !s.failure; i++) {
        uint32_t b = order[i];
        blockIdx = { b % blocks.x, b / blocks.x % blocks.y, b / blocks.x / blocks.y };
        memset(tsr_emu_dynamic_shared, 0xff, shared);
        run_block(s, threads);
    }
    in_kernel = false;
    if (s.failure && q->failure.empty()) q->failure = std::string(name) + ": " + s.failure;
}

void tsr_emu_run(tsr_queue *queue, dim3 blocks, dim3 threads, size_t shared, std::function<void()> body, const char *name, const void *kernel)
{
    submit(queue, [=]() { run_grid(queue, blocks, threads, shared, body, name, kernel); });
}

/* ---- graphs ------------------------------------------------------------------------------------------------------------------ */

struct tsr_graph { std::vector<std::function<void()>> work; };

tsr_status tsr_graph_begin(tsr_queue *queue)
{
    ((emu_queue *)queue)->recording = true;
    return TSR_OK;
}
int tsr_queue_recording(const tsr_queue *queue) { return ((const emu_queue *)queue)->recording; }
tsr_status tsr_graph_end(tsr_queue *queue, tsr_graph **graph)
{
    emu_queue *q = (emu_queue *)queue;
    q->recording = false;
    *graph = new tsr_graph();
    (*graph)->work.swap(q->record);
    return TSR_OK;
}
tsr_status tsr_graph_launch(tsr_queue *queue, tsr_graph *graph)
{
    for (const std::function<void()> &work : graph->work) work();
    return tsr_launch_check(queue);
}
void tsr_graph_destroy(tsr_graph **graph)
{
    if (!graph) return;
    delete *graph;
    *graph = nullptr;
}

/* ---- the table ---------------------------------------------------------------------------------------------------------------- */

extern "C" {
#define TSR_SUBJECT(name) extern const struct tsr_##name##_ops tsr_##name##_cuda;
#include "device/subjects.h"
#undef TSR_SUBJECT
}

extern "C" TSR_API const tsr_backend *tsr_backend_open(const tsr_module_host *host)
{
    static tsr_backend b;
    tsr_module_attach(host);
    b.abi = TSR_BACKEND_ABI;
    b.kind = TSR_DEVICE_EMU;
    b.device_count = emu_count;
    b.describe = emu_describe;
    b.queue_create = emu_queue_create;
    b.queue_destroy = emu_queue_destroy;
    b.synchronize = emu_synchronize;
    b.allocate = tsr_queue_allocate;
    b.release = tsr_queue_release;
    b.upload = emu_upload;
    b.download = emu_download;
    b.copy = emu_copy;
    b.fill = tsr_queue_fill;
#define TSR_SUBJECT(name) b.name = &tsr_##name##_cuda;
#include "device/subjects.h"
#undef TSR_SUBJECT
    return &b;
}
