#define FUZZ_FORMAT "obj"
#include "fuzz/fuzz_mesh.h"

void fuzz_seeds(void)
{
    fuzz_mesh_seeds("obj", 0, 0);
    fuzz_text_seed("# SPACE=LPS\nmtllib a.mtl\nv 0 0 0 1\nv 1 0 0 .1 .2 .3\nv 1 1 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\ng side\nusemtl red\n"
                   "f 1/1/1 2/1/1 \\\n 3/1/1 4/1/1\nf -4//-1 -3//-1 -2//-1\nf 1 2 3\nf 1/1 2/1 4/1\nl 1 2\n");
}
