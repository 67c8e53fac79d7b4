/* video/multiview/mvv_file.c: chunks and the directory. */
#include "video/multiview/mvv_file.h"

#include <stdio.h>
#include <stdlib.h>

#include "io/xxh64.h"

static const uint8_t magic[TSR_MVV_MAGIC_BYTES] = { 0x89, 'M', 'V', 'V', 0x0d, 0x0a, 0x1a, 0x0a };
static const uint8_t ending[8] = { 'M', 'V', 'V', 'E', 'N', 'D', '1', 0x0a };
enum { DIRECTORY_ENTRY = 24, VERSION = 1 };

tsr_status tsr_mvv_writer_open(tsr_mvv_writer *w, const char *path, int overwrite)
{
    tsr_write_options options = TSR_WRITE_OPTIONS;
    memset(w, 0, sizeof *w);
    options.overwrite = overwrite;
    TSR_TRY(tsr_output_open(path, &options, &w->output));
    TSR_TRY(tsr_output_write(w->output, magic, sizeof magic));
    w->position = TSR_MVV_MAGIC_BYTES;
    return TSR_OK;
}

static void chunk_header(uint8_t header[TSR_MVV_CHUNK_BYTES], uint32_t type, uint32_t index, const void *payload, size_t size)
{
    tsr_put_u32(header, type);
    tsr_put_u32(header + 4, index);
    tsr_put_u64(header + 8, size);
    tsr_put_u64(header + 16, tsr_xxh64(payload, size, 0));
    tsr_put_u64(header + 24, tsr_xxh64(header, 24, 0));
}

