/* A term of the level-set equation against an installed tree. */
#include <tessera/levelset_term.h>

typedef struct wind {
    float speed;
} wind;

TSR_TERM(wind, TSR_TERM_VELOCITY)
{
    (void)x;
    (void)t;
    answer->velocity[0] = data->speed;
}
