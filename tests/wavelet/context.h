/* tests/wavelet/context.h: the one context of a suite, on the device of TESSERA_DEVICE; where TEST_BESIDE_CPU is defined, set_up_both makes one on the CPU
 * beside it, of one thread. */
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

#ifdef TEST_BESIDE_CPU
static tsr_context *cpu;

static int set_up_both(void **state)
{
    tsr_context_options o = TSR_CONTEXT_OPTIONS;
    o.device = "cpu";
    o.threads = 1;
    require_ok(tsr_context_create(&o, &cpu));
    return set_up(state);
}
static int tear_down_both(void **state)
{
    tsr_context_destroy(&cpu);
    return tear_down(state);
}
#endif

#endif