tsr_status tsr_mvv_writer_chunk(tsr_mvv_writer *w, uint32_t type, int64_t index, const void *payload, size_t size)
{
    uint8_t header[TSR_MVV_CHUNK_BYTES];
    if (w->entries == w->room) {
        const int64_t room = w->room ? 2 * w->room : 64;
        tsr_mvv_entry *grown = (tsr_mvv_entry *)realloc(w->entry, (size_t)room * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory");
        w->entry = grown;
        w->room = room;
    }
    chunk_header(header, type, (uint32_t)index, payload ? payload : "", size);
    TSR_TRY(tsr_output_write(w->output, header, sizeof header));
    if (size) TSR_TRY(tsr_output_write(w->output, payload, size));
    w->entry[w->entries++] = (tsr_mvv_entry){ type, (uint32_t)index, w->position + TSR_MVV_CHUNK_BYTES, (int64_t)size };
    w->position += TSR_MVV_CHUNK_BYTES + (int64_t)size;
    return TSR_OK;
}

tsr_status tsr_mvv_writer_head(tsr_mvv_writer *w, const tsr_mvv_head *h, const tsr_multiview *names)
{
    uint8_t bytes[TSR_MVV_HEAD_BYTES + 256 * TSR_MULTIVIEW_MOST_CAMERAS];
    size_t size = TSR_MVV_HEAD_BYTES;
    const uint32_t field[18] = { VERSION,           (uint32_t)h->width,    (uint32_t)h->height,   (uint32_t)h->cameras, (uint32_t)h->steps,  (uint32_t)h->rate[0],
                                 (uint32_t)h->rate[1], 1,                  (uint32_t)h->codec,    (uint32_t)h->masks,   (uint32_t)h->atlas,  (uint32_t)h->group,
                                 (uint32_t)h->lossless, (uint32_t)h->fill, (uint32_t)h->syntax, (uint32_t)h->fraction, (uint32_t)h->filter,
                                 (uint32_t)h->levels | (uint32_t)h->open_loop << 8 };
    for (int k = 0; k < 18; k++) tsr_put_u32(bytes + 4 * k, field[k]);
    for (int p = 0; p < 3; p++) tsr_put_f64(bytes + 72 + 8 * p, h->bpp[p]);
    for (int32_t c = 0; c < h->cameras; c++) {
        const char *name = tsr_multiview_camera_name(names, c);
        const size_t length = strlen(name);
        bytes[size++] = (uint8_t)length;
        memcpy(bytes + size, name, length);
        size += length;
    }
    TSR_TRY(tsr_mvv_writer_chunk(w, TSR_MVV_HEAD, 0, bytes, size));
    return TSR_OK;
}

tsr_status tsr_mvv_writer_close(tsr_mvv_writer *w, tsr_status status)
{
    uint8_t trailer[TSR_MVV_TRAILER_BYTES];
    const int64_t at = w->position, count = w->entries;
    uint8_t *bytes = status == TSR_OK ? (uint8_t *)malloc((size_t)(4 + DIRECTORY_ENTRY * count)) : NULL;
    if (status == TSR_OK && !bytes) status = TSR_FAILED(TSR_ERROR_MEMORY, "out of memory");
    if (status == TSR_OK) {
        tsr_put_u32(bytes, (uint32_t)count);
        for (int64_t k = 0; k < count; k++) {
            uint8_t *e = bytes + 4 + DIRECTORY_ENTRY * k;
            tsr_put_u32(e, w->entry[k].type);
            tsr_put_u32(e + 4, w->entry[k].index);
            tsr_put_u64(e + 8, (uint64_t)w->entry[k].offset);
            tsr_put_u64(e + 16, (uint64_t)w->entry[k].size);
        }
        status = tsr_mvv_writer_chunk(w, TSR_MVV_DIRY, 0, bytes, (size_t)(4 + DIRECTORY_ENTRY * count));
    }
    if (status == TSR_OK) {
        tsr_put_u64(trailer, (uint64_t)at);
        memcpy(trailer + 8, ending, sizeof ending);
        status = tsr_output_write(w->output, trailer, sizeof trailer);
        w->position += TSR_MVV_TRAILER_BYTES;
    }
    free(bytes);
    free(w->entry);
    w->entry = NULL;
    return tsr_output_finish(&w->output, status);
}

/* ---- reading ---------------------------------------------------------------------------------------------------------------------------------- */

static int by_type(const void *a, const void *b)
{
    const tsr_mvv_entry *x = (const tsr_mvv_entry *)a, *y = (const tsr_mvv_entry *)b;
    if (x->type != y->type) return x->type < y->type ? -1 : 1;
    if (x->index != y->index) return x->index < y->index ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static tsr_status add_entry(tsr_mvv_reader *r, int64_t *room, tsr_mvv_entry entry)
{
    if (r->entries == *room) {
        const int64_t more = *room ? 2 * *room : 64;
        tsr_mvv_entry *grown = more > TSR_MVV_MOST_CHUNKS ? NULL : (tsr_mvv_entry *)realloc(r->entry, (size_t)more * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld chunks", r->name, (long long)more);
        r->entry = grown;
        *room = more;
    }
    r->entry[r->entries++] = entry;
    return TSR_OK;
}

/* A header of a chunk at `at`, if a whole and true one is there. */
static int header_at(const tsr_mvv_reader *r, int64_t at, tsr_mvv_entry *entry)
{
    if (at < TSR_MVV_MAGIC_BYTES || at > r->size - TSR_MVV_CHUNK_BYTES) return 0;
    const uint8_t *h = r->bytes + at;
    if (tsr_get_u64(h + 24) != tsr_xxh64(h, 24, 0)) return 0;
    *entry = (tsr_mvv_entry){ tsr_get_u32(h), tsr_get_u32(h + 4), at + TSR_MVV_CHUNK_BYTES, tsr_get_i64(h + 8) };
    return entry->size >= 0 && entry->size <= INT64_MAX - entry->offset - TSR_MVV_CHUNK_BYTES;
}

static int header_of(const tsr_mvv_reader *r, const tsr_mvv_entry *entry)
{
    tsr_mvv_entry there;
    return header_at(r, entry->offset - TSR_MVV_CHUNK_BYTES, &there) && there.type == entry->type && there.index == entry->index &&
           there.size == entry->size;
}

int tsr_mvv_reader_good(const tsr_mvv_reader *r, const tsr_mvv_entry *e)
{
    return header_of(r, e) && e->offset + e->size <= r->size &&
           tsr_get_u64(r->bytes + e->offset - 16) == tsr_xxh64(r->bytes + e->offset, (size_t)e->size, 0);
}

/* The directory, where trailer and checksum are right; 0 where they are not. */
static tsr_status read_directory(tsr_mvv_reader *r, int *there)
{
    tsr_mvv_entry d;
    int64_t room = 0;
    *there = 0;
    if (r->size < TSR_MVV_MAGIC_BYTES + TSR_MVV_CHUNK_BYTES + TSR_MVV_TRAILER_BYTES) return TSR_OK;
    const uint8_t *trailer = r->bytes + r->size - TSR_MVV_TRAILER_BYTES;
    if (memcmp(trailer + 8, ending, sizeof ending) != 0 || !header_at(r, tsr_get_i64(trailer), &d) || d.type != TSR_MVV_DIRY) return TSR_OK;
    if (d.offset + d.size != r->size - TSR_MVV_TRAILER_BYTES || d.size < 4 || !tsr_mvv_reader_good(r, &d)) return TSR_OK;
    const int64_t count = tsr_get_u32(r->bytes + d.offset);
    if (d.size != 4 + DIRECTORY_ENTRY * count) return TSR_OK;
    for (int64_t k = 0; k < count; k++) {
        const uint8_t *e = r->bytes + d.offset + 4 + DIRECTORY_ENTRY * k;
        const tsr_mvv_entry entry = { tsr_get_u32(e), tsr_get_u32(e + 4), tsr_get_i64(e + 8), tsr_get_i64(e + 16) };
        if (entry.offset < TSR_MVV_MAGIC_BYTES + TSR_MVV_CHUNK_BYTES || entry.size < 0 || entry.offset > r->size || entry.size > r->size - entry.offset)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: the directory places a chunk at %lld, %lld bytes long, outside the file", r->name,
                     (long long)entry.offset, (long long)entry.size);
        TSR_TRY(add_entry(r, &room, entry));
    }
    *there = 1;
    return TSR_OK;
}

/* Chunk after chunk, as far as headers go. */
static tsr_status walk(tsr_mvv_reader *r)
{
    tsr_mvv_entry entry;
    int64_t room = 0;
    r->entries = 0;
    free(r->entry);
    r->entry = NULL;
    for (int64_t at = TSR_MVV_MAGIC_BYTES; header_at(r, at, &entry); at = entry.offset + entry.size)
        if (entry.type != TSR_MVV_DIRY) TSR_TRY(add_entry(r, &room, entry));
    return TSR_OK;
}

const tsr_mvv_entry *tsr_mvv_reader_find(const tsr_mvv_reader *r, uint32_t type, int64_t index)
{
    int64_t low = 0, high = r->entries;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        const tsr_mvv_entry *e = r->entry + middle;
        if (e->type < type || (e->type == type && e->index < index)) low = middle + 1;
        else high = middle;
    }
    return low < r->entries && r->entry[low].type == type && r->entry[low].index == index ? r->entry + low : NULL;
}

/* "RESD 17", as bytes may hold anything. */
static const char *shown(const tsr_mvv_entry *e, char text[32])
{
    char name[5] = { 0 };
    for (int k = 0; k < 4; k++) name[k] = (char)(e->type >> 8 * k & 127);
    for (int k = 0; k < 4; k++) name[k] = name[k] < 32 || name[k] == 127 ? '?' : name[k];
    snprintf(text, 32, "%s %u", name, e->index);
    return text;
}

tsr_status tsr_mvv_reader_chunk(const tsr_mvv_reader *r, uint32_t type, int64_t index, int embedded, const uint8_t **payload, int64_t *size)
{
    const tsr_mvv_entry *e = tsr_mvv_reader_find(r, type, index), none = { type, (uint32_t)index, 0, 0 };
    char text[32];
    *payload = NULL;
    *size = 0;
    if (!e) {
        if (r->partial) tsr_remark("%s: chunk %s is missing", r->name, shown(&none, text));
        return TSR_OK;
    }
    if (!header_of(r, e)) {
        if (!r->partial) TSR_FAIL(TSR_ERROR_FORMAT, "%s: chunk %s: its header is damaged", r->name, shown(e, text));
        tsr_remark("%s: chunk %s is damaged", r->name, shown(e, text));
        return TSR_OK;
    }
    if (e->offset + e->size > r->size) { /* cut off: what is there is all that can be had */
        if (!r->partial)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: chunk %s: truncated: %lld of %lld bytes", r->name, shown(e, text), (long long)(r->size - e->offset),
                     (long long)e->size);
        tsr_remark("%s: chunk %s is cut off", r->name, shown(e, text));
        if (embedded) {
            *payload = r->bytes + e->offset;
            *size = r->size - e->offset;
        }
        return TSR_OK;
    }
    if (!tsr_mvv_reader_good(r, e)) {
        if (!r->partial) TSR_FAIL(TSR_ERROR_FORMAT, "%s: chunk %s is damaged: its checksum is another one", r->name, shown(e, text));
        tsr_remark("%s: chunk %s is damaged", r->name, shown(e, text));
        return TSR_OK;
    }
    *payload = r->bytes + e->offset;
    *size = e->size;
    return TSR_OK;
}

