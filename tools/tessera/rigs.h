/* tools/tessera/rigs.h: rigs and their images in verbs. */
#ifndef TESSERA_CLI_RIGS_H
#define TESSERA_CLI_RIGS_H

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
#define CLI_RIG_OPTIONS(r)                                                                                                           \
    { .name = "input-format",                                                                                                        \
      .type = CLI_TEXT,                                                                                                              \
      .value = &(r).read.format,                                                                                                     \
      .argument = "NAME",                                                                                                            \
      .help = "of the cameras: transforms, colmap, colmap-text, geocast, geoscene, middlebury, par, opencv, bundler, tum, kitti or " \
              "lightfield (default: by content)" },                                                                                  \
        { .name = "image-size",                                                                                                      \
          .type = CLI_SIZE3,                                                                                                         \
          .value = &(r).size,                                                                                                        \
          .argument = "W,H,1",                                                                                                       \
          .help = "of images whose files do not say it",                                                                             \
          .lower = 1,                                                                                                                \
          .upper = 65536 },                                                                                                          \
        { .name = "focal",                                                                                                           \
          .type = CLI_REAL,                                                                                                          \
          .value = &(r).read.focal,                                                                                                  \
          .argument = "PIXELS",                                                                                                      \
          .help = "of trajectories, which have poses alone",                                                                         \
          .lower = 1e-3,                                                                                                             \
          .upper = 1e8 },                                                                                                            \
        { .name = "baseline",                                                                                                        \
          .type = CLI_REAL,                                                                                                          \
          .value = &(r).read.baseline,                                                                                               \
          .argument = "B",                                                                                                           \
          .help = "of light fields: the way from one camera of the grid to the next, or what a unit of places in names is" },        \
        { .name = "focus",                                                                                                           \
          .type = CLI_REAL,                                                                                                          \
          .value = &(r).read.focus,                                                                                                  \
          .argument = "DISTANCE",                                                                                                    \
          .help = "of light fields: of the plane that falls on the same pixels of all pictures",                                     \
          .lower = 0,                                                                                                                \
          .upper = 1e9 },                                                                                                            \
        { .name = "geocast-matrix",                                                                                                  \
          .type = CLI_CHOICE,                                                                                                        \
          .value = &(r).matrix,                                                                                                      \
          .argument = "READING",                                                                                                     \
          .help = "of GeoCast V1",                                                                                                   \
          .choices = "auto world-to-eye-rows world-to-eye-columns eye-to-world-rows eye-to-world-columns" },                         \
    {                                                                                                                                \
        .name = "geocast-ortho", .type = CLI_CHOICE, .value = &(r).half, .argument = "SIZE",                                         \
        .help = "what WindowSize of GeoCast V1 is of the window", .choices = "full half"                                             \
    }

/* Reads a rig. NULL with *code on failure. */
tsr_rig *cli_read_rig(const cli_call *cli, const char *path, cli_rig *options, int *code);
/* A camera by its name, else by its number from 0; -1 after a message. */
int64_t cli_rig_find(const cli_call *cli, const tsr_rig *rig, const char *option, const char *name);

/* A picture on a device (u8, [height][width][channels]) as a pinhole without the camera's lens would have it. */
tsr_status cli_remove_lens(tsr_context *context, const tsr_camera *camera, int32_t width, int32_t height, int32_t channels, tsr_volume **color);
/* The depth image of a camera: distances in host memory as f32, 0 where there is none, without the lens. Of a picture of several channels (EXR) the one
 * named Z or depth. Returns an exit code. */
int cli_depth_read(const cli_call *cli, const tsr_rig *rig, const tsr_rig_camera *camera, int32_t frame, tsr_volume **depth,
                   tsr_depth_report *report);

/* A camera's images on a device, without their lens. */
typedef struct cli_projector {
    tsr_projector projector;
    tsr_volume *depth, *color;
    tsr_depth_report report;
    int32_t width, height; /* of the picture, or else of the depth image */
} cli_projector;
enum { CLI_PROJECTOR_DEPTH = 1, CLI_PROJECTOR_COLOR = 2 };
/* `parts`: what is needed; a picture that is not there is left out unless it is needed alone. Returns an exit code. */
int cli_projector_load(const cli_call *cli, tsr_context *context, const tsr_rig *rig, int64_t index, int32_t frame, int parts,
                       cli_projector *projector);
void cli_projector_unload(cli_projector *projector);

#endif
