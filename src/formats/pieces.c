#include "formats/pieces.h"

#include "formats/parts.h"

#include <stdlib.h>
#include <string.h>

enum { STEP_BYTES = 4 << 20, FORGET_BYTES = 8 << 20, TRANSFER_BYTES = 256 << 20 };

/* ---- where the voxels lie ------------------------------------------------------------------------------------------------------------- */

static tsr_status to_spool(void *user, const void *bytes, size_t size) { return tsr_spool_write((tsr_spool *)user, bytes, size, NULL); }

tsr_status tsr_voxel_place_note(tsr_voxel_place *p, tsr_input *input, int64_t offset, const tsr_layout *layout, int64_t bytes)
{
    const int packed = layout->encoding == TSR_ENCODING_GZIP || layout->encoding == TSR_ENCODING_ZLIB, whole = tsr_input_is_gzip(input);
    const char *path = tsr_input_path(input);
    p->element = tsr_dtype_size(layout->dtype);
    p->swap = layout->swap;
    p->bytes += bytes;
    if (layout->encoding == TSR_ENCODING_ASCII)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: voxels as text cannot be read in pieces, expected a file of binary voxels", tsr_input_name(input));
    if (packed || whole) {
        if (p->files.count || p->spool)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: several packed data files cannot be read in pieces, expected one", tsr_input_name(input));
        TSR_TRY(tsr_spool_open(p->beside, &p->spool));
        if (packed)
            TSR_TRY(tsr_input_inflate_to(input, offset, layout->packed, layout->encoding == TSR_ENCODING_GZIP ? TSR_WRAPPER_GZIP : TSR_WRAPPER_ZLIB,
                                         layout->skip, bytes, to_spool, p->spool, "voxels"));
        else TSR_TRY(tsr_input_inflate_to(input, 0, -1, TSR_WRAPPER_GZIP, offset, bytes, to_spool, p->spool, "voxels"));
        return TSR_OK;
    }
    TSR_TRY(tsr_input_check(input, offset, bytes, "voxels"));
    p->offset = offset;
    p->share = bytes;
    TSR_TRY(tsr_names_add(&p->files, path, strlen(path)));
    return TSR_OK;
}

/* ---- reading ----------------------------------------------------------------------------------------------------------------------------- */

static tsr_status open_number(tsr_pieces *s, int64_t number)
{
    const char *path = s->place.files.text;
    if (s->input && s->number == number) return TSR_OK;
    tsr_input_close(&s->input);
    for (int64_t k = 0; k < number; k++) path += strlen(path) + 1;
    const tsr_input_options settings = { .keep_gzip = 1, .map_beyond_limit = 1, .regular_only = 1, .same_folder = s->options.same_folder };
    TSR_TRY(tsr_input_open(path, &settings, &s->input));
    s->number = number;
    return TSR_OK;
}

static tsr_status read_voxels(void *user, int64_t first, int64_t count, void *to)
{
    tsr_pieces *s = (tsr_pieces *)user;
    const tsr_voxel_place *p = &s->place;
    const int64_t element = (int64_t)p->element;
    int64_t at = first * element, left = count * element;
    char *q = (char *)to;
    if (p->read) {
        TSR_TRY(p->read(p->user, first, count, to));
        s->since += left;
        if (s->since > FORGET_BYTES) {
            tsr_input_forget(s->input);
            s->since = 0;
        }
        return TSR_OK;
    }
    if (!p->files.count) {
        TSR_TRY(tsr_spool_get(p->spool, at, to, (size_t)left));
        if (p->swap) tsr_swap_elements(to, count, p->element);
        return TSR_OK;
    }
    while (left) {
        const int64_t number = at / p->share, within = at % p->share, step = tsr_min64(left, p->share - within);
        TSR_TRY(open_number(s, number));
        TSR_TRY(tsr_input_read(s->input, p->offset + within, step, p->element, p->swap, q, "voxels"));
        s->since += tsr_max64(step, 4096); /* a page is the least that comes */
        if (s->since > FORGET_BYTES) {
            tsr_input_forget(s->input);
            s->since = 0;
        }
        at += step;
        left -= step;
        q += step;
    }
    return TSR_OK;
}

static tsr_status open_pieces(const char *path, tsr_pieces *s)
{
    tsr_input *input = NULL;
    tsr_input_options settings = { .memory_limit = s->options.memory_limit,
                                   .progress = &s->options.progress,
                                   .map_beyond_limit = 1,
                                   .regular_only = 1, /* the voxels are read later, by the path again and in any order */
                                   .same_folder = s->options.same_folder,
                                   .allow_paths = s->options.allow_paths,
                                   .place = &s->place };
    const tsr_format *format;
    tsr_status status;
    if (!strcmp(path, "-")) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "standard input: a pipe cannot be read in pieces, expected a file of binary voxels");
    TSR_TRY(tsr_input_open(path, &settings, &input));
    TSR_TRY_GOTO(tsr_format_of_input(input, &s->options, TSR_FILE_VOLUME, &format), done);
    TSR_TRY_GOTO(format->read_volume(input, &s->options, &s->header), done);
    TSR_TRY_GOTO(tsr_parts_check(s->header, path, &s->options), done);
    if (s->options.box_given && !format->boxes)
        TSR_FAIL_GOTO(TSR_ERROR_UNSUPPORTED, done, "%s: a box of a %s file cannot be read in pieces, expected the whole", tsr_input_name(input), format->name);
    if (!s->place.files.count && !s->place.spool && !s->place.read)
        TSR_FAIL_GOTO(TSR_ERROR_UNSUPPORTED, done, "%s: a %s file cannot be read in pieces", tsr_input_name(input), format->name);
    s->feed = (tsr_voxel_feed){ s, read_voxels };
    if (s->place.read) { /* it reads on */
        s->input = input;
        input = NULL;
    }
