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
    for (int channels = 1; channels <= 4; channels++) { /* of 16 bits, with all that is said beside the pixels */
        static const char *const notes[][2] = { { "png.gamma", "0.45455" },
                                                { "png.physical", "2835 2835 per metre" },
                                                { "png.text.Title", "a title" },
                                                { "png.orientation", "6" },
                                                { "png.chromaticities", "0.3127 0.329 0.64 0.33 0.3 0.6 0.15 0.06" } };
        tsr_volume *volume = NULL;
        char path[64];
        snprintf(path, sizeof path, "fuzz-seed-%ld.png", (long)getpid());
        fuzz_check(tsr_volume_create(NULL, TSR_U16, (tsr_size3){ 5, 4, channels }, NULL, &volume) == TSR_OK, "volume\n");
        fuzz_check(tsr_volume_set_channels(volume) == TSR_OK, "channels\n");
        for (int i = 0; i < 5 * 4 * channels; i++) ((uint16_t *)tsr_volume_data(volume))[i] = (uint16_t)(i * 3701);
        for (size_t k = 0; k < sizeof notes / sizeof *notes; k++)
            fuzz_check(tsr_volume_set_meta(volume, notes[k][0], notes[k][1]) == TSR_OK, "notes\n");
        fuzz_check(tsr_volume_write(volume, path, NULL) == TSR_OK, "write\n");
        fuzz_seed_file(path);
        tsr_volume_destroy(&volume);
    }
}
