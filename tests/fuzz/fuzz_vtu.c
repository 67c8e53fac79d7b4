#define FUZZ_FORMAT "vtu"
#include "fuzz/fuzz_points.h"

void fuzz_seeds(void)
{
    fuzz_points_seeds("vtu", 0);
    fuzz_points_seeds("vtu", 1);
    /* packed, inline */
    fuzz_text_seed("<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\" header_type=\"UInt32\" compressor=\"vtkZLibDataCompressor\"><UnstructuredGrid><Piece NumberOfPoints=\"5\"><PointData>"
                   "<DataArray type=\"Float64\" Name=\"Rhop\" format=\"binary\">AQAAAACAAAAoAAAAHAAAAA==eJxjYAACh34HEMXgAaUDoHQElE7odwAAYt4FnA==</DataArray></PointData><Points>"
                   "<DataArray type=\"Int8\" NumberOfComponents=\"3\" format=\"ascii\">1 2 3 4 5 6 7 8 9 1 2 3 4 5 6</DataArray></Points></Piece></UnstructuredGrid></VTKFile>");
}
