/* A child process: started by posix_spawn, which is safe where other threads run. */
#define _GNU_SOURCE /* pipe2, posix_spawnp, SOCK_CLOEXEC */
#include "io/process.h"
#include "io/stream.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SAID = 600, WAIT_MS = 100, RUNNING = 64 };

struct tsr_process {
    char name[64];
    pid_t id;        /* 0 once waited for */
    int data, error; /* our ends, -1 when closed */
    int writing;
    char said[SAID + 1];
    size_t said_bytes;
};

extern char **environ;

static pid_t running[RUNNING]; /* accessed atomically: for the handler of a signal */

static void note_running(pid_t id)
{
    for (int k = 0; k < RUNNING; k++) {
        pid_t none = 0;
        if (__atomic_compare_exchange_n(&running[k], &none, id, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return;
    }
}

static void forget_running(pid_t id)
{
    for (int k = 0; k < RUNNING; k++) {
        pid_t own = id;
        if (__atomic_compare_exchange_n(&running[k], &own, 0, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return;
    }
}

void tsr_process_kill_all(void)
{
    for (int k = 0; k < RUNNING; k++) {
        const pid_t id = __atomic_exchange_n(&running[k], 0, __ATOMIC_ACQ_REL);
        if (id > 0) kill(id, SIGKILL);
    }
}

static void close_end(int *end)
{
    if (*end >= 0) close(*end);
    *end = -1;
}

/* The first lines stay; the rest is read and dropped, so that the process never waits for us. */
static void listen_to_error(tsr_process *p)
{
    char bytes[4096];
    for (;;) {
        const ssize_t got = p->error >= 0 ? read(p->error, bytes, sizeof bytes) : 0;
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) close_end(&p->error);
        if (got <= 0) return;
        for (ssize_t i = 0; i < got && p->said_bytes < SAID; i++) p->said[p->said_bytes++] = bytes[i];
    }
}

const char *tsr_process_said(tsr_process *p)
{
    listen_to_error(p);
    char text[2 * SAID + 1];
    size_t n = 0;
    for (size_t i = 0; i < p->said_bytes; i++) {
        const unsigned char c = (unsigned char)p->said[i];
        if (c != '\n' && c != '\r') {
            text[n++] = c < 32 || c == 127 ? ' ' : (char)c;
        } else if (n && text[n - 1] != ' ') {
            text[n++] = ';';
            text[n++] = ' ';
        }
    }
    while (n && (text[n - 1] == ' ' || text[n - 1] == ';')) n--;
    if (n > SAID) n = SAID;
    memcpy(p->said, text, n);
    p->said_bytes = n;
    p->said[n] = 0;
    return p->said;
}

/* Beside `own`, a file of ours. */
static int find_beside(const char *own, const char *program, char *path, size_t room)
{
    static const char *const places[] = { "", "../bin/", "../libexec/tessera/", "../lib/tessera/", "../" };
    const int folder = (int)(tsr_path_file(own) - own);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (snprintf(path, room, "%.*s%s%s", folder, own, places[i], program) < (int)room && !access(path, X_OK)) return 1;
    return 0;
}

int tsr_process_find(const char *program, const char *variable, char *path, size_t room)
{
    const char *given = getenv(variable);
    char own[PATH_MAX], full[PATH_MAX];
    Dl_info library;
    if (given && *given) {
        snprintf(path, room, "%s", given);
        if (strchr(path, '/')) return !access(path, X_OK);
    } else {
        const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
        own[length > 0 ? length : 0] = 0;
        if (length > 0 && find_beside(own, program, path, room)) return 1;
        if (dladdr((const void *)&running, &library) && library.dli_fname && find_beside(library.dli_fname, program, path, room)) return 1;
        snprintf(path, room, "%s", program);
    }
    for (const char *at = getenv("PATH"); at;) {
        const size_t n = strcspn(at, ":");
        if (n > 0 && snprintf(full, sizeof full, "%.*s/%s", n < PATH_MAX ? (int)n : PATH_MAX, at, path) < (int)sizeof full && !access(full, X_OK)) return 1;
        at = at[n] ? at + n + 1 : NULL;
    }
    return 0;
}

/* The three streams of the child: the data, its error output, and nothing. */
static int spawn(tsr_process *p, const char *const *arguments, int child_data, int child_error)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t signals;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed) return failed;
    failed = posix_spawnattr_init(&attributes);
    if (failed) {
        posix_spawn_file_actions_destroy(&actions);
        return failed;
    }
    const int data = p->writing ? STDIN_FILENO : STDOUT_FILENO, other = p->writing ? STDOUT_FILENO : STDIN_FILENO;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    sigaddset(&signals, SIGPIPE);
    sigaddset(&signals, SIGINT);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    failed = posix_spawn_file_actions_adddup2(&actions, child_data, data);
    if (!failed) failed = posix_spawn_file_actions_adddup2(&actions, child_error, STDERR_FILENO);
    if (!failed && p->writing == TSR_PROCESS_BOTH) failed = posix_spawn_file_actions_adddup2(&actions, child_data, other);
    else if (!failed) failed = posix_spawn_file_actions_addopen(&actions, other, "/dev/null", O_RDWR, 0);
    char **words = NULL; /* posix_spawn wants them writable and leaves them alone */
    size_t count = 0;
    while (arguments[count]) count++;
    if (!failed) {
        words = (char **)malloc((count + 1) * sizeof *words);
        failed = words ? 0 : ENOMEM;
    }
    if (words) memcpy(words, arguments, (count + 1) * sizeof *words);
    if (!failed) failed = posix_spawnp(&p->id, arguments[0], &actions, &attributes, words, environ);
    if (failed) p->id = 0;
    else note_running(p->id);
    free(words);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/* Ends that are not one of the three standard streams, whatever the host program closed: dup2 onto itself would keep close-on-exec. */
static int raise_end(int *end)
{
    if (*end > STDERR_FILENO) return 1;
    const int raised = fcntl(*end, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(*end);
    *end = raised;
    return raised >= 0;
}

tsr_status tsr_process_start(const char *const *arguments, int writing, tsr_process **process)
{
    *process = NULL;
    tsr_process *p = (tsr_process *)calloc(1, sizeof *p);
    if (!p) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory");
    int data[2] = { -1, -1 }, error[2] = { -1, -1 };
    tsr_status status = TSR_OK;
    p->writing = writing;
    p->data = p->error = -1;
    strncpy(p->name, tsr_path_file(arguments[0]), sizeof p->name - 1);
    /* A socket, since a write to a closed one can be told not to raise SIGPIPE. data[0] is ours. */
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, data) || pipe2(error, O_CLOEXEC))
        TSR_FAIL_GOTO(TSR_ERROR_IO, done, "%s: cannot make a pipe to it: %s", arguments[0], strerror(errno));
    for (int i = 0; i < 2; i++)
        if (!raise_end(&data[i]) || !raise_end(&error[i]))
            TSR_FAIL_GOTO(TSR_ERROR_IO, done, "%s: cannot make a pipe to it: %s", arguments[0], strerror(errno));
    const int failed = spawn(p, arguments, data[1], error[1]);
    if (failed == ENOENT)
        TSR_FAIL_GOTO(TSR_ERROR_IO, done,
                      "the program '%s' is not installed or not in PATH; it is needed for all films but Y4M and numbered PNG files", arguments[0]);
    if (failed) TSR_FAIL_GOTO(TSR_ERROR_IO, done, "cannot start the program '%s': %s", arguments[0], strerror(failed));
    p->data = data[0];
    p->error = error[0];
    data[0] = error[0] = -1;
    fcntl(p->data, F_SETFL, O_NONBLOCK);
    fcntl(p->error, F_SETFL, O_NONBLOCK);
    if (p->writing != TSR_PROCESS_BOTH) shutdown(p->data, p->writing ? SHUT_RD : SHUT_WR);
    *process = p;
    p = NULL;
done:
    close_end(&data[0]);
    close_end(&data[1]);
    close_end(&error[0]);
    close_end(&error[1]);
    free(p);
    return status;
}

/* Until the data can move or the process spoke. */
static tsr_status wait_for(tsr_process *p, short events, const tsr_progress *progress)
{
    struct pollfd ends[2] = { { .fd = p->data, .events = events }, { .fd = p->error, .events = POLLIN } };
    const int ready = poll(ends, p->error >= 0 ? 2 : 1, WAIT_MS);
    if (ready < 0 && errno != EINTR) TSR_FAIL(TSR_ERROR_IO, "%s: cannot wait for it: %s", p->name, strerror(errno));
    listen_to_error(p);
    if (ready <= 0) TSR_PROGRESS(progress, -1, "video");
    return TSR_OK;
}

tsr_status tsr_process_read(tsr_process *p, void *bytes, size_t size, const tsr_progress *progress, size_t *got)
{
    *got = 0;
    for (;;) {
        const ssize_t n = recv(p->data, bytes, size, 0);
        if (n >= 0) {
            *got = (size_t)n;
            return TSR_OK;
        }
        if (errno == ECONNRESET) return TSR_OK; /* it ended with input left unread */
        if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)
            TSR_FAIL(TSR_ERROR_IO, "%s: cannot read from it: %s", p->name, strerror(errno));
        TSR_TRY(wait_for(p, POLLIN, progress));
    }
}

