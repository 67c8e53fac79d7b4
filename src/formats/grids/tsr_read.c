/* formats/grids/tsr_read.c: a .tsr file into a tile list. The header says what to expect, a walk over the chunk headers finds out whether it is all there,
 * and only then memory is taken. Chunks are decoded by several threads, straight into the list where the host can write it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "formats/extras.h"
#include "formats/grids/tsr.h"
#include "io/xxh64.h"

struct reader {
    tsr_input *input;
    const tsr_tiles_read_options *options;
    tsr_context *context;
    const char *name;
    const uint8_t *bytes;
    int64_t size;
    tsr_tiles_file_info info;
    int32_t background, chunk_tiles, voxels, codec;
    int64_t inside_absent;
    size_t value_bytes;
    int64_t extras_at, extras_bytes;
    tsr_tiles_channel channel[TSR_MOST_CHANNELS]; /* without name and data */
    /* Found by the walk. */
    tsr_chunk *chunk;
    int64_t chunks, key_chunks, value_chunks; /* keys, then values (none if raw), then channels */
    const uint8_t *sums;                      /* raw only */
};

/* ---- header --------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status check_header(struct reader *r, const uint8_t *h, size_t size)
{
    tsr_tiles_file_info *f = &r->info;
    if (size < TSR_FILE_HEADER) TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: %zu bytes, the header has %d", r->name, size, (int)TSR_FILE_HEADER);
    if (memcmp(h, TSR_FILE_MAGIC, 8)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: does not begin with the bytes of a .tsr file", r->name);
    f->version[0] = tsr_get_u16(h + TSR_AT_MAJOR);
    f->version[1] = tsr_get_u16(h + TSR_AT_MINOR);
    if (f->version[0] != TSR_FILE_MAJOR)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: version %d.%d of the tile file, expected %d.x", r->name, f->version[0], f->version[1],
                 (int)TSR_FILE_MAJOR);
    const uint32_t header = tsr_get_u32(h + TSR_AT_HEADER), flags = tsr_get_u32(h + TSR_AT_FLAGS), values = tsr_get_u32(h + TSR_AT_VALUES);
    const uint32_t space = tsr_get_u32(h + TSR_AT_SPACE), codec = tsr_get_u32(h + TSR_AT_CODEC), channels = tsr_get_u32(h + TSR_AT_CHANNELS);
    r->background = tsr_get_i32(h + TSR_AT_BACKGROUND);
    f->edge = tsr_get_i32(h + TSR_AT_EDGE);
    f->band = tsr_get_f64(h + TSR_AT_BAND);
    f->count = tsr_get_i64(h + TSR_AT_COUNT);
    f->active_voxels = tsr_get_i64(h + TSR_AT_ACTIVE);
    r->inside_absent = tsr_get_i64(h + TSR_AT_INSIDE_ABSENT);
    f->values_offset = tsr_get_i64(h + TSR_AT_VALUES_OFFSET);
    f->meta_count = tsr_get_i32(h + TSR_AT_META_COUNT);
    r->chunk_tiles = tsr_get_i32(h + TSR_AT_CHUNK_TILES);
    r->extras_at = header;
    r->extras_bytes = tsr_get_u32(h + TSR_AT_META_BYTES);
    if (header < TSR_FILE_HEADER || header > 65536) TSR_FAIL(TSR_ERROR_FORMAT, "%s: header has %u bytes, expected 256 to 65536", r->name, header);
    if (f->edge != 4 && f->edge != 8) TSR_FAIL(TSR_ERROR_FORMAT, "%s: edge is %d, expected 4 or 8", r->name, f->edge);
    r->voxels = f->edge * f->edge * f->edge;
    if (flags & ~(uint32_t)TSR_FLAGS_KNOWN)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: flags are %#x, expected none but %#x", r->name, flags, (unsigned)TSR_FLAGS_KNOWN);
    if (values > TSR_TILES_Q16) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: values are of kind %u, expected 0 (float32) or 1 (16 bit)", r->name, values);
    if (codec > TSR_CODEC_ZSTD) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: codec is %u, expected 0 (none) or 1 (zstd)", r->name, codec);
    if (r->background < 0 || r->background > 1)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: background is %d, expected 0 (outside) or 1 (inside)", r->name, r->background);
    if (space > TSR_SPACE_LPS) TSR_FAIL(TSR_ERROR_FORMAT, "%s: space is %u, expected 0 (none), 1 (RAS) or 2 (LPS)", r->name, space);
    if (r->inside_absent < 0)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: inside voxels of absent tiles are %lld, expected 0 or more", r->name, (long long)r->inside_absent);
    if (!(f->band > 0 && (double)(float)f->band == f->band && isfinite(f->band)))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: band is %g, expected a positive float32", r->name, f->band);
    if (f->count < 0 || f->count > 1 << 29)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: count is %lld tiles, expected 0 to %d", r->name, (long long)f->count, 1 << 29);
    if (r->chunk_tiles < 1 || r->chunk_tiles > (1 << 20) / r->voxels)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: chunks have %d tiles, expected 1 to %d", r->name, r->chunk_tiles, (1 << 20) / r->voxels);
    if (channels > TSR_MOST_CHANNELS) TSR_FAIL(TSR_ERROR_FORMAT, "%s: %u channels, expected at most %d", r->name, channels, (int)TSR_MOST_CHANNELS);
    if (f->meta_count < 0 || 8 * (int64_t)f->meta_count > r->extras_bytes)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %d metadata in %lld bytes", r->name, f->meta_count, (long long)r->extras_bytes);
    for (int k = 0; k < 12; k++) f->geometry.affine[k / 4][k % 4] = tsr_get_f64(h + TSR_AT_AFFINE + 8 * k);
    f->geometry.space = (tsr_space)space;
    int64_t extents[3];
    for (int k = 0; k < 3; k++) {
        extents[k] = tsr_get_i64(h + TSR_AT_DOMAIN + 8 * k);
        if (flags & TSR_FLAG_BOUNDED ? extents[k] <= 0 || extents[k] > INT32_MAX / 2 : extents[k] != 0)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: domain has %lld voxels along %c, expected %s", r->name, (long long)extents[k], "xyz"[k],
                     flags & TSR_FLAG_BOUNDED ? "1 to 1073741823" : "0 as it is unbounded");
    }
    f->domain = (tsr_size3){ extents[0], extents[1], extents[2] };
    if (flags & TSR_FLAG_PAGED && !(flags & TSR_FLAG_BOUNDED)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: paged without a domain", r->name);
    if (flags & TSR_FLAG_RAW ? f->values_offset < TSR_FILE_HEADER || f->values_offset % TSR_PAGE : f->values_offset != 0)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: values begin at byte %lld, expected %s", r->name, (long long)f->values_offset,
                 flags & TSR_FLAG_RAW ? "a multiple of 4096" : "0 as they are not raw");
    f->paged = (flags & TSR_FLAG_PAGED) != 0;
    f->raw = (flags & TSR_FLAG_RAW) != 0;
    f->values = (tsr_tiles_values)values;
    f->channel_count = (int32_t)channels;
    f->codec = codec == TSR_CODEC_ZSTD && !f->raw ? "zstd" : "none";
    r->codec = (int32_t)codec;
    r->value_bytes = values == TSR_TILES_Q16 ? 2 : 4;
    tsr_status status = tsr_geometry_check(&f->geometry);
    if (status != TSR_OK) return TSR_FAILED(TSR_ERROR_FORMAT, "%s: %s", r->name, tsr_error_message());
    return TSR_OK;
}

static tsr_status read_meta(struct reader *r, const uint8_t *p, const uint8_t *end, tsr_tiles_extras *extras, const uint8_t **after)
{
    for (int32_t i = 0; i < r->info.meta_count; i++) {
        uint32_t key = end - p >= 8 ? tsr_get_u32(p) : UINT32_MAX, value = end - p >= 8 ? tsr_get_u32(p + 4) : 0;
        if (key == 0 || key > TSR_MOST_META || value > TSR_MOST_META || (int64_t)key + value + 8 > end - p)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: metadata %d has a key of %u and a value of %u bytes, %lld are left", r->name, i, key, value,
                     (long long)(end - p));
        TSR_TRY(tsr_extras_add_meta(extras, (const char *)p + 8, key, (const char *)p + 8 + key, value));
        p += 8 + key + value;
    }
    *after = p;
    return TSR_OK;
}

/* Names go to the extras, types to r->channel. */
static tsr_status read_channels(struct reader *r, const uint8_t *p, const uint8_t *end, tsr_tiles_extras *extras)
{
    for (int32_t i = 0; i < r->info.channel_count; i++) {
        const uint32_t name = end - p >= 12 ? tsr_get_u32(p + 8) : 0;
        if (name == 0 || name > 255 || (int64_t)name + 12 > end - p)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: channel %d has a name of %u bytes, %lld are left", r->name, i, name, (long long)(end - p));
        const uint32_t dtype = tsr_get_u32(p), elements = tsr_get_u32(p + 4);
        if (dtype >= TSR_DTYPE_COUNT || elements < 1 || elements > TSR_MOST_ELEMENTS)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: channel %d has %u elements of type %u, expected 1 to %d of a known type", r->name, i, elements, dtype,
                     (int)TSR_MOST_ELEMENTS);
        r->channel[i] = (tsr_tiles_channel){ NULL, (tsr_dtype)dtype, (int32_t)elements, NULL };
        TSR_TRY(tsr_extras_add_channel(extras, (const char *)p + 12, name, (tsr_dtype)dtype, (int32_t)elements, NULL));
        p += 12 + name;
    }
    if (p != end) TSR_FAIL(TSR_ERROR_FORMAT, "%s: metadata have %lld bytes more than they need", r->name, (long long)(end - p));
    return TSR_OK;
}

