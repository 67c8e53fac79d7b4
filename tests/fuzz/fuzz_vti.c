#define FUZZ_FORMAT "vti"
#include "fuzz/fuzz_volume.h"

void fuzz_seeds(void)
{
    static const fuzz_variant variants[] = { { "vti", NULL, 0, 0, 0 }, { "vti", NULL, 0, 6, 0 }, { "vti", NULL, 0, 0, 1 } };
    static const char
        pieces[] = "<?xml version=\"1.0\"?><VTKFile type=\"ImageData\" byte_order=\"BigEndian\" header_type=\"UInt32\"><ImageData WholeExtent=\"0 1 "
                   "0 0 0 0\" Origin=\"1 2 3\" Spacing=\"1 1 1\">"
                   "<Piece Extent=\"0 0 0 0 0 0\"><PointData Scalars=\"a\"><DataArray type=\"UInt8\" Name=\"a\" "
                   "format=\"ascii\">1</DataArray></PointData></Piece>"
                   "<Piece Extent=\"1 1 0 0 0 0\"><PointData><DataArray type=\"UInt8\" Name=\"a\" "
                   "format=\"binary\">AAAAAQI=</DataArray></PointData></Piece></ImageData></VTKFile>",
        lz4[] = "<VTKFile type=\"ImageData\" byte_order=\"LittleEndian\" compressor=\"vtkLZ4DataCompressor\"><ImageData WholeExtent=\"0 3 0 0 0 0\">"
                "<Piece Extent=\"0 3 0 0 0 0\"><CellData><DataArray type=\"Int8\" Name=\"c\" NumberOfComponents=\"4\" format=\"appended\" "
                "offset=\"0\"/></CellData></Piece>"
                "</ImageData><AppendedData encoding=\"raw\">_\1\0\0\0\14\0\0\0\0\0\0\0\10\0\0\0\x14\7\1\0\x30\1\2\3</AppendedData></VTKFile>";
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) fuzz_seed_volumes(&variants[i]);
    fuzz_seed(pieces, sizeof pieces - 1);
    fuzz_seed(lz4, sizeof lz4 - 1);
}
