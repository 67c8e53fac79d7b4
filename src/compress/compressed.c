/* compress/compressed.c: a compressed volume that lies in the memory of a device and is decoded there. */
#include <stdlib.h>

#include "compress/codec.h"
#include "compress/coder_ops.h"
#include "compress/raw_bricks.h"
#include "wavelet/wavelet_ops.h"

enum { BATCH = 4096 /* bricks */ };

struct tsr_compressed {
    tsr_context *context;
    tsr_input *input; /* of a CPU, whose memory is that of the file; else NULL */
    char *name;
    tsr_tsc t;
    int64_t there; /* bytes of the file */
    int32_t wide;  /* some stream says coefficients of 4 bytes */
    size_t size;   /* bytes of the pieces */
    void *bytes, *token, *share;
};

enum { TOKEN_BYTES = TSR_RANS_TABLES * TSR_RANS_SLOTS, SHARE_BYTES = TSR_RANS_TABLES * TSR_RANS_TOKENS * 4 };

void tsr_compressed_destroy(tsr_compressed **compressed)
{
    if (!compressed) return;
    tsr_compressed *c = *compressed;
    if (!c) return;
    if (c->bytes) tsr_device_release(c->context, c->bytes, c->size);
    if (c->token) tsr_device_release(c->context, c->token, TOKEN_BYTES);
    if (c->share) tsr_device_release(c->context, c->share, SHARE_BYTES);
    tsr_tsc_clear(&c->t);
    if (c->input) tsr_input_close(&c->input);
    free(c->name);
    free(c);
    *compressed = NULL;
}

static tsr_status upload(tsr_compressed *c, size_t bytes, const void *host, void **device)
{
    TSR_TRY(tsr_device_allocate(c->context, bytes, device));
    TSR_TRY(tsr_device_move(c->context, *device, NULL, host, bytes));
    return TSR_OK;
}

/* The tables as the kernels look them up. */
static tsr_status upload_model(tsr_compressed *c)
{
    uint32_t share[TSR_RANS_TABLES][TSR_RANS_TOKENS];
    uint8_t *token = (uint8_t *)malloc(TOKEN_BYTES), *to = token;
    if (!token) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for tables", c->name);
    for (int k = 0; k < TSR_RANS_TABLES; k++)
        for (uint32_t i = 0, first = 0; i < TSR_RANS_TOKENS; i++) {
            const uint32_t f = c->t.model.frequency[k][i];
            share[k][i] = f | first << 16;
            memset(to, (int)i, f);
            to += f;
            first += f;
        }
    tsr_status status = upload(c, TOKEN_BYTES, token, &c->token);
    free(token);
    if (status == TSR_OK) status = upload(c, SHARE_BYTES, share, &c->share);
    TSR_TRY(status);
    return TSR_OK;
}

static tsr_status take_file(tsr_compressed *c, const char *path, const tsr_decompress_options *options)
{
    const tsr_input_options settings = { .memory_limit = options->memory_limit, .progress = &options->progress };
    const uint8_t *content;
    size_t size;
    TSR_TRY(tsr_input_open(path, &settings, &c->input));
    TSR_TRY(tsr_tsc_read(c->input, &c->t));
    TSR_TRY(tsr_input_all(c->input, &content, &size));
    c->there = (int64_t)size;
    if (c->context->device.kind == TSR_DEVICE_CPU) return TSR_OK;
    if (c->t.coder != TSR_COMPRESS_RANS || !c->context->backend->coder->decode)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: coder %s on this device, expected rans, or device cpu", path,
                 tsr_compress_coder_name((tsr_compress_coder)c->t.coder));
    for (int64_t k = 0; k < c->t.pieces; k++) {
        const tsr_tsc_piece *p = &c->t.piece[k];
        if (k % c->t.streams < c->t.resolutions && p->there && p->bytes) c->wide |= tsr_raw_is_wide(content[p->offset]);
    }
    c->size = size > (size_t)c->t.first ? size - (size_t)c->t.first : 0;
    c->size += c->size ? 0 : 1; /* an address */
    if (size > (size_t)c->t.first) TSR_TRY(upload(c, c->size, content + c->t.first, &c->bytes));
    else TSR_TRY(tsr_device_allocate(c->context, c->size, &c->bytes));
    TSR_TRY(upload_model(c));
    tsr_input_close(&c->input);
    return TSR_OK;
}

tsr_status tsr_compressed_create(tsr_context *context, const char *path, const tsr_decompress_options *options, tsr_compressed **compressed)
{
    TSR_RETURNS(compressed);
    tsr_decompress_options own;
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    if (!context || !path) TSR_FAIL(TSR_ERROR_ARGUMENT, "compressed: %s is NULL", context ? "path" : "context");
    tsr_compressed *c = (tsr_compressed *)calloc(1, sizeof *c);
    if (!c) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", path);
    c->context = context;
    c->name = strdup(path);
    if (!c->name) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "%s: out of memory", path);
    TSR_TRY_GOTO(take_file(c, path, &own), done);
