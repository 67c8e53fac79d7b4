/* reconstruct/points_strays.c: sheets of sparse samples told from outliers.
 *
 * A few others near a point prove little where samples are sparse: an outlier among outliers has as many as a sample of a sparse part. They differ in how these
 * lie. The nearest NEAREST of a sample of a surface lie in a sheet, whatever their distance; those of a point scattered in space, or of one far above a dense
 * part (which are a clump far from it), do not. One in a hundred scattered points passes by chance, so its neighbours must pass as well. */
#include "reconstruct/points_strays.h"

#include <math.h>
#include <stdlib.h>

#include "core/parallel.h"

enum { NEAREST = 12, COMPANY = 9, MOST_OTHERS = 16, GRAIN = 64, LEAST_SHARE = 10 };
/* Squares of the thickness and of the lesser width of a sheet: the first is below so much of the second. */
#define THIN (1.0 / 32)

struct near {
    int64_t square;
    uint32_t at[3];
    int64_t place;
};
struct judge {
    const tsr_tree_build *build;
    int32_t cells;
    const int64_t *lone; /* [count] places in the sorted order */
    int64_t count;
    int64_t (*nearest)[NEAREST]; /* [count] theirs; < 0: fewer */
    uint8_t *sheet;              /* [points] 1: not lone, or in a sheet */
};

/* ---- nearest ------------------------------------------------------------------------------------------------------------------------------ */

/* Nearest first; of equals the one with the lesser coordinates, so that the order of the points does not matter. */
static int before(const struct near *a, const struct near *b)
{
    if (a->square != b->square) return a->square < b->square;
    for (int k = 0; k < 3; k++)
        if (a->at[k] != b->at[k]) return a->at[k] < b->at[k];
    return 0;
}

static void look_at(const tsr_tree_build *b, int64_t i, int64_t j, int64_t reach, struct near *found, int *count)
{
    struct near one = { .place = j };
    if (j == i || !tsr_points_near(b, i, j, reach)) return;
    for (int k = 0; k < 3; k++) {
        const int64_t d = (int64_t)b->fixed[k][i] - (int64_t)b->fixed[k][j];
        one.square += d * d;
        one.at[k] = b->fixed[k][j];
    }
    if (*count == NEAREST && !before(&one, &found[NEAREST - 1])) return;
    int at = *count < NEAREST ? (*count)++ : NEAREST - 1;
    for (; at > 0 && before(&one, &found[at - 1]); at--) found[at] = found[at - 1];
    found[at] = one;
}

/* The nearest others of point i: in cells of growing size, until they are within the side of one. */
static int find_nearest(const tsr_tree_build *b, int64_t i, int32_t cells, struct near found[NEAREST])
{
    int count = 0;
    for (int32_t depth = cells; depth >= 1 && count < NEAREST; depth--) {
        const int64_t reach = (int64_t)(TSR_FIXED_ONE >> depth);
        const int32_t shift = 3 * (b->depth - depth);
        uint32_t cell[3];
        count = 0;
        for (int k = 0; k < 3; k++) cell[k] = b->fixed[k][i] >> (TSR_FIXED_BITS - depth);
        for (uint32_t d = 0; d < 27; d++) {
            uint64_t key;
            if (!tsr_cell_beside(cell, d, (1u << depth) - 1u, &key)) continue;
            const uint64_t first = key << shift, end = first + ((uint64_t)1 << shift);
            for (int64_t j = tsr_key_lower_bound(b->sorted, (int32_t)b->points, first); j < b->points && b->sorted[j] < end; j++)
                look_at(b, i, j, reach, found, &count);
        }
    }
    return count;
}

/* ---- sheets ------------------------------------------------------------------------------------------------------------------------------- */

