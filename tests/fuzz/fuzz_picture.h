/* tests/fuzz/fuzz_picture.h: seeds for the targets of picture formats, made by the library's own writers. */
#include "fuzz/fuzz_format.h"

#include <stdio.h>

static inline void fuzz_seed_pictures(const char *extension)
{
    static const int channels[] = { 1, 3, 4 };
    for (int i = 0; i < 3; i++) {
        tsr_image image = { 0 };
        tsr_write_options options = { .struct_size = sizeof options, .overwrite = 1 };
        char path[96];
        snprintf(path, sizeof path, "fuzz-seed-%ld.%s", (long)getpid(), extension);
        fuzz_check(tsr_image_create(9, 7, channels[i], &image) == TSR_OK, "image\n");
        for (int k = 0; k < 63 * channels[i]; k++) image.pixels[k] = (uint8_t)(k * 37 % 251);
        fuzz_check(tsr_image_write(&image, path, &options) == TSR_OK, "write\n");
        fuzz_seed_file(path);
        tsr_image_destroy(&image);
    }
}
