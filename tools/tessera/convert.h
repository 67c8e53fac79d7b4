/* tools/tessera/convert.h: the verb convert: options and the file (convert.c), the steps of a volume (convert_steps.c), frames, channels and slices (convert_parts.c). */
#ifndef TESSERA_CLI_CONVERT_H
#define TESSERA_CLI_CONVERT_H

#include "films.h"
#include "slice.h"
#include "tiles.h"

typedef struct convert {
    cli_call *cli;
    tsr_read_options read;
    tsr_write_options write;
    const char *output, *like, *source; /* source: of a DICOM output, the series that was segmented */
    tsr_size3 crop[2];
    tsr_vec3 resample;
    double smooth, threshold[2], window[2];
    cli_slice slice;
    const char *threshold_text;
    tsr_interpolation interpolation;
    tsr_level_rule rule;
    int level;
    tsr_dtype dtype;
    const char *reorient, *fill_text, *frames_text;
    int64_t frames[2]; /* --frames: the first and the last */
    double fill;
    int space, space_given, crop_given, resample_given, smooth_given, threshold_given, largest_component, dtype_given, deshear, axis_aligned,
        interpolation_given, rule_given, replicate, window_given;
    tsr_tiles_options tiles;
    cli_tiles_options files;
    int unbounded, add, of_mesh; /* the points are vertices of a mesh */
    tsr_context *context;
    tsr_volume *volume;
} convert;

int convert_has_steps(const convert *c);
/* One grid at most, what to put outside of it, and --window: before any work. */
int convert_check_steps(convert *c);
/* c->volume through the steps, in the order --help promises, and --space; on the host at the end. */
int convert_steps(convert *c);

/* c->volume, through the steps, into c->output. */
int convert_dense(convert *c);
/* Lengths that the output has no unit for; a frame that its format gives to data that came without. */
void convert_remark(const convert *c);

/* "frame-%03d.nii.gz"? */
int convert_is_numbered(const char *path);
/* Every frame, layer or channel that no option chooses, into a file of its own; with --frames, where there are none, every slice. */
int convert_to_files(convert *c);
/* The frames of a volume, or its slices, one after another as a film. */
int convert_to_film(convert *c);
/* --frames A-B into one file that has an axis for them. */
int convert_to_stack(convert *c);

#endif
