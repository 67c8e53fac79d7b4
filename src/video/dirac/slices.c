/* video/dirac/slices.c: where each slice begins is found first, then slices are decoded side by side. */
#include "video/dirac/slices.h"

#include "core/parallel.h"
#include "video/dirac/quantiser.h"

void tsr_dirac_layout_make(const tsr_dirac_transform *t, int32_t width, int32_t height, tsr_dirac_layout *l)
{
    const int32_t levels = t->depth + t->horizontal;
    *l = (tsr_dirac_layout){ .width = width,
                             .height = height,
                             .stride = (int32_t)(tsr_ceil_div(width, (int64_t)1 << levels) << levels),
                             .padded_height = (int32_t)(tsr_ceil_div(height, (int64_t)1 << t->depth) << t->depth) };
    l->band[0][0] = (tsr_dirac_band){ 0, l->stride >> levels, l->padded_height >> t->depth };
    for (int32_t level = 1; level <= levels; level++) {
        const int32_t up = levels - level + 1, w = l->stride >> up, h = l->padded_height >> (up < t->depth ? up : t->depth);
        l->band[level][1] = (tsr_dirac_band){ w, w, h };
        if (level <= t->horizontal) continue;
        l->band[level][2] = (tsr_dirac_band){ (int64_t)h * l->stride, w, h };
        l->band[level][3] = (tsr_dirac_band){ (int64_t)h * l->stride + w, w, h };
    }
}

/* ---- one slice ----------------------------------------------------------------------------------------------------------------------------- */

static tsr_quantiser band_quantiser(const tsr_dirac_transform *t, int32_t index, int level, int band)
{
    const int32_t own = index - t->matrix[level][band];
    return tsr_quantiser_make(own > 0 ? own : 0, 0);
}

/* The bands of one component, one after the other. */
static void decode_component(const tsr_dirac_slices *s, int component, int32_t sx, int32_t sy, int32_t index, tsr_bits *own)
{
    const tsr_dirac_transform *t = s->transform;
    const tsr_dirac_layout *l = s->layout[component];
    tsr_bits bits = *own;
    for (int level = 0; level <= t->horizontal + t->depth; level++)
        for (int band = level > 0; band < tsr_dirac_bands(t, level); band++) {
            const tsr_dirac_band *b = &l->band[level][band];
            const tsr_dirac_area a = tsr_dirac_slice_area(t, b, sx, sy);
            const tsr_quantiser q = band_quantiser(t, index, level, band);
            for (int32_t y = a.y0; y < a.y1; y++) {
                int32_t *row = s->coefficients[component] + b->offset + (int64_t)y * l->stride;
                for (int32_t x = a.x0; x < a.x1; x++) row[x] = tsr_quantiser_inverse(q, tsr_bits_int(&bits));
            }
        }
    *own = bits;
}

/* Both chroma components, coefficient by coefficient. */
static void decode_chroma_pair(const tsr_dirac_slices *s, int32_t sx, int32_t sy, int32_t index, tsr_bits *bits)
{
    const tsr_dirac_transform *t = s->transform;
    const tsr_dirac_layout *l = s->layout[1];
    for (int level = 0; level <= t->horizontal + t->depth; level++)
        for (int band = level > 0; band < tsr_dirac_bands(t, level); band++) {
            const tsr_dirac_band *b = &l->band[level][band];
            const tsr_dirac_area a = tsr_dirac_slice_area(t, b, sx, sy);
            const tsr_quantiser q = band_quantiser(t, index, level, band);
            for (int32_t y = a.y0; y < a.y1; y++)
                for (int32_t x = a.x0; x < a.x1; x++)
                    for (int component = 1; component < 3; component++)
                        s->coefficients[component][b->offset + (int64_t)y * l->stride + x] = tsr_quantiser_inverse(q, tsr_bits_int(bits));
        }
}

/* bits.at .. at + size, but not beyond the end of the data; `bits` goes behind it. */
static tsr_bits bounded(tsr_bits *bits, int64_t size)
{
    tsr_bits part = { bits->data, bits->at, tsr_min64(bits->at + size, bits->end) };
    bits->at += size;
    return part;
}

