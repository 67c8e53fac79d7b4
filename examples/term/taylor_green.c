/* A velocity of your own for the level-set equation: (sin a cos b, -cos a sin b) of a = pi x / edge, b = pi y / edge, which turns about the middle of each
 * cell and swaps its sense from cell to cell. Sine by a polynomial, so that the CPU and a GPU give the same bits. */
#include "taylor_green.h"
#include "tessera/levelset_term.h"

/* sin(pi u) */
TSR_TERM_FN float wave(float u)
{
    const int n = (int)(u + (u >= 0.0f ? 0.5f : -0.5f));
    const float r = u - (float)n, s = r * r, y = r * (3.14159265f + s * (-5.16771278f + s * (2.55016404f + s * (-0.599264529f + s * 0.0821458866f))));
    return n & 1 ? -y : y;
}

TSR_TERM(taylor_green, TSR_TERM_VELOCITY)
{
    const float a = x[0] / data->edge, b = x[1] / data->edge;
    (void)t;
    answer->velocity[0] = data->speed * wave(a) * wave(b + 0.5f);
    answer->velocity[1] = -data->speed * wave(a + 0.5f) * wave(b);
}
