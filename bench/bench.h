/* bench/bench.h: what every benchmark shares: options, repeated timing, the measured copy ceiling, one line per case and the JSON file.
 *
 *   bench b;
 *   if (!bench_begin(&b, argc, argv, "primitives")) return 2;
 *   bench_time t = bench_measure(&b, call, user, NULL);
 *   bench_report(&b, &(bench_case){ .name = "scan u32 2^28", .n = n, .time = t, .bytes = 8.0 * n, .bar = "peer", .holds = ... });
 *   return bench_end(&b);
 *
 * Time is wall clock over a batch of calls that ends with one synchronisation, divided by the calls: launches of a GPU overlap as in
 * real use. A batch lasts at least 5 ms. With --cpu-time it is the time of the process on its processors: with one thread the honest clock of a
 * machine that others use too. The ceiling is the best rate (read + written bytes) of the backend's own copy of a large array. */
#ifndef TSR_BENCH_H
#define TSR_BENCH_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "device/backend.h"
#include "published.h"
#include "tessera/tessera.h"

typedef struct bench_time {
    double median, min, max;
    int runs;
} bench_time; /* seconds per call; runs 0 = failed */

typedef struct bench_case {
    const char *name;
    int64_t n;
    bench_time time;
    double bytes, flops; /* moved and computed by one call; 0 = not stated */
    const char *peer;    /* NULL: none */
    bench_time peer_time;
    const char *bar; /* the requirement in words, NULL: none */
    int holds;       /* used when there is a bar */
} bench_case;

typedef struct bench {
    tsr_context *context;
    const char *subject, *device, *json, *only, *experiment;
    int quick, threads, cases, missed;
    int lacking;     /* experiments asked for whose data is not there */
    clockid_t clock; /* of all times */
    double ceiling;  /* bytes/s of the copy, both directions counted */
    FILE *file;
    char path[1024];
} bench;

static inline double bench_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static inline double bench_seconds(void) { return bench_clock(CLOCK_MONOTONIC); }

/* Work to be timed. `synchronize` NULL = the bench's own context; a peer with its own stream brings its own. */
typedef tsr_status (*bench_call)(void *user);

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double bench_batch(bench *b, bench_call call, void *user, bench_call synchronize, int calls, int *ok)
{
    double begin = bench_clock(b->clock);
    for (int i = 0; i < calls && *ok; i++) *ok = call(user) == TSR_OK;
    if (*ok) *ok = (synchronize ? synchronize(user) : tsr_context_synchronize(b->context)) == TSR_OK;
    return (bench_clock(b->clock) - begin) / calls;
}

enum { BENCH_RUNS = 15 };

/* Calls per batch; calls twice to warm up. */
static inline int bench_calls(bench *b, bench_call call, void *user, bench_call synchronize, int *ok)
{
    int calls = 1;
    bench_batch(b, call, user, synchronize, 1, ok);
    double one = bench_batch(b, call, user, synchronize, 1, ok);
    while (*ok && one * calls < (b->quick ? 1e-3 : 5e-3) && calls < 1024) calls *= 2;
    return calls;
}

static inline bench_time bench_summary(const bench *b, double *seconds, int runs, int ok)
{
    if (!ok) {
        fprintf(stderr, "bench %s: %s\n", b->subject, tsr_error_trace());
        return (bench_time){ 0 };
    }
    qsort(seconds, (size_t)runs, sizeof *seconds, bench_compare);
    return (bench_time){ seconds[runs / 2], seconds[0], seconds[runs - 1], runs };
}

static inline int bench_again(const bench *b, int runs, double began, double limit)
{
    return runs < BENCH_RUNS && (runs < 3 || bench_seconds() - began < (b->quick ? limit / 10 : limit));
}

static inline bench_time bench_measure(bench *b, bench_call call, void *user, bench_call synchronize)
{
    double seconds[BENCH_RUNS], began = bench_seconds();
    int ok = 1, runs = 0, calls = bench_calls(b, call, user, synchronize, &ok);
    while (ok && bench_again(b, runs, began, 3)) seconds[runs++] = bench_batch(b, call, user, synchronize, calls, &ok);
    return bench_summary(b, seconds, runs, ok);
}