done:
    if (status == TSR_OK) *compressed = c;
    else tsr_compressed_destroy(&c);
    return status;
}

/* ---- decoding ------------------------------------------------------------------------------------------------------------------------------------- */

struct decoding {
    const tsr_compressed *c;
    const tsr_decompress_options *options;
    tsr_coder_job job;
    tsr_coder_piece *piece; /* of a batch, on the host */
    int64_t bricks, batch;
    void *device[5];
    size_t room[5];
    int64_t asked, bad;
};

/* Pieces of the batch; those that the resolution does not want are empty. */
static void list_pieces(struct decoding *d)
{
    const tsr_tsc *t = &d->c->t;
    const tsr_coder_job *j = &d->job;
    const int64_t nx = j->grid[1][0] - j->grid[0][0], ny = j->grid[1][1] - j->grid[0][1];
    for (int64_t k = 0; k < j->count; k++) {
        const int64_t n = j->first + k, x = j->grid[0][0] + n % nx, y = j->grid[0][1] + n / nx % ny, z = j->grid[0][2] + n / nx / ny;
        const int64_t brick = (z * t->bricks[1] + y) * t->bricks[0] + x;
        for (int32_t s = 0; s < t->streams; s++) {
            const int64_t number = brick * t->streams + s;
            const tsr_tsc_piece *p = &t->piece[number];
            tsr_coder_piece *to = &d->piece[k * t->streams + s];
            *to = (tsr_coder_piece){ .there = 1 };
            if (s < t->resolutions && s >= t->resolutions - j->reduce) continue;
            d->asked++;
            *to = (tsr_coder_piece){ .offset = p->there ? p->offset - t->first : 0,
                                     .bytes = p->bytes,
                                     .sum = p->sum,
                                     .there = p->there,
                                     .seed = (uint32_t)number,
                                     .seed_high = (uint32_t)(number >> 32) };
        }
    }
}

static tsr_status judge(struct decoding *d, const tsr_coder_report *report)
{
    const tsr_tsc *t = &d->c->t;
    const tsr_coder_job *j = &d->job;
    const int64_t nx = j->grid[1][0] - j->grid[0][0], ny = j->grid[1][1] - j->grid[0][1];
    const uint32_t wrong = report->wrong_stream < report->wrong_exception ? report->wrong_stream : report->wrong_exception;
    const int missing = report->bad && !d->options->partial;
    const int64_t n = j->first + (missing ? report->first_bad / (uint32_t)t->streams : wrong);
    const int64_t brick = ((j->grid[0][2] + n / nx / ny) * t->bricks[1] + j->grid[0][1] + n / nx % ny) * t->bricks[0] + j->grid[0][0] + n % nx;
    d->bad += report->bad;
    if (missing) {
        const int32_t stream = (int32_t)(report->first_bad % (uint32_t)t->streams);
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: brick %lld, stream %d, layer 0 is %s; partial takes what is there", d->c->name, (long long)brick, stream,
                 t->piece[brick * t->streams + stream].there ? "damaged" : "missing: the file is cut off");
    }
    if (wrong < UINT32_MAX)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: brick %lld: %s", d->c->name, (long long)brick,
                 wrong == report->wrong_stream ? "streams say coefficients of other sizes, expected 2 or 4 bytes, the same in all"
                                               : "the list of exceptions contradicts itself");
    return TSR_OK;
}

static tsr_status decode_batch(struct decoding *d)
{
    tsr_context *context = d->c->context;
    tsr_coder_job *j = &d->job;
    tsr_coder_report report = { 0, UINT32_MAX, UINT32_MAX, UINT32_MAX };
    list_pieces(d);
    TSR_TRY(tsr_device_move(context, d->device[0], NULL, d->piece, (size_t)(j->count * j->streams) * sizeof *d->piece));
    TSR_TRY(tsr_device_move(context, d->device[4], NULL, &report, sizeof report));
    const tsr_status status = context->backend->coder->decode(context->queue, j);
    if (status != TSR_OK) TSR_FAIL(status, "%s: %s", d->c->name, tsr_error_message());
    TSR_TRY(tsr_device_move(NULL, &report, context, d->device[4], sizeof report));
    TSR_TRY(judge(d, &report));
    return TSR_OK;
}

