#define FUZZ_FORMAT "exr"
#include "fuzz/fuzz_volume.h"

void fuzz_seeds(void)
{
    for (int k = 0; k < 3; k++) {
        tsr_write_options options = { .struct_size = sizeof options, .overwrite = 1 };
        tsr_volume *volume = NULL;
        char path[64];
        snprintf(path, sizeof path, "fuzz-seed-%ld.exr", (long)getpid());
        fuzz_check(tsr_volume_create(NULL, k == 2 ? TSR_U32 : TSR_F32, (tsr_size3){ 20, 18, k == 1 ? 3 : 1 }, NULL, &volume) == TSR_OK, "volume\n");
        float *data = (float *)tsr_volume_data(volume);
        for (int i = 0; i < 360 && k < 2; i++) data[i] = k ? (float)i / 7 : (float)i;
        if (tsr_volume_write(volume, path, &options) == TSR_OK) fuzz_seed_file(path); /* a build without the library has no seeds */
        tsr_volume_destroy(&volume);
    }
}
