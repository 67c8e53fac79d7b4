#define FUZZ_FORMAT "inrimage"
#include "fuzz/fuzz_volume.h"

void fuzz_seeds(void)
{
    static const fuzz_variant variants[] = { { "inr", NULL, 0, 0, 0 }, { "inr", NULL, 1, 0, 0 }, { "inr.gz", NULL, 0, 0, 0 } };
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) fuzz_seed_volumes(&variants[i]);
}
