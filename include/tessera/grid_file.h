/* tessera/grid_file.h: files that hold several things by name or number: grids of .vdb and .nvdb files, segments of DICOM. */
#ifndef TESSERA_GRID_FILE_H
#define TESSERA_GRID_FILE_H

#include "tessera/io.h"
#include "tessera/tile_file.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a host volume as one more grid of a .vdb or .nvdb file, whose grids stay, or as the first of a new one: a fog volume of the voxels that are not 0. Its name is
 * the metadata "vdb.name" or "nvdb.name". BORROWS. TSR_ERROR_ARGUMENT (.vdb: _FORMAT) where the file has a grid of that name; the file is replaced when the new one is
 * complete, options->overwrite does not count. */
TSR_API tsr_status tsr_volume_add_grid(const tsr_volume *volume, const char *path, const tsr_write_options *options) TSR_CHECKED;
/* The same of a tile list and an .nvdb file; options->name is that of the grid. */
TSR_API tsr_status tsr_tiles_add_grid(const tsr_tiles *tiles, const char *path, const tsr_tiles_write_options *options) TSR_CHECKED;

/* Writes a host volume of labels (0: none) as a DICOM segmentation: a segment for each label, with its name (tsr_label_names_of_volume), in the patient, study and frame
 * of reference of a series: `source` is a file or the folder of it. BORROWS. Labels that are not 1, 2, 3 ... get such numbers, with a remark. TSR_ERROR_ARGUMENT: no label, a
 * volume without axes of a patient; _UNSUPPORTED: values that are no labels up to 65535. */
TSR_API tsr_status tsr_volume_write_segments(const tsr_volume *labels, const char *source, const char *path, const tsr_write_options *options) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
