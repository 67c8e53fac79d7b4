/* video/dirac/encoder/dirac_rate.c */
#include "video/dirac/encoder/dirac_rate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double POWER = 1.2; /* of the step in the bits of a picture */

static double step_of(double quantiser) { return exp2(quantiser / 4); }

int32_t tsr_dirac_kind_offset(int kind) { return kind == 0 ? 0 : kind == 1 ? 1 : 4; }

tsr_status tsr_dirac_rate_make(tsr_dirac_rate *r, const tsr_dirac_encode_options *o, double pictures, const double share[TSR_RATE_KINDS])
{
    *r = (tsr_dirac_rate){ .on = o->bit_rate > 0, .constant = o->constant_rate };
    if (!r->on) return TSR_OK;
    r->per_picture = (double)o->bit_rate / pictures;
    r->buffer = o->buffer_bits ? (double)o->buffer_bits : (double)o->bit_rate;
    if (r->buffer < 2 * r->per_picture)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "buffer_bits is %lld, expected at least %.0f, two pictures at the rate", (long long)o->buffer_bits,
                 ceil(2 * r->per_picture));
    r->level = 0.75 * r->buffer;
    memcpy(r->share, share, sizeof r->share);
    if (!o->statistics_count) return TSR_OK;
    r->first = (tsr_dirac_statistics *)malloc((size_t)o->statistics_count * sizeof *r->first);
    if (!r->first) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for the statistics of %lld pictures", (long long)o->statistics_count);
    memcpy(r->first, o->statistics, (size_t)o->statistics_count * sizeof *r->first);
    r->count = o->statistics_count;
    r->left = (double)r->count * r->per_picture;
    return TSR_OK;
}

void tsr_dirac_rate_free(tsr_dirac_rate *r)
{
    free(r->first);
    r->first = NULL;
}

double tsr_dirac_rate_most(const tsr_dirac_rate *r) { return fmin(r->level + r->per_picture, r->buffer); }

/* The quantiser of intra pictures with which the pictures that are left fit into the bits that are left, by the first pass. */
static double spread(const tsr_dirac_rate *r)
{
    double complexity = 0;
    for (int64_t k = r->at; k < r->count; k++) {
        const int kind = r->first[k].kind;
        /* bits at the quantiser q: bits * (step / step(q + offset))^POWER */
        complexity += 8 * (double)r->first[k].bytes * pow(step_of(r->first[k].quantiser - tsr_dirac_kind_offset(kind)), POWER);
    }
    if (complexity <= 0) return r->base;
    return 4 * log2(complexity / fmax(r->left, 1)) / POWER;
}

/* The same from the complexities of the kinds, for the even rate and what it is off by over the next second or so. */
static double even(const tsr_dirac_rate *r, int kind, int64_t samples)
{
    double sum = 0;
    for (int k = 0; k < TSR_RATE_KINDS; k++) {
        const double own = r->complexity[k] > 0 ? r->complexity[k] : r->complexity[0] > 0 ? r->complexity[0] * (k == 1 ? 0.3 : 0.2) : 0;
        sum += r->share[k] * own / pow(step_of(tsr_dirac_kind_offset(k)), POWER);
    }
    if (sum <= 0) { /* nothing coded yet: a guess from bits per sample */
        const double bits = (kind == 0 ? 3 : 1) * r->per_picture / (double)samples;
        return fmax(0, 22 - 8 * log2(fmax(bits, 1e-3) / 0.5));
    }
    const double window = 16, wanted = fmax(r->per_picture - r->debt / window, 0.1 * r->per_picture);
    const double fill = (r->level / r->buffer - 0.6) * 4; /* a full buffer is spent, an empty one is filled */
    return 4 * log2(sum / wanted) / POWER - fill;
}

int32_t tsr_dirac_rate_choose(tsr_dirac_rate *r, int kind, int64_t samples)
{
    double base = r->first && r->at < r->count ? spread(r) : even(r, kind, samples);
    if (r->started && !r->first) base = fmin(fmax(base, r->base - 3), r->base + 4); /* no jumps */
    const double q = fmin(fmax(base, 0), TSR_RATE_MOST - 10);
    r->base = q;
    r->started = 1;
    return (int32_t)floor(q + tsr_dirac_kind_offset(kind) + 0.5);
}

int64_t tsr_dirac_rate_update(tsr_dirac_rate *r, int kind, int32_t quantiser, int64_t bytes)
{
    const double bits = 8 * (double)bytes, own = bits * pow(step_of(quantiser), POWER);
    int64_t padding = 0;
    if (!r->on) return 0;
    r->complexity[kind] = r->complexity[kind] > 0 ? (kind == 0 ? 0.5 : 0.75) * r->complexity[kind] + (kind == 0 ? 0.5 : 0.25) * own : own;
    r->base += 0.5 * (quantiser - tsr_dirac_kind_offset(kind) - floor(r->base + 0.5)); /* where it had to be coarser to fit */
    r->level += r->per_picture - bits;
    if (r->level > r->buffer) {
        if (r->constant) {
            padding = (int64_t)ceil((r->level - r->buffer) / 8);
            if (padding < 13) padding = 13;
            r->level -= 8 * (double)padding;
        } else r->level = r->buffer;
    }
    r->debt += bits + 8 * (double)padding - r->per_picture;
    r->debt = fmax(r->debt, -8 * r->per_picture - r->buffer); /* rate that was not needed is not saved for ever */
    r->left -= bits;
    r->spent += bits;
    r->at++;
    return padding;
}
