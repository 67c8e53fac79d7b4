/* formats/parts.h: files with more than three axes: one frame, layer or channel of them is read. */
#ifndef TSR_FORMATS_PARTS_H
#define TSR_FORMATS_PARTS_H

#include "formats/volume_files.h"

typedef enum tsr_part { TSR_PART_FRAME, TSR_PART_LAYER, TSR_PART_CHANNEL, TSR_PARTS } tsr_part;

/* The axes of a file, the fastest first, and what is read of each. */
enum { TSR_AXES_MOST = 20 };
typedef struct tsr_axes {
    int count;
    int64_t size[TSR_AXES_MOST], pick[TSR_AXES_MOST]; /* pick: the one sample that is read, or -1 for all of an axis of space */
    int64_t parts[TSR_PARTS];                         /* how many frames, layers and channels there are; 0: no such axis */
    int trailer;                                      /* the format has more to say behind the voxels: what lies there is no remark */
} tsr_axes;

void tsr_axes_space(tsr_axes *axes, int64_t size);
/* An axis of `size` frames, layers or channels, of which the options name one; TSR_ERROR_UNSUPPORTED if they do not and there are several, with the option
 * that would; TSR_ERROR_ARGUMENT if there is no such part. `field` is the file's name for it. */
tsr_status tsr_axes_part(tsr_axes *axes, tsr_part part, int64_t size, const char *field, const tsr_input *input, const tsr_read_options *options);
/* TSR_ERROR_ARGUMENT if the options name a part that the file, whose volume this is, does not have. */
tsr_status tsr_parts_check(const tsr_volume *volume, const char *name, const tsr_read_options *options);

/* Reads what is picked, which becomes layout->size (three axes of space at most): from `offset` of the input or, not NULL, out of the files. */
tsr_status tsr_axes_read(const tsr_axes *axes, tsr_input *input, int64_t offset, const tsr_names *files, tsr_layout *layout, tsr_block *block);

#endif
