/* compress/bitplanes_isa.c, compiled once per SIMD variant: three passes a plane, as in JPEG 2000's block coder: samples with a significant neighbour,
 * refinement of significant ones, the rest. Contexts are magnitudes of the neighbours in three dimensions, mixed. */
#include "compress/bitplanes.h"

#include "compress/binary_coder.h"

enum { KINDS = 8, RUN = 8, SIGNS = 27, SUMS = 24 };

enum { SEEN = 1 /* coded in this plane */, NEGATIVE = 2, REFINED = 4 };

typedef struct work {
    int32_t nx, ny, nz, top; /* extents; planes of the band */
    int64_t row, slice;      /* steps in the arrays with a margin of one */
    uint32_t *known;         /* magnitudes, bits coded so far */
    uint8_t *flags;
    const tsr_planes_band *band;
} work;

typedef struct state {
    tsr_coder coder;
    work w[TSR_PLANES_BANDS];
    tsr_bit faces[KINDS][512], sum[32][SUMS], wide[KINDS][SUMS][8], sign[KINDS][SIGNS], refine[2][SUMS], refine_next[KINDS][SUMS], run[KINDS][32];
    tsr_mix mix[SUMS], refine_mix[2];
    double gain;
} state;

static int bit_length(uint32_t v) { return v ? 32 - __builtin_clz(v) : 0; }
static int half_octave(uint32_t v)
{
    const int n = bit_length(v);
    const int h = n < 2 ? n : 2 * n - 2 + (int)(v >> (n - 2) & 1);
    return h < SUMS ? h : SUMS - 1;
}

TSR_ALWAYS_INLINE uint32_t most(uint32_t v, uint32_t limit) { return v < limit ? v : limit; }

typedef struct near {
    uint32_t face[3], sum, wide;
} near;

/* Magnitudes round i in units of a quarter of the plane. */
TSR_ALWAYS_INLINE near look(const work *w, int64_t i, int32_t plane)
{
    const uint32_t *k = w->known + i;
    const int64_t r = w->row, s = w->slice;
    near n;
    const uint64_t x = (uint64_t)k[-1] + k[1], y = (uint64_t)k[-r] + k[r], z = (uint64_t)k[-s] + k[s];
    const uint64_t d = (uint64_t)k[-r - 1] + k[1 - r] + k[r - 1] + k[r + 1],
                   e = (uint64_t)k[-s - 1] + k[1 - s] + k[-s - r] + k[r - s] + k[s - 1] + k[s + 1] + k[s - r] + k[s + r];
    n.face[0] = (uint32_t)(x >> plane);
    n.face[1] = (uint32_t)(y >> plane);
    n.face[2] = (uint32_t)(z >> plane);
    const uint64_t sum = ((x + y + z) << 2) >> plane, wide = ((d + e) << 1) >> plane;
    n.sum = sum > 65535 ? 65535 : (uint32_t)sum;
    n.wide = wide > 65535 ? 65535 : (uint32_t)wide;
    return n;
}

TSR_ALWAYS_INLINE int some(const near *n) { return (n->sum | n->wide) != 0; }

TSR_ALWAYS_INLINE uint32_t magnitude(int32_t v) { return v < 0 ? 0u - (uint32_t)v : (uint32_t)v; }

/* -1, 0 or 1 for both neighbours along an axis, as a digit. */
TSR_ALWAYS_INLINE int lean(const work *w, int64_t i, int64_t step)
{
    int v = 0;
    if (w->known[i - step]) v += w->flags[i - step] & NEGATIVE ? -1 : 1;
    if (w->known[i + step]) v += w->flags[i + step] & NEGATIVE ? -1 : 1;
    return v < 0 ? 0 : v == 0 ? 1 : 2;
}

static double squared(double v) { return v * v; }
/* What decoders add to bits that are known down to a plane. */
static double rest_of(int32_t plane) { return (double)(((uint64_t)TSR_PLANES_REST << plane) >> 8); }

