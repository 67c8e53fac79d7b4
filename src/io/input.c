/* Input: a plain file is mapped (or, when small, read), a pipe is collected, a gzip file is decoded when its content is asked for. */
#include "io/signatures.h"
#include "io/inflate.h"
#include "io/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAP_FROM = 1 << 20,  /* smaller files are read: a mapping costs more than it saves, and a read copy cannot change under us */
    STEP_BYTES = 4 << 20 /* between progress reports and per read */
};

struct tsr_input {
    char *name, *path;
    tsr_input_options options;
    int fd; /* pipes only, else -1 */
    int pipe_ended;
    /* The bytes as they lie in the file: a mapping, a buffer of ours, or borrowed memory. */
    uint8_t *raw;
    size_t raw_size, raw_capacity;
    enum { RAW_NONE, RAW_MAPPED, RAW_OWNED, RAW_BORROWED } raw_kind;
    int gzip; /* raw is a gzip stream; the fields below hold decoded bytes */
    uint8_t *decoded;
    size_t decoded_size;
    int decoded_ended;
};

/* ---- small helpers ------------------------------------------------------------------------------------------------------------ */

int tsr_host_big_endian(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 0;
}

void tsr_swap_elements(void *elements, int64_t count, size_t element)
{
    uint8_t *p = (uint8_t *)elements;
    if (element == 2) {
        for (int64_t i = 0; i < count; i++) {
            uint16_t v;
            memcpy(&v, p + 2 * i, 2);
            v = (uint16_t)(v << 8 | v >> 8);
            memcpy(p + 2 * i, &v, 2);
        }
    } else if (element == 4) {
        for (int64_t i = 0; i < count; i++) {
            uint32_t v;
            memcpy(&v, p + 4 * i, 4);
            v = __builtin_bswap32(v);
            memcpy(p + 4 * i, &v, 4);
        }
    } else if (element == 8) {
        for (int64_t i = 0; i < count; i++) {
            uint64_t v;
            memcpy(&v, p + 8 * i, 8);
            v = __builtin_bswap64(v);
            memcpy(p + 8 * i, &v, 8);
        }
    }
}

int tsr_path_has_extension(const char *path, const char *extension)
{
    size_t n = strlen(path), e = strlen(extension);
    return n > e && !strcasecmp(path + n - e, extension);
}

tsr_status tsr_path_replace(const char *path, const char *extension, const char *by, char **result)
{
    size_t stem = strlen(path) - strlen(extension), bytes = stem + strlen(by) + 1;
    *result = (char *)malloc(bytes);
    if (!*result) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", path);
    memcpy(*result, path, stem);
    memcpy(*result + stem, by, bytes - stem);
    return TSR_OK;
}

const char *tsr_path_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- open and close ----------------------------------------------------------------------------------------------------------- */

static void release_raw(tsr_input *input)
{
    if (input->raw_kind == RAW_MAPPED) munmap(input->raw, input->raw_size);
    if (input->raw_kind == RAW_OWNED) free(input->raw);
    input->raw = NULL;
    input->raw_kind = RAW_NONE;
}

void tsr_input_close(tsr_input **input)
{
    if (!input || !*input) return;
    release_raw(*input);
    if ((*input)->fd > STDIN_FILENO) close((*input)->fd);
    free((*input)->decoded);
    free((*input)->name);
    free((*input)->path);
    free(*input);
    *input = NULL;
}

static tsr_status create(const char *name, const char *path, const tsr_input_options *options, tsr_input **input)
{
    tsr_input *made = (tsr_input *)calloc(1, sizeof *made);
    if (made) {
        made->fd = -1;
        made->name = strdup(name);
        made->path = path ? strdup(path) : NULL;
        if (options) made->options = *options;
    }
    if (!made || !made->name || (path && !made->path)) {
        tsr_input_close(&made);
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", name);
    }
    *input = made;
    return TSR_OK;
}

static int64_t allocation_limit(const tsr_input *input) { return input->options.memory_limit ? input->options.memory_limit : tsr_physical_memory(); }

