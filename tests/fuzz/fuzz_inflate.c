/* Streams of gzip and zlib, in one go and in parts, beside zlib's own inflate: what it refuses is refused, and what it gives is given.
 * Two bytes in front: which wrapper, what is skipped and how much is wanted. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "io/inflate.h"

enum { MOST = 1 << 20 };

static void check(int good, const char *what)
{
    if (good) return;
    write(2, what, strlen(what)) < 0 ? abort() : abort();
}

/* All members; -1 for a damaged or truncated stream, -2 for more than MOST. */
static long oracle(const uint8_t *bytes, size_t size, int gzip, uint8_t *to)
{
    z_stream z = { 0 };
    long done = 0;
    check(inflateInit2(&z, gzip ? 31 : 15) == Z_OK, "zlib\n");
    z.next_in = (Bytef *)(uintptr_t)bytes;
    z.avail_in = (uInt)size;
    for (;;) {
        z.next_out = to + done;
        z.avail_out = (uInt)(MOST - done);
        const int result = inflate(&z, Z_FINISH);
        done = MOST - (long)z.avail_out;
        if (result == Z_STREAM_END) {
            if (!gzip || z.avail_in < 2 || z.next_in[0] != 0x1f || z.next_in[1] != 0x8b || inflateReset(&z) != Z_OK) break;
            continue;
        }
        done = !z.avail_out && result == Z_BUF_ERROR ? -2 : -1;
        break;
    }
    inflateEnd(&z);
    return done;
}

struct collected {
    uint8_t *to;
    size_t size;
};
static tsr_status collect(void *user, const void *bytes, size_t size)
{
    struct collected *c = (struct collected *)user;
    memcpy(c->to + c->size, bytes, size);
    c->size += size;
    return TSR_OK;
}

int fuzz_accepts(const uint8_t *bytes, size_t size)
{
    if (size < 2) return 0;
    const int gzip = bytes[0] & 1;
    const tsr_wrapper wrapper = gzip ? TSR_WRAPPER_GZIP : TSR_WRAPPER_ZLIB;
    uint8_t *expected = (uint8_t *)malloc(MOST), *got = (uint8_t *)malloc(MOST);
    check(expected && got, "memory\n");
    const long all = oracle(bytes + 2, size - 2, gzip, expected);
    const size_t content = all > 0 ? (size_t)all : 0, skip = (bytes[0] >> 1) * content / 200, left = content - (skip < content ? skip : content);
    const size_t wanted = bytes[1] < 250 ? bytes[1] * left / 249 : left + bytes[1] - 249; /* also more than there is */
    if (all != -2) {
        struct collected parts = { got, 0 };
        const tsr_status one = tsr_inflate_exactly("fuzz", NULL, bytes + 2, size - 2, wrapper, (int64_t)skip, got, wanted, "bytes");
        check((one == TSR_OK) == (all >= 0 && skip + wanted <= content), "not what zlib says\n");
        if (one == TSR_OK) check(!memcmp(got, expected + skip, wanted), "other bytes than zlib's\n");
        memset(got, 0, wanted);
        const tsr_status two = tsr_inflate_to("fuzz", NULL, bytes + 2, size - 2, wrapper, (int64_t)skip, (int64_t)wanted, collect, &parts, "bytes");
        check(one == two, "not the same in parts\n");
        if (two == TSR_OK) check(parts.size == wanted && !memcmp(got, expected + skip, wanted), "other bytes in parts\n");
    }
    free(expected);
    free(got);
    return all >= 0;
}

void fuzz_seeds(void)
{
    static const uint8_t front[][2] = { { 1, 249 }, { 1, 40 }, { 61, 100 }, { 0, 249 }, { 60, 20 }, { 1, 255 } };
    uint8_t text[3000], packed[8000];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (uint8_t)(i * i >> 7 & 31);
    for (size_t k = 0; k < sizeof front / sizeof *front; k++) {
        size_t used = 2;
        memcpy(packed, front[k], 2);
        for (int member = 0; member < (k % 2 ? 2 : 1); member++) {
            z_stream z = { 0 };
            check(deflateInit2(&z, 6, Z_DEFLATED, front[k][0] & 1 ? 31 : 15, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib\n");
            z.next_in = text;
            z.avail_in = (uInt)(sizeof text - 100 * k);
            z.next_out = packed + used;
            z.avail_out = (uInt)(sizeof packed - used);
            check(deflate(&z, Z_FINISH) == Z_STREAM_END, "zlib\n");
            used = sizeof packed - z.avail_out;
            deflateEnd(&z);
            if (!(front[k][0] & 1)) break;
        }
        fuzz_seed(packed, used);
    }
}
