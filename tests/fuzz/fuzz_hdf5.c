#define FUZZ_FORMAT "hdf5"
#include "fuzz/fuzz_volume.h"

void fuzz_seeds(void)
{
    static const fuzz_variant variants[] = { { "h5", NULL, 0, 0, 0 }, { "h5", NULL, 1, 6, 0 } };
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) fuzz_seed_volumes(&variants[i]);
}
