#define FUZZ_FORMAT "csv"
#include "fuzz/fuzz_points.h"

void fuzz_seeds(void)
{
    fuzz_points_seeds("csv", 0);
    fuzz_text_seed("x [m];y [m];z [m];rho;vx;vy;vz\n1;2;3;4;5;6;7\n");
}
