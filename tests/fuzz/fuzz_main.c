/* tests/fuzz/fuzz_main.c: runs a fuzz target without libFuzzer: over files given, over the target's own seeds, and over mutations of them
 * for a number of seconds. The sequence of mutations depends on the seed only, so that a finding can be repeated.
 *
 *   fuzz_targets NAME [--seconds S] [--seed N] [FILE...]
 *
 * A finding is a crash; the input that was running is then in fuzz_NAME.crash in the working folder. */
#include "fuzz.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "targets.h"

enum { SEEDS = 64, LARGEST = 1 << 16 };

static const struct fuzz_target *target;
static struct { uint8_t *bytes; size_t size; } seeds[SEEDS];
static int seed_count;
static uint8_t current[LARGEST];
static size_t current_size;
static char crash_file[256];

void fuzz_seed(const void *bytes, size_t size)
{
    if (seed_count == SEEDS || size > LARGEST) {
        fprintf(stderr, "fuzz_seed: at most %d seeds of %d bytes\n", SEEDS, LARGEST);
        exit(2);
    }
    seeds[seed_count].bytes = (uint8_t *)malloc(size + 1);
    memcpy(seeds[seed_count].bytes, bytes, size);
    seeds[seed_count++].size = size;
}

static void on_crash(int number)
{
    FILE *file = fopen(crash_file, "wb");
    if (file) {
        fwrite(current, 1, current_size, file);
        fclose(file);
    }
    signal(number, SIG_DFL);
    raise(number);
}

static void run(const uint8_t *bytes, size_t size)
{
    uint8_t *exact = (uint8_t *)malloc(size ? size : 1); /* of its own, so that a sanitizer sees an overrun by one */
    memcpy(exact, bytes, size);
    target->accepts(exact, size);
    free(exact);
}

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* What breaks parsers: extreme numbers, in binary and in digits; missing, doubled and exchanged pieces. */
static void mutate(uint64_t *random)
{
    static const char *const words[] = { "-1", "0",  "nan",  "inf", "1e999", "99999999999999999999", "2147483648", "4294967296", "-2147483649", "0.0",
                                         "\n", "  ", "\r\n", "\"",  "%d",    "9223372036854775807" };
    static const uint64_t numbers[] = { 0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000u, 0xffffffffu, 0x7fffffffffffffffull,
                                        0x8000000000000000ull, 0xffffffffffffffffull, 0x7f800000u, 0x7fc00000u };
    int changes = 1 + (int)(next(random) % 6);
    for (int i = 0; i < changes; i++) {
        size_t at = current_size ? next(random) % current_size : 0;
        switch (next(random) % 8) {
        case 0:
            if (current_size) current[at] ^= (uint8_t)(1u << next(random) % 8);
            break;
        case 1:
            if (current_size) current[at] = (uint8_t)next(random);
            break;
        case 2: { /* a number of 1, 2, 4 or 8 bytes */
            size_t width = (size_t)1 << next(random) % 4;
            uint64_t number = numbers[next(random) % (sizeof numbers / sizeof numbers[0])];
            if (next(random) % 2) number = __builtin_bswap64(number) >> (64 - 8 * width);
            if (at + width <= current_size) memcpy(current + at, &number, width);
            break;
        }
        case 3: current_size = at; break;
        case 4: { /* a piece removed */
            size_t length = current_size ? next(random) % (current_size - at < 32 ? current_size - at + 1 : 32) : 0;
            memmove(current + at, current + at + length, current_size - at - length);
            current_size -= length;
            break;
        }
        case 5: { /* a piece doubled */
            size_t length = current_size - at < 64 ? current_size - at : 64;
            if (current_size + length > LARGEST) break;
            memmove(current + at + length, current + at, current_size - at);
            current_size += length;
            break;
        }
        case 6: { /* a word put over a number */
            const char *word = words[next(random) % (sizeof words / sizeof words[0])];
            size_t length = strlen(word), end = at;
            while (end < current_size && current[end] > ' ' && end - at < 12) end++;
            if (current_size + length > LARGEST) break;
            memmove(current + at + length, current + end, current_size - end);
            memcpy(current + at, word, length);
            current_size = current_size - (end - at) + length;
            break;
        }
        default: { /* the tail of another seed */
            int other = (int)(next(random) % (uint64_t)seed_count);
            size_t from = seeds[other].size ? next(random) % seeds[other].size : 0, length = seeds[other].size - from;
            if (at + length > LARGEST) break;
            memcpy(current + at, seeds[other].bytes + from, length);
            current_size = at + length;
            break;
        }
        }
    }
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 2;
    }
    current_size = fread(current, 1, LARGEST, file);
    fclose(file);
    run(current, current_size);
    return 0;
}

int main(int count, char **arguments)
{
    double seconds = 5;
    uint64_t random = 1;
    int files = 0;
    target = fuzz_find(fuzz_targets, sizeof fuzz_targets / sizeof *fuzz_targets, count > 1 ? arguments[1] : NULL);
    if (!target) {
        fprintf(stderr, "usage: %s TARGET [--seconds S] [--seed N] [FILE...], with one of\n", arguments[0]);
        for (size_t k = 0; k < sizeof fuzz_targets / sizeof *fuzz_targets; k++) fprintf(stderr, "  %s\n", fuzz_targets[k].name);
        return 2;
    }
    snprintf(crash_file, sizeof crash_file, "fuzz_%s.crash", target->name);
    const int deadly[] = { SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL };
    for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++) signal(deadly[i], on_crash);
    for (int i = 2; i < count; i++) {
        if (!strcmp(arguments[i], "--seconds") && i + 1 < count) {
            seconds = atof(arguments[++i]);
        } else if (!strcmp(arguments[i], "--seed") && i + 1 < count) {
            random = strtoull(arguments[++i], NULL, 10);
        } else {
            files++;
            if (run_file(arguments[i])) return 2;
        }
    }
    if (files) return 0;
    target->seeds();
    if (!seed_count) {
        fprintf(stderr, "the target has no seeds\n");
        return 2;
    }
    random = random * 0x9e3779b97f4a7c15ull + 1;
    int accepted = 0;
    for (int i = 0; i < seed_count; i++) {
        current_size = seeds[i].size;
        memcpy(current, seeds[i].bytes, current_size);
        uint8_t *exact = (uint8_t *)malloc(current_size + 1);
        memcpy(exact, current, current_size);
        accepted += target->accepts(exact, current_size);
        free(exact);
        run(current, current_size);
    }
    if (accepted != seed_count) { /* seeds that the reader refuses test nothing but its first check */
        fprintf(stderr, "%d of %d seeds are not valid files\n", seed_count - accepted, seed_count);
        return 1;
    }
    uint64_t runs = 0;
    for (double end = seconds_now() + seconds; seconds_now() < end; runs++) {
        int chosen = (int)(next(&random) % (uint64_t)seed_count);
        current_size = seeds[chosen].size;
        memcpy(current, seeds[chosen].bytes, current_size);
        mutate(&random);
        run(current, current_size);
    }
    printf("%d seeds, %llu mutations, no finding\n", seed_count, (unsigned long long)runs);
    return 0;
}
