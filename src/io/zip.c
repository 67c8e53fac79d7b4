/* Archives: the directory at the end, entries, and the writer. */
#include "io/zip.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#ifdef TSR_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

#include "core/number.h"
#include "io/inflate.h"
#include "io/little_endian.h"

enum { END_BYTES = 22, END64_BYTES = 56, LOCATOR_BYTES = 20, CENTRAL_BYTES = 46, LOCAL_BYTES = 30, COMMENT_MOST = 65535, STORED = 0, DEFLATED = 8 };
enum {
    END_MARK = 0x06054b50,
    END64_MARK = 0x06064b50,
    LOCATOR_MARK = 0x07064b50,
    CENTRAL_MARK = 0x02014b50,
    LOCAL_MARK = 0x04034b50,
    DATA_MARK = 0x08074b50
};

/* ---- the directory ------------------------------------------------------------------------------------------------------------------------------- */

typedef struct directory {
    int64_t entries, bytes, offset;
} directory;

static tsr_status damaged(const tsr_zip *zip, const char *what)
{
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: damaged zip archive: %s", tsr_input_name(zip->input), what);
}

/* The end record: the last one that fits, comments may follow it. */
static tsr_status find_end(const tsr_zip *zip, directory *d)
{
    int64_t at = zip->size - END_BYTES;
    const int64_t first = tsr_max64(0, at - COMMENT_MOST);
    while (at >= first && !(tsr_get_u32(zip->bytes + at) == END_MARK && at + END_BYTES + tsr_get_u16(zip->bytes + at + 20) <= zip->size)) at--;
    if (at < first) return damaged(zip, "no directory at its end (is it cut off?)");
    const uint8_t *p = zip->bytes + at;
    if (tsr_get_u16(p + 4) != tsr_get_u16(p + 6))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: one part of a split zip archive, expected a whole one", tsr_input_name(zip->input));
    *d = (directory){ tsr_get_u16(p + 10), tsr_get_u32(p + 12), tsr_get_u32(p + 16) };
    if (d->entries != 0xffff && d->bytes != 0xffffffffll && d->offset != 0xffffffffll) return TSR_OK;
    if (at < LOCATOR_BYTES || tsr_get_u32(p - LOCATOR_BYTES) != LOCATOR_MARK) return TSR_OK; /* numbers that happen to be the greatest */
    const int64_t end64 = tsr_get_i64(p - LOCATOR_BYTES + 8);
    if (end64 < 0 || end64 > at - LOCATOR_BYTES - END64_BYTES || tsr_get_u32(zip->bytes + end64) != END64_MARK)
        return damaged(zip, "its directory of 64 bits is not where it says");
    p = zip->bytes + end64;
    *d = (directory){ tsr_get_i64(p + 32), tsr_get_i64(p + 40), tsr_get_i64(p + 48) };
    return TSR_OK;
}

/* Sizes of 64 bits stand in an extra field, in this order, each only if the field of 32 bits is full. */
static int take_wide(const uint8_t *extra, int64_t bytes, tsr_zip_entry *e)
{
    int64_t *const wide[3] = { &e->size, &e->packed, &e->header };
    while (bytes >= 4) {
        const int id = tsr_get_u16(extra), n = tsr_get_u16(extra + 2);
        if (n > bytes - 4) return 0;
        int used = 0;
        for (int k = 0; id == 1 && k < 3; k++) {
            if (*wide[k] != 0xffffffffll) continue;
            if (used + 8 > n) return 0;
            *wide[k] = tsr_get_i64(extra + 4 + used);
            used += 8;
        }
        extra += 4 + n;
        bytes -= 4 + n;
    }
    return 1;
}

