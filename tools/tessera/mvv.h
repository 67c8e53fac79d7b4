/* tools/tessera/mvv.h: the sub-commands of `tessera mvv`. Each is a verb of its own, whose argv[0] is its name. */
#ifndef TESSERA_MVV_H
#define TESSERA_MVV_H

#include "cli.h"

extern const cli_verb mvv_encode, mvv_decode, mvv_info, mvv_compare;
extern const cli_verb mvv_make, mvv_render, mvv_play;

/* Reads with the model's masks where they are to be rebuilt; prints and sets *code on failure. */
tsr_multiview *mvv_read(const cli_call *cli, tsr_context *context, const char *path, const tsr_multiview_read_options *options, int *code);
/* A layer of them (cli_option MVV_SHOW_OPTIONS): the master is of all steps of the file, whichever are asked for. */
typedef struct mvv_layer {
    int which, gain_given;
    double gain;
} mvv_layer;
tsr_multiview *mvv_read_layer(const cli_call *cli, tsr_context *context, const char *path, const tsr_multiview_read_options *options,
                              const mvv_layer *layer, int *code);
/* Of a mvv_layer whose gain begins as 4. */
#define MVV_SHOW_OPTIONS(l)                                                                                                        \
    { .name = "show",                                                                                                              \
      .type = CLI_CHOICE,                                                                                                          \
      .value = &(l).which,                                                                                                         \
      .argument = "LAYER",                                                                                                         \
      .help = "what diff2d codes: averages over the cameras, their master over all steps, differences to them (default textures)", \
      .choices = "textures averages master differences average-differences" },                                                     \
    {                                                                                                                              \
        .name = "gain", .type = CLI_REAL, .value = &(l).gain, .given = &(l).gain_given, .argument = "FACTOR",                      \
        .help = "of differences, around grey (default 4)", .lower = -1000, .upper = 1000                                           \
    }

#endif