/* Collects bytes of a pipe until `want` are there (or all of them if SIZE_MAX). */
static tsr_status pipe_collect(tsr_input *input, size_t want)
{
    while (!input->pipe_ended && input->raw_size < want) {
        if (input->raw_size == input->raw_capacity) {
            size_t capacity = input->raw_capacity ? input->raw_capacity * 2 : 65536;
            if (want != SIZE_MAX && want > capacity) capacity = want;
            const int64_t limit = allocation_limit(input);
            if (input->options.memory_limit && (int64_t)capacity > limit) capacity = (size_t)tsr_max64(limit, 65536) + 1; /* one more than may come */
            if ((int64_t)input->raw_size >= tsr_max64(limit, 65536) + 1)
                TSR_FAIL(TSR_ERROR_MEMORY, "%s: more than %lld bytes came, the memory limit", input->name, (long long)limit);
            uint8_t *grown = (uint8_t *)realloc(input->raw, capacity);
            if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory after %zu bytes", input->name, input->raw_size);
            input->raw = grown;
            input->raw_kind = RAW_OWNED;
            input->raw_capacity = capacity;
        }
        size_t room = input->raw_capacity - input->raw_size;
        ssize_t got = read(input->fd, input->raw + input->raw_size, room < STEP_BYTES ? room : STEP_BYTES);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) TSR_FAIL(TSR_ERROR_IO, "%s: cannot read: %s", input->name, strerror(errno));
        if (got == 0) input->pipe_ended = 1;
        input->raw_size += (size_t)got;
        TSR_PROGRESS(input->options.progress, -1, "reading");
    }
    return TSR_OK;
}

static tsr_status read_file(tsr_input *input, int fd, size_t size)
{
    const tsr_input_options *o = &input->options;
    if (size >= MAP_FROM || (o->map_beyond_limit && o->memory_limit && size > (size_t)o->memory_limit)) {
        void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
        if (map != MAP_FAILED) {
            input->raw = (uint8_t *)map;
            input->raw_size = size;
            input->raw_kind = RAW_MAPPED;
            return TSR_OK;
        } /* a file system that cannot map: read it */
    }
    input->raw = (uint8_t *)malloc(size ? size : 1);
    if (!input->raw) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %zu bytes", input->name, size);
    input->raw_kind = RAW_OWNED;
    while (input->raw_size < size) {
        ssize_t got = read(fd, input->raw + input->raw_size, size - input->raw_size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) TSR_FAIL(TSR_ERROR_IO, "%s: cannot read: %s", input->name, strerror(errno));
        if (got == 0) break; /* it became shorter meanwhile */
        input->raw_size += (size_t)got;
    }
    return TSR_OK;
}

static tsr_status notice_gzip(tsr_input *input)
{
    if (input->options.keep_gzip) return TSR_OK;
    if (input->fd >= 0) TSR_TRY(pipe_collect(input, 3));
    input->gzip = input->raw_size >= 3 && input->raw[0] == 0x1f && input->raw[1] == 0x8b && input->raw[2] == 8;
    return TSR_OK;
}

static int is_link(const char *path)
{
    const int before = errno;
    struct stat about;
    const int link = !lstat(path, &about) && S_ISLNK(about.st_mode);
    errno = before;
    return link;
}

