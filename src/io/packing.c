/* io/packing.c: bytes packed by zstd, or as they are. */
#include "io/packing.h"

#include <string.h>

#ifdef TSR_HAVE_ZSTD
#include <zstd.h>
#endif

int tsr_codec_known(int codec)
{
#ifdef TSR_HAVE_ZSTD
    return codec == TSR_CODEC_NONE || codec == TSR_CODEC_ZSTD;
#else
    return codec == TSR_CODEC_NONE;
#endif
}

int64_t tsr_pack_bound(int codec, int64_t plain)
{
#ifdef TSR_HAVE_ZSTD
    if (codec == TSR_CODEC_ZSTD) return (int64_t)ZSTD_compressBound((size_t)plain);
#endif
    (void)codec;
    return plain;
}

int64_t tsr_pack(int *codec, int level, const uint8_t *plain, int64_t size, uint8_t *stored, int64_t room)
{
#ifdef TSR_HAVE_ZSTD
    if (*codec == TSR_CODEC_ZSTD && size) {
        size_t packed = ZSTD_compress(stored, (size_t)room, plain, (size_t)size, level);
        if (!ZSTD_isError(packed) && (int64_t)packed < size) return (int64_t)packed;
    }
#endif
    (void)level;
    if (room < size) return 0;
    *codec = TSR_CODEC_NONE;
    memcpy(stored, plain, (size_t)size);
    return size;
}

int tsr_unpack(int codec, const uint8_t *stored, int64_t stored_size, uint8_t *plain, int64_t size)
{
#ifdef TSR_HAVE_ZSTD
    if (codec == TSR_CODEC_ZSTD) {
        size_t got = ZSTD_decompress(plain, (size_t)size, stored, (size_t)stored_size);
        return !ZSTD_isError(got) && (int64_t)got == size;
    }
#endif
    if (codec != TSR_CODEC_NONE || stored_size != size) return 0;
    memcpy(plain, stored, (size_t)size);
    return 1;
}
