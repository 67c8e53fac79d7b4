/* tests/check/check.h: every backend and SIMD variant against one reference, after the idea of dav1d's checkasm.
 *
 * A check_SUBJECT.c holds a table of entries and calls check_main. An entry runs case number `index` on a context and hands its results
 * over with check_keep; the harness does so on the reference (cpu, base, one thread) and on all that this machine has (cpu with each
 * SIMD variant and several threads, emu, cuda) and compares the bytes. An entry may also bring an oracle: a plain serial loop that keeps
 * the same sections without tessera. With --bench the calls inside check_call are repeated and their speed is printed instead.
 *
 *   static void scan_run(check *c, int index)
 *   {
 *       ...
 *       check_call(c, bytes_moved, tsr_scan(c->context, ...));
 *       check_keep_device(c, "sums", device_pointer, bytes);
 *   }
 */
#ifndef TSR_TESTS_CHECK_H
#define TSR_TESTS_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/core.h"
#include "core/mix.h"
#include "device/backend.h"
#include "device/isa.h"
#include "tessera/tessera.h"

typedef struct check_section { char name[32]; unsigned char *data; size_t bytes; } check_section;

typedef struct check {
    tsr_context *context; /* NULL while the oracle runs */
    char where[48];       /* "cpu avx2 3 threads" */
    check_section section[16];
    int sections, failed, bench;
    double bytes, best, started;
    int calls;
} check;

typedef struct check_entry {
    const char *name;
    int cases;
    void (*describe)(int index, char *text, size_t bytes); /* parameters of a case, for the report */
    void (*run)(check *c, int index);
    void (*oracle)(check *c, int index); /* may be NULL: then the reference is cpu base */
} check_entry;

static inline void check_status(check *c, tsr_status status)
{
    if (status == TSR_OK) return;
    if (!c->failed) printf("    %s: %s\n", c->where, tsr_error_trace());
    c->failed = 1;
}

/* Loop control of check_call: once, or 20 times for --bench, which keeps the best. */
static inline void check_call_begin(check *c, double bytes)
{
    c->bytes = bytes;
    c->calls = 0;
    c->best = 1e30;
    c->started = 0.0;
}
static inline int check_call_again(check *c)
{
    if (c->failed) return 0;
    if (!c->bench) return c->calls++ == 0;
    if (c->calls > 0) {
        check_status(c, tsr_context_synchronize(c->context));
        double seconds = tsr_seconds_now() - c->started;
        if (seconds < c->best) c->best = seconds;
    }
    if (c->calls >= 20) return 0;
    c->calls++;
    c->started = tsr_seconds_now();
    return 1;
}
#define check_call(c, bytes, call) \
    for (check_call_begin((c), (double)(bytes)); check_call_again(c);) check_status((c), (call))

static inline void check_keep(check *c, const char *name, const void *data, size_t bytes)
{
    if (c->sections == (int)(sizeof c->section / sizeof c->section[0])) abort();
    check_section *s = &c->section[c->sections++];
    snprintf(s->name, sizeof s->name, "%s", name);
    s->bytes = bytes;
    s->data = (unsigned char *)malloc(bytes ? bytes : 1);
    if (!s->data) abort();
    if (bytes) memcpy(s->data, data, bytes);
}
static inline void check_keep_device(check *c, const char *name, const void *device, size_t bytes)
{
    void *host = calloc(bytes ? bytes : 1, 1);
    if (!host) abort();
    if (bytes && !c->failed) check_status(c, tsr_device_move(NULL, host, c->context, device, bytes));
    check_keep(c, name, host, bytes);
    free(host);
}

/* Device memory of the case, filled from the host if `data` is given; NULL after a failure or for 0 bytes. */
static inline void *check_device(check *c, const void *data, size_t bytes)
{
    void *memory = NULL;
    if (!c->failed) check_status(c, tsr_device_allocate(c->context, bytes, &memory));
    if (memory && data) check_status(c, tsr_device_move(c->context, memory, NULL, data, bytes));
    return memory;
}
static inline void check_release(check *c, void *memory, size_t bytes) { tsr_device_release(c->context, memory, bytes); }

/* Seeded generator: the same input for every run of a case. */
static inline uint64_t check_random(uint64_t *state)
{
    *state += TSR_GOLDEN_STEP;
    return tsr_mix64(*state);
}

static inline void check_clear(check *c)
{
    for (int i = 0; i < c->sections; i++) free(c->section[i].data);
    memset(c, 0, sizeof *c);
}

static inline int check_same(const check *want, const check *got, const char *entry, const char *parameters)
{
    if (want->sections != got->sections) {
        printf("FAIL %s [%s]: %s kept %d sections, %s %d\n", entry, parameters, want->where, want->sections, got->where, got->sections);
        return 0;
    }
    for (int i = 0; i < want->sections; i++) {
        const check_section *a = &want->section[i], *b = &got->section[i];
        size_t at = 0, most = a->bytes < b->bytes ? a->bytes : b->bytes;
        while (at < most && a->data[at] == b->data[at]) at++;
        if (a->bytes == b->bytes && at == most) continue;
        printf("FAIL %s [%s] %s: %s (%zu bytes) and %s (%zu bytes) differ at byte %zu", entry, parameters, a->name, want->where, a->bytes,
               got->where, b->bytes, at);
        for (size_t k = at; k < at + 8 && k < most; k++) printf("%s%02x/%02x", k == at ? ": " : " ", a->data[k], b->data[k]);
        printf("\n");
        return 0;
    }
    return 1;
}

