/* Zarr, read: the chunks that a box meets, each unpacked by the thread that copies its part. */
#include "formats/volumes/zarr/zarr.h"

#include "formats/volumes/chunks.h"
#include "core/parallel.h"
#include "formats/lzma.h"
#include "io/crc32c.h"
#include "io/inflate.h"
#include "io/little_endian.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef TSR_HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef TSR_HAVE_BLOSC
#include <blosc.h>
#endif

#ifdef TSR_HAVE_JANSSON

#include "formats/volumes/zarr/zarr_filters.h"

/* One thread's memory, and the file that it read last. */
typedef struct worker {
    uint8_t *plain, *turned, *wide;
    char key[800];
    tsr_zarr_value value;
    int open;
} worker;

typedef struct zarr {
    tsr_zarr_store store;
    tsr_zarr_image image;
    int64_t elements, bytes; /* of a chunk */
    worker *worker;
    int workers;
} zarr;

static const char *name_of(const zarr *z) { return tsr_input_name(z->store.input); }

static tsr_status damaged(const zarr *z, const char *key, const char *what)
{
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: chunk '%.200s': %s", name_of(z), key, what);
}

static tsr_status unpack(const zarr *z, const char *key, const uint8_t *packed, size_t size, uint8_t *to)
{
    const size_t bytes = (size_t)z->bytes;
    switch (z->image.array.codecs.pack) {
    case TSR_ZARR_GZIP:
    case TSR_ZARR_ZLIB:
        if (tsr_inflate_exactly(key, NULL, packed, size, z->image.array.codecs.pack == TSR_ZARR_GZIP ? TSR_WRAPPER_GZIP : TSR_WRAPPER_ZLIB, 0, to,
                                bytes, "a chunk") != TSR_OK)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: chunk %.300s", name_of(z), tsr_error_message());
        return TSR_OK;
    case TSR_ZARR_ZSTD: {
#ifdef TSR_HAVE_ZSTD
        const size_t got = ZSTD_decompress(to, bytes, packed, size);
        if (ZSTD_isError(got)) return damaged(z, key, ZSTD_getErrorName(got));
        if (got != bytes) return damaged(z, key, "unpacks to fewer bytes than the chunk has");
#endif
        return TSR_OK;
    }
    case TSR_ZARR_BLOSC: {
#ifdef TSR_HAVE_BLOSC
        size_t said = 0;
        if (blosc_cbuffer_validate(packed, size, &said) < 0 || said != bytes) return damaged(z, key, "is no blosc buffer of the chunk's size");
        if (blosc_decompress_ctx(packed, to, bytes, 1) != (int)bytes) return damaged(z, key, "cannot be unpacked by blosc");
#endif
        return TSR_OK;
    }
    case TSR_ZARR_LZ4: return tsr_zarr_unpack_lz4(packed, size, to, bytes) ? TSR_OK : damaged(z, key, "is no LZ4 block of the chunk's size");
    case TSR_ZARR_LZMA: return tsr_lzma_unpack(packed, size, to, bytes) ? TSR_OK : damaged(z, key, "cannot be unpacked by LZMA to the chunk's size");
    default:
        if (size != bytes) TSR_FAIL(TSR_ERROR_FORMAT, "%s: chunk '%.200s' has %zu bytes, expected %zu", name_of(z), key, size, bytes);
        memcpy(to, packed, bytes);
        return TSR_OK;
    }
}

/* A chunk's bytes become elements of the volume's type, in the worker's memory. */
static tsr_status decode(const zarr *z, worker *w, const char *key, const uint8_t *packed, size_t size, const uint8_t **elements)
{
    const tsr_zarr_array *a = &z->image.array;
    uint8_t *bytes = w->plain;
    if (a->codecs.checked) {
        if (size < 4 || tsr_crc32c(packed, size - 4) != tsr_get_u32(packed + size - 4)) return damaged(z, key, "its checksum is another one");
        size -= 4;
    }
    TSR_TRY(unpack(z, key, packed, size, bytes));
    if (a->codecs.shuffle) {
        tsr_bytes_unshuffle(bytes, (size_t)z->bytes, (size_t)a->codecs.shuffle, w->turned);
        bytes = w->turned;
    }
    if (a->codecs.swap) tsr_swap_elements(bytes, z->elements, (size_t)a->element);
    if (a->codecs.delta) tsr_zarr_sum(bytes, z->elements, a->dtype);
    *elements = bytes;
    if (a->dtype == TSR_F32 && a->element == 2) {
        for (int64_t i = 0; i < z->elements; i++) {
            uint16_t half;
            memcpy(&half, bytes + 2 * i, 2);
            const float value = tsr_stored_half(half);
            memcpy(w->wide + 4 * i, &value, 4);
        }
        *elements = w->wide;
    }
    return TSR_OK;
}

