/* compress/rans.c: the coder rans on its way there, and the tables of a file. */
#include <stdlib.h>

#include "io/little_endian.h"
#include "compress/rans_isa.h"

enum {
    MOST_EDGE = 256,
    CHUNK = 16,
    MOST = 12 /* bytes of a coefficient: token, escape, 32 bits, 16 with the sign: at most 64 bits, and a word that is half used */
};

#define T int32_t
#define MAGNITUDE tsr_rans_magnitude
#define NAME(f) wide_##f
#include "compress/rans_context_body.h"
#undef T
#undef MAGNITUDE
#undef NAME

/* ---- tables --------------------------------------------------------------------------------------------------------------------------------------- */

void tsr_rans_model_fit(const tsr_rans_counts *counts, tsr_rans_model *model)
{
    for (int c = 0; c < TSR_RANS_TABLES; c++) {
        const uint64_t *n = counts->count[c];
        uint64_t all = 0;
        uint32_t given = 0;
        int most = 0;
        for (int t = 0; t < TSR_RANS_TOKENS; t++) {
            all += n[t];
            most = n[t] > n[most] ? t : most;
        }
        for (int t = 0; t < TSR_RANS_TOKENS; t++) { /* every token can be coded; a table that was never used gives all the same */
            const uint32_t share = (uint32_t)(all ? n[t] * (TSR_RANS_SLOTS - TSR_RANS_TOKENS) / all : TSR_RANS_SLOTS / TSR_RANS_TOKENS - 1);
            model->frequency[c][t] = (uint16_t)(1 + share);
            given += 1 + share;
        }
        model->frequency[c][most] = (uint16_t)(model->frequency[c][most] + TSR_RANS_SLOTS - given); /* shares were rounded down */
    }
}

void tsr_rans_lookup_fill(const tsr_rans_model *model, tsr_rans_lookup *lookup)
{
    for (int c = 0; c < TSR_RANS_TABLES; c++)
        for (uint32_t t = 0, at = 0; t < TSR_RANS_TOKENS; t++)
            for (uint32_t k = 0; k < model->frequency[c][t] && at < TSR_RANS_SLOTS; k++, at++)
                lookup->slot[c][at] = t | k << 4 | (uint32_t)model->frequency[c][t] << 16;
    for (int32_t row = 0; row < TSR_RANS_ROWS; row++)
        for (uint32_t t = 0, at = 0; t < TSR_RANS_TOKENS; at += model->frequency[tsr_rans_table(row)][t++]) lookup->first[t][row] = (uint16_t)at;
    for (int mask = 0; mask < 256; mask++)
        for (int k = 0, below = 0; k < 8; below += mask >> k++ & 1) lookup->expand[mask][k] = (uint8_t)below;
}

/* ---- streams -------------------------------------------------------------------------------------------------------------------------------------- */

/* States and words, last first. */
struct writer {
    uint32_t state[TSR_RANS_LANES];
    uint8_t *at;
};

static void spill(struct writer *w, int lane)
{
    w->at -= 2;
    tsr_put_u16(w->at, (uint16_t)w->state[lane]);
    w->state[lane] >>= 16;
}
static void put_plain(struct writer *w, int lane, uint32_t value, int bits)
{
    if (!bits) return;
    if (w->state[lane] >> (32 - bits)) spill(w, lane);
    w->state[lane] = w->state[lane] << bits | value;
}

/* What a coefficient is in its context. */
struct coded {
    uint32_t magnitude, above, excess; /* above the plain bits; beyond the last token, at least 1, or 0 */
    int32_t plain, bits, token;
};
static struct coded code_of(int32_t v, int32_t context)
{
    struct coded c = { .magnitude = v < 0 ? 0u - (uint32_t)v : (uint32_t)v, .plain = tsr_rans_plain(context) };
    c.above = c.magnitude >> c.plain;
    c.token = (int32_t)(c.above < TSR_RANS_ESCAPE ? c.above : TSR_RANS_ESCAPE);
    c.excess = c.above < TSR_RANS_ESCAPE ? 0 : c.above - TSR_RANS_ESCAPE + 1;
    c.bits = c.excess ? 31 - __builtin_clz(c.excess) : 0;
    return c;
}

