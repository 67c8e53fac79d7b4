/* video/depth/depth_frame.c: docs/formats/tdf.md. Tokens by rANS: Duda, "Asymmetric numeral systems" (arXiv 1311.2540), four states in turn. Ends of runs
 * as in ITU-T T.6: how far they are from those of the row above. */
#include "video/depth/depth_frame.h"

#include <stdlib.h>
#include <string.h>

#include "io/little_endian.h"
#include "video/depth/depth_rows_isa.h"

enum { MARGIN = TSR_DEPTH_MARGIN, SAMPLED_ROWS = 16, NO_FRAME = -1 };

struct tsr_depth_coder {
    int32_t width, height;
    uint32_t step;
    uint16_t *row[2], *folded;           /* numbers of a row and of the one above, with a margin of zeros */
    uint8_t *row_token[2], *row_context; /* tokens likewise; contexts or tokens of the samples of a row */
    int32_t *edge[2], edges[2];          /* ends of runs, the last is the width */
    tsr_depth_tables tables;
    uint32_t (*slot)[TSR_DEPTH_SLOTS]; /* of `tables`, to decode */
    int slots_filled;
    /* A frame on its way: what is coded, in order; how many of it are edges and samples of each row; plain bits. */
    uint16_t *symbol;
    uint8_t *token; /* of a row */
    int32_t *batch;
    uint64_t symbols, bits, bit_count; /* `bits`: those not yet in `plain` */
    uint8_t *plain, *bytes;
    size_t plain_size, room;
    uint32_t count[TSR_DEPTH_SYMBOLS];
    uint32_t cost[TSR_DEPTH_SLOTS + 1]; /* of a token with this frequency, 1/256 bit */
};

/* 256 log2(SLOTS / f), by squaring: the same on every machine. */
static void fill_costs(uint32_t *cost)
{
    for (uint32_t f = 1; f <= TSR_DEPTH_SLOTS; f++) {
        const int octave = 31 - __builtin_clz(f);
        uint64_t x = (uint64_t)f << (31 - octave);
        uint32_t log = (uint32_t)octave;
        for (int k = 0; k < 8; k++) {
            x = x * x >> 31;
            log = log << 1 | (uint32_t)(x >> 32);
            x >>= x >> 32;
        }
        cost[f] = ((uint32_t)TSR_DEPTH_BITS << 8) - log;
    }
}

tsr_status tsr_depth_coder_create(int32_t width, int32_t height, uint32_t step, int encodes, tsr_depth_coder **coder)
{
    *coder = NULL;
    const size_t w = (size_t)width, symbols = 2 * (w + 1) * (size_t)height; /* at most */
    tsr_depth_coder *c = (tsr_depth_coder *)calloc(1, sizeof *c);
    if (!c) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory");
    c->width = width;
    c->height = height;
    c->step = step;
    c->tables.frame = NO_FRAME;
    c->room = encodes ? TSR_DEPTH_FRAME_HEADER + 4096 + 4 * TSR_DEPTH_LANES + 4 * symbols : 0;
    int whole = 1;
    for (int k = 0; k < 2; k++) {
        whole &= (c->row[k] = (uint16_t *)calloc(w + 2 * MARGIN, sizeof **c->row)) != NULL;
        whole &= (c->row_token[k] = (uint8_t *)calloc(w + 2 * MARGIN, 1)) != NULL;
        whole &= (c->edge[k] = (int32_t *)malloc((w + 1) * sizeof **c->edge)) != NULL;
    }
    whole &= (c->folded = (uint16_t *)malloc((w + MARGIN) * sizeof *c->folded)) != NULL;
    whole &= (c->row_context = (uint8_t *)malloc(w + MARGIN)) != NULL;
    whole &= (c->slot = (uint32_t(*)[TSR_DEPTH_SLOTS])calloc(TSR_DEPTH_CONTEXTS, sizeof *c->slot)) != NULL;
    whole &= (c->token = (uint8_t *)malloc(w + MARGIN)) != NULL;
    if (encodes) {
        whole &= (c->symbol = (uint16_t *)malloc((symbols + MARGIN) * sizeof *c->symbol)) != NULL;
        whole &= (c->batch = (int32_t *)malloc(2 * (size_t)height * sizeof *c->batch)) != NULL;
        whole &= (c->plain = (uint8_t *)malloc(2 * symbols + 16)) != NULL;
        whole &= (c->bytes = (uint8_t *)malloc(c->room)) != NULL;
    }
    if (!whole) {
        tsr_depth_coder_destroy(&c);
        TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for frames of %d x %d samples", width, height);
    }
    fill_costs(c->cost);
    *coder = c;
    return TSR_OK;
}

