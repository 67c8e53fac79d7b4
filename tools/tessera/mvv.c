#include <string.h>

#include "mvv.h"

static const cli_verb *const commands[] = { &mvv_make, &mvv_encode, &mvv_decode, &mvv_info, &mvv_compare, &mvv_render, &mvv_play };
enum { COMMANDS = sizeof commands / sizeof *commands };

static int run(cli_call *cli, int argc, char **argv)
{
    const cli_option none[] = { { 0 } };
    for (int k = 0; argc > 1 && k < COMMANDS; k++)
        if (!strcmp(argv[1], commands[k]->name + strlen("mvv "))) {
            cli->verb = commands[k];
            return commands[k]->run(cli, argc - 1, argv + 1);
        }
    if (argc > 1 && argv[1][0] == '-') {
        const int code = cli_parse(cli, none, 0, 0, argc, argv);
        if (code >= 0) return code;
    }
    char names[256] = "";
    for (int k = 0; k < COMMANDS; k++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", k ? ", " : "", commands[k]->name + strlen("mvv "));
    if (argc < 2 || argv[1][0] == '-') return cli_usage(cli, "which command? Expected one of: %s", names);
    return cli_usage(cli, "'%s' is no command of mvv, expected one of: %s", argv[1], names);
}

const cli_verb verb_mvv = { "mvv", "COMMAND [options] FILE...",
                            "Multi-view video textures: make, encode, decode, info, compare, render, play (COMMAND --help says more)",
                            "  tessera mvv make --help\n"
                            "  tessera mvv encode --help\n"
                            "  tessera mvv decode --help\n"
                            "  tessera mvv info --help\n"
                            "  tessera mvv compare --help\n"
                            "  tessera mvv render --help\n"
                            "  tessera mvv play --help\n",
                            run };
