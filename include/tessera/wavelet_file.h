/* tessera/wavelet_file.h: wavelet transforms of volumes that are larger than memory, from file to file, slab by slab along the outermost axis.
 *
 * A slab is loaded with the samples on both sides that the steps of the filter reach, transformed by the plan of one level, and only what is its own is
 * kept: the coefficients are those of tsr_volume_dwt, bit for bit, integers and floats alike. Approximations wait in nameless files beside the output,
 * and so do the coefficients until all are known; the disk needs twice the output, and an eighth. Class exact. Source: docs/theory/wavelets.md 8. */
#ifndef TESSERA_WAVELET_FILE_H
#define TESSERA_WAVELET_FILE_H

#include "tessera/wavelet.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_wavelet_file_info {
    int64_t parts;        /* slabs of the finest level */
    int64_t slices;       /* of a slab of the finest level, those of its neighbours not counted */
    int64_t memory_bytes; /* taken at most for samples, coefficients and workspace, on the host and on the device */
} tsr_wavelet_file_info;

/* The coefficients of the volume in file `input` as tsr_volume_dwt makes them, into file `output`, whose format must keep metadata
 * (tsr_file_keeps_metadata). `read`, `options`, `write` and `info` may be NULL. read->memory_limit (0 = half of the physical memory) bounds what is
 * taken for voxels, not what the system keeps of files. A plain file is read in place; voxels packed by gzip, zlib or .tsc are unpacked to
 * a nameless file first. Layouts mallat, interleaved and split; mallat is the fastest. Progress and cancelling by read->progress.
 * Errors: as tsr_volume_dwt; TSR_ERROR_MEMORY says what a limit too small for one slab and its neighbours would have to be; TSR_ERROR_UNSUPPORTED for
 * standard input and voxels as text, TSR_ERROR_IO for named pipes and devices, packed content or not. An i16 transform that is checked may find
 * (TSR_ERROR_CAPACITY), at values close to the end of the range, that a value at the seam of two slabs leaves it, where that of the whole just does
 * not; types chosen by default stay clear of it. On the way back
 * i16 approximations of every level, not only the samples, must fit into 16 bits. */
TSR_API tsr_status tsr_file_dwt(tsr_context *context, const char *input, const tsr_read_options *read, const tsr_wavelet_options *options,
                                tsr_dtype dtype, const char *output, const tsr_write_options *write, tsr_wavelet_file_info *info) TSR_CHECKED;

/* The volume back, as tsr_volume_idwt; any format that can hold it. */
TSR_API tsr_status tsr_file_idwt(tsr_context *context, const char *input, const tsr_read_options *read, const char *output,
                                 const tsr_write_options *write, tsr_wavelet_file_info *info) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
