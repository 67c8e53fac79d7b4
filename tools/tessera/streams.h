/* tools/tessera/streams.h: Dirac and VC-2 streams and films for the verbs that show and compare. */
#ifndef TESSERA_STREAMS_H
#define TESSERA_STREAMS_H

#include "cli.h"

int streams_recognise(const char *path);                     /* 1: a Dirac or VC-2 stream, by its first bytes */
int streams_show(const cli_call *cli, const char *path);     /* sequence, groups, a table of pictures, bits of sub-bands */
int streams_compare(const cli_call *cli, double least_psnr); /* the two inputs, frame by frame: PSNR and SSIM. CLI_DIFFERS below the bar (negative: where any sample differs) */

#endif