/* The same of a call and its peer, run by turns, so that what else the machine does meets both. */
static inline void bench_measure_pair(bench *b, bench_call call, bench_call peer, void *user, bench_time *time, bench_time *peer_time)
{
    double own[BENCH_RUNS], other[BENCH_RUNS], began = bench_seconds();
    int ok = 1, peer_ok = 1, runs = 0, calls = bench_calls(b, call, user, NULL, &ok), peer_calls = bench_calls(b, peer, user, NULL, &peer_ok);
    for (; ok && peer_ok && bench_again(b, runs, began, 6); runs++) {
        own[runs] = bench_batch(b, call, user, NULL, calls, &ok);
        other[runs] = bench_batch(b, peer, user, NULL, peer_calls, &peer_ok);
    }
    *time = bench_summary(b, own, runs, ok);
    *peer_time = bench_summary(b, other, runs, peer_ok);
}

static inline void bench_text(FILE *f, const char *text) /* a JSON string, or null */
{
    if (!text) {
        fputs("null", f);
        return;
    }
    fputc('"', f);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') fputc('\\', f);
        if ((unsigned char)*text >= ' ') fputc(*text, f);
    }
    fputc('"', f);
}
static inline void bench_number(FILE *f, const char *key, double v)
{
    if (v > 0.0 && v < 1e300) fprintf(f, ", \"%s\": %.9g", key, v);
    else fprintf(f, ", \"%s\": null", key);
}

static inline void bench_command(const char *command, char *text, size_t bytes)
{
    FILE *pipe = popen(command, "r");
    text[0] = 0;
    if (pipe && !fgets(text, (int)bytes, pipe)) text[0] = 0;
    if (pipe) pclose(pipe);
    text[strcspn(text, "\n")] = 0;
}

struct bench_copy {
    bench *b;
    void *to, *from;
    size_t bytes;
};
static inline tsr_status bench_copy_call(void *user)
{
    struct bench_copy *c = (struct bench_copy *)user;
    return tsr_device_move(c->b->context, c->to, c->b->context, c->from, c->bytes);
}

static inline void bench_header(bench *b)
{
    char machine[128] = "", commit[64], date[32];
    tsr_device_info cpu = TSR_DEVICE_INFO, gpu = TSR_DEVICE_INFO;
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    if (gethostname(machine, sizeof machine - 1)) machine[0] = 0;
    bench_command("git rev-parse --short HEAD 2>/dev/null", commit, sizeof commit);
    if (tsr_device_describe((tsr_device){ TSR_DEVICE_CPU, 0 }, &cpu) != TSR_OK) cpu.name[0] = 0;
    if (tsr_context_device(b->context).kind != TSR_DEVICE_CUDA || tsr_device_describe(tsr_context_device(b->context), &gpu) != TSR_OK)
        gpu.name[0] = 0;
    fputs("{\"machine\": ", b->file);
    bench_text(b->file, machine);
    fputs(", \"cpu\": ", b->file);
    bench_text(b->file, cpu.name);
    fputs(", \"gpu\": ", b->file);
    bench_text(b->file, *gpu.name ? gpu.name : NULL);
    fputs(", \"commit\": ", b->file);
    bench_text(b->file, *commit ? commit : NULL);
    fprintf(b->file, ", \"date\": \"%s\", \"clock\": \"%s\", \"results\": [", date, b->clock == CLOCK_MONOTONIC ? "wall" : "processor");
}

/* --only TEXT: groups of cases whose name has no TEXT in it (none of several with | between) are left out. --experiment NAME: the TEXT of published.h, or where
 * that has none all but those named NAME, or NAME and a size. */
static inline int bench_wants(const bench *b, const char *name)
{
    const size_t n = b->experiment ? strlen(b->experiment) : 0;
    if (b->experiment) return !strncmp(name, b->experiment, n) && (!name[n] || name[n] == ' ');
    for (const char *text = b->only; text; text = strchr(text, '|') ? strchr(text, '|') + 1 : NULL) {
        char part[128];
        snprintf(part, sizeof part, "%.*s", (int)strcspn(text, "|"), text);
        if (strstr(name, part)) return 1;
    }
    return !b->only;
}

/* What --experiment NAME asks for, where published.h knows: *only instead of the name. 0 after a message: another program runs it. */
static inline int bench_experiment(bench *b)
{
    const published_experiment *e = b->experiment ? published_find(b->experiment) : NULL;
    if (!e) return 1; /* the program has experiments of its own, or says that it has not */
    if (strcmp(e->program, b->subject)) {
        fprintf(stderr, "bench %s: the experiment '%s' is one of bench_%s\n", b->subject, e->name, e->program);
        return 0;
    }
    printf("%s: %s, measured on %s\n    what differs: %s\n", e->name, e->table, e->hardware, e->differs);
    if (e->only) {
        b->only = e->only;
        b->experiment = NULL;
    }
    return 1;
}