/* A sample becomes significant: its sign. */
TSR_ALWAYS_INLINE void begin(state *s, const work *w, int64_t i, int32_t plane, int32_t value, const int decoding)
{
    tsr_bit *b = &s->sign[w->band->high & 7][9 * lean(w, i, w->slice) + 3 * lean(w, i, w->row) + lean(w, i, 1)];
    const int negative = tsr_code_bit(&s->coder, (*b >> 16) ? *b >> 16 : 1, value < 0, decoding);
    tsr_bit_learn(b, negative, 500);
    w->known[i] = 1u << plane;
    w->flags[i] |= (uint8_t)(SEEN | (negative ? NEGATIVE : 0));
    if (!decoding) {
        const double m = (double)magnitude(value), middle = (double)(1u << plane) + rest_of(plane);
        s->gain += (m * m - squared(m - middle)) * squared(w->band->weight);
    }
}

TSR_ALWAYS_INLINE int significant(state *s, const work *w, int64_t i, int32_t plane, const near *n, int32_t value, const int decoding)
{
    const uint32_t kind = w->band->high & 7;
    const int sum = half_octave(n->sum + n->wide), wide = half_octave(n->wide);
    tsr_bit *const inputs[3] = { &s->faces[kind][most(n->face[0], 7) << 6 | most(n->face[1], 7) << 3 | most(n->face[2], 7)], &s->sum[plane][sum],
                                 &s->wide[kind][half_octave(n->sum)][most((uint32_t)wide / 2, 7)] };
    const int bit = tsr_code_mixed(&s->coder, &s->mix[sum], inputs, 3, 500, decoding ? 0 : (int)(magnitude(value) >> plane & 1), decoding);
    w->flags[i] |= SEEN;
    if (bit) begin(s, w, i, plane, value, decoding);
    return bit;
}

TSR_ALWAYS_INLINE void refine(state *s, const work *w, int64_t i, int32_t plane, int32_t value, const int decoding)
{
    const near n = look(w, i, plane);
    const int later = w->flags[i] & REFINED ? 1 : 0, sum = half_octave(n.sum + n.wide);
    tsr_bit *const inputs[2] = { &s->refine[later][sum], &s->refine_next[most(w->known[i] >> (plane + 1), KINDS - 1)][sum] };
    const uint32_t m = magnitude(value);
    const int bit = tsr_code_mixed(&s->coder, &s->refine_mix[later], inputs, 2, 1000, decoding ? 0 : (int)(m >> plane & 1), decoding);
    if (!decoding) {
        const double before = (double)w->known[i] + rest_of(plane + 1), after = (double)(w->known[i] | (uint32_t)bit << plane) + rest_of(plane);
        s->gain += (squared((double)m - before) - squared((double)m - after)) * squared(w->band->weight);
    }
    w->known[i] |= (uint32_t)bit << plane;
    w->flags[i] |= REFINED | SEEN;
}

/* The rest of a row. Where nothing is known all around for RUN samples, one bit says that they stay 0. */
TSR_ALWAYS_INLINE void rest_of_row(state *s, const work *w, int64_t first, int32_t plane, const int32_t *values, const int decoding)
{
    for (int32_t x = 0; x < w->nx; x++) {
        const int64_t i = first + x;
        if (x + RUN <= w->nx) {
            uint32_t any = 0;
            for (int32_t k = -1; k <= RUN; k++)
                any |=
                    w->known[i + k] | w->known[i + k - w->row] | w->known[i + k + w->row] | w->known[i + k - w->slice] | w->known[i + k + w->slice];
            for (int32_t k = 0; k < RUN; k++) any |= w->flags[i + k];
            if (!any) {
                int all_zero = 1;
                for (int32_t k = 0; k < RUN && !decoding; k++) all_zero &= !(magnitude(values[x + k]) >> plane);
                tsr_bit *b = &s->run[w->band->high & 7][plane];
                const uint32_t p = *b >> 16;
                all_zero = tsr_code_bit(&s->coder, p < 16 ? 16 : p > 65520 ? 65520 : p, all_zero, decoding);
                tsr_bit_learn(b, all_zero, 250);
                if (all_zero) {
                    x += RUN - 1;
                    continue;
                }
                int32_t k = 0;
                while (!decoding && !(magnitude(values[x + k]) >> plane)) k++;
                k = (int32_t)tsr_code_plain(&s->coder, (uint32_t)k, 3, decoding);
                begin(s, w, i + k, plane, decoding ? 0 : values[x + k], decoding);
                x += k;
                continue;
            }
        }
        if (w->known[i] || w->flags[i] & SEEN) continue;
        const near n = look(w, i, plane);
        significant(s, w, i, plane, &n, decoding ? 0 : values[x], decoding);
    }
}

