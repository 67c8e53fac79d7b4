/* A rotation about z, as TSR_LEVELSET_ROTATION has it. */
#include "vortex.h"
#include "tessera/levelset_term.h"

TSR_TERM(vortex, TSR_TERM_VELOCITY)
{
    (void)t;
    answer->velocity[0] = -data->rate * (x[1] - data->centre[1]);
    answer->velocity[1] = data->rate * (x[0] - data->centre[0]);
}
