/* Inflating: libdeflate for streams decoded as a whole (four times as fast), zlib for parts. */
#include "io/inflate.h"

#include <stdlib.h>
#include <string.h>

#ifdef TSR_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif
#include <zlib.h>

enum { STEP_BYTES = 4 << 20 };

static tsr_status damaged(const char *name, const char *why)
{
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: the compressed data are damaged or truncated (%s)", name, why);
}

tsr_status tsr_inflate_stream(const char *name, const tsr_progress *progress, const uint8_t *packed, size_t packed_size, tsr_wrapper wrapper,
                              int64_t skip, uint8_t *to, size_t room, size_t *stored, int *ended)
{
    z_stream z = { 0 };
    uint8_t discard[16384];
    tsr_status status = TSR_OK;
    size_t done = 0, used = 0;
    int result = inflateInit2(&z, wrapper == TSR_WRAPPER_GZIP ? 15 + 16 : 15);
    if (result != Z_OK) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for inflating", name);
    *ended = 0;
    while (done < room) {
        if (!z.avail_in) {
            size_t take = packed_size - used < STEP_BYTES ? packed_size - used : STEP_BYTES;
            if (!take) { status = damaged(name, "the end is missing"); break; }
            z.next_in = (Bytef *)(uintptr_t)(packed + used);
            z.avail_in = (uInt)take;
            used += take;
            if (tsr_progress_report(progress, (double)done / (double)room, "reading")) {
                status = TSR_FAILED(TSR_ERROR_CANCELLED, "cancelled during reading");
                break;
            }
        }
        size_t ask = room - done < STEP_BYTES ? room - done : STEP_BYTES;
        if (skip > 0) ask = skip < (int64_t)sizeof discard ? (size_t)skip : sizeof discard;
        z.next_out = skip > 0 ? discard : to + done;
        z.avail_out = (uInt)ask;
        result = inflate(&z, Z_NO_FLUSH);
        size_t got = ask - z.avail_out;
        if (skip > 0) skip -= (int64_t)got;
        else done += got;
        if (result == Z_STREAM_END) {
            size_t left = packed_size - used + z.avail_in;
            const uint8_t *next = packed + packed_size - left;
            if (wrapper == TSR_WRAPPER_GZIP && left >= 3 && next[0] == 0x1f && next[1] == 0x8b && inflateReset(&z) == Z_OK) continue;
            *ended = 1;
            break;
        }
        if (result != Z_OK && result != Z_BUF_ERROR) { status = damaged(name, z.msg ? z.msg : "not a deflate stream"); break; }
    }
    inflateEnd(&z);
    *stored = done;
    return status;
}

#ifdef TSR_HAVE_LIBDEFLATE

tsr_status tsr_inflate_whole(const char *name, const uint8_t *packed, size_t packed_size, tsr_wrapper wrapper, uint8_t *to, size_t size,
                                size_t *stored, int *over)
{
    struct libdeflate_decompressor *tool = libdeflate_alloc_decompressor();
    if (!tool) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for inflating", name);
    enum libdeflate_result result = LIBDEFLATE_SUCCESS;
    size_t in = 0, out = 0;
    *over = 0;
    while (result == LIBDEFLATE_SUCCESS &&
           (in == 0 || (wrapper == TSR_WRAPPER_GZIP && packed_size - in >= 18 && packed[in] == 0x1f && packed[in + 1] == 0x8b))) {
        size_t took = 0, gave = 0;
        result = wrapper == TSR_WRAPPER_GZIP
                     ? libdeflate_gzip_decompress_ex(tool, packed + in, packed_size - in, to + out, size - out, &took, &gave)
                     : libdeflate_zlib_decompress_ex(tool, packed + in, packed_size - in, to + out, size - out, &took, &gave);
        if (result == LIBDEFLATE_SUCCESS) {
            in += took;
            out += gave;
        }
    }
    libdeflate_free_decompressor(tool);
    *stored = out;
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE) *over = 1;
    else if (result != LIBDEFLATE_SUCCESS) return damaged(name, "checksum or code error");
    return TSR_OK;
}