tsr_status tsr_input_open(const char *path, const tsr_input_options *options, tsr_input **input)
{
    *input = NULL;
    tsr_input *header = NULL;
    tsr_status status;
    int fd = -1, standard = !strcmp(path, "-");
    TSR_TRY(create(standard ? "standard input" : path, standard ? NULL : path, options, input));
    const int stay = (*input)->options.same_folder, plain = stay || (*input)->options.regular_only;
    fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | (plain ? O_NONBLOCK : 0) | (stay ? O_NOFOLLOW : 0)); /* a pipe does not block */
    if (fd < 0 && stay && errno == ELOOP) TSR_FAIL_GOTO(TSR_ERROR_IO, fail, "%s: is a link, expected a plain file", path);
    if (fd < 0)
        TSR_FAIL_GOTO(TSR_ERROR_IO, fail, "%s: cannot open: %s%s", path, strerror(errno),
                      errno == ENOENT && is_link(path) ? " (a link that leads nowhere)" : "");
    struct stat about;
    if (fstat(fd, &about)) TSR_FAIL_GOTO(TSR_ERROR_IO, fail, "%s: %s", (*input)->name, strerror(errno));
    if (S_ISDIR(about.st_mode)) {
        char inner[PATH_MAX];
        if (!standard && tsr_signature_folder_header(path, inner, sizeof inner)) { /* it stands for the folder, which gives it its name */
            close(fd);
            fd = -1;
            TSR_TRY_GOTO(tsr_input_open(inner, options, &header), fail);
            tsr_input_close(input);
            free(header->name);
            header->name = strdup(path);
            if (!header->name) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, fail, "%s: out of memory", path);
            *input = header;
            return TSR_OK;
        }
        TSR_FAIL_GOTO(TSR_ERROR_IO, fail, "%s: is a folder, expected a file, or a folder of Zarr or of DICOM files", (*input)->name);
    }
    if (S_ISREG(about.st_mode) && (!standard || (!plain && lseek(fd, 0, SEEK_CUR) == 0))) { /* standard input may be a file someone read from */
        TSR_TRY_GOTO(read_file(*input, fd, (size_t)about.st_size), fail);
        if (!standard) close(fd);
        fd = -1;
    } else {
        struct stat none;
        if (S_ISCHR(about.st_mode) && !isatty(fd) && (stat("/dev/null", &none) || none.st_rdev != about.st_rdev))
            TSR_FAIL_GOTO(TSR_ERROR_IO, fail, "%s: is a device, which may have no end, expected a file", (*input)->name);
        if (plain) TSR_FAIL_GOTO(TSR_ERROR_IO, fail, "%s: is a pipe or device, expected a plain file", (*input)->name);
        (*input)->fd = fd;
        fd = -1;
    }
    TSR_TRY_GOTO(notice_gzip(*input), fail);
    return TSR_OK;
fail:
    if (fd > STDIN_FILENO) close(fd);
    tsr_input_close(&header);
    tsr_input_close(input);
    return status;
}

tsr_status tsr_input_memory(const void *bytes, size_t size, const char *name, const tsr_input_options *options, tsr_input **input)
{
    TSR_TRY(create(name, NULL, options, input));
    (*input)->raw = (uint8_t *)(uintptr_t)bytes;
    (*input)->raw_size = size;
    (*input)->raw_kind = RAW_BORROWED;
    return notice_gzip(*input);
}

static int goes_up(const char *name)
{
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (!strncmp(part, "..", 2) && (part[2] == '/' || !part[2])) return 1;
    }
    return 0;
}

/* Does a name with a part ".." lead out of the header's folder, or one from the root not into it? */
static int leaves_folder(const char *header, const char *name)
{
    if (name[0] != '/') return goes_up(name);
    const size_t length = (size_t)(tsr_path_file(header) - header), above = (size_t)(tsr_path_file(name) - name);
    char *folder = length ? strndup(header, length) : strdup("."), *other = strndup(name, above), *real = folder ? realpath(folder, NULL) : NULL,
         *there = other ? realpath(other, NULL) : NULL;
    const size_t n = real ? strlen(real) : 0;
    const int within = real && there && !strncmp(real, there, n) && (there[n] == '/' || !there[n] || n == 1) && strcmp(name + above, "..");
    free(folder);
    free(other);
    free(real);
    free(there);
    return !within;
}

/* Links that lead out of the header's folder: what lies there is not beside the header, whatever its name is. */
static int links_away(const char *header, const char *path)
{
    const size_t length = (size_t)(tsr_path_file(header) - header);
    char *folder = length ? strndup(header, length) : strdup("."), *real = folder ? realpath(folder, NULL) : NULL, *there = realpath(path, NULL);
    const size_t n = real ? strlen(real) : 0;
    const int away = real && there && (strncmp(real, there, n) != 0 || (there[n] != '/' && n > 1));
    free(folder);
    free(real);
    free(there);
    return away;
}