static int within(int64_t v, int64_t lower, int64_t upper) { return v >= lower && v <= upper; }

static tsr_status read_head(tsr_mvv_reader *r)
{
    const tsr_mvv_entry *e = tsr_mvv_reader_find(r, TSR_MVV_HEAD, 0);
    tsr_mvv_head *h = &r->head;
    uint32_t f[18];
    if (!e || !tsr_mvv_reader_good(r, e) || e->size < TSR_MVV_HEAD_BYTES)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: its header is missing or damaged: nothing can be read", r->name);
    const uint8_t *bytes = r->bytes + e->offset;
    for (int k = 0; k < 18; k++) f[k] = tsr_get_u32(bytes + 4 * k);
    if (f[0] != VERSION) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: version %u of the format, this build reads version %d", r->name, f[0], VERSION);
    const int whole = within(f[1], 1, TSR_MULTIVIEW_MOST_SIDE) && within(f[2], 1, TSR_MULTIVIEW_MOST_SIDE) &&
                      within(f[3], 1, TSR_MULTIVIEW_MOST_CAMERAS) && within(f[4], 1, TSR_MULTIVIEW_MOST_STEPS) && within(f[5], 1, INT32_MAX) &&
                      within(f[6], 1, INT32_MAX) && f[7] == 1 && f[8] < TSR_MULTIVIEW_CODECS && f[9] < TSR_MULTIVIEW_MASK_MODES && f[10] < 2 &&
                      within(f[11], 1, TSR_MULTIVIEW_MOST_STEPS) && f[12] < 2 && f[13] < TSR_MULTIVIEW_FILLS && f[14] < TSR_MULTIVIEW_SYNTAXES &&
                      f[15] <= 8 && f[16] < TSR_MULTIVIEW_FILTERS && (f[17] & 255) <= 12 && f[17] >> 8 < 2;
    if (!whole || (f[9] == TSR_MULTIVIEW_MASKS_NONE && f[10]) || (f[8] == TSR_MULTIVIEW_SPIHT4D && (f[11] & (f[11] - 1))))
        TSR_FAIL(TSR_ERROR_FORMAT,
                 "%s: its header contradicts itself or the format: %u x %u texels, %u cameras, %u steps, %u / %u steps a second, colours %u, codec %u, masks "
                 "%u, groups of %u steps",
                 r->name, f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[11]);
    *h = (tsr_mvv_head){ .width = (int32_t)f[1], .height = (int32_t)f[2], .cameras = (int32_t)f[3], .steps = (int32_t)f[4],
                         .rate = { (int32_t)f[5], (int32_t)f[6] }, .codec = (int32_t)f[8], .masks = (int32_t)f[9], .atlas = (int32_t)f[10],
                         .group = (int32_t)f[11], .lossless = (int32_t)f[12], .fill = (int32_t)f[13], .syntax = (int32_t)f[14],
                         .fraction = (int32_t)f[15], .filter = (int32_t)f[16], .levels = (int32_t)(f[17] & 255), .open_loop = (int32_t)(f[17] >> 8) };
    for (int p = 0; p < 3; p++) h->bpp[p] = tsr_get_f64(bytes + 72 + 8 * p);
    r->names = bytes + TSR_MVV_HEAD_BYTES;
    r->names_size = e->size - TSR_MVV_HEAD_BYTES;
    int64_t at = 0;
    for (int32_t c = 0; c < h->cameras; c++) {
        if (at >= r->names_size || memchr(r->names + at + 1, 0, (size_t)tsr_min64(r->names[at], r->names_size - at - 1)))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: its header lacks the name of camera %d", r->name, c);
        at += 1 + r->names[at];
    }
    if (at != r->names_size) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the names of cameras take %lld bytes, expected %lld", r->name, (long long)at, (long long)r->names_size);
    return TSR_OK;
}