static tsr_status take_entries(tsr_zip *zip, const directory *d)
{
    if (d->offset < 0 || d->bytes < 0 || d->offset > zip->size || d->bytes > zip->size - d->offset || d->entries < 0 ||
        d->entries > d->bytes / CENTRAL_BYTES)
        return damaged(zip, "its directory lies outside of it");
    if (!d->entries) return TSR_OK;
    zip->entry = (tsr_zip_entry *)calloc((size_t)d->entries, sizeof *zip->entry);
    if (!zip->entry) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld entries", tsr_input_name(zip->input), (long long)d->entries);
    const uint8_t *p = zip->bytes + d->offset, *end = p + d->bytes;
    for (int64_t k = 0; k < d->entries; k++) {
        if (end - p < CENTRAL_BYTES || tsr_get_u32(p) != CENTRAL_MARK) return damaged(zip, "its directory has fewer entries than it says");
        const int64_t name = tsr_get_u16(p + 28), extra = tsr_get_u16(p + 30), comment = tsr_get_u16(p + 32);
        if (end - p < CENTRAL_BYTES + name + extra + comment) return damaged(zip, "an entry of its directory is cut off");
        tsr_zip_entry *e = &zip->entry[zip->entries++];
        *e = (tsr_zip_entry){ .name = { (const char *)p + CENTRAL_BYTES, (size_t)name },
                              .method = tsr_get_u16(p + 10),
                              .encrypted = tsr_get_u16(p + 8) & 1,
                              .packed = tsr_get_u32(p + 20),
                              .size = tsr_get_u32(p + 24),
                              .header = tsr_get_u32(p + 42),
                              .crc = tsr_get_u32(p + 16) };
        if (!take_wide(p + CENTRAL_BYTES + name, extra, e) || e->size < 0 || e->packed < 0 || e->header < 0)
            return damaged(zip, "an entry has impossible sizes");
        p += CENTRAL_BYTES + name + extra + comment;
    }
    return TSR_OK;
}

tsr_status tsr_zip_open(tsr_input *input, tsr_zip *zip)
{
    size_t size;
    directory d = { 0 };
    *zip = (tsr_zip){ .input = input };
    TSR_TRY(tsr_input_all(input, &zip->bytes, &size));
    zip->size = (int64_t)size;
    TSR_TRY(find_end(zip, &d));
    TSR_TRY(take_entries(zip, &d));
    return TSR_OK;
}

void tsr_zip_close(tsr_zip *zip)
{
    free(zip->entry);
    zip->entry = NULL;
    zip->entries = 0;
}

const tsr_zip_entry *tsr_zip_find(const tsr_zip *zip, const char *name)
{
    while (*name == '/') name++;
    for (int64_t k = 0; k < zip->entries; k++)
        if (tsr_word_is(zip->entry[k].name, name)) return &zip->entry[k];
    return NULL;
}

/* ---- entries ------------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status failed_entry(const tsr_zip *zip, const tsr_zip_entry *e, tsr_status status, const char *what)
{
    char shown[32];
    TSR_FAIL(status, "%s: '%s' in the archive: %s", tsr_input_name(zip->input), tsr_word_show(e->name, shown), what);
}

/* Where its bytes begin: behind a header of its own. */
static tsr_status find_bytes(const tsr_zip *zip, const tsr_zip_entry *e, const uint8_t **packed)
{
    if (e->encrypted) return failed_entry(zip, e, TSR_ERROR_UNSUPPORTED, "is encrypted");
    if (e->method != STORED && e->method != DEFLATED) return failed_entry(zip, e, TSR_ERROR_UNSUPPORTED, "is packed by another method than deflate");
    if (e->header > zip->size - LOCAL_BYTES || tsr_get_u32(zip->bytes + e->header) != LOCAL_MARK)
        return failed_entry(zip, e, TSR_ERROR_FORMAT, "is not where the directory says");
    const int64_t at = e->header + LOCAL_BYTES + tsr_get_u16(zip->bytes + e->header + 26) + tsr_get_u16(zip->bytes + e->header + 28);
    if (at > zip->size || e->packed > zip->size - at) return failed_entry(zip, e, TSR_ERROR_FORMAT, "is cut off");
    if (e->method == STORED ? e->size != e->packed : e->size / TSR_DEFLATE_MOST_RATIO > e->packed)
        return failed_entry(zip, e, TSR_ERROR_FORMAT, "has sizes that contradict each other");
    *packed = zip->bytes + at;
    return TSR_OK;
}