tsr_status tsr_input_open_beside(const tsr_input *input, const char *name, int keep_gzip, tsr_input **beside)
{
    *beside = NULL;
    if (!input->path)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: the data lie in another file ('%.80s'), which only a header read from a file can name", input->name,
                 name);
    tsr_input_options options = input->options;
    options.keep_gzip = keep_gzip;
    options.regular_only = 1;
    if (strlen(name) >= PATH_MAX / 2) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the name of the data file has %zu characters", input->name, strlen(name));
    if (options.same_folder && strchr(name, '/'))
        TSR_FAIL(TSR_ERROR_IO, "%s: its data file '%.200s' lies in another folder, expected one beside the header", input->name, name);
    if (!options.allow_paths && leaves_folder(input->path, name))
        TSR_FAIL(TSR_ERROR_IO, "%s: its data file '%.200s' does not lie beside the header or in a folder below; options.allow_paths reads it",
                 input->name, name);
    size_t folder = name[0] == '/' ? 0 : (size_t)(tsr_path_file(input->path) - input->path);
    char *path = (char *)malloc(folder + strlen(name) + 1);
    if (!path) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", input->name);
    memcpy(path, input->path, folder);
    memcpy(path + folder, name, strlen(name) + 1);
    if (!options.allow_paths && links_away(input->path, path)) {
        free(path);
        TSR_FAIL(TSR_ERROR_IO, "%s: its data file '%.200s' is a link to another folder; options.allow_paths reads it", input->name, name);
    }
    tsr_status status = tsr_input_open(path, &options, beside);
    if (status == TSR_ERROR_IO && access(path, F_OK)) status = TSR_FAILED(TSR_ERROR_IO, "%s: its data file '%.200s' is missing", input->name, path);
    else if (status != TSR_OK) status = TSR_FAILED(status, "%s: its data file: %s", input->name, tsr_error_message());
    free(path);
    return status;
}

const char *tsr_input_name(const tsr_input *input) { return input->name; }
const char *tsr_input_path(const tsr_input *input) { return input->path; }
const tsr_input_options *tsr_input_settings(const tsr_input *input) { return &input->options; }

int64_t tsr_input_size(const tsr_input *input)
{
    if (input->gzip) return input->decoded_ended ? (int64_t)input->decoded_size : -1;
    return input->fd < 0 || input->pipe_ended ? (int64_t)input->raw_size : -1;
}

/* ---- looking at the content --------------------------------------------------------------------------------------------------- */

tsr_status tsr_input_head(tsr_input *input, size_t want, const uint8_t **bytes, size_t *size)
{
    if (!input->gzip) {
        if (input->fd >= 0) TSR_TRY(pipe_collect(input, want));
        *bytes = input->raw;
        *size = input->raw_size < want ? input->raw_size : want;
        return TSR_OK;
    }
    if (input->decoded_size < want && !input->decoded_ended) {
        if (input->fd >= 0) TSR_TRY(pipe_collect(input, SIZE_MAX));
        if (want > 65536 && (int64_t)want > allocation_limit(input))
            TSR_FAIL(TSR_ERROR_MEMORY, "%s: a header of %zu bytes and more is over the memory limit of %lld", input->name, want,
                     (long long)allocation_limit(input));
        uint8_t *grown = (uint8_t *)realloc(input->decoded, want);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %zu bytes", input->name, want);
        input->decoded = grown;
        TSR_TRY(
            tsr_inflate_head(input->name, input->raw, input->raw_size, TSR_WRAPPER_GZIP, grown, want, &input->decoded_size, &input->decoded_ended));
    }
    *bytes = input->decoded;
    *size = input->decoded_size < want ? input->decoded_size : want;
    return TSR_OK;
}

