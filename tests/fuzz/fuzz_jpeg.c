#define FUZZ_FORMAT "jpeg"
#include "fuzz/fuzz_format.h"

#include <stdio.h>

void fuzz_seeds(void)
{
    static const int channels[] = { 1, 3 };
    for (int i = 0; i < 2; i++) {
        tsr_image image = { 0 };
        tsr_write_options options = { .struct_size = sizeof options, .overwrite = 1 };
        char path[96];
        snprintf(path, sizeof path, "fuzz-seed-%ld.jpg", (long)getpid());
        fuzz_check(tsr_image_create(19, 17, channels[i], &image) == TSR_OK, "image\n");
        for (int k = 0; k < 19 * 17 * channels[i]; k++) image.pixels[k] = (uint8_t)(k * 37 % 251);
        fuzz_check(tsr_image_write(&image, path, &options) == TSR_OK, "write\n");
        fuzz_seed_file(path);
        tsr_image_destroy(&image);
    }
}