tsr_status tsr_mvv_reader_open(tsr_mvv_reader *r, tsr_input *input, int partial)
{
    size_t size;
    tsr_status status;
    memset(r, 0, sizeof *r);
    r->name = tsr_input_name(input);
    r->partial = partial;
    TSR_TRY(tsr_input_all(input, &r->bytes, &size));
    r->size = (int64_t)size;
    if (size < sizeof magic || memcmp(r->bytes, magic, sizeof magic) != 0)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: not a file of multi-view textures (.mvv)", r->name);
    TSR_TRY_GOTO(read_directory(r, &r->complete), fail);
    if (!r->complete && !partial)
        TSR_FAIL_GOTO(TSR_ERROR_FORMAT, fail, "%s: truncated, or its directory is damaged; what is left can be read with partial", r->name);
    if (!r->complete) TSR_TRY_GOTO(walk(r), fail);
    if (r->entries) qsort(r->entry, (size_t)r->entries, sizeof *r->entry, by_type);
    for (int64_t k = 1; k < r->entries; k++)
        if (r->entry[k].type == r->entry[k - 1].type && r->entry[k].index == r->entry[k - 1].index)
            TSR_FAIL_GOTO(TSR_ERROR_FORMAT, fail, "%s: a chunk occurs twice", r->name);
    TSR_TRY_GOTO(read_head(r), fail);
    return TSR_OK;
fail:
    tsr_mvv_reader_close(r);
    return status;
}

void tsr_mvv_reader_close(tsr_mvv_reader *r)
{
    free(r->entry);
    r->entry = NULL;
    r->entries = 0;
}
