/* tests/fuzz/fuzz.h: a fuzz target defines fuzz_accepts and fuzz_seeds; fuzz_main.c or, for libFuzzer, fuzz_corpus.c calls them. */
#ifndef TSR_TESTS_FUZZ_H
#define TSR_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Reads `size` bytes as a file and answers whether they were a valid one. Must neither crash nor leak. */
int fuzz_accepts(const uint8_t *bytes, size_t size);
/* Gives valid files to fuzz_seed, one of each variant of the format. */
void fuzz_seeds(void);
void fuzz_seed(const void *bytes, size_t size);

#endif
