/* One context for all tests of a suite, which holds no memory at its end: group setup and teardown. */
#ifndef TSR_TESTS_CONTEXT_H
#define TSR_TESTS_CONTEXT_H

#include "support.h"

static tsr_context *context;

static inline int open_context(void **state)
{
    (void)state;
    context = test_context();
    return 0;
}
static inline int close_context(void **state)
{
    (void)state;
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
    tsr_context_destroy(&context);
    return 0;
}

#endif
