/* camera/matrix.c: 4 x 4 matrices, column by column. */
#include <math.h>
#include <string.h>

#include "camera/camera.h"

void tsr_matrix4_multiply(const double a[16], const double b[16], double product[16])
{
    double m[16];
    for (int c = 0; c < 4; c++)
        for (int r = 0; r < 4; r++) m[4 * c + r] = a[r] * b[4 * c] + a[4 + r] * b[4 * c + 1] + a[8 + r] * b[4 * c + 2] + a[12 + r] * b[4 * c + 3];
    memcpy(product, m, sizeof m);
}

void tsr_matrix4_apply(const double a[16], const double v[4], double result[4])
{
    for (int r = 0; r < 4; r++) result[r] = a[r] * v[0] + a[4 + r] * v[1] + a[8 + r] * v[2] + a[12 + r] * v[3];
}

/* Gauss and Jordan with the largest pivot of a column, on rows scaled to a largest number of 1. Returns the determinant; 0: no inverse (not written). */
static double invert(const double a[16], double inverse[16])
{
    double m[4][8] = { { 0 } }, determinant = 1;
    for (int r = 0; r < 4; r++) {
        double most = 0;
        for (int c = 0; c < 4; c++) most = fmax(most, fabs(a[4 * c + r]));
        if (!(most > 0) || !isfinite(most)) return 0;
        for (int c = 0; c < 4; c++) m[r][c] = a[4 * c + r] / most;
        m[r][4 + r] = 1 / most;
        determinant *= most;
    }
    for (int c = 0; c < 4; c++) {
        int pivot = c;
        for (int r = c + 1; r < 4; r++)
            if (fabs(m[r][c]) > fabs(m[pivot][c])) pivot = r;
        if (!(fabs(m[pivot][c]) > 1e-14)) return 0;
        if (pivot != c) {
            double row[8];
            memcpy(row, m[c], sizeof row);
            memcpy(m[c], m[pivot], sizeof row);
            memcpy(m[pivot], row, sizeof row);
            determinant = -determinant;
        }
        determinant *= m[c][c];
        const double scale = 1 / m[c][c];
        for (int k = 0; k < 8; k++) m[c][k] *= scale;
        for (int r = 0; r < 4; r++) {
            const double factor = m[r][c];
            if (r == c || factor == 0) continue;
            for (int k = 0; k < 8; k++) m[r][k] -= factor * m[c][k];
        }
    }
    if (inverse)
        for (int c = 0; c < 4; c++)
            for (int r = 0; r < 4; r++) inverse[4 * c + r] = m[r][4 + c];
    return determinant;
}

double tsr_matrix4_determinant(const double a[16]) { return invert(a, NULL); }

tsr_status tsr_matrix4_invert(const char *what, const double a[16], double inverse[16])
{
    const double determinant = invert(a, inverse);
    for (int i = 0; i < 16; i++)
        if (!isfinite(a[i])) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: number %d of the matrix is %g, expected finite numbers", what, i, a[i]);
    if (determinant == 0 || !isfinite(determinant)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the matrix has no inverse (determinant %g)", what, determinant);
    return TSR_OK;
}
