#define FUZZ_FORMAT "metaimage"
#include "fuzz/fuzz_volume.h"

void fuzz_seeds(void)
{
    static const fuzz_variant variants[] = { { "mha", NULL, 0, 0, 0 }, { "mha", NULL, 1, 6, 0 }, { "mha", NULL, 0, 0, 1 } };
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) fuzz_seed_volumes(&variants[i]);
    static const char other[] =
        "ObjectType = Image\nNDims = 2\nDimSize = 3 2\nElementSize = 1 2\nPosition = 4 5\nRotation = 0 1 1 0\nHeaderSize = -1\n"
        "ElementType = MET_UCHAR\nComment = text\nElementDataFile = LOCAL\nabcdef";
    fuzz_seed(other, sizeof other - 1);
}
