#define FUZZ_FORMAT "nifti"
#include "fuzz/fuzz_volume.h"

void fuzz_seeds(void)
{
    static const fuzz_variant variants[] = {
        { "nii", "nifti", 0, 0, 0 }, { "nii", "nifti", 1, 0, 0 }, { "nii", "nifti2", 0, 0, 0 }, { "nii.gz", NULL, 0, 0, 0 }
    };
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) fuzz_seed_volumes(&variants[i]);
}