/* The published rows of a case below ours, with the place where they stand. `name` begins with the row's text. */
static inline void bench_published(const bench *b, const char *name, double seconds, int64_t n)
{
    for (int i = 0; i < PUBLISHED_ROWS && seconds > 0; i++) {
        const published_row *row = &published_rows[i];
        const published_experiment *e = published_find(row->experiment);
        if (strcmp(e->program, b->subject) || strncmp(name, row->what, strlen(row->what))) continue;
        const double ours = published_ours(row, seconds, (double)n);
        printf("    %-24s %-40s %10.4g %-8s  here %10.4g: %.3g times as fast\n", e->table, row->method, row->value, row->unit, ours,
               published_ratio(row, ours));
    }
}

/* Ends the program with the library's message: what it measures with does not work. */
static inline int bench_stop(const bench *b)
{
    fprintf(stderr, "bench %s: %s\n", b->subject, tsr_error_message());
    exit(1);
}
/* A call that has to work, in a program that keeps its bench in `s.b`. */
#define MUST(call) ((call) == TSR_OK ? 0 : bench_stop(&s.b))

/* Data that an experiment cannot do without is not there: exit code 3 if that was asked for. */
static inline void bench_lacks(bench *b, const char *what)
{
    printf("    no %s: left out\n", what);
    b->lacking++;
}

/* Parses --device, --threads, --json, --only, --experiment, --quick, --cpu-time; opens the context; measures the ceiling. Returns 0 after a message on stderr. */
static inline int bench_begin(bench *b, int argc, char **argv, const char *subject)
{
    *b = (bench){ .subject = subject, .clock = CLOCK_MONOTONIC };
    setenv("TESSERA_MODULES", BENCH_MODULES, 0);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--quick")) b->quick = 1;
        else if (!strcmp(argv[i], "--cpu-time")) b->clock = CLOCK_PROCESS_CPUTIME_ID;
        else if (!strcmp(argv[i], "--device") && i + 1 < argc) b->device = argv[++i];
        else if (!strcmp(argv[i], "--json") && i + 1 < argc) b->json = argv[++i];
        else if (!strcmp(argv[i], "--threads") && i + 1 < argc) b->threads = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--only") && i + 1 < argc) b->only = argv[++i];
        else if (!strcmp(argv[i], "--experiment") && i + 1 < argc) b->only = b->experiment = argv[++i];
        else {
            fprintf(stderr,
                    "usage: %s [--device auto|cpu|cuda[:n]] [--threads N] [--json FILE] [--only TEXT | --experiment NAME] [--quick] [--cpu-time]\n",
                    argv[0]);
            return 0;
        }
    }
    if (!bench_experiment(b)) return 0;
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    options.device = b->device;
    options.threads = b->threads;
    if (tsr_context_create(&options, &b->context) != TSR_OK) {
        fprintf(stderr, "bench %s: %s\n", subject, tsr_error_message());
        return 0;
    }
    b->threads = tsr_context_threads(b->context);
    b->device = tsr_device_kind_name(tsr_context_device(b->context).kind);
    struct bench_copy copy = { b, NULL, NULL, (size_t)1 << (tsr_context_device(b->context).kind == TSR_DEVICE_CUDA ? 30 : 28) };
    if (tsr_device_allocate(b->context, copy.bytes, &copy.to) == TSR_OK && tsr_device_allocate(b->context, copy.bytes, &copy.from) == TSR_OK &&
        b->context->backend->fill(b->context->queue, copy.from, 1, copy.bytes) == TSR_OK) {
        bench_time t = bench_measure(b, bench_copy_call, &copy, NULL);
        b->ceiling = t.runs ? 2.0 * (double)copy.bytes / t.min : 0.0;
    }
    tsr_device_release(b->context, copy.to, copy.bytes);
    tsr_device_release(b->context, copy.from, copy.bytes);
    printf("%s on %s, %d threads, copy ceiling %.1f GB/s\n", subject, b->device, b->threads, b->ceiling * 1e-9);
    if (b->json) {
        snprintf(b->path, sizeof b->path, "%s.part", b->json);
        b->file = fopen(b->path, "w");
        if (!b->file) {
            fprintf(stderr, "bench %s: cannot write '%s'\n", subject, b->path);
            tsr_context_destroy(&b->context);
            return 0;
        }
        bench_header(b);
    }
    return 1;
}

