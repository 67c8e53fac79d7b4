/* tools/tessera/streams.h: Dirac and VC-2 streams and films for the verbs that show and compare. */
#ifndef TESSERA_STREAMS_H
#define TESSERA_STREAMS_H

#include "cli.h"

/* Sequence, groups, a table of pictures, bits of sub-bands; to `plot` (NULL: none), where the bits of each picture go. */
int streams_show(const cli_call *cli, const char *path, const char *plot);
int streams_compare(
    const cli_call *cli, double least_psnr,
    const char *
        plot); /* `plot`: PSNR and SSIM by frame, NULL: none. The two inputs, frame by frame: PSNR and SSIM. CLI_DIFFERS below the bar (negative: where any sample differs) */

#endif
