/* Radiance panoramas: what is accepted is finite light of the extents that are said. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/images/radiance.h"

static void check(int good, const char *what)
{
    if (good) return;
    write(2, what, strlen(what)) < 0 ? abort() : abort();
}

int fuzz_accepts(const uint8_t *bytes, size_t size)
{
    const tsr_input_options settings = { .memory_limit = 1 << 24 };
    tsr_input *input = NULL;
    float *rgb = NULL;
    int32_t width = 0, height = 0;
    check(tsr_input_memory(bytes, size, "fuzz", &settings, &input) == TSR_OK, "memory is no input\n");
    const tsr_status status = tsr_radiance_read(input, &rgb, &width, &height);
    tsr_input_close(&input);
    if (status != TSR_OK) {
        check(*tsr_error_message() != 0 && !rgb, "a failure without a message, or with a picture\n");
        return 0;
    }
    for (int64_t i = 0; i < 3 * (int64_t)width * height; i++) check(rgb[i] >= 0, "light that is negative or no number\n");
    free(rgb);
    return 1;
}

void fuzz_seeds(void)
{
    static const char flat[] =
        "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\nEXPOSURE=2\n\n-Y 2 +X 2\n\200\100\100\200\100\200\100\200\100\100\200\200\200\200\200\201";
    static const char coded[] = "#?RGBE\n\n-Y 1 +X 8\n\2\2\0\10\210\100\4\1\2\3\4\204\7\210\50\210\200";
    fuzz_seed(flat, sizeof flat - 1);
    fuzz_seed(coded, sizeof coded - 1);
}