/* The steps of a group, last first, each of all lanes, last first: as they are undone. */
static void put_group(struct writer *w, const int32_t *v, const uint8_t *context, int32_t n, const tsr_rans_model *model,
                      uint32_t first[][TSR_RANS_TOKENS])
{
    struct coded c[TSR_RANS_LANES];
    int escapes = 0, large = 0;
    for (int l = 0; l < n; l++) {
        c[l] = code_of(v[l], context[l]);
        escapes |= c[l].excess != 0;
        large |= c[l].bits > 16;
    }
    for (int l = n - 1; l >= 0; l--)
        put_plain(w, l, (c[l].magnitude & ((1u << c[l].plain) - 1)) | (uint32_t)(v[l] < 0) << c[l].plain, c[l].plain + (v[l] != 0));
    for (int l = n - 1; large && l >= 0; l--)
        if (c[l].bits > 16) put_plain(w, l, c[l].excess >> 16 & ((1u << (c[l].bits - 16)) - 1), c[l].bits - 16);
    for (int l = n - 1; escapes && l >= 0; l--)
        if (c[l].excess) put_plain(w, l, c[l].excess & ((1u << (c[l].bits < 16 ? c[l].bits : 16)) - 1), c[l].bits < 16 ? c[l].bits : 16);
    for (int l = n - 1; escapes && l >= 0; l--)
        if (c[l].excess) put_plain(w, l, (uint32_t)c[l].bits, TSR_RANS_ESCAPE_BITS);
    for (int l = n - 1; l >= 0; l--) {
        const int32_t table = tsr_rans_table(context[l]);
        const uint32_t f = model->frequency[table][c[l].token];
        if (w->state[l] >= f << (32 - TSR_RANS_BITS)) spill(w, l); /* f is below 2^11 */
        w->state[l] = (w->state[l] / f << TSR_RANS_BITS) + w->state[l] % f + first[table][c[l].token];
    }
}

static void count_some(const int32_t *v, const uint8_t *context, int64_t n, tsr_rans_counts *own)
{
    for (int64_t i = 0; i < n; i++) own->count[tsr_rans_table(context[i])][code_of(v[i], context[i]).token]++;
}
/* Streams are coded by several threads. */
static void add_counts(const tsr_rans_counts *own, tsr_rans_counts *counts)
{
    for (int c = 0; c < TSR_RANS_TABLES; c++)
        for (int t = 0; t < TSR_RANS_TOKENS; t++) __atomic_fetch_add(&counts->count[c][t], own->count[c][t], __ATOMIC_RELAXED);
}
static void count_tokens(const tsr_planes_band *bands, int32_t count, const uint8_t *context, tsr_rans_counts *counts)
{
    tsr_rans_counts own = { { { 0 } } };
    for (int32_t k = 0; k < count; k++) {
        const int64_t n = (int64_t)bands[k].size[0] * bands[k].size[1] * bands[k].size[2];
        count_some(bands[k].data, context, n, &own);
        context += n;
    }
    add_counts(&own, counts);
}

static int32_t start_of(const tsr_planes_band *band, int64_t n)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i++) sum += tsr_rans_magnitude(band->data[i]);
    return tsr_rans_context((uint32_t)(8 * sum / (uint64_t)n));
}

/* Contexts of all bands, one after the other; 0 where all coefficients are 0. */
static int find_contexts(const tsr_planes_band *bands, int32_t count, uint8_t *context, uint32_t *sums, int32_t *start)
{
    wide_seen seen = { sums, { 0, 0, 0 }, 0 };
    uint32_t any = 0;
    *start = 0;
    for (int32_t k = 0; k < count; k++)
        for (int a = 0; a < 3; a++) seen.size[a] = seen.size[a] > bands[k].size[a] ? seen.size[a] : bands[k].size[a];
    for (int32_t k = 0; k < count; k++) {
        const int64_t n = (int64_t)bands[k].size[0] * bands[k].size[1] * bands[k].size[2];
        int64_t ready = 0;
        if (!k) *start = start_of(&bands[k], n);
        wide_contexts(bands[k].data, bands[k].size, *start, &seen, n, n, &ready, context);
        wide_see(&seen, bands[k].data, bands[k].size);
        for (int64_t i = 0; i < n; i++) any |= (uint32_t)bands[k].data[i];
        context += n;
    }
    return any != 0;
}

static void begin_writer(const tsr_rans_model *model, struct writer *w, uint32_t first[TSR_RANS_TABLES][TSR_RANS_TOKENS])
{
    for (int c = 0; c < TSR_RANS_TABLES; c++)
        for (uint32_t t = 0, at = 0; t < TSR_RANS_TOKENS; at += model->frequency[c][t++]) first[c][t] = at;
    for (int l = 0; l < TSR_RANS_LANES; l++) w->state[l] = TSR_RANS_LEAST;
}

