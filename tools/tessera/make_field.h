/* tools/tessera/make_field.h: vector fields of `tessera make`. */
#ifndef TESSERA_CLI_MAKE_FIELD_H
#define TESSERA_CLI_MAKE_FIELD_H

#include "cli.h"

int make_field_is(const char *name);
void make_field_list(const cli_call *cli);
/* Returns an exit code. */
int make_field(const cli_call *cli, tsr_size3 size, double time, const char *output, const tsr_write_options *write);

#endif
