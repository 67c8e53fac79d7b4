/* tessera: the command line. One line of this table is one verb; each verb is one file of this folder. */
#define _POSIX_C_SOURCE 200809L /* fcntl, SIGXFSZ */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

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

/* A standard stream that the caller closed must not become one of our files: its number is taken by something that cannot be used. A file
 * over the size limit is an error of write(), not the end of the program. */
static void prepare_process(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd) break;
    signal(SIGXFSZ, SIG_IGN);
}

int main(int argc, char **argv)
{
    cli_call cli = { 0 };
    prepare_process();
    const char *word = argc > 1 ? argv[1] : "";
    if (!strcmp(word, "--version")) {
        printf("tessera %s\n", tsr_version());
        return CLI_OK;
    }
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) {
        help();
        return CLI_OK;
    }
    for (int i = 0; i < VERB_COUNT; i++) {
        if (strcmp(word, verbs[i]->name)) continue;
        cli.verb = verbs[i];
        int code = verbs[i]->run(&cli, argc - 1, argv + 1);
        cli_progress_end(&cli);
        if (fflush(stdout) || ferror(stdout)) return cli_error(&cli, CLI_FAILED, "standard output: cannot write the results");
        return code;
    }
    if (!*word) return cli_usage(&cli, "no verb given: see tessera --help");
    return cli_usage(&cli, "unknown verb '%s': see tessera --help", word);
}
