#include "support.h"

#include "case_rule.h"
#include "surface/case_table.h"

/* SHA-256 (FIPS 180-4) of a message of whole 64-byte blocks. */
static void sha256(const uint8_t *data, size_t bytes, char hex[65])
{
    uint32_t k[64], h[8], filled = 0;
    uint8_t last[64] = { 0x80 };
    for (uint32_t n = 2; filled < 64; n++) { /* the first 32 bits of the fractions of square and cube roots of primes, by bisection */
        uint32_t prime = 1;
        for (uint32_t d = 2; d * d <= n; d++) prime &= n % d != 0;
        if (!prime) continue;
        for (int power = 2; power <= 3; power++) {
            unsigned __int128 low = 0, high = (unsigned __int128)32 << 32;
            while (high - low > 1) {
                unsigned __int128 middle = (low + high) / 2, value = power == 2 ? middle * middle : middle * middle * middle;
                if (value <= (unsigned __int128)n << 32 * power) low = middle;
                else high = middle;
            }
            if (power == 3) k[filled] = (uint32_t)low;
            else if (filled < 8) h[filled] = (uint32_t)low;
        }
        filled++;
    }
    for (int i = 0; i < 8; i++) last[63 - i] = (uint8_t)((uint64_t)bytes * 8 >> 8 * i);
    for (size_t at = 0; at <= bytes; at += 64) {
        const uint8_t *block = at < bytes ? data + at : last;
        uint32_t w[64], v[8];
        for (int i = 0; i < 16; i++)
            w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
#define ROTATE(x, n) ((x) >> (n) | (x) << (32 - (n)))
        for (int i = 16; i < 64; i++)
            w[i] = w[i - 16] + (ROTATE(w[i - 15], 7) ^ ROTATE(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
                   (ROTATE(w[i - 2], 17) ^ ROTATE(w[i - 2], 19) ^ w[i - 2] >> 10);
        memcpy(v, h, sizeof v);
        for (int i = 0; i < 64; i++) {
            uint32_t a = v[7] + (ROTATE(v[4], 6) ^ ROTATE(v[4], 11) ^ ROTATE(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
            uint32_t b = (ROTATE(v[0], 2) ^ ROTATE(v[0], 13) ^ ROTATE(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
            memmove(v + 1, v, 7 * sizeof *v);
            v[4] += a;
            v[0] = a + b;
        }
        for (int i = 0; i < 8; i++) h[i] += v[i];
    }
    for (int i = 0; i < 8; i++) snprintf(hex + 8 * i, 9, "%08x", h[i]);
}

static void table_is_the_rule(void **state)
{
    (void)state;
    for (int code = 0; code < 256; code++) {
        uint8_t row[16];
        int triangles = 0;
        case_row(code, row);
        assert_memory_equal(row, tsr_case_edges[code], 16);
        while (3 * triangles < 15 && row[3 * triangles] != 255) triangles++;
        assert_int_equal(triangles, tsr_case_triangles[code]);
    }
    char hex[65];
    sha256(&tsr_case_edges[0][0], sizeof tsr_case_edges, hex);
    assert_string_equal(hex, "792f5f4cc50fd18533e6676dddbd50e4efdba4c7837765d8a4d57d1d24838cd2");
}

static void table_properties(void **state)
{
    (void)state;
    const int expected[6] = { 2, 16, 50, 80, 76, 32 };
    int with[6] = { 0 }, total = 0;
    for (int code = 0; code < 256; code++) {
        unsigned edges = 0, opposite = 0, cut = 0;
        int triangles = tsr_case_triangles[code];
        total += triangles;
        with[triangles]++;
        for (int k = 0; k < 3 * triangles; k++) edges |= 1u << tsr_case_edges[code][k];
        for (int k = 0; k < 3 * tsr_case_triangles[255 - code]; k++) opposite |= 1u << tsr_case_edges[255 - code][k];
        for (int e = 0; e < 12; e++) {
            int p = 0, q = 0;
            edge_corners(e, &p, &q);
            cut |= (unsigned)((code >> p ^ code >> q) & 1) << e;
        }
        assert_int_equal(edges, cut);
        assert_int_equal(opposite, cut);
    }
    assert_int_equal(total, 820);
    assert_memory_equal(with, expected, sizeof with);
    const uint8_t one[4] = { 0, 4, 8, 255 }, thirty_two[4] = { 2, 7, 9, 255 }, all_but_one[4] = { 0, 8, 4, 255 };
    assert_memory_equal(tsr_case_edges[1], one, 4);
    assert_memory_equal(tsr_case_edges[32], thirty_two, 4);
    assert_memory_equal(tsr_case_edges[254], all_but_one, 4);
}

/* Directed triangle edges that lie in the face at x = side, as (from, to) pairs over the edge numbers of the face at x = 0. */
static int face_lines(int code, int axis, int side, uint32_t lines[4])
{
    int count = 0;
    for (int k = 0; k < 3 * tsr_case_triangles[code]; k++) {
        int from = tsr_case_edges[code][k], to = tsr_case_edges[code][k - k % 3 + (k + 1) % 3], ends[2] = { from, to }, inside = 1;
        uint32_t key = 0;
        for (int n = 0; n < 2; n++) {
            int p = 0, q = 0;
            edge_corners(ends[n], &p, &q);
            inside &= (p >> axis & 1) == side && (q >> axis & 1) == side;
            key = key << 8 | (uint32_t)edge_between(p & ~(1 << axis), q & ~(1 << axis));
        }
        if (inside) lines[count++] = key;
    }
    return count;
}

/* Cells that share a face see the same segments in it, run through in opposite directions: whatever the 12 corners are. */
static void neighbours_agree(void **state)
{
    (void)state;
    int compatible = 0;
    for (int axis = 0; axis < 3; axis++)
        for (int a = 0; a < 256; a++)
            for (int b = 0; b < 256; b++) {
                int same = 1, bit = 1 << axis;
                for (int c = 0; c < 8; c++) same &= (c & bit) != 0 || (a >> (c | bit) & 1) == (b >> c & 1);
                if (!same) continue;
                uint32_t up[4] = { 0 }, down[4] = { 0 };
                int n = face_lines(a, axis, 1, up), m = face_lines(b, axis, 0, down), matched = 0;
                for (int i = 0; i < n; i++)
                    for (int j = 0; j < m; j++) matched += (up[i] >> 8 | (up[i] & 255) << 8) == down[j];
                assert_int_equal(n, m);
                assert_int_equal(matched, n);
                compatible++;
            }
    assert_int_equal(compatible, 3 * 256 * 16);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "print")) {
        for (int code = 0; code < 256; code++) {
            uint8_t row[16];
            case_row(code, row);
            printf("    {");
            for (int k = 0; k < 16; k++) printf("%s%d", k ? ", " : " ", row[k]);
            printf(" },\n");
        }
        return 0;
    }
    const struct CMUnitTest tests[] = { cmocka_unit_test(table_is_the_rule), cmocka_unit_test(table_properties), cmocka_unit_test(neighbours_agree) };
    return cmocka_run_group_tests_name("case table", tests, NULL, NULL);
}