static tsr_status read_header(struct reader *r, tsr_tiles_extras *extras)
{
    const uint8_t *h, *after = NULL;
    size_t size;
    TSR_TRY(tsr_input_head(r->input, TSR_FILE_HEADER, &h, &size));
    TSR_TRY(check_header(r, h, size));
    const int64_t limit = r->options->memory_limit ? r->options->memory_limit : tsr_physical_memory(), all = r->extras_at + r->extras_bytes;
    if (r->extras_bytes > limit)
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: %lld bytes of metadata, the memory limit is %lld", r->name, (long long)r->extras_bytes, (long long)limit);
    TSR_TRY(tsr_input_check(r->input, r->extras_at, r->extras_bytes, "metadata"));
    TSR_TRY(tsr_input_head(r->input, (size_t)all, &h, &size));
    if ((int64_t)size < all) TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated in the metadata", r->name);
    uint64_t sum = tsr_xxh64(h, TSR_AT_SUM, 0);
    sum = tsr_xxh64(h + r->extras_at, (size_t)r->extras_bytes, sum);
    if (sum != tsr_get_u64(h + TSR_AT_SUM)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: header: checksum differs: header or metadata are damaged", r->name);
    TSR_TRY(read_meta(r, h + r->extras_at, h + all, extras, &after));
    TSR_TRY(read_channels(r, after, h + all, extras));
    return TSR_OK;
}

tsr_status tsr_describe_tsr(tsr_input *input, const tsr_tiles_read_options *options, tsr_tiles_extras *extras, tsr_tiles_file_info *info)
{
    struct reader r = { .input = input, .options = options, .name = tsr_input_name(input), .info = *info };
    TSR_TRY(read_header(&r, extras));
    *info = r.info;
    return TSR_OK;
}

/* ---- the walk over the chunks ------------------------------------------------------------------------------------------------------------- */

static const char *kind_name(int kind)
{
    static const char *const names[] = { "?", "keys", "values", "sums", "channel" };
    return kind >= 1 && kind <= 4 ? names[kind] : names[0];
}

/* Header of the chunk at `at`, which must be of this kind, begin with tile `first` and hold `tiles` of them. */
static tsr_status take_chunk(struct reader *r, int64_t *at, int kind, int32_t channel, int64_t first, int64_t tiles, int64_t least, int64_t most,
                             tsr_chunk *c)
{
    const uint8_t *h = r->bytes + *at;
    const long long where = (long long)*at;
    if (r->size - *at < TSR_CHUNK_HEADER)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: the %s chunk of tile %lld is missing at byte %lld", r->name, kind_name(kind), (long long)first,
                 where);
    *c = (tsr_chunk){ .kind = tsr_get_i32(h + TSR_AT_KIND),
                      .channel = tsr_get_i32(h + TSR_AT_CHANNEL),
                      .first = tsr_get_i64(h + TSR_AT_FIRST),
                      .tiles = tsr_get_i32(h + TSR_AT_TILES),
                      .codec = tsr_get_i32(h + TSR_AT_CHUNK_CODEC),
                      .stored = tsr_get_i64(h + TSR_AT_STORED),
                      .plain = tsr_get_i64(h + TSR_AT_PLAIN),
                      .sum = tsr_get_u64(h + TSR_AT_CHUNK_SUM) };
    if (c->kind != kind || c->channel != channel || c->first != first || c->tiles != tiles)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: chunk at byte %lld is %s of tiles %lld + %d, expected %s of tiles %lld + %lld", r->name, where,
                 kind_name(c->kind), (long long)c->first, c->tiles, kind_name(kind), (long long)first, (long long)tiles);
    if (c->codec != TSR_CODEC_NONE && c->codec != TSR_CODEC_ZSTD)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %s chunk of tile %lld: codec is %d, expected 0 or 1", r->name, kind_name(kind), (long long)first, c->codec);
    if (!tsr_codec_known(c->codec)) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: packed with zstd, which this library was built without", r->name);
    if (c->plain < least || c->plain > most)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %s chunk of tile %lld has %lld bytes, expected %lld to %lld", r->name, kind_name(kind), (long long)first,
                 (long long)c->plain, (long long)least, (long long)most);
    if (c->stored < 0 || c->stored > c->plain || c->stored > r->size - *at - TSR_CHUNK_HEADER ||
        (c->codec == TSR_CODEC_NONE && c->stored != c->plain))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: %s chunk of tile %lld takes %lld bytes at byte %lld, the file has %lld", r->name, kind_name(kind),
                 (long long)first, (long long)c->stored, where, (long long)r->size);
    c->bytes = h + TSR_CHUNK_HEADER;
    *at += TSR_CHUNK_HEADER + c->stored;
    return TSR_OK;
}

