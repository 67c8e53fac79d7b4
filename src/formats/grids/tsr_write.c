/* formats/grids/tsr_write.c: a tile list into a .tsr file. Chunks are packed by several threads and written in order. */
#include <stdio.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "formats/grids/tsr.h"
#include "formats/grids/tsr_codec_isa.h"
#include "io/xxh64.h"

struct writer {
    const tsr_tiles *tiles;
    const tsr_tiles_write_options *options;
    const char *path;
    tsr_output *out;
    tsr_tiles_parts parts;
    tsr_tiles_info info;
    int32_t edge, voxels, threads, codec, level;
    size_t value_bytes; /* 2 or 4 */
    /* One batch of chunks: `batch` slots with their buffers. */
    int32_t batch;
    float *copies;           /* [batch][chunk tiles][voxels], where the host cannot read the list */
    const float **pointers;  /* [batch][chunk tiles] */
    uint8_t *plain, *stored; /* [batch][plain_room], [batch][stored_room] */
    uint32_t *scratch;       /* [threads][chunk voxels + TSR_SPLIT_BEYOND] */
    int64_t plain_room, stored_room;
    tsr_chunk *chunk; /* [batch] */
    const tsr_tiles_channel *channel;
    int kind;
};

/* ---- header ------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status check_options(struct writer *w)
{
    const tsr_tiles_write_options *o = w->options;
    if (o->values != TSR_TILES_F32 && o->values != TSR_TILES_Q16)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: values is %d, expected F32 or Q16", w->path, (int)o->values);
    if (o->meta_count < 0 || (o->meta_count && !o->meta) || o->channel_count < 0 || o->channel_count > TSR_MOST_CHANNELS ||
        (o->channel_count && !o->channels))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %d metadata and %d channels, expected 0 or more and 0 to %d with their arrays", w->path, o->meta_count,
                 o->channel_count, (int)TSR_MOST_CHANNELS);
    for (int32_t i = 0; i < o->meta_count; i++) {
        const tsr_tiles_meta *m = &o->meta[i];
        if (!m->key || !*m->key || !m->value || strlen(m->key) > TSR_MOST_META || strlen(m->value) > TSR_MOST_META)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: metadata %d: expected a key and a value of at most %d bytes", w->path, i, (int)TSR_MOST_META);
    }
    for (int32_t i = 0; i < o->channel_count; i++) {
        const tsr_tiles_channel *c = &o->channels[i];
        if (!c->name || !*c->name || strlen(c->name) > 255 || tsr_dtype_size(c->dtype) == 0 || c->elements < 1 || c->elements > TSR_MOST_ELEMENTS ||
            (!c->data && w->parts.count))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: channel %d: expected a name of 1 to 255 bytes, a type, 1 to %d elements and data", w->path, i,
                     (int)TSR_MOST_ELEMENTS);
    }
    return TSR_OK;
}

/* Metadata and the channel table, one after the other; size in *bytes. */
static tsr_status extras(const struct writer *w, uint8_t **block, size_t *bytes)
{
    const tsr_tiles_write_options *o = w->options;
    size_t size = 0;
    for (int32_t i = 0; i < o->meta_count; i++) size += 8 + strlen(o->meta[i].key) + strlen(o->meta[i].value);
    for (int32_t i = 0; i < o->channel_count; i++) size += 12 + strlen(o->channels[i].name);
    if (size > UINT32_MAX) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %zu bytes of metadata, expected at most %u", w->path, size, UINT32_MAX);
    *bytes = size;
    uint8_t *p = *block = (uint8_t *)malloc(size + 1);
    if (!p) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %zu bytes of metadata", w->path, size);
    for (int32_t i = 0; i < o->meta_count; i++) {
        size_t k = strlen(o->meta[i].key), v = strlen(o->meta[i].value);
        tsr_put_u32(p, (uint32_t)k);
        tsr_put_u32(p + 4, (uint32_t)v);
        memcpy(p + 8, o->meta[i].key, k);
        memcpy(p + 8 + k, o->meta[i].value, v);
        p += 8 + k + v;
    }
    for (int32_t i = 0; i < o->channel_count; i++) {
        size_t n = strlen(o->channels[i].name);
        tsr_put_u32(p, (uint32_t)o->channels[i].dtype);
        tsr_put_u32(p + 4, (uint32_t)o->channels[i].elements);
        tsr_put_u32(p + 8, (uint32_t)n);
        memcpy(p + 12, o->channels[i].name, n);
        p += 12 + n;
    }
    return TSR_OK;
}

