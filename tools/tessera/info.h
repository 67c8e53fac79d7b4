/* tools/tessera/info.h: the verb info: volumes and images (info_volumes.c), meshes, points and grids with cells (info_shapes.c), tile lists (info_tiles.c), the rest (info.c). */
#ifndef TESSERA_CLI_INFO_H
#define TESSERA_CLI_INFO_H

#include "tiles.h"

typedef struct info_call {
    const char *plot;
    cli_call *cli;
    tsr_read_options read;
    int stats, check_geometry, labels;
    const char *label_names;
    int doubtful;         /* --check-geometry found something */
    tsr_context *context; /* for --stats */
} info_call;

const char *info_space_name(tsr_space space);
/* What else the file holds, and which option takes it. */
void info_show_contents(const info_call *info, const tsr_contents *contents);

/* Each describes one file; 0 or an exit code after a message. */
int info_volume(info_call *info, const char *path, const char *format);
int info_image(info_call *info, const char *path, const char *format);
/* A compressed image is an image; *image is 0 for a compressed volume. */
int info_compressed(info_call *info, const char *path, const char *format, int *image);
int info_mesh(info_call *info, const char *path, const char *format);
int info_unstructured(info_call *info, const char *path, const char *format);
int info_points(info_call *info, const char *path, const char *format);
int info_tiles(info_call *info, const char *path, const char *format);

#endif
