/* compress/cut.c: rate against error: where embedded streams are cut. Passes of all streams in the order of the error that they take away per
 * byte: of the lower hull of (bytes, error), as JPEG 2000's optimisation after compression. A cut is how many of them are kept: of two cuts one
 * holds the other. */
#include <stdlib.h>

#include "compress/codec.h"

uint32_t tsr_cut_bytes(const tsr_planes_stream *s, int32_t n) { return !n ? 0 : n == s->passes ? (uint32_t)s->size : s->pass[n - 1].bytes; }

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

static int by_slope(const void *pa, const void *pb)
{
    const tsr_cut_entry *a = (const tsr_cut_entry *)pa, *b = (const tsr_cut_entry *)pb;
    if (a->slope != b->slope) return a->slope > b->slope ? -1 : 1;
    if (a->stream != b->stream) return a->stream < b->stream ? -1 : 1;
    return a->passes - b->passes;
}

/* The passes of a stream that are worth their bytes. Those within an edge of the hull come with its end, as steps on the way, where each gains. */
static int64_t list_stream(const tsr_planes_stream *s, int64_t k, tsr_cut_entry *to)
{
    float slope[TSR_PLANES_PASSES];
    int64_t n = 0;
    hull(s, slope);
    for (int32_t pass = 0; pass < s->passes; pass++) {
        int32_t end = pass;
        while (end < s->passes && slope[end] < 0) end++;
        if (end == s->passes) break;
        const double before = n ? s->pass[to[n - 1].passes - 1].gain : 0;
        if (end != pass && !(s->pass[pass].gain > before && s->pass[pass].gain < s->pass[end].gain)) continue;
        to[n++] = (tsr_cut_entry){ slope[end], pass + 1, k };
    }
    return n;
}

tsr_status tsr_cut_create(const tsr_planes_stream *stream, int64_t streams, tsr_cut *c)
{
    int64_t most = 1;
    *c = (tsr_cut){ .stream = stream, .streams = streams };
    for (int64_t k = 0; k < streams; k++) most += stream[k].passes;
    c->entry = (tsr_cut_entry *)malloc((size_t)most * sizeof *c->entry);
    c->bytes = (double *)malloc((size_t)most * sizeof *c->bytes);
    c->error = (double *)malloc((size_t)most * sizeof *c->error);
    int32_t *at = (int32_t *)calloc((size_t)streams + 1, sizeof *at);
    if (!c->entry || !c->bytes || !c->error || !at) {
        free(at);
        tsr_cut_destroy(c);
        TSR_FAIL(TSR_ERROR_MEMORY, "compression: out of memory for %lld streams", (long long)streams);
    }
    c->error[0] = c->bytes[0] = 0;
    for (int64_t k = 0; k < streams; k++) {
        c->count += list_stream(&stream[k], k, c->entry + c->count);
        c->error[0] += stream[k].energy;
    }
    qsort(c->entry, (size_t)c->count, sizeof *c->entry, by_slope);
    for (int64_t i = 0; i < c->count; i++) {
        const tsr_planes_stream *s = &stream[c->entry[i].stream];
        int32_t *before = &at[c->entry[i].stream];
        const int32_t n = c->entry[i].passes;
        c->bytes[i + 1] = c->bytes[i] + (double)tsr_cut_bytes(s, n) - (double)tsr_cut_bytes(s, *before);
        c->error[i + 1] = c->error[i] - (s->pass[n - 1].gain - (*before ? s->pass[*before - 1].gain : 0));
        *before = n;
    }
    free(at);
    return TSR_OK;
}

void tsr_cut_destroy(tsr_cut *c)
{
    free(c->entry);
    free(c->bytes);
    free(c->error);
    c->entry = NULL;
    c->bytes = c->error = NULL;
}

int64_t tsr_cut_by_bytes(const tsr_cut *c, double bytes)
{
    int64_t low = 0, high = c->count; /* bytes never fall */
    while (low < high) {
        const int64_t middle = (low + high + 1) / 2;
        if (c->bytes[middle] <= bytes) low = middle;
        else high = middle - 1;
    }
    return low;
}

int64_t tsr_cut_by_error(const tsr_cut *c, double error)
{
    int64_t low = 0, high = c->count; /* nor does the error rise */
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (c->error[middle] <= error) high = middle;
        else low = middle + 1;
    }
    return low;
}