/* One call's worth; 1 if all `size` bytes came and nothing is behind them, or, with `part`, as many as there are. */
static int inflate_raw(const uint8_t *packed, int64_t packed_size, uint8_t *to, size_t size, size_t *stored)
{
    z_stream z = { 0 };
    int code = Z_OK;
    *stored = 0;
    if (inflateInit2(&z, -15) != Z_OK) return 0;
    while (code == Z_OK && (*stored < size || packed_size > 0)) {
        const uInt in = (uInt)tsr_min64(packed_size, 1 << 30), out = (uInt)tsr_min64((int64_t)(size - *stored), 1 << 30);
        z.next_in = (Bytef *)(uintptr_t)packed;
        z.avail_in = in;
        z.next_out = to + *stored;
        z.avail_out = out;
        code = inflate(&z, Z_NO_FLUSH);
        packed += in - z.avail_in;
        packed_size -= in - z.avail_in;
        *stored += out - z.avail_out;
        if (in == z.avail_in && out == z.avail_out) break;
    }
    inflateEnd(&z);
    return code == Z_STREAM_END;
}

tsr_status tsr_zip_head(const tsr_zip *zip, const tsr_zip_entry *e, uint8_t *to, size_t room, size_t *stored)
{
    const uint8_t *packed = NULL;
    *stored = 0;
    TSR_TRY(find_bytes(zip, e, &packed));
    if (e->size < (int64_t)room) room = (size_t)e->size;
    if (e->method == STORED) {
        if (room) memcpy(to, packed, room);
        *stored = room;
    } else (void)inflate_raw(packed, e->packed, to, room, stored);
    return TSR_OK;
}

static int inflate_all(const uint8_t *packed, int64_t packed_size, uint8_t *to, int64_t size)
{
#ifdef TSR_HAVE_LIBDEFLATE
    struct libdeflate_decompressor *tool = libdeflate_alloc_decompressor();
    size_t gave = 0;
    if (tool) {
        const enum libdeflate_result result = libdeflate_deflate_decompress(tool, packed, (size_t)packed_size, to, (size_t)size, &gave);
        libdeflate_free_decompressor(tool);
        return result == LIBDEFLATE_SUCCESS && gave == (size_t)size;
    }
#endif
    size_t stored;
    return inflate_raw(packed, packed_size, to, (size_t)size, &stored) && (int64_t)stored == size;
}

static uint32_t checksum(uint32_t before, const void *bytes, size_t size)
{
#ifdef TSR_HAVE_LIBDEFLATE
    return size ? libdeflate_crc32(before, bytes, size) : before;
#else
    uLong crc = before;
    const Bytef *at = (const Bytef *)bytes;
    for (; size;) {
        const uInt n = size > 1u << 30 ? 1u << 30 : (uInt)size;
        crc = crc32(crc, at, n);
        at += n;
        size -= n;
    }
    return (uint32_t)crc;
#endif
}

