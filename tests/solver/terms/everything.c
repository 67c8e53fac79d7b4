/* Speed, velocity and curvature that depend on place and time, by a function of the file; not finite beyond a limit. */
#include "everything.h"
#include "tessera/levelset_term.h"

TSR_TERM_FN float wave(float u) { return u * (1.0f - u * u * 0.02f); }

TSR_TERM(everything, TSR_TERM_SPEED | TSR_TERM_VELOCITY | TSR_TERM_CURVATURE)
{
    const float phase = (float)(t - 0.5 * (double)(int)(2.0 * t));
    answer->speed = data->size * wave(0.25f * (x[0] - 12.0f)) + phase;
    answer->velocity[0] = 0.03f * (x[1] - x[2]);
    answer->velocity[1] = 0.05f * wave(0.2f * (x[2] - 11.0f));
    answer->velocity[2] = phase - 0.2f;
    answer->curvature = 0.1f + 0.01f * x[1];
    if (x[0] > data->limit) answer->speed /= x[0] - x[0];
}
