/* Numbers of VTK's legacy image data and rectilinear grids. */
#define FUZZ_FORMAT "vtk-image"
#include "fuzz/fuzz_format.h"

#define HEAD "# vtk DataFile Version 3.0\nt\n"
#define SIZE "DATASET STRUCTURED_POINTS\nDIMENSIONS 2 2 3\nORIGIN 1 2 3\nSPACING 0.5 1 2\n"
#define NUMBERS "1 2 3 4 5 6 7 8 9 10 11 12\n"

void fuzz_seeds(void)
{
    static const char *const text[] = {
        HEAD "ASCII\n" SIZE "POINT_DATA 12\nSCALARS v%20w long 1\nLOOKUP_TABLE default\n" NUMBERS,
        HEAD "ASCII\n" SIZE "CELL_DATA 2\nSCALARS c float\n7 8\nPOINT_DATA 12\nCOLOR_SCALARS s 2\n" NUMBERS NUMBERS,
        HEAD "ASCII\n" SIZE "CELL_DATA 2\nFIELD f 2\na 1 2 bit\n0 1\nMETADATA\nINFORMATION 0\n\nb 3 2 double\n1 2 3 4 5 6\n",
        HEAD "ASCII\nDATASET RECTILINEAR_GRID\nDIMENSIONS 2 2 3\nX_COORDINATES 2 float\n1 3\nY_COORDINATES 2 double\n0 1\nZ_COORDINATES 3 int\n1 2 "
             "3\nPOINT_DATA 12\nSCALARS v float\nLOOKUP_TABLE default\n" NUMBERS,
    };
    static const char binary[] = HEAD "BINARY\n" SIZE "POINT_DATA 12\nSCALARS v short 2\nLOOKUP_TABLE default\n"
                                      "\0\1\0\2\0\3\0\4\0\5\0\6\0\7\0\1\0\2\0\3\0\4\0\5\0\6\0\7\0\1\0\2\0\3\0\4\0\5\0\6\0\7\0\1\0\2\0\3\n";
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) fuzz_seed(text[k], strlen(text[k]));
    fuzz_seed(binary, sizeof binary - 1);
}
