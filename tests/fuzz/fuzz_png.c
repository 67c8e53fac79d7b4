#define FUZZ_FORMAT "png"
#include "fuzz/fuzz_format.h"

#include <stdio.h>

void fuzz_seeds(void)
{
    for (int channels = 1; channels <= 4; channels += channels == 1 ? 2 : 1) {
        tsr_image image;
        char path[64];
        snprintf(path, sizeof path, "fuzz-seed-%ld.png", (long)getpid());
        fuzz_check(tsr_image_create(7, 5, channels, &image) == TSR_OK, "image\n");
        for (int i = 0; i < 7 * 5 * channels; i++) image.pixels[i] = (uint8_t)(i * 37);
        fuzz_check(tsr_image_write(&image, path, NULL) == TSR_OK, "write\n");
        fuzz_seed_file(path);
        tsr_image_destroy(&image);
    }
}
