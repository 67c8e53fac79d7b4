/* video/chunks/chunk_file.c: chunks and the directory. */
#include "video/chunks/chunk_file.h"

#include <stdio.h>
#include <stdlib.h>

#include "io/xxh64.h"

enum { DIRECTORY_ENTRY = 24 };

tsr_status tsr_chunk_file_open_writer(tsr_chunk_writer *w, const tsr_chunk_kind *kind, const char *path, int overwrite)
{
    tsr_write_options options = TSR_WRITE_OPTIONS;
    memset(w, 0, sizeof *w);
    w->kind = kind;
    options.overwrite = overwrite;
    TSR_TRY(tsr_output_open(path, &options, &w->output));
    TSR_TRY(tsr_output_write(w->output, kind->magic, sizeof kind->magic));
    w->position = TSR_CHUNK_MAGIC;
    return TSR_OK;
}

static void chunk_header(uint8_t header[TSR_CHUNK_HEADER], uint32_t type, uint32_t index, const void *payload, size_t size)
{
    tsr_put_u32(header, type);
    tsr_put_u32(header + 4, index);
    tsr_put_u64(header + 8, size);
    tsr_put_u64(header + 16, tsr_xxh64(payload, size, 0));
    tsr_put_u64(header + 24, tsr_xxh64(header, 24, 0));
}

tsr_status tsr_chunk_file_write(tsr_chunk_writer *w, uint32_t type, int64_t index, const void *payload, size_t size)
{
    uint8_t header[TSR_CHUNK_HEADER];
    if (w->entries == w->room) {
        const int64_t room = w->room ? 2 * w->room : 64;
        tsr_chunk *grown = (tsr_chunk *)realloc(w->entry, (size_t)room * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory");
        w->entry = grown;
        w->room = room;
    }
    chunk_header(header, type, (uint32_t)index, payload ? payload : "", size);
    TSR_TRY(tsr_output_write(w->output, header, sizeof header));
    if (size) TSR_TRY(tsr_output_write(w->output, payload, size));
    w->entry[w->entries++] = (tsr_chunk){ type, (uint32_t)index, w->position + TSR_CHUNK_HEADER, (int64_t)size };
    w->position += TSR_CHUNK_HEADER + (int64_t)size;
    return TSR_OK;
}

int64_t tsr_chunk_file_bytes(const tsr_chunk_writer *w)
{
    return w->position + TSR_CHUNK_HEADER + 4 + DIRECTORY_ENTRY * w->entries + TSR_CHUNK_TRAILER;
}

tsr_status tsr_chunk_file_finish(tsr_chunk_writer *w, tsr_status status)
{
    uint8_t trailer[TSR_CHUNK_TRAILER];
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
        status = tsr_chunk_file_write(w, TSR_CHUNK_DIRECTORY, 0, bytes, (size_t)(4 + DIRECTORY_ENTRY * count));
    }
    if (status == TSR_OK) {
        tsr_put_u64(trailer, (uint64_t)at);
        memcpy(trailer + 8, w->kind->ending, sizeof w->kind->ending);
        status = tsr_output_write(w->output, trailer, sizeof trailer);
        w->position += TSR_CHUNK_TRAILER;
    }
    free(bytes);
    free(w->entry);
    w->entry = NULL;
    return tsr_output_finish(&w->output, status);
}

/* ---- reading ---------------------------------------------------------------------------------------------------------------------------------- */

