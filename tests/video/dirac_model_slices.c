/* Wavelet transforms and slices. */
#include "dirac_model.h"

/* ---- bands --------------------------------------------------------------------------------------------------------------------------------- */

static int bands_of(const model_transform *t, int level) { return level == 0 ? 1 : level <= t->depth_ho ? 2 : 4; }

void model_bands_make(const model_transform *t, int w, int h, model_bands *b)
{
    const int levels = t->depth + t->depth_ho, sx = 1 << levels, sy = 1 << t->depth;
    const int pw = (w + sx - 1) / sx * sx, ph = (h + sy - 1) / sy * sy;
    memset(b, 0, sizeof *b);
    for (int level = 0; level <= levels; level++) {
        const int up = level ? levels - level + 1 : levels, down = up < t->depth ? up : t->depth;
        for (int k = level > 0; k < bands_of(t, level); k++) b->band[level][k] = model_plane_of(pw >> up, ph >> down);
    }
}

void model_bands_free(model_bands *b)
{
    for (int level = 0; level <= MODEL_LEVELS; level++)
        for (int k = 0; k < 4; k++) free(b->band[level][k].v);
}

int64_t model_dequantise(int64_t q, int index, int inter)
{
    const int64_t two = (int64_t)1 << index / 4;
    const int64_t factor = index % 4 == 0   ? 4 * two
                           : index % 4 == 1 ? (503829 * two + 52958) / 105917
                           : index % 4 == 2 ? (665857 * two + 58854) / 117708
                                            : (440253 * two + 32722) / 65444;
    const int64_t offset = index == 0 ? 1 : inter ? (3 * factor + 4) / 8 : index == 1 ? 2 : (factor + 1) / 2;
    if (!q) return 0;
    const int64_t v = ((q < 0 ? -q : q) * factor + offset + 2) >> 2;
    return q < 0 ? -v : v;
}

void model_predict_ll(model_plane *ll)
{
    for (int y = 0; y < ll->h; y++)
        for (int x = 0; x < ll->w; x++) {
            int64_t p = 0;
            if (x && y) p = model_floor(*model_at(ll, x - 1, y) + *model_at(ll, x - 1, y - 1) + *model_at(ll, x, y - 1) + 1, 3);
            else if (x) p = *model_at(ll, x - 1, y);
            else if (y) p = *model_at(ll, x, y - 1);
            *model_at(ll, x, y) += p;
        }
}

/* ---- synthesis ----------------------------------------------------------------------------------------------------------------------------- */

/* x[k] of the same parity, clamped. */
static int64_t near(const int64_t *x, int n, int k)
{
    const int parity = k & 1, last = parity ? n - 1 : n - 2;
    return x[k < parity ? parity : k > last ? last : k];
}

/* x[k] += sign * (sum of taps on x[k - reach], x[k - reach + 2] ... + half >> shift) for k of this parity. */
static void step(int64_t *x, int n, int parity, int sign, int reach, const int *taps, int shift)
{
    for (int k = parity; k < n; k += 2) {
        int64_t sum = shift ? (int64_t)1 << (shift - 1) : 0;
        for (int j = 0; j <= reach; j++) sum += taps[j] * near(x, n, k - reach + 2 * j);
        x[k] += sign * (sum >> shift);
    }
}

static void lift(int64_t *x, int n, int wavelet)
{
    static const int one[] = { 1, 1 }, nine[] = { -1, 9, 9, -1 }, up[] = { -2, 10, -25, 81, 81, -25, 10, -2 },
                     down[] = { -8, 21, -46, 161, 161, -46, 21, -8 };
    static const int daub[4][2] = { { 1817, 1817 }, { 3616, 3616 }, { 217, 217 }, { 6497, 6497 } };
    switch (wavelet) {
    case 0:
        step(x, n, 0, -1, 1, one, 2);
        step(x, n, 1, 1, 3, nine, 4);
        return;
    case 1:
        step(x, n, 0, -1, 1, one, 2);
        step(x, n, 1, 1, 1, one, 1);
        return;
    case 2:
        step(x, n, 0, -1, 3, nine, 5);
        step(x, n, 1, 1, 3, nine, 4);
        return;
    case 3:
    case 4:
        for (int k = 0; k < n; k += 2) x[k] -= (x[k + 1] + 1) >> 1;
        for (int k = 1; k < n; k += 2) x[k] += x[k - 1];
        return;
    case 5:
        step(x, n, 1, 1, 7, up, 8);
        step(x, n, 0, -1, 7, down, 8);
        return;
    default:
        step(x, n, 0, -1, 1, daub[0], 12);
        step(x, n, 1, -1, 1, daub[1], 12);
        step(x, n, 0, 1, 1, daub[2], 12);
        step(x, n, 1, 1, 1, daub[3], 12);
        return;
    }
}

