#define _GNU_SOURCE /* O_TMPFILE, mkostemp */
#include "io/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/stream.h"

struct tsr_spool {
    int fd;
    int64_t size;
    void *map;   /* NULL: not yet */
    char name[]; /* for messages: the target */
};

static tsr_status create(const char *path, tsr_spool *s)
{
    struct stat about;
    const char *temporary = getenv("TMPDIR");
    const size_t folder = (size_t)(tsr_path_file(path) - path);
    const int elsewhere = !strcmp(path, "-") || (!stat(path, &about) && !S_ISREG(about.st_mode));
    if (!temporary || !*temporary) temporary = "/tmp";
#if defined(O_TMPFILE)
    char where[4096];
    if (elsewhere) snprintf(where, sizeof where, "%s", temporary);
    else snprintf(where, sizeof where, "%.*s", folder ? (int)folder : 1, folder ? path : ".");
    s->fd = folder < sizeof where ? open(where, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
    if (s->fd >= 0) return TSR_OK;
#endif
    const size_t room = strlen(path) + strlen(temporary) + 32;
    char *name = (char *)malloc(room);
    if (!name) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", path);
    if (elsewhere) snprintf(name, room, "%s/.tessera-spool-XXXXXX", temporary);
    else snprintf(name, room, "%.*s.tessera-spool-XXXXXX", (int)folder, path);
    s->fd = mkostemp(name, O_CLOEXEC);
    const int error = errno;
    if (s->fd >= 0) unlink(name);
    free(name);
    if (s->fd < 0) TSR_FAIL(TSR_ERROR_IO, "%s: cannot create a temporary file for it: %s", path, strerror(error));
    return TSR_OK;
}

tsr_status tsr_spool_open(const char *path, tsr_spool **spool)
{
    const size_t length = strlen(path);
    tsr_spool *s = (tsr_spool *)malloc(sizeof *s + length + 1);
    *spool = NULL;
    if (!s) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", path);
    s->fd = -1;
    s->size = 0;
    s->map = NULL;
    memcpy(s->name, path, length + 1);
    const tsr_status status = create(path, s);
    if (status != TSR_OK) tsr_spool_close(&s);
    *spool = s;
    TSR_TRY(status);
    return TSR_OK;
}

tsr_status tsr_spool_put(tsr_spool *s, int64_t offset, const void *bytes, size_t size)
{
    const char *from = (const char *)bytes;
    while (size) {
        const ssize_t done = pwrite(s->fd, from, size, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) TSR_FAIL(TSR_ERROR_IO, "%s: cannot write the temporary file for it: %s", s->name, strerror(errno));
        from += done;
        size -= (size_t)done;
        offset += done;
    }
    if (offset > s->size) s->size = offset;
    return TSR_OK;
}

tsr_status tsr_spool_write(tsr_spool *s, const void *bytes, size_t size, int64_t *offset)
{
    if (offset) *offset = s->size;
    TSR_TRY(tsr_spool_put(s, s->size, bytes, size));
    return TSR_OK;
}

tsr_status tsr_spool_get(tsr_spool *s, int64_t offset, void *bytes, size_t size)
{
    char *to = (char *)bytes;
    while (size) {
        const ssize_t done = pread(s->fd, to, size, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) TSR_FAIL(TSR_ERROR_IO, "%s: cannot read the temporary file for it: %s", s->name, done ? strerror(errno) : "it ends too early");
        to += done;
        size -= (size_t)done;
        offset += done;
    }
    return TSR_OK;
}

tsr_status tsr_spool_reserve(tsr_spool *s, int64_t size)
{
    if (size <= s->size) return TSR_OK;
    if (ftruncate(s->fd, (off_t)size))
        TSR_FAIL(TSR_ERROR_IO, "%s: cannot make a temporary file of %lld bytes for it: %s", s->name, (long long)size, strerror(errno));
    s->size = size;
    return TSR_OK;
}

tsr_status tsr_spool_map(tsr_spool *s, const uint8_t **bytes)
{
    *bytes = NULL;
    if (!s->size) return TSR_OK;
    void *map = mmap(NULL, (size_t)s->size, PROT_READ, MAP_SHARED, s->fd, 0);
    if (map == MAP_FAILED)
        TSR_FAIL(TSR_ERROR_IO, "%s: cannot map the temporary file of %lld bytes: %s", s->name, (long long)s->size, strerror(errno));
    s->map = map;
    *bytes = (const uint8_t *)map;
    return TSR_OK;
}

void tsr_spool_rest(tsr_spool *s)
{
    if (s->map) (void)madvise(s->map, (size_t)s->size, MADV_DONTNEED); /* the file has it */
}

void tsr_spool_close(tsr_spool **spool)
{
    tsr_spool *s = *spool;
    *spool = NULL;
    if (!s) return;
    if (s->map) munmap(s->map, (size_t)s->size);
    if (s->fd >= 0) close(s->fd);
    free(s);
}