void tsr_depth_coder_destroy(tsr_depth_coder **coder)
{
    tsr_depth_coder *c = *coder;
    if (!c) return;
    for (int k = 0; k < 2; k++) {
        free(c->row[k]);
        free(c->row_token[k]);
        free(c->edge[k]);
    }
    free(c->folded);
    free(c->row_context);
    free(c->slot);
    free(c->symbol);
    free(c->token);
    free(c->batch);
    free(c->plain);
    free(c->bytes);
    free(c);
    *coder = NULL;
}

/* ---- rows ------------------------------------------------------------------------------------------------------------------------------------- */

static uint16_t *numbers(const tsr_depth_coder *c, int32_t y) { return c->row[y & 1] + MARGIN; }
static uint8_t *tokens(const tsr_depth_coder *c, int32_t y) { return c->row_token[y & 1] + MARGIN; }

/* Above the first row there is nothing. */
static void begin_rows(tsr_depth_coder *c)
{
    for (int k = 0; k < 2; k++) {
        memset(numbers(c, k), 0, (size_t)c->width * 2);
        memset(tokens(c, k), 0, (size_t)c->width);
        c->edge[k][0] = c->width;
        c->edges[k] = 1;
    }
}

/* Of a row's numbers and tokens those of the one two rows above, which lay in the same memory: they are where its runs were. */
static void clear_runs(tsr_depth_coder *c, int32_t y)
{
    const int32_t *edge = c->edge[y & 1];
    for (int32_t k = 0; k + 1 < c->edges[y & 1]; k += 2) {
        memset(numbers(c, y) + edge[k], 0, (size_t)(edge[k + 1] - edge[k]) * 2);
        memset(tokens(c, y) + edge[k], 0, (size_t)(edge[k + 1] - edge[k]));
    }
}

/* The first end of the same kind as end k of the row above that is beyond `last`; *j: of any kind, only goes on. */
static int32_t expected_edge(const tsr_depth_coder *c, const int32_t *above, int32_t count, int32_t *j, int32_t last, int32_t k)
{
    while (*j < count && above[*j] <= last) ++*j;
    const int32_t same = *j + ((*j ^ k) & 1);
    return same < count ? above[same] : c->width;
}

/* ---- to bytes --------------------------------------------------------------------------------------------------------------------------------- */

static void put_bits(tsr_depth_coder *c, uint32_t value, uint32_t count)
{
    c->bits |= (uint64_t)value << c->bit_count;
    c->bit_count += count;
    if (c->bit_count >= 32) {
        tsr_put_u32(c->plain + c->plain_size, (uint32_t)c->bits);
        c->plain_size += 4;
        c->bits >>= 32;
        c->bit_count -= 32;
    }
}
static void put_plain(tsr_depth_coder *c, uint32_t folded, uint32_t token)
{
    if (token < TSR_DEPTH_DIRECT) return;
    const uint32_t count = tsr_depth_plain(token);
    put_bits(c, folded & ((1u << count) - 1), count);
}

/* Most tokens have no plain bits: eight at once are asked. */
static void put_plain_row(tsr_depth_coder *c, const uint16_t *folded, const uint8_t *token, int32_t n)
{
    for (int32_t first = 0; first < n; first += 8) {
        const int32_t end = first + 8 < n ? first + 8 : n;
        if (tsr_get_u64(token + first) & 0x0101010101010101ull * (0xff & ~(TSR_DEPTH_DIRECT - 1)))
            for (int32_t i = first; i < end; i++) put_plain(c, folded[i], token[i]);
    }
}

