#include "formats/lzma.h"

#ifdef TSR_HAVE_LZMA
#include <lzma.h>

int tsr_lzma_unpack(const uint8_t *packed, size_t size, uint8_t *to, size_t bytes)
{
    lzma_stream z = LZMA_STREAM_INIT;
    if (lzma_auto_decoder(&z, UINT64_C(1) << 30, 0) != LZMA_OK) return 0;
    z.next_in = packed, z.avail_in = size, z.next_out = to, z.avail_out = bytes;
    lzma_ret result = lzma_code(&z, LZMA_FINISH);
    const int good = (result == LZMA_STREAM_END || result == LZMA_OK) && !z.avail_out;
    lzma_end(&z);
    return good;
}
#else
int tsr_lzma_unpack(const uint8_t *packed, size_t size, uint8_t *to, size_t bytes)
{
    (void)packed, (void)size, (void)to, (void)bytes;
    return 0;
}
#endif
