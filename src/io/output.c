/* Output: bytes on their way to a new file (io/target.h), which has its name when all is written. */
#include "io/deflate.h"
#include "io/stream.h"
#include "io/target.h"
#include "core/number.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 1 << 20, STEP_BYTES = 4 << 20 };

struct tsr_output {
    char *name; /* for messages: what the caller asked for */
    tsr_target target;
    int gzip;
    char place[32]; /* of tsr_file_place */
    tsr_deflater *deflater;
    int64_t deflate_start;
    uint8_t *buffer;
    size_t filled;
    int64_t position; /* bytes given to the file so far, buffer included */
    const tsr_progress *progress;
    tsr_status status;
};

static tsr_status out_of_memory(const char *path) { TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", path); }

static void destroy(tsr_output **output)
{
    tsr_output *o = *output;
    *output = NULL;
    if (!o) return;
    tsr_target_close(&o->target);
    tsr_deflater_destroy(&o->deflater);
    free(o->buffer);
    free(o->name);
    free(o);
}

void tsr_output_abort(tsr_output **output)
{
    if (output) destroy(output);
}

static tsr_status put(tsr_output *o, const void *bytes, size_t size)
{
    const uint8_t *from = (const uint8_t *)bytes;
    while (size) {
        ssize_t done = write(o->target.fd, from, size);
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

static tsr_status open_output(const char *path, const tsr_write_options *options, int named, tsr_output **output)
{
    *output = NULL;
    tsr_output *o = (tsr_output *)calloc(1, sizeof *o);
    if (!o) return out_of_memory(path);
    tsr_status status;
    o->target.fd = o->target.place = -1;
    o->progress = &options->progress;
    o->name = strdup(!strcmp(path, "-") ? "standard output" : path);
    o->buffer = (uint8_t *)malloc(BUFFER);
    if (!o->name || !o->buffer) {
        status = out_of_memory(path);
        goto fail;
    }
    o->target.name = o->name;
    o->gzip = tsr_path_has_extension(path, ".gz") || tsr_path_has_extension(path, ".mgz"); /* FreeSurfer's name for .mgh.gz */
    if (o->gzip && options->compression < 0) TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, fail, "%s: compression -1 (none) contradicts the extension %s", path, strrchr(path, '.'));
    TSR_TRY_GOTO(tsr_target_open(&o->target, path, options->overwrite, options->regular_only, named), fail);
    if (o->gzip) TSR_TRY_GOTO(tsr_deflater_create(TSR_WRAPPER_GZIP, options->compression, sink, o, &o->deflater), fail);
    *output = o;
    return TSR_OK;
fail:
    destroy(&o);
    return status;
}

tsr_status tsr_output_open(const char *path, const tsr_write_options *options, tsr_output **output) { return open_output(path, options, 0, output); }
tsr_status tsr_output_open_named(const char *path, const tsr_write_options *options, tsr_output **output)
{
    return open_output(path, options, 1, output);
}

tsr_status tsr_output_write(tsr_output *o, const void *bytes, size_t size)
{
    if (o->status == TSR_OK) o->status = o->deflater ? tsr_deflater_write(o->deflater, bytes, size) : sink(o, bytes, size);
    return o->status;
}

tsr_status tsr_output_pass(tsr_output *o)
{
    if (o->status == TSR_OK && !o->target.path) o->status = drain(o);
    return o->status;
}

tsr_status tsr_output_printf(tsr_output *o, const char *format, ...)
{
    char small[1024], *text = small;
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = tsr_print_list(small, sizeof small, format, arguments);
    if (length >= (int)sizeof small) {
        text = (char *)malloc((size_t)length + 1);
        if (text) tsr_print_list(text, (size_t)length + 1, format, again);
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

const char *tsr_output_temporary(const tsr_output *o) { return o->target.beside; }
int tsr_output_can_patch(const tsr_output *o) { return o->target.path && !o->gzip; }
int64_t tsr_output_position(const tsr_output *o) { return o->position; }

tsr_status tsr_output_patch(tsr_output *o, int64_t offset, const void *bytes, size_t size)
{
    TSR_ASSERT(tsr_output_can_patch(o) && offset + (int64_t)size <= o->position);
    if (o->status == TSR_OK) o->status = drain(o);
    if (o->status == TSR_OK && pwrite(o->target.fd, bytes, size, offset) != (ssize_t)size)
        o->status = TSR_FAILED(TSR_ERROR_IO, "%s: cannot write: %s", o->name, strerror(errno));
    return o->status;
}

/* Everything but the name. */
static tsr_status complete(tsr_output *o)
{
    if (o->status == TSR_OK && o->deflater) o->status = tsr_deflater_end(o->deflater);
    if (o->status == TSR_OK) o->status = drain(o);
    TSR_TRY(o->status);
    return TSR_OK;
}

tsr_status tsr_output_commit(tsr_output **output)
{
    tsr_target *const targets[] = { &(*output)->target };
    tsr_status status = complete(*output);
    if (status == TSR_OK) status = tsr_target_commit(targets, 1);
    destroy(output);
    return status;
}

tsr_status tsr_output_commit_pair(tsr_output **first, tsr_output **second)
{
    tsr_target *const targets[] = { &(*first)->target, &(*second)->target };
    tsr_status status = complete(*first);
    if (status == TSR_OK) status = complete(*second);
    if (status == TSR_OK) status = tsr_target_commit(targets, 2);
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

tsr_status tsr_file_begin(const char *path, const tsr_write_options *options, tsr_output **file)
{
    TSR_RETURNS(file);
    tsr_write_options own;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    if (!path || !*path) TSR_FAIL(TSR_ERROR_ARGUMENT, "the output path is empty");
    own.compression = 0;
    TSR_TRY(open_output(path, &own, 0, file));
    tsr_deflater_destroy(&(*file)->deflater); /* whatever the name ends in: the writer knows what it writes */
    (*file)->filled = 0;
    (*file)->progress = NULL;
    if ((*file)->target.path) return TSR_OK;
    tsr_output_abort(file);
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: is no plain file, expected a new name or a plain file", path);
}

const char *tsr_file_place(const tsr_output *file) { return file ? tsr_target_place(&file->target, ((tsr_output *)(uintptr_t)file)->place) : NULL; }

tsr_status tsr_file_finish(tsr_output **file)
{
    if (!file || !*file) TSR_FAIL(TSR_ERROR_ARGUMENT, "file is NULL");
    return tsr_output_commit(file);
}

void tsr_file_discard(tsr_output **file) { tsr_output_abort(file); }
