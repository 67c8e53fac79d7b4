#define FUZZ_FORMAT "npy"
#include "fuzz/fuzz_volume.h"

void fuzz_seeds(void)
{
    static const fuzz_variant variants[] = { { "npy", NULL, 0, 0, 0 }, { "npy", NULL, 1, 0, 0 }, { "npy.gz", NULL, 0, 0, 0 } };
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) fuzz_seed_volumes(&variants[i]);
}
