#define FUZZ_FORMAT "xyz"
#include "fuzz/fuzz_points.h"

void fuzz_seeds(void)
{
    fuzz_points_seeds("xyz", 0);
    fuzz_text_seed("x,y,z\n1,2;3\n// c\n-1e3 .5 1E-2 255 0 0\n# SPACE=RAS\n");
}
