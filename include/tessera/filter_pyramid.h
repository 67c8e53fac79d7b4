/* tessera/filter_pyramid.h: pyramids whose analysis keeps what is connected: an experiment beside the adjunction pyramid of tessera/mip.h.
 *
 * f_{j+1}(n) = (filter of f_j)(2 n). With an erosion as the filter, thin bright structures vanish from the coarse levels; an opening, or an opening by reconstruction
 * (dilations of the eroded volume, each cut by the volume itself: whole components stay or go), keeps them as long as the element fits somewhere. The expansion
 * of f_{j+1} may then exceed f_j, so details are ordinary differences d_j = f_j - expansion, of either sign, and projections of levels and details
 * do not commute: such pyramids are looked at, not drawn coefficient by coefficient. Host work, class exact.
 * Source: docs/theory/mip.md 10 (connectivity-preserving filters), Sun and Maragos 1989; L. Vincent, Morphological grayscale reconstruction in image analysis, 1993. */
#ifndef TESSERA_FILTER_PYRAMID_H
#define TESSERA_FILTER_PYRAMID_H

#include "tessera/mip.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_filter_pyramid tsr_filter_pyramid;

typedef enum tsr_pyramid_filter {
    TSR_FILTER_EROSION = 0,   /* the adjunction pyramid: differences are never negative */
    TSR_FILTER_OPENING,       /* erosion, then dilation by the element */
    TSR_FILTER_RECONSTRUCTION /* erosion, then conditional dilations by 3^3: m <- min(dilation of m, f) */
} tsr_pyramid_filter;

typedef struct tsr_filter_pyramid_options {
    size_t struct_size;
    int32_t levels;            /* reductions, 1 to 8; 0 = 2 */
    tsr_mip_element element;   /* CUBE2, CUBE3 or CROSS6 */
    tsr_pyramid_filter filter;
    int32_t iterations;        /* RECONSTRUCTION: conditional dilations; 0 = until nothing changes */
    tsr_progress progress;
} tsr_filter_pyramid_options;
#define TSR_FILTER_PYRAMID_OPTIONS TSR_SIZED(tsr_filter_pyramid_options)

/* Of a u8 or u16 volume of any device. RETURNS NEW; the volume is BORROWED. TSR_ERROR_ARGUMENT for other types, unknown filters, more levels than
 * floor(log2(largest extent)) + 1. */
TSR_API tsr_status tsr_filter_pyramid_create(const tsr_volume *volume, const tsr_filter_pyramid_options *options, tsr_filter_pyramid **pyramid) TSR_CHECKED;
TSR_API void tsr_filter_pyramid_destroy(tsr_filter_pyramid **pyramid);

/* f_j, 0 <= j <= L: host, the volume's type. d_j, 0 <= j < L: host, i32. RETURN VIEW; NULL outside. */
TSR_API const tsr_volume *tsr_filter_pyramid_level(const tsr_filter_pyramid *pyramid, int32_t level);
TSR_API const tsr_volume *tsr_filter_pyramid_detail(const tsr_filter_pyramid *pyramid, int32_t level);

/* f_0 from f_L and the details d_{L-1} to d_finest: finest = 0 gives the volume bit for bit, finest = L the coarsest level expanded. Sums without finer details
 * are cut to the type's range. Host memory; RETURNS NEW. */
TSR_API tsr_status tsr_filter_pyramid_synthesise(const tsr_filter_pyramid *pyramid, int32_t finest, tsr_volume **volume) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
