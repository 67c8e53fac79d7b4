/* tools/tessera/shared.c: messages, context, progress for all verbs. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, isatty */
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

/* Names of files may hold anything; a message is one line. */
static void make_printable(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c; c++)
        if (*c < 0x20 || *c == 0x7f) *c = '?';
}

static void message(const cli_call *cli, const char *format, va_list list)
{
    char text[6000];
    cli_progress_end(cli);
    fflush(stdout);
    vsnprintf(text, sizeof text, format, list);
    make_printable(text);
    fprintf(stderr, "tessera%s%s: %s\n", cli->verb ? " " : "", cli->verb ? cli->verb->name : "", text);
}

int cli_usage(const cli_call *cli, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    message(cli, format, list);
    va_end(list);
    return CLI_USAGE;
}

int cli_error(const cli_call *cli, int code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    message(cli, format, list);
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

int cli_status(const cli_call *cli, tsr_status status, const char *file)
{
    const char *text = tsr_error_message();
    int code = status == TSR_ERROR_ARGUMENT ? CLI_USAGE : status == TSR_ERROR_DEVICE ? CLI_NO_DEVICE : CLI_FAILED;
    char name[4096];
    snprintf(name, sizeof name, "%s", file ? file : "");
    make_printable(name); /* as the library shows it */
    if (!strstr(text, name)) return cli_error(cli, code, "%s: %s", name, text);
    return cli_error(cli, code, "%s", text);
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

static volatile sig_atomic_t interrupted;
static void interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
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
    return interrupted;
}
static int report_quiet(void *user, double fraction, const char *stage)
{
    (void)user;
    (void)fraction;
    (void)stage;
    return interrupted;
}

tsr_progress cli_progress(const cli_call *cli)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = interrupt;
    action.sa_flags = (int)SA_RESETHAND; /* a second Ctrl-C ends the program at once */
    for (int i = 0; i < 3; i++)
        if (!sigaction(signals[i], NULL, &before) && before.sa_handler != SIG_IGN) sigaction(signals[i], &action, NULL); /* nohup stays in force */
    return (tsr_progress){ cli->globals.quiet ? report_quiet : report, NULL };
}

void cli_progress_end(const cli_call *cli)
{
    (void)cli;
    if (bar.shown) fprintf(stderr, "\r\033[K");
    bar.shown = 0;
}

double cli_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
