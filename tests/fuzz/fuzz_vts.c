/* Lattices of VTK, as points and as grids of cells; and unstructured cells, which the same file reads. */
#define FUZZ_FORMAT "vts"
#include "fuzz/fuzz_points.h"

void fuzz_seeds(void)
{
    fuzz_text_seed("<VTKFile type=\"StructuredGrid\" byte_order=\"LittleEndian\" header_type=\"UInt32\"><StructuredGrid WholeExtent=\"0 1 0 1 0 "
                   "2\"><Piece Extent=\"0 1 0 1 0 2\">"
                   "<PointData Scalars=\"b\"><DataArray type=\"Float32\" Name=\"a\" format=\"ascii\">1 2 3 4 5 6 7 8 9 8 7 6</DataArray>"
                   "<DataArray type=\"Int8\" Name=\"b\" format=\"ascii\">1 2 3 4 5 6 7 8 9 8 7 6</DataArray></PointData><Points>"
                   "<DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">0 0 0 1 0 0 0 1 0 1 1 0 0 0 1 1 0 1 0 1 1 1 1 1 0 0 2 1 0 "
                   "2 0 1 2 1 1 2"
                   "</DataArray></Points></Piece></StructuredGrid></VTKFile>");
    fuzz_text_seed(
        "<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\"><UnstructuredGrid><Piece NumberOfPoints=\"5\" NumberOfCells=\"2\"><PointData>"
        "<DataArray type=\"Float32\" Name=\"a\" format=\"ascii\">1 2 3 4 5</DataArray></PointData><Points>"
        "<DataArray type=\"Float32\" NumberOfComponents=\"3\" format=\"ascii\">0 0 0 1 0 0 0 1 0 0 0 1 1 1 1</DataArray></Points><Cells>"
        "<DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">0 1 2 3 1 2 3 4</DataArray><DataArray type=\"Int64\" Name=\"offsets\" "
        "format=\"ascii\">4 8"
        "</DataArray><DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">10 10</DataArray></Cells></Piece></UnstructuredGrid></VTKFile>");
}
