#define FUZZ_FORMAT "vtp"
#include "fuzz/fuzz_points.h"

void fuzz_seeds(void)
{
    fuzz_points_seeds("vtp", 0);
    fuzz_points_seeds("vtp", 1);
    /* packed, inline */
    fuzz_text_seed("<VTKFile type=\"PolyData\" byte_order=\"LittleEndian\" header_type=\"UInt32\" compressor=\"vtkZLibDataCompressor\"><PolyData><Piece NumberOfPoints=\"5\"><PointData>"
                   "<DataArray type=\"Float64\" Name=\"Rhop\" format=\"binary\">AQAAAACAAAAoAAAAHAAAAA==eJxjYAACh34HEMXgAaUDoHQElE7odwAAYt4FnA==</DataArray></PointData><Points>"
                   "<DataArray type=\"Int8\" NumberOfComponents=\"3\" format=\"ascii\">1 2 3 4 5 6 7 8 9 1 2 3 4 5 6</DataArray></Points></Piece></PolyData></VTKFile>");
}
