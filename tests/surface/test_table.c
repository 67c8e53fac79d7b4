#include "support.h"

#include "case_rule.h"
#include "surface/case_table.h"
#include "surface/decider_table.h"

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

/* The mask of faces in which the k-th decision joins what the bits of `choice` join: decisions are numbered by ambiguous face, ascending. */
static int spread(int faces, int choice)
{
    int joined = 0;
    for (int f = 0; f < 6; f++)
        if (faces >> f & 1) {
            joined |= (choice & 1) << f;
            choice >>= 1;
        }
    return joined;
}

static void decider_is_the_rule(void **state)
{
    (void)state;
    int row = 0, most = 0;
    for (int code = 0; code < 256; code++) {
        int faces = ambiguous_faces(code), decisions = faces ? 1 << __builtin_popcount((unsigned)faces) : 0;
        assert_int_equal(tsr_decider_faces[code], faces);
        assert_true(!faces || tsr_decider_first[code] == row);
        for (int choice = 0; choice < decisions; choice++, row++) {
            uint8_t edges[36];
            int n = decided_row(code, spread(faces, choice), edges), from = tsr_decider_from[row];
            assert_int_equal(tsr_decider_from[row + 1] - from, n);
            assert_memory_equal(tsr_decider_edges + from, edges, (size_t)n);
            if (choice == 0) { /* nothing joined: the plain case */
                assert_int_equal(n, 3 * tsr_case_triangles[code]);
                assert_memory_equal(edges, tsr_case_edges[code], (size_t)n);
            }
            most = n > most ? n : most;
        }
    }
    assert_int_equal(row, sizeof tsr_decider_from / sizeof *tsr_decider_from - 1);
    assert_int_equal(tsr_decider_from[row], sizeof tsr_decider_edges);
    assert_int_equal(most, 3 * TSR_CASE_MOST);
}

/* What the triangles of a decided case leave open lies in the faces of the cell and is what the decision says: an ambiguous face has two segments, each
 * around a corner of the side that is cut apart. Cells above and below a face run through them in opposite directions and have no line of
 * triangles in common beside them: else four triangles would meet in it. */
