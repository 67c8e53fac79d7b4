/* tests/fuzz/fuzz_corpus.c: the target that TESSERA_FUZZ_TARGET names, as libFuzzer calls it; the seeds are written to the folder named by TESSERA_FUZZ_SEEDS, to be given as its corpus. */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "targets.h"

/* Called by the runtime of UndefinedBehaviorSanitizer. Pointers that a size from a file has carried beyond their memory are a finding; NULL + 0, as with an empty array,
 * is not: it is defined by the C standard to come (WG14 N3322), and clang knows both by one name only. */
void __ubsan_get_current_report_data(const char **kind, const char **message, const char **file, unsigned *line, unsigned *column, char **memory);
void __ubsan_on_report(void);
void __ubsan_on_report(void)
{
    const char *kind, *message, *file;
    unsigned line, column;
    char *memory;
    __ubsan_get_current_report_data(&kind, &message, &file, &line, &column, &memory);
    if (strcmp(kind, "nullptr-with-offset") != 0) {
        fprintf(stderr, "%s:%u:%u: %s\n", file, line, column, message);
        abort();
    }
}

static const struct fuzz_target *target;
static const char *folder;
static int number;

void fuzz_seed(const void *bytes, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/seed-%d", folder, number++);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file)) {
        perror(path);
        exit(2);
    }
}

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count;
    (void)arguments;
    const char *name = getenv("TESSERA_FUZZ_TARGET");
    target = fuzz_find(fuzz_targets, sizeof fuzz_targets / sizeof *fuzz_targets, name);
    if (!target) {
        fprintf(stderr, "TESSERA_FUZZ_TARGET is '%s', expected the name of a target\n", name ? name : "");
        exit(2);
    }
    folder = getenv("TESSERA_FUZZ_SEEDS");
    if (folder && *folder) target->seeds();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    target->accepts(bytes, size);
    return 0;
}