done:
    if (status != TSR_OK && s->place.close) {
        s->place.close(s->place.user);
        s->place.close = NULL;
    }
    tsr_input_close(&input);
    return status;
}

tsr_status tsr_pieces_open(const char *path, const tsr_read_options *options, const char *beside, tsr_pieces **pieces)
{
    *pieces = NULL;
    if (!path || !*path) TSR_FAIL(TSR_ERROR_ARGUMENT, "the input path is empty");
    tsr_pieces *s = (tsr_pieces *)calloc(1, sizeof *s);
    if (!s) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", path);
    s->options = *options;
    s->place.beside = beside;
    const tsr_status status = open_pieces(path, s);
    s->place.beside = NULL;
    if (status != TSR_OK) tsr_pieces_close(&s);
    *pieces = s;
    TSR_TRY(status);
    return TSR_OK;
}

void tsr_pieces_close(tsr_pieces **pieces)
{
    tsr_pieces *s = *pieces;
    *pieces = NULL;
    if (!s) return;
    if (s->place.close) s->place.close(s->place.user);
    tsr_input_close(&s->input);
    tsr_volume_destroy(&s->header);
    tsr_names_free(&s->place.files);
    tsr_spool_close(&s->place.spool);
    free(s);
}

tsr_status tsr_volume_transfer(const char *from, const tsr_read_options *read, const char *to, const tsr_write_options *write)
{
    tsr_read_options own;
    tsr_write_options out;
    tsr_pieces *pieces;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, read));
    TSR_TRY(TSR_OPTIONS_TAKE(&out, write));
    TSR_TRY(tsr_file_check_output(to, TSR_FILE_VOLUME, &out));
    if (own.memory_limit < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "memory_limit is %lld, expected 0 or more bytes", (long long)own.memory_limit);
    if (!own.memory_limit) own.memory_limit = TRANSFER_BYTES;
    TSR_TRY(tsr_pieces_open(from, &own, to, &pieces));
    const tsr_status status = tsr_pieces_write(pieces->header, &pieces->feed, to, &out);
    tsr_pieces_close(&pieces);
    TSR_TRY(status);
    return TSR_OK;
}

/* ---- writing ----------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_pieces_map(const tsr_voxel_feed *feed, int64_t count, size_t element, const char *path, tsr_spool **spool, const uint8_t **bytes)
{
    const int64_t step = STEP_BYTES / (int64_t)element;
    tsr_status status = TSR_OK;
    *spool = NULL;
    void *part = malloc(STEP_BYTES);
    if (!part) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", path);
    TSR_TRY_GOTO(tsr_spool_open(path, spool), done);
    for (int64_t at = 0; at < count; at += step) {
        const int64_t n = tsr_min64(step, count - at);
        TSR_TRY_GOTO(feed->read(feed->user, at, n, part), done);
        TSR_TRY_GOTO(tsr_spool_write(*spool, part, (size_t)n * element, NULL), done);
    }
    TSR_TRY_GOTO(tsr_spool_map(*spool, bytes), done);
done:
    if (status != TSR_OK) tsr_spool_close(spool);
    free(part);
    return status;
}

static tsr_status write_whole(const tsr_format *format, tsr_volume *volume, const tsr_voxel_feed *feed, const char *path,
                              const tsr_write_options *options)
{
    const uint8_t *bytes;
    tsr_spool *spool;
    TSR_TRY(tsr_pieces_map(feed, tsr_volume_count(volume), tsr_dtype_size(volume->dtype), path, &spool, &bytes));
    volume->feed = NULL;
    volume->data = (void *)(uintptr_t)bytes; /* writers only read */
    const tsr_status status = format->write_volume(volume, path, options);
    tsr_spool_close(&spool);
    return status;
}

tsr_status tsr_pieces_write(const tsr_volume *header, const tsr_voxel_feed *feed, const char *path, const tsr_write_options *options)
{
    const tsr_format *format;
    tsr_volume volume = *header; /* its metadata are borrowed, its voxels replaced */
    volume.context = NULL;
    volume.data = NULL;
    volume.feed = feed;
    TSR_TRY(tsr_format_of_output(path, options->format, TSR_FILE_VOLUME, &format));
    if (format->whole) TSR_TRY(write_whole(format, &volume, feed, path, options));
    else {
        tsr_volume *parts[TSR_FIT_PARTS];
        const tsr_volume *fit;
        TSR_TRY(tsr_volume_for_format(&volume, format, 1, parts, &fit));
        const tsr_status status = format->write_volume(fit, path, options);
        tsr_fit_parts_destroy(parts);
        TSR_TRY(status);
    }
    tsr_say_what_is_lost(header, format, path);
    return TSR_OK;
}
