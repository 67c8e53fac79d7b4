#define FUZZ_FORMAT "vtk-points"
#include "fuzz/fuzz_points.h"

void fuzz_seeds(void)
{
    fuzz_points_seeds("vtk-points", 0);
    fuzz_points_seeds("vtk-points", 1);
    fuzz_text_seed("# vtk DataFile Version 5.1\nt\nASCII\nDATASET POLYDATA\nPOINTS 1 float\n1 2 3\nMETADATA\nINFORMATION 0\n\nVERTICES 2 1\nOFFSETS vtktypeint64\n0 1\n"
                   "CONNECTIVITY vtktypeint64\n0\nPOINT_DATA 1\nSCALARS rho double\nLOOKUP_TABLE default\n4\nVECTORS v float\n1 2 3\n");
}
