#include <math.h>
#include <string.h>

#include "vision/calibration/dense.h"

enum { EIGEN_MOST = 12 };

/* Jacobi's rotations, cyclic. */
void tsr_dense_eigen(int n, double *a, double *value, double *vector)
{
    double v[EIGEN_MOST * EIGEN_MOST] = { 0 };
    for (int i = 0; i < n; i++) v[i * n + i] = 1;
    for (int sweep = 0; sweep < 60; sweep++) {
        double off = 0, all = 0;
        for (int i = 0; i < n; i++)
            for (int k = 0; k < n; k++) *(i == k ? &all : &off) += a[i * n + k] * a[i * n + k];
        if (!(off > 1e-34 * all)) break;
        for (int p = 0; p < n; p++) {
            for (int q = p + 1; q < n; q++) {
                if (a[p * n + q] == 0) continue;
                const double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
                const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < n; k++) {
                    const double x = a[k * n + p], y = a[k * n + q];
                    a[k * n + p] = c * x - s * y;
                    a[k * n + q] = s * x + c * y;
                }
                for (int k = 0; k < n; k++) {
                    const double x = a[p * n + k], y = a[q * n + k];
                    a[p * n + k] = c * x - s * y;
                    a[q * n + k] = s * x + c * y;
                    const double vx = v[p * n + k], vy = v[q * n + k];
                    v[p * n + k] = c * vx - s * vy;
                    v[q * n + k] = s * vx + c * vy;
                }
            }
        }
    }
    int taken[EIGEN_MOST] = { 0 };
    for (int i = 0; i < n; i++) {
        int least = -1;
        for (int k = 0; k < n; k++)
            if (!taken[k] && (least < 0 || a[k * n + k] < a[least * n + least])) least = k;
        taken[least] = 1;
        value[i] = a[least * n + least];
        memcpy(vector + i * n, v + least * n, (size_t)n * sizeof *v);
    }
}

int tsr_dense_cholesky(int n, double *m, int *row)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k <= i; k++) {
            double sum = m[(int64_t)i * n + k];
            for (int j = 0; j < k; j++) sum -= m[(int64_t)i * n + j] * m[(int64_t)k * n + j];
            if (k < i) {
                m[(int64_t)i * n + k] = sum / m[(int64_t)k * n + k];
            } else {
                if (row) *row = i;
                if (!(sum > 0) || !isfinite(sum)) return 0;
                m[(int64_t)i * n + i] = sqrt(sum);
            }
        }
    }
    return 1;
}

void tsr_dense_solve(int n, const double *m, double *x)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) x[i] -= m[(int64_t)i * n + k] * x[k];
        x[i] /= m[(int64_t)i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) x[i] -= m[(int64_t)k * n + i] * x[k];
        x[i] /= m[(int64_t)i * n + i];
    }
}

void tsr_dense_multiply3(const double a[3][3], const double b[3][3], double c[3][3])
{
    double m[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) m[i][k] = a[i][0] * b[0][k] + a[i][1] * b[1][k] + a[i][2] * b[2][k];
    memcpy(c, m, sizeof m);
}

int tsr_dense_invert3(const double m[3][3], double inverse[3][3])
{
    double c[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            c[k][i] = m[i1][k1] * m[i2][k2] - m[i1][k2] * m[i2][k1];
        }
    const double d = m[0][0] * c[0][0] + m[0][1] * c[1][0] + m[0][2] * c[2][0];
    if (!isfinite(d) || d == 0) return 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) inverse[i][k] = c[i][k] / d;
    return 1;
}

/* Newton's iteration for the polar decomposition. */
int tsr_dense_rotation(double m[3][3])
{
    for (int n = 0; n < 100; n++) {
        double inverse[3][3], change = 0, norm = 0, norm_inverse = 0;
        if (!tsr_dense_invert3((const double(*)[3])m, inverse)) return 0;
        for (int i = 0; i < 9; i++) {
            norm += m[i / 3][i % 3] * m[i / 3][i % 3];
            norm_inverse += inverse[i / 3][i % 3] * inverse[i / 3][i % 3];
        }
        const double g = n < 8 ? sqrt(sqrt(norm_inverse / norm)) : 1;
        if (!isfinite(g) || !(g > 0)) return 0;
        double next[3][3];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) {
                next[i][k] = 0.5 * (g * m[i][k] + inverse[k][i] / g);
                change += fabs(next[i][k] - m[i][k]);
            }
        memcpy(m, next, sizeof next);
        if (change < 1e-15) break;
    }
    const double d = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                     m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    return d > 0.5;
}

void tsr_dense_turn(const double w[3], double r[3][3])
{
    const double t2 = w[0] * w[0] + w[1] * w[1] + w[2] * w[2], t = sqrt(t2);
    const double a = t < 1e-4 ? 1 - t2 / 6 : sin(t) / t, b = t < 1e-4 ? 0.5 - t2 / 24 : (1 - cos(t)) / t2;
    const double k[3][3] = { { 0, -w[2], w[1] }, { w[2], 0, -w[0] }, { -w[1], w[0], 0 } };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) r[i][j] = (i == j) + a * k[i][j] + b * (w[i] * w[j] - (i == j) * t2);
}