typedef struct check_variant { const char *device; int isa, threads; } check_variant;

/* One run of one case on one variant. */
static inline void check_one(check *c, const check_entry *entry, int index, const check_variant *variant, int bench)
{
    memset(c, 0, sizeof *c);
    c->bench = bench;
    if (variant->isa >= 0)
        snprintf(c->where, sizeof c->where, "%s %s %d threads", variant->device, tsr_isa_name((tsr_isa)variant->isa), variant->threads);
    else snprintf(c->where, sizeof c->where, "%s", variant->device);
    tsr_isa_force(variant->isa);
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    options.device = variant->device;
    options.threads = variant->threads;
    check_status(c, tsr_context_create(&options, &c->context));
    if (c->context) {
        entry->run(c, index);
        check_status(c, tsr_context_synchronize(c->context));
        if (tsr_context_memory(c->context)->current_bytes) {
            printf("    %s: device memory still held after the case\n", c->where);
            c->failed = 1;
        }
        tsr_context_destroy(&c->context);
    }
    tsr_isa_force(-1);
}

static inline int check_variants(check_variant *list)
{
    int n = 0;
    tsr_isa best = tsr_isa_current();
    for (int isa = 0; isa <= (int)best; isa++) {
#if defined(TSR_SANITIZE_THREAD)
        if (isa < (int)best) continue; /* those on one thread */
#endif
        list[n++] = (check_variant){ "cpu", isa, isa == (int)best ? 3 : 1 };
    }
    if (tsr_device_count(TSR_DEVICE_EMU, NULL)) list[n++] = (check_variant){ "emu", -1, 1 };
    if (tsr_device_count(TSR_DEVICE_CUDA, NULL)) list[n++] = (check_variant){ "cuda", -1, 1 };
    return n;
}

/* Under a sanitizer a third of the cases of a long entry, picked by chance so that every kind of parameter is met. */
static inline int check_left_out(const check_entry *entry, int index)
{
#if defined(TSR_SANITIZED)
    uint64_t random = (uint64_t)index;
    return entry->cases > 12 && check_random(&random) % 3 != 0;
#else
    (void)entry;
    (void)index;
    return 0;
#endif
}

/* Options: --bench, --only TEXT (entries whose name contains it), --device NAME. Exit code 3 when something differs. */
static inline int check_main(int argc, char **argv, const check_entry *entries, int count)
{
    check_variant list[8];
    int variants = check_variants(list), bench = 0, bad = 0, done = 0;
    const char *only = "", *device = "";
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--bench")) bench = 1;
        else if (!strcmp(argv[i], "--only") && i + 1 < argc) only = argv[++i];
        else if (!strcmp(argv[i], "--device") && i + 1 < argc) device = argv[++i];
        else {
            fprintf(stderr, "usage: %s [--bench] [--only NAME] [--device cpu|emu|cuda]\n", argv[0]);
            return 2;
        }
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int e = 0; e < count; e++) {
        if (!strstr(entries[e].name, only)) continue;
        int failures = 0, cases = 0;
        for (int i = 0; i < entries[e].cases; i++) {
            char text[160] = "";
            if (check_left_out(&entries[e], i)) continue;
            cases++;
            entries[e].describe(i, text, sizeof text);
            check want, got;
            const check_variant base = { "cpu", 0, 1 };
            memset(&want, 0, sizeof want);
            if (!bench && entries[e].oracle) {
                snprintf(want.where, sizeof want.where, "oracle");
                entries[e].oracle(&want, i);
            } else if (!bench) {
                check_one(&want, &entries[e], i, &base, 0);
                failures += want.failed;
            }
            for (int v = 0; v < variants; v++) {
                if (*device && strcmp(device, list[v].device)) continue;
                check_one(&got, &entries[e], i, &list[v], bench);
                if (bench && !got.failed && got.calls)
                    printf("%-20s %-44s %-22s %10.3f us %9.2f GB/s\n", entries[e].name, text, got.where, got.best * 1e6, got.bytes / got.best * 1e-9);
                if (got.failed) printf("FAIL %s [%s]: %s failed\n", entries[e].name, text, got.where);
                failures += got.failed || (!bench && !check_same(&want, &got, entries[e].name, text));
                done++;
                check_clear(&got);
            }
            check_clear(&want);
        }
        if (!bench) printf("%-20s %3d cases: %s\n", entries[e].name, cases, failures ? "FAILED" : "same on all");
        bad += failures;
    }
    if (!done) fprintf(stderr, "%s: nothing matches --only %s --device %s\n", argv[0], only, device);
    return bad || !done ? 3 : 0;
}

#endif
