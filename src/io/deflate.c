/* Pieces of 512 KiB are deflated side by side, each with the 32 KiB before it as dictionary, and end on a byte boundary (sync flush), so
 * that they join into ONE gzip or zlib stream that every reader understands. */
#include "io/deflate.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/parallel.h"

enum { PIECE = 512 << 10, WINDOW = 32 << 10, PIECES = 16, DEFAULT_LEVEL = 4 };

struct piece {
    uint8_t *packed;
    size_t packed_size;
    uint32_t check;
    int failed;
};

struct tsr_deflater {
    tsr_wrapper wrapper;
    int level, last;
    tsr_sink sink;
    void *user;
    uint8_t *buffer; /* WINDOW bytes of what came before, then up to PIECES pieces */
    size_t filled, history;
    size_t packed_capacity;
    struct piece pieces[PIECES];
    uint32_t check;
    uint64_t total;
};

static tsr_status start(tsr_deflater *d)
{
    static const uint8_t gzip[10] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255 }; /* no name and no time: the same bytes on every run */
    static const uint8_t zlib[2] = { 0x78, 0x9c };
    if (d->wrapper == TSR_WRAPPER_GZIP) return d->sink(d->user, gzip, sizeof gzip);
    return d->sink(d->user, zlib, sizeof zlib);
}

tsr_status tsr_deflater_create(tsr_wrapper wrapper, int level, tsr_sink sink, void *user, tsr_deflater **deflater)
{
    tsr_deflater *d = (tsr_deflater *)calloc(1, sizeof *d);
    *deflater = d;
    int ok = d != NULL;
    if (ok) {
        *d = (tsr_deflater){ .wrapper = wrapper, .level = level > 0 ? level : DEFAULT_LEVEL, .sink = sink, .user = user };
        d->check = wrapper == TSR_WRAPPER_GZIP ? (uint32_t)crc32(0, NULL, 0) : (uint32_t)adler32(0, NULL, 0);
        d->packed_capacity = compressBound(PIECE) + 64;
        d->buffer = (uint8_t *)malloc(WINDOW + (size_t)PIECES * PIECE);
        ok = d->buffer != NULL;
        for (int i = 0; i < PIECES; i++) {
            d->pieces[i].packed = (uint8_t *)malloc(d->packed_capacity);
            ok = ok && d->pieces[i].packed;
        }
    }
    if (!ok) {
        tsr_deflater_destroy(deflater);
        TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for compression");
    }
    tsr_status status = start(d);
    if (status != TSR_OK) tsr_deflater_destroy(deflater);
    TSR_TRY(status);
    return TSR_OK;
}

void tsr_deflater_destroy(tsr_deflater **deflater)
{
    if (!deflater || !*deflater) return;
    for (int i = 0; i < PIECES; i++) free((*deflater)->pieces[i].packed);
    free((*deflater)->buffer);
    free(*deflater);
    *deflater = NULL;
}

static void pack_pieces(void *user, int64_t begin, int64_t end, int worker)
{
    tsr_deflater *d = (tsr_deflater *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        struct piece *p = &d->pieces[i];
        const uint8_t *from = d->buffer + WINDOW + i * PIECE;
        size_t size = (size_t)tsr_min64((int64_t)d->filled - i * PIECE, PIECE), history = i ? WINDOW : d->history;
        int final = d->last && (size_t)(i * PIECE) + size == d->filled;
        z_stream z = { 0 };
        p->failed = deflateInit2(&z, d->level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK;
        if (p->failed) continue;
        if (history) deflateSetDictionary(&z, from - history, (uInt)history);
        z.next_in = (Bytef *)(uintptr_t)from;
        z.avail_in = (uInt)size;
        z.next_out = p->packed;
        z.avail_out = (uInt)d->packed_capacity;
        int result = deflate(&z, final ? Z_FINISH : Z_SYNC_FLUSH);
        p->failed = result != (final ? Z_STREAM_END : Z_OK) || z.avail_in || !z.avail_out;
        p->packed_size = d->packed_capacity - z.avail_out;
        deflateEnd(&z);
        p->check = d->wrapper == TSR_WRAPPER_GZIP ? (uint32_t)crc32(0, from, (uInt)size) : (uint32_t)adler32(1, from, (uInt)size);
    }
}

/* Packs what the buffer holds and keeps its last bytes as history. */
static tsr_status flush(tsr_deflater *d)
{
    int64_t pieces = tsr_max64(tsr_ceil_div((int64_t)d->filled, PIECE), d->last);
    tsr_parallel(tsr_parallel_default_threads(), pieces, 1, pack_pieces, d);
    for (int64_t i = 0; i < pieces; i++) {
        struct piece *p = &d->pieces[i];
        size_t size = (size_t)tsr_min64((int64_t)d->filled - i * PIECE, PIECE);
        if (p->failed) TSR_FAIL(TSR_ERROR_MEMORY, "compression failed: out of memory");
        TSR_TRY(d->sink(d->user, p->packed, p->packed_size));
        d->check = d->wrapper == TSR_WRAPPER_GZIP ? (uint32_t)crc32_combine(d->check, p->check, (z_off_t)size)
                                                  : (uint32_t)adler32_combine(d->check, p->check, (z_off_t)size);
    }
    d->total += d->filled;
    d->history = (size_t)tsr_min64((int64_t)(d->history + d->filled), WINDOW);
    memmove(d->buffer + WINDOW - d->history, d->buffer + WINDOW + d->filled - d->history, d->history);
    d->filled = 0;
    return TSR_OK;
}

tsr_status tsr_deflater_write(tsr_deflater *d, const void *bytes, size_t size)
{
    const uint8_t *from = (const uint8_t *)bytes;
    while (size) {
        size_t room = (size_t)PIECES * PIECE - d->filled, step = size < room ? size : room;
        memcpy(d->buffer + WINDOW + d->filled, from, step);
        d->filled += step;
        from += step;
        size -= step;
        if (d->filled == (size_t)PIECES * PIECE) TSR_TRY(flush(d));
    }
    return TSR_OK;
}

tsr_status tsr_deflater_end(tsr_deflater *d)
{
    uint8_t tail[8];
    d->last = 1;
    TSR_TRY(flush(d));
    uint32_t size = (uint32_t)d->total; /* gzip: modulo 2^32 */
    for (int i = 0; i < 4; i++) {
        tail[i] = (uint8_t)(d->wrapper == TSR_WRAPPER_GZIP ? d->check >> 8 * i : d->check >> (24 - 8 * i));
        tail[4 + i] = (uint8_t)(size >> 8 * i);
    }
    return d->sink(d->user, tail, d->wrapper == TSR_WRAPPER_GZIP ? 8 : 4);
}
