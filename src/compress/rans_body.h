/* compress/rans_body.h: streams of the coder rans for one width of coefficients; T as in restore_body.h. */

#include "compress/rans_context_body.h"

/* Where a stream of details goes, and memory for its way. */
typedef struct NAME(details) {
    const tsr_fast_source *stream;
    T *to;
    uint8_t *context;
    uint32_t *sums;
} NAME(details);

/* The bands of one resolution of extents `e`, of `many` bricks: in step, for what is known when depends on extents alone. */
static void NAME(rans_streams)(const NAME(details) * d, int many, const int32_t e[3], const tsr_rans_lookup *lookup)
{
    NAME(seen) seen[TSR_FAST_TOGETHER];
    struct lanes lanes[TSR_FAST_TOGETHER];
    T *to[TSR_FAST_TOGETHER];
    const uint8_t *context[TSR_FAST_TOGETHER];
    for (int b = 0; b < many; b++) {
        seen[b] = (NAME(seen)){ d[b].sums, { (e[0] + 1) / 2, (e[1] + 1) / 2, (e[2] + 1) / 2 }, 0 };
        begin_lanes(d[b].stream, &lanes[b]);
        memset(d[b].sums, 0, (size_t)seen[b].size[0] * (size_t)seen[b].size[1] * (size_t)seen[b].size[2] * sizeof *d[b].sums);
        to[b] = d[b].to;
        context[b] = d[b].context;
    }
    for (int k = 1; k < 8; k++) {
        int32_t s[3], v[TSR_RANS_LANES];
        int64_t n = 1, ready = 0;
        for (int a = 0; a < 3; a++) n *= s[a] = k >> a & 1 ? e[a] / 2 : seen[0].size[a];
        if (!n) continue;
        for (int64_t i = 0; i < n;) { /* all whose contexts are known, but for a part of a group */
            const int32_t some = (int32_t)tsr_minl(n - i, TSR_RANS_LANES);
            const int64_t before = ready;
            for (int b = 0; b < many; b++) {
                ready = before;
                NAME(contexts)(to[b], s, lanes[b].start, &seen[b], i, i + some, &ready, d[b].context);
            }
            const int64_t done = GROUPS(lanes, many, lookup, context, i, ready - i, to);
            i += done;
            if (done) continue;
            for (int b = 0; b < many; b++) {
                decode_some(&lanes[b], lookup, context[b] + i, some, v);
                for (int32_t l = 0; l < some; l++) to[b][i + l] = (T)v[l];
            }
            i += some;
        }
        for (int b = 0; b < many; b++) {
            if (k < 7) NAME(see)(&seen[b], to[b], s);
            to[b] += n;
        }
    }
}
