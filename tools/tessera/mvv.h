/* tools/tessera/mvv.h: the sub-commands of `tessera mvv`. Each is a verb of its own, whose argv[0] is its name. */
#ifndef TESSERA_MVV_H
#define TESSERA_MVV_H

#include "cli.h"

extern const cli_verb mvv_encode, mvv_decode, mvv_info, mvv_compare;
extern const cli_verb mvv_make, mvv_render;

/* Reads with the model's masks where they are to be rebuilt; prints and sets *code on failure. */
tsr_multiview *mvv_read(const cli_call *cli, tsr_context *context, const char *path, const tsr_multiview_read_options *options, int *code);

#endif