static void key_of(const zarr *z, const int64_t *index, char *key, size_t room)
{
    const tsr_zarr_array *a = &z->image.array;
    size_t used = (size_t)snprintf(key, room, "%.500s%s%s", z->image.path, *z->image.path ? "/" : "", a->prefixed ? "c" : "");
    for (int k = 0; k < a->axes; k++)
        used += (size_t)snprintf(key + used, room - used, "%.*s%lld", k || a->prefixed ? 1 : 0, &a->separator, (long long)(index[k] / a->shard[k]));
}

/* The packed bytes of a chunk, out of the file or shard; *size 0 and *packed NULL: there is none. */
static tsr_status find_chunk(const zarr *z, worker *w, const int64_t *index, const uint8_t **packed, size_t *size)
{
    const tsr_zarr_array *a = &z->image.array;
    char key[sizeof w->key];
    *packed = NULL;
    *size = 0;
    key_of(z, index, key, sizeof key);
    if (!w->open || strcmp(key, w->key)) {
        if (w->open) tsr_zarr_value_free(&w->value);
        w->open = 0;
        TSR_TRY(tsr_zarr_get(&z->store, key, INT64_MAX, &w->value));
        memcpy(w->key, key, sizeof key);
        w->open = 1;
    }
    if (!w->value.bytes) return TSR_OK;
    *packed = w->value.bytes;
    *size = w->value.size;
    if (!a->sharded) return TSR_OK;
    int64_t count = 1, at = 0;
    for (int k = 0; k < a->axes; k++) {
        at = at * a->shard[k] + index[k] % a->shard[k];
        if (__builtin_mul_overflow(count, a->shard[k], &count) || count > (int64_t)1 << 40) return damaged(z, key, "its index is too large");
    }
    const size_t table = (size_t)(16 * count), whole = table + (a->index_checked ? 4 : 0);
    if (w->value.size < whole) return damaged(z, key, "is shorter than its index");
    const uint8_t *first = w->value.bytes + (a->index_first ? 0 : w->value.size - whole);
    const uint64_t offset = tsr_get_u64(first + 16 * at), bytes = tsr_get_u64(first + 16 * at + 8);
    *packed = NULL;
    *size = 0;
    if (offset == UINT64_MAX && bytes == UINT64_MAX) return TSR_OK;
    if (offset > w->value.size || bytes > w->value.size - offset) return damaged(z, key, "its index leads beyond its end");
    *packed = w->value.bytes + offset;
    *size = (size_t)bytes;
    return TSR_OK;
}

typedef struct job {
    zarr *z;
    const int64_t *start, *count, *stride;
    uint8_t *to;
    int64_t first[TSR_STORED_AXES], along[TSR_STORED_AXES], offset, chunks; /* chunks that the box meets */
    int failed;
    tsr_status status;
    char message[600];
} job;

static tsr_status read_chunk(const job *j, worker *w, int64_t number)
{
    zarr *z = j->z;
    const tsr_zarr_array *a = &z->image.array;
    const size_t element = tsr_dtype_size(a->dtype);
    int64_t index[TSR_STORED_AXES], from[TSR_STORED_AXES], n[TSR_STORED_AXES];
    const uint8_t *packed, *source = NULL;
    size_t size;
    uint8_t *to = j->to;
    int64_t below = (int64_t)element;
    for (int k = a->axes - 1; k >= 0; k--) {
        index[k] = j->first[k] + number % j->along[k];
        number /= j->along[k];
    }
    for (int k = a->axes - 1; k >= 0; k--) { /* strides within the chunk, whose axes lie in an order of their own */
        from[a->codecs.order[k]] = below;
        below *= a->chunk[a->codecs.order[k]];
    }
    int64_t skip = 0;
    for (int k = 0; k < a->axes; k++) {
        const int64_t begin = tsr_max64(index[k] * a->chunk[k], j->start[k]),
                      end = tsr_min64((index[k] + 1) * a->chunk[k], j->start[k] + j->count[k]);
        n[k] = end - begin;
        skip += (begin - index[k] * a->chunk[k]) * from[k];
        to += (begin - j->start[k]) * j->stride[k];
    }
    TSR_TRY(find_chunk(z, w, index, &packed, &size));
    if (packed) TSR_TRY(decode(z, w, w->key, packed, size, &source));
    else { /* one voxel for all */
        for (int k = 0; k < a->axes; k++) from[k] = 0;
        source = a->fill;
        skip = 0;
    }
    tsr_stored_copy(a->axes, n, source + skip, from, to, j->stride, element);
    return TSR_OK;
}