tsr_status tsr_input_all(tsr_input *input, const uint8_t **bytes, size_t *size)
{
    if (input->fd >= 0) TSR_TRY(pipe_collect(input, SIZE_MAX));
    if (!input->gzip) {
        *bytes = input->raw;
        *size = input->raw_size;
        return TSR_OK;
    }
    /* The last four bytes hold the size of the last member modulo 2^32: a first guess, which a larger content doubles. */
    size_t capacity = 65536;
    if (input->raw_size >= 18) {
        const uint8_t *t = input->raw + input->raw_size - 4;
        size_t said = (size_t)t[0] | (size_t)t[1] << 8 | (size_t)t[2] << 16 | (size_t)t[3] << 24;
        if (said / TSR_DEFLATE_MOST_RATIO <= input->raw_size && said > capacity) capacity = said;
    }
    const int64_t limit = tsr_max64(allocation_limit(input), 65536);
    int at_limit = 0;
    while (!input->decoded_ended) {
        if ((int64_t)capacity > limit && !at_limit) { /* the last try */
            at_limit = 1;
            capacity = (size_t)limit;
        } else if ((int64_t)capacity > limit)
            TSR_FAIL(TSR_ERROR_MEMORY, "%s: the content needs more than the memory limit of %lld bytes", input->name,
                     (long long)allocation_limit(input));
        uint8_t *grown = (uint8_t *)realloc(input->decoded, capacity);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %zu bytes", input->name, capacity);
        input->decoded = grown;
        int over;
        TSR_TRY(tsr_inflate_whole(input->name, input->raw, input->raw_size, TSR_WRAPPER_GZIP, grown, capacity, &input->decoded_size, &over));
        input->decoded_ended = !over;
        capacity *= 2;
    }
    *bytes = input->decoded;
    *size = input->decoded_size;
    return TSR_OK;
}

/* ---- taking data out ---------------------------------------------------------------------------------------------------------- */

tsr_status tsr_input_check(tsr_input *input, int64_t offset, int64_t bytes, const char *what)
{
    int64_t end;
    if (offset < 0 || bytes < 0 || __builtin_add_overflow(offset, bytes, &end))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld bytes of %s at offset %lld, expected numbers from 0 that 64 bits hold", input->name, (long long)bytes,
                 what, (long long)offset);
    int64_t size = tsr_input_size(input);
    if (size >= 0 && end > size)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: the header asks for %lld bytes of %s at offset %lld, the file has %lld bytes%s", input->name,
                 (long long)bytes, what, (long long)offset, (long long)size, input->gzip ? " of content" : "");
    if (size < 0 && input->gzip && input->fd < 0 && end / TSR_DEFLATE_MOST_RATIO > (int64_t)input->raw_size + 1)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: the header asks for %lld bytes of %s, more than %zu compressed bytes can hold", input->name,
                 (long long)bytes, what, input->raw_size);
    if (input->options.memory_limit && !input->options.map_beyond_limit && bytes > input->options.memory_limit)
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: %lld bytes of %s are over the memory limit of %lld", input->name, (long long)bytes, what,
                 (long long)input->options.memory_limit);
    return TSR_OK;
}

static void release_buffer(void *user, void *data)
{
    (void)data;
    free(user);
}

/* A buffer whose byte `offset` is aligned to 64; block->data points there. */
static tsr_status allocate_at(tsr_input *input, size_t offset, int64_t bytes, const char *what, tsr_block *block)
{
    int64_t all;
    *block = (tsr_block){ 0 };
    if (bytes < 0 || __builtin_add_overflow(bytes, (int64_t)offset + 2 * TSR_HOST_ALIGNMENT, &all) || bytes > allocation_limit(input))
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: %lld bytes of %s are over the memory limit of %lld", input->name, (long long)bytes, what,
                 (long long)allocation_limit(input));
    uint8_t *memory = (uint8_t *)malloc((size_t)all);
    if (!memory) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of host memory: %lld bytes of %s asked for", input->name, (long long)bytes, what);
    uintptr_t at = (uintptr_t)memory + offset;
    size_t pad = (size_t)(-at & (TSR_HOST_ALIGNMENT - 1));
    *block = (tsr_block){ memory + pad + offset, release_buffer, memory };
    return TSR_OK;
}

tsr_status tsr_input_allocate(tsr_input *input, int64_t bytes, const char *what, tsr_block *block)
{
    return allocate_at(input, 0, bytes, what, block);
}

