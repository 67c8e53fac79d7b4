/* tessera/labels.h: label maps: volumes whose voxels are names, not amounts. Any integer type, to the last of its 64 bits; real numbers if all are whole.
 *
 * 0 (and NaN) is the background and no label. A label is the real value (slope and intercept applied); of u64 the bits of an int64_t are those of the
 * unsigned number. Everything here works in host memory. */
#ifndef TESSERA_LABELS_H
#define TESSERA_LABELS_H

#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_label {
    int64_t value;
    int64_t voxels;
    double volume;          /* world units cubed */
    tsr_size3 lower, upper; /* box of its voxels, lower <= index < upper */
} tsr_label;

/* The labels of a volume in ascending order, in one pass. BORROWS a host volume; the context is a CPU. `most` labels at most (0 = 65536): more are
 * TSR_ERROR_UNSUPPORTED, since that is a picture and no label map. TSR_ERROR_ARGUMENT for a value that is not whole (names the voxel) or a context that is
 * no CPU. Does not depend on the number of threads. RETURNS NEW in *labels: tsr_labels_destroy; *labels is NULL where there is none. */
TSR_API tsr_status tsr_labels_count(tsr_context *context, const tsr_volume *volume, int32_t most, tsr_label **labels, int32_t *count) TSR_CHECKED;
TSR_API void tsr_labels_destroy(tsr_label **labels);

/* The different values of a volume, if they are few: values[0 .. *count - 1] ascending (the real values), or *count = most + 1 as soon as there are more, which
 * a picture shows at once. NaN is left out. 1 <= most <= 256; `values` has room for `most`. BORROWS a host volume. */
TSR_API tsr_status tsr_volume_few_values(const tsr_volume *volume, int32_t most, double *values, int32_t *count) TSR_CHECKED;

/* Decimal text of a label of a volume of this element type ("-3", "18446744073709551615"). */
enum { TSR_LABEL_TEXT = 24 };
TSR_API void tsr_label_text(tsr_dtype dtype, int64_t value, char text[TSR_LABEL_TEXT]);

/* Names of labels. RETURNS NEW; tsr_label_names_destroy takes NULL. One line is one label: its number, then its name, with colours before (ITK-SNAP, FSL) or
 * behind (FreeSurfer, 3D Slicer) or none ("3 left kidney", "3,left kidney", "3: left kidney"); '#' begins a comment, a name may stand in quotes. TSR_ERROR_FORMAT
 * names the line that is none of these. */
typedef struct tsr_label_names tsr_label_names;
TSR_API tsr_status tsr_label_names_parse(const char *text, const char *file, tsr_label_names **names) TSR_CHECKED;
/* From the header of a segmentation of 3D Slicer (.seg.nrrd: Segment0_Name, Segment0_LabelValue, ...); none: an empty list. */
TSR_API tsr_status tsr_label_names_of_volume(const tsr_volume *volume, tsr_label_names **names) TSR_CHECKED;
TSR_API void tsr_label_names_destroy(tsr_label_names **names);
/* RETURNS VIEW, NULL if the label has no name or `names` is NULL. Of several names the last counts. */
TSR_API const char *tsr_label_name(const tsr_label_names *names, int64_t value);
/* By name, case matters. Returns 0 if there is none. */
TSR_API int tsr_label_find(const tsr_label_names *names, const char *name, int64_t *value);
TSR_API int32_t tsr_label_names_count(const tsr_label_names *names);

#ifdef __cplusplus
}
#endif
#endif
