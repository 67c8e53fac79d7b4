/* tools/tessera/make.h: parts of `tessera make`. */
#ifndef TESSERA_TOOLS_MAKE_H
#define TESSERA_TOOLS_MAKE_H

#include "cli.h"

/* argv[0] is "scene". Returns an exit code. */
int make_scene(cli_call *cli, int argc, char **argv);
/* argv[0] is "mvv". */
int make_mvv(cli_call *cli, int argc, char **argv);

#endif
