/* video/dirac/encoder/dirac_rate.h: quantisers of pictures for a wanted rate, and the model of a decoder's buffer.
 *
 * The buffer fills with rate / pictures per second bits before each picture is taken out of it at once; it begins at three quarters. A picture may
 * not be larger than what is in it; what would overflow is lost (VBR: the channel waits) or sent as padding (CBR). Bits of a picture are taken to
 * be its complexity over its step to the power 1.2; complexities follow what was coded, one for each kind of picture. */
#ifndef TSR_VIDEO_DIRAC_DIRAC_RATE_H
#define TSR_VIDEO_DIRAC_DIRAC_RATE_H

#include "core/core.h"
#include "tessera/dirac.h"

enum { TSR_RATE_KINDS = 3, TSR_RATE_MOST = 100 }; /* intra, forward reference, between references; the coarsest quantiser */

typedef struct tsr_dirac_rate {
    int on, constant;
    double per_picture, buffer, level; /* bits */
    double complexity[TSR_RATE_KINDS];
    double share[TSR_RATE_KINDS]; /* how often a kind comes */
    double debt;                  /* bits spent beyond the even rate */
    double base;                  /* quantiser of an intra picture, not rounded */
    int started;
    tsr_dirac_statistics *first; /* of a first pass */
    int64_t count, at;
    double left, spent; /* bits for the pictures from `at` on; of the second pass so far */
} tsr_dirac_rate;

/* `pictures` a second. */
tsr_status tsr_dirac_rate_make(tsr_dirac_rate *rate, const tsr_dirac_encode_options *options, double pictures, const double share[TSR_RATE_KINDS]);
void tsr_dirac_rate_free(tsr_dirac_rate *rate);
/* What the kind's quantiser is above an intra picture's. */
int32_t tsr_dirac_kind_offset(int kind);
/* The quantiser of the next picture, which is of `samples` samples and this kind. */
int32_t tsr_dirac_rate_choose(tsr_dirac_rate *rate, int kind, int64_t samples);
/* Bits that it may have at most. */
double tsr_dirac_rate_most(const tsr_dirac_rate *rate);
/* It was coded; the bytes of padding that must follow it are returned. */
int64_t tsr_dirac_rate_update(tsr_dirac_rate *rate, int kind, int32_t quantiser, int64_t bytes);

#endif
