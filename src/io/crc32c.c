/* Eight bytes at a time over eight tables. */
#include "io/crc32c.h"

#include <pthread.h>

#include "io/little_endian.h"

static uint32_t table[8][256];

static void make_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
        table[0][i] = crc;
    }
    for (int t = 1; t < 8; t++)
        for (uint32_t i = 0; i < 256; i++) table[t][i] = table[t - 1][i] >> 8 ^ table[0][table[t - 1][i] & 255];
}

uint32_t tsr_crc32c(const uint8_t *p, size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    uint32_t crc = ~(uint32_t)0;
    pthread_once(&once, make_tables);
    for (; size >= 8; p += 8, size -= 8) {
        const uint64_t v = tsr_get_u64(p) ^ crc;
        crc = 0;
        for (int k = 0; k < 8; k++) crc ^= table[7 - k][v >> 8 * k & 255];
    }
    for (; size; p++, size--) crc = crc >> 8 ^ table[0][(crc ^ *p) & 255];
    return ~crc;
}
