/* seconds.h: the clock of the tools, which see the public headers alone, as any program does. */
#ifndef TSR_TOOLS_SECONDS_H
#define TSR_TOOLS_SECONDS_H

#include <time.h>

/* Seconds of a clock that only goes forward. */
static inline double tools_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