static int by_type(const void *a, const void *b)
{
    const tsr_chunk *x = (const tsr_chunk *)a, *y = (const tsr_chunk *)b;
    if (x->type != y->type) return x->type < y->type ? -1 : 1;
    if (x->index != y->index) return x->index < y->index ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static tsr_status add_entry(tsr_chunk_reader *r, int64_t *room, tsr_chunk entry)
{
    if (r->entries == *room) {
        const int64_t more = *room ? 2 * *room : 64;
        tsr_chunk *grown = more > TSR_CHUNKS_MOST ? NULL : (tsr_chunk *)realloc(r->entry, (size_t)more * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld chunks", r->name, (long long)more);
        r->entry = grown;
        *room = more;
    }
    r->entry[r->entries++] = entry;
    return TSR_OK;
}

/* A header of a chunk at `at`, if a whole and true one is there. */
static int header_at(const tsr_chunk_reader *r, int64_t at, tsr_chunk *entry)
{
    if (at < TSR_CHUNK_MAGIC || at > r->size - TSR_CHUNK_HEADER) return 0;
    const uint8_t *h = r->bytes + at;
    if (tsr_get_u64(h + 24) != tsr_xxh64(h, 24, 0)) return 0;
    *entry = (tsr_chunk){ tsr_get_u32(h), tsr_get_u32(h + 4), at + TSR_CHUNK_HEADER, tsr_get_i64(h + 8) };
    return entry->size >= 0 && entry->size <= INT64_MAX - entry->offset - TSR_CHUNK_HEADER;
}

static int header_of(const tsr_chunk_reader *r, const tsr_chunk *entry)
{
    tsr_chunk there;
    return header_at(r, entry->offset - TSR_CHUNK_HEADER, &there) && there.type == entry->type && there.index == entry->index &&
           there.size == entry->size;
}

int tsr_chunk_file_good(const tsr_chunk_reader *r, const tsr_chunk *e)
{
    return header_of(r, e) && e->offset + e->size <= r->size &&
           tsr_get_u64(r->bytes + e->offset - 16) == tsr_xxh64(r->bytes + e->offset, (size_t)e->size, 0);
}

/* The directory, where trailer and checksum are right; 0 where they are not. */
static tsr_status read_directory(tsr_chunk_reader *r, int *there)
{
    tsr_chunk d;
    int64_t room = 0;
    *there = 0;
    if (r->size < TSR_CHUNK_MAGIC + TSR_CHUNK_HEADER + TSR_CHUNK_TRAILER) return TSR_OK;
    const uint8_t *trailer = r->bytes + r->size - TSR_CHUNK_TRAILER;
    if (memcmp(trailer + 8, r->kind->ending, sizeof r->kind->ending) != 0 || !header_at(r, tsr_get_i64(trailer), &d) || d.type != TSR_CHUNK_DIRECTORY)
        return TSR_OK;
    if (d.offset + d.size != r->size - TSR_CHUNK_TRAILER || d.size < 4 || !tsr_chunk_file_good(r, &d)) return TSR_OK;
    const int64_t count = tsr_get_u32(r->bytes + d.offset);
    if (d.size != 4 + DIRECTORY_ENTRY * count) return TSR_OK;
    for (int64_t k = 0; k < count; k++) {
        const uint8_t *e = r->bytes + d.offset + 4 + DIRECTORY_ENTRY * k;
        const tsr_chunk entry = { tsr_get_u32(e), tsr_get_u32(e + 4), tsr_get_i64(e + 8), tsr_get_i64(e + 16) };
        if (entry.offset < TSR_CHUNK_MAGIC + TSR_CHUNK_HEADER || entry.size < 0 || entry.offset > r->size || entry.size > r->size - entry.offset)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: the directory places a chunk at %lld, %lld bytes long, outside the file", r->name,
                     (long long)entry.offset, (long long)entry.size);
        TSR_TRY(add_entry(r, &room, entry));
    }
    *there = 1;
    return TSR_OK;
}

/* Chunk after chunk, as far as headers go. */
static tsr_status walk(tsr_chunk_reader *r)
{
    tsr_chunk entry;
    int64_t room = 0;
    r->entries = 0;
    free(r->entry);
    r->entry = NULL;
    for (int64_t at = TSR_CHUNK_MAGIC; header_at(r, at, &entry); at = entry.offset + entry.size)
        if (entry.type != TSR_CHUNK_DIRECTORY) TSR_TRY(add_entry(r, &room, entry));
    return TSR_OK;
}

const tsr_chunk *tsr_chunk_file_find(const tsr_chunk_reader *r, uint32_t type, int64_t index)
{
    int64_t low = 0, high = r->entries;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        const tsr_chunk *e = r->entry + middle;
        if (e->type < type || (e->type == type && e->index < index)) low = middle + 1;
        else high = middle;
    }
    return low < r->entries && r->entry[low].type == type && r->entry[low].index == index ? r->entry + low : NULL;
}

/* "RESD 17", as bytes may hold anything. */
static const char *shown(const tsr_chunk *e, char text[32])
{
    char name[5] = { 0 };
    for (int k = 0; k < 4; k++) name[k] = (char)(e->type >> 8 * k & 127);
    for (int k = 0; k < 4; k++) name[k] = name[k] < 32 || name[k] == 127 ? '?' : name[k];
    snprintf(text, 32, "%s %u", name, e->index);
    return text;
}

tsr_status tsr_chunk_file_read(const tsr_chunk_reader *r, uint32_t type, int64_t index, int embedded, const uint8_t **payload, int64_t *size)
{
    const tsr_chunk *e = tsr_chunk_file_find(r, type, index), none = { type, (uint32_t)index, 0, 0 };
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
    if (!tsr_chunk_file_good(r, e)) {
        if (!r->partial) TSR_FAIL(TSR_ERROR_FORMAT, "%s: chunk %s is damaged: its checksum is another one", r->name, shown(e, text));
        tsr_remark("%s: chunk %s is damaged", r->name, shown(e, text));
        return TSR_OK;
    }
    *payload = r->bytes + e->offset;
    *size = e->size;
    return TSR_OK;
}

tsr_status tsr_chunk_file_look(const tsr_chunk_reader *r, uint32_t type, int64_t index)
{
    const uint8_t *payload;
    int64_t size;
    return r->partial ? tsr_chunk_file_read(r, type, index, 1, &payload, &size) : TSR_OK;
}

tsr_status tsr_chunk_file_open_reader(tsr_chunk_reader *r, const tsr_chunk_kind *kind, tsr_input *input, int partial)
{
    size_t size;
    tsr_status status;
    memset(r, 0, sizeof *r);
    r->kind = kind;
    r->name = tsr_input_name(input);
    r->partial = partial;
    TSR_TRY(tsr_input_all(input, &r->bytes, &size));
    r->size = (int64_t)size;
    if (size < sizeof kind->magic || memcmp(r->bytes, kind->magic, sizeof kind->magic) != 0)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: not a file of %s", r->name, kind->what);
    TSR_TRY_GOTO(read_directory(r, &r->complete), fail);
    if (!r->complete && !partial)
        TSR_FAIL_GOTO(TSR_ERROR_FORMAT, fail, "%s: truncated, or its directory is damaged; what is left can be read with partial", r->name);
    if (!r->complete) TSR_TRY_GOTO(walk(r), fail);
    if (r->entries) qsort(r->entry, (size_t)r->entries, sizeof *r->entry, by_type);
    for (int64_t k = 1; k < r->entries; k++)
        if (r->entry[k].type == r->entry[k - 1].type && r->entry[k].index == r->entry[k - 1].index)
            TSR_FAIL_GOTO(TSR_ERROR_FORMAT, fail, "%s: a chunk occurs twice", r->name);
    return TSR_OK;
fail:
    tsr_chunk_file_close_reader(r);
    return status;
}

void tsr_chunk_file_close_reader(tsr_chunk_reader *r)
{
    free(r->entry);
    r->entry = NULL;
    r->entries = 0;
}
