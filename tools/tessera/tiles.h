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
/* 1 if they are one of OpenVDB, of NanoVDB. */
int cli_names_vdb(const char *path, const char *format);
int cli_names_nvdb(const char *path, const char *format);
/* The list of a file on the context's device; NULL with a message and *code. `extras` may be NULL. */
tsr_tiles *cli_read_tiles(const cli_call *cli, tsr_context *context, const char *path, const tsr_tiles_read_options *options,
                          tsr_tiles_extras **extras, int *code);
/* Of a .vdb or .nvdb file: what is to be read of it, `grid` (NULL: the first level set, else the first fog volume), as kind and format; others stay what they are. */
void cli_choose_grid(const char *path, const char *grid, tsr_file_kind *kind, const char **format);
/* A .vdb output needs the program tessera-vdb and a new name or a plain file: an exit code after a message, before any work. */
int cli_check_vdb(const cli_call *cli, const char *path, const char *format);
/* Writes by extension (or options->format); 0 or an exit code after a message. */
int cli_write_tiles(const cli_call *cli, const tsr_tiles *tiles, const char *path, const tsr_tiles_write_options *options);
/* The same beside the grids that the file holds already (.vdb, .nvdb). */
int cli_add_tiles(const cli_call *cli, const tsr_tiles *tiles, const char *path, const tsr_tiles_write_options *options);

/* The list as a dense float32 volume: its domain, or the box of its tiles with one voxel around, geometry moved along. */
tsr_status cli_dense_of_tiles(tsr_context *context, const tsr_tiles *tiles, tsr_volume **volume);
/* A level set (real numbers) or mask (integers) as a list; band in world units, 0 = 3 voxels. `bounded`: keeps the extents as domain. */
tsr_status cli_tiles_of_dense(tsr_context *context, const tsr_volume *volume, const tsr_tiles_options *options, int bounded, tsr_tiles **tiles);

#endif
