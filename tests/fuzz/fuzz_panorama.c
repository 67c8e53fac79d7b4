/* Radiance pictures: what is accepted is finite. */
#include "fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "light/panorama.h"

static void check(int good, const char *what)
{
    if (good) return;
    write(2, what, strlen(what)) < 0 ? abort() : abort();
}

int fuzz_accepts(const uint8_t *bytes, size_t size)
{
    tsr_volume *map = NULL;
    if (tsr_panorama_parse(bytes, size, "fuzz", &map) != TSR_OK) {
        check(*tsr_error_message() != 0 && !map, "a failure without a message, or with a volume\n");
        return 0;
    }
    const float *v = (const float *)tsr_volume_data_const(map);
    for (int64_t i = 0; i < tsr_volume_count(map); i++) check(isfinite(v[i]) && v[i] >= 0, "a value that is not finite was accepted\n");
    tsr_volume_destroy(&map);
    return 1;
}

void fuzz_seeds(void)
{
    static const char plain[] = "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\nEXPOSURE=2\n\n-Y 2 +X 2\n\1\2\3\200\4\5\6\201abcd\1\1\1\1";
    static const char packed[] = "#?RGBE\n\n-Y 2 +X 8\n\2\2\0\10\210\1\210\2\210\3\210\200\2\2\0\10\10abcdefgh\210\2\204\3\204\4\210\177";
    fuzz_seed(plain, sizeof plain - 1);
    fuzz_seed(packed, sizeof packed - 1);
}
