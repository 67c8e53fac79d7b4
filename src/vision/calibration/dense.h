/* vision/calibration/dense.h: small dense algebra of calibration. Matrices row after row. */
#ifndef TSR_VISION_CALIBRATION_DENSE_H
#define TSR_VISION_CALIBRATION_DENSE_H

#include <stdint.h>

/* Eigenvalues of a symmetric matrix (destroyed), ascending, with their vectors as rows of `vector`. n <= 12. */
void tsr_dense_eigen(int n, double *matrix, double *value, double *vector);
/* The lower triangle becomes its Cholesky factor. 0: not positive definite; the row at fault in *row (may be NULL). */
int tsr_dense_cholesky(int n, double *matrix, int *row);
/* Solves with the factor, in place. */
void tsr_dense_solve(int n, const double *factor, double *x);
/* The nearest rotation. 0 for a singular matrix or one that mirrors. */
int tsr_dense_rotation(double m[3][3]);
/* exp of the cross product by w. */
void tsr_dense_turn(const double w[3], double r[3][3]);
void tsr_dense_multiply3(const double a[3][3], const double b[3][3], double c[3][3]);
int tsr_dense_invert3(const double m[3][3], double inverse[3][3]);

#endif