static void lift_rows(model_plane *p, int wavelet)
{
    for (int y = 0; y < p->h; y++) lift(model_at(p, 0, y), p->w, wavelet);
}
static void lift_columns(model_plane *p, int wavelet)
{
    int64_t *column = (int64_t *)calloc((size_t)p->h, sizeof *column);
    for (int x = 0; x < p->w; x++) {
        for (int y = 0; y < p->h; y++) column[y] = *model_at(p, x, y);
        lift(column, p->h, wavelet);
        for (int y = 0; y < p->h; y++) *model_at(p, x, y) = column[y];
    }
    free(column);
}

model_plane model_synthesis(const model_transform *t, model_bands *b, int w, int h)
{
    static const int shifts[7] = { 1, 1, 1, 0, 1, 0, 1 };
    const int shift = shifts[t->wavelet_ho];
    model_plane low = b->band[0][0];
    b->band[0][0].v = NULL;
    for (int level = 1; level <= t->depth + t->depth_ho; level++) {
        const int both = level > t->depth_ho;
        model_plane whole = model_plane_of(2 * low.w, both ? 2 * low.h : low.h);
        for (int y = 0; y < whole.h; y++)
            for (int x = 0; x < whole.w; x++) {
                const int kind = (x & 1) + (both ? 2 * (y & 1) : 0);
                *model_at(&whole, x, y) = *model_at(kind ? &b->band[level][kind] : &low, x >> 1, both ? y >> 1 : y);
            }
        free(low.v);
        if (both) lift_columns(&whole, t->wavelet);
        lift_rows(&whole, t->wavelet_ho);
        for (int k = 0; k < whole.w * whole.h && shift; k++) whole.v[k] = (whole.v[k] + 1) >> 1;
        low = whole;
    }
    model_plane samples = model_plane_of(w, h);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) *model_at(&samples, x, y) = *model_at(&low, x, y);
    free(low.v);
    return samples;
}

model_transform model_choose_transform(model *m, int asymmetric)
{
    uint64_t *s = &m->seed;
    model_transform t = { .wavelet = model_below(s, 7), .depth = model_below(s, model_chance(s, 4) ? 7 : 5) };
    t.wavelet_ho = t.wavelet;
    if (!asymmetric) return t;
    if (model_chance(s, 2)) t.wavelet_ho = model_below(s, 7);
    if (model_chance(s, 2)) t.depth_ho = model_below(s, 5);
    return t;
}

/* ---- quantisation matrices ----------------------------------------------------------------------------------------------------------------- */

/* The standard's for one filter; 0: it has none. */
static int default_matrix(model_transform *t)
{
    static const int tables[7][13] = { { 5, 3, 3, 0, 4, 4, 1, 5, 5, 2, 6, 6, 3 }, { 4, 2, 2, 0, 4, 4, 2, 5, 5, 3, 7, 7, 5 },
                                       { 5, 3, 3, 0, 4, 4, 1, 5, 5, 2, 6, 6, 3 }, { 0 },
                                       { 8, 4, 4, 0, 4, 4, 0, 4, 4, 0, 4, 4, 0 }, { 0, 4, 4, 8, 8, 8, 12, 13, 13, 17, 17, 17, 21 },
                                       { 3, 1, 1, 0, 4, 4, 2, 6, 6, 5, 9, 9, 7 } };
    const int d = t->depth;
    if (t->wavelet != t->wavelet_ho || t->depth_ho || d > 4) return 0;
    t->matrix[0][0] = t->wavelet == 3 ? 4 * (d + 1) : tables[t->wavelet][0];
    for (int level = 1; level <= d; level++)
        for (int k = 1; k < 4; k++) t->matrix[level][k] = t->wavelet == 3 ? 4 * (d - level) + (k < 3 ? 4 : 0) : tables[t->wavelet][3 * level - 3 + k];
    if (!d) t->matrix[0][0] = 0;
    return 1;
}

