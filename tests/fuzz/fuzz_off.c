#define FUZZ_FORMAT "off"
#include "fuzz/fuzz_mesh.h"

void fuzz_seeds(void)
{
    fuzz_mesh_seeds("off", 0, 0);
    fuzz_text_seed("OFF4 2 0\n0 0 0\n1 0 0 # SPACE=RAS\n\n1 1 0\n0 1 0\n4 0 1 2 3 255 0 0\n3 0 1 2\n");
    fuzz_text_seed("# first\nCNOFF # here\n3\t1 0\n0 0 0 0 0 1 1 1 1 1\n1 0 0 0 0 1 1 1 1 1\n0 1 0 0 0 1 1 1 1 1\n3 2 1 0\n");
}
