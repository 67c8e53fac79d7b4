/* The emulator on trial: kernels that use each function of the kernel language, against answers written out by hand. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "device/kernel.h"

extern "C" {
#include <cmocka.h>
const tsr_backend *tsr_backend_open(const tsr_module_host *host);
}

static const tsr_backend *emu;
static tsr_queue *queue;

static void ok(tsr_status status)
{
    if (status != TSR_OK) fail_msg("%s", tsr_error_trace());
}

/* Device memory of n elements that knows how to come home. */
template <class T> struct device_array {
    T *data;
    size_t count;
    explicit device_array(size_t n) : data(nullptr), count(n) { ok(emu->allocate(queue, n * sizeof(T), (void **)&data)); }
    ~device_array() { emu->release(queue, data, count * sizeof(T)); }
    device_array(const device_array &) = delete;
    device_array &operator=(const device_array &) = delete;
    std::vector<T> home() const
    {
        std::vector<T> v(count);
        ok(emu->download(queue, v.data(), data, count * sizeof(T)));
        return v;
    }
    void zero() { ok(emu->fill(queue, data, 0, count * sizeof(T))); }
};

/* Every block reverses its part through shared memory, twice, with a barrier between: wrong without it. */
TSR_KERNEL(reverse_twice)(int *out, int n)
{
    TSR_SHARED(int, part, 1024);
    const int t = (int)threadIdx.x, size = (int)blockDim.x;
    part[t] = (int)blockIdx.x * size + t;
    __syncthreads();
    int v = part[size - 1 - t];
    __syncthreads();
    part[t] = v * 2;
    __syncthreads();
    if ((int)blockIdx.x * size + t < n) out[(int)blockIdx.x * size + t] = part[size - 1 - t];
}
static void barriers(void **)
{
    device_array<int> out(1000);
    TSR_LAUNCH(queue, reverse_twice, 4, 250, 0, out.data, 1000);
    std::vector<int> v = out.home();
    for (int i = 0; i < 1000; i++) assert_int_equal(v[(size_t)i], 2 * i);
}

TSR_KERNEL(votes)(int *out)
{
    const int t = (int)threadIdx.x;
    int any = __syncthreads_or(t == 37), none = __syncthreads_or(t > 500), all = __syncthreads_and(t < 500), some = __syncthreads_and(t != 5);
    int count = __syncthreads_count(t % 3 == 0);
    out[t] = (any != 0) | (none != 0) << 1 | (all != 0) << 2 | (some != 0) << 3 | count << 4;
}
static void block_votes(void **)
{
    device_array<int> out(70);
    TSR_LAUNCH(queue, votes, 1, 70, 0, out.data);
    for (int v : out.home()) assert_int_equal(v, 1 | 4 | 24 << 4);
}

/* For a width: the lane each kind of shuffle reads. */
TSR_KERNEL(shuffles)(int *out, int width)
{
    const int t = (int)threadIdx.x;
    out[4 * t] = __shfl_sync(TSR_WARP_ALL, t, 3, width);
    out[4 * t + 1] = __shfl_up_sync(TSR_WARP_ALL, t, 2u, width);
    out[4 * t + 2] = __shfl_down_sync(TSR_WARP_ALL, t, 2u, width);
    const int64_t far = __shfl_xor_sync(TSR_WARP_ALL, (int64_t)t << 40, 5, width);
    out[4 * t + 3] = (int)far | (int)(far >> 40);
}
static void warp_shuffles(void **)
{
    for (int width = 4; width <= 32; width *= 2) {
        device_array<int> out(4 * 64);
        TSR_LAUNCH(queue, shuffles, 1, 64, 0, out.data, width);
        std::vector<int> v = out.home();
        for (int t = 0; t < 64; t++) {
            int group = t / width * width, in = t % width;
            assert_int_equal(v[(size_t)(4 * t)], group + 3);
            assert_int_equal(v[(size_t)(4 * t + 1)], in >= 2 ? t - 2 : t);
            assert_int_equal(v[(size_t)(4 * t + 2)], in + 2 < width ? t + 2 : t);
            assert_int_equal(v[(size_t)(4 * t + 3)], (in ^ 5) < width ? group + (in ^ 5) : t);
        }
    }
}

