/* What the suites of the primitives share: one context for all tests, which holds nothing at the end, and arrays on its device. */
#ifndef TSR_TESTS_ON_DEVICE_H
#define TSR_TESTS_ON_DEVICE_H

#include "support.h"

#include "device/backend.h"

static tsr_context *context;

static int open_context(void **state)
{
    (void)state;
    context = test_context();
    return 0;
}
static int close_context(void **state)
{
    (void)state;
    assert_int_equal(tsr_context_memory(context).current_bytes, 0);
    tsr_context_destroy(&context);
    return 0;
}

static void *take(size_t bytes, const void *from)
{
    void *memory;
    require_ok(tsr_device_allocate(context, bytes, &memory));
    if (from) require_ok(tsr_device_move(context, memory, NULL, from, bytes));
    return memory;
}

#endif