static void read_range(void *user, int64_t begin, int64_t end, int number)
{
    job *j = (job *)user;
    zarr *z = j->z;
    worker *w = &z->worker[number];
    const int wide = z->image.array.element == 2 && z->image.array.dtype == TSR_F32;
    tsr_status status = TSR_OK;
    if (!w->plain) {
        w->plain = (uint8_t *)malloc((size_t)z->bytes);
        w->turned = z->image.array.codecs.shuffle ? (uint8_t *)malloc((size_t)z->bytes) : NULL;
        w->wide = wide ? (uint8_t *)malloc((size_t)z->elements * 4) : NULL;
        if (!w->plain || (z->image.array.codecs.shuffle && !w->turned) || (wide && !w->wide))
            status = TSR_FAILED(TSR_ERROR_MEMORY, "%s: out of memory for a chunk of %lld bytes", name_of(z), (long long)z->bytes);
    }
    for (int64_t k = begin; k < end && status == TSR_OK && !__atomic_load_n(&j->failed, __ATOMIC_RELAXED); k++)
        status = read_chunk(j, w, j->offset + k);
    if (status != TSR_OK && !__atomic_exchange_n(&j->failed, 1, __ATOMIC_ACQ_REL)) {
        j->status = status;
        snprintf(j->message, sizeof j->message, "%s", tsr_error_message());
    }
}

static tsr_status read_array(void *user, const int64_t *start, const int64_t *count, const int64_t *stride, uint8_t *to)
{
    enum { TOGETHER = 256 };
    zarr *z = (zarr *)user;
    const tsr_zarr_array *a = &z->image.array;
    job j = { .z = z, .start = start, .count = count, .stride = stride, .to = to, .chunks = 1 };
    for (int k = 0; k < a->axes; k++) {
        j.first[k] = start[k] / a->chunk[k];
        j.along[k] = (start[k] + count[k] - 1) / a->chunk[k] - j.first[k] + 1;
        j.chunks *= j.along[k]; /* no more than voxels of the box */
    }
    for (; j.offset < j.chunks && !j.failed; j.offset += TOGETHER) {
        tsr_parallel(z->workers, tsr_min64(TOGETHER, j.chunks - j.offset), 1, read_range, &j);
        TSR_PROGRESS(tsr_input_settings(z->store.input)->progress, (double)tsr_min64(j.offset + TOGETHER, j.chunks) / (double)j.chunks, "reading");
    }
    if (j.failed) TSR_FAIL(j.status, "%s", j.message);
    return TSR_OK;
}

static void zarr_close(void *user)
{
    zarr *z = (zarr *)user;
    for (int i = 0; i < z->workers && z->worker; i++) {
        if (z->worker[i].open) tsr_zarr_value_free(&z->worker[i].value);
        free(z->worker[i].plain);
        free(z->worker[i].turned);
        free(z->worker[i].wide);
    }
    free(z->worker);
    tsr_volume_destroy(&z->image.holder);
    tsr_zarr_store_close(&z->store);
    free(z);
}

/* Before memory is taken for chunks, one a thread: are they of a size that may be? */
static tsr_status check_chunk(zarr *z)
{
    const tsr_zarr_array *a = &z->image.array;
    const tsr_input_options *o = tsr_input_settings(z->store.input);
    const int64_t most =
        o->memory_limit && !o->place ? o->memory_limit : tsr_physical_memory(); /* in pieces: what is packed together must be there */
    int good = 1;
    z->elements = 1;
    for (int k = 0; k < a->axes; k++) good &= !__builtin_mul_overflow(z->elements, a->chunk[k], &z->elements);
    good = good && !__builtin_mul_overflow(z->elements, (int64_t)tsr_dtype_size(a->dtype), &z->bytes) && z->bytes <= most;
    if (!good)
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: Zarr: the chunks of array '/%s' are larger than the memory limit of %lld bytes", name_of(z), z->image.path,
                 (long long)most);
    z->bytes = z->elements * a->element;
    z->workers = tsr_parallel_default_threads();
    while (z->workers > 1 && z->bytes > most / 4 / z->workers) z->workers--;
    z->worker = (worker *)calloc((size_t)z->workers, sizeof *z->worker);
    if (!z->worker) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", name_of(z));
    return TSR_OK;
}