tsr_status tsr_process_write(tsr_process *p, const void *bytes, size_t size, const tsr_progress *progress)
{
    const uint8_t *from = (const uint8_t *)bytes;
    while (size) {
        const ssize_t n = send(p->data, from, size, MSG_NOSIGNAL);
        if (n >= 0) {
            from += n;
            size -= (size_t)n;
            continue;
        }
        if (errno == EPIPE || errno == ECONNRESET) { /* its reason comes with its end */
            TSR_TRY(tsr_process_finish(p, progress));
            TSR_FAIL(TSR_ERROR_IO, "%s ended before all was written to it", p->name);
        }
        if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) TSR_FAIL(TSR_ERROR_IO, "%s: cannot write to it: %s", p->name, strerror(errno));
        TSR_TRY(wait_for(p, POLLOUT, progress));
    }
    return TSR_OK;
}

tsr_status tsr_process_finish(tsr_process *p, const tsr_progress *progress)
{
    int how = 0;
    close_end(&p->data);
    while (p->id) {
        const pid_t ended = waitpid(p->id, &how, WNOHANG);
        if (ended < 0 && errno == EINTR) continue;
        if (ended) forget_running(p->id);
        if (ended) p->id = 0; /* or a host program that takes all its children's ends: then nothing is known */
        if (ended < 0) how = 0;
        if (ended) break;
        struct pollfd end = { .fd = p->error, .events = POLLIN };
        if (p->error >= 0) poll(&end, 1, WAIT_MS);
        else nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
        listen_to_error(p);
        TSR_PROGRESS(progress, -1, "video");
    }
    const char *said = tsr_process_said(p);
    if (WIFSIGNALED(how)) TSR_FAIL(TSR_ERROR_IO, "%s was ended by signal %d%s%s", p->name, WTERMSIG(how), *said ? ": " : "", said);
    if (WEXITSTATUS(how)) TSR_FAIL(TSR_ERROR_IO, "%s failed (exit code %d)%s%s", p->name, WEXITSTATUS(how), *said ? ": " : "", said);
    return TSR_OK;
}

void tsr_process_destroy(tsr_process **process)
{
    tsr_process *p = process ? *process : NULL;
    if (!p) return;
    *process = NULL;
    close_end(&p->data);
    close_end(&p->error);
    if (p->id) {
        kill(p->id, SIGKILL);
        while (waitpid(p->id, NULL, 0) < 0 && errno == EINTR) continue;
        forget_running(p->id);
    }
    free(p);
}