TSR_ALWAYS_INLINE tsr_status code_pass(state *s, const work *w, int32_t plane, int pass, const tsr_poll *poll, const int decoding)
{
    for (int32_t z = 0; z < w->nz; z++) {
        TSR_TRY(tsr_poll_status(poll));
        for (int32_t y = 0; y < w->ny; y++) {
            const int64_t first = (z + 1) * w->slice + (y + 1) * w->row + 1;
            const int32_t *values = w->band->data + ((int64_t)z * w->ny + y) * w->nx;
            if (pass == 2) {
                rest_of_row(s, w, first, plane, values, decoding);
                continue;
            }
            for (int32_t x = 0; x < w->nx; x++) {
                const int64_t i = first + x;
                if (pass == 0 && !w->known[i]) {
                    const near n = look(w, i, plane);
                    if (some(&n)) significant(s, w, i, plane, &n, decoding ? 0 : values[x], decoding);
                } else if (pass == 1 && w->known[i] && !(w->flags[i] & SEEN)) {
                    refine(s, w, i, plane, decoding ? 0 : values[x], decoding);
                }
            }
        }
    }
    if (pass == 2) {
        const int64_t all = w->slice * (w->nz + 2);
        for (int64_t i = 0; i < all; i++) w->flags[i] &= (uint8_t)~SEEN;
    }
    return TSR_OK;
}

static void drop(state **s)
{
    if (!*s) return;
    for (int k = 0; k < TSR_PLANES_BANDS; k++) {
        free((*s)->w[k].known);
        free((*s)->w[k].flags);
    }
    free(*s);
    *s = NULL;
}

static void fresh(tsr_bit *b, size_t count)
{
    for (size_t k = 0; k < count; k++) b[k] = TSR_BIT_NEW;
}

static tsr_status create(const tsr_planes_band *bands, int32_t count, state **made)
{
    state *s = *made = (state *)calloc(1, sizeof *s);
    int bad = !s;
    for (int32_t k = 0; k < count && !bad; k++) {
        work *w = &s->w[k];
        w->band = &bands[k];
        w->nx = bands[k].size[0];
        w->ny = bands[k].size[1];
        w->nz = bands[k].size[2];
        w->row = w->nx + 2;
        w->slice = w->row * (w->ny + 2);
        const size_t all = (size_t)w->slice * (size_t)(w->nz + 2);
        w->known = (uint32_t *)calloc(all, sizeof *w->known);
        w->flags = (uint8_t *)calloc(all, 1);
        bad = !w->known || !w->flags;
    }
    if (bad) {
        drop(made);
        TSR_FAIL(TSR_ERROR_MEMORY, "compression: out of memory for the coefficients of a brick");
    }
    fresh(s->faces[0], sizeof s->faces / sizeof(tsr_bit));
    fresh(s->sum[0], sizeof s->sum / sizeof(tsr_bit));
    fresh(s->wide[0][0], sizeof s->wide / sizeof(tsr_bit));
    fresh(s->sign[0], sizeof s->sign / sizeof(tsr_bit));
    fresh(s->refine[0], sizeof s->refine / sizeof(tsr_bit));
    fresh(s->refine_next[0], sizeof s->refine_next / sizeof(tsr_bit));
    fresh(s->run[0], sizeof s->run / sizeof(tsr_bit));
    for (int k = 0; k < SUMS; k++)
        for (int i = 0; i < TSR_MIX_INPUTS; i++) s->mix[k].weight[i] = 26000;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < TSR_MIX_INPUTS; i++) s->refine_mix[k].weight[i] = 36000;
    return TSR_OK;
}

static double energy_of(const tsr_planes_band *b)
{
    double sum = 0;
    const int64_t n = (int64_t)b->size[0] * b->size[1] * b->size[2];
    for (int64_t i = 0; i < n; i++) sum += squared((double)b->data[i]);
    return sum * squared(b->weight);
}

static int32_t planes_of(const tsr_planes_band *b)
{
    uint32_t all = 0;
    const int64_t n = (int64_t)b->size[0] * b->size[1] * b->size[2];
    for (int64_t i = 0; i < n; i++) all |= magnitude(b->data[i]);
    return bit_length(all);
}

