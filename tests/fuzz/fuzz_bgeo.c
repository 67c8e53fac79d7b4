#define FUZZ_FORMAT "bgeo"
#include "fuzz/fuzz_points.h"

void fuzz_seeds(void)
{
    fuzz_points_seeds("bgeo", 0);
}
