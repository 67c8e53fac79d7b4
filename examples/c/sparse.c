/* A sparse matrix by a HistoPyramid: the entries of a dense one that are not 0 become compressed rows, which are multiplied and solved with where they were made.
 *
 *   example_sparse [DEVICE [SIDE]]
 *
 * The matrix is that of Poisson's equation on SIDE x SIDE points (five-point Laplacian: 5 n^2 - 4 n entries). A x is compared with the product of the dense matrix,
 * entry by entry, and A x = b is solved by conjugate gradients, whose products are the sparse ones, for a b whose x is known. Ends with 1 where an answer is wrong. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tessera/tessera.h"

static double seconds(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* y = A x with vectors of the host. */
static tsr_status multiply(const tsr_matrix *a, double *x, double *y)
{
    const tsr_size3 size = { a->rows, 1, 1 };
    tsr_volume *host = NULL, *from = NULL, *to = NULL, *got = NULL;
    tsr_status status = tsr_volume_wrap(NULL, TSR_F64, size, NULL, x, NULL, NULL, &host);
    if (status == TSR_OK) status = tsr_volume_copy(host, a->context, &from);
    if (status == TSR_OK) status = tsr_volume_create(a->context, TSR_F64, size, NULL, &to);
    if (status == TSR_OK) status = tsr_matrix_multiply(a, TSR_F64, tsr_volume_data(from), tsr_volume_data(to));
    if (status == TSR_OK) status = tsr_volume_copy(to, NULL, &got);
    if (status == TSR_OK) memcpy(y, tsr_volume_data(got), (size_t)a->rows * sizeof *y);
    tsr_volume_destroy(&got);
    tsr_volume_destroy(&to);
    tsr_volume_destroy(&from);
    tsr_volume_destroy(&host);
    return status;
}

static void multiply_dense(const double *a, int64_t n, const double *x, double *y)
{
    for (int64_t r = 0; r < n; r++) {
        double sum = 0;
        for (int64_t c = 0; c < n; c++) sum += a[r * n + c] * x[c];
        y[r] = sum;
    }
}

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* Conjugate gradients from x = 0; returns the number of steps. work: three vectors. */
static tsr_status solve(const tsr_matrix *a, const double *b, double *x, double *work, int *steps)
{
    const int64_t n = a->rows;
    double *r = work, *p = work + n, *ap = work + 2 * n, old = dot(b, b, n);
    const double enough = 1e-20 * old;
    tsr_status status = TSR_OK;
    for (int64_t i = 0; i < n; i++) {
        x[i] = 0;
        r[i] = p[i] = b[i];
    }
    for (*steps = 0; *steps < n && old > enough && status == TSR_OK; ++*steps) {
        status = multiply(a, p, ap);
        const double alpha = old / dot(p, ap, n);
        for (int64_t i = 0; i < n; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * ap[i];
        }
        const double now = dot(r, r, n);
        for (int64_t i = 0; i < n; i++) p[i] = r[i] + now / old * p[i];
        old = now;
    }
    return status;
}

static tsr_status run(const char *device, int64_t side, int *wrong)
{
    const int64_t n = side * side;
    const size_t bytes = (size_t)n * sizeof(double);
    tsr_context_options where = TSR_CONTEXT_OPTIONS;
    tsr_context *context = NULL;
    tsr_volume *host = NULL, *dense = NULL;
    tsr_matrix matrix = { 0 };
    int steps = 0;
    double *v = (double *)malloc(7 * bytes), *x = v, *expected = v + n, *y = v + 2 * n, *solution = v + 3 * n, error = 0, apart = 0;
    where.device = device;
    if (!v) return TSR_ERROR_MEMORY;
    tsr_status status = tsr_context_create(&where, &context);
    if (status == TSR_OK) status = tsr_volume_create(NULL, TSR_F64, (tsr_size3){ n, n, 1 }, NULL, &host); /* zero */
    double *a = status == TSR_OK ? (double *)tsr_volume_data(host) : NULL;
    for (int64_t i = 0; a && i < n; i++) {
        a[i * n + i] = 4;
        if (i % side) a[i * n + i - 1] = -1;
        if (i % side < side - 1) a[i * n + i + 1] = -1;
        if (i >= side) a[i * n + i - side] = -1;
        if (i < n - side) a[i * n + i + side] = -1;
        x[i] = sin(0.37 * (double)(i % side)) + cos(0.21 * (double)(i / side));
    }
    if (status == TSR_OK) status = tsr_volume_copy(host, context, &dense);
    double start = seconds();
    if (status == TSR_OK) status = tsr_matrix_from_dense(context, dense, 0, &matrix);
    const double made = seconds() - start;
    start = seconds();
    if (status == TSR_OK) status = multiply(&matrix, x, y);
    const double sparse = seconds() - start;
    if (status == TSR_OK) {
        start = seconds();
        multiply_dense(a, n, x, expected);
        const double plain = seconds() - start;
        for (int64_t i = 0; i < n; i++) apart = fmax(apart, fabs(y[i] - expected[i]));
        printf("%lld x %lld, %lld entries (%lld expected), made in %.2f ms\n", (long long)n, (long long)n, (long long)matrix.nonzeros,
               (long long)(5 * n - 4 * side), 1e3 * made);
        printf("product: sparse %.3f ms with its copies, dense %.3f ms, apart by at most %.1e\n", 1e3 * sparse, 1e3 * plain, apart);
        status = solve(&matrix, expected, solution, v + 4 * n, &steps);
    }
    if (status == TSR_OK) {
        for (int64_t i = 0; i < n; i++) error = fmax(error, fabs(solution[i] - x[i]));
        printf("solved in %d steps of conjugate gradients, x wrong by at most %.1e\n", steps, error);
        *wrong = matrix.nonzeros != 5 * n - 4 * side || !(apart <= 1e-12) || !(error <= 1e-6);
    }
    tsr_matrix_destroy(&matrix);
    tsr_volume_destroy(&dense);
    tsr_volume_destroy(&host);
    tsr_context_destroy(&context);
    free(v);
    return status;
}

int main(int argc, char **argv)
{
    const int side = argc > 2 ? atoi(argv[2]) : 40;
    int wrong = 0;
    if (side < 2 || side > 200) {
        fprintf(stderr, "sparse: SIDE is '%s', expected 2 to 200\n", argv[2]);
        return 2;
    }
    if (run(argc > 1 ? argv[1] : "cpu", side, &wrong) == TSR_OK) return wrong;
    fprintf(stderr, "sparse: %s\n", tsr_error_trace());
    return 1;
}
