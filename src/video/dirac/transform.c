/* video/dirac/transform.c: transform parameters of slice-coded pictures, and the default quantisation matrices. */
#include <math.h>

#include "tessera/wavelet.h"
#include "video/dirac/filters.h"
#include "video/dirac/syntax.h"

static tsr_status read_number(tsr_bits *bits, const char *field, uint32_t least, uint32_t most, uint32_t *value)
{
    *value = tsr_bits_uint(bits);
    if (tsr_bits_over(bits)) TSR_FAIL(TSR_ERROR_FORMAT, "picture: the transform parameters end before %s", field);
    if (*value < least || *value > most) TSR_FAIL(TSR_ERROR_FORMAT, "picture: %s is %u, expected %u to %u", field, *value, least, most);
    return TSR_OK;
}

static tsr_status read_index(tsr_bits *bits, const char *field, int32_t most, int32_t *value)
{
    uint32_t v = 0;
    TSR_TRY(read_number(bits, field, 0, (uint32_t)most, &v));
    *value = (int32_t)v;
    return TSR_OK;
}

static tsr_status read_matrix(tsr_bits *bits, tsr_dirac_transform *t)
{
    memset(t->matrix, 0, sizeof t->matrix);
    for (int level = 0; level <= t->horizontal + t->depth; level++)
        for (int band = level > 0; band < tsr_dirac_bands(t, level); band++)
            TSR_TRY(read_index(bits, "an entry of the quantisation matrix", 255, &t->matrix[level][band]));
    return TSR_OK;
}

tsr_status tsr_dirac_transform_read(tsr_bits *bits, int32_t major, int high_quality, tsr_dirac_transform *transform)
{
    tsr_dirac_transform t = { .high_quality = high_quality };
    uint32_t x = 0, y = 0;
    TSR_TRY(read_index(bits, "wavelet index", TSR_DIRAC_FILTERS - 1, &t.wavelet));
    TSR_TRY(read_index(bits, "transform depth", TSR_DIRAC_DEPTH, &t.depth));
    t.wavelet_horizontal = t.wavelet;
    if (major >= 3) {
        if (tsr_bits_flag(bits)) TSR_TRY(read_index(bits, "horizontal wavelet index", TSR_DIRAC_FILTERS - 1, &t.wavelet_horizontal));
        if (tsr_bits_flag(bits)) TSR_TRY(read_index(bits, "horizontal-only depth", TSR_DIRAC_DEPTH, &t.horizontal));
    }
    TSR_TRY(read_number(bits, "slices across", 1, TSR_DIRAC_EXTENT, &x));
    TSR_TRY(read_number(bits, "slices down", 1, TSR_DIRAC_EXTENT, &y));
    t.slices_x = (int32_t)x;
    t.slices_y = (int32_t)y;
    if (high_quality) {
        TSR_TRY(read_number(bits, "slice prefix bytes", 0, 1 << 20, &t.prefix));
        TSR_TRY(read_number(bits, "slice size scaler", 1, 1 << 20, &t.scaler));
    } else {
        TSR_TRY(read_number(bits, "slice bytes numerator", 1, INT32_MAX, &t.numerator));
        TSR_TRY(read_number(bits, "slice bytes denominator", 1, INT32_MAX, &t.denominator));
        if (t.numerator < t.denominator)
            TSR_FAIL(TSR_ERROR_FORMAT, "picture: slices of %u / %u bytes, expected at least one byte", t.numerator, t.denominator);
    }
    if (tsr_bits_flag(bits)) TSR_TRY(read_matrix(bits, &t));
    else if (!tsr_dirac_default_matrix(&t, t.matrix))
        TSR_FAIL(TSR_ERROR_FORMAT, "picture: no default quantisation matrix for wavelets %d and %d with depths %d and %d, expected one in the stream",
                 t.wavelet, t.wavelet_horizontal, t.depth, t.horizontal);
    if (tsr_bits_over(bits)) TSR_FAIL(TSR_ERROR_FORMAT, "picture: the transform parameters end before the quantisation matrix");
    *transform = t;
    return TSR_OK;
}

tsr_status tsr_dirac_transform_read_core(tsr_bits *bits, tsr_dirac_transform *transform)
{
    tsr_dirac_transform t = { 0 };
    TSR_TRY(read_index(bits, "wavelet index", TSR_DIRAC_FILTERS - 1, &t.wavelet));
    TSR_TRY(read_index(bits, "transform depth", TSR_DIRAC_DEPTH, &t.depth));
    t.wavelet_horizontal = t.wavelet;
    for (int level = 0; level <= t.depth; level++) t.codeblocks[level][0] = t.codeblocks[level][1] = 1;
    if (tsr_bits_flag(bits)) {
        for (int level = 0; level <= t.depth; level++)
            for (int axis = 0; axis < 2; axis++) {
                uint32_t count = 0;
                TSR_TRY(read_number(bits, "code blocks on a side", 1, 1024, &count));
                t.codeblocks[level][axis] = (int32_t)count;
            }
        TSR_TRY(read_index(bits, "code block mode", 1, &t.codeblock_mode));
    }
    if (tsr_bits_over(bits)) TSR_FAIL(TSR_ERROR_FORMAT, "picture: the transform parameters end before the code blocks");
    *transform = t;
    return TSR_OK;
}

