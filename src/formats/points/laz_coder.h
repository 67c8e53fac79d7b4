/* formats/points/laz_coder.h: the adaptive arithmetic coder of LAZ, which codes symbols, bits and whole numbers about a prediction. One function reads and writes: a
 * writer gives it the value, a reader gets it, so that what the items of a point mean stands once (laz.c).
 *
 * A reader that meets damage reads zeros and goes on: every symbol stays below the model's count, and `failed` says that bytes were missing.
 * Source: M. Isenburg, "LASzip: lossless compression of LiDAR data" (2013), section 5; A. Said, "Introduction to arithmetic coding" (HPL-2004-76), section 2.5. */
#ifndef TSR_FORMATS_LAZ_CODER_H
#define TSR_FORMATS_LAZ_CODER_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LAZ_SYMBOL_BITS = 15, LAZ_BIT_BITS = 13, LAZ_HIGH_BITS = 8, LAZ_CONTEXTS = 22 };
#define LAZ_LEAST_LENGTH (1u << 24)

/* Counts of symbols, and their sums scaled to 2^15; made on first use. */
typedef struct laz_model {
    uint32_t symbols, total, cycle, until;
    int shift; /* of the table that finds a symbol */
    uint16_t *sum, *count, *table;
} laz_model;

typedef struct laz_bit {
    uint32_t zeros, total, part, cycle, until;
} laz_bit;

/* Whole numbers: how many bits the difference to the prediction has, then the difference. */
typedef struct laz_integer {
    uint32_t k;
    laz_model width[LAZ_CONTEXTS], corrector[32];
    laz_bit one;
} laz_integer;

/* Room for the models of a chunk. */
typedef struct laz_arena {
    uint16_t *room;
    size_t used, size;
} laz_arena;

typedef struct laz_coder {
    laz_arena *arena;
    int writing, failed;
    uint32_t base, value, length;
    const uint8_t *from, *end; /* of a reader */
    uint8_t *to;               /* of a writer: grows */
    size_t used, room;
} laz_coder;

static inline void laz_begin_reading(laz_coder *c, laz_arena *arena, const uint8_t *from, const uint8_t *end)
{
    *c = (laz_coder){ .arena = arena, .from = from, .end = end, .length = UINT32_MAX };
    for (int i = 0; i < 4; i++) {
        c->failed |= c->from == c->end;
        c->value = c->value << 8 | (c->from < c->end ? *c->from++ : 0u);
    }
}

/* `to` and its room are those of an earlier use, or NULL; free() at the end. */
static inline void laz_begin_writing(laz_coder *c, laz_arena *arena, uint8_t *to, size_t room)
{
    *c = (laz_coder){ .arena = arena, .writing = 1, .length = UINT32_MAX, .to = to, .room = room };
}

static inline void laz_put_byte(laz_coder *c, uint8_t byte)
{
    if (c->used == c->room) {
        const size_t room = c->room ? 2 * c->room : 1 << 16;
        uint8_t *grown = (uint8_t *)realloc(c->to, room);
        if (!grown) {
            c->failed = 1;
            return;
        }
        c->to = grown;
        c->room = room;
    }
    c->to[c->used++] = byte;
}

static inline void laz_carry(laz_coder *c, uint32_t before)
{
    if (c->base >= before) return;
    size_t i = c->used;
    while (i > 0 && c->to[i - 1] == 255) c->to[--i] = 0;
    if (i > 0) c->to[i - 1]++;
}

static inline void laz_renew(laz_coder *c)
{
    while (c->length < LAZ_LEAST_LENGTH) {
        if (c->writing) {
            laz_put_byte(c, (uint8_t)(c->base >> 24));
            c->base <<= 8;
        } else {
            c->failed |= c->from == c->end;
            c->value = c->value << 8 | (c->from < c->end ? *c->from++ : 0u);
        }
        c->length <<= 8;
    }
}