tsr_status tsr_zip_take(const tsr_zip *zip, const tsr_zip_entry *e, tsr_block *block)
{
    const uint8_t *packed = NULL;
    *block = (tsr_block){ 0 };
    TSR_TRY(find_bytes(zip, e, &packed));
    if (e->method == STORED) *block = (tsr_block){ .data = (void *)(uintptr_t)packed }; /* readers only read */
    else {
        TSR_TRY(tsr_input_allocate(zip->input, tsr_max64(e->size, 1), "an unpacked entry", block));
        if (!inflate_all(packed, e->packed, (uint8_t *)block->data, e->size)) {
            tsr_block_release(block);
            return failed_entry(zip, e, TSR_ERROR_FORMAT, "its packed bytes are damaged");
        }
    }
    if (checksum(0, block->data, (size_t)e->size) != e->crc) {
        if (e->method != STORED) tsr_block_release(block);
        *block = (tsr_block){ 0 };
        return failed_entry(zip, e, TSR_ERROR_FORMAT, "its checksum is another one: it is damaged");
    }
    return TSR_OK;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------------------------------- */

typedef struct written {
    char *name;
    int method;
    uint32_t crc;
    int64_t packed, size, header;
} written;

struct tsr_zip_writer {
    tsr_output *out;
    written *entry;
    int count, open;
    z_stream z;
    uint8_t buffer[1 << 16];
};

tsr_status tsr_zip_begin(tsr_output *output, tsr_zip_writer **writer)
{
    *writer = (tsr_zip_writer *)calloc(1, sizeof **writer);
    if (!*writer) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for an archive");
    (*writer)->out = output;
    return TSR_OK;
}

/* Sizes are not known yet: they follow the bytes, as flag 8 says, with 64 bits, as the extra field says. */
tsr_status tsr_zip_entry_begin(tsr_zip_writer *w, const char *name, int level)
{
    uint8_t head[LOCAL_BYTES + 20] = { 0 };
    written *grown = (written *)realloc(w->entry, (size_t)(w->count + 1) * sizeof *grown);
    if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for an archive");
    w->entry = grown;
    w->entry[w->count] = (written){ .name = strdup(name), .method = level ? DEFLATED : STORED, .header = tsr_output_position(w->out) };
    if (!w->entry[w->count].name) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for an archive");
    w->count++;
    w->z = (z_stream){ 0 };
    if (level && deflateInit2(&w->z, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for deflating");
    w->open = 1;
    tsr_put_u32(head, LOCAL_MARK);
    tsr_put_u16(head + 4, 45);
    tsr_put_u16(head + 6, 8 | 0x800);
    tsr_put_u16(head + 8, (uint16_t)w->entry[w->count - 1].method);
    tsr_put_u16(head + 12, 33); /* 1 January 1980: the same archive whenever it is written */
    tsr_put_u32(head + 18, 0xffffffffu);
    tsr_put_u32(head + 22, 0xffffffffu);
    tsr_put_u16(head + 26, (uint16_t)strlen(name));
    tsr_put_u16(head + 28, 20);
    tsr_put_u16(head + LOCAL_BYTES, 1);
    tsr_put_u16(head + LOCAL_BYTES + 2, 16);
    TSR_TRY(tsr_output_write(w->out, head, LOCAL_BYTES));
    TSR_TRY(tsr_output_write(w->out, name, strlen(name)));
    return tsr_output_write(w->out, head + LOCAL_BYTES, 20);
}

static tsr_status deflate_some(tsr_zip_writer *w, const void *bytes, size_t size, int finish)
{
    const uint8_t *at = (const uint8_t *)bytes;
    int code = Z_OK;
    do {
        const uInt n = size > 1u << 30 ? 1u << 30 : (uInt)size;
        w->z.next_in = (Bytef *)(uintptr_t)at;
        w->z.avail_in = n;
        do {
            w->z.next_out = w->buffer;
            w->z.avail_out = sizeof w->buffer;
            code = deflate(&w->z, finish && n == size ? Z_FINISH : Z_NO_FLUSH);
            TSR_TRY(tsr_output_write(w->out, w->buffer, sizeof w->buffer - w->z.avail_out));
            w->entry[w->count - 1].packed += (int64_t)(sizeof w->buffer - w->z.avail_out);
        } while (!w->z.avail_out || (finish && n == size && code != Z_STREAM_END));
        at += n;
        size -= n;
    } while (size);
    return TSR_OK;
}

tsr_status tsr_zip_write(tsr_zip_writer *w, const void *bytes, size_t size)
{
    written *e = &w->entry[w->count - 1];
    if (!size) return TSR_OK;
    e->crc = checksum(e->crc, bytes, size);
    e->size += (int64_t)size;
    if (e->method == DEFLATED) return deflate_some(w, bytes, size, 0);
    e->packed += (int64_t)size;
    return tsr_output_write(w->out, bytes, size);
}

tsr_status tsr_zip_printf(tsr_zip_writer *w, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    const int length = tsr_print_list(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= (int)sizeof text) TSR_FAIL(TSR_ERROR_INTERNAL, "a line of an archive is too long");
    return tsr_zip_write(w, text, (size_t)length);
}

tsr_status tsr_zip_entry_end(tsr_zip_writer *w)
{
    uint8_t tail[24];
    written *e = &w->entry[w->count - 1];
    if (e->method == DEFLATED) {
        const tsr_status status = deflate_some(w, "", 0, 1);
        deflateEnd(&w->z);
        w->open = 0;
        TSR_TRY(status);
    }
    w->open = 0;
    tsr_put_u32(tail, DATA_MARK);
    tsr_put_u32(tail + 4, e->crc);
    tsr_put_u64(tail + 8, (uint64_t)e->packed);
    tsr_put_u64(tail + 16, (uint64_t)e->size);
    return tsr_output_write(w->out, tail, sizeof tail);
}

static tsr_status write_entry(tsr_zip_writer *w, const written *e)
{
    uint8_t head[CENTRAL_BYTES + 28] = { 0 };
    tsr_put_u32(head, CENTRAL_MARK);
    tsr_put_u16(head + 4, 45);
    tsr_put_u16(head + 6, 45);
    tsr_put_u16(head + 8, 8 | 0x800);
    tsr_put_u16(head + 10, (uint16_t)e->method);
    tsr_put_u16(head + 14, 33);
    tsr_put_u32(head + 16, e->crc);
    tsr_put_u32(head + 20, 0xffffffffu);
    tsr_put_u32(head + 24, 0xffffffffu);
    tsr_put_u16(head + 28, (uint16_t)strlen(e->name));
    tsr_put_u16(head + 30, 28);
    tsr_put_u32(head + 42, 0xffffffffu);
    tsr_put_u16(head + CENTRAL_BYTES, 1);
    tsr_put_u16(head + CENTRAL_BYTES + 2, 24);
    tsr_put_u64(head + CENTRAL_BYTES + 4, (uint64_t)e->size);
    tsr_put_u64(head + CENTRAL_BYTES + 12, (uint64_t)e->packed);
    tsr_put_u64(head + CENTRAL_BYTES + 20, (uint64_t)e->header);
    TSR_TRY(tsr_output_write(w->out, head, CENTRAL_BYTES));
    TSR_TRY(tsr_output_write(w->out, e->name, strlen(e->name)));
    return tsr_output_write(w->out, head + CENTRAL_BYTES, 28);
}

static tsr_status write_directory(tsr_zip_writer *w)
{
    uint8_t end[END64_BYTES + LOCATOR_BYTES + END_BYTES] = { 0 }, *locator = end + END64_BYTES, *last = locator + LOCATOR_BYTES;
    const int64_t begin = tsr_output_position(w->out);
    for (int k = 0; k < w->count; k++) TSR_TRY(write_entry(w, &w->entry[k]));
    const int64_t stop = tsr_output_position(w->out);
    tsr_put_u32(end, END64_MARK);
    tsr_put_u64(end + 4, END64_BYTES - 12);
    tsr_put_u16(end + 12, 45);
    tsr_put_u16(end + 14, 45);
    tsr_put_u64(end + 24, (uint64_t)w->count);
    tsr_put_u64(end + 32, (uint64_t)w->count);
    tsr_put_u64(end + 40, (uint64_t)(stop - begin));
    tsr_put_u64(end + 48, (uint64_t)begin);
    tsr_put_u32(locator, LOCATOR_MARK);
    tsr_put_u64(locator + 8, (uint64_t)stop);
    tsr_put_u32(locator + 16, 1);
    tsr_put_u32(last, END_MARK);
    tsr_put_u16(last + 8, (uint16_t)w->count);
    tsr_put_u16(last + 10, (uint16_t)w->count);
    tsr_put_u32(last + 12, (uint32_t)(stop - begin));
    tsr_put_u32(last + 16, 0xffffffffu);
    return tsr_output_write(w->out, end, sizeof end);
}

tsr_status tsr_zip_end(tsr_zip_writer **writer, tsr_status status)
{
    tsr_zip_writer *w = *writer;
    *writer = NULL;
    if (!w) return status;
    if (status == TSR_OK) status = write_directory(w);
    if (w->open && w->entry[w->count - 1].method == DEFLATED) deflateEnd(&w->z);
    for (int k = 0; k < w->count; k++) free(w->entry[k].name);
    free(w->entry);
    free(w);
    return status;
}
