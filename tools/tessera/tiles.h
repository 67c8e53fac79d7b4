/* tools/tessera/tiles.h: tile lists as inputs and outputs of verbs. OpenVDB files pass through the program tessera-vdb, which speaks .tsr. */
#ifndef TESSERA_CLI_TILES_H
#define TESSERA_CLI_TILES_H

#include "cli.h"

typedef struct cli_tiles_options {
    tsr_tiles_read_options read;
    tsr_tiles_write_options write;
} cli_tiles_options;

/* 1 if the path (or the format, if one is named) is one of a tile list: .tsr, .nvdb, .vdb. */
int cli_names_tiles(const char *path, const char *format);
/* The list of a file on the context's device; NULL with a message and *code. `extras` may be NULL. */
tsr_tiles *cli_read_tiles(const cli_call *cli, tsr_context *context, const char *path, const tsr_tiles_read_options *options,
                          tsr_tiles_extras **extras, int *code);
/* Writes by extension (or options->format); 0 or an exit code after a message. */
int cli_write_tiles(const cli_call *cli, const tsr_tiles *tiles, const char *path, const tsr_tiles_write_options *options);

/* The list as a dense float32 volume: its domain, or the box of its tiles with one voxel around, geometry moved along. */
tsr_status cli_dense_of_tiles(tsr_context *context, const tsr_tiles *tiles, tsr_volume **volume);
/* A level set (real numbers) or mask (integers) as a list; band in world units, 0 = 3 voxels. `bounded`: keeps the extents as domain. */
tsr_status cli_tiles_of_dense(tsr_context *context, const tsr_volume *volume, const tsr_tiles_options *options, int bounded, tsr_tiles **tiles);

/* ---- verbs that take a surface and give a surface: any file that holds one ------------------------------------------------------------------ */

typedef struct cli_surface_options {
    tsr_read_options read;
    tsr_write_options write;
    tsr_tiles_options tiles;  /* edge, band: of inputs that are no tile list */
    tsr_vec3 spacing;         /* of a mesh as input */
    const char *output;
} cli_surface_options;
#define CLI_SURFACE_OPTIONS { .read = TSR_READ_OPTIONS, .write = TSR_WRITE_OPTIONS, .tiles = TSR_TILES_OPTIONS }

/* Lines of an option table that fill it. */
#define CLI_SURFACE_LINES(s)                                                                                                             \
    CLI_OUTPUT_OPTION((s).output),                                                                                                       \
    { .name = "band", .type = CLI_REAL, .value = &(s).tiles.band, .argument = "WIDTH",                                                 \
      .help = "half width of the band in world units, of inputs that are no tile list (default 3 voxels)", .lower = 1e-12, .upper = 1e12 }, \
    { .name = "edge", .type = CLI_INT, .value = &(s).tiles.edge, .argument = "N", .help = "voxels of a tile, 4 or 8 (default 8)",      \
      .lower = 4, .upper = 8 },                                                                                                          \
    { .name = "spacing", .type = CLI_VEC3, .value = &(s).spacing, .help = "voxel size, for a mesh as input", .lower = 1e-12, .upper = 1e12 }, \
    { .name = "format", .type = CLI_TEXT, .value = &(s).write.format, .argument = "NAME", .help = "of the output (default: by extension)" }, \
    CLI_READ_OPTIONS((s).read)

/* The unbounded list of a tile file, level set, mask or closed mesh; NULL with a message and *code. Smallest spacing in *voxel. */
tsr_tiles *cli_read_surface(const cli_call *cli, tsr_context *context, const char *path, const cli_surface_options *options, double *voxel,
                            int *code);
/* Could cli_write_surface write to `path`? */
int cli_check_surface(const cli_call *cli, const char *path, const cli_surface_options *options);
/* As a tile list, a mesh or a dense level set, by extension or format. */
int cli_write_surface(const cli_call *cli, tsr_context *context, const tsr_tiles *tiles, const char *path, const cli_surface_options *options);

#endif
