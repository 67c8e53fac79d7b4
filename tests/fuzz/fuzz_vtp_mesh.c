#define FUZZ_FORMAT "vtp-mesh"
#include "fuzz/fuzz_mesh.h"

void fuzz_seeds(void)
{
    fuzz_mesh_seeds("vtp-mesh", 0, 0);
    fuzz_mesh_seeds("vtp-mesh", 1, 0);
    fuzz_text_seed(
        "<VTKFile type=\"PolyData\"><PolyData><Piece NumberOfPoints=\"4\" NumberOfStrips=\"1\" NumberOfPolys=\"1\" NumberOfLines=\"1\"><PointData>"
        "<DataArray type=\"UInt8\" Name=\"c\" NumberOfComponents=\"3\" format=\"ascii\">1 2 3 4 5 6 7 8 9 10 11 12</DataArray></PointData><Points>"
        "<DataArray type=\"Float32\" NumberOfComponents=\"3\" format=\"ascii\">0 0 0 1 0 0 0 1 0 1 1 0</DataArray></Points><Strips>"
        "<DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">0 1 2 3</DataArray><DataArray type=\"Int32\" Name=\"offsets\" "
        "format=\"ascii\">4</DataArray></Strips><Polys>"
        "<DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">0 1 3 2</DataArray><DataArray type=\"Int32\" Name=\"offsets\" "
        "format=\"ascii\">4</DataArray></Polys>"
        "</Piece></PolyData></VTKFile>");
}