/* The planes from the highest down to `lowest`, the bands' numbers of planes before them. */
static tsr_status encode_all(state *s, int32_t count, int32_t lowest, const tsr_poll *poll, tsr_planes_stream *stream)
{
    int32_t top = 0;
    for (int32_t k = 0; k < count; k++) {
        s->w[k].top = planes_of(s->w[k].band);
        top = s->w[k].top > top ? s->w[k].top : top;
        tsr_code_plain(&s->coder, (uint32_t)s->w[k].top, 6, 0);
        stream->energy += energy_of(s->w[k].band);
    }
    for (int32_t plane = top - 1; plane >= lowest; plane--)
        for (int pass = 0; pass < 3; pass++) {
            for (int32_t k = 0; k < count; k++)
                if (plane < s->w[k].top) TSR_TRY(code_pass(s, &s->w[k], plane, pass, poll, 0));
            stream->pass[stream->passes++] = (tsr_planes_pass){ (uint32_t)tsr_coder_needed(&s->coder), s->gain };
        }
    return TSR_OK;
}

tsr_status TSR_ISA_NAME(tsr_planes_encode)(const tsr_planes_band *bands, int32_t count, int32_t lowest, const tsr_poll *poll,
                                           tsr_planes_stream *stream)
{
    state *s = NULL;
    memset(stream, 0, sizeof *stream);
    TSR_TRY(create(bands, count, &s));
    tsr_coder_write(&s->coder);
    const tsr_status status = encode_all(s, count, lowest, poll, stream);
    tsr_coder_finish(&s->coder);
    const int failed = s->coder.failed;
    if (failed || status != TSR_OK) free(s->coder.bytes);
    else stream->bytes = s->coder.bytes;
    stream->size = s->coder.used;
    drop(&s);
    TSR_TRY(status);
    if (failed) TSR_FAIL(TSR_ERROR_MEMORY, "compression: out of memory for a stream");
    return TSR_OK;
}

/* The coefficients of a band; lowest[1]: the lowest plane that is known of samples with the flag SEEN, lowest[0]: of the others. */
static void give(const work *w, const uint8_t *lowest, int32_t rest)
{
    for (int32_t z = 0; z < w->nz; z++)
        for (int32_t y = 0; y < w->ny; y++) {
            const int64_t first = (z + 1) * w->slice + (y + 1) * w->row + 1;
            int32_t *values = w->band->data + ((int64_t)z * w->ny + y) * w->nx;
            for (int32_t x = 0; x < w->nx; x++) {
                const int64_t i = first + x;
                const uint32_t known = w->known[i];
                const int32_t plane = known ? lowest[w->flags[i] & SEEN ? 1 : 0] : 0;
                const uint32_t m = known | (uint32_t)(((uint64_t)rest << plane) >> 8);
                values[x] = !known ? 0 : (int32_t)(w->flags[i] & NEGATIVE ? 0u - m : m);
            }
        }
}

/* What `passes` passes give. */
static tsr_status decode_all(state *s, int32_t count, int32_t passes, int32_t rest, const tsr_poll *poll)
{
    int32_t top = 0, plane = 0, pass = 0;
    for (int32_t k = 0; k < count; k++) {
        const int32_t t = (int32_t)tsr_code_plain(&s->coder, 0, 6, 1);
        s->w[k].top = passes > 0 && t <= 32 ? t : 0;
        top = s->w[k].top > top ? s->w[k].top : top;
    }
    for (plane = top - 1; plane >= 0 && passes > 0; plane--)
        for (pass = 0; pass < 3 && passes > 0; pass++, passes--)
            for (int32_t k = 0; k < count; k++)
                if (plane < s->w[k].top) TSR_TRY(code_pass(s, &s->w[k], plane, pass, poll, 1));
    plane++;
    /* Cut within a plane: samples that were coded in it are known down to it, the others down to the one above. */
    const uint8_t within[2] = { (uint8_t)(pass < 3 ? plane + 1 : plane), (uint8_t)plane };
    for (int32_t k = 0; k < count; k++) give(&s->w[k], within, rest);
    return TSR_OK;
}

tsr_status TSR_ISA_NAME(tsr_planes_decode)(const uint8_t *stream, size_t bytes, int32_t passes, int32_t rest, const tsr_planes_band *bands,
                                           int32_t count, const tsr_poll *poll)
{
    state *s = NULL;
    TSR_TRY(create(bands, count, &s));
    tsr_coder_read(&s->coder, stream, bytes);
    const tsr_status status = decode_all(s, count, passes, rest, poll);
    drop(&s);
    TSR_TRY(status);
    return TSR_OK;
}
