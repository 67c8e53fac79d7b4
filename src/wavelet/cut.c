/* wavelet/cut.c: rate against error: where embedded streams are cut. Slopes of the lower hull of (bytes, error), as JPEG 2000's optimisation after
 * compression: at one slope for all streams no byte would do more good elsewhere. */
#include <math.h>
#include <stdlib.h>

#include "wavelet/codec.h"

/* Passes on the hull get the slope of the edge that leads to them; slopes decrease along a stream. */
static void hull(const tsr_planes_stream *s, float *slope)
{
    int32_t last[TSR_PLANES_PASSES], n = 0;
    for (int32_t k = 0; k < s->passes; k++) {
        double edge;
        for (;; n--) {
            const tsr_planes_pass from = n ? s->pass[last[n - 1]] : (tsr_planes_pass){ 0, 0 };
            const double bytes = (double)s->pass[k].bytes - (double)from.bytes, gain = s->pass[k].gain - from.gain;
            edge = bytes > 0 ? gain / bytes : gain > 0 ? 3e38 : 0;
            if (edge > 3e38) edge = 3e38;
            if (!n || edge < (double)slope[last[n - 1]]) break;
            slope[last[n - 1]] = -1; /* the way round it is shorter */
        }
        slope[k] = -1;
        if (edge > 0) {
            slope[k] = (float)edge;
            last[n++] = k;
        }
    }
}

tsr_status tsr_cut_create(const tsr_planes_stream *stream, int64_t streams, tsr_cut *c)
{
    *c = (tsr_cut){ .stream = stream, .streams = streams };
    c->slope = (float *)malloc((size_t)streams * TSR_PLANES_PASSES * sizeof *c->slope);
    if (!c->slope) TSR_FAIL(TSR_ERROR_MEMORY, "compression: out of memory for %lld streams", (long long)streams);
    for (int64_t k = 0; k < streams; k++) hull(&stream[k], c->slope + k * TSR_PLANES_PASSES);
    return TSR_OK;
}

void tsr_cut_destroy(tsr_cut *c)
{
    free(c->slope);
    c->slope = NULL;
}

int32_t tsr_cut_passes(const tsr_cut *c, int64_t k, double slope)
{
    const float *s = c->slope + k * TSR_PLANES_PASSES;
    for (int32_t n = c->stream[k].passes; n > 0; n--)
        if (s[n - 1] >= 0 && (double)s[n - 1] >= slope) return n;
    return 0;
}

void tsr_cut_measure(const tsr_cut *c, double slope, double *bytes, double *error)
{
    *bytes = 0;
    *error = c->floor;
    for (int64_t k = 0; k < c->streams; k++) {
        const tsr_planes_stream *s = &c->stream[k];
        const int32_t n = tsr_cut_passes(c, k, slope);
        *bytes += n ? s->pass[n - 1].bytes : 0;
        *error += s->energy - (n ? s->pass[n - 1].gain : 0);
    }
}

double tsr_cut_find(const tsr_cut *c, double bytes, double error)
{
    double low = -120, high = 127; /* powers of two: low has the most bytes and the least error */
    for (int k = 0; k < 48; k++) {
        const double middle = (low + high) / 2;
        double b, e;
        tsr_cut_measure(c, exp2(middle), &b, &e);
        const int enough = bytes >= 0 ? b <= bytes : e > error;
        if (enough) high = middle;
        else low = middle;
    }
    return exp2(bytes >= 0 ? high : low);
}
