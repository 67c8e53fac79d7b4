#include <stdlib.h>
#include <string.h>

#include "lists.h"

struct csg {
    cli_call *cli;
    tsr_read_options read;
    cli_list_options list;
    double radius;
    const char *output;
    tsr_csg_operation operation;
    int complement;
    tsr_tiles *result;
    double seconds;
};

/* Folds the operands from left to right. */
static int fold(struct csg *c, tsr_context *context, int first)
{
    int code = CLI_OK;
    for (int i = first; i < c->cli->inputs && !code; i++) {
        cli_list_options options = c->list;
        options.like = c->result;
        options.like_name = c->cli->input[first];
        tsr_tiles *next = cli_read_list(c->cli, context, c->cli->input[i], &c->read, &options, &code), *made = NULL;
        if (!next) return code;
        if (!c->result) {
            c->result = next;
            code = cli_check_plane(c->cli, next, c->output, c->list.format);
            continue;
        }
        double start = cli_seconds();
        tsr_status status = tsr_tiles_combine(c->result, next, c->operation, c->radius, &made);
        if (status == TSR_OK) status = tsr_context_synchronize(context);
        c->seconds += cli_seconds() - start;
        tsr_tiles_destroy(&next);
        if (status != TSR_OK) code = cli_status(c->cli, status, c->cli->input[i]);
        tsr_tiles_destroy(&c->result);
        c->result = made;
    }
    if (!code && c->complement) {
        tsr_tiles *made = NULL;
        tsr_status status = tsr_tiles_complement(c->result, &made);
        if (status != TSR_OK) code = cli_status(c->cli, status, c->cli->input[first]);
        tsr_tiles_destroy(&c->result);
        c->result = made;
    }
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct csg c = { .cli = cli, .read = TSR_READ_OPTIONS, .list = { .planes = 1 } };
    int radius_given = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(c.output),
        { .name = "radius",
          .type = CLI_REAL,
          .value = &c.radius,
          .given = &radius_given,
          .argument = "R",
          .help = "of blend: of the arc that fills the seam, world units, at most the band" },
        CLI_LIST_OPTIONS(c.list),
        CLI_READ_OPTIONS(c.read),
        { 0 },
    };
    cli->first = 1; /* behind the word */
    int code = cli_parse(cli, options, 2, 64, argc, argv);
    if (code >= 0) return code;
    c.complement = !strcmp(cli->input[0], "complement");
    if (!c.complement && tsr_csg_parse(cli->input[0], &c.operation) != TSR_OK)
        return cli_usage(cli, "'%s' given, expected union, intersection, difference, blend or complement, then the inputs", cli->input[0]);
    if (radius_given && (c.complement || c.operation != TSR_CSG_BLEND)) return cli_usage(cli, "--radius: expected with blend, not %s", cli->input[0]);
    if (!radius_given && !c.complement && c.operation == TSR_CSG_BLEND) return cli_usage(cli, "--radius: missing, expected with blend");
    if (c.complement && cli->inputs != 2) return cli_usage(cli, "complement: %d inputs, expected one", cli->inputs - 1);
    if (!c.complement && cli->inputs < 3) return cli_usage(cli, "%s: one input, expected two or more", cli->input[0]);
    if ((code = cli_check_list(cli, c.output, c.list.format)) != CLI_OK) return code;
    tsr_context *context = NULL;
    if ((code = cli_context(cli, &context)) != CLI_OK) return code;
    code = fold(&c, context, 1);
    tsr_tiles_measures measures = TSR_TILES_MEASURES;
    if (!code) {
        tsr_status status = tsr_tiles_measure(c.result, &measures);
        code = status == TSR_OK ? cli_write_list(cli, context, c.result, c.output, c.list.format) : cli_status(cli, status, c.output);
        if (!code && measures.tiles == 0) cli_note_vanished(cli, c.result, c.output);
    }
    if (!code && strcmp(c.output, "-")) cli_show_measures(cli, cli->input[0], &measures);
    tsr_tiles_destroy(&c.result);
    tsr_context_destroy(&context);
    return code;
}

const cli_verb verb_csg = { "csg", "[options] union|intersection|difference|blend|complement INPUT... -o OUTPUT",
                            "Combine level sets: union, intersection, difference, blend; output a level set or a mesh",
                            "  tessera make box --size 64 -o box.nii.gz\n  tessera make sphere --size 64 -o ball.nii.gz\n"
                            "  tessera csg difference box.nii.gz ball.nii.gz -o cut.ply\n"
                            "  tessera convert box.nii.gz --crop 0,0,32:64,64,33 -o square.nii.gz    # one slice: in two dimensions\n"
                            "  tessera convert ball.nii.gz --crop 0,0,32:64,64,33 -o disc.nii.gz\n"
                            "  tessera csg difference disc.nii.gz square.nii.gz -o ring.tsr\n",
                            run };
