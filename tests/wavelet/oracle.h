/* tests/wavelet/oracle.h: the transforms once more, straight from the tables and rules of docs/theory/wavelets.md: a loop per axis over a dense array
 * of doubles (integers up to 2^53 are exact), nothing shared with the library. Result: nested (mallat) bands. */
#ifndef TSR_TESTS_WAVELET_ORACLE_H
#define TSR_TESTS_WAVELET_ORACLE_H

#include <math.h>
#include <string.h>

enum { ORACLE_AXES = 4, ORACLE_MOST = 1 << 16 };

typedef struct oracle_step {
    int parity, sign, count, rounding, shift;
    double tap[8];
} oracle_step; /* taps at -(count-1), ... count-1 */
typedef struct oracle_filter {
    const char *name;
    int steps;
    oracle_step step[4];
} oracle_filter;

/* In the order of tsr_wavelet_filter. Haar's steps read one sample on one side: a tap of 0 on the other. */
static const oracle_filter oracle_filters[] = {
    { "legall53", 2, { { 1, -1, 2, 1, 1, { 1, 1 } }, { 0, 1, 2, 2, 2, { 1, 1 } } } },
    { "haar", 2, { { 1, -1, 2, 0, 0, { 1, 0 } }, { 0, 1, 2, 1, 1, { 0, 1 } } } },
    { "dd97", 2, { { 1, -1, 4, 8, 4, { -1, 9, 9, -1 } }, { 0, 1, 2, 2, 2, { 1, 1 } } } },
    { "dd137", 2, { { 1, -1, 4, 8, 4, { -1, 9, 9, -1 } }, { 0, 1, 4, 16, 5, { -1, 9, 9, -1 } } } },
    { "daub97",
      4,
      { { 1, -1, 2, 2048, 12, { 6497, 6497 } },
        { 0, -1, 2, 2048, 12, { 217, 217 } },
        { 1, 1, 2, 2048, 12, { 3616, 3616 } },
        { 0, 1, 2, 2048, 12, { 1817, 1817 } } } },
    { "fidelity", 2, { { 0, 1, 8, 128, 8, { -8, 21, -46, 161, 161, -46, 21, -8 } }, { 1, -1, 8, 128, 8, { -2, 10, -25, 81, 81, -25, 10, -2 } } } },
    { "jpeg53", 2, { { 1, -1, 2, 0, 1, { 1, 1 } }, { 0, 1, 2, 2, 2, { 1, 1 } } } },
};
static const double oracle_daub97[4] = { 1.586134342059924, 0.052980118572961, 0.882911075530934, 0.443506852043971 };

typedef struct oracle {
    int real, boundary, shift, levels, axes; /* boundary: clamp symmetric periodic zero; axes: bits */
    int lost;                                /* a value left 16 bits after an axis */
    const oracle_filter *filter;
    int size[ORACLE_AXES];
} oracle;

static inline double oracle_at(const double *x, int i, int n, int boundary)
{
    switch (boundary) {
    case 0:
        while (i < 0) i += 2;
        while (i >= n) i -= 2;
        return x[i];
    case 1:
        while (i < 0 || i >= n) i = i < 0 ? -i : 2 * (n - 1) - i;
        return x[i];
    case 2: return x[(i % n + n) % n];
    default: return i < 0 || i >= n ? 0 : x[i];
    }
}

static inline double oracle_tap(const oracle *o, int step, int k)
{
    const oracle_step *s = &o->filter->step[step];
    if (!o->real) return s->tap[k];
    return o->filter->steps == 4 ? oracle_daub97[step] : s->tap[k] / (double)(1 << s->shift);
}

static inline void oracle_line(oracle *o, double *x, int n)
{
    double out[4096];
    for (int step = 0; step < o->filter->steps; step++) {
        const oracle_step *s = &o->filter->step[step];
        for (int i = s->parity; i < n; i += 2) {
            double sum = 0;
            for (int k = 0; k < s->count; k++)
                if (s->tap[k] != 0) sum += oracle_tap(o, step, k) * oracle_at(x, i + 2 * k - (s->count - 1), n, o->boundary);
            x[i] += s->sign * (o->real ? sum : floor((sum + s->rounding) / (double)(1 << s->shift)));
        }
    }
    for (int i = 0; i < n; i++) {
        out[i % 2 ? (n + 1) / 2 + i / 2 : i / 2] = x[i];
        if (x[i] < -32768 || x[i] > 32767) o->lost = 1;
    }
    memcpy(x, out, (size_t)n * sizeof *x);
}

