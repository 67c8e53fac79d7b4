/* Inflating: libdeflate for streams decoded as a whole (four times as fast), zlib for parts. */
#include "io/inflate.h"

#include <stdlib.h>
#include <string.h>

#ifdef TSR_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif
#include <zlib.h>

enum { STEP_BYTES = 4 << 20, PART = 1 << 18 };

static tsr_status damaged(const char *name, const char *why)
{
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: the compressed data are damaged or truncated (%s)", name, why);
}

/* Does another member of a gzip file begin here? */
static int is_member(tsr_wrapper wrapper, const uint8_t *at, size_t left)
{
    return wrapper == TSR_WRAPPER_GZIP && left >= 2 && at[0] == 0x1f && at[1] == 0x8b;
}

/* What lies behind the last member: zeros fill blocks of tapes and are nothing; of anything else a remark is made. */
static void remark_rest(const char *name, const uint8_t *at, size_t left)
{
    size_t zeros = 0;
    while (zeros < left && !at[zeros]) zeros++;
    if (zeros < left) tsr_remark("%s: %zu bytes behind the end of the compressed data were left out", name, left);
}

/* One stream of members, decoded in order: `skip` bytes fall, `wanted` go to `to`, or, where that is NULL, to `sink` in parts; then it stops, or, with
 * `whole`, goes on to the end, where the checksum stands. */
struct stream {
    const char *name;
    const tsr_progress *progress;
    const uint8_t *packed;
    size_t packed_size, used;
    tsr_wrapper wrapper;
    int64_t skip, wanted, done; /* done: of the wanted ones */
    uint8_t *to;
    tsr_input_sink sink;
    void *user;
    int whole, ended;
};

static tsr_status feed(struct stream *s, z_stream *z)
{
    const size_t take = s->packed_size - s->used < STEP_BYTES ? s->packed_size - s->used : STEP_BYTES;
    if (!take) return damaged(s->name, "the end is missing");
    z->next_in = (Bytef *)(uintptr_t)(s->packed + s->used);
    z->avail_in = (uInt)take;
    s->used += take;
    if (tsr_progress_report(s->progress, (double)s->done / (double)tsr_max64(s->wanted, 1), "reading"))
        TSR_FAIL(TSR_ERROR_CANCELLED, "cancelled during reading");
    return TSR_OK;
}

static tsr_status decode(struct stream *s, z_stream *z, uint8_t *part)
{
    while (s->done < s->wanted || s->whole) {
        if (!z->avail_in) TSR_TRY(feed(s, z));
        const int64_t left = s->skip > 0 ? s->skip : s->wanted - s->done;
        const int direct = s->to && s->skip <= 0 && left > 0;
        const uInt ask = (uInt)(left > 0 ? tsr_min64(left, direct ? STEP_BYTES : PART) : PART);
        z->next_out = direct ? s->to + s->done : part;
        z->avail_out = ask;
        const int result = inflate(z, Z_NO_FLUSH);
        const int64_t got = (int64_t)(ask - z->avail_out);
        if (s->skip > 0) {
            s->skip -= got;
        } else if (left > 0) {
            if (!s->to && got) TSR_TRY(s->sink(s->user, part, (size_t)got));
            s->done += got;
        }
        if (result == Z_STREAM_END) {
            const size_t rest = s->packed_size - s->used + z->avail_in;
            const uint8_t *next = s->packed + s->packed_size - rest;
            if (is_member(s->wrapper, next, rest) && inflateReset(z) == Z_OK) continue;
            remark_rest(s->name, next, rest);
            s->ended = 1;
            break;
        }
        if (result != Z_OK && result != Z_BUF_ERROR) return damaged(s->name, z->msg ? z->msg : "not a deflate stream");
    }
    return TSR_OK;
}