void tsr_block_release(tsr_block *block)
{
    if (block->release) block->release(block->user, block->data);
    *block = (tsr_block){ 0 };
}

static tsr_status copy_steps(const tsr_input *input, const uint8_t *from, int64_t bytes, size_t element, int swap, uint8_t *to)
{
    for (int64_t at = 0; at < bytes; at += STEP_BYTES) { /* swapped while the piece is in the cache */
        int64_t step = tsr_min64(bytes - at, STEP_BYTES);
        memcpy(to + at, from + at, (size_t)step);
        if (swap) tsr_swap_elements(to + at, step / (int64_t)element, element);
        if (input->raw_kind == RAW_MAPPED && !input->gzip) { /* the pages just read are not needed in memory twice */
            uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
            uintptr_t begin = ((uintptr_t)(from + at) + page - 1) / page * page, end = (uintptr_t)(from + at + step) / page * page;
            if (begin < end) madvise((void *)begin, end - begin, MADV_DONTNEED);
        }
        TSR_PROGRESS(input->options.progress, (double)(at + step) / (double)bytes, "reading");
    }
    return TSR_OK;
}

/* Straight from the pipe to where the bytes belong; only what was collected already is copied. What is read here is not kept. */
static tsr_status pipe_read(tsr_input *input, int64_t offset, int64_t bytes, uint8_t *to, const char *what)
{
    TSR_TRY(pipe_collect(input, (size_t)offset));
    int64_t done = tsr_max64(0, tsr_min64((int64_t)input->raw_size - offset, bytes));
    if (done) memcpy(to, input->raw + offset, (size_t)done);
    while (done < bytes && !input->pipe_ended) {
        ssize_t got = read(input->fd, to + done, (size_t)tsr_min64(bytes - done, STEP_BYTES));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) TSR_FAIL(TSR_ERROR_IO, "%s: cannot read: %s", input->name, strerror(errno));
        if (got == 0) input->pipe_ended = 1;
        done += got;
        TSR_PROGRESS(input->options.progress, (double)done / (double)bytes, "reading");
    }
    if (done < bytes)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: %lld bytes of %s, expected %lld", input->name, (long long)done, what, (long long)bytes);
    return TSR_OK;
}

tsr_status tsr_input_read(tsr_input *input, int64_t offset, int64_t bytes, size_t element, int swap, void *to, const char *what)
{
    TSR_TRY(tsr_input_check(input, offset, bytes, what));
    if (input->fd >= 0 && !input->gzip) {
        TSR_TRY(pipe_read(input, offset, bytes, (uint8_t *)to, what));
        if (swap) tsr_swap_elements(to, bytes / (int64_t)element, element);
        return TSR_OK;
    }
    if (input->fd >= 0) TSR_TRY(pipe_collect(input, SIZE_MAX));
    if (input->gzip && !(input->decoded_ended && offset + bytes <= (int64_t)input->decoded_size)) {
        TSR_TRY(tsr_inflate_exactly(input->name, input->options.progress, input->raw, input->raw_size, TSR_WRAPPER_GZIP, offset, (uint8_t *)to,
                                    (size_t)bytes, what));
        if (swap) tsr_swap_elements(to, bytes / (int64_t)element, element);
        return TSR_OK;
    }
    return copy_steps(input, (input->gzip ? input->decoded : input->raw) + offset, bytes, element, swap, (uint8_t *)to);
}

tsr_status tsr_input_inflate(tsr_input *input, int64_t offset, int64_t packed, tsr_wrapper wrapper, int64_t skip, int64_t bytes, size_t element,
                             int swap, void *to, const char *what)
{
    const uint8_t *all;
    size_t size;
    TSR_TRY(tsr_input_all(input, &all, &size));
    TSR_TRY(tsr_input_check(input, offset, packed < 0 ? 0 : packed, "compressed data"));
    if (packed < 0) packed = (int64_t)size - offset;
    TSR_TRY(
        tsr_inflate_exactly(input->name, input->options.progress, all + offset, (size_t)packed, wrapper, skip, (uint8_t *)to, (size_t)bytes, what));
    if (swap) tsr_swap_elements(to, bytes / (int64_t)element, element);
    return TSR_OK;
}

