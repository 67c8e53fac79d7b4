/* tests/support.h: what every suite needs: cmocka, a context, readable failure of library calls, a seeded random generator. */
#ifndef TSR_TESTS_SUPPORT_H
#define TSR_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tessera/tessera.h"

/* The call must succeed; prints the trace if not. */
#define require_ok(call)                                                                       \
    do {                                                                                       \
        tsr_status status_ = (call);                                                           \
        if (status_ != TSR_OK) {                                                               \
            print_error("%s\n", tsr_error_trace());                                            \
            fail_msg("%s: %s", #call, tsr_status_name(status_));                               \
        }                                                                                      \
    } while (0)
/* The call must fail with `code` and its message must contain `text`. */
#define require_error(call, code, text)                                                        \
    do {                                                                                       \
        tsr_status status_ = (call);                                                           \
        if (status_ != (code)) fail_msg("%s: %s instead of %s", #call, tsr_status_name(status_), tsr_status_name(code)); \
        if (!strstr(tsr_error_message(), (text))) fail_msg("%s: message '%s' lacks '%s'", #call, tsr_error_message(), (text)); \
    } while (0)

/* A context on the device of TESSERA_DEVICE (ctest sets it per run), else on the CPU. */
static inline tsr_context *test_context(void)
{
    const char *device = getenv("TESSERA_DEVICE");
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    options.device = device && *device ? device : "cpu";
    tsr_context *context = NULL;
    require_ok(tsr_context_create(&options, &context));
    return context;
}
static inline tsr_context *test_context_on(const char *device, int32_t threads)
{
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    options.device = device;
    options.threads = threads;
    tsr_context *context = NULL;
    require_ok(tsr_context_create(&options, &context));
    return context;
}

/* Does everything take many times as long here, on the emulator or under a sanitizer? Then loops over the same thing are shorter. */
static inline int test_is_slow(void)
{
#if defined(TSR_SANITIZED)
    return 1;
#else
    const char *device = getenv("TESSERA_DEVICE");
    return device && !strcmp(device, "emu");
#endif
}

/* Does ThreadSanitizer watch? It asks which thread touches what, and a few turns of each kind show that; values are for other runs. Loops are shorter
 * still, and what runs on one thread is left out. */
static inline int test_watches_threads(void)
{
#if defined(TSR_SANITIZE_THREAD)
    return 1;
#else
    return 0;
#endif
}

/* TESSERA_SEED or a fixed number; printed, so that a failure can be repeated. */
static inline uint64_t test_seed(void)
{
    const char *text = getenv("TESSERA_SEED");
    uint64_t seed = text && *text ? strtoull(text, NULL, 10) : 20041;
    print_message("seed %llu\n", (unsigned long long)seed);
    fflush(stdout); /* a sanitizer ends the program without writing what is left */
    return seed * 0x9e3779b97f4a7c15ull + 0x1234567ull;
}
static inline uint64_t test_random(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}
/* A progress callback that ends the work: once more than `after` of it is done, NULL: at once. Counts how often it was asked. */
typedef struct test_stop { double after; int calls; } test_stop;
static inline int test_stops(void *user, double fraction, const char *stage)
{
    test_stop *s = (test_stop *)user;
    (void)stage;
    if (s) s->calls++;
    return !s || fraction > s->after;
}

static inline double test_uniform(uint64_t *state) { return (double)(test_random(state) >> 11) * 0x1p-53; } /* [0,1) */

#endif