static tsr_status walk_kind(struct reader *r, int64_t *at, int kind, int32_t channel, int64_t each, int64_t least, int64_t most)
{
    for (int64_t first = 0; first < r->info.count; first += each) {
        int64_t tiles = tsr_min64(each, r->info.count - first);
        TSR_TRY(take_chunk(r, at, kind, channel, first, tiles, least * tiles, most * tiles, &r->chunk[r->chunks]));
        r->chunks++;
    }
    return TSR_OK;
}

static tsr_status walk(struct reader *r)
{
    int64_t at = r->extras_at + r->extras_bytes;
    const int64_t count = r->info.count, groups = tsr_ceil_div(count, r->chunk_tiles), masks = r->voxels / 4;
    int64_t most = tsr_ceil_div(count, TSR_KEY_TILES) + groups * (1 + r->info.channel_count);
    if (most * TSR_CHUNK_HEADER > r->size + r->info.raw * groups * TSR_CHUNK_HEADER)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: %lld tiles need %lld chunks, more than %lld bytes hold", r->name, (long long)count,
                 (long long)most, (long long)r->size);
    r->chunk = (tsr_chunk *)malloc(((size_t)most + 1) * sizeof *r->chunk);
    if (!r->chunk) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld chunks", r->name, (long long)most);
    TSR_TRY(walk_kind(r, &at, TSR_CHUNK_KEYS, 0, TSR_KEY_TILES, 12, 12));
    r->key_chunks = r->chunks;
    if (r->info.raw) {
        tsr_chunk sums;
        TSR_TRY(take_chunk(r, &at, TSR_CHUNK_SUMS, 0, 0, groups, 8 * groups, 8 * groups, &sums));
        if (sums.codec != TSR_CODEC_NONE || tsr_chunk_sum(sums.bytes - TSR_CHUNK_HEADER, sums.bytes, sums.stored) != sums.sum)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: sums chunk: checksum differs: the file is damaged", r->name);
        r->sums = sums.bytes;
        const int64_t bytes = count * r->voxels * (int64_t)r->value_bytes;
        if (r->info.values_offset < at || r->info.values_offset > r->size || bytes > r->size - r->info.values_offset)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: %lld bytes of values at byte %lld, the file has %lld", r->name, (long long)bytes,
                     (long long)r->info.values_offset, (long long)r->size);
        at = r->info.values_offset + bytes;
    } else {
        TSR_TRY(walk_kind(r, &at, TSR_CHUNK_VALUES, 0, r->chunk_tiles, masks, masks + (int64_t)r->value_bytes * r->voxels));
    }
    r->value_chunks = r->chunks - r->key_chunks;
    for (int32_t c = 0; c < r->info.channel_count; c++) {
        const int64_t bytes = r->channel[c].elements * (int64_t)tsr_dtype_size(r->channel[c].dtype);
        TSR_TRY(walk_kind(r, &at, TSR_CHUNK_CHANNEL, c, r->chunk_tiles, bytes, bytes));
    }
    if (at != r->size) TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld bytes after the last chunk", r->name, (long long)(r->size - at));
    return TSR_OK;
}