/* States and header before the words; the stream moves to the front of its memory, which ends at `end`. */
static size_t finish_writer(struct writer *w, uint8_t *bytes, const uint8_t *end, int wide, int32_t start)
{
    for (int l = TSR_RANS_LANES - 1; l >= 0; l--) tsr_put_u32(w->at -= 4, w->state[l]);
    w->at -= TSR_RANS_HEADER;
    w->at[0] = (uint8_t)wide;
    w->at[1] = (uint8_t)start;
    const size_t size = (size_t)(end - w->at);
    TSR_ASSERT(w->at >= bytes); /* MOST is enough */
    memmove(bytes, w->at, size);
    return size;
}

static void put_bands(const tsr_planes_band *bands, int32_t count, const uint8_t *context, const tsr_rans_model *model, struct writer *w)
{
    uint32_t first[TSR_RANS_TABLES][TSR_RANS_TOKENS];
    begin_writer(model, w, first);
    for (int32_t k = count - 1; k >= 0; k--) {
        const int64_t n = (int64_t)bands[k].size[0] * bands[k].size[1] * bands[k].size[2];
        context -= n;
        for (int64_t i = (n - 1) / TSR_RANS_LANES * TSR_RANS_LANES; i >= 0; i -= TSR_RANS_LANES)
            put_group(w, bands[k].data + i, context + i, (int32_t)tsr_minl(n - i, TSR_RANS_LANES), model, first);
    }
}

tsr_status tsr_rans_encode(const tsr_planes_band *bands, int32_t count, int narrow, const tsr_rans_model *model, tsr_rans_counts *counts,
                           tsr_planes_stream *stream)
{
    tsr_status status = TSR_OK;
    int64_t n = 0;
    int32_t start;
    memset(stream, 0, sizeof *stream);
    for (int32_t k = 0; k < count; k++) n += (int64_t)bands[k].size[0] * bands[k].size[1] * bands[k].size[2];
    const size_t room = (size_t)n * MOST + TSR_RANS_HEADER + TSR_RANS_STATES;
    uint8_t *context = (uint8_t *)malloc((size_t)n + 64), *bytes = (uint8_t *)malloc(room);
    uint32_t *sums = (uint32_t *)calloc((size_t)n + 64, sizeof *sums);
    if (!context || !bytes || !sums) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "compression: out of memory for a stream");
    if (!find_contexts(bands, count, context, sums, &start)) goto done;
    if (!model) {
        count_tokens(bands, count, context, counts);
        goto done;
    }
    struct writer w = { .at = bytes + room };
    put_bands(bands, count, context + n, model, &w);
    stream->size = finish_writer(&w, bytes, bytes + room, narrow ? 2 : 4, start);
    stream->bytes = bytes;
    bytes = NULL;
    stream->passes = 1;
    stream->pass[0].bytes = (uint32_t)stream->size;
done:
    free(context);
    free(bytes);
    free(sums);
    return status;
}

tsr_status tsr_rans_encode_rows(const tsr_rans_row *rows, int64_t count, int32_t start, const tsr_rans_model *model, tsr_rans_counts *counts,
                                uint8_t **bytes, size_t *size)
{
    uint32_t first[TSR_RANS_TABLES][TSR_RANS_TOKENS];
    tsr_rans_counts own = { { { 0 } } };
    size_t room = TSR_RANS_HEADER + TSR_RANS_STATES;
    *bytes = NULL;
    *size = 0;
    for (int64_t k = 0; k < count; k++) {
        room += (size_t)rows[k].n * MOST;
        if (!model) count_some(rows[k].v, rows[k].context, rows[k].n, &own);
    }
    if (!model) {
        add_counts(&own, counts);
        return TSR_OK;
    }
    uint8_t *to = (uint8_t *)malloc(room);
    if (!to) TSR_FAIL(TSR_ERROR_MEMORY, "compression: out of memory for a stream");
    struct writer w = { .at = to + room };
    begin_writer(model, &w, first);
    for (int64_t k = count - 1; k >= 0; k--)
        for (int64_t i = (int64_t)(rows[k].n - 1) / TSR_RANS_LANES * TSR_RANS_LANES; rows[k].n && i >= 0; i -= TSR_RANS_LANES)
            put_group(&w, rows[k].v + i, rows[k].context + i, (int32_t)tsr_minl(rows[k].n - i, TSR_RANS_LANES), model, first);
    *size = finish_writer(&w, to, to + room, 4, start);
    *bytes = to;
    return TSR_OK;
}
