/* The rule of docs/theory/surfaces.md 2 by which src/surface/case_table.h was made ("test_table print" writes its rows again), and, with the
 * decision on every ambiguous face, src/surface/decider_table.h ("test_table decider"). */
#ifndef TSR_TESTS_CASE_RULE_H
#define TSR_TESTS_CASE_RULE_H

#include <stdint.h>
#include <string.h>

/* Edge between two corners (x + 2 y + 4 z) that differ in one axis: 4 axis + (u + 2 v), u and v on the other axes in increasing order. */
static int edge_between(int p, int q)
{
    int axis = (p ^ q) == 1 ? 0 : (p ^ q) == 2 ? 1 : 2, low = p & q;
    int u = axis == 0 ? low >> 1 & 1 : low & 1, v = axis == 2 ? low >> 1 & 1 : low >> 2 & 1;
    return 4 * axis + u + 2 * v;
}

static void edge_corners(int edge, int *p, int *q)
{
    *p = *q = 0;
    for (int a = 0; a < 8; a++)
        for (int bit = 1; bit < 8; bit <<= 1)
            if (!(a & bit) && edge_between(a, a | bit) == edge) {
                *p = a;
                *q = a | bit;
            }
}

/* Do two edges lie on one face of the cube? */
static int share_face(int e, int f)
{
    int a, b, c, d;
    edge_corners(e, &a, &b);
    edge_corners(f, &c, &d);
    return (a & b & c & d) != 0 || (~(a | b | c | d) & 7) != 0;
}

/* One segment per leaving edge of each face, walked counter-clockwise seen from outside; `joined`: the inside corners of an ambiguous face hold
 * together. Returns whether the face is ambiguous. */
static int face_segments(int code, int axis, int side, int joined, int next[12])
{
    static const int walk[4][2] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 } };
    int corner[4], leaving[4], entering[4], leaves = 0;
    for (int i = 0; i < 4; i++) {
        const int *w = walk[side ? i : 3 - i];
        corner[i] = side << axis | w[0] << (axis + 1) % 3 | w[1] << (axis + 2) % 3;
    }
    for (int i = 0; i < 4; i++) {
        int p = code >> corner[i] & 1, q = code >> corner[(i + 1) % 4] & 1;
        leaving[i] = p && !q;
        entering[i] = !p && q;
        leaves += leaving[i];
    }
    for (int i = 0; i < 4; i++) {
        if (!leaving[i]) continue;
        int j = i; /* two crossings: the only entering edge; four: the one just before separates the inside corners, the one just after joins them */
        do j = (j + (joined ? 1 : 3)) % 4;
        while (!entering[j]);
        next[edge_between(corner[i], corner[(i + 1) % 4])] = edge_between(corner[j], corner[(j + 1) % 4]);
    }
    return leaves == 2;
}

static inline int ambiguous_faces(int code)
{
    int faces = 0, next[12];
    for (int f = 0; f < 6; f++) faces |= face_segments(code, f >> 1, f & 1, 0, next) << f;
    return faces;
}

/* Price of the diagonal between two edges of the cube: nothing through the cell; 1 in a face; too much in a face where it is the neighbour's. The loops
 * of some decisions have no triangulation without such diagonals, and if both cells had the same one, four triangles would meet in it. So those
 * between opposite edges of a face are for the cell below it and those between neighbouring edges for the cell above: then every loop has one. */
enum { DIAGONAL_FORBIDDEN = 100 };
static int diagonal_price(int e, int f)
{
    int a, b, c, d;
    if (!share_face(e, f)) return 0;
    edge_corners(e, &a, &b);
    edge_corners(f, &c, &d);
    int upper = (a & b & c & d) != 0, opposite = e >> 2 == f >> 2;
    return upper == opposite ? 1 : DIAGONAL_FORBIDDEN;
}

/* The cheapest triangulation of a loop, of equal ones the one whose triangles have the first corners first. */
static int loop_triangles(const int *loop, int n, uint8_t *row)
{
    int price[12][12] = { { 0 } }, apex[12][12] = { { 0 } }, stack[24], depth = 0, out = 0;
    for (int d = 2; d < n; d++)
        for (int i = 0; i + d < n; i++) {
            price[i][i + d] = 1 << 20;
            for (int k = i + 1; k < i + d; k++) {
                int p = price[i][k] + price[k][i + d] + (k > i + 1 ? diagonal_price(loop[i], loop[k]) : 0) +
                        (i + d > k + 1 ? diagonal_price(loop[k], loop[i + d]) : 0);
                if (p >= price[i][i + d]) continue;
                price[i][i + d] = p;
                apex[i][i + d] = k;
            }
        }
    if (price[0][n - 1] >= DIAGONAL_FORBIDDEN) return -1;
    stack[depth++] = 0;
    stack[depth++] = n - 1;
    while (depth) {
        int j = stack[--depth], i = stack[--depth], k = apex[i][j];
        if (j - i < 2) continue;
        row[out++] = (uint8_t)loop[i];
        row[out++] = (uint8_t)loop[j];
        row[out++] = (uint8_t)loop[k];
        stack[depth++] = k;
        stack[depth++] = j;
        stack[depth++] = i;
        stack[depth++] = k;
    }
    return out;
}

/* Edges of the triangles of a case in which the inside corners hold together on the faces of the mask `joined` (bit 2 axis + side). Returns how many,
 * -1 if a loop has no triangulation. */
static int decided_row(int code, int joined, uint8_t row[36])
{
    int next[12], used[12] = { 0 }, out = 0;
    memset(next, -1, sizeof next);
    for (int f = 0; f < 6; f++) face_segments(code, f >> 1, f & 1, joined >> f & 1, next);
    for (int start = 0; start < 12; start++) {
        if (used[start] || next[start] < 0) continue;
        int loop[12], n = 0, first = 0, bad = 1;
        for (int e = start; !used[e]; e = next[e]) {
            used[e] = 1;
            loop[n++] = e;
        }
        for (; bad && first < n; first += bad) {
            bad = 0;
            for (int k = 2; k <= n - 2; k++) bad |= share_face(loop[first], loop[(first + k) % n]);
        }
        if (bad) {
            int more = loop_triangles(loop, n, row + out);
            if (more < 0) return -1;
            out += more;
            continue;
        }
        for (int k = 1; k <= n - 2; k++) {
            row[out++] = (uint8_t)loop[first % n];
            row[out++] = (uint8_t)loop[(first + k + 1) % n];
            row[out++] = (uint8_t)loop[(first + k) % n];
        }
    }
    return out;
}

static inline void case_row(int code, uint8_t row[16])
{
    uint8_t all[36];
    int edges = decided_row(code, 0, all);
    memset(row, 255, 16);
    for (int k = 0; k < edges && k < 15; k++) row[k] = all[k];
}

#endif