static void decode_high_quality(const tsr_dirac_slices *s, tsr_bits bits, int32_t sx, int32_t sy)
{
    bits.at += 8 * (int64_t)s->transform->prefix;
    const int32_t index = bits.at < bits.end ? (int32_t)tsr_bits_take(&bits, 8) : 0;
    for (int component = 0; component < 3; component++) {
        const int64_t length = bits.at < bits.end ? (int64_t)tsr_bits_take(&bits, 8) * s->transform->scaler : 0;
        tsr_bits part = bounded(&bits, 8 * length);
        decode_component(s, component, sx, sy, index, &part);
    }
}

static void decode_low_delay(const tsr_dirac_slices *s, tsr_bits bits, int32_t bytes, int32_t sx, int32_t sy)
{
    const int wide = s->long_length ? 32 - __builtin_clz((unsigned)(8 * bytes)) : tsr_dirac_length_bits(bytes);
    const int there = bits.at < bits.end;
    const int32_t index = there ? (int32_t)tsr_bits_take(&bits, 7) : 0;
    const int64_t length = there ? (int64_t)tsr_bits_take(&bits, wide) : 0;
    tsr_bits luma = bounded(&bits, length);
    if (luma.end > bits.end) luma.end = bits.end;
    decode_component(s, 0, sx, sy, index, &luma);
    decode_chroma_pair(s, sx, sy, index, &bits);
}

/* ---- many ---------------------------------------------------------------------------------------------------------------------------------- */

typedef struct range_job {
    const tsr_dirac_slices *slices;
    const uint8_t *data;
    const int64_t *starts;
    int64_t first, end;
} range_job;

static void decode_range(void *user, int64_t begin, int64_t end, int worker)
{
    const range_job *j = (const range_job *)user;
    const tsr_dirac_transform *t = j->slices->transform;
    (void)worker;
    for (int64_t k = begin; k < end; k++) {
        const int64_t n = j->first + k, behind = tsr_min64(j->starts[k + 1], j->end);
        const int32_t sx = (int32_t)(n % t->slices_x), sy = (int32_t)(n / t->slices_x);
        const tsr_bits bits = { j->data, tsr_min64(j->starts[k], behind), behind };
        if (t->high_quality) decode_high_quality(j->slices, bits, sx, sy);
        else decode_low_delay(j->slices, bits, (int32_t)((j->starts[k + 1] - j->starts[k]) / 8), sx, sy);
    }
}

/* Bits of slice n, which begins at `at`: known beforehand, or read from its length bytes. Where the data end before, what is left. */
static int64_t slice_bits(const tsr_dirac_transform *t, const tsr_bits *bits, int64_t at, int64_t n)
{
    if (!t->high_quality) return 8 * tsr_dirac_slice_bytes(t, n);
    int64_t byte = at / 8 + t->prefix + 1;
    for (int component = 0; component < 3 && byte < bits->end / 8; component++) byte += 1 + (int64_t)bits->data[byte] * t->scaler;
    return 8 * byte - at;
}

void tsr_dirac_slices_decode(const tsr_dirac_slices *s, tsr_bits *bits, int64_t first, int64_t count, int64_t *starts, int64_t *whole)
{
    range_job job = { s, bits->data, starts, first, bits->end };
    *whole = 0;
    starts[0] = bits->at;
    for (int64_t k = 0; k < count; k++) {
        starts[k + 1] = starts[k] < bits->end ? starts[k] + slice_bits(s->transform, bits, starts[k], first + k)
                                              : starts[k] + 8; /* not there: the least a slice has */
        *whole += starts[k + 1] <= bits->end && starts[k] < bits->end;
    }
    bits->at = starts[count];
    tsr_parallel(s->threads, count, tsr_max64(1, count / (8 * (int64_t)s->threads)), decode_range, &job);
}

void tsr_dirac_predict_approximation(int32_t *coefficients, const tsr_dirac_layout *layout)
{
    const tsr_dirac_band *b = &layout->band[0][0];
    for (int32_t y = 0; y < b->height; y++) {
        int32_t *row = coefficients + b->offset + (int64_t)y * layout->stride;
        for (int32_t x = 0; x < b->width; x++) {
            const int32_t prediction = tsr_dirac_neighbours_mean(row + x, layout->stride, x, y);
            row[x] = (int32_t)((uint32_t)row[x] + (uint32_t)prediction);
        }
    }
}
