/* video/depth/depth_film.c: .tdf files: a header and a chunk a frame. docs/formats/tdf.md is normative. */
#include "video/depth/depth_film.h"

#include <math.h>
#include <stdlib.h>

#include "video/chunks/chunk_file.h"
#include "video/depth/depth_frame.h"

enum { VERSION = 1, HEAD_BYTES = 40, MOST_ERROR = 32766 };
#define FRAME TSR_CHUNK_TYPE('F', 'R', 'A', 'M')

static const tsr_chunk_kind kind = { { 0x89, 'T', 'D', 'F', 0x0d, 0x0a, 0x1a, 0x0a },
                                     { 'T', 'D', 'F', 'E', 'N', 'D', '1', 0x0a },
                                     "depth films (.tdf)" };

struct tsr_depth_film_writer {
    tsr_chunk_writer chunks;
    tsr_depth_coder *coder;
    int64_t frames;
};

static tsr_status check(int32_t width, int32_t height, const tsr_depth_film_options *o, int32_t *units)
{
    const double error = floor(o->largest_error / o->scale * (1 + 1e-12)); /* 0.003 / 0.001 is meant to be 3 */
    if (width < 1 || height < 1 || width > TSR_DEPTH_FILM_MOST_SIDE || height > TSR_DEPTH_FILM_MOST_SIDE)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "depth images of %d x %d samples, expected 1 to %d along each side", width, height, TSR_DEPTH_FILM_MOST_SIDE);
    if (!(o->scale > 0) || !isfinite(o->scale)) TSR_FAIL(TSR_ERROR_ARGUMENT, "a scale of %g, expected a number above 0", o->scale);
    if (!(error >= 0) || error > MOST_ERROR)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "a largest error of %g with a scale of %g, expected 0 to %d times the scale", o->largest_error, o->scale,
                 MOST_ERROR);
    if (o->rate[0] < 1 || o->rate[1] < 1)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "a rate of %d / %d frames a second, expected numbers above 0", o->rate[0], o->rate[1]);
    *units = (int32_t)error;
    return TSR_OK;
}

tsr_status tsr_depth_film_writer_create(const char *path, int32_t width, int32_t height, const tsr_depth_film_options *options,
                                        tsr_depth_film_writer **writer)
{
    TSR_RETURNS(writer);
    TSR_NEEDS(path);
    tsr_depth_film_options o;
    uint8_t head[HEAD_BYTES];
    int32_t units;
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    if (o.scale == 0) o.scale = 0.001;
    if (!o.rate[0] && !o.rate[1]) o.rate[0] = 30, o.rate[1] = 1;
    TSR_TRY(check(width, height, &o, &units));
    tsr_depth_film_writer *w = (tsr_depth_film_writer *)calloc(1, sizeof *w);
    if (!w) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory");
    TSR_TRY_GOTO(tsr_depth_coder_create(width, height, 2 * (uint32_t)units + 1, 1, &w->coder), fail);
    TSR_TRY_GOTO(tsr_chunk_file_open_writer(&w->chunks, &kind, path, o.overwrite), fail);
    const uint32_t field[6] = { VERSION, (uint32_t)width, (uint32_t)height, (uint32_t)o.rate[0], (uint32_t)o.rate[1], (uint32_t)units };
    for (int k = 0; k < 6; k++) tsr_put_u32(head + 4 * k, field[k]);
    tsr_put_f64(head + 24, o.scale);
    tsr_put_f64(head + 32, o.largest_error);
    *writer = w;
    status = tsr_chunk_file_write(&w->chunks, TSR_CHUNK_HEAD, 0, head, sizeof head);
    if (status != TSR_OK) tsr_depth_film_writer_destroy(writer);
    return status;
fail:
    tsr_depth_coder_destroy(&w->coder);
    free(w);
    return status;
}

tsr_status tsr_depth_film_writer_append(tsr_depth_film_writer *writer, const uint16_t *samples)
{
    TSR_NEEDS(writer, samples);
    const uint8_t *bytes;
    size_t size;
    if (writer->frames > INT32_MAX) TSR_FAIL(TSR_ERROR_STATE, "a film of %lld frames takes no more", (long long)writer->frames);
    tsr_depth_frame_encode(writer->coder, writer->frames, samples, &bytes, &size);
    TSR_TRY(tsr_chunk_file_write(&writer->chunks, FRAME, writer->frames, bytes, size));
    writer->frames++;
    return TSR_OK;
}

int64_t tsr_depth_film_writer_bytes(const tsr_depth_film_writer *writer) { return writer ? tsr_chunk_file_bytes(&writer->chunks) : 0; }

static tsr_status end(tsr_depth_film_writer **writer, tsr_status status)
{
    tsr_depth_film_writer *w = *writer;
    status = tsr_chunk_file_finish(&w->chunks, status);
    tsr_depth_coder_destroy(&w->coder);
    free(w);
    *writer = NULL;
    return status;
}

tsr_status tsr_depth_film_writer_finish(tsr_depth_film_writer **writer)
{
    TSR_NEEDS(writer);
    TSR_NEEDS(*writer);
    return end(writer, (*writer)->frames ? TSR_OK : TSR_FAILED(TSR_ERROR_STATE, "a film without frames"));
}

void tsr_depth_film_writer_destroy(tsr_depth_film_writer **writer)
{
    if (writer && *writer) (void)end(writer, TSR_ERROR_STATE);
}

/* ---- reading ---------------------------------------------------------------------------------------------------------------------------------- */

struct tsr_depth_film_reader {
    tsr_input *input;
    tsr_chunk_reader chunks;
    tsr_depth_coder *coder;
    tsr_depth_film_info info;
};

