/* formats/volumes/hdf5/hdf5_reader.h: an array of an HDF5 file that is being read. */
#ifndef TSR_FORMATS_HDF5_READER_H
#define TSR_FORMATS_HDF5_READER_H

#include "formats/volumes/hdf5/hdf5.h"

typedef struct hdf5 {
    tsr_input *input;
    hid_t file, dataset, type; /* type: of the elements in memory */
    char path[600];
    tsr_stored array;
    tsr_volume *holder;
    int matlab, cropped;
    size_t chunk_bytes;
} hdf5;

/* What went wrong, with the library's reason. */
tsr_status tsr_hdf5_fail(const hdf5 *h, tsr_status status, const char *what);
/* How many axes a dataset has, and their sizes. */
int tsr_hdf5_shape(hid_t dataset, int64_t size[H5S_MAX_RANK]);
/* What the axes mean, and where the voxels lie (hdf5_axes.c). */
tsr_status tsr_hdf5_axes(hdf5 *h, const tsr_read_options *options);
tsr_status tsr_hdf5_geometry(hdf5 *h);

#endif