static void put_edges(tsr_depth_coder *c, int32_t y)
{
    const int32_t *edge = c->edge[y & 1], *above = c->edge[~y & 1], count = c->edges[y & 1];
    for (int32_t k = 0, j = 0, last = -1, differed = 0; k < count; last = edge[k++]) {
        const int32_t expected = expected_edge(c, above, c->edges[~y & 1], &j, last, k);
        const uint32_t folded = tsr_depth_fold((uint32_t)(edge[k] - expected)), token = tsr_depth_token(folded);
        c->symbol[c->symbols++] = (uint16_t)(tsr_depth_edge_context(expected == c->width, differed) << TSR_DEPTH_TOKEN_BITS | token);
        put_plain(c, folded, token);
        differed = folded != 0;
    }
    c->batch[2 * y] = count;
}

/* Which one fits better, on some of the rows. */
static int choose_predictor(tsr_depth_coder *c, const uint16_t *values)
{
    uint64_t cost[TSR_DEPTH_PREDICTORS] = { 0 };
    for (int32_t y = 1; y < c->height; y += SAMPLED_ROWS) {
        for (int32_t r = y - 1; r <= y; r++) TSR_ISA_SELECT(tsr_depth_quantise_row)(values + (int64_t)r * c->width, numbers(c, r), c->width, c->step);
        const int32_t count = TSR_ISA_SELECT(tsr_depth_edges_row)(numbers(c, y), c->width, c->edge[0]);
        for (int p = 0; p < TSR_DEPTH_PREDICTORS; p++)
            for (int32_t k = 0; k + 1 < count; k += 2) {
                const int32_t x = c->edge[0][k], n = c->edge[0][k + 1] - x;
                TSR_ISA_SELECT(tsr_depth_differences_row)(p, numbers(c, y) + x, numbers(c, y - 1) + x, 0, c->folded, c->row_context, n);
                for (int32_t i = 1; i < n; i++) cost[p] += c->row_context[i];
            }
    }
    return cost[TSR_DEPTH_MEDIAN] < cost[TSR_DEPTH_PLANE] ? TSR_DEPTH_MEDIAN : TSR_DEPTH_PLANE;
}

/* All tokens of a frame, in order. */
static void put_rows(tsr_depth_coder *c, int predictor, const uint16_t *values)
{
    uint32_t before = 0;
    c->symbols = c->bits = c->bit_count = 0;
    c->plain_size = 0;
    begin_rows(c);
    for (int32_t y = 0; y < c->height; y++) {
        const uint16_t *row = numbers(c, y), *above = numbers(c, y - 1);
        uint8_t *token = tokens(c, y);
        int32_t *edge = c->edge[y & 1];
        clear_runs(c, y);
        const uint16_t *from = values + (int64_t)y * c->width;
        const int32_t count = c->edges[y & 1] = TSR_ISA_SELECT(tsr_depth_edges_row)(from, c->width, edge);
        put_edges(c, y);
        const uint64_t first = c->symbols;
        for (int32_t k = 0; k + 1 < count; k += 2) {
            const int32_t x = edge[k], n = edge[k + 1] - x;
            TSR_ISA_SELECT(tsr_depth_quantise_row)(from + x, numbers(c, y) + x, n, c->step);
            TSR_ISA_SELECT(tsr_depth_contexts_row)(above + x, tokens(c, y - 1) + x, c->row_context, n);
            TSR_ISA_SELECT(tsr_depth_differences_row)(predictor, row + x, above + x, before, c->folded, c->token, n);
            TSR_ISA_SELECT(tsr_depth_symbols_row)(c->row_context, c->token, c->symbol + c->symbols, n);
            memcpy(token + x, c->token, (size_t)n);
            put_plain_row(c, c->folded, token + x, n);
            c->symbols += (uint64_t)n;
            before = row[x + n - 1];
        }
        c->batch[2 * y + 1] = (int32_t)(c->symbols - first);
    }
    put_bits(c, 0, 32); /* what is left */
}

