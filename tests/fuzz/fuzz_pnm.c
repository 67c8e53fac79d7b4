#define FUZZ_FORMAT "pnm"
#include "fuzz/fuzz_format.h"

void fuzz_seeds(void)
{
    static const struct {
        const char *text;
        size_t size;
    } seeds[] = {
#define SEED(text) { text, sizeof text - 1 }
        SEED("P1\n# bits\n3 2\n1 0 1 010"),
        SEED("P2 2 2 9\n1 2 3 9\n"),
        SEED("P3 1 1 1000 1 2 1000"),
        SEED("P4\n9 2\n\1\2\3\4"),
        SEED("P5 2 2 255\nabcd"),
        SEED("P6 1 1 65535\nabcdef"),
        SEED("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\nabcd"),
    };
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) fuzz_seed(seeds[i].text, seeds[i].size);
}