static tsr_status read_head(tsr_depth_film_reader *r)
{
    const tsr_chunk *e = tsr_chunk_file_find(&r->chunks, TSR_CHUNK_HEAD, 0);
    tsr_depth_film_options o = TSR_DEPTH_FILM_OPTIONS;
    uint32_t f[6];
    int32_t units;
    if (!e || !tsr_chunk_file_good(&r->chunks, e) || e->size != HEAD_BYTES)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: its header is missing or damaged: nothing can be read", r->chunks.name);
    const uint8_t *bytes = r->chunks.bytes + e->offset;
    for (int k = 0; k < 6; k++) f[k] = tsr_get_u32(bytes + 4 * k);
    if (f[0] != VERSION) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: version %u of the format, this build reads version %d", r->chunks.name, f[0], VERSION);
    o.scale = tsr_get_f64(bytes + 24);
    o.largest_error = tsr_get_f64(bytes + 32);
    o.rate[0] = (int32_t)f[3];
    o.rate[1] = (int32_t)f[4];
    const tsr_status status = check((int32_t)f[1], (int32_t)f[2], &o, &units);
    if (status != TSR_OK || f[5] > MOST_ERROR)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: its header contradicts the format: %u x %u samples, %u / %u frames a second, errors up to %u units, scale %g",
                 r->chunks.name, f[1], f[2], f[3], f[4], f[5], o.scale);
    r->info.width = (int32_t)f[1];
    r->info.height = (int32_t)f[2];
    memcpy(r->info.rate, o.rate, sizeof o.rate);
    r->info.scale = o.scale;
    r->info.largest_error = (double)f[5] * o.scale;
    TSR_TRY(tsr_depth_coder_create(r->info.width, r->info.height, 2 * f[5] + 1, 0, &r->coder));
    return TSR_OK;
}

/* Frames are numbered from 0; after damage some of them may be missing. */
static tsr_status count_frames(tsr_depth_film_reader *r)
{
    int64_t there = 0;
    for (int64_t k = 0; k < r->chunks.entries; k++) {
        const tsr_chunk *e = r->chunks.entry + k;
        if (e->type != FRAME) continue;
        r->info.frames = tsr_max64(r->info.frames, (int64_t)e->index + 1);
        there += r->chunks.partial ? tsr_chunk_file_good(&r->chunks, e) : 1;
    }
    r->info.damaged = r->info.frames - there + !r->chunks.complete;
    r->info.bytes = r->chunks.size;
    if (!r->chunks.partial && r->info.damaged)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld of %lld frames are missing", r->chunks.name, (long long)r->info.damaged, (long long)r->info.frames);
    return TSR_OK;
}

tsr_status tsr_depth_film_reader_of(tsr_input *input, int partial, tsr_depth_film_reader **reader)
{
    tsr_status status;
    *reader = NULL;
    tsr_depth_film_reader *r = (tsr_depth_film_reader *)calloc(1, sizeof *r);
    if (!r) {
        tsr_input_close(&input);
        TSR_FAIL(TSR_ERROR_MEMORY, "out of memory");
    }
    r->input = input;
    r->info = (tsr_depth_film_info)TSR_DEPTH_FILM_INFO;
    TSR_TRY_GOTO(tsr_chunk_file_open_reader(&r->chunks, &kind, input, partial), fail);
    TSR_TRY_GOTO(read_head(r), fail);
    TSR_TRY_GOTO(count_frames(r), fail);
    *reader = r;
    return TSR_OK;
fail:
    tsr_depth_film_reader_destroy(&r);
    return status;
}

tsr_status tsr_depth_film_reader_create(const char *path, int partial, tsr_depth_film_reader **reader)
{
    TSR_RETURNS(reader);
    TSR_NEEDS(path);
    tsr_input *input;
    TSR_TRY(tsr_input_open(path, NULL, &input));
    TSR_TRY(tsr_depth_film_reader_of(input, partial, reader));
    return TSR_OK;
}

void tsr_depth_film_reader_destroy(tsr_depth_film_reader **reader)
{
    tsr_depth_film_reader *r = reader ? *reader : NULL;
    if (!r) return;
    tsr_chunk_file_close_reader(&r->chunks);
    tsr_depth_coder_destroy(&r->coder);
    tsr_input_close(&r->input);
    free(r);
    *reader = NULL;
}

tsr_status tsr_depth_film_reader_info(const tsr_depth_film_reader *reader, tsr_depth_film_info *info)
{
    TSR_NEEDS(reader, info);
    return TSR_STRUCT_GIVE(info, &reader->info);
}

tsr_status tsr_depth_film_reader_frame(tsr_depth_film_reader *reader, int64_t frame, uint16_t *samples)
{
    TSR_NEEDS(reader, samples);
    const tsr_chunk_reader *c = &reader->chunks;
    const uint8_t *bytes, *tables;
    int64_t size, tables_size, number;
    if (frame < 0 || frame >= reader->info.frames)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: frame %lld, expected 0 to %lld", c->name, (long long)frame, (long long)reader->info.frames - 1);
    TSR_TRY(tsr_chunk_file_read(c, FRAME, frame, 0, &bytes, &size));
    if (!bytes) TSR_FAIL(TSR_ERROR_FORMAT, "%s: frame %lld is missing or damaged", c->name, (long long)frame);
    TSR_TRY(tsr_depth_frame_tables(c->name, frame, bytes, size, &number));
    TSR_TRY(tsr_chunk_file_read(c, FRAME, number, 0, &tables, &tables_size));
    if (!tables)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: frame %lld needs the tables of frame %lld, which is missing or damaged", c->name, (long long)frame,
                 (long long)number);
    TSR_TRY(tsr_depth_frame_decode(reader->coder, c->name, frame, bytes, size, tables, tables_size, samples));
    return TSR_OK;
}