tsr_status tsr_input_inflate_to(tsr_input *input, int64_t offset, int64_t packed, tsr_wrapper wrapper, int64_t skip, int64_t bytes,
                                tsr_input_sink sink, void *user, const char *what)
{
    if (input->fd >= 0) TSR_TRY(pipe_collect(input, SIZE_MAX));
    if (input->gzip && offset)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %s packed twice cannot be read in pieces, expected them packed once", input->name, what);
    if (offset < 0 || offset > (int64_t)input->raw_size || packed > (int64_t)input->raw_size - offset)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: compressed data at offset %lld, the file has %zu bytes", input->name, (long long)offset,
                 input->raw_size);
    if (packed < 0) packed = (int64_t)input->raw_size - offset;
    TSR_TRY(tsr_inflate_to(input->name, input->options.progress, input->raw + offset, (size_t)packed, wrapper, skip, bytes, sink, user, what));
    return TSR_OK;
}

int tsr_input_is_gzip(const tsr_input *input) { return input->gzip; }

void tsr_input_forget(tsr_input *input)
{
    if (input->raw_kind == RAW_MAPPED && !input->gzip) madvise(input->raw, input->raw_size, MADV_DONTNEED); /* nobody writes to it */
}

struct mapping {
    void *address;
    size_t size;
};

static void release_mapping(void *user, void *data)
{
    struct mapping *mapping = (struct mapping *)user;
    (void)data;
    munmap(mapping->address, mapping->size);
    free(mapping);
}

void tsr_block_rest(void (*release)(void *user, void *data), const void *data, size_t bytes)
{
#ifdef MADV_PAGEOUT /* Linux 5.4 */
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)data / page * page,
                    end = ((uintptr_t)data + bytes + page - 1) / page * page;
    if (release == release_mapping && bytes) (void)madvise((void *)begin, end - begin, MADV_PAGEOUT); /* a wish */
#else
    (void)release, (void)data, (void)bytes;
#endif
}

tsr_status tsr_input_take(tsr_input *input, int64_t offset, int64_t bytes, size_t element, int swap, const char *what, tsr_block *block)
{
    tsr_status status;
    *block = (tsr_block){ 0 };
    TSR_TRY(tsr_input_check(input, offset, bytes, what));
    if (input->raw_kind == RAW_MAPPED && !input->gzip && !swap && (uintptr_t)(input->raw + offset) % element == 0) {
        struct mapping *mapping = (struct mapping *)malloc(sizeof *mapping);
        if (!mapping) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", input->name);
        *mapping = (struct mapping){ input->raw, input->raw_size };
        *block = (tsr_block){ input->raw + offset, release_mapping, mapping };
        input->raw_kind = RAW_BORROWED; /* still readable while the block lives */
        return TSR_OK;
    }
    if (input->gzip && !input->decoded_ended) { /* the header in front lands in the same buffer */
        if (input->fd >= 0) TSR_TRY(pipe_collect(input, SIZE_MAX));
        if (offset > allocation_limit(input))
            TSR_FAIL(TSR_ERROR_MEMORY, "%s: the %s begin at byte %lld, over the memory limit", input->name, what, (long long)offset);
        TSR_TRY(allocate_at(input, (size_t)offset, bytes, what, block));
        TSR_TRY_GOTO(tsr_inflate_exactly(input->name, input->options.progress, input->raw, input->raw_size, TSR_WRAPPER_GZIP, 0,
                                         (uint8_t *)block->data - offset, (size_t)(offset + bytes), what),
                     fail);
        if (swap) tsr_swap_elements(block->data, bytes / (int64_t)element, element);
        return TSR_OK;
    }
    TSR_TRY(allocate_at(input, 0, bytes, what, block));
    TSR_TRY_GOTO(tsr_input_read(input, offset, bytes, element, swap, block->data, what), fail);
    return TSR_OK;
fail:
    tsr_block_release(block);
    return status;
}