static tsr_status run(struct stream *s)
{
    z_stream z = { 0 };
    tsr_status status = TSR_OK;
    uint8_t *part = (uint8_t *)malloc(PART);
    if (!part) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for inflating", s->name);
    if (inflateInit2(&z, s->wrapper == TSR_WRAPPER_GZIP ? 15 + 16 : 15) != Z_OK)
        TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "%s: out of memory for inflating", s->name);
    status = decode(s, &z, part);
    inflateEnd(&z);
done:
    free(part);
    return status;
}

tsr_status tsr_inflate_head(const char *name, const uint8_t *packed, size_t packed_size, tsr_wrapper wrapper, uint8_t *to, size_t room,
                            size_t *stored, int *ended)
{
    struct stream s = { .name = name, .packed = packed, .packed_size = packed_size, .wrapper = wrapper, .wanted = (int64_t)room, .to = to };
    const tsr_status status = run(&s);
    *stored = (size_t)s.done;
    *ended = s.ended;
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
    while (result == LIBDEFLATE_SUCCESS && (in == 0 || is_member(wrapper, packed + in, packed_size - in))) {
        size_t took = 0, gave = 0;
        result = wrapper == TSR_WRAPPER_GZIP ? libdeflate_gzip_decompress_ex(tool, packed + in, packed_size - in, to + out, size - out, &took, &gave)
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
    else remark_rest(name, packed + in, packed_size - in);
    return TSR_OK;
}

#else

tsr_status tsr_inflate_whole(const char *name, const uint8_t *packed, size_t packed_size, tsr_wrapper wrapper, uint8_t *to, size_t size,
                             size_t *stored, int *over)
{
    struct stream s = { .name = name, .packed = packed, .packed_size = packed_size, .wrapper = wrapper, .wanted = (int64_t)size, .to = to };
    uint8_t one; /* is there more? */
    TSR_TRY(run(&s));
    *stored = (size_t)s.done;
    *over = 0;
    if (s.ended) return TSR_OK;
    struct stream more = {
        .name = name, .packed = packed, .packed_size = packed_size, .wrapper = wrapper, .skip = (int64_t)size, .wanted = 1, .to = &one
    };
    TSR_TRY(run(&more));
    *over = more.done > 0;
    return TSR_OK;
}

#endif

/* The whole-file decoder serves where nothing is to be skipped; it needs room for all there is, so a stream with more behind falls back
 * to the slower one. */
tsr_status tsr_inflate_exactly(const char *name, const tsr_progress *progress, const uint8_t *packed, size_t packed_size, tsr_wrapper wrapper,
                               int64_t skip, uint8_t *to, size_t size, const char *what)
{
    size_t stored = 0;
    int over = 1;
    TSR_PROGRESS(progress, 0, "reading");
    if (!skip) TSR_TRY(tsr_inflate_whole(name, packed, packed_size, wrapper, to, size, &stored, &over));
    if (over) {
        struct stream s = { .name = name,
                            .progress = progress,
                            .packed = packed,
                            .packed_size = packed_size,
                            .wrapper = wrapper,
                            .skip = skip,
                            .wanted = (int64_t)size,
                            .to = to,
                            .whole = 1 };
        TSR_TRY(run(&s));
        stored = (size_t)s.done;
    }
    if (stored != size) TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: %zu bytes of %s, expected %zu", name, stored, what, size);
    TSR_PROGRESS(progress, 1, "reading");
    return TSR_OK;
}

tsr_status tsr_inflate_to(const char *name, const tsr_progress *progress, const uint8_t *packed, size_t packed_size, tsr_wrapper wrapper,
                          int64_t skip, int64_t size, tsr_input_sink sink, void *user, const char *what)
{
    struct stream s = { .name = name,
                        .progress = progress,
                        .packed = packed,
                        .packed_size = packed_size,
                        .wrapper = wrapper,
                        .skip = skip,
                        .wanted = size,
                        .sink = sink,
                        .user = user,
                        .whole = 1 };
    TSR_TRY(run(&s));
    if (s.done < size) TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: %lld bytes of %s, expected %lld", name, (long long)s.done, what, (long long)size);
    return TSR_OK;
}