static void count_symbols(tsr_depth_coder *c)
{
    uint32_t odd[TSR_DEPTH_SYMBOLS] = { 0 }; /* apart: neighbours are often alike, and would wait for each other */
    uint64_t k = 0;
    memset(c->count, 0, sizeof c->count);
    for (; k + 2 <= c->symbols; k += 2) {
        c->count[c->symbol[k]]++;
        odd[c->symbol[k + 1]]++;
    }
    if (k < c->symbols) c->count[c->symbol[k]]++;
    for (int i = 0; i < TSR_DEPTH_SYMBOLS; i++) c->count[i] += odd[i];
}

/* Every token up to one more than the last that occurs gets a slot, so that later frames can use these tables, too; the rest is shared out. */
static void fit_tables(const tsr_depth_coder *c, tsr_depth_tables *tables)
{
    for (int i = 0; i < TSR_DEPTH_CONTEXTS; i++) {
        const uint32_t *n = c->count + (i << TSR_DEPTH_TOKEN_BITS);
        uint64_t all = 0, given = 0;
        int most = 0, used = 0;
        for (int t = 0; t < TSR_DEPTH_TOKENS; t++) {
            all += n[t];
            used = n[t] ? t + 1 : used;
            most = n[t] > n[most] ? t : most;
        }
        if (all && used < TSR_DEPTH_TOKENS) used++;
        for (int t = 0; t < used; t++) {
            tables->frequency[i][t] = (uint16_t)(1 + n[t] * (uint64_t)(TSR_DEPTH_SLOTS - used) / all);
            given += tables->frequency[i][t];
        }
        if (all) tables->frequency[i][most] = (uint16_t)(tables->frequency[i][most] + TSR_DEPTH_SLOTS - given);
    }
}

/* Of all tokens, 1/256 bit; most where one of them cannot be coded. */
static uint64_t cost_of(const tsr_depth_coder *c, const tsr_depth_tables *tables)
{
    uint64_t sum = 0;
    for (int i = 0; i < TSR_DEPTH_CONTEXTS; i++)
        for (int t = 0; t < TSR_DEPTH_TOKENS; t++) {
            const uint64_t count = c->count[i << TSR_DEPTH_TOKEN_BITS | t];
            if (count && !tables->frequency[i][t]) return UINT64_MAX;
            sum += count * c->cost[tables->frequency[i][t]];
        }
    return sum;
}

/* A byte each context: tokens up to the last that occurs; their frequencies in a byte, from 128 on two. */
static size_t put_tables(const tsr_depth_tables *tables, uint8_t *to)
{
    size_t size = 0;
    for (int i = 0; i < TSR_DEPTH_CONTEXTS; i++) {
        int used = TSR_DEPTH_TOKENS;
        while (used && !tables->frequency[i][used - 1]) used--;
        to[size++] = (uint8_t)used;
        for (int t = 0; t < used; t++) {
            const uint32_t f = tables->frequency[i][t];
            if (f >= 128) to[size++] = (uint8_t)(128 | f >> 8);
            to[size++] = (uint8_t)f;
        }
    }
    return size;
}

static void fill_shares(const tsr_depth_tables *tables, tsr_depth_share *share)
{
    for (int i = 0; i < TSR_DEPTH_CONTEXTS; i++)
        for (uint32_t t = 0, at = 0; t < TSR_DEPTH_TOKENS; t++) {
            const uint32_t f = tables->frequency[i][t];
            share[(uint32_t)i << TSR_DEPTH_TOKEN_BITS | t] = tsr_depth_share_of(f, at);
            at += f;
        }
}

