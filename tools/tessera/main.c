/* tessera: the command line. One line of this table is one verb; each verb is one file of this folder. */
#define _POSIX_C_SOURCE 200809L /* fcntl, sigaction, SIGXFSZ */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define VERB(name) extern const cli_verb verb_##name;
#include "verbs.h"
#undef VERB

static const cli_verb *const verbs[] = {
#define VERB(name) &verb_##name,
#include "verbs.h"
#undef VERB
};
enum { VERB_COUNT = sizeof verbs / sizeof *verbs };

static void help(void)
{
    printf("usage: tessera VERB [options] INPUT... [-o OUTPUT]\n\nSparse and multiresolution data structures on volumes and surfaces.\n\nverbs:\n");
    for (int i = 0; i < VERB_COUNT; i++) printf("  %-10s %s\n", verbs[i]->name, verbs[i]->purpose);
    printf("\nglobal options: --device, --threads, --quiet, --json, --force; 'tessera VERB --help' lists all of a verb with an example.\n"
           "'-' is standard input or output. Exit codes: 0 ok, 1 failed, 2 usage, 3 comparison differs, 4 device unavailable.\n");
}

/* The file that is mapped at `address`, from a table that the kernel keeps: only calls that a signal handler may make. */
static int mapped_at(uintptr_t address, char *line, size_t room)
{
    char block[1024];
    size_t n = 0;
    ssize_t got;
    int found = 0;
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && !found && (got = read(fd, block, sizeof block)) > 0)
        for (ssize_t i = 0; i < got && !found; i++) {
            if (block[i] != '\n') {
                if (n + 1 < room) line[n++] = block[i];
                continue;
            }
            uintptr_t bound[2] = { 0, 0 };
            int which = 0;
            line[n] = 0;
            for (const char *c = line; *c && *c != ' '; c++) {
                if (*c == '-') which = 1;
                else bound[which] = bound[which] << 4 | (uintptr_t)(*c <= '9' ? *c - '0' : *c - 'a' + 10);
            }
            found = address >= bound[0] && address < bound[1] && strchr(line, '/');
            n = 0;
        }
    if (fd >= 0) close(fd);
    return found;
}

static void say(const char *text)
{
    const ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

/* A mapped file that another process made shorter ends where pages used to be: no read() is there to say so. */
static void bus_error(int number, siginfo_t *about, void *context)
{
    char line[4400];
    (void)number, (void)context;
    if (about->si_code != BUS_ADRERR || !mapped_at((uintptr_t)about->si_addr, line, sizeof line)) return; /* again, and for good */
    say("tessera: ");
    say(strchr(line, '/'));
    say(": became shorter while it was read\n");
    tsr_output_unlink_all();
    _exit(CLI_FAILED);
}

/* Every way out: results that could not be written are a failure, also those of --help and --version. */
static int leave(cli_call *cli, int code)
{
    free(cli->kept);
    cli->options = cli->kept = NULL;
    if (fflush(stdout) || ferror(stdout)) return cli_error(cli, CLI_FAILED, "standard output: cannot write the results");
    return code;
}

/* A standard stream that the caller closed must not become one of our files: its number is taken by something that cannot be used. A file
 * over the size limit is an error of write(), not the end of the program. */
static void prepare_process(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = bus_error;
    action.sa_flags = (int)SA_SIGINFO | (int)SA_RESETHAND;
    sigaction(SIGBUS, &action, NULL);
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd) break;
    signal(SIGXFSZ, SIG_IGN);
    cli_catch_signals();
}

int main(int argc, char **argv)
{
    cli_call cli = { 0 };
    prepare_process();
    const char *word = argc > 1 ? argv[1] : "";
    if (!strcmp(word, "--version")) {
        printf("tessera %s\n", tsr_version());
        return leave(&cli, CLI_OK);
    }
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) {
        help();
        return leave(&cli, CLI_OK);
    }
    for (int i = 0; i < VERB_COUNT; i++) {
        if (strcmp(word, verbs[i]->name)) continue;
        cli.verb = verbs[i];
        int code = verbs[i]->run(&cli, argc - 1, argv + 1);
        cli_progress_end(&cli);
        if (code == CLI_OK || code == CLI_DIFFERS) cli_remarks(&cli);
        return leave(&cli, code);
    }
    if (!*word) return cli_usage(&cli, "no verb given: see tessera --help");
    if (*word == '-') return cli_usage(&cli, "'%s' given, expected a verb first: options follow it, see tessera --help", word);
    return cli_usage(&cli, "unknown verb '%s': see tessera --help", word);
}
