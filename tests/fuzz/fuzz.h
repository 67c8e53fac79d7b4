/* tests/fuzz/fuzz.h: a fuzz target defines fuzz_accepts and fuzz_seeds, which the build gives names of their own; fuzz_main.c or, for libFuzzer,
 * fuzz_corpus.c calls those of the target that is named. */
#ifndef TSR_TESTS_FUZZ_H
#define TSR_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Reads `size` bytes as a file and answers whether they were a valid one. Must neither crash nor leak. */
int fuzz_accepts(const uint8_t *bytes, size_t size);
/* Gives valid files to fuzz_seed, one of each variant of the format. */
void fuzz_seeds(void);
void fuzz_seed(const void *bytes, size_t size);

struct fuzz_target {
    const char *name;
    int (*accepts)(const uint8_t *bytes, size_t size);
    void (*seeds)(void);
};
/* Of a table of targets, that of this name; NULL if there is none. */
static inline const struct fuzz_target *fuzz_find(const struct fuzz_target *targets, size_t count, const char *name)
{
    for (size_t k = 0; name && k < count; k++)
        if (!strcmp(targets[k].name, name)) return &targets[k];
    return NULL;
}

#endif
