#define FUZZ_FORMAT "webp"
#include "fuzz/fuzz_picture.h"

void fuzz_seeds(void) { fuzz_seed_pictures("webp"); }