/* Everything that reading will take: list, staging, channels. */
static tsr_status check_memory(const struct reader *r)
{
    const tsr_tiles_file_info *f = &r->info;
    double table = 0, bytes = (double)f->count * (2.0 * 4 * r->voxels + TSR_NEIGHBOUR_ROW * 4 + 80) * 1.25;
    if (f->paged) table = 4.0 * ceil((double)f->domain.x / f->edge) * ceil((double)f->domain.y / f->edge) * ceil((double)f->domain.z / f->edge);
    for (int32_t c = 0; c < f->channel_count; c++) bytes += (double)f->count * r->channel[c].elements * (double)tsr_dtype_size(r->channel[c].dtype);
    const double limit = (double)(r->options->memory_limit ? r->options->memory_limit : tsr_physical_memory());
    if (bytes + table > limit)
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: %lld tiles%s need %.0f bytes, the memory limit is %.0f", r->name, (long long)f->count,
                 f->paged ? " and their page table" : "", bytes + table, limit);
    return TSR_OK;
}

/* ---- decoding ------------------------------------------------------------------------------------------------------------------------------- */

enum { FINE = 0, SUM_DIFFERS, DOES_NOT_UNPACK, WRONG_SIZE, WRONG_VALUE };

struct job {
    const struct reader *r;
    int64_t first;      /* chunk or group that index 0 of the loop means */
    int64_t first_tile; /* of the batch */
    uint64_t *keys;
    uint32_t *inside;
    float *to; /* values of first_tile and the following */
    uint8_t *channel;
    uint8_t *plain;    /* [threads][room] */
    uint32_t *scratch; /* [threads][scratch_of(r)] */
    int64_t room;
    int64_t bad; /* (chunk << 8 | reason), smallest */
};

