/* tests/fuzz/fuzz.h: a fuzz target defines these three functions; fuzz_main.c (or libFuzzer) calls them. */
#ifndef TSR_TESTS_FUZZ_H
#define TSR_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Reads `size` bytes as a file. Must neither crash nor leak; always 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
/* The same, answering whether the bytes were a valid file. */
int fuzz_accepts(const uint8_t *bytes, size_t size);
/* Gives valid files to fuzz_seed, one of each variant of the format. */
void fuzz_seeds(void);
void fuzz_seed(const void *bytes, size_t size);

#endif
