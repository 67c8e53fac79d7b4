#define FUZZ_FORMAT "stl"
#include "fuzz/fuzz_mesh.h"

void fuzz_seeds(void)
{
    fuzz_mesh_seeds("stl", 1, 0);
    fuzz_mesh_seeds("stl", 0, 0);
    fuzz_text_seed("solid\nFACET NORMAL 0 0 1 OUTER LOOP VERTEX 0 0 0 VERTEX 1 0 -0 VERTEX 0 1 0 ENDLOOP ENDFACET\nendsolid a\n"
                   "solid facet vertex\nendsolid\n");
}