/* Words of scratch that the values of a chunk take. */
static int64_t scratch_of(const struct reader *r) { return (int64_t)r->chunk_tiles * r->voxels + TSR_JOIN_BEYOND; }

static void report(struct job *j, int64_t chunk, int reason)
{
    int64_t mine = chunk << 8 | reason, old = __atomic_load_n(&j->bad, __ATOMIC_RELAXED);
    while (mine < old && !__atomic_compare_exchange_n(&j->bad, &old, mine, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

static tsr_status complain(const struct reader *r, const struct job *j)
{
    static const char *const reasons[] = { "", "checksum differs: the file is damaged", "does not unpack", "size does not fit its masks",
                                           "a value is not inside the band" };
    if (j->bad == INT64_MAX) return TSR_OK;
    const int64_t index = j->bad >> 8;
    if (r->info.raw && index >= r->chunks)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: raw values of tile %lld and the following: %s", r->name, (long long)((index - r->chunks) * r->chunk_tiles),
                 reasons[j->bad & 255]);
    const tsr_chunk *c = &r->chunk[index];
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: %s chunk of tiles %lld to %lld (byte %lld): %s", r->name, kind_name(c->kind), (long long)c->first,
             (long long)(c->first + c->tiles - 1), (long long)(c->bytes - r->bytes - TSR_CHUNK_HEADER), reasons[j->bad & 255]);
}

/* The plain bytes of a chunk: its own where it is not packed. NULL after a report. */
static const uint8_t *plain_of(struct job *j, int64_t index, int worker)
{
    const tsr_chunk *c = &j->r->chunk[index];
    uint8_t *room = j->plain + worker * j->room;
    if (tsr_chunk_sum(c->bytes - TSR_CHUNK_HEADER, c->bytes, c->stored) != c->sum) {
        report(j, index, SUM_DIFFERS);
        return NULL;
    }
    if (c->codec == TSR_CODEC_NONE) return c->bytes;
    if (tsr_unpack(c->codec, c->bytes, c->stored, room, c->plain)) return room;
    report(j, index, DOES_NOT_UNPACK);
    return NULL;
}

static void values_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct job *j = (struct job *)user;
    const struct reader *r = j->r;
    for (int64_t i = begin; i < end; i++) {
        const int64_t index = j->first + i;
        const tsr_chunk *c = &r->chunk[index];
        const uint8_t *plain = plain_of(j, index, worker);
        if (!plain) continue;
        float *to = j->to + (c->first - j->first_tile) * r->voxels;
        int64_t wrong = tsr_values_of_plain(plain, c->plain, c->tiles, r->info.edge, (float)r->info.band, r->info.values,
                                            j->scratch + worker * scratch_of(r), to);
        if (wrong != -1) report(j, index, wrong == -2 ? WRONG_SIZE : WRONG_VALUE);
    }
}

