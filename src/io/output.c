/* Output: to a file beside the target, renamed when all is written. */
#include "io/deflate.h"
#include "io/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 1 << 20, STEP_BYTES = 4 << 20, RENAME_NOREPLACE_ = 1 };

struct tsr_output {
    char *name;      /* for messages: what the caller asked for */
    char *target;    /* what is renamed to: links followed; NULL when written in place */
    char *temporary; /* NULL when written in place */
    int place;       /* of `temporary` among those that tsr_output_unlink_all takes away, or -1 */
    int fd, overwrite, regular_only, gzip, existed;
    tsr_deflater *deflater;
    int64_t deflate_start;
    uint8_t *buffer;
    size_t filled;
    int64_t position; /* bytes given to the file so far, buffer included */
    const tsr_progress *progress;
    tsr_status status;
};

static tsr_status out_of_memory(const char *path) { TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", path); }

/* ---- names that a signal handler takes away ------------------------------------------------------------------------------------ */

enum { PENDING = 64 };         /* files that a process writes at a time; what is beyond stays after a signal */
static char *pending[PENDING]; /* accessed atomically; who takes a name out owns it */

static void note_temporary(tsr_output *o)
{
    for (int k = 0; k < PENDING && o->place < 0; k++) {
        char *none = NULL;
        if (__atomic_compare_exchange_n(&pending[k], &none, o->temporary, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) o->place = k;
    }
}

static void forget_temporary(tsr_output *o)
{
    char *own = o->temporary;
    o->temporary = NULL;
    if (own && o->place >= 0 && !__atomic_compare_exchange_n(&pending[o->place], &own, NULL, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return;
    free(own); /* but for one that a handler is about to use: it ends the process */
    o->place = -1;
}

void tsr_output_unlink_all(void)
{
    for (int k = 0; k < PENDING; k++) {
        const char *name = __atomic_exchange_n(&pending[k], NULL, __ATOMIC_ACQ_REL);
        if (name) unlink(name);
    }
}

static void destroy(tsr_output **output)
{
    tsr_output *o = *output;
    *output = NULL;
    if (!o) return;
    if (o->fd > STDERR_FILENO) close(o->fd);
    if (o->temporary) unlink(o->temporary);
    forget_temporary(o);
    tsr_deflater_destroy(&o->deflater);
    free(o->buffer);
    free(o->target);
    free(o->name);
    free(o);
}

void tsr_output_abort(tsr_output **output)
{
    if (output) destroy(output);
}

/* A new file beside the target, so that the rename stays inside one file system. */
static tsr_status open_temporary(tsr_output *o)
{
    static unsigned counter;
    size_t bytes = 2 * strlen(o->target) + 64, folder = (size_t)(tsr_path_file(o->target) - o->target);
    const char *extension = strrchr(o->target + folder, '.'); /* kept: programs that write the file for us go by it */
    o->temporary = (char *)malloc(bytes);
    if (!o->temporary) return out_of_memory(o->name);
    for (int attempt = 0; attempt < 100; attempt++) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        unsigned number = __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
        snprintf(o->temporary, bytes, "%.*s.tessera-%ld-%u-%lx%s", (int)folder, o->target, (long)getpid(), number, (unsigned long)now.tv_nsec,
                 extension ? extension : "");
        o->fd = open(o->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (o->fd >= 0 || errno != EEXIST) break;
    }
    if (o->fd >= 0) {
        note_temporary(o);
        return TSR_OK;
    }
    int error = errno;
    free(o->temporary);
    o->temporary = NULL;
    TSR_FAIL(TSR_ERROR_IO, "%s: cannot create a file in this folder: %s", o->name, strerror(error));
}

static tsr_status open_target(tsr_output *o, const char *path)
{
    if (!strcmp(path, "-")) {
        o->fd = STDOUT_FILENO;
        return TSR_OK;
    }
    struct stat about;
    size_t length = strlen(path);
    if (path[length - 1] == '/') TSR_FAIL(TSR_ERROR_IO, "%s: is a folder, expected a file name", path);
    if (o->regular_only && !lstat(path, &about) && !S_ISREG(about.st_mode))
        TSR_FAIL(TSR_ERROR_IO, "%s: is a %s, expected a new name or a plain file", path,
                 S_ISLNK(about.st_mode)   ? "link"
                 : S_ISDIR(about.st_mode) ? "folder"
                                          : "pipe or device");
    if (!stat(path, &about)) {
        o->existed = 1;
        if (S_ISDIR(about.st_mode)) TSR_FAIL(TSR_ERROR_IO, "%s: is a folder, expected a file name", path);
        if (!S_ISREG(about.st_mode)) { /* a pipe or device: nothing to rename */
            if (o->regular_only) TSR_FAIL(TSR_ERROR_IO, "%s: is a pipe or device, expected a new name or a plain file", path);
            o->fd = open(path, O_WRONLY | O_CLOEXEC);
            if (o->fd < 0) TSR_FAIL(TSR_ERROR_IO, "%s: cannot open for writing: %s", path, strerror(errno));
            return TSR_OK;
        }
        if (!o->overwrite) TSR_FAIL(TSR_ERROR_IO, "%s: exists; not overwritten unless asked for (options.overwrite, --force)", path);
        if (access(path, W_OK)) TSR_FAIL(TSR_ERROR_IO, "%s: cannot be overwritten: %s", path, strerror(errno));
        o->target = o->regular_only ? strdup(path) : realpath(path, NULL); /* a link stays a link: its file is replaced */
    } else {
        o->target = strdup(path);
    }
    if (!o->target) return out_of_memory(path);
    TSR_TRY(open_temporary(o));
    return TSR_OK;
}

static tsr_status put(tsr_output *o, const void *bytes, size_t size)
{
    const uint8_t *from = (const uint8_t *)bytes;
    while (size) {
        ssize_t done = write(o->fd, from, size);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) TSR_FAIL(TSR_ERROR_IO, "%s: cannot write: %s", o->name, strerror(errno));
        from += done;
        size -= (size_t)done;
    }
    return TSR_OK;
}

static tsr_status drain(tsr_output *o)
{
    size_t filled = o->filled;
    o->filled = 0;
    return put(o, o->buffer, filled);
}

/* Behind the deflater: packed or plain bytes on their way to the file. */
static tsr_status sink(void *user, const void *bytes, size_t size)
{
    tsr_output *o = (tsr_output *)user;
    if (o->filled + size > BUFFER) TSR_TRY(drain(o));
    o->position += (int64_t)size;
    if (size >= BUFFER) return put(o, bytes, size);
    memcpy(o->buffer + o->filled, bytes, size);
    o->filled += size;
    return TSR_OK;
}

tsr_status tsr_output_open(const char *path, const tsr_write_options *options, tsr_output **output)
{
    *output = NULL;
    tsr_output *o = (tsr_output *)calloc(1, sizeof *o);
    if (!o) return out_of_memory(path);
    tsr_status status;
    o->fd = o->place = -1;
    o->overwrite = options->overwrite;
    o->regular_only = options->regular_only;
    o->progress = &options->progress;
    o->name = strdup(!strcmp(path, "-") ? "standard output" : path);
    o->buffer = (uint8_t *)malloc(BUFFER);
    if (!o->name || !o->buffer) {
        status = out_of_memory(path);
        goto fail;
    }
    o->gzip = tsr_path_has_extension(path, ".gz");
    if (o->gzip && options->compression < 0) TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, fail, "%s: compression -1 (none) contradicts the extension .gz", path);
    TSR_TRY_GOTO(open_target(o, path), fail);
    if (o->gzip) TSR_TRY_GOTO(tsr_deflater_create(TSR_WRAPPER_GZIP, options->compression, sink, o, &o->deflater), fail);
    *output = o;
    return TSR_OK;
fail:
    destroy(&o);
    return status;
}

tsr_status tsr_output_write(tsr_output *o, const void *bytes, size_t size)
{
    if (o->status == TSR_OK) o->status = o->deflater ? tsr_deflater_write(o->deflater, bytes, size) : sink(o, bytes, size);
    return o->status;
}

tsr_status tsr_output_printf(tsr_output *o, const char *format, ...)
{
    char small[1024], *text = small;
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(small, sizeof small, format, arguments);
    if (length >= (int)sizeof small) {
        text = (char *)malloc((size_t)length + 1);
        if (text) vsnprintf(text, (size_t)length + 1, format, again);
        else if (o->status == TSR_OK) o->status = out_of_memory(o->name);
    }
    va_end(again);
    va_end(arguments);
    if (text) tsr_output_write(o, text, (size_t)length);
    if (text != small) free(text);
    return o->status;
}

tsr_status tsr_output_elements(tsr_output *o, const void *elements, int64_t count, size_t element, int swap)
{
    const uint8_t *from = (const uint8_t *)elements;
    int64_t bytes = count * (int64_t)element, limit = swap && element > 1 ? 65536 : STEP_BYTES;
    uint8_t swapped[65536];
    for (int64_t at = 0; at < bytes && o->status == TSR_OK; at += limit) {
        int64_t step = tsr_min64(bytes - at, limit);
        const uint8_t *piece = from + at;
        if (swap && element > 1) {
            memcpy(swapped, piece, (size_t)step);
            tsr_swap_elements(swapped, step / (int64_t)element, element);
            piece = swapped;
        }
        tsr_output_write(o, piece, (size_t)step);
        if (at % STEP_BYTES == 0 && tsr_progress_report(o->progress, (double)(at + step) / (double)bytes, "writing"))
            o->status = TSR_FAILED(TSR_ERROR_CANCELLED, "cancelled during writing");
    }
    return o->status;
}

tsr_status tsr_output_deflate_begin(tsr_output *o, tsr_wrapper wrapper, int level)
{
    if (o->status != TSR_OK) return o->status;
    TSR_ASSERT(!o->deflater); /* a writer never packs twice: it checks the extension */
    o->deflate_start = o->position;
    return o->status = tsr_deflater_create(wrapper, level, sink, o, &o->deflater);
}

tsr_status tsr_output_deflate_end(tsr_output *o, int64_t *packed)
{
    if (o->status == TSR_OK) o->status = tsr_deflater_end(o->deflater);
    tsr_deflater_destroy(&o->deflater);
    *packed = o->position - o->deflate_start;
    return o->status;
}

const char *tsr_output_temporary(const tsr_output *o) { return o->temporary; }
int tsr_output_can_patch(const tsr_output *o) { return o->temporary && !o->gzip; }
int64_t tsr_output_position(const tsr_output *o) { return o->position; }

tsr_status tsr_output_patch(tsr_output *o, int64_t offset, const void *bytes, size_t size)
{
    TSR_ASSERT(tsr_output_can_patch(o) && offset + (int64_t)size <= o->position);
    if (o->status == TSR_OK) o->status = drain(o);
    if (o->status == TSR_OK && pwrite(o->fd, bytes, size, offset) != (ssize_t)size)
        o->status = TSR_FAILED(TSR_ERROR_IO, "%s: cannot write: %s", o->name, strerror(errno));
    return o->status;
}

/* Everything but the rename. */
static tsr_status complete(tsr_output *o)
{
    if (o->status == TSR_OK && o->deflater) o->status = tsr_deflater_end(o->deflater);
    if (o->status == TSR_OK) o->status = drain(o);
    TSR_TRY(o->status);
    if (o->fd > STDERR_FILENO) {
        int failed = close(o->fd); /* network file systems report a full disk here */
        o->fd = -1;
        if (failed) TSR_FAIL(TSR_ERROR_IO, "%s: cannot write: %s", o->name, strerror(errno));
    }
    return TSR_OK;
}

tsr_status tsr_file_rename(const char *from, const char *to, int overwrite, const char *name)
{
    int failed;
    if (!overwrite) { /* a file made meanwhile by someone else is not ours to replace */
        failed = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE_);
        if (failed && (errno == EINVAL || errno == ENOSYS)) { /* the file system cannot: a link cannot replace either */
            failed = link(from, to);
            if (!failed) unlink(from);
            if (failed && errno != EEXIST) failed = rename(from, to);
        }
    } else {
        failed = rename(from, to);
    }
    if (failed) TSR_FAIL(TSR_ERROR_IO, "%s: cannot be given its name: %s", name, strerror(errno));
    return TSR_OK;
}

static tsr_status give_name(tsr_output *o)
{
    if (!o->temporary) return TSR_OK;
    TSR_TRY(tsr_file_rename(o->temporary, o->target, o->overwrite, o->name));
    forget_temporary(o);
    return TSR_OK;
}

tsr_status tsr_output_commit(tsr_output **output)
{
    tsr_status status = complete(*output);
    if (status == TSR_OK) status = give_name(*output);
    destroy(output);
    return status;
}

tsr_status tsr_output_commit_pair(tsr_output **first, tsr_output **second)
{
    tsr_status status = complete(*first);
    if (status == TSR_OK) status = complete(*second);
    if (status == TSR_OK) status = give_name(*first);
    if (status == TSR_OK) {
        status = give_name(*second);
        if (status != TSR_OK && !(*first)->existed) unlink((*first)->target); /* alone it is of no use */
    }
    destroy(first);
    destroy(second);
    return status;
}

tsr_status tsr_output_finish(tsr_output **output, tsr_status status)
{
    if (status != TSR_OK) {
        tsr_output_abort(output);
        return status;
    }
    return tsr_output_commit(output);
}
