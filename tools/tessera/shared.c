/* tools/tessera/shared.c: messages, context, progress for all verbs. */
#define _XOPEN_SOURCE 700 /* clock_gettime, isatty, SIGVTALRM */
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../seconds.h"
#include "cli.h"

static void wipe_bar(void);

/* Names of files may hold anything; a message is one line. */
static void make_printable(char *text)
{
    for (char *c = text; *c;) {
        const int length = cli_utf8_bytes(c), bytes = length ? length : 1;
        if (!length || cli_utf8_control(c, length)) memset(c, '?', (size_t)bytes);
        c += bytes;
    }
}

static void message(const cli_call *cli, const char *format, va_list list)
{
    char text[6000];
    wipe_bar();
    fflush(stdout);
    vsnprintf(text, sizeof text, format, list);
    make_printable(text);
    cli_name_kept(text, sizeof text);
    fprintf(stderr, "tessera%s%s: %s\n", cli->verb ? " " : "", cli->verb ? cli->verb->name : "", text);
}

static void complain(const cli_call *cli, const char *format, va_list list)
{
    if (!cli->held) message(cli, format, list);
    else {
        vsnprintf(cli->held, cli->held_room, format, list);
        make_printable(cli->held);
    }
}

int cli_usage(const cli_call *cli, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    complain(cli, format, list);
    va_end(list);
    return CLI_USAGE;
}

int cli_error(const cli_call *cli, int code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    complain(cli, format, list);
    va_end(list);
    return code;
}

void cli_note(const cli_call *cli, const char *format, ...)
{
    if (cli->globals.quiet) return;
    va_list list;
    va_start(list, format);
    message(cli, format, list);
    va_end(list);
}

/* Has the verb an option of this name? */
static int has_option(const cli_call *cli, const char *name)
{
    for (const cli_option *o = cli->options; o && o->name; o++)
        if (!strcmp(o->name, name)) return 1;
    return 0;
}

/* The library's message speaks of fields, options.time_step; here they are --time-step. An alternative that the verb does not have is left out. */
static void name_options(const cli_call *cli, char *text, size_t room)
{
    static const char field[] = "options.", overwrite[] = "options.overwrite, --force", other[] = ", or ";
    char *at = text;
    while ((at = strstr(at, field)) != NULL) {
        char name[64] = "", made[80];
        size_t n = strspn(at + sizeof field - 1, "abcdefghijklmnopqrstuvwxyz0123456789_"), used = sizeof field - 1 + n;
        char *from = at;
        made[0] = 0;
        if (n < sizeof name) memcpy(name, at + sizeof field - 1, n);
        for (char *c = name; *c; c++)
            if (*c == '_') *c = '-';
        if (!strncmp(at, overwrite, sizeof overwrite - 1)) {
            used = sizeof overwrite - 1;
            snprintf(made, sizeof made, "--force");
        } else if (!strcmp(name, "force") && has_option(cli, "force-time-step")) snprintf(made, sizeof made, "--force-time-step");
        else if (has_option(cli, name)) snprintf(made, sizeof made, "--%s", name);
        else if (at - text >= (ptrdiff_t)sizeof other - 1 && !strncmp(at - (sizeof other - 1), other, sizeof other - 1)) from -= sizeof other - 1;
        else {
            for (char *c = name; *c; c++)
                if (*c == '-') *c = ' ';
            snprintf(made, sizeof made, "%s", name);
        }
        const char *rest = at + used;
        const size_t length = strlen(made), tail = strlen(rest) + 1;
        if ((size_t)(from - text) + length + tail > room) return;
        memmove(from + length, rest, tail);
        memcpy(from, made, length);
        at = from + length;
    }
}