/* Steps of the quantiser (4 to a factor of 2) that the low and the high band of one level are worth: 4 log2 of the norm of what a unit coefficient
 * becomes. The standard's matrices follow it for all filters but Fidelity, whose entries are those of the numbers below. */
static double worth(int32_t wavelet, int high)
{
    if (wavelet == TSR_DIRAC_FIDELITY) return high ? 1.82 : -2.18;
    return 4 * log2(tsr_wavelet_norm(tsr_dirac_filters[wavelet].filter, 1, high));
}

int tsr_dirac_default_matrix(const tsr_dirac_transform *t, int32_t matrix[TSR_DIRAC_LEVELS + 1][4])
{
    const int32_t levels = t->depth + t->horizontal;
    const int mixed = t->wavelet == TSR_DIRAC_HAAR_PLAIN && t->wavelet_horizontal == TSR_DIRAC_LEGALL;
    memset(matrix, 0, sizeof(int32_t[TSR_DIRAC_LEVELS + 1][4]));
    if (t->depth > 4 || t->horizontal > 4 || levels > 5 || (t->wavelet != t->wavelet_horizontal && !mixed)) return 0;
    const double low[2] = { worth(t->wavelet_horizontal, 0), worth(t->wavelet, 0) },
                 high[2] = { worth(t->wavelet_horizontal, 1), worth(t->wavelet, 1) };
    const double shift = 4 * tsr_dirac_filters[t->wavelet_horizontal].shift;
    double value[TSR_DIRAC_LEVELS + 1][4], after = 0, least = INFINITY;
    for (int level = levels; level >= 0; level--) { /* `after`: what the levels behind this one make of a low band */
        const int both = level > t->horizontal;
        if (level == 0) value[0][0] = after;
        else {
            value[level][1] = after + high[0] + (both ? low[1] : 0) - shift;
            value[level][2] = after + low[0] + high[1] - shift;
            value[level][3] = after + high[0] + high[1] - shift;
            after += low[0] + (both ? low[1] : 0) - shift;
        }
        for (int band = level > 0; band < tsr_dirac_bands(t, level); band++) least = fmin(least, value[level][band]);
    }
    for (int level = 0; level <= levels; level++)
        for (int band = level > 0; band < tsr_dirac_bands(t, level); band++) matrix[level][band] = (int32_t)floor(value[level][band] - least + 0.5);
    return 1;
}

void tsr_dirac_band_weights(const tsr_dirac_transform *t, double weight[TSR_DIRAC_LEVELS + 1][4])
{
    const int32_t levels = t->depth + t->horizontal, shift = tsr_dirac_filters[t->wavelet_horizontal].shift;
    const tsr_wavelet_filter across = tsr_dirac_filters[t->wavelet_horizontal].filter, down = tsr_dirac_filters[t->wavelet].filter;
    memset(weight, 0, sizeof(double[TSR_DIRAC_LEVELS + 1][4]));
    for (int level = 0; level <= levels; level++)
        for (int band = level > 0; band < tsr_dirac_bands(t, level); band++) {
            const int32_t x = level ? levels - level + 1 : levels, y = level > t->horizontal ? x : t->depth;
            const double nx = x ? tsr_wavelet_norm(across, x, band & 1) : 1, ny = y ? tsr_wavelet_norm(down, y, band >> 1) : 1;
            weight[level][band] = nx * ny * exp2(-shift * x);
        }
}

void tsr_dirac_weights_matrix(const tsr_dirac_transform *t, int32_t matrix[TSR_DIRAC_LEVELS + 1][4])
{
    double weight[TSR_DIRAC_LEVELS + 1][4], least = INFINITY;
    const int32_t levels = t->depth + t->horizontal;
    tsr_dirac_band_weights(t, weight);
    memset(matrix, 0, sizeof(int32_t[TSR_DIRAC_LEVELS + 1][4]));
    for (int turn = 0; turn < 2; turn++)
        for (int level = 0; level <= levels; level++)
            for (int band = level > 0; band < tsr_dirac_bands(t, level); band++) {
                if (!turn) least = fmin(least, weight[level][band]);
                else matrix[level][band] = (int32_t)floor(4 * log2(weight[level][band] / least) + 0.5);
            }
}