/* The last bytes of a writer: enough for a reader to look ahead. */
static inline void laz_end(laz_coder *c)
{
    const uint32_t before = c->base;
    const int more = c->length > 2 * LAZ_LEAST_LENGTH;
    c->base += more ? LAZ_LEAST_LENGTH : LAZ_LEAST_LENGTH >> 1;
    c->length = more ? LAZ_LEAST_LENGTH >> 1 : LAZ_LEAST_LENGTH >> 9;
    laz_carry(c, before);
    laz_renew(c);
    for (int i = 0; i < 2 + more; i++) laz_put_byte(c, 0);
}

/* `used` symbols or numbers in [x, x + length) of the interval are chosen. */
static inline void laz_narrow(laz_coder *c, uint32_t x, uint32_t length)
{
    c->length = length;
    if (c->writing) {
        const uint32_t before = c->base;
        c->base += x;
        laz_carry(c, before);
    } else {
        c->value -= x;
    }
    laz_renew(c);
}

static inline void laz_model_update(laz_model *m)
{
    m->total += m->cycle;
    if (m->total > 1u << LAZ_SYMBOL_BITS) {
        m->total = 0;
        for (uint32_t k = 0; k < m->symbols; k++) m->total += m->count[k] = (uint16_t)((m->count[k] + 1) >> 1);
    }
    const uint32_t scale = 0x80000000u / m->total;
    uint32_t sum = 0, s = 0;
    for (uint32_t k = 0; k < m->symbols; k++) {
        m->sum[k] = (uint16_t)((scale * sum) >> (31 - LAZ_SYMBOL_BITS));
        sum += m->count[k];
        for (const uint32_t w = (uint32_t)m->sum[k] >> m->shift; s < w;) m->table[++s] = (uint16_t)(k - 1);
    }
    for (m->table[0] = 0; s <= 1u << (LAZ_SYMBOL_BITS - m->shift);) m->table[++s] = (uint16_t)(m->symbols - 1);
    m->cycle = 5 * m->cycle >> 2;
    if (m->cycle > (m->symbols + 6) << 3) m->cycle = (m->symbols + 6) << 3;
    m->until = m->cycle;
}

/* 16-bit words that a model takes. */
static inline size_t laz_model_words(uint32_t symbols)
{
    int bits = 3;
    while (symbols > 1u << (bits + 2)) bits++;
    return 2 * (size_t)symbols + ((size_t)1 << bits) + 2;
}

static inline int laz_model_make(laz_coder *c, laz_model *m, uint32_t symbols)
{
    const size_t words = laz_model_words(symbols);
    if (c->arena->size - c->arena->used < words) {
        c->failed = 1;
        return 0;
    }
    int bits = 3;
    while (symbols > 1u << (bits + 2)) bits++;
    *m = (laz_model){ .symbols = symbols, .cycle = symbols, .shift = LAZ_SYMBOL_BITS - bits, .sum = c->arena->room + c->arena->used };
    m->count = m->sum + symbols;
    m->table = m->count + symbols;
    c->arena->used += words;
    for (uint32_t k = 0; k < symbols; k++) m->count[k] = 1;
    laz_model_update(m);
    m->until = m->cycle = (symbols + 6) >> 1;
    return 1;
}

static inline uint32_t laz_find(const laz_coder *c, const laz_model *m, uint32_t unit)
{
    const uint32_t most = (1u << LAZ_SYMBOL_BITS) - 1, quotient = c->value / unit, d = quotient < most ? quotient : most;
    uint32_t symbol = m->table[d >> m->shift], end = m->table[(d >> m->shift) + 1] + 1u;
    while (end > symbol + 1) {
        const uint32_t k = (symbol + end) >> 1;
        if (m->sum[k] > d) end = k;
        else symbol = k;
    }
    return symbol;
}