/* The tokens, last first, as they are undone: words end at `end`. Returns where they and the states before them begin. */
static uint8_t *put_symbols(const tsr_depth_coder *c, uint8_t *end)
{
    tsr_depth_share share[TSR_DEPTH_SYMBOLS];
    uint32_t state[TSR_DEPTH_LANES];
    fill_shares(&c->tables, share);
    for (int l = 0; l < TSR_DEPTH_LANES; l++) state[l] = TSR_DEPTH_LEAST;
    uint64_t k = c->symbols;
    for (int32_t b = 2 * c->height - 1; b >= 0; b--) {
        k -= (uint64_t)c->batch[b];
        end = TSR_ISA_SELECT(tsr_depth_put_row)(state, share, end, c->symbol + k, c->batch[b]);
    }
    for (int l = TSR_DEPTH_LANES - 1; l >= 0; l--) tsr_put_u32(end -= 4, state[l]);
    return end;
}

void tsr_depth_frame_encode(tsr_depth_coder *c, int64_t number, const uint16_t *values, const uint8_t **bytes, size_t *size)
{
    tsr_depth_tables own = { .frame = number };
    uint8_t table[TSR_DEPTH_CONTEXTS * (1 + 2 * TSR_DEPTH_TOKENS)], *end = c->bytes + c->room;
    const int predictor = choose_predictor(c, values);
    put_rows(c, predictor, values);
    count_symbols(c);
    fit_tables(c, &own);
    size_t table_size = put_tables(&own, table);
    if (c->tables.frame != NO_FRAME && cost_of(c, &c->tables) <= cost_of(c, &own) + 8 * 256 * (uint64_t)table_size) table_size = 0;
    else c->tables = own;
    memcpy(end -= c->plain_size, c->plain, c->plain_size);
    uint8_t *words = end;
    end = put_symbols(c, end);
    memcpy(end - table_size, table, table_size);
    const uint32_t count = (uint32_t)(words - end) / 2;
    end -= table_size + TSR_DEPTH_FRAME_HEADER;
    tsr_put_u32(end, (uint32_t)c->tables.frame);
    tsr_put_u32(end + 4, (uint32_t)predictor);
    tsr_put_u32(end + 8, (uint32_t)table_size);
    tsr_put_u32(end + 12, count);
    *bytes = end;
    *size = (size_t)(c->bytes + c->room - end);
}

/* ---- and back --------------------------------------------------------------------------------------------------------------------------------- */

struct parts {
    uint32_t tables, predictor;
    const uint8_t *table, *word, *plain;
    int64_t table_size, words, plain_size;
};
static tsr_status take_apart(const char *name, int64_t number, const uint8_t *bytes, int64_t size, struct parts *p)
{
    if (size < TSR_DEPTH_FRAME_HEADER)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: frame %lld has %lld bytes, expected %d and more", name, (long long)number, (long long)size,
                 TSR_DEPTH_FRAME_HEADER);
    p->tables = tsr_get_u32(bytes);
    p->predictor = tsr_get_u32(bytes + 4);
    p->table_size = tsr_get_u32(bytes + 8);
    p->words = tsr_get_u32(bytes + 12);
    p->table = bytes + TSR_DEPTH_FRAME_HEADER;
    p->word = p->table + tsr_min64(p->table_size, size);
    p->plain_size = size - TSR_DEPTH_FRAME_HEADER - p->table_size - 2 * p->words;
    if (p->plain_size < 0 || p->words < 2 * TSR_DEPTH_LANES || p->predictor >= TSR_DEPTH_PREDICTORS || p->tables > number ||
        (p->tables == number) != (p->table_size > 0))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: frame %lld contradicts itself: %lld bytes, of them tables %lld (of frame %u), words %lld; predictor %u", name,
                 (long long)number, (long long)size, (long long)p->table_size, p->tables, (long long)p->words, p->predictor);
    p->plain = p->word + 2 * p->words;
    return TSR_OK;
}

tsr_status tsr_depth_frame_tables(const char *name, int64_t number, const uint8_t *bytes, int64_t size, int64_t *tables)
{
    struct parts p;
    TSR_TRY(take_apart(name, number, bytes, size, &p));
    *tables = p.tables;
    return TSR_OK;
}