static void raw_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct job *j = (struct job *)user;
    const struct reader *r = j->r;
    const float band = (float)r->info.band;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const int64_t group = j->first + i, first = group * r->chunk_tiles, n = tsr_min64(r->chunk_tiles, r->info.count - first) * r->voxels;
        const uint8_t *from = r->bytes + r->info.values_offset + first * r->voxels * (int64_t)r->value_bytes;
        float *to = j->to + (first - j->first_tile) * r->voxels;
        int good = 1;
        if (tsr_xxh64(from, (size_t)n * r->value_bytes, 0) != tsr_get_u64(r->sums + 8 * group)) {
            report(j, r->chunks + group, SUM_DIFFERS);
            continue;
        }
        if (r->value_bytes == 2) {
            for (int64_t v = 0; v < n; v++) {
                const int16_t q = (int16_t)tsr_get_u16(from + 2 * v);
                to[v] = tsr_of_q16(q, band);
                good &= q != INT16_MIN;
            }
        } else {
            for (int64_t v = 0; v < n; v++) to[v] = tsr_get_f32(from + 4 * v);
            for (int64_t v = 0; v < n; v++) good &= (to[v] >= -band) & (to[v] <= band);
        }
        if (!good) report(j, r->chunks + group, WRONG_VALUE);
    }
}

