#define _GNU_SOURCE /* O_TMPFILE, renameat2 by number, flock */
#include "io/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "io/process.h"
#include "io/stream.h"

enum { NO_REPLACE = 1, EXCHANGE = 2, NEW_MODE = 0666, LINKS = 40, PATH_BYTES = 4096 };

static tsr_status out_of_memory(const char *path) { TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", path); }

/* ---- names that a signal handler takes away ------------------------------------------------------------------------------------ */

enum { PENDING = 64 };         /* names that a process has at a time; what is beyond stays after a signal */
static char *pending[PENDING]; /* accessed atomically; who takes a name out owns it */

int tsr_pending_note(char *name)
{
    for (int k = 0; k < PENDING; k++) {
        char *none = NULL;
        if (__atomic_compare_exchange_n(&pending[k], &none, name, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return k;
    }
    return -1;
}

int tsr_pending_forget(int place, char *name)
{
    return place < 0 || __atomic_compare_exchange_n(&pending[place], &name, NULL, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Only calls that a signal handler may make. */
static void unlink_folder(const char *folder)
{
    char name[PATH_BYTES], digits[24];
    const size_t length = strlen(folder);
    if (length + sizeof digits + 8 > sizeof name) return;
    memcpy(name, folder, length);
    for (unsigned long long n = 0;; n++) {
        size_t count = 0, at = length;
        for (unsigned long long rest = n; count == 0 || rest; rest /= 10) digits[count++] = (char)('0' + rest % 10);
        while (count) name[at++] = digits[--count];
        memcpy(name + at, ".png", 5);
        if (unlink(name)) break;
    }
    rmdir(folder);
}

void tsr_output_unlink_all(void)
{
    tsr_process_kill_all(); /* first: what writes must not make its file again */
    for (int folders = 0; folders < 2; folders++)
        for (int k = 0; k < PENDING; k++) {
            const char *name = __atomic_load_n(&pending[k], __ATOMIC_ACQUIRE);
            if (!name || (name[strlen(name) - 1] == '/') != folders) continue;
            name = __atomic_exchange_n(&pending[k], NULL, __ATOMIC_ACQ_REL);
            if (name && folders) unlink_folder(name);
            else if (name) unlink(name);
        }
}

/* ---- opening -------------------------------------------------------------------------------------------------------------------- */

static size_t folder_length(const char *path) { return (size_t)(tsr_path_file(path) - path); }

static tsr_status random_name(tsr_target *t)
{
    const size_t bytes = 2 * strlen(t->path) + 64, folder = folder_length(t->path);
    const char *extension = strrchr(t->path + folder, '.'); /* kept: programs that write the file for us go by it */
    uint64_t number;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != (ssize_t)sizeof number) { /* a system that just started; O_EXCL still holds */
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        number = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)getpid() ^ (uint64_t)now.tv_sec << 20;
    }
    free(t->beside);
    t->beside = (char *)malloc(bytes);
    if (!t->beside) return out_of_memory(t->name);
    snprintf(t->beside, bytes, "%.*s.tessera-%016llx%s", (int)folder, t->path, (unsigned long long)number, extension ? extension : "");
    return TSR_OK;
}

static tsr_status open_named(tsr_target *t)
{
    for (int attempt = 0; attempt < 100 && t->fd < 0; attempt++) {
        TSR_TRY(random_name(t));
        t->fd = open(t->beside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (t->fd < 0 && errno != EEXIST) break;
    }
    if (t->fd >= 0) {
        t->place = tsr_pending_note(t->beside);
        return TSR_OK;
    }
    const int error = errno;
    free(t->beside);
    t->beside = NULL;
    TSR_FAIL(TSR_ERROR_IO, "%s: cannot create a file in this folder: %s", t->name, strerror(error));
}

static tsr_status open_file(tsr_target *t, int named)
{
#if defined(O_TMPFILE)
    char folder[PATH_BYTES];
    const size_t length = folder_length(t->path);
    if (!named && length < sizeof folder && !access("/proc/self/fd", X_OK)) { /* it gets its name by that way */
        snprintf(folder, sizeof folder, "%.*s", length ? (int)length : 1, length ? t->path : ".");
        t->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, NEW_MODE);
    }
#endif
    if (t->fd < 0) TSR_TRY(open_named(t));
    return TSR_OK;
}

/* What the links at `path` lead to in the end, whether it is there or not. */
static char *follow(const char *path)
{
    char *at = strdup(path), text[PATH_BYTES];
    for (int k = 0; at && k < LINKS; k++) {
        const ssize_t length = readlink(at, text, sizeof text - 1);
        if (length < 0) return at;
        const size_t folder = text[0] == '/' ? 0 : folder_length(at);
        char *next = (char *)malloc(folder + (size_t)length + 1);
        if (next) {
            memcpy(next, at, folder);
            memcpy(next + folder, text, (size_t)length);
            next[folder + (size_t)length] = 0;
        }
        free(at);
        at = next;
    }
    return at;
}

tsr_status tsr_target_open(tsr_target *t, const char *path, int overwrite, int regular_only, int named)
{
    *t = (tsr_target){ .name = t->name, .fd = -1, .place = -1, .overwrite = overwrite };
    if (!strcmp(path, "-")) {
        t->fd = STDOUT_FILENO;
        return TSR_OK;
    }
    struct stat about;
    const size_t length = strlen(path);
    if (path[length - 1] == '/') TSR_FAIL(TSR_ERROR_IO, "%s: is a folder, expected a file name", path);
    if (regular_only && !lstat(path, &about) && !S_ISREG(about.st_mode))
        TSR_FAIL(TSR_ERROR_IO, "%s: is a %s, expected a new name or a plain file", path,
                 S_ISLNK(about.st_mode)   ? "link"
                 : S_ISDIR(about.st_mode) ? "folder"
                                          : "pipe or device");
    if (!stat(path, &about)) {
        if (S_ISDIR(about.st_mode)) TSR_FAIL(TSR_ERROR_IO, "%s: is a folder, expected a file name", path);
        if (!S_ISREG(about.st_mode)) { /* a pipe or device: nothing to rename */
            t->fd = open(path, O_WRONLY | O_CLOEXEC);
            if (t->fd < 0) TSR_FAIL(TSR_ERROR_IO, "%s: cannot open for writing: %s", path, strerror(errno));
            return TSR_OK;
        }
        if (!overwrite) TSR_FAIL(TSR_ERROR_IO, "%s: exists; not overwritten unless asked for (options.overwrite, --force)", path);
        if (access(path, W_OK)) TSR_FAIL(TSR_ERROR_IO, "%s: cannot be overwritten: %s", path, strerror(errno));
    } else if (errno == ELOOP) {
        TSR_FAIL(TSR_ERROR_IO, "%s: is a link that leads back to itself", path);
    }
    t->path = regular_only ? strdup(path) : follow(path); /* a link stays a link: its file is made or replaced */
    if (!t->path) return out_of_memory(path);
    TSR_TRY(open_file(t, named));
    return TSR_OK;
}

const char *tsr_target_place(const tsr_target *t, char room[32])
{
    if (!t->path) return NULL;
    if (t->beside) return t->beside;
    snprintf(room, 32, "/proc/self/fd/%d", t->fd);
    return room;
}

void tsr_target_close(tsr_target *t)
{
    if (t->fd > STDERR_FILENO) close(t->fd);
    t->fd = -1;
    if (t->beside) unlink(t->beside);
    if (tsr_pending_forget(t->place, t->beside)) free(t->beside); /* but for one that a handler is about to use: it ends the process */
    t->beside = NULL;
    t->place = -1;
    free(t->path);
    t->path = NULL;
}

/* ---- modes and owners ------------------------------------------------------------------------------------------------------------ */

/* The process's mask for new files. The kernel tells it; asking by umask() would change it for other threads for a moment. */
static mode_t file_mask(void)
{
    char text[2048];
    const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0) close(fd);
    text[got > 0 ? got : 0] = 0;
    const char *line = strstr(text, "\nUmask:");
    if (line) return (mode_t)strtoul(line + 7, NULL, 8) & 0777;
    const mode_t mask = umask(077);
    umask(mask);
    return mask;
}

/* Mode and owner of the file at `path`, if there is one, else those of any new file. Whoever could not read the old one cannot read the new one. */
static void take_mode(int fd, const char *path)
{
    struct stat before, own;
    if (fstat(fd, &own)) return;
    if (stat(path, &before) || !S_ISREG(before.st_mode)) {
        (void)fchmod(fd, NEW_MODE & ~file_mask());
        return;
    }
    mode_t mode = before.st_mode & 07777;
    const int owner = own.st_uid == before.st_uid && own.st_gid == before.st_gid ? 0 : fchown(fd, before.st_uid, before.st_gid);
    if (owner) {
        mode &= 0777; /* no one's right to act as another owner */
        if (own.st_gid != before.st_gid && fchown(fd, (uid_t)-1, before.st_gid)) mode = (mode & 0707) | (mode & (mode & 7) << 3); /* as all others */
    }
    (void)fchmod(fd, mode); /* file systems without modes refuse */
}

/* ---- names ----------------------------------------------------------------------------------------------------------------------- */

static int rename_with(const char *from, const char *to, unsigned flags) { return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags); }

static int unknown_call(int error) { return error == EINVAL || error == ENOSYS || error == ENOTSUP; }

static int rename_new(const char *from, const char *to)
{
    int failed = rename_with(from, to, NO_REPLACE); /* a file made meanwhile by someone else is not ours to replace */
    if (failed && unknown_call(errno)) {            /* the file system cannot: a link cannot replace either */
        failed = link(from, to);
        if (!failed) unlink(from);
        if (failed && errno != EEXIST) failed = rename(from, to);
    }
    return failed;
}

/* `from` gets the name of the file at `to`, which gets that of `from`. */
static int exchange(const char *from, const char *to)
{
    char old[PATH_BYTES];
    const int failed = rename_with(from, to, EXCHANGE);
    if (!failed || !unknown_call(errno)) return failed;
    if (snprintf(old, sizeof old, "%s.old", from) >= (int)sizeof old) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (rename(to, old)) return -1;
    if (rename(from, to)) {
        const int error = errno;
        rename(old, to);
        errno = error;
        return -1;
    }
    return rename(old, from);
}

static int is_folder(const char *path)
{
    struct stat about;
    return !lstat(path, &about) && S_ISDIR(about.st_mode);
}

static tsr_status rename_one(const char *from, const char *to, int overwrite, int last, unsigned char *replaced)
{
    struct stat about;
    const int there = overwrite && !lstat(to, &about), fd = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int failed;
    *replaced = 0;
    if (fd >= 0) {
        take_mode(fd, to);
        close(fd);
    }
    if (there && is_folder(to)) {
        failed = 1;
        errno = EISDIR;
    } else if (there && last) {
        failed = rename(from, to);
    } else if (there) {
        failed = exchange(from, to);
        *replaced = !failed;
    } else {
        failed = overwrite && last ? rename(from, to) : rename_new(from, to);
    }
    if (failed) TSR_FAIL(TSR_ERROR_IO, "%s: cannot be given its name: %s", to, strerror(errno));
    return TSR_OK;
}

tsr_status tsr_rename_all(int64_t count, tsr_rename_names names, void *user, int overwrite)
{
    char *from = NULL, *to = NULL;
    tsr_status status = TSR_OK;
    unsigned char *replaced = (unsigned char *)calloc((size_t)count + 1, 1);
    if (!replaced) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for the names of %lld files", (long long)count);
    int64_t done = 0;
    for (; done < count && status == TSR_OK; done++) {
        status = names(user, done, &from, &to);
        if (status == TSR_OK) status = rename_one(from, to, overwrite, done == count - 1, &replaced[done]);
        free(from);
        free(to);
        from = to = NULL;
    }
    for (int64_t k = done - 2; status != TSR_OK && k >= 0; k--) { /* the last one failed; those before it go back */
        char *back = NULL, *taken = NULL;
        if (names(user, k, &back, &taken) == TSR_OK && (replaced[k] ? exchange(back, taken) : rename(taken, back)) != 0 && !replaced[k])
            unlink(taken);
        free(back);
        free(taken);
    }
    free(replaced);
    return status;
}

/* ---- completing ------------------------------------------------------------------------------------------------------------------ */

static int link_file(int fd, const char *name)
{
    char own[32];
    snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, own, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* A file without a name in a folder where it cannot get one, although it could be made: its bytes move. */
static tsr_status copy_to_named(tsr_target *t)
{
    char block[65536];
    const int from = t->fd;
    off_t at = 0;
    t->fd = -1;
    tsr_status status = open_named(t);
    while (status == TSR_OK) {
        const ssize_t got = pread(from, block, sizeof block, at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0 && (got || close(t->fd))) status = TSR_FAILED(TSR_ERROR_IO, "%s: cannot write: %s", t->name, strerror(errno));
        if (got <= 0) break;
        for (ssize_t done = 0; done < got && status == TSR_OK;) {
            const ssize_t step = write(t->fd, block + done, (size_t)(got - done));
            if (step < 0 && errno != EINTR) status = TSR_FAILED(TSR_ERROR_IO, "%s: cannot write: %s", t->name, strerror(errno));
            done += step > 0 ? step : 0;
        }
        at += got;
    }
    if (status == TSR_OK) t->fd = -1;
    close(from);
    return status;
}

/* A name beside the target for a file that has none yet. */
static tsr_status name_beside(tsr_target *t)
{
    int failed = -1;
    take_mode(t->fd, t->path);
    for (int attempt = 0; attempt < 100 && failed; attempt++) {
        TSR_TRY(random_name(t));
        failed = link_file(t->fd, t->beside);
        if (failed && errno != EEXIST) break;
    }
    if (!failed) return TSR_OK;
    free(t->beside);
    t->beside = NULL;
    TSR_TRY(copy_to_named(t));
    return TSR_OK;
}

/* One writer of several files at a time: else the header of one could name the data of another. Whoever holds the folder for long is not waited for. */
static int lock_folder(const tsr_target *t)
{
    char folder[PATH_BYTES];
    const size_t length = folder_length(t->path);
    if (length >= sizeof folder) return -1;
    snprintf(folder, sizeof folder, "%.*s", length ? (int)length : 1, length ? t->path : ".");
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int k = 0; fd >= 0 && k < 400 && flock(fd, LOCK_EX | LOCK_NB); k++) nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
    return fd;
}

static tsr_status target_names(void *user, int64_t k, char **from, char **to)
{
    tsr_target *const *targets = (tsr_target *const *)user;
    *from = strdup(targets[k]->beside);
    *to = strdup(targets[k]->path);
    if (*from && *to) return TSR_OK;
    free(*from);
    free(*to);
    *from = *to = NULL;
    return out_of_memory(targets[k]->name);
}

static tsr_status close_file(tsr_target *t)
{
    const int failed = t->fd > STDERR_FILENO ? close(t->fd) : 0; /* network file systems report a full disk here */
    t->fd = -1;
    if (failed) TSR_FAIL(TSR_ERROR_IO, "%s: cannot write: %s", t->name, strerror(errno));
    return TSR_OK;
}

static tsr_status commit_named(tsr_target *const *targets, int count)
{
    tsr_status status = TSR_OK;
    for (int k = 0; k < count; k++) {
        if (!targets[k]->beside) TSR_TRY(name_beside(targets[k]));
        TSR_TRY(close_file(targets[k]));
    }
    for (int k = 0; k < count; k++) { /* from here on a handler would take away what was replaced */
        if (!tsr_pending_forget(targets[k]->place, targets[k]->beside)) TSR_FAIL(TSR_ERROR_IO, "%s: the process is being ended", targets[k]->name);
        targets[k]->place = -1;
    }
    const int lock = count > 1 ? lock_folder(targets[0]) : -1;
    status = tsr_rename_all(count, target_names, (void *)(uintptr_t)targets, targets[0]->overwrite);
    if (lock >= 0) close(lock);
    return status;
}

tsr_status tsr_target_commit(tsr_target *const *targets, int count)
{
    tsr_target *files[2];
    int named = 0;
    for (int k = 0; k < count; k++) {
        if (targets[k]->path) files[named++] = targets[k];
        else TSR_TRY(close_file(targets[k]));
    }
    if (named == 1 && !files[0]->beside) { /* the usual way: one step, and a file made meanwhile by someone else stays */
        tsr_target *t = files[0];
        struct stat about;
        int there = !lstat(t->path, &about);
        if (!there && !link_file(t->fd, t->path)) {
            TSR_TRY(close_file(t));
            return TSR_OK;
        }
        if (!there) there = errno == EEXIST;
        if (there && !t->overwrite) TSR_FAIL(TSR_ERROR_IO, "%s: cannot be given its name: %s", t->name, strerror(EEXIST));
    }
    if (named) TSR_TRY(commit_named(files, named));
    return TSR_OK;
}
