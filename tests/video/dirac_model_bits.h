/* Bits, codes and the arithmetic coder of the model of Dirac streams (dirac_model.h), bit by bit as the specification has them. Shares nothing with the
 * library. */
#ifndef TSR_TESTS_DIRAC_MODEL_BITS_H
#define TSR_TESTS_DIRAC_MODEL_BITS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- chance -------------------------------------------------------------------------------------------------------------------------------- */

static inline uint64_t model_random(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static inline int model_below(uint64_t *seed, int n) { return (int)(model_random(seed) % (uint64_t)n); }
static inline int model_between(uint64_t *seed, int least, int most) { return least + model_below(seed, most - least + 1); }
static inline int model_chance(uint64_t *seed, int one_in) { return model_below(seed, one_in) == 0; }

/* ---- bits ---------------------------------------------------------------------------------------------------------------------------------- */

typedef struct model_bits {
    uint8_t *bytes;
    size_t bits, room;
} model_bits;

static inline void model_bit(model_bits *b, int bit)
{
    if (b->bits / 8 >= b->room) {
        const size_t room = 2 * b->room + 64;
        b->bytes = (uint8_t *)realloc(b->bytes, room);
        memset(b->bytes + b->room, 0, room - b->room);
        b->room = room;
    }
    if (bit) b->bytes[b->bits / 8] |= (uint8_t)(0x80 >> b->bits % 8);
    b->bits++;
}
static inline void model_literal(model_bits *b, uint64_t v, int bits)
{
    for (int k = bits - 1; k >= 0; k--) model_bit(b, (int)(v >> k & 1));
}
static inline void model_align(model_bits *b)
{
    while (b->bits % 8) model_bit(b, 0);
}
static inline void model_append(model_bits *b, const model_bits *more) /* whole bytes */
{
    for (size_t k = 0; k < more->bits; k++) model_bit(b, more->bytes[k / 8] >> (7 - k % 8) & 1);
}
static inline void model_uint(model_bits *b, uint32_t value)
{
    const uint64_t v = (uint64_t)value + 1;
    int top = 0;
    while (v >> (top + 1)) top++;
    for (int k = top - 1; k >= 0; k--) {
        model_bit(b, 0);
        model_bit(b, (int)(v >> k & 1));
    }
    model_bit(b, 1);
}
static inline void model_sint(model_bits *b, int32_t value)
{
    model_uint(b, (uint32_t)(value < 0 ? -value : value));
    if (value) model_bit(b, value < 0);
}

/* A part of memory; past its end all bits are 1. */
typedef struct model_part {
    const uint8_t *bytes;
    size_t at, end; /* bits */
} model_part;

static inline int model_read(model_part *p)
{
    const int bit = p->at < p->end ? p->bytes[p->at / 8] >> (7 - p->at % 8) & 1 : 1;
    p->at++;
    return bit;
}
static inline int64_t model_read_sint(model_part *p)
{
    int64_t v = 1;
    while (!model_read(p)) v = 2 * v + model_read(p);
    v--;
    return v && model_read(p) ? -v : v;
}

/* ---- arithmetic coding --------------------------------------------------------------------------------------------------------------------- */

enum { MODEL_CONTEXTS = 32 };

/* One stream of symbols: arithmetic-coded, or bits as they are. */
typedef struct model_coder {
    int plain;
    model_bits out;
    uint32_t low, range, p0[MODEL_CONTEXTS];
} model_coder;

static inline uint32_t model_step(uint32_t k) /* how far a probability moves */
{
    static const uint16_t steps[256] = {
        0,    2,    5,    8,    11,   15,   20,   24,   29,   35,   41,   47,   53,   60,   67,   74,   82,   89,   97,   106,  114,  123,
        132,  141,  150,  160,  170,  180,  190,  201,  211,  222,  233,  244,  256,  267,  279,  291,  303,  315,  327,  340,  353,  366,
        379,  392,  405,  419,  433,  447,  461,  475,  489,  504,  518,  533,  548,  563,  578,  593,  609,  624,  640,  656,  672,  688,
        705,  721,  738,  754,  771,  788,  805,  822,  840,  857,  875,  892,  910,  928,  946,  964,  983,  1001, 1020, 1038, 1057, 1076,
        1095, 1114, 1133, 1153, 1172, 1192, 1211, 1231, 1251, 1271, 1291, 1311, 1332, 1352, 1373, 1393, 1414, 1435, 1456, 1477, 1498, 1520,
        1541, 1562, 1584, 1606, 1628, 1649, 1671, 1694, 1716, 1738, 1760, 1783, 1806, 1828, 1851, 1874, 1897, 1920, 1935, 1942, 1949, 1955,
        1961, 1968, 1974, 1980, 1985, 1991, 1996, 2001, 2006, 2011, 2016, 2021, 2025, 2029, 2033, 2037, 2040, 2044, 2047, 2050, 2053, 2056,
        2058, 2061, 2063, 2065, 2066, 2068, 2069, 2070, 2071, 2072, 2072, 2072, 2072, 2072, 2072, 2071, 2070, 2069, 2068, 2066, 2065, 2063,
        2060, 2058, 2055, 2052, 2049, 2045, 2042, 2038, 2033, 2029, 2024, 2019, 2013, 2008, 2002, 1996, 1989, 1982, 1975, 1968, 1960, 1952,
        1943, 1934, 1925, 1916, 1906, 1896, 1885, 1874, 1863, 1851, 1839, 1827, 1814, 1800, 1786, 1772, 1757, 1742, 1727, 1710, 1694, 1676,
        1659, 1640, 1622, 1602, 1582, 1561, 1540, 1518, 1495, 1471, 1447, 1422, 1396, 1369, 1341, 1312, 1282, 1251, 1219, 1186, 1151, 1114,
        1077, 1037, 995,  952,  906,  857,  805,  750,  690,  625,  553,  471,  376,  255
    };
    return steps[k];
}

static inline void model_coder_begin(model_coder *c, int plain)
{
    memset(c, 0, sizeof *c);
    c->plain = plain;
    c->range = 0xffff;
    for (int k = 0; k < MODEL_CONTEXTS; k++) c->p0[k] = 0x8000;
}

/* One is added to the number that the bits so far are. */
static inline void model_carry(model_bits *b)
{
    for (size_t k = b->bits; k-- > 0;) {
        b->bytes[k / 8] ^= (uint8_t)(0x80 >> k % 8);
        if (b->bytes[k / 8] & 0x80 >> k % 8) return;
    }
}

static inline void model_symbol(model_coder *c, int place, int bit)
{
    if (c->plain) {
        model_bit(&c->out, bit);
        return;
    }
    uint32_t *p = &c->p0[place];
    const uint32_t part = c->range * *p >> 16;
    if (bit) {
        c->low += part;
        c->range -= part;
        *p -= model_step(*p >> 8);
    } else {
        c->range = part;
        *p += model_step(255 - (*p >> 8));
    }
    if (c->low >> 16) {
        model_carry(&c->out);
        c->low &= 0xffff;
    }
    while (c->range <= 0x4000) {
        model_bit(&c->out, (int)(c->low >> 15 & 1));
        c->low = c->low << 1 & 0xffff;
        c->range <<= 1;
    }
}

/* Whole bytes. */
static inline void model_coder_end(model_coder *c)
{
    if (!c->plain) {
        uint32_t value = c->low + c->range - 1;
        if (value >> 16) model_carry(&c->out);
        model_literal(&c->out, value & 0xffff, 16);
    }
    while (c->out.bits % 8) model_bit(&c->out, 1);
    while (!c->plain && c->out.bits > 8 && c->out.bytes[c->out.bits / 8 - 1] == 0xff) { /* reading on gives 1s, too */
        c->out.bits -= 8;
        c->out.bytes[c->out.bits / 8] = 0;
    }
}

/* A number: its k-th continue bit in the k-th context of `chain`, the last one again and again. */
static inline void model_number(model_coder *c, const int *chain, int count, int data, uint32_t value)
{
    const uint64_t v = (uint64_t)value + 1;
    int top = 0, at = 0;
    while (v >> (top + 1)) top++;
    for (int k = top - 1; k >= 0; k--) {
        model_symbol(c, chain[at < count ? at : count - 1], 0);
        at++;
        model_symbol(c, data, (int)(v >> k & 1));
    }
    model_symbol(c, chain[at < count ? at : count - 1], 1);
}
static inline void model_signed(model_coder *c, const int *chain, int count, int data, int sign, int32_t value)
{
    model_number(c, chain, count, data, (uint32_t)(value < 0 ? -value : value));
    if (value) model_symbol(c, sign, value < 0);
}

#endif