/* Where a word ends that is a name of the library's interface, tsr_volume_copy or TSR_TERM_CONSTANT; NULL: it is none (a file may be called tsr_a.nii). */
static const char *api_name(const char *text, const char *at)
{
    const int upper = !strncmp(at, "TSR_", 4);
    if (at == text || (at[-1] != ' ' && at[-1] != '(') || (!upper && strncmp(at, "tsr_", 4) != 0)) return NULL;
    const char *end = at + strspn(at, upper ? "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_" : "abcdefghijklmnopqrstuvwxyz0123456789_");
    static const char *const modules[] = { "TSR_TERM", "TSR_MAP", "TSR_CLASSIFIER" }; /* what those write who bring functions of their own */
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if ((size_t)(end - at) == strlen(modules[i]) && !strncmp(at, modules[i], strlen(modules[i]))) return NULL;
    return *end == '/' || (*end == '.' && end[1] && end[1] != ' ' && end[1] != '.') ? NULL : end;
}

/* The library's advice to programmers, "copy it with tsr_volume_copy", is not for those who type commands: what is in brackets, or the clause, goes. */
static void drop_api(char *text)
{
    for (char *at = text; *at; at++) {
        if (!api_name(text, at)) continue;
        char *from = at, *to = at;
        while (from > text && *from != '(' && *from != ':' && *from != ';' && *from != ',') from--;
        if (*from == '(') {
            while (*to && *to != ')') to++;
            to += *to == ')';
            while (from > text && from[-1] == ' ') from--;
        } else {
            while (*to && *to != ';' && strncmp(to, ": ", 2) != 0) to++;
        }
        if (from == text) return; /* the whole message: better than none */
        memmove(from, to, strlen(to) + 1);
        at = from - 1;
    }
}

int cli_status(const cli_call *cli, tsr_status status, const char *file)
{
    char text[6000];
    snprintf(text, sizeof text, "%s",
             *tsr_error_message()         ? tsr_error_message()
             : status == TSR_ERROR_MEMORY ? "out of memory"
                                          : tsr_status_name(status));
    name_options(cli, text, sizeof text);
    drop_api(text);
    int code = status == TSR_ERROR_ARGUMENT ? CLI_USAGE : status == TSR_ERROR_DEVICE ? CLI_NO_DEVICE : CLI_FAILED;
    char name[4096];
    snprintf(name, sizeof name, "%s", file ? file : "");
    make_printable(name);
    make_printable(text);
    if (!strstr(text, name)) return cli_error(cli, code, "%s: %s", name, text);
    return cli_error(cli, code, "%s", text);
}

/* What a remark says, behind the name of the file that it is about. */
static const char *said_of(const char *line)
{
    const char *colon = strstr(line, ": ");
    return colon ? colon + 2 : line;
}

/* The same about several files (the pictures of a film) is said once. */
void cli_remarks(const cli_call *cli)
{
    enum { LINES_MOST = 64 };
    char text[1001], said[1200], *line[LINES_MOST];
    int count = 0, alike[LINES_MOST] = { 0 };
    tsr_remarks_take(text, sizeof text);
    for (char *at = text, *next; *at && count < LINES_MOST; at = next) {
        char *end = strchr(at, '\n');
        int same = -1;
        next = end ? end + 1 : at + strlen(at);
        if (end) *end = 0;
        for (int k = 0; k < count && same < 0; k++)
            if (!strcmp(said_of(line[k]), said_of(at)) && said_of(at) != at) same = k;
        if (same < 0) line[count++] = at;
        else alike[same]++;
    }
    for (int k = 0; k < count; k++) {
        snprintf(said, sizeof said, "%s%s", line[k], alike[k] ? " (others are alike)" : "");
        name_options(cli, said, sizeof said);
        cli_note(cli, "%s", said);
    }
}