/* The lesser two eigenvalues of a symmetric matrix (rotations of Jacobi). */
static void lesser_two(double m[3][3], double *least, double *middle)
{
    for (int sweep = 0; sweep < 12; sweep++)
        for (int turn = 0; turn < 3; turn++) {
            const int p = turn == 2 ? 1 : 0, q = turn == 0 ? 1 : 2, r = 3 - p - q;
            if (m[p][q] == 0) continue;
            const double ratio = (m[q][q] - m[p][p]) / (2 * m[p][q]);
            const double t = (ratio < 0 ? -1 : 1) / (fabs(ratio) + sqrt(ratio * ratio + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
            const double moved = t * m[p][q], rp = m[r][p], rq = m[r][q];
            m[p][p] -= moved;
            m[q][q] += moved;
            m[p][q] = m[q][p] = 0;
            m[r][p] = m[p][r] = c * rp - s * rq;
            m[r][q] = m[q][r] = s * rp + c * rq;
        }
    const double a = m[0][0], b = m[1][1], c = m[2][2], most = fmax(a, fmax(b, c));
    *least = fmin(a, fmin(b, c));
    *middle = a + b + c - most - *least;
}

/* Do the point and these others lie in a sheet? Sums of whole numbers, about the point: exact in any order. */
static int is_sheet(const tsr_tree_build *b, int64_t i, const struct near found[NEAREST], int count)
{
    int64_t sum[3] = { 0 }, square[3][3] = { { 0 } };
    double m[3][3], least, middle;
    int32_t shift = 0;
    if (count < NEAREST) return 0;
    while (found[count - 1].square >> (2 * shift) >= (int64_t)1 << 48) shift++; /* 24 bits and a sign */
    for (int n = 0; n < count; n++) {
        int64_t d[3];
        for (int k = 0; k < 3; k++) d[k] = ((int64_t)found[n].at[k] - (int64_t)b->fixed[k][i]) / ((int64_t)1 << shift);
        for (int k = 0; k < 3; k++) {
            sum[k] += d[k];
            for (int l = 0; l < 3; l++) square[k][l] += d[k] * d[l];
        }
    }
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++) m[k][l] = (double)square[k][l] - (double)sum[k] * (double)sum[l] / (count + 1);
    lesser_two(m, &least, &middle);
    return middle > 0 && least <= THIN * middle;
}

static void sheet_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct judge *g = (const struct judge *)user;
    (void)worker;
    for (int64_t n = begin; n < end; n++) {
        struct near found[NEAREST];
        const int count = find_nearest(g->build, g->lone[n], g->cells, found);
        for (int k = 0; k < NEAREST; k++) g->nearest[n][k] = k < count ? found[k].place : -1;
        g->sheet[g->lone[n]] = (uint8_t)is_sheet(g->build, g->lone[n], found, count);
    }
}

static int has_company(const struct judge *g, int64_t n)
{
    int company = 0;
    for (int k = 0; k < NEAREST; k++) company += g->nearest[n][k] >= 0 && g->sheet[g->nearest[n][k]];
    return g->sheet[g->lone[n]] && company >= COMPANY;
}

/* ---- chance ------------------------------------------------------------------------------------------------------------------------------- */

/* How many others near it so many points scattered in their box must have that less than a tenth of one passes. */
static int32_t others_by_chance(const struct judge *g, int64_t strays, int32_t least)
{
    const tsr_tree_build *b = g->build;
    double low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { 0 }, volume = 1;
    const double near = ldexp(1, TSR_FIXED_BITS - g->cells);
    for (int64_t n = 0; n < g->count; n++)
        for (int k = 0; k < 3 && !b->first[g->lone[n]]; k++) {
            low[k] = fmin(low[k], (double)b->fixed[k][g->lone[n]]);
            high[k] = fmax(high[k], (double)b->fixed[k][g->lone[n]]);
        }
    for (int k = 0; k < 3; k++) volume *= fmax(high[k] - low[k], near);
    const double mean = (double)strays * 4.18879 * near * near * near / volume;
    double one = exp(-mean), tail = 1; /* Poisson: exactly k, and k or more */
    int32_t others = 0;
    for (; others < MOST_OTHERS && (others < least || tail * (double)strays * LEAST_SHARE > 1); others++) {
        tail -= one;
        one *= mean / (others + 1);
    }
    return others;
}

tsr_status tsr_strays_judge(int threads, const tsr_tree_build *b, const tsr_lone_rule *rule, int64_t *strays, int32_t *others)
{
    struct judge g = { .build = b, .cells = rule->cells };
    int64_t *lone;
    for (int64_t i = 0; i < b->points; i++) g.count += !b->first[i];
    const size_t n = (size_t)g.count;
    *strays = 0;
    *others = rule->others;
    if (n == 0) return TSR_OK;
    lone = (int64_t *)malloc(n * sizeof *lone * (1 + NEAREST) + (size_t)b->points);
    if (!lone) TSR_FAIL(TSR_ERROR_MEMORY, "reconstruct: out of host memory for %lld sparse points", (long long)g.count);
    g.lone = lone;
    g.nearest = (int64_t(*)[NEAREST])(lone + n);
    g.sheet = (uint8_t *)(g.nearest + n);
    g.count = 0;
    for (int64_t i = 0; i < b->points; i++) {
        g.sheet[i] = b->first[i];
        if (!b->first[i]) lone[g.count++] = i;
    }
    tsr_parallel(threads, g.count, GRAIN, sheet_range, &g);
    for (int64_t i = 0; i < g.count; i++) b->first[g.lone[i]] = (uint8_t)has_company(&g, i);
    for (int64_t i = 0; i < g.count; i++) *strays += !b->first[g.lone[i]];
    if (*strays > 0) *others = others_by_chance(&g, *strays, rule->others);
    free(lone);
    return TSR_OK;
}