#else

tsr_status tsr_inflate_whole(const char *name, const uint8_t *packed, size_t packed_size, tsr_wrapper wrapper, uint8_t *to, size_t size,
                             size_t *stored, int *over)
{
    int ended;
    TSR_TRY(tsr_inflate_stream(name, NULL, packed, packed_size, wrapper, 0, to, size, stored, &ended));
    *over = !ended;
    return TSR_OK;
}

#endif

/* The whole-file decoder serves where nothing is to be skipped; it needs room for all there is, so a stream with more behind falls back
 * to the slower one. */
tsr_status tsr_inflate_exactly(const char *name, const tsr_progress *progress, const uint8_t *packed, size_t packed_size, tsr_wrapper wrapper,
                               int64_t skip, uint8_t *to, size_t size, const char *what)
{
    size_t stored = 0;
    int over = 1, ended = 0;
    TSR_PROGRESS(progress, 0, "reading");
    if (!skip) TSR_TRY(tsr_inflate_whole(name, packed, packed_size, wrapper, to, size, &stored, &over));
    if (over) TSR_TRY(tsr_inflate_stream(name, progress, packed, packed_size, wrapper, skip, to, size, &stored, &ended));
    if (stored != size)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: %zu bytes of %s, expected %zu", name, stored, what, size);
    TSR_PROGRESS(progress, 1, "reading");
    return TSR_OK;
}

tsr_status tsr_inflate_to(const char *name, const tsr_progress *progress, const uint8_t *packed, size_t packed_size, tsr_wrapper wrapper, int64_t skip,
                          int64_t size, tsr_input_sink sink, void *user, const char *what)
{
    enum { PART = 1 << 18 };
    z_stream z = { 0 };
    tsr_status status = TSR_OK;
    size_t used = 0;
    int64_t done = -skip; /* decoded bytes that were wanted */
    uint8_t *part = (uint8_t *)malloc(PART);
    if (!part) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for inflating", name);
    if (inflateInit2(&z, wrapper == TSR_WRAPPER_GZIP ? 15 + 16 : 15) != Z_OK) {
        free(part);
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for inflating", name);
    }
    while (done < size && status == TSR_OK) {
        if (!z.avail_in) {
            const size_t take = packed_size - used < STEP_BYTES ? packed_size - used : STEP_BYTES;
            if (!take) {
                status = damaged(name, "the end is missing");
                break;
            }
            z.next_in = (Bytef *)(uintptr_t)(packed + used);
            z.avail_in = (uInt)take;
            used += take;
            if (tsr_progress_report(progress, (double)tsr_max64(done, 0) / (double)size, "reading"))
                status = TSR_FAILED(TSR_ERROR_CANCELLED, "cancelled during reading");
        }
        z.next_out = part;
        z.avail_out = PART;
        const int result = inflate(&z, Z_NO_FLUSH);
        const int64_t got = PART - (int64_t)z.avail_out, from = tsr_min64(got, tsr_max64(0, -done)), to = tsr_min64(got, size - done);
        if (from < to && status == TSR_OK) status = sink(user, part + from, (size_t)(to - from));
        done += got;
        if (result == Z_STREAM_END) {
            const size_t left = packed_size - used + z.avail_in;
            const uint8_t *next = packed + packed_size - left;
            if (wrapper == TSR_WRAPPER_GZIP && left >= 3 && next[0] == 0x1f && next[1] == 0x8b && inflateReset(&z) == Z_OK) continue;
            break;
        }
        if (result != Z_OK && result != Z_BUF_ERROR && status == TSR_OK) status = damaged(name, z.msg ? z.msg : "not a deflate stream");
    }
    inflateEnd(&z);
    free(part);
    if (status == TSR_OK && done < size)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: %lld bytes of %s, expected %lld", name, (long long)tsr_max64(done, 0), what, (long long)size);
    return status;
}
