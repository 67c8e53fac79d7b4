#define FUZZ_FORMAT "npz"
#include "fuzz/fuzz_volume.h"

void fuzz_seeds(void)
{
    static const fuzz_variant variants[] = { { "npz", NULL, 0, 0, 0 }, { "npz", NULL, 0, 6, 0 } };
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) fuzz_seed_volumes(&variants[i]);
}
