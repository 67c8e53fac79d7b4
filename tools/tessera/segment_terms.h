/* tools/tessera/segment_terms.h: --term of `tessera segment`. */
#ifndef TESSERA_SEGMENT_TERMS_H
#define TESSERA_SEGMENT_TERMS_H

#include "cli.h"

/* The volumes that terms read; they must live as long as the segmentation. */
typedef struct segment_volumes { tsr_volume *volume[TSR_TERMS * TSR_TERM_CHANNELS]; int count; } segment_volumes;
void segment_volumes_destroy(segment_volumes *volumes);

/* Adds "KIND,NAME=VALUE,..." to options->terms; returns CLI_OK or prints and returns the exit code. */
int segment_term(const cli_call *cli, tsr_context *context, const tsr_read_options *read, const char *text, tsr_segment_options *options,
                 segment_volumes *volumes);

#endif
