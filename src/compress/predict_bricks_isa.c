/* compress/predict_bricks_isa.c, compiled once per SIMD variant: least squares over a neighbourhood of three dimensions, solved again for every row of a column of blocks.
 *
 * The neighbours of a sample are those before it in the order of the brick, relative to the mean of the three nearest. Their weights minimise the
 * squared error over the samples already coded in the block (BLOCK x BLOCK columns, all slices; what is older counts less) and in the blocks to
 * the left and above. Sums are taken in a fixed order, so an encoder and a decoder anywhere find the same weights bit for bit. */
#include "compress/predict_bricks.h"

#include <math.h>

#include "core/hd.h"
#include "compress/binary_coder.h"

enum {
    BLOCK = 16,
    NEAR = 20,  /* neighbours */
    MARGIN = 2, /* samples around a slice that stand for those outside the brick */
    CELLS = 24, /* of a row of the normal matrix: NEAR, the right side, 0: whole vectors */
    SUMS = NEAR * CELLS,
    ENERGIES = 20,
    CLASSES = 34,
    PREFIX = 8
};

/* Offsets x, y, z; the first three make the mean. */
static const int8_t near_offset[NEAR][3] = { { -1, 0, 0 },  { 0, -1, 0 }, { 0, 0, -1 },  { -1, -1, 0 }, { 1, -1, 0 },  { -2, 0, 0 },   { 0, -2, 0 },
                                             { -1, 0, -1 }, { 1, 0, -1 }, { 0, -1, -1 }, { 0, 1, -1 },  { 0, 0, -2 },  { -1, -1, -1 }, { 1, -1, -1 },
                                             { -1, 1, -1 }, { 1, 1, -1 }, { 2, 0, -1 },  { 0, 2, -1 },  { -2, -1, 0 }, { 2, -1, 0 } };

/* Adaptive probabilities of everything about an error, in one context of each of the three kinds. */
typedef struct model {
    tsr_bit length[CLASSES]; /* does the magnitude have more bits? */
    tsr_bit sign;
    tsr_bit top[CLASSES][PREFIX]; /* its upper bits, below the first */
} model;

typedef struct state {
    tsr_coder coder;
    int32_t nx, ny, nz, pitch, blocks;
    int64_t plane;      /* samples of a slice with its margin */
    int32_t *slice[3];  /* this one and the two before, with margins */
    uint16_t *error[2]; /* magnitudes in this slice and the one before, up to 65535 */
    double *sums;       /* [blocks of y][blocks of x][SUMS] */
    double weight[NEAR];
    int fitted;
    model energy[ENERGIES], shape[256], place[256];
    tsr_mix length_mix[ENERGIES][CLASSES], sign_mix[ENERGIES], top_mix[CLASSES][PREFIX];
} state;

/* ---- weights ------------------------------------------------------------------------------------------------------------------------------------ */

static void add_scaled(double *TSR_RESTRICT to, const double *TSR_RESTRICT from, double scale)
{
    for (int k = 0; k < SUMS; k++) to[k] += scale * from[k];
}

/* Solves the normal equations of the blocks round (bx, by) by Cholesky's decomposition. */
static void fit(state *s, int32_t bx, int32_t by)
{
    double a[SUMS];
    const int32_t across = s->blocks;
    const double *own = s->sums + ((int64_t)by * across + bx) * SUMS;
    memcpy(a, own, sizeof a);
    if (bx) add_scaled(a, own - SUMS, 0.6);
    if (by) add_scaled(a, own - (int64_t)across * SUMS, 0.6);
    if (by && bx + 1 < across) add_scaled(a, own - (int64_t)(across - 1) * SUMS, 0.3);
    double trace = 0;
    for (int k = 0; k < NEAR; k++) trace += a[k * CELLS + k];
    s->fitted = 0;
    if (!(trace > 0)) return;
    const double ridge = trace * (1.0 / 4096 / NEAR) + 4;
    for (int k = 0; k < NEAR; k++) { /* row k becomes column k of the lower factor, without a division; the right side is solved along */
        double *pivot = a + k * CELLS;
        const double d = pivot[k] + ridge;
        if (!(d > 0)) return;
        const double scale = 1 / sqrt(d);
        for (int j = 0; j < CELLS; j++) pivot[j] *= scale;
        pivot[k] = scale;
        for (int i = k + 1; i < NEAR; i++) {
            double *TSR_RESTRICT row = a + i * CELLS;
            const double by_row = pivot[i];
            for (int j = k & ~7; j < CELLS; j++) row[j] -= by_row * pivot[j];
        }
    }
    for (int i = NEAR - 1; i >= 0; i--) {
        const double *row = a + i * CELLS;
        double v = row[NEAR];
        for (int k = i + 1; k < NEAR; k++) v -= row[k] * s->weight[k];
        s->weight[i] = v * row[i];
    }
    s->fitted = 1;
}