/* One of `symbols`, the same number in every call with this model. */
static inline uint32_t laz_symbol(laz_coder *c, laz_model *m, uint32_t symbols, uint32_t symbol)
{
    if (!m->symbols && !laz_model_make(c, m, symbols)) return 0;
    const uint32_t unit = c->length >> LAZ_SYMBOL_BITS;
    if (!c->writing) symbol = laz_find(c, m, unit);
    const uint32_t x = m->sum[symbol] * unit;
    laz_narrow(c, x, symbol + 1 < m->symbols ? m->sum[symbol + 1] * unit - x : c->length - x);
    m->count[symbol]++;
    if (!--m->until) laz_model_update(m);
    return symbol;
}

static inline uint32_t laz_one_bit(laz_coder *c, laz_bit *b, uint32_t bit)
{
    if (!b->total) *b = (laz_bit){ .zeros = 1, .total = 2, .part = 1u << (LAZ_BIT_BITS - 1), .cycle = 4, .until = 4 };
    const uint32_t x = b->part * (c->length >> LAZ_BIT_BITS);
    if (!c->writing) bit = c->value >= x;
    b->zeros += !bit;
    if (bit) laz_narrow(c, x, c->length - x);
    else laz_narrow(c, 0, x);
    if (--b->until) return bit;
    b->total += b->cycle;
    if (b->total > 1u << LAZ_BIT_BITS) {
        b->total = (b->total + 1) >> 1;
        b->zeros = (b->zeros + 1) >> 1;
        b->total += b->zeros == b->total;
    }
    b->part = (b->zeros * (0x80000000u / b->total)) >> (31 - LAZ_BIT_BITS);
    b->cycle = 5 * b->cycle >> 2 > 64 ? 64 : 5 * b->cycle >> 2;
    b->until = b->cycle;
    return bit;
}

/* Bits without a model, 32 at most; the lower 16 first where there are more than 19. */
static inline uint32_t laz_bits(laz_coder *c, int bits, uint32_t value)
{
    uint32_t low = 0;
    int shift = 0;
    if (bits > 19) {
        low = laz_bits(c, 16, value & 0xffff);
        shift = 16;
    }
    const uint32_t unit = c->length >> (bits - shift), most = (1u << (bits - shift)) - 1;
    value >>= shift;
    if (!c->writing) value = c->value / unit < most ? c->value / unit : most;
    laz_narrow(c, value * unit, unit);
    return value << shift | low;
}

/* A number of `bits` bits (8, 16: without sign; 32: with), beside the one that is expected. */
static inline int32_t laz_whole(laz_coder *c, laz_integer *n, int bits, uint32_t context, int32_t expected, int32_t value)
{
    const int64_t range = bits < 32 ? (int64_t)1 << bits : 0;
    int32_t d = 0;
    if (c->writing) {
        d = (int32_t)((uint32_t)value - (uint32_t)expected);
        if (range && d < -range / 2) d += (int32_t)range;
        else if (range && d >= range / 2) d -= (int32_t)range;
        n->k = 0;
        for (uint32_t left = d <= 0 ? 0u - (uint32_t)d : (uint32_t)d - 1; left; left >>= 1) n->k++;
    }
    n->k = laz_symbol(c, &n->width[context], (uint32_t)bits + 1, n->k);
    if (!n->k) {
        d = (int32_t)laz_one_bit(c, &n->one, (uint32_t)d);
    } else if (n->k == 32) {
        d = INT32_MIN;
    } else {
        const int k = (int)n->k, low = k > LAZ_HIGH_BITS ? k - LAZ_HIGH_BITS : 0;
        uint32_t u = d < 0 ? (uint32_t)d + ((1u << k) - 1) : (uint32_t)d - 1; /* 0 to 2^k - 1 */
        uint32_t high = laz_symbol(c, &n->corrector[k - 1], 1u << (k - low), c->writing ? u >> low : 0);
        u = high << low | (low ? laz_bits(c, low, u & ((1u << low) - 1)) : 0);
        d = (int32_t)(u >= 1u << (k - 1) ? u + 1 : u - ((1u << k) - 1));
    }
    value = (int32_t)((uint32_t)expected + (uint32_t)d);
    return range ? (int32_t)((uint32_t)value & (uint32_t)(range - 1)) : value;
}

#endif