TSR_KERNEL(warp_functions)(uint32_t *out)
{
    const uint32_t t = threadIdx.x;
    const int v = (int)t - 40;
    uint32_t *o = out + 8 * t;
    o[0] = __ballot_sync(TSR_WARP_ALL, t % 3 == 0);
    o[1] = (uint32_t)__any_sync(TSR_WARP_ALL, t == 33) | (uint32_t)__all_sync(TSR_WARP_ALL, t < 64) << 1;
    o[2] = (uint32_t)__reduce_add_sync(TSR_WARP_ALL, v);
    o[3] = (uint32_t)__reduce_min_sync(TSR_WARP_ALL, v);
    o[4] = (uint32_t)__reduce_max_sync(TSR_WARP_ALL, v);
    o[5] = __reduce_max_sync(TSR_WARP_ALL, t ^ 0x80000000u);
    o[6] = __reduce_or_sync(TSR_WARP_ALL, 1u << t % 32);
    o[7] = __reduce_and_sync(TSR_WARP_ALL, ~(t & 4u));
}
static void warp_reductions(void **)
{
    device_array<uint32_t> out(70 * 8); /* two whole warps and six lanes */
    TSR_LAUNCH(queue, warp_functions, 1, 70, 0, out.data);
    std::vector<uint32_t> v = out.home();
    for (int t = 0; t < 70; t++) {
        int first = t / 32 * 32, last = t < 64 ? first + 31 : 69, sum = 0;
        uint32_t ballot = 0, bits = 0;
        for (int k = first; k <= last; k++) {
            sum += k - 40;
            ballot |= (uint32_t)(k % 3 == 0) << (k - first);
            bits |= 1u << (k - first);
        }
        const uint32_t *o = &v[(size_t)(8 * t)];
        assert_int_equal(o[0], ballot);
        assert_int_equal(o[1], (first == 32) | (t < 64) << 1);
        assert_int_equal((int)o[2], sum);
        assert_int_equal((int)o[3], first - 40);
        assert_int_equal((int)o[4], last - 40);
        assert_int_equal(o[5], (uint32_t)last | 0x80000000u);
        assert_int_equal(o[6], bits);
        assert_int_equal(o[7], ~4u);
    }
}

/* Threads that leave before the barrier; lanes of a half warp that work with their own mask. */
TSR_KERNEL(early_exit)(uint32_t *out, uint32_t stay)
{
    if (threadIdx.x >= stay) return;
    __syncthreads();
    if ((threadIdx.x & 31u) >= 16) return;
    out[threadIdx.x] = __reduce_add_sync(0xffffu, threadIdx.x);
}
static void threads_that_leave(void **)
{
    device_array<uint32_t> out(96);
    out.zero();
    TSR_LAUNCH(queue, early_exit, 1, 96, 0, out.data, 64);
    std::vector<uint32_t> v = out.home();
    for (uint32_t t = 0; t < 96; t++) assert_int_equal(v[t], t < 16 ? 120 : t >= 32 && t < 48 ? 120 + 16 * 32 : 0);
}

TSR_KERNEL(where)(uint32_t *out)
{
    const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
    const uint32_t at = (z * gridDim.y * blockDim.y + y) * gridDim.x * blockDim.x + x;
    atomicAdd(&out[at], x + 100 * y + 10000 * z + 1);
}
static void shapes_of_blocks(void **)
{
    device_array<uint32_t> out(6 * 10 * 8);
    out.zero();
    TSR_LAUNCH(queue, where, dim3(2, 2, 4), dim3(3, 5, 2), 0, out.data);
    std::vector<uint32_t> v = out.home();
    for (uint32_t z = 0; z < 8; z++)
        for (uint32_t y = 0; y < 10; y++)
            for (uint32_t x = 0; x < 6; x++) assert_int_equal(v[(z * 10 + y) * 6 + x], x + 100 * y + 10000 * z + 1);
}

TSR_KERNEL(atomics)(uint32_t *w, unsigned long long *l)
{
    const uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&w[0], t);
    atomicSub(&w[1], 1u);
    atomicMin(&w[2], t + 7);
    atomicMax(&w[3], t);
    atomicOr(&w[4], 1u << t % 32);
    atomicAnd(&w[5], ~(1u << t % 8));
    atomicXor(&w[6], t);
    atomicExch(&w[7], 5u);
    atomicCAS(&w[8], 0u, t + 1);
    atomicAdd(&l[0], (unsigned long long)t << 32);
    atomicMax(&l[1], (unsigned long long)t << 32);
}
static void atomic_functions(void **)
{
    device_array<uint32_t> words(9);
    device_array<unsigned long long> longs(2);
    words.zero();
    longs.zero();
    ok(emu->fill(queue, words.data + 2, 0xff, 4));
    ok(emu->fill(queue, words.data + 5, 0xff, 4));
    TSR_LAUNCH(queue, atomics, 4, 32, 0, words.data, longs.data);
    std::vector<uint32_t> w = words.home();
    std::vector<unsigned long long> l = longs.home();
    const uint32_t expected[8] = { 127 * 64, (uint32_t)-128, 7, 127, 0xffffffffu, 0xffffff00u, 0, 5 };
    for (size_t i = 0; i < 8; i++) assert_int_equal(w[i], expected[i]);
    assert_in_range(w[8], 1, 128);
    assert_true(l[0] == (unsigned long long)(127 * 64) << 32 && l[1] == 127ull << 32);
}