static int64_t chunks_of(int64_t tiles, int64_t each) { return (tiles + each - 1) / each; }

/* Where the values of a raw file begin: after header, extras, keys and sums, at a page. Keys are stored plain in a raw file, so this is known. */
static int64_t raw_offset(const struct writer *w, size_t extra_bytes)
{
    int64_t keys = chunks_of(w->parts.count, TSR_KEY_TILES) * TSR_CHUNK_HEADER + 12 * w->parts.count;
    int64_t sums = TSR_CHUNK_HEADER + 8 * chunks_of(w->parts.count, tsr_chunk_tiles(w->edge));
    return tsr_ceil_div(TSR_FILE_HEADER + (int64_t)extra_bytes + keys + sums, TSR_PAGE) * TSR_PAGE;
}

static tsr_status write_header(struct writer *w)
{
    uint8_t h[TSR_FILE_HEADER] = { 0 }, *block = NULL;
    size_t bytes = 0;
    const tsr_tile_pool *pool = &w->tiles->pool;
    TSR_TRY(extras(w, &block, &bytes));
    memcpy(h, TSR_FILE_MAGIC, 8);
    tsr_put_u16(h + TSR_AT_MAJOR, TSR_FILE_MAJOR);
    tsr_put_u16(h + TSR_AT_MINOR, TSR_FILE_MINOR);
    tsr_put_u32(h + TSR_AT_HEADER, TSR_FILE_HEADER);
    tsr_put_u32(h + TSR_AT_EDGE, (uint32_t)w->edge);
    tsr_put_u32(h + TSR_AT_FLAGS,
                (uint32_t)((pool->bounded ? TSR_FLAG_BOUNDED : 0) | (pool->table ? TSR_FLAG_PAGED : 0) | (w->options->raw ? TSR_FLAG_RAW : 0)));
    tsr_put_u32(h + TSR_AT_VALUES, (uint32_t)w->options->values);
    tsr_put_u32(h + TSR_AT_BACKGROUND, (uint32_t)w->parts.state.background);
    tsr_put_f64(h + TSR_AT_BAND, (double)pool->band);
    for (int k = 0; k < 3; k++) tsr_put_u64(h + TSR_AT_DOMAIN + 8 * k, pool->bounded ? (uint64_t)pool->domain[k] : 0);
    for (int k = 0; k < 12; k++) tsr_put_f64(h + TSR_AT_AFFINE + 8 * k, w->tiles->geometry.affine[k / 4][k % 4]);
    tsr_put_u32(h + TSR_AT_SPACE, (uint32_t)w->tiles->geometry.space);
    tsr_put_u32(h + TSR_AT_CHANNELS, (uint32_t)w->options->channel_count);
    tsr_put_u64(h + TSR_AT_COUNT, (uint64_t)w->parts.count);
    tsr_put_u64(h + TSR_AT_INSIDE_ABSENT, (uint64_t)w->parts.state.inside_absent);
    tsr_put_u64(h + TSR_AT_ACTIVE, (uint64_t)w->parts.state.active_voxels);
    tsr_put_u32(h + TSR_AT_META_COUNT, (uint32_t)w->options->meta_count);
    tsr_put_u32(h + TSR_AT_META_BYTES, (uint32_t)bytes);
    tsr_put_u64(h + TSR_AT_VALUES_OFFSET, w->options->raw ? (uint64_t)raw_offset(w, bytes) : 0);
    tsr_put_u32(h + TSR_AT_CODEC, (uint32_t)w->codec);
    tsr_put_u32(h + TSR_AT_CHUNK_TILES, (uint32_t)tsr_chunk_tiles(w->edge));
    uint64_t sum = tsr_xxh64(block, bytes, tsr_xxh64(h, TSR_AT_SUM, 0));
    tsr_put_u64(h + TSR_AT_SUM, sum);
    tsr_output_write(w->out, h, sizeof h);
    tsr_status status = tsr_output_write(w->out, block, bytes);
    free(block);
    return status;
}

