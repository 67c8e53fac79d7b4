/* tools/tessera/slice.h: --slice z=40: one slice of a volume, a volume itself. */
#ifndef TESSERA_CLI_SLICE_H
#define TESSERA_CLI_SLICE_H

#include "cli.h"

typedef struct cli_slice {
    const char *text; /* as given, NULL: not */
    int axis;
    int64_t at;
} cli_slice;

/* Reads slice->text. Both return an exit code. */
int cli_slice_parse(const cli_call *cli, cli_slice *slice);
/* Rows run along the first of the two other axes; every voxel keeps its place in the world. What was an image's channel is a slice of grey values. */
int cli_slice_cut(const cli_call *cli, tsr_context *context, const cli_slice *slice, tsr_volume **volume);

#endif