static tsr_status build(zarr *z, tsr_input *input, const tsr_read_options *options, tsr_stored *a)
{
    TSR_TRY(tsr_zarr_store_open(input, &z->store));
    TSR_TRY(tsr_zarr_choose(&z->store, options, &z->image));
    TSR_TRY(check_chunk(z));
    const tsr_zarr_array *from = &z->image.array;
    *a = (tsr_stored){ .axes = from->axes, .dtype = from->dtype, .field = "the Zarr array", .user = z, .read = read_array, .close = zarr_close };
    memcpy(a->size, from->size, sizeof a->size);
    memcpy(a->chunk, from->chunk, sizeof a->chunk);
    if (z->image.has_roles) {
        memcpy(a->role, z->image.role, sizeof a->role);
        return TSR_OK;
    }
    TSR_TRY(tsr_stored_guess(a, input, "the Zarr array", options));
    return TSR_OK;
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    tsr_stored array;
    *volume = NULL;
    zarr *z = (zarr *)calloc(1, sizeof *z);
    if (!z) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(input));
    tsr_status status = build(z, input, options, &array);
    if (status != TSR_OK) {
        zarr_close(z);
        return status;
    }
    tsr_volume *holder = z->image.holder;
    z->image.holder = NULL;
    status = tsr_stored_volume(&array, input, options, &holder->geometry, volume);
    if (status == TSR_OK) status = tsr_volume_take_header(*volume, holder);
    tsr_volume_destroy(&holder);
    if (status != TSR_OK) tsr_volume_destroy(volume);
    TSR_TRY(status);
    return TSR_OK;
}

static tsr_status list(tsr_input *input, const tsr_read_options *options, tsr_contents *contents)
{
    tsr_zarr_store store;
    TSR_TRY(tsr_zarr_store_open(input, &store));
    const tsr_status status = tsr_zarr_contents(&store, options, contents);
    tsr_zarr_store_close(&store);
    TSR_TRY(status);
    return TSR_OK;
}

#else

static tsr_status left_out(const char *name)
{
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: is a Zarr hierarchy, which this build neither reads nor writes: it has no jansson; package libjansson-dev",
             name);
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    (void)options;
    *volume = NULL;
    return left_out(tsr_input_name(input));
}

static tsr_status list(tsr_input *input, const tsr_read_options *options, tsr_contents *contents)
{
    (void)options, (void)contents;
    return left_out(tsr_input_name(input));
}

tsr_status tsr_zarr_write(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    (void)volume, (void)options;
    return left_out(path);
}

#endif

static int holds(const uint8_t *head, size_t bytes, const char *text)
{
    const size_t n = strlen(text);
    for (size_t i = 0; i + n <= bytes; i++)
        if (head[i] == (uint8_t)text[0] && !memcmp(head + i, text, n)) return 1;
    return 0;
}

/* A file of metadata, as a folder is opened by (io/input.c), or an archive whose first members are of Zarr. */
static int recognise(const tsr_signature *s)
{
    const size_t n = s->head_bytes;
    size_t at = 0;
    if (n >= 4 && !memcmp(s->head, "PK\3\4", 4))
        return holds(s->head, n, ".zgroup") || holds(s->head, n, ".zarray") || holds(s->head, n, ".zattrs") || holds(s->head, n, "zarr.json")
                   ? TSR_SURELY_MINE
                   : TSR_NOT_MINE;
    while (at < n && strchr(" \t\r\n", s->head[at]) && s->head[at]) at++;
    if (at == n || s->head[at] != '{') return TSR_NOT_MINE;
    if (holds(s->head, n, "\"zarr_format\"")) return TSR_SURELY_MINE;
    return holds(s->head, n, "\"multiscales\"") || (holds(s->head, n, "\"node_type\"") && holds(s->head, n, "\"attributes\"")) ? TSR_SURELY_MINE
                                                                                                                               : TSR_NOT_MINE;
}

const tsr_format tsr_format_zarr = { .name = "zarr",
                                     .kind = TSR_FILE_VOLUME,
                                     .extensions = { ".zarr", ".ome.zarr", ".zarr.zip" },
                                     .recognise = recognise,
                                     .keeps_metadata = 1,
                                     .stacks = 1,
                                     .units = TSR_UNITS_ANY,
                                     .boxes = 1,
                                     .datasets = 1,
                                     .series = 1,
                                     .levels = 1,
                                     .read_volume = read_volume,
                                     .write_volume = tsr_zarr_write,
                                     .list = list };