/* ---- chunks ------------------------------------------------------------------------------------------------------------------------------- */

static void pack_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct writer *w = (struct writer *)user;
    const int32_t tiles = tsr_chunk_tiles(w->edge);
    for (int64_t i = begin; i < end; i++) {
        tsr_chunk *c = &w->chunk[i];
        uint8_t *plain = w->plain + i * w->plain_room;
        if (w->kind == TSR_CHUNK_KEYS)
            tsr_plain_keys(w->parts.keys + c->first, w->parts.inside + c->first, c->tiles, c->first ? w->parts.keys[c->first - 1] : 0, plain);
        else if (w->kind == TSR_CHUNK_VALUES)
            c->plain = tsr_plain_values(w->pointers + i * tiles, c->tiles, w->edge, w->tiles->pool.band, w->options->values,
                                        w->scratch + (int64_t)worker * ((int64_t)tiles * w->voxels + TSR_SPLIT_BEYOND), plain);
        c->codec = w->codec;
        c->bytes = w->stored + i * w->stored_room;
        c->stored = tsr_pack(&c->codec, w->level, plain, c->plain, w->stored + i * w->stored_room, w->stored_room);
    }
}

static tsr_status write_chunk(struct writer *w, const tsr_chunk *c)
{
    uint8_t header[TSR_CHUNK_HEADER];
    tsr_chunk_header(c, header);
    tsr_output_write(w->out, header, sizeof header);
    return tsr_output_write(w->out, c->bytes, (size_t)c->stored);
}

static void free_batch(struct writer *w)
{
    free(w->copies);
    free(w->pointers);
    free(w->plain);
    free(w->stored);
    free(w->scratch);
    free(w->chunk);
    w->copies = NULL;
    w->pointers = NULL;
    w->plain = w->stored = NULL;
    w->scratch = NULL;
    w->chunk = NULL;
}

static tsr_status make_batch(struct writer *w, int64_t plain_room, int64_t chunks, int with_values)
{
    const size_t tiles = (size_t)tsr_chunk_tiles(w->edge), voxels = tiles * (size_t)w->voxels;
    w->batch = (int32_t)tsr_min64(tsr_max64(chunks, 1), w->threads > 1 ? 4 * (int64_t)w->threads : 1);
    const size_t n = (size_t)w->batch;
    w->plain_room = plain_room;
    w->stored_room = tsr_max64(tsr_pack_bound(w->codec, plain_room), 1);
    w->plain = (uint8_t *)malloc(n * (size_t)plain_room + 1);
    w->stored = (uint8_t *)malloc(n * (size_t)w->stored_room);
    w->chunk = (tsr_chunk *)calloc(n, sizeof *w->chunk);
    int bad = !w->plain || !w->stored || !w->chunk;
    if (with_values) {
        w->pointers = (const float **)malloc(n * tiles * sizeof *w->pointers);
        w->scratch = (uint32_t *)malloc((size_t)w->threads * (voxels + TSR_SPLIT_BEYOND) * sizeof *w->scratch);
        if (!tsr_tiles_host_readable(w->tiles)) w->copies = (float *)malloc(n * voxels * sizeof *w->copies);
        bad |= !w->pointers || !w->scratch || (!tsr_tiles_host_readable(w->tiles) && !w->copies);
    }
    if (bad) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory to pack the tiles", w->path);
    return TSR_OK;
}

