/* tests/wavelet/context.h: the one context of a suite, on the device of TESSERA_DEVICE. */
#ifndef TEST_WAVELET_CONTEXT_H
#define TEST_WAVELET_CONTEXT_H

#include "support.h"

static tsr_context *context;

static int set_up(void **state)
{
    (void)state;
    context = test_context();
    return 0;
}
static int tear_down(void **state)
{
    (void)state;
    tsr_context_destroy(&context);
    return 0;
}

#endif