static tsr_status get_tables(const char *name, int64_t number, const struct parts *p, tsr_depth_tables *tables)
{
    int64_t at = 0;
    memset(tables, 0, sizeof *tables);
    tables->frame = number;
    for (int i = 0; i < TSR_DEPTH_CONTEXTS; i++) {
        const int used = at < p->table_size ? p->table[at++] : TSR_DEPTH_TOKENS + 1;
        uint32_t sum = 0;
        for (int t = 0; t < used && used <= TSR_DEPTH_TOKENS && at < p->table_size; t++) {
            uint32_t f = p->table[at++];
            if (f >= 128 && at < p->table_size) f = (f & 127) << 8 | p->table[at++];
            tables->frequency[i][t] = (uint16_t)f;
            sum += f;
        }
        if (used > TSR_DEPTH_TOKENS || sum != (used ? TSR_DEPTH_SLOTS : 0))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: frame %lld: the frequencies of context %d add up to %u, expected %d", name, (long long)number, i, sum,
                     TSR_DEPTH_SLOTS);
    }
    return TSR_OK;
}

static tsr_status use_tables(tsr_depth_coder *c, const char *name, int64_t number, const uint8_t *bytes, int64_t size)
{
    struct parts p;
    if (c->slots_filled && c->tables.frame == number) return TSR_OK;
    TSR_TRY(take_apart(name, number, bytes, size, &p));
    if (p.tables != number) TSR_FAIL(TSR_ERROR_FORMAT, "%s: frame %lld has no tables, but another one uses them", name, (long long)number);
    c->slots_filled = 0;
    TSR_TRY(get_tables(name, number, &p, &c->tables));
    for (int i = 0; i < TSR_DEPTH_CONTEXTS; i++)
        for (uint32_t t = 0, at = 0; t < TSR_DEPTH_TOKENS; t++)
            for (uint32_t k = 0; k < c->tables.frequency[i][t]; k++, at++) c->slot[i][at] = t | k << 8 | (uint32_t)c->tables.frequency[i][t] << 20;
    c->slots_filled = 1;
    return TSR_OK;
}

/* Where a frame is being read. Words and plain bits have a row's worth of zeros behind them. */
struct place {
    uint32_t state[TSR_DEPTH_LANES];
    const uint16_t *word;
    const uint8_t *plain;
    int64_t words, bits; /* taken */
};

static uint32_t get_plain(struct place *p, uint32_t token)
{
    const uint32_t count = tsr_depth_plain(token);
    const uint64_t window = tsr_get_u64(p->plain + (p->bits >> 3)) >> (p->bits & 7);
    p->bits += count;
    return tsr_depth_base(token) + (uint32_t)(window & ((1u << count) - 1));
}

static int get_edges(tsr_depth_coder *c, struct place *p, int32_t y)
{
    const int32_t *above = c->edge[~y & 1];
    int32_t *edge = c->edge[y & 1], last = -1, j = 0, differed = 0;
    for (int32_t k = 0; last < c->width; k++) {
        const int32_t expected = expected_edge(c, above, c->edges[~y & 1], &j, last, k);
        const uint8_t context = (uint8_t)tsr_depth_edge_context(expected == c->width, differed);
        uint8_t token;
        uint32_t state[TSR_DEPTH_LANES] = { p->state[k % TSR_DEPTH_LANES] };
        p->words += TSR_ISA_SELECT(tsr_depth_tokens_row)(state, (const uint32_t(*)[TSR_DEPTH_SLOTS])c->slot, p->word + p->words, &context, &token, 1);
        p->state[k % TSR_DEPTH_LANES] = state[0];
        const uint32_t folded = get_plain(p, token);
        edge[k] = (int16_t)(uint16_t)(tsr_depth_unfold(folded) + (uint32_t)expected);
        if (edge[k] <= last || edge[k] > c->width) return 0;
        last = edge[k];
        differed = folded != 0;
        c->edges[y & 1] = k + 1;
    }
    return 1;
}

