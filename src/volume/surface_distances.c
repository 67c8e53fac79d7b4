#include "volume/surface_distances.h"

#include <string.h>

#include "core/hd.h"

/* The value of a rank (from 1): floats >= 0 sort like their bits, so three histograms, of 11, 11 and 10 bits, find it. */
static double value_of_rank(const float *values, int64_t count, int64_t rank)
{
    static const int shifts[3] = { 21, 10, 0 };
    int64_t bins[2048];
    uint32_t prefix = 0, known = 0; /* the bits found so far, and which they are */
    for (int pass = 0; pass < 3; pass++) {
        uint32_t mask = pass == 2 ? 1023 : 2047, bin = 0;
        memset(bins, 0, sizeof bins);
        for (int64_t i = 0; i < count; i++) {
            uint32_t bits = tsr_float_bits(values[i]);
            if ((bits & known) == prefix) bins[bits >> shifts[pass] & mask]++;
        }
        while (rank > bins[bin]) rank -= bins[bin++];
        prefix |= bin << shifts[pass];
        known |= mask << shifts[pass];
    }
    return (double)tsr_bits_float(prefix);
}

static double percentile_95(const float *values, int64_t count) { return value_of_rank(values, count, tsr_ceil_div(count * 95, 100)); }

static double sum_and_maximum(const float *values, int64_t count, double *maximum)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        sum += (double)values[i];
        if ((double)values[i] > *maximum) *maximum = (double)values[i];
    }
    return sum;
}

void tsr_surface_distances_summarise(const float *forward, int64_t forward_count, const float *backward, int64_t backward_count,
                                     tsr_surface_distances *summary)
{
    double maximum = 0, sum = sum_and_maximum(forward, forward_count, &maximum);
    sum += sum_and_maximum(backward, backward_count, &maximum);
    double one = percentile_95(forward, forward_count), other = percentile_95(backward, backward_count);
    *summary = (tsr_surface_distances){ sum / (double)(forward_count + backward_count), one > other ? one : other, maximum };
}
