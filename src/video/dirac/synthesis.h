/* video/dirac/synthesis.h: coefficients of a component to its samples, by the plans of tessera/wavelet.h. */
#ifndef TSR_VIDEO_DIRAC_SYNTHESIS_H
#define TSR_VIDEO_DIRAC_SYNTHESIS_H

#include "device/backend.h"
#include "tessera/wavelet.h"
#include "video/dirac/layout.h"

/* One plan: several levels of one filter, or one axis of a level whose axes have different ones. Coefficients and samples of all but the last
 * stage lie in the corner of the same array. */
typedef struct tsr_dirac_step {
    tsr_wavelet_plan *plan;
    int32_t width, height;
    int64_t workspace_bytes;
} tsr_dirac_step;

typedef struct tsr_dirac_synthesis {
    tsr_context *context;
    tsr_dtype dtype; /* i32, or i16 */
    int unchecked;
    int32_t stride, count, batch; /* `batch`: arrays in one call, behind one another */
    int64_t workspace_bytes, elements;
    tsr_dirac_step stage[2 * TSR_DIRAC_LEVELS + 1];
} tsr_dirac_synthesis;

/* *synthesis is zero or was made before (what it held is freed). `dtype` i16: samples and coefficients of 16 bits; `unchecked`: none of them
 * leaves these. */
tsr_status tsr_dirac_synthesis_make(tsr_context *context, const tsr_dirac_transform *transform, const tsr_dirac_layout *layout, tsr_dtype dtype,
                                    int unchecked, tsr_dirac_synthesis *synthesis);
/* The same of `batch` components at once. */
tsr_status tsr_dirac_synthesis_make_many(tsr_context *context, const tsr_dirac_transform *transform, const tsr_dirac_layout *layout, tsr_dtype dtype,
                                         int unchecked, int32_t batch, tsr_dirac_synthesis *synthesis);
/* All levels but the finest, of transforms that are the same along both axes and have two levels: samples are in the corner, half as many along both. */
tsr_status tsr_dirac_synthesis_make_coarse(tsr_context *context, const tsr_dirac_transform *transform, const tsr_dirac_layout *layout,
                                           tsr_dtype dtype, tsr_dirac_synthesis *synthesis);
/* Do coefficients of 16 bits do for all samples of `bits` bits? Transforms of one stage alone. */
int tsr_dirac_synthesis_narrow(const tsr_dirac_transform *transform, int32_t bits);
void tsr_dirac_synthesis_free(tsr_dirac_synthesis *synthesis);
/* Device memory; the coefficients may be overwritten. The samples have the coefficients' stride. TSR_ERROR_CAPACITY: samples of i16 leave 16 bits. */
tsr_status tsr_dirac_synthesis_run(const tsr_dirac_synthesis *synthesis, void *coefficients, void *samples, void *workspace);
/* The way back; the samples may be overwritten. */
tsr_status tsr_dirac_analysis_run(const tsr_dirac_synthesis *synthesis, void *samples, void *coefficients, void *workspace);

#endif