/* Chunks of one kind for all tiles, `each` tiles long. */
static tsr_status write_chunks(struct writer *w, int kind, int32_t channel, int64_t each)
{
    const int64_t count = w->parts.count, chunks = chunks_of(count, each);
    const int32_t tiles = tsr_chunk_tiles(w->edge);
    w->kind = kind;
    for (int64_t first = 0; first < chunks; first += w->batch) {
        int64_t n = tsr_min64(w->batch, chunks - first);
        for (int64_t i = 0; i < n; i++) {
            tsr_chunk *c = &w->chunk[i];
            *c = (tsr_chunk){ .kind = kind, .channel = channel, .first = (first + i) * each };
            c->tiles = (int32_t)tsr_min64(each, count - c->first);
            c->plain = 12 * (int64_t)c->tiles; /* keys; that of values comes with them */
            if (kind == TSR_CHUNK_CHANNEL) {
                const size_t bytes = tsr_dtype_size(w->channel->dtype) * (size_t)w->channel->elements;
                c->plain = c->tiles * (int64_t)bytes;
                memcpy(w->plain + i * w->plain_room, (const uint8_t *)w->channel->data + c->first * (int64_t)bytes, (size_t)c->plain);
                if (tsr_host_big_endian())
                    tsr_swap_elements(w->plain + i * w->plain_room, c->tiles * (int64_t)w->channel->elements, tsr_dtype_size(w->channel->dtype));
            }
            if (kind == TSR_CHUNK_VALUES)
                TSR_TRY(tsr_tiles_get(w->tiles, &w->parts, c->first, c->tiles, w->copies ? w->copies + i * tiles * w->voxels : NULL,
                                      w->pointers + i * tiles));
        }
        tsr_parallel(w->threads, n, 1, pack_range, w);
        for (int64_t i = 0; i < n; i++) TSR_TRY(write_chunk(w, &w->chunk[i]));
        TSR_PROGRESS(&w->options->progress, (double)(first + n) / (double)chunks, "writing tiles");
    }
    return TSR_OK;
}

/* ---- raw values ----------------------------------------------------------------------------------------------------------------------------- */

/* Values of n tiles as they lie in the file. */
static void raw_values(const struct writer *w, int64_t n, uint8_t *to)
{
    for (int64_t t = 0; t < n; t++)
        for (int32_t v = 0; v < w->voxels; v++) {
            if (w->options->values == TSR_TILES_Q16)
                tsr_put_u16(to + 2 * (t * w->voxels + v), (uint16_t)tsr_q16(w->pointers[t][v], w->tiles->pool.band));
            else tsr_put_f32(to + 4 * (t * w->voxels + v), w->pointers[t][v]);
        }
}

/* Twice over the tiles: checksums of the groups come first, so that the file can be written to a pipe and mapped without looking at all of it. */
static tsr_status write_raw(struct writer *w)
{
    const int64_t each = tsr_chunk_tiles(w->edge), count = w->parts.count, groups = chunks_of(count, each);
    uint8_t *sums = (uint8_t *)malloc((size_t)groups * 8 + TSR_PAGE);
    if (!sums) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for the checksums of %lld groups", w->path, (long long)groups);
    tsr_status status = TSR_OK;
    for (int pass = 0; pass < 2 && status == TSR_OK; pass++) {
        for (int64_t g = 0; g < groups && status == TSR_OK; g++) {
            int64_t n = tsr_min64(each, count - g * each);
            status = tsr_tiles_get(w->tiles, &w->parts, g * each, n, w->copies, w->pointers);
            if (status != TSR_OK) break;
            raw_values(w, n, w->plain);
            size_t bytes = (size_t)n * (size_t)w->voxels * w->value_bytes;
            if (pass) status = tsr_output_write(w->out, w->plain, bytes);
            else tsr_put_u64(sums + 8 * g, tsr_xxh64(w->plain, bytes, 0));
        }
        if (pass || status != TSR_OK) break;
        tsr_chunk c = { .kind = TSR_CHUNK_SUMS, .tiles = (int32_t)groups, .stored = 8 * groups, .plain = 8 * groups, .bytes = sums };
        status = write_chunk(w, &c);
        size_t pad = (size_t)(-tsr_output_position(w->out) & (TSR_PAGE - 1));
        memset(sums + 8 * groups, 0, TSR_PAGE);
        if (status == TSR_OK) status = tsr_output_write(w->out, sums + 8 * groups, pad);
    }
    free(sums);
    return status;
}

