/* Streams of the coder rans by themselves: any coefficients in any contexts come back, in every SIMD variant, and take no more bytes than the frequencies of
 * their tokens say (docs/formats/tsc.md, coder rans). */
#include <math.h>

#include "compress/rans_isa.h"
#include "support.h"

enum { ROWS = 14, WIDEST = 300, PADDING = 64 };
static const int32_t lengths[ROWS] = { 0, 1, 31, 32, 33, 2, 63, 64, 65, 0, 96, 127, WIDEST, 5 };

typedef struct rows {
    tsr_rans_row row[ROWS];
    int32_t given[ROWS][WIDEST + PADDING], found[ROWS][WIDEST + PADDING];
    uint8_t context[ROWS][WIDEST + PADDING];
    int64_t next;
} rows;

static tsr_rans_row row_of(void *user, int64_t k)
{
    rows *r = (rows *)user;
    assert_int_equal(k, r->next++);
    return (tsr_rans_row){ r->found[k], r->context[k], lengths[k] };
}

/* kind 0: about as large as the context says, 1: all of 32 bits in small contexts, so that each has its escape, 2: the ends of the range, 3: zeros. */
static void fill(rows *r, int kind, uint64_t *seed)
{
    memset(r, 0, sizeof *r);
    for (int k = 0; k < ROWS; k++) {
        for (int i = 0; i < lengths[k]; i++) {
            const int c = (int)(test_random(seed) % (kind == 1 ? TSR_RANS_SMALL : TSR_RANS_CONTEXTS));
            const double size = c ? exp2((c - 7) / 2.0) : 0.1; /* the mean magnitude that a context stands for */
            static const int32_t ends[6] = { INT32_MIN, INT32_MAX, -INT32_MAX, 0, -1, 1 };
            r->context[k][i] = (uint8_t)c;
            if (kind == 0) r->given[k][i] = (int32_t)((test_random(seed) & 1 ? 1 : -1) * -size * log(1 - test_uniform(seed)));
            if (kind == 1) r->given[k][i] = (int32_t)(uint32_t)test_random(seed);
            if (kind == 2) r->given[k][i] = ends[test_random(seed) % 6];
        }
        r->row[k] = (tsr_rans_row){ r->given[k], r->context[k], lengths[k] };
    }
}

/* Bits of a coefficient: its token's by the model, plain ones and the sign, what an escape takes. */
static double bits_of(const tsr_rans_model *model, int32_t v, int context, int *token)
{
    const int table = context < 10 ? context : 10 + context % 2, plain = context < 10 ? 0 : (context - 10 + 2) / 2;
    const int64_t magnitude = v < 0 ? -(int64_t)v : v, above = magnitude >> plain;
    *token = (int)(above < 15 ? above : 15);
    return 11 - log2(model->frequency[table][*token]) + plain + (v != 0) + (above < 15 ? 0 : 5 + floor(log2((double)(above - 14))));
}