static void put_matrix(model *m, model_transform *t, model_bits *head)
{
    uint64_t *s = &m->seed;
    const int usual = model_chance(s, 2) && default_matrix(t);
    model_bit(head, !usual);
    if (usual) return;
    for (int level = 0; level <= t->depth + t->depth_ho; level++)
        for (int k = level > 0; k < bands_of(t, level); k++) {
            t->matrix[level][k] = model_below(s, model_chance(s, 20) ? 120 : 12);
            model_uint(head, (uint32_t)t->matrix[level][k]);
        }
}

/* ---- slices -------------------------------------------------------------------------------------------------------------------------------- */

/* Codes: bits by chance, which stand for small numbers, or numbers that are mostly 0. */
static void put_codes(uint64_t *s, model_bits *b, int count)
{
    const int how = model_below(s, 4);
    for (int k = 0; k < count; k++)
        if (how == 0) model_literal(b, (uint64_t)model_below(s, 16), 4);
        else model_sint(b, model_chance(s, how == 1 ? 2 : 6) ? model_between(s, -20, 20) : model_chance(s, 60) ? model_between(s, -900, 900) : 0);
}

static int cut(int extent, int k, int of) { return extent * k / of; }

/* Coefficients of components [first, last] of slice (sx, sy), one after the other where there are two. */
static void take_codes(const model_transform *t, model_bands *bands, int first, int last, const model_slices *l, int sx, int sy, int index,
                       model_part *part)
{
    for (int level = 0; level <= t->depth + t->depth_ho; level++)
        for (int k = level > 0; k < bands_of(t, level); k++) {
            const model_plane *b = &bands[first].band[level][k];
            const int own = index > t->matrix[level][k] ? index - t->matrix[level][k] : 0;
            for (int y = cut(b->h, sy, l->ny); y < cut(b->h, sy + 1, l->ny); y++)
                for (int x = cut(b->w, sx, l->nx); x < cut(b->w, sx + 1, l->nx); x++)
                    for (int c = first; c <= last; c++) *model_at(&bands[c].band[level][k], x, y) = model_dequantise(model_read_sint(part), own, 0);
        }
}

static int size_of(const model_transform *t, const model_bands *bands, const model_slices *l, int sx, int sy)
{
    int n = 0;
    for (int level = 0; level <= t->depth + t->depth_ho; level++)
        for (int k = level > 0; k < bands_of(t, level); k++) {
            const model_plane *b = &bands->band[level][k];
            n += (cut(b->w, sx + 1, l->nx) - cut(b->w, sx, l->nx)) * (cut(b->h, sy + 1, l->ny) - cut(b->h, sy, l->ny));
        }
    return n;
}

static void high_quality(model *m, const model_transform *t, model_bands *bands, model_slices *l, int sx, int sy, int prefix, int scaler)
{
    uint64_t *s = &m->seed;
    const int index = model_below(s, model_chance(s, 20) ? 40 : 24);
    for (int k = 0; k < prefix; k++) model_literal(&l->body, (uint64_t)model_below(s, 256), 8);
    model_literal(&l->body, (uint64_t)index, 8);
    for (int c = 0; c < 3; c++) {
        model_bits codes = { 0 };
        const int n = size_of(t, &bands[c], l, sx, sy);
        put_codes(s, &codes, model_chance(s, 3) ? model_below(s, n + 1) : n);
        while (codes.bits % 8) model_bit(&codes, 1);
        int bytes = (int)(codes.bits / 8);
        if (model_chance(s, 4)) bytes = model_below(s, bytes + 1); /* cut: what is missing is 0 */
        if (model_chance(s, 6)) bytes += model_below(s, 20);       /* more than it needs */
        int units = (bytes + scaler - 1) / scaler;
        if (units > 255) units = 255;
        model_literal(&l->body, (uint64_t)units, 8);
        const size_t at = l->body.bits;
        for (int k = 0; k < units * scaler; k++)
            model_literal(&l->body, k < (int)(codes.bits / 8) ? codes.bytes[k] : (uint64_t)model_below(s, 256), 8);
        model_part part = { l->body.bytes, at, l->body.bits };
        take_codes(t, bands, c, c, l, sx, sy, index, &part);
        free(codes.bytes);
    }
}