TSR_KERNEL(dynamic)(float *out, int *bad)
{
    TSR_SHARED_DYNAMIC(float, part);
    if (part[threadIdx.x] == part[threadIdx.x]) atomicAdd(bad, 1); /* not NaN: not fresh */
    __syncthreads();
    part[threadIdx.x] = (float)threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}
static void dynamic_shared_memory(void **)
{
    device_array<float> out(128);
    device_array<int> bad(1);
    bad.zero();
    TSR_LAUNCH(queue, dynamic, 3, 128, 128 * sizeof(float), out.data, bad.data);
    assert_int_equal(bad.home()[0], 0);
    std::vector<float> v = out.home();
    for (size_t i = 0; i < 128; i++) assert_true(v[i] == (float)(127 - i));
}

TSR_KERNEL(order)(uint32_t *ticket, uint32_t *out) { out[blockIdx.x] = atomicAdd(ticket, 1u); }
static void order_of_blocks(void **)
{
    device_array<uint32_t> ticket(1), first(64), second(64);
    ticket.zero();
    TSR_LAUNCH(queue, order, 64, 1, 0, ticket.data, first.data);
    ticket.zero();
    TSR_LAUNCH(queue, order, 64, 1, 0, ticket.data, second.data);
    std::vector<uint32_t> a = first.home(), b = second.home();
    assert_true(a != b); /* another order each time */
    uint64_t seen = 0;
    for (uint32_t v : a) seen |= 1ull << v;
    assert_true(seen == UINT64_MAX); /* every block once */
}

TSR_KERNEL(add)(int *value, int more) { *value += more; }
static void graphs(void **)
{
    device_array<int> value(1), copy(1);
    tsr_graph *graph;
    value.zero();
    ok(tsr_graph_begin(queue));
    TSR_LAUNCH(queue, add, 1, 1, 0, value.data, 3);
    TSR_LAUNCH(queue, add, 1, 1, 0, value.data, 4);
    ok(emu->copy(queue, copy.data, value.data, sizeof(int)));
    ok(tsr_graph_end(queue, &graph));
    assert_int_equal(value.home()[0], 0); /* recorded, not run */
    for (int i = 0; i < 3; i++) ok(tsr_graph_launch(queue, graph));
    assert_int_equal(value.home()[0], 21);
    assert_int_equal(copy.home()[0], 21);
    tsr_graph_destroy(&graph);
    assert_null(graph);
}

TSR_KERNEL(read_fresh)(const float *in, float *out) { *out = *in; }
static void uninitialised_memory_is_nan(void **)
{
    device_array<float> in(1), out(1);
    TSR_LAUNCH(queue, read_fresh, 1, 1, 0, (const float *)in.data, out.data);
    assert_true(isnan(out.home()[0]));
}

/* A thread copies out of memory of another's queue while that one works on: neither takes the other's access away. */
static void two_threads(void **)
{
    enum { N = 1000, ROUNDS = 300 };
    device_array<int> shared(N), own(N);
    tsr_queue *other = nullptr;
    int *copy = nullptr, bad = 0;
    shared.zero();
    ok(emu->queue_create(0, 1, nullptr, &other));
    ok(emu->allocate(other, N * sizeof(int), (void **)&copy));
    std::thread taker([&]() {
        std::vector<int> got(N);
        for (int i = 0; i < ROUNDS; i++) {
            bad |= emu->copy(other, copy, shared.data, N * sizeof(int)) != TSR_OK;
            bad |= emu->download(other, got.data(), copy, N * sizeof(int)) != TSR_OK;
            for (int v : got) bad |= v != 0;
        }
    });
    for (int i = 0; i < ROUNDS; i++) TSR_LAUNCH(queue, reverse_twice, 4, 250, 0, own.data, (int)N);
    taker.join();
    assert_int_equal(bad, 0);
    assert_int_equal(own.home()[1], 2);
    emu->release(other, copy, N * sizeof(int));
    emu->queue_destroy(other);
}

