#define FUZZ_FORMAT "vff"
#include "fuzz/fuzz_format.h"

void fuzz_seeds(void)
{
    static const char plain[] =
        "ncaa\nrank=3;\nbits=16;\nsize=3 2 2;\nspacing=1 1 2;\nelementsize=0.5;\ntitle=x;\ndata_scale=2;\n\f\n012345678901234567890123",
                      bands[] = "ncaa\r\nbits = 8 ;\nbands=3;\nsize=2 2;\norigin=1 2 3;\n\f012345678901";
    fuzz_seed(plain, sizeof plain - 1);
    fuzz_seed(bands, sizeof bands - 1);
}
