#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

#include "device/backend.h"
#include "device/capability.h"
#include "device/isa.h"
#include "device/memory_limit.h"

static void wrong_devices(void **state)
{
    (void)state;
    tsr_context *context;
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    options.device = "gpu";
    require_error(tsr_context_create(&options, &context), TSR_ERROR_ARGUMENT, "expected auto, cpu, cuda");
    options.device = "cuda:x";
    require_error(tsr_context_create(&options, &context), TSR_ERROR_ARGUMENT, "cuda:x");
    options.device = "cpu:3";
    require_error(tsr_context_create(&options, &context), TSR_ERROR_DEVICE, "cpu:3");
    options.device = "cuda:999";
    require_error(tsr_context_create(&options, &context), TSR_ERROR_DEVICE, "cuda");
    assert_null(context);
    int work;
    options.device = "cpu";
    options.stream = &work; /* not that of a GPU */
    require_error(tsr_context_create(&options, &context), TSR_ERROR_ARGUMENT, "stream: given with device");
    assert_null(context);
    options.stream = NULL;
    options.struct_size = 3;
    require_error(tsr_context_create(&options, &context), TSR_ERROR_ARGUMENT, "struct_size");
}

static void memory_is_counted(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    void *memory;
    require_ok(tsr_device_allocate(context, 1000, &memory));
    assert_int_equal(tsr_context_memory(context)->current_bytes, 1000);
    tsr_device_release(context, memory, 1000);
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
    assert_int_equal(tsr_context_memory(context)->peak_bytes, 1000);
    tsr_context_destroy(&context);
    assert_null(context);
}

/* Code of a CUDA module runs on GPUs that are not older; the newest that does is taken. (Mocked GPUs: the device is its compute capability.) */
static int mocked(int device, int *major, int *minor, char *name, size_t name_bytes)
{
    *major = device / 10;
    *minor = device % 10;
    snprintf(name, name_bytes, device ? "mocked" : "no answer");
    return device > 0;
}
static void capabilities(void **state)
{
    (void)state;
    const int codes[] = { 800, 900 };
    const tsr_capability_codes made = { codes, 2 }, none = { NULL, 0 };
    const int devices[] = { 80, 86, 89, 90, 100, 121 }, newest[] = { 800, 800, 800, 900, 900, 900 };
    char why[128] = "";
    for (int i = 0; i < 6; i++) {
        assert_int_equal(tsr_capability_code(made, devices[i] / 10, devices[i] % 10), newest[i]);
        assert_true(tsr_capability_runs(made, mocked, devices[i], why, sizeof why));
    }
    assert_string_equal(why, "");
    assert_false(tsr_capability_runs(made, mocked, 75, why, sizeof why));
    assert_string_equal(why, "CUDA: GPU 75 (mocked) has compute capability 7.5, this module needs 8.0 or newer");
    assert_false(tsr_capability_runs(made, mocked, 0, why, sizeof why));
    assert_string_equal(why, "CUDA: GPU 0: no answer");
    assert_false(tsr_capability_runs(none, mocked, 90, why, sizeof why));
    assert_int_equal(tsr_capability_count(made, mocked, 79, why, sizeof why), 0);  /* GPUs of 0.0 to 7.8 */
    assert_int_equal(tsr_capability_count(made, mocked, 82, why, sizeof why), 82); /* and of 8.0 and 8.1 */
    assert_int_equal(tsr_capability_count(made, mocked, 0, why, sizeof why), 0);
}

/* What a process says is its SIMD variant: the best one; the wish of the environment where that is lower; what a test forces where that is lower. Each in a process
 * of its own, as it is looked up once. */
static int variant_of(const char *wish, int forced)
{
    int status;
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        if (wish) setenv("TESSERA_ISA", wish, 1);
        else unsetenv("TESSERA_ISA");
        tsr_isa_force(forced);
        _exit((int)tsr_isa_current());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}
static void variants(void **state)
{
    (void)state;
    static const char *const names[] = { "base", "avx2", "avx512", "sse", "" };
    if (test_watches_threads()) skip();
    const int best = variant_of(NULL, -1);
    assert_true(best < TSR_ISA_COUNT);
    for (int wish = 0; wish < 5; wish++)
        for (int forced = -1; forced < TSR_ISA_COUNT; forced++) {
            const int asked = wish < TSR_ISA_COUNT && wish < best ? wish : best, expected = forced >= 0 && forced < asked ? forced : asked;
            assert_int_equal(variant_of(names[wish], forced), expected);
        }
    for (int k = 0; k < TSR_ISA_COUNT; k++) assert_string_equal(tsr_isa_name((tsr_isa)k), names[k]);
}

/* Without a limit work on a CPU may take what the machine has; a device says itself. */
static void memory_limits(void **state)
{
    (void)state;
    tsr_context *context = test_context_on("cpu", 1);
    assert_true(tsr_physical_memory() > 1 << 20);
    assert_int_equal(tsr_memory_most(context, 0), tsr_physical_memory());
    assert_int_equal(tsr_memory_most(context, 1), 1);
    assert_string_equal(tsr_memory_limit_name(1), "the memory_limit");
    assert_string_equal(tsr_memory_limit_name(0), "the machine's memory");
    tsr_context_destroy(&context);
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    options.device = "emu";
    if (tsr_context_create(&options, &context) != TSR_OK) return;
    assert_int_equal(tsr_memory_most(context, 0), INT64_MAX);
    assert_int_equal(tsr_memory_most(context, 7), 7);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(variants) /* first: nothing has asked yet */, cmocka_unit_test(wrong_devices),
                                        cmocka_unit_test(memory_is_counted), cmocka_unit_test(capabilities), cmocka_unit_test(memory_limits) };
    return cmocka_run_group_tests_name("context", tests, NULL, NULL);
}