/* ---- all -------------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status write_all(struct writer *w)
{
    const int64_t each = tsr_chunk_tiles(w->edge), groups = chunks_of(w->parts.count, each);
    const int codec = w->codec;
    TSR_TRY(write_header(w));
    if (w->options->raw) w->codec = TSR_CODEC_NONE;
    TSR_TRY(make_batch(w, 12 * tsr_min64(TSR_KEY_TILES, tsr_max64(w->parts.count, 1)), chunks_of(w->parts.count, TSR_KEY_TILES), 0));
    TSR_TRY(write_chunks(w, TSR_CHUNK_KEYS, 0, TSR_KEY_TILES));
    free_batch(w);
    TSR_TRY(
        make_batch(w, tsr_plain_bound(tsr_min64(each, tsr_max64(w->parts.count, 1)), w->edge, w->options->values), w->options->raw ? 1 : groups, 1));
    if (w->options->raw) TSR_TRY(write_raw(w));
    else TSR_TRY(write_chunks(w, TSR_CHUNK_VALUES, 0, each));
    w->codec = codec;
    for (int32_t c = 0; c < w->options->channel_count; c++) {
        w->channel = &w->options->channels[c];
        free_batch(w);
        TSR_TRY(make_batch(w, tsr_min64(each, tsr_max64(w->parts.count, 1)) * w->channel->elements * (int64_t)tsr_dtype_size(w->channel->dtype),
                           groups, 0));
        TSR_TRY(write_chunks(w, TSR_CHUNK_CHANNEL, c, each));
    }
    return TSR_OK;
}

static tsr_status write_tsr(const tsr_tiles *tiles, const char *path, const tsr_tiles_write_options *options)
{
    struct writer w = { .tiles = tiles,
                        .options = options,
                        .path = path,
                        .edge = 1 << tiles->pool.log2_edge,
                        .voxels = 1 << (3 * tiles->pool.log2_edge),
                        .threads = tiles->context->threads,
                        .value_bytes = options->values == TSR_TILES_Q16 ? 2 : 4 };
    tsr_write_options out = { .struct_size = sizeof out, .overwrite = options->overwrite, .compression = 0, .progress = options->progress };
    tsr_status status;
    w.codec = options->compression >= 0 && tsr_codec_known(TSR_CODEC_ZSTD) ? TSR_CODEC_ZSTD : TSR_CODEC_NONE;
    w.level = options->compression > 0 ? options->compression : 1;
    TSR_TRY(tsr_tiles_take_apart(tiles, &w.parts));
    TSR_TRY_GOTO(check_options(&w), fail);
    if (tiles->pool.state && w.parts.state.managed == 0)
        TSR_FAIL_GOTO(TSR_ERROR_STATE, fail, "%s: the list waits for its management; it cannot be written", path);
    TSR_TRY_GOTO(tsr_output_open(path, &out, &w.out), fail);
    status = write_all(&w);
    status = tsr_output_finish(&w.out, status);
fail:
    free_batch(&w);
    tsr_tiles_parts_free(&w.parts);
    return status;
}

static int recognise(const tsr_signature *s) { return s->head_bytes >= 8 && !memcmp(s->head, TSR_FILE_MAGIC, 8) ? TSR_SURELY_MINE : TSR_NOT_MINE; }

const tsr_format tsr_format_tsr = { .name = "tsr",
                                    .kind = TSR_FILE_TILES,
                                    .extensions = { ".tsr" },
                                    .recognise = recognise,
                                    .read_tiles = tsr_read_tsr,
                                    .describe_tiles = tsr_describe_tsr,
                                    .write_tiles = write_tsr };