static void get_samples(tsr_depth_coder *c, struct place *p, int predictor, int32_t y, uint32_t *before)
{
    const uint16_t *above = numbers(c, y - 1);
    const int32_t *edge = c->edge[y & 1];
    uint16_t *row = numbers(c, y);
    uint8_t *token = tokens(c, y);
    int32_t count = 0;
    for (int32_t k = 0; k + 1 < c->edges[y & 1]; k += 2) {
        const int32_t x = edge[k], n = edge[k + 1] - x;
        TSR_ISA_SELECT(tsr_depth_contexts_row)(above + x, tokens(c, y - 1) + x, c->row_context + count, n);
        count += n;
    }
    p->words += TSR_ISA_SELECT(tsr_depth_tokens_row)(p->state, (const uint32_t(*)[TSR_DEPTH_SLOTS])c->slot, p->word + p->words, c->row_context,
                                                     c->token, count);
    count = 0;
    for (int32_t k = 0; k + 1 < c->edges[y & 1]; k += 2) {
        const int32_t x = edge[k], n = edge[k + 1] - x;
        memcpy(token + x, c->token + count, (size_t)n);
        for (int32_t i = 0; i < n; i++) c->folded[i] = (uint16_t)(token[x + i] < TSR_DEPTH_DIRECT ? token[x + i] : get_plain(p, token[x + i]));
        TSR_ISA_SELECT(tsr_depth_undo_row)(predictor, c->folded, above + x, *before, row + x, n);
        count += n;
        *before = row[x + n - 1];
    }
}

/* Words and plain bits, with what a row may take of zeros behind them, in the coder's memory. */
static tsr_status copy_streams(tsr_depth_coder *c, const char *name, const struct parts *p, struct place *place)
{
    const size_t behind = 16 * (size_t)c->width + 64;
    const int64_t words = p->words - 2 * TSR_DEPTH_LANES;
    const size_t room = (size_t)(2 * words + p->plain_size) + 2 * behind;
    if (room > c->room) {
        uint8_t *grown = (uint8_t *)realloc(c->bytes, room);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %zu bytes of a frame", name, room);
        c->bytes = grown;
        c->room = room;
    }
    uint8_t *plain = c->bytes + 2 * words + behind;
    for (int l = 0; l < TSR_DEPTH_LANES; l++) place->state[l] = tsr_get_u32(p->word + 4 * l);
    memcpy(c->bytes, p->word + 4 * TSR_DEPTH_LANES, (size_t)words * 2);
    memset(c->bytes + 2 * words, 0, behind);
    memcpy(plain, p->plain, (size_t)p->plain_size);
    memset(plain + p->plain_size, 0, behind);
    place->word = (const uint16_t *)(const void *)c->bytes;
    place->plain = plain;
    place->words = place->bits = 0;
    return TSR_OK;
}

tsr_status tsr_depth_frame_decode(tsr_depth_coder *c, const char *name, int64_t number, const uint8_t *bytes, int64_t size, const uint8_t *tables,
                                  int64_t tables_size, uint16_t *values)
{
    struct parts p;
    struct place place;
    uint32_t before = 0;
    int32_t y = 0;
    TSR_TRY(take_apart(name, number, bytes, size, &p));
    TSR_TRY(use_tables(c, name, p.tables, tables, tables_size));
    TSR_TRY(copy_streams(c, name, &p, &place));
    const int64_t words = p.words - 2 * TSR_DEPTH_LANES;
    int good = 1;
    begin_rows(c);
    for (; good && y < c->height; y++) {
        clear_runs(c, y);
        good = get_edges(c, &place, y) && place.words <= words && place.bits <= 8 * p.plain_size;
        if (!good) break;
        get_samples(c, &place, (int)p.predictor, y, &before);
        TSR_ISA_SELECT(tsr_depth_restore_row)(numbers(c, y), values + (int64_t)y * c->width, c->width, c->step);
        good = place.words <= words && place.bits <= 8 * p.plain_size;
    }
    good = good && place.words == words;
    for (int l = 0; good && l < TSR_DEPTH_LANES; l++) good = place.state[l] == TSR_DEPTH_LEAST;
    if (!good) TSR_FAIL(TSR_ERROR_FORMAT, "%s: frame %lld is damaged at row %d", name, (long long)number, y);
    return TSR_OK;
}
