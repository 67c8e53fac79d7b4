/* Filters that h5py, hdf5plugin and PyTables pack chunks with and the HDF5 library does not bring: LZF (32000), blosc (32001), LZ4 (32004), zstd (32015).
 * Registered filters: https://github.com/HDFGroup/hdf5_plugins. Between tsr_hdf5_lock and tsr_hdf5_unlock. */
#include "formats/volumes/hdf5/hdf5.h"

#ifdef TSR_HAVE_HDF5

#include "io/lz4.h"

#include <stdlib.h>
#include <string.h>
#ifdef TSR_HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef TSR_HAVE_BLOSC
#include <blosc.h>
#endif

enum { LZF = 32000, BLOSC = 32001, LZ4 = 32004, ZSTD = 32015, MOST = 1 << 30 };

/* Of the array that is read: what a chunk unpacks to. The library takes a filter's word for it; 0: unknown. */
static size_t expected;
void tsr_hdf5_expect(size_t chunk_bytes) { expected = chunk_bytes; }

static uint64_t big(const uint8_t *p, int bytes)
{
    uint64_t v = 0;
    for (int k = 0; k < bytes; k++) v = v << 8 | p[k];
    return v;
}

/* LibLZF: runs of literals, and matches of 3 bytes and more up to 8 KiB before. */
static int unpack_lzf(const uint8_t *p, size_t size, uint8_t *to, size_t room)
{
    const uint8_t *end = p + size;
    size_t at = 0;
    while (p < end) {
        const unsigned control = *p++;
        size_t n = control < 32 ? control + 1 : control >> 5;
        if (control < 32) {
            if ((size_t)(end - p) < n || room - at < n) return 0;
            memcpy(to + at, p, n);
            p += n;
        } else {
            if (n == 7) {
                if (p == end) return 0;
                n += *p++;
            }
            n += 2;
            if (p == end) return 0;
            const size_t back = ((control & 31u) << 8 | *p++) + 1;
            if (back > at || room - at < n) return 0;
            for (size_t i = 0; i < n; i++) to[at + i] = to[at + i - back];
        }
        at += n;
    }
    return at == room;
}

static int unpack_lz4(const uint8_t *p, size_t size, uint8_t *to, size_t room)
{
    const uint64_t block = size < 12 ? 0 : big(p + 8, 4);
    size_t at = 12, done = 0;
    if (!block || big(p, 8) != room) return 0;
    while (done < room) {
        const size_t n = room - done < block ? room - done : (size_t)block;
        if (size - at < 4) return 0;
        const size_t packed = (size_t)big(p + at, 4);
        at += 4;
        if (packed > size - at) return 0;
        if (packed == n) memcpy(to + done, p + at, n); /* did not become smaller */
        else if (!tsr_lz4_unpack(p + at, packed, to + done, n)) return 0;
        at += packed;
        done += n;
    }
    return 1;
}

/* The size that the packed bytes say. */
static size_t size_of(int filter, const uint8_t *p, size_t size, size_t n, const unsigned *values)
{
    size_t said = 0;
    if (filter == LZF) return n > 2 ? values[2] : 0;
    if (filter == LZ4) return size < 12 || big(p, 8) > MOST ? 0 : (size_t)big(p, 8);
#ifdef TSR_HAVE_BLOSC
    if (filter == BLOSC && blosc_cbuffer_validate(p, size, &said) < 0) said = 0;
#endif
#ifdef TSR_HAVE_ZSTD
    if (filter == ZSTD) {
        const unsigned long long content = ZSTD_getFrameContentSize(p, size);
        said = content == ZSTD_CONTENTSIZE_ERROR ? 0 : content == ZSTD_CONTENTSIZE_UNKNOWN ? expected : content > MOST ? 0 : (size_t)content;
    }
#endif
    return said;
}

static int unpack(int filter, const uint8_t *p, size_t size, uint8_t *to, size_t room)
{
    if (filter == LZF) return unpack_lzf(p, size, to, room);
    if (filter == LZ4) return unpack_lz4(p, size, to, room);
#ifdef TSR_HAVE_BLOSC
    if (filter == BLOSC) return blosc_decompress_ctx(p, to, room, 1) == (int)room;
#endif
#ifdef TSR_HAVE_ZSTD
    if (filter == ZSTD) return ZSTD_decompress(to, room, p, size) == room;
#endif
    return 0;
}

static size_t run(int filter, unsigned flags, size_t n, const unsigned *values, size_t bytes, size_t *room, void **buffer)
{
    if (!(flags & H5Z_FLAG_REVERSE)) return 0; /* read only */
    const size_t size = size_of(filter, (const uint8_t *)*buffer, bytes, n, values);
    if (!size || size > MOST || (expected && size != expected)) return 0;
    uint8_t *to = (uint8_t *)H5allocate_memory(size, 0);
    if (!to) return 0;
    if (!unpack(filter, (const uint8_t *)*buffer, bytes, to, size)) {
        H5free_memory(to);
        return 0;
    }
    H5free_memory(*buffer);
    *buffer = to;
    *room = size;
    return size;
}

static size_t run_lzf(unsigned flags, size_t n, const unsigned *values, size_t bytes, size_t *room, void **buffer)
{
    return run(LZF, flags, n, values, bytes, room, buffer);
}
static size_t run_lz4(unsigned flags, size_t n, const unsigned *values, size_t bytes, size_t *room, void **buffer)
{
    return run(LZ4, flags, n, values, bytes, room, buffer);
}
#ifdef TSR_HAVE_BLOSC
static size_t run_blosc(unsigned flags, size_t n, const unsigned *values, size_t bytes, size_t *room, void **buffer)
{
    return run(BLOSC, flags, n, values, bytes, room, buffer);
}
#endif
#ifdef TSR_HAVE_ZSTD
static size_t run_zstd(unsigned flags, size_t n, const unsigned *values, size_t bytes, size_t *room, void **buffer)
{
    return run(ZSTD, flags, n, values, bytes, room, buffer);
}
#endif

void tsr_hdf5_filters(void)
{
    static int done;
    static const H5Z_class2_t filters[] = {
        { H5Z_CLASS_T_VERS, LZF, 0, 1, "lzf", NULL, NULL, run_lzf },
        { H5Z_CLASS_T_VERS, LZ4, 0, 1, "lz4", NULL, NULL, run_lz4 },
#ifdef TSR_HAVE_BLOSC
        { H5Z_CLASS_T_VERS, BLOSC, 0, 1, "blosc", NULL, NULL, run_blosc },
#endif
#ifdef TSR_HAVE_ZSTD
        { H5Z_CLASS_T_VERS, ZSTD, 0, 1, "zstd", NULL, NULL, run_zstd },
#endif
    };
    for (size_t k = 0; k < sizeof filters / sizeof *filters && !done; k++)
        if (H5Zfilter_avail(filters[k].id) <= 0) H5Zregister(&filters[k]); /* one of the host program or of a plugin stays */
    done = 1;
}

#endif
