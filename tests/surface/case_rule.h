/* The rule of spec marching-cubes.md 2.2 by which src/surface/case_table.h was made ("test_table print" writes that file again). */
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

/* One segment per leaving edge of each face, walked counter-clockwise seen from outside. */
static void face_segments(int code, int axis, int side, int next[12])
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
        int j = i; /* two crossings: the only entering edge; four: the one just before, which separates the inside corners */
        do j = (j + 3) % 4;
        while (!entering[j]);
        next[edge_between(corner[i], corner[(i + 1) % 4])] = edge_between(corner[j], corner[(j + 1) % 4]);
    }
}

static void case_row(int code, uint8_t row[16])
{
    int next[12], used[12] = { 0 }, out = 0;
    memset(row, 255, 16);
    memset(next, -1, sizeof next);
    for (int axis = 0; axis < 3; axis++)
        for (int side = 0; side < 2; side++) face_segments(code, axis, side, next);
    for (int start = 0; start < 12; start++) {
        if (used[start] || next[start] < 0) continue;
        int loop[12], n = 0, first = 0;
        for (int e = start; !used[e]; e = next[e]) {
            used[e] = 1;
            loop[n++] = e;
        }
        for (int bad = 1; bad && first < n; first += bad) {
            bad = 0;
            for (int k = 2; k <= n - 2; k++) bad |= share_face(loop[first], loop[(first + k) % n]);
        }
        for (int k = 1; k <= n - 2; k++) {
            row[out++] = (uint8_t)loop[first % n];
            row[out++] = (uint8_t)loop[(first + k + 1) % n];
            row[out++] = (uint8_t)loop[(first + k) % n];
        }
    }
}

#endif
