/* tests/fuzz/fuzz_volume.h: seeds for the targets of volume formats. */
#include "fuzz/fuzz_format.h"

#include <stdio.h>

typedef struct fuzz_variant { const char *extension, *format; int big_endian, compression, ascii; } fuzz_variant;

static inline void fuzz_seed_volumes(const fuzz_variant *variant)
{
    static const tsr_dtype dtypes[] = { TSR_U8, TSR_I16, TSR_F32, TSR_F64 };
    for (int i = 0; i < 4; i++) {
        tsr_volume *volume = NULL;
        tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ 1, 2, 3 }, (tsr_vec3){ 4, 5, 6 }, i % 2 ? TSR_SPACE_RAS : TSR_SPACE_NONE);
        tsr_write_options options = { .struct_size = sizeof options, .format = variant->format, .overwrite = 1, .big_endian = variant->big_endian,
                                      .compression = variant->compression, .ascii = variant->ascii };
        char path[96];
        snprintf(path, sizeof path, "fuzz-seed-%ld.%s", (long)getpid(), variant->extension);
        fuzz_check(tsr_volume_create(NULL, dtypes[i], (tsr_size3){ 4, 3, 2 }, &geometry, &volume) == TSR_OK, "volume\n");
        for (size_t b = 0; b < 24 * tsr_dtype_size(dtypes[i]); b++) ((uint8_t *)tsr_volume_data(volume))[b] = (uint8_t)(b * 5 % 120);
        if (strncmp(variant->extension, "inr", 3) && strncmp(variant->extension, "npy", 3)) fuzz_check(tsr_volume_set_scaling(volume, 2, 1) == TSR_OK, "scaling\n");
        fuzz_check(tsr_volume_set_meta(volume, "nifti.descrip", "seed") == TSR_OK, "metadata\n");
        fuzz_check(tsr_volume_write(volume, path, &options) == TSR_OK, "write\n");
        fuzz_seed_file(path);
        tsr_volume_destroy(&volume);
    }
}
