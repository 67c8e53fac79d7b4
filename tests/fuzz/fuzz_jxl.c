/* Pictures that libjxl wrote, as our own writer makes them. */
#define FUZZ_FORMAT "jxl"
#include "fuzz/fuzz_picture.h"

void fuzz_seeds(void)
{
    fuzz_seed_pictures("jxl");
}