static void decided_faces(void **state)
{
    (void)state;
    static uint32_t seen[3][2][16][2][4]; /* [axis][side][corners][joined]: the segments */
    static uint32_t lines[3][2][12 * 12]; /* [axis][side][two edges of the face]: lines inside it */
    memset(seen, 0, sizeof seen);
    memset(lines, 0, sizeof lines);
    for (int code = 0; code < 256; code++) {
        const int faces = tsr_decider_faces[code];
        for (int choice = 0; choice < (faces ? 1 << __builtin_popcount((unsigned)faces) : 0); choice++) {
            const int row = tsr_decider_first[code] + choice, joined = spread(faces, choice);
            const uint8_t *e = tsr_decider_edges + tsr_decider_from[row];
            int used[12][12] = { { 0 } }, n = tsr_decider_from[row + 1] - tsr_decider_from[row], cut = 0, touched = 0;
            for (int k = 0; k < n; k++) {
                used[e[k]][e[k - k % 3 + (k + 1) % 3]]++;
                touched |= 1 << e[k];
            }
            for (int a = 0; a < 12; a++) {
                int p, q;
                edge_corners(a, &p, &q);
                cut |= ((code >> p ^ code >> q) & 1) << a;
                for (int b = 0; b < 12; b++) assert_true(used[a][b] <= 1);
            }
            assert_int_equal(touched, cut);
            for (int a = 0; a < 12; a++)
                for (int b = 0; b < 12; b++) {
                    int c[4];
                    if (!used[a][b]) continue;
                    edge_corners(a, &c[0], &c[1]);
                    edge_corners(b, &c[2], &c[3]);
                    const int high = c[0] & c[1] & c[2] & c[3], low = ~(c[0] | c[1] | c[2] | c[3]) & 7;
                    if (!high && !low) {
                        assert_int_equal(used[b][a], 1); /* through the cell: two triangles */
                        continue;
                    }
                    const int axis = __builtin_ctz((unsigned)(high | low)), side = high != 0, bit = 1 << axis, f = 2 * axis + side;
                    const int below = edge_between(c[0] & ~bit, c[1] & ~bit), beside = edge_between(c[2] & ~bit, c[3] & ~bit);
                    if (used[b][a]) { /* two triangles of this cell */
                        assert_true(faces >> f & 1);
                        lines[axis][side][12 * below + beside] = 1;
                        continue;
                    }
                    int corners = 0, at = 0;
                    for (int k = 0; k < 8; k++)
                        if ((k >> axis & 1) == side) corners |= (code >> k & 1) << at++;
                    uint32_t *to = seen[axis][side][corners][joined >> f & 1], key = 1 + (uint32_t)(side ? 12 * beside + below : 12 * below + beside);
                    int k = 0;
                    while (k < 4 && to[k] && to[k] != key) k++;
                    assert_true(k < 2); /* the same one or two whatever the rest of the cell */
                    to[k] = key;
                    if (faces >> f & 1) {
                        int shared = c[0] == c[2] || c[0] == c[3] ? c[0] : c[1] == c[2] || c[1] == c[3] ? c[1] : -1;
                        assert_true(shared >= 0);
                        assert_int_equal(code >> shared & 1, !(joined >> f & 1));
                    }
                }
        }
    }
    int common = 0, ambiguous = 0, own[2] = { 0, 0 };
    for (int axis = 0; axis < 3; axis++) {
        for (int k = 0; k < 144; k++) {
            common += lines[axis][0][k] && lines[axis][1][k];
            for (int side = 0; side < 2; side++) own[side] += lines[axis][side][k] != 0;
        }
        for (int corners = 0; corners < 16; corners++)
            for (int joined = 0; joined < 2; joined++) {
                const uint32_t *low = seen[axis][0][corners][joined], *high = seen[axis][1][corners][joined];
                assert_true((low[0] == high[0] && low[1] == high[1]) || (low[0] == high[1] && low[1] == high[0]));
                ambiguous += low[1] != 0;
            }
    }
    assert_int_equal(common, 0);
    assert_true(own[0] > 0 && own[1] > 0);
    assert_int_equal(ambiguous, 3 * 2 * 2);
}

static void print_numbers(const char *type, const char *name, const int *numbers, int count)
{
    printf("TSR_CASE_MEMORY %s %s[%d] = {\n   ", type, name, count);
    for (int k = 0; k < count; k++) printf(" %d,%s", numbers[k], k % 32 == 31 && k < count - 1 ? "\n   " : "");
    printf("\n};\n\n");
}

static void print_decider(void)
{
    static int faces[256], first[256], from[1024], edges[1024 * 36];
    int rows = 0, count = 0;
    for (int code = 0; code < 256; code++) {
        faces[code] = ambiguous_faces(code);
        first[code] = rows;
        for (int choice = 0; choice < (faces[code] ? 1 << __builtin_popcount((unsigned)faces[code]) : 0); choice++) {
            uint8_t row[36];
            int n = decided_row(code, spread(faces[code], choice), row);
            from[rows++] = count;
            for (int k = 0; k < n; k++) edges[count++] = row[k];
        }
    }
    from[rows] = count;
    print_numbers("uint8_t", "tsr_decider_faces", faces, 256);
    print_numbers("uint16_t", "tsr_decider_first", first, 256);
    print_numbers("uint16_t", "tsr_decider_from", from, rows + 1);
    print_numbers("uint8_t", "tsr_decider_edges", edges, count);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "decider")) {
        print_decider();
        return 0;
    }
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
    const struct CMUnitTest tests[] = { cmocka_unit_test(table_is_the_rule), cmocka_unit_test(table_properties), cmocka_unit_test(neighbours_agree),
                                        cmocka_unit_test(decider_is_the_rule), cmocka_unit_test(decided_faces) };
    return cmocka_run_group_tests_name("case table", tests, NULL, NULL);
}
