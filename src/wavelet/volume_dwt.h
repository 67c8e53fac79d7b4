/* wavelet/volume_dwt.h: what transforms of volumes in memory and from file to file share. */
#ifndef TSR_WAVELET_VOLUME_DWT_H
#define TSR_WAVELET_VOLUME_DWT_H

#include "volume/volume.h"
#include "wavelet/wavelet.h"

/* Takes options that volumes can have, or TSR_ERROR_ARGUMENT. */
/* The axes to be transformed: none named are all, of an image its rows and columns. */
uint32_t tsr_dwt_axes(const tsr_volume *volume, const tsr_wavelet_options *options);
tsr_status tsr_dwt_take_options(const tsr_wavelet_options *options, tsr_wavelet_options *own);
/* Does the choice of the type depend on the values? */
int tsr_dwt_needs_range(tsr_dtype from, tsr_dtype dtype);
/* *dtype (TSR_DTYPE_COUNT: by the values, stored from minimum to maximum) for voxels of type `from`. Also drops the accuracy bits by default where i32 has
 * no room for them: without them every step comes back even where it wraps. */
tsr_status tsr_dwt_choose_type(tsr_dtype from, tsr_size3 size, double minimum, double maximum, tsr_wavelet_options *o, tsr_dtype *dtype);

tsr_status tsr_dwt_write_meta(tsr_volume *v, const tsr_wavelet_plan *p, uint32_t axes, tsr_dtype origin);
/* o->steps may come to be `steps`. */
tsr_status tsr_dwt_read_meta(const tsr_volume *v, tsr_wavelet_options *o, tsr_wavelet_step steps[TSR_WAVELET_STEPS], tsr_dtype *origin);
tsr_status tsr_dwt_clear_meta(tsr_volume *v);
/* Copy as stored, in another type. */
tsr_status tsr_dwt_retype(tsr_context *context, const tsr_volume *v, tsr_dtype dtype, tsr_volume **copy);

/* The extents as Dirac pads them: along the transformed axes multiples of 2^levels. */
void tsr_dwt_padded_size(const int64_t size[3], uint32_t axes, int32_t levels, int64_t padded[3]);
/* RETURNS NEW volume of these extents, of an element type of transforms: longer ones repeat the last samples, shorter ones are cut. */
tsr_status tsr_dwt_resize(tsr_context *context, const tsr_volume *v, const int64_t size[3], tsr_volume **resized);

#endif