/* Adds a sample to the normal equations; d[NEAR] is its target. */
static inline void learn(double *TSR_RESTRICT sums, const double *TSR_RESTRICT d, double importance)
{
    for (int i = 0; i < NEAR; i++) {
        const double v = d[i] * importance;
        double *row = sums + i * CELLS;
        for (int j = 0; j < CELLS; j++) row[j] += v * d[j];
    }
}

/* ---- errors ------------------------------------------------------------------------------------------------------------------------------------- */

static int bit_length(uint32_t v) { return v ? 32 - __builtin_clz(v) : 0; }

/* A scale of half octaves: 0, 1, 2, 3, 4-5, 6-7, 8-11, 12-15, ... */
static int half_octave(uint32_t v)
{
    const int n = bit_length(v);
    return n < 2 ? n : 2 * n - 2 + (int)(v >> (n - 2) & 1);
}

typedef struct context {
    model *m[3];
    int energy;
} context;

TSR_ALWAYS_INLINE int code_mixed(state *s, tsr_mix *mix, tsr_bit *a, tsr_bit *b, tsr_bit *c, int bit, const int decoding)
{
    tsr_bit *const inputs[3] = { a, b, c };
    return tsr_code_mixed(&s->coder, mix, inputs, 3, 1000, bit, decoding);
}

TSR_ALWAYS_INLINE int32_t code_error(state *s, const context *c, int32_t error, const int decoding)
{
    model *a = c->m[0], *b = c->m[1], *d = c->m[2];
    const uint32_t given = error < 0 ? 0u - (uint32_t)error : (uint32_t)error;
    const int given_length = bit_length(given);
    int length = 0;
    while (length < 32 && code_mixed(s, &s->length_mix[c->energy][length], &a->length[length], &b->length[length], &d->length[length],
                                     given_length > length, decoding))
        length++;
    if (!length) return 0;
    const int negative = code_mixed(s, &s->sign_mix[c->energy], &a->sign, &b->sign, &d->sign, error < 0, decoding);
    uint32_t magnitude = 1;
    int left = length - 1;
    for (int prefix = 1; left > 0 && prefix < PREFIX; left--) {
        const int bit = code_mixed(s, &s->top_mix[length][prefix], &a->top[length][prefix], &b->top[length][prefix], &d->top[length][prefix],
                                   (int)(given >> (left - 1) & 1), decoding);
        prefix = 2 * prefix + bit;
        magnitude = 2 * magnitude + (uint32_t)bit;
    }
    if (left > 0) magnitude = (uint32_t)((uint64_t)magnitude << left) | tsr_code_plain(&s->coder, given, left, decoding);
    return (int32_t)(negative ? 0u - magnitude : magnitude);
}

/* ---- samples ------------------------------------------------------------------------------------------------------------------------------------ */

