/* tessera/wavelet_keep.h: the coefficients that matter most, the others 0: by their share, or by a threshold.
 *
 * A coefficient counts by what it becomes in the samples: its magnitude times the weight of its band (tsr_wavelet_band, the L2 norm of the synthesis), so
 * that bands of transforms that are not normalised can be compared. The weights are those of the interior: on axes shorter than the filter's reach at a
 * level they are larger than what the coefficient becomes there. Source: docs/theory/wavelets.md 6. */
#ifndef TESSERA_WAVELET_KEEP_H
#define TESSERA_WAVELET_KEEP_H

#include "tessera/wavelet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One of `keep` and `cut`. */
typedef struct tsr_wavelet_keep_options {
    size_t struct_size;
    double keep; /* percent of all coefficients, above 0 to 100: the largest stay, approximation included */
    double cut;  /* above 0, in units of the stored samples: details of a smaller weighted magnitude become 0; the approximation stays */
    int soft;    /* with cut: the other details move towards 0 by cut / weight; integers are rounded, what is not finite stays */
    tsr_progress progress;
} tsr_wavelet_keep_options;
#define TSR_WAVELET_KEEP_OPTIONS                        \
    {                                                   \
        .struct_size = sizeof(tsr_wavelet_keep_options) \
    }

typedef struct tsr_wavelet_keep_info {
    int64_t coefficients, kept; /* of the volume; with cut: those that are not 0 afterwards */
    int64_t nonzero;            /* that are not 0 afterwards */
    double least;               /* the least weighted magnitude among those kept; with cut: cut */
} tsr_wavelet_keep_info;

/* Sets coefficients to 0, in place. `coefficients`: a volume that tsr_volume_dwt made, of any layout and type, on the context's device (MODIFIES it).
 * With `keep` exactly max(1, floor(keep / 100 * coefficients + 1/2)) stay; of equal magnitudes those that come first in memory. What is not finite
 * counts as the largest. The threshold is found by selection digit by digit: 6 passes that read (and, where the last magnitude is not unique, up to 6
 * more), one that writes, whatever the values are; no memory but 16 kB. Class exact: the same coefficients on every device and number of threads.
 * `info` may be NULL. Waits for the queue. Errors: TSR_ERROR_ARGUMENT naming the field, or the metadata that are missing; TSR_ERROR_CANCELLED: the
 * coefficients are as they were. */
TSR_API tsr_status tsr_wavelet_volume_keep(tsr_context *context, tsr_volume *coefficients, const tsr_wavelet_keep_options *options,
                                           tsr_wavelet_keep_info *info) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
