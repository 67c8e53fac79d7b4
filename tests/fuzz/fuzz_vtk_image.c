/* Vectors of VTK's legacy image data. */
#include "flow/vtk_image.h"

#include <string.h>

#include "fuzz/fuzz.h"

int fuzz_accepts(const uint8_t *bytes, size_t size)
{
    const tsr_input_options settings = { .memory_limit = 1 << 26 };
    tsr_volume *components[3] = { NULL, NULL, NULL };
    tsr_input *input = NULL;
    if (tsr_input_memory(bytes, size, "fuzz", &settings, &input) != TSR_OK) return 0;
    const int good = tsr_vtk_image_is(input) && tsr_vtk_image_read(input, NULL, components) == TSR_OK;
    tsr_input_close(&input);
    for (int k = 0; k < 3; k++) tsr_volume_destroy(&components[k]);
    return good;
}

#define HEAD "# vtk DataFile Version 3.0\nt\n"
#define SIZE "DATASET STRUCTURED_POINTS\nDIMENSIONS 2 2 2\nORIGIN 1 2 3\nSPACING 0.5 1 2\n"
#define NUMBERS "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24\n"

void fuzz_seeds(void)
{
    static const char *const text[] = {
        HEAD "ASCII\n" SIZE "POINT_DATA 8\nVECTORS v float\n" NUMBERS,
        HEAD "ASCII\n" SIZE "CELL_DATA 1\nNORMALS c float\n0 0 1\nPOINT_DATA 8\nSCALARS s int 1\nLOOKUP_TABLE default\n0 0 0 0 0 0 0 0\nSCALARS v double 3\n" NUMBERS,
        HEAD "ASCII\n" SIZE "POINT_DATA 8\nFIELD f 2\na 1 8 bit\n0 0 0 0 0 0 0 0\nMETADATA\nINFORMATION 0\n\nb 3 8 double\n" NUMBERS,
    };
    static const char binary[] = HEAD "BINARY\n" SIZE "POINT_DATA 8\nVECTORS v short\n"
                                      "\0\1\0\2\0\3\0\4\0\5\0\6\0\7\0\1\0\2\0\3\0\4\0\5\0\6\0\7\0\1\0\2\0\3\0\4\0\5\0\6\0\7\0\1\0\2\0\3\n";
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) fuzz_seed(text[k], strlen(text[k]));
    fuzz_seed(binary, sizeof binary - 1);
}
