/* tools/tessera/rigs.h: rigs and their images in verbs. */
#ifndef TESSERA_CLI_RIGS_H
#define TESSERA_CLI_RIGS_H

#include "../projectors.h"
#include "cli.h"

/* How cameras are read: lines of an option table that fill a cli_rig. */
typedef struct cli_rig {
    tsr_rig_read_options read;
    tsr_size3 size;
    int matrix, half;
} cli_rig;
#define CLI_RIG                      \
    {                                \
        .read = TSR_RIG_READ_OPTIONS \
    }
#define CLI_RIG_OPTIONS(r)                                                                                                                          \
    { .name = "input-format",                                                                                                                       \
      .type = CLI_TEXT,                                                                                                                             \
      .value = &(r).read.format,                                                                                                                    \
      .argument = "NAME",                                                                                                                           \
      .help = "of the cameras: transforms, colmap, colmap-text, geocast, geoscene, middlebury, par, opencv, bundler, tum, kitti or "                \
              "lightfield (default: by content)" },                                                                                                 \
        { .name = "image-size", .type = CLI_SIZE2, .value = &(r).size, .help = "of images whose files do not say it", .lower = 1, .upper = 65536 }, \
        { .name = "focal",                                                                                                                          \
          .type = CLI_REAL,                                                                                                                         \
          .value = &(r).read.focal,                                                                                                                 \
          .argument = "PIXELS",                                                                                                                     \
          .help = "of trajectories, which have poses alone",                                                                                        \
          .lower = 1e-3,                                                                                                                            \
          .upper = 1e8 },                                                                                                                           \
        { .name = "baseline",                                                                                                                       \
          .type = CLI_REAL,                                                                                                                         \
          .value = &(r).read.baseline,                                                                                                              \
          .argument = "B",                                                                                                                          \
          .help = "of light fields: the way from one camera of the grid to the next, or what a unit of places in names is" },                       \
        { .name = "focus",                                                                                                                          \
          .type = CLI_REAL,                                                                                                                         \
          .value = &(r).read.focus,                                                                                                                 \
          .argument = "DISTANCE",                                                                                                                   \
          .help = "of light fields: of the plane that falls on the same pixels of all pictures",                                                    \
          .lower = 0,                                                                                                                               \
          .upper = 1e9 },                                                                                                                           \
        { .name = "geocast-matrix",                                                                                                                 \
          .type = CLI_CHOICE,                                                                                                                       \
          .value = &(r).matrix,                                                                                                                     \
          .argument = "READING",                                                                                                                    \
          .help = "of GeoCast V1",                                                                                                                  \
          .choices = "auto world-to-eye-rows world-to-eye-columns eye-to-world-rows eye-to-world-columns" },                                        \
    {                                                                                                                                               \
        .name = "geocast-ortho", .type = CLI_CHOICE, .value = &(r).half, .argument = "SIZE",                                                        \
        .help = "what WindowSize of GeoCast V1 is of the window", .choices = "full half"                                                            \
    }

/* Reads a rig. NULL with *code on failure. */
tsr_rig *cli_read_rig(const cli_call *cli, const char *path, cli_rig *options, int *code);
/* A camera by its name, else by its number from 0; -1 after a message. */
int64_t cli_rig_find(const cli_call *cli, const tsr_rig *rig, const char *option, const char *name);

/* rig_depth_read and rig_projector_load with the limits of the command line and its messages. They return exit codes. */
int cli_depth_read(const cli_call *cli, const tsr_rig *rig, const tsr_rig_camera *camera, int32_t frame, tsr_volume **depth,
                   tsr_depth_report *report);
int cli_projector_load(const cli_call *cli, tsr_context *context, const tsr_rig *rig, int64_t index, int32_t frame, int parts,
                       rig_projector *projector);

#endif
