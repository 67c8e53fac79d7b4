#define FUZZ_FORMAT "nrrd"
#include "fuzz/fuzz_volume.h"

void fuzz_seeds(void)
{
    static const fuzz_variant variants[] = { { "nrrd", NULL, 0, 0, 0 }, { "nrrd", NULL, 1, 6, 0 }, { "nrrd", NULL, 0, 0, 1 } };
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) fuzz_seed_volumes(&variants[i]);
    /* Fields that our writer does not use. */
    static const char other[] =
        "NRRD0004\ntype: unsigned char\ndimension: 4\nsizes: 1 3 2 2\nspacings: nan 1 2.5 3\naxis mins: nan 0 1 2\ncenters: ??? cell node cell\n"
        "kinds: scalar domain domain domain\nencoding: raw\nline skip: 1\nbyte skip: -1\nkey:=va\\nlue\n\nskip\n0123456789ab";
    fuzz_seed(other, sizeof other - 1);
}
