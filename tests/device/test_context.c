#include "support.h"

#include "device/backend.h"

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
    options.struct_size = 3;
    require_error(tsr_context_create(&options, &context), TSR_ERROR_ARGUMENT, "struct_size");
}

static void memory_is_counted(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    void *memory;
    require_ok(tsr_device_allocate(context, 1000, &memory));
    assert_int_equal(tsr_context_memory(context).current_bytes, 1000);
    tsr_device_release(context, memory, 1000);
    assert_int_equal(tsr_context_memory(context).current_bytes, 0);
    assert_int_equal(tsr_context_memory(context).peak_bytes, 1000);
    tsr_context_destroy(&context);
    assert_null(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(wrong_devices), cmocka_unit_test(memory_is_counted) };
    return cmocka_run_group_tests_name("context", tests, NULL, NULL);
}
