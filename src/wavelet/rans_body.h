/* wavelet/rans_body.h: streams of the coder rans for one width of coefficients; T as in restore_body.h. */

#include "wavelet/rans_context_body.h"

/* The bands of one resolution of extents `e`. */
static void NAME(rans_stream)(const tsr_fast_source *stream, const int32_t e[3], const tsr_rans_lookup *lookup, T *to, uint8_t *context,
                              uint32_t *sums)
{
    NAME(seen) seen = { sums, { (e[0] + 1) / 2, (e[1] + 1) / 2, (e[2] + 1) / 2 }, 0 };
    struct lanes lanes;
    begin_lanes(stream, &lanes);
    memset(sums, 0, (size_t)seen.size[0] * (size_t)seen.size[1] * (size_t)seen.size[2] * sizeof *sums);
    for (int k = 1; k < 8; k++) {
        int32_t s[3], v[TSR_RANS_LANES];
        int64_t n = 1, ready = 0;
        for (int a = 0; a < 3; a++) n *= s[a] = k >> a & 1 ? e[a] / 2 : seen.size[a];
        if (!n) continue;
        for (int64_t i = 0; i < n;) { /* all whose contexts are known, but for a part of a group */
            const int32_t some = (int32_t)tsr_minl(n - i, TSR_RANS_LANES);
            NAME(contexts)(to, s, lanes.start, &seen, i, i + some, &ready, context);
            const int64_t many = GROUPS(&lanes, lookup, context + i, ready - i, to + i);
            i += many;
            if (many) continue;
            decode_some(&lanes, lookup, context + i, some, v);
            for (int32_t l = 0; l < some; l++) to[i + l] = (T)v[l];
            i += some;
        }
        if (k < 7) NAME(see)(&seen, to, s);
        to += n;
    }
}
