/* video/dirac/profile.c: time by stages. */
#include "video/dirac/profile.h"

#include <time.h>

void tsr_dirac_profile_enter(tsr_dirac_profile *p, tsr_context *context, int stage, int kind, int *current, double *since)
{
    struct timespec t;
    if (!p || stage == *current) return;
    if (p->synchronise) (void)context->backend->synchronize(context->queue); /* what failed fails again where it is asked for */
    timespec_get(&t, TIME_UTC);
    const double now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    if (*current >= 0) p->seconds[*current][kind] += now - *since;
    *since = now;
    *current = stage;
}