/* The same rows as a list in the file. */
static inline void bench_published_file(const bench *b, const char *name)
{
    int rows = 0;
    for (int i = 0; i < PUBLISHED_ROWS; i++) {
        const published_row *row = &published_rows[i];
        const published_experiment *e = published_find(row->experiment);
        if (strcmp(e->program, b->subject) || strncmp(name, row->what, strlen(row->what))) continue;
        fputs(rows++ ? ", {\"table\": " : ", \"published\": [{\"table\": ", b->file);
        bench_text(b->file, e->table);
        fputs(", \"method\": ", b->file);
        bench_text(b->file, row->method);
        fputs(", \"hardware\": ", b->file);
        bench_text(b->file, e->hardware);
        bench_number(b->file, "value", row->value);
        fputs(", \"unit\": ", b->file);
        bench_text(b->file, row->unit);
        fputs(", \"differs\": ", b->file);
        bench_text(b->file, e->differs);
        fputc('}', b->file);
    }
    if (rows) fputc(']', b->file);
}

/* The line through `count` points that fits best: y = intercept + slope x; how well is returned, R^2. */
static inline double bench_line(const double *x, const double *y, int count, double *slope, double *intercept)
{
    double mx = 0, my = 0, xx = 0, xy = 0, yy = 0;
    for (int k = 0; k < count; k++) {
        mx += x[k] / count;
        my += y[k] / count;
    }
    for (int k = 0; k < count; k++) {
        xx += (x[k] - mx) * (x[k] - mx);
        xy += (x[k] - mx) * (y[k] - my);
        yy += (y[k] - my) * (y[k] - my);
    }
    *slope = xy / xx;
    *intercept = my - *slope * mx;
    return yy > 0 ? xy * xy / (xx * yy) : 0;
}

static inline void bench_report(bench *b, const bench_case *c)
{
    double bound = b->ceiling > 0.0 ? c->bytes / b->ceiling : 0.0;
    double ratio = c->time.runs && c->peer_time.runs ? c->peer_time.median / c->time.median : 0.0; /* above 1: faster than the peer */
    int holds = c->holds && c->time.runs;
    printf("%-40s %11.2f us %8.1f GB/s", c->name, c->time.median * 1e6, c->time.runs ? c->bytes / c->time.median * 1e-9 : 0.0);
    if (bound > 0.0 && c->time.runs) printf("  %3.0f %% of ceiling", 100.0 * bound / c->time.median);
    if (ratio > 0.0) printf("  %.2f x %s", ratio, c->peer);
    if (c->bar) printf("  %s: %s", holds ? "holds" : "MISSES", c->bar);
    printf("\n");
    if (c->time.runs) bench_published(b, c->name, c->time.median, c->n);
    fflush(stdout);
    b->missed += c->bar && !holds;
    if (b->file) {
        fputs(b->cases ? ",\n  {\"case\": " : "\n  {\"case\": ", b->file);
        bench_text(b->file, c->name);
        fprintf(b->file, ", \"device\": \"%s\", \"threads\": %d, \"n\": %lld", b->device, b->threads, (long long)c->n);
        bench_number(b->file, "median_s", c->time.median);
        bench_number(b->file, "min_s", c->time.min);
        bench_number(b->file, "max_s", c->time.max);
        bench_number(b->file, "bytes", c->bytes);
        bench_number(b->file, "flops", c->flops);
        bench_number(b->file, "bound_s", bound);
        fputs(", \"peer\": ", b->file);
        bench_text(b->file, c->peer);
        bench_number(b->file, "peer_median_s", c->peer_time.median);
        bench_number(b->file, "ratio", ratio);
        fputs(", \"bar\": ", b->file);
        bench_text(b->file, c->bar);
        fprintf(b->file, ", \"holds\": %s", !c->bar ? "null" : holds ? "true" : "false");
        bench_published_file(b, c->name);
        fputc('}', b->file);
    }
    b->cases++;
}

/* Completes the JSON file, beside and renamed. Returns the exit code: a missed bar is no failure; 2: there is no such experiment; 3: what was
 * asked for had no data. */
static inline int bench_end(bench *b)
{
    int code = b->lacking && b->only && !b->cases ? 3 : 0;
    if (b->experiment && !b->lacking && !b->cases) {
        fprintf(stderr, "bench %s: no experiment '%s': tessera bench --published lists them\n", b->subject, b->experiment);
        code = 2;
    }
    if (b->missed) printf("%d of %d cases miss their bar\n", b->missed, b->cases);
    if (b->file) {
        fputs("\n]}\n", b->file);
        int bad = ferror(b->file);
        if (fclose(b->file) || bad || rename(b->path, b->json)) {
            fprintf(stderr, "bench %s: cannot write '%s'\n", b->subject, b->json);
            code = 1;
        }
    }
    tsr_context_destroy(&b->context);
    return code;
}

/* The same where something else may have failed: 1 then, unless there is more to say. */
static inline int bench_end_with(bench *b, int failed)
{
    const int code = bench_end(b);
    return code ? code : failed != 0;
}

#endif