static void low_delay(model *m, const model_transform *t, model_bands *bands, model_slices *l, int sx, int sy, int bytes)
{
    uint64_t *s = &m->seed;
    const int index = bytes > 1 ? model_below(s, model_chance(s, 20) ? 40 : 24) : model_below(s, 20), all = 8 * bytes - 7;
    int wide = 0, luma = 0;
    while ((1 << wide) < all) wide++;
    model_bits b = { 0 };
    model_literal(&b, (uint64_t)index, 7);
    if (wide) luma = model_below(s, all - wide + 1); /* a slice of one byte has no length */
    model_literal(&b, (uint64_t)luma, wide);
    model_bits codes = { 0 };
    put_codes(s, &codes, luma + 8);
    for (int k = 0; k < luma; k++) model_bit(&b, codes.bytes[k / 8] >> (7 - k % 8) & 1);
    free(codes.bytes);
    codes = (model_bits){ 0 };
    put_codes(s, &codes, 8 * bytes + 8);
    for (int k = 0; b.bits < 8 * (size_t)bytes; k++) model_bit(&b, codes.bytes[k / 8] >> (7 - k % 8) & 1);
    free(codes.bytes);
    model_part part = { b.bytes, 7 + (size_t)wide, 7 + (size_t)(wide + luma) };
    take_codes(t, bands, 0, 0, l, sx, sy, index, &part);
    part = (model_part){ b.bytes, 7 + (size_t)(wide + luma), 8 * (size_t)bytes };
    take_codes(t, bands, 1, 2, l, sx, sy, index, &part);
    model_append(&l->body, &b);
    free(b.bytes);
}

void model_make_slices(model *m, model_picture *p, model_slices *l)
{
    uint64_t *s = &m->seed;
    const int hq = m->kind == MODEL_HIGH_QUALITY;
    model_transform t = model_choose_transform(m, m->major >= 3);
    model_bands bands[3];
    memset(l, 0, sizeof *l);
    l->nx = model_between(s, 1, model_chance(s, 5) ? 30 : 6);
    l->ny = model_between(s, 1, model_chance(s, 5) ? 20 : 5);
    model_uint(&l->head, (uint32_t)t.wavelet);
    model_uint(&l->head, (uint32_t)t.depth);
    if (m->major >= 3) {
        const int own = t.wavelet_ho != t.wavelet || model_chance(s, 4);
        model_bit(&l->head, own);
        if (own) model_uint(&l->head, (uint32_t)t.wavelet_ho);
        model_bit(&l->head, t.depth_ho > 0);
        if (t.depth_ho) model_uint(&l->head, (uint32_t)t.depth_ho);
    }
    model_uint(&l->head, (uint32_t)l->nx);
    model_uint(&l->head, (uint32_t)l->ny);
    const int prefix = model_chance(s, 3) ? model_below(s, 5) : 0, scaler = model_chance(s, 3) ? model_between(s, 1, 9) : 1;
    const int denominator = model_between(s, 1, 7), numerator = denominator * model_between(s, 1, 60) + model_below(s, denominator);
    model_uint(&l->head, (uint32_t)(hq ? prefix : numerator));
    model_uint(&l->head, (uint32_t)(hq ? scaler : denominator));
    put_matrix(m, &t, &l->head);
    model_align(&l->head);
    int w[3], h[3];
    for (int c = 0; c < 3; c++) {
        model_component_size(m, c, &w[c], &h[c]);
        model_bands_make(&t, w[c], h[c], &bands[c]);
    }
    l->starts = (size_t *)calloc((size_t)(l->nx * l->ny) + 1, sizeof *l->starts);
    for (int n = 0; n < l->nx * l->ny; n++) {
        const int bytes = (n + 1) * numerator / denominator - n * numerator / denominator;
        if (hq) high_quality(m, &t, bands, l, n % l->nx, n / l->nx, prefix, scaler);
        else low_delay(m, &t, bands, l, n % l->nx, n / l->nx, bytes);
        l->starts[n + 1] = l->body.bits / 8;
    }
    for (int c = 0; c < 3; c++) {
        const int64_t half = (int64_t)1 << (m->depth[c > 0] - 1);
        if (!hq) model_predict_ll(&bands[c].band[0][0]);
        p->plane[c] = model_synthesis(&t, &bands[c], w[c], h[c]);
        model_bands_free(&bands[c]);
        for (int k = 0; k < w[c] * h[c]; k++) {
            int64_t *v = &p->plane[c].v[k];
            *v = *v < -half ? -half : *v > half - 1 ? half - 1 : *v;
        }
    }
}

void model_slices_free(model_slices *l)
{
    free(l->head.bytes);
    free(l->body.bytes);
    free(l->starts);
}
