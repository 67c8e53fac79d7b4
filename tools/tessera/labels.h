/* tools/tessera/labels.h: label maps on the command line: which labels, and what they are called. */
#ifndef TESSERA_CLI_LABELS_H
#define TESSERA_CLI_LABELS_H

#include "cli.h"

#define CLI_LABEL_NAMES_OPTION(file)                                                                                                              \
    {                                                                                                                                             \
        .name = "label-names", .type = CLI_TEXT, .value = &(file), .argument = "FILE",                                                            \
        .help =                                                                                                                                   \
            "names of labels: lines of a number and a name, or a table of FreeSurfer, ITK-SNAP, FSL or 3D Slicer (default: those of a .seg.nrrd)" \
    }

/* From the file or, where that is NULL, from the header of the volume. An exit code. */
int cli_label_names(const cli_call *cli, const char *file, const tsr_volume *volume, tsr_label_names **names);
/* Keeps those that the text of `option` names: "all", or numbers and names with commas between. An exit code. */
int cli_pick_labels(const cli_call *cli, const char *option, const char *text, const char *file, tsr_dtype dtype, const tsr_label_names *names,
                    tsr_label *labels, int32_t *count);
/* Is the volume a label map of more than one label: whole numbers from 0, few of them? */
int cli_is_label_map(const tsr_volume *volume);
/* A remark where the volume is one, by its values or by what its file says: what is done to it mixes labels. */
void cli_note_labels(const cli_call *cli, const char *path, const tsr_volume *volume, const char *what);
/* A remark on lengths in another unit than millimetres, which `what` (the name of an output, "a level set") does not say. */
void cli_note_unit(const cli_call *cli, const char *path, const tsr_volume *volume, const char *what);
void json_label(const char *key, tsr_dtype dtype, int64_t value); /* a number; text beyond those of int64_t */

/* tessera surface --labels */
typedef struct cli_surface_labels {
    cli_call *cli;
    const tsr_read_options *read;
    const tsr_write_options *write;
    const tsr_surface_options *options;
    const char *labels, *names_file, *output;
    int unindexed, weld;
} cli_surface_labels;
tsr_status cli_weld(tsr_mesh **mesh); /* in place of the mesh */
int cli_extract_labels(const cli_surface_labels *job);

#endif
