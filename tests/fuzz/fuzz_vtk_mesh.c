/* Surfaces of VTK's legacy PolyData. */
#define FUZZ_FORMAT "vtk-mesh"
#include "fuzz/fuzz_format.h"

#define HEAD(version, coding) "# vtk DataFile Version " version "\nt\n" coding "\nDATASET POLYDATA\n"
#define POINTS "POINTS 4 float\n0 0 0 1 0 0 0 1 0 0 0 1\n"
#define DATA "POINT_DATA 4\nCOLOR_SCALARS c 3\n0 0 0 1 1 1 .5 .5 .5 0 1 0\nNORMALS n double\n0 0 1 0 0 1 0 0 1 0 0 1\n"

void fuzz_seeds(void)
{
    static const char *const text[] = {
        HEAD("3.0", "ASCII") POINTS "POLYGONS 2 9\n4 0 1 2 3\n3 0 2 1\n" DATA,
        HEAD("5.1", "ASCII") POINTS "POLYGONS 3 7\nOFFSETS vtktypeint64\n0 4 7\nCONNECTIVITY vtktypeint64\n0 1 2 3 0 2 1\n" DATA,
        HEAD("3.0", "ASCII") POINTS "VERTICES 1 2\n1 0\nLINES 1 3\n2 0 1\nTRIANGLE_STRIPS 1 5\n4 0 1 2 3\nCELL_DATA 3\nSCALARS s int\nLOOKUP_TABLE default\n1 2 3\n",
    };
    static const char binary[] = HEAD("3.0", "BINARY") "POINTS 3 float\n\0\0\0\0\0\0\0\0\0\0\0\0\x3f\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x3f\x80\0\0\0\0\0\0\n"
                                                       "POLYGONS 1 4\n\0\0\0\3\0\0\0\0\0\0\0\1\0\0\0\2\n";
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) fuzz_seed(text[k], strlen(text[k]));
    fuzz_seed(binary, sizeof binary - 1);
}
