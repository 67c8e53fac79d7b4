#define FUZZ_FORMAT "pts"
#include "fuzz/fuzz_points.h"

void fuzz_seeds(void)
{
    fuzz_points_seeds("pts", 0);
    fuzz_text_seed("2\n0 0 0 12 255 0 0\n1 2 3 1 2 3 4\n1\n4 5 6\n");
}