static void channel_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct job *j = (struct job *)user;
    for (int64_t i = begin; i < end; i++) {
        const tsr_chunk *c = &j->r->chunk[j->first + i];
        const uint8_t *plain = plain_of(j, j->first + i, worker);
        if (plain) memcpy(j->channel + c->first * (c->plain / c->tiles), plain, (size_t)c->plain);
    }
}

static tsr_status job_begin(const struct reader *r, int64_t room, int scratch, struct job *j)
{
    const size_t threads = (size_t)r->context->threads;
    j->r = r;
    j->bad = INT64_MAX;
    j->room = room;
    j->plain = (uint8_t *)malloc(threads * (size_t)room + 1);
    j->scratch = scratch ? (uint32_t *)malloc(threads * (size_t)scratch_of(r) * sizeof *j->scratch) : NULL;
    if (!j->plain || (scratch && !j->scratch)) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory to unpack", r->name);
    return TSR_OK;
}
static void job_end(struct job *j)
{
    free(j->plain);
    free(j->scratch);
}

/* Keys depend on the last key of the chunk before, so chunk after chunk. */
static tsr_status read_keys(const struct reader *r, uint64_t *keys, uint32_t *inside)
{
    struct job j = { .keys = keys, .inside = inside };
    tsr_status status = job_begin(r, 12 * (int64_t)tsr_min64(TSR_KEY_TILES, tsr_max64(r->info.count, 1)), 0, &j);
    for (int64_t i = 0; i < r->key_chunks && status == TSR_OK; i++) {
        const uint8_t *plain = plain_of(&j, i, 0);
        if (plain)
            tsr_keys_of_plain(plain, r->chunk[i].tiles, r->chunk[i].first ? keys[r->chunk[i].first - 1] : 0, keys + r->chunk[i].first,
                              inside + r->chunk[i].first);
        status = complain(r, &j);
    }
    job_end(&j);
    return status;
}

static tsr_status read_values(const struct reader *r, tsr_tiles *tiles)
{
    enum { BATCH = 64 };
    struct job j = { .r = r };
    const int64_t groups = tsr_ceil_div(r->info.count, r->chunk_tiles), voxels = (int64_t)r->chunk_tiles * r->voxels;
    const int64_t batch = BATCH * tsr_max64(1, (1 << 18) / voxels);
    float *staging = NULL;
    tsr_status status = job_begin(r, r->info.raw ? 1 : tsr_plain_bound(r->chunk_tiles, r->info.edge, r->info.values), !r->info.raw, &j);
    if (status == TSR_OK && !tsr_tiles_host_readable(tiles)) {
        staging = (float *)malloc((size_t)(tsr_min64(batch, groups) * voxels) * sizeof *staging + 1);
        if (!staging) status = TSR_FAILED(TSR_ERROR_MEMORY, "%s: out of memory to unpack", r->name);
    }
    for (int64_t g = 0; g < groups && status == TSR_OK; g += batch) {
        int64_t n = tsr_min64(batch, groups - g);
        j.first_tile = g * r->chunk_tiles;
        j.first = r->info.raw ? g : r->key_chunks + g;
        j.to = staging ? staging : tsr_tiles_direct(tiles, j.first_tile);
        tsr_parallel(r->context->threads, n, 1, r->info.raw ? raw_range : values_range, &j);
        status = complain(r, &j);
        if (status == TSR_OK && staging) {
            status = tsr_tiles_put(tiles, j.first_tile, tsr_min64(n * r->chunk_tiles, r->info.count - j.first_tile), staging);
            if (status == TSR_OK) status = r->context->backend->synchronize(r->context->queue); /* the staging is used again */
        }
        if (status == TSR_OK && tsr_progress_report(&r->options->progress, (double)(g + n) / (double)groups, "reading tiles"))
            status = TSR_FAILED(TSR_ERROR_CANCELLED, "cancelled during reading tiles");
    }
    job_end(&j);
    free(staging);
    return status;
}