#if !defined(TSR_SANITIZE_ADDRESS) /* which reports the fault in its own way */
static void host_reads_fault(void **)
{
    device_array<int> a(1);
    a.zero();
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        _exit(*(volatile int *)a.data == 0 ? 0 : 1);
    }
    int status = 0;
    assert_true(waitpid(child, &status, 0) == child);
    assert_true(WIFSIGNALED(status) && (WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS));
}

/* A suite goes on after a test that crashed, in a kernel too: the launches that follow fail, rather than wait for the one that never ended. */
static sigjmp_buf out_of_kernel;
static void leave_kernel(int number) { siglongjmp(out_of_kernel, number); }
TSR_KERNEL(crash)(int number) { raise(number); }
static void crashed_kernels(void **)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        device_array<int> value(1);
        signal(SIGUSR1, leave_kernel);
        alarm(30);
        if (!sigsetjmp(out_of_kernel, 1)) {
            TSR_LAUNCH(queue, crash, 1, 1, 0, SIGUSR1);
            _exit(2);
        }
        TSR_LAUNCH(queue, add, 1, 1, 0, value.data, 3);
        _exit(tsr_launch_check(queue) == TSR_ERROR_DEVICE && strstr(tsr_error_message(), "crashed") ? 0 : 1);
    }
    int status = 0;
    assert_true(waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
#endif

/* ---- mistakes that must be reported ---------------------------------------------------------------------------------------------- */

TSR_KERNEL(half_at_barrier)(int *out)
{
    if (threadIdx.x < 16) __syncthreads();
    else out[threadIdx.x] = __shfl_sync(TSR_WARP_ALL, 1, 0);
}
TSR_KERNEL(two_barriers)(int *out)
{
    if (threadIdx.x < 32) __syncthreads();
    else out[0] = __syncthreads_or(1);
}
TSR_KERNEL(foreign_mask)(int *out) { out[threadIdx.x] = __shfl_sync(1u, 1, 0); }
TSR_KERNEL(left_lane)(int *out)
{
    if (threadIdx.x == 7) return;
    out[threadIdx.x] = __shfl_sync(TSR_WARP_ALL, 1, 0);
}
TSR_KERNEL(two_functions)(int *out)
{
    if (threadIdx.x & 1) out[threadIdx.x] = (int)__ballot_sync(TSR_WARP_ALL, 1);
    else out[threadIdx.x] = __shfl_sync(TSR_WARP_ALL, 1, 0);
}

static void expect(const char *text)
{
    tsr_status status = tsr_launch_check(queue);
    assert_int_equal(status, TSR_ERROR_DEVICE);
    if (!strstr(tsr_error_message(), text)) fail_msg("'%s' lacks '%s'", tsr_error_message(), text);
    ok(tsr_launch_check(queue)); /* reported once */
}
static void mistakes(void **)
{
    device_array<int> out(64);
    TSR_LAUNCH(queue, half_at_barrier, 1, 32, 0, out.data);
    expect("deadlock");
    TSR_LAUNCH(queue, two_barriers, 1, 64, 0, out.data);
    expect("different kinds of barriers");
    TSR_LAUNCH(queue, foreign_mask, 1, 32, 0, out.data);
    expect("does not name it");
    TSR_LAUNCH(queue, left_lane, 1, 32, 0, out.data);
    expect("has left the kernel");
    TSR_LAUNCH(queue, two_functions, 1, 32, 0, out.data);
    expect("different warp functions");
    TSR_LAUNCH(queue, half_at_barrier, 1, 1025, 0, out.data);
    expect("invalid launch");
    barriers(nullptr); /* still works */
}

int main(void)
{
    emu = tsr_backend_open(nullptr);
    if (emu->queue_create(0, 1, nullptr, &queue) != TSR_OK) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(barriers), cmocka_unit_test(block_votes), cmocka_unit_test(warp_shuffles), cmocka_unit_test(warp_reductions),
        cmocka_unit_test(threads_that_leave), cmocka_unit_test(shapes_of_blocks), cmocka_unit_test(atomic_functions),
        cmocka_unit_test(dynamic_shared_memory), cmocka_unit_test(order_of_blocks), cmocka_unit_test(graphs),
        cmocka_unit_test(uninitialised_memory_is_nan), cmocka_unit_test(mistakes), cmocka_unit_test(two_threads),
#if !defined(TSR_SANITIZE_ADDRESS)
        cmocka_unit_test(host_reads_fault), cmocka_unit_test(crashed_kernels),
#endif
    };
    int failed = cmocka_run_group_tests_name("emu", tests, NULL, NULL);
    emu->queue_destroy(queue);
    return failed;
}