/* The next sample of row y of slice z, which is at p in the slice with margins. */
TSR_ALWAYS_INLINE int32_t code_sample(state *s, const int64_t *step, int64_t at, int32_t x, int32_t y, double *sums, int32_t sample,
                                      const int decoding)
{
    int32_t v[NEAR];
    double d[CELLS] = { 0 }, guess = 0;
    for (int k = 0; k < NEAR; k++) v[k] = s->slice[-near_offset[k][2]][at + step[k]];
    const int64_t total = (int64_t)v[0] + v[1] + v[2], mean = total / 3;
    int64_t range = 0;
    for (int k = 0; k < NEAR; k++) {
        d[k] = (double)(v[k] - mean);
        range |= v[k] - mean;
    }
    if (s->fitted && range) {
        double part[4] = { 0, 0, 0, 0 };
        for (int k = 0; k < NEAR; k += 4)
            for (int i = 0; i < 4; i++) part[i] += s->weight[k + i] * d[k + i];
        guess = part[0] + part[1] + (part[2] + part[3]);
    }
    int64_t lower = v[0], upper = v[0]; /* a prediction far outside its neighbours is a bad one */
    for (int k = 1; k < 12; k++) {
        lower = v[k] < lower ? v[k] : lower;
        upper = v[k] > upper ? v[k] : upper;
    }
    const double margin = 2.0 + 0.25 * (double)(upper - lower);
    double value = (double)mean + guess;
    if (!(value > (double)lower - margin)) value = (double)lower - margin;
    if (!(value < (double)upper + margin)) value = (double)upper + margin;
    const double whole = floor(value + 0.5);
    const int fraction = (int)((value + 0.5 - whole) * 4); /* 0 to 3: the sign is more likely that of the part rounded away */
    const int64_t predicted = (int64_t)whole;

    const int64_t row = s->nx + 2;
    const int64_t e = (int64_t)(y + 1) * row + x + 1;
    const uint16_t *now = s->error[0] + e, *then = s->error[1] + e;
    const uint32_t near_energy = 3u * now[-1] + 3u * now[-row] + now[-row - 1] + now[1 - row] + 2u * then[0] + (uint32_t)(then[1] + then[row]);
    const uint32_t spread = (uint32_t)(upper - lower > 65535 ? 65535 : upper - lower);
    int energy = half_octave(near_energy + spread / 2);
    if (!range) energy = 0;
    else if (energy > ENERGIES - 1) energy = ENERGIES - 1;
    else if (!energy) energy = 1;
    int a = half_octave((uint32_t)now[-1] + now[-row]), b = half_octave(2u * then[0]), g = half_octave(spread);
    a = a > 15 ? 15 : a;
    b = b > 15 ? 15 : b;
    g = g > 15 ? 15 : g;
    const context c = { { &s->energy[energy], &s->shape[16 * a + b],
                          &s->place[16 * g +
                                    4 * (energy > 14   ? 3
                                         : energy > 10 ? 2
                                                       : energy > 6) +
                                    fraction] },
                        energy };
    const int32_t error = code_error(s, &c, (int32_t)((uint32_t)sample - (uint32_t)predicted), decoding);
    if (decoding) sample = (int32_t)((uint32_t)error + (uint32_t)predicted);
    const uint32_t magnitude = error < 0 ? 0u - (uint32_t)error : (uint32_t)error;
    s->error[0][e] = (uint16_t)(magnitude > 65535 ? 65535 : magnitude);
    if (range) {
        d[NEAR] = (double)(sample - mean);
        learn(sums, d, 1.0 / (double)(8 + near_energy));
    }
    return sample;
}

/* Samples round the slice repeat its edge, as far as it is known. */
static void pad_row(int32_t *row, int32_t nx)
{
    for (int k = 1; k <= MARGIN; k++) {
        row[-k] = row[0];
        row[nx - 1 + k] = row[nx - 1];
    }
}

TSR_ALWAYS_INLINE tsr_status run(state *s, int32_t *samples, const tsr_poll *poll, const int decoding)
{
    int64_t step[NEAR];
    const int32_t pitch = s->pitch, nx = s->nx, ny = s->ny;
    for (int k = 0; k < NEAR; k++) step[k] = near_offset[k][0] + (int64_t)near_offset[k][1] * pitch;
    for (int32_t z = 0; z < s->nz; z++) {
        int32_t *oldest = s->slice[2];
        uint16_t *before = s->error[1];
        s->slice[2] = s->slice[1];
        s->slice[1] = s->slice[0];
        s->slice[0] = oldest;
        s->error[1] = s->error[0];
        s->error[0] = before;
        if (z) memcpy(oldest, s->slice[1], (size_t)s->plane * sizeof *oldest); /* edges that are read before they are known */
        for (int32_t y = 0; y < ny; y++) {
            if (y % BLOCK == 0) TSR_TRY(tsr_poll_status(poll));
            int32_t *row = s->slice[0] + (int64_t)(y + MARGIN) * pitch + MARGIN;
            int32_t *out = samples + ((int64_t)z * ny + y) * nx;
            for (int k = 1; k <= MARGIN; k++) row[-k] = y ? row[-pitch] : s->slice[1][(int64_t)MARGIN * pitch + MARGIN];
            for (int32_t bx = 0; bx < s->blocks; bx++) {
                const int32_t by = y / BLOCK, end = (bx + 1) * BLOCK < nx ? (bx + 1) * BLOCK : nx;
                double *sums = s->sums + ((int64_t)by * s->blocks + bx) * SUMS;
                const double keep = y % BLOCK ? 0.98 : 0.7;
                for (int k = 0; k < SUMS; k++) sums[k] *= keep;
                fit(s, bx, by);
                for (int32_t x = bx * BLOCK; x < end; x++) {
                    row[x] = code_sample(s, step, (int64_t)(y + MARGIN) * pitch + MARGIN + x, x, y, sums, out[x], decoding);
                    if (decoding) out[x] = row[x];
                }
            }
            pad_row(row, nx);
            for (int k = 1; k <= MARGIN && y == 0; k++) memcpy(row - k * pitch - MARGIN, row - MARGIN, (size_t)pitch * sizeof *row);
            for (int k = 1; k <= MARGIN && y == ny - 1; k++) memcpy(row + k * pitch - MARGIN, row - MARGIN, (size_t)pitch * sizeof *row);
        }
    }
    return TSR_OK;
}

