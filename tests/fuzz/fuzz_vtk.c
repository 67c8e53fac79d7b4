#define FUZZ_FORMAT "vtk"
#include "fuzz/fuzz_format.h"

#define HEAD "# vtk DataFile Version "
#define POINTS "\nt SPACE=LPS\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 float\n0 0 0 1 0 0 1 1 0 0 1 0 0 0 1\n"
#define DATA "POINT_DATA 5\nNORMALS n float\n0 0 1 0 0 1 0 0 1 0 0 1 0 0 1\nSCALARS s double 1\nLOOKUP_TABLE default\n1 2 3 4 5\n"
static void seed(const char *text) { fuzz_seed(text, strlen(text)); }

void fuzz_seeds(void)
{
    static const char binary[] = HEAD "3.0\nt\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n"
                                      "\0\0\0\0\0\0\0\0\0\0\0\0\x3f\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x3f\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x3f\x80\0\0"
                                      "\nCELLS 1 5\n\0\0\0\4\0\0\0\0\0\0\0\1\0\0\0\2\0\0\0\3\nCELL_TYPES 1\n\0\0\0\n\nPOINT_DATA 4\n"
                                      "SCALARS s unsigned_char\nLOOKUP_TABLE default\n\1\2\3\4\nFIELD f 1\na 1 4 short\n\0\1\0\2\0\3\0\4\n";
    seed(HEAD "3.0" POINTS "CELLS 2 9\n5 0 1 2 3 4\n2 0 1\nCELL_TYPES 2\n14\n3\nCELL_DATA 2\nCOLOR_SCALARS c 1\n0 1\n" DATA);
    seed(HEAD "5.1" POINTS
              "METADATA\nINFORMATION 0\n\nCELLS 2 5\nOFFSETS vtktypeint64\n0 5\nCONNECTIVITY vtktypeint64\n0 1 2 3 4\nCELL_TYPES 1\n14\n" DATA
              "FIELD FieldData 2\na 1 5 int\n1 2 3 4 5\nMETADATA\nINFORMATION 0\n\nb 2 1 float\n1 2\n");
    fuzz_seed(binary, sizeof binary - 1);
}
