/* device/capability.h: on which GPUs the code of a CUDA module runs. Plain C, and what asks a GPU is an argument, so that tests need none. */
#ifndef TSR_DEVICE_CAPABILITY_H
#define TSR_DEVICE_CAPABILITY_H

#include <stddef.h>
#include <stdio.h>

/* What code a module was compiled to: 800 for compute capability 8.0. */
typedef struct tsr_capability_codes {
    const int *code;
    int count;
} tsr_capability_codes;

/* Fills in a GPU's compute capability and name. 0: it does not answer, `name` says why. */
typedef int (*tsr_capability_ask)(int device, int *major, int *minor, char *name, size_t name_bytes);

/* The newest code that is not newer than the GPU; 0: none runs there. */
static inline int tsr_capability_code(tsr_capability_codes made, int major, int minor)
{
    int runs = 0;
    for (int i = 0; i < made.count; i++)
        if (made.code[i] <= 100 * major + 10 * minor && made.code[i] > runs) runs = made.code[i];
    return runs;
}

/* 1 if some code runs on the GPU; else `why` says what it has and what is needed. */
static inline int tsr_capability_runs(tsr_capability_codes made, tsr_capability_ask ask, int device, char *why, size_t why_bytes)
{
    char name[128] = "";
    int major = 0, minor = 0, least = made.count ? made.code[0] : 0;
    if (!ask(device, &major, &minor, name, sizeof name)) {
        snprintf(why, why_bytes, "CUDA: GPU %d: %s", device, name);
        return 0;
    }
    if (tsr_capability_code(made, major, minor)) return 1;
    for (int i = 0; i < made.count; i++)
        if (made.code[i] < least) least = made.code[i];
    snprintf(why, why_bytes, "CUDA: GPU %d (%s) has compute capability %d.%d, this module needs %d.%d or newer", device, name, major, minor,
             least / 100, least / 10 % 10);
    return 0;
}

/* `count` GPUs, or 0 and the reason if code runs on none of them. */
static inline int tsr_capability_count(tsr_capability_codes made, tsr_capability_ask ask, int count, char *why, size_t why_bytes)
{
    for (int i = 0; i < count; i++)
        if (tsr_capability_runs(made, ask, i, why, why_bytes)) return count;
    return 0;
}

#endif