static inline void oracle_forward(oracle *o, double *data)
{
    int n[ORACLE_AXES], stride[ORACLE_AXES] = { 1, o->size[0], o->size[0] * o->size[1], o->size[0] * o->size[1] * o->size[2] }, i[ORACLE_AXES];
    memcpy(n, o->size, sizeof n);
    for (int level = 0; level < o->levels; level++) {
        for (i[3] = 0; i[3] < n[3]; i[3]++)
            for (i[2] = 0; i[2] < n[2]; i[2]++)
                for (i[1] = 0; i[1] < n[1]; i[1]++)
                    for (i[0] = 0; i[0] < n[0]; i[0]++) {
                        double *v = &data[i[0] + i[1] * stride[1] + i[2] * stride[2] + i[3] * stride[3]];
                        *v *= 1 << o->shift;
                        if (*v < -32768 || *v > 32767) o->lost = 1;
                    }
        for (int a = 0; a < ORACLE_AXES; a++) {
            if (!(o->axes >> a & 1) || n[a] < 2) continue;
            int other[3], count = 0;
            for (int b = 0; b < ORACLE_AXES; b++)
                if (b != a) other[count++] = b;
            for (int p = 0; p < n[other[0]]; p++)
                for (int q = 0; q < n[other[1]]; q++)
                    for (int r = 0; r < n[other[2]]; r++) {
                        double line[4096], *first = data + p * stride[other[0]] + q * stride[other[1]] + r * stride[other[2]];
                        for (int k = 0; k < n[a]; k++) line[k] = first[k * stride[a]];
                        oracle_line(o, line, n[a]);
                        for (int k = 0; k < n[a]; k++) first[k * stride[a]] = line[k];
                    }
        }
        for (int a = 0; a < ORACLE_AXES; a++)
            if (o->axes >> a & 1) n[a] = (n[a] + 1) / 2;
    }
}

/* A line of nested bands back to samples: the steps the other way round. */
static inline void oracle_unline(const oracle *o, double *x, int n)
{
    double in[4096];
    for (int i = 0; i < n; i++) in[i] = x[i % 2 ? (n + 1) / 2 + i / 2 : i / 2];
    for (int step = o->filter->steps - 1; step >= 0; step--) {
        const oracle_step *s = &o->filter->step[step];
        for (int i = s->parity; i < n; i += 2) {
            double sum = 0;
            for (int k = 0; k < s->count; k++)
                if (s->tap[k] != 0) sum += oracle_tap(o, step, k) * oracle_at(in, i + 2 * k - (s->count - 1), n, o->boundary);
            in[i] -= s->sign * (o->real ? sum : floor((sum + s->rounding) / (double)(1 << s->shift)));
        }
    }
    memcpy(x, in, (size_t)n * sizeof *x);
}

/* Any coefficients to samples, not only those that oracle_forward made; `lost`: a sample does not fit into 16 bits. */
static inline void oracle_inverse(oracle *o, double *data)
{
    int size[16][ORACLE_AXES], stride[ORACLE_AXES] = { 1, o->size[0], o->size[0] * o->size[1], o->size[0] * o->size[1] * o->size[2] };
    memcpy(size[0], o->size, sizeof size[0]);
    for (int level = 0; level < o->levels; level++)
        for (int a = 0; a < ORACLE_AXES; a++) size[level + 1][a] = o->axes >> a & 1 ? (size[level][a] + 1) / 2 : size[level][a];
    for (int level = o->levels - 1; level >= 0; level--) {
        const int *n = size[level];
        for (int a = ORACLE_AXES - 1; a >= 0; a--) {
            if (!(o->axes >> a & 1) || n[a] < 2) continue;
            int lines = 1;
            for (int b = 0; b < ORACLE_AXES; b++) lines *= b == a ? 1 : n[b];
            for (int l = 0; l < lines; l++) {
                double line[4096], *first = data;
                for (int b = 0, rest = l; b < ORACLE_AXES; b++) {
                    if (b == a) continue;
                    first += rest % n[b] * stride[b];
                    rest /= n[b];
                }
                for (int k = 0; k < n[a]; k++) line[k] = first[k * stride[a]];
                oracle_unline(o, line, n[a]);
                for (int k = 0; k < n[a]; k++) first[k * stride[a]] = line[k];
            }
        }
        for (int i3 = 0; i3 < n[3] && o->shift; i3++)
            for (int i2 = 0; i2 < n[2]; i2++)
                for (int i1 = 0; i1 < n[1]; i1++)
                    for (int i0 = 0; i0 < n[0]; i0++) {
                        double *v = &data[i0 + i1 * stride[1] + i2 * stride[2] + i3 * stride[3]];
                        *v = floor((*v + (1 << (o->shift - 1))) / (1 << o->shift));
                    }
    }
    o->lost = 0;
    for (int i = 0; i < o->size[0] * o->size[1] * o->size[2] * o->size[3]; i++) o->lost |= data[i] < -32768 || data[i] > 32767;
}

#endif