static void rows_come_back(void **state)
{
    (void)state;
    static rows r;
    static tsr_rans_lookup lookup;
    uint64_t seed = test_seed();
    for (int turn = 0; turn < 24; turn++) {
        const int kind = turn % 4, start = (int)(test_random(&seed) % TSR_RANS_CONTEXTS);
        tsr_rans_counts counts = { { { 0 } } };
        tsr_rans_model model;
        uint8_t *bytes;
        size_t size;
        uint64_t expected[TSR_RANS_TABLES][TSR_RANS_TOKENS] = { { 0 } };
        fill(&r, kind, &seed);
        require_ok(tsr_rans_encode_rows(r.row, ROWS, start, NULL, &counts, &bytes, &size));
        assert_true(!bytes && !size);
        tsr_rans_model_fit(&counts, &model);
        if (turn >= 20) memset(&counts, 0, sizeof counts), tsr_rans_model_fit(&counts, &model); /* all tokens alike: the longest streams */
        double bits = 0;
        for (int k = 0; k < ROWS; k++)
            for (int i = 0; i < lengths[k]; i++) {
                int token;
                bits += bits_of(&model, r.given[k][i], r.context[k][i], &token);
                expected[r.context[k][i] < 10 ? r.context[k][i] : 10 + r.context[k][i] % 2][token]++;
            }
        if (turn < 20) assert_memory_equal(expected, counts.count, sizeof expected);
        require_ok(tsr_rans_encode_rows(r.row, ROWS, start, &model, &counts, &bytes, &size));
        /* 32 states that begin at 2^16 and end in 32 bits each, of which 16 to 32 say something; rounding of frequencies below 2^11 takes little */
        if (!((double)size * 8 <= bits * 1.01 + 16 + 32 * 32 && (double)size * 8 >= bits * 0.99 + 16 + 32 * 16))
            fail_msg("kind %d: %zu bytes, expected %.0f bits", kind, size, bits);
        assert_int_equal(tsr_rans_start_of(bytes, size), start);
        tsr_rans_lookup_fill(&model, &lookup);
        for (int isa = TSR_ISA_BASE; isa < TSR_ISA_COUNT; isa++) {
            tsr_isa_force(isa);
            memset(r.found, 1, sizeof r.found);
            r.next = 0;
            TSR_ISA_SELECT(tsr_rans_decode_rows)(bytes, size, &lookup, ROWS, row_of, &r);
            assert_int_equal(r.next, ROWS);
            for (int k = 0; k < ROWS; k++) {
                assert_memory_equal(r.found[k], r.given[k], (size_t)lengths[k] * 4);
                for (int i = lengths[k]; i < WIDEST + PADDING; i++) assert_int_equal(r.found[k][i], 0x01010101); /* nothing behind a row */
            }
            r.next = 0; /* any bytes give coefficients, and none beyond the end is read */
            uint8_t *cut = malloc(size / 2 + 1);
            memcpy(cut, bytes, size / 2);
            TSR_ISA_SELECT(tsr_rans_decode_rows)(cut, size / 2, &lookup, ROWS, row_of, &r);
            free(cut);
        }
        tsr_isa_force(-1);
        free(bytes);
    }
}

/* Frequencies: 2^11 in every table, none 0, shares as the counts are, within one; of a table that was not used all the same. */
static void tables(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    static tsr_rans_lookup lookup;
    for (int turn = 0; turn < 200; turn++) {
        tsr_rans_counts counts = { { { 0 } } };
        tsr_rans_model model;
        for (int c = 1; c < TSR_RANS_TABLES; c++)
            for (int t = 0; t < TSR_RANS_TOKENS; t++)
                counts.count[c][t] = test_random(&seed) % 3 ? test_random(&seed) % (turn % 2 ? 5u : 1000000007u) : 0;
        tsr_rans_model_fit(&counts, &model);
        tsr_rans_lookup_fill(&model, &lookup);
        for (int c = 0; c < TSR_RANS_TABLES; c++) {
            uint64_t all = 0;
            int sum = 0, most = 0;
            for (int t = 0; t < TSR_RANS_TOKENS; t++) {
                all += counts.count[c][t];
                most = counts.count[c][t] > counts.count[c][most] ? t : most;
            }
            for (int t = 0; t < TSR_RANS_TOKENS; t++) {
                const int f = model.frequency[c][t];
                const double share = all ? 1 + (double)counts.count[c][t] / (double)all * (2048 - 16) : 128;
                if (!(f >= 1 && f > share - 1 - 1e-6 && f <= share + (t == most ? 16 : 1e-6)))
                    fail_msg("table %d, token %d: %d, expected %.2f", c, t, f, share);
                for (int k = 0; k < f; k++) {
                    const uint32_t slot = lookup.slot[c][sum + k];
                    assert_true((slot & 15) == (uint32_t)t && (slot >> 4 & 2047) == (uint32_t)k && slot >> 16 == (uint32_t)f);
                }
                for (int row = 0; row < TSR_RANS_ROWS; row++)
                    if ((row < 10 ? row : 10 + row % 2) == c) assert_int_equal(lookup.first[t][row], sum);
                sum += f;
            }
            assert_int_equal(sum, 2048);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(rows_come_back), cmocka_unit_test(tables) };
    return cmocka_run_group_tests_name("rans", tests, NULL, NULL);
}