/* Room for a batch. */
static tsr_status take_room(struct decoding *d)
{
    const tsr_tsc *t = &d->c->t;
    tsr_coder_job *j = &d->job;
    j->coefficients = j->sums = 1;
    for (int a = 0; a < 3; a++) j->coefficients *= tsr_coder_shrink(t->edge[a], j->reduce);
    for (int32_t k = 1; k <= t->levels - j->reduce; k++) {
        int64_t low = 1;
        for (int a = 0; a < 3; a++) low *= tsr_coder_shrink(tsr_coder_shrink(t->edge[a], j->reduce), k);
        j->sums += low;
    }
    const size_t pieces = (size_t)(d->batch * t->streams);
    d->room[0] = pieces * sizeof *d->piece;
    d->room[1] = (size_t)(d->batch * j->coefficients) * sizeof *j->coefficient;
    d->room[2] = (size_t)(d->batch * j->sums) * sizeof *j->sum;
    d->room[3] = pieces;
    d->room[4] = sizeof *j->report;
    d->piece = (tsr_coder_piece *)malloc(d->room[0]);
    if (!d->piece) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for a list of pieces", d->c->name);
    for (int k = 0; k < 5; k++) TSR_TRY(tsr_device_allocate(d->c->context, d->room[k], &d->device[k]));
    j->piece = (const tsr_coder_piece *)d->device[0];
    j->coefficient = (int32_t *)d->device[1];
    j->sum = (uint32_t *)d->device[2];
    j->good = (uint8_t *)d->device[3];
    j->report = (tsr_coder_report *)d->device[4];
    return TSR_OK;
}

static void fill_job(struct decoding *d, const tsr_tsc_region *region, tsr_volume *volume)
{
    const tsr_tsc *t = &d->c->t;
    tsr_coder_job *j = &d->job;
    *j = (tsr_coder_job){ .map = tsr_tsc_code_map(t),
                          .levels = t->levels,
                          .reduce = d->options->reduce,
                          .streams = t->streams,
                          .resolutions = t->resolutions,
                          .exceptions = t->exceptions,
                          .image = t->image,
                          .partial = d->options->partial,
                          .wide = d->c->wide,
                          .out_size = { region->size.x, region->size.y, region->size.z },
                          .bytes = (const uint8_t *)d->c->bytes,
                          .token = (const uint8_t *)d->c->token,
                          .share = (const uint32_t *)d->c->share,
                          .voxels = volume->data };
    d->bricks = 1;
    for (int a = 0; a < 3; a++) {
        j->size[a] = t->size[a];
        j->edge[a] = t->edge[a];
        j->origin[a] = region->origin[a];
        j->grid[0][a] = region->grid[0][a];
        j->grid[1][a] = region->grid[1][a];
        d->bricks *= j->grid[1][a] - j->grid[0][a];
    }
    d->batch = tsr_min64(d->bricks, BATCH);
}

static tsr_status decode_on_device(struct decoding *d, const tsr_tsc_region *region, tsr_volume *volume)
{
    tsr_status status = TSR_OK;
    fill_job(d, region, volume);
    TSR_TRY_GOTO(take_room(d), done);
    for (int64_t k = 0; k < d->bricks; k += d->batch) {
        if (tsr_progress_report(&d->options->progress, (double)k / (double)d->bricks, "decompressing"))
            TSR_FAIL_GOTO(TSR_ERROR_CANCELLED, done, "cancelled during decompressing");
        d->job.first = k;
        d->job.count = tsr_min64(d->batch, d->bricks - k);
        TSR_TRY_GOTO(decode_batch(d), done);
    }
done:
    for (int k = 0; k < 5; k++)
        if (d->device[k]) tsr_device_release(d->c->context, d->device[k], d->room[k]);
    free(d->piece);
    return status;
}

tsr_status tsr_compressed_decode(const tsr_compressed *compressed, const tsr_decompress_options *options, tsr_volume **volume,
                                 tsr_compress_info *info)
{
    TSR_RETURNS(volume);
    TSR_NEEDS(compressed);
    tsr_decompress_options own;
    tsr_tsc_region region;
    struct decoding d = { .c = compressed, .options = &own };
    int64_t bytes;
    tsr_status status;
    TSR_TRY(TSR_STRUCT_BEGUN(info));
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    if (compressed->input) {
        TSR_TRY(tsr_tsc_decode(compressed->input, &compressed->t, &own, volume, info));
        return TSR_OK;
    }
    TSR_TRY(tsr_tsc_find_region(&compressed->t, &own, compressed->name, &region));
    TSR_TRY(tsr_size_bytes(region.size, tsr_dtype_size(compressed->t.dtype), compressed->name, &bytes));
    if (own.memory_limit > 0 && bytes > own.memory_limit)
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: %lld bytes of voxels, expected at most %lld (memory_limit)", compressed->name, (long long)bytes,
                 (long long)own.memory_limit);
    TSR_TRY_GOTO(tsr_tsc_create_volume(&compressed->t, compressed->context, region.size, &region.geometry, NULL, volume), done);
    TSR_TRY_GOTO(decode_on_device(&d, &region, *volume), done);
    if (info) {
        tsr_compress_info found = tsr_tsc_describe(&compressed->t);
        found.file_bytes = compressed->there;
        found.pieces = d.asked;
        found.pieces_whole = d.asked - d.bad;
        status = TSR_STRUCT_GIVE(info, &found);
    }
done:
    if (status != TSR_OK) tsr_volume_destroy(volume);
    return status;
}