static int context_on(const cli_call *cli, const char *device, tsr_context **context)
{
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    options.device = device;
    options.threads = cli->globals.threads;
    tsr_status status = tsr_context_create(&options, context);
    return status == TSR_OK ? CLI_OK : cli_status(cli, status, NULL);
}
int cli_context(const cli_call *cli, tsr_context **context) { return context_on(cli, cli->globals.device, context); }
int cli_cpu_context(const cli_call *cli, tsr_context **context)
{
    const int code = cli->globals.device ? cli_context(cli, context) : CLI_OK; /* a device that is asked for exists, also where it has no work */
    if (code) return code;
    if (cli->globals.device) tsr_context_destroy(context);
    return context_on(cli, "cpu", context);
}

/* ---- progress --------------------------------------------------------------------------------------------------------------- */

/* A signal cancels work that reports its progress, at its next report, so that it ends with a message. Where none is at work (between reading and
 * writing many computations take no progress), and at a second signal of its kind, the program ends at once. Two that follow within a twentieth of a second are
 * one: `timeout` sends its own to the program and to the group it is in. */
static volatile sig_atomic_t interrupted; /* the number of the signal */
static struct timespec interrupted_at;
static int reports, answered; /* accessed atomically: is work that reports under way; has it been told */

static void end_by(int signal_number)
{
    tsr_output_unlink_all();
    signal(signal_number, SIG_DFL);
    raise(signal_number); /* out of a handler it comes when that returns */
}

void cli_catch_signals(void)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM, SIGABRT, SIGXCPU, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2 };
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = end_by;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (!sigaction(signals[i], NULL, &before) && before.sa_handler == SIG_DFL) sigaction(signals[i], &action, NULL); /* nohup stays in force */
}

static void interrupt(int signal_number)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double since = (double)(now.tv_sec - interrupted_at.tv_sec) + 1e-9 * (double)(now.tv_nsec - interrupted_at.tv_nsec);
    if (!__atomic_load_n(&reports, __ATOMIC_RELAXED) || (interrupted == signal_number && since > 0.05)) end_by(signal_number);
    else if (interrupted != signal_number) interrupted_at = now;
    interrupted = signal_number;
}

static int told(void)
{
    __atomic_store_n(&reports, 1, __ATOMIC_RELAXED);
    if (!interrupted) return 0;
    __atomic_store_n(&answered, 1, __ATOMIC_RELAXED);
    return 1;
}

void cli_progress_pause(void)
{
    __atomic_store_n(&reports, 0, __ATOMIC_RELAXED);
    if (interrupted && !__atomic_load_n(&answered, __ATOMIC_RELAXED)) end_by(interrupted); /* it came after the last report */
}

static struct {
    double last;
    int shown;
} bar;

static int report(void *user, double fraction, const char *stage)
{
    (void)user;
    double now = cli_seconds();
    if (isatty(STDERR_FILENO) && now - bar.last >= 0.1) {
        bar.last = now;
        bar.shown = 1;
        if (fraction >= 0) {
            int filled = (int)(fraction * 40 + 0.5);
            fprintf(stderr, "\r\033[K%-20.20s [%.*s%.*s] %3.0f %%", stage, filled, "========================================", 40 - filled,
                    "                                        ", fraction * 100);
        } else {
            fprintf(stderr, "\r\033[K%-20.20s ...", stage);
        }
    }
    return told();
}
static int report_quiet(void *user, double fraction, const char *stage)
{
    (void)user;
    (void)fraction;
    (void)stage;
    return told();
}

tsr_progress cli_progress(const cli_call *cli)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = interrupt;
    __atomic_store_n(&reports, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++)
        if (!sigaction(signals[i], NULL, &before) && before.sa_handler != SIG_IGN) sigaction(signals[i], &action, NULL); /* nohup stays in force */
    return (tsr_progress){ cli->globals.quiet ? report_quiet : report, NULL };
}

static void wipe_bar(void)
{
    if (bar.shown) fprintf(stderr, "\r\033[K");
    bar.shown = 0;
}

void cli_progress_end(const cli_call *cli)
{
    (void)cli;
    wipe_bar();
    cli_progress_pause();
}

double cli_seconds(void) { return tools_seconds(); }