/* ---- memory ------------------------------------------------------------------------------------------------------------------------------------- */

static void new_model(model *m)
{
    tsr_bit *b = (tsr_bit *)(void *)m;
    for (size_t k = 0; k < sizeof *m / sizeof *b; k++) b[k] = TSR_BIT_NEW;
}
static void new_mix(tsr_mix *m, size_t count)
{
    for (size_t k = 0; k < count; k++)
        for (int i = 0; i < TSR_MIX_INPUTS; i++) m[k].weight[i] = 26000;
}

static void drop(state **s)
{
    if (!*s) return;
    for (int k = 0; k < 3; k++) free((*s)->slice[k]);
    for (int k = 0; k < 2; k++) free((*s)->error[k]);
    free((*s)->sums);
    free(*s);
    *s = NULL;
}

static tsr_status create(const int32_t size[3], state **made)
{
    state *s = *made = (state *)calloc(1, sizeof *s);
    int bad = !s;
    if (s) {
        s->nx = size[0];
        s->ny = size[1];
        s->nz = size[2];
        s->pitch = s->nx + 2 * MARGIN;
        s->plane = (int64_t)s->pitch * (s->ny + 2 * MARGIN);
        s->blocks = (s->nx + BLOCK - 1) / BLOCK;
        for (int k = 0; k < 3; k++) bad |= !(s->slice[k] = (int32_t *)calloc((size_t)s->plane, sizeof(int32_t)));
        for (int k = 0; k < 2; k++) bad |= !(s->error[k] = (uint16_t *)calloc((size_t)(s->nx + 2) * (size_t)(s->ny + 2), sizeof(uint16_t)));
        bad |= !(s->sums = (double *)calloc((size_t)s->blocks * (size_t)((s->ny + BLOCK - 1) / BLOCK) * SUMS, sizeof(double)));
    }
    if (bad) {
        drop(made);
        TSR_FAIL(TSR_ERROR_MEMORY, "compression: out of memory for a brick of %d x %d x %d samples", size[0], size[1], size[2]);
    }
    for (int k = 0; k < ENERGIES; k++) new_model(&s->energy[k]);
    for (int k = 0; k < 256; k++) {
        new_model(&s->shape[k]);
        new_model(&s->place[k]);
    }
    new_mix(&s->length_mix[0][0], (size_t)ENERGIES * CLASSES);
    new_mix(s->sign_mix, ENERGIES);
    new_mix(&s->top_mix[0][0], (size_t)CLASSES * PREFIX);
    return TSR_OK;
}

static tsr_status encode_all(state *s, const int32_t *samples, const tsr_poll *poll)
{
    int32_t *all;
    memcpy(&all, &samples, sizeof all); /* run writes them only when it decodes */
    return run(s, all, poll, 0);
}
static tsr_status decode_all(state *s, int32_t *samples, const tsr_poll *poll) { return run(s, samples, poll, 1); }

tsr_status TSR_ISA_NAME(tsr_predict_encode)(const int32_t *samples, const int32_t size[3], const tsr_poll *poll, uint8_t **stream, size_t *bytes)
{
    state *s = NULL;
    *stream = NULL;
    TSR_TRY(create(size, &s));
    tsr_coder_write(&s->coder);
    const tsr_status status = encode_all(s, samples, poll);
    tsr_coder_finish(&s->coder);
    const int failed = s->coder.failed;
    if (failed || status != TSR_OK) free(s->coder.bytes);
    else *stream = s->coder.bytes;
    *bytes = s->coder.used;
    drop(&s);
    TSR_TRY(status);
    if (failed) TSR_FAIL(TSR_ERROR_MEMORY, "compression: out of memory for a stream");
    return TSR_OK;
}

tsr_status TSR_ISA_NAME(tsr_predict_decode)(const uint8_t *stream, size_t bytes, const int32_t size[3], const tsr_poll *poll, int32_t *samples)
{
    state *s = NULL;
    TSR_TRY(create(size, &s));
    tsr_coder_read(&s->coder, stream, bytes);
    const tsr_status status = decode_all(s, samples, poll);
    drop(&s);
    TSR_TRY(status);
    return TSR_OK;
}