static tsr_status read_channel(const struct reader *r, int32_t c, tsr_tiles_channel *to)
{
    const int64_t groups = tsr_ceil_div(r->info.count, r->chunk_tiles), tile = to->elements * (int64_t)tsr_dtype_size(to->dtype);
    struct job j = { .first = r->key_chunks + r->value_chunks + c * groups };
    uint8_t *data = (uint8_t *)malloc((size_t)(r->info.count * tile) + 1);
    to->data = data;
    if (!data) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for channel '%s'", r->name, to->name);
    tsr_status status = job_begin(r, r->chunk_tiles * tile, 0, &j);
    j.channel = data;
    if (status == TSR_OK) {
        tsr_parallel(r->context->threads, groups, 1, channel_range, &j);
        status = complain(r, &j);
    }
    job_end(&j);
    if (status == TSR_OK && tsr_host_big_endian()) tsr_swap_elements(data, r->info.count * to->elements, tsr_dtype_size(to->dtype));
    return status;
}

static tsr_status read_list(struct reader *r, tsr_tiles_extras *extras, tsr_tiles **tiles)
{
    tsr_tiles_frame frame = { .geometry = r->info.geometry,
                              .options = TSR_TILES_OPTIONS,
                              .background = r->background,
                              .count = r->info.count,
                              .inside_absent = r->inside_absent };
    tsr_status status;
    frame.options.edge = r->info.edge;
    frame.options.index = r->info.paged ? TSR_TILES_PAGED : TSR_TILES_SORTED;
    frame.options.domain = r->info.domain;
    frame.options.band = r->info.band;
    uint64_t *keys = (uint64_t *)malloc(((size_t)frame.count + 1) * sizeof *keys);
    uint32_t *inside = (uint32_t *)malloc(((size_t)frame.count + 1) * sizeof *inside);
    if (!keys || !inside) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "%s: out of memory for %lld keys", r->name, (long long)frame.count);
    TSR_TRY_GOTO(read_keys(r, keys, inside), done);
    frame.keys = keys;
    frame.inside = inside;
    TSR_TRY_GOTO(tsr_tiles_begin(r->context, &frame, r->name, tiles), done);
    TSR_TRY_GOTO(read_values(r, *tiles), done);
    TSR_TRY_GOTO(tsr_tiles_complete(*tiles, 0), done);
    for (int32_t c = 0; c < r->info.channel_count && r->options->extras; c++) TSR_TRY_GOTO(read_channel(r, c, &extras->channels[c]), done);
    status = TSR_OK;
done:
    free(keys);
    free(inside);
    if (status != TSR_OK) tsr_tiles_destroy(tiles);
    return status;
}

tsr_status tsr_read_tsr(tsr_input *input, const tsr_tiles_read_options *options, tsr_context *context, tsr_tiles_extras *extras, tsr_tiles **tiles)
{
    struct reader r = { .input = input, .options = options, .context = context, .name = tsr_input_name(input) };
    size_t size;
    tsr_status status;
    *tiles = NULL;
    TSR_TRY(read_header(&r, extras));
    TSR_TRY(check_memory(&r));
    TSR_TRY(tsr_input_all(input, &r.bytes, &size));
    r.size = (int64_t)size;
    TSR_TRY_GOTO(walk(&r), done);
    TSR_TRY_GOTO(read_list(&r, extras, tiles), done);
done:
    free(r.chunk);
    return status;
}
