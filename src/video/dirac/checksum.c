#include "video/dirac/checksum.h"

#include <string.h>

enum { BLOCK = 64, ROUNDS = 64 };

/* floor(2^32 |sin(k + 1)|) */
static const uint32_t sines[ROUNDS] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1,
    0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453,
    0xd8a1e681, 0xe7d3fbc8, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 0xfffa3942,
    0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05,
    0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d,
    0x85845dd1, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

static uint32_t turned(uint32_t v, int bits) { return v << bits | v >> (32 - bits); }

static void take_block(uint32_t state[4], const uint8_t *bytes)
{
    static const uint8_t turns[4][4] = { { 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 }, { 6, 10, 15, 21 } };
    static const uint8_t step[4] = { 1, 5, 3, 7 }, first[4] = { 0, 1, 5, 0 };
    uint32_t word[16], a = state[0], b = state[1], c = state[2], d = state[3];
    for (int k = 0; k < 16; k++)
        word[k] = (uint32_t)bytes[4 * k] | (uint32_t)bytes[4 * k + 1] << 8 | (uint32_t)bytes[4 * k + 2] << 16 | (uint32_t)bytes[4 * k + 3] << 24;
    for (int k = 0; k < ROUNDS; k++) {
        const int round = k / 16;
        const uint32_t mixed = round == 0 ? (b & c) | (~b & d) : round == 1 ? (d & b) | (~d & c) : round == 2 ? b ^ c ^ d : c ^ (b | ~d);
        const uint32_t sum = a + mixed + sines[k] + word[(first[round] + step[round] * k) % 16];
        a = d;
        d = c;
        c = b;
        b += turned(sum, turns[round][k % 4]);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

void tsr_dirac_md5_begin(tsr_dirac_md5 *md5) { *md5 = (tsr_dirac_md5){ { 0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u } }; }

void tsr_dirac_md5_rows(tsr_dirac_md5 *md5, const void *rows, int64_t stride, int64_t width, int32_t height)
{
    const int64_t whole = width / BLOCK * BLOCK;
    for (int32_t y = 0; y < height; y++) {
        const uint8_t *row = (const uint8_t *)rows + y * stride;
        uint8_t rest[BLOCK] = { 0 };
        for (int64_t x = 0; x < whole; x += BLOCK) take_block(md5->state, row + x);
        if (whole == width) continue;
        memcpy(rest, row + whole, (size_t)(width - whole));
        take_block(md5->state, rest);
    }
}

void tsr_dirac_md5_digest(const tsr_dirac_md5 *md5, uint8_t digest[TSR_DIRAC_DIGEST])
{
    for (int k = 0; k < TSR_DIRAC_DIGEST; k++) digest[k] = (uint8_t)(md5->state[k / 4] >> 8 * (k % 4));
}
