/* wavelet/calm.c: how large values may be so that no step of a filter leaves 16 bits, or 32. What a value becomes is a sum of samples with weights; the sum of
 * their magnitudes is how far it can get. The weights are found by lifting unit samples, ends of the axis included. */
#include "wavelet/calm.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

enum { N = TSR_CALM_LEAST + 1, SLACK = 64 /* what rounding adds up to, and more */ };

typedef struct growth {
    double weight[N][N]; /* of sample [1] in value [0] */
    double least;        /* of limit over growth, of all steps so far */
    double finished;     /* the largest growth along the axis */
} growth;

static double most_of(const growth *g, int32_t n, int32_t parity)
{
    double most = 0;
    for (int32_t i = parity; i < n; i += 2) {
        double sum = 0;
        for (int32_t k = 0; k < n; k++) sum += fabs(g->weight[i][k]);
        if (sum > most) most = sum;
    }
    return most;
}

static void limit(growth *g, double most, double growth_of)
{
    if ((most - SLACK) / growth_of < g->least) g->least = (most - SLACK) / growth_of;
}

/* How large neighbours may be: of 32 bits so that no sum leaves them; 0: a step for which there is no such loop. */
static double limit_of(const tsr_lift_step *s, tsr_dtype dtype)
{
    double taps = 0;
    if (dtype == TSR_I16) return tsr_calm_limit(s);
    for (int32_t k = 0; k < s->count; k++) taps += fabs((double)s->tap[k]);
    return s->rule || taps == 0 ? 0 : (INT32_MAX - fabs((double)s->rounding)) / taps;
}

static void lift(growth *g, const tsr_lift_step *s, int32_t n, int32_t boundary, tsr_dtype dtype)
{
    const double unit = (s->sign < 0 ? -1.0 : 1.0) / ldexp(1, s->shift);
    limit(g, limit_of(s, dtype), most_of(g, n, !s->parity));
    for (int32_t i = s->parity; i < n; i += 2)
        for (int32_t t = 0; t < s->count; t++) {
            const int64_t j = tsr_lift_index(i + s->first + 2 * t, n, boundary);
            for (int32_t k = 0; k < n && j >= 0; k++) g->weight[i][k] += unit * s->tap[t] * g->weight[j][k];
        }
    limit(g, dtype == TSR_I16 ? INT16_MAX : INT32_MAX, most_of(g, n, s->parity));
}

static int32_t find_bound(const tsr_lift_filter *f, int32_t boundary, tsr_dtype dtype)
{
    const double most = dtype == TSR_I16 ? TSR_CALM_MOST : 1 << 29;
    double bound = most;
    for (int32_t k = 0; k < f->steps; k++)
        if (limit_of(&f->step[k], dtype) == 0) return 0;
    growth *g = (growth *)malloc(sizeof *g);
    if (!g) return 0; /* it is but slower */
    for (int32_t n = TSR_CALM_LEAST; n <= N; n++) {
        *g = (growth){ .least = most };
        for (int32_t i = 0; i < n; i++) g->weight[i][i] = 1;
        for (int32_t k = 0; k < f->steps; k++) lift(g, &f->step[k], n, boundary, dtype);
        g->finished = fmax(most_of(g, n, 0), most_of(g, n, 1));
        bound = fmin(bound, g->least / fmax(g->finished, 1)); /* the second axis begins with what the first one leaves */
    }
    free(g);
    return bound < 1 ? 0 : (int32_t)bound;
}

/* What was found before: decoders make plans again when pictures change their transform, and finding it takes longer than all else about them. */
enum { KNOWN = 32 };
static struct {
    tsr_lift_step step[TSR_WAVELET_STEPS];
    int32_t steps, boundary, bound;
    tsr_dtype dtype;
} known[KNOWN];
static int known_count, known_next;
static pthread_mutex_t known_gate = PTHREAD_MUTEX_INITIALIZER;

int32_t tsr_calm_bound(const tsr_lift_filter *f, int32_t boundary, tsr_dtype dtype)
{
    const size_t bytes = (size_t)f->steps * sizeof f->step[0];
    int found = -1;
    pthread_mutex_lock(&known_gate);
    for (int k = 0; k < known_count && found < 0; k++)
        if (known[k].steps == f->steps && known[k].boundary == boundary && known[k].dtype == dtype && !memcmp(known[k].step, f->step, bytes))
            found = k;
    const int32_t before = found < 0 ? 0 : known[found].bound;
    pthread_mutex_unlock(&known_gate);
    if (found >= 0) return before;
    const int32_t bound = find_bound(f, boundary, dtype);
    pthread_mutex_lock(&known_gate);
    memcpy(known[known_next].step, f->step, bytes);
    known[known_next].steps = f->steps;
    known[known_next].boundary = boundary;
    known[known_next].dtype = dtype;
    known[known_next].bound = bound;
    known_next = (known_next + 1) % KNOWN;
    if (known_count < KNOWN) known_count++;
    pthread_mutex_unlock(&known_gate);
    return bound;
}
