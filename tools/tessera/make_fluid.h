/* tools/tessera/make_fluid.h: the part of `tessera make` that simulates fluids. */
#ifndef TESSERA_CLI_MAKE_FLUID_H
#define TESSERA_CLI_MAKE_FLUID_H

#include "cli.h"

int cli_is_fluid(const char *name); /* is it meant for cli_make_fluid? */
void cli_list_fluids(const cli_call *cli);
int cli_make_fluid(cli_call *cli, int argc, char **argv);

#endif
